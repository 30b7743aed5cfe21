"""A green is earned: what is credited can be blamed, what can be tested can be broken, and has been."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest

from specs.protocol import find
from suites.explain import places
from tests.obligations import (
    blamable,
    cases,
    exceptions,
    judgeable,
    mutants,
    on_mutants,
    on_references,
    permitted,
    seeded,
)

CASES = list(cases())
NAMES = sorted({name for name, _ in CASES})
each_role = pytest.mark.parametrize(("name", "role"), CASES, ids=str)


def excused(kind: str, found: set[str], known: set[str]) -> set[str]:
    """`found` without what an entry of tests/exceptions.toml excuses; a `*` in an entry stands for any text. A stale
    entry, which is about something in `known` and excuses nothing, fails."""
    listed = exceptions(kind)
    stale = {entry for entry in listed if filter_(known, entry) and not filter_(found, entry)}
    assert not stale, f"tests/exceptions.toml, {kind}: no longer needed: {sorted(stale)}"
    assert all(len(reason) > 20 for reason in listed.values()), f"{kind}: each exception has a reason"
    return {name for name in found if not any(fnmatchcase(name, entry) for entry in listed)}


def filter_(names: set[str], entry: str) -> list[str]:
    """The names that an entry is about."""
    return [name for name in names if fnmatchcase(name, entry)]


@each_role
def test_every_testable_requirement_can_be_blamed(name, role):
    protocol = find(name)
    rows = judgeable(protocol, role)
    missing = rows - blamable(protocol, role) - permitted(protocol, role)
    assert sorted(excused("not_blamable", missing, rows)) == []


@each_role
def test_what_is_only_permitted_cannot_be_blamed(name, role):
    protocol = find(name)
    assert sorted(permitted(protocol, role) & blamable(protocol, role)) == []


@each_role
def test_rules_are_about_testable_requirements_of_their_role(name, role):
    protocol = find(name)
    named = {n for book in protocol.books[role] for n in book.blamable() | book.permitted()}
    untestable = {n for n in named if protocol.requirements[n].untestable}
    assert sorted(untestable) == [], "declared untestable, and judged"


@each_role
def test_what_is_credited_on_the_references_can_be_blamed(name, role):
    protocol, shown = find(name), on_references(name, role)
    mine = {r.id for r in protocol.requirements.values() if role in r.roles}
    assert shown.plans > 0
    assert sorted((shown.covered & mine) - blamable(protocol, role) - permitted(protocol, role)) == []


@each_role
def test_references_are_blamed_for_nothing(name, role):
    assert sorted(on_references(name, role).blamed) == []


@each_role
def test_what_is_blamed_on_a_fault_is_credited_on_a_reference(name, role):
    """A requirement that is blamed when it is broken is also seen to be kept."""
    own = seeded(name, role)
    credited = on_references(name, role).covered | on_mutants(name, role).covered
    missing = {f"{role} {requirement}" for requirement in own - credited}
    assert sorted(excused("never_credited", missing, {f"{role} {requirement}" for requirement in own})) == []


@each_role
def test_every_requirement_is_broken_by_a_mutant_of_its_own(name, role):
    protocol = find(name)
    rows = judgeable(protocol, role) - permitted(protocol, role)
    own = {mutant.requirement for each in protocol.books for mutant in mutants(name, each)}
    assert sorted(excused("no_mutant", rows - own, rows)) == []


@each_role
def test_mutants_break_their_requirement_at_its_level(name, role):
    protocol = find(name)
    other = {
        mutant.name: (mutant.requirement, mutant.level)
        for mutant in mutants(name, role)
        if mutant.level != protocol.requirements[mutant.requirement].level and mutant.level in ("MUST", "SHOULD")
    }
    by_id = {requirement for requirement, _ in other.values()}
    assert sorted(excused("other_level", by_id, by_id)) == [], other


@pytest.mark.parametrize("name", NAMES)
def test_every_cell_is_reached_or_says_why_not(name):
    protocol = find(name)
    seen = {
        cell for role in protocol.books for shown in (on_references, on_mutants) for cell in shown(name, role).cells
    }
    every, closed = set(), set()
    for title, machine in protocol.machines.items():
        every |= {(phase, action, title) for phase, action, _ in machine.cells()}
        closed |= {(phase, action) for phase, action, _ in machine.unreachable_cells()}
    missing = {
        f"{name} {title} {phase.name} {action}"
        for phase, action, title in every
        if (phase, action) not in seen and (phase, action) not in closed
    }
    known = {f"{name} {title} {phase.name} {action}" for phase, action, title in every}
    assert sorted(excused("unreached", missing, known)) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_printed_id_is_found_in_one_step(name):
    protocol, where = find(name), places(name)
    rules = {n for books in protocol.books.values() for book in books for n in book.blamable() | book.permitted()}
    assert sorted(rules - where.keys()) == [], "an id is put together from parts"
    bound = {n: max(1, len(set(protocol.requirements[n].roles) & set(protocol.books))) for n in rules}
    several = {n: found for n, found in where.items() if n in rules and len(found) > bound[n]}  # once for each role
    assert excused("several_places", set(several), rules) == set(), several


@pytest.mark.parametrize("name", NAMES)
def test_every_rule_has_a_sentence_and_a_clause(name):
    books = {book for books in find(name).books.values() for book in books}
    rules = [rule for book in books for rule in (*book.rules, *book.duties)]
    bare = sorted({rule.body.__name__ for rule in rules if not rule.excuses and not (rule.body.__doc__ or "").strip()})
    assert excused("no_clause", set(bare), set(bare)) == set()
