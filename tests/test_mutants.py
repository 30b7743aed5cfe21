"""Every seeded fault is there, is seen, and is blamed on the requirement that it breaks."""

import random
from dataclasses import replace

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.stomp.reference import Server
from specs.plan import Close, Say, SendBytes
from specs.protocol import find
from strategies.common import Op, Program
from strategies.stomp import misuse, sessions
from tests.mutants.every import of_protocol
from tests.mutants.kit import CONNECTS, frames
from tests.mutants.stomp_link import LINK_MUTANTS

STOMP = find("stomp")
MUTANTS = [mutant for mutant in of_protocol("stomp") if mutant.role == "server"]
LEARNT = {
    "supports": ("1.0", "1.1", "1.2"),
    "queue": {"keeps": True, "redelivers": True},
    "topic": {"own": True},
}
"""What discovery finds out about the reference."""
UNMINIMISED = {
    # the witness of these keeps to the client's own promises, which a shorter one would not
    "beats-after-frames",
    "connections-leak",
    "over-limit-for-all",
    "second-begin-loses-work",  # that the second BEGIN is taken at all is a recommendation missed already
    "id-twice-hears-all",  # and so is that the second SUBSCRIBE is
}


def config_for(profile="1.2"):
    return STOMP.configure("server", profile, {name: fact.default for name, fact in STOMP.facts.items()}, LEARNT)


def judged(plan, config, transport):
    return drive(plan, Setting(STOMP, config, "server", transport), "m-").judgement


def level_of(blame):
    return blame.breach.level or STOMP.requirements[blame.breach.requirement].level


def shows(judgement, blames, level):
    """True when all that is found is rightly blamed, and as gravely as the fault deserves."""
    faults = judgement.faults
    if not faults or judgement.verdict in ("error", "inconclusive"):
        return False
    if any(fault.breach.requirement not in blames for fault in faults):
        return False
    if level == "MUST":
        return judgement.verdict == "fail" and any(level_of(blame) == "MUST" for blame in judgement.blamed)
    return not any(level_of(fault) == "MUST" for fault in faults)


def by_name(mutants):
    marked = []
    for mutant in mutants:
        marks = [pytest.mark.xfail(reason=mutant.unseen, strict=True)] if mutant.unseen else []
        marked.append(pytest.param(mutant, marks=marks, id=mutant.name))
    return marked


def test_there_are_enough_mutants():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 80
    long = [m for m in MUTANTS if frames(m.witness(config_for(m.profile)), connects=False) >= 5]
    assert len(long) >= 15


def test_mutants_name_requirements_that_exist():
    for mutant in MUTANTS:
        assert mutant.blames <= STOMP.requirements.keys(), mutant.name
        assert mutant.profile in STOMP.requirements[mutant.requirement].profiles, mutant.name
    for mutant in LINK_MUTANTS:
        assert mutant.blames <= STOMP.requirements.keys(), mutant.name


def test_every_mutant_is_explained_in_one_sentence():
    for mutant in MUTANTS:
        assert mutant.why.endswith("."), mutant.name
        assert len(mutant.why) < 160, mutant.name


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_witness_passes_on_the_reference(mutant):
    config = config_for(mutant.profile)
    judgement = judged(mutant.witness(config), config, MemoryTransport(Server))
    assert judgement.verdict == "pass", judgement
    assert judgement.faults == ()


@pytest.mark.parametrize("mutant", by_name(MUTANTS))
def test_witness_shows_the_fault(mutant):
    config = config_for(mutant.profile)
    plan = mutant.witness(config)
    judgement = judged(plan, config, MemoryTransport(mutant.make))
    for feature in STOMP.features:
        if feature.requirement == mutant.requirement and not shows(judgement, mutant.blames, mutant.level):
            without = plan if feature.without is None else feature.without(plan)
            if without != plan:
                assert judgement.faults, judgement
                assert judged(without, config, MemoryTransport(mutant.make)).faults == ()
                return
    assert shows(judgement, mutant.blames, mutant.level), judgement


@pytest.mark.parametrize("mutant", [m for m in MUTANTS if not m.unseen and m.name not in UNMINIMISED], ids=str)
def test_witness_is_as_short_as_can_be(mutant):
    config = config_for(mutant.profile)
    plan = mutant.witness(config)
    for at, step in enumerate(plan.steps):
        if not isinstance(step, (Say, SendBytes, Close)) or (isinstance(step, Say) and step.frame.command in CONNECTS):
            continue
        shorter = replace(plan, steps=plan.steps[:at] + plan.steps[at + 1 :])
        judgement = judged(shorter, config, MemoryTransport(mutant.make))
        assert not shows(judgement, mutant.blames, mutant.level), step


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_mutant_is_right_in_everything_else(mutant):
    config = config_for(mutant.profile)
    judgement = judged(STOMP.smoke(config), config, MemoryTransport(mutant.make))
    assert (judgement.verdict == "pass" and judgement.faults == ()) == mutant.smoke, judgement


def drawn(chance, head):
    ops = [Op(chance.choice(list(sessions.EVEN)), tuple(chance.randbytes(5))) for _ in range(12)]
    return Program(tuple(chance.randbytes(head)), tuple(ops))


def test_mutants_bear_any_conversation():
    chance, config = random.Random(1), config_for()
    legal = [sessions.interpret(drawn(chance, sessions.HEAD), config) for _ in range(3)]
    wrong = [misuse.interpret(drawn(chance, sessions.HEAD + 4), config, hurry=True) for _ in range(3)]
    for mutant in MUTANTS:
        for plan in (*legal, *wrong):
            judged(plan, config, MemoryTransport(mutant.make))


@pytest.mark.parametrize("mutant", by_name(LINK_MUTANTS))
def test_fault_of_the_link_is_blamed(mutant):
    config = config_for()
    plan = mutant.witness(config)
    assert judged(plan, config, MemoryTransport(Server)).faults == ()
    for make in (Server, lambda: Server(extra_beats=True, trailing_eols="several", line_end="crlf", message_id="odd")):
        judgement = judged(plan, config, mutant.wrap(MemoryTransport(make), config))
        if mutant.blames:
            assert shows(judgement, mutant.blames, mutant.level), judgement
        else:
            assert judgement.verdict == "pass", judgement
            assert judgement.faults == ()
