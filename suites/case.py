"""One suspicion that is looked into: what plans show of it, and how it is reported."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from impls.driver.drive import Recording, Setting
from specs.events import Quiet
from specs.model import Blame, Breach, Judgement
from specs.plan import Plan, SendBytes, Wait
from specs.protocol import Feature
from strategies.common import Program, simpler
from suites.deadline import Deadline, TimeUp
from suites.hunt import Fault, Hunter, Property
from suites.pursuit import breach_of
from suites.shrinking import heard_out, plainer, plan_without
from suites.sightings import NOW_AND_THEN, home_of
from suites.vigils import late

AGAIN, REPEATS, REPEATS_S = 3, 5, 60.0
"""How often a plan is tried until it shows something once more; repetitions of the shortest plan, and seconds after
which no further one begins: each may have to wait."""
LONG = 8
"""So many steps of a conversation may bring an implementation down by their number alone."""
SEVERAL = 3
"""Repetitions that must have been made where a fault counts only if it is always there."""
SELDOM, QUICKLY_S = 60, 2.0
"""How often a plan is tried that did not show it again at once: a quarter of that, and more within so many seconds."""
DIFFER, DIFFER_S, FEW = 12, 20.0, 3
"""Turns in which a plan with a way of writing must fail and one without it must not; half of them when slow, and few
where the same was seen of a longer plan."""

FEWER = 20
"""Plans with less in them that are played to see whether a known fault is left."""


def turns(count: int, seconds: float = REPEATS_S) -> Iterator[int]:
    """Numbers of repetitions, as many as there is time for; the first is always made."""
    until = time.monotonic() + seconds
    for n in range(count):
        if n and time.monotonic() > until:
            return
        yield n


Seen = tuple[Recording, str, Blame, str]
"""A recording, the level that counts, the blame, and the requirement that is blamed."""
_GRAVITY = {"MUST": 2, "SHOULD": 1}


def is_silent(seen: Seen) -> bool:
    """True when all the patience of the run had run out before it was blamed: it may only be slow."""
    return silences(seen) > 0


def silences(seen: Seen) -> int:
    """How often all the patience of the run had run out by the event that was blamed."""
    return sum(isinstance(event, Quiet) and event.final for event in seen[0].events[: seen[2].at + 1])


_PARTICULARS = re.compile(r"""b?'(?:[^'\\]|\\.)*'|b?"(?:[^"\\]|\\.)*"|\d+""")


def kind_of(blame: Blame) -> str:
    """What a failure looks like, whatever it is blamed on and whichever frame shows it: the words before the first
    colon, without what is quoted and without figures."""
    return _PARTICULARS.sub("", blame.breach.why).partition(":")[0]


def _unmet(blame: Blame) -> str:
    """The requirement of the duty that was not met, whatever it is for; "" where it is no duty."""
    return blame.breach.duty.partition(" ")[0]


@dataclass
class Proof:
    """What an investigation could report if it had to end now; None while nothing is confirmed. `tried`: how often the
    last plan was played until it showed it again. `in_time`: the last plan, and what it showed, that was given more
    time than the hunt gives, and did not show what is looked for."""

    fault: Fault | None = None
    tried: int = 0
    in_time: tuple[Plan, Recording] | None = None


@dataclass
class Case:
    """One suspicion: plans of `prop` that blame `name`, at `level`. `healed`: the failure goes when connections follow
    each other at leisure. `alone`: it was seen without a known fault before it. `asks`: its plans ask for what is known
    to be left out. `bare` are ways of writing octets that none of its plans has, since it shows without them; `way` is
    one without which it does not. `setting` is that of the hunt when this began; what is found meanwhile changes
    nothing."""

    hunter: Hunter
    prop: Property
    name: str
    setting: Setting
    level: str = ""
    healed: bool = False
    alone: bool = False
    asks: bool = False
    bare: tuple[Feature, ...] = ()
    way: Feature | None = None
    until: Deadline = field(default_factory=Deadline)
    proof: Proof = field(default_factory=Proof)

    def play(self, plan: Plan, setting: Setting | None = None) -> Recording:
        """Drive one plan. Raises TimeUp when there was no time for the whole of it."""
        if self.until.over():
            raise TimeUp
        kills = self.name == self.setting.protocol.crash
        recording = self.hunter.play(plan, setting or self.setting, self.until, alone=kills)
        if self.until.over():
            raise TimeUp
        return recording

    def renamed(self, seen: Seen) -> Case:
        """The case of what was seen."""
        return replace(self, name=seen[3], level=seen[1], alone=self.alone or not seen[0].judgement.known)

    def failing(self, program: Program, setting: Setting | None = None, kind: str = "") -> Seen | None:
        """What playing `program` shows; see `shown`."""
        return self.shown(self.plan(program), setting, kind)

    def plan(self, program: Program) -> Plan:
        """What `program` means to the property, with nothing avoided but what is known to be left out, unless this case
        needs that (`asks`)."""
        plan = self.prop.plan(program, self.setting.config, ())
        return plan_without(plan if self.asks else self.hunter.spared(self.hunter.bare(plan)), self.bare)

    def shown(self, plan: Plan, setting: Setting | None = None, kind: str = "") -> Seen | None:
        """What playing `plan` shows, if it still blames the same requirement, or fails in the same `kind` and no less
        gravely."""
        if self.way is not None and plan_without(plan, (self.way,)) == plan:
            return None  # it needs a way of writing that this plan has not
        recording = self.play(plan, setting)
        seen = self.seen_in(recording, kind)
        if seen is None and setting is not None and setting.patience_ms > self.setting.patience_ms:
            self.proof.in_time = plan, recording
        return seen

    def shown_beside(
        self, plan: Plan, setting: Setting, again: Setting, times: int
    ) -> tuple[Seen | None, list[Seen | None]]:
        """What playing `plan` with one setting shows, and what so many plays of it show that go on beside it with
        another one."""
        if not times:
            return self.shown(plan, setting), []
        with ThreadPoolExecutor(times) as pool:
            others = [pool.submit(self.shown, plan, again) for _ in range(times)]
            return self.shown(plan, setting), [other.result() for other in others]

    def seen_in(self, recording: Recording, kind: str = "", duty: str = "") -> Seen | None:
        """The same of a plan that was played; `duty` is one that may be left unmet in place of what looks alike."""
        for name, level, blame in self.hunter.blamed(recording):
            grave = _GRAVITY.get(level, 0) >= _GRAVITY.get(self.level, 0)
            alike = bool(kind and kind_of(blame) == kind) or bool(duty and _unmet(blame) == duty)
            if name == self.name or (grave and alike):
                return recording, level, blame, name
        return None

    def blames(self, judgement: Judgement) -> bool:
        """True when a judgement blames the requirement of this case."""
        return any(name == self.name for name, _, _ in self.hunter.counted(judgement))

    def apart_from_writing(self, plan: Plan, seen: Seen) -> tuple[Case, Plan, Seen] | None:
        """The case without the ways of putting frames into octets that it does not need, or with the one that it needs;
        what `plan` is then, and what it shows. None where a known fault shows in the same way without one of them.

        This comes before anything is shrunk, so that a fault which is about how frames are written is named after that,
        even if there is no time for more.
        """
        ways = [f for f in self.setting.protocol.features if f.octets and plan_without(plan, (f,)) != plan]
        kind, case = kind_of(seen[2]), self
        # which of two frames an answer is for may be open: what counts is that one is missing
        duty = _unmet(seen[2])
        for some in ((tuple(ways),) if len(ways) > 1 else ()) + tuple((way,) for way in ways):
            other = plan_without(plan, some)
            if other == plan:  # what was left out before had it
                continue
            recording = case.play(other)
            without = case.seen_in(recording, kind, duty)
            if without is not None:
                case, plan, seen = replace(case.renamed(without), bare=(*case.bare, *some)), other, without
            elif any(kind_of(known) == kind for known in recording.judgement.known):
                return None
            elif len(some) == 1 and case.blamable(some[0]) and case.alternates(plan, other, kind):
                return replace(case, way=some[0]), plan, seen
        return case, plan, seen

    @property
    def called(self) -> str:
        """The requirement that is blamed if nothing more is found out."""
        return self.name if self.way is None else self.way.requirement

    def blamable(self, feature: Feature) -> bool:
        """True when what this case is about may be a matter of a feature."""
        rules = not feature.instead_of or self.name in feature.instead_of
        return (rules or self.name == feature.requirement) and feature.requirement in self.hunter.binding

    def alternates(self, plan: Plan, other: Plan, kind: str) -> bool:
        """True if `plan` fails and `other` does not, twice more."""
        return all(self.shown(plan, kind=kind) and not self.shown(other, kind=kind) for _ in range(2))

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

    def again(self, plan: Plan, *, hears_out: bool = False) -> Seen | None:
        """What `plan` shows in one of a few repetitions, or a moment behind its end (`hears_out`)."""
        plan = heard_out(plan, int(self.setting.patience_ms)) if hears_out else plan
        for turn in range(AGAIN):
            self.proof.tried = turn + 1
            if (seen := self.shown(plan)) is not None:
                return seen
        return None

    def shorter(self, program: Program, plan: Plan, seen: Seen) -> None:
        """Let what is reported, if there is no time for more, be told by a shorter plan that shows it as well."""
        told = self.proof.fault
        if told is None or is_silent(seen) or seen[0].judgement.known or len(plan.steps) >= len(told.plan.steps):
            return
        if told.requirement == self.called and not told.behind:
            begun = time.monotonic() - told.shrink_s
            self.proof.fault = self.told(
                program, plan, seen, told.reproduced, told.found_after_s, begun, tried=told.tried
            )

    def fault(
        self, program: Program, plan: Plan, seen: Seen, reproduced: int, after_s: float, begun: float, *,
        tried: int = REPEATS,
    ) -> Fault:  # fmt: skip
        """The report, with the requirement that the shortest plan points to."""
        found = self.told(program, plan, seen, reproduced, after_s, begun, tried=tried)
        breach, kind, binding = seen[2].breach, kind_of(seen[2]), self.hunter.binding
        # that a fault is gone without a feature says nothing when it is not always there with it
        steady = reproduced == tried
        feature = replace(self, way=None).culprit(program, plan, kind, self.way) if steady else None
        if steady and feature is None and self.way is not None:
            found = replace(self, way=None).told(program, plan, seen, reproduced, after_s, begun, tried=tried)
        if feature is not None:
            found = replace(found, why=breach.why)
            # a lapse stays one, whatever brings it about
            level = breach.level or binding[feature.requirement].level
            why = f"{feature.why}: {found.why}"
            found = replace(found, requirement=feature.requirement, also=(), why=why, level=level, rivals=())
            found = replace(found, features=(feature.name,), kind=feature.name)
        elif self.way is None and found.requirement == self.name and found.also and self.acquitted(program, plan, kind):
            name, also = found.also[0], found.also[1:]
            level = breach.level or binding[name].level
            found = replace(found, requirement=name, also=also, level=level, rivals=())
        if breach.duty and not found.features:
            # which answer is missing where a way of writing is to blame is one sort of failure
            ways = (each.name for each in self.setting.protocol.features if each.requirement == found.requirement)
            found = replace(found, kind=next(ways, found.kind))
        return replace(found, shrink_s=time.monotonic() - begun)

    def told(
        self, program: Program, plan: Plan, seen: Seen, reproduced: int, after_s: float, begun: float, *, tried: int
    ) -> Fault:
        """The report by what is known now, without playing anything more."""
        recording, level, blame, _ = seen
        breach, binding = blame.breach, self.hunter.binding
        name, also, why = self.name, tuple(n for n in (breach.requirement, *breach.also) if n != self.name), breach.why
        now_and_then = self._comes_and_goes(breach, sometimes=2 * reproduced <= tried)
        if now_and_then:
            name, also = home_of(breach), ()
            level = breach.level or binding[name].level
        features: tuple[str, ...] = ()
        if self.way is not None and name != self.way.requirement:
            name, also, features = self.way.requirement, (), (self.way.name,)
            level, why = breach.level or binding[name].level, f"{self.way.why}: {why}"
        behind = tuple(dict.fromkeys(known.breach.requirement for known in recording.judgement.known))
        if self.asks:  # without what is known to be left out it is not there
            left_out = dict.fromkeys(each.partition(" ")[0] for each in sorted(self.hunter.suspects.unasked))
            behind = behind or tuple(name for name in left_out if name != self.setting.protocol.crash)
        rare = breach.steady and (reproduced < tried or tried < SEVERAL)
        # the shortest conversation that shows it may have a known fault in it
        unsettled = f"it was seen only behind {', '.join(behind)}, which may have led to it" if behind else ""
        if late(recording, blame) and reproduced < tried and not unsettled:
            # a machine that was busy for a moment looks the same
            often = f"{reproduced} of {tried} times"
            unsettled = f"it is a matter of time, and was seen {often}: only what is late each time counts"
        seldom = name == self.setting.protocol.crash and reproduced < tried  # it may end otherwise next time
        fault = Fault(
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
            features=features,
            found_after_s=after_s,
            shrink_s=time.monotonic() - begun,
            verdict="inconclusive" if rare or unsettled else "fail",
            unsettled=unsettled,
            kind=NOW_AND_THEN if now_and_then else features[0] if features else "" if seldom else breach.kind,
            behind=behind,
            set_aside=self.setting.set_aside,
            sort=breach.fingerprint,
            rivals=breach.rivals if name == breach.requirement else (breach.fingerprint,),
        )
        return self.in_any_case(fault) if reproduced < tried or tried < SEVERAL else fault

    def in_any_case(self, fault: Fault) -> Fault:
        """A fault that is not shown each time, or was not played often enough to know, by what is broken in any case
        (`Breach.otherwise`), and no graver for that. One that needs a way of writing has its name by that."""
        breach, binding = breach_of(fault), self.hunter.binding
        home, _, kind = breach.otherwise.partition(" ") if breach is not None else ("", "", "")
        if breach is None or home not in binding or self.way is not None or fault.kind == NOW_AND_THEN:
            return fault
        return replace(
            fault, requirement=home, also=(), kind=kind or fault.kind, rivals=(*breach.rivals, breach.fingerprint)
        )

    def _comes_and_goes(self, breach: Breach, *, sometimes: bool) -> bool:
        """True for what is missing now and then: it is a matter of the duty, and not of what stood beside it."""
        rare = sometimes or self.hunter.sightings.of(breach).rare
        return self.way is None and bool(breach.duty) and rare and home_of(breach) in self.hunter.binding

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

    def ends_anyway(self, fault: Fault, program: Program, after_s: float, begun: float) -> Fault | None:
        """The report of an implementation that ends by a count: a long conversation ends it each time, and so do as
        many of the simplest."""
        hunter, crash, smoke = self.hunter, self.setting.protocol.crash, self.hunter.smoke()
        steps = sum(not isinstance(step, Wait) for step in fault.plan.steps)
        if fault.requirement != crash or fault.reproduced < fault.tried or steps < LONG or not hunter.sound:
            return None
        if smoke is None or getattr(self.setting.transport, "own", False):
            return None  # or each conversation has a program of its own
        for turn in range(2 * steps):
            seen = self.shown(smoke)
            if seen is not None and seen[3] == crash:
                return self.told(program, smoke, seen, 1, after_s, begun, tried=turn + 1)
        return None

    def culprit(self, program: Program, plan: Plan, kind: str, way: Feature | None = None) -> Feature | None:
        """The way of writing frames without which the fault is gone, if one is left in the plan and is not what is
        blamed already. `way` was seen to be needed in a longer plan, so a few turns are enough."""
        for feature in self.setting.protocol.features:
            own = self.name == feature.requirement
            if self.blamable(feature):
                others = self._without(feature, program, plan)
                if others and self.differs(plan, others, kind, FEW if feature == way else DIFFER):
                    return None if own else feature
        return None

    def known_otherwise(self, program: Program, plan: Plan, seen: Seen) -> str:
        """The known fault that leaves the same duty unmet, or is the same in any case (`Breach.otherwise`), when `plan`
        is written without a feature, or, of the latter, lacks a step, if there is one: then what is left out only gave
        it another name."""
        breach, kind = seen[2].breach, kind_of(seen[2])

        def same(blame: Blame) -> bool:
            return blame.breach.duty == breach.duty and (bool(breach.duty) or kind_of(blame) == kind)

        vague, known = bool(breach.duty or breach.otherwise), sum(map(same, seen[0].judgement.known))
        if not vague or not self.setting.set_aside or (breach.duty and known):
            return ""
        others = [self._without(feature, program, plan) for feature in self.setting.protocol.features]
        lacking = () if breach.duty else islice(plainer(plan, ()), FEWER)
        for other in (*(plan for plans in others for plan in plans), *lacking):
            found = [blame.breach.requirement for blame in self.play(other).judgement.known if same(blame)]
            if len(found) > known:
                return found[-1]
        return ""

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

    def differs(self, plan: Plan, others: list[Plan], kind: str, most: int = DIFFER) -> bool:
        """True if `plan` fails and none of `others` does, turn by turn, time after time: what is a race, or depends on
        the state that the implementation is in by now, must not be taken for a way of writing."""
        until = time.monotonic() + DIFFER_S
        for turn in range(max(most, len(others))):
            if self.shown(others[turn % len(others)], kind=kind) or not self.shown(plan, kind=kind):
                return False
            if turn >= max(most // 2, len(others) - 1) and time.monotonic() > until:
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
        enough, quickly = time.monotonic() + min(REPEATS_S, seconds), time.monotonic() + QUICKLY_S
        for turn in range(SELDOM):
            if turn and time.monotonic() > (enough if turn < 3 * REPEATS else min(enough, quickly)):
                break
            again = self.shown(plan, patient)
            if again is not None:
                return self.fault(program, plan, again, 1, after_s, begun, tried=AGAIN + turn + 1)
        return None
