"""Clients made from a document: what is found out about one before it is judged, and what it is asked then."""

from __future__ import annotations

import json

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.msgpack.idl_client import IdlClient
from specs.msgpack.frames import from_json, to_json
from specs.plan import Control
from specs.protocol import find
from strategies.msgpack import calling, discover
from tests import drawing
from tests.mutants.msgpack_kit import PROFILES

MSGPACK, ROLE = find("msgpack"), "idl-client"


def config_of(**switches):
    facts = {name: fact.default for name, fact in MSGPACK.facts.items()}
    transport = MemoryTransport(lambda: IdlClient(**switches))

    def configure(learnt):
        return MSGPACK.configure(ROLE, PROFILES[ROLE], facts, learnt)

    def play(plan, config):
        recording = drive(plan, Setting(MSGPACK, config, ROLE, transport), "ask")
        return tuple(recording.events), recording.judgement

    return configure(discover(play, configure))


@pytest.mark.parametrize(
    ("switches", "found"),
    [
        ({}, {"layout": "array-1", "first": 1, "exceptions": "list", "old_raw": False}),
        ({"layout": "array-0"}, {"layout": "array-0", "first": 0}),
        ({"layout": "array-0", "places": "from one"}, {"layout": "array-0", "first": 1}),
        ({"exception_wire": "code"}, {"exceptions": "code"}),
        ({"exception_wire": "none"}, {"exceptions": ""}),
        ({}, {"curious": False}),
        ({"versions": "when it connects"}, {"curious": True, "layout": "array-1", "exceptions": "list"}),
        ({"versions": "before each call", "layout": "array-0"}, {"curious": True, "layout": "array-0", "first": 0}),
        ({"old_raw": True}, {"old_raw": True}),
        ({"argument_modifiers": "refuse"}, {"layout": "array-1"}),
    ],
)
def test_what_the_text_leaves_to_a_client_is_found_out(switches, found):
    config = config_of(**switches)
    assert {name: getattr(config, name) for name in found} == found
    refuses = "argument_modifiers" in switches
    assert ("modifiers and gaps of arguments" in config.taken) is not refuses


def test_what_a_client_is_told_survives_a_file():
    config, values = config_of(), 0
    for program in drawing.drawn(calling.calls(), 40, 1):
        for step in calling.interpret(program, config).steps:
            value = step.value if isinstance(step, Control) else getattr(step, "frame", None)
            if value is not None:
                values += 1
                again = from_json(json.loads(json.dumps(to_json(value))))
                assert json.dumps(to_json(again)) == json.dumps(to_json(value))
                if isinstance(step, Control):
                    assert json.dumps(again) == json.dumps(value)
    assert values > 300


def test_plans_ask_for_what_a_client_is_about():
    """A quarter of the documents have no point that may be refused; versions, and exceptions of every sort, come up."""
    config, paths, versions, plain = config_of(), set(), set(), 0
    for program in drawing.drawn(calling.calls(), 150, 2):
        plan = calling.interpret(program, config)
        told_ = [step for step in plan.steps if isinstance(step, Control) and step.name == "call"]
        versions |= {step.value["version"] for step in told_}
        frames = [step.frame.body for step in plan.steps if hasattr(step, "frame")]
        paths |= {body[2][0] for body in frames if isinstance(body[2], tuple) and len(body[2]) == 1}
        plain += "optional string c" not in plan.steps[0].value["idl"]
    assert paths >= set(calling.PATHS)
    assert len(versions) > 5
    assert 10 < plain < 100


@pytest.mark.parametrize("versions", ["when it connects", "before each call"])
def test_a_curious_client_is_asked_as_much_as_any_other(versions):
    config = config_of(versions=versions)
    transport, covered = MemoryTransport(lambda: IdlClient(versions=versions)), set()
    for program in drawing.drawn(calling.calls(), 60, 3):
        setting = Setting(MSGPACK, config, ROLE, transport)
        found = drive(calling.interpret(program, config), setting, "q").judgement
        assert found.verdict == "pass", found
        covered |= {*found.covered}
    assert len(covered) > 20
