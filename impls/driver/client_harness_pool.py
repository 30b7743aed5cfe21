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

from impls.driver.link import RECEIVE, ControlChannel, Link
from impls.driver.ndjson import Commands
from impls.driver.pipes import PipeTransport, Pool
from impls.driver.program import Program, wait_for, write_all

HOST = "127.0.0.1"
MAX_CONNECTIONS = 64
"""Connections that are accepted in one conversation; what comes beyond them is closed at once."""
SEND_S = 10.0
"""How long a client may refuse to read before its connection counts as ended."""


class Conversation:
    """One program, what it is told and says, and the connections that it opens."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.commands = Commands()
        self.said = bytearray()
        self.listeners = [socket.create_server((HOST, 0), backlog=MAX_CONNECTIONS) for _ in range(2)]
        for listener in self.listeners:
            listener.setblocking(False)
        self.peers: list[socket.socket] = []
        self.doors: list[socket.socket] = []  # by which listener each of them came
        self.links = self.shown = 0
        self.over = self.named = self.told = False

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


class ClientPoolLink:
    """One connection that the program opened; on the first one it is told what to do."""

    def __init__(self, transport: ClientPoolTransport, talk: Conversation, place: int) -> None:
        self.talk = talk
        self.place = place
        self._transport = transport
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
        if peer is None or self._ended:
            return False
        peer.settimeout(SEND_S)
        try:
            peer.sendall(data)
        except OSError:
            return False
        return True

    def take(self) -> bytes | None:
        peer = self._peer
        if self._ended:
            return None
        if peer is None:
            return b""
        peer.setblocking(False)
        try:
            data = peer.recv(RECEIVE)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        self._ended = not data
        return data or None

    # -- as the one who tells ------------------------------------------------------------------------------------------

    def control(self) -> ControlChannel:
        return self

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
        return write_all(self.talk.program, self.talk.commands.request(name, **given), self.talk.said)

    def facts(self) -> Sequence[tuple[str, Any]]:
        talk, program = self.talk, self.talk.program
        if talk.over:
            return []
        talk.accept()
        found: list[tuple[str, Any]] = []
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
        program.drain()
        for _ in range(64):
            data = program.read()
            if not data:
                break
            talk.said += data
        found += talk.commands.feed(bytes(talk.said))
        talk.said.clear()
        if not talk.told and program.fate().get("code") is not None:
            code = program.code()
            if code is not None:
                talk.told = True
                found += [("stderr", program.last_words()), ("exit", code)]
        return found

    def finish(self) -> bool:
        return False

    def files(self) -> list[int | socket.socket]:
        """What may have something to read."""
        peer = self._peer
        files: list[int | socket.socket] = [] if peer is None or self._ended else [peer]
        return files if self.place or self.talk.over else [*self.talk.program.listening(), *self.talk.listeners, *files]

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
            self._transport.pool.give_up(self.talk.program)


class _Held(threading.local):
    """The conversation that a thread holds: each holds its own."""

    talk: Conversation | None = None


class ClientPoolTransport(PipeTransport):
    """Conversations with programs of a pool, one for each. `scheme` is that of the URLs that they are told."""

    def __init__(self, pool: Pool, scheme: str) -> None:
        super().__init__(pool)
        self.scheme = scheme
        self._held = _Held()

    def open(self) -> Link:
        """A conversation, or the next connection of the one that goes on."""
        talk = self._held.talk
        if talk is None or talk.over:
            talk = self._held.talk = Conversation(self.pool.take())
        talk.links += 1
        return ClientPoolLink(self, talk, talk.links - 1)

    def wait(self, links: Sequence[Link], ms: float) -> None:
        """See `Transport`."""
        files: list[int | socket.socket] = [self.pool.notice]
        for link in links:
            if isinstance(link, ClientPoolLink) and not link.talk.program.closed:
                files += link.files()
        wait_for(files, ms)
