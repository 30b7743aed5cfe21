"""The reference hosts on links in memory (see impls.driver.link.MemoryTransport): the tester is their child and their
caller."""

from __future__ import annotations

from functools import partial
from typing import Any

from impls.references.storm.host import Host, HostSwitches


class Session:
    """One host. Its child exists on the wire only."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._told = 0
        self._ended = self._stopped = False

    @property
    def closed(self) -> bool:
        """True once the child's STDIN has ended."""
        return self.host.closed

    def send(self, data: bytes) -> None:
        self.host.receive(data)

    def take(self) -> bytes:
        if self._stopped:
            return b""
        data = bytes(self.host.out)
        self.host.out.clear()
        return data

    def facts(self) -> list[tuple[str, Any]]:
        found = self.host.events[self._told :]
        self._told += len(found)
        if self.host.closed and not self._ended:
            self._ended = True
            found.append(("ended", None))
        return found

    def do(self, name: str, value: Any) -> bool:
        host = self.host
        if name == "start":
            host.events.append(("connected", {"pid": 4242}))
            host.start(value)
        elif name == "call":
            host.call(value)
        elif name == "task_ids":
            host.give(value["ids"])
        elif name in ("deaf", "hear"):
            host.blocked = name == "deaf"
            host.flush()
        elif name == "kill" and value == 19:
            self._stopped = True
        elif name in ("exit", "kill"):
            host.left()
        elif name == "stderr":
            host.noise(value)
        elif name == "close":
            host.close()
        elif name == "touch":
            host.events.append(("touched", "" if value == "/pids" else "no such directory"))
        return True

    def finish(self) -> bool:
        return False

    def hang_up(self) -> None:
        self.host.over = True

    def advance(self, ms: float) -> None:
        self.host.advance(ms)


class Hosts:
    """What makes hosts in memory: one for each conversation."""

    def __init__(
        self, kind: type[Host], extensions: frozenset[str] = frozenset(), switches: HostSwitches | None = None
    ) -> None:
        self.fresh = partial(kind, extensions, switches)
        self._open: list[Session] = []

    def open(self) -> Session:
        """A host that was asked for nothing."""
        self._open = [session for session in self._open if not session.host.over]
        self._open.append(Session(self.fresh()))
        return self._open[-1]

    def advance(self, ms: float) -> None:
        """Let time pass."""
        for session in self._open:
            session.advance(ms)
