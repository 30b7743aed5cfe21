"""Faulty hosts: what they make of a child that speaks nonsense."""

from __future__ import annotations

import json
from typing import Any

from impls.references.storm.host import Failed
from impls.references.storm.hosts import BoltHost, SpoutHost
from impls.references.storm.wire import BadMessage
from tests.mutants.faults import on
from tests.mutants.storm_kit import host
from tests.mutants.storm_plays import case, row


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


_lax("INV-HOST-03", 1, accept=NO_MESSAGE)("A stray line is passed over, and the message too.", _Skips)


@_lax("INV-HOST-05", accept="INV-HOST-06 INV-HOST-09")
class FirstOnly(BoltHost):
    """Of two JSON texts the first counts."""

    def understood(self, lines: list[bytes]) -> Any:
        return json.JSONDecoder().raw_decode(b"\n".join(lines).decode())[0] if self.ready else super().understood(lines)


_lax("INV-HOST-17", 1, level="MUST")(
    "An ack for an id that is not known settles the oldest tuple.",
    on(BoltHost, "settle").takes(name=lambda self, name: name if name in self.live else next(iter(self.live))),
)


@_lax("INV-HOST-16", 1)
class AnchorsUnknown(BoltHost):
    """An anchor that is not known is left out."""

    def further(self, message: dict[str, Any]) -> dict[str, Any]:
        known = [anchor for anchor in message.get("anchors") or () if anchor in self.live]
        return super().further({**message, "anchors": known})


@_lax("INV-HOST-14", 1, level="MUST")
class RoundsTasks(BoltHost):
    """A task with a fraction is rounded."""

    def emit(self, message: dict[str, Any]) -> None:
        task = message.get("task")
        super().emit({**message, "task": int(task)} if isinstance(task, float) else message)


_lax("INV-HOST-29", level="MUST")(
    "Numbers have 64 bits, and wrap.",
    on(BoltHost, "collect").takes(
        values=lambda values: [(v + (1 << 63)) % (1 << 64) - (1 << 63) if type(v) is int else v for v in values]
    ),
)
_lax("INV-HOST-27", 4, level="MUST")(
    "What is no character is left out of an id.",
    on(BoltHost, "understood").takes(lines=lambda lines: [line.decode("utf-8", "ignore").encode() for line in lines]),
)


@_lax("INV-HOST-21", 1, accept="END-04", level="MUST")
class HalfMessages(BoltHost):
    """What stands before the end of the child is a message."""

    def left(self) -> None:
        lines = self.lines.lines
        if lines:
            self.lines_read(lines)
        super().left()


_lax("INV-HOST-21", 3, accept="END-04", level="MUST")(
    "What stands before the end of the child is a message, if it settles a tuple.",
    on(BoltHost, "left").before(
        lambda self: self.lines_read(self.lines.lines), when=lambda self: b'"ack"' in b"".join(self.lines.lines)
    ),
)
_lax("INV-HOST-12", 1, accept="INV-HOST-18")(
    "A spout's command that is not known is passed over.", on(SpoutHost, "strange").skips()
)


@_lax("INV-HOST-14", 5, level="MUST")
class WrapsTasks(BoltHost):
    """The number of a task has 32 bits, and wraps."""

    def emit(self, message: dict[str, Any]) -> None:
        task = message.get("task")
        super().emit({**message, "task": task % (1 << 32)} if isinstance(task, int) else message)


_lax("INV-HOST-06", 1, accept="INV-HOST-05")("What stands behind the first JSON text is passed over.", FirstOnly)
_lax("INV-HOST-07", 0, level="MUST")(
    "A blank line before a message is an error.",
    on(BoltHost, "understood").raises(lambda: BadMessage("a blank line"), when=lambda lines: not lines[0].strip()),
)
_lax("INV-HOST-09", 0)(
    "END closes a message too.", on(BoltHost, "receive").takes(data=lambda data: data.replace(b"\nEND\n", b"\nend\n"))
)


@_lax("INV-HOST-10", 0, level="MUST")
class HalfOfLines(BoltHost):
    """Of a message whose lines end with CR LF the last value is lost."""

    half = False

    def receive(self, data: bytes) -> None:
        self.half = b"\r\n" in data
        super().receive(data)

    def collect(self, message: dict[str, Any], stream: Any, task: Any, values: list[Any]) -> None:
        super().collect(message, stream, task, values[:-1] if self.half else values)


@_lax("INV-HOST-15", 0)
class StreamNumbers(BoltHost):
    """A stream that is a number is taken for its digits."""

    def emit(self, message: dict[str, Any]) -> None:
        stream = message.get("stream")
        super().emit({**message, "stream": str(stream)} if isinstance(stream, int) else message)


_lax("INV-HOST-18", 0, accept="INV-HOST-12")("What only bolts say is passed over.", on(SpoutHost, "strange").skips())
_lax("INV-HOST-26", 0, level="MUST")(
    "A log of many MiB is lost.",
    on(BoltHost, "log").skips(when=lambda message: len(str(message.get("msg"))) >= 1 << 19),
)


@_lax("INV-HOST-28", 1, level="MUST")
class DoesBoth(BoltHost):
    """Of a member that stands twice both values count."""

    def understood(self, lines: list[bytes]) -> Any:
        data = b"\n".join(lines)
        if b'"ack"' not in data or b'"fail"' not in data:
            return super().understood(lines)
        message = json.loads(data)
        for command in ("ack", "fail"):
            self.events.append((command, {"id": self.shown(message["id"])}))
        return {"command": "sync"}


host("host-inv-host-01-0", "INV-HOST-01", row("INV-HOST-01", 0), bare=True)(
    "A process id with further members beside it is an error.",
    on(BoltHost, "meet").raises(
        lambda: Failed("more than a process id"), when=lambda message: isinstance(message, dict) and len(message) > 1
    ),
)
host("host-inv-host-02", "INV-HOST-02", case("mute"), bare=True, level="SHOULD")(
    "A child that does not say its process id is waited for without an end.",
    on(BoltHost, "tick").skips(when=lambda self: not self.ready),
)
_lax("INV-HOST-22", 1, accept="END-04", level="MUST")(
    "The end of a child with status 1 goes unnoticed while a tuple is open.",
    on(BoltHost, "gone").skips(when=lambda self: self.live),
)
