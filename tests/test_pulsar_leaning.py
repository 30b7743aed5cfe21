"""A verdict that rests on a reading of docs/ambiguities.md says on which; what the reading does not cover is blamed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from specs.events import Fact, Quiet
from specs.model import judge
from specs.pulsar.batches import batch
from specs.pulsar.model import PulsarModel
from specs.pulsar.states import Config
from tests.mutants.pulsar_kit import PULSAR, SHARED
from tests.test_pulsar_client_crossings import told
from tests.test_pulsar_crossings import consumer, flow, published, pushed, two
from tests.test_pulsar_freedoms import ID, META, TOPIC, hello, said

CONNECT = said(0, "client", "CONNECT", client_version="x", protocol_version=7)
PRODUCER = said(0, "client", "PRODUCER", topic=TOPIC, producer_id=1, request_id=1)


def error(code, request=1):
    return said(0, "broker", "ERROR", request_id=request, error=code, message="no")


def failed(op="producer", **given):
    return (told(op, **given), Fact(0, "client", "answer", {"op": op, "error": "it took too long"}))


def counted(bits, count=2):
    """A batch whose counts differ or not, delivered with the ack_set `bits`."""
    sent = said(0, "client", "SEND", {**META, "num_messages_in_batch": 3}, batch([({}, b"x")] * 3), producer_id=1,
                sequence_id=0, num_messages=count)  # fmt: skip
    yield from (*hello(0, 17), *consumer(0, 1, SHARED), flow(0, 1))
    yield said(0, "client", "PRODUCER", topic=TOPIC, producer_id=1, request_id=9)
    yield said(0, "broker", "PRODUCER_SUCCESS", request_id=9, producer_name="p")
    yield from (sent, said(0, "broker", "SEND_RECEIPT", producer_id=1, sequence_id=0, message_id=ID))
    yield said(0, "broker", "MESSAGE", {**META, "num_messages_in_batch": 3}, batch([({}, b"x")] * 3), consumer_id=1,
               message_id=ID, ack_set=bits)  # fmt: skip


ASKED = said(0, "client", "PARTITIONED_METADATA", topic=TOPIC, request_id=1)
SMALL = said(0, "broker", "CONNECTED", server_version="x", protocol_version=17, max_message_size=9)
AGAIN = said(0, "client", "REDELIVER_UNACKNOWLEDGED_MESSAGES", consumer_id=1)
CASES = [
    ("broker", [*hello(0), PRODUCER, error(6)], "P-45", ""),
    ("broker", [*hello(0), PRODUCER, error(1)], "", "PULSAR-PROD-02"),
    ("broker", [CONNECT, error(14)], "P-45", ""),
    ("broker", [CONNECT, error(1)], "", "PULSAR-CONN-02"),
    ("broker", [Fact(0, "client", "reach", "x:1"), CONNECT, error(1)], "P-30", ""),
    ("client", [*hello(0), ASKED, Quiet(2000, 2000), *failed(topic=TOPIC)], "P-63", ""),
    ("client", [*hello(0), *failed(topic=TOPIC)], "", "PULSAR-REQ-03"),
    ("client", [*hello(0), said(0, "broker", "SUCCESS", request_id=77), *failed(topic=TOPIC)], "P-49", ""),
    ("client", [CONNECT, SMALL, *failed("send", payload_hex="00" * 9)], "P-51", ""),
    ("client", [*hello(0), *failed("send", payload_hex="00" * 9)], "", "PULSAR-REQ-03"),
    ("broker", [*counted([3], 2)], "P-20", ""),
    ("broker", [*counted([3], 3)], "", "PULSAR-ACK-12"),
    ("broker", [*two(SHARED), *published(1), AGAIN, pushed(1, 2), pushed(0, 1), pushed(0, 1)], "P-36", ""),
    ("broker", [*two(SHARED), *published(1), pushed(1, 2), pushed(1, 2)], "", "PULSAR-E2E-03"),
    ("client", [*hello(0), Fact(0, "client", "accepted", 2), *failed(topic=TOPIC)], "P-53", ""),
]


@pytest.mark.parametrize(("role", "events", "freedom", "blamed"), CASES)
def test_a_verdict_names_the_reading_that_it_rests_on(role, events, freedom, blamed):
    found = judge(PulsarModel(), Config(role=role, profile="modern"), events, role)
    assert set(found.leaned) == ({freedom} if freedom else set()), found
    assert [each.breach.requirement for each in found.blamed] == ([blamed] if blamed else []), found


def test_each_reading_that_is_declared_stands_in_the_document():
    document = (Path(__file__).parent.parent / "docs" / "ambiguities.md").read_text("utf-8")
    written = re.findall(r"^- \*\*(P-\d\d)\*\* ", document, re.MULTILINE)
    assert len(written) == len(set(written))
    declared = {name for books in PULSAR.books.values() for book in books for name in book.freedoms}
    assert len(declared) >= 9
    assert declared <= set(written), declared - set(written)
