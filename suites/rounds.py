"""How long a run looks on that makes a baseline: rounds of one budget each, until little is left to find."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Set
from typing import Final

from records.rows import RoundRow
from records.writer import Writer
from reports.left import Left, left
from reports.result import sort_of
from suites.pursuit import Pursuit

MOST_ROUNDS: Final = 40
MOST_S: Final = 3600.0
"""No round begins after so many of them, or so many seconds where the user gives no other limit."""


class Rounds:
    """The rounds of one run. What each met goes to `writer`."""

    def __init__(self, writer: Writer, budget_s: float, most_s: float = MOST_S) -> None:
        self._writer = writer
        self._most_s = most_s
        self._budget_s = budget_s
        self._begun = self._last = time.monotonic()
        self._rows: list[RoundRow] = []

    def note(self, pursuits: Iterable[Pursuit], confirmed: Set[str]) -> None:
        """A round is over. `confirmed` are the sorts of failure behind which there was something."""
        pursuits = list(pursuits)
        sorts: Counter[str] = Counter()
        for pursuit in pursuits:
            for sort, count in pursuit.tally.sorts.items():
                if sort in confirmed:
                    sorts[sort_of(sort)] += count
        now = time.monotonic()
        row = RoundRow(
            round=len(self._rows) + 1,
            plans=sum(pursuit.tally.plans for pursuit in pursuits),
            seconds=round(now - self._last, 3),
            seen=tuple(f"{count} {sort}" for sort, count in sorted(sorts.items())),
        )
        self._last = now
        self._rows.append(row)
        self._writer.write(row)

    @property
    def left(self) -> Left | None:
        """What is estimated to be left to find."""
        return left(self._rows)

    def over(self) -> bool:
        """True when looking on is hardly worth it, or has taken long."""
        found, took_s = self.left, time.monotonic() - self._begun
        long = len(self._rows) >= MOST_ROUNDS or took_s + self._budget_s > self._most_s
        return long or (found is not None and found.enough)
