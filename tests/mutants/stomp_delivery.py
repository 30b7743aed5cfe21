"""Faults in SEND and MESSAGE: where messages go, how often, and under which ids."""

from __future__ import annotations

import itertools

from impls.references.stomp.reference import Broker, Frame, Message, Queue, Server, Session, Subscription, Topic
from specs.plan import Ref
from strategies.stomp import writer as plans
from tests.mutants.faults import on
from tests.mutants.kit import QUEUE, QUEUE_2, TOPIC, mutant, one, plan, round_trip

# -- where they go -----------------------------------------------------------------------------------------------------


mutant("sent-nowhere", "SEND-01", one("SEND", body=b"x"), accept="SEND-06 INV-01 RECEIPT-03")(
    "SEND without a destination is receipted.",
    on(Session, "on_SEND").skips(when=lambda frame: "destination" not in frame.first),
)
mutant("send-fails-unheard", "INV-01", one("SEND", body=b"x"), accept="SEND-06 SEND-01")(
    "SEND without a destination is ignored: no RECEIPT, no ERROR, no end.",
    on(Session, "handle").skips(when=lambda frame: frame.command == "SEND" and "destination" not in frame.first),
)


@mutant("send-fails-in-silence", "SEND-06", one("SEND", body=b"x"), accept="SEND-01 INV-01")
class SendFailsInSilence(Session):
    """A SEND that fails closes the connection without an ERROR."""

    def handle(self, frame: Frame) -> None:
        if frame.command != "SEND" or "destination" in frame.first:
            super().handle(frame)
        else:
            self.on_lost_connection()
            self.end()


@plan
def _longer_name(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, Ref("topic", "0"), receipt=w.receipt())
    w.send(line, Ref("topic", "00"))


@mutant("names-by-prefix", "SEND-02", _longer_name)
class NamesByPrefix(Broker):
    """A message also goes to destinations whose name is the beginning of its own."""

    def route(self, message: Message, sender: Session) -> None:
        super().route(message, sender)
        for name, destination in [*self.destinations.items()]:
            if name != message.destination and message.destination.startswith(name):
                destination.accept(message, sender)


@plan
def _digit_behind(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, Ref("topic", "a"))
    w.send(line, Ref("topic", "a1"))


mutant("digits-ignored", "SEND-02", _digit_behind)(
    "Digits at the end of a destination make no difference.",
    on(Broker, "find").takes(name=lambda name: name.rstrip("0123456789")),
)


@plan
def _two_queues(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, QUEUE, receipt=w.receipt())
    w.send(line, QUEUE)
    w.send(line, QUEUE_2)


@mutant("sticky-destination", "SEND-02", _two_queues, accept="SUB-05")
class StickyDestination(Session):
    """A connection sends everything to the destination of its first SEND."""

    first = ""

    def publish(self, frame: Frame) -> None:
        self.first = self.first or frame.first["destination"]
        super().publish(frame._replace(first={**frame.first, "destination": self.first}))


mutant("destination-missing", "MSG-01", round_trip(), accept="HDR-01", smoke=False)(
    "MESSAGE does not name its destination.", on(Session, "message_headers").gives(lambda found: found[1:])
)
mutant("destination-changed", "MSG-02", round_trip(), level="SHOULD", smoke=False)(
    "MESSAGE names its destination without the slash in front.",
    on(Session, "message_headers").takes(message=lambda message: message._replace(destination=message.destination[1:])),
)


@mutant("destination-lost-over-copies", "SUB-05", plan(lambda w: (
    w.subscribe(w.line(), TOPIC, receipt=w.receipt()),
    w.subscribe(w.line(1), TOPIC, receipt=w.receipt()),
    w.send(w.line(), TOPIC),
)), accept="SUB-04")  # fmt: skip
class OneCopyOnly(Topic):
    """Of several subscribers of a topic only the first gets a copy."""

    def accept(self, message: Message, sender: Session) -> None:
        for subscription in self.subscribers[:1]:
            self.offer(subscription, message)


@plan
def _two_waiting(w: plans.Writer) -> None:
    line = w.line()
    w.send(line, QUEUE)
    w.send(line, QUEUE, receipt=w.receipt())
    sub = w.subscribe(line, QUEUE, "client", receipt=w.receipt())
    w.acknowledge(line, sub, 0, receipt=w.receipt())


@mutant("kept-messages-lost", "SUB-05", _two_waiting, accept="RECEIPT-04 SUB-08 ACKMODE-01")
class OneIsKept(Broker):
    """Of what waits at a queue, a subscriber that acknowledges gets the last message only."""

    def subscribe(self, subscription: Subscription) -> None:
        queue = subscription.destination
        while subscription.mode != "auto" and isinstance(queue, Queue) and len(queue.ready) > 1:
            queue.pop()
        super().subscribe(subscription)


# -- how often ---------------------------------------------------------------------------------------------------------


@plan
def _two_takers(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, QUEUE)
    w.subscribe(line, QUEUE)
    w.send(line, QUEUE)


@mutant("queue-for-all", "MSG-10", _two_takers)
class QueueForAll(Queue):
    """Every subscriber of a queue gets a copy."""

    def accept(self, message: Message, sender: Session) -> None:
        if not self.subscribers:
            super().accept(message, sender)
        for subscription in [*self.subscribers]:
            subscription.deliver(message)


@plan
def _two_on_topic(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, TOPIC)
    w.subscribe(line, TOPIC)
    w.send(line, TOPIC)


@mutant("copies-squared", "MSG-10", _two_on_topic)
class CopiesSquared(Topic):
    """A connection with two subscriptions of a topic gets two copies for each."""

    def offer(self, subscription: Subscription, message: Message) -> None:
        for other in self.subscribers:
            if other.session is subscription.session:
                super().offer(subscription, message)


@plan
def _subscribed_while_waiting(w: plans.Writer) -> None:
    line, late = w.line(), w.line(1)
    w.subscribe(line, QUEUE, "client")
    w.send(line, QUEUE)
    w.wait()
    w.subscribe(late, QUEUE)


@mutant("given-away-twice", "MSG-10", _subscribed_while_waiting)
class GivenAwayTwice(Broker):
    """A new subscriber of a queue is given what others have not acknowledged yet."""

    def subscribe(self, subscription: Subscription) -> None:
        for other in [*subscription.destination.subscribers]:
            for delivery in other.unacked.values():
                subscription.session.deliver(subscription, delivery.message)
        super().subscribe(subscription)


# -- identities --------------------------------------------------------------------------------------------------------


@plan
def _nine_messages(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, QUEUE)
    for _ in range(9):
        w.send(line, QUEUE)


@mutant("message-ids-wrap", "MSG-03", _nine_messages)
class MessageIdsWrap(Server):
    """Message ids begin again after eight messages."""

    def message_id(self) -> str:
        self.messages = getattr(self, "messages", 0) + 1
        return f"m{self.messages % 8}"


@plan
def _two_destinations(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, QUEUE)
    w.subscribe(line, QUEUE_2)
    w.send(line, QUEUE)
    w.send(line, QUEUE_2)


@mutant("message-ids-of-destination", "MSG-03", _two_destinations)
class MessageIdsOfDestination(Broker):
    """Each destination counts its messages from one."""

    def route(self, message: Message, sender: Session) -> None:
        counters = self.__dict__.setdefault("counters", {})
        counter = counters.setdefault(message.destination, itertools.count(1))
        super().route(message._replace(id=f"m{next(counter)}"), sender)


@plan
def _two_senders(w: plans.Writer) -> None:
    w.subscribe(w.line(), TOPIC)
    w.send(w.line(), TOPIC)
    w.send(w.line(1), TOPIC)


@mutant("message-ids-of-sender", "MSG-03", _two_senders)
class MessageIdsOfSender(Broker):
    """Each connection counts the messages that it sends from one."""

    def route(self, message: Message, sender: Session) -> None:
        sender.sent = getattr(sender, "sent", 0) + 1
        super().route(message._replace(id=f"m{sender.sent}"), sender)


mutant("message-id-missing", "MSG-03", round_trip(), accept="HDR-01", smoke=False)(
    "MESSAGE has no message-id.",
    on(Session, "message_headers").gives(lambda found: [h for h in found if h[0] != "message-id"]),
)
