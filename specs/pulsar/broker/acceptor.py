"""The acceptor of a broker: which frames the text allows in answer to what a client said.

Source: 001_c0ea8805bb7ed422.txt, "Interactions". An envelope: whatever was asked stays open until it is answered, and
nothing depends on when the broker read it, so one reading is sound in lock-step and with any number of frames on their
way, on any number of connections.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from specs.events import Closed, Event, Noise, Quiet, Said
from specs.model import Allow, Outcome
from specs.pulsar.broker.answers import heard
from specs.pulsar.broker.endings import closed, fact, noise
from specs.pulsar.broker.owed import due, quiet
from specs.pulsar.broker.requests import said
from specs.pulsar.states import (
    P,
    State,
)


class BrokerModel:
    """See the module."""

    drifts = False

    def initial(self, config: Any) -> State:
        """Nothing said on any connection."""
        return State(config)

    def drift(self, state: State) -> Iterable[State]:
        """None; see the module."""
        return ()

    def owed(self, state: State, role: str) -> Iterator[str]:
        """The rules of what the broker has still to say."""
        if role == "broker":
            for rule, _ in due(state):
                yield P + rule

    def step(self, state: State, event: Event) -> Iterable[Outcome]:
        """One reading always."""
        state = state._replace(clock=state.clock + 1)
        if isinstance(event, Said):
            if event.by == "client":
                return (Allow(said(state, event.conn, event.frame)),)
            return (heard(state, event.conn, event.frame),)
        if isinstance(event, Quiet):
            return (quiet(state, event),)
        if isinstance(event, Closed):
            return (closed(state, event),)
        if isinstance(event, Noise):
            return (noise(state, event),)
        return (fact(state, event),)
