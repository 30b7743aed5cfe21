"""Scenes with three and more of a kind: subscriptions of a topic, consumers of a subscription, producers, in which the
second or the last of them goes. Each has a topic of its own; faults that count from three on show nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from specs.plan import Ref
from specs.pulsar.states import FAILOVER, SHARED
from strategies.common import Op
from strategies.pulsar.writer import Ear, Line, Writer

if TYPE_CHECKING:
    from strategies.pulsar.sessions import Aim

ORDERED = ("b", "c", "a", "aa", "d")
"""Consumer names of which everybody says which is the first."""
GONE_MS = 30
"""After this long most brokers have noticed that a connection has ended; what is asked for then is refused anyway."""


def three(w: Writer, op: Op, aim: Aim) -> None:
    """One of the scenes."""
    kind, *_ = op.args
    _SCENES[kind % len(_SCENES)](w, op, f"three{w.serial()}")


def _lines(w: Writer, op: Op, count: int) -> Sequence[Line]:
    """Connections for so many: one for each, or two for all."""
    return [w.line(n if op.args[1] % 2 else n % 2) for n in range(count)]


def _sends(w: Writer, topic: str, count: int) -> None:
    """Messages of a producer of the topic."""
    pens = [pen for pen in w.pens() if pen.topic == topic]
    pen = pens[0] if pens else w.pen(w.line(), topic)
    for _ in range(count):
        w.send(pen)
    w.settle()


def _goes(w: Writer, ear: Ear) -> None:
    """A consumer is closed, once what was said before has been read."""
    w.ping(w.of(ear.line))
    w.settle()
    w.close_ear(ear)
    w.settle()


def _subscriptions(w: Writer, op: Op, topic: str) -> None:
    """Three or four subscriptions; each sees every message, and one of them goes."""
    count = 3 + op.args[2] % 2
    ears = [w.ear(line, topic, f"s{n}", op.args[3] % 3) for n, line in enumerate(_lines(w, op, count))]
    for ear in ears:
        w.flow(ear, 20)
    _sends(w, topic, 2)
    w.ack(ears[0], Ref("pushed", (ears[0].line, ears[0].id, 0)))
    _goes(w, ears.pop(1 + op.args[4] % (count - 1)))
    _sends(w, topic, 2)


def _masters(w: Writer, op: Op, topic: str) -> None:
    """Three or four consumers of a Failover subscription that come in any order, perhaps permitted in two parts; one
    of them goes, and comes again."""
    count = 3 + op.args[2] % 2
    names = [ORDERED[(op.args[3] + n) % len(ORDERED)] for n in range(count)]
    ears = [w.ear(line, topic, "s", FAILOVER, 0, name) for name, line in zip(names, _lines(w, op, count), strict=True)]
    for ear in ears:
        for permits in (19, 1) if op.args[1] // 2 % 2 else (20,):
            w.flow(ear, permits)
    _sends(w, topic, 2)
    left = ears.pop(op.args[4] % count)
    _goes(w, left)
    _sends(w, topic, 2)
    w.flow(w.ear(w.line(), topic, "s", FAILOVER, 0, left.name), 20)
    _sends(w, topic, 1)


def _sharers(w: Writer, op: Op, topic: str) -> None:
    """Three or four consumers of a Shared subscription with a few permits each; one goes with what it holds, or all of
    a connection do."""
    count = 3 + op.args[2] % 2
    lines = _lines(w, op, count)
    ears = [w.ear(line, topic, "s", SHARED) for line in lines]
    for n, ear in enumerate(ears):
        w.flow(ear, 1 + (op.args[3] >> n) % 3)
    _sends(w, topic, 2 * count)
    if op.args[1] % 4 == 2:
        w.hang(0)
        ears = [ear for ear in ears if ear.line != lines[0].number] or [w.ear(w.line(), topic, "s", SHARED)]
    else:
        _goes(w, ears.pop(op.args[4] % count))
    for ear in ears:
        w.flow(ear, 20)
    w.settle()


def _producers(w: Writer, op: Op, topic: str) -> None:
    """Three or four producers of a topic that send in turns; one of them goes."""
    count = 3 + op.args[2] % 2
    w.flow(w.ear(w.line(), topic, "s"), 50)
    pens = [w.pen(line, topic, op.args[3] + n) for n, line in enumerate(_lines(w, op, count))]
    for n in range(2 * count):
        w.send(pens[n % count], when="now" if n and op.args[1] // 2 % 2 else "")
    w.settle()
    w.close_pen(pens.pop(op.args[4] % count))
    w.settle()
    for pen in pens:
        w.send(pen)
    w.settle()


def _heirs(w: Writer, op: Op, topic: str) -> None:
    """What a connection has given up, another one has: the name of a producer, and the place of the only consumer. Then
    the first connection ends, and a third one asks for the same."""
    first, second = w.line(0), w.line(1)
    pen, ear = w.pen(first, topic, 0, "heir"), w.ear(first, topic, "s")
    w.settle()
    w.close_pen(pen)
    _goes(w, ear)
    pen, ear = w.pen(second, topic, op.args[2] % 3, "heir"), w.ear(second, topic, "s", 0, op.args[3] % 3)
    w.flow(ear, 20)
    w.send(pen)
    w.settle()
    w.hang(0)
    w.wait(GONE_MS)
    third = w.line(0)
    w.pen(third, topic, op.args[4] % 3, "heir")
    third.pens.pop()
    w.pongs()
    w.settle()
    w.ear(third, topic, "s", 0, op.args[4] % 3, keep=False)
    w.pongs()
    w.settle()
    w.send(pen)
    w.settle()


_SCENES: Sequence[Callable[[Writer, Op, str], None]] = (_subscriptions, _masters, _sharers, _producers, _heirs)
HEIRS = _SCENES.index(_heirs)
"""The number of that scene."""
