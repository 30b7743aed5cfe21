"""Faults in SEND and MESSAGE: where messages go, how often, and with which headers."""

from __future__ import annotations

import itertools

from impls.stomp.reference import Broker, Frame, Message, Queue, Server, Session, Subscription, Topic
from specs.plan import Ref
from strategies.stomp import writer as plans
from tests.mutants.kit import QUEUE, QUEUE_2, TOPIC, mutant, one, plan, round_trip

# ruff: noqa: N802  handlers bear the names of commands

# -- where they go -----------------------------------------------------------------------------------------------------


@mutant("sent-nowhere", "SEND-01", one("SEND", body=b"x"), accept="SEND-06 INV-01 HDR-02 RECEIPT-03")
class SentNowhere(Session):
    """SEND without a destination is receipted."""

    def on_SEND(self, frame: Frame) -> None:
        if "destination" in frame.first:
            super().on_SEND(frame)


@mutant("send-fails-unheard", "SEND-01", one("SEND", body=b"x"), accept="SEND-06 INV-01 HDR-02")
class SendFailsUnheard(Session):
    """SEND without a destination is ignored: no RECEIPT, no ERROR, no end."""

    def handle(self, frame: Frame) -> None:
        if frame.command != "SEND" or "destination" in frame.first:
            super().handle(frame)


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
def _other_case(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, Ref("topic", "a"))
    w.send(line, Ref("topic", "A"))


@mutant("names-any-case", "SEND-02", _other_case)
class NamesAnyCase(Broker):
    """Names of destinations are the same in any case."""

    def find(self, name: str):  # noqa: ANN202
        return super().find(name.lower())


@plan
def _slash_behind(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, Ref("topic", "a"))
    w.send(line, Ref("topic", "a/"))


@mutant("slash-ignored", "SEND-02", _slash_behind)
class SlashIgnored(Broker):
    """A slash at the end of a destination makes no difference."""

    def find(self, name: str):  # noqa: ANN202
        return super().find(name.rstrip("/"))


@plan
def _two_queues(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, QUEUE, receipt=w.receipt())
    w.send(line, QUEUE)
    w.send(line, QUEUE_2)


@mutant("sticky-destination", "SEND-02", _two_queues)
class StickyDestination(Session):
    """A connection sends everything to the destination of its first SEND."""

    first = ""

    def publish(self, frame: Frame) -> None:
        self.first = self.first or frame.first["destination"]
        super().publish(frame._replace(first={**frame.first, "destination": self.first}))


@mutant("destination-missing", "MSG-01", round_trip(), accept="HDR-01", smoke=False)
class DestinationMissing(Session):
    """MESSAGE does not name its destination."""

    def message_headers(self, subscription, message, ack) -> list[tuple[str, str]]:  # noqa: ANN001
        return super().message_headers(subscription, message, ack)[1:]


@mutant("destination-changed", "MSG-02", round_trip(), level="SHOULD", smoke=False)
class DestinationChanged(Session):
    """MESSAGE names its destination without the slash in front."""

    def message_headers(self, subscription, message, ack) -> list[tuple[str, str]]:  # noqa: ANN001
        changed = message._replace(destination=message.destination[1:])
        return super().message_headers(subscription, changed, ack)


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


@mutant("kept-messages-lost", "SUB-05", plan(lambda w: (
    w.send(w.line(), QUEUE), w.send(w.line(), QUEUE, receipt=w.receipt()), w.subscribe(w.line(), QUEUE, receipt=w.receipt()),
)), accept="RECEIPT-04 SUB-08 ACKMODE-01")  # fmt: skip
class OneIsKept(Queue):
    """A queue without subscribers keeps one message only."""

    def keep(self, message: Message, where: str = "back") -> None:
        if not self.subscribers and self.ready:
            self.pop()
        super().keep(message, where)


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


@mutant("message-id-missing", "MSG-03", round_trip(), accept="HDR-01", smoke=False)
class MessageIdMissing(Session):
    """MESSAGE has no message-id."""

    def message_headers(self, subscription, message, ack) -> list[tuple[str, str]]:  # noqa: ANN001
        return [h for h in super().message_headers(subscription, message, ack) if h[0] != "message-id"]


# -- headers -----------------------------------------------------------------------------------------------------------


def _passes(change) -> type[Session]:  # noqa: ANN001
    """A session that passes on other user headers than it was given."""

    class Passing(Session):
        def pass_through(self, frame: Frame) -> list[tuple[str, str]]:
            return change(super().pass_through(frame))

    return Passing


@mutant("user-headers-lost", "SEND-04", round_trip(("a", "1")), accept="MSG-08")
class UserHeadersLost(_passes(lambda headers: [h for h in headers if h[0] in ("k", "content-type")])):
    """User headers are not passed on."""


@mutant("values-cut-at-100", "SEND-04", round_trip(("a", "x" * 101)), accept="MSG-08")
class ValuesCutAt100(_passes(lambda headers: [(name, value[:100]) for name, value in headers])):
    """Header values are cut after 100 characters."""


@mutant("eight-headers", "SEND-04", round_trip(*((f"h{n}", "x") for n in range(8))), accept="MSG-08")
class EightHeaders(_passes(lambda headers: headers[:8])):
    """No more than eight user headers are passed on."""


@mutant("names-lowered", "SEND-04", round_trip(("Content", "1")), accept="MSG-08 FRAME-05")
class NamesLowered(_passes(lambda headers: [(name.lower(), value) for name, value in headers])):
    """Names of user headers come back in lower case."""


@mutant("like-a-reserved-name", "SEND-04", round_trip(("receipts", "1")), accept="MSG-08")
class LikeAReservedName(_passes(lambda headers: [h for h in headers if not h[0].startswith("receipt")])):
    """A user header is taken for a reserved one because its name begins like it."""


@mutant("reserved-in-any-case", "SEND-04", round_trip(("Ack", "1")), accept="MSG-08 FRAME-05")
class ReservedInAnyCase(_passes(lambda headers: [h for h in headers if h[0].lower() not in ("ack", "destination")])):
    """A user header is taken for a reserved one because it is spelled like it but for its case."""


@mutant("dashes-become-underscores", "SEND-04", round_trip(("a-b", "1")), accept="MSG-08")
class DashesBecomeUnderscores(_passes(lambda headers: [(n if n == "content-type" else n.replace("-", "_"), v) for n, v in headers])):
    """Names of user headers are made into identifiers."""


@mutant("numbers-normalised", "SEND-04", round_trip(("a", "1.50")), accept="MSG-08")
class NumbersNormalised(_passes(lambda headers: [(n, f"{float(v):g}" if "." in v and v.replace(".", "").isdecimal() else v) for n, v in headers])):
    """A value that looks like a number is written as a number."""


@mutant("empty-entry-for-header", "REPEAT-02", round_trip(("a", ""), ("a", "1")), accept="ENC-08", level="SHOULD")
class FirstNotEmpty(_passes(lambda headers: sorted(headers, key=lambda h: h[1] == ""))):
    """Of repeated headers the first that is not empty counts."""


class _Forgeable(Session):
    """Lets the sender's own header replace the server's."""

    name = ""

    def pass_through(self, frame: Frame) -> list[tuple[str, str]]:
        forged = [(self.name, frame.first[self.name])] if self.name in frame.first else []
        return super().pass_through(frame) + forged

    def message_headers(self, subscription, message, ack) -> list[tuple[str, str]]:  # noqa: ANN001
        return sorted(super().message_headers(subscription, message, ack), key=lambda h: h not in message.headers)


@mutant("subscription-forged", "SEND-09", round_trip(("subscription", "forged")), accept="MSG-04 MSG-09")
class SubscriptionForged(_Forgeable):
    """A sender can say which subscription a MESSAGE is for."""

    name = "subscription"


@mutant("message-id-forged", "SEND-09", round_trip(("message-id", "forged")), accept="MSG-03")
class MessageIdForged(_Forgeable):
    """A sender can choose the message-id."""

    name = "message-id"


@mutant("ack-forged", "SEND-09", round_trip(("ack", "forged"), mode="client"), accept="MSG-06")
class AckForged(_Forgeable):
    """A sender can choose by which value its message is acknowledged."""

    name = "ack"


@plan
def _header_of_another(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, QUEUE)
    w.send(line, QUEUE, headers=[("a", "1")])
    w.send(line, QUEUE, headers=[("a", "2")])


@mutant("headers-remembered", "SEND-04", _header_of_another, accept="MSG-08")
class HeadersRemembered(Session):
    """Headers of one SEND show through on the next."""

    memory: dict[str, str]

    def pass_through(self, frame: Frame) -> list[tuple[str, str]]:
        self.memory = getattr(self, "memory", {})
        return [(name, self.memory.setdefault(name, value) if name == "a" else value)
                for name, value in super().pass_through(frame)]  # fmt: skip


@plan
def _half_a_frame(w: plans.Writer) -> None:
    other = w.line(1)
    w.blurt(w.line(), b"BEGIN\ntrans")
    w.say(other, "BEGIN", [("transaction", "t"), w.receipt()])


@mutant("parser-shared", "ROB-02", _half_a_frame, accept="FRAME-06 ERROR-07 RECEIPT-01")
class ParserShared(Server):
    """All connections read into one buffer, so that half a frame of one gets between the octets of another."""

    def open(self) -> Session:
        session = super().open()
        self.shared = getattr(self, "shared", None) or session.parser
        session.parser = self.shared
        return session

