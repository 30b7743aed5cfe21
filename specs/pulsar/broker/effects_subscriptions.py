"""What becomes of subscriptions, permits and acknowledgements, whoever said something about them.

Source: 001_c0ea8805bb7ed422.txt, "Consumer". The state is an envelope: for every message and subscription it holds how
often it may be pushed yet and since when it must be, so that one reading is sound however late the broker reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from specs.pulsar.calls import Asked, Misuse
from specs.pulsar.states import (
    EXCLUSIVE,
    FAILOVER,
    FORBIDDEN,
    RECEIPTS,
    Again,
    Consumer,
    Fate,
    Id,
    Key,
    Place,
    Settled,
    State,
    Sub,
)

SINGLE = (EXCLUSIVE, FAILOVER)
"""Types in which one consumer receives everything, in order."""


def message_id(data: Any) -> Id:
    """The two numbers that make a message id."""
    return data.ledgerId, data.entryId


def subscribed(state: State, key: Key, body: Any) -> State:
    """SUBSCRIBE was said: a new consumer, perhaps a new subscription."""
    where = (body.topic, body.subscription)
    sub = state.subs.get(where)
    kind = body.subType
    if sub is None:
        earliest = body.HasField("initialPosition") and body.initialPosition == 1
        held = {at for other, there in state.subs.items() if other[0] == where[0] and there.sure
                for at, place in there.places.items() if _is_held(place)}  # fmt: skip
        places = {}
        for at, entry in enumerate(state.entries):
            if entry.topic != where[0] or entry.fate == Fate.REFUSED:
                continue
            if entry.fate == Fate.STORED and not earliest:
                places[at] = Place(may=0, skip=True)
            else:
                need = state.clock if earliest and at in held and entry.fate == Fate.STORED else 0
                places[at] = Place(need=need)
        loose = where[0] in state.loose_topics
        reborn = where in state.ended
        sub = Sub(kind, places=places, earliest=earliest, loose=loose, reborn=reborn)
        state = state.put_sub(where, sub)
    else:
        if not sub.members and not sub.stale:
            sub = sub._replace(kind=kind)
        state = state.put_sub(where, _hazy(sub) if sub.doubted else sub)
    consumer = Consumer(where, kind, body.consumer_name)
    return state.put_consumer(key, consumer)


def _is_held(place: Place) -> bool:
    """True for what a subscription certainly has and is not done with, so that the broker must keep it (P-95)."""
    return not place.acked and not place.skip and bool(place.need or place.pushed)


def _hazy(sub: Sub) -> Sub:
    """A subscription of which nobody knows whether it was there before: whatever was published may come, or not."""
    places = {
        at: place._replace(need=0, may=max(place.may, 1), skip=False, acked="maybe" if place.acked else "", again=None)
        for at, place in sub.places.items()
    }
    return sub._replace(places=places, back=sub.back + 2, clean=False)


def attached(state: State, key: Key) -> State:
    """SUCCESS came to a SUBSCRIBE."""
    consumer = state.consumer(key)
    if consumer is None:
        return state
    sub = state.subs.get(consumer.sub) or Sub(consumer.kind)
    if sub.doubted:  # there it is; a request that may still end it keeps it in doubt
        open_still = any(each.asked.kind == "UNSUBSCRIBE" for conn in state.conns.values()
                         for waiting in conn.requests.values() for each in waiting)  # fmt: skip
        sub = _hazy(sub)._replace(doubted=open_still)
    members = (*sub.members, key)
    places = dict(sub.places)
    if len(members) > 1 and sub.kind == FAILOVER:
        # what the old master got comes again or not, also what is still on its way to it on another connection
        apart = any(number != key[0] for number, _ in sub.members)
        places = {
            at: place._replace(may=place.may + 1, again=Again.TAKEN_OVER)
            if place.acked != "yes" and not place.skip and (place.owner or apart) else place
            for at, place in places.items()
        }  # fmt: skip
    state = state.put_sub(consumer.sub, sub._replace(
        kind=consumer.kind, sure=True, members=members, places=places, alone=sub.alone and len(members) == 1,
        moved=state.clock, master=None, back=sub.back + 1,
    ))  # fmt: skip
    return state.put_consumer(key, consumer._replace(phase="open", opened=state.clock))


def _asked_again(state: State, key: Key) -> bool:
    """True while a SUBSCRIBE with the id of this consumer is open: permits before its answer may not count (P-77)."""
    requests = state.conn(key[0]).requests.values()
    return any(each.asked is Asked.SUBSCRIBE_IN_USE and each.about == -1 - key[1] for some in requests for each in some)


def flowed(state: State, key: Key, permits: int) -> State:
    """FLOW was said."""
    consumer = state.consumer(key)
    if consumer is None:
        return state
    granted = consumer.granted + permits
    sure = consumer.sure + (permits if consumer.phase == "open" and not _asked_again(state, key) else 0)
    window = max(consumer.window, granted - consumer.used)
    return state.put_consumer(
        key, consumer._replace(granted=granted, sure=sure, window=window, flows=consumer.flows + 1)
    )


def found(state: State, sub: Sub, topic: str, wanted: Id) -> int | None:
    """The index of the entry with an id."""
    for at in sub.places:
        if state.entries[at].id == wanted:
            return at
    return None


def bits(words: Iterable[int]) -> int:
    """An ack_set as one number: words of 64 bits, the lowest first. Words of 0 at its end mean nothing."""
    return sum((word & (1 << 64) - 1) << 64 * n for n, word in enumerate(words))


def acked(state: State, key: Key, body: Any) -> State:
    """ACK was said: it takes effect at some time before the next answer on this connection."""
    consumer = state.consumer(key)
    if consumer is None:
        return state
    sub = state.subs.get(consumer.sub)
    if sub is None:
        return state
    wanted: dict[int, bool] = {}
    cumulative = body.ack_type == 1
    if cumulative and len(body.message_id) != 1:
        return state
    certain_kind = not cumulative or sub.kind in SINGLE  # on Shared it may be ignored, or carried out (P-71)
    for each in body.message_id:
        at = found(state, sub, consumer.sub[0], message_id(each))
        if cumulative:
            upto = message_id(each)
            for other in sub.places:
                there = state.entries[other].id
                if there is not None and there <= upto:
                    wanted[other] = certain_kind and at is not None and sub.places[at].owner == key
        elif at is not None:
            if each.ack_set or (each.HasField("batch_index") and each.batch_index >= 0):
                known = state.conn(key[0]).spoken >= RECEIPTS
                sub = _partly(sub, at, bits(each.ack_set), state.clock, known=known)
                continue
            wanted[at] = sub.places[at].owner is not None
    many = Settled.LISTED if len(wanted) > 1 else Settled.ALONE
    how = Settled.INVALID if body.HasField("validation_error") else Settled.CUMULATIVE if cumulative else many
    places, marks = dict(sub.places), []
    ours = consumer.phase == "open"
    for at, certain in wanted.items():
        place = places[at]
        if place.acked == "yes" or place.skip:
            continue
        places[at] = place._replace(acked="maybe", need=0, how=how)
        if certain and ours:
            marks.append((state.clock, consumer.sub, at))
    conn = state.conn(key[0])
    state = state.put(key[0], conn._replace(acks=(*conn.acks, *marks)))
    return state.put_sub(consumer.sub, sub._replace(places=places, cumulative=sub.cumulative or cumulative))


def _partly(sub: Sub, at: int, left: int, clock: int, *, known: bool) -> Sub:
    """Single messages of a batch are acknowledged; `left` are the bits of the others. A broker need not know of such
    acknowledgements: what is left of the batch may come again, or all of it. One that is too old to have heard of them
    reads an ACK of the batch."""
    place = sub.places[at]
    left &= place.left or left  # what was acknowledged before stays so
    place = place._replace(left=left, left_at=clock, sought=place.sought & left)
    if not known:
        place = place._replace(acked=place.acked or "maybe", need=0)
    return sub._replace(places={**sub.places, at: place})


def overtaken(state: State, number: int, at: int) -> State:
    """An answer came to what was said at a time: what was said before on this connection has taken effect."""
    conn = state.conn(number)
    if at <= conn.synced:
        return state
    done = [mark for mark in conn.acks if mark[0] < at]
    consumers = {
        name: there._replace(haze=tuple(each for each in there.haze if each >= at)) if there.haze else there
        for name, there in conn.consumers.items()
    }
    acks = tuple(mark for mark in conn.acks if mark[0] >= at)
    state = state.put(number, conn._replace(synced=at, acks=acks, consumers=consumers))
    for _, where, index in done:
        sub = state.subs.get(where)
        if sub is not None and index in sub.places and sub.places[index].acked == "maybe":
            place = sub.places[index]._replace(acked="yes", need=0)
            state = state.put_sub(where, sub._replace(places={**sub.places, index: place}))
    return state


def redelivering(state: State, key: Key, body: Any) -> State:
    """REDELIVER was said."""
    consumer = state.consumer(key)
    sub = None if consumer is None else state.subs.get(consumer.sub)
    if consumer is None or sub is None:
        return state
    listed = {message_id(each) for each in body.message_ids}
    places = dict(sub.places)
    standby = sub.kind == FAILOVER and (len(sub.members) > 1 or sub.stale)
    for at, place in places.items():
        if key not in (place.owner, place.rival) or place.acked == "yes":
            continue
        named = not listed or state.entries[at].id in listed
        if named or sub.kind in SINGLE:
            sure = named and not (place.acked or place.rival or standby) and consumer.phase == "open"
            places[at] = place._replace(
                may=place.may + 1, need=state.clock if sure else place.need, again=Again.REDELIVER,
                vague=_unread(state, key, place), unlisted=not named and sub.alone and place.may == 0,
            )  # fmt: skip
    clean = not any(place.need for place in sub.places.values())
    sub = sub._replace(places=places, back=sub.back + 1, redelivered=True, clean=clean)
    state = unsure(state.put_sub(consumer.sub, sub), key[0], consumer.sub)
    return state.put_consumer(key, consumer._replace(haze=(*consumer.haze, state.clock)))


def seeking(state: State, number: int, where: tuple[str, str]) -> State:
    """SEEK was said: everything may come again, and what must is known when it is answered."""
    sub = state.subs.get(where)
    if sub is not None:
        places = {
            at: place._replace(
                need=0, may=place.may + 3, unlisted=False, acked="maybe" if place.acked else "", skip=False,
                left=0, sought=place.left or place.sought,
                again=None if place.acked or place.skip else Again.SOUGHT,
            )
            for at, place in sub.places.items()
        }  # fmt: skip
        state = state.put_sub(where, sub._replace(places=places, back=sub.back + 2, loose=True))
    return unsure(state, number, where)


def is_sought(state: State, where: tuple[str, str]) -> bool:
    """True while a SEEK of a subscription is not answered."""
    waiting = (each for conn in state.conns.values() for some in conn.requests.values() for each in some)
    return any(each.asked is Asked.SEEK and each.extra is not None and each.extra[0] == where for each in waiting)


def unknown(state: State, where: tuple[str, str]) -> State:
    """Something was pushed that is none of its messages: any of them may have been meant, so none is owed any more."""
    sub = state.subs[where]
    places = {at: place._replace(need=0) for at, place in sub.places.items()}
    return state.put_sub(where, sub._replace(places=places, loose=True))


def _unread(state: State, key: Key, place: Place) -> bool:
    """True when nothing shows that the last acknowledgement of a part has been read."""
    return place.vague or place.left_at > state.conn(key[0]).synced


def unsure(state: State, number: int, where: tuple[str, str]) -> State:
    """An ACK that races with a CLOSE or REDELIVER may be lost: it takes effect, or it does not."""
    conn = state.conn(number)
    return state.put(number, conn._replace(acks=tuple(mark for mark in conn.acks if mark[1] != where)))


def leaving(state: State, key: Key) -> State:
    """The end of a consumer was asked for, or may have come: what it holds may go to others."""
    consumer = state.consumer(key)
    sub = None if consumer is None else state.subs.get(consumer.sub)
    if consumer is None or sub is None:
        return state
    places = {
        at: place._replace(may=place.may + 1, unlisted=False, again=place.again or Again.CLOSED,
                           vague=_unread(state, key, place))
        if key in (place.owner, place.rival) and place.acked != "yes" else place
        for at, place in sub.places.items()
    }  # fmt: skip
    state = state.put_sub(consumer.sub, sub._replace(places=places, back=sub.back + 1))
    return unsure(state, key[0], consumer.sub)


def shaken(state: State, number: int, misuse: Misuse, why: str) -> State:
    """The tester said what the broker may end the connection for: whatever it holds may go to others from now on, and
    others may see that before we see the end."""
    conn = state.conn(number)
    known = 0 if conn.may_close is None else conn.may_close.liberty
    state = state._replace(said=state.said | {misuse}, latest=misuse)
    if misuse.liberty > known:  # of several reasons the one counts that leaves most to the broker
        state = state.put(number, conn._replace(may_close=misuse, why=why))
        for name in conn.consumers:
            state = leaving(state, (number, name))
    return state


def left(state: State, key: Key, *, lost: bool = False, told: bool = False) -> State:
    """A consumer is gone. What it did not acknowledge must go to the others, or to whoever comes next, unless a SEEK
    may have passed it by. `told`: the broker said so itself, which leaves no doubt where nobody else is there."""
    consumer = state.consumer(key)
    sub = None if consumer is None else state.subs.get(consumer.sub)
    if consumer is None or sub is None:
        return state
    places = {}
    for at, place in sub.places.items():
        if place.rival is not None and key in (place.owner, place.rival):  # the other one may have it
            other = place.rival if place.owner == key else place.owner
            place = place._replace(owner=other, rival=None, may=max(place.may, 1))  # noqa: PLW2901 - as it is now
        elif place.owner == key and place.acked != "yes":
            need = place.need if place.acked or sub.loose else place.need or state.clock
            again = Again.LOST if lost and place.again is not Again.SOUGHT else place.again or Again.CLOSED
            vague = _unread(state, key, place)
            place = place._replace(  # noqa: PLW2901 - as it is now
                owner=None, unlisted=False, need=need, may=max(place.may, 1), again=again, vague=vague
            )  # fmt: skip
        places[at] = place
    members = tuple(each for each in sub.members if each != key)
    stale = sub.stale or (lost and bool(members or not told))
    state = state.put_sub(consumer.sub, sub._replace(
        places=places, members=members, stale=stale, moved=state.clock, master=None, back=sub.back + 1,
        alone=sub.alone and not lost, ousted=None if lost and sub.ousted == key else sub.ousted,
        doubted=sub.doubted or (lost and not sub.sure),
    ))  # fmt: skip
    return state.put_consumer(key, None)


def forgotten(state: State, key: Key) -> State:
    """A consumer was refused: it never was."""
    consumer = state.consumer(key)
    if consumer is None:
        return state
    sub = state.subs.get(consumer.sub)
    if sub is not None and not sub.sure and not sub.doubted and not any(
        there.sub == consumer.sub and (number, name) != key
        for number, conn in state.conns.items() for name, there in conn.consumers.items()
    ):  # fmt: skip
        state = state.put_sub(consumer.sub, None)
    return state.put_consumer(key, None)


def published(state: State, at: int) -> State:
    """A SEND was said: it may be pushed to every subscription that may exist."""
    entry = state.entries[at]
    for where, sub in state.subs.items():
        if where[0] == entry.topic:
            may = 0 if entry.fate in FORBIDDEN else 1
            state = state.put_sub(where, sub._replace(places={**sub.places, at: Place(may=may)}))
    return state


def stored(state: State, at: int) -> State:
    """A receipt came: every subscription that existed when it was sent must get it."""
    entry = state.entries[at]
    for where, sub in state.subs.items():
        if where[0] != entry.topic or at not in sub.places:
            continue
        place = sub.places[at]
        # published into a subscription that was there; whether one that was just being made was is not known
        if place.pushed or place.skip or place.acked or not sub.sure or sub.loose or born(state, where) > entry.at:
            continue
        state = state.put_sub(where, sub._replace(places={**sub.places, at: place._replace(need=state.clock)}))
    return state


def born(state: State, where: tuple[str, str]) -> int:
    """Since when a subscription exists beyond doubt."""
    return state.born.get(where, 1 << 60)


def consumers_of(state: State, where: tuple[str, str]) -> Iterator[tuple[Key, Consumer]]:
    """All consumers of a subscription, on whatever connection."""
    for number, conn in state.conns.items():
        for name, there in conn.consumers.items():
            if there.sub == where:
                yield (number, name), there
