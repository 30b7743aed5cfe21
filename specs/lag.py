"""Makes a turn-based model sound while the tester's own frames are still on the wire.

What the tester says goes into a queue, one for each connection. The peer may consume the head of any queue at any time,
and only then does the inner model see it. So a frame of the peer is judged in every reading: for each way in which the
peer may have read what was on its way when it said this. That also absorbs the time which the peer's own frames spend
on the wire, but not that frames of two connections overtake each other: for that the inner model has its own `drift`.

A `Quiet(final=True)` means that the peer was given the time to read everything, so only readings in which it did are
judged. A peer that ends a connection reads no more from it: what it had not read is dropped. What the inner model says
the tester's own frames cover is not counted: it speaks of the role that nobody watches.

The readings are made when an event has to be judged, not before: of two of which one can still become the other, only
the one that has consumed less is kept. Otherwise a dozen frames on two connections were more readings than a watcher
keeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from specs.events import Closed, Event, Quiet
from specs.model import ANYTHING, Allow, Breach, Model, Outcome, drift_of
from specs.values import quick_replace

MAX_QUEUED = 32
"""Events of the tester that may be on their way at once. One more is a breach of our own side, hence inconclusive."""
MAX_READS = 512
"""Ways to have consumed them that are tried for one event; more is a breach of our own side as well."""


@quick_replace
class Lag(NamedTuple):
    """`queues` hold what the peer has not read yet, by connection; `inner` is the inner model's state."""

    queues: tuple[tuple[int, tuple[Event, ...]], ...]
    inner: Any


_Read = tuple[Lag, Breach | None]
"""A state that consuming may lead to, and the first breach on the way there."""


class Lagged:
    """The inner `model`, played against by the role `played`. States are `Lag` or ANYTHING."""

    def __init__(self, model: Model, played: str) -> None:
        self._model, self._drift = model, drift_of(model)
        self._played = played

    def initial(self, config: Any) -> Lag:
        """Nothing on its way."""
        return Lag((), self._model.initial(config))

    def owed(self, state: Lag, role: str) -> Iterator[str]:
        """What `role` will owe once everything was consumed: nothing can be due before."""
        for here, _ in self._reads(state):
            if not here.queues and here.inner is not ANYTHING:
                yield from self._model.owed(here.inner, role)

    def step(self, state: Lag, event: Event) -> Sequence[Outcome]:
        """What we said is queued; what the peer said is judged by what it may have consumed."""
        final = False
        if isinstance(event, Quiet):
            final = event.final
        elif event.by == self._played:
            return (self._queued(state, event),)
        reads = self._reads(state)
        if len(reads) > MAX_READS:
            return (Breach(self._played, "", "there are too many ways to have read what is on its way"),)
        outcomes: list[Outcome] = []
        for here, breach in reversed(reads):  # where readings blame alike, the one that has read most speaks
            if final and here.queues and here.inner is not ANYTHING:
                continue
            found = list(self._judged(here, breach, event))
            if not found:
                return ()  # a hole in the inner model is one in this
            outcomes += found
        return self._pruned(outcomes) if len(outcomes) > 1 else outcomes

    def _queued(self, state: Lag, event: Any) -> Outcome:
        if sum(len(queue) for _, queue in state.queues) >= MAX_QUEUED:
            return Breach(self._played, "", f"more than {MAX_QUEUED} frames on their way at once")
        queues = dict(state.queues)
        queues[event.conn] = (*queues.get(event.conn, ()), event)
        return Allow(state._replace(queues=tuple(sorted(queues.items(), key=lambda item: item[0]))))

    def _reads(self, state: Lag) -> list[_Read]:
        """Every state that the peer can have come to by consuming and by moves of the inner model."""
        reads: list[_Read] = [(state, None)]
        for here, breach in reads:  # grows on the way
            if here.inner is ANYTHING or here.inner is _HOLE:
                continue
            silent = () if self._drift is None else self._drift(here.inner)
            moved = [(here._replace(inner=inner), breach) for inner in silent]
            reads += [read for read in (*moved, *self._consumed(here, breach)) if read not in reads]
            if len(reads) > MAX_READS:
                break
        return reads

    def _consumed(self, state: Lag, breach: Breach | None) -> Iterator[_Read]:
        for i, (conn, (event, *rest)) in enumerate(state.queues):
            left = ((conn, tuple(rest)),) if rest else ()
            queues = state.queues[:i] + left + state.queues[i + 1 :]
            outcomes = list(self._model.step(state.inner, event))
            if not outcomes:
                yield Lag(queues, _HOLE), breach
            for outcome in outcomes:
                if isinstance(outcome, Allow):
                    yield Lag(queues, outcome.state), breach
                elif outcome.by == self._played and outcome.then is not ANYTHING:
                    yield Lag(queues, outcome.then), breach  # the text says what follows: judging goes on
                else:
                    yield Lag(queues, outcome.then), breach or replace(outcome, then=ANYTHING)

    def _judged(self, here: Lag, breach: Breach | None, event: Event) -> Iterator[Outcome]:
        if here.inner is ANYTHING:
            yield breach or Allow(ANYTHING)
            return
        queues = here.queues
        if isinstance(event, Closed):
            queues = tuple(pair for pair in queues if pair[0] != event.conn)
        for outcome in () if here.inner is _HOLE else self._model.step(here.inner, event):
            inner = outcome.state if isinstance(outcome, Allow) else outcome.then
            after = ANYTHING if inner is ANYTHING else Lag(queues, inner)
            if breach is not None:
                yield replace(breach, then=after)
            elif isinstance(outcome, Allow):
                yield replace(outcome, state=after)
            else:
                behind = None if outcome.behind is None else here._replace(inner=outcome.behind)
                yield replace(outcome, then=after, behind=behind)

    def _pruned(self, outcomes: list[Outcome]) -> list[Outcome]:
        """Without those that another one, which is blamed for nothing, can still become by consuming."""
        clean = [o.state for o in outcomes if isinstance(o, Allow) and not o.lapses and o.state is not ANYTHING]
        later = [after for state in clean for after, breach in self._consumed(state, None) if breach is None]
        return [o for o in outcomes if not (isinstance(o, Allow) and o.state in later)]


_HOLE = object()
"""Stands for the inner state after something for which the inner model has no rule."""
