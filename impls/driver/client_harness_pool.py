"""Test programs around client libraries that open several connections: told over their stdin what to do, they call.

A conversation has a program of its own, so that one which dies, or is spoilt, is nobody else's trouble. Its first link
is the program's first connection, and where it is told what to do; each further link, opened while the first one is
open, is the program's next connection in the order of accepting. A plan's `Control` is a request of
impls/driver/ndjson.py: its name is the op, its value the members, of which those that begin with `_` are for the model
alone. `connect` adds the URL at which the suite listens, unless the plan gives one; `drop` ends a connection under the
client. The suite listens at a second address, too, which the client may be sent to. Facts, on the first link: `address`
and `elsewhere` (each HOST:PORT of the suite) to begin with, `answer` and every event by its name, `stderr`, `exit`, and
`accepted`, how many connections there are when nobody has looked at the last of them yet; on each link that came to the
second address: `through`, that address.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Sequence
from typing import Any

from impls.driver import unread
from impls.driver.harness import HOST, Facts, Files, Harness, HarnessLink, HarnessTransport, send_on, taken_from
from impls.driver.link import Link
from impls.driver.pipes import Pool

MAX_CONNECTIONS = 64
"""Connections that are accepted in one conversation; what comes beyond them is closed at once."""


class Conversation:
    """One program, and the connections that it opens."""

    def __init__(self, harness: Harness) -> None:
        self.harness = harness
        self.listeners = [socket.create_server((HOST, 0), backlog=MAX_CONNECTIONS) for _ in range(2)]
        for listener in self.listeners:
            listener.setblocking(False)
        self.peers: list[socket.socket] = []
        self.doors: list[socket.socket] = []  # by which listener each of them came
        self.links = self.shown = 0
        self.over = self.named = False

    def address(self, nth: int = 0) -> str:
        """Where the suite listens."""
        return f"{HOST}:{self.listeners[nth].getsockname()[1]}"

    def accept(self) -> None:
        """Take the connections that wait to be accepted."""
        for listener in self.listeners:
            with contextlib.suppress(OSError):
                while True:
                    peer, _ = listener.accept()
                    if len(self.peers) >= MAX_CONNECTIONS:
                        peer.close()
                        continue
                    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self.peers.append(peer)
                    self.doors.append(listener)

    def end(self) -> None:
        """Close all that is open."""
        self.over = True
        for each in (*self.listeners, *self.peers):
            each.close()


class ClientPoolLink(HarnessLink):
    """One connection that the program opened; on the first one it is told what to do."""

    def __init__(self, transport: ClientPoolTransport, talk: Conversation, place: int) -> None:
        super().__init__(talk.harness)
        self.talk = talk
        self.place = place
        self._transport = transport
        self.starts = not place
        self._ended = self._named = False

    # -- as the server -------------------------------------------------------------------------------------------------

    @property
    def _peer(self) -> socket.socket | None:
        if not self.talk.over:
            self.talk.accept()
        return self.talk.peers[self.place] if self.place < len(self.talk.peers) else None

    def send(self, data: bytes) -> bool:
        """See `Link`."""
        peer = self._peer
        return peer is not None and not self._ended and send_on(peer, data)

    def take(self) -> bytes | None:
        peer = self._peer
        if self._ended:
            return None
        data = b"" if peer is None else taken_from(peer)
        self._ended = data is None
        return data

    def unread(self) -> int | None:
        """See `TcpLink`."""
        return None if self._peer is None else unread.of_connection(self._peer)

    # -- as the one who tells ------------------------------------------------------------------------------------------

    def do(self, name: str, value: Any) -> bool:
        if name == "drop":
            peer = self._peer
            if peer is None or self._ended:
                return False
            peer.close()
            self._ended = True
            return True
        given = {key: part for key, part in (value or {}).items() if not key.startswith("_")}
        if name == "connect":
            given = {"url": f"{self._transport.scheme}://{self.talk.address()}", **given}
        return self.harness.ask(name, given)

    def facts(self) -> Sequence[tuple[str, Any]]:
        talk = self.talk
        if talk.over:
            return []
        talk.accept()
        found: Facts = []
        if not self._named and self.place < len(talk.peers):
            self._named = True
            found += [("through", talk.address(1))] if talk.doors[self.place] is talk.listeners[1] else []
        if self.place:
            return found
        found += [] if talk.named else [("address", talk.address()), ("elsewhere", talk.address(1))]
        talk.named = True
        if len(talk.peers) > max(talk.links, talk.shown):
            talk.shown = len(talk.peers)
            found.append(("accepted", talk.shown))
        return [*found, *self.harness.heard(), *self.harness.end()]

    def files(self) -> Files:
        """What may have something to read."""
        peer = self._peer
        files: Files = [] if peer is None or self._ended else [peer]
        return files if self.place or self.talk.over else [*super().files(), *self.talk.listeners, *files]

    def close(self, how: str = "close") -> None:
        if self.place:
            peer = self._peer
            if peer is not None:
                with contextlib.suppress(OSError):
                    if how == "reset":
                        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                    peer.close()
            self._ended = True
        elif not self.talk.over:
            self.talk.end()
            self._transport.pool.give_up(self.harness.program)


class _Held(threading.local):
    """The conversation that a thread holds: each holds its own."""

    talk: Conversation | None = None


class ClientPoolTransport(HarnessTransport):
    """Conversations with programs of a pool, one for each. `scheme` is that of the URLs that they are told."""

    def __init__(self, pool: Pool, scheme: str) -> None:
        super().__init__(pool)
        self.scheme = scheme
        self._held = _Held()

    def open(self) -> Link:
        """A conversation, or the next connection of the one that goes on."""
        talk = self._held.talk
        if talk is None or talk.over:
            talk = self._held.talk = Conversation(Harness(self.pool.take()))
        talk.links += 1
        return ClientPoolLink(self, talk, talk.links - 1)
