"""Producers of the reference client.

Source: 001_c0ea8805bb7ed422.txt, "Producer", "Message metadata", "Batch messages".
"""

from __future__ import annotations

import time
import zlib
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from impls.references.pulsar.compress import LZ4, NONE, SNAPPY, ZLIB, ZSTD, compress
from impls.references.pulsar.framing import close_batch, close_block
from impls.references.pulsar.promises import Failed, Promise, Task
from impls.references.pulsar.schema import ENUMS
from impls.references.pulsar.wire import Message, encode

if TYPE_CHECKING:
    from impls.references.pulsar.channel import Channel
    from impls.references.pulsar.client import Caller

KINDS = {"none": NONE, "lz4": LZ4, "zlib": ZLIB, "zstd": ZSTD, "snappy": SNAPPY}
CHECKSUM_ERROR = ENUMS["ServerError"]["ChecksumError"]


class Outgoing:
    """What one SEND carries, until its receipt has come."""

    __slots__ = ("block", "last", "messages", "promises", "sequence")

    def __init__(self, sequence: int, messages: int, block: bytes, promises: Sequence[Promise]) -> None:
        self.sequence = sequence
        self.messages = messages
        self.last = sequence + messages - 1
        self.block = block
        self.promises = promises


class Sender:
    """A producer on one topic, or one partition. It comes again after whatever closed it."""

    def __init__(self, caller: Caller, topic: str, name: str) -> None:
        self.caller = caller
        self.switches = caller.switches
        self.topic = topic
        self.name = name
        self.given = bool(name)
        self.id = caller.new_id()
        self.epoch = 0
        self.next_sequence = 0
        self.channel: Channel | None = None
        self.unconfirmed: deque[Outgoing] = deque()
        self.batch: list[tuple[Message, bytes, Promise]] = []
        self.closed = False
        self.fresh = True
        self.resting = False

    async def open(self) -> None:
        """Look the topic up and open the producer there. Raises Failed."""
        channel = await self.caller.channel_for(self.topic)
        body: Message = {"topic": self.topic, "producer_id": self.id}
        if self.name:
            body["producer_name"] = self.name
        if self.switches.optional_fields == "all":
            body |= {"epoch": self.epoch, "user_provided_producer_name": self.given}
        try:
            _, answer = await channel.ask("PRODUCER", body)
        except Failed as failed:
            if failed.code is None and not channel.hung_up:
                # The broker may have it open all the same; it need not answer before we try again.
                Task(self.give_back(channel))
            raise
        if channel.hung_up:
            raise Failed("closed meanwhile")
        if self.closed:
            Task(self.give_back(channel))
            return
        self.opened(channel, answer)

    async def give_back(self, channel: Channel) -> None:
        """Close a producer of which we do not know whether it is open."""
        await channel.ask("CLOSE_PRODUCER", {"producer_id": self.id})

    def opened(self, channel: Channel, answer: Message) -> None:
        """The producer is open: send what was not confirmed, in order."""
        self.name = answer["producer_name"]
        self.channel = channel
        channel.senders[self.id] = self
        if self.fresh:
            self.next_sequence = answer.get("last_sequence_id", -1) + 1
            self.fresh = False
        for outgoing in [*self.unconfirmed]:
            self.write(outgoing)
        self.flush()

    # Sending

    def send(self, payload: bytes, key: str | None, properties: Sequence[tuple[str, str]]) -> Promise:
        """Publish; a promise of the message id."""
        promise = Promise()
        head: Message = {"properties": [{"key": name, "value": value} for name, value in properties]}
        if key is not None:
            head["partition_key"] = key
        self.batch.append((head, payload, promise))
        if not self.batches or len(self.batch) >= self.switches.batching:
            self.flush()
        elif len(self.batch) == 1:
            self.caller.later(self.switches.batch_ms, self.flush)
        return promise

    @property
    def batches(self) -> bool:
        """True when messages go in batches."""
        return bool(self.switches.batching) and (self.channel is None or self.channel.agreed >= 4)

    def flush(self) -> None:
        """Send what was collected, once the producer is open."""
        if self.channel is None:
            if self.resting and self.batch:
                self.come_again()
            return
        batch, self.batch = self.batch, []
        groups = [batch] if batch and self.batches else [[each] for each in batch]
        for group in groups:
            outgoing = self.pack(group)
            if len(outgoing.block) - 4 > self.channel.max_message_size:
                for promise in outgoing.promises:
                    promise.fail(Failed("the message is too large"))
                continue
            self.next_sequence = outgoing.last + 1
            self.unconfirmed.append(outgoing)
            self.write(outgoing)

    def pack(self, group: list[tuple[Message, bytes, Promise]]) -> Outgoing:
        """What one SEND carries."""
        sequence = self.next_sequence
        metadata: Message = {
            "producer_name": self.name,
            "sequence_id": sequence,
            "publish_time": int(time.time() * 1000),
        }
        if self.batches:
            heads = [{**head, "sequence_id": sequence + at} for at, (head, _, _) in enumerate(group)]
            payload = close_batch((head, body) for head, (_, body, _) in zip(heads, group, strict=True))
            metadata["num_messages_in_batch"] = len(group)
        else:
            metadata |= group[0][0]
            payload = group[0][1]
        kind = self.compression()
        if kind:
            metadata |= {"compression": kind, "uncompressed_size": len(payload)}
            payload = compress(kind, payload)
        block = close_block(encode("MessageMetadata", metadata), payload)
        return Outgoing(sequence, len(group), block, [promise for _, _, promise in group])

    def compression(self) -> int:
        """How payloads are compressed, as far as the broker's version goes."""
        kind, agreed = KINDS[self.switches.compression], self.channel.agreed if self.channel else 0
        return NONE if agreed < 3 or (kind in (ZSTD, SNAPPY) and agreed < 15) else kind

    def write(self, outgoing: Outgoing) -> None:
        """Send a SEND."""
        if self.channel is None:
            return
        body: Message = {"producer_id": self.id, "sequence_id": outgoing.sequence}
        if outgoing.messages > 1 or self.switches.optional_fields == "all":
            body["num_messages"] = outgoing.messages
        self.channel.say_send(body, outgoing.block)

    # Answers

    def on_send_receipt(self, body: Message) -> None:
        """A message is confirmed, as a rule the oldest one. What is older is ignored; what is ahead may mean that we
        are out of step."""
        number = body["sequence_id"]
        confirmed = next((each for each in self.unconfirmed if each.sequence <= number <= each.last), None)
        if confirmed is None and (not self.unconfirmed or number < self.unconfirmed[0].sequence):
            return
        if confirmed is None or (confirmed is not self.unconfirmed[0] and self.switches.receipts == "oldest"):
            if self.channel is not None:
                self.channel.end("a receipt for what is not the oldest message")
            return
        self.unconfirmed.remove(confirmed)
        found = body.get("message_id", {})
        for at, promise in enumerate(confirmed.promises):
            promise.keep(f"{found.get('ledgerId')}:{found.get('entryId')}:{at if confirmed.messages > 1 else -1}")

    def on_send_error(self, body: Message) -> None:
        """A message was refused."""
        for outgoing in self.unconfirmed:
            if outgoing.sequence == body["sequence_id"]:
                if self.switches.send_error == "reconnect" and body["error"] != CHECKSUM_ERROR:
                    self.caller.later(0, lambda: self.channel.end("SEND_ERROR") if self.channel else None)
                    return
                self.unconfirmed.remove(outgoing)
                for promise in outgoing.promises:
                    promise.fail(Failed(body["message"] or "SEND_ERROR", body["error"]))
                return

    def on_close_producer(self, _body: Message) -> None:
        """The broker closed the producer, not the connection."""
        if self.channel is not None:
            self.channel.senders.pop(self.id, None)
        self.on_closed()
        if self.resting:
            self.come_again()

    def on_closed(self) -> None:
        """Come again, now or when there is something to send."""
        self.channel = None
        if not self.closed:
            self.epoch += 1
            if not self.switches.sends_again:
                self.give_up()
            self.resting = self.switches.reopening == "when-needed" and not (self.unconfirmed or self.batch)
            if not self.resting:
                self.come_again()

    def come_again(self) -> None:
        """Open it once more."""
        self.resting = False
        Task(self.caller.again(self.open))

    async def close(self) -> None:
        """Close the producer once its messages are confirmed. Raises Failed."""
        self.flush()
        while self.unconfirmed and not self.closed:
            try:
                await self.unconfirmed[-1].promises[-1]
            except Failed:
                continue
        self.closed = True
        channel, self.channel = self.channel, None
        if channel is not None:
            channel.senders.pop(self.id, None)
            await channel.ask("CLOSE_PRODUCER", {"producer_id": self.id})

    def give_up(self) -> None:
        """What was sent and is not confirmed has failed."""
        waiting, self.unconfirmed = self.unconfirmed, deque()
        for outgoing in waiting:
            for promise in outgoing.promises:
                promise.fail(Failed("disconnected"))

    def abandon(self) -> None:
        """Give up all that is open, without a word."""
        self.closed = True
        self.give_up()
        for _, _, promise in self.batch:
            promise.fail(Failed("disconnected"))


class PartitionedSender:
    """A producer on a topic, or on all its partitions: messages of one key go to one of them."""

    sender_type = Sender

    def __init__(self, caller: Caller, topics: Sequence[str], name: str) -> None:
        self.parts = [self.sender_type(caller, topic, name) for topic in topics]
        self._turn = -1

    async def open(self) -> None:
        """Open all of them. Raises Failed."""
        for part in self.parts:
            await part.caller.again(part.open, give_up=True)

    def send(self, payload: bytes, key: str | None, properties: Sequence[tuple[str, str]]) -> Promise:
        """Publish; a promise of the message id."""
        return self.parts[self.route(key)].send(payload, key, properties)

    def route(self, key: str | None) -> int:
        """The partition of a message."""
        if key is not None:
            return zlib.crc32(key.encode("utf-8", "surrogateescape")) % len(self.parts)
        self._turn += 1
        return self._turn % len(self.parts)

    async def close(self) -> None:
        """Close all of them. Raises Failed."""
        for part in self.parts:
            await part.close()

    def abandon(self) -> None:
        """Give all of them up."""
        for part in self.parts:
            part.abandon()
