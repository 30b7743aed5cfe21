"""Faults of a broker: acknowledgements."""

from __future__ import annotations

from impls.references.pulsar.reference import Consumer, Session, Subscription
from impls.references.pulsar.wire import Message
from strategies.pulsar.writer import Writer
from tests.mutants.pulsar_kit import mutant, ready
from tests.mutants.pulsar_plays import GONE, acked, back, pushed

# -- acknowledging -----------------------------------------------------------------------------------------------------


@mutant("acks-forgotten", "ACK-01", acked(0, 1), accept=f"{GONE} SUB-10 SUB-13", history=True)
class AcksForgotten(Session):
    """Forgets what was acknowledged when a consumer closes."""

    def forget_consumer(self, consumer: Consumer) -> None:
        """See `Session`."""
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
    "cumulative-and-the-next",
    "ACK-03",
    acked(1, cumulative=True),
    accept="FLOW-03 FLOW-04 CLC-03 E2E-01 MSG-03 RED-05 SEND-12",
    history=True,
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
        self.success(body.get("request_id", 777))


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
