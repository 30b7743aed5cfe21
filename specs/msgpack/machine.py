"""The tables of MessagePack: who may do what in each phase, where it leads, and what forbids it.

Source: MessagePack-RPC specification, Messages. There is no hand-shake: a connection is LIVE from the first octet. It
is SPOILT once the tester has said something for which no text has a rule (or may have), and then the server may answer
anything, close, or go on.
"""

from __future__ import annotations

from typing import Any

from specs.machine import Machine, Phase, never, unreachable

ONE_RESPONSE = "MPRPC-RESP-01"


class P(Phase):
    """Where one connection to a server stands."""

    LIVE = "every request is answered"
    SPOILT = "something came that is no message, or may be taken for none"
    OVER = "the connection has ended"


def _asked(case: Any) -> bool:
    return bool(case.conn.asked)


_NO_VALUE = never(ONE_RESPONSE, "the server sent octets that are no MessagePack", given=_asked)
_GONE = unreachable("nothing is read from a connection that has ended")
CONNECTION = Machine(
    P,
    {
        "request": "client", "notification": "client", "stray response": "client", "no message": "client",
        "no value": "client", "part": "client", "client ends": "client",
        "response": "server", "call": "server", "odd value": "server", "noise": "server", "silence": "server",
        "server ends": "server",
    },
    {
        P.LIVE: {
            "request": (P.LIVE, P.SPOILT), "notification": (P.LIVE, P.SPOILT), "stray response": P.SPOILT,
            "no message": P.SPOILT, "no value": P.SPOILT, "part": P.LIVE, "client ends": P.OVER,
            "response": (P.LIVE, P.SPOILT), "call": P.LIVE, "odd value": P.LIVE, "noise": _NO_VALUE,
            "silence": (P.LIVE, P.SPOILT), "server ends": P.OVER,
        },
        P.SPOILT: {
            "request": P.SPOILT, "notification": P.SPOILT, "stray response": P.SPOILT,
            "no message": P.SPOILT, "no value": P.SPOILT, "part": P.SPOILT, "client ends": P.OVER,
            "response": P.SPOILT, "call": P.SPOILT, "odd value": P.SPOILT, "noise": P.SPOILT,
            "silence": P.SPOILT, "server ends": P.OVER,
        },
        P.OVER: {
            "request": _GONE, "notification": _GONE, "stray response": _GONE,
            "no message": _GONE, "no value": _GONE, "part": _GONE, "client ends": _GONE,
            "response": _GONE, "call": _GONE, "odd value": _GONE, "noise": _GONE, "silence": _GONE,
            "server ends": _GONE,
        },
    },
)  # fmt: skip
"""One connection to a server. A `call` is a request or notification of the server's own: the text has peers, not
servers, so it is neither asked for nor forbidden. `part`: octets of a message that is not whole yet. `silence`: nothing
more will come."""
