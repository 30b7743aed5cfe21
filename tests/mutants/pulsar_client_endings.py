"""Faults of a client: a connection that is lost again, a consumer that ends as a message comes, a producer that is not
ready yet."""

from __future__ import annotations

from typing import Any

from impls.references.pulsar.channel import Channel
from impls.references.pulsar.checksum import crc32c
from impls.references.pulsar.client import Caller
from impls.references.pulsar.framing import BROKER_METADATA, part
from impls.references.pulsar.promises import Failed
from impls.references.pulsar.receiving import Discard, Id, Incoming, Receiver
from impls.references.pulsar.sending import Outgoing, Sender
from impls.references.pulsar.wire import Message
from strategies.pulsar import serving_scenes
from tests.mutants.faults import on, without
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


# -- the scenes --------------------------------------------------------------------------------------------------------


def scene(name: str, how: int = 0) -> tuple[Any, ...]:
    """One of the scenes of `strategies.pulsar.serving_scenes`."""
    return ("scene", (2, 2, serving_scenes.ROW_OF[name], how, 0))


@client("one-buffer-for-batches", "BAT-07", accept="FRM-04 FRM-15 FLOW-08 CMP-01 CMP-02 CMP-03", history=True,
        program=scene("compressed_batches_wait_together"))  # fmt: skip
class OneBufferForBatches(Receiver):
    """What waits of a compressed batch lies in the buffer into which the next one is decompressed."""

    def unpacked(self, kind: int, payload: bytes, size: int, messages: int) -> bytes:
        fresh = super().unpacked(kind, payload, size, messages)
        kept = [each._replace(payload=(fresh + each.payload)[: len(each.payload)]) for each in self.queue]
        self.queue.clear()
        self.queue.extend(kept)
        return fresh


@client("counts-what-is-left-of-a-batch", "ACK-13", history=True, program=scene("part_of_a_batch_comes_again"))
class CountsWhatIsLeftOfABatch(Receiver):
    """How many messages of a batch are open is counted, and the count goes on when the batch comes again."""

    def ack(self, message: Incoming, cumulative: bool) -> None:
        counts: dict[Any, int] = vars(self).setdefault("counts", {})
        left = self.unacked.get(message.id)
        counts[message.id] = counts.get(message.id, len(left or ())) - 1
        if left and counts[message.id] <= 0:
            self.unacked[message.id] = {message.at}
        super().ack(message, cumulative)


@client(
    "known-on-the-next-connection",
    "FLOW-08",
    accept="FRM-15 BAT-07",
    history=True,
    program=scene("what_was_not_acknowledged_comes_on_the_next_connection"),
)
class KnownOnTheNextConnection(Receiver):
    """A message that it has had is passed over when it comes on the next connection."""

    def on_message(self, body: Message, rest: bytes) -> None:
        known: set[Any] = vars(self).setdefault("known", set())
        found = (body["message_id"]["ledgerId"], body["message_id"]["entryId"])
        if found not in known:
            known.add(found)
            super().on_message(body, rest)

    def redeliver(self) -> None:
        vars(self)["known"] = set()
        super().redeliver()


@client("asked-for-but-once", "RED-09", history=True, program=scene("wanted_again_twice"))
class AskedForButOnce(Receiver):
    """What was asked for again is not asked for once more, though it came and was not acknowledged."""

    def ask_again(self, messages: list[Message]) -> None:
        known: set[Any] = vars(self).setdefault("asked", set())
        wanted = messages or list(self.ids.values())
        fresh = [each for each in wanted if (each["ledgerId"], each["entryId"]) not in known]
        known |= {(each["ledgerId"], each["entryId"]) for each in wanted}
        if fresh:
            super().ask_again(fresh)


@client("unchecked-behind-metadata", "CHK-06", accept="CHK-07 INV-CLIENT-01 INV-CLIENT-04 MSG-04 FRM-04", history=True,
        program=scene("spoilt_behind_metadata_of_the_broker", 1))  # fmt: skip
class UncheckedBehindMetadata(Receiver):
    """The checksum of a message behind metadata of the broker is not looked at."""

    def open_entry(self, found: Id, body: Message, rest: bytes) -> list[Incoming]:
        if rest[:2] == BROKER_METADATA:
            block = part(rest).block
            rest = b"\x0e\x01" + crc32c(block).to_bytes(4, "big") + block
        return super().open_entry(found, body, rest)


@client(
    "frees-a-producer-twice",
    "PROD-03",
    accept="SUB-04",
    history=True,
    program=scene("two_producers_behind_one_that_was_closed"),
)
class FreesAProducerTwice(Caller):
    """The id of a producer that was closed is free for two."""

    def new_id(self, other: bool = False) -> int:
        freed: list[int] = vars(self).setdefault("freed", [])
        return freed.pop() if freed else super().new_id(other)

    async def do_close(self, given: dict[str, Any]) -> Any:
        done = await super().do_close(given)
        if "producer" in given:
            vars(self).setdefault("freed", []).extend([0, 0])
        return done


@client(
    "ready-or-not-on-the-next-connection",
    "PROD-13",
    accept="PROD-01",
    history=True,
    program=scene("not_ready_on_the_next_connection"),
)
class ReadyOrNotOnTheNextConnection(Channel):
    """That a producer is not ready is heeded on the first connection only."""

    def answered(self, name: str, body: Message) -> None:
        if name == "PRODUCER_SUCCESS" and vars(self.caller).get("was_made"):
            body = without(body, "producer_ready")
        vars(self.caller)["was_made"] = vars(self.caller).get("was_made") or name == "PRODUCER_SUCCESS"
        super().answered(name, body)


@client("free-where-the-broker-closed-it", "SUB-04", accept="PROD-03 SUB-03", history=True,
        program=scene("another_behind_one_that_the_broker_closed"))  # fmt: skip
class FreeWhereTheBrokerClosedIt(Receiver):
    """The id of a consumer that the broker has closed is free, though the consumer comes back with it."""

    def __init__(self, caller: Any, *given: Any) -> None:
        super().__init__(caller, *given)
        free: list[int] = vars(caller).setdefault("free", [])
        if free:
            self.id = free.pop()

    def on_closed(self) -> None:
        vars(self.caller).setdefault("free", []).append(self.id)
        super().on_closed()


@client("good-one-for-garbage", "CMP-02", accept="INV-CLIENT-08 FRM-04 MSG-04 CMP-03 CMP-01", history=True,
        program=scene("garbage_behind_a_good_one", 1))  # fmt: skip
class GoodOneForGarbage(Receiver):
    """What cannot be decompressed is given as the last one that could."""

    def unpacked(self, kind: int, payload: bytes, size: int, messages: int) -> bytes:
        try:
            self.last_good = super().unpacked(kind, payload, size, messages)
        except Discard:
            if "last_good" not in vars(self):
                raise
        return self.last_good


@client("authority-is-kept", "LOOK-03", history=True, program=scene("asked_with_authority_once"))
class AuthorityIsKept(Channel):
    """Once a redirect has had it, it asks with authority for ever."""

    async def ask(self, name: str, body: Message) -> tuple[str, Message]:
        if name == "LOOKUP" and vars(self.caller).get("authority"):
            body = {**body, "authoritative": True}
        kind, answer = await super().ask(name, body)
        if answer.get("response") == 0 and answer.get("authoritative"):
            vars(self.caller)["authority"] = True
        return kind, answer


@client("fails-at-the-second-loss", "SEND-14", accept="SEND-03", history=True, program=scene("lost_twice"))
class FailsAtTheSecondLoss(Sender):
    """What was sent twice when the connection is lost again is not sent any more, and whoever waits for it is told."""

    def write(self, outgoing: Outgoing) -> None:
        times: dict[int, int] = vars(self).setdefault("times", {})
        times[outgoing.sequence] = times.get(outgoing.sequence, 0) + 1
        super().write(outgoing)

    def opened(self, channel: Channel, answer: Message) -> None:
        times: dict[int, int] = vars(self).setdefault("times", {})
        for outgoing in [each for each in self.unconfirmed if times.get(each.sequence, 0) > 1]:
            self.unconfirmed.remove(outgoing)
            for promise in outgoing.promises:
                promise.fail(Failed("sent too often"))
        super().opened(channel, answer)


client("zero-is-no-sequence-id", "PROD-12", accept="SEND-02 SEND-03", program=scene("numbers_that_begin_behind_zero"))(
    "Takes a last sequence id of 0 for none.",
    on(Sender, "opened").takes(
        answer=lambda answer: answer if answer.get("last_sequence_id") else without(answer, "last_sequence_id")
    ),
)


@client("pong-on-the-newest", "KA-01", accept="KA-09", history=True, program=scene("both_brokers_ask"))
class PongOnTheNewest(Channel):
    """Answers PING on the connection that it made last, whoever asked."""

    def say(self, name: str, body: Message) -> None:
        newest = self.caller.channels[-1] if name == "PONG" else self
        Channel.say(self if newest.hung_up else newest, name, body)


client("empty-is-no-compressed-payload", "ACK-13", accept="FLOW-08 FRM-15 CMP-01 CMP-02 CMP-03", history=True,
       program=scene("nothing_in_some_of_them", 2))(
    "Refuses a message that is compressed and has no payload.",
    on(Receiver, "unpacked").raises(
        lambda messages: Discard("UncompressedSizeCorruption", messages), when=lambda kind, size: kind and not size
    ),
)  # fmt: skip


@client("zero-is-no-checksum", "CHK-06", accept="CHK-07 INV-CLIENT-01 INV-CLIENT-04 MSG-04 FRM-04", history=True,
        program=("interpret", (0, 0, 0), *(("spoiled", 0, 0, 2 * n, 0, 0) for n in range(16))))  # fmt: skip
class ZeroIsNoChecksum(Receiver):
    """A checksum of 0 is not looked at."""

    def open_entry(self, found: Id, body: Message, rest: bytes) -> list[Incoming]:
        if rest[:6] == b"\x0e\x01\0\0\0\0":
            rest = rest[:2] + crc32c(rest[6:]).to_bytes(4, "big") + rest[6:]
        return super().open_entry(found, body, rest)
