"""Correct clients and brokers of unusual habits: whole conversations in which nobody may be blamed."""

from __future__ import annotations

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.pulsar.asked import Refused
from impls.references.pulsar.client_memory import Client
from impls.references.pulsar.reference import Broker, Session
from impls.references.pulsar.subscription import Subscription
from impls.references.pulsar.topic import NOWHERE, Topic
from specs.plan import Ref
from specs.pulsar.frames import draft
from strategies.common import Op, Program
from strategies.pulsar import aimed, oddities, scenes, serving
from strategies.pulsar.writer import Writer
from tests.mutants.pulsar_framing import again, first
from tests.mutants.pulsar_kit import PULSAR, SHARED, ready

FACTS = {name: fact.default for name, fact in PULSAR.facts.items()}
DROP = ("drop", 0, 0, 0, 0, 0)


def must_fail(recording):
    faults = recording.judgement.faults
    levels = [(each.breach.level or PULSAR.requirements[each.breach.requirement].level, each.breach) for each in faults]
    assert recording.judgement.verdict != "error", recording.judgement.why
    return [breach for level, breach in levels if level == "MUST"]


def served(kind, head, ops, **switches):
    """A client in a conversation of the suites."""
    config = PULSAR.configure("client", "modern", FACTS, {})
    program = Program(head, tuple(Op(name, tuple(args)) for name, *args in ops))
    plan = (getattr(serving, kind, None) or getattr(oddities, kind))(program, config)
    return drive(plan, Setting(PULSAR, config, "client", MemoryTransport(lambda: Client(**switches))), "u-")


@pytest.mark.parametrize(
    ("ops", "switches"),
    [
        # a producer and a consumer are called the same, and messages of two consumers
        (
            [
                ("consumer", 0, 0, 0, 0, 0),
                ("send", 0, 0, 0, 0, 0),
                ("consumer", 1, 1, 1, 1, 1),
                DROP,
                *[("receive", n, n, n, n, n) for n in range(4)],
            ],
            {"handles": "by-kind"},
        ),
        # it asks for the answer to its acknowledgements, and does nothing before that has come
        ([("receive", 0, n, 0, 1, 0) for n in range(4)], {"ack_answers": True}),
        ([("many", 0, 3, 15, 0, 0), ("receive", 0, 3, 0, 7, 0)], {"ack_answers": True, "ack_ms": 100}),
        # it ends the connection on which it gets what it cannot read
        *([[("spoiled", 0, n, 0, 0, 0)], {"unreadable": "reconnect"}] for n in range(11)),
        # an error that is about no request is the end of the connection for it
        ([("receive", 0, 0, 0, 1, 0), ("strays", 0, 3, 0, 0, 0)], {"errors": "reconnect"}),
        # it comes back when there is something to send
        ([("send", 0, 0, 0, 0, 0), DROP, ("send", 0, 0, 0, 0, 0)], {"reopening": "when-needed"}),
        # the application is told that a message is not confirmed, and may send it again
        ([("drop", 0, 1, 0, 2, 0)], {"sends_again": False}),
    ],
)
def test_a_client_may(ops, switches):
    for head in ((0, 0, 0), (1, 1, 1)):
        assert must_fail(served("interpret", head, ops, **switches)) == []


def test_a_client_may_end_a_connection_on_which_its_ping_is_not_answered():
    assert must_fail(served("swallowing", (0, 0, 0, 0, 0, 0), [], keepalive_ms=400)) == []


def test_the_ping_of_a_client_is_answered():
    recording = served("oddly", (0, 5, 0, 1, 0), [], keepalive_ms=30)
    assert any(getattr(event, "frame", None) is not None and event.frame.kind == "PONG" for event in recording.events)


def played(play, **switches):
    config = PULSAR.configure("broker", "modern", FACTS, {})
    writer = Writer(config)
    play(writer)
    return drive(writer.plan(), Setting(PULSAR, config, "broker", MemoryTransport(lambda: Broker(**switches))), "u-")


def batches(w):
    _, _, pen = ready(w)
    for many in (1, 3, 64, 65):
        w.send(pen, messages=many)
    for n in range(4):
        scenes.part(w, Op("part", (n, n, n, n, n)), aimed.MODERN)
    w.wait()


def part_again(w, permits=100):
    """A batch of 64, of which 48 are acknowledged, comes again, and a message behind it."""
    line, ear, pen = ready(w, SHARED, permits)
    w.send(pen, messages=64)
    w.settle()
    w.ack(ear, Ref("partly", (ear.line, ear.id, 0, (1 << 16) - 1, 64)))
    w.ping(line)
    w.settle()
    w.redeliver(ear)
    w.ping(line)
    w.settle()
    w.send(pen)
    w.wait()


EARLIEST = {"initialPosition": 1}


def begins_at_the_oldest(w):
    """Three subscriptions, of which two begin at the oldest message; the first was there before the second message."""
    line = w.line()
    pen = w.pen(line, "t")
    w.send(pen)
    w.settle()
    w.ear(line, "t", "waits")
    w.send(pen)
    for name in ("one", "two"):
        w.flow(w.ear(line, "t", name, **EARLIEST), 10)
        w.settle()
    w.wait()


def sought_twice(w):
    """A subscription is moved on past some messages, and then to the oldest."""
    line, ear, pen = ready(w, sends=4)
    for at in (Ref("pushed", (ear.line, ear.id, 2)), scenes.EARLIEST):
        w.settle()
        w.say(line, draft("SEEK", consumer_id=ear.id, request_id=w.request(line), message_id=at))
        scenes._back(w, line, ear)
        ear = line.ears[-1]
    w.send(pen)
    w.wait()


def idle(w):
    ready(w, sends=1)
    w.wait(3000)


@pytest.mark.parametrize(
    ("play", "switches"),
    [
        (batches, {"ack_sets": "all"}),  # the messages of a batch that are left are named though it is all of them
        (part_again, {"part_permits": "all"}),  # and it may use permits for all of the batch, or for what is left; P-40
        (part_again, {"part_permits": "left"}),
        # it may drop what every subscription is done with, and what came when there was none; P-95
        *[(play, {"keeps": keeps}) for play in (begins_at_the_oldest, sought_twice) for keeps in ("all", "needed")],
        (idle, {"keepalive_ms": 500}),  # how long it waits for a sign of life nobody has said
    ],
)
def test_a_broker_may(play, switches):
    assert must_fail(played(play, **switches)) == []


@pytest.mark.parametrize("cost", ["left", "all"])
def test_a_batch_uses_no_more_permits_than_it_has_messages(cost, monkeypatch):
    """129 permits are enough for a batch of 64, twice, and for a message behind it."""
    assert must_fail(played(lambda w: part_again(w, 129), part_permits=cost)) == []
    counted = Subscription.cost
    monkeypatch.setattr(Subscription, "cost", lambda self, at, entry: counted(self, at, entry) + 40)
    breaches = must_fail(played(lambda w: part_again(w, 129), part_permits=cost))
    assert any({"PULSAR-FLOW-04", "PULSAR-E2E-01"} & {each.requirement, *each.also} for each in breaches), breaches


def test_a_broker_keeps_what_one_subscription_needs(monkeypatch):
    """The second message is held for the first subscription: those that begin at the oldest must get it (P-95)."""
    monkeypatch.setattr(Topic, "drop", lambda self: setattr(self, "first", len(self.entries)))
    breaches = must_fail(played(begins_at_the_oldest, keeps="needed"))
    assert breaches
    breaches = must_fail(played(sought_twice, keeps="needed"))
    assert any("PULSAR-SEEK-01" in (each.requirement, *each.also) for each in breaches), breaches


@pytest.mark.parametrize(
    ("play", "level"),
    [
        (first("PRODUCER"), "PULSAR-INV-BROKER-01"),
        (first("LOOKUP"), "PULSAR-INV-BROKER-01"),
        (again, "PULSAR-INV-BROKER-02"),
    ],
)
def test_what_has_no_effect_may_be_passed_over(play, level):
    """P-97: a command before CONNECT, and a second CONNECT. That they are answered is a fault, as the mutants show."""
    recording = played(play, recommended=False)
    assert must_fail(recording) == []
    assert level in {each.breach.requirement for each in recording.judgement.faults}
    assert played(play).judgement.verdict == "pass"


def once_more(w):
    """A producer whose name had another one before, and whose first sequence id is that of its first one."""
    line, _, pen = ready(w)
    for _ in range(2):
        pen = w.pen(line, pen.topic, 3, "same")
        w.send(pen)
        w.settle()
        w.close_pen(pen)
        w.settle()
    w.wait()


@pytest.mark.parametrize("confirms", ["the first id", "no id", "another id"])
def test_what_a_broker_says_to_know_it_may_confirm(confirms, monkeypatch):
    """P-28: nothing is declared of deduplication, but `last_sequence_id` says it; or does not."""
    receipts = []

    def confirm(self, producer, body):
        first = {"ledgerId": NOWHERE, "entryId": NOWHERE} if confirms == "no id" else receipts[0]
        self.broker.persist(producer, lambda: self.receipt(producer, body, first))

    def receipt(self, producer, body, message_id):
        receipts.append(message_id)
        said(self, producer, body, message_id)

    said = Session.receipt
    monkeypatch.setattr(Session, "receipt", receipt)
    monkeypatch.setattr(Session, "confirm_unstored", confirm)
    assert must_fail(played(once_more, deduplication=confirms != "another id")) == []
    assert len(receipts) == 2
    told = Session.tell_producer

    def untold(self, body, producer):
        sequences, producer.topic.sequences = producer.topic.sequences, {}
        told(self, body, producer)
        producer.topic.sequences = sequences

    monkeypatch.setattr(Session, "tell_producer", untold)
    receipts.clear()
    assert bool(must_fail(played(once_more, deduplication=confirms != "another id"))) == (confirms != "another id")


def five(w):
    """Five producers of a topic on three connections, five consumers of a subscription, and a long name."""
    for n in range(5):
        w.pen(w.line(n % 3), "t", n)
    for n in range(5):
        w.ear(w.line(n % 3), "t", "s", SHARED, n)
    w.pen(w.line(), "n" * 120)
    w.lookup(w.line(), "n" * 120)
    w.wait()


@pytest.mark.parametrize(("room", "musts"), [(2, False), (1, True)])
def test_a_broker_may_have_room_for_two(room, musts, monkeypatch):
    """P-94: of a producer, a consumer, and a topic whose name has more than a hundred characters."""
    made, joined = Session.new_producer, Session.subscription_for

    def producer(self, body, topic):
        if len(topic.producers) >= room or "nnn" in topic.name:
            raise Refused("ProducerBusy", "no room")
        return made(self, body, topic)

    def consumer(self, body, topic):
        there = topic.subscriptions.get(body["subscription"])
        if there is not None and len(there.consumers) >= room:
            raise Refused("ConsumerBusy", "no room")
        return joined(self, body, topic)

    monkeypatch.setattr(Session, "new_producer", producer)
    monkeypatch.setattr(Session, "subscription_for", consumer)
    recording = played(five)
    names = {each.breach.requirement for each in recording.judgement.faults}
    assert names
    assert bool(must_fail(recording)) == musts
