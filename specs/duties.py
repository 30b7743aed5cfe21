"""Duties: how they are declared, which are open in a state, and what it means when they are met or missed.

A duty is computed from the state, never recorded. So there is one declaration behind whose turn it is (`owed`), what
an action credits by meeting it (`met`), what a final silence breaks (`at_silence`) and what an end breaks (`at_end`).

Whose turn it is, is asked after every event. A state may have parts, such as its connections, of which an event changes
one. A duty that is declared for each part looks at that part alone, so that it is asked again only where it changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from specs.causes import Causes
from specs.forms import Forms
from specs.model import ANYTHING, Breach
from specs.obligations import Due, Duty, Rule, topics
from specs.requirement import Requirement

Phases = Callable[[Any], Sequence[Any]]
Parts = Callable[[Any], Mapping[int, Any]]


class Duties(Forms):
    """The duties of one role, beside its forms. See `specs.rules.Rulebook`, whose part this is.

    `phases(state)` are the phases of the conversations that a duty looks at; only duties that are declared for one of
    them are asked. Without it every duty is. `parts(state)` are its parts by their numbers, which are immutable values
    with a `phase`.
    """

    def __init__(
        self,
        by: str,
        requirements: Mapping[str, Requirement],
        phases: Phases | None = None,
        parts: Parts | None = None,
    ) -> None:
        super().__init__(by, requirements)
        self._phases, self._parts = phases, parts
        self.duties: list[Rule] = []
        self._whole: list[Rule] = []
        self._in: dict[Any, list[Rule]] = {}
        self._each_in: dict[Any, list[Rule]] = {}
        self._owed_by: dict[int, tuple[Any, list[str]]] = {}
        """The part of each number that was last asked, and what it owes."""
        self._meeting: dict[str, list[Rule]] = {}
        self._by_body: dict[Callable[..., Any], Rule] = {}

    def duty(
        self,
        requirements: str,
        *,
        met_by: str,
        when: Iterable[Any] = (),
        also: str = "",
        patient: bool = False,
        each: bool = False,
        causes: Causes | None = None,
        shows: Causes | None = None,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register a duty. The decorated function looks at a state and answers "" (nothing is owed), why it is, a
        `Due`, or several. Duties are open in the order in which they are written.

        `met_by`: actions that meet it. `when`: the phases in which it can be open at all; without these, in all.
        `each`: it is asked for each part of the state, with its number, and knows no more; `when` is about the part.
        `patient`: a final silence does not decide it yet, because what comes next shows why (see `Due.overdue`).
        `causes`: who is blamed when it is not met. `shows`: what else could have been blamed on how it was met.
        """

        def registered(body: Callable[..., Any]) -> Callable[..., Any]:
            ids = tuple(requirements.split())
            self.check(ids)
            rule = Rule(
                "duty", ids, body, topics(met_by), frozenset(when) or None, also=tuple(also.split()), causes=causes,
                shows=shows, patient=patient, each=each,
            )  # fmt: skip
            self.duties.append(rule)
            self._by_body[body] = rule
            self._whole += [] if each else [rule]
            return body

        return registered

    def open(self, state: Any) -> Iterator[Duty]:
        """The open duties, in order of precedence."""
        return self._open(self._asked(self.duties, state), state)

    def _open(self, rules: Iterable[Rule], state: Any) -> Iterator[Duty]:
        for rule in rules:
            if rule.each:
                assert self._parts is not None
                for number, part in self._parts(state).items():
                    if rule.when is None or part.phase in rule.when:
                        yield from _found(rule, rule.body(number, part))
            else:
                yield from _found(rule, rule.body(state))

    def _asked(self, rules: list[Rule], state: Any) -> list[Rule]:
        """Those of the duties that may be open in the phases of a state."""
        if self._phases is None:
            return rules
        phases = self._phases(state)
        key = phases[0] if len(phases) == 1 else frozenset(phases)  # one conversation is the rule
        found = self._in.get(key)
        if found is None:
            found = [rule for rule in rules if rule.when is None or not rule.when.isdisjoint(phases)]
            self._in[key] = found
        return found

    def owed(self, state: Any) -> Iterator[str]:
        """See `specs.model.Model.owed`: an overdue duty is not waited for."""
        marks: list[str] = []
        if self._parts is not None:
            for number, part in self._parts(state).items():
                known = self._owed_by.get(number)
                if known is None or known[0] is not part:
                    known = self._owed_by[number] = (part, self._marks_of(number, part))
                marks += known[1]
        for rule in self._whole if self._phases is None else self._asked(self._whole, state):
            found = rule.body(state)
            if found:
                marks += _marks(rule, found)
        return iter(marks)

    def _marks_of(self, number: int, part: Any) -> list[str]:
        rules = self._each_in.get(part.phase)
        if rules is None:
            rules = self._each_in[part.phase] = [
                rule for rule in self.duties if rule.each and (rule.when is None or part.phase in rule.when)
            ]
        marks: list[str] = []
        for rule in rules:
            found = rule.body(number, part)
            if found:
                marks += _marks(rule, found)
        return marks

    def met(self, case: Any, action: str) -> tuple[str, ...]:
        """What an action credits by meeting duties. `case.state` is the state before it, and `case.about`, where there
        may be several, says which one is meant (None: any)."""
        rules = self._meeting.get(action)
        if rules is None:
            rules = self._meeting[action] = [rule for rule in self.duties if action in rule.on]
        covers: tuple[str, ...] = ()
        for rule, due in self._open(rules, case.state) if rules else ():
            if case.about is None or case.about is due.about:
                covers += _credits(rule, (due.requirement or rule.requirements[0],), case) + due.also
        return covers

    def met_one(self, body: Callable[..., Any], case: Any, *by: str) -> tuple[str, ...]:
        """What an action credits by meeting the duty that `body` declares, where who asks knows that it does, so that
        the state is not asked. `by`: the requirements by which it was owed, if that were not all of it."""
        rule = self._by_body[body]
        return _credits(rule, by or rule.requirements, case)

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
                behind, duty.mark, named.same_as,
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


def _credits(rule: Rule, by: tuple[str, ...], case: Any) -> tuple[str, ...]:
    """What meeting a duty shows: the requirements by which it was owed, and every cause that could have been blamed."""
    covers = by + rule.also
    for causes in (rule.causes, rule.shows):
        covers += causes.credits(case) if causes is not None else ()
    return covers


def _found(rule: Rule, found: Any) -> Iterator[Duty]:
    """The duties that a body has found open."""
    if found:
        for due in (found,) if isinstance(found, (str, Due)) else found:
            yield Duty(rule, due if isinstance(due, Due) else Due(due))


def _marks(rule: Rule, found: Any) -> list[str]:
    """What those that are not overdue are called."""
    marks = []
    for due in (found,) if isinstance(found, (str, Due)) else found:
        if isinstance(due, str):
            marks.append(rule.requirements[0])
        elif not due.overdue:
            marks.append(Duty(rule, due).mark)
    return marks
