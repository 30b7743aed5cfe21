"""What a broker says: whether it may say it now, and whether it answers what was asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from specs.model import Allow, Outcome
from specs.pulsar.broker import consuming, producing, pushing
from specs.pulsar.broker.commands import ANSWERS, PLAIN_ERRORS, RULES, SINCE
from specs.pulsar.broker.discovery import discovered
from specs.pulsar.broker.owed import due
from specs.pulsar.broker.requests import spoilt
from specs.pulsar.frames import NOBODY, Frame
from specs.pulsar.states import (
    ALLOWED,
    NEXT,
    RETRY,
    Conn,
    Phase,
    Request,
    State,
    blame,
    ids,
)

OF_PRODUCERS = ("CLOSE_PRODUCER",)
OF_CONSUMERS = ("ACK", "CLOSE_CONSUMER", "UNSUBSCRIBE", "SEEK", "GET_LAST_MESSAGE_ID", "CONSUMER_STATS")
"""Requests about one that is there."""


BUSY = 5
"""The error ConsumerBusy."""


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
        if conn.hello == "success" and not conn.place and body.error not in RETRY and body.error != 10:
            return blame("CONN-02", f"CONNECT was refused: error {body.error} {body.message!r:.200}")
        lapses = []
        if conn.hello == "refusal" and (body.request_id != NOBODY or body.error != 3):
            why = f"bad credentials were answered with request id {body.request_id}, error {body.error}"
            lapses.append(blame("CONN-05", why, state))
        state = spoilt(state, number, "CONN-04", "CONNECT was refused", event="broker ERROR")
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
    conn = conn._replace(phase=NEXT[conn.phase]["broker CONNECTED"], spoken=body.protocol_version)
    return Allow(state.put(number, conn), covers, tuple(lapses))


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
            return pushing.message(state, number, frame)
        case "ACTIVE_CONSUMER_CHANGE":
            return pushing.active_change(state, number, body)
        case "CLOSE_PRODUCER":
            return _closed_producer(state, number, body)
        case "CLOSE_CONSUMER":
            return _closed_consumer(state, number, body)
        case "REACHED_END_OF_TOPIC":
            consumer = conn.consumers.get(body.consumer_id)
            if consumer is not None:
                state = state.put_consumer((number, body.consumer_id), consumer._replace(ended=True))
            elif body.consumer_id not in conn.gone:
                return blame("END-01", "REACHED_END_OF_TOPIC for an unknown consumer")
            return Allow(state, ids("END-01"))
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
    state = _crossed(state, number, OF_PRODUCERS, body.producer_id)
    return Allow(producing.gone(state, (number, body.producer_id), lost=True), ids("CLP-05 CLP-07"))


def _closed_consumer(state: State, number: int, body: Any) -> Outcome:
    conn = state.conn(number)
    if body.consumer_id not in conn.consumers:
        known = body.consumer_id in conn.gone
        return Allow(state) if known else blame("CLC-02", "CLOSE_CONSUMER for an unknown consumer", level="SHOULD")
    where = conn.consumers[body.consumer_id].sub
    if where in state.subs and any(
        each.kind == "UNSUBSCRIBE" and each.about == body.consumer_id
        for waiting in conn.requests.values() for each in waiting
    ):  # fmt: skip
        state = state.put_sub(where, state.subs[where]._replace(doubted=True))
    state = consuming.unsure(state, number, where)
    state = consuming.left(state, (number, body.consumer_id), lost=True, told=True)
    state = _crossed(state, number, OF_CONSUMERS, body.consumer_id)
    for other, name in [key for key, _ in consuming.consumers_of(state, where)]:  # it may be alone by now
        state = _crossed(state, other, ("UNSUBSCRIBE",), name)
    conn = state.conn(number)
    return Allow(state.put(number, conn._replace(gone=conn.gone | {body.consumer_id})), ids("CLC-02"))


def _crossed(state: State, number: int, kinds: tuple[str, ...], about: int) -> State:
    """The broker has closed what some requests are about that it had not read: it may refuse them, and whether an
    UNSUBSCRIBE that succeeds now was carried out nobody knows. An ACK need not be answered then."""
    conn = state.conn(number)
    for name, waiting in conn.requests.items():
        if any(each.kind in kinds and each.about == about for each in waiting):
            changed = tuple(
                each if each.kind not in kinds or each.about != about
                else each._replace(about=None) if each.kind == "ACK" else each._replace(want="either")
                for each in waiting
            )  # fmt: skip
            conn = conn._replace(requests={**conn.requests, name: changed})
    return state.put(number, conn)


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
        return discovered(state, request, body, failed, error)
    if failed:
        return _refused(state, number, request, error)
    if request.want == "error":
        found = blame(request.rule, f"{request.kind} succeeded: {request.why}", level="MUST")
        # what the broker closes of its own accord on another connection may still be on its way
        return replace(found, steady=request.rule in ("SUB-05", "SUB-11", "SUB-13", "PROD-09"))
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
    if request.want == "success" and (error not in RETRY or request.rule == "LOOK-08"):
        rule = request.rule
        if request.kind == "PRODUCER" and request.extra == "reused":
            rule = "CLP-04"
        if rule == "SUB-12" and error == BUSY:  # a name would not have helped
            rule = "SUB-01"
        # who has just named this broker knows that the topic is here, but that may change
        return replace(blame(rule, f"{request.kind} was refused: error {error}"), steady=error in RETRY)
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
            if where in state.subs and (not state.subs[where].sure or state.subs[where].doubted):
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
                # somebody else's SUBSCRIBE may have made it anew
                again = state.subs[consumer.sub]._replace(sure=False, doubted=True)
                others = any(consuming.consumers_of(state, consumer.sub))
                state = state.put_sub(consumer.sub, again if others else None)._replace(shares=shares)
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


def _sought(state: State, where: tuple[str, str], position: tuple[int, int], covers: tuple[str, ...]) -> Outcome:
    """SUCCESS came to SEEK: behind the position everything must come again that was not acknowledged. What was, or is
    older than the subscription, the broker need not have any more; whether what is there itself comes nobody says."""
    sub = state.subs.get(where)
    if sub is None:
        return Allow(state, covers)
    places = {}
    for at, place in sub.places.items():
        entry = state.entries[at]
        after = (
            entry.fate == "stored" and entry.id is not None and (position == (NOBODY, NOBODY) or entry.id > position)
        )
        places[at] = place._replace(need=state.clock) if after and place.again == "SEEK" else place
    return Allow(state.put_sub(where, sub._replace(places=places)), covers)


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
