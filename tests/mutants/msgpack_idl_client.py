"""Clients made from a document that call by the wrong name, or make the wrong thing of a failure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from impls.references.msgpack.idl_client import Made, MadeCaller
from impls.references.msgpack.idl_parser import Method
from tests.mutants.faults import has, on
from tests.mutants.msgpack_idl_client_parts import GET, GET_1, PLAIN, SHARED, To, calls, mutant, throws

# -- names -------------------------------------------------------------------------------------------------------------

NUMBER = To("number", result=1)
DONE = To("add", ("a", "b"), result=None)


mutant("version-left-out", "KLI-01", calls(GET), accept="NOSC-01")(
    "No version is named.", on(Made, "name").gives(lambda found: found.rpartition(":")[0])
)
mutant("scope-left-out", "KLI-01", calls(GET))(
    "No scope is named.", on(Made, "name").gives(lambda found: ":".join(found.split(":")[::2]))
)
mutant("version-first", "KLI-01", calls(GET), accept="NOSC-01")(
    "The version stands before the scope.",
    on(Made, "name").gives(lambda scope, version, name, found: f"{name}:{version}:{scope}"),
)
mutant("service-for-scope", "KLI-01", calls(GET), accept="NOSC-01")(
    "The service is named in the place of the scope.",
    on(Made, "name").gives(
        lambda self, scope, version, name, found: f"{name}:{self.scopes[scope]}:{version}" if scope != "_" else found
    ),
)
mutant("newest-version", "KLI-01", calls(GET), accept="NOSC-01")(
    "Every handle calls the newest version.",
    on(Made, "name").takes(
        version=lambda self, scope, version: max(self.versions(scope)) if scope in self.scopes else version
    ),
)
mutant("lower-case", "KLI-01", calls(To("echoN", ({"x": 1, "l": []},), 1)), accept="NOSC-01 KLI-03")(
    "Names are written in lower case.", on(Made, "name").gives(lambda found: found.lower())
)
mutant("small-first-letter", "KLI-01", calls(To("Find"), idl=PLAIN.replace("get", "Find")), accept="NOSC-01 KLI-03")(
    "Functions begin with a small letter, as they do in the language.",
    on(Made, "name").gives(lambda found: found[:1].lower() + found[1:]),
)
mutant("scope-in-small-letters", "KLI-01", calls(To("get", scope="Main"), idl=PLAIN.replace("storage", "Main")))(
    "Scopes are written in small letters, as functions of the language are.",
    on(Made, "name").takes(scope=lambda scope: scope.lower()),
)


@mutant("version-of-the-last", "KLI-01", calls(GET_1, GET), accept="NOSC-01 IF-03")
class VersionOfTheLast(Made):
    """The version of a scope that was called first is that of every later call."""

    first: Mapping[str, int] = {}

    def name(self, scope: str, version: int, name: str) -> str:
        self.first = {scope: version, **self.first}
        return super().name(scope, self.first[scope], name)


@mutant("avoids-what-failed", "KLI-01", calls(To("get", error="no", version=1), GET_1), accept="NOSC-01 IF-03")
class AvoidsWhatFailed(MadeCaller):
    """What has failed in a version is called in the next older one that has it from then on."""

    slot: tuple[str, int, str] = ("", 0, "")
    failed: frozenset[tuple[str, int, str]] = frozenset()

    def begin_call(self, number: int, given: Mapping[str, Any]) -> dict[str, Any] | None:
        self.slot = scope, version, name = given["scope"], given["version"], given["fn"]
        if self.slot in self.failed and self.made is not None:
            older = [each for each in self.made.versions(scope) if each < version and self._has(scope, each, name)]
            given = {**given, "version": max(older, default=version)}
        return super().begin_call(number, given)

    def _has(self, scope: str, version: int, name: str) -> bool:
        try:
            return self.made is not None and bool(self.made.function(scope, version, name))
        except KeyError:
            return False

    def failing(self, why: str) -> dict[str, Any]:
        self.failed |= {self.slot}
        return super().failing(why)


mutant("void-not-called", "KLI-01", calls(DONE), accept="KLI-03 ENC-05 IF-02")(
    "A function without a result is not called, and reported as done.",
    on(MadeCaller, "begin_call").instead(
        lambda: {"ok": {"result": None}}, when=lambda given: given["fn"] in ("add", "done")
    ),
)
mutant("silent", "KLI-01", calls(NUMBER), accept="KLI-03 ENC-05 IF-02")(
    "What has been told is not called.",
    on(MadeCaller, "write").skips(when=lambda message: message[2][:3] in ("num", "say", "mak", "get")),
)
mutant("leaves-early", "KLI-01", calls(GET))(
    "The connection is closed as soon as a request has left.", on(MadeCaller, "call").after(lambda self: self.end("x"))
)
mutant("no-client", "KLI-01", calls(GET, idl=PLAIN))(
    "No client is made of a document with an exception that has a base.",
    on(MadeCaller, "begin").instead(lambda: {"error": "no base"}, when=lambda given: " < " in given["idl"]),
)
mutant("interfaces-forgotten", "IF-02", calls(SHARED), accept="KLI-03 KLI-01 ENC-05")(
    "A service has no functions of its interfaces.",
    on(Made, "function").raises(
        lambda: KeyError("interface"), when=lambda name: name in ("shared", "echo", "done", "make")
    ),
)


@mutant("interface-version", "IF-03", calls(SHARED), accept="KLI-01 NOSC-01")
class InterfaceVersion(Made):
    """A function of an interface is called by the version of the interface."""

    def name(self, scope: str, version: int, name: str) -> str:
        if scope in self.scopes and version in self.versions(scope):
            for word, number in self.versions(scope)[version].uses:
                if name in {m.word.text for m in self.checker.interfaces[word.text, number].methods}:
                    version = number
        return super().name(scope, version, name)


mutant(
    "service-as-scope", "NOSC-01", calls(To("get", scope="", version=1), app="S"), accept="KLI-01"
)(
    "Without a scope the name of the service stands for it.",
    on(Made, "name").gives(lambda self, version, name, found: (
        f"{name}:{self.scopes['']}:{version}" if self.anonymous and not found.endswith(":_:0") else found)),
)  # fmt: skip


@mutant("one-version", "KLI-03", calls(GET_1, GET), level="SHOULD")
class OneVersion(Made):
    """Once a version was called, no other one of its scope can be."""

    held: Mapping[str, int] = {}

    def function(self, scope: str, version: int, name: str) -> Method:
        self.held = {scope: version, **self.held}
        if self.held[scope] != version:
            raise KeyError(version)
        return super().function(scope, version, name)


class _Held(MadeCaller):
    """Remembers what was called."""

    held: Mapping[str, int] = {}

    def begin(self, given: Any) -> dict[str, Any]:
        self.held = {}
        return super().begin(given)


@mutant("older-is-silent", "KLI-03", calls(GET_1, GET), level="SHOULD")
class OlderIsSilent(_Held):
    """A call of an older version than the last one waits for ever."""

    def begin_call(self, number: int, given: Any) -> dict[str, Any] | None:
        scope, version = given["scope"], given["version"]
        older = version < self.held.get(scope, 0)
        self.held = {**self.held, scope: version}
        if older:
            self.blocked = (number, -1)
            return None
        return super().begin_call(number, given)


# -- requests ----------------------------------------------------------------------------------------------------------

mutant("as-notification", "MPRPC-REQ-01", calls(DONE), accept="KLI-01 KLI-03 ENC-05 IF-02")(
    "A call without a result is a notification.",
    on(MadeCaller, "write").takes(
        message=lambda message: message if not message[2].startswith(("add", "done")) else [2, *message[2:]]
    ),
)
mutant("params-as-nil", "MPRPC-REQ-01", calls(GET), accept="KLI-01")(
    "Without arguments the params are nil.",
    on(MadeCaller, "write").takes(message=lambda message: [*message[:3], message[3] or None]),
)


mutant("id-of-seven-bits", "MPRPC-REQ-01", calls(*[GET] * 140))(
    "Ids that need eight bits are written with a sign.",
    on(MadeCaller, "write").takes(
        message=lambda message: (
            [message[0], (message[1] + 128) % 256 - 128, *message[2:]]
            if message[0] == 0 and message[1] < 256
            else message
        )
    ),
)


@mutant("sends-twice", "MPRPC-REQ-01", calls(NUMBER, NUMBER))
class SendsTwice(MadeCaller):
    """The second call of a connection is made twice."""

    def write(self, message: list[Any]) -> None:
        super().write(message)
        if message[1] == 1:
            super().write([0, 1_000_000, *message[2:]])


# -- failures ----------------------------------------------------------------------------------------------------------


class Truthy(MadeCaller):
    """Some errors are taken for none."""

    kinds: tuple[Any, ...] = ()
    always = False

    def message(self, value: Any) -> None:
        if (
            isinstance(value, list)
            and len(value) == 4
            and type(value[2]) in self.kinds
            and (self.always or not value[2])
        ):
            value = [value[0], value[1], None, value[3]]
        super().message(value)


def failing(error: Any, function: str = "perhaps") -> Any:
    """A call that fails."""
    return calls(To(function, error=error))


mutant("false-is-no-error", "KLI-02", failing(False))("An error of false is none.", has(Truthy, kinds=(bool,)))
mutant("zero-is-no-error", "KLI-02", failing(0))("An error of 0 is none.", has(Truthy, kinds=(int,)))
mutant("empty-is-no-error", "KLI-02", failing(""))("An empty error is none.", has(Truthy, kinds=(str, list)))
mutant("only-texts-fail", "KLI-02", failing(1))(
    "Only a text is an error.", has(Truthy, kinds=(int, bool, float), always=True)
)
mutant("void-never-fails", "KLI-02", calls(To("add", ("a", "b"), error="no")))(
    "A function without a result never fails.",
    on(MadeCaller, "failure").instead(
        lambda: {"ok": {}}, when=lambda self: self.function is not None and self.function.result.name == "void"
    ),
)
mutant("error-is-result", "KLI-02", failing("no"))(
    "Where a function gives a text, the text of an error is its result.",
    on(MadeCaller, "failure").instead(
        lambda error: {"ok": {"result": error}},
        when=lambda self, error: isinstance(error, str) and self.function.result.name == "string",
    ),
)
mutant("result-beside-error", "KLI-02", calls(To("perhaps", error="no", beside="data")))(
    "What stands in the place of the result is the result, whatever the error is.",
    on(MadeCaller, "message").takes(
        value=lambda value: [*value[:2], None, value[3]] if value[3] is not None else value
    ),
)
mutant("errors-hang", "KLI-02", failing("no"))(
    "A call that fails is not reported.", on(MadeCaller, "message").skips(when=lambda value: value[2] is not None)
)

mutant("by-letters", "EXW-04", throws("AX"), level="SHOULD")(
    "An exception is caught as any whose path its own begins with, letter by letter.",
    on(MadeCaller, "nearest").instead(
        lambda known, path: next((known[p] for p in sorted(known, key=len)[::-1] if path.startswith(p)), None)
    ),
)
mutant("no-bases", "EXW-04", throws("A.Unknown"), level="SHOULD")(
    "An exception that is not known is caught as none.",
    on(MadeCaller, "nearest").instead(lambda known, path: known.get(path)),
)
mutant("root-first", "EXW-04", throws("A.B", "put"), level="SHOULD")(
    "An exception is caught as the root of its bases.",
    on(MadeCaller, "nearest").takes(path=lambda path: path.partition(".")[0]),
)
mutant("by-last-part", "EXW-04", throws("A.Unknown"), level="SHOULD", accept="EXC-07")(
    "An exception is known by the last part of its path.",
    on(MadeCaller, "nearest").instead(
        lambda known, path: path.rpartition(".")[2] if path.rpartition(".")[2] in known.values() else None
    ),
)
mutant("one-level-up", "EXW-04", throws("A.B.C.D", "put"), level="SHOULD")(
    "Only the direct base of an exception that is not known is looked for.",
    on(MadeCaller, "nearest").instead(lambda known, path: known.get(path) or known.get(path.rpartition(".")[0])),
)
mutant("by-own-name", "EXC-07", throws("A.B", "put"), accept="EXW-04")(
    "An exception is known by its own name instead of its path.",
    on(MadeCaller, "nearest").instead(lambda known, path: path if path in known.values() else None),
)
mutant("path-reversed", "EXC-07", throws("A.B", "put"), accept="EXW-04")(
    "The path of an exception is read from its end.",
    on(MadeCaller, "nearest").takes(path=lambda path: ".".join(path.split(".")[::-1])),
)
