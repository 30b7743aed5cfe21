"""Faults in what a RECEIPT promises: that its frame has succeeded, and that the server has those before it."""

from __future__ import annotations

from impls.references.stomp.reference import Frame, Session
from strategies.stomp import writer as plans
from tests.mutants.faults import on
from tests.mutants.kit import TOPIC, mutant, one, plan


@plan
def _empty_commit(w: plans.Writer) -> None:
    line = w.line()
    w.say(line, "BEGIN", [("transaction", "t")])
    w.say(line, "COMMIT", [("transaction", "t"), w.receipt()])


@mutant("receipted-then-failed", "RECEIPT-03", _empty_commit, accept="TXN-03")
class ReceiptedThenFailed(Session):
    """COMMIT of an empty transaction is receipted, and then there is an ERROR about it."""

    def handle(self, frame: Frame) -> None:
        held = self.transactions.get(frame.first.get("transaction", ""))
        super().handle(frame)
        if held is not None and frame.command == "COMMIT" and not held.work:
            self.fail("there was nothing to do", frame)


@plan
def _unasked_and_asked(w: plans.Writer) -> None:
    listener, line = w.line(1), w.line()
    w.subscribe(listener, TOPIC, receipt=w.receipt())
    w.send(line, TOPIC, when="join")
    w.send(line, TOPIC, receipt=w.receipt(), when="now")


mutant("only-the-receipted-received", "RECEIPT-05", _unasked_and_asked, accept="FRAME-06 SUB-08 SUB-05")(
    "A SEND that asks for nothing is lost if another frame stands behind it in the same segment.",
    on(Session, "publish").skips(
        when=lambda self, frame: "receipt" not in frame.first and self.parser._buffer[self.parser._at :]
    ),
)


@mutant("failed-receipted", "RECEIPT-03", one("SUBSCRIBE", ("id", "0")), accept="SUB-01 SEND-01 ACK-03 TXN-01 TXN-08")
class FailedReceipted(Session):
    """RECEIPT is sent before a frame is looked at, whatever becomes of it."""

    def handle(self, frame: Frame) -> None:
        if "receipt" in frame.first and frame.command in self.commands and frame.command != "DISCONNECT":
            self.receipt(frame.first["receipt"])
            frame = frame._replace(first={k: v for k, v in frame.first.items() if k != "receipt"})
        super().handle(frame)
