"""Faults of a broker: acknowledgements."""

from __future__ import annotations

from impls.references.pulsar.reference import Consumer, Session, Subscription
from impls.references.pulsar.wire import Message
from strategies.pulsar.writer import Writer
from tests.mutants.faults import on, without
from tests.mutants.pulsar_kit import mutant, ready
from tests.mutants.pulsar_plays import GONE, acked, back, pushed

# -- acknowledging -----------------------------------------------------------------------------------------------------


@mutant("acks-forgotten", "ACK-01", acked(0, 1), accept=f"{GONE} SUB-10 SUB-13", history=True)
class AcksForgotten(Session):
    """Forgets what was acknowledged when a consumer closes."""

    def forget_consumer(self, consumer: Consumer) -> None:
        super().forget_consumer(consumer)
        subscription = consumer.subscription
        if not subscription.consumers:
            subscription.rewind_to(0)


@mutant(
    "individual-is-cumulative",
    "ACK-02",
    acked(2),
    accept="FLOW-04 CLC-03 ACK-01 MSG-03 E2E-01 ACK-04 RED-05",
    history=True,
)
class IndividualIsCumulative(Session):
    """Takes every ACK for cumulative."""

    def ack_one(self, subscription: Subscription, message_id: Message) -> None:
        at = self.named(subscription, message_id)
        if at is not None:
            subscription.ack_upto(at)


@mutant(
    "begins-behind-the-highest",
    "ACK-02",
    acked(2),
    accept="FLOW-04 CLC-03 ACK-01 MSG-03 E2E-01 ACK-04 RED-05 SUB-09",
    history=True,
)
class BeginsBehindTheHighest(Subscription):
    """A subscription that was left by all begins behind the last message that was acknowledged, whatever was not."""

    def join(self, consumer: Consumer) -> None:
        if self.acked and not self.consumers:
            self.ack_upto(max(self.acked))
        super().join(consumer)


mutant("cumulative-is-individual", "ACK-03", acked(2, cumulative=True), accept=GONE, history=True)(
    "Takes no ACK for cumulative.",
    on(Session, "ack_upto").instead(lambda self, subscription, message_id: self.ack_one(subscription, message_id)),
)


@mutant("cumulative-but-itself", "ACK-03", acked(2, cumulative=True), accept=GONE, history=True)
class CumulativeButItself(Session):
    """A cumulative ACK acknowledges what is before the message that it names."""

    def ack_upto(self, subscription: Subscription, message_id: Message) -> None:
        at = self.named(subscription, message_id)
        if at is not None:
            subscription.ack_upto(at - 1)


mutant(
    "cumulative-and-the-next",
    "ACK-03",
    acked(1, cumulative=True),
    accept="FLOW-03 FLOW-04 CLC-03 E2E-01 MSG-03 RED-05 SEND-12",
    history=True,
)(
    "A cumulative ACK acknowledges the message behind the one that it names, too.",
    on(Subscription, "ack_upto").takes(at=lambda at: at + 2),
)


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
        at = subscription.topic.find(message_id)
        if at is not None and (at < subscription.mark or at in subscription.acked):
            subscription.ack(subscription.mark)
        else:
            super().ack_one(subscription, message_id)


mutant("reasons-not-taken", "ACK-08", acked(0, validation_error=2), accept=GONE, history=True)(
    "Takes an ACK with a validation error for a refusal.",
    on(Session, "on_ack").skips(when=lambda body: "validation_error" in body),
)
mutant("ack-answered", "ACK-09", acked(0), accept="REQ-02 SUB-01 CLC-01 REQ-01")(
    "Answers ACK with SUCCESS.",
    on(Session, "on_ack").after(lambda self, body: self.success(body.get("request_id", 777))),
)
mutant("ack-unanswered", "ACK-10", acked(0, request_id=9), profile="modern", accept="REQ-02")(
    "Answers no ACK, whatever it asks.", on(Session, "on_ack").takes(body=lambda body: without(body, "request_id"))
)


def listed(w: Writer) -> None:
    _, ear, _ = ready(w, sends=3)
    w.ping(w.of(ear.line))
    w.ack(ear, pushed(ear, 0), pushed(ear, 1))
    back(w, ear)


mutant("first-of-the-list", "ACK-11", listed, profile="modern", accept=GONE, history=True)(
    "Reads the first id of an ACK.",
    on(Session, "acknowledge").takes(body=lambda body: {**body, "message_id": body.get("message_id", [])[:1]}),
)
