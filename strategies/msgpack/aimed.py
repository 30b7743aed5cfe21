"""Conversations aimed at one family of requirements: a fault that needs certain ops finds them more often."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from hypothesis.strategies import SearchStrategy

from specs.msgpack.states import Config
from specs.plan import Plan
from strategies.common import Op, Program, programs
from strategies.msgpack import misuse
from strategies.msgpack.sessions import Aim
from strategies.msgpack.writer import CUTS, JOIN, WIDE, Writer

IDS = Aim({"small": 6, "fail": 1, "unknown": 1, "turn": 1}, wires=(0, 0, WIDE), slots=2, least=6, most=16)
ENCODINGS = Aim({"echo": 6, "small": 4, "add": 1, "fail": 1, "note": 1}, wires=(WIDE,), slots=1, most=6)
VALUES = Aim({"echo": 12, "number": 3, "long": 2}, slots=1, least=6)
ODD_VALUES = Aim({"odd": 6, "small": 1}, wires=(0, 0, 0, WIDE), slots=2, most=5)
FAILURES = Aim({"fail": 3, "unknown": 4, "arity": 3, "small": 2}, slots=2, most=8)
PIPELINES = Aim({"burst": 3, "sleep": 3, "small": 6, "fail": 1, "echo": 2, "sized": 2}, wires=(JOIN, JOIN, 0), slots=2)
CONNECTIONS = Aim({"small": 8, "sleep": 3, "fail": 1, "hang": 1, "left": 1}, wires=(0, JOIN), slots=3, most=14)
PIECES = Aim(
    {"small": 4, "echo": 4, "length": 3, "halves": 3, "note": 1, "burst": 1, "sized": 2},
    wires=(CUTS, CUTS, CUTS | JOIN),
    slots=2,
    most=6,
)
NOTIFICATIONS = Aim({"note": 6, "small": 3, "fail": 1, "sleep": 1}, wires=(0, 0, JOIN), slots=2, most=10)
_COUNTS = {"bump": 6, "echo": 2, "other": 1, "fail": 2}
COUNT_MS = 200
"""What a server gets to dispatch a notification in before it is asked how many it has counted."""


def misusing(*names: str) -> Callable[..., Plan]:
    """The interpretation of misuses limited to some."""
    unknown = [name for name in names if name not in misuse.MISUSES]
    if unknown:
        raise LookupError(f"no misuse is called {unknown[0]!r}")
    return partial(misuse.interpret, only=names)


def counts() -> SearchStrategy[Program]:
    """Notifications that are counted."""
    return programs(_COUNTS, head=1, most=6)


def counting(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """The count before and after some notifications; nothing where the server does not count. Few of these plans fit
    into a run, since each has to wait, so that even the plainest has a failure and several notifications."""
    w = Writer(config, hurry=hurry, slots=2)
    if not config.name("count"):
        w.call(w.line(), "echo", (w.fresh(),))
        return w.plan()
    w.call(w.line(), "count")
    w.call(w.line(), "fail", "no")
    w.wait()
    for op in program.ops:
        _counted(w, op)
    w.wait()
    w.wait(COUNT_MS)
    w.call(w.line(), "count")
    return w.plan()


def _counted(w: Writer, op: Op) -> None:
    line = w.line(op.args[0])
    if op.kind == "bump":
        for _ in range((8, 1, 2, 5, 12)[op.args[2] % 5]):
            w.notify(line, "bump", when="join" if op.args[1] % 2 else "now")
    elif op.kind == "echo":
        w.call(line, "echo", (w.fresh(),))
    elif op.kind == "fail":
        w.call(line, ("fail", "nothing")[op.args[1] % 2], "no")
    else:
        w.notify(line, ("nothing", "fail")[op.args[1] % 2], "no", when="now")
