"""Actions sent to a child without waiting for its status. No host may do that; a child that reads by line bears it."""

from __future__ import annotations

from hypothesis.strategies import SearchStrategy

from specs.kcl.bundle import last
from specs.kcl.states import Config
from specs.plan import Plan
from strategies.common import Program, programs
from strategies.kcl import texts
from strategies.kcl.writer import Writer, joined


def pipelines() -> SearchStrategy[Program]:
    """Batches without scripts: an answer could not be told from what follows it."""
    return programs({"batch": 1}, head=2, most=4)


def interpret(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """The plan that a program means; without `hurry` it waits for its turns."""
    w = Writer(config, hurry=hurry)
    w.initialize()
    for op in program.ops:
        w.batch([w.record(texts.data(op.args[1] + n)) for n in range(op.args[0] % 3)])
    if program.head[0] // 4 % 2:
        w.say(last(config))
    w.wait()  # a child whose STDIN has ended may give up what is open
    if program.head[0] % 2 and not program.head[0] // 4 % 2:
        w.when = "turn"
        w.final("ZOMBIE")
    w.eof()
    return joined(w.plan()) if program.head[0] // 2 % 2 else w.plan()
