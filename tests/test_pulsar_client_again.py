"""What a client owes, and may still do, when its application wants messages again (P-78, P-79)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specs.events import Closed, Fact
from specs.pulsar.batches import batch
from specs.pulsar.frames import NOBODY
from tests.test_pulsar_client_crossings import reported, told, way
from tests.test_pulsar_client_machine import at, consumer, looked_up, verdict
from tests.test_pulsar_crossings import END, flow
from tests.test_pulsar_freedoms import META, TOPIC, hello, said

AGAIN = "REDELIVER_UNACKNOWLEDGED_MESSAGES"
OTHER = TOPIC + "-other"
LOST, ORDER = "PULSAR-FLOW-08", "PULSAR-FRM-15"
NEVER, WANTED, ACKED = "PULSAR-RED-08", "PULSAR-RED-09", "PULSAR-ACK-13"


def id_of(entry):
    return {"ledgerId": 5, "entryId": entry}


def pushed(entry, who=0):
    return said(0, "broker", "MESSAGE", {**META, "sequence_id": entry}, b"m%d" % entry, consumer_id=who,
                message_id=id_of(entry))  # fmt: skip


def bundled(entry, count=2):
    payload = batch([({}, b"m%d/%d" % (entry, n)) for n in range(count)])
    return said(0, "broker", "MESSAGE", {**META, "sequence_id": entry, "num_messages_in_batch": count}, payload,
                consumer_id=0, message_id=id_of(entry))  # fmt: skip


def given(payload, ref, who="c"):
    value = None if payload is None else {"ref": ref, "payload_hex": payload.hex()}
    return [told("receive", consumer=who, timeout_ms=9), reported(value)]


def taken(*entries, again=""):
    return [each for entry in entries for each in given(b"m%d" % entry, f"r{entry}{again}")]


def asks(*entries, who=0):
    listed = {"message_ids": [id_of(entry) for entry in entries]} if entries else {}
    return said(0, "client", AGAIN, consumer_id=who, **listed)


def ack(entry, kind=0, who=0):
    return said(0, "client", "ACK", consumer_id=who, ack_type=kind, message_id=[id_of(entry)])


def acks(ref, entry, **fields):
    return [told("ack", consumer="c", ref=ref, **fields), reported(None), *([] if entry is None else [ack(entry)])]


def subscribed(version=19, permits=9):
    return [told("connect"), reported(None), told("subscribe", topic=TOPIC, permits=permits), *hello(0, version),
            *looked_up(TOPIC, 2), consumer(), said(0, "broker", "SUCCESS", request_id=21), reported("c"),
            flow(0, 0, permits)]  # fmt: skip


OPENED = subscribed()
TWO = [*OPENED, told("subscribe", topic=OTHER, permits=9), *looked_up(OTHER, 3), consumer(OTHER, 1, 22),
       said(0, "broker", "SUCCESS", request_id=22), reported("d"), flow(0, 1, 9)]  # fmt: skip
WANTS = [told("redeliver", consumer="c"), reported(None)]
GIVEN = [*OPENED, pushed(1), pushed(2), *taken(1, 2)]


@pytest.mark.parametrize(
    ("said_then", "blamed"),
    [
        ([], {WANTED}),
        ([asks()], set()),
        ([asks(1, 2)], set()),
        ([asks(2), asks(1)], set()),
        ([asks(1, 2), asks()], set()),
        ([asks(1)], {WANTED}),
        ([asks(1, 3)], {NEVER}),
        ([asks(who=7)], {NEVER}),
        ([asks(), pushed(1), *taken(1, again="x"), *acks("r1x", 1)], set()),
        ([asks(), pushed(1), *taken(1, again="x"), *acks("r1x", None)], {ACKED}),
        ([asks(), pushed(1), *given(None, "")], {LOST}),
    ],
)
def test_all_that_the_application_wants_again_is_asked_for(said_then, blamed):
    assert verdict(*GIVEN, *WANTS, *said_then, END) == blamed


@pytest.mark.parametrize("version", [0, 1, 2, 19])
def test_who_cannot_ask_an_old_broker_for_messages_again_may_end_the_connection(version):
    """P-93: below version 2 there is no command for it. Nobody may who was not told to, or who can ask."""
    opened = [*subscribed(version), pushed(1), *taken(1)]
    ended = Closed(0, "client", "eof")
    assert ("PULSAR-KA-09" in verdict(*opened, *WANTS, ended, END)) is (version >= 2)
    assert "PULSAR-KA-09" in verdict(*opened, ended, END)


@pytest.mark.parametrize(
    ("call", "rule"), [(told("redeliver", consumer="c"), WANTED), (told("ack", consumer="c", ref="r1"), ACKED)]
)
def test_a_call_behind_a_send_that_waits_for_its_receipt_is_not_due(call, rule):
    """It is due when the receipt has come, and when the call returned before the send began."""
    lookup, create = way(0, 9, "PRODUCER")
    sent = {**META, "sequence_id": 0, "producer_name": "p", "publish_time": 1_700_000_000_000}
    made = [*GIVEN, told("producer", topic=TOPIC), *lookup, *create, reported("p")]
    send = [
        told("send", producer="p", payload_hex="6d"),
        said(0, "client", "SEND", sent, b"m", producer_id=0, sequence_id=0),
    ]
    receipt = said(0, "broker", "SEND_RECEIPT", producer_id=0, sequence_id=0, message_id=id_of(8))
    assert verdict(*made, *send, call, END) == set()
    assert verdict(*made, *send, call, receipt, reported("5:8:-1"), reported(None), END) == {rule}
    assert verdict(*made, call, reported(None), *send, END) == {rule}


def test_what_is_acknowledged_need_not_be_asked_for_and_should_not():
    talk = [*GIVEN, *acks("r1", 1), *WANTS]
    assert verdict(*talk, asks(2), END) == set()
    assert verdict(*talk, asks(), END) == set()
    assert verdict(*talk, asks(1, 2), END) == {"PULSAR-RED-10"}
    assert verdict(*talk, END) == {WANTED}
    everything = [*GIVEN, *acks("r1", 1), *acks("r2", 2), *WANTS]
    assert verdict(*everything, END) == set()


def test_what_is_on_its_way_to_be_acknowledged_may_be_asked_for():
    talk = [*GIVEN, *acks("r1", None), *WANTS]
    for asked in (asks(1, 2), asks(2)):
        assert verdict(*talk, asked, ack(1), END) == set()


def test_each_consumer_asks_for_its_own():
    talk = [*TWO, pushed(1, 0), *given(b"m1", "r1"), pushed(2, 1), *given(b"m2", "r2", "d"), *WANTS]
    assert verdict(*talk, asks(1, who=0), END) == set()
    assert verdict(*talk, asks(who=1), END) == {WANTED}
    assert verdict(*talk, asks(2, who=0), END) == {NEVER}


def test_it_may_ask_of_its_own_accord():
    assert verdict(*GIVEN, asks(), END) == set()
    assert verdict(*GIVEN, asks(3), END) == {NEVER}


@pytest.mark.parametrize(("version", "blamed"), [(1, set()), (2, {WANTED})])
def test_a_broker_that_does_not_know_of_it_is_not_asked(version, blamed):
    talk = [*subscribed(version), pushed(1), *taken(1), *WANTS]
    assert verdict(*talk, END) == blamed
    assert verdict(*talk, asks(), END) == (set() if blamed else {"PULSAR-VER-02"})


def test_what_came_where_nothing_is_judged_may_be_asked_for_later():
    """A message whose sizes lie has an id all the same; one that nobody pushed has none."""
    message = pushed(8)
    lies = replace(message, frame=replace(message.frame, headers=None, rest=b"abcdefghijkl"))
    lost = [Fact(0, "broker", "drop", None), Closed(0, "client", "eof")]
    back = at(1, *hello(1), *looked_up(TOPIC, 3), consumer(request=22), said(0, "broker", "SUCCESS", request_id=22),
              flow(0, 0, 9))  # fmt: skip
    talk = [*GIVEN, lies, *lost, *back]
    assert verdict(*talk, *at(1, asks(8, 1)), END) == set()
    assert verdict(*talk, *at(1, asks(9, 1)), END) == {NEVER}


def test_a_consumer_that_is_made_again_need_not_ask():
    closed = said(0, "broker", "CLOSE_CONSUMER", consumer_id=0, request_id=NOBODY)
    back = [*looked_up(TOPIC, 3), consumer(request=22), said(0, "broker", "SUCCESS", request_id=22), flow(0, 0, 9)]
    assert verdict(*GIVEN, *WANTS, closed, *back, END) == set()
    assert verdict(*GIVEN, closed, *back, *WANTS, END) == set()
    assert verdict(*GIVEN, closed, *back, pushed(1), *taken(1, again="x"), *WANTS, END) == {WANTED}


@pytest.mark.parametrize(("error", "blamed"), [("unsupported", set()), ("it is not allowed", {WANTED})])
def test_who_cannot_ask_says_that_it_is_not_supported(error, blamed):
    refused = Fact(0, "client", "answer", {"op": "redeliver", "error": error})
    assert verdict(*GIVEN, WANTS[0], refused, END) == blamed


WAITING = [*OPENED, pushed(1), pushed(2), pushed(3), *taken(1), *WANTS]


@pytest.mark.parametrize(
    ("then", "blamed"),
    [
        ([asks(), *given(None, "")], set()),  # what waited was dropped
        ([asks(), *taken(2, 3), *given(None, "")], set()),  # or was not
        ([asks(), pushed(1), pushed(2), pushed(3), *taken(1, 2, 3, again="x"), *given(None, "")], set()),
        ([asks(), pushed(1), pushed(2), pushed(3), *taken(2, 3), *taken(1, 2, 3, again="x"), *given(None, "")], set()),
        ([asks(), pushed(2), pushed(3), *taken(2, 3), *given(None, "")], set()),
        ([asks(), pushed(2), pushed(3), *taken(2, 3), *taken(2, 3, again="x"), *given(None, "")], set()),
        ([asks(), pushed(2), pushed(3), *given(None, "")], {LOST}),
        ([asks(), pushed(1), pushed(2), *taken(1, again="x"), *given(None, "")], {LOST}),
        ([asks(), pushed(1), pushed(2), pushed(3), *taken(1, 3, again="x")], {ORDER}),
        ([asks(1), *taken(2, 3), *given(None, "")], set()),
        ([asks(1), *given(None, "")], {LOST}),  # it did not ask for what waited, and so must have kept it
        ([*given(None, ""), asks()], set()),  # the report is seen before what was said
        ([*given(None, ""), asks(1)], {WANTED}),  # nor is what waited there, nor was it asked for
        ([*given(None, ""), END], {WANTED}),
        ([asks(), pushed(1), *taken(1, again="x"), *taken(1, again="y")], {"PULSAR-FRM-04"}),
    ],
)
def test_what_waited_may_be_dropped_if_it_is_asked_for(then, blamed):
    assert verdict(*WAITING, *then) == blamed


def test_permits_of_what_was_dropped_are_granted_again():
    """A recommendation, as all of FLOW-07, and only once it is seen that nothing waits any more."""
    full = [*subscribed(permits=2), pushed(1), pushed(2), *taken(1), *WANTS, asks()]
    assert verdict(*full, END) == set()
    assert verdict(*full, *given(None, ""), END) == {"PULSAR-FLOW-07"}
    assert verdict(*full, *given(None, ""), flow(0, 0, 2), END) == set()


PART = [*OPENED, bundled(1), *given(b"m1/0", "a"), *given(b"m1/1", "b"), *acks("a", None), *WANTS]
CAME = [asks(), bundled(1), *given(b"m1/0", "c"), *given(b"m1/1", "d")]


@pytest.mark.parametrize(
    ("then", "blamed"),
    [
        ([*PART, END], {WANTED}),
        ([*PART, *CAME, *acks("c", None), *acks("d", 1), END], set()),
        ([*PART, *CAME, *acks("c", None), *acks("d", None), END], {ACKED}),
        ([*PART, *CAME, *acks("d", 1), *acks("c", None), END], set()),  # it remembers what was acknowledged before
        ([*PART, *CAME, *acks("d", None), *acks("c", 1), END], set()),  # it does not
        ([*PART, *CAME, *acks("d", None), END], set()),
        ([*PART, *CAME, *acks("c", 1), END], {ACKED}),
        ([*PART, asks(), bundled(1), *given(b"m1/1", "d"), *acks("d", 1), END], set()),
        ([*PART, asks(), bundled(1), *given(b"m1/0", "c"), *given(None, "")], {"PULSAR-BAT-07"}),
    ],
)
def test_a_batch_that_was_acknowledged_in_part_comes_again(then, blamed):
    assert verdict(*then) == blamed
