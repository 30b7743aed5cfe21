"""Faults in ACK and NACK: what they name, and what they settle."""

from __future__ import annotations

from impls.references.stomp.reference import Delivery, Frame, Message, Refused, Server, Session, Subscription
from strategies.stomp import writer as plans
from tests.mutants.kit import QUEUE_2, acked, mutant, one, plan, taken

# -- what they name ----------------------------------------------------------------------------------------------------


@mutant("ack-wants-subscription", "ACK-01", acked("client", 1, 0, ends=False), accept="NEGO-06 NACK-01")
class AckWantsSubscription(Session):
    """ACK needs a subscription header, as in 1.1."""

    def key_of(self, frame: Frame) -> object:
        self.required(frame, "subscription")
        return super().key_of(frame)


@mutant("ack-by-message-id", "ACK-01", acked("client", 1, 0, ends=False), accept="NEGO-06")
class AckByMessageId(Session):
    """ACK must name the message-id instead of the ack value."""

    def on_settle(self, frame: Frame, accepted: bool) -> None:
        found = [d for d in self.unacked.values() if d.message.id == frame.first.get("id")]
        if not found:
            raise Refused("no such message")
        self.settle(found[0], accepted)


@mutant("old-ack-in-1.2", "NEGO-06", acked("client", 1, 0, ends=False), accept="ACK-01")
class OldAckInNewSessions(Session):
    """ACK is read as in 1.1 whatever version was agreed on."""

    def key_of(self, frame: Frame) -> object:
        return self.required(frame, "message-id")


@plan(version="1.1")
def _old_ack(w: plans.Writer) -> None:
    line, sub = taken(w, "client")
    w.acknowledge(line, sub, 0, receipt=w.receipt())


@mutant("new-ack-in-1.1", "NEGO-06", _old_ack, accept="ACK-01 VER-01")
class NewAckInOldSessions(Session):
    """ACK is read as in 1.2 whatever version was agreed on."""

    def key_of(self, frame: Frame) -> object:
        return self.required(frame, "id")


@mutant("unknown-ack-receipted", "ACK-03", one("ACK", ("id", "unknown")), accept="ACK-04 INV-09 RECEIPT-03")
class UnknownAckReceipted(Session):
    """ACK of something unknown is ignored and receipted."""

    def named_by(self, frame: Frame) -> Delivery | None:
        return self.unacked.get(self.key_of(frame))


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


@mutant("unknown-nack-unheard", "INV-09", one("NACK", ("id", "unknown")), accept="ACK-03", level="SHOULD")
class UnknownNackUnheard(Session):
    """NACK of something unknown is ignored, without RECEIPT, ERROR or end."""

    def handle(self, frame: Frame) -> None:
        if frame.command != "NACK" or frame.first.get("id") in self.unacked:
            super().handle(frame)


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


@mutant("acked-twice", "INV-09", acked("client-individual", 1, 0, 0, ends=False), accept="ACK-03", level="SHOULD")
class AckedTwice(Session):
    """A second ACK of the same message is receipted."""

    def release(self, delivery: Delivery) -> None:
        super().release(delivery)
        self.tolerate(delivery.key)


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


@mutant(
    "ack-not-unescaped",
    "ACK-07",
    acked("client", 1, 0, ends=False),
    accept="ACK-01 ENC-03",
    switches={"ack_style": "odd"},
)
class AckNotUnescaped(Session):
    """The id of an ACK is compared with blanks removed."""

    def key_of(self, frame: Frame) -> object:
        key = super().key_of(frame)
        return key.strip() if isinstance(key, str) else key


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


@mutant("ack-missing", "MSG-05", plan(lambda w: taken(w, "client-individual")))
class AckMissing(Session):
    """MESSAGE has an ack header in mode client only."""

    def message_headers(self, subscription, message, ack) -> list[tuple[str, str]]:
        kept = ack if subscription.mode == "client" else None
        return super().message_headers(subscription, message, kept)


@plan
def _one_on_each(w: plans.Writer) -> None:
    line, _ = taken(w, "client")
    w.subscribe(line, QUEUE_2, "client")
    w.send(line, QUEUE_2)


@mutant("ack-of-subscription", "MSG-06", _one_on_each)
class AckOfSubscription(Session):
    """Each subscription counts its ack values from one."""

    def ack_key(self, subscription: Subscription, message: Message) -> object:
        return f"a{subscription.delivered}" if self.version == "1.2" else super().ack_key(subscription, message)


@mutant("one-ack-value", "MSG-06", plan(lambda w: taken(w, "client", 2)))
class OneAckValue(Server):
    """Every second delivery has the ack value of the one before it."""

    def ack_id(self, message: Message) -> str:
        self.handles = getattr(self, "handles", 0) + 1
        return f"a{(self.handles + 1) // 2}"


# -- what they settle --------------------------------------------------------------------------------------------------


@mutant("ack-without-effect", "ACKMODE-08", acked("client", 1, 0))
class AckWithoutEffect(Session):
    """ACK is receipted, and the message comes again all the same."""

    def settle(self, delivery: Delivery, accepted: bool) -> None:
        if not accepted:
            super().settle(delivery, accepted)


@mutant("ack-settles-one", "ACKMODE-04", acked("client", 2, 1), accept="ACKMODE-08")
class AckSettlesOne(Session):
    """In mode client an ACK settles its own message only."""

    def settle_upto(self, delivery: Delivery) -> list[Delivery]:
        return [delivery]


@mutant("ack-leaves-first", "ACKMODE-04", acked("client", 2, 1), accept="ACKMODE-08")
class AckLeavesFirst(Session):
    """Counting the messages that a cumulative ACK covers begins one too late."""

    def settle_upto(self, delivery: Delivery) -> list[Delivery]:
        covered = super().settle_upto(delivery)
        return covered[1:] or covered


@mutant("ack-settles-next", "ACKMODE-04", acked("client", 2, 0, 1, ends=False), accept="ACK-02 NACK-03")
class AckSettlesNext(Session):
    """A cumulative ACK settles the message behind it as well."""

    def settle_upto(self, delivery: Delivery) -> list[Delivery]:
        waiting = [*delivery.subscription.unacked.values()]
        return waiting[: waiting.index(delivery) + 2]


@mutant("ack-settles-all", "ACKMODE-04", acked("client", 3, 0, 2, ends=False), accept="ACK-02")
class AckSettlesAll(Session):
    """A cumulative ACK settles all that the subscription was given."""

    def settle_upto(self, delivery: Delivery) -> list[Delivery]:
        return [*delivery.subscription.unacked.values()]


@plan
def _ack_across(w: plans.Writer) -> None:
    line, first = taken(w, "client")
    second = w.subscribe(line, QUEUE_2, "client")
    w.send(line, QUEUE_2)
    w.wait()
    w.acknowledge(line, second, 0)
    w.acknowledge(line, first, 0, receipt=w.receipt())


@mutant("ack-crosses-subscriptions", "ACKMODE-07", _ack_across, accept="ACK-02 ACKMODE-04")
class AckCrossesSubscriptions(Session):
    """A cumulative ACK settles everything that the connection was given before, on any subscription."""

    def settle_upto(self, delivery: Delivery) -> list[Delivery]:
        return [each for each in self.unacked.values() if each.number <= delivery.number]


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


@mutant(
    "individual-is-cumulative", "ACKMODE-05", acked("client-individual", 2, 1, 0, ends=False), accept="ACK-02 NACK-03"
)
class IndividualIsCumulative(Session):
    """In mode client-individual an ACK or NACK settles the messages before it, too."""

    def covered_by(self, delivery: Delivery) -> list[Delivery]:
        return self.settle_upto(delivery)


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


@mutant("individual-takes-oldest", "ACKMODE-05", acked("client-individual", 2, 1), accept="ACK-02 ACKMODE-08 NACK-03")
class IndividualTakesOldest(Session):
    """In mode client-individual an ACK or NACK settles the oldest message, whichever it names."""

    def covered_by(self, delivery: Delivery) -> list[Delivery]:
        if delivery.subscription.mode == "client-individual":
            return [next(iter(delivery.subscription.unacked.values()))]
        return super().covered_by(delivery)


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


@mutant("nack-wants-message-id", "NACK-01", acked("client", 1, 0, verb="NACK", ends=False), accept="NEGO-06")
class NackWantsMessageId(Session):
    """NACK must name message-id and subscription, as in 1.1."""

    def on_NACK(self, frame: Frame) -> None:
        self.required(frame, "message-id")
