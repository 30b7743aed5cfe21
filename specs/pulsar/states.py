"""What the acceptor of a broker remembers: connections, producers, consumers, messages, subscriptions.

Everything is immutable. `clock` counts events: that something was said before something else was heard is all that the
model knows of time, apart from how long nothing was heard.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from specs.model import Breach

P = "PULSAR-"
Key = tuple[int, int]
"""A producer or consumer: connection, id."""
Id = tuple[int, int]
"""ledgerId, entryId."""
EXCLUSIVE, SHARED, FAILOVER, KEY_SHARED = range(4)
KINDS = ("Exclusive", "Shared", "Failover", "Key_Shared")
CLOSES = 5
"""Since this version a broker can close one producer or consumer, and not only the connection."""
RECEIPTS = 17
"""Since this version an ACK may ask for an answer, and a broker is known to read an ack_set."""
RETRY = (6, 14)
"""Errors that say "not now": ServiceNotReady and TooManyRequests. Whoever gives them refuses nothing for good."""


@dataclass(frozen=True, slots=True)
class Config:
    """What is known of the implementation before it is judged. `version`: what the tester announces, as a rule."""

    role: str = "broker"
    profile: str = "seed"
    tenant: str = "public"
    namespace: str = "default"
    partitioned: str = ""
    keepalive_ms: int = 0
    auth: str = ""
    bad_auth: str = ""
    denied: str = ""
    terminated: str = ""
    dedup: bool = False
    version: int = 7


class Phase(Enum):
    """Of a connection. SPOILT: the tester said what may, or must, end it."""

    NEW = "nothing said"
    ASKED = "CONNECT said"
    LIVE = "connected"
    SPOILT = "misused"
    LEFT = "closed by us"
    CLOSED = "closed by the broker"


ALLOWED: Mapping[Phase, Mapping[str, str]] = {
    Phase.NEW: {"hello": "forbidden", "answer": "forbidden", "push": "forbidden"},
    Phase.ASKED: {"hello": "judged", "answer": "forbidden", "push": "forbidden"},
    Phase.LIVE: {"hello": "forbidden", "answer": "judged", "push": "judged"},
    Phase.SPOILT: {"hello": "forbidden", "answer": "judged", "push": "judged"},
    Phase.LEFT: {"hello": "impossible", "answer": "impossible", "push": "impossible"},
    Phase.CLOSED: {"hello": "impossible", "answer": "impossible", "push": "impossible"},
}
"""What a broker may say in each phase: CONNECTED, ERROR or AUTH_CHALLENGE; answers; MESSAGE and what comes unasked."""
_ENDS = {"client close": Phase.LEFT, "broker close": Phase.CLOSED}
NEXT: Mapping[Phase, Mapping[str, Phase]] = {
    Phase.NEW: {"client CONNECT": Phase.ASKED, "client misuse": Phase.SPOILT, **_ENDS},
    Phase.ASKED: {"broker CONNECTED": Phase.LIVE, "broker ERROR": Phase.SPOILT, "client misuse": Phase.SPOILT, **_ENDS},
    Phase.LIVE: {"client misuse": Phase.SPOILT, **_ENDS},
    Phase.SPOILT: {"client misuse": Phase.SPOILT, **_ENDS},
    Phase.LEFT: _ENDS,
    Phase.CLOSED: _ENDS,
}
"""What leads from one phase to another. A misuse that need not end the connection leaves the phase as it is."""


class Request(NamedTuple):
    """A request that is open. `want`: "success", "error" or "either"; `rule`: what the wrong answer
    breaks; `least` and     `most`: answers that may come. `about`: the producer or consumer id, or the topic."""

    kind: str
    want: str
    rule: str
    about: Any = None
    at: int = 0
    why: str = ""
    covers: tuple[str, ...] = ()
    extra: Any = None


class Producer(NamedTuple):
    """`phase`: "pending", "open", "closing". `sends`: indexes of the entries that are not answered, oldest first."""

    topic: str
    wanted: str
    name: str = ""
    phase: str = "pending"
    sends: tuple[int, ...] = ()
    top: Id | None = None


class Consumer(NamedTuple):
    """`granted`: permits said at any time since SUBSCRIBE; `sure`: those said after its SUCCESS. `used`: messages that
    were pushed. `window`: entries that may be pushed yet (FLOW-02, FLOW-09). `haze`: clocks of those REDELIVERs that
    no later answer has overtaken. `active`: what ACTIVE_CONSUMER_CHANGE said last; `ended`: it was told that the
    topic has ended."""

    sub: tuple[str, str]
    kind: int
    name: str
    phase: str = "pending"
    granted: int = 0
    sure: int = 0
    used: int = 0
    window: int = 0
    batched: bool = False
    haze: tuple[int, ...] = ()
    opened: int = 0
    active: bool | None = None
    told: bool = False
    resumed: bool = False
    ended: bool = False
    flows: int = 0


class Conn(NamedTuple):
    """`version` is what we announced, `limit` what the broker may use. `must_close`: the rule by which it must end the
    connection. `may_close`: it may. `synced`: clock of the latest thing said that an answer has overtaken. `acks`: ACKs
    that no answer has overtaken, as (clock, subscription, index). `low` and `up`: for how long at least, and at most,
    we said nothing; `idle`: for how long at least the broker sent no PING. `place`: the address where it was opened, if
    that is one that a lookup named. `spoken`: the version that the broker named."""

    phase: Phase = Phase.NEW
    version: int = 0
    limit: int = 0
    requests: Mapping[int, tuple[Request, ...]] = {}
    pings: tuple[int, ...] = ()
    pinged: int = 0
    producers: Mapping[int, Producer] = {}
    consumers: Mapping[int, Consumer] = {}
    answered: frozenset[int] = frozenset()
    must_close: str = ""
    may_close: str = ""
    why: str = ""
    hello: str = ""
    synced: int = 0
    acks: tuple[tuple[int, tuple[str, str], int], ...] = ()
    low: int = 0
    up: int = 0
    idle: int = 0
    age: int = 0
    midway: bool = False
    gone: frozenset[int] = frozenset()
    ended_producers: frozenset[int] = frozenset()
    misuse: str = ""
    place: str = ""
    spoken: int = 0


class Entry(NamedTuple):
    """What one SEND brought. `fate`: "sent", "stored", "refused", or "doubtful", and then `rule` says what a receipt
    or a delivery breaks. `floor`: the highest id on its topic that was known when it was sent. `name`: that of its
    producer, as far as it was known then."""

    topic: str
    source: Key
    seq: int
    headers: bytes
    payload: bytes
    many: int
    batched: bool
    check: str
    fate: str = "sent"
    rule: str = ""
    id: Id | None = None
    at: int = 0
    floor: Id | None = None
    tags: tuple[str, ...] = ()
    name: str = ""


class Place(NamedTuple):
    """An entry in a subscription. `need`: clock since when it must be pushed, 0 for not; `may`: how often it may be
    pushed yet; `acked`: "", "maybe", "yes"; `skip`: it is older than the subscription. `rival`: who has it if its
    owner has not: it was pushed to both, and nobody knows in which order."""

    need: int = 0
    may: int = 1
    owner: Key | None = None
    pushed: int = 0
    acked: str = ""
    skip: bool = False
    again: str = ""
    left: int = 0
    left_at: int = 0
    vague: bool = False
    rival: Key | None = None


class Sub(NamedTuple):
    """A subscription. `sure`: it exists beyond doubt. `members` are attached beyond doubt, `stale` clock-time after a
    lost connection in which nobody knows. `back`: steps back in the order that are allowed yet; `cursor` and
    `stepped`: the last id pushed, and when the order last stepped back. `moved`: clock of the last change of
    members. `doubted`: a SUBSCRIBE that would make it, or an UNSUBSCRIBE, was never answered. `ousted`: the consumer
    that the broker must have closed, since another one on its connection got what was its own; that it says so is
    still to come."""

    kind: int
    sure: bool = False
    places: Mapping[int, Place] = {}
    members: tuple[Key, ...] = ()
    stale: bool = False
    alone: bool = True
    back: int = 0
    cursor: Id | None = None
    stepped: int = 0
    moved: int = 0
    master: Key | None = None
    earliest: bool = False
    loose: bool = False
    redelivered: bool = False
    clean: bool = False
    refused: bool = False
    reborn: bool = False
    cumulative: bool = False
    doubted: bool = False
    ousted: Key | None = None


class State(NamedTuple):
    """Everything. `names`: producer names that the broker made up. `stale_ms`: quiet since a connection was lost.
    `tried`: odd things that were said and that must do no harm. `done`: what the conversation exercises, and what
    counts as covered when it ends well. `trail`: where a topic was looked up that redirects led to, and with what
    authority."""

    config: Config
    clock: int = 1
    conns: Mapping[int, Conn] = {}
    entries: tuple[Entry, ...] = ()
    subs: Mapping[tuple[str, str], Sub] = {}
    made_up: frozenset[str] = frozenset()
    ids: frozenset[Id] = frozenset()
    tops: Mapping[str, Id] = {}
    bad: bool = False
    stale_ms: int = 0
    lost: Mapping[str, frozenset[str]] = {}
    shares: Mapping[str, int] = {}
    loose_topics: frozenset[str] = frozenset()
    trail: Mapping[str, frozenset[tuple[str, bool]]] = {}
    tried: frozenset[str] = frozenset()
    done: frozenset[str] = frozenset()

    def conn(self, number: int) -> Conn:
        """A connection, be it new."""
        return self.conns.get(number) or Conn()

    def put(self, number: int, conn: Conn) -> State:
        """The state with one connection changed."""
        return self._replace(conns={**self.conns, number: conn})

    def put_sub(self, key: tuple[str, str], sub: Sub | None) -> State:
        """The state with one subscription changed, or without it."""
        subs = {each: there for each, there in self.subs.items() if each != key}
        return self._replace(subs=subs if sub is None else {**subs, key: sub})

    def put_consumer(self, key: Key, consumer: Consumer | None) -> State:
        """The state with one consumer changed, or without it."""
        conn = self.conn(key[0])
        consumers = {each: there for each, there in conn.consumers.items() if each != key[1]}
        if consumer is not None:
            consumers[key[1]] = consumer
        return self.put(key[0], conn._replace(consumers=consumers))

    def put_producer(self, key: Key, producer: Producer | None) -> State:
        """The state with one producer changed, or without it."""
        conn = self.conn(key[0])
        producers = {each: there for each, there in conn.producers.items() if each != key[1]}
        if producer is not None:
            producers[key[1]] = producer
        return self.put(key[0], conn._replace(producers=producers))

    def put_entry(self, at: int, entry: Entry) -> State:
        """The state with one entry changed."""
        return self._replace(entries=(*self.entries[:at], entry, *self.entries[at + 1 :]))

    def consumer(self, key: Key) -> Consumer | None:
        """A consumer, if there is one."""
        return self.conn(key[0]).consumers.get(key[1])


ODD_SENDS = ("INV-BROKER-16", "INV-BROKER-17", "INV-BROKER-20", "INV-BROKER-22")
"""SENDs that a broker may take or leave: what they say of themselves is not true, or not in order."""
REUSED = ("INV-BROKER-23", "INV-BROKER-24", "INV-BROKER-26")
"""Ids that are in use: the text says only that a client does not do it."""
SURVIVED = ("CHK-05", "INV-BROKER-31", "INV-BROKER-34", "INV-BROKER-37", "INV-BROKER-38", "ACK-07", "CLC-04", "CLP-08")
"""What a broker should survive. The text does not say so: to end the connection is to miss a recommendation."""
LISTENS = ("SEND-11", "CLP-01", *ODD_SENDS, *REUSED, *SURVIVED)
"""What a broker may end the connection for, but if it does not, it answers whatever comes behind it."""


def freedom(rule: str) -> int:
    """How much a broker may do after what it may end the connection for: the end is an oddity, is fine, or is fine and
    so is silence."""
    return 0 if not rule else 1 if rule in SURVIVED else 2 if rule in LISTENS else 3


def deaf(conn: Conn) -> bool:
    """True where the broker may have stopped to listen, and to push."""
    return freedom(conn.may_close) > freedom(LISTENS[0])


ALIASES = {
    "CONN-06": "INV-BROKER-01",
    "CONN-07": "INV-BROKER-01",
    "CONN-08": "INV-BROKER-02",
    "CONN-04": "INV-BROKER-03",
    "FRM-10": "INV-BROKER-05",
    "FRM-14": "INV-BROKER-06 INV-BROKER-14",
    "CHK-04": "INV-BROKER-13",
    "CHK-05": "INV-BROKER-13",
    "SEND-11": "INV-BROKER-18",
    "CLP-01": "INV-BROKER-19",
    "PROD-09": "INV-BROKER-25",
    "SUB-05": "INV-BROKER-27",
    "SUB-11": "INV-BROKER-28",
    "PROD-10": "INV-BROKER-29",
    "LOOK-09": "INV-BROKER-29",
    "ACK-05": "INV-BROKER-34",
    "ACK-07": "INV-BROKER-35",
    "CLC-04": "INV-BROKER-39",
    "CLP-08": "INV-BROKER-39",
    "KA-04": "INV-BROKER-43",
}
"""Requirements that say the same of invalid input: they are exercised and broken together."""


def ids(names: str) -> tuple[str, ...]:
    """Full requirement ids from short ones separated by blanks, and those that say the same."""
    short = names.split()
    return tuple(P + name for name in (*short, *(also for name in short for also in ALIASES.get(name, "").split())))


def blame(short: str, why: str, then: State | None = None, level: str | None = None, also: str = "") -> Breach:
    """A breach of the broker; judging goes on when the state after it is known."""
    others = tuple(each for each in dict.fromkeys(ids(f"{also} {short}")) if each != P + short)
    if then is None:
        return Breach("broker", P + short, why, level=level, also=others)
    return Breach("broker", P + short, why, then=then, level=level, also=others)


def diagram() -> str:
    """The phases of a connection to a broker as a mermaid state diagram, drawn from the table."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for phase, row in NEXT.items():
        for event, after in row.items():
            if after is not phase and phase not in (Phase.LEFT, Phase.CLOSED):
                arrows.setdefault((phase.name, after.name), []).append(event)
    lines = ["stateDiagram-v2", "    [*] --> NEW"]
    lines += [f"    {a} --> {b}: {' / '.join(events)}" for (a, b), events in arrows.items()]
    return "\n".join([*lines, "    LEFT --> [*]", "    CLOSED --> [*]"])
