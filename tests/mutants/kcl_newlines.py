"""Faulty children: no newlines around their messages."""

from __future__ import annotations

from impls.references.kcl.child import Child
from tests.mutants.kcl_kit import child, told


@child(
    "no-newlines", "FRAME-07", told({"op": "print", "text": "half a line"}), level="SHOULD", accept="FRAME-13 REC-07"
)
class NoNewlines(Child):
    """A message has a newline behind it alone, whatever stands before it."""

    def line(self, data: bytes) -> None:
        self.out += data + (b"\r\n" if self.switches.crlf else b"\n")
        self.fresh = True
