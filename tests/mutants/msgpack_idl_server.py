"""Servers made from a document that call the wrong function, or answer wrongly when one fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from impls.references.msgpack.idl_parser import Method
from impls.references.msgpack.idl_server import Application, Serving, Thrown
from impls.references.msgpack.server import Failure
from specs.msgpack.frames import notification
from tests.mutants.faults import on
from tests.mutants.msgpack_idl_server_parts import DEFAULT, DOCUMENT, TAG, calls, mutant

# -- dispatch and versions --------------------------------------------------------------------------------------------


mutant("version-ignored", "DISP-02", calls("get:storage:9"), accept="FALL-01 FALL-06 FALL-03 DISP-03 DISP-01 NOSC-01")(
    "An unknown version means the newest.",
    on(Application, "find").takes(
        version=lambda self, scope, version: (
            self.scopes[scope][1] if scope in self.scopes and version not in self.versions(scope) else version
        )
    ),
)
mutant("scope-ignored", "DISP-02", calls("get:nothing:0"), accept="DISP-05 FALL-06")(
    "An unknown scope means the default scope.",
    on(Application, "select").gives(
        lambda self, found: found if found[0] in self.scopes else (self.default, *found[1:])
    ),
)
mutant("old-versions-gone", "DISP-03", calls("get:storage:0"), accept="FALL-01 FALL-03 NOSC-01 ENC-01")(
    "Only the version that the application names can be called.",
    on(Application, "find").raises(
        lambda: Failure("no such version"),
        when=lambda self, scope, version: scope in self.scopes and version != self.scopes[scope][1],
    ),
)


@mutant("first-scope-default", "DISP-05", calls("get", behaviour={"status/0/get": TAG, "storage/0/get": TAG}))
class FirstScopeDefault(Application):
    """The first scope is the default scope."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.default = next(iter(self.scopes))


mutant("loose-selectors", "DISP-06", calls("get:storage:0:x"), accept="DISP-02")(
    "What stands behind the version is ignored.",
    on(Application, "select").takes(method=lambda method: ":".join(method.split(":")[:3])),
)


@mutant("no-fall-back", "FALL-01", calls("get:storage:1"), accept="FALL-04")
class NoFallBack(Application):
    """A function that a version does not implement is an error."""

    def implementation(self, scope: str, version: int, name: str) -> tuple[int, Mapping[str, Any]]:
        found = super().implementation(scope, version, name)
        if found[0] != version:
            raise Failure("NotImplemented")
        return found


WITH_AN_INTERFACE = """message M {
  1: int x
}
interface Making: 0 {
  M make()
}
service S: 0 {
  implements Making: 0
}
service S: 1 {
  implements Making: 0
}
application App {
  S: 1 s default
}
"""
MADE = {"s/0/make": {"do": "const", "value": {"x": 5}}, "s/1/make": {"do": "default"}}


@mutant(
    "interfaces-do-not-fall-back", "FALL-01", calls("make:s:1", idl=WITH_AN_INTERFACE, behaviour=MADE),
    accept="FALL-04 IF-02 IF-04",
)  # fmt: skip
class InterfacesDoNotFallBack(Application):
    """A function that comes from an interface is an error where its version does not implement it."""

    def implementation(self, scope: str, version: int, name: str) -> tuple[int, Mapping[str, Any]]:
        found = super().implementation(scope, version, name)
        if found[0] != version and name == "make":  # the one of them that falls back in the documents of a hunt
            raise Failure("NotImplemented")
        return found


@mutant("oldest-answers", "FALL-01", calls("get:other:2"), accept="FALL-03 FALL-04")
class OldestAnswers(Application):
    """The oldest version that implements a function answers for those that do not."""

    def implementation(self, scope: str, version: int, name: str) -> tuple[int, Mapping[str, Any]]:
        found = super().implementation(scope, version, name)
        for each in sorted(self.versions(scope)):
            behaviour = self.behaviours.get(f"{scope}/{each}/{name}", DEFAULT)
            if each < found[0] < version and behaviour["do"] != "default":
                return each, behaviour
        return found


@mutant("direct-only", "FALL-01", calls("get:other:2", behaviour={"other/0/get": TAG}), accept="FALL-04 NOSC-01")
class DirectOnly(Application):
    """Only the version just before is fallen back to."""

    def implementation(self, scope: str, version: int, name: str) -> tuple[int, Mapping[str, Any]]:
        found = super().implementation(scope, version, name)
        between = [each for each in self.versions(scope) if found[0] < each < version]
        if between:
            raise Failure("NotImplemented")
        return found


@mutant("versions-as-text", "FALL-01", calls("get:s:10", idl=(
    "service S: 9 {\n  string get()\n}\nservice S: 10 {\n  string get()\n}\napplication App {\n  S: 10 s default\n}\n"
), behaviour={"s/9/get": TAG}), accept="FALL-02 FALL-03 DISP-03 DISP-01 FALL-04")  # fmt: skip
class VersionsAsText(Application):
    """Versions are ordered as texts."""

    def implementation(self, scope: str, version: int, name: str) -> tuple[int, Mapping[str, Any]]:
        for each in sorted((v for v in self.versions(scope) if str(v) <= str(version)), key=str, reverse=True):
            behaviour = self.behaviours.get(f"{scope}/{each}/{name}", DEFAULT)
            if name in self.functions(self.versions(scope)[each]) and behaviour["do"] != "default":
                return each, behaviour
        raise Failure("NotImplemented")


@mutant("dropped-two-back", "FALL-06", calls("old:storage:2", idl=DOCUMENT.replace("S: 1 storage", "S: 2 storage")))
class DroppedTwoBack(Application):
    """What was dropped long ago can be called again."""

    def find(self, scope: str, version: int, name: str) -> Method:
        found = sorted(v for v in (self.versions(scope) if scope in self.scopes else {}) if v <= version)
        gone = found[-3:-2] if version in found and version <= self.scopes[scope][1] else []
        try:
            return super().find(scope, version, name)
        except Failure:
            return super().find(scope, gone[0] if gone else version, name)


mutant("nil-when-missing", "FALL-02", calls("add:storage:1", behaviour={}))(
    "A function that nobody implements answers nil.",
    on(Application, "implementation").forgives(Failure, lambda version: (version, {"do": "const", "value": None})),
)


@mutant("newer-answers", "FALL-03", calls("get:other:0"), accept="FALL-02 EXW-01 EXW-03")
class NewerAnswers(Application):
    """The newest implementation answers for every version."""

    def implementation(self, scope: str, version: int, name: str) -> tuple[int, Mapping[str, Any]]:
        found = super().implementation(scope, version, name)
        for each in sorted(self.versions(scope), reverse=True):
            behaviour = self.behaviours.get(f"{scope}/{each}/{name}", DEFAULT)
            if behaviour["do"] != "default" and each > version:
                return each, behaviour
        return found


@mutant("forwards", "FALL-02", calls("get:storage:0", behaviour={"storage/1/get": TAG}), accept="FALL-03 FALL-06")
class Forwards(Application):
    """An old version without implementation runs a newer one."""

    def implementation(self, scope: str, version: int, name: str) -> tuple[int, Mapping[str, Any]]:
        try:
            return super().implementation(scope, version, name)
        except Failure:
            for each in sorted(self.versions(scope)):
                behaviour = self.behaviours.get(f"{scope}/{each}/{name}", DEFAULT)
                if behaviour["do"] != "default":
                    return each, behaviour
            raise


@mutant(
    "early-binding", "FALL-04",
    calls("get:storage:1", {"slot": "storage/0/get", "behaviour": {"do": "const", "value": "late"}}, "get:storage:1"),
    accept="FALL-01 FALL-02 FALL-03", level="SHOULD",
)  # fmt: skip
class EarlyBinding(Application):
    """What an older version does is found out once, at the beginning."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.bound: dict[tuple[str, int, str], tuple[int, Mapping[str, Any]]] = {}
        for scope in self.scopes:
            for version, part in self.versions(scope).items():
                for name in self.functions(part):
                    self.bind(scope, version, name)

    def bind(self, scope: str, version: int, name: str) -> None:
        if self.behaviours.get(f"{scope}/{version}/{name}", DEFAULT)["do"] == "default":
            try:
                self.bound[scope, version, name] = super().implementation(scope, version, name)
            except Failure:
                return

    def implementation(self, scope: str, version: int, name: str) -> tuple[int, Mapping[str, Any]]:
        own = self.behaviours.get(f"{scope}/{version}/{name}", DEFAULT)
        if own["do"] == "default" and (scope, version, name) in self.bound:
            return self.bound[scope, version, name]
        return super().implementation(scope, version, name)


@mutant("scopes-share", "FALL-05", calls("get:storage:0", behaviour={"other/0/get": {"do": "const", "value": "x"}}),
        accept="FALL-02 FALL-01 FALL-03 DISP-01 DISP-03 EXW-03 EXW-01")  # fmt: skip
class ScopesShare(Application):
    """What is not implemented in one scope is looked for in another of the same service."""

    def implementation(self, scope: str, version: int, name: str) -> tuple[int, Mapping[str, Any]]:
        try:
            return super().implementation(scope, version, name)
        except Failure:
            for other in self.scopes:
                if other != scope and self.scopes[other][0] == self.scopes[scope][0]:
                    return super().implementation(other, version, name)
            raise


@mutant("dropped-callable", "FALL-06", calls("old:storage:1"), accept="DISP-02")
class DroppedCallable(Application):
    """A function that a version lists no more can still be called in it."""

    def find(self, scope: str, version: int, name: str) -> Method:
        try:
            return super().find(scope, version, name)
        except Failure:
            for each in self.versions(scope) if scope in self.scopes and version in self.versions(scope) else ():
                if each < version and name in self.functions(self.versions(scope)[each]):
                    return super().find(scope, each, name)
            raise


@mutant(
    "scope-version-swapped", "DISP-01", calls("add:storage:1", "get:other:1"), accept="DISP-03 FALL-01 FALL-03 ENC-01"
)
class Swapped(Application):
    """Scopes beginning with o are not known in full."""

    def select(self, method: str) -> tuple[str, int, str]:
        scope, version, name = super().select(method)
        if scope.startswith(("o", "s")) and len(scope) < 7 and method.count(":") == 2:
            raise Failure("no such scope")
        return scope, version, name


# -- exceptions -------------------------------------------------------------------------------------------------------


mutant("leaf-only", "EXW-01", calls("get:status:0"), accept="FALL-01 FALL-03 EXC-07")(
    "An exception travels by its own name.", on(Application, "path").instead(lambda names: names[-1])
)
mutant("path-backwards", "EXC-07", calls("get:status:0"), accept="EXW-01 FALL-01 FALL-03")(
    "The path of an exception begins with itself.", on(Application, "path").instead(lambda names: ".".join(names[::-1]))
)
mutant("result-beside", "EXW-02", calls("get:status:0"), level="SHOULD")(
    "There is a result beside each exception.",
    on(Application, "wired").instead(lambda path, data: Thrown([path, *data], ["data"])),
)
mutant("exception-as-result", "EXW-01", calls("get:status:0"), accept="FALL-01 FALL-03 EXC-07")(
    "An exception is a result.", on(Application, "wired").instead(lambda path: Thrown(None, path))
)
mutant("notes-answered", "EXW-03", calls(notification("status/0/get"), "get:storage:0"))(
    "A notification is answered.",
    on(Serving, "notification").instead(lambda self, method, params: self.call(0, method, params)),
)


@mutant("failure-silent", "EXW-03", calls("add:storage:1"), accept="FALL-01")
class FailureSilent(Serving):
    """A failure is never answered."""

    def error(self, why: str) -> Any:
        return why

    def say(self, message: list[Any]) -> None:
        if message[0] == 1 and message[2] == "it failed":
            return
        super().say(message)


@mutant("failure-closes", "EXW-03", calls("add:storage:1", "get:storage:0"), accept="FALL-01")
class FailureCloses(Serving):
    """A failure ends the connection."""

    def say(self, message: list[Any]) -> None:
        super().say(message)
        if message[0] == 1 and message[2] == "it failed":
            self._out.clear()
            self.close()


# -- meta service and use without scopes ------------------------------------------------------------------------------


mutant("no-meta", "META-01", calls(("getVersion:_:0", "storage")), accept="META-02")(
    "There is no meta service.", on(Application, "version").raises(lambda: Failure("no such scope"))
)
mutant("meta-oldest", "META-02", calls(("getVersion:_:0", "storage")), accept="META-01")(
    "The meta service tells the oldest version.",
    on(Application, "version").gives(lambda self, params: min(self.versions(params[-1]))),
)
mutant("meta-unknown", "META-02", calls(("getVersion:_:0", "nothing")), accept="META-01")(
    "An unknown scope has the version 0.", on(Application, "version").forgives(Failure, lambda: 0)
)


@mutant("no-unscoped", "NOSC-01", calls("get::0", "get:0", idl=DOCUMENT.partition("application")[0], application="T",
        behaviour={"/0/get": TAG}))  # fmt: skip
class NoUnscoped(Application):
    """A service cannot be called without a scope."""

    def select_unscoped(self, name: str, rest: list[str]) -> tuple[str, int, str]:
        raise Failure("no such scope")
