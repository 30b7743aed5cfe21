"""Conversations with a host: the tester calls it and plays its child.

Head numbers: how the conversation ends, how the child writes, how exactly, the setup, and a spare one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan
from specs.storm.frames import Message
from specs.storm.states import Config
from strategies.common import Aim, Op, Program, programs
from strategies.storm import texts
from strategies.storm.host_writer import Writer, contrasting, emitting, logging
from strategies.storm.writer import ANYHOW, JOIN, PLAIN, Ways

HEAD = 5
BOLT: Mapping[str, int] = {
    "tuple": 5,
    "emit": 6,
    "settle": 5,
    "log": 1,
    "sync": 1,
    "burst": 2,
    "rest": 1,
    "stderr": 1,
    "many": 1,
    "deaf": 1,
}
SPOUT: Mapping[str, int] = {
    "next": 8, "ack": 3, "fail": 3, "several": 2, "rest": 1, "stderr": 1, "after": 1, "many": 1, "deaf": 1,
}  # fmt: skip
MOST = 32
"""Starting a host and its child takes longer than many ops."""
MANY = (20, 40, 70)
"""So many that what is counted, or held in a place of its own size, comes to its end."""
FULL = 400_000
"""More characters than a pipe and who reads it hold."""
SETTLED_MS = 5
"""After this long most hosts have done what they were told."""
CONTRASTS = 8
"""Of so many emits, or answers, one ends in two emits that have nothing in common."""


def sessions(kinds: Mapping[str, int], *, most: int = MOST) -> SearchStrategy[Program]:
    """Legal sessions of `kinds` of ops."""
    return programs(kinds, head=HEAD, most=most, least=0)


def interpret(program: Program, config: Config, *, hurry: bool = False, ways: int = ANYHOW) -> Plan:
    """The plan that a program means; total, and pure."""
    w = Writer(config, hurry=hurry)
    write(w, program, ways)
    w.ways = PLAIN
    w.close(polite=program.head[0] % 4 != 3)
    return w.plan()


def write(w: Writer, program: Program, ways: int = ANYHOW) -> None:
    """The start and the ops."""
    head = program.head
    bits = head[1] & ways if head[1] % 2 else 0
    w.ways = Ways(bits, head[2])
    w.first = head[2] // 8
    early = 2 + head[3] // 16 % 3 if head[3] % 8 == 5 else 0
    w.begin(texts.CONFS[head[3] % len(texts.CONFS)], late=5 if head[3] % 16 == 15 else 0, early=early)
    for serial, op in enumerate(program.ops):
        w.ways = Ways(bits, head[2] + serial)
        (_bolt if w.bolt else _spout)(w, op)


def _common(w: Writer, op: Op) -> None:
    a, b = op.args[:2]
    if op.kind == "rest":
        w.wait(0)
        w.wait((2, 2, 2, 20)[a % 4])
    elif op.kind == "stderr":
        w.stderr((10, 5000, 200_000)[a % 3])
    elif w.config.has("x-error") and b % 2:
        w.say(Message({"command": "error", "msg": f"{w.tag()} {texts.LOGS[a % len(texts.LOGS)]}"}))
    else:
        logging(w, a)


def _bolt(w: Writer, op: Op) -> None:
    a, b, c, _, e = op.args
    if op.kind == "tuple":
        _tuples(w, op)
    elif op.kind == "emit":
        if a % 3 == 0:
            w.wait(0)
            w.task_ids(a // 3, now=w.hurry)
        for n in range(1 + a % 3):
            emitting(w, op, n)
        if b % CONTRASTS == CONTRASTS - 1:
            contrasting(w, c)
    elif op.kind == "settle":
        for n in range(1 + a % 3):
            if w.open:
                w.settle("fail" if (b >> n) % 2 else "ack", w.open.pop((c + n) % len(w.open)))
    elif op.kind == "sync":
        w.sync()
    elif op.kind == "burst":
        _burst(w, op)
    elif op.kind == "many":
        _many(w, op)
    elif op.kind == "deaf":
        _deaf(w, op)
    else:
        _common(w, op)
    if not w.hurry and e % 8 == 7:
        w.beat()


def _tuples(w: Writer, op: Op) -> None:
    """Some tuples, perhaps one without values, or two that are alike."""
    a, b, c, d, e = op.args
    if e % 16 == 15:
        w.bare()
    elif e % 16 == 14:
        w.twins([texts.value(b)], d, now=w.hurry)
    for n in range(1 + a % 3):
        w.tuple([texts.value(b + n * c)], d + n, now=w.hurry and n > 0)


def _burst(w: Writer, op: Op) -> None:
    """Everything at once, tuples while the child talks."""
    a, b, c, d, e = op.args
    w.wait(0)
    for n in range(2 + a % 5):
        kind = (b >> n) % 4
        if kind == 0:
            w.tuple([texts.value(c + n)], d + n, now=True)
        elif kind == 1 and w.open:
            w.settle("fail" if e % 2 else "ack", w.open.pop((c + n) % len(w.open)), now=True)
        elif kind == 2:
            w.task_ids(c + n, now=True)
        elif w.bolt and n:
            w.sync(now=True)
        w._first = False
        emitting(w, Op("emit", (a, b + n, c + n, texts.nth(d, n), texts.nth(e, n))), n)


def _many(w: Writer, op: Op) -> None:
    """Many tuples that stay open, some all at once, many emits, and then they are settled."""
    a, b, c, d, _ = op.args
    for n in range(MANY[a % len(MANY)]):
        if b % 3 != 2:
            w.tuple([n], n, now=n > 0 and b % 6 == 1)
        if b % 3 != 1:
            emitting(w, Op("emit", (a, b + n, n, c, 0)), n)
    while w.open:
        w.settle("fail" if (d >> len(w.open) % 8) % 2 else "ack", w.open.pop(c % len(w.open)))


def _deaf(w: Writer, op: Op) -> None:
    """Emits, each with task ids of its own, while the child does not read: what the host writes has to wait, and its
    lists keep their order. Whether it reads on meanwhile is its own affair, so nothing is waited for but time."""
    a, b, c, d, _ = op.args
    w.wait(0)
    w.do("deaf")
    w.tuple(["x" * FULL], d, now=True)
    for n in range(2 + a % 3):
        w.task_ids(c + n, now=True)
        w.wait(SETTLED_MS)
        w.emit([texts.value(b + n)], now=True)
        w.wait(SETTLED_MS)
    w.do("hear")
    w.wait(0)


def _spout(w: Writer, op: Op) -> None:
    a, b, c, d, e = op.args
    if op.kind in ("ack", "fail") and not w.names:
        op = Op("next", op.args)
    if op.kind in ("next", "ack", "fail", "several", "after"):
        if a % 3 == 0:
            w.wait(0)
            w.task_ids(a // 3)
        names = [w.names.pop(b % len(w.names))] if op.kind in ("ack", "fail") else []
        w.settled += names
        kind = op.kind if names else "next"
        w.call(kind, **({"id": names[0]} if names else {}))
        more: list[tuple[str, dict[str, Any]]] = [("next", {})] * (1 + d % 3) if op.kind == "several" else []
        if more and w.names:
            more[0] = (("ack", "fail")[e % 2], {"id": w.names.pop(c % len(w.names))})
        w.wait(0)
        for other, given in more:
            w.call(other, now=True, **given)
        w._first = True
        for n in range(1 + len(more)):
            _answer(w, op, others=n < len(more))
        if op.kind == "after":
            w.wait(0)
            w.emit([texts.value(c)], now=True)
            w.wait(5)
            w.call("next")
            w.wait(0)
            w.sync()
    elif op.kind == "deaf":
        _deaf_spout(w, a, b)
    elif op.kind == "many":
        for n in range(MANY[a % len(MANY)]):
            w.call("next")
            w.wait(0)
            if (b >> n % 8) % 2:
                emitting(w, Op("emit", (a, b + n, n, c, 0)), n)
            w.sync()
    elif op.kind in ("rest", "stderr"):
        _common(w, op)


def _deaf_spout(w: Writer, a: int, b: int) -> None:
    """An ack or a fail that is longer than a pipe, while the child does not read."""
    name = f"{w.tag()} {'i' * FULL}"
    w.call("next")
    w.wait(0)
    w.emit([texts.value(b)], id=name)
    w.sync()
    w.wait(0)
    w.do("deaf")
    w.call(("ack", "fail")[a % 2], now=True, id=name)
    w.wait(SETTLED_MS)
    w.do("hear")
    w.wait(0)
    w.sync()


FULL_ANSWER = 9
"""Emits and logs in an answer that has many of them."""


def _answer(w: Writer, op: Op, *, others: bool = False) -> None:
    """What the child says in one command. Where `others` wait for its sync, nothing else ends it."""
    a, b, c, d, e = op.args
    w._first = True
    for n in range(FULL_ANSWER if a % 16 == 15 else a % 4):
        if n and c % 3 == 2:  # each emit has a list of its own
            w.wait(0)
            w.task_ids(c + n, now=True)
        if (b >> n) % 4 == 3:
            _common(w, Op("log", (c + n, d + n)))
        else:
            emitting(w, Op("emit", (a, b + n, c + n, texts.nth(d, n), texts.nth(e, n))), n)
    if e % CONTRASTS == CONTRASTS - 1:
        contrasting(w, c)
    if others and c // 3 % 2:
        _common(w, Op("log", (c, d)))
        w.wait(SETTLED_MS)
    w.sync()


def _aim(kinds: Mapping[str, int], ways: int = 0, most: int = MOST) -> Aim:
    """One family: weights of ops, and the ways of writing."""
    return Aim(sessions(kinds, most=most), partial(interpret, ways=ways))


TUPLES = _aim({"tuple": 10, "settle": 8, "many": 1})
EMITS = _aim({"emit": 16, "tuple": 4, "burst": 4, "many": 1, "deaf": 3})
MIXED = _aim({"burst": 5, "settle": 2, "tuple": 2, "log": 2, "stderr": 1})
BOLT_FRAMING = _aim({"tuple": 2, "emit": 3, "settle": 2, "log": 2}, ways=ANYHOW | JOIN)
COMMANDS = _aim({"next": 8, "several": 6, "after": 2, "rest": 2, "many": 1})
SETTLING = _aim({"next": 4, "ack": 4, "fail": 4})
SPOUT_EMITS = _aim({"next": 8, "ack": 1})
SPOUT_FRAMING = _aim({"next": 4, "ack": 2, "fail": 2}, ways=ANYHOW)
