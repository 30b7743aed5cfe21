"""Consumers of the reference client.

Source: 001_c0ea8805bb7ed422.txt, "Consumer", "Flow control", "Ack", "RedeliverUnacknowledgedMessages".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from impls.references.pulsar.compress import Corrupt, WrongSize, decompress
from impls.references.pulsar.framing import open_batch, open_block, part
from impls.references.pulsar.promises import Failed, Promise, Task
from impls.references.pulsar.schema import ENUMS, SINCE
from impls.references.pulsar.wire import Malformed, Message

if TYPE_CHECKING:
    from impls.references.pulsar.channel import Channel
    from impls.references.pulsar.client import Caller

INDIVIDUAL, CUMULATIVE = 0, 1
SHARED = (1, 3)
REASONS = ENUMS["CommandAck.ValidationError"]

Id = tuple[int, int]


class Incoming(NamedTuple):
    """One message for the application. `at` is its place in a batch, -1 outside one."""

    receiver: Receiver
    id: Id
    message_id: Message
    at: int
    payload: bytes
    key: str | None
    properties: list[tuple[str, str]]


class Discard(Exception):
    """A message that is not for the application: it is acknowledged with this reason."""

    def __init__(self, reason: str, messages: int = 1) -> None:
        super().__init__(reason)
        self.messages = messages


class Receiver:
    """A consumer on one topic, or one partition. It comes again after whatever closed it."""

    def __init__(self, caller: Caller, topic: str, subscription: str, kind: int, name: str, permits: int) -> None:
        self.caller = caller
        self.switches = caller.switches
        self.topic, self.subscription, self.kind, self.name = topic, subscription, kind, name
        self.size = permits
        self.id = caller.new_id(other=True)
        self.channel: Channel | None = None
        self.queue: deque[Incoming] = deque()
        self.given_back = 0  # permits that were used and are not granted again yet
        self.unacked: dict[Id, set[int]] = {}  # what is not acknowledged of each entry, by index
        self.ids: dict[Id, Message] = {}
        self.acks: list[Message] = []
        self.upto: Message | None = None
        self.answers: list[Promise] = []  # to acknowledgements, where they are asked for
        self.closed = False

    async def open(self) -> None:
        """Look the topic up, subscribe there, and permit messages. Raises Failed."""
        channel = await self.caller.channel_for(self.topic)
        body: Message = {
            "topic": self.topic,
            "subscription": self.subscription,
            "subType": self.kind,
            "consumer_id": self.id,
        }
        if self.name:
            body["consumer_name"] = self.name
        try:
            await channel.ask("SUBSCRIBE", body)
        except Failed as failed:
            if failed.code is None and not channel.hung_up:
                Task(self.give_back(channel))
            raise
        if channel.hung_up:
            raise Failed("closed meanwhile")
        if self.closed:
            Task(self.give_back(channel))
            return
        self.opened(channel)

    async def give_back(self, channel: Channel) -> None:
        """Close a consumer of which we do not know whether it is open."""
        await channel.ask("CLOSE_CONSUMER", {"consumer_id": self.id})

    def opened(self, channel: Channel) -> None:
        """Subscribed: nothing is permitted, and what was not acknowledged comes again."""
        self.channel = channel
        channel.receivers[self.id] = self
        self.queue.clear()
        self.given_back = 0
        if self.size:
            self.permit(self.size)

    def permit(self, messages: int) -> None:
        """Send FLOW."""
        if self.channel is not None:
            self.channel.say("FLOW", {"consumer_id": self.id, "messagePermits": messages})

    # Messages

    def on_message(self, body: Message, rest: bytes) -> None:
        """A MESSAGE. What cannot be taken apart is acknowledged with the reason. Raises Malformed."""
        found = (body["message_id"]["ledgerId"], body["message_id"]["entryId"])
        try:
            messages = self.open_entry(found, body, rest)
        except Discard as discard:
            if self.switches.unreadable == "reconnect" and self.channel is not None:
                self.channel.end(str(discard))
                return
            self.discard(body["message_id"], str(discard), discard.messages)
            return
        self.ids[found] = {"ledgerId": found[0], "entryId": found[1]}
        if "partition" in body["message_id"]:
            self.ids[found]["partition"] = body["message_id"]["partition"]
        self.unacked[found] = {each.at for each in messages}
        self.queue.extend(messages)
        self.caller.wake_receive()

    def open_entry(self, found: Id, body: Message, rest: bytes) -> list[Incoming]:
        """The messages of an entry. Raises Discard and Malformed."""
        load = part(rest)
        if not load.intact:
            raise Discard("ChecksumMismatch")
        metadata, payload = open_block(load.block)
        count = metadata.get("num_messages_in_batch", 1)
        if kind := metadata.get("compression", 0):
            payload = self.unpacked(kind, payload, metadata.get("uncompressed_size", 0), count)
        if "num_messages_in_batch" not in metadata:
            return [self.incoming(found, body, -1, payload, metadata)]
        try:
            entries = open_batch(payload, count)
        except Malformed:
            raise Discard("BatchDeSerializeError", max(1, min(count, self.size))) from None
        wanted = sum((word & (1 << 64) - 1) << 64 * at for at, word in enumerate(body.get("ack_set", [])))
        return [
            self.incoming(found, body, at, data, head)
            for at, (head, data) in enumerate(entries)
            if not wanted or wanted >> at & 1
        ]

    def unpacked(self, kind: int, payload: bytes, size: int, messages: int) -> bytes:
        """A payload before it was compressed. Raises Discard."""
        try:
            return decompress(kind, payload, size)
        except WrongSize:
            raise Discard("UncompressedSizeCorruption", messages) from None
        except Corrupt:
            raise Discard("DecompressionError", messages) from None

    def incoming(self, found: Id, body: Message, index: int, payload: bytes, head: Message) -> Incoming:
        """A message, with what belongs to it."""
        properties = [(each["key"], each["value"]) for each in head.get("properties", [])]
        return Incoming(self, found, body["message_id"], index, payload, head.get("partition_key"), properties)

    def discard(self, message_id: Message, reason: str, messages: int) -> None:
        """Acknowledge what the application will never see, and permit as much again."""
        if self.channel is not None:
            body = {"consumer_id": self.id, "ack_type": INDIVIDUAL, "message_id": [message_id]}
            self.channel.say("ACK", {**body, "validation_error": REASONS[reason]})
        self.used(messages)

    def take(self) -> Incoming:
        """The next message for the application."""
        message = self.queue.popleft()
        self.used(1)
        return message

    def used(self, messages: int) -> None:
        """The application took messages: permit as many again, now or when there are more."""
        self.given_back += messages
        if self.given_back >= (max(1, self.size // 2) if self.switches.flow == "half" else 1):
            self.permit(self.given_back)
            self.given_back = 0

    # Acknowledging

    def ack(self, message: Incoming, cumulative: bool) -> None:
        """Acknowledge, now or with others. An entry is acknowledged when all its messages are."""
        if cumulative:
            self.ack_upto(message)
            return
        left = self.unacked.get(message.id)
        if left is None or message.at not in left:
            self.ack_again(message, whole=left is None)
            return
        left.discard(message.at)
        if not left:
            del self.unacked[message.id]
            self.acks.append(self.ids.pop(message.id))
            self.soon()

    def ack_again(self, message: Incoming, *, whole: bool) -> None:
        """Acknowledge what was acknowledged before. Raises Failed."""
        how = self.caller.switches.acked_before
        if how == "fail":
            raise Failed("it was acknowledged before")
        if how == "again" and whole:
            self.acks.append({"ledgerId": message.id[0], "entryId": message.id[1]})
            self.soon()

    def ack_upto(self, message: Incoming) -> None:
        """Acknowledge a message and all before it: of a batch that is not read to its end, what is before it."""
        done = [each for each in self.unacked if each < message.id]
        left = {index for index in self.unacked.get(message.id, set()) if index > message.at}
        if message.id in self.unacked and not left:
            done.append(message.id)
        elif message.id in self.unacked:
            self.unacked[message.id] = left
        if done:
            last = max(done)
            self.upto = self.ids[last]
            for each in done:
                del self.unacked[each]
                self.ids.pop(each, None)
            self.soon()

    def soon(self) -> None:
        """Send acknowledgements, now or after a while."""
        if self.switches.ack_ms:
            self.caller.later(self.switches.ack_ms, self.flush)
        else:
            self.flush()

    def flush(self) -> None:
        """Send the acknowledgements that wait, the cumulative one first."""
        if self.channel is None:
            return
        if self.upto is not None:
            self.say_ack(CUMULATIVE, [self.upto])
            self.upto = None
        acks, self.acks = self.acks, []
        several = self.channel.agreed >= 12 and self.switches.ack_lists
        for group in [acks] if acks and several else [[each] for each in acks]:
            self.say_ack(INDIVIDUAL, group)

    def say_ack(self, kind: int, group: list[Message]) -> None:
        """Send an ACK, perhaps one that is answered."""
        if self.channel is None:
            return
        body: Message = {"consumer_id": self.id, "ack_type": kind, "message_id": group}
        if self.switches.ack_answers and self.channel.agreed >= SINCE["ACK_RESPONSE"]:
            self.answers.append(Task(self.channel.ask("ACK", body)))
        else:
            self.channel.say("ACK", body)

    def redeliver(self) -> None:
        """Have everything come again that is not acknowledged."""
        if self.channel is None or self.channel.agreed < SINCE["REDELIVER_UNACKNOWLEDGED_MESSAGES"]:
            return
        self.flush()
        dropped = len(self.queue)
        self.queue.clear()
        if self.kind not in SHARED or self.switches.redeliver == "all":
            self.ask_again([])
        elif self.unacked:
            self.ask_again([self.ids[each] for each in self.unacked])
        if dropped:
            self.used(dropped)

    def ask_again(self, messages: list[Message]) -> None:
        """Ask for these messages again, without any for all."""
        if self.channel is not None:
            listed: Message = {"message_ids": messages} if messages else {}
            self.channel.say("REDELIVER_UNACKNOWLEDGED_MESSAGES", {"consumer_id": self.id, **listed})

    # The end

    def on_closed(self) -> None:
        """Come again: what was not taken by the application will too."""
        if self.channel is not None:
            self.channel.receivers.pop(self.id, None)
        self.channel = None
        self.queue.clear()
        if not self.closed:
            Task(self.caller.again(self.open))

    async def close(self) -> None:
        """Close the consumer. Raises Failed."""
        self.flush()
        self.closed = True
        channel, self.channel = self.channel, None
        self.queue.clear()
        if channel is not None:
            channel.receivers.pop(self.id, None)
            await channel.ask("CLOSE_CONSUMER", {"consumer_id": self.id})

    def abandon(self) -> None:
        """Give up, without a word."""
        self.closed = True


class PartitionedReceiver:
    """A consumer of a topic, or of all its partitions."""

    receiver_type = Receiver

    def __init__(
        self, caller: Caller, topics: Sequence[str], subscription: str, kind: int, name: str, permits: int
    ) -> None:
        self.parts = [self.receiver_type(caller, topic, subscription, kind, name, permits) for topic in topics]
        self.waiting: Promise | None = None

    async def open(self) -> None:
        """Open all of them. Raises Failed."""
        for each in self.parts:
            await each.caller.again(each.open, give_up=True)

    def take(self) -> Incoming | None:
        """The next message, if there is one."""
        return next((each.take() for each in self.parts if each.queue), None)

    def redeliver(self) -> None:
        """Have everything come again that is not acknowledged."""
        for each in self.parts:
            each.redeliver()

    async def close(self) -> None:
        """Close all of them. Raises Failed."""
        for each in self.parts:
            await each.close()

    def abandon(self) -> None:
        """Give all of them up."""
        for each in self.parts:
            each.abandon()
