"""What the state is after an event of a client, whether or not something was broken."""

from __future__ import annotations

from specs.msgpack.frames import is_id
from specs.msgpack.idl.client.book import CLIENT
from specs.msgpack.idl.client.case import Case
from specs.msgpack.idl.client.machine import At, ClientState
from specs.msgpack.idl.tree import Function


@CLIENT.effect("request")
def a_call_was_sent(case: Case) -> ClientState:
    """It is open, and its version is in use."""
    state = case.state
    if case.asks_for_versions and is_id(case.number):
        return state._replace(questions=(*state.questions, case.number))
    if not case.asks:
        return state._replace(phase=At.GONE) if case.asks_for_versions else state
    call = case.called
    number = case.number if is_id(case.number) else None
    after = state.changed(call._replace(sent=True, id=number))
    return after._replace(used=after.used | {(call.scope, call.version)})


@CLIENT.effect("nonsense", "opens another", "closes", "breaks down")
def nothing_changes(case: Case) -> ClientState:
    """Nothing that is remembered."""
    return case.state


@CLIENT.effect("reports")
def reported(case: Case) -> ClientState:
    """The oldest op is done. Nothing is called without a connection; where nobody says what becomes of a call, nobody
    says what follows."""
    state = case.state
    (op, call), *rest = state.told
    after = state._replace(told=tuple(rest))
    if op == "connect" and case.refuses:
        return after._replace(phase=At.GONE, told=())
    if call is None:
        return after
    if not isinstance(call.function, Function):
        return after._replace(phase=At.GONE, told=())
    return after if call.sent else after._replace(late=after.late | set(call.names))
