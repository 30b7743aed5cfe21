"""Test programs that serve what they are told: their stdin and stdout carry commands, and the wire is a TCP connection.

A program serves one conversation after the other, and a few programs may run at once. A plan's `Control` is a request
of impls/driver/ndjson.py: its name is the op, its value the members. The answer to `serve` names the port on the
loopback interface at which what is served is reached; the connection is made when something is first said. Facts:
`answer` and every event by its name, `exit`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from impls.driver.harness import HOST, Facts, Files, KeptHarnessLink, KeptHarnessTransport
from impls.driver.link import Link, LinkError, TcpLink
from impls.driver.program import wait_for

CONNECT_S = 5.0


class ServerHarnessLink(KeptHarnessLink):
    """A conversation: what the program is told, and one connection to what it serves."""

    def __init__(self, transport: ServerHarnessTransport) -> None:
        super().__init__(transport)
        self._refused: Facts = []
        self._told: list[str] = []
        self._port = 0
        self._peer: TcpLink | None = None
        self._open = 0

    # -- as the client -------------------------------------------------------------------------------------------------

    def send(self, data: bytes) -> bool:
        """See `Link`."""
        if self._peer is None and self._port:
            try:
                self._peer = TcpLink((HOST, self._port), CONNECT_S)
            except LinkError as error:
                self._port = 0
                self._refused.append(("refused", str(error)))
        return self._peer is not None and self._peer.send(data)

    def take(self) -> bytes | None:
        if self._peer is None:
            return None if self.harness.ended else b""
        return self._peer.take()

    def unread(self) -> int | None:
        """See `TcpLink`."""
        return None if self._peer is None else self._peer.unread()

    # -- as the one who tells ------------------------------------------------------------------------------------------

    def do(self, name: str, value: Any) -> bool:
        self._open += 1
        self._told.append(name)
        return self.harness.ask(name, value or {})

    def facts(self) -> Sequence[tuple[str, Any]]:
        refused, self._refused = self._refused, []
        found = self.harness.heard()
        for kind, value in found:
            if kind == "answer":
                self._open -= 1
                port = value["ok"].get("port") if isinstance(value.get("ok"), dict) else None
                if value.get("op") == "serve" and type(port) is int and 0 < port < 65536:
                    self._port = port
        return [*refused, *found, *self.harness.end()]

    def files(self) -> Files:
        """What may have something to read."""
        return [*super().files(), *([self._peer.socket] if self._peer is not None else [])]

    def leave(self, how: str) -> bool:
        """See `KeptHarnessLink`."""
        if self._peer is not None:
            self._peer.close(how)
        if self._told and self._told[-1] != "stop" and not self.harness.ended:
            self.do("stop", {})
        for _ in range(20):
            if self._open <= 0 or self.harness.gone:
                break
            wait_for(self.harness.program.listening(), 50.0)
            self.facts()
        return not (self._open > 0 or self.harness.ended or self.harness.gone)


class ServerHarnessTransport(KeptHarnessTransport):
    """See the module."""

    def open(self) -> Link:
        return ServerHarnessLink(self)
