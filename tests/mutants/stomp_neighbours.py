"""Faults of a server that show where something has ended and its neighbour is used: the scenes of
`strategies.stomp.neighbours`."""

from __future__ import annotations

from impls.references.stomp.reference import Session, Settle, Transaction
from strategies.stomp import writer as plans
from tests.mutants.kit import TOPIC, begin, end, mutant, plan, taken


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
