"""Heartbeats and timeouts of hosts: what only time can tell. The intervals are as short as a host's own allow.

The timeout is in conf, under the name that Storm has for it. Heartbeats have no period in the text; that there is one
within the timeout is what is asked for. Since time passes for all of them at once, one plan is about several hosts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan, Ref, Say, SendBytes, Step, Wait
from specs.storm.frames import Message
from specs.storm.host.case import PIPE
from specs.storm.host.child_messages import TIMEOUT
from specs.storm.states import Config
from strategies.common import Op, Program, programs
from strategies.storm import host_writer
from strategies.storm.host_writer import SYNC, Writer

TIMEOUT_S = 3
TICK_MS = 1050
"""Heartbeats are answered this often."""
NOTICE_MS = 1500
"""Beyond the timeout, in which a host may notice that it has passed."""
OVER = 5
"""Ticks after which a host has noticed a child that is silent: the timeout, and time to look at the clock."""
LONG = 8
"""Ticks for which a child lives: whatever happens in the first ones, the timeout passes twice or so after it."""
BRIEF = 4
"""The same in a plan that is over soon, so that a short run has time for it: what happens, happens at its beginning."""
HOSTS = 7
BRIEF_HOSTS = 4
"""So many in a plan that is over soon: each takes its time to start, and the others wait for that."""
KINDS = ("live", "hangs", "busy", "talks", "stopped", "mute", "unread")
SILENT = ("hangs", "stopped", "unread")
BIG = 3 * PIPE // 2
"""Octets that a child does not read any more."""
CHAT = (0, 12, 40)
"""Messages of a child before it is silent."""


def cases() -> SearchStrategy[Program]:
    """Several hosts in a conversation, a case for each."""
    return programs({"case": 1}, head=1, most=HOSTS, least=HOSTS)


def conf() -> dict[str, int]:
    """What tells a host its timeout."""
    return {TIMEOUT: TIMEOUT_S, "supervisor.worker.timeout.secs": TIMEOUT_S}


def interpret(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """The plan that a program means. Even the plainest tries several kinds of cases."""
    lanes = []
    brief = program.head[0] % 3 == 0
    for number, op in enumerate(program.ops[: BRIEF_HOSTS if brief else HOSTS]):
        kind, *args = (value + number for value in op.args)
        lanes.append(Lane(config, brief=brief).case(KINDS[kind % len(KINDS)], Op(op.kind, tuple(args))))
    steps: list[Step] = []
    for moment in zip_longest(*lanes, fillvalue=()):
        for number, part in enumerate(moment):
            steps += (_on(step, number) for step in part)
        steps.append(Wait(TICK_MS))
    return Plan((*steps, Wait(0)))


class Lane:
    """What happens on one connection, tick by tick; `brief`: in as few of them as tell something."""

    def __init__(self, config: Config, *, brief: bool = False) -> None:
        self.w = Writer(config)
        self.brief = brief
        self.ticks: list[list[Step]] = []

    def tick(self, count: int = 1) -> None:
        """Let time pass."""
        for _ in range(count):
            self.ticks.append(self.w.steps)
            self.w.steps = []

    def case(self, kind: str, op: Op) -> list[list[Step]]:
        """All of one case."""
        if kind == "mute":
            self.w.steps.append(host_writer.started(conf()))
            self.w.wait()
            self.tick(OVER)
        else:
            self.w.begin(conf())
            (self._bolt if self.w.bolt else self._spout)(kind, op)
        self.tick()
        return self.ticks

    def _bolt(self, kind: str, op: Op) -> None:
        how, when, *_ = op.args
        if (how + when) % 2:  # that answers nothing
            self.w.sync()
        self._work(op)
        silent = kind in SILENT
        for n in range(CHAT[(how + when) % len(CHAT)] if silent else 0):
            host_writer.logging(self.w, n)
        lively = (0 if self.brief else how % 4) if silent else BRIEF if self.brief else LONG
        for n in range(lively):
            self.tick()
            if kind == "talks":
                self.w.log(f"{self.w.tag()} still here")
            if kind != "talks" or not self.w.config.has("x-hb-any-message"):
                self._answer()
            if kind == "busy" or n == when % 4:
                self._work(op)
        self._end(kind)

    def _answer(self) -> None:
        self.w.steps.append(Say(0, Message(SYNC, self.w.pending()), upto=3))

    def _work(self, op: Op) -> None:
        """Some tuples, of which some stay open, some emits, perhaps a log."""
        w, (a, b, c, d) = self.w, op.args
        for n in range((6, 0, 1, 9)[d % 4]):
            w.tuple([n])
        for n in range(b % 3):
            host_writer.emitting(w, Op("emit", (a, b + n, c, d, 0)), n)
        for n in range((2, 1, 3, 0)[c % 4]):
            if w.open:
                w.settle(("ack", "fail")[(a + n) % 2], w.open.pop(0))
        if c % 3 == 2:
            host_writer.logging(w, c)
        if c % 3 == 1 and w.config.has("x-error"):  # an error is told, and the component lives on
            w.say(Message({"command": "error", "msg": f"{w.tag()} told"}))

    def _spout(self, kind: str, op: Op) -> None:
        how, when, rest, _ = op.args
        silent = kind in SILENT
        for n in range(CHAT[(how + when) % len(CHAT)] // 4 if silent else 0):
            self._command(n, op)
            self.w.sync()
        idles = rest % 2 == 1 and not silent and self.w.config.has("x-hb-timing")
        idles = idles and not (self.brief and kind == "talks")
        for n in range(how % 4 if silent else self._commands(kind, idles)):
            self._command(n, op)
            self.tick(0 if self.brief and silent else 1)
            if kind == "talks":
                self.w.log(f"{self.w.tag()} still here")
                self.w.wait()
                self.tick()
            self.w.sync()
            if idles and n == (0 if self.brief else when % 4):
                self.w.wait()
                self.tick(OVER - self.brief)  # no command is open: nothing is asked of the child
        if silent and kind != "unread":
            self._command(how, op)
        self._end(kind)

    def _commands(self, kind: str, idles: bool) -> int:
        """How many commands a child has that lives."""
        if not self.brief:
            return LONG - 2
        return 2 if idles else BRIEF // (2 if kind == "talks" else 1)

    def _command(self, n: int, op: Op) -> None:
        """A command, and perhaps an emit in answer to it."""
        w, (a, b, c, d) = self.w, op.args
        name = w.names.pop(0) if w.names and (b + n) % 3 else None
        if name is None:
            w.call("next")
        else:
            w.call(("ack", "fail")[(c + n) % 2], id=name)
        w.wait()
        if (a + n) % 2:
            host_writer.emitting(w, Op("emit", (a, b + n, c, d, 0)), n)
            w.wait()

    def _end(self, kind: str) -> None:
        """The child is silent until that is noticed, or the component is over."""
        if kind not in SILENT:
            self.w.close()
            return
        w = self.w
        if kind == "unread" and not w.bolt:
            w.call("next")
            w.wait()
            w.emit(["big"], id="i" * BIG)
            w.sync()
        w.wait()
        if kind in ("stopped", "unread"):
            w.do("kill", 19)
        if kind == "unread" and w.bolt:
            w.tuple(["x" * BIG], now=True)
        elif kind == "unread":
            w.call("ack", now=True, id="i" * BIG)
        self.tick(OVER)


def _on(step: Step, number: int) -> Step:
    """The same step on another connection."""
    if number == 0 or isinstance(step, Wait):
        return step
    if isinstance(step, Say):
        return replace(step, conn=number, frame=_of(step.frame, number))
    if isinstance(step, SendBytes) or not hasattr(step, "value"):
        return replace(step, conn=number)
    return replace(step, conn=number, value=_of(step.value, number))


def _of(value: Any, number: int) -> Any:
    """The same with every Ref one of another connection."""
    if isinstance(value, Ref):
        return Ref(f"{value.name}@{number}", value.key)
    if isinstance(value, Message):
        return Message(_of(value.value, number), _of(value.needs, number))
    if isinstance(value, Mapping):
        return {name: _of(item, number) for name, item in value.items()}
    return [_of(item, number) for item in value] if isinstance(value, list) else value
