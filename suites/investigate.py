"""From a failing plan to a fault that can be reported: confirm, shrink, explain, repeat.

The order matters. A silence is confirmed with long patience first, because a slow implementation is not a faulty one.
Then the program is shrunk within a budget of time and attempts. What remains in the shortest plan is needed for the
fault: a way of writing frames that must not matter, if it is still there, is what is wrong. At last the plan is
repeated and reported as k of n.
"""

from __future__ import annotations

import re
import time
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from impls.driver.drive import Recording, Setting
from impls.driver.link import MemoryTransport
from specs.events import Quiet
from specs.model import Blame, Judgement
from specs.plan import Plan, SendBytes, Step, Wait
from specs.protocol import Feature
from strategies.common import Program, simpler
from suites.deadline import Deadline, TimeUp
from suites.hunt import NO_TIME, Fault, Hunter, Investigated, Property

CONFIRM_MS = 10_000.0
"""Silence after which even a slow implementation will not answer any more."""
BRISK_MS, BRISK = 5_000.0, 5.0
"""The same in a run that has no time for more, with an implementation whose patience is so many times less: that is 30
times the slowest of its answers."""
AGAIN, REPEATS, REPEATS_S = 3, 5, 60.0
"""How often a plan is tried until it shows something once more; repetitions of the shortest plan, and seconds after
which no further one begins: each may have to wait."""
AGAIN_MS = 2_000.0
"""Silence that is enough in a repetition of what was silent for CONFIRM_MS: who is blamed wrongly
would have answered later than that each time, and never at all the first time."""
LEAST_S = 5.0
"""Seconds for looking once more for a failure that did not repeat, when the time for all investigations is used up."""
HASTE, HASTY_S = 2.5, 0.7
"""With less time than so many silences take, a silence is confirmed before it is shrunk for longer than the second."""
SEVERAL = 3
"""Repetitions that must have been made where a fault counts only if it is always there."""
DIFFER, DIFFER_S = 12, 20.0
"""Turns in which a plan with a way of writing must fail and one without it must not; half of them when slow."""
REST_MS, RESTS_MS = 1_000, 2_000
"""How long a server may be busy with connections that were left, before the next one comes; and all rests of a plan, in
which nobody must miss a sign of life."""
NOT_AGAIN = "it was seen once, and in no repetition"
HEALS = "it is gone when connections follow each other a second apart"
QUICK_MS = 60.0
"""Least patience while shrinking: a wrong step is noticed when the result is confirmed."""


@dataclass
class Investigator:
    """Callable as `Hunter` wants it.

    `shrink_s` and `attempts` bound the shrinking of one fault, `total_s` that of all of them, `repeats_s` what is
    repeated for one: an implementation with many faults must not keep its maker waiting for hours.
    """

    shrink_s: float = 5.0
    attempts: int = 600
    confirm_ms: float = CONFIRM_MS
    total_s: float = 120.0
    repeats_s: float = REPEATS_S

    @staticmethod
    def of_budget(budget_s: float) -> Investigator:
        """One that takes no more for a fault than what becomes a run with this budget."""
        return Investigator(
            shrink_s=min(5.0, max(0.5, budget_s / 10)),
            confirm_ms=min(CONFIRM_MS, max(BRISK_MS, budget_s * 500)),
            total_s=max(60.0, budget_s),
            repeats_s=min(REPEATS_S, max(LEAST_S, budget_s / 4)),
        )

    def __call__(
        self, hunter: Hunter, prop: Property, program: Program, name: str, after_s: float, silent: bool = False,
        until: Deadline | None = None,
    ) -> Investigated:  # fmt: skip
        """The fault behind `name`; none when it was only slowness, or could not be confirmed (see `Investigated`).
        `silent`: it was blamed after a final silence; `until`: what is not known by then is not settled. What has been
        confirmed by then is reported as it is, however long its plan."""
        case = _Case(hunter, prop, name, setting=hunter.certain, until=until or Deadline())
        try:
            return self._looked_into(case, program, after_s, silent)
        except TimeUp:
            return Investigated(case.proof.fault, "") if case.proof.fault is not None else Investigated(None, NO_TIME)

    def _looked_into(self, case: _Case, program: Program, after_s: float, silent: bool) -> Investigated:
        begun, name, hunter = time.monotonic(), case.name, case.hunter
        first = case.plan(program)
        seen = case.again(first)
        if seen is None:
            share = min(self.repeats_s, max(LEAST_S, self.total_s / 4))
            found = case.vanished(program, first, self._patient(case), after_s, begun, share)
            self.total_s -= time.monotonic() - begun
            # a silence that does not come again was slowness
            return Investigated(found, "" if found is not None or silent else NOT_AGAIN)
        if self._spoilt(case, seen):
            spoilt = case.spoilt(program, after_s, begun)
            return Investigated(spoilt, f"it may be what {spoilt.requirement} is about" if spoilt is not None else "")
        case = case.renamed(seen)
        if not _silent(seen):
            case.proof.fault = case.told(program, first, seen, 2, after_s, begun, tried=2)
        hasty = silent and self._hasty(case)
        spare_s = self._spare_s(case) if hasty else min(self.shrink_s, max(0.5, self.total_s / 4))
        short, shown_as = self._shortest(case, program, first, _kind(seen[2]), spare_s) if spare_s else (first, case)
        self.total_s -= time.monotonic() - begun
        if shown_as.name != name and not hunter.wanted(shown_as.name, shown_as.level):
            return Investigated(None, f"it may be {shown_as.name}, which shows in the same way")
        for plan, suspect in ((short, shown_as), (first, case)) if short != first else ((first, case),):
            shown = self._confirmed(suspect, plan, hasty=hasty)
            if shown is not None:
                plan, confirmed = shown  # noqa: PLW2901 - it may have been shown with rests
                suspect.proof.fault = suspect.told(program, plan, confirmed, 2, after_s, begun, tried=2)
                # what counts only if it is always so must not rest on answers that were slow
                setting = self._patient(suspect, AGAIN_MS) if confirmed[2].breach.steady else None
                about = confirmed[2].breach.about
                shows = list(self._repeated(suspect, plan, setting))
                count = 1 + sum(seen is not None and seen[2].breach.about == about for seen in shows)
                fault = suspect.fault(program, plan, confirmed, count, after_s, begun, tried=1 + len(shows))
                same = name in (fault.requirement, *fault.also)
                return Investigated(
                    fault, "" if same else f"it may be {fault.requirement}, which shows in the same way"
                )
        return Investigated(None, HEALS if case.healed or shown_as.healed else "")  # else it answered, given time

    def _hasty(self, case: _Case) -> bool:
        """True when waiting for one silence to be believed takes so much of the time left that shrinking must be let
        go."""
        real = not isinstance(case.setting.transport, MemoryTransport)
        return real and case.until.left() < HASTE * self._patient(case).patience_ms / 1000

    def _spare_s(self, case: _Case) -> float:
        """Seconds of haste that can be spared for a shorter plan, of what the silence to be believed leaves."""
        return HASTY_S if case.until.left() > self._patient(case).patience_ms / 1000 + 3 * HASTY_S else 0.0

    def _repeated(self, case: _Case, plan: Plan, setting: Setting | None) -> Iterator[Seen | None]:
        """What each repetition shows, as many as there is time for. None is needed: the fault is confirmed by now."""
        with suppress(TimeUp):
            for _ in _turns(REPEATS - 1, self.repeats_s):
                yield case.shown(plan, setting)

    def _spoilt(self, case: _Case, seen: Seen) -> bool:
        """True when even the simplest session fails in this way by now, which it did not before the hunt: then an
        earlier conversation is the cause, and nothing in this one."""
        if getattr(case.setting.transport, "beside", False):
            return False  # each conversation has a program of its own
        if not case.hunter.sound or case.setting.protocol.crash not in case.hunter.binding:
            return False
        smoke = case.hunter.smoke()
        return smoke is not None and all(case.shown(smoke, kind=_kind(seen[2])) is not None for _ in range(REPEATS))

    def _confirmed(self, case: _Case, plan: Plan, *, hasty: bool = False) -> tuple[Plan, Seen] | None:
        """`plan` and what it shows; a silence only if it holds with long patience, and without what is left to do of
        connections that were given up, in earlier conversations or in this one: who serves one after the other is busy
        with those first, and what is left of a subscription may take a message. Where there is time for one silence
        only, both are tried at once, and the plan is the one with rests."""
        seen = case.again(plan)
        if seen is None or not _silent(seen):
            return None if seen is None else (plan, seen)
        patient, smoke, calm = self._patient(case), case.hunter.smoke(), rested(plan)
        if smoke is not None and not case.hunter.beside:  # who holds several at once is not busy with others
            case.play(smoke, patient)
        if hasty and calm != plan and (seen := case.shown(calm, patient)) is not None:
            return calm, seen
        seen = case.shown(plan, patient)
        if seen is None or calm == plan:
            return None if seen is None else (plan, seen)
        # turn by turn, as in `differs`: what comes and goes is not forgiven because a rest happened to stand before it
        case.healed = all(
            case.play(calm, patient).judgement.verdict == "pass" and case.shown(plan) is not None for _ in range(2)
        )
        return None if case.healed else (plan, seen)

    def _patient(self, case: _Case, most_ms: float = CONFIRM_MS) -> Setting:
        """The setting of the run with the patience in which a silence is believed, or `most_ms` if that is less. A plan
        is over when it has shown what it is played for: each further silence would take as long."""
        setting = case.setting
        enough_ms = min(CONFIRM_MS, max(self.confirm_ms, BRISK * setting.patience_ms))
        patience_ms = max(min(enough_ms, most_ms), setting.patience_ms)
        return replace(setting, patience_ms=patience_ms, until=case.blames)

    def _shortest(self, case: _Case, program: Program, plan: Plan, kind: str, spare_s: float) -> tuple[Plan, _Case]:
        """A plan (and what it is a case of) that still fails and cannot be made simpler, or the budget's best.

        Programs are made simpler first: the same requirement must be blamed, then the same kind of failure is enough,
        because what a plan is blamed for may be no more than something that happened to stand beside the cause. Then
        the plan itself: no program may say it without what is left out. Once it shows without a known fault before it,
        only such plans will do: they prove that it has nothing to do with that one.
        """
        until, setting = time.monotonic() + spare_s, case.setting
        quick = replace(setting, patience_ms=max(QUICK_MS, setting.patience_ms / 4))
        if case.prop.hurry:
            calm = replace(case, prop=case.prop.unhurried())
            if calm.failing(program, quick) is not None:
                case, plan = calm, calm.plan(program)
        left = Attempts(self.attempts, until)
        for any_name in (False, True):
            while True:
                likeness = kind if any_name else ""
                candidates = left.of(simpler(program))
                found = case.simplest(((each, case.plan(each)) for each in candidates), quick, likeness)
                if found is None:
                    break
                (program, plan), seen = found
                case, kind = case.renamed(seen), _kind(seen[2])
        return self._plainest(case, plan, kind, quick, max(until, time.monotonic() + spare_s / 2))

    def _plainest(self, case: _Case, plan: Plan, kind: str, quick: Setting, until: float) -> tuple[Plan, _Case]:
        """`plan` without the features, connections and steps that the fault does not need."""
        left = Attempts(self.attempts // 2, until)
        while True:
            candidates = left.of(plainer(plan, case.setting.protocol.features))
            found = case.simplest(((None, candidate) for candidate in candidates), quick, kind)
            if found is None:
                return plan, case
            (_, plan), seen = found
            case, kind = case.renamed(seen), _kind(seen[2])


@dataclass
class Attempts:
    """How many plans may still be tried, and until when."""

    left: int
    until: float

    def of(self, candidates: Iterable[Any]) -> Iterator[Any]:
        """As many of the candidates as may be tried."""
        for candidate in candidates:
            self.left -= 1
            if self.left < 0 or time.monotonic() > self.until:
                return
            yield candidate


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


def _turns(count: int, seconds: float = REPEATS_S) -> Iterator[int]:
    """Numbers of repetitions, as many as there is time for; the first is always made."""
    until = time.monotonic() + seconds
    for n in range(count):
        if n and time.monotonic() > until:
            return
        yield n


Seen = tuple[Recording, str, Blame, str]
"""A recording, the level that counts, the blame, and the requirement that is blamed."""
_GRAVITY = {"MUST": 2, "SHOULD": 1}


def _silent(seen: Seen) -> bool:
    """True when all the patience of the run had run out before it was blamed: it may only be slow."""
    return any(isinstance(event, Quiet) and event.final for event in seen[0].events[: seen[2].at + 1])


_PARTICULARS = re.compile(r"""b?'(?:[^'\\]|\\.)*'|b?"(?:[^"\\]|\\.)*"|\d+""")


def _kind(blame: Blame) -> str:
    """What a failure looks like, whatever it is blamed on and whichever frame shows it: the words before the first
    colon, without what is quoted and without figures."""
    return _PARTICULARS.sub("", blame.breach.why).partition(":")[0]


@dataclass
class _Proof:
    """What an investigation could report if it had to end now; None while nothing is confirmed."""

    fault: Fault | None = None


@dataclass
class _Case:
    """One suspicion: plans of `prop` that blame `name`, at `level`. `healed`: the failure goes when connections follow
    each other at leisure. `alone`: it was seen without a known fault before it. `setting` is that of the hunt when this
    began; what is found meanwhile changes nothing."""

    hunter: Hunter
    prop: Property
    name: str
    setting: Setting
    level: str = ""
    healed: bool = False
    alone: bool = False
    until: Deadline = field(default_factory=Deadline)
    proof: _Proof = field(default_factory=_Proof)

    def play(self, plan: Plan, setting: Setting | None = None) -> Recording:
        """Drive one plan. Raises TimeUp when there was no time for the whole of it."""
        if self.until.over():
            raise TimeUp
        recording = self.hunter.play(plan, setting or self.setting, self.until)
        if self.until.over():
            raise TimeUp
        return recording

    def renamed(self, seen: Seen) -> _Case:
        """The case of what was seen."""
        return replace(self, name=seen[3], level=seen[1], alone=self.alone or not seen[0].judgement.known)

    def failing(self, program: Program, setting: Setting | None = None, kind: str = "") -> Seen | None:
        """What playing `program` shows; see `shown`."""
        return self.shown(self.plan(program), setting, kind)

    def plan(self, program: Program) -> Plan:
        """What `program` means to the property, with nothing avoided."""
        return self.prop.plan(program, self.setting.config, ())

    def shown(self, plan: Plan, setting: Setting | None = None, kind: str = "") -> Seen | None:
        """What playing `plan` shows, if it still blames the same requirement, or fails in the same `kind` and no less
        gravely."""
        recording = self.play(plan, setting)
        for name, level, blame in self.hunter.blamed(recording):
            grave = _GRAVITY.get(level, 0) >= _GRAVITY.get(self.level, 0)
            if name == self.name or (kind and grave and _kind(blame) == kind):
                return recording, level, blame, name
        return None

    def blames(self, judgement: Judgement) -> bool:
        """True when a judgement blames the requirement of this case."""
        return any(name == self.name for name, _, _ in self.hunter.counted(judgement))

    def simplest(
        self, candidates: Iterable[tuple[Any, Plan]], setting: Setting, kind: str
    ) -> tuple[tuple[Any, Plan], Seen] | None:
        """The first candidate that shows it without a known fault before it; else, unless it was seen so already, the
        first that shows it at all."""
        found = None
        for candidate in candidates:
            seen = self.shown(candidate[1], setting, kind)
            if seen is not None and not seen[0].judgement.known:
                return candidate, seen
            if seen is not None and not self.alone and found is None:
                found = candidate, seen
        return found

    def again(self, plan: Plan) -> Seen | None:
        """What `plan` shows in one of a few repetitions."""
        return next((seen for _ in range(AGAIN) if (seen := self.shown(plan)) is not None), None)

    def fault(
        self, program: Program, plan: Plan, seen: Seen, reproduced: int, after_s: float, begun: float, *,
        tried: int = REPEATS,
    ) -> Fault:  # fmt: skip
        """The report, with the requirement that the shortest plan points to."""
        found = self.told(program, plan, seen, reproduced, after_s, begun, tried=tried)
        breach, kind, binding = seen[2].breach, _kind(seen[2]), self.hunter.binding
        # that a fault is gone without a feature says nothing when it is not always there with it
        feature = self.culprit(program, plan, kind) if reproduced == tried else None
        if feature is not None:
            # a lapse stays one, whatever brings it about
            level = breach.level or binding[feature.requirement].level
            why, features = f"{feature.why}: {found.why}", (feature.name,)
            found = replace(found, requirement=feature.requirement, also=(), why=why, level=level, features=features)
        elif found.requirement == self.name and found.also and self.acquitted(program, plan, kind):
            name, also = found.also[0], found.also[1:]
            found = replace(found, requirement=name, also=also, level=breach.level or binding[name].level)
        return replace(found, shrink_s=time.monotonic() - begun)

    def told(
        self, program: Program, plan: Plan, seen: Seen, reproduced: int, after_s: float, begun: float, *, tried: int
    ) -> Fault:
        """The report by what is known now, without playing anything more."""
        recording, level, blame, _ = seen
        breach, binding = blame.breach, self.hunter.binding
        name, also, why = self.name, tuple(n for n in (breach.requirement, *breach.also) if n != self.name), breach.why
        if reproduced < tried and breach.otherwise in binding:
            name, also, level = breach.otherwise, (), binding[breach.otherwise].level
        behind = tuple(dict.fromkeys(known.breach.requirement for known in recording.judgement.known))
        rare = breach.steady and (reproduced < tried or tried < SEVERAL)
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
            tried=tried,
            steady=breach.steady,
            features=(),
            found_after_s=after_s,
            shrink_s=time.monotonic() - begun,
            verdict="inconclusive" if rare or behind else "fail",
            # the shortest conversation that shows it has a known fault in it, which may have led to it
            unsettled=f"it was seen only behind {', '.join(behind)}, which may have led to it" if behind else "",
            kind=breach.kind,
            behind=behind,
            set_aside=self.setting.set_aside,
        )

    def spoilt(self, program: Program, after_s: float, begun: float) -> Fault | None:
        """The report of a server that an earlier conversation has left unable to hold the simplest one."""
        hunter, crash = self.hunter, self.setting.protocol.crash
        smoke = hunter.smoke()
        if crash in hunter.faults or smoke is None:
            return None
        recording = self.play(smoke)
        for name, _, blame in hunter.blamed(recording):
            why = f"since an earlier conversation even the simplest session fails: {blame.breach.why}"
            spoilt = replace(
                blame, breach=replace(blame.breach, requirement=crash, also=(name,), why=why, steady=False)
            )
            level = hunter.binding[crash].level
            case = replace(self, name=crash, level=level)
            return case.fault(program, smoke, (recording, level, spoilt, crash), REPEATS, after_s, begun)
        return None

    def culprit(self, program: Program, plan: Plan, kind: str) -> Feature | None:
        """The way of writing frames without which the fault is gone, if one is left in the plan and is not what is
        blamed already."""
        for feature in self.setting.protocol.features:
            own = self.name == feature.requirement
            rules = own or not feature.instead_of or self.name in feature.instead_of
            if rules and feature.requirement in self.hunter.binding:
                others = self._without(feature, program, plan)
                if others and self.differs(plan, others, kind):
                    return None if own else feature
        return None

    def acquitted(self, program: Program, plan: Plan, kind: str) -> bool:
        """True if the blame is on a way of writing, and the fault is there without it."""
        blamed = (f for f in self.setting.protocol.features if f.requirement and f.requirement == self.name)
        return any(self.ever(other, kind) for feature in blamed for other in self._without(feature, program, plan))

    def _without(self, feature: Feature, program: Program, plan: Plan) -> list[Plan]:
        """A few plans that differ from this one in little but the feature; none when it is not there."""
        if feature.apart is not None:
            return list(feature.apart(plan))
        if feature.without is not None:
            other = feature.without(plan)
            return [] if other == plan else [other]
        if feature.name not in plan.features or not any(isinstance(step, SendBytes) for step in plan.steps):
            return []
        alike = (self.plan(p) for p in islice(simpler(program), 400) if len(p.ops) == len(program.ops))
        return list(islice((other for other in alike if feature.name not in other.features), 4))

    def differs(self, plan: Plan, others: list[Plan], kind: str) -> bool:
        """True if `plan` fails and none of `others` does, turn by turn, time after time: what is a race, or depends on
        the state that the implementation is in by now, must not be taken for a way of writing."""
        until = time.monotonic() + DIFFER_S
        for turn in range(max(DIFFER, len(others))):
            if self.shown(others[turn % len(others)], kind=kind) or not self.shown(plan, kind=kind):
                return False
            if turn >= max(DIFFER // 2, len(others) - 1) and time.monotonic() > until:
                break
        return True

    def ever(self, plan: Plan, kind: str) -> bool:
        """True if one of a few repetitions fails."""
        return any(self.shown(plan, kind=kind) is not None for _ in range(REPEATS))

    def vanished(
        self, program: Program, plan: Plan, patient: Setting, after_s: float, begun: float, seconds: float
    ) -> Fault | None:
        """A failure that did not repeat: try longer, and report it even if it shows only once more. All the patience is
        given at once: what is slow now and then is nothing but slow."""
        for turn in _turns(3 * REPEATS, min(REPEATS_S, seconds)):
            again = self.shown(plan, patient)
            if again is not None:
                return self.fault(program, plan, again, 1, after_s, begun, tried=AGAIN + turn + 1)
        return None
