"""Faults in transactions: what is visible when, what is lost, and what their end does."""

from __future__ import annotations

from impls.references.stomp.reference import Frame, Refused, Session, Settle, Transaction
from strategies.stomp import writer as plans
from tests.mutants.faults import on
from tests.mutants.kit import QUEUE, QUEUE_2, begin, end, held, listening, mutant, plan, within

# -- before COMMIT -----------------------------------------------------------------------------------------------------


@plan
def _not_yet(w: plans.Writer) -> None:
    line = listening(w)
    begin(w, line)
    within(w, line)


@mutant("visible-at-once", "TXN-02", _not_yet)
class VisibleAtOnce(Session):
    """A SEND in a transaction is carried out at once."""

    def on_SEND(self, frame: Frame) -> None:
        self.destination_of(frame)
        if "transaction" in frame.first:
            self.open_transaction(frame)
        self.publish(frame)


@plan
def _ack_then_send(w: plans.Writer) -> None:
    line, sub = held(w, "client")
    within(w, line)
    w.acknowledge(line, sub, 0, tx="t")


@mutant("ack-flushes", "TXN-02", _ack_then_send)
class AckFlushes(Session):
    """An ACK in a transaction carries out the SENDs before it."""

    def collect(self, frame: Frame, work: Frame | Settle | None, size: int) -> None:
        super().collect(frame, work, size)
        transaction = self.open_transaction(frame)
        if frame.command == "ACK":
            for each in [each for each in transaction.work if not isinstance(each, Settle)]:
                self.publish(each)
                transaction.work.remove(each)


@plan
def _four_sends(w: plans.Writer) -> None:
    line = listening(w)
    begin(w, line)
    for _ in range(4):
        within(w, line)


@mutant("batches-of-three", "TXN-02", _four_sends, accept="NACK-04 ACK-06")
class BatchesOfThree(Session):
    """A transaction holds three frames; a fourth one carries them out."""

    def collect(self, frame: Frame, work: Frame | Settle | None, size: int) -> None:
        transaction = self.open_transaction(frame)
        if len(transaction.work) == 3:
            self.commit(transaction)
            transaction.work.clear()
        super().collect(frame, work, size)


# -- COMMIT ------------------------------------------------------------------------------------------------------------


@plan
def _committed(w: plans.Writer) -> None:
    line = listening(w)
    begin(w, line)
    within(w, line)
    end(w, line)


mutant("commit-without-effect", "TXN-03", _committed)(
    "COMMIT is receipted and nothing happens.", on(Session, "commit").skips()
)


@plan
def _two_places(w: plans.Writer) -> None:
    line = listening(w, QUEUE_2)
    begin(w, line)
    within(w, line)
    within(w, line, place=QUEUE_2)
    end(w, line)


@mutant("first-destination-only", "TXN-03", _two_places)
class FirstDestinationOnly(Session):
    """COMMIT carries out what was sent to the destination of the first SEND."""

    def commit(self, transaction: Transaction) -> None:
        sends = [work for work in transaction.work if not isinstance(work, Settle)]
        lost = [work for work in sends if work.first["destination"] != sends[0].first["destination"]]
        transaction.work = [work for work in transaction.work if work not in lost]
        super().commit(transaction)


@plan
def _two_sends(w: plans.Writer) -> None:
    line = listening(w)
    begin(w, line)
    within(w, line)
    within(w, line)
    end(w, line)


mutant("last-is-lost", "TXN-03", _two_sends)(
    "Of several frames in a transaction COMMIT leaves out the last.",
    on(Session, "commit").before(
        lambda transaction: setattr(transaction, "work", transaction.work[:-1] or transaction.work)
    ),
)
mutant("committed-twice", "MSG-10", _committed, accept="TXN-03")(
    "COMMIT carries everything out twice.", on(Session, "commit").repeats()
)


@plan
def _nothing_within(w: plans.Writer) -> None:
    line = w.line()
    begin(w, line)
    end(w, line)


mutant("empty-commit-refused", "TXN-03", _nothing_within, accept="ERROR-07")(
    "COMMIT of a transaction without frames is refused.",
    on(Session, "commit").raises(lambda: Refused("nothing to commit"), when=lambda transaction: not transaction.work),
)


@plan
def _ack_and_send(w: plans.Writer) -> None:
    line = w.line()
    sub = w.subscribe(line, QUEUE, "client")
    w.send(line, QUEUE)
    w.subscribe(line, QUEUE_2, receipt=w.receipt())
    begin(w, line)
    w.acknowledge(line, sub, 0, tx="t")
    within(w, line, place=QUEUE_2)
    end(w, line)


@mutant("ack-or-send", "TXN-03", _ack_and_send)
class AckOrSend(Session):
    """When a transaction begins with an ACK, COMMIT carries out ACKs only."""

    def commit(self, transaction: Transaction) -> None:
        if transaction.work and isinstance(transaction.work[0], Settle):
            transaction.work = [work for work in transaction.work if isinstance(work, Settle)]
        super().commit(transaction)


@plan
def _left_in_between(w: plans.Writer) -> None:
    line = listening(w)
    sub = w.subscribe(line, QUEUE_2)
    begin(w, line)
    within(w, line)
    w.unsubscribe(line, sub)
    end(w, line)


@mutant("unsubscribe-aborts", "TXN-03", _left_in_between)
class UnsubscribeAborts(Session):
    """UNSUBSCRIBE empties the open transactions of its connection."""

    def on_UNSUBSCRIBE(self, frame: Frame) -> None:
        super().on_UNSUBSCRIBE(frame)
        for transaction in self.transactions.values():
            transaction.work.clear()


# -- ABORT and the end -------------------------------------------------------------------------------------------------


@plan
def _aborted(w: plans.Writer) -> None:
    line = listening(w)
    begin(w, line)
    within(w, line)
    end(w, line, verb="ABORT")


mutant("abort-commits", "TXN-04", _aborted)(
    "ABORT does what COMMIT does.", on(Session, "on_ABORT").instead(lambda self, frame: self.on_COMMIT(frame))
)


@plan
def _aborted_then_committed(w: plans.Writer) -> None:
    line = listening(w)
    begin(w, line)
    within(w, line)
    end(w, line, verb="ABORT")
    begin(w, line)
    end(w, line)


class _Remembering(Session):
    """Keeps the work of transactions by their ids."""

    def on_BEGIN(self, frame: Frame) -> None:
        super().on_BEGIN(frame)
        old = self.__dict__.setdefault("old", {}).get(frame.first["transaction"])
        if old:
            self.transactions[frame.first["transaction"]].work = old

    def remember(self, transaction: Transaction) -> None:
        self.__dict__.setdefault("old", {})[transaction.name] = [*transaction.work]


mutant("aborted-work-comes-back", "TXN-04", _aborted_then_committed, accept="TXN-09")(
    "A transaction begins with the work of an aborted one that had the same id.",
    on(_Remembering, "abort").instead(lambda self, transaction: self.remember(transaction)),
)


@plan
def _committed_then_committed(w: plans.Writer) -> None:
    line = listening(w)
    begin(w, line)
    within(w, line)
    end(w, line)
    begin(w, line)
    end(w, line)


mutant("committed-work-comes-back", "MSG-10", _committed_then_committed, accept="TXN-09")(
    "A transaction begins with the work of a committed one that had the same id.",
    on(_Remembering, "commit").after(lambda self, transaction: self.remember(transaction)),
)


def _given_up(how: str):
    def play(w: plans.Writer) -> None:
        listener = w.line(1)
        w.subscribe(listener, QUEUE, receipt=w.receipt())
        line = w.line()
        begin(w, line)
        within(w, line)
        w.wait()
        if how == "hang":
            w.hang(line)
        elif how == "error":
            w.say(line, "BEGIN")
        else:
            w.disconnect(line)

    return plan(play)


@mutant("disconnect-commits", "TXN-05", _given_up("disconnect"))
class DisconnectCommits(Session):
    """DISCONNECT commits what is open."""

    def on_DISCONNECT(self, frame: Frame) -> None:
        for transaction in self.transactions.values():
            self.commit(transaction)
        super().on_DISCONNECT(frame)


@mutant("hanging-up-commits", "TXN-05", _given_up("hang"))
class HangingUpCommits(Session):
    """A connection that is lost commits what is open."""

    def hang_up(self) -> None:
        for transaction in self.transactions.values():
            self.commit(transaction)
        super().hang_up()


@mutant("error-commits", "TXN-05", _given_up("error"), accept="ERROR-02 TXN-02")
class ErrorCommits(Session):
    """An ERROR commits what is open."""

    def fail(self, why: str, frame: Frame | None = None, *headers: tuple[str, str]) -> None:
        for transaction in self.transactions.values():
            self.commit(transaction)
        super().fail(why, frame, *headers)
