"""What actions do to the state of a conversation with a client, whether or not something was broken."""

from __future__ import annotations

from typing import Any

from specs.msgpack.client.book import BOOK, changed_at
from specs.msgpack.client.case import Case
from specs.msgpack.format import decoded
from specs.msgpack.frames import is_int
from specs.msgpack.states import Call, ClientState
from specs.msgpack.values import alike

# -- what the tester does ---------------------------------------------------------------------------------------------


def response(state: ClientState, body: Any) -> ClientState:
    """A response settles the open call that has its id. Another one is a stray."""
    _, number, error, result = body
    for at, call in enumerate(state.calls):
        if call.number == number and is_int(number) and not call.outcome:
            outcome, value = ("result", result) if error is None else ("error", error)
            return changed_at(state, at, call._replace(outcome=outcome, value=value))
    for at, call in enumerate(state.calls):
        if call.number == number and is_int(number):
            state = changed_at(state, at, call._replace(again=(*call.again, result)))
    return state._replace(strays=(*state.strays, (number, result)))


def loses(state: ClientState, body: Any = None) -> ClientState:
    """Open calls cannot be answered any more."""
    return state._replace(calls=tuple(c if c.outcome else c._replace(outcome="lost") for c in state.calls))


def told(state: ClientState, body: Any) -> ClientState:
    """A command has to be answered, and a call to be made."""
    op, value = body
    given = value if isinstance(value, dict) else {}
    method = str(given.get("method", ""))
    name = str(given.get("_method", method))
    if op in ("call", "call_async", "notify"):
        params, _ = decoded(bytes.fromhex(given["params_hex"]))
        call = Call(op, method, params, name, outcome="lost" if state.lost else "")
        state = state._replace(calls=(*state.calls, call))
    return state._replace(told=(*state.told, (op, name)), left=state.left or op == "disconnect")


TESTER = {"told": told, "response": response, "no message": loses, "server ends": loses}
"""What each action of the tester does."""

# -- what the client does ---------------------------------------------------------------------------------------------


@BOOK.effect("request", "notification")
def a_call_was_sent(case: Case) -> ClientState:
    """Its id is known from now on. What is like nothing that it was told to call is its own request (MP-16)."""
    if case.at is None or case.call is None:
        told = any(not call.sent and alike(call.params, case.body[-1]) for call in case.state.calls)
        return case.state._replace(asks=case.state.asks or (case.action == "request" and not told))
    number = case.body[1] if case.action == "request" else None
    crossed = any(is_int(known) and known == number for known, _ in case.state.strays)
    return changed_at(case.state, case.at, case.call._replace(sent=True, number=number, crossed=crossed))


@BOOK.effect("nonsense", "opens another")
def nothing_changes(case: Case) -> ClientState:
    """Nothing that is remembered."""
    return case.state


@BOOK.effect("reports")
def a_command_was_answered(case: Case) -> ClientState:
    """The oldest command is open no more."""
    return case.state._replace(told=case.state.told[1:])


@BOOK.effect("client ends")
def open_calls_are_lost(case: Case) -> ClientState:
    """They cannot be answered any more."""
    return loses(case.state)
