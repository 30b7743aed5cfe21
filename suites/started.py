"""The implementation of a run: started or joined, watched, started again when it dies, and stopped.

Whatever keeps it from being reached is raised as LaunchError or CannotJudge: it is no verdict.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from typing import Any

from impls.driver.drive import Recording, Setting, drive
from impls.driver.link import MemoryTransport, TcpTransport, Transport
from impls.driver.pipes import PipeTransport
from impls.driver.stdio_launch import transport as standing
from impls.driver.watch import WATCH
from impls.launching.launch import LaunchError, Running, no_answer, start, taken, wait_ready
from impls.launching.manifest import Implementation
from impls.launching.running import AGAIN
from specs.events import Said
from specs.plan import Plan
from specs.protocol import Protocol
from suites.calibration import PROBE_MS, CannotJudge, hung_up
from suites.deadline import Deadline
from suites.waking import Waking

DYING_MS = 300.0
"""How long a process is watched for its end after it broke a conversation off."""
RESTARTS = 4
"""How often what died is started again before that is given up: once for each conversation that may be under way."""
LEAST_GRACE_S = 0.2
"""Seconds that what was started may take to end, however late it is."""


class Started:
    """What is judged, from its start to its end. `transport` reaches it, None until it was started or joined; `address`
    is where others can join it. Waiting for it ends with `deadline`."""

    def __init__(self, impl: Implementation, protocol: Protocol, deadline: Deadline) -> None:
        self._impl, self._protocol, self.deadline = impl, protocol, deadline
        self.transport: Transport | None = None
        self.address: tuple[str, int] | None = None
        self._running: Running | None = None
        self._watched = False
        self._keeping = threading.Lock()
        """Held by whoever starts again what runs, or ends it: a conversation may be over while the run ends."""

    def start(self) -> None:
        """Start it, and wait until it answers. Raises LaunchError and CannotJudge."""
        if self._impl.start.kind == "python":
            self.transport = MemoryTransport(_factory(self._impl))
            self._watched = WATCH.begin()
            return
        wire = self._protocol.wires.get(self._impl.role, "tcp")
        if wire != "tcp":
            self.transport = standing(self._impl, wire)
            self.transport.pool.left_s = self.deadline.left
            return
        self._running = running = start(self._impl)
        try:
            self._come_up(running)
        except BaseException:  # Ctrl-C too: what was started never outlives the run
            self._stop(running)
            raise
        self.address = running.address
        self.transport = TcpTransport(lambda: running.address, self.deadline.left)

    def join(self, address: tuple[str, int] | None) -> None:
        """Reach what another process has started; what has no address is started for this one. Raises as `start`."""
        if address is None:
            self.start()
            return
        self.address = address
        self.transport = TcpTransport(lambda: address, self.deadline.left)

    def start_anew(self) -> None:
        """Start it again where that is ours to do, though nothing has happened to it. Raises LaunchError."""
        if isinstance(self.transport, MemoryTransport):
            self.transport.restart()
        elif self._impl.start.kind == "command":
            with self._keeping:
                if self._running is not None:
                    self._restart(self._running)

    def settle(self, recording: Recording) -> str:
        """Restart it if it is ours and died in this conversation; answers how it ended, or "". Raises LaunchError."""
        if isinstance(self.transport, MemoryTransport):
            died, self.transport.crash = self.transport.crash, ""
            if died:
                self.transport.restart()
                return f"it {died} in this conversation"
            return ""
        hurt = recording.refused or recording.judgement.verdict == "fail"
        if not hurt or not (recording.refused or hung_up(recording, self._impl.role)):
            return ""
        with self._keeping:
            running = self._running
            return self._revived(running) if running is not None and self._died(running) else ""

    def _revived(self, running: Running) -> str:
        """Start again what has died; how it ended."""
        ending = running.ending()
        running.stop()  # all that it had to say has been read then
        words = running.log_tail(3).rpartition(AGAIN)[2].split("\n")
        self._restart(running)
        tail = " / ".join(filter(None, words)) or "none"
        return f"{ending} in this conversation; its last words: {tail:.300}"

    def stop(self) -> None:
        """End what was started here, and nothing else."""
        if isinstance(self.transport, PipeTransport):
            self.transport.close()
        watched, self._watched = self._watched, False
        if watched:
            WATCH.end()
        with self._keeping:
            running, self._running = self._running, None
            if running is not None:
                self.deadline.resume()
                self._stop(running)

    def _come_up(self, running: Running) -> None:
        """Wait until it answers. The port that was chosen for it may be another program's by the time it listens: then
        it is started once more, at another one."""
        try:
            self._ready(running)
        except LaunchError:
            if running.alive() or self._impl.start.port is not None or not taken(running.address):
                raise
            running.restart()
            self._ready(running)

    def _ready(self, running: Running) -> None:
        """Wait until it answers, for as long as its manifest allows and this run lasts."""
        waking = Waking(self.deadline)
        wait_ready(running, lambda *at: self._probe(waking, *at), min(self._impl.start.ready_s, self.deadline.left()))

    def _probe(self, waking: Waking, host: str, port: int) -> bool:
        impl, protocol = self._impl, self._protocol
        config = protocol.configure(impl.role, impl.profile, impl.facts, {})
        setting = Setting(
            protocol, config, impl.role, TcpTransport(lambda: (host, port)), PROBE_MS, ends=self.deadline.over
        )
        assert protocol.smoke is not None
        recording = drive(Plan(protocol.smoke(config).steps[:1]), setting, "probe-")
        if self.deadline.over():
            raise TimeoutError  # it was cut short: what it has not shown means nothing
        if recording.refused:
            raise ConnectionRefusedError(recording.refused)  # what wait_ready tells when time is up
        if not any(isinstance(event, Said) and event.by == impl.role for event in recording.events):
            said = b"".join(data for _, _, what, data in recording.wire if what == "received")
            ended = any(what == "closed by peer" for _, _, what, _ in recording.wire)
            raise ConnectionError(no_answer(said, ended=ended))
        return waking.over(setting)

    def _restart(self, running: Running) -> None:
        """Start it again. Conversations that are still under way may end it at once, with what they go on to say."""
        for left in reversed(range(RESTARTS)):
            running.restart()
            try:
                self._ready(running)
            except LaunchError:
                if running.alive() or not left:
                    raise
            else:
                return

    def _died(self, running: Running) -> bool:
        """True once it is seen to have ended; a process takes a moment to be gone after its connections are."""
        assert self.transport is not None
        until = self.transport.now() + DYING_MS
        while running.alive():
            if self.transport.now() > until:
                return False
            self.transport.wait((), 5.0)
        return True

    def _stop(self, running: Running) -> None:
        running.grace_s = max(LEAST_GRACE_S, self.deadline.left())
        running.stop()


def _factory(impl: Implementation) -> Callable[[], Any]:
    module, _, name = str(impl.start.value).partition(":")
    try:
        made = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise CannotJudge(f"start.python = {impl.start.value!r} cannot be imported: {error}") from None
    return made  # type: ignore[no-any-return]
