"""The tables of MessagePack: who may do what in each phase, where it leads, and what forbids it.

Source: MessagePack-RPC specification, Messages. There is no hand-shake: a connection is LIVE from the first octet. It
is SPOILT once the tester has said something for which no text has a rule (or may have), and then the server may answer
anything, close, or go on.
"""

from __future__ import annotations

from typing import Any

from specs.machine import Machine, Phase, never, unreachable

READ = "MP-FMT-01"
LIMITS = "MP-FMT-11"
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


class C(Phase):
    """Where a client stands."""

    READY = "it does what it is told, and its connection is whole"
    LEAVING = "it was told to end its connection"
    LOST = "what came may end its connection"
    OVER = "its connection has ended"


CALLS_AS_WRITTEN = "MPRPC-REQ-01"
LIVES_ON = "MPRPC-CLI-04"


def _speaks(case: Any) -> bool:
    return case.action in ("request", "notification")


def _heard_no_message(case: Any) -> bool:
    return case.phase is C.LOST


_ENDS = {"exits": never(LIVES_ON, given=_heard_no_message), "refuses": never(LIVES_ON, given=_heard_no_message)}
_NO_OCTETS = never(CALLS_AS_WRITTEN, given=_speaks)
CALLER = Machine(
    C,
    {
        "told": "server", "told to leave": "server", "dropped": "server", "response": "server",
        "no message": "server", "server noise": "server", "server ends": "server",
        "request": "client", "notification": "client", "own response": "client", "odd value": "client",
        "noise": "client", "reports": "client", "client ends": "client", "exits": "client", "refuses": "client",
    },
    {
        C.READY: {
            "told": C.READY, "told to leave": C.LEAVING, "dropped": C.OVER, "response": C.READY,
            "no message": C.LOST, "server noise": C.LOST, "server ends": C.OVER,
            "request": C.READY, "notification": C.READY, "own response": C.READY, "odd value": C.READY,
            "noise": _NO_OCTETS, "reports": C.READY, "client ends": C.OVER, **_ENDS,
        },
        C.LEAVING: {
            "told": C.LEAVING, "told to leave": C.LEAVING, "dropped": C.OVER, "response": C.LEAVING,
            "no message": C.LOST, "server noise": C.LOST, "server ends": C.OVER,
            "request": C.LEAVING, "notification": C.LEAVING, "own response": C.LEAVING, "odd value": C.LEAVING,
            "noise": _NO_OCTETS, "reports": C.LEAVING, "client ends": C.OVER, **_ENDS,
        },
        C.LOST: {
            "told": C.LOST, "told to leave": C.LOST, "dropped": C.OVER, "response": C.LOST,
            "no message": C.LOST, "server noise": C.LOST, "server ends": C.OVER,
            "request": C.LOST, "notification": C.LOST, "own response": C.LOST, "odd value": C.LOST,
            "noise": _NO_OCTETS, "reports": C.LOST, "client ends": C.OVER, **_ENDS,
        },
        C.OVER: {
            "told": C.OVER, "told to leave": C.OVER, "dropped": C.OVER, "response": C.OVER,
            "no message": C.OVER, "server noise": C.OVER, "server ends": C.OVER,
            "request": C.OVER, "notification": C.OVER, "own response": C.OVER, "odd value": C.OVER,
            "noise": _NO_OCTETS, "reports": C.OVER, "client ends": C.OVER, **_ENDS,
        },
    },
)  # fmt: skip
"""A client that does one thing after the other. What it is told and what it reports stand beside the wire: it may still
report when its connection is over, and may make a new one."""


class Q(Phase):
    """Where a codec stands."""

    IDLE = "every question is answered"
    ASKED = "a question is open"
    GONE = "it has ended"


def _answers(case: Any) -> bool:
    return case.action in ("answers", "answers about a message")


_UNBIDDEN = never(READ, given=_answers)
_RUNS = never(LIMITS, given=lambda case: _answers(case) and case.subject == LIMITS)
_NONE = unreachable("no question is open")
CODEC = Machine(
    Q,
    {
        "asks": "user", "user ends": "user", "answers": "codec", "answers about a message": "codec",
        "says more": "codec", "noise": "codec", "refuses": "codec", "codec ends": "codec",
    },
    {
        Q.IDLE: {
            "asks": Q.ASKED, "user ends": Q.GONE, "answers": _NONE, "answers about a message": _NONE,
            "says more": _UNBIDDEN, "noise": _UNBIDDEN, "refuses": _RUNS, "codec ends": Q.GONE,
        },
        Q.ASKED: {
            "asks": Q.ASKED, "user ends": Q.GONE, "answers": (Q.IDLE, Q.ASKED),
            "answers about a message": (Q.IDLE, Q.ASKED),
            "says more": unreachable("a line answers the oldest question"), "noise": _UNBIDDEN, "refuses": _RUNS,
            "codec ends": Q.GONE,
        },
        Q.GONE: {
            "asks": Q.GONE, "user ends": Q.GONE, "answers": _NONE, "answers about a message": _NONE,
            "says more": Q.GONE, "noise": _UNBIDDEN, "refuses": _RUNS, "codec ends": Q.GONE,
        },
    },
)  # fmt: skip
"""A codec that is asked line by line. `says more` is a line that answers nothing."""
