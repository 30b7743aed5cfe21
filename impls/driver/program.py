"""One started program: its pipes, what it writes, and how it ends.

All programs of a run are children of one helper, impls/launching/spawner.py, which ends them when they are done with
and when the run is gone. Whatever a program writes to STDERR is drained; its tail and the exit status are kept.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import re
import select
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any

from impls.driver.link import MAX_INBOX, RECEIVE
from impls.launching.printable import LINE_CHARS, printable
from impls.launching.running import LaunchError

SPAWNER = Path(__file__).parents[1] / "launching" / "spawner.py"
OBSERVATIONS = "WIREPROOF_OBSERVATIONS"
"""Names the file in which user code notes down what it sees."""
MAX_OBSERVATION = 1 << 26
"""Octets of observations read of one process."""
TAIL_BYTES, TOLD = 16_384, LINE_CHARS
"""Octets of STDERR that are kept, and characters of them that are told."""
_NAMED = re.compile(r"^.*(?:panic:|fatal error|[A-Za-z](?:Error|Exception)\b).*$", re.MULTILINE)
SEND_S = 10.0
"""How long a process may refuse to read before the conversation counts as ended."""
LINGER_S = 0.3
"""How long, once a process has ended, its streams may stay open in others before its end is reported all the same."""
DYING_S = 1.0
"""How long, once it reads no more, a process may take until its end shows."""
PIPE_BYTES = 1 << 20


class Spawner:
    """The helper process, and what it says of each program that it started. With the run goes `folder`, too."""

    def __init__(self, folder: Path) -> None:
        if sys.platform != "linux":
            raise LaunchError("start.command for what speaks on stdin and stdout needs Linux")
        self.link, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (self.link, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(SPAWNER), str(theirs.fileno()), str(folder)],
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        self._ready = select.poll()
        self._ready.register(self.link, select.POLLIN)
        self._said: dict[int, dict[str, Any]] = {}
        self._numbers = itertools.count(1)
        self._reading = threading.Lock()

    def start(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path, files: Sequence[int]) -> int:
        """Start a program on three files; its number. What becomes of it is told by `said`."""
        number = next(self._numbers)
        message = {"start": number, "argv": list(argv), "env": dict(env), "cwd": str(cwd)}
        self._said[number] = {}  # before another thread can read what became of it
        try:
            socket.send_fds(self.link, [json.dumps(message).encode()], list(files))
        except OSError as error:
            raise LaunchError(f"the process that starts programs is gone: {error}") from None
        return number

    def said(self, number: int) -> dict[str, Any]:
        """What is known of a program by now: pid, error, code. Nothing of one that another thread has ended."""
        with self._reading:  # two threads that ask at once must not both read
            while self._ready.poll(0):
                data = self.link.recv(65536)
                if not data:
                    raise LaunchError("the process that starts programs has ended")
                message = json.loads(data)
                if message["id"] in self._said:
                    self._said[message["id"]].update(message)
            return self._said.get(number, {})

    def pid(self, number: int) -> str:
        """The process id of a program, "" when it has not been told yet."""
        return str(self._said.get(number, {}).get("pid", ""))

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

    def __init__(self, spawner: Spawner, argv: Sequence[str], env: Mapping[str, str], cwd: Path, notes: Path) -> None:
        self._spawner = spawner
        self.born, self._began = time.monotonic(), time.time()
        self._cwd = cwd
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
            self.number = spawner.start(argv, {**env, OBSERVATIONS: str(notes)}, cwd, files)
        finally:
            for file in files:
                os.close(file)
        self.deaf = self.mute = self.closed = False
        self._ending = threading.Lock()
        self.tail = bytearray()
        self.words = 0
        self._silent = False
        self._ended_at = 0.0
        self.left_s: Callable[[], float] = lambda: inf
        """How many seconds the run has left: nothing is written for longer than that."""

    def fate(self) -> dict[str, Any]:
        """pid, error and code, as far as they are known."""
        return {} if self.closed else self._spawner.said(self.number)

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
        """The tail of STDERR, escaped: where it is long, the first line that names an error stands before its end."""
        text = bytes(self.tail).decode("utf-8", "backslashreplace")
        end = text[-TOLD:]
        named = _NAMED.search(text[: -len(end)]) if len(text) > TOLD else None
        first = "" if named is None else f"{named[0][: TOLD // 2]} ... "
        return printable(f"{first}{end[len(first) :]}")

    def finish(self) -> bool:
        """End its STDIN."""
        with self._ending:
            if self.deaf:
                return False
            self.deaf = True
        os.close(self.stdin)
        return True

    def listening(self) -> list[int]:
        """Files that may have something to read."""
        return [file for file, over in ((self.stdout, self.mute), (self.stderr, self._silent)) if not over]

    def close(self) -> None:
        """End what is left of it. Does nothing the second time: a conversation that is still under way may end its
        program while the run ends all of them."""
        with self._ending:
            if self.closed:
                return
            self.closed = True
        self.finish()
        os.close(self.stdout)
        os.close(self.stderr)
        os.close(self._notes_fd)
        self._tidy()
        self._spawner.end(self.number)
        with contextlib.suppress(FileNotFoundError):
            self.notes.unlink()

    def _tidy(self) -> None:
        """Remove the file of its process id that was made where it runs, or at the root: a program that is told of no
        folder for it, or of one that is none, may take these."""
        name = self._spawner.pid(self.number)
        for folder in (self._cwd, Path("/")) if name else ():
            with contextlib.suppress(OSError):
                found = (folder / name).lstat()
                if stat.S_ISREG(found.st_mode) and not found.st_size and found.st_mtime >= self._began - 1:
                    (folder / name).unlink()


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return {"unreadable": line[:200].decode("utf-8", "backslashreplace")}


def write_all(program: Program, data: bytes, inbox: bytearray) -> bool:
    """Write `data`; what the program says meanwhile goes to `inbox`. False when it takes no more."""
    view = memoryview(data)
    deadline = time.monotonic() + min(SEND_S, program.left_s())
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
