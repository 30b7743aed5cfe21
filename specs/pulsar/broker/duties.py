"""What a broker has still to say or do. From these declarations follow whose turn it is and what a silence breaks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from specs.pulsar.broker import topics
from specs.pulsar.broker.book import BOOK
from specs.pulsar.broker.case import Case, Missing, Owing
from specs.pulsar.broker.causes import AFTERMATH, NOT_TAKEN, RECEIPT, SENDING
from specs.pulsar.broker.causes_missing import LIVENESS, LOST, MISSING
from specs.pulsar.broker.effects_subscriptions import consumers_of
from specs.pulsar.calls import Asked, Misuse
from specs.pulsar.machine import DOOMED, HANDSHAKE, Phase
from specs.pulsar.states import FAILOVER, RECEIPTS, SHARED, Conn, Fate, Place, Request, State, Sub, deaf
from specs.rules import Due

ANSWERED = "PULSAR-KA-02"
ACTIVE = "PULSAR-FAIL-04"
ONLY_THE_MASTER = "PULSAR-FAIL-01"
ONE_OF_THEM = Asked.SUBSCRIBE_SHARED.requirement
END_OF_TOPIC = "PULSAR-END-01"
ONE_ANSWER = Asked.TOPICS.requirement
REUSED = Misuse.REQUEST_AGAIN.requirement


def _conns(owing: Owing) -> Iterator[tuple[int, Conn]]:
    """The connections that matter."""
    if owing.answers is None:
        yield from owing.state.conns.items()
    else:
        yield owing.answers.number, owing.answers.conn


_MUST_CLOSE = tuple(each for each in Misuse if each.liberty == 3)


@BOOK.duty(" ".join(dict.fromkeys(n for each in _MUST_CLOSE for n in each.stays)), met_by="ends")
def the_connection_ends(owing: Owing) -> Iterator[Due]:
    """What cannot be understood, or comes before CONNECT, ends the connection."""
    for number, conn in _conns(owing):
        if conn.must_close is not None and (conn.phase in DOOMED or conn.phase is Phase.HASTY):
            requirement, *beside = conn.must_close.stays
            why = f"the connection {number} stays open: {conn.why}"
            yield Due(why, kind=conn.must_close.name, requirement=requirement, also=tuple(beside))


@BOOK.duty(f"{HANDSHAKE} {Misuse.CREDENTIALS.requirement}", met_by="CONNECTED, refuses, ends", causes=AFTERMATH)
def connect_is_answered(owing: Owing) -> Iterator[Due]:
    """Valid CONNECT is answered CONNECTED (seed, "Connect"). The address that a lookup names may be meant for others,
    and who is there for us another one: then it is a recommendation."""
    for number, conn in _conns(owing):
        if conn.phase is not Phase.ASKED:
            continue
        if conn.hello == "refusal":
            yield Due("CONNECT was not answered", requirement=Misuse.CREDENTIALS.requirement,
                      also=Misuse.CREDENTIALS.beside)  # fmt: skip
            continue
        strange = any(each.place and each.phase is Phase.ASKED for each in owing.state.conns.values())
        where = f" at {conn.place}, which a lookup named" if conn.place else ""
        yield Due(f"CONNECT was not answered{where}", about=number, level="SHOULD" if strange else None)


def _listening(owing: Owing) -> Iterator[Conn]:
    """Connections on which the broker answers."""
    for _, conn in _conns(owing):
        if conn.phase is Phase.LIVE and not deaf(conn):
            yield conn


@BOOK.duty(" ".join(dict.fromkeys((*(each.requirement for each in Asked), REUSED))), met_by="answers", also=ONE_ANSWER)
def requests_are_answered(owing: Owing) -> Iterator[Due]:
    """Each request has one answer."""
    for conn in _listening(owing):
        for name, waiting in conn.requests.items():
            for nth, each in enumerate(waiting):
                if _answerable(owing, conn, each) and _is_meant(owing.answers, name, nth):
                    ids = (REUSED,) if each.reused else (each.asked.requirement, *each.asked.beside)
                    yield Due(f"{each.asked.kind} was not answered", requirement=ids[0], also=ids[1:])


def _is_meant(case: Case | None, name: int, nth: int) -> bool:
    return case is None or (case.body.request_id == name and case.answered[1] == nth)


HELD = frozenset((
    Asked.PRODUCER_NAME_TAKEN, Asked.PRODUCER_IN_USE, Asked.PRODUCER_PENDING, Asked.SUBSCRIBE_EXCLUSIVE_TAKEN,
    Asked.SUBSCRIBE_OTHER_TYPE, Asked.SUBSCRIBE_IN_USE,
))  # fmt: skip
"""What asks for a place that somebody has."""


def _answerable(owing: Owing, conn: Conn, request: Request) -> bool:
    if _may_ask_first(request) and _probing(owing.state):
        return False  # it may ask first whether the one that has the place is still there
    return request.asked is not Asked.ACK or (request.about is not None and conn.spoken >= RECEIPTS)


def _may_ask_first(request: Request) -> bool:
    """True for what asks for a place that somebody may have."""
    return request.asked in HELD or (request.doubtful and request.asked.kind in ("PRODUCER", "SUBSCRIBE"))


def _probing(state: State) -> bool:
    """True while we have not answered a PING."""
    return any(conn.pinged for conn in state.conns.values())


@BOOK.duty(ANSWERED, met_by="PONG")
def pings_are_answered(owing: Owing) -> Iterator[Due]:
    """The broker answers PING with PONG (seed, "Keep Alive")."""
    for conn in _listening(owing):
        if conn.pings:
            yield Due("PING was not answered")


def _sends(owing: Owing) -> Iterator[int]:
    """SENDs that are open."""
    case = owing.answers
    if case is not None:
        yield from () if case.send is None else (case.send[1],)
        return
    for conn in _listening(owing):
        for producer in conn.producers.values():
            yield from producer.sends


@BOOK.duty(RECEIPT, met_by="SEND_RECEIPT, SEND_ERROR", causes=SENDING)
def sends_are_confirmed(owing: Owing) -> Iterator[Due]:
    """Each stored SEND is confirmed by SEND_RECEIPT (seed, "SendReceipt")."""
    for at in _sends(owing):
        entry = owing.state.entries[at]
        if entry.fate is Fate.SENT:
            yield Due(f"{NOT_TAKEN}: {entry.seq} was not answered", about=("", at))


@BOOK.duty(Misuse.CHECKSUM.requirement, met_by="SEND_ERROR", also=" ".join(Misuse.CHECKSUM.beside))
def wrong_checksums_are_answered(owing: Owing) -> Iterator[Due]:
    """A SEND with a wrong checksum is answered SEND_ERROR (practice)."""
    for at in _sends(owing):
        entry = owing.state.entries[at]
        if entry.fate is Fate.CHECKSUM:
            yield Due(f"the send {entry.seq} with a wrong checksum was not answered")


# -- what is pushed ----------------------------------------------------------------------------------------------------


@BOOK.duty(f"{ONE_OF_THEM} {ONLY_THE_MASTER}", met_by="CLOSE_CONSUMER, ends")
def who_was_passed_over_is_closed(owing: Owing) -> Iterator[Due]:
    """When another consumer gets what one had, the broker must have closed that one, and says so."""
    for sub in owing.state.subs.values():
        if sub.ousted is None or deaf(owing.state.conn(sub.ousted[0])):
            continue
        if owing.answers is None or owing.answers.number == sub.ousted[0]:
            yield Due(both(sub), requirement=ONLY_THE_MASTER if sub.kind == FAILOVER else ONE_OF_THEM)


def both(sub: Sub) -> str:
    """What is wrong when two consumers got the same."""
    kind = "Failover" if sub.kind == FAILOVER else "Shared"
    return f"two consumers of a {kind} subscription got the same message"


@BOOK.duty(LIVENESS, met_by="MESSAGE", also=LOST, causes=MISSING)
def messages_are_delivered(owing: Owing) -> Iterator[Due]:
    """Permits are used when messages are there (seed, "Flow control")."""
    case = owing.answers
    if case is None:
        subs = list(owing.state.subs)
    else:
        found = case.pushed
        if found.place is None or not found.place.need or found.place.acked or found.consumer is None:
            return
        subs = [found.consumer.sub]
    for where in subs:
        at = _due(owing.state, where)
        if at is not None:
            entry = owing.state.entries[at]
            why = f"a message was not delivered, with permits for it: sequence id {entry.seq} on {entry.topic}"
            yield Due(why, about=(where, at))


def _due(state: State, where: tuple[str, str]) -> int | None:
    """The first message of a subscription that must be pushed."""
    sub = state.subs[where]
    if not sub.sure or not sub.members or sub.doubted or sub.stale or _unheard(state, where):
        return None
    needed = [at for at, place in sub.places.items() if place.need and not place.acked]
    if not needed:
        return None
    members = [(key, state.consumer(key)) for key in sub.members]
    # nobody says whether a batch that is larger than the permits that are left is pushed or waits for more of them,
    # and what is behind it with it
    size = max(state.entries[at].many for at, place in sub.places.items() if at in needed
               or (place.may and place.acked != "yes" and not place.skip))  # fmt: skip
    fed = [
        there is not None and there.phase == "open" and there.sure - there.used - there.spared >= size
        and state.conn(key[0]).phase is Phase.LIVE and state.conn(key[0]).version >= 4 for key, there in members
    ]  # fmt: skip
    if any(there.phase != "open" for _, there in consumers_of(state, where)):
        return None
    # a batch whose turn it is with a consumer that has permits, but not for all of it, may wait for that one
    tight = any(
        there is not None and 0 < there.granted - there.used < size + there.spared for _, there in members
    )  # fmt: skip
    return needed[0] if all(fed) or (sub.kind == SHARED and any(fed) and not tight) else None


def _unheard(state: State, where: tuple[str, str]) -> bool:
    """True while a consumer is on a connection that the broker may have given up."""
    return any(deaf(state.conn(key[0])) for key, _ in consumers_of(state, where))


@BOOK.duty(ACTIVE, met_by="ACTIVE_CONSUMER_CHANGE")
def one_consumer_is_told_that_it_is_active(owing: Owing) -> Iterator[Due]:
    """ACTIVE_CONSUMER_CHANGE tells each consumer of a Failover subscription (schema, version 12)."""
    state = owing.state
    for where, sub in state.subs.items():
        if sub.kind != FAILOVER or sub.stale or state.config.profile != "modern":
            continue
        there = list(consumers_of(state, where))
        if owing.answers is not None and (owing.answers.number, owing.answers.body.consumer_id) not in dict(there):
            continue
        if not there or _unheard(state, where):
            continue
        if any(each.phase != "open" or state.conn(key[0]).version < 12 for key, each in there):
            continue
        active = sum(each.active is True for _, each in there)
        if active > 1 or (not active and (len(there) == 1 or all(each.told for _, each in there))):
            yield Due(f"{active} of {len(there)} consumers were told that they are active")


@BOOK.duty(END_OF_TOPIC, met_by="REACHED_END_OF_TOPIC")
def the_end_of_a_topic_is_told(owing: Owing) -> Iterator[Due]:
    """Consumers of a topic that takes no messages and has none for them are told so (schema, version 9). Only those
    that may have messages and are alone on their subscription: nobody says whether others are told."""
    state = owing.state
    if not state.config.terminated or state.config.profile != "modern":
        return
    for where, sub in state.subs.items():
        if not topics.terminated(state.config, where[0]) or sub.places or sub.stale or len(sub.members) != 1:
            continue
        key = sub.members[0]
        if owing.answers is not None and key != (owing.answers.number, owing.answers.body.consumer_id):
            continue
        conn, consumer = state.conn(key[0]), state.consumer(key)
        if consumer is None or consumer.phase != "open" or consumer.ended or not consumer.sure:
            continue
        if conn.phase is Phase.LIVE and conn.version >= 9 and not conn.may_close:
            yield Due(f"the consumer {key[1]} was not told that the topic {where[0]} has ended")


def missing(state: State, about: Any) -> Missing | Case:
    """What did not come, as the causes see it: a message on a subscription, or the answer to a SEND."""
    if isinstance(about, int):
        return Case(state, about)
    where, at = about
    if not where:
        return Missing(state, Sub(0), at, state.entries[at], Place())
    sub = state.subs[where]
    return Missing(state, sub, at, state.entries[at], sub.places[at])
