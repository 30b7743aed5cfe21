"""What is wrong with a MESSAGE that came: asked only after a breach, the likeliest reason first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from specs.causes import Causes
from specs.codec import Malformed
from specs.pulsar.batches import unbatch
from specs.pulsar.broker.case import Case
from specs.pulsar.broker.causes_missing import CUMULATIVE
from specs.pulsar.calls import Misuse, Trait
from specs.pulsar.states import Entry, Place, Settled

UNCHANGED = "PULSAR-CHK-11"
POSITION = "PULSAR-ACK-04"
PAYLOAD = "PULSAR-FRM-04"
METADATA = "PULSAR-MD-03"
MIXED = "PULSAR-E2E-04"

# -- why an acknowledged message came again ----------------------------------------------------------------------------

ACKNOWLEDGED = Causes("acknowledged")


def _settled(*how: Settled) -> Any:
    return lambda case: _any_place(case, lambda place: place.how in how)


def _any_place(case: Case, holds: Any) -> bool:
    """True where it holds for the message that came, or where it was not acknowledged for any that was."""
    if case.frame is not None and case.place.acked:
        return bool(holds(case.place))
    return any(place.acked and holds(place) for place in _acked_in(case))


def _acked_in(case: Case) -> Iterator[Place]:
    """The messages that may show that they were acknowledged: of a subscription, or at rest of all."""
    subs = case.before.subs.values() if case.frame is None else (case.sub,)
    return (place for sub in subs for place in sub.places.values())


def _came_again(case: Any) -> str:
    return "an acknowledged message came again"


for _id, _how in (
    ("PULSAR-ACK-08", Settled.INVALID),
    ("PULSAR-ACK-11", Settled.LISTED),
    (CUMULATIVE, Settled.CUMULATIVE),
):
    ACKNOWLEDGED.cause(_id, could=_settled(_how), steady=True)(_came_again)


def _redelivered(case: Case) -> bool:
    subs = case.before.subs.values() if case.frame is None else (case.sub,)
    return any(sub.redelivered for sub in subs)


@ACKNOWLEDGED.cause("PULSAR-RED-03", could=_redelivered, steady=True)
def redelivery_brought_it(case: Any) -> str:
    """Redelivery brings only what is not acknowledged."""
    return _came_again(case)


def _of_another(case: Case) -> bool:
    """True where the consumer that had it is not the one that gets it; at rest, where it is gone."""
    if case.frame is not None and case.place.acked:
        return case.place.owner != case.pushed.key
    return any(
        place.acked and place.owner not in (None, *sub.members)
        for sub in case.before.subs.values() if sub.members for place in sub.places.values()
    )  # fmt: skip


@ACKNOWLEDGED.cause(POSITION, could=_of_another, steady=True)
def the_position_was_lost(case: Any) -> str:
    """The subscription begins before what its last consumer had acknowledged."""
    return _came_again(case)


# -- why a MESSAGE is none of those that were sent ---------------------------------------------------------------------

UNKNOWN = Causes("unknown")


def _other_topics(case: Case) -> bool:
    consumer = case.pushed.consumer
    return consumer is not None and any(entry.topic != consumer.sub[0] for entry in case.before.entries)


@UNKNOWN.cause(MIXED, could=_other_topics)
def of_another_topic(case: Case) -> str:
    """Its octets are those of a message on another topic."""
    consumer, frame = case.consumer, case.message
    for entry in case.before.entries:
        same = entry.payload == frame.payload and entry.headers == frame.headers
        if entry.topic != consumer.sub[0] and same and (entry.id is None or entry.id == case.pushed.given):
            return f"MESSAGE of topic {entry.topic} on {consumer.sub[0]}"
    return ""


def _meant(case: Case) -> Entry | None:
    """The message that it is likely to be."""
    consumer, frame = case.consumer, case.message
    return next(
        (entry for entry in case.before.entries if entry.topic == consumer.sub[0] and (
            entry.id == case.pushed.given or entry.headers == frame.headers
            or (frame.payload and entry.payload == frame.payload)
        ) and (entry.payload == frame.payload or entry.headers == frame.headers)), None
    )  # fmt: skip


@UNKNOWN.cause("PULSAR-MD-05", could=lambda case: _has(case, Trait.PROPERTIES), also=f"{METADATA} {UNCHANGED}")
def properties_were_changed(case: Case) -> str:
    """Nothing but its properties differ."""
    entry, frame = _meant(case), case.frame
    if entry is None or frame is None or entry.payload != frame.payload or Trait.PROPERTIES not in entry.traits:
        return ""
    sent, got = _metadata(entry.headers), frame.metadata()
    if sent is None or got is None or list(sent.properties) == list(got.properties):
        return ""
    return "the properties of a MESSAGE are not those that were sent, in their order"


def _metadata(headers: bytes) -> Any:
    from specs.pulsar.schema import schema  # noqa: PLC0415 - after a breach only

    return schema.MessageMetadata.FromString(headers) if headers else None


@UNKNOWN.cause(METADATA, also=UNCHANGED)
def metadata_were_changed(case: Case) -> str:
    """Its payload is that of a message that was sent, and its metadata are not."""
    entry = _meant(case)
    same = entry is not None and case.frame is not None and entry.payload == case.frame.payload
    return "the metadata of a MESSAGE are not those that were sent" if same else ""


def _has(case: Case, trait: Trait) -> bool:
    entry = case.pushed.entry
    return trait in entry.traits if entry is not None else True


@UNKNOWN.cause(Trait.COMPRESSED.value, could=lambda case: _has(case, Trait.COMPRESSED))
def compression_was_touched(case: Case) -> str:
    """Its metadata are those of a compressed message, and its payload is not."""
    meta = None if case.frame is None else case.frame.metadata()
    changed = _meant(case) is not None and meta is not None and meta.compression
    return "the payload of a compressed MESSAGE is not the one that was sent" if changed else ""


@UNKNOWN.cause("PULSAR-BAT-02", could=lambda case: _has(case, Trait.BATCHED))
def a_batch_was_laid_out_anew(case: Case) -> str:
    """Entries stand one behind the other, without a gap (seed, "Batch"): it was a batch, and cannot be taken apart."""
    entry, frame = _meant(case), case.frame
    if entry is None or frame is None or not entry.batched or not _is_batch(entry.payload, entry.many):
        return ""
    return "" if _is_batch(frame.payload, entry.many) else "a batch was sent, and its payload is none any more"


def _is_batch(payload: bytes, many: int) -> bool:
    try:
        unbatch(payload, many)
    except Malformed:
        return False
    return True


@UNKNOWN.cause(PAYLOAD)
def payload_was_changed(case: Case) -> str:
    """Its metadata are those of a message that was sent, and its payload is not."""
    return "the payload of a MESSAGE is not the one that was sent" if _meant(case) is not None else ""


def _spoken_for(misuse: Misuse) -> None:
    @UNKNOWN.cause(misuse.requirement, could=lambda case: misuse in case.before.said, also=" ".join(misuse.beside))
    def it_had_no_producer(case: Case) -> str:
        """A SEND without a producer was said on a connection."""
        odd = any(conn.may_close is misuse for conn in case.before.conns.values())
        return "MESSAGE that no producer sent" if odd else ""


for _misuse in (Misuse.SEND_BEHIND_CLOSE, Misuse.SEND_OF_NOBODY):
    _spoken_for(_misuse)
