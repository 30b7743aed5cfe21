"""Faults in telling transactions apart, and in what an ACK in one is worth."""

from __future__ import annotations

from impls.references.stomp.reference import Broker, Frame, Refused, Session, Settle, Transaction
from strategies.stomp import writer as plans
from tests.mutants.faults import on
from tests.mutants.kit import QUEUE, TOPIC, begin, end, held, listening, mutant, one, plan, within

# -- which transaction -------------------------------------------------------------------------------------------------


@plan
def _begun_twice(w: plans.Writer) -> None:
    line = listening(w)
    begin(w, line)
    within(w, line)
    w.say(line, "BEGIN", [("transaction", "t"), w.receipt()])
    w.wait()
    end(w, line)


mutant("second-begin-loses-work", "TXN-06", _begun_twice, accept="INV-11", level="SHOULD")(
    "A second BEGIN with the id of an open transaction empties it without a word.",
    on(Session, "on_BEGIN").before(lambda self, frame: self.transactions.pop(frame.first.get("transaction", ""), None)),
)


@plan
def _begun_twice_for_nothing(w: plans.Writer) -> None:
    line = w.line()
    begin(w, line)
    w.say(line, "BEGIN", [("transaction", "t"), w.receipt()])


mutant("second-begin-ignored", "INV-11", _begun_twice_for_nothing, level="SHOULD")(
    "A second BEGIN with the id of an open transaction is receipted and goes on with it.",
    on(Session, "on_BEGIN").skips(when=lambda self, frame: frame.first.get("transaction") in self.transactions),
)


@plan
def _same_id_elsewhere(w: plans.Writer) -> None:
    first, second = listening(w), w.line(1)
    begin(w, first)
    within(w, first)
    begin(w, second)
    end(w, second, verb="ABORT")
    w.wait()
    end(w, first)


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
    begin(w, w.line())
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
    begin(w, first)
    w.wait()
    end(w, second)


@mutant("commit-of-another", "TXN-08", _end_of_another, accept="TXN-02 TXN-04 TXN-07 TXN-09 INV-12 RECEIPT-03 ERROR-07")
class CommitOfAnother(Session):
    """A connection can commit the transaction of another one."""

    def close_transaction(self, frame: Frame) -> Transaction:
        for session in self.server.sessions.values():
            if frame.first.get("transaction") in session.transactions:
                return Session.close_transaction(session, frame)
        return super().close_transaction(frame)


@plan
def _send_into_another(w: plans.Writer) -> None:
    first, second = w.line(), w.line(1)
    begin(w, first)
    w.wait()
    w.say(second, "SEND", [("destination", QUEUE), ("transaction", "t"), w.receipt()], b"x")


@mutant("send-into-another", "TXN-12", _send_into_another, accept="INV-12", level="SHOULD")
class SendIntoAnother(Session):
    """A connection can send within the transaction of another one."""

    def open_transaction(self, frame: Frame) -> Transaction:
        for session in self.server.sessions.values():
            if frame.first.get("transaction") in session.transactions and frame.command == "SEND":
                return Session.open_transaction(session, frame)
        return super().open_transaction(frame)


@plan
def _used_again(w: plans.Writer) -> None:
    line = listening(w)
    begin(w, line)
    end(w, line)
    begin(w, line)
    within(w, line)
    end(w, line)


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
    begin(w, line)
    end(w, line)
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
        begin(w, line, f"t{n}")
        end(w, line, f"t{n}")
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
    line = listening(w)
    begin(w, line, "a")
    begin(w, line, "b")
    within(w, line, "a")
    end(w, line, "a")


mutant("newest-collects", "TXN-10", _interleaved, accept="TXN-02 TXN-03")(
    "A SEND belongs to the transaction that was begun last, whichever it names.",
    on(Session, "open_transaction").gives(
        lambda self, frame, found: next(reversed(self.transactions.values())) if frame.command == "SEND" else found
    ),
)
mutant(
    "second-begin-refused",
    "TXN-10",
    plan(lambda w: (begin(w, w.line(), "a"), w.say(w.line(), "BEGIN", [("transaction", "b"), w.receipt()]))),
)(
    "A connection can have one transaction open.",
    on(Session, "on_BEGIN").raises(lambda: Refused("a transaction is open"), when=lambda self: self.transactions),
)


@plan
def _other_one_aborted(w: plans.Writer) -> None:
    line = listening(w)
    begin(w, line, "a")
    within(w, line, "a")
    begin(w, line, "b")
    end(w, line, "b", "ABORT")
    end(w, line, "a")


@mutant("abort-empties-all", "TXN-10", _other_one_aborted, accept="TXN-03 TXN-04")
class AbortEmptiesAll(Session):
    """ABORT empties all open transactions of its connection."""

    def on_ABORT(self, frame: Frame) -> None:
        super().on_ABORT(frame)
        for transaction in self.transactions.values():
            transaction.work.clear()


@plan
def _other_one_committed(w: plans.Writer) -> None:
    line = listening(w)
    begin(w, line, "a")
    within(w, line, "a")
    begin(w, line, "b")
    end(w, line, "b")


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
    begin(w, line, "a")
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
    line = listening(w)
    begin(w, line)
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
    first, second = listening(w, TOPIC), w.line(1)
    begin(w, second)
    w.send(first, TOPIC)


@mutant("begin-locks-others", "TXN-11", _two_connections, accept="SUB-05 ROB-02 TXN-07")
class BeginLocksOthers(Broker):
    """While a connection has a transaction open, what others send waits and is lost."""

    def route(self, message: object, sender: Session) -> None:
        if not any(other.transactions for other in self.server.sessions.values() if other is not sender):
            super().route(message, sender)  # type: ignore[arg-type]


# -- what an ACK in one is worth ---------------------------------------------------------------------------------------


def _ack_within(verb: str, ending: str, comes: bool = True):
    def play(w: plans.Writer) -> None:
        line, sub = held(w)
        w.acknowledge(line, sub, 0, verb=verb, tx="t")
        if ending:
            end(w, line, verb=ending)
        if comes:
            w.wait()
            w.hang(line)
            w.subscribe(w.line(9), QUEUE, receipt=w.receipt())

    return plan(play)


class _Hasty(Session):
    """Does not keep an acknowledgement for the end of its transaction."""

    def settle_at_once(self, frame: Frame, accepted: bool) -> None:
        if "transaction" in frame.first:
            self.open_transaction(frame)
        if delivery := self.named_by(frame):
            self.settle(delivery, accepted)


mutant("ack-ignores-transaction", "ACK-06", _ack_within("ACK", ""), accept="ACK-02 TXN-04", level="SHOULD")(
    "ACK in a transaction settles at once, whatever becomes of the transaction.",
    on(_Hasty, "on_ACK").instead(lambda self, frame: self.settle_at_once(frame, accepted=True)),
)


@mutant("ack-lost-at-commit", "ACKMODE-08", _ack_within("ACK", "COMMIT"), accept="ACK-06 TXN-03")
class AckLostAtCommit(Session):
    """COMMIT carries out SENDs only: ACKs are forgotten."""

    def commit(self, transaction: Transaction) -> None:
        transaction.work = [work for work in transaction.work if not isinstance(work, Settle)]
        super().commit(transaction)


mutant("nack-ignores-transaction", "NACK-04", _ack_within("NACK", "", comes=False), accept="MSG-10 ACK-06")(
    "NACK in a transaction rejects at once, so that the message comes again before COMMIT.",
    on(_Hasty, "on_NACK").instead(lambda self, frame: self.settle_at_once(frame, accepted=False)),
)


@plan
def _acked_after_abort(w: plans.Writer) -> None:
    line, sub = held(w)
    w.acknowledge(line, sub, 0, tx="t")
    end(w, line, verb="ABORT")
    w.wait()
    w.acknowledge(line, sub, 0, receipt=w.receipt())


mutant("aborted-ack-is-final", "ACK-06", _acked_after_abort, accept="TXN-04 ACK-01", level="SHOULD")(
    "What was acknowledged in an aborted transaction cannot be acknowledged again.",
    on(Session, "collect").after(
        lambda self, work: self.release(work.delivery), when=lambda work: isinstance(work, Settle)
    ),
)


def _acked_beside(verb: str):
    def play(w: plans.Writer) -> None:
        line, sub = held(w)
        w.acknowledge(line, sub, 0, verb=verb, receipt=w.receipt())
        w.wait()
        w.hang(line)
        w.subscribe(w.line(9), QUEUE, receipt=w.receipt())

    return plan(play)


mutant("acks-join-what-is-open", "TXN-11", _acked_beside("ACK"), accept="ACKMODE-08 TXN-03 TXN-10 ACK-02 TXN-04")(
    "An ACK or NACK that names no transaction is part of one that is open.",
    on(Session, "on_settle").takes(
        frame=lambda self, frame: (
            frame._replace(first={"transaction": next(iter(self.transactions)), **frame.first})
            if self.transactions
            else frame
        )
    ),
)


@mutant("unknown-transaction-ignored", "TXN-12", one("SEND", ("destination", QUEUE), ("transaction", "t"), body=b"x"),
        accept="INV-13", level="SHOULD")  # fmt: skip
class UnknownTransactionIgnored(Session):
    """A SEND in a transaction that does not exist is carried out at once."""

    def collect(self, frame: Frame, work: Frame | Settle | None, size: int) -> None:
        if frame.first["transaction"] in self.transactions:
            super().collect(frame, work, size)
        elif isinstance(work, Frame):
            self.publish(work)
