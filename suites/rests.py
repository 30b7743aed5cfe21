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
    rests: dict[int, float] = {}

    def rest_of(nth: int) -> float:
        if nth not in rests:
            prop = known[deck[nth].key]
            rests[nth] = rest_s(prop.plan(deck[nth].program, setting.config), setting)
        return rests[nth]

    for name in unjudged:
        showing = [nth for nth, card in enumerate(deck) if name in card.judges]
        # most are decided by the first of them: a run that is over has no time to write all these plans
        if showing and all(deck[nth].key in known for nth in showing) and all(rest_of(n) > budget_s for n in showing):
            found[name] = min(map(rest_of, showing))
    return found
