"""The order of deliveries: what is wrong with that of a MESSAGE to one consumer."""

from __future__ import annotations

from enum import Enum

from specs.pulsar.broker.case import Case
from specs.pulsar.states import Again, Fate


class Disorder(Enum):
    """What is wrong with the order of deliveries to one consumer."""

    NONE = ""
    OVERTOOK = "a later message of the same producer came first"
    LEFT_OUT = "a message was left out"
    BEHIND = "a message came behind a later one"
    NOT_ALL = "redelivery left out a message"
    LATE = "redelivery began behind a message"


def disorder(case: Case) -> Disorder:
    """The first thing that is wrong with the order."""
    if case.disorder is None:
        case.disorder = _first_disorder(case)
    found: Disorder = case.disorder
    return found


def _first_disorder(case: Case) -> Disorder:
    found, place, entry = case.pushed, case.place, case.entry
    sub, entries = case.sub, case.before.entries
    for other, there in sub.places.items():
        if other == found.at or there.acked or there.skip or not there.need:
            continue
        before = entries[other]
        earlier = before.id is not None and entry.id is not None and before.id < entry.id
        if not there.pushed and not place.pushed:
            if before.source == entry.source and before.at < entry.at and before.fate is Fate.STORED:
                return Disorder.OVERTOOK
            if earlier:
                return Disorder.LEFT_OUT
        if there.pushed and there.need < sub.stepped and sub.clean and earlier:
            return Disorder.NOT_ALL
    if entry.id and sub.cursor and entry.id < sub.cursor:
        return Disorder.BEHIND if sub.back <= 0 else _late(case)
    return Disorder.NONE


def _late(case: Case) -> Disorder:
    found, entry = case.pushed, case.entry
    sub, entries = case.sub, case.before.entries
    assert entry.id is not None
    for other, there in sub.places.items():
        before = entries[other].id
        if (other != found.at and there.need and there.need < case.before.clock - 1 and there.owner and before
                and before < entry.id and there.again is Again.REDELIVER and sub.back == 1):  # fmt: skip
            return Disorder.LATE
    return Disorder.NONE
