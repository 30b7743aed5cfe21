"""Whose turn it is: properties hunt in small slices, one after the other, until the budget is gone.

Each gets its share by weight in the end, but nobody waits for another's share to be used up: a larger budget never
makes an early verdict later.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass

from strategies.common import Program
from suites.cards import Card
from suites.hunt import Hunter, Property, Pursuit

SLICE_S, PART = 0.1, 4
"""A turn of a property of weight 1, at most, and how many turns of its share there are at least."""
CHASE = 2.0
"""How many times its share a property may take to reach what is still unjudged: it may not be there to be reached."""
FIRST = 0.3
"""Length of the first turn among the others: all properties shall have begun soon."""


Left = tuple[str, Program]
"""The key of a property, and a program of it that was not played."""


@dataclass(frozen=True, slots=True)
class Share:
    """A property and its part of the budget."""

    prop: Property
    weight: float = 1.0


def pursuits(hunter: Hunter, shares: Sequence[Share], budget_s: float) -> list[Pursuit]:
    """What is to be hunted with, each with its part of `budget_s` seconds."""
    total = sum(share.weight for share in shares) or 1.0
    return [hunter.pursuit(s.prop, s.weight, budget_s * s.weight / total) for s in shares]


def hunt(
    hunter: Hunter, pursuits: Sequence[Pursuit], budget_s: float, during: Callable[[], None],
    deck: Sequence[Card] = (), *, single: bool = False, only: bool = False,
) -> list[Left]:  # fmt: skip
    """Hunt for `budget_s` seconds, investigations apart, and settle what was found: first with the programs of `deck`,
    then in turns. Every second one goes to a program of the deck that should have judged what is still unjudged, once,
    and then to a property that reaches it, or, where `single` requirements were asked for, one of these. `only`:
    nothing but all programs of `deck`. `during` is called after each turn and while we wait for what goes on beside. An
    error of ours ends the property in whose turn it came out. Answers for what of `deck` there was no time."""
    hunter.progress = during
    hunter.prepare()
    begun, spent = time.monotonic(), hunter.suspects.spent_s
    hunter.until = hunter.ground.deadline.within(budget_s)
    wanted = [card for card in deck if only or card.judges & hunter.binding.keys()]
    by_key = {pursuit.prop.key: pursuit for pursuit in pursuits if pursuit.prop.key}
    opening = deque(_opening(hunter, [(by_key[card.key], card.program) for card in wanted if card.key in by_key]))
    pursuits = _long_first(hunter, pursuits)
    turn, again = 0, _Again(wanted)
    try:
        while not _over(hunter, budget_s) and (going := [each for each in pursuits if each.error is None]):
            turn += 1
            if opening:
                pursuit, program = opening.popleft()
                pursuit.draws.put_back(program)
                _turn(hunter, pursuit, 0.0)
            elif only:
                if not (waiting := [each for each in going if each.draws.at_hand]):
                    break
                _turn(hunter, waiting[turn % len(waiting)], 0.0)  # what had to be put back, to be alone or to rest
            else:
                unjudged = hunter.binding.keys() - hunter.judged or (hunter.binding.keys() if single else set[str]())
                card = again.next(unjudged) if turn % 2 and not single else None
                if card is not None and card.key in by_key:
                    by_key[card.key].draws.put_back(card.program)
                    _turn(hunter, by_key[card.key], 0.0)
                    continue
                keys = {card.key for card in wanted if card.judges & unjudged} if turn % 2 else set[str]()
                best = [each for each in going if each.prop.key in keys and each.used_s < CHASE * each.share_s] or going
                _turn(hunter, min(best, key=lambda each: each.used_s / each.weight))
            if hunter.suspects.spent_s > spent:  # the hunt has stood still
                left = budget_s - (time.monotonic() - begun) + hunter.suspects.spent_s
                spent, hunter.until = hunter.suspects.spent_s, hunter.ground.deadline.within(left)
        hunter.finish()
    except KeyboardInterrupt:
        hunter.ground.deadline.end()
        hunter.give_up()
        raise
    unplayed = [(pursuit.prop.key, program) for pursuit, program in opening]
    return unplayed + [(each.prop.key, program) for each in pursuits for program in each.draws.at_hand if only]


class _Again:
    """What is played once more: of a deck the first program for each requirement that it has not judged, since an
    implementation that leaves things to chance may let it next time."""

    def __init__(self, deck: Sequence[Card]) -> None:
        self._deck = deck
        self._left: deque[Card] | None = None

    def next(self, unjudged: Set[str]) -> Card | None:
        """The next one that may still judge something of `unjudged`; None when there is no more."""
        if self._left is None:
            first = (next((card for card in self._deck if name in card.judges), None) for name in sorted(unjudged))
            self._left = deque(card for card in dict.fromkeys(first) if card is not None)
        while self._left:
            card = self._left.popleft()
            if card.judges & unjudged:
                return card
        return None


def _opening(hunter: Hunter, deck: list[tuple[Pursuit, Program]]) -> list[tuple[Pursuit, Program]]:
    """The programs of the deck in the order in which they are played. What takes long goes on beside the others, so it
    is begun first. Where nothing goes on beside others, there is time for a rest at the beginning, if at all: it is not
    there in one run and gone in the next."""
    return sorted(deck, key=lambda each: not hunter.playing.takes_long(each[0].prop, each[1]))


def _long_first(hunter: Hunter, pursuits: Sequence[Pursuit]) -> Sequence[Pursuit]:
    """What takes long has its first turn before the others, where it goes on beside them: its time would be up before
    it is over."""
    if not hunter.beside:
        return pursuits
    return sorted(pursuits, key=lambda each: not hunter.playing.takes_long(each.prop, each.draws.peek()))


def _over(hunter: Hunter, budget_s: float) -> bool:
    """True when hunting ends: its time is up, or half of it is and the rest is needed for what is suspected by now."""
    needed = hunter.ground.deadline.left() <= hunter.suspects.settling_s() and hunter.until.left() <= budget_s / 2
    return hunter.until.over() or needed


def _turn(hunter: Hunter, pursuit: Pursuit, slice_s: float | None = None) -> None:
    if slice_s is None:
        slice_s = min(SLICE_S * pursuit.weight, pursuit.share_s / PART) * (1 if pursuit.used_s else FIRST)
    try:
        hunter.pursue(pursuit, min(slice_s, hunter.until.left()))
    except Exception as error:  # noqa: BLE001 - it is told where the property is reported
        if not hunter.ground.deadline.over():  # what is cut short by the end of the run is no error
            pursuit.error = error
