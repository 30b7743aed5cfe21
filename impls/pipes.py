"""Implementations that speak on their stdin and stdout: one process for each conversation, started ahead.

A `Pool` keeps a few processes of one command ready, because starting an interpreter takes longer than a conversation.
All of them are children of one helper, impls/nursery.py, which ends them when they are done with and when the run is
gone. Whatever a process writes to STDERR is drained; its tail and the exit status are facts of the conversation.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from impls.link import MAX_INBOX, RECEIVE, Link, LinkError, Side
from impls.printable import printable
from impls.running import LaunchError

NURSERY = Path(__file__).with_name("nursery.py")
OBSERVATIONS = "WIREPROOF_OBSERVATIONS"
"""Names the file in which user code notes down what it sees."""
MAX_OBSERVATION = 1 << 26
"""Octets of observations read of one process."""
TAIL_BYTES = 2048
SEND_S = 10.0
"""How long a process may refuse to read before the conversation counts as ended."""
LINGER_S = 0.3
"""How long, once a process has ended, its streams may stay open in others before its end is reported all the same."""
DYING_S = 1.0
"""How long, once it reads no more, a process may take until its end shows."""
SPAWN_S = 20.0
PIPE_BYTES = 1 << 20
MAX_FILES = 64
"""Files noticed in a directory that a program was given."""


class Nursery:
    """The helper process, and what it says of each program that it started."""

    def __init__(self) -> None:
        if sys.platform != "linux":
            raise LaunchError("start.command for what speaks on stdin and stdout needs Linux")
        self.link, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (self.link, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(NURSERY), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        self._ready = select.poll()
        self._ready.register(self.link, select.POLLIN)
        self._said: dict[int, dict[str, Any]] = {}
        self._numbers = itertools.count(1)

    def start(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path, files: Sequence[int]) -> int:
        """Start a program on three files; its number. What becomes of it is told by `said`."""
        number = next(self._numbers)
        message = {"start": number, "argv": list(argv), "env": dict(env), "cwd": str(cwd)}
        try:
            socket.send_fds(self.link, [json.dumps(message).encode()], list(files))
        except OSError as error:
            raise LaunchError(f"the process that starts programs is gone: {error}") from None
        self._said[number] = {}
        return number

    def said(self, number: int) -> dict[str, Any]:
        """What is known of a program by now: pid, error, code."""
        while self._ready.poll(0):
            data = self.link.recv(65536)
            if not data:
                raise LaunchError("the process that starts programs has ended")
            message = json.loads(data)
            if message["id"] in self._said:
                self._said[message["id"]].update(message)
        return self._said[number]

    def end(self, number: int) -> None:
        """Kill what is left of a program and forget it."""
        if self._said.pop(number, None) is not None:
            with contextlib.suppress(OSError):
                self.link.send(json.dumps({"end": number}).encode())

    def close(self) -> None:
        """End everything. Does nothing the second time."""
        self.link.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10.0)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


class Program:
    """One started program: its three pipes, and the file of its observations."""

    def __init__(self, nursery: Nursery, argv: Sequence[str], env: Mapping[str, str], cwd: Path, notes: Path) -> None:
        self._nursery = nursery
        self.born = time.monotonic()
        self.notes = notes
        self._notes_fd = os.open(notes, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._noted, self._half = 0, b""
        theirs_in, self.stdin = os.pipe2(os.O_CLOEXEC)
        self.stdout, theirs_out = os.pipe2(os.O_CLOEXEC)
        self.stderr, theirs_err = os.pipe2(os.O_CLOEXEC)
        for pipe in (self.stdin, self.stdout):
            with contextlib.suppress(OSError):  # a user may be over the system's limit for pipes
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        for pipe in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(pipe, False)
        files = (theirs_in, theirs_out, theirs_err)
        try:
            self.number = nursery.start(argv, {**env, OBSERVATIONS: str(notes)}, cwd, files)
        finally:
            for file in files:
                os.close(file)
        self.deaf = self.mute = self.closed = False
        self.tail = bytearray()
        self.words = 0
        self._silent = False
        self._ended_at = 0.0

    def fate(self) -> dict[str, Any]:
        """pid, error and code, as far as they are known."""
        return {} if self.closed else self._nursery.said(self.number)

    def write(self, view: memoryview) -> int | None:
        """How many octets it took now; None when it reads no more."""
        try:
            return 0 if self.deaf else os.write(self.stdin, view)
        except BlockingIOError:
            return 0
        except OSError:
            return None

    def read(self) -> bytes | None:
        """What it wrote to STDOUT, b"" if nothing, None at the end."""
        if self.mute:
            return None
        try:
            data = os.read(self.stdout, RECEIVE)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        self.mute = not data
        return data or None

    def drain(self) -> None:
        """Take what it wrote to STDERR; the end of it is kept."""
        for _ in range(64):
            if self._silent:
                return
            try:
                data = os.read(self.stderr, RECEIVE)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            self._silent = not data
            self.words += len(data)
            self.tail += data
            del self.tail[: max(0, len(self.tail) - TAIL_BYTES)]

    def observations(self) -> list[Any]:
        """What user code has noted down since the last time: one JSON value a line."""
        data = b""
        if self._noted < MAX_OBSERVATION:
            while piece := os.pread(self._notes_fd, RECEIVE, self._noted):
                self._noted += len(piece)
                data += piece
                if len(piece) < RECEIVE:
                    break
        if not data:
            return []
        *lines, self._half = (self._half + data).split(b"\n")
        return [_parsed(line) for line in lines if line.strip()]

    def code(self) -> int | None:
        """Its exit status once it has ended and all that it wrote was read, else None."""
        code = self.fate().get("code")
        if code is None:
            return None
        self.drain()
        now = time.monotonic()
        self._ended_at = self._ended_at or now
        if (self.mute and self._silent) or now - self._ended_at > LINGER_S:
            return int(code)
        return None

    def last_words(self) -> str:
        """The tail of STDERR, escaped."""
        return printable(bytes(self.tail).decode("utf-8", "backslashreplace")[-600:])

    def finish(self) -> bool:
        """End its STDIN."""
        if self.deaf:
            return False
        self.deaf = True
        os.close(self.stdin)
        return True

    def listening(self) -> list[int]:
        """Files that may have something to read."""
        return [file for file, over in ((self.stdout, self.mute), (self.stderr, self._silent)) if not over]

    def close(self) -> None:
        """End what is left of it."""
        if self.closed:
            return
        self.finish()
        os.close(self.stdout)
        os.close(self.stderr)
        os.close(self._notes_fd)
        self._nursery.end(self.number)
        self.closed = True
        with contextlib.suppress(FileNotFoundError):
            self.notes.unlink()


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return {"unreadable": line[:200].decode("utf-8", "backslashreplace")}


class Pool:
    """Processes of one command. `depth` are started ahead; one is given out when it is at least `warm_s` old.

    `waited_s` and `busy_s` say how long whoever takes them has waited for starts, and since when the pool exists.
    """

    def __init__(self, name: str, argv: Sequence[str], env: Mapping[str, str], folder: Path, depth: int = 3) -> None:
        self.name = name
        self._argv, self._env, self._folder = argv, env, folder
        self.depth = depth
        self.warm_s = 0.0
        self.waited_s = 0.0
        self.taken = 0
        self._notes = Path(tempfile.mkdtemp(prefix="wireproof-"))
        self._nursery = Nursery()
        self._ready: deque[Program] = deque()
        self._open: set[Program] = set()
        self._serial = itertools.count()

    def take(self) -> Program:
        """A program that nobody has spoken to. Raises LinkError when it cannot be run."""
        before = time.monotonic()
        self._fill(1)
        program = self._ready.popleft()
        self._open.add(program)
        self._fill(self.depth)
        deadline = before + SPAWN_S
        while not (fate := program.fate()):
            if time.monotonic() > deadline:
                raise LinkError(f"{self.name}: was not started within {SPAWN_S:.0f} s")
            wait_for([self._nursery.link], 100)
        if "error" in fate:
            raise LinkError(f"start.command: {self._argv[0]!r} cannot be run ({printable(str(fate['error']))})")
        while (left := program.born + self.warm_s - time.monotonic()) > 0 and "code" not in program.fate():
            wait_for([*program.listening(), self._nursery.link], left * 1000)
            program.drain()
            if wait_for([program.stdout], 0):
                break
        self.waited_s += time.monotonic() - before
        self.taken += 1
        return program

    def _fill(self, count: int) -> None:
        while len(self._ready) < count:
            notes = self._notes / f"{next(self._serial)}.jsonl"
            self._ready.append(Program(self._nursery, self._argv, self._env, self._folder, notes))

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
        return self._nursery.link

    def close(self) -> None:
        """End all of them. Does nothing the second time."""
        for program in (*self._ready, *self._open):
            program.close()
        self._ready.clear()
        self._open.clear()
        self._nursery.close()
        shutil.rmtree(self._notes, ignore_errors=True)


class PipeLink:
    """A conversation over the stdin and stdout of a program. Facts: observed, stderr, exit.

    A plan's `Do` can be `folder` NAME: a new directory, whose path is the fact `folder`. Each file in it is a fact
    `file` when it is first seen: its `name`, its `size`, and `ours`, whether its name is the number of a process that
    the program is or has started (None once the program has ended).
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

    def side(self) -> Side:
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
                found.append(("exit", code))
        return found

    def do(self, name: str, value: Any) -> bool:
        if name != "folder" or self._folder is not None:
            return False
        self._folder = self._pool.folder() / str(value)
        self._folder.mkdir()
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


def write_all(program: Program, data: bytes, inbox: bytearray) -> bool:
    """Write `data`; what the program says meanwhile goes to `inbox`. False when it takes no more."""
    view = memoryview(data)
    deadline = time.monotonic() + SEND_S
    while view:
        count = program.write(view)
        if count is None:
            _until_dead(program, inbox)
            return False
        view = view[count:]
        if not view:
            break
        left = deadline - time.monotonic()
        if program.deaf or left <= 0 or len(inbox) > MAX_INBOX:
            return False
        wait_for(program.listening(), left * 1000, writing=(program.stdin,))
        program.drain()
        if said := program.read():
            inbox += said
    return True


def _until_dead(program: Program, inbox: bytearray) -> None:
    """It reads no more: give its end a moment to show, so that a death is not taken for deafness."""
    deadline = time.monotonic() + DYING_S
    while not program.mute and (left := deadline - time.monotonic()) > 0:
        wait_for(program.listening(), left * 1000)
        program.drain()
        if said := program.read():
            inbox += said


class PipeGround:
    """Conversations with programs of a pool; the clock is the monotonic one."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._files: list[int | socket.socket] = []
        self._poll = select.poll()

    def open(self) -> Link:
        return PipeLink(self.pool.take(), self.pool)

    def wait(self, links: Sequence[Link], ms: float) -> None:
        """See `Ground`."""
        files: list[int | socket.socket] = [self.pool.notice]
        for link in links:
            if isinstance(link, PipeLink) and not link.program.closed:
                files += link.program.listening()
        self._wait(files, ms)

    def _wait(self, files: list[int | socket.socket], ms: float) -> None:
        """Wait for what is nearly always the same as the last time."""
        if files != self._files:
            self._files, self._poll = files, select.poll()
            for file in files:
                self._poll.register(file, select.POLLIN)
        self._poll.poll(ms)

    def now(self) -> float:
        return time.monotonic() * 1000

    def close(self) -> None:
        """End every program."""
        self.pool.close()


def wait_for(
    files: Sequence[int | socket.socket], ms: float, writing: Sequence[int | socket.socket] = ()
) -> list[tuple[int, int]]:
    """Those of `files` that can be read and of `writing` that can be written, after `ms` at the latest."""
    poll = select.poll()  # not select.select, which stops at file 1023
    for file in files:
        poll.register(file, select.POLLIN)
    for file in writing:
        poll.register(file, select.POLLOUT)
    return poll.poll(ms)


def environment(env: Mapping[str, str], filled: Callable[[str], str]) -> dict[str, str]:
    """What a started program finds around it: ours, what is installed beside us, and what its manifest says."""
    found = dict(os.environ)
    if sys.prefix != sys.base_prefix:
        found["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), found.get("PATH", os.defpath)])
    found.update((key, filled(value)) for key, value in env.items())
    return found
