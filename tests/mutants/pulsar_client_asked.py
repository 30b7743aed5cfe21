"""Faults of a client: producers and consumers that are not what the application asked for, at first or once they are
made again."""

from __future__ import annotations

from impls.references.pulsar.channel import Channel
from impls.references.pulsar.framing import close_block, open_block
from impls.references.pulsar.receiving import Receiver
from impls.references.pulsar.sending import Outgoing, PartitionedSender, Sender
from impls.references.pulsar.wire import Message, encode
from tests.mutants.faults import on, without
from tests.mutants.pulsar_client_parts import client

NAMED = ("interpret", (2, 2, 0), ("consumer", 0, 0, 1, 1, 0))
SHARED = ("interpret", (2, 2, 0), ("consumer", 1, 0, 0, 0, 0))
COMES_BACK = ("drop", 0, 0, 0, 0, 0)

client("subscribes-exclusively", "SUB-15", program=SHARED)(
    "Subscribes exclusively, whatever it was told.", on(Receiver, "open").before(lambda self: setattr(self, "kind", 0))
)
client("subscribes-exclusively-again", "SUB-15", history=True, program=(*SHARED, COMES_BACK))(
    "Subscribes exclusively once it comes back.",
    on(Receiver, "open").before(lambda self: setattr(self, "kind", 0), when=lambda calls: calls > 1),
)
client("subscription-cut", "SUB-15", program=NAMED)(
    "Keeps one letter of the name of a subscription.",
    on(Receiver, "open").before(lambda self: setattr(self, "subscription", self.subscription[:1])),
)
client("subscription-of-the-topic-again", "SUB-15", history=True, program=(*SHARED, COMES_BACK))(
    "Subscribes by the name of the topic once it comes back.",
    on(Receiver, "open").before(lambda self: setattr(self, "subscription", self.topic), when=lambda calls: calls > 1),
)
client("consumer-name-forgotten", "SUB-16", level="SHOULD", history=True, program=(*NAMED, COMES_BACK))(
    "Its consumer has no name once it comes back.",
    on(Receiver, "open").before(lambda self: setattr(self, "name", ""), when=lambda calls: calls > 1),
)
client("producer-name-left-out", "PROD-15", level="SHOULD", program=(
    "interpret", (2, 2, 0), ("producer", 1, 0, 0, 0, 0)))(
    "Leaves it to the broker how its producers are called.",
    on(Channel, "ask").takes(body=lambda name, body: without(body, "producer_name") if name == "PRODUCER" else body),
)  # fmt: skip


class Again(Sender):
    """Makes something else of the metadata of what it sends again."""

    def changed(self, metadata: Message) -> Message:
        """The other metadata."""
        raise NotImplementedError

    def opened(self, channel: Channel, answer: Message) -> None:
        for outgoing in self.unconfirmed:
            self._changes(outgoing)
        super().opened(channel, answer)

    def _changes(self, outgoing: Outgoing) -> None:
        metadata, payload = open_block(outgoing.block)
        outgoing.block = close_block(encode("MessageMetadata", self.changed(metadata)), payload)


@client("sent-again-without-key", "MD-05", history=True, program=("interpret", (2, 2, 0), ("drop", 0, 1, 4, 0, 0)))
class SentAgainWithoutKey(Again):
    """Forgets the key of what it sends again."""

    def changed(self, metadata: Message) -> Message:
        return without(metadata, "partition_key")


@client("sent-again-without-properties", "MD-05", history=True, program=(
    "interpret", (2, 2, 0), ("drop", 0, 3, 0, 0, 0)))  # fmt: skip
class SentAgainWithoutProperties(Again):
    """Forgets the properties of what it sends again."""

    def changed(self, metadata: Message) -> Message:
        return without(metadata, "properties")


@client("counts-from-what-it-is-told", "SEND-03", accept="SEND-14 SEND-02", history=True, program=(
    "interpret", (2, 2, 0), ("drop", 0, 0, 0, 0, 1)))  # fmt: skip
class CountsFromWhatItIsTold(Sender):
    """Goes on from the sequence id that the broker names, each time it comes back, and not from its own."""

    def opened(self, channel: Channel, answer: Message) -> None:
        if not self.unconfirmed:
            self.next_sequence = answer.get("last_sequence_id", self.next_sequence - 1) + 1
        super().opened(channel, answer)


@client("counts-anew-when-closed", "SEND-03", accept="SEND-14 SEND-02", history=True, program=(
    "interpret", (2, 2, 0), ("closed", 0, 1, 1, 0, 0)))  # fmt: skip
class CountsAnewWhenClosed(Sender):
    """Counts from 0 again when the broker has closed its producer."""

    def on_close_producer(self, _body: Message) -> None:
        self.next_sequence = 0
        super().on_close_producer(_body)


@client("keys-to-the-first-again", "MD-07", history=True, program=(
    "interpret", (2, 2, 0), ("partitioned", 2, 6, 6, 0, 3)))  # fmt: skip
class KeysToTheFirstAgain(PartitionedSender):
    """Sends all keys to the first partition once its producers have come back."""

    def route(self, key: str | None) -> int:
        again = any(part.epoch for part in self.parts)
        return 0 if again and key is not None else super().route(key)


@client("first-version-kept", "CHK-09", level="SHOULD", accept="CHK-02", history=True, program=(
    "oddly", (2, 6, 0, 0, 0)))  # fmt: skip
class FirstVersionKept(Channel):
    """Takes every broker for one of the version that the first one named."""

    def greeted(self, name: str, body: Message) -> None:
        if name == "CONNECTED":
            version = vars(self.caller).setdefault("first_version", body.get("protocol_version", 0))
            body = {**body, "protocol_version": version}
        super().greeted(name, body)


@client("first-limit-kept", "FRM-11", level="SHOULD", history=True, program=("oddly", (2, 6, 0, 2, 0)))
class FirstLimitKept(Channel):
    """Takes every broker for one that takes messages as large as the first one did."""

    def greeted(self, name: str, body: Message) -> None:
        if name == "CONNECTED":
            limit = vars(self.caller).setdefault("first_limit", body.get("max_message_size"))
            body = {**without(body, "max_message_size"), **({} if limit is None else {"max_message_size": limit})}
        super().greeted(name, body)


@client("goes-back-to-ask", "LOOK-04", history=True, program=("interpret", (0, 0, 0), ("elsewhere", 1, 0, 2, 0, 0)))
class GoesBackToAsk(Channel):
    """Takes the second redirect in a row to lead back to where it began."""

    def serve(self, name: str, body: Message, rest: bytes) -> None:
        if name == "LOOKUP_RESPONSE" and body.get("response") == 0 and self.url != self.caller.url:
            body = {**body, "brokerServiceUrl": self.caller.url}
        super().serve(name, body, rest)
