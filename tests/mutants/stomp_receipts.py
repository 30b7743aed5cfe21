"""Faults in RECEIPT: missing ones, wrong ones, untimely ones."""

from __future__ import annotations

from impls.references.stomp.reference import Frame, Refused, Session, Transaction
from strategies.stomp import writer as plans
from strategies.stomp.writer import JOIN
from tests.mutants.faults import on
from tests.mutants.kit import QUEUE, TOPIC, mutant, one, plan

# -- missing -----------------------------------------------------------------------------------------------------------


def _never_for(command: str) -> type[Session]:
    """A session without RECEIPTs for one command."""

    class Forgetful(Session):
        def on_receipt(self, frame: Frame) -> None:
            if frame.command != command:
                super().on_receipt(frame)

    return Forgetful


@plan
def _unsubscribed(w: plans.Writer) -> None:
    line = w.line()
    w.unsubscribe(line, w.subscribe(line, TOPIC), receipt=w.receipt())


mutant("unsubscribe-unanswered", "RECEIPT-01", _unsubscribed, accept="UNSUB-02 UNSUB-04")(
    "UNSUBSCRIBE gets no RECEIPT.", _never_for("UNSUBSCRIBE")
)
mutant("begin-unanswered", "RECEIPT-01", one("BEGIN", ("transaction", "t")))(
    "BEGIN gets no RECEIPT.", _never_for("BEGIN")
)


@plan
def _rejected(w: plans.Writer) -> None:
    line = w.line()
    sub = w.subscribe(line, QUEUE, "client")
    w.send(line, QUEUE)
    w.wait()
    w.acknowledge(line, sub, 0, verb="NACK", receipt=w.receipt())


mutant("nack-unanswered", "RECEIPT-01", _rejected, accept="NACK-01")("NACK gets no RECEIPT.", _never_for("NACK"))
mutant("unheard-unanswered", "RECEIPT-01", plan(lambda w: w.send(w.line(), TOPIC, receipt=w.receipt())))(
    "A SEND to a topic without subscribers gets no RECEIPT.",
    on(Session, "on_receipt").skips(
        when=lambda self, frame: (
            frame.command == "SEND"
            and "/topic/" in frame.first["destination"]
            and frame.first["destination"] not in self.server.broker.destinations
        )
    ),
)


@plan
def _six_receipts(w: plans.Writer) -> None:
    line = w.line()
    for _ in range(6):
        w.say(line, "BEGIN", [("transaction", f"t{w.fresh()}"), w.receipt()])


mutant("sixth-unanswered", "RECEIPT-01", _six_receipts)(
    "A connection gets five RECEIPTs.", on(Session, "receipt").skips(when=lambda calls: calls > 5)
)


@plan
def _pipelined(w: plans.Writer) -> None:
    line = w.line()
    w.say(line, "BEGIN", [("transaction", "t"), w.receipt()], when="join")
    w.say(line, "COMMIT", [("transaction", "t"), w.receipt()], when="now")


@mutant("one-receipt-a-segment", "RECEIPT-01", _pipelined, accept="FRAME-06 RECEIPT-05")
class OneReceiptASegment(Session):
    """Of several receipts that are asked for in one segment only the last is given, as cumulative as it is."""

    def send(self, data: bytes) -> None:
        self.last, self.collecting = None, True
        super().send(data)
        self.collecting = False
        if self.last is not None:
            super().receipt(self.last)

    def on_receipt(self, frame: Frame) -> None:
        self.collecting &= frame.command != "DISCONNECT"
        super().on_receipt(frame)

    def receipt(self, receipt: str) -> None:
        if self.collecting:
            self.last = receipt
        else:
            super().receipt(receipt)


@plan
def _same_receipt(w: plans.Writer) -> None:
    line = w.line()
    w.say(line, "BEGIN", [("transaction", "t"), ("receipt", "r")])
    w.say(line, "COMMIT", [("transaction", "t"), ("receipt", "r")])


@mutant("receipts-once", "RECEIPT-08", _same_receipt, accept="RECEIPT-01")
class ReceiptsOnce(Session):
    """A receipt value is answered once in a connection's life."""

    def receipt(self, receipt: str) -> None:
        given = self.__dict__.setdefault("given", set())
        if receipt not in given:
            super().receipt(receipt)
        given.add(receipt)


# -- wrong -------------------------------------------------------------------------------------------------------------


def _changed(change) -> type[Session]:
    """A session that changes receipt-id."""

    class Changing(Session):
        def receipt(self, receipt: str) -> None:
            super().receipt(change(receipt))

    return Changing


def _asking(receipt: str):
    return one("BEGIN", ("transaction", "t"), ("receipt", receipt))


mutant("receipt-is-number", "RECEIPT-02", _asking("007"))(
    "A receipt-id that looks like a number becomes one.",
    _changed(lambda text: str(int(text)) if text.isdecimal() else text),
)
mutant("receipt-lowered", "RECEIPT-02", _asking("R"))("receipt-id comes in lower case.", _changed(str.lower))
mutant("receipt-cut", "RECEIPT-02", _asking("r" * 65))(
    "receipt-id is cut after 64 characters.", _changed(lambda text: text[:64])
)
mutant("receipt-ascii", "RECEIPT-02", _asking("é"), accept="ENC-01 ENC-13")(
    "receipt-id is written in ASCII, with question marks.",
    _changed(lambda text: text.encode("ascii", "replace").decode()),
)
mutant("receipt-id-missing", "HDR-01", one("BEGIN", ("transaction", "t")), accept="RECEIPT-02", smoke=False)(
    "RECEIPT has a header receipt where receipt-id should be.",
    on(Session, "emit").takes(
        headers=lambda command, headers: [
            ("receipt" if n == "receipt-id" and command == "RECEIPT" else n, v) for n, v in headers
        ]
    ),
)


@plan
def _two_asked(w: plans.Writer) -> None:
    line = w.line()
    w.say(line, "BEGIN", [("transaction", "t"), ("receipt", "a")])
    w.say(line, "COMMIT", [("transaction", "t"), ("receipt", "b")])


@mutant(
    "receipt-of-last",
    "RECEIPT-02",
    _two_asked,
    accept="RECEIPT-06",
    smoke=False,
)
class ReceiptOfLast(Session):
    """RECEIPT carries the receipt of the frame before."""

    before = None

    def receipt(self, receipt: str) -> None:
        super().receipt(self.before or receipt)
        self.before = receipt


mutant("unasked-receipt", "RECEIPT-06", plan(lambda w: w.say(w.line(), "BEGIN", [("transaction", "t")])))(
    "BEGIN is always answered, by its transaction id if there is no receipt header.",
    on(Session, "on_BEGIN").after(
        lambda self, frame: self.receipt(frame.first["transaction"]), when=lambda frame: "receipt" not in frame.first
    ),
)


@plan
def _send_in_transaction(w: plans.Writer) -> None:
    line = w.line()
    w.say(line, "BEGIN", [("transaction", "t")])
    w.send(line, TOPIC, headers=[("transaction", "t")], receipt=w.receipt())
    w.say(line, "COMMIT", [("transaction", "t")])


@mutant("receipt-again-at-commit", "TXN-13", _send_in_transaction, accept="RECEIPT-06 RECEIPT-02")
class ReceiptAgainAtCommit(Session):
    """A frame in a transaction is receipted on arrival and once more at COMMIT."""

    def commit(self, transaction: Transaction) -> None:
        super().commit(transaction)
        for work in transaction.work:
            if isinstance(work, Frame) and "receipt" in work.first:
                self.receipt(work.first["receipt"])


@plan
def _aborted_with_receipt(w: plans.Writer) -> None:
    line = w.line()
    w.say(line, "BEGIN", [("transaction", "t")])
    w.send(line, TOPIC, headers=[("transaction", "t")], receipt=w.receipt())
    w.say(line, "ABORT", [("transaction", "t")])


@mutant("receipt-again-at-abort", "TXN-13", _aborted_with_receipt, accept="RECEIPT-06")
class ReceiptAgainAtAbort(Session):
    """A frame in a transaction is receipted on arrival and once more at ABORT."""

    def abort(self, transaction: Transaction) -> None:
        for work in transaction.work:
            if isinstance(work, Frame) and "receipt" in work.first:
                self.receipt(work.first["receipt"])
        super().abort(transaction)


@plan
def _for_all(w: plans.Writer) -> None:
    w.line(1)
    w.say(w.line(), "BEGIN", [("transaction", "t"), w.receipt()])


@mutant("receipt-for-all", "RECEIPT-06", _for_all, accept="ROB-02")
class ReceiptForAll(Session):
    """RECEIPT goes to every connection."""

    def receipt(self, receipt: str) -> None:
        for session in self.server.sessions.values():
            Session.receipt(session, receipt)


# -- untimely ----------------------------------------------------------------------------------------------------------


class _OneBehind(Session):
    """Carries out some frames only when the next one comes."""

    commands_behind: tuple[str, ...] = ()
    behind: Frame | None = None

    def handle(self, frame: Frame) -> None:
        self.catch_up()
        super().handle(frame)

    def catch_up(self) -> None:
        late, self.behind = self.behind, None
        if late is not None:
            try:
                getattr(Session, "on_" + late.command)(self, late)
            except Refused as refused:
                self.fail(str(refused), late)


@plan
def _subscribed_then_sent(w: plans.Writer) -> None:
    line, other = w.line(), w.line(1)
    w.subscribe(line, TOPIC, receipt=w.receipt())
    w.send(other, TOPIC)


mutant("receipt-before-subscription", "SUB-05", _subscribed_then_sent, accept="RECEIPT-04")(
    "SUBSCRIBE is receipted at once and takes effect with the next frame of its connection.",
    on(_OneBehind, "on_SUBSCRIBE").instead(lambda self, frame: setattr(self, "behind", frame)),
)


@plan
def _subscribed_again_then_sent(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, QUEUE, receipt=w.receipt())
    w.subscribe(line, TOPIC, "client", receipt=w.receipt())
    w.send(line, TOPIC)


@mutant("second-subscription-late", "SUB-05", _subscribed_again_then_sent, accept="RECEIPT-04 SUB-11 UNSUB-05 TXN-11")
class SecondSubscriptionLate(_OneBehind):
    """SUBSCRIBE behind another one of its connection is receipted at once and takes effect behind a SEND."""

    def handle(self, frame: Frame) -> None:
        if frame.command == "SEND":
            Session.handle(self, frame)
            self.catch_up()
        else:
            super().handle(frame)

    def on_SUBSCRIBE(self, frame: Frame) -> None:
        if self.subscriptions:
            self.behind = frame
        else:
            super().on_SUBSCRIBE(frame)


@plan
def _unsubscribed_then_sent(w: plans.Writer) -> None:
    line, other = w.line(), w.line(1)
    w.unsubscribe(line, w.subscribe(line, TOPIC), receipt=w.receipt())
    w.send(other, TOPIC)


mutant(
    "receipt-before-unsubscription", "UNSUB-03", _unsubscribed_then_sent, accept="RECEIPT-04 MSG-09 UNSUB-01 INV-08"
)(
    "UNSUBSCRIBE is receipted at once and takes effect with the next frame of its connection.",
    on(_OneBehind, "on_UNSUBSCRIBE").instead(lambda self, frame: setattr(self, "behind", frame)),
)


@plan
def _sent_then_taken(w: plans.Writer) -> None:
    w.send(w.line(), QUEUE, receipt=w.receipt())
    w.subscribe(w.line(1), QUEUE, receipt=w.receipt())


@mutant("receipt-before-message", "RECEIPT-04", _sent_then_taken, accept="SUB-04 SUB-05", smoke=False)
class ReceiptBeforeMessage(_OneBehind):
    """SEND is receipted at once and takes effect with the next frame of its connection."""

    def on_SEND(self, frame: Frame) -> None:
        self.destination_of(frame)
        self.behind = frame


@plan
def _acked_then_lost(w: plans.Writer) -> None:
    line = w.line()
    sub = w.subscribe(line, QUEUE, "client")
    w.send(line, QUEUE)
    w.wait()
    w.acknowledge(line, sub, 0, receipt=w.receipt())
    w.wait()
    w.hang(line)
    w.subscribe(w.line(9), QUEUE, receipt=w.receipt())


mutant("receipt-before-ack", "ACKMODE-08", _acked_then_lost, accept="RECEIPT-04")(
    "ACK is receipted at once and takes effect with the next frame of its connection.",
    on(_OneBehind, "on_ACK").instead(lambda self, frame: setattr(self, "behind", frame)),
)


@plan(wire=JOIN)
def _many_at_once(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, QUEUE, receipt=w.receipt())
    for _ in range(3):
        w.send(line, QUEUE, style=JOIN)


@mutant("busy-drops", "FRAME-06", _many_at_once, accept="RECEIPT-05")
class BusyDrops(Session):
    """Of many SENDs in one segment those after the second are dropped, unless they ask for a receipt."""

    sends = 0

    def send(self, data: bytes) -> None:
        self.sends = 0
        super().send(data)

    def on_SEND(self, frame: Frame) -> None:
        self.sends += 1
        if self.sends < 3 or "receipt" in frame.first:
            super().on_SEND(frame)
