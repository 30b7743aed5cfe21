"""Brokers that are wrong about octets: frames, sizes, checksums, metadata, batches, and what is no command."""

from __future__ import annotations

from typing import Any

from impls.pulsar.compress import decompress
from impls.pulsar.connection import Close, Phase
from impls.pulsar.framing import Frame, Part, close_block, loaded, open_block
from impls.pulsar.reference import Broker, Entry, Producer, Reader, Session, Topic
from impls.pulsar.wire import Malformed, Message, encode, encode_command
from strategies.pulsar.writer import Writer
from tests.mutants.pulsar_kit import mutant, ready


def pings(w: Writer) -> None:
    """Two PINGs, the second one in pieces."""
    line = w.line()
    w.ping(line)
    w.wire = 1
    w.say(line, w.hello().__class__("PING"), style=1)
    w.ping(line)


def one(w: Writer) -> None:
    """One message there and back."""
    ready(w, sends=1)


def empty(w: Writer) -> None:
    """An empty message."""
    _, _, pen = ready(w)
    w.send(pen, payload=b"")


def extra(w: Writer) -> None:
    """A field that nobody knows."""
    _, _, pen = ready(w)
    w.send(pen, extra=b"\x98\x1f\x07")


def unsound(w: Writer) -> None:
    """A wrong checksum between two good ones."""
    _, _, pen = ready(w, sends=1)
    w.send(pen, check="bad")
    pen.seq -= 1
    w.send(pen)


def unchecked(w: Writer) -> None:
    """No checksum."""
    _, _, pen = ready(w)
    w.send(pen, check="")


def twice(w: Writer) -> None:
    """Pushed, and pushed again."""
    _, ear, _ = ready(w, sends=2)
    w.redeliver(ear)


def headed(*pairs: tuple[str, str]) -> Any:
    """A message with properties."""

    def play(w: Writer) -> None:
        _, _, pen = ready(w)
        w.send(pen, properties=pairs)

    return play


# -- frames ------------------------------------------------------------------------------------------------------------


@mutant("size-in-pieces", "FRM-07", pings, accept="KA-02 FRM-13 KA-05", history=True)
class SizeInPieces(Reader):
    """Loses the octets of a size that does not come at once."""

    def next(self) -> Frame | None:
        """See `Reader`."""
        if 0 < self.held < 4:
            self._inbox.clear()
            self._at = 0
        return super().next()


def big(w: Writer) -> None:
    _, _, pen = ready(w)
    w.send(pen, payload=b"x" * 5_200_000)


@mutant("one-mebibyte", "FRM-08", big, accept="KA-05 FRM-13 SEND-04")
class OneMebibyte(Reader):
    """Takes no frame over 1 MiB."""

    def __init__(self, limit: int) -> None:
        super().__init__(min(limit, 1 << 20))


def huge(w: Writer) -> None:
    w.blurt(w.line(), (6_000_000).to_bytes(4, "big") + bytes(100))
    w.wait(2000)


@mutant("no-limit", "FRM-10", huge, accept="INV-BROKER-05", level="SHOULD")
class NoLimit(Reader):
    """Waits for frames of any size."""

    def __init__(self, limit: int) -> None:
        super().__init__(1 << 32)


@mutant("unknown-fields", "FRM-12", extra, accept="KA-05 FRM-13 SEND-04")
class UnknownFields(Reader):
    """Takes an unknown field for garbage."""

    def parse(self, data: bytes) -> Frame:
        """See `Reader`."""
        frame = super().parse(data)
        size = int.from_bytes(data[:4], "big")
        if frame.command.body is not None and len(encode_command(frame.command.name, frame.command.body)) != size:
            raise Malformed("an unknown field")
        return frame


@mutant("unknown-fields-of-send", "FRM-12", extra, accept="SEND-04 SEND-13")
class UnknownFieldsOfSend(Reader):
    """Drops a SEND with an unknown field."""

    def parse(self, data: bytes) -> Frame:
        """See `Reader`."""
        frame = super().parse(data)
        size = int.from_bytes(data[:4], "big")
        body = frame.command.body
        if frame.command.name == "SEND" and body is not None and len(encode_command("SEND", body)) != size:
            frame.command.name, frame.command.body = "PONG", {}
        return frame


def garbage(w: Writer) -> None:
    w.blurt(w.line(), bytes.fromhex("0000000b00000007ffffffffffffff"))
    w.ping(w.another())


@mutant("garbage-ends-all", "FRM-13", garbage, accept="CONN-02 KA-05 KA-02")
class GarbageEndsAll(Broker):
    """Answers nobody any more once it has seen garbage."""

    class session_type(Session):
        """A connection of it."""

        def work(self) -> None:
            """See `Connection`."""
            if not getattr(self.broker, "spoilt", False):
                super().work()

        def end(self) -> None:
            """See `Connection`."""
            if not self.hung and self.reader.held == 0 and self.phase is Phase.LIVE:
                self.broker.spoilt = True  # type: ignore[attr-defined]
            super().end()


def lying(w: Writer) -> None:
    w.blurt(w.line(), bytes.fromhex("00000009000000ff0812920100"))
    w.ping(w.line())


@mutant("command-beyond-frame", "FRM-14", lying, accept="FRM-13 INV-BROKER-07 KA-02 INV-BROKER-08")
class CommandBeyondFrame(Reader):
    """Takes a command that is longer than its frame for as long as the frame."""

    def parse(self, data: bytes) -> Frame:
        """See `Reader`."""
        size = min(int.from_bytes(data[:4], "big"), len(data) - 4)
        return super().parse(size.to_bytes(4, "big") + data[4:])


# -- checksums ---------------------------------------------------------------------------------------------------------


@mutant("checksum-ignored", "CHK-04", unsound, accept="SEND-10 CHK-05 E2E-02")
class ChecksumIgnored(Session):
    """Stores whatever its checksum says."""

    def intact(self, load: Part) -> bool:
        """See `Session`."""
        return True


@mutant("checksum-ignored-later", "CHK-04", unsound, accept="SEND-10 CHK-05 E2E-02", history=True)
class ChecksumIgnoredLater(Session):
    """Looks at the checksum of a connection's first message only."""

    seen = 0

    def intact(self, load: Part) -> bool:
        """See `Session`."""
        self.seen += 1
        return self.seen > 1 or super().intact(load)


@mutant("checksum-silent", "CHK-05", unsound, accept="SEND-10 SEND-04 CHK-04", level="SHOULD")
class ChecksumSilent(Session):
    """Drops what has a wrong checksum without a word."""

    def send_error(self, body: Message, code: str, why: str) -> None:
        """See `Session`."""
        if code != "ChecksumError":
            super().send_error(body, code, why)


@mutant("checksum-wrong-code", "CHK-05", unsound, level="SHOULD")
class ChecksumWrongCode(Session):
    """Calls a wrong checksum an unknown error."""

    def send_error(self, body: Message, code: str, why: str) -> None:
        """See `Session`."""
        super().send_error(body, "UnknownError" if code == "ChecksumError" else code, why)


@mutant("checksum-ends-producer", "CHK-04", unsound, accept="SEND-04 SEND-13 CHK-05 CHK-08 SEND-10", history=True)
class ChecksumEndsProducer(Session):
    """Hears a producer no more once a checksum of it was wrong."""

    def send_error(self, body: Message, code: str, why: str) -> None:
        """See `Session`."""
        super().send_error(body, code, why)
        self.unloaded[body["producer_id"]] = None
        self.producers.pop(body["producer_id"], None)


@mutant("checksum-required", "CHK-08", unchecked, accept="SEND-04 SEND-10", level="ASSUMED")
class ChecksumRequired(Session):
    """Refuses what has no checksum."""

    def intact(self, load: Part) -> bool:
        """See `Session`."""
        return load.checksum is not None and super().intact(load)


@mutant("checksum-of-payload", "CHK-03", one, accept="CHK-11")
class ChecksumOfPayload(Session):
    """Its own checksum leaves the size of the metadata out."""

    def say_message(self, body: Message, block: bytes, checksum: int | None) -> None:
        """See `Connection`."""
        super().say_message(body, block, Part(None, block[4:]).checksum if checksum is None else _sum(block[4:]))


def _sum(data: bytes) -> int:
    from impls.pulsar.checksum import crc32c  # noqa: PLC0415 - one place needs it

    return crc32c(data)


@mutant("checksum-backwards", "CHK-01", one, accept="CHK-03 CHK-11")
class ChecksumBackwards(Session):
    """Writes its checksum with the lowest octet first."""

    def say_message(self, body: Message, block: bytes, checksum: int | None) -> None:
        """See `Connection`."""
        turned = None if checksum is None else int.from_bytes(checksum.to_bytes(4, "big"), "little")
        super().say_message(body, block, turned)


@mutant("checksum-of-redelivered", "CHK-03", twice, accept="CHK-11", history=True)
class ChecksumOfRedelivered(Session):
    """The checksum is wrong in what is pushed again."""

    def say_message(self, body: Message, block: bytes, checksum: int | None) -> None:
        """See `Connection`."""
        again = (
            body.get("redelivery_count", 0) or (body["consumer_id"], body["message_id"]["entryId"]) in self.early_ids
        )
        self.early_ids.add((body["consumer_id"], body["message_id"]["entryId"]))
        super().say_message(body, block, checksum ^ 1 if again and checksum is not None else checksum)

    def __init__(self, broker: Any, number: int) -> None:
        super().__init__(broker, number)
        self.early_ids: set[tuple[int, int]] = set()


@mutant("other-magic", "CHK-02", one, accept="CHK-03 CHK-11 FRM-14 FRM-05 FRM-04 MD-03 FRM-01")
class OtherMagic(Session):
    """Writes another magic number."""

    def say_message(self, body: Message, block: bytes, checksum: int | None) -> None:
        """See `Connection`."""
        data = loaded(self.command("MESSAGE", body), block, checksum)
        self.emit(data.replace(b"\x0e\x01", b"\x0e\x03", 1))


# -- what is passed on -------------------------------------------------------------------------------------------------


class Rewriting(Topic):
    """Stores something else than came."""

    def rewrite(self, metadata: Message, payload: bytes) -> tuple[Message, bytes]:
        """What is stored instead."""
        raise NotImplementedError

    def store(self, block: bytes, checksum: int | None, metadata: Message) -> Entry:
        """See `Topic`."""
        head, payload = self.rewrite(*open_block(block))
        changed = close_block(encode("MessageMetadata", head), payload)
        if head == metadata and payload == open_block(block)[1]:
            changed = block
        return super().store(changed, checksum if changed == block else _sum(changed), metadata)


@mutant("empty-payload", "FRM-04", empty, accept="CHK-11 E2E-02 MD-03")
class EmptyPayload(Rewriting):
    """An empty payload becomes a zero."""

    def rewrite(self, metadata: Message, payload: bytes) -> tuple[Message, bytes]:
        """See `Rewriting`."""
        return metadata, payload or b"\0"


@mutant("metadata-cleaned", "MD-03", lambda w: w.send(ready(w)[2], more=b"\x98\x1f\x07"), accept="CHK-11")
class MetadataCleaned(Topic):
    """Leaves out the fields of metadata that it does not know."""

    def store(self, block: bytes, checksum: int | None, metadata: Message) -> Entry:
        """See `Topic`."""
        changed = close_block(encode("MessageMetadata", metadata), open_block(block)[1])
        return super().store(changed, _sum(changed), metadata)


@mutant("properties-sorted", "MD-05", headed(("z", "1"), ("a", "2")), accept="MD-03 CHK-11")
class PropertiesSorted(Rewriting):
    """Sorts properties by their names."""

    def rewrite(self, metadata: Message, payload: bytes) -> tuple[Message, bytes]:
        """See `Rewriting`."""
        pairs = sorted(metadata.get("properties", []), key=lambda pair: pair["key"])
        return {**metadata, "properties": pairs}, payload


@mutant("properties-merged", "MD-05", headed(("a", "1"), ("a", "2")), accept="MD-03 CHK-11")
class PropertiesMerged(Rewriting):
    """Of properties with one name keeps the last."""

    def rewrite(self, metadata: Message, payload: bytes) -> tuple[Message, bytes]:
        """See `Rewriting`."""
        pairs = {pair["key"]: pair for pair in metadata.get("properties", [])}
        return {**metadata, "properties": list(pairs.values())}, payload


@mutant("properties-obeyed", "MD-04", headed(("a", "1")), accept="E2E-01 FLOW-04 SUB-08 MSG-03")
class PropertiesObeyed(Session):
    """Confirms what has a property named a, and does not store it."""

    def accept(self, producer: Producer, body: Message, load: Part, metadata: Message) -> None:
        """See `Session`."""
        if any(pair["key"] == "a" for pair in metadata.get("properties", [])):
            self.receipt(producer, body, producer.topic.message_id(producer.topic.new_id()))
        else:
            super().accept(producer, body, load, metadata)


@mutant("batch-receipts", "BAT-06", lambda w: w.send(ready(w)[2], messages=3), accept="SEND-10 SEND-04 SEND-07 REQ-02")
class BatchReceipts(Session):
    """Confirms each message of a batch."""

    def receipt(self, producer: Producer, body: Message, message_id: Message) -> None:
        """See `Session`."""
        for number in range(body.get("num_messages", 1)):
            super().receipt(producer, {**body, "sequence_id": body["sequence_id"] + number}, message_id)


def compressed(w: Writer) -> None:
    w.send(ready(w)[2], payload=b"a" * 99, compression=2)


@mutant("decompressed", "CMP-01", compressed, accept="MD-03 CHK-11 E2E-02")
class Decompressed(Rewriting):
    """Decompresses what it passes on."""

    def rewrite(self, metadata: Message, payload: bytes) -> tuple[Message, bytes]:
        """See `Rewriting`."""
        kind = metadata.get("compression", 0)
        if not kind:
            return metadata, payload
        plain = decompress(kind, payload, metadata.get("uncompressed_size", 0))
        return {name: value for name, value in metadata.items() if name != "compression"}, plain


# -- connecting --------------------------------------------------------------------------------------------------------


class Eager(Session):
    """Answers before CONNECT."""

    before: frozenset[str] = frozenset()

    def on_early(self, name: str, body: Message) -> None:
        """See `Connection`."""
        if name in self.before:
            self.version = self.broker.version
            self.phase = Phase.LIVE
            self.serve(name, body, b"")
            self.phase = Phase.START
        else:
            super().on_early(name, body)


def first(kind: str) -> Any:
    """A request before CONNECT."""

    def play(w: Writer) -> None:
        from specs.plan import Ref  # noqa: PLC0415 - one place needs it
        from specs.pulsar.frames import draft  # noqa: PLC0415 - as above

        given = {"PRODUCER": {"producer_id": 1}, "SUBSCRIBE": {"subscription": "s", "subType": 0, "consumer_id": 1}}
        w.say(w.bare(), draft(kind, topic=Ref("topic", "t"), request_id=1, **given.get(kind, {})))

    return play


@mutant("producer-before-connect", "CONN-06", first("PRODUCER"), accept="INV-BROKER-01")
class ProducerBeforeConnect(Eager):
    """Opens producers before CONNECT."""

    before = frozenset({"PRODUCER"})


@mutant("lookup-before-connect", "CONN-07", first("LOOKUP"), accept="CONN-06 INV-BROKER-01")
class LookupBeforeConnect(Eager):
    """Answers lookups before CONNECT."""

    before = frozenset({"LOOKUP", "PARTITIONED_METADATA"})


def again(w: Writer) -> None:
    line = w.line()
    w.settle()
    w.say(line, w.hello())


@mutant("second-connect", "CONN-08", again, accept="INV-BROKER-02")
class SecondConnect(Session):
    """Answers every CONNECT."""

    def on_connect(self, body: Message) -> None:
        """See `Connection`."""
        self.connected()


def refused(w: Writer) -> None:
    line = w.bare()
    w.say(line, w.hello(auth_method_name="secret", auth_data=b"bad"))
    w.ping(line)


@mutant("any-credentials", "CONN-04", refused, accept="INV-BROKER-03")
class AnyCredentials(Session):
    """Lets everybody in."""

    def credentials_good(self, method: str, data: bytes) -> bool:
        """See `Connection`."""
        return True


@mutant("refused-but-open", "CONN-04", refused, accept="INV-BROKER-03 CONN-06")
class RefusedButOpen(Session):
    """Says ERROR and leaves the connection open."""

    def refuse(self) -> None:
        """See `Connection`."""
        try:
            super().refuse()
        except Close:
            return


@mutant("refused-as-any-other", "CONN-05", refused, level="SHOULD")
class RefusedAsAnyOther(Session):
    """Answers bad credentials with an error that names a request."""

    def error(self, request: int, refused: Any) -> None:
        """See `Connection`."""
        super().error(1 if self.phase is Phase.START else request, refused)


def wide(w: Writer) -> None:
    w.ids = 2
    w.lookup(w.line(), "t")


@mutant("request-ids-of-32-bits", "REQ-01", wide, accept="REQ-02 PROD-02 SUB-01 LOOK-02")
class NarrowRequests(Session):
    """Keeps 32 bits of request ids."""

    def say(self, name: str, body: Message) -> None:
        """See `Connection`."""
        number = body.get("request_id")
        super().say(name, body if number is None else {**body, "request_id": number & 0xFFFFFFFF})
