"""Brings each event of a conversation with a server to its machine and its rulebook."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.model import ANYTHING, Allow, Breach, Outcome
from specs.msgpack import values
from specs.msgpack.frames import shape
from specs.msgpack.machine import CONNECTION, P
from specs.msgpack.server.book import BOOK, in_line
from specs.msgpack.server.case import Case, Place, place
from specs.msgpack.server.effects import TESTER, put
from specs.msgpack.states import Config, Conn, State

TOLD = {"request": "request", "notification": "notification", "response": "stray response", "odd": "no message"}
"""What a message of the tester is, by its shape."""


class ServerModel:
    """See the module."""

    def initial(self, config: Config) -> State:
        """Nothing said on any connection."""
        return State(config, {})

    def owed(self, state: State, role: str) -> Iterator[str]:
        """What the server has not answered or done."""
        if role == "server":
            for number, conn in state.conns.items():
                if conn.phase is not P.OVER:
                    yield from BOOK.owed(Place(conn.phase, conn, number, state))

    def step(self, state: State, event: Event) -> Iterable[Outcome]:
        """One reading always."""
        if isinstance(event, Quiet):
            return (_silence(state) if event.final else Allow(state),)
        if isinstance(event, Fact):
            return (_fact(state, event),)
        here = place(state, event.conn)
        if here.phase is P.SPOILT and isinstance(event, Said) and event.by == "server":
            return (Allow(put(state, _has_answered(here, event.frame.body))),)
        if here.phase is P.OVER or (here.phase is P.SPOILT and not isinstance(event, Closed)):
            return (Allow(state),)  # what crosses the end of a connection, or may be anything
        if event.by == "client":
            return (_told(state, here, *_action(event)),)
        case = _case(here, event)
        return (Allow(state) if case is None else _judged(state, case),)


def _has_answered(here: Place, body: Any) -> Place:
    """What is said on a spoilt connection may be anything; that it was an answer is remembered (MP-20)."""
    if shape(body) != "response":
        return here
    return here._replace(conn=here.conn._replace(done=here.conn.done | {body[1]}))


def _action(event: Said | Noise | Closed) -> tuple[str, Any]:
    if isinstance(event, Said):
        return TOLD[shape(event.frame.body)], event.frame.body
    return ("client ends", None) if isinstance(event, Closed) else ("no value", event.why)


def _told(state: State, here: Place, action: str, body: Any) -> Allow:
    """What the tester does is right; only the state changes."""
    after = TESTER[action](here, body)
    to = after.phase if isinstance(CONNECTION.at(here.phase, action), tuple) else None
    return Allow(put(after.whole, after._replace(phase=CONNECTION.move(here.phase, action, to))))


def _case(here: Place, event: Said | Noise | Closed) -> Case | None:
    """What the rules look at; None for a request or a notification of the server's own (MP-16)."""
    if isinstance(event, Closed):
        return Case(here, "server ends")
    if isinstance(event, Noise):
        return Case(here, "nonsense", said=f"octets that are no MessagePack: {event.why}")
    what = shape(event.frame.body)
    if what == "odd":
        return Case(here, "nonsense", event.frame.body, said=values.describe(event.frame.body, 200))
    return Case(here, what, event.frame.body, event.frame.wide) if what == "response" else None


def _judged(state: State, case: Case) -> Outcome:
    return _placed(state, BOOK.judge(case, case.action))


def _placed(state: State, outcome: Outcome) -> Outcome:
    """The outcome for one connection, as one for the whole conversation."""
    if isinstance(outcome, Allow):
        after = put(outcome.state.whole, outcome.state)
        return Allow(after, outcome.covers, outcome.lapses, outcome.leans)
    then, behind = (put(s.whole, s) if isinstance(s, Place) else s for s in (outcome.then, outcome.behind))
    return replace(outcome, then=then, behind=behind)


def _fact(state: State, event: Fact) -> Outcome:
    if event.name == "octets" and event.by == "client":
        here = place(state, event.conn)
        return _told(state, here, "part", None) if here.phase is P.LIVE else Allow(state)
    if event.name != "refused":
        return Allow(state)
    conn = Conn()
    case = Case(Place(conn.phase, conn, event.conn, state), "refused", said=f"{event.value!s:.200}")
    breach = BOOK.ask("refused", case).breach
    assert breach is not None
    return breach


def _silence(state: State) -> Outcome:
    """Nothing more will come: whatever is open now is not answered."""
    shown: tuple[str, ...] = ()
    for number, conn in state.conns.items():
        if conn.phase is P.OVER or in_line(state, number):
            continue
        outcome = BOOK.judge(Case(Place(conn.phase, conn, number, state), "silence"), "silence")
        if isinstance(outcome, Breach) or outcome.state is ANYTHING:
            return outcome
        shown += outcome.covers
        after: Place = outcome.state
        case = Case(after, "silence")
        case.about = after.conn.asked[0] if after.conn.asked else None
        found = BOOK.at_silence(after, case)
        if isinstance(found, Breach):
            return _placed(state, found)
        if after.conn is not conn:
            state = put(state, after)
    return Allow(state, tuple(dict.fromkeys(shown)))
