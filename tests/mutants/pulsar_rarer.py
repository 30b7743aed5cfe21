"""Brokers that are wrong about what is rare: empty and long things, numbers beyond 32 bits, batches among acks."""

from __future__ import annotations

from collections.abc import Callable

from impls.pulsar.framing import Part
from impls.pulsar.reference import Broker, Session, Subscription, Topic
from impls.pulsar.wire import Message
from specs.plan import Ref
from strategies.pulsar.writer import PROPERTIES, TOPICS, Pen, Writer
from tests.mutants.pulsar_framing import Rewriting
from tests.mutants.pulsar_kit import EXCLUSIVE, FAILOVER, SHARED, mutant, ready


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


def many_properties(w: Writer) -> None:
    """A message with forty properties."""
    _, _, pen = ready(w)
    w.send(pen, properties=PROPERTIES[-1])


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
        """See `Session`."""
        return len(load.block) == 4 + int.from_bytes(load.block[:4], "big") or super().intact(load)


@mutant("sequence-of-32-bits", "SEND-04", large_numbers, accept="SEND-10")
class ShortSequence(Session):
    """Keeps 32 bits of a sequence id."""

    def say(self, kind: str, body: Message) -> None:
        """See `Session`."""
        if kind == "SEND_RECEIPT":
            body = {**body, "sequence_id": body["sequence_id"] & 0xFFFFFFFF}
        super().say(kind, body)


@mutant("long-names-cut", "E2E-04", long_names, accept="E2E-02 PROD-05")
class LongNamesCut(Broker):
    """Takes topics for one whose names begin with the same 120 characters."""

    def topic(self, name: str) -> Topic:
        """See `Broker`."""
        return super().topic(name[:120])


@mutant("batch-acks-upto", "ACK-02", batch_behind, accept="RED-01 FLOW-04 E2E-01 RED-03", history=True)
class BatchAcksUpto(Subscription):
    """The acknowledgement of a batch is taken for one of all before it, too."""

    def ack(self, at: int) -> None:
        """See `Subscription`."""
        if self.topic.entries[at].batched:
            for before in range(at):
                super().ack(before)
        super().ack(at)


@mutant("failover-beside-shared", "SUB-11", another_type, accept="INV-BROKER-28", history=True)
class FailoverBesideShared(Session):
    """Takes a Failover consumer where others share."""

    def check_room(self, subscription: Subscription, kind: int) -> None:
        """See `Session`."""
        if (subscription.kind, kind) != (SHARED, FAILOVER):
            super().check_room(subscription, kind)


@mutant("gaps-hide-from-cumulative", "ACK-03", gap_and_cumulative, accept="RED-03 ACK-01", history=True)
class GapsHideFromCumulative(Subscription):
    """Where messages were acknowledged one by one, a cumulative ACK is one more of those."""

    def ack_upto(self, at: int) -> None:
        """See `Subscription`."""
        if any(each in self.acked for each in range(self.mark, at + 1)):
            self.ack(at)
        else:
            super().ack_upto(at)


@mutant("empty-key-dropped", "MD-03", empty_key, accept="CHK-11")
class EmptyKeyDropped(Rewriting):
    """Takes a partition key that is empty for none."""

    def rewrite(self, metadata: Message, payload: bytes) -> tuple[Message, bytes]:
        """See `Rewriting`."""
        return {name: value for name, value in metadata.items() if name != "partition_key" or value}, payload


@mutant("permits-outlive-consumers", "FLOW-06", resubscribed(100), accept="FLOW-01", history=True)
class PermitsOutlive(Session):
    """What a consumer was permitted is left to the next one of its id."""

    def on_close_consumer(self, body: Message) -> None:
        """See `Session`."""
        there = self.consumers.get(body["consumer_id"])
        if there is not None:
            self.__dict__.setdefault("permits_left", {})[there.id] = there.permits
        super().on_close_consumer(body)

    def on_subscribe(self, body: Message) -> None:
        """See `Session`."""
        super().on_subscribe(body)
        there = self.consumers.get(body["consumer_id"])
        if there is not None:
            there.grant(self.__dict__.get("permits_left", {}).pop(there.id, 0))
