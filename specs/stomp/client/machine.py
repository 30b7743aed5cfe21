"""The phases of a client's connection, and who may do what in each.

Source: 003_30478fd2f19f0da0.txt L43-75 (opening) and L194-212 (leaving); STOMP 1.2, Connecting, Protocol Negotiation,
DISCONNECT, ERROR. What the tester tells the client and what that reports stand beside the wire: a client still reports
when its connection is over.
"""

from __future__ import annotations

from specs import machine
from specs.machine import Cell, Machine, never, unreachable


class K(machine.Phase):
    """Where the connection of a client stands."""

    NEW = "nothing was said"
    ASKED = "CONNECT seen, not answered"
    LIVE = "CONNECTED said"
    REFUSED = "CONNECTED said, with a version that was not offered"
    LEAVING = "DISCONNECT seen"
    LOST = "what was said may end the connection"
    OVER = "the connection has ended"


CONNECTS, LEAVES, BEATS, NONSENSE = "CONNECT", "DISCONNECT", "heart-beat", "nonsense"
REPORTS, ENDS, TOLD, DROPS = "reports", "client ends", "told", "server ends"
SPOILS, EOLS = "what is no frame", "line ends"
WORK = ("SEND", "SUBSCRIBE", "UNSUBSCRIBE", "BEGIN", "COMMIT", "ABORT")
SETTLING = ("ACK", "NACK")
_CLIENT = (CONNECTS, *WORK, *SETTLING, LEAVES, BEATS, NONSENSE, REPORTS, ENDS)
_SERVER = (TOLD, "CONNECTED", "MESSAGE", "RECEIPT", "ERROR", EOLS, SPOILS, DROPS)

_FIRST = never("STOMP-1.2-CONNECT-01", "before CONNECT")
NOTHING_BEHIND, NOT_EVEN_ACKS = "STOMP-1.2-DISC-05", "STOMP-1.2-CLI-10"
_BEHIND = never(f"{NOTHING_BEHIND} {NOT_EVEN_ACKS}", "behind DISCONNECT")
_SETTLED_BEHIND = never(f"{NOT_EVEN_ACKS} {NOTHING_BEHIND}", "behind DISCONNECT")
_UNOFFERED = never(
    "STOMP-1.2-CLI-11", "in a session of a version that was not offered", given=lambda case: not case.state.early
)
_UNSEEN = unreachable("what a client says when its connection may have ended is not looked at")
_GONE = unreachable("nothing is said on a connection that has ended")


def _row(stays: K) -> dict[str, Cell]:
    """The cells of a phase that most actions leave as it is."""
    found: dict[str, Cell] = dict.fromkeys((*_CLIENT, *_SERVER), stays)
    return found | {"ERROR": K.LOST, SPOILS: K.LOST, DROPS: K.OVER, ENDS: K.OVER, "CONNECTED": K.LOST}


def _cells(actions: tuple[str, ...], cell: Cell) -> dict[str, Cell]:
    return dict.fromkeys(actions, cell)


_WIRE = tuple(action for action in _CLIENT if action not in (REPORTS, ENDS))
_SAID = tuple(action for action in _SERVER if action not in (TOLD, DROPS))
MACHINE = Machine(
    K,
    dict.fromkeys(_CLIENT, "client") | dict.fromkeys(_SERVER, "server"),
    {
        K.NEW: _row(K.NEW) | {CONNECTS: K.ASKED} | _cells((*WORK, *SETTLING, LEAVES), _FIRST)
        | _cells(("MESSAGE", "RECEIPT"), K.LOST),
        K.ASKED: _row(K.ASKED) | {"CONNECTED": (K.LIVE, K.REFUSED), LEAVES: K.LEAVING}
        | _cells(("MESSAGE", "RECEIPT"), K.LOST),
        K.LIVE: _row(K.LIVE) | {LEAVES: K.LEAVING},
        K.REFUSED: _row(K.REFUSED) | {LEAVES: K.LEAVING} | _cells((*WORK, *SETTLING), _UNOFFERED),
        K.LEAVING: _row(K.LEAVING) | _cells((CONNECTS, *WORK), _BEHIND) | _cells((*SETTLING, LEAVES), _SETTLED_BEHIND),
        K.LOST: _row(K.LOST) | _cells(_WIRE, _UNSEEN),
        K.OVER: _row(K.OVER) | _cells((*_WIRE, ENDS), _UNSEEN) | _cells(_SAID, _GONE)
        | {DROPS: K.OVER, TOLD: (K.OVER, K.NEW)},
    },
)  # fmt: skip
"""A client's connection. `what is no frame`: octets, or a frame, that break a rule, and frames in a phase in which a
server says none. `nonsense`: octets that are no frame, or a command that no client has."""
