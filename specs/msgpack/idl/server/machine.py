"""The machine of a server that is made from a document: told beside the wire what to serve, it answers calls.

Source: 004_4ca5b084f7ea0751.txt, services; docs/implementations.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from specs.machine import Machine, Phase, never, unreachable
from specs.msgpack.idl.promises import Promise
from specs.msgpack.idl.server.calls import Call
from specs.msgpack.idl.service import Served
from specs.msgpack.states import Config
from specs.values import quick_replace

Behaviours = tuple[tuple[str, Any], ...]


class At(Phase):
    """Of one server."""

    SERVING = "an application is served, or will be"
    OVER = "the server was told to stop, or to serve something else"
    GONE = "the connection has ended, or what is said on it means nothing any more"


@quick_replace
class ServerState(NamedTuple):
    """A conversation. `app` is what is served, `behaviours` what its functions do; `former` are behaviours that there
    were since it was served. `told` are ops that were not answered, each with the behaviours as they were before.
    `calls` are requests that were not answered. `refused` are names of functions without a scope that were refused,
    with their forms. `loose`: the document may be refused. `failed`: the last answer was an error,
    and `answered` tells whether there was one."""

    config: Config
    phase: At = At.SERVING
    app: Served | None = None
    behaviours: Behaviours = ()
    told: tuple[tuple[str, Behaviours], ...] = ()
    former: tuple[Behaviours, ...] = ()
    calls: tuple[Call, ...] = ()
    refused: frozenset[tuple[str, str]] = frozenset()
    loose: bool = False
    failed: bool = False
    answered: bool = False


ACTORS = {
    "serve": "client", "assign": "client", "stop": "client", "call": "client", "leaves": "client",
    "reports": "idl-server", "answer": "idl-server", "closes": "idl-server", "breaks down": "idl-server",
}  # fmt: skip
_down = never(Promise.REACHED, "the program ended, or said what is no MessagePack", given=lambda case: False)
_stopped = unreachable("what is asked of a server that was stopped is not judged")
_over = unreachable("nothing is judged behind the end of the connection")

MACHINE = Machine(
    At,
    ACTORS,
    {
        At.SERVING: {
            "serve": (At.SERVING, At.OVER), "assign": At.SERVING, "stop": At.OVER, "call": At.SERVING,
            "leaves": At.GONE, "reports": (At.SERVING, At.GONE), "answer": At.SERVING, "closes": At.GONE,
            "breaks down": _down,
        },
        At.OVER: {
            **dict.fromkeys(("serve", "assign", "stop", "call"), _stopped),
            "leaves": At.GONE, "reports": (At.OVER, At.GONE), "answer": At.OVER, "closes": At.GONE,
            "breaks down": _down,
        },
        At.GONE: {**dict.fromkeys(ACTORS, _over), "breaks down": _down},
    },
)  # fmt: skip
