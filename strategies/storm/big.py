"""Big tuples."""

from __future__ import annotations

from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan
from specs.storm.states import Config
from strategies.common import Program, programs
from strategies.storm.writer import Writer

SIZES = ((160, 1 << 16), (224, 1 << 20), (252, 4 << 20), (256, 16 << 20))
"""Up to which number of an op how many characters are meant."""


def tuples() -> SearchStrategy[Program]:
    """One or two of them in a conversation."""
    return programs({"big": 1}, head=1, most=1)


def interpret(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """The plan that a program means."""
    w = Writer(config)
    w.setup()
    for op in program.ops:
        size = next(size for limit, size in SIZES if op.args[0] < limit)
        kinds: tuple[Any, ...] = (["word"] * (size // 8), "x" * size, "x" + "日" * (size // 3))
        w.tuple([kinds[op.args[1] % 3]])
        w.lists()
    w.wait()
    w.eof()
    return w.plan()
