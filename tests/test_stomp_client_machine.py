"""Every cell of the machine of a STOMP client is what its model does."""

from __future__ import annotations

import pytest

from specs.events import Closed, Fact, Noise, Said
from specs.machine import Never
from specs.model import Allow, Breach
from specs.stomp.client.machine import (
    BEATS,
    CONNECTS,
    DROPS,
    ENDS,
    EOLS,
    LEAVES,
    MACHINE,
    NONSENSE,
    REPORTS,
    SETTLING,
    SPOILS,
    TOLD,
    K,
)
from specs.stomp.client.model import ClientModel
from specs.stomp.frames import BEAT, Frame
from specs.stomp.states import Config

MODEL = ClientModel()


def client(command, body=b"", **headers):
    return Said(0, "client", Frame(command, tuple((n.replace("_", "-"), v) for n, v in headers.items()), body))


def server(command, **headers):
    return Said(0, "server", Frame(command, tuple((n.replace("_", "-"), v) for n, v in headers.items())))


def told(op, **given):
    return Fact(0, "server", op, given)


CONNECT = client("CONNECT", accept_version="1.2", host="/")
OPENED = (told("connect", versions=["1.2"]), CONNECT)
LIVE = (
    *OPENED, server("CONNECTED", version="1.2"), Fact(0, "client", "answer", {"ok": True}),
    told("subscribe", destination="/x", sub="s", ack="client-individual"),
    client("SUBSCRIBE", destination="/x", id="1", ack="client-individual"),
    told("begin", transaction="t"), client("BEGIN", transaction="a"), told("send", destination="/x", body_hex=""),
    server("MESSAGE", destination="/x", message_id="m", subscription="1", ack="k"),
)  # fmt: skip
BEFORE = {
    K.NEW: (told("connect", versions=["1.2"]),),
    K.ASKED: OPENED,
    K.LIVE: LIVE,
    K.REFUSED: (*OPENED, server("CONNECTED", version="9.9"), Fact(0, "client", "answer", {"error": "no"})),
    K.LEAVING: (*LIVE, client("DISCONNECT", receipt="r")),
    K.LOST: (*LIVE, server("ERROR")),
    K.OVER: (*LIVE, Closed(0, "server")),
}
EVENTS = {
    CONNECTS: CONNECT,
    "SEND": client("SEND", destination="/x"),
    "SUBSCRIBE": client("SUBSCRIBE", destination="/x", id="2", ack="client-individual"),
    "UNSUBSCRIBE": client("UNSUBSCRIBE", id="1"),
    "BEGIN": client("BEGIN", transaction="b"),
    "COMMIT": client("COMMIT", transaction="a"),
    "ABORT": client("ABORT", transaction="a"),
    "ACK": client("ACK", id="k"),
    "NACK": client("NACK", id="k"),
    LEAVES: client("DISCONNECT", receipt="r2"),
    BEATS: Said(0, "client", BEAT),
    NONSENSE: Noise(0, "client", b"x", "nul-in-head"),
    REPORTS: Fact(0, "client", "answer", {"error": "no"}),
    ENDS: Closed(0, "client"),
    TOLD: told("send", destination="/x", body_hex=""),
    "CONNECTED": server("CONNECTED", version="1.2"),
    "MESSAGE": server("MESSAGE", destination="/x", message_id="n", subscription="1", ack="l"),
    "RECEIPT": server("RECEIPT", receipt_id="r"),
    "ERROR": server("ERROR"),
    EOLS: Said(0, "server", BEAT),
    SPOILS: Noise(0, "server", b"x", "nul-in-head"),
    DROPS: Closed(0, "server"),
}


def after(events):
    state = MODEL.initial(Config(role="client"))
    for event in events:
        (outcome,) = MODEL.step(state, event)
        assert isinstance(outcome, Allow), (event, outcome)
        state = outcome.state
    return state


def test_phases_are_reached():
    assert {phase: after(events).phase for phase, events in BEFORE.items()} == {phase: phase for phase in K}


@pytest.mark.parametrize(("phase", "action"), [(p, a) for p, a, _ in MACHINE.cells()], ids=str)
def test_a_cell_is_what_the_model_does(phase, action):
    closed = {(p, a) for p, a, _ in MACHINE.unreachable_cells()}
    state, event = after(BEFORE[phase]), EVENTS[action]
    if phase is K.LIVE and action == "RECEIPT":
        state = after((*LIVE, client("SEND", destination="/x", receipt="r")))
    (outcome,) = MODEL.step(state, event)
    if (phase, action) in closed:
        assert isinstance(outcome, Allow)
        assert outcome.covers == ()
        assert outcome.state.phase is phase
        return
    cell = MACHINE.at(phase, action)
    if isinstance(cell, Never):
        assert isinstance(outcome, Breach)
        assert (outcome.requirement, *outcome.also) == cell.requirements
    elif isinstance(outcome, Breach):
        # what is broken by itself, whatever the phase, and what ends something that was not begun
        ends = (*SETTLING, "UNSUBSCRIBE", "COMMIT", "ABORT") if phase is K.ASKED else ()
        assert action in (NONSENSE, ENDS, *ends), outcome
    elif (phase, action) in ((K.LIVE, "RECEIPT"), (K.LEAVING, "RECEIPT")):
        assert outcome.state.receipts == ()
    else:
        phases = cell if isinstance(cell, tuple) else (cell, K.LOST)
        assert outcome.state.phase in phases
