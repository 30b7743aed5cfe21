"""Faults of a broker: what shows only with a third of a kind, and what a consumer leaves behind when it goes."""

from __future__ import annotations

from typing import Any

from impls.references.pulsar.reference import Consumer, Session, Subscription, Topic
from impls.references.pulsar.wire import Message
from strategies.pulsar.writer import Writer
from tests.mutants.faults import on
from tests.mutants.pulsar_failover import masters
from tests.mutants.pulsar_kit import FAILOVER, SHARED, mutant, ready
from tests.mutants.pulsar_permits import batches

GONE = "CLC-03 E2E-01 FLOW-04 FAIL-03 SUB-07 SUB-09 CONN-12 ACK-02"


@mutant("second-of-three-is-master", "FAIL-02", masters("a", "b", "c", apart=True), accept="FAIL-01")
class SecondOfThreeIsMaster(Subscription):
    """Of three consumers and more the second by name is the master."""

    def choose_active(self) -> Consumer:
        by_name = sorted(self.consumers, key=self.sort_name)
        return by_name[1] if self.kind == FAILOVER and len(by_name) > 2 else super().choose_active()


def _three_names(w: Writer) -> None:
    line = w.line()
    pen = w.pen(line, "t")
    for name in ("s", "s2", "s3"):
        w.flow(w.ear(line, "t", name), 10)
    w.send(pen)


@mutant("third-subscription-unwoken", "SUB-08", _three_names, accept="FLOW-04 E2E-01")
class ThirdSubscriptionUnwoken(Topic):
    """Only the first two subscriptions of a topic hear of what is published."""

    def wake(self) -> None:
        for subscription in list(self.subscriptions.values())[:2]:
            subscription.wake()


def _one_of_two_goes(w: Writer) -> None:
    _, ear, pen = ready(w, SHARED, sends=0)
    w.flow(w.ear(w.line(1), "t", "s", SHARED), 100)
    for _ in range(6):
        w.send(pen)
    w.ping(w.of(ear.line))
    w.settle()
    w.close_ear(ear)


@mutant("leaves-with-its-messages", "CLC-03", _one_of_two_goes, accept=GONE, history=True)
class LeavesWithItsMessages(Session):
    """What a consumer of a Shared subscription has not acknowledged when it is closed goes to nobody."""

    def on_close_consumer(self, body: Message) -> None:
        consumer = self.consumer_of(body["consumer_id"])
        if consumer is not None and consumer.subscription.kind == SHARED:
            consumer.pending.clear()
        super().on_close_consumer(body)


@mutant("newest-is-lost-when-it-leaves", "CLC-03", _one_of_two_goes, accept=GONE, history=True)
class NewestIsLostWhenItLeaves(Session):
    """Of several messages that a consumer has not acknowledged when it goes the newest is lost."""

    def forget_consumer(self, consumer: Consumer) -> None:
        if len(consumer.pending) > 1:
            consumer.pending.popitem()
        super().forget_consumer(consumer)


mutant("permits-by-entry", "FLOW-09", batches, level="ASSUMED", accept="FLOW-02 RED-06", history=True)(
    "Whatever an entry holds, one permit is spent for it.", on(Consumer, "spend").takes(messages=lambda: 1)
)


def _two_of_one_connection(w: Writer) -> None:
    line = w.line()
    first = w.ear(line, "t", "s", SHARED)
    w.ear(line, "t", "s", SHARED)
    w.flow(first, 10)
    w.send(w.pen(line, "t"))


@mutant("permits-for-the-newest", "FLOW-05", _two_of_one_connection, accept="FLOW-01 FLOW-02 FLOW-06 SUB-07 FLOW-04")
class PermitsForTheNewest(Session):
    """FLOW is for the consumer of the subscription that was opened last on its connection."""

    def on_flow(self, body: Message) -> None:
        named = self.consumers.get(body["consumer_id"])
        beside: list[Any] = [
            each for each in self.consumers.values() if named and each.subscription is named.subscription
        ]
        super().on_flow({**body, "consumer_id": beside[-1].id} if beside else body)
