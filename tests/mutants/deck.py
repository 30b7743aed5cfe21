"""Add to the opening decks what shows the seeded faults that they do not show yet.

    python -m tests.mutants.deck [PROTOCOL ...]

`python -m suites.deck` makes a deck anew, with what judges every requirement and nothing else; here cards are added.

A program that shows many faults is worth playing early, above all where a conversation takes long: a process that has
to be started for each one holds some dozens in ten seconds. Which faults are seeded decides only the order in which
programs are played; each of them was drawn as every hunt draws.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from impls.launching.manifest import Implementation, resolve
from specs.plan import Wait
from specs.protocol import names
from suites.cards import Card, load, path_of
from suites.deck import judged_by, opened, written
from suites.hunt import Hunter
from suites.properties import properties
from suites.pursuit import Property
from tests.mutants.every import of_protocol
from tests.mutants.hunted import hunter_for

ROUNDS, EACH = 4, 6
"""How often programs are drawn, and how many of each property at a time."""
SEARCH_S = 6.0
"""How long a program is looked for that shows one fault which no other program of the deck shows."""
REST_MS = 250
"""Programs that wait for longer are no cards: all of a deck is played in a short run."""


class Victim:
    """A seeded fault that programs are tried on."""

    def __init__(self, mutant: Any) -> None:
        self.mutant = mutant
        self.hunter = hunter_for(mutant, lambda fault: None)

    def shown_by(self, prop: Property, card: Card) -> bool:
        """True when the program is judged to show it, under a name that is right."""
        plan = prop.plan(card.program, self.hunter.setting.config)
        if sum(step.ms for step in plan.steps if isinstance(step, Wait)) > REST_MS:
            return False
        recording = self.hunter.play(plan)
        return any(name in self.mutant.blames for name, _, _ in self.hunter.blamed(recording))


def sought(victim: Victim, known: Mapping[str, Property]) -> Card | None:
    """A program that shows the fault, of any property; None when there is none within the time."""
    until = time.monotonic() + SEARCH_S
    draws = {key: victim.hunter.pursuit(prop).draws for key, prop in known.items()}
    while True:
        for key, prop in known.items():
            card = Card(key, next(draws[key]), frozenset())
            if victim.shown_by(prop, card):
                return card
            if time.monotonic() > until:
                return None


def killers(impl: Implementation, cards: Iterable[Card], mutants: Iterable[Any], hunter: Hunter) -> list[Card]:
    """Programs that show faults which `cards` do not: each time the one that shows most, the shortest first."""
    known = {prop.key: prop for prop, _ in properties(impl.protocol, impl.role)}
    victims = [Victim(mutant) for mutant in mutants if not mutant.unseen]
    left = [v for v in victims if not any(v.shown_by(known[card.key], card) for card in cards)]
    told = f"  {impl.role} {impl.profile}: {len(victims) - len(left)} of {len(victims)} faults are shown by the deck"
    chosen: list[Card] = []
    draws = {key: hunter.pursuit(prop).draws for key, prop in known.items()}
    for _ in range(ROUNDS):
        drawn = [Card(key, next(draws[key]), frozenset()) for key in draws for _ in range(EACH)]
        drawn.sort(key=lambda card: len(card.program.ops))
        shows = {card: {v for v in left if v.shown_by(known[card.key], card)} for card in dict.fromkeys(drawn)}
        while shows:
            best = max(shows, key=lambda card: len(shows[card] & set(left)))
            if not shows[best] & set(left):
                break
            chosen.append(best)
            left = [v for v in left if v not in shows[best]]
    for victim in tuple(left):
        card = next((card for card in chosen if victim.shown_by(known[card.key], card)), None) or sought(victim, known)
        if card is not None:
            left.remove(victim)
            chosen += [] if card in chosen else [card]
    sys.stdout.write(f"{told}, {len(chosen)} more programs leave {len(left)}\n")
    sys.stdout.flush()
    return [Card(c.key, c.program, judged_by(hunter, known[c.key], c.program)) for c in chosen]


def whole(impl: Implementation, mutants: Iterable[Any], folder: Path) -> list[Card]:
    """The deck of one reference, and what is added to it."""
    cards = load(impl.protocol, impl.role, impl.profile)
    session = opened(impl, folder)
    cards += killers(impl, cards, mutants, session.hunter())
    session.close()
    return cards


def main(arguments: Sequence[str] | None = None) -> int:
    """Add to the decks of some protocols, or of all."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.deck", description=__doc__.splitlines()[0])
    parser.add_argument("protocols", nargs="*", help=f"of {', '.join(names())}; all when left out")
    asked = parser.parse_args(arguments).protocols or list(names())
    for impl in (each for each in resolve("reference") if each.protocol in asked):
        mutants = [mutant for mutant in of_protocol(impl.protocol) if mutant.role == impl.role]
        path = path_of(impl.protocol, impl.role)
        stored = json.loads(path.read_text("utf-8")) if path.exists() else {}
        decks = {profile: load(impl.protocol, impl.role, profile) for profile in stored}
        with tempfile.TemporaryDirectory() as folder:
            decks[impl.profile] = whole(impl, mutants, Path(folder))
        path.write_text(written(decks), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
