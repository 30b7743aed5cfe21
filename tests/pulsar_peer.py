"""Frames that are known, and a peer of the reference broker that says and hears octets."""

from __future__ import annotations

from impls.references.pulsar.checksum import crc32c
from impls.references.pulsar.framing import Reader, close_block, loaded, open_block, part, simple
from impls.references.pulsar.wire import encode, encode_command

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
