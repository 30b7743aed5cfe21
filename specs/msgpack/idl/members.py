"""What fields, defaults, messages and exceptions mean.

Source: 004_4ca5b084f7ea0751.txt, message, exception, default values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from specs.msgpack.idl.clauses import Clause
from specs.msgpack.idl.kinds import INTEGERS, Kinds, cycles_of
from specs.msgpack.idl.tokens import GENERICS
from specs.msgpack.idl.tree import Field, Literal, Message, Type

LARGE_ID, SHORT_ID = 1 << 31, 1 << 15
"""Ids from here on may be refused; above the first, what becomes of them is free as well."""
WITH_LITERALS = frozenset((*INTEGERS, "float", "double", "bool", "string"))
"""Types with literals of their own: of a raw and of a message none is shown."""


@dataclass(slots=True)
class Members(Kinds):
    """Everything that has an id."""

    def fields(self, given: tuple[Field, ...], *, of: str) -> tuple[Field, ...]:
        """The fields of a message or the arguments of a function, sorted by id."""
        ids: dict[int, Field] = {}
        names: dict[str, Field] = {}
        found = []
        argument = of == "argument"
        for each in given:
            span = (each.at, each.end)
            for known, key, code in _keys(each, ids, names):
                other = known.setdefault(key, each)
                if other is not each:
                    rule = (
                        Clause.ARGUMENTS
                        if argument
                        else Clause.FIELD_IDS_DIFFER
                        if code == "id"
                        else Clause.FIELD_NAMES_DIFFER
                    )
                    self.fault(f"dup-{of}-{code}", rule, f"the {code} {key} is used twice", span, (other.at, other.end))
            if each.id == 0 and not self.stance.id_zero:
                self.free("the id 0")
            if each.id >= LARGE_ID:
                self.free("a large id")
            elif each.id >= SHORT_ID:
                self.free("an id of more than 15 bits")
            kind = self.type(each.type, span)
            if argument and (each.mod or kind.null):  # an alias may be nullable
                self.free("modifiers of arguments")
            if each.default is not None:
                self.default(each, kind, each.default)
            found.append(each._replace(type=kind))
        if argument and sorted(ids) != list(range(1, len(ids) + 1)):
            self.free("gaps between arguments")
        elif argument and list(ids) != sorted(ids):
            self.free("arguments in another order than that of their ids")
        if len({name.lower() for name in names}) < len(names):
            self.free("names that differ in case alone")
        return tuple(sorted(found, key=lambda each: each.id))

    def default(self, item: Field, kind: Type, literal: Literal) -> None:
        """Does a literal match the type of its field?"""
        span = (item.at, item.end)
        if kind.name in GENERICS:
            self.fault("container-default", Clause.NO_DEFAULT_OF_A_CONTAINER, f"{kind.name} takes no default", span)
            return
        if item.mod != "optional":
            self.free("a default of what is required")
        if literal.kind == "null":
            if not kind.null:
                self.fault("default-null", Clause.LITERAL_IS_OF_THE_TYPE, f"{item.name} is not nullable", span)
            elif kind.name not in WITH_LITERALS:
                self.free("null as the default of a raw or a message")
            return
        if kind.null:
            self.free("a default of what is nullable")
        if kind.name in INTEGERS:
            low, high = INTEGERS[kind.name]
            if literal.kind == "float":
                self.free("a fraction as the default of an integer")
            elif literal.kind != "int" or not low <= literal.value <= high:
                self.fault(
                    "default-type", Clause.LITERAL_IS_OF_THE_TYPE, f"{literal.value!r:.40} is no {kind.name}", span
                )
            return
        wanted = {"float": ("float", "int"), "double": ("float", "int"), "bool": ("bool",), "string": ("str",)}
        if kind.name == "raw":
            self.free("the default of a raw")
        elif kind.name not in wanted:
            self.free("the default of a message")
        elif literal.kind not in wanted[kind.name]:
            self.fault("default-type", Clause.LITERAL_IS_OF_THE_TYPE, f"{literal.value!r:.40} is no {kind.name}", span)
        elif wanted[kind.name] == ("float", "int") and literal.kind == "int":
            self.free("an integer as the default of a float")

    def message(self, each: Message) -> Message:
        fields = self.fields(each.fields, of="field")
        if each.kind == "exception" and each.base:
            self.exception(each)
        return each._replace(fields=fields)

    def exception(self, each: Message) -> None:
        """The chain of bases."""
        span = (each.at, each.head)
        chain: list[Message] = []
        names = {each.name}
        base = each.base
        while base:
            found = self.types.get(base)
            if not isinstance(found, Message) or found.kind != "exception":
                if not chain:
                    self.fault("no-base", Clause.BASE_IS_AN_EXCEPTION, f"{base} is no exception", span)
                return
            if base in names:
                if base == each.name:
                    where = tuple((other.at, other.head) for other in chain)
                    self.fault("base-cycle", Clause.BASES_END, f"{each.name} is a base of itself", span, *where)
                return
            if self.order[base] > self.now and not self.stance.forward_refs:
                self.free("a base is used before it is declared")
            names.add(base)
            chain.append(found)
            base = found.base
        taken = {item.id: item for other in chain for item in other.fields}
        inherited = {item.name for other in chain for item in other.fields}
        most = max(taken, default=-1)
        for item in each.fields:
            if item.id <= most:
                other = taken[most]
                spans = ((item.at, item.end), (other.at, other.end), span)
                near = max((part.id for part in chain[0].fields), default=-1)
                rule = Clause.IDS_ABOVE_THE_BASE if item.id <= near else Clause.IDS_ABOVE_ALL_BASES
                self.fault("base-id", rule, f"{item.id} is not above {most}, the largest id of the base", *spans)
            if item.name in inherited:
                why = f"{item.name} is inherited already"
                self.fault("inherited-name", Clause.NAMES_OF_THE_BASE, why, (item.at, item.end), level="SHOULD")

    def path(self, each: Message) -> str:
        """The string form of an exception: its bases from the root, joined by dots."""
        names, at = [each.name], each
        while isinstance(found := self.types.get(at.base), Message) and found.name not in names and len(names) < 10_000:
            names.append(found.name)
            at = found
        return ".".join(reversed(names))

    def finite(self) -> None:
        """Messages that contain themselves in fields that are required and not nullable have no finite value."""
        graph = {
            name: {
                item.type.name
                for item in each.fields
                if item.mod != "optional" and not item.type.null and item.type.name in self.types
            }
            for name, each in self.types.items()
            if isinstance(each, Message)
        }
        for group in cycles_of({name: of & graph.keys() for name, of in graph.items()}):
            spans = tuple(
                span
                for name in group
                for each in [self.types[name]]
                if isinstance(each, Message)
                for span in [(each.at, each.head), *((item.at, item.end) for item in each.fields)]
            )
            self.fault(
                "no-finite-value", Clause.MESSAGE_IS_FINITE, f"{group[0]} contains itself", *spans, level="SHOULD"
            )


def _keys(
    each: Field, ids: dict[Any, Field], names: dict[Any, Field]
) -> tuple[tuple[dict[Any, Field], Any, str], tuple[dict[Any, Field], Any, str]]:
    return (ids, each.id, "id"), (names, each.name, "name")
