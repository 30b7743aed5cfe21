"""Faults of a broker: permits."""

from __future__ import annotations

from typing import Any

from impls.references.pulsar.reference import Consumer, Session, Subscription
from impls.references.pulsar.wire import Message
from strategies.pulsar.writer import Writer
from tests.mutants.faults import on
from tests.mutants.pulsar_kit import EXCLUSIVE, mutant, ready
from tests.mutants.pulsar_plays import pushed

# -- permits -----------------------------------------------------------------------------------------------------------


def permitted(*permits: int, sends: int = 6) -> Any:
    """Messages, and these permits one after the other."""

    def play(w: Writer) -> None:
        _, ear, _ = ready(w, permits=0, sends=sends)
        for each in permits:
            w.flow(ear, each)

    return play


@mutant("one-for-nothing", "FLOW-01", permitted(), accept="FLOW-02")
class OneForNothing(Consumer):
    """Begins with a permit."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.permits = 1


@mutant("one-too-many", "FLOW-02", permitted(2), accept="FLOW-01")
class OneTooMany(Consumer):
    """Pushes one message more than is permitted."""

    @property
    def permitted(self) -> bool:
        return self.permits > -1 if self.pushed else super().permitted


mutant("one-too-many-later", "FLOW-02", permitted(1, 1, 1), accept="FLOW-03 FLOW-09 RED-06", history=True)(
    "Every third FLOW grants one more than it says.",
    on(Consumer, "grant").takes(permits=lambda permits, calls: permits + (calls % 3 == 0)),
)


def granted_twice(w: Writer) -> None:
    _, ear, pen = ready(w, permits=2)
    w.flow(ear, 2)
    for _ in range(4):
        w.send(pen)


mutant("flow-replaces", "FLOW-03", granted_twice, accept="FLOW-04", history=True)(
    "FLOW replaces what is left.",
    on(Consumer, "grant").instead(lambda self, permits: setattr(self, "permits", permits)),
)


@mutant("flow-of-16-bits", "FLOW-03", permitted(65536), accept="FLOW-04")
class FlowOf16Bits(Consumer):
    """Keeps 16 bits of what is permitted."""

    def grant(self, permits: int) -> None:
        self.permits += permits & 0xFFFF


def after_ack(w: Writer) -> None:
    _, ear, pen = ready(w, permits=3, sends=2)
    w.ack(ear, pushed(ear, 0))
    w.ping(w.of(ear.line))
    w.send(pen)


@mutant("ack-takes-permits", "FLOW-04", after_ack, accept="E2E-01 FLOW-03", history=True)
class AckTakesPermits(Session):
    """An ACK takes a permit away."""

    def acknowledge(self, consumer: Consumer, body: Message) -> None:
        super().acknowledge(consumer, body)
        consumer.permits -= 1


def ack_gives(w: Writer) -> None:
    _, ear, _ = ready(w, permits=2, sends=4)
    w.ack(ear, pushed(ear, 0))
    w.ping(w.of(ear.line))


@mutant("ack-gives-permits", "FLOW-02", ack_gives, accept="FLOW-01 ACK-05 FLOW-03", history=True)
class AckGivesPermits(Session):
    """An ACK gives a permit back."""

    def acknowledge(self, consumer: Consumer, body: Message) -> None:
        super().acknowledge(consumer, body)
        consumer.permits += 1
        consumer.subscription.wake()


def two_consumers(w: Writer) -> None:
    """Two consumers of one connection, one of which has permits."""
    line, _, pen = ready(w, permits=0)
    w.flow(w.ear(line, "t", "ss", EXCLUSIVE, 2), 3)
    for _ in range(3):
        w.send(pen)


@mutant("permits-of-the-connection", "FLOW-05", two_consumers, accept="FLOW-01 FLOW-02")
class PermitsOfTheConnection(Session):
    """FLOW permits all consumers of a connection."""

    def on_flow(self, body: Message) -> None:
        for number in self.consumers:
            super().on_flow({**body, "consumer_id": number})


def reused(w: Writer) -> None:
    """The same consumer id again, without a FLOW."""
    line, ear, pen = ready(w, permits=5)
    w.close_ear(ear)
    w.ear(line, "t", "s")
    w.send(pen)


@mutant("permits-stay", "FLOW-06", reused, accept="FLOW-01", history=True)
class PermitsStay(Session):
    """Keeps the permits of a closed consumer for the next one of its id."""

    def on_close_consumer(self, body: Message) -> None:
        consumer = self.consumers.get(body["consumer_id"])
        if consumer is not None:
            self.early[consumer.id] = consumer.permits
        super().on_close_consumer(body)


def batches(w: Writer) -> None:
    _, ear, pen = ready(w, permits=0)
    for _ in range(4):
        w.send(pen, messages=3)
    w.flow(ear, 3)
    w.ping(w.of(ear.line))
    w.flow(ear, 1)


mutant("batch-takes-one", "FLOW-09", batches, accept="FLOW-02 RED-06", level="ASSUMED", history=True)(
    "A batch uses one permit.", on(Subscription, "messages_in").instead(lambda: 1)
)
