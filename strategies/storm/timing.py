"""Heartbeats and timeouts of hosts: what only time can tell. The intervals are as short as a host's own allow.

The timeout is in conf, under the name that Storm has for it. Heartbeats have no period in the text; that there is one
within the timeout is what is asked for.
"""

from __future__ import annotations

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan, Say, Wait
from specs.storm.asked import TIMEOUT
from specs.storm.frames import Message
from specs.storm.states import Config
from strategies.common import Program, programs
from strategies.storm import hosting
from strategies.storm.hosting import SYNC, Writer

TIMEOUT_S = 3
OVER_MS = 1500
"""Beyond the timeout, before a host is late: hosts look at the clock once in a second or so."""
SLOW_MS = 900
KINDS = ("live", "hangs", "stopped", "late", "mute", "busy", "talks")


def cases() -> SearchStrategy[Program]:
    """One case in a conversation."""
    return programs({"case": 1}, head=2, most=1)


def conf() -> dict[str, int]:
    """What tells a host its timeout."""
    return {TIMEOUT: TIMEOUT_S, "supervisor.worker.timeout.secs": TIMEOUT_S}


def interpret(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """The plan that a program means."""
    w = Writer(config)
    op = program.ops[0]
    kind = KINDS[op.args[0] % len(KINDS)]
    if kind == "mute":
        w.steps.append(hosting.started(conf()))
        w.wait()
        w.wait(TIMEOUT_S * 1000 + OVER_MS)
        w.wait()
        return w.plan()
    w.begin(conf())
    if w.bolt:
        _bolt(w, kind, op.args[1])
    else:
        _spout(w, kind, op.args[1])
    return w.plan()


def _bolt(w: Writer, kind: str, how: int) -> None:
    if kind in ("live", "late", "busy"):
        for n in range(4 if kind == "late" else 0):  # tuples that stay open change nothing
            w.tuple([n])
        for n in range(3 * TIMEOUT_S):
            w.wait(1050)
            w.steps.append(Say(0, Message(SYNC, w.pending()), upto=3))
            if kind == "busy":
                w.tuple([n])
                if n % 2:
                    w.settle("ack", w.open.pop(0))
        w.close()
    elif kind == "talks":
        for _ in range(2 * TIMEOUT_S):
            w.wait(SLOW_MS)
            w.log(f"{w.tag()} still here")
            if not w.config.has("x-hb-any-message"):
                w.steps.append(Say(0, Message(SYNC, w.pending()), upto=3))
        w.close()
    else:
        _silent(w, kind, how)


def _spout(w: Writer, kind: str, how: int) -> None:
    if kind in ("live", "late", "busy", "talks"):
        for _ in range(2 if kind == "live" else 4):
            w.call("next")
            w.wait()
            w.wait(TIMEOUT_S * 1000 // 2 - 300)
            if kind == "talks":
                w.log(f"{w.tag()} still here")
                w.wait()
            w.sync()
            if kind == "live" and w.config.has("x-hb-timing"):
                w.wait()
                w.wait(TIMEOUT_S * 1000 + OVER_MS)
        w.close()
        return
    w.call("next")
    w.wait()
    if how % 2:
        w.emit([1])
        w.wait()
    _silent(w, kind, how)


def _silent(w: Writer, kind: str, how: int) -> None:
    if w.bolt and how % 2:
        w.tuple(["open"])
        w.wait()
    if kind == "stopped":
        w.do("kill", 19)
    w.steps.append(Wait(TIMEOUT_S * 1000 + OVER_MS))
    w.wait()
