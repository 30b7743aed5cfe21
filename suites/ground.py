"""Where plans are played: fresh names for each, the deadline of the run, and who has brought an implementation down.

Several plans may be played at once, from several threads. When an implementation dies meanwhile, any of them may be the
cause that had just said something, so each of these is played once more with nobody beside it, and what happens then
counts.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from impls.driver.drive import Recording, Setting, drive
from specs.model import Blame, Breach
from specs.plan import Plan
from suites.deadline import Deadline
from suites.manner import ENDED, manner

Settle = Callable[[Recording], str]
AGAIN = 3
"""How often what was disturbed by the end of an implementation is played again, in the end with nobody beside it."""
DISTURBED = "another conversation may have brought the implementation down"
SILENT_S, HELD_UP_S = 1.0, 15.0
"""A plan that goes on for longer waits out a silence. For so long what wants to be alone waits for such plans, with the
others going on meanwhile; then it holds up the others."""


HUSHED_S, LOOK_S = 2.0, 0.02
"""A plan that has gone on for longer says nothing more for now; and how often that is looked at."""


@dataclass(eq=False, slots=True)
class _Suspect:
    """A conversation beside which the implementation may have ended: `idle_s` after it had said its last word.
    `cleared`: another one was why."""

    idle_s: float = 0.0
    cleared: bool = False


class Ground:
    """Plays plans. `settle` is called after each; it restarts an implementation that died, and says how it did."""

    def __init__(self, settle: Settle, prefix: str, deadline: Deadline) -> None:
        self.deadline = deadline
        self._settle, self._prefix = settle, prefix
        self._serial = itertools.count(1)
        self._free = threading.Condition()
        self._settling = threading.Lock()
        self._begun: dict[int, float] = {}
        self._suspects: list[_Suspect] = []
        self._joined, self._ends, self._claimed, self._alone = 0, 0, False, False

    def play(self, plan: Plan, setting: Setting, deadline: Deadline | None = None, *, alone: bool = False) -> Recording:
        """Drive one plan with fresh names; it is given up when `deadline` is over, or that of the run. `alone`: with
        nobody beside it, because it is expected to bring the implementation down."""
        setting = replace(setting, ends=(deadline or self.deadline).over)
        mine, turn = _Suspect(), 0
        try:
            recording, died, disturbed = self._played(plan, setting, mine, alone=alone)
            while disturbed and turn < AGAIN and not self.deadline.over():
                turn += 1
                recording.close()
                by_itself = alone or turn == AGAIN or not _waited(recording)
                again = not alone and turn < AGAIN
                recording, died, disturbed = self._played(plan, setting, mine, alone=by_itself, again=again)
        finally:
            self._drop(mine)
        if disturbed:  # there was no time to find out whose doing it was
            recording.judgement = replace(recording.judgement, verdict="inconclusive", blamed=(), why=DISTURBED)
        elif died:
            breach = Breach(setting.role, setting.protocol.crash, died, kind=f"{ENDED} {manner(died)}".rstrip())
            blame = Blame(breach, max(0, len(recording.events) - 1))
            recording.judgement = replace(recording.judgement, verdict="fail", blamed=(blame,))
        return recording

    def _played(
        self, plan: Plan, setting: Setting, mine: _Suspect, *, alone: bool, again: bool = False
    ) -> tuple[Recording, str, bool]:
        """Drive it once: what was seen, how the implementation ended, and whether it may have been another
        conversation that ended it."""
        with self._place(alone=alone, suspect=mine if again else None) as crowd:
            before, begun = self._ends, time.monotonic()
            recording = drive(plan, setting, f"{self._prefix}{next(self._serial)}-")
            recording.took_s = time.monotonic() - begun
            if crowd():
                self._suspect(mine, recording)
            with self._settling:
                # who was beside a death that is known by now is played again in any case
                died = "" if crowd() and self._ends != before else self._settle(recording)
                self._ends += bool(died)
                if died and not crowd():
                    self._clear()
                return recording, died, crowd() and self._ends != before

    @property
    def held_up(self) -> bool:
        """True while what has to be alone would wait for a plan that waits out a silence."""
        with self._free:
            return self._claimed or self._waits_out()

    def _talking(self) -> bool:
        """True while anybody may still say something. Who waits out a silence ends no implementation."""
        now = time.monotonic()
        return any(now - begun < HUSHED_S for begun in self._begun.values())

    def _waits_out(self) -> bool:
        now = time.monotonic()
        return any(now - begun > SILENT_S for begun in self._begun.values())

    def _suspect(self, mine: _Suspect, recording: Recording) -> None:
        """A conversation is over that was held beside others: should the implementation have ended meanwhile, it may be
        why, and the sooner after its last word the likelier."""
        with self._free:
            mine.idle_s, mine.cleared = _idle_s(recording), False
            if mine not in self._suspects:
                self._suspects.append(mine)

    def _drop(self, mine: _Suspect) -> None:
        with self._free:
            if mine in self._suspects:
                self._suspects.remove(mine)
                self._free.notify_all()

    def _clear(self) -> None:
        """One of those that were beside each other ends the implementation by itself: the others need not be alone to
        be played again."""
        with self._free:
            for each in self._suspects:
                each.cleared = True
            self._free.notify_all()

    def _is_next(self, suspect: _Suspect) -> bool:
        """True when no likelier one is to be played again first."""
        return all(each is suspect or each.idle_s > suspect.idle_s for each in self._suspects)

    @contextmanager
    def _place(self, *, alone: bool, suspect: _Suspect | None = None) -> Iterator[Callable[[], bool]]:
        """Room for one plan; answers whether there was another one beside it at any time. A `suspect` that is cleared
        while it waits to be alone need not be."""
        with self._free:
            alone = alone and self._claim(suspect)
            if not alone:
                self._free.wait_for(lambda: not self._alone)
            if suspect in self._suspects:  # who is being played is not waited for
                self._suspects.remove(suspect)
                self._free.notify_all()
            self._joined += 1
            joined = self._joined
            company = bool(self._begun)
            self._begun[joined] = time.monotonic()
            if alone:
                company = False
        try:
            yield lambda: company or self._joined != joined
        finally:
            with self._free:
                del self._begun[joined]
                if alone:
                    self._claimed = self._alone = False
                self._free.notify_all()

    def _claim(self, suspect: _Suspect | None = None) -> bool:
        """Wait until nobody is beside this one, and keep the others from beginning. They go on while another plan waits
        out a silence: held up by this one and that one, nothing would be played at all. False when it has been found
        meanwhile that this one need not be alone."""
        mine = suspect or _Suspect()
        self._free.wait_for(lambda: mine.cleared or (not self._claimed and (suspect is None or self._is_next(mine))))
        if mine.cleared:
            return False
        self._claimed = True
        if suspect is not None:
            self._alone = True
            while self._talking():
                self._free.wait(LOOK_S)
            return True
        until = time.monotonic() + HELD_UP_S
        while (left := until - time.monotonic()) > 0 and self._waits_out():
            self._free.wait(left)
        self._alone = True
        self._free.wait_for(lambda: not self._begun)
        return True


def _idle_s(recording: Recording) -> float:
    """For how many seconds nothing had been said to the implementation."""
    last_ms = max((ms for ms, _, way, _ in recording.wire if way == "sent"), default=0.0)
    return recording.took_s - last_ms / 1000


def _waited(recording: Recording) -> bool:
    """True when that is a while: something else has brought it down."""
    return _idle_s(recording) > SILENT_S
