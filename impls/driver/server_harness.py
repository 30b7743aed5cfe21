"""Test programs that serve what they are told: their stdin and stdout carry commands, and the wire is a TCP connection.

One program serves all conversations of a run. A plan's `Control` is a request of impls/driver/ndjson.py: its name is
the op, its value the members. The answer to `serve` names the port on the loopback interface at which what is served is
reached; the connection is made when something is first said. Facts: `answer` and every event by its name, `exit`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from impls.driver.link import ControlChannel, Link, LinkError, TcpLink
from impls.driver.ndjson import Commands
from impls.driver.pipes import PipeTransport, Pool
from impls.driver.program import Program, wait_for, write_all

HOST = "127.0.0.1"
CONNECT_S = 5.0


class ServerHarnessLink:
    """A conversation: what the program is told, and one connection to what it serves."""

    def __init__(self, transport: ServerHarnessTransport, program: Program, commands: Commands) -> None:
        self.program = program
        self._transport, self._commands = transport, commands
        self._said = bytearray()
        self._found: list[tuple[str, Any]] = []
        self._told: list[str] = []
        self._port = 0
        self._peer: TcpLink | None = None
        self._open = 0
        self._over = False

    # -- as the client -------------------------------------------------------------------------------------------------

    def send(self, data: bytes) -> bool:
        """See `Link`."""
        if self._peer is None and self._port:
            try:
                self._peer = TcpLink((HOST, self._port), CONNECT_S)
            except LinkError as error:
                self._port = 0
                self._found.append(("refused", str(error)))
        return self._peer is not None and self._peer.send(data)

    def take(self) -> bytes | None:
        if self._peer is None:
            return None if self._over else b""
        return self._peer.take()

    # -- as the one who tells ------------------------------------------------------------------------------------------

    def control(self) -> ControlChannel:
        return self

    def do(self, name: str, value: Any) -> bool:
        self._open += 1
        self._told.append(name)
        return write_all(self.program, self._commands.request(name, **(value or {})), self._said)

    def facts(self) -> Sequence[tuple[str, Any]]:
        self.program.drain()
        for _ in range(64):
            data = self.program.read()
            if not data:
                break
            self._said += data
        for kind, value in self._commands.feed(bytes(self._said)):
            if kind == "answer":
                self._open -= 1
                port = value["ok"].get("port") if isinstance(value.get("ok"), dict) else None
                if value.get("op") == "serve" and type(port) is int and 0 < port < 65536:
                    self._port = port
            self._found.append((kind, value))
        self._said.clear()
        found, self._found = self._found, []
        if not self._over and self.program.fate().get("code") is not None:
            code = self.program.code()
            if code is not None:
                self._over = True
                found += [("stderr", self.program.last_words()), ("exit", code)]
        return found

    def finish(self) -> bool:
        return False

    def files(self) -> list[Any]:
        """What may have something to read."""
        return [*self.program.listening(), *([self._peer.socket] if self._peer is not None else [])]

    def close(self, how: str = "close") -> None:
        if self._peer is not None:
            self._peer.close(how)
        if self._told and self._told[-1] != "stop" and not self._over:
            self.do("stop", {})
        for _ in range(20):
            if self._open <= 0 or "code" in self.program.fate():
                break
            wait_for(self.program.listening(), 50.0)
            self.facts()
        if self._open > 0 or self._over or "code" in self.program.fate():
            self._transport.dismiss()


class ServerHarnessTransport(PipeTransport):
    """Conversations with the one program, which is started again when it is gone or falls silent."""

    beside = False

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool)
        self._program: Program | None = None
        self._commands = Commands()

    def open(self) -> Link:
        if self._program is None:
            self._program, self._commands = self.pool.take(), Commands()
        return ServerHarnessLink(self, self._program, self._commands)

    def wait(self, links: Sequence[Link], ms: float) -> None:
        """See `Transport`."""
        files: list[Any] = [self.pool.notice]
        for link in links:
            if isinstance(link, ServerHarnessLink) and not link.program.closed:
                files += link.files()
        wait_for(files, ms)

    def dismiss(self) -> None:
        """End the program: what it would still say belongs to no conversation."""
        if self._program is not None:
            self.pool.give_up(self._program)
            self._program = None
