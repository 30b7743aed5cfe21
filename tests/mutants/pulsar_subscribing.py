"""Faults of a broker: who may consume, and where a subscription begins."""

from __future__ import annotations

from typing import Any

from impls.references.pulsar.reference import Consumer, Refused, Session, Subscription, Topic
from impls.references.pulsar.wire import Message
from strategies.pulsar.writer import Writer
from tests.mutants.pulsar_kit import EXCLUSIVE, SHARED, mutant, ready
from tests.mutants.pulsar_plays import back, pushed

# -- subscribing -------------------------------------------------------------------------------------------------------


def second(kind: int, other: int, slots: int = 2) -> Any:
    """A second consumer, and then a message."""

    def play(w: Writer) -> None:
        w.slots = slots
        _, _, pen = ready(w, kind)
        ear = w.ear(w.line(1), "t", "s", other, keep=kind == other == SHARED, choice=2)
        w.flow(ear, 100) if kind == other == SHARED else None
        w.send(pen)
        w.send(pen)

    return play


@mutant("two-exclusive", "SUB-05", second(0, 0), accept="INV-BROKER-26 INV-BROKER-27 E2E-03")
class TwoExclusive(Session):
    """Takes a second Exclusive consumer."""

    def check_room(self, subscription: Subscription, kind: int) -> None:
        """See `Session`."""
        if kind != EXCLUSIVE:
            super().check_room(subscription, kind)


@mutant("refused-but-first-ends", "SUB-06", second(0, 0), accept="FLOW-04 MSG-03 SUB-05 E2E-01", history=True)
class RefusedButFirstEnds(Session):
    """Hears the first Exclusive consumer no more once it has refused a second one."""

    def check_room(self, subscription: Subscription, kind: int) -> None:
        """See `Session`."""
        try:
            super().check_room(subscription, kind)
        except Refused:
            subscription.active = None
            raise


@mutant("shared-to-all", "SUB-07", second(1, 1), accept="E2E-03 MSG-01 FLOW-02 FLOW-01 FLOW-05")
class SharedToAll(Subscription):
    """Pushes to every consumer of a Shared subscription."""

    def push(self, consumer: Consumer, at: int) -> None:
        """See `Subscription`."""
        super().push(consumer, at)
        for other in self.consumers:
            if other is not consumer and self.kind == SHARED:
                other.session.deliver(other, self.topic.entries[at], 0, [])


def starved(w: Writer) -> None:
    """The first consumer without permits, the second one with."""
    _, _, pen = ready(w, SHARED, permits=0)
    w.flow(w.ear(w.line(1), "t", "s", SHARED, 2), 5)
    w.send(pen)


@mutant("shared-to-one", "SUB-07", starved, accept="FLOW-04 FLOW-05 SUB-08 E2E-01")
class SharedToOne(Subscription):
    """Pushes to the first consumer of a Shared subscription only."""

    def eligible(self) -> list[Consumer]:
        """See `Subscription`."""
        return super().eligible()[:1]


@mutant("any-type", "SUB-11", second(0, 1), accept="INV-BROKER-27 SUB-05 INV-BROKER-28")
class AnyType(Session):
    """Takes consumers of another type."""

    def check_room(self, subscription: Subscription, kind: int) -> None:
        """See `Session`."""
        if subscription.kind == kind:
            super().check_room(subscription, kind)


def two_subscriptions(w: Writer) -> None:
    line, ear, pen = ready(w, sends=1)
    other = w.ear(line, "t", "ss", EXCLUSIVE, 2)
    w.flow(other, 100)
    w.send(pen)
    w.ack(ear, pushed(ear, -1))
    w.ping(line)
    back(w, other)


@mutant("one-subscription", "SUB-08", two_subscriptions, accept="SUB-05 SUB-01 SUB-02 SUB-12 SUB-11")
class OneSubscription(Session):
    """Knows a topic's subscriptions by their first letter."""

    def subscription_for(self, body: Message, topic: Topic) -> Subscription:
        """See `Session`."""
        return super().subscription_for({**body, "subscription": body["subscription"][:1]}, topic)


@mutant("acks-for-all", "ACK-06", two_subscriptions, accept="SUB-08 FLOW-04 E2E-01 CLC-03 MSG-03 SUB-09", history=True)
class AcksForAll(Subscription):
    """An ACK counts on every subscription of the topic."""

    def ack(self, at: int) -> None:
        """See `Subscription`."""
        super().ack(at)
        for other in self.topic.subscriptions.values():
            if other is not self and at not in other.acked and at >= other.mark:
                super(AcksForAll, other).ack(at)  # type: ignore[misc]


def away(w: Writer) -> None:
    """A message comes while nobody is there."""
    line, ear, pen = ready(w)
    w.close_ear(ear)
    w.send(pen)
    w.flow(w.ear(line, "t", "s"), 10)


@mutant("position-lost", "SUB-09", away, accept="FLOW-04 CLC-03 E2E-01 MSG-03 SUB-10 ACK-04", history=True)
class PositionLost(Session):
    """Forgets a subscription when its last consumer goes."""

    def forget_consumer(self, consumer: Consumer) -> None:
        """See `Session`."""
        super().forget_consumer(consumer)
        if not consumer.subscription.consumers:
            consumer.subscription.topic.subscriptions.pop(consumer.subscription.name, None)


def afterwards(w: Writer) -> None:
    """A message, and then a subscription."""
    line = w.line()
    w.send(w.pen(line, "t"))
    w.flow(w.ear(line, "t", "s"), 10)


@mutant("from-the-start", "SUB-10", afterwards, accept="E2E-02", level="ASSUMED")
class FromTheStart(Session):
    """Begins new subscriptions at the beginning."""

    def start_of(self, body: Message, topic: Topic) -> int:
        """See `Session`."""
        return 0


def named(w: Writer) -> None:
    w.ear(w.line(), "t", "s", SHARED, 1)
    w.ear(w.line(), "t", "s", SHARED, 0, "a")


@mutant("name-required", "SUB-12", named, accept="SUB-01 SUB-02")
class NameRequired(Session):
    """Wants consumers to have a name."""

    def open_consumer(self, body: Message) -> None:
        """See `Session`."""
        if not body.get("consumer_name"):
            raise Refused("UnknownError", "the consumer has no name")
        super().open_consumer(body)


def unsubscribed(w: Writer) -> None:
    """A subscription deleted while a message waits for it, and made anew."""
    line, ear, pen = ready(w, permits=0, sends=2)
    w.close_ear(ear, "UNSUBSCRIBE")
    w.send(pen)
    w.flow(w.ear(line, "t", "s"), 10)


@mutant("still-subscribed", "SUB-13", unsubscribed, accept="SUB-10 E2E-02", history=True)
class StillSubscribed(Session):
    """Keeps a subscription when it is unsubscribed."""

    def on_unsubscribe(self, body: Message) -> None:
        """See `Session`."""
        self.on_close_consumer(body)
