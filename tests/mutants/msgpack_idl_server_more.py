"""Servers made from a document that are wrong in what stands deeper: in lists, behind interfaces, in defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from impls.references.msgpack.idl_parser import Kind, Member, Method
from impls.references.msgpack.idl_server import Application, Serving, Thrown
from impls.references.msgpack.idl_values import Misfit, Shapes
from impls.references.msgpack.server import Failure
from specs.msgpack.frames import request
from specs.plan import Say
from tests.mutants.faults import on
from tests.mutants.msgpack_idl_more import TWO
from tests.mutants.msgpack_idl_server_parts import TAG, calls, mutant

ECHO = {"s/0/echo": {"do": "echo", "n": 0, "arg": 0}}
END = "application App {\n  S: 0 s default\n}\n"
NESTED = """message N {
  1: int a
  3: optional int b = 5
  4: optional string? c
  5: optional bool d
}
message M {
  1: list<N> l
  2: optional int e = 9
  3: optional raw? f
  4: optional string g
}
service S: 0 {
  M echo(1: M m)
}
"""
WHOLE = (1, None, 2, "c", True)


def echoed(*message: Any) -> Any:
    """A message of NESTED there and back."""
    return calls(("echo:s:0", message), idl=NESTED + END, behaviour=ECHO)


class Inside(Shapes):
    """Knows whether it reads a message that another one holds."""

    depth = 0

    def read(self, value: Any, kind: Kind) -> Any:
        self.depth += 1
        try:
            return super().read(value, kind)
        finally:
            self.depth -= 1


mutant("default-in-list", "DEF-04", echoed(((1, None),)))(
    "In a message within a list, literals are forgotten.",
    on(Inside, "default").instead(
        lambda self, member: self.zero(self.real(member.kind)), when=lambda self: self.depth > 2
    ),
)


@mutant("null-is-empty", "DEF-06", echoed((), 9))
class NullIsEmpty(Shapes):
    """What is nullable and was left out is empty."""

    def default(self, member: Member) -> Any:
        kind = self.real(member.kind)
        if member.value is None and kind.nullable:
            return self.zero(Kind(kind.word, kind.args, False))
        return super().default(member)


@mutant("zero-is-one", "DEF-07", echoed((WHOLE,), 9, b"f"))
class ZeroIsOne(Shapes):
    """A text that was left out is a blank, and a boolean true."""

    def default(self, member: Member) -> Any:
        kind, found = self.real(member.kind), super().default(member)
        if member.value is not None or kind.nullable:
            return found
        return {"string": " ", "bool": True}.get(kind.name, found)


@mutant("more-refused-inside", "ENC-06", echoed(((*WHOLE, 1, "more"),), 9, b"f", "g"))
class MoreRefusedInside(Inside):
    """Elements behind the known ones are refused in a message that another one holds."""

    def members(self, elements: Any, members: Any) -> dict[str, Any]:
        if self.depth > 2 and len(elements) > max(self.place(member) + 1 for member in members):
            raise Misfit("too many")
        return super().members(elements, members)


@mutant("gaps-refused-inside", "ENC-10", echoed(((1, "junk", 2, "c", True),), 9, b"f", "g"))
class GapsRefusedInside(Inside):
    """What stands in a gap must be nil in a message that another one holds."""

    def members(self, elements: Any, members: Any) -> dict[str, Any]:
        places = {self.place(member) for member in members}
        if self.depth > 2 and any(n not in places and each is not None for n, each in enumerate(elements)):
            raise Misfit("a gap that is none")
        return super().members(elements, members)


MAPPED = "message M {\n  1: %s x\n}\nservice S: 0 {\n  M echo(1: M m)\n}\n" + END


mutant("texts-as-raw", "ENC-11", calls(("echo:s:0", ("text",)), idl=MAPPED % "string", behaviour=ECHO))(
    "A text is written as bin.",
    on(Shapes, "write").gives(
        lambda self, kind, found: (
            found.encode() if isinstance(found, str) and self.real(kind).name == "string" else found
        )
    ),
)
mutant("booleans-as-integers", "ENC-11", calls(("echo:s:0", (True,)), idl=MAPPED % "bool", behaviour=ECHO))(
    "A boolean is written as 0 or 1.",
    on(Shapes, "write").gives(lambda found: int(found) if isinstance(found, bool) else found),
)


MADE = "message M {\n  2: int x\n  3: int y\n}\nservice S: 0 {\n  M make()\n}\n"


@mutant(
    "made-from-zero", "ENC-02",
    calls("make:s:0", idl=MADE + END, behaviour={"s/0/make": {"do": "const", "value": {"x": 5, "y": 6}}}),
    accept="ENC-11 ENC-01", level="ASSUMED",
)  # fmt: skip
class MadeFromZero(Application):
    """What a function makes is laid out with one element more in front than what comes in."""

    def behave(self, behaviour: Mapping[str, Any], key: str, function: Method, given: dict[str, Any]) -> Any:
        made = super().behave(behaviour, key, function, given)
        message = behaviour["do"] == "const" and function.result.name in self.checker.types
        return [None, *made] if message and made is not None else made


mutant("names-without-scope", "DISP-07", calls("get", behaviour={"storage/1/get": TAG}), level="ASSUMED")(
    "A name without scope and version is refused, though something else is declared.",
    on(Application, "bare").raises(lambda: Failure("no version")),
)
mutant("exception-in-text", "EXW-05", calls("get:status:0"), level="ASSUMED")(
    "An exception is a text that holds its path, though something else is declared.",
    on(Application, "wired").instead(lambda path: Thrown(f"thrown: {path}", None)),
)

TAGGED = {"s/0/get": TAG, "s/0/put": TAG, "s/0/own": TAG}


@mutant("second-interface-lost", "IF-02", calls("get:s:0", "put:s:0", idl=TWO + END, behaviour=TAGGED))
class SecondInterfaceLost(Application):
    """Of several interfaces the functions of the first can be called."""

    def functions(self, part: Any) -> dict[str, Method]:
        used = [self.checker.interfaces[word.text, version] for word, version in part.uses[:1]]
        return {method.word.text: method for each in (*used, part) for method in each.methods}


@mutant("second-interface-version", "IF-03", calls("put:s:4", idl=TWO + END, behaviour=TAGGED))
class SecondInterfaceVersion(Application):
    """A function of the last interface can be called by the version of that one."""

    def find(self, scope: str, version: int, name: str) -> Method:
        versions = self.versions(scope) if scope in self.scopes else {}
        used = {number for part in versions.values() for _, number in part.uses[-1:]}
        return super().find(scope, max(versions) if version in used - set(versions) else version, name)


LATE = {"storage/1/get": {"do": "sleep", "ms": 20, "then": TAG}, "storage/1/add": TAG}
DEEP = {"status/0/get": {"do": "sleep", "ms": 20, "then": {"do": "throw", "exception": "B", "fields": {}}}}


@mutant("late-answers-have-the-latest-id", "EXW-03",
        calls("get:storage:1", Say(0, request(1, "add:storage:1"), (), "now"), behaviour=LATE))  # fmt: skip
class LateAnswersHaveTheLatestId(Serving):
    """The answer of a function that takes its time has the id of the latest request."""

    latest = 0

    def call(self, number: int, method: str, params: list[Any]) -> None:
        self.latest = number
        super().call(number, method, params)

    def answer(self, number: int, error: Any, result: Any) -> None:
        late = number in self.open and number != self.latest
        super().answer(self.latest if late and error is None else number, error, result)


@mutant("late-exceptions-without-base", "EXW-01", calls("get:status:0", behaviour=DEEP), accept="EXC-07")
class LateExceptionsWithoutBase(Application):
    """An exception that is thrown behind a pause has no base."""

    slept = False

    def behave(self, behaviour: Mapping[str, Any], key: str, function: Method, given: dict[str, Any]) -> Any:
        self.slept = any(each.get("then") is behaviour for each in self.behaviours.values())
        return super().behave(behaviour, key, function, given)

    def path(self, names: list[str]) -> str:
        return super().path(names[-1:] if self.slept else names)
