"""From a failing plan to a fault that can be reported: confirm, shrink, explain, repeat.

The order matters. A silence is confirmed with long patience first, because a slow implementation is not a faulty one.
Then the program is shrunk within a budget of time and attempts. What remains in the shortest plan is needed for the
fault: a way of writing frames that must not matter, if it is still there, is what is wrong. At last the plan is
repeated and reported as k of n.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from impls.drive import Recording, Setting
from specs.events import Quiet
from specs.model import Blame
from specs.plan import Plan
from strategies.common import Program, simpler
from suites.hunt import Fault, Hunter, Property

CONFIRM_MS = 10_000.0
"""Silence after which even a slow implementation will not answer any more."""
REPEATS = 5
"""Repetitions of the shortest plan."""


@dataclass(frozen=True)
class Limits:
    """What an investigation may cost: seconds and plans for shrinking, and the patience that confirms a silence."""

    shrink_s: float = 5.0
    attempts: int = 600
    confirm_ms: float = CONFIRM_MS


@dataclass
class Investigator:
    """Callable as `Hunter` wants it."""

    limits: Limits = Limits()

    def __call__(self, hunter: Hunter, prop: Property, program: Program, name: str, after_s: float) -> Fault | None:
        """The fault behind `name`, or None when it was only slowness."""
        begun = time.monotonic()
        case = _Case(hunter, prop, name)
        seen = case.failing(program)
        if seen is None:
            seen = next((again for _ in range(2) if (again := case.failing(program)) is not None), None)
        if seen is not None:
            program, prop = self._shortest(case, program)
            case = _Case(hunter, prop, name)
            seen = case.failing(program) or seen
        patient = replace(hunter.setting, patience_ms=max(self.limits.confirm_ms, hunter.setting.patience_ms))
        if seen is not None and _silent(seen):
            sure = case.failing(program, patient)
            if sure is None:
                return None  # it answered, given time
            seen = sure
        plan = prop.plan(program, hunter.setting.config, ())
        shown = [again for _ in range(REPEATS) if (again := case.failing(program)) is not None]
        if seen is None and not shown:
            return case.vanished(program, plan, after_s, time.monotonic() - begun)
        recording, level, blame = shown[0] if seen is None else seen
        return case.fault(program, plan, recording, level, blame, len(shown), after_s, time.monotonic() - begun)

    def _shortest(self, case: _Case, program: Program) -> tuple[Program, Property]:
        """A program (and discipline) that still fails and cannot be made simpler, or the budget's best."""
        until, attempts = time.monotonic() + self.limits.shrink_s, self.limits.attempts
        prop = case.prop
        if prop.hurry:
            calm = _Case(case.hunter, prop.unhurried(), case.name)
            if calm.failing(program) is not None:
                case, prop = calm, calm.prop
        progress = True
        while progress:
            progress = False
            for candidate in simpler(program):
                attempts -= 1
                if attempts < 0 or time.monotonic() > until:
                    return program, prop
                if case.failing(candidate) is not None:
                    program, progress = candidate, True
                    break
        return program, prop


Seen = tuple[Recording, str, Blame]


def _silent(seen: Seen) -> bool:
    recording, _, blame = seen
    return isinstance(recording.events[blame.at], Quiet)


@dataclass
class _Case:
    """One suspicion: plans of `prop` that blame `name`."""

    hunter: Hunter
    prop: Property
    name: str

    def failing(self, program: Program, setting: Setting | None = None) -> Seen | None:
        """What playing `program` shows, if it still blames the same requirement."""
        plan = self.prop.plan(program, self.hunter.setting.config, ())
        recording = self.hunter.play(plan, setting)
        for name, level, blame in self.hunter.blamed(recording):
            if name == self.name:
                return recording, level, blame
        return None

    def fault(
        self,
        program: Program,
        plan: Plan,
        recording: Recording,
        level: str,
        blame: Blame,
        reproduced: int,
        after_s: float,
        took_s: float,
    ) -> Fault:
        """The report, with the requirement that the shortest plan points to."""
        breach = blame.breach
        name, also, why = self.name, tuple(n for n in (breach.requirement, *breach.also) if n != self.name), breach.why
        features = tuple(f.name for f in self.hunter.setting.protocol.features if f.name in plan.features)
        for feature in self.hunter.setting.protocol.features:
            rules = not feature.instead_of or name in feature.instead_of
            if feature.name in plan.features and feature.requirement in self.hunter.binding and rules:
                name, also, why = feature.requirement, (), f"{feature.why}: {why}"
                level = self.hunter.binding[name].level
                break
        binding = self.hunter.binding
        steady = breach.steady
        return Fault(
            requirement=name,
            level=level,
            also=tuple(n for n in also if n in binding),
            why=why,
            expected=binding[name].statement,
            property=self.prop.name,
            program=program,
            plan=plan,
            recording=recording,
            deciding=blame.at,
            reproduced=reproduced,
            tried=REPEATS,
            steady=steady,
            features=features,
            found_after_s=after_s,
            shrink_s=took_s,
            verdict="inconclusive" if steady and reproduced < REPEATS else "fail",
        )

    def vanished(self, program: Program, plan: Plan, after_s: float, took_s: float) -> Fault | None:
        """A failure that no repetition showed: try once more at length, then let it go without a word only if the
        text tolerates it or time explains it."""
        for _ in range(3 * REPEATS):
            again = self.failing(program)
            if again is not None:
                recording, level, blame = again
                return self.fault(program, plan, recording, level, blame, 1, after_s, took_s)
        return None
