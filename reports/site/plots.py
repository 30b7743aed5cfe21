"""History as drawings: where bars, lines and labels go. The templates draw them; a table beside each tells the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, log10
from typing import Final

from reports.tables import Day

MAX_DAYS: Final = 120
"""Days in one drawing and its table, the latest ones."""
PARTS: Final = ("failed", "warned", "accepted", "inconclusive")
"""What is stacked, from below: all that is not passed."""


@dataclass(frozen=True, slots=True)
class Block:
    """One standing on one day."""

    part: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Bar:
    """One day: its blocks from below, and where a new version begins."""

    day: Day
    x: float
    blocks: tuple[Block, ...]
    version: str


@dataclass(frozen=True, slots=True)
class Plot:
    """A stacked history in px; `ticks` are (y, number), `labels` are (x, day)."""

    width: int
    height: int
    left: int
    base: int
    bar: float
    bars: tuple[Bar, ...]
    ticks: tuple[tuple[float, int], ...]
    labels: tuple[tuple[float, str], ...]
    left_out: int


def history(days: Sequence[Day]) -> Plot:
    """The drawing of an implementation's days, oldest first."""
    shown = days[-MAX_DAYS:]
    width, left, right, top, base = 760, 40, 42, 30, 150
    step = min(26.0, (width - left - right) / max(1, len(shown)))
    most = max((sum(_counts(day)) for day in shown), default=0)
    scale = steps(most)
    bars, version = [], ""
    for place, day in enumerate(shown):
        y, blocks = float(base), []
        for part, count in zip(PARTS, _counts(day), strict=True):
            height = (base - top) * count / scale[-1]
            y -= height
            if count:
                blocks.append(Block(part, round(y, 1), round(height, 1)))
        fresh = _short(day.version) if place and day.version != version else ""
        bars.append(Bar(day, round(left + step * place, 1), tuple(blocks), fresh))
        version = day.version
    every = max(1, ceil(90 / step))
    # Labels count from the right: the latest day always has one.
    labels = [(round(bar.x + step / 2, 1), bar.day.day) for bar in bars[::-1][::every]][::-1]
    ticks = tuple((round(base - (base - top) * value / scale[-1], 1), value) for value in scale)
    return Plot(width, base + 40, left, base, round(max(2.0, step - min(4, step / 4)), 1), tuple(bars), ticks,
                tuple(label for label in labels if label[0] > left + 24 or len(labels) == 1),
                len(days) - len(shown))  # fmt: skip


def steps(most: int) -> tuple[int, ...]:
    """Round numbers from 0 to at least `most`, three to six of them."""
    if most <= 0:
        return (0, 1)
    size = 10 ** int(log10(most))
    step = next(
        max(1, size * part // 10) for part in (1, 2, 5, 10) if most <= 5 * max(1, size * part // 10) or part == 10
    )
    while step * 5 < most:
        step *= 2
    return tuple(range(0, step * ceil(most / step) + 1, step))


def spark(days: Sequence[Day]) -> tuple[str, tuple[float, float] | None]:
    """The failures of the last 30 days as points of a line 100 wide and 20 high, and the last of them."""
    counts = [day.failed for day in days[-30:]]
    if len(counts) < 2:
        return "", None
    most = max(*counts, 1)
    points = [(round(2 + 96 * n / (len(counts) - 1), 1), round(18 - 16 * c / most, 1)) for n, c in enumerate(counts)]
    return " ".join(f"{x},{y}" for x, y in points), points[-1]


def together(histories: Iterable[Sequence[Day]]) -> list[tuple[str, int, int, int, int]]:
    """All implementations by day: (day, failed, warned, implementations, runs); who did not run stays as before."""
    latest: dict[str, Day] = {}
    by_day: dict[str, list[Day]] = {}
    for days in histories:
        for day in days:
            by_day.setdefault(day.day, []).append(day)
    told = []
    for name in sorted(by_day):
        latest |= {day.slug: day for day in by_day[name]}
        failed = sum(day.failed for day in latest.values())
        warned = sum(day.warned for day in latest.values())
        told.append((name, failed, warned, len(latest), sum(day.runs for day in by_day[name])))
    return told


def total(histories: Iterable[Sequence[Day]]) -> Plot:
    """The same drawing for all implementations together."""
    days = [
        Day(slug="", day=day, run="", version="", verdict="fail" if failed else "pass", complete=True, passed=0,
            failed=failed, warned=warned, accepted=0, inconclusive=0, runs=runs)
        for day, failed, warned, _, runs in together(histories)
    ]  # fmt: skip
    return history(days)


def shares(counts: Sequence[int], width: float = 100) -> list[tuple[float, float]]:
    """Where the parts of a bar begin and how wide they are; a part that is not empty is never invisible."""
    whole = sum(counts)
    if not whole:
        return [(0.0, 0.0) for _ in counts]
    least = [max(width * count / whole, 1.5) if count else 0.0 for count in counts]
    scale = width / sum(least)
    found, x = [], 0.0
    for part in least:
        found.append((round(x, 2), round(part * scale, 2)))
        x += part * scale
    return found


def _short(text: str) -> str:
    return text if len(text) <= 18 else f"{text[:17]}…"


def _counts(day: Day) -> tuple[int, ...]:
    return tuple(max(0, count) for count in (day.failed, day.warned, day.accepted, day.inconclusive))
