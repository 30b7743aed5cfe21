"""What is in a payload: batches of messages, and compression.

Source: 001_c0ea8805bb7ed422.txt, "Message metadata", "Batch messages". A payload is a batch when its metadata has
`num_messages_in_batch`, with whatever value; it is compressed as a whole.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from google.protobuf.message import DecodeError

from specs.codec import Malformed
from specs.pulsar.frames import fill
from specs.pulsar.schema import schema

MAX_PAYLOAD = 5 * 1024 * 1024
"""Octets of a payload before it was compressed, at most."""
NONE, LZ4, ZLIB, ZSTD, SNAPPY = range(5)


class Single(NamedTuple):
    """One message of a batch: its metadata and payload."""

    meta: Any
    payload: bytes

    @property
    def head(self) -> tuple[str | None, tuple[tuple[str, str], ...]]:
        """Its key, None when it has none, and its properties."""
        key = self.meta.partition_key if self.meta.HasField("partition_key") else None
        return key, tuple((each.key, each.value) for each in self.meta.properties)


def batch(messages: Iterable[tuple[Mapping[str, Any], bytes]]) -> bytes:
    """Messages laid out as a batch; a `payload_size` that is given stands, be it a lie."""
    out = bytearray()
    for fields, payload in messages:
        given = {"payload_size": len(payload), **fields}
        meta = fill(schema.SingleMessageMetadata(), given).SerializeToString()
        out += len(meta).to_bytes(4, "big") + meta + payload
    return bytes(out)


def unbatch(data: bytes, count: int) -> list[Single]:
    """The messages of a batch. Raises Malformed when it cannot be taken apart, or octets are left over."""
    found, at = [], 0
    for _ in range(count):
        size = int.from_bytes(data[at : at + 4], "big")
        start = at + 4 + size
        if at + 4 > len(data) or start > len(data):
            raise Malformed("batch-metadata-size")
        try:
            meta = schema.SingleMessageMetadata.FromString(data[at + 4 : start])
        except DecodeError:
            raise Malformed("batch-metadata") from None
        at = start + meta.payload_size
        if meta.payload_size < 0 or at > len(data):
            raise Malformed("batch-payload-size")
        found.append(Single(meta, data[start:at]))
    if at != len(data):
        raise Malformed("batch-rest")
    return found


def compress(kind: int, data: bytes) -> bytes:
    """`data` compressed. Raises LookupError for a kind that nobody knows."""
    if kind == NONE:
        return data
    if kind == ZLIB:
        return zlib.compress(data)
    import cramjam  # noqa: PLC0415 - who uses none of these does not need the library

    how = {LZ4: lambda: cramjam.lz4.compress_block(data, store_size=False), ZSTD: lambda: cramjam.zstd.compress(data),
           SNAPPY: lambda: cramjam.snappy.compress_raw(data)}  # fmt: skip
    return bytes(how[kind]())


def decompress(kind: int, data: bytes, size: int) -> bytes:
    """What was compressed to `data`, `size` octets. Raises Malformed, also when it has another size."""
    if kind == NONE:
        return data
    if size > MAX_PAYLOAD:
        raise Malformed("uncompressed-size")
    if kind == ZLIB:
        stream = zlib.decompressobj()
        try:
            found = stream.decompress(data, size + 1)
        except zlib.error:
            raise Malformed("compression") from None
    else:
        import cramjam  # noqa: PLC0415 - as above

        try:
            if kind == LZ4:
                room = cramjam.Buffer(bytes(size + 1))
                found = bytes(memoryview(room)[: cramjam.lz4.decompress_block_into(data, room)])
            elif kind == ZSTD:
                room = cramjam.Buffer(bytes(size + 1))
                found = bytes(memoryview(room)[: cramjam.zstd.decompress_into(data, room)])
            elif kind == SNAPPY:
                if cramjam.snappy.decompress_raw_len(data) != size:
                    raise Malformed("uncompressed-size")
                found = bytes(cramjam.snappy.decompress_raw(data))
            else:
                raise Malformed("unknown-compression")
        except (cramjam.DecompressionError, ValueError, OverflowError):
            raise Malformed("compression") from None
    if len(found) != size:
        raise Malformed("uncompressed-size")
    return found


def messages(frame: Any) -> list[Single]:
    """The messages that a SEND or MESSAGE brings. Raises Malformed."""
    meta = frame.metadata()
    if meta is None:
        raise Malformed("metadata")
    payload = decompress(meta.compression, frame.payload, meta.uncompressed_size)
    if meta.HasField("num_messages_in_batch"):
        return unbatch(payload, meta.num_messages_in_batch)
    return [Single(meta, payload)]
