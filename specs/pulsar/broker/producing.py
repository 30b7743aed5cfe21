"""The acceptor of a broker: producers, SENDs and their receipts.

Source: 001_c0ea8805bb7ed422.txt, "Producer".
"""

from __future__ import annotations

from typing import Any

from specs.codec import Malformed
from specs.model import Allow, Breach, Outcome
from specs.pulsar.batches import messages
from specs.pulsar.broker.consuming import message_id, published, shaken, stored
from specs.pulsar.frames import NOBODY, SAFE_TOTAL, Frame
from specs.pulsar.states import ODD_SENDS, Entry, Key, Producer, Request, State, blame, ids

CHECKSUM_ERROR = 9
"""ServerError.ChecksumError."""
QUOTA = (7, 8)
"""ServerErrors that say that a topic is full, which it may be at any time."""
KNOWN_TAGS = (
    "INV-BROKER-16",
    "INV-BROKER-17",
    "INV-BROKER-20",
    "INV-BROKER-22",
    "FRM-07",
    "FRM-08",
    "FRM-12",
    "CHK-08",
    "MD-04",
    "MD-05",
    "CMP-01",
    "BAT-06",
    "SEND-13",
)


def wanted(state: State, body: Any) -> tuple[str, str, str]:
    """What PRODUCER must be answered with: "success", "error" or "either", the rule, and why."""
    config = state.config
    fate = topic_fate(body.topic)
    if fate == "bad":
        return "error", "PROD-10", "the topic's name is none"
    if fate == "either":
        return "either", "PROD-02", ""
    if config.denied and body.topic.rpartition("/")[2].startswith(config.denied.partition("{")[0]):
        return "error", "PROD-08", "the topic may not be published to"
    if config.terminated and body.topic.rpartition("/")[2].startswith(config.terminated.partition("{")[0]):
        return "either", "PROD-02", ""
    if body.producer_name != body.producer_name.strip():
        return "either", "PROD-02", ""
    maybe = body.producer_name in state.lost.get(body.topic, frozenset())
    for conn in state.conns.values():
        for there in conn.producers.values():
            if there.topic != body.topic or not body.HasField("producer_name"):
                continue
            if body.producer_name == (there.name or there.wanted):
                if there.phase == "open" and conn.phase.name == "LIVE" and not conn.may_close:
                    return "error", "PROD-09", f"a producer named {there.name!r} is connected"
                maybe = True
            elif there.phase == "pending" and not there.wanted:
                maybe = True
    return ("either" if maybe else "success"), "PROD-02", ""


def topic_fate(topic: str) -> str:
    """ "good", "bad" for what no reading takes for a topic, or "either"."""
    scheme, colon, rest = topic.partition("://")
    if not topic or (colon and scheme not in ("persistent", "non-persistent")):
        return "bad"
    parts = rest.split("/")
    good = scheme == "persistent" and len(parts) == 3 and all(parts) and rest.isprintable() and " " not in rest
    return "good" if good else "either"


def created(state: State, number: int, request: Request, body: Any) -> Outcome:
    """PRODUCER_SUCCESS came."""
    key = (number, request.about)
    producer = state.conn(number).producers.get(request.about)
    name = body.producer_name
    covers = list(ids("PROD-02 REQ-01 REQ-02 FRM-05 SUB-02")[:4])
    if producer is None or producer.phase != "pending":
        return Allow(state, tuple(covers))
    if producer.wanted:
        if name != producer.wanted:
            return blame("PROD-06", f"the producer {producer.wanted!r} was named {name!r}")
        covers += ids("PROD-06")
    else:
        if not name:
            return blame("PROD-05", "a producer without a name")
        if name in state.made_up or any(
            there.name == name and there.topic == producer.topic
            for conn in state.conns.values() for there in conn.producers.values()
        ):  # fmt: skip
            return blame("PROD-05", f"the name {name!r} was made up for two producers")
        covers += ids("PROD-05")
        state = state._replace(made_up=state.made_up | {name})
    covers += request.covers
    if request.extra == "reused":
        covers += ids("CLP-04")
    state = state.put_producer(key, producer._replace(phase="open", name=name))
    return Allow(state, tuple(covers))


def sent(state: State, number: int, frame: Frame) -> State:  # noqa: PLR0915 - one oddity after the other
    """SEND was said."""
    body = frame.body
    conn = state.conn(number)
    producer = conn.producers.get(body.producer_id)
    if producer is None:
        rule = "CLP-01" if body.producer_id in conn.ended_producers else "SEND-11"
        return _lost_send(state, number, rule)
    if frame.headers is None and not frame.rest:
        state = state._replace(tried=state.tried | {"INV-BROKER-15"})
    if frame.headers is None or frame.odd:
        state = shaken(state, number, "FRM-14", "a SEND whose sizes lie")
    meta = frame.metadata()
    count = meta.num_messages_in_batch if meta is not None and meta.HasField("num_messages_in_batch") else 1
    batched = meta is not None and meta.HasField("num_messages_in_batch")
    fate, rule = "sent", ""
    tags: list[str] = []
    if frame.check == "bad":
        fate, rule = "doubtful", "CHK-04"
        state = shaken(state, number, "CHK-05", "a SEND with a wrong checksum")
    elif frame.headers is None or meta is None:
        fate, rule = "doubtful", "FRM-14"
    elif producer.phase != "open" or not frame.whole:
        fate = "doubtful"
        rule = "CLP-01" if producer.phase == "closing" else ""
        state = shaken(state, number, "CLP-01", "a SEND to a producer that is closed")
    elif frame.size > SAFE_TOTAL or (state.config.terminated and _terminated(state, producer.topic)):
        fate = "doubtful"
    elif frame.size > SAFE_TOTAL - 4096:
        tags.append("FRM-08")
    if not frame.check:
        tags.append("CHK-08")
    if meta is not None:
        if meta.compression:
            tags.append("CMP-01")
        if meta.properties:
            tags.append("MD-04")
        if batched:
            tags.append("BAT-06")
        if count <= 0 or (batched and count != body.num_messages):
            tags.append("INV-BROKER-16")
            count = max(count, body.num_messages, 1)  # which of the two counts is free
        if batched and not sound(frame):
            tags.append("INV-BROKER-17")
        if body.HasField("highest_sequence_id") and body.highest_sequence_id < body.sequence_id:
            tags.append("INV-BROKER-22")
    seqs = [there.seq for there in state.entries if there.source == (number, body.producer_id) and not there.rule]
    if seqs and body.sequence_id <= max(seqs) and body.producer_id not in conn.ended_producers:
        tags.append("INV-BROKER-20")
    if conn.midway:
        tags.append("FRM-07")
    if unknown(frame):
        tags.append("FRM-12")
    if fate == "sent" and (odd := next((tag for tag in tags if tag in ODD_SENDS), "")):
        fate = "doubtful"  # nobody says whether a broker looks into it: it may store, refuse, or end the connection
        state = shaken(state, number, odd, "a SEND that contradicts itself")
    entry = Entry(producer.topic, (number, body.producer_id), body.sequence_id, frame.headers or b"", frame.payload,
                  count, batched, frame.check, fate, rule, at=state.clock, floor=state.tops.get(producer.topic),
                  tags=tuple(tags), name=producer.name)  # fmt: skip
    at = len(state.entries)
    state = state._replace(entries=(*state.entries, entry))
    producer = producer._replace(sends=(*producer.sends, at))
    state = state.put_producer((number, body.producer_id), producer)
    return published(state, at)


def _terminated(state: State, topic: str) -> bool:
    return topic.rpartition("/")[2].startswith(state.config.terminated.partition("{")[0])


def unknown(frame: Frame) -> bool:
    """True when the command has fields that the schema does not know."""
    from google.protobuf.unknown_fields import UnknownFieldSet  # noqa: PLC0415 - rarely asked for

    return len(UnknownFieldSet(frame.command)) > 0 or len(UnknownFieldSet(frame.body)) > 0


def sound(frame: Frame) -> bool:
    """True when a batch can be taken apart."""
    try:
        messages(frame)
    except Malformed:
        return False
    return True


def _lost_send(state: State, number: int, rule: str) -> State:
    """A SEND of a producer that is not there: no receipt may come, and the connection may end."""
    return shaken(state, number, rule, "a SEND without a producer")


def receipt(state: State, number: int, body: Any) -> Outcome:
    """SEND_RECEIPT came."""
    conn = state.conn(number)
    producer = conn.producers.get(body.producer_id)
    if producer is None:
        rule = conn.may_close if conn.may_close in ("SEND-11", "CLP-01") else "SEND-04"
        if body.producer_id in conn.ended_producers:
            rule = "CLP-01"
        return blame(rule, f"receipt for producer {body.producer_id}, which is not open")
    open_sends = [(nth, at, state.entries[at]) for nth, at in enumerate(producer.sends)]
    nth, at, entry = next(
        (each for each in open_sends if each[2].seq == body.sequence_id and not each[2].rule),
        next((each for each in open_sends if each[2].seq == body.sequence_id), (0, -1, None)),
    )
    if entry is None:
        if open_sends and open_sends[0][2].fate == "sent":
            why = f"receipt for {body.sequence_id}, what is open is {open_sends[0][2].seq}"
            return blame("SEND-04", why)
        return blame("SEND-10", f"a second or invented answer to the send {body.sequence_id}")  # fmt: skip
    if entry.rule:
        return blame(entry.rule, f"a receipt came for the send {entry.seq}, which must not be stored")
    before = next((other for _, other, there in open_sends[:nth] if there.fate == "sent"), None)
    if before is not None:
        why = f"receipt for {entry.seq} before the one for {state.entries[before].seq}"
        return blame("SEND-06", why)
    producer = producer._replace(sends=(*producer.sends[:nth], *producer.sends[nth + 1 :]))
    covers = list(ids("SEND-04 SEND-06 SEND-10 FRM-15"))
    covers += ids(" ".join(tag for tag in entry.tags if tag in KNOWN_TAGS))
    given = message_id(body.message_id) if body.HasField("message_id") else None
    if given == (NOBODY, NOBODY) and (state.config.dedup or "INV-BROKER-20" in entry.tags):
        state = state.put_producer((number, body.producer_id), producer)
        return Allow(state.put_entry(at, entry._replace(fate="refused")), ids("SEND-16"))
    first = _first(state, entry) if state.config.dedup else None
    if first is not None and given is not None and (given == first.id or first.source == entry.source):
        if given != first.id:
            return blame("SEND-16", f"the sequence id {entry.seq} was confirmed before, and is stored again as {given}")
        state = state.put_producer((number, body.producer_id), producer)
        return Allow(state.put_entry(at, entry._replace(fate="refused")), ids("SEND-16"))
    if given is None:
        return blame("SEND-07", "a receipt without a message id")
    wrong = _bad_id(state, producer, entry, given)
    if wrong is not None:
        return wrong
    covers += ids("SEND-07 SEND-08")
    top = state.tops.get(entry.topic)
    state = state._replace(ids=state.ids | {given}, tops={**state.tops, entry.topic: max(given, top or given)})
    state = state.put_entry(at, entry._replace(fate="stored", id=given))
    state = state.put_producer((number, body.producer_id), producer._replace(top=given))
    return Allow(stored(state, at), tuple(dict.fromkeys(covers)))


def _first(state: State, entry: Entry) -> Entry | None:
    """The message with the same sequence id of a producer of the same name whose receipt had come when this one was
    sent: one of the same connection, if there is one."""
    found = [
        there for there in state.entries
        if (there.topic, there.name, there.seq, there.fate) == (entry.topic, entry.name, entry.seq, "stored")
        and there.name and there.at < entry.at
        and there.id is not None and entry.floor is not None and there.id <= entry.floor
    ]  # fmt: skip
    return max(found, key=lambda there: (there.source == entry.source, there.at), default=None)


def _bad_id(state: State, producer: Producer, entry: Entry, given: tuple[int, int]) -> Outcome | None:
    if entry.id is not None and given != entry.id:
        return blame("SEND-09", f"the receipt has {given}, the consumer got {entry.id}")
    if given in state.ids:
        return blame("SEND-07", f"the id {given} was given twice")
    if producer.top is not None and given <= producer.top:
        return blame("SEND-08", f"the id {given} follows {producer.top} on one producer")
    if entry.floor is not None and given <= entry.floor:
        return blame("SEND-08", f"the id {given} was given after {entry.floor} on one topic")
    return None


def send_error(state: State, number: int, body: Any) -> Outcome:
    """SEND_ERROR came."""
    conn = state.conn(number)
    producer = conn.producers.get(body.producer_id)
    if producer is None:
        if conn.may_close in ("SEND-11", "CLP-01") or body.producer_id in conn.ended_producers:
            return Allow(state, ids(conn.may_close) if conn.may_close else ())
        return blame("SEND-10", f"SEND_ERROR for producer {body.producer_id}, which is not open")
    candidates = [at for at in producer.sends if state.entries[at].seq == body.sequence_id]
    doubtful = [at for at in candidates if state.entries[at].fate == "doubtful"]
    if not candidates:
        rule = "CHK-05" if any(state.entries[at].rule == "CHK-04" for at in producer.sends) else "SEND-10"
        return blame(rule, f"SEND_ERROR for {body.sequence_id}, which is not open")
    at = (doubtful or candidates)[0]
    entry = state.entries[at]
    if entry.fate == "sent" and body.error not in QUOTA:
        rule = next((tag for tag in entry.tags if tag in ("CHK-08", "FRM-12", "FRM-08", "FRM-07")), "SEND-04")
        why = f"a send was refused for no reason: {entry.seq}, error {body.error}"
        return blame(rule, why)
    lapses: list[Breach] = []
    covers = ids("SEND-10")
    if entry.rule == "CHK-04":
        covers = ids("CHK-04 CHK-05")
        if body.error != CHECKSUM_ERROR:
            lapses.append(blame("CHK-05", f"the wrong checksum was answered with error {body.error}", state))
    elif entry.rule:
        covers = ids(entry.rule)
    sends = tuple(each for each in producer.sends if each != at)
    state = state.put_producer((number, body.producer_id), producer._replace(sends=sends))
    return Allow(
        state.put_entry(at, entry._replace(rule=entry.rule or "SEND-10", fate="doubtful")), covers, tuple(lapses)
    )


def reused(state: State, number: int, producer_id: int) -> bool:
    """True when the id was that of a producer that is closed."""
    return producer_id in state.conn(number).ended_producers


def gone(state: State, key: Key, *, lost: bool = False) -> State:
    """A producer is gone: what it had not got receipts for may be stored or not."""
    conn = state.conn(key[0])
    producer = conn.producers.get(key[1])
    if producer is None:
        return state
    if lost:
        names = state.lost.get(producer.topic, frozenset()) | {producer.name, producer.wanted}
        state = state._replace(lost={**state.lost, producer.topic: names})
    else:  # nobody comes back with this name: it may be made up again
        state = state._replace(made_up=state.made_up - {producer.name})
    state = state.put_producer(key, None)
    conn = state.conn(key[0])
    return state.put(key[0], conn._replace(ended_producers=conn.ended_producers | {key[1]}))
