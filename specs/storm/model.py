"""The only place that says what Storm multilang allows. It does not know which role is watched.

It is an envelope: what was said is held until it is answered, whenever that is, so it is as sound with messages on
their way as it is in lock-step. Each event goes to the module of whoever did it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.model import Allow, Breach, Outcome
from specs.storm import asked, child, host, told
from specs.storm.said import breach
from specs.storm.states import Config, Conv, HostConv, State


class StormModel:
    """See `specs.model.Model`."""

    drifts = False

    def initial(self, config: Config) -> State:
        """Nothing said."""
        return State(config)

    def drift(self, state: State) -> Iterator[State]:
        """None: what a side does in silence is in the envelope."""
        return iter(())

    def owed(self, state: State, role: str) -> Iterator[str]:
        """Requirements by which `role` still has something to say or do."""
        config = state.config
        if role != config.role:
            return
        for _, conv in state.convs:
            yield from asked.owed(config, conv) if config.hosted else child.owed(config, conv)

    def step(self, state: State, event: Event) -> Iterator[Outcome]:
        """Every reading of `event`."""
        if isinstance(event, Quiet):
            yield _quiet(state, event)
            return
        conv = state.conv(event.conn)
        outcomes = _of_host(state.config, conv, event) if state.config.hosted else _of_child(state.config, conv, event)
        for outcome in outcomes:
            yield _placed(state, event.conn, outcome)


def _quiet(state: State, event: Quiet) -> Outcome:
    config = state.config
    covers: tuple[str, ...] = ()
    lapses: tuple[Breach, ...] = ()
    for number, conv in state.convs:
        if config.hosted:
            found = asked.quiet(config, conv, event)
        elif event.final:
            found = child.silence(config, conv)
        else:
            found = None
        if isinstance(found, Breach):
            return found
        if found is not None:
            state = state.put(number, found.state)
            covers, lapses = covers + found.covers, lapses + found.lapses
    return Allow(state, covers, lapses)


def _placed(state: State, number: int, outcome: Outcome) -> Outcome:
    if isinstance(outcome, Allow):
        if not isinstance(outcome.state, (Conv, HostConv)):
            return outcome
        return Allow(state.put(number, outcome.state), outcome.covers, outcome.lapses)
    then: Any = outcome.then
    return replace(outcome, then=state.put(number, then)) if isinstance(then, (Conv, HostConv)) else outcome


def _of_child(config: Config, conv: Conv, event: Said | Noise | Closed | Fact) -> Iterator[Outcome]:
    """A child is judged."""
    ours = event.by == config.host
    if isinstance(event, Noise):
        yield breach(event.by, "FRAME-02", f"a message has no end: {event.data[:80]!r}")
    elif isinstance(event, Said):
        yield told.said(config, conv, event.frame) if ours else child.said(config, conv, event.frame)
    elif isinstance(event, Closed):
        yield told.closes(conv, event.how) if ours else Allow(conv._replace(muted=True))
    elif ours:
        yield told.octets(conv) if event.name == "octets" else Allow(conv)
    else:
        yield child.fact(config, conv, event.name, event.value)


def _of_host(config: Config, conv: HostConv, event: Said | Noise | Closed | Fact) -> Iterator[Outcome]:
    """A host is judged: the tester is its child, and whoever calls it."""
    ours = event.by == config.child
    if isinstance(event, Noise):
        if ours:
            yield Allow(conv)
        else:
            yield breach(event.by, "FRAME-02", f"a message has no end: {event.data[:80]!r}")
    elif isinstance(event, Said):
        yield from host.heard(config, conv, event.frame) if ours else iter([host.said(config, conv, event.frame)])
    elif isinstance(event, Closed):
        yield Allow(conv) if ours else asked.ends_child(config, conv)
    elif ours:
        yield asked.does(config, conv, event.name, event.value)
    else:
        yield asked.fact(config, conv, event.name, event.value)
