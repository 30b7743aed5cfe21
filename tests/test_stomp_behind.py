"""What follows from a known fault is blamed on nothing else; what does not follow from it is still found."""

from __future__ import annotations

import pytest

from specs.events import Noise, Quiet, Said
from specs.model import judge
from specs.stomp.frames import Frame
from specs.stomp.model import StompModel
from specs.stomp.states import Config

SILENCE = Quiet(10_000, 10_000, final=True)
QUEUE = "/queue/q"
QUEUES = Config()


def client(command, *headers, body=b""):
    return Said(0, "client", Frame(command, headers, body))


def server(command, *headers, body=b""):
    return Said(0, "server", Frame(command, headers, body))


def message(identity, *more, body=b"x"):
    fields = (("destination", QUEUE), ("message-id", identity), ("subscription", "0"), *more)
    return server("MESSAGE", *fields, ("content-length", str(len(body))), body=body)


def receipt(name, **more):
    return server("RECEIPT", ("receipt-id", name), **more)


def send(name, body=b"x"):
    return client("SEND", ("destination", QUEUE), ("receipt", name), body=body)


OPENED = (
    client("CONNECT", ("accept-version", "1.2"), ("host", "/")),
    server("CONNECTED", ("version", "1.2")),
    client("SUBSCRIBE", ("id", "0"), ("destination", QUEUE), ("ack", "client-individual"), ("receipt", "s")),
    receipt("s"),
    send("r"),
)
AGAIN = send("t", b"y"), message("1", ("ack", "2"), body=b"y")
BROKEN = {
    "MSG-05": (message("1"), receipt("r")),
    "MSG-01": (server("MESSAGE", ("message-id", "1"), ("subscription", "0"), ("ack", "1"), body=b"x"), receipt("r")),
    "RECEIPT-07": (message("1", ("ack", "1")), receipt("r", body=b"x")),
    "FRAME-01": (Noise(0, "server", b"MESSAGE\nhm\n\nx\0", "no-colon"), receipt("r")),
    "MSG-03": (message("1", ("ack", "1")), receipt("r"), *AGAIN, receipt("t")),
}


def judged(*events, aside=frozenset()):
    return judge(StompModel(), QUEUES, (*OPENED, *events, SILENCE), "server", aside)


def names(judgement):
    return [blame.breach.requirement.removeprefix("STOMP-1.2-") for blame in judgement.blamed]


@pytest.mark.parametrize(("requirement", "events"), BROKEN.items(), ids=BROKEN)
def test_what_follows_from_a_known_fault_is_blamed_on_nothing_else(requirement, events):
    first = judged(*events)
    assert names(first) == [requirement]
    known = frozenset({first.blamed[0].breach.fingerprint, first.blamed[0].breach.duty} - {""})
    again = judged(*events, aside=known)
    assert (names(again), [b.breach.requirement for b in again.known]) == ([], [first.blamed[0].breach.requirement])


@pytest.mark.parametrize("requirement", ["MSG-05", "MSG-01", "RECEIPT-07"])
def test_what_does_not_follow_from_it_is_still_found(requirement):
    events = BROKEN[requirement]
    (first,) = judged(*events).blamed
    lost = (*events, send("u", b"z"), message("2", ("ack", "7"), body=b"z"))
    assert names(judged(*lost, aside=frozenset({first.breach.fingerprint}))) == ["RECEIPT-01"]
