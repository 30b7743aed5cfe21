"""How octets reach an implementation under test: in memory or over TCP, behind one small interface.

A `Link` is one connection. `poll` returns what has arrived, b"" when nothing did in the given time, or None once the
implementation has ended the connection; end of file and reset are one event. A `Transport` opens links and owns time:
in memory it is virtual and costs nothing, over TCP it is the monotonic clock.
"""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable, Sequence
from math import inf
from typing import Any, Protocol

from impls.driver import unread
from impls.driver.watch import WATCH, Hung

RECEIVE = 65_536
"""Octets read at a time."""
MAX_INBOX = 1 << 25
"""Octets kept of a peer that talks while it refuses to listen."""


RAISED = (Exception, Hung)
"""Whatever an implementation in this process raises is a fault of its own, and no error of ours."""
HUNG = "did not return for seconds, and was interrupted,"
"""What is told of it when it has to be interrupted."""
LEAST_S = 0.05
"""Seconds that making a connection may take however little is left of the run."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""What this machine calls itself."""


class LinkError(Exception):
    """A connection could not be opened; the text says why."""


class Link(Protocol):
    """One connection to the implementation."""

    def send(self, data: bytes) -> bool:
        """Write all of `data`; False when the implementation has ended the connection or takes no more in time."""

    def take(self) -> bytes | None:
        """What has arrived so far, b"" if nothing, None at the end of the stream. Never waits."""

    def close(self, how: str = "close") -> None:
        """End the connection; `how` "reset" asks for an abortive close where there is one."""


class ControlChannel(Protocol):
    """What some links show and do beside the octets: a process has an exit status, a host can be told to do things."""

    def facts(self) -> Sequence[tuple[str, Any]]:
        """What was newly seen, as (name, value). Never waits."""

    def do(self, name: str, value: Any) -> bool:
        """Do what a plan's `Control` says; False when it cannot be done (any more)."""

    def finish(self) -> bool:
        """End what we say, as an end of file, and go on listening; False when that was done before."""


def control_of(link: Any) -> ControlChannel | None:
    """The link itself if it has a control channel."""
    return link.control() if hasattr(link, "control") else None


def unread_of(link: Any) -> int | None:
    """Octets that were sent on the link and not read yet, where it can tell."""
    return link.unread() if hasattr(link, "unread") else 0


class Transport(Protocol):
    """Where links are opened, and whose clock counts."""

    def open(self) -> Link:
        """A new connection. Raises LinkError. A ground that has addresses has `reach(where)`, too, for one to another
        address on the same machine, HOST:PORT."""

    def wait(self, links: Sequence[Link], ms: float) -> None:
        """Return as soon as one of `links` has something to take, at the latest after `ms`."""

    def now(self) -> float:
        """Milliseconds since some fixed point."""


class MemoryLink:
    """A connection to an implementation that lives in this process (see `MemoryTransport`).

    An exception out of the implementation is a crash of it: the connection ends, and `crashed` is told why.
    """

    __slots__ = ("_crashed", "_session")

    def __init__(self, session: Any, crashed: Callable[[BaseException], None]) -> None:
        self._session = session
        self._crashed = crashed

    def send(self, data: bytes) -> bool:
        try:
            with WATCH:
                if self._session is None or self._session.closed:
                    return False
                self._session.send(data)
        except RAISED as error:
            self._end(error)
            return False
        return True

    def take(self) -> bytes | None:
        try:
            with WATCH:
                if self._session is None:
                    return None
                data: bytes = self._session.take()
                if not data and self._session.closed:
                    return None
        except RAISED as error:
            self._end(error)
            return None
        return data

    def control(self) -> ControlChannel | None:
        """Itself, when the session shows facts."""
        return self if hasattr(self._session, "facts") else None

    def facts(self) -> Sequence[tuple[str, Any]]:
        return self._asked("facts") or ()

    def do(self, name: str, value: Any) -> bool:
        return bool(self._asked("do", name, value))

    def finish(self) -> bool:
        return bool(self._asked("finish"))

    def renewed(self) -> bool:
        """True once when the session that was ended is followed by another on the same link."""
        return hasattr(self._session, "renewed") and bool(self._asked("renewed"))

    def _asked(self, name: str, *given: Any) -> Any:
        try:
            with WATCH:
                return None if self._session is None else getattr(self._session, name)(*given)
        except RAISED as error:
            self._end(error)
            return None

    def close(self, how: str = "close") -> None:
        try:
            with WATCH:
                if self._session is not None:
                    self._session.hang_up()
        except RAISED as error:
            self._end(error)

    def _end(self, error: BaseException) -> None:
        self._session = None
        self._crashed(error)


class MemoryTransport:
    """An in-process implementation: `server.open()` gives sessions with send, take, hang_up and closed, and
    `server.advance(ms)` lets virtual time pass."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._server = make()
        self._now = 0.0
        self.crash = ""
        """What the implementation did wrong since it was made, in words that go on from its name, or ""."""

    def restart(self) -> None:
        """A new server, as after a crash."""
        self._server, self.crash = self._make(), ""

    def _crashed(self, error: BaseException) -> None:
        hung = isinstance(error, Hung)
        self.crash = HUNG if hung else f"raised {type(error).__name__}: {error}"[:500]

    def open(self) -> Link:
        try:
            with WATCH:
                session = self._server.open()
        except RAISED as error:
            self._crashed(error)
            raise LinkError(f"no connection: it {self.crash}") from None
        return MemoryLink(session, self._crashed)

    def reach(self, where: str) -> Link:
        """It is all one server."""
        return self.open()

    def wait(self, links: Sequence[Link], ms: float) -> None:
        self._now += ms
        try:
            with WATCH:
                self._server.advance(ms)
        except RAISED as error:
            self._crashed(error)

    def now(self) -> float:
        return self._now


class TcpLink:
    """A TCP connection; Nagle's algorithm is off so that every write is its own segment."""

    __slots__ = ("_deaf", "_ended", "_inbox", "_left_s", "socket")

    SEND_S = 10.0
    """How long a peer may refuse to read before the connection counts as ended."""

    def __init__(self, address: tuple[str, int], timeout_s: float, left_s: Callable[[], float] = lambda: inf) -> None:
        self._ended = self._deaf = False
        self._left_s = left_s
        self._inbox = bytearray()
        try:
            self.socket = socket.create_connection(address, timeout=max(LEAST_S, min(timeout_s, left_s())))
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except (ConnectionResetError, ConnectionAbortedError):
            # somebody was there, accepted and reset it before this thread ran again: a connection that has ended
            self.socket, self._ended = socket.socket(), True
        except OSError as error:
            raise LinkError(f"cannot connect to {address[0]}:{address[1]}: {error.strerror or error}") from None
        self.socket.setblocking(False)

    def send(self, data: bytes) -> bool:
        """See `Link`. Reads on while it cannot write, so that two full pipes never wait for each other. Once a write
        was cut short nothing more is written: what follows would land in the middle of a frame."""
        view = memoryview(data[:0] if self._deaf else data)
        deadline = time.monotonic() + self.SEND_S
        while view:
            try:
                view = view[self.socket.send(view) :]
            except BlockingIOError:
                if not self._until_writable(deadline):
                    self._deaf = True
                    break
            except OSError:
                return False  # what the implementation said before it closed is still to be read
        return not self._deaf

    def _until_writable(self, deadline: float) -> bool:
        poll = select.poll()
        poll.register(self.socket, select.POLLIN | select.POLLOUT)
        while (left := min(deadline - time.monotonic(), self._left_s())) > 0:
            for _, events in poll.poll(left * 1000):
                if events & select.POLLOUT:
                    return True
                data = self._receive()
                if data is None or len(self._inbox) > MAX_INBOX:
                    return False
                self._inbox += data
        return False

    def _receive(self) -> bytes | None:
        try:
            data = self.socket.recv(RECEIVE)
        except BlockingIOError:
            return b""
        except OSError:
            return None
        return data or None

    def take(self) -> bytes | None:
        if self._inbox:
            data = bytes(self._inbox)
            self._inbox.clear()
            return data
        if self._ended:
            return None
        received = self._receive()
        self._ended = received is None
        return received

    def unread(self) -> int | None:
        """Octets that the program at the other end has still to read; None when that can't be told."""
        return unread.of_connection(self.socket)

    def close(self, how: str = "close") -> None:
        if how == "reset":
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.socket.close()
        self._ended = True


class TcpTransport:
    """An implementation that listens on a TCP port. `left_s` says how many seconds the run has left: nothing waits
    longer than that."""

    CONNECT_S = 5.0

    def __init__(self, address: Callable[[], tuple[str, int]], left_s: Callable[[], float] = lambda: inf) -> None:
        self._address = address
        self._left_s = left_s

    def open(self) -> Link:
        return TcpLink(self._address(), self.CONNECT_S, self._left_s)

    def reach(self, where: str) -> Link:
        """See `Ground.open`. Raises LinkError, also for another machine: that may be anybody's."""
        host, _, port = where.rpartition(":")
        given = self._address()[0]
        if host != given and not (host in LOOPBACK and given in LOOPBACK):
            raise LinkError(f"{where} is on another machine than {given}")
        if not (port.isascii() and port.isdigit() and len(port) < 6 and 0 < int(port) < 1 << 16):
            raise LinkError(f"{where} has no port")
        return TcpLink((host, int(port)), self.CONNECT_S, self._left_s)

    def wait(self, links: Sequence[Link], ms: float) -> None:
        sockets = [link.socket for link in links if isinstance(link, TcpLink) and link.socket.fileno() >= 0]
        if not sockets:
            time.sleep(ms / 1000)  # nothing can arrive: only time is left to pass
            return
        poll = select.poll()
        for sock in sockets:
            poll.register(sock, select.POLLIN)
        poll.poll(ms)

    def now(self) -> float:
        return time.monotonic() * 1000
