"""Clients that are wrong: in what they say first, send, receive, acknowledge, and look up."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from impls.pulsar.channel import Channel
from impls.pulsar.checksum import crc32c
from impls.pulsar.client import Caller, Client
from impls.pulsar.framing import loaded, open_batch, open_block, part
from impls.pulsar.promises import Promise
from impls.pulsar.receiving import Discard, Id, Incoming, PartitionedReceiver, Receiver
from impls.pulsar.sending import Outgoing, PartitionedSender, Sender
from impls.pulsar.wire import Malformed, Message, encode_command
from specs.plan import Plan
from strategies.common import Op, Program
from strategies.pulsar import oddities, serving
from tests.mutants.pulsar_client_programs import PROGRAMS
from tests.mutants.pulsar_kit import MUTANTS, Mutant, full


def client_of(part: type) -> type[Client]:
    """A client class made of a faulty part."""
    named: dict[str, Any] = {}
    if issubclass(part, Caller):
        caller = part
    else:
        if issubclass(part, Channel):
            named = {"channel_type": part}
        elif issubclass(part, Sender):
            named = {"sender_type": type("FaultySender", (PartitionedSender,), {"sender_type": part})}
        elif issubclass(part, Receiver):
            named = {"receiver_type": type("FaultyReceiver", (PartitionedReceiver,), {"receiver_type": part})}
        elif issubclass(part, PartitionedSender):
            named = {"sender_type": part}
        caller = type("FaultyCaller", (Caller,), named)
    return type("Faulty", (Client,), {"caller_type": caller})


def written(kind: str, head: tuple[int, ...], *ops: tuple[Any, ...]) -> Callable[[Any], Plan]:
    """A witness: one of the suites' interpreters, and the program that it is given."""
    program = Program(head, tuple(Op(name, tuple(args)) for name, *args in ops))
    interpret = getattr(serving, kind, None) or getattr(oddities, kind)
    return lambda config: interpret(program, config)


def client(
    name: str,
    requirement: str,
    *,
    accept: str = "",
    level: str = "MUST",
    profile: str = "modern",
    history: bool = False,
    unseen: str = "",
    **switches: Any,
) -> Callable[[type], type]:
    """Register the decorated class as a faulty part of a client. Its docstring is the sentence that explains it."""

    def register(part: type) -> type:
        made = client_of(part)
        mutant = Mutant(
            name=name,
            role="client",
            requirement=full(requirement)[0],
            accept=full(accept),
            make=lambda: made(profile=profile, **switches),
            witness=written(*PROGRAMS.get(name, ("interpret", (0, 0, 0)))),
            level=level,
            why=" ".join((part.__doc__ or "").split()),
            profile=profile,
            history=history,
            unseen=unseen,
        )
        MUTANTS.append(mutant)
        return part

    return register


# -- connecting --------------------------------------------------------------------------------------------------------


@client("ping-before-connect", "CONN-01", accept="CONN-03")
class PingBeforeConnect(Channel):
    """Says PING before CONNECT."""

    def greeting(self) -> Message:
        """See `Channel`."""
        self.say("PING", {})
        return super().greeting()


@client("does-not-wait", "CONN-03", accept="VER-02")
class DoesNotWait(Caller):
    """Does not wait for CONNECTED."""

    async def channel(self, url: str) -> Channel:
        """See `Caller`."""
        found = next((each for each in self.live_channels() if each.url == url), None)
        if found is None:
            found = self.channel_type(self, url)
            self.channels.append(found)
        return found


@client("every-second-ping", "KA-01", history=True, accept="KA-09")
class EverySecondPing(Channel):
    """Does not answer every second PING."""

    pings = 0

    def say(self, name: str, body: Message) -> None:
        """See `Channel`."""
        self.pings += name == "PONG"
        if name != "PONG" or self.pings % 2:
            super().say(name, body)


@client("unknown-answers", "REQ-04", accept="FRM-13 INV-CLIENT-27 INV-CLIENT-28 INV-CLIENT-29")
class UnknownAnswers(Channel):
    """Hangs up at an answer that nobody waits for."""

    def answered(self, name: str, body: Message) -> None:
        """See `Channel`."""
        if not any(number == body.get("request_id") for _, number in self.open):
            raise Malformed("nobody asked")
        super().answered(name, body)


@client("one-request-id", "PROD-04", accept="REQ-03")
class OneRequestId(Channel):
    """Gives every request the same id."""

    def say(self, name: str, body: Message) -> None:
        """See `Channel`."""
        super().say(name, {**body, "request_id": 0} if "request_id" in body else body)

    def answered(self, name: str, body: Message) -> None:
        """See `Channel`."""
        oldest = next(iter(self.open), None)
        super().answered(name, body if oldest is None else {**body, "request_id": oldest[1]})


# -- producing ---------------------------------------------------------------------------------------------------------


class Packing(Sender):
    """Makes something else of a message's metadata."""

    def changed(self, metadata: Message) -> Message:
        """The other metadata."""
        raise NotImplementedError

    def pack(self, group: list[tuple[Message, bytes, Promise]]) -> Outgoing:
        """See `Sender`."""
        from impls.pulsar.framing import close_block  # noqa: PLC0415 - one place needs it
        from impls.pulsar.wire import encode  # noqa: PLC0415 - as above

        outgoing = super().pack(group)
        metadata, payload = open_block(outgoing.block)
        outgoing.block = close_block(encode("MessageMetadata", self.changed(metadata)), payload)
        return outgoing


@client("checksum-wrong", "CHK-03", accept="CHK-01")
class ChecksumWrong(Channel):
    """Its checksums do not cover the size of the metadata."""

    def say_send(self, body: Message, block: bytes) -> None:
        """See `Channel`."""
        self.out += loaded(encode_command("SEND", body), block, crc32c(block[4:]))


@client("checksum-left-out", "CHK-02", accept="CHK-01 CHK-03")
class ChecksumLeftOut(Channel):
    """Sends no checksums."""

    def say_send(self, body: Message, block: bytes) -> None:
        """See `Channel`."""
        self.out += loaded(encode_command("SEND", body), block, None)


@client("checksum-of-the-second", "CHK-03", accept="CHK-01", history=True)
class ChecksumOfTheSecond(Channel):
    """The checksum of every second message is that of the one before."""

    last = 0
    count = 0

    def say_send(self, body: Message, block: bytes) -> None:
        """See `Channel`."""
        self.count += 1
        checksum = crc32c(block) if self.count % 2 else self.last
        self.last = crc32c(block)
        self.out += loaded(encode_command("SEND", body), block, checksum)


@client("time-in-seconds", "MD-02")
class TimeInSeconds(Packing):
    """Gives the time of publishing in seconds."""

    def changed(self, metadata: Message) -> Message:
        """See `Packing`."""
        return {**metadata, "publish_time": int(time.time())}


@client("other-producer-name", "MD-06", level="SHOULD")
class OtherProducerName(Packing):
    """Writes a name of its own into metadata."""

    def changed(self, metadata: Message) -> Message:
        """See `Packing`."""
        return {**metadata, "producer_name": "me"}


@client("other-sequence-in-metadata", "MD-06", level="SHOULD", history=True)
class OtherSequenceInMetadata(Packing):
    """Writes sequence id 0 into all metadata."""

    def changed(self, metadata: Message) -> Message:
        """See `Packing`."""
        return {**metadata, "sequence_id": 0}


@client("properties-left-out", "MD-05", accept="MD-04 FRM-04")
class PropertiesLeftOut(Packing):
    """Sends no properties."""

    def changed(self, metadata: Message) -> Message:
        """See `Packing`."""
        return {**metadata, "properties": []}


@client("payload-cut", "FRM-04", accept="BAT-03 BAT-02")
class PayloadCut(Sender):
    """Sends the first 100 octets of a payload."""

    def send(self, payload: bytes, key: str | None, properties: Sequence[tuple[str, str]]) -> Promise:
        """See `Sender`."""
        return super().send(payload[:100], key, properties)


@client("batch-miscounted", "BAT-01", accept="BAT-02 BAT-05 MD-05 FRM-04", batching=3)
class BatchMiscounted(Packing):
    """Says one message more than a batch has."""

    def changed(self, metadata: Message) -> Message:
        """See `Packing`."""
        return {**metadata, "num_messages_in_batch": metadata["num_messages_in_batch"] + 1}


@client("batch-not-counted", "BAT-05", level="SHOULD", batching=3, history=True)
class BatchNotCounted(Channel):
    """Does not say in SEND how many messages a batch has."""

    def say_send(self, body: Message, block: bytes) -> None:
        """See `Channel`."""
        super().say_send({name: value for name, value in body.items() if name != "num_messages"}, block)


@client("size-as-compressed", "MD-08", accept="FRM-04 BAT-04 CMP-02", compression="zlib")
class SizeAsCompressed(Packing):
    """Takes the compressed size for the other."""

    def changed(self, metadata: Message) -> Message:
        """See `Packing`."""
        return {**metadata, "uncompressed_size": metadata["uncompressed_size"] + 1}


@client("keys-in-turns", "MD-07", history=True)
class KeysInTurns(PartitionedSender):
    """Sends to the partitions in turns, whatever the key."""

    def route(self, key: str | None) -> int:
        """See `PartitionedSender`."""
        return super().route(None)


@client("from-one", "SEND-02", level="SHOULD")
class FromOne(Sender):
    """Counts sequence ids from 1."""

    def opened(self, channel: Channel, answer: Message) -> None:
        """See `Sender`."""
        if self.fresh:
            answer = {**answer, "last_sequence_id": answer.get("last_sequence_id", -1) + 1}
        super().opened(channel, answer)


@client("sequence-twice", "SEND-03", accept="SEND-14 SEND-02", history=True)
class SequenceTwice(Sender):
    """Gives the second message the id of the first."""

    def pack(self, group: list[tuple[Message, bytes, Promise]]) -> Outgoing:
        """See `Sender`."""
        if self.next_sequence == 1:
            self.next_sequence = 0
        return super().pack(group)


@client("counts-anew", "SEND-03", accept="SEND-14 SEND-02", history=True)
class CountsAnew(Sender):
    """Counts from 0 again after each reconnection."""

    def on_closed(self) -> None:
        """See `Sender`."""
        super().on_closed()
        self.next_sequence = 0


@client("sent-once", "SEND-14", accept="SEND-01", history=True)
class SentOnce(Sender):
    """Sends nothing again."""

    def opened(self, channel: Channel, answer: Message) -> None:
        """See `Sender`."""
        waiting, self.unconfirmed = self.unconfirmed, deque()
        super().opened(channel, answer)
        self.unconfirmed = waiting


@client("sent-again-backwards", "SEND-14", accept="SEND-03", history=True)
class SentAgainBackwards(Sender):
    """Sends again in the other order."""

    def opened(self, channel: Channel, answer: Message) -> None:
        """See `Sender`."""
        self.unconfirmed.reverse()
        super().opened(channel, answer)
        self.unconfirmed.reverse()


@client("producer-ids-of-zero", "PROD-03", accept="SEND-01 SUB-04", history=True)
class ProducerIdsOfZero(Sender):
    """Gives every producer the id 0."""

    def __init__(self, caller: Caller, topic: str, name: str) -> None:
        super().__init__(caller, topic, name)
        self.id = 0


@client("another-name", "PROD-07", level="SHOULD", history=True)
class AnotherName(Sender):
    """Has itself named again after each reconnection."""

    def on_closed(self) -> None:
        """See `Sender`."""
        if not self.given:
            self.name = ""
        super().on_closed()


@client("last-sequence-unread", "PROD-12", accept="SEND-02 SEND-03")
class LastSequenceUnread(Sender):
    """Begins at 0, whatever the broker says."""

    def opened(self, channel: Channel, answer: Message) -> None:
        """See `Sender`."""
        super().opened(channel, {name: value for name, value in answer.items() if name != "last_sequence_id"})


@client("ready-or-not", "PROD-13", accept="PROD-01")
class ReadyOrNot(Channel):
    """Takes the first PRODUCER_SUCCESS for good."""

    def answered(self, name: str, body: Message) -> None:
        """See `Channel`."""
        super().answered(name, {key: value for key, value in body.items() if key != "producer_ready"})


@client("unasked-resend", "PROD-11", history=True)
class UnaskedAgain(Sender):
    """Asks for a producer again without closing it before."""

    async def give_back(self, channel: Channel) -> None:
        """See `Sender`."""


@client("close-unheard", "CLP-06", accept="CLC-02 SEND-14 LOOK-01", history=True)
class CloseUnheard(Sender):
    """Does not hear that the broker closed its producer."""

    def on_close_producer(self, body: Message) -> None:
        """See `Sender`."""


@client("close-ends-all", "CLP-07", accept="CLP-06 CLC-02", history=True)
class CloseEndsAll(Sender):
    """Hangs up when the broker closes a producer."""

    def on_close_producer(self, body: Message) -> None:
        """See `Sender`."""
        if self.channel is not None:
            self.channel.end("closed")


# -- lookups -----------------------------------------------------------------------------------------------------------


@client("no-lookup-again", "LOOK-01", accept="CLP-06 CLC-02", history=True)
class NoLookupAgain(Caller):
    """Looks a topic up once."""

    def reset(self, url: str) -> None:
        """See `Caller`."""
        super().reset(url)
        self.found: dict[str, Channel] = {}

    async def channel_for(self, topic: str) -> Channel:
        """See `Caller`."""
        known = self.found.get(topic)
        if known is None or known.hung_up:
            known = self.found[topic] = await super().channel_for(topic)
        return known


class Looking(Caller):
    """Looks topics up in another way."""

    change: dict[str, Any] = {}  # noqa: RUF012 - a constant of each class

    async def channel_for(self, topic: str) -> Channel:
        """See `Caller`."""
        url, authoritative = self.url, False
        for _ in range(21):
            channel = await self.channel(url)
            asked = {"topic": topic, "authoritative": authoritative, **self.change}
            _, answer = await channel.ask("LOOKUP", asked)
            url, authoritative = self.read(answer)
            if answer.get("response") == 1:
                return await self.channel(url)
        return channel

    def read(self, answer: Message) -> tuple[str, bool]:
        """Where to go."""
        return answer["brokerServiceUrl"], answer.get("authoritative", False)


@client("authoritative-at-once", "LOOK-03", accept="LOOK-04")
class AuthoritativeAtOnce(Looking):
    """Asks for an authoritative answer at once."""

    change = {"authoritative": True}  # noqa: RUF012 - as above


@client("never-authoritative", "LOOK-04", history=True)
class NeverAuthoritative(Looking):
    """Does not pass on that an answer must be authoritative."""

    change = {"authoritative": False}  # noqa: RUF012 - as above


@client("stays-where-it-is", "LOOK-05", accept="LOOK-04", history=True, unseen="the other broker is not missed")
class StaysWhereItIs(Looking):
    """Stays with the broker that it knows."""

    def read(self, answer: Message) -> tuple[str, bool]:
        """See `Looking`."""
        return self.url, answer.get("authoritative", False)


@client("partitions-from-one", "PART-02", history=True)
class PartitionsFromOne(Caller):
    """Counts partitions from 1."""

    async def partitions(self, topic: str) -> list[str]:
        """See `Caller`."""
        found = await super().partitions(topic)
        return found if found == [topic] else [f"{topic}-partition-{number + 1}" for number in range(len(found))]


@client("last-partition-left-out", "PART-02", history=True)
class LastPartitionLeftOut(Caller):
    """Leaves the last of several partitions out."""

    async def partitions(self, topic: str) -> list[str]:
        """See `Caller`."""
        found = await super().partitions(topic)
        return found[:-1] or found


@client("always-partitioned", "PART-03", accept="PART-02")
class AlwaysPartitioned(Caller):
    """Takes every topic for partitioned."""

    async def partitions(self, topic: str) -> list[str]:
        """See `Caller`."""
        found = await super().partitions(topic)
        return [f"{topic}-partition-0"] if found == [topic] else found


@client("partitions-again", "PART-04", level="SHOULD", history=True)
class PartitionsAgain(Caller):
    """Asks for partitions before each lookup."""

    async def channel_for(self, topic: str) -> Channel:
        """See `Caller`."""
        await self.partitions(topic)
        return await super().channel_for(topic)


# -- consuming ---------------------------------------------------------------------------------------------------------


@client("not-subscribed-again", "SUB-03", accept="CLC-02 LOOK-01", history=True)
class NotSubscribedAgain(Receiver):
    """Does not subscribe again."""

    def on_closed(self) -> None:
        """See `Receiver`."""
        self.closed = True
        super().on_closed()


@client("consumer-ids-of-zero", "SUB-04", accept="PROD-03", history=True)
class ConsumerIdsOfZero(Receiver):
    """Gives every consumer the id 0."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.id = 0


@client("grants-twice", "FLOW-07", level="SHOULD", history=True)
class GrantsTwice(Receiver):
    """Permits two messages for each one taken."""

    def used(self, messages: int) -> None:
        """See `Receiver`."""
        super().used(messages * 2)


@client(
    "grants-once",
    "FLOW-07",
    level="SHOULD",
    accept="FLOW-08",
    history=True,
    unseen="nothing is owed after the first permits",
)
class GrantsOnce(Receiver):
    """Permits nothing more once it was taken."""

    def used(self, messages: int) -> None:
        """See `Receiver`."""


@client("every-third-lost", "FLOW-08", accept="FRM-04 MSG-04 BAT-07", history=True)
class EveryThirdLost(Receiver):
    """Loses every third message."""

    count = 0

    def on_message(self, body: Message, rest: bytes) -> None:
        """See `Receiver`."""
        self.count += 1
        if self.count % 3:
            super().on_message(body, rest)


@client("checksum-unread", "CHK-06", accept="CHK-07 MSG-04 FRM-04 BAT-08")
class ChecksumUnread(Receiver):
    """Does not look at checksums."""

    def open_entry(self, found: Id, body: Message, rest: bytes) -> list[Incoming]:
        """See `Receiver`."""
        load = part(rest)
        intact = b"\x0e\x01" + crc32c(load.block).to_bytes(4, "big") + load.block
        return super().open_entry(found, body, intact)


@client("discards-in-silence", "CHK-07", level="SHOULD", accept="BAT-09 CMP-03 CMP-02 BAT-08")
class DiscardsInSilence(Receiver):
    """Does not acknowledge what it cannot read."""

    def discard(self, message_id: Message, reason: str, messages: int) -> None:
        """See `Receiver`."""
        self.used(messages)


@client("one-reason", "CHK-07", level="SHOULD", accept="BAT-09 CMP-03 CMP-02")
class OneReason(Receiver):
    """Gives one reason for all that it cannot read."""

    def discard(self, message_id: Message, reason: str, messages: int) -> None:
        """See `Receiver`."""
        super().discard(
            message_id, "DecompressionError" if reason != "DecompressionError" else "ChecksumMismatch", messages
        )


@client("batch-backwards", "BAT-07", accept="FRM-04 MSG-04 FLOW-08", history=True)
class BatchBackwards(Receiver):
    """Gives the messages of a batch in the other order."""

    def open_entry(self, found: Id, body: Message, rest: bytes) -> list[Incoming]:
        """See `Receiver`."""
        return super().open_entry(found, body, rest)[::-1]


@client("batch-heads-mixed", "BAT-07", accept="FRM-04 MSG-04 MD-05", history=True)
class BatchHeadsMixed(Receiver):
    """Gives all messages of a batch the key of the first."""

    def open_entry(self, found: Id, body: Message, rest: bytes) -> list[Incoming]:
        """See `Receiver`."""
        messages = super().open_entry(found, body, rest)
        return [each._replace(key=messages[0].key, properties=messages[0].properties) for each in messages]


@client("batch-of-one", "BAT-10", accept="BAT-07 FRM-04 MSG-04")
class BatchOfOne(Receiver):
    """Takes a batch of one for a message."""

    def open_entry(self, found: Id, body: Message, rest: bytes) -> list[Incoming]:
        """See `Receiver`."""
        metadata, payload = open_block(part(rest).block)
        if metadata.get("num_messages_in_batch") == 1 and not metadata.get("compression") and part(rest).intact:
            return [self.incoming(found, body, -1, payload, metadata)]
        return super().open_entry(found, body, rest)


@client("batch-as-far-as-it-goes", "BAT-08", accept="BAT-09 MSG-04 FRM-04 BAT-07")
class BatchAsFarAsItGoes(Receiver):
    """Gives what it can read of a batch."""

    def open_entry(self, found: Id, body: Message, rest: bytes) -> list[Incoming]:
        """See `Receiver`."""
        try:
            return super().open_entry(found, body, rest)
        except Discard as discard:
            if str(discard) != "BatchDeSerializeError":
                raise
            _, payload = open_block(part(rest).block)
            try:
                entries = open_batch(payload, 1)
            except Malformed:
                raise discard from None
            return [self.incoming(found, body, at, data, head) for at, (head, data) in enumerate(entries)]


@client("not-decompressed", "CMP-02", accept="CMP-03 FRM-04 MSG-04 BAT-07")
class NotDecompressed(Receiver):
    """Gives the compressed octets of what it cannot decompress."""

    def unpacked(self, kind: int, payload: bytes, size: int, messages: int) -> bytes:
        """See `Receiver`."""
        try:
            return super().unpacked(kind, payload, size, messages)
        except Discard:
            return payload


@client("anybodys-messages", "MSG-04", accept="FRM-04 FLOW-08")
class AnybodysMessages(Channel):
    """Gives a message for an unknown consumer to the first one."""

    def serve(self, name: str, body: Message, rest: bytes) -> None:
        """See `Channel`."""
        if name == "MESSAGE" and body["consumer_id"] not in self.receivers and self.receivers:
            body = {**body, "consumer_id": next(iter(self.receivers))}
        super().serve(name, body, rest)


@client("acks-the-next", "ACK-13")
class AcksTheNext(Receiver):
    """Acknowledges the message behind the one that it means."""

    def flush(self) -> None:
        """See `Receiver`."""
        self.acks = [{**each, "entryId": each["entryId"] + 1} for each in self.acks]
        super().flush()


@client("acks-when-taken", "ACK-13")
class AcksWhenTaken(Receiver):
    """Acknowledges what the application takes."""

    def take(self) -> Incoming:
        """See `Receiver`."""
        message = super().take()
        self.ack(message, False)
        return message


@client("acks-when-pushed", "ACK-13", history=True)
class AcksWhenPushed(Receiver):
    """Acknowledges every third message when it comes."""

    count = 0

    def on_message(self, body: Message, rest: bytes) -> None:
        """See `Receiver`."""
        super().on_message(body, rest)
        self.count += 1
        if self.count % 3 == 0 and self.queue:
            self.ack(self.queue[-1], False)


@client("permits-forgotten", "FLOW-07", level="SHOULD", accept="SUB-03 CLC-02 FLOW-08 LOOK-01", history=True)
class PermitsForgotten(Receiver):
    """Permits nothing when it has subscribed again."""

    times = 0

    def opened(self, channel: Channel) -> None:
        """See `Receiver`."""
        self.times += 1
        if self.times > 1:
            self.size = 0
        super().opened(channel)


@client("close-of-consumer-unheard", "CLC-02", accept="SUB-03 LOOK-01", history=True)
class CloseOfConsumerUnheard(Channel):
    """Does not hear that the broker closed a consumer."""

    def serve(self, name: str, body: Message, rest: bytes) -> None:
        """See `Channel`."""
        if name != "CLOSE_CONSUMER":
            super().serve(name, body, rest)


@client("close-of-consumer-ends-all", "CLC-02", accept="SUB-03 CLP-07", history=True)
class CloseOfConsumerEndsAll(Channel):
    """Hangs up when the broker closes a consumer."""

    def serve(self, name: str, body: Message, rest: bytes) -> None:
        """See `Channel`."""
        if name == "CLOSE_CONSUMER":
            self.end("closed")
        else:
            super().serve(name, body, rest)
