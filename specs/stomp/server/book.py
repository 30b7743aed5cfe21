"""The rules that a STOMP server is held to, and what an answer of theirs means."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from specs.model import ANYTHING, Allow, Outcome
from specs.rules import Finding, Rulebook
from specs.stomp.machine import MACHINE
from specs.stomp.registry import REQUIREMENTS

BOOK = Rulebook("server", REQUIREMENTS, MACHINE, parts=attrgetter("conns"))


def outcome(found: Finding, after: Any, covers: tuple[str, ...] = ()) -> Outcome:
    """What the forms of a topic found, as the outcome of an event that leads to `after`, whether or not something was
    broken. `covers` is what the event shows besides."""
    if found.breach is not None:
        return BOOK.broken(found.breach, after if found.goes_on else ANYTHING, after)
    if found.unjudged:
        return Allow(ANYTHING, found.covers, found.lapses, found.leans)
    return Allow(after, covers + found.covers, found.lapses, found.leans)
