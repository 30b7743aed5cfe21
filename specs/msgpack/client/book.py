"""The rulebook of a client, and how its calls are found.

Source: MessagePack-RPC specification, Request Message, Notification Message, Response Message. A client does one thing
after the other: a call that blocks holds up what it is told behind it. Calls are known by their name: that is their
method, or what the plan names them besides, where one method is called again. What the tester tells the client stands
in the trace as a Fact of the server.
"""

from __future__ import annotations

from typing import Any

from specs.msgpack.machine import CALLER
from specs.msgpack.registry import REQUIREMENTS
from specs.msgpack.states import Call, ClientState
from specs.msgpack.values import alike
from specs.rules import Rulebook

BOOK = Rulebook("client", REQUIREMENTS, CALLER)
BLOCKING = ("call", "await")

MATCHED = "MPRPC-CLI-01"
ERRORS_FAIL = "MPRPC-CLI-02"
STRAYS_SPOIL_NOTHING = "MPRPC-CLI-03"
OPEN_IDS_DIFFER = "MPRPC-REQ-02"
NOTIFIES_AS_WRITTEN = "MPRPC-NOTE-02"


def position(state: ClientState, name: str) -> int | None:
    """Where the call of that name stands among the calls."""
    return next((at for at, call in enumerate(state.calls) if call.name == name), None)


def written(state: ClientState, action: str, body: Any) -> int | None:
    """Which call a request or a notification is: of those to its method the one that was not sent yet and is told to be
    sent so, with such params where there are several; one that was sent before when all were."""
    *_, method, params = body
    found = [at for at, call in enumerate(state.calls) if call.method == method]
    unsent = [at for at in found if not state.calls[at].sent]
    if not unsent:
        return found[-1] if found else None
    told = [at for at in unsent if (state.calls[at].op == "notify") == (action == "notification")] or unsent
    return next((at for at in told if alike(state.calls[at].params, params)), told[0])


def changed_at(state: ClientState, at: int, call: Call) -> ClientState:
    """The state with one call changed."""
    return state._replace(calls=(*state.calls[:at], call, *state.calls[at + 1 :]))
