"""Implementations that speak on their stdin and stdout: one process for each conversation, started ahead.

A `Pool` keeps a few processes of one command ready, because starting an interpreter takes longer than a conversation.
What one of them is stands in impls/driver/program.py; the tail of its STDERR and its exit status are facts of the
conversation.
"""

from __future__ import annotations

import itertools
import os
import select
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any

from impls.driver import unread
from impls.driver.link import ControlChannel, Link, LinkError
from impls.driver.program import Program, Spawner, wait_for, write_all
from impls.launching.printable import printable

SPAWN_S = 20.0
TEMPORARY = "TMPDIR"
"""Names the directory in which programs leave what they need for a while; they are given one that goes with the run."""
STARTING = 2.0
"""So many times as long as one start alone takes may several beside each other take."""
MAX_FILES = 64
"""Files noticed in a directory that a program was given."""


class Pool:
    """Processes of one command, for use by several threads. `depth` are started ahead; one is given out when it is at
    least `warm_s` old. `left_s` says how many seconds the run has left: no start is waited for any longer.

    `taken` says how many were given out.
    """

    def __init__(self, name: str, argv: Sequence[str], env: Mapping[str, str], folder: Path, depth: int = 3) -> None:
        self.name = name
        self._argv, self._folder = argv, folder
        self.depth = depth
        self.warm_s = 0.0
        self.taken = 0
        self.left_s: Callable[[], float] = lambda: inf
        self._lock = threading.Lock()
        self._notes = Path(tempfile.mkdtemp(prefix="wireproof-"))
        self._env = {**env, TEMPORARY: str(self.folder())} if env.get(TEMPORARY) == os.environ.get(TEMPORARY) else env
        self._spawner = Spawner(self._notes)
        self._ready: deque[Program] = deque()
        self._open: set[Program] = set()
        self._serial = itertools.count()

    def take(self) -> Program:
        """A program that nobody has spoken to. Raises LinkError when it cannot be run."""
        before = time.monotonic()
        with self._lock:
            self._fill(1)
            program = self._ready.popleft()
            self._open.add(program)
            self._fill(self.depth)
        deadline = before + min(SPAWN_S, self.left_s())
        while not (fate := program.fate()):
            if time.monotonic() > deadline:
                raise LinkError(f"{self.name}: was not started within {deadline - before:.0f} s")
            wait_for([self._spawner.link], 100)
        if "error" in fate:
            raise LinkError(f"start.command: {self._argv[0]!r} cannot be run ({printable(str(fate['error']))})")
        warm = min(program.born + self.warm_s, time.monotonic() + self.left_s())
        while (left := warm - time.monotonic()) > 0 and "code" not in program.fate():
            wait_for([*program.listening(), self._spawner.link], left * 1000)
            program.drain()
            if wait_for([program.stdout], 0):
                break
        self.taken += 1
        return program

    def _fill(self, count: int) -> None:
        while len(self._ready) < count:
            notes = self._notes / f"{next(self._serial)}.jsonl"
            program = Program(self._spawner, self._argv, self._env, self._folder, notes)
            program.left_s = self.left_s
            self._ready.append(program)

    def folder(self) -> Path:
        """A new directory, which is gone with the pool at the latest."""
        return Path(tempfile.mkdtemp(dir=self._notes))

    def give_up(self, program: Program) -> None:
        """End a program that was taken."""
        program.close()
        self._open.discard(program)

    @property
    def notice(self) -> socket.socket:
        """Readable when something became of a program."""
        return self._spawner.link

    def close(self) -> None:
        """End all of them. Does nothing the second time."""
        for program in (*self._ready, *self._open):
            program.close()
        self._ready.clear()
        self._open.clear()
        self._spawner.close()
        shutil.rmtree(self._notes, ignore_errors=True)


class PipeLink:
    """A conversation over the stdin and stdout of a program. Facts: observed, stderr, exit.

    A plan's `Control` can be `folder` NAME, or `folder` [NAME, FILE]: a new directory, whose path is the fact `folder`,
    and what is in it already. Each other file in it is a fact `file` when it is first seen: its `name`, its `size`, and
    `ours`, whether its name is the number of a process that the program is or has started (None once the program has
    ended).
    """

    def __init__(self, program: Program, pool: Pool) -> None:
        self.program = program
        self._pool = pool
        self._inbox = bytearray()
        self._over = False
        self._spoke = 0
        self._told = False
        self._folder: Path | None = None
        self._made: list[tuple[str, Any]] = []
        self._files: set[str] = set()

    def send(self, data: bytes) -> bool:
        """See `Link`. Reads on while it cannot write, so that two full pipes never wait for each other."""
        return write_all(self.program, data, self._inbox)

    def take(self) -> bytes | None:
        if self._inbox:
            data = bytes(self._inbox)
            self._inbox.clear()
            return data
        if self._over:
            return None
        received = self.program.read()
        if received is None and not self._over:
            self._over = True
        return received

    def unread(self) -> int | None:
        """Octets that the program has still to read; None when that can't be told."""
        return None if self.program.closed else unread.of_pipe(self.program.stdin)

    def control(self) -> ControlChannel:
        return self

    def facts(self) -> Sequence[tuple[str, Any]]:
        program = self.program
        made, self._made = self._made, []
        found: list[tuple[str, Any]] = [*made, *self._new_files()]
        found += [("observed", value) for value in program.observations()]
        program.drain()
        if program.words and not self._spoke:
            self._spoke = program.words
            found.append(("stderr", program.last_words()))
        if not self._told and (self._over or program.fate().get("code") is not None) and not self._inbox:
            code = program.code()
            if code is not None and (self._over or not wait_for([program.stdout], 0)):
                self._told = True
                if program.words > self._spoke:
                    found.append(("stderr", program.last_words()))
                found += [("observed", value) for value in program.observations()]
                found += [*self._new_files(), ("exit", code)]
        return found

    def do(self, name: str, value: Any) -> bool:
        if name != "folder" or self._folder is not None:
            return False
        name, *files = value if isinstance(value, list) else [value]
        self._folder = self._pool.folder() / str(name)
        self._folder.mkdir()
        for file in files:
            (self._folder / str(file)).touch()
        self._files.update(files)
        self._made.append(("folder", str(self._folder)))
        return True

    def _new_files(self) -> list[tuple[str, Any]]:
        if self._folder is None:
            return []
        found: list[tuple[str, Any]] = []
        for entry in os.scandir(self._folder):
            if entry.name not in self._files and len(self._files) < MAX_FILES:
                self._files.add(entry.name)
                ours = descends(entry.name, self.program.fate().get("pid"))
                ours = None if self.program.fate().get("code") is not None else ours
                size = entry.stat(follow_symlinks=False).st_size
                found.append(("file", {"name": printable(entry.name), "size": size, "ours": ours}))
        return found

    def finish(self) -> bool:
        return self.program.finish()

    def close(self, how: str = "close") -> None:
        self._pool.give_up(self.program)
        if self._folder is not None:
            shutil.rmtree(self._folder.parent, ignore_errors=True)


def descends(number: str, ancestor: int | None) -> bool | None:
    """True when `number` is the process `ancestor`, or one that it has started. None when that cannot be told."""
    if ancestor is None or not number.isascii() or not number.isdecimal():
        return None
    at = number
    for _ in range(32):
        if at == str(ancestor):
            return True
        try:
            status = Path(f"/proc/{at}/status").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return False
        parent = next((line for line in status.splitlines() if line.startswith("PPid:")), "PPid: 0")
        at = parent.split()[1]
    return False


class _Last(threading.local):
    """What a thread has last waited for: two threads must not use one poll."""

    def __init__(self) -> None:
        self.files: list[int | socket.socket] = []
        self.poll = select.poll()


class PipeTransport:
    """Conversations with programs of a pool; the clock is the monotonic one. `own`: each has a program of its own, to
    which nobody else has ever spoken, so that several can be held at once."""

    own = True

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._last = _Last()

    def open(self) -> Link:
        return PipeLink(self.pool.take(), self.pool)

    @property
    def starting_ms(self) -> float:
        """How much later than at once a new program may answer for the first time: others may be starting beside it."""
        return STARTING * self.pool.warm_s * 1000 if self.own else 0.0

    def wait(self, links: Sequence[Link], ms: float) -> None:
        """See `Transport`."""
        files: list[int | socket.socket] = [self.pool.notice]
        for link in links:
            if isinstance(link, PipeLink) and not link.program.closed:
                files += link.program.listening()
        self._wait(files, ms)

    def _wait(self, files: list[int | socket.socket], ms: float) -> None:
        """Wait for what is nearly always the same as the last time."""
        last = self._last
        if files != last.files:
            last.files, last.poll = files, select.poll()
            for file in files:
                last.poll.register(file, select.POLLIN)
        last.poll.poll(ms)

    def now(self) -> float:
        return time.monotonic() * 1000

    def close(self) -> None:
        """End every program."""
        self.pool.close()


def environment(env: Mapping[str, str], filled: Callable[[str], str]) -> dict[str, str]:
    """What a started program finds around it: ours, what is installed beside us, and what its manifest says."""
    found = dict(os.environ)
    if sys.prefix != sys.base_prefix:
        found["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), found.get("PATH", os.defpath)])
    found.update((key, filled(value)) for key, value in env.items())
    return found
