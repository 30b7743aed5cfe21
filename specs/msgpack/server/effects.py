"""What actions do to the state of a conversation with a server, whether or not something was broken."""

from __future__ import annotations

from typing import Any

from specs.msgpack.calls import called, oddity
from specs.msgpack.frames import is_int
from specs.msgpack.machine import P
from specs.msgpack.server.book import BOOK, HOPELESS, NEARLY, UNREADABLE, passed_over
from specs.msgpack.server.case import Case, Place
from specs.msgpack.states import Asked, Config, Conn, State

GIVEN = 8
"""Answered requests of each connection that are remembered, to see whose result another one got."""


# -- what the tester does ---------------------------------------------------------------------------------------------


def request(here: Place, body: Any) -> Place:
    """A request is open from now on. One whose id is open already spoils the connection; MP-11."""
    state, conn = here.whole, here.conn
    _, name, method, params = body
    if any(other.id == name for other in conn.asked):
        return _spoilt(here, "an id that is still open")
    want = called(state.config, method, params)
    least = None
    if want.kind == "count" and state.counted is not None:
        least = state.counted + state.bumped
    bad = state.bad or any(there.midway for other, there in state.conns.items() if other != here.number)
    asked = Asked(name, want, bool(conn.asked), bad, least, conn.midway)
    return here._replace(conn=conn._replace(asked=(*conn.asked, asked), midway=False))


def notification(here: Place, body: Any) -> Place:
    """A notification is said, which may be counted, or refused as a request may."""
    state, conn = here.whole, here.conn
    _, method, params = body
    if called(state.config, method, params).closes:
        return _spoilt(here, "a notification that may be refused")
    if method and method == state.config.name("bump") and not params:
        state = state._replace(bumped=state.bumped + 1)
    return here._replace(whole=state, conn=conn._replace(noted=True, fresh=frozenset(), midway=False))


def stray_response(here: Place, body: Any) -> Place:
    """No text has a rule for it."""
    return _spoilt(here, "a response that nobody asked for")


def no_message(here: Place, body: Any) -> Place:
    """A value that is no message."""
    return _spoilt(here, HOPELESS if _hopeless(here.config, body) else NEARLY)


def no_value(here: Place, why: str) -> Place:
    """Octets that are no value, or one that need not be read."""
    return _spoilt(here, UNREADABLE if why == "never-used" else why)


def part(here: Place, body: Any) -> Place:
    """A message was begun."""
    return here._replace(conn=here.conn._replace(midway=True))


def client_ends(here: Place, body: Any) -> Place:
    """Nothing is waited for any more."""
    return here._replace(conn=here.conn._replace(asked=()))


TESTER = {
    "request": request, "notification": notification, "stray response": stray_response, "no message": no_message,
    "no value": no_value, "part": part, "client ends": client_ends,
}  # fmt: skip
"""What each action of the tester does."""


def _hopeless(config: Config, body: Any) -> bool:
    """True for what every reader can read and none takes for a message, however lenient it is; MP-05."""
    if oddity(body, config):
        return False
    if not isinstance(body, tuple) or not body:
        return True
    return is_int(body[0]) and body[0] not in (0, 1, 2)  # there are languages in which false, 0.0, "0" or nil equal 0


def _spoilt(here: Place, bad: str) -> Place:
    if any(asked.want.closes for asked in here.conn.asked):
        bad = "what lies behind a request that may be refused"
    conn = here.conn._replace(bad=here.conn.bad or bad, midway=False)
    return here._replace(phase=P.SPOILT, conn=conn, whole=here.whole._replace(bad=True))


# -- what the server does ---------------------------------------------------------------------------------------------


@BOOK.effect("response")
def one_request_fewer(case: Case) -> Place:
    """The request that is answered, or was meant to be, is open no more. An error to one that may be refused may come
    from a server that does not go on."""
    here, conn = case.state, case.conn
    asked = case.about
    if asked is None:
        if case.error is not None and any(each.want.closes for each in conn.asked):
            return here._replace(phase=P.SPOILT, conn=conn._replace(bad="a request that was refused"))
        return here if case.meant is None else here._replace(conn=_without(conn, case.meant))
    whole = here.whole
    if asked.want.kind == "count":
        known = case.error is None and is_int(case.result)
        whole = whole._replace(counted=case.result if known else None, bumped=0)
    conn = _without(conn, asked)
    if asked.want.closes and case.error is not None:
        return Place(P.SPOILT, conn._replace(bad=conn.bad or "a request that was refused"), here.number, whole)
    return Place(here.phase, conn, here.number, whole)


def _without(conn: Conn, asked: Asked) -> Conn:
    left = tuple(other for other in conn.asked if other is not asked)
    given = (*conn.given[1 - GIVEN :], asked)
    return conn._replace(asked=left, done=conn.done | {asked.id}, fresh=conn.fresh | {asked.id}, given=given)


@BOOK.effect("nonsense")
def it_may_have_been_an_answer(case: Case) -> Place:
    """The oldest open request is open no more."""
    return case.state._replace(conn=case.conn._replace(asked=case.conn.asked[1:]))


@BOOK.effect("silence")
def what_could_not_be_read_was_passed_over(case: Case) -> Place:
    """Perhaps with what lay behind it in the same read."""
    here = case.state
    if here.phase is P.LIVE and any(passed_over(asked.want) for asked in here.conn.asked):
        conn = here.conn._replace(asked=(), bad="a request that was passed over")
        return here._replace(phase=P.SPOILT, conn=conn)
    return here


@BOOK.effect("server ends")
def nothing_is_open_any_more(case: Case) -> Place:
    """The connection is over. What was notified on one that a server ends when nothing is open may not be counted."""
    here = case.state
    if here.config.brief and here.conn.noted and here.conn.done:
        here = here._replace(whole=here.whole._replace(counted=None))
    return here._replace(conn=here.conn._replace(asked=()))


def put(state: State, here: Place) -> State:
    """`state` with one connection changed."""
    conn = here.conn if here.conn.phase is here.phase else here.conn._replace(phase=here.phase)
    return state._replace(conns={**state.conns, here.number: conn})
