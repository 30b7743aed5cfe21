"""The rulebook of a client, and how its calls are found.

Source: MessagePack-RPC specification, Request Message, Notification Message, Response Message. A client does one thing
after the other: a call that blocks holds up what it is told behind it. Calls are known by their method, which no other
call of the plan has. What the tester tells the client stands in the trace as a Fact of the server.
"""

from __future__ import annotations

from typing import Any

from specs.msgpack.machine import CALLER
from specs.msgpack.registry import REQUIREMENTS
from specs.msgpack.states import Call, ClientState
from specs.rules import Rulebook

BOOK = Rulebook("client", REQUIREMENTS, CALLER)
BLOCKING = ("call", "await")

MATCHED = "MPRPC-CLI-01"
ERRORS_FAIL = "MPRPC-CLI-02"
STRAYS_SPOIL_NOTHING = "MPRPC-CLI-03"
OPEN_IDS_DIFFER = "MPRPC-REQ-02"
NOTIFIES_AS_WRITTEN = "MPRPC-NOTE-02"


def position(state: ClientState, method: Any) -> int | None:
    """Where the call to `method` stands among the calls."""
    return next((at for at, call in enumerate(state.calls) if call.method == method), None)


def changed_at(state: ClientState, at: int, call: Call) -> ClientState:
    """The state with one call changed."""
    return state._replace(calls=(*state.calls[:at], call, *state.calls[at + 1 :]))
