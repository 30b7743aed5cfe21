"""Plans to try in place of one that shows a fault: what it does not need is left out, and rests are put in."""

from __future__ import annotations

import time
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from impls.driver.drive import Recording
from specs.plan import Close, Plan, Step, Wait
from specs.protocol import Feature

REST_MS, RESTS_MS = 1_000, 2_000
"""How long a server may be busy with connections that were left, before the next one comes; and all rests of a plan, in
which nobody must miss a sign of life."""


@dataclass
class Attempts:
    """How many plans may still be tried, and until when; `least` of them also later than that, but not after
    `latest`: where each conversation takes long, a few attempts still make most of the difference."""

    left: int
    until: float
    least: int = 0
    latest: float = 0.0

    def of(self, candidates: Iterable[Any]) -> Iterator[Any]:
        """As many of the candidates as may be tried."""
        for candidate in candidates:
            self.left -= 1
            self.least -= 1
            if self.left < 0 or time.monotonic() > (self.until if self.least < 0 else max(self.until, self.latest)):
                return
            yield candidate


def plan_without(plan: Plan, features: Iterable[Feature]) -> Plan:
    """The plan without these features."""
    for feature in features:
        plan = plan if feature.without is None else feature.without(plan)
    return plan


def plainer(plan: Plan, features: Iterable[Feature]) -> Iterator[Plan]:
    """Plans to try in place of `plan`, boldest first: without a feature, a connection, or a run of steps.

    What a connection begins with stays as long as anything else of it does: what is said before that means nothing.
    """
    for feature in features:
        if feature.without is not None and (other := feature.without(plan)) != plan:
            yield other
    spoken: dict[int, list[int]] = {}
    for at, step in enumerate(plan.steps):
        if not isinstance(step, Wait):
            spoken.setdefault(step.conn, []).append(at)
    for steps in spoken.values() if len(spoken) > 1 else ():
        yield _lacking(plan, steps)
    movable = sorted(at for steps in spoken.values() for at in steps[1:])
    size = (len(movable) + 1) // 2
    while size:
        for start in range(0, len(movable), size):
            yield _lacking(plan, movable[start : start + size])
        size //= 2


def until_decided(plan: Plan, recording: Recording, deciding: int, role: str) -> Plan:
    """The plan without the steps that seem to come behind the event that decided: each step is an event of the tester.
    Whether it still shows the fault has to be tried."""
    said = sum(getattr(event, "by", role) != role for event in recording.events[: deciding + 1])
    ends = [at for at, step in enumerate(plan.steps) if not isinstance(step, Wait)]
    return replace(plan, steps=plan.steps[: ends[said - 1] + 1]) if 0 < said < len(ends) else plan


def heard_out(plan: Plan, ms: int) -> Plan:
    """The plan with a pause of so long behind its last step, if it has none there: what nobody waits for may be said a
    moment later, when the plan would be over."""
    last = plan.steps[-1] if plan.steps else None
    if last is None or isinstance(last, Close) or (isinstance(last, Wait) and last.ms):
        return plan
    return replace(plan, steps=(*plan.steps, Wait(ms)))


def rested(plan: Plan) -> Plan:
    """The plan with a rest before each connection that is opened when another one has nothing more to say."""
    spoken: dict[int, list[int]] = {}
    for at, step in enumerate(plan.steps):
        if not isinstance(step, Wait):
            spoken.setdefault(step.conn, []).append(at)
    left = min((steps[-1] for steps in spoken.values()), default=0)
    late = {steps[0] for steps in spoken.values() if steps[0] > left}
    rest = Wait(min(REST_MS, RESTS_MS // max(1, len(late))))
    return replace(
        plan, steps=tuple(s for at, step in enumerate(plan.steps) for s in ((rest,) * (at in late) + (step,)))
    )


def _lacking(plan: Plan, left_out: Container[int]) -> Plan:
    """The plan without some of its steps, and without waits for a turn that nothing has made necessary."""
    kept: list[Step] = []
    for at, step in enumerate(plan.steps):
        if at not in left_out and not (step == Wait(0) and (not kept or kept[-1] == Wait(0))):
            kept.append(step)
    return replace(plan, steps=tuple(kept))
