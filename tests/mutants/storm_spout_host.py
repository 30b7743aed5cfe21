"""Faulty hosts of spouts."""

from __future__ import annotations

from typing import Any

from impls.references.storm.hosts import SpoutHost
from strategies.storm.host_writer import Writer
from tests.mutants.faults import on
from tests.mutants.storm_kit import both, host
from tests.mutants.storm_plays import command


def _valued(w: Writer, value: Any) -> None:
    w.call("next")
    w.wait()
    w.emit([value])
    w.sync()


def _logging(w: Writer) -> None:
    w.call("next")
    w.wait()
    w.log("two\nlines")
    w.sync()


def _several(w: Writer) -> None:
    w.call("next")
    w.wait()
    w.call("next", now=True)
    w.wait(5)
    w.sync()
    w.wait()
    w.sync()


@host("host-two-at-once", "SPOUT-06", _several)
class TwoAtOnce(SpoutHost):
    """A command does not wait for the sync of the one before."""

    def go_on(self) -> None:
        if self.ready and len(self.calls) > 1 and self.command:
            self.send(self.message(self.calls[1]))
            self.calls.popleft()
            return
        super().go_on()


host("host-no-ack-id", "SPOUT-02", both(command({"id": "a"}), command(op="ack", id="a")))(
    "ack has no id.", on(SpoutHost, "message").instead(lambda call: {"command": call["op"]})
)
host("host-text-ids", "SPOUT-12", both(command({"id": 1}), command(op="fail", id=1)))(
    "Ids come back as texts.",
    on(SpoutHost, "message").gives(lambda found: {**found, "id": str(found["id"])} if "id" in found else found),
)
host(
    "host-fail-for-ack", "SPOUT-12", both(command({"id": "a"}), command(op="fail", id="a")), accept="SPOUT-17 SPOUT-11"
)(
    "fail is told as ack.",
    on(SpoutHost, "message").gives(lambda found: {**found, "command": "ack"} if found["command"] == "fail" else found),
)


@host("host-acks-unasked", "SPOUT-17", both(command({"id": "a"}), command()), accept="SPOUT-11 SPOUT-06 SPOUT-12")
class AcksUnasked(SpoutHost):
    """An emit with an id is acked by the next command."""

    owed: Any = None

    def further(self, message: dict[str, Any]) -> dict[str, Any]:
        self.owed = message.get("id")
        return super().further(message)

    def message(self, call: dict[str, Any]) -> dict[str, Any]:
        owed, self.owed = self.owed, None
        return super().message(call) if owed is None else {"command": "ack", "id": owed}


host("host-other-commands", "SPOUT-01", command(), smoke=False)(
    "next is called nextTuple.",
    on(SpoutHost, "message").instead(lambda call: {"command": "nextTuple" if call["op"] == "next" else call["op"]}),
)


@host("host-list-after-sync", "SPOUT-07", command({}))
class ListAfterSync(SpoutHost):
    """The list comes after the sync."""

    kept: Any = None

    def send(self, message: Any, rank: int = 2) -> None:
        if isinstance(message, list):
            self.kept = message
        else:
            super().send(message, rank)

    def sync(self) -> None:
        if self.kept is not None:
            super().send(self.kept)
        super().sync()


host("host-direct-list", "SPOUT-08", command({"task": 9}), accept="SPOUT-07")(
    "A direct emit is answered.", on(SpoutHost, "wants_ids").instead(lambda: True)
)
host("host-drops-id", "SPOUT-12", command({"id": 0}), accept="SPOUT-11")(
    "The id 0 is none.", on(SpoutHost, "further").gives(lambda message, found: found if message.get("id") else {})
)
host("host-makes-id", "SPOUT-11", command({}))(
    "An emit without an id gets one.",
    on(SpoutHost, "further").instead(lambda message: {"id": message.get("id", "made up")}),
)


@host("host-spout-stream", "SPOUT-13", both(command({"stream": "second"}), command({})))
class SpoutStream(SpoutHost):
    """The stream of one emit is that of the next too."""

    last: Any = None

    def collect(self, message: dict[str, Any], stream: Any, task: Any, values: list[Any]) -> None:
        self.last = stream or self.last
        super().collect(message, self.last, task, values)


host("host-spout-task", "SPOUT-14", command({"task": 9}))(
    "A direct emit goes to all.", on(SpoutHost, "collect").takes(task=lambda: None)
)
host("host-spout-values", "SPOUT-21", lambda w: _valued(w, None))(
    "null is left out of tuples.",
    on(SpoutHost, "collect").takes(values=lambda values: [v for v in values if v is not None]),
)
host(
    "host-silent-ack", "SPOUT-16", both(command({"id": "a"}), command({}, op="ack", id="a")), accept="SPOUT-13 SPOUT-07"
)("An emit in answer to an ack is lost.", on(SpoutHost, "emit").skips(when=lambda self: self.command != "next"))
host("host-spout-log", "SPOUT-15", _logging)(
    "A log of two lines loses the second.",
    on(SpoutHost, "log").takes(message=lambda message: {**message, "msg": str(message.get("msg")).partition("\n")[0]}),
)


_FAILED = both(command({"id": "a"}), command(op="fail", id="a"))


@host("host-settles-an-id-once", "SPOUT-06", both(_FAILED, _FAILED))
class SettlesAnIdOnce(SpoutHost):
    """What was acked or failed once is not again, also when it was emitted again."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.settled: list[Any] = []

    def go_on(self) -> None:
        if self.ready and self.calls and not self.command and "id" in self.calls[0]:
            if self.calls[0]["id"] in self.settled:
                self.answer(self.calls.popleft()["op"])
            else:
                self.settled.append(self.calls[0]["id"])
        super().go_on()


def _after(w: Writer) -> None:
    w.call("next")
    w.wait()
    w.sync()
    w.emit([1], now=True)
    w.wait(5)
    w.call("next")
    w.wait()
    w.sync()


@host("host-reads-on", "SPOUT-05", _after)
class ReadsOn(SpoutHost):
    """It reads on after a sync."""

    def lines_read(self, lines: list[bytes]) -> None:
        self.command = self.command or "read"
        super().lines_read(lines)
        self.command = "" if self.command == "read" else self.command


host("host-ids-of-31-bits", "SPOUT-12", command({"id": 4294967296}), accept="SPOUT-11 SPOUT-17")(
    "Of an id that is a number 31 bits are kept.",
    on(SpoutHost, "further").gives(
        lambda found: {"id": found["id"] & 0x7FFFFFFF} if type(found.get("id")) is int else found
    ),
)


def _changed(w: Writer) -> None:
    w.call("next")
    w.wait()
    w.emit([1])
    w.wait()
    w.task_ids(2, now=True)
    w.emit([2])
    w.sync()


@host("host-list-of-the-command", "SPOUT-07", _changed)
class ListOfTheCommand(SpoutHost):
    """Which tasks get a tuple is looked up when a command is sent, for all emits in its answer."""

    def send(self, message: Any, rank: int = 2) -> None:
        if isinstance(message, dict):
            self.looked_up = list(self.task_ids)
        super().send(list(self.looked_up) if isinstance(message, list) else message, rank)
