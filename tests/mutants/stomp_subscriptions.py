"""Faults in subscriptions: opening them and telling them apart."""

from __future__ import annotations

from impls.references.stomp.reference import Broker, Frame, Message, Refused, Session, Subscription, Topic
from strategies.stomp import writer as plans
from tests.mutants.faults import on
from tests.mutants.kit import QUEUE, QUEUE_2, TOPIC, TOPIC_2, mutant, one, plan, round_trip

# -- opening -----------------------------------------------------------------------------------------------------------


mutant("subscribed-nowhere", "SUB-01", one("SUBSCRIBE", ("id", "0")), accept="SUB-06 INV-04 RECEIPT-03")(
    "SUBSCRIBE without a destination is receipted.",
    on(Session, "on_SUBSCRIBE").skips(when=lambda frame: "destination" not in frame.first),
)


@mutant("subscribe-fails-in-silence", "SUB-06", one("SUBSCRIBE", ("id", "0")), accept="SUB-01 INV-04")
class SubscribeFailsInSilence(Session):
    """A SUBSCRIBE that fails closes the connection without an ERROR."""

    def on_SUBSCRIBE(self, frame: Frame) -> None:
        if "destination" not in frame.first:
            self.on_lost_connection()
            self.end()
        else:
            super().on_SUBSCRIBE(frame)


mutant("subscribed-without-id", "SUB-02", one("SUBSCRIBE", ("destination", QUEUE)), accept="INV-05", level="SHOULD")(
    "SUBSCRIBE without an id gets one from the server.",
    on(Session, "on_SUBSCRIBE").takes(frame=lambda frame: frame._replace(first={"id": "made-up", **frame.first})),
)


@plan
def _id_twice(w: plans.Writer) -> None:
    line = w.line()
    sub = w.subscribe(line, QUEUE, receipt=w.receipt())
    w.say(line, "SUBSCRIBE", [("id", sub.id), ("destination", QUEUE_2), w.receipt()])


@mutant("id-twice", "INV-06", _id_twice, level="SHOULD")
class IdTwice(Session):
    """A second SUBSCRIBE with the same id takes the place of the first."""

    def on_SUBSCRIBE(self, frame: Frame) -> None:
        old = self.subscriptions.pop(frame.first.get("id"), None)
        if old is not None:
            self.server.broker.unsubscribe(old)
        super().on_SUBSCRIBE(frame)


@plan
def _id_twice_and_a_third_place(w: plans.Writer) -> None:
    line = w.line()
    sub = w.subscribe(line, QUEUE, receipt=w.receipt())
    w.say(line, "SUBSCRIBE", [("id", sub.id), ("destination", QUEUE_2), w.receipt()])
    w.send(line, TOPIC)


@mutant("id-twice-hears-all", "SUB-03", _id_twice_and_a_third_place, accept="INV-06 SEND-02", level="SHOULD")
class IdTwiceHearsAll(Session):
    """A subscription whose id is given to a second one gets everything that its own connection sends."""

    twice: Subscription | None = None

    def on_SUBSCRIBE(self, frame: Frame) -> None:
        known = self.subscriptions.get(frame.first.get("id", ""))
        if known is None:
            super().on_SUBSCRIBE(frame)
        self.twice = known or self.twice

    def publish(self, frame: Frame) -> None:
        super().publish(frame)
        if self.twice is not None and frame.first["destination"] != self.twice.destination.name:
            name, headers = frame.first["destination"], self.pass_through(frame)
            self.twice.deliver(Message(self.server.message_id(), name, headers, frame.body, frame.size))


mutant("explicit-auto-refused", "SUB-07", one("SUBSCRIBE", ("id", "0"), ("destination", QUEUE), ("ack", "auto")))(
    "The mode auto is known by its absence only.",
    on(Session, "on_SUBSCRIBE").raises(
        lambda: Refused("no such ack mode"), when=lambda frame: frame.first.get("ack") == "auto"
    ),
)


@mutant("mode-any-case", "INV-07", one("SUBSCRIBE", ("id", "0"), ("destination", QUEUE), ("ack", "Client")),
        level="SHOULD")  # fmt: skip
class ModeAnyCase(Session):
    """Acknowledgement modes are known in any case."""

    def on_SUBSCRIBE(self, frame: Frame) -> None:
        super().on_SUBSCRIBE(frame._replace(first={**frame.first, "ack": frame.first.get("ack", "auto").lower()}))


@plan
def _other_mode(w: plans.Writer) -> None:
    line = w.line()
    w.unsubscribe(line, w.subscribe(line, QUEUE, receipt=w.receipt()), receipt=w.receipt())
    w.subscribe(line, QUEUE_2, "client", receipt=w.receipt())
    w.send(line, QUEUE_2)


@mutant("mode-of-the-first", "MSG-05", _other_mode, accept="ACK-01 ACK-03 SUB-11 NACK-01")
class ModeOfTheFirst(Session):
    """A subscription id keeps the mode of its first use."""

    modes: dict[str | None, str] | None = None

    def on_SUBSCRIBE(self, frame: Frame) -> None:
        self.modes = {} if self.modes is None else self.modes
        mode = self.modes.setdefault(frame.first.get("id"), frame.first.get("ack", "auto"))
        super().on_SUBSCRIBE(frame._replace(first={**frame.first, "ack": mode}))


@mutant("unknown-mode-is-auto", "INV-07", one("SUBSCRIBE", ("id", "0"), ("destination", QUEUE), ("ack", "sometimes")),
        level="SHOULD")  # fmt: skip
class UnknownModeIsAuto(Session):
    """An acknowledgement mode that is not known means auto."""

    def on_SUBSCRIBE(self, frame: Frame) -> None:
        known = frame.first.get("ack") in ("client", "client-individual")
        super().on_SUBSCRIBE(frame if known else frame._replace(first={**frame.first, "ack": "auto"}))


@plan
def _one_id_two_connections(w: plans.Writer) -> None:
    first, second = w.line(), w.line(1)
    w.subscribe(first, TOPIC, identity="0", receipt=w.receipt())
    w.subscribe(second, TOPIC_2, identity="0", receipt=w.receipt())
    w.send(second, TOPIC)


@mutant("ids-of-the-server", "SUB-04", _one_id_two_connections, accept="SUB-05")
class IdsOfTheServer(Broker):
    """Subscriptions of all connections are kept under their ids alone: a second one takes the place of the first."""

    def subscribe(self, subscription: Subscription) -> None:
        for destination in [*self.destinations.values()]:
            for other in [*destination.subscribers]:
                if other.key == subscription.key:
                    destination.subscribers.remove(other)
        super().subscribe(subscription)


@plan
def _one_id_refused(w: plans.Writer) -> None:
    w.subscribe(w.line(), TOPIC, identity="0")
    w.subscribe(w.line(1), TOPIC, identity="0", receipt=w.receipt())


mutant("ids-of-the-server-refused", "SUB-04", _one_id_refused)(
    "A subscription id that another connection uses is refused.",
    on(Broker, "subscribe").raises(
        lambda: Refused("the subscription id is in use"),
        when=lambda subscription: any(other.key == subscription.key for other in subscription.destination.subscribers),
    ),
)


@plan
def _two_for_one_place(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, TOPIC, receipt=w.receipt())
    w.subscribe(line, TOPIC, receipt=w.receipt())
    w.send(line, TOPIC)


@mutant("keyed-by-destination", "SUB-05", _two_for_one_place, accept="SUB-03 SUB-04")
class KeyedByDestination(Broker):
    """A connection has one subscription for each destination: a second one takes the place of the first."""

    def subscribe(self, subscription: Subscription) -> None:
        for other in [*subscription.destination.subscribers]:
            if other.session is subscription.session:
                subscription.destination.subscribers.remove(other)
        super().subscribe(subscription)


@plan
def _subscribed_late(w: plans.Writer) -> None:
    line = w.line()
    w.send(line, QUEUE, receipt=w.receipt())
    w.subscribe(line, QUEUE, "client", receipt=w.receipt())


mutant("kept-messages-stuck", "SUB-05", _subscribed_late, accept="RECEIPT-04")(
    "What waits at a queue is not given to a new subscriber that acknowledges until another message comes.",
    on(Broker, "subscribe").instead(
        lambda subscription: subscription.destination.subscribers.append(subscription),
        when=lambda subscription: subscription.mode != "auto",
    ),
)
mutant("extra-header-refused-here", "SUB-09", one("SUBSCRIBE", ("id", "0"), ("destination", QUEUE), ("x", "1")))(
    "A header of SUBSCRIBE that the server does not know is refused.",
    on(Session, "on_SUBSCRIBE").raises(
        lambda: Refused("what is that?"),
        when=lambda frame: not frame.first.keys() <= {"id", "destination", "ack", "receipt", "selector"},
    ),
)


def _renamed(change) -> type[Session]:
    """A session that changes what MESSAGE calls a subscription."""

    class Renaming(Session):
        def subscription_header(self, subscription: Subscription) -> str | None:
            name = super().subscription_header(subscription)
            return name if name is None else change(name)

    return Renaming


mutant("subscription-stripped", "SUB-10", round_trip(identity=" 0 "), accept="MSG-04 ENC-03 ENC-07")(
    "Blanks around a subscription id are removed.", _renamed(str.strip)
)
mutant("subscription-cut", "SUB-10", round_trip(identity="s" * 40), accept="MSG-04")(
    "A subscription id has at most 32 characters.", _renamed(lambda name: name[:32])
)
mutant("subscription-is-number", "SUB-10", round_trip(identity="007"), accept="MSG-04")(
    "A subscription id that looks like a number becomes one.",
    _renamed(lambda name: str(int(name)) if name.isdecimal() else name),
)


# -- telling them apart ------------------------------------------------------------------------------------------------


@plan
def _two_subscriptions(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, QUEUE)
    w.subscribe(line, QUEUE_2)
    w.send(line, QUEUE_2)


mutant("first-subscription-named", "SEND-02", _two_subscriptions, accept="MSG-04 MSG-09")(
    "MESSAGE always names the first subscription of its connection.",
    on(Session, "subscription_header").instead(lambda self: next(iter(self.subscriptions.values())).id),
)
mutant("subscription-missing", "MSG-04", round_trip(), accept="HDR-01", smoke=False)(
    "MESSAGE does not name its subscription.", on(Session, "subscription_header").skips()
)
mutant("subscription-is-destination", "MSG-04", round_trip(), accept="HDR-01 SUB-10 MSG-09", smoke=False)(
    "MESSAGE names the destination where the subscription should stand.",
    on(Session, "subscription_header").instead(lambda subscription: f"<{subscription.destination.name}>"),
)


@plan
def _two_connections(w: plans.Writer) -> None:
    w.subscribe(w.line(), TOPIC)
    w.send(w.line(1), TOPIC)


@mutant("sender-gets-copy", "MSG-09", _two_connections, accept="MSG-04 MSG-10")
class SenderGetsCopy(Topic):
    """Whoever sends a message gets a copy for the subscription of someone else."""

    def accept(self, message: Message, sender: Session) -> None:
        super().accept(message, sender)
        for subscription in self.subscribers:
            if subscription.session is not sender:
                sender.emit("MESSAGE", sender.message_headers(subscription, message, None), message.body)
