"""What a conversation shows that may be new: its features, as text that is the same in every run.

- `cell MACHINE PHASE action`: the model asked a machine for this cell.
- `then MACHINE PHASE action > PHASE action`: two cells of one machine in a row.
- `held ID` and `held ID by FREEDOM`: a requirement was kept, and kept where the text had to be read generously.
- `fault FINGERPRINT`: something was blamed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

from specs.machine import Machine
from specs.model import Judgement

Cell = tuple[Any, str]


class Trail(set[Cell]):
    """What `Machine.asked` is set to: it keeps the cells in the order in which they were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[Cell] = []

    def add(self, cell: Cell) -> None:
        """Take down a cell, unless it is the one that was asked for last: a model may look twice."""
        if not self.cells or self.cells[-1] != cell:
            self.cells.append(cell)


@contextmanager
def watching(machines: Mapping[str, Machine]) -> Iterator[Mapping[str, Trail]]:
    """The trails of these machines while the block runs, by the names that the protocol gives them. Not for threads:
    a machine is shared by all conversations of a process."""
    trails = {name: Trail() for name in machines}
    for name, machine in machines.items():
        machine.asked = trails[name]
    try:
        yield trails
    finally:
        for machine in machines.values():
            machine.asked = None


def features(judgement: Judgement, trails: Mapping[str, Trail]) -> set[str]:
    """What one conversation showed; its trails are those of this conversation alone."""
    found: set[str] = set()
    for name, trail in trails.items():
        told = [f"{phase.name} {action}" for phase, action in trail.cells]
        found.update(f"cell {name} {cell}" for cell in told)
        found.update(f"then {name} {first} > {second}" for first, second in pairwise(told))
    found.update(f"held {name}" for name in judgement.covered)
    found.update(f"held {name} by {freedom}" for name in judgement.covered for freedom in judgement.leaned)
    found.update(f"fault {blame.breach.fingerprint}" for blame in judgement.faults)
    return found
