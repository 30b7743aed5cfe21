"""The reference server behind a TCP port of the loopback interface.

    python -m impls.stomp --port 61613 --switch nack=discard --switch heart_beat=0,0

One thread and one selector. Ends on SIGTERM or SIGINT.
"""

from __future__ import annotations

import argparse
import contextlib
import selectors
import signal
import socket
import sys
import time
from collections.abc import Sequence
from typing import Any, NoReturn

from impls.stomp.reference import SWITCHES, Server, Session, from_text

HOST = "127.0.0.1"
CHUNK = 64 * 1024
PAUSE_AT = 1024 * 1024
"""A client that leaves so many octets unread is not read from either."""
DROP_AT = 64 * 1024 * 1024
"""A client that leaves so many octets unread, which others sent to it, is dropped."""
LINGER_S = 2.0
"""How long we go on reading after our end of a connection is closed, so that the last ERROR is not lost by a reset."""
MAX_CONNECTIONS = 2000


class Peer:
    """One TCP connection: its socket, its session, and the octets between them."""

    def __init__(self, sock: socket.socket, session: Session) -> None:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock = sock
        self.session = session
        self.out = bytearray()
        self.ended_at: float | None = None  # when our end was closed
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
        if self.ended_at is None:
            if data:
                self.session.send(data)
            else:
                self.session.hang_up()
        elif not data:
            self.drop()

    def write(self) -> None:
        """Send what there is, and close our end behind the last of it."""
        self.out += self.session.take()
        try:
            while self.out and (sent := self.sock.send(self.out)):
                del self.out[:sent]
        except BlockingIOError:
            pass
        except OSError:
            self.drop()
            return
        if len(self.out) > DROP_AT:
            self.drop()
        elif self.session.closed and not self.out and self.ended_at is None:
            self.ended_at = time.monotonic()
            with contextlib.suppress(OSError):
                self.sock.shutdown(socket.SHUT_WR)
            if self.session.hung:
                self.drop()

    def drop(self) -> None:
        """Give the connection up."""
        if not self.gone:
            self.gone = True
            self.session.hang_up()
            self.sock.close()

    @property
    def interest(self) -> int:
        """What the selector should watch for."""
        wanted = 0
        if len(self.out) < PAUSE_AT and not self.session.hung and not self.session.backlogged:
            wanted |= selectors.EVENT_READ
        if self.out:
            wanted |= selectors.EVENT_WRITE
        return wanted


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
        elapsed = int((time.monotonic() - self.began) * 1000) - self.server.now
        if elapsed > 0:
            self.server.advance(elapsed)
        for key, mask in events:
            if key.fileobj is self.listener:
                self.accept()
            elif mask & selectors.EVENT_READ and (peer := self.peers.get(key.fileobj)):  # type: ignore[call-overload]
                peer.read()
        now = time.monotonic()
        for sock, peer in [*self.peers.items()]:
            if not peer.gone:
                peer.write()
            if peer.ended_at is not None and now - peer.ended_at > LINGER_S:
                peer.drop()
            self.watch(sock, peer)

    def patience(self) -> float | None:
        """How long nothing needs to be done, in seconds; None for ever."""
        due = self.server.next_due()
        for peer in self.peers.values():
            due = min(due, peer.session.output_due())
            if peer.ended_at is not None:
                due = min(due, (peer.ended_at + LINGER_S - self.began) * 1000 + 1)
        if due == float("inf"):
            return None
        return max(0.0, due / 1000 - (time.monotonic() - self.began) + 0.0005)

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


def switches(pairs: Sequence[str]) -> dict[str, Any]:
    """The switches that are written name=value. Raises ValueError for one that does not exist."""
    found = {}
    for pair in pairs:
        name, _, text = pair.partition("=")
        found[name] = from_text(name, text)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the server as the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m impls.stomp",
        description="The reference STOMP server on a loopback port.",
        epilog="Switches: " + "; ".join(f"{name}={'|'.join(map(str, values))}" for name, values in SWITCHES.items()),
    )
    parser.add_argument("--port", type=int, default=61613, help="0 takes a free one")
    parser.add_argument("--seed", type=int, default=0, help="decides all random choices")
    parser.add_argument("--random", action="store_true", help="draw every switch that is not given, by the seed")
    parser.add_argument("--switch", action="append", default=[], metavar="NAME=VALUE", help="may be repeated")
    options = parser.parse_args(arguments)
    try:
        chosen = switches(options.switch)
        server = Server.random(options.seed, **chosen) if options.random else Server(seed=options.seed, **chosen)
    except ValueError as wrong:
        parser.error(str(wrong))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    front = Front(server, options.port)
    print(f"listening on {HOST}:{front.port}", flush=True)
    front.run()


if __name__ == "__main__":
    sys.exit(main())
