"""Programs: the cheap data from which every protocol interprets its plans.

A program is a few head numbers and a list of free-standing ops, each a kind and a few small numbers. Any program is
valid: `interpret` of a protocol gives every number a meaning, so that any op may be deleted and any number lowered,
which is all that shrinking needs. Drawing is one byte string: it is what Hypothesis does fastest (one draw instead of
one for each op), and Hypothesis' generation still finds its way through it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from specs.plan import Plan

RowT = TypeVar("RowT", bound=Callable[[Any, int], None])
ARGS = 5
"""Numbers of one op."""
WIDTH = ARGS + 1
"""Octets drawn for one op."""


WHEEL = 256
"""Values of the octet that chooses a kind."""


class Op(NamedTuple):
    """One thing to do; what the numbers mean is the interpreter's affair. Zero is always the simplest choice."""

    kind: str
    args: tuple[int, ...] = (0,) * ARGS


class Program(NamedTuple):
    """Head numbers (choices for the whole plan) and ops."""

    head: tuple[int, ...]
    ops: tuple[Op, ...]


@dataclass(frozen=True)
class Aim:
    """Sessions that are aimed at one family of requirements: the programs, and what they mean."""

    programs: SearchStrategy[Program]
    interpret: Callable[..., Plan]


class Rows(dict[str, Callable[[Any, int], None]]):
    """What is done for each row of a catalogue of invalid input, by its requirement without prefix: a function of a
    writer, and of a number that chooses a form."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix
        self._weights: dict[str, int] = {}
        self._who: dict[str, str] = {}

    def row(self, name: str, who: str = "", weight: int = 1) -> Callable[[RowT], RowT]:
        """Register what is done for a row, and to whom it may be done ("": anybody). `weight`: how many times as often
        it is tried as others, since it has many forms or whoever goes wrong there does harm."""

        def register(function: RowT) -> RowT:
            self[name], self._weights[name], self._who[name] = function, weight, who
            return function

        return register

    def chosen(self, which: int, who: str = "", avoid: Container[str] = (), rows: Container[str] | None = None) -> str:
        """The row that a number chooses: one of `rows`, if there are any, and none to `avoid`, if others are left."""
        mine = [name for name in self if self._who[name] in ("", who) and (rows is None or name in rows)]
        wanted = [name for name in mine if self._prefix + name not in avoid] or mine
        wheel = [name for name in wanted for _ in range(self._weights[name])]
        return wheel[which % len(wheel)]


def programs(kinds: Mapping[str, int], *, head: int, most: int, least: int = 1) -> SearchStrategy[Program]:
    """Programs of `least` to `most` ops whose kinds have the given weights, with `head` head numbers."""
    wheel = _wheel(kinds)

    def decode(data: bytes) -> Program:
        count = least + data[head] % (most - least + 1)
        ops = []
        at = head + 1
        for _ in range(count):
            ops.append(Op(wheel[data[at]], tuple(data[at + 1 : at + WIDTH])))
            at += WIDTH
        return Program(tuple(data[:head]), tuple(ops))

    size = head + 1 + most * WIDTH
    return st.binary(min_size=size, max_size=size).map(decode)


def _wheel(kinds: Mapping[str, int]) -> list[str]:
    """256 kinds in proportion to their weights, each at least once. Raises ValueError for a weight below 1 and for more
    than 256 kinds."""
    if not 0 < len(kinds) <= WHEEL or min(kinds.values()) < 1:
        raise ValueError(f"1 to {WHEEL} kinds are needed, each with a weight of 1 or more, not {dict(kinds)!r:.200}")
    total = sum(kinds.values())
    wheel: list[str] = []
    seen = 0
    for left, (kind, weight) in zip(range(len(kinds) - 1, -1, -1), kinds.items(), strict=True):
        seen += weight
        end = max(WHEEL * seen // total, len(wheel) + 1)
        wheel += [kind] * (min(end, WHEEL - left) - len(wheel))
    return wheel


def simpler(program: Program) -> Iterator[Program]:
    """Programs to try in place of `program`, boldest first: a plain head, runs of ops left out, numbers lowered."""
    head, ops = program
    if any(head):
        yield Program((0,) * len(head), ops)
    size = len(ops)
    chunk = size
    while chunk >= 1:
        for start in range(0, size, chunk):
            if chunk < size or size == 1:
                yield Program(head, ops[:start] + ops[start + chunk :])
        chunk //= 2
    for i in range(size):
        for j in range(i + 1, size):
            yield Program(head, ops[:i] + ops[i + 1 : j] + ops[j + 1 :])
        if size > 12:
            break
    for i, value in enumerate(head):
        for lower in _lower(value):
            yield Program((*head[:i], lower, *head[i + 1 :]), ops)
    for i, op in enumerate(ops):
        if any(op.args):
            yield Program(head, (*ops[:i], Op(op.kind), *ops[i + 1 :]))
    for i, op in enumerate(ops):
        for j, value in enumerate(op.args):
            for lower in _lower(value):
                args = (*op.args[:j], lower, *op.args[j + 1 :])
                yield Program(head, (*ops[:i], Op(op.kind, args), *ops[i + 1 :]))


def _lower(value: int) -> Sequence[int]:
    """Smaller numbers worth trying: zero, one bit less, one less."""
    if value == 0:
        return ()
    bits = {value & ~(1 << bit) for bit in range(8) if value & (1 << bit)}
    return sorted({0, value // 2, value - 1, *bits})
