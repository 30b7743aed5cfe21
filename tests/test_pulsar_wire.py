"""Pulsar's frames: golden ones, pieces, lies; batches and compression; the schema is current."""

import random
import re

import google_crc32c
import pytest

from specs.codec import Bad, Malformed
from specs.pulsar import batches, frames
from specs.pulsar.frames import Draft, Frame, decoder, draft, encode, from_json, parse, resolve, to_json
from tests.pulsar_schema import HERE, generate

GOLDEN = {
    "CONNECT": "0000002900000025080212210a1150756c7361722d4350502d76342e322e3020142a046e6f6e65520408011001",
    "PARTITIONED_METADATA": (
        "0000002b000000270815aa01220a1e70657273697374656e743a2f2f7075626c69632f64656661756c742f74311001"
    ),
    "LOOKUP": "0000002f0000002b0817ba01260a1e70657273697374656e743a2f2f7075626c69632f64656661756c742f7431100218003a00",
    "SEND": (
        "000000390000000808063204080010000e01f8d35a930000001e0a0670726f642d31100018afd4cbcb9f34"
        "22060a016112013132016b600768656c6c6f"
    ),
    "PING": "00000009000000050812920100",
    "PONG": "000000090000000508139a0100",
    "FLOW": "0000000d00000009080b5a05080110e807",
    "SEND_RECEIPT": "000000130000000f08073a0b080110001a05087b10c803",
    "ACK": "000000130000000f080a520b080110001a05087b10c803",
    "MESSAGE": "000000240000000d08094a0908011205087b10c8030e017ed8df46000000070a0170100018016869",
    "CLOSE_PRODUCER": "0000001500000011080f7a0d080110ffffffffffffffffff01",
}
BATCH = bytes.fromhex(
    "000000100a060a016912013012026b30180240006d30000000100a060a016912013112026b31180240016d31"
    "000000100a060a016912013212026b32180240026d32"
)


@pytest.mark.parametrize("kind", GOLDEN)
def test_golden_frames(kind):
    octets = bytes.fromhex(GOLDEN[kind])
    (frame,) = decoder("broker", None, {}).feed(octets)
    assert isinstance(frame, Frame)
    assert (frame.kind, frame.whole, frame.odd, frame.size) == (kind, True, "", len(octets) - 4)
    assert encode(frame) == octets
    assert from_json(to_json(frame)) == frame
    if kind in ("SEND", "MESSAGE"):
        assert frame.check == "good"
        assert frame.metadata().producer_name in ("prod-1", "p")


def test_seeds_connect():
    octets = bytes.fromhex(
        "0000004e0000004a080212460a1a50756c7361722d436c69656e742d4a6176612d76312e31352e321a0c6d792d617574682d646174612006"
        "2a186d792d61757468656e7469636174696f6e2d706c7567696e"
    )
    frame = parse(octets[4:])
    assert (frame.body.protocol_version, frame.body.auth_method_name) == (6, "my-authentication-plugin")


def test_in_any_pieces():
    stream = b"".join(bytes.fromhex(each) for each in GOLDEN.values())
    chance = random.Random(1)
    for _ in range(50):
        reader, found, at = decoder("broker", None, {}), [], 0
        while at < len(stream):
            size = chance.choice((1, 2, 3, 7, 50, 500))
            found += reader.feed(stream[at : at + size])
            at += size
        assert [frame.kind for frame in found] == list(GOLDEN)
        assert not reader.midway


def test_checksum_of_the_field():
    assert google_crc32c.value(b"123456789") == 0xE3069283


@pytest.mark.parametrize("bit", range(0, 8 * 34, 5))
def test_every_bit_counts(bit):
    octets = bytearray.fromhex(GOLDEN["SEND"])
    at = len(octets) - 34 + bit // 8  # CHECKSUM, METADATA_SIZE, METADATA, PAYLOAD
    octets[at] ^= 1 << bit % 8
    frame = parse(bytes(octets[4:]))
    assert frame.odd or frame.check != "good"


@pytest.mark.parametrize(
    ("octets", "why"),
    [
        ("005b8d80", "over-limit"),
        ("ffffffff", "over-limit"),
        ("00000000", "command-size"),
        ("00000009000000060812920100", "command-size"),
        ("00000009ffffffff0812920100", "command-size"),
        ("0000000600000002080d", "no-sub-message"),
        ("00000006000000020863", "no-command"),
        ("0000000400000000", "no-command"),
        ("0000000800000004080b5a00", "no-command"),
        ("0000000800000004ffffffff", "no-command"),
    ],
)
def test_what_is_no_frame(octets, why):
    *_, bad = decoder("broker", None, {}).feed(bytes.fromhex(octets))
    assert isinstance(bad, Bad)
    assert bad.why == why


def test_lying_sizes_are_kept_as_they_are():
    made = resolve(Draft("SEND", {"producer_id": 1, "sequence_id": 2}, rest=b"\xff\xff\xff\xffabc"), None)
    assert (made.odd, made.headers) == ("metadata size", None)
    assert parse(encode(made)[4:]) == made
    behind = resolve(Draft("PING", rest=b"xyz"), None)
    assert behind.odd
    assert encode(behind).endswith(b"xyz")


def test_drafts_survive_json():
    given = Draft("SEND", {"producer_id": 1, "sequence_id": 0}, {"producer_name": "p"}, b"\x00", "bad", b"\xf2\x0f\x00")
    assert from_json(to_json(given)) == given
    assert to_json(draft("PING"))["draft"] == "PING"


def test_golden_batch():
    found = batches.unbatch(BATCH, 3)
    assert [(each.payload, each.meta.partition_key, each.meta.sequence_id) for each in found] == [
        (b"m0", "k0", 0), (b"m1", "k1", 1), (b"m2", "k2", 2)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("data", "count"),
    [(BATCH, 2), (BATCH, 4), (BATCH[:-1], 3), (b"\xff" * 8, 1), (batches.batch([({"payload_size": -5}, b"x")]), 1),
     (batches.batch([({"payload_size": 1000}, b"x")]), 1), (b"", 1)],
)  # fmt: skip
def test_batches_that_lie(data, count):
    with pytest.raises(Malformed):
        batches.unbatch(data, count)


@pytest.mark.parametrize("kind", range(5))
@pytest.mark.parametrize("data", [b"", b"x", b"A" * 1000, bytes(range(256)) * 9])
def test_compression(kind, data):
    packed = batches.compress(kind, data)
    assert batches.decompress(kind, packed, len(data)) == data
    if kind:
        for size in (len(data) + 1, max(len(data) - 1, 0), 50 * 1024 * 1024):
            if size != len(data):
                with pytest.raises(Malformed):
                    batches.decompress(kind, packed, size)
        if data:
            with pytest.raises(Malformed):
                batches.decompress(kind, b"\xf0garbage\xff\xff\xff", len(data))


def test_lz4_is_a_raw_block():
    assert batches.decompress(1, bytes.fromhex("1f410100ffffffd2") + b"\x50AAAAA", 1000)[:4] == b"AAAA"


def test_upb():
    assert frames.api_implementation.Type() == "upb"


def test_the_module_is_current(tmp_path):
    pytest.importorskip("grpc_tools")
    made, kept = generate(tmp_path).read_text(), (HERE / "pulsar_pb2.py").read_text()
    said = re.compile(r"AddSerializedFile\((.*)\)")  # what compilers of other versions write around it may differ
    assert said.search(made)[1] == said.search(kept)[1], "run python -m tests.pulsar_schema"
