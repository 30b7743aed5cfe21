"""The in-process reference server for STOMP 1.0, 1.1 and 1.2.

Octets in, octets out: no sockets, no threads, no clock. Time moves by `Server.advance` alone and chance comes from the
seed, so a conversation can be repeated exactly. It reads and writes frames by its own code, so that it cannot share a
mistake with a specification that is tried against it. To make a server that is wrong in one point, subclass the class
that decides the point and name it in a subclass of `Server`.
"""

from __future__ import annotations

import itertools
import math
import random
from typing import Any, Self

from impls.references.stomp.broker import (
    Broker,
    Delivery,
    Destination,
    Message,
    Queue,
    Refused,
    Subscription,
    Topic,
)
from impls.references.stomp.connection import EXTRA_BEAT, Connection, Phase
from impls.references.stomp.parser import Frame, Malformed, OverLimit, Parser
from impls.references.stomp.session import Session, Settle, Transaction
from impls.references.stomp.switches import SWITCHES, Switches, draw, from_text
from impls.references.stomp.writer import Writer

__all__ = [
    "SWITCHES",
    "Broker",
    "Connection",
    "Delivery",
    "Destination",
    "Frame",
    "Malformed",
    "Message",
    "OverLimit",
    "Parser",
    "Phase",
    "Queue",
    "Refused",
    "Server",
    "Session",
    "Settle",
    "Subscription",
    "Switches",
    "Topic",
    "Transaction",
    "Writer",
    "from_text",
]

EXTRA_HEADERS = {
    "CONNECTED": (("x-node", "a:1"),),
    "MESSAGE": (("x-node", "a:1"), ("x-path", "c:\\new\n "), ("x-empty", "")),
    "RECEIPT": (("x-node", "a:1"), ("x-took", "0 ms")),
    "ERROR": (("x-node", "a:1"),),
}
"""Headers that a client has never heard of, some with what needs escaping."""


class Server:
    """A STOMP server. Keywords are the fields of `Switches`; SWITCHES lists the legal values of each freedom."""

    parser_type = Parser
    writer_type = Writer
    session_type = Session
    broker_type = Broker

    def __init__(self, *, seed: int = 0, **switches: Any) -> None:
        self.switches = Switches(**switches)
        self.chance = random.Random(seed)
        self.now: float = 0
        self.sessions: dict[int, Session] = {}
        self.broker = self.broker_type(self)
        self._count = itertools.count(1)
        self._sessions = itertools.count(1)
        # An ack value that is the message-id tells deliveries apart only if no two copies share their id.
        self.id_for_each_copy = self.switches.message_id_scope == "copy" or self.switches.ack_id == "same"

    @classmethod
    def random(cls, seed: int, **fixed: Any) -> Self:
        """A server with every switch drawn by `seed`, but for those in `fixed`."""
        return cls(seed=seed, **{**draw(seed), **fixed})

    # The contract

    def open(self) -> Session:
        """Accept a new client connection."""
        session = self.session_type(self, next(self._sessions))
        self.sessions[session.number] = session
        if self.full and self.switches.one_too_many == "at-once":
            session.fail("too many connections")
        return session

    @property
    def full(self) -> bool:
        """True when no further client may enter."""
        live = sum(session.phase is Phase.LIVE for session in self.sessions.values())
        return live >= {"three": 3, "thirty": 30}.get(self.switches.connections, live + 1)

    def advance(self, ms: float) -> None:
        """Let virtual milliseconds pass, and do what falls due on the way."""
        until = self.now + ms
        for session in self.sessions.values():
            session.stamp()
        while (due := self.next_due()) <= until:
            self.now = max(self.now, due)
            self.broker.tick()
            for session in [*self.sessions.values()]:
                session.tick()
                session.stamp()
        self.now = until
        if self.switches.extra_beats:
            for session in self.sessions.values():
                if session.phase is Phase.LIVE and self.chance.random() < EXTRA_BEAT:
                    session.beat()

    def next_due(self) -> float:
        """When something happens by itself. Infinity when nothing will."""
        later = self.broker.later[0][0] if self.broker.later else math.inf
        return min(later, *(session.due() for session in self.sessions.values())) if self.sessions else later

    # Names

    def count(self) -> int:
        """A number that was not given before."""
        return next(self._count)

    def session_id(self, session: Connection) -> str:
        """The session header. CONNECTED is not escaped, so a colon stands there as it is."""
        return f"reference:{session.number}"

    def message_id(self) -> str:
        """A new message-id."""
        style, number = self.switches.message_id, self.count()
        if style == "number":
            return str(number)
        if style == "random":
            return f"{self.chance.getrandbits(64):016x}-{number}"
        if style == "colon":
            return f"ID:reference-{number}:1:1"
        # No LF or CR: sessions of 1.0 could not name such a message.
        return f" ID\\n:{number} \\\\c é漢 "

    def ack_id(self, message: Message) -> str:
        """A new ack value for a delivery of `message`."""
        if self.switches.ack_id == "same":
            return message.id
        number = self.count()
        return str(number) if self.switches.ack_style == "plain" else f"ack:\\{number}\r\n\\n é "

    def extra_headers(self, command: str) -> tuple[tuple[str, str], ...]:
        """Headers of the server's own that no text asks for."""
        return EXTRA_HEADERS[command]
