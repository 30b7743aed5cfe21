"""What all test programs have in common that are told over their stdin what to do (impls/driver/ndjson.py)."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from impls.driver.link import RECEIVE, ControlChannel, Link, Transport
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


class _Here(threading.local):
    """The program that a thread asks for."""

    harness: Harness | None = None


class KeptHarnessTransport(HarnessTransport):
    """Conversations with programs that are kept from one to the next. Each holds one at a time: where none is free,
    another one is started. One that is gone or falls silent is dismissed.

    For use by several threads. A thread may ask for the program of an earlier conversation, see `again`.
    """

    own = False

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool)
        self._lock = threading.Lock()
        self._free: list[Harness] = []
        self._reserved: list[Harness] = []
        self._here = _Here()

    def harness(self) -> Harness:
        """A program for one conversation, which is over with `free` or `dismiss`. Raises LinkError when none can be
        started."""
        mine = self._here.harness
        with self._lock:
            if mine in self._free:
                self._free.remove(mine)
                return mine
            others = [each for each in self._free if each not in self._reserved]
            if others:
                self._free.remove(others[-1])
                return others[-1]
        started = Harness(self.pool.take())
        if mine is not None and mine.ended:
            self._reserve(started, instead_of=mine)
        return started

    def free(self, harness: Harness) -> None:
        """Its conversation is over, and it can hold the next one."""
        with self._lock:
            self._free.append(harness)

    def dismiss(self, harness: Harness) -> None:
        """End a program: what it would still say belongs to no conversation."""
        harness.ended = True
        self.pool.give_up(harness.program)

    @contextmanager
    def again(self, kept: object) -> Iterator[None]:
        """In this thread, conversations are held with the program that held an earlier one (`KeptHarnessLink.kept`), or
        the one that was started in its place; the others have to do without it meanwhile. What shows only behind an
        earlier conversation would not show with another program."""
        if not isinstance(kept, Harness) or kept.ended or kept in self._reserved:
            yield
            return
        self._reserve(kept)
        try:
            yield
        finally:
            with self._lock:
                assert self._here.harness is not None
                self._reserved.remove(self._here.harness)
                self._here.harness = None

    def _reserve(self, harness: Harness, instead_of: Harness | None = None) -> None:
        with self._lock:
            if instead_of is not None:
                self._reserved.remove(instead_of)
            self._reserved.append(harness)
            self._here.harness = harness


def again(transport: Transport, kept: object) -> AbstractContextManager[None]:
    """See `KeptHarnessTransport.again`; does nothing where no programs are kept."""
    return transport.again(kept) if isinstance(transport, KeptHarnessTransport) else nullcontext()


class KeptHarnessLink(HarnessLink):
    """A conversation with a program that is kept. A link of a kind says how it is left."""

    def __init__(self, transport: KeptHarnessTransport) -> None:
        super().__init__(transport.harness())
        self._transport = transport
        self._left = False

    @property
    def kept(self) -> object:
        """The program that holds it: see `KeptHarnessTransport.again`."""
        return self.harness

    def close(self, how: str = "close") -> None:
        """See `Link`. Does nothing the second time."""
        if self._left:
            return
        self._left = True
        if self.leave(how):
            self._transport.free(self.harness)
        else:
            self._transport.dismiss(self.harness)

    def leave(self, how: str) -> bool:
        """End the conversation; True when the program can hold another one."""
        raise NotImplementedError


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
