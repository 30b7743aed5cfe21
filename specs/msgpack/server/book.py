"""The rulebook of a server, and what several of its rules ask.

Answers may come in any order, so nothing depends on what the server has read yet: the state holds each request until it
is answered, and the same rules are sound in lock-step and with any number of requests on the wire.
"""

from __future__ import annotations

from specs.msgpack.changes import KEYS, NOT_UTF8
from specs.msgpack.machine import CONNECTION, LIMITS, P
from specs.msgpack.registry import REQUIREMENTS
from specs.msgpack.states import Config, Conn, State, Want
from specs.rules import Rulebook

BOOK = Rulebook("server", REQUIREMENTS, CONNECTION)

SURVIVES = "MPRPC-BAD-01"
HOPELESS = "a value that is no message at all"
NEARLY = "a value that is nearly a message"
UNREADABLE = "octets that are no value"


def declared(config: Config, conn: Conn) -> str:
    """What the server declares to do with a spoilt connection: "close", "open", or "" when it may do either."""
    if conn.bad not in (HOPELESS, UNREADABLE) or not config.malformed:
        return ""
    return "close" if config.malformed in ("close", "error-then-close") else "open" if conn.bad == HOPELESS else ""


def in_line(state: State, number: int) -> bool:
    """True when a server that serves one connection after the other may not have come to this one yet; MP-21."""
    if not state.config.serial:
        return False
    return any(there.phase is not P.OVER for other, there in state.conns.items() if other != number)


def passed_over(want: Want) -> bool:
    """True for a request that a server may not be able to read at all."""
    return want.closes and (want.kind == "free" or want.odd in (NOT_UTF8, LIMITS, KEYS))
