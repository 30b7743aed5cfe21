"""The acceptor of a broker: which frames the text allows in answer to what a client said.

Source: 001_c0ea8805bb7ed422.txt, "Interactions". An envelope: whatever was asked stays open until it is answered, and
nothing depends on when the broker read it, so one reading is sound in lock-step and with any number of frames on their
way, on any number of connections.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.model import Allow, Breach, Outcome
from specs.pulsar import consuming, producing
from specs.pulsar.frames import NOBODY, Frame
from specs.pulsar.states import (
    ALLOWED,
    EXCLUSIVE,
    LISTENS,
    RETRY,
    SURVIVED,
    Conn,
    P,
    Phase,
    Producer,
    Request,
    State,
    blame,
    ids,
)

SLACK_MS = 1000
"""What is added to a keep-alive interval before anybody is blamed for being late."""
FREE_MS = 1000
"""Silence after which what a lost connection held must be free."""
SINCE = {
    "PING": 1,
    "PONG": 1,
    "CLOSE_PRODUCER": 5,
    "CLOSE_CONSUMER": 5,
    "REACHED_END_OF_TOPIC": 9,
    "ACTIVE_CONSUMER_CHANGE": 12,
    "AUTH_CHALLENGE": 14,
}
"""What a broker may say of its own accord only to clients of this version or newer."""
ANSWERS = {
    "PRODUCER": "PRODUCER_SUCCESS", "SUBSCRIBE": "SUCCESS", "UNSUBSCRIBE": "SUCCESS", "CLOSE_PRODUCER": "SUCCESS",
    "CLOSE_CONSUMER": "SUCCESS", "SEEK": "SUCCESS", "LOOKUP": "LOOKUP_RESPONSE",
    "PARTITIONED_METADATA": "PARTITIONED_METADATA_RESPONSE", "CONSUMER_STATS": "CONSUMER_STATS_RESPONSE",
    "GET_LAST_MESSAGE_ID": "GET_LAST_MESSAGE_ID_RESPONSE", "ACK": "ACK_RESPONSE",
    "GET_TOPICS_OF_NAMESPACE": "GET_TOPICS_OF_NAMESPACE_RESPONSE",
}  # fmt: skip
"""The answer to each request when it succeeds."""
RULES = {
    "PRODUCER": "PROD-02", "SUBSCRIBE": "SUB-01", "UNSUBSCRIBE": "SUB-13", "CLOSE_PRODUCER": "CLP-03",
    "CLOSE_CONSUMER": "CLC-01", "SEEK": "SEEK-01", "LOOKUP": "LOOK-02", "PARTITIONED_METADATA": "PART-01",
    "CONSUMER_STATS": "STAT-01", "GET_LAST_MESSAGE_ID": "LAST-01", "ACK": "ACK-10", "GET_TOPICS_OF_NAMESPACE": "REQ-02",
}  # fmt: skip
"""What a missing or wrong answer breaks."""
PLAIN_ERRORS = (
    "PRODUCER",
    "SUBSCRIBE",
    "UNSUBSCRIBE",
    "CLOSE_PRODUCER",
    "CLOSE_CONSUMER",
    "SEEK",
    "GET_LAST_MESSAGE_ID",
    "CONSUMER_STATS",
    "GET_TOPICS_OF_NAMESPACE",
)
"""Requests that ERROR answers."""
FROM_BROKER = frozenset(ANSWERS.values()) | {
    "CONNECTED", "ERROR", "SEND_RECEIPT", "SEND_ERROR", "MESSAGE", "PONG", "PING", "CLOSE_PRODUCER", "CLOSE_CONSUMER",
    "REACHED_END_OF_TOPIC", "ACTIVE_CONSUMER_CHANGE", "AUTH_CHALLENGE", "GET_SCHEMA_RESPONSE",
    "GET_OR_CREATE_SCHEMA_RESPONSE",
}  # fmt: skip
"""What a broker may say at all."""


class BrokerModel:
    """See the module."""

    drifts = False

    def initial(self, config: Any) -> State:
        """Nothing said on any connection."""
        return State(config)

    def drift(self, state: State) -> Iterable[State]:
        """None; see the module."""
        return ()

    def owed(self, state: State, role: str) -> Iterator[str]:
        """The rules of what the broker has still to say."""
        if role == "broker":
            for rule, _ in due(state):
                yield P + rule

    def step(self, state: State, event: Event) -> Iterable[Outcome]:
        """One reading always."""
        state = state._replace(clock=state.clock + 1)
        if isinstance(event, Said):
            if event.by == "client":
                return (Allow(said(state, event.conn, event.frame)),)
            return (heard(state, event.conn, event.frame),)
        if isinstance(event, Quiet):
            return (_quiet(state, event),)
        if isinstance(event, Closed):
            return (_closed(state, event),)
        if isinstance(event, Noise):
            return (_noise(state, event),)
        return (_fact(state, event),)


# -- what the tester says ----------------------------------------------------------------------------------------------


def _spoilt(state: State, number: int, rule: str, why: str, *, must: bool = True) -> State:
    """The tester said what ends the connection, or may end it."""
    conn = state.conn(number)
    if conn.phase in (Phase.CLOSED, Phase.LEFT):
        return state
    state = consuming.shaken(state._replace(bad=True), number, rule, why)
    conn = state.conn(number)
    phase = Phase.SPOILT if must else conn.phase
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
            return _spoilt(state, number, rule, f"{kind} before CONNECT")
        return _hello(state, number, frame)
    if kind == "CONNECT":
        return _spoilt(state, number, "CONN-08", "a second CONNECT")
    if frame.odd and kind != "SEND":
        state = _spoilt(state, number, "INV-BROKER-07", "octets behind a command", must=False)
    if kind in FROM_BROKER and kind not in ("PING", "PONG", "CLOSE_PRODUCER", "CLOSE_CONSUMER"):
        return _spoilt(state, number, "INV-BROKER-12", f"{kind} from a client")
    if not frame.whole:
        state = _spoilt(state, number, "INV-BROKER-11", "two sub-messages in one command", must=False)
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
    conn = state.conn(number)._replace(phase=Phase.ASKED, version=version, limit=version, hello=hello)
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
            return _spoilt(_tried(state, "ACK-07"), number, "INV-BROKER-35", why, must=False)
        case "FLOW" | "ACK" | "REDELIVER_UNACKNOWLEDGED_MESSAGES" if body.consumer_id not in conn.consumers and not (
            kind == "ACK" and body.HasField("request_id")
        ):
            rule = {"FLOW": "INV-BROKER-31", "ACK": "INV-BROKER-34"}.get(kind, "INV-BROKER-37")
            state = consuming.shaken(state, number, rule, f"{kind} of a consumer that is not there")
            return _tried(state, rule)
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
                known = body.consumer_id in conn.consumers
                return _asked(state, number, body.request_id, Request("ACK", "either", "ACK-10", known))
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
        return _spoilt(state, number, "INV-BROKER-32", "FLOW of no permits, or of 2^31", must=False)
    consumer = state.conn(number).consumers.get(body.consumer_id)
    if consumer is not None and consumer.granted + body.messagePermits >= 1 << 31:
        return _spoilt(state, number, "INV-BROKER-33", "more permits than 2^31", must=False)
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
    if producing.topic_fate(body.topic) != "good" or not body.subscription or body.subType > 2 or state.elsewhere:
        return "either", "SUB-01", "", () if body.subscription else ids("INV-BROKER-30")
    where = (body.topic, body.subscription)
    sub = state.subs.get(where)
    covers = ids("SUB-02") if sub is None else ids("SUB-09")
    if not body.consumer_name:
        covers += ids("SUB-12")
    live = [(key, there) for key, there in consuming._of(state, where)]
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
    if consumer is None or consumer.phase != "open":
        rule = "INV-BROKER-38" if kind == "UNSUBSCRIBE" else "CLC-04"
        if consumer is None:
            state = consuming.shaken(state, number, rule, f"{kind} of no consumer")
        return state, "either", rule, ""
    want, why = "success", ""
    if kind == "UNSUBSCRIBE":
        others = [key for key, _ in consuming._of(state, consumer.sub) if key != (number, name)]
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
        places = {at: place._replace(need=0, may=place.may + 2, acked="maybe" if place.acked else "", skip=False,
                                    left=0)
                  for at, place in sub.places.items()}  # fmt: skip
        state = state.put_sub(consumer.sub, sub._replace(places=places, back=sub.back + 2, loose=True))
    return consuming.unsure(state, number, consumer.sub), "success"


def _sought(state: State, where: tuple[str, str], position: tuple[int, int], covers: tuple[str, ...]) -> Outcome:
    """SUCCESS came to SEEK: everything from the position on must come again, whatever was acknowledged."""
    sub = state.subs.get(where)
    if sub is None:
        return Allow(state, covers)
    places = {}
    for at, place in sub.places.items():
        entry = state.entries[at]
        after = (
            entry.fate == "stored" and entry.id is not None and (position == (NOBODY, NOBODY) or entry.id >= position)
        )
        places[at] = place._replace(acked="", need=state.clock, may=place.may + 1, again="SEEK") if after else place
    return Allow(state.put_sub(where, sub._replace(places=places)), covers)


# -- what the broker says ----------------------------------------------------------------------------------------------


def heard(state: State, number: int, frame: Frame) -> Outcome:
    """What the broker said."""
    conn = state.conn(number)
    kind = frame.kind
    if not frame.whole:
        return blame("FRM-05", f"{kind} with more than one sub-message")
    if frame.odd and kind != "MESSAGE":
        return blame("FRM-03", f"{kind} with octets behind the command")
    if frame.broker is not None and conn.version < 18:
        return blame("VER-01", "broker entry metadata to a client below version 18")
    row = ALLOWED[conn.phase]
    if kind in ("CONNECTED", "AUTH_CHALLENGE") or (kind == "ERROR" and conn.phase is Phase.ASKED):
        return _connected(state, number, frame) if row["hello"] == "judged" else _too_soon(state, conn, kind)
    if conn.phase in (Phase.LEFT, Phase.CLOSED):
        return Allow(state)
    if row["answer"] == "forbidden":
        return _too_soon(state, conn, kind)
    since = SINCE.get(kind, 0)
    if conn.version < since and kind != "PONG":
        rule = "VER-05" if since == 5 else "VER-04" if conn.version == 0 else "VER-01"
        return blame(rule, f"{kind} to a client of version {conn.version}")
    outcome = _spoken(state, number, frame)
    if isinstance(outcome, Allow):
        more = list(ids("FRM-01 FRM-02 FRM-03 FRM-05 FRM-09 VER-01"))
        if len(conn.producers) + len(conn.consumers) > 1:
            more += ids("FRM-06")
        if state.bad and conn.phase is Phase.LIVE and not conn.may_close:
            more += ids("FRM-13")
        return Allow(outcome.state, (*outcome.covers, *more), outcome.lapses)
    return outcome


def _too_soon(state: State, conn: Conn, kind: str) -> Outcome:
    if conn.phase is Phase.SPOILT or conn.phase is Phase.NEW:
        if conn.misuse in ("CONN-06", "CONN-07", "CONN-08"):
            rule = conn.misuse
            level = None
            return blame(rule, f"{kind}: {conn.why} had an effect", level=level)
        return Allow(state) if conn.phase is Phase.SPOILT and kind != "CONNECTED" else blame(
            "CONN-02", f"{kind} without CONNECT")  # fmt: skip
    if conn.phase is Phase.LIVE:
        return blame("CONN-02", f"{kind} on a connection that is established")
    return blame("CONN-02", f"{kind} before CONNECTED")


def _connected(state: State, number: int, frame: Frame) -> Outcome:
    conn = state.conn(number)
    kind, body = frame.kind, frame.body
    if kind == "AUTH_CHALLENGE":
        if conn.version < 14:
            return blame("VER-01", "AUTH_CHALLENGE to a client below version 14")
        return Allow(state) if state.config.auth else blame("CONN-02", "AUTH_CHALLENGE where no login is configured")
    if kind == "ERROR":
        if conn.hello == "success" and body.error not in RETRY and body.error != 10:
            return blame("CONN-02", f"CONNECT was refused: error {body.error} {body.message!r:.200}")
        lapses = []
        if conn.hello == "refusal" and (body.request_id != NOBODY or body.error != 3):
            why = f"bad credentials were answered with request id {body.request_id}, error {body.error}"
            lapses.append(blame("CONN-05", why, state))
        state = _spoilt(state, number, "CONN-04", "CONNECT was refused")
        covers = ids("CONN-05") if conn.hello == "refusal" else ()
        return Allow(state, covers, tuple(lapses))
    if conn.hello == "refusal":
        return blame("CONN-04", "bad credentials were accepted")
    lapses = []
    if body.protocol_version > conn.version:
        why = f"CONNECTED with version {body.protocol_version} to a client of {conn.version}"
        lapses.append(blame("VER-03", why, state))
    covers = ids("CONN-02 CONN-10 CONN-09 VER-03")
    if conn.version == 0:
        covers += ids("VER-04")
    if not body.server_version:
        lapses.append(blame("CONN-10", "server_version is empty", state, level="SHOULD"))
    return Allow(state.put(number, conn._replace(phase=Phase.LIVE)), covers, tuple(lapses))


def _spoken(state: State, number: int, frame: Frame) -> Outcome:
    conn = state.conn(number)
    kind, body = frame.kind, frame.body
    match kind:
        case "PONG":
            if not conn.pings:
                return blame("KA-02", "PONG without a PING")
            state = state.put(number, conn._replace(pings=conn.pings[1:]))
            return Allow(consuming.overtaken(state, number, conn.pings[0]), ids("KA-02 KA-09"))
        case "PING":
            return Allow(state.put(number, conn._replace(pinged=conn.pinged + 1, idle=0)), ids("KA-03"))
        case "SEND_RECEIPT":
            return producing.receipt(state, number, body)
        case "SEND_ERROR":
            return producing.send_error(state, number, body)
        case "MESSAGE":
            return consuming.message(state, number, frame)
        case "ACTIVE_CONSUMER_CHANGE":
            return consuming.active_change(state, number, body)
        case "CLOSE_PRODUCER":
            return _closed_producer(state, number, body)
        case "CLOSE_CONSUMER":
            return _closed_consumer(state, number, body)
        case "REACHED_END_OF_TOPIC":
            known = body.consumer_id in conn.consumers or body.consumer_id in conn.gone
            return (
                Allow(state, ids("END-01"))
                if known
                else blame("END-01", "REACHED_END_OF_TOPIC for an unknown consumer")
            )
        case _ if kind in ANSWERS.values() or kind == "ERROR":
            return _answer(state, number, frame)
        case _:
            return blame("VER-01", f"{kind} from a broker")


def _closed_producer(state: State, number: int, body: Any) -> Outcome:
    if body.request_id != NOBODY:
        return blame("CLP-05", "CLOSE_PRODUCER from the broker with a request id", level="SHOULD")
    if body.producer_id not in state.conn(number).producers:
        known = body.producer_id in state.conn(number).ended_producers
        return Allow(state) if known else blame("CLP-07", "CLOSE_PRODUCER for an unknown producer", level="SHOULD")
    if state.conn(number).producers[body.producer_id].sends:  # they have, by now, no producer
        state = consuming.shaken(state, number, "SEND-11", "SENDs crossed the broker's CLOSE_PRODUCER")
    return Allow(producing.gone(state, (number, body.producer_id), lost=True), ids("CLP-05 CLP-07"))


def _closed_consumer(state: State, number: int, body: Any) -> Outcome:
    conn = state.conn(number)
    if body.consumer_id not in conn.consumers:
        known = body.consumer_id in conn.gone
        return Allow(state) if known else blame("CLC-02", "CLOSE_CONSUMER for an unknown consumer", level="SHOULD")
    state = consuming.unsure(state, number, conn.consumers[body.consumer_id].sub)
    state = consuming.left(state, (number, body.consumer_id), lost=True)
    conn = state.conn(number)
    return Allow(state.put(number, conn._replace(gone=conn.gone | {body.consumer_id})), ids("CLC-02"))


def _answer(state: State, number: int, frame: Frame) -> Outcome:
    """An answer to a request."""
    conn = state.conn(number)
    kind, body = frame.kind, frame.body
    name = body.request_id
    if conn.phase is Phase.SPOILT and name not in conn.requests:
        if conn.misuse == "INV-BROKER-12" or kind == "ERROR":
            return Allow(state)
        return blame(conn.misuse or "REQ-02", f"{kind}: {conn.why} had an effect")
    waiting = conn.requests.get(name, ())
    nth = next((i for i, each in enumerate(waiting) if kind == ANSWERS[each.kind]
                or (kind == "ERROR" and each.kind in PLAIN_ERRORS)), None)  # fmt: skip
    if nth is None:
        return _unasked(state, conn, frame, waiting)
    request = waiting[nth]
    rest = (*waiting[:nth], *waiting[nth + 1 :])
    requests = {each: there for each, there in conn.requests.items() if each != name}
    if rest:
        requests[name] = rest
    if request.rule == "INV-BROKER-38" and kind == "ERROR":
        request = request._replace(covers=(*request.covers, *ids("INV-BROKER-38")))
    conn = conn._replace(requests=requests, answered=conn.answered | {name})
    state = consuming.overtaken(state.put(number, conn), number, request.at)
    failed, error = _failure(frame)
    if request.kind in ("LOOKUP", "PARTITIONED_METADATA"):
        return _discovered(state, request, body, failed, error)
    if failed:
        return _refused(state, number, request, error)
    if request.want == "error":
        found = blame(request.rule, f"{request.kind} succeeded: {request.why}", level="MUST")
        # what the broker closes of its own accord on another connection may still be on its way
        return replace(found, steady=request.rule in ("SUB-05", "SUB-11", "PROD-09"))
    return _succeeded(state, number, request, frame)


def _unasked(state: State, conn: Conn, frame: Frame, waiting: tuple[Request, ...]) -> Outcome:
    kind, name = frame.kind, frame.body.request_id
    if waiting:
        why = f"{kind} answers a {waiting[0].kind}"
        return blame(RULES[waiting[0].kind], why)
    if name == NOBODY and kind == "ERROR":
        return Allow(state._replace(bad=state.bad))
    if name in conn.answered:
        return blame("REQ-02", f"a second answer to the request {name}: {kind}")
    open_ids = list(conn.requests)
    if open_ids:
        return blame("REQ-01", f"{kind} answers {name}, open is {open_ids[0]}")
    rule = "ACK-09" if kind in ("ACK_RESPONSE", "SUCCESS") else "REQ-02"
    return blame(rule, f"{kind} answers the request {name}, which nobody made")


def _failure(frame: Frame) -> tuple[bool, int]:
    kind, body = frame.kind, frame.body
    if kind == "ERROR":
        return True, body.error
    if kind == "LOOKUP_RESPONSE":
        return body.response == 2, body.error
    if kind == "PARTITIONED_METADATA_RESPONSE":
        return body.response == 1, body.error
    if kind == "CONSUMER_STATS_RESPONSE":
        return body.HasField("error_code"), body.error_code
    return False, 0


def _refused(state: State, number: int, request: Request, error: int) -> Outcome:
    """ERROR came."""
    about = request.about
    conn = state.conn(number)
    covers = list(ids(RULES[request.kind]) + ids("REQ-01 REQ-02") + request.covers)
    if request.want == "success" and error not in RETRY:
        rule = request.rule
        if request.kind == "PRODUCER" and request.extra == "reused":
            rule = "CLP-04"
        return blame(rule, f"{request.kind} was refused: error {error}")
    lapses = []
    if request.want == "error":
        covers += ids(request.rule)
        good = {"PROD-09": (16, 0), "SUB-05": (5,), "SUB-11": (5, 0)}.get(request.rule)
        if good and error not in good and state.config.profile == "modern":
            lapses.append(blame(request.rule, f"refused with error {error}", state, level="SHOULD"))
    if request.kind == "PRODUCER" and about >= 0:
        state = state.put_producer((number, about), None)
    elif request.kind == "SUBSCRIBE" and about >= 0:
        consumer = conn.consumers.get(about)
        sub = None if consumer is None else state.subs.get(consumer.sub)
        if consumer is not None and sub is not None and request.rule == "SUB-05":
            state = state.put_sub(consumer.sub, sub._replace(refused=True))
        state = consuming.forgotten(state, (number, about))
    elif request.kind in ("CLOSE_CONSUMER", "UNSUBSCRIBE"):
        consumer = conn.consumers.get(about)
        if consumer is not None and consumer.phase == "closing":
            state = state.put_consumer((number, about), consumer._replace(phase="open"))
    return Allow(state, tuple(dict.fromkeys(covers)), tuple(lapses))


def _succeeded(state: State, number: int, request: Request, frame: Frame) -> Outcome:
    kind, body, about = request.kind, frame.body, request.about
    covers = (*ids(RULES[kind]), *ids("REQ-01 REQ-02"), *request.covers)
    conn = state.conn(number)
    if kind == "PRODUCER":
        return producing.created(state, number, request, body)
    if kind == "SUBSCRIBE" and about >= 0:
        consumer = conn.consumers.get(about)
        if consumer is not None and consumer.phase == "pending":
            where = consumer.sub
            born = {"\0".join(where): state.clock, **state.shares} if where in state.subs else state.shares
            if where in state.subs and not state.subs[where].sure:
                born = {**state.shares, "\0".join(where): state.clock}
            state = consuming.attached(state._replace(shares=born), (number, about))
            extra = {0: "SUB-05 SUB-06", 1: "SUB-07 SUB-11", 2: "SUB-11"}.get(consumer.kind, "")
            covers += ids(extra if len(state.subs[where].members) > 1 else "")
            covers += ids("CONN-12") if state.lost else ()
        return Allow(state, covers)
    if kind in ("CLOSE_CONSUMER", "UNSUBSCRIBE"):
        consumer = conn.consumers.get(about)
        if consumer is not None and consumer.phase == "closing":
            state = consuming.left(state, (number, about))
            if kind == "UNSUBSCRIBE":
                shares = {k: v for k, v in state.shares.items() if k != "\0".join(consumer.sub)}
                shares["\0".join(("gone", *consumer.sub))] = 1
                state = state.put_sub(consumer.sub, None)._replace(shares=shares)
            conn = state.conn(number)
            state = state.put(number, conn._replace(gone=conn.gone | {about}))
        elif request.rule == "CLC-04":
            covers += ids("CLC-04")
        elif request.rule == "INV-BROKER-38":
            return Allow(state, covers, (blame(request.rule, "UNSUBSCRIBE of no consumer succeeded", state),))
        return Allow(state, covers)
    if kind == "CLOSE_PRODUCER":
        producer = conn.producers.get(about)
        if producer is not None and producer.phase == "closing" and request.extra is not None:
            left = [at for at in producer.sends if state.entries[at].fate == "sent"]
            if left:
                why = f"SUCCESS came to CLOSE_PRODUCER before the receipt of {state.entries[left[0]].seq}"
                return blame("CLP-02", why)
            state = producing.gone(state, (number, about))
            return Allow(state, (*covers, *ids("CLP-02 CLP-01")))
        return Allow(state, (*covers, *ids("CLP-08")))
    if kind == "SEEK" and request.extra is not None:
        where, position = request.extra
        return _sought(state, where, position, covers)
    if kind == "GET_LAST_MESSAGE_ID":
        return _last(state, request, body, covers)
    if kind == "CONSUMER_STATS":
        return _stats(state, number, request, body, covers)
    return Allow(state, covers)


def _last(state: State, request: Request, body: Any, covers: tuple[str, ...]) -> Outcome:
    topic, top, count = request.extra
    given = consuming.message_id(body.last_message_id)
    settled = all(entry.fate == "stored" for entry in state.entries if entry.topic == topic)
    if settled and len(state.entries) == count and top is not None and given != top:
        return blame("LAST-01", f"the last message id is {given}, the last receipt had {top}")
    return Allow(state, covers)


def _stats(state: State, number: int, request: Request, body: Any, covers: tuple[str, ...]) -> Outcome:
    consumer = state.conn(number).consumers.get(request.about)
    if consumer is None or request.extra is None or not body.HasField("availablePermits"):
        return Allow(state, covers)
    granted, used, batched = request.extra
    calm = (granted, used) == (consumer.granted, consumer.used) and not batched and granted == consumer.sure
    waiting = any(rule.startswith(("FLOW", "RED", "CLC")) for rule, _ in due(state))
    sub = state.subs.get(consumer.sub)
    free = sub is None or not any(place.may for place in sub.places.values())
    if calm and not waiting and free and body.availablePermits != granted - used:
        return blame("STAT-01", f"availablePermits is {body.availablePermits}, {granted - used} are left")
    return Allow(state, covers)


def _discovered(state: State, request: Request, body: Any, failed: bool, error: int) -> Outcome:
    """The answer to LOOKUP or PARTITIONED_METADATA."""
    lookup = request.kind == "LOOKUP"
    rule = "LOOK-02" if lookup else "PART-01"
    covers = ids(rule) + ids("REQ-01 REQ-02") + request.covers
    if not body.HasField("response"):
        return blame(rule, f"{request.kind} was answered without a response")
    if failed:
        if request.want == "success" and error not in RETRY:
            return blame(rule, f"{request.kind} of {request.about} failed: error {error}")
        lapses = []
        if request.want == "error" and error != 17 and lookup and state.config.profile == "modern":
            lapses.append(blame("LOOK-09", f"a bad topic name was answered with error {error}", state))
        return Allow(state, covers + (ids("LOOK-09") if lookup and request.want == "error" else ()), tuple(lapses))
    if request.want == "error":
        return blame("LOOK-09", f"{request.kind} of a bad topic name succeeded", then=state, level="SHOULD")
    if not lookup:
        if not body.HasField("partitions"):
            return blame("PART-01", "PARTITIONED_METADATA succeeded without a number")
        return _partitions(state, request, body, covers)
    url, tls = body.brokerServiceUrl, body.brokerServiceUrlTls
    if not (url.startswith("pulsar://") or tls.startswith("pulsar+ssl://")) or (
        url and not url.startswith("pulsar://")
    ):
        return blame("LOOK-10", f"LOOKUP was answered with the URL {url!r:.200} {tls!r:.200}")
    covers += ids("LOOK-10")
    known = {**state.shares, f"url\0{request.about}": 1}
    if body.response == 0:
        count = state.shares.get(f"redirect\0{request.about}", 0) + 1
        if count > 20:
            return blame("LOOK-06", "a lookup is redirected for ever")
        return Allow(state._replace(shares={**known, f"redirect\0{request.about}": count}), covers)
    return Allow(state._replace(shares={**known, f"redirect\0{request.about}": 0}), covers + ids("LOOK-06 LOOK-08"))


def _partitions(state: State, request: Request, body: Any, covers: tuple[str, ...]) -> Outcome:
    topic, count = str(request.about), body.partitions
    name = f"partitions\0{topic}"
    if state.shares.get(name, count) != count:
        return blame("PART-05", f"the topic had {state.shares[name]} partitions, now {count}")
    covers += ids("PART-05") if name in state.shares else ()
    local = topic.rpartition("/")[2]
    if state.config.partitioned:
        head = state.config.partitioned.partition("{n}")[0]
        digits = local[len(head) :].partition("-")[0] if local.startswith(head) else ""
        expected = int(digits) if digits.isdigit() and "-partition-" not in local else 0
        if count != expected:
            return blame("PART-01", f"a topic with {expected} partitions has {count}")
    elif count:
        return blame("PART-01", f"a fresh topic has {count} partitions", level="SHOULD")
    return Allow(state._replace(shares={**state.shares, name: count}), covers)


# -- closes, octets, silence -------------------------------------------------------------------------------------------


def _closed(state: State, event: Closed) -> Outcome:
    conn = state.conn(event.conn)
    phase = Phase.LEFT if event.by == "client" else Phase.CLOSED
    if event.by == "client" and event.how.startswith("eof"):
        state = _spoilt(state, event.conn, "INV-BROKER-44", "our side has ended", must=False)
        return Allow(state)
    config = state.config
    if (
        event.by == "broker"
        and not (conn.must_close or conn.may_close)
        and conn.phase not in (Phase.LEFT, Phase.CLOSED)
    ):
        wrong = _unprovoked(state, event.conn, conn, config.keepalive_ms)
        if wrong is not None:
            return wrong
    covers: tuple[str, ...] = ()
    lapses: tuple[Breach, ...] = ()
    if event.by == "broker":
        if conn.must_close:
            covers = ids(conn.must_close)
        elif conn.may_close in SURVIVED:
            lapses = (blame(conn.may_close, f"the broker closed the connection after {conn.why}", state),)
        elif conn.may_close:
            covers = ids(conn.may_close)
        elif conn.pinged:
            covers = ids("KA-04")
        elif conn.phase is Phase.NEW:
            covers = ids("CONN-11")
        elif conn.version < 4:
            covers = ids("BAT-11 CMP-04")
    return Allow(_ended(_doubted(state, conn), event.conn, phase), covers, lapses)


def _doubted(state: State, conn: Conn) -> State:
    """Whether an UNSUBSCRIBE that was not answered was carried out, nobody knows."""
    for waiting in conn.requests.values():
        for request in waiting:
            consumer = conn.consumers.get(request.about) if request.kind == "UNSUBSCRIBE" else None
            sub = None if consumer is None else state.subs.get(consumer.sub)
            if consumer is not None and sub is not None:
                state = state.put_sub(consumer.sub, sub._replace(doubted=True))
    return state


def _unprovoked(state: State, number: int, conn: Conn, keepalive: int) -> Outcome | None:
    if number not in state.conns or (conn.phase is Phase.NEW and (not keepalive or conn.up >= keepalive // 2)):
        return None
    if keepalive and conn.pinged and conn.up + 100 >= keepalive:
        return None
    if conn.version < 4 and any(entry.batched or "CMP-01" in entry.tags for entry in state.entries):
        return None  # it cannot be told what is there for it
    if conn.version < 1 and keepalive and conn.up + 100 >= keepalive:
        return None  # who must not be asked for a sign of life may be taken for dead
    if conn.midway and (not keepalive or conn.up + 100 >= keepalive):
        return None
    why = "the broker closed a connection on which nothing was wrong"
    if state.tried and not any(conn.requests.values()):
        return blame(min(state.tried), f"{why}: something odd was said", level="MUST")
    for waiting in conn.requests.values():
        return blame(waiting[0].rule, f"{why}: {waiting[0].kind} is open", level="MUST")
    for producer in conn.producers.values():
        for at in producer.sends:
            tag = next((t for t in state.entries[at].tags if t in ("FRM-08", "FRM-12", "CHK-08", "FRM-07")), "")
            if state.entries[at].fate == "sent":
                # it may have crossed a CLOSE_PRODUCER that the end of the connection has swallowed: always is not that
                return replace(blame(tag or "SEND-04", f"{why}: a SEND is open"), steady=not tag)
    rule = "FRM-13" if state.bad else "CONN-02" if conn.phase is Phase.ASKED else "KA-05"
    return blame(rule, why)


def _ended(state: State, number: int, phase: Phase) -> State:
    """A connection is over: everything on it is gone, as far as the broker has noticed."""
    conn = state.conn(number)
    for name in conn.consumers:
        state = consuming.left(state, (number, name), lost=True)
    for name in conn.producers:
        state = producing.gone(state, (number, name), lost=True)
    conn = state.conn(number)
    state = state._replace(stale_ms=0)
    return state.put(number, conn._replace(phase=phase, requests={}, pings=(), acks=(), must_close="", midway=False))


def _noise(state: State, event: Noise) -> Outcome:
    if event.by == "client":
        rule = {"over-limit": "FRM-10"}.get(event.why, "FRM-14" if event.why == "command-size" else "FRM-13")
        if event.why in ("no-command", "no-sub-message"):
            rule = "INV-BROKER-08" if event.why == "no-command" else "INV-BROKER-10"
            if event.why == "no-command" and _unknown_type(event.data):
                return Allow(_spoilt(state, event.conn, "INV-BROKER-09", "a command of an unknown type", must=False))
        return Allow(_spoilt(state, event.conn, rule, f"octets that are no frame: {event.why}"))
    rule = "FRM-09" if event.why == "over-limit" else "FRM-02" if event.why == "command-size" else "FRM-05"
    return blame(rule, f"the broker sent octets that are no frame: {event.why}")


def _unknown_type(data: bytes) -> bool:
    """True for a command whose only fault is a type that nobody knows."""
    return len(data) > 9 and data[8] == 8 and not (2 <= data[9] <= 40)


def _fact(state: State, event: Fact) -> Outcome:
    if event.name == "octets" and event.by == "client":
        return Allow(state.put(event.conn, state.conn(event.conn)._replace(midway=True)))
    if event.name == "refused":
        rule = "FRM-13" if state.bad else "CONN-02"
        return blame(rule, f"the broker takes no more connections: {event.value!s:.200}")
    return Allow(state)


def due(state: State) -> Iterator[tuple[str, str]]:
    """What the broker has still to say: the rule and why."""
    for number, conn in state.conns.items():
        if conn.must_close and conn.phase is Phase.SPOILT:
            yield conn.must_close, f"the connection {number} stays open: {conn.why}"
        if conn.phase is Phase.ASKED:
            yield ("CONN-04" if conn.hello == "refusal" else "CONN-02"), "CONNECT was not answered"
        if conn.phase is not Phase.LIVE:
            continue
        if conn.may_close and conn.may_close not in LISTENS:
            continue  # it may have stopped to listen
        for waiting in conn.requests.values():
            for each in waiting:
                if each.kind in ("PRODUCER", "SUBSCRIBE") and each.want != "success" and _probing(state):
                    continue  # it may ask first whether the one that has the place is still there
                if each.kind != "ACK" or each.about:
                    yield each.rule, f"{each.kind} was not answered"
        if conn.pings:
            yield "KA-02", "PING was not answered"
        for producer in conn.producers.values():
            for at in producer.sends:
                entry = state.entries[at]
                if entry.fate == "sent":
                    tag = next((t for t in entry.tags if t in ("FRM-08", "FRM-12", "CHK-08", "FRM-07")), "SEND-04")
                    yield tag, f"the send {entry.seq} was not answered"
                elif entry.rule == "CHK-04":
                    yield "CHK-05", f"the send {entry.seq} with a wrong checksum was not answered"
    yield from consuming.due(state)
    yield from consuming.dead(state)


def _probing(state: State) -> bool:
    """True while we have not answered a PING."""
    return any(conn.pinged for conn in state.conns.values())


def _quiet(state: State, event: Quiet) -> Outcome:
    conns = {
        number: conn._replace(
            low=conn.low + event.ms, up=conn.up + event.elapsed, idle=conn.idle + event.ms, age=conn.age + event.ms
        )
        for number, conn in state.conns.items()
    }
    state = state._replace(conns=conns, stale_ms=state.stale_ms + event.ms)
    if state.stale_ms >= FREE_MS and any(conn.phase in (Phase.LEFT, Phase.CLOSED) for conn in conns.values()):
        subs = {where: sub._replace(stale=False) if sub.stale else sub for where, sub in state.subs.items()}
        state = state._replace(subs=subs, lost={})
    wrong = _late(state)
    if wrong is not None:
        return wrong
    if not event.final:
        return Allow(state)
    lapses: list[Breach] = []
    for rule, why in due(state):
        if rule == "CHK-05":
            lapses.append(blame(rule, why, state))
            continue
        return blame(rule, why)
    covers = list(ids("FLOW-04 FLOW-03 E2E-01 SEND-05 REQ-02 ACK-09")) if state.entries else []
    covers += ids("ACK-01 ACK-02 ACK-05 ACK-06") if any(
        place.acked for sub in state.subs.values() for place in sub.places.values()) else ()  # fmt: skip
    covers += ids(" ".join(state.tried | state.done))
    if any(place.skip for sub in state.subs.values() if sub.members for place in sub.places.values()):
        covers += ids("SUB-10")
    if state.config.keepalive_ms and any(
        conn.phase is Phase.LIVE and conn.version and conn.age > 2 * state.config.keepalive_ms
        for conn in state.conns.values()
    ):  # fmt: skip
        covers += ids("KA-05 KA-06 KA-07")
    covers += ids("SEND-13") if len({entry.source for entry in state.entries}) > 1 else ()
    return Allow(state, tuple(covers), tuple(lapses))


def _late(state: State) -> Outcome | None:
    """What keep-alive demands of time."""
    keepalive = state.config.keepalive_ms
    if not keepalive:
        return None
    for number, conn in state.conns.items():
        if conn.phase is Phase.NEW and conn.low > 2 * keepalive + SLACK_MS:
            return blame("CONN-11", f"a connection on which nothing was said is open after {conn.low} ms")
        if conn.phase is not Phase.LIVE or conn.version < 1 or conn.may_close:
            continue
        if conn.low > 2 * keepalive + SLACK_MS and not conn.pinged:
            return blame("KA-03", f"no PING on the connection {number} in {conn.low} ms")
        if conn.low > 2 * keepalive + SLACK_MS and conn.pinged:
            return blame("KA-04", f"the connection {number} is open after {conn.low} ms without a sign of life")
    return None
