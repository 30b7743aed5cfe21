"""What a server still owes. Source: RPC; docs/implementations.md."""

from __future__ import annotations

from collections.abc import Iterator

from specs.msgpack.idl.promises import Promise
from specs.msgpack.idl.server.book import SERVER
from specs.msgpack.idl.server.machine import At, ServerState
from specs.rules import Due


@SERVER.duty(Promise.REACHED, met_by="")
def what_it_is_told_is_answered(state: ServerState) -> Iterator[Due]:
    """An answer to each op (docs/implementations.md). It says nothing of calls, so that it is no credit."""
    if state.phase is not At.GONE:
        for op, _ in state.told:
            yield Due(f"no answer came: {op!s:.80}", about=op)


@SERVER.duty(" ".join(dict.fromkeys(Promise)), met_by="")
def every_call_is_answered(state: ServerState) -> Iterator[Due]:
    """RPC: a response to each request. What the call is about is broken; it is credited by what the answer says."""
    if state.phase is not At.GONE:
        for call in state.calls:
            rule = call.rule or Promise.UNKNOWN
            yield Due(f"no answer came: {call.method!s:.80}", about=call, requirement=rule.value)
