"""What all test programs have in common that are told over their stdin what to do (impls/driver/ndjson.py)."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Any

from impls.driver.link import RECEIVE, ControlChannel, Link
from impls.driver.ndjson import Commands
from impls.driver.pipes import PipeTransport, Pool
from impls.driver.program import Program, write_all

HOST = "127.0.0.1"
"""Where the suite listens, and what it is told of is reached."""
READS = 64
"""How often a program that goes on talking is read at a time."""
SEND_S = 10.0
"""How long a peer may refuse to read before its connection counts as ended."""
Facts = list[tuple[str, Any]]
Files = list[int | socket.socket]


class Harness:
    """One program, what it is told and what it says. `ended`: its end was told."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.ended = False
        self._commands = Commands()
        self._said = bytearray()

    def ask(self, op: str, given: dict[str, Any]) -> bool:
        """Tell it what to do. False when it takes no more."""
        return write_all(self.program, self._commands.request(op, **given), self._said)

    def heard(self) -> Facts:
        """Its answers and events since the last time."""
        self.program.drain()
        for _ in range(READS):
            data = self.program.read()
            if not data:
                break
            self._said += data
        found: Facts = [*self._commands.feed(bytes(self._said))]
        self._said.clear()
        return found

    def end(self) -> Facts:
        """Its last words and its exit status, once it has ended."""
        code = None if self.ended else self.program.code()
        if code is None:
            return []
        self.ended = True
        return [("stderr", self.program.last_words()), ("exit", code)]

    @property
    def gone(self) -> bool:
        """True when its process has ended."""
        return "code" in self.program.fate()


class HarnessLink:
    """A conversation with a program. A link of a kind says what octets are sent and taken, and what is done."""

    def __init__(self, harness: Harness) -> None:
        self.harness = harness

    def control(self) -> ControlChannel:
        return self  # type: ignore[return-value]

    def finish(self) -> bool:
        return False

    def files(self) -> Files:
        """What may have something to read."""
        return [*self.harness.program.listening()]


class HarnessTransport(PipeTransport):
    """Conversations with programs that are told what to do."""

    def wait(self, links: Sequence[Link], ms: float) -> None:
        """See `Transport`."""
        files: Files = [self.pool.notice]
        for link in links:
            if isinstance(link, HarnessLink) and not link.harness.program.closed:
                files += link.files()
        self._wait(files, ms)


class OneHarnessTransport(HarnessTransport):
    """Conversations with one program, which is started again when it is gone or falls silent."""

    beside = False

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool)
        self._harness: Harness | None = None

    def harness(self) -> Harness:
        """The program, which is started if there is none."""
        if self._harness is None:
            self._harness = Harness(self.pool.take())
        return self._harness

    def dismiss(self) -> None:
        """End the program: what it would still say belongs to no conversation."""
        if self._harness is not None:
            self.pool.give_up(self._harness.program)
            self._harness = None


def send_on(peer: socket.socket, data: bytes) -> bool:
    """Write all of `data` on a connection; False when it has ended or nothing is read there in time."""
    peer.settimeout(SEND_S)
    try:
        peer.sendall(data)
    except OSError:
        return False
    return True


def taken_from(peer: socket.socket) -> bytes | None:
    """What has arrived on a connection, b"" if nothing, None when it has ended."""
    peer.setblocking(False)
    try:
        return peer.recv(RECEIVE) or None
    except BlockingIOError:
        return b""
    except OSError:
        return None
