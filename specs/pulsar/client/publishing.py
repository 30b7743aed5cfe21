"""SEND: its frame, its metadata, its sequence id, and whether it says what the client was told to send."""

from __future__ import annotations

from typing import Any

from specs.codec import Malformed
from specs.model import Allow, Breach, Outcome
from specs.pulsar.batches import messages, unbatch
from specs.pulsar.client.state import ClientState, End, Line, base, blame, ids
from specs.pulsar.frames import Frame

EARLIEST_MS, LATEST_MS = 1_577_836_800_000, 4_102_444_800_000
"""2020 and 2100: no clock that runs shows another publish time. In seconds or microseconds it is far outside."""


def sends(state: ClientState, number: int, frame: Frame) -> Outcome:
    """SEND came."""
    line, body, meta = state.line(number), frame.body, frame.metadata()
    at = next(
        (
            i
            for i, end in enumerate(state.ends)
            if (end.kind, end.line, end.id) == ("producer", number, body.producer_id)
            and end.phase in ("open", "asked", "closed")
        ),
        None,
    )
    if at is None:
        if any((end.kind, end.line, end.id) == ("producer", number, body.producer_id) for end in state.ends):
            return Allow(state)  # it may not have read yet that its producer is closed
        return blame("SEND-01", f"SEND for producer {body.producer_id}, which was never created")
    end = state.ends[at]
    if end.phase == "asked":
        return blame("PROD-01" if end.ready else "PROD-13", "SEND before PRODUCER_SUCCESS")
    if meta is None:
        return blame("MD-01", "SEND whose metadata lack a required field")
    wrong = _framed(line, frame, meta)
    if wrong is not None:
        return wrong
    covers = list(ids("PROD-13") if end.name else ())
    covers += list(ids("PROD-01 SEND-01 MD-01 MD-02 FRM-04 FRM-14"))
    covers += ids("CHK-01 CHK-02 CHK-03") if frame.check else ids("CHK-09")
    lapses: list[Breach] = []
    if meta.producer_name != end.name or meta.sequence_id != body.sequence_id:
        why = f"metadata say {meta.producer_name!r} {meta.sequence_id}, it is {end.name!r} {body.sequence_id}"
        lapses.append(blame("MD-06", why, state))
    covers += ids("MD-06")
    covers += ids("FRM-11") if line.limit else ()
    covers += ids("FRM-08") if frame.size > 4_900_000 else ()
    if line.limit and meta.HasField("num_chunks_from_msg") and meta.num_chunks_from_msg > 1:
        return Allow(state._replace(doubt=True, payloads=()), tuple(covers))  # chunks are not judged
    batched = meta.HasField("num_messages_in_batch")
    try:
        items = messages(frame)
    except Malformed as malformed:
        rule = {"batch-rest": "BAT-02", "batch-payload-size": "BAT-03", "uncompressed-size": "MD-08"}.get(
            malformed.why, "BAT-02"
        )
        if meta.compression:
            rule = _compressed_apart(frame, meta) or ("MD-08" if not malformed.why.startswith("batch") else rule)
        return blame(rule, f"the payload of a SEND cannot be read: {malformed.why}")
    if meta.compression:
        covers += ids("MD-08") + (ids("BAT-04") if batched else ())
        if (meta.compression > 2 and line.version < 8) or line.version < 3:
            why = f"compression {meta.compression} to a broker of version {line.version}"
            lapses.append(blame("CMP-04", why, state, level="SHOULD"))
        else:
            covers += ids("CMP-04")
    if batched:
        covers += ids("BAT-01 BAT-02 BAT-03 BAT-05")
        if line.version < 4:
            lapses.append(blame("VER-02", "a batch to a broker of version 3 or older", state, level="SHOULD"))
    if body.num_messages != (len(items) if batched else 1):
        lapses.append(blame("BAT-05", f"num_messages is {body.num_messages}, {len(items)} are in it", state))
    return _sequenced(state, at, frame, items, covers, lapses)


def _framed(line: Line, frame: Frame, meta: Any) -> Outcome | None:
    version = min(line.version, line.announced)
    if frame.check == "bad":
        return blame("CHK-03", "the checksum of a SEND is wrong")
    if not frame.check and version >= 6:
        return blame("CHK-02", f"SEND without a checksum to a broker of version {line.version}")
    if frame.check and line.version < 6:
        return blame("CHK-09", f"SEND with a checksum to a broker of version {line.version}")
    if not EARLIEST_MS <= meta.publish_time <= LATEST_MS:
        return blame("MD-02", f"publish_time {meta.publish_time} is not now, in milliseconds since 1970")
    if line.limit and len(frame.headers or b"") + len(frame.payload) > line.limit:
        return blame("FRM-11", f"a message over max_message_size {line.limit}")
    return None


def _compressed_apart(frame: Frame, meta: Any) -> str:
    """BAT-04 when the messages of a batch are not compressed, or each by itself."""
    if not meta.HasField("num_messages_in_batch"):
        return ""
    try:
        unbatch(frame.payload, meta.num_messages_in_batch)
    except Malformed:
        return ""
    return "BAT-04"


def _sequenced(
    state: ClientState, at: int, frame: Frame, items: Any, covers: list[str], lapses: list[Breach]
) -> Outcome:
    end, seq = state.ends[at], frame.body.sequence_id
    if end.resend:
        known = [each for each in end.sent if each[0] == seq]
        if seq not in end.resend and known and known[0][2]:
            return blame("SEND-14", f"the message {seq} was sent again although its receipt came")
        if seq != end.resend[0]:
            return blame("SEND-14", f"after the reconnect {seq} is sent, open is {end.resend[0]}")
        if known and items and known[0][3] != items[0].payload:
            return blame("SEND-14", f"the message {seq} was sent again with another payload")
        state = state.put_end(at, end._replace(resend=end.resend[1:]))
        return Allow(state, (*covers, *ids("SEND-14 SEND-03")), tuple(lapses))
    last = end.sent[-1] if end.sent else None
    if last is not None and seq <= last[0]:
        return blame("SEND-03", f"the sequence id {seq} follows {last[0]}")
    expected = end.next if last is None else last[0] + last[1]
    if last is None and end.next and seq != end.next:
        return blame("PROD-12", f"the first sequence id is {seq}, the last one of the name was {end.next - 1}")
    if expected is not None and seq != expected:
        lapses.append(blame("SEND-02", f"the sequence id is {seq}, {expected} is next", state))
    covers += ids("SEND-02 SEND-03") + (ids("PROD-12") if last is None and end.next else ())
    for item in items:
        wrong = _told_to_send(state, end, item)
        if wrong is not None:
            return wrong
        state = _sent(state, end, item)
    covers += ids("MD-05 MD-07") if any(item.meta.properties or item.meta.partition_key for item in items) else ()
    payload = items[0].payload if items else b""
    end = end._replace(sent=(*end.sent, (seq, max(len(items), 1), False, payload)))
    return Allow(state.put_end(at, end), tuple(dict.fromkeys(covers)), tuple(lapses))


def _find_send(state: ClientState, end: End, item: Any) -> tuple[int, Any] | None:
    for i, text in enumerate(state.payloads):
        topic, payload, key, properties = text
        if payload == item.payload and topic == base(end.topic)[0]:
            return i, (key, properties)
    return None


def _told_to_send(state: ClientState, end: End, item: Any) -> Outcome | None:
    """Why this message is not the one that the client was told to send."""
    found = _find_send(state, end, item)
    if found is None:
        return blame("FRM-04", f"a message that nobody asked for: {item.payload[:60]!r}")
    at, (key, properties) = found
    earlier = [text for text in state.payloads[:at] if text[0] == base(end.topic)[0]]
    if earlier and base(end.topic)[1] is None:
        return blame("FRM-15", "messages are not sent in the order of the application")
    given = {each.key: each.value for each in item.meta.properties}
    if given != properties or len(item.meta.properties) != len(properties):
        return blame("MD-05", f"the properties {properties!r:.200} were sent as {given!r:.200}")
    sent_key = item.meta.partition_key if item.meta.HasField("partition_key") else None
    if (sent_key or None) != (key or None):
        return blame("MD-05", f"the key {key!r} was sent as {sent_key!r}")
    if key and base(end.topic)[1] is not None:
        where = state.keys.get((base(end.topic)[0], key))
        if where is not None and where != end.topic:
            return blame("MD-07", f"messages with the key {key!r} go to {where} and {end.topic}")
    return None


def _sent(state: ClientState, end: End, item: Any) -> ClientState:
    found = _find_send(state, end, item)
    if found is None:
        return state
    at, (key, _) = found
    if key:
        state = state._replace(keys={**state.keys, (base(end.topic)[0], key): end.topic})
    return state._replace(payloads=(*state.payloads[:at], *state.payloads[at + 1 :]))
