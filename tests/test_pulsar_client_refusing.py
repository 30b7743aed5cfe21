"""Messages that a client refuses by an ACK with validation_error: where it may, and what it breaks elsewhere."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specs.events import Closed, Said
from specs.model import judge
from specs.pulsar.batches import batch
from tests.test_pulsar_client_crossings import reported, told
from tests.test_pulsar_client_machine import CONFIG, END, PULSAR, consumer, looked_up
from tests.test_pulsar_crossings import flow
from tests.test_pulsar_freedoms import ID, META, TOPIC, hello, said

OPENED = [
    *(told("connect"), reported(None), told("subscribe", topic=TOPIC, subscription="s", _consumer="c")),
    *(*hello(0), *looked_up(TOPIC, 1), consumer(), said(0, "broker", "SUCCESS", request_id=21), reported("c")),
    flow(0, 0),
]


def message(payload=b"m", check="good", **meta):
    return said(
        0, "broker", "MESSAGE", {**META, "sequence_id": 1, **meta}, payload, check, consumer_id=0, message_id=ID
    )


def refused(error, **changed):
    return said(0, "client", "ACK", consumer_id=0, ack_type=0, message_id=[{**ID, **changed}], validation_error=error)


def blamed(*events):
    """What a client is blamed for behind the opening, with its sort and level."""
    found = judge(PULSAR.model, CONFIG, [*OPENED, *events, END], "client")
    return {(each.breach.fingerprint, each.breach.level) for each in (*found.faults, *found.lapses)}


HUGE = b"\x7f\xff\xff\xffabc"
LIES = {
    HUGE: "PULSAR-INV-CLIENT-05 to_end_the_connection",
    b"\x0e\x09abcdefghijkl": "PULSAR-FRM-14 to_end_the_connection",  # neither of the magic numbers: it is a size
}


def lying(rest=HUGE):
    """A MESSAGE whose METADATA_SIZE reaches beyond its frame."""
    frame = message().frame
    return Said(0, "broker", replace(frame, headers=None, payload=b"", check="", rest=rest, odd="metadata-size"))


@pytest.mark.parametrize("rest", LIES)
@pytest.mark.parametrize("error", range(5))
def test_a_message_whose_sizes_lie_may_be_refused_instead_of_ending_the_connection(error, rest):
    """FRM-14: that sizes contradict each other is detected; the frame itself has been read to its end (P-82)."""
    assert blamed(lying(rest), refused(error)) == set()


@pytest.mark.parametrize(("rest", "rule"), LIES.items())
def test_a_message_whose_sizes_lie_is_not_passed_over(rest, rule):
    beyond = {(rule, None)}
    assert blamed(lying(rest)) == beyond
    assert blamed(lying(rest), refused(2, entryId=99)) == beyond
    acknowledged = said(0, "client", "ACK", consumer_id=0, ack_type=0, message_id=[ID])
    assert blamed(lying(rest), acknowledged) == beyond


@pytest.mark.parametrize(
    ("pushed", "error", "found"),
    [
        (message(check=""), 2, "PULSAR-CHK-08 a_message_without_a_checksum_is_refused"),
        (message(check=""), 3, "PULSAR-ACK-13 refused_with_reason_3"),
        (message(), 2, "PULSAR-ACK-13 refused_with_reason_2"),
        (message(b""), 3, "PULSAR-ACK-13 refused_with_reason_3 empty"),
    ],
)
def test_a_message_that_can_be_read_is_not_refused(pushed, error, found):
    """The seed's frame has a checksum, so whoever refuses one without misses what practice asks for (CHK-08)."""
    assert found in {sort for sort, _ in blamed(pushed, refused(error))}


def test_a_message_may_be_refused_twice_and_not_once_it_has_come_whole():
    spoiled = message(check="bad")
    assert blamed(spoiled, refused(2), refused(2)) == set()
    assert blamed(spoiled, refused(2), message(), refused(2)) != set()
    assert blamed(spoiled, refused(2), refused(3)) != set()  # another reason the second time


@pytest.mark.parametrize(("many", "rules"), [(9, {"PULSAR-KA-09"}), (10, set())])
def test_a_client_may_have_enough_of_a_batch_that_brings_more_than_it_has_permitted(many, rules):
    """Seed, Message: within the limit of the permits. Nine are granted here."""
    pushed = message(batch([({}, b"m")] * many), num_messages_in_batch=many)
    found = blamed(pushed, Closed(0, "client"))
    assert {sort.partition(" ")[0] for sort, level in found if level != "SHOULD"} == rules
