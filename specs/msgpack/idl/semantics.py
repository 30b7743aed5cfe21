"""What an IDL document means, or why it means nothing.

Source: 004_4ca5b084f7ea0751.txt. `read` answers with a `Reading`: the tree as it is shown (see `canon`), every fault
that a processor must or should refuse it for, and every point of which no text says whether it is legal. Nothing here
has a limit of its own but the depth that the grammar follows. Services and applications are here; what they are made
of is in `members`, `kinds` and `names`, each of which builds on the next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from specs.msgpack.idl.clauses import Clause
from specs.msgpack.idl.grammar import TooDeep, parse
from specs.msgpack.idl.kinds import INTEGERS
from specs.msgpack.idl.members import Members
from specs.msgpack.idl.names import META_SCOPE, META_SERVICE, SILENT, Stance
from specs.msgpack.idl.tokens import BUILTINS, Lines
from specs.msgpack.idl.tree import Application, Definition, Entry, Fault, Function, Message, Service, Typedef, Typespec


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
class _Document(Members):
    """All of it."""

    def function(self, each: Function) -> Function:
        span = (each.at, each.end)
        ret = self.type(each.ret, (each.at, each.name_at), result=True)
        known = {*self.types, *BUILTINS}
        for name, at in each.throws:
            found = self.types.get(name)
            if not isinstance(found, Message) or found.kind != "exception":
                level = None if name in known else "SHOULD"  # the text throws what it does not declare; ML-02
                self.fault(
                    "throws", Clause.THROWN_IS_AN_EXCEPTION, f"{name} is no exception", span, (at, at), level=level
                )
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
                self.fault(
                    "no-interface",
                    Clause.INTERFACE_IS_DECLARED,
                    f"{name}:{version} is no interface",
                    (at, at),
                    (each.at, each.head),
                )
                continue
            if self.order[f"interface {name}:{version}"] > self.now:
                self.free("an interface is used before it is declared")
            functions += found.functions
        own = {function.name: function for function in functions}
        if len(own) < len(functions):
            spans = ((each.at, each.head), *((at, at) for _, _, at in each.implements))
            self.fault(
                "interface-clash", Clause.NO_FUNCTION_TWICE, "two interfaces have one function", *spans, level="SHOULD"
            )
        inherited = set(own)
        for function in each.functions:
            span = (function.at, function.end)
            if function.name in inherited:
                why = f"{function.name} is a function of an interface"
                where = (span, (each.at, each.head), *((at, at) for _, _, at in each.implements))
                self.fault("interface-clash", Clause.NO_FUNCTION_TWICE, why, *where, level="SHOULD")
            elif function.name in own:
                other = own[function.name]
                why = f"{function.name} is declared twice"
                self.fault("dup-function", Clause.FUNCTION_NAMES_DIFFER, why, span, (other.at, other.end))
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
                self.fault("no-service", Clause.ENTRY_IS_A_SERVICE, f"{key[0]}:{key[1]} is no service", span)
            elif self.order[f"service {key[0]}:{key[1]}"] > self.now:  # `forward_refs` promises types
                self.free("an application before its services")
            other = scopes.setdefault(entry.scope, entry)
            if other is not entry:
                self.fault(
                    "dup-scope", Clause.SCOPES_DIFFER, f"{entry.scope} is used twice", span, (other.at, other.end)
                )
            if entry.default and marked is not None:
                self.fault(
                    "two-defaults",
                    Clause.ONE_DEFAULT_SCOPE,
                    "two scopes are the default",
                    span,
                    (marked.at, marked.end),
                )
            marked = marked or (entry if entry.default else None)
            if entry.scope == META_SCOPE:
                self.fault("meta-scope", Clause.META_IS_TAKEN, "the scope _ is there already", span, level="ASSUMED")
            if entry.scope == "default":
                self.fault(
                    "scope-default", Clause.NO_SCOPE_CALLED_DEFAULT, "a scope is called default", span, level="SHOULD"
                )
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
                self.fault("typespec-target", Clause.TARGET_EXISTS, f"{each.target} is no type", span)
            return
        if self.order[each.target] > self.now and not self.stance.forward_refs:
            self.free("a type is used before it is declared")
        customized = (each.language, each.target, each.field)
        if customized in self.customized:
            self.free("two foreign types for one target")
        self.customized.add(customized)
        if each.field and not (isinstance(found, Message) and any(item.name == each.field for item in found.fields)):
            self.fault("typespec-target", Clause.TARGET_EXISTS, f"{each.target} has no field {each.field}", span)

    def compare(self, services: list[Service]) -> None:
        """The versions of each service; SVC-08 and ML-27."""
        several = {name for name, count in Counter(each.name for each in services).items() if count > 1}
        known: dict[tuple[str, str], tuple[Any, ...]] = {}
        for each in services:
            for function in each.functions if each.name in several else ():
                if known.setdefault((each.name, function.name), function.signature) != function.signature:
                    self.free("a function that another version has changed")

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
                if each.type.null:
                    self.free("an alias of a nullable type")
                alias = self.alias(each.name) if self.types.get(each.name) is each else each.type
                made.append(each._replace(type=alias or each.type))
            else:
                self.typespec(each)
                made.append(each)
        self.finite()
        self.compare([each for each in made if isinstance(each, Service) and each.kind == "service"])
        self.paths = {
            e.name: self.path(e) for e in self.definitions if isinstance(e, Message) and e.kind == "exception"
        }
        return tuple(made)


def read(source: str, extensions: frozenset[str] = frozenset(), stance: Stance = SILENT) -> Reading:
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


__all__ = ["INTEGERS", "META_SCOPE", "META_SERVICE", "Reading", "Stance", "read"]
