"""A server that answers nothing any more is blamed for that; one that is slow, or leaves some requests open, is not."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from impls.driver.drive import Setting
from impls.driver.link import TcpTransport
from impls.references.msgpack.net import front
from impls.references.msgpack.reference import Server, Session
from specs.protocol import find
from strategies.common import programs
from strategies.msgpack.writer import Writer
from suites.deadline import Deadline
from suites.hunt import Hunter, Investigated
from suites.hushed import HANGS, SIMPLEST
from suites.lanes import Lanes
from suites.pursuit import Property

MSGPACK = find("msgpack")
FACTS = {name: fact.default for name, fact in MSGPACK.facts.items()}
BAD_01 = "MPRPC-BAD-01"
BELIEVED_MS = 400.0


class Silent(Session):
    """Answers none of the requests of a method, and nothing at all once there were so many of these."""

    lost, patience = 0, 0

    def call(self, number, method, params):
        if method == "fail":
            type(self).lost += 1
        if method == "fail" or 0 < self.patience <= self.lost:
            return
        super().call(number, method, params)


def faults(patience, *, lanes=True, sound=True, protocol=MSGPACK):
    """What is found in a server that answers nothing when so many requests were lost; 0 for never."""
    session = type("Losing", (Silent,), {"patience": patience, "lost": 0})
    served = front(type("Served", (Server,), {"session_type": session})(), 0)
    threading.Thread(target=served.run, daemon=True).start()
    config = MSGPACK.configure("server", "core", FACTS, {})
    setting = Setting(protocol, config, "server", TcpTransport(lambda: ("127.0.0.1", served.port)), 60.0)
    binding = {each.id: each for each in MSGPACK.requirements.binding("server", "core")}
    found = []
    hunter = Hunter(
        setting, binding, investigate=lambda *_: Investigated(None), report=found.append, deadline=Deadline(20.0),
        lanes=Lanes(2) if lanes else None, believed_ms=BELIEVED_MS,
    )  # fmt: skip
    hunter.prepare()
    hunter.sound = hunter.sound and sound
    w = Writer(config)
    w.call(w.line(), "fail", "no")
    plan = w.plan()
    hunter.hunt(Property("fails", programs({"a": 1}, head=2, most=4), lambda *_, hurry=False: plan), 1.0)
    return [(fault.requirement, fault.kind, fault.verdict, fault.property) for fault in found if fault.kind == HANGS]


@pytest.mark.parametrize("lanes", [True, False])
def test_a_server_that_answers_nothing_any_more_hangs(lanes):
    assert faults(1, lanes=lanes) == [(BAD_01, HANGS, "fail", SIMPLEST)]


def test_where_no_row_says_so_it_is_what_the_simplest_session_lacks():
    assert faults(1, protocol=replace(MSGPACK, hang="")) == [("MPRPC-RESP-01", HANGS, "fail", SIMPLEST)]


@pytest.mark.parametrize("lanes", [True, False])
def test_one_that_leaves_a_request_open_does_not(lanes):
    assert faults(0, lanes=lanes) == []


def test_nor_one_that_was_not_heard_before():
    assert faults(1, sound=False) == []
