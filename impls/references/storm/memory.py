"""The reference children on links in memory (see impls.driver.link.MemoryTransport)."""

from __future__ import annotations

from functools import partial
from typing import Any

from impls.references.storm.child import Bolt, Child, Spout
from impls.references.storm.freedoms import Switches


class Session:
    """One child. Its directory is one that nobody else sees."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self.closed = False
        self.folders: set[str] = set()
        self._found: list[tuple[str, Any]] = []
        self._late: list[tuple[str, Any]] = []
        self._noted = self._spoke = 0
        self._told = self._finished = False
        child.touch = self.touch

    def touch(self, folder: str, name: str, size: int = 0) -> None:
        """A file is made."""
        if folder not in self.folders:
            raise FileNotFoundError(folder)
        fact = ("file", {"name": name, "size": size, "ours": name == "4242"})
        (self._late if self.child.out else self._found).append(fact)  # after what was written, it is seen after that

    def send(self, data: bytes) -> None:
        self.child.receive(data)

    def finish(self) -> bool:
        """The end of STDIN."""
        if self._finished:
            return False
        self._finished = True
        self.child.end()
        return True

    def take(self) -> bytes:
        data = bytes(self.child.out)
        self.child.out.clear()
        if not data and self.child.code is not None:
            self.closed = True
        return data

    def facts(self) -> list[tuple[str, Any]]:
        notes = self.child.notes[self._noted :]
        self._noted += len(notes)
        found, self._found, self._late = self._found, self._late, []
        found += [("observed", note) for note in notes]
        if self.child.err and not self._spoke:
            self._spoke = 1
            found.append(("stderr", bytes(self.child.err[-400:]).decode("utf-8", "backslashreplace")))
        if self.closed and not self._told:
            self._told = True
            found.append(("exit", self.child.code))
        return found

    def do(self, name: str, value: Any) -> bool:
        if name != "folder":
            return False
        folder = value[0] if isinstance(value, list) else value
        self.folders.add(f"/{folder}")
        self._found.append(("folder", f"/{folder}"))
        return True

    def hang_up(self) -> None:
        self.closed = True

    def advance(self, ms: float) -> None:
        self.child.advance(ms)


class Children:
    """What makes children in memory: one for each conversation."""

    def __init__(self, kind: type[Child], extensions: frozenset[str] = frozenset(), switches: Switches | None = None):
        self.fresh = partial(kind, extensions, switches)
        self._open: list[Session] = []

    def open(self) -> Session:
        """A child that nobody has spoken to."""
        self._open = [session for session in self._open if not session.closed]
        self._open.append(Session(self.fresh()))
        return self._open[-1]

    def advance(self, ms: float) -> None:
        """Let time pass."""
        for session in self._open:
            session.advance(ms)


Bolts = partial(Children, Bolt)
Spouts = partial(Children, Spout)
