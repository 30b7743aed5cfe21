"""Readings of STOMP that no mutant shows: conversations that the model must not blame, or not so gravely."""

from __future__ import annotations

import pytest

from specs.events import Quiet, Said
from specs.model import judge
from specs.plan import Blurt, Plan, Ref
from specs.stomp.features import FEATURES
from specs.stomp.frames import Frame
from specs.stomp.model import StompModel
from specs.stomp.states import Config

TOPIC = "/topic/t"


def client(command, *headers, conn=0, body=b""):
    return Said(conn, "client", Frame(command, headers, body))


def server(command, *headers, conn=0, body=b""):
    return Said(conn, "server", Frame(command, headers, body))


def session(version):
    answer = [("version", version)] if version != "1.0" else []
    return client("CONNECT", ("accept-version", version), ("host", "/")), server("CONNECTED", *answer)


def verdict(*events):
    found = judge(StompModel(), Config(), (*events, Quiet(10_000, final=True)), "server")
    return found.verdict, [(b.breach.requirement.removeprefix("STOMP-1.2-"), b.breach.level) for b in found.faults]


CLAIMS = [
    ("ACK-03", client("ACK", ("message-id", "unknown"), ("subscription", "0"), ("receipt", "r"))),
    ("TXN-08", client("COMMIT", ("transaction", "t"), ("receipt", "r"))),
    ("TXN-01", client("ABORT", ("receipt", "r"))),
    ("SEND-01", client("SEND", ("receipt", "r"), body=b"x")),
    ("SUB-01", client("SUBSCRIBE", ("id", "0"), ("receipt", "r"))),
]


@pytest.mark.parametrize(("requirement", "frame"), CLAIMS, ids=[name for name, _ in CLAIMS])
def test_a_receipt_of_1_0_says_only_that_a_frame_has_come(requirement, frame):
    receipt = server("RECEIPT", ("receipt-id", "r"))
    assert verdict(*session("1.0"), frame, receipt)[1] == [(requirement, "SHOULD")]
    found, ((name, level),) = verdict(*session("1.1"), frame, receipt)
    assert (found, name) == ("fail", requirement)
    assert level in (None, "MUST")


def test_1_0_leaves_the_body_of_subscribe_free():
    frame = client("SUBSCRIBE", ("id", "0"), ("destination", TOPIC), ("receipt", "r"), body=b"x")
    receipt = server("RECEIPT", ("receipt-id", "r"))
    for answer in (receipt, server("ERROR", ("message", "no"))):
        assert verdict(*session("1.0"), frame, answer) == ("pass", [])
    assert verdict(*session("1.1"), frame, receipt)[1] == [("BODY-01", "SHOULD")]


def test_headers_of_1_0_are_ascii():
    frame = client("SEND", ("destination", TOPIC), ("a", "é"), ("receipt", "r"))
    error = server("ERROR", ("message", "no"))
    assert verdict(*session("1.0"), frame, error)[0] == "pass"
    assert verdict(*session("1.1"), frame, error)[0] == "fail"


@pytest.mark.parametrize("name", ["id", "destination"])
def test_going_by_the_last_of_repeated_headers_is_a_recommendation_missed(name):
    values = {"id": ("0", "1"), "destination": (TOPIC, "/topic/u")}
    others = [(key, first) for key, (first, _) in values.items() if key != name]
    taken = {key: first for key, (first, _) in values.items()} | {name: values[name][1]}
    found = verdict(
        *session("1.2"),
        client("SUBSCRIBE", *others, (name, values[name][0]), (name, values[name][1]), ("receipt", "r1")),
        server("RECEIPT", ("receipt-id", "r1")),
        client("SEND", ("destination", taken["destination"]), ("k", "1"), body=b"x"),
        server(
            "MESSAGE",
            ("destination", taken["destination"]),
            ("k", "1"),
            ("message-id", "m"),
            ("subscription", taken["id"]),
            body=b"x",
        ),
    )
    assert [fault for fault, _ in found[1]] == ["REPEAT-01"]


def test_a_plan_is_written_without_its_second_content_length():
    (feature,) = (feature for feature in FEATURES if feature.name == "lengths")
    start, place = b"SEND\ndestination:", Ref("topic", "a")
    blurt = Blurt(0, (start, place, b"\n", b"content-length:10\n", b"content-length:3\n", b"\n0123456789\0"))
    once = Blurt(0, (start, place, b"\n", b"content-length:10\n", b"\n0123456789\0"))
    assert feature.without(Plan((blurt,), frozenset({"lengths"}))).steps == (once,)
    assert feature.without(Plan((blurt,))).steps == (blurt,)


def test_a_subscription_whose_end_may_be_refused_is_open_and_closed_at_once():
    place, name = ("destination", "/queue/q"), ("id", "é")
    said = (("SUBSCRIBE", "1"), ("UNSUBSCRIBE", "2"), ("SUBSCRIBE", "3"))
    asked = [client(command, name, place, ("receipt", receipt)) for command, receipt in said]
    answers = [server("RECEIPT", ("receipt-id", receipt)) for receipt in "123"]
    events = [event for pair in zip(asked, answers, strict=True) for event in pair]
    assert verdict(*session("1.0"), *events) == ("pass", [])
    assert verdict(*session("1.0"), *events[:4], client("SEND", place, body=b"x")) == ("pass", [])


@pytest.mark.parametrize(("waited", "found"), [(10, ["MSG-10"]), (30, [])])
def test_a_message_may_be_taken_back_that_is_not_acknowledged_in_time(waited, found):
    place = ("destination", "/queue/q")
    copy = server("MESSAGE", place, ("k", "1"), ("message-id", "m"), ("subscription", "0"), ("ack", "a"), body=b"x")
    again = server("MESSAGE", place, ("k", "1"), ("message-id", "m"), ("subscription", "0"), ("ack", "b"), body=b"x")
    shown = verdict(
        *session("1.2"),
        client("SUBSCRIBE", ("id", "0"), place, ("ack", "client-individual")),
        client("SEND", place, ("k", "1"), body=b"x"),
        copy,
        Quiet(waited, waited),
        again,
        client("ACK", ("id", "a"), ("receipt", "r")),
        server("RECEIPT", ("receipt-id", "r")),
    )
    assert [name for name, _ in shown[1] if name.startswith(("ACK", "MSG-1"))] == found
