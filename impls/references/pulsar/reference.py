"""The in-process reference broker.

Octets in, octets out: no sockets, no threads, no clock. Time moves by `Broker.advance` alone and chance comes from the
seed, so a conversation can be repeated exactly. It reads and writes frames by its own code, so that it cannot share a
mistake with a specification that is tried against it. To make a broker that is wrong in one point, subclass the class
that decides the point and name it in a subclass of `Broker`.
"""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections.abc import Callable
from typing import Any, Self

from impls.references.pulsar.connection import Close, Connection, Phase, Refused
from impls.references.pulsar.framing import Frame, Part, Reader
from impls.references.pulsar.session import Session
from impls.references.pulsar.subscription import Consumer, Subscription
from impls.references.pulsar.switches import NEWEST, OLDEST, SWITCHES, Switches, draw, from_text
from impls.references.pulsar.topic import Entry, Producer, Topic
from impls.references.pulsar.wire import Malformed

__all__ = [
    "SWITCHES",
    "Broker",
    "Close",
    "Connection",
    "Consumer",
    "Entry",
    "Frame",
    "Malformed",
    "Part",
    "Phase",
    "Producer",
    "Reader",
    "Refused",
    "Seed",
    "Session",
    "Subscription",
    "Switches",
    "Topic",
    "from_text",
]

MAX_TOPICS = 20_000


class Broker:
    """A Pulsar broker. Keywords are the fields of `Switches`; SWITCHES lists the legal values of each freedom."""

    profile = "modern"
    session_type = Session
    reader_type = Reader
    topic_type = Topic
    subscription_type = Subscription
    consumer_type = Consumer
    producer_type = Producer

    def __init__(self, *, seed: int = 0, **switches: Any) -> None:
        self.switches = Switches(**{"profile": self.profile, **switches})
        self.chance = random.Random(seed)
        self.now: float = 0
        self.sessions: dict[int, Session] = {}
        self.topics: dict[str, Topic] = {}
        self.kept = 0
        self.version = self.own_version()
        self._jobs: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count(1)
        big = self.switches.ids == "big"
        self._ledgers = itertools.count((1 << 62) + 1 if big else 1, 1 if self.switches.ids != "sparse" else 17)

    @classmethod
    def random(cls, seed: int, **fixed: Any) -> Self:
        """A broker with every switch drawn by `seed`, but for those in `fixed`."""
        return cls(seed=seed, **{**draw(seed), **fixed})

    def own_version(self) -> int:
        """The highest protocol version that this broker speaks."""
        newest, oldest = NEWEST[self.switches.profile], OLDEST[self.switches.profile]
        choice = {"newest": newest, "oldest": oldest}
        return choice.get(self.switches.versions) or self.chance.randint(oldest, newest)

    # The contract

    def open(self) -> Session:
        """Accept a new client connection."""
        session = self.session_type(self, next(self._numbers))
        self.sessions[session.number] = session
        return session

    def advance(self, ms: float) -> None:
        """Let virtual milliseconds pass, and do what falls due on the way."""
        until = self.now + ms
        while (due := self.next_due()) <= until:
            self.now = max(self.now, due)
            while self._jobs and self._jobs[0][0] <= self.now:
                heapq.heappop(self._jobs)[2]()
            for session in [*self.sessions.values()]:
                session.pass_time()
        self.now = until

    def next_due(self) -> float:
        """When something happens by itself. Infinity when nothing will."""
        first = self._jobs[0][0] if self._jobs else math.inf
        return min(first, min((session.due() for session in self.sessions.values()), default=math.inf))

    def later(self, ms: float, work: Callable[[], None]) -> None:
        """Do something after virtual milliseconds."""
        heapq.heappush(self._jobs, (self.now + ms, next(self._numbers), work))

    # Names and ids

    def new_ledger(self) -> int:
        """The first half of message ids that nobody else has."""
        return next(self._ledgers)

    def producer_name(self) -> str:
        """A name that no producer was ever given."""
        style, number = self.switches.producer_names, next(self._numbers)
        if style == "random":
            return f"{self.chance.getrandbits(64):016x}-{number}"
        return f"reference-{number}" if style == "number" else f" 名/:{number} "

    # Topics

    def topic(self, name: str) -> Topic:
        """The topic of this whole name, made if there is none."""
        found = self.topics.get(name)
        if found is None:
            if len(self.topics) >= MAX_TOPICS:
                self.make_room()
            found = self.topics[name] = self.topic_type(self, name)
        return found

    def note_stored(self, topic: Topic, size: int) -> None:
        """A topic holds more than before."""
        self.kept += size
        if self.kept > self.switches.max_kept:
            self.make_room(topic)

    def make_room(self, but: Topic | None = None) -> None:
        """Forget idle topics, the oldest first, until a quarter is free."""
        for name, topic in [*self.topics.items()]:
            if self.kept * 4 <= self.switches.max_kept * 3 and len(self.topics) * 4 <= MAX_TOPICS * 3:
                return
            if topic.idle and topic is not but:
                del self.topics[name]
                self.kept -= topic.size

    def persist(self, producer: Producer, work: Callable[[], None]) -> None:
        """Do what a SEND asks for once it is on disk: on each topic in the order of arrival."""
        delay = self.switches.persist_delay_ms
        topic = producer.topic
        if not delay and topic.due <= self.now and not producer.waiting:
            work()
            return
        topic.due = max(topic.due, self.now + self.chance.randint(0, delay))
        producer.waiting += 1

        def done() -> None:
            producer.waiting -= 1
            work()
            producer.session.close_when_done(producer)

        heapq.heappush(self._jobs, (topic.due, next(self._numbers), done))

    def wake_all(self) -> None:
        """A client reads again: push what waited for it."""
        for topic in [*self.topics.values()]:
            topic.wake()

    # Of its own accord

    def unload(self, topic: Topic) -> None:
        """Close all producers and consumers of a topic; clients look it up again and come back."""
        for producer in [*topic.producers.values()]:
            producer.session.close_producer(producer)
        for subscription in [*topic.subscriptions.values()]:
            for consumer in [*subscription.consumers]:
                consumer.session.close_consumer(consumer)

    def unload_one(self) -> None:
        """Unload some topic that is in use."""
        used = [topic for topic in self.topics.values() if not topic.idle]
        if used:
            self.unload(self.chance.choice(used))

    def terminate(self, topic: Topic) -> None:
        """Take no more messages for a topic."""
        topic.terminated = True
        for subscription in topic.subscriptions.values():
            for consumer in subscription.consumers:
                consumer.session.check_end(consumer)


class Seed(Broker):
    """A broker of the seed's time: protocol version 6 or 7."""

    profile = "seed"
