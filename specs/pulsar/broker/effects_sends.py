"""What becomes of the SENDs of the tester, and of its producers."""

from __future__ import annotations

from typing import Any

from google.protobuf.unknown_fields import UnknownFieldSet

from specs.codec import Malformed
from specs.pulsar.batches import messages
from specs.pulsar.broker import topics
from specs.pulsar.broker.effects_subscriptions import published, shaken
from specs.pulsar.calls import ODD_SENDS, Misuse, Trait
from specs.pulsar.frames import SAFE_TOTAL, Frame
from specs.pulsar.states import Conn, Entry, Fate, Key, Producer, State

__all__ = ["gone", "sent"]
LARGE = 1 << 20
"""Octets of a frame whose size may be the reason that it is not taken."""


def sent(state: State, number: int, frame: Frame) -> State:
    """SEND was said."""
    body = frame.body
    conn = state.conn(number)
    producer = conn.producers.get(body.producer_id)
    if producer is None:  # no receipt may come, and the connection may end
        closed = body.producer_id in conn.ended_producers
        misuse = Misuse.SEND_BEHIND_CLOSE if closed else Misuse.SEND_OF_NOBODY
        return shaken(state, number, misuse, "a SEND without a producer")
    if frame.headers is None or frame.odd:
        state = shaken(state, number, Misuse.LYING_SEND, "a SEND whose sizes lie")
    if frame.headers is None and not frame.rest:
        bare = Misuse.SEND_WITHOUT_PAYLOAD
        state = state._replace(said=state.said - {Misuse.LYING_SEND} | {bare}, latest=bare)
    meta = frame.metadata()
    state, fate = _fate(state, number, frame, meta, producer)
    odd = _odd(state, number, frame, meta)
    if fate is Fate.SENT and odd is not None:
        fate = Fate.DOUBTFUL  # nobody says whether a broker looks into it: it may store, refuse, or end the connection
        state = shaken(state, number, odd, "a SEND that contradicts itself")
    batched = _batched(meta)
    many = meta.num_messages_in_batch if batched else 1
    if batched and (many <= 0 or many != body.num_messages):
        many = max(many, body.num_messages, 1)  # which of the two counts is free
    entry = Entry(producer.topic, (number, body.producer_id), body.sequence_id, frame.headers or b"", frame.payload,
                  many, batched, frame.check, fate, at=state.clock, floor=state.tops.get(producer.topic),
                  traits=_traits(conn, frame, meta, fate), odd=odd, name=producer.name)  # fmt: skip
    at = len(state.entries)
    state = state._replace(entries=(*state.entries, entry))
    producer = producer._replace(sends=(*producer.sends, at))
    state = state.put_producer((number, body.producer_id), producer)
    return published(state, at)


def _batched(meta: Any) -> bool:
    return meta is not None and bool(meta.HasField("num_messages_in_batch"))


def _fate(state: State, number: int, frame: Frame, meta: Any, producer: Producer) -> tuple[State, Fate]:
    """Whether it will be stored."""
    if frame.check == "bad":
        return shaken(state, number, Misuse.CHECKSUM, "a SEND with a wrong checksum"), Fate.CHECKSUM
    if frame.headers is None or meta is None:
        return state, Fate.SIZES
    if producer.phase != "open" or not frame.whole:
        state = shaken(state, number, Misuse.SEND_BEHIND_CLOSE, "a SEND to a producer that is closed")
        return state, Fate.BEHIND_CLOSE if producer.phase == "closing" else Fate.DOUBTFUL
    doubtful = frame.size > SAFE_TOTAL or topics.terminated(state.config, producer.topic)
    return state, Fate.DOUBTFUL if doubtful else Fate.SENT


def _traits(conn: Conn, frame: Frame, meta: Any, fate: Fate) -> tuple[Trait, ...]:
    """Ways of sending that must not matter."""
    found = {
        Trait.BARE: not frame.check,
        Trait.UNKNOWN: bool(len(UnknownFieldSet(frame.command)) or len(UnknownFieldSet(frame.body))),
        Trait.BIG: fate is Fate.SENT and frame.size > LARGE,
        Trait.PIECES: conn.midway,
        Trait.PROPERTIES: meta is not None and bool(meta.properties),
        Trait.COMPRESSED: meta is not None and bool(meta.compression),
        Trait.BATCHED: _batched(meta),
    }
    return tuple(trait for trait, has in found.items() if has)


def _odd(state: State, number: int, frame: Frame, meta: Any) -> Misuse | None:
    """What a SEND says of itself and is not true, or not in order: the first in the order of `ODD_SENDS`."""
    body, conn = frame.body, state.conn(number)
    source = number, body.producer_id
    seqs = [there.seq for there in state.entries if there.source == source and there.fate in COUNTED]
    falling = bool(seqs) and body.sequence_id <= max(seqs) and body.producer_id not in conn.ended_producers
    if meta is None:
        return Misuse.FALLING if falling else None
    batched, many = _batched(meta), meta.num_messages_in_batch
    found = {
        Misuse.MISCOUNTED: batched and (many <= 0 or many != body.num_messages),
        Misuse.BROKEN_BATCH: batched and not _sound(frame),
        Misuse.FALLING: falling,
        Misuse.LOW_HIGHEST: body.HasField("highest_sequence_id") and body.highest_sequence_id < body.sequence_id,
    }
    return next((misuse for misuse in ODD_SENDS if found[misuse]), None)


COUNTED = (Fate.SENT, Fate.STORED, Fate.REFUSED, Fate.DOUBTFUL)
"""SENDs whose sequence ids count."""


def _sound(frame: Frame) -> bool:
    """True when a batch can be taken apart."""
    try:
        messages(frame)
    except Malformed:
        return False
    return True


def gone(state: State, key: Key, *, lost: bool = False) -> State:
    """A producer is gone: what it had not got receipts for may be stored or not."""
    conn = state.conn(key[0])
    producer = conn.producers.get(key[1])
    if producer is None:
        return state
    if lost:
        names = state.lost.get(producer.topic, frozenset()) | {producer.name, producer.wanted}
        state = state._replace(lost={**state.lost, producer.topic: names})
    state = state.put_producer(key, None)
    conn = state.conn(key[0])
    return state.put(key[0], conn._replace(ended_producers=conn.ended_producers | {key[1]}))
