"""Faults of a broker: what newer ones are asked."""

from __future__ import annotations

from impls.references.pulsar.reference import Session
from impls.references.pulsar.wire import Message
from specs.pulsar.frames import draft
from strategies.pulsar.writer import Writer
from tests.mutants.faults import on
from tests.mutants.pulsar_kit import mutant, ready
from tests.mutants.pulsar_plays import pushed


def counted(w: Writer) -> None:
    line, ear, _ = ready(w, permits=7, sends=2)
    w.say(line, draft("CONSUMER_STATS", request_id=w.request(line), consumer_id=ear.id))


@mutant("permits-as-granted", "STAT-01", counted, profile="modern")
class PermitsAsGranted(Session):
    """Answers ConsumerStats with what was granted, not with what is left."""

    def on_consumer_stats(self, body: Message) -> None:
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


mutant("seek-goes-nowhere", "SEEK-01", sought, profile="modern", accept="FLOW-04 E2E-01 CLC-03 SUB-09", history=True)(
    "Closes the consumers and leaves the subscription at its end.",
    on(Session, "sought").instead(lambda subscription: len(subscription.topic.entries)),
)
