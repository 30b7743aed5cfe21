"""A silence is listened to for a moment before it is looked into, where nothing goes on beside the hunt."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from impls.driver.link import MemoryTransport
from specs.events import Quiet
from specs.model import Blame, Breach, Judgement
from suites.deadline import Deadline
from suites.sightings import Sightings
from suites.vigils import MOMENT_MS, MOMENTS, Vigils

BREACH = Breach("server", "STOMP-1.2-RECEIPT-01", "no RECEIPT", duty="STOMP-1.2-RECEIPT-01 receipt")


class Suspects:
    def __init__(self):
        self.heard, self.stood = [], 0

    def listened(self, prop, program, plan, recording, seen, heard):
        self.heard.append(heard)

    def stood_still(self, seconds):
        self.stood += 1


class Kept:
    """Connections that were kept open, on which something comes or not."""

    def __init__(self, hears):
        self.hears, self.asked = hears, []

    def listen(self, ms, over):
        self.asked.append(ms)
        return self.hears


@pytest.fixture
def hunter():
    return SimpleNamespace(
        setting=SimpleNamespace(transport=object()),
        beside=False,
        sightings=Sightings(),
        suspects=Suspects(),
        ground=SimpleNamespace(deadline=Deadline(60)),
        counted=lambda judgement: [("STOMP-1.2-RECEIPT-01", "MUST", Blame(BREACH, 0))] if judgement.blamed else [],
    )


FAILED = Judgement("fail", blamed=(Blame(BREACH, 0),))


def met(hunter, vigils, hears):
    """A conversation that ends in a silence; what was listened to of it."""
    kept = Kept(hears) if vigils.wanted(FAILED) else None
    recording = SimpleNamespace(events=[Quiet(250, 260, final=True)], vigil=kept, judgement=FAILED)
    hunter.sightings.note({}, [BREACH])
    vigils.wait_a_moment(None, None, None, recording, [("STOMP-1.2-RECEIPT-01", "MUST", Blame(BREACH, 0))])
    return kept


def test_what_is_late_is_known_to_be_late_at_once(hunter):
    vigils = Vigils(hunter, 10_000)
    kept = met(hunter, vigils, "late")
    assert kept.asked == [MOMENT_MS]
    assert (hunter.suspects.heard, hunter.suspects.stood) == (["late"], 1)


def test_what_is_missing_still_is_looked_into_as_ever_and_listened_to_once(hunter):
    vigils = Vigils(hunter, 10_000)
    assert met(hunter, vigils, "nothing").asked == [MOMENT_MS]
    assert hunter.suspects.heard == []
    assert met(hunter, vigils, "nothing") is None, "the same symptom once more"


def test_only_some_silences_are_given_a_moment(hunter):
    vigils = Vigils(hunter, 10_000)
    for _ in range(MOMENTS):
        hunter.sightings = Sightings()  # as if it were another symptom
        assert met(hunter, vigils, "nothing") is not None
    hunter.sightings = Sightings()
    assert met(hunter, vigils, "nothing") is None


@pytest.mark.parametrize(("beside", "transport"), [(True, object()), (False, MemoryTransport(lambda: None))])
def test_where_it_costs_nothing_there_are_vigils_for_it(hunter, beside, transport):
    hunter.beside, hunter.setting.transport = beside, transport
    vigils = Vigils(hunter, 10_000)
    kept = met(hunter, vigils, "late")
    assert kept.asked == []
    assert hunter.suspects.heard == []
