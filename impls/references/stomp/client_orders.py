"""Commands that are carried out one after the other, what they wait for, and the time that passes meanwhile."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from impls.references.stomp.client_wire import Unsayable

Command = Callable[[Mapping[str, Any]], Any]


class Failed(Exception):
    """An op cannot be carried out; the text says why."""


class Waits(Exception):
    """An op is not over yet: it waits for `what`, for `ms` milliseconds at most."""

    def __init__(self, what: str, ms: float) -> None:
        super().__init__(what)
        self.what = what
        self.ms = ms


class Orders:
    """Commands in by `told`, reports out by `reports`. Time moves by `advance` alone."""

    def __init__(self) -> None:
        self.now: float = 0
        self.reports: list[tuple[int, dict[str, Any]]] = []
        self._jobs: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._queue: list[tuple[int, str, Mapping[str, Any]]] = []
        self._pending: tuple[int, str] | None = None  # the report that is due, and what it waits for

    # Time

    def later(self, ms: float, work: Callable[[], None]) -> None:
        """Do something after so many milliseconds."""
        heapq.heappush(self._jobs, (self.now + ms, next(self._order), work))

    def next_due(self) -> float:
        """When something happens by itself. Infinity when nothing will."""
        return self._jobs[0][0] if self._jobs else math.inf

    def advance(self, ms: float) -> None:
        """Let milliseconds pass."""
        until = self.now + ms
        while self._jobs and self._jobs[0][0] <= until:
            due, _, work = heapq.heappop(self._jobs)
            self.now = max(self.now, due)
            work()
        self.now = until

    # Commands

    def told(self, number: int, op: str, given: Mapping[str, Any]) -> None:
        """A command; its report has the same number. They are carried out one after the other."""
        self._queue.append((number, op, given))
        self._go_on()

    def _go_on(self) -> None:
        while self._queue and self._pending is None:
            number, op, given = self._queue.pop(0)
            try:
                self.reports.append((number, {"ok": self.command(op, given)}))
            except Waits as waits:
                self._pending = pending = number, waits.what
                self.later(waits.ms, partial(self._expire, pending))
            except (Failed, Unsayable) as failed:
                self.reports.append((number, {"error": str(failed)}))
            except (KeyError, ValueError, TypeError, AttributeError) as error:
                self.reports.append((number, {"error": f"{op}: {type(error).__name__}: {error}"}))

    @property
    def awaited(self) -> str:
        """What the op that is carried out waits for; "" when none waits."""
        return "" if self._pending is None else self._pending[1]

    def _expire(self, pending: tuple[int, str]) -> None:
        if self._pending is pending:
            self.expire(pending[1])

    def expire(self, what: str) -> None:
        """The time of the op that waits for `what` is over."""
        self.settle(what, {"error": "it took too long"})

    def settle(self, what: str, report: dict[str, Any]) -> None:
        """What an op waits for has come."""
        if self._pending is not None and self._pending[1] == what:
            number, self._pending = self._pending[0], None
            self.reports.append((number, report))
            self._go_on()

    def commands(self) -> Mapping[str, Command]:
        """What is known. A command raises Failed, Unsayable, or Waits when it is not over yet."""
        raise NotImplementedError

    def command(self, op: str, given: Mapping[str, Any]) -> Any:
        """Carry out one command. Raises what it raises."""
        known = self.commands()
        if op not in known:
            raise Failed("unsupported")
        return known[op](given)
