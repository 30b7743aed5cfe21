"""Every seeded fault of Pulsar is seen by its witness, and blamed on the requirement that it breaks."""

from collections import Counter
from functools import cache

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.pulsar.client_memory import Client
from impls.references.pulsar.reference import Broker
from tests.mutants.every import of_protocol
from tests.mutants.pulsar_kit import PULSAR

MUTANTS = of_protocol("pulsar")
PEERS = {"broker": Broker, "client": Client}


def judged(mutant, make):
    transport = MemoryTransport(make)
    found = drive(mutant.witness(mutant.config), Setting(PULSAR, mutant.config, mutant.role, transport), "m-").judgement
    assert not transport.crash
    return found, found.faults


def level_of(blame):
    return blame.breach.level or PULSAR.requirements[blame.breach.requirement].level


def test_there_are_enough_mutants():
    count = Counter(mutant.role for mutant in MUTANTS if not mutant.unseen)
    assert len({(mutant.role, mutant.name) for mutant in MUTANTS}) == len(MUTANTS)
    assert count["broker"] >= 60
    assert count["client"] >= 40
    assert sum(mutant.late for mutant in MUTANTS) * 3 >= len(MUTANTS)
    for mutant in MUTANTS:
        assert mutant.blames <= PULSAR.requirements.keys(), (mutant.name, mutant.blames - PULSAR.requirements.keys())
        assert mutant.why.endswith("."), mutant.name


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_witness_passes_on_the_reference(mutant):
    kept = {"deduplication": True} if mutant.facts.get("dedup") else {}  # what its facts say of it
    found, faults = judged(mutant, lambda: PEERS[mutant.role](profile=mutant.profile, **kept))
    assert (found.verdict, faults) == ("pass", ()), found


SEEN = [each for each in MUTANTS if not each.unseen]
BY_FEATURE = {"PULSAR-FRM-07"}
"""Named when the fault is investigated: it is gone where frames are not cut."""


@cache
def shown(mutant):
    """What the witness of a fault shows, which several tests look at."""
    return judged(mutant, mutant.make)


@pytest.mark.parametrize("mutant", SEEN, ids=str)
def test_witness_shows_the_fault(mutant):
    found, faults = shown(mutant)
    assert faults, found
    assert {blame.breach.requirement for blame in faults} <= mutant.blames, faults
    assert any(level_of(blame) == mutant.level for blame in faults), found


def test_what_a_fault_is_seeded_for_is_named_by_some_witness():
    named = {
        name for each in SEEN for blame in shown(each)[1] for name in (blame.breach.requirement, *blame.breach.also)
    }
    assert sorted({each.requirement for each in SEEN} - named - BY_FEATURE) == []
