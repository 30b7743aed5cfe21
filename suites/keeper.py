"""Writing down what properties do while they do it: a run that is killed keeps what it had.

Counts are increments. While a hunt goes on, what a property judges for the first time is written now and then; the rest
follows when it is over.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Container, Iterable

from records.rows import CoverageRow, FreedomRow, PropertyRow
from records.writer import Writer
from suites.hunt import Pursuit, Tally

FIRST_S = 1.0
"""When first something is written; then each time that twice as much time has passed."""


class Keeper:
    """Writes to `writer` which of the requirements in `binding` were judged."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self.plans = self.steps = 0
        self._begun, self._next = time.monotonic(), FIRST_S
        self._exercised: Counter[tuple[str, str]] = Counter()
        self._judged: Counter[tuple[str, str]] = Counter()

    def anew(self) -> None:
        """The next round begins: its counts are increments of their own."""
        self._begun, self._next = time.monotonic(), FIRST_S
        self._exercised.clear()
        self._judged.clear()

    def look(self, pursuits: Iterable[Pursuit], binding: Container[str]) -> None:
        """Write what was judged for the first time, if it is time to."""
        if time.monotonic() - self._begun < self._next:
            return
        self._next *= 2
        for pursuit in pursuits:
            for requirement in pursuit.tally.judged:
                if (pursuit.prop.name, requirement) not in self._judged:
                    self._cover(pursuit.prop.name, requirement, pursuit.tally, binding)

    def record(self, name: str, tally: Tally, binding: Container[str]) -> None:
        """Write down what a property did in all, and what of it has not been written."""
        self.plans, self.steps = self.plans + tally.plans, self.steps + tally.steps
        for requirement in sorted(tally.judged):
            self._cover(name, requirement, tally, binding)
        for freedom, leaned in sorted(tally.leaned.items()):
            self._writer.write(FreedomRow(property=name, freedom=freedom, leaned=leaned))
        self._writer.write(
            PropertyRow(
                property=name,
                plans=tally.plans,
                steps=tally.steps,
                seconds=round(tally.seconds, 3),
                inconclusive=tally.inconclusive,
                errors=tally.errors,
                ended=tally.ended,
                obstacles=tuple(f"{name} {count}" for name, count in tally.obstacles.most_common()),
            )
        )

    def _cover(self, name: str, requirement: str, tally: Tally, binding: Container[str]) -> None:
        key = name, requirement
        exercised = tally.exercised[requirement] - self._exercised[key]
        judged = tally.judged[requirement] - self._judged[key]
        self._exercised[key] += exercised
        self._judged[key] += judged
        if requirement in binding and (exercised or judged):
            self._writer.write(CoverageRow(property=name, requirement=requirement, exercised=exercised, judged=judged))
