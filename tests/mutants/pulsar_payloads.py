"""Brokers that are wrong about what a message carries: checksums, metadata, batches, payloads."""

from __future__ import annotations

from typing import Any

from impls.references.pulsar.checksum import crc32c
from impls.references.pulsar.compress import decompress
from impls.references.pulsar.framing import Part, close_block, loaded, open_block
from impls.references.pulsar.reference import Entry, Producer, Session, Topic
from impls.references.pulsar.wire import Message, encode
from strategies.pulsar.writer import Writer
from tests.mutants.faults import on, without
from tests.mutants.pulsar_framing import one
from tests.mutants.pulsar_kit import SHARED, mutant, ready


def empty(w: Writer) -> None:
    """An empty message."""
    _, _, pen = ready(w)
    w.send(pen, payload=b"")


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


# -- checksums ---------------------------------------------------------------------------------------------------------


mutant("checksum-ignored", "CHK-04", unsound, accept="SEND-10 CHK-05 E2E-02")(
    "Stores whatever its checksum says.", on(Session, "intact").instead(lambda: True)
)


@mutant("checksum-ignored-later", "CHK-04", unsound, accept="SEND-10 CHK-05 E2E-02", history=True)
class ChecksumIgnoredLater(Session):
    """Looks at the checksum of a connection's first message only."""

    seen = 0

    def intact(self, load: Part) -> bool:
        self.seen += 1
        return self.seen > 1 or super().intact(load)


mutant("checksum-silent", "CHK-05", unsound, accept="SEND-10 SEND-04 CHK-04", level="SHOULD")(
    "Drops what has a wrong checksum without a word.",
    on(Session, "send_error").skips(when=lambda code: code == "ChecksumError"),
)
mutant("checksum-wrong-code", "CHK-05", unsound, level="SHOULD")(
    "Calls a wrong checksum an unknown error.",
    on(Session, "send_error").takes(code=lambda code: "UnknownError" if code == "ChecksumError" else code),
)


@mutant("checksum-ends-producer", "CHK-04", unsound, accept="SEND-04 SEND-13 CHK-05 CHK-08 SEND-10", history=True)
class ChecksumEndsProducer(Session):
    """Hears a producer no more once a checksum of it was wrong."""

    def send_error(self, body: Message, code: str, why: str) -> None:
        super().send_error(body, code, why)
        self.unloaded[body["producer_id"]] = None
        self.producers.pop(body["producer_id"], None)


@mutant("checksum-required", "CHK-08", unchecked, accept="SEND-04 SEND-10", level="ASSUMED")
class ChecksumRequired(Session):
    """Refuses what has no checksum."""

    def intact(self, load: Part) -> bool:
        return load.checksum is not None and super().intact(load)


mutant("checksum-of-payload", "CHK-03", one, accept="CHK-11")(
    "Its own checksum leaves the size of the metadata out.",
    on(Session, "say_message").takes(
        checksum=lambda block, checksum: Part(None, block[4:]).checksum if checksum is None else _sum(block[4:])
    ),
)


def _sum(data: bytes) -> int:
    from impls.references.pulsar.checksum import crc32c  # noqa: PLC0415 - one place needs it

    return crc32c(data)


mutant("checksum-backwards", "CHK-01", one, accept="CHK-03 CHK-11")(
    "Writes its checksum with the lowest octet first.",
    on(Session, "say_message").takes(
        checksum=lambda checksum: None if checksum is None else int.from_bytes(checksum.to_bytes(4, "big"), "little")
    ),
)


@mutant("checksum-of-redelivered", "CHK-03", twice, accept="CHK-11", history=True)
class ChecksumOfRedelivered(Session):
    """The checksum is wrong in what is pushed again."""

    def say_message(self, body: Message, block: bytes, checksum: int | None) -> None:
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
        data = loaded(self.command("MESSAGE", body), block, checksum)
        self.emit(data.replace(b"\x0e\x01", b"\x0e\x03", 1))


# -- what is passed on -------------------------------------------------------------------------------------------------


class Rewriting(Topic):
    """Stores something else than came."""

    def rewrite(self, metadata: Message, payload: bytes) -> tuple[Message, bytes]:
        """What is stored instead."""
        raise NotImplementedError

    def store(self, block: bytes, checksum: int | None, metadata: Message) -> Entry:
        head, payload = self.rewrite(*open_block(block))
        changed = close_block(encode("MessageMetadata", head), payload)
        if head == metadata and payload == open_block(block)[1]:
            changed = block
        return super().store(changed, checksum if changed == block else _sum(changed), metadata)


mutant("empty-payload", "FRM-04", empty, accept="CHK-11 E2E-02 MD-03")(
    "An empty payload becomes a zero.",
    on(Rewriting, "rewrite").instead(lambda metadata, payload: (metadata, payload or b"\0")),
)
mutant("empty-payload-refused", "SEND-04", empty)(
    "Takes no message without a payload, whatever else it carries.",
    on(Session, "accept").instead(
        lambda self, body: self.send_error(body, "MetadataError", "the message is empty"),
        when=lambda load: len(load.block) == 4 + int.from_bytes(load.block[:4], "big"),
    ),
)
mutant("metadata-cleaned", "MD-03", lambda w: w.send(ready(w)[2], more=b"\x98\x1f\x07"), accept="CHK-11")(
    "Leaves out the fields of metadata that it does not know.",
    on(Topic, "store").takes(
        block=lambda block, metadata: close_block(encode("MessageMetadata", metadata), open_block(block)[1]),
        checksum=lambda block, metadata: _sum(close_block(encode("MessageMetadata", metadata), open_block(block)[1])),
    ),
)


@mutant("properties-sorted", "MD-05", headed(("z", "1"), ("a", "2")), accept="MD-03 CHK-11")
class PropertiesSorted(Rewriting):
    """Sorts properties by their names."""

    def rewrite(self, metadata: Message, payload: bytes) -> tuple[Message, bytes]:
        pairs = sorted(metadata.get("properties", []), key=lambda pair: pair["key"])
        return {**metadata, "properties": pairs}, payload


@mutant("properties-merged", "MD-05", headed(("a", "1"), ("a", "2")), accept="MD-03 CHK-11")
class PropertiesMerged(Rewriting):
    """Of properties with one name keeps the last."""

    def rewrite(self, metadata: Message, payload: bytes) -> tuple[Message, bytes]:
        pairs = {pair["key"]: pair for pair in metadata.get("properties", [])}
        return {**metadata, "properties": list(pairs.values())}, payload


def first_with_properties(w: Writer) -> None:
    """A message with properties, and one without behind it, on a Shared subscription."""
    _, _, pen = ready(w, SHARED)
    w.send(pen, properties=(("a", "1"),))
    w.send(pen, when="now")


mutant("properties-obeyed", "MD-04", first_with_properties, accept="E2E-01 FLOW-04 SUB-08 MSG-03")(
    "Confirms what has a property named a, and does not store it.",
    on(Session, "accept").instead(
        lambda self, producer, body: self.receipt(producer, body, producer.topic.message_id(producer.topic.new_id())),
        when=lambda metadata: any(pair["key"] == "a" for pair in metadata.get("properties", [])),
    ),
)


@mutant("batch-receipts", "BAT-06", lambda w: w.send(ready(w)[2], messages=3), accept="SEND-10 SEND-04 SEND-07 REQ-02")
class BatchReceipts(Session):
    """Confirms each message of a batch."""

    def receipt(self, producer: Producer, body: Message, message_id: Message) -> None:
        for number in range(body.get("num_messages", 1)):
            super().receipt(producer, {**body, "sequence_id": body["sequence_id"] + number}, message_id)


def compressed(w: Writer) -> None:
    w.send(ready(w)[2], payload=b"a" * 99, compression=2)


@mutant("decompressed", "CMP-01", compressed, accept="MD-03 CHK-11 E2E-02")
class Decompressed(Rewriting):
    """Decompresses what it passes on."""

    def rewrite(self, metadata: Message, payload: bytes) -> tuple[Message, bytes]:
        kind = metadata.get("compression", 0)
        if not kind:
            return metadata, payload
        plain = decompress(kind, payload, metadata.get("uncompressed_size", 0))
        return without(metadata, "compression"), plain


def three_in_one(w: Writer) -> None:
    """A batch of three messages."""
    _, _, pen = ready(w)
    w.send(pen, messages=3)


@mutant("octet-behind-batches", "BAT-02", three_in_one, accept="E2E-02 FRM-04 CHK-11")
class OctetBehindBatches(Session):
    """Adds an octet of zero behind the last message of a batch."""

    def say_message(self, body: Message, block: bytes, checksum: int | None) -> None:
        if "num_messages_in_batch" in open_block(block)[0]:
            block += b"\0"
            checksum = None if checksum is None else crc32c(block)
        super().say_message(body, block, checksum)


@mutant("decompressed-unsaid", "CMP-01", compressed, accept="FRM-04 CHK-11")
class DecompressedUnsaid(Rewriting):
    """Decompresses what it passes on, and leaves the metadata as they were."""

    def rewrite(self, metadata: Message, payload: bytes) -> tuple[Message, bytes]:
        """See `Rewriting`."""
        kind = metadata.get("compression", 0)
        return metadata, decompress(kind, payload, metadata.get("uncompressed_size", 0)) if kind else payload
