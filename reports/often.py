"""How often a fault shows: as it was counted, and how often it can be expected to."""

from __future__ import annotations

from math import sqrt
from typing import Final

CONFIDENCE: Final = 1.959964
"""The standard normal quantile of a two-sided interval of 95 %."""


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
