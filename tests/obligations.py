"""What is true of every rulebook, whatever the protocol: the checks that keep a green earned.

`cases()` are the (protocol, role) pairs whose specification hands out rulebooks. `Shown` gathers what conversations
with the references and with the seeded faults have shown of them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

from hypothesis import given, seed

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.launching.manifest import Implementation, resolve
from specs import protocol as protocols
from specs.protocol import Protocol, find
from specs.recorded import hurried
from suites.calibration import Calibration
from suites.session import MEMORY_MS
from suites.started import _factory
from suites.trace import plan_to_json
from tests.drawing import quick
from tests.mutants.hunted import ALL, facts_of
from tests.properties import properties

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES, TURNS = 8, 2
"""Programs of each property that a reference is played with, and how often so many, where the first did not do."""


def cases() -> Iterator[tuple[str, str]]:
    """Every (protocol, role) whose rules are in rulebooks."""
    for name in protocols.names():
        yield from ((name, role) for role in find(name).books)


def judgeable(protocol: Protocol, role: str) -> set[str]:
    """The requirements that a conversation with this role can show."""
    return {r.id for r in protocol.requirements.values() if role in r.roles and not r.untestable}


def blamable(protocol: Protocol, role: str) -> set[str]:
    """What can be blamed: by a rule, a way of writing that must not matter, or a death."""
    found = {name for book in protocol.books[role] for name in book.blamable()}
    return found | {f.requirement for f in protocol.features} | {protocol.crash}


def permitted(protocol: Protocol, role: str) -> set[str]:
    """Permissions of which it is seen that use is made."""
    return {name for book in protocol.books[role] for name in book.permitted()}


def mutants(name: str, role: str) -> list[Any]:
    """The faults that are seeded into a role."""
    return [mutant for mutant in ALL if (mutant.protocol, mutant.role) == (name, role)]


@cache
def exceptions(kind: str) -> dict[str, str]:
    """Requirements excused from a check, with the reason: tests/exceptions.toml."""
    table = tomllib.loads((ROOT / "tests" / "exceptions.toml").read_text("utf-8"))
    return dict(table.get(kind, {}))


@dataclass
class Shown:
    """What conversations have shown: requirements credited and blamed, and cells of machines that were asked for."""

    covered: set[str] = field(default_factory=set)
    blamed: set[str] = field(default_factory=set)
    cells: set[tuple[Any, str]] = field(default_factory=set)
    plans: int = 0


@cache
def on_references(name: str, role: str) -> Shown:
    """What playing every property of a role with its references shows, in both disciplines. Once more with other
    programs, where these did not show all that they can."""
    protocol, shown = find(name), Shown()
    rare = [each for each in exceptions("never_credited") if fnmatchcase(role, each.partition(" ")[0])]
    wanted = seeded(name, role) - on_mutants(name, role).covered - {each.partition(" ")[2] for each in rare}
    impls = [each for each in resolve("reference") if (each.protocol, each.role) == (name, role)]
    settings = [(impl, _met(impl, protocol)) for impl in impls]
    with _watching(protocol, shown):
        for turn in range(TURNS):
            for _, setting in settings:
                for prop, _ in properties(name, role):
                    _play(prop, setting, crc32(prop.key.encode()) + turn, shown)  # whatever other properties there are
            for impl, setting in settings if turn == 0 else ():
                _witness(impl, setting, shown)
            if shown.covered >= wanted:
                break
    return shown


def seeded(name: str, role: str) -> set[str]:
    """What the faults that are seeded into a role break, but for what no conversation is credited with by itself."""
    protocol = find(name)
    own = {mutant.requirement for mutant in mutants(name, role)} & judgeable(protocol, role)
    return own - {f.requirement for f in protocol.features} - {protocol.crash}


def _witness(impl: Implementation, setting: Setting, shown: Shown) -> None:
    """The shortest plans of the faults that are seeded into this reference, with the reference itself."""
    for mutant in mutants(impl.protocol, impl.role):
        if mutant.profile == impl.profile:
            shown.plans += 1
            judgement = drive(mutant.witness(setting.config), setting, f"w{shown.plans}-").judgement
            shown.covered |= judgement.covered.keys()
            shown.blamed |= {fault.breach.requirement for fault in judgement.faults}


def _met(impl: Implementation, protocol: Protocol) -> Setting:
    return _meeting(impl, protocol).setting()


def _meeting(impl: Implementation, protocol: Protocol) -> Calibration:
    meeting = Calibration(impl, protocol, MemoryTransport(_factory(impl)), MEMORY_MS)
    meeting.meet()
    return meeting


@cache
def _learnt(name: str, role: str, profile: str) -> Mapping[str, Any]:
    """What the text leaves to the reference of a profile, and so to what is made of it."""
    mine = [each for each in resolve("reference") if (each.protocol, each.role) == (name, role)]
    impl = next((each for each in mine if each.profile == profile), mine[0])
    return _meeting(impl, find(name)).learnt


def _play(prop: Any, setting: Setting, number: int, shown: Shown) -> None:
    @quick(EXAMPLES)
    @seed(number)
    @given(prop.programs)
    def go(program: Any) -> None:
        shown.plans += 1
        judgement = drive(prop.plan(program, setting.config), setting, f"o{shown.plans}-").judgement
        shown.covered |= judgement.covered.keys()
        shown.blamed |= {fault.breach.requirement for fault in judgement.faults}

    go()


@cache
def on_mutants(name: str, role: str) -> Shown:
    """What the shortest plan of every seeded fault shows."""
    protocol, shown = find(name), Shown()
    with _watching(protocol, shown):
        for mutant in mutants(name, role):
            setting = Setting(protocol, _config(mutant), role, MemoryTransport(mutant.make))
            plan = mutant.witness(setting.config)
            if hurried(plan_to_json(plan, protocol)) and protocol.turns:
                continue  # judged in several readings at once: which cells they ask for says little
            shown.plans += 1
            judgement = drive(plan, setting, f"m{shown.plans}-").judgement
            shown.covered |= judgement.covered.keys()
            shown.blamed |= {fault.breach.requirement for fault in judgement.faults}
    return shown


def _config(mutant: Any) -> Any:
    """That of a mutant, or of the reference where it has none: to ask each of hundreds would take most of a minute."""
    if (own := getattr(mutant, "config", None)) is not None:
        return own
    learnt = _learnt(mutant.protocol, mutant.role, mutant.profile)
    return find(mutant.protocol).configure(mutant.role, mutant.profile, facts_of(mutant), learnt)


class _watching:
    """Takes down which cells of a protocol's machines are asked for."""

    def __init__(self, protocol: Protocol, shown: Shown) -> None:
        self._machines, self._shown = list(protocol.machines.values()), shown

    def __enter__(self) -> None:
        self._watched = [machine.watch() for machine in self._machines]

    def __exit__(self, *error: object) -> None:
        for machine, seen in zip(self._machines, self._watched, strict=True):
            self._shown.cells |= seen
            machine.asked = None
