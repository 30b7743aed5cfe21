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
from dataclasses import replace

from impls.driver.drive import Recording, Setting, drive
from specs.model import Blame, Breach
from specs.plan import Plan
from suites.deadline import Deadline

Settle = Callable[[Recording], str]
AGAIN = 3
"""How often what was disturbed by the end of an implementation is played again, in the end with nobody beside it."""
DISTURBED = "another conversation may have brought the implementation down"
SILENT_S, HELD_UP_S = 1.0, 15.0
"""A plan that goes on for longer waits out a silence. For so long what wants to be alone waits for such plans, with the
others going on meanwhile; then it holds up the others."""


class Ground:
    """Plays plans. `settle` is called after each; it restarts an implementation that died, and says how it did."""

    def __init__(self, settle: Settle, prefix: str, deadline: Deadline) -> None:
        self.deadline = deadline
        self._settle, self._prefix = settle, prefix
        self._serial = itertools.count(1)
        self._free = threading.Condition()
        self._settling = threading.Lock()
        self._begun: dict[int, float] = {}
        self._joined, self._ends, self._claimed, self._alone = 0, 0, False, False

    def play(self, plan: Plan, setting: Setting, deadline: Deadline | None = None, *, alone: bool = False) -> Recording:
        """Drive one plan with fresh names; it is given up when `deadline` is over, or that of the run. `alone`: with
        nobody beside it, because it is expected to bring the implementation down."""
        setting = replace(setting, ends=(deadline or self.deadline).over)
        died, recording = "", Recording()
        for turn in range(1 + AGAIN):
            by_itself = alone or turn == AGAIN or (turn > 0 and not _waited(recording))
            with self._place(alone=by_itself) as crowd:
                before, begun = self._ends, time.monotonic()
                recording = drive(plan, setting, f"{self._prefix}{next(self._serial)}-")
                recording.took_s = time.monotonic() - begun
                with self._settling:
                    died = self._settle(recording)
                    self._ends += bool(died)
                    disturbed = crowd() and self._ends != before
            if not disturbed or self.deadline.over():
                break
        if disturbed:  # there was no time to find out whose doing it was
            recording.judgement = replace(recording.judgement, verdict="inconclusive", blamed=(), why=DISTURBED)
        elif died:
            breach = Breach(setting.role, setting.protocol.crash, died)
            blame = Blame(breach, max(0, len(recording.events) - 1))
            recording.judgement = replace(recording.judgement, verdict="fail", blamed=(blame,))
        return recording

    @property
    def held_up(self) -> bool:
        """True while what has to be alone would wait for a plan that waits out a silence."""
        with self._free:
            return self._claimed or self._waits_out()

    def _waits_out(self) -> bool:
        now = time.monotonic()
        return any(now - begun > SILENT_S for begun in self._begun.values())

    @contextmanager
    def _place(self, *, alone: bool) -> Iterator[Callable[[], bool]]:
        """Room for one plan; answers whether there was another one beside it at any time."""
        with self._free:
            if alone:
                self._claim()
            else:
                self._free.wait_for(lambda: not self._alone)
            self._joined += 1
            joined = self._joined
            company = bool(self._begun)
            self._begun[joined] = time.monotonic()
        try:
            yield lambda: company or self._joined != joined
        finally:
            with self._free:
                del self._begun[joined]
                if alone:
                    self._claimed = self._alone = False
                self._free.notify_all()

    def _claim(self) -> None:
        """Wait until nobody is beside this one, and keep the others from beginning. They go on while another plan waits
        out a silence: held up by this one and that one, nothing would be played at all."""
        self._free.wait_for(lambda: not self._claimed)
        self._claimed = True
        until = time.monotonic() + HELD_UP_S
        while (left := until - time.monotonic()) > 0 and self._waits_out():
            self._free.wait(left)
        self._alone = True
        self._free.wait_for(lambda: not self._begun)


def _waited(recording: Recording) -> bool:
    """True when nothing had been said to the implementation for a while: something else has brought it down."""
    last_ms = max((ms for ms, _, way, _ in recording.wire if way == "sent"), default=0.0)
    return recording.took_s - last_ms / 1000 > SILENT_S
