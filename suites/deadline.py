"""The time by which everything of a run is over: starting, hunting, investigating, and telling what came of it.

There is one deadline for one implementation, and every wait is cut by it. What it cuts short is told as unfinished; it
never becomes a verdict.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from pathlib import Path

SHARE, EXTRA_S = 1.5, 5.0
"""A run takes at most so many times its budget and so many seconds, from the start of the process to its end."""
LEAST, LEAST_S = 1.2, 1.0
"""So many times the budget and so many seconds are left when this process has started, however long that took."""
CLOSING_S = 0.7
"""Seconds kept for ending what was started."""
TELLING_S, STARTING_S = 1.5, 1.7
"""Seconds kept for the summary, and what the start of the process takes where that is not known."""
ENOUGH = 2.0
"""How many times a budget is the one that is named where it was too little."""


class TimeUp(Exception):
    """The time is up in the middle of something; what it would have shown is not known."""


class Deadline:
    """So many seconds of a clock, from when it is made; while it is paused they do not pass. May be used by several
    threads, but is paused and resumed by one."""

    def __init__(self, seconds: float = math.inf, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = clock() + seconds
        self._paused: float | None = None

    def left(self) -> float:
        """Seconds left; 0 when the time is up."""
        now = self._clock() if self._paused is None else self._paused
        return max(0.0, self._end - now)

    def over(self) -> bool:
        """True when the time is up."""
        return self.left() <= 0

    def within(self, seconds: float) -> Deadline:
        """A deadline of its own for a part, which is never later than this one."""
        return _Part(self, seconds)

    def end(self) -> None:
        """Let the time be up at once."""
        self._paused, self._end = None, -math.inf

    def anew(self, seconds: float) -> None:
        """So many seconds from now."""
        self._paused, self._end = None, self._clock() + seconds

    def pause(self) -> None:
        """Let no time pass until `resume`. Does nothing the second time."""
        if self._paused is None:
            self._paused = self._clock()

    def resume(self) -> None:
        """Go on. Does nothing when it is not paused."""
        if self._paused is not None:
            self._end += self._clock() - self._paused
            self._paused = None


class _Part(Deadline):
    """A part of a deadline."""

    def __init__(self, whole: Deadline, seconds: float) -> None:
        super().__init__(seconds, whole._clock)
        self._whole = whole

    def left(self) -> float:
        return min(super().left(), self._whole.left())


class Unless(Deadline):
    """A deadline that is over at once when something has happened."""

    def __init__(self, whole: Deadline, happened: Callable[[], bool]) -> None:
        super().__init__()
        self._whole, self._happened = whole, happened

    def left(self) -> float:
        return 0.0 if self._happened() else self._whole.left()


def of_budget(budget_s: float, spent_s: float = STARTING_S) -> Deadline:
    """The deadline of a run with this budget, of which so much has been spent. Where our own start takes long, since
    the machine has other things to do, the hunt has its time all the same."""
    return Deadline(max(LEAST * budget_s + LEAST_S, SHARE * budget_s + EXTRA_S - TELLING_S - spent_s))


def age_s() -> float:
    """Seconds since this process was started; STARTING_S where the system does not tell."""
    try:
        started = int(Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - started / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, AttributeError):
        return STARTING_S


def at_least(seconds: float) -> str:
    """The budget to give for so many seconds, a round figure."""
    return f"--budget={math.ceil((seconds + EXTRA_S) / 10) * 10}"


def larger(budget_s: float) -> str:
    """The budget to give where `budget_s` was too little."""
    return at_least(ENOUGH * budget_s)
