"""Every seeded fault of STOMP clients is seen by its witness, and blamed on the requirement that it breaks."""

from __future__ import annotations

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.stomp.client_memory import Client
from tests.mutants.every import of_protocol
from tests.mutants.stomp_client_kit import STOMP, config_for

MUTANTS = [mutant for mutant in of_protocol("stomp") if mutant.role == "client"]


def judged(plan, make, config):
    transport = MemoryTransport(make)
    judgement = drive(plan, Setting(STOMP, config, "client", transport), "m-").judgement
    assert not transport.crash, "a program would go on: what it is blamed for is no matter of this fault"
    return judgement


def shows(judgement, blames, level):
    return any(
        {blame.breach.requirement, *blame.breach.also} & blames
        and (blame.breach.level or STOMP.requirements[blame.breach.requirement].level) == level
        for blame in judgement.faults
    )


def test_there_are_enough_mutants():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 100
    for mutant in MUTANTS:
        assert mutant.blames <= STOMP.requirements.keys(), mutant.name
        assert mutant.profile in STOMP.requirements[mutant.requirement].profiles, mutant.name
        assert mutant.why.endswith("."), mutant.name


def test_every_requirement_is_broken_by_some_mutant():
    bound = {r.id for r in STOMP.requirements.binding("client", "1.2") if r.level != "MAY"}
    assert bound <= {mutant.requirement for mutant in MUTANTS}


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_witness_passes_on_the_reference(mutant):
    config = config_for(mutant.profile)
    judgement = judged(mutant.witness(config), Client, config)
    assert (judgement.verdict, judgement.faults) == ("pass", ()), judgement


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_witness_shows_the_fault(mutant):
    config = config_for(mutant.profile)
    plan = mutant.witness(config)
    judgement = judged(plan, mutant.make, config)
    for feature in STOMP.features:
        if feature.requirement == mutant.requirement and not shows(judgement, {mutant.requirement}, mutant.level):
            without = plan if feature.without is None else feature.without(plan)
            if without != plan:
                assert judgement.faults, judgement
                assert judged(without, mutant.make, config).faults == ()
                return
    assert judgement.faults, judgement
    assert shows(judgement, {mutant.requirement}, mutant.level), judgement


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_nothing_else_is_blamed_behind_a_known_fault(mutant):
    config, known, names = config_for(mutant.profile), frozenset(), set()
    for _ in range(4):
        setting = Setting(STOMP, config, "client", MemoryTransport(mutant.make), set_aside=known)
        blamed = drive(mutant.witness(config), setting, "m-").judgement.faults
        names |= {blame.breach.requirement for blame in blamed}
        after = known | {part for blame in blamed for part in (blame.breach.fingerprint, blame.breach.duty) if part}
        if after == known:
            break
        known = after
    features = {feature.requirement for feature in STOMP.features}
    assert names <= mutant.blames or (mutant.requirement in features and len(names) == 1)
