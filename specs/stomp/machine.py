"""The phases of one connection, as the tester has seen it, and who may do what in each.

Source: 003_30478fd2f19f0da0.txt L43-56 and L194-212 (opening and ending); STOMP 1.2, Connecting, DISCONNECT, ERROR.
The tester may say what it likes: what is wrong with that is judged by how the server answers (calls.py).
"""

from __future__ import annotations

from specs import machine
from specs.machine import Machine, never, unreachable
from specs.stomp import ids


class Phase(machine.Phase):
    """Where one connection stands, as the tester has seen it."""

    OPEN = "nothing said yet"
    WAIT = "CONNECT sent, not answered"
    LEAVING = "CONNECT and DISCONNECT sent, neither answered"
    LIVE = "CONNECTED"
    CLOSING = "DISCONNECT sent"
    LEFT = "DISCONNECT receipted"
    FAILED = "ERROR received"
    CLOSED = "ended by either side"


_EARLY = never(ids.CONNECT_11, "before CONNECTED")
_AGAIN = never(f"{ids.CONNECT_02} {ids.INV_33}", "a second CONNECTED on one connection")
_LATE = never(ids.DISC_04, "after the RECEIPT of DISCONNECT")
_OVER = never(ids.ERROR_02, "after ERROR")
_ODD = never("STOMP-1.2-FRAME-08", "nothing that a server says")
_NONE = unreachable("only a DISCONNECT that was sent in a session can be answered so")

CONNECTS, LEAVES, SAYS, HANGS_UP = "CONNECT", "DISCONNECT", "another frame", "client closes"
GOODBYE, OTHER, CLOSES = "RECEIPT of DISCONNECT", "an unknown frame", "server closes"
_CLIENT = dict.fromkeys((CONNECTS, LEAVES, SAYS, HANGS_UP), "client")
_SERVER = dict.fromkeys(("CONNECTED", "MESSAGE", "RECEIPT", GOODBYE, "ERROR", OTHER, CLOSES), "server")
_O, _W, _D, _L, _C, _T, _F, _X = Phase
MACHINE = Machine(
    Phase,
    _CLIENT | _SERVER,
    {
        _O: {CONNECTS: _W, LEAVES: _O, SAYS: _O, HANGS_UP: _X, "CONNECTED": _EARLY, "MESSAGE": _EARLY,
             "RECEIPT": _EARLY, GOODBYE: _NONE, "ERROR": _F, OTHER: _ODD, CLOSES: _X},
        _W: {CONNECTS: _W, LEAVES: _D, SAYS: _W, HANGS_UP: _X, "CONNECTED": _L, "MESSAGE": _EARLY,
             "RECEIPT": _EARLY, GOODBYE: _NONE, "ERROR": _F, OTHER: _ODD, CLOSES: _X},
        _D: {CONNECTS: _D, LEAVES: _D, SAYS: _D, HANGS_UP: _X, "CONNECTED": _C, "MESSAGE": _EARLY,
             "RECEIPT": _EARLY, GOODBYE: _NONE, "ERROR": _F, OTHER: _ODD, CLOSES: _X},
        _L: {CONNECTS: _L, LEAVES: _C, SAYS: _L, HANGS_UP: _X, "CONNECTED": _AGAIN, "MESSAGE": _L,
             "RECEIPT": _L, GOODBYE: _NONE, "ERROR": _F, OTHER: _ODD, CLOSES: _X},
        _C: {CONNECTS: _C, LEAVES: _C, SAYS: _C, HANGS_UP: _X, "CONNECTED": _AGAIN, "MESSAGE": _C,
             "RECEIPT": _C, GOODBYE: _T, "ERROR": _F, OTHER: _ODD, CLOSES: _X},
        _T: {CONNECTS: _T, LEAVES: _T, SAYS: _T, HANGS_UP: _X, "CONNECTED": _LATE, "MESSAGE": _LATE,
             "RECEIPT": _LATE, GOODBYE: _NONE, "ERROR": _LATE, OTHER: _ODD, CLOSES: _X},
        _F: {CONNECTS: _F, LEAVES: _F, SAYS: _F, HANGS_UP: _X, "CONNECTED": _OVER, "MESSAGE": _OVER,
             "RECEIPT": _OVER, GOODBYE: _NONE, "ERROR": _OVER, OTHER: _ODD, CLOSES: _X},
        # the tester hung up, or saw the end: what was under way may still be read
        _X: {CONNECTS: _X, LEAVES: _X, SAYS: _X, HANGS_UP: _X, "CONNECTED": _X, "MESSAGE": _X,
             "RECEIPT": _X, GOODBYE: _NONE, "ERROR": _X, OTHER: _X, CLOSES: _X},
    },
)  # fmt: skip
