"""What is left to find: an estimate from how often each fault was met.

A run that makes a baseline hunts in rounds, and counts for each sort of failure how many plans showed it. Good and
Turing: the chance that the next plan shows a sort that none has shown yet is about the number of sorts that exactly one
plan has shown, divided by the number of plans. Chao: at least f1 (f1 - 1) / (2 (f2 + 1)) sorts are left, where one plan
has shown each of f1 sorts, and two plans each of f2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from records.rows import RoundRow

SMALL: Final = 0.1
"""A run that makes a baseline ends when so many new sorts are to be expected in one more round, or fewer."""
LEAST_ROUNDS: Final = 3
"""Rounds that it makes at least: what shows now and then is found out by repetition."""
QUIET_ROUNDS: Final = 8
"""It also ends after so many rounds in a row that brought nothing new: what one plan showed and writers of plans avoid
from then on stays seen once for ever."""


@dataclass(frozen=True, slots=True)
class Left:
    """`rounds` hunted with `plans`, and met `sorts` of failure that count, of which one plan showed `once`, and two
    `twice`. The last `quiet` rounds brought nothing new."""

    rounds: int = 0
    plans: int = 0
    sorts: int = 0
    once: int = 0
    twice: int = 0
    quiet: int = 0

    @property
    def next_round(self) -> float:
        """How many new sorts are to be expected in one more round like these (Good-Turing); by the rounds that brought
        nothing new, if that is less."""
        by_plans = self.once / max(1, self.rounds)
        return min(by_plans, 1 / (self.quiet + 1)) if self.quiet else by_plans

    @property
    def unknown(self) -> float:
        """How many sorts are left at least (Chao)."""
        return self.once * (self.once - 1) / (2 * (self.twice + 1))

    @property
    def enough(self) -> bool:
        """True when looking on is hardly worth it."""
        few = self.once <= SMALL * self.rounds or self.quiet >= QUIET_ROUNDS
        return self.rounds >= LEAST_ROUNDS and few

    def __str__(self) -> str:
        several = "" if self.rounds == 1 else "s"
        seen = f"{self.once} seen once and {self.twice} twice"
        return (
            f"{self.rounds} round{several}, {self.plans} conversations: {self.sorts} sorts of failure that count, "
            f"{seen}; about {self.unknown:.0f} are left to find, and one more round would meet {self.next_round:.2f} "
            "new ones (Good-Turing)"
        )


def left(rows: Iterable[RoundRow]) -> Left | None:
    """The estimate by the rounds of a run; None where it made none. What nobody can read counts nothing."""
    rows = sorted(rows, key=lambda row: row.round)
    if not rows:
        return None
    counts: Counter[str] = Counter()
    quiet = 0
    by_round: dict[int, Counter[str]] = {}
    for row in rows:
        told = by_round.setdefault(row.round, Counter())
        for count, _, name in (text.partition(" ") for text in row.seen):
            told[name] += int(count) if count.isascii() and count.isdigit() and len(count) < 16 else 0
    for told in by_round.values():
        quiet = 0 if told.keys() - counts.keys() else quiet + 1
        counts.update(told)
    times = Counter(counts.values())
    plans = sum(row.plans for row in rows)
    return Left(len(by_round), plans, len(counts), times[1], times[2], quiet)
