"""The opening deck of a protocol, role and profile, as it is stored: what is played before anything is drawn.

`python -m suites.deck` makes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strategies.common import Op, Program

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Card:
    """A program of the property with this key, the requirements that it judges on the reference, and the seeded faults
    that it shows, as far as that was tried."""

    key: str
    program: Program
    judges: frozenset[str]
    shows: frozenset[str] = frozenset()

    @property
    def tells(self) -> frozenset[str]:
        """All that it may tell."""
        return self.judges | self.shows


def path_of(protocol: str, role: str) -> Path:
    """Where the decks of a role are stored, by profile."""
    return HERE / protocol / f"deck-{role}.json"


def load(protocol: str, role: str, profile: str) -> list[Card]:
    """The deck of a profile; that of another one where it has none; none where the role has none."""
    decks = stored(protocol, role)
    return decks.get(profile) or next(iter(decks.values()), [])


def stored(protocol: str, role: str) -> dict[str, list[Card]]:
    """All decks of a role, by profile."""
    path = path_of(protocol, role)
    decks: Mapping[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return {
        profile: [
            Card(card["key"], _program(card["program"]), frozenset(card["judges"]), frozenset(card.get("shows", ())))
            for card in cards
        ]
        for profile, cards in decks.items()
    }


def _program(stored: Sequence[Any]) -> Program:
    head, ops = stored
    return Program(tuple(head), tuple(Op(kind, tuple(args)) for kind, *args in ops))
