"""Processors of the interface language that say too much, or forget the second of several."""

from __future__ import annotations

from impls.msgpack.idl import Idl
from impls.msgpack.idl_checker import Checker
from impls.msgpack.idl_parser import Part
from tests.mutants.msgpack_idl_parts import PLAIN, mutant


@mutant("says-more", "ERR-02", PLAIN)
class SaysMore(Idl):
    """Behind each answer there is a remark."""

    def line(self, line: bytes) -> bytes:
        return super().line(line) + b"\nwell done"


TWO = """interface I: 1 {
  string get()
}
interface J: 4 {
  string put()
}
service S: 0 {
  implements I: 1
  implements J: 4
  string own()
}
"""


@mutant("last-interface-only", "IF-02", TWO)
class LastInterfaceOnly(Idl):
    """Of several interfaces the functions of the last are those of the service."""

    def tree(self, part: Part, checker: Checker) -> dict[str, object]:
        if part.what == "service":
            part.uses = part.uses[-1:]
        return super().tree(part, checker)
