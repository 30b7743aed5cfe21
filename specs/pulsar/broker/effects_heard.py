"""What becomes of the state when the broker says something, whether or not something was broken by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from specs.model import ANYTHING
from specs.pulsar.broker import effects_sends as sends
from specs.pulsar.broker import effects_subscriptions as subscriptions
from specs.pulsar.broker.book import BOOK
from specs.pulsar.broker.case import At, Case, Delivery, gives_back
from specs.pulsar.broker.commands import ANSWERS
from specs.pulsar.calls import Asked, Misuse
from specs.pulsar.frames import NOBODY
from specs.pulsar.machine import Phase
from specs.pulsar.states import FAILOVER, FORBIDDEN, Again, Fate, Place, Request, State

OF_PRODUCERS = ("CLOSE_PRODUCER",)
OF_CONSUMERS = ("ACK", "CLOSE_CONSUMER", "UNSUBSCRIBE", "SEEK", "GET_LAST_MESSAGE_ID", "CONSUMER_STATS")
"""Requests about one that is there."""


def effect(*actions: str) -> Callable[[Callable[[Case], Any]], Callable[[Case], Any]]:
    """Register what the state is after an action of the broker."""

    def registered(after: Callable[[Case], Any]) -> Callable[[Case], Any]:
        BOOK.effect(*actions)(lambda case: state if (state := after(case)) is ANYTHING else At(state, None))
        return after

    return registered


@effect("AUTH_CHALLENGE", "complains", "commands")
def unchanged(case: Case) -> State:
    """Nothing."""
    return case.before


@effect("garbles")
def garbled(case: Case) -> Any:
    """What it should have been nobody knows."""
    return ANYTHING


@effect("CONNECTED")
def connected(case: Case) -> State:
    """The version of the broker is known."""
    return case.before.put(case.number, case.conn._replace(spoken=case.body.protocol_version))


@effect("refuses")
def refused(case: Case) -> State:
    """Nothing on this connection counts any more."""
    state = case.before._replace(bad=True)
    state = subscriptions.shaken(state, case.number, Misuse.CREDENTIALS, "CONNECT was refused")
    conn = state.conn(case.number)
    bad = Misuse.CREDENTIALS
    return state.put(case.number, conn._replace(misuse=conn.misuse or bad, must_close=conn.must_close or bad))


@effect("PONG")
def pong(case: Case) -> State:
    """The oldest PING is answered, and what was said before it has taken effect."""
    conn = case.conn
    if not conn.pings:
        return case.before
    state = case.before.put(case.number, conn._replace(pings=conn.pings[1:], waited=0))
    return subscriptions.overtaken(state, case.number, conn.pings[0])


@effect("PING")
def ping(case: Case) -> State:
    """One more is open."""
    return case.before.put(case.number, case.conn._replace(pinged=case.conn.pinged + 1, idle=0))


# -- producing ---------------------------------------------------------------------------------------------------------


@effect("SEND_RECEIPT")
def receipt(case: Case) -> State:
    """A message is stored, or was before."""
    state, producer, number = case.before, case.producer, case.number
    if producer is None or case.send is None:
        return state
    nth, at = case.send
    entry, given = case.entry, case.given
    producer = producer._replace(sends=(*producer.sends[:nth], *producer.sends[nth + 1 :]))
    state = state.put_producer((number, case.body.producer_id), producer)
    if given is None or case.dropped or case.duplicate_of is not None:
        return state.put_entry(at, entry._replace(fate=Fate.REFUSED))
    top = state.tops.get(entry.topic)
    state = state._replace(ids=state.ids | {given}, tops={**state.tops, entry.topic: max(given, top or given)})
    state = state.put_entry(at, entry._replace(fate=Fate.STORED, id=given))
    if entry.fate in FORBIDDEN:  # known not to be refused: it may be pushed like any other
        state = subscriptions.published(state, at)
    state = state.put_producer((number, case.body.producer_id), producer._replace(top=given))
    return subscriptions.stored(state, at)


@effect("SEND_ERROR")
def send_error(case: Case) -> State:
    """A message is not stored."""
    state, producer = case.before, case.producer
    if producer is None or case.send is None:
        return state
    nth, at = case.send
    producer = producer._replace(sends=(*producer.sends[:nth], *producer.sends[nth + 1 :]))
    state = state.put_producer((case.number, case.body.producer_id), producer)
    fate = case.entry.fate if case.entry.fate in (Fate.CHECKSUM, Fate.SIZES, Fate.BEHIND_CLOSE) else Fate.FAILED
    return state.put_entry(at, case.entry._replace(fate=fate))


@effect("CLOSE_PRODUCER")
def closed_producer(case: Case) -> State:
    """The broker closed a producer."""
    state, number, name = case.before, case.number, case.body.producer_id
    if name not in case.conn.producers:
        return state
    if case.conn.producers[name].sends:  # they have, by now, no producer
        state = subscriptions.shaken(state, number, Misuse.SEND_OF_NOBODY, "SENDs crossed the broker's CLOSE_PRODUCER")
    state = _crossed(state, number, OF_PRODUCERS, name)
    return sends.gone(state, (number, name), lost=True)


# -- consuming ---------------------------------------------------------------------------------------------------------


@effect("CLOSE_CONSUMER")
def closed_consumer(case: Case) -> State:
    """The broker closed a consumer."""
    state, number, name = case.before, case.number, case.body.consumer_id
    conn = case.conn
    if name not in conn.consumers:
        return state
    where = conn.consumers[name].sub
    if where in state.subs and any(
        each.asked.kind == "UNSUBSCRIBE" and each.about == name
        for waiting in conn.requests.values() for each in waiting
    ):  # fmt: skip
        state = state.put_sub(where, state.subs[where]._replace(doubted=True))
    state = subscriptions.unsure(state, number, where)
    state = subscriptions.left(state, (number, name), lost=True, told=True)
    state = _crossed(state, number, OF_CONSUMERS, name)
    for other, there in [key for key, _ in subscriptions.consumers_of(state, where)]:  # it may be alone by now
        state = _crossed(state, other, ("UNSUBSCRIBE",), there)
    conn = state.conn(number)
    return state.put(number, conn._replace(gone=conn.gone | {name}))


def _crossed(state: State, number: int, kinds: tuple[str, ...], about: int) -> State:
    """The broker has closed what some requests are about that it had not read: it may refuse them, and whether an
    UNSUBSCRIBE that succeeds now was carried out nobody knows. An ACK need not be answered then."""
    conn = state.conn(number)
    for name, waiting in conn.requests.items():
        if any(each.asked.kind in kinds and each.about == about for each in waiting):
            changed = tuple(
                each if each.asked.kind not in kinds or each.about != about
                else each._replace(about=None) if each.asked is Asked.ACK else each._replace(doubtful=True)
                for each in waiting
            )  # fmt: skip
            conn = conn._replace(requests={**conn.requests, name: changed})
    return state.put(number, conn)


@effect("ACTIVE_CONSUMER_CHANGE")
def active_change(case: Case) -> State:
    """A consumer was told whether it is active."""
    key = (case.number, case.body.consumer_id)
    consumer = case.before.consumer(key)
    if consumer is None:
        return case.before
    return case.before.put_consumer(key, consumer._replace(active=case.body.is_active, told=True))


@effect("REACHED_END_OF_TOPIC")
def end_of_topic(case: Case) -> State:
    """A consumer was told that its topic has ended."""
    key = (case.number, case.body.consumer_id)
    consumer = case.before.consumer(key)
    return case.before if consumer is None else case.before.put_consumer(key, consumer._replace(ended=True))


def _brought(case: Case) -> Delivery:
    """What a MESSAGE brings; of one that is not as it was sent, the message whose id it has."""
    found, state = case.pushed, case.before
    if found.sub is None or found.consumer is None or found.at is not None:
        return found
    topic = found.consumer.sub[0]
    at = next((at for at, each in enumerate(state.entries) if (each.topic, each.id) == (topic, found.given)), None)
    if at is None:
        return found
    return found._replace(at=at, entry=state.entries[at], place=found.sub.places.get(at, Place(may=0)))


@effect("MESSAGE")
def pushed(case: Case) -> State:
    """A message was pushed. Of one that is none of those that were sent nobody knows which it should have been."""
    found, state = _brought(case), case.before
    consumer, sub, entry, place = found.consumer, found.sub, found.entry, found.place
    if consumer is None or sub is None:
        return state
    if entry is None or place is None or found.at is None:
        return subscriptions.unknown(state, consumer.sub)
    key, given = found.key, found.given
    if found.ousts is not None:
        state = subscriptions.unsure(state, found.ousts[0], consumer.sub)
    # what was seen with its consumer before may come again as often as that was said; what was on its way may besides
    hazy = 0 if place.owner == key else len(consumer.haze) + (consumer.phase == "closing")
    back, stepped = sub.back, sub.stepped
    if sub.cursor and given < sub.cursor:
        back, stepped = back - 1, state.clock
    holder = found.holder
    rival = key if holder and place.may > 0 else None
    if place.owner == key and place.rival is not None and place.rival[0] != key[0] and gives_back(state, key, consumer):
        rival = place.rival  # which may have got it after this consumer, whatever is seen first
    # what comes while a SEEK is under way may be what it asks for: on another connection it can be seen before SUCCESS
    again = None if place.again is Again.SOUGHT and subscriptions.is_sought(state, consumer.sub) else place.again
    after = place._replace(
        need=0, may=max(place.may - 1, 0) + hazy, owner=holder or key, pushed=place.pushed + 1,
        again=again if not hazy else Again.REDELIVER, rival=rival,
    )  # fmt: skip
    master = key if sub.kind == FAILOVER and entry.at > sub.moved and holder is None else sub.master
    sub = sub._replace(places={**sub.places, found.at: after}, back=back, cursor=given, stepped=stepped, master=master)
    state = state.put_sub(consumer.sub, sub)
    brings = messages_in(found, case.body)
    consumer = consumer._replace(
        used=consumer.used + brings, spared=consumer.spared + entry.many - brings, window=consumer.window - 1,
        batched=consumer.batched or entry.many > 1,
    )  # fmt: skip
    state = state.put_consumer(key, consumer)
    return state if entry.id is not None else state.put_entry(found.at, entry._replace(id=given))


def messages_in(found: Delivery, body: Any) -> int:
    """How many messages a MESSAGE brings: of a batch those that its ack_set names."""
    assert found.entry is not None
    if not body.ack_set:
        return found.entry.many
    return (subscriptions.bits(body.ack_set) & (1 << found.entry.many) - 1).bit_count()


# -- answers -----------------------------------------------------------------------------------------------------------


@effect("answers")
def answer(case: Case) -> State:
    """A request is open no more, and what was said before it has taken effect."""
    waiting, nth = case.answered
    return case.before if nth is None else _answered(case, case.body.request_id, waiting, nth)


@effect("invents")
def answer_of_another(case: Case) -> Any:
    """An answer with an id of its own was meant for a request that is open, the oldest of its kind. What follows one of
    another kind nobody knows."""
    if case.answered[0]:
        return ANYTHING
    alike = [
        (each.at, name, nth) for name, waiting in case.conn.requests.items() for nth, each in enumerate(waiting)
        if case.phase is Phase.LIVE and case.kind == ANSWERS[each.asked.kind]
    ]  # fmt: skip
    if not alike:
        return case.before
    _, name, nth = min(alike)
    return _answered(case, name, case.conn.requests[name], nth)


def _answered(case: Case, name: int, waiting: tuple[Request, ...], nth: int) -> State:
    number, request = case.number, waiting[nth]
    rest = (*waiting[:nth], *waiting[nth + 1 :])
    requests = {each: there for each, there in case.conn.requests.items() if each != name}
    if rest:
        requests[name] = rest
    conn = case.conn._replace(requests=requests, answered=case.conn.answered | {name})
    state = subscriptions.overtaken(case.before.put(number, conn), number, request.at)
    after = (_FAILED if case.failed[0] else _DONE).get(request.asked.kind)
    return state if after is None else after(state, number, request, case.body)


After = Callable[[State, int, Request, Any], State]


def _no_producer(state: State, number: int, request: Request, body: Any) -> State:
    """Its id is free, unless it was asked for once more meanwhile: then it stands for that one."""
    about = _meant(request)
    before = state.conn(number).producers.get(about)
    if before is None or (request.about < 0 and (before.phase != "pending" or any(_waiting(state, number, about)))):
        return state
    again = next(_waiting(state, number, -1 - about), None)
    if again is not None:
        topic, wanted = again.extra
        return state.put_producer((number, about), before._replace(topic=topic, wanted=wanted))
    return state.put_producer((number, about), None)


def _meant(request: Request) -> int:
    """The id that a request is about, be it in use or not."""
    about: int = request.about
    return about if about >= 0 else -1 - about


def _waiting(state: State, number: int, about: int) -> Iterator[Request]:
    """Open requests to make a producer with an id; one that was in use is negative, as in `Request.about`."""
    every = (each for waiting in state.conn(number).requests.values() for each in waiting)
    return (each for each in every if each.asked.kind == "PRODUCER" and each.about == about)


def _not_subscribed(state: State, number: int, request: Request, body: Any) -> State:
    if request.about is None or request.about < 0:
        return state
    consumer = state.consumer((number, request.about))
    sub = None if consumer is None else state.subs.get(consumer.sub)
    if consumer is not None and sub is not None and request.asked is Asked.SUBSCRIBE_EXCLUSIVE_TAKEN:
        state = state.put_sub(consumer.sub, sub._replace(refused=True))
    return subscriptions.forgotten(state, (number, request.about))


def _not_closed(state: State, number: int, request: Request, body: Any) -> State:
    consumer = state.conn(number).consumers.get(request.about)
    if consumer is None or consumer.phase != "closing":
        return state
    requests = (each for waiting in state.conn(number).requests.values() for each in waiting)
    asked = any(each.asked.kind == "SUBSCRIBE" and each.about == request.about for each in requests)
    return state.put_consumer((number, request.about), consumer._replace(phase="pending" if asked else "open"))


def _producing(state: State, number: int, request: Request, body: Any) -> State:
    about = _meant(request)
    producer = state.conn(number).producers.get(about)
    if producer is None or producer.phase != "pending" or any(_waiting(state, number, about)):
        return state
    name = body.producer_name
    if not producer.wanted:
        state = state._replace(made_up=state.made_up | {name})
    return state.put_producer((number, about), producer._replace(phase="open", name=name, known=body.last_sequence_id))


def _subscribed(state: State, number: int, request: Request, body: Any) -> State:
    consumer = state.conn(number).consumers.get(request.about)
    if consumer is None or consumer.phase != "pending":
        return state
    where = consumer.sub
    sub = state.subs.get(where)
    if sub is not None and (not sub.sure or sub.doubted or where not in state.born):
        state = state._replace(born={**state.born, where: state.clock})
    return subscriptions.attached(state, (number, request.about))


def _closed(state: State, number: int, request: Request, body: Any) -> State:
    consumer = state.conn(number).consumers.get(request.about)
    if consumer is None or consumer.phase != "closing":
        return state
    state = subscriptions.left(state, (number, request.about))
    if request.asked.kind == "UNSUBSCRIBE" and consumer.sub in state.subs:
        # somebody else's SUBSCRIBE may have made it anew
        again = state.subs[consumer.sub]._replace(sure=False, doubted=True)
        others = any(subscriptions.consumers_of(state, consumer.sub))
        born = {where: since for where, since in state.born.items() if where != consumer.sub}
        state = state.put_sub(consumer.sub, again if others else None)
        state = state._replace(born=born, ended=state.ended | {consumer.sub})
    conn = state.conn(number)
    return state.put(number, conn._replace(gone=conn.gone | {request.about}))


def _no_more(state: State, number: int, request: Request, body: Any) -> State:
    producer = state.conn(number).producers.get(request.about)
    if producer is None or producer.phase != "closing" or request.extra is None:
        return state
    return sends.gone(state, (number, request.about))


def _sought(state: State, number: int, request: Request, body: Any) -> State:
    """Behind the position everything must come again that was not acknowledged. What was, or is older than the
    subscription, the broker need not have any more; whether what is there itself comes nobody says. What the position
    has passed is done with as if it were acknowledged (P-95)."""
    sub = None if request.extra is None else state.subs.get(request.extra[0])
    if sub is None:
        return state
    where, position = request.extra
    places = {}
    for at, place in sub.places.items():
        entry = state.entries[at]
        after = (
            entry.fate is Fate.STORED and entry.id is not None and (position == (NOBODY, NOBODY) or entry.id > position)
        )
        need = state.clock if after and place.again is Again.SOUGHT else place.need
        acked = place.acked if after else place.acked or "maybe"
        places[at] = place._replace(need=need, sought=0, acked=acked)
    return state.put_sub(where, sub._replace(places=places))


def _looked_up(state: State, number: int, request: Request, body: Any) -> State:
    count = state.redirects.get(request.about, 0) + 1 if body.response == 0 else 0
    return state._replace(redirects={**state.redirects, request.about: count})


def _counted(state: State, number: int, request: Request, body: Any) -> State:
    return state._replace(partitions={**state.partitions, request.about: body.partitions})


_FAILED: dict[str, After] = {
    "PRODUCER": _no_producer, "SUBSCRIBE": _not_subscribed, "CLOSE_CONSUMER": _not_closed, "UNSUBSCRIBE": _not_closed,
}  # fmt: skip
_DONE: dict[str, After] = {
    "PRODUCER": _producing, "SUBSCRIBE": _subscribed, "CLOSE_CONSUMER": _closed, "UNSUBSCRIBE": _closed,
    "CLOSE_PRODUCER": _no_more, "SEEK": _sought, "LOOKUP": _looked_up, "PARTITIONED_METADATA": _counted,
}  # fmt: skip


# -- the end -----------------------------------------------------------------------------------------------------------


@effect("ends")
def ends(case: Case) -> State:
    """The broker closed the connection."""
    return over(case.before, case.number)


def over(state: State, number: int) -> State:
    """A connection is over: everything on it is gone, as far as the broker has noticed. Whether an UNSUBSCRIBE that was
    not answered was carried out, nobody knows."""
    conn = state.conn(number)
    for waiting in conn.requests.values():
        for request in waiting:
            consumer = conn.consumers.get(request.about) if request.asked.kind == "UNSUBSCRIBE" else None
            sub = None if consumer is None else state.subs.get(consumer.sub)
            if consumer is not None and sub is not None:
                state = state.put_sub(consumer.sub, sub._replace(doubted=True))
    held = {(each.topic, each.name) for each in conn.producers.values()} | {
        each.sub for each in conn.consumers.values()
    }
    state = state._replace(cut=state.cut | held)
    for name in conn.consumers:
        state = subscriptions.left(state, (number, name), lost=True)
    for name in conn.producers:
        state = sends.gone(state, (number, name), lost=True)
    conn = state.conn(number)
    state = state._replace(stale_ms=0)
    return state.put(number, conn._replace(requests={}, pings=(), acks=(), midway=False))
