"""Faults of a client: what it sends, and sends again."""

from __future__ import annotations

import time
from collections import deque

from impls.references.pulsar.channel import Channel
from impls.references.pulsar.checksum import crc32c
from impls.references.pulsar.framing import loaded, open_block
from impls.references.pulsar.promises import Promise
from impls.references.pulsar.sending import Outgoing, PartitionedSender, Sender
from impls.references.pulsar.wire import Message, encode_command
from tests.mutants.faults import on, without
from tests.mutants.pulsar_client_parts import client

# -- producing ---------------------------------------------------------------------------------------------------------


class Packing(Sender):
    """Makes something else of a message's metadata."""

    def changed(self, metadata: Message) -> Message:
        """The other metadata."""
        raise NotImplementedError

    def pack(self, group: list[tuple[Message, bytes, Promise]]) -> Outgoing:
        from impls.references.pulsar.framing import close_block  # noqa: PLC0415 - one place needs it
        from impls.references.pulsar.wire import encode  # noqa: PLC0415 - as above

        outgoing = super().pack(group)
        metadata, payload = open_block(outgoing.block)
        outgoing.block = close_block(encode("MessageMetadata", self.changed(metadata)), payload)
        return outgoing


@client("checksum-wrong", "CHK-03", accept="CHK-01")
class ChecksumWrong(Channel):
    """Its checksums do not cover the size of the metadata."""

    def say_send(self, body: Message, block: bytes) -> None:
        self.out += loaded(encode_command("SEND", body), block, crc32c(block[4:]))


@client("checksum-left-out", "CHK-02", accept="CHK-01 CHK-03")
class ChecksumLeftOut(Channel):
    """Sends no checksums."""

    def say_send(self, body: Message, block: bytes) -> None:
        self.out += loaded(encode_command("SEND", body), block, None)


@client("checksum-of-the-second", "CHK-03", accept="CHK-01", history=True)
class ChecksumOfTheSecond(Channel):
    """The checksum of every second message is that of the one before."""

    last = 0
    count = 0

    def say_send(self, body: Message, block: bytes) -> None:
        self.count += 1
        checksum = crc32c(block) if self.count % 2 else self.last
        self.last = crc32c(block)
        self.out += loaded(encode_command("SEND", body), block, checksum)


client("time-in-seconds", "MD-02")(
    "Gives the time of publishing in seconds.",
    on(Packing, "changed").instead(lambda metadata: {**metadata, "publish_time": int(time.time())}),
)
client("other-producer-name", "MD-06", level="SHOULD")(
    "Writes a name of its own into metadata.",
    on(Packing, "changed").instead(lambda metadata: {**metadata, "producer_name": "me"}),
)
client("other-sequence-in-metadata", "MD-06", level="SHOULD", history=True)(
    "Writes sequence id 0 into all metadata.",
    on(Packing, "changed").instead(lambda metadata: {**metadata, "sequence_id": 0}),
)
client("properties-left-out", "MD-05", accept="MD-04 FRM-04")(
    "Sends no properties.", on(Packing, "changed").instead(lambda metadata: {**metadata, "properties": []})
)
client("payload-cut", "FRM-04", accept="BAT-03 BAT-02")(
    "Sends the first 100 octets of a payload.", on(Sender, "send").takes(payload=lambda payload: payload[:100])
)
client("batch-miscounted", "BAT-01", accept="BAT-02 BAT-05 MD-05 FRM-04", batching=3)(
    "Says one message more than a batch has.",
    on(Packing, "changed").instead(
        lambda metadata: {**metadata, "num_messages_in_batch": metadata["num_messages_in_batch"] + 1}
    ),
)
client("batch-not-counted", "BAT-05", level="SHOULD", batching=3, history=True)(
    "Does not say in SEND how many messages a batch has.",
    on(Channel, "say_send").takes(body=lambda body: without(body, "num_messages")),
)
client("size-as-compressed", "MD-08", accept="FRM-04 BAT-04 CMP-02", compression="zlib")(
    "Takes the compressed size for the other.",
    on(Packing, "changed").instead(
        lambda metadata: {**metadata, "uncompressed_size": metadata["uncompressed_size"] + 1}
    ),
)
client("keys-in-turns", "MD-07", history=True)(
    "Sends to the partitions in turns, whatever the key.", on(PartitionedSender, "route").takes(key=lambda: None)
)
client("keys-with-a-sign", "MD-07", history=True, program=("interpret", (2, 0, 0), ("partitioned", 15, 20, 12, 6, 3)))(
    "Heeds a key only when its hash of 32 bits, with a sign, is not negative.",
    on(PartitionedSender, "route").takes(key=lambda key: key if key and crc32c(key.encode()) < 1 << 31 else None),
)
client("keys-forgotten", "MD-07", history=True)(
    "Heeds keys until it has sent two messages without one.",
    on(PartitionedSender, "route").takes(key=lambda self, key: None if self._turn > 0 else key),
)


@client("third-before-second", "SEND-14", accept="SEND-03", history=True)
class ThirdBeforeSecond(Sender):
    """Sends again what was not confirmed, the third message before the second."""

    def opened(self, channel: Channel, answer: Message) -> None:
        waiting = [*self.unconfirmed]
        if len(waiting) > 2:
            self.unconfirmed = deque((waiting[0], waiting[2], waiting[1], *waiting[3:]))
        super().opened(channel, answer)


@client("sequence-in-32-bits", "PROD-12", accept="SEND-02 SEND-03", history=True)
class SequenceIn32Bits(Sender):
    """Reads 32 bits of the last sequence id."""

    def opened(self, channel: Channel, answer: Message) -> None:
        if "last_sequence_id" in answer:
            answer = {**answer, "last_sequence_id": answer["last_sequence_id"] & 0xFFFFFFFF}
        super().opened(channel, answer)


client("too-large-all-the-same", "FRM-11", level="SHOULD")(
    "Does not read how large a message may be.",
    on(Channel, "greeted").takes(body=lambda body: without(body, "max_message_size")),
)
client("from-one", "SEND-02", level="SHOULD")(
    "Counts sequence ids from 1.",
    on(Sender, "opened").takes(
        answer=lambda self, answer: (
            {**answer, "last_sequence_id": answer.get("last_sequence_id", -1) + 1} if self.fresh else answer
        )
    ),
)
client("sequence-twice", "SEND-03", accept="SEND-14 SEND-02", history=True)(
    "Gives the second message the id of the first.",
    on(Sender, "pack").before(
        lambda self: setattr(self, "next_sequence", 0), when=lambda self: self.next_sequence == 1
    ),
)
client("counts-anew", "SEND-03", accept="SEND-14 SEND-02", history=True)(
    "Counts from 0 again after each reconnection.",
    on(Sender, "on_closed").after(lambda self: setattr(self, "next_sequence", 0)),
)


@client("sent-once", "SEND-14", accept="SEND-01", history=True)
class SentOnce(Sender):
    """Sends nothing again."""

    def opened(self, channel: Channel, answer: Message) -> None:
        waiting, self.unconfirmed = self.unconfirmed, deque()
        super().opened(channel, answer)
        self.unconfirmed = waiting


@client("sent-again-backwards", "SEND-14", accept="SEND-03", history=True)
class SentAgainBackwards(Sender):
    """Sends again in the other order."""

    def opened(self, channel: Channel, answer: Message) -> None:
        self.unconfirmed.reverse()
        super().opened(channel, answer)
        self.unconfirmed.reverse()


@client("sent-again-by-the-text", "SEND-14", accept="SEND-03", history=True, program=(
    "interpret", (2, 1, 0), ("drop", 0, 1, 3, 48, 0)))  # fmt: skip
class SentAgainByTheText(Sender):
    """Sends again in the order of the sequence ids as texts: 10 before 9."""

    def opened(self, channel: Channel, answer: Message) -> None:
        self.unconfirmed = deque(sorted(self.unconfirmed, key=lambda each: str(each.sequence)))
        super().opened(channel, answer)


client("producer-ids-of-zero", "PROD-03", accept="SEND-01 SUB-04", history=True)(
    "Gives every producer the id 0.", on(Sender, "__init__").after(lambda self: setattr(self, "id", 0))
)
client("another-name", "PROD-07", level="SHOULD", history=True)(
    "Has itself named again after each reconnection.",
    on(Sender, "on_closed").before(lambda self: setattr(self, "name", ""), when=lambda self: not self.given),
)
client("last-sequence-unread", "PROD-12", accept="SEND-02 SEND-03")(
    "Begins at 0, whatever the broker says.",
    on(Sender, "opened").takes(answer=lambda answer: without(answer, "last_sequence_id")),
)
client("ready-or-not", "PROD-13", accept="PROD-01")(
    "Takes the first PRODUCER_SUCCESS for good.",
    on(Channel, "answered").takes(body=lambda body: without(body, "producer_ready")),
)


@client("unasked-resend", "PROD-11", history=True)
class UnaskedAgain(Sender):
    """Asks for a producer again without closing it before."""

    async def give_back(self, channel: Channel) -> None:
        """See `Sender`."""


client("close-unheard", "CLP-06", accept="CLC-02 SEND-14 LOOK-01", history=True)(
    "Does not hear that the broker closed its producer.", on(Sender, "on_close_producer").skips()
)


@client("close-ends-all", "CLP-07", accept="CLP-06 CLC-02", history=True)
class CloseEndsAll(Sender):
    """Hangs up when the broker closes a producer."""

    def on_close_producer(self, body: Message) -> None:
        if self.channel is not None:
            self.channel.end("closed")
