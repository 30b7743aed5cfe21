"""The reference broker for Pulsar against sizes that cannot be and random octets."""

from __future__ import annotations

import random

import pytest

from impls.references.pulsar.reference import Broker
from tests.pulsar_peer import GOLDEN, GOLDEN_SEND, TOPIC, Peer, published

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
