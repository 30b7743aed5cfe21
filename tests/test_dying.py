"""A server that ends by a count, with every so many connections or frames: no conversation is why, and none is blamed
for what it has not shown."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from bench.ontime import judge
from impls.driver.drive import Recording, Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.stomp.reference import Frame, Server, Session
from specs.events import Closed, Quiet
from specs.model import Blame, Breach, Judgement
from specs.plan import Plan
from specs.protocol import find
from strategies.common import Program
from strategies.stomp import sessions
from suites import deaths, ground
from suites.calibration import Calibration
from suites.deadline import Deadline
from suites.hunt import Hunter, Investigated, Property
from suites.investigate import Investigator

STOMP = find("stomp")
ROB_01 = "STOMP-1.2-ROB-01"
LEARNT = {
    "supports": ("1.0", "1.1", "1.2"),
    "queue": {"keeps": True, "redelivers": True},
    "topic": {"own": True},
}
LOADED_S = 30.0


class Ended(Exception):
    """The process has ended."""


def ending(what, every):
    """A server that ends with so many of them."""

    class Connections(Server):
        counted = 0

        def count_one(self, kind):
            self.counted += kind == what
            if self.counted >= every:
                raise Ended

        def open(self):
            self.count_one("connections")
            return super().open()

    class Frames(Session):
        def handle(self, frame: Frame) -> None:
            self.server.count_one("frames")
            super().handle(frame)

    return type("Ending", (Connections,), {"session_type": Frames})


def settling(transport):
    """What starts it again, and says how it ended."""

    def settle(recording):
        died, transport.crash = transport.crash, ""
        if died:
            transport.restart()
        return died and f"it {died}"

    return settle


@pytest.mark.parametrize(
    ("what", "every"), [("connections", 3), ("connections", 20), ("frames", 25), ("frames", 60), ("frames", 200)]
)
def test_who_ends_by_a_count_fails_for_that_alone_and_not_each_time(what, every):
    found, counted = [], []
    config = STOMP.configure("server", "1.2", {name: fact.default for name, fact in STOMP.facts.items()}, LEARNT)
    transport = MemoryTransport(ending(what, every))
    hunter = Hunter(
        Setting(STOMP, config, "server", transport),
        {r.id: r for r in STOMP.requirements.binding("server", "1.2") if not r.untestable},
        investigate=Investigator(shrink_s=0.2), report=found.append, counted=counted.append, settle=settling(transport),
    )  # fmt: skip
    hunter.prepare()
    pursuit = hunter.pursuit(Property("sessions", sessions.sessions(), sessions.interpret))
    while pursuit.tally.plans < 60:
        hunter.play_one(pursuit, next(pursuit.draws))
    hunter.finish()
    (fault,) = [fault for fault in found if fault.verdict == "fail" and fault.level == "MUST"]
    assert fault.requirement == ROB_01
    assert fault.reproduced < fault.tried
    (rate,) = [fault for fault in counted if fault.requirement == ROB_01]
    assert 0 < rate.shown < rate.chances == pursuit.tally.plans


@pytest.mark.parametrize("every", range(20, 100, 8))
def test_a_question_in_which_it_ended_is_asked_once_more(every):
    """Else its versions, or what it makes of queues and topics, would be learnt from where it happened to end."""
    facts = {name: fact.default for name, fact in STOMP.facts.items()}
    impl = SimpleNamespace(name="ending", protocol="stomp", role="server", profile="1.2", facts=facts)

    def learnt(make):
        transport = MemoryTransport(make)
        calibration = Calibration(impl, STOMP, transport, 1000.0, settle=settling(transport))
        calibration.meet()
        return calibration.learnt

    plain, found = learnt(Server), learnt(ending("frames", every))
    assert found["supports"] == plain["supports"]
    assert found["queue"] == plain["queue"]
    assert found["topic"] == plain["topic"]


def test_over_tcp_nothing_else_is_blamed():
    found = judge("stomp", "frames-60", 8)
    assert found.wall_s < 1.5 * 8 + 5 + LOADED_S
    assert found.failures <= {ROB_01}


class Shots:
    """Plans played on a ground in threads of their own: "kills" ends the implementation as soon as it is played."""

    def __init__(self, monkeypatch):
        self.dead, self.lock, self.beside, self.most = False, threading.Lock(), 0, {}
        self.played, self.gate = [], threading.Event()
        monkeypatch.setattr(ground, "drive", self.drive)
        self.ground = ground.Ground(self.settle, "w", Deadline(30))

    def drive(self, plan, setting, fresh):
        with self.lock:
            self.beside += 1
            self.played.append(plan)
            first, beside = self.played.count(plan) == 1, self.beside
            self.most[plan] = max(self.most.get(plan, 0), beside if not first else 0)
        if first:
            self.gate.wait(10)
        if plan == "kills":
            self.dead = True
        time.sleep(0.05 if first else 0.2)
        with self.lock:
            self.beside -= 1
        idle_ms = {"kills": 0.0, "silent": -5000.0}.get(plan, -500.0)
        return Recording(wire=[(idle_ms, 0, "sent", b"x")])

    def settle(self, recording):
        died, self.dead = self.dead, False
        return "it ended" if died else ""

    def play(self, *plans):
        found = {}

        def one(plan):
            found[plan] = self.ground.play(plan, SETTING)

        threads = [threading.Thread(target=one, args=(plan,)) for plan in plans]
        for thread in threads:
            thread.start()
        self.gate.set()
        for thread in threads:
            thread.join(30)
        return found


SETTING = Setting(STOMP, None, "server", MemoryTransport(Server))


def test_the_likeliest_is_played_again_first_and_the_others_need_not_be_alone_then(monkeypatch):
    """Six conversations are under way when the server ends, right behind the last word of one of them."""
    shots = Shots(monkeypatch)
    harmless = [f"plan {n}" for n in range(5)]
    found = shots.play("kills", *harmless)
    assert [blame.breach.requirement for blame in found["kills"].judgement.blamed] == [ROB_01]
    assert all(found[plan].judgement.blamed == () and found[plan].judgement.verdict == "pass" for plan in harmless)
    assert shots.played.count("kills") == 2
    assert all(shots.played.count(plan) == 2 for plan in harmless)
    assert shots.most["kills"] == 1
    assert max(shots.most[plan] for plan in harmless) > 1


def test_what_a_server_has_spoken_behind_has_not_ended_it():
    config = STOMP.configure("server", "1.2", {name: fact.default for name, fact in STOMP.facts.items()}, LEARNT)
    setting = Setting(STOMP, config, "server", MemoryTransport(Server))
    recording = drive(STOMP.smoke(config), setting, "s-")
    names = deaths.said(recording, setting)
    assert deaths.outlived(recording, setting) == names
    cut = replace(recording, events=[event for event in recording.events if getattr(event, "by", "") != "server"])
    assert deaths.outlived(cut, setting) == []


@pytest.mark.parametrize(("name", "proved"), [(ROB_01, True), ("STOMP-1.2-SUB-05", False)])
def test_that_it_ended_is_proved_whatever_its_conversation_showed_before(name, proved):
    """A silence that is known, or only presumed, explains what is missing behind it, and not that the program ended."""
    config = STOMP.configure("server", "1.2", {name: fact.default for name, fact in STOMP.facts.items()}, LEARNT)
    looked = []
    hunter = Hunter(
        Setting(STOMP, config, "server", MemoryTransport(Server)),
        {r.id: r for r in STOMP.requirements.binding("server", "1.2") if not r.untestable},
        investigate=lambda hunter, prop, program, name, *more: (looked.append(name), Investigated(None, "x"))[1],
    )
    known = Breach("server", "STOMP-1.2-RECEIPT-01", "no RECEIPT", kind="owed", duty="STOMP-1.2-RECEIPT-01 SUBSCRIBE")
    seen = Blame(Breach("server", name, "it ended"), 1)
    judgement = Judgement("fail", (seen,), known=(Blame(known, 0),))
    recording = Recording([Quiet(300, final=True), Closed(0, "server")], [300.0, 301.0], judgement=judgement)
    hunter.suspects._presumed = {(known.requirement, "MUST", "", True): frozenset({known.duty})}
    prop = Property("sessions", sessions.sessions(), sessions.interpret)
    hunter.suspects.take(prop, Program((0,), ()), Plan(()), recording, (name, "MUST", seen))
    assert len(hunter.sightings.of(seen.breach).proofs) == proved
    assert looked == ([name] if proved else [])
