"""Faults in ending subscriptions."""

from __future__ import annotations

from impls.references.stomp.reference import Broker, Frame, Message, Refused, Session, Subscription
from strategies.stomp import writer as plans
from tests.mutants.faults import on
from tests.mutants.kit import QUEUE, TOPIC, TOPIC_2, mutant, one, plan

# -- ending ------------------------------------------------------------------------------------------------------------


mutant("unknown-unsubscribed", "UNSUB-01", one("UNSUBSCRIBE", ("id", "0")), accept="INV-08", level="SHOULD")(
    "UNSUBSCRIBE of a subscription that does not exist is receipted.",
    on(Session, "on_UNSUBSCRIBE").skips(when=lambda self, frame: frame.first.get("id") not in self.subscriptions),
)


@plan
def _unsubscribed(w: plans.Writer) -> None:
    line = w.line()
    w.unsubscribe(line, w.subscribe(line, TOPIC), receipt=w.receipt())


mutant("destination-wanted", "UNSUB-02", _unsubscribed, accept="UNSUB-04")(
    "UNSUBSCRIBE without a destination is refused.",
    on(Session, "on_UNSUBSCRIBE").before(lambda self, frame: self.required(frame, "destination")),
)


@plan
def _sent_after(w: plans.Writer) -> None:
    line = w.line()
    w.unsubscribe(line, w.subscribe(line, TOPIC), receipt=w.receipt())
    w.send(line, TOPIC)


mutant("unsubscribed-in-name-only", "UNSUB-03", _sent_after, accept="MSG-09 SUB-05")(
    "After UNSUBSCRIBE messages go on coming.", on(Broker, "unsubscribe").skips()
)


@plan
def _one_of_two_left(w: plans.Writer) -> None:
    line = w.line()
    first = w.subscribe(line, TOPIC)
    w.subscribe(line, TOPIC, receipt=w.receipt())
    w.unsubscribe(line, first, receipt=w.receipt())
    w.send(line, TOPIC)


@mutant("unsubscribed-all", "UNSUB-05", _one_of_two_left, accept="SUB-05")
class UnsubscribedAll(Broker):
    """UNSUBSCRIBE ends all subscriptions that the connection has for the destination."""

    def unsubscribe(self, subscription: Subscription) -> None:
        subscribers = subscription.destination.subscribers
        subscribers[:] = [each for each in subscribers if each.session is not subscription.session]
        self.forget(subscription.destination.name)


@mutant("wrong-one-unsubscribed", "UNSUB-03", _one_of_two_left, accept="UNSUB-05 MSG-09 SUB-05")
class WrongOneUnsubscribed(Broker):
    """UNSUBSCRIBE ends the newest subscription that the connection has for the destination."""

    def unsubscribe(self, subscription: Subscription) -> None:
        newest = [each for each in subscription.destination.subscribers if each.session is subscription.session][-1:]
        for each in newest:
            subscription.destination.subscribers.remove(each)


@plan
def _everyone_leaves(w: plans.Writer) -> None:
    stays, leaves = w.line(), w.line(1)
    w.subscribe(stays, TOPIC, receipt=w.receipt())
    w.unsubscribe(leaves, w.subscribe(leaves, TOPIC), receipt=w.receipt())
    w.send(stays, TOPIC)


mutant("destination-forgotten", "UNSUB-05", _everyone_leaves, accept="SUB-05 ROB-02 SUB-04 ACK-02")(
    "A destination is forgotten when anyone leaves it, whoever else is there.",
    on(Broker, "unsubscribe").after(
        lambda self, subscription: self.destinations.pop(subscription.destination.name, None)
    ),
)


@plan
def _left_with_message(w: plans.Writer) -> None:
    line = w.line()
    sub = w.subscribe(line, QUEUE, "client")
    w.send(line, QUEUE)
    w.wait()
    w.unsubscribe(line, sub, receipt=w.receipt())


mutant("unacked-keep-subscription", "UNSUB-04", _left_with_message, accept="UNSUB-02 ERROR-07")(
    "UNSUBSCRIBE is refused while a message is not acknowledged.",
    on(Session, "unsubscribe").raises(
        lambda: Refused("a message is not acknowledged"), when=lambda subscription: subscription.unacked
    ),
)


@plan
def _subscribed_again(w: plans.Writer) -> None:
    line = w.line()
    w.unsubscribe(line, w.subscribe(line, TOPIC, identity="a"), receipt=w.receipt())
    w.subscribe(line, TOPIC, identity="a", receipt=w.receipt())
    w.send(line, TOPIC)


@plan
def _id_again(w: plans.Writer) -> None:
    line = w.line()
    w.unsubscribe(line, w.subscribe(line, TOPIC, identity="a"), receipt=w.receipt())
    w.subscribe(line, TOPIC, identity="a", receipt=w.receipt())


@mutant("id-used-up", "SUB-11", _id_again)
class IdUsedUp(Session):
    """The id of a subscription that has ended cannot be used again."""

    used: frozenset[str] = frozenset()

    def on_SUBSCRIBE(self, frame: Frame) -> None:
        if frame.first.get("id") in self.used:
            raise Refused("the subscription id was used before")
        super().on_SUBSCRIBE(frame)

    def unsubscribe(self, subscription: Subscription) -> None:
        super().unsubscribe(subscription)
        self.used |= {subscription.key}


@mutant("id-still-dead", "SUB-11", _subscribed_again, accept="SUB-05")
class IdStillDead(Session):
    """A subscription whose id was used before gets nothing."""

    used: frozenset[str] = frozenset()

    def deliver(self, subscription: Subscription, message: Message) -> None:
        if subscription.key not in self.used:
            super().deliver(subscription, message)

    def unsubscribe(self, subscription: Subscription) -> None:
        super().unsubscribe(subscription)
        self.used |= {subscription.key}


@plan
def _id_elsewhere(w: plans.Writer) -> None:
    line = w.line()
    w.unsubscribe(line, w.subscribe(line, TOPIC, identity="a"), receipt=w.receipt())
    w.subscribe(line, TOPIC_2, identity="a", receipt=w.receipt())
    w.send(line, TOPIC, receipt=w.receipt())


@mutant("id-of-the-former", "UNSUB-03", _id_elsewhere, accept="SEND-02 MSG-09")
class IdOfTheFormer(Session):
    """A subscription gets what the one that had its id before would get, too."""

    def on_SUBSCRIBE(self, frame: Frame) -> None:
        super().on_SUBSCRIBE(frame)
        former: str | None = self.__dict__.get("former", {}).get(frame.first.get("id"))
        mine = self.subscriptions.get(frame.first.get("id", ""))
        if mine is not None and former is not None and former != mine.destination.name:
            self.server.broker.find(former).subscribers.append(mine)

    def unsubscribe(self, subscription: Subscription) -> None:
        super().unsubscribe(subscription)
        self.__dict__.setdefault("former", {})[subscription.key] = subscription.destination.name


@plan
def _id_in_another_mode(w: plans.Writer) -> None:
    line = w.line()
    w.unsubscribe(line, w.subscribe(line, TOPIC, identity="a"), receipt=w.receipt())
    w.subscribe(line, TOPIC, "client", "a", receipt=w.receipt())
    w.send(line, TOPIC, receipt=w.receipt())


@mutant(
    "mode-of-the-former", "MSG-05", _id_in_another_mode, accept="SUB-08 SUB-11 ACKMODE-01 ACK-02 ACK-01 ERROR-07 SUB-05"
)
class ModeOfTheFormer(Session):
    """A subscription has the mode of the one that had its id before."""

    def on_SUBSCRIBE(self, frame: Frame) -> None:
        modes = self.__dict__.setdefault("modes", {})
        key = frame.first.get("id")
        if key in modes:
            frame = frame._replace(first={**frame.first, "ack": modes[key]})
        super().on_SUBSCRIBE(frame)

    def unsubscribe(self, subscription: Subscription) -> None:
        super().unsubscribe(subscription)
        self.__dict__.setdefault("modes", {})[subscription.key] = subscription.mode
