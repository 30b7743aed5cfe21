"""Clients that are wrong about what comes together with a stray response, or behind the end of a connection."""

from __future__ import annotations

from typing import Any

from impls.references.msgpack.client import Caller
from tests.mutants.msgpack_client import breaks, mutant, told

STRAY_AND_RIGHT = told("stray", 0, 0, 0, 0, 2)
AGAIN = 64
"""The client connects again."""


@mutant("stray-takes-the-rest", "CLI-03", STRAY_AND_RIGHT, accept="CLI-01 FRAG-01", level="SHOULD")
class StrayTakesTheRest(Caller):
    """What stands behind a response with an unknown id in one read is thrown away."""

    stray = False

    def received(self, data: bytes) -> None:
        self.stray = False
        super().received(data)

    def message(self, value: Any) -> None:
        self.stray = self.stray or (isinstance(value, list) and len(value) == 4 and value[1] not in self.open)
        if not self.stray:
            super().message(value)


@mutant("old-half", "CLI-01", breaks(1, 1, AGAIN + 4), accept="CLI-04 FRAG-01 01")
class OldHalf(Caller):
    """Half a response of the connection before stands before what comes on the next one."""

    reader: Any = None

    def reset(self) -> None:
        before = self.reader
        super().reset()
        if before is not None:
            self.reader = before


@mutant("deaf-when-it-is-back", "CLI-01", breaks(0, 0, AGAIN), accept="REQ-01 CLI-04")
class DeafWhenItIsBack(Caller):
    """Who has lost a connection reads nothing on the next one."""

    lost = False

    def end(self, why: str) -> None:
        self.lost = True
        super().end(why)

    def received(self, data: bytes) -> None:
        if not self.lost or not data:
            super().received(data)
