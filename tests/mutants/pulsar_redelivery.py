"""Faults of a broker: what comes again, and consumers that are closed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from impls.references.pulsar.reference import Consumer, Session, Subscription
from impls.references.pulsar.wire import Message
from strategies.pulsar.writer import Writer
from tests.mutants.faults import on
from tests.mutants.pulsar_kit import EXCLUSIVE, SHARED, mutant, ready
from tests.mutants.pulsar_plays import GONE, back, pushed

# -- redelivering ------------------------------------------------------------------------------------------------------


def redelivered(
    *acks: int, kind: int = EXCLUSIVE, which: tuple[int, ...] = (), sends: int = 4, permits: int = 100
) -> Any:
    """Messages, ACKs, and RedeliverUnacknowledgedMessages."""

    def play(w: Writer) -> None:
        _, ear, _ = ready(w, kind, permits, sends)
        w.ping(w.of(ear.line))
        for each in acks:
            w.ack(ear, pushed(ear, each))
        w.ping(w.of(ear.line))
        w.redeliver(ear, *(pushed(ear, each) for each in which))
        w.ping(w.of(ear.line))

    return play


mutant("nothing-comes-again", "RED-01", redelivered(), accept="RED-04 RED-05 RED-02", history=True)(
    "Does nothing when everything is asked for.",
    on(Subscription, "redeliver").skips(when=lambda wanted: wanted is None),
)


@mutant("all-but-the-first", "RED-01", redelivered(), accept="RED-05 RED-04 RED-02", history=True)
class AllButTheFirst(Subscription):
    """Leaves out the oldest message that is not acknowledged."""

    def release(self, listed: Iterable[int]) -> None:
        kept = list(listed)
        super().release(kept[1:] if self.consumers else kept)


mutant("list-unread", "RED-02", redelivered(kind=SHARED, which=(1,)), accept="RED-03 E2E-03 SUB-07", history=True)(
    "Pushes everything again, whatever is listed.", on(Subscription, "redeliver").takes(wanted=lambda: None)
)


@mutant("acked-comes-again", "RED-03", redelivered(1, kind=SHARED), accept=GONE, history=True)
class AckedComesAgain(Subscription):
    """Pushes again what is acknowledged."""

    def redeliver(self, consumer: Consumer, wanted: list[int] | None) -> None:
        super().redeliver(consumer, wanted)
        for at in list(self.acked):
            consumer.session.deliver(consumer, self.topic.entries[at], 1, [])
            consumer.permits -= 1


@mutant("listed-though-acked", "RED-03", redelivered(1, kind=SHARED, which=(1,)), accept=GONE, history=True)
class ListedThoughAcked(Subscription):
    """Pushes again what is listed on a Shared subscription, also what is acknowledged."""

    def redeliver(self, consumer: Consumer, wanted: list[int] | None) -> None:
        super().redeliver(consumer, wanted)
        for at in wanted or () if self.kind == SHARED else ():
            if at < self.mark or at in self.acked:
                consumer.session.deliver(consumer, self.topic.entries[at], 1, [])
                consumer.spend(1)


mutant("newest-again-first", "RED-05", redelivered(), accept="MSG-03", history=True)(
    "Pushes the newest first when it pushes again.",
    on(Subscription, "next_released").instead(lambda self: self.released[-1]),
)


@mutant("again-for-nothing", "RED-06", redelivered(permits=4), accept="FLOW-02 FLOW-01", history=True)
class AgainForNothing(Subscription):
    """What comes again needs no permit."""

    def push(self, consumer: Consumer, at: int) -> None:
        again = self.again.get(at, 0)
        super().push(consumer, at)
        if again:
            consumer.permits += 1

    def release(self, listed: Iterable[int]) -> None:
        kept = list(listed)
        for at in kept:
            if at in self.pending:
                self.pending[at].permits += 1
        super().release(kept)


mutant("not-counted", "RED-07", redelivered(kind=SHARED), profile="modern", level="SHOULD", history=True)(
    "Does not say that a message came before.", on(Session, "deliver").takes(again=lambda: 0)
)


# -- closing -----------------------------------------------------------------------------------------------------------


def left(w: Writer) -> None:
    _, ear, _ = ready(w, sends=3)
    back(w, ear)


@mutant("closed-with-the-rest", "CLC-03", left, accept="FLOW-04 E2E-01 SUB-09 ACK-04 ACK-02", history=True)
class ClosedWithTheRest(Subscription):
    """What a closed consumer did not acknowledge is lost."""

    def leave(self, consumer: Consumer) -> None:
        for at in list(consumer.pending):
            self.ack(at)
        super().leave(consumer)


def pushing(w: Writer) -> None:
    _, ear, pen = ready(w)
    w.close_ear(ear)
    w.send(pen)


mutant("closed-but-pushed-to", "CLC-01", pushing, accept="MSG-01 FLOW-01 FLOW-06", history=True)(
    "Pushes on to a closed consumer.",
    on(Session, "forget_consumer").skips(when=lambda self, consumer: not (consumer.permits <= 0 or self.hung)),
)


def closed_elsewhere(w: Writer) -> None:
    """Two consumers of one id on two connections; one is closed."""
    _, ear, pen = ready(w)
    other = w.ear(w.line(1), "tt", "s")
    w.flow(other, 10)
    w.close_ear(other)
    w.send(pen)
    del ear


@mutant("closed-everywhere", "CLC-01", closed_elsewhere, accept="FLOW-04 E2E-01 MSG-03 SUB-06", history=True)
class ClosedEverywhere(Session):
    """CLOSE_CONSUMER closes the consumers of that id on all connections."""

    def on_close_consumer(self, body: Message) -> None:
        super().on_close_consumer(body)
        for other in [*self.broker.sessions.values()]:
            consumer = other.consumers.get(body["consumer_id"])
            if consumer is not None:
                other.forget_consumer(consumer)
