"""The simplest session is judged before anything else is played: what it breaks is found in it."""

from __future__ import annotations

import pytest

from impls.launching.manifest import resolve
from records.reader import read
from records.rows import FaultRow, PropertyRow
from suites import started
from suites.head import RunOptions
from suites.hunt import SIMPLEST
from suites.properties import properties
from suites.schedule import Share
from suites.session import Session
from tests.mutants import hunted
from tests.mutants.every import ALL, key_of

RIGHT = "stomp-server-receipt-before-message"
"""Discovery finds that its queues keep nothing and give nobody messages of their own: then that session is right."""
BREAKING = [
    mutant for mutant in ALL if not (getattr(mutant, "smoke", True) or mutant.unseen or key_of(mutant) == RIGHT)
]


def opened(mutant):
    """A hunter that has done no more than to open, and what it reported."""
    found = []
    hunter = hunted.hunter_for(mutant, found.append)
    opening = hunter.open()
    hunter.finish()
    return hunter, opening, found


@pytest.mark.parametrize("mutant", BREAKING, ids=key_of)
def test_what_breaks_the_simplest_session_is_found_in_it(mutant):
    hunter, opening, found = opened(mutant)
    assert hunter.sound is False
    assert opening is not None
    assert opening.tally.plans == 1
    assert {fault.requirement for fault in found if fault.verdict == "fail"} & mutant.blames, found
    assert {fault.property for fault in found} == {SIMPLEST}
    assert max(len(fault.plan.steps) for fault in found) <= len(hunter.smoke().steps)


def test_it_is_judged_once():
    hunter, opening, _ = opened(BREAKING[0])
    assert opening is not None
    assert hunter.open() is None


def test_a_run_writes_down_what_it_judged(tmp_path):
    (impl,) = (each for each in resolve("reference") if (each.protocol, each.role) == ("stomp", "server"))
    run = Session(impl, RunOptions(budget_s=1.0), tmp_path, "run")
    run.open()
    run.hunt([], 0.0, lambda hunter: None)
    run.close()
    rows = read(tmp_path).of("run")
    (told,) = (row for row in rows if isinstance(row, PropertyRow))
    assert (told.property, told.plans, told.errors) == (SIMPLEST, 1, 0)
    assert not [row for row in rows if isinstance(row, FaultRow)]


def test_an_error_of_our_own_in_it_ends_no_run(monkeypatch):
    hunter = hunted.hunter_for(BREAKING[0], lambda fault: None)

    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(hunter.suspects, "take", broken)
    opening = hunter.open()
    assert isinstance(opening.error, ZeroDivisionError)


def test_the_first_test_answers_for_it(tmp_path, monkeypatch):
    """A run that fails has a test that fails."""
    mutant = next(each for each in BREAKING if (each.protocol, each.role) == ("stomp", "server"))
    monkeypatch.setattr(started, "_factory", lambda impl: mutant.make)
    (impl,) = (each for each in resolve("reference") if (each.protocol, each.role) == ("stomp", "server"))
    run = Session(impl, RunOptions(budget_s=1.0, seed=1), tmp_path, "run")
    run.open()
    first, second = (prop for prop, _ in properties("stomp", "server")[:2])
    run.hunt([Share(first), Share(second)], 1.0, lambda hunter: None)
    run.close()
    assert SIMPLEST in {fault.property for fault in run.faults_of(first.name)}
    assert SIMPLEST not in {fault.property for fault in run.faults_of(second.name)}
