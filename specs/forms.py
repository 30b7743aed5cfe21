"""Forms: how they are declared, and how those of a topic are asked.

Order is precedence: the forms of a topic are asked as they are written. The first MUST that is broken ends the asking.
A broken SHOULD is a missed recommendation, and the asking goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from specs.causes import Causes, picked
from specs.model import ANYTHING, Breach
from specs.obligations import Broken, Finding, Freedom, Predicate, Rule, topics
from specs.requirement import Requirement


class _Asked(NamedTuple):
    """A form that may apply: `bit` stands for it in a sum, `if_` says where it applies, and `body` whether it is
    broken; `plain`: that is all there is to it. `rule` is its declaration, `ids` what it credits."""

    if_: Predicate | None
    body: Predicate
    plain: bool
    bit: int
    rule: Rule
    ids: tuple[str, ...]


@dataclass(slots=True)
class _Row:
    """The `forms` that may apply to a topic in one (profile, phase, open action). `clean` is what asking them found
    when none was broken, by the sum of the bits of those that held: the same few come again and again."""

    forms: list[_Asked] = field(default_factory=list)
    clean: dict[int, Finding] = field(default_factory=dict)


class Forms:
    """The forms of one role, and its freedoms. See `specs.rules.Rulebook`, whose part this is."""

    def __init__(self, by: str, requirements: Mapping[str, Requirement]) -> None:
        self.by, self._requirements = by, requirements
        self.rules: list[Rule] = []
        self.freedoms: dict[str, Freedom] = {}
        self._homes: dict[str, str] = {}
        self._rows: dict[tuple[str, Any, str, str], _Row] = {}

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
        same_as: str = "",
    ) -> Callable[[Predicate], Predicate]:
        """Register a form on the topics `on` (separated by commas), in the phases `when` and `during` the open actions
        (separated by blanks); without these, in all.

        `requirements` is one full id, or the closed set from which `which(case)` picks ("" : it does not apply); of
        several without `which`, the one that the profile of the case has. With `causes` a breach is laid on the
        likeliest of them, and on `requirements` when none has evidence. `same_as`: the names of other rules that find
        the same failure where it shows at another time.
        """

        def registered(body: Predicate) -> Predicate:
            rule = Rule(
                "form", tuple(requirements.split()), body, topics(on), frozenset(when) or None,
                frozenset(during.split()) or None, if_, unless, which, tuple(also.split()), level, goes_on, steady,
                causes, freed_by=tuple(freed_by), same_as=same_as,
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
            where = (topics(on), frozenset(when) or None, frozenset(during.split()) or None, if_)
            self._add(Rule("form", (), body, *where, excuses=True, freedom=freedom))
            return body

        return registered

    def tried(
        self, requirement: str, *, on: str, when: Iterable[Any] = (), during: str = "", if_: Predicate | None = None
    ) -> Callable[[Predicate], Predicate]:
        """Register a permission (MAY): where its body answers true, the role has made use of it."""

        def registered(body: Predicate) -> Predicate:
            where = (topics(on), frozenset(when) or None, frozenset(during.split()) or None, if_)
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

    def _add(self, rule: Rule) -> None:
        self.check((*rule.requirements, *rule.also))
        for topic in rule.on:
            home = self._homes.setdefault(topic, rule.body.__module__)
            if home != rule.body.__module__:
                raise ValueError(f"{rule.name}: the rules on {topic!r} are in {home}, where their order can be read")
        self.rules.append(rule)

    def check(self, ids: Iterable[str]) -> None:
        """Raise ValueError for an id that is no requirement."""
        for name in ids:
            if name not in self._requirements:
                raise ValueError(f"{name} is no requirement")

    # -- asking

    def ask(self, topic: str, case: Any) -> Finding:
        """Ask the forms of a topic, in order."""
        key = (case.profile, case.phase, topic, case.during)
        row = self._rows.get(key) or self._compiled(key)
        held = 0
        more: tuple[str, ...] = ()
        found: Finding | None = None
        before: Predicate | None = None
        holds = True
        for if_, body, plain, bit, rule, ids in row.forms:
            if if_ is not None:
                if if_ is not before:  # what forms in a row have in common is asked once
                    before, holds = if_, if_(case)
                if not holds:
                    continue
            if not plain and rule.unless is not None and rule.unless(case):
                continue
            if plain:
                wrong = body(case)
                if not wrong:
                    held |= bit
                    continue
            elif rule.permits:
                held |= bit if body(case) else 0
                continue
            else:
                named = ids
                if rule.which is not None:
                    name = picked(rule.requirements, rule.which, case)
                    if not name:
                        continue
                    named = (name, *rule.also)
                wrong = body(case)
                if not wrong:
                    held |= bit if rule.which is None else 0
                    more += () if rule.which is None else named
                    more += () if rule.causes is None else rule.causes.credits(case)
                    continue
            found = found or Finding(None)
            self._broken(rule, ids if plain else named, wrong, case, found)
            if found.ended:
                break
        clean = row.clean.get(held) or _clean(row, held)
        if found is None and not more:
            return clean
        found = found or Finding(None)
        found.covers = clean.covers + more
        return found

    def _broken(self, rule: Rule, ids: tuple[str, ...], wrong: Any, case: Any, found: Finding) -> None:
        """Put what a broken form, or an excuse that holds, means into `found`."""
        if rule.excuses:
            found.settled = found.ended = True
            found.leans += (rule.freedom,) if rule.freedom else ()
            return
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

    def _breach(self, rule: Rule, ids: tuple[str, ...], broken: Broken, case: Any) -> Breach:
        name, also = (broken.requirement or ids[0], (*ids[1:], *broken.also))
        level = broken.level or rule.level
        steady = rule.steady if broken.steady is None else broken.steady
        kind, why, otherwise = rule.body.__name__, broken.why, broken.otherwise
        rivals = tuple(f"{name} {each}" for each in rule.same_as.split())
        if rule.causes is not None:
            named = rule.causes.likeliest(case)
            if named is not None:
                name, why, kind, also = named.requirement, named.why, named.kind, named.also
                level, steady = named.level or level, named.steady or steady
                otherwise = named.otherwise or otherwise
                rivals = (*named.same_as, *rule.causes.rivals(case))
        return Breach(
            self.by, name, why, ANYTHING, level, also, steady, otherwise, broken.about, kind, rivals=rivals
        )  # fmt: skip

    def level(self, breach: Breach) -> str:
        """How binding what was broken is: what the breach says, else what requirements.toml says. Whatever is not a
        recommendation counts as MUST."""
        if breach.level is not None:
            return breach.level
        known = self._requirements.get(breach.requirement)
        return "SHOULD" if known is not None and known.level == "SHOULD" else "MUST"

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
                more = (rule.unless, rule.which, rule.causes)
                plain = more == (None, None, None) and not rule.excuses and not rule.permits
                bit = 1 << len(row.forms)
                row.forms.append(_Asked(rule.if_, rule.body, plain, bit, rule, (*ids, *also)))
        self._rows[key] = row
        return row

    def _held_in(self, ids: Iterable[str], profile: str) -> tuple[str, ...]:
        return tuple(name for name in ids if not profile or profile in self._requirements[name].profiles)


def _clean(row: _Row, held: int) -> Finding:
    names = [name for form in row.forms if held & form.bit for name in form.ids]
    found = row.clean[held] = Finding(None, covers=tuple(dict.fromkeys(names)))
    return found
