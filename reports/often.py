"""How often a fault shows: as it was counted, and how often it can be expected to."""

from __future__ import annotations

from math import sqrt
from typing import Final

from records.rows import FaultRow

CONFIDENCE: Final = 1.959964
"""The standard normal quantile of a two-sided interval of 95 %."""


SELDOM: Final = 0.4
"""Up to this rate it is told as one in so many."""


def shown(fault: FaultRow, unit: str = "") -> str:
    """How often a fault was seen: by the hunt, where that was counted, else when its conversation was repeated."""
    return rate(fault.shown, fault.chances) or often(fault.reproduced, fault.tried, unit)


def rate(shown: int, chances: int) -> str:
    """ "shown 4 of 52 times (about 1 in 13; between 1 in 6 and 1 in 33)", with the Wilson interval of 95 %; "" where
    nothing was counted."""
    if not 0 < shown <= chances:
        return ""
    told = f"shown {shown} of {chances} times"
    low, high = interval(shown, chances)
    if shown / chances > SELDOM:
        return f"{told} ({100 * low:.0f} to {100 * high:.0f} %)"
    return f"{told} (about 1 in {chances / shown:.0f}; between 1 in {1 / high:.0f} and 1 in {1 / low:.0f})"


def often(reproduced: int, tried: int, unit: str = "") -> str:
    """ "5 of 5", or with " times" as the unit "1 of 8 times (2 to 47 %)", for what does not show each time: with the
    Wilson interval of 95 % for its rate.

    "" when nothing was repeated. Counts are of repetitions of the shortest conversation; what makes no sense as a count
    of a part is told without a rate."""
    if tried <= 0:
        return ""
    told = f"{reproduced} of {tried}{unit}"
    if not 0 <= reproduced < tried:
        return told
    low, high = interval(reproduced, tried)
    return f"{told} ({100 * low:.0f} to {100 * high:.0f} %)"


def interval(reproduced: int, tried: int) -> tuple[float, float]:
    """The Wilson score interval of 95 % for a rate, of which `reproduced` of `tried` was seen, both ends in 0 to 1."""
    share, square = reproduced / tried, CONFIDENCE**2 / tried
    centre, spread = share + square / 2, CONFIDENCE * sqrt((share * (1 - share) + square / 4) / tried)
    return max(0.0, (centre - spread) / (1 + square)), min(1.0, (centre + spread) / (1 + square))
