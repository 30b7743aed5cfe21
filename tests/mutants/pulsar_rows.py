"""Brokers that break one row each that other faults break only beside their own."""

from __future__ import annotations

from typing import Any

from impls.references.pulsar.asked import Asked
from impls.references.pulsar.connection import Phase, Refused
from impls.references.pulsar.framing import Frame, simple
from impls.references.pulsar.reference import Broker, Session, Subscription, Topic
from impls.references.pulsar.subscription import Consumer
from impls.references.pulsar.wire import Message, encode_command
from specs.pulsar.frames import draft
from strategies.pulsar.writer import Writer
from tests.mutants.faults import on
from tests.mutants.pulsar_aftermath import then
from tests.mutants.pulsar_kit import EXCLUSIVE, FAILOVER, SHARED, mutant, ready
from tests.mutants.pulsar_living import pings

NOWHERE = (1 << 64) - 1
GONE = "ACK-01 ACK-03 RED-03 SUB-09 CLC-03 FLOW-04 E2E-01"


def hello(client: str, version: int | None = None) -> Any:
    """A client that calls itself so."""

    def play(w: Writer) -> None:
        line = w.bare()
        w.say(line, w.hello(version, client_version=client))
        w.wait()

    return play


# -- frames ------------------------------------------------------------------------------------------------------------


class Reframed(Session):
    """Writes PONG in another way."""

    def pong(self) -> bytes:
        """The octets of it."""
        return simple(encode_command("PONG", {}))

    def on_ping(self, _body: Message) -> None:
        self.emit(self.pong())


mutant("sizes-backwards", "FRM-01", pings(2), accept="FRM-09")(
    "Writes the size of a PONG little-endian.", on(Reframed, "pong").gives(lambda found: found[3::-1] + found[4:])
)
mutant("pong-of-six-megabytes", "FRM-09", pings(2), accept="FRM-01")(
    "Announces a PONG of six megabytes.",
    on(Reframed, "pong").gives(lambda found: (6_000_000).to_bytes(4, "big") + found[4:]),
)
mutant("command-size-counts-itself", "FRM-02", pings(2))(
    "Counts the four octets of CMD_SIZE with the command.",
    on(Reframed, "pong").gives(lambda found: found[:4] + (len(found) - 4).to_bytes(4, "big") + found[8:]),
)
mutant("pong-with-padding", "FRM-03", pings(2))(
    "Sends two octets behind a PONG.",
    on(Reframed, "pong").gives(lambda found: (len(found) - 2).to_bytes(4, "big") + found[4:] + bytes(2)),
)
mutant("pong-and-ping-in-one", "FRM-05", pings(2))(
    "Puts a PING into each PONG.",
    on(Reframed, "pong").instead(lambda: simple(encode_command("PONG", {}) + bytes.fromhex("920100"))),
)


def two_producers(w: Writer) -> None:
    """Two producers of one connection, one of which has sent more."""
    _, _, first = ready(w)
    second = w.pen(w.line(), "t", 1)
    for pen in (first, first, second, first):
        w.send(pen)


mutant("receipts-to-the-first-producer", "FRM-06", two_producers, accept="SEND-04 SEND-10 SEND-06", history=True)(
    "Confirms the SENDs of all producers of a connection to the one that was made last.",
    on(Session, "say").takes(
        body=lambda self, name, body: (
            {**body, "producer_id": max(self.producers, default=0)} if name == "SEND_RECEIPT" else body
        )
    ),
)


@mutant("checksum-of-another-payload", "CHK-11", lambda w: ready(w, sends=2), accept="MD-03 FRM-04 E2E-02",
        history=True)  # fmt: skip
class MetadataStamped(Session):
    """Adds a field to the metadata of every message."""

    def say_message(self, body: Message, block: bytes, checksum: int | None) -> None:
        from impls.references.pulsar.checksum import crc32c  # noqa: PLC0415 - only here

        size = int.from_bytes(block[:4], "big")
        block = (size + 3).to_bytes(4, "big") + block[4 : 4 + size] + b"\x98\x1f\x07" + block[4 + size :]
        super().say_message(body, block, crc32c(block) if checksum is not None else None)


# -- connecting --------------------------------------------------------------------------------------------------------


mutant("newcomers-unanswered", "CONN-02", pings(1))(
    "Does not answer CONNECT.", on(Session, "connected").instead(lambda self: setattr(self, "phase", Phase.LIVE))
)
mutant("known-clients-only", "CONN-09", hello("Müller & Söhne"), accept="CONN-02")(
    "Closes the connection of a client whose version is not plain ASCII.",
    on(Session, "on_early").instead(
        lambda self: self.end(),
        when=lambda name, body: name == "CONNECT" and not str(body.get("client_version", "")).isascii(),
    ),
)


@mutant("nameless-server", "CONN-10", pings(1), accept="FRM-05")
class NamelessServer(Session):
    """Does not name its version in CONNECTED."""

    def emit(self, data: bytes) -> None:
        if data[8:10] == b"\x08\x03":
            version = data.index(b"\x0a", 10)
            size = data[version + 1]
            inner = data[12:version] + data[version + 2 + size :]
            data = simple(b"\x08\x03\x1a" + bytes([len(inner)]) + inner)
        super().emit(data)


def wordless(w: Writer) -> None:
    """One octet, and then nothing."""
    w.blurt(w.bare(), bytes(1))
    w.wait(90_000)


@mutant("silent-clients-stay", "CONN-11", wordless, level="SHOULD")
class SilentClientsStay(Session):
    """Keeps a connection on which nothing was said."""

    def tick(self) -> None:
        self.next_tick = self.broker.now + self.switches.keepalive_ms
        if self.phase is not Phase.START:
            super().tick()


def old_and_batch(version: int, **sent: Any) -> Any:
    """Something that a consumer of an old version cannot read."""

    def play(w: Writer) -> None:
        old = w.line(1, version)
        ear = w.ear(old, "t", "s")
        w.flow(ear, 100)
        w.send(w.pen(w.line(0), "t"), **sent)
        w.wait(1500)

    return play


class Reckless(Session):
    """Pushes anything to anybody."""

    def understands(self, entry: Any) -> bool:
        return True


mutant("batches-to-anybody", "BAT-11", old_and_batch(3, messages=3), level="SHOULD")(
    type("BatchesToAnybody", (Reckless,), {"__doc__": "Pushes batches to clients of version 3."})
)
mutant(
    "compressed-to-anybody", "CMP-04", old_and_batch(2, meta={"compression": 2, "uncompressed_size": 5}), level="SHOULD"
)(type("CompressedToAnybody", (Reckless,), {"__doc__": "Pushes compressed messages to clients of version 2."}))


@mutant("old-clients-told", "VER-05", old_and_batch(3, messages=3), accept="VER-01")
class OldClientsTold(Session):
    """Tells a client of version 3 that its consumer is closed."""

    def can_hear(self, name: str) -> bool:
        return name == "CLOSE_CONSUMER" or super().can_hear(name)

    def give_up_on(self, consumer: Consumer) -> None:
        self.forget_consumer(consumer)
        self.say("CLOSE_CONSUMER", {"consumer_id": consumer.id, "request_id": NOWHERE})


def old_checksum(w: Writer) -> None:
    """A consumer of version 10."""
    ear = w.ear(w.line(1, 10), "t", "s")
    w.flow(ear, 100)
    w.send(w.pen(w.line(0), "t"))


mutant("checksum-for-everybody", "CHK-10", old_checksum, profile="modern", level="SHOULD")(
    "Leaves the checksum to clients of every version.",
    on(Session, "checksum_for").instead(lambda entry: entry.checksum),
)


# -- producing ---------------------------------------------------------------------------------------------------------


@mutant("invented-message", "E2E-02", lambda w: ready(w, sends=3), accept="MSG-03 FRM-04 MD-03", history=True)
class InventedMessage(Session):
    """Pushes a message of its own behind the second one."""

    def say_message(self, body: Message, block: bytes, checksum: int | None) -> None:
        super().say_message(body, block, checksum)
        if self.__dict__.setdefault("told", 0) == 1:
            own = bytes.fromhex("0000000a0a017a100018016869")
            own = bytes.fromhex("00000007") + bytes.fromhex("0a017a10631801") + b"own"
            given = {**body["message_id"], "entryId": body["message_id"]["entryId"] + 900}
            super().say_message({**body, "message_id": given}, own, None)
        self.__dict__["told"] += 1


def burst_to_some(w: Writer) -> None:
    """Messages on a Shared subscription, none waited for."""
    _, _, pen = ready(w, SHARED)
    w.settle()
    for number in range(6):
        w.send(pen, when="now" if number else "")


@mutant("lost-on-the-way", "E2E-01", burst_to_some, accept="FLOW-04 SEND-05 SUB-08", history=True)
class LostOnTheWay(Subscription):
    """Loses the fourth message of a Shared subscription."""

    def push(self, consumer: Consumer, at: int) -> None:
        if at == 3 and self.kind == SHARED:
            self.fresh = max(self.fresh, at + 1)
            self.unrelease(at)
        else:
            super().push(consumer, at)


def from_earliest(w: Writer) -> None:
    """A second subscription that begins with the earliest message."""
    line, _, _ = ready(w, SHARED, sends=3)
    w.settle()
    w.flow(w.ear(line, "t", "s2", EXCLUSIVE, 1, initialPosition=1), 100)
    w.wait(1500)


@mutant("confirmed-and-forgotten", "SEND-05", from_earliest, accept="MSG-03 E2E-01 FLOW-04 SUB-08", profile="modern",
        history=True)  # fmt: skip
class ConfirmedAndForgotten(Session):
    """Keeps of a topic only what its subscriptions at that time get."""

    def start_of(self, body: Message, topic: Topic) -> int:
        return len(topic.entries)


def to_nobody(w: Writer) -> None:
    """Messages that are confirmed while their subscription has no consumer, and one that comes for them."""
    line, ear, pen = ready(w, SHARED)
    w.close_ear(ear)
    for _ in range(3):
        w.send(pen)
    w.settle()
    w.flow(w.ear(line, "t", "s", SHARED, 1), 100)
    w.wait(1500)


@mutant("first-of-those-for-nobody", "SEND-05", to_nobody, accept="E2E-01 FLOW-04 SUB-09 MSG-03 CLC-03", history=True)
class FirstOfThoseForNobody(Subscription):
    """Loses the oldest of several messages that came while the subscription had no consumer."""

    def join(self, consumer: Consumer) -> None:
        """See `Subscription`."""
        if not self.consumers and self.fresh + 1 < len(self.topic.entries):
            self.__dict__.setdefault("lost", set()).add(self.fresh)
        super().join(consumer)

    def push(self, consumer: Consumer, at: int) -> None:
        """See `Subscription`."""
        if at in self.__dict__.get("lost", ()):
            self.fresh = max(self.fresh, at + 1)
            self.unrelease(at)
        else:
            super().push(consumer, at)


def burst(w: Writer) -> None:
    """Messages without waiting."""
    _, _, pen = ready(w)
    w.settle()
    for number in range(4):
        w.send(pen, when="now" if number else "")


@mutant("receipts-in-turned-pairs", "FRM-15", burst, accept="SEND-06 SEND-12 SEND-04", history=True)
class ReceiptsInTurnedPairs(Session):
    """Confirms the second SEND before the first one."""

    def say(self, name: str, body: Message) -> None:
        if name != "SEND_RECEIPT":
            super().say(name, body)
            return
        held = self.__dict__.setdefault("held_back", [])
        held.append(body)
        if len(held) == 2:
            for each in reversed(held):
                super().say(name, each)
            held.clear()


# -- consuming ---------------------------------------------------------------------------------------------------------


def again(w: Writer) -> None:
    """A consumer with a name comes back to its subscription."""
    line, ear, _ = ready(w, name="me")
    w.close_ear(ear)
    w.settle()
    w.ear(line, "t", "s", EXCLUSIVE, 1, name="me")


mutant("answers-the-first-subscribe", "SUB-01", again, accept="REQ-02 SUB-12 SUB-09", history=True)(
    "Answers a SUBSCRIBE only where the subscription is not there.",
    on(Session, "open_consumer").skips(
        when=lambda self, body: body["subscription"] in self.broker.topic(self.topic_named(body["topic"])).subscriptions
    ),
)
mutant(
    "no-new-subscriptions", "SUB-02", lambda w: w.ear(w.line(), "t", "s", EXCLUSIVE, name="me"), accept="SUB-01 SUB-12"
)(
    "Refuses a subscription that is not there.",
    on(Session, "subscription_for").raises(
        lambda: Refused("SubscriptionNotFound", "there is none"),
        when=lambda body, topic: body["subscription"] not in topic.subscriptions,
    ),
)


@mutant("id-of-the-one-before", "MSG-02", lambda w: ready(w, sends=3), accept="SEND-09 MSG-03", history=True,
        receipt_order="message-first")  # fmt: skip
class IdOfTheOneBefore(Session):
    """Pushes each message with the id of the one before."""

    def say_message(self, body: Message, block: bytes, checksum: int | None) -> None:
        known = self.__dict__.get("id_before", body["message_id"])
        self.__dict__["id_before"] = body["message_id"]
        super().say_message({**body, "message_id": known}, block, checksum)


def failing_over(w: Writer) -> None:
    """Two consumers of a Failover subscription, and the master asks for all of it again."""
    w.slots = 2
    first = w.ear(w.line(0), "t", "s", FAILOVER, name="a")
    w.flow(first, 100)
    second = w.ear(w.line(1), "t", "s", FAILOVER, 1, name="b")
    w.flow(second, 100)
    w.settle()
    pen = w.pen(w.line(0), "t")
    for _ in range(3):
        w.send(pen)
    w.settle()
    w.redeliver(first)
    w.wait()


@mutant("again-to-the-standby", "RED-04", failing_over, accept="FAIL-01 FAIL-02 FAIL-04", history=True)
class AgainToTheStandby(Subscription):
    """Redelivers what the master of a Failover subscription asked for to another consumer."""

    def push(self, consumer: Consumer, at: int) -> None:
        others = [each for each in self.consumers if each is not consumer and each.permitted]
        again = self.kind == FAILOVER and self.again.get(at) and others
        super().push(others[0] if again else consumer, at)


def acked_and_back(w: Writer) -> None:
    """Everything is acknowledged, and the next consumer comes."""
    line, ear, _ = ready(w, sends=3)
    w.settle()
    w.ack(ear, ("pushed", 2)[0] and _pushed(ear, 2), cumulative=False)
    w.ping(line)
    w.settle()
    w.close_ear(ear)
    w.settle()
    w.flow(w.ear(line, "t", "s", EXCLUSIVE, 1), 100)
    w.wait()


def _pushed(ear: Any, nth: int) -> Any:
    from specs.plan import Ref  # noqa: PLC0415 - as above

    return Ref("pushed", (ear.line, ear.id, nth))


@mutant("position-stays-behind", "ACK-04", acked_and_back, accept=f"{GONE} SUB-10", history=True)
class PositionStaysBehind(Subscription):
    """Begins with the next consumer where the last one had begun."""

    def join(self, consumer: Consumer) -> None:
        if self.__dict__.setdefault("joined", 0) and not self.consumers:
            self.rewind_to(0)
        self.__dict__["joined"] += 1
        super().join(consumer)


def closes_after(name: str) -> Any:
    """A session that ends the connection at what names nothing."""

    def handle(self: Any, frame: Frame) -> None:
        body = frame.command.body or {}
        known = (*self.consumers, *self.producers)
        if frame.command.name == name and body.get("consumer_id", body.get("producer_id")) not in known:
            self.end()
        else:
            Session.handle(self, frame)

    return handle


def closing(kind: str, field: str) -> Any:
    """A close of what is not there."""

    def play(w: Writer) -> None:
        line = w.line()
        w.say(line, draft(kind, **{field: 4242}, request_id=w.request(line)))
        w.wait()

    return play


mutant("strange-close-of-consumers-ends", "CLC-04", closing("CLOSE_CONSUMER", "consumer_id"), level="SHOULD")(
    type("A", (Session,), {"handle": closes_after("CLOSE_CONSUMER"), "__doc__": "Ends at a close of no consumer."})
)
mutant("strange-close-of-producers-ends", "CLP-08", closing("CLOSE_PRODUCER", "producer_id"), level="SHOULD")(
    type("B", (Session,), {"handle": closes_after("CLOSE_PRODUCER"), "__doc__": "Ends at a close of no producer."})
)


def odd_cumulative(w: Writer) -> None:
    """A cumulative ACK on a Shared subscription."""
    line, ear, _ = ready(w, SHARED, sends=2)
    w.settle()
    w.ack(ear, _pushed(ear, 1), cumulative=True)
    w.ping(line)


@mutant("cumulative-on-shared-ends", "ACK-07", odd_cumulative, level="SHOULD", history=True)
class CumulativeOnSharedEnds(Session):
    """Ends the connection at a cumulative ACK of a Shared subscription."""

    def on_ack(self, body: Message) -> None:
        consumer = self.consumer_of(body["consumer_id"])
        if consumer is not None and consumer.subscription.kind == SHARED and body.get("ack_type") == 1:
            self.end()
        else:
            super().on_ack(body)


mutant("bad-names-looked-up", "LOOK-09", then("bad-topic", 1, 1), level="SHOULD", accept="INV-BROKER-29")(
    "Finds a topic of any name.",
    on(Session, "on_lookup").takes(
        body=lambda body: {**body, "topic": body["topic"] if body["topic"].startswith("persistent://") else TOPIC}
    ),
)


TOPIC = "persistent://public/default/any"


@mutant("any-subscription", "INV-BROKER-29", then("bad-topic", 1, 2), level="SHOULD", accept="LOOK-09 PROD-10")
class AnySubscription(Session):
    """Subscribes to a topic of any name."""

    def topic_named(self, name: str) -> str:
        try:
            return Asked.topic_named(self, name)
        except Refused:
            return TOPIC


__all__ = ["Broker"]
