"""The references for Pulsar: their octets against known frames, each against the other, and against bad input."""

from __future__ import annotations

import contextlib
import os
import random

import pytest

from impls.pulsar import compress
from impls.pulsar.checksum import crc32c
from impls.pulsar.client import Client, SeedClient
from impls.pulsar.connection import Phase
from impls.pulsar.framing import Reader, close_batch, close_block, loaded, open_batch, open_block, part, simple
from impls.pulsar.reference import SWITCHES, Broker, Seed
from impls.pulsar.schema import COMMANDS, ENUMS, MESSAGES
from impls.pulsar.wire import Malformed, decode, decode_command, encode, encode_command, varint

TOPIC = "persistent://public/default/x"
EXCLUSIVE, SHARED, FAILOVER, KEY_SHARED = range(4)
NOBODY = (1 << 64) - 1

GOLDEN = {
    "0000002900000025080212210a1150756c7361722d4350502d76342e322e3020142a046e6f6e65520408011001": (
        "CONNECT",
        {
            "client_version": "Pulsar-CPP-v4.2.0",
            "protocol_version": 20,
            "auth_method_name": "none",
            "feature_flags": {"supports_auth_refresh": True, "supports_broker_entry_metadata": True},
        },
    ),
    "0000002b000000270815aa01220a1e70657273697374656e743a2f2f7075626c69632f64656661756c742f74311001": (
        "PARTITIONED_METADATA",
        {"topic": "persistent://public/default/t1", "request_id": 1},
    ),
    "0000002f0000002b0817ba01260a1e70657273697374656e743a2f2f7075626c69632f64656661756c742f7431100218003a00": (
        "LOOKUP",
        {
            "topic": "persistent://public/default/t1",
            "request_id": 2,
            "authoritative": False,
            "advertised_listener_name": "",
        },
    ),
    "00000009000000050812920100": ("PING", {}),
    "000000090000000508139a0100": ("PONG", {}),
    "0000004e0000004a080212460a1a50756c7361722d436c69656e742d4a6176612d76312e31352e321a0c6d792d617574682d6461746120062a1"
    "86d792d61757468656e7469636174696f6e2d706c7567696e": (
        "CONNECT",
        {
            "client_version": "Pulsar-Client-Java-v1.15.2",
            "auth_data": b"my-auth-data",
            "protocol_version": 6,
            "auth_method_name": "my-authentication-plugin",
        },
    ),
    "0000000d00000009080b5a05080110e807": ("FLOW", {"consumer_id": 1, "messagePermits": 1000}),
    "000000130000000f08073a0b080110001a05087b10c803": (
        "SEND_RECEIPT",
        {"producer_id": 1, "sequence_id": 0, "message_id": {"ledgerId": 123, "entryId": 456}},
    ),
    "000000130000000f080a520b080110001a05087b10c803": (
        "ACK",
        {"consumer_id": 1, "ack_type": 0, "message_id": [{"ledgerId": 123, "entryId": 456}]},
    ),
    "0000001500000011080f7a0d080110ffffffffffffffffff01": (
        "CLOSE_PRODUCER",
        {"producer_id": 1, "request_id": NOBODY},
    ),
}
GOLDEN_SEND = (
    "000000390000000808063204080010000e01f8d35a930000001e0a0670726f642d31100018afd4cbcb9f3422060a016112013132016b600768656"
    "c6c6f"
)
GOLDEN_MESSAGE = "000000240000000d08094a0908011205087b10c8030e017ed8df46000000070a0170100018016869"
GOLDEN_BATCH = (
    "000000100a060a016912013012026b30180240006d30000000100a060a016912013112026b31180240016d31000000100a060a0169120132"
    "12026b32180240026d32"
)


def frames(data: bytes, sizes=None):
    reader, found = Reader(1 << 23), []
    pieces = [data] if sizes is None else [data[at : at + sizes] for at in range(0, len(data), sizes)]
    for piece in pieces:
        reader.feed(piece)
        while (frame := reader.next()) is not None:
            found.append(frame)
    return found


class Peer:
    """A hand-made client of the broker: one connection."""

    def __init__(self, broker, version: int | None = 19, connect: bool = True) -> None:
        self.broker = broker
        self.session = broker.open()
        self.reader = Reader(1 << 23)
        self.requests = iter(range(100, 100_000))
        if connect:
            given = {} if version is None else {"protocol_version": version}
            self.say("CONNECT", client_version="test", **given)
            assert self.heard()[0][0] == "CONNECTED"

    def say(self, name, **body):
        self.session.send(simple(encode_command(name, body)))

    def ask(self, name, **body):
        request = next(self.requests)
        self.say(name, **body, request_id=request)
        answers = [each for each in self.heard() if each[1].get("request_id") == request]
        assert len(answers) == 1, answers
        return answers[0][:2]

    def publish(self, sequence, payload, producer=0, **metadata):
        head = {"producer_name": "p", "sequence_id": sequence, "publish_time": 1, **metadata}
        block = close_block(encode("MessageMetadata", head), payload)
        command = encode_command("SEND", {"producer_id": producer, "sequence_id": sequence})
        self.session.send(loaded(command, block, crc32c(block)))

    def heard(self):
        found = []
        while data := self.session.take():
            self.reader.feed(data)
        while (frame := self.reader.next()) is not None:
            name, body = frame.command.name, frame.command.body
            found.append((name, body, open_block(part(frame.rest).block)[1] if frame.rest else b""))
        return found

    def payloads(self):
        return [each[2] for each in self.heard() if each[0] == "MESSAGE"]

    def ready(self, kind=EXCLUSIVE, permits=100, subscription="s", consumer=0, **given):
        answer = self.ask(
            "SUBSCRIBE", topic=TOPIC, subscription=subscription, subType=kind, consumer_id=consumer, **given
        )
        assert answer[0] == "SUCCESS", answer
        if permits:
            self.say("FLOW", consumer_id=consumer, messagePermits=permits)


def published(broker, count, **switches):
    peer = Peer(broker)
    peer.ready(permits=0)
    assert peer.ask("PRODUCER", topic=TOPIC, producer_id=0)[0] == "PRODUCER_SUCCESS"
    for number in range(count):
        peer.publish(number, b"%d" % number)
    assert [each[0] for each in peer.heard()] == ["SEND_RECEIPT"] * count
    return peer


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
    cramjam = pytest.importorskip("cramjam", reason="the codecs to compare with are not installed")
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


# --- the broker -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("announced", [0xFFFFFFFF, 0x7FFFFFFF, 6_000_000, 5_253_121, 3, 0])
def test_a_size_that_cannot_be_closes_at_once_and_nothing_is_kept(announced):
    peer = Peer(Broker())
    peer.session.send(announced.to_bytes(4, "big") + bytes(100))
    assert peer.session.closed
    assert peer.heard() == []
    Peer(peer.broker)


def test_five_mib_less_the_headroom_are_taken():
    broker = Broker()
    peer = published(broker, 0)
    payload = bytes(5_232_640 - 60)
    peer.publish(0, payload)
    assert [each[0] for each in peer.heard()] == ["SEND_RECEIPT"]
    peer.say("FLOW", consumer_id=0, messagePermits=1)
    assert peer.payloads() == [payload]


@pytest.mark.parametrize("seed", range(30))
def test_random_octets_close_and_leave_the_broker_usable(seed):
    chance = random.Random(seed)
    broker = Broker.random(seed)
    session = broker.open()
    for _ in range(10):
        data = bytearray(bytes.fromhex(chance.choice([*GOLDEN, GOLDEN_SEND])))
        for _ in range(chance.randint(0, 3)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        session.send(bytes(data))
        session.take()
        broker.advance(5)
    session.hang_up()
    broker.advance(100)
    assert not broker.sessions
    peer = Peer(Broker())
    assert peer.ask("LOOKUP", topic=TOPIC)[1]["response"] == 1


def test_before_connect_nothing_has_an_effect():
    for name in ("LOOKUP", "PARTITIONED_METADATA"):
        peer = Peer(Broker(), connect=False)
        peer.say(name, topic=TOPIC, request_id=1)
        assert peer.session.closed
        assert peer.heard() == []
    peer = Peer(Broker())
    peer.say("CONNECT", client_version="again")
    assert peer.session.closed


def test_credentials_are_checked_and_challenged():
    peer = Peer(Broker(), connect=False)
    peer.say("CONNECT", client_version="x", auth_method_name="secret", auth_data=b"bad", protocol_version=6)
    ((name, body, _),) = peer.heard()
    assert (name, body["request_id"], body["error"]) == ("ERROR", NOBODY, ENUMS["ServerError"]["AuthenticationError"])
    assert peer.session.closed
    peer = Peer(Broker(auth_required=True, auth_steps=2), connect=False)
    peer.say("CONNECT", client_version="x", auth_method_name="secret", auth_data=b"good", protocol_version=14)
    for _ in range(2):
        assert peer.heard()[0][0] == "AUTH_CHALLENGE"
        peer.say("AUTH_RESPONSE", response={"auth_method_name": "secret", "auth_data": b"good"})
    assert peer.heard()[0][0] == "CONNECTED"


def test_a_broken_checksum_is_refused_and_the_producer_goes_on():
    peer = published(Broker(), 1)
    block = close_block(encode("MessageMetadata", {"producer_name": "p", "sequence_id": 1, "publish_time": 1}), b"x")
    command = encode_command("SEND", {"producer_id": 0, "sequence_id": 1})
    peer.session.send(loaded(command, block, crc32c(block) ^ 1))
    peer.publish(1, b"1")
    assert [each[0] for each in peer.heard()] == ["SEND_ERROR", "SEND_RECEIPT"]
    peer.say("FLOW", consumer_id=0, messagePermits=10)
    assert peer.payloads() == [b"0", b"1"]


def test_permits_are_a_limit_and_batches_run_into_debt():
    broker = Broker()
    peer = published(broker, 5)
    peer.say("FLOW", consumer_id=0, messagePermits=2)
    assert peer.payloads() == [b"0", b"1"]
    peer.say("FLOW", consumer_id=0, messagePermits=1)
    assert peer.payloads() == [b"2"]
    for sequence in (5, 8):
        batch = close_batch([({}, b"a"), ({}, b"b"), ({}, b"c")])
        peer.publish(sequence, batch, num_messages_in_batch=3)
    peer.heard()
    peer.say("FLOW", consumer_id=0, messagePermits=3)
    assert len(peer.payloads()) == 3  # two messages and a batch: two permits in debt
    peer.say("FLOW", consumer_id=0, messagePermits=2)
    assert peer.payloads() == []
    peer.say("FLOW", consumer_id=0, messagePermits=1)
    assert len(peer.payloads()) == 1


def ids_of(peer):
    return {payload: body["message_id"] for name, body, payload in peer.heard() if name == "MESSAGE"}


def test_acknowledgements_count_and_the_rest_comes_again():
    broker = Broker()
    peer = published(broker, 6)
    peer.say("FLOW", consumer_id=0, messagePermits=6)
    ids = ids_of(peer)
    peer.say("ACK", consumer_id=0, ack_type=1, message_id=[ids[b"1"]])
    peer.say("ACK", consumer_id=0, ack_type=0, message_id=[ids[b"3"], ids[b"5"]])
    peer.say("REDELIVER_UNACKNOWLEDGED_MESSAGES", consumer_id=0)
    peer.say("FLOW", consumer_id=0, messagePermits=10)
    assert peer.payloads() == [b"2", b"4"]
    assert peer.ask("CLOSE_CONSUMER", consumer_id=0)[0] == "SUCCESS"
    other = Peer(broker)
    other.ready(SHARED)
    assert other.payloads() == [b"2", b"4"]
    peer.ready(SHARED)
    other.session.hang_up()
    assert peer.payloads() == [b"2", b"4"]


def test_batch_indexes_are_acknowledged_one_by_one():
    peer = published(Broker(), 0)
    peer.publish(0, close_batch([({}, b"a"), ({}, b"b"), ({}, b"c")]), num_messages_in_batch=3)
    peer.heard()
    peer.say("FLOW", consumer_id=0, messagePermits=9)
    (message_id,) = ids_of(peer).values()
    peer.say("ACK", consumer_id=0, ack_type=0, message_id=[{**message_id, "ack_set": [0b101]}])
    peer.say("REDELIVER_UNACKNOWLEDGED_MESSAGES", consumer_id=0)
    ((_, body, _),) = peer.heard()
    assert body["ack_set"] == [0b101]
    peer.say("ACK", consumer_id=0, ack_type=0, message_id=[{**message_id, "ack_set": [0b010]}])
    peer.say("REDELIVER_UNACKNOWLEDGED_MESSAGES", consumer_id=0)
    assert peer.heard() == []


def test_the_master_is_the_first_by_name_and_another_takes_over():
    broker = Seed()
    peer = published(broker, 2)
    peer.ask("UNSUBSCRIBE", consumer_id=0)
    names = {1: "b", 2: "a", 3: "c"}
    for number, name in names.items():
        peer.ready(FAILOVER, consumer=number, consumer_name=name, initialPosition=1, permits=0)
    for number in names:
        peer.say("FLOW", consumer_id=number, messagePermits=5)
    assert {each[1]["consumer_id"] for each in peer.heard() if each[0] == "MESSAGE"} == {2}
    peer.ask("CLOSE_CONSUMER", consumer_id=2)
    peer.publish(2, b"2")
    messages = [(each[1]["consumer_id"], each[2]) for each in peer.heard() if each[0] == "MESSAGE"]
    assert messages == [(1, b"2")] or messages[-1] == (1, b"2")


def test_key_shared_keeps_the_messages_of_a_key_together():
    broker = Broker()
    peer = published(broker, 0)
    for number in (1, 2, 3):
        peer.ready(KEY_SHARED, subscription="k", consumer=number, permits=3)
    for number in range(9):
        peer.publish(number, b"%d" % number, partition_key=str(number % 4))
    owner = {}
    for name, body, payload in peer.heard():
        if name == "MESSAGE":
            assert owner.setdefault(int(payload) % 4, body["consumer_id"]) == body["consumer_id"]
    assert len(set(owner.values())) > 1


def test_a_duplicate_is_confirmed_and_not_stored():
    broker = Broker(deduplication=True)
    peer = published(broker, 3)
    peer.publish(1, b"again")
    ((_, body, _),) = peer.heard()
    assert body["message_id"] == {"ledgerId": NOBODY, "entryId": NOBODY}
    peer.say("FLOW", consumer_id=0, messagePermits=10)
    assert peer.payloads() == [b"0", b"1", b"2"]


def test_a_silent_client_is_given_up_between_one_and_two_intervals():
    for version in (1, 19):
        peer = Peer(Broker(), version)
        peer.broker.advance(30_000)
        assert [each[0] for each in peer.heard()] == ["PING"]
        peer.broker.advance(29_999)
        assert not peer.session.closed
        peer.broker.advance(2)
        assert peer.session.closed
    peer = Peer(Broker(), None)
    peer.broker.advance(300_000)
    assert peer.heard() == []
    assert peer.session.phase is Phase.LIVE
    peer = Peer(Broker(), connect=False)
    peer.broker.advance(30_000)
    assert peer.session.closed


def test_an_old_client_hears_nothing_that_it_does_not_know():
    broker = Broker()
    peer = published(broker, 1)
    old = Peer(broker, 4)
    old.ready(SHARED, subscription="old", initialPosition=1)
    assert old.payloads() == [b"0"]
    broker.unload(broker.topics[TOPIC])
    assert old.session.closed
    assert {each[0] for each in peer.heard()} == {"CLOSE_CONSUMER", "CLOSE_PRODUCER"}


def test_an_entry_that_its_client_cannot_read_is_not_pushed_for_ever():
    broker = Broker(cleanup_delay_ms=20)
    old, peer = Peer(broker, 3), Peer(broker)
    old.ready(SHARED)
    assert peer.ask("PRODUCER", topic=TOPIC, producer_id=0)[0] == "PRODUCER_SUCCESS"
    peer.publish(0, close_batch([({}, b"a"), ({}, b"b")]), num_messages_in_batch=2)
    broker.advance(100)
    assert old.session.closed
    peer.ready(SHARED)
    assert len(peer.payloads()) == 1


def test_a_seek_closes_the_consumer_and_moves_the_subscription():
    peer = published(Broker(), 4)
    peer.say("FLOW", consumer_id=0, messagePermits=10)
    ids = ids_of(peer)
    peer.say("SEEK", consumer_id=0, request_id=1, message_id=ids[b"2"])
    assert [each[0] for each in peer.heard()] == ["CLOSE_CONSUMER", "SUCCESS"]
    peer.ready()
    assert peer.payloads() == [b"2", b"3"]
    assert peer.ask("GET_LAST_MESSAGE_ID", consumer_id=0)[1]["last_message_id"] == ids[b"3"]


def test_a_client_that_does_not_read_is_not_pushed_to_for_ever():
    broker = Broker(max_out=100_000)
    peer = published(broker, 0)
    peer.say("FLOW", consumer_id=0, messagePermits=1000)
    for number in range(100):
        peer.publish(number, bytes(10_000))
    assert peer.session.waiting < 200_000
    found = peer.heard()
    while more := peer.heard():
        found += more
    assert sum(each[0] == "MESSAGE" for each in found) == 100


def test_every_switch_has_values_and_refuses_others():
    for name, values in SWITCHES.items():
        for each in values:
            Broker(**{name: each})
        with pytest.raises(ValueError, match=name):
            Broker(**{name: "nonsense"})


# --- each against the other -----------------------------------------------------------------------------------------


class Pair:
    """The reference client in front of the reference broker."""

    def __init__(self, client, broker) -> None:
        self.client, self.broker = client, broker
        self.talks, self.sessions = [client.open()], {}
        self.answers = []

    def pump(self) -> None:
        moved = True
        while moved:
            moved = False
            while len(self.talks) < len(self.talks[0].caller.channels):
                self.talks.append(self.client.open())
            for place, talk in enumerate(self.talks):
                if talk.channel is None:
                    continue
                if place not in self.sessions:
                    self.sessions[place] = self.broker.open()
                session = self.sessions[place]
                if data := talk.take():
                    session.send(data)
                    moved = True
                elif talk.closed and not session.hung:
                    session.hang_up()
                    moved = True
                if (data := session.take()) and not talk.closed:
                    talk.send(data)
                    moved = True
                elif session.closed and not talk.channel.hung_up:
                    talk.channel.received(b"")
                    moved = True
            for name, answer in self.talks[0].facts():
                if name == "answer":
                    self.answers.append(answer)
                    moved = True

    def do(self, op, **given):
        expected = len(self.answers) + 1
        self.talks[0].do(op, given)
        for _ in range(30_000):
            self.pump()
            if len(self.answers) == expected:
                break
            self.client.advance(1)
            self.broker.advance(1)
        answer = self.answers[expected - 1]
        assert "ok" in answer, (op, answer)
        return answer["ok"]


@pytest.mark.parametrize("partition", ["", "part-3-"])
@pytest.mark.parametrize("seed", range(16))
def test_client_and_broker_agree_whatever_their_switches(seed, partition):
    profile = (Client, Broker) if seed % 2 else (SeedClient, Seed)
    pair = Pair(profile[0].random(seed), profile[1].random(seed, unloads="never"))
    topic = f"persistent://public/default/{partition}t"
    pair.do("connect", url="pulsar://127.0.0.1:6650")
    producer = pair.do("producer", topic=topic, name=None)
    kind = "Shared" if seed % 3 else "Exclusive"
    consumer = pair.do("subscribe", topic=topic, subscription="s", type=kind, name="n", permits=3)
    handles = [
        pair.do(
            "send_async", producer=producer, payload_hex="61" * n, key="k" if n % 2 else None, properties={"n": str(n)}
        )
        for n in range(7)
    ]
    assert len({pair.do("await", handle=handle) for handle in handles}) == 7
    first = [pair.do("receive", consumer=consumer, timeout_ms=2000) for _ in range(7)]
    assert sorted((each["properties"]["n"], each["payload_hex"]) for each in first) == [
        (str(n), "61" * n) for n in range(7)
    ]
    for each in first[::2]:
        pair.do("ack", consumer=consumer, ref=each["ref"], cumulative=False)
    pair.do("receive", consumer=consumer, timeout_ms=200)
    pair.do("redeliver", consumer=consumer)
    missing = {each["properties"]["n"] for each in first[1::2]}
    while missing:
        again = pair.do("receive", consumer=consumer, timeout_ms=2000)
        missing.discard(again["properties"]["n"])
        pair.do("ack", consumer=consumer, ref=again["ref"], cumulative=False)
    for talk in pair.talks:
        talk.do("drop", None)
    pair.do("send", producer=producer, payload_hex="ff", key=None, properties={"n": "last"})
    while (found := pair.do("receive", consumer=consumer, timeout_ms=2000))["properties"]["n"] != "last":
        pair.do("ack", consumer=consumer, ref=found["ref"], cumulative=False)
    pair.do("close", producer=producer)
    pair.do("close", consumer=consumer)
    pair.do("disconnect")
