"""Faults by which what happens to one thing is felt by its neighbour: another transaction, another subscription,
another connection, what waits at a queue, or something of another kind that has the same name.

Each is a server that is right as long as one thing is open at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

from impls.references.stomp.reference import Delivery, Frame, Queue, Session, Settle, Subscription, Transaction
from strategies.stomp import writer as plans
from tests.mutants.kit import QUEUE, QUEUE_2, TOPIC, begin, end, listening, mutant, plan, taken, within


def _others(session: Session) -> Iterator[Session]:
    """The sessions of the other connections."""
    return (each for each in [*session.server.sessions.values()] if each is not session)


# -- transactions beside each other -----------------------------------------------------------------------------------


@plan
def _acked_beside_an_abort(w: plans.Writer) -> None:
    line, sub = taken(w, "client-individual")
    begin(w, line, "t")
    begin(w, line, "u")
    w.acknowledge(line, sub, 0, tx="t", receipt=w.receipt())
    end(w, line, "u", "ABORT")
    end(w, line, "t")
    w.wait()
    w.hang(line)
    w.subscribe(w.line(9), QUEUE, receipt=w.receipt())


@mutant("abort-drops-acks-of-others", "ACKMODE-08", _acked_beside_an_abort, accept="TXN-10 TXN-03 ACK-06 TXN-04")
class AbortDropsAcksOfOthers(Session):
    """ABORT takes the ACKs out of the other open transactions of its connection."""

    def abort(self, transaction: Transaction) -> None:
        super().abort(transaction)
        for each in self.transactions.values():
            each.work = [work for work in each.work if not isinstance(work, Settle)]


@plan
def _two_senders(w: plans.Writer) -> None:
    first, second = listening(w), w.line(1)
    for line, tx in ((first, "t"), (second, "u")):
        begin(w, line, tx)
        within(w, line, tx)
    w.wait()
    end(w, second, "u")


@mutant("commit-for-all-at-its-place", "TXN-02", _two_senders, accept="TXN-07 TXN-10 TXN-03")
class CommitForAllAtItsPlace(Session):
    """COMMIT lets the SENDs of other connections' open transactions go that are for a destination of its own."""

    def commit(self, transaction: Transaction) -> None:
        super().commit(transaction)
        places = {work.first["destination"] for work in transaction.work if isinstance(work, Frame)}
        for other in _others(self):
            for each in other.transactions.values():
                for work in [*each.work]:
                    if isinstance(work, Frame) and work.first["destination"] in places:
                        each.work.remove(work)
                        other.publish(work)


@plan
def _kept_behind_an_abort(w: plans.Writer) -> None:
    line = w.line()
    w.send(line, QUEUE, receipt=w.receipt())
    begin(w, line)
    within(w, line)
    end(w, line, verb="ABORT")
    w.wait()
    w.subscribe(line, QUEUE, receipt=w.receipt())


@mutant(
    "abort-empties-its-places", "SUB-05", _kept_behind_an_abort, accept="RECEIPT-04 TXN-11 TXN-10 TXN-04 SUB-08 TXN-07"
)
class AbortEmptiesItsPlaces(Session):
    """ABORT drops the newest message that waits at each destination to which its transaction had a SEND."""

    def abort(self, transaction: Transaction) -> None:
        for work in transaction.work:
            queue = self.server.broker.destinations.get(work.first["destination"]) if isinstance(work, Frame) else None
            if isinstance(queue, Queue) and queue.ready:
                queue.ready.pop()
        super().abort(transaction)


@mutant("leaving-commits-namesakes", "TXN-02", plan(lambda w: (
    begin(w, w.line()),
    within(w, w.line(), place=TOPIC),
    w.subscribe(w.line(1), TOPIC, receipt=w.receipt()),
    begin(w, w.line(2)),
    w.wait(),
    w.disconnect(w.line(2)),
)), accept="TXN-07 TXN-05 TXN-10")  # fmt: skip
class LeavingCommitsNamesakes(Session):
    """A connection that leaves with an open transaction commits those of the same name on the others."""

    def on_lost_connection(self) -> None:
        for other in _others(self):
            for name in self.transactions.keys() & other.transactions.keys():
                other.commit(other.transactions[name])
                other.transactions[name].work.clear()
        super().on_lost_connection()


@plan
def _acked_in_the_second_of_a_name(w: plans.Writer) -> None:
    line, sub = taken(w, "client-individual")
    begin(w, line)
    end(w, line)
    begin(w, line)
    w.acknowledge(line, sub, 0, tx="t", receipt=w.receipt())
    w.wait()
    w.hang(line)
    w.subscribe(w.line(9), QUEUE, receipt=w.receipt())


@mutant("acks-of-a-known-name-count", "ACK-06", _acked_in_the_second_of_a_name, level="SHOULD", accept="TXN-09 TXN-04")
class AcksOfAKnownNameCount(Session):
    """In a transaction whose name was used before, an ACK counts at once."""

    known: frozenset[str] = frozenset()

    def close_transaction(self, frame: Frame) -> Transaction:
        found = super().close_transaction(frame)
        self.known |= {found.name}
        return found

    def on_settle(self, frame: Frame, accepted: bool) -> None:
        if accepted and frame.first.get("transaction") in self.known:
            delivery = self.named_by(frame)
            if delivery is not None:
                self.settle(delivery, accepted)
        else:
            super().on_settle(frame, accepted)


# -- subscriptions beside each other ----------------------------------------------------------------------------------


@plan
def _one_of_two_left_with_a_message(w: plans.Writer) -> None:
    line, _ = taken(w, "client")
    w.unsubscribe(line, w.subscribe(line, QUEUE_2), receipt=w.receipt())
    w.wait()
    w.hang(line)
    w.subscribe(w.line(9), QUEUE, receipt=w.receipt())


@mutant("unsubscribe-settles-others", "ACK-02", _one_of_two_left_with_a_message, accept="UNSUB-05 ACKMODE-07")
class UnsubscribeSettlesOthers(Session):
    """UNSUBSCRIBE settles what the other subscriptions of the connection have not acknowledged."""

    def unsubscribe(self, subscription: Subscription) -> None:
        super().unsubscribe(subscription)
        for delivery in [*self.unacked.values()]:
            self.release(delivery)
            self.tolerate(delivery.key)


@plan
def _differ_in_case(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, TOPIC, identity="Ab", receipt=w.receipt())
    other = w.subscribe(line, QUEUE_2, identity="aB")
    w.unsubscribe(line, other, receipt=w.receipt())
    w.send(line, TOPIC)


@mutant(
    "unsubscribe-in-any-case", "SUB-05", _differ_in_case, accept="UNSUB-05 UNSUB-02 SUB-08 ACKMODE-01 SUB-10 MSG-10"
)
class UnsubscribeInAnyCase(Session):
    """UNSUBSCRIBE also ends subscriptions whose ids differ from its own in letter case alone."""

    def unsubscribe(self, subscription: Subscription) -> None:
        super().unsubscribe(subscription)
        for each in [*self.subscriptions.values()]:
            if each.key.lower() == subscription.key.lower():
                super().unsubscribe(each)


@plan
def _used_again_in_another_mode(w: plans.Writer) -> None:
    line = w.line()
    w.unsubscribe(line, w.subscribe(line, TOPIC, identity="s"), receipt=w.receipt())
    sub = w.subscribe(line, QUEUE, "client", identity="s", receipt=w.receipt())
    w.send(line, QUEUE)
    w.wait()
    w.acknowledge(line, sub, 0, receipt=w.receipt())


@mutant(
    "used-again-as-before",
    "ERROR-07",
    _used_again_in_another_mode,
    accept="ACK-01 SUB-11 ACK-02 ACK-03 MSG-05 ACK-07 ACKMODE-04 ACKMODE-07 NACK-01 RECEIPT-01 NACK-03 ACKMODE-05",
)
class UsedAgainAsBefore(Session):
    """A subscription id that is used again is in the mode it had before: an ACK of what needed none is refused."""

    modes: dict[str, str] | None = None

    def on_SUBSCRIBE(self, frame: Frame) -> None:
        super().on_SUBSCRIBE(frame)
        self.modes = {} if self.modes is None else self.modes
        self.modes.setdefault(frame.first.get("id", ""), frame.first.get("ack", "auto"))

    def deliver(self, subscription: Subscription, message: object) -> None:
        super().deliver(subscription, message)
        if (self.modes or {}).get(subscription.key) == "auto":
            for delivery in [*subscription.unacked.values()]:
                self.release(delivery)


# -- things of several kinds that have one name -----------------------------------------------------------------------


@plan
def _receipt_named_as_a_subscription(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, TOPIC, identity="a", receipt=w.receipt())
    w.send(line, QUEUE, receipt=("receipt", "a"))
    w.send(line, TOPIC)


@mutant(
    "receipt-ends-namesake", "SUB-05", _receipt_named_as_a_subscription, accept="UNSUB-05 SUB-08 ACKMODE-01 RECEIPT-04"
)
class ReceiptEndsNamesake(Session):
    """A RECEIPT whose value is the id of an open subscription ends that: both are kept in one table."""

    def on_receipt(self, frame: Frame) -> None:
        super().on_receipt(frame)
        named = self.subscriptions.get(frame.first["receipt"])
        if named is not None and frame.command not in ("SUBSCRIBE", "UNSUBSCRIBE"):
            self.server.broker.unsubscribe(named)


@plan
def _transaction_named_as_a_subscription(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, TOPIC, identity="t", receipt=w.receipt())
    begin(w, line)
    end(w, line)
    w.send(line, TOPIC)


@mutant(
    "commit-ends-namesake", "SUB-05", _transaction_named_as_a_subscription, accept="UNSUB-05 SUB-08 ACKMODE-01 TXN-11"
)
class CommitEndsNamesake(Session):
    """COMMIT ends the subscription that has the name of its transaction."""

    def on_COMMIT(self, frame: Frame) -> None:
        super().on_COMMIT(frame)
        named = self.subscriptions.get(frame.first["transaction"])
        if named is not None:
            self.server.broker.unsubscribe(named)


@plan
def _subscription_named_as_a_transaction(w: plans.Writer) -> None:
    line = listening(w)
    sub = w.subscribe(line, TOPIC, identity="t")
    begin(w, line)
    within(w, line)
    w.unsubscribe(line, sub, receipt=w.receipt())
    end(w, line)


@mutant("unsubscribe-empties-namesake", "TXN-03", _subscription_named_as_a_transaction, accept="TXN-10 SUB-05 UNSUB-05")
class UnsubscribeEmptiesNamesake(Session):
    """UNSUBSCRIBE empties the open transaction that has the name of its subscription."""

    def unsubscribe(self, subscription: Subscription) -> None:
        super().unsubscribe(subscription)
        if subscription.key in self.transactions:
            self.transactions[subscription.key].work.clear()


# -- what waits, and what is out, when somebody else goes --------------------------------------------------------------


@plan
def _kept_and_cut(w: plans.Writer) -> None:
    line = w.line()
    w.send(line, QUEUE, receipt=w.receipt())
    w.wait()
    w.hang(line, "reset")
    w.subscribe(w.line(9), QUEUE, receipt=w.receipt())


@mutant("kept-goes-with-its-sender", "SUB-05", _kept_and_cut, accept="RECEIPT-04 SUB-08 ROB-02 DISC-01 DISC-07")
class KeptGoesWithItsSender(Session):
    """What a client has sent and nobody has taken yet is dropped when its connection ends without DISCONNECT."""

    sent: tuple[str, ...] = ()
    left = False

    def publish(self, frame: Frame) -> None:
        super().publish(frame)
        self.sent = (*self.sent, frame.first["destination"])

    def on_DISCONNECT(self, frame: Frame) -> None:
        self.left = True
        super().on_DISCONNECT(frame)

    def on_lost_connection(self) -> None:
        for name in () if self.left else self.sent:
            queue = self.server.broker.destinations.get(name)
            if isinstance(queue, Queue) and queue.ready:
                queue.ready.pop()
        super().on_lost_connection()


@plan
def _refused_elsewhere(w: plans.Writer) -> None:
    line, _ = taken(w, "client")
    other = w.line(1)
    w.subscribe(other, TOPIC, identity="0")
    w.say(other, "BEGIN", [w.receipt()])
    w.wait()
    w.hang(line)
    w.subscribe(w.line(9), QUEUE, receipt=w.receipt())


@mutant("error-settles-namesakes", "ACK-02", _refused_elsewhere, accept="ROB-02 SUB-04 ACKMODE-07")
class ErrorSettlesNamesakes(Session):
    """ERROR settles what other connections have not acknowledged on subscriptions with the ids of its own."""

    def fail(self, why: str, frame: Frame | None = None, *headers: tuple[str, str]) -> None:
        mine = {*self.subscriptions}
        super().fail(why, frame, *headers)
        for other in _others(self):
            for delivery in [each for each in other.unacked.values() if each.subscription.key in mine]:
                other.release(delivery)
                other.tolerate(delivery.key)


@plan
def _taken_by_two(w: plans.Writer) -> None:
    first, one = taken(w, "client-individual", slot=0)
    second = w.line(1)
    w.subscribe(second, QUEUE_2, "client-individual", identity=one.id)
    w.send(second, QUEUE_2)
    w.wait()
    w.acknowledge(first, one, 0, receipt=w.receipt())
    w.wait()
    w.hang(second)
    w.subscribe(w.line(9), QUEUE_2, receipt=w.receipt())


@mutant("ack-settles-namesakes", "ACKMODE-07", _taken_by_two, accept="SUB-04 ACK-02 ROB-02 ACKMODE-05 ACKMODE-04")
class AckSettlesNamesakes(Session):
    """ACK settles the oldest delivery of each subscription that has the same id on another connection."""

    def settle(self, delivery: Delivery, accepted: bool) -> None:
        super().settle(delivery, accepted)
        for other in _others(self) if accepted else ():
            twin = other.subscriptions.get(delivery.subscription.key)
            for each in [*twin.unacked.values()][:1] if twin is not None else ():
                other.release(each)
                other.tolerate(each.key)


@plan
def _acknowledged_by_another(w: plans.Writer) -> None:
    first, one = taken(w, "client-individual", slot=0)
    w.say(w.line(1), "ACK", [*w.handle(first, one.id, 0), w.receipt()])


@mutant("foreign-ack-settles", "ACK-03", _acknowledged_by_another, accept="ACK-04 INV-09 ACK-02 ROB-02")
class ForeignAckSettles(Session):
    """An ACK may name what another connection was given, and settles that."""

    def on_settle(self, frame: Frame, accepted: bool) -> None:
        key = self.key_of(frame)
        for other in _others(self) if key not in self.unacked else ():
            if key in other.unacked:
                other.settle(other.unacked[key], accepted)
                return
        super().on_settle(frame, accepted)


@plan
def _acknowledged_beside_one_that_ends(w: plans.Writer) -> None:
    line, one = taken(w, "client-individual", slot=0)
    other = w.subscribe(line, QUEUE_2, receipt=w.receipt())
    w.say(line, "BEGIN", [("transaction", "t")])
    w.acknowledge(line, one, 0, tx="t")
    w.unsubscribe(line, other, receipt=w.receipt())
    w.say(line, "COMMIT", [("transaction", "t"), w.receipt()])
    w.wait()
    w.hang(line)
    w.subscribe(w.line(9), one.place, receipt=w.receipt())


@mutant(
    "unsubscribe-empties-transactions",
    "ACKMODE-08",
    _acknowledged_beside_one_that_ends,
    accept="ACK-05 ACK-06 TXN-03 UNSUB-05",
)
class UnsubscribeEmptiesTransactions(Session):
    """UNSUBSCRIBE takes the acknowledgements of all subscriptions out of the open transactions."""

    def on_UNSUBSCRIBE(self, frame: Frame) -> None:
        super().on_UNSUBSCRIBE(frame)
        for transaction in self.transactions.values():
            transaction.work[:] = [work for work in transaction.work if isinstance(work, Frame)]


@plan
def _heard_behind_an_abort(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, TOPIC, receipt=w.receipt())
    begin(w, line)
    within(w, line)
    within(w, line)
    end(w, line, verb="ABORT")
    w.send(line, TOPIC, receipt=w.receipt())


@mutant("abort-of-several-unsubscribes", "TXN-11", _heard_behind_an_abort, accept="SUB-05 SUB-08 TXN-04 TXN-10")
class AbortOfSeveralUnsubscribes(Session):
    """When a transaction with several frames is aborted, its connection gets no more messages."""

    def abort(self, transaction: Transaction) -> None:
        if len(transaction.work) > 1:
            for subscription in self.subscriptions.values():
                self.server.broker.unsubscribe(subscription)
        super().abort(transaction)
