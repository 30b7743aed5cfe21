"""Every fault seeded into the Storm references is seen, and is blamed on the requirement that it breaks."""

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.storm.child import Bolt, Spout
from impls.references.storm.host_memory import Hosts
from impls.references.storm.hosts import BoltHost, SpoutHost
from impls.references.storm.memory import Children
from specs.protocol import find
from tests.mutants.every import of_protocol
from tests.mutants.storm_kit import config_of

STORM = find("storm")
STORM_MUTANTS = of_protocol("storm")
CHILDREN = {"bolt": Bolt, "spout": Spout}
HOSTS = {"bolt-host": BoltHost, "spout-host": SpoutHost}


def sound(mutant):
    extensions = frozenset(mutant.profile.split("+")[1:])
    if mutant.role in CHILDREN:
        return MemoryTransport(lambda: Children(CHILDREN[mutant.role], extensions))
    return MemoryTransport(lambda: Hosts(HOSTS[mutant.role], extensions))


def judged(plan, mutant, transport):
    return drive(plan, Setting(STORM, config_of(mutant.profile, mutant.role), mutant.role, transport), "m-").judgement


def test_there_are_enough_mutants():
    assert len({mutant.name for mutant in STORM_MUTANTS}) == len(STORM_MUTANTS)
    roles = [mutant.role for mutant in STORM_MUTANTS]
    assert roles.count("bolt") >= 40
    assert roles.count("spout") >= 25
    assert roles.count("bolt-host") + roles.count("spout-host") >= 30


def test_mutants_name_requirements_that_exist():
    for mutant in STORM_MUTANTS:
        assert mutant.blames <= STORM.requirements.keys(), mutant.name
        requirement = STORM.requirements[mutant.requirement]
        assert set(requirement.profiles) & set(mutant.profile.split("+")), mutant.name
        assert mutant.role in requirement.roles, mutant.name
        assert mutant.why.endswith("."), mutant.name


@pytest.mark.parametrize("mutant", STORM_MUTANTS, ids=lambda m: m.name)
def test_witness_passes_on_the_reference(mutant):
    judgement = judged(mutant.witness(config_of(mutant.profile, mutant.role)), mutant, sound(mutant))
    assert judgement.verdict == "pass", judgement
    assert judgement.faults == ()


@pytest.mark.parametrize("mutant", STORM_MUTANTS, ids=lambda m: m.name)
def test_witness_shows_the_fault(mutant):
    plan = mutant.witness(config_of(mutant.profile, mutant.role))
    judgement = judged(plan, mutant, MemoryTransport(mutant.make))
    assert judgement.faults, judgement
    names = {fault.breach.requirement for fault in judgement.faults}
    features = {f.requirement for f in STORM.features if f.name in plan.features}
    assert names <= mutant.blames or mutant.requirement in features, judgement
    if mutant.level == "MUST":
        assert judgement.verdict == "fail", judgement


@pytest.mark.parametrize("mutant", STORM_MUTANTS, ids=lambda m: m.name)
def test_mutant_is_right_in_everything_else(mutant):
    config = config_of(mutant.profile, mutant.role)
    judgement = judged(STORM.smoke(config), mutant, MemoryTransport(mutant.make))
    assert (judgement.verdict == "pass" and judgement.faults == ()) == mutant.smoke, judgement
