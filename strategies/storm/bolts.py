"""Legal conversations with a bolt: ops, and the plan that they mean.

Head numbers: how the conversation ends, in which ways messages are written, how exactly, the setup, and a spare one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan, Say
from specs.storm.states import Config
from strategies.common import Aim, Op, Program, programs
from strategies.storm import texts
from strategies.storm.writer import ANYHOW, JOIN, Ways, Writer

HEAD = 5
EVEN: Mapping[str, int] = {
    "tuple": 3,
    "script": 8,
    "heartbeat": 3,
    "withhold": 4,
    "burst": 2,
    "near": 1,
    "alike": 1,
    "settle": 3,
    "rest": 1,
    "many": 1,
    "raise": 1,
}
MOST = 10
LATE_MS = 200
"""How long a list is withheld from whoever might not wait for it any more."""
MANY = (20, 40, 70)
"""So many that what is counted, or held in a place of its own size, comes to its end."""
RAISES_ONE_IN = 20


def sessions(kinds: Mapping[str, int] = EVEN, *, most: int = MOST) -> SearchStrategy[Program]:
    """Legal sessions of `kinds` of ops."""
    return programs(kinds, head=HEAD, most=most, least=0)


class Session:
    """A conversation while it is written: which tuples user code will have left open."""

    def __init__(self, w: Writer) -> None:
        self.w = w
        self.open: list[str] = []

    def steps(self, op: Op, own: str, *, emits: int = 0) -> list[Mapping[str, Any]]:
        """What user code is told in one tuple; it settles tuples that were left open, and its own or not."""
        a, b, c, d, e = op.args
        told: list[Mapping[str, Any]] = []
        for n in range(max(emits, 1 + a % 4)):
            kind = (b >> n) % 8
            if emits > n or kind in (0, 1, 2, 3):
                told.append(self.emit(c + n * (d + 1), texts.nth(d, n), texts.nth(e, n)))
            elif kind == 4:
                told += texts.logged(self.w.tag(), c + n)
            elif kind == 5:
                told.append({"op": "print", "text": texts.PRINTS[(c + n) % len(texts.PRINTS)]})
            elif kind == 6:
                told += self.settled(d + n, "fail" if e % 2 else "ack")
            else:
                told.append({"op": "sleep", "ms": c % 3})
        if emits:
            pass
        elif e % RAISES_ONE_IN == RAISES_ONE_IN - 1:
            done = [{"op": ("ack", "fail")[c % 2]}] if d % 3 == 1 else []
            return [*told, *done, {"op": "raise"}, {"op": "log", "msg": "behind"}]
        if e % 5 in (0, 1):
            told.append({"op": "ack"})
        elif e % 5 == 2:
            told.append({"op": "fail"})
        elif e % 5 == 3:
            told.insert(0, {"op": "ack"}) if not any(step.get("anchor") for step in told) else told.append(
                {"op": "ack"}
            )
        else:
            self.open.append(own)
        return told

    def emit(self, value: int, where: int, how: int) -> Mapping[str, Any]:
        """One emit."""
        w = self.w
        values = [] if how % 16 == 15 else [w.tag(), *(texts.value(value + n) for n in range(where % 3))]
        step: dict[str, Any] = {"op": "emit", "tuple": values}
        stream = texts.OWN_STREAMS[where % len(texts.OWN_STREAMS)]
        if stream is not None:
            step["stream"] = stream
        if how % 3:
            step["anchor"] = how % 3 == 1
        if where % 4 == 3:
            step["task"] = texts.TASKS[value % len(texts.TASKS)]
            if w.config.has("x-need-task-ids") and how // 4 % 3 == 2:
                step["need_task_ids"] = False
        elif w.config.has("x-need-task-ids") and how % 4 > 1:
            step["need_task_ids"] = how % 4 == 2
        return step

    def settled(self, which: int, op: str) -> list[Mapping[str, Any]]:
        """The step that settles a tuple that was left open."""
        if not self.open or (not self.w.config.serial and self.w.when != "turn"):
            return []  # a bolt that works on several tuples at once may not be done with that one
        return [{"op": op, "id": self.open.pop(which % len(self.open))}]


def interpret(program: Program, config: Config, *, hurry: bool = False, ways: int = ANYHOW) -> Plan:
    """The plan that a program means; total, and pure. `ways` are the ways of writing that may be used."""
    w = Writer(config, hurry=hurry)
    write(w, program, ways)
    finish(w, program.head)
    return w.plan()


def write(w: Writer, program: Program, ways: int = ANYHOW) -> Session:
    """The setup and the ops."""
    head = program.head
    bits = head[1] & ways if head[1] % 2 else 0
    w.ways = Ways(bits, head[2])
    w.first = head[2] // 8
    w.setup(texts.CONFS[head[3] % len(texts.CONFS)], folder=head[3] // 8, later=head[3] % 4 != 3)
    session = Session(w)
    for serial, op in enumerate(program.ops):
        w.ways = Ways(bits, head[2] + serial)
        _op(session, op)
    return session


def _op(session: Session, op: Op) -> None:
    w = session.w
    a, b, c, d, e = op.args
    if op.kind == "tuple":
        values = [texts.value(b + n * c) for n in range(a % 5)]
        name = w.tuple(values, origin=d, comp=None if e % 8 == 7 else 0)
        w.lists(a)
        if e % 8 == 6 and w.when == "turn":  # an id that is settled may come again
            w.wait()
            w.tuple([w.tag()], origin=d, again=name)
            w.lists(a)
    elif op.kind == "heartbeat":
        for n in range(1 + (a % 4 if b % 2 else 0)):
            w.heartbeat(c + n)
    elif op.kind == "near":
        _near(w, a, b, c, tick=bool(d % 2))
        w.lists(a)
    elif op.kind == "alike":
        _alike(w, op)
    elif op.kind == "rest":
        w.wait(0 if a % 4 else 2)
    elif op.kind == "settle":
        told = [step for n in range(1 + a % 3) for step in session.settled(b + n, "fail" if (c >> n) % 2 else "ack")]
        w.script([*told, {"op": "ack"}])
        w.lists(a)
    elif op.kind == "burst":
        _burst(session, op)
    elif op.kind == "withhold":
        _withhold(session, op)
    elif op.kind == "many":
        _many(session, op)
    elif op.kind == "raise":
        if e % 4 == 2 and not session.open:
            session.open.append(_coming(w))
            w.script([])
        w.script(
            [
                *(session.emit(b + n, texts.nth(d, n), texts.nth(c, n)) for n in range(a % 3)),
                *([{"op": ("ack", "fail")[c % 2]}] if e % 4 == 1 else []),
                *(session.settled(b, ("ack", "fail")[c % 2]) if e % 4 == 2 else []),
                {"op": "raise"},
                {"op": "ack"},
            ]
        )
        w.lists(a)
    else:
        w.script(session.steps(op, _coming(w)), origin=c)
        w.lists(a + e)


def _coming(w: Writer) -> str:
    return texts.tuple_id(w.ids, w.first)


def _near(w: Writer, which: int, b: int, value: int, *, tick: bool) -> None:
    """A tuple that is nearly a heartbeat, or a tick."""
    if tick and w.config.has("x-tick"):
        w.tuple([60], near=("__tick", -1), comp="__system")
        return
    near = texts.NEAR[which % len(texts.NEAR)]
    declared = near[0] in texts.STREAMS  # and so is how many values a tuple of it has
    w.tuple([texts.value(value), b] if declared else [] if b % 2 else [texts.value(value)], near=near)


def _alike(w: Writer, op: Op) -> None:
    """Values in a row that some languages take for one value: user code emits them in one tuple or in one each, or is
    sent them."""
    rows, how = texts.lookalikes(*op.args), op.args[4] // 4
    if how % 4 == 3:
        for values in rows:
            w.tuple(values)
        return
    emits = [{"op": "emit", "tuple": values} for values in rows]
    for told in [emits] if how % 2 == 0 else [[step] for step in emits]:
        w.script([*told, {"op": "ack"}])
        w.lists(op.args[0])


def _burst(session: Session, op: Op) -> None:
    """Several tuples and heartbeats at once."""
    w = session.w
    a, b, c, d, e = op.args
    count = 2 + a % 5
    when, w.when = w.when, "join"
    w.features.add("together")
    for n in range(count):
        if n == count - 1:
            w.when = when if when == "now" else "now"
        if (b >> n) % 3 == 2:
            w.heartbeat(c + n)
        elif (b >> n) % 3 == 1:
            steps = session.steps(Op("script", (a + n, c >> n, d + n, d, e + n)), _coming(w))
            w.script(steps)
        else:
            w.tuple([texts.value(c + n)], origin=d + n)
    w.when = when
    last = w.steps[-1]
    assert isinstance(last, Say)
    w.steps[-1] = replace(last, when="now")
    w.lists(e)


def _withhold(session: Session, op: Op) -> None:
    """An emit whose task ids come later than other things, now and then what is nearly a heartbeat, or tuples that emit
    as well."""
    w = session.w
    a, b, c, d, e = op.args
    emitting = a // 4 % 4 == 3
    w.script(session.steps(Op("script", (a, b, c, 0, e)), _coming(w), emits=1 + a % 2))
    for n in range(MANY[0] if d % 16 == 15 else d % 4):
        if (b >> n % 8) % 2:
            w.heartbeat(n)
        elif (c >> n % 8) % 4 == 3:
            _near(w, c + n, e, c, tick=(d + n) % 2 == 0)
        elif emitting:
            w.script([session.emit(c + n, texts.nth(d, n), texts.nth(e, n)), {"op": "ack"}], origin=n)
        else:
            w.tuple([texts.value(c + n)], origin=n)
    if e % 4 == 2:
        w.list_and_tuple(c)
    elif e % 16 == 9:
        w.wait()
        w.wait(LATE_MS)
    w.lists(c)


def _many(session: Session, op: Op) -> None:
    """The same for long: heartbeats, tuples, tuples that stay open, emits, or all of these."""
    w = session.w
    a, b, c, d, _ = op.args
    for n in range(MANY[a % len(MANY)]):
        kind = b % 5 if b % 5 < 4 else (c + n * (1 + d % 3)) % 4
        if kind == 0:
            w.heartbeat(n)
        elif kind == 1:
            w.tuple([n], origin=n)
        elif kind == 2:
            session.open.append(_coming(w))
            w.script([])
        else:
            w.script([session.emit(n, 0, c), {"op": ("ack", "fail")[(d >> n % 8) % 2]}])
            w.lists(n)
    steps = [step for n in range(len(session.open)) for step in session.settled(c + n * d, ("ack", "fail")[n % 2])]
    w.script([*steps, {"op": "ack"}])


def finish(w: Writer, head: Sequence[int]) -> None:
    """The end that the head asks for."""
    end = head[0] % 6
    w.ways = Ways()
    if end == 4:
        w.tuple([1])
        w.eof(at_once=True)
        return
    if end == 5:
        w.wait()
        whole = b'{"id":"77","comp":"words","stream":"n1","task":1,"tuple":["half"]}\n'
        w.blurt(texts.torn(whole, head[4]), "turn")
        w.eof(at_once=True)
        return
    w.wait()
    w.eof()


def _aim(kinds: Mapping[str, int], ways: int = 0, most: int = MOST) -> Aim:
    """One family: weights of ops, and the ways of writing."""
    return Aim(sessions(kinds, most=most), partial(interpret, ways=ways))


EMITS = _aim({"script": 12, "alike": 2, "settle": 3, "many": 1, "raise": 1})
LISTS = _aim({"withhold": 8, "heartbeat": 1, "burst": 1, "script": 1, "raise": 1})
SETTLING = _aim({"script": 4, "settle": 5, "burst": 1, "tuple": 1, "many": 1})
HEARTBEATS = _aim({"heartbeat": 10, "near": 4, "tuple": 2, "withhold": 2, "burst": 4, "many": 1}, most=8)
FRAMING = _aim({"tuple": 3, "script": 3, "heartbeat": 1, "withhold": 1}, ways=ANYHOW | JOIN)
ENDINGS = _aim({"tuple": 1, "script": 1}, most=2)
BURSTS = _aim({"burst": 6, "withhold": 2}, most=5)
