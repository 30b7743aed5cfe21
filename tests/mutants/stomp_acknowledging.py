"""Faults in ACK and NACK: what they name, and what they settle."""

from __future__ import annotations

from impls.references.stomp.reference import Delivery, Frame, Message, Refused, Server, Session
from strategies.stomp import writer as plans
from tests.mutants.faults import on
from tests.mutants.kit import QUEUE_2, TOPIC, acked, mutant, one, plan, taken

# -- what they name ----------------------------------------------------------------------------------------------------


mutant("ack-wants-subscription", "ACK-01", acked("client", 1, 0, ends=False), accept="NEGO-06 NACK-01")(
    "ACK needs a subscription header, as in 1.1.",
    on(Session, "key_of").before(lambda self, frame: self.required(frame, "subscription")),
)


@mutant("ack-by-message-id", "ACK-01", acked("client", 1, 0, ends=False), accept="NEGO-06")
class AckByMessageId(Session):
    """ACK must name the message-id instead of the ack value."""

    def on_settle(self, frame: Frame, accepted: bool) -> None:
        found = [d for d in self.unacked.values() if d.message.id == frame.first.get("id")]
        if not found:
            raise Refused("no such message")
        self.settle(found[0], accepted)


mutant("old-ack-in-1.2", "NEGO-06", acked("client", 1, 0, ends=False), accept="ACK-01")(
    "ACK is read as in 1.1 whatever version was agreed on.",
    on(Session, "key_of").instead(lambda self, frame: self.required(frame, "message-id")),
)


@plan(version="1.1")
def _old_ack(w: plans.Writer) -> None:
    line, sub = taken(w, "client")
    w.acknowledge(line, sub, 0, receipt=w.receipt())


mutant("new-ack-in-1.1", "NEGO-06", _old_ack, accept="ACK-01 VER-01")(
    "ACK is read as in 1.2 whatever version was agreed on.",
    on(Session, "key_of").instead(lambda self, frame: self.required(frame, "id")),
)
mutant("unknown-ack-receipted", "ACK-03", one("ACK", ("id", "unknown")), accept="ACK-04 INV-09 RECEIPT-03")(
    "ACK of something unknown is ignored and receipted.",
    on(Session, "named_by").instead(lambda self, frame: self.unacked.get(self.key_of(frame))),
)


@mutant(
    "unknown-ack-twice-answered", "ACK-04", one("ACK", ("id", "unknown")), accept="ACK-03 INV-09 RECEIPT-03 ERROR-07"
)
class UnknownAckTwiceAnswered(Session):
    """ACK of something unknown is receipted on arrival and then answered by ERROR."""

    def on_ACK(self, frame: Frame) -> None:
        if "receipt" in frame.first:
            self.receipt(frame.first["receipt"])
        super().on_ACK(frame._replace(first={k: v for k, v in frame.first.items() if k != "receipt"}))

    def on_receipt(self, frame: Frame) -> None:
        if frame.command != "ACK":
            super().on_receipt(frame)


mutant("unknown-nack-unheard", "INV-09", one("NACK", ("id", "unknown")), accept="ACK-03", level="SHOULD")(
    "NACK of something unknown is ignored, without RECEIPT, ERROR or end.",
    on(Session, "handle").skips(
        when=lambda self, frame: frame.command == "NACK" and frame.first.get("id") not in self.unacked
    ),
)


@plan
def _nameless(w: plans.Writer) -> None:
    line, _ = taken(w, "client")
    w.say(line, "ACK", [w.receipt()])


@mutant("nameless-ack-takes-last", "ACK-03", _nameless, accept="INV-09 ACK-04 RECEIPT-03")
class NamelessAckTakesLast(Session):
    """ACK without an id is about the last message delivered."""

    def key_of(self, frame: Frame) -> object:
        if self.version != "1.2" or frame.first.get("id"):
            return super().key_of(frame)
        return next(reversed(self.unacked), None)


mutant("acked-twice", "INV-09", acked("client-individual", 1, 0, 0, ends=False), accept="ACK-03", level="SHOULD")(
    "A second ACK of the same message is receipted.",
    on(Session, "release").after(lambda self, delivery: self.tolerate(delivery.key)),
)


@plan
def _ack_of_another(w: plans.Writer) -> None:
    line, sub = taken(w, "client")
    w.say(w.line(1), "ACK", [*w.handle(line, sub.id, 0), w.receipt()])


@mutant("ack-of-another", "ACK-03", _ack_of_another, accept="INV-09 ACK-04 RECEIPT-03")
class AckOfAnother(Session):
    """A connection can acknowledge what another one was given."""

    def named_by(self, frame: Frame) -> Delivery | None:
        for session in self.server.sessions.values():
            if self.key_of(frame) in session.unacked:
                return session.unacked[self.key_of(frame)]
        return super().named_by(frame)

    def settle(self, delivery: Delivery, accepted: bool) -> None:
        Session.settle(delivery.subscription.session, delivery, accepted)


mutant(
    "ack-not-unescaped",
    "ACK-07",
    acked("client", 1, 0, ends=False),
    accept="ACK-01 ENC-03",
    switches={"ack_style": "odd"},
)(
    "The id of an ACK is compared with blanks removed.",
    on(Session, "key_of").gives(lambda found: found.strip() if isinstance(found, str) else found),
)


@plan
def _come_again(w: plans.Writer) -> None:
    line, sub = taken(w, "client")
    w.acknowledge(line, sub, 0, verb="NACK", receipt=w.receipt())
    w.wait()
    w.acknowledge(line, sub, 1, receipt=w.receipt())


@mutant("redelivery-cannot-be-acked", "ACK-01", _come_again, accept="NACK-01 NACK-02 NACK-03 ERROR-07")
class RedeliveryCannotBeAcked(Session):
    """What comes again after a NACK cannot be acknowledged: its id counts as settled."""

    def named_by(self, frame: Frame) -> Delivery | None:
        found = super().named_by(frame)
        if found and found.message.redelivered:
            raise Refused("no message waits for this acknowledgement")
        return found


mutant("ack-missing", "MSG-05", plan(lambda w: taken(w, "client-individual")))(
    "MESSAGE has an ack header in mode client only.",
    on(Session, "message_headers").takes(ack=lambda subscription, ack: ack if subscription.mode == "client" else None),
)


@plan
def _one_on_each(w: plans.Writer) -> None:
    line, _ = taken(w, "client")
    w.subscribe(line, QUEUE_2, "client")
    w.send(line, QUEUE_2)


mutant("ack-of-subscription", "MSG-06", _one_on_each)(
    "Each subscription counts its ack values from one.",
    on(Session, "ack_key").instead(
        lambda subscription: f"a{subscription.delivered}", when=lambda self: self.version == "1.2"
    ),
)


@mutant("one-ack-value", "MSG-06", plan(lambda w: taken(w, "client", 2)))
class OneAckValue(Server):
    """Every second delivery has the ack value of the one before it."""

    def ack_id(self, message: Message) -> str:
        self.handles = getattr(self, "handles", 0) + 1
        return f"a{(self.handles + 1) // 2}"


# -- what they settle --------------------------------------------------------------------------------------------------


mutant("ack-without-effect", "ACKMODE-08", acked("client", 1, 0))(
    "ACK is receipted, and the message comes again all the same.",
    on(Session, "settle").skips(when=lambda accepted: accepted),
)
mutant("ack-settles-one", "ACKMODE-04", acked("client", 2, 1), accept="ACKMODE-08")(
    "In mode client an ACK settles its own message only.",
    on(Session, "settle_upto").instead(lambda delivery: [delivery]),
)
mutant("ack-leaves-first", "ACKMODE-04", acked("client", 2, 1), accept="ACKMODE-08")(
    "Counting the messages that a cumulative ACK covers begins one too late.",
    on(Session, "settle_upto").gives(lambda found: found[1:] or found),
)


@mutant("ack-settles-next", "ACKMODE-04", acked("client", 2, 0, 1, ends=False), accept="ACK-02 NACK-03")
class AckSettlesNext(Session):
    """A cumulative ACK settles the message behind it as well."""

    def settle_upto(self, delivery: Delivery) -> list[Delivery]:
        waiting = [*delivery.subscription.unacked.values()]
        return waiting[: waiting.index(delivery) + 2]


mutant("ack-settles-all", "ACKMODE-04", acked("client", 3, 0, 2, ends=False), accept="ACK-02")(
    "A cumulative ACK settles all that the subscription was given.",
    on(Session, "settle_upto").instead(lambda delivery: [*delivery.subscription.unacked.values()]),
)


@plan
def _ack_across(w: plans.Writer) -> None:
    line, first = taken(w, "client")
    second = w.subscribe(line, QUEUE_2, "client")
    w.send(line, QUEUE_2)
    w.wait()
    w.acknowledge(line, second, 0)
    w.acknowledge(line, first, 0, receipt=w.receipt())


mutant("ack-crosses-subscriptions", "ACKMODE-07", _ack_across, accept="ACK-02 ACKMODE-04")(
    "A cumulative ACK settles everything that the connection was given before, on any subscription.",
    on(Session, "settle_upto").instead(
        lambda self, delivery: [each for each in self.unacked.values() if each.number <= delivery.number]
    ),
)


@plan
def _ack_across_same(w: plans.Writer) -> None:
    line, first = taken(w, "client-individual")
    second = w.subscribe(line, QUEUE_2, "client")
    w.send(line, QUEUE_2)
    w.wait()
    w.acknowledge(line, second, 0)
    w.acknowledge(line, first, 0, receipt=w.receipt())


@mutant("ack-crosses-modes", "ACKMODE-07", _ack_across_same, accept="ACK-02 ACKMODE-05")
class AckCrossesModes(Session):
    """A cumulative ACK also settles what an individual subscription of the same connection was given before."""

    def settle_upto(self, delivery: Delivery) -> list[Delivery]:
        older = [d for d in self.unacked.values() if d.number < delivery.number]
        return [d for d in older if d.subscription.mode == "client-individual"] + super().settle_upto(delivery)


@plan
def _ack_across_copies(w: plans.Writer) -> None:
    line = w.line()
    first, second = (w.subscribe(line, TOPIC, "client", receipt=w.receipt()) for _ in range(2))
    w.send(line, TOPIC, receipt=w.receipt())
    w.wait()
    w.acknowledge(line, second, 0, receipt=w.receipt())
    w.acknowledge(line, first, 0, receipt=w.receipt())


@mutant("ack-crosses-copies", "ACKMODE-07", _ack_across_copies, accept="ACK-02 ACKMODE-04")
class AckCrossesCopies(Session):
    """A cumulative ACK settles what other subscriptions of its connection were given from the same destination."""

    def settle_upto(self, delivery: Delivery) -> list[Delivery]:
        place = delivery.subscription.destination
        return [
            each
            for each in self.unacked.values()
            if each.subscription.destination is place and each.number <= delivery.number
        ]


mutant(
    "individual-is-cumulative", "ACKMODE-05", acked("client-individual", 2, 1, 0, ends=False), accept="ACK-02 NACK-03"
)(
    "In mode client-individual an ACK or NACK settles the messages before it, too.",
    on(Session, "covered_by").instead(lambda self, delivery: self.settle_upto(delivery)),
)


@plan
def _ack_after_nack(w: plans.Writer) -> None:
    line, sub = taken(w, "client-individual", 2)
    w.acknowledge(line, sub, 0, verb="NACK", receipt=w.receipt())
    w.wait()  # it comes again, behind the other one
    w.acknowledge(line, sub, 2, receipt=w.receipt())
    w.acknowledge(line, sub, 1, receipt=w.receipt())


@mutant("individual-until-nack", "ACKMODE-05", _ack_after_nack, accept="ACK-02 ACK-03 NACK-03")
class IndividualUntilNack(Session):
    """Once a message was rejected, an ACK in mode client-individual settles the messages before it, too."""

    rejected = False

    def covered_by(self, delivery: Delivery) -> list[Delivery]:
        return self.settle_upto(delivery) if self.rejected else super().covered_by(delivery)

    def reject(self, deliveries: list[Delivery]) -> None:
        self.rejected = True
        super().reject(deliveries)


mutant("individual-takes-oldest", "ACKMODE-05", acked("client-individual", 2, 1), accept="ACK-02 ACKMODE-08 NACK-03")(
    "In mode client-individual an ACK or NACK settles the oldest message, whichever it names.",
    on(Session, "covered_by").instead(
        lambda delivery: [next(iter(delivery.subscription.unacked.values()))],
        when=lambda delivery: delivery.subscription.mode == "client-individual",
    ),
)


@plan
def _nacked_then_acked(w: plans.Writer) -> None:
    line, sub = taken(w, "client-individual", 2)
    w.acknowledge(line, sub, 1, verb="NACK")
    w.acknowledge(line, sub, 0, receipt=w.receipt())


@mutant(
    "nack-settles-earlier", "NACK-03", _nacked_then_acked, accept="ACKMODE-05", switches={"nack": "discard"},
)  # fmt: skip
class NackSettlesEarlier(Session):
    """In mode client-individual a NACK settles the messages before it, too."""

    def settle(self, delivery: Delivery, accepted: bool) -> None:
        if not accepted and self.unacked.get(delivery.key) is delivery:
            for each in self.settle_upto(delivery)[:-1]:
                self.release(each)
        super().settle(delivery, accepted)


@mutant("nack-unknown", "NACK-01", acked("client", 1, 0, verb="NACK", ends=False))
class NackUnknown(Session):
    """NACK is no command."""

    def on_connected(self, frame: Frame) -> None:
        super().on_connected(frame)
        self.commands -= {"NACK"}


mutant("nack-wants-message-id", "NACK-01", acked("client", 1, 0, verb="NACK", ends=False), accept="NEGO-06")(
    "NACK must name message-id and subscription, as in 1.1.",
    on(Session, "on_NACK").instead(lambda self, frame: self.required(frame, "message-id")),
)
