"""Servers made from a document that are wrong behind a call which they have refused, or in the parts of a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from impls.references.msgpack.idl_parser import Kind, Method
from impls.references.msgpack.idl_server import Application
from impls.references.msgpack.idl_values import Shapes
from impls.references.msgpack.server import Failure
from tests.mutants.msgpack_idl_server_parts import calls, mutant

PICK = """message M {
  1: string a
  3: optional string b
  2: long c
}
message W {
  1: list<ulong> l
}
service S: 0 {
  string pick(1: string a, 2: string b, 3: optional string c)
  M echo(1: M m)
  W wide(1: W w)
}
application App {
  S: 0 s default
}
"""
BEHAVIOUR = {
    "s/0/pick": {"do": "echo", "n": 2, "arg": 2},
    "s/0/echo": {"do": "echo", "n": 0, "arg": 0},
    "s/0/wide": {"do": "echo", "n": 0, "arg": 0},
}


def asked(*given: Any) -> Any:
    """Calls to functions of PICK."""
    return calls(*given, idl=PICK, behaviour=BEHAVIOUR)


@mutant(
    "refused-arguments-stay", "DEF-07", asked(("pick:s:0", None, "y", "gone"), ("pick:s:0", "x", "y")),
    accept="DEF-04 DEF-06 ENC-01 ENC-05 ENC-12",
)  # fmt: skip
class RefusedArgumentsStay(Application):
    """What a refused call had for its last arguments, the next one has that leaves them out."""

    left: Mapping[str, list[Any]] = {}

    def arguments(self, params: list[Any], function: Method) -> dict[str, Any]:
        name = function.word.text
        whole = [*params, *self.left.get(name, [])[len(params) :]]
        self.left = {other: left for other, left in self.left.items() if other != name}
        try:
            return super().arguments(whole, function)
        except Failure:
            self.left = {**self.left, name: params}
            raise


@mutant(
    "refused-fields-stay", "DEF-07", asked(("echo:s:0", ("x", "no", "gone")), ("echo:s:0", ("x", 5))),
    accept="DEF-04 DEF-06 ENC-01 ENC-05 ENC-12",
)  # fmt: skip
class RefusedFieldsStay(Shapes):
    """An optional field of a message that was refused is that of the next one that leaves it out."""

    kept: Mapping[tuple[str, ...], dict[str, Any]] = {}

    def members(self, elements: Any, members: Any) -> dict[str, Any]:
        names = tuple(member.word.text for member in members)
        before, found = self.kept.get(names, {}), dict[str, Any]()
        self.kept = {**self.kept, names: found}
        for member in members:
            at, name = self.place(member), member.word.text
            left_out = at >= len(elements) or elements[at] is None
            stays = name in before and member.mod == "optional" and left_out
            found[name] = before[name] if stays else self.member(elements, member)
        self.kept = {other: left for other, left in self.kept.items() if other != names}
        return found


@mutant("parts-are-doubles", "ENC-01", asked(("wide:s:0", ((2**63 - 1,),))), accept="ENC-07")
class PartsAreDoubles(Shapes):
    """The elements of a list have passed through a double."""

    def read(self, value: Any, kind: Kind) -> Any:
        found = super().read(value, kind)
        return [int(float(each)) if type(each) is int else each for each in found] if type(found) is list else found
