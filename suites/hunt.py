"""Looking for faults: draw, drive, judge, and go on.

A property is a strategy of programs and their interpretation. A hunt plays as many plans as its time allows. A fault
found does not end it: the fault is investigated (`suites.investigate`), its requirement set aside, and the hunt goes on
for others.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from zlib import crc32

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from impls.driver.drive import Recording, Setting, drive
from specs.events import Quiet
from specs.model import Blame, Breach, Judgement
from specs.plan import Plan
from specs.requirement import Requirement
from strategies.common import Program

FIRST_CHUNK, LARGEST_CHUNK = 3, 100
"""Programs drawn by one Hypothesis run: it cannot be stopped in between, and drawing goes on after the time is up."""
PROGRAMS = 8
"""Programs in one example of Hypothesis at most: some 1,000 of the 8,192 octets that one may have."""
INVESTIGATIONS = 3
"""How often one symptom is investigated: several faults may show the same one."""

LONGEST_MS = 4_000.0
"""Up to which patience a hunt learns that an implementation is slow."""

Interpret = Callable[..., Plan]


@dataclass(frozen=True)
class Property:
    """What one test hunts with. `interpret(program, config, hurry=...)` may also take `avoid`, the requirements that
    are set aside, when `avoids` is true. `weight` is its share of the budget."""

    name: str
    programs: SearchStrategy[Program]
    interpret: Interpret
    hurry: bool = False
    weight: float = 1.0
    avoids: bool = False

    def plan(self, program: Program, config: Any, avoid: Iterable[str] = ()) -> Plan:
        """The plan that a program means."""
        if self.avoids:
            return self.interpret(program, config, hurry=self.hurry, avoid=frozenset(avoid))
        return self.interpret(program, config, hurry=self.hurry)

    def unhurried(self) -> Property:
        """The same property in lock-step."""
        return replace(self, hurry=False)


@dataclass(frozen=True)
class Fault:
    """A fault as it will be reported. `requirement` is blamed, `level` says how grave. `reproduced` of `tried`
    repetitions of the shortest plan showed it; `verdict` is "inconclusive" when the text tolerates it once in a while
    and not every repetition showed it, and when it was blamed and could not be confirmed, or was seen only behind a
    known fault: `unsettled` says why then. `kind` is what sort of fault it is, without any value of this run. `behind`
    are the known faults of the same conversation, and `set_aside` what judging was told of them."""

    requirement: str
    level: str
    also: tuple[str, ...]
    why: str
    expected: str
    property: str
    program: Program
    plan: Plan
    recording: Recording
    deciding: int
    reproduced: int
    tried: int
    steady: bool
    features: tuple[str, ...]
    found_after_s: float
    shrink_s: float
    verdict: str = "fail"
    unsettled: str = ""
    kind: str = ""
    behind: tuple[str, ...] = ()
    set_aside: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Investigated:
    """What an investigation came to. `unsettled` says why what was blamed is neither confirmed nor explained; it is ""
    for what was confirmed, and for what was nothing but slowness."""

    fault: Fault | None
    unsettled: str = ""


@dataclass
class Tally:
    """What one hunt did. `leaned` counts, by freedom, the conversations that only this freedom allowed; `obstacles`, by
    requirement, those that a known fault ended, so that nothing behind it was judged."""

    plans: int = 0
    steps: int = 0
    seconds: float = 0.0
    inconclusive: int = 0
    errors: int = 0
    exercised: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)
    leaned: Counter[str] = field(default_factory=Counter)
    obstacles: Counter[str] = field(default_factory=Counter)
    ended: str = "budget"


Investigate = Callable[["Hunter", Property, Program, str, float], Investigated]


class Hunter:
    """Hunts over one implementation. `binding` are the requirements that it must answer for.

    `report` gets every fault as soon as it is known, `trouble` what is not the implementation's fault. `settle` is
    called after each plan; it restarts an implementation that died and answers how it did.
    """

    def __init__(
        self,
        setting: Setting,
        binding: Mapping[str, Requirement],
        *,
        investigate: Investigate,
        run_seed: int = 0,
        report: Callable[[Fault], None] = lambda fault: None,
        trouble: Callable[[str, str], None] = lambda where, message: None,
        settle: Callable[[Recording], str] = lambda recording: "",
        progress: Callable[[Tally], None] = lambda tally: None,
        prefix: str = "w",
    ) -> None:
        self.setting = setting
        self.binding = binding
        self.faults: dict[str, Fault] = {}
        self.sound: bool | None = None
        """True when the simplest session passed before the first hunt; None before that."""
        self.after_silence = False
        """True when what is being investigated was blamed after a final silence: it may only be slow."""
        self._investigate = investigate
        self._seed = run_seed
        self._report, self._trouble, self._settle, self.progress = report, trouble, settle, progress
        self._prefix = prefix
        self._serial = 0
        self._looked: Counter[tuple[str, str]] = Counter()
        self._holes: set[str] = set()
        self._aside: set[str] = set()
        self._started = time.monotonic()

    def play(self, plan: Plan, setting: Setting | None = None) -> Recording:
        """Drive one plan with fresh names."""
        self._serial += 1
        recording = drive(plan, setting or self.setting, f"{self._prefix}{self._serial}-")
        died = self._settle(recording)
        if died:
            breach = Breach(self.setting.role, self.setting.protocol.crash, died)
            blame = Blame(breach, max(0, len(recording.events) - 1))
            recording.judgement = replace(recording.judgement, verdict="fail", blamed=(blame,))
        return recording

    def smoke(self) -> Plan | None:
        """The simplest session, if the protocol knows one."""
        protocol = self.setting.protocol
        return protocol.smoke(self.setting.config) if protocol.smoke is not None else None

    def wanted(self, requirement: str, level: str, verdict: str = "fail") -> bool:
        """True when nothing as grave is known yet of `requirement`."""
        known = self.faults.get(requirement)
        if known is None:
            return True
        return (verdict == "fail", level == "MUST") > (known.verdict == "fail", known.level == "MUST")

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

    def hunt(self, prop: Property, budget_s: float) -> Tally:
        """Play plans of `prop` for `budget_s` seconds; investigations may take longer."""
        if self.sound is None:
            smoke = self.smoke()
            self.sound = smoke is not None and not self.blamed(self.play(smoke))
        tally, start = Tally(), time.monotonic()
        self._spent = 0.0
        chunk, batch = FIRST_CHUNK, 0
        while (left := budget_s - (time.monotonic() - start - self._spent)) > 0 and tally.ended == "budget":
            before, played = time.monotonic(), tally.plans
            self._draw(prop, chunk, batch, tally, start + budget_s)
            batch += 1
            each = (time.monotonic() - before) / max(1, tally.plans - played)
            chunk = max(1, min(LARGEST_CHUNK, int(left / 4 / each) if each else LARGEST_CHUNK))
            self.progress(tally)
        tally.seconds = time.monotonic() - start
        return tally

    def _draw(self, prop: Property, count: int, batch: int, tally: Tally, deadline: float) -> None:
        """Play about `count` programs. An example of Hypothesis has overhead of its own, so one is several programs."""
        each = min(PROGRAMS, count)

        @settings(
            max_examples=1 + count // each,  # the first is always the simplest: the same program several times
            database=None,
            deadline=None,
            phases=[Phase.generate],  # shrinking has a budget of its own: see suites.investigate
            suppress_health_check=list(HealthCheck),  # a plan against a real server takes what it takes
        )
        @seed(crc32(f"{self._seed} {prop.name} {prop.hurry} {batch}".encode()))
        @given(st.tuples(*[prop.programs] * each))
        def example(programs: tuple[Program, ...]) -> None:
            for program in dict.fromkeys(programs):
                if time.monotonic() - self._spent < deadline:
                    self._try(prop, program, tally)

        example()

    def _try(self, prop: Property, program: Program, tally: Tally) -> None:
        plan = prop.plan(program, self.setting.config, self._aside)
        recording = self.play(plan)
        judgement = recording.judgement
        tally.plans += 1
        tally.steps += len(plan.steps)
        tally.judged.update(judgement.covered)
        tally.exercised.update(judgement.covered.keys())
        tally.leaned.update(judgement.leaned.keys())
        if judgement.verdict == "error":
            tally.errors += 1
            if judgement.why not in self._holes:
                self._holes.add(judgement.why)
                self._trouble("model", judgement.why)
        elif judgement.verdict == "inconclusive":
            tally.inconclusive += 1
        blamed = self.blamed(recording)
        if not blamed and judgement.verdict == "pass" and judgement.covered:
            for feature in self.setting.protocol.features:
                if feature.name in plan.features:
                    tally.judged[feature.requirement] += 1
                    tally.exercised[feature.requirement] += 1
        for known in judgement.known:
            tally.judged[known.breach.requirement] += 1
            tally.exercised[known.breach.requirement] += 1
        for name in {name for name, level, _ in blamed if judgement.verdict == "fail" and not self.wanted(name, level)}:
            tally.obstacles[name] += 1
        for name, level, blame in blamed:
            tally.judged[name] += 1
            tally.exercised[name] += 1
            if self.wanted(name, level) and self._looked[name, level] < INVESTIGATIONS:
                self._looked[name, level] += 1
                self.after_silence = _waited(recording)
                found = self._look(prop, program, name)
                if found.unsettled:
                    self._suspect(
                        self._suspicion(prop, program, plan, recording, (name, level, blame), found.unsettled)
                    )
                if found.fault is None and not self.faults and _waited(recording):
                    self._wait_longer()

    def _wait_longer(self) -> None:
        """It was only slow: what is taken for a fault and is none ends every conversation before it is judged."""
        patience = min(max(LONGEST_MS, self.setting.patience_ms), 2 * self.setting.patience_ms)
        self.setting = replace(self.setting, patience_ms=patience)

    def _look(self, prop: Property, program: Program, name: str) -> Investigated:
        """Investigate what was blamed on `name`, and report the fault that is behind it, if there is one."""
        before = time.monotonic()
        found = self._investigate(self, prop, program, name, before - self._started)
        self._spent += time.monotonic() - before
        fault = found.fault
        if fault is not None and self.wanted(fault.requirement, fault.level, fault.verdict):
            self.faults[fault.requirement] = fault
            if not fault.unsettled:
                self._aside |= {fault.requirement, *fault.also}
                self._set_aside(fault)
            self._report(fault)
        return found

    def _set_aside(self, fault: Fault) -> None:
        """From now on judging goes on behind this fault, and does not wait for what never comes."""
        breach = next((b.breach for b in fault.recording.judgement.blamed if b.at == fault.deciding), None)
        if breach is None or breach.behind is None or fault.verdict != "fail":
            return
        names = {breach.fingerprint, breach.duty} - {""}
        self.setting = replace(self.setting, set_aside=self.setting.set_aside | names)

    def _suspect(self, suspicion: Fault) -> None:
        """What was blamed and could not be confirmed under its own name is no pass."""
        if suspicion.requirement not in self.faults:
            self.faults[suspicion.requirement] = suspicion
            self._report(suspicion)

    def _suspicion(
        self, prop: Property, program: Program, plan: Plan, recording: Recording, seen: tuple[str, str, Blame], why: str
    ) -> Fault:
        """What was blamed once, as a fault that is not settled."""
        name, level, blame = seen
        return Fault(
            requirement=name,
            level=level,
            also=(),
            why=blame.breach.why,
            expected=self.binding[name].statement,
            property=prop.name,
            program=program,
            plan=plan,
            recording=recording,
            deciding=blame.at,
            reproduced=1,
            tried=1,
            steady=blame.breach.steady,
            features=(),
            found_after_s=time.monotonic() - self._started,
            shrink_s=0.0,
            verdict="inconclusive",
            unsettled=why,
            kind=blame.breach.kind,
            behind=tuple(known.breach.requirement for known in recording.judgement.known),
            set_aside=self.setting.set_aside,
        )


def _waited(recording: Recording) -> bool:
    """True when all the patience had run out."""
    return any(isinstance(event, Quiet) and event.final for event in recording.events)
