"""The octets of the references for Pulsar against known frames, and what they compress."""

from __future__ import annotations

import contextlib
import os
import random

import cramjam
import pytest

from impls.references.pulsar import compress
from impls.references.pulsar.checksum import crc32c
from impls.references.pulsar.framing import close_batch, open_batch, open_block, part, simple
from impls.references.pulsar.schema import COMMANDS, ENUMS, MESSAGES
from impls.references.pulsar.wire import Malformed, decode, decode_command, encode_command, varint
from tests.pulsar_peer import GOLDEN, GOLDEN_BATCH, GOLDEN_MESSAGE, GOLDEN_SEND, frames

# --- octets ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", GOLDEN, ids=[name for name, _ in GOLDEN.values()])
@pytest.mark.parametrize("size", [None, 1, 7])
def test_known_frames_are_read_whatever_the_pieces(data, size):
    (frame,) = frames(bytes.fromhex(data), size)
    name, body = GOLDEN[data]
    assert (frame.command.name, frame.command.body, frame.rest) == (name, body, b"")
    assert simple(encode_command(name, body)).hex() == data


@pytest.mark.parametrize("data", [GOLDEN_SEND, GOLDEN_MESSAGE])
def test_known_payload_parts_are_intact_and_one_bit_breaks_them(data):
    (frame,) = frames(bytes.fromhex(data))
    load = part(frame.rest)
    assert load.intact
    assert load.checksum is not None
    for bit in range(len(load.block) * 8):
        broken = bytearray(load.block)
        broken[bit // 8] ^= 1 << bit % 8
        assert crc32c(bytes(broken)) != load.checksum
    assert open_block(load.block)[1] in (b"hello", b"hi")


def test_a_known_batch_is_taken_apart_and_put_together():
    payload = bytes.fromhex(GOLDEN_BATCH)
    entries = open_batch(payload, 3)
    assert [data for _, data in entries] == [b"m0", b"m1", b"m2"]
    assert [head["partition_key"] for head, _ in entries] == ["k0", "k1", "k2"]
    assert close_batch(entries) == payload
    for wrong in (payload[:-1], payload + b"x", payload[1:]):
        with pytest.raises(Malformed):
            open_batch(wrong, 3)
    for count in (0, 2, 4, -1, 1 << 30):
        with pytest.raises(Malformed):
            open_batch(payload, count)


def test_the_checksum_is_that_of_the_table_for_every_length():
    assert crc32c(b"123456789") == 0xE3069283
    chance = random.Random(1)

    def slowly(data):
        value = 0xFFFFFFFF
        for octet in data:
            value ^= octet
            for _ in range(8):
                value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        return value ^ 0xFFFFFFFF

    for length in [*range(80, 230), 1000, 4097]:
        data = chance.randbytes(length)
        assert crc32c(data) == slowly(data), length


@pytest.mark.parametrize("kind", [compress.LZ4, compress.ZLIB, compress.ZSTD, compress.SNAPPY])
@pytest.mark.parametrize("data", [b"", b"a", b"A" * 1000, os.urandom(300), b"ab" * 70_000], ids=len)
def test_what_is_compressed_comes_back(kind, data):
    packed = compress.compress(kind, data)
    assert compress.decompress(kind, packed, len(data)) == data
    for size in {len(data) + 1, max(0, len(data) - 1)} - {len(data)}:
        with pytest.raises(Malformed):
            compress.decompress(kind, packed, size)
    with pytest.raises(compress.WrongSize):
        compress.decompress(kind, packed, 50_000_000)
    if packed:
        with pytest.raises(Malformed):
            compress.decompress(kind, packed[:-1], len(data) or 1)


def test_a_known_lz4_block_is_read():
    packed = bytes.fromhex("1f410100ffffffd2") + bytes.fromhex("504141414141")
    assert compress.decompress(compress.LZ4, packed, 1 + 15 + 255 * 3 + 0xD2 + 4 + 5) == b"A" * 1000


@pytest.mark.parametrize("level", [1, 3, 19])
def test_zstd_as_others_write_it_is_read(level):
    chance = random.Random(level)
    words = [chance.randbytes(chance.randint(1, 8)) for _ in range(100)]
    for length in (0, 1, 7, 300, 4000):
        data = b"".join(chance.choice(words) for _ in range(length))
        packed = bytearray(cramjam.zstd.compress(data, level=level))
        assert compress.decompress(compress.ZSTD, bytes(packed), len(data)) == data
        for _ in range(50):
            packed[chance.randrange(len(packed))] ^= 1 << chance.randrange(8)
            with contextlib.suppress(Malformed):
                compress.decompress(compress.ZSTD, bytes(packed), len(data))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_field_of_every_command_survives_and_unknown_ones_are_skipped(name):
    chance = random.Random(name)
    for _ in range(30):
        body = drawn(COMMANDS[name][1], chance, 0)
        order = chance.choice([None, list.reverse, chance.shuffle])
        data = encode_command(name, body, order)
        unknown = (
            varint(90 << 3) + varint(7) + varint(91 << 3 | 3) + varint(91 << 3 | 4) + varint(92 << 3 | 5) + b"1234"
        )
        for octets in (data, data + unknown, unknown + data):
            command = decode_command(octets)
            assert (command.name, command.body, command.others) == (name, body, ())


def drawn(name, chance, depth):
    found = {}
    for field in MESSAGES[name]:
        if not field.required and (depth > 3 or chance.random() < 0.3):
            continue
        values = [value(field.kind, chance, depth) for _ in range(chance.randint(1, 3) if field.repeated else 1)]
        found[field.name] = values if field.repeated else values[0]
    return found


def value(kind, chance, depth):
    if kind in ENUMS:
        return chance.choice(list(ENUMS[kind].values()))
    if kind in ("string", "bytes"):
        return chance.choice(["", "é漢", "a" * 200]) if kind == "string" else chance.randbytes(chance.randint(0, 200))
    if kind == "bool":
        return chance.random() < 0.5
    if kind == "double":
        return chance.random()
    if kind.endswith(("int32", "int64")):
        bits = int(kind[-2:])
        low, high = (0, 1 << bits) if kind.startswith("u") else (-1 << bits - 1, 1 << bits - 1)
        return chance.choice([low, high - 1, 0, chance.randrange(low, high)])
    return drawn(kind, chance, depth + 1)


def test_what_is_no_message_is_refused_and_nothing_else_escapes():
    chance = random.Random(2)
    good = [bytes.fromhex(data)[8:] for data in GOLDEN]
    for _ in range(3000):
        data = bytearray(chance.choice(good))
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        data = data[: chance.randint(0, len(data) + 1)]
        try:
            decode_command(bytes(data))
        except Malformed:
            continue
    deep = b""
    for _ in range(100):
        deep = b"\x3a" + varint(len(deep)) + deep  # first_chunk_message_id of first_chunk_message_id of ...
    with pytest.raises(Malformed):
        decode("MessageIdData", deep)
    with pytest.raises(Malformed):
        decode("MessageIdData", (varint(99 << 3 | 3)) * 5000)
    with pytest.raises(Malformed):
        decode("KeyValue", b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f")
