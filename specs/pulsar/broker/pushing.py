"""MESSAGE: which a broker may push, in which order, and which it still has to.

Source: 001_c0ea8805bb7ed422.txt, "Consumer".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from specs.model import Allow, Breach, Outcome
from specs.pulsar.broker.consuming import SINGLE, bits, consumers_of, leaving, message_id
from specs.pulsar.states import (
    CLOSES,
    EXCLUSIVE,
    FAILOVER,
    SHARED,
    Consumer,
    Entry,
    Id,
    Key,
    Phase,
    Place,
    State,
    Sub,
    blame,
    deaf,
    ids,
)


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


def message(state: State, number: int, frame: Any) -> Outcome:
    """MESSAGE came."""
    body = frame.body
    key = (number, body.consumer_id)
    consumer = state.consumer(key)
    conn = state.conn(number)
    if consumer is None:
        gone = body.consumer_id in conn.gone
        rule = "CLC-01" if gone else "MSG-01"
        return blame(rule, f"MESSAGE for consumer {body.consumer_id}, which is not open", also="MSG-01")
    sub = state.subs.get(consumer.sub)
    if sub is None:
        return blame("MSG-01", "MESSAGE of a subscription that is gone")
    if consumer.granted == 0:
        rule = "FLOW-06" if consumer.resumed else "FLOW-01"
        if rule == "FLOW-01" and any(o != key and there.granted for o, there in consumers_of(state, consumer.sub)):
            rule = "FLOW-05"
        return blame(rule, "MESSAGE before any permit")
    if frame.headers is None:
        return blame("FRM-14", f"a MESSAGE whose sizes lie: {frame.odd or 'no metadata'}")
    if frame.check == "bad":
        return blame("CHK-03", "the checksum of a MESSAGE is wrong")
    at = matching(state, sub, consumer.sub[0], frame)
    if at is None:
        return _unknown(state, consumer, frame)
    entry, place = state.entries[at], sub.places.get(at, Place(may=0))
    if place.acked == "yes" and place.may <= 0:
        return _again("RED-03" if sub.redelivered else "ACK-01")
    given = message_id(body.message_id)
    if entry.fate == "doubtful" and entry.rule:
        return blame(entry.rule, "what must not be stored was delivered")
    if entry.id is not None and entry.id != given:
        return blame("SEND-09", f"MESSAGE with the id {given}, its receipt had {entry.id}")
    if consumer.window <= 0:
        redo = place.pushed and sub.redelivered
        rule = "FLOW-09" if consumer.batched or entry.batched else "RED-06" if redo else "FLOW-02"
        why = f"MESSAGE without a permit: {consumer.used} messages pushed, {consumer.granted} permitted"
        return blame(rule, why)
    if key == sub.ousted:
        return blame(*_both(sub), also="E2E-03")
    late = _overtaken(state, key, consumer, place)
    if late is not None and place.may <= 0:
        return _pushed(state, key, consumer, sub, at, frame, given, holder=late)
    other = _holder(state, key, consumer, sub, entry, place)
    if other is not None and other[0] == number and sub.ousted in (None, other) and conn.version >= CLOSES:
        # the broker has closed it, and says so behind this: until then it is as if the consumer were leaving
        state = state.put_sub(consumer.sub, sub._replace(ousted=other))
        state = leaving(state, other)
        sub = state.subs[consumer.sub]
        place = sub.places.get(at, place)
    wrong = _may_not(state, key, consumer, sub, at, entry, place)
    if wrong is not None:
        return wrong
    if entry.batched and conn.version < 4:
        return blame("BAT-11", "a batch was pushed to a client of version 3 or older")
    return _pushed(state, key, consumer, sub, at, frame, given, holder=late)


def _unknown(state: State, consumer: Consumer, frame: Any) -> Outcome:
    """A MESSAGE that is none of the messages of its topic."""
    topic, given = consumer.sub[0], message_id(frame.body.message_id)
    for entry in state.entries:
        same = entry.payload == frame.payload and entry.headers == frame.headers
        if entry.topic != topic and same and (entry.id is None or entry.id == given):
            return blame("E2E-04", f"MESSAGE of topic {entry.topic} on {topic}")
    for entry in state.entries:
        if entry.topic == topic and (
            entry.id == given or entry.headers == frame.headers or (frame.payload and entry.payload == frame.payload)
        ):
            if entry.payload == frame.payload:
                return blame("MD-03", "the metadata of a MESSAGE are not those that were sent", also="CHK-11")
            if entry.headers == frame.headers:
                rule = "CMP-01" if frame.metadata() is not None and frame.metadata().compression else "FRM-04"
                return blame(rule, "the payload of a MESSAGE is not the one that was sent")
    for conn in state.conns.values():
        if conn.may_close in ("CLP-01", "SEND-11"):
            return blame(conn.may_close, "MESSAGE that no producer sent", also="E2E-02")
    return blame("E2E-02", "MESSAGE that nobody sent")


def _may_not(
    state: State, key: Key, consumer: Consumer, sub: Sub, at: int, entry: Entry, place: Place
) -> Outcome | None:
    """Why an entry must not be pushed to this consumer now."""
    if place.skip:
        rule = "SUB-13" if sub.reborn else "SUB-10"
        return blame(rule, "a message older than the subscription was delivered")
    if place.may <= 0:
        if place.acked == "yes":
            rule = "RED-03" if sub.redelivered else "ACK-01"
            return _again(rule)
        if place.owner is not None and place.owner != key:
            return _other(blame(*_both(sub), also="E2E-03"), key, place.owner)
        if sub.redelivered:
            # nobody says how often what was asked for comes again: once too often is a fault if it always is
            return replace(blame("RED-02", "a message came again that was not asked for"), steady=True)
        return blame("E2E-03", "a message was delivered twice")
    if place.acked == "yes":
        rule = "RED-03" if place.again == "RED" else "ACK-01"
        if place.pushed and place.again != "RED":
            return _again(rule)
    if sub.kind == FAILOVER and not sub.stale:
        wrong = _not_master(state, key, consumer, sub, entry)
        if wrong is not None:
            return wrong
    if sub.kind in SINGLE and sub.alone and not sub.loose:
        return _disorder(state, sub, at, entry, place)
    return None


def _both(sub: Sub) -> tuple[str, str]:
    rule, kind = ("FAIL-01", "Failover") if sub.kind == FAILOVER else ("SUB-07", "Shared")
    return rule, f"two consumers of a {kind} subscription got the same message"


def _other(found: Breach, key: Key, other: Key) -> Breach:
    """That the broker closed the other consumer may still be on its way, on another connection."""
    return replace(found, steady=other[0] != key[0])


def _overtaken(state: State, key: Key, consumer: Consumer, place: Place) -> Key | None:
    """Who has a message that may have been pushed before to this consumer, which has given it back since, by leaving or
    by asking for all that it holds again: what happens on two connections may be seen in any order."""
    if place.owner is None or place.owner[0] == key[0] or place.acked == "yes":
        return None
    gave = consumer.haze or consumer.phase == "closing" or state.conn(key[0]).may_close
    return place.owner if gave else None


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


def _not_master(state: State, key: Key, consumer: Consumer, sub: Sub, entry: Entry) -> Outcome | None:
    """Delivery to a consumer that is not the master."""
    if consumer.active is False and entry.at > sub.moved:
        return blame("FAIL-04", "MESSAGE to a consumer that was told it is not active")
    first = None if _settling(state, key, consumer, sub, entry) else _first(state, key, consumer, sub)
    if first is None:
        return None
    if first == sub.master:
        return _other(blame("FAIL-01", "two consumers of a Failover subscription receive"), key, first)
    there = state.consumer(first)
    why = f"MESSAGE to {consumer.name!r} while {there.name if there else ''!r} is connected"
    return _other(blame("FAIL-02", why), key, first)


def _before(one: str, other: str) -> bool:
    """True when a name sorts before another in every alphabet: nobody says in which they are sorted."""
    plain = [[letter for letter in name.casefold() if letter.isalnum()] for name in (one, other)]
    return one.encode() < other.encode() and one.casefold() <= other.casefold() and plain[0] < plain[1]


def _disorder(state: State, sub: Sub, at: int, entry: Entry, place: Place) -> Outcome | None:
    """Deliveries of a subscription with one consumer that come in the wrong order."""
    for other, there in sub.places.items():
        before = state.entries[other]
        if other == at or there.acked or there.skip:
            continue
        fresh = not there.pushed and not place.pushed
        if fresh and before.source == entry.source and before.at < entry.at and before.fate == "stored" and there.need:
            return blame("SEND-12", "a later message of the same producer came first")
        if fresh and before.id and entry.id and before.id < entry.id and there.need:
            return blame("MSG-03", f"the message {before.id} was left out")
        if (there.need and there.pushed and there.need < sub.stepped and sub.clean and before.id and entry.id
                and before.id < entry.id):  # fmt: skip
            return blame("RED-05", f"redelivery left out the message {before.id}")
    if entry.id and sub.cursor and entry.id < sub.cursor and sub.back <= 0:
        return blame("MSG-03", "a message came behind a later one")
    if entry.id and sub.cursor and entry.id < sub.cursor:
        for other, there in sub.places.items():
            before = state.entries[other]
            if (other != at and there.need and there.need < state.clock - 1 and there.owner and before.id
                    and before.id < entry.id and there.again == "RED" and sub.back == 1):  # fmt: skip
                return blame("RED-05", f"redelivery began behind the message {before.id}")
    return None


def _pushed(  # noqa: PLR0915 - what one frame shows, one thing after the other
    state: State, key: Key, consumer: Consumer, sub: Sub, at: int, frame: Any, given: Id, holder: Key | None = None
) -> Outcome:
    entry, place = state.entries[at], sub.places.get(at, Place(may=0))
    conn = state.conn(key[0])
    covers = list(ids("MSG-01 MSG-02 FLOW-01 FLOW-02 E2E-02 FRM-04 CHK-11 MD-03 MD-05 E2E-04 FLOW-05"))
    if entry.id is not None:
        covers += ids("SEND-09")
    if entry.batched:
        covers += ids("FLOW-09")
    covers += ids(" ".join(entry.tags))
    covers += ids("FLOW-06") if consumer.resumed else ()
    covers += ids("SUB-06") if sub.refused else ()
    covers += ids("BAT-02") if entry.batched else ()
    if frame.check:
        covers += ids("CHK-01 CHK-02 CHK-03")
    lapses = []
    if (
        conn.limit >= 6
        and state.config.profile == "modern"
        and entry.check
        and bool(frame.check) != (conn.version >= 11)
    ):
        has = "with a checksum" if frame.check else "without checksum"
        lapses.append(blame("CHK-10", f"MESSAGE {has} to a client of version {conn.version}", state))
    elif state.config.profile == "modern":
        covers += ids("CHK-10")
    count = entry.many
    if frame.body.ack_set:
        whole = (1 << entry.many) - 1
        given_set, left = bits(frame.body.ack_set) & whole, place.left or whole  # all of it may be said, too
        lost = place.vague and given_set & left == left
        if given_set != left and not lost and "INV-BROKER-16" not in entry.tags:
            return blame("ACK-12", f"MESSAGE with the ack_set {given_set:b}, what is left is {left:b}")
        count = given_set.bit_count()
        covers += ids("ACK-12") if place.left else ()
    elif place.left and place.pushed:
        lapses.append(
            blame("ACK-12", "single messages of a batch were acknowledged, all of it came again", state, level="SHOULD")
        )
    # what was seen with its consumer before may come again as often as that was said; what was on its way may besides
    hazy = 0 if place.owner == key else len(consumer.haze) + (consumer.phase == "closing")
    back = sub.back
    if place.pushed:
        covers += ids(
            {
                "RED": "RED-01 RED-03 RED-04 RED-06",
                "CLOSE": "CLC-03 SUB-09 ACK-02",
                "LOST": "CONN-12 SUB-09 ACK-02",
            }.get(place.again, "RED-03")
        )
        if sub.kind == SHARED:
            covers += ids("RED-02")
            recount = frame.body.redelivery_count
            if (
                place.again == "RED"
                and place.owner == key  # a count may begin anew when all consumers have come and gone
                and conn.version >= 12
                and not recount
                and state.config.profile == "modern"
            ):
                lapses.append(blame("RED-07", "a message redelivered with redelivery_count 0", state))
            elif recount:
                covers += ids("RED-07")
    else:
        covers += ids("SEND-12 E2E-03 MSG-03" if sub.kind in SINGLE else "SUB-07 E2E-03")
        covers += ids("SUB-08") if len([1 for where in state.subs if where[0] == entry.topic]) > 1 else ()
    if sub.kind == FAILOVER:
        covers += ids("FAIL-01 FAIL-03" if len(sub.members) < 2 else "FAIL-01 FAIL-02") if not sub.ousted else ()
    stepped = sub.stepped
    if sub.cursor and given < sub.cursor:
        back, stepped = back - 1, state.clock
        covers += ids("RED-05") if sub.kind == EXCLUSIVE else ()
    after = place._replace(
        need=0, may=max(place.may - 1, 0) + hazy, owner=holder or key, pushed=place.pushed + 1,
        again=place.again if not hazy else "RED", rival=key if holder and place.may > 0 else None,
    )  # fmt: skip
    master = key if sub.kind == FAILOVER and entry.at > sub.moved and holder is None else sub.master
    sub = sub._replace(places={**sub.places, at: after}, back=back, cursor=given, stepped=stepped, master=master)
    state = state.put_sub(consumer.sub, sub)
    used = consumer.used + count
    window = consumer.window - 1
    consumer = consumer._replace(used=used, window=window, batched=consumer.batched or entry.many > 1)
    state = state.put_consumer(key, consumer)
    if entry.id is None:
        state = state.put_entry(at, entry._replace(id=given))
    return Allow(state, tuple(dict.fromkeys(covers)), tuple(lapses))


def active_change(state: State, number: int, body: Any) -> Outcome:
    """ACTIVE_CONSUMER_CHANGE came."""
    key = (number, body.consumer_id)
    consumer = state.consumer(key)
    if consumer is None:
        if body.consumer_id in state.conn(number).gone:
            return Allow(state)
        return blame("FAIL-04", "ACTIVE_CONSUMER_CHANGE for a consumer that is not open")
    return Allow(state.put_consumer(key, consumer._replace(active=body.is_active, told=True)), ids("FAIL-04"))


def _again(rule: str) -> Breach:
    """Nothing answers an acknowledgement: one that a lost connection overtook may not count."""
    return replace(blame(rule, "an acknowledged message came again"), steady=True)


def due(state: State) -> Iterator[tuple[str, str]]:
    """Messages that must be pushed: the rule and why."""
    for where, sub in state.subs.items():
        if sub.ousted is not None and not deaf(state.conn(sub.ousted[0])):
            yield _both(sub)
        if not sub.sure or not sub.members or sub.doubted or _unheard(state, where):
            continue
        needed = [at for at, place in sub.places.items() if place.need and not place.acked]
        if not needed:
            continue
        members = [(key, state.consumer(key)) for key in sub.members]
        # nobody says whether a batch that is larger than the permits that are left is pushed or waits for more of them,
        # and what is behind it with it
        size = max(state.entries[at].many for at, place in sub.places.items() if at in needed
                   or (place.may and place.acked != "yes" and not place.skip))  # fmt: skip
        fed = [
            there is not None and there.phase == "open" and there.sure - there.used >= size
            and state.conn(key[0]).phase is Phase.LIVE and state.conn(key[0]).version >= 4 for key, there in members
        ]  # fmt: skip
        if any(there.phase != "open" for _, there in consumers_of(state, where)) or sub.stale:
            continue
        # a batch whose turn it is with a consumer that has permits, but not for all of it, may wait for that one
        tight = any(there is not None and 0 < there.granted - there.used < size for _, there in members)
        if all(fed) or (sub.kind == SHARED and any(fed) and not tight):
            place = sub.places[needed[0]]
            yield _missing(state, sub, state.entries[needed[0]], place)


def _unheard(state: State, where: tuple[str, str]) -> bool:
    """True while a consumer is on a connection that the broker may have given up."""
    return any(deaf(state.conn(key[0])) for key, _ in consumers_of(state, where))


def _missing(state: State, sub: Sub, entry: Entry, place: Place) -> tuple[str, str]:
    why = f"a message was not delivered, with permits for it: sequence id {entry.seq} on {entry.topic}"
    # it lies before what was acknowledged, or other things that were not came again
    acked = any(there.acked for there in sub.places.values()) and (sub.cumulative or any(
        _before_acked(state, entry, other, there) or (there.pushed > 1 and not there.acked)
        for other, there in sub.places.items()
    ))  # fmt: skip
    if place.pushed and acked and place.again in ("RED", "CLOSE", "LOST"):
        return ("ACK-03" if sub.cumulative else "ACK-02"), f"{why}, only others were acknowledged"
    if place.again == "LOST":
        return "CONN-12", f"{why}, the connection of the consumer that had it is gone"
    if place.again == "RED":
        return ("RED-01" if sub.kind in SINGLE else "RED-02"), f"{why}, redelivery was asked for"
    if place.again == "SEEK":
        return "SEEK-01", f"{why}, it is behind the position that was sought"
    if place.again == "FAIL":
        return "FAIL-03", f"{why}, another consumer took over"
    if place.again == "CLOSE":
        return ("FAIL-03" if sub.kind == FAILOVER else "CLC-03"), f"{why}, the consumer that had it is gone"
    for tag in entry.tags:
        if tag in ("CHK-08", "FRM-12", "FRM-08", "FRM-07") and _tells(state, sub, tag):
            return tag, why
    several = any(there is not None and there.flows > 1 for there in map(state.consumer, sub.members))
    return ("FLOW-03" if several else "FLOW-04"), why


def _before_acked(state: State, entry: Entry, other: int, there: Place) -> bool:
    given = state.entries[other].id
    return bool(there.acked and entry.id and given and entry.id < given)


def _tells(state: State, sub: Sub, tag: str) -> bool:
    """True when a way of sending tells what is missing from what was delivered."""
    marked = [(tag in state.entries[at].tags, place) for at, place in sub.places.items() if not place.acked]
    return all(has for has, place in marked if place.need) and any(place.pushed for has, place in marked if not has)


def dead(state: State) -> Iterator[tuple[str, str]]:
    """Failover subscriptions of which not exactly one consumer was told that it is active."""
    for where, sub in state.subs.items():
        there = list(consumers_of(state, where))
        if sub.kind != FAILOVER or sub.stale or not there or state.config.profile != "modern":
            continue
        if _unheard(state, where):
            continue
        if any(each.phase != "open" or state.conn(key[0]).version < 12 for key, each in there):
            continue
        active = sum(each.active is True for _, each in there)
        if active > 1 or (not active and (len(there) == 1 or all(each.told for _, each in there))):
            yield "FAIL-04", f"{active} of {len(there)} consumers were told that they are active"


def ended(state: State) -> Iterator[tuple[str, str]]:
    """Consumers of a topic that takes no messages and has none for them, which were not told so. Only those that may
    have messages and are alone on their subscription: nobody says whether others are told."""
    head = state.config.terminated.partition("{")[0]
    if not head or state.config.profile != "modern":
        return
    for where, sub in state.subs.items():
        if not where[0].rpartition("/")[2].startswith(head) or sub.places or sub.stale or len(sub.members) != 1:
            continue
        key = sub.members[0]
        conn, consumer = state.conn(key[0]), state.consumer(key)
        if consumer is None or consumer.phase != "open" or consumer.ended or not consumer.sure:
            continue
        if conn.phase is Phase.LIVE and conn.version >= 9 and not conn.may_close:
            yield "END-01", f"the consumer {key[1]} was not told that the topic {where[0]} has ended"
