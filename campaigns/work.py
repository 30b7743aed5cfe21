"""One task of a campaign: play so many plans, and tell what they showed. Knows no Spark.

What a task answers follows from its order and from what was known, as long as the implementation is in memory: a task
that is done again, because its machine was lost, answers the same.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from campaigns.breeding import bred
from campaigns.found import Found, Known, Order, written
from campaigns.novelty import features, watching
from campaigns.sources import Alarm, Blamed, Target, opened
from strategies.common import Program
from suites.draws import Draws
from suites.properties import properties
from suites.pursuit import Property

WHY = 300
"""Characters of a sentence that are kept."""


def work(order: Order, known: Known) -> Iterator[Found]:
    """What one task finds. Raises CannotJudge when the implementation cannot be started here."""
    with opened(order, known.aside) as target:
        yield from played(order, known, target)


def played(order: Order, known: Known, target: Target) -> Iterator[Found]:
    """What the plans of an order show on a target that is open."""
    yield from _Task(order, known, target).done()


@dataclass(slots=True)
class _Shortest:
    """The shortest program that showed something, and how many conversations did. `more`: what a row tells besides."""

    key: str
    program: Program
    conversations: int = 0
    more: dict[str, str] = field(default_factory=dict)

    def seen(self, key: str, program: Program) -> None:
        self.conversations += 1
        if (len(program.ops), program) < (len(self.program.ops), self.program):
            self.key, self.program = key, program


class _Task:
    """The plans of one order, played and counted."""

    def __init__(self, order: Order, known: Known, target: Target) -> None:
        self._order, self._known, self._target = order, known, target
        self._chance = Random(order.seed)
        self._until = time.monotonic() + order.seconds
        self._plans: Counter[str] = Counter()
        self._verdicts: Counter[str] = Counter()
        self._judged: Counter[str] = Counter()
        self._exercised: Counter[str] = Counter()
        self._leaned: Counter[str] = Counter()
        self._features: dict[str, _Shortest] = {}
        self._faults: dict[tuple[str, str, str], _Shortest] = {}
        self._alarms: dict[tuple[str, str], _Shortest] = {}

    def done(self) -> Iterator[Found]:
        """Play, then tell."""
        ended = ""
        of_role = properties(self._target.protocol.name, self._target.role)
        cases = [(prop, share) for prop, weight in of_role if (share := weight * self._target.weight(prop)) > 0]
        self._chance.shuffle(cases)  # a short task reaches others than the one before
        for turn in _dealt(cases, self._order.plans):
            if time.monotonic() > self._until:
                ended = f"the {self._order.seconds:.0f} s of a task were over"
                break
            self._play(turn)
        return self._told(ended)

    def _play(self, turn: _Turn) -> None:
        prop = turn.prop
        program = self._program(turn)
        with watching(self._target.protocol.machines) as trails:
            played = self._target.play(prop, lambda config: prop.plan(program, config))
            judgement = played.judgement
            shown = features(judgement, trails)
        self._plans[prop.key] += 1
        self._verdicts[judgement.verdict] += 1
        self._judged.update(judgement.covered)
        self._exercised.update(judgement.covered.keys())
        self._leaned.update(judgement.leaned.keys())
        for name in shown:
            self._features.setdefault(name, _Shortest(prop.key, program)).seen(prop.key, program)
        for blamed in played.blamed:
            self._note(prop.key, program, blamed)
        for alarm in played.alarms:
            self._note_alarm(prop.key, program, alarm)

    def _note(self, key: str, program: Program, blamed: Blamed) -> None:
        name, level, blame = blamed
        self._exercised.update((name,))
        self._judged.update((name,))
        at = (name, level, blame.breach.fingerprint)
        self._faults.setdefault(at, _Shortest(key, program, more={"why": blame.breach.why[:WHY]})).seen(key, program)

    def _note_alarm(self, key: str, program: Program, alarm: Alarm) -> None:
        at = (alarm.name, alarm.about)
        self._alarms.setdefault(at, _Shortest(key, program, more={"why": alarm.why[:WHY]})).seen(key, program)

    def _program(self, turn: _Turn) -> Program:
        """The next program of a property: one that is drawn, or bred from those that showed something new."""
        draws = turn.drawn(self._order.seed)
        parents = self._known.programs.get(turn.prop.key, ())
        if parents and self._chance.random() >= self._order.fresh:
            return bred(parents, self._chance)
        return next(draws)

    def _told(self, ended: str) -> Iterator[Found]:
        total = sum(self._plans.values())
        yield self._row("task", "", times=total, conversations=sum(self._verdicts.values()), why=ended)
        for key, plans in sorted(self._plans.items()):
            yield self._row("property", key, times=plans)
        for verdict, conversations in sorted(self._verdicts.items()):
            yield self._row("verdict", verdict, conversations=conversations)
        for name, count in sorted(self._judged.items()):
            yield self._row("judged", name, times=count, conversations=self._exercised[name])
        for name, conversations in sorted(self._leaned.items()):
            yield self._row("leaned", name, conversations=conversations)
        for name, shortest in sorted(self._features.items()):
            size = len(shortest.program.ops)
            new = size < self._known.sizes.get(name, size + 1)
            more = {"key": shortest.key, "program": written(shortest.program), "size": size} if new else {}
            yield self._row("feature", name, conversations=shortest.conversations, **more)
        for (name, level, fingerprint), shortest in sorted(self._faults.items()):
            yield self._shown("fault", name, shortest, level=level, about=fingerprint)
        for (name, about), shortest in sorted(self._alarms.items()):
            yield self._shown("alarm", name, shortest, about=about)

    def _shown(self, kind: str, name: str, shortest: _Shortest, **more: Any) -> Found:
        return self._row(
            kind, name, why=shortest.more["why"], key=shortest.key, program=written(shortest.program),
            size=len(shortest.program.ops), conversations=shortest.conversations, **more,
        )  # fmt: skip

    def _row(self, kind: str, name: str, **more: Any) -> Found:
        order, target = self._order, self._target
        return Found(
            campaign=order.campaign, wave=order.wave, task=order.task, source=order.source,
            protocol=target.protocol.name, role=target.role, profile=target.profile, kind=kind, name=name, **more,
        )  # fmt: skip


@dataclass(slots=True)
class _Turn:
    """A property and its draws, which begin when the first is wanted."""

    prop: Property
    draws: Draws | None = None

    def drawn(self, seed: int) -> Draws:
        if self.draws is None:
            self.draws = Draws(self.prop.programs, self.prop.name, run_seed=seed, deals=self.prop.deals)
        return self.draws


def _dealt(cases: Sequence[tuple[Property, float]], plans: int) -> Iterator[_Turn]:
    """Whose turn it is, `plans` times: always the property that has had the least of its weight."""
    turns = [(_Turn(prop), weight) for prop, weight in cases]
    had = [0.0] * len(turns)
    for _ in range(plans):
        at = min(range(len(turns)), key=lambda n: (had[n], n))
        turn, weight = turns[at]
        had[at] += 1 / weight
        yield turn
