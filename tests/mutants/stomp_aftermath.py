"""Faults in acknowledgements and transactions that only a history shows: what was said before, here or elsewhere."""

from __future__ import annotations

from impls.references.stomp.reference import Delivery, Frame, Message, Session, Settle, Subscription, Topic, Transaction
from strategies.stomp import writer as plans
from tests.mutants.kit import QUEUE, TOPIC, begin, end, listening, mutant, plan, taken, within


def _full(w: plans.Writer) -> tuple[plans.Line, plans.Sub]:
    """A subscription whose window of two is full."""
    line = w.line()
    sub = w.subscribe(line, QUEUE, "client", receipt=w.receipt())
    for _ in range(2):
        w.send(line, QUEUE)
    w.wait()
    return line, sub


# -- acknowledgements --------------------------------------------------------------------------------------------------


@plan
def _again_then_ack(w: plans.Writer) -> None:
    line, sub = taken(w, "client", 3)
    w.acknowledge(line, sub, 0, verb="NACK", receipt=w.receipt())
    w.wait()
    w.acknowledge(line, sub, 2, receipt=w.receipt())
    w.acknowledge(line, sub, 3, receipt=w.receipt())


@mutant("cumulative-by-age", "ERROR-07", _again_then_ack, accept="ACKMODE-04 ACKMODE-07 ACK-01 ACK-02 NACK-03")
class CumulativeByAge(Session):
    """A cumulative ACK also settles what was sent earlier and came again later."""

    def settle_upto(self, delivery: Delivery) -> list[Delivery]:
        covered, age = super().settle_upto(delivery), int(delivery.message.id)
        waiting = delivery.subscription.unacked.values()
        return covered + [each for each in waiting if each not in covered and int(each.message.id) < age]


@plan
def _nack_then_acks(w: plans.Writer) -> None:
    line, sub = taken(w, "client-individual", 2)
    w.acknowledge(line, sub, 0, verb="NACK", receipt=w.receipt())
    w.acknowledge(line, sub, 1, receipt=w.receipt())
    w.hang(line)
    w.subscribe(w.line(9), QUEUE, receipt=w.receipt())


@mutant(
    "deaf-behind-a-nack",
    "ACKMODE-08",
    _nack_then_acks,
    accept="ACKMODE-04 ACK-01 RECEIPT-04",
    switches={"nack": "discard"},
)
class DeafBehindANack(Session):
    """The ACK that follows a NACK is receipted and has no effect."""

    rejected = False

    def settle(self, delivery: Delivery, accepted: bool) -> None:
        if not (accepted and self.rejected):
            super().settle(delivery, accepted)
        self.rejected = not accepted


@plan
def _rejected_window(w: plans.Writer) -> None:
    line, sub = _full(w)
    w.acknowledge(line, sub, 1, verb="NACK", receipt=w.receipt())
    w.send(w.line(1), QUEUE)


@mutant(
    "rejected-take-room",
    "SUB-05",
    _rejected_window,
    accept="NACK-02 ACKMODE-04",
    switches={"nack": "discard", "prefetch": 2},
)
class RejectedTakeRoom(Session):
    """What was rejected goes on counting against its subscription's window of two."""

    lost = 0

    def has_room(self, subscription: Subscription) -> bool:
        return super().has_room(subscription) and len(subscription.unacked) + self.lost < 2

    def reject(self, deliveries: list[Delivery]) -> None:
        self.lost += len(deliveries)
        super().reject(deliveries)


@plan
def _rejected_at_a_topic(w: plans.Writer) -> None:
    other, line = w.line(1), w.line()
    w.subscribe(other, TOPIC, receipt=w.receipt())
    sub = w.subscribe(line, TOPIC, "client", receipt=w.receipt())
    w.send(line, TOPIC)
    w.wait()
    w.acknowledge(line, sub, 0, verb="NACK", receipt=w.receipt())


@mutant("rejected-for-all", "MSG-10", _rejected_at_a_topic, accept="NACK-03")
class RejectedForAll(Topic):
    """What one subscriber of a topic rejects is given to all of them again."""

    def take_back(self, deliveries: list[Delivery], where: str) -> None:
        for delivery in deliveries:
            for each in [*self.subscribers]:
                self.offer(each, delivery.message)


@plan
def _two_subscriptions(w: plans.Writer) -> None:
    line = w.line()
    first = w.subscribe(line, QUEUE, "client", receipt=w.receipt())
    w.send(line, QUEUE)
    w.wait()
    w.subscribe(line, QUEUE, receipt=w.receipt())
    w.acknowledge(line, first, 0, verb="NACK", receipt=w.receipt())


@mutant(
    "named-as-before",
    "MSG-04",
    _two_subscriptions,
    accept="MSG-05 MSG-10 ACK-03 MSG-09 ERROR-07 UNSUB-03",
    switches={"queue_order": "idle-first"},
)
class NamedAsBefore(Session):
    """What comes again to the connection that had it names the subscription that it first came to."""

    first: dict[str, str | None] | None = None

    def message_headers(
        self, subscription: Subscription, message: Message, ack: str | tuple[str, str] | None
    ) -> list[tuple[str, str]]:
        self.first = {} if self.first is None else self.first
        headers = super().message_headers(subscription, message, ack)
        name = (
            self.first.setdefault(message.headers[0][1] + message.destination, subscription.id)
            if message.headers
            else None
        )
        return [(k, name if k == "subscription" and name and message.redelivered else v) for k, v in headers]


# -- transactions ------------------------------------------------------------------------------------------------------


@plan
def _orphaned(w: plans.Writer) -> None:
    first, second = w.line(), w.line(1)
    w.subscribe(second, QUEUE, receipt=w.receipt())
    begin(w, first)
    within(w, first)
    w.hang(first)
    begin(w, second)
    end(w, second)


@mutant("orphans-adopted", "TXN-05", _orphaned, accept="TXN-07 TXN-02 TXN-10")
class OrphansAdopted(Session):
    """A transaction begins with what a connection that was lost left in one of the same name."""

    def on_lost_connection(self) -> None:
        left = {name: [*each.work] for name, each in self.transactions.items()}
        vars(self.server).setdefault("orphans", {}).update(left)
        super().on_lost_connection()

    def on_BEGIN(self, frame: Frame) -> None:
        super().on_BEGIN(frame)
        name = frame.first["transaction"]
        work = vars(self.server).get("orphans", {}).pop(name, [])
        self.transactions[name].work += [each for each in work if not isinstance(each, Settle)]


@plan
def _error_elsewhere(w: plans.Writer) -> None:
    first, second = w.line(), w.line(1)
    w.subscribe(first, QUEUE, receipt=w.receipt())
    begin(w, first)
    within(w, first)
    w.wait()
    w.say(second, "SEND", [w.receipt()])
    w.wait()
    end(w, first)


@mutant("error-empties-transactions", "TXN-03", _error_elsewhere, accept="ROB-02 TXN-07 TXN-10 SUB-05")
class ErrorEmptiesTransactions(Session):
    """ERROR on one connection empties the open transactions of the others."""

    def fail(self, why: str, frame: Frame | None = None, *headers: tuple[str, str]) -> None:
        super().fail(why, frame, *headers)
        for other in self.server.sessions.values():
            for each in other.transactions.values():
                each.work.clear()


@plan
def _abort_then_commit(w: plans.Writer) -> None:
    line = listening(w)
    begin(w, line, "t")
    begin(w, line, "u")
    within(w, line, "u")
    end(w, line, "t", "ABORT")
    end(w, line, "u")


@mutant("abort-costs-the-next", "TXN-10", _abort_then_commit, accept="TXN-03 TXN-04")
class AbortCostsTheNext(Session):
    """An ABORT while another transaction is open takes the first frame of what is committed next."""

    costs = False

    def on_ABORT(self, frame: Frame) -> None:
        super().on_ABORT(frame)
        self.costs = bool(self.transactions)

    def commit(self, transaction: Transaction) -> None:
        if self.costs:
            self.costs = False
            del transaction.work[:1]
        super().commit(transaction)
