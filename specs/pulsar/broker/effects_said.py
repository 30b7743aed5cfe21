"""What becomes of the state when the tester says something. It is never judged: what is wrong in it is a `Misuse`."""

from __future__ import annotations

from typing import Any

from specs.pulsar.broker import effects_subscriptions as subscriptions
from specs.pulsar.broker import topics
from specs.pulsar.broker.commands import ANSWERS, FROM_BROKER
from specs.pulsar.broker.effects_sends import sent
from specs.pulsar.calls import Asked, Misuse
from specs.pulsar.frames import Frame
from specs.pulsar.machine import BROKER, DOOMED, EARLY, EARLY_LOOKUP, HASTY, OVER, Phase
from specs.pulsar.states import EXCLUSIVE, SHARED, Producer, Request, State

LOOKUPS = ("LOOKUP", "PARTITIONED_METADATA")


def misused(state: State, number: int, misuse: Misuse, why: str, action: str = "") -> State:
    """The tester said what the broker may end the connection for; `action` is that of the machine, if it must."""
    conn = state.conn(number)
    if conn.phase in OVER:
        return state
    state = subscriptions.shaken(state._replace(bad=True), number, misuse, why)
    conn = state.conn(number)
    if action and conn.phase not in (*DOOMED, HASTY):
        to = EARLY_LOOKUP if misuse is Misuse.EARLY_LOOKUP else EARLY if misuse is Misuse.EARLY else None
        conn = conn._replace(phase=BROKER.move(conn.phase, action, to), must_close=conn.must_close or misuse)
    return state.put(number, conn._replace(misuse=conn.misuse or misuse))


def said(state: State, number: int, frame: Frame) -> State:
    """What the tester said, taken as it may be read."""
    conn = state.conn(number)
    if conn.unread <= conn.synced:  # what was said before has been read
        conn = conn._replace(unread=state.clock, rest=conn.up, since=0)
    conn = conn._replace(low=0, up=0)
    kind = frame.kind
    state = state.put(number, conn)
    if conn.phase in DOOMED or conn.phase in (HASTY, *OVER):
        return state
    if conn.phase is Phase.NEW:
        if kind == "CONNECT":
            return _hello(state, number, frame)
        return misused(state, number, Misuse.EARLY_LOOKUP if kind in LOOKUPS else Misuse.EARLY,
                       f"{kind} before CONNECT", "asks")  # fmt: skip
    return _command(state, number, frame)


def _command(state: State, number: int, frame: Frame) -> State:
    """What is said on a connection that is, or will be, established."""
    kind, midway = frame.kind, state.conn(number).midway
    if kind == "CONNECT":
        return misused(state, number, Misuse.TWICE, "a second CONNECT", "CONNECT")
    if frame.odd and kind != "SEND":
        state = misused(state, number, Misuse.OCTETS_BEHIND, "octets behind a command")
    if kind in FROM_BROKER and kind not in ("PING", "PONG", "CLOSE_PRODUCER", "CLOSE_CONSUMER"):
        return misused(state, number, Misuse.FROM_BROKER, f"{kind} from a client", "misuses")
    if not frame.whole:
        state = misused(state, number, Misuse.TWO_SUB_MESSAGES, "two sub-messages in one command")
    state = _request(state, number, frame)
    if midway:
        state = state.put(number, state.conn(number)._replace(midway=False))
    return state


def _hello(state: State, number: int, frame: Frame) -> State:
    body, config = frame.body, state.config
    hello = "success"
    if config.auth:
        method, _, data = config.auth.partition(":")
        if body.auth_method_name != method:
            hello = "either"
        elif body.auth_data != data.encode():
            hello = "refusal" if body.auth_data == config.bad_auth.encode() else "either"
    version = body.protocol_version
    conn = state.conn(number)
    phase = BROKER.move(conn.phase, "CONNECT")
    return state.put(
        number, conn._replace(phase=phase, version=version, limit=version, hello=hello, client=body.client_version)
    )


def _request(state: State, number: int, frame: Frame) -> State:
    kind, body = frame.kind, frame.body
    conn = state.conn(number)
    match kind:
        case "PING":
            return state.put(number, conn._replace(pings=(*conn.pings, state.clock), probes=conn.probes + 1))
        case "PONG":
            return state.put(number, conn._replace(pinged=max(conn.pinged - 1, 0)))
        case "SEND":
            return sent(state, number, frame)
        case "ACK" if not body.message_id and state.config.profile == "seed":
            why = "an ACK of nothing, which versions below 12 cannot say"
            return misused(state, number, Misuse.ACK_OF_NOTHING, why)
        case "FLOW" | "ACK" | "REDELIVER_UNACKNOWLEDGED_MESSAGES" if body.consumer_id not in conn.consumers:
            flowed = _odd_flow(state, number, body) if kind == "FLOW" else state
            if flowed is not state:  # P-89: a broker may look at the number first
                return flowed
            state = subscriptions.shaken(state, number, OF_NOBODY[kind], f"{kind} of a consumer that is not there")
            if kind == "ACK" and body.HasField("request_id"):
                return _asked(state, number, body.request_id, Request(Asked.ACK))
            return state
        case "FLOW":
            state = _odd_flow(state, number, body)
            return subscriptions.flowed(state, (number, body.consumer_id), body.messagePermits)
        case "ACK":
            consumer = conn.consumers[body.consumer_id]
            if body.ack_type == 1 and (len(body.message_id) != 1 or consumer.kind == SHARED):
                state = subscriptions.shaken(state, number, Misuse.CUMULATIVE, "a cumulative ACK that is not allowed")
            elif _strange(state, (number, body.consumer_id), body):
                odd = Misuse.ACK_OF_OTHERS if consumer.kind == SHARED else Misuse.STRANGE_ACK
                state = state._replace(said=state.said | {odd, Misuse.STRANGE_ACK}, latest=odd)
            state = subscriptions.acked(state, (number, body.consumer_id), body)
            if body.HasField("request_id"):
                return _asked(state, number, body.request_id, Request(Asked.ACK, body.consumer_id))
            return state
        case "REDELIVER_UNACKNOWLEDGED_MESSAGES":
            return subscriptions.redelivering(state, (number, body.consumer_id), body)
        case _ if kind in ANSWERS:
            return _asking(state, number, kind, body)
        case _:
            return state


def _odd_flow(state: State, number: int, body: Any) -> State:
    if body.messagePermits == 0 or body.messagePermits >= 1 << 31:
        return misused(state, number, Misuse.FLOW_OF_NOTHING, "FLOW of no permits, or of 2^31")
    consumer = state.conn(number).consumers.get(body.consumer_id)
    if consumer is not None and consumer.granted + body.messagePermits >= 1 << 31:
        return misused(state, number, Misuse.TOO_MANY_PERMITS, "more permits than 2^31")
    return state


def _strange(state: State, key: tuple[int, int], body: Any) -> bool:
    """True for an ACK of what is not with this consumer, or was acknowledged before."""
    consumer = state.consumer(key)
    sub = None if consumer is None else state.subs.get(consumer.sub)
    if sub is None:
        return False
    places = [sub.places[at] for each in body.message_id
              if (at := subscriptions.found(state, sub, "", subscriptions.message_id(each))) is not None]  # fmt: skip
    return len(places) < len(body.message_id) or any(place.acked or place.owner != key for place in places)


OF_NOBODY = {
    "FLOW": Misuse.FLOW_OF_NOBODY, "ACK": Misuse.ACK_OF_NOBODY,
    "REDELIVER_UNACKNOWLEDGED_MESSAGES": Misuse.REDELIVER_OF_NOBODY,
}  # fmt: skip
"""What it is to say something of a consumer that is not there."""


def _asked(state: State, number: int, name: int, request: Request) -> State:
    """A request is open. A number that the connection has used is the client's fault, and may be refused (seed,
    Producer: it is unique within the connection; P-92)."""
    conn = state.conn(number)
    if name in conn.answered or name in conn.requests:
        state = subscriptions.shaken(state, number, Misuse.REQUEST_AGAIN, "a request id that was used before")
        conn, request = state.conn(number), request._replace(reused=True, doubtful=True)
    request = request._replace(at=state.clock)
    return state.put(number, conn._replace(requests={**conn.requests, name: (*conn.requests.get(name, ()), request)}))


def _asking(state: State, number: int, kind: str, body: Any) -> State:
    state, request = _ASKING[kind](state, number, body)
    return _asked(state, number, body.request_id, request)


def _producer(state: State, number: int, body: Any) -> tuple[State, Request]:
    conn, about = state.conn(number), body.producer_id
    if about in conn.producers:
        pending = conn.producers[about].phase == "pending"
        misuse = Misuse.PRODUCER_PENDING if pending else Misuse.PRODUCER_IN_USE
        state = subscriptions.shaken(state, number, misuse, "PRODUCER with an id in use")
        asked = Asked.PRODUCER_PENDING if pending else Asked.PRODUCER_IN_USE
        return state, Request(asked, -1 - about, extra=(body.topic, body.producer_name))
    asked, doubtful, why = _creating(state, body)
    if asked is Asked.PRODUCER and not doubtful:
        again = about in conn.ended_producers
        asked = Asked.PRODUCER_LOOKED_UP if conn.place else Asked.PRODUCER_AGAIN if again else asked
    state = state.put_producer((number, about), Producer(body.topic, body.producer_name))
    return state, Request(asked, about, doubtful=doubtful, why=why)


def _creating(state: State, body: Any) -> tuple[Asked, bool, str]:
    """What PRODUCER asks, whether either answer may come, and why it must be refused."""
    config, kind = state.config, topics.fate(body.topic)
    if kind == "bad":
        return Asked.PRODUCER_BAD_TOPIC, False, "the topic's name is none"
    if kind == "either":
        return Asked.PRODUCER, True, ""
    if topics.denied(config, body.topic):
        return Asked.PRODUCER_DENIED, False, "the topic may not be published to"
    if topics.terminated(config, body.topic) or body.producer_name != body.producer_name.strip():
        return Asked.PRODUCER, True, ""
    maybe = body.producer_name in state.lost.get(body.topic, frozenset())
    for conn in state.conns.values():
        for there in conn.producers.values():
            if there.topic != body.topic or not body.HasField("producer_name"):
                continue
            if body.producer_name == (there.name or there.wanted):
                if there.phase == "open" and conn.phase is Phase.LIVE and not conn.may_close:
                    return Asked.PRODUCER_NAME_TAKEN, False, f"a producer named {there.name!r} is connected"
                maybe = True
            elif there.phase == "pending" and not there.wanted:
                maybe = True
    return Asked.PRODUCER, maybe, ""


def _subscribe(state: State, number: int, body: Any) -> tuple[State, Request]:
    conn, about = state.conn(number), body.consumer_id
    if about in conn.consumers:
        state = subscriptions.shaken(state, number, Misuse.CONSUMER_IN_USE, "SUBSCRIBE with an id in use")
        return state, Request(Asked.SUBSCRIBE_IN_USE, -1 - about)
    asked, doubtful, why = _subscribing(state, body)
    if conn.place and not doubtful and asked.want == "success":
        asked = Asked.SUBSCRIBE_LOOKED_UP
    state = subscriptions.subscribed(state, (number, about), body)
    there = state.conn(number).consumers[about]._replace(resumed=about in conn.gone)
    return state.put_consumer((number, about), there), Request(asked, about, doubtful=doubtful, why=why)


def _subscribing(state: State, body: Any) -> tuple[Asked, bool, str]:
    """What SUBSCRIBE asks, whether either answer may come, and why it must be refused."""
    name = body.subscription
    if topics.fate(body.topic) == "bad":
        return Asked.SUBSCRIBE_BAD_TOPIC, False, "the topic's name is none"
    if not name:
        return Asked.SUBSCRIBE_UNNAMED, True, ""
    if topics.fate(body.topic) != "good" or name != name.strip() or body.subType > 2:
        return Asked.SUBSCRIBE, True, ""  # nobody says what a name may be; but it is another one than without blanks
    where = (body.topic, name)
    sub = state.subs.get(where)
    plain = Asked.SUBSCRIBE if body.consumer_name else Asked.SUBSCRIBE_NAMELESS
    if sub is None:
        return Asked.SUBSCRIBE_NEW if body.consumer_name else Asked.SUBSCRIBE_NAMELESS, False, ""
    live = list(subscriptions.consumers_of(state, where))
    if not (live or sub.stale):
        return plain, False, ""
    firm = [t for key, t in live if t.phase == "open" and state.conn(key[0]).phase is Phase.LIVE
            and not state.conn(key[0]).may_close]  # fmt: skip
    doubt = sub.stale or any(there.phase != "open" for _, there in live) or len(firm) != len(live)
    if firm and any(there.kind != body.subType for there in firm):
        return Asked.SUBSCRIBE_OTHER_TYPE, False, "consumers of another type are connected"
    if firm and body.subType == EXCLUSIVE:
        return Asked.SUBSCRIBE_EXCLUSIVE_TAKEN, False, "an Exclusive subscription has a consumer"
    return Asked.SUBSCRIBE_SHARED if body.subType == SHARED and not doubt else Asked.SUBSCRIBE, doubt, ""


def _close_producer(state: State, number: int, body: Any) -> tuple[State, Request]:
    about = body.producer_id
    producer = state.conn(number).producers.get(about)
    if producer is None:
        misuse = Misuse.CLOSE_OF_NO_PRODUCER
        return subscriptions.shaken(state, number, misuse, "CLOSE_PRODUCER of none"), Request(
            Asked.CLOSE_NO_PRODUCER, about
        )
    opened = producer.phase == "open"
    if producer.phase in ("open", "pending"):
        state = state.put_producer((number, about), producer._replace(phase="closing"))
    asked = Asked.CLOSE_PRODUCER if opened else Asked.CLOSE_NO_PRODUCER
    return state, Request(asked, about, extra=state.clock if opened else None)


def _lookup(state: State, number: int, body: Any) -> tuple[State, Request]:
    conn, kind = state.conn(number), topics.fate(body.topic)
    if conn.place:
        trail = state.trail.get(body.topic, frozenset()) | {(conn.place, body.authoritative)}
        state = state._replace(trail={**state.trail, body.topic: trail})
    asked = Asked.LOOKUP_BAD_TOPIC if kind == "bad" else Asked.LOOKUP
    return state, Request(asked, body.topic, doubtful=kind == "either", extra=body.authoritative)


def _partitions(state: State, number: int, body: Any) -> tuple[State, Request]:
    kind = topics.fate(body.topic)
    asked = Asked.PARTITIONS_BAD_TOPIC if kind == "bad" else Asked.PARTITIONS
    return state, Request(asked, body.topic, doubtful=kind == "either")


def _close_consumer(state: State, number: int, body: Any) -> tuple[State, Request]:
    return _closing(state, number, body.consumer_id, Asked.CLOSE_CONSUMER, Asked.CLOSE_NO_CONSUMER)


def _unsubscribe(state: State, number: int, body: Any) -> tuple[State, Request]:
    return _closing(state, number, body.consumer_id, Asked.UNSUBSCRIBE, Asked.UNSUBSCRIBE_NOBODY)


def _closing(state: State, number: int, name: int, asked: Asked, of_nobody: Asked) -> tuple[State, Request]:
    consumer = state.conn(number).consumers.get(name)
    if consumer is None:
        misuse = Misuse.CLOSE_OF_NO_CONSUMER if asked is Asked.CLOSE_CONSUMER else Misuse.UNSUBSCRIBE_OF_NOBODY
        return subscriptions.shaken(state, number, misuse, f"{asked.kind} of no consumer"), Request(of_nobody, name)
    if consumer.phase == "pending":
        state = state.put_consumer((number, name), consumer._replace(phase="closing"))
        return state, Request(asked, name, doubtful=True)
    if consumer.phase != "open":
        return state, Request(of_nobody, name, doubtful=True)
    doubtful, why = False, ""
    if asked is Asked.UNSUBSCRIBE:
        others = [key for key, _ in subscriptions.consumers_of(state, consumer.sub) if key != (number, name)]
        if any(state.conn(k[0]).consumers[k[1]].phase == "open" for k in others):
            asked, why = Asked.UNSUBSCRIBE_AMONG_OTHERS, "other consumers are connected"
        else:
            doubtful = bool(others) or state.subs[consumer.sub].stale
    state = state.put_consumer((number, name), consumer._replace(phase="closing"))
    return subscriptions.leaving(state, (number, name)), Request(asked, name, doubtful=doubtful, why=why)


def _seek(state: State, number: int, body: Any) -> tuple[State, Request]:
    about = body.consumer_id
    consumer = state.conn(number).consumers.get(about)
    if consumer is None:
        return state, Request(Asked.SEEK, about, doubtful=True)
    if not (body.HasField("message_id") or body.HasField("message_publish_time")):
        return state, Request(Asked.SEEK_NOWHERE, about, why="neither an id nor a time was named")
    position = subscriptions.message_id(body.message_id) if body.HasField("message_id") else None
    extra = None if position is None else (consumer.sub, position)
    return subscriptions.seeking(state, number, consumer.sub), Request(Asked.SEEK, about, extra=extra)


def _last(state: State, number: int, body: Any) -> tuple[State, Request]:
    consumer = state.conn(number).consumers.get(body.consumer_id)
    doubtful = consumer is None or consumer.phase != "open"
    extra = None if consumer is None else (consumer.sub[0], state.tops.get(consumer.sub[0]), len(state.entries))
    return state, Request(Asked.LAST, body.consumer_id, doubtful=doubtful, extra=extra)


def _stats(state: State, number: int, body: Any) -> tuple[State, Request]:
    about = body.consumer_id
    consumer = state.conn(number).consumers.get(about)
    if consumer is None:
        gone = about in state.conn(number).gone
        return state, Request(Asked.STATS_OF_NOBODY, about, doubtful=gone, why="there is no such consumer")
    extra = (consumer.granted, consumer.used, consumer.batched)
    return state, Request(Asked.STATS, about, doubtful=consumer.phase != "open", extra=extra)


def _topics(state: State, number: int, body: Any) -> tuple[State, Request]:
    return state, Request(Asked.TOPICS)


_ASKING = {
    "PRODUCER": _producer, "SUBSCRIBE": _subscribe, "CLOSE_PRODUCER": _close_producer, "LOOKUP": _lookup,
    "PARTITIONED_METADATA": _partitions, "CLOSE_CONSUMER": _close_consumer, "UNSUBSCRIBE": _unsubscribe, "SEEK": _seek,
    "GET_LAST_MESSAGE_ID": _last, "CONSUMER_STATS": _stats, "GET_TOPICS_OF_NAMESPACE": _topics,
}  # fmt: skip
