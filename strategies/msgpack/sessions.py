"""Legal conversations with a server: ops and what they mean. Head numbers: wire, and how the plan ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.msgpack import values as v
from specs.msgpack.frames import encode, request
from specs.msgpack.states import Config
from specs.plan import Plan
from strategies.common import Op, Program, programs
from strategies.msgpack import values
from strategies.msgpack.writer import BUFFERS, CUTS, JOIN, WIDE, Writer

HEAD = 2
_WIRES = (0, 0, 0, CUTS, WIDE, JOIN, WIDE | JOIN, CUTS | WIDE | JOIN)
UNKNOWN: Sequence[str] = ("nothing", "", "echoo", "é", "a:b:0", "x" * 300, "\0", "Nothing", "x" * 70_000)
LARGEST = 60_000
"""Octets of a text that every server takes, whatever stands around it."""
ALIKE: Sequence[str] = ("Echo", "echo ", "ech", "ECHO", " echo", "echo()", "add ", "Add", "echo\0")

EVERYTHING: Mapping[str, int] = {
    "echo": 12, "small": 3, "odd": 3, "add": 3, "fail": 3, "unknown": 3, "sleep": 2, "note": 4, "arity": 2, "burst": 2,
    "halves": 2, "hang": 1, "turn": 2, "sized": 1, "number": 1, "left": 1, "length": 1, "maps": 1,
}  # fmt: skip


def sessions(kinds: Mapping[str, int] = EVERYTHING, *, most: int = 16, least: int = 6) -> SearchStrategy[Program]:
    """Conversations with the given weights of ops."""
    return programs(kinds, head=HEAD, most=most, least=least)


def interpret(
    program: Program, config: Config, *, hurry: bool = False, wires: Sequence[int] = _WIRES, slots: int = 3
) -> Plan:
    """The plan that a program means; total and pure. `wires` are the sets of ways of writing among which the head
    chooses, `slots` the connections."""
    writer = Writer(config, hurry=hurry, wire=wires[program.head[0] % len(wires)], slots=slots)
    play(writer, program)
    return writer.plan()


def play(w: Writer, program: Program) -> None:
    """Write the ops of a program; at the end every connection makes one more call."""
    for op in program.ops:
        _OPS[op.kind](w, op)
    if program.head[1] % 2:
        for slot in sorted(w.lines):
            small(w, slot)


def small(w: Writer, slot: int = 0, when: str = "") -> None:
    """A call whose answer is that of no other."""
    w.call(w.line(slot), "echo", (w.fresh(),), when=when)


def _echo(w: Writer, op: Op) -> None:
    slot, identity, style, a, b = op.args
    value: Any = values.legal(a, b)
    if a & 64:
        value = (w.fresh(), value)
    w.call(w.line(slot), "echo", value, identity=identity, style=style)


def _small(w: Writer, op: Op) -> None:
    slot, identity, style, a, _ = op.args
    value: Any = 1000 + w.fresh() if a & 1 else (w.fresh(),)
    if a % 8 == 6:  # alike up to the end
        value = f"{'x' * (60, 300)[a // 8 % 2]}{w.fresh():04}"
    w.call(w.line(slot), "echo", value, identity=identity, style=style)


def _length(w: Writer, op: Op) -> None:
    """A text or a binary whose length is cut off from what stands before it, from its own octets, and from what it is
    the length of."""
    slot, identity, _, a, b = op.args
    size = (128, 129, 200, 255, 256, 300, 32_768, LARGEST)[a % 8]
    value: Any = b"\x81" * size if b % 2 and not w.config.old_raw else "\x7f" * size
    length = range(-size - (1 if size < 256 else 2), 1 - size)
    w.call(w.line(slot), "echo", value, identity=identity, cuts=length)


def _maps(w: Writer, op: Op) -> None:
    """Maps that have as many pairs, and some keys in common: the first ones, or the last ones."""
    slot, identity, style, a, b = op.args
    count, same = 1 + a % 4, a // 4 % 4
    for turn in (0, 1, 0) if b % 2 else (0, 1):
        names = [f"k{n}" if n < same or not turn else f"other{n}" for n in range(count)]
        pairs = tuple((name, w.fresh()) for name in names)
        value: Any = v.Map(pairs if b % 4 < 2 else pairs[::-1])
        w.call(w.line(slot), "echo", value if b % 8 < 4 else (value, 1), identity=identity, style=style)
        identity += 1


def _sized(w: Writer, op: Op) -> None:
    """A request that just fills a buffer, or some of them, and one behind it."""
    slot, identity, style, a, b = op.args
    line = w.line(slot)
    if not w.hurry:
        w.wait()
    size = min(values.pick(BUFFERS, a) * (1, 1, 2, 3)[b % 4] + (0, 1, -1)[b // 4 % 3], LARGEST)
    number, echo, text = w.identity(line, identity), w.config.name("echo"), f"{w.fresh():04}"
    around = len(encode(request(number, echo, "x" * size), None)) - size
    w.say(line, request(number, echo, "x" * (size - around - len(text)) + text), style)
    w.call(line, "echo", (w.fresh(),), when="now")


def _number(w: Writer, op: Op) -> None:
    """An integer beside a power of two, in any form."""
    slot, identity, style, a, b = op.args
    w.call(w.line(slot), "echo", values.beside(a, b), identity=identity, style=style)


def _long(w: Writer, op: Op) -> None:
    """A container with as many elements as a boundary has, at times with as many as every server takes."""
    slot, identity, style, a, b = op.args
    size = values.pick((256, 255, 257, 15, 16, 17, 1000, 65_536, 65_535, 256, 1000), a)
    value: Any = v.Map(tuple((f"{n}", n) for n in range(min(size, 1000)))) if b % 3 == 2 else (1,) * size
    w.call(w.line(slot), "echo", value, identity=identity, style=style)


def _odd(w: Writer, op: Op) -> None:
    slot, identity, style, a, b = op.args
    value: Any = values.odd(a, b)
    if identity & 64:
        value = ((1, value), v.Map((("k", value),)))[style % 2]
    w.call(w.line(slot), "echo", value, identity=identity, style=style)
    if not w.hurry:
        w.wait()
    w.hang(slot)  # it may be refused, and the connection with it


def _add(w: Writer, op: Op) -> None:
    slot, identity, style, a, b = op.args
    some = values.INTEGERS[:22]
    one, other = values.pick(some, a) % (1 << 50), values.pick(some, b) % (1 << 50)
    signs = (-1 if a // len(some) % 2 else 1, 1 if b // len(some) % 2 else -1)
    w.call(w.line(slot), "add", signs[0] * one, signs[1] * other, identity=identity, style=style)


def _fail(w: Writer, op: Op) -> None:
    slot, identity, style, a, b = op.args
    w.call(
        w.line(slot), "fail", ("no", "x" * 40, "é", "0", "false", "nil", "", "")[a % 8], identity=identity, style=style
    )
    for _ in range((0, 0, 0, 0, 0, 0, 1, 30)[b % 8]):
        w.call(w.line(slot), "fail", "again", when="now")


def _unknown(w: Writer, op: Op) -> None:
    slot, identity, style, a, b = op.args
    params = (w.fresh(), "x")[: (1, 1, 1, 0, 1, 2)[b % 6]]
    names = ALIKE if a % 2 else UNKNOWN[:-1]
    w.call(w.line(slot), values.pick(names, a // 2), *params, identity=identity, style=style)


def _sleep(w: Writer, op: Op) -> None:
    """A slow call, or several at once, and quick ones behind it."""
    slot, identity, style, a, b = op.args
    w.call(w.line(slot), "sleep", (1, 5, 20, 40)[a % 4], identity=identity, style=style)
    for n in range((0, 0, 0, 1, 4, 9)[a // 4 % 6]):
        w.call(w.line(slot), "sleep", (20, 5, 10)[n % 3], when="now")
    for _ in range(b % 3):
        w.call(w.line(slot), "echo", (w.fresh(),), when="now")


def _note(w: Writer, op: Op) -> None:
    slot, which, style, a, b = op.args
    line = w.line(slot)
    method = ("bump", "echo", "fail", "nothing", "add", "sleep", "")[which % 7]
    params: tuple[Any, ...] = {"echo": (values.legal(a, b),), "fail": ("no",), "add": (1, 2), "sleep": (5,)}.get(
        method, ()
    )
    if which & 128:
        params = (*params, 1)
    times = (1, 1, 1, 5)[b // 16 % 4]
    if times > 1:
        w.call(line, "sleep", 5)  # something is open, so that nothing may end the connection
    for _ in range(times):
        w.notify(line, method, *params, style=style, when="now" if times > 1 else "")
    if which & 64:
        small(w, slot, "" if style & 1 else "now")


def _arity(w: Writer, op: Op) -> None:
    slot, identity, style, a, b = op.args
    method = ("echo", "add", "sleep", "fail")[a % 4]
    some: Sequence[tuple[Any, ...]] = ((), (1, 2, 3), ("a", 1), (None,), ((1,), None), tuple(range(16)), (1,) * 300)
    params = values.pick(some, b)
    if method == "echo" and len(params) == 1:
        params = ()
    w.call(w.line(slot), method, *params, identity=identity, style=style)


def _burst(w: Writer, op: Op) -> None:
    """Many requests in one write."""
    slot, _, _, a, _ = op.args
    line = w.line(slot)
    count = (2, 3, 5, 8, 20, 60, 2, 3, 5, 8, 20, 60, 2, 3, 130, 300)[a % 16]
    for n in range(count):
        w.call(line, "echo", (w.fresh(),), when="join" if n < count - 1 else "now")


def _halves(w: Writer, op: Op) -> None:
    """A request that is cut in two, with something else between its halves."""
    slot, identity, _, a, b = op.args
    line = w.line(slot)
    if not w.hurry:
        w.wait()
    if b & 8:  # the first of them is read together with what stands before it
        w.call(line, "echo", (w.fresh(),), when="join")
    rest = w.begin(line, a, identity, "now" if b & 8 else "")
    if b % 2:
        small(w, slot + 1)
    elif b % 4:
        w.wait(3)
    w.blurt(line, rest)


def _hang(w: Writer, op: Op) -> None:
    slot, _, _, a, b = op.args
    if a % 2:
        w.call(w.line(slot), "echo", (w.fresh(),))
    w.hang(slot, "reset" if b % 4 == 3 else "close")


def _left(w: Writer, op: Op) -> None:
    """Two connections with the same id open, of which one is closed."""
    slot, _, _, a, b = op.args
    for ms, line in ((5, w.line(slot)), (20, w.line(slot + 1))):
        w.call(line, "sleep", ms, identity=2 + 4 * a, when="now")
    w.hang(slot, "reset" if b % 4 == 3 else "close")


def _turn(w: Writer, op: Op) -> None:
    w.wait()


_OPS: Mapping[str, Callable[[Writer, Op], None]] = {
    "echo": _echo, "small": _small, "odd": _odd, "add": _add, "fail": _fail, "unknown": _unknown, "sleep": _sleep,
    "note": _note, "arity": _arity, "burst": _burst, "halves": _halves, "hang": _hang, "turn": _turn, "sized": _sized,
    "number": _number, "long": _long, "left": _left, "length": _length, "maps": _maps,
}  # fmt: skip


@dataclass(frozen=True)
class Aim:
    """One family of requirements: weights of ops, and the bounds of `interpret`."""

    kinds: Mapping[str, int]
    wires: Sequence[int] = (0,)
    slots: int = 3
    least: int = 4
    most: int = 12

    @property
    def programs(self) -> SearchStrategy[Program]:
        """The programs of this family."""
        return sessions(self.kinds, most=self.most, least=self.least)

    @property
    def interpret(self) -> Callable[..., Plan]:
        """Their meaning."""
        return partial(interpret, wires=self.wires, slots=self.slots)
