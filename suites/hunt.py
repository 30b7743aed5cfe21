"""Looking for faults: draw, drive, judge, and go on.

A property is a strategy of programs and their interpretation. A hunt plays as many plans as its time allows. A fault
found does not end it: the fault is investigated (`suites.investigate`), its requirement set aside, and the hunt goes on
for others.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from impls.driver.drive import Recording, Setting
from impls.driver.link import MemoryTransport
from reports.result import sort_of
from specs.model import Blame, Breach, Judgement
from specs.plan import Plan
from specs.requirement import Requirement
from strategies.common import Program
from suites.deadline import Deadline
from suites.deaths import outlived
from suites.draws import Draws
from suites.ground import Ground
from suites.hushed import SIMPLEST, Hushed
from suites.lanes import Lanes
from suites.playing import Playing
from suites.pursuit import NOTHING, Fault, Investigated, Property, Pursuit, Tally, one_plan
from suites.shrinking import plan_without
from suites.sightings import Sightings
from suites.suspects import Investigate, Suspects
from suites.vigils import BELIEVED_MS, Vigils

__all__ = ["Fault", "Hunter", "Investigate", "Investigated", "Property", "Pursuit", "Tally"]

LATE_S = 2.0
"""How long plans that were begun in time may take when the hunt is over."""
LET_BY_S = 0.005
"""How long it waits at most for what is done beside the hunt, before another property goes on."""
ASKED_EVERY = 4
"""One plan in so many asks for what is known to be left out: something may be judged only behind that."""
SORTS = 8
"""How many sorts of failure of one requirement are looked into at most, each of which may have two names."""


class Hunter:
    """Hunts over one implementation. `binding` are the requirements that it must answer for.

    `report` gets every fault as soon as it is known, `counted` what comes and goes once more in the end, with how often
    it was met, `trouble` what is not the implementation's fault. `settle` is
    called after each plan; it restarts an implementation that died and answers how it did. With `lanes` investigations
    go on beside the hunt, and `at_once` conversations where each takes long; without, it stands still for them, for
    `looking_s` seconds altogether. `more` says of which requirements every sort of failure is looked for, not only one.
    A silence is believed after `believed_ms`.
    """

    def __init__(
        self,
        setting: Setting,
        binding: Mapping[str, Requirement],
        *,
        investigate: Investigate,
        run_seed: int = 0,
        report: Callable[[Fault], None] = lambda fault: None,
        counted: Callable[[Fault], None] = lambda fault: None,
        trouble: Callable[[str, str], None] = lambda where, message: None,
        settle: Callable[[Recording], str] = lambda recording: "",
        prefix: str = "w",
        deadline: Deadline | None = None,
        lanes: Lanes | None = None,
        at_once: int = 0,
        looking_s: float = math.inf,
        more: Callable[[str], bool] = lambda requirement: False,
        believed_ms: float = BELIEVED_MS,
    ) -> None:
        self.setting = setting
        self.binding = binding
        self.faults: dict[str, Fault] = {}
        self.sound: bool | None = None
        """True when the simplest session passed before the first hunt; None before that."""
        self._simplest: tuple[Plan, Recording] | None = None
        self.judged: set[str] = set()
        """The requirements of `binding` that were judged."""
        self.sorts: set[str] = set()
        """The sorts of failure that are known, by their own name and by that which the model gives them."""
        self.found: list[Fault] = []
        """Every fault that was reported, each sort of failure once."""
        self.failing: set[str] = set()
        """The requirements that fail by these as a MUST, or beside one."""
        self._more = more
        self.ground = Ground(settle, prefix, deadline or Deadline())
        self.until = self.ground.deadline
        """When hunting ends; investigations may go on until the deadline."""
        self.sightings = Sightings(
            clocked=not isinstance(setting.transport, MemoryTransport), crash=setting.protocol.crash
        )
        self.suspects = Suspects(self, investigate, report, lanes, looking_s, counted)
        self._seed = run_seed
        self._trouble = trouble
        self.progress: Callable[[], None] = _nothing
        """Called after each turn, and now and then while the hunt waits."""
        self._lanes = lanes
        self.playing = Playing(self, Lanes(at_once or lanes.width) if lanes is not None else None)
        self.vigils = Vigils(self, believed_ms)
        self.hushed = Hushed(self, believed_ms)
        self.played: set[tuple[str, Program]] = set()
        """By the key of their property, the programs that were played to their ends."""
        self._holes: set[str] = set()
        self.survived: set[str] = set()
        """What did not bring the implementation down (`Protocol.saying`): it has said something behind that."""

    @property
    def beside(self) -> bool:
        """True when suspects are looked into, and long rests taken, beside the hunt."""
        return self._lanes is not None

    def play(
        self, plan: Plan, setting: Setting | None = None, until: Deadline | None = None, *, alone: bool = False
    ) -> Recording:
        """Drive one plan with fresh names; `alone`: see `Ground.play`."""
        return self.ground.play(plan, setting or self.setting, until, alone=alone)

    def smoke(self) -> Plan | None:
        """The simplest session, if the protocol knows one."""
        protocol = self.setting.protocol
        return protocol.smoke(self.setting.config) if protocol.smoke is not None else None

    def wanted(self, requirement: str, level: str, verdict: str = "fail", kind: str = "") -> bool:
        """True when nothing as grave is known yet of `requirement`; also for a MUST that is broken in another way,
        where `more` than one sort of failure is asked for."""
        return self._graver(requirement, level, verdict) or (
            bool(kind) and verdict == "fail" and level == "MUST" and self.several(requirement)
            and sort_of(f"{requirement} {kind}") not in self.sorts
        )  # fmt: skip

    def widens(self, breach: Breach, level: str) -> bool:
        """True for another sort of failure of a requirement that is known to fail, where something fails beside it that
        has not failed yet: which of them is met first shall not decide what fails in the end."""
        return (
            level == "MUST" and bool(breach.kind) and breach.fingerprint not in self.sorts
            and any(name in self.binding and name not in self.failing for name in breach.also)
            and sum(each.partition(" ")[0] == breach.requirement for each in self.sorts) < SORTS
        )  # fmt: skip

    def adds(self, fault: Fault) -> bool:
        """True for a fault by which something fails that has not failed yet."""
        return fault.verdict == "fail" and fault.level == "MUST" and not self.failing.issuperset(fault.also)

    def several(self, requirement: str) -> bool:
        """True where more than one sort of failure of a requirement is asked for, and not many are known yet."""
        known = sum(each.partition(" ")[0] == requirement for each in self.sorts)
        return self._more(requirement) and known < SORTS

    def _graver(self, requirement: str, level: str, verdict: str) -> bool:
        known = self.faults.get(requirement)
        if known is None:
            return True
        return (verdict == "fail", level == "MUST") > (known.verdict == "fail", known.level == "MUST")

    def keep(self, fault: Fault) -> None:
        """Remember a fault that was found."""
        if self._graver(fault.requirement, fault.level, fault.verdict):
            self.faults[fault.requirement] = fault
        self.found = [
            each for each in self.found if each.fingerprint() != fault.fingerprint() or not each.fingerprint()
        ]
        self.found.append(fault)
        if fault.verdict == "fail":
            self.sorts |= {sort_of(fault.fingerprint()), sort_of(fault.sort)} - {""}
            if fault.level == "MUST":
                self.failing |= {fault.requirement, *fault.also}

    def aside(self, known: frozenset[str]) -> Setting:
        """The setting of the hunt with other faults set aside."""
        return replace(self.setting, set_aside=known)

    def blamed(self, recording: Recording) -> list[tuple[str, str, Blame]]:
        """(requirement, level, blame) for everything that counts against this implementation's claim."""
        return self.counted(recording.judgement)

    def counted(self, judgement: Judgement) -> list[tuple[str, str, Blame]]:
        """The same of a judgement, be it of a conversation that goes on."""
        found = []
        for blame in judgement.faults:
            breach = blame.breach
            name = next((n for n in (breach.requirement, *breach.also) if n in self.binding), None)
            if name is not None:
                found.append((name, breach.level or self.binding[name].level, blame))
        return found

    def bare(self, plan: Plan) -> Plan:
        """`plan` without ways of writing octets that are known to matter each time: nothing lies behind those but
        consequences."""
        known = self.suspects.unwritten
        return plan_without(plan, (f for f in self.setting.protocol.features if f.octets and f.requirement in known))

    def spared(self, plan: Plan) -> Plan:
        """`plan` without asking for what is known to be left out each time, and without what has always been deadly."""
        unasked = self.suspects.unasked - self.survived
        return self.setting.protocol.spared(plan, unasked) if unasked else plan

    # -- hunting --------------------------------------------------------------------------------------------------

    def hunt(self, prop: Property, budget_s: float) -> Tally:
        """Play plans of `prop` for `budget_s` seconds; investigations may take longer."""
        begun = time.monotonic()
        self.open()
        pursuit = self.pursuit(prop)
        while pursuit.used_s < budget_s and not self.ground.deadline.over():
            self.pursue(pursuit, budget_s - pursuit.used_s)
        self.finish()
        pursuit.tally.seconds = time.monotonic() - begun
        return pursuit.tally

    def prepare(self) -> None:
        """Find out before the first hunt whether the simplest session passes."""
        if self.sound is None:
            smoke = self.smoke()
            self._simplest = (smoke, self.play(smoke)) if smoke is not None else None
            self.sound = self._simplest is not None and not self.blamed(self._simplest[1])

    def open(self) -> Pursuit | None:
        """Judge the simplest session before anything else is played: no shorter conversation shows what it breaks, and
        a silence that it ends in is waited for while the hunt goes on. What came of it; None the second time, and where
        the protocol knows none."""
        self.prepare()
        if self._simplest is None:
            return None
        (plan, recording), self._simplest = self._simplest, None
        pursuit = self.pursuit(one_plan(SIMPLEST, plan))
        pursuit.tally.seconds = recording.took_s
        try:
            self.judge(pursuit, NOTHING, plan, recording)
        except Exception as error:  # noqa: BLE001 - it is told where the property is reported
            if not self.ground.deadline.over():  # what is cut short by the end of the run is no error
                pursuit.error = error
        return pursuit

    def pursuit(self, prop: Property, weight: float = 1.0, share_s: float = math.inf) -> Pursuit:
        """A property to be hunted with in turns. `share_s` is what it may expect to get in all."""
        return Pursuit(
            prop,
            Draws(prop.programs, f"{prop.name} {prop.hurry}", run_seed=self._seed, deals=prop.deals),
            weight=weight,
            share_s=share_s,
        )

    def pursue(self, pursuit: Pursuit, seconds: float) -> None:
        """A turn: play plans for about `seconds`, investigations apart."""
        begun, still = time.monotonic(), self.suspects.spent_s + self.playing.stood_s
        taken = beside = 0.0
        while not self.ground.deadline.over():
            beside += self.play_one(pursuit, next(pursuit.draws))
            taken = time.monotonic() - begun - (self.suspects.spent_s + self.playing.stood_s - still) + beside
            self.collect()
            if taken >= seconds or self.playing.put_off:
                break
        pursuit.used_s += max(taken, 1e-4)
        pursuit.tally.seconds += taken
        self.progress()

    def finish(self) -> None:
        """Settle what is left, and wait for what goes on beside; what is not over in time stays a suspicion."""
        deadline = self.ground.deadline
        self.suspects.settle()
        late = deadline.within(self.until.left() + LATE_S)
        while (lanes := self._under_way(late)) and not deadline.over():
            lanes[0].wait(min(0.2, deadline.left()))
            self.collect()
            self.progress()
        self.hushed.finish()
        self.give_up()

    def _under_way(self, late: Deadline) -> list[Lanes]:
        """Lanes that are still to be waited for: plans that are not over long after the hunt show nothing new, apart
        from those of which it was known."""
        plays = [self.playing.lanes, self.playing.patient] if self.playing.long or not late.over() else []
        vigils = [self.vigils.lanes] if self.sightings.listening else []
        every = (self._lanes, *plays, *vigils, self.hushed.lanes)
        return [lanes for lanes in every if lanes is not None and lanes.pending]

    def collect(self) -> None:
        """Take what has been done beside the hunt."""
        for lanes in (self.playing.lanes, self.playing.patient, self._lanes, self.vigils.lanes, self.hushed.lanes):
            if lanes is not None:
                lanes.collect()

    def give_up(self) -> None:
        """End what goes on beside the hunt, and tell what was not settled."""
        self.suspects.give_up()

    def play_one(self, pursuit: Pursuit, program: Program) -> float:
        """Play one program of a property; seconds that it takes beside the hunt."""
        prop = pursuit.prop
        plan = self.bare(prop.plan(program, self.setting.config, self.suspects.aside))
        if (pursuit.tally.plans + 1) % ASKED_EVERY:
            plan = self.spared(plan)
        if deadly := self.suspects.deadly - self.survived:
            plan = self.setting.protocol.spared(plan, deadly)
        return self.playing.play(pursuit, program, plan)

    def held_up(self) -> bool:
        """True while what has to be alone would wait for a plan that waits out a silence; after a moment in which that
        may end."""
        if self._lanes is None or not self.ground.held_up:
            return False
        self._lanes.wait(LET_BY_S)
        return True

    @property
    def looking(self) -> int:
        """How many suspicions are being looked into beside the hunt."""
        return self._lanes.busy if self._lanes is not None else 0

    def _level(self, blame: Blame) -> str:
        requirement = self.binding.get(blame.breach.requirement)
        return requirement.level if requirement is not None else ""

    def judge(
        self, pursuit: Pursuit, program: Program, plan: Plan, recording: Recording, known: Blame | None = None
    ) -> None:
        """Count what a conversation showed, and look into what was blamed, but for what is `known` of it."""
        prop, tally, judgement = pursuit.prop, pursuit.tally, recording.judgement
        tally.plans += 1
        tally.steps += len(plan.steps)
        tally.note(judgement.covered)
        if not recording.overflow:
            self.played.add((prop.key, program))
        tally.leaned.update(judgement.leaned.keys())
        if judgement.verdict == "error":
            tally.errors += 1
            if judgement.why not in self._holes:
                self._holes.add(judgement.why)
                self._trouble("model", judgement.why)
        elif judgement.verdict == "inconclusive":
            tally.inconclusive += 1
        blamed = self.blamed(recording)
        for blame in {blame.breach.fingerprint: blame for blame in (*judgement.blamed, *judgement.known)}.values():
            if (blame.breach.level or self._level(blame)) == "MUST":
                tally.sorts[blame.breach.fingerprint] += 1
        died = self.setting.protocol.crash in {blame.breach.requirement for _, _, blame in blamed}
        pursuit.kills |= died
        if self.beside and not died and not prop.hurry:
            self.survived.update(outlived(recording, self.setting))
        if not blamed and judgement.verdict == "pass" and judgement.covered:
            for feature in self.setting.protocol.features:
                if feature.name in plan.features:
                    tally.note({feature.requirement: 1})
        for behind in judgement.known:
            tally.note({behind.breach.requirement: 1})
        for name in {name for name, level, _ in blamed if judgement.verdict == "fail" and not self.wanted(name, level)}:
            tally.obstacles[name] += 1
        self.sightings.note(judgement.covered, (blame.breach for blame in (*judgement.faults, *judgement.known)))
        self.vigils.passed += judgement.verdict == "pass"
        self.vigils.wait_a_moment(prop, program, plan, recording, blamed)
        for seen in blamed:
            tally.note({seen[0]: 1})
            if seen[2] is known:
                continue
            self.suspects.take(prop, program, plan, recording, seen)
        self.vigils.keep(prop, program, plan, recording, blamed)
        if len(self.judged) < len(self.binding):
            self.judged.update(self.binding.keys() & tally.judged.keys())


def _nothing() -> None:
    """Nobody wants to be told."""
