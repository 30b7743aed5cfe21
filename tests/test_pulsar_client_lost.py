"""What a client still owes, and may still do, behind a connection that ended, or one that may have to end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specs.events import Closed, Fact, Noise, Quiet
from specs.pulsar.frames import NOBODY
from tests.test_pulsar_client_crossings import URL, reported, told
from tests.test_pulsar_client_machine import (
    DROP,
    EARLY,
    MADE,
    NOW,
    at,
    consumer,
    looked_up,
    producer,
    verdict,
)
from tests.test_pulsar_crossings import END, flow
from tests.test_pulsar_freedoms import ID, META, TOPIC, hello, said

OPENED = [told("connect"), reported(None), told("producer", topic=TOPIC, _key="p"), *hello(0), *looked_up(TOPIC, 1),
          producer(), MADE, reported("p")]  # fmt: skip
LOST = [DROP, Closed(0, "client", "eof")]


def send(sequence, payload):
    meta = {**NOW, "producer_name": "p", "sequence_id": sequence}
    return said(0, "client", "SEND", meta, payload, producer_id=0, sequence_id=sequence)


def receipt(sequence):
    return said(0, "broker", "SEND_RECEIPT", producer_id=0, sequence_id=sequence, message_id=ID)


def to_send(*payloads):
    return [told("send", producer="p", payload_hex=each.hex()) for each in payloads]


NAMED = said(0, "client", "PRODUCER", topic=TOPIC, producer_id=0, request_id=20, producer_name="p")


def made_again(number):
    return at(number, *hello(number), *looked_up(TOPIC, 1), NAMED, MADE)


@pytest.mark.parametrize(("early", "blamed"), [(True, set()), (False, {"PULSAR-FRM-15"})])
def test_what_was_sent_where_nothing_is_judged_may_be_behind_us(early, blamed):
    """A broker that speaks before CONNECTED may have spoilt the connection, and is not answered for it (P-72)."""
    first, *rest = hello(1)
    unheard = at(1, first, *[EARLY] * early, *rest, *looked_up(TOPIC, 1), NAMED, MADE, send(0, b"a"), receipt(0))
    lost = [Fact(1, "broker", "drop", None), Closed(1, "client", "eof")]
    talk = [*OPENED, *LOST, *to_send(b"a", b"b"), *(unheard if early else []), *(lost if early else [])]
    number = 2 if early else 1
    assert blamed == verdict(*talk, *made_again(number), *at(number, send(1, b"b"), receipt(1)), reported("id"))


def test_a_connection_that_is_spoilt_on_the_way_leaves_it_open_which_messages_were_sent():
    strange = said(0, "broker", "AUTH_CHALLENGE", server_version="x")
    talk = [*OPENED, *to_send(b"a", b"b"), strange, send(0, b"a"), receipt(0), *LOST, *made_again(1)]
    for sequence, payload in ((1, b"b"), (0, b"a")):
        assert verdict(*talk, *at(1, send(sequence, payload))) == set()


@pytest.mark.parametrize("sent", [True, False])
def test_who_sends_on_a_connection_that_may_have_to_end_waits_for_our_receipt(sent):
    """Seed, Producer: a SEND is answered by SEND_RECEIPT. It has done what it was told, and no receipt comes there."""
    strange = Noise(0, "broker", b"\0\0\0\6\0\0\0\2\x08\x0d", "no-sub-message")
    talk = [*OPENED, strange, Quiet(4000, 4000), *to_send(b"a"), *[send(0, b"a")] * sent, Quiet(600, 600, final=True)]
    assert ("PULSAR-CONN-01" in verdict(*talk)) is not sent


@pytest.mark.parametrize(("payload", "blamed"), [(b"b", set()), (b"z", {"PULSAR-FRM-04"})])
def test_what_was_to_be_sent_beside_a_message_that_failed_may_still_be_sent(payload, blamed):
    """The client need not, and nothing else is sent that nobody asked for (P-59)."""
    refused = said(0, "broker", "SEND_ERROR", producer_id=0, sequence_id=0, error=9, message="no")
    failed = Fact(0, "client", "answer", {"op": "send", "error": "no"})
    talk = [*OPENED, *to_send(b"a"), send(0, b"a"), *to_send(b"b"), refused, failed]
    assert verdict(*talk, send(1, payload)) == blamed
    assert verdict(*talk, END) == set()


@pytest.mark.parametrize(
    ("end", "blamed"),
    [
        ([], {"PULSAR-ACK-13"}),
        ([*LOST, *at(1, *hello(1), *looked_up(TOPIC, 2), consumer())], set()),
        ([said(0, "broker", "CLOSE_CONSUMER", consumer_id=0, request_id=NOBODY), *looked_up(TOPIC, 3),
          consumer(request=22)], set()),
    ],
)  # fmt: skip
def test_an_acknowledgement_may_be_lost_with_the_consumer_that_was_to_say_it(end, blamed):
    """Its message comes again (P-73); where nothing came between, it must be said."""
    request, number = (22, 0) if end and end[0] not in LOST else (21, 1 if end else 0)
    granted = said(0, "broker", "SUCCESS", request_id=request)
    again = at(number, granted, flow(0, 0, 9)) if end else []
    talk = [told("connect"), reported(None), told("subscribe", topic=TOPIC, permits=9), *hello(0), *looked_up(TOPIC, 2),
            consumer(), said(0, "broker", "SUCCESS", request_id=21), reported("c"), flow(0, 0, 9),
            said(0, "broker", "MESSAGE", {**META, "sequence_id": 1}, b"m", consumer_id=0, message_id=ID),
            told("receive", consumer="c", timeout_ms=9), reported({"ref": "r", "payload_hex": b"m".hex()}),
            told("ack", consumer="c", ref="r"), reported(None)]  # fmt: skip
    assert verdict(*talk, *end, *again, END) == blamed


SUBSCRIBED = [told("connect"), reported(None), told("subscribe", topic=TOPIC, permits=9), *hello(0),
              *looked_up(TOPIC, 2), consumer(), said(0, "broker", "SUCCESS", request_id=21), reported("c"),
              flow(0, 0, 9)]  # fmt: skip


@pytest.mark.parametrize("closed", [True, False])
def test_sizes_that_lie_need_not_be_seen_in_a_message_for_a_consumer_that_is_closed(closed):
    """A MESSAGE for a consumer that is not there is ignored (MSG-04): nobody has to read what stands behind its id."""
    message = said(0, "broker", "MESSAGE", {**META, "sequence_id": 1}, b"m", consumer_id=0, message_id=ID)
    lies = replace(message, frame=replace(message.frame, headers=None, rest=b"abcdefghijkl"))
    taken = [said(0, "broker", "CLOSE_CONSUMER", consumer_id=0, request_id=NOBODY)] * closed
    seen = verdict(*SUBSCRIBED, *taken, lies, END)
    assert seen == (set() if closed else {"PULSAR-INV-CLIENT-05"})


def sought(number, request, answer, *, spoilt):
    """A lookup, or a question for partitions, on a connection of its own, which may be spoilt and is over then."""
    first, *rest = hello(number)
    kind = answer["kind"]
    asks = said(0, "client", kind, topic=TOPIC, request_id=request)
    given = {name: value for name, value in answer.items() if name != "kind"}
    heard = said(0, "broker", f"{kind}_RESPONSE", request_id=request, **given)
    lost = [Fact(number, "broker", "drop", None), Closed(number, "client", "eof")]
    return [*at(number, first, *[EARLY] * spoilt, *rest, asks, heard), *lost]


AWAY = {"kind": "LOOKUP", "response": 0, "brokerServiceUrl": URL, "authoritative": True}
HERE = {"kind": "LOOKUP", "response": 1, "brokerServiceUrl": URL}
TWO = {"kind": "PARTITIONED_METADATA", "response": 0, "partitions": 2}
NONE = {"kind": "PARTITIONED_METADATA", "response": 0, "partitions": 0}


@pytest.mark.parametrize("spoilt", [True, False])
@pytest.mark.parametrize("authoritative", [True, False])
def test_a_redirect_may_have_been_heard_where_nothing_is_judged(spoilt, authoritative):
    """What we answered there was heard or not (P-72): the next lookup follows it, or is the first."""
    asks = said(0, "client", "LOOKUP", topic=TOPIC, request_id=1, authoritative=authoritative)
    talk = [told("connect"), reported(None), told("producer", topic=TOPIC), *sought(0, 1, AWAY, spoilt=spoilt)]
    blamed = set() if spoilt or authoritative else {"PULSAR-LOOK-04"}
    assert verdict(*talk, *at(1, *hello(1), asks)) == blamed


@pytest.mark.parametrize("spoilt", [True, False])
def test_a_lookup_may_have_been_answered_where_nothing_is_judged(spoilt):
    talk = [told("connect"), reported(None), told("producer", topic=TOPIC), *sought(0, 1, HERE, spoilt=spoilt)]
    assert verdict(*talk, *at(1, *hello(1), producer())) == set()
    assert verdict(*talk[:3], *at(0, *hello(0), producer())) == {"PULSAR-LOOK-01"}


@pytest.mark.parametrize(("spoilt", "blamed"), [(True, set()), (False, {"PULSAR-PART-03"})])
def test_partitions_may_have_been_told_where_nothing_is_judged(spoilt, blamed):
    """P-72; neither is it known then whether all of them were made."""
    part = f"{TOPIC}-partition-1"
    talk = [told("connect"), reported(None), told("producer", topic=TOPIC), *sought(0, 1, NONE, spoilt=False),
            *sought(1, 1, TWO if spoilt else NONE, spoilt=spoilt)]  # fmt: skip
    made = at(2, *hello(2), *looked_up(part, 1), producer(part), MADE)
    assert verdict(*talk, *made, reported("p")) == blamed


@pytest.mark.parametrize(("again", "blamed"), [(True, set()), (False, {"PULSAR-PART-02"})])
def test_what_is_made_again_is_what_it_was_however_many_partitions_there_are_by_now(again, blamed):
    """The number is asked at first creation only, not on reconnect (PART-04)."""
    counted = [said(0, "client", "PARTITIONED_METADATA", topic=TOPIC, request_id=9),
               said(0, "broker", "PARTITIONED_METADATA_RESPONSE", request_id=9, response=0, partitions=2)]  # fmt: skip
    made = made_again(1) if again else [*looked_up(TOPIC, 3), producer(number=1, request=22)]
    assert verdict(*OPENED, *counted, *(LOST if again else []), *made) == blamed


@pytest.mark.parametrize(
    ("times", "wanted", "blamed"),
    [(11, TOPIC, set()), (10, TOPIC, {"PULSAR-LOOK-04"}), (11, f"{TOPIC}-other", {"PULSAR-LOOK-04"})],
)
def test_a_client_may_give_a_topic_up_behind_many_redirects_in_a_row(times, wanted, blamed):
    """Loops end (LOOK-07), after nobody says how many (P-81)."""
    talk = [told("connect"), reported(None), told("producer", topic=wanted), *hello(0)]
    for n in range(times):
        talk.append(said(0, "client", "LOOKUP", topic=TOPIC, request_id=n, authoritative=n > 0))
        talk.append(said(0, "broker", "LOOKUP_RESPONSE", request_id=n, response=0, brokerServiceUrl=URL,
                         authoritative=True))  # fmt: skip
    assert verdict(*talk) == blamed


TOLD = [told("connect"), reported(None), told("producer", topic=TOPIC, _key="p")]
FAILED = Fact(0, "client", "answer", {"op": "producer", "error": "it took too long"})


def in_turn(*talks):
    """Connections, one after the other, of which the client ends each itself; `talks` are what is said on them."""
    events = []
    for number, talk in enumerate(talks):
        events.append(Fact(0, "client", "accepted", number + 1))
        events += [*at(number, *hello(number), *talk), Closed(number, "client", "eof")]
    return events


def test_a_connection_for_each_request_is_as_good_as_one_for_all():
    talk = [*TOLD, *in_turn([], looked_up(TOPIC, 1), looked_up(TOPIC, 2), [])]
    made = at(4, *hello(4), *looked_up(TOPIC, 3), producer(), MADE)
    assert verdict(*talk, Fact(0, "client", "accepted", 5), *made, reported("p"), END) == set()


@pytest.mark.parametrize(("count", "blamed"), [(4, set()), (5, {"PULSAR-KA-09"})])
def test_one_connection_after_the_other_on_which_all_is_answered_is_one_too_many_in_the_end(count, blamed):
    """P-84. The next one may be where the plan does not listen."""
    beyond = [Fact(0, "client", "accepted", count + 1), END]
    assert verdict(*TOLD, *in_turn(*[looked_up(TOPIC, n) for n in range(count)]), *beyond) == blamed


@pytest.mark.parametrize("cut", [False, True])
def test_what_fails_though_all_was_answered_is_a_fault_of_who_hung_up(cut):
    """Where we ended the connection, or left a request open, or do not listen, it may fail (P-84)."""
    hung = [*TOLD, *in_turn(looked_up(TOPIC, 1))]
    if cut:
        hung = [*TOLD, *at(0, *hello(0), *looked_up(TOPIC, 1)), *LOST]
    assert verdict(*hung, FAILED) == (set() if cut else {"PULSAR-REQ-03"})
    assert verdict(*hung, Fact(0, "client", "accepted", 2), FAILED) == set()
    open_request = [*looked_up(TOPIC, 1)][:1]
    assert verdict(*TOLD, *in_turn(open_request), FAILED) == set()


def led_elsewhere(how, number):
    """One of the requests of a client that was sent on, or that looks up each partition of a topic."""
    topic, response = (TOPIC, 0) if how == "redirect" else (f"{TOPIC}-partition-{number}", 1)
    yield said(0, "client", "LOOKUP", topic=topic, request_id=number, authoritative=how == "redirect" and number > 0)
    yield said(0, "broker", "LOOKUP_RESPONSE", request_id=number, response=response, brokerServiceUrl=URL,
               authoritative=True)  # fmt: skip


@pytest.mark.parametrize("how", ["redirect", "partitions"])
def test_a_connection_for_each_request_may_be_many_where_one_leads_to_the_next(how):
    """P-84: a Redirect is followed elsewhere (LOOK-04), and each partition is looked up by itself."""
    asked = [
        said(0, "client", "PARTITIONED_METADATA", topic=TOPIC, request_id=90),
        said(0, "broker", "PARTITIONED_METADATA_RESPONSE", request_id=90, response=0, partitions=7),
    ]
    first = [asked] if how == "partitions" else []
    talk = [*TOLD, *in_turn(*first, *[[*led_elsewhere(how, number)] for number in range(6)])]
    assert verdict(*talk, Fact(0, "client", "accepted", 9), END) == set()


def test_a_producer_may_wait_for_each_receipt_before_it_sends_the_next_message():
    """Of several messages under way the text says nothing (P-91)."""
    both = [told("send_async", producer="p", payload_hex=each.hex()) for each in (b"a", b"b")]
    begun = [*OPENED, *both, reported("s1"), reported("s2")]
    silence = Quiet(5000, 5000, final=True)
    assert verdict(*begun, silence) == {"PULSAR-FRM-15"}
    waits = [*begun, send(0, b"a"), silence]
    assert verdict(*waits) == set()
    assert verdict(*waits, receipt(0), send(1, b"b"), receipt(1), END) == set()
    assert verdict(*begun, send(0, b"a"), receipt(0), silence) == {"PULSAR-FRM-15"}
    awaited = [told("await", handle="s2"), silence]
    assert verdict(*waits, receipt(0), *awaited) != set()
