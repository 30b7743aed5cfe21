"""What a rulebook is made of: its declarations as data, and what they answer when they are asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from specs.causes import Causes
from specs.model import Breach

Predicate = Callable[[Any], Any]


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
    a duty is met by the actions `on`, and can be open in the phases `when`. `which(case)` picks one of several
    requirements. `also`, `level` and `steady` go into its breach; `goes_on`: the text says what follows one. `causes`
    name the likeliest requirement behind a breach, `shows` what else could have been blamed on how a duty was met.
    `same_as`: see `specs.forms.Forms.form`.
    `freed_by`: freedoms that allow what breaks it. `excuses`: it blames nothing and ends the asking, which is a
    `freedom` if it has an id; `permits`: it is a permission; `patient`, `each`: see `specs.duties.Duties.duty`.
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
    same_as: str = ""
    patient: bool = False
    each: bool = False

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
        return f"{self.requirement} {self.due.kind}" if self.due.kind else self.requirement


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
        covers, lapses, leans = self.covers + later.covers, self.lapses + later.lapses, self.leans + later.leans
        settled = self.settled or later.settled
        return Finding(later.breach, later.goes_on, covers, lapses, leans, settled, later.unjudged, later.ended)


def topics(text: str) -> frozenset[str]:
    """Names that are separated by commas."""
    return frozenset(part.strip() for part in text.split(",") if part.strip())
