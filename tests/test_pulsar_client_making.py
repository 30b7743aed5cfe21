"""A producer or consumer is what its application asked for, and what is sent again is what was sent (P-80)."""

from __future__ import annotations

import pytest

from specs.events import Closed, Fact
from specs.pulsar.batches import batch
from tests.test_pulsar_client_crossings import reported, told
from tests.test_pulsar_client_machine import MADE, NOW, at, looked_up, verdict
from tests.test_pulsar_crossings import END
from tests.test_pulsar_freedoms import TOPIC, hello, said

LOST = [Fact(0, "broker", "drop", None), Closed(0, "client", "eof")]
KIND, NAME, NAMED = "PULSAR-SUB-15", "PULSAR-SUB-16", "PULSAR-PROD-15"


def subscribe(topic=TOPIC, request=21, **fields):
    given = {"subscription": "s", "subType": 1, "consumer_id": 0, **fields}
    return said(0, "client", "SUBSCRIBE", topic=topic, request_id=request, **given)


def asked(topic=TOPIC, **fields):
    return told("subscribe", topic=topic, **{"subscription": "s", "type": "Shared", "permits": 9, **fields})


OPEN = [told("connect"), reported(None)]
WAY = [*hello(0), *looked_up(TOPIC, 2)]


@pytest.mark.parametrize(
    ("asks", "answers", "blamed"),
    [
        ({}, {}, set()),
        ({}, {"subType": 0}, {KIND}),
        ({}, {"subscription": "S"}, {KIND}),
        ({}, {"subscription": ""}, {KIND}),
        ({"type": "Failover"}, {"subType": 2}, set()),
        ({"type": "Failover", "name": "a"}, {"subType": 2, "consumer_name": "a"}, set()),
        ({"name": "a"}, {}, {NAME}),
        ({"name": "a"}, {"consumer_name": "b"}, {NAME}),
        ({"name": ""}, {"consumer_name": "made-up"}, set()),
        ({"name": None}, {"consumer_name": "made-up"}, set()),
    ],
)
def test_a_consumer_is_the_one_that_was_asked_for(asks, answers, blamed):
    assert verdict(*OPEN, asked(**asks), *WAY, subscribe(**answers)) == blamed


@pytest.mark.parametrize(("again", "blamed"), [({}, set()), ({"subType": 0}, {KIND}), ({"subscription": "x"}, {KIND})])
def test_a_consumer_is_made_again_as_it_was(again, blamed):
    done = said(0, "broker", "SUCCESS", request_id=21)
    talk = [*OPEN, asked(), *WAY, subscribe(), done, reported("c"), *LOST]
    assert (
        blamed
        <= verdict(*talk, *at(1, *hello(1), *looked_up(TOPIC, 2), subscribe(**again)))
        <= blamed | {"PULSAR-FLOW-07"}
    )


def test_it_is_any_of_those_that_were_asked_for_on_a_topic():
    talk = [*OPEN, asked(), *WAY, subscribe(), said(0, "broker", "SUCCESS", request_id=21), reported("c"),
            asked(subscription="t", type="Exclusive"), *looked_up(TOPIC, 3)]  # fmt: skip
    seen = [subscribe(request=22, consumer_id=1, subscription="t", subType=0)]
    assert KIND not in verdict(*talk, *seen)
    assert KIND in verdict(*talk, subscribe(request=22, consumer_id=1, subscription="t", subType=1))


def test_what_nobody_asked_for_is_not_judged():
    """A client may read, say, where it puts what it cannot handle."""
    assert (
        verdict(*OPEN, asked(), *WAY, *looked_up(TOPIC + "-retry", 3), subscribe(TOPIC + "-retry", subType=2)) == set()
    )


@pytest.mark.parametrize(
    ("asks", "name", "blamed"),
    [
        ({"name": "mine"}, "mine", set()),
        ({"name": "mine"}, "", {NAMED}),
        ({"name": "mine"}, "other", {NAMED}),
        ({"name": ""}, "", set()),
        ({}, "made-up", set()),
    ],
)
def test_a_producer_has_the_name_that_was_asked_for(asks, name, blamed):
    given = {"producer_name": name} if name else {}
    makes = said(0, "client", "PRODUCER", topic=TOPIC, producer_id=0, request_id=20, **given)
    assert verdict(*OPEN, told("producer", topic=TOPIC, **asks), *WAY, makes) == blamed


def test_how_what_is_made_of_partitions_is_called_nothing_says():
    partitions = said(0, "broker", "PARTITIONED_METADATA_RESPONSE", request_id=1, response=0, partitions=2)
    asks = said(0, "client", "PARTITIONED_METADATA", topic=TOPIC, request_id=1)
    for name in ("mine", "mine-0", ""):
        part = TOPIC + "-partition-0"
        makes = said(0, "client", "PRODUCER", topic=part, producer_id=0, request_id=20, producer_name=name)
        talk = [*OPEN, told("producer", topic=TOPIC, name="mine"), *hello(0), asks, partitions, *looked_up(part, 2)]
        assert verdict(*talk, makes) == set()


# -- what is sent again ------------------------------------------------------------------------------------------------

PRODUCING = [*OPEN, told("producer", topic=TOPIC), *WAY,
             said(0, "client", "PRODUCER", topic=TOPIC, producer_id=0, request_id=20), MADE, reported("p")]  # fmt: skip
BACK = [*hello(1), *looked_up(TOPIC, 2),
        said(0, "client", "PRODUCER", topic=TOPIC, producer_id=0, request_id=20, producer_name="p"), MADE]  # fmt: skip


def send(payload=b"a", **meta):
    fields = {**NOW, "producer_name": "p", "sequence_id": 0, **meta}
    return said(0, "client", "SEND", fields, payload, producer_id=0, sequence_id=0)


PAIRS = {"properties": [{"key": "x", "value": "1"}]}


@pytest.mark.parametrize(
    ("again", "blamed"),
    [
        ({"partition_key": "k", **PAIRS}, set()),
        (PAIRS, {"PULSAR-MD-05"}),
        ({"partition_key": "j", **PAIRS}, {"PULSAR-MD-05"}),
        ({"partition_key": "k"}, {"PULSAR-MD-05"}),
        ({"partition_key": "k", "properties": [{"key": "x", "value": "2"}]}, {"PULSAR-MD-05"}),
        ({"partition_key": "k", **PAIRS, "publish_time": NOW["publish_time"] + 5}, set()),
    ],
)
def test_what_is_sent_again_keeps_key_and_properties(again, blamed):
    asks = told("send", producer="p", payload_hex=b"a".hex(), key="k", properties={"x": "1"})
    talk = [*PRODUCING, asks, send(partition_key="k", **PAIRS), *LOST]
    assert verdict(*talk, *at(1, *BACK, send(**again))) == blamed


def test_a_key_that_is_empty_is_none():
    talk = [*PRODUCING, told("send", producer="p", payload_hex=b"a".hex(), key=""), send(partition_key=""), *LOST]
    assert verdict(*talk, *at(1, *BACK, send()), END) == set()


def test_what_is_sent_again_in_a_batch_is_the_same_message():
    """Whether a message that was sent alone goes in a batch then, nothing says."""
    asks = told("send", producer="p", payload_hex=b"a".hex(), key="k", properties={"x": "1"})
    talk = [*PRODUCING, asks, send(partition_key="k", **PAIRS), *LOST]
    for head, blamed in (({"partition_key": "k", **PAIRS}, set()), (PAIRS, {"PULSAR-MD-05"})):
        again = send(batch([(head, b"a")]), num_messages_in_batch=1)
        assert verdict(*talk, *at(1, *BACK, again)) == blamed


@pytest.mark.parametrize(
    ("version", "blamed"), [(0, set()), (6, set()), (7, {"PULSAR-REQ-03"}), (19, {"PULSAR-REQ-03"})]
)
@pytest.mark.parametrize("op", ["producer", "subscribe"])
@pytest.mark.parametrize("hangs_up", [False, True])
def test_nothing_need_be_made_with_a_broker_that_is_older_than_lookups(op, hangs_up, version, blamed):
    """P-86."""
    asks = asked() if op == "subscribe" else told("producer", topic=TOPIC)
    failed = Fact(0, "client", "answer", {"op": op, "error": "the broker is too old"})
    ends = [Closed(0, "client")] if hangs_up else []
    assert verdict(*OPEN, asks, *hello(0, version), *ends, failed, END) == blamed


@pytest.mark.parametrize(("version", "right"), [(0, True), (6, True), (7, False), (19, False)])
@pytest.mark.parametrize("goes_on", [False, True])
def test_nor_a_connection(goes_on, version, right):
    """P-86, of a client that says so when it connects, which it may do behind the next thing that it is told."""
    talk = [told("connect"), *hello(0, version), Closed(0, "client")]
    talk.append(Fact(0, "client", "answer", {"op": "connect", "error": "the broker is too old"}))
    if goes_on:
        talk.insert(1, told("producer", topic=TOPIC))
        talk.append(Fact(0, "client", "answer", {"op": "producer", "error": "not connected"}))
    assert (not verdict(*talk)) == right
