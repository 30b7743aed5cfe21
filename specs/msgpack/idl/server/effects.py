"""What the state is after an event of a server, whether or not something was broken."""

from __future__ import annotations

from specs.msgpack.idl.server.book import SERVER
from specs.msgpack.idl.server.case import Case
from specs.msgpack.idl.server.machine import At, ServerState


def refused_with(case: Case) -> list[tuple[str, str]]:
    """The name of a function without a scope that this answer refuses, with the form of it; [] for none. An error may
    also be what the function came to, and then it is none; and what an older version did before another function was
    assigned refuses no form (ML-29)."""
    call = case.answered
    if case.fits_early:
        return []
    name, *rest = call.method.split(":")
    if not rest or not rest[-1] or not any(want[0] == "value" for want in call.wanted):
        return []
    return [(f"{name}:{rest[-1]}", "::" if len(rest) == 2 else ":")]


@SERVER.effect("answer")
def answered(case: Case) -> ServerState:
    """The call is closed."""
    state = case.state
    if case.at is None:
        return state
    calls = state.calls[: case.at] + state.calls[case.at + 1 :]
    after = state._replace(calls=calls, failed=case.error is not None, answered=True)
    if state.app is not None and state.app.anonymous and case.error is not None:
        after = after._replace(refused=after.refused.union(refused_with(case)))
    return after


@SERVER.effect("reports")
def reported(case: Case) -> ServerState:
    """The oldest op is done; or nothing is served, or what was assigned is as before (ML-20)."""
    state = case.state
    (op, before), *rest = state.told
    after = state._replace(told=tuple(rest))
    if not case.refuses:
        return after
    if op == "serve":
        return after._replace(phase=At.GONE, calls=())
    return after._replace(behaviours=before)


@SERVER.effect("closes", "breaks down")
def over(case: Case) -> ServerState:
    """Nothing is open any more."""
    return case.state._replace(calls=(), told=())
