"""A program that was started from a manifest's command: kept by impls.launching.subreaper, its output in a bounded
log."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from impls.launching.printable import printable, quoted
from impls.launching.running import AGAIN, LaunchError, Log, Running

SUBREAPER = Path(__file__).with_name("subreaper.py")
GRACE_S = 10.0
"""How long a program may take to end after SIGTERM before it is killed."""
SPAWN_S = 20.0
"""How long it may take until the subreaper has started the program; only a starved machine needs more than 0.1 s."""
LEAVE_S = 10.0
"""How long the subreaper may take on top of what it allows the program."""


class Process(Running):
    """A running command, in a session of its own, with everything that it forked.

    `plan(port)` gives the arguments and the environment for a port; `port_free()` gives a port for each (re)start.
    Programs must stay in the foreground: the end of the process that was started is the end of the implementation,
    and what it leaves behind is ended with it. Linux only; elsewhere an address or an image serves.
    """

    def __init__(
        self,
        name: str,
        plan: Callable[[int], tuple[Sequence[str], Mapping[str, str]]],
        folder: Path,
        port_free: Callable[[], int],
        grace_s: float = GRACE_S,
    ) -> None:
        super().__init__(name)
        self._plan = plan
        self._folder = folder
        self._port_free = port_free
        self._grace_s = grace_s
        self._log = Log()
        self._hearing = threading.Lock()
        self._port = 0
        self._pid = 0
        self._ending = "it was not started"
        self._subreaper: subprocess.Popen[bytes] | None = None
        self._start()

    @property
    def address(self) -> tuple[str, int]:
        return "127.0.0.1", self._port

    @property
    def pid(self) -> int:
        """The program's process id, which is also the number of its group and session. For people and for tests."""
        return self._pid

    def alive(self) -> bool:
        if not self._ending:
            self._hear(0.0)
        return not self._ending

    def ending(self) -> str:
        return "" if self.alive() else self._ending

    def log_tail(self, lines: int = 20) -> str:
        return self._log.tail(lines)

    def restart(self) -> None:
        self.stop()
        self._log.write(f"\n{AGAIN}\n".encode())
        self._start()

    def stop(self) -> None:
        subreaper = self._subreaper
        if subreaper is None:
            return
        self._subreaper = None
        with contextlib.suppress(BrokenPipeError):  # it has ended already
            os.write(self._lifeline, b"%g" % min(self._grace_s, self.grace_s))
        os.close(self._lifeline)
        try:
            subreaper.wait(self._grace_s + LEAVE_S)
        except subprocess.TimeoutExpired:
            # Its death kills the program (second net); the group gets what the program's children may have missed.
            subreaper.kill()
            subreaper.wait()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._pid, signal.SIGKILL)
            raise LaunchError(f"{self.name}: would not end; look for what is left of process {self._pid}") from None
        finally:
            self._reader.join(LEAVE_S)  # ends when the last writer is gone
            if not self._ending:
                self._hear(0.0)
            self._ending = self._ending or "it was stopped"
            os.close(self._status)

    def _start(self) -> None:
        if sys.platform != "linux":
            raise LaunchError(f"{self.name}: start.command needs Linux; start it yourself and give start.address")
        port = self._port_free()
        argv, env = self._plan(port)
        kept, lifeline = os.pipe()
        status, told = os.pipe()
        command = [sys.executable, "-I", "-S", str(SUBREAPER), str(kept), str(told), str(self._grace_s), *argv]
        try:
            subreaper = subprocess.Popen(
                command,
                cwd=self._folder,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=(kept, told),
                start_new_session=True,  # a Ctrl-C on the terminal is for the run, which then stops us in good order
            )
        except (OSError, ValueError) as error:
            os.close(lifeline)
            os.close(status)
            raise LaunchError(f"{self.name}: cannot be started in {self._folder}: {printable(str(error))}") from error
        finally:
            os.close(kept)
            os.close(told)
        assert subreaper.stdout is not None
        self._subreaper, self._lifeline, self._status = subreaper, lifeline, status
        self._port, self._pid, self._ending, self._heard = port, 0, "", b""
        self._reader = threading.Thread(target=_drain, args=(subreaper.stdout, self._log), name="log", daemon=True)
        self._reader.start()
        deadline = time.monotonic() + SPAWN_S
        while not self._pid and not self._ending and time.monotonic() < deadline:
            self._hear(deadline - time.monotonic())
        if not self._pid:
            why = self._ending or f"the process that keeps it did not come up within {SPAWN_S:.0f} s"
            self.stop()
            remedy = "install the program or correct start.command"
            raise LaunchError(f"{self.name}: start.command: {quoted(argv[0])} {why}; {remedy}")

    def _hear(self, wait_s: float) -> None:
        """Read what the subreaper says, waiting up to `wait_s` seconds for it to say something."""
        with self._hearing:  # two threads that ask at once must not both read
            ready = select.poll()  # not select.select, which stops at file 1023
            ready.register(self._status, select.POLLIN)
            if self._ending or not ready.poll(max(wait_s, 0.0) * 1000):
                return
            data = os.read(self._status, 65536)
            *lines, self._heard = (self._heard + data).split(b"\n")
            for line in lines:
                message = json.loads(line)
                if "pid" in message:
                    self._pid = message["pid"]
                elif "error" in message:
                    self._ending = f"cannot be run ({printable(message['error'])})"
                else:
                    self._ending = _ending(message["code"])
            if not data and not self._ending:
                self._ending = "the process that kept it was killed"


def _ending(code: int) -> str:
    if code >= 0:
        return f"it ended with exit status {code}"
    try:
        return f"it was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"it was ended by signal {-code}"


def _drain(pipe: IO[bytes], log: Log) -> None:
    with pipe:
        while data := os.read(pipe.fileno(), 65536):
            log.write(data)
