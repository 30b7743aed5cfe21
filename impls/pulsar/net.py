"""The reference broker behind TCP ports of the loopback interface: one thread and one selector."""

from __future__ import annotations

import contextlib
import selectors
import socket
import time
from collections.abc import Callable
from typing import NoReturn

from impls.pulsar.reference import Broker, Session

HOST = "127.0.0.1"
CHUNK = 256 * 1024
PAUSE_AT = 1024 * 1024
"""A client that leaves so many octets unread is not read from either."""
DROP_AT = 64 * 1024 * 1024
"""A client that leaves so many octets unread is dropped."""
LINGER_S = 2.0
"""How long we go on reading after our end of a connection is closed, so that what was said last is not lost."""
MAX_CONNECTIONS = 1000


class Peer:
    """One TCP connection: its socket, its session, and the octets between them."""

    def __init__(self, sock: socket.socket, session: Session) -> None:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock, self.session = sock, session
        self.out = memoryview(b"")
        self.ended_at: float | None = None
        self.gone = False

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
            self.drop()

    def write(self) -> None:
        """Send what there is, piece by piece, and close our end behind the last of it."""
        try:
            while True:
                if not self.out:
                    self.out = memoryview(self.session.take())
                if not self.out:
                    break
                self.out = self.out[self.sock.send(self.out) :]
        except BlockingIOError:
            return
        except OSError:
            self.drop()
            return
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
    def interest(self) -> int:
        """What the selector should watch for."""
        if not self.out:
            return 0 if self.session.backlogged else selectors.EVENT_READ
        full = self.session.waiting > PAUSE_AT
        return selectors.EVENT_WRITE | (0 if full else selectors.EVENT_READ)


class Front:
    """Accepts connections and moves octets and time into the broker, which `make` makes for its URL.

    With a second port, all topics live there: who asks on the first one is sent to it.
    """

    def __init__(self, make: Callable[[str, str], Broker], port: int, second: int | None = None) -> None:
        self.selector = selectors.DefaultSelector()
        self.peers: dict[socket.socket, Peer] = {}
        self.watched: dict[socket.socket, int] = {}
        self.listeners = [self.listen(each) for each in ([port] if second is None else [port, second])]
        urls = [f"pulsar://{HOST}:{listener.getsockname()[1]}" for listener in self.listeners]
        self.broker = make(urls[0], urls[1] if len(urls) > 1 else "")
        self.began = time.monotonic()

    def listen(self, port: int) -> socket.socket:
        """Open a port, 0 for a free one."""
        listener = socket.create_server((HOST, port), backlog=512)
        listener.setblocking(False)
        self.selector.register(listener, selectors.EVENT_READ)
        return listener

    @property
    def port(self) -> int:
        """The port that clients are told."""
        number: int = self.listeners[0].getsockname()[1]
        return number

    def run(self) -> NoReturn:
        """Serve until a signal ends the process."""
        while True:
            self.step()

    def step(self, patience_s: float | None = None) -> None:
        """Wait for something to happen, and do it."""
        due = self.patience()
        given = [each for each in (due, patience_s) if each is not None]
        events = self.selector.select(min(given) if given else None)
        elapsed = (time.monotonic() - self.began) * 1000 - self.broker.now
        if elapsed > 0:
            self.broker.advance(elapsed)
        for key, mask in events:
            if isinstance(key.fileobj, socket.socket) and key.fileobj in self.listeners:
                self.accept(key.fileobj)
            elif mask & selectors.EVENT_READ and (peer := self.peers.get(key.fileobj)):  # type: ignore[call-overload]
                peer.read()
        now = time.monotonic()
        for sock, peer in [*self.peers.items()]:
            if not peer.gone:
                peer.write()
            late = peer.ended_at is not None and now - peer.ended_at > LINGER_S
            if late or peer.session.waiting > DROP_AT:
                peer.drop()
            self.watch(sock, peer)

    def patience(self) -> float | None:
        """How long nothing needs to be done, in seconds; None for ever."""
        due = self.broker.next_due()
        for peer in self.peers.values():
            if not peer.out:
                due = min(due, peer.session.output_due())
        ends = (peer.ended_at + LINGER_S for peer in self.peers.values() if peer.ended_at is not None)
        soonest = min(due / 1000 + self.began, *ends, float("inf"))
        return None if soonest == float("inf") else max(0.0, soonest - time.monotonic() + 0.0005)

    def accept(self, listener: socket.socket) -> None:
        """Take one new connection. One too many is closed at once."""
        try:
            sock, _ = listener.accept()
        except OSError:
            return
        if len(self.peers) >= MAX_CONNECTIONS:
            sock.close()
            return
        self.peers[sock] = Peer(sock, self.broker.open())

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

    def close(self) -> None:
        """Close all that is open."""
        for peer in self.peers.values():
            peer.drop()
        for listener in self.listeners:
            listener.close()
        self.selector.close()
