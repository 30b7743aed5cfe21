"""What crosses on its way between a client and a broker, and was once blamed on the broker: one conversation each."""

from __future__ import annotations

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.pulsar.reference import Broker, Session
from specs.events import Closed, Quiet
from specs.model import judge
from specs.plan import Say
from specs.pulsar.batches import batch
from specs.pulsar.frames import NOBODY
from specs.pulsar.model import PulsarModel
from specs.pulsar.states import Config
from strategies.common import Program
from strategies.pulsar import misuse
from tests.mutants.pulsar_kit import BROKER_FACTS, FAILOVER, PULSAR, SHARED
from tests.test_pulsar_freedoms import ID, META, TOPIC, hello, said

END = Quiet(10_000, final=True)
PING, PONG = said(0, "broker", "PING"), said(0, "client", "PONG")


def consumer(conn, number, kind, **fields):
    given = {"topic": TOPIC, "subscription": "s", "subType": kind, "consumer_id": number, **fields}
    yield said(conn, "client", "SUBSCRIBE", **given, request_id=number)
    yield said(conn, "broker", "SUCCESS", request_id=number)


def flow(conn, number, permits=9):
    return said(conn, "client", "FLOW", consumer_id=number, messagePermits=permits)


def published(conn, number=0):
    if not number:
        yield said(conn, "client", "PRODUCER", topic=TOPIC, producer_id=1, request_id=77)
        yield said(conn, "broker", "PRODUCER_SUCCESS", request_id=77, producer_name="p")
    yield said(conn, "client", "SEND", {**META, "sequence_id": number}, b"m", producer_id=1, sequence_id=number)
    yield said(conn, "broker", "SEND_RECEIPT", producer_id=1, sequence_id=number, message_id={**ID, "entryId": number})


def pushed(conn, who, number=0):
    given = {**ID, "entryId": number}
    return said(conn, "broker", "MESSAGE", {**META, "sequence_id": number}, b"m", consumer_id=who, message_id=given)


def faults(events, profile="seed", **config):
    found = judge(PulsarModel(), Config(profile=profile, **config), events, "broker")
    return [each.breach.requirement for each in found.faults]


def two(kind):
    return [*hello(0), *consumer(0, 1, kind), flow(0, 1), *hello(1), *consumer(1, 2, kind), flow(1, 2)]


def test_what_the_old_master_got_may_be_seen_when_another_one_is_there():
    events = [*hello(0), *consumer(0, 1, FAILOVER), flow(0, 1), *published(0), *hello(1), *consumer(1, 2, FAILOVER)]
    assert not faults([*events, flow(1, 2), pushed(0, 1), pushed(1, 2), END])


@pytest.mark.parametrize("kind", [SHARED, FAILOVER])
def test_what_a_closing_consumer_got_may_be_seen_behind_what_the_next_one_gets(kind):
    closing = said(0, "client", "CLOSE_CONSUMER", consumer_id=1, request_id=8)
    events = [*two(kind), *published(0), closing, pushed(1, 2), pushed(0, 1)]
    assert not faults([*events, said(0, "broker", "SUCCESS", request_id=8), END])


def test_what_came_again_to_a_closing_consumer_may_be_seen_behind_where_it_went_then():
    again = said(0, "client", "REDELIVER_UNACKNOWLEDGED_MESSAGES", consumer_id=1)
    closing = said(0, "client", "CLOSE_CONSUMER", consumer_id=1, request_id=8)
    done = said(0, "broker", "SUCCESS", request_id=8)
    events = [*two(SHARED), *published(0), pushed(0, 1), again, closing]
    assert not faults([*events, pushed(1, 2), pushed(0, 1), done, END])
    assert not faults([*events, pushed(0, 1), pushed(1, 2), done, END])
    assert faults([*events, pushed(0, 1), done, END]) == ["PULSAR-RED-02"]


def test_what_was_asked_for_again_may_be_seen_where_it_went_first():
    again = said(0, "client", "REDELIVER_UNACKNOWLEDGED_MESSAGES", consumer_id=1)
    assert not faults([*two(SHARED), *published(1), again, pushed(1, 2), pushed(0, 1), END])
    assert faults([*two(SHARED), *published(1), pushed(1, 2), pushed(0, 1), END]) == ["PULSAR-SUB-07"]


def test_who_has_what_came_to_two_that_asked_for_it_nobody_knows():
    again = [said(n, "client", "REDELIVER_UNACKNOWLEDGED_MESSAGES", consumer_id=n + 1) for n in (1, 0)]
    events = [*two(SHARED), *published(0), pushed(0, 1), *again, pushed(1, 2)]
    for number in (0, 1):
        closing = said(number, "client", "CLOSE_CONSUMER", consumer_id=number + 1, request_id=8)
        done = said(number, "broker", "SUCCESS", request_id=8)
        assert not faults([*events, closing, done, END])
        other = pushed(1 - number, 2 - number)
        assert not faults([*events, closing, done, other, END])


def test_what_two_asked_for_again_may_be_with_the_other_one_when_the_first_leaves():
    """What is seen first on two connections says nothing of what came first (P-22)."""
    again = [said(n, "client", "REDELIVER_UNACKNOWLEDGED_MESSAGES", consumer_id=n + 1) for n in (1, 0)]
    closing = said(0, "client", "CLOSE_CONSUMER", consumer_id=1, request_id=8)
    done = said(0, "broker", "SUCCESS", request_id=8)
    events = [*two(SHARED), *published(0), pushed(0, 1), *again, closing]
    assert not faults([*events, pushed(1, 2), pushed(0, 1), done, END])
    assert faults([*events, pushed(0, 1), done, END]) == ["PULSAR-RED-02"]
    assert faults([*two(SHARED), *published(0), pushed(0, 1), closing, done, END]) == ["PULSAR-CLC-03"]


def test_one_wish_for_redelivery_brings_what_was_seen_once():
    again = said(0, "client", "REDELIVER_UNACKNOWLEDGED_MESSAGES", consumer_id=1)
    alone = [*hello(0), *consumer(0, 1, SHARED), flow(0, 1), *published(0)]
    assert not faults([*alone, pushed(0, 1), again, pushed(0, 1), END])
    assert faults([*alone, pushed(0, 1), again, pushed(0, 1), pushed(0, 1), END]) == ["PULSAR-RED-02"]
    assert not faults([*alone, again, pushed(0, 1), pushed(0, 1), END])
    assert not faults([*alone, pushed(0, 1), again, again, pushed(0, 1), pushed(0, 1), END])


@pytest.mark.parametrize("kind", ["CLOSE_CONSUMER", "UNSUBSCRIBE", "GET_LAST_MESSAGE_ID", "CONSUMER_STATS"])
def test_a_request_about_a_consumer_that_the_broker_closes_meanwhile_may_be_refused(kind):
    closed = said(0, "broker", "CLOSE_CONSUMER", consumer_id=1, request_id=NOBODY)
    refused = said(0, "broker", "ERROR", request_id=8, error=0, message="there is none")
    asked = said(0, "client", kind, consumer_id=1, request_id=8)
    assert not faults([*hello(0), *consumer(0, 1, SHARED), asked, closed, refused, END], "modern")
    assert faults([*hello(0), *consumer(0, 1, SHARED), asked, refused, END], "modern")


def test_who_is_alone_since_the_broker_closed_the_others_may_unsubscribe():
    asked = said(1, "client", "UNSUBSCRIBE", consumer_id=2, request_id=8)
    closed = said(0, "broker", "CLOSE_CONSUMER", consumer_id=1, request_id=NOBODY)
    done = said(1, "broker", "SUCCESS", request_id=8)
    assert not faults([*two(SHARED), asked, closed, done, END])
    assert faults([*two(SHARED), asked, done, END]) == ["PULSAR-SUB-13"]


def test_an_acknowledgement_that_is_answered_may_be_of_a_consumer_that_is_gone():
    ack = said(0, "client", "ACK", consumer_id=1, ack_type=0, message_id=[ID], request_id=9)
    closed = said(0, "broker", "CLOSE_CONSUMER", consumer_id=1, request_id=NOBODY)
    for version, rules in ((19, ["PULSAR-ACK-10"]), (16, [])):  # who is older does not know that it may be asked for
        there = [*hello(0, version), *consumer(0, 1, SHARED)]
        assert not faults([*there, closed, ack, END])
        assert not faults([*there, ack, closed, END])
        assert faults([*there, ack, END]) == rules


@pytest.mark.parametrize("crossed", [True, False])
def test_which_part_of_a_batch_was_acknowledged_may_be_lost_with_its_consumer(crossed):
    many, three = {**META, "num_messages_in_batch": 3}, batch([({}, b"m")] * 3)
    sent = [said(0, "client", "PRODUCER", topic=TOPIC, producer_id=1, request_id=77),
            said(0, "broker", "PRODUCER_SUCCESS", request_id=77, producer_name="p"),
            said(0, "client", "SEND", many, three, producer_id=1, sequence_id=0, num_messages=3),
            said(0, "broker", "SEND_RECEIPT", producer_id=1, sequence_id=0, message_id=ID)]  # fmt: skip
    acks = [said(0, "client", "ACK", consumer_id=1, ack_type=0, message_id=[{**ID, "ack_set": [left]}])
            for left in (0b110, 0b100)]  # fmt: skip
    heard = [said(0, "client", "PING"), said(0, "broker", "PONG")]
    closed = said(0, "broker", "CLOSE_CONSUMER", consumer_id=1, request_id=NOBODY)
    again = [*consumer(0, 5, SHARED), flow(0, 5),
             said(0, "broker", "MESSAGE", many, three, consumer_id=5, message_id=ID, ack_set=[0b110])]  # fmt: skip
    before = [said(0, "client", "CONNECT", client_version="x", protocol_version=19),
              said(0, "broker", "CONNECTED", server_version="x", protocol_version=19),
              *consumer(0, 1, SHARED), flow(0, 1), *sent,
              said(0, "broker", "MESSAGE", many, three, consumer_id=1, message_id=ID)]  # fmt: skip
    last = [acks[1]] if crossed else [acks[1], *heard]
    found = faults([*before, acks[0], *heard, *last, closed, *again, END], "modern")
    assert ("PULSAR-ACK-12" in found) is not crossed


@pytest.mark.parametrize(
    ("events", "blamed"),
    [
        # the broker had heard nothing for three seconds, and what is said then crosses the end
        ([Quiet(2_400, 2_400), PING, Quiet(400, 400), PONG, flow(0, 1), Quiet(300, 300)], False),
        ([Quiet(2_400, 2_400), PONG, Quiet(400, 400), flow(0, 1), Quiet(300, 300)], False),
        # it had, and what was said was soon enough
        ([Quiet(1_200, 1_200), PING, PONG, Quiet(300, 300)], True),
        # what was said a while ago has been read
        ([Quiet(2_900, 2_900), PING, PONG, Quiet(1_600, 1_600)], True),
        ([Quiet(2_900, 2_900), PING, PONG, *(each for _ in range(4) for each in (Quiet(400, 400), flow(0, 1)))], True),
        # and so has what was answered
        ([Quiet(2_900, 2_900), PING, PONG, *consumer(0, 7, SHARED), Quiet(300, 300)], True),
    ],
)
def test_a_sign_of_life_may_cross_the_end_of_a_silent_connection(events, blamed):
    """P-88. Found with a broker behind a slow wire."""
    started = [*hello(0), *consumer(0, 1, SHARED)]
    found = faults([*started, *events, Closed(0, "broker"), END], keepalive_ms=3_000)
    assert bool({"PULSAR-KA-05", "PULSAR-KA-06"} & {*found}) is blamed, found


@pytest.mark.parametrize(
    ("answer", "left", "blamed"),
    [
        ("ERROR", 0b10, False),  # it had no effect
        ("ERROR", 0b11, False),
        ("ERROR", 0b01, True),
        ("SUCCESS", 0b10, True),
        ("SUCCESS", 0b11, False),
    ],
)
def test_a_seek_that_is_refused_may_leave_acknowledged_what_was(answer, left, blamed):
    """Found by a soak: the consumer was closed while the SEEK was on its way."""
    many, two = {**META, "num_messages_in_batch": 2}, batch([({}, b"m")] * 2)
    told = {"error": 1, "message": "no such consumer"} if answer == "ERROR" else {}
    delivered = {"consumer_id": 1, "message_id": ID}
    found = faults([
        said(0, "client", "CONNECT", client_version="x", protocol_version=19),
        said(0, "broker", "CONNECTED", server_version="x", protocol_version=19),
        *consumer(0, 1, SHARED), flow(0, 1),
        said(0, "client", "PRODUCER", topic=TOPIC, producer_id=1, request_id=77),
        said(0, "broker", "PRODUCER_SUCCESS", request_id=77, producer_name="p"),
        said(0, "client", "SEND", many, two, producer_id=1, sequence_id=0, num_messages=2),
        said(0, "broker", "SEND_RECEIPT", producer_id=1, sequence_id=0, message_id=ID),
        said(0, "broker", "MESSAGE", many, two, **delivered),
        said(0, "client", "ACK", consumer_id=1, ack_type=0, message_id=[{**ID, "ack_set": [0b10]}]),
        said(0, "client", "PING"), said(0, "broker", "PONG"),
        said(0, "client", "SEEK", consumer_id=1, request_id=9, message_id={"ledgerId": NOBODY, "entryId": NOBODY}),
        said(0, "broker", "CLOSE_CONSUMER", consumer_id=1, request_id=NOBODY),
        said(0, "broker", answer, request_id=9, **told),
        *consumer(0, 5, SHARED), flow(0, 5),
        said(0, "broker", "MESSAGE", many, two, **{**delivered, "consumer_id": 5}, redelivery_count=1, ack_set=[left]),
        END,
    ], "modern")  # fmt: skip
    assert ("PULSAR-ACK-12" in found) is blamed, found


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize(
    ("behind_seek", "behind_success", "blamed"),
    [(True, False, False), (False, True, False), (False, False, True)],
)
def test_what_a_seek_asks_for_may_be_seen_before_its_answer(number, behind_seek, behind_success, blamed):
    """P-38: frames of two connections have no common order, and none is named for those of one."""
    told = [said(0, "client", "PRODUCER", topic=TOPIC, producer_id=1, request_id=77),
            said(0, "broker", "PRODUCER_SUCCESS", request_id=77, producer_name="p"),
            said(0, "client", "SEND", META, b"m", producer_id=1, sequence_id=0),
            said(0, "broker", "SEND_RECEIPT", producer_id=1, sequence_id=0, message_id=ID)]  # fmt: skip
    came = said(0, "broker", "MESSAGE", META, b"m", consumer_id=1, message_id=ID)
    found = faults([
        *(event for each in (0, 1) for event in (
            said(each, "client", "CONNECT", client_version="x", protocol_version=19),
            said(each, "broker", "CONNECTED", server_version="x", protocol_version=19),
            *consumer(each, 1 + each, SHARED),
        )),
        flow(0, 1), *told, came,
        said(number, "client", "SEEK", consumer_id=1 + number, request_id=9,
             message_id={"ledgerId": NOBODY, "entryId": NOBODY}),
        *([came] if behind_seek else []),
        said(number, "broker", "SUCCESS", request_id=9),
        *([came] if behind_success else []),
        END,
    ], "modern")  # fmt: skip
    assert ("PULSAR-SEEK-01" in found) is blamed, found


@pytest.mark.parametrize(("together", "rule"), [(1, "PULSAR-RED-06"), (2, "PULSAR-FLOW-09")])
def test_how_batches_use_permits_is_our_reading_alone(together, rule):
    meta = {**META, **({"num_messages_in_batch": together} if together > 1 else {})}
    payload = batch([({}, b"m")] * together) if together > 1 else b"m"
    given = {"consumer_id": 1, "message_id": ID}
    told = [said(0, "client", "PRODUCER", topic=TOPIC, producer_id=1, request_id=77),
            said(0, "broker", "PRODUCER_SUCCESS", request_id=77, producer_name="p"),
            said(0, "client", "SEND", meta, payload, producer_id=1, sequence_id=0, num_messages=together),
            said(0, "broker", "SEND_RECEIPT", producer_id=1, sequence_id=0, message_id=ID)]  # fmt: skip
    came = said(0, "broker", "MESSAGE", meta, payload, **given)
    again = said(0, "client", "REDELIVER_UNACKNOWLEDGED_MESSAGES", consumer_id=1)
    assert faults([*hello(0), *consumer(0, 1, SHARED), flow(0, 1, 1), *told, came, again, came, END]) == [rule]


@pytest.mark.parametrize("feeds", [[(0, 1, 9), (1, 2, 1)], [(1, 2, 1), (0, 1, 9)]])
def test_a_batch_may_wait_for_a_shared_consumer_that_has_few_permits(feeds):
    many = {**META, "sequence_id": 1, "num_messages_in_batch": 3}
    events = [*hello(0), *consumer(0, 1, SHARED), *hello(1), *consumer(1, 2, SHARED), *published(0)]
    published_batch = [
        said(0, "client", "SEND", many, b"", producer_id=1, sequence_id=1, num_messages=3),
        said(0, "broker", "SEND_RECEIPT", producer_id=1, sequence_id=1, message_id={**ID, "entryId": 1}),
    ]
    assert not faults([*events, flow(0, 1), pushed(0, 1), *published_batch, *(flow(*feed) for feed in feeds), END])


@pytest.mark.parametrize(("permits", "rules"), [(3, []), (4, ["PULSAR-RED-01"])])
def test_who_asks_for_one_message_again_may_get_all_of_them_and_a_batch_of_them_first(permits, rules):
    many, two_of = {**META, "num_messages_in_batch": 2}, batch([({}, b"m")] * 2)
    sent = [said(0, "client", "PRODUCER", topic=TOPIC, producer_id=1, request_id=77),
            said(0, "broker", "PRODUCER_SUCCESS", request_id=77, producer_name="p"),
            said(0, "client", "SEND", many, two_of, producer_id=1, sequence_id=0, num_messages=2),
            said(0, "broker", "SEND_RECEIPT", producer_id=1, sequence_id=0, message_id=ID),
            said(0, "broker", "MESSAGE", many, two_of, consumer_id=1, message_id=ID)]  # fmt: skip
    last = {**ID, "entryId": 1}
    again = said(0, "client", "REDELIVER_UNACKNOWLEDGED_MESSAGES", consumer_id=1, message_ids=[last])
    events = [*hello(0), *consumer(0, 1, FAILOVER), flow(0, 1, permits + 1), *sent, *published(0, 1), pushed(0, 1, 1)]
    assert faults([*events, again, END]) == rules


@pytest.mark.parametrize("lost", ["SUBSCRIBE", "UNSUBSCRIBE", ""])
@pytest.mark.parametrize("refused", [True, False])
def test_whether_a_subscription_is_there_whose_request_was_cut_off_nobody_knows(lost, refused):
    """It may be older or younger than what was published meanwhile, and whoever is refused it has not ended it."""
    asked = said(1, "client", "SUBSCRIBE", topic=TOPIC, subscription="s-1", subType=SHARED, consumer_id=1, request_id=1)
    done = said(1, "broker", "SUCCESS", request_id=1)
    leave = said(1, "client", "UNSUBSCRIBE", consumer_id=1, request_id=2)
    before = {"SUBSCRIBE": [asked], "UNSUBSCRIBE": [asked, done, leave], "": []}[lost]
    events = [*hello(0), *consumer(0, 1, SHARED), *hello(1), *before, Closed(1, "client", "close"), *published(0)]
    again = {"topic": TOPIC, "subscription": "s-1", "subType": SHARED, "consumer_id": 2, "request_id": 2}
    if refused and lost:
        events += [said(0, "client", "SUBSCRIBE", **again),
                   said(0, "broker", "ERROR", request_id=2, error=5, message="busy"), Quiet(1500, 1500)]  # fmt: skip
    events += [*consumer(0, 2, SHARED, subscription="s-1"), flow(0, 2)]
    assert not faults([*events, END])
    assert faults([*events, pushed(0, 2), END]) == ([] if lost else ["PULSAR-SUB-10"])
    assert faults([*events, *published(0, 1), END]) == ["PULSAR-FLOW-04"]


def test_a_subscription_may_be_made_anew_by_who_crosses_its_end():
    asked = said(1, "client", "SUBSCRIBE", topic=TOPIC, subscription="s", subType=SHARED, consumer_id=2, request_id=1)
    events = [*hello(0), *consumer(0, 1, SHARED), *hello(1), asked, flow(1, 2),
              said(0, "client", "UNSUBSCRIBE", consumer_id=1, request_id=8), said(0, "broker", "SUCCESS", request_id=8),
              *published(0), said(1, "broker", "SUCCESS", request_id=1)]  # fmt: skip
    assert not faults([*events, END])
    assert not faults([*events, pushed(1, 2), END])


def test_a_name_that_was_made_up_is_never_made_up_again():
    """Globally unique (seed, "ProducerSuccess"), also behind CLOSE_PRODUCER, on another connection and topic."""
    first = [*hello(0), *published(0), said(0, "client", "CLOSE_PRODUCER", producer_id=1, request_id=5)]
    again = [said(0, "client", "PRODUCER", topic=TOPIC, producer_id=2, request_id=6),
             said(0, "broker", "PRODUCER_SUCCESS", request_id=6, producer_name="p")]  # fmt: skip
    elsewhere = [*hello(1), said(1, "client", "PRODUCER", topic=f"{TOPIC}-2", producer_id=2, request_id=6),
                 said(1, "broker", "PRODUCER_SUCCESS", request_id=6, producer_name="p")]  # fmt: skip
    done = said(0, "broker", "SUCCESS", request_id=5)
    assert faults([*first, done, *again, END]) == ["PULSAR-PROD-05"]
    assert faults([*first, done, *elsewhere, END]) == ["PULSAR-PROD-05"]
    assert faults([*hello(0), *published(0), *again, END]) == ["PULSAR-PROD-05"]


@pytest.mark.parametrize(("name", "given", "rules"), [
    ("p", (0, 1), ["PULSAR-SEND-16"]), ("p", (0, 0), []), ("p", (NOBODY, NOBODY), []), ("q", (0, 1), []),
])  # fmt: skip
def test_a_sequence_id_is_repeated_by_a_producer_of_the_same_name_alone(name, given, rules):
    """What counts is the name of the producer, whatever the metadata say."""
    events = [*hello(0), *published(0), said(0, "client", "CLOSE_PRODUCER", producer_id=1, request_id=5),
              said(0, "broker", "SUCCESS", request_id=5),
              said(0, "client", "PRODUCER", topic=TOPIC, producer_id=1, request_id=6, producer_name=name),
              said(0, "broker", "PRODUCER_SUCCESS", request_id=6, producer_name=name),
              said(0, "client", "SEND", {**META, "sequence_id": 0}, b"n", producer_id=1, sequence_id=0),
              said(0, "broker", "SEND_RECEIPT", producer_id=1, sequence_id=0,
                   message_id={"ledgerId": given[0] or ID["ledgerId"], "entryId": given[1]})]  # fmt: skip
    found = judge(PulsarModel(), Config(dedup=True, profile="modern"), [*events, END], "broker")
    assert [each.breach.requirement for each in found.faults] == rules


@pytest.mark.parametrize(("sequence", "topic", "blamed"), [
    (0, TOPIC, False), (1, TOPIC, True), (0, TOPIC + "-other", True),
])  # fmt: skip
def test_only_a_number_that_was_used_on_the_topic_is_known_already(sequence, topic, blamed):
    """SEND-16: a broker that drops what is new says the same as one that drops what is not."""
    events = [*hello(0), *published(0), said(0, "client", "CLOSE_PRODUCER", producer_id=1, request_id=5),
              said(0, "broker", "SUCCESS", request_id=5),
              said(0, "client", "PRODUCER", topic=topic, producer_id=1, request_id=6, producer_name="p"),
              said(0, "broker", "PRODUCER_SUCCESS", request_id=6, producer_name="p"),
              said(0, "client", "SEND", {**META, "sequence_id": sequence}, b"n", producer_id=1, sequence_id=sequence),
              said(0, "broker", "SEND_RECEIPT", producer_id=1, sequence_id=sequence,
                   message_id={"ledgerId": NOBODY, "entryId": NOBODY}), END]  # fmt: skip
    assert faults(events, "modern", dedup=True) == (["PULSAR-SEND-16"] if blamed else [])


@pytest.mark.parametrize("answered", [False, True])
def test_a_consumer_whose_subscribe_is_not_answered_may_not_be_there_however_often_it_is_closed(answered):
    """A broker may find out first whether the one that holds the subscription lives."""
    asked, success = consumer(0, 1, 0)
    closings = [
        event
        for request in (8, 9)
        for event in (
            said(0, "client", "CLOSE_CONSUMER", consumer_id=1, request_id=request),
            said(0, "broker", "ERROR", request_id=request, error=0, message="there is nothing to close"),
        )
    ]
    found = faults([*hello(0), asked, *[success] * answered, *closings])
    assert found == (["PULSAR-CLC-01"] if answered else [])


@pytest.mark.parametrize(("permits", "blamed"), [(0, []), (1 << 31, []), (9, ["PULSAR-INV-BROKER-31"])])
def test_a_flow_of_nobody_may_be_one_of_no_permits_too(permits, blamed):
    """P-89: the broker took its consumer away, and may look at the number of permits before it looks for it."""
    events = [*hello(0), *consumer(0, 1, SHARED), flow(0, 1), said(0, "broker", "CLOSE_CONSUMER", consumer_id=1)]
    assert faults([*events, flow(0, 1, permits), Closed(0, "broker"), END]) == blamed


def _asked_twice(*answers):
    """One id is asked for twice, the second time before the first is answered, and sent with."""
    events = [*hello(0), PING]
    events += [said(0, "client", "PRODUCER", topic=topic, producer_id=1, request_id=n) for n, topic in enumerate(
        ("persistent://a/b/denied", TOPIC), 1)]  # fmt: skip
    return [*events, said(0, "client", "SEND", META, b"m", producer_id=1, sequence_id=0), *answers]


REFUSED = said(0, "broker", "ERROR", request_id=1, error="AuthorizationError", message="no")
MADE = said(0, "broker", "PRODUCER_SUCCESS", request_id=2, producer_name="p")
RECEIPT = said(0, "broker", "SEND_RECEIPT", producer_id=1, sequence_id=0, message_id=ID)
DENIED = {"denied": "denied"}


def test_an_id_that_was_refused_stands_for_who_has_asked_for_it_since():
    assert not faults(_asked_twice(REFUSED, MADE, RECEIPT, END), **DENIED)
    assert not faults(_asked_twice(REFUSED, MADE, END), **DENIED)
    both = said(0, "broker", "ERROR", request_id=2, error="AuthorizationError", message="no")
    assert faults(_asked_twice(REFUSED, both, RECEIPT, END), **DENIED) == ["PULSAR-SEND-04"]


def test_a_refusal_that_depends_on_nobody_is_owed_behind_a_ping_as_well():
    asked = said(0, "client", "PRODUCER", topic="persistent://a/b/denied", producer_id=1, request_id=1)
    assert faults([*hello(0), PING, asked, END], **DENIED) == ["PULSAR-PROD-08"]


@pytest.mark.parametrize(("second", "found"), [(5, ["PULSAR-INV-BROKER-42"]), (6, ["PULSAR-LOOK-02"])])
def test_a_request_id_that_was_used_before_may_be_refused(second, found):
    """Seed, "Producer": it is unique within its connection, so the client is at fault, also where the first request was
    answered. The broker should survive that, and may refuse it."""
    given = {"response": 1, "brokerServiceUrl": "pulsar://127.0.0.1:1"}
    first = [said(0, "client", "LOOKUP", topic=TOPIC, request_id=5),
             said(0, "broker", "LOOKUP_RESPONSE", request_id=5, **given)]  # fmt: skip
    events = [*hello(0), *first, said(0, "client", "LOOKUP", topic=f"{TOPIC}-2", request_id=second)]
    assert faults([*events, Closed(0, "broker"), END]) == found
    refusal = said(0, "broker", "LOOKUP_RESPONSE", request_id=second, response=2, error=0, message="that id again")
    assert bool(faults([*events, refusal, END])) == (second == 6)


class _Unheard(Session):
    """It does not see that a connection has ended."""

    def hang_up(self):
        return


def test_a_topic_that_is_the_same_in_all_conversations_has_no_subscriptions_of_earlier_ones():
    """Consumer: a subscription that is in use may be refused, and a broker may see late that a connection has ended."""
    facts = {name: fact.default for name, fact in PULSAR.facts.items()} | BROKER_FACTS | {"terminated": "sealed"}
    config = PULSAR.configure("broker", "modern", facts, {})
    broker = type("Late", (Broker,), {"session_type": _Unheard})(terminated="sealed")
    plan = misuse.interpreting("ended")(Program((0,) * 6, ()), config)
    assert any(isinstance(step, Say) and step.frame.kind == "SUBSCRIBE" for step in plan.steps)
    setting = Setting(PULSAR, config, "broker", MemoryTransport(lambda: broker))
    for fresh in ("a-", "b-"):
        assert drive(plan, setting, fresh).judgement.faults == ()
    assert "PULSAR-SUB-01" in {each.breach.requirement for each in drive(plan, setting, "b-").judgement.faults}


@pytest.mark.parametrize(
    ("timeout_ms", "silent_ms", "blamed"),
    [(0, 8_900, False), (0, 9_100, True), (8_000, 12_900, False), (8_000, 13_100, True)],
)
def test_a_broker_may_wait_for_longer_than_its_pings_are_apart(timeout_ms, silent_ms, blamed):
    """P-44: `timeout_s` says how long; without it, it is the interval."""
    silence = Quiet(silent_ms, silent_ms)
    found = faults([*hello(0), said(0, "broker", "PING"), silence], keepalive_ms=4_000, timeout_ms=timeout_ms)
    assert ("PULSAR-KA-04" in found) is blamed, found
