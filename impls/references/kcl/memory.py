"""Reference children in memory (see `impls.driver.link.MemoryTransport`)."""

from __future__ import annotations

from functools import partial
from typing import Any

from impls.references.kcl.child import READ, Child, Need, Switches


class Session:
    """A child on a link in memory."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self.closed = False
        self._inbox = bytearray()
        self._lines: list[bytes | None] = []
        self._running = child.run()
        self._need: Need | None = None
        self._wake_ms = self._now_ms = 0.0
        self._code: int | None = None
        self._noted = self._spoke = 0
        self._told = False
        self._go(None)

    def _go(self, line: bytes | None) -> None:
        """Let the child run until it needs something."""
        try:
            self._need = self._running.send(line)
        except StopIteration as end:
            self._need, self._code = None, int(end.value or 0)
        else:
            if self._need.ms >= 0:
                self._wake_ms = self._now_ms + self._need.ms

    def _feed(self) -> None:
        while self._need is READ and self._lines:
            self._go(self._lines.pop(0))

    def send(self, data: bytes) -> None:
        self._inbox += data
        *whole, rest = self._inbox.split(b"\n")
        self._inbox = rest
        self._lines += [bytes(line) for line in whole]
        self._feed()

    def finish(self) -> bool:
        """The end of STDIN; what stands before it without a newline is a line too."""
        if self._lines and self._lines[-1] is None:
            return False
        if self._inbox:
            self._lines.append(bytes(self._inbox))
            self._inbox.clear()
        self._lines += [None, None, None]
        self._feed()
        return True

    def take(self) -> bytes:
        data = bytes(self.child.out)
        self.child.out.clear()
        if not data and self._code is not None:
            self.closed = True
        return data

    def facts(self) -> list[tuple[str, Any]]:
        notes = self.child.notes[self._noted :]
        self._noted += len(notes)
        found: list[tuple[str, Any]] = [("observed", note) for note in notes]
        if len(self.child.err) > self._spoke and (not self._spoke or self.closed):  # the first words, and at the end
            self._spoke = len(self.child.err)
            found.append(("stderr", bytes(self.child.err[-400:]).decode("utf-8", "backslashreplace")))
        if self.closed and not self._told:
            self._told = True
            found.append(("exit", self._code))
        return found

    def do(self, name: str, value: Any) -> bool:
        return False

    def hang_up(self) -> None:
        self._running.close()
        self.closed = True

    def advance(self, ms: float) -> None:
        self._now_ms += ms
        while self._need is not None and self._need.ms >= 0 and self._now_ms >= self._wake_ms:
            self._go(None)
        self._feed()


class Children:
    """What makes children in memory: one for each conversation."""

    session = Session

    def __init__(
        self, profile: str = "kcl1-seed", switches: Switches | None = None, child: type[Child] = Child
    ) -> None:
        self.fresh = partial(child, profile, switches)
        self._open: list[Session] = []

    def open(self) -> Session:
        """A child that nobody has spoken to."""
        self._open = [session for session in self._open if not session.closed]
        self._open.append(self.session(self.fresh()))
        return self._open[-1]

    def advance(self, ms: float) -> None:
        """Let time pass."""
        for session in self._open:
            session.advance(ms)
