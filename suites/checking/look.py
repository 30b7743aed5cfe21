"""An implementation that is looked at: reached, spoken to, and ended, all within the time of a check."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import impls
from impls.driver.conversation import OUT_OF_TIME
from impls.driver.dialogue import Dialogue
from impls.driver.drive import Recording, Setting, drive
from impls.driver.link import MemoryTransport, TcpTransport, Transport
from impls.driver.pipes import PipeTransport, Pool
from impls.driver.stdio_launch import pool, transport
from impls.launching.launch import no_answer, start
from impls.launching.manifest import Implementation, Start
from impls.launching.running import Running
from specs.events import Fact, Said
from specs.plan import Plan
from specs.protocol import find
from suites.calibration import Calibration
from suites.checking.report import Report
from suites.deadline import Deadline, TimeUp

PATIENCE_MS = 1_000.0
"""How long an answer may take."""
STARTING_S, ANSWERING_S = 6.0, 2.5
"""How long one that we start may take until it answers, and one that is running already."""
POLL_S = 0.1
DYING_S = 0.4
"""How long the end of a process may take to show behind the end of its connections."""
ENDING_S = 0.5
"""Seconds that ending what was started may take at least."""


class CannotCheck(Exception):
    """There is nothing more to look at: `why`, and what to `write`."""

    def __init__(self, why: str, write: str) -> None:
        super().__init__(why)
        self.why, self.write = why, write


class Look:
    """One implementation, looked at until `deadline`. Each wait is `patience` times as long as usual."""

    def __init__(self, impl: Implementation, report: Report, deadline: Deadline, patience: float = 1.0) -> None:
        self.impl, self.report, self.deadline, self.patience = impl, report, deadline, patience
        self.protocol = find(impl.protocol)
        self.transport: Transport | None = None
        self.running: Running | None = None
        self.dialogues: list[Dialogue] = []
        self._pool: Pool | None = None
        self._tools: list[Pool] = []
        self._serial = 0

    @property
    def wire(self) -> str:
        """How it is reached; see `specs.protocol.Protocol.wires`."""
        return self.protocol.wires.get(self.impl.role, "tcp")

    def config(self, profile: str = "", learnt: Mapping[str, Any] | None = None, **facts: Any) -> Any:
        """The model's config, with another profile or other facts than the manifest has where they are given."""
        told = {**self.impl.facts, **facts}
        return self.protocol.configure(self.impl.role, profile or self.impl.profile, told, learnt or {})

    def play(self, plan: Plan, config: Any, *, whole: bool = False) -> Recording:
        """Drive one plan, with fresh names. As a `whole` it raises TimeUp when there was no time for all of it: what is
        missing then shows nothing."""
        assert self.transport is not None
        self._serial += 1
        patience_ms = min(PATIENCE_MS * self.patience, max(1.0, self.deadline.left() * 1000))
        setting = Setting(self.protocol, config, self.impl.role, self.transport, patience_ms, ends=self.deadline.over)
        recording = drive(plan, setting, f"check{self._serial}x{time.monotonic_ns() % 10**9}-")
        if whole and recording.overflow == OUT_OF_TIME:
            raise TimeUp
        return recording

    def asked(self, plan: Plan, config: Any) -> tuple[Any, Any]:
        """The same in the form in which discovery asks."""
        recording = self.play(plan, config, whole=True)
        return tuple(recording.events), recording.judgement

    def frames(self, recording: Recording) -> list[Any]:
        """What the implementation said."""
        return [event.frame for event in recording.events if isinstance(event, Said) and event.by == self.impl.role]

    def calibrated(self) -> Calibration:
        """It has been met as a run meets it. Raises CannotJudge, and TimeUp."""
        assert self.transport is not None
        met = Calibration(self.impl, self.protocol, self.transport, PATIENCE_MS * self.patience, deadline=self.deadline)
        met.meet()
        return met

    def mute(self, recording: Recording, lacks: str, write: str) -> CannotCheck:
        """What to say of a program that said nothing: how it has ended, if it has, or what it `lacks` and may write."""
        facts = {event.name: event.value for event in recording.events if isinstance(event, Fact)}
        words = [line for line in str(facts.get("stderr", "")).replace("\\n", "\n").splitlines() if line.strip()]
        told = f"; its last words: {words[-1].strip()}" if words else ""
        if "exit" in facts:
            return CannotCheck(f"ended with exit status {facts['exit']} without a word{told}", "what the command lacks")
        if recording.overflow:
            return CannotCheck(f"{lacks}, but other things without end", write)
        return CannotCheck(f"{lacks}{told}", write)

    # -- reaching ------------------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Start it, or say where it is. Raises CannotCheck, and LaunchError."""
        how = self.impl.start
        if how.kind == "python":
            self.transport = MemoryTransport(_made(str(how.value)))
        elif self.wire != "tcp":
            standing = self.transport = transport(self.impl, self.wire)
            standing.pool.left_s = self.deadline.left
        else:
            running = self.running = start(self.impl)
            self.transport = TcpTransport(lambda: running.address, self.deadline.left)

    def first_words(self, config: Any) -> Recording:
        """What a server says when it is first spoken to. Raises CannotCheck when it says nothing."""
        assert self.protocol.smoke is not None
        opening = Plan(self.protocol.smoke(config).steps[:1])
        limit_s = STARTING_S if self.impl.start.kind in ("command", "image") else ANSWERING_S
        until = time.monotonic() + min(limit_s * self.patience, self.impl.start.ready_s)
        while True:
            recording = self.play(opening, config)
            if self.frames(recording):
                return recording
            self._must_run(recording)
            refused = bool(recording.refused) and self.impl.start.kind != "address"
            if not refused or time.monotonic() > until or self.deadline.over():
                break
            time.sleep(POLL_S)
        raise self._unheard(recording)

    def _must_run(self, recording: Recording) -> None:
        running, until = self.running, time.monotonic() + DYING_S * self.patience
        ended = bool(recording.refused) or any(what == "closed by peer" for _, _, what, _ in recording.wire)
        while running is not None and running.alive() and ended and time.monotonic() < until:
            if self.impl.start.kind == "address" or recording.refused:
                break  # nobody to end, or nobody there yet
            time.sleep(POLL_S / 5)
        if running is not None and not running.alive():
            running.stop()  # what it wrote last is read by then
            tail = running.log_tail(3).replace("\n", " / ")
            told = f"; its last words: {tail}" if tail else ""
            raise CannotCheck(
                f"the command ended before it answered: {running.ending()}{told}",
                "start.command = a command that stays in the foreground and listens at {port}",
            )

    def _unheard(self, recording: Recording) -> CannotCheck:
        where = ":".join(map(str, self.running.address)) if self.running else self.impl.name
        if recording.refused:
            started, waited = self.impl.start.kind != "address", ""
            write = "start.address = where it listens, once it is started"
            if started:
                limit_s = min(STARTING_S * self.patience, self.impl.start.ready_s)
                waited = f" after {limit_s:g} s"
                write = "{port} where the command takes its port; it must listen on 127.0.0.1"
                if limit_s < self.impl.start.ready_s:
                    write += "; where it only starts slowly: --within=120, or start it yourself and check its address"
            return CannotCheck(f"nobody listens at {where}{waited}: {recording.refused}", write)
        said = b"".join(data for _, _, what, data in recording.wire if what == "received")
        ended = any(what == "closed by peer" for _, _, what, _ in recording.wire)
        self.report.good(f"listens at {where}")
        what = f"does not speak {self.impl.protocol}: {no_answer(said, ended=ended)}"
        return CannotCheck(
            what, f"the address of a {self.impl.protocol} {self.impl.role}, or impl.protocol = what it speaks"
        )

    # -- programs that are told what to do -----------------------------------------------------------------------------

    def dialogue(self) -> Dialogue:
        """A new process of the manifest's command. Raises LaunchError, and LinkError."""
        if self._pool is None:
            self._pool = pool(self.impl, depth=0)
            self._pool.left_s = self.deadline.left
        program = self._pool.take()
        program.left_s = self.deadline.left
        self.dialogues.append(Dialogue(program, self.deadline.left))
        return self.dialogues[-1]

    def tool(self, *arguments: str) -> Dialogue:
        """A reference that is told what to do, as a tool: it is no part of what is looked at."""
        start = Start("command", tuple(reference_command(*arguments)))
        self._tools.append(pool(replace(self.impl, start=start), depth=0))
        self._tools[-1].left_s = self.deadline.left
        program = self._tools[-1].take()
        program.left_s = self.deadline.left
        return Dialogue(program, self.deadline.left)

    def close(self) -> None:
        """End all that was started."""
        for each in self._tools:
            each.close()
        if self._pool is not None:
            self._pool.close()
        if isinstance(self.transport, PipeTransport):
            self.transport.close()
        if self.running is not None:
            self.running.grace_s = max(ENDING_S, min(1.0, self.deadline.left()))
            self.running.stop()


def reference_command(module: str, *arguments: str) -> list[str]:
    """The command of a reference, which is found wherever it is started and with whatever environment."""
    root = str(Path(impls.__file__).parents[1])
    code = f"import runpy, sys; sys.path.insert(0, {root!r}); runpy.run_module({module!r}, run_name='__main__')"
    return [sys.executable, "-c", code, *arguments]


def with_profile(impl: Implementation, profile: str) -> Implementation:
    """The same with another claim."""
    return replace(impl, profile=profile)


def _made(where: str) -> Callable[[], Any]:
    module, _, name = where.partition(":")
    try:
        made: Callable[[], Any] = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise CannotCheck(f"start.python = {where!r} cannot be imported: {error}", "MODULE:ATTRIBUTE") from None
    return made
