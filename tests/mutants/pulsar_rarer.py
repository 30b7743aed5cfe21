"""Brokers that are wrong about what is rare: empty and long things, numbers beyond 32 bits, batches among acks."""

from __future__ import annotations

from collections.abc import Callable

from impls.references.pulsar.framing import Part
from impls.references.pulsar.reference import Broker, Session, Subscription
from impls.references.pulsar.wire import Message
from specs.plan import Ref
from strategies.pulsar.writer import PROPERTIES, TOPICS, Pen, Writer
from tests.mutants.faults import on
from tests.mutants.pulsar_kit import EXCLUSIVE, FAILOVER, SHARED, mutant, ready
from tests.mutants.pulsar_payloads import Rewriting


def unsound_and_empty(w: Writer) -> None:
    """A wrong checksum of a message without a payload."""
    _, _, pen = ready(w)
    w.send(pen, 0, b"", check="bad")


def large_numbers(w: Writer) -> None:
    """A sequence id beyond 32 bits."""
    line, _, _ = ready(w)
    pen = Pen(line.number, w.pen(line, "t", 1).id, "t", "", (1 << 32) + 5)
    w.send(pen)


def long_names(w: Writer) -> None:
    """Two topics whose long names differ at the end."""
    line = w.line()
    w.flow(w.ear(line, TOPICS[4], "s"), 100)
    w.send(w.pen(line, TOPICS[5], 1))


def batch_behind(w: Writer) -> None:
    """A batch is acknowledged, what came before it is not."""
    _, ear, pen = ready(w, sends=1)
    w.send(pen, messages=2)
    w.settle()
    w.ack(ear, Ref("pushed", (ear.line, ear.id, 1)))
    w.ping(w.of(ear.line))
    w.settle()
    w.redeliver(ear)


def empty_key(w: Writer) -> None:
    """A message whose partition key is there and empty."""
    _, _, pen = ready(w)
    w.send(pen, meta={"partition_key": ""})


def another_type(w: Writer) -> None:
    """A Failover consumer beside one that shares."""
    ready(w, SHARED)
    w.ear(w.line(1), "t", "s", FAILOVER, keep=False)


def gap_and_cumulative(w: Writer) -> None:
    """One message is acknowledged alone, a later one with all before it."""
    line, ear, _ = ready(w, sends=3)
    w.settle()
    w.ack(ear, Ref("pushed", (ear.line, ear.id, 1)))
    w.ack(ear, Ref("pushed", (ear.line, ear.id, 2)), cumulative=True)
    w.ping(line)
    w.settle()
    w.redeliver(ear)


def subscriptions_with_blank(w: Writer) -> None:
    """Two subscriptions that a blank tells apart."""
    line, _, pen = ready(w, SHARED)
    w.flow(w.ear(line, "t", "s ", SHARED, 1), 100)
    for _ in range(2):
        w.send(pen)


def ended(w: Writer) -> None:
    """Two subscriptions of a topic that takes no messages."""
    for sub in ("s", "s-1"):
        w.flow(w.ear(w.line(), "terminated:t", sub, EXCLUSIVE), 10)
    w.wait()


def drained(w: Writer) -> None:
    """A message that is acknowledged, the only one."""
    ear = w.ear(w.line(), "t", "s", EXCLUSIVE)
    w.flow(ear, 10)
    w.send(w.pen(w.line(), "t"))
    w.settle()
    w.ack(ear, Ref("pushed", (ear.line, ear.id, 0)))
    w.wait()


def name_after_cut(w: Writer) -> None:
    """A producer comes again with its name after its connection was cut."""
    w.pen(w.line(), "t", name="p")
    w.settle()
    w.ping(w.line())
    w.settle()
    w.hang(0)
    w.wait(1500)
    w.pen(w.line(), "t", name="p")


def earliest_again(w: Writer) -> None:
    """What is acknowledged stays so for a consumer that would begin at the first message."""
    line, ear, pen = ready(w)
    w.send(pen)
    w.settle()
    w.ack(ear, Ref("pushed", (ear.line, ear.id, 0)))
    w.ping(line)
    w.settle()
    w.close_ear(ear)
    w.flow(w.ear(line, "t", "s", EXCLUSIVE, 1, initialPosition=1), 100)


def said_again(w: Writer) -> None:
    """A sequence id is said again."""
    _, _, pen = ready(w, sends=1)
    w.settle()
    pen.seq = 0
    w.send(pen)


def one_name_on_two_topics(w: Writer) -> None:
    """Producers of one name publish to two topics, each from its first number on."""
    line, _, _ = ready(w)
    for topic in ("t", "t2"):
        w.send(w.pen(line, topic, 1, "p"))
        w.settle()


def four_in_one(w: Writer) -> None:
    """Four messages are acknowledged in one frame, then everything that is left comes again."""
    line, ear, _ = ready(w, SHARED, sends=4)
    w.settle()
    w.ack(ear, *(Ref("pushed", (ear.line, ear.id, n)) for n in range(4)))
    w.ping(line)
    w.settle()
    w.redeliver(ear)


def confirmed(w: Writer) -> None:
    """Two messages are acknowledged in one frame, which is answered."""
    line, ear, _ = ready(w, SHARED, sends=2)
    w.settle()
    w.ack(ear, *(Ref("pushed", (ear.line, ear.id, n)) for n in range(2)), request_id=w.request(line))


def wide_batch(w: Writer) -> None:
    """Of a batch of 70 messages the first and the last are acknowledged, then it comes again."""
    line, ear, pen = ready(w, SHARED)
    w.send(pen, messages=70)
    w.settle()
    w.ack(ear, Ref("partly", (ear.line, ear.id, 0, (1 << 69) - 2, 70)))
    w.ping(line)
    w.settle()
    w.redeliver(ear)


def resubscribed(permits: int) -> Callable[[Writer], None]:
    """A consumer that leaves permits behind, and another one with its id."""

    def play(w: Writer) -> None:
        line, ear, pen = ready(w, permits=permits)
        w.close_ear(ear)
        w.ear(line, "t", "s", EXCLUSIVE, like=ear)
        w.send(pen)

    return play


@mutant("checksum-of-empty-unchecked", "CHK-04", unsound_and_empty, accept="CHK-05")
class ChecksumOfEmpty(Session):
    """Looks at no checksum where there is no payload."""

    def intact(self, load: Part) -> bool:
        return len(load.block) == 4 + int.from_bytes(load.block[:4], "big") or super().intact(load)


mutant("sequence-of-32-bits", "SEND-04", large_numbers, accept="SEND-10")(
    "Keeps 32 bits of a sequence id.",
    on(Session, "say").takes(
        body=lambda name, body: (
            {**body, "sequence_id": body["sequence_id"] & 0xFFFFFFFF} if name == "SEND_RECEIPT" else body
        )
    ),
)
mutant("long-names-cut", "E2E-04", long_names, accept="E2E-02 PROD-05")(
    "Takes topics for one whose names begin with the same 120 characters.",
    on(Broker, "topic").takes(name=lambda name: name[:120]),
)


@mutant("batch-acks-upto", "ACK-02", batch_behind, accept="RED-01 FLOW-04 E2E-01 RED-03", history=True)
class BatchAcksUpto(Subscription):
    """The acknowledgement of a batch is taken for one of all before it, too."""

    def ack(self, at: int) -> None:
        if self.topic.entries[at].batched:
            for before in range(at):
                super().ack(before)
        super().ack(at)


mutant("failover-beside-shared", "SUB-11", another_type, accept="INV-BROKER-28", history=True)(
    "Takes a Failover consumer where others share.",
    on(Session, "check_room").skips(when=lambda subscription, kind: (subscription.kind, kind) == (SHARED, FAILOVER)),
)
mutant("gaps-hide-from-cumulative", "ACK-03", gap_and_cumulative, accept="RED-03 ACK-01", history=True)(
    "Where messages were acknowledged one by one, a cumulative ACK is one more of those.",
    on(Subscription, "ack_upto").instead(
        lambda self, at: self.ack(at),
        when=lambda self, at: any(each in self.acked for each in range(self.mark, at + 1)),
    ),
)


@mutant("empty-key-dropped", "MD-03", empty_key, accept="CHK-11")
class EmptyKeyDropped(Rewriting):
    """Takes a partition key that is empty for none."""

    def rewrite(self, metadata: Message, payload: bytes) -> tuple[Message, bytes]:
        return {name: value for name, value in metadata.items() if name != "partition_key" or value}, payload


def with_ordering_key(w: Writer) -> None:
    """A message with a key by which consumers may be chosen, and one without."""
    _, _, pen = ready(w)
    w.send(pen, meta={"ordering_key": b"o"})
    w.send(pen)


@mutant("ordering-key-dropped", "MD-03", with_ordering_key, profile="modern", accept="CHK-11")
class OrderingKeyDropped(Rewriting):
    """Leaves out the key by which consumers are chosen."""

    def rewrite(self, metadata: Message, payload: bytes) -> tuple[Message, bytes]:
        return {name: value for name, value in metadata.items() if name != "ordering_key"}, payload


def with_five_properties(w: Writer) -> None:
    """A message with more properties than most have."""
    w.send(ready(w)[2], properties=PROPERTIES[4])


@mutant("fourth-property-dropped", "MD-05", with_five_properties, accept="MD-03 CHK-11")
class FourthPropertyDropped(Rewriting):
    """Keeps three properties of a message."""

    def rewrite(self, metadata: Message, payload: bytes) -> tuple[Message, bytes]:
        return {**metadata, "properties": list(metadata.get("properties", []))[:3]}, payload


@mutant("permits-outlive-consumers", "FLOW-06", resubscribed(100), accept="FLOW-01", history=True)
class PermitsOutlive(Session):
    """What a consumer was permitted is left to the next one of its id."""

    def on_close_consumer(self, body: Message) -> None:
        there = self.consumers.get(body["consumer_id"])
        if there is not None:
            self.__dict__.setdefault("permits_left", {})[there.id] = there.permits
        super().on_close_consumer(body)

    def on_subscribe(self, body: Message) -> None:
        super().on_subscribe(body)
        there = self.consumers.get(body["consumer_id"])
        if there is not None:
            there.grant(self.__dict__.get("permits_left", {}).pop(there.id, 0))


mutant("producer-name-trimmed", "PROD-06", lambda w: w.pen(w.line(), "t", name="p "))(
    "Leaves out the blanks around a producer's name.",
    on(Session, "open_producer").takes(
        body=lambda body: {**body, "producer_name": body.get("producer_name", "").strip()}
    ),
)
mutant(
    "subscription-name-trimmed",
    "SUB-08",
    subscriptions_with_blank,
    accept="FLOW-04 E2E-01 FLOW-03 SUB-01 SUB-05 SUB-11",
)(
    "Leaves out the blanks around a subscription's name.",
    on(Session, "open_consumer").takes(body=lambda body: {**body, "subscription": body["subscription"].strip()}),
)
mutant("end-told-once", "END-01", ended, profile="modern", history=True)(
    "Says once for each topic that it has ended.",
    on(Session, "check_end").skips(
        when=lambda consumer: (
            sum(len(each.consumers) for each in consumer.subscription.topic.subscriptions.values()) >= 2
        )
    ),
)
mutant("end-told-of-a-living-topic", "END-01", drained, profile="modern", history=True)(
    "Says that a topic has ended when a consumer has acknowledged all of its messages.",
    on(Session, "check_end").before(
        lambda self, consumer: self.say("REACHED_END_OF_TOPIC", {"consumer_id": consumer.id}),
        when=lambda consumer: 0 < len(consumer.subscription.topic.entries) == consumer.subscription.mark,
    ),
)
mutant("name-outlives-connection", "CONN-12", name_after_cut, accept="PROD-02 PROD-09", history=True)(
    "The names of producers stay taken when their connection is lost.",
    on(Session, "clean_up").before(lambda self: self.producers.clear()),
)
mutant(
    "earliest-forgets-acks",
    "ACK-01",
    earliest_again,
    accept="SUB-09 SUB-10 ACK-04 E2E-03 RED-03",
    profile="modern",
    history=True,
)(
    "Whoever would begin at the first message begins there, though the subscription is an old one.",
    on(Session, "subscription_for").after(
        lambda found: found.rewind_to(0),
        when=lambda body, found: body.get("initialPosition", 0) and not found.consumers,
    ),
)
mutant(
    "duplicate-stored", "SEND-16", said_again, profile="modern", history=True, facts={"dedup": True}, deduplication=True
)(
    "Detects a sequence id that is lower than the last one, and not the last one itself.",
    on(Session, "seen_before").gives(
        lambda producer, body, found: found and body["sequence_id"] != producer.topic.sequences.get(producer.name, -1)
    ),
)
mutant(
    "duplicates-of-all-topics", "SEND-16", one_name_on_two_topics, profile="modern", facts={"dedup": True},
    deduplication=True,
)(
    "A sequence id that was used on one topic is taken for a repeated one on every other.",
    on(Session, "seen_before").before(
        lambda self, producer: setattr(producer.topic, "sequences", vars(self.broker).setdefault("everywhere", {}))
    ),
)  # fmt: skip
mutant("three-of-an-ack", "ACK-11", four_in_one, accept="ACK-01 RED-03", profile="modern", history=True)(
    "Reads three ids of an ACK.",
    on(Session, "on_ack").takes(body=lambda body: {**body, "message_id": body.get("message_id", [])[:3]}),
)


@mutant("each-id-is-answered", "ACK-10", confirmed, accept="REQ-02", profile="modern", history=True)
class EachIdIsAnswered(Session):
    """Answers an ACK once for each of its ids."""

    def on_ack(self, body: Message) -> None:
        for each in body.get("message_id", []):
            super().on_ack({**body, "message_id": [each]})


mutant("ack-answered-for-the-next", "ACK-10", confirmed, profile="modern", history=True)(
    "Answers an ACK with the id of the next consumer.",
    on(Session, "say").takes(
        body=lambda name, body: {**body, "consumer_id": body["consumer_id"] + 1} if name == "ACK_RESPONSE" else body
    ),
)
mutant("ack-set-of-one-word", "ACK-12", wide_batch, profile="modern", history=True)(
    "Reads one word of an ack_set.", on(Subscription, "ack_some").takes(words=lambda words: words[:1])
)
mutant("partitions-of-one-digit", "PART-01", lambda w: w.partitions(w.line(), "10:t"))(
    "Counts no more than nine partitions.",
    on(Session, "partitioned").gives(
        lambda found: {**found, "partitions": min(found["partitions"], 9)} if "partitions" in found else found
    ),
)
