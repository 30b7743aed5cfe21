"""Measuring in turns, and the table of what came out."""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Work = Callable[[int], float]
"""Does the nth repetition of some work and answers how much that was (frames, steps, ...)."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a bench is to be run. `tiny`: only to see that it runs. `address`: a broker that is running already."""

    repeats: int = 7
    tiny: bool = False
    address: str = ""
    every: int = 9
    """Of the mutants, every nth is hunted."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Units of work in each second, one figure for each repetition."""

    name: str
    unit: str
    values: tuple[float, ...]

    def __str__(self) -> str:
        return f"{self.name}: {shown(self.values)} {self.unit}/s"


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing that was to be shown. `target` is the bound of the median, met at `at_most` or above; None: it is only
    told."""

    bench: str
    what: str
    values: tuple[float, ...]
    target: float | None = None
    at_most: bool = False
    unit: str = "x"

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def met(self) -> bool | None:
        """None when there is no target, or nothing could be measured."""
        if self.target is None or not self.values:
            return None
        return self.median <= self.target if self.at_most else self.median >= self.target

    def row(self) -> tuple[str, str, str, str, str]:
        """Bench, what, median, min-max, target and whether it is met."""
        if not self.values:
            return self.bench, self.what, "not measured", "", ""
        target = ""
        if self.target is not None:
            target = f"{'<=' if self.at_most else '>='} {self.target:g} {self.unit}: {'met' if self.met else 'MISSED'}"
        spread = f"{number(min(self.values))} - {number(max(self.values))}" if len(self.values) > 1 else ""
        return self.bench, self.what, f"{number(self.median)} {self.unit}", spread, target


def number(value: float) -> str:
    """Three digits that count."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def shown(values: Sequence[float]) -> str:
    """Median and range."""
    if not values:
        return "-"
    return f"{number(statistics.median(values))} ({number(min(values))} - {number(max(values))})"


def in_turns(
    works: Mapping[str, Work], times: int, *, unit: str = "steps", clock: Callable[[], float] = time.process_time
) -> dict[str, Rate]:
    """Do each work `times` times, one after the other in every round, after one round that does not count.

    What runs in this process alone is measured by the processor's time, which other processes do not disturb.
    """
    found: dict[str, list[float]] = {name: [] for name in works}
    for n in range(-1, times):
        for name, work in works.items():
            gc.collect()
            begun = clock()
            amount = work(n)
            spent = clock() - begun
            if n >= 0:
                found[name].append(amount / max(spent, 1e-9))
    return {name: Rate(name, unit, tuple(values)) for name, values in found.items()}


def ratios(ours: Rate, theirs: Rate) -> tuple[float, ...]:
    """How often one goes into the other, repetition by repetition; one in which the other did nothing says nothing."""
    return tuple(a / b for a, b in zip(ours.values, theirs.values, strict=True) if b)


def say(text: str = "") -> None:
    """A line of the report."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def table(figures: Sequence[Figure]) -> str:
    """All figures, in columns."""
    rows = [("bench", "what", "median", "min - max", "target"), *(figure.row() for figure in figures)]
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])
