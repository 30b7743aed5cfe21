"""What the model of a client remembers: connections, producers, consumers, and what the application was given."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from specs.pulsar.client.machine import CONNECTION, ENDED, NEW, Phase, Stage
from specs.pulsar.client.oddities import Oddity, Unreadable
from specs.pulsar.states import Config
from specs.values import quick_replace

METADATA = 256
"""How long metadata may be, more or less."""
LOOKS_UP = 7
"""Since this version a broker knows lookups, in the schema of today."""
FAMILY = {"LOOKUP": "lookup", "PARTITIONED_METADATA": "metadata"}
"""Request ids are unique within LOOKUP, within PARTITIONED_METADATA, and within the rest."""
_PARTITION = re.compile(r"(.*)-partition-(\d+)")


class Request(NamedTuple):
    """A request of the client that we did not answer: the family in which its number is unique, its number, and the
    topic that it is about, if any."""

    family: str
    number: int
    topic: str = ""


@quick_replace
class Line(NamedTuple):
    """A connection. `left`: phases that it left since the client spoke last. `greeted`: CONNECT came. `announced`:
    the version that the client named there; `version`: the one that we named in CONNECTED, None before it; `limit`:
    the max_message_size that stood there. `open`: requests that we did not answer, `used`: all numbers there were.
    `pings`: our PINGs without a PONG. `misuse`: what we said that may end it; `must`: the requirements by which
    it has to end; `unfit`: the MESSAGE by which it has to, where the client may refuse that one instead. `probe`: the
    client sent a PING and we said nothing since, for `low` ms at least; `pinged`: it sent one at all; `unanswered`: its
    PING had no PONG. `place`: the address that it leads to. `beside`: topics of producers and consumers that it asked
    for where nothing is judged any more, and `sought`: those that it looked up there, or whose partitions it asked
    for. `quit`: the client ended it, where all that it had asked for was answered, nothing was wrong, and neither a
    Redirect nor partitions led it elsewhere. `begged`: messages are wanted again on it, for which its version has no
    command."""

    phase: Phase = NEW
    left: tuple[Phase, ...] = ()
    greeted: bool = False
    announced: int = 0
    version: int | None = None
    limit: int = 0
    open: tuple[Request, ...] = ()
    used: frozenset[tuple[str, int]] = frozenset()
    pings: int = 0
    misuse: str = ""
    must: tuple[str, ...] = ()
    unfit: tuple[int, int] | None = None
    probe: bool = False
    pinged: bool = False
    unanswered: bool = False
    low: int = 0
    place: str = ""
    beside: frozenset[str] = frozenset()
    sought: frozenset[str] = frozenset()
    quit: bool = False
    begged: bool = False

    @property
    def over(self) -> bool:
        """True behind the end of the connection."""
        return self.phase in ENDED

    @property
    def speaks_version(self) -> int:
        """The version of the broker; a broker that names none has version 0."""
        return self.version or 0

    @property
    def version_is_old(self) -> bool:
        """True when the broker is older than lookups by the binary protocol are in the schema of today; P-86."""
        return self.version is not None and self.version < LOOKS_UP

    def moved(self, action: str, to: Phase | None = None) -> Line:
        """The connection after something that the broker did."""
        after = CONNECTION.move(self.phase, action, to)
        if after is self.phase:
            return self
        return self._replace(phase=after, left=(*self.left, self.phase))


class Sent(NamedTuple):
    """A SEND of a producer. `many`: how many messages it carries, and `payload` and `head` the payload of the first
    and its key and properties, None when it cannot be read. `receipted`: its receipt came; `refused`: SEND_ERROR
    did."""

    sequence: int
    many: int
    payload: bytes
    head: tuple[str | None, tuple[tuple[str, str], ...]] | None = None
    receipted: bool = False
    refused: bool = False


class Name(NamedTuple):
    """Which message: the id of its entry, its index in a batch (-1 for none), and how many the batch has."""

    entry: tuple[int, int]
    nth: int
    many: int


@quick_replace
class Pushed(NamedTuple):
    """A message that was pushed to a consumer. `sure`: it must reach the application, if anything does. `oddity`:
    what was unusual in how it came. `left`: it waited for the application when that wanted everything again, so that
    the client may have dropped it, or not; `asked`: it was asked for again."""

    name: Name
    payload: bytes
    key: str | None = None
    properties: tuple[tuple[str, str], ...] = ()
    batched: bool = False
    sure: bool = True
    oddity: Oddity | None = None
    crowded: bool = False
    left: bool = False
    asked: bool = False

    def dropped(self, *, asked: bool) -> Pushed:
        """The same message, where the client may drop it because it comes again."""
        return self._replace(sure=False, left=True, asked=asked) if self.sure or self.left else self

    def kept(self) -> Pushed:
        """The same message, which the client did not ask for: it still has it."""
        return self._replace(sure=True, left=False) if self.left and not self.asked else self


@quick_replace
class Endpoint(NamedTuple):
    """A producer or consumer of the client: `kind` says which. `request`: the number of the request by which it was
    made. `name`: what PRODUCER_SUCCESS called it. `next`: the sequence id that is next, None where nobody knows.
    `resend`: sequence ids that have to be sent again. `granted`: permits, and `pushed`: messages on this connection;
    `size`: the room of its queue. `queue`: messages pushed, not given to the application;. `forced`: the tester
    ended it, and `cut` its connection with it. `held`: producer_ready was false once. `recounted`: since it was
    lost, the number of partitions of its topic was asked for again. `taken`: the broker closed it once. `alone`: the
    application got a message of it that came while its connection had no other producer or consumer, and `crowded`:
    one that came while it had. `needless`: it was to be closed when it was lost, so it need not come back, and may, for
    what was to be sent before. `others`: the places of such ones; it may be one of them. `guessed`: it sent
    something where nothing is judged, so which of its messages are sent, and with which sequence ids, is not known.
    `fresh`: entries that were pushed to it since it was made. `wanted`: those of them that its application wants again
    and that were not asked for yet. `recalled`: the application wanted everything again, and the client may still drop
    what it has for that; `repeats`: it did so once. `leaving`: the number of the request by which it was closed."""

    kind: str
    topic: str
    line: int
    id: int
    request: int
    stage: Stage = Stage.ASKED
    name: str = ""
    next: int | None = None
    sent: tuple[Sent, ...] = ()
    resend: tuple[int, ...] = ()
    granted: int = 0
    pushed: int = 0
    size: int = 0
    queue: tuple[Pushed, ...] = ()
    forced: bool = False
    cut: bool = False
    held: bool = False
    recounted: bool = False
    taken: bool = False
    alone: bool = False
    crowded: bool = False
    needless: bool = False
    others: tuple[int, ...] = ()
    guessed: bool = False
    fresh: frozenset[tuple[int, int]] = frozenset()
    wanted: frozenset[tuple[int, int]] = frozenset()
    recalled: bool = False
    repeats: bool = False
    leaving: int | None = None

    @property
    def following(self) -> int | None:
        """The sequence id that is next; None where nobody knows."""
        return self.sent[-1].sequence + self.sent[-1].many if self.sent else self.next

    @property
    def waits(self) -> bool:
        """True while a message may wait for the application."""
        return any(each.sure or each.left for each in self.queue)

    @property
    def alive(self) -> bool:
        """True while its connection is what holds it."""
        return self.stage in (Stage.ASKED, Stage.PENDING, Stage.OPEN)


class Refusal(NamedTuple):
    """A message that cannot be read, and is to be acknowledged with a validation_error."""

    entry: tuple[int, int]
    unreadable: Unreadable
    oddity: Oddity


class Payload(NamedTuple):
    """A message that the client was told to send, and did not send yet. `owed`: it must; it may in any case."""

    topic: str
    payload: bytes
    key: str | None
    properties: Mapping[str, str]
    owed: bool = True


class Redirect(NamedTuple):
    """The last answer to the lookup of a topic that was Redirect. `nth`: how many there were in a row; `followed`:
    the client asked where it was sent."""

    authoritative: bool
    nth: int
    place: str
    followed: bool = False


class HangUp(NamedTuple):
    """The client ended a connection on which it had something: the connection, what had been closed there, whether
    we had said something odd, and whether its own PING had no PONG."""

    line: int
    closed: str
    odd: bool
    unanswered: bool


@quick_replace
class ClientState(NamedTuple):
    """Everything. `told`: commands not reported yet, as (op, value). `topics`: those of the application's producers
    and consumers, by kind and handle (two of different kinds may have the same). `sending`: payloads, as hex, of
    messages under way, by what the application calls them. `partitions` by topic; `looked`: how many LOOKUPs of a
    topic were answered with Connect, less what was created since; `named`: the addresses that were named then.
    `redirects`: the open redirects by topic. `refs`: what the application was given, by the handle of the consumer
    and its ref: topic and name. `unacked`: entries whose acknowledgement was asked for and not seen. `released`:
    all that was acknowledged by the application, of batches in `parts`, and `wholly` what nothing is left of;
    `anew`: the parts that were acknowledged since their entry was pushed last, and `again`: entries that were
    pushed again when parts of them were. `acked`: what the client has acknowledged since. `pushed`: on which topic
    what was pushed. `refused`: what must be acknowledged with a validation_error, and `refused_before` what has
    been, and may be again. `payloads`: what has to be sent. `keys`: to which partition a key went. `odd`: we said
    what a client ignores or may take amiss. `doubt`: what the client was told may fail, and nothing is owed.
    `left`: it was told to disconnect. `tried`: oddities that were said, the last one last. `unread`: messages that
    must not reach the application. `address` and `other`: where the tester listens. `accepted`: connections that
    the client is known to have opened. `hung`: how the client hung up without a reason; a client that died does so
    too, and that is known a moment later. `login`: the method and the data of the credentials that the client was
    given. `idle`: for how long nothing was said, at most. `asked_for`: what the client was told to make, by kind
    and topic. `crossed`: a message came for a consumer whose CLOSE_CONSUMER had no answer."""

    config: Config
    lines: Mapping[int, Line] = {}
    told: tuple[tuple[str, Any], ...] = ()
    endpoints: tuple[Endpoint, ...] = ()
    topics: Mapping[tuple[str, str], str] = {}
    sending: Mapping[str, str] = {}
    partitions: Mapping[str, int] = {}
    looked: Mapping[str, int] = {}
    redirects: Mapping[str, Redirect] = {}
    refs: Mapping[tuple[str, str], tuple[str, Name]] = {}
    unacked: tuple[tuple[int, int], ...] = ()
    refused: tuple[Refusal, ...] = ()
    refused_before: tuple[Refusal, ...] = ()
    payloads: tuple[Payload, ...] = ()
    parts: frozenset[Any] = frozenset()
    released: frozenset[Any] = frozenset()
    wholly: frozenset[Any] = frozenset()
    anew: frozenset[Any] = frozenset()
    again: frozenset[tuple[int, int]] = frozenset()
    acked: frozenset[tuple[int, int]] = frozenset()
    pushed: Mapping[Any, str] = {}
    odd: bool = False
    doubt: bool = False
    left: bool = False
    tried: tuple[Oddity, ...] = ()
    unread: tuple[Oddity, ...] = ()
    address: str = ""
    other: str = ""
    named: Mapping[str, frozenset[str]] = {}
    keys: Mapping[tuple[str, str], str] = {}
    accepted: int = 0
    hung: HangUp | None = None
    login: tuple[str, str] | None = None
    idle: int = 0
    asked_for: Mapping[tuple[str, str], tuple[Mapping[str, Any], ...]] = {}
    crossed: bool = False

    def topic_named(self, kind: str, given: Mapping[str, Any]) -> str:
        """The topic of the producer or consumer that an operation names, "" where it is not known."""
        return self.topics.get((kind, str(given.get(kind))), "")

    @staticmethod
    def ref(given: Mapping[str, Any], told: Mapping[str, Any]) -> tuple[str, str]:
        """What stands for a message in `refs`: the consumer that an operation names, and what is called its ref."""
        return str(given.get("consumer")), str(told.get("ref"))

    def freed(self) -> ClientState:
        """Nothing that the client was told to send has to be sent any more."""
        return self._replace(payloads=tuple(each._replace(owed=False) for each in self.payloads))

    @property
    def waits(self) -> bool:
        """True while the client waits for an answer of ours."""
        return any(
            line.open or (line.greeted and line.version is None) for line in self.lines.values() if not line.over
        )

    @property
    def lacks_receipt(self) -> bool:
        """True while what the client was told first waits for a receipt of ours, or may: of a connection that may have
        to end nobody knows what was sent there."""
        op = self.told[0][0] if self.told else ""
        return op in ("send", "await", "close", "disconnect") and any(
            (end.guessed and self.line(end.line).misuse) or any(not sent.receipted for sent in end.sent)
            for end in self.endpoints
            if end.stage is Stage.OPEN
        )

    @property
    def beyond(self) -> bool:
        """True while the client has a connection on which nobody listens: it may wait for an answer there."""
        return self.accepted > sum(line.greeted for line in self.lines.values())

    @property
    def connected(self) -> bool:
        """True when a connection was established."""
        return any(line.version is not None for line in self.lines.values())

    @property
    def probed(self) -> bool:
        """True when the client sent a PING of its own."""
        return any(line.pinged for line in self.lines.values())

    @property
    def alone(self) -> bool:
        """True when the application got messages of consumers that were alone on their connection, and no others."""
        return any(end.alone for end in self.endpoints) and not any(end.crowded for end in self.endpoints)

    def took(self, kind: str) -> bool:
        """True when we closed a producer or consumer, and not its connection."""
        return any(end.kind == kind and end.taken for end in self.endpoints)

    def sought(self, topic: str) -> bool:
        """True when the client looked a topic up, or asked for its partitions, where nothing is judged: what it heard
        there, and whether it did, is not known."""
        return any(topic in line.sought for line in self.lines.values())

    @property
    def distrusts(self) -> bool:
        """True when a client may have had enough of a broker: it cannot read what it gets, or was told of an error
        that is about no request."""
        return Oddity.ERROR_OF_NOTHING in self.tried or any(each is not Oddity.NO_CONSUMER for each in self.unread)

    def outlived(self, oddity: Oddity) -> bool:
        """True for an oddity that was said, and about which nothing is left to be done."""
        return oddity in self.tried and not any(each.oddity is oddity for each in self.refused)

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

    def with_line(self, number: int, line: Line) -> ClientState:
        """The state with one connection changed."""
        return self._replace(lines={**self.lines, number: line})

    def looked_up(self, topic: str, more: int) -> ClientState:
        """The state with one LOOKUP more, or one less, that something may be created on."""
        return self._replace(looked={**self.looked, topic: max(self.looked.get(topic, 0) + more, 0)})

    def with_endpoint(self, at: int, end: Endpoint) -> ClientState:
        """The state with one producer or consumer changed."""
        return self._replace(endpoints=(*self.endpoints[:at], end, *self.endpoints[at + 1 :]))

    def endpoint(self, kind: str, number: int, name: int, *stages: Stage) -> int | None:
        """The index of the last producer or consumer of this id on this connection, in one of these stages (none: in
        any): an id is free again when what had it is closed."""
        for at in reversed(range(len(self.endpoints))):
            end = self.endpoints[at]
            if end.id == name and end.line == number and end.kind == kind and (not stages or end.stage in stages):
                return at
        return None

    def of_topic(self, kind: str, topic: str) -> list[tuple[int, Endpoint]]:
        """The producers or consumers of a topic or of its partitions, with their indexes."""
        return [(at, end) for at, end in enumerate(self.endpoints) if end.kind == kind and base(end.topic)[0] == topic]


def base(topic: str) -> tuple[str, int | None]:
    """A topic and its partition."""
    found = _PARTITION.fullmatch(topic)
    return (found[1], int(found[2])) if found else (topic, None)
