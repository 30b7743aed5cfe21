"""One run over one implementation: started, asked what it is, hunted over, written down.

The order of a run is that of docs/architecture.md. Whatever keeps an implementation from being judged (nobody listens,
the command dies, an image is missing) is trouble of the harness: it is recorded with its reason, never as a verdict.
"""

from __future__ import annotations

import importlib
import time
import traceback
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from impls.driver.drive import Recording, Setting, drive
from impls.driver.link import MemoryTransport, TcpTransport, Transport
from impls.driver.pipes import PipeTransport
from impls.driver.stdio_launch import transport as standing
from impls.launching.launch import LaunchError, Running, no_answer, start, wait_ready
from impls.launching.manifest import Deviation, Implementation
from records.rows import (
    AcceptanceRow,
    EndRow,
    FaultRow,
    ReplayRow,
    RequirementRow,
    RunRow,
    TroubleRow,
)
from records.writer import Writer
from reports import script
from specs.events import Said
from specs.plan import Plan
from specs.protocol import Protocol, find
from specs.requirement import Requirement
from suites import cards, schedule, trace
from suites.calibration import PROBE_MS, Calibration, CannotJudge, hung_up
from suites.cards import Card
from suites.deadline import CLOSING_S, STARTING_S, Deadline, TimeUp, at_least, larger, of_budget
from suites.hunt import QUARTER, Fault, Hunter, Pursuit, Tally
from suites.investigate import Investigator
from suites.keeper import Keeper
from suites.lanes import WIDTH, Lanes
from suites.programs import Stored, joined, of_fault
from suites.replays import NAME, Replays
from suites.rounds import MOST_S, Rounds
from suites.schedule import Share
from suites.suspects import NO_TIME
from suites.waking import Waking
from wireproof import __version__

SUITE_VERSION = __version__
DYING_MS = 300.0
"""How long a process is watched for its end after it broke a conversation off."""
MEMORY_MS = 1_000.0
"""Patience in memory, where time is virtual and costs nothing."""
LOOKING = 0.4
"""Part of the budget for which a hunt stands still, where what is suspected cannot be looked into beside it."""
RESTARTS = 4
"""How often what died is started again before that is given up: once for each conversation that may be under way."""
REPLAYING = 0.5
"""Part of the budget for which the conversations of a baseline are played, at most."""
LEAST_GRACE_S = 0.2
"""Seconds that what was started may take to end, however late it is."""


@dataclass(frozen=True)
class RunOptions:
    """What the user asked for, and the `command` by which. `levels` and `pattern` choose requirements; `partial`:
    something was left out. `looks_on`: it is to make a baseline, and hunts in rounds until little is left to find, for
    `look_on_s` at most."""

    asked: str = "reference"
    command: str = "pytest"
    pattern: str = "*"
    levels: tuple[str, ...] = ()
    strict: bool = False
    budget: str = "ci"
    budget_s: float = 60.0
    seed: int = 0
    partial: bool = False
    looks_on: bool = False
    look_on_s: float = MOST_S
    workers: tuple[str, ...] = ("main",)


@dataclass
class Session:
    """A started implementation. `learnt` and `address` are what a worker needs to join a run that another began;
    `bears`: so many conversations can be held with it at once, or 0 when it is one at a time. `spent_s`: seconds of the
    run that were spent before."""

    impl: Implementation
    options: RunOptions
    results: Path
    run: str
    worker: str = "main"
    learnt: dict[str, Any] = field(default_factory=dict)
    address: tuple[str, int] | None = None
    patience_ms: float = MEMORY_MS
    bears: int = 0
    spent_s: float = STARTING_S
    accepted: Mapping[str, Deviation] = field(default_factory=dict)
    programs: Sequence[Stored] = ()
    running: Running | None = None
    trouble: str = ""
    dumb: bool = False
    """True for a program that says nothing that can be read: where no fault comes of that, it could not be judged."""

    def __post_init__(self) -> None:
        self.protocol: Protocol = find(self.impl.protocol)
        self.writer = Writer(self.results, self.run, self.worker)
        self.transport: Transport | None = None
        self._hunter: Hunter | None = None
        self.keeper = Keeper(self.writer)
        self._troubles = 0
        self._faults: set[str] = set()
        self._replayed = False
        self._told: dict[str, dict[str, str]] = {}
        """By requirement, the sorts of failure that were reported, and how each was found."""
        self._begun = datetime.now(UTC)
        self.deadline = of_budget(self.options.budget_s, self.spent_s)
        self.deadline.pause()  # the time runs while this implementation is dealt with
        self.pursuits: dict[str, Pursuit] = {}
        self.remarks: list[str] = []
        """What the user should know of this run beside its verdicts."""

    # -- starting -------------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Write the head of the run, start the implementation, find out what it is. Trouble is recorded, not raised."""
        self.deadline.resume()
        try:
            self._start()
            calibration = self._calibration()
            calibration.meet()
            self.learnt, self.patience_ms = calibration.learnt, calibration.patience_ms
            self.bears, self.dumb = calibration.bears, calibration.dumb
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
        self.learnt, self.address, self.patience_ms, self.bears = dict(learnt), address, patience_ms, bears
        self.deadline = Deadline(left_s)
        self.deadline.pause()  # as in `open`: others may come first
        self.writer.write(self._row())
        if address is not None:
            self.transport = TcpTransport(lambda: address, self.deadline.left)
            return
        self._start()
        if isinstance(self.transport, PipeTransport):
            try:
                calibration = self._calibration()
                calibration.warm(self.transport)
                self.dumb = calibration.dumb
            except CannotJudge as error:
                self.trouble = str(error)

    def _row(self) -> RunRow:
        options, impl = self.options, self.impl
        return RunRow(
            at=self._begun.isoformat(timespec="seconds"),
            impl=impl.name,
            protocol=impl.protocol,
            role=impl.role,
            profile=impl.profile,
            version=str(self.learnt.get("stated") or impl.version),
            suite_version=SUITE_VERSION,
            seed=options.seed,
            budget=options.budget,
            budget_s=options.budget_s,
            disciplines=("lock-step", "pipelined"),
            requirements=options.pattern,
            levels=options.levels,
            partial=options.partial,
            strict=options.strict,
            asked=options.asked,
            command=options.command,
            workers=options.workers,
        )

    def head(self) -> None:
        """Write what the run is, and what it owes."""
        self.writer.write(self._row())
        binding = {r.id for r in self.protocol.requirements.binding(self.impl.role, self.impl.profile)}
        chosen = {r.id for r in self.chosen()}
        for r in self.protocol.requirements.values():
            applies = "judged" if r.id in chosen else "unselected" if r.id in binding else "unsupported"
            self.writer.write(requirement_row(r, applies))
        for name, entry in sorted(self.accepted.items()):
            expires = entry.expires.isoformat() if entry.expires else ""
            self.writer.write(
                AcceptanceRow(
                    id=name,
                    reason=entry.reason,
                    issue=entry.issue,
                    expires=expires,
                    sometimes=entry.sometimes,
                    fingerprints=entry.fingerprints,
                )
            )

    def chosen(self) -> list[Requirement]:
        """The requirements that this run answers."""
        options, registry = self.options, self.protocol.requirements
        selected = {
            r.id for r in registry.select(options.pattern, options.levels or ("MUST", "SHOULD", "MAY", "ASSUMED"))
        }
        return [r for r in registry.binding(self.impl.role, self.impl.profile) if r.id in selected]

    def _start(self) -> None:
        if self.impl.start.kind == "python":
            self.transport = MemoryTransport(_factory(self.impl))
            return
        wire = self.protocol.wires.get(self.impl.role, "tcp")
        if wire != "tcp":
            self.transport = standing(self.impl, wire)
            self.transport.pool.left_s = self.deadline.left
            return
        self.running = start(self.impl)
        try:
            self._ready(self.running)
        except BaseException:  # Ctrl-C too: what was started never outlives the run
            self._stop(self.running)
            raise
        running = self.running
        self.address = running.address
        self.transport = TcpTransport(lambda: running.address, self.deadline.left)

    def _ready(self, running: Running) -> None:
        """Wait until it answers, for as long as its manifest allows and this run lasts."""
        waking = Waking(self.deadline)
        wait_ready(running, lambda *at: self._probe(waking, *at), min(self.impl.start.ready_s, self.deadline.left()))

    def _stop(self, running: Running) -> None:
        running.grace_s = max(LEAST_GRACE_S, self.deadline.left())
        running.stop()

    def _probe(self, waking: Waking, host: str, port: int) -> bool:
        config = self.protocol.configure(self.impl.role, self.impl.profile, self.impl.facts, {})
        setting = Setting(
            self.protocol, config, self.impl.role, TcpTransport(lambda: (host, port)), PROBE_MS, ends=self.deadline.over
        )
        assert self.protocol.smoke is not None
        recording = drive(Plan(self.protocol.smoke(config).steps[:1]), setting, "probe-")
        if self.deadline.over():
            raise TimeoutError  # it was cut short: what it has not shown means nothing
        if recording.refused:
            raise ConnectionRefusedError(recording.refused)  # what wait_ready tells when time is up
        if not any(isinstance(event, Said) and event.by == self.impl.role for event in recording.events):
            said = b"".join(data for _, _, what, data in recording.wire if what == "received")
            ended = any(what == "closed by peer" for _, _, what, _ in recording.wire)
            raise ConnectionError(no_answer(said, ended=ended))
        return waking.over(setting)

    def _calibration(self) -> Calibration:
        assert self.transport is not None
        return Calibration(
            self.impl, self.protocol, self.transport, self.patience_ms, dict(self.learnt), self.deadline, self._settle
        )

    def setting(self) -> Setting:
        """How plans are driven against this implementation."""
        return self._calibration().setting()

    # -- hunting --------------------------------------------------------------------------------------------------

    def hunter(self) -> Hunter:
        """The hunter of this run; faults it has found stay found from property to property."""
        if self._hunter is None:
            budget_s = self.options.budget_s
            self._hunter = Hunter(
                self.setting(),
                {r.id: r for r in self.chosen() if not r.untestable},
                investigate=Investigator.of_budget(budget_s),
                run_seed=self.options.seed,
                report=self._found,
                trouble=self.note,
                settle=self._settle,
                prefix=f"{self.run[-8:]}{self.worker}",
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
        self.keeper.anew()
        self.deadline.anew(of_budget(budget_s, 0.0).left() + budget_s)
        try:
            if isinstance(self.transport, MemoryTransport):
                self.transport.restart()
            elif self.running is not None and self.impl.start.kind == "command":
                self._restart(self.running)
                self.deadline.anew(of_budget(budget_s, 0.0).left() + budget_s)
            self.learnt, self.patience_ms = {}, MEMORY_MS
            calibration = self._calibration()
            calibration.meet()
            self.learnt, self.patience_ms = calibration.learnt, calibration.patience_ms
            self.bears, self.dumb = calibration.bears, calibration.dumb
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
        deck = cards.load(self.impl.protocol, self.impl.role, self.impl.profile)

        def during() -> None:
            progress(hunter)
            self.keeper.look(pursuits, hunter.binding)

        try:
            schedule.hunt(hunter, pursuits, budget_s, during, deck, single=self.options.pattern != "*")
            self._tell_unreached(hunter, pursuits, deck)
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
            for pursuit in pursuits:
                self._over(pursuit)
                self.record(pursuit.prop.name, pursuit.tally, hunter.binding)
            self.pursuits.update({pursuit.prop.name: pursuit for pursuit in pursuits})
            if self.options.looks_on:
                rounds.note(pursuits, {each.sort for each in self.programs} | {each.sort for each in hunter.found})
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
            self.remarks.append(f"{name}: {pursuit.tally.ended}; {at_least(times * pursuit.needs_s)} would do")

    def _tell_unreached(self, hunter: Hunter, pursuits: Sequence[Pursuit], deck: Sequence[Card]) -> None:
        """Say how far a run came that was asked for single requirements and did not reach them."""
        if self.options.pattern == "*":
            return
        plans = sum(pursuit.tally.plans for pursuit in pursuits)
        for name in sorted(hunter.binding.keys() - hunter.judged - hunter.faults.keys()):
            keys = {card.key for card in deck if name in card.judges}
            reached = sum(p.tally.plans for p in pursuits if p.prop.key in keys)
            where = f", {reached} of them of properties that reach it on the reference" if keys else ""
            self.remarks.append(f"{name} was not reached in {plans} conversations{where}")

    def faults_of(self, name: str) -> list[Fault]:
        """What the property of this name has found."""
        return [fault for fault in self.hunter().faults.values() if fault.property == name]

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
        self._faults.add(fault.requirement)
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
        self.writer.write(
            FaultRow(
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
            )
        )

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

    def _settle(self, recording: Recording) -> str:
        """Restart an implementation of ours that died; answers how it ended, or ""."""
        if isinstance(self.transport, MemoryTransport):
            died, self.transport.crash = self.transport.crash, ""
            if died:
                self.transport.restart()
                return f"it raised {died} in this conversation"
            return ""
        running = self.running
        hurt = recording.refused or recording.judgement.verdict == "fail"
        if running is None or not hurt or not (recording.refused or hung_up(recording, self.impl.role)):
            return ""
        if not self._died(running):
            return ""
        tail = " / ".join(running.log_tail(3).splitlines())
        how = f"it ended ({running.ending()}) in this conversation; its last words: {tail:.300}"
        self._restart(running)
        return how

    def _restart(self, running: Running) -> None:
        """Start it again. Conversations that are still under way may end it at once, with what they go on to say."""
        for left in reversed(range(RESTARTS)):
            running.restart()
            try:
                self._ready(running)
            except LaunchError:
                if running.alive() or not left:
                    raise
            else:
                return

    def _died(self, running: Running) -> bool:
        """True once it is seen to have ended; a process takes a moment to be gone after its connections are."""
        assert self.transport is not None
        until = self.transport.now() + DYING_MS
        while running.alive():
            if self.transport.now() > until:
                return False
            self.transport.wait((), 5.0)
        return True

    def note(self, where: str, message: str, detail: str = "") -> None:
        """Record trouble: where it happened, what it was, and the tail of a log."""
        self._troubles += 1
        self.writer.write(TroubleRow(where=where, message=message, detail=detail))

    # -- ending ---------------------------------------------------------------------------------------------------

    def close(self, status: str = "complete") -> None:
        """Stop what was started and write the footer."""
        if isinstance(self.transport, PipeTransport):
            self.transport.close()
        if self.running is not None:
            self.deadline.resume()
            self._stop(self.running)
            self.running = None
        took = (datetime.now(UTC) - self._begun).total_seconds()
        self.writer.write(
            EndRow(
                at=datetime.now(UTC).isoformat(timespec="seconds"),
                status=status,
                plans=self.keeper.plans,
                steps=self.keeper.steps,
                faults=len(self._faults),
                troubles=self._troubles,
                seconds=round(took, 3),
            )
        )
        self.writer.close()


def requirement_row(r: Requirement, applies: str = "judged") -> RequirementRow:
    """A requirement as a row of the records."""
    return RequirementRow(
        id=r.id,
        section=r.section,
        level=r.level,
        basis=r.basis,
        statement=r.statement,
        source=r.source,
        applies=applies,
        untestable=r.untestable,
    )


def _factory(impl: Implementation) -> Callable[[], Any]:
    module, _, name = str(impl.start.value).partition(":")
    try:
        made = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise CannotJudge(f"start.python = {impl.start.value!r} cannot be imported: {error}") from None
    return made  # type: ignore[no-any-return]
