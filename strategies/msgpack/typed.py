"""Messages of a document for a codec: complete, short, long, with nil, with numbers that are too large.

Source: 004_4ca5b084f7ea0751.txt, message, default values.
"""

from __future__ import annotations

from hypothesis.strategies import SearchStrategy

from specs.msgpack.format import WIDEST, encoded, styled
from specs.msgpack.idl.semantics import INTEGERS
from specs.msgpack.lines import Ask
from specs.msgpack.states import Config
from specs.plan import Plan, Say
from strategies.common import Op, Program, programs
from strategies.msgpack import sweeps
from strategies.msgpack.documents import Dice
from strategies.msgpack.serving import shapes_for
from strategies.msgpack.shapes import Kind, Shapes, too_large


def messages() -> SearchStrategy[Program]:
    """Values and what is nearly one."""
    return programs({"decode": 4, "encode": 2, "short": 4, "nil": 3, "large": 3, "more": 2, "wide": 2}, head=3, most=6)


def interpret(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """The plan that a program means; rows of boundaries for a codec that knows no documents."""
    if not config.layout:
        return sweeps.vectors(program, config, hurry=hurry)
    shapes = shapes_for(config, Dice(*program.head))
    steps = []
    for number, op in enumerate(program.ops):
        steps.append(Say(0, _ask(shapes, op, 1 + number), (), "now" if hurry else "turn"))
    return Plan(tuple(steps))


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
            out = out[: dice.pick(must)]
    elif op.kind == "nil" and known:
        out[at] = shapes.changed(out[at], known[at].kind, dice, lambda kind: None)
        rule = "ENC-04"
    elif op.kind == "large" and known:
        at = dice.pick([n for n, each in sorted(known.items()) if each.kind.name in INTEGERS] or [at])
        out[at] = shapes.changed(out[at], known[at].kind, dice, too_large(dice))
    elif op.kind == "more":
        out = [dice.pick((5, "junk", (1,), None)) if n not in known else each for n, each in enumerate(out)]
        rule = "ENC-10"
        if dice.roll(2):
            out = shapes.longer(out, dice)
            rule = "ENC-06"
    elif op.kind == "wide":
        style, rule = WIDEST if dice.roll(2) else 2 + dice.roll(200), "ENC-08"
    octets = styled(tuple(out), style) if style else encoded(tuple(out))
    return Ask(number, "decode", octets, "idl", "M", idl, "value", rule)
