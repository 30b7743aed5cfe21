"""What the acceptor of a broker remembers: connections, producers, consumers, messages, subscriptions.

Everything is immutable. `clock` counts events: that something was said before something else was heard is all that the
model knows of time, apart from how long nothing was heard.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from specs.pulsar.calls import DEAF, SIZES_LIE, Asked, Misuse, Trait
from specs.pulsar.machine import Phase
from specs.values import quick_replace

P = "PULSAR-"
Key = tuple[int, int]
"""A producer or consumer: connection, id."""
Id = tuple[int, int]
"""ledgerId, entryId."""
EXCLUSIVE, SHARED, FAILOVER, KEY_SHARED = range(4)
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
    timeout_ms: int = 0

    @property
    def soonest_ms(self) -> int:
        """How long the silence of a peer is at least that ends a connection; 0 where nothing is known of it."""
        return min(self.keepalive_ms, self.timeout_ms or self.keepalive_ms)

    @property
    def latest_ms(self) -> int:
        """How long the silence of a peer is at most: it is asked for a sign of life once, and waited for."""
        return self.keepalive_ms + (self.timeout_ms or self.keepalive_ms)


class Fate(Enum):
    """What became of a SEND. DOUBTFUL: nobody knows whether it is stored. The others of which nobody knows must not be
    stored: the value is the requirement that says so."""

    __hash__ = object.__hash__

    SENT = "sent"
    STORED = "stored"
    REFUSED = "refused"
    DOUBTFUL = "doubtful"
    CHECKSUM = "PULSAR-CHK-04"
    SIZES = SIZES_LIE
    BEHIND_CLOSE = Misuse.SEND_BEHIND_CLOSE.requirement
    FAILED = "PULSAR-SEND-10"


FORBIDDEN = (Fate.CHECKSUM, Fate.SIZES, Fate.BEHIND_CLOSE, Fate.FAILED)
"""SENDs that must not be stored."""


class Again(Enum):
    """Why a message may, or must, be pushed once more."""

    REDELIVER = "redelivery was asked for"
    CLOSED = "the consumer that had it is gone"
    LOST = "the connection of the consumer that had it is gone"
    SOUGHT = "it is behind the position that was sought"
    TAKEN_OVER = "another consumer took over"


class Settled(Enum):
    """How a message was acknowledged."""

    ALONE = "by an ACK of its own"
    LISTED = "by an ACK that names several"
    CUMULATIVE = "by a cumulative ACK of a later one"
    INVALID = "by an ACK with a validation error"


@quick_replace
class Request(NamedTuple):
    """A request that is open. `about`: the producer or consumer id, or the topic, None when that is gone, and negative
    for an id that was in use. `at`: when it was said. `doubtful`: either answer may come. `why`: what ERROR would say.
    `extra`: what is known when it is said, and needed when it is answered. `reused`: its id was used before."""

    asked: Asked
    about: Any = None
    at: int = 0
    doubtful: bool = False
    why: str = ""
    extra: Any = None
    reused: bool = False

    @property
    def want(self) -> str:
        """What must come: "success", "error" or "either"."""
        return "either" if self.doubtful else self.asked.want


@quick_replace
class Producer(NamedTuple):
    """A producer. `wanted` is the name that was asked for, `name` the one that it has. `phase`: "pending", "open",
    "closing". `sends`: indexes of the entries that are not answered, oldest first. `top`: the id in its last
    receipt. `known`: the sequence id that the broker said to know of it when it was made, -1 for none."""

    topic: str
    wanted: str
    name: str = ""
    phase: str = "pending"
    sends: tuple[int, ...] = ()
    top: Id | None = None
    known: int = -1


@quick_replace
class Consumer(NamedTuple):
    """A consumer. `phase`: "pending", "open", "closing".

    `granted`: permits said at any time since SUBSCRIBE; `sure`: those said after its SUCCESS. `used`: messages that
    were pushed; `spared`: messages of batches pushed with them that were acknowledged, for which permits may have
    been used as well (P-40). `window`: entries that may be pushed yet (FLOW-02, FLOW-09). `batched`: batches were
    among them. `haze`: clocks of those REDELIVERs that no later answer has overtaken. `opened`: clock of its
    SUCCESS. `active`: what ACTIVE_CONSUMER_CHANGE said last; `told`: it said something. `resumed`: its id was that
    of a consumer that is gone. `ended`: it was told that the topic has ended. `flows`: how many FLOWs were said."""

    sub: tuple[str, str]
    kind: int
    name: str
    phase: str = "pending"
    granted: int = 0
    sure: int = 0
    used: int = 0
    spared: int = 0
    window: int = 0
    batched: bool = False
    haze: tuple[int, ...] = ()
    opened: int = 0
    active: bool | None = None
    told: bool = False
    resumed: bool = False
    ended: bool = False
    flows: int = 0


@quick_replace
class Conn(NamedTuple):
    """A connection. `version` is what we announced, `limit` what the broker may use, `client` what we call ourselves.

    `requests`: those that are open, by their id; `answered`: ids of those that were. `pings`: clocks of our PINGs that
    are open; `probes`: how many we said; `pinged`: PINGs of the broker that we did not answer. `may_close`: what was
    said that the broker may end the connection for, of several the one that leaves most to it; `misuse`: the first of
    them; `must_close`: what it must end the connection for; `why` says it for people. `hello`: what CONNECT must be
    answered with, "success", "refusal" or "either". `synced`: clock of the latest thing said that an answer has
    overtaken. `acks`: ACKs that no answer has overtaken, as (clock, subscription, index). `low` and `up`: for how long
    at least, and at most, we said nothing; `unread`: clock of the first thing said that nothing shows to have been
    read, `rest` for how long at most we had said nothing then, and `since` for how long at most it is said. `idle`: for
    how long at least the broker sent no PING; `age`: how long the connection is open at least. `waited`: for how long
    at least the oldest PING of ours is open. `midway`: a frame of ours has begun and is not whole. `gone` and
    `ended_producers`: ids of consumers and producers that are over. `place`: the address where it was opened, if that
    is one that a lookup named. `spoken`: the version that the broker named."""

    phase: Phase = Phase.NEW
    version: int = 0
    limit: int = 0
    client: str = ""
    requests: Mapping[int, tuple[Request, ...]] = {}
    pings: tuple[int, ...] = ()
    probes: int = 0
    pinged: int = 0
    producers: Mapping[int, Producer] = {}
    consumers: Mapping[int, Consumer] = {}
    answered: frozenset[int] = frozenset()
    may_close: Misuse | None = None
    must_close: Misuse | None = None
    misuse: Misuse | None = None
    why: str = ""
    hello: str = ""
    synced: int = 0
    acks: tuple[tuple[int, tuple[str, str], int], ...] = ()
    low: int = 0
    up: int = 0
    unread: int = 0
    rest: int = 0
    since: int = 0
    idle: int = 0
    age: int = 0
    waited: int = 0
    midway: bool = False
    gone: frozenset[int] = frozenset()
    ended_producers: frozenset[int] = frozenset()
    place: str = ""
    spoken: int = 0


@quick_replace
class Entry(NamedTuple):
    """What one SEND brought. `many`: how many messages. `at`: when it was said. `floor`: the highest id on its topic
    that was known then. `traits` and `odd`: ways in which it was sent. `name`: that of its producer, as far as it was
    known then."""

    topic: str
    source: Key
    seq: int
    headers: bytes
    payload: bytes
    many: int
    batched: bool
    check: str
    fate: Fate = Fate.SENT
    id: Id | None = None
    at: int = 0
    floor: Id | None = None
    traits: tuple[Trait, ...] = ()
    odd: Misuse | None = None
    name: str = ""


@quick_replace
class Place(NamedTuple):
    """An entry in a subscription. `need`: clock since when it must be pushed, 0 for not; `may`: how often it may be
    pushed yet; `owner`: who got it last; `pushed`: how often. `acked`: "", "maybe", "yes"; `how` it was. `skip`: it is
    older than the subscription. `again`: why it may come once more. `left`: which messages of a batch are not
    acknowledged, as bits, and `left_at` when that was said; `vague`: nobody knows whether it was read; `sought`: what
    was left before a SEEK that may have done nothing. `rival`: who has it if its owner has not: it was pushed to both,
    and nobody knows in which order. `unlisted`: REDELIVER was said last with a list in which it is not."""

    need: int = 0
    may: int = 1
    owner: Key | None = None
    pushed: int = 0
    acked: str = ""
    how: Settled | None = None
    skip: bool = False
    again: Again | None = None
    left: int = 0
    left_at: int = 0
    vague: bool = False
    sought: int = 0
    rival: Key | None = None
    unlisted: bool = False


@quick_replace
class Sub(NamedTuple):
    """A subscription. `kind`: its type. `sure`: it exists beyond doubt. `places`: its messages, by their index.
    `members` are attached beyond doubt, `stale` clock-time after a lost connection in which nobody knows. `alone`:
    there never were two members. `back`: steps back in the order that are allowed yet; `cursor` and `stepped`: the last
    id pushed, and when the order last stepped back. `moved`: clock of the last change of members. `master`: who
    receives in a Failover subscription. `earliest`: it was made to begin there. `loose`: nobody knows where it begins.
    `redelivered`: REDELIVER was said; `clean`: nothing had to come when it was. `refused`: a second consumer was
    refused. `reborn`: it was ended by UNSUBSCRIBE and made anew. `cumulative`: an ACK of that type was said. `doubted`:
    a SUBSCRIBE that would make it, or an UNSUBSCRIBE, was never answered. `ousted`: the consumer that the broker must
    have closed, since another one on its connection got what was its own; that it says so is still to come."""

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


@quick_replace
class State(NamedTuple):
    """Everything. `entries`: all SENDs. `made_up`: producer names that the broker made up. `ids` and `tops`: message
    ids of all receipts, and the highest of each topic. `bad`: something was said that ends a connection. `stale_ms`:
    quiet since a connection was lost. `lost`: producer names of lost connections, by topic. `born`: since when a
    subscription exists beyond doubt; `ended`: those that were ended by UNSUBSCRIBE. `partitions`: how many a topic has,
    as it was told; `redirects`: how often in a row a lookup of it was redirected. `loose_topics`: topics of which
    nobody knows what they hold. `trail`: where a topic was looked up that redirects led to, and with what authority.
    `cut`: topic and name of producers, and subscriptions, whose connection was lost. `said`: every misuse so far;
    `latest`: the last of them."""

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
    born: Mapping[tuple[str, str], int] = {}
    ended: frozenset[tuple[str, str]] = frozenset()
    partitions: Mapping[str, int] = {}
    redirects: Mapping[str, int] = {}
    loose_topics: frozenset[str] = frozenset()
    trail: Mapping[str, frozenset[tuple[str, bool]]] = {}
    cut: frozenset[tuple[str, str]] = frozenset()
    said: frozenset[Misuse] = frozenset()
    latest: Misuse | None = None

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


def deaf(conn: Conn) -> bool:
    """True where the broker may have stopped to listen, and to push."""
    return conn.may_close is not None and conn.may_close.liberty >= DEAF
