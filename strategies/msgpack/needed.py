"""Types one after the other, at their ends and without what they need, so that one conversation tries all of them.

Source: 004_4ca5b084f7ea0751.txt, message. What a document declares for that, which functions are called, and how they
are answered: first with all that is a value, then with what is none, since whoever reads that may close the connection.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from specs.msgpack import values as v
from specs.msgpack.idl.semantics import INTEGERS
from strategies.msgpack.shapes import Kind, bound

WIDTHS = "".join(f"  {n} {n}Of(1: {n} a)\n  map<{n}, bool> {n}Keys()\n" for n in INTEGERS)
"""Functions that take and give a number of each type, and such that give some as keys."""


class Needed(NamedTuple):
    """A type, a value of it, and a literal, if there is one."""

    kind: Kind
    value: Any
    literal: str = ""


NEEDED = (
    *(Needed(Kind(name), 1, "7") for name in INTEGERS), Needed(Kind("string"), "s", '"d"'),
    Needed(Kind("bool"), True, "true"), Needed(Kind("double"), v.double(1.5), "0.5"),
    Needed(Kind("float"), v.single(1.5), "0.5"), Needed(Kind("raw"), b"r"),
    Needed(Kind("list", (Kind("int"),)), (1,)), Needed(Kind("map", (Kind("string"), Kind("int"))), v.Map((("k", 1),))),
)  # fmt: skip
EACH = len(NEEDED)
HOLDING = 3 * EACH
"""The number of the message that holds others: before it stand those that need something without saying so, those that
say so, and those that do not need it."""
MUSTS = "".join(f"  Must{n} must{n}()\n" for n in range(HOLDING + 1))
"""Functions that give these messages."""


class Swept(NamedTuple):
    """A call and its answer; `kind` is the type of the argument, if there is one."""

    function: str
    result: Any
    kind: Kind | None = None
    argument: Any = None


def turned(rows: Sequence[Swept], by: int) -> list[Swept]:
    """The same rows, beginning with another one."""
    at = by % len(rows)
    return [*rows[at:], *rows[:at]]


def widths(first: int) -> list[Swept]:
    """The ends of every type of integers, as arguments, as results and as keys, and then the numbers behind them, as
    results, one type or another `first`."""
    legal, beyond = [], []
    for name, ends in INTEGERS.items():
        for number, step in zip(ends, (-1, 1), strict=True):
            legal.append(Swept(f"{name}Of", number, Kind(name), number))
            legal.append(Swept(f"{name}Keys", v.Map(((number, True),))))
            behind = bound(number + step)
            beyond.append(Swept(f"{name}Of", behind, Kind(name), number))
            beyond.append(Swept(f"{name}Keys", v.Map(((behind, True),))))
    return [*legal, *turned(beyond, first)]


def musts(which: int, *, defaults: bool) -> str:
    """A message with a field of some type, for each type, required in both ways and optional, and one that holds two of
    them. `defaults`: half of what is optional has a literal."""
    fields = [f"{mod}{each.kind} y" for mod in ("", "required ", "optional ") for each in NEEDED]
    for n, each in enumerate(NEEDED):
        if defaults and each.literal and (n + which) % 2:
            fields[2 * EACH + n] += f" = {each.literal}"
    text = "".join(f"message Must{n} {{\n  1: int x\n  2: {field}\n}}\n" for n, field in enumerate(fields))
    return text + f"message Must{HOLDING} {{\n  1: Must0 x\n  2: list<Must{_inner(which)}> y\n}}\n"


def _inner(which: int) -> int:
    """The number of the message of which there are several in another."""
    return which % (2 * EACH)


def missing(which: int, first: int, base: int) -> list[Swept]:
    """Messages of `musts(which)`: complete, and without what is optional at their end, then without what they need, or
    with nil there, one or another `first`. `base` is the id of the first element."""
    short: tuple[Any, ...] = (*(None,) * (1 - base), 1)
    gap, hold = short[:-1], f"must{HOLDING}"
    whole, other = (*short, NEEDED[0].value), (*short, NEEDED[_inner(which) % EACH].value)
    legal = [Swept(f"must{n}", (*short, NEEDED[n % EACH].value)) for n in range(HOLDING)]
    legal += [Swept(f"must{n}", short) for n in range(2 * EACH, HOLDING)]
    legal.append(Swept(hold, (*gap, whole, (other, other))))
    wrong = [Swept(f"must{n}", short) for n in range(2 * EACH)]
    wrong += [Swept(f"must{n}", (*short, None)) for n in range(which % 2, 2 * EACH, 2)]
    holding = ((short, ()), (whole, (short,)), (whole, (other, short)), (whole,), ())
    return [*legal, *turned([*wrong, *(Swept(hold, (*gap, *held)) for held in holding)], first)]
