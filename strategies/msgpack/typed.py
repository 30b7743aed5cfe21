"""Messages of a document for a codec: complete, short, long, with nil, with numbers that are too large.

Source: 004_4ca5b084f7ea0751.txt, message, default values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.msgpack import values as v
from specs.msgpack.format import WIDEST, encoded, styled
from specs.msgpack.idl.semantics import INTEGERS
from specs.msgpack.lines import Ask
from specs.msgpack.states import Config
from specs.plan import Plan, Say
from strategies.common import Op, Program, programs
from strategies.msgpack import needed, sweeps
from strategies.msgpack.documents import Dice
from strategies.msgpack.serving import shapes_for
from strategies.msgpack.shapes import Kind, Shapes, bound, too_large

ASKED = {
    "decode": 4, "encode": 2, "short": 4, "nil": 3, "large": 3, "more": 2, "wide": 2, "widths": 1, "inside": 1,
    "missing": 1, "refused": 2,
}  # fmt: skip


def messages(*kinds: str, most: int = 6) -> SearchStrategy[Program]:
    """Values and what is nearly one: of some kinds, of all when none is named."""
    return programs({kind: ASKED[kind] for kind in kinds} if kinds else ASKED, head=3, most=most)


def interpret(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """The plan that a program means; rows of boundaries for a codec that knows no documents."""
    if not config.layout:
        return sweeps.vectors(program, config, hurry=hurry)
    shapes = shapes_for(config, Dice(*program.head))
    steps: list[Say] = []
    for op in program.ops:
        first = 1 + len(steps)
        asks = _SWEEPS[op.kind](shapes, op, first) if op.kind in _SWEEPS else [_ask(shapes, op, first)]
        steps += [Say(0, ask, (), "now" if hurry else "turn") for ask in asks]
    return Plan(tuple(steps))


def _widths(shapes: Shapes, op: Op, first: int) -> list[Ask]:
    """The ends of every type of integers and the numbers behind them: as fields, in a list, as keys and as values."""
    found: list[Ask] = []
    gap, empty = (None,) * (1 - shapes.base), v.Map(())
    for name, (low, high) in INTEGERS.items():
        fields = f"  1: {name} x\n  2: map<{name}, bool> y\n  3: list<{name}> z\n  4: map<string, {name}> w\n"
        idl = {"idl": f"message M {{\n{fields}}}\n"}
        for number in dict.fromkeys(bound(n) for n in (high, high + 1, low, low - 1)):
            for out in (
                (*gap, number, empty, (), empty),
                (*gap, 0, v.Map(((number, True),)), (), empty),
                (*gap, 0, empty, (number,), empty),
                (*gap, 0, empty, (), v.Map((("k", number),))),
            ):
                found.append(Ask(first + len(found), "decode", encoded(out), "idl", "M", idl, "value", "ENC-01"))
    return found


def _inside(shapes: Shapes, op: Op, first: int) -> list[Ask]:
    """A message within a message, in a list and in a map: short, with nil, with more than there is, with something in
    its gap, with a number that is too large."""
    found: list[Ask] = []
    gap: tuple[Any, ...] = (None,) * (1 - shapes.base)
    inner = "message N {\n  1: int a\n  3: int b\n}\n"
    idl = {"idl": inner + "message M {\n  1: N n\n  2: list<N> l\n  3: map<string, N> m\n}\n"}
    good = (*gap, 1, None, 2)
    for odd in ((1,), (), (1, None), (1, None, None), (1, None, 2, 9), (1, "junk", 2), (1, None, 1 << 31)):
        part = (*gap, *odd)
        for out in (
            (*gap, part, (), v.Map(())),
            (*gap, good, (good, part), v.Map(())),
            (*gap, good, (), v.Map((("k", part),))),
        ):
            found.append(Ask(first + len(found), "decode", encoded(out), "idl", "M", idl, "value", "ENC-01"))
    return found


def _missing(shapes: Shapes, op: Op, first: int) -> list[Ask]:
    """Messages with a field of each type, and without it."""
    which, rule = op.args[0], "DEF-04" if shapes.defaults else "ENC-05"
    idl = {"idl": needed.musts(which, defaults=shapes.defaults)}
    return [
        Ask(first + n, "decode", encoded(row.result), "idl", row.function.capitalize(), idl, "value", rule)
        for n, row in enumerate(needed.missing(which, op.args[1], shapes.base))
    ]


def _refused(shapes: Shapes, op: Op, first: int) -> list[Ask]:
    """Encodes with a number that is too large or too small, behind other fields or elements, which may be refused; and
    behind them others, in which nothing of those is left."""
    which, where, size, a, b = op.args
    dice = Dice(*op.args)
    name, (low, high) = sorted(INTEGERS.items())[which % len(INTEGERS)]
    idl = {"idl": f"message M {{\n  1: string a\n  2: {name} x\n  3: list<{name}> y\n  4: bool z\n}}\n"}
    wrong = shapes.told(
        low - 1 if bound(high + 1) == high or (a % 2 and low == bound(low - 1) + 1) else high + 1, Kind(name)
    )
    right = {"a": "a" * (3 + size % 40), "x": 5, "y": [1, shapes.told(high, Kind(name))], "z": bool(a & 2)}
    spoilt = {**right, "y": [7, wrong, 8]} if where % 2 else {**right, "x": wrong}
    found = [Ask(first + n, "encode", b"", "idl", "M", {**idl, "value": spoilt}, "free") for n in range(1 + b % 2)]
    for n in range(1 + b // 2 % 3):
        told: dict[str, Any] = {**idl, "value": {**right, "x": n}}
        if (b // 8 + n) % 3 == 2:
            told = {"idl": shapes.idl(), "value": shapes.told(tuple(shapes.message(dice)), Kind("M"))}
        found.append(Ask(first + len(found), "encode", b"", "idl", "M", told, "value", "ENC-01"))
    return found


_SWEEPS: Mapping[str, Callable[[Shapes, Op, int], list[Ask]]] = {
    "widths": _widths, "inside": _inside, "missing": _missing, "refused": _refused,
}  # fmt: skip


def _ask(shapes: Shapes, op: Op, number: int) -> Ask:
    dice, idl, base = Dice(*op.args), {"idl": shapes.idl()}, shapes.base
    out = shapes.message(dice)
    if op.kind == "encode":
        told = shapes.told(tuple(out), Kind("M"))
        return Ask(number, "encode", b"", "idl", "M", {**idl, "value": told}, "value", "ENC-01")
    known = {each.number - base: each for each in shapes.fields}
    rule, style = "ENC-01", 0
    at = dice.pick(sorted(known)) if known else 0
    if op.kind == "short":
        out = shapes.cut(out, dice)
        rule = "DEF-04" if shapes.defaults else "ENC-05"
        must = sorted(n for n, each in known.items() if each.mod != "optional")
        if must and op.args[0] % 3 == 2:
            out = shapes.shortened(out, dice) if op.args[1] % 2 else out[: dice.pick(must)]
    elif op.kind == "nil" and known:
        out[at] = shapes.changed(out[at], known[at].kind, dice, lambda kind: None)
        rule = "ENC-04"
    elif op.kind == "large" and known:
        at = dice.pick([n for n, each in sorted(known.items()) if each.kind.name in INTEGERS] or [at])
        out[at] = shapes.changed(out[at], known[at].kind, dice, too_large(dice))
    elif op.kind == "more":
        out = shapes.filled(out, dice)
        rule = "ENC-10"
        if dice.roll(2):
            out = shapes.longer(out, dice)
            rule = "ENC-06"
    elif op.kind == "wide":
        style, rule = WIDEST if dice.roll(2) else 2 + dice.roll(200), "ENC-08"
    octets = styled(tuple(out), style) if style else encoded(tuple(out))
    return Ask(number, "decode", octets, "idl", "M", idl, "value", rule)
