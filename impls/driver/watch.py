"""A call of an implementation in this process that does not return.

There is no other process that could be ended. A timer looks each second whether the same call is still under way, and
interrupts one that goes on for as long as TICKS looks, and each further one after AGAIN. Python handles the timer's
signal between two instructions, in the main thread: a call that is made in another thread, or that does not come back
from C, is not watched.
"""

from __future__ import annotations

import atexit
import signal
import threading
from types import FrameType
from typing import Any, Final

TICK_S, TICKS, AGAIN = 1.0, 5, 2
"""Seconds between two looks, and so many that find the same call under way: at first, and once a call of this run had
to be interrupted, so that there is time to see it again. A machine that was asleep, or busy with something else, looks
no oftener for that."""


class Hung(BaseException):
    """A call has not returned. It is no Exception: a loop that catches those must end as well."""


class Watch:
    """Entered for each call of an implementation, and left when it has returned."""

    def __init__(self) -> None:
        self._calls = self._seen = self._ticks = self._users = 0
        self._most = TICKS
        self._inside = False
        self._before: Any = None

    def __enter__(self) -> None:
        self._calls += 1
        self._inside = True

    def __exit__(self, *error: object) -> None:
        self._inside = False

    def begin(self) -> bool:
        """Watch from now on; False where that is not possible. What began as often must end as often."""
        if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
            return False
        self._users += 1
        if self._users == 1:
            self._most = TICKS
            atexit.register(signal.setitimer, signal.ITIMER_REAL, 0)  # a run that was broken off left it on
            self._before = signal.signal(signal.SIGALRM, self._look)
            signal.setitimer(signal.ITIMER_REAL, TICK_S, TICK_S)
        return True

    def end(self) -> None:
        """Watch no longer."""
        self._users -= 1
        if not self._users:
            atexit.unregister(signal.setitimer)
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before or signal.SIG_DFL)

    def _look(self, number: int, frame: FrameType | None) -> None:
        if not self._inside or self._calls != self._seen:
            self._seen, self._ticks = self._calls, 0
            return
        self._ticks += 1
        if self._ticks >= self._most:
            self._ticks, self._most = 0, AGAIN
            raise Hung


WATCH: Final = Watch()
"""That of this process: there is one timer."""
