"""What is done beside the hunt: suspects that are looked into, and plans that rest for long.

Nearly all of their time is waiting for an implementation that says nothing. Only a real clock can be waited for beside
something else, so there are no lanes in memory, where time is virtual.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from impls.driver.harness import KeptHarnessTransport
from impls.driver.link import Link, LinkError, TcpTransport, Transport
from impls.driver.pipes import PipeTransport

WIDTH, PROCESSES = 8, 3
"""Lanes beside the hunt: with a server, and with programs, be they started for each conversation or kept."""
SLOW_S, SLOW_WIDTH = 0.1, 16
"""With a server whose simplest session takes longer than that so many conversations are held at once: it costs us
little to wait for more of them."""
TIMES, NOISE_S = 3.0, 0.3
"""So much longer may a conversation take when as many go on at once: who is slow by working gets no faster by it."""
FEW, ALONE_S = 2, 1.5
"""So many more may go otherwise beside each other than alone, where some do alone; and seconds for seeing that."""


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
        self.width = width
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
    def busy(self) -> int:
        """How many lanes are in use."""
        with self._changed:
            return self._busy

    @property
    def free(self) -> bool:
        """True when something that is submitted now begins at once."""
        with self._changed:
            return self._busy + len(self._waiting) < self.width

    def submit(self, work: Callable[[], Any], then: Callable[[Any], None]) -> None:
        """Do `work` in a lane; `then` gets what it came to, in `collect`."""
        task = _Task(work, then)
        with self._changed:
            self._waiting.append(task)
            if self._busy < self.width:
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


def bears(transport: Transport, play: Callable[[], Hashable] = lambda: None) -> int:
    """How many conversations can be held beside each other, 0 when it is one at a time: some with programs that are
    started for each, and many with a server for which it makes no difference that others are connected, or are being
    served. Of test programs that are kept some can run where it makes no difference that they do; one that answers line
    by line is never waited for. `play` plays the simplest session, and returns how it went, or None when it was
    refused."""
    if isinstance(transport, PipeTransport) and transport.own:
        return PROCESSES
    kept = isinstance(transport, KeptHarnessTransport)
    if not kept and not isinstance(transport, TcpTransport):
        return 0
    alone = _Went()
    alone.play(play)
    width, held = (PROCESSES, PROCESSES) if kept else (WIDTH, 2 * WIDTH)
    if None in alone.ways or not _makes_no_difference(transport, play, alone, width, held):
        return 0
    slow = alone.longest_s > SLOW_S and not kept
    return SLOW_WIDTH if slow and _makes_no_difference(transport, play, alone, SLOW_WIDTH, 2 * SLOW_WIDTH) else width


def _makes_no_difference(
    transport: Transport, play: Callable[[], Hashable], alone: _Went, width: int, held: int
) -> bool:
    """True when sessions go as they do `alone` while `width` go on at once, and `held` more are connected, or as many
    test programs run."""
    with _held(transport, held) as many:
        beside = _at_once(width, play) if many else _Went([None])
    if set(beside.ways) != set(alone.ways) and None not in beside.ways:
        # what comes and goes does so alone as well, and is then no matter of what goes on beside it
        until = time.monotonic() + ALONE_S
        while len(alone.ways) <= width and time.monotonic() < until:
            alone.play(play)
    usual = Counter(alone.ways).most_common(1)[0][0]
    odd, allowed = beside.unlike(usual), alone.unlike(usual)
    return odd <= allowed + (FEW if allowed else 0) and beside.seconds <= TIMES * alone.longest_s + NOISE_S


@dataclass(slots=True)
class _Went:
    """How the simplest session went each time, how long all of them took, and the longest of those played alone."""

    ways: list[Hashable] = field(default_factory=list)
    seconds: float = 0.0
    longest_s: float = 0.0

    def play(self, play: Callable[[], Hashable]) -> None:
        """Once more."""
        begun = time.monotonic()
        self.ways.append(play())
        self.longest_s = max(self.longest_s, time.monotonic() - begun)

    def unlike(self, usual: Hashable) -> int:
        """How many went in another way."""
        return sum(way != usual for way in self.ways)


@contextmanager
def _held(transport: Transport, count: int) -> Iterator[bool]:
    """So many connections, open all the time; False when they can't be had."""
    held: list[Link] = []
    try:
        try:
            for _ in range(count):
                held.append(transport.open())  # noqa: PERF401 - those that were opened are closed in any case
        except LinkError:
            yield False
        else:
            yield True
    finally:
        for link in held:
            link.close()


def _at_once(width: int, play: Callable[[], Hashable]) -> _Went:
    """How it goes in so many lanes."""
    lanes, went, begun = Lanes(width), _Went(), time.monotonic()
    for _ in range(width):
        lanes.submit(play, went.ways.append)
    while lanes.pending:
        lanes.wait(1.0)
        lanes.collect()
    went.seconds = time.monotonic() - begun
    return went
