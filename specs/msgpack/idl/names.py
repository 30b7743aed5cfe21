"""What the definitions of a document are called, and what is wrong with the names.

Source: 004_4ca5b084f7ea0751.txt. `Names` is where every part of the meaning writes down what it finds: faults, and the
points of which no text says whether they are legal.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from specs.msgpack.idl.clauses import Clause
from specs.msgpack.idl.tokens import BUILTINS, GENERICS
from specs.msgpack.idl.tree import Application, Definition, Fault, Message, Service, Type, Typedef

META_SERVICE, META_SCOPE = "BuiltInService", "_"


@dataclass(frozen=True, slots=True)
class Stance:
    """What a processor declares of what the text leaves open, as far as that turns a freedom into a duty."""

    forward_refs: bool = False
    id_zero: bool = False


SILENT = Stance()
"""A processor that declares nothing."""


@dataclass(slots=True)
class Names:
    """A document being read: its definitions by name, and what was found in it. `now` is the definition at hand."""

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
    customized: set[tuple[str, str, str]] = field(default_factory=set)
    now: int = 0
    depth: int = 0

    def fault(self, code: str, rule: Clause, why: str, *spans: tuple[int, int], level: str | None = None) -> None:
        self.faults.append(Fault(code, rule, spans, why, level=level))

    def free(self, why: str) -> None:
        self.freedoms.append(why)

    def declare(self) -> None:
        """Find every name."""
        applications: set[str] = set()
        for at, each in enumerate(self.definitions):
            span = (each.at, each.head)
            if isinstance(each, (Message, Typedef)):
                if each.name in BUILTINS or each.name in GENERICS or each.name == "void":
                    self.fault("built-in-name", Clause.TYPE_NAMES_DIFFER, f"{each.name} is a built-in type", span)
                elif each.name in self.types:
                    other = self.types[each.name]
                    self.fault(
                        "dup-name",
                        Clause.TYPE_NAMES_DIFFER,
                        f"{each.name} is declared twice",
                        span,
                        (other.at, other.head),
                    )
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
                    self.fault(
                        "dup-service", Clause.VERSION_ONCE, f"{each.name}:{each.version} is declared twice", *spans
                    )
                else:
                    self.free("an interface declared twice")
                if each.kind == "service" and each.name == META_SERVICE:
                    why = f"{META_SERVICE} is declared already"
                    self.fault("meta-service", Clause.META_IS_TAKEN, why, span, level="ASSUMED")
            elif isinstance(each, Application):
                if each.name in applications:
                    self.free("an application declared twice")
                applications.add(each.name)
        if len({name for name, _ in self.interfaces}) < len(self.interfaces):
            self.free("an interface in two versions")
        others = {name for name, _ in self.services} | {name for name, _ in self.interfaces}
        generated = {f"{name}_{version}" for name, version in (*self.services, *self.interfaces)}
        names = self.types.keys() | others | applications
        if (self.types.keys() & (others | applications)) or (others & applications) or (generated & names):
            self.free("one name for things of different kinds")
        if {n for n, _ in self.services} & {n for n, _ in self.interfaces}:
            self.free("one name for things of different kinds")
        if len({name.lower() for name in names}) < len(names):
            self.free("names that differ in case alone")
