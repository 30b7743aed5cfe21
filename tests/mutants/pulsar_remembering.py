"""Brokers that keep, forget or mix up what belongs to somebody who is gone, was refused, or is of another version."""

from __future__ import annotations

from typing import Any

from impls.references.pulsar.framing import simple
from impls.references.pulsar.publishing import Producer
from impls.references.pulsar.reference import Consumer, Session, Subscription, Topic
from impls.references.pulsar.wire import Message
from strategies.common import Op
from strategies.pulsar.aimed import MODERN, REMEMBERED
from strategies.pulsar.remembering import ROW_OF, remembers
from strategies.pulsar.scenes import part
from tests.mutants.pulsar_kit import Play, mutant


def remembered(scene: str, *args: int) -> Play:
    """One of the scenes of `strategies.pulsar.remembering`."""
    return lambda w: remembers(w, Op("remembers", (ROW_OF[scene], *args)), REMEMBERED)


@mutant("made-up-name-kept", "CLP-04", remembered("names", 0, 0, 0, 0), accept="PROD-02 PROD-09", history=True)
class MadeUpNameKept(Session):
    """A name that the broker made up stays taken when its producer is closed."""

    def new_producer(self, body: Message, topic: Topic) -> Producer:
        made = super().new_producer(body, topic)
        if not body.get("producer_name"):
            vars(topic).setdefault("made_up", set()).add(made.name)
        return made

    def close_when_done(self, producer: Producer) -> None:
        super().close_when_done(producer)
        if producer.name in vars(producer.topic).get("made_up", ()):
            producer.topic.producers[producer.name] = producer


@mutant(
    "dropped-for-nobody",
    "ACK-06",
    remembered("nobody", 0, 0, 0, 0),
    accept="E2E-01 FLOW-04 SUB-09 SUB-08",
    history=True,
)
class DroppedForNobody(Subscription):
    """What one subscription has acknowledged is dropped for those that have no consumer."""

    def ack(self, at: int) -> None:
        super().ack(at)
        for other in self.topic.subscriptions.values():
            for each in range(other.mark, 0 if other.consumers else self.mark):
                Subscription.ack(other, each)


@mutant("second-answer-after-a-refusal", "REQ-02", remembered("refused", 0, 0, 0, 0), accept="CLP-03", history=True)
class SecondAnswerAfterARefusal(Session):
    """CLOSE_PRODUCER is answered twice where a SEND of the producer was refused."""

    def send_error(self, body: Message, code: str, why: str) -> None:
        super().send_error(body, code, why)
        vars(self).setdefault("failed", set()).add(body["producer_id"])

    def close_when_done(self, producer: Producer) -> None:
        request = producer.closing
        super().close_when_done(producer)
        if producer.id in vars(self).get("failed", ()) and request is not None and producer.id in self.left:
            self.success(request)


@mutant("promotion-told-to-old-clients", "VER-01", remembered("untold", 0, 0, 1, 0), accept="VER-04",
        profile="modern", history=True)  # fmt: skip
class PromotionToldToOldClients(Subscription):
    """The consumer that takes over is told so, whatever version its client has."""

    def elect(self, joined: Consumer | None) -> None:
        before = self.active
        super().elect(joined)
        after = self.active
        if joined is None and after is not None and after is not before and after.session.version < 12:
            told: dict[str, Any] = {"consumer_id": after.id, "is_active": True}
            after.session.emit(simple(after.session.command("ACTIVE_CONSUMER_CHANGE", told)))


@mutant(
    "one-of-a-lost-connection", "CONN-12", remembered("together", 0, 0, 0, 0), accept="E2E-01 FLOW-04", history=True
)
class OneOfALostConnection(Session):
    """Of several consumers of a subscription on a lost connection only the first gives back what it holds."""

    def clean_up(self) -> None:
        seen = set()
        for consumer in self.consumers.values():
            if consumer.subscription in seen:
                consumer.pending.clear()
            seen.add(consumer.subscription)
        super().clean_up()


@mutant(
    "written-ids-are-others", "ACK-01", remembered("written", 0, 0, 7, 0), accept="ACK-03 RED-03 ACK-02", history=True
)
class WrittenIdsAreOthers(Topic):
    """A message id in which the partition is written is that of no message."""

    def find(self, message_id: Message) -> int | None:
        return None if message_id.get("partition") == -1 else super().find(message_id)


@mutant(
    "parts-replaced", "ACK-12", lambda w: part(w, Op("part", (3, 1, 1, 5, 0)), MODERN), profile="modern", history=True
)
class PartsReplaced(Subscription):
    """The second ACK of a part of a batch replaces the first."""

    def ack_some(self, at: int, words: list[int]) -> None:
        self.left.pop(at, None)
        super().ack_some(at, words)
