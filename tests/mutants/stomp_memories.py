"""Faults of a server that remembers what it should forget, forgets what it should remember, or mixes up clients.

Each needs a history: what goes wrong depends on what was said before, on this connection or on another.
"""

from __future__ import annotations

from impls.references.stomp.reference import (
    Broker,
    Destination,
    Frame,
    Message,
    Queue,
    Session,
    Subscription,
    Topic,
    Transaction,
)
from strategies.stomp import writer as plans
from tests.mutants.kit import QUEUE, TOPIC, begin, listening, mutant, plan

# -- destinations ------------------------------------------------------------------------------------------------------


@plan
def _left_and_come_back(w: plans.Writer) -> None:
    line, sender = w.line(), w.line(1)
    w.send(sender, QUEUE, receipt=w.receipt())
    w.unsubscribe(line, w.subscribe(line, QUEUE, receipt=w.receipt()), receipt=w.receipt())
    w.subscribe(line, QUEUE, receipt=w.receipt())
    w.send(sender, QUEUE)


@mutant("sends-to-the-forgotten", "SUB-05", _left_and_come_back, accept="SUB-11 UNSUB-05 SUB-08 RECEIPT-04")
class SendsToTheForgotten(Session):
    """A sender keeps hold of a destination that was emptied, left and forgotten: its messages wait where nobody is."""

    known: dict[str, Destination] | None = None

    def publish(self, frame: Frame) -> None:
        self.known = {} if self.known is None else self.known
        name, broker = frame.first["destination"], self.server.broker
        mine = self.known.setdefault(name, broker.find(name))
        before = broker.destinations[broker.key(name)]
        broker.destinations[broker.key(name)] = mine
        super().publish(frame)
        if before is not mine:
            broker.destinations[broker.key(name)] = before


@plan
def _turns(w: plans.Writer) -> None:
    line, other, sender = w.line(), w.line(1), w.line(2)
    w.subscribe(line, QUEUE, receipt=w.receipt())
    w.subscribe(other, QUEUE, receipt=w.receipt())
    w.disconnect(other)
    for _ in range(2):
        w.send(sender, QUEUE, receipt=w.receipt())


class CountsWhoLeaves(Broker):
    """Tells a queue when one of several subscribers leaves it."""

    def unsubscribe(self, subscription: Subscription) -> None:
        queue = subscription.destination
        if isinstance(queue, TurnsOfTheGone):
            queue.left += len(queue.subscribers) > 1
        super().unsubscribe(subscription)


@mutant("turns-of-the-gone", "SUB-05", _turns, accept="SUB-08 SUB-04 UNSUB-05", also=(CountsWhoLeaves,))
class TurnsOfTheGone(Queue):
    """A subscriber that has left keeps its turn while others stay: what falls to it is lost."""

    left = 0
    turn = 0

    def dispatch(self) -> None:
        while self.ready and self.left and self.subscribers:
            self.turn += 1
            if self.turn % (len(self.subscribers) + self.left) != 0:
                break
            self.pop()
        super().dispatch()


@plan
def _waiting_senders(w: plans.Writer) -> None:
    w.send(w.line(), QUEUE)
    w.send(w.line(), QUEUE, headers=[("foo", "a")])
    w.send(w.line(1), QUEUE, headers=[("foo", "b")])
    w.wait()
    w.subscribe(w.line(2), QUEUE, receipt=w.receipt())


@mutant("headers-of-the-one-before", "SEND-04", _waiting_senders, accept="MSG-08 REPEAT-02")
class HeadersOfTheOneBefore(Session):
    """A message that two others wait in front of gets the user headers of the last of them."""

    def publish(self, frame: Frame) -> None:
        place = self.server.broker.destinations.get(frame.first["destination"])
        if isinstance(place, Queue) and len(place.ready) > 1:
            borrowed = place.ready[-1].headers
            own = [pair for pair in frame.headers if pair[0] in ("destination", "receipt", "content-length", "k")]
            headers = [*own, *(pair for pair in borrowed if pair[0] != "k")]
            frame = frame._replace(headers=headers)
        super().publish(frame)


@plan
def _nine_wait(w: plans.Writer) -> None:
    for _ in range(9):
        w.send(w.line(), QUEUE)
    w.wait()
    w.subscribe(w.line(1), QUEUE)


@mutant("ninth-twice", "MSG-10", _nine_wait)
class NinthTwice(Broker):
    """Of a backlog the ninth message is delivered twice."""

    def subscribe(self, subscription: Subscription) -> None:
        queue = subscription.destination
        if isinstance(queue, Queue) and len(queue.ready) > 8:
            queue.ready.insert(8, queue.ready[8])
        super().subscribe(subscription)


# -- bodies ------------------------------------------------------------------------------------------------------------


@plan
def _overwritten(w: plans.Writer) -> None:
    w.send(w.line(), QUEUE, b"aaaa")
    w.send(w.line(), QUEUE, b"bbbb")
    w.wait()
    w.subscribe(w.line(1), QUEUE)


@mutant("one-read-buffer", "BODY-02", _overwritten)
class OneReadBuffer(Queue):
    """What waits is kept in the buffer that its connection reads into: the next body overwrites it."""

    def keep(self, message: Message, where: str = "back") -> None:
        if self.ready and not self.subscribers:
            last = self.ready[-1]
            self.ready[-1] = last._replace(body=(message.body + last.body[len(message.body) :])[: len(last.body)])
        super().keep(message, where)


# -- subscriptions -----------------------------------------------------------------------------------------------------


@plan
def _elsewhere(w: plans.Writer) -> None:
    line = w.line()
    w.unsubscribe(line, w.subscribe(line, TOPIC, identity="s"), receipt=w.receipt())
    w.subscribe(line, QUEUE, identity="s", receipt=w.receipt())
    w.send(line, TOPIC)


@mutant("id-brings-back-its-topic", "MSG-04", _elsewhere, accept="MSG-09 MSG-10 SEND-02 SUB-11 UNSUB-03")
class IdBringsBackItsTopic(Session):
    """A subscription id that is used again gets what is sent to its former topic, too."""

    former: dict[object, Destination] | None = None

    def on_SUBSCRIBE(self, frame: Frame) -> None:
        super().on_SUBSCRIBE(frame)
        key = frame.first.get("id")
        if self.former and key in self.former and isinstance(self.former[key], Topic):
            old, broker = self.former[key], self.server.broker
            if broker.find(old.name) is not self.subscriptions[key].destination:
                broker.find(old.name).subscribers.append(self.subscriptions[key])

    def unsubscribe(self, subscription: Subscription) -> None:
        self.former = {**(self.former or {}), subscription.key: subscription.destination}
        super().unsubscribe(subscription)


@plan
def _subscribed_inside(w: plans.Writer) -> None:
    line = w.line()
    begin(w, line)
    w.subscribe(line, QUEUE, receipt=w.receipt())
    w.send(line, QUEUE)


@mutant(
    "subscribe-waits-for-commit", "TXN-11", _subscribed_inside, accept="SUB-05 SUB-01 TXN-07 TXN-03 RECEIPT-04 SUB-08"
)
class SubscribeWaitsForCommit(Session):
    """While a transaction is open, SUBSCRIBE is receipted and takes effect at its end."""

    def on_SUBSCRIBE(self, frame: Frame) -> None:
        super().on_SUBSCRIBE(frame)
        if self.transactions:
            fresh = [*self.subscriptions.values()][-1]
            if fresh in fresh.destination.subscribers:
                fresh.destination.subscribers.remove(fresh)

    def close_transaction(self, frame: Frame) -> Transaction:
        found = super().close_transaction(frame)
        for each in self.subscriptions.values():
            place = self.server.broker.find(each.destination.name)
            if each not in place.subscribers:
                each.destination = place
                place.subscribers.append(each)
                place.dispatch()
        return found


@plan
def _twins(w: plans.Writer) -> None:
    first, second = w.line(), w.line(1)
    w.subscribe(first, QUEUE, identity="0", receipt=w.receipt())
    w.subscribe(second, QUEUE, identity="0", receipt=w.receipt())
    w.disconnect(second)
    w.send(first, QUEUE)


@mutant("twin-goes-along", "SUB-04", _twins, accept="SUB-05 UNSUB-05 TXN-11 SUB-08 TXN-03 ROB-02")
class TwinGoesAlong(Session):
    """With a connection end the subscriptions of others that have the same id and the same destination."""

    def on_lost_connection(self) -> None:
        mine = {(each.key, each.destination.name) for each in self.subscriptions.values()}
        for other in self.server.sessions.values():
            for each in [*other.subscriptions.values()]:
                if other is not self and (each.key, each.destination.name) in mine:
                    self.server.broker.unsubscribe(each)
        super().on_lost_connection()


# -- texts -------------------------------------------------------------------------------------------------------------


@plan
def _same_but_for_case(w: plans.Writer) -> None:
    line = listening(w)
    w.send(line, QUEUE, headers=[("a", "Ab")])
    w.send(line, QUEUE, headers=[("a", "aB")])


@mutant("values-kept-once", "SEND-04", _same_but_for_case, accept="MSG-08 MSG-02 REPEAT-02")
class ValuesKeptOnce(Session):
    """Values that differ in case alone are kept once, as they were written first."""

    def pass_through(self, frame: Frame) -> list[tuple[str, str]]:
        kept = vars(self.server).setdefault("kept", {})
        return [(name, kept.setdefault(value.lower(), value)) for name, value in super().pass_through(frame)]


@plan
def _thirteen_receipts(w: plans.Writer) -> None:
    line = w.line()
    for number in range(13):
        w.say(line, "BEGIN", [("transaction", f"t{number}"), w.receipt()])


@mutant("thirteenth-receipt-lost", "RECEIPT-01", _thirteen_receipts, accept="DISC-03 RECEIPT-08")
class ThirteenthReceiptLost(Session):
    """One RECEIPT in thirteen is lost, whoever asked for it."""

    def on_receipt(self, frame: Frame) -> None:
        asked = self.server.__dict__["asked"] = self.server.__dict__.get("asked", 0) + 1
        if asked % 13:
            super().on_receipt(frame)
