"""Faults of Storm's children and hosts in what stays of something that came before: of a direct emit, of an error, of a
first command, of `deactivate`; and ends of the child that are taken for something else."""

from __future__ import annotations

from typing import Any

from impls.references.storm.child import Bolt, Spout
from impls.references.storm.hosts import BoltHost, SpoutHost
from specs.plan import Control, Ref
from specs.storm.frames import Message
from strategies.storm.host_writer import Writer
from strategies.storm.writer import Writer as ChildWriter
from tests.mutants.faults import on
from tests.mutants.storm_kit import ACK, NEXT, beat, both, child, emit, following, host, script
from tests.mutants.storm_plays import case, command, out, row

WIDTH = 1 << 64


def _an_error(w: Writer) -> None:
    w.call("next")
    w.wait()
    w.call("next", now=True)
    w.say(Message({"command": "error", "msg": "told"}))
    w.wait(5)
    w.sync()
    w.wait()
    w.sync()


@host(
    "host-error-for-sync", "SPOUT-06", _an_error, ext="x-error", accept="SPOUT-07 SPOUT-13 SPOUT-14 SPOUT-15 SPOUT-16"
)
class ErrorForSync(SpoutHost):
    """An error of the child ends its answer, as a sync does."""

    def obey(self, command: str, message: dict[str, Any]) -> None:
        super().obey(command, message)
        if command == "error" and self.command:
            self.sync()


class _DirectStreamStays:
    """The stream of a direct emit is that of later ones without a stream, until something else is said."""

    stays: Any = None

    def collect(self, message: dict[str, Any], stream: Any, task: Any, values: list[Any]) -> None:
        self.stays = stream if task is not None and stream is not None else self.stays
        super().collect(message, stream or self.stays, task, values)  # type: ignore[misc]

    def sync(self) -> None:
        self.stays = None
        super().sync()  # type: ignore[misc]


host("bolt-host-direct-stream-stays", "BOLT-13", both(out(1, stream="second", task=9), out(2)))(
    type("BoltHostDirectStreamStays", (_DirectStreamStays, BoltHost), {"__doc__": _DirectStreamStays.__doc__})
)
host("spout-host-direct-stream-stays", "SPOUT-13", command({"stream": "second", "task": 9}, {}))(
    type("SpoutHostDirectStreamStays", (_DirectStreamStays, SpoutHost), {"__doc__": _DirectStreamStays.__doc__})
)


def _ends_behind_an_emit(w: Writer) -> None:
    w.call("next")
    w.wait()
    w.emit([1])
    w.wait()
    w.steps.append(Control(0, "exit", 0))
    w.wait()


@host("host-end-for-sync", "INV-HOST-22", _ends_behind_an_emit, accept="END-04")
class EndForSync(SpoutHost):
    """The end of a child that has emitted in the command that is open is taken for its sync."""

    emits = 0

    def send(self, message: Any, rank: int = 2) -> None:
        self.emits = 0 if isinstance(message, dict) else self.emits
        super().send(message, rank)

    def emit(self, message: dict[str, Any]) -> None:
        self.emits += 1
        super().emit(message)

    def gone(self) -> None:
        if self.command and self.emits:
            self.over = True
        else:
            super().gone()


@host("host-misses-idle-end", "INV-HOST-22", row("INV-HOST-22", 2), accept="END-04")
class MissesIdleEnd(BoltHost):
    """A child that has acked, and has no tuple open, may end unnoticed."""

    acked = False

    def settle(self, command: str, name: Any) -> None:
        super().settle(command, name)
        self.acked |= command == "ack"

    def gone(self) -> None:
        if not self.acked or self.live:
            super().gone()


@host("host-beats-until-error", "HB-01", case("live", 1, 0, 1), bare=True, ext="x-error")
class BeatsUntilError(BoltHost):
    """After an error of the child there are no heartbeats any more, and nobody is missed."""

    erred = False

    def obey(self, command: str, message: dict[str, Any]) -> None:
        self.erred |= command == "error"
        super().obey(command, message)

    def tick(self) -> None:
        if not self.erred:
            super().tick()


@host("host-times-first-commands", "HB-10", case("hangs", 3), bare=True, ext="x-hb-timing", accept="INV-HOST-24")
class TimesFirstCommands(SpoutHost):
    """Behind the second command the clock is not looked at any more."""

    commands = 0

    def message(self, call: dict[str, Any]) -> dict[str, Any]:
        self.commands += 1
        return super().message(call)

    def counts(self) -> bool:
        return super().counts() and self.commands < 3


def _wrapped(values: list[Any]) -> list[Any]:
    return [(v + WIDTH // 2) % WIDTH - WIDTH // 2 if type(v) is int else v for v in values]


host("host-wraps-numbers", "INV-HOST-29", row("INV-HOST-29", 0))(
    "Whole numbers in tuples have 64 bits, and wrap.", on(BoltHost, "collect").takes(values=_wrapped)
)


@child("spout-inactive-unanswered", "SPOUT-03",
       both(NEXT, following("deactivate", "ack", ack=Ref("emitted", 0))),
       conf=script([emit(id="a")]), ext="x-activate", accept="SPOUT-16 HB-08 EXT-01")  # fmt: skip
class InactiveUnanswered(Spout):
    """While it is not active an ack or a fail is carried out, and not answered."""

    active = True

    def callback(self, command: str, message: dict[str, Any]) -> Any:
        self.active = command == "activate" or (command != "deactivate" and self.active)
        self.quiet = command in ("ack", "fail") and not self.active
        yield from super().callback(command, message)

    def sync(self) -> None:
        if not self.quiet:
            super().sync()


def _beat_meanwhile(w: ChildWriter) -> None:
    w.script([emit(), ACK])
    beat(w)
    w.lists()


child("bolt-no-beat-meanwhile", "HB-06", _beat_meanwhile, accept="HB-03 HB-07")(
    "A heartbeat that comes while it waits for task ids is not answered.",
    on(Bolt, "heartbeat").skips(when=lambda self: bool(self.waiting)),
)
