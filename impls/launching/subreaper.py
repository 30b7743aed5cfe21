"""Runs one program and makes sure that nothing of it outlives the run. Started by impls.launching.process, never
imported.

    python -I -S subreaper.py LIFELINE STATUS GRACE_S PROGRAM [ARGUMENT ...]

LIFELINE is the reading end of a pipe whose other end only the run holds: a number of seconds there asks for the end
within that grace, if it is less than GRACE_S. The end of file asks for it, too; it comes by itself when the run is
gone, however it went (SIGKILL too). STATUS is the writing end of a pipe that gets one JSON line when the program was
started or could not be, and one when it ended.

Why a process of its own, and not a signal that the kernel sends when the parent dies (PR_SET_PDEATHSIG)? That signal
reaches the child only and not what the child forks, it is tied to the *thread* that started the child, and setting it
needs code between fork and exec, which is not safe in a program with threads. The subreaper has one thread, so it may
use the signal as a second net, for the case that the subreaper itself is killed. It is also the "subreaper" of its
descendants: what forks twice to become a daemon comes back to it, so `waitpid` tells for certain when nothing is left.

Linux only (prctl, /proc). Standard library only.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
ENDERS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""Signals that ask the subreaper for the end, as its lifeline does."""
LOOK_S = 1.0
"""How often it is checked whether the run still is the parent, in case a fork of the run holds the lifeline open."""
KILL_S = 5.0
"""How long the rest may take to vanish after SIGKILL; only a process stuck in the kernel needs longer."""

Prctl = Callable[[int, int], int]


def main() -> int:
    """The program's own exit status (128 + the signal that ended it), or 127 when it could not be run."""
    run = os.getppid()
    lifeline, status, grace_s, argv = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4:]
    # Neither pipe may reach the program: it would keep the run waiting, or keep itself alive.
    os.set_inheritable(lifeline, False)
    os.set_inheritable(status, False)
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    for number in (*ENDERS, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)  # what matters is the byte in `woken`
    control = _prctl()
    control(PR_SET_CHILD_SUBREAPER, 1)
    program, error = _spawn(argv, control)
    if error:
        _say(status, {"error": error})
        return 127
    _say(status, {"pid": program})
    code = None
    ready = select.poll()
    ready.register(lifeline, select.POLLIN)
    ready.register(woken, select.POLLIN)
    while code is None and os.getppid() == run:
        asked = {file for file, _ in ready.poll(LOOK_S * 1000)}
        if lifeline in asked or (woken in asked and set(os.read(woken, 4096)) & set(ENDERS)):
            break
        code = _reap(program)
    if code is not None:
        _say(status, {"code": code})  # at once: ending the rest may take a while
    ended = _end(program, _grace(lifeline, grace_s))
    if code is None:
        code = ended
        _say(status, {"code": code})
    return code if code >= 0 else 128 - code


def _spawn(argv: list[str], control: Prctl) -> tuple[int, str]:
    """Start the program in a session of its own: its pid, and why it could not be run (empty when it was)."""
    subreaper = os.getpid()
    result, failed = os.pipe()  # closes by itself when the program takes over
    pid = os.fork()
    if not pid:
        try:
            os.setsid()
            control(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != subreaper:  # it died before the signal was set
                os._exit(127)
            signal.set_wakeup_fd(-1)
            for number in (*ENDERS, signal.SIGPIPE):
                signal.signal(number, signal.SIG_DFL)  # Python ignores SIGPIPE, and that would be inherited
            os.execvp(argv[0], argv)  # noqa: S606  (a shell would be one process more to end)
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


def _reap(program: int) -> int | None:
    """Take leave of ended descendants. The program's status, as Popen gives it, once it has ended.

    The program stays a zombie until `_end`: as long as it is one its process group keeps its number, so that a signal
    to the group cannot hit a stranger.
    """
    while (found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
        if found.si_pid == program:
            return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status
        os.waitpid(found.si_pid, 0)
    return None


def _grace(lifeline: int, grace_s: float) -> float:
    """The seconds that the run has asked for, or `grace_s` when it has not said any."""
    ready = select.poll()
    ready.register(lifeline, select.POLLIN)
    said = os.read(lifeline, 64) if ready.poll(0) else b""
    try:
        return min(grace_s, float(said))
    except ValueError:
        return grace_s


def _end(program: int, grace_s: float) -> int:
    """End all that is left: SIGTERM, `grace_s` seconds to obey, SIGKILL. The program's status."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(program, signal.SIGTERM)
    code: int | None = None
    asked = {program}
    killing = False
    deadline = time.monotonic() + grace_s
    while True:
        try:
            while (found := os.waitpid(-1, os.WNOHANG)) != (0, 0):
                if found[0] == program:
                    code = os.waitstatus_to_exitcode(found[1])
        except ChildProcessError:
            break  # nothing is left, not even what had become a daemon
        if time.monotonic() > deadline:
            if killing:
                break  # stuck in the kernel; the run finds that its log does not end
            killing, deadline = True, time.monotonic() + KILL_S
        if killing:
            _signal(_descendants(), signal.SIGKILL)
        elif code is not None:
            # What left the group (a daemon such as epmd) is asked too, once, as soon as its master is gone.
            left = _descendants() - asked
            _signal(left, signal.SIGTERM)
            asked |= left
        time.sleep(0.01)
    return -signal.SIGKILL if code is None else code


def _signal(pids: set[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def _descendants() -> set[int]:
    """All processes below this one that have not ended."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):  # it ended meanwhile
                state, parent = (entry / "stat").read_bytes().rpartition(b")")[2].split()[:2]
                if state != b"Z":
                    children.setdefault(int(parent), []).append(int(entry.name))
    found: set[int] = set()
    frontier = [os.getpid()]
    while frontier:
        below = children.get(frontier.pop(), [])
        found.update(below)
        frontier.extend(below)
    return found


def _prctl() -> Prctl:
    """Linux's prctl for options that take one number, loaded before any fork."""
    function = ctypes.CDLL(None).prctl
    return lambda option, value: int(function(option, ctypes.c_ulong(value), *[ctypes.c_ulong(0)] * 3))


def _say(status: int, message: dict[str, object]) -> None:
    with contextlib.suppress(BrokenPipeError):  # the run is gone: nobody to tell
        os.write(status, json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    sys.exit(main())
