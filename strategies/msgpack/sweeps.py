"""Every boundary of every format in turn: a fault may show in one value alone, which is seldom drawn.

Values of one kind stand in a row of a few. A program's head number is dealt in turn: it says which rows are played, how
they are written, and whether their values stand alone or in a container.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.msgpack import values as v
from specs.msgpack.calls import oddity
from specs.msgpack.format import WIDEST, encoded, styled
from specs.msgpack.machine import LIMITS
from specs.msgpack.states import Config
from specs.plan import Plan
from strategies.common import Program, programs
from strategies.msgpack import values
from strategies.msgpack.vectors import NEVER, Questions, deep
from strategies.msgpack.writer import Writer

ROW_DEALT = 0
"""The place of the head number that is dealt in turn."""
DEALS = 8
"""Numbers after which every row was played once."""
ROW = 15
"""Values in a row: as many as the smallest array holds."""
MOST, MOST_OF_A_CODEC = 45_000, 200_000
"""Octets that a server is sent in one plan, as it may answer octet by octet; and of one question to a codec, as more
would take long."""
DEEP = 2
"""The plans that end with containers within containers, at a depth that ends whoever calls itself for each."""
SIZES = (
    0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 14, 15, 16, 17, 30, 31, 32, 33, 63, 64, 65, 127, 128, 129, 254, 255, 256, 257, 511,
    512, 1023, 1024, 4095, 4096, 16_384, 32_767, 32_768, 40_000, 65_534, 65_535, 65_536,
)  # fmt: skip
DOUBLES = (
    1.0 + 2**-52, 1.0 - 2**-53, 0.1, 1 / 3, 2 / 3, 3.141592653589793, 2.718281828459045, 1e22, 1e23, 2.0**53 + 2,
    123456789.123456789, 16_777_217.0, 2.0**31, 2.0**32, 2.0**63, 2.0**64, 1e-5, 1e16, 1e17, 1e21, 0.5, 2.0, 100.0,
    1e100, 1e-100, 3.5e38, 1.7976931348623157e308, 8.98846567431158e307, 2.2250738585072014e-308, 5e-324, 1e-320,
    2.225073858507201e-308,
)  # fmt: skip
SINGLES = (
    1.0 + 2**-23, 1.0 - 2**-24, 0.5, 2.0, 100.0, 16_777_215.0, 16_777_216.0, 2.0**31, 2.0**32, 2.0**63, 2.0**64,
    2.0**-126, 2.0**-127, 2.0**-149, 3.4028234663852886e38, 0.10000000149011612, 3.0,
)  # fmt: skip
TRAPS: Sequence[str] = (
    "\x7f", "\x80", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\ufffd", "\U00010000", "\U0001f600", "\U0010ffff",
    "\ufeffa", "a\ufeff", "e\u0301", "\u00e9", "\u212b", "\uac00", "\u1100\u1161", "\u2028", "\u2029", "\u200b",
    "\u00a0", "\r\n", "a\r\nb", "\r", "\t", "\x1b", "\x00", "\x00\x00", " ", " a", "a ", "a\n", "\\", "\\n",
    "\\u0041", '"', "'", "</", "%s", "%00", "{}", "${a}", "true", "nil", "0", "-1", "1.0", "NaN", "0x10", "1e5", "A",
    "ß", "İ", "ı", "ﬁ", "\U0001f469\u200d\U0001f469", "\u202e", "2000-01-01T00:00:00Z", "aGVsbG8=",
)  # fmt: skip
"""Texts that are taken for others, or changed on their way, by whoever does not leave them alone."""


def _simple() -> Iterator[Sequence[Any]]:
    numbers = {sign * (2**k) + more for k in range(65) for more in (-1, 0, 1) for sign in (1, -1)}
    numbers |= {*range(-35, 0), *range(0, 129, 3)}
    yield sorted((n for n in numbers if -(2**63) <= n < 2**63), key=lambda n: (abs(n), n))
    yield sorted(n for n in numbers if 2**63 <= n < 2**64)
    yield [v.double(sign * number) for number in DOUBLES for sign in (1, -1)]
    yield [v.double(number) for number in (0.0, -0.0, float("inf"), float("-inf"), float("nan"))]
    yield [v.single(sign * number) for number in SINGLES for sign in (1, -1)]
    yield [v.single(number) for number in (0.0, -0.0, float("inf"), float("-inf"), float("nan"))]
    yield TRAPS
    yield [f"{'x' * 40}{text}" for text in TRAPS]
    yield [text * (size // len(text.encode())) for size in (31, 32, 255, 256) for text in ("é", "漢", "😀", "a😀")]


def _sized() -> Iterator[Sequence[Any]]:
    yield [("x" * size)[:-1] + "y" * (size > 0) for size in SIZES]
    yield [(b"\xff" * size)[:-1] + b"y" * (size > 0) for size in SIZES]
    yield [tuple(n % 100 for n in range(size)) for size in SIZES if size < 600]  # longer ones take long
    yield [(None,) * size for size in (32_768, 65_536)]
    yield [v.Map(tuple((f"{n}", n % 100) for n in range(size))) for size in SIZES if size < 600]
    yield [v.Ext(5, bytes(n % 251 for n in range(size))) for size in SIZES]


def _odd() -> Iterator[Sequence[Any]]:
    yield [v.Ext(code, b"ab") for code in range(-128, 128) if code != v.TIMESTAMP]
    yield [v.Ext(code, b"abc") for code in (-128, -127, -2, 0, 1, 126, 127)]
    yield from _plain_extensions()
    yield values.TIMESTAMPS


def _plain_extensions() -> Iterator[Sequence[Any]]:
    """The plainest of them, alone and within others: some libraries keep a type for values of their own."""
    for code in (0, 1):
        every = [v.Ext(code, bytes(size)) for size in (1, 2, 4, 8, 16, 0, 3)]
        yield every
        yield [v.Map((("k", each),)) for each in every]
        yield [(each, 1) for each in every]


def _shaped() -> Iterator[Sequence[Any]]:
    parts = (
        None,
        False,
        True,
        0,
        1,
        -1,
        "",
        "a",
        b"",
        b"a",
        (),
        v.Map(()),
        v.double(0.0),
        v.double(1.5),
        (None,),
        ((),),
    )
    yield [v.Map((("k", part),)) for part in parts]
    yield [v.Map((("a", part), ("b", 1))) for part in parts]
    yield [v.Map((("k", (1, part)),)) for part in parts]
    yield [(1, part) for part in parts]
    yield [(part, 1) for part in parts]
    yield [(part,) for part in parts]
    yield [(part, part, part) for part in parts]
    yield [v.Map(((key, 1),)) for key in (*values.KEYS, *TRAPS[:20])]
    yield [v.Map(tuple((f"{'k' * n}{end}", end) for end in "ab")) for n in (1, 3, 4, 7, 8, 15, 16, 31, 32, 64)]


def _empty() -> Iterator[Sequence[Any]]:
    """What is empty within a map, and within an array."""
    yield [v.Map((("k", value),)) for value in values.EMPTIES]
    yield [(value,) for value in values.EMPTIES]


def _rows() -> Iterator[tuple[Any, ...]]:
    for kind in chain(_simple(), _empty(), _sized(), _odd(), _shaped()):
        row: list[Any] = []
        for value in kind:
            if row and (len(row) == ROW or len(encoded((*row, value))) > MOST // 2):
                yield tuple(row)
                row = []
            row.append(value)
        yield tuple(row)


ROWS: Sequence[tuple[Any, ...]] = tuple(_rows())


def _cut() -> Iterator[tuple[bytes, Any]]:
    """A value of each format without its end, wherever it is cut off."""
    small = (1, 200, -100, 40_000, -40_000, 1 << 31, -(1 << 31), 1 << 63, -(1 << 63), v.single(1.5), v.double(1.5),
             "abc", b"abc", (1, 2), v.Map((("k", 1),)), (("a",), v.Map((("k", (1,)),))),
             *(v.Ext(5, bytes(size)) for size in (1, 2, 3, 4, 8, 16)))  # fmt: skip
    for value in small:
        for octets in dict.fromkeys((encoded(value), styled(value, WIDEST))):
            yield from ((octets[:end], value) for end in range(1, len(octets)))


CUT: Sequence[tuple[bytes, Any]] = tuple(_cut())


def sweeps() -> SearchStrategy[Program]:
    """Rows of the catalogue."""
    return programs({"row": 1}, head=1, most=1)


def _asked(number: int) -> Iterator[tuple[Any, int]]:
    """The values that a head number means, and how each is written."""
    how, rows = number // DEALS, ROWS[number % DEALS :: DEALS]
    first = how * len(rows) // 8  # where only some have room, each time others
    style = (0, 0, WIDEST, WIDEST, 2 + number, 2 + number, 0, 0)[how % 8]
    for row in (*rows[first:], *rows[:first]):
        if how % 2 == 0:
            yield row, style
        elif how % 8 in (3, 7):
            yield v.Map(tuple((f"k{n}", value) for n, value in enumerate(row))), style
        else:
            yield from ((value, style) for value in row)


def vectors(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """Rows for a codec."""
    questions = Questions(config, hurry=hurry)
    for value, style in _asked(program.head[0]):
        octets, odd = styled(value, style), oddity(value, config).removeprefix("MP-FMT-")
        if len(octets) <= MOST_OF_A_CODEC:
            questions.vector(octets, value, "either" if odd else "value", odd)
    for octets, value in CUT[program.head[0] % DEALS :: DEALS]:
        questions.vector(octets, value, "error", "10")
    for octets in NEVER:
        questions.vector(octets, (1,) if questions.way == "typed" else 1, "error", "03")
    if program.head[0] % DEALS == DEEP:
        for opener in (b"\x91", b"\x81\xa1k"):
            questions.vector(opener * 100_000 + b"\xc0", (1,), "free", "11")
        for depth in (127, 65):
            deep(questions, depth, False)
            deep(questions, depth, True)
    if not questions.steps:
        questions.vector(encoded(5), 5)
    return Plan(tuple(questions.steps))


def calls(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """Rows for a server, which gives them back. What may be refused stands on a connection of its own."""
    w, room = Writer(config, hurry=hurry, slots=1), MOST
    for value, style in _asked(program.head[0]):
        odd, octets = oddity((value,), config), styled(value, style)
        if odd == LIMITS or len(octets) > room:
            continue
        room -= len(octets)
        w.call(w.line(), "echo", value, style=style)
        if odd:
            if not hurry:
                w.wait()
            w.hang(0)
    if not w.steps:
        w.call(w.line(), "echo", (w.fresh(),))
    return w.plan()
