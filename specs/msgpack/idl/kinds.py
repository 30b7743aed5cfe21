"""What the types in a document stand for: built-in types, declarations, aliases written out.

Source: 004_4ca5b084f7ea0751.txt, message, typedef.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from specs.msgpack.idl.clauses import Clause
from specs.msgpack.idl.grammar import MAX_DEPTH, TooDeep
from specs.msgpack.idl.names import Names
from specs.msgpack.idl.tokens import BUILTINS
from specs.msgpack.idl.tree import Message, Type, Typedef

INTEGERS: Mapping[str, tuple[int, int]] = {
    "byte": (-(1 << 7), (1 << 7) - 1), "short": (-(1 << 15), (1 << 15) - 1), "int": (-(1 << 31), (1 << 31) - 1),
    "long": (-(1 << 63), (1 << 63) - 1), "ubyte": (0, (1 << 8) - 1), "ushort": (0, (1 << 16) - 1),
    "uint": (0, (1 << 32) - 1), "ulong": (0, (1 << 64) - 1),
}  # fmt: skip
"""The widths of the integer types, 8 to 64 bits: not stated, see docs/ambiguities.md."""
SCALAR_KEYS = frozenset(INTEGERS) | {"string", "raw"}


@dataclass(slots=True)
class Kinds(Names):
    """Every mention of a type."""

    def type(self, kind: Type, item: tuple[int, int], *, result: bool = False) -> Type:
        """`kind` with its aliases expanded. `item` is where the thing stands that has the type."""
        if kind.of:
            if self.depth >= MAX_DEPTH:
                raise TooDeep
            self.depth += 1
            parts = tuple(self.argument(kind.name, n, part, item) for n, part in enumerate(kind.of))
            self.depth -= 1
            return kind._replace(of=parts)
        if kind.name in BUILTINS:
            return kind
        if kind.name == "void":
            if not result:
                self.fault("void", Clause.VOID_IS_A_RESULT, "void is no type of a value", item)
            elif kind.null:
                self.fault("void", Clause.VOID_IS_A_RESULT, "void is never nullable", item)
            return kind
        found = self.types.get(kind.name)
        if found is None:
            self.fault("unknown-type", Clause.TYPE_IS_DECLARED, f"{kind.name} is no type", item)
            return kind
        if self.order[kind.name] >= self.now and not self.stance.forward_refs:
            self.free(
                "a type is used before it is declared" if self.order[kind.name] > self.now else "a type of itself"
            )
        if isinstance(found, Message):
            if found.kind == "exception":
                self.free("an exception as a type")
            return kind
        meant = self.alias(kind.name)
        if meant is None:
            return kind
        if kind.null and meant.null:
            self.free("nullable twice by an alias")
        return meant._replace(null=kind.null or meant.null, at=kind.at, end=kind.end)

    def argument(self, generic: str, n: int, kind: Type, item: tuple[int, int]) -> Type:
        found = self.type(kind, item)
        if kind.null or found.null:
            self.free("a nullable type argument")
        if generic == "map" and n == 0 and kind.name not in SCALAR_KEYS:
            self.free("a key by an alias" if found.name in SCALAR_KEYS else "a key that is no integer, text or raw")
        return found

    def alias(self, name: str) -> Type | None:
        """What an alias stands for; None while that is not known, or for ever."""
        if name in self.expanded:
            return self.expanded[name]
        chain: list[str] = []  # aliases of aliases, however many: no recursion
        at: str = name
        while isinstance(found := self.types.get(at), Typedef) and at not in self.expanded and at not in chain:
            chain.append(at)
            at = found.type.name
        for each in reversed(chain):
            self.expanded[each] = None
            definition = self.types[each]
            assert isinstance(definition, Typedef)
            now, self.now = self.now, self.order[each]
            self.expanded[each] = self.type(definition.type, (definition.at, definition.head))
            self.now = now
        return self.expanded[name]

    def cycles(self) -> None:
        """Aliases of themselves, also through type arguments."""
        names = [name for name, each in self.types.items() if isinstance(each, Typedef)]
        for group in cycles_of({name: set(_mentioned(self.types[name].type)) & set(names) for name in names}):  # type: ignore[union-attr]
            spans = tuple((self.types[name].at, self.types[name].head) for name in group)
            self.fault("alias-cycle", Clause.ALIASES_END, f"{group[0]} is an alias of itself", *spans)
            for name in group:
                self.expanded[name] = None


def _mentioned(kind: Type) -> Iterator[str]:
    yield kind.name
    for part in kind.of:
        yield from _mentioned(part)


def cycles_of(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Groups of names that reach themselves: what is left when whoever reaches nothing is taken away."""
    left = {name: set(of) for name, of in graph.items()}
    for _ in range(2):
        todo = [name for name, of in left.items() if not of]
        before: dict[str, list[str]] = {name: [] for name in left}
        for name, of in left.items():
            for other in of:
                before[other].append(name)
        while todo:
            gone = todo.pop()
            if left.pop(gone, None) is None:
                continue
            for name in before[gone]:
                if name in left:
                    left[name].discard(gone)
                    if not left[name]:
                        todo.append(name)
        turned: dict[str, set[str]] = {name: set() for name in left}  # the other way round: what nobody reaches
        for name, of in left.items():
            for other in of:
                turned[other].add(name)
        left = turned
    return [sorted(left)] if left else []
