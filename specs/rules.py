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

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from specs.causes import Causes, picked
from specs.machine import Machine, Never
from specs.model import ANYTHING, Allow, Breach, Outcome
from specs.requirement import Requirement

Predicate = Callable[[Any], Any]
CREDITS = 4096
"""Sets of credits that a rulebook keeps at most."""


class Broken(NamedTuple):
    """Why a form is broken, where its body has more to say than a text. Unset fields are those of the declaration.

    `level`: where the text is weaker in this situation; "" means that nothing was broken, but what follows cannot be
    judged. `goes_on`: the text says what follows, namely what always follows this action. `ends`: nothing that comes
    later is judged, although what happened is allowed (only for a missed recommendation). `grave`: what happened is a
    breach, although of a recommendation: nothing that follows can be judged, and another reading of the conversation
    that is not blamed is better. `requirement`: one of the declared ones. `steady`, `about`, `otherwise`, `also`: see
    `specs.model.Breach`.
    """

    why: str
    level: str | None = None
    goes_on: bool | None = None
    ends: bool = False
    requirement: str = ""
    also: tuple[str, ...] = ()
    steady: bool | None = None
    about: str = ""
    otherwise: str = ""
    grave: bool = False


class Due(NamedTuple):
    """Something that is owed now. `why` says what is missing, for people.

    `about` tells several things that one duty is about apart, and `kind` what sort of thing it is (it becomes part of
    what a baseline remembers: no values of this run). `overdue`: a final silence was seen already, and the next event
    decides. `requirement`: one of those that the duty declares. `forgive(state)`: the state in which this is no longer
    owed, for judging behind a known fault. `level`, `also`, `steady` and `otherwise` are those of
    `specs.model.Breach`.
    """

    why: str
    about: Any = None
    kind: str = ""
    overdue: bool = False
    requirement: str = ""
    level: str | None = None
    also: tuple[str, ...] = ()
    steady: bool = False
    otherwise: str = ""
    forgive: Callable[[Any], Any] | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One declaration of a rulebook, as tests and `--explain` see it. `obligation`: "form" or "duty".

    `requirements` are those that it may blame, and `body` is the predicate. A form is asked on the topics `on`, `when`
    the case is in one of these phases and `during` one of these open actions, where `if_` holds and `unless` does not;
    a duty is met by the actions `on`. `which(case)` picks one of several requirements. `also`, `level` and `steady` go
    into its breach; `goes_on`: the text says what follows one. `causes` name the likeliest requirement behind a breach,
    `shows` what else could have been blamed on how a duty was met. `freed_by`: freedoms that allow what breaks it.
    `excuses`: it blames nothing and ends the asking, which is a `freedom` if it has an id; `permits`: it is a
    permission; `patient`: see `Rulebook.duty`.
    """

    obligation: str
    requirements: tuple[str, ...]
    body: Callable[..., Any]
    on: frozenset[str] = frozenset()
    when: frozenset[Any] | None = None
    during: frozenset[str] | None = None
    if_: Predicate | None = None
    unless: Predicate | None = None
    which: Callable[[Any], str] | None = None
    also: tuple[str, ...] = ()
    level: str | None = None
    goes_on: bool = False
    steady: bool = False
    causes: Causes | None = None
    shows: Causes | None = None
    freed_by: tuple[Freedom, ...] = ()
    excuses: bool = False
    freedom: str = ""
    permits: bool = False
    patient: bool = False

    @property
    def name(self) -> str:
        """The sentence that names the rule."""
        return self.body.__name__.replace("_", " ").strip()


@dataclass(frozen=True)
class Freedom:
    """Something that the text leaves open. `id` stands in docs/ambiguities.md, the clause in the body's docstring."""

    id: str
    body: Predicate

    def __call__(self, case: Any) -> bool:
        """True when the freedom allows what happened."""
        return bool(self.body(case))

    @property
    def name(self) -> str:
        """The sentence that names the freedom."""
        return self.body.__name__.replace("_", " ").strip()


class Duty(NamedTuple):
    """An open duty: `rule` is its declaration, `due` what is owed."""

    rule: Rule
    due: Due

    @property
    def requirement(self) -> str:
        """The requirement by which it is owed."""
        return self.due.requirement or self.rule.requirements[0]

    @property
    def mark(self) -> str:
        """What `specs.model.Model.owed` calls it."""
        return f"{self.requirement} {self.due.kind}".rstrip()


@dataclass(slots=True)
class Finding:
    """What the forms of a topic found. `breach` is None when no MUST was broken; `goes_on`: the text says what follows
    it. `covers`, `lapses` and `leans` are those of `specs.model.Allow`. `settled`: the asking ended at an excuse, so
    that a cell of the machine is not asked either. `unjudged`: nothing that follows can be judged. `ended`: the
    asking ended before the last form."""

    breach: Breach | None
    goes_on: bool = False
    covers: tuple[str, ...] = ()
    lapses: tuple[Breach, ...] = ()
    leans: tuple[str, ...] = ()
    settled: bool = False
    unjudged: bool = False
    ended: bool = False

    def then(self, later: Finding) -> Finding:
        """What both found, one after the other."""
        later.covers = self.covers + later.covers
        later.lapses, later.leans = self.lapses + later.lapses, self.leans + later.leans
        later.settled = self.settled or later.settled
        return later


@dataclass(slots=True)
class _Row:
    """`forms` that may apply to a topic in one (profile, phase, open action): its bit, where it applies, its body,
    whether it is as plain as most, and the requirements that it credits; `sums` are the credits of each set of them, by
    the sum of their bits."""

    forms: list[tuple[int, Predicate | None, Predicate | None, Predicate, bool, Rule, tuple[str, ...]]] = field(
        default_factory=list
    )
    sums: dict[int, tuple[str, ...]] = field(default_factory=dict)


class Rulebook:
    """The rules of one role.

    `requirements` says in which profiles a rule holds, and at which level. A case, which the forms look at, has the
    attributes `profile` (a str, "" where every rule holds), `phase` and `during` (the open action, or ""); for `judge`
    also `left`, the phases that were left since the role acted last.
    """

    def __init__(self, by: str, requirements: Mapping[str, Requirement], machine: Machine | None = None) -> None:
        self.by, self._requirements, self.machine = by, requirements, machine
        self.rules: list[Rule] = []
        self.duties: list[Rule] = []
        self.freedoms: dict[str, Freedom] = {}
        self._homes: dict[str, str] = {}
        self._rows: dict[tuple[str, Any, str, str], _Row] = {}
        self._effects: dict[str, Callable[[Any], Any]] = {}
        self._meeting: dict[str, list[Rule]] = {}
        self._credits: dict[tuple[str, ...], tuple[str, ...]] = {}

    # -- declaring

    def form(
        self,
        requirements: str,
        *,
        on: str,
        when: Iterable[Any] = (),
        during: str = "",
        if_: Predicate | None = None,
        unless: Predicate | None = None,
        which: Callable[[Any], str] | None = None,
        also: str = "",
        level: str | None = None,
        goes_on: bool = False,
        steady: bool = False,
        causes: Causes | None = None,
        freed_by: Iterable[Freedom] = (),
    ) -> Callable[[Predicate], Predicate]:
        """Register a form on the topics `on` (separated by commas), in the phases `when` and `during` the open actions
        (separated by blanks); without these, in all.

        `requirements` is one full id, or the closed set from which `which(case)` picks ("" : it does not apply); of
        several without `which`, the one that the profile of the case has. With `causes` a breach is laid on the
        likeliest of them, and on `requirements` when none has evidence.
        """

        def registered(body: Predicate) -> Predicate:
            rule = Rule(
                "form", tuple(requirements.split()), body, _topics(on), frozenset(when) or None,
                frozenset(during.split()) or None, if_, unless, which, tuple(also.split()), level, goes_on, steady,
                causes, freed_by=tuple(freed_by),
            )  # fmt: skip
            self._add(rule)
            return body

        return registered

    def excuse(
        self, *, on: str, when: Iterable[Any] = (), during: str = "", if_: Predicate | None = None, freedom: str = ""
    ) -> Callable[[Predicate], Predicate]:
        """Register a situation in which no form below this one is asked, nor the machine. Its body answers whether.
        `freedom`: the id of what is forgiven by it, where something would always be broken without it."""

        def registered(body: Predicate) -> Predicate:
            where = (_topics(on), frozenset(when) or None, frozenset(during.split()) or None, if_)
            self._add(Rule("form", (), body, *where, excuses=True, freedom=freedom))
            return body

        return registered

    def tried(
        self, requirement: str, *, on: str, when: Iterable[Any] = (), during: str = "", if_: Predicate | None = None
    ) -> Callable[[Predicate], Predicate]:
        """Register a permission (MAY): where its body answers true, the role has made use of it."""

        def registered(body: Predicate) -> Predicate:
            where = (_topics(on), frozenset(when) or None, frozenset(during.split()) or None, if_)
            self._add(Rule("form", (requirement,), body, *where, permits=True))
            return body

        return registered

    def freedom(self, id_: str) -> Callable[[Predicate], Freedom]:
        """Register a freedom; the decorated predicate becomes a `Freedom`. The docstring names the clause."""

        def registered(body: Predicate) -> Freedom:
            if id_ in self.freedoms:
                raise ValueError(f"freedom {id_} is given twice")
            found = self.freedoms[id_] = Freedom(id_, body)
            return found

        return registered

    def duty(
        self,
        requirements: str,
        *,
        met_by: str,
        also: str = "",
        patient: bool = False,
        causes: Causes | None = None,
        shows: Causes | None = None,
    ) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
        """Register a duty. The decorated function looks at a state and answers "" (nothing is owed), why it is, a
        `Due`, or several. Duties are open in the order in which they are written.

        `met_by`: actions that meet it. `patient`: a final silence does not decide it yet, because what comes next shows
        why (see `Due.overdue`). `causes`: who is blamed when it is not met. `shows`: what else could have been blamed
        on how it was met.
        """

        def registered(body: Callable[[Any], Any]) -> Callable[[Any], Any]:
            ids = tuple(requirements.split())
            self._check(ids)
            rule = Rule(
                "duty",
                ids,
                body,
                _topics(met_by),
                also=tuple(also.split()),
                causes=causes,
                shows=shows,
                patient=patient,
            )
            self.duties.append(rule)
            return body

        return registered

    def effect(self, *actions: str) -> Callable[[Predicate], Predicate]:
        """Register what the state is after an action, whether or not something was broken."""

        def registered(after: Predicate) -> Predicate:
            self._effects.update(dict.fromkeys(actions, after))
            return after

        return registered

    def _add(self, rule: Rule) -> None:
        self._check((*rule.requirements, *rule.also))
        for topic in rule.on:
            home = self._homes.setdefault(topic, rule.body.__module__)
            if home != rule.body.__module__:
                raise ValueError(f"{rule.name}: the rules on {topic!r} are in {home}, where their order can be read")
        self.rules.append(rule)

    def _check(self, ids: Iterable[str]) -> None:
        for name in ids:
            if name not in self._requirements:
                raise ValueError(f"{name} is no requirement")

    # -- asking

    def ask(self, topic: str, case: Any) -> Finding:
        """Ask the forms of a topic, in order."""
        key = (case.profile, case.phase, topic, case.during)
        row = self._rows.get(key) or self._compiled(key)
        held, found = 0, Finding(None)
        for bit, if_, unless, body, plain, rule, ids in row.forms:
            if (if_ is not None and not if_(case)) or (unless is not None and unless(case)):
                continue
            if plain:
                wrong = body(case)
                if not wrong:
                    held |= bit
                    continue
                self._broken_form(rule, ids, wrong, case, found)
            elif self._ask_special(rule, ids, case, found):
                held |= bit
            if found.ended:
                break
        found.covers = self._sum(row, held) + found.covers
        return found

    def _ask_special(self, rule: Rule, ids: tuple[str, ...], case: Any, found: Finding) -> bool:
        """Ask a form that is not plain: an excuse, a permission, one of several requirements, or one with causes. True
        when all that it is declared for is credited; other credits are in `found`."""
        if rule.which is not None:
            name = picked(rule.requirements, rule.which, case)
            if not name:
                return False
            ids = (name, *rule.also)
        answer = rule.body(case)
        if rule.excuses:
            found.settled = found.ended = bool(answer)
            if answer and rule.freedom:
                found.leans += (rule.freedom,)
            return False
        if rule.permits:
            return bool(answer)
        if answer:
            self._broken_form(rule, ids, answer, case, found)
            return False
        if rule.causes is not None:
            found.covers += tuple(rule.causes.credits(case))
        if rule.which is not None:
            found.covers += ids
        return rule.which is None

    def _broken_form(self, rule: Rule, ids: tuple[str, ...], wrong: Any, case: Any, found: Finding) -> None:
        """Put what a broken form means into `found`."""
        free = next((freedom.id for freedom in rule.freed_by if freedom(case)), "")
        if free:
            found.leans += (free,)
            return
        broken = wrong if isinstance(wrong, Broken) else Broken(wrong)
        if broken.level == "":
            found.unjudged = found.ended = True
            return
        breach = self._breach(rule, ids, broken, case)
        if broken.grave or self.level(breach) == "MUST":
            found.breach, found.ended = breach, True
            found.goes_on = rule.goes_on if broken.goes_on is None else broken.goes_on
            return
        found.lapses += (breach,)
        if broken.ends:
            found.unjudged = found.ended = True

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
            breach.about, breach.kind, behind, breach.duty,
        )  # fmt: skip

    def _after(self, case: Any, action: str, cell: Any) -> Any:
        after = self._effects[action](case)
        if isinstance(cell, Never) or after is ANYTHING:
            return after
        assert self.machine is not None
        if isinstance(cell, tuple):
            return after._replace(phase=self.machine.move(case.phase, action, after.phase))
        return after if after.phase is cell else after._replace(phase=cell)

    def _breach(self, rule: Rule, ids: tuple[str, ...], broken: Broken, case: Any) -> Breach:
        name, also = (broken.requirement or ids[0], (*ids[1:], *broken.also))
        level = broken.level or rule.level
        steady = rule.steady if broken.steady is None else broken.steady
        kind, why, otherwise = rule.body.__name__, broken.why, broken.otherwise
        if rule.causes is not None:
            named = rule.causes.likeliest(case)
            if named is not None:
                name, why, kind, also = named.requirement, named.why, named.kind, named.also
                level, steady = named.level or level, named.steady or steady
                otherwise = named.otherwise or otherwise
        return Breach(self.by, name, why, ANYTHING, level, also, steady, otherwise, broken.about, kind)

    def level(self, breach: Breach) -> str:
        """How binding what was broken is: what the breach says, else what requirements.toml says. Whatever is not a
        recommendation counts as MUST."""
        if breach.level is not None:
            return breach.level
        known = self._requirements.get(breach.requirement)
        return "SHOULD" if known is not None and known.level == "SHOULD" else "MUST"

    def _sum(self, row: _Row, held: int) -> tuple[str, ...]:
        found = row.sums.get(held)
        if found is None:
            names = [name for bit, *_, ids in row.forms if held & bit for name in ids]
            found = row.sums[held] = tuple(dict.fromkeys(names))
        return found

    def _compiled(self, key: tuple[str, Any, str, str]) -> _Row:
        profile, phase, topic, during = key
        row = _Row()
        for rule in self.rules:
            if topic not in rule.on or not (rule.when is None or phase in rule.when):
                continue
            if rule.during is not None and during not in rule.during:
                continue
            ids = rule.requirements if rule.which is not None else self._held_in(rule.requirements, profile)[:1]
            if ids or rule.excuses:
                also = self._held_in(rule.also, profile)
                plain = rule.which is None and rule.causes is None and not rule.excuses and not rule.permits
                bit = 1 << len(row.forms)
                row.forms.append((bit, rule.if_, rule.unless, rule.body, plain, rule, (*ids, *also)))
        self._rows[key] = row
        return row

    def _held_in(self, ids: Iterable[str], profile: str) -> tuple[str, ...]:
        return tuple(name for name in ids if not profile or profile in self._requirements[name].profiles)

    # -- duties

    def open(self, state: Any) -> Iterator[Duty]:
        """The open duties, in order of precedence."""
        return self._open(self.duties, state)

    @staticmethod
    def _open(rules: Iterable[Rule], state: Any) -> Iterator[Duty]:
        for rule in rules:
            found = rule.body(state)
            if not found:
                continue
            if isinstance(found, str):
                yield Duty(rule, Due(found))
            elif isinstance(found, Due):
                yield Duty(rule, found)
            else:
                for due in found:
                    yield Duty(rule, due if isinstance(due, Due) else Due(due))

    def owed(self, state: Any) -> Iterator[str]:
        """See `specs.model.Model.owed`: an overdue duty is not waited for."""
        return (duty.mark for duty in self.open(state) if not duty.due.overdue)

    def met(self, case: Any, action: str) -> tuple[str, ...]:
        """What an action credits by meeting duties. `case.state` is the state before it, and `case.about`, where there
        may be several, says which one is meant (None: any)."""
        covers: tuple[str, ...] = ()
        rules = self._meeting.get(action)
        if rules is None:
            rules = self._meeting[action] = [rule for rule in self.duties if action in rule.on]
        for duty in self._open(rules, case.state):
            if case.about is None or case.about is duty.due.about:
                covers += (duty.requirement, *duty.rule.also, *duty.due.also)
                for causes in (duty.rule.causes, duty.rule.shows):
                    covers += tuple(causes.credits(case)) if causes is not None else ()
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


def _topics(text: str) -> frozenset[str]:
    return frozenset(part.strip() for part in text.split(",") if part.strip())
