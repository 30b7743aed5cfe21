"""Clients that break one row of invalid input each: what they are told, and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from impls.references.pulsar.channel import ANSWERS, NOBODY, Channel
from impls.references.pulsar.client import CONNECT, Caller
from impls.references.pulsar.client_memory import Client, Talk
from impls.references.pulsar.compress import Corrupt, WrongSize, decompress
from impls.references.pulsar.framing import Frame, open_batch, open_block, part
from impls.references.pulsar.receiving import Incoming, Receiver
from impls.references.pulsar.wire import Malformed, Message
from tests.mutants.faults import on
from tests.mutants.pulsar_client_parts import client

Sign = Callable[["Mortal", str, Message, Frame], Any]


class Mortal(Channel):
    """A connection of a client that may die: the process ends, and its connections with it."""

    def __init__(self, caller: Caller, url: str) -> None:
        self.asked: dict[int, str] = {}
        self.permits: dict[int, int] = {}
        super().__init__(caller, url)

    def sign(self, name: str, body: Message, frame: Frame) -> Any:
        """True for what it does not survive."""
        return False

    def say(self, name: str, body: Message) -> None:
        self.asked[body.get("request_id", NOBODY)] = name
        if name == "FLOW":
            self.permits[body["consumer_id"]] = self.permits.get(body["consumer_id"], 0) + body["messagePermits"]
        super().say(name, body)

    def handle(self, frame: Frame) -> None:
        name, body = frame.command.name, frame.command.body or {}
        if self.sign(name, body, frame):
            self.die()
        else:
            super().handle(frame)

    def end(self, why: str, *, fatal: bool = False) -> None:
        if why not in ("disconnected", "the broker closed the connection") and self.sign("", {"why": why}, NO_FRAME):
            self.die()
        else:
            super().end(why, fatal=fatal)

    def die(self) -> None:
        """Nothing happens any more."""
        self.caller.dead = True  # type: ignore[attr-defined]
        for channel in self.caller.channels:
            channel.hung_up = True


NO_FRAME: Any = None


class MortalTalk(Talk):
    """A connection in memory that tells how the process ended."""

    def facts(self) -> Sequence[tuple[str, Any]]:
        dead = self.caller.__dict__.pop("dead", False)
        return [*super().facts(), *([("exit", 70)] if dead else [])]


class MortalClient(Client):
    """A client that may die."""

    def talk(self, caller: Caller, place: int) -> Talk:
        return MortalTalk(caller, place)


def dies(row: str, what: str, program: tuple[Any, ...], sign: Sign, *, level: str = "SHOULD", accept: str = "") -> None:
    """Register a client that dies of what a sign tells."""
    channel = type("Dying", (Mortal,), {"sign": sign})
    caller = type("DyingCaller", (Caller,), {"channel_type": channel})
    part_of = type("DyingClient", (MortalClient,), {"caller_type": caller, "__doc__": f"Dies of {what}."})
    client("dies-of-" + what.replace(" ", "-"), row, level=level, accept=accept, program=program)(part_of)


def broken(case: int, *more: int) -> tuple[Any, ...]:
    """A program of one thing that may end the connection."""
    return ("interpret", (0, 0, 0), ("broken", 0, case, *more, *[0] * (3 - len(more))))


def strays(case: int) -> tuple[Any, ...]:
    """A program of one thing that must be ignored."""
    return ("interpret", (0, 0, 0), ("strays", 0, case, 0, 0, 0))


def spoiled(case: int, which: int = 0) -> tuple[Any, ...]:
    """A program of one message that cannot be read."""
    return ("interpret", (0, 0, 0), ("spoiled", 0, case, which, 0, 0))


def odd(*head: int) -> tuple[Any, ...]:
    """A program of a broker that is odd from the first frame on."""
    return ("oddly", (0, *head, *[0] * (5 - len(head))))


def unasked(channel: Mortal, name: str, body: Message, frame: Frame) -> bool:
    """True for an answer to nothing."""
    number = body.get("request_id", NOBODY)
    return name in ANSWERS and number != NOBODY and not any(each == number for _, each in channel.open)


def refuses(kind: str) -> Sign:
    """A sign that a request was refused."""
    return lambda channel, name, body, frame: name == "ERROR" and channel.asked.get(body["request_id"]) == kind


def ahead(channel: Mortal, name: str, body: Message, frame: Frame) -> bool:
    """True for a receipt for another message than the oldest."""
    sender = channel.senders.get(body.get("producer_id", -1))
    waiting = sender.unconfirmed if name == "SEND_RECEIPT" and sender is not None else ()
    return bool(waiting) and waiting[0].sequence != body["sequence_id"]


def beyond(channel: Mortal, name: str, body: Message, frame: Frame) -> bool:
    """True for more messages than permitted."""
    if name != "MESSAGE" or body["consumer_id"] not in channel.receivers:
        return False
    left = channel.permits[body["consumer_id"]] = channel.permits.get(body["consumer_id"], 0) - 1
    return left < 0


def bare(channel: Mortal, name: str, body: Message, frame: Frame) -> bool:
    """True for a message without a checksum."""
    return name == "MESSAGE" and part(frame.rest).checksum is None


dies("FRM-13", "garbage", odd(4, 3), lambda s, name, body, frame: "why" in body, level="MUST",
     accept="INV-CLIENT-17")  # fmt: skip
dies("INV-CLIENT-02", "a message without a checksum", odd(1), bare)
dies("INV-CLIENT-07", "a message for nobody", strays(0), lambda s, name, body, frame: name == "MESSAGE"
     and body["consumer_id"] not in s.receivers, level="MUST")  # fmt: skip
dies("INV-CLIENT-18", "octets behind a command", broken(3), lambda s, name, body, frame: name != "MESSAGE" and s.live
     and frame is not None and frame.rest)  # fmt: skip
dies("INV-CLIENT-20", "two commands in one", broken(4), lambda s, name, body, frame: s.live
     and frame is not None and frame.command.others)  # fmt: skip
dies("REQ-04", "an answer to nothing", strays(1), unasked, level="MUST")
dies("INV-CLIENT-22", "an error of nothing", strays(3), lambda s, name, body, frame: name == "ERROR" and s.live
     and body["request_id"] == NOBODY)  # fmt: skip
dies("INV-CLIENT-24", "a second CONNECTED", broken(5), lambda s, name, body, frame: name == "CONNECTED" and s.live)
dies("INV-CLIENT-25", "the end of a topic", broken(6), lambda s, name, body, frame: name == "REACHED_END_OF_TOPIC")
dies("INV-CLIENT-26", "a refused CONNECT", odd(4, 1, 1), lambda s, name, body, frame: name == "ERROR" and not s.live)
dies("INV-CLIENT-27", "a challenge", odd(4, 0, 1), lambda s, name, body, frame: name == "AUTH_CHALLENGE")
dies("INV-CLIENT-28", "an early PING", odd(4, 2, 1), lambda s, name, body, frame: name == "PING" and not s.live)
dies("INV-CLIENT-30", "a receipt ahead of its turn", broken(7), ahead)
dies("INV-CLIENT-32", "a refused SEND", broken(8, 1), lambda s, name, body, frame: name == "SEND_ERROR"
     and body["error"] != 9)  # fmt: skip
dies("INV-CLIENT-33", "a refused SUBSCRIBE", broken(12), refuses("SUBSCRIBE"))
dies("INV-CLIENT-34", "a refused PRODUCER", broken(11), refuses("PRODUCER"))
dies("INV-CLIENT-35", "more messages than permitted", ("interpret", (0, 0, 0), ("broken", 0, 10, 0, 0, 1)), beyond)


# -- clients that go on ------------------------------------------------------------------------------------------------


class Silent(Receiver):
    """Does not say of everything that it drops it."""

    row = ""

    def on_message(self, body: Message, rest: bytes) -> None:
        self.rest = rest
        super().on_message(body, rest)

    def discard(self, message_id: Message, reason: str, messages: int) -> None:
        if self.row == UNREADABLE.get(unreadable(self.rest)):
            self.used(messages)
        else:
            super().discard(message_id, reason, messages)


UNREADABLE = {
    "checksum": "01", "garbage for 2": "08", "garbage for 1": "09", "size": "10", "the batch is cut short": "11",
    "an entry's metadata is longer than its batch": "12", "an entry is longer than its batch": "13", "negative": "14",
}  # fmt: skip


def unreadable(rest: bytes) -> str:
    """Why a message cannot be read."""
    load = part(rest)
    if not load.intact:
        return "checksum"
    metadata, payload = open_block(load.block)
    if kind := metadata.get("compression", 0):
        try:
            payload = decompress(kind, payload, metadata.get("uncompressed_size", 0))
        except WrongSize:
            return "size"
        except Corrupt:
            return f"garbage for {kind}"
    try:
        open_batch(payload, metadata.get("num_messages_in_batch", 1))
    except Malformed as malformed:
        return "negative" if negative(payload) else str(malformed)
    return ""


def negative(payload: bytes) -> bool:
    """True for a batch with a negative size: as protobuf writes it, with nine octets that are nearly full."""
    return b"\xff\xff\xff\xff\xff" in payload


for _what, _row, _program in (
    ("wrong checksums", "01", spoiled(0)), ("garbage for ZLIB", "08", spoiled(2)),
    ("garbage for LZ4", "09", spoiled(8)), ("wrong sizes", "10", spoiled(3)),
    ("batches that are too short", "11", spoiled(4)), ("batches of huge metadata", "12", spoiled(5)),
    ("batches of huge messages", "13", spoiled(6)), ("batches of negative sizes", "14", spoiled(9)),
):  # fmt: skip
    client("drops-" + _what.replace(" ", "-"), f"INV-CLIENT-{_row}", level="SHOULD", program=_program)(
        type("SilentOfOne", (Silent,), {"row": _row, "__doc__": f"Drops {_what}, and does not say so."})
    )


@client("other-magic-given", "INV-CLIENT-03", level="SHOULD", accept="FRM-14", program=broken(0))
class OtherMagicGiven(Receiver):
    """Gives the application what stands behind the magic 0x0e09."""

    def on_message(self, body: Message, rest: bytes) -> None:
        if rest[:2] != b"\x0e\x09":
            super().on_message(body, rest)
            return
        found = (body["message_id"]["ledgerId"], body["message_id"]["entryId"])
        self.queue.append(Incoming(self, found, body["message_id"], -1, rest[6:], None, []))
        self.caller.wake_receive()


class Lax(Receiver):
    """Passes over a MESSAGE that cannot be taken apart."""

    def on_message(self, body: Message, rest: bytes) -> None:
        try:
            super().on_message(body, rest)
        except Malformed:
            return


class PastMetadata(Lax):
    """Passes over a MESSAGE whose metadata reach beyond it."""


class PastNoPayload(Lax):
    """Passes over a MESSAGE in a simple frame."""


class PastGarbage(Channel):
    """Passes over a command that cannot be parsed."""

    def end(self, why: str, *, fatal: bool = False) -> None:
        if fatal or self.hung_up or why in ("disconnected", "the broker closed the connection"):
            super().end(why, fatal=fatal)


client("long-metadata-passed-over", "INV-CLIENT-05", accept="FRM-14", program=broken(1))(PastMetadata)
client("no-payload-passed-over", "INV-CLIENT-06", accept="FRM-14", program=broken(2))(PastNoPayload)
client("garbage-passed-over", "INV-CLIENT-17", accept="FRM-13 FRM-14", program=odd(4, 3))(PastGarbage)


# -- signs of life, redirects, lists of ids ----------------------------------------------------------------------------

ALIVE = {"keepalive_s": 30}


client("waits-for-pong-for-ever", "KA-08", level="SHOULD", facts=ALIVE, program=("muted", (0, 1, 0)))(
    "Sends PING, and does not mind that nothing comes.",
    on(Channel, "tick").before(lambda self: setattr(self, "probed", False)),
)


@client("nothing-but-pong-counts", "KA-06", level="SHOULD", facts=ALIVE, history=True, program=("muted", (0, 0, 0)))
class NothingButPongCounts(Channel):
    """Takes no other frame than PONG for a sign of life."""

    def handle(self, frame: Frame) -> None:
        before = self.probed
        super().handle(frame)
        self.probed = before and frame.command.name != "PONG"


client("pong-after-nine-seconds", "KA-01", level="SHOULD", history=True, program=("muted", (0, 6, 0)))(
    "Takes nine seconds for every PONG.",
    on(Channel, "say").instead(
        lambda self, name, body: self.caller.later(9000, lambda: Channel.say(self, name, body)),
        when=lambda name: name == "PONG",
    ),
)


@client("redirected-for-ever", "LOOK-07", level="SHOULD",
        program=("interpret", (0, 0, 0), ("redirect", 0, 0, 11, 0, 0)))  # fmt: skip
class RedirectedForEver(Caller):
    """Follows redirects without an end."""

    async def channel_for(self, topic: str) -> Channel:
        """See `Caller`."""
        url, authoritative = self.url, False
        while True:
            channel = await self.channel(url)
            _, answer = await channel.ask("LOOKUP", {"topic": topic, "authoritative": authoritative})
            if answer.get("response") == CONNECT:
                return await super().channel_for(topic)
            url, authoritative = answer["brokerServiceUrl"], answer.get("authoritative", False)


@client("lists-for-everybody", "VER-06", program=("oddly", (0, 1, 1, 0, 0)), ack_ms=100)
class ListsForEverybody(Receiver):
    """Acknowledges several messages at once, whatever the broker knows."""

    def flush(self) -> None:
        acks, self.acks = self.acks, []
        if acks:
            self.say_ack(0, acks)
        super().flush()


# -- connections on which nothing comes of anything --------------------------------------------------------------------


@client("comes-again-for-ever", "KA-09", history=True, program=("patient", (0, 1, 0, 0, 0)))
class ComesAgainForEver(Channel):
    """Takes no answer, and makes another connection instead."""

    def serve(self, name: str, body: Message, rest: bytes) -> None:
        raise Malformed(name)


client("does-not-hear-connected", "CONN-01", accept="REQ-03 KA-09", program=("patient", (0, 1, 0, 0, 0)))(
    "Waits two seconds for CONNECTED, which has come, and makes another connection, until it gives up after ten.",
    on(Channel, "greeted").skips(when=lambda name: name == "CONNECTED"),
)
