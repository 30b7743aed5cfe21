"""Faults of a client: the octets of its frames, what it sends to old brokers, and how its connections end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from impls.references.pulsar.channel import Channel
from impls.references.pulsar.checksum import crc32c
from impls.references.pulsar.compress import compress
from impls.references.pulsar.framing import (
    MAGIC,
    close_batch,
    close_block,
    loaded,
    open_batch,
    open_block,
    part,
    simple,
)
from impls.references.pulsar.promises import Failed, Promise
from impls.references.pulsar.receiving import Receiver
from impls.references.pulsar.sending import Outgoing, Sender
from impls.references.pulsar.wire import Malformed, Message, encode, encode_command
from tests.mutants.faults import has, on
from tests.mutants.pulsar_client_parts import client

# -- frames ------------------------------------------------------------------------------------------------------------


class Framing(Channel):
    """Writes its simple frames otherwise."""

    def framed(self, command: bytes) -> bytes:
        """The octets of a command."""
        raise NotImplementedError

    def say(self, name: str, body: Message) -> None:
        if name == "CONNECT":
            super().say(name, body)
        elif not self.hung_up:
            self.out += self.framed(encode_command(name, body))


@client("size-turned-round", "FRM-01", accept="FRM-09")
class SizeTurnedRound(Framing):
    """Writes TOTAL_SIZE with its least octet first."""

    def framed(self, command: bytes) -> bytes:
        octets = simple(command)
        return octets[3::-1] + octets[4:]


@client("command-size-of-the-frame", "FRM-02", accept="FRM-05")
class CommandSizeOfTheFrame(Framing):
    """Writes TOTAL_SIZE where CMD_SIZE belongs."""

    def framed(self, command: bytes) -> bytes:
        octets = simple(command)
        return octets[:4] * 2 + octets[8:]


@client("octet-behind-commands", "FRM-03")
class OctetBehindCommands(Framing):
    """Ends each command with an octet of zero."""

    def framed(self, command: bytes) -> bytes:
        octets = simple(command)
        return (len(octets) - 3).to_bytes(4, "big") + octets[4:] + b"\0"


client("two-commands-in-one", "FRM-05")(
    "Each of its commands has a PING inside as well.",
    on(Framing, "framed").instead(lambda command: simple(command + bytes.fromhex("920100"))),
)
client("frame-of-six-megabytes", "FRM-09")(
    "Announces a frame of six megabytes for every command.",
    on(Framing, "framed").instead(lambda command: (6_000_000).to_bytes(4, "big") + simple(command)[4:] + bytes(100)),
)


@client("large-ones-refused", "FRM-08", accept="REQ-03", level="SHOULD")
class LargeOnesRefused(Sender):
    """Sends nothing over four megabytes."""

    def send(self, payload: bytes, key: str | None, properties: Iterable[tuple[str, str]]) -> Promise:
        if len(payload) > 4_000_000:
            promise = Promise()
            promise.fail(Failed("too large"))
            return promise
        return super().send(payload, key, list(properties))


@client("two-octets-of-checksum", "CHK-01", accept="CHK-03 FRM-14")
class TwoOctetsOfChecksum(Channel):
    """Its checksums have two octets, as the seed says by mistake."""

    def say_send(self, body: Message, block: bytes) -> None:
        command = encode_command("SEND", body)
        head = MAGIC + (crc32c(block) & 0xFFFF).to_bytes(2, "big")
        size = 4 + len(command) + len(head) + len(block)
        self.out += size.to_bytes(4, "big") + len(command).to_bytes(4, "big") + command + head + block


@client("checksum-for-everybody", "CHK-09", level="SHOULD")
class ChecksumForEverybody(Channel):
    """Sends checksums to brokers that do not know them."""

    def say_send(self, body: Message, block: bytes) -> None:
        self.out += loaded(encode_command("SEND", body), block, crc32c(block))


@client("no-version-is-the-newest", "VER-04", accept="CHK-09 VER-02", history=True, program=(
    "oddly", (0, 1, 5, 1, 0, 0)))  # fmt: skip
class NoVersionIsTheNewest(Channel):
    """Takes a broker that names no version for one of its own."""

    def greeted(self, name: str, body: Message) -> None:
        super().greeted(name, {"protocol_version": self.caller.version, **body} if name == "CONNECTED" else body)


@client("time-left-out", "MD-01")
class TimeLeftOut(Sender):
    """Leaves out the time of publishing."""

    def pack(self, group: list[tuple[Message, bytes, Promise]]) -> Outgoing:
        outgoing = super().pack(group)
        metadata, payload = open_block(outgoing.block)
        name, number = metadata["producer_name"].encode(), metadata["sequence_id"]
        head = b"\x0a" + bytes([len(name)]) + name + b"\x10" + _varint(number)
        outgoing.block = close_block(head, payload)
        return outgoing


def _varint(number: int) -> bytes:
    """A number as protobuf writes it."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


class Repacking(Sender):
    """Lays its payloads out otherwise."""

    def laid_out(self, metadata: Message, payload: bytes) -> bytes:
        """The other payload."""
        raise NotImplementedError

    def pack(self, group: list[tuple[Message, bytes, Promise]]) -> Outgoing:
        outgoing = super().pack(group)
        metadata, payload = open_block(outgoing.block)
        payload = self.laid_out(metadata, payload)
        outgoing.block = close_block(encode("MessageMetadata", metadata), payload)
        return outgoing


client("octet-behind-the-batch", "BAT-02", batching=3)(
    "Its batches end with an octet of zero.", on(Repacking, "laid_out").instead(lambda payload: payload + b"\0")
)


@client("entry-size-of-the-whole", "BAT-03", batching=3)
class EntrySizeOfTheWhole(Repacking):
    """The last message of a batch says that it is one octet longer."""

    def laid_out(self, metadata: Message, payload: bytes) -> bytes:
        entries = open_batch(payload, metadata["num_messages_in_batch"])
        head, body = entries[-1]
        told = encode("SingleMessageMetadata", {**head, "payload_size": len(body) + 1})
        return close_batch(entries[:-1]) + len(told).to_bytes(4, "big") + told + body


@client("each-compressed-by-itself", "BAT-04", accept="MD-08", batching=3)
class EachCompressedByItself(Repacking):
    """Compresses each message of a batch by itself."""

    def laid_out(self, metadata: Message, payload: bytes) -> bytes:
        entries = open_batch(payload, metadata["num_messages_in_batch"])
        metadata |= {"compression": 2, "uncompressed_size": len(payload)}
        return close_batch((head, compress(2, body)) for head, body in entries)


client("new-compression-for-all", "CMP-04", level="SHOULD", profile="seed", compression="zstd")(
    "Sends ZSTD to brokers that do not know it.", on(Sender, "compression").instead(lambda: 3)
)


# -- order -------------------------------------------------------------------------------------------------------------


client("last-one-first", "FRM-15", accept="SEND-02 SEND-03", history=True)(
    "Gives the application the newest message first.", on(Receiver, "take").before(lambda self: self.queue.rotate(1))
)


@client("others-between-lost", "FRM-06", accept="FLOW-08 FLOW-07", history=True)
class OthersBetweenLost(Channel):
    """Loses a message that comes behind one for another consumer."""

    last = -1

    def serve(self, name: str, body: Message, rest: bytes) -> None:
        if name == "MESSAGE":
            behind, self.last = self.last, body["consumer_id"]
            if behind not in (-1, self.last):
                return
        super().serve(name, body, rest)


@client("sends-before-its-producer", "PROD-01", accept="SEND-01")
class SendsBeforeItsProducer(Channel):
    """Sends before PRODUCER_SUCCESS has come."""

    def say(self, name: str, body: Message) -> None:
        super().say(name, body)
        if name == "PRODUCER":
            metadata: Message = {"producer_name": "p", "sequence_id": 0, "publish_time": 1_700_000_000_000}
            block = close_block(encode("MessageMetadata", metadata), b"early")
            self.say_send({"producer_id": body["producer_id"], "sequence_id": 0}, block)


client("sends-for-another", "SEND-01", accept="PROD-03")(
    "Its SENDs name a producer that there is not.",
    on(Channel, "say_send").takes(body=lambda body: {**body, "producer_id": body["producer_id"] + 1000}),
)
client("statistics-for-everybody", "VER-02", profile="seed")(
    "Asks every broker for statistics.",
    on(Receiver, "opened").after(
        lambda self, channel: channel.say("CONSUMER_STATS", {"request_id": 987, "consumer_id": self.id})
    ),
)


# -- what cannot be read -----------------------------------------------------------------------------------------------


class Refusing(Receiver):
    """Gives another reason for some of what it cannot read."""

    instead: Mapping[str, str] = MappingProxyType({})

    def discard(self, message_id: Message, reason: str, messages: int) -> None:
        super().discard(message_id, self.instead.get(reason, reason), messages)


client("batches-taken-for-torn", "BAT-09", level="SHOULD")(
    "Says of a batch that cannot be taken apart that its checksum is wrong.",
    has(Refusing, instead=MappingProxyType({"BatchDeSerializeError": "ChecksumMismatch"})),
)
client("sizes-taken-for-garbage", "CMP-03", level="SHOULD")(
    "Says of a wrong size that the payload cannot be decompressed.",
    has(Refusing, instead=MappingProxyType({"UncompressedSizeCorruption": "DecompressionError"})),
)
client("unsummed-lost", "CHK-08", level="ASSUMED", accept="INV-CLIENT-02 FLOW-08 FLOW-07")(
    "Drops messages without a checksum.",
    on(Receiver, "on_message").skips(when=lambda rest: part(rest).checksum is None),
)
client("broker-metadata-unread", "INV-CLIENT-04", level="SHOULD", accept="FLOW-08 FLOW-07")(
    "Drops messages behind metadata of the broker.",
    on(Receiver, "open_entry").instead(lambda self: [], when=lambda rest: rest[:2] == b"\x0e\x02"),
)


# -- how connections end -----------------------------------------------------------------------------------------------


class Deaf(Channel):
    """Stays where it should end the connection."""

    stays: tuple[str, ...] = ()

    def end(self, why: str, *, fatal: bool = False) -> None:
        if not any(part in why for part in self.stays):
            super().end(why, fatal=fatal)


client("lying-sizes-passed-over", "FRM-14", accept="INV-CLIENT-05 INV-CLIENT-06")(
    "Passes over a MESSAGE whose sizes contradict each other.", on(Receiver, "on_message").forgives(Malformed)
)
client("no-body-passed-over", "INV-CLIENT-19", level="SHOULD", accept="FRM-13 FRM-14")(
    "Passes over a command without its message.", has(Deaf, stays=("without its message",))
)
client("no-command-passed-over", "INV-CLIENT-16", accept="FRM-13")(
    "Stays connected behind octets that are no frame.", has(Deaf, stays=("a frame without a command",))
)
client("waits-for-six-megabytes", "INV-CLIENT-15", level="SHOULD", accept="FRM-10")(
    "Reads a frame over the maximum to its end.", has(Deaf, stays=("a frame of",))
)


@client("refused-and-reported", "INV-CLIENT-31", level="SHOULD")
class RefusedAndReported(Sender):
    """Reports a message as sent that the broker refused."""

    def on_send_error(self, body: Message) -> None:
        for outgoing in [*self.unconfirmed]:
            if outgoing.sequence == body["sequence_id"]:
                self.unconfirmed.remove(outgoing)
                for promise in outgoing.promises:
                    promise.keep("1:1:-1")


client("unknown-close-ends-all", "INV-CLIENT-23", level="SHOULD", accept="REQ-04")(
    "Hangs up when a consumer is closed that it has not.",
    on(Channel, "serve").raises(
        lambda: Malformed("nobody has it"),
        when=lambda self, name, body: name == "CLOSE_CONSUMER" and body["consumer_id"] not in self.receivers,
    ),
)
client("unknown-receipt-ends-all", "INV-CLIENT-29", level="SHOULD", accept="REQ-04")(
    "Hangs up at a receipt for a producer that it has not.",
    on(Channel, "serve").raises(
        lambda: Malformed("nobody has it"),
        when=lambda self, name, body: name == "SEND_RECEIPT" and body["producer_id"] not in self.senders,
    ),
)


@client("third-ping-ends-all", "KA-09", accept="KA-01", history=True)
class ThirdPingEndsAll(Channel):
    """Hangs up at the third PING."""

    pings = 0

    def handle(self, frame: object) -> None:
        self.pings += frame.command.name == "PING"  # type: ignore[attr-defined]
        if self.pings == 3:
            raise Malformed("too many")
        super().handle(frame)  # type: ignore[arg-type]
