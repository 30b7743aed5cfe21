"""Compression of payloads, with the library cramjam and zlib.

Source: 001_c0ea8805bb7ed422.txt, "Message metadata", `compression` and `uncompressed_size`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

import cramjam

from impls.references.pulsar.schema import ENUMS
from impls.references.pulsar.wire import Malformed

MAX_SIZE = 5 * 1024 * 1024
"""What a payload may be at most before it is compressed."""
NONE, LZ4, ZLIB, ZSTD, SNAPPY = (ENUMS["CompressionType"][name] for name in ("NONE", "LZ4", "ZLIB", "ZSTD", "SNAPPY"))


class Corrupt(Malformed):
    """A payload that cannot be decompressed."""


class WrongSize(Malformed):
    """A payload whose stated size is wrong, or more than is taken."""


def compress(kind: int, data: bytes) -> bytes:
    """`data` compressed."""
    how: dict[int, Callable[[bytes], bytes]] = {
        LZ4: lambda data: bytes(cramjam.lz4.compress_block(data, store_size=False)),
        ZLIB: zlib.compress,
        ZSTD: lambda data: bytes(cramjam.zstd.compress(data)),
        SNAPPY: lambda data: bytes(cramjam.snappy.compress_raw(data)),
    }
    return how[kind](data) if kind in how else data


def decompress(kind: int, data: bytes, size: int) -> bytes:
    """What was compressed to `data`, which had `size` octets. Raises Corrupt and WrongSize."""
    if size > MAX_SIZE:
        raise WrongSize(f"{size} octets uncompressed")
    how: dict[int, Callable[[bytes, int], bytes]] = {
        LZ4: lambda data, size: _into(cramjam.lz4.decompress_block_into, data, size),
        ZLIB: _from_zlib,
        ZSTD: lambda data, size: _into(cramjam.zstd.decompress_into, data, size),
        SNAPPY: _from_snappy,
    }
    if kind not in how:
        raise Corrupt(f"compression {kind}")
    try:
        found = how[kind](data, size)
    except (cramjam.DecompressionError, zlib.error, ValueError, OverflowError) as error:
        if isinstance(error, Malformed):
            raise
        raise Corrupt(str(error)) from None
    if len(found) != size:
        raise WrongSize(f"{len(found)} octets, not {size}")
    return found


def _into(decompress_into: Callable[..., int], data: bytes, size: int) -> bytes:
    """Decompressed into a room that is one octet larger than it should be, so that what is too long shows."""
    room = cramjam.Buffer(bytes(size + 1))
    return bytes(memoryview(room)[: decompress_into(data, room)])


def _from_zlib(data: bytes, size: int) -> bytes:
    reader = zlib.decompressobj()
    found = reader.decompress(data, size + 1)
    if len(found) <= size and not reader.eof:
        raise Corrupt("the stream is cut short")
    return found


def _from_snappy(data: bytes, size: int) -> bytes:
    if (said := cramjam.snappy.decompress_raw_len(data)) != size:
        raise WrongSize(f"{said} octets, not {size}")
    return bytes(cramjam.snappy.decompress_raw(data))
