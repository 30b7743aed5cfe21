"""The words, signs and classes under which the pages show a standing, a level, a verdict or a kind of change.

A sign and a word always go with the colour. A word that we do not know is shown as it is, under the class "other".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Sign:
    """How one word is shown: its class in the style sheet, its sign, its name, and what it means."""

    css: str
    sign: str
    name: str
    meaning: str


STANDINGS: Final = {
    "failed": Sign("failed", "✕", "failed", "it fails at a level that decides"),
    "error": Sign("error", "!", "error", "something went wrong on the tester's side"),
    "warned": Sign("warned", "▲", "warned", "it fails at a level that does not decide"),
    "accepted": Sign("accepted", "≈", "accepted", "it fails, and the baseline accepts it"),
    "passed": Sign("passed", "✓", "passed", "it was exercised, judged, and held every time"),
    "inconclusive": Sign("open", "○", "open", "it could not be settled: never reached, or never judged"),
    "untestable": Sign("none", "–", "no test", "no conversation can show it"),
    "unselected": Sign("none", "·", "not selected", "left out of this run"),
    "unsupported": Sign("none", "∅", "not claimed", "the implementation does not claim it"),
}
"""Worst first: the order in which tables sort them and bars draw them."""
BARS: Final = ("failed", "warned", "accepted", "inconclusive", "passed")
"""What a bar is made of, from the left. The templates use it."""
VERDICTS: Final = {
    "pass": Sign("passed", "✓", "pass", "nothing that decides fails"),
    "fail": Sign("failed", "✕", "fail", "something that decides fails"),
    "error": Sign("error", "!", "error", "something went wrong on the tester's side"),
    "inconclusive": Sign("open", "○", "inconclusive", "it could not be settled"),
    "unsupported": Sign("none", "∅", "not claimed", "the implementation does not claim it"),
}
CHANGES: Final = {
    "regression": Sign("failed", "↘", "regression", "it fails and did not in the run before"),
    "repair": Sign("passed", "↗", "repair", "it passes and failed in the run before"),
    "lost": Sign("open", "→", "lost", "it passed in the run before and cannot be judged now"),
}
LEVELS: Final = ("MUST", "SHOULD", "ASSUMED", "MAY")
_FAILING: Final = frozenset(("failed", "warned", "accepted"))


def standing(word: str) -> Sign:
    """How a standing is shown."""
    return STANDINGS.get(word) or Sign("other", "?", word, "a word that these pages do not know")


def verdict(word: str) -> Sign:
    """How the verdict of a run or of a conversation is shown."""
    return VERDICTS.get(word) or Sign("other", "?", word, "a word that these pages do not know")


def change(word: str) -> Sign:
    """How a kind of change is shown."""
    return CHANGES.get(word) or Sign("other", "?", word, "a word that these pages do not know")


def order(word: str) -> int:
    """0 for the worst standing."""
    return list(STANDINGS).index(word) if word in STANDINGS else len(STANDINGS)


def level_order(word: str) -> int:
    """0 for the strongest level."""
    return LEVELS.index(word) if word in LEVELS else len(LEVELS)


def fails(word: str) -> bool:
    """True for a standing that says that the implementation does not keep to the requirement."""
    return word in _FAILING
