"""Every fault seeded into the KCL references is seen, and is blamed on the requirement that it breaks."""

from dataclasses import replace

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.kcl.host import Hosts
from impls.references.kcl.memory import Children
from specs.protocol import find
from tests.mutants.every import of_protocol
from tests.mutants.kcl_kit import config_of

KCL = find("kcl")
KCL_MUTANTS = of_protocol("kcl")
SOUND = {"child": Children, "host": Hosts}


def judged(plan, mutant, transport):
    config = config_of(mutant.profile, mutant.role)
    return drive(plan, Setting(KCL, config, mutant.role, transport), "m-").judgement


def test_there_are_enough_mutants():
    assert len({(mutant.role, mutant.name) for mutant in KCL_MUTANTS}) == len(KCL_MUTANTS)
    assert sum(mutant.role == "child" for mutant in KCL_MUTANTS) >= 40
    assert sum(mutant.role == "host" for mutant in KCL_MUTANTS) >= 25
    assert {mutant.profile for mutant in KCL_MUTANTS} >= {"kcl1-seed", "kcl1-seq", "kcl3"}


def test_mutants_name_requirements_that_exist():
    for mutant in KCL_MUTANTS:
        assert mutant.blames <= KCL.requirements.keys(), mutant.name
        requirement = KCL.requirements[mutant.requirement]
        assert mutant.profile in requirement.profiles, mutant.name
        assert mutant.role in requirement.roles, mutant.name
        assert mutant.why.endswith("."), mutant.name


@pytest.mark.parametrize("mutant", KCL_MUTANTS, ids=lambda m: f"{m.role}-{m.name}")
def test_witness_passes_on_the_reference(mutant):
    plan = mutant.witness(config_of(mutant.profile, mutant.role))
    judgement = judged(plan, mutant, MemoryTransport(lambda: SOUND[mutant.role](mutant.profile)))
    assert judgement.verdict == "pass", judgement
    assert judgement.faults == ()


@pytest.mark.parametrize("mutant", KCL_MUTANTS, ids=lambda m: f"{m.role}-{m.name}")
def test_witness_shows_the_fault(mutant):
    config = config_of(mutant.profile, mutant.role)
    plan = mutant.witness(config)
    judgement = judged(plan, mutant, MemoryTransport(mutant.make))
    faults = judgement.faults
    assert faults, judgement
    names = {fault.breach.requirement for fault in faults}
    features = {f.requirement for f in KCL.features if f.name in plan.features}
    assert names <= mutant.blames or mutant.requirement in features, judgement
    if mutant.level == "MUST":
        assert judgement.verdict == "fail", judgement


@pytest.mark.parametrize("mutant", KCL_MUTANTS, ids=lambda m: f"{m.role}-{m.name}")
def test_what_shrinking_leaves_of_a_witness_blames_nobody(mutant):
    plan = mutant.witness(config_of(mutant.profile, mutant.role))
    for at in range(min(len(plan.steps), 16)):
        part = replace(plan, steps=plan.steps[:at] + plan.steps[at + 1 :])
        judgement = judged(part, mutant, MemoryTransport(lambda: SOUND[mutant.role](mutant.profile)))
        assert judgement.verdict in ("pass", "inconclusive"), (at, judgement)


@pytest.mark.parametrize("mutant", KCL_MUTANTS, ids=lambda m: f"{m.role}-{m.name}")
def test_mutant_is_right_in_everything_else(mutant):
    config = config_of(mutant.profile, mutant.role)
    judgement = judged(KCL.smoke(config), mutant, MemoryTransport(mutant.make))
    assert (judgement.verdict == "pass" and judgement.faults == ()) == mutant.smoke, judgement
