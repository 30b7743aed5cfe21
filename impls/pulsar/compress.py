"""Compression of payloads: LZ4 and Snappy blocks and ZSTD frames by hand, ZLIB from the standard library.

Source: 001_c0ea8805bb7ed422.txt, "Message metadata", `compression` and `uncompressed_size`. What is compressed here
need not be small: it only has to be what the other side can read. ZSTD is written in raw blocks.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

from impls.pulsar import zstandard
from impls.pulsar.schema import ENUMS
from impls.pulsar.wire import Malformed, read_varint, varint

MAX_SIZE = 5 * 1024 * 1024
"""What a payload may be at most before it is compressed."""
NONE, LZ4, ZLIB, ZSTD, SNAPPY = (ENUMS["CompressionType"][name] for name in ("NONE", "LZ4", "ZLIB", "ZSTD", "SNAPPY"))
KNOWN = (NONE, LZ4, ZLIB, ZSTD, SNAPPY)


class Corrupt(Malformed):
    """A payload that cannot be decompressed."""


class WrongSize(Malformed):
    """A payload whose stated size is wrong, or more than is taken."""


def compress(kind: int, data: bytes) -> bytes:
    """`data` compressed."""
    how: dict[int, Callable[[bytes], bytes]] = {LZ4: _lz4, ZLIB: zlib.compress, ZSTD: _zstd, SNAPPY: _snappy}
    return how[kind](data) if kind in how else data


def decompress(kind: int, data: bytes, size: int) -> bytes:
    """What was compressed to `data`, which had `size` octets. Raises Corrupt and WrongSize."""
    if size > MAX_SIZE:
        raise WrongSize(f"{size} octets uncompressed")
    how = {LZ4: _from_lz4, ZLIB: _from_zlib, ZSTD: _from_zstd, SNAPPY: _from_snappy}
    if kind not in how:
        raise Corrupt(f"compression {kind}")
    try:
        found = how[kind](data, size)
    except (IndexError, zlib.error, Malformed) as error:
        if isinstance(error, WrongSize):
            raise
        raise Corrupt(str(error)) from None
    if len(found) != size:
        raise WrongSize(f"{len(found)} octets, not {size}")
    return found


def _lz4(data: bytes) -> bytes:
    """One block: a run of one octet as a match, anything else as literals."""
    run = len(data) - len(data.lstrip(data[:1])) if data else 0
    if run < 24:
        return _lz4_head(len(data), 0) + data
    # The last match ends at least 12 octets before the end, and the last 5 octets are literals.
    match = min(run - 1, len(data) - 1 - 12)
    tail = data[1 + match :]
    return _lz4_head(1, match - 4) + data[:1] + b"\x01\x00" + _lz4_more(match - 4) + _lz4_head(len(tail), 0) + tail


def _lz4_head(literals: int, match: int) -> bytes:
    return bytes((min(literals, 15) << 4 | min(match, 15),)) + _lz4_more(literals)


def _lz4_more(length: int) -> bytes:
    if length < 15:
        return b""
    many, rest = divmod(length - 15, 255)
    return b"\xff" * many + bytes((rest,))


def _from_lz4(data: bytes, size: int) -> bytes:
    found, at = bytearray(), 0
    while at < len(data):
        token = data[at]
        at += 1
        literals = token >> 4
        if literals == 15:
            literals, at = _lz4_length(data, at)
        if literals > len(data) - at:
            raise Corrupt("literals are cut short")
        found += data[at : at + literals]
        at += literals
        if len(found) > size:
            raise WrongSize("more than was said")
        if at == len(data):
            break
        offset = data[at] | data[at + 1] << 8
        at += 2
        match = token & 15
        if match == 15:
            match, at = _lz4_length(data, at)
        _copy(found, offset, match + 4, size)
    return bytes(found)


def _lz4_length(data: bytes, at: int) -> tuple[int, int]:
    length = 15
    while True:
        octet = data[at]
        at += 1
        length += octet
        if octet != 255:
            return length, at


def _copy(found: bytearray, offset: int, length: int, size: int) -> None:
    """Repeat what was found `offset` octets ago."""
    if not 0 < offset <= len(found):
        raise Corrupt("a match begins before the block")
    if len(found) + length > size:
        raise WrongSize("more than was said")
    start = len(found) - offset
    pattern = bytes(found[start : start + length])
    found += (pattern * (length // len(pattern) + 1))[:length]


def _from_zlib(data: bytes, size: int) -> bytes:
    reader = zlib.decompressobj()
    found = reader.decompress(data, size + 1)
    if len(found) > size:
        raise WrongSize("more than was said")
    if not reader.eof:
        raise Corrupt("the stream is cut short")
    return found


def _snappy(data: bytes) -> bytes:
    found = bytearray(varint(len(data)))
    for at in range(0, len(data), 1 << 16):
        piece = data[at : at + (1 << 16)]
        length = len(piece) - 1
        found += bytes((length << 2,)) if length < 60 else bytes((61 << 2,)) + length.to_bytes(2, "little")
        found += piece
    return bytes(found)


def _from_snappy(data: bytes, size: int) -> bytes:
    said, at = read_varint(data, 0, len(data))
    if said != size:
        raise WrongSize(f"{said} octets, not {size}")
    found = bytearray()
    while at < len(data):
        tag = data[at]
        at += 1
        if tag & 3 == 0:
            length = tag >> 2
            if length >= 60:
                more = length - 59
                if more > len(data) - at:
                    raise Corrupt("a literal is cut short")
                length, at = int.from_bytes(data[at : at + more], "little"), at + more
            length += 1
            if length > len(data) - at:
                raise Corrupt("a literal is cut short")
            if len(found) + length > size:
                raise WrongSize("more than was said")
            found += data[at : at + length]
            at += length
            continue
        if tag & 3 == 1:
            length, offset, at = (tag >> 2 & 7) + 4, tag >> 5 << 8 | data[at], at + 1
        else:
            width = 2 if tag & 3 == 2 else 4
            if width > len(data) - at:
                raise Corrupt("an offset is cut short")
            length, offset, at = (tag >> 2) + 1, int.from_bytes(data[at : at + width], "little"), at + width
        _copy(found, offset, length, size)
    return bytes(found)


def _zstd(data: bytes) -> bytes:
    """A frame of raw blocks: single segment, content size in four octets."""
    found = bytearray(zstandard.MAGIC + b"\xa0" + len(data).to_bytes(4, "little"))
    pieces = [data[at : at + (1 << 17)] for at in range(0, len(data), 1 << 17)] or [b""]
    for number, piece in enumerate(pieces):
        last = number == len(pieces) - 1
        found += (len(piece) << 3 | last).to_bytes(3, "little") + piece
    return bytes(found)


def _from_zstd(data: bytes, size: int) -> bytes:
    try:
        return zstandard.Reader(data, size).read()
    except zstandard.TooMuch as error:
        raise WrongSize(str(error)) from None
