"""Vectors for codecs: octets, what must come of decoding them, and of encoding that again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.msgpack import values as v
from specs.msgpack.calls import oddity
from specs.msgpack.changes import keys_collide
from specs.msgpack.format import WIDEST, encoded, styled
from specs.msgpack.lines import Ask, type_of
from specs.msgpack.states import Config
from specs.plan import Plan, Ref, Say, Step
from strategies.common import Op, Program, programs
from strategies.msgpack import values

EVERYTHING: Mapping[str, int] = {
    "value": 10, "wide": 6, "ext": 3, "stamp": 2, "never": 2, "cut": 4, "text": 1, "keys": 1, "deep": 1, "liar": 1,
    "number": 4, "sizes": 2, "nested": 1, "again": 1,
}  # fmt: skip
_LIARS: Sequence[bytes] = tuple(
    bytes([code]) + size.to_bytes(width, "big") + (b"\x01" if code in (0xC7, 0xC8, 0xC9) else b"")
    for code, width in (
        (0xDD, 4),
        (0xDF, 4),
        (0xDB, 4),
        (0xC6, 4),
        (0xC9, 4),
        (0xDC, 2),
        (0xDE, 2),
        (0xDA, 2),
        (0xC5, 2),
    )
    for size in ((1 << 8 * width) - 1, (1 << 8 * width - 1), 1 << 8 * width - 2)
)
NEVER: Sequence[bytes] = (
    b"\xc1",
    b"\x91\xc1",
    b"\x81\xc1\x01",
    b"\x81\xa1k\xc1",
    b"\x92\x01\xc1",
    b"\xdc\x00\x01\xc1",
    b"\x91\x91\xc1",
    b"\x92\x01\xc1\x02",
    b"\x91\xc1\x01",
    b"\xc1\x01",
    b"\x81\xc1\xa1k\x01",
)
"""The octet that is never used, alone, in containers, and before something."""
_SIZES = (15, 16, 17, 31, 32, 33, 255, 256, 257, 65535, 65536)


class Questions:
    """Collects what is asked. `way` as in `specs.msgpack.lines`."""

    def __init__(self, config: Config, *, hurry: bool) -> None:
        self.way, self.config = config.way, config
        self.when = "now" if hurry else "turn"
        self.steps: list[Step] = []
        self._serial = 0

    def vector(self, octets: bytes, value: Any, want: str = "value", rule: str = "") -> None:
        """Decode, and encode what came of it; `value` is what the octets stand for, or what they are made from."""
        kind = "" if self.way in ("filter", "plain") else type_of(value)
        if self.way not in ("filter", "plain", "builtin", "typed") or (self.way in ("builtin", "typed") and not kind):
            return
        self._serial += 2
        number = self._serial
        if self.way == "filter":
            if octets:  # an empty line may be passed over
                self._say(Ask(number, "recode", octets, self.way, "", None, want, rule))
            return
        self._say(Ask(number, "decode", octets, self.way, kind, None, want, rule))
        if want in ("value", "either"):
            self._say(Ask(number + 1, "encode", octets, self.way, kind, Ref("value", number), "either", rule))

    def _say(self, ask: Ask) -> None:
        self.steps.append(Say(0, ask, (), self.when))


def _value(q: Questions, op: Op) -> None:
    *_, a, b = op.args
    _judged(q, encoded(values.legal(a, b)), values.legal(a, b))


def _wide(q: Questions, op: Op) -> None:
    """Another legal form of the same value."""
    _, _, style, a, b = op.args
    value = values.legal(a, b)
    _judged(q, styled(value, WIDEST if style % 3 == 0 else 2 + style), value)


def _number(q: Questions, op: Op) -> None:
    """Integers around every power of two, in every form."""
    _, _, style, a, b = op.args
    number = values.beside(a, b)
    q.vector(styled(number, 0 if style % 2 else WIDEST if style % 4 else 2 + style), number)


def _sizes(q: Questions, op: Op) -> None:
    """Contents of a size at a boundary."""
    _, _, style, a, b = op.args
    size = values.pick(_SIZES[:9] if style % 8 else _SIZES, a)
    which = b % 5
    value: Any
    if which == 0:
        value = "x" * (size - 3) + f"{style:03}"  # alike up to the end
    elif which == 1:
        value = b"\xff" * (size - 1) + bytes((style,))
    elif which == 2:
        value = (1,) * size if style % 2 else tuple(values.pick((True, None, 1, "a"), n) for n in range(size))
    elif which == 3:
        value = v.Map(tuple((f"{n}", n) for n in range(min(size, 300))))
    else:
        value = v.Ext(5, b"x" * size)
    _judged(q, encoded(value), value)


def _nested(q: Questions, op: Op) -> None:
    """As many containers around a value as everybody takes, and some fewer."""
    *_, a, b = op.args
    value = values.nested((16, 15, 12, 9)[a % 4], (0, 255, b)[b % 3])
    _judged(q, encoded(value), value)


def _judged(q: Questions, octets: bytes, value: Any) -> None:
    """A vector whose value may be one that can be refused."""
    odd = oddity(value, q.config).removeprefix("MP-FMT-")
    q.vector(octets, value, "either" if odd else "value", odd)


def _ext(q: Questions, op: Op) -> None:
    _, _, style, a, b = op.args
    size = values.pick(values.EXT_SIZES[:15], a)
    code = (b - 128) if b != 127 else 0  # every code but that of a timestamp
    value = _within(v.Ext(code, bytes(n % 251 for n in range(size))), op)
    q.vector(styled(value, style % 4 and 1 + style), value, "either", "08")


def _stamp(q: Questions, op: Op) -> None:
    *_, a, b = op.args
    value = _within(values.pick(values.TIMESTAMPS if a % 3 else values.BAD_TIMESTAMPS, b), op)
    q.vector(encoded(value), value, "either", "09")


def _within(value: v.Ext, op: Op) -> Any:
    """The value, or a container with it."""
    return (value, value, (1, value), v.Map((("k", value),)))[op.args[1] % 4]


def _never(q: Questions, op: Op) -> None:
    """The octet that is never used, in the place of a value."""
    a = op.args[3]
    q.vector(values.pick(NEVER, a), (1,) if q.way == "typed" else 1, "error", "03")


def _cut(q: Questions, op: Op) -> None:
    """A value that is cut off before its end."""
    _, c, style, a, b = op.args
    value = values.odd(a, b) if c % 4 == 3 else values.legal(a, b)
    octets = styled(value, style)
    end = c * len(octets) // 256 if style % 2 else len(octets) - 1
    q.vector(octets[:end], value, "error", "10")


def _text(q: Questions, op: Op) -> None:
    value = values.pick(values.BAD_TEXTS, op.args[3])
    q.vector(encoded(value), value, "either", "07")


def _keys(q: Questions, op: Op) -> None:
    value = values.odd(5 + op.args[3] % 2, op.args[4])
    q.vector(encoded(value), value, "free" if keys_collide(value) else "either", "12")


def _deep(q: Questions, op: Op) -> None:
    depth = values.pick((17, 100, 500, 2000, 10_000, 100_000, 65, 127), op.args[3])
    opener = values.pick((b"\x91", b"\x81\xa1k", b"\xdc\x00\x01"), op.args[4])
    if depth <= DEEP_AND_KNOWN:
        deep(q, depth, op.args[4] % 3 == 1)
    else:
        q.vector(opener * depth + b"\xc0", (1,), "free", "11")


DEEP_AND_KNOWN = 127
"""Containers within containers that are compared: they may be refused, and must not come back as something else."""


def deep(q: Questions, depth: int, maps: bool) -> None:
    """A question about so many containers within each other."""
    value: Any = None
    for _ in range(depth):
        value = v.Map((("k", value),)) if maps else (value,)
    q.vector(encoded(value), value, "either", "11")


def _liar(q: Questions, op: Op) -> None:
    *_, a, b = op.args
    octets = values.pick(_LIARS, a)
    q.vector((octets, b"\x91" + octets, octets + b"\x01")[b % 3], (1,), "error", "11")


def _again(q: Questions, op: Op) -> None:
    """One value a few times or many, at times with what is none in between: each answer must be the same."""
    _, c, style, a, b = op.args
    value = values.legal(a, b)
    for _ in range((2, 3, 5, 60)[style % 4 if style < 64 else 0]):
        _judged(q, encoded(value), value)
        if c % 2:
            q.vector((b"\xc1", b"\x92\x01", b"\xd9\x20x")[c // 2 % 3], (1,), "error", "03" if c // 2 % 3 == 0 else "10")


_OPS: Mapping[str, Callable[[Questions, Op], None]] = {
    "value": _value, "wide": _wide, "number": _number, "sizes": _sizes, "ext": _ext, "stamp": _stamp, "never": _never,
    "cut": _cut, "text": _text, "keys": _keys, "deep": _deep, "liar": _liar, "nested": _nested, "again": _again,
}  # fmt: skip


def vectors(*kinds: str, most: int = 12) -> SearchStrategy[Program]:
    """Vectors of some kinds, of all when none is named."""
    return programs({kind: EVERYTHING[kind] for kind in kinds} if kinds else EVERYTHING, head=1, most=most, least=4)


def interpret(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """The plan that a program means."""
    questions = Questions(config, hurry=hurry)
    for op in program.ops:
        _OPS[op.kind](questions, op)
    return Plan(tuple(questions.steps))
