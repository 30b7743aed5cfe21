"""Servers made from a document that are wrong in one point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from impls.msgpack.idl_parser import Kind, Member, Method
from impls.msgpack.idl_server import Application, IdlServer, Serving, Thrown
from impls.msgpack.idl_values import Misfit, Shapes
from impls.msgpack.server import Failure
from specs.msgpack.format import WIDEST
from specs.msgpack.frames import request
from specs.msgpack.idl.grammar import IDL
from specs.plan import Do, Plan, Say, Step
from tests.mutants.msgpack_kit import MUTANTS, Mutant, Witness

DOCUMENT = """exception A {
}
exception B < A {
}
message M {
  1: int x
  3: optional string? s
  4: optional int y = 7
  5: optional bool b
}
message N {
  1: byte x
  2: list<string> l
}
service S: 0 {
  M echo(1: M m)
  N echoN(1: N n)
  string get()
  string old()
}
service S: 1 {
  string get()
  string add()
}
service S: 2 {
  string get()
}
service T: 0 {
  string get()
}
application App {
  T: 0 status
  S: 1 storage default
  S: 2 other
}
"""
TAG, DEFAULT, FAIL = {"do": "tag"}, {"do": "default"}, {"do": "fail"}
ECHO = {"do": "echo", "n": 0, "arg": 0}
BEHAVIOUR: Mapping[str, Any] = {
    "storage/0/get": TAG, "storage/1/get": DEFAULT, "storage/1/add": FAIL, "other/0/get": TAG, "other/1/get": TAG,
    "other/2/get": DEFAULT, "status/0/get": {"do": "throw", "exception": "B", "fields": {}}, "storage/0/echo": ECHO,
    "storage/0/echoN": ECHO, "storage/0/old": TAG,
}  # fmt: skip


def calls(*given: Any, idl: str = DOCUMENT, application: str = "App", behaviour: Any = BEHAVIOUR) -> Witness:
    """Calls, each a method name or (method name, params…); or ops, each a dict."""

    def witness(config: Any) -> Plan:
        steps: list[Step] = [Do(0, "serve", {"idl": idl, "application": application, "behaviour": behaviour})]
        for number, each in enumerate(given):
            if isinstance(each, dict):
                steps.append(Do(0, "assign", each))
            else:
                method, *params = each if isinstance(each, tuple) else (each,)
                style = WIDEST if params and params[-1] == "wide" else None
                steps.append(Say(0, request(number, method, *(params[:-1] if style else params)), style=style))
        return Plan(tuple(steps))

    return witness


def mutant(
    name: str, requirement: str, witness: Witness, *, accept: str = "", level: str = "MUST"
) -> Callable[[type], type]:
    """Register the decorated class as a faulty part of a server. Its docstring is the sentence that explains it."""

    def register(part: type) -> type:
        if issubclass(part, Shapes):
            made: type = type("FaultyApplication", (Application,), {"shapes_type": part})
        else:
            made = part
        server = (
            type("Faulty", (IdlServer,), {"session_type": made})
            if issubclass(made, Serving)
            else type("Faulty", (IdlServer,), {"application_type": made})
        )
        why, others = " ".join((part.__doc__ or "").split()), tuple(IDL + each for each in accept.split())
        MUTANTS.append(Mutant(name, "idl-server", IDL + requirement, others, server, witness, level, why))
        return part

    return register


# -- dispatch and versions ---------------------------------------------------------------------------------------------


@mutant("version-ignored", "DISP-02", calls("get:storage:9"), accept="FALL-01 FALL-06 FALL-03 DISP-03 DISP-01 NOSC-01")
class VersionIgnored(Application):
    """An unknown version means the newest."""

    def find(self, scope: str, version: int, name: str) -> Method:
        if scope in self.scopes and version not in self.versions(scope):
            version = self.scopes[scope][1]
        return super().find(scope, version, name)


@mutant("scope-ignored", "DISP-02", calls("get:nothing:0"), accept="DISP-05 FALL-06")
class ScopeIgnored(Application):
    """An unknown scope means the default scope."""

    def select(self, method: str) -> tuple[str, int, str]:
        scope, version, name = super().select(method)
        return (scope if scope in self.scopes else self.default), version, name


@mutant("old-versions-gone", "DISP-03", calls("get:storage:0"), accept="FALL-01 FALL-03 NOSC-01 ENC-01")
class OldVersionsGone(Application):
    """Only the version that the application names can be called."""

    def find(self, scope: str, version: int, name: str) -> Method:
        if scope in self.scopes and version != self.scopes[scope][1]:
            raise Failure("no such version")
        return super().find(scope, version, name)


@mutant("first-scope-default", "DISP-05", calls("get", behaviour={"status/0/get": TAG, "storage/0/get": TAG}))
class FirstScopeDefault(Application):
    """The first scope is the default scope."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.default = next(iter(self.scopes))


@mutant("loose-selectors", "DISP-06", calls("get:storage:0:x"), accept="DISP-02")
class LooseSelectors(Application):
    """What stands behind the version is ignored."""

    def select(self, method: str) -> tuple[str, int, str]:
        return super().select(":".join(method.split(":")[:3]))


@mutant("no-fall-back", "FALL-01", calls("get:storage:1"), accept="FALL-04")
class NoFallBack(Application):
    """A function that a version does not implement is an error."""

    def implementation(self, scope: str, version: int, name: str) -> tuple[int, Mapping[str, Any]]:
        found = super().implementation(scope, version, name)
        if found[0] != version:
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


@mutant("direct-only", "FALL-01", calls("get:other:2", behaviour={"other/0/get": TAG}), accept="FALL-04")
class DirectOnly(Application):
    """Only the version just before is fallen back to."""

    def implementation(self, scope: str, version: int, name: str) -> tuple[int, Mapping[str, Any]]:
        found = super().implementation(scope, version, name)
        between = [each for each in self.versions(scope) if found[0] < each < version]
        if between:
            raise Failure("NotImplemented")
        return found


@mutant("nil-when-missing", "FALL-02", calls("add:storage:1", behaviour={}))
class NilWhenMissing(Application):
    """A function that nobody implements answers nil."""

    def implementation(self, scope: str, version: int, name: str) -> tuple[int, Mapping[str, Any]]:
        try:
            return super().implementation(scope, version, name)
        except Failure:
            return version, {"do": "const", "value": None}


@mutant("newer-answers", "FALL-03", calls("get:other:0"), accept="DISP-03 DISP-01 FALL-01 FALL-02 EXW-01 EXW-03")
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
    accept="FALL-01", level="MUST",
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


@mutant("scopes-share", "FALL-05", calls("get:storage:0", behaviour={"other/0/get": TAG}),
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


# -- exceptions --------------------------------------------------------------------------------------------------------


@mutant("leaf-only", "EXW-01", calls("get:status:0"), accept="FALL-01 FALL-03 EXC-07")
class LeafOnly(Application):
    """An exception travels by its own name."""

    def path(self, names: list[str]) -> str:
        return names[-1]


@mutant("path-backwards", "EXC-07", calls("get:status:0"), accept="EXW-01 FALL-01 FALL-03")
class PathBackwards(Application):
    """The path of an exception begins with itself."""

    def path(self, names: list[str]) -> str:
        return ".".join(names[::-1])


@mutant("result-beside", "EXW-02", calls("get:status:0"), level="SHOULD")
class ResultBeside(Application):
    """There is a result beside each exception."""

    def wired(self, path: str, data: list[Any]) -> Thrown:
        return Thrown(path, ["data"])


@mutant("exception-as-result", "EXW-01", calls("get:status:0"), accept="FALL-01 FALL-03 EXC-07")
class ExceptionAsResult(Application):
    """An exception is a result."""

    def wired(self, path: str, data: list[Any]) -> Thrown:
        return Thrown(None, path)


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


# -- meta service and use without scopes -------------------------------------------------------------------------------


@mutant("no-meta", "META-01", calls(("getVersion:_:0", "storage")), accept="META-02")
class NoMeta(Application):
    """There is no meta service."""

    def version(self, params: list[Any]) -> int:
        raise Failure("no such scope")


@mutant("meta-oldest", "META-02", calls(("getVersion:_:0", "storage")), accept="META-01")
class MetaOldest(Application):
    """The meta service tells the oldest version."""

    def version(self, params: list[Any]) -> int:
        super().version(params)
        return min(self.versions(params[-1]))


@mutant("meta-unknown", "META-02", calls(("getVersion:_:0", "nothing")), accept="META-01")
class MetaUnknown(Application):
    """An unknown scope has the version 0."""

    def version(self, params: list[Any]) -> int:
        try:
            return super().version(params)
        except Failure:
            return 0


@mutant("no-unscoped", "NOSC-01", calls("get::0", "get:0", idl=DOCUMENT.partition("application")[0], application="T",
        behaviour={"/0/get": TAG}))  # fmt: skip
class NoUnscoped(Application):
    """A service cannot be called without a scope."""

    def select_unscoped(self, name: str, rest: list[str]) -> tuple[str, int, str]:
        raise Failure("no such scope")


# -- values ------------------------------------------------------------------------------------------------------------

ECHOED = "echo:storage:0"
FULL = (5, None, "s", 6, True)


@mutant("missing-is-zero", "ENC-03", calls((ECHOED, ())), accept="ENC-12")
class MissingIsZero(Shapes):
    """A required field that is missing is zero."""

    def member(self, elements: Any, member: Member) -> Any:
        if self.place(member) >= len(elements):
            return self.default(member) if member.mod == "optional" else self.zero(self.real(member.kind))
        return super().member(elements, member)


@mutant("nil-is-zero", "ENC-04", calls((ECHOED, (None, None, "s"))))
class NilIsZero(Shapes):
    """nil is zero for what is not nullable."""

    def nothing(self, kind: Kind) -> Any:
        return None if kind.nullable else self.zero(kind)


@mutant("null-refused", "ENC-04", calls((ECHOED, (5, None, None, 6, True))), accept="ENC-01 ENC-05")
class NullRefused(Shapes):
    """nil is refused for what is nullable as well."""

    def nothing(self, kind: Kind) -> Any:
        raise Misfit("nil")


@mutant("optional-required", "ENC-05", calls((ECHOED, (5,))), accept="ENC-01 DEF-04")
class OptionalRequired(Shapes):
    """A field that is optional must be there."""

    def member(self, elements: Any, member: Member) -> Any:
        if self.place(member) >= len(elements):
            raise Misfit("missing")
        return super().member(elements, member)


@mutant("default-forgotten", "DEF-04", calls((ECHOED, (5,))), accept="ENC-01 ENC-05")
class DefaultForgotten(Shapes):
    """A literal that is declared is forgotten."""

    def default(self, member: Member) -> Any:
        return self.zero(self.real(member.kind))


@mutant("more-refused", "ENC-06", calls((ECHOED, (*FULL, "more", (1, (2,))))), accept="ENC-01 ENC-10")
class MoreRefused(Shapes):
    """Elements behind the known ones are refused."""

    def members(self, elements: Any, members: Any) -> dict[str, Any]:
        if members and len(elements) > max(self.place(member) + 1 for member in members):
            raise Misfit("too many")
        return super().members(elements, members)


@mutant("numbers-wrap", "ENC-07", calls(("echoN:storage:0", (200, ()))))
class NumbersWrap(Shapes):
    """A number beyond the width of its type is cut."""

    def integer(self, value: Any, name: str) -> int:
        if type(value) is int and name != "long":
            bits = {"byte": 8, "short": 16, "int": 32}.get(name.removeprefix("u"), 64)
            value %= 1 << bits
            if not name.startswith("u") and value >= 1 << (bits - 1):
                value -= 1 << bits
        return super().integer(value, name)


@mutant("gaps-refused", "ENC-10", calls((ECHOED, (5, "junk", "s", 6, True))), accept="ENC-01 ENC-06")
class GapsRefused(Shapes):
    """What stands in the place of no field must be nil."""

    def members(self, elements: Any, members: Any) -> dict[str, Any]:
        places = {self.place(member) for member in members}
        if any(n not in places and n < max(places, default=0) and each is not None for n, each in enumerate(elements)):
            raise Misfit("a gap that is none")
        return super().members(elements, members)


@mutant("order-of-text", "ENC-01", calls((ECHOED, FULL)), accept="ENC-05 ENC-03 ENC-04 DEF-04 ENC-06 ENC-10 ENC-07")
class OrderOfText(Shapes):
    """Fields are laid out in their order, without gaps."""

    def members(self, elements: Any, members: Any) -> dict[str, Any]:
        order = sorted(member.number for member in members)
        return super().members(elements, [
            Member(order.index(m.number) + 1, m.word, m.kind, m.mod, m.value, m.at) for m in members])  # fmt: skip


@mutant("lists-lost", "ENC-11", calls(("echoN:storage:0", (1, ("a", "b")))), accept="ENC-01")
class ListsLost(Shapes):
    """A list is written without its last element."""

    def write(self, value: Any, kind: Kind) -> Any:
        made = super().write(value, kind)
        return made[:-1] if self.real(kind).name == "list" and made else made


@mutant(
    "arguments-by-place", "ENC-12", calls((ECHOED, FULL)), accept="ENC-01 ENC-03 ENC-04 ENC-05 ENC-06 ENC-10 DEF-04"
)
class ArgumentsByPlace(Application):
    """Arguments are counted from 0."""

    def arguments(self, params: list[Any], function: Method) -> dict[str, Any]:
        return super().arguments(params[1:] if len(params) == 1 and function.members else params, function)


@mutant("wide-refused", "ENC-08", calls((ECHOED, FULL, "wide")), accept="ENC-01")
class WideRefused(Serving):
    """A request that holds an integer of eight octets is refused."""

    wide = False

    def send(self, data: bytes) -> None:
        self.wide = b"\xcf\0\0\0\0\0\0\0" in data or b"\xd3\0\0\0\0\0\0\0" in data
        super().send(data)

    def call(self, number: int, method: str, params: list[Any]) -> None:
        super().call(number, "nothing:nothing:0" if self.wide and params else method, params)


@mutant(
    "interface-forgotten", "IF-02",
    calls("get:s:0", idl="interface I: 1 {\n  string get()\n}\nservice S: 0 {\n  implements I: 1\n}\n"
          "application App {\n  S: 0 s default\n}\n", behaviour={"s/0/get": TAG}),
    accept="DISP-01 ENC-01 ENC-05 ENC-06 ENC-10 NOSC-01 DEF-04 DISP-03",
)  # fmt: skip
class InterfaceForgotten(Application):
    """Functions of interfaces cannot be called."""

    def functions(self, part: Any) -> dict[str, Method]:
        return {method.word.text: method for method in part.methods}


@mutant(
    "interface-version", "IF-03",
    calls("get:s:4", "get:s:0", idl="interface I: 4 {\n  string get()\n}\nservice S: 0 {\n  implements I: 4\n}\n"
          "application App {\n  S: 0 s default\n}\n", behaviour={"s/0/get": TAG}),
    accept="DISP-02",
)  # fmt: skip
class InterfaceVersion(Application):
    """A function of an interface can be called by the version of the interface."""

    def find(self, scope: str, version: int, name: str) -> Method:
        versions = self.versions(scope) if scope in self.scopes else {}
        used = {number for part in versions.values() for _, number in part.uses}
        return super().find(scope, max(versions) if version in used - set(versions) else version, name)


@mutant(
    "void-is-true", "ENC-12",
    calls("done:s:0", idl="service S: 0 {\n  void done()\n}\napplication App {\n  S: 0 s default\n}\n",
          behaviour={"s/0/done": {"do": "const", "value": None}}),
    accept="NOSC-01 FALL-01 FALL-03",
)  # fmt: skip
class VoidIsTrue(Application):
    """A function without a result has the result true."""

    def behave(self, behaviour: Mapping[str, Any], key: str, function: Method, given: dict[str, Any]) -> Any:
        made = super().behave(behaviour, key, function, given)
        return True if function.result.name == "void" else made
