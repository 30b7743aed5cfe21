"""What a client may do though it looks wrong, and was once blamed: one conversation each."""

from __future__ import annotations

import pytest

from specs.events import Closed, Fact, Quiet
from specs.model import judge
from specs.plan import Ref
from specs.pulsar.batches import batch, compress
from specs.pulsar.client import ClientModel, ClientState
from specs.pulsar.memory import PulsarMemory
from specs.pulsar.states import Config
from tests.test_pulsar_crossings import flow
from tests.test_pulsar_freedoms import ID, META, TOPIC, hello, said

END = Quiet(10_000, final=True)
URL = "pulsar://x:1"
REDIRECTED = "pulsar://127.0.0.1:2"
CMP = {"PULSAR-CMP-02", "PULSAR-CMP-03"}


def followed(*events):
    """The outcomes of a client's conversation, up to the first that is none of an acceptor."""
    state = ClientState(Config(role="client", profile="modern"))
    for event in events:
        (outcome,) = ClientModel().step(state, event)
        if not hasattr(outcome, "covers"):
            return outcome.requirement
        state = outcome.state
    return ""


def told(op, **given):
    return Fact(0, "broker", op, given)


def reported(value):
    return Fact(0, "client", "answer", {"ok": value})


def way(conn, request, kind, **fields):
    """The way to a producer or consumer of a topic, from its lookup on, in two halves."""
    found = {"response": 1, "brokerServiceUrl": URL}
    lookup = [said(conn, "client", "LOOKUP", topic=TOPIC, request_id=request),
              said(conn, "broker", "LOOKUP_RESPONSE", request_id=request, **found)]  # fmt: skip
    made = {"PRODUCER": {"producer_id": 0}, "SUBSCRIBE": {"consumer_id": 0, "subscription": "s", "subType": 0}}[kind]
    answer = ("PRODUCER_SUCCESS", {"producer_name": "p"}) if kind == "PRODUCER" else ("SUCCESS", {})
    create = [said(conn, "client", kind, topic=TOPIC, request_id=request + 50, **made, **fields),
              said(conn, "broker", answer[0], request_id=request + 50, **answer[1])]  # fmt: skip
    return lookup, create


def test_two_lookups_of_a_topic_are_good_for_two():
    pen, ear = way(0, 1, "PRODUCER"), way(0, 2, "SUBSCRIBE")
    both = [*hello(0), *(each for part in (*pen, *ear) for each in part)]
    new_pen, new_ear = way(1, 1, "PRODUCER", producer_name="p"), way(1, 2, "SUBSCRIBE")
    lost = Fact(0, "broker", "drop", None)
    assert followed(*both, lost, *hello(1), *new_pen[0], *new_ear[0], *new_ear[1], *new_pen[1]) == ""
    assert followed(*both, lost, *hello(1), *new_ear[0], *new_ear[1], *new_pen[1]) == "PULSAR-LOOK-01"


def batch_of_three():
    lookup, create = way(0, 1, "SUBSCRIBE")
    many = {**META, "num_messages_in_batch": 3}
    yield from (
        *hello(0),
        told("connect"),
        reported(None),
        told("subscribe", topic=TOPIC),
        *lookup,
        *create,
        reported("c"),
    )
    yield flow(0, 0)
    content = batch([({}, b"a"), ({}, b"b"), ({}, b"c")])
    yield said(0, "broker", "MESSAGE", many, content, consumer_id=0, message_id={**ID, "entryId": 4})
    for nth, payload in enumerate((b"a", b"b", b"c")):
        yield told("receive", consumer="c", timeout_ms=100)
        yield reported({"ref": str(nth), "payload_hex": payload.hex()})


@pytest.mark.parametrize(
    ("refs", "ack", "rule"),
    [
        ("0", {}, "PULSAR-ACK-13"),
        ("02", {}, "PULSAR-ACK-13"),
        ("012", {}, ""),
        ("0", {"ack_set": [6], "batch_size": 3}, ""),
        ("0", {"batch_index": 0}, ""),
    ],
)
def test_a_batch_is_acknowledged_when_all_of_it_is(refs, ack, rule):
    asked = [event for ref in refs for event in (told("ack", consumer="c", ref=ref), reported(None))]
    given = {**ID, "entryId": 4, **ack}
    sent = said(0, "client", "ACK", consumer_id=0, ack_type=0, message_id=[given])
    assert followed(*batch_of_three(), *asked, sent) == rule


@pytest.mark.parametrize(("entry", "rule"), [(3, ""), (4, "PULSAR-ACK-13")])
def test_within_a_batch_a_cumulative_acknowledgement_is_of_what_is_before_it(entry, rule):
    asked = (told("ack", consumer="c", ref="1", cumulative=True), reported(None))
    given = {**ID, "entryId": entry}
    sent = said(0, "client", "ACK", consumer_id=0, ack_type=1, message_id=[given])
    assert followed(*batch_of_three(), *asked, sent) == rule


def test_who_asks_for_the_number_of_partitions_again_is_told_the_same():
    memory = PulsarMemory(Config(role="client"), "f")
    for event in (
        said(0, "client", "PARTITIONED_METADATA", topic=TOPIC, request_id=1),
        said(0, "broker", "PARTITIONED_METADATA_RESPONSE", request_id=1, response=0, partitions=3),
        said(1, "client", "PARTITIONED_METADATA", topic=TOPIC, request_id=1),
        said(1, "client", "PARTITIONED_METADATA", topic=f"{TOPIC}-partition-0", request_id=2),
    ):
        memory.note(event)
    assert memory.resolve(Ref("count", 1)) == 3
    memory.note(said(1, "broker", "PARTITIONED_METADATA_RESPONSE", request_id=1, response=0, partitions=3))
    assert memory.resolve(Ref("count", 1)) == 0
    assert memory.resolve(Ref("count", 0)) is None


@pytest.mark.parametrize(("again", "number", "rule"), [
    (False, 7, ""), (False, 3, "PULSAR-PROD-12"), (True, 7, ""), (True, 3, ""),
])  # fmt: skip
def test_a_producer_made_again_may_go_on_from_what_it_was_told_first(again, number, rule):
    lookup, create = way(0, 1, "PRODUCER")
    create[1] = said(0, "broker", "PRODUCER_SUCCESS", request_id=51, producer_name="p", last_sequence_id=6)
    events = [*hello(0), told("connect"), reported(None), told("producer", topic=TOPIC), *lookup, *create,
              reported("p")]  # fmt: skip
    if again:
        lookup, create = way(1, 1, "PRODUCER", producer_name="p")
        create[1] = said(1, "broker", "PRODUCER_SUCCESS", request_id=51, producer_name="p", last_sequence_id=2)
        events += [Fact(0, "broker", "drop", None), *hello(1), *lookup, *create]
    events.append(told("send", producer="p", payload_hex="6d"))
    sent = {**META, "sequence_id": number, "publish_time": 1_700_000_000_000}
    events.append(said(int(again), "client", "SEND", sent, b"m", producer_id=0, sequence_id=number))
    assert followed(*events) == rule


@pytest.mark.parametrize(("consumer", "ended", "rule"), [
    (0, True, "PULSAR-CMP-02"), (0, False, ""),  # it may have enough of whom it cannot understand
    (9, True, "PULSAR-INV-CLIENT-07"), (9, False, ""),
])  # fmt: skip
def test_a_client_that_died_is_told_apart_from_one_that_hung_up(consumer, ended, rule):
    lookup, create = way(0, 1, "SUBSCRIBE")
    given = {"consumer_id": consumer, "message_id": {"ledgerId": 1, "entryId": 1}}
    spoiled = said(0, "broker", "MESSAGE", {**META, "compression": 2, "uncompressed_size": 9}, b"no zlib", **given)
    events = [*hello(0), told("connect"), reported(None), told("subscribe", topic=TOPIC), *lookup, *create,
              reported("c"), flow(0, 0), spoiled, Closed(0, "client")]  # fmt: skip
    assert followed(*events) == ""
    assert followed(*events, Fact(0, "client", "exit", -11) if ended else END) == rule


def test_a_connection_that_was_to_be_cut_before_it_was_there_is_waited_on():
    events = [told("connect"), reported(None), told("producer", topic=TOPIC), Fact(0, "broker", "drop", None)]
    assert followed(*events, next(iter(hello(0))), END) == ""


@pytest.mark.parametrize(("got", "rules"), [(b"tiny", {"PULSAR-CMP-03"}), (b"tiny\0\0", {"PULSAR-CMP-02"})])
def test_a_message_whose_size_is_wrong_may_be_given_as_it_is(got, rules):
    lookup, create = way(0, 1, "SUBSCRIBE")
    given = {"consumer_id": 0, "message_id": {"ledgerId": 1, "entryId": 1}}
    meta = {**META, "compression": 2, "uncompressed_size": 6}
    ack = said(0, "client", "ACK", consumer_id=0, ack_type=0, message_id=[given["message_id"]])
    events = [*hello(0), told("connect"), reported(None), told("subscribe", topic=TOPIC), *lookup, *create,
              reported("c"), flow(0, 0), said(0, "broker", "MESSAGE", meta, compress(2, b"tiny"), **given),
              told("receive", consumer="c"), reported({"ref": "1", "payload_hex": got.hex()}),
              told("ack", consumer="c", ref="1"), reported(None), ack, END]  # fmt: skip
    found = judge(ClientModel(), Config(role="client", profile="modern"), events, "client")
    assert {rule for each in found.faults for rule in (each.breach.requirement, *each.breach.also)} & CMP == rules


@pytest.mark.parametrize(("ms", "rule"), [(5000, ""), (20, "PULSAR-REQ-03")])
def test_a_client_may_give_up_what_it_has_waited_for(ms, rule):
    lookup, create = way(0, 1, "PRODUCER")
    meta = {**META, "publish_time": 1_700_000_000_000}
    sent = said(0, "client", "SEND", meta, b"m", producer_id=0, sequence_id=0)
    events = [*hello(0), told("connect"), reported(None), told("producer", topic=TOPIC), *lookup, *create,
              reported("p"), told("send", producer="p", payload_hex="6d"), sent, Quiet(0, ms),
              Fact(0, "client", "answer", {"error": "it took too long"})]  # fmt: skip
    assert followed(*events) == rule


@pytest.mark.parametrize(("follows", "blamed"), [(True, ""), (False, "PULSAR-LOOK-04")])
def test_a_lookup_that_followed_its_redirect_may_begin_anew(follows, blamed):
    """The connection that it was sent to may be lost, which is seen a moment later."""

    def look(conn, number, authoritative):
        return said(conn, "client", "LOOKUP", topic=TOPIC, request_id=number, authoritative=authoritative)

    sent = {"request_id": 1, "response": 0, "brokerServiceUrl": REDIRECTED, "authoritative": True}
    events = [Fact(0, "client", "address", "127.0.0.1:1"), Fact(0, "client", "elsewhere", "127.0.0.1:2"),
              told("connect"), reported(None), told("producer", topic=TOPIC), *hello(0), look(0, 1, False),
              said(0, "broker", "LOOKUP_RESPONSE", **sent)]  # fmt: skip
    if follows:
        events += [Fact(1, "client", "through", "127.0.0.1:2"), *hello(1), look(1, 2, True)]
    assert followed(*events, look(0, 3, False)) == blamed


@pytest.mark.parametrize("name", ["asked", "asked-18"])
@pytest.mark.parametrize(("which", "found"), [(0, 4), (3, None), ("ear", 4), ("nowhere", None)])
def test_a_consumer_of_a_client_is_meant_by_number_or_by_topic(name, which, found):
    memory = PulsarMemory(Config(role="client"), "f")
    memory.note(said(0, "client", "CONNECT", client_version="c", protocol_version=19))
    memory.note(said(0, "client", "SUBSCRIBE", topic=memory.topic("ear"), consumer_id=4, request_id=1))
    more = ("consumer_id",) if name == "asked" else ()
    assert memory.resolve(Ref(name, (0, "SUBSCRIBE", which, *more))) == found


@pytest.mark.parametrize(("answered", "permits", "found"), [
    (False, 9, ("fail", "PULSAR-MSG-04")), (True, 9, ("pass", "PULSAR-INV-CLIENT-07")),
    (False, 0, ("pass", "PULSAR-INV-CLIENT-07")),
])  # fmt: skip
def test_nobody_may_hang_up_over_a_message_that_crosses_the_end_of_its_consumer(answered, permits, found):
    """It is the broker's right to say it: P-49. One behind the answer, or without a permit, it has no right to say. A
    producer needs the connection."""
    events = [*hello(0), told("connect"), reported(None)]
    for number, (op, kind) in enumerate((("subscribe", "SUBSCRIBE"), ("producer", "PRODUCER")), 1):
        lookup, create = way(0, number, kind)
        events += [told(op, topic=TOPIC), *lookup, *create, reported(op[0])]
    events += [flow(0, 0, permits)] if permits else []
    events += [told("close", consumer="s"), said(0, "client", "CLOSE_CONSUMER", consumer_id=0, request_id=90)]
    success = [said(0, "broker", "SUCCESS", request_id=90)] if answered else []
    late = said(0, "broker", "MESSAGE", META, b"m", consumer_id=0, message_id=ID)
    told_off = judge(ClientModel(), Config(role="client", profile="modern"), (
        *events, *success, late, Closed(0, "client"), reported(None), END), "client")  # fmt: skip
    assert (told_off.verdict, told_off.faults[0].breach.requirement) == found
