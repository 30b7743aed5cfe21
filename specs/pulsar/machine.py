"""The machine of a connection to a broker: who may say what in each phase, and where it leads.

Source: 001_c0ea8805bb7ed422.txt, "Connection establishment" and "Keep Alive".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specs.machine import Cell, Machine, never, unreachable
from specs.machine import Phase as _Phase


class Phase(_Phase):
    """Where a connection stands."""

    NEW = "nothing was said"
    ASKED = "CONNECT was said"
    HASTY = "CONNECT was said, and behind it what must end the connection"
    LIVE = "the connection is established"
    EARLY = "a command was said before CONNECT"
    EARLY_LOOKUP = "a lookup was said before CONNECT"
    TWICE = "a second CONNECT was said"
    SPOILT = "the client said what must end the connection"
    REFUSED = "the broker refused CONNECT"
    LEFT = "the client closed the connection"
    CLOSED = "the broker closed the connection"


OVER = (Phase.LEFT, Phase.CLOSED)
"""Phases behind the end."""
DOOMED = (Phase.EARLY, Phase.EARLY_LOOKUP, Phase.TWICE, Phase.SPOILT, Phase.REFUSED)
"""Phases in which the broker has to end the connection."""
TALKING = (Phase.LIVE, Phase.TWICE, Phase.SPOILT, Phase.REFUSED)
"""Phases in which what was asked before may still be answered."""

HANDSHAKE = "PULSAR-CONN-02"
"""Until CONNECTED a broker says nothing else, and it says CONNECTED once."""
_NO_EFFECT = "PULSAR-INV-BROKER-01"
BEFORE_CONNECT = f"PULSAR-CONN-06 {_NO_EFFECT}"
"""What comes before CONNECT has no effect."""
LOOKUP_BEFORE_CONNECT = f"PULSAR-CONN-07 {_NO_EFFECT}"
"""A lookup before CONNECT has no effect."""
SECOND_CONNECT = "PULSAR-CONN-08 PULSAR-INV-BROKER-02"
"""A second CONNECT is refused."""

GROUPS: Mapping[str, str] = {
    **dict.fromkeys(("invents", "PONG", "SEND_RECEIPT", "SEND_ERROR"), "answers"),
    **dict.fromkeys(("MESSAGE", "PING", "ACTIVE_CONSUMER_CHANGE", "CLOSE_PRODUCER", "CLOSE_CONSUMER",
                     "REACHED_END_OF_TOPIC", "commands"), "pushes"),
    "AUTH_CHALLENGE": "complains",
}  # fmt: skip
"""What is the same action to the machine. "answers": what a broker says because it was asked, also what answers nothing
("invents"). "pushes": what it says of its own accord, also what only a client says ("commands"). "complains": ERROR
that answers no request, and AUTH_CHALLENGE."""
SAID = ("CONNECTED", "refuses", "complains", "answers", "pushes")
"""Everything that a broker may say; "refuses" is ERROR in answer to CONNECT."""
ACTORS: Mapping[str, str] = {
    **dict.fromkeys(("CONNECT", "asks", "misuses", "leaves"), "client"),
    **dict.fromkeys((*SAID, "garbles", "ends"), "broker"),
}
"""Every action and who does it; "garbles" is octets that are no frame."""


class _Machine(Machine):
    """A machine to which frames of many kinds are one action."""

    def at(self, phase: Any, action: str) -> Any:
        """The cell of the group."""
        return super().at(phase, GROUPS.get(action, action))


_DOOMED = unreachable("what is said behind what must end the connection is not judged")
_COMMAND = unreachable("once CONNECT was said, a command moves nothing")


def _client(connect: Cell, misuse: Cell, asks: Cell = _COMMAND) -> dict[str, Cell]:
    return {"CONNECT": connect, "asks": asks, "misuses": misuse, "leaves": Phase.LEFT}


_HEARD_NO_MORE = _client(_DOOMED, _DOOMED, _DOOMED)


def _silent(phase: Phase, requirements: str) -> dict[str, Cell]:
    """A broker that has nothing to say."""
    return {
        **dict.fromkeys(SAID, never(requirements)), "garbles": phase, "ends": Phase.CLOSED,
        "refuses": unreachable("an ERROR is taken for an answer to CONNECT only while one is due"),
    }  # fmt: skip


def _early(phase: Phase, requirements: str) -> dict[str, Cell]:
    return {**_HEARD_NO_MORE, **_silent(phase, requirements), "complains": phase}


def _talking(phase: Phase, connected: str) -> dict[str, Cell]:
    """A broker that answers what it was asked."""
    return {
        **_silent(phase, connected), "answers": phase, "pushes": phase, "complains": phase,
    }  # fmt: skip


def _waiting(phase: Phase, connected: Phase) -> dict[str, Cell]:
    """A broker that owes CONNECTED."""
    return {
        **_silent(phase, HANDSHAKE), "CONNECTED": connected, "refuses": Phase.REFUSED, "complains": phase,
    }  # fmt: skip


_OVER: dict[str, Cell] = dict.fromkeys(ACTORS, unreachable("what comes behind the end of a connection is not judged"))
NEW, ASKED, HASTY, LIVE, EARLY, EARLY_LOOKUP, TWICE, SPOILT, REFUSED, LEFT, CLOSED = Phase
BROKER = _Machine(Phase, ACTORS, {
    NEW: {**_client(ASKED, SPOILT, (EARLY, EARLY_LOOKUP)), **_silent(NEW, HANDSHAKE)},
    ASKED: {**_client(HASTY, HASTY), **_waiting(ASKED, LIVE)},
    HASTY: {**_HEARD_NO_MORE, **_waiting(HASTY, SPOILT)},
    LIVE: {**_client(TWICE, SPOILT), **_talking(LIVE, HANDSHAKE)},
    EARLY: _early(EARLY, BEFORE_CONNECT),
    EARLY_LOOKUP: _early(EARLY_LOOKUP, LOOKUP_BEFORE_CONNECT),
    TWICE: {**_HEARD_NO_MORE, **_talking(TWICE, SECOND_CONNECT)},
    SPOILT: {**_HEARD_NO_MORE, **_talking(SPOILT, HANDSHAKE)},
    REFUSED: {**_HEARD_NO_MORE, **_talking(REFUSED, HANDSHAKE)},
    LEFT: _OVER,
    CLOSED: _OVER,
})  # fmt: skip
"""The machine of a connection, as a broker runs it."""
