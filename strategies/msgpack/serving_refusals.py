"""Calls behind one that a server refuses: what it had read of that one by then is none of theirs.

Source: 004_4ca5b084f7ea0751.txt, default values, messages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.msgpack.states import Config
from specs.plan import Control, Plan, Wait
from strategies.common import Op, Program, programs
from strategies.msgpack import serving
from strategies.msgpack.documents import Dice
from strategies.msgpack.serving import Caller

_WRONG: Sequence[tuple[Any, ...]] = (
    (None, "y", "gone"), ("x", None, "gone"), (1 << 40, "y", "gone"), ("x", (), "gone"), (None, None, "gone"), ("x",),
)  # fmt: skip
"""Arguments of which one is refused, before others or behind them."""
_RIGHT: Sequence[tuple[Any, ...]] = (("x", "y"), ("", "y"), ("x2", "y2"), ("x", "y", "z"))


def _arguments(c: Caller, op: Op) -> None:
    """A function whose arguments are refused, and again without what is optional; at times others between."""
    if not c.world.config.layout or c.world.config.echo_form < 0:
        c.reach(*_plain(c, op))
        return
    scope, version, _ = c.slot(*op.args)
    _, _, other, a, b = op.args
    name = c.form("pick", scope, version)
    if other % 4 != 3:
        slot = {"slot": f"{scope}/{version}/pick", "behaviour": c.world.echoing(2 - other % 2 * (other // 4 % 3))}
        c.steps += [Control(0, "assign", slot), Wait(0)]  # it comes another way than what is called
    if b & 1:
        c.call(name, "x", "y", "before")
    for n in range(1 + a // 8 % 2):
        c.call(name, *_WRONG[(a + n) % len(_WRONG)])
    if b & 2:
        c.reach(*_plain(c, op))
    for n in range(1 + b // 4 % 3):
        c.call(name, *_RIGHT[(b // 16 + n) % len(_RIGHT)])


def _message(c: Caller, op: Op) -> None:
    """A message with something in it that is refused, and one without what is optional."""
    shapes = c.world.shapes
    if not c.world.config.layout or c.world.config.echo_form < 0 or not shapes.fields:
        c.reach(*_plain(c, op))
        return
    scope, version, _ = c.slot(*op.args)
    *_, other, a, b = op.args
    dice = Dice(a, b, other)
    name = c.form("echo", scope, version)
    wrong = shapes.message(dice)
    member = shapes.fields[-1 - a % len(shapes.fields)]
    wrong[member.number - shapes.base] = wrong_for(member.kind.name)
    if b & 1:
        c.call(name, tuple(shapes.message(dice)))
    c.call(name, tuple(wrong))
    whole = shapes.message(dice)
    must = max((each.number - shapes.base + 1 for each in shapes.fields if each.mod != "optional"), default=0)
    c.call(name, tuple(whole[:must]))
    if b & 2:
        c.call(name, tuple(shapes.cut(whole, dice)))


def wrong_for(name: str) -> Any:
    """A value of no type that has this name."""
    return (("no",),) if name not in ("list", "M", "N") else "no"


def _plain(c: Caller, op: Op) -> tuple[str, str, int]:
    scope, version, function = c.slot(*op.args)
    return function, scope, version


_OPS: Mapping[str, Callable[[Caller, Op], None]] = {"refused arguments": _arguments, "refused message": _message}


def refusals() -> SearchStrategy[Program]:
    """Calls that are refused, and others behind them."""
    return programs({"refused arguments": 4, "refused message": 4, "arguments": 1, "echo": 1}, head=3, most=6)


def interpret(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """The plan that a program means."""
    return serving.interpret(program, config, hurry=hurry, more=_OPS)
