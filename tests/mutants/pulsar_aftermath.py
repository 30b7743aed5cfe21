"""Brokers that serve nobody any more after something odd was said to them, and others that take it the wrong way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from impls.references.pulsar.connection import TO_BROKER, Phase
from impls.references.pulsar.framing import Frame, open_block, part
from impls.references.pulsar.publishing import whole
from impls.references.pulsar.reference import Broker, Reader, Session
from impls.references.pulsar.wire import Malformed, Message
from specs.pulsar.frames import draft
from strategies.pulsar.misuse import MISUSES
from strategies.pulsar.writer import Writer
from tests.mutants.faults import on
from tests.mutants.pulsar_kit import Play, mutant

Sign = Callable[[Any, str, Message, Frame], Any]


def then(name: str, *numbers: int) -> Play:
    """A misuse, and a newcomer."""

    def play(w: Writer) -> None:
        MISUSES[name](w, (*numbers, *[0] * 6))
        w.settle()
        w.ping(w.another())
        w.wait()

    return play


class Shy(Session):
    """A connection of a broker that may have stopped to take newcomers."""

    def sign(self, name: str, body: Message, frame: Frame) -> Any:
        """True for what it does not survive."""
        return False

    def handle(self, frame: Frame) -> None:
        command = frame.command
        if self.sign(command.name, command.body if command.body is not None else {}, frame):
            self.broker.shy = True  # type: ignore[attr-defined]
        super().handle(frame)

    def on_early(self, name: str, body: Message) -> None:
        if name != "CONNECT" or not getattr(self.broker, "shy", False):
            super().on_early(name, body)


def shy(name: str, requirement: str, witness: Play, sign: Sign, why: str, **more: Any) -> None:
    """Register a broker that takes no newcomers after a sign."""
    session = type("Session", (Shy,), {"sign": sign})
    part_of = type(name.title().replace("-", ""), (Broker,), {"session_type": session, "__doc__": why})
    more.setdefault("accept", "CONN-02 FRM-13")
    mutant(name, requirement, witness, level="SHOULD", history=True, **more)(part_of)


def closing_nobody(w: Writer) -> None:
    """CLOSE_CONSUMER of one that is not there, and a newcomer."""
    line = w.line()
    w.say(line, draft("CLOSE_CONSUMER", consumer_id=4242, request_id=w.request(line)))
    w.settle()
    w.ping(w.another())


def metadata_of(frame: Frame) -> Message:
    """The metadata of a SEND, {} where there are none."""
    try:
        return open_block(part(frame.rest).block)[0]
    except Malformed:
        return {}


def sound(frame: Frame) -> bool:
    """True for a batch that can be taken apart."""
    try:
        return whole(*open_block(part(frame.rest).block))
    except Malformed:
        return True


def lying(name: str, frame: Frame) -> bool:
    """True for a SEND whose metadata are longer than it is."""
    if name != "SEND" or not frame.rest:
        return False
    try:
        open_block(part(frame.rest).block)
    except Malformed:
        return True
    return False


def falling(session: Any, name: str, body: Message) -> bool:
    """True for a sequence id that was used."""
    if name != "SEND" or body["producer_id"] not in session.producers:
        return False
    seen = session.__dict__.setdefault("numbers_seen", {})
    last = seen.get(body["producer_id"], -1)
    seen[body["producer_id"]] = max(last, body["sequence_id"])
    return bool(body["sequence_id"] <= last)


shy("shy-of-commands-first", "INV-BROKER-01", then("first"), lambda s, name, body, frame: s.phase is Phase.START
    and name != "CONNECT", "Takes no newcomers after a command before CONNECT.")  # fmt: skip
shy("shy-of-a-second-connect", "INV-BROKER-02", then("twice"), lambda s, name, body, frame: s.phase is Phase.LIVE
    and name == "CONNECT", "Takes no newcomers after a second CONNECT.")  # fmt: skip
shy("shy-of-octets-behind", "INV-BROKER-07", then("behind"), lambda s, name, body, frame: bool(frame.rest)
    and name not in ("SEND", "CONNECT"), "Takes no newcomers after octets behind a command.")  # fmt: skip
shy("shy-of-unknown-types", "INV-BROKER-09", then("unknown"), lambda s, name, body, frame: not name
    and s.phase is Phase.LIVE, "Takes no newcomers after a command of an unknown type.")  # fmt: skip
shy("shy-of-two-commands", "INV-BROKER-11", then("double"), lambda s, name, body, frame: frame.command.others,
    "Takes no newcomers after two sub-messages in one command.")  # fmt: skip
shy("shy-of-wrong-checksums", "INV-BROKER-13", then("checksum"), lambda s, name, body, frame: name == "SEND"
    and frame.rest and not part(frame.rest).intact, "Takes no newcomers after a wrong checksum.",
    accept="CONN-02 FRM-13 CHK-05")  # fmt: skip
shy("shy-of-lying-metadata", "INV-BROKER-14", then("metadata"), lambda s, name, body, frame: lying(name, frame),
    "Takes no newcomers after metadata that are longer than their frame.")  # fmt: skip
shy("shy-of-sends-without-payload", "INV-BROKER-15", then("simple"), lambda s, name, body, frame: name == "SEND"
    and not frame.rest, "Takes no newcomers after a SEND without a payload part.",
    accept="CONN-02 INV-BROKER-14")  # fmt: skip
shy("shy-of-miscounted-batches", "INV-BROKER-16", then("counts"), lambda s, name, body, frame: name == "SEND"
    and metadata_of(frame).get("num_messages_in_batch", body.get("num_messages", 1)) != body.get("num_messages", 1),
    "Takes no newcomers after a batch whose counts differ.")  # fmt: skip
shy("shy-of-broken-batches", "INV-BROKER-17", then("batch-lies"), lambda s, name, body, frame: name == "SEND"
    and not sound(frame), "Takes no newcomers after a batch that cannot be taken apart.",
    accept="CONN-02 INV-BROKER-16")  # fmt: skip
shy("shy-of-unknown-producers", "INV-BROKER-18", then("no-producer"), lambda s, name, body, frame: name == "SEND"
    and body["producer_id"] not in s.producers, "Takes no newcomers after a SEND without a producer.",
    accept="CONN-02 INV-BROKER-19")  # fmt: skip
shy("shy-of-late-sends", "INV-BROKER-19", then("after-close", 1), lambda s, name, body, frame: name == "SEND"
    and body["producer_id"] in s.left, "Takes no newcomers after a SEND of a closed producer.",
    accept="CONN-02 INV-BROKER-18")  # fmt: skip
shy("shy-of-repeated-numbers", "INV-BROKER-20", then("repeated"), lambda s, name, body, frame: falling(s, name, body),
    "Takes no newcomers after a sequence id that was used.")  # fmt: skip
shy("shy-of-low-highest-numbers", "INV-BROKER-22", then("counts", 1), lambda s, name, body, frame: name == "SEND"
    and 0 < body.get("highest_sequence_id", 0) < body["sequence_id"], profile="modern",
    why="Takes no newcomers after a highest sequence id that is too low.")  # fmt: skip
shy("shy-of-producer-ids-in-use", "INV-BROKER-23", then("same-producer"), lambda s, name, body, frame:
    name == "PRODUCER" and body["producer_id"] in s.producers,
    "Takes no newcomers after a producer id that was in use.", accept="CONN-02 INV-BROKER-24")  # fmt: skip
shy("shy-of-consumer-ids-in-use", "INV-BROKER-26", then("same-consumer"), lambda s, name, body, frame:
    name == "SUBSCRIBE" and body["consumer_id"] in s.consumers,
    "Takes no newcomers after a consumer id that was in use.")  # fmt: skip
shy("shy-of-flow-of-nobody", "INV-BROKER-31", then("strangers", 0), lambda s, name, body, frame: name == "FLOW"
    and body["consumer_id"] not in s.consumers, "Takes no newcomers after a FLOW of an unknown consumer.")  # fmt: skip
shy("shy-of-acks-of-nobody", "INV-BROKER-34", then("strangers", 2), lambda s, name, body, frame: name == "ACK"
    and body["consumer_id"] not in s.consumers, "Takes no newcomers after an ACK of an unknown consumer.")  # fmt: skip
shy("shy-of-no-permits", "INV-BROKER-32", then("permits", 0), lambda s, name, body, frame: name == "FLOW"
    and body["messagePermits"] == 0, "Takes no newcomers after a FLOW of no permits.")  # fmt: skip
shy("shy-of-many-permits", "INV-BROKER-33", then("overflow"), lambda s, name, body, frame: name == "FLOW"
    and s.consumers.get(body["consumer_id"]) is not None
    and s.consumers[body["consumer_id"]].permits + body["messagePermits"] >= 1 << 31,
    "Takes no newcomers after more permits than 2^31.", accept="CONN-02 INV-BROKER-32")  # fmt: skip
shy("shy-of-odd-cumulative-acks", "INV-BROKER-35", then("odd-cumulative", 1), lambda s, name, body, frame: name == "ACK"
    and body.get("ack_type") == 1 and body["consumer_id"] in s.consumers
    and (len(body.get("message_id", ())) != 1 or s.consumers[body["consumer_id"]].subscription.kind == 1),
    "Takes no newcomers after a cumulative ACK that is not allowed.")  # fmt: skip
shy("shy-of-acks-of-others", "INV-BROKER-36", then("others"), lambda s, name, body, frame: name == "ACK"
    and s.consumers.get(body["consumer_id"]) is not None and not s.consumers[body["consumer_id"]].pending,
    "Takes no newcomers after an ACK of what another consumer has.", accept="CONN-02 INV-BROKER-34")  # fmt: skip
shy("shy-of-redeliver-of-nobody", "INV-BROKER-37", then("strangers", 1), lambda s, name, body, frame:
    name == "REDELIVER_UNACKNOWLEDGED_MESSAGES" and body["consumer_id"] not in s.consumers,
    "Takes no newcomers after a REDELIVER of an unknown consumer.")  # fmt: skip
shy("shy-of-closing-nobody", "INV-BROKER-39", closing_nobody, lambda s, name, body, frame:
    name in ("CLOSE_CONSUMER", "CLOSE_PRODUCER") and body.get("consumer_id", body.get("producer_id", 0)) > 1000,
    "Takes no newcomers after a close of what is not there.")  # fmt: skip


mutant("shy-of-bad-credentials", "INV-BROKER-03", then("credentials"), accept="CONN-02 FRM-13", level="SHOULD")(
    "Takes no newcomers after credentials that are not good.",
    on(Shy, "refuse").before(lambda self: setattr(self.broker, "shy", True)),
)


@mutant("shy-of-half-closed-connections", "INV-BROKER-44", then("half"), accept="CONN-02 FRM-13", level="SHOULD",
        history=True)  # fmt: skip
class ShyOfHalfClosedConnections(Shy):
    """Takes no newcomers after the end of a connection."""

    def hang_up(self) -> None:
        self.broker.shy = True  # type: ignore[attr-defined]
        super().hang_up()


@mutant("shy-of-large-frames", "INV-BROKER-05", then("size"), accept="CONN-02 FRM-13", level="SHOULD")
class ShyOfLargeFrames(Broker):
    """Takes no newcomers after a frame that was announced too large."""

    class session_type(Shy):
        """A connection of it."""

        def work(self) -> None:
            reader, known = self.reader, self.reader.next

            def next_frame() -> Any:
                try:
                    return known()
                except Malformed as malformed:
                    self.broker.shy = getattr(self.broker, "shy", False) or "octets" in str(malformed)  # type: ignore[attr-defined]
                    raise

            reader.next = next_frame  # type: ignore[method-assign]
            super().work()
            del reader.next


# -- misuse that is taken for something else ---------------------------------------------------------------------------


@mutant("garbage-passes", "INV-BROKER-08", then("garbage"), accept="FRM-13 CONN-02", level="SHOULD")
class GarbagePasses(Reader):
    """Passes over a command that cannot be parsed."""

    def parse(self, data: bytes) -> Frame:
        try:
            return super().parse(data)
        except Malformed as malformed:
            if "longer" in str(malformed):
                raise
            return super().parse(bytes.fromhex("00000005089a01009a0100")[:4] + bytes.fromhex("08139a0100"))


mutant("hollow-commands-pass", "INV-BROKER-10", then("hollow"), level="SHOULD")(
    "Passes over a command without its sub-message.",
    on(Session, "handle").skips(when=lambda frame: frame.command.body is None and frame.command.name),
)
mutant("answers-from-clients-pass", "INV-BROKER-12", then("backwards"), level="SHOULD")(
    "Passes over what only a broker says.",
    on(Session, "handle").skips(when=lambda frame: frame.command.name and frame.command.name not in TO_BROKER),
)


def unnamed(w: Writer) -> None:
    """A subscription without a name."""
    MISUSES["nameless"](w, (0, 0, 0, 0, 0, 0))


mutant("no-answer-to-no-name", "INV-BROKER-30", unnamed, level="SHOULD")(
    "Does not answer a SUBSCRIBE without the name of a subscription.",
    on(Session, "on_subscribe").skips(when=lambda body: not body["subscription"]),
)
mutant("strange-unsubscribe-succeeds", "INV-BROKER-38", then("strangers", 5), level="SHOULD")(
    "Answers SUCCESS to an UNSUBSCRIBE of an unknown consumer.",
    on(Session, "on_unsubscribe").instead(
        lambda self, body: self.success(body["request_id"]),
        when=lambda self, body: self.consumer_of(body["consumer_id"]) is None,
    ),
)
mutant(
    "no-stats-of-strangers", "INV-BROKER-40", lambda w: MISUSES["asking"](w, (1,) * 6), profile="modern", level="SHOULD"
)(
    "Does not answer CONSUMER_STATS of an unknown consumer.",
    on(Session, "on_consumer_stats").skips(when=lambda self, body: self.consumer_of(body["consumer_id"]) is None),
)
mutant(
    "seek-nowhere-succeeds", "INV-BROKER-41", lambda w: MISUSES["asking"](w, (0,) * 6), profile="modern", level="SHOULD"
)(
    "Answers SUCCESS to a SEEK without a position.",
    on(Session, "on_seek").instead(
        lambda self, body: self.success(body["request_id"]),
        when=lambda body: "message_id" not in body and "message_publish_time" not in body,
    ),
)


@mutant("request-ids-once", "INV-BROKER-42", lambda w: MISUSES["reused-request"](w, (0,) * 6), level="SHOULD",
        history=True)  # fmt: skip
class RequestIdsOnce(Session):
    """Does not answer a request whose id was used before."""

    def on_lookup(self, body: Message) -> None:
        used = self.__dict__.setdefault("ids_used", set())
        if body["request_id"] not in used:
            used.add(body["request_id"])
            super().on_lookup(body)
