"""What the tester says to a client, as its broker: what the client has to know and to do from then on."""

from __future__ import annotations

import zlib
from typing import Any

from specs.codec import Malformed
from specs.events import Noise
from specs.pulsar.batches import MAX_PAYLOAD, ZLIB, Single, messages
from specs.pulsar.client.state import ClientState
from specs.pulsar.frames import NOBODY, Frame

ANSWERING = {"PRODUCER_SUCCESS", "SUCCESS", "ERROR", "LOOKUP_RESPONSE", "PARTITIONED_METADATA_RESPONSE"}


def _tried(state: ClientState, number: int) -> ClientState:
    """Something odd was said: the row of the table of invalid input."""
    return state._replace(tried=state.tried | {f"INV-CLIENT-{number:02}"})


def _spoil(state: ClientState, number: int, why: str, must: str = "") -> ClientState:
    line = state.line(number)
    return state._replace(odd=True).put(number, line._replace(odd=line.odd or why, must=line.must or must))


def no_frame(state: ClientState, event: Noise) -> ClientState:
    """Octets of ours that are no frame: the connection must end, where the text leaves no doubt."""
    row, rule = {
        "over-limit": (15, "FRM-10"),
        "command-size": (17, "FRM-14"),
        "no-sub-message": (19, "INV-CLIENT-19"),
    }.get(event.why, (17, "FRM-13"))
    if event.data[:4] == bytes(4):
        row, rule = 16, "FRM-13"
    if event.why == "over-limit":
        state = state._replace(doubt=True)
    return _spoil(_tried(state, row), event.conn, f"octets that are no frame: {event.why}", rule)


def said(state: ClientState, number: int, frame: Frame) -> ClientState:
    """What the tester said as the broker."""
    line, kind, body = state.line(number)._replace(probe=False, low=0), frame.kind, frame.body
    state = state._replace(idle=0).put(number, line)
    if kind == "CONNECTED":
        if line.welcomed or not line.greeted:
            return _spoil(_tried(state._replace(doubt=True), 24), number, "CONNECTED out of place")
        limit = body.max_message_size if body.HasField("max_message_size") else 0
        return state.put(number, line._replace(welcomed=True, version=body.protocol_version, limit=limit))
    if not line.welcomed:
        row = {"ERROR": 26, "AUTH_CHALLENGE": 27, "PING": 28}.get(kind, 24)
        return _spoil(_tried(state._replace(doubt=True), row), number, f"{kind} before CONNECTED")
    if not frame.whole:
        state = _spoil(_tried(state._replace(doubt=True), 20), number, "two sub-messages in one command")
    if frame.odd and kind != "MESSAGE":
        return _spoil(_tried(state._replace(doubt=True), 18), number, frame.odd)
    if frame.broker is not None:
        state = _tried(state, 4)
    if kind == "PING":
        return state.put(number, line._replace(pings=line.pings + 1))
    if kind == "MESSAGE":
        return _push(state, number, frame)
    if kind == "SEND_RECEIPT":
        return _receipted(state, number, body)
    if kind in ("CLOSE_PRODUCER", "CLOSE_CONSUMER"):
        what = "producer" if kind == "CLOSE_PRODUCER" else "consumer"
        name = body.producer_id if what == "producer" else body.consumer_id
        for at, end in enumerate(state.ends):
            if (end.kind, end.line, end.id) == (what, number, name) and end.phase == "open":
                return _lose(state, at)
        return _tried(state, 23)._replace(odd=True)
    if kind == "SEND_ERROR":
        return _failed_send(state, number, body)
    if kind in ANSWERING:
        return _answer(state, number, frame)
    if kind == "ACK_RESPONSE":
        waiting = tuple(each for each in line.open if each[:2] != ("ack", body.request_id))
        return state.put(number, line._replace(open=waiting))
    if kind == "PONG":
        return state.put(number, line._replace(unanswered=False))
    if kind == "ACTIVE_CONSUMER_CHANGE":
        return state
    row = {"REACHED_END_OF_TOPIC": 25}.get(kind, 24)
    return _spoil(_tried(state._replace(doubt=True), row), number, f"{kind} from a broker")


def _failed_send(state: ClientState, number: int, body: Any) -> ClientState:
    """SEND_ERROR: the send fails, or is tried again on another connection."""
    state = _tried(state, 31 if body.error == 9 else 32)._replace(doubt=True)
    if body.error != 9:
        state = _spoil(state, number, "SEND_ERROR")
    return state


def _lose(state: ClientState, at: int, *, forced: bool = True, cut: bool = False) -> ClientState:
    end = state.ends[at]
    unsure = tuple((mid, item, good, False) for mid, item, good, _ in end.queue)
    resend = tuple(seq for seq, _, done, _ in end.sent if not done)
    return state.put_end(
        at, end._replace(phase="lost", granted=0, pushed=0, queue=unsure, resend=resend, forced=forced, cut=cut)
    )


def lost(state: ClientState, number: int, *, forced: bool = True) -> ClientState:
    """A connection is over: what was on it must be made again."""
    for at, end in enumerate(state.ends):
        if end.line == number and end.phase in ("open", "asked"):
            state = _lose(state, at, forced=forced, cut=True)
    line = state.line(number)
    return state.put(number, line._replace(over=True, open=(), pings=0))


def _answer(state: ClientState, number: int, frame: Frame) -> ClientState:
    line, kind, body = state.line(number), frame.kind, frame.body
    if kind == "ERROR" and body.request_id == NOBODY:
        return _tried(state, 22)._replace(odd=True)
    family = {"LOOKUP_RESPONSE": "lookup", "PARTITIONED_METADATA_RESPONSE": "metadata"}.get(kind, "rest")
    asked = next((each for each in line.open if each[:2] == (family, body.request_id)), None)
    if asked is None:
        return _tried(state, 21)._replace(odd=True)
    topic = asked[2]
    pending = kind == "PRODUCER_SUCCESS" and body.HasField("producer_ready") and not body.producer_ready
    if not pending:
        state = state.put(number, line._replace(open=tuple(each for each in line.open if each is not asked)))
    if kind == "LOOKUP_RESPONSE":
        if body.response == 1 and body.brokerServiceUrl:
            state = state.look(topic, 1)
            places = state.named.get(topic, frozenset()) | {_place(body)}
            state = state._replace(named={**state.named, topic: places})
            redirects = {key: value for key, value in state.redirects.items() if key != topic}
            return state._replace(redirects=redirects)
        if body.response == 0 and body.brokerServiceUrl:
            count = state.redirects[topic][1] + 1 if topic in state.redirects else 1
            return state._replace(
                redirects={**state.redirects, topic: (body.authoritative, count, _place(body), False)}
            )
        return state._replace(doubt=True)
    if kind == "PARTITIONED_METADATA_RESPONSE":
        if body.response == 0 and body.HasField("response"):
            return state._replace(partitions={**state.partitions, topic: body.partitions})
        return state._replace(doubt=True)
    at = next((i for i, end in enumerate(state.ends) if (end.line, end.request) == (number, body.request_id)
               and end.phase == "asked"), None)  # fmt: skip
    if kind == "ERROR":
        what = "" if at is None else state.ends[at].kind
        state = _tried(state._replace(doubt=True), 34 if what == "producer" else 33)
        return state if at is None else state.put_end(at, state.ends[at]._replace(phase="closed"))
    if at is not None:
        end = state.ends[at]
        fields: dict[str, Any] = {"phase": "open", "ready": not pending}
        if kind == "PRODUCER_SUCCESS":
            if pending:
                return state.put_end(at, end._replace(ready=False))
            fields["name"] = body.producer_name
            first = body.last_sequence_id + 1 if body.HasField("last_sequence_id") else 0
            if not end.sent:  # made again, it may go on from what it was told first
                fields["next"] = first if end.next in (None, first) else None
        state = state.look(end.topic, -1)
        return state.put_end(at, end._replace(**fields))
    return state


def _place(body: Any) -> str:
    """The address that a URL names."""
    return str(body.brokerServiceUrl).partition("://")[2]


def _receipted(state: ClientState, number: int, body: Any) -> ClientState:
    for at, end in enumerate(state.ends):
        if (end.kind, end.line, end.id) == ("producer", number, body.producer_id):
            waiting = [i for i, sent in enumerate(end.sent) if not sent[2]]
            if waiting and end.sent[waiting[0]][0] == body.sequence_id:
                i = waiting[0]
                seq, count, _, payload = end.sent[i]
                return state.put_end(
                    at, end._replace(sent=(*end.sent[:i], (seq, count, True, payload), *end.sent[i + 1 :]))
                )
            if any(end.sent[i][0] == body.sequence_id for i in waiting):
                state = _tried(state._replace(doubt=True), 30)
                return _spoil(state, number, "a receipt ahead of the oldest message that is open", "SEND-15")
            return state._replace(odd=True)
    return _tried(state, 29)._replace(odd=True)


def _push(state: ClientState, number: int, frame: Frame) -> ClientState:
    body = frame.body
    mid = (body.message_id.ledgerId, body.message_id.entryId)
    at = next((i for i, end in enumerate(state.ends) if (end.kind, end.line, end.id, end.phase)
               == ("consumer", number, body.consumer_id, "open")), None)  # fmt: skip
    if frame.odd or frame.metadata() is None:
        row = 6 if not frame.rest and frame.headers is None else 3 if frame.rest[:2] == b"\x0e\x09" else 5
        state = _tried(state._replace(doubt=True), row)
        return _spoil(state, number, "a MESSAGE whose sizes lie", "FRM-14")
    if at is None:
        return _tried(state, 7)._replace(odd=True, unread=(*state.unread, "MSG-04"))
    end = state.ends[at]
    meta = frame.metadata()
    rule, error, items = "", 0, []
    if not frame.check:
        state = _tried(state, 2)
    if end.pushed >= end.granted:  # whoever has no room for it may drop it, or end the connection
        state = _tried(state._replace(doubt=True), 35)
    if frame.check == "bad":
        rule, error = "CHK-07 CHK-06", 2
        state = _tried(state, 1)
    else:
        try:
            items = messages(frame)
        except Malformed as malformed:
            if malformed.why.startswith("batch"):
                rule, error = "BAT-09 BAT-08", 3
                row = 12 if frame.payload[:1] >= b"\x7f" else 11
                if malformed.why == "batch-payload-size":
                    row = 14 if b"\xff\xff\xff" in frame.payload else 13
                state = _tried(state, row)
            elif malformed.why == "uncompressed-size":
                rule, error = "CMP-03 CMP-02", 0
                items = _in_spite_of_its_size(frame)
                state = _tried(state, 10)
            else:
                rule, error = "CMP-02 CMP-02", 1
                state = _tried(state, 9 if meta.compression == 1 else 8)
    if rule:
        state = state._replace(
            refused=(*state.refused, (mid, error, rule)), odd=True, unread=(*state.unread, rule.split()[1])
        )
        count = meta.num_messages_in_batch if meta.HasField("num_messages_in_batch") else 1
        believed = tuple(((mid, -1, 1), (item.payload, None, ()), False, False) for item in items)
        state = state._replace(pushed={**state.pushed, mid: end.topic})
        return state.put_end(at, end._replace(queue=(*end.queue, *believed), pushed=end.pushed + max(count, 1)))
    state = state._replace(pushed={**state.pushed, mid: end.topic})
    queue = list(end.queue)
    batched = meta.HasField("num_messages_in_batch")
    for n, item in enumerate(items):
        key = item.meta.partition_key if item.meta.HasField("partition_key") else None
        properties = tuple((each.key, each.value) for each in item.meta.properties)
        queue.append(((mid, n if batched else -1, len(items)), (item.payload, key, properties), batched, True))
    pushed = end.pushed + len(items)
    return state.put_end(at, end._replace(queue=tuple(queue), pushed=pushed))


def _in_spite_of_its_size(frame: Frame) -> list[Single]:
    """What a client may read that does not look at `uncompressed_size`: to refuse it is a recommendation only."""
    meta = frame.metadata()
    if meta is None or meta.compression != ZLIB or meta.HasField("num_messages_in_batch"):
        return []
    stream = zlib.decompressobj()
    payload = stream.decompress(frame.payload, MAX_PAYLOAD)
    return [Single(meta, payload)] if stream.eof else []
