"""Faulty hosts: heartbeats, timeouts, and the end of the child."""

from __future__ import annotations

from typing import Any

from impls.references.storm.hosts import BoltHost, SpoutHost
from tests.mutants.faults import on
from tests.mutants.storm_kit import host
from tests.mutants.storm_plays import case, over, row

host("host-no-beats", "HB-01", case("live"), bare=True)("There are no heartbeats.", on(BoltHost, "beat").skips())
host("host-one-beat", "HB-01", case("live"), bare=True)(
    "There is one heartbeat.", on(BoltHost, "beat").skips(when=lambda calls: calls != 1)
)
host("host-beats-for-few", "HB-01", case("live"), bare=True)(
    "There are no heartbeats while more than two tuples are live.",
    on(BoltHost, "beat").skips(when=lambda self: len(self.live) > 2),
)


@host("host-beats-until-fail", "HB-01", case("live"), bare=True)
class BeatsUntilFail(BoltHost):
    """After a fail there are no heartbeats any more."""

    has_failed = False

    def settle(self, command: str, name: Any) -> None:
        self.has_failed |= command == "fail"
        super().settle(command, name)

    def beat(self) -> None:
        if not self.has_failed:
            super().beat()


@host("host-forgets-time", "HB-10", case("hangs", 3), bare=True)
class ForgetsTime(BoltHost):
    """The clock stands still once a third heartbeat was answered."""

    syncs = 0

    def sync(self) -> None:
        self.syncs += 1
        super().sync()

    def counts(self) -> bool:
        return self.syncs < 3


@host("host-tires", "HB-10", case("hangs", 0, 1), bare=True)
class Tires(BoltHost):
    """After ten messages the clock is not looked at any more."""

    messages = 0

    def hear(self, message: Any) -> None:
        self.messages += 1
        super().hear(message)

    def counts(self) -> bool:
        return self.messages < 10


host("host-beat-task", "HB-02", case("live"), bare=True, accept="BOLT-27 BOLT-02")(
    "A heartbeat has the task of the bolt.", on(BoltHost, "heartbeat").gives(lambda found: {**found, "task": 3})
)
host("host-beat-values", "HB-02", case("live"), bare=True)(
    "A heartbeat has a value.", on(BoltHost, "heartbeat").gives(lambda found: {**found, "tuple": ["beat"]})
)
host("host-patient", "HB-10", case("hangs"), bare=True)(
    "A child that hangs is waited for.", on(BoltHost, "counts").instead(lambda: False)
)
host("host-patient-spout", "HB-10", case("hangs"), bare=True)(
    "A spout that hangs is waited for.", on(SpoutHost, "counts").instead(lambda: False)
)
host("host-patient-with-acks", "HB-10", case("hangs", 1, 1, 0, 0), bare=True, ext="x-hb-timing", accept="INV-HOST-24")(
    "A spout that hangs inside ack or fail is waited for.",
    on(SpoutHost, "counts").skips(when=lambda self: self.command in ("ack", "fail")),
)
host("host-impatient", "HB-11", case("live"), bare=True)(
    "A child is given up after a third of the timeout.",
    on(BoltHost, "tick").before(
        lambda self: self.fail("too late"),
        when=lambda self: self.timeout_ms and self.now_ms - self.heard_ms > self.timeout_ms / 3.2,
    ),
)
host("host-idle-timeout", "HB-13", case("live", 0, 0, 1), bare=True, ext="x-hb-timing")(
    "A spout without a command is given up, too.", on(SpoutHost, "counts").instead(lambda: True)
)
host("host-unnoticed", "END-04", row("INV-HOST-22", 1), accept="INV-HOST-22")(
    "That the child ends is not noticed.", on(BoltHost, "gone").skips()
)


@host("host-loses-last-words", "BOLT-20", row("INV-HOST-22", 3), level="SHOULD")
class LosesLastWords(BoltHost):
    """What the child says is worked on a little later, and not at all if the child has ended by then."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.unread: list[bytes] = []

    def receive(self, data: bytes) -> None:
        self.unread.append(data)

    def advance(self, ms: float) -> None:
        unread, self.unread = self.unread, []
        for data in unread:
            super().receive(data)
        super().advance(ms)

    def left(self) -> None:
        self.unread.clear()
        super().left()


host("host-leaves-child", "END-05", over, smoke=False)("The child is left behind.", on(BoltHost, "end_child").skips())
