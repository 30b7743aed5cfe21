"""Implementations that start the child themselves: the suite is both ends, their caller and their child.

The judged program is told over its stdin what to do (impls/driver/ndjson.py). The child that it starts is
impls/driver/relay_child.py, which hands its own stdin and stdout to the suite over a loopback socket. One program
serves one conversation.

A plan's `Control` is: `start` {…} (the child's command is added here), `call` {"op": …, …}, `checkpointer` and other
names of requests, and what a child does: `exit` STATUS, `kill` SIGNAL, `stderr` COUNT, `deaf` and `hear` (read no more,
and read on), `touch` DIRECTORY (make its file there). `close` ends what the program is told. Facts: `answer`,
`connected` (with the child's `pid`), every event by its name, `touched` (what went wrong, or ""), `ended` when the
child's process is gone, `exit` when the program itself has ended.
"""

from __future__ import annotations

import contextlib
import secrets
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from impls.driver.harness import HOST, SEND_S, Facts, Files, Harness, HarnessLink, HarnessTransport
from impls.driver.link import RECEIVE, Link
from impls.driver.pipes import Pool
from impls.driver.program import wait_for

CHILD = Path(__file__).with_name("relay_child.py")
HELLO_S = 5.0
"""How long a relay that has connected may take to say its token."""


class RelayLink(HarnessLink):
    """A conversation with a judged host: its caller on one side, its child on the other."""

    def __init__(self, pool: Pool, harness: Harness) -> None:
        super().__init__(harness)
        self.program = harness.program
        self._pool = pool
        self._child: socket.socket | None = None
        self._token = secrets.token_hex(8)
        self._found: Facts = []
        self._inbox = bytearray()
        self._ended = self._buried = False
        self._pid = 0
        # a door of its own: conversations may go on beside each other, each in a thread of its own
        self._door = socket.create_server((HOST, 0))
        self._door.setblocking(False)

    # -- as the child --------------------------------------------------------------------------------------------------

    def _accept(self) -> None:
        """Take relays that have connected. A stranger on the port is turned away."""
        while True:
            try:
                child, _ = self._door.accept()
            except BlockingIOError:
                return
            child.settimeout(HELLO_S)
            child.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            token, _, pid = _line(child).partition(" ")
            if token == self._token:
                self._connect(child, int(pid) if pid.isdecimal() else 0)
            else:
                child.close()

    def _connect(self, child: socket.socket, pid: int) -> None:
        """The host has started the relay."""
        self._found.append(("connected", {"pid": pid}))
        if self._child is not None:
            child.close()
            return
        child.setblocking(False)
        self._child, self._pid = child, pid

    def send(self, data: bytes) -> bool:
        """See `Link`. What is said before the child was started is lost, as it would be."""
        return self._frame(b"o", data)

    def _frame(self, kind: bytes, data: bytes) -> bool:
        self._accept()
        if self._child is None:
            return False
        view = memoryview(kind + len(data).to_bytes(4, "big") + data)
        deadline = time.monotonic() + SEND_S
        while view:
            try:
                view = view[self._child.send(view) :]
            except BlockingIOError:
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                wait_for([self._child, *self.program.listening()], left * 1000, writing=(self._child,))
                self._read()
                self._found += self.harness.heard()
            except OSError:
                return False
        return True

    def _read(self) -> None:
        if self._child is None or self._ended:
            return
        with contextlib.suppress(BlockingIOError):
            try:
                data = self._child.recv(RECEIVE)
            except ConnectionError:
                data = b""
            self._ended = not data
            self._inbox += data

    def take(self) -> bytes | None:
        self._accept()
        self._read()
        if self._inbox:
            data = bytes(self._inbox)
            self._inbox.clear()
            return data
        return None if self._ended else b""

    # -- as the caller -------------------------------------------------------------------------------------------------

    def do(self, name: str, value: Any) -> bool:
        if name == "exit":
            return self._frame(b"x", str(value).encode())
        if name == "kill":
            return self._frame(b"k", str(value).encode())
        if name == "stderr":
            return self._frame(b"e", b"x" * int(value))
        if name in ("deaf", "hear"):
            return self._frame(b"d" if name == "deaf" else b"h", b"")
        if name == "touch":
            self._found.append(("touched", self._touch(Path(str(value)))))
            return True
        if name == "close":
            return self.program.finish()
        given = dict(value or {})
        op = str(given.pop("op", name))
        if name == "start":
            argv = [sys.executable, "-I", "-S", str(CHILD), str(self._door.getsockname()[1]), self._token]
            given = {"child": argv, "env": {}, **given}
        return self.harness.ask(op, given)

    def _touch(self, folder: Path) -> str:
        """Make the file of the child's process id, as the child would; what went wrong, or "". It is removed again."""
        name = Path(f"/proc/{self._pid}/cwd") / folder / str(self._pid)
        try:
            name.touch()
            name.unlink()
        except OSError as error:
            return f"{type(error).__name__}: {error.strerror}"
        return ""

    def facts(self) -> Sequence[tuple[str, Any]]:
        self._accept()
        found, self._found = self._found + self.harness.heard(), []
        if self._pid and not self._buried and (self._ended or self.program.deaf) and not alive(self._pid):
            self._buried = True
            found.append(("ended", None))
        return [*found, *self.harness.end()]

    def files(self) -> Files:
        """What may have something to read."""
        return [self._door, *super().files(), *([] if self._child is None or self._ended else [self._child])]

    def close(self, how: str = "close") -> None:
        self._door.close()
        if self._child is not None:
            self._child.close()
        self._pool.give_up(self.program)


class RelayTransport(HarnessTransport):
    """Conversations with hosts of a pool."""

    def open(self) -> Link:
        return RelayLink(self.pool, Harness(self.pool.take()))


def alive(pid: int) -> bool:
    """True while a process runs; one that has ended and was not waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return False
    return state[:1] not in ([b"Z"], [b"X"])


def _line(child: socket.socket) -> str:
    """The first line, which is short."""
    data = b""
    try:
        while not data.endswith(b"\n") and len(data) < 64:
            piece = child.recv(1)
            if not piece:
                break
            data += piece
    except OSError:
        return ""
    return data.decode("ascii", "replace").strip()
