"""The first conversations with an implementation: whether it talks, how fast, and what it can do.

Nothing of it is judged as a conversation of a property is; but who does not talk at all is told why instead.
"""

from __future__ import annotations

import importlib
import importlib.util
import secrets
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from impls.driver.drive import Recording, Setting, drive
from impls.driver.harness import KeptHarnessTransport
from impls.driver.link import MemoryTransport, TcpTransport, Transport
from impls.driver.pipes import PipeTransport
from impls.launching.manifest import Implementation
from impls.launching.printable import printable
from specs.events import Closed, Fact, Quiet, Said, Trace
from specs.model import Judgement, Owed, Watcher
from specs.plan import Close, Plan, Say, SendBytes, TooLong, Wait
from specs.protocol import Protocol
from suites.asking import Answer, at_once
from suites.deadline import Deadline, TimeUp
from suites.ground import Ground, Settle
from suites.investigate import CONFIRM_MS
from suites.lanes import WIDTH, bears

SMOKES = 10
"""The first session may wait for this part of what the run may take, and so may all that are held to see how fast
answers come; one that says nothing at all gets more."""
SLOW_MS, ALONE_S = 30.0, 1.5
"""Whose answers take longer than the first, or all of whose answers so many seconds, is asked several things at once in
discovery."""
PROBE_MS = 1_500.0
"""Patience where only somebody's being there is asked for."""
SLOWEST_MS, QUICKEST_MS = 2_000.0, 250.0
"""Bounds of the calibrated patience: 30 times the slowest answer seen, and a constant for the scheduler."""
RESTING = 0.5
"""What a question of discovery may rest, as a part of what is left of the run."""
WARM_S, WARMTH = 10.0, 1.2
"""A process is spoken to when it is this many times as old as another one was when it answered, or as old as that."""
BRISK_S, STARTS_S = 0.1, 0.8
"""A start that takes longer than the first of these is measured again, as long as that took less than the second."""
UNSPOKEN, UNSPOKEN_MS = 3.0, 500
"""How long a program that ended in the first session is watched alone: so many times what it took to end, and more."""
SIGNS = frozenset(("observed", "file", "octets"))
"""What shows that a program was reached, although it has said nothing that can be read."""
STARTS = 6
"""What is left of the run has to be so many times what a program takes to start, if more than one of it is kept."""
DEADLY = 8
"""So many questions of discovery in which the implementation ended are asked once more: what ends it each time is none
of those that come and go."""
DUMB = 5
"""The part of what is left of the run for which one that was reached is waited for."""
AT_ONCE_MS = 500.0
"""How soon after the end of its STDIN a program says what it had only kept back."""


class CannotJudge(Exception):
    """The implementation could not be brought to a state in which it can be judged; the text says why."""


@dataclass
class Calibration:
    """`patience_ms` and `learnt` are what is known of the implementation, and what meeting it changes."""

    impl: Implementation
    protocol: Protocol
    transport: Transport
    patience_ms: float
    learnt: dict[str, Any] = field(default_factory=dict)
    deadline: Deadline = field(default_factory=Deadline)
    settle: Settle = lambda recording: ""
    """Starts an implementation again that died in a conversation of discovery; see `suites.ground`."""
    mark: str = field(default_factory=lambda: secrets.token_hex(3))
    """What names begin with: a server that was not started here may keep what an earlier run left in its queues."""
    bears: int = 0
    """How many conversations at once make no difference to it; 0 when it is one at a time."""
    dumb: bool = False
    """True for a program that was reached and says nothing that can be read: that is for the hunt to judge."""
    remark: str = ""
    """What the user should know of the first session, beside what is judged of it."""

    def meet(self) -> None:
        """Smoke, discovery and calibration. Raises CannotJudge when there is nothing to judge, and TimeUp when the time
        of the run was up before that was known."""
        if isinstance(self.transport, PipeTransport):
            self.warm(self.transport)
        if self.dumb:  # there is nothing to find out, and no time to lose
            self.patience_ms, self.bears = QUICKEST_MS, self._bears()
            return
        setting = self.setting()
        # what is slow when it is first met, or always, must not be taken for one that refuses
        ways = [min(CONFIRM_MS, self.deadline.left() * 1000 / SMOKES), CONFIRM_MS]
        slowest, silent, enough = 0.0, False, self.deadline.left() * (1 - 1 / SMOKES)
        for n in range(5):
            for patience_ms in ways:
                patient = replace(setting, patience_ms=max(patience_ms, self.patience_ms))
                recording = self._drive(self._smoke(setting.config), patient, f"smoke{n}-")
                if _spoke(recording, self.impl.role) or recording.refused:
                    break
            slowest = max(slowest, _slowest(recording, self.impl.role, started=getattr(self.transport, "own", False)))
            if n == 0:
                self._must_talk(recording)
            silent = any(isinstance(event, Quiet) and event.final and event.ms for event in recording.events)
            if silent or self.deadline.left() < enough:
                break  # the next one would wait as long
        if isinstance(self.transport, TcpTransport | PipeTransport):
            self.patience_ms = min(SLOWEST_MS, QUICKEST_MS + 30 * slowest)
        self.bears = self._bears()
        discover = _discovery(self.protocol)
        if discover is None:
            return
        ground, deadly = Ground(self.settle, f"{self.mark}ask", self.deadline), count()

        def play(plan: Plan, config: Any) -> tuple[Any, Any]:
            rest_s = sum(step.ms for step in plan.steps if isinstance(step, Wait)) / 1000
            if rest_s > self.deadline.left() * RESTING and not isinstance(self.transport, MemoryTransport):
                raise TooLong
            asking = replace(self.setting(), config=config)
            recording = ground.play(plan, asking)
            if recording.refused or (self._ended(recording) and next(deadly) < DEADLY):
                # an earlier question had ended it, or it ends now and then: that answers nothing
                recording = ground.play(plan, asking)
            if self.deadline.over():
                raise TimeUp
            return tuple(recording.events), recording.judgement

        try:
            if self.bears:
                guess = tuple(event for event in recording.events if isinstance(event, Said)), Judgement("pass")
                alone_s = 0.0 if silent or slowest >= SLOW_MS else ALONE_S
                width = 2 * min(WIDTH, self.bears)
                self.learnt = dict(at_once(discover, self._configure, play, guess, width, alone_s, self._anew))
            else:
                self.learnt = dict(discover(play, self._configure))
        except TooLong:  # a question that no discovery can do without rests for longer than there is
            raise TimeUp from None
        room = self.learnt.get("room", self.bears)  # where it takes few connections
        self.bears = min(self.bears, room) if room > 1 else 0

    def _anew(self, answer: Answer, config: Any) -> Judgement | None:
        """What a conversation shows with another config; None unless both times it is a whole one that keeps to the
        protocol, or one that ends in a silence which does not: else it might have gone otherwise."""
        trace, before = answer
        if not _whole(trace, before):
            return None
        watcher = Watcher(self.protocol.model, config, self.impl.role)
        for event in trace:
            watcher.feed(event)
        found = watcher.judgement()
        waits = found.verdict == "pass" and watcher.owed(self.impl.role, maybe=True) is not Owed.NOTHING
        return found if _whole(trace, found) and not waits else None

    def _ended(self, recording: Recording) -> bool:
        """True when the implementation ended in a conversation."""
        return any(blame.breach.requirement == self.protocol.crash for blame in recording.judgement.blamed)

    def _bears(self) -> int:
        """How many conversations at once make no difference to it."""
        serial, setting = count(1), self.setting()

        def play() -> Hashable:
            recording = self._drive(self._smoke(setting.config), setting, f"beside{next(serial)}-")
            if recording.refused or recording.overflow:
                return None
            return tuple(blame.breach.requirement for blame in recording.judgement.faults)

        if isinstance(self.transport, KeptHarnessTransport) and self._starts_slowly(self.transport):
            return 0
        # on a machine that is busy with something else it is asked twice: most of a run rests on the answer
        return bears(self.transport, play) or bears(self.transport, play)

    def _starts_slowly(self, transport: KeptHarnessTransport) -> bool:
        """True when starting more of its programs would take too much of the run."""
        return transport.pool.warm_s * STARTS > self.deadline.left()

    def _drive(self, plan: Plan, setting: Setting, fresh: str) -> Recording:
        """Drive one plan. Raises TimeUp when there was no time for all of it: it would teach us what is not so."""
        recording = drive(plan, replace(setting, ends=self.deadline.over), f"{self.mark}{fresh}")
        if self.deadline.over():
            raise TimeUp
        return recording

    def warm(self, transport: PipeTransport) -> None:
        """Find out how long a new process takes to answer; later ones are spoken to when they are as old as that. The
        first one of all reads from a disk what the next ones find in memory, and others that start beside it make it
        slow: so they are started one at a time, and the quickest counts."""
        pool, depth, begun, ages = transport.pool, transport.pool.depth, time.monotonic(), list[float]()
        pool.depth = 0
        try:
            ages.append(self._age_s())
            while transport.own and min(ages) > BRISK_S and time.monotonic() - begun < STARTS_S:
                ages.append(self._age_s())
        finally:
            pool.depth = depth
        pool.warm_s = min(WARM_S, WARMTH * min(ages))

    def _age_s(self) -> float:
        """How many seconds after its start a new process has answered."""
        ready_ms = self.impl.start.ready_s * 1000
        for patience_ms in (min(ready_ms, self.deadline.left() * 1000 / SMOKES), ready_ms):
            # who has said something is there; what it does not say any more is no matter of its start
            setting = replace(self.setting(), patience_ms=patience_ms, until=lambda judgement: True)
            recording = self._drive(self._smoke(setting.config), setting, "warm-")
            if first_ms := _first(recording, self.impl.role):
                return first_ms / 1000
            if self._is_dumb(recording, setting):
                self.dumb = True
                return (_reached(recording, self.impl.role) or patience_ms) / 1000
        self._must_talk(recording)
        return 0.0

    def _is_dumb(self, recording: Recording, setting: Setting) -> bool:
        """True when a program that we started was reached and says nothing even when it is given more time, or speaks
        at the end of its STDIN, whenever that comes: what stays in a buffer is a fault, and no slow start."""
        role = self.impl.role
        if self.protocol.wires.get(role, "tcp") != "stdio" or hung_up(recording, role):
            return False
        if _reached(recording, role):
            more = replace(setting, patience_ms=max(setting.patience_ms, self.deadline.left() * 1000 / DUMB))
            return not _spoke(self._drive(self._smoke(setting.config), more, "dumb-"), role)
        return all(self._keeps_back(setting, int(times * setting.patience_ms)) for times in (1, 2))

    def _keeps_back(self, setting: Setting, ms: int) -> bool:
        """True when it says nothing for so long, and something as soon as its STDIN ends."""
        steps = self._smoke(setting.config).steps
        opening = steps[: next(n for n, step in enumerate(steps, 1) if isinstance(step, Say))]
        recording = self._drive(Plan((*opening, Wait(ms), Close(0, "eof"))), replace(setting, until=None), "held-")
        said = [
            at for at, event in zip(recording.stamps, recording.events, strict=True) if _is_said(event, self.impl.role)
        ]
        return bool(said) and ms <= said[0] <= ms + AT_ONCE_MS

    def _must_talk(self, recording: Recording) -> None:
        if recording.refused:
            raise CannotJudge(recording.refused)
        said = [event.frame for event in recording.events if isinstance(event, Said) and event.by == self.impl.role]
        if not said:
            ended = hung_up(recording, self.impl.role)
            if ended and self._waits(recording):
                return
            how = "closed the connection" if ended else "said nothing"
            raise CannotJudge(
                f"{self.impl.name} {how} when it was first spoken to; is it a {self.impl.protocol} {self.impl.role}?"
                + _last_words(recording)
            )
        # what is missing or wrong behind a right answer is a fault to be judged, not another dialect
        first = next(n for n, event in enumerate(recording.events) if _is_said(event, self.impl.role))
        answer = any(blame.at == first for blame in recording.judgement.blamed)
        if recording.judgement.verdict == "fail" and len(said) == 1 and answer:
            if self.protocol.states(said[0], self.impl.profile):
                return
            text = self.protocol.describe(said[0])
            spoken = [profile for profile in self.protocol.profiles if self._speaks(profile)]
            listens = self.protocol.wires.get(self.impl.role, "tcp") == "tcp"
            if listens and not self.protocol.refuses(said[0]):
                self.remark = self._seems(spoken)
                return  # it has opened a session, in whatever way: that is judged
            if spoken:
                raise CannotJudge(
                    f"{self.impl.name} does not speak {self.impl.profile}, but {' and '.join(spoken)}: judge it with "
                    f"--profile={spoken[0]}, or say profile = {spoken[0]!r} in its manifest; it said: {text:.400}"
                )
            if not listens:
                return  # nobody refuses the program that started it: what it says is judged
            raise CannotJudge(
                f"the first session was refused; are the [{self.impl.protocol}] facts right? it said: {text:.400}"
            )

    def _seems(self, spoken: Sequence[str]) -> str:
        """What it is told whose first answer is wrong in the profile that it claims, and right in others."""
        if not spoken:
            return ""
        return (
            f"its first answer is none of {self.impl.profile}, and right in {' and '.join(spoken)}: if that is what it "
            f"speaks, judge it with --profile={spoken[0]}"
        )

    def _waits(self, recording: Recording) -> bool:
        """True when a program that ended once it was spoken to lives until it is: its end is an answer, and judged."""
        if self.protocol.wires.get(self.impl.role, "tcp") != "stdio":
            return False
        alone = Plan((SendBytes(0, b""), Wait(UNSPOKEN_MS + int(UNSPOKEN * recording.stamps[-1]))))
        return not hung_up(self._drive(alone, self.setting(), "alone-"), self.impl.role)

    def _speaks(self, profile: str) -> bool:
        """True when a session of another profile than the claimed one can be opened."""
        if profile == self.impl.profile:
            return False
        config = self.protocol.configure(self.impl.role, profile, self.impl.facts, {})
        opening = Plan(self._smoke(config).steps[:1])
        setting = replace(self.setting(), config=config, patience_ms=max(PROBE_MS, self.patience_ms))
        recording = self._drive(opening, setting, f"profile-{profile}-")
        answered = any(isinstance(event, Said) and event.by == self.impl.role for event in recording.events)
        return answered and recording.judgement.verdict == "pass"

    def _smoke(self, config: Any) -> Plan:
        assert self.protocol.smoke is not None
        return self.protocol.smoke(config)

    def _configure(self, learnt: Mapping[str, Any]) -> Any:
        return self.protocol.configure(self.impl.role, self.impl.profile, self.impl.facts, learnt)

    def setting(self) -> Setting:
        """How plans are driven against it, by what is known so far."""
        return Setting(self.protocol, self._configure(self.learnt), self.impl.role, self.transport, self.patience_ms)


def _whole(trace: Trace, judgement: Judgement) -> bool:
    """True when a conversation was judged to its end: it keeps to the protocol, or a silence that was waited for does
    not. That nobody waits any more at the end of a trace (`ms` is 0 there) shows nothing."""
    if judgement.verdict == "pass":
        return judgement.excused_from is None
    silences = [event for each in judgement.blamed for event in trace[each.at : each.at + 1]]
    waited = all(isinstance(event, Quiet) and event.final and event.ms > 0 for event in silences)
    return judgement.verdict == "fail" and bool(silences) and waited


def _slowest(recording: Recording, role: str, *, started: bool = False) -> float:
    """The longest time in ms between something we said, or asked for beside the wire, and the next thing heard. Before
    the first answer a program that was `started` for the conversation may still be starting."""
    answers, asked = list[float](), None
    for ms, event in zip(recording.stamps, recording.events, strict=True):
        if isinstance(event, Said | Fact) and event.by != role:
            asked = ms
        elif asked is not None and (isinstance(event, Said | Closed) or getattr(event, "name", "") == "answer"):
            answers.append(ms - asked)
            asked = None
    return max(answers[started:], default=0.0)


def _spoke(recording: Recording, role: str) -> bool:
    """True when `role` said anything, or hung up."""
    return any(isinstance(event, Said | Closed) and event.by == role for event in recording.events)


def _is_said(event: Any, role: str) -> bool:
    return isinstance(event, Said) and event.by == role


def _reached(recording: Recording, role: str) -> float:
    """When a program showed that it had read what it was told, in ms, other than by an answer; 0 when it did not."""
    told = False
    for ms, event in zip(recording.stamps, recording.events, strict=True):
        told = told or (isinstance(event, Said) and event.by != role)
        if told and isinstance(event, Fact) and event.by == role and event.name in SIGNS:
            return ms
    return 0.0


def _first(recording: Recording, role: str) -> float:
    """When it first answered anything, in ms: what a program prints while it starts is no answer."""
    for ms, event in zip(recording.stamps, recording.events, strict=True):
        if isinstance(event, Said | Fact) and event.by == role and getattr(event, "name", "answer") == "answer":
            return ms
    return 0.0


def _last_words(recording: Recording) -> str:
    """How a program ended, and the last line that it wrote to STDERR: most often why it could not be run."""
    facts = {event.name: event.value for event in recording.events if isinstance(event, Fact)}
    told = f" Its exit status was {facts['exit']}." if "exit" in facts else ""
    for event in recording.events:
        if isinstance(event, Fact) and event.name == "answer" and "error" in (event.value or {}):
            told += f" It answered {event.value.get('op', 'an operation')} by the error "
            told += f"{printable(str(event.value['error'])[:200])}."
            break
    lines = [line for line in str(facts.get("stderr", "")).replace("\\n", "\n").splitlines() if line.strip()]
    return told + (f" Its last words: {printable(lines[-1].strip())}" if lines else "")


def hung_up(recording: Recording, role: str) -> bool:
    """True when `role` ended a connection."""
    return any(isinstance(event, Closed) and event.by == role for event in recording.events)


def _discovery(protocol: Protocol) -> Callable[..., Mapping[str, Any]] | None:
    """`strategies.<protocol>.discover`, if the protocol has one."""
    if importlib.util.find_spec(f"strategies.{protocol.name}") is None:
        return None
    return getattr(importlib.import_module(f"strategies.{protocol.name}"), "discover", None)
