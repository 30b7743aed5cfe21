"""From a failing plan to a fault that can be reported: confirm, shrink, explain, repeat.

The order matters. A silence is confirmed with long patience first, because a slow implementation is not a faulty one.
Then the program is shrunk within a budget of time and attempts. What remains in the shortest plan is needed for the
fault: a way of writing frames that must not matter, if it is still there, is what is wrong. At last the plan is
repeated and reported as k of n.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from itertools import islice

from impls.drive import Recording, Setting
from specs.events import Quiet
from specs.model import Blame
from specs.plan import Plan
from specs.protocol import Feature
from strategies.common import Program, simpler
from suites.hunt import Fault, Hunter, Property

CONFIRM_MS = 10_000.0
"""Silence after which even a slow implementation will not answer any more."""
REPEATS = 5
"""Repetitions of the shortest plan."""
TOGETHER = "together"
"""The feature that a pipelined plan has as a whole."""


QUICK_MS = 60.0
"""Least patience while shrinking: a wrong step is noticed when the result is confirmed."""


@dataclass
class Investigator:
    """Callable as `Hunter` wants it.

    `shrink_s` and `attempts` bound the shrinking of one fault, `total_s` that of all of them: an implementation with
    many faults must not keep its maker waiting for hours.
    """

    shrink_s: float = 5.0
    attempts: int = 600
    confirm_ms: float = CONFIRM_MS
    total_s: float = 120.0

    def __call__(self, hunter: Hunter, prop: Property, program: Program, name: str, after_s: float) -> Fault | None:
        """The fault behind `name`, or None when it was only slowness."""
        begun = time.monotonic()
        case = _Case(hunter, prop, name)
        seen = next((again for _ in range(3) if (again := case.failing(program)) is not None), None)
        if seen is None:
            return case.vanished(program, after_s, begun)
        short, its_case = self._shortest(case, program, _kind(seen))
        self.total_s -= time.monotonic() - begun
        if its_case.name != name and its_case.name in hunter.faults:
            return None  # a fault that is known already, behind another symptom
        for candidate, suspect in ((short, its_case), (program, case)):
            confirmed = self._confirmed(suspect, candidate)
            if confirmed is not None:
                shown = 1 + sum(suspect.failing(candidate) is not None for _ in range(REPEATS - 1))
                return suspect.fault(candidate, confirmed, shown, after_s, begun)
        return None  # it answered, given time

    def _confirmed(self, case: _Case, program: Program) -> Seen | None:
        """What `program` shows; a silence only if it holds with long patience."""
        seen = next((again for _ in range(3) if (again := case.failing(program)) is not None), None)
        if seen is None or not _silent(seen):
            return seen
        setting = case.hunter.setting
        return case.failing(program, replace(setting, patience_ms=max(self.confirm_ms, setting.patience_ms)))

    def _shortest(self, case: _Case, program: Program, kind: str) -> tuple[Program, _Case]:
        """A program (and what it is a case of) that still fails and cannot be made simpler, or the budget's best.

        First the same requirement must be blamed. Then the same kind of failure is enough: what a plan is blamed for
        may be no more than something that happened to stand beside the cause.
        """
        until = time.monotonic() + min(self.shrink_s, max(0.5, self.total_s / 4))
        attempts, setting = self.attempts, case.hunter.setting
        quick = replace(setting, patience_ms=max(QUICK_MS, setting.patience_ms / 4))
        if case.prop.hurry:
            calm = _Case(case.hunter, case.prop.unhurried(), case.name)
            if calm.failing(program, quick) is not None:
                case = calm
        for any_name in (False, True):
            progress = True
            while progress:
                progress = False
                for candidate in simpler(program):
                    attempts -= 1
                    if attempts < 0 or time.monotonic() > until:
                        return program, case
                    seen = case.failing(candidate, quick, kind if any_name else "")
                    if seen is not None:
                        program, progress = candidate, True
                        case = _Case(case.hunter, case.prop, seen[3])
                        break
        return program, case


Seen = tuple[Recording, str, Blame, str]
"""A recording, the level that counts, the blame, and the requirement that is blamed."""


def _silent(seen: Seen) -> bool:
    return isinstance(seen[0].events[seen[2].at], Quiet)


def _kind(seen: Seen) -> str:
    """What a failure looks like, whatever it is blamed on: the words before the first colon."""
    return seen[2].breach.why.partition(":")[0]


@dataclass
class _Case:
    """One suspicion: plans of `prop` that blame `name`."""

    hunter: Hunter
    prop: Property
    name: str

    def failing(self, program: Program, setting: Setting | None = None, kind: str = "") -> Seen | None:
        """What playing `program` shows, if it still blames the same requirement, or fails in the same `kind`."""
        plan = self.prop.plan(program, self.hunter.setting.config, ())
        recording = self.hunter.play(plan, setting)
        for name, level, blame in self.hunter.blamed(recording):
            if name == self.name or (kind and blame.breach.why.partition(":")[0] == kind):
                return recording, level, blame, name
        return None

    def fault(self, program: Program, seen: Seen, reproduced: int, after_s: float, begun: float) -> Fault:
        """The report, with the requirement that the shortest plan points to."""
        recording, level, blame, _ = seen
        breach, binding = blame.breach, self.hunter.binding
        plan = self.prop.plan(program, self.hunter.setting.config, ())
        name, also, why = self.name, tuple(n for n in (breach.requirement, *breach.also) if n != self.name), breach.why
        feature = self.culprit(program, plan)
        if feature is not None:
            name, also, why = feature.requirement, (), f"{feature.why}: {why}"
            level = binding[name].level
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
            steady=breach.steady,
            features=() if feature is None else (feature.name,),
            found_after_s=after_s,
            shrink_s=time.monotonic() - begun,
            verdict="inconclusive" if breach.steady and reproduced < REPEATS else "fail",
        )

    def culprit(self, program: Program, plan: Plan) -> Feature | None:
        """The way of writing frames without which the fault is gone, if one is left in the plan."""
        for feature in self.hunter.setting.protocol.features:
            rules = not feature.instead_of or self.name in feature.instead_of
            if feature.name in plan.features and feature.requirement in self.hunter.binding and rules:
                if self.prop.hurry and feature.name == TOGETHER:
                    without = _Case(self.hunter, self.prop.unhurried(), self.name)
                    needed = not without.ever(program)
                else:
                    needed = not any(self.ever(other) for other in self._without(feature, program))
                if needed:
                    return feature
        return None

    def _without(self, feature: Feature, program: Program) -> list[Program]:
        """A few programs that differ from this one in little but the feature."""
        config = self.hunter.setting.config
        return [
            other
            for other in islice(simpler(program), 400)
            if len(other.ops) == len(program.ops) and feature.name not in self.prop.plan(other, config, ()).features
        ][:4]

    def ever(self, program: Program) -> bool:
        """True if one of a few repetitions fails: what is a race must not be taken for a way of writing."""
        return any(self.failing(program) is not None for _ in range(3))

    def vanished(self, program: Program, after_s: float, begun: float) -> Fault | None:
        """A failure that did not repeat: try longer, and report it even if it shows only once more."""
        for _ in range(3 * REPEATS):
            again = self.failing(program)
            if again is not None:
                return self.fault(program, again, 1, after_s, begun)
        return None
