"""What a correct broker or client may do and was once blamed for, one conversation each."""

from __future__ import annotations

import subprocess
import sys

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.pulsar.reference import Broker
from specs.events import Closed, Fact, Quiet, Said
from specs.model import judge
from specs.pulsar.batches import batch as batched
from specs.pulsar.client import ClientModel, ClientState
from specs.pulsar.frames import NOBODY, Draft, draft, resolve
from specs.pulsar.model import PulsarModel
from specs.pulsar.states import Config
from strategies.pulsar.writer import Writer
from tests.mutants.pulsar_kit import EXCLUSIVE, FAILOVER, PULSAR, ROOT, SHARED, ready

TOPIC = "persistent://public/default/t"


def reused_producer(w):
    line, _, pen = ready(w)
    w.settle()
    w.say(line, draft("PRODUCER", topic=TOPIC, producer_id=pen.id, request_id=w.request(line)))
    w.wait()


def reused_consumer(w):
    line, ear, _ = ready(w)
    w.settle()
    w.say(line, draft("SUBSCRIBE", topic=TOPIC, subscription="o", subType=0, consumer_id=ear.id, request_id=99))
    w.wait()


def large_batch(w):
    _, _, pen = ready(w, EXCLUSIVE, permits=1)
    w.send(pen, messages=3)
    w.wait()


def lying_batch(w):
    _, _, pen = ready(w)
    w.send(pen, 0, b"\xff\xff\xff\xff", meta={"num_messages_in_batch": 1})
    w.send(pen)
    w.wait()


def empty_ack(w):
    line, ear, _ = ready(w)
    w.ack(ear, cumulative=True)
    w.ping(line)
    w.wait()


@pytest.mark.parametrize(
    ("play", "switches"),
    [
        (reused_producer, {"id_in_use": "close"}),
        (reused_consumer, {"id_in_use": "close"}),
        (reused_consumer, {"id_in_use": "close", "answer_delay_ms": 20}),
        (large_batch, {"batch_permits": "whole"}),
        (lying_batch, {"lying_batch": "error"}),
        (lying_batch, {"lying_batch": "close"}),
        (empty_ack, {"empty_ack": "close"}),
    ],
)
def test_a_broker_may(play, switches):
    config = PULSAR.configure("broker", "seed", {name: fact.default for name, fact in PULSAR.facts.items()}, {})
    writer = Writer(config)
    play(writer)
    transport = MemoryTransport(lambda: Broker(profile="seed", **switches))
    found = drive(writer.plan(), Setting(PULSAR, config, "broker", transport), "f-").judgement
    assert (found.verdict, found.faults) == ("pass", ()), found


def said(conn, by, kind, meta=None, payload=b"", check="good", **fields):
    return Said(conn, by, resolve(Draft(kind, fields, meta, payload, check), None))


def hello(conn, version=7):
    yield said(conn, "client", "CONNECT", client_version="x", protocol_version=max(version, 7))
    yield said(conn, "broker", "CONNECTED", server_version="x", protocol_version=version)


def subscribed(conn, number, request):
    given = {"topic": TOPIC, "subscription": "s", "subType": SHARED, "consumer_id": number, "request_id": request}
    yield said(conn, "client", "SUBSCRIBE", **given)
    yield said(conn, "broker", "SUCCESS", request_id=request)
    yield said(conn, "client", "FLOW", consumer_id=number, messagePermits=10)


META = {"producer_name": "p", "sequence_id": 0, "publish_time": 1}
ID = {"ledgerId": 1, "entryId": 0}


def test_a_connection_that_may_be_closed_leaves_its_messages_to_others_before_its_end_is_seen():
    events = [
        *hello(0), *subscribed(0, 1, 0), *hello(1), *subscribed(1, 2, 0),
        said(1, "client", "PRODUCER", topic=TOPIC, producer_id=1, request_id=1),
        said(1, "broker", "PRODUCER_SUCCESS", request_id=1, producer_name="p"),
        said(1, "client", "SEND", META, b"m", producer_id=1, sequence_id=0),
        said(1, "broker", "SEND_RECEIPT", producer_id=1, sequence_id=0, message_id=ID),
        said(1, "broker", "MESSAGE", META, b"m", consumer_id=2, message_id=ID),
        said(1, "broker", "CLOSE_PRODUCER", producer_id=1, request_id=NOBODY),
        said(1, "client", "SEND", {**META, "sequence_id": 1}, b"n", producer_id=1, sequence_id=1),
        said(0, "broker", "MESSAGE", META, b"m", consumer_id=1, message_id=ID),
        Closed(1, "broker", "eof"), Quiet(10_000, final=True),
    ]  # fmt: skip
    found = judge(PulsarModel(), Config(), events, "broker")
    assert (found.verdict, found.faults) == ("pass", ()), found


def test_sends_that_crossed_a_close_of_the_broker_may_end_the_connection():
    events = [
        *hello(0),
        said(0, "client", "PRODUCER", topic=TOPIC, producer_id=1, request_id=1),
        said(0, "broker", "PRODUCER_SUCCESS", request_id=1, producer_name="p"),
        said(0, "client", "SEND", META, b"m", producer_id=1, sequence_id=0),
        said(0, "broker", "CLOSE_PRODUCER", producer_id=1, request_id=NOBODY),
        Closed(0, "broker", "eof"), Quiet(10_000, final=True),
    ]  # fmt: skip
    found = judge(PulsarModel(), Config(), events, "broker")
    assert (found.verdict, found.faults) == ("pass", ()), found


@pytest.mark.parametrize("kind", [EXCLUSIVE, SHARED])
def test_an_ack_between_the_wish_for_redelivery_and_the_next_push_may_be_lost(kind):
    """The consumer does not hold the message then: nobody says what its acknowledgement is worth."""
    given = {"topic": TOPIC, "subscription": "s", "subType": kind}
    events = [
        *hello(0),
        said(0, "client", "SUBSCRIBE", **given, consumer_id=1, request_id=0),
        said(0, "broker", "SUCCESS", request_id=0),
        said(0, "client", "FLOW", consumer_id=1, messagePermits=1),
        said(0, "client", "PRODUCER", topic=TOPIC, producer_id=1, request_id=1),
        said(0, "broker", "PRODUCER_SUCCESS", request_id=1, producer_name="p"),
        said(0, "client", "SEND", META, b"m", producer_id=1, sequence_id=0),
        said(0, "broker", "SEND_RECEIPT", producer_id=1, sequence_id=0, message_id=ID),
        said(0, "broker", "MESSAGE", META, b"m", consumer_id=1, message_id=ID),
        said(0, "client", "REDELIVER_UNACKNOWLEDGED_MESSAGES", consumer_id=1),
        said(0, "client", "ACK", consumer_id=1, ack_type=0, message_id=[ID]),
        said(0, "client", "PING"), said(0, "broker", "PONG"),
        said(0, "client", "CLOSE_CONSUMER", consumer_id=1, request_id=2),
        said(0, "broker", "SUCCESS", request_id=2),
        said(0, "client", "SUBSCRIBE", **given, consumer_id=1, request_id=3),
        said(0, "broker", "SUCCESS", request_id=3),
        said(0, "client", "FLOW", consumer_id=1, messagePermits=9),
        said(0, "broker", "MESSAGE", META, b"m", consumer_id=1, message_id=ID),
        Quiet(10_000, final=True),
    ]  # fmt: skip
    found = judge(PulsarModel(), Config(), events, "broker")
    assert (found.verdict, found.faults) == ("pass", ()), found


@pytest.mark.parametrize(
    ("again", "verdict"), [((0, 1, 2), "pass"), ((2,), "pass"), ((0, 1), "fail")], ids=["ignored", "done", "too much"]
)
def test_a_cumulative_ack_on_a_shared_subscription_may_be_carried_out(again, verdict):
    ids = [{"ledgerId": 1, "entryId": n} for n in range(3)]
    metas = [META | {"sequence_id": n} for n in range(3)]
    events = [
        *hello(0),
        said(0, "client", "SUBSCRIBE", topic=TOPIC, subscription="s", subType=SHARED, consumer_id=1, request_id=0),
        said(0, "broker", "SUCCESS", request_id=0),
        said(0, "client", "FLOW", consumer_id=1, messagePermits=9),
        said(0, "client", "PRODUCER", topic=TOPIC, producer_id=1, request_id=1),
        said(0, "broker", "PRODUCER_SUCCESS", request_id=1, producer_name="p"),
    ]
    for n in range(3):
        events += [
            said(0, "client", "SEND", metas[n], b"m", producer_id=1, sequence_id=n),
            said(0, "broker", "SEND_RECEIPT", producer_id=1, sequence_id=n, message_id=ids[n]),
            said(0, "broker", "MESSAGE", metas[n], b"m", consumer_id=1, message_id=ids[n]),
        ]
    events += [
        said(0, "client", "ACK", consumer_id=1, ack_type=1, message_id=[ids[1]]),
        said(0, "client", "PING"), said(0, "broker", "PONG"),
        said(0, "client", "REDELIVER_UNACKNOWLEDGED_MESSAGES", consumer_id=1),
        *(said(0, "broker", "MESSAGE", metas[n], b"m", consumer_id=1, message_id=ids[n]) for n in again),
        Quiet(10_000, final=True),
    ]  # fmt: skip
    assert judge(PulsarModel(), Config(), events, "broker").verdict == verdict


@pytest.mark.parametrize(("early", "verdict"), [(True, "pass"), (False, "fail")])
def test_permits_behind_a_second_subscribe_with_the_same_id_may_not_count_before_its_answer(early, verdict):
    """P-77."""
    given = {"topic": TOPIC, "subType": EXCLUSIVE, "consumer_id": 1}
    again = said(0, "broker", "SUCCESS", request_id=9)
    flow = said(0, "client", "FLOW", consumer_id=1, messagePermits=9)
    events = [
        *hello(0),
        said(0, "client", "SUBSCRIBE", **given, subscription="s", request_id=0),
        said(0, "broker", "SUCCESS", request_id=0),
        said(0, "client", "PRODUCER", topic=TOPIC, producer_id=1, request_id=1),
        said(0, "broker", "PRODUCER_SUCCESS", request_id=1, producer_name="p"),
        said(0, "client", "SEND", META, b"m", producer_id=1, sequence_id=0),
        said(0, "broker", "SEND_RECEIPT", producer_id=1, sequence_id=0, message_id=ID),
        said(0, "client", "SUBSCRIBE", **given, subscription="t", request_id=9),
        *([flow, again] if early else [again, flow]),
        Quiet(10_000, final=True),
    ]  # fmt: skip
    assert judge(PulsarModel(), Config(), events, "broker").verdict == verdict


def test_a_service_may_redirect_every_lookup_to_another_broker():
    asked = [
        event
        for n in range(30)
        for event in (
            said(0, "client", "LOOKUP", topic=TOPIC, request_id=n, authoritative=True),
            said(0, "broker", "LOOKUP_RESPONSE", request_id=n, response=0, brokerServiceUrl="pulsar://other:6650"),
        )
    ]
    found = judge(PulsarModel(), Config(), [*hello(0), *asked, Quiet(10_000, final=True)], "broker")
    assert {each.breach.level for each in found.faults} <= {"SHOULD"}, found


def test_a_consumer_that_takes_over_may_be_served_before_the_end_of_the_other_is_seen():
    given = {"topic": TOPIC, "subscription": "s", "subType": FAILOVER}
    events = [
        *hello(0), *hello(1),
        said(0, "client", "SUBSCRIBE", **given, consumer_id=1, request_id=0),
        said(0, "broker", "SUCCESS", request_id=0),
        said(0, "client", "FLOW", consumer_id=1, messagePermits=9),
        said(1, "client", "SUBSCRIBE", **given, consumer_id=2, request_id=0),
        said(1, "broker", "SUCCESS", request_id=0),
        said(1, "client", "FLOW", consumer_id=2, messagePermits=9),
        said(1, "client", "PRODUCER", topic=TOPIC, producer_id=1, request_id=1),
        said(1, "broker", "PRODUCER_SUCCESS", request_id=1, producer_name="p"),
        said(1, "client", "SEND", META, b"m", producer_id=1, sequence_id=0),
        said(1, "broker", "SEND_RECEIPT", producer_id=1, sequence_id=0, message_id=ID),
        said(0, "broker", "MESSAGE", META, b"m", consumer_id=1, message_id=ID),
        said(1, "broker", "MESSAGE", META, b"m", consumer_id=2, message_id=ID),
        said(0, "broker", "CLOSE_CONSUMER", consumer_id=1, request_id=NOBODY),
        Quiet(10_000, final=True),
    ]  # fmt: skip
    found = judge(PulsarModel(), Config(), events, "broker")
    assert all(each.breach.steady for each in found.faults), found


def two_on_a_connection(kind):
    """Two consumers of one connection, and a message that the first of them got."""
    yield from hello(0)
    for number, name in ((1, "a"), (2, "b")):
        given = {"topic": TOPIC, "subscription": "s", "subType": kind, "consumer_name": name}
        yield said(0, "client", "SUBSCRIBE", **given, consumer_id=number, request_id=number)
        yield said(0, "broker", "SUCCESS", request_id=number)
        yield said(0, "client", "FLOW", consumer_id=number, messagePermits=9)
    yield said(0, "client", "PRODUCER", topic=TOPIC, producer_id=1, request_id=3)
    yield said(0, "broker", "PRODUCER_SUCCESS", request_id=3, producer_name="p")
    yield from published(0)
    yield said(0, "broker", "MESSAGE", META, b"m", consumer_id=1, message_id=ID)


def published(number):
    yield said(0, "client", "SEND", {**META, "sequence_id": number}, b"m", producer_id=1, sequence_id=number)
    given = {**ID, "entryId": number}
    yield said(0, "broker", "SEND_RECEIPT", producer_id=1, sequence_id=number, message_id=given)


def pushed(consumer, number):
    given = {**ID, "entryId": number}
    return said(0, "broker", "MESSAGE", {**META, "sequence_id": number}, b"m", consumer_id=consumer, message_id=given)


CLOSED = said(0, "broker", "CLOSE_CONSUMER", consumer_id=1, request_id=NOBODY)
END = Quiet(10_000, final=True)


@pytest.mark.parametrize("profile", ["seed", "modern"])
@pytest.mark.parametrize("kind", [SHARED, FAILOVER])
def test_what_a_consumer_held_may_go_to_another_before_the_broker_says_that_it_closed_it(kind, profile):
    events = [*two_on_a_connection(kind), pushed(2, 0), *published(1), pushed(2, 1), CLOSED, END]
    found = judge(PulsarModel(), Config(profile=profile), events, "broker")
    assert (found.verdict, found.blamed) == ("pass", ()), found


@pytest.mark.parametrize("profile", ["seed", "modern"])
def test_the_next_master_may_be_served_before_the_broker_says_that_it_closed_the_last_one(profile):
    events = [*two_on_a_connection(FAILOVER), *published(1), pushed(2, 1), pushed(2, 0), CLOSED, END]
    found = judge(PulsarModel(), Config(profile=profile), events, "broker")
    assert (found.verdict, found.blamed) == ("pass", ()), found


@pytest.mark.parametrize(("kind", "rule"), [(SHARED, "PULSAR-SUB-07"), (FAILOVER, "PULSAR-FAIL-01")])
@pytest.mark.parametrize("after", [[END], [*published(1), pushed(2, 1), pushed(1, 1)], [*published(1), pushed(1, 1)]])
def test_but_the_broker_does_say_so_and_serves_the_closed_one_no_more(kind, rule, after):
    events = [*two_on_a_connection(kind), pushed(2, 0), *after]
    found = judge(PulsarModel(), Config(), events, "broker")
    assert [(each.breach.requirement, each.breach.steady) for each in found.faults] == [(rule, False)], found


def test_nothing_is_owed_to_a_consumer_whose_client_has_ended_its_side():
    events = [*hello(0), *subscribed(0, 1, 0),
        said(0, "client", "PRODUCER", topic=TOPIC, producer_id=1, request_id=1),
        said(0, "broker", "PRODUCER_SUCCESS", request_id=1, producer_name="p"),
        *published(0),
    ]  # fmt: skip
    found = judge(PulsarModel(), Config(), [*events, Closed(0, "client", "eof"), END], "broker")
    assert (found.verdict, found.faults) == ("pass", ()), found
    found = judge(PulsarModel(), Config(), [*events, END], "broker")
    assert [each.breach.requirement for each in found.faults] == ["PULSAR-FLOW-04"], found


def test_of_several_reasons_to_end_a_connection_the_freest_counts():
    events = [
        *hello(0), *subscribed(0, 1, 0),
        said(0, "client", "PRODUCER", topic=TOPIC, producer_id=1, request_id=1),
        said(0, "broker", "PRODUCER_SUCCESS", request_id=1, producer_name="p"),
        said(0, "broker", "CLOSE_CONSUMER", consumer_id=1, request_id=NOBODY),
        said(0, "client", "FLOW", consumer_id=1, messagePermits=1),
        said(0, "client", "CLOSE_PRODUCER", producer_id=1, request_id=2),
        said(0, "broker", "SUCCESS", request_id=2),
        said(0, "client", "SEND", META, b"m", producer_id=1, sequence_id=0),
    ]  # fmt: skip
    found = judge(PulsarModel(), Config(), [*events, Closed(0, "broker", "eof"), END], "broker")
    assert (found.verdict, found.faults) == ("pass", ()), found


@pytest.mark.parametrize("version", [4, 5])
def test_who_cannot_be_told_of_a_closed_consumer_may_lose_the_connection_once_in_a_while(version):
    events = [
        said(0, "client", "CONNECT", client_version="x", protocol_version=version),
        said(0, "broker", "CONNECTED", server_version="x", protocol_version=version),
        *subscribed(0, 1, 0), Closed(0, "broker", "eof"),
    ]  # fmt: skip
    found = judge(PulsarModel(), Config(), events, "broker")
    assert [each.breach.steady for each in found.faults] == [version < 5], found


def test_nobody_need_be_told_who_is_active_where_the_broker_may_have_stopped():
    given = {"topic": TOPIC, "subscription": "s", "subType": FAILOVER, "consumer_id": 1, "request_id": 0}
    events = [
        said(0, "client", "CONNECT", client_version="x", protocol_version=19),
        said(0, "broker", "CONNECTED", server_version="x", protocol_version=19),
        said(0, "client", "SUBSCRIBE", **given), said(0, "broker", "SUCCESS", request_id=0),
    ]  # fmt: skip
    config = Config(profile="modern", version=19)
    found = judge(PulsarModel(), config, [*events, Closed(0, "client", "eof"), END], "broker")
    assert (found.verdict, found.faults) == ("pass", ()), found
    found = judge(PulsarModel(), config, [*events, END], "broker")
    assert [each.breach.requirement for each in found.faults] == ["PULSAR-FAIL-04"], found


def test_words_of_zero_at_the_end_of_an_ack_set_mean_nothing():
    many = {**META, "num_messages_in_batch": 2}
    batch = batched([({}, b"a"), ({}, b"b")])
    partly = {**ID, "ack_set": [2], "batch_size": 2}
    events = [
        *hello(0), *subscribed(0, 1, 0),
        said(0, "client", "PRODUCER", topic=TOPIC, producer_id=1, request_id=1),
        said(0, "broker", "PRODUCER_SUCCESS", request_id=1, producer_name="p"),
        said(0, "client", "SEND", many, batch, producer_id=1, sequence_id=0, num_messages=2),
        said(0, "broker", "SEND_RECEIPT", producer_id=1, sequence_id=0, message_id=ID),
        said(0, "broker", "MESSAGE", many, batch, consumer_id=1, message_id=ID),
        said(0, "client", "ACK", consumer_id=1, ack_type=0, message_id=[partly]),
        said(0, "client", "REDELIVER_UNACKNOWLEDGED_MESSAGES", consumer_id=1),
        said(0, "broker", "MESSAGE", many, batch, consumer_id=1, message_id=ID, ack_set=[2, 0]),
        Quiet(10_000, final=True),
    ]  # fmt: skip
    found = judge(PulsarModel(), Config(profile="modern"), events, "broker")
    assert not [each for each in found.faults if "ACK-12" in each.breach.requirement], found


def test_a_client_with_a_connection_on_which_nobody_listens_owes_nothing():
    state = ClientState(Config(role="client"))
    for event in (
        Fact(0, "broker", "connect", {}), *hello(0),
        Fact(0, "client", "answer", {"op": "connect", "ok": None}),
        Fact(0, "broker", "producer", {"topic": TOPIC, "_key": "p"}),
    ):  # fmt: skip
        (outcome,) = ClientModel().step(state, event)
        state = outcome.state
    assert set(ClientModel().owed(state, "client")) == {"PULSAR-CONN-01"}
    (outcome,) = ClientModel().step(state, Fact(0, "client", "accepted", 2))
    assert not set(ClientModel().owed(outcome.state, "client"))


@pytest.mark.parametrize("package", ["google_crc32c", "cramjam", "google.protobuf"])
def test_a_missing_package_is_named_to_who_asks_for_it(package):
    program = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from specs.protocol import find\n"
        "find('stomp')\n"
        "try: find('pulsar')\n"
        "except LookupError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert f"needs the package {package.partition('.')[0]}, which is not installed" in done.stdout
