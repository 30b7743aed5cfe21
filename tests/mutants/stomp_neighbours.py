"""Faults of a server that show where something has ended and its neighbour is used: the scenes of
`strategies.stomp.neighbours` and `strategies.stomp.neighbours_more`."""

from __future__ import annotations

from impls.references.stomp.reference import Frame, Message, Refused, Session, Settle, Subscription, Transaction
from strategies.stomp import writer as plans
from tests.mutants.kit import QUEUE, TOPIC, TOPIC_2, begin, collected, end, mutant, plan, taken


@plan
def _two_ask(w: plans.Writer) -> None:
    w.send(w.line(), TOPIC, receipt=("receipt", "r"), when="join")
    w.send(w.line(), TOPIC, receipt=("receipt", "r"), when="now")


@plan
def _taken_back_and_again(w: plans.Writer) -> None:
    line, sub = taken(w, "client-individual")
    begin(w, line)
    w.acknowledge(line, sub, 0, tx="t")
    end(w, line, verb="ABORT")
    begin(w, line)
    end(w, line)
    sub.taken.clear()
    w.acknowledge(line, sub, 0)


@mutant("receipts-are-a-set", "RECEIPT-08", _two_ask, accept="RECEIPT-01 SUB-05 MSG-10")
class ReceiptsAreASet(Session):
    """What was read at once gets its receipts together, each of them once."""

    given: set[str] | None = None

    def work(self) -> None:
        self.given = set()
        super().work()

    def receipt(self, number: str) -> None:
        given = self.given if self.given is not None else set()
        if number not in given:
            super().receipt(number)
        given.add(number)


@mutant("acks-of-the-name-before", "ACK-06", _taken_back_and_again, level="SHOULD")
class AcksOfTheNameBefore(Session):
    """What an ABORT has thrown away is kept by the name of its transaction, and takes effect when the next one of that
    name is committed."""

    kept: dict[str, list[Settle]] | None = None

    def abort(self, transaction: Transaction) -> None:
        self.kept = {**(self.kept or {}), transaction.name: [w for w in transaction.work if isinstance(w, Settle)]}
        super().abort(transaction)

    def commit(self, transaction: Transaction) -> None:
        super().commit(transaction)
        for work in (self.kept or {}).pop(transaction.name, []):
            self.settle(work.delivery, work.accepted)


@plan
def _both_taken_back(w: plans.Writer) -> None:
    line, sub = taken(w, "client-individual", 2)
    begin(w, line)
    w.acknowledge(line, sub, 0, tx="t")
    w.acknowledge(line, sub, 1, tx="t")
    end(w, line, verb="ABORT")
    w.wait()
    collected(w, line)


@mutant("abort-gives-back-one", "ACK-06", _both_taken_back, accept="TXN-04", level="SHOULD")
class AbortGivesBackOne(Session):
    """ABORT takes back the first acknowledgement of its transaction; what the others named is lost."""

    def on_ABORT(self, frame: Frame) -> None:
        settled = [work for work in self.open_transaction(frame).work if isinstance(work, Settle)]
        super().on_ABORT(frame)
        for work in settled[1:]:
            self.release(work.delivery)


@plan
def _refused_then_heard(w: plans.Writer) -> None:
    w.say(w.line(), "SUBSCRIBE", [("id", "0"), ("destination", QUEUE), ("ack", "sometimes"), w.receipt()])
    w.wait()
    other = w.line(1)
    w.subscribe(other, QUEUE, receipt=w.receipt())
    w.send(other, QUEUE)


class _Ghost(Subscription):
    """Takes its turn, and tells nobody."""

    def deliver(self, message: Message) -> None:
        self.delivered += 1


@mutant("refused-subscription-takes-its-turn", "SUB-05", _refused_then_heard, accept="SUB-06 ROB-02 SUB-04 RECEIPT-05")
class RefusedSubscriptionTakesItsTurn(Session):
    """A SUBSCRIBE that is refused leaves something at its destination that takes messages."""

    def on_SUBSCRIBE(self, frame: Frame) -> None:
        try:
            super().on_SUBSCRIBE(frame)
        except Refused:
            if "destination" in frame.first:
                destination = self.server.broker.find(frame.first["destination"])
                destination.subscribers.append(_Ghost("", "", self, destination, "auto"))
            raise


@plan
def _alike(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, TOPIC, identity="1", receipt=w.receipt())
    w.unsubscribe(line, w.subscribe(line, TOPIC_2, identity="01"), receipt=w.receipt())
    w.send(line, TOPIC)


@mutant("unsubscribed-by-number", "UNSUB-05", _alike, accept="UNSUB-03 SUB-05 MSG-09")
class UnsubscribedByNumber(Session):
    """UNSUBSCRIBE ends the first subscription whose id is the same number."""

    def on_UNSUBSCRIBE(self, frame: Frame) -> None:
        number = _number(frame.first.get("id"))
        same = next((key for key in self.subscriptions if number is not None and _number(key) == number), None)
        super().on_UNSUBSCRIBE(frame if same is None else frame._replace(first={**frame.first, "id": str(same)}))


def _number(text: object) -> float | None:
    try:
        return float(str(text))
    except ValueError:
        return None
