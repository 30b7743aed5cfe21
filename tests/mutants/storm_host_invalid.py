"""Faulty hosts: what they make of a child that speaks nonsense."""

from __future__ import annotations

import json
from typing import Any

from impls.storm.hosts import BoltHost, SpoutHost
from tests.mutants.storm_kit import host
from tests.mutants.storm_plays import row


def _lax(name: str, how: int = 0, accept: str = "", level: str = "SHOULD") -> Any:
    return host(f"host-{name.lower()}-{how}", name, row(name, how), accept=accept, level=level)


class _Skips(BoltHost):
    """What is no message is passed over."""

    def fail(self, why: str) -> None:
        if not self.ready or why in ("the child has ended", "the child is silent for too long"):
            super().fail(why)


NO_MESSAGE = " ".join(f"INV-HOST-{row:02}" for row in (3, 4, 5, 6, 8, 11, 12, 13))
"""Rows of what is no message: who passes over one passes over all of them."""

for _name, _how in (("INV-HOST-04", 1), ("INV-HOST-08", 0), ("INV-HOST-11", 0), ("INV-HOST-13", 0)):
    _lax(_name, _how, accept=NO_MESSAGE)(type("Skips", (_Skips,), {"__doc__": _Skips.__doc__}))


@_lax("INV-HOST-03", 1, accept=NO_MESSAGE)
class StrayLine(_Skips):
    """A stray line is passed over, and the message too."""


@_lax("INV-HOST-05", accept="INV-HOST-06 INV-HOST-09")
class FirstOnly(BoltHost):
    """Of two JSON texts the first counts."""

    def understood(self, lines: list[bytes]) -> Any:
        return json.JSONDecoder().raw_decode(b"\n".join(lines).decode())[0] if self.ready else super().understood(lines)


@_lax("INV-HOST-17", 1, level="MUST")
class AcksUnknown(BoltHost):
    """An ack for an id that is not known settles the oldest tuple."""

    def settle(self, command: str, name: Any) -> None:
        super().settle(command, name if name in self.live else next(iter(self.live)))


@_lax("INV-HOST-16", 1)
class AnchorsUnknown(BoltHost):
    """An anchor that is not known is left out."""

    def further(self, message: dict[str, Any]) -> dict[str, Any]:
        known = [anchor for anchor in message.get("anchors") or () if anchor in self.live]
        return super().further({**message, "anchors": known})


@_lax("INV-HOST-14", 1)
class RoundsTasks(BoltHost):
    """A task with a fraction is rounded."""

    def emit(self, message: dict[str, Any]) -> None:
        task = message.get("task")
        super().emit({**message, "task": int(task)} if isinstance(task, float) else message)


@_lax("INV-HOST-29", level="MUST")
class Wraps(BoltHost):
    """Numbers have 64 bits, and wrap."""

    def collect(self, message: dict[str, Any], stream: Any, task: Any, values: list[Any]) -> None:
        wrapped = [(v + (1 << 63)) % (1 << 64) - (1 << 63) if type(v) is int else v for v in values]
        super().collect(message, stream, task, wrapped)


@_lax("INV-HOST-27", 4, level="MUST")
class Strips(BoltHost):
    """What is no character is left out of an id."""

    def understood(self, lines: list[bytes]) -> Any:
        return super().understood([line.decode("utf-8", "ignore").encode() for line in lines])


@_lax("INV-HOST-21", 1, accept="END-04", level="MUST")
class HalfMessages(BoltHost):
    """What stands before the end of the child is a message."""

    def left(self) -> None:
        lines = self.lines.lines
        if lines:
            self.lines_read(lines)
        super().left()


@_lax("INV-HOST-21", 3, accept="END-04", level="MUST")
class HalfAcks(BoltHost):
    """What stands before the end of the child is a message, if it settles a tuple."""

    def left(self) -> None:
        if b'"ack"' in b"".join(self.lines.lines):
            self.lines_read(self.lines.lines)
        super().left()


@_lax("INV-HOST-12", 1, accept="INV-HOST-18")
class UnknownCommands(SpoutHost):
    """A spout's command that is not known is passed over."""

    def strange(self, command: str) -> None:
        pass
