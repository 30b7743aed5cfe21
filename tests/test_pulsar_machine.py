"""The machine of a connection to a broker, cell by cell: what it forbids is blamed, and what it allows leads on."""

from __future__ import annotations

import pytest

from specs.events import Closed, Noise, Quiet
from specs.machine import Never, Unreachable
from specs.model import ANYTHING, Allow, judge
from specs.pulsar.frames import NOBODY
from specs.pulsar.machine import BROKER, Phase
from specs.pulsar.model import PulsarModel
from specs.pulsar.states import Config
from tests.test_pulsar_freedoms import TOPIC, hello, said

CONNECT = said(0, "client", "CONNECT", client_version="x", protocol_version=7)
PRODUCER = said(0, "client", "PRODUCER", topic=TOPIC, producer_id=1, request_id=1)
LOOKUP = said(0, "client", "LOOKUP", topic=TOPIC, request_id=1)
GARBAGE = Noise(0, "client", bytes.fromhex("00000005000000010000"), "no-command")
WAYS = {
    Phase.NEW: [], Phase.ASKED: [CONNECT], Phase.HASTY: [CONNECT, GARBAGE], Phase.LIVE: [*hello(0)],
    Phase.EARLY: [PRODUCER], Phase.EARLY_LOOKUP: [LOOKUP], Phase.TWICE: [*hello(0), CONNECT],
    Phase.SPOILT: [*hello(0), PRODUCER, GARBAGE],
    Phase.REFUSED: [CONNECT, said(0, "broker", "ERROR", request_id=NOBODY, error=6, message="not now")],
}  # fmt: skip
ACTIONS = {
    "CONNECT": CONNECT, "asks": PRODUCER, "misuses": GARBAGE, "leaves": Closed(0, "client", "close"),
    "CONNECTED": said(0, "broker", "CONNECTED", server_version="x", protocol_version=7),
    "refuses": said(0, "broker", "ERROR", request_id=NOBODY, error=6, message="not now"),
    "complains": said(0, "broker", "ERROR", request_id=NOBODY, error=0, message="no"),
    "answers": said(0, "broker", "PRODUCER_SUCCESS", request_id=1, producer_name="p"),
    "pushes": said(0, "broker", "PING"), "garbles": Noise(0, "broker", bytes(9), "no-command"),
    "ends": Closed(0, "broker"),
}  # fmt: skip
OTHERWISE = {"PULSAR-REQ-01", "PULSAR-REQ-02", "PULSAR-KA-05", "PULSAR-VER-04",
             *(f"PULSAR-CONN-0{n}" for n in (2, 4, 8))}  # fmt: skip
CELLS = [(phase, action, cell) for phase, action, cell in BROKER.cells() if not isinstance(cell, Unreachable)]


def before(phase):
    """The state in a phase."""
    model = PulsarModel()
    state = model.initial(Config())
    for event in WAYS[phase]:
        (found,) = model.step(state, event)
        assert isinstance(found, Allow), found
        state = found.state
    assert state.conn(0).phase is phase
    return model, state


@pytest.mark.parametrize(("phase", "action", "cell"), CELLS, ids=lambda each: getattr(each, "name", str(each))[:20])
def test_a_cell_is_what_is_judged(phase, action, cell):
    model, state = before(phase)
    if phase is Phase.ASKED and action == "complains":
        action = "refuses"  # an ERROR answers CONNECT while it is due
        cell = BROKER.at(phase, action)
    event = ACTIONS[action]
    if action == "pushes" and phase in (Phase.EARLY, Phase.EARLY_LOOKUP):
        event = said(0, "broker", "CLOSE_CONSUMER", consumer_id=1, request_id=NOBODY)
    (found,) = model.step(state, event)
    if isinstance(cell, Never):
        assert found.requirement == cell.requirements[0], found
    elif action == "garbles":
        assert found.requirement == "PULSAR-FRM-05", found
    elif isinstance(found, Allow) and found.state is not ANYTHING:
        assert found.state.conn(0).phase in (cell if isinstance(cell, tuple) else (cell,))
    else:  # something else is wrong with this answer, or with this end
        assert found.requirement in OTHERWISE, found


def test_connected_may_cross_what_ends_the_connection():
    events = [CONNECT, GARBAGE, ACTIONS["CONNECTED"], Closed(0, "broker"), Quiet(10_000, final=True)]
    assert judge(PulsarModel(), Config(), events, "broker").verdict == "pass"
