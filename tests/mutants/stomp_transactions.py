"""Faults in transactions: what is visible when, what is lost, and which transaction a frame belongs to."""

from __future__ import annotations

from impls.stomp.reference import Broker, Frame, Refused, Session, Settle, Transaction
from strategies.stomp import writer as plans
from strategies.stomp.writer import Line
from tests.mutants.kit import QUEUE, QUEUE_2, TOPIC, mutant, one, plan

# ruff: noqa: N802  handlers bear the names of commands


def _begin(w: plans.Writer, line: Line, tx: str = "t", **options: object) -> None:
    w.say(line, "BEGIN", [("transaction", tx)], **options)  # type: ignore[arg-type]


def _end(w: plans.Writer, line: Line, tx: str = "t", verb: str = "COMMIT") -> None:
    w.say(line, verb, [("transaction", tx), w.receipt()])


def _within(w: plans.Writer, line: Line, tx: str = "t", place=QUEUE, **options: object) -> None:  # noqa: ANN001
    w.send(line, place, headers=[("transaction", tx)], **options)  # type: ignore[arg-type]


def _listening(w: plans.Writer, *places: object) -> Line:
    line = w.line()
    for place in places or (QUEUE,):
        w.subscribe(line, place, receipt=w.receipt())  # type: ignore[arg-type]
    return line


# -- before COMMIT -----------------------------------------------------------------------------------------------------


@plan
def _not_yet(w: plans.Writer) -> None:
    line = _listening(w)
    _begin(w, line)
    _within(w, line)


@mutant("visible-at-once", "TXN-02", _not_yet)
class VisibleAtOnce(Session):
    """A SEND in a transaction is carried out at once."""

    def on_SEND(self, frame: Frame) -> None:
        if "transaction" in frame.first:
            self.open_transaction(frame)
        self.publish(frame)


@plan
def _ack_then_send(w: plans.Writer) -> None:
    line = w.line()
    sub = w.subscribe(line, QUEUE, "client")
    w.send(line, QUEUE)
    w.wait()
    _begin(w, line)
    _within(w, line)
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
    line = _listening(w)
    _begin(w, line)
    for _ in range(4):
        _within(w, line)


@mutant("batches-of-three", "TXN-02", _four_sends)
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
    line = _listening(w)
    _begin(w, line)
    _within(w, line)
    _end(w, line)


@mutant("commit-without-effect", "TXN-03", _committed)
class CommitWithoutEffect(Session):
    """COMMIT is receipted and nothing happens."""

    def commit(self, transaction: Transaction) -> None:
        pass


@plan
def _two_places(w: plans.Writer) -> None:
    line = _listening(w, QUEUE_2)
    _begin(w, line)
    _within(w, line)
    _within(w, line, place=QUEUE_2)
    _end(w, line)


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
    line = _listening(w)
    _begin(w, line)
    _within(w, line)
    _within(w, line)
    _end(w, line)


@mutant("last-is-lost", "TXN-03", _two_sends)
class LastIsLost(Session):
    """Of several frames in a transaction COMMIT leaves out the last."""

    def commit(self, transaction: Transaction) -> None:
        transaction.work = transaction.work[:-1] or transaction.work
        super().commit(transaction)


@mutant("committed-twice", "MSG-10", _committed, accept="TXN-03")
class CommittedTwice(Session):
    """COMMIT carries everything out twice."""

    def commit(self, transaction: Transaction) -> None:
        super().commit(transaction)
        super().commit(transaction)


@plan
def _nothing_within(w: plans.Writer) -> None:
    line = w.line()
    _begin(w, line)
    _end(w, line)


@mutant("empty-commit-refused", "TXN-03", _nothing_within, accept="ERROR-07")
class EmptyCommitRefused(Session):
    """COMMIT of a transaction without frames is refused."""

    def commit(self, transaction: Transaction) -> None:
        if not transaction.work:
            raise Refused("nothing to commit")
        super().commit(transaction)


@plan
def _ack_and_send(w: plans.Writer) -> None:
    line = w.line()
    sub = w.subscribe(line, QUEUE, "client")
    w.send(line, QUEUE)
    w.subscribe(line, QUEUE_2, receipt=w.receipt())
    _begin(w, line)
    w.acknowledge(line, sub, 0, tx="t")
    _within(w, line, place=QUEUE_2)
    _end(w, line)


@mutant("ack-or-send", "TXN-03", _ack_and_send)
class AckOrSend(Session):
    """When a transaction begins with an ACK, COMMIT carries out ACKs only."""

    def commit(self, transaction: Transaction) -> None:
        if transaction.work and isinstance(transaction.work[0], Settle):
            transaction.work = [work for work in transaction.work if isinstance(work, Settle)]
        super().commit(transaction)


@plan
def _left_in_between(w: plans.Writer) -> None:
    line = _listening(w)
    sub = w.subscribe(line, QUEUE_2)
    _begin(w, line)
    _within(w, line)
    w.unsubscribe(line, sub)
    _end(w, line)


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
    line = _listening(w)
    _begin(w, line)
    _within(w, line)
    _end(w, line, verb="ABORT")


@mutant("abort-commits", "TXN-04", _aborted)
class AbortCommits(Session):
    """ABORT does what COMMIT does."""

    def on_ABORT(self, frame: Frame) -> None:
        self.on_COMMIT(frame)


@plan
def _aborted_then_committed(w: plans.Writer) -> None:
    line = _listening(w)
    _begin(w, line)
    _within(w, line)
    _end(w, line, verb="ABORT")
    _begin(w, line)
    _end(w, line)


class _Remembering(Session):
    """Keeps the work of transactions by their ids."""

    def on_BEGIN(self, frame: Frame) -> None:
        super().on_BEGIN(frame)
        old = self.__dict__.setdefault("old", {}).get(frame.first["transaction"])
        if old:
            self.transactions[frame.first["transaction"]].work = old

    def remember(self, transaction: Transaction) -> None:
        self.__dict__.setdefault("old", {})[transaction.name] = [*transaction.work]


@mutant("aborted-work-comes-back", "TXN-04", _aborted_then_committed, accept="TXN-09")
class AbortedWorkComesBack(_Remembering):
    """A transaction begins with the work of an aborted one that had the same id."""

    def abort(self, transaction: Transaction) -> None:
        self.remember(transaction)


@plan
def _committed_then_committed(w: plans.Writer) -> None:
    line = _listening(w)
    _begin(w, line)
    _within(w, line)
    _end(w, line)
    _begin(w, line)
    _end(w, line)


@mutant("committed-work-comes-back", "MSG-10", _committed_then_committed, accept="TXN-09")
class CommittedWorkComesBack(_Remembering):
    """A transaction begins with the work of a committed one that had the same id."""

    def commit(self, transaction: Transaction) -> None:
        super().commit(transaction)
        self.remember(transaction)


def _given_up(how: str):  # noqa: ANN202
    def play(w: plans.Writer) -> None:
        listener = w.line(1)
        w.subscribe(listener, QUEUE, receipt=w.receipt())
        line = w.line()
        _begin(w, line)
        _within(w, line)
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


# -- which transaction -------------------------------------------------------------------------------------------------


@plan
def _begun_twice(w: plans.Writer) -> None:
    line = _listening(w)
    _begin(w, line)
    _within(w, line)
    w.say(line, "BEGIN", [("transaction", "t"), w.receipt()])
    w.wait()
    _end(w, line)


@mutant("second-begin-loses-work", "TXN-06", _begun_twice)
class SecondBeginLosesWork(Session):
    """A second BEGIN with the id of an open transaction empties it without a word."""

    def on_BEGIN(self, frame: Frame) -> None:
        self.transactions.pop(frame.first.get("transaction", ""), None)
        super().on_BEGIN(frame)


@plan
def _begun_twice_for_nothing(w: plans.Writer) -> None:
    line = w.line()
    _begin(w, line)
    w.say(line, "BEGIN", [("transaction", "t"), w.receipt()])


@mutant("second-begin-ignored", "TXN-06", _begun_twice_for_nothing, accept="INV-11", level="SHOULD")
class SecondBeginIgnored(Session):
    """A second BEGIN with the id of an open transaction is receipted and goes on with it."""

    def on_BEGIN(self, frame: Frame) -> None:
        if frame.first.get("transaction") not in self.transactions:
            super().on_BEGIN(frame)


@plan
def _same_id_elsewhere(w: plans.Writer) -> None:
    first, second = _listening(w), w.line(1)
    _begin(w, first)
    _within(w, first)
    _begin(w, second)
    _end(w, second, verb="ABORT")
    w.wait()
    _end(w, first)


@mutant("abort-reaches-others", "TXN-07", _same_id_elsewhere)
class AbortReachesOthers(Session):
    """ABORT empties the transaction of the same name on other connections, too."""

    def on_ABORT(self, frame: Frame) -> None:
        super().on_ABORT(frame)
        for session in self.server.sessions.values():
            if frame.first["transaction"] in session.transactions:
                session.transactions[frame.first["transaction"]].work.clear()


@plan
def _two_begin(w: plans.Writer) -> None:
    _begin(w, w.line())
    w.say(w.line(1), "BEGIN", [("transaction", "t"), w.receipt()])


@mutant("ids-of-all", "TXN-07", _two_begin)
class IdsOfAll(Session):
    """A transaction id that another connection uses is refused."""

    def on_BEGIN(self, frame: Frame) -> None:
        if any(frame.first.get("transaction") in other.transactions for other in self.server.sessions.values()):
            raise Refused("the transaction is open already")
        super().on_BEGIN(frame)


@plan
def _end_of_another(w: plans.Writer) -> None:
    first, second = w.line(), w.line(1)
    _begin(w, first)
    w.wait()
    _end(w, second)


@mutant("commit-of-another", "TXN-08", _end_of_another, accept="TXN-07 INV-12 RECEIPT-03")
class CommitOfAnother(Session):
    """A connection can commit the transaction of another one."""

    def close_transaction(self, frame: Frame) -> Transaction:
        for session in self.server.sessions.values():
            if frame.first.get("transaction") in session.transactions:
                return Session.close_transaction(session, frame)
        return super().close_transaction(frame)


@plan
def _used_again(w: plans.Writer) -> None:
    line = _listening(w)
    _begin(w, line)
    _end(w, line)
    _begin(w, line)
    _within(w, line)
    _end(w, line)


@mutant("second-use-loses-work", "TXN-09", _used_again)
class SecondUseLosesWork(Session):
    """A transaction whose id was used before loses its work at COMMIT."""

    def commit(self, transaction: Transaction) -> None:
        used = self.__dict__.setdefault("used", set())
        if transaction.name not in used:
            super().commit(transaction)
        used.add(transaction.name)


@plan
def _begun_again(w: plans.Writer) -> None:
    line = w.line()
    _begin(w, line)
    _end(w, line)
    w.say(line, "BEGIN", [("transaction", "t"), w.receipt()])


@mutant("ids-used-up", "TXN-09", _begun_again)
class IdsUsedUp(Session):
    """The id of a transaction that has ended cannot be used again."""

    def close_transaction(self, frame: Frame) -> Transaction:
        self.__dict__.setdefault("used", set()).add(frame.first.get("transaction"))
        return super().close_transaction(frame)

    def on_BEGIN(self, frame: Frame) -> None:
        if frame.first.get("transaction") in getattr(self, "used", ()):
            raise Refused("the transaction has ended")
        super().on_BEGIN(frame)


@plan
def _four_transactions(w: plans.Writer) -> None:
    line = w.line()
    for n in range(3):
        _begin(w, line, f"t{n}")
        _end(w, line, f"t{n}")
    w.say(line, "BEGIN", [("transaction", "t3"), w.receipt()])


@mutant("transactions-leak", "ERROR-07", _four_transactions, accept="TXN-10 TXN-09 RECEIPT-01")
class TransactionsLeak(Session):
    """Transactions that have ended go on counting: after three of them a connection gets no more."""

    ended = 0

    def on_BEGIN(self, frame: Frame) -> None:
        if self.ended == 3:
            raise Refused("too many transactions")
        super().on_BEGIN(frame)

    def close_transaction(self, frame: Frame) -> Transaction:
        self.ended += 1
        return super().close_transaction(frame)


@plan
def _interleaved(w: plans.Writer) -> None:
    line = _listening(w)
    _begin(w, line, "a")
    _begin(w, line, "b")
    _within(w, line, "a")
    _end(w, line, "a")


@mutant("newest-collects", "TXN-10", _interleaved, accept="TXN-03")
class NewestCollects(Session):
    """A SEND belongs to the transaction that was begun last, whichever it names."""

    def open_transaction(self, frame: Frame) -> Transaction:
        found = super().open_transaction(frame)
        return next(reversed(self.transactions.values())) if frame.command == "SEND" else found


@mutant("second-begin-refused", "TXN-10", plan(lambda w: (
    _begin(w, w.line(), "a"), w.say(w.line(), "BEGIN", [("transaction", "b"), w.receipt()]),
)))  # fmt: skip
class SecondBeginRefused(Session):
    """A connection can have one transaction open."""

    def on_BEGIN(self, frame: Frame) -> None:
        if self.transactions:
            raise Refused("a transaction is open")
        super().on_BEGIN(frame)


@plan
def _other_one_aborted(w: plans.Writer) -> None:
    line = _listening(w)
    _begin(w, line, "a")
    _within(w, line, "a")
    _begin(w, line, "b")
    _end(w, line, "b", "ABORT")
    _end(w, line, "a")


@mutant("abort-empties-all", "TXN-10", _other_one_aborted, accept="TXN-03 TXN-04")
class AbortEmptiesAll(Session):
    """ABORT empties all open transactions of its connection."""

    def on_ABORT(self, frame: Frame) -> None:
        super().on_ABORT(frame)
        for transaction in self.transactions.values():
            transaction.work.clear()


@plan
def _other_one_committed(w: plans.Writer) -> None:
    line = _listening(w)
    _begin(w, line, "a")
    _within(w, line, "a")
    _begin(w, line, "b")
    _end(w, line, "b")


@mutant("commit-commits-all", "TXN-02", _other_one_committed, accept="TXN-10")
class CommitCommitsAll(Session):
    """COMMIT carries out all open transactions of its connection."""

    def on_COMMIT(self, frame: Frame) -> None:
        super().on_COMMIT(frame)
        for transaction in self.transactions.values():
            self.commit(transaction)


@plan
def _case_of_ids(w: plans.Writer) -> None:
    line = w.line()
    _begin(w, line, "a")
    w.say(line, "BEGIN", [("transaction", "A"), w.receipt()])


@mutant("ids-any-case", "TXN-10", _case_of_ids, accept="TXN-06 ERROR-07")
class IdsAnyCase(Session):
    """Transaction ids are the same in any case."""

    def on_BEGIN(self, frame: Frame) -> None:
        if frame.first.get("transaction", "").lower() in {name.lower() for name in self.transactions}:
            raise Refused("the transaction is open already")
        super().on_BEGIN(frame)


@plan
def _send_outside(w: plans.Writer) -> None:
    line = _listening(w)
    _begin(w, line)
    w.send(line, QUEUE)


@mutant("outside-is-inside", "TXN-11", _send_outside, accept="SUB-05")
class OutsideIsInside(Session):
    """While a transaction is open, every SEND belongs to it."""

    def on_SEND(self, frame: Frame) -> None:
        if self.transactions and "transaction" not in frame.first:
            frame = frame._replace(first={**frame.first, "transaction": next(iter(self.transactions))})
        super().on_SEND(frame)


@plan
def _two_connections(w: plans.Writer) -> None:
    first, second = _listening(w, TOPIC), w.line(1)
    _begin(w, second)
    w.send(first, TOPIC)


@mutant("begin-locks-others", "TXN-11", _two_connections, accept="SUB-05 ROB-02 TXN-07")
class BeginLocksOthers(Broker):
    """While a connection has a transaction open, what others send waits and is lost."""

    def route(self, message: object, sender: Session) -> None:
        if not any(other.transactions for other in self.server.sessions.values() if other is not sender):
            super().route(message, sender)  # type: ignore[arg-type]


# -- what an ACK in one is worth ---------------------------------------------------------------------------------------


def _ack_within(verb: str, end: str, comes: bool = True):  # noqa: ANN202
    def play(w: plans.Writer) -> None:
        line = w.line()
        sub = w.subscribe(line, QUEUE, "client-individual")
        w.send(line, QUEUE)
        w.wait()
        _begin(w, line)
        w.acknowledge(line, sub, 0, verb=verb, tx="t")
        if end:
            _end(w, line, verb=end)
        if comes:
            w.wait()
            w.hang(line)
            w.subscribe(w.line(9), QUEUE, receipt=w.receipt())

    return plan(play)


@mutant("ack-ignores-transaction", "ACK-06", _ack_within("ACK", ""), accept="ACK-02 TXN-04", level="SHOULD")
class AckIgnoresTransaction(Session):
    """ACK in a transaction settles at once, whatever becomes of the transaction."""

    def on_ACK(self, frame: Frame) -> None:
        self.settle(self.named_by(frame), accepted=True)


@mutant("ack-lost-at-commit", "ACKMODE-08", _ack_within("ACK", "COMMIT"), accept="ACK-06 TXN-03")
class AckLostAtCommit(Session):
    """COMMIT carries out SENDs only: ACKs are forgotten."""

    def commit(self, transaction: Transaction) -> None:
        transaction.work = [work for work in transaction.work if not isinstance(work, Settle)]
        super().commit(transaction)


@mutant("nack-ignores-transaction", "NACK-04", _ack_within("NACK", "", comes=False), accept="MSG-10 ACK-06")
class NackIgnoresTransaction(Session):
    """NACK in a transaction rejects at once, so that the message comes again before COMMIT."""

    def on_NACK(self, frame: Frame) -> None:
        self.settle(self.named_by(frame), accepted=False)


@plan
def _acked_after_abort(w: plans.Writer) -> None:
    line = w.line()
    sub = w.subscribe(line, QUEUE, "client-individual")
    w.send(line, QUEUE)
    w.wait()
    _begin(w, line)
    w.acknowledge(line, sub, 0, tx="t")
    _end(w, line, verb="ABORT")
    w.wait()
    w.acknowledge(line, sub, 0, receipt=w.receipt())


@mutant("aborted-ack-is-final", "ACK-06", _acked_after_abort, accept="TXN-04 ACK-01")
class AbortedAckIsFinal(Session):
    """What was acknowledged in an aborted transaction cannot be acknowledged again."""

    def collect(self, frame: Frame, work: Frame | Settle | None, size: int) -> None:
        super().collect(frame, work, size)
        if isinstance(work, Settle):
            self.release(work.delivery)


@mutant("unknown-transaction-ignored", "TXN-12", one("SEND", ("destination", QUEUE), ("transaction", "t"), body=b"x"),
        accept="INV-13", level="SHOULD")  # fmt: skip
class UnknownTransactionIgnored(Session):
    """A SEND in a transaction that does not exist is carried out at once."""

    def collect(self, frame: Frame, work: Frame | Settle | None, size: int) -> None:
        if frame.first["transaction"] in self.transactions:
            super().collect(frame, work, size)
        elif isinstance(work, Frame):
            self.publish(work)
