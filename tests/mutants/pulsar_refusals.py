"""Brokers that refuse for another reason than the true one, or not at all what they need not answer twice."""

from __future__ import annotations

from typing import Any

from impls.references.pulsar.connection import Refused
from impls.references.pulsar.reference import Producer, Session, Subscription, Topic
from impls.references.pulsar.wire import Message
from specs.pulsar.frames import draft
from strategies.pulsar.writer import Writer
from tests.mutants.faults import has, on
from tests.mutants.pulsar_aftermath import then
from tests.mutants.pulsar_kit import EXCLUSIVE, FAILOVER, mutant
from tests.mutants.pulsar_living import producers
from tests.mutants.pulsar_plays import acked
from tests.mutants.pulsar_producing import closed
from tests.mutants.pulsar_subscribing import second

mutant(
    "name-taken-for-a-missing-topic", "INV-BROKER-25", producers("p", "p", slots=2), profile="modern", level="SHOULD"
)(
    "Says of a producer name that is taken that there is no such topic.",
    on(Session, "new_producer").raises(
        lambda: Refused("TopicNotFound", "the name is taken"),
        when=lambda body, topic: body.get("producer_name", "") in topic.producers,
    ),
)


class Misnaming(Session):
    """Says of a subscription with no room that there is no such one."""

    alike = True

    def check_room(self, subscription: Subscription, kind: int) -> None:
        try:
            super().check_room(subscription, kind)
        except Refused as refused:
            if (subscription.kind == kind == EXCLUSIVE) is self.alike:
                raise Refused("SubscriptionNotFound", "there is no room") from refused
            raise


mutant("exclusive-called-missing", "INV-BROKER-27", second(0, 0), profile="modern", level="SHOULD")(
    "Says of an Exclusive subscription that is taken that there is none.", Misnaming
)
mutant("other-type-called-missing", "INV-BROKER-28", second(0, 1), profile="modern", level="SHOULD")(
    "Says of a subscription of another type that there is none.", has(Misnaming, alike=False)
)


@mutant("second-of-two-unanswered", "INV-BROKER-24", then("pending"), level="SHOULD",
        accept="INV-BROKER-23", output_delay_ms=20)  # fmt: skip
class SecondOfTwoUnanswered(Session):
    """Does not answer a PRODUCER whose id is in use."""

    def on_producer(self, body: Message) -> None:
        if body["producer_id"] not in self.producers:
            super().on_producer(body)


def once_alive(w: Writer) -> None:
    """A client that answers one PING, and then nothing."""
    line = w.line()
    w.ping(line)
    w.wait(w.config.keepalive_ms)
    w.say(line, draft("PONG"))
    w.wait(w.config.keepalive_ms * 2 + 20_000)


@mutant("once-alive-for-ever", "INV-BROKER-43", once_alive, accept="KA-04", history=True)
class OnceAliveForEver(Session):
    """Never gives a client up that has answered a PING."""

    answered = False

    def on_pong(self, body: Message) -> None:
        self.answered = True
        super().on_pong(body)

    def tick(self) -> None:
        if self.answered:
            self.probed = None
        super().tick()


# -- what is right is refused, ended or told to the wrong ones ---------------------------------------------------------


@mutant("one-producer-each", "PROD-02", producers("p", "q"))
class OneProducerEach(Session):
    """Refuses the second producer of a topic."""

    def new_producer(self, body: Message, topic: Topic) -> Any:
        """See `Session`."""
        if topic.producers:
            raise Refused("MetadataError", "there is one")
        return super().new_producer(body, topic)


@mutant("close-unanswered", "CLP-03", closed)
class CloseUnanswered(Session):
    """Does not answer CLOSE_PRODUCER."""

    def close_when_done(self, producer: Producer) -> None:
        """See `Session`."""


@mutant("ends-at-a-second-ack", "ACK-05", acked(0, 0), accept="INV-BROKER-34", history=True)
class EndsAtASecondAck(Session):
    """Ends the connection at an ACK of what is acknowledged."""

    def ack_one(self, subscription: Subscription, message_id: Message) -> None:
        """See `Session`."""
        at = subscription.topic.find(message_id)
        if at is not None and (at < subscription.mark or at in subscription.acked):
            self.end()
        else:
            super().ack_one(subscription, message_id)


def older(w: Writer) -> None:
    """A Failover consumer on a connection of version 11."""
    w.ear(w.line(0, 11), "t", "s", FAILOVER)
    w.wait()


@mutant("changes-told-to-all", "VER-01", older, profile="modern")
class ChangesToldToAll(Session):
    """Tells clients of every version which consumer is active."""

    def can_hear(self, name: str) -> bool:
        """See `Connection`."""
        return name == "ACTIVE_CONSUMER_CHANGE" or super().can_hear(name)
