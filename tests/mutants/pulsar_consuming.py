"""Brokers that are wrong about consumers: subscriptions, permits, deliveries, acknowledgements, redelivery."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from impls.pulsar.reference import Consumer, Entry, Refused, Session, Subscription, Topic
from impls.pulsar.wire import Message
from specs.plan import Ref
from specs.pulsar.frames import draft
from strategies.pulsar.writer import Ear, Writer
from tests.mutants.pulsar_kit import EXCLUSIVE, FAILOVER, SHARED, mutant, ready

GONE = "ACK-01 ACK-04 ACK-02 ACK-05 ACK-06 RED-03"


def pushed(ear: Ear, which: int) -> Ref:
    """The id of the nth message that was pushed to a consumer."""
    return Ref("pushed", (ear.line, ear.id, which))


def back(w: Writer, ear: Ear, kind: int = EXCLUSIVE, permits: int = 100, **given: Any) -> Ear:
    """Close a consumer and subscribe again."""
    line = w.of(ear.line)
    w.ping(line)
    w.close_ear(ear)
    new = w.ear(line, ear.topic, ear.sub, kind, **given)
    w.flow(new, permits)
    return new


def acked(*which: int, cumulative: bool = False, sends: int = 4, kind: int = EXCLUSIVE, **fields: Any) -> Any:
    """Messages, an ACK for some of them, and the subscription again."""

    def play(w: Writer) -> None:
        _, ear, _ = ready(w, kind, sends=sends)
        w.ping(w.of(ear.line))
        for each in which:
            w.ack(ear, pushed(ear, each), cumulative=cumulative, **fields)
        back(w, ear, kind)

    return play


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


@mutant("shared-to-all", "SUB-07", second(1, 1), accept="E2E-03 MSG-01 FLOW-02 FLOW-01")
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
    line, ear, pen = ready(w, sends=1)
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


# -- failover ----------------------------------------------------------------------------------------------------------


def masters(*names: str, sends: int = 3, leaves: int | None = None) -> Any:
    """Failover consumers with these names, and messages; then one of them leaves."""

    def play(w: Writer) -> None:
        line = w.line()
        pen = w.pen(line, "t")
        ears = [w.ear(line, "t", "s", FAILOVER, number, name) for number, name in enumerate(names)]
        for ear in ears:
            w.flow(ear, 10)
        for _ in range(sends):
            w.send(pen)
        if leaves is not None:
            w.ping(line)
            w.close_ear(ears[leaves])

    return play


@mutant("failover-in-turns", "FAIL-01", masters("a", "b"), accept="FAIL-02 MSG-03")
class FailoverInTurns(Subscription):
    """Pushes to the consumers of a Failover subscription in turns."""

    def eligible(self) -> list[Consumer]:
        """See `Subscription`."""
        return self.consumers if self.kind == FAILOVER else super().eligible()


@mutant("last-by-name", "FAIL-02", masters("a", "b"), accept="FAIL-01")
class LastByName(Subscription):
    """Makes the last by name the master."""

    def choose_active(self) -> Consumer:
        """See `Subscription`."""
        return max(self.consumers, key=self.sort_name)


@mutant("first-to-come", "FAIL-02", masters("b", "a"), accept="FAIL-01", history=True)
class FirstToCome(Subscription):
    """Keeps the master that it has, whoever comes."""

    def choose_active(self) -> Consumer:
        """See `Subscription`."""
        return self.active if self.active in self.consumers else super().choose_active()


@mutant(
    "names-in-any-case",
    "FAIL-02",
    masters("B", "a", sends=2),
    accept="FAIL-01",
    history=True,
    unseen="Nobody says in which alphabet names are sorted.",
)
class NamesInAnyCase(Subscription):
    """Sorts names of consumers whatever their case."""

    def sort_name(self, consumer: Consumer) -> bytes:
        """See `Subscription`."""
        return consumer.name.lower().encode()


@mutant(
    "nobody-takes-over", "FAIL-03", masters("a", "b", leaves=0), accept="FAIL-01 FLOW-04 CLC-03 E2E-01", history=True
)
class NobodyTakesOver(Subscription):
    """Chooses no other master when one leaves."""

    def elect(self, joined: Consumer | None) -> None:
        """See `Subscription`."""
        if joined is not None or self.kind != FAILOVER:
            super().elect(joined)


@mutant(
    "taken-over-without-the-rest",
    "FAIL-03",
    masters("a", "b", leaves=0),
    accept="CLC-03 FLOW-04 E2E-01 FAIL-01",
    history=True,
)
class TakenOverWithoutTheRest(Subscription):
    """What the old master did not acknowledge is lost."""

    def release(self, listed: Iterable[int]) -> None:
        """See `Subscription`."""
        if self.kind != FAILOVER:
            super().release(listed)


@mutant("all-are-active", "FAIL-04", masters("a", "b"), profile="modern", accept="FAIL-01")
class AllAreActive(Session):
    """Tells every consumer that it is the active one."""

    def tell_active(self, consumer: Consumer, active: bool) -> None:
        """See `Session`."""
        super().tell_active(consumer, True)


@mutant(
    "nobody-is-told",
    "FAIL-04",
    masters("a", "b"),
    profile="modern",
    accept="FAIL-01",
)
class NobodyIsTold(Session):
    """Tells nobody who is active."""

    def tell_active(self, consumer: Consumer, active: bool) -> None:
        """See `Session`."""


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
        """See `Consumer`."""
        return self.permits > -1 if self.pushed else super().permitted


@mutant("one-too-many-later", "FLOW-02", permitted(1, 1, 1), accept="FLOW-03", history=True)
class OneTooManyLater(Consumer):
    """Every third FLOW grants one more than it says."""

    flows = 0

    def grant(self, permits: int) -> None:
        """See `Consumer`."""
        self.flows += 1
        super().grant(permits + (self.flows % 3 == 0))


def granted_twice(w: Writer) -> None:
    _, ear, pen = ready(w, permits=2)
    w.flow(ear, 2)
    for _ in range(4):
        w.send(pen)


@mutant("flow-replaces", "FLOW-03", granted_twice, accept="FLOW-04", history=True)
class FlowReplaces(Consumer):
    """FLOW replaces what is left."""

    def grant(self, permits: int) -> None:
        """See `Consumer`."""
        self.permits = permits


@mutant("flow-of-16-bits", "FLOW-03", permitted(65536), accept="FLOW-04")
class FlowOf16Bits(Consumer):
    """Keeps 16 bits of what is permitted."""

    def grant(self, permits: int) -> None:
        """See `Consumer`."""
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
        """See `Session`."""
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
        """See `Session`."""
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
        """See `Session`."""
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
        """See `Session`."""
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


@mutant("batch-takes-one", "FLOW-09", batches, accept="FLOW-02", level="ASSUMED", history=True)
class BatchTakesOne(Subscription):
    """A batch uses one permit."""

    def messages_in(self, at: int, entry: Entry) -> int:
        """See `Subscription`."""
        return 1


# -- deliveries --------------------------------------------------------------------------------------------------------


def wide(w: Writer) -> None:
    line = w.line()
    w.ids = 1
    w.flow(w.ear(line, "t", "s", EXCLUSIVE, 12), 5)
    w.send(w.pen(line, "t", 12))


@mutant("consumer-ids-of-32-bits", "MSG-01", wide, accept="FLOW-04 FLOW-01 E2E-01")
class NarrowConsumers(Session):
    """Keeps 32 bits of consumer ids in MESSAGE."""

    def say_message(self, body: Message, block: bytes, checksum: int | None) -> None:
        """See `Connection`."""
        super().say_message({**body, "consumer_id": body["consumer_id"] & 0xFFFFFFFF}, block, checksum)


def fifth(w: Writer) -> None:
    ready(w, sends=6)


@mutant("fifth-left-out", "MSG-03", fifth, accept="FLOW-04 E2E-01", history=True)
class FifthLeftOut(Subscription):
    """Leaves every fifth message out."""

    def next_entry(self) -> int | None:
        """See `Subscription`."""
        at = super().next_entry()
        if at is not None and at == self.fresh and at % 5 == 4:
            self.ack(at)
            return super().next_entry()
        return at


@mutant("fourth-twice", "E2E-03", fifth, accept="MSG-03 SUB-07 FLOW-02", history=True)
class FourthTwice(Subscription):
    """Pushes every fourth message twice."""

    def push(self, consumer: Consumer, at: int) -> None:
        """See `Subscription`."""
        super().push(consumer, at)
        if at % 4 == 3:
            consumer.session.deliver(consumer, self.topic.entries[at], 0, [])


# -- acknowledging -----------------------------------------------------------------------------------------------------


@mutant("acks-forgotten", "ACK-01", acked(0, 1), accept=GONE, history=True)
class AcksForgotten(Session):
    """Forgets what was acknowledged when a consumer closes."""

    def forget_consumer(self, consumer: Consumer) -> None:
        """See `Session`."""
        super().forget_consumer(consumer)
        subscription = consumer.subscription
        if not subscription.consumers:
            subscription.rewind_to(0)


@mutant(
    "individual-is-cumulative", "ACK-02", acked(2), accept="FLOW-04 CLC-03 ACK-01 MSG-03 E2E-01 ACK-04", history=True
)
class IndividualIsCumulative(Session):
    """Takes every ACK for cumulative."""

    def ack_one(self, subscription: Subscription, message_id: Message) -> None:
        """See `Session`."""
        at = self.named(subscription, message_id)
        if at is not None:
            subscription.ack_upto(at)


@mutant("cumulative-is-individual", "ACK-03", acked(2, cumulative=True), accept=GONE, history=True)
class CumulativeIsIndividual(Session):
    """Takes no ACK for cumulative."""

    def ack_upto(self, subscription: Subscription, message_id: Message) -> None:
        """See `Session`."""
        self.ack_one(subscription, message_id)


@mutant("cumulative-but-itself", "ACK-03", acked(2, cumulative=True), accept=GONE, history=True)
class CumulativeButItself(Session):
    """A cumulative ACK acknowledges what is before the message that it names."""

    def ack_upto(self, subscription: Subscription, message_id: Message) -> None:
        """See `Session`."""
        at = self.named(subscription, message_id)
        if at is not None:
            subscription.ack_upto(at - 1)


@mutant(
    "cumulative-and-the-next", "ACK-03", acked(1, cumulative=True), accept="FLOW-04 CLC-03 E2E-01 MSG-03", history=True
)
class CumulativeAndTheNext(Subscription):
    """A cumulative ACK acknowledges the message behind the one that it names, too."""

    def ack_upto(self, at: int) -> None:
        """See `Subscription`."""
        super().ack_upto(at + 2)


@mutant(
    "second-ack-takes-the-next",
    "ACK-05",
    acked(0, 0),
    accept="RED-05 FLOW-04 CLC-03 E2E-01 ACK-02 MSG-03",
    history=True,
)
class SecondAckTakesTheNext(Session):
    """An ACK of what is acknowledged acknowledges the next message."""

    def ack_one(self, subscription: Subscription, message_id: Message) -> None:
        """See `Session`."""
        at = subscription.topic.find(message_id)
        if at is not None and (at < subscription.mark or at in subscription.acked):
            subscription.ack(subscription.mark)
        else:
            super().ack_one(subscription, message_id)


@mutant("reasons-not-taken", "ACK-08", acked(0, validation_error=2), accept=GONE, history=True)
class ReasonsNotTaken(Session):
    """Takes an ACK with a validation error for a refusal."""

    def on_ack(self, body: Message) -> None:
        """See `Session`."""
        if "validation_error" not in body:
            super().on_ack(body)


@mutant("ack-answered", "ACK-09", acked(0), accept="REQ-02 SUB-01 CLC-01 REQ-01")
class AckAnswered(Session):
    """Answers ACK with SUCCESS."""

    def on_ack(self, body: Message) -> None:
        """See `Session`."""
        super().on_ack(body)
        self.success(body.get("request_id", 0))


@mutant("ack-unanswered", "ACK-10", acked(0, request_id=9), profile="modern", accept="REQ-02")
class AckUnanswered(Session):
    """Answers no ACK, whatever it asks."""

    def on_ack(self, body: Message) -> None:
        """See `Session`."""
        super().on_ack({name: value for name, value in body.items() if name != "request_id"})


def listed(w: Writer) -> None:
    _, ear, _ = ready(w, sends=3)
    w.ping(w.of(ear.line))
    w.ack(ear, pushed(ear, 0), pushed(ear, 1))
    back(w, ear)


@mutant("first-of-the-list", "ACK-11", listed, profile="modern", accept=GONE, history=True)
class FirstOfTheList(Session):
    """Reads the first id of an ACK."""

    def acknowledge(self, consumer: Consumer, body: Message) -> None:
        """See `Session`."""
        super().acknowledge(consumer, {**body, "message_id": body.get("message_id", [])[:1]})


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


@mutant("nothing-comes-again", "RED-01", redelivered(), accept="RED-04 RED-05", history=True)
class NothingComesAgain(Subscription):
    """Does nothing when everything is asked for."""

    def redeliver(self, consumer: Consumer, wanted: list[int] | None) -> None:
        """See `Subscription`."""
        if wanted is not None:
            super().redeliver(consumer, wanted)


@mutant("all-but-the-first", "RED-01", redelivered(), accept="RED-05 RED-04", history=True)
class AllButTheFirst(Subscription):
    """Leaves out the oldest message that is not acknowledged."""

    def release(self, listed: Iterable[int]) -> None:
        """See `Subscription`."""
        kept = list(listed)
        super().release(kept[1:] if self.consumers else kept)


@mutant("list-unread", "RED-02", redelivered(kind=SHARED, which=(1,)), accept="RED-03 E2E-03 SUB-07", history=True)
class ListUnread(Subscription):
    """Pushes everything again, whatever is listed."""

    def redeliver(self, consumer: Consumer, wanted: list[int] | None) -> None:
        """See `Subscription`."""
        super().redeliver(consumer, None)


@mutant("acked-comes-again", "RED-03", redelivered(1, kind=SHARED), accept=GONE, history=True)
class AckedComesAgain(Subscription):
    """Pushes again what is acknowledged."""

    def redeliver(self, consumer: Consumer, wanted: list[int] | None) -> None:
        """See `Subscription`."""
        super().redeliver(consumer, wanted)
        for at in list(self.acked):
            consumer.session.deliver(consumer, self.topic.entries[at], 1, [])
            consumer.permits -= 1


@mutant("newest-again-first", "RED-05", redelivered(), accept="MSG-03", history=True)
class NewestAgainFirst(Subscription):
    """Pushes the newest first when it pushes again."""

    def next_released(self) -> int:
        """See `Subscription`."""
        return self.released[-1]


@mutant("again-for-nothing", "RED-06", redelivered(permits=4), accept="FLOW-02 FLOW-01", history=True)
class AgainForNothing(Subscription):
    """What comes again needs no permit."""

    def push(self, consumer: Consumer, at: int) -> None:
        """See `Subscription`."""
        again = self.again.get(at, 0)
        super().push(consumer, at)
        if again:
            consumer.permits += 1

    def release(self, listed: Iterable[int]) -> None:
        """See `Subscription`."""
        kept = list(listed)
        for at in kept:
            if at in self.pending:
                self.pending[at].permits += 1
        super().release(kept)


@mutant("not-counted", "RED-07", redelivered(kind=SHARED), profile="modern", level="SHOULD", history=True)
class NotCounted(Session):
    """Does not say that a message came before."""

    def deliver(self, consumer: Consumer, entry: Entry, again: int, ack_set: list[int]) -> None:
        """See `Session`."""
        super().deliver(consumer, entry, 0, ack_set)


# -- closing -----------------------------------------------------------------------------------------------------------


def left(w: Writer) -> None:
    _, ear, _ = ready(w, sends=3)
    back(w, ear)


@mutant("closed-with-the-rest", "CLC-03", left, accept="FLOW-04 E2E-01 SUB-09 ACK-04", history=True)
class ClosedWithTheRest(Subscription):
    """What a closed consumer did not acknowledge is lost."""

    def leave(self, consumer: Consumer) -> None:
        """See `Subscription`."""
        for at in list(consumer.pending):
            self.ack(at)
        super().leave(consumer)


def pushing(w: Writer) -> None:
    _, ear, pen = ready(w)
    w.close_ear(ear)
    w.send(pen)


@mutant("closed-but-pushed-to", "CLC-01", pushing, accept="MSG-01 FLOW-01 FLOW-06", history=True)
class ClosedButPushedTo(Session):
    """Pushes on to a closed consumer."""

    def forget_consumer(self, consumer: Consumer) -> None:
        """See `Session`."""
        if consumer.permits <= 0 or self.hung:
            super().forget_consumer(consumer)


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
        """See `Session`."""
        super().on_close_consumer(body)
        for other in [*self.broker.sessions.values()]:
            consumer = other.consumers.get(body["consumer_id"])
            if consumer is not None:
                other.forget_consumer(consumer)


def counted(w: Writer) -> None:
    line, ear, _ = ready(w, permits=7, sends=2)
    w.say(line, draft("CONSUMER_STATS", request_id=w.request(line), consumer_id=ear.id))


@mutant("permits-as-granted", "STAT-01", counted, profile="modern")
class PermitsAsGranted(Session):
    """Answers ConsumerStats with what was granted, not with what is left."""

    def on_consumer_stats(self, body: Message) -> None:
        """See `Session`."""
        for consumer in self.consumers.values():
            consumer.permits += consumer.pushed
        super().on_consumer_stats(body)
        for consumer in self.consumers.values():
            consumer.permits -= consumer.pushed


def last(w: Writer) -> None:
    line, ear, _ = ready(w, sends=2)
    w.say(line, draft("GET_LAST_MESSAGE_ID", request_id=w.request(line), consumer_id=ear.id))


@mutant("last-but-one", "LAST-01", last, profile="modern", history=True)
class LastButOne(Session):
    """Answers GetLastMessageId with the message before the last."""

    def on_get_last_message_id(self, body: Message) -> None:
        """See `Session`."""
        topics = [consumer.subscription.topic for consumer in self.consumers.values()]
        kept = [topic.entries[:] for topic in topics]
        for topic in topics:
            del topic.entries[-1:]
        super().on_get_last_message_id(body)
        for topic, entries in zip(topics, kept, strict=True):
            topic.entries[:] = entries


def sought(w: Writer) -> None:
    line, ear, _ = ready(w, sends=3)
    w.ping(line)
    number = w.request(line)
    w.say(line, draft("SEEK", request_id=number, consumer_id=ear.id, message_id=pushed(ear, 0)))
    line.ears.remove(ear)
    w.settle()
    w.flow(w.ear(line, "t", "s"), 10)


@mutant(
    "seek-goes-nowhere",
    "SEEK-01",
    sought,
    profile="modern",
    accept="FLOW-04 E2E-01 CLC-03 SUB-09",
    unseen="what comes after it is not missed",
    history=True,
)
class SeekGoesNowhere(Session):
    """Closes the consumers and leaves the subscription at its end."""

    def sought(self, subscription: Subscription, body: Message) -> int:
        """See `Session`."""
        return len(subscription.topic.entries)
