"""Duties: how they are declared, which are open in a state, and what it means when they are met or missed.

A duty is computed from the state, never recorded. So there is one declaration behind whose turn it is (`owed`), what
an action credits by meeting it (`met`), what a final silence breaks (`at_silence`) and what an end breaks (`at_end`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from specs.causes import Causes
from specs.forms import Forms
from specs.model import ANYTHING, Breach
from specs.obligations import Due, Duty, Rule, topics
from specs.requirement import Requirement

Phases = Callable[[Any], Iterable[Any]]


class Duties(Forms):
    """The duties of one role, beside its forms. See `specs.rules.Rulebook`, whose part this is.

    `phases(state)` are the phases of the conversations that a duty looks at; only duties that are declared for one of
    them are asked. Without it every duty is.
    """

    def __init__(self, by: str, requirements: Mapping[str, Requirement], phases: Phases | None = None) -> None:
        super().__init__(by, requirements)
        self._phases = phases
        self.duties: list[Rule] = []
        self._in: dict[frozenset[Any], list[Rule]] = {}
        self._meeting: dict[str, list[Rule]] = {}

    def duty(
        self,
        requirements: str,
        *,
        met_by: str,
        when: Iterable[Any] = (),
        also: str = "",
        patient: bool = False,
        causes: Causes | None = None,
        shows: Causes | None = None,
    ) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
        """Register a duty. The decorated function looks at a state and answers "" (nothing is owed), why it is, a
        `Due`, or several. Duties are open in the order in which they are written.

        `met_by`: actions that meet it. `when`: the phases in which it can be open at all; without these, in all.
        `patient`: a final silence does not decide it yet, because what comes next shows why (see `Due.overdue`).
        `causes`: who is blamed when it is not met. `shows`: what else could have been blamed on how it was met.
        """

        def registered(body: Callable[[Any], Any]) -> Callable[[Any], Any]:
            ids = tuple(requirements.split())
            self.check(ids)
            rule = Rule(
                "duty", ids, body, topics(met_by), frozenset(when) or None, also=tuple(also.split()), causes=causes,
                shows=shows, patient=patient,
            )  # fmt: skip
            self.duties.append(rule)
            return body

        return registered

    def open(self, state: Any) -> Iterator[Duty]:
        """The open duties, in order of precedence."""
        return _open(self._asked(state), state)

    def _asked(self, state: Any) -> list[Rule]:
        """The duties that may be open in the phases of a state."""
        if self._phases is None:
            return self.duties
        phases = frozenset(self._phases(state))
        found = self._in.get(phases)
        if found is None:
            found = [rule for rule in self.duties if rule.when is None or not phases.isdisjoint(rule.when)]
            self._in[phases] = found
        return found

    def owed(self, state: Any) -> Iterator[str]:
        """See `specs.model.Model.owed`: an overdue duty is not waited for."""
        for rule in self._asked(state):
            found = rule.body(state)
            if not found:
                continue
            for due in (found,) if isinstance(found, (str, Due)) else found:
                if isinstance(due, str):
                    yield rule.requirements[0]
                elif not due.overdue:
                    yield Duty(rule, due).mark

    def met(self, case: Any, action: str) -> tuple[str, ...]:
        """What an action credits by meeting duties. `case.state` is the state before it, and `case.about`, where there
        may be several, says which one is meant (None: any)."""
        rules = self._meeting.get(action)
        if rules is None:
            rules = self._meeting[action] = [rule for rule in self.duties if action in rule.on]
        covers: tuple[str, ...] = ()
        for rule, due in _open(rules, case.state) if rules else ():
            if case.about is None or case.about is due.about:
                covers += (due.requirement or rule.requirements[0], *rule.also, *due.also)
                for causes in (rule.causes, rule.shows):
                    covers += causes.credits(case) if causes is not None else ()
        return covers

    def missed(self, duty: Duty, case: Any, how: str = "") -> Breach:
        """The breach of a duty that was not met, laid on the likeliest cause. `how` says what happened instead."""
        rule, due = duty.rule, duty.due
        why = f"{due.why}: {how}" if how else due.why
        named = rule.causes.likeliest(case) if rule.causes is not None else None
        behind = due.forgive(case.state) if due.forgive is not None else None
        if named is not None:
            return Breach(
                self.by, named.requirement, named.why, ANYTHING, named.level or due.level, named.also,
                named.steady or due.steady, named.otherwise or due.otherwise, "", f"{named.kind} {due.kind}".rstrip(),
                behind, duty.mark,
            )  # fmt: skip
        kind = f"{rule.body.__name__} {due.kind}".rstrip()
        return Breach(
            self.by, duty.requirement, why, ANYTHING, due.level, (*rule.also, *due.also), due.steady, due.otherwise,
            "", kind, behind, duty.mark,
        )  # fmt: skip

    def at_silence(self, state: Any, case: Any) -> Duty | Breach | None:
        """What a final silence means: a breach, a patient duty that is overdue from now on, or nothing."""
        duties = list(self.open(state))
        if all(duty.due.overdue for duty in duties):
            return None
        first = duties[0]
        return first if first.rule.patient and not first.due.overdue else self.missed(first, case)

    def at_end(self, case: Any, action: str, how: str = "") -> Breach | None:
        """What an action that ends everything breaks: the first open duty that it does not meet."""
        for duty in self.open(case.state):
            if action not in duty.rule.on:
                return self.missed(duty, case, how)
        return None


def _open(rules: Iterable[Rule], state: Any) -> Iterator[Duty]:
    for rule in rules:
        found = rule.body(state)
        if found:
            for due in (found,) if isinstance(found, (str, Due)) else found:
                yield Duty(rule, due if isinstance(due, Due) else Due(due))
