"""The machine of a server that is made from a document: told beside the wire what to serve, it answers calls.

Source: 004_4ca5b084f7ea0751.txt, services; docs/implementations.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from specs.machine import Machine, Phase, never
from specs.msgpack.idl.promises import Promise
from specs.msgpack.idl.server.calls import Call
from specs.msgpack.idl.service import Served
from specs.msgpack.states import Config

Behaviours = tuple[tuple[str, Any], ...]


class At(Phase):
    """Of one server."""

    UNSERVED = "nothing is served"
    SERVING = "an application is served"
    OVER = "the server was told to stop, or to serve something else"
    GONE = "the connection has ended, or what is said on it means nothing any more"


class ServerState(NamedTuple):
    """A conversation. `app` is what is served, `behaviours` what its functions do; `former` are behaviours that there
    were since it was served. `told` are ops that were not answered, each with the behaviours as they were before.
    `calls` are requests that were not answered. `refused` are names of functions without a scope that were refused,
    with their forms. `loose`: the document may be refused. `failed`: the last answer was an error."""

    config: Config
    phase: At = At.UNSERVED
    app: Served | None = None
    behaviours: Behaviours = ()
    told: tuple[tuple[str, Behaviours], ...] = ()
    former: tuple[Behaviours, ...] = ()
    calls: tuple[Call, ...] = ()
    refused: frozenset[tuple[str, str]] = frozenset()
    loose: bool = False
    failed: bool = False


ACTORS = {
    "serve": "client", "assign": "client", "stop": "client", "call": "client", "garbles": "client", "leaves": "client",
    "obeys": "idl-server", "refuses": "idl-server", "answer": "idl-server", "own call": "idl-server",
    "closes": "idl-server", "exits": "idl-server", "garbled": "idl-server",
}  # fmt: skip
_exits = never(Promise.REACHED, "the program ended", given=lambda case: False)
_garbled = never(Promise.REACHED, "octets that are no MessagePack", given=lambda case: False)


def _row(here: At, **others: Any) -> Mapping[str, Any]:
    """A row in which every action that is not named leaves the phase as it is."""
    given = {name.replace("_", " "): cell for name, cell in others.items()}
    known = {"leaves": At.GONE, "garbles": At.GONE, "exits": _exits, "garbled": _garbled}
    return {action: given.get(action, known.get(action, here)) for action in ACTORS}


MACHINE = Machine(
    At,
    ACTORS,
    {
        At.UNSERVED: _row(At.UNSERVED, serve=At.SERVING, stop=At.OVER, closes=At.GONE),
        At.SERVING: _row(At.SERVING, serve=At.OVER, stop=At.OVER, refuses=(At.SERVING, At.GONE), closes=At.GONE),
        At.OVER: _row(At.OVER, refuses=(At.OVER, At.GONE), closes=At.GONE),
        At.GONE: _row(At.GONE),
    },
)  # fmt: skip
