"""One run over one implementation: started, asked what it is, hunted over, written down.

The order of a run is that of docs/architecture.md. Whatever keeps an implementation from being judged (nobody listens,
the command dies, an image is missing) is trouble of the harness: it is recorded with its reason, never as a verdict.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from impls.driver.drive import Setting
from impls.driver.pipes import PipeTransport
from impls.launching.launch import LaunchError
from impls.launching.manifest import Deviation, Implementation
from records.rows import (
    EndRow,
    FaultRow,
    RateRow,
    ReplayRow,
    RunRow,
    TroubleRow,
)
from records.writer import Writer
from reports import known, script
from reports.result import acceptance
from specs.protocol import Protocol, find
from specs.requirement import Requirement
from suites import cards, head, remarks, schedule, trace
from suites.calibration import Calibration, CannotJudge
from suites.cards import Card
from suites.deadline import CLOSING_S, STARTING_S, Deadline, TimeUp, at_least, larger, of_budget
from suites.head import SUITE_VERSION, RunOptions
from suites.hunt import Fault, Hunter, Pursuit, Tally
from suites.investigate import Investigator
from suites.keeper import Keeper
from suites.lanes import WIDTH, Lanes
from suites.playing import QUARTER
from suites.programs import Stored, joined, of_fault
from suites.pursuit import NO_TIME
from suites.replays import NAME, Replays
from suites.rounds import Rounds
from suites.schedule import Left, Share
from suites.started import Started

MEMORY_MS = 1_000.0
"""Patience in memory, where time is virtual and costs nothing."""
LOOKING = 0.4
"""Part of the budget for which a hunt stands still, where what is suspected cannot be looked into beside it."""
REPLAYING = 0.5
"""Part of the budget for which the conversations of a baseline are played, at most."""


@dataclass
class Session:
    """A run over what was `started`. `learnt` is what a worker needs, beside its address, to join a run that another
    began; `bears`: so many conversations can be held with it at once, or 0 when it is one at a time. `spent_s`: seconds
    of the run that were spent before. `corpus`: these programs are played, and no others."""

    impl: Implementation
    options: RunOptions
    results: Path
    run: str
    worker: str = "main"
    learnt: dict[str, Any] = field(default_factory=dict)
    patience_ms: float = MEMORY_MS
    bears: int = 0
    spent_s: float = STARTING_S
    accepted: Mapping[str, Deviation] = field(default_factory=dict)
    programs: Sequence[Stored] = ()
    corpus: Sequence[Card] = ()
    trouble: str = ""
    dumb: bool = False
    """True for a program that says nothing that can be read: where no fault comes of that, it could not be judged."""

    def __post_init__(self) -> None:
        self.protocol: Protocol = find(self.impl.protocol)
        self.writer = Writer(self.results, self.run, self.worker)
        self._hunter: Hunter | None = None
        self.keeper = Keeper(self.writer)
        self._troubles = 0
        self._faults: list[FaultRow] = []
        self._replayed = False
        self._nth = 0
        """Rounds that are over. Names are not used a second time: a server that was not started here keeps what is in
        its queues."""
        self._told: dict[str, dict[str, str]] = {}
        """By requirement, the sorts of failure that were reported, and how each was found."""
        self._begun = datetime.now(UTC)
        self.deadline = of_budget(self.options.budget_s, self.spent_s)
        self.deadline.pause()  # the time runs while this implementation is dealt with
        self.started = Started(self.impl, self.protocol, self.deadline)
        self.pursuits: dict[str, Pursuit] = {}
        self.remarks: list[str] = []
        """What the user should know of this run beside its verdicts."""

    # -- starting -------------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Write the head of the run, start the implementation, find out what it is. Trouble is recorded, not raised."""
        self.deadline.resume()
        try:
            self.started.start()
            calibration = self._met()
            self.remarks += [calibration.remark] if calibration.remark else []
        except (LaunchError, CannotJudge) as error:
            self.trouble = str(error)
            if self.deadline.over():
                self.trouble += f"; {larger(self.options.budget_s)} gives it more time"
        except TimeUp:
            self.trouble = (
                f"finding out what it can do took all the time of a run with this budget; "
                f"{larger(self.options.budget_s)} should do"
            )
        finally:
            self.deadline.pause()
        self.head()  # after discovery, which learns the version
        if self.trouble:
            self.note("start", self.trouble)

    def join(
        self, address: tuple[str, int] | None, learnt: Mapping[str, Any], patience_ms: float, left_s: float, bears: int
    ) -> None:
        """Take part in a run whose implementation another process started."""
        self.learnt, self.patience_ms, self.bears = dict(learnt), patience_ms, bears
        self.deadline = self.started.deadline = Deadline(left_s)
        self.deadline.pause()  # as in `open`: others may come first
        self.writer.write(self._row())
        self.started.join(address)
        if isinstance(self.started.transport, PipeTransport):
            try:
                calibration = self._calibration()
                calibration.warm(self.started.transport)
                self.dumb = calibration.dumb
            except CannotJudge as error:
                self.trouble = str(error)

    def head(self) -> None:
        """Write what the run is, and what it owes."""
        self.writer.write(self._row())
        for each in head.owed(self.protocol, self.impl, {r.id for r in self.chosen()}):
            self.writer.write(each)
        for row in head.accepted(self.accepted):
            self.writer.write(row)

    def _row(self) -> RunRow:
        return head.run_row(self.options, self.impl, str(self.learnt.get("stated") or ""), self._begun)

    def chosen(self) -> list[Requirement]:
        """The requirements that this run answers."""
        options, registry = self.options, self.protocol.requirements
        selected = {
            r.id for r in registry.select(options.pattern, options.levels or ("MUST", "SHOULD", "MAY", "ASSUMED"))
        }
        return [r for r in registry.binding(self.impl.role, self.impl.profile) if r.id in selected]

    def _calibration(self) -> Calibration:
        transport, settle = self.started.transport, self.started.settle
        assert transport is not None
        return Calibration(
            self.impl, self.protocol, transport, self.patience_ms, dict(self.learnt), self.deadline, settle
        )

    def _met(self) -> Calibration:
        """What was found out about the implementation, which this run goes by from now on. Raises CannotJudge."""
        calibration = self._calibration()
        calibration.meet()
        self.learnt, self.patience_ms = calibration.learnt, calibration.patience_ms
        self.bears, self.dumb = calibration.bears, calibration.dumb
        return calibration

    def setting(self) -> Setting:
        """How plans are driven against this implementation."""
        return self._calibration().setting()

    # -- hunting --------------------------------------------------------------------------------------------------

    def hunter(self) -> Hunter:
        """The hunter of this run; faults it has found stay found from property to property."""
        if self._hunter is None:
            budget_s = self.options.budget_s
            investigate = Investigator.of_budget(budget_s)
            self._hunter = Hunter(
                self.setting(),
                {r.id: r for r in self.chosen() if not r.untestable},
                investigate=investigate,
                believed_ms=investigate.confirm_ms,
                run_seed=self.options.seed,
                report=self._found,
                counted=self._counted,
                trouble=self.note,
                settle=self.started.settle,
                prefix=f"{self.run[-8:]}{self.worker}" + (f"r{self._nth}n" if self._nth else ""),
                deadline=self.deadline.within(max(0.0, self.deadline.left() - CLOSING_S)),
                lanes=Lanes(min(WIDTH, self.bears)) if self.bears else None,
                at_once=self.bears,
                looking_s=LOOKING * budget_s,
                more=self._more,
            )
        return self._hunter

    def _more(self, requirement: str) -> bool:
        """True where every sort of failure matters: a baseline is made, or it accepts some sorts only."""
        entry = self.accepted.get(requirement)
        return self.options.looks_on or bool(entry is not None and entry.fingerprints)

    def hunt(self, shares: Sequence[Share], budget_s: float, progress: Callable[[Hunter], None]) -> None:
        """Hunt with all these properties in turn, and record what each did, also when the run is interrupted. Where a
        baseline is made, in rounds: each begins anew, with what is known by then."""
        rounds = Rounds(self.writer, self.options.budget_s, self.options.look_on_s)
        self._round(shares, budget_s, progress, rounds)
        while self.options.looks_on and not self.trouble and not rounds.over():
            self._begin_anew()
            if not self.trouble:
                self._round(shares, budget_s, progress, rounds)

    def _begin_anew(self) -> None:
        """Start the implementation again, and find out again what it is: the next round shall go as another run would.
        What was found is known from the beginning."""
        budget_s = self.options.budget_s
        self.programs, self._hunter = joined(self.programs, map(of_fault, self.hunter().found)), None
        self._replayed = False
        self._nth += 1
        self.keeper.anew()
        self.deadline.anew(of_budget(budget_s, 0.0).left() + budget_s)
        try:
            self.started.start_anew()
            self.deadline.anew(of_budget(budget_s, 0.0).left() + budget_s)
            self.learnt, self.patience_ms = {}, MEMORY_MS
            self._met()
        except (LaunchError, CannotJudge, TimeUp) as error:
            self.trouble = f"it could not be started again to look on for a baseline: {error}"
            self.note("start", self.trouble)

    def _replay(self, hunter: Hunter, budget_s: float) -> float:
        """Play the conversations of the baseline; answers how many seconds of the budget that took."""
        programs = [each for each in self.programs if each.requirement in hunter.binding]
        if not programs or self._replayed:
            return 0.0
        self._replayed = True  # a worker hunts with one property after the other
        begun = time.monotonic()
        hunter.prepare()
        replays = Replays(hunter, programs, settling=self.options.looks_on)
        try:
            replays.play(budget_s if self.options.looks_on else REPLAYING * budget_s)
        except Exception as error:  # noqa: BLE001 - it is told, and the run goes on without them
            why = f"its conversations could not be played ({error!r:.200}); remove the file or run --update-baseline"
            self.note("baseline", why)
        finally:
            for each in replays.replays:
                name, sort = each.stored.requirement, each.stored.fingerprint
                self.writer.write(ReplayRow(requirement=name, fingerprint=sort, tried=each.tried, shown=each.shown))
            replays.tally.seconds = time.monotonic() - begun
            self.record(NAME, replays.tally, hunter.binding)
        return 0.0 if self.options.looks_on else replays.tally.seconds

    def _round(
        self, shares: Sequence[Share], budget_s: float, progress: Callable[[Hunter], None], rounds: Rounds
    ) -> None:
        self.deadline.resume()
        hunter = self.hunter()
        budget_s = max(budget_s / 2, budget_s - self._replay(hunter, budget_s))
        pursuits = schedule.pursuits(hunter, shares, budget_s)
        opening: Pursuit | None = None
        deck = self.corpus or cards.load(self.impl.protocol, self.impl.role, self.impl.profile)

        def during() -> None:
            progress(hunter)
            self.keeper.look(pursuits, hunter.binding)

        try:
            opening = None if self.corpus else hunter.open()
            left = schedule.hunt(
                hunter, pursuits, budget_s, during, deck, single=self.options.pattern != "*", only=bool(self.corpus)
            )
            self._remark(hunter, pursuits, deck, left)
            if not any(pursuit.tally.plans for pursuit in pursuits) and hunter.ground.deadline.over():
                more = larger(self.options.budget_s)
                self.remarks.append(f"starting and finding out what it can do took all the time; {more} gives it more")
            if self.dumb and not any(fault.verdict == "fail" for fault in hunter.faults.values()):
                self.note(
                    "start",
                    f"{self.impl.name} said nothing that can be read, and there was no time to judge that; "
                    f"{larger(self.options.budget_s)} should do",
                )
        finally:
            every = [*pursuits, *([opening] if opening is not None else [])]
            for pursuit in every:
                self._over(pursuit)
                self.record(pursuit.prop.name, pursuit.tally, hunter.binding)
            self.pursuits.update({pursuit.prop.name: pursuit for pursuit in pursuits})
            if self.options.looks_on:
                rounds.note(every, {each.sort for each in self.programs} | {each.sort for each in hunter.found})
            self.deadline.pause()

    def _over(self, pursuit: Pursuit) -> None:
        """Note why a property judged nothing, if it did not."""
        name, error = pursuit.prop.name, pursuit.error
        if error is not None:
            where = "".join(traceback.format_exception(error))
            self.note(name, f"the property ended with an error of our own: {type(error).__name__}: {error}", where)
        elif pursuit.needs_s and not pursuit.tally.plans:
            pursuit.tally.ended = f"not judged: needs {pursuit.needs_s:.0f} s"
            times = 1 if self.hunter().beside else QUARTER
            # this run had no time for it, however short it is
            more = at_least(max(times * pursuit.needs_s, self.options.budget_s))
            self.remarks.append(f"{name}: {pursuit.tally.ended}; {more} would do")

    def _remark(self, hunter: Hunter, pursuits: Sequence[Pursuit], deck: Sequence[Card], left: Sequence[Left]) -> None:
        """Say what was not played or not judged, and why."""
        budget_s = self.options.budget_s
        if self.corpus:
            self.remarks.append(remarks.of_corpus(self.corpus, pursuits, len(left), budget_s))
        for row, remark in remarks.of_rests(hunter, pursuits, deck, budget_s):
            self.writer.write(row)
            self.remarks.append(remark)
        for missed in remarks.of_missed(hunter, deck):
            self.writer.write(missed)
        if self.options.pattern != "*":
            self.remarks += remarks.of_unreached(hunter, pursuits, deck)

    def faults_of(self, name: str) -> list[Fault]:
        """What the property of this name has found. The first one answers for what is no test of its own, too, such as
        the simplest session."""
        first = name == next(iter(self.pursuits), name)
        faults = self.hunter().faults.values()
        return [each for each in faults if each.property == name or (first and each.property not in self.pursuits)]

    def outside(self, name: str) -> list[Fault]:
        """Those of them that the baseline in force does not accept: what fails the test of that property."""
        entries = {key: acceptance(key, entry) for key, entry in self.accepted.items()}
        in_force = {key: entry for key, entry in entries.items() if not entry.expired(self._begun.date())}
        outside = {(row.requirement, row.fingerprint) for row in known.outside(self._faults, in_force)}
        return [each for each in self.faults_of(name) if (each.requirement, each.fingerprint()) in outside]

    def record(self, name: str, tally: Tally, binding: Container[str]) -> None:
        """Write down what a property did, and which of the requirements in `binding` it judged."""
        self.keeper.record(name, tally, binding)

    def _found(self, fault: Fault) -> None:
        """Report a fault; of what there was no time for, say which budget has it."""
        if fault.unsettled == NO_TIME:
            fault = replace(fault, unsettled=f"{NO_TIME}: give it {larger(self.options.budget_s)}")
        self.report(fault, self.setting())

    def report(self, fault: Fault, setting: Setting) -> None:
        """Write down a fault and its trace."""
        number = self._number(fault)
        if not number:
            return
        document = trace.document(fault, setting, self.impl, self.learnt, self.options.seed, SUITE_VERSION)
        document["impl"]["asked"] = self.options.asked
        path = trace.save(document, self.results, max(number, fault.nth))
        if self.protocol.wires.get(self.impl.role, "tcp") == "tcp":
            script.write(self.results / path, document)  # it can connect, but not start what was judged
        else:
            script.path_for(self.results / path).unlink(missing_ok=True)  # of another run
        row = FaultRow(
            requirement=fault.requirement,
            level=fault.level,
            also=fault.also,
            why=fault.why,
            expected=fault.expected,
            property=fault.property,
            steps=len(fault.plan.steps),
            reproduced=fault.reproduced,
            tried=fault.tried,
            steady=fault.reproduced == fault.tried,
            trace=path,
            found_after_s=round(fault.found_after_s, 3),
            shrink_s=round(fault.shrink_s, 3),
            features=fault.features,
            verdict=fault.verdict,
            fingerprint=fault.fingerprint(),
            behind=fault.behind,
            unsettled=fault.unsettled,
            rivals=fault.rivals,
            sort=fault.sort,
            shown=fault.shown,
            chances=fault.chances,
        )
        self._faults.append(row)
        self.writer.write(row)

    def _counted(self, fault: Fault) -> None:
        """Write down how often the hunt has met a fault that comes and goes."""
        name, sort = fault.requirement, fault.fingerprint()
        self.writer.write(RateRow(requirement=name, fingerprint=sort, shown=fault.shown, chances=fault.chances))

    def _number(self, fault: Fault) -> int:
        """Which of its requirement this sort of failure is, for the names of traces; 0 when it has been reported
        already, and this says no more: a further round has seen it again."""
        told = self._told.setdefault(fault.requirement, {})
        if told.get(fault.fingerprint()) == "fail" and self.options.looks_on:
            return 0
        only_suspected = "fail" not in told.values()
        if only_suspected and fault.fingerprint() not in told:
            told.clear()
        told[fault.fingerprint()] = fault.verdict
        return list(told).index(fault.fingerprint()) + 1

    def note(self, where: str, message: str, detail: str = "") -> None:
        """Record trouble: where it happened, what it was, and the tail of a log."""
        self._troubles += 1
        self.writer.write(TroubleRow(where=where, message=message, detail=detail))

    # -- ending ---------------------------------------------------------------------------------------------------

    def close(self, status: str = "complete") -> None:
        """Stop what was started and write the footer."""
        self.started.stop()
        took = (datetime.now(UTC) - self._begun).total_seconds()
        self.writer.write(
            EndRow(
                at=datetime.now(UTC).isoformat(timespec="seconds"),
                status=status,
                plans=self.keeper.plans,
                steps=self.keeper.steps,
                faults=len({row.requirement for row in self._faults}),
                troubles=self._troubles,
                seconds=round(took, 3),
            )
        )
        self.writer.close()
