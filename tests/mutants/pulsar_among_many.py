"""Faults of a broker that show only where there is more than one or two of something."""

from __future__ import annotations

from impls.references.pulsar.reference import Broker, Consumer, Session, Subscription
from impls.references.pulsar.wire import Message
from specs.plan import Ref
from specs.pulsar.frames import draft
from strategies.pulsar.scenes import EARLIEST
from strategies.pulsar.writer import Writer
from tests.mutants.faults import on
from tests.mutants.pulsar_kit import SHARED, mutant, ready
from tests.mutants.pulsar_plays import acked, pushed


@mutant(
    "ack-closes-a-gap",
    "ACK-02",
    acked(0, 2),
    accept="FLOW-04 CLC-03 RED-01 RED-02 ACK-05 E2E-01 MSG-03 RED-05 ACK-03",
    history=True,
)
class AckClosesAGap(Session):
    """Takes what lies between two acknowledged messages for acknowledged."""

    def ack_one(self, subscription: Subscription, message_id: Message) -> None:
        super().ack_one(subscription, message_id)
        at = subscription.topic.find(message_id)
        if at is not None and at >= 2 and (at - 2 < subscription.mark or at - 2 in subscription.acked):
            subscription.ack(at - 1)


def three_fed(w: Writer) -> None:
    """Three consumers with one permit each, more for one of them, and more messages than that."""
    ears = [w.ear(w.line(), "t", "s", SHARED) for _ in range(3)]
    for ear in (*ears, ears[0]):
        w.flow(ear, 1)
    pen = w.pen(w.line(), "t")
    for _ in range(8):
        w.send(pen)


@mutant("permits-for-the-others", "FLOW-05", three_fed, accept="FLOW-02 FLOW-09", history=True)
class PermitsForTheOthers(Session):
    """FLOW for one of three consumers of a subscription grants a message to the others that have permits."""

    def on_flow(self, body: Message) -> None:
        super().on_flow(body)
        granted = self.consumers.get(body["consumer_id"])
        others = [] if granted is None else [each for each in granted.subscription.consumers if each is not granted]
        for other in others if len(others) > 1 else ():
            other.grant(other.permits > 0)
            other.subscription.wake()


def unnamed(w: Writer) -> None:
    for number in range(9):
        w.pen(w.line(), "t", number)


mutant("nine-names", "PROD-05", unnamed, accept="PROD-02 SEND-12 SEND-08", history=True)(
    "Makes up eight names of producers, and then the first again.",
    on(Broker, "producer_name").instead(lambda self: f"reference-{next(self._numbers) % 8}"),
)


def from_third(w: Writer) -> None:
    line, ear, _ = ready(w, sends=5)
    w.ping(line)
    w.say(line, draft("SEEK", request_id=w.request(line), consumer_id=ear.id, message_id=pushed(ear, 3)))
    line.ears.remove(ear)
    w.settle()
    w.flow(w.ear(line, "t", "s"), 10)


@mutant(
    "seek-passes-two", "SEEK-01", from_third, profile="modern", accept="FLOW-04 E2E-01 CLC-03 SUB-09 MSG-03",
    history=True,
)  # fmt: skip
class SeekPassesTwo(Session):
    """Begins two messages too late where a SEEK goes to the fourth or a later one."""

    def sought(self, subscription: Subscription, body: Message) -> int:
        at = super().sought(subscription, body)
        return at + 2 * (2 < at < len(subscription.topic.entries) - 1)


def counted_again(w: Writer) -> None:
    line, ear, _ = ready(w, SHARED, sends=2)
    w.redeliver(ear)
    w.ping(line)
    w.settle()
    w.say(line, draft("CONSUMER_STATS", request_id=w.request(line), consumer_id=ear.id))


@mutant("permits-for-redelivery-uncounted", "STAT-01", counted_again, profile="modern", history=True)
class RedeliveryUncounted(Session):
    """ConsumerStats does not count the permits that redeliveries used."""

    def on_consumer_stats(self, body: Message) -> None:
        consumer = self.consumers.get(body["consumer_id"])
        more = 0 if consumer is None else sum(consumer.subscription.again.values())
        for each in self.consumers.values():
            each.permits += more
        super().on_consumer_stats(body)
        for each in self.consumers.values():
            each.permits -= more


def part_and_back(w: Writer) -> None:
    line, ear, pen = ready(w, SHARED)
    w.send(pen, messages=3)
    w.settle()
    w.ack(ear, Ref("partly", (ear.line, ear.id, 0, 6, 3)))
    w.ping(line)
    w.settle()
    w.say(line, draft("SEEK", consumer_id=ear.id, request_id=w.request(line), message_id=EARLIEST))
    line.ears.remove(ear)
    w.settle()
    w.flow(w.ear(line, "t", "s", SHARED), 10)


@mutant("parts-outlive-a-seek", "ACK-12", part_and_back, accept="SEEK-01", profile="modern", history=True)
class PartsOutliveASeek(Subscription):
    """Does not forget at a SEEK which messages of a batch were acknowledged."""

    def rewind_to(self, start: int) -> None:
        left = getattr(self, "left", {})
        super().rewind_to(start)
        self.left = left


def again_twice(w: Writer) -> None:
    line, ear, _ = ready(w, SHARED, sends=2)
    for _ in range(2):
        w.ping(line)
        w.settle()
        w.redeliver(ear)
    w.wait()


@mutant("again-only-once", "RED-02", again_twice, accept="RED-01 E2E-01 FLOW-04", history=True)
class AgainOnlyOnce(Subscription):
    """Brings everything again once, and not a second time."""

    def redeliver(self, consumer: Consumer, wanted: list[int] | None) -> None:
        held = [at for at in consumer.pending if self.again.get(at, 0) < 2]
        super().redeliver(consumer, held if wanted is None else [at for at in wanted if at in held])
