"""The miniature protocol runs through the core as it is, in both roles, in lock-step and pipelined."""

from __future__ import annotations

import ast
import json
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from echo import play, setting
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from impls.driver.drive import drive
from impls.driver.link import MemoryTransport
from specs.events import Closed, Noise, Said
from specs.machine import Never
from specs.model import ANYTHING, Breach
from specs.plan import Plan, Ref, Say, SendBytes

ROOT = Path(__file__).resolve().parent.parent
ROLES = ("server", "client")


def test_roles_name_each_other(house):
    roles = house.protocol.roles
    assert {roles[roles[role]] for role in roles} == set(roles)


def _events(house):
    """An event for each action of the machine."""
    said = {
        word: Said(0, by, house.frames.Line(word, "a" if word in ("PUT", "DONE") else ""))
        for word, by in house.machine.ACTORS.items()
        if word.isupper()
    }
    noise = {f"{role} noise": Noise(0, role, b"?", "no-line") for role in ROLES}
    return said | noise | {f"{role} ends": Closed(0, role) for role in ROLES}


def test_every_cell_of_the_machine_is_what_the_model_does(house):
    """From each phase that can be come to, each action leads where the table says, or blames what it says."""
    model, machine, events = house.protocol.model, house.machine.MACHINE, _events(house)
    closed = {(phase, action) for phase, action, _ in machine.unreachable_cells()}
    seen = machine.watch()
    start = model.initial(house.protocol.configure("server", "1", {"puts": 3}, {}))
    todo, known = [start], set()
    while todo:
        state = todo.pop()
        phase = state.conn(0).phase
        if phase in known:
            continue
        known.add(phase)
        for action, event in events.items():
            if (phase, action) in closed:
                continue
            (outcome,) = model.step(state, event)
            if isinstance(outcome, Breach):
                cell = machine.at(phase, action)
                named = isinstance(cell, Never) and outcome.requirement in cell.requirements
                assert named or outcome.kind not in (f"{action} in {phase.name}", ""), (phase, action, outcome)
                after = outcome.then
            else:
                after = outcome.state
            if after is not ANYTHING:
                todo.append(after)
    assert known == set(machine.phases), "a phase that nothing leads to"
    assert {(phase, action) for phase, action, _ in machine.cells()} - closed <= seen


@pytest.mark.parametrize("role", ROLES)
def test_what_binds_a_role_can_be_blamed_and_nothing_else(house, role):
    (book,) = house.protocol.books[role]
    assert book.blamable() == {r.id for r in house.protocol.requirements.binding(role, "1")}


@pytest.mark.parametrize("hurry", [False, True], ids=["lock-step", "pipelined"])
@pytest.mark.parametrize("role", ROLES)
def test_reference_keeps_to_the_text(house, role, hurry):
    @settings(max_examples=300, deadline=None, database=None)
    @given(program=house.plans.sessions(), seed=st.integers(0, 10_000))
    def keeps(program, seed):
        make = getattr(house.reference, role)
        played = play(house, role, lambda: make(seed), program, hurry=hurry)
        assert (played.judgement.verdict, played.judgement.why, played.judgement.faults) == ("pass", "", ())

    keeps()


@pytest.mark.parametrize("role", ROLES)
def test_every_requirement_of_a_role_is_covered_on_the_reference(house, role):
    covered: set[str] = set()
    make = getattr(house.reference, role)

    @settings(max_examples=200, deadline=None, database=None, derandomize=True)
    @given(program=house.plans.sessions())
    def gather(program):
        covered.update(play(house, role, make, program).judgement.covered)

    gather()
    assert {r.id for r in house.protocol.requirements.binding(role, "1")} <= covered


def _hunt(house, role, mutant, hurry):
    """The first recording that blames the mutant."""
    extra = (3,) if role == "client" else ()
    found = []

    def blamed(program):
        played = play(house, role, lambda: house.reference.Host(mutant, 1, *extra), program, hurry=hurry)
        if played.judgement.verdict == "fail":
            found.append(played)
        return played.judgement.verdict == "fail"

    limits = settings(max_examples=400, deadline=None, database=None, phases=[Phase.generate])
    try:
        find(house.plans.sessions(), blamed, settings=limits, random=random.Random(0))
    except NoSuchExample:
        return None
    return found[0]


def _mutants():
    """(role, class name): read without importing, because the folder joins the house only inside the fixture."""
    text = (Path(__file__).parent / "echo" / "impls" / "references" / "echo" / "mutants.py").read_text()
    for role, table in (("server", "SERVERS"), ("client", "CLIENTS")):
        for node in ast.parse(text).body:
            if isinstance(node, ast.AnnAssign) and node.target.id == table:
                yield from ((role, key.id) for key in node.value.keys)


@pytest.mark.parametrize(("role", "name"), list(_mutants()))
def test_mutant_is_killed_in_lock_step_for_what_it_breaks(house, role, name):
    mutant = getattr(house.mutants, name)
    wanted = (house.mutants.SERVERS | house.mutants.CLIENTS)[mutant]
    played = _hunt(house, role, mutant, hurry=False)
    assert played is not None, "it survived"
    assert [blame.breach.requirement for blame in played.judgement.blamed] == [wanted], played.events


def test_every_requirement_is_broken_by_some_mutant(house):
    for role, mutants in (("server", house.mutants.SERVERS), ("client", house.mutants.CLIENTS)):
        bound = {requirement.id for requirement in house.protocol.requirements.binding(role, "1")}
        assert bound == set(mutants.values())


def test_smoke_plan_gets_an_answer(house):
    for role, answer in (("server", "WELCOME"), ("client", "PUT")):
        where = setting(house, role, getattr(house.reference, role))
        played = drive(house.protocol.smoke(where.config), where, "q")
        assert any(
            isinstance(event, Said) and (event.by, event.frame.word) == (role, answer) for event in played.events
        )


@pytest.mark.parametrize("name", ["", "abc", Ref("put", (0, 3)), Ref("name", "again")], ids=str)
def test_frames_survive_json(house, name):
    protocol = house.protocol
    frame = house.frames.Line("PUT", name)
    assert protocol.from_json(json.loads(json.dumps(protocol.to_json(frame)))) == frame


def test_tester_that_is_no_line_is_no_excuse_for_the_peer(house):
    """The text says what follows what is no line, so judging goes on although it was our own side."""
    plan = Plan((Say(0, house.frames.Line("HELLO")), SendBytes(0, b"NO\n")))
    kept = drive(plan, setting(house, "server", house.reference.server), "q").judgement
    assert kept.verdict == "pass"
    assert kept.covered["ECHO-LINE-02"] == 1
    where = setting(house, "server", lambda: house.reference.Host(house.mutants.Unmoved))
    broken = drive(plan, where, "q").judgement
    assert [blame.breach.requirement for blame in broken.blamed] == ["ECHO-LINE-02"]


def test_judging_goes_on_behind_a_fault_that_is_known(house):
    """Who answers no PUT hides that it does not close either, until the missing answers are known."""

    class Silent(house.mutants.ServerEnd):
        def put(self, name):
            pass

        def end(self):
            pass

    say = [Say(0, house.frames.Line(word, name)) for word, name in (("HELLO", ""), ("PUT", "a"), ("BYE", ""))]
    where = setting(house, "server", lambda: house.reference.Host(Silent))
    (first,) = drive(Plan(tuple(say)), where, "q").judgement.blamed
    assert first.breach.requirement == "ECHO-PUT-01"
    known = replace(where, set_aside=frozenset({first.breach.fingerprint, first.breach.duty}))
    behind = drive(Plan(tuple(say)), known, "q").judgement
    assert [blame.breach.requirement for blame in behind.blamed] == ["ECHO-BYE-02"]


def test_memory_ground_restarts_the_peer(house):
    transport = MemoryTransport(house.reference.server)
    before = transport.open()
    before.send(b"HELLO\n")
    transport.restart()
    after = transport.open()
    assert (before.take(), after.take()) == (b"WELCOME\n", b"")


# -- the recipe ----------------------------------------------------------------------------------------------------


def _recipe() -> str:
    return (ROOT / "docs" / "add-a-protocol.md").read_text()


def test_every_file_that_the_recipe_names_exists():
    named = set(re.findall(r"`([\w./-]+/[\w.-]+\.(?:py|toml|md))`", _recipe()))
    assert len(named) > 10
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_the_recipe_names_every_file_of_the_miniature():
    files = {
        str(path.relative_to(ROOT)) for path in (ROOT / "tests" / "echo").rglob("*") if path.suffix in (".py", ".toml")
    }
    inits = {name for name in files if name.endswith("/echo/__init__.py") and "/strategies/" not in name}
    assert [name for name in sorted(files - inits) if f"`{name}`" not in _recipe()] == []


def test_the_recipe_lists_every_requirement(house):
    assert [name for name in house.protocol.requirements if name not in _recipe()] == []
