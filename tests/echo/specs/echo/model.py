"""Brings each event to the rulebook of the role that acted. It does not know which role is watched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from specs.echo import client, server
from specs.echo.machine import ACTORS
from specs.echo.states import Case, Config, Conn, State

from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.model import Allow, Breach, Outcome

BOOKS = {"client": client.BOOK, "server": server.BOOK}


class EchoModel:
    """Turn-based: it takes what the tester said as read. `specs.lag.Lagged` makes it sound for pipelined plans."""

    def initial(self, config: Config) -> State:
        """A client that is judged speaks first, on connection 0."""
        return State(config) if config.puts is None else State(config).put(0, Conn(puts=config.puts))

    def owed(self, state: State, role: str) -> Iterator[str]:
        """What `role` still has to do."""
        for _, conn in state.conns:
            yield from BOOKS[role].owed(conn)

    def step(self, state: State, event: Event) -> Iterator[Outcome]:
        """One reading always."""
        if isinstance(event, Quiet):
            yield _silence(state) if event.final else Allow(state)
        elif isinstance(event, Fact):
            yield Allow(state)
        else:
            case, action = _case(state.conn(event.conn), event)
            yield _placed(state, event.conn, BOOKS[event.by].judge(case, action))


def _case(conn: Conn, event: Said | Noise | Closed) -> tuple[Case, str]:
    """The action and what the rules look at. A word of the other role is as good as noise."""
    if isinstance(event, Closed):
        return Case(conn), f"{event.by} ends"
    if isinstance(event, Noise):
        return Case(conn, shown=f"{event.data[:40]!r} is no line"), f"{event.by} noise"
    word = event.frame.word
    if ACTORS[word] != event.by:
        return Case(conn, shown=f"{word} is not for a {event.by} to say"), f"{event.by} noise"
    return Case(conn, event.frame.name), word


def _silence(state: State) -> Outcome:
    for role in ("client", "server"):
        for number, conn in state.conns:
            found = BOOKS[role].at_silence(conn, Case(conn))
            if isinstance(found, Breach):
                return _placed(state, number, found)
    return Allow(state)


def _placed(state: State, number: int, outcome: Outcome) -> Outcome:
    """The outcome for one connection, as one for the whole conversation."""
    if isinstance(outcome, Allow):
        return replace(outcome, state=state.put(number, outcome.state))
    then, behind = (state.put(number, s) if isinstance(s, Conn) else s for s in (outcome.then, outcome.behind))
    return replace(outcome, then=then, behind=behind)
