"""One requirement, one rule: what credits a requirement and what can blame it is one declaration.

A `Rulebook` holds everything that one role is held to. There are three kinds of obligation, and nothing else credits
or blames:

- a **form** is a predicate on what an action carries. Where it applies is declared (`on`, `when`, `during`, `if_`,
  `unless`); its body answers "" or why it is broken. A form that applied and was not broken is credited.
- a **duty** is what the role must still say or do. It is computed from the state, never recorded. From one declaration
  follow whose turn it is, what a final silence breaks, what an end breaks, and what is credited when the duty is met.
- a **prohibition** is a cell `never(...)` of the machine. It is credited when the role acts otherwise, having been in
  that phase.

A **symptom** is a form whose requirement is found by ranked causes (specs/causes.py). A **freedom** is what the text
allows where a form would otherwise be broken: it has an id of its own, and a verdict that leaned on it says so.
What the text only permits is **tried**, never held. **Effects** say what an action does to the state, whether or not
something was broken, so that judging can go on behind a fault that is known.

Order is precedence: the forms of a topic are asked as they are written, then the cell of the machine. The first MUST
that is broken ends the asking. A broken SHOULD is a missed recommendation, and the asking goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from specs.duties import Duties, Parts, Phases
from specs.machine import Machine, Never
from specs.model import ANYTHING, Allow, Breach, Outcome
from specs.obligations import Broken, Due, Duty, Finding, Freedom, Predicate, Rule
from specs.requirement import Requirement

__all__ = ["Broken", "Due", "Duty", "Finding", "Freedom", "Predicate", "Rule", "Rulebook"]

CREDITS = 4096
"""Sets of credits that a rulebook keeps at most."""


class Rulebook(Duties):
    """The rules of one role.

    `requirements` says in which profiles a rule holds, and at which level. A case, which the forms look at, has the
    attributes `profile` (a str, "" where every rule holds), `phase` and `during` (the open action, or ""); for `judge`
    also `left`, the phases that were left since the role acted last. `phases`, `parts`: see `specs.duties.Duties`.
    """

    def __init__(
        self,
        by: str,
        requirements: Mapping[str, Requirement],
        machine: Machine | None = None,
        phases: Phases | None = None,
        parts: Parts | None = None,
    ) -> None:
        super().__init__(by, requirements, phases, parts)
        self.machine = machine
        self._effects: dict[str, Callable[[Any], Any]] = {}
        self._credits: dict[tuple[str, ...], tuple[str, ...]] = {}

    def effect(self, *actions: str) -> Callable[[Predicate], Predicate]:
        """Register what the state is after an action, whether or not something was broken."""

        def registered(after: Predicate) -> Predicate:
            self._effects.update(dict.fromkeys(actions, after))
            return after

        return registered

    def judge(self, case: Any, action: str, first: str = "", *, credit: bool = True) -> Outcome:
        """What an action of the role means: its forms, the machine, the duties that it meets, and its effect.

        An action that the machine does not know leaves the phase as it is. `first` is a topic that is asked before that
        of the action: what holds for actions of every kind. Without
        `credit` nothing is covered: for a role that the tester plays.
        """
        assert self.machine is not None
        cell = self.machine.at(case.phase, action) if action in self.machine.actors else case.phase
        found = self.ask(first or action, case)
        if first and found.breach is None and not found.unjudged:
            found = found.then(self.ask(action, case))
        if found.unjudged:
            return Allow(ANYTHING, found.covers, found.lapses, found.leans)
        breach, goes_on = found.breach, found.goes_on
        if breach is None and isinstance(cell, Never) and not found.settled:
            breach = self.forbidden(case, action, cell)
        if breach is not None:
            behind = None if isinstance(cell, Never) else self._after(case, action, cell)
            return self.broken(breach, ANYTHING if behind is None or not goes_on else behind, behind)
        if not credit:
            return Allow(self._after(case, action, cell), (), found.lapses)
        covers = found.covers + self.met(case, action)
        for phase in (case.phase, *case.left):
            covers += self.machine.kept(self.by, phase, case)
        return Allow(self._after(case, action, cell), self._once(covers), found.lapses, found.leans)

    def beside(self, case: Any, topic: str, after: Any) -> Outcome:
        """What something means that is no action of the machine: its forms, the duties that it meets, and the state
        `after` it."""
        found = self.ask(topic, case)
        if found.breach is not None:
            return self.broken(found.breach, ANYTHING, after)
        if found.unjudged:
            return Allow(ANYTHING, found.covers, found.lapses, found.leans)
        return Allow(after, found.covers + self.met(case, topic), found.lapses, found.leans)

    def _once(self, covers: tuple[str, ...]) -> tuple[str, ...]:
        """The credits of an action, each once. The same ones come again and again, so what was found is kept."""
        known = self._credits.get(covers)
        if known is None:
            known = tuple(dict.fromkeys(covers))
            if len(self._credits) < CREDITS:
                self._credits[covers] = known
        return known

    def forbidden(self, case: Any, action: str, cell: Never) -> Breach:
        """The breach of an action that the machine forbids in the phase of the case."""
        why = cell.why or f"{action} while {case.phase.value}"
        kind = f"{action} in {case.phase.name}"
        return Breach(self.by, cell.requirements[0], why, also=cell.requirements[1:], kind=kind)

    @staticmethod
    def broken(breach: Breach, then: Any, behind: Any) -> Breach:
        """The breach with the state that the text says follows (or ANYTHING), and the one behind a known fault."""
        return Breach(
            breach.by, breach.requirement, breach.why, then, breach.level, breach.also, breach.steady, breach.otherwise,
            breach.about, breach.kind, behind, breach.duty, breach.rivals,
        )  # fmt: skip

    def _after(self, case: Any, action: str, cell: Any) -> Any:
        after = self._effects[action](case)
        if isinstance(cell, Never) or after is ANYTHING:
            return after
        assert self.machine is not None
        if isinstance(cell, tuple):
            self.machine.move(case.phase, action, after.phase)  # the table has to offer what the effect chose
            return after
        return after if after.phase is cell else after._replace(phase=cell)

    # -- what a test may ask

    def blamable(self) -> set[str]:
        """Requirements that some declaration of this book can blame."""
        found: set[str] = set()
        for rule in (*self.rules, *self.duties):
            if rule.excuses or rule.permits:
                continue
            found.update(rule.requirements, rule.also)
            for causes in (rule.causes, rule.shows):
                found.update(causes.blamable() if causes is not None else ())
        if self.machine is not None:
            for _, _, cell in self.machine.forbids(self.by):
                found.update(cell.requirements)
        return found

    def permitted(self) -> set[str]:
        """Requirements (MAY) of which this book sees that use is made."""
        return {name for rule in self.rules if rule.permits for name in rule.requirements}
