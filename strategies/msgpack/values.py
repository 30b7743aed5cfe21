"""Values with traps: boundaries of every format, what is easily confused, and what may be refused.

A pick is a number from 0 to 255, or two; 0 is the plainest value of each alphabet.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from specs.msgpack.values import TIMESTAMP, Ext, Float, Map, Text, double, single

INTEGERS: Sequence[int] = (
    0, 1, -1, 127, 128, -32, -33, 255, 256, -128, -129, 65535, 65536, -32768, -32769,
    2**31 - 1, 2**31, 2**32 - 1, 2**32, -(2**31), -(2**31) - 1, 2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1,
    2**63 - 1, 2**63, 2**64 - 1, -(2**63), 100, 1000, 100_000, 2**40, -(2**40),
)  # fmt: skip
FLOATS: Sequence[Float] = (
    double(1.5), double(0.0), double(-0.0), double(1.0), double(float("inf")), double(float("-inf")),
    double(float("nan")), double(0.1), double(-2.5), double(1e300), double(5e-324), single(1.5), single(0.1),
    single(-0.0), single(float("nan")), single(float("inf")), single(3.4028234663852886e38), double(3.0),
    double(2.0**53), double(2.0**63), double(2.0**64), single(1e-45), double(1e15),
)  # fmt: skip
TEXTS: Sequence[str] = (
    "", "a", "x" * 31, "x" * 32, "x" * 255, "x" * 256, "é", "漢字", "😀", "\0", "a\0b", "\n", "null", "1", "\ufeff",
    "é" * 16, "漢" * 85 + "a", "\ud7ff", "\U0010ffff", "x" * 65535, "x" * 65536,
)  # fmt: skip
BINARIES: Sequence[bytes] = (
    b"", b"a", b"\0", b"\xff", b"\xc1", b"abc", b"x" * 31, b"x" * 32, b"x" * 255, b"x" * 256, b"\xc3\xa9",
    bytes(range(256)), b"x" * 65535, b"x" * 65536,
)  # fmt: skip
SIMPLE: Sequence[Any] = (None, True, False)
EMPTIES: Sequence[Any] = (
    "",
    (),
    Map(()),
    None,
    False,
    b"",
    0,
    "a",
    ((),),
    Map((("", ""),)),
    (None,),
    double(0.0),
    b"a",
)
"""What is empty, or nothing, in many languages, and what is not."""
NAMES: Sequence[str] = (
    "k{}", "value{:03}", "{:03}-value", "a long name of a value {:03} and more behind it", "value-{:03}-name",
)  # fmt: skip
"""Keys of one map: some of them are alike up to their end, but for their beginning, or but for their middle."""
ODD_ENDS: Sequence[str] = ("\ufeff", "\0", " ", "\n", "\r\n", "\t", "e\u0301", "\u2028", '"', "\\", "\x7f", "\x1b")
"""What readers of text drop, skip or change at the beginning of a text or at its end."""
KEYS: Sequence[str] = ("a", "b", "", "é", "x" * 32, "0", "a\0b", "A", "a ", "length", "error", "constructor")

BAD_TEXTS: Sequence[Text] = tuple(
    Text(data)
    for data in (b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"a\x80", b"\xf8\x88\x80\x80\x80", b"\xc3", b"\xff\xfe")
)
EXT_CODES: Sequence[int] = (0, 1, 2, 42, 127, -2, -3, -42, -127, -128, 5, 100)
EXT_SIZES: Sequence[int] = (1, 0, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 255, 256, 12, 65535, 65536)


def _stamp(seconds: int, nanos: int, size: int) -> Ext:
    if size == 4:
        return Ext(TIMESTAMP, struct.pack(">I", seconds))
    if size == 8:
        return Ext(TIMESTAMP, struct.pack(">Q", nanos << 34 | seconds))
    return Ext(TIMESTAMP, struct.pack(">Iq", nanos, seconds))


TIMESTAMPS: Sequence[Ext] = (
    _stamp(0, 0, 4), _stamp(1, 0, 4), _stamp(2**31, 0, 4), _stamp(2**32 - 1, 0, 4), _stamp(2**32, 0, 8),
    _stamp(0, 1, 8), _stamp(1, 999_999_999, 8), _stamp(2**34 - 1, 0, 8), _stamp(2**34 - 1, 999_999_999, 8),
    _stamp(2**34, 0, 12), _stamp(-1, 0, 12), _stamp(-1, 999_999_999, 12), _stamp(0, 0, 12), _stamp(0, 0, 8),
    _stamp(-(2**40), 5, 12), _stamp(1_600_000_000, 500_000_000, 8), _stamp(253_402_300_799, 0, 12),
)  # fmt: skip
BAD_TIMESTAMPS: Sequence[Ext] = (
    Ext(TIMESTAMP, b""), Ext(TIMESTAMP, b"\1"), Ext(TIMESTAMP, b"\1" * 16), Ext(TIMESTAMP, b"\1" * 5),
    Ext(TIMESTAMP, struct.pack(">Q", 1_000_000_000 << 34)), Ext(TIMESTAMP, struct.pack(">Iq", 1_000_000_000, 0)),
    Ext(TIMESTAMP, b"\xff" * 8), Ext(TIMESTAMP, b"\xff" * 12), Ext(TIMESTAMP, b"\1\2"),
)  # fmt: skip
ODD_KEYS: Sequence[Any] = (1, None, True, double(1.5), b"k", (1, 2), Map((("k", 1),)), -1, 2**64 - 1, "__proto__", ())


def pick(alphabet: Sequence[Any], number: int) -> Any:
    """One of an alphabet."""
    return alphabet[number % len(alphabet)]


def nested(depth: int, number: int) -> Any:
    """A value with so many containers around a small one."""
    value: Any = pick(INTEGERS, number)
    for level in range(depth):
        value = Map((("k", value),)) if (number >> level % 8) & 1 else (value,)
    return value


def legal(a: int, b: int) -> Any:
    """A value that every server takes and gives back. 0, 0 is the plainest."""
    which = a % 16
    if which < 3:
        return pick(INTEGERS, b)
    if which == 3:
        return tuple(pick(INTEGERS, b + 5 * n) for n in range(6))
    if which == 4:
        return pick(FLOATS, b)
    if which == 5:
        return tuple(pick(FLOATS, b + 4 * n) for n in range(6))
    if which == 6:
        return pick(TEXTS[:-2], b) if b < 96 else with_odd_ends(b - 96)
    if which == 7:
        return pick(BINARIES[:-2], b)
    if which == 8:
        return pick(SIMPLE, b) if b < 128 else tuple(pick(EMPTIES, b + n) for n in range(6))
    if which == 9:
        return tuple(legal(b + n, b + 3 * n) for n in range((0, 1, 2, 3, 5, 15)[b % 6]) if (b + n) % 16 < 9)
    if which == 10:
        within = (INTEGERS, EMPTIES)[b // len(KEYS) % 2]
        return Map(tuple((key, pick(within, b + n)) for n, key in enumerate(KEYS[: b % len(KEYS)])))
    if which == 11:
        return nested((1, 2, 3, 5, 8, 10, 11, 12, 13, 14)[b % 10], (0, 255, b)[b // 10 % 3])
    if which == 12:
        return tuple(range((15, 16, 17, 31, 32, 255, 256, 300)[b % 8]))
    if which == 13:
        return Map(tuple((pick(NAMES, b // 4).format(n), n) for n in range((15, 16, 17, 32)[b % 4])))
    if which == 14:
        return pick(TEXTS, b) if b < 200 else pick(BINARIES, b)
    return (pick(SIMPLE, b), pick(FLOATS, b), pick(TEXTS[:9], b), pick(BINARIES[:8], b), pick(INTEGERS, b))


def with_odd_ends(number: int) -> str:
    """A text, short or long, with something odd at one of its ends, or at both."""
    odd, form = pick(ODD_ENDS, number), number // len(ODD_ENDS)
    length, (before, behind) = (1, 40, 300)[form % 3], ((odd, ""), ("", odd), (odd, odd))[form // 3 % 3]
    return f"{before}{'x' * length}{behind}"


def beside(a: int, b: int) -> int:
    """An integer at a power of two or beside it, or the negative of one."""
    number = (1 << a % 64) + (0, -1, 1)[b % 3]
    return -number if b // 3 % 2 and number <= 1 << 63 else min(number, (1 << 64) - 1)


def odd(a: int, b: int) -> Any:
    """A value that a correct server may refuse, or give back changed."""
    which = a % 8
    if which < 2:
        code, size = pick(EXT_CODES, b), pick(EXT_SIZES, a // 8 + b // len(EXT_CODES))
        return Ext(code, bytes(n % 251 for n in range(size)))
    if which == 2:
        return pick(TIMESTAMPS, b)
    if which == 3:
        return pick(BAD_TIMESTAMPS, b)
    if which == 4:
        return pick(BAD_TEXTS, b)
    if which == 5:
        return Map(((pick(ODD_KEYS, b), 1), ("k", 2)))
    if which == 6:
        key = pick((*KEYS, *ODD_KEYS), b)
        return Map(((key, 1), ("other", 2), (key, 3)))
    return nested((17, 30, 60, 100)[b % 4], b)
