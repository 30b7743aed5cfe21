"""What a client asks of a broker: which answer it must have, and which rule a wrong one breaks."""

from __future__ import annotations

from typing import Any

from specs.pulsar.broker import consuming, producing
from specs.pulsar.broker.commands import ANSWERS, FROM_BROKER, RULES
from specs.pulsar.frames import Frame
from specs.pulsar.states import (
    EXCLUSIVE,
    NEXT,
    Phase,
    Producer,
    Request,
    State,
    ids,
)


def spoilt(state: State, number: int, rule: str, why: str, *, must: bool = True, event: str = "client misuse") -> State:
    """The tester said what ends the connection, or may end it; or the broker said that it ends."""
    conn = state.conn(number)
    if conn.phase in (Phase.CLOSED, Phase.LEFT):
        return state
    state = consuming.shaken(state._replace(bad=True), number, rule, why)
    conn = state.conn(number)
    phase = NEXT[conn.phase][event] if must else conn.phase
    must_close = conn.must_close or (rule if must else "")
    return state.put(number, conn._replace(phase=phase, must_close=must_close, misuse=conn.misuse or rule))


def said(state: State, number: int, frame: Frame) -> State:
    """What the tester said, taken as it may be read."""
    conn = state.conn(number)._replace(low=0, up=0)
    kind = frame.kind
    state = state.put(number, conn)
    if conn.phase is Phase.SPOILT:
        return state
    if conn.phase is Phase.NEW:
        if kind != "CONNECT":
            rule = "CONN-07" if kind in ("LOOKUP", "PARTITIONED_METADATA") else "CONN-06"
            return spoilt(state, number, rule, f"{kind} before CONNECT")
        return _hello(state, number, frame)
    if kind == "CONNECT":
        return spoilt(state, number, "CONN-08", "a second CONNECT")
    if frame.odd and kind != "SEND":
        state = spoilt(state, number, "INV-BROKER-07", "octets behind a command", must=False)
    if kind in FROM_BROKER and kind not in ("PING", "PONG", "CLOSE_PRODUCER", "CLOSE_CONSUMER"):
        return spoilt(state, number, "INV-BROKER-12", f"{kind} from a client")
    if not frame.whole:
        state = spoilt(state, number, "INV-BROKER-11", "two sub-messages in one command", must=False)
    state = _request(state, number, frame)
    if conn.midway:
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
    conn = state.conn(number)._replace(
        phase=NEXT[Phase.NEW]["client CONNECT"], version=version, limit=version, hello=hello
    )
    return state.put(number, conn)


def _request(state: State, number: int, frame: Frame) -> State:
    kind, body = frame.kind, frame.body
    conn = state.conn(number)
    match kind:
        case "PING":
            return state.put(number, conn._replace(pings=(*conn.pings, state.clock)))
        case "PONG":
            return state.put(number, conn._replace(pinged=max(conn.pinged - 1, 0)))
        case "SEND":
            return producing.sent(state, number, frame)
        case "ACK" if not body.message_id and state.config.profile == "seed":
            why = "an ACK of nothing, which versions below 12 cannot say"
            return spoilt(_tried(state, "ACK-07"), number, "INV-BROKER-35", why, must=False)
        case "FLOW" | "ACK" | "REDELIVER_UNACKNOWLEDGED_MESSAGES" if body.consumer_id not in conn.consumers:
            rule = {"FLOW": "INV-BROKER-31", "ACK": "INV-BROKER-34"}.get(kind, "INV-BROKER-37")
            state = _tried(consuming.shaken(state, number, rule, f"{kind} of a consumer that is not there"), rule)
            if kind == "ACK" and body.HasField("request_id"):
                return _asked(state, number, body.request_id, Request("ACK", "either", "ACK-10"))
            return state
        case "FLOW":
            state = _odd_flow(state, number, body)
            return consuming.flowed(state, (number, body.consumer_id), body.messagePermits)
        case "ACK":
            consumer = conn.consumers[body.consumer_id]
            if body.ack_type == 1 and (len(body.message_id) != 1 or consumer.kind == 1):
                state = consuming.shaken(state, number, "ACK-07", "a cumulative ACK that is not allowed")
                state = _tried(state, "ACK-07")
            elif _strange(state, (number, body.consumer_id), body):
                state = _tried(_tried(state, "ACK-05"), "INV-BROKER-36" if consumer.kind == 1 else "ACK-05")
            state = consuming.acked(state, (number, body.consumer_id), body)
            if body.HasField("request_id"):
                return _asked(state, number, body.request_id, Request("ACK", "either", "ACK-10", body.consumer_id))
            return state
        case "REDELIVER_UNACKNOWLEDGED_MESSAGES":
            return consuming.redelivering(state, (number, body.consumer_id), body)
        case _ if kind in ANSWERS:
            return _asking(state, number, kind, body)
        case _:
            return state


def _tried(state: State, rule: str) -> State:
    """Something odd was said that must do no harm."""
    return state._replace(tried=state.tried | {rule})


def _odd_flow(state: State, number: int, body: Any) -> State:
    if body.messagePermits == 0 or body.messagePermits >= 1 << 31:
        return spoilt(state, number, "INV-BROKER-32", "FLOW of no permits, or of 2^31", must=False)
    consumer = state.conn(number).consumers.get(body.consumer_id)
    if consumer is not None and consumer.granted + body.messagePermits >= 1 << 31:
        return spoilt(state, number, "INV-BROKER-33", "more permits than 2^31", must=False)
    return state


def _strange(state: State, key: tuple[int, int], body: Any) -> bool:
    """True for an ACK of what is not with this consumer, or was acknowledged before."""
    consumer = state.consumer(key)
    sub = None if consumer is None else state.subs.get(consumer.sub)
    if sub is None:
        return False
    places = [sub.places[at] for each in body.message_id
              if (at := consuming.found(state, sub, "", consuming.message_id(each))) is not None]  # fmt: skip
    return len(places) < len(body.message_id) or any(place.acked or place.owner != key for place in places)


def _asked(state: State, number: int, name: int, request: Request) -> State:
    conn = state.conn(number)
    rule = RULES[request.kind] if not request.rule else request.rule
    if name in conn.answered or name in conn.requests:
        request = request._replace(covers=(*request.covers, *ids("INV-BROKER-42")))
    request = request._replace(at=state.clock, rule=rule)
    return state.put(number, conn._replace(requests={**conn.requests, name: (*conn.requests.get(name, ()), request)}))


def _asking(state: State, number: int, kind: str, body: Any) -> State:  # noqa: PLR0915 - one kind after the other
    conn = state.conn(number)
    want, rule, why = "success", RULES[kind], ""
    about: Any = None
    extra: Any = None
    producer: Producer | None
    covers: tuple[str, ...] = ()
    if kind == "PRODUCER":
        about = body.producer_id
        if about in conn.producers:
            pending = conn.producers[about].phase == "pending"
            want, rule, about = "either", "INV-BROKER-24" if pending else "INV-BROKER-23", -1 - about
            covers = ids(rule)
            state = consuming.shaken(state, number, rule, "PRODUCER with an id in use")
        else:
            want, rule, why = producing.wanted(state, body)
            extra = "reused" if about in conn.ended_producers else None
            rule = "LOOK-08" if conn.place and want == "success" else rule
            producer = Producer(body.topic, body.producer_name)
            state = state.put_producer((number, about), producer)
    elif kind == "SUBSCRIBE":
        about = body.consumer_id
        if about in conn.consumers:
            want, rule, about = "either", "INV-BROKER-26", -1 - about
            covers = ids(rule)
            state = consuming.shaken(state, number, rule, "SUBSCRIBE with an id in use")
        else:
            want, rule, why, covers = _subscribing(state, body)
            rule = "LOOK-08" if conn.place and want == "success" else rule
            state = consuming.subscribed(state, (number, about), body)
            if about in conn.gone or (want != "error" and extra is None):
                there = state.conn(number).consumers[about]._replace(resumed=about in conn.gone)
                state = state.put_consumer((number, about), there)
    elif kind in ("CLOSE_CONSUMER", "UNSUBSCRIBE"):
        state, want, rule, why = _closing(state, number, kind, body.consumer_id)
        about = body.consumer_id
    elif kind == "CLOSE_PRODUCER":
        about = body.producer_id
        producer = conn.producers.get(about)
        if producer is None or producer.phase != "open":
            want, rule = "either", "CLP-08"
            if producer is None:
                state = consuming.shaken(state, number, rule, "CLOSE_PRODUCER of none")
            if producer is not None and producer.phase == "pending":
                state = state.put_producer((number, about), producer._replace(phase="closing"))
        else:
            state = state.put_producer((number, about), producer._replace(phase="closing"))
            extra = state.clock
    elif kind in ("LOOKUP", "PARTITIONED_METADATA"):
        fate = producing.topic_fate(body.topic)
        about, extra = body.topic, body.authoritative if kind == "LOOKUP" else None
        if conn.place and kind == "LOOKUP":
            trail = state.trail.get(about, frozenset()) | {(conn.place, body.authoritative)}
            state = state._replace(trail={**state.trail, about: trail})
        want = {"good": "success", "bad": "error"}.get(fate, "either")
        rule = "LOOK-09" if fate == "bad" else rule
    elif kind == "SEEK":
        about = body.consumer_id
        state, want = _seeking(state, number, body)
        covers = ids("INV-BROKER-41") if want == "error" else ()
        if want == "success" and about in conn.consumers and body.HasField("message_id"):
            extra = (conn.consumers[about].sub, consuming.message_id(body.message_id))
    elif kind == "GET_LAST_MESSAGE_ID":
        about = body.consumer_id
        consumer = conn.consumers.get(about)
        want = "either" if consumer is None or consumer.phase != "open" else "success"
        extra = None if consumer is None else (consumer.sub[0], state.tops.get(consumer.sub[0]), len(state.entries))
    elif kind == "CONSUMER_STATS":
        about = body.consumer_id
        consumer = conn.consumers.get(about)
        want = "either" if consumer is None or consumer.phase != "open" else "success"
        covers = ids("INV-BROKER-40") if consumer is None else ()
        extra = None if consumer is None else (consumer.granted, consumer.used, consumer.batched)
    request = Request(kind, want, rule, about, 0, why, covers, extra)
    return _asked(state, number, body.request_id, request)


def _subscribing(state: State, body: Any) -> tuple[str, str, str, tuple[str, ...]]:
    """What SUBSCRIBE must be answered with, the rule, and why."""
    if producing.topic_fate(body.topic) == "bad":
        return "error", "SUB-01", "the topic's name is none", ()
    name = body.subscription
    if producing.topic_fate(body.topic) != "good" or not name.strip() or body.subType > 2:
        return "either", "SUB-01", "", () if name else ids("INV-BROKER-30")
    if name != name.strip():
        return "either", "SUB-01", "", ()  # nobody says what a name may be; but it is another one than without blanks
    where = (body.topic, body.subscription)
    sub = state.subs.get(where)
    covers = ids("SUB-02") if sub is None else ids("SUB-09")
    if not body.consumer_name:
        covers += ids("SUB-12")
    live = [(key, there) for key, there in consuming.consumers_of(state, where)]
    if sub is None or not (live or sub.stale):
        return "success", "SUB-12" if not body.consumer_name else "SUB-01", "", covers
    firm = [t for key, t in live if t.phase == "open" and state.conn(key[0]).phase is Phase.LIVE
            and not state.conn(key[0]).may_close]  # fmt: skip
    doubt = sub.stale or any(there.phase != "open" for _, there in live) or len(firm) != len(live)
    if firm and any(there.kind != body.subType for there in firm):
        return "error", "SUB-11", "consumers of another type are connected", ()
    if firm and body.subType == EXCLUSIVE:
        return "error", "SUB-05", "an Exclusive subscription has a consumer", ()
    if doubt:
        return "either", "SUB-01", "", ()
    return "success", "SUB-07" if body.subType == 1 else "SUB-01", "", covers


def _closing(state: State, number: int, kind: str, name: int) -> tuple[State, str, str, str]:
    conn = state.conn(number)
    consumer = conn.consumers.get(name)
    rule = RULES[kind]
    if consumer is not None and consumer.phase == "pending":
        return state.put_consumer((number, name), consumer._replace(phase="closing")), "either", rule, ""
    if consumer is None or consumer.phase != "open":
        rule = "INV-BROKER-38" if kind == "UNSUBSCRIBE" else "CLC-04"
        if consumer is None:
            state = consuming.shaken(state, number, rule, f"{kind} of no consumer")
        return state, "either", rule, ""
    want, why = "success", ""
    if kind == "UNSUBSCRIBE":
        others = [key for key, _ in consuming.consumers_of(state, consumer.sub) if key != (number, name)]
        sub = state.subs[consumer.sub]
        if others:
            firm = any(state.conn(k[0]).consumers[k[1]].phase == "open" for k in others)
            want, why = ("error" if firm else "either"), "other consumers are connected"
        elif sub.stale:
            want = "either"
    state = state.put_consumer((number, name), consumer._replace(phase="closing"))
    return consuming.leaving(state, (number, name)), want, rule, why


def _seeking(state: State, number: int, body: Any) -> tuple[State, str]:
    consumer = state.conn(number).consumers.get(body.consumer_id)
    if consumer is None or not (body.HasField("message_id") or body.HasField("message_publish_time")):
        return state, "error" if consumer is not None else "either"
    sub = state.subs.get(consumer.sub)
    if sub is not None:  # from here on everything may come again, and what must is known when it is answered
        places = {at: place._replace(need=0, may=place.may + 3, acked="maybe" if place.acked else "", skip=False,
                                    left=0, again="" if place.acked or place.skip else "SEEK")
                  for at, place in sub.places.items()}  # fmt: skip
        state = state.put_sub(consumer.sub, sub._replace(places=places, back=sub.back + 2, loose=True))
    return consuming.unsure(state, number, consumer.sub), "success"
