"""Frames, payload parts and batches.

Source: 001_c0ea8805bb7ed422.txt, "Framing", "Message metadata", "Batch messages". The checksum has four octets there
where the text says two.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from impls.references.pulsar.checksum import crc32c
from impls.references.pulsar.wire import Command, Malformed, Message, decode, decode_command, encode

MAGIC = b"\x0e\x01"
BROKER_METADATA = b"\x0e\x02"
MAX_METADATA = 1 << 20
MAX_BATCH = 100_000


class Frame(NamedTuple):
    """One frame: its command, and what stands behind it."""

    command: Command
    rest: bytes


class Part(NamedTuple):
    """A payload part. `block` is what the checksum covers; `checksum` is None where there is none."""

    checksum: int | None
    block: bytes

    @property
    def intact(self) -> bool:
        """True unless a checksum says otherwise."""
        return self.checksum is None or self.checksum == crc32c(self.block)


class Reader:
    """Octets in any pieces to frames. Holds one frame of at most `limit` octets, its size not counted, and a chunk."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._inbox = bytearray()
        self._at = 0

    @property
    def held(self) -> int:
        """Octets that wait to be read."""
        return len(self._inbox) - self._at

    def feed(self, data: bytes) -> None:
        """Take what has arrived."""
        if self._at:
            del self._inbox[: self._at]
            self._at = 0
        self._inbox += data

    def next(self) -> Frame | None:
        """The next frame, None while it is not complete. Raises Malformed, for a size over the limit at once."""
        if self.held < 4:
            return None
        at = self._at
        total = int.from_bytes(self._inbox[at : at + 4], "big")
        if total > self.limit:
            raise Malformed(f"a frame of {total} octets")
        if total < 4:
            raise Malformed("a frame without a command")
        if self.held < 4 + total:
            return None
        self._at = at + 4 + total
        return self.parse(bytes(self._inbox[at + 4 : self._at]))

    def parse(self, data: bytes) -> Frame:
        """The frame behind a size."""
        size = int.from_bytes(data[:4], "big")
        if size > len(data) - 4:
            raise Malformed("the command is longer than its frame")
        return Frame(decode_command(data[4 : 4 + size]), data[4 + size :])


def simple(command: bytes) -> bytes:
    """A frame without a payload part."""
    return (len(command) + 4).to_bytes(4, "big") + len(command).to_bytes(4, "big") + command


def loaded(command: bytes, block: bytes, checksum: int | None) -> bytes:
    """A frame with a payload part."""
    head = b"" if checksum is None else MAGIC + checksum.to_bytes(4, "big")
    size = len(command)
    return b"".join(
        ((4 + size + len(head) + len(block)).to_bytes(4, "big"), size.to_bytes(4, "big"), command, head, block)
    )


def part(rest: bytes) -> Part:
    """The payload part in what stands behind a command. Raises Malformed when there is none."""
    if rest[:2] == BROKER_METADATA:
        if len(rest) < 6:
            raise Malformed("the broker's metadata is cut short")
        size = int.from_bytes(rest[2:6], "big")
        if size > len(rest) - 6:
            raise Malformed("the broker's metadata is longer than its frame")
        rest = rest[6 + size :]
    if rest[:2] == MAGIC:
        if len(rest) < 6:
            raise Malformed("the checksum is cut short")
        return Part(int.from_bytes(rest[2:6], "big"), rest[6:])
    if len(rest) < 4:
        raise Malformed("the payload part is missing")
    return Part(None, rest)


def open_block(block: bytes) -> tuple[Message, bytes]:
    """Metadata and payload. Raises Malformed when its size is a lie or it is none."""
    if len(block) < 4:
        raise Malformed("the size of the metadata is cut short")
    size = int.from_bytes(block[:4], "big")
    if size > len(block) - 4:
        raise Malformed("the metadata is longer than its frame")
    if size > MAX_METADATA:
        raise Malformed("the metadata is too long")
    return decode("MessageMetadata", block, 4, 4 + size), block[4 + size :]


def close_block(metadata: bytes, payload: bytes) -> bytes:
    """What a checksum covers."""
    return len(metadata).to_bytes(4, "big") + metadata + payload


def open_batch(payload: bytes, count: int) -> list[tuple[Message, bytes]]:
    """The entries of a batch. Raises Malformed when they are not exactly `count`."""
    if not 0 < count <= MAX_BATCH:
        raise Malformed(f"a batch of {count}")
    found, at = [], 0
    for _ in range(count):
        if len(payload) - at < 4:
            raise Malformed("the batch is cut short")
        size = int.from_bytes(payload[at : at + 4], "big")
        at += 4
        if size > len(payload) - at:
            raise Malformed("an entry's metadata is longer than its batch")
        metadata = decode("SingleMessageMetadata", payload, at, at + size)
        at += size
        length = metadata["payload_size"]
        if not 0 <= length <= len(payload) - at:
            raise Malformed("an entry is longer than its batch")
        found.append((metadata, payload[at : at + length]))
        at += length
    if at != len(payload):
        raise Malformed("something stands behind the last entry")
    return found


def close_batch(entries: Iterable[tuple[Message, bytes]]) -> bytes:
    """The payload of a batch. `payload_size` is filled in."""
    found = []
    for metadata, payload in entries:
        head = encode("SingleMessageMetadata", {**metadata, "payload_size": len(payload)})
        found += [len(head).to_bytes(4, "big"), head, payload]
    return b"".join(found)
