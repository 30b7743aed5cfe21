"""Big batches: ten thousand records, and one line of megabytes."""

from __future__ import annotations

from hypothesis.strategies import SearchStrategy

from specs.kcl.states import Config
from specs.plan import Plan
from strategies.common import Program, programs
from strategies.kcl.writer import Writer

SIZES = ((200, (1000, 20)), (236, (1, 1 << 20)), (252, (10_000, 3)), (255, (1, 5 << 20)), (256, (10, 5 << 20)))
"""Up to which number of an op which size is meant: so many records, of so many octets each."""


def batches() -> SearchStrategy[Program]:
    """One or two of them in a conversation."""
    return programs({"big": 1}, head=1, most=1)


def interpret(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """The plan that a program means."""
    w = Writer(config)
    w.initialize()
    w.features.add("big")
    for op in program.ops:
        count, size = next(size for limit, size in SIZES if op.args[0] < limit)
        octets = bytes((op.args[1] + n) % 256 for n in range(251))
        w.batch([w.record((octets * (size // 251 + 1))[:size]) for _ in range(count)])
        w.answers()
    w.final("ZOMBIE")
    w.eof()
    return w.plan()
