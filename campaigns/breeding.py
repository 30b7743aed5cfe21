"""Programs made of programs: what has shown something new is changed, joined and crossed.

Any program is valid (`strategies.common`), so that nothing has to be checked. Only programs of one property are mixed:
what their numbers mean is the affair of that property.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from strategies.common import Op, Program

MOST = 48
"""Ops of a bred program at most: long histories are wanted, endless ones are not."""
NUMBERS = 256
"""Values of one number of an op or a head."""


def bred(parents: Sequence[Program], chance: Random) -> Program:
    """A program made of one or two of `parents`, of which there is at least one."""
    first, second = chance.choice(parents), chance.choice(parents)
    way = chance.choice((_joined, _crossed, _changed, _repeated, _thinned))
    head, ops = way(first, second, chance)
    if chance.random() < 0.3:
        head, ops = _changed(Program(head, ops), second, chance)
    return Program(head, ops[:MOST])


def _joined(first: Program, second: Program, chance: Random) -> Program:
    """One after the other."""
    return Program(first.head, first.ops + second.ops)


def _crossed(first: Program, second: Program, chance: Random) -> Program:
    """The beginning of one and the end of the other."""
    head = chance.choice((first.head, second.head))
    mine, others = chance.randint(0, len(first.ops)), chance.randint(0, len(second.ops))
    return Program(head, first.ops[:mine] + second.ops[others:] or first.ops)


def _changed(first: Program, second: Program, chance: Random) -> Program:
    """A few numbers changed."""
    head, ops = list(first.head), list(first.ops)
    for _ in range(chance.randint(1, 4)):
        places = len(head) + len(ops)
        if not places:
            break
        at = chance.randrange(places)
        if at < len(head):
            head[at] = chance.randrange(NUMBERS)
            continue
        op = ops[at - len(head)]
        if op.args:
            args = list(op.args)
            args[chance.randrange(len(args))] = chance.randrange(NUMBERS)
            ops[at - len(head)] = Op(op.kind, tuple(args))
    return Program(tuple(head), tuple(ops))


def _repeated(first: Program, second: Program, chance: Random) -> Program:
    """A stretch said twice, or one of another program put into it."""
    if not first.ops or not second.ops:
        return first
    source = chance.choice((first, second)).ops
    start = chance.randrange(len(source))
    stretch = source[start : start + chance.randint(1, 4)]
    at = chance.randint(0, len(first.ops))
    return Program(first.head, first.ops[:at] + stretch + first.ops[at:])


def _thinned(first: Program, second: Program, chance: Random) -> Program:
    """Some ops left out, at least one kept."""
    kept = tuple(op for op in first.ops if chance.random() < 0.8)
    return Program(first.head, kept or first.ops[:1])
