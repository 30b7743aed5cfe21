"""Add to the opening decks what shows the seeded faults that they do not show yet.

    python -m tests.mutants.deck [--most N] [--order] [PROTOCOL[/ROLE] ...]

`python -m suites.deck` makes a deck anew, with what judges every requirement and nothing else; here cards are added.

A program that shows many faults is worth playing early, above all where a conversation takes long: a process that has
to be started for each one holds some dozens in ten seconds. Which faults are seeded decides only the order in which
programs are played; each of them was drawn as every hunt draws. With `--order` it is tried on all faults what each card
shows, and the deck is put into that order: else it is known only of cards that are added, for faults that no other
shows.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from impls.launching.manifest import Implementation, resolve
from specs.plan import Wait
from specs.protocol import names
from suites.cards import Card, path_of, stored
from suites.deck import judged_by, opened, ordered, price, written
from suites.hunt import Hunter
from suites.properties import properties
from suites.pursuit import Property
from tests.mutants.every import of_protocol
from tests.mutants.hunted import hunter_for

TURNS = 6
"""How many programs of each property are tried until one shows a fault, times the weight of the property."""
REST_MS = 250
"""Programs that wait for longer are no cards: all of a deck is played in a short run."""
MOST = 40
"""Programs that are added to a deck at most, so that a short run draws others too."""

Known = Mapping[str, tuple[Property, float]]


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

    @property
    def name(self) -> str:
        """What cards call it."""
        return str(self.mutant.name)


def turns(known: Known) -> Iterator[tuple[str, Property]]:
    """The properties in turns by their weights, each TURNS times its weight."""
    had = dict.fromkeys(known, 0.0)
    while had:
        key = min(had, key=lambda each: had[each])
        prop, weight = known[key]
        had[key] += 1 / weight
        if had[key] > TURNS:
            del had[key]
        else:
            yield key, prop


def sought(victim: Victim, known: Known) -> Card | None:
    """The first program that shows the fault, as a hunt would draw it; None when none of the first does."""
    draws = {key: victim.hunter.pursuit(prop).draws for key, (prop, _) in known.items()}
    for key, prop in turns(known):
        card = Card(key, next(draws[key]), frozenset())
        if victim.shown_by(prop, card):
            return card
    return None


def unshown(known: Known, cards: Iterable[Card], mutants: Iterable[Any]) -> list[Any]:
    """The faults that no card shows. Each is played with a program of its own, which is forgotten behind it."""
    deck, left = tuple(cards), []
    for mutant in mutants:
        victim = Victim(mutant)
        if not any(victim.shown_by(known[card.key][0], card) for card in deck):
            left.append(mutant)
    return left


def showing(known: Known, cards: Iterable[Card], mutants: Iterable[Any]) -> list[Card]:
    """The cards with all faults that each of them shows."""
    deck = list(cards)
    shown: list[set[str]] = [set() for _ in deck]
    for victim in map(Victim, mutants):
        for card, told in zip(deck, shown, strict=True):
            if victim.shown_by(known[card.key][0], card):
                told.add(victim.name)
    return [replace(card, shows=frozenset(told)) for card, told in zip(deck, shown, strict=True)]


def killers(known: Known, left: Iterable[Any], most: int) -> tuple[list[Card], int]:
    """Programs that show these faults, those that show most of them first, and how many faults are left."""
    victims, found = [Victim(mutant) for mutant in left], list[Card]()
    for victim in victims:
        if not any(victim.shown_by(known[card.key][0], card) for card in found):
            card = sought(victim, known)
            found += [] if card is None else [card]
    shows = {card: {v for v in victims if v.shown_by(known[card.key][0], card)} for card in dict.fromkeys(found)}
    chosen, open_ = list[Card](), set(victims)
    while shows and len(chosen) < most:
        best = max(shows, key=lambda card: (len(shows[card] & open_), -len(card.program.ops)))
        if not shows[best] & open_:
            break
        chosen.append(replace(best, shows=frozenset(victim.name for victim in shows[best])))
        open_ -= shows.pop(best)
    return chosen, len(open_)


def more(impl: Implementation, cards: Sequence[Card], mutants: Iterable[Any], hunter: Hunter, most: int) -> list[Card]:
    """What is added to the deck of one reference."""
    known = {prop.key: (prop, weight) for prop, weight in properties(impl.protocol, impl.role)}
    victims = [mutant for mutant in mutants if not mutant.unseen]
    left = unshown(known, cards, victims)
    chosen, open_ = killers(known, left, most)
    sys.stdout.write(
        f"{impl.protocol} {impl.role} {impl.profile}: {len(victims) - len(left)} of {len(victims)} faults are shown by "
        f"{len(cards)} programs, {len(chosen)} more leave {open_}\n"
    )
    sys.stdout.flush()
    return [replace(c, judges=judged_by(hunter, known[c.key][0], c.program)) for c in chosen]


def main(arguments: Sequence[str] | None = None) -> int:
    """Add to the decks of some protocols, or of all."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.deck", description=__doc__.splitlines()[0])
    parser.add_argument("protocols", nargs="*", help=f"of {', '.join(names())}, or one role, stomp/server; or all")
    parser.add_argument("--most", type=int, default=MOST, help="how many programs are added to a deck at most")
    parser.add_argument("--order", action="store_true", help="try what each card shows, and put first what tells most")
    options = parser.parse_args(arguments)
    asked = set(options.protocols or names())
    for impl in resolve("reference"):
        if not {impl.protocol, f"{impl.protocol}/{impl.role}"} & asked:
            continue
        mutants = [mutant for mutant in of_protocol(impl.protocol) if mutant.role == impl.role]
        decks = stored(impl.protocol, impl.role)
        cards = decks.get(impl.profile, [])
        with tempfile.TemporaryDirectory() as folder:
            session = opened(impl, Path(folder))
            hunter = session.hunter()
            deck = [*cards, *more(impl, cards, mutants, hunter, options.most)]
            if options.order:
                keys = {prop.key: (prop, weight) for prop, weight in properties(impl.protocol, impl.role)}
                deck = showing(keys, deck, [mutant for mutant in mutants if not mutant.unseen])
            decks[impl.profile] = ordered(deck, price(hunter, impl))
            session.close()
        path_of(impl.protocol, impl.role).write_text(written(decks), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
