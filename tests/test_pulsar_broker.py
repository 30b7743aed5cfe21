"""The reference broker for Pulsar, one behaviour after the other."""

from __future__ import annotations

import pytest

from impls.references.pulsar.checksum import crc32c
from impls.references.pulsar.connection import Phase
from impls.references.pulsar.framing import close_batch, close_block, loaded
from impls.references.pulsar.reference import SWITCHES, Broker, Seed
from impls.references.pulsar.schema import ENUMS
from impls.references.pulsar.wire import encode, encode_command
from tests.pulsar_peer import FAILOVER, KEY_SHARED, NOBODY, SHARED, TOPIC, Peer, published


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
