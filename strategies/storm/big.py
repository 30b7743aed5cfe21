"""Big tuples, and emits that are as big; some with heartbeats right behind: a sync must not come in the middle of
another message."""

from __future__ import annotations

from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan, Wait
from specs.storm.states import Config
from strategies.common import Program, programs
from strategies.storm.writer import Writer

SIZES = ((160, 1 << 16), (224, 1 << 20), (252, 4 << 20), (256, 16 << 20))
"""Up to which number of an op how many characters are meant."""
EMITTED = (1 << 18, 1 << 20)
"""The fewest and the most characters that are emitted: so many that a bolt is at it for a while."""


def tuples() -> SearchStrategy[Program]:
    """One or two of them in a conversation."""
    return programs({"big": 1}, head=1, most=1)


def interpret(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """The plan that a program means."""
    w = Writer(config)
    w.setup()
    for op in program.ops:
        limit, kind, emits, beats, how = op.args
        size = next(size for most, size in SIZES if limit < most)
        size = min(max(size, EMITTED[0]), EMITTED[1]) if emits % 2 == 0 else size
        kinds: tuple[Any, ...] = (["word"] * (size // 8), "x" * size, "x" + "日" * (size // 3))
        value = kinds[kind % 3]
        values = ["wireproof", [*_emits(w, value, emits // 2), {"op": "ack"}]] if emits % 2 == 0 else [value]
        if beats % 4 != 2:
            _with_heartbeats(w, values, how)
        else:
            w.tuple(values)
        w.lists()
    w.wait()
    w.eof()
    return w.plan()


def _emits(w: Writer, value: Any, how: int) -> list[dict[str, Any]]:
    """What user code emits: one tuple, or one behind a small one; or two, of which nobody sends the task ids, since
    they go to a task of their own."""
    big: dict[str, Any] = {"op": "emit", "tuple": [w.tag(), value], "anchor": how % 2 == 0}
    if how % 3 == 0:
        return [big]
    if how % 3 == 1:
        return [{"op": "emit", "tuple": [w.tag()]}, big]
    return [{**big, "task": 4}, {"op": "emit", "tuple": [w.tag(), value], "task": 9}]


def _with_heartbeats(w: Writer, values: list[Any], how: int) -> None:
    """A tuple and heartbeats behind it: the first in the same write, or each a moment later, in which the bolt may have
    begun to write."""
    w.features.add("together")
    when, w.when = w.when, "join" if how % 4 == 1 else "now"
    w.tuple(values)
    w.when = "now"
    for n in range(1 + how // 4 % 4):
        if how % 4 != 1:
            w.steps.append(Wait(1))
        w.heartbeat(how + n)
    w.when = when
