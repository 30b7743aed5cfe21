"""What a STOMP conversation has come to: the configuration, and the data of a state.

The phases of a connection are in machine.py. What changes with every event is a NamedTuple: copying one with a field
changed is the hot path of the model, and five times cheaper than with a dataclass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple
from unicodedata import normalize

from specs.model import Breach
from specs.stomp.frames import Frame
from specs.stomp.machine import Phase
from specs.values import quick_replace

PREFIX = "STOMP-1.2-"
_NOTHING: Mapping[Any, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Kind:
    """What a family of destinations does with messages; the text leaves all of it to the server.

    `template` holds `{name}`. `fanout`: every subscriber gets a copy, else one does. `keeps`: a message waits for a
    subscriber. `own`: a connection gets what it sent itself. `redelivers`: what was not acknowledged comes again.
    `shared`: it takes more than one subscriber. `copies`: with fan-out, each of several subscriptions on one connection
    gets its own; else one of them does.
    """

    template: str
    fanout: bool
    keeps: bool = False
    own: bool = True
    redelivers: bool = False
    shared: bool = True
    copies: bool = True

    def holds(self, destination: str) -> bool:
        """True when `destination` is one of this family."""
        before, _, after = self.template.partition("{name}")
        return (
            destination.startswith(before)
            and destination.endswith(after)
            and len(destination) > len(before) + len(after)
        )


class Sizes(NamedTuple):
    """How large a frame may be that a server must take: headers, characters of one header line, octets of body.

    The text names no least limit (STOMP 1.2, Size Limits). What discovery has seen a server take, it must take again;
    where it refused that, only frames within MODEST are asked of it.
    """

    headers: int = 24
    line: int = 512
    body: int = 65_536

    def exceeded(self, frame: Frame) -> bool:
        """True when the server may plead its limits."""
        lines = [len(name) + len(value) for name, value in frame.headers]
        return len(lines) > self.headers or len(frame.body) > self.body or max(lines, default=0) > self.line


NORMAL = Sizes()
MODEST = Sizes(headers=10, line=128, body=1024)
FEWEST = 128
"""Octets of a body that a server must take that refuses those of MODEST."""


@dataclass(frozen=True, slots=True)
class Config:
    """What is known of the implementation before a plan begins: its manifest, and what discovery learnt.

    `sizes` are those within which it may not plead its limits; `crowded`: it refuses some of many connections;
    `places`: so many it was seen to take at most, 0 where it has more than are asked for;
    `folds`: destinations that differ in the case of letters alone are one to it; `trims`: so are those that differ in
    blanks at their ends; `merges`: so are a queue-like and a
    topic-like one of the same local name, so that no plan uses one name for both. `role` is what is judged.
    """

    version: str = "1.2"
    supports: frozenset[str] = frozenset({"1.0", "1.1", "1.2"})
    login: str = ""
    passcode: str = ""
    host: str = "/"
    queue: Kind = Kind("/queue/{name}", fanout=False, keeps=True)
    topic: Kind = Kind("/topic/{name}", fanout=True)
    sizes: Sizes = NORMAL
    places: int = 0
    crowded: bool = False
    folds: bool = False
    trims: bool = False
    merges: bool = False
    role: str = "server"

    def kind(self, destination: str) -> Kind | None:
        """The family that a destination belongs to, or None when nothing is known of it."""
        if self.queue.holds(destination):
            return self.queue
        return self.topic if self.topic.holds(destination) else None


def as_read(name: str, config: Config) -> str:
    """A destination as a server reads it that was seen to take off the blanks at its ends, or not to tell the case of
    letters."""
    name = name.strip() if config.trims else name
    return normalize("NFKC", name).casefold() if config.folds else name


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a client frame should be refused, and how grave each way of not refusing it is.

    `accepted`: a RECEIPT came for it. `ignored`: no ERROR, no close. `silent`: closed without ERROR. Each is a level
    or "" (fine). `requirement` is blamed, `also` as well. `forgives`: judging goes on where it was accepted. `spares`:
    a rule that leaves it open, and that is kept by refusing.
    """

    requirement: str
    accepted: str = "MUST"
    ignored: str = "MUST"
    silent: str = "SHOULD"
    also: tuple[str, ...] = ()
    forgives: bool = False
    spares: str = ""
    why: str = ""

    def because(self, why: str) -> Refusal:
        """The same, of a frame of which `why` says what is wrong with it."""
        return replace(self, why=why)


@dataclass(frozen=True, slots=True)
class Free:
    """A client frame that the text lets the server accept or refuse; `silent` as in `Refusal`. `covers` are permissions
    of which use is made, and what an answer shows. `plain`: once it is accepted, there is only one way to read it."""

    covers: tuple[str, ...] = ()
    silent: str = ""
    requirement: str = ""
    plain: bool = False


Verdict = Refusal | Free | None
"""What a client frame calls for; None: it must be accepted."""


@quick_replace
class Pending(NamedTuple):
    """A client frame that is not answered yet.

    `claims`: the requirements that its acceptance shows, the most special first. `due`: its RECEIPT is owed now.
    `early`: it was sent before CONNECTED came; `late`: after DISCONNECT or ERROR.
    `sends`: the messages that it makes visible. `much`: a server may have no room for it.
    """

    serial: int
    frame: Frame
    receipt: str | None
    call: Verdict = None
    claims: tuple[str, ...] = ()
    tx: str | None = None
    due: bool = True
    early: bool = False
    late: bool = False
    sends: tuple[int, ...] = ()
    much: bool = False


@quick_replace
class Sub(NamedTuple):
    """A subscription. `sure`: its RECEIPT was seen, `since`: what had been said by then. `closing`: UNSUBSCRIBE was
    sent. `vague`: its id came twice, or it may have ended with another one. `stated`: its SUBSCRIBE names its mode.

    `repeated`: name and value of each header of its SUBSCRIBE that is not the first of that name.
    """

    serial: int
    conn: int
    id: str
    destinations: tuple[str, ...]
    ack: str
    sure: bool = False
    closing: bool = False
    vague: bool = False
    reused: bool = False
    stated: bool = False
    since: int = 0
    repeated: tuple[tuple[str, str], ...] = ()


class Tx(NamedTuple):
    """An open transaction: serials of its messages, and (delivery, verb) pairs of its acknowledgements. `doubtful`: it
    holds a frame that the server was free to refuse, which it may do as late as at COMMIT."""

    id: str
    sends: tuple[int, ...] = ()
    acks: tuple[tuple[int, str], ...] = ()
    reused: bool = False
    doubtful: bool = False


@quick_replace
class Message(NamedTuple):
    """A SEND. `may`: it may be seen; else `never` is the requirement that its delivery breaks (`level` as override).

    `sure`: the server has said that it processed it. `loose`: the server was free to refuse it. `behind`: it was sent
    behind a frame that had to be refused. `wild`: how often it may come is not known.
    `at_ms`: when it was sent, in the time of the conversation.
    """

    serial: int
    conn: int
    frame: Frame
    destination: str
    kind: Kind | None
    may: bool = True
    never: str = ""
    level: str | None = None
    sure: bool = False
    tx: str | None = None
    loose: bool = False
    behind: Refusal | None = None
    wild: bool = False
    deliveries: tuple[int, ...] = ()
    at_ms: int = 0


@quick_replace
class Delivery(NamedTuple):
    """A MESSAGE that arrived. `fate`: out, acked (sent), settled (receipted), nacked, freed (redelivery is free).
    `at_ms`: the time in the conversation."""

    serial: int
    conn: int
    sub: int
    message: int
    ack: str | None
    id: str
    mode: str
    fate: str = "out"
    tx: str | None = None
    by: str = ""
    at_ms: int = 0


@quick_replace
class Conn(NamedTuple):
    """One connection.

    `doom`: a frame that must be refused stands in `pending`. `lost`: octets were sent that end the framing, and which
    requirement they try. `midway`: octets of a frame that is not finished, at most. `left_places`: destinations no
    longer subscribed, and since when. `beats_ms`, `mine_ms`: agreed heart-beat intervals of server and client, 0 for
    none; `within`: receipts given to frames in transactions; `eols`: an EOL was the last thing said. `silent_ms`,
    `mute_ms`: how long each has been silent; `torn`: the last MESSAGE came without content-length and ended where its
    SEND has a NUL, which what comes next explains; `overdue`: once the client was silent for longer than agreed, so
    that the server may be about to give it up; `lives`: how the client showed life ("frame", "eol", "octets") after a
    pause; `heard`: the time in the conversation when it last did so in each way, and when it was "connected", where it
    must show life at all; `hushed`: an acknowledgement is forgotten that asked for no RECEIPT, so that an ERROR about
    it may still be on its way; `farewell`: its DISCONNECT was receipted; `vouched`: serial of the last frame that was;
    `dubious`: in 1.0 a frame was receipted, as one that has come, which the server may still refuse.
    """

    phase: Phase = Phase.OPEN
    version: str = "1.2"
    connect: Pending | None = None
    pending: tuple[Pending, ...] = ()
    answered: tuple[str, ...] = ()
    within: frozenset[str] = frozenset()
    eols: bool = False
    subs: Mapping[str, Sub] = _NOTHING
    old_subs: tuple[str, ...] = ()
    left_places: tuple[tuple[str, int], ...] = ()
    txs: Mapping[str, Tx] = _NOTHING
    old_txs: tuple[str, ...] = ()
    doom: Refusal | None = None
    ids: frozenset[str] = frozenset()
    lost: str = ""
    midway: int = 0
    said_after_end: bool = False
    beats_ms: int = 0
    mine_ms: int = 0
    silent_ms: int = 0
    mute_ms: int = 0
    overdue: bool = False
    asked_beats: tuple[int, int] = (0, 0)
    lives: frozenset[str] = frozenset()
    heard: Mapping[str, int] = _NOTHING
    hushed: bool = False
    torn: str = ""
    farewell: bool = False
    vouched: int = 0
    dubious: bool = False

    @property
    def alive(self) -> bool:
        """True while the server may still be doing something for it."""
        return self.phase in (Phase.WAIT, Phase.LEAVING, Phase.LIVE, Phase.CLOSING)

    @property
    def shaky(self) -> bool:
        """True when something was sent on it for which the server may end it."""
        return bool(self.lost or self.midway) or any(p.call is not None or p.early or p.much for p in self.pending)


@quick_replace
class State(NamedTuple):
    """A whole conversation. `due` are (message, subscription) pairs that must still be delivered by fan-out;
    `waiting` are, for each queue-like destination, the messages that wait there for sure. `haunted` are destinations
    whose messages a connection that ended without a word may swallow, and until when. `elapsed_ms`: the time that has
    passed. `history`: transactions that were begun twice, or may be shared. `receipted`: commands of frames that got a
    RECEIPT. `presumed`: connections that have ended by this reading although no end was seen, and what is broken if
    they have not (server/presumed.py)."""

    config: Config
    conns: Mapping[int, Conn] = _NOTHING
    serial: int = 0
    messages: Mapping[int, Message] = _NOTHING
    deliveries: Mapping[int, Delivery] = _NOTHING
    due: tuple[tuple[int, int], ...] = ()
    waiting: Mapping[str, tuple[int, ...]] = _NOTHING
    by_tag: Mapping[str, int] = _NOTHING
    sessions: frozenset[str] = frozenset()
    history: frozenset[str] = frozenset()
    haunted: Mapping[str, int] = _NOTHING
    elapsed_ms: int = 0
    receipted: frozenset[str] = frozenset()
    presumed: tuple[tuple[int, Breach], ...] = ()
