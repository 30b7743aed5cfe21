"""The reference server behind a TCP port of the loopback interface: one thread and one selector."""

from __future__ import annotations

import contextlib
import selectors
import socket
import time
from typing import NoReturn

from impls.msgpack.reference import Server, Session

HOST = "127.0.0.1"
CHUNK = 64 * 1024
PAUSE_AT = 1024 * 1024
"""A client that leaves so many octets unread is not read from either."""
LINGER_S = 2.0
"""How long we go on reading after our end of a connection is closed, so that what was said last is not lost."""
MAX_CONNECTIONS = 1000


class Peer:
    """One TCP connection: its socket, its session, and the octets between them."""

    def __init__(self, sock: socket.socket, session: Session) -> None:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock, self.session = sock, session
        self.out = b""
        self.ended_at: float | None = None
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
        if data and self.ended_at is None:
            self.session.send(data)
        elif not data:
            self.finished = True
            if self.ended_at is not None or not self.session.open:
                self.drop()

    def write(self) -> None:
        """Send what there is, piece by piece, and close our end behind the last of it."""
        try:
            while self.out or (piece := self.session.take()):
                self.out = self.out or piece
                self.out = self.out[self.sock.send(self.out) :]
        except BlockingIOError:
            return
        except OSError:
            self.drop()
            return
        if self.finished and not self.session.open:
            self.drop()
        elif self.session.closed and self.ended_at is None:
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
    def interest(self) -> int:
        """What the selector should watch for."""
        if self.out:
            return selectors.EVENT_WRITE | (0 if len(self.out) > PAUSE_AT or self.finished else selectors.EVENT_READ)
        return 0 if self.finished else selectors.EVENT_READ


class Front:
    """Accepts connections and moves octets and time into the server."""

    def __init__(self, server: Server, port: int) -> None:
        self.server = server
        self.selector = selectors.DefaultSelector()
        self.peers: dict[socket.socket, Peer] = {}
        self.watched: dict[socket.socket, int] = {}
        self.began = time.monotonic()
        self.listener = socket.create_server((HOST, port), backlog=512)
        self.listener.setblocking(False)
        self.selector.register(self.listener, selectors.EVENT_READ)

    @property
    def port(self) -> int:
        """The port that is listened on."""
        number: int = self.listener.getsockname()[1]
        return number

    def run(self) -> NoReturn:
        """Serve until a signal ends the process."""
        while True:
            self.step()

    def step(self) -> None:
        """Wait for something to happen, and do it."""
        events = self.selector.select(self.patience())
        elapsed = (time.monotonic() - self.began) * 1000 - self.server.now
        if elapsed > 0:
            self.server.advance(elapsed)
        for key, mask in events:
            if key.fileobj is self.listener:
                self.accept()
            elif mask & selectors.EVENT_READ and (peer := self.peers.get(key.fileobj)):  # type: ignore[call-overload]
                peer.read()
        for sock, peer in [*self.peers.items()]:
            if not peer.gone:
                peer.write()
            if peer.ended_at is not None and time.monotonic() - peer.ended_at > LINGER_S:
                peer.drop()
            self.watch(sock, peer)

    def patience(self) -> float | None:
        """How long nothing needs to be done, in seconds; None for ever."""
        due = self.server.next_due() / 1000 + self.began
        ends = (peer.ended_at + LINGER_S for peer in self.peers.values() if peer.ended_at is not None)
        soonest = min(due, *ends, float("inf"))
        return None if soonest == float("inf") else max(0.0, soonest - time.monotonic() + 0.0005)

    def accept(self) -> None:
        """Take one new connection. One too many is closed at once."""
        try:
            sock, _ = self.listener.accept()
        except OSError:
            return
        if len(self.peers) >= MAX_CONNECTIONS:
            sock.close()
            return
        self.peers[sock] = Peer(sock, self.server.open())

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
