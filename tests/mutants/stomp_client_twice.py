"""STOMP clients that are wrong about what comes a second time, or belongs to several at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from impls.references.stomp.client import Caller, Channel, Delivery, Phase, Subscription
from impls.references.stomp.client_wire import Header
from impls.references.stomp.parser import Frame
from specs.plan import Plan
from strategies.common import Program
from strategies.stomp import serving_receipts, serving_twice
from tests.mutants.faults import on
from tests.mutants.record import Witness
from tests.mutants.stomp_client_kit import mutant

ENDED, ACROSS, SUBSCRIPTION, NAME, EMPTY, IN_VAIN, BACK, BOTH, WAITING, LATE, MANY = range(11)
"""The scenes of `serving_twice`."""
OLD_ACROSS = 0
"""A scene of each version."""
SAME_NAME, END = range(2)
"""Rows of `serving_receipts`."""


def scene(row: int, a: int = 0, b: int = 0) -> Witness:
    """A session with a scene."""
    return lambda config: serving_twice.showing(Program((0, 0, 0, 0, row, a, b), ()), config)


def older(row: int, a: int = 0, b: int = 0) -> Witness:
    """A session of the version before, with a scene."""
    return lambda config: serving_twice.showing_older(Program((0, 0, 0, 0, row, a, b), ()), config)


def late(config: Any) -> Plan:
    """A session whose end takes its time."""
    return serving_twice.leaving(Program((0, 0, 0, 0), ()), config)


def receipted(row: int) -> Witness:
    """Messages of which the last one is answered so."""
    return lambda config: serving_receipts.withholding(Program((0, 0, 0, 0, row, 0), ()), config)


@mutant("transactions-by-place", "CLI-13", scene(ENDED, 2))
class TransactionsByPlace(Caller):
    """Where a transaction stands in the list is not renewed when one before it ends."""

    def reset(self) -> None:
        super().reset()
        self.listed: list[str] = []
        self.places: dict[str, int] = {}

    def do_begin(self, given: Mapping[str, Any]) -> Any:
        self.places[given["transaction"]] = len(self.listed)
        self.listed.append(given["transaction"])
        return super().do_begin(given)

    def in_transaction(self, given: Mapping[str, Any]) -> list[Header]:
        place = self.places.get(given.get("transaction") or "", len(self.listed))
        name = self.listed[place] if place < len(self.listed) else given.get("transaction")
        return super().in_transaction({**given, "transaction": name})

    def end_transaction(self, command: str, given: Mapping[str, Any]) -> Any:
        if given["transaction"] in self.listed:
            self.listed.remove(given["transaction"])
        return super().end_transaction(command, given)


@mutant("acks-reach-others", "ACKMODE-02", scene(ACROSS), "CLI-13", switches={"settled_again": "ignore"})
class AcksReachOthers(Caller):
    """An ACK in mode client settles what had come before on the other subscriptions of that mode as well."""

    def settled_by(self, subscription: Subscription, delivery: Delivery) -> list[Delivery]:
        if subscription.mode == "client":
            for other in self.subscriptions.values():
                if other is not subscription and other.mode == "client":
                    other.open = [each for each in other.open if each.number > delivery.number]
        return super().settled_by(subscription, delivery)


@mutant("mode-of-the-last-one", "ACKMODE-02", scene(SUBSCRIPTION), "CLI-13 SUB-03")
class ModeOfTheLastOne(Caller):
    """A subscription has the mode of the first one of its name."""

    def do_subscribe(self, given: Mapping[str, Any]) -> Any:
        modes: dict[str, str] = vars(self).setdefault("modes", {})
        return super().do_subscribe({**given, "ack": modes.setdefault(given["sub"], given.get("ack") or "auto")})


@mutant("leaves-again", "CLI-10", late, "DISC-05 CLI-13")
class LeavesAgain(Caller):
    """DISCONNECT is sent once more where its RECEIPT takes longer than half a second."""

    def leave(self, channel: Channel) -> None:
        super().leave(channel)
        self.later(500, lambda: self._again(channel))

    def _again(self, channel: Channel) -> None:
        if channel.phase is Phase.LEAVING:
            channel.say("DISCONNECT", [("receipt", self.leaving_with or "")])


@mutant("body-of-the-one-before", "CLI-03", scene(EMPTY), "CLEN-03 CLEN-02 BODY-01")
class BodyOfTheOneBefore(Caller):
    """A message without a body and without a length has the body of the one before it."""

    kept = b""

    def message(self, channel: Channel, frame: Frame) -> None:
        if frame.body or "content-length" in frame.first:
            self.kept = frame.body
        super().message(channel, frame._replace(body=frame.body or self.kept))


@mutant("receives-for-who-has-gone", "CLI-03", scene(IN_VAIN), "CLI-12")
class ReceivesForWhoHasGone(Caller):
    """An application that has waited in vain is given the next message that comes when nobody waits."""

    gone = 0

    def do_receive(self, given: Mapping[str, Any]) -> Any:
        if self.inbox:
            return super().do_receive(given)
        self.gone += 1
        return super().do_receive(given)

    def message(self, channel: Channel, frame: Frame) -> None:
        waits = self.awaited
        super().message(channel, frame)
        if waits:
            self.gone -= 1
        elif self.gone and self.inbox:
            self.gone -= 1
            self.inbox.pop(0)


@mutant(
    "settled-though-aborted", "ACKMODE-02", scene(BACK), "CLI-13 ACK-01 CLI-09", switches={"settled_again": "ignore"}
)
class SettledThoughAborted(Caller):
    """What was acknowledged in a transaction is not open again when that is aborted."""

    def do_abort(self, given: Mapping[str, Any]) -> Any:
        self.settling[given["transaction"]] = []
        return super().do_abort(given)


@mutant("acks-in-the-aborted-one", "CLI-13", scene(BACK))
class AcksInTheAbortedOne(Caller):
    """What is settled outside of transactions, behind an ABORT, is said to be part of the one that was aborted, until
    another one begins."""

    aborted, settles = "", False

    def do_begin(self, given: Mapping[str, Any]) -> Any:
        self.aborted = ""
        return super().do_begin(given)

    def do_abort(self, given: Mapping[str, Any]) -> Any:
        self.aborted = self.transactions[given["transaction"]]
        return super().do_abort(given)

    def answer_for(self, command: str, given: Mapping[str, Any]) -> Any:
        self.settles = True
        try:
            return super().answer_for(command, given)
        finally:
            self.settles = False

    def in_transaction(self, given: Mapping[str, Any]) -> list[Header]:
        lost = [("transaction", self.aborted)] if self.aborted and self.settles else []
        return super().in_transaction(given) or lost


@mutant("ring-of-eight", "ACKMODE-02", scene(MANY, 9), "ACKMODE-06 ACK-03 ACK-01", switches={"settled_again": "ignore"})
class RingOfEight(Caller):
    """What an ACK names is kept for the last eight messages: the ninth takes the place of the first."""

    def naming(self, channel: Channel, delivery: Delivery) -> list[Header]:
        known = {each.number % 8: each for each in sorted(self.refs.values(), key=lambda each: each.number)}
        return super().naming(channel, known[delivery.number % 8])


@mutant("newest-subscription-in-1.1", "CLI-09", older(OLD_ACROSS), "ACK-03 NACK-01 ACKMODE-02")
class NewestSubscription(Caller):
    """In sessions of 1.1 an ACK names the newest subscription."""

    def naming(self, channel: Channel, delivery: Delivery) -> list[Header]:
        newest = [each.id for each in self.subscriptions.values()][-1]
        found = super().naming(channel, delivery)
        older = channel.version == "1.1" and newest is not None
        return [(name, newest if older and name == "subscription" else value) for name, value in found]


@mutant("acks-the-last-of-its-name", "ACKMODE-02", scene(BOTH), "ACK-01 ACK-03 CLI-09 CLI-13")
class AcksTheLastOfItsName(Caller):
    """What an ACK names is kept by the message-id: of one message for two subscriptions the last one."""

    def naming(self, channel: Channel, delivery: Delivery) -> list[Header]:
        known = {each.frame.first.get("message-id"): each for each in self.refs.values()}
        return super().naming(channel, known[delivery.frame.first.get("message-id")])


@mutant("drops-by-destination", "CLI-03", scene(WAITING), switches={"unsubscribed": "keep"})
class DropsByDestination(Caller):
    """With a subscription go the messages that wait for any subscription to its destination."""

    def do_unsubscribe(self, given: Mapping[str, Any]) -> Any:
        place = self.subscription(given["sub"]).destination
        self.inbox = [each for each in self.inbox if each.subscription.destination != place]
        return super().do_unsubscribe(given)


@mutant("drops-all-that-waits", "CLI-03", scene(WAITING, 3), switches={"unsubscribed": "keep"})
class DropsAllThatWaits(Caller):
    """With a subscription goes whatever waits."""

    def do_unsubscribe(self, given: Mapping[str, Any]) -> Any:
        self.inbox.clear()
        return super().do_unsubscribe(given)


mutant("deaf-behind-a-late-message", "CLI-03", scene(LATE), "CLI-15")(
    "A message of a subscription that has just ended is the last thing that is heard.",
    on(Channel, "on_message").after(
        lambda self, frame: setattr(self, "on_frame", lambda frame: None),
        when=lambda self, frame: frame.first.get("subscription") in self.caller.removed,
    ),
)
mutant("hangs-up-behind-a-late-message", "CLI-15", scene(LATE), "CLI-03")(
    "A message of a subscription that has just ended is taken for an error.",
    on(Channel, "on_message").instead(
        lambda self: self.end("a message is of no subscription"),
        when=lambda self, frame: frame.first.get("subscription") in self.caller.removed,
    ),
)


@mutant("receipt-by-a-known-name", "CLI-03", receipted(SAME_NAME))
class ReceiptByAKnownName(Caller):
    """A RECEIPT that has come once is good for every frame that asks for one by the same name."""

    def done(self, receipt: str | None) -> bool:
        known: set[str] = vars(self).setdefault("known", set())
        return True if receipt in known else super().done(receipt)

    def receipt(self, channel: Channel, number: str) -> None:
        vars(self).setdefault("known", set()).add(number)
        super().receipt(channel, number)


mutant("done-by-the-end", "CLI-03", receipted(END))(
    "Whatever waits for a RECEIPT when the server ends the connection is reported as done.",
    on(Caller, "over").before(
        lambda self: self.settle(self.awaited, {"ok": True}),
        when=lambda self, channel: self.awaited.startswith("receipt") and "ERROR" not in channel.why,
    ),
)
