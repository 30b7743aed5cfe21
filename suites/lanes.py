"""What is done beside the hunt: suspects that are looked into, and plans that rest for long.

Nearly all of their time is waiting for an implementation that says nothing. Only a real clock can be waited for beside
something else, so there are no lanes in memory, where time is virtual.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from impls.driver.link import Link, LinkError, TcpTransport, Transport
from impls.driver.pipes import PipeTransport

WIDTH = 6
"""Lanes beside the hunt."""


@dataclass(slots=True)
class _Task:
    """Something to be done, what is done with its result, and the error that ended it."""

    work: Callable[[], Any]
    then: Callable[[Any], None]
    result: Any = None
    error: BaseException | None = None


class Lanes:
    """Threads that do things beside this one. All that they come to is taken by the thread that calls `collect`."""

    def __init__(self, width: int = WIDTH) -> None:
        self._width = width
        self._waiting: deque[_Task] = deque()
        self._done: deque[_Task] = deque()
        self._changed = threading.Condition()
        self._busy = 0

    @property
    def pending(self) -> int:
        """What is being done or waits for it, or has been done and not been collected."""
        with self._changed:
            return len(self._waiting) + self._busy + len(self._done)

    @property
    def free(self) -> bool:
        """True when something that is submitted now begins at once."""
        with self._changed:
            return self._busy + len(self._waiting) < self._width

    def submit(self, work: Callable[[], Any], then: Callable[[Any], None], *, first: bool = False) -> None:
        """Do `work` in a lane; `then` gets what it came to, in `collect`."""
        task = _Task(work, then)
        with self._changed:
            (self._waiting.appendleft if first else self._waiting.append)(task)
            if self._busy < self._width:
                self._busy += 1
                threading.Thread(target=self._run, name="lane", daemon=True).start()

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._waiting:
                    self._busy -= 1
                    self._changed.notify_all()
                    return
                task = self._waiting.popleft()
            try:
                task.result = task.work()
            except BaseException as error:  # noqa: BLE001 - it is raised where the results are collected
                task.error = error
            with self._changed:
                self._done.append(task)
                self._changed.notify_all()

    def collect(self) -> None:
        """Hand on what is done by now. Raises what a task has raised."""
        for task in self._finished():
            if task.error is not None:
                raise task.error
            task.then(task.result)

    def _finished(self) -> Iterator[_Task]:
        while self._done:
            yield self._done.popleft()

    def wait(self, seconds: float) -> None:
        """Until something is done, or nothing is left, or the time is up."""
        with self._changed:
            self._changed.wait_for(lambda: self._done or not (self._waiting or self._busy), seconds)


def bears(transport: Transport, passes: Callable[[], bool]) -> bool:
    """True when conversations can be held beside each other: that with each program of its own, and with a server that
    holds as many connections open without another one being the worse for it. `passes` plays the simplest session. A
    host or a library behind a harness is one program for all of them."""
    if type(transport) is PipeTransport:
        return True
    if type(transport) is not TcpTransport or not passes():
        return False
    held: list[Link] = []
    try:
        for _ in range(2 * WIDTH):
            held.append(transport.open())  # noqa: PERF401 - those that were opened are closed in any case
        return passes()
    except LinkError:
        return False
    finally:
        for link in held:
            link.close()
