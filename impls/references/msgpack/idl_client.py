"""The reference client that is made from a document: told what to call, it calls, and reports what came of it.

Source: 004_4ca5b084f7ea0751.txt, client side. Every freedom that the text leaves is a switch. `IdlClient` is what is
judged in memory; `python -m impls.references.msgpack idl-client` is the same behind a socket and JSON lines.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

from impls.references.msgpack.client import CLIENT_SWITCHES, Caller, Client
from impls.references.msgpack.idl import IdlSwitches
from impls.references.msgpack.idl_checker import Checker
from impls.references.msgpack.idl_codec import IdlCodec
from impls.references.msgpack.idl_parser import Member, Method, Parser, Part
from impls.references.msgpack.idl_values import Misfit, Shapes
from impls.references.msgpack.idl_words import Wrong
from impls.references.msgpack.switches import switch

META = "service BuiltInService:0 {\n  int getVersion(1: string scope)\n}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallingSwitches:
    """One behaviour out of all legal ones."""

    layout: str = switch("array-1", "array-0")
    places: str = switch("like messages", "from one")  # of arguments, where messages begin with the id 0
    exception_wire: str = switch("list", "code", "none")
    knows: str = switch("all", "declared")  # the exceptions of the document, or those that the function throws
    others: str = switch("error", "exception")  # what is caught as no exception of the document
    classes: str = switch("name", "path")
    unscoped: str = switch("colon", "colons", "newest bare")
    omitted: str = switch("short", "nil", "default")
    void: str = switch("null", "absent")
    failures: str = switch("error", "ok")
    misfit: str = switch("stays", "closes")  # the connection, after a result that is none of its type
    whole: bool = switch(False, True)  # floats that are whole are written as integers
    loose: bool = switch(True, False)
    versions: str = switch("not asked", "when it connects", "before each call")
    nullable_arguments: str = switch("accept", "refuse")
    argument_modifiers: str = switch("accept", "refuse")


CALLING_SWITCHES: Mapping[str, tuple[Any, ...]] = {
    each.name: each.metadata["values"] for each in fields(CallingSwitches)
}
SHARED = ("first_id", "next_id", "forms", "old_raw", "pieces")
"""Switches of a plain client that are drawn for this one, too."""


Going = Callable[[], dict[str, Any] | None]
"""What is carried out next; None when that blocks."""


class Made:
    """What is made of a document: the services of an application, and its exceptions. Raises Wrong and KeyError."""

    def __init__(self, idl: str, name: str, shapes_type: type[Shapes], switches: CallingSwitches) -> None:
        self.switches = switches
        choices = IdlSwitches(
            nullable_arguments=switches.nullable_arguments, argument_modifiers=switches.argument_modifiers
        )
        parts = Parser(idl, choices).document()
        self.checker = Checker(parts, choices)
        wrong = self.checker.run()
        if wrong:
            raise wrong[0]
        application = next((p for p in parts if p.what == "application" and p.word.text == name), None)
        self.scopes: dict[str, str] = {"": name}
        if application is not None:
            self.scopes = {mount.scope.text: mount.service.text for mount in application.mounts}
        self.anonymous = application is None
        if self.anonymous and name not in {service for service, _ in self.checker.services}:
            raise KeyError(name)
        self.shapes = shapes_type(self.checker.types, self.checker.real, switches.layout, loose=switches.loose,
                                  drop=switches.omitted != "default", whole=switches.whole)  # fmt: skip
        self.paths = {self.path(part): part.word.text for part in parts if part.what == "exception"}

    def path(self, part: Part) -> str:
        """The string form of an exception."""
        names = [part.word.text]
        while part.base is not None:
            part = self.checker.types[part.base.text]
            names.insert(0, part.word.text)
        return ".".join(names)

    def versions(self, scope: str) -> dict[int, Part]:
        """The versions of the service of a scope. Raises KeyError."""
        service = self.scopes[scope]
        return {version: part for (name, version), part in self.checker.services.items() if name == service}

    def function(self, scope: str, version: int, name: str) -> Method:
        """What a handle for a version in a scope offers. Raises KeyError."""
        if scope == "_" and version == 0:
            part = Parser(META, IdlSwitches()).document()[0]
        else:
            part = self.versions(scope)[version]
        used = [self.checker.interfaces[word.text, number] for word, number in part.uses]
        return {method.word.text: method for each in (*used, part) for method in each.methods}[name]

    def name(self, scope: str, version: int, name: str) -> str:
        """How a function is called on the wire."""
        if not self.anonymous or scope == "_":
            return f"{name}:{scope}:{version}"
        how = self.switches.unscoped
        if how == "newest bare" and version == max(self.versions(scope)):
            return name
        return f"{name}::{version}" if how == "colons" else f"{name}:{version}"


class MadeCaller(Caller):
    """See the module. Keywords are the fields of `CallingSwitches`, and some of `ClientSwitches`."""

    made_type = Made
    shapes_type = Shapes

    def __init__(self, *, seed: int = 0, **switches: Any) -> None:
        own = {name: switches.pop(name) for name in tuple(switches) if name in CALLING_SWITCHES}
        super().__init__(seed=seed, **switches)
        self.calling = CallingSwitches(**own)
        self.teller = IdlCodec()
        self.made: Made | None = None
        self.function: Method | None = None
        self.then: dict[int, tuple[int, Going]] = {}  # what goes on when a question for a version is answered

    def command(self, number: int, op: str, given: dict[str, Any]) -> dict[str, Any] | None:
        """Carry out one command; None when it blocks."""
        if op == "connect":
            self.reset()
            done = self.begin(given)
            if self.made is None or self.calling.versions != "when it connects":
                return done
            return self.ask(number, next(iter(self.made.scopes)), lambda: done)
        asks = self.made is not None and self.calling.versions == "before each call"
        if op == "call" and asks and given["scope"] != "_":
            return self.ask(number, given["scope"], lambda: self.begin_call(number, given))
        if op == "call":
            return self.begin_call(number, given)
        return super().command(number, op, given) if op == "disconnect" else {"error": "unsupported"}

    def begin(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Make what the document declares."""
        try:
            self.made = self.made_type(given["idl"], given["app"], self.shapes_type, self.calling)
        except (Wrong, KeyError) as wrong:
            self.made = None
            return {"error": f"{wrong}"}
        return {"ok": True}

    # Questions for a version

    def ask(self, number: int, scope: str, going: Going) -> dict[str, Any] | None:
        """Ask which version of a scope is served, and go on when that is answered, or is no more to be."""
        assert self.made is not None
        self.function = self.made.function("_", 0, "getVersion")
        handle = self.call("getVersion:_:0", self.params_of(self.made, self.function, [scope]))
        self.leave()
        if handle in self.ended:
            return going()
        self.then[handle] = number, going
        self.blocked = number, handle
        return None

    def settle(self, handle: int, outcome: dict[str, Any]) -> None:
        """A call has ended, or a question."""
        if handle not in self.then:
            super().settle(handle, outcome)
            return
        (number, going), self.blocked = self.then.pop(handle), None
        done = going()
        if done is not None:
            self.reports.append((number, done))
        self.go_on()

    # Calling

    def begin_call(self, number: int, given: Mapping[str, Any]) -> dict[str, Any] | None:
        """Send a request."""
        if self.made is None:
            return {"error": "no document"}
        try:
            scope, version, name = given["scope"], given["version"], given["fn"]
            self.function = self.made.function(scope, version, name)
            params = self.params_of(self.made, self.function, given["args"])
        except (KeyError, Misfit) as wrong:
            return {"error": f"{wrong!r}"}
        return self.wait(number, self.call(self.made.name(scope, version, name), params))

    def params_of(self, made: Made, function: Method, told: Sequence[Any]) -> list[Any]:
        """Arguments as they go over the wire."""
        members = sorted(function.members, key=lambda member: member.number)
        size = max((self.place(made, member) + 1 for member in members), default=0)
        out: list[Any] = [None] * size
        for nth, member in enumerate(members):
            if nth < len(told):
                out[self.place(made, member)] = self.argument(made, member, told[nth])
            elif self.calling.omitted == "default":
                out[self.place(made, member)] = made.shapes.write(made.shapes.default(member), member.kind)
        left = {self.place(made, member) for member in members[len(told) :]}
        while self.calling.omitted == "short" and out and len(out) - 1 in left:
            left.discard(len(out) - 1)
            out.pop()
        return out

    def place(self, made: Made, member: Member) -> int:
        """Where an argument stands."""
        return member.number - 1 if self.calling.places == "from one" else made.shapes.place(member)

    def argument(self, made: Made, member: Member, told: Any) -> Any:
        """One argument as it goes over the wire."""
        return made.shapes.write(made.shapes.untell(told, member.kind), member.kind)

    # Reporting

    def success(self, result: Any) -> dict[str, Any]:
        """The report of a result."""
        assert self.made is not None
        assert self.function is not None
        if self.function.result.name == "void":
            return {"ok": {"result": None} if self.calling.void == "null" else {}}
        try:
            value = self.made.shapes.read(result, self.function.result)
        except Misfit as misfit:
            if self.calling.misfit == "closes":
                self.end("a result that is none of its type")
            return self.failing(f"{misfit}")
        return {"ok": {"result": self.teller.shown(value)}}

    def failing(self, why: str) -> dict[str, Any]:
        """The report of a failure that is no exception of the document."""
        return {"error": why} if self.calling.failures == "error" else {"ok": {"error": why}}

    def failure(self, error: Any) -> dict[str, Any]:
        """The report of an error."""
        path = self.path_of(error)
        caught = self.caught(path) if path else None
        if caught is None and (not path or self.calling.others == "error"):
            return self.failing("it failed")
        return {"ok": {"exception": path, "caught_as": caught, "fields": {}}}

    def path_of(self, error: Any) -> str:
        """The path of the exception that an error names, "" when it names none."""
        how = self.calling.exception_wire
        first = error[0] if how == "list" and isinstance(error, list) and error else error if how == "code" else ""
        return first if isinstance(first, str) else ""

    def caught(self, path: str) -> str | None:
        """The nearest known exception, None for none."""
        assert self.made is not None
        assert self.function is not None
        known = self.made.paths
        if self.calling.knows == "declared":
            declared = {word.text for word in self.function.throws}
            known = {each: name for each, name in known.items() if name in declared}
        found = self.nearest(known, path)
        return found if found is None or self.calling.classes == "name" else {n: p for p, n in known.items()}[found]

    def nearest(self, known: Mapping[str, str], path: str) -> str | None:
        """The exception of which `path` is, or the nearest of its bases."""
        while path not in known:
            path, dot, _ = path.rpartition(".")
            if not dot:
                return None
        return known[path]


class IdlClient(Client):
    """The reference client made from a document, in memory."""

    caller_type: type[Caller] = MadeCaller

    @classmethod
    def random(cls, seed: int, **fixed: Any) -> Self:
        """A client with every switch drawn by `seed`, half of its own the default, but for those in `fixed`."""
        chance = random.Random(seed)
        drawn = {name: chance.choice(values) if chance.random() < 0.5 else values[0]
                 for name, values in CALLING_SWITCHES.items()}  # fmt: skip
        drawn |= {name: chance.choice(CLIENT_SWITCHES[name]) for name in SHARED}
        return cls(seed=seed, **{**drawn, **fixed})


__all__ = ["CALLING_SWITCHES", "CallingSwitches", "IdlClient", "Made", "MadeCaller"]
