"""How long a plan says nothing, and which requirements take a longer silence than a run has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from impls.driver.drive import Setting
from impls.driver.link import MemoryTransport
from specs.plan import Plan, Wait
from suites.cards import Card
from suites.pursuit import Property


def rest_s(plan: Plan, setting: Setting) -> float:
    """Seconds in which a plan only waits; none in memory, where time is virtual."""
    if isinstance(setting.transport, MemoryTransport):
        return 0.0
    return sum(step.ms for step in plan.steps if isinstance(step, Wait)) / 1000


def needed(
    unjudged: Iterable[str], deck: Sequence[Card], known: Mapping[str, Property], setting: Setting, budget_s: float
) -> dict[str, float]:
    """Of the requirements that were not judged those for which every program of the deck that judges them rests for
    longer than `budget_s` seconds, and the shortest of these rests. Nothing is said where one is of a property that was
    not collected."""
    found: dict[str, float] = {}
    for name in unjudged:
        showing = [card for card in deck if name in card.judges]
        if not all(card.key in known for card in showing):
            continue
        rests = [rest_s(known[card.key].plan(card.program, setting.config), setting) for card in showing]
        if rests and min(rests) > budget_s:
            found[name] = min(rests)
    return found
