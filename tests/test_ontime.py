"""A run ends when it said it would, whatever the implementation does, and tells what it knows by then."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from echo import setting

from bench.ontime import MANIFESTS, ROOT, judge
from impls.driver.drive import Recording
from specs.plan import Plan, Wait
from strategies.common import programs
from suites.deadline import Deadline, at_least, larger, of_budget
from suites.hunt import Hunter, Investigated, Property
from suites.lanes import Lanes
from suites.schedule import Share, hunt, pursuits

LOADED_S = 30.0
"""What a machine with other things to do may add. A run that does not keep its time here takes minutes more."""


@pytest.mark.parametrize(("protocol", "fault"), [("stomp", "unreceipted"), ("stomp", "silent"), ("kcl", "mute")])
def test_a_silent_program_does_not_keep_its_run(protocol, fault):
    """And what was not confirmed by then is no failure, but no clean pass either: something is told."""
    found = judge(protocol, fault, 6)
    assert found.wall_s < 1.5 * 6 + 5 + LOADED_S
    assert found.status == 1 or found.judged
    assert found.failing == 0 or found.status == 1


HEEDING = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
"""Starts its arguments so that SIGINT is heeded: a shell ignores it for what it leaves in the background."""


def test_an_interrupted_run_ends_soon_and_says_what_it_knows(tmp_path):
    manifest = tmp_path / "it.toml"
    manifest.write_text(MANIFESTS["stomp"].format(fault="slow", root=ROOT), encoding="utf-8")
    argv = [sys.executable, "-m", "pytest", "suites/stomp", f"--impl={manifest}", "--budget=60"]
    argv += [f"--results={tmp_path}/r", "-q"]
    argv = [sys.executable, "-c", HEEDING, *argv]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        until = time.monotonic() + 90
        while time.monotonic() < until and not _covered(tmp_path / "r" / "records"):
            time.sleep(0.05)  # the file is the observation
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        told, _ = process.communicate(timeout=60)
        took = time.monotonic() - begun
    assert took < 2 + LOADED_S / 2
    summary = json.loads((tmp_path / "r" / "summary.json").read_text("utf-8"))
    assert not summary["complete"]
    assert any(row["judged"] for row in summary["requirements"].values())
    assert "INCOMPLETE RUN" in told


def _covered(folder: Path) -> bool:
    files = list(folder.glob("*.jsonl")) if folder.exists() else []
    return any(b'"kind":"coverage"' in path.read_bytes().replace(b'": "', b'":"') for path in files)


def test_a_budget_that_was_too_little_names_one_that_is_larger():
    assert larger(10) == "--budget=30"
    assert at_least(90) == "--budget=100"
    assert 60 < of_budget(60).left() < 1.5 * 60 + 5
    assert of_budget(10, spent_s=100).left() > 10


class Clock:
    """Time that passes when plans are played."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)


def test_properties_take_turns_by_weight_and_none_waits_for_the_share_of_another(house, monkeypatch):
    """Each has begun before a hundredth of the budget is gone to one of them, and in the end each had its share."""
    clock, played = Clock(monkeypatch), []

    def interpret(name):
        def interpret(program, config, *, hurry):
            played.append((name, clock.now))
            clock.now += 0.01
            return Plan(())

        return interpret

    where = setting(house, "server", house.reference.server)
    hunter = Hunter(where, {}, investigate=lambda *_: Investigated(None), deadline=Deadline(100, time.monotonic))
    shares = [
        Share(Property(name, programs({"a": 1}, head=2, most=4), interpret(name)), weight)
        for name, weight in (("one", 1.0), ("two", 2.0), ("four", 4.0))
    ]
    going = pursuits(hunter, shares, 70.0)
    hunt(hunter, going, 70.0, lambda: None)
    first = {name: min(at for each, at in played if each == name) for name in ("one", "two", "four")}
    assert max(first.values()) < 1.0
    for name, weight in (("one", 1), ("two", 2), ("four", 4)):
        assert 0.01 * sum(each == name for each, _ in played) == pytest.approx(10 * weight, rel=0.1)
    assert clock.now < 72


@pytest.mark.parametrize(
    ("rest_s", "lanes", "plays"), [(90, None, 0), (90, Lanes(2), 0), (20, None, 0), (12, Lanes(2), 1), (2, None, 5)]
)
def test_a_rest_for_which_there_is_no_time_is_told_and_not_taken(house, monkeypatch, rest_s, lanes, plays):
    """With 10 s of hunting and 15 s in all: beside the hunt the first plan may rest until the end."""
    clock, played, lock = Clock(monkeypatch), [], threading.Lock()

    class Slow(Hunter):
        def play(self, plan, setting=None, until=None, *, alone=False):
            with lock:
                played.append(plan)
                clock.now += rest_s if lanes is None else 0.0
            return Recording()

    def interpret(program, config, *, hurry):
        clock.now += 0.1
        return Plan((Wait(rest_s * 1000),))

    where = replace(setting(house, "server", house.reference.server), transport=object())
    hunter = Slow(
        where, {}, investigate=lambda *_: Investigated(None), deadline=Deadline(15, time.monotonic), lanes=lanes
    )
    hunter.sound = True
    (pursuit,) = pursuits(hunter, [Share(Property("rests", programs({"a": 1}, head=2, most=4), interpret))], 10.0)
    hunt(hunter, [pursuit], 10.0, lambda: None)
    assert len(played) == pursuit.tally.plans
    assert (len(played) > 0) is (plays > 0)
    assert len(played) <= plays
    assert pursuit.needs_s == (0 if plays == 5 else rest_s)


def test_what_is_suspected_late_is_told_as_not_settled(house):
    """The suspicion of a lane that is not over in time is reported all the same; what two conversations prove needs no
    lane (tests/test_now_and_then.py)."""
    found, gate = [], threading.Event()

    def never(*given):
        gate.wait(20)
        return Investigated(None)

    mutant = next(iter(house.mutants.SERVERS))
    where = setting(house, "server", lambda: house.reference.Host(mutant, 1))
    binding = {r.id: r for r in house.protocol.requirements.binding("server", "1")}
    hunter = Hunter(where, binding, investigate=never, report=found.append, deadline=Deadline(1.0), lanes=Lanes(1))
    prop = Property("plans", house.plans.sessions(), house.plans.interpret)
    hunter.prepare()
    pursuit = hunter.pursuit(prop)
    try:
        while not any(symptom.shown for symptom in hunter.sightings.all()) and not hunter.until.over():
            hunter.play_one(pursuit, next(pursuit.draws))
        hunter.finish()
    finally:
        gate.set()
    assert found
    assert all(fault.verdict == "inconclusive" and "no time" in fault.unsettled for fault in found)
