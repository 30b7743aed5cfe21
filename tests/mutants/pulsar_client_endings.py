"""Faults of a client: a connection that is lost again, a consumer that ends as a message comes, a producer that is not
ready yet."""

from __future__ import annotations

from impls.references.pulsar.channel import Channel
from impls.references.pulsar.sending import Outgoing, Sender
from impls.references.pulsar.wire import Message
from tests.mutants.faults import without
from tests.mutants.pulsar_client_parts import client

LOST_AGAIN = ("interpret", (2, 2, 0), ("drop", 0, 7, 0, 0, 0))
CROSSED = ("interpret", (2, 2, 0), ("leave", 0, 1, 0, 0, 0))
READY_LATER = ("oddly", (2, 5, 0, 3, 0))


@client("sent-again-but-once", "SEND-14", history=True, program=LOST_AGAIN)
class SentAgainButOnce(Sender):
    """What was sent again when the connection was lost is not sent again when the next one is lost too."""

    def write(self, outgoing: Outgoing) -> None:
        counts: dict[int, int] = vars(self).setdefault("counts", {})
        counts[outgoing.sequence] = counts.get(outgoing.sequence, 0) + 1
        if counts[outgoing.sequence] < 3:
            super().write(outgoing)


@client("crossed-goes-to-another", "MSG-04", history=True, program=CROSSED)
class CrossedGoesToAnother(Channel):
    """A message that crosses the end of its consumer is given to another consumer."""

    def serve(self, name: str, body: Message, rest: bytes) -> None:
        if name == "MESSAGE" and body["consumer_id"] not in self.receivers and self.receivers:
            body = {**body, "consumer_id": next(iter(self.receivers))}
        super().serve(name, body, rest)


@client("crossed-ends-it", "MSG-04", history=True, program=CROSSED)
class CrossedEndsIt(Channel):
    """A message that crosses the end of its consumer ends the connection."""

    def serve(self, name: str, body: Message, rest: bytes) -> None:
        if name == "MESSAGE" and body["consumer_id"] not in self.receivers:
            self.end("a message for no consumer")
            return
        super().serve(name, body, rest)


@client("goes-on-from-the-first-answer", "PROD-12", history=True, program=READY_LATER)
class GoesOnFromTheFirstAnswer(Channel):
    """Of two answers to PRODUCER the first says from where the sequence goes on, though the producer was not ready."""

    was_early = False

    def answered(self, name: str, body: Message) -> None:
        if name == "PRODUCER_SUCCESS" and self.was_early:
            body = without(body, "last_sequence_id")
        self.was_early = self.was_early or not body.get("producer_ready", True)
        super().answered(name, body)
