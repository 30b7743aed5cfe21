"""What every started implementation offers, whatever it was started as, and the bounded log that is kept of it."""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from collections import deque
from types import TracebackType
from typing import Self

from impls.launching.printable import printable

HEAD_BYTES = 64 << 10
TAIL_BYTES = 256 << 10
"""How much of a log is kept: how it began, and how it went last. What lies between is counted and dropped."""


class LaunchError(Exception):
    """An implementation could not be started, reached or stopped: our fault or the environment's, never a verdict."""


AGAIN = "[started again]"
"""The line in a log between two lives of a program."""


class Log:
    """The first HEAD_BYTES and at least the last TAIL_BYTES of what a program wrote, for use by several threads."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self._dropped = 0
        self._lock = threading.Lock()

    def write(self, data: bytes) -> None:
        """Take what was written, in pieces of any size."""
        with self._lock:
            room = HEAD_BYTES - len(self._head)
            self._head += data[:room]
            if rest := data[room:]:
                self._tail.append(rest)
                self._tail_bytes += len(rest)
            while self._tail and self._tail_bytes - len(self._tail[0]) >= TAIL_BYTES:
                gone = len(self._tail.popleft())
                self._tail_bytes -= gone
                self._dropped += gone

    def lines(self) -> list[str]:
        """What is kept, each line escaped so that it can be printed."""
        with self._lock:
            head, tail, dropped = bytes(self._head), b"".join(self._tail), self._dropped
        if not dropped:
            return _lines(head + tail)
        return [*_lines(head), f"[… {dropped} bytes left out …]", *_lines(tail)]

    def tail(self, lines: int) -> str:
        """The last `lines` lines that are not empty, joined by newlines."""
        return "\n".join(self.lines()[-lines:]) if lines > 0 else ""


def _lines(data: bytes) -> list[str]:
    texts = data.decode("utf-8", "backslashreplace").splitlines()
    return [printable(text) for text in texts if text.strip()]


class Running(ABC):
    """An implementation that was started; a context manager that stops it.

    `name` is that of its manifest. `version` is empty until the protocol has learnt what the implementation says of
    itself.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.version = ""
        self.grace_s = math.inf
        """Seconds it may take to end when it is stopped, if that is less than what its kind allows anyway."""

    @property
    @abstractmethod
    def address(self) -> tuple[str, int]:
        """Host and port. Ask again after `restart`: both may have changed."""

    @abstractmethod
    def alive(self) -> bool:
        """False once it is known to have ended. Raises LaunchError when that cannot be found out."""

    @abstractmethod
    def ending(self) -> str:
        """How it ended, in words; empty while it runs."""

    @abstractmethod
    def log_tail(self, lines: int = 20) -> str:
        """The last lines that it wrote, escaped; empty when it keeps its log to itself."""

    @abstractmethod
    def restart(self) -> None:
        """Stop it and start it afresh; it still has to get ready. Raises LaunchError when that is not possible."""

    @abstractmethod
    def stop(self) -> None:
        """End it with all that it started. Does nothing the second time. Raises LaunchError when something remains."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class Elsewhere(Running):
    """Something that was running before we came: it is neither started nor stopped, and its log is not ours to see."""

    def __init__(self, name: str, address: tuple[str, int]) -> None:
        super().__init__(name)
        self._address = address

    @property
    def address(self) -> tuple[str, int]:
        return self._address

    def alive(self) -> bool:
        return True

    def ending(self) -> str:
        return ""

    def log_tail(self, lines: int = 20) -> str:
        return ""

    def restart(self) -> None:
        raise LaunchError(
            f"{self.name}: was running already, so it cannot be restarted from here; "
            "give a manifest with start.command or start.image to have it started"
        )

    def stop(self) -> None:
        return None
