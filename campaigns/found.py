"""What a task of a campaign is told, and what it answers: rows that Spark carries and the warehouse keeps."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from reports.campaigns import Found
from strategies.common import Op, Program

__all__ = ["Found", "Known", "Order", "program_of", "written"]


@dataclass(frozen=True, slots=True)
class Order:
    """A task: play `plans` plans with `source`; `seed` makes what it draws its own. `fresh` is the share of plans that
    are drawn although others could be bred from what is known. It is given up after `seconds`. For seeded faults:
    `plans` of them from the one with the number `first`, each hunted for `seconds`."""

    campaign: str
    wave: int
    task: int
    source: str
    seed: int
    plans: int
    seconds: float
    fresh: float = 0.5
    first: int = 0


@dataclass(frozen=True, slots=True)
class Known:
    """What a campaign knows when a wave begins, of one source: of each feature the size of the shortest program that
    shows it, the programs of each property, and the faults behind which judging goes on (`Setting.set_aside`)."""

    sizes: Mapping[str, int] = field(default_factory=dict)
    programs: Mapping[str, Sequence[Program]] = field(default_factory=dict)
    aside: frozenset[str] = frozenset()


def written(program: Program) -> str:
    """A program as text, the same for equal ones."""
    return json.dumps([program.head, [[op.kind, *op.args] for op in program.ops]], separators=(",", ":"))


def program_of(text: str) -> Program:
    """The inverse. Raises ValueError when the text is something else."""
    head, ops = json.loads(text)
    return Program(tuple(head), tuple(Op(kind, tuple(args)) for kind, *args in ops))
