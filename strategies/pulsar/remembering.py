"""Scenes about what a broker remembers of somebody that is gone, was refused, or is of another version, and about what
stays as it was. Each has a topic of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from specs.plan import Close, Ref
from specs.pulsar.states import FAILOVER, SHARED
from strategies.common import Op
from strategies.pulsar.writer import Ear, Line, Writer

if TYPE_CHECKING:
    from strategies.pulsar.sessions import Aim

GONE_MS = 1200
"""After this long a broker must have noticed that a connection has ended."""
UNTOLD = (10, 11, 5)
"""Protocol versions of consumers that know nothing of ACTIVE_CONSUMER_CHANGE."""


def remembers(w: Writer, op: Op, aim: Aim) -> None:
    """One of the scenes."""
    kind, *_ = op.args
    _SCENES[kind % len(_SCENES)](w, op, f"remembers{w.serial()}")


def _read(w: Writer, line: Line) -> None:
    """What was said before on a connection has been read."""
    w.ping(line)
    w.settle()


def _names(w: Writer, op: Op, topic: str) -> None:
    """The name that a broker makes up is free once its producer is closed, and anybody may have it then."""
    _, a, b, c, _ = op.args
    line = w.line(0)
    pen = w.pen(line, topic, a)
    if b % 2:
        w.send(pen)
        w.settle()
    w.close_pen(pen)
    w.settle()
    again = w.pen(w.line(c % 2), topic, b, Ref("made-up", (line.number, pen.request)))
    w.send(again)
    w.settle()


def _nobody(w: Writer, op: Op, topic: str) -> None:
    """What comes while a subscription has no consumer is there for the next one, whatever becomes of it elsewhere."""
    _, a, b, c, d = op.args
    kinds = (b % 3, b // 3 % 3)
    line = w.line(0)
    ears = [w.ear(w.line(n * (a % 2)), topic, f"s{n}", kind, 0, "b") for n, kind in enumerate(kinds)]
    w.flow(ears[0], 20)
    if c % 2:
        w.flow(ears[1], 20)
    pen = w.pen(line, topic)
    if d % 2:
        w.send(pen)
        w.settle()
    w.close_ear(ears[1])
    for _ in range(1 + c // 2 % 3):
        w.send(pen)
    w.settle()
    held = Ref("pushed", (ears[0].line, ears[0].id, -1))
    if kinds[0] == SHARED or d // 2 % 2:
        for n in range(1 + c // 2 % 3 + d % 2):
            w.ack(ears[0], Ref("pushed", (ears[0].line, ears[0].id, n)))
    else:
        w.ack(ears[0], held, cumulative=True)
    _read(w, w.of(ears[0].line))
    if d // 4 % 2:
        w.send(pen)
        w.settle()
    w.flow(w.ear(w.line(1), topic, "s1", kinds[1], 1, "b"), 20)
    w.settle()


def _refused(w: Writer, op: Op, topic: str) -> None:
    """A producer one of whose messages was refused is closed like any other, and so is one beside it."""
    _, a, b, c, d = op.args
    line = w.line(0)
    w.flow(w.ear(w.line(1), topic, "s", SHARED), 20)
    pens = [w.pen(line, topic, a + n) for n in range(1 + b % 2)]
    for n in range(1 + c % 2):
        w.send(pens[0], check="bad")
        if c // 2 % 2 == n:
            w.send(pens[0])
    w.settle()
    for pen in pens[::-1] if d % 2 else pens:
        w.close_pen(pen)
        w.settle()
    again = w.pen(line, topic, a)
    w.send(again)
    _read(w, line)


def _untold(w: Writer, op: Op, topic: str) -> None:
    """A consumer of an older version takes over a Failover subscription, from one that is told so, or gives it back."""
    _, a, b, c, _ = op.args
    if w.config.profile != "modern":
        return
    version = UNTOLD[a % len(UNTOLD)]
    young, old = w.line(0), w.another(version)
    w.lines[OLD] = old
    names = ("a", "b") if b % 2 else ("b", "a")
    ears = [w.ear(line, topic, "s", FAILOVER, 0, name)
            for line, name in zip((young, old) if b // 2 % 2 else (old, young), names, strict=True)]  # fmt: skip
    for ear in ears:
        w.flow(ear, 20)
    pen = w.pen(young, topic)
    w.send(pen)
    w.settle()
    left = ears[c % 2]
    if left.line == old.number and c // 2 % 2:
        w.steps.append(Close(old.number))
        w.lines.pop(OLD)
        w.wait(GONE_MS)
    else:
        _read(w, w.of(left.line))
        w.close_ear(left)
    w.send(pen)
    for line in (old, young) if OLD in w.lines else (young,):
        _read(w, line)
    w.lines.pop(OLD, None)


OLD = 2000
"""The slot of a connection of an older version: no other act uses it."""


def _together(w: Writer, op: Op, topic: str) -> None:
    """Consumers of a Shared subscription on one connection that is lost, each of which holds messages."""
    _, a, b, c, _ = op.args
    gone, there = w.line(0), w.line(1)
    ears = [w.ear(gone, topic, "s", SHARED, n) for n in range(2 + a % 2)]
    for n, ear in enumerate(ears):
        w.flow(ear, 1 + (b >> n) % 3)
    pen = w.pen(there, topic)
    for _ in range(6 + c % 3):
        w.send(pen)
    w.settle()
    _read(w, gone)
    w.hang(0, "reset" if c // 4 % 2 else "close")
    w.wait(GONE_MS)
    w.flow(w.ear(there, topic, "s", SHARED), 20)
    w.settle()


def _written(w: Writer, op: Op, topic: str) -> None:
    """Ids in which what is left out is written as its default are the same ids."""
    _, a, b, c, d = op.args
    line = w.line(0)
    ear, pen = w.ear(line, topic, "s", a % 3), w.pen(w.line(1), topic)
    w.flow(ear, 20)
    many = 3 + b % 3
    for _ in range(many):
        w.send(pen)
    w.settle()
    which = [Ref("written", (ear.line, ear.id, n)) for n in range(many) if c >> n & 1]
    if ear.kind != SHARED and d % 2:
        w.ack(ear, Ref("written", (ear.line, ear.id, b % many)), cumulative=True)
    else:
        for each in which:
            w.ack(ear, each)
    _read(w, line)
    _again(w, ear)


def _again(w: Writer, ear: Ear) -> None:
    """What is not acknowledged comes again."""
    w.redeliver(ear)
    _read(w, w.of(ear.line))


_SCENES: Sequence[Callable[[Writer, Op, str], None]] = (_names, _nobody, _refused, _untold, _together, _written)
ROW_OF = {each.__name__.strip("_"): n for n, each in enumerate(_SCENES)}
"""The number of each scene, by its name."""
