"""What the acceptor of a client remembers: connections, producers, consumers, and what the application was given."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from specs.model import Breach
from specs.pulsar.states import Config, P

FAMILY = {"LOOKUP": "lookup", "PARTITIONED_METADATA": "metadata"}
"""Request ids are unique within LOOKUP, within PARTITIONED_METADATA, and within the rest."""
GIVES_UP_MS = 1000
"""How long a client waits for us at least before it may say that what it was told has failed."""
METADATA = 256
"""How long metadata may be, more or less."""
_PARTITION = re.compile(r"(.*)-partition-(\d+)")


class Line(NamedTuple):
    """A connection. `version`: what we advertised; `announced`: what the client did. `open`: its requests that we did
    not answer, by (family, id). `odd`: we said what may end it; `must`: the rule by which it has to end. `probe`: the
    client sent a PING and we said nothing since, for `low` ms at least; `unanswered`: it had no PONG. `place`: the
    address that it leads to."""

    greeted: bool = False
    welcomed: bool = False
    announced: int = 0
    version: int = 0
    limit: int = 0
    open: tuple[tuple[str, int, str], ...] = ()
    used: frozenset[tuple[str, int]] = frozenset()
    pings: int = 0
    over: bool = False
    odd: str = ""
    must: str = ""
    probe: bool = False
    pinged: bool = False
    unanswered: bool = False
    low: int = 0
    place: str = ""


class End(NamedTuple):
    """A producer or consumer of the client. `phase`: "asked", "open", "lost", "closed". `sent`: (sequence id,
    payloads, receipted) of a producer's SENDs in order. `queue`: messages pushed to a consumer, not given to the
    application. `forced`: the tester ended it, and `cut` its connection with it."""

    kind: str
    topic: str
    line: int
    id: int
    request: int
    name: str = ""
    wanted: str = ""
    phase: str = "asked"
    next: int | None = None
    sent: tuple[tuple[int, int, bool, bytes], ...] = ()
    granted: int = 0
    pushed: int = 0
    size: int = 0
    queue: tuple[Any, ...] = ()
    resend: tuple[int, ...] = ()
    ready: bool = True
    forced: bool = False
    cut: bool = False


class ClientState(NamedTuple):
    """`told`: commands not reported yet, as (op, value). `partitions` by topic; `looked`: how many LOOKUPs of a topic
    were answered with Connect, less what was created since; `named`: the addresses that were named then. `redirects`:
    the last answer that was Redirect, as (authoritative, how many there were, the address, whether it was followed).
    `refs`: what the application was given, by ref. `unacked`: message ids whose acknowledgement was asked for and not
    seen; `released` all that was acknowledged by the application, of batches in `parts`, and `wholly` what nothing is
    left of. `pushed`: on which topic what was pushed. `refused`: what must be acknowledged with a validation_error, as
    (id, error, rules). `accepted`: connections that the client is known to have opened. `hung`: the client hung up
    without a reason, as (rule, why, what else it breaks); a client that died does so too, and that is known a moment
    later."""

    config: Config
    lines: Mapping[int, Line] = {}
    told: tuple[tuple[str, Any], ...] = ()
    ends: tuple[End, ...] = ()
    handles: Mapping[str, tuple[str, str]] = {}
    partitions: Mapping[str, int] = {}
    looked: Mapping[str, int] = {}
    redirects: Mapping[str, tuple[bool, int, str, bool]] = {}
    refs: Mapping[str, tuple[str, Any]] = {}
    unacked: tuple[tuple[Any, bool], ...] = ()
    refused: tuple[tuple[Any, int, str], ...] = ()
    payloads: tuple[Any, ...] = ()
    parts: frozenset[Any] = frozenset()
    released: frozenset[Any] = frozenset()
    wholly: frozenset[Any] = frozenset()
    pushed: Mapping[Any, str] = {}
    odd: bool = False
    doubt: bool = False
    left: bool = False
    tried: frozenset[str] = frozenset()
    address: str = ""
    other: str = ""
    named: Mapping[str, frozenset[str]] = {}
    unread: tuple[str, ...] = ()
    bad: frozenset[str] = frozenset()
    keys: Mapping[tuple[str, str], str] = {}
    accepted: int = 0
    hung: tuple[str, str, str] | None = None
    idle: int = 0

    @property
    def waits(self) -> bool:
        """True while the client waits for an answer of ours."""
        return any(line.open or (line.greeted and not line.welcomed) for line in self.lines.values() if not line.over)

    @property
    def lacks_receipt(self) -> bool:
        """True while what the client was told first waits for a receipt of ours."""
        op = self.told[0][0] if self.told else ""
        return op in ("send", "await", "close", "disconnect") and any(
            not done for end in self.ends if end.phase == "open" for _, _, done, _ in end.sent
        )

    @property
    def beyond(self) -> bool:
        """True while the client has a connection on which nobody listens: it may wait for an answer there."""
        return self.accepted > sum(line.greeted for line in self.lines.values())

    def astray(self, number: int, places: Collection[str]) -> bool:
        """True for a connection to another of our addresses than those."""
        place = self.line(number).place or self.address
        return place not in places and all(each in (self.address, self.other) for each in places)

    def too_large(self, op: str, given: Mapping[str, Any]) -> bool:
        """True for a message that is, with its metadata, over what some broker takes: nobody can send it whole."""
        limits = [line.limit for line in self.lines.values() if line.limit]
        size = len(given.get("payload_hex", "")) // 2
        return op in ("send", "send_async") and bool(limits) and size + METADATA > min(limits)

    def line(self, number: int) -> Line:
        """A connection, be it new."""
        return self.lines.get(number) or Line()

    def put(self, number: int, line: Line) -> ClientState:
        """The state with one connection changed."""
        return self._replace(lines={**self.lines, number: line})

    def look(self, topic: str, more: int) -> ClientState:
        """The state with one LOOKUP more, or one less, that something may be created on."""
        return self._replace(looked={**self.looked, topic: max(self.looked.get(topic, 0) + more, 0)})

    def put_end(self, at: int, end: End) -> ClientState:
        """The state with one producer or consumer changed."""
        return self._replace(ends=(*self.ends[:at], end, *self.ends[at + 1 :]))


def ids(names: str) -> tuple[str, ...]:
    """Full requirement ids from short ones separated by blanks."""
    return tuple(P + name for name in names.split())


def blame(short: str, why: str, then: ClientState | None = None, level: str | None = None, also: str = "") -> Breach:
    """A breach of the client; judging goes on when the state after it is known."""
    if then is None:
        return Breach("client", P + short, why, level=level, also=ids(also))
    return Breach("client", P + short, why, then=then, level=level, also=ids(also))


def base(topic: str) -> tuple[str, int | None]:
    """A topic and its partition."""
    found = _PARTITION.fullmatch(topic)
    return (found[1], int(found[2])) if found else (topic, None)
