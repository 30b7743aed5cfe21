"""What the rules of a broker look at: an event in its circumstances.

What a MESSAGE brings, and towards which subscription, is found before any rule is asked; see `Delivery`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from specs.lazy import lazy
from specs.pulsar.broker.commands import ANSWERS, PLAIN_ERRORS
from specs.pulsar.broker.effects_subscriptions import consumers_of, leaving, message_id
from specs.pulsar.calls import Misuse
from specs.pulsar.frames import NOBODY, Frame
from specs.pulsar.machine import Phase
from specs.pulsar.states import (
    CLOSES,
    FAILOVER,
    FORBIDDEN,
    Conn,
    Consumer,
    Entry,
    Fate,
    Id,
    Key,
    Place,
    Producer,
    Request,
    State,
    Sub,
)


class Owing(NamedTuple):
    """What duties look at: everything (`answers` is None), or only what an action of the broker may settle."""

    state: State
    answers: Any = None


class At(NamedTuple):
    """The state after an action on one connection, and the phase that this connection has then."""

    state: State
    phase: Any


class Case:
    """An action of a broker. `during` is the circumstance in which a request was asked that is answered."""

    about = None
    left: tuple[Any, ...] = ()

    def __init__(self, state: State, number: int, frame: Frame | None = None, event: Any = None) -> None:
        self.before, self.number, self.frame, self.event = state, number, frame, event
        self.conn: Conn = state.conn(number)
        self.phase: Any = self.conn.phase
        self.profile = state.config.profile
        self.during = ""
        self.disorder: Any = None

    @property
    def state(self) -> Owing:
        """What the duties see; see `specs.rules.Rulebook.met`."""
        return Owing(self.before, self)

    @property
    def body(self) -> Any:
        """The command."""
        assert self.frame is not None
        return self.frame.body

    @property
    def kind(self) -> str:
        """The kind of the command."""
        assert self.frame is not None
        return self.frame.kind

    # -- answers

    @lazy
    def answered(self) -> tuple[tuple[Request, ...], int | None]:
        """The requests that are open with the id of an answer, and which of them it answers."""
        waiting = self.conn.requests.get(self.body.request_id, ())
        nth = next((i for i, each in enumerate(waiting) if self.kind == ANSWERS[each.asked.kind]
                    or (self.kind == "ERROR" and each.asked.kind in PLAIN_ERRORS)), None)  # fmt: skip
        return waiting, nth

    @property
    def request(self) -> Request:
        """The request that is answered. Only where there is one."""
        waiting, nth = self.answered
        assert nth is not None
        return waiting[nth]

    @property
    def asked(self) -> bool:
        """True when it answers a request."""
        return self.answered[1] is not None

    @lazy
    def failed(self) -> tuple[bool, int]:
        """Whether the answer says that the request failed, and its error."""
        kind, body = self.kind, self.body
        if kind == "ERROR":
            return True, body.error
        if kind == "LOOKUP_RESPONSE":
            return body.response == 2, body.error
        if kind == "PARTITIONED_METADATA_RESPONSE":
            return body.response == 1, body.error
        if kind == "CONSUMER_STATS_RESPONSE":
            return body.HasField("error_code"), body.error_code
        return False, 0

    # -- receipts

    @property
    def producer(self) -> Producer | None:
        """The producer that is named."""
        return self.conn.producers.get(self.body.producer_id)

    @lazy
    def send(self) -> tuple[int, int] | None:
        """The SEND that is answered: its place among those that are open, and its index."""
        producer = self.producer
        if producer is None:
            return None
        entries = self.before.entries
        found = [(nth, at) for nth, at in enumerate(producer.sends) if entries[at].seq == self.body.sequence_id]
        if self.kind == "SEND_ERROR":  # of several with one number the one that may fail
            return next((each for each in found if entries[each[1]].fate in UNSURE), found[0] if found else None)
        return next((each for each in found if entries[each[1]].fate not in FORBIDDEN), found[0] if found else None)

    @property
    def entry(self) -> Entry:
        """The SEND that is answered, or that a MESSAGE brings. Only where there is one."""
        at = self.pushed.at if self.kind == "MESSAGE" else None if self.send is None else self.send[1]
        assert at is not None
        return self.before.entries[at]

    @lazy
    def given(self) -> Id | None:
        """The message id that a receipt gives."""
        return message_id(self.body.message_id) if self.body.HasField("message_id") else None

    @property
    def known_already(self) -> bool:
        """True when the broker said in PRODUCER_SUCCESS that it knows this sequence id of the producer already."""
        return self.producer is not None and self.entry.seq <= self.producer.known

    @lazy
    def duplicate_of(self) -> Entry | None:
        """With deduplication on: the message with the same sequence id of a producer of the same name whose receipt had
        come when this one was sent: one of the same connection, if there is one. A broker that does not declare it may
        confirm what it says to know (P-28), and what comes out of order (P-20)."""
        entry, declared = self.entry, self.before.config.dedup
        if not entry.name or not (declared or self.known_already or entry.odd is Misuse.FALLING):
            return None
        found = [
            there for there in self.before.entries
            if (there.topic, there.name, there.seq, there.fate) == (entry.topic, entry.name, entry.seq, Fate.STORED)
            and there.at < entry.at and there.id is not None and entry.floor is not None and there.id <= entry.floor
        ]  # fmt: skip
        first = max(found, key=lambda there: (there.source == entry.source, there.at), default=None)
        if first is None or self.given is None:
            return None
        return first if self.given == first.id or (declared and first.source == entry.source) else None

    @property
    def dropped(self) -> bool:
        """True for the receipt of a message that is not stored because its number was used before."""
        nowhere = self.given == (NOBODY, NOBODY)
        return nowhere and (self.before.config.dedup or self.known_already or self.entry.odd is Misuse.FALLING)

    @property
    def used_before(self) -> bool:
        """True when a producer of the same name may have used this number before on the topic, or a higher one."""
        entry = self.entry
        return entry.odd is Misuse.FALLING or any(
            there.topic == entry.topic and (there.name == entry.name or there.source == entry.source)
            and there.at < entry.at and there.fate is not Fate.REFUSED and there.seq + max(there.many, 1) > entry.seq
            for there in self.before.entries
        )  # fmt: skip

    # -- MESSAGE

    @lazy
    def pushed(self) -> Delivery:
        """What a MESSAGE brings."""
        return delivery(self.before, self.number, self.frame)

    @property
    def message(self) -> Frame:
        """The frame of a MESSAGE."""
        assert self.frame is not None
        return self.frame

    @property
    def consumer(self) -> Consumer:
        """To whom a MESSAGE is pushed. Only where that is known."""
        assert self.pushed.consumer is not None
        return self.pushed.consumer

    @property
    def sub(self) -> Sub:
        """The subscription of a MESSAGE. Only where there is one."""
        assert self.pushed.sub is not None
        return self.pushed.sub

    @property
    def at(self) -> int:
        """The index of what a MESSAGE brings. Only where it is known."""
        assert self.pushed.at is not None
        return self.pushed.at

    @property
    def place(self) -> Place:
        """What a MESSAGE brings, in its subscription. Only where it is known."""
        assert self.pushed.place is not None
        return self.pushed.place


UNSURE = (*FORBIDDEN, Fate.DOUBTFUL)
"""SENDs that may fail."""


class Missing(NamedTuple):
    """A message that was not delivered, for the causes that explain it; see `causes_missing.MISSING`."""

    before: State
    sub: Sub
    at: int
    entry: Entry
    place: Place


class Delivery(NamedTuple):
    """A MESSAGE: to whom, of what, and what stands in its way. Fields are None from the first one that is not known.

    `sub` and `place` are as they are once what the MESSAGE shows is taken into account: `ousts` is the consumer that
    the broker must have closed before, because another one on its connection got what was its own. `holder` is who has
    the message, and may have got it after this consumer, which gave it back."""

    key: Key
    given: Id
    consumer: Consumer | None = None
    sub: Sub | None = None
    at: int | None = None
    entry: Entry | None = None
    place: Place | None = None
    ousts: Key | None = None
    holder: Key | None = None
    first: Key | None = None

    @property
    def overtaken(self) -> bool:
        """True when another consumer got it since, on another connection: nobody knows in which order."""
        return self.holder is not None and self.place is not None and self.place.may <= 0


def delivery(state: State, number: int, frame: Any) -> Delivery:
    """What a MESSAGE brings."""
    key = (number, frame.body.consumer_id)
    found = Delivery(key, message_id(frame.body.message_id), consumer := state.consumer(key))
    if consumer is None or (sub := state.subs.get(consumer.sub)) is None:
        return found
    found = found._replace(sub=sub)
    if frame.headers is None or (at := matching(state, sub, consumer.sub[0], frame)) is None:
        return found
    entry, place = state.entries[at], sub.places.get(at, Place(may=0))
    holder = _overtaken(state, key, consumer, place)
    found = found._replace(at=at, entry=entry, place=place, holder=holder)
    if key == sub.ousted or found.overtaken:
        return found
    other = _holder(state, key, consumer, sub, entry, place)
    if (
        other is not None and other[0] == number and sub.ousted in (None, other)
        and state.conn(number).version >= CLOSES
        and not (place.acked == "yes" and place.may <= 0)
    ):  # fmt: skip
        # the broker has closed it, and says so behind this: until then it is as if the consumer were leaving
        after = leaving(state.put_sub(consumer.sub, sub._replace(ousted=other)), other)
        sub = after.subs[consumer.sub]
        found = found._replace(sub=sub, place=sub.places.get(at, place), ousts=other)
    if sub.kind == FAILOVER and not sub.stale and not _settling(state, key, consumer, sub, entry):
        found = found._replace(first=_first(state, key, consumer, sub))
    return found


def matching(state: State, sub: Sub, topic: str, frame: Any) -> int | None:
    """The index of the entry that a MESSAGE brings."""
    wanted = message_id(frame.body.message_id)
    best: tuple[int, int] | None = None
    for at, entry in enumerate(state.entries):
        if entry.topic == topic and entry.payload == frame.payload and entry.headers == frame.headers:
            place = sub.places.get(at)
            score = 4 * (entry.id == wanted) + 2 * (entry.id is None) + (place is not None and place.may > 0)
            if best is None or score > best[0]:
                best = (score, at)
    return None if best is None else best[1]


def _overtaken(state: State, key: Key, consumer: Consumer, place: Place) -> Key | None:
    """Who has a message that may have been pushed before to this consumer, which has given it back since, by leaving or
    by asking for all that it holds again: what happens on two connections may be seen in any order."""
    if place.owner is None or place.owner[0] == key[0] or place.acked == "yes":
        return None
    return place.owner if gives_back(state, key, consumer) else None


def gives_back(state: State, key: Key, consumer: Consumer) -> bool:
    """True for a consumer that asked for what it holds again, or is leaving."""
    return bool(consumer.haze or consumer.phase == "closing" or state.conn(key[0]).may_close)


def _holder(state: State, key: Key, consumer: Consumer, sub: Sub, entry: Entry, place: Place) -> Key | None:
    """The consumer which only the broker can have ended if this one gets the entry."""
    if place.may <= 0:
        return place.owner if place.owner != key else None
    if sub.kind != FAILOVER or sub.stale or _settling(state, key, consumer, sub, entry):
        return None
    return _first(state, key, consumer, sub)


def _settling(state: State, key: Key, consumer: Consumer, sub: Sub, entry: Entry) -> bool:
    """True while nobody can say which consumer is the master."""
    others = [(each, there) for each, there in consumers_of(state, consumer.sub) if each not in (key, sub.ousted)]
    return entry.at <= sub.moved or any(
        there.phase != "open" or state.conn(each[0]).may_close for each, there in others
    )


def _first(state: State, key: Key, consumer: Consumer, sub: Sub) -> Key | None:
    """Another consumer that is the master, by what it received or by its name."""
    if sub.master not in (None, key, sub.ousted):
        return sub.master
    if state.config.profile == "seed":
        for each, there in consumers_of(state, consumer.sub):
            if each not in (key, sub.ousted) and there.name and consumer.name and _before(there.name, consumer.name):
                return each
    return None


def _before(one: str, other: str) -> bool:
    """True when a name sorts before another in every alphabet: nobody says in which they are sorted."""
    plain = [[letter for letter in name.casefold() if letter.isalnum()] for name in (one, other)]
    return one.encode() < other.encode() and one.casefold() <= other.casefold() and plain[0] < plain[1]


def action_of(case: Case) -> str:
    """The action of the machine that a frame of the broker is."""
    kind, conn = case.kind, case.conn
    if kind == "ERROR" and conn.phase in (Phase.ASKED, Phase.HASTY):
        return "refuses"
    if kind == "ERROR" or kind in _ANSWERS:
        if case.asked:
            return "answers"
        name = case.body.request_id
        loose = kind == "ERROR" and name not in conn.requests and (name == NOBODY or conn.phase is not Phase.LIVE)
        return "complains" if loose else "invents"
    return kind if kind in _OWN else "commands"


_ANSWERS = frozenset(ANSWERS.values())
_OWN = frozenset(("CONNECTED", "AUTH_CHALLENGE", "PONG", "SEND_RECEIPT", "SEND_ERROR", "MESSAGE", "PING",
                  "ACTIVE_CONSUMER_CHANGE", "CLOSE_PRODUCER", "CLOSE_CONSUMER", "REACHED_END_OF_TOPIC"))  # fmt: skip
