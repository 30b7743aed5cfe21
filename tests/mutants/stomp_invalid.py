"""Faults in what becomes of frames whose headers are missing, or name something that is not there."""

from __future__ import annotations

from typing import Any

from impls.references.stomp.reference import Frame, Session
from specs.plan import Ref
from strategies.stomp import writer as plans
from tests.mutants.faults import on
from tests.mutants.kit import QUEUE, TOPIC, mutant, one, plan


def _ignores(command: str, *names: str, receipt: bool = True) -> type[Session]:
    """A session that carries out `command` only when these headers are there, and says nothing about it otherwise."""

    class Ignoring(Session):
        def handle(self, frame: Frame) -> None:
            if frame.command != command or all(frame.first.get(name) for name in names):
                super().handle(frame)
            elif receipt and "receipt" in frame.first:
                self.receipt(frame.first["receipt"])

    return Ignoring


# -- required headers --------------------------------------------------------------------------------------------------


mutant("begun-without-id", "INV-10", one("BEGIN"), accept="TXN-01", level="SHOULD")(
    "BEGIN without a transaction is receipted.", _ignores("BEGIN", "transaction")
)
mutant("begin-without-id-unheard", "INV-10", one("BEGIN"), accept="TXN-01", level="SHOULD")(
    "BEGIN without a transaction is ignored in silence.", _ignores("BEGIN", "transaction", receipt=False)
)
mutant("commit-without-id", "TXN-01", one("COMMIT"), accept="INV-12 RECEIPT-03")(
    "COMMIT without a transaction is receipted.", _ignores("COMMIT", "transaction")
)
mutant("commit-unknown", "TXN-08", one("COMMIT", ("transaction", "t")), accept="INV-12 RECEIPT-03 TXN-01")(
    "COMMIT of a transaction that never was, or of none, is receipted.",
    on(Session, "on_COMMIT").skips(when=lambda self, frame: frame.first.get("transaction") not in self.transactions),
)
mutant("abort-unknown-unheard", "INV-12", one("ABORT", ("transaction", "t")), accept="TXN-08", level="SHOULD")(
    "ABORT of a transaction that never was is ignored in silence.",
    on(Session, "handle").skips(
        when=lambda self, frame: frame.command == "ABORT" and frame.first.get("transaction") not in self.transactions
    ),
)


@plan
def _ended_twice(w: plans.Writer) -> None:
    line = w.line()
    w.say(line, "BEGIN", [("transaction", "t")])
    w.say(line, "COMMIT", [("transaction", "t")])
    w.wait()
    w.say(line, "COMMIT", [("transaction", "t"), w.receipt()])


@mutant("commit-finished", "TXN-08", _ended_twice, accept="INV-12 RECEIPT-03")
class CommitFinished(Session):
    """COMMIT of a transaction that has ended is receipted, as if it were a repetition."""

    def on_COMMIT(self, frame: Frame) -> None:
        done = self.__dict__.setdefault("done", set())
        if frame.first.get("transaction") in self.transactions or frame.first.get("transaction") not in done:
            super().on_COMMIT(frame)
        done.add(frame.first["transaction"])


@plan
def _ack_in_unknown(w: plans.Writer) -> None:
    line = w.line()
    sub = w.subscribe(line, QUEUE, "client")
    w.send(line, QUEUE)
    w.wait()
    w.acknowledge(line, sub, 0, tx="unknown", receipt=w.receipt())


mutant("ack-in-unknown", "TXN-12", _ack_in_unknown, accept="INV-13 RECEIPT-03", level="SHOULD")(
    "ACK in a transaction that does not exist is carried out at once.",
    on(Session, "on_ACK").instead(
        lambda self, frame: self.settle(self.named_by(frame), accepted=True),
        when=lambda self, frame: frame.first.get("transaction") not in self.transactions,
    ),
)


@plan
def _delivered_in_unknown(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, TOPIC)
    w.send(line, TOPIC, headers=[("transaction", "unknown")])


@mutant("delivered-in-unknown", "TXN-12", _delivered_in_unknown, accept="INV-13 RECEIPT-03", level="SHOULD")
class DeliveredInUnknown(Session):
    """A SEND in a transaction that does not exist is delivered, and then there is an ERROR about it."""

    def on_SEND(self, frame: Frame) -> None:
        if frame.first.keys() >= {"transaction", "destination"} and frame.first["transaction"] not in self.transactions:
            self.publish(frame)
        super().on_SEND(frame)


@plan
def _left_twice(w: plans.Writer) -> None:
    line = w.line()
    sub = w.subscribe(line, TOPIC)
    w.unsubscribe(line, sub, receipt=w.receipt())
    w.wait()
    w.say(line, "UNSUBSCRIBE", [("id", sub.id), w.receipt()])


@mutant("unsubscribed-twice", "UNSUB-01", _left_twice, accept="INV-08", level="SHOULD")
class UnsubscribedTwice(Session):
    """A second UNSUBSCRIBE of the same subscription is receipted, as if it were a repetition."""

    def on_UNSUBSCRIBE(self, frame: Frame) -> None:
        gone = self.__dict__.setdefault("gone_ids", set())
        if frame.first.get("id") not in gone or frame.first.get("id") in self.subscriptions:
            super().on_UNSUBSCRIBE(frame)
        gone.add(frame.first["id"])


@mutant("nameless-unsubscribe", "UNSUB-01", one("UNSUBSCRIBE"), accept="INV-08", level="SHOULD")
class NamelessUnsubscribe(Session):
    """UNSUBSCRIBE without an id ends all subscriptions."""

    def on_UNSUBSCRIBE(self, frame: Frame) -> None:
        if "id" in frame.first:
            super().on_UNSUBSCRIBE(frame)
        else:
            for subscription in [*self.subscriptions.values()]:
                self.unsubscribe(subscription)


@plan
def _old_style_ack(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, QUEUE, "client")
    w.send(line, QUEUE)
    w.wait()
    w.say(line, "ACK", [("message-id", Ref("message-id", (0, "0", 0))), ("subscription", "0"), w.receipt()])


@mutant("old-style-ack", "INV-09", _old_style_ack, accept="ACK-03", level="SHOULD")
class OldStyleAck(Session):
    """ACK may name message-id and subscription in 1.2, too."""

    def key_of(self, frame: Frame) -> object:
        for delivery in self.unacked.values():
            if "id" not in frame.first and delivery.message.id == frame.first.get("message-id"):
                return delivery.key
        return super().key_of(frame)


mutant("nack-without-id", "ACK-03", one("NACK"), accept="INV-09 RECEIPT-03 NACK-01")(
    "NACK without an id is receipted.", _ignores("NACK", "id")
)


# -- frames that get no answer -----------------------------------------------------------------------------------------


def _unheard(name: str, requirement: str, accept: str, level: str, witness: Any, hears: Any, why: str) -> None:
    class Unheard(Session):
        def handle(self, frame: Frame) -> None:
            if hears(self, frame):
                super().handle(frame)

    Unheard.__doc__ = why
    mutant(name, requirement, witness, accept=accept, level=level)(Unheard)


_NOWHERE, _ANYWHERE = one("SUBSCRIBE", ("id", "0")), one("SUBSCRIBE", ("destination", TOPIC))
_NOT_OPEN = one("SEND", ("destination", TOPIC), ("transaction", "t"))
_ENORMOUS = one("SEND", ("destination", TOPIC), body=b"x" * 70_000)
for _row in (
    ("subscribe-nowhere-unheard", "INV-04", "SUB-01 SUB-06", "MUST", _NOWHERE,
     lambda self, frame: frame.command != "SUBSCRIBE" or "destination" in frame.first,
     "SUBSCRIBE without a destination is ignored in silence."),
    ("subscribe-without-id-unheard", "INV-05", "SUB-02", "SHOULD", _ANYWHERE,
     lambda self, frame: frame.command != "SUBSCRIBE" or "id" in frame.first,
     "SUBSCRIBE without an id is ignored in silence."),
    ("unknown-unsubscribe-unheard", "INV-08", "UNSUB-01", "SHOULD", one("UNSUBSCRIBE", ("id", "7")),
     lambda self, frame: frame.command != "UNSUBSCRIBE" or frame.first.get("id") in self.subscriptions,
     "UNSUBSCRIBE of a subscription that is not open is ignored in silence."),
    ("unknown-transaction-unheard", "INV-13", "TXN-12", "SHOULD", _NOT_OPEN,
     lambda self, frame: frame.command != "SEND" or frame.first.get("transaction") in (None, *self.transactions),
     "SEND in a transaction that is not open is ignored in silence."),
    ("enormous-unheard", "INV-39", "LIMIT-02", "SHOULD", _ENORMOUS,
     lambda self, frame: len(frame.body) <= 65_536,
     "A frame with an enormous body is ignored in silence."),
):  # fmt: skip
    _unheard(*_row)


@mutant("no-name-in-silence", "INV-02", one("SEND", ("destination", "")), level="SHOULD")
class NoNameInSilence(Session):
    """A SEND to the empty destination closes the connection without an ERROR."""

    def handle(self, frame: Frame) -> None:
        if frame.command == "SEND" and frame.first.get("destination") == "":
            self.on_lost_connection()
            self.end()
        else:
            super().handle(frame)


mutant("headers-are-ascii", "ENC-13", one("BEGIN", ("transaction", "\u00e9")), accept="ENC-01")(
    "A frame with a header beyond ASCII is refused.",
    on(Session, "handle").instead(
        lambda self, frame: self.fail("only ASCII is understood", frame),
        when=lambda frame: not all((name + value).isascii() for name, value in frame.headers),
    ),
)
