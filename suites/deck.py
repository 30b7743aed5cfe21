"""The opening deck: a few programs that together judge every requirement that the reference lets us judge.

    python -m suites.deck [PROTOCOL[/ROLE] ...]           # make it anew, with the references in memory
    python -m suites.deck --more [PROTOCOL[/ROLE] ...]    # keep it, and add what judges more
    python -m suites.deck --order [PROTOCOL[/ROLE] ...]   # keep it, and put what judges most in little time first

Programs are stored, not plans: they are interpreted with what is known of the implementation at hand. A deck also says
which properties reach which requirement, so that a hunt turns to those that reach what is still unjudged.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from impls.launching.manifest import Implementation, resolve
from records.writer import new_run
from specs.protocol import names
from strategies.common import Program
from suites.cards import Card, path_of, stored
from suites.head import RunOptions
from suites.hunt import Hunter
from suites.properties import properties
from suites.pursuit import Property, Pursuit
from suites.session import Session

DRAWN = 25
"""Programs of each property and discipline from which a deck is chosen."""
ROUNDS = 10
"""How many times as many are drawn for what none of them judges."""


MUCH = 4
"""Requirements that a card judges beyond those before it, to stand before all that show faults."""
CONVERSATION = 10
"""What it costs to begin a conversation, in steps of one."""


def ordered(cards: Iterable[Card], cost: Callable[[Card], float]) -> list[Card]:
    """The cards in the order in which they judge most for what they cost; those that judge nothing more stay in theirs.
    They are in the deck for the faults that they show, so they take turns with those that judge a few rows more:
    an implementation that is slow to answer, or to start, leaves time for the first ones only."""
    left, much, little = list(cards), list[Card](), list[Card]()
    prices = {card: cost(card) for card in left}
    missing = {name for card in left for name in card.judges}
    while missing:
        best = max(left, key=lambda card: len(card.judges & missing) / prices[card])
        left.remove(best)
        (much if len(best.judges & missing) >= MUCH else little).append(best)
        missing -= best.judges
    return [*much, *(card for pair in zip_longest(little, left) for card in pair if card is not None)]


def price(hunter: Hunter, impl: Implementation) -> Callable[[Card], float]:
    """What a card costs: the steps of its conversation with one reference."""
    known = {prop.key: prop for prop, _ in properties(impl.protocol, impl.role)}

    def of(card: Card) -> float:
        return CONVERSATION + len(known[card.key].plan(card.program, hunter.setting.config).steps)

    return of


def cover(cards: Iterable[Card]) -> list[Card]:
    """Few of the cards that judge what all of them judge: each time the one that adds most, the shortest first."""
    left, chosen = sorted(cards, key=lambda card: (len(card.program.ops), card.key, card.program)), []
    missing = {name for card in left for name in card.judges}
    while missing:
        best = max(left, key=lambda card: len(card.judges & missing))
        chosen.append(best)
        missing -= best.judges
    return chosen


def judged_by(hunter: Hunter, prop: Property, program: Program) -> frozenset[str]:
    """The requirements that one program judges."""
    pursuit = Pursuit(prop, hunter.pursuit(prop).draws)
    hunter.play_one(pursuit, program)
    return frozenset(pursuit.tally.judged) & frozenset(hunter.binding)


def opened(impl: Implementation, folder: Path) -> Session:
    """A session with a reference in memory."""
    session = Session(impl, RunOptions(budget_s=3600.0, seed=1), folder, new_run())
    session.open()
    assert not session.trouble, session.trouble
    return session


def drawn(hunter: Hunter, impl: Implementation, cards: Sequence[Card] = ()) -> list[Card]:
    """`cards`, and programs of all properties that are drawn until everything is judged, or for ROUNDS rounds."""
    found = list(cards)
    missing = {name for name, row in hunter.binding.items() if not row.untestable}
    missing -= {name for card in cards for name in card.judges}
    draws = [(prop, hunter.pursuit(prop).draws) for prop, _ in properties(impl.protocol, impl.role)]
    for _ in range(ROUNDS):
        for prop, programs in draws if missing else ():
            for program in dict.fromkeys(next(programs) for _ in range(DRAWN)):
                found.append(Card(prop.key, program, judged_by(hunter, prop, program)))
                missing -= found[-1].judges
    return found


def made(impl: Implementation, kept: Sequence[Card] = (), *, more: bool = True) -> list[Card]:
    """The deck of one reference: what is `kept`, and where `more` is wanted, what judges more than that."""
    with tempfile.TemporaryDirectory() as folder:
        session = opened(impl, Path(folder))
        hunter = session.hunter()
        cards = drawn(hunter, impl, kept) if more else list(kept)
        judged = frozenset[str]().union(*(card.judges for card in kept))
        rest = cover(replace(card, judges=card.judges - judged) for card in cards[len(kept) :])
        whole = {(card.key, card.program): card for card in cards}
        deck = ordered([*kept, *(whole[card.key, card.program] for card in rest)], price(hunter, impl))
        session.close()
    return deck


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the decks of some protocols, or of all."""
    parser = argparse.ArgumentParser(prog="python -m suites.deck", description=__doc__.splitlines()[0])
    parser.add_argument("protocols", nargs="*", help=f"of {', '.join(names())}, or one role, stomp/server; or all")
    parser.add_argument("--more", action="store_true", help="keep what is stored, and add to it")
    parser.add_argument("--order", action="store_true", help="keep what is stored, and put it into order")
    options = parser.parse_args(arguments)
    kept = options.more or options.order
    asked = options.protocols or list(names())
    decks: dict[Path, dict[str, list[Card]]] = {}
    for impl in resolve("reference"):
        if {impl.protocol, f"{impl.protocol}/{impl.role}"} & set(asked):
            path = path_of(impl.protocol, impl.role)
            if path not in decks:
                decks[path] = stored(impl.protocol, impl.role) if kept else {}
            if options.order and impl.profile not in decks[path]:
                continue
            cards = made(impl, decks[path].get(impl.profile, ()), more=not options.order)
            decks[path][impl.profile] = cards
            path.write_text(written(decks[path]), encoding="utf-8")
            judged = {name for card in cards for name in card.judges}
            sys.stdout.write(
                f"{impl.protocol} {impl.role} {impl.profile}: {len(cards)} programs, {len(judged)} judged\n"
            )
            sys.stdout.flush()
    return 0


def written(decks: Mapping[str, Sequence[Card]]) -> str:
    """The decks of a role as they are stored: one line for a card."""
    parts = []
    for profile, cards in decks.items():
        lines = (
            json.dumps(
                {
                    "key": card.key,
                    "program": [card.program.head, [[op.kind, *op.args] for op in card.program.ops]],
                    "judges": sorted(card.judges),
                }
            )
            for card in cards
        )
        parts.append(f"{json.dumps(profile)}: [\n" + ",\n".join(lines) + "\n]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    sys.exit(main())
