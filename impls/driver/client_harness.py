"""Test programs around client libraries: told over their stdin what to do, they call the suite, which is the server.

One program serves all conversations of a run. A plan's `Control` is a request of impls/driver/ndjson.py: its name is
the op, its value the members, of which those that begin with `_` are for the model alone. `connect` adds the address on
which the suite listens; `drop` ends the connection under the client. Facts: `answer` and every event by its name,
`exit`.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Sequence
from typing import Any

from impls.driver.link import RECEIVE, ControlChannel, Link
from impls.driver.ndjson import Commands
from impls.driver.pipes import PipeTransport, Pool
from impls.driver.program import Program, wait_for, write_all

HOST = "127.0.0.1"
LEAVE_S = 1.0
"""How long a program may take to disconnect at the end of a conversation before it is started afresh."""


class ClientHarnessLink:
    """A conversation: what is said on the connection that the program opens, and beside it what it is told."""

    def __init__(self, transport: ClientHarnessTransport, program: Program, commands: Commands) -> None:
        self.program = program
        self._transport, self._commands = transport, commands
        self._listener = socket.create_server((HOST, 0))
        self._listener.setblocking(False)
        self._peer: socket.socket | None = None
        self._inbox, self._said = bytearray(), bytearray()
        self._found: list[tuple[str, Any]] = []
        self._open = 0
        self._ended = self._told = self._connected = False

    # -- as the server -------------------------------------------------------------------------------------------------

    def _accept(self) -> None:
        with contextlib.suppress(BlockingIOError):
            peer, _ = self._listener.accept()
            if self._peer is not None:
                peer.close()
                return
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._peer = peer

    def send(self, data: bytes) -> bool:
        """See `Link`."""
        self._accept()
        if self._peer is None or self._ended:
            return False
        self._peer.settimeout(10.0)
        try:
            self._peer.sendall(data)
        except OSError:
            return False
        return True

    def take(self) -> bytes | None:
        self._accept()
        if self._peer is None:
            return b""
        if self._ended:
            return None
        self._peer.setblocking(False)
        try:
            data = self._peer.recv(RECEIVE)
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
            if self._peer is not None:
                self._peer.close()
                self._ended = True
            return self._peer is not None
        given = {key: part for key, part in (value or {}).items() if not key.startswith("_")}
        if name == "connect":
            self._connected = True
            given = {"address": f"{HOST}:{self._listener.getsockname()[1]}", **given}
        elif name == "disconnect":
            self._connected = False
        self._open += 1
        return write_all(self.program, self._commands.request(name, **given), self._said)

    def facts(self) -> Sequence[tuple[str, Any]]:
        self.program.drain()
        for _ in range(64):
            data = self.program.read()
            if not data:
                break
            self._said += data
        for kind, value in self._commands.feed(bytes(self._said)):
            self._open -= kind == "answer"
            self._found.append((kind, value))
        self._said.clear()
        found, self._found = self._found, []
        if not self._told and self.program.fate().get("code") is not None:
            code = self.program.code()
            if code is not None:
                self._told = True
                found += [("stderr", self.program.last_words()), ("exit", code)]
        return found

    def finish(self) -> bool:
        return False

    def files(self) -> list[int | socket.socket]:
        """What may have something to read."""
        peer: list[int | socket.socket] = [] if self._peer is None or self._ended else [self._peer]
        return [*self.program.listening(), *peer, *([] if self._peer else [self._listener])]

    def close(self, how: str = "close") -> None:
        if self._peer is not None:
            self._peer.close()
        self._listener.close()
        if self._connected and not self._open and not self._told:
            self.do("disconnect", {})
            for _ in range(20):
                if not self._open or "code" in self.program.fate():
                    break
                wait_for(self.program.listening(), LEAVE_S * 50)
                self.facts()
        if self._open or self._told or "code" in self.program.fate():
            self._transport.dismiss()


class ClientHarnessTransport(PipeTransport):
    """Conversations with the one program, which is started again when it is gone or falls silent."""

    beside = False

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool)
        self._program: Program | None = None
        self._commands = Commands()

    def open(self) -> Link:
        if self._program is None:
            self._program, self._commands = self.pool.take(), Commands()
        return ClientHarnessLink(self, self._program, self._commands)

    def wait(self, links: Sequence[Link], ms: float) -> None:
        """See `Transport`."""
        files: list[int | socket.socket] = [self.pool.notice]
        for link in links:
            if isinstance(link, ClientHarnessLink) and not link.program.closed:
                files += link.files()
        wait_for(files, ms)

    def dismiss(self) -> None:
        """End the program: what it would still say belongs to no conversation."""
        if self._program is not None:
            self.pool.give_up(self._program)
            self._program = None
