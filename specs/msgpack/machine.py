"""The tables of MessagePack: who may do what in each phase, where it leads, and what forbids it.

Source: MessagePack-RPC specification, Messages. There is no hand-shake: a connection is LIVE from the first octet. It
is SPOILT once the tester has said something for which no text has a rule (or may have), and then the server may answer
anything, close, or go on.
"""

from __future__ import annotations

from specs.machine import Machine, Phase, never, unreachable

READ = "MP-FMT-01"
LIMITS = "MP-FMT-11"
ONE_RESPONSE = "MPRPC-RESP-01"
CALLS_AS_WRITTEN = "MPRPC-REQ-01"
LIVES_ON = "MPRPC-CLI-04"


class P(Phase):
    """Where one connection to a server stands."""

    LIVE = "every request is answered"
    SPOILT = "something came that is no message, or may be taken for none"
    OVER = "the connection has ended"


_GONE = unreachable("nothing is read from a connection that has ended")
_FREE = unreachable("what is said on a connection that is spoilt may be anything, and is not looked at")
CONNECTION = Machine(
    P,
    {
        "request": "client", "notification": "client", "stray response": "client", "no message": "client",
        "no value": "client", "part": "client", "client ends": "client",
        "response": "server", "nonsense": "server", "silence": "server", "server ends": "server",
    },
    {
        P.LIVE: {
            "request": (P.LIVE, P.SPOILT), "notification": (P.LIVE, P.SPOILT), "stray response": P.SPOILT,
            "no message": P.SPOILT, "no value": P.SPOILT, "part": P.LIVE, "client ends": P.OVER,
            "response": (P.LIVE, P.SPOILT), "nonsense": P.LIVE, "silence": (P.LIVE, P.SPOILT), "server ends": P.OVER,
        },
        P.SPOILT: {
            "request": _FREE, "notification": _FREE, "stray response": _FREE,
            "no message": _FREE, "no value": _FREE, "part": _FREE, "client ends": P.OVER,
            "response": _FREE, "nonsense": _FREE, "silence": P.SPOILT, "server ends": P.OVER,
        },
        P.OVER: {
            "request": _GONE, "notification": _GONE, "stray response": _GONE,
            "no message": _GONE, "no value": _GONE, "part": _GONE, "client ends": _GONE,
            "response": _GONE, "nonsense": _GONE, "silence": _GONE, "server ends": _GONE,
        },
    },
)  # fmt: skip
"""One connection to a server. A request or a notification of the server's own moves nothing: the text has peers, not
servers, so it is neither asked for nor forbidden. `part`: octets of a message that is not whole yet. `nonsense`: a
value that is no message, or octets that are no value. `silence`: nothing more will come."""


class C(Phase):
    """Where a client stands."""

    READY = "it does what it is told, and its connection is whole"
    LOST = "what came may end its connection"
    OVER = "its connection has ended"
    GONE = "it has opened another connection, and what it says means nothing any more"


_WIRE_OVER = unreachable("nothing is read from a connection that has ended")
_WIRE_LOST = unreachable("what a client says when no message came may be anything, and is not looked at")
_GONE = unreachable("nothing is judged any more")
_CONNECTED = unreachable("it is told to connect again when its connection has ended, and not before")
_CALLER_ACTORS = {
    "told": "server", "connects again": "server", "response": "server", "no message": "server", "server ends": "server",
    "request": "client", "notification": "client", "nonsense": "client", "reports": "client",
    "opens another": "client", "client ends": "client",
}  # fmt: skip
CALLER = Machine(
    C,
    _CALLER_ACTORS,
    {
        C.READY: {
            "told": C.READY, "connects again": _CONNECTED,
            "response": C.READY, "no message": C.LOST, "server ends": C.OVER,
            "request": C.READY, "notification": C.READY, "nonsense": C.READY, "reports": C.READY,
            "opens another": C.GONE, "client ends": C.OVER,
        },
        C.LOST: {
            "told": C.LOST, "connects again": _CONNECTED,
            "response": _WIRE_LOST, "no message": C.LOST, "server ends": C.OVER,
            "request": _WIRE_LOST, "notification": _WIRE_LOST, "nonsense": _WIRE_LOST, "reports": C.LOST,
            "opens another": C.LOST, "client ends": C.OVER,
        },
        C.OVER: {
            "told": C.OVER, "connects again": (C.READY, C.GONE),
            "response": _WIRE_OVER, "no message": _WIRE_OVER, "server ends": C.OVER,
            "request": _WIRE_OVER, "notification": _WIRE_OVER, "nonsense": _WIRE_OVER, "reports": C.OVER,
            "opens another": C.OVER, "client ends": C.OVER,
        },
        C.GONE: dict.fromkeys(_CALLER_ACTORS, _GONE),
    },
)  # fmt: skip
"""A client that does one thing after the other. What it is told and what it reports stand beside the wire: it still
reports when its connection is over. `connects again`: it is told to, and begins from nothing; nothing more is judged of
a client that still waits for what was open before. `nonsense`: a value that is no message, or octets that are no value.
`opens another`: a second connection beside one that is whole, which the suite does not serve (MP-26); behind the end of
the first one it says nothing of the calls that were open on that."""


class Q(Phase):
    """Where a codec stands."""

    IDLE = "every question is answered"
    ASKED = "a question is open"
    GONE = "it has ended"


_NONE = unreachable("no question is open")
_ENDED = unreachable("nothing is asked of a codec that has ended")
CODEC = Machine(
    Q,
    {
        "asks": "user", "answers": "codec", "answers about a message": "codec", "talks": "codec",
        "codec ends": "codec",
    },
    {
        Q.IDLE: {
            "asks": Q.ASKED, "answers": _NONE, "answers about a message": _NONE,
            "talks": never(READ, given=lambda case: False), "codec ends": never(LIMITS, given=lambda case: False),
        },
        Q.ASKED: {
            "asks": Q.ASKED, "answers": (Q.IDLE, Q.ASKED), "answers about a message": (Q.IDLE, Q.ASKED),
            "talks": unreachable("a line answers the oldest question"), "codec ends": Q.GONE,
        },
        Q.GONE: {
            "asks": _ENDED, "answers": _ENDED, "answers about a message": _ENDED, "talks": _ENDED,
            "codec ends": _ENDED,
        },
    },
)  # fmt: skip
"""A codec that is asked line by line. `talks`: a line that answers nothing."""
