"""Test programs around client libraries: told over their stdin what to do, they call the suite, which is the server.

A program serves one conversation after the other, and a few programs may run at once. A plan's `Control` is a request
of impls/driver/ndjson.py: its name is the op, its value the members, of which those that begin with `_` are for the
model alone. `connect` adds the address on which the suite listens, another one when the connection before has ended;
`drop` ends the connection under the client. Facts: `answer` and every event by its name, `exit`, and `accepted` when it
opens another connection, which is closed: how many there are by then.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Sequence
from typing import Any

from impls.driver import unread
from impls.driver.harness import HOST, Files, KeptHarnessLink, KeptHarnessTransport, send_on, taken_from
from impls.driver.link import Link
from impls.driver.program import wait_for

LEAVE_S = 1.0
"""How long a program may take to disconnect at the end of a conversation before it is started afresh."""
WORTH = 0.5
"""What is still open when the connection has gone is waited for, for this part of what a new program takes to start."""


class ClientHarnessLink(KeptHarnessLink):
    """A conversation: what is said on the connection that the program opens, and beside it what it is told."""

    def __init__(self, transport: ClientHarnessTransport) -> None:
        super().__init__(transport)
        self._listener = _listening()
        self._peer: socket.socket | None = None
        self._open = 0
        self._ended = self._connected = self._renewed = False
        self._used = self._tried = False
        self._more = self._shown = 0

    # -- as the server -------------------------------------------------------------------------------------------------

    def _accept(self) -> None:
        with contextlib.suppress(BlockingIOError):
            peer, _ = self._listener.accept()
            if self._peer is not None and not self._only_tried(self._peer):
                peer.close()
                self._more += 1
                return
            if self._peer is not None:
                self._peer.close()
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._peer, self._used = peer, False

    def _only_tried(self, peer: socket.socket) -> bool:
        """True for a connection that the program ended before anything was said on it: the one that counts may
        follow, or wait to be accepted."""
        if self._used or self._ended:
            return False
        try:
            return not peer.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def send(self, data: bytes) -> bool:
        """See `Link`."""
        self._accept()
        self._used = self._used or self._peer is not None
        return self._peer is not None and not self._ended and send_on(self._peer, data)

    def take(self) -> bytes | None:
        """See `Link`."""
        self._accept()
        while self._peer is not None and self._only_tried(self._peer):
            self._peer.close()
            self._peer, self._tried = None, True
            self._accept()
        if self._peer is not None and not self._ended:
            data = taken_from(self._peer)
            self._used, self._ended = self._used or bool(data), data is None
            return data
        self._ended = self._ended or (self._tried and not self._open)
        return None if self._ended else b""

    def unread(self) -> int | None:
        """See `TcpLink`."""
        return None if self._peer is None else unread.of_connection(self._peer)

    # -- as the one who tells ------------------------------------------------------------------------------------------

    def do(self, name: str, value: Any) -> bool:
        if name == "drop":
            if self._peer is not None:
                self._peer.close()
                self._ended = True
            return self._peer is not None
        given = {key: part for key, part in (value or {}).items() if not key.startswith("_")}
        if name == "connect":
            self._connected = True
            if self._ended:
                self._anew()
            given = {"address": f"{HOST}:{self._listener.getsockname()[1]}", **given}
        elif name == "disconnect":
            self._connected = False
        self._open += 1
        return self.harness.ask(name, given)

    def _anew(self) -> None:
        """Listen for the next connection of the conversation: whoever still calls at the old address finds nobody."""
        if self._peer is not None:
            self._peer.close()
        self._listener.close()
        self._listener, self._peer = _listening(), None
        self._ended, self._tried, self._renewed = False, False, True

    def renewed(self) -> bool:
        """True once when the connection that was ended is followed by another."""
        found, self._renewed = self._renewed, False
        return found

    def facts(self) -> Sequence[tuple[str, Any]]:
        if self._listener.fileno() >= 0:
            self._accept()
        more: list[tuple[str, Any]] = [("accepted", 1 + self._more)] if self._more > self._shown else []
        self._shown = self._more
        found = self.harness.heard()
        self._open -= sum(kind == "answer" for kind, _ in found)
        return [*more, *found, *self.harness.end()]

    def files(self) -> Files:
        """What may have something to read."""
        peer: Files = [] if self._peer is None or self._ended else [self._peer]
        return [*super().files(), *peer, *([] if self._peer else [self._listener])]

    def leave(self, how: str) -> bool:
        """See `KeptHarnessLink`."""
        if self._peer is not None:
            self._peer.close()
        self._listener.close()
        if self._open:
            self._answered(WORTH * min(LEAVE_S, self._transport.pool.warm_s))
        if self._connected and not self._open and not self.harness.ended:
            self.do("disconnect", {})
            self._answered(LEAVE_S)
        return not (self._open or self.harness.ended or self.harness.gone)

    def _answered(self, seconds: float) -> None:
        """Wait for the answers to all that it was told, for so long at most: nobody judges them any more."""
        until = time.monotonic() + seconds
        while self._open > 0 and not self.harness.gone and (left := until - time.monotonic()) > 0:
            wait_for(self.harness.program.listening(), left * 1000)
            self.facts()


def _listening() -> socket.socket:
    """Where the suite is called."""
    listener = socket.create_server((HOST, 0))
    listener.setblocking(False)
    return listener


class ClientHarnessTransport(KeptHarnessTransport):
    """See the module."""

    def open(self) -> Link:
        return ClientHarnessLink(self)
