"""Servers made from a document that read or write values wrongly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from impls.references.msgpack.idl_parser import Kind, Member, Method
from impls.references.msgpack.idl_server import Application, Serving
from impls.references.msgpack.idl_values import Misfit, Shapes
from impls.references.msgpack.octets import Pairs
from specs.msgpack.values import Map
from tests.mutants.faults import on
from tests.mutants.msgpack_idl_server_parts import TAG, calls, mutant

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


mutant("null-refused", "ENC-04", calls((ECHOED, (5, None, None, 6, True))), accept="ENC-01 ENC-05")(
    "nil is refused for what is nullable as well.", on(Shapes, "nothing").raises(lambda: Misfit("nil"))
)


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


WITHIN = """message R {
  1: list<byte> l
  2: map<string, short> m
}
service S: 0 {
  R echo(1: R r)
}
application App {
  S: 0 storage default
}
"""


@mutant("widths-within-unchecked", "ENC-07", calls((ECHOED, ((200,), Map(()))), idl=WITHIN))
class WidthsWithinUnchecked(Shapes):
    """A number in a list or a map may be beyond the width of its type."""

    within = False

    def read(self, value: Any, kind: Kind) -> Any:
        name, before = self.real(kind).name, self.within
        self.within = name in ("list", "map") or (before and name not in self.parts)
        try:
            return super().read(value, kind)
        finally:
            self.within = before

    def integer(self, value: Any, name: str) -> int:
        return value if self.within and type(value) is int else super().integer(value, name)


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


@mutant("gaps-zero", "ENC-01", calls((ECHOED, FULL)), accept="ENC-10")
class GapsZero(Shapes):
    """A gap is written as 0."""

    def write(self, value: Any, kind: Kind) -> Any:
        made, real = super().write(value, kind), self.real(kind)
        if made is None or real.name not in self.parts:
            return made
        known = {self.place(member) for member in self.parts[real.name].members}
        return [0 if each is None and at not in known else each for at, each in enumerate(made)]


KEYED = "message K {\n  1: map<string, int> x\n}\nservice S: 0 {\n  K echo(1: K k)\n}\n"
KEYED += "application App {\n  S: 0 storage default\n}\n"


@mutant(
    "empty-keys-lost", "ENC-01", calls((ECHOED, (Map((("", 1), ("k", 2))),)), idl=KEYED),
    accept="ENC-05 ENC-06 ENC-08 ENC-10 ENC-11",
)  # fmt: skip
class EmptyKeysLost(Shapes):
    """A pair whose key is the empty text is left out."""

    def write(self, value: Any, kind: Kind) -> Any:
        made = super().write(value, kind)
        if made is None or self.real(kind).name != "map":
            return made
        return Pairs((key, part) for key, part in made if key != "")


mutant("lists-lost", "ENC-11", calls(("echoN:storage:0", (1, ("a", "b")))), accept="ENC-01")(
    "A list is written without its last element.",
    on(Shapes, "write").gives(
        lambda self, kind, found: found[:-1] if self.real(kind).name == "list" and found else found
    ),
)
mutant(
    "arguments-by-place", "ENC-12", calls((ECHOED, FULL)), accept="ENC-01 ENC-03 ENC-04 ENC-05 ENC-06 ENC-10 DEF-04"
)(
    "Arguments are counted from 0.",
    on(Application, "arguments").takes(
        params=lambda params, function: params[1:] if len(params) == 1 and function.members else params
    ),
)


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


PICKED = """message M {
  2: int x
  3: int y
}
service S: 0 {
  string pick(1: string a, 2: string b, 3: optional string c = "d")
  M make()
}
application App {
  S: 0 storage default
}
"""
SECOND = {"storage/0/pick": {"do": "echo", "n": 1, "arg": 1}}


mutant("first-argument", "ENC-12", calls(("pick:storage:0", "x", "y", "z"), idl=PICKED, behaviour=SECOND))(
    "Every argument is the first.",
    on(Application, "arguments").gives(lambda found: dict.fromkeys(found, next(iter(found.values()), None))),
)


@mutant("argument-default", "ENC-12", calls(("pick:storage:0", "x", "y"), idl=PICKED, behaviour={
    "storage/0/pick": {"do": "echo", "n": 2, "arg": 2}}))  # fmt: skip
class ArgumentDefault(Application):
    """The default of an argument is forgotten."""

    def arguments(self, params: list[Any], function: Method) -> dict[str, Any]:
        given = super().arguments(params, function)
        zeros = {member.word.text: "" for member in function.members if member.value is not None}
        return {name: zeros.get(name, part) if len(params) < len(given) else part for name, part in given.items()}


LEAVES = """service S: 0 {
  string? pick(1: string a, 2: string b, 3: optional string? c)
  string say(1: int a, 3: optional string b)
}
application App {
  S: 0 storage default
}
"""


@mutant("argument-is-empty", "ENC-12", calls(("pick:storage:0", "x", "y"), idl=LEAVES, behaviour={
    "storage/0/pick": {"do": "echo", "n": 2, "arg": 2}}))  # fmt: skip
class ArgumentIsEmpty(Application):
    """An argument that is nullable and was left out is empty, though a field in its place is null."""

    def arguments(self, params: list[Any], function: Method) -> dict[str, Any]:
        given = super().arguments(params, function)
        return {name: "" if part is None and len(params) < len(given) else part for name, part in given.items()}


@mutant("counted-through", "ENC-12", calls(("say:storage:0", 5, 7), idl=LEAVES, behaviour={
    "storage/0/say": {"do": "tag"}}), accept="ENC-10")  # fmt: skip
class CountedThrough(Application):
    """When as many come as there are arguments, they are counted through, whatever their ids are."""

    def arguments(self, params: list[Any], function: Method) -> dict[str, Any]:
        if len(params) != len(function.members):
            return super().arguments(params, function)
        filled: list[Any] = [None] * (1 + max((self.shapes.place(member) for member in function.members), default=-1))
        for member, each in zip(function.members, params, strict=True):
            filled[self.shapes.place(member)] = each
        return super().arguments(filled, function)


@mutant("made-short", "ENC-01", calls("make:storage:0", idl=PICKED, behaviour={
    "storage/0/make": {"do": "const", "value": {"x": 5, "y": 6}}}), accept="FALL-01 FALL-03 ENC-10")  # fmt: skip
class MadeShort(Application):
    """Of several fields that a function makes the last is missing."""

    def behave(self, behaviour: Mapping[str, Any], key: str, function: Method, given: dict[str, Any]) -> Any:
        made = super().behave(behaviour, key, function, given)
        part = self.checker.types.get(function.result.name)
        several = behaviour["do"] == "const" and part is not None and len(part.members) > 1
        return made[:-1] if several and made is not None else made


INNER = """message N {
  1: optional int x
}
message M {
  1: N n
  2: ushort u
}
service S: 0 {
  M echo(1: M m)
}
application App {
  S: 0 s default
}
"""
ECHO_INNER = {"s/0/echo": {"do": "echo", "n": 0, "arg": 0}}


@mutant("inner-complete", "ENC-05", calls(("echo:s:0", ((), 7)), idl=INNER, behaviour=ECHO_INNER),
        accept="ENC-01 DEF-04")  # fmt: skip
class InnerComplete(Shapes):
    """A message within another has all its fields."""

    def read(self, value: Any, kind: Kind) -> Any:
        part = self.parts.get(self.real(kind).name)
        whole = max((self.place(member) + 1 for member in part.members), default=0) if part else 0
        if part and isinstance(value, list) and part.word.text == "N" and len(value) < whole:
            raise Misfit("short")
        return super().read(value, kind)


mutant("ushort-wraps", "ENC-07", calls(("echo:s:0", ((), 1 << 16)), idl=INNER, behaviour=ECHO_INNER))(
    "A number beyond a ushort is cut.",
    on(Shapes, "integer").takes(
        value=lambda value, name: value & 0xFFFF if name == "ushort" and isinstance(value, int) else value
    ),
)
