"""Why a message was not delivered: asked only after a breach, the likeliest reason first."""

from __future__ import annotations

from typing import Any

from specs.causes import Causes
from specs.pulsar.broker.case import Missing
from specs.pulsar.broker.causes import WAYS
from specs.pulsar.broker.effects_subscriptions import SINGLE
from specs.pulsar.calls import Asked, Trait
from specs.pulsar.states import FAILOVER, Again, Entry, Fate, Place, State, Sub

PERMITS_ADD_UP = "PULSAR-FLOW-03"
LOST = "PULSAR-E2E-01"
LIVENESS = "PULSAR-FLOW-04"
LISTED = "PULSAR-RED-02"
KEPT_WHEN_CLOSED = "PULSAR-CLC-03"
CUMULATIVE = "PULSAR-ACK-03"
ACKED_ALONE = "PULSAR-ACK-02"
SURVIVES_CONSUMERS = "PULSAR-SUB-09"
INDEPENDENT = "PULSAR-SUB-08"
TAKES_OVER = "PULSAR-FAIL-03"
PERSISTED = "PULSAR-SEND-05"
OPENS_AT_ONCE = "PULSAR-CONN-12"

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
        return _why(case, f"it was {WAYS[trait]}") if shows else ""


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


def _confirmed_to_nobody(case: Any) -> bool:
    return case.entry.fate is Fate.STORED and _while_nobody_was_there(case)


@MISSING.cause(PERSISTED, could=_confirmed_to_nobody, also=LOST)
def confirmed_and_gone_while_nobody_was_there(case: Any) -> str:
    """It had a receipt, and one that was sent later and also waited for the consumers that are there was kept: so the
    subscription survived, and the message did not."""
    entries, members = case.before.entries, case.sub.members
    opened = min(consumer.opened for key in members if (consumer := case.before.consumer(key)) is not None)
    kept = any(
        place.pushed == 1 and place.owner in members and case.entry.at < entries[at].at < opened
        for at, place in case.sub.places.items()
    )
    return _why(case, "it had been confirmed, and one that was sent later was kept") if kept else ""


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
