"""What a client still has to send or to report. Source: 004_4ca5b084f7ea0751.txt, client side; RPC."""

from __future__ import annotations

from collections.abc import Iterator

from specs.msgpack.idl.client.book import CLIENT
from specs.msgpack.idl.client.machine import NAMED, At, ClientState
from specs.msgpack.idl.compiler.causes import INTERFACES_WRITTEN_OUT
from specs.msgpack.idl.promises import Promise
from specs.msgpack.idl.server.causes import OPTIONAL
from specs.rules import Due

OLDER, FAILS = "MPIDL-KLI-03", "MPIDL-KLI-02"


def unsent(state: ClientState) -> str:
    """What is broken by whoever does not send the call that goes on."""
    assert state.call is not None
    if state.call.older:
        return OLDER
    if state.call.inherited:
        return INTERFACES_WRITTEN_OUT
    return OPTIONAL if state.call.left else NAMED


UNSENT = f"{NAMED} {OLDER} {INTERFACES_WRITTEN_OUT} {OPTIONAL}"


@CLIENT.duty(UNSENT, met_by="request", when=(At.CALLING, At.OVER))
def a_call_is_sent(state: ClientState) -> Due | str:
    """client side: `storage.add("key", "value")` calls `add:storage:1`; each version of a service has functions of its
    own to call."""
    call = state.call
    if state.phase is At.GONE or call is None or call.function is None or call.sent or state.questions:
        return ""
    return Due(f"nothing was sent for {call.name}", call, requirement=unsent(state))


@CLIENT.duty(" ".join((FAILS, Promise.SAME_VALUE, Promise.MISSING, Promise.NIL, Promise.WIDTH)), met_by="")
def what_was_answered_is_reported(state: ClientState) -> Iterator[Due]:
    """RPC, Response Message. It is credited by what the report says."""
    call = state.call
    if state.phase is not At.GONE and call is not None and call.wanted and not state.questions:
        rule = FAILS if call.wanted[0][0] == "failure" and call.rule is None else call.rule or Promise.SAME_VALUE
        yield Due(f"{call.name} was answered, and nothing is reported", call, requirement=str(rule))


@CLIENT.duty(NAMED, met_by="")
def what_it_is_told_is_answered(state: ClientState) -> Iterator[Due]:
    """An answer to each op (docs/implementations.md). It says nothing of calls, so that it is no credit."""
    if state.phase is not At.GONE and state.told and state.call is None and not state.questions:
        yield Due(f"no answer came: {state.told[0][0]!s:.80}", about=state.told[0][0])
