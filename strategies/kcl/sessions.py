"""Legal conversations with a child: ops, and the plan that they mean.

Head numbers: how the conversation ends, in which ways messages are written, and how exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.kcl.states import Config
from specs.plan import Plan
from strategies.common import Aim, Op, Program, programs
from strategies.kcl import texts
from strategies.kcl.writer import CUTS, ESCAPE, MEMBERS, ORDER, WIDE, Ways, Writer

HEAD = 4
EVEN: Mapping[str, int] = {
    "batch": 10,
    "checkpoint": 8,
    "print": 4,
    "mixed": 4,
    "empty": 2,
    "request": 2,
    "rest": 2,
    "many": 1,
    "raises": 1,
}
ROWS = (12, 18, 34, 66, 104)
"""How many small batches there are in a row."""
MOST = 10
ENDS = ("ZOMBIE", "TERMINATE", "TERMINATE", "ZOMBIE", "eof", "eof-working", "eof-asking")
ANYHOW = ORDER | ESCAPE | WIDE | MEMBERS | CUTS
LONG_MS = 260
"""A pause that is long for a program and short for a run: now and then one goes by with no action, or no answer."""
AT_WORK_MS = 900
"""How long slow user code works: longer than is waited for it where it is not waited for to the end, and less than a
child may be silent in the quickest of tests."""
RAISES_ONE_IN = 8
MANY, BIG = 40, 1 << 16
"""Records of a large batch; octets of a large record, which may be four times that."""
MANY_FROM = 252
"""The size of an op from which a batch is large."""


def sessions(kinds: Mapping[str, int] = EVEN, *, most: int = MOST) -> SearchStrategy[Program]:
    """Legal sessions of `kinds` of ops."""
    return programs(kinds, head=HEAD, most=most, least=0)


def interpret(program: Program, config: Config, *, hurry: bool = False, ways: int = ANYHOW) -> Plan:
    """The plan that a program means; total, and pure. `ways` are the ways of writing that may be used."""
    w = Writer(config)
    write(w, program, ways)
    finish(w, program.head)
    return w.plan()


def write(w: Writer, program: Program, ways: int = ANYHOW) -> None:
    """initialize and the ops."""
    head = program.head
    bits = head[1] & ways if head[1] % 2 else 0
    w.scheme = head[2] // 4 % texts.WAYS_TO_COUNT
    w.initialize(texts.shard(head[2]), Ways(bits, head[2]), bare=bool(head[3] % 2))
    requested = False
    for serial, op in enumerate(program.ops):
        now = Ways(bits, head[2] + serial)
        if op.kind == "request":
            if not requested:
                w.requested(now)
            requested = True
        elif op.kind == "rest":
            w.wait(0 if op.args[0] % 4 else (2, LONG_MS)[op.args[1] % 16 == 15])
        elif op.kind == "many":
            _many(w, op)
        elif op.kind == "raises":
            _raises(w, op)
        else:
            _batch(w, op, now)


def finish(w: Writer, head: Sequence[int]) -> None:
    """The end that the head asks for, and the end of STDIN."""
    end = ENDS[head[0] % len(ENDS)]
    if end in ("ZOMBIE", "TERMINATE"):
        errors = [texts.ERRORS[head[3] % len(texts.ERRORS)]] if head[3] % 5 == 4 else []
        w.final(end, errors=errors)
        w.eof()
    elif end == "eof":
        w.wait()
        w.eof()
    elif end == "eof-working":
        w.batch([w.record(b"data")])
        w.eof(at_once=True)
    else:
        at = w.numbers[-1] if w.numbers else None
        answered = head[3] // 2 % 3  # so many are answered before the one that meets the end
        w.batch([w.script([{"op": "checkpoint", "at": at}] * (1 + answered))])
        for _ in range(answered):
            w.say(w.answered(None))
        w.eof()


def _batch(w: Writer, op: Op, ways: Ways) -> None:
    """A batch with what its kind is about."""
    size, data, key, how, more = op.args
    if op.kind == "empty":
        w.batch([], ways)
        w.answers()
        return
    count = MANY if size >= MANY_FROM else size % 6
    records = [w.record(texts.data(data + n * more), texts.key(key + n * how)) for n in range(count)]
    if 244 <= size < MANY_FROM and op.kind == "batch":
        records.append(w.record(texts.ALL_OCTETS * (BIG // 256 << size % 3)))
    told: list[Mapping[str, Any]] = []
    errors: list[str | None] = []
    if op.kind in ("print", "mixed"):
        told.append({"op": "print", "text": texts.PRINTS[how % len(texts.PRINTS)]})
        if key % 4 == 3:
            told.append({"op": "print", "text": texts.PRINTS[-1 - more % len(texts.PRINTS)]})
    if op.kind == "slow":
        told += [{"op": "sleep", "ms": AT_WORK_MS}, {"op": "checkpoint", "at": None}]
    if op.kind in ("checkpoint", "mixed"):
        for n in range(1 + how % 3):
            if n and size % 8 == 5:  # user code goes on with its work behind a checkpoint
                told.append({"op": "sleep", "ms": 3})
            told.append({"op": "checkpoint", "at": _at(w, more + n)})
            errors.append(texts.ERRORS[(key + n) % len(texts.ERRORS)] if (data >> n) % 2 else None)
        if size % 16 == 15:  # who does not wait for user code is done before it
            told.insert(0, {"op": "sleep", "ms": (3, 60)[data % 8 == 7]})
    if op.kind == "mixed":
        if more % 2:
            told.append({"op": "stderr", "text": "e\n"})
        else:
            told.append({"op": "print", "text": texts.PRINTS[more % len(texts.PRINTS)]})
        if more % RAISES_ONE_IN == RAISES_ONE_IN - 2:
            told.append({"op": "raise"})
    if told:
        records.insert(data % (len(records) + 1), {})
        spot = records.index({})
        records[spot] = w.script(told, texts.key(0))
        _renumber(w, records)
    w.batch(records, ways)
    if op.kind == "slow":
        w.wait(AT_WORK_MS)  # nobody is asked to answer meanwhile
    w.answers(errors, ways, withhold_ms=(3, LONG_MS)[more % 64 == 41] if more % 16 == 9 else 0)


def _many(w: Writer, op: Op) -> None:
    """Small batches in a row, for what shows only after so many: each has a record, or user code asks for one or two
    checkpoints in it."""
    size, data, key, how, more = op.args
    for n in range(ROWS[size % len(ROWS)]):
        if how % 2 and n % 3 == 2:
            told: list[Mapping[str, Any]] = [
                {"op": "checkpoint", "at": _at(w, more + n)} for _ in range(1 + how // 2 % 2)
            ]
            errors = [texts.ERRORS[key % len(texts.ERRORS)] if (data + n) % 4 == 0 else None for _ in told]
            w.batch([w.script(told)])
            w.answers(errors)
        else:
            w.batch([w.record(texts.data(data + n), texts.key(0))])
            w.answers()


def _raises(w: Writer, op: Op) -> None:
    """Batches in which user code raises, one after the other, or with others between them."""
    size, data, key, how, more = op.args
    for n in range(2 + size % 3):
        told: list[Mapping[str, Any]] = []
        errors: list[str | None] = []
        if (data >> n) % 4 == 3:
            told.append({"op": "print", "text": texts.PRINTS[(key + n) % len(texts.PRINTS)]})
        if (how >> n) % 4 == 3:
            told.append({"op": "checkpoint", "at": _at(w, more + n)})
            errors.append(texts.ERRORS[(key + n) % len(texts.ERRORS)] if data % 2 else None)
        w.batch([w.script([*told, {"op": "raise"}])])
        w.answers(errors)
        if (key >> n) % 4 == 3:
            w.batch([w.record(texts.data(data + n), texts.key(0))])
            w.answers()


def _at(w: Writer, choice: int) -> str | None:
    """A number that was delivered before this batch was, or no number."""
    if choice % 3 == 0 or not w.numbers:
        return None
    return w.numbers[-1 - choice % len(w.numbers)]


def _renumber(w: Writer, records: list[dict[str, Any]]) -> None:
    """Sequence numbers in the order of the batch, whatever order the records were made in."""
    numbers = sorted((record["sequenceNumber"] for record in records), key=int)
    for record, number in zip(records, numbers, strict=True):
        record["sequenceNumber"] = number


def _aim(kinds: Mapping[str, int], ways: int = 0, most: int = MOST) -> Aim:
    """One family: weights of ops, and the ways of writing."""
    return Aim(sessions(kinds, most=most), partial(interpret, ways=ways))


RECORDS = _aim({"batch": 24, "empty": 3, "rest": 3, "many": 1})
CHECKPOINTS = _aim({"checkpoint": 18, "batch": 3, "empty": 3, "mixed": 3, "many": 1})
OUTPUT = _aim({"print": 6, "mixed": 3, "raises": 1})
SLOW = Aim(programs({"slow": 1}, head=HEAD, most=1), partial(interpret, ways=0))
FRAMING = _aim({"batch": 4, "checkpoint": 3}, ways=ANYHOW)
ENDINGS = _aim({"batch": 1, "checkpoint": 1, "request": 1}, most=2)
