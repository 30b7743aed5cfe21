"""Discovery, as many of its questions at once as can be asked.

A discovery asks one question after the other, and what it asks next may depend on the answers. Where they come slowly
it is run several times: with the answers that are known and nothing for the others, which are then asked all at once.
The last run has every answer, each from a conversation that was held for it, or for the same question when less was
known, where what is known by now makes no difference to how it went. Nothing that a run with missing answers comes to
is used.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from specs.model import Judgement
from specs.plan import Plan, TooLong, Wait
from suites.lanes import Lanes

LONG_MS = 1_000
"""What rests for longer is asked only when all that was asked before it is known: nobody waits for it in vain."""
WIDE = 40
"""What opens more connections than that is asked alone: it may leave no place for another question."""
Answer = tuple[Any, Judgement]
Ask = Callable[[Plan, Any], Answer]
Anew = Callable[[Answer, Any], Judgement | None]
"""Judges a conversation that was held with another config; None where it might have gone otherwise with this one."""
Discover = Callable[[Ask, Callable[[Mapping[str, Any]], Any]], Mapping[str, Any]]


class Questions:
    """What has been asked, and what is still to be asked. `guess` stands for an answer that is not there yet. For
    `alone_s` seconds each is asked on the spot. What was asked with another config is judged `anew` if it can be."""

    def __init__(self, ask: Ask, guess: Answer, width: int, alone_s: float, anew: Anew) -> None:
        self._ask, self._guess, self._width, self._anew = ask, guess, width, anew
        self._until = time.monotonic() + alone_s
        self._known: dict[str, list[Answer | TooLong]] = defaultdict(list)
        self._held: dict[str, list[Answer]] = defaultdict(list)
        """By plan, what its conversations have shown."""
        self._asked: Counter[str] = Counter()
        self._missing: list[tuple[Plan, Any]] = []
        self._alone = False
        """True while what is missing has to be asked alone."""

    def look(self, plan: Plan, config: Any) -> Answer:
        """The answer, if it is known; else what the same plan has shown with another config, if it has been played, and
        the question is noted down."""
        key, held = repr((plan, config)), self._held[repr(plan)]
        self._asked[key] += 1
        nth = self._asked[key]
        if nth == len(self._known[key]) + 1 <= len(held):
            trace, _ = held[nth - 1]
            if (judgement := self._anew(held[nth - 1], config)) is not None:
                self._known[key].append((trace, judgement))
        if self._asked[key] > len(self._known[key]) and not self._missing and time.monotonic() < self._until:
            self._take(plan, config, self._answer(plan, config))
        if self._asked[key] <= len(self._known[key]):
            answer = self._known[key][self._asked[key] - 1]
            if isinstance(answer, TooLong):
                raise answer
            return answer
        if not self._missing or not (self._alone or _is_wide(plan) or _is_long(plan)):
            self._missing.append((plan, config))
            self._alone = _is_wide(plan)
        return held[-1] if held else self._guess

    def answer(self) -> bool:
        """Ask what is missing; False when nothing is."""
        missing, self._missing, self._alone = self._missing, [], False
        self._asked.clear()
        lanes = Lanes(self._width)
        for plan, config in missing:
            lanes.submit(partial(self._answer, plan, config), partial(self._take, plan, config))
        while lanes.pending:
            lanes.wait(1.0)
            lanes.collect()
        return bool(missing)

    def _answer(self, plan: Plan, config: Any) -> Answer | TooLong:
        try:
            return self._ask(plan, config)
        except TooLong as told:
            return told

    def _take(self, plan: Plan, config: Any, answer: Answer | TooLong) -> None:
        self._known[repr((plan, config))].append(answer)
        if not isinstance(answer, TooLong):
            self._held[repr(plan)].append(answer)


def _is_wide(plan: Plan) -> bool:
    return len({step.conn for step in plan.steps if hasattr(step, "conn")}) > WIDE


def _is_long(plan: Plan) -> bool:
    return sum(step.ms for step in plan.steps if isinstance(step, Wait)) > LONG_MS


def at_once(
    discover: Discover,
    configure: Callable[[Mapping[str, Any]], Any],
    ask: Ask,
    guess: Answer,
    width: int,
    alone_s: float = 0.0,
    anew: Anew = lambda answer, config: None,
) -> Mapping[str, Any]:
    """What `discover` learns, with `width` questions at a time, once it has taken `alone_s` seconds one after the
    other. One that is asked several times gets an answer of its own each time. `anew` saves questions that were asked
    when less was known."""
    questions = Questions(ask, guess, width, alone_s, anew)
    while True:
        error, learnt = None, None
        try:
            learnt = discover(questions.look, configure)
        except Exception as raised:  # noqa: BLE001 - it is raised when it comes of answers
            error = raised
        if not questions.answer():
            if error is not None:
                raise error
            assert learnt is not None
            return learnt
