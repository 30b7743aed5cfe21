"""The acceptor of a client: what it sends for what it was told, and what it reports.

Source: 001_c0ea8805bb7ed422.txt. What the tester tells the client stands in the trace as a Fact of the broker. A client
does one thing after the other; while it waits for the broker nothing is owed. Its connections are numbered in the order
in which it opens them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from specs.events import Closed, Event, Noise, Quiet, Said
from specs.model import Allow, Breach, Outcome
from specs.pulsar.client.calling import heard
from specs.pulsar.client.hearing import lost, no_frame, said
from specs.pulsar.client.owed import due, quiet
from specs.pulsar.client.reporting import fact
from specs.pulsar.client.state import ClientState, blame, ids
from specs.pulsar.states import P

UNHEARD = frozenset({"INV-CLIENT-23", "INV-CLIENT-29"})
"""Nobody says what a client does about consumers and producers that it has not: it should not mind."""


def _distrusts(state: ClientState) -> bool:
    """True when a client may have had enough of a broker: it cannot read what it gets, or was told of an error that is
    about no request."""
    return "INV-CLIENT-22" in state.tried or any(rule != "MSG-04" for rule in state.unread)


class ClientModel:
    """See the module."""

    drifts = False

    def initial(self, config: Any) -> ClientState:
        """Nothing done."""
        return ClientState(config)

    def drift(self, state: ClientState) -> Iterable[ClientState]:
        """None."""
        return ()

    def owed(self, state: ClientState, role: str) -> Iterator[str]:
        """What the client has still to say."""
        if role == "client":
            for rule, _, _ in due(state):
                yield P + rule

    def step(self, state: ClientState, event: Event) -> Iterable[Outcome]:
        """One reading always."""
        if isinstance(event, Said):
            if event.by == "client":
                return (_marked(state, heard(state, event.conn, event.frame)),)
            return (Allow(said(state, event.conn, event.frame)),)
        if isinstance(event, Quiet):
            return (_marked(state, quiet(state, event)),)
        if isinstance(event, Closed):
            return (_marked(state, _closed(state, event)),)
        if isinstance(event, Noise):
            if event.by == "client":
                rule = "FRM-09" if event.why == "over-limit" else "FRM-02" if event.why == "command-size" else "FRM-05"
                return (blame(rule, f"the client sent octets that are no frame: {event.why}"),)
            return (Allow(no_frame(state, event)),)
        return (_marked(state, fact(state, event)),)


def _marked(state: ClientState, outcome: Outcome) -> Outcome:
    """The outcome; what is broken after something odd breaks the requirement of that oddity as well."""
    if isinstance(outcome, Breach) and state.tried:
        return replace(outcome, also=tuple(dict.fromkeys((*outcome.also, *ids(" ".join(sorted(state.tried)))))))
    return outcome


def _closed(state: ClientState, event: Closed) -> Outcome:
    line = state.line(event.conn)
    covers = ids("FRM-13") if line.odd else ()
    covers += ids(line.must) if line.must else ()
    covers += ids("KA-08") if line.probe else ()
    keepalive = state.config.keepalive_ms
    if event.by == "client" and (line.probe and line.low + 1000 >= keepalive if keepalive else line.unanswered):
        return Allow(lost(state, event.conn, forced=False), covers)
    if event.by == "client" and not (line.odd or line.over or state.left or state.doubt or _distrusts(state)):
        alive = any(end.line == event.conn and end.phase in ("open", "asked") for end in state.ends)
        closed = next((end for end in state.ends if end.line == event.conn and end.phase == "lost"), None)
        if alive:
            known = next(iter(sorted(state.tried & UNHEARD)), "REQ-04")
            rule = (known, "the client closed the connection over something that it must ignore", "")
            if not state.odd and closed is not None:
                known = "CLP-07" if closed.kind == "producer" else "CLC-02"
                rule = (known, f"the client closed the connection when its {closed.kind} was closed", "KA-09")
            elif not state.odd:
                rule = ("KA-09", "the client closed a connection on which nothing was wrong", "")
            state = state._replace(hung=state.hung or rule)
    return Allow(lost(state, event.conn, forced=False), covers)
