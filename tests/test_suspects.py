"""What is suspected: set aside while it is looked into, looked into behind it once that is known, told in the end."""

from __future__ import annotations

import random
import threading
from dataclasses import replace

import pytest

from impls.driver.drive import Setting
from impls.driver.link import MemoryTransport
from impls.references.stomp.reference import Frame, Session
from specs.events import Quiet
from specs.protocol import find
from strategies.common import Program, programs
from strategies.stomp.writer import PLACES, Writer
from suites.deadline import Deadline
from suites.deaths import last_said
from suites.hunt import Hunter, Investigated, Property
from suites.investigate import Investigator
from suites.lanes import Lanes
from suites.pursuit import NO_TIME
from tests.mutants.kit import server_of

STOMP = find("stomp")
PROGRAM = Program((0,), ())
RECEIPT = "STOMP-1.2-RECEIPT-01"


class Mute(Session):
    """SUBSCRIBE is never receipted."""

    def on_receipt(self, frame: Frame) -> None:
        if frame.command != "SUBSCRIBE":
            super().on_receipt(frame)


def interpret(program, config, *, hurry):
    w = Writer(config, wire=0, hurry=hurry)
    w.subscribe(w.connect(0), PLACES[0], receipt=w.receipt())
    w.wait()
    return w.plan()


PROPERTY = Property("one", programs({"none": 1}, head=1, most=1, least=0), interpret)


@pytest.fixture
def lanes():
    return Lanes(1)


@pytest.fixture
def hunt(lanes):
    """`hunt(comes_to)` gives a hunter whose investigations wait for `gate`, and come to what `comes_to(name)` says."""
    gate, asked, told = threading.Event(), [], []

    def make(comes_to, *, seconds=60):
        def investigate(hunter, prop, program, name, after_s, silent, until):
            asked.append((name, hunter.suspects.certain.set_aside))
            gate.wait(10)
            return comes_to(name)

        config = STOMP.configure("server", "1.2", {name: fact.default for name, fact in STOMP.facts.items()}, {})
        setting = Setting(STOMP, config, "server", MemoryTransport(server_of(Mute)))
        binding = {r.id: r for r in STOMP.requirements.binding("server", "1.2") if not r.untestable}
        return Hunter(
            setting, binding, investigate=investigate, report=told.append, lanes=lanes, deadline=Deadline(seconds)
        )

    make.gate, make.asked, make.told = gate, asked, told
    yield make
    gate.set()


def played(hunter):
    """What the only plan shows, and all that is blamed there."""
    recording = hunter.play(PROPERTY.plan(PROGRAM, hunter.setting.config))
    return recording, hunter.blamed(recording)


def taken(hunter, recording, seen):
    hunter.suspects.take(PROPERTY, PROGRAM, PROPERTY.plan(PROGRAM, hunter.setting.config), recording, seen)


def presumed(hunter):
    """The hunter has seen the same silence twice; then something else, behind it."""
    recording, blamed = played(hunter)
    (seen,) = [each for each in blamed if each[0] == RECEIPT]
    for _ in range(2):
        assert not hunter.setting.set_aside
        taken(hunter, recording, seen)
    assert hunter.setting.set_aside
    assert not hunter.suspects.certain.set_aside
    behind, blamed = played(hunter)
    assert behind.judgement.known
    assert not [each for each in blamed if each[0] == RECEIPT]
    other = next(name for name in hunter.binding if name != RECEIPT)
    taken(hunter, behind, (other, "MUST", seen[2]))
    return other, seen


def over(hunter, hunt):
    hunt.gate.set()
    hunter.finish()


def test_a_silence_that_holds_stays_set_aside_and_what_lay_behind_is_looked_into(hunt):
    hunter = hunt(lambda name: Investigated(replace(confirmed, requirement=name), ""))
    recording, blamed = played(hunter)
    (seen,) = [each for each in blamed if each[0] == RECEIPT]
    suspicion = hunter.suspects.suspicion(
        PROPERTY, PROGRAM, PROPERTY.plan(PROGRAM, hunter.setting.config), recording, seen
    )
    confirmed = replace(suspicion, verdict="fail")
    other, _ = presumed(hunter)
    over(hunter, hunt)
    assert [name for name, _ in hunt.asked] == [RECEIPT, other]
    assert not hunt.asked[0][1]
    assert hunter.setting.set_aside == hunter.suspects.certain.set_aside == hunt.asked[1][1] != frozenset()
    assert [fault.requirement for fault in hunt.told] == [RECEIPT, other]


def test_what_needs_no_waiting_is_looked_into_while_a_silence_is_waited_for(hunt):
    hunter = hunt(lambda name: Investigated(None))
    recording, blamed = played(hunter)
    (seen,) = [each for each in blamed if each[0] == RECEIPT]
    taken(hunter, recording, seen)
    spoken = replace(recording, events=[event for event in recording.events if not isinstance(event, Quiet)])
    for _ in range(2):
        taken(hunter, spoken, seen)
    assert not hunter.setting.set_aside
    over(hunter, hunt)
    assert [name for name, _ in hunt.asked] == [RECEIPT, RECEIPT]


def test_what_lay_behind_mere_slowness_is_forgotten(hunt):
    hunter = hunt(lambda name: Investigated(None))
    presumed(hunter)
    over(hunter, hunt)
    assert [name for name, _ in hunt.asked] == [RECEIPT]
    assert not hunter.setting.set_aside
    assert not hunt.told


@pytest.mark.parametrize(
    ("comes", "asked"), [(True, 1), (False, 2)], ids=["what comes with more patience", "what is still missing"]
)
def test_a_silence_that_was_shorter_than_what_was_learnt_since_is_waited_for_again(
    hunt, lanes, monkeypatch, comes, asked
):
    """Where a program stands still a little longer than its patience now and then, one look at each of its silences in
    turn takes the whole run, and what was not looked into is told as suspected in the end."""
    hunter = hunt(lambda name: Investigated(None))
    hunter.setting = replace(hunter.setting, patience_ms=2_000)
    other = next(name for name, r in hunter.binding.items() if name != RECEIPT and r.level == "MUST")
    recording, ((_, *seen),) = played(hunter)
    taken(hunter, recording, (RECEIPT, *seen))
    hunt.gate.set()
    lanes.wait(10)
    lanes.collect()
    if comes:
        monkeypatch.setattr(Mute, "on_receipt", Session.on_receipt)
    taken(hunter, recording, (other, *seen))
    hunter.finish()
    assert len(hunt.asked) == asked
    assert hunter.setting.patience_ms == 4_000  # doubled once: the second silence teaches nothing new
    assert not hunt.told


def test_what_is_not_known_in_the_end_is_told_as_suspected(hunt):
    hunter = hunt(lambda name: Investigated(None), seconds=0.2)
    presumed(hunter)
    hunter.finish()
    assert [(fault.requirement, fault.unsettled) for fault in hunt.told] == [(RECEIPT, NO_TIME)]


def test_a_heavy_plan_is_played_beside_the_hunt(hunt, monkeypatch):
    """Megabytes may be waited for as many seconds: other conversations go on meanwhile."""
    hunter, gate = hunt(lambda name: Investigated(None)), threading.Event()
    recording, _ = played(hunter)

    def play(plan, *_, alone=False):
        assert gate.wait(10)
        return recording

    monkeypatch.setattr(hunter, "play", play)
    pursuit = hunter.pursuit(replace(PROPERTY, heavy=True))
    hunter.play_one(pursuit, PROGRAM)
    assert pursuit.tally.plans == 0
    gate.set()
    over(hunter, hunt)
    assert pursuit.tally.plans == 1


class Fatal(Session):
    """An ACK brings it down, and so does a SEND without destination."""

    def on_ACK(self, frame: Frame) -> None:
        raise RuntimeError("ACK")

    def on_SEND(self, frame: Frame) -> None:
        if "destination" not in frame.first:
            raise RuntimeError("SEND")
        super().on_SEND(frame)


class Fickle(Session):
    """One frame in three brings it down, whichever it is."""

    chance = random.Random(1)

    def handle(self, frame: Frame) -> None:
        if frame.command in ("ACK", "SEND", "BEGIN") and self.chance.random() < 1 / 3:
            raise RuntimeError("by chance")
        super().handle(frame)


def saying(command, *headers):
    def interpret(program, config, *, hurry):
        w = Writer(config, wire=0, hurry=hurry)
        w.say(w.connect(0), command, [*headers, w.receipt()])
        return w.plan()

    return Property(command, programs({"none": 1}, head=1, most=1, least=0), interpret)


FATAL = saying("ACK", ("id", "1")), saying("ACK", ("id", "2")), saying("SEND"), saying("BEGIN", ("transaction", "t"))


@pytest.mark.parametrize(
    ("session", "ways"), [(Fatal, [(1, "ACK id"), (2, "SEND")]), (Fickle, None)], ids=["always", "now and then"]
)
def test_each_kind_of_frame_that_always_brings_it_down_is_reported(session, ways):
    """Of one that goes down now and then the frame that was last says nothing."""
    transport, told = MemoryTransport(server_of(session)), []
    config = STOMP.configure("server", "1.2", {name: fact.default for name, fact in STOMP.facts.items()}, {})
    crash = {r.id: r for r in STOMP.requirements.binding("server", "1.2") if r.id == STOMP.crash}
    setting = Setting(STOMP, config, "server", transport)

    def settle(recording):
        died, transport.crash = transport.crash, ""
        if died:
            transport.restart()
        return died

    hunter = Hunter(setting, crash, investigate=Investigator(shrink_s=0.5), report=told.append, settle=settle)
    for prop in (*FATAL, *FATAL):
        hunter.hunt(prop, 0.1)
    found = [(f.nth, last_said(f.recording, setting).removeprefix(f"{STOMP.crash} ")) for f in told]
    assert found == ways if ways else all(nth == 1 for nth, _ in found)
    assert list(hunter.faults) == [STOMP.crash]
