"""Starts many programs for one run and makes sure that none outlives it. Started by impls.driver.program, never
imported.

    python -I -S spawner.py SOCKET FOLDER

SOCKET is one end of a SOCK_SEQPACKET pair whose other end only the run holds. Each message is JSON:

    run -> spawner   {"start": ID, "argv": […], "env": {…}, "cwd": …} with three files: stdin, stdout, stderr
                     {"end": ID}: kill what is left of it, whole session and all
    spawner -> run   {"id": ID, "pid": …} or {"id": ID, "error": …}, and once it has ended {"id": ID, "code": …}

The end of file on SOCKET, which comes by itself when the run is gone however it went (SIGKILL too), ends everything,
and FOLDER is removed: what the run and its programs have made there is nobody's then.
impls/launching/subreaper.py does the same for one long-lived program and says why it is a process of its own; here one
process keeps any number of short-lived ones, so that starting one costs a fork and not an interpreter.

Linux only. Standard library only.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
LOOK_S = 1.0
"""How often it is checked whether the run still is the parent."""
KILL_S = 5.0
"""How long the rest may take to vanish after SIGKILL."""
MAX_MESSAGE = 1 << 20

Prctl = Callable[[int, int], int]


class Spawner:
    """The programs that were started. `running` maps the pid of each to its id until it is ended for good."""

    def __init__(self, link: socket.socket, control: Prctl) -> None:
        self._link = link
        self._control = control
        self.running: dict[int, int] = {}
        self._told: set[int] = set()

    def obey(self, data: bytes, files: list[int]) -> None:
        """Do what one message says."""
        try:
            message = json.loads(data)
            if "start" in message:
                self._start(message, files)
            else:
                self._end(message["end"])
        finally:
            for file in files:
                os.close(file)

    def _start(self, message: dict[str, object], files: list[int]) -> None:
        pid, why = _spawn(message, files, self._control)
        if why:
            self._say({"id": message["start"], "error": why})
            return
        self.running[pid] = int(str(message["start"]))
        self._say({"id": message["start"], "pid": pid})

    def look(self) -> None:
        """Report programs that have ended, and end what strayed from them.

        A program stays a zombie until it is ended for good: as long as it is one, its session keeps its number.
        """
        for pid, number in self.running.items():
            if pid not in self._told:
                found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                if found is not None:
                    self._told.add(pid)
                    code = found.si_status if found.si_code == os.CLD_EXITED else -found.si_status
                    self._say({"id": number, "code": code})
        for pid in _children() - self.running.keys():
            if _session(pid) not in self.running:
                _kill(pid)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)

    def _end(self, number: int) -> None:
        pid = next((pid for pid, known in self.running.items() if known == number), 0)
        if not pid:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        del self.running[pid]
        os.waitpid(pid, 0)
        if pid not in self._told:
            self._say({"id": number, "code": -signal.SIGKILL})
        self._told.discard(pid)
        self.look()

    def _say(self, message: dict[str, object]) -> None:
        with contextlib.suppress(OSError):  # the run is gone: the loop finds out
            self._link.send(json.dumps(message).encode())


def _spawn(message: dict[str, object], files: list[int], control: Prctl) -> tuple[int, str]:
    """Start one program in a session of its own: its pid, and why it could not be run (empty when it was)."""
    argv, env, cwd = message["argv"], message["env"], str(message["cwd"])
    assert isinstance(argv, list)
    assert isinstance(env, dict)
    parent = os.getpid()
    result, failed = os.pipe()  # closes by itself when the program takes over
    pid = os.fork()
    if not pid:
        try:
            os.setsid()
            control(PR_SET_PDEATHSIG, signal.SIGKILL)  # the second net: the spawner itself is killed
            if os.getppid() != parent:
                os._exit(127)
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGCHLD):
                signal.signal(number, signal.SIG_DFL)
            for target, file in enumerate(files):
                os.dup2(file, target)
            os.chdir(cwd)
            os.execvpe(argv[0], argv, env)  # noqa: S606  (a shell would be one process more to end)
        except OSError as error:
            os.write(failed, (error.strerror or str(error)).encode())
        finally:
            os._exit(127)
    os.close(failed)
    why = os.read(result, 4096).decode()
    os.close(result)
    if why:
        os.waitpid(pid, 0)
    return pid, why


def _children() -> set[int]:
    """Processes whose parent is this one, also those that it adopted."""
    path = Path("/proc/thread-self/children")
    try:
        return {int(pid) for pid in path.read_text().split()}
    except OSError:  # a kernel without that file: whoever names us as its parent
        return {pid for pid in _all() if _stat(pid, 1) == os.getpid()}


def _all() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]


def _session(pid: int) -> int:
    return _stat(pid, 3)


def _stat(pid: int, field: int) -> int:
    """A number behind the name in /proc/PID/stat; -1 when the process is gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[field])
    except (OSError, ValueError):
        return -1


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def _end_all() -> None:
    """Kill everything below this process and wait until it is gone."""
    deadline = time.monotonic() + KILL_S
    while time.monotonic() < deadline:
        for pid in _children():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if _session(pid) == pid:
                    os.killpg(pid, signal.SIGKILL)
            _kill(pid)
        try:
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        except ChildProcessError:
            return  # nothing is left
        time.sleep(0.005)


def _remove(folder: str) -> None:
    """Remove it and what is in it."""
    import shutil  # noqa: PLC0415 - starting takes longer with it, and nobody waits for the end

    shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    """0, once nothing is left."""
    run = os.getppid()
    link = socket.socket(fileno=int(sys.argv[1]))
    link.set_inheritable(False)
    woken, wakes = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # what matters is the byte in `woken`
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # for the run, which ends us by closing the socket
    prctl = ctypes.CDLL(None).prctl
    control: Prctl = lambda option, value: int(  # noqa: E731
        prctl(option, ctypes.c_ulong(value), *[ctypes.c_ulong(0)] * 3)
    )
    control(PR_SET_CHILD_SUBREAPER, 1)
    spawner = Spawner(link, control)
    ready = select.poll()
    ready.register(link, select.POLLIN)
    ready.register(woken, select.POLLIN)
    while os.getppid() == run:
        asked = {file for file, _ in ready.poll(LOOK_S * 1000)}
        if woken in asked:
            with contextlib.suppress(BlockingIOError):
                os.read(woken, 4096)
        if link.fileno() in asked:
            try:
                data, files, _, _ = socket.recv_fds(link, MAX_MESSAGE, 3)
            except ConnectionResetError:  # the run closed its end with words of ours unread
                break
            if not data:
                break
            spawner.obey(data, files)
        spawner.look()
    _end_all()
    _remove(sys.argv[2])
    return 0


if __name__ == "__main__":
    sys.exit(main())
