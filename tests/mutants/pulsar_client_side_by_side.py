"""Faults of a client that show where several things meet: two consumers beside each other, a PING while something
waits, permits that are used up behind a reconnection, messages without a payload, keys in capitals."""

from __future__ import annotations

import itertools
from collections import deque
from typing import Any, cast

from impls.references.pulsar.channel import Channel
from impls.references.pulsar.client import Caller
from impls.references.pulsar.framing import Frame
from impls.references.pulsar.receiving import CUMULATIVE, Incoming, Receiver
from impls.references.pulsar.sending import PartitionedSender, Sender
from impls.references.pulsar.wire import Malformed, Message
from tests.mutants.faults import on
from tests.mutants.pulsar_client_parts import client

BESIDE = ("interpret", (2, 2, 0), ("beside", 0, 0, 0, 0, 0))
WIRE = "FRM-04 MSG-04 FRM-15 FLOW-08 BAT-07"
"""What may be blamed for a message that was not given."""

# -- consumers side by side --------------------------------------------------------------------------------------------


@client("consumer-ids-by-count", "SUB-04", accept="PROD-03", history=True, program=(
    "interpret", (2, 2, 0), ("leave", 0, 0, 0, 0, 0)))  # fmt: skip
class ConsumerIdsByCount(Receiver):
    """A consumer gets the number of those that there are, which is taken once another one was closed."""

    def __init__(self, caller: Any, *given: Any) -> None:
        super().__init__(caller, *given)
        self.id = len(caller.receivers)


client("consumer-id-of-the-first", "SUB-04", accept="PROD-03 SUB-03", history=True, program=BESIDE)(
    "The second consumer of an application gets the id of the first, and each one after it an id of its own.",
    on(Receiver, "__init__").after(
        lambda self, caller: setattr(self, "id", _first_of(caller)), when=lambda caller: len(caller.receivers) == 1
    ),
)


def _first_of(caller: Any) -> int:
    return int(next(iter(caller.receivers.values())).parts[0].id)


def _second(self: Receiver) -> bool:
    """True for a consumer that is not the first of its connection."""
    return self.channel is not None and self.id != next(iter(self.channel.receivers), self.id)


client("second-acks-one-for-all", "ACK-13", history=True, program=("interpret", (2, 2, 0), ("beside", 0, 0, 0, 4, 0)))(
    "Only the first consumer of a connection acknowledges all up to a message where it is told to.",
    on(Receiver, "say_ack").takes(kind=lambda self, kind: 0 if _second(self) else kind),
)
client("second-acks-up-to-it", "ACK-13", accept="VER-06", history=True, program=BESIDE)(
    "The second consumer of a connection acknowledges, with a message, all that came before it.",
    on(Receiver, "say_ack").takes(kind=lambda self, kind: CUMULATIVE if _second(self) else kind),
)
client("second-grants-once", "FLOW-07", level="SHOULD", accept="FLOW-08", history=True, program=BESIDE)(
    "The second consumer of a connection permits nothing more once its messages were taken.",
    on(Receiver, "used").skips(when=_second),
)

# -- how many ids an ACK has -------------------------------------------------------------------------------------------

client("acks-twice-in-one", "VER-06", program=("oddly", (0, 1, 1, 0, 0)))(
    "Names each message twice in its ACK.", on(Receiver, "say_ack").takes(group=lambda group: group * 2)
)


@client("acks-the-first-of-several", "ACK-13", history=True, ack_ms=3, program=BESIDE)
class AcksTheFirstOfSeveral(Receiver):
    """Of several messages that it acknowledges together, it names the first alone."""

    def say_ack(self, kind: int, group: list[Message]) -> None:
        super().say_ack(kind, group[:1])


# -- permits -----------------------------------------------------------------------------------------------------------


@client("grants-once-when-back", "FLOW-07", level="SHOULD", accept="FLOW-08", history=True, program=(
    "interpret", (2, 2, 0), ("consumer", 0, 3, 0, 0, 0), ("drop", 0, 0, 0, 0, 0)))  # fmt: skip
class GrantsOnceWhenBack(Receiver):
    """Permits nothing more for what was taken once it has come back."""

    times = 0

    def opened(self, channel: Channel) -> None:
        self.times += 1
        super().opened(channel)

    def used(self, messages: int) -> None:
        if self.times < 2:
            super().used(messages)


# -- nothing in it -----------------------------------------------------------------------------------------------------


class Lacking(Receiver):
    """Does not give the application all that it was sent."""

    def on_message(self, body: Message, rest: bytes) -> None:
        super().on_message(body, rest)
        self.queue = deque(each for each in self.queue if self.keeps(each))

    def keeps(self, message: Incoming) -> bool:
        """True for a message that the application gets."""
        raise NotImplementedError


client("empty-dropped", "FLOW-08", accept=WIRE, history=True, program=BESIDE)(
    "Does not give the application a message without a payload.",
    on(Lacking, "keeps").instead(lambda message: message.payload or message.at >= 0),
)
client("empty-of-a-batch-dropped", "BAT-07", accept=WIRE, history=True, program=(
    "interpret", (2, 2, 0), ("receive", 0, 3, 0, 0, 0)))(
    "Does not give the application a message of a batch that has no payload.",
    on(Lacking, "keeps").instead(lambda message: message.payload or message.at < 0),
)  # fmt: skip
client(
    "sends-nothing-empty",
    "FRM-15",
    accept="FRM-04",
    history=True,
    program=("interpret", (2, 2, 0), ("send", 0, 5, 0, 0, 0)),
)(
    "Sends a blank where a payload is empty.",
    on(Sender, "send").takes(payload=lambda payload: payload or b" "),
)

# -- keys --------------------------------------------------------------------------------------------------------------

KEYED = ("interpret", (2, 2, 0), ("send", 0, 0, 2, 0, 0))

client("keys-in-small-letters", "MD-05", program=KEYED)(
    "Sends keys in small letters.",
    on(PartitionedSender, "send").takes(key=lambda key: key if key is None else key.lower()),
)
client("given-keys-in-small-letters", "MD-05", accept="BAT-07", program=BESIDE)(
    "Gives the application keys in small letters.",
    on(Receiver, "take").gives(lambda found: found._replace(key=found.key and found.key.lower())),
)
client("keys-beside-properties-lost", "MD-05", program=("interpret", (2, 2, 0), ("send", 0, 0, 2, 1, 1)))(
    "Sends no key where there are properties.",
    on(PartitionedSender, "send").takes(key=lambda key, properties: None if properties else key),
)
client("keys-of-nothing-lost", "MD-05", program=("interpret", (2, 2, 0), ("send", 0, 5, 2, 0, 0)))(
    "Sends no key where the payload is empty.",
    on(PartitionedSender, "send").takes(key=lambda key, payload: key if payload else None),
)


# -- PING --------------------------------------------------------------------------------------------------------------


def _silent(when: Any) -> type:
    return on(Channel, "say").skips(when=lambda self, name: name == "PONG" and when(self))


client(
    "no-pong-while-it-receives",
    "KA-01",
    accept="KA-09",
    history=True,
    program=("interpret", (2, 2, 0), ("ping", 0, 1, 0, 0, 0)),
)(
    "Does not answer PING while its application waits for a message.",
    _silent(lambda self: self.caller.reading is not None),
)
client(
    "no-pong-while-messages-wait",
    "KA-01",
    accept="KA-09",
    history=True,
    program=("interpret", (2, 2, 0), ("ping", 0, 2, 0, 0, 0)),
)(
    "Does not answer PING while messages wait for its application.",
    _silent(lambda self: any(each.queue for each in self.receivers.values())),
)


class Pausing(Channel):
    """Reads nothing while more messages wait for the application than a consumer has room for."""

    held: deque[Frame]

    def handle(self, frame: Frame) -> None:
        vars(self).setdefault("held", deque()).append(frame)
        self.go_on()

    def go_on(self) -> None:
        """Read what there is, as far as there is room."""
        held = vars(self).get("held", ())
        try:
            while held and not self.hung_up and all(len(each.queue) <= each.size for each in self.receivers.values()):
                super().handle(held.popleft())
        except Malformed as malformed:
            self.end(str(malformed))


@client("waits-for-room", "KA-01", accept=f"KA-09 {WIRE}", history=True, program=(
    "interpret", (2, 2, 0), ("ping", 0, 2, 3, 0, 1)))  # fmt: skip
class WaitsForRoom(Caller):
    """A batch of more messages than it permits stops the connection until the application takes them."""

    channel_type = Pausing

    async def command(self, op: str, given: dict[str, Any]) -> Any:
        try:
            return await super().command(op, given)
        finally:
            for channel in self.live_channels():
                cast("Pausing", channel).go_on()


client(
    "no-pong-while-it-asks",
    "KA-01",
    accept="KA-09",
    history=True,
    program=("interpret", (2, 2, 12), ("producer", 0, 0, 0, 0, 0)),
)("Does not answer PING while a request of its own is open.", _silent(lambda self: bool(self.open)))

# -- many --------------------------------------------------------------------------------------------------------------

MANY = ("many_sends", (2, 2, 0, 0, 0))

client("counts-in-8-bits", "SEND-03", accept="SEND-14 SEND-02", history=True, program=MANY)(
    "Keeps 8 bits of its sequence ids.",
    on(Sender, "pack").before(lambda self: setattr(self, "next_sequence", self.next_sequence & 0xFF)),
)


@client("skips-one-of-256", "SEND-02", level="SHOULD", history=True, program=MANY)
class SkipsOneOf256(Sender):
    """Passes over a sequence id each time that it has sent 255 messages."""

    def pack(self, group: list[Any]) -> Any:
        counted = vars(self).setdefault("counted", itertools.count(1))
        if next(counted) % 256 == 0:
            self.next_sequence += 1
        return super().pack(group)


client(
    "upto-drops-single-ones",
    "ACK-13",
    history=True,
    ack_ms=3,
    program=("interpret", (2, 2, 0), ("beside", 0, 0, 0, 24, 0)),
)(
    "An acknowledgement of all up to a message drops those of single ones that wait.",
    on(Receiver, "ack_upto").before(lambda self: self.acks.clear()),
)


@client("receipt-by-number", "REQ-03", history=True, program=("interpret", (2, 2, 0), ("crossed", 1, 0, 0, 0, 0)))
class ReceiptByNumber(Sender):
    """A receipt belongs to the first producer of the connection that waits for one of its number."""

    def on_send_receipt(self, body: Message) -> None:
        waiting = self.channel.senders.values() if self.channel is not None else ()
        first = (each for each in waiting if each.unconfirmed and each.unconfirmed[0].sequence == body["sequence_id"])
        Sender.on_send_receipt(next(first, self), body)
