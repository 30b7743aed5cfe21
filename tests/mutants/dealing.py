"""Which programs must an opening deck have besides, so that it shows the seeded faults?

    python -m tests.mutants.dealing --protocol msgpack,pulsar --role server,broker

What `suites.deck` makes judges every requirement once, with the shortest programs; a fault that is met by few programs
is not met by these. Here each seeded fault of a role is asked, in memory, by the cards of its deck, and those that none
shows by programs that are drawn, until one does. That one becomes a card. Run it after `suites.deck`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from impls.launching.manifest import resolve
from specs.plan import Wait
from specs.protocol import find
from strategies.common import Program, simpler
from suites.cards import Card, load, path_of
from suites.deck import judged_by, opened, written
from suites.draws import Draws
from suites.hunt import Hunter
from suites.pursuit import Property
from tests.mutants.every import ALL, key_of
from tests.mutants.hunted import hunter_for
from tests.properties import properties

DRAWN, DRAWN_S = 60, 8.0
"""Programs of each property that are tried with a fault that no card shows, and for how many seconds."""
REST_MS = 250
"""Programs that wait for longer are no cards: all of a deck is played in a short run."""
SIMPLER = 40
"""Simpler programs that are tried in place of one that shows a fault."""


@dataclass
class Bench:
    """One seeded fault that is asked."""

    mutant: Any

    def __post_init__(self) -> None:
        self.hunter = hunter_for(self.mutant, lambda fault: None)
        features = {feature.requirement for feature in find(self.mutant.protocol).features}
        self.any = self.mutant.requirement in features  # what is blamed is known when the plan is shortened

    def shows(self, prop: Property, program: Program) -> bool:
        """True when this program shows the fault."""
        plan = prop.plan(program, self.hunter.setting.config)
        if sum(step.ms for step in plan.steps if isinstance(step, Wait)) > REST_MS:
            return False
        blamed = self.hunter.blamed(self.hunter.play(plan))
        return any(self.any or name in self.mutant.blames for name, _, _ in blamed)


def drawn(props: Sequence[Property], seed: int) -> Iterator[tuple[Property, Program]]:
    """Programs of all properties in turn."""
    draws = [Draws(prop.programs, f"{prop.name} {prop.hurry} deal", run_seed=seed, deals=prop.deals) for prop in props]
    for _ in range(DRAWN):
        for prop, each in zip(props, draws, strict=True):
            yield prop, next(each)


def found(bench: Bench, props: Sequence[Property], seed: int) -> tuple[Property, Program] | None:
    """A program that shows the fault, as simple as it can be made with little effort."""
    until = time.monotonic() + DRAWN_S
    for prop, program in drawn(props, seed):
        if time.monotonic() > until:
            return None
        if bench.shows(prop, program) and Bench(bench.mutant).shows(prop, program):
            return prop, plainer(bench.mutant, prop, program)
    return None


def plainer(mutant: Any, prop: Property, program: Program) -> Program:
    """Fewer ops that show the fault as well, to a program that has just been started."""
    left = SIMPLER
    while left > 0:
        for other in simpler(program):
            left -= 1
            if left < 0:
                break
            if len(other.ops) < len(program.ops) and Bench(mutant).shows(prop, other):
                program = other
                break
        else:
            return program
    return program


def dealt(mutants: Sequence[Any], sound: Hunter, seed: int, keep: Callable[[Card], None]) -> list[str]:
    """Have the cards kept that must be added for these faults of one role and profile; those that nothing showed."""
    first = mutants[0]
    props = [prop for prop, _ in properties(first.protocol, first.role)]
    known = {prop.key: prop for prop in props}
    deck = load(first.protocol, first.role, first.profile)
    added: list[Card] = []
    missed: list[str] = []
    for mutant in mutants:
        bench = Bench(mutant)
        if any(bench.shows(known[card.key], card.program) for card in (*deck, *added)):
            continue
        show = found(Bench(mutant), props, seed)
        if show is None:
            missed.append(key_of(mutant))
        else:
            added.append(Card(show[0].key, show[1], judged_by(sound, *show)))
            keep(added[-1])
        sys.stdout.write(f"{key_of(mutant)}: {'nothing shows it' if show is None else show[0].key}\n")
        sys.stdout.flush()
    return missed


def _keep(path: Path, profile: str, card: Card) -> None:
    """Add a card to a stored deck."""
    protocol, role = path.parent.name, path.stem.removeprefix("deck-")
    decks = {name: load(protocol, role, name) for name in json.loads(path.read_text("utf-8"))}
    decks[profile].append(card)
    path.write_text(written(decks), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Add to the decks of some roles."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.dealing", description=__doc__.splitlines()[0])
    parser.add_argument("--protocol", required=True, metavar="NAMES")
    parser.add_argument("--role", default="", metavar="NAMES")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    groups: dict[tuple[str, str, str], list[Any]] = {}
    for mutant in ALL:
        if mutant.protocol in asked.protocol.split(",") and (not asked.role or mutant.role in asked.role.split(",")):
            groups.setdefault((mutant.protocol, mutant.role, mutant.profile), []).append(mutant)
    for group, mutants in groups.items():
        protocol, role, profile = group
        path = path_of(protocol, role)
        if profile not in json.loads(path.read_text("utf-8")):
            continue
        impl = next(each for each in resolve("reference") if (each.protocol, each.role, each.profile) == group)
        with tempfile.TemporaryDirectory() as folder:
            session = opened(impl, Path(folder))
            missed = dealt(mutants, session.hunter(), asked.seed, partial(_keep, path, profile))
            session.close()
        sys.stdout.write(f"{protocol} {role} {profile}: not shown: {' '.join(missed) or '-'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
