"""Coroutines without an event loop: what waits goes on the moment that what it waits for is known."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from typing import Any


class Failed(Exception):
    """An operation failed; the text says why. `code` is the broker's error code, if it gave one."""

    def __init__(self, why: str, code: int | None = None) -> None:
        super().__init__(why)
        self.code = code


class Promise:
    """A value that is not known yet."""

    __slots__ = ("_tasks", "done", "error", "value")

    def __init__(self) -> None:
        self.done = False
        self.value: Any = None
        self.error: Failed | None = None
        self._tasks: list[Task] = []

    def keep(self, value: Any = None) -> None:
        """This is the value."""
        if not self.done:
            self.done, self.value = True, value
            self._go_on()

    def fail(self, error: Failed) -> None:
        """There will be none."""
        if not self.done:
            self.done, self.error = True, error
            self._go_on()

    def _go_on(self) -> None:
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.step()

    def __await__(self) -> Generator[Promise, None, Any]:
        if not self.done:
            yield self
        if self.error is not None:
            raise self.error
        return self.value

    def call(self, task: Task) -> None:
        """Have `task` go on when the value is known."""
        self._tasks.append(task)


class Task(Promise):
    """A coroutine that runs; as a promise, what it returns."""

    __slots__ = ("_work",)

    def __init__(self, work: Coroutine[Promise, None, Any]) -> None:
        super().__init__()
        self._work = work
        self.step()

    def step(self) -> None:
        """Run until the next promise that is open."""
        try:
            promise = self._work.send(None)
        except StopIteration as end:
            self.keep(end.value)
        except Failed as failed:
            self.fail(failed)
        else:
            promise.call(self)
