"""Silences that come before the one that a plan is played for are not waited for with all patience again."""

from dataclasses import replace

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from specs.events import Quiet
from specs.protocol import find
from suites import investigate
from suites.case import silences
from suites.deadline import TimeUp
from tests.mutants.every import of_protocol
from tests.mutants.storm_kit import config_of

STORM = find("storm")
(MUTANT,) = [each for each in of_protocol("storm") if each.name == "bolt-no-beat-meanwhile"]
WHOLE_MS, PASSING_MS = 5000.0, 400.0


def played(**more):
    """A heartbeat is not answered while the bolt waits for task ids, and not behind them."""
    config = config_of(MUTANT.profile, MUTANT.role)
    setting = replace(Setting(STORM, config, MUTANT.role, MemoryTransport(MUTANT.make), patience_ms=WHOLE_MS), **more)
    recording = drive(MUTANT.witness(config), setting, "p-")
    waited = [event.ms for event in recording.events if isinstance(event, Quiet) and event.final]
    return waited, recording


@pytest.mark.parametrize(
    ("passing", "waited"),
    [(0, [WHOLE_MS, WHOLE_MS]), (1, [PASSING_MS, WHOLE_MS]), (2, [PASSING_MS, PASSING_MS]), (-1, [WHOLE_MS] * 2)],
)
def test_so_many_silences_end_sooner(passing, waited):
    assert played(passing=passing, passing_ms=PASSING_MS)[0] == waited


def test_what_is_blamed_at_a_silence_that_was_cut_short_is_not_believed():
    _, recording = played()
    for blame in recording.judgement.faults:
        seen = recording, "MUST", blame, blame.breach.requirement
        before = silences(seen) - 1
        setting = Setting(STORM, None, "bolt", MemoryTransport(MUTANT.make), passing=before)
        assert investigate._waited_out(seen, setting) is seen
        with pytest.raises(TimeUp):
            investigate._waited_out(seen, replace(setting, passing=before + 1))
    assert {blame.breach.requirement for blame in recording.judgement.faults} == {"STORM-HB-06", "STORM-HB-07"}
