"""Faults of a broker: lookups, partitions, requests, topics."""

from __future__ import annotations

from collections.abc import Callable

from impls.references.pulsar.connection import Refused
from impls.references.pulsar.reference import Broker, Session, Topic
from impls.references.pulsar.wire import Message
from specs.plan import Ref
from specs.pulsar.frames import draft
from strategies.common import Op
from strategies.pulsar import aimed, scenes
from strategies.pulsar.writer import Writer
from tests.mutants.faults import on, without
from tests.mutants.pulsar_kit import EXCLUSIVE, SHARED, mutant

# -- lookups -----------------------------------------------------------------------------------------------------------


def looked_up(w: Writer) -> None:
    for number in range(23):
        w.lookup(w.line(), "t", authoritative=number > 0)


def followed(w: Writer) -> None:
    scenes.follow(w, Op("follow", (0, 0, 0, 0, 0)), aimed.DISCOVERY)


class Answering(Session):
    """Answers lookups in another way."""

    def changed(self, body: Message, answer: Message) -> Message:
        """The other answer."""
        raise NotImplementedError

    def looked_up(self, body: Message) -> Message:
        return self.changed(body, super().looked_up(body))


mutant("no-url", "LOOK-10", looked_up, accept="LOOK-02")(
    "Leaves the URL out.", on(Answering, "changed").instead(lambda answer: without(answer, "brokerServiceUrl"))
)
mutant("url-of-http", "LOOK-10", looked_up, accept="LOOK-02")(
    "Answers with the URL of its web service.",
    on(Answering, "changed").instead(lambda answer: {**answer, "brokerServiceUrl": "http://127.0.0.1:8080"}),
)
mutant("redirects-for-ever", "LOOK-06", followed, accept="LOOK-02 LOOK-08")(
    "Redirects even who was redirected.",
    on(Answering, "changed").instead(lambda answer: {**answer, "response": 0} if answer["response"] == 1 else answer),
)


@mutant("not-here-after-all", "LOOK-08", followed, history=True)
class NotHereAfterAll(Session):
    """Refuses the producers of whoever comes where a lookup on another connection has led."""

    def on_lookup(self, body: Message) -> None:
        self.broker.__dict__.setdefault("found", {})[body["topic"]] = self
        super().on_lookup(body)

    def open_producer(self, body: Message) -> None:
        if self.broker.__dict__.get("found", {}).get(body["topic"], self) is not self:
            raise Refused("MetadataError", "it is not here")
        super().open_producer(body)


mutant("lookup-unanswered", "LOOK-02", looked_up, accept="REQ-02", history=True)(
    "Answers two lookups on each connection.", on(Session, "on_lookup").skips(when=lambda calls: calls >= 3)
)


def asked(w: Writer) -> None:
    for _ in range(2):
        w.partitions(w.line(), "t")


mutant("more-partitions", "PART-05", asked, accept="PART-01", history=True)(
    "Has another partition each time it is asked.",
    on(Session, "partitioned").gives(
        lambda found, calls: {**found, "partitions": calls - 1} if found["response"] == 0 else found
    ),
)
mutant("partitions-without-response", "PART-01", lambda w: w.partitions(w.line(), "t"))(
    "Does not say whether it found the partitions.",
    on(Session, "partitioned").gives(lambda found: without(found, "response")),
)


def many(w: Writer) -> None:
    line = w.line()
    w.settle()
    for number in range(4):
        w.say(line, draft("LOOKUP", topic=Ref("topic", "t"), request_id=w.request(line)), "now" if number else "")


@mutant("one-of-many", "REQ-02", many, accept="LOOK-02", history=True, answer_delay_ms=20)
class OneOfMany(Session):
    """Forgets a request when another one comes before its answer."""

    pending = 0

    def request(self, body: Message, work: Callable[[], None], key: tuple[str, int] | None = None) -> None:
        self.pending += 1
        mine = self.pending
        super().request(body, lambda: work() if mine == self.pending else None, key)


# -- topics ------------------------------------------------------------------------------------------------------------


def topics(w: Writer) -> None:
    """Messages on topics with similar names."""
    line = w.line()
    for number, topic in enumerate(("t", "T", "t-1", "tt")):
        w.flow(w.ear(line, topic, "s", (EXCLUSIVE, SHARED)[number % 2], number), 10)
        w.send(w.pen(line, topic, number))


mutant("topics-in-any-case", "E2E-04", topics, accept="SUB-11 SUB-05 E2E-02 SEND-09 SUB-01 SUB-12")(
    "Takes topics whose names differ in case for one.", on(Broker, "topic").takes(name=lambda name: name.lower())
)


@mutant("topics-to-the-dash", "E2E-04", topics, accept="SUB-11 SUB-05 E2E-02 SEND-09 SUB-01 SUB-12")
class TopicsToTheDash(Broker):
    """Takes what follows the last dash of a topic for a partition of it."""

    def topic(self, name: str) -> Topic:
        head, dash, tail = name.rpartition("-")
        return super().topic(head if dash and tail.isdigit() else name)
