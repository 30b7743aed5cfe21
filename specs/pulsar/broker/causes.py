"""Why something is wrong with a broker: asked only after a breach, the likeliest reason first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from specs.causes import Causes, Named
from specs.codec import Malformed
from specs.pulsar.batches import unbatch
from specs.pulsar.broker.case import Case, Missing
from specs.pulsar.broker.effects_subscriptions import SINGLE
from specs.pulsar.machine import HANDSHAKE, Phase
from specs.pulsar.states import FAILOVER, Again, Asked, Entry, Fate, Key, Misuse, Place, Settled, State, Sub, Trait

PERMITS_ADD_UP = "PULSAR-FLOW-03"
LOST = "PULSAR-E2E-01"
LIVENESS = "PULSAR-FLOW-04"
ONLY_THE_MASTER = "PULSAR-FAIL-01"
ONE_OF_THEM = Asked.SUBSCRIBE_SHARED.requirement
RECEIPT = "PULSAR-SEND-04"
LISTED = "PULSAR-RED-02"
UNCHANGED = "PULSAR-CHK-11"
ANY_CLIENT = "PULSAR-CONN-09"
KEPT_WHEN_CLOSED = "PULSAR-CLC-03"
CUMULATIVE = "PULSAR-ACK-03"
ACKED_ALONE = "PULSAR-ACK-02"
POSITION = "PULSAR-ACK-04"
SURVIVES_CONSUMERS = "PULSAR-SUB-09"
INDEPENDENT = "PULSAR-SUB-08"
TAKES_OVER = "PULSAR-FAIL-03"
PERSISTED = "PULSAR-SEND-05"
PAYLOAD = "PULSAR-FRM-04"
METADATA = "PULSAR-MD-03"
OPENS_AT_ONCE = "PULSAR-CONN-12"
MIXED = "PULSAR-E2E-04"

# -- why a SEND was refused, or not answered ---------------------------------------------------------------------------

SENDING = Causes("sending")
NOT_TAKEN = "a SEND was not taken"
"""How all of them begin: what a SEND that fails without it carries is not the reason."""


def _sent_in(trait: Trait) -> None:
    @SENDING.cause(trait.value, could=lambda case: trait in case.entry.traits)
    def it_matters_how_it_was_sent(case: Any) -> str:
        """A way of sending that must not matter."""
        return f"{NOT_TAKEN}: {case.entry.seq}, which was {_WAYS[trait]}"


_WAYS = {
    Trait.BARE: "without a checksum", Trait.UNKNOWN: "with an unknown field", Trait.BIG: "large",
    Trait.PIECES: "cut into segments", Trait.PROPERTIES: "with properties", Trait.COMPRESSED: "compressed",
    Trait.BATCHED: "a batch",
}  # fmt: skip
for _trait in (Trait.BARE, Trait.UNKNOWN, Trait.BIG, Trait.PIECES):
    _sent_in(_trait)


def _others_failed(case: Any) -> bool:
    entries = case.before.entries
    return any(
        each.source != case.entry.source and each.at < case.entry.at
        and each.fate in (Fate.CHECKSUM, Fate.SIZES, Fate.BEHIND_CLOSE, Fate.FAILED) for each in entries
    )  # fmt: skip


@SENDING.cause("PULSAR-SEND-13", could=_others_failed)
def another_producer_had_failed(case: Any) -> str:
    """A SEND of another producer was wrong."""
    return f"{NOT_TAKEN}: {case.entry.seq}, after one of another producer had failed"


# -- why a message was not delivered -----------------------------------------------------------------------------------

MISSING = Causes("missing")


def _why(case: Missing, more: str) -> str:
    return (
        f"a message was not delivered, with permits for it: sequence id {case.entry.seq} on {case.entry.topic}, {more}"
    )


def _acked_others(case: Any) -> bool:
    """True when it lies before what was acknowledged, or other things that were not came again."""
    place, sub = case.place, case.sub
    if not place.pushed or place.again not in (Again.REDELIVER, Again.CLOSED, Again.LOST):
        return False
    return any(there.acked for there in sub.places.values()) and (sub.cumulative or any(
        _before_acked(case.before, case.entry, other, there) or (there.pushed > 1 and not there.acked)
        for other, there in sub.places.items()
    ))  # fmt: skip


def _before_acked(state: State, entry: Entry, other: int, there: Place) -> bool:
    given = state.entries[other].id
    return bool(there.acked and entry.id and given and entry.id < given)


def _acked_elsewhere(case: Any) -> bool:
    return any(
        where[0] == case.entry.topic and sub is not case.sub and (there := sub.places.get(case.at)) and there.acked
        for where, sub in case.before.subs.items()
    )  # fmt: skip


@MISSING.cause("PULSAR-ACK-06", could=_acked_elsewhere, also=LOST)
def acknowledged_on_another_subscription(case: Any) -> str:
    """Only on another subscription was it acknowledged, and so was everything else that is missing."""
    needed = [at for at, place in case.sub.places.items() if place.need and not place.acked]
    others = [sub for where, sub in case.before.subs.items() if where[0] == case.entry.topic and sub is not case.sub]
    same = all(any((there := sub.places.get(at)) and there.acked for sub in others) for at in needed)
    return _why(case, "it was acknowledged only on another subscription") if same else ""


@MISSING.cause(CUMULATIVE, could=lambda case: case.sub.cumulative and _acked_others(case), also=LOST)
def taken_for_cumulatively_acknowledged(case: Any) -> str:
    """It was not covered by the cumulative acknowledgement."""
    return _why(case, "only others were acknowledged")


@MISSING.cause(ACKED_ALONE, could=lambda case: not case.sub.cumulative and _acked_others(case), also=LOST)
def taken_for_acknowledged(case: Any) -> str:
    """Others were acknowledged, each by itself."""
    return _why(case, "only others were acknowledged")


def _again(again: Again) -> Any:
    return lambda case: case.place.again is again


@MISSING.cause(OPENS_AT_ONCE, could=_again(Again.LOST), also=LOST)
def its_connection_is_gone(case: Any) -> str:
    """The consumer that had it lost its connection."""
    return _why(case, "the connection of the consumer that had it is gone")


@MISSING.cause("PULSAR-RED-01", could=lambda case: _again(Again.REDELIVER)(case) and case.sub.kind in SINGLE, also=LOST)
def redelivery_of_all(case: Any) -> str:
    """Redelivery was asked for."""
    return _why(case, Again.REDELIVER.value)


@MISSING.cause(LISTED, could=lambda case: _again(Again.REDELIVER)(case) and case.sub.kind not in SINGLE, also=LOST)
def redelivery_of_the_listed(case: Any) -> str:
    """Redelivery was asked for, of a Shared subscription."""
    return _why(case, Again.REDELIVER.value)


@MISSING.cause(Asked.SEEK.requirement, could=_again(Again.SOUGHT), also=LOST)
def behind_the_position(case: Any) -> str:
    """It is behind the position that was sought."""
    return _why(case, Again.SOUGHT.value)


@MISSING.cause(
    TAKES_OVER,
    could=lambda case: _again(Again.TAKEN_OVER)(case) or (_again(Again.CLOSED)(case) and case.sub.kind == FAILOVER),
    also=LOST,
)
def another_consumer_took_over(case: Any) -> str:
    """Who takes over gets what the master had."""
    return _why(case, Again.TAKEN_OVER.value)


@MISSING.cause(KEPT_WHEN_CLOSED, could=lambda case: _again(Again.CLOSED)(case) and case.sub.kind != FAILOVER, also=LOST)
def its_consumer_is_gone(case: Any) -> str:
    """Whoever subscribes next gets it."""
    return _why(case, Again.CLOSED.value)


def _tells(case: Any, trait: Trait) -> bool:
    """True when a way of sending tells what is missing from what was delivered."""
    entries = case.before.entries
    marked = [(trait in entries[at].traits, place) for at, place in case.sub.places.items() if not place.acked]
    return all(has for has, place in marked if place.need) and any(place.pushed for has, place in marked if not has)


def _passed_over(case: Any) -> bool:
    """True when something that was sent later was delivered."""
    entries = case.before.entries
    return any(place.pushed and entries[at].at > case.entry.at for at, place in case.sub.places.items())


def _not_delivered_in(trait: Trait) -> None:
    @MISSING.cause(trait.value, could=lambda case: trait in case.entry.traits, also=LOST)
    def what_is_missing_was_sent_so(case: Any) -> str:
        """A way of sending that must not matter is common to all that is missing, and to nothing that came."""
        shows = _tells(case, trait) and (trait is not Trait.PROPERTIES or _passed_over(case))
        return _why(case, f"it was {_WAYS[trait]}") if shows else ""


for _trait in (Trait.BARE, Trait.UNKNOWN, Trait.BIG, Trait.PIECES, Trait.PROPERTIES):
    _not_delivered_in(_trait)


@MISSING.cause("PULSAR-SUB-06", could=lambda case: case.sub.refused, also=LOST)
def a_second_consumer_was_refused(case: Any) -> str:
    """The consumer that has an Exclusive subscription gets nothing after another one was refused."""
    return "" if _flows(case) > 1 else _why(case, "since another consumer was refused")


def _while_nobody_was_there(case: Any) -> bool:
    there = [consumer for key in case.sub.members if (consumer := case.before.consumer(key)) is not None]
    return not case.place.pushed and not case.sub.earliest and bool(there) and all(
        consumer.opened > case.entry.at for consumer in there
    )  # fmt: skip


@MISSING.cause(SURVIVES_CONSUMERS, could=_while_nobody_was_there, also=LOST)
def published_while_nobody_was_there(case: Any) -> str:
    """It was published while the subscription had no consumer."""
    return _why(case, "it was published while the subscription had no consumer")


@MISSING.cause(PERSISTED, could=lambda case: case.sub.earliest and case.entry.fate is Fate.STORED, also=LOST)
def confirmed_and_not_kept(case: Any) -> str:
    """It had a receipt before a subscription was made that begins with the earliest message."""
    opened = [consumer.opened for key in case.sub.members if (consumer := case.before.consumer(key)) is not None]
    early = not case.place.pushed and opened and case.entry.at < min(opened)
    return _why(case, "it had been confirmed, and the subscription begins with the earliest") if early else ""


def _beside(case: Any) -> list[Sub]:
    topic = case.entry.topic
    return [sub for where, sub in case.before.subs.items() if where[0] == topic and sub is not case.sub and sub.sure]


@MISSING.cause(INDEPENDENT, could=lambda case: bool(_beside(case)), also=LOST)
def another_subscription_got_it(case: Any) -> str:
    """All that is missing was pushed to another subscription of the topic, and this one got nothing else."""
    if any(place.pushed for place in case.sub.places.values()):
        return ""
    got = any((there := sub.places.get(case.at)) and there.pushed for sub in _beside(case))
    return _why(case, "another subscription of the topic got it") if got else ""


def _probes(case: Any) -> int:
    return sum(case.before.conn(number).probes for number in {key[0] for key in case.sub.members})


@MISSING.cause("PULSAR-KA-09", could=lambda case: _probes(case) > 0, also=LOST)
def pings_were_said(case: Any) -> str:
    """No more permits are left than PINGs were said."""
    there = [consumer for key in case.sub.members if (consumer := case.before.consumer(key)) is not None]
    if any(place.acked for place in case.sub.places.values()):
        return ""
    left = sum(consumer.sure - consumer.used for consumer in there)
    return _why(case, "PINGs may have taken its permits") if 0 < left <= _probes(case) else ""


@MISSING.cause(LOST, could=_passed_over, also=LIVENESS)
def others_came_and_it_did_not(case: Any) -> str:
    """Something that was sent later was delivered, and this never was."""
    return "" if case.place.pushed else _why(case, "others that were sent later came")


@MISSING.cause(PERMITS_ADD_UP, could=lambda case: _flows(case) > 1, also=LOST)
def permits_were_given_in_parts(case: Any) -> str:
    """Permits were given by several FLOWs."""
    return _why(case, "permits were given in parts")


def _flows(case: Any) -> int:
    return max((there.flows for there in map(case.before.consumer, case.sub.members) if there is not None), default=0)


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
    consumer, frame = case.pushed.consumer, case.frame
    assert consumer is not None
    assert frame is not None
    for entry in case.before.entries:
        same = entry.payload == frame.payload and entry.headers == frame.headers
        if entry.topic != consumer.sub[0] and same and (entry.id is None or entry.id == case.pushed.given):
            return f"MESSAGE of topic {entry.topic} on {consumer.sub[0]}"
    return ""


def _meant(case: Case) -> Entry | None:
    """The message that it is likely to be."""
    consumer, frame = case.pushed.consumer, case.frame
    assert consumer is not None
    assert frame is not None
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


# -- why a new connection is not served --------------------------------------------------------------------------------

AFTERMATH = Causes("aftermath")
GARBAGE = frozenset((Misuse.NO_FRAME, Misuse.NO_COMMAND, Misuse.NO_SUB_MESSAGE, Misuse.SIZES))
"""What cannot be parsed: that it does not end the broker is a requirement of its own."""


def robustness(misuse: Misuse) -> str:
    """The requirement by which a broker survives what was said: that of invalid input, where there is one."""
    return next((name for name in (misuse.requirement, *misuse.beside) if "-INV-" in name), misuse.requirement)


def _nobody_is_served_after(misuse: Misuse) -> None:
    @AFTERMATH.cause(robustness(misuse), could=lambda case: misuse in case.before.said)
    def it_does_not_survive_what_was_said(case: Any) -> str:
        """What was said last on another connection was wrong, and should have done no harm."""
        last = case.number >= 0 and case.before.latest is misuse and case.conn.misuse is not misuse
        return f"a new connection is not served, after {misuse.name.lower().replace('_', ' ')}" if last else ""


for _misuse in Misuse:
    if _misuse not in GARBAGE:
        _nobody_is_served_after(_misuse)


@AFTERMATH.cause(Misuse.NO_FRAME.requirement, could=lambda case: not GARBAGE.isdisjoint(case.before.said))
def garbage_ended_the_broker(case: Any) -> str:
    """What was said on another connection could not be parsed."""
    return "a new connection is not served, after octets that are no frame"


# -- why the broker ended a connection on which nothing was wrong ------------------------------------------------------

ENDED = Causes("ended")
ENDING = "the broker closed a connection on which nothing was wrong"


@ENDED.cause(Misuse.STRANGE_ACK.requirement, could=lambda case: Misuse.STRANGE_ACK in case.before.said)
def a_strange_ack_was_said(case: Case) -> str | Named:
    """An ACK of what is unknown, or known already."""
    if any(case.conn.requests.values()) or not case.conn.consumers:
        return ""
    others = Misuse.ACK_OF_OTHERS in case.before.said
    also = (Misuse.ACK_OF_OTHERS.requirement,) if others else ()
    return Named(Misuse.STRANGE_ACK.requirement, f"{ENDING}: a strange ACK was said", also=also)


@ENDED.cause(Asked.TOPICS.requirement, could=lambda case: any(case.conn.requests.values()))
def a_request_is_open(case: Case) -> str | Named:
    """Instead of an answer came the end."""
    waiting = next((each for each in case.conn.requests.values() if each), ())
    if not waiting:
        return ""
    asked = waiting[0].asked
    return Named(asked.requirement, f"{ENDING}: {asked.kind} is open", also=asked.beside)


@ENDED.cause(RECEIPT, could=lambda case: any(each.sends for each in case.conn.producers.values()))
def a_send_is_open(case: Case) -> str | Named:
    """Instead of a receipt came the end. It may have crossed a CLOSE_PRODUCER that the end has swallowed: once is not
    always."""
    for producer in case.conn.producers.values():
        for at in producer.sends:
            entry = case.before.entries[at]
            if entry.fate is Fate.SENT:
                trait = next(
                    (t for t in (Trait.BARE, Trait.UNKNOWN, Trait.BIG, Trait.PIECES) if t in entry.traits), None
                )
                why = f"{ENDING}: a SEND is open"
                return Named(trait.value, why) if trait else Named(RECEIPT, why, steady=True)
    return ""


@ENDED.cause(HANDSHAKE, could=lambda case: case.phase is Phase.ASKED and bool(case.before.said))
def a_new_connection_is_not_served(case: Case) -> Named | str:
    """Something on another connection was wrong."""
    return AFTERMATH.likeliest(case) or ""


@ENDED.cause(Misuse.NO_FRAME.requirement, could=lambda case: case.before.bad)
def another_connection_was_misused(case: Case) -> str:
    """Something on another connection was wrong."""
    return ENDING


@ENDED.cause(ANY_CLIENT, could=lambda case: case.phase is Phase.ASKED and unusual(case.conn.client))
def client_version_was_looked_at(case: Case) -> str:
    """CONNECT had a client_version of an unusual form."""
    return f"{ENDING}: the client calls itself {case.conn.client!r:.60}"


def unusual(client: str) -> bool:
    """True for a client_version that is not plain."""
    return not (client.isascii() and client.replace("-", "").replace(".", "").isalnum())


@ENDED.cause(HANDSHAKE, could=lambda case: case.phase is Phase.ASKED)
def connect_is_open(case: Case) -> str:
    """Instead of CONNECTED came the end."""
    return ENDING


def _unanswered(case: Case) -> bool:
    """True for a connection on which PINGs were not answered, and other frames were said; at rest, where one lives."""
    keepalive = case.before.config.keepalive_ms
    if case.event is not None or not keepalive:
        return bool(keepalive) and case.conn.pinged > 0
    return any(
        conn.phase is Phase.LIVE and conn.pinged and conn.age > 2 * keepalive and conn.up < keepalive
        for conn in case.before.conns.values()
    )


@ENDED.cause("PULSAR-KA-06", could=_unanswered)
def frames_were_no_sign_of_life(case: Case) -> str:
    """Any frame counts as a sign of life (practice)."""
    return f"{ENDING}: it had no PONG, and other frames"


__all__ = ["ACKNOWLEDGED", "ENDED", "MISSING", "SENDING", "UNKNOWN", "Key", "unusual"]
