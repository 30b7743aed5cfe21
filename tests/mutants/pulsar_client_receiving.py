"""Faults of a client: what it receives, permits and acknowledges."""

from __future__ import annotations

from typing import Any

from impls.references.pulsar.channel import Channel
from impls.references.pulsar.checksum import crc32c
from impls.references.pulsar.compress import LZ4
from impls.references.pulsar.framing import open_batch, open_block, part
from impls.references.pulsar.receiving import Discard, Id, Incoming, PartitionedReceiver, Receiver
from impls.references.pulsar.wire import Malformed, Message
from tests.mutants.faults import on
from tests.mutants.pulsar_client_parts import client

# -- consuming ---------------------------------------------------------------------------------------------------------


client("not-subscribed-again", "SUB-03", accept="CLC-02 LOOK-01", history=True)(
    "Does not subscribe again.", on(Receiver, "on_closed").before(lambda self: setattr(self, "closed", True))
)


@client("consumer-ids-of-zero", "SUB-04", accept="PROD-03", history=True)
class ConsumerIdsOfZero(Receiver):
    """Gives every consumer the id 0."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.id = 0


client("grants-twice", "FLOW-07", level="SHOULD", history=True)(
    "Permits two messages for each one taken.", on(Receiver, "used").takes(messages=lambda messages: messages * 2)
)
client("grants-once", "FLOW-07", level="SHOULD", accept="FLOW-08", history=True)(
    "Permits nothing more once it was taken.", on(Receiver, "used").skips()
)
client("every-third-lost", "FLOW-08", accept="FRM-15 FRM-04 MSG-04 BAT-07", history=True)(
    "Loses every third message.", on(Receiver, "on_message").skips(when=lambda calls: calls % 3 == 0)
)


@client("checksum-unread", "CHK-06", accept="CHK-07 MSG-04 FRM-04 BAT-08 INV-CLIENT-01")
class ChecksumUnread(Receiver):
    """Does not look at checksums."""

    def open_entry(self, found: Id, body: Message, rest: bytes) -> list[Incoming]:
        load = part(rest)
        intact = b"\x0e\x01" + crc32c(load.block).to_bytes(4, "big") + load.block
        return super().open_entry(found, body, intact)


client(
    "discards-in-silence",
    "INV-CLIENT-13",
    level="SHOULD",
    accept=" ".join(f"INV-CLIENT-{n}" for n in ("01", "08", "09", "10", "11", "12", "14")),
)(
    "Does not acknowledge what it cannot read.",
    on(Receiver, "discard").instead(lambda self, messages: self.used(messages)),
)
client("one-reason", "CHK-07", level="SHOULD", accept="BAT-09 CMP-03 CMP-02")(
    "Gives one reason for all that it cannot read.",
    on(Receiver, "discard").takes(
        reason=lambda reason: "DecompressionError" if reason != "DecompressionError" else "ChecksumMismatch"
    ),
)


@client("batch-backwards", "BAT-07", accept="FRM-04 MSG-04 FLOW-08", history=True)
class BatchBackwards(Receiver):
    """Gives the messages of a batch in the other order."""

    def open_entry(self, found: Id, body: Message, rest: bytes) -> list[Incoming]:
        return super().open_entry(found, body, rest)[::-1]


@client("batch-heads-mixed", "BAT-07", accept="FRM-04 MSG-04 MD-05", history=True)
class BatchHeadsMixed(Receiver):
    """Gives all messages of a batch the key of the first."""

    def open_entry(self, found: Id, body: Message, rest: bytes) -> list[Incoming]:
        messages = super().open_entry(found, body, rest)
        return [each._replace(key=messages[0].key, properties=messages[0].properties) for each in messages]


@client("outer-key", "BAT-07", accept="FRM-04 MSG-04 MD-05", history=True, program=(
    "interpret", (2, 2, 0), ("receive", 0, 7, 0, 1, 0)))  # fmt: skip
class OuterKey(Receiver):
    """Gives all messages of a batch the key that stands beside it, if there is one."""

    def open_entry(self, found: Id, body: Message, rest: bytes) -> list[Incoming]:
        messages = super().open_entry(found, body, rest)
        outer = open_block(part(rest).block)[0].get("partition_key")
        return messages if outer is None else [each._replace(key=outer) for each in messages]


@client("acks-counted", "ACK-13", history=True, program=("interpret", (2, 2, 0), ("receive", 0, 7, 0, 5, 0)))
class AcksCounted(Receiver):
    """Counts the acknowledgements of a batch, whichever of its messages they are of; of three, two are enough."""

    def ack(self, message: Incoming, cumulative: bool) -> None:
        left = self.unacked.get(message.id)
        if cumulative or left is None or message.at < 0:
            super().ack(message, cumulative)
            return
        counted = vars(self).setdefault("counted", {})
        counted[message.id] = counted.get(message.id, 0) + 1
        if counted[message.id] == 2:
            self.unacked[message.id] = {message.at}
        super().ack(message, cumulative)


@client("batch-of-one", "BAT-10", accept="BAT-07 FRM-04 MSG-04")
class BatchOfOne(Receiver):
    """Takes a batch of one for a message."""

    def open_entry(self, found: Id, body: Message, rest: bytes) -> list[Incoming]:
        metadata, payload = open_block(part(rest).block)
        if metadata.get("num_messages_in_batch") == 1 and not metadata.get("compression") and part(rest).intact:
            return [self.incoming(found, body, -1, payload, metadata)]
        return super().open_entry(found, body, rest)


@client("batch-as-far-as-it-goes", "BAT-08", accept="BAT-09 MSG-04 FRM-04 BAT-07 INV-CLIENT-11")
class BatchAsFarAsItGoes(Receiver):
    """Gives what it can read of a batch."""

    def open_entry(self, found: Id, body: Message, rest: bytes) -> list[Incoming]:
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


client("not-decompressed", "CMP-02", accept="CMP-03 FRM-04 MSG-04 BAT-07 INV-CLIENT-09 INV-CLIENT-10")(
    "Gives the compressed octets of what it cannot decompress.",
    on(Receiver, "unpacked").forgives(Discard, lambda payload: payload),
)


def _copied_at_once(data: bytes, size: int) -> bytes:
    """An LZ4 block, sound in all but one point: of a match, what is not there when it begins is left 0."""
    out, at = bytearray(), 0

    def length(nibble: int) -> int:
        nonlocal at
        while nibble >= 15 and at < len(data):
            at += 1
            nibble += data[at - 1]
            if data[at - 1] < 255:
                break
        return nibble

    while at < len(data):
        token = data[at]
        at += 1
        literals = length(token >> 4)
        out += data[at : at + literals]
        at += literals
        if at < len(data):
            begin = len(out) - int.from_bytes(data[at : at + 2], "little")
            at += 2
            many = length(token & 15) + 4
            out += bytes(out[begin : begin + many]).ljust(many, b"\0")
    return bytes(out[:size])


client("match-copied-at-once", "FRM-04", accept="CMP-02 MSG-04 BAT-07 BAT-08 BAT-09 FLOW-08", history=True, program=(
    "interpret", (2, 2, 0), ("receive", 0, 0, 2, 1, 4)))(
    "Decompresses LZ4 wrongly where a match overlaps what it makes: it is copied at once.",
    on(Receiver, "unpacked").gives(
        lambda kind, payload, size, found: _copied_at_once(payload, size) if kind == LZ4 else found
    ),
)  # fmt: skip


@client("anybodys-messages", "MSG-04", accept="FRM-04 FLOW-08")
class AnybodysMessages(Channel):
    """Gives a message for an unknown consumer to the first one."""

    def serve(self, name: str, body: Message, rest: bytes) -> None:
        if name == "MESSAGE" and body["consumer_id"] not in self.receivers and self.receivers:
            body = {**body, "consumer_id": next(iter(self.receivers))}
        super().serve(name, body, rest)


client("acks-the-next", "ACK-13")(
    "Acknowledges the message behind the one that it means.",
    on(Receiver, "flush").before(
        lambda self: setattr(self, "acks", [{**each, "entryId": each["entryId"] + 1} for each in self.acks])
    ),
)


@client("acks-up-to-it", "ACK-13", accept="VER-06", history=True)
class AcksUpToIt(Receiver):
    """Acknowledges, with a message, all that came before it."""

    def say_ack(self, kind: int, group: list[Message]) -> None:
        for each in group:
            super().say_ack(1, [each])


client("acks-in-32-bits", "ACK-13", history=True)(
    "Keeps 32 bits of the ledger that a message is in.",
    on(Receiver, "say_ack").takes(
        group=lambda group: [{**each, "ledgerId": each["ledgerId"] & 0xFFFFFFFF} for each in group]
    ),
)


@client("queue-of-eight", "FLOW-08", history=True)
class QueueOfEight(Receiver):
    """Has room for eight messages, however many it permits."""

    def on_message(self, body: Message, rest: bytes) -> None:
        super().on_message(body, rest)
        while len(self.queue) > 8:
            self.queue.pop()


@client("acks-on-the-first-partition", "ACK-13", history=True)
class AcksOnTheFirstPartition(PartitionedReceiver):
    """Acknowledges what any partition brought on its first one."""

    def take(self) -> Incoming | None:
        found = super().take()
        if found is None or found.receiver is self.parts[0]:
            return found
        first = self.parts[0]
        first.unacked[found.id], first.ids[found.id] = {found.at}, found.receiver.ids[found.id]
        return found._replace(receiver=first)


client("acks-when-taken", "ACK-13")(
    "Acknowledges what the application takes.", on(Receiver, "take").after(lambda self, found: self.ack(found, False))
)


@client("acks-when-pushed", "ACK-13", history=True)
class AcksWhenPushed(Receiver):
    """Acknowledges every third message when it comes."""

    count = 0

    def on_message(self, body: Message, rest: bytes) -> None:
        super().on_message(body, rest)
        self.count += 1
        if self.count % 3 == 0 and self.queue:
            self.ack(self.queue[-1], False)


client("permits-forgotten", "FLOW-07", level="SHOULD", accept="SUB-03 CLC-02 FLOW-08 LOOK-01", history=True)(
    "Permits nothing when it has subscribed again.",
    on(Receiver, "opened").before(lambda self: setattr(self, "size", 0), when=lambda calls: calls > 1),
)
client("close-of-consumer-unheard", "CLC-02", accept="SUB-03 LOOK-01", history=True)(
    "Does not hear that the broker closed a consumer.",
    on(Channel, "serve").skips(when=lambda name: name == "CLOSE_CONSUMER"),
)
client("close-of-consumer-ends-all", "CLC-02", accept="SUB-03 CLP-07 INV-CLIENT-23", history=True)(
    "Hangs up when the broker closes a consumer.",
    on(Channel, "serve").instead(lambda self: self.end("closed"), when=lambda name: name == "CLOSE_CONSUMER"),
)


@client("acks-the-batch-at-once", "ACK-13", accept="VER-06", history=True)
class AcksTheBatchAtOnce(Receiver):
    """Acknowledges a batch with its first message."""

    def ack(self, message: Incoming, cumulative: bool) -> None:
        self.unacked[message.id] = {message.at} & self.unacked.get(message.id, set())
        super().ack(message, cumulative)


@client(
    "batch-acked-up-to-its-end", "ACK-13", accept="VER-06", history=True,
    program=("interpret", (0, 0, 0), ("receive", 10, 19, 12, 9, 0)),
)  # fmt: skip
class BatchAckedUpToItsEnd(Receiver):
    """Acknowledges all of a batch when the application acknowledges all up to a message of it."""

    def ack(self, message: Incoming, cumulative: bool) -> None:
        if cumulative:
            self.unacked[message.id] = {message.at} & self.unacked.get(message.id, set())
        super().ack(message, cumulative)


@client(
    "left-of-a-batch-outlives-it", "ACK-13", history=True, program=("interpret", (2, 2, 0), ("again", 0, 0, 2, 2, 5))
)
class LeftOfABatchOutlivesIt(Receiver):
    """Counts on how many messages of a batch are to be acknowledged when it comes again, whichever these are."""

    def on_message(self, body: Message, rest: bytes) -> None:
        super().on_message(body, rest)
        found = (body["message_id"]["ledgerId"], body["message_id"]["entryId"])
        vars(self).setdefault("to_go", {}).setdefault(found, len(self.unacked.get(found, ())))

    def ack(self, message: Incoming, cumulative: bool) -> None:
        left, to_go = self.unacked.get(message.id, set()), vars(self)["to_go"]
        if not cumulative and message.at in left:
            to_go[message.id] -= 1
            if not to_go[message.id]:
                self.unacked[message.id] = {message.at}
        super().ack(message, cumulative)


@client("acks-by-the-last", "ACK-13", history=True)
class AcksByTheLast(Receiver):
    """Acknowledges by the consumer that was made last on the connection."""

    def flush(self) -> None:
        number = self.id
        self.id = max([number, *(self.channel.receivers if self.channel else ())])
        super().flush()
        self.id = number


client("second-consumer-stays-away", "SUB-03", accept="CLC-02 FLOW-08", history=True)(
    "Only the first consumer of a connection comes back when it is lost.",
    on(Receiver, "on_closed").before(
        lambda self: setattr(self, "closed", True),
        when=lambda self: self.channel is not None and self.channel.hung_up and self.id != 0,
    ),
)


client("acks-one-for-all", "ACK-13", program=("interpret", (2, 2, 0), ("many", 0, 2, 2, 2, 0)))(
    "Acknowledges the last message alone where the application has acknowledged all up to it.",
    on(Receiver, "say_ack").takes(kind=lambda kind: 0),
)


@client("acks-up-to-it-ever-after", "ACK-13", history=True, program=("interpret", (2, 2, 0), ("many", 0, 3, 10, 2, 0)))
class AcksUpToItEverAfter(Receiver):
    """Once told to acknowledge all up to a message, acknowledges so whatever comes later."""

    def say_ack(self, kind: int, group: list[Message]) -> None:
        ever = kind == 1 or bool(vars(self).get("ever"))
        vars(self)["ever"] = ever
        for each in group:
            super().say_ack(int(ever), [each])


@client("checksum-read-once", "CHK-06", accept="CHK-07 MSG-04 FRM-04 BAT-08 INV-CLIENT-01", history=True, program=(
    "interpret", (2, 2, 0), ("spoiled", 0, 0, 3, 0, 0)))  # fmt: skip
class ChecksumReadOnce(Receiver):
    """Does not look at checksums any more once one was wrong."""

    def open_entry(self, found: Id, body: Message, rest: bytes) -> list[Incoming]:
        load = part(rest)
        if not vars(self).setdefault("met", False):
            vars(self)["met"] = not load.intact
            return super().open_entry(found, body, rest)
        intact = b"\x0e\x01" + crc32c(load.block).to_bytes(4, "big") + load.block
        return super().open_entry(found, body, intact)


@client("consumer-ids-counted", "SUB-04", accept="PROD-03 FRM-06 MSG-04", history=True, program=(
    "interpret", (2, 2, 0), ("consumer", 0, 0, 0, 0, 0), ("consumer", 0, 0, 0, 0, 0),
    ("leave", 0, 0, 0, 0, 0)))  # fmt: skip
class ConsumerIdsCounted(Receiver):
    """Takes the number of its consumers for the id of the next one, which may be that of one that is still there."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.held: list[Any] = vars(given[0]).setdefault("held", [])
        self.id = len(self.held)
        self.held.append(self)

    async def close(self) -> None:
        await super().close()
        self.held.remove(self)
