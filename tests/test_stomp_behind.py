"""What follows from a known fault is blamed on nothing else; what does not follow from it is still found."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from impls.references.stomp.session import Session
from specs.events import Noise, Quiet, Said
from specs.model import judge
from specs.plan import Plan, Say
from specs.stomp.features import saying, spared
from specs.stomp.frames import Frame
from specs.stomp.model import StompModel
from specs.stomp.states import Config
from suites.schedule import Share, hunt, pursuits
from tests.mutants.hunted import hunter_for
from tests.mutants.kit import server_of
from tests.properties import properties

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


# -- plans without what is known to be broken --------------------------------------------------------------------------


def says(command, *headers):
    return Say(0, Frame(command, headers))


SUBSCRIBES = says("SUBSCRIBE", ("id", "0"), ("destination", QUEUE), ("receipt", "s"))
SENDS = says("SEND", ("destination", QUEUE), ("receipt", "r"))
LACKS = says("SEND", ("receipt", "r"))


@pytest.mark.parametrize(
    ("known", "left"),
    [
        ("STOMP-1.2-RECEIPT-01 receipt SUBSCRIBE", [says("SUBSCRIBE", *SUBSCRIBES.frame.headers[:2]), SENDS, LACKS]),
        (saying(LACKS.frame), [SUBSCRIBES, SENDS]),
        (saying(SENDS.frame), [SUBSCRIBES, LACKS]),
        ("STOMP-1.2-RECEIPT-01 receipt ACK", [SUBSCRIBES, SENDS, LACKS]),
    ],
    ids=["never receipted", "kills without destination", "kills with destination", "nothing of the kind"],
)  # fmt: skip
def test_a_plan_does_without_what_is_known(known, left):
    assert list(spared(Plan((SUBSCRIBES, SENDS, LACKS)), frozenset({known})).steps) == left


class NeverForSubscribe(Session):
    """SUBSCRIBE gets no RECEIPT."""

    def on_receipt(self, frame):
        if frame.command != "SUBSCRIBE":
            super().on_receipt(frame)


def test_a_server_that_never_answers_one_command_is_judged_on_all_the_others():
    """It has one fault. What can only be seen by asking for that RECEIPT is suspected; all else is judged without."""
    mutant = SimpleNamespace(protocol="stomp", role="server", profile="1.2", make=server_of(NeverForSubscribe))
    found, budget_s = hunter_for(mutant, lambda fault: None), 5.0
    hunt(found, pursuits(found, [Share(prop) for prop, _ in properties("stomp", "server")], budget_s), budget_s, list)
    assert {name for name, fault in found.faults.items() if fault.verdict == "fail"} == {"STOMP-1.2-RECEIPT-01"}
    assert {"STOMP-1.2-SUB-05", "STOMP-1.2-TXN-03", "STOMP-1.2-ACKMODE-04"} <= found.judged
