"""Processors and clients that are wrong about the end of one type of integers, or about one type that is required."""

from __future__ import annotations

from typing import Any

from impls.references.msgpack.idl_checker import Checker
from impls.references.msgpack.idl_parser import Member
from impls.references.msgpack.idl_values import Misfit, Shapes
from tests.mutants.faults import on
from tests.mutants.msgpack_idl_client_parts import To, calls
from tests.mutants.msgpack_idl_client_parts import mutant as client
from tests.mutants.msgpack_idl_parts import message, mutant

LARGEST = (1 << 15) - 1
ENDS = (("byte", 127, 1), ("short", -(1 << 15), -1), ("uint", (1 << 32) - 1, 1), ("long", -(1 << 63), -1))


def one_more(name: str, end: int, step: int) -> None:
    """A processor that takes one number too many for a type."""
    mutant(f"{name}-of-one-more", "DEF-02", message(f"1: optional {name} x = {end + step}"))(
        f"A default of type {name} may be {end + step}.",
        on(Checker, "value").skips(
            when=lambda self, member, what, value: (
                what == "int" and value == end + step and self.real(member.kind).name == name
            )
        ),
    )


for _end in ENDS:
    one_more(*_end)

mutant("short-of-one-less", "DEF-01", message("1: optional short x = 32767"), accept="DEF-02")(
    "A default of type short may not be 32767.",
    on(Checker, "value").takes(
        value=lambda self, member, value: (
            1 << 80 if value == 32767 and self.real(member.kind).name == "short" else value
        )
    ),
)

TIGHT = """message Row {
  1: int x
  2: required string y
}
service S: 0 {
  void put(1: short a)
  Row row()
}
application App {
  S: 0 storage default
}
"""
client("short-of-one-less", "ENC-01", calls(To("tight", result=LARGEST, version=2)))(
    "A result of type short may not be 32767.",
    on(Shapes, "integer").raises(
        lambda: Misfit("short"), when=lambda value, name: name == "short" and value == LARGEST
    ),
)
client("short-sent-in-eight-bits", "ENC-01", calls(To("put", (LARGEST,), result=None), idl=TIGHT))(
    "A short is written as its last eight bits.",
    on(Shapes, "write").takes(
        value=lambda self, value, kind: value & 0xFF if self.real(kind).name == "short" and value is not None else value
    ),
)


@client("required-text-missing", "ENC-03", calls(To("row", result=(1,)), idl=TIGHT))
class RequiredTextMissing(Shapes):
    """A text that is required, and says so, is empty where it is missing."""

    def member(self, elements: Any, member: Member) -> Any:
        if self.place(member) >= len(elements) and member.mod == "required" and self.real(member.kind).name == "string":
            return ""
        return super().member(elements, member)
