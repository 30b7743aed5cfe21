"""A state machine that is executed: who may do what in each phase, where it leads, and which requirement forbids it.

`{phase: {action: cell}}`. A cell is the phase after the action, a tuple of phases of which the effect of the action
chooses one, `never(requirement)`, or `unreachable(reason)`. Each phase shows every action: a missing cell is an error
when the table is made. The model moves by `move` and by nothing else, and the diagram is drawn from the same cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Phase(Enum):
    """Base class of the phases of a machine. Members are told apart by identity, so their hash is that of objects: the
    hash of `Enum` is written in Python, and a table is read at every event."""

    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True)
class Never:
    """The action breaks the first of `requirements` in this phase, and by the same action the others.

    `why` completes the sentence that the suite prints. `given`: the prohibition is credited only where this holds for
    the case, because the action could not have happened otherwise.
    """

    requirements: tuple[str, ...]
    why: str = ""
    given: Callable[[Any], bool] | None = None


@dataclass(frozen=True, slots=True)
class Unreachable:
    """The model never asks for this cell, for `reason`. Asking for it is an error of the model, never a verdict."""

    reason: str


def never(requirements: str, why: str = "", *, given: Callable[[Any], bool] | None = None) -> Never:
    """A forbidden cell. `requirements` are full ids, separated by blanks: the one to blame, then those beside it."""
    return Never(tuple(requirements.split()), why, given)


def unreachable(reason: str) -> Unreachable:
    """A cell that cannot be asked for; `reason` is a sentence."""
    return Unreachable(reason)


Cell = Phase | tuple[Phase, ...] | Never | Unreachable


class Machine:
    """`actors` maps each action to the role that does it; `table[phase][action]` is a cell.

    The first phase is where a conversation begins. Raises ValueError for a missing, superfluous or malformed cell.
    """

    def __init__(self, phases: type[Phase], actors: Mapping[str, str], table: Mapping[Any, Mapping[str, Cell]]) -> None:
        for phase in phases:
            row = table.get(phase, {})
            wrong = actors.keys() ^ row.keys()
            if wrong:
                raise ValueError(f"{phase.name}: no cell, or one too many, for {', '.join(sorted(wrong))}")
            for action, cell in row.items():
                if not isinstance(cell, (phases, tuple, Never, Unreachable)):
                    raise ValueError(f"{phase.name}, {action}: {cell!r} is no cell")
        self.phases, self.actors, self._table = phases, actors, table
        self._kept: dict[tuple[str, Any], tuple[tuple[str, Callable[[Any], bool] | None], ...]] = {}
        self._always: dict[tuple[str, Any], tuple[str, ...]] = {}
        self.asked: set[tuple[Any, str]] | None = None
        """Cells that were asked for, when a test has put a set here; see `watch`."""

    def watch(self) -> set[tuple[Any, str]]:
        """From now on, the set of (phase, action) cells that were asked for. For tests."""
        self.asked = set()
        return self.asked

    def at(self, phase: Any, action: str) -> Any:
        """The cell. Raises LookupError for one that the table calls unreachable."""
        cell = self._table[phase][action]
        if self.asked is not None:
            self.asked.add((phase, action))
        if isinstance(cell, Unreachable):
            raise LookupError(f"{action} in {phase.name} was reached, although {cell.reason}")
        return cell

    def move(self, phase: Any, action: str, to: Any = None) -> Any:
        """The phase after an action that is allowed. `to` chooses among several. Raises LookupError when the table
        forbids the action, or does not offer `to`: an error of the model."""
        cell = self.at(phase, action)
        if isinstance(cell, tuple):
            if to in cell:
                return to
            raise LookupError(f"{action} in {phase.name} leads to {[c.name for c in cell]}, not to {to}")
        if isinstance(cell, Never):
            raise LookupError(f"{action} in {phase.name} is forbidden by {cell.requirements}")
        if to is not None and to is not cell:
            raise LookupError(f"{action} in {phase.name} leads to {cell.name}, not to {to}")
        return cell

    def forbids(self, by: str) -> Iterator[tuple[Any, str, Never]]:
        """Every (phase, action, cell) in which the role `by` is forbidden something."""
        for phase, row in self._table.items():
            for action, cell in row.items():
                if isinstance(cell, Never) and self.actors[action] == by:
                    yield phase, action, cell

    def kept(self, by: str, phase: Any, case: Any) -> tuple[str, ...]:
        """Requirements that forbid `by` something in `phase`: what it shows to have kept by having been there."""
        always = self._always.get((by, phase))
        if always is not None:
            return always
        known = self._kept.get((by, phase))
        if known is None:
            cells = [cell for there, _, cell in self.forbids(by) if there is phase]
            pairs = dict.fromkeys((name, cell.given) for cell in cells for name in cell.requirements)
            known = self._kept[by, phase] = tuple(pairs)
            if all(given is None for _, given in known):
                always = self._always[by, phase] = tuple(dict.fromkeys(name for name, _ in known))
                return always
        return tuple(dict.fromkeys(name for name, given in known if given is None or given(case)))

    def unreachable_cells(self) -> Iterator[tuple[Any, str, str]]:
        """Every (phase, action, reason) that the table calls unreachable."""
        for phase, row in self._table.items():
            for action, cell in row.items():
                if isinstance(cell, Unreachable):
                    yield phase, action, cell.reason

    def cells(self) -> Iterator[tuple[Any, str, Cell]]:
        """Every (phase, action, cell)."""
        for phase, row in self._table.items():
            for action, cell in row.items():
                yield phase, action, cell

    def _said(self, action: str) -> str:
        by = self.actors[action]
        return action if action.startswith(by) else f"{by} {action}"

    def diagram(self) -> str:
        """The machine as a mermaid state diagram."""
        arrows: dict[tuple[str, str], list[str]] = {}
        for phase, action, cell in self.cells():
            for after in _targets(cell):
                if after is not phase:
                    arrows.setdefault((phase.name, after.name), []).append(self._said(action))
        first, last = next(iter(self.phases)), list(self.phases)[-1]
        lines = ["stateDiagram-v2", f"    [*] --> {first.name}"]
        lines += [f"    {a} --> {b}: {' / '.join(actions)}" for (a, b), actions in arrows.items()]
        return "\n".join([*lines, f"    {last.name} --> [*]"])


def _targets(cell: Cell) -> Sequence[Phase]:
    if isinstance(cell, tuple):
        return cell
    return () if isinstance(cell, (Never, Unreachable)) else (cell,)
