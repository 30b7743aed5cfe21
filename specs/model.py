"""The acceptor: which conversations the text allows, and who broke it when it does not.

A protocol's model is role-free. Its `step` answers, for a state and an event, with every reading that the text leaves:
`Allow` (the event is fine, this is the state after it) or `Breach` (it is not). A `Watcher` keeps every reading alive
and judges online; `judge` does the same for a whole trace. We name the watched role only at the end, and blame it only
when every reading that is still alive blames it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, Final, Protocol

from specs.events import Event, Quiet, Trace

MAX_STATES = 64
"""Live readings kept at once; over it the verdict is inconclusive, never pass or fail."""


class Owed(IntEnum):
    """What the judged role still has to say or do."""

    NOTHING = 0
    KNOWN = 1
    """Only what it is known to leave out now and then: see `Watcher`."""
    SOMETHING = 2


class _Anything:
    """The state after which whatever happens is allowed and nothing is judged."""

    def __repr__(self) -> str:
        return "ANYTHING"


ANYTHING: Final = _Anything()


@dataclass(frozen=True, slots=True)
class Breach:
    """`by` broke `requirement`.

    `level` overrides the level of the requirement where the text is weaker in this situation than in general.
    `also` names further requirements that the same deed breaks. `steady`: the text tolerates this once in a while (a
    lost last frame, a message dropped in auto mode), so that it counts only when every repetition shows it, of the same
    thing: `about` says of which.
    `then` is the state after it where the text states the consequence. `otherwise`: what is broken in any case, where
    `requirement` is the likeliest cause; it is blamed instead unless every repetition shows the breach. It is a
    requirement, or the fingerprint of the breach that it is then.
    `kind` is what sort of breach it is, without any value of this run: the name of the rule that found it. `behind` is
    the state from which judging can go on where this fault is known and set aside, None where there is none. `duty` is
    what `Model.owed` called it, where something that was owed did not come. `rivals` are the fingerprints of what else
    can be the reason as well: where one of them is a known fault, this is that fault again.
    """

    by: str
    requirement: str
    why: str
    then: Any = ANYTHING
    level: str | None = None
    also: tuple[str, ...] = ()
    steady: bool = False
    otherwise: str = ""
    about: str = ""
    kind: str = ""
    behind: Any = None
    duty: str = ""
    rivals: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """What tells this sort of fault from another one of the same requirement, in every run."""
        return f"{self.requirement} {self.kind}".rstrip()


@dataclass(slots=True, unsafe_hash=True)
class Allow:
    """The event is allowed and leads to `state`.

    `covers` are the requirements that this event could have broken and did not. `lapses` are recommendations missed
    on the way: breaches that do not end the judging, because the text allows what happened. `leans` are the freedoms
    without which the event would have been a breach. (Final, not frozen: see `specs.events.Said`.)
    """

    state: Final[Any]
    covers: Final[tuple[str, ...]] = ()
    lapses: Final[tuple[Breach, ...]] = ()
    leans: Final[tuple[str, ...]] = ()

    def following(self, earlier: Allow) -> Allow:
        """This one, with what an earlier judgement of the same event showed."""
        return Allow(
            self.state, earlier.covers + self.covers, earlier.lapses + self.lapses, earlier.leans + self.leans
        )  # fmt: skip


Outcome = Allow | Breach


class Model(Protocol):
    """An executable specification. Pure: states are immutable values, compared with ==."""

    def initial(self, config: Any) -> Any:
        """The state before the first event."""

    def step(self, state: Any, event: Event) -> Iterable[Outcome]:
        """Every reading of `event` in `state`. None at all is a hole in the model, which is our own error."""

    def owed(self, state: Any, role: str) -> Iterable[str]:
        """Requirements by which `role` still has something to say or do before it is anyone else's turn."""


def drift_of(model: Model) -> Callable[[Any], Iterable[Any]] | None:
    """What gives the states that the peer may silently move to on its own, where a model has a method `drift`: one
    that is an envelope needs none."""
    return getattr(model, "drift", None)


def model_of(model: Model, config: Any) -> Model:
    """The model that judges conversations of this config, where one is put together of several and has a method `of`
    that says which."""
    of: Callable[[Any], Model] | None = getattr(model, "of", None)
    return model if of is None else of(config)


@dataclass(frozen=True, slots=True)
class Blame:
    """A breach, and where: `at` is the index in the trace of the event that decided it."""

    breach: Breach
    at: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a conversation showed about the watched role.

    `verdict`: "pass", "fail", "inconclusive" (too many readings, or our own side broke the protocol first) or "error"
    (the model has no rule for what happened). `excused_from`: index of the event after which anything was allowed.
    `blamed` are breaches of the watched role, `lapses` recommendations that it missed, `covered` counts, for each
    requirement that it kept, the events that could have broken it. `leaned` counts the freedoms that it took to allow
    what happened; `known` are faults that were set aside and behind which judging went on."""

    verdict: str
    blamed: tuple[Blame, ...] = ()
    lapses: tuple[Blame, ...] = ()
    covered: Counter[str] = field(default_factory=Counter)
    excused_from: int | None = None
    why: str = ""
    leaned: Counter[str] = field(default_factory=Counter)
    known: tuple[Blame, ...] = ()

    @property
    def faults(self) -> tuple[Blame, ...]:
        """Everything that the watched role is blamed for, recommendations included."""
        return self.blamed + self.lapses


@dataclass(slots=True)
class _Reading:
    """One way to read the conversation so far. `trail` is a linked list of credits: readings that split share their
    past. `breach` is the first that ends the judging, `lapses` are missed recommendations, `known` faults that were set
    aside."""

    state: Any
    trail: tuple[Any, ...] | None = None
    lapses: tuple[Blame, ...] = ()
    breach: Blame | None = None
    known: tuple[Blame, ...] = ()


class Watcher:
    """Judges a conversation while it happens.

    `set_aside` are faults that are known already, by `Breach.fingerprint`, and what is not waited for with all patience
    any more, by `Breach.duty`: judging goes on behind them from the state that the breach gives (`Breach.behind`).
    """

    def __init__(self, model: Model, config: Any, watched: str, set_aside: frozenset[str] = frozenset()) -> None:
        model = self._model = model_of(model, config)
        self._watched = watched
        self._set_aside = set_aside
        self._readings = [_Reading(model.initial(config))]
        self._events = 0
        self._excused_from: int | None = None
        self._hole = ""
        self._crowded = False
        self._drift = drift_of(model)
        self._plain = self._drift is None and not set_aside
        self._spread()

    def feed(self, event: Event) -> None:
        """Take the next event. Never raises on what a peer does."""
        index, self._events = self._events, self._events + 1
        if self._excused_from is not None:
            return
        # what the tester's own actions show is credited to nobody
        credited = isinstance(event, Quiet) or event.by == self._watched
        if self._plain and len(self._readings) == 1 and self._goes_on(self._readings[0], event, index, credited):
            return
        after: list[_Reading] = []
        for reading in self._readings:
            if reading.state is ANYTHING:
                after.append(reading)
                continue
            known = len(after)
            self._follow_all(reading, event, index, credited, after)
            if len(after) == known:
                self._hole = f"no rule for {event!r:.300}"
                self._excused_from = index
                return
        if len(after) == 1 and self._drift is None:  # nearly always: one reading, and nothing to choose or to add
            self._readings = after
            if after[0].state is ANYTHING:
                self._excused_from = index
            return
        self._readings = after if len(after) == 1 else _distinct(after, self._watched)
        if len(self._readings) > MAX_STATES:
            self._crowded, self._excused_from = True, index
        elif all(reading.state is ANYTHING for reading in self._readings):
            self._excused_from = index
        else:
            self._spread()

    def _goes_on(self, reading: _Reading, event: Event, index: int, credited: bool) -> bool:
        """What nearly always happens: the one reading there is goes on, and nothing has to be chosen, added or looked
        up. False where it is not so."""
        if reading.state is ANYTHING:
            return False
        outcomes = tuple(self._model.step(reading.state, event))
        outcome = outcomes[0] if len(outcomes) == 1 else None
        if not isinstance(outcome, Allow):
            return False
        reading.state = outcome.state
        if outcome.leans or (credited and outcome.covers):
            reading.trail = (reading.trail, outcome.covers if credited else (), outcome.leans)
        if outcome.lapses:
            reading.lapses += tuple(Blame(lapse, index) for lapse in outcome.lapses)
        if outcome.state is ANYTHING:
            self._excused_from = index
        return True

    def _follow_all(self, reading: _Reading, event: Event, index: int, credited: bool, after: list[_Reading]) -> None:
        """Add every reading that `event` leads to."""
        for outcome in self._model.step(reading.state, event):
            if (
                self._set_aside
                and isinstance(outcome, Breach)
                and self._is_set_aside(outcome := self._as_known(outcome))
            ):
                behind = replace(reading, state=outcome.behind, known=(*reading.known, Blame(outcome, index)))
                if outcome.duty:  # what was owed is forgiven in the state before the event, which is judged again there
                    self._follow_all(behind, event, index, credited, after)
                else:
                    after.append(behind)
            else:
                after.append(self._follow(reading, outcome, index, credited))

    def _as_known(self, breach: Breach) -> Breach:
        """The breach under the name of the known fault that can be the reason, if there is one."""
        known = next((rival for rival in breach.rivals if rival in self._set_aside), "")
        if not known or breach.fingerprint in self._set_aside:
            return breach
        requirement, _, kind = known.partition(" ")
        return replace(breach, requirement=requirement, kind=kind)

    def _is_set_aside(self, breach: Breach) -> bool:
        return breach.behind is not None and breach.by == self._watched and breach.fingerprint in self._set_aside

    def _follow(self, reading: _Reading, outcome: Outcome, index: int, credited: bool) -> _Reading:
        if isinstance(outcome, Allow):
            trail, lapses = reading.trail, reading.lapses
            if outcome.leans or (credited and outcome.covers):
                trail = (trail, outcome.covers if credited else (), outcome.leans)
            if outcome.lapses:
                lapses += tuple(
                    Blame(lapse, index) for lapse in outcome.lapses if self._set_aside.isdisjoint(lapse.rivals)
                )
            return _Reading(outcome.state, trail, lapses, reading.breach, reading.known)
        if outcome.by != self._watched and outcome.then is not ANYTHING:
            # the text says what follows
            return _Reading(outcome.then, reading.trail, reading.lapses, reading.breach, reading.known)
        blame = reading.breach or Blame(outcome, index)
        return _Reading(outcome.then, reading.trail, reading.lapses, blame, reading.known)

    def _spread(self) -> None:
        """Add the states that silent moves lead to."""
        if self._drift is None:
            return
        todo = list(self._readings)
        while todo:
            reading = todo.pop()
            if reading.state is ANYTHING:
                continue
            for state in self._drift(reading.state):
                moved = replace(reading, state=state)
                if _merge(self._readings, moved, self._watched):
                    todo.append(moved)
                if len(self._readings) > MAX_STATES:
                    self._crowded, self._excused_from = True, max(0, self._events - 1)
                    return

    def permits(self, event: Event) -> bool:
        """True when at least one living reading allows `event` now. Changes nothing."""
        return any(
            reading.state is ANYTHING or any(isinstance(o, Allow) for o in self._model.step(reading.state, event))
            for reading in self._living()
        )

    def owed(self, role: str, *, maybe: bool = False) -> Owed:
        """What `role` has to say or do in every living reading; `maybe`: in any of them.

        Readings that already blame someone count only when no other is left: they must not make the tester hurry. Only
        where all readings agree that nothing but a known fault can follow may the tester be impatient.
        """
        if self._excused_from is not None:
            return Owed.NOTHING
        if len(self._readings) == 1:  # nearly always
            return self._owed(self._readings[0], role)
        owed = [self._owed(reading, role) for reading in self._living()]
        if maybe or min(owed) is Owed.NOTHING:
            return max(owed) if maybe else Owed.NOTHING
        return max(owed)

    def _owed(self, reading: _Reading, role: str) -> Owed:
        if reading.state is ANYTHING:
            return Owed.NOTHING
        found, aside = Owed.NOTHING, self._set_aside
        for mark in self._model.owed(reading.state, role):
            if mark not in aside:
                return Owed.SOMETHING
            found = Owed.KNOWN
        return found

    def expects(self, event: Event) -> bool:
        """True when `event` would be allowed, or a fault that is known already, in every living reading. Changes
        nothing."""
        return all(
            isinstance(outcome, Allow) or self._is_set_aside(outcome)
            for reading in self._living()
            if reading.state is not ANYTHING
            for outcome in self._model.step(reading.state, event)
        )

    def _living(self) -> list[_Reading]:
        return [reading for reading in self._readings if reading.breach is None] or self._readings

    @property
    def over(self) -> bool:
        """True once nothing that follows can be judged."""
        return self._excused_from is not None

    def judgement(self) -> Judgement:
        """The verdict so far; the best reading speaks for all (see `_guilt`)."""
        if self._hole:
            return Judgement("error", excused_from=self._excused_from, why=self._hole)
        best = min(self._readings, key=lambda reading: _guilt(reading, self._watched))
        names: list[str] = []
        leans: list[str] = []
        trail = best.trail
        while trail is not None:
            trail, covers, freedoms = trail
            names += set(covers)  # an event shows a requirement once, by however many rules
            leans += freedoms
        lapses = () if self._crowded else tuple(lapse for lapse in best.lapses if lapse.breach.by == self._watched)
        found = Judgement("pass", (), lapses, Counter(names), self._excused_from, "", Counter(leans), best.known)
        if self._crowded:
            return replace(found, verdict="inconclusive", why="too many readings")
        if best.breach is None:
            return found
        if any(reading.breach is None or reading.breach.breach.by != self._watched for reading in self._readings):
            why = f"our own side broke the protocol: {best.breach.breach.why}"
            return replace(found, verdict="inconclusive", why=why)
        return replace(found, verdict="fail", blamed=(best.breach,))


def _guilt(reading: _Reading, watched: str) -> tuple[int, int, int]:
    """How ill a reading speaks of the watched role; of those that blame it, the one that held out longest is best."""
    if reading.breach is None:
        return 0, 0, len(reading.lapses)
    return 1 + (reading.breach.breach.by == watched), -reading.breach.at, len(reading.lapses)


def _distinct(readings: Sequence[_Reading], watched: str) -> list[_Reading]:
    """Readings with equal states merged; the one that speaks better of the watched role survives."""
    kept: list[_Reading] = []
    for reading in readings:
        _merge(kept, reading, watched)
    return kept


def _merge(kept: list[_Reading], reading: _Reading, watched: str) -> bool:
    """Add a reading to those whose states all differ; False when its state is there already."""
    for i, other in enumerate(kept):
        if reading.state is other.state or (
            reading.state is not ANYTHING and other.state is not ANYTHING and reading.state == other.state
        ):
            if _guilt(reading, watched) < _guilt(other, watched):
                kept[i] = reading
            return False
    kept.append(reading)
    return True


def judge(model: Model, config: Any, trace: Trace, watched: str, set_aside: frozenset[str] = frozenset()) -> Judgement:
    """Judge a whole recorded conversation, behind the known faults in `set_aside`."""
    watcher = Watcher(model, config, watched, set_aside)
    for event in trace:
        watcher.feed(event)
    return watcher.judgement()
