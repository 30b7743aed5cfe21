"""Faults of a broker: who may consume, and where a subscription begins."""

from __future__ import annotations

from typing import Any

from impls.references.pulsar.asked import Taken
from impls.references.pulsar.reference import Consumer, Refused, Session, Subscription
from strategies.pulsar.writer import Writer
from tests.mutants.faults import on
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


mutant("two-exclusive", "SUB-05", second(0, 0), accept="INV-BROKER-26 INV-BROKER-27 E2E-03")(
    "Takes a second Exclusive consumer.", on(Session, "check_room").skips(when=lambda kind: kind == EXCLUSIVE)
)


@mutant("refused-but-first-ends", "SUB-06", second(0, 0), accept="FLOW-04 MSG-03 SUB-05 E2E-01", history=True)
class RefusedButFirstEnds(Session):
    """Hears the first Exclusive consumer no more once it has refused a second one."""

    def check_room(self, subscription: Subscription, kind: int) -> None:
        try:
            super().check_room(subscription, kind)
        except Refused:
            subscription.active = None
            raise


@mutant("shared-to-all", "SUB-07", second(1, 1), accept="E2E-03 MSG-01 FLOW-02 FLOW-01 FLOW-05")
class SharedToAll(Subscription):
    """Pushes to every consumer of a Shared subscription."""

    def push(self, consumer: Consumer, at: int) -> None:
        super().push(consumer, at)
        for other in self.consumers:
            if other is not consumer and self.kind == SHARED:
                other.session.deliver(other, self.topic.entries[at], 0, [])


def starved(w: Writer) -> None:
    """The first consumer without permits, the second one with."""
    _, _, pen = ready(w, SHARED, permits=0)
    w.flow(w.ear(w.line(1), "t", "s", SHARED, 2), 5)
    w.send(pen)


mutant("shared-to-one", "SUB-07", starved, accept="FLOW-04 FLOW-05 SUB-08 E2E-01")(
    "Pushes to the first consumer of a Shared subscription only.",
    on(Subscription, "eligible").gives(lambda found: found[:1]),
)


def refused_and_gone(w: Writer) -> None:
    """Whoever was refused hangs up, and another one comes."""
    w.slots = 3
    ready(w)
    w.ear(w.line(1), "t", "s", EXCLUSIVE, keep=False)
    w.settle()
    w.hang(1)
    w.ear(w.line(2), "t", "s", EXCLUSIVE, keep=False)


@mutant("refused-leaves-it-open", "SUB-05", refused_and_gone, accept="INV-BROKER-27 SUB-06 E2E-03", history=True)
class RefusedLeavesItOpen(Session):
    """When a connection ends on which an Exclusive consumer was refused, another one is taken beside the first."""

    def check_room(self, subscription: Subscription, kind: int) -> None:
        if vars(subscription).pop("unlocked", False):
            return
        try:
            super().check_room(subscription, kind)
        except Taken:
            vars(self).setdefault("refused", []).append(subscription)
            raise

    def clean_up(self) -> None:
        for subscription in vars(self).pop("refused", []):
            vars(subscription)["unlocked"] = bool(subscription.consumers)
        super().clean_up()


mutant("any-type", "SUB-11", second(0, 1), accept="INV-BROKER-27 SUB-05 INV-BROKER-28")(
    "Takes consumers of another type.",
    on(Session, "check_room").skips(when=lambda subscription, kind: subscription.kind != kind),
)


def two_subscriptions(w: Writer) -> None:
    line, ear, pen = ready(w, sends=1)
    other = w.ear(line, "t", "ss", EXCLUSIVE, 2)
    w.flow(other, 100)
    w.send(pen)
    w.ack(ear, pushed(ear, -1))
    w.ping(line)
    back(w, other)


mutant("one-subscription", "SUB-08", two_subscriptions, accept="SUB-05 SUB-01 SUB-02 SUB-12 SUB-11")(
    "Knows a topic's subscriptions by their first letter.",
    on(Session, "subscription_for").takes(body=lambda body: {**body, "subscription": body["subscription"][:1]}),
)


@mutant("acks-for-all", "ACK-06", two_subscriptions, accept="SUB-08 FLOW-04 E2E-01 CLC-03 MSG-03 SUB-09", history=True)
class AcksForAll(Subscription):
    """An ACK counts on every subscription of the topic."""

    def ack(self, at: int) -> None:
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


mutant("position-lost", "SUB-09", away, accept="FLOW-04 CLC-03 E2E-01 MSG-03 SUB-10 ACK-04", history=True)(
    "Forgets a subscription when its last consumer goes.",
    on(Session, "forget_consumer").after(
        lambda consumer: consumer.subscription.topic.subscriptions.pop(consumer.subscription.name, None),
        when=lambda consumer: not consumer.subscription.consumers,
    ),
)


def afterwards(w: Writer) -> None:
    """A message, and then a subscription."""
    line = w.line()
    w.send(w.pen(line, "t"))
    w.flow(w.ear(line, "t", "s"), 10)


mutant("from-the-start", "SUB-10", afterwards, accept="E2E-02", level="ASSUMED")(
    "Begins new subscriptions at the beginning.", on(Session, "start_of").instead(lambda: 0)
)


def named(w: Writer) -> None:
    w.ear(w.line(), "t", "s", SHARED, 1)
    w.ear(w.line(), "t", "s", SHARED, 0, "a")


mutant("name-required", "SUB-12", named, accept="SUB-01 SUB-02")(
    "Wants consumers to have a name.",
    on(Session, "open_consumer").raises(
        lambda: Refused("UnknownError", "the consumer has no name"), when=lambda body: not body.get("consumer_name")
    ),
)


def unsubscribed(w: Writer) -> None:
    """A subscription deleted while a message waits for it, and made anew."""
    line, ear, pen = ready(w, permits=0, sends=2)
    w.close_ear(ear, "UNSUBSCRIBE")
    w.send(pen)
    w.flow(w.ear(line, "t", "s"), 10)


mutant("still-subscribed", "SUB-13", unsubscribed, accept="SUB-10 E2E-02", history=True)(
    "Keeps a subscription when it is unsubscribed.",
    on(Session, "on_unsubscribe").instead(lambda self, body: self.on_close_consumer(body)),
)
