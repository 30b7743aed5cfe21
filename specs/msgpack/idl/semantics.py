"""What an IDL document means, or why it means nothing.

Source: 004_4ca5b084f7ea0751.txt. `read` answers with a `Reading`: the tree as it is shown (see `canon`), every fault
that a processor must or should refuse it for, and every point of which no text says whether it is legal. Nothing here
has a limit of its own but the depth that the grammar follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from specs.msgpack.idl.grammar import IDL, MAX_DEPTH, TooDeep, parse
from specs.msgpack.idl.tokens import BUILTINS, GENERICS, Lines
from specs.msgpack.idl.tree import (
    Application,
    Definition,
    Entry,
    Fault,
    Field,
    Function,
    Literal,
    Message,
    Service,
    Type,
    Typedef,
    Typespec,
)

INTEGERS: Mapping[str, tuple[int, int]] = {
    "byte": (-(1 << 7), (1 << 7) - 1), "short": (-(1 << 15), (1 << 15) - 1), "int": (-(1 << 31), (1 << 31) - 1),
    "long": (-(1 << 63), (1 << 63) - 1), "ubyte": (0, (1 << 8) - 1), "ushort": (0, (1 << 16) - 1),
    "uint": (0, (1 << 32) - 1), "ulong": (0, (1 << 64) - 1),
}  # fmt: skip
"""The widths of the integer types, 8 to 64 bits: not stated, see docs/ambiguities.md."""
LARGE_ID = 1 << 31
META_SERVICE, META_SCOPE = "BuiltInService", "_"
SCALAR_KEYS = frozenset(INTEGERS) | {"string", "raw"}


@dataclass(frozen=True, slots=True)
class Stance:
    """What a processor declares of what the text leaves open, as far as that turns a freedom into a duty."""

    forward_refs: bool = False
    id_zero: bool = False


class Reading(NamedTuple):
    """`definitions` have their aliases expanded and their interfaces written out; empty when there is a syntax fault.
    `length` is
    in lines. `deep`: nobody can say what it means. `lines` are those of each fault, `(first, last)` for each place."""

    definitions: tuple[Definition, ...]
    faults: tuple[Fault, ...]
    freedoms: tuple[str, ...]
    deep: bool
    lines: tuple[tuple[int, int], ...]
    length: int
    paths: Mapping[str, str]


@dataclass(slots=True)
class _Document:
    definitions: tuple[Definition, ...]
    stance: Stance
    faults: list[Fault] = field(default_factory=list)
    freedoms: list[str] = field(default_factory=list)
    types: dict[str, Message | Typedef] = field(default_factory=dict)
    order: dict[str, int] = field(default_factory=dict)
    services: dict[tuple[str, int], Service] = field(default_factory=dict)
    interfaces: dict[tuple[str, int], Service] = field(default_factory=dict)
    paths: dict[str, str] = field(default_factory=dict)
    expanded: dict[str, Type | None] = field(default_factory=dict)
    now: int = 0
    depth: int = 0

    def fault(self, code: str, rule: str, why: str, *spans: tuple[int, int], level: str | None = None) -> None:
        self.faults.append(Fault(code, IDL + rule, spans, why, level=level))

    def free(self, why: str) -> None:
        self.freedoms.append(why)

    # -- names ---------------------------------------------------------------------------------------------------------

    def declare(self) -> None:
        """Find every name."""
        applications: set[str] = set()
        for at, each in enumerate(self.definitions):
            span = (each.at, each.head)
            if isinstance(each, (Message, Typedef)):
                if each.name in BUILTINS or each.name in GENERICS or each.name == "void":
                    self.fault("built-in-name", "NAME-01", f"{each.name} is a built-in type", span)
                elif each.name in self.types:
                    other = self.types[each.name]
                    self.fault("dup-name", "NAME-01", f"{each.name} is declared twice", span, (other.at, other.head))
                else:
                    self.types[each.name] = each
                    self.order[each.name] = at
            elif isinstance(each, Service):
                known = self.services if each.kind == "service" else self.interfaces
                key = (each.name, each.version)
                if key not in known:
                    known[key] = each
                    self.order[f"{each.kind} {each.name}:{each.version}"] = at
                elif each.kind == "service":
                    spans = (span, (known[key].at, known[key].head))
                    self.fault("dup-service", "SVC-02", f"{each.name}:{each.version} is declared twice", *spans)
                else:
                    self.free("an interface declared twice")
                if each.kind == "service" and each.name == META_SERVICE:
                    why = f"{META_SERVICE} is declared already"
                    self.fault("meta-service", "INV-31", why, span, level="ASSUMED")
            elif isinstance(each, Application):
                if each.name in applications:
                    self.free("an application declared twice")
                applications.add(each.name)
        others = {name for name, _ in self.services} | {name for name, _ in self.interfaces}
        generated = {f"{name}_{version}" for name, version in (*self.services, *self.interfaces)}
        names = self.types.keys() | others | applications
        if (self.types.keys() & (others | applications)) or (others & applications) or (generated & names):
            self.free("one name for things of different kinds")
        if {n for n, _ in self.services} & {n for n, _ in self.interfaces}:
            self.free("one name for things of different kinds")
        if len({name.lower() for name in names}) < len(names):
            self.free("names that differ in case alone")

    # -- types ---------------------------------------------------------------------------------------------------------

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
                self.fault("void", "TYPE-08", "void is no type of a value", item)
            elif kind.null:
                self.fault("void", "TYPE-08", "void is never nullable", item)
            return kind
        found = self.types.get(kind.name)
        if found is None:
            self.fault("unknown-type", "TYPE-02", f"{kind.name} is no type", item)
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
        if generic == "map" and n == 0 and found.name not in SCALAR_KEYS:
            self.free("a key that is no integer, text or raw")
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
        for group in _cycles({name: set(_mentioned(self.types[name].type)) & set(names) for name in names}):  # type: ignore[union-attr]
            spans = tuple((self.types[name].at, self.types[name].head) for name in group)
            self.fault("alias-cycle", "TD-02", f"{group[0]} is an alias of itself", *spans)
            for name in group:
                self.expanded[name] = None

    # -- fields --------------------------------------------------------------------------------------------------------

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
                    rule = "SVC-07" if argument else "FIELD-01" if code == "id" else "FIELD-02"
                    self.fault(f"dup-{of}-{code}", rule, f"the {code} {key} is used twice", span, (other.at, other.end))
            if each.id == 0 and not self.stance.id_zero:
                self.free("the id 0")
            if each.id >= LARGE_ID:
                self.free("a large id")
            if argument and (each.mod or each.type.null):
                self.free("modifiers of arguments")
            kind = self.type(each.type, span)
            if each.default is not None:
                self.default(each, kind, each.default, argument=argument)
            found.append(each._replace(type=kind))
        if argument and sorted(ids) != list(range(1, len(ids) + 1)):
            self.free("gaps between arguments")
        if len({name.lower() for name in names}) < len(names):
            self.free("names that differ in case alone")
        return tuple(sorted(found, key=lambda each: each.id))

    def default(self, item: Field, kind: Type, literal: Literal, *, argument: bool) -> None:
        """Does a literal match the type of its field?"""
        span = (item.at, item.end)
        if kind.name in GENERICS:
            self.fault("container-default", "DEF-03", f"{kind.name} takes no default", span)
            return
        if item.mod != "optional" and not argument:
            self.free("a default of what is required")
        if literal.kind == "null":
            if not kind.null:
                self.fault("default-null", "DEF-02", f"{item.name} is not nullable", span)
            return
        if kind.null:
            self.free("a default of what is nullable")
        if kind.name in INTEGERS:
            low, high = INTEGERS[kind.name]
            if literal.kind == "float":
                self.free("a fraction as the default of an integer")
            elif literal.kind != "int" or not low <= literal.value <= high:
                self.fault("default-type", "DEF-02", f"{literal.value!r:.40} is no {kind.name}", span)
            return
        wanted = {"float": ("float", "int"), "double": ("float", "int"), "bool": ("bool",), "string": ("str",)}
        if kind.name == "raw":
            self.free("the default of a raw")
        elif kind.name not in wanted:
            self.free("the default of a message")
        elif literal.kind not in wanted[kind.name]:
            self.fault("default-type", "DEF-02", f"{literal.value!r:.40} is no {kind.name}", span)
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
                    self.fault("no-base", "EXC-02", f"{base} is no exception", span)
                return
            if base in names:
                if base == each.name:
                    where = tuple((other.at, other.head) for other in chain)
                    self.fault("base-cycle", "EXC-04", f"{each.name} is a base of itself", span, *where)
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
            spans = ((item.at, item.end),)
            if item.id <= most:
                near = max((part.id for part in chain[0].fields), default=-1)
                rule = "EXC-03" if item.id <= near else "EXC-05"
                self.fault("base-id", rule, f"{item.id} is not above {most}, the largest id of the base", *spans)
            if item.name in inherited:
                why = f"{item.name} is inherited already"
                self.fault("inherited-name", "EXC-06", why, *spans, level="SHOULD")

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
        for group in _cycles({name: of & graph.keys() for name, of in graph.items()}):
            spans = tuple(
                span
                for name in group
                for each in [self.types[name]]
                if isinstance(each, Message)
                for span in [(each.at, each.head), *((item.at, item.end) for item in each.fields)]
            )
            self.fault("no-finite-value", "TYPE-07", f"{group[0]} contains itself", *spans, level="SHOULD")

    # -- services ------------------------------------------------------------------------------------------------------

    def function(self, each: Function) -> Function:
        span = (each.at, each.end)
        ret = self.type(each.ret, (each.at, each.name_at), result=True)
        for name, at in each.throws:
            found = self.types.get(name)
            if not isinstance(found, Message) or found.kind != "exception":
                self.fault("throws", "SVC-09", f"{name} is no exception", span, (at, at))
            elif self.order[name] > self.now and not self.stance.forward_refs:
                self.free("an exception is used before it is declared")
        if len({name for name, _ in each.throws}) < len(each.throws):
            self.free("an exception thrown twice")
        return each._replace(ret=ret, args=self.fields(each.args, of="argument"))

    def service(self, each: Service) -> Service:
        functions: list[Function] = []
        for name, version, at in each.implements:
            found = self.interfaces.get((name, version))
            if found is None:
                self.fault("no-interface", "IF-01", f"{name}:{version} is no interface", (at, at), (each.at, each.head))
                continue
            if self.order[f"interface {name}:{version}"] > self.now and not self.stance.forward_refs:
                self.free("an interface is used before it is declared")
            functions += found.functions
        own = {function.name: function for function in functions}
        if len(own) < len(functions):
            spans = ((each.at, each.head), *((at, at) for _, _, at in each.implements))
            self.fault("interface-clash", "IF-04", "two interfaces have one function", *spans, level="SHOULD")
        inherited = set(own)
        for function in each.functions:
            span = (function.at, function.end)
            if function.name in inherited:
                why = f"{function.name} is a function of an interface"
                where = (span, (each.at, each.head), *((at, at) for _, _, at in each.implements))
                self.fault("interface-clash", "IF-04", why, *where, level="SHOULD")
            elif function.name in own:
                other = own[function.name]
                why = f"{function.name} is declared twice"
                self.fault("dup-function", "SVC-05", why, span, (other.at, other.end))
            own[function.name] = function
        if len({name.lower() for name in own}) < len(own):
            self.free("names that differ in case alone")
        made = [self.function(function) for function in functions] if not self.faults else functions
        made += [self.function(function) for function in each.functions]
        return each._replace(functions=tuple(made))

    def application(self, each: Application) -> Application:
        scopes: dict[str, Entry] = {}
        marked: Entry | None = None
        once: set[str] = set()
        entries = []
        for entry in each.entries:
            span = (entry.at, entry.end)
            versions = sorted(version for name, version in self.services if name == entry.service)
            key = (entry.service, entry.version if entry.version is not None else versions[-1] if versions else 0)
            if key not in self.services:
                self.fault("no-service", "APP-02", f"{key[0]}:{key[1]} is no service", span)
            elif self.order[f"service {key[0]}:{key[1]}"] > self.now and not self.stance.forward_refs:
                self.free("an application before its services")
            other = scopes.setdefault(entry.scope, entry)
            if other is not entry:
                self.fault("dup-scope", "APP-03", f"{entry.scope} is used twice", span, (other.at, other.end))
            if entry.default and marked is not None:
                self.fault("two-defaults", "APP-04", "two scopes are the default", span, (marked.at, marked.end))
            marked = marked or (entry if entry.default else None)
            if entry.scope == META_SCOPE:
                self.fault("meta-scope", "INV-31", "the scope _ is there already", span, level="ASSUMED")
            if entry.scope == "default":
                self.fault("scope-default", "INV-26", "a scope is called default", span, level="SHOULD")
            if entry.service in once:
                self.free("two scopes of one service") if key[1] != entry.version else None
            once.add(entry.service)
            entries.append(entry._replace(version=key[1]))
        if marked is None:
            self.free("no default scope")
        named = {(entry.service, entry.version) for entry in each.entries}
        if len(named) > len({service for service, _ in named}):
            self.free("two versions of one service as two scopes")
        return each._replace(entries=tuple(entries))

    def typespec(self, each: Typespec) -> None:
        span = (each.at, each.head)
        found = self.types.get(each.target)
        if found is None:
            if each.target in BUILTINS and not each.field:
                self.free("a typespec of a built-in type")
            else:
                self.fault("typespec-target", "TS-01", f"{each.target} is no type", span)
            return
        if self.order[each.target] > self.now and not self.stance.forward_refs:
            self.free("a type is used before it is declared")
        if each.field and not (isinstance(found, Message) and any(item.name == each.field for item in found.fields)):
            self.fault("typespec-target", "TS-01", f"{each.target} has no field {each.field}", span)

    def all(self) -> tuple[Definition, ...]:
        self.declare()
        self.cycles()
        made: list[Definition] = []
        for at, each in enumerate(self.definitions):
            self.now = at
            if isinstance(each, Message):
                made.append(self.message(each))
            elif isinstance(each, Service):
                made.append(self.service(each))
            elif isinstance(each, Application):
                made.append(self.application(each))
            elif isinstance(each, Typedef):
                alias = self.alias(each.name) if self.types.get(each.name) is each else each.type
                made.append(each._replace(type=alias or each.type))
            else:
                self.typespec(each)
                made.append(each)
        self.finite()
        self.paths = {
            e.name: self.path(e) for e in self.definitions if isinstance(e, Message) and e.kind == "exception"
        }
        return tuple(made)


def _keys(
    each: Field, ids: dict[Any, Field], names: dict[Any, Field]
) -> tuple[tuple[dict[Any, Field], Any, str], tuple[dict[Any, Field], Any, str]]:
    return (ids, each.id, "id"), (names, each.name, "name")


def _mentioned(kind: Type) -> Iterator[str]:
    yield kind.name
    for part in kind.of:
        yield from _mentioned(part)


def _cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
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


def read(source: str, extensions: frozenset[str] = frozenset(), stance: Stance = Stance()) -> Reading:
    """What `source` means for whoever claims `extensions`. Never raises."""
    parsed = parse(source)
    lines = Lines(source)
    freedoms = list(parsed.freedoms)
    if parsed.extensions - extensions:
        freedoms.append("syntax of an extension that is not claimed")
    faults: tuple[Fault, ...] = (parsed.fault,) if parsed.fault is not None else ()
    document = _Document(parsed.definitions, stance)
    made: tuple[Definition, ...] = ()
    if not faults and not parsed.deep:
        try:
            made = document.all()
        except TooDeep:
            return Reading((), (), ("great depth",), True, (), lines.length, {})
        faults = tuple(document.faults)
        freedoms += document.freedoms
    spans = tuple((lines.line(first), lines.line(last)) for fault in faults for first, last in fault.spans)
    return Reading(made, faults, tuple(dict.fromkeys(freedoms)), parsed.deep, spans, lines.length, document.paths)
