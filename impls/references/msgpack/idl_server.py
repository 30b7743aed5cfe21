"""The reference server that is made from a document: told what to serve, it answers RPC.

Source: 004_4ca5b084f7ea0751.txt, services. Every freedom that the text leaves is a switch. `IdlServer` is what is
judged in memory; `python -m impls.references.msgpack idl-server` is the same behind a socket and JSON lines.
"""

from __future__ import annotations

import json
import random
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

from impls.references.msgpack.idl import IdlSwitches
from impls.references.msgpack.idl_checker import Checker
from impls.references.msgpack.idl_parser import Kind, Method, Parser, Part
from impls.references.msgpack.idl_values import Misfit, Shapes
from impls.references.msgpack.idl_words import Wrong
from impls.references.msgpack.net import front
from impls.references.msgpack.reference import Server, Session
from impls.references.msgpack.server import Failure
from impls.references.msgpack.switches import switch

META = "getVersion:_:0"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingSwitches:
    """One behaviour out of all legal ones."""

    layout: str = switch("array-1", "array-0")
    bare_name: str = switch("declared", "newest", "refuse")
    above: str = switch("refuse", "serve")  # versions above the one that the application names
    gaps: str = switch("reach", "refuse")  # a function that a version in between lacks
    exception_wire: str = switch("list", "code", "text")
    undeclared: str = switch("path", "error")  # an exception that the function does not throw
    version_told: str = switch("declared", "newest")
    unscoped: str = switch("both", "colons", "colon")
    assign: str = switch("take", "refuse")
    binding: str = switch("late", "late", "early")  # when it is found out what an older version does
    drop: bool = switch(False, True)
    loose: bool = switch(True, False)
    whole: bool = switch(False, True)  # floats that are whole are written as integers
    arity: str = switch("ignore", "error")  # of what has too many arguments
    first_argument: int = switch(0, 1)


SERVING_SWITCHES: Mapping[str, tuple[Any, ...]] = {
    each.name: each.metadata["values"] for each in fields(ServingSwitches)
}


class Thrown(Failure):
    """An exception of the document; `error` and `result` as they go over the wire."""

    def __init__(self, error: Any, result: Any) -> None:
        super().__init__("thrown")
        self.error, self.result = error, result


class Application:
    """What is served: the versions in each scope, and what their functions do. Raises Wrong and KeyError."""

    shapes_type = Shapes

    def __init__(self, idl: str, name: str, behaviours: Mapping[str, Any], switches: ServingSwitches) -> None:
        self.switches = switches
        choices = IdlSwitches()
        parts = Parser(idl, choices).document()
        self.checker = Checker(parts, choices)
        wrong = self.checker.run()
        if wrong:
            raise wrong[0]
        self.behaviours = dict(behaviours)
        self.begun = dict(behaviours)
        self.scopes: dict[str, tuple[str, int]] = {}
        self.default = ""
        self.anonymous = False
        application = next((p for p in parts if p.what == "application" and p.word.text == name), None)
        if application is not None:
            for n, mount in enumerate(application.mounts):
                self.scopes[mount.scope.text] = (mount.service.text, mount.version or 0)
                if mount.default or n == 0:
                    self.default = mount.scope.text
        else:
            self.scopes[""] = (name, max(v for n, v in self.checker.services if n == name))
            self.anonymous = True
        self.shapes = self.shapes_type(self.checker.types, self.checker.real, switches.layout, drop=switches.drop,
                                       loose=switches.loose, whole=switches.whole)  # fmt: skip

    # Looking up

    def versions(self, scope: str) -> dict[int, Part]:
        """The versions of the service of a scope."""
        service = self.scopes[scope][0]
        return {version: part for (name, version), part in self.checker.services.items() if name == service}

    def functions(self, part: Part) -> dict[str, Method]:
        """Those of a version, the interfaces' included."""
        used = [self.checker.interfaces[word.text, version] for word, version in part.uses]
        return {method.word.text: method for each in (*used, part) for method in each.methods}

    def select(self, method: str) -> tuple[str, int, str]:
        """Scope, version and function of a method name. Raises Failure."""
        name, *rest = method.split(":")
        if self.anonymous:
            return self.select_unscoped(name, rest)
        if len(rest) == 2:
            scope, text = rest
            return scope, self.number(text), name
        if self.switches.bare_name == "refuse" or len(rest) > 2 or "" in rest or not name:
            raise Failure(f"no method {method[:40]!r}")
        if rest and rest[0].isdigit():
            return self.default, self.number(rest[0]), name
        scope = rest[0] if rest else self.default
        return scope, self.bare(scope), name

    def select_unscoped(self, name: str, rest: list[str]) -> tuple[str, int, str]:
        how = self.switches.unscoped
        if len(rest) == 2 and rest[0] == "" and how != "colon":
            return "", self.number(rest[1]), name
        if len(rest) == 1 and how != "colons":
            return "", self.number(rest[0]), name
        if not rest and self.switches.bare_name != "refuse":
            return "", self.bare(""), name
        raise Failure("no such form")

    def number(self, text: str) -> int:
        """A version. Raises Failure."""
        if not (text.isascii() and text.isdigit()) or len(text) > 10 or (len(text) > 1 and text[0] == "0"):
            raise Failure("no version")
        return int(text)

    def bare(self, scope: str) -> int:
        """The version that is meant where none is named."""
        if scope not in self.scopes:
            raise Failure(f"no scope {scope[:40]!r}")
        return self.scopes[scope][1] if self.switches.bare_name == "declared" else max(self.versions(scope))

    def find(self, scope: str, version: int, name: str) -> Method:
        """A function that may be called. Raises Failure."""
        if scope not in self.scopes:
            raise Failure("no such scope")
        versions = self.versions(scope)
        if version not in versions or (version > self.scopes[scope][1] and self.switches.above == "refuse"):
            raise Failure("no such version")
        found = self.functions(versions[version]).get(name)
        if found is None:
            raise Failure("no such function")
        return found

    def implementation(self, scope: str, version: int, name: str) -> tuple[int, Mapping[str, Any]]:
        """The version that answers, and how. Raises Failure."""
        versions = self.versions(scope)
        for each in sorted((v for v in versions if v <= version), reverse=True):
            if name not in self.functions(versions[each]):
                if self.switches.gaps == "refuse":
                    break
                continue
            known = self.begun if self.switches.binding == "early" and each < version else self.behaviours
            behaviour = known.get(f"{scope}/{each}/{name}", {"do": "default"})
            if behaviour["do"] != "default":
                return each, behaviour
        raise Failure("NotImplemented")

    # Calling

    def call(self, method: str, params: list[Any]) -> tuple[Any, float]:
        """The result of a call, and how many milliseconds it takes. Raises Failure."""
        if method == META:
            return self.version(params), 0
        scope, version, name = self.select(method)
        function = self.find(scope, version, name)
        given = self.arguments(params, function)
        answering, behaviour = self.implementation(scope, version, name)
        ms = 0.0
        while behaviour["do"] == "sleep":
            ms, behaviour = ms + behaviour["ms"], behaviour["then"]
        try:
            return self.behave(behaviour, f"{scope}/{answering}/{name}", function, given), ms
        except Failure as failure:
            failure.ms = ms
            raise

    def arguments(self, params: list[Any], function: Method) -> dict[str, Any]:
        """The arguments by name. Raises Failure."""
        last = max((self.shapes.place(member) for member in function.members), default=-1)
        if self.switches.arity == "error" and len(params) > last + 1:
            raise Failure("too many arguments")
        try:
            return self.shapes.members(params, function.members)
        except Misfit as misfit:
            raise Failure(f"wrong arguments: {misfit}") from None

    def version(self, params: list[Any]) -> int:
        """What the meta service says."""
        scope = params[-1] if params else None
        if not isinstance(scope, str) or scope not in self.scopes:
            raise Failure("no such scope")
        told = self.switches.version_told == "declared" and self.switches.above == "refuse"
        return self.scopes[scope][1] if told else max(self.versions(scope))

    def behave(self, behaviour: Mapping[str, Any], key: str, function: Method, given: dict[str, Any]) -> Any:
        """Do what a slot is told to do. Raises Failure."""
        do = behaviour["do"]
        if do == "tag":
            return key
        if do == "const":
            return self.shapes.write(self.shapes.untell(behaviour["value"], function.result), function.result)
        if do == "echo":
            at = behaviour.get("n", self.switches.first_argument) - self.switches.first_argument
            members = function.members
            if not 0 <= at < len(members):
                raise Failure("no such argument")
            return self.shapes.write(given[members[at].word.text], function.result)
        if do == "throw":
            raise self.thrown(behaviour["exception"], behaviour.get("fields", {}), function)
        raise Failure("it failed")

    def thrown(self, name: str, given: Mapping[str, Any], function: Method) -> Failure:
        """An exception as it goes over the wire."""
        path, at = [name], self.checker.types[name]
        members = list(at.members)
        while at.base is not None:
            path.insert(0, at.base.text)
            at = self.checker.types[at.base.text]
            members += at.members
        if self.switches.undeclared == "error" and not any(word.text in path for word in function.throws):
            return Failure(f"unexpected {name}")
        told = [each for each in sorted(members, key=lambda member: member.number) if each.word.text in given]
        shapes = self.shapes
        fields = [shapes.write(shapes.untell(given[each.word.text], each.kind), each.kind) for each in told]
        return self.wired(self.path(path), fields)

    def path(self, names: list[str]) -> str:
        """The string form of an exception, root first."""
        return ".".join(names)

    def wired(self, path: str, data: list[Any]) -> Thrown:
        """Error and result for a path."""
        how = self.switches.exception_wire
        return Thrown([path, *data], None) if how == "list" else Thrown(path, data if how == "code" and data else None)


class Serving(Session):
    """One conversation: what it is told, and a connection to what it then serves."""

    server: IdlServer
    application_type = Application

    def __init__(self, server: Server) -> None:
        super().__init__(server)
        self.application = self.server.application
        self._told: list[tuple[str, Any]] = []

    def facts(self) -> Sequence[tuple[str, Any]]:
        """Answers to what it was told."""
        found, self._told = self._told, []
        return found

    def do(self, name: str, value: Any) -> bool:
        """It is told something."""
        self._told.append(("answer", {"op": name, **self.obey(name, value or {})}))
        return True

    def finish(self) -> bool:
        """Nothing to end."""
        return False

    def obey(self, op: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """What an op is answered with."""
        made = self.server.application_type
        try:
            if op == "serve":
                self.application = made(given["idl"], given["application"], given["behaviour"], self.server.serving)
            elif op == "assign" and self.application is not None and self.server.serving.assign == "take":
                self.assign(self.application, given["slot"], given["behaviour"])
            elif op != "stop":
                return {"error": "unsupported"}
        except (Wrong, KeyError, ValueError, TypeError) as wrong:
            return {"error": f"{wrong}"}
        return {"ok": {}}

    def assign(self, application: Application, slot: str, behaviour: Any) -> None:
        """Give a slot another behaviour."""
        application.behaviours[slot] = behaviour

    def call(self, number: int, method: str, params: list[Any]) -> None:
        """Carry a request out."""
        self.busy += 1
        try:
            result, ms = self.serving().call(method, params)
        except Thrown as thrown:
            self.server.later(self, number, thrown.error, thrown.result, thrown.ms)
        except Failure as failure:
            self.server.later(self, number, self.error(str(failure)), None, failure.ms)
        else:
            self.server.later(self, number, None, result, ms)

    def serving(self) -> Application:
        """What is served. Raises Failure."""
        if self.application is None:
            raise Failure("nothing is served")
        return self.application

    def notification(self, method: str, params: list[Any]) -> None:
        """Nobody asks for these here."""


class IdlServer(Server):
    """Keywords are the fields of `ServingSwitches`, and `order` and `error` of a plain server."""

    session_type: type[Session] = Serving
    application_type = Application
    application: Application | None = None
    """What every new connection is served, if something is."""

    def __init__(self, *, seed: int = 0, order: str = "first", error: str = "text", ends: str = "client",
                 **switches: Any) -> None:  # fmt: skip
        super().__init__(seed=seed, order=order, error=error, ends=ends)
        self.serving = ServingSwitches(**switches)

    @classmethod
    def random(cls, seed: int, **fixed: Any) -> Self:
        """A server with every switch drawn by `seed`, half of them the default, but for those in `fixed`."""
        chance = random.Random(seed)
        drawn = {name: chance.choice(values) if chance.random() < 0.5 else values[0]
                 for name, values in SERVING_SWITCHES.items()}  # fmt: skip
        drawn["order"] = chance.choice(("first", "last", "random"))
        drawn["error"] = chance.choice(("text", "list", "map", "number", "zero", "false", "empty"))
        drawn["ends"] = chance.choice(("client", "client", "client", "server"))
        return cls(seed=seed, **{**drawn, **fixed})


def run(make: Callable[[], IdlServer] = IdlServer) -> None:
    """Serve JSON lines on stdin and stdout until stdin ends. Each application is served by a server of its own."""
    told = make().open()
    assert isinstance(told, Serving)
    for line in sys.stdin.buffer:
        said = json.loads(line)
        answer = told.obey(str(said.get("op")), said)
        if said.get("op") == "serve" and told.application is not None and "ok" in answer:
            behind = make()
            behind.application = told.application
            served = front(behind, 0)
            threading.Thread(target=served.run, daemon=True).start()
            answer = {"ok": {"port": served.port}}
        sys.stdout.write(json.dumps({"id": said.get("id"), **answer}) + "\n")
        sys.stdout.flush()


__all__ = ["SERVING_SWITCHES", "Application", "IdlServer", "Kind", "Serving", "ServingSwitches"]
