"""A reference server behind TCP ports of the loopback interface: one thread and one selector.

The references share nothing but this with each other, and nothing with the suite: it knows no protocol. The servers
have neither sockets nor clocks of their own; here octets and time are moved into them. What the end of a client's
octets means, and how much may lie unread, differs from protocol to protocol: a `Peer` of its own says so.
"""

from __future__ import annotations

import contextlib
import math
import selectors
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Protocol

HOST = "127.0.0.1"
CHUNK = 256 * 1024
PAUSE_AT = 1024 * 1024
"""A client that leaves so many octets unread is not read from either."""
DROP_AT = 64 * 1024 * 1024
"""A client that leaves so many octets unread is dropped."""
LINGER_S = 2.0
"""How long we go on reading after our end of a connection is closed, so that what was said last is not lost."""
MAX_CONNECTIONS = 2000


class Server(Protocol):
    """What is served. Its time is in milliseconds.

    A session that it opens takes octets by `send`, gives what is to be sent by `take` (nothing: not now), is `closed`
    when no more will come, and is told by `hang_up` that its client has gone.
    """

    now: float

    def advance(self, ms: float, /) -> None:
        """Let time pass."""

    def next_due(self) -> float:
        """When something happens by itself; infinity when nothing will."""

    def open(self) -> Any:
        """A session for a new connection."""


class Peer:
    """One TCP connection: its socket, its session, and the octets between them."""

    def __init__(self, sock: socket.socket, session: Any) -> None:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock, self.session = sock, session
        self.out: memoryview | bytearray = memoryview(b"")
        self.ended_at: float | None = None
        """When our end was closed."""
        self.finished = self.gone = False

    def read(self) -> None:
        """Take what has arrived."""
        try:
            data = self.sock.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            self.drop()
            return
        if not data:
            self.finished = True
            self.finish()
        elif self.ended_at is None:
            self.session.send(data)

    def finish(self) -> None:
        """The client has closed its end: that is the end."""
        self.drop()

    def write(self) -> None:
        """Send what there is, piece by piece."""
        try:
            while self.fill():
                self.out = self.out[self.sock.send(self.out) :]
        except BlockingIOError:
            return
        except OSError:
            self.drop()
            return
        self.flushed()

    def fill(self) -> bool:
        """Take the next piece when the last of it is sent; False when there is nothing to send."""
        self.out = self.out or memoryview(self.session.take())
        return bool(self.out)

    def flushed(self) -> None:
        """Everything is sent. Close our end behind the last of it."""
        if self.session.closed and self.ended_at is None:
            self.ended_at = time.monotonic()
            with contextlib.suppress(OSError):
                self.sock.shutdown(socket.SHUT_WR)

    def drop(self) -> None:
        """Give the connection up."""
        if not self.gone:
            self.gone = True
            self.session.hang_up()
            self.sock.close()

    @property
    def unread(self) -> int:
        """Octets that wait for the client."""
        return len(self.out)

    @property
    def hears(self) -> bool:
        """True while what the client sends is read."""
        return self.unread <= PAUSE_AT

    @property
    def due(self) -> float:
        """When there is more to send, in milliseconds of the server."""
        return math.inf

    @property
    def interest(self) -> int:
        """What the selector should watch for."""
        read = selectors.EVENT_READ if self.hears and not self.finished else 0
        return read | (selectors.EVENT_WRITE if self.out else 0)


class Front:
    """Accepts connections and moves octets and time into the server, which `make` makes for the ports that it has."""

    def __init__(self, make: Callable[[Sequence[int]], Server], ports: Sequence[int], peer: type[Peer]) -> None:
        self.peer = peer
        self.selector = selectors.DefaultSelector()
        self.peers: dict[socket.socket, Peer] = {}
        self.watched: dict[socket.socket, int] = {}
        self.listeners = [self.listen(port) for port in ports]
        self.server = make([listener.getsockname()[1] for listener in self.listeners])
        self.began = time.monotonic()

    def listen(self, port: int) -> socket.socket:
        """Open a port, 0 for a free one."""
        listener = socket.create_server((HOST, port), backlog=512)
        listener.setblocking(False)
        self.selector.register(listener, selectors.EVENT_READ)
        return listener

    @property
    def port(self) -> int:
        """The first port, which clients are told."""
        number: int = self.listeners[0].getsockname()[1]
        return number

    def run(self) -> NoReturn:
        """Serve until a signal ends the process."""
        while True:
            self.step()

    def step(self) -> None:
        """Wait for something to happen, and do it."""
        wait_s = self.patience()
        events = self.selector.select(None if wait_s == math.inf else wait_s)
        elapsed = (time.monotonic() - self.began) * 1000 - self.server.now
        if elapsed > 0:
            self.server.advance(elapsed)
        for key, mask in events:
            if key.fileobj in self.listeners:
                self.accept(key.fileobj)
            elif mask & selectors.EVENT_READ and (peer := self.peers.get(key.fileobj)):  # type: ignore[call-overload]
                peer.read()
        now = time.monotonic()
        for sock, peer in [*self.peers.items()]:
            if not peer.gone:
                peer.write()
            late = peer.ended_at is not None and now - peer.ended_at > LINGER_S
            if late or peer.unread > DROP_AT:
                peer.drop()
            self.watch(sock, peer)

    def patience(self) -> float:
        """How long nothing needs to be done, in seconds."""
        due = min(self.server.next_due(), *(peer.due for peer in self.peers.values()), math.inf)
        ends = (peer.ended_at + LINGER_S for peer in self.peers.values() if peer.ended_at is not None)
        soonest = min(due / 1000 + self.began, *ends, math.inf)
        return max(0.0, soonest - time.monotonic() + 0.0005)

    def accept(self, listener: Any) -> None:
        """Take one new connection. One too many is closed at once."""
        try:
            sock, _ = listener.accept()
        except OSError:
            return
        if len(self.peers) >= MAX_CONNECTIONS:
            sock.close()
            return
        self.peers[sock] = self.peer(sock, self.server.open())

    def watch(self, sock: socket.socket, peer: Peer) -> None:
        """Keep the selector in line with what the peer waits for."""
        before, wanted = self.watched.get(sock, 0), 0 if peer.gone else peer.interest
        if before and not wanted:
            self.selector.unregister(sock)
        elif wanted and not before:
            self.selector.register(sock, wanted)
        elif before != wanted:
            self.selector.modify(sock, wanted)
        self.watched[sock] = wanted
        if peer.gone:
            del self.peers[sock], self.watched[sock]
