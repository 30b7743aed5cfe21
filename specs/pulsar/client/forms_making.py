"""How a producer or consumer must be made: where it is, by its own id, as the application asked for it, and again as
it was.

Source: 001_c0ea8805bb7ed422.txt, "Lookup", "Partitioned topics", "Producer", "Subscribe"; docs/ambiguities.md, P-80.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from specs.pulsar.client.book import BOOK
from specs.pulsar.client.case import Said
from specs.pulsar.client.machine import TALKING, Stage
from specs.pulsar.client.state import base
from specs.pulsar.schema import schema

LOOKUPS = 7
"""Before this version a broker has no lookup in the binary protocol."""
THERE = "PULSAR-LOOK-05"
"""What was found is opened at the address that the lookup named."""
CONSUMER_IDS = "PULSAR-SUB-04"
"""A consumer_id is that of one consumer of the connection."""
PARTITIONED, PLAIN = "PULSAR-PART-02", "PULSAR-PART-03"
"""A topic with partitions is one producer or consumer for each; one without is used itself."""
MAKES = "PRODUCER, SUBSCRIBE"
TYPES: Mapping[Any, int] = dict(schema.CommandSubscribe.SubType.items())


_COMPLETE = re.compile(r"[a-z-]+://[^/]+/[^/]+/.+")
"""A complete name: kind of topic, property (or tenant), perhaps cluster, namespace, topic."""


def _short(case: Said) -> str:
    topic = case.body.topic
    return "" if _COMPLETE.fullmatch(topic) else f"{case.kind} for {topic!r:.100}, which is no complete name"


@BOOK.form("PULSAR-PROD-14", on=MAKES, when=TALKING, if_=lambda case: case.kind == "PRODUCER", goes_on=True)
def a_producer_is_for_a_topic_by_its_complete_name(case: Said) -> str:
    """`topic`: the complete name of the topic on which a producer is made (seed, Producer); P-66."""
    return _short(case)


@BOOK.form("PULSAR-SUB-14", on=MAKES, when=TALKING, if_=lambda case: case.kind == "SUBSCRIBE", goes_on=True)
def a_consumer_is_for_a_topic_by_its_complete_name(case: Said) -> str:
    """`topic`: the complete name of the topic on which a consumer is made (seed, Subscribe); P-66."""
    return _short(case)


def _asked_before(case: Said) -> Stage | None:
    """How the same producer stands that was asked for on this connection and got no answer, or was closed then."""
    at = case.state.endpoint("producer", case.number, case.made_id)
    if at is None or case.kind != "PRODUCER" or case.state.endpoints[at].topic != case.body.topic:
        return None
    return case.state.endpoints[at].stage


@BOOK.form(
    "PULSAR-PROD-11", on=MAKES, when=TALKING, if_=lambda case: _asked_before(case) in (Stage.ASKED, Stage.CLOSED)
)
def a_producer_that_was_not_answered_is_closed_before_it_is_asked_for_again(case: Said) -> str:
    """Unanswered PRODUCER: CLOSE_PRODUCER before trying again (the newer protocol page)."""
    return "a producer is asked for again without CLOSE_PRODUCER" if _asked_before(case) is Stage.ASKED else ""


def _taken(case: Said) -> str:
    used = case.state.endpoint(case.made, case.number, case.made_id, Stage.ASKED, Stage.PENDING, Stage.OPEN)
    return f"the {case.made} id {case.made_id} is used twice" if used is not None else ""


@BOOK.form("PULSAR-PROD-03", on=MAKES, when=TALKING, if_=lambda case: case.kind == "PRODUCER")
def a_producer_id_is_that_of_one_producer(case: Said) -> str:
    """Producer_id is unique among the live ones of a connection (seed, Producer)."""
    return _taken(case)


@BOOK.form(CONSUMER_IDS, on=MAKES, when=TALKING, if_=lambda case: case.kind == "SUBSCRIBE")
def a_consumer_id_is_that_of_one_consumer(case: Said) -> str:
    """Consumer_id is unique among the live ones of a connection (seed, Subscribe)."""
    return _taken(case)


@BOOK.form(PARTITIONED, on=MAKES, when=TALKING, if_=lambda case: bool(case.partition[1]))
def of_a_topic_with_partitions_each_is_used(case: Said) -> str:
    """N > 0: one producer or consumer per -partition-i, i = 0..n-1 (seed, Partitioned)."""
    partition, count = case.partition
    if partition is None:
        return f"{case.kind} for a topic with {count} partitions"
    beyond = count is not None and partition >= count and case.body.topic not in case.state.partitions
    return f"{case.kind} for partition {partition} of {count}" if beyond else ""


@BOOK.form(PLAIN, on=MAKES, when=TALKING, if_=lambda case: case.partition[1] == 0)
def a_topic_without_partitions_is_used_itself(case: Said) -> str:
    """N = 0: the topic itself is used (follows from the seed, Partitioned)."""
    partition, _ = case.partition
    beyond = partition is not None and case.body.topic not in case.state.partitions
    return f"{case.kind} for partition {partition} of 0" if beyond else ""


def _somebody_to_ask(case: Said) -> bool:
    """True where the client has a connection to a broker that knows of lookups, and all that it looked up was seen. It
    may ask on any that it had before, and find there that no lookup can be made (P-74)."""
    lines = case.state.lines
    known = any(line.speaks_version >= LOOKUPS and not line.over for line in lines.values())
    before = [line.version for number, line in lines.items() if number != case.number and line.version is not None]
    return known and min(before, default=LOOKUPS) >= LOOKUPS and not case.state.sought(case.body.topic)


@BOOK.form("PULSAR-LOOK-01", on=MAKES, when=TALKING, if_=_somebody_to_ask)
def a_lookup_precedes_each_creation(case: Said) -> str:
    """A lookup precedes each creation or re-creation of a producer or consumer (seed, Lookup). By this protocol it can
    be made since Pulsar 1.16 only, and before by the REST API, which nobody hears here (P-74)."""
    return "" if case.state.looked.get(case.body.topic) else f"{case.kind} without a lookup of {case.body.topic}"


@BOOK.form(THERE, on=MAKES, when=TALKING, if_=lambda case: bool(case.elsewhere))
def what_was_looked_up_is_opened_where_it_is(case: Said) -> str:
    """Connect: open the producer or consumer at that URL (seed, LookupResponse)."""
    named = case.elsewhere
    if not case.state.astray(case.number, named):
        return ""
    return f"{case.kind} at another address than the lookup named, which is {', '.join(sorted(named))}"


@BOOK.form("PULSAR-PART-04", on=MAKES, when=TALKING, if_=lambda case: case.before is not None)
def the_number_of_partitions_is_asked_at_first_only(case: Said) -> str:
    """Asked at first creation only, not on reconnect (seed, Partitioned)."""
    again = case.before is not None and case.state.endpoints[case.before].recounted
    return "the number of partitions is asked again after a reconnect" if again else ""


def _former_name(case: Said) -> str:
    return "" if case.before is None or case.kind != "PRODUCER" else case.state.endpoints[case.before].name


@BOOK.form("PULSAR-PROD-07", on=MAKES, when=TALKING, if_=lambda case: bool(_former_name(case)))
def a_producer_made_again_keeps_its_name(case: Said) -> str:
    """The client lets the broker name it first and reuses the name after a reconnect (seed, Producer)."""
    name = _former_name(case)
    return (
        ""
        if case.body.producer_name == name
        else f"created again with the name {case.body.producer_name!r}, it had {name!r}"
    )


# -- as the application asked for it ---


def _asked(case: Said) -> tuple[Mapping[str, Any], ...]:
    """What the application asked for that it may be; nothing for what a client makes of its own accord."""
    return case.state.asked_for.get((case.made, base(case.body.topic)[0]), ())


def _names(case: Said) -> set[str]:
    """The names that the application gave, if it named all that it may be. Of a partition nothing says how it is
    called."""
    names = {str(given.get("name") or "") for given in _asked(case)}
    return set() if "" in names or base(case.body.topic)[1] is not None else names


@BOOK.form("PULSAR-SUB-15", on=MAKES, when=TALKING, if_=lambda case: case.kind == "SUBSCRIBE" and _asked(case))
def a_consumer_is_of_the_subscription_and_type_that_were_asked_for(case: Said) -> str:
    """`subscription` and `subType`: the name and the type of the subscription (seed, Subscribe)."""
    body, wanted = case.body, [(given.get("subscription"), given.get("type")) for given in _asked(case)]
    if any(name in (None, body.subscription) and TYPES.get(kind) in (None, body.subType) for name, kind in wanted):
        return ""
    given = f"{body.subscription!r:.100}, {schema.CommandSubscribe.SubType.Name(body.subType)}"
    return f"SUBSCRIBE for {given}, the application asked for {wanted[-1][0]!r:.100}, {wanted[-1][1]}"


@BOOK.form("PULSAR-SUB-16", on=MAKES, when=TALKING, if_=lambda case: case.kind == "SUBSCRIBE" and bool(_names(case)))
def a_consumer_has_the_name_that_was_asked_for(case: Said) -> str:
    """A client can name its consumer (seed, Subscribe): a recommendation where its application does."""
    return _other_name(case, case.body.consumer_name)


@BOOK.form("PULSAR-PROD-15", on=MAKES, when=TALKING, if_=lambda case: case.kind == "PRODUCER" and bool(_names(case)))
def a_producer_has_the_name_that_was_asked_for(case: Said) -> str:
    """A name that is given is used (seed, Producer): a recommendation where the application gives it."""
    return _other_name(case, case.body.producer_name)


def _other_name(case: Said, name: str) -> str:
    names = _names(case)
    return "" if name in names else f"{case.kind} with the name {name!r:.100}, it was given {min(names)!r:.100}"
