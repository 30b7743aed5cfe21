"""What a broker may have little room for: producers, consumers, subscriptions, and names.

Source: 001_c0ea8805bb7ed422.txt, "Producer", "Subscribe", which name no limits and answer what cannot be done with
ERROR. docs/ambiguities.md, P-94.
"""

from __future__ import annotations

from specs.pulsar.broker.case import Case
from specs.pulsar.broker.effects_subscriptions import consumers_of

AT_A_PLACE, OF_A_CONNECTION, NAME = 2, 8, 100
"""How many producers of a topic, subscriptions of a topic, and consumers of a subscription there is room for on every
broker; how many producers, and consumers, of a connection; and how many characters of a name."""


def is_scarce(case: Case) -> bool:
    """True where a request adds to so much, or has so long a name, that a broker may have no room for it."""
    kind, about = case.request.asked.kind, case.request.about
    if kind == "PRODUCER":
        return _producer(case)
    if kind == "SUBSCRIBE":
        return _consumer(case)
    return isinstance(about, str) and len(about) > NAME


def _producer(case: Case) -> bool:
    producer = case.conn.producers.get(case.request.about)
    if producer is None:
        return False
    there = sum(each.topic == producer.topic for conn in case.before.conns.values() for each in conn.producers.values())
    crowded = there > AT_A_PLACE or len(case.conn.producers) > OF_A_CONNECTION
    return crowded or len(producer.topic) > NAME or len(producer.wanted) > NAME


def _consumer(case: Case) -> bool:
    consumer = case.conn.consumers.get(case.request.about)
    if consumer is None:
        return False
    topic, subscription = consumer.sub
    beside = sum(where[0] == topic for where in case.before.subs)
    crowded = len(list(consumers_of(case.before, consumer.sub))) > AT_A_PLACE or beside > AT_A_PLACE
    return (
        crowded
        or len(case.conn.consumers) > OF_A_CONNECTION
        or max(map(len, (topic, subscription, consumer.name))) > NAME
    )
