"""Faults of bolts, spouts and hosts under requirements that are broken rarely."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from impls.references.storm.child import Bolt, Spout
from impls.references.storm.freedoms import Switches
from impls.references.storm.hosts import BoltHost, SpoutHost
from specs.plan import Ref
from strategies.storm.misuse import ROWS
from strategies.storm.writer import Writer
from tests.mutants.faults import on, without
from tests.mutants.storm_kit import ACK, FAILED, NEXT, both, child, emit, host, plain, script, told
from tests.mutants.storm_plays import case, command, done, give, logged, out

SHORT = {"topology.subprocess.timeout.secs": 0.1}
"""A timeout that passes within a plan."""


def misuse(name: str, how: int = 0) -> Any:
    """One misuse by the host."""
    return lambda w: ROWS[name](w, how)


def asleep_ms(conf: Mapping[str, Any]) -> float:
    """A little longer than the timeout, where one is told."""
    told = conf.get("topology.subprocess.timeout.secs")
    return 0.0 if told is None else 1000 * float(told) + 200


def slowly(name: str, **more: Any) -> Any:
    """A command, and time enough for a spout that sleeps."""

    def play(w: Writer) -> None:
        w.command(name, **more)
        w.wait(400)
        w.lists()

    return play


@child("spout-sleeps-in-next", "HB-09", slowly("next"), conf=SHORT | script([emit(1)]))
class SleepsInNext(Spout):
    """Inside next it is silent for longer than the timeout."""

    def callback(self, command: str, message: dict[str, Any]) -> Any:
        if command == "next" and "wireproof.script" in self.conf:
            yield asleep_ms(self.conf)
        yield from super().callback(command, message)


@child(
    "spout-sleeps-in-ack",
    "SPOUT-19",
    both(NEXT, slowly("ack", id=Ref("emitted", 0))),
    conf=SHORT | script([emit(1, id="a")]),
)
class SleepsInAck(Spout):
    """Inside ack it is silent for longer than the timeout."""

    def callback(self, command: str, message: dict[str, Any]) -> Any:
        if command == "ack":
            yield asleep_ms(self.conf)
        yield from super().callback(command, message)


@child("spout-lifeless", "HB-08", FAILED, conf=script([emit(1, id="a")]), accept="SPOUT-03 SPOUT-24")
class Lifeless(Spout):
    """A fail gets no sign of life."""

    failing = False

    def callback(self, command: str, message: dict[str, Any]) -> Any:
        self.failing = command == "fail"
        yield from super().callback(command, message)

    def sync(self) -> None:
        if not self.failing:
            super().sync()


class _Hoards:
    """Task ids that nothing waits for are kept for the next emit."""

    def ids(self, ids: list[Any]) -> None:
        if self.waiting:  # type: ignore[attr-defined]
            super().ids(ids)  # type: ignore[misc]
        else:
            self.hoard = ids

    def emit(self, step: Any, name: Any) -> Any:
        steps = super().emit(step, name)  # type: ignore[misc]
        if getattr(self, "hoard", None) is None:
            yield from steps
            return
        for _ in steps:
            self.got_ids(None, self.hoard)  # type: ignore[attr-defined]
            self.hoard = None
            return


@child("bolt-hoards-lists", "INV-CHILD-07", misuse("INV-CHILD-07"), bare=True, level="SHOULD",
       switches=Switches(unknown="skip"))  # fmt: skip
class BoltHoards(_Hoards, Bolt):
    """Task ids that nothing waits for are kept for the next emit."""


@child("spout-hoards-lists", "INV-CHILD-07", misuse("INV-CHILD-07"), bare=True, level="SHOULD",
       switches=Switches(unknown="skip"))  # fmt: skip
class SpoutHoards(_Hoards, Spout):
    """Task ids that nothing waits for are kept for the next emit."""


@child("bolt-stuck-behind-lists", "INV-CHILD-08", misuse("INV-CHILD-08"), accept="INV-CHILD-01", bare=True)
class StuckBehindLists(Bolt):
    """Nothing is read behind task ids that are texts."""

    stuck = False

    def lines_read(self, lines: list[bytes]) -> None:
        self.stuck = self.stuck or b"".join(lines).startswith(b'["')
        if not self.stuck:
            super().lines_read(lines)


@child("bolt-odd-list-keeps-its-place", "INV-CHILD-08", misuse("INV-CHILD-08", 12), accept="INV-CHILD-01", bare=True)
class OddListKeepsItsPlace(Bolt):
    """An emit fails at task ids that are no numbers, and is given the next list all the same."""

    def ids(self, ids: list[Any]) -> None:
        one = self.waiting[0] if self.waiting else None
        if one is None or all(type(item) is int for item in ids):
            super().ids(ids)
            return
        self.waiting[0] = None
        self.running.remove(one)
        self.raised(one)


child("bolt-waits-with-cr", "INV-CHILD-10", misuse("INV-CHILD-10", 1), level="SHOULD")(
    "A closing line that ends with CR LF is none.",
    on(Bolt, "receive").takes(data=lambda data: data.replace(b"end\r\n", b"end \r\n")),
)


@child("bolt-acks-octets", "INV-CHILD-14", misuse("INV-CHILD-14"))
class AcksOctets(Bolt):
    """What is no UTF-8 is acked as if it were the tuple 0."""

    def lines_read(self, lines: list[bytes]) -> None:
        if b"\xff" in b"".join(lines):
            super().settle("ack", "0")
        else:
            super().lines_read(lines)


child("bolt-says-done", "BOLT-05", plain(1), smoke=False)(
    "It says of each tuple that it is done with it, in a command of its own.",
    on(Bolt, "process").after(lambda self: self.say({"command": "done"})),
)


@child("bolt-syncs-twice", "BOLT-22", both(told(ACK), told(ACK), told(ACK)))
class SyncsTwice(Bolt):
    """Each tuple is followed by two syncs."""

    def finished(self, one: Any) -> None:
        self.say({"command": "sync"})
        self.say({"command": "sync"})
        super().finished(one)


@host("host-tires-of-acks", "BOLT-05", both(give(1), give(2), done("ack", 0), done("ack", 1)))
class TiresOfAcks(BoltHost):
    """After a second ack the child is given up."""

    acks = 0

    def settle(self, command: str, name: Any) -> None:
        super().settle(command, name)
        self.acks += 1
        if self.acks == 2:
            self.fail("too many acks")


@child("bolt-second-direct", "BOLT-14", told(emit(1, task=9), emit(2, task=9), ACK), accept="BOLT-26 BOLT-18")
class BoltSecondDirect(Bolt):
    """The second direct emit of one tuple is none."""

    last: Any = ()

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        again, self.last = self.last == name, name if "task" in message else self.last
        return without(message, "task") if again else message


@child("spout-second-direct", "SPOUT-14", NEXT, conf=script([emit(1, task=9), emit(2, task=9)]), accept="SPOUT-09")
class SpoutSecondDirect(Spout):
    """The second direct emit of one command is none."""

    directs = 0

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        self.directs += "task" in message
        return without(message, "task") if self.directs > 1 else message

    def sync(self) -> None:
        self.directs = 0
        super().sync()


class _SecondDirect:
    """A direct emit right behind another one to the same task goes to all."""

    last: Any = None

    def collect(self, message: dict[str, Any], stream: Any, task: Any, values: list[Any]) -> None:
        again, self.last = task is not None and task == self.last, task
        super().collect(message, stream, None if again else task, values)  # type: ignore[misc]


host("bolt-host-second-direct", "BOLT-14", both(out(1, task=9), out(2, task=9)))(
    type("BoltHostSecondDirect", (_SecondDirect, BoltHost), {"__doc__": _SecondDirect.__doc__})
)
host("spout-host-second-direct", "SPOUT-14", command({"task": 9}, {"task": 9}))(
    type("SpoutHostSecondDirect", (_SecondDirect, SpoutHost), {"__doc__": _SecondDirect.__doc__})
)
host("host-log-answered", "BOLT-23", logged("x"), accept="BOLT-16")(
    "A log is answered by a list.", on(BoltHost, "log").after(lambda self: self.send([]))
)
host("host-needs-beats", "BOLT-24", lambda w: w.sync())(
    "A sync that answers no heartbeat is an error.",
    on(BoltHost, "sync").before(lambda self: self.fail("a sync for nothing"), when=lambda self: not self.pending),
)


@host("host-late-acks-lost", "BOLT-25", both(give(1), give(2), done("ack", 1), done("ack", 0)), accept="BOLT-20")
class LateAcksLost(BoltHost):
    """A tuple that is acked after one that was sent later is not settled."""

    highest = -1

    def settle(self, command: str, name: Any) -> None:
        at = list(self.live).index(name) if name in self.live else -1
        if at == 0 and self.highest > 0:
            del self.live[name]
        else:
            self.highest = max(self.highest, at)
            super().settle(command, name)


@host("host-counts-syncs", "HB-12", case("talks"), bare=True, ext="x-hb-any-message", accept="HB-11")
class CountsSyncs(BoltHost):
    """Only a sync is a sign of life."""

    synced_ms = 0.0

    def hear(self, message: Any) -> None:
        if message.get("command") == "sync" or not self.synced_ms:
            self.synced_ms = self.now_ms
        self.heard_ms = self.synced_ms
        super().hear(message)


host("host-never-activates", "EXT-02", command(), ext="x-activate", smoke=False)(
    "next comes without activate before it.", on(SpoutHost, "met").skips()
)


def _noise(w: Any) -> None:
    w.wait()
    w.stderr(200_000)


@host("host-fills-up", "END-06", both(give(1), _noise, done("ack", 0)), level="SHOULD")
class FillsUp(BoltHost):
    """A child that fills its STDERR is not read any more."""

    full = False

    def noise(self, octets: int) -> None:
        self.full = octets > 1 << 16

    def receive(self, data: bytes) -> None:
        if not self.full:
            super().receive(data)
