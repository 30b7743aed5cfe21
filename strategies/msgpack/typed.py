"""Messages of a document for a codec: complete, short, long, with nil, with numbers that are too large.

Source: 004_4ca5b084f7ea0751.txt, message, default values.
"""

from __future__ import annotations

from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.msgpack import values as v
from specs.msgpack.format import WIDEST, encoded, styled
from specs.msgpack.idl.semantics import INTEGERS
from specs.msgpack.idl.wire import LAYOUTS
from specs.msgpack.lines import Ask
from specs.msgpack.states import Config
from specs.plan import Plan, Say
from strategies.common import Op, Program, programs
from strategies.msgpack.documents import Dice
from strategies.msgpack.serving import World, value_of
from strategies.msgpack.vectors import Questions


def messages() -> SearchStrategy[Program]:
    """Values and what is nearly one."""
    return programs({"decode": 5, "encode": 2, "short": 2, "nil": 3, "large": 3, "more": 2, "wide": 2}, head=3, most=6)


def interpret(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """The plan that a program means; one plain question to a codec that knows no documents."""
    questions = Questions(config, hurry=hurry)
    if not config.layout:
        questions.vector(encoded(5), 5, "value")
        return Plan(tuple(questions.steps))
    world = World(config, *program.head)
    idl = "message M {\n" + "".join(
        f"  {number}: {mod} {kind}{'?' * null} f{number}{' = ' * bool(default)}{default}\n"
        for number, mod, kind, null, default in world.fields
    ) + "}\n"  # fmt: skip
    steps = []
    for number, op in enumerate(program.ops):
        ask = _ask(world, op, idl, 1 + number)
        steps.append(Say(0, ask, (), "now" if hurry else "turn"))
    return Plan(tuple(steps))


def _ask(world: World, op: Op, idl: str, number: int) -> Ask:
    dice = Dice(*op.args)
    base = LAYOUTS[world.config.layout]
    size = max((each[0] - base + 1 for each in world.fields), default=0)
    out: list[Any] = [None] * size
    for field, _, kind, null, _ in world.fields:
        out[field - base] = None if null and dice.roll(3) == 2 else value_of(kind, dice)
    rule, style = "ENC-01", 0
    if op.kind == "encode":
        told = {f"f{f}": _told(out[f - base]) for f, *_ in world.fields}
        return Ask(number, "encode", b"", "idl", "M", {"idl": idl, "value": told}, "value", "ENC-01")
    at = dice.roll(max(1, len(world.fields)))
    if op.kind == "short":
        last = {each[0] - base: each[1] for each in world.fields}
        while out and last.get(len(out) - 1, "optional") == "optional" and dice.roll(4) != 3:
            out.pop()
        rule = "DEF-04" if "def" in world.config.extensions else "ENC-05"
        if op.args[0] % 4 == 3 and world.fields:
            out = out[: world.fields[at][0] - base]
    elif op.kind == "nil" and world.fields:
        out[world.fields[at][0] - base] = None
        rule = "ENC-04"
    elif op.kind == "large" and world.fields:
        kind = world.fields[at][2]
        if kind in INTEGERS:
            low, high = INTEGERS[kind]
            value = dice.pick((high + 1, low - 1, high, low))
            out[world.fields[at][0] - base] = min(max(value, -(1 << 63)), (1 << 64) - 1)
    elif op.kind == "more":
        known = {each[0] - base for each in world.fields}
        out = [dice.pick((5, "junk", (1,), None)) if n not in known else each for n, each in enumerate(out)]
        rule = "ENC-10"
        if dice.roll(2):
            out += [dice.pick((1, "more", (1, (2,)), v.Map((("k", 1),)), None)) for _ in range(1 + dice.roll(3))]
            rule = "ENC-06"
    elif op.kind == "wide":
        style, rule = WIDEST if dice.roll(2) else 2 + dice.roll(200), "ENC-08"
    octets = styled(tuple(out), style) if style else encoded(tuple(out))
    return Ask(number, "decode", octets, "idl", "M", {"idl": idl}, "value", rule)


def _told(value: Any) -> Any:
    """A value as tagged JSON data."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if abs(value) < 1 << 53 else str(value)
    if isinstance(value, v.Float):
        return value.number
    if isinstance(value, bytes):
        return {"$raw": value.hex()}
    if isinstance(value, tuple):
        return [_told(part) for part in value]
    if isinstance(value, v.Map):
        return {"$map": [[_told(key), _told(part)] for key, part in value.pairs]}
    return value
