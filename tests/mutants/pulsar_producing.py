"""Brokers that are wrong about requests, producers, receipts, and lookups."""

from __future__ import annotations

from collections.abc import Callable

from impls.pulsar.framing import Part
from impls.pulsar.reference import Broker, Producer, Session, Topic
from impls.pulsar.wire import Message
from specs.plan import Ref
from specs.pulsar.frames import draft
from strategies.pulsar.writer import Writer
from tests.mutants.pulsar_kit import EXCLUSIVE, SHARED, mutant, ready


def sends(count: int, topics: int = 1) -> Callable[[Writer], None]:
    """Messages of a producer on each topic, one after the other."""

    def play(w: Writer) -> None:
        pens = [ready(w, topic=topic)[2] if topic == "t" else w.pen(w.line(), topic) for topic in ("t", "tt")[:topics]]
        for number in range(count):
            w.send(pens[number % topics])

    return play


def burst(count: int) -> Callable[[Writer], None]:
    """Messages without waiting."""

    def play(w: Writer) -> None:
        _, _, pen = ready(w)
        w.settle()
        for number in range(count):
            w.send(pen, when="now" if number else "")

    return play


def producers(*names: str, slots: int = 1, topics: int = 1) -> Callable[[Writer], None]:
    """Several producers."""

    def play(w: Writer) -> None:
        w.slots = slots
        for number, name in enumerate(names):
            w.pen(w.line(number), ("t", "tt")[number % topics], number, name)

    return play


# -- versions and signs of life ----------------------------------------------------------------------------------------


def pings(count: int) -> Callable[[Writer], None]:
    """So many PINGs, one after the other."""

    def play(w: Writer) -> None:
        line = w.line()
        for _ in range(count):
            w.ping(line)

    return play


@mutant("every-third-ping", "KA-02", pings(3), accept="KA-09", history=True)
class EveryThirdPing(Session):
    """Does not answer every third PING."""

    pinged = 0

    def on_ping(self, body: Message) -> None:
        """See `Connection`."""
        self.pinged += 1
        if self.pinged % 3:
            super().on_ping(body)


@mutant("two-pongs", "KA-02", pings(1))
class TwoPongs(Session):
    """Answers PING twice."""

    def on_ping(self, body: Message) -> None:
        """See `Connection`."""
        super().on_ping(body)
        super().on_ping(body)


def pinged(w: Writer) -> None:
    """A PING between FLOW and the message."""
    line, _, pen = ready(w)
    w.ping(line)
    w.send(pen)


@mutant("ping-takes-permits", "KA-09", pinged, accept="FLOW-04", history=True)
class PingTakesPermits(Session):
    """Forgets all permits when it is PINGed."""

    def on_ping(self, body: Message) -> None:
        """See `Connection`."""
        super().on_ping(body)
        for consumer in self.consumers.values():
            consumer.permits = 0


def silent(w: Writer) -> None:
    """Two intervals without a word."""
    w.ping(w.line())
    w.wait(w.config.keepalive_ms * 2 + 20_000)


@mutant("no-ping", "KA-03", silent, accept="KA-04")
class NoPing(Session):
    """Never asks whether a client lives."""

    def tick(self) -> None:
        """See `Connection`."""
        self.next_tick += self.switches.keepalive_ms


@mutant("mute-for-ever", "KA-04", silent)
class MuteForEver(Session):
    """Never gives a silent client up."""

    def tick(self) -> None:
        """See `Connection`."""
        self.probed = None
        super().tick()


def answered(w: Writer) -> None:
    """Five intervals, each PING answered."""
    line = w.line()
    w.ping(line)
    for _ in range(5):
        w.wait(w.config.keepalive_ms)
        w.say(line, draft("PONG"))


@mutant("pong-unheard", "KA-05", answered, accept="KA-06 KA-07", history=True)
class PongUnheard(Session):
    """Does not take PONG for a sign of life."""

    def on_sign_of_life(self) -> None:
        """Nothing is one."""
        self.heard = self.broker.now


@mutant("ping-to-anybody", "VER-01", lambda w: old(w, 0), accept="VER-04 KA-03")
class PingToAnybody(Session):
    """Sends PING to clients of version 0."""

    def tick(self) -> None:
        """See `Connection`."""
        self.version = max(1, self.version)
        super().tick()


def old(w: Writer, version: int) -> None:
    """A client of an old version, and time."""
    w.another(version)
    w.wait(w.config.keepalive_ms + 1000)
    w.wait()


@mutant("no-version-is-the-newest", "VER-04", lambda w: old(w, -1), accept="VER-01 KA-03 VER-03")
class NoVersionIsNewest(Session):
    """Takes a client that does not name its version for one of the newest."""

    def on_early(self, name: str, body: Message) -> None:
        """See `Connection`."""
        super().on_early(name, {"protocol_version": self.broker.version, **body})


def versions(w: Writer) -> None:
    """A client that is older."""
    w.another(3)
    w.wait()


@mutant("own-version", "VER-03", versions, level="SHOULD")
class OwnVersion(Session):
    """Answers its own version to everybody."""

    def answered_version(self) -> int:
        """See `Connection`."""
        return self.broker.version


# -- connections that end ----------------------------------------------------------------------------------------------


def cut(w: Writer) -> None:
    """A cut, and the same producer and consumer again."""
    w.pen(w.line(), "t", name="p")
    w.ear(w.line(), "t", "s")
    w.hang(0)
    line = w.line(0)
    w.ping(line)
    w.wait(2000)
    w.pen(line, "t", name="p")
    w.ear(line, "t", "s")


@mutant("names-survive", "CONN-12", cut, accept="PROD-09 PROD-02", history=True)
class NamesSurvive(Session):
    """Keeps the names of producers whose connection was cut."""

    def clean_up(self) -> None:
        """See `Session`."""
        self.producers.clear()
        super().clean_up()


@mutant("consumers-survive", "CONN-12", cut, accept="SUB-05 SUB-01 SUB-12", history=True)
class ConsumersSurvive(Session):
    """Keeps consumers whose connection was cut."""

    def clean_up(self) -> None:
        """See `Session`."""
        self.consumers.clear()
        super().clean_up()


# -- producers ---------------------------------------------------------------------------------------------------------


@mutant("names-for-each-topic", "PROD-05", producers("", "", topics=2), history=True)
class NamesForEachTopic(Session):
    """Counts generated names on each topic."""

    def new_producer(self, body: Message, topic: Topic) -> Producer:
        """See `Session`."""
        named = body if body.get("producer_name") else {**body, "producer_name": f"made-{len(topic.producers)}"}
        return super().new_producer(named, topic)


@mutant("name-of-its-own", "PROD-06", producers("p"))
class NameOfItsOwn(Session):
    """Gives every producer a name of its own."""

    def new_producer(self, body: Message, topic: Topic) -> Producer:
        """See `Session`."""
        return super().new_producer({**body, "producer_name": ""}, topic)


@mutant("name-taken-twice", "PROD-09", producers("p", "p", slots=2), accept="INV-BROKER-25")
class NameTakenTwice(Session):
    """Takes a producer whose name is connected."""

    def new_producer(self, body: Message, topic: Topic) -> Producer:
        """See `Session`."""
        topic.producers.pop(body.get("producer_name", ""), None)
        return super().new_producer(body, topic)


@mutant("name-free-elsewhere", "PROD-09", producers("p", "p", slots=2), accept="INV-BROKER-25")
class NameFreeElsewhere(Session):
    """Knows the names of producers on the same connection only."""

    def new_producer(self, body: Message, topic: Topic) -> Producer:
        """See `Session`."""
        name = body.get("producer_name", "")
        if name in topic.producers and topic.producers[name].session is not self:
            del topic.producers[name]
        return super().new_producer(body, topic)


def misnamed(w: Writer) -> None:
    line = w.line()
    w.say(line, draft("PRODUCER", topic="", producer_id=1, request_id=w.request(line)))


@mutant("any-topic", "PROD-10", misnamed, accept="INV-BROKER-28 INV-BROKER-29 LOOK-09")
class AnyTopic(Session):
    """Takes any text for a topic."""

    def topic_named(self, name: str) -> str:
        """See `Session`."""
        return name


@mutant("two-producer-successes", "PROD-02", producers("p"), accept="REQ-02 PROD-06")
class TwoProducerSuccesses(Session):
    """Answers PRODUCER twice."""

    def tell_producer(self, body: Message, producer: Producer) -> None:
        """See `Session`."""
        super().tell_producer(body, producer)
        super().tell_producer(body, producer)


def denied(w: Writer) -> None:
    line = w.line()
    topic = Ref("topic", "denied:t")
    w.say(line, draft("PRODUCER", topic=topic, producer_id=1, request_id=w.request(line)))


@mutant("no-rights", "PROD-08", denied)
class NoRights(Session):
    """Lets everybody publish everywhere."""

    def check_rights(self, name: str) -> None:
        """See `Session`."""


# -- sending -----------------------------------------------------------------------------------------------------------


@mutant("receipt-of-the-last", "SEND-04", sends(3), accept="SEND-10 SEND-06", history=True)
class ReceiptOfTheLast(Session):
    """From the third message on repeats the sequence id before."""

    count = 0

    def receipt(self, producer: Producer, body: Message, message_id: Message) -> None:
        """See `Session`."""
        self.count += 1
        number = body["sequence_id"] - (1 if self.count > 2 else 0)
        super().receipt(producer, {**body, "sequence_id": number}, message_id)


@mutant("no-receipt", "SEND-04", sends(4), accept="SEND-10 SEND-13", history=True)
class NoReceipt(Session):
    """Confirms all but every fourth message."""

    count = 0

    def receipt(self, producer: Producer, body: Message, message_id: Message) -> None:
        """See `Session`."""
        self.count += 1
        if self.count % 4:
            super().receipt(producer, body, message_id)


@mutant("receipt-twice", "SEND-10", sends(1), accept="SEND-04 REQ-02 SEND-07")
class ReceiptTwice(Session):
    """Confirms twice."""

    def receipt(self, producer: Producer, body: Message, message_id: Message) -> None:
        """See `Session`."""
        super().receipt(producer, body, message_id)
        super().receipt(producer, body, message_id)


@mutant("receipts-backwards", "SEND-06", burst(3), accept="SEND-12 FRM-15 SEND-04", history=True, hurry=True)
class ReceiptsBackwards(Broker):
    """Stores what waits in the order in which it likes."""

    class session_type(Session):
        """A connection of it."""

        def accept(self, producer: Producer, body: Message, load: Part, metadata: Message) -> None:
            """See `Session`."""
            ms = 10 - min(9, body["sequence_id"])
            self.broker.later(ms, lambda: Session.accept(self, producer, body, load, metadata))


@mutant("ids-for-each-topic", "SEND-07", sends(2, topics=2), history=True)
class IdsForEachTopic(Broker):
    """Counts message ids on each topic from the same start."""

    def new_ledger(self) -> int:
        """See `Broker`."""
        return 1


@mutant("ids-fall", "SEND-08", sends(5), accept="SEND-07 SEND-09 MSG-02", history=True)
class IdsFall(Topic):
    """Every fourth id is lower than the one before."""

    def new_id(self) -> tuple[int, int]:
        """See `Topic`."""
        ledger, entry = super().new_id()
        return (ledger, 1000 - entry) if entry % 4 == 3 else (ledger, entry + 2000)


@mutant("other-id-to-consumers", "SEND-09", sends(1), accept="MSG-02 E2E-02")
class OtherIdToConsumers(Session):
    """Pushes messages under another id than it confirmed."""

    def receipt(self, producer: Producer, body: Message, message_id: Message) -> None:
        """See `Session`."""
        super().receipt(producer, body, {**message_id, "ledgerId": message_id["ledgerId"] + 1_000_000})


def stray(w: Writer) -> None:
    """A SEND of a producer that was never created."""
    line, _, pen = ready(w)
    pen.id = 77
    w.send(pen)
    w.ping(line)


@mutant("anybodys-send", "SEND-11", stray, accept="INV-BROKER-16 INV-BROKER-17 CLP-01 INV-BROKER-15", level="MUST")
class AnybodysSend(Session):
    """Stores what a producer sends that was never created."""

    def on_send_without_producer(self, body: Message) -> None:
        """See `Session`."""
        self.say(
            "SEND_RECEIPT",
            {
                "producer_id": body["producer_id"],
                "sequence_id": body["sequence_id"],
                "message_id": {"ledgerId": 999_999, "entryId": 1},
            },
        )


@mutant(
    "newest-first", "SEND-12", burst(3), accept="MSG-03 FRM-15 SEND-08", history=True, hurry=True, dispatch_delay_ms=20
)
class NewestFirst(Topic):
    """Pushes the last of several messages first."""

    def wake(self) -> None:
        """See `Topic`."""
        if len(self.entries) == 3:
            self.entries[0], self.entries[2] = self.entries[2], self.entries[0]
        super().wake()


def failing(w: Writer) -> None:
    """One of two producers sends what is refused."""
    line, _, pen = ready(w, sends=1)
    other = w.pen(line, "tt")
    w.send(other)
    w.send(other, check="bad")
    w.send(pen)


@mutant("one-fails-all-fail", "SEND-13", failing, accept="SEND-04 SEND-10 CHK-04", history=True)
class OneFailsAllFail(Session):
    """Refuses all producers of a connection once one was refused."""

    failed = False

    def intact(self, load: Part) -> bool:
        """See `Session`."""
        self.failed = self.failed or not super().intact(load)
        return not self.failed


def closing(w: Writer) -> None:
    """Two messages and CLOSE_PRODUCER at once."""
    _, _, pen = ready(w)
    w.settle()
    w.send(pen)
    w.send(pen, when="now")
    w.hurry = True
    w.close_pen(pen)
    w.wait()


@mutant("closed-too-soon", "CLP-02", closing, accept="SEND-04 CLP-01 SEND-05", persist_delay_ms=20)
class ClosedTooSoon(Session):
    """Does not wait for what is pending when a producer is closed."""

    def close_when_done(self, producer: Producer) -> None:
        """See `Session`."""
        waiting, producer.waiting = producer.waiting, 0
        super().close_when_done(producer)
        producer.waiting = waiting


def closed(w: Writer) -> None:
    """A producer closed, and made again with its id and its name."""
    line = w.line()
    w.close_pen(w.pen(line, "t", name="p"))
    w.pen(line, "t", name="p")


@mutant("close-of-request-0", "CLP-03", lambda w: (setattr(w, "ids", 2), closed(w))[1], accept="REQ-01 REQ-02")
class CloseOfRequest0(Session):
    """Answers CLOSE_PRODUCER with SUCCESS for request 0."""

    def close_when_done(self, producer: Producer) -> None:
        """See `Session`."""
        if producer.closing is not None and not producer.waiting:
            producer.closing = 0
        super().close_when_done(producer)


@mutant("name-kept", "CLP-04", closed, accept="PROD-02 PROD-09", history=True)
class NameKept(Session):
    """Keeps the name of a closed producer."""

    def close_when_done(self, producer: Producer) -> None:
        """See `Session`."""
        super().close_when_done(producer)
        producer.topic.producers[producer.name] = producer


def late(w: Writer) -> None:
    """A SEND behind the SUCCESS of CLOSE_PRODUCER."""
    line, _, pen = ready(w, sends=1)
    w.close_pen(pen)
    w.send(pen)
    w.ping(line)


@mutant("closed-but-taken", "CLP-01", late, accept="SEND-11 INV-BROKER-17 E2E-02 INV-BROKER-18", history=True)
class ClosedButTaken(Session):
    """Takes messages of a closed producer."""

    def close_when_done(self, producer: Producer) -> None:
        """See `Session`."""
        number = producer.id
        super().close_when_done(producer)
        self.producers[number] = producer
        producer.closing = None


# -- lookups -----------------------------------------------------------------------------------------------------------


def looked_up(w: Writer) -> None:
    for number in range(23):
        w.lookup(w.line(), "t", authoritative=number > 0)


class Answering(Session):
    """Answers lookups in another way."""

    def changed(self, body: Message, answer: Message) -> Message:
        """The other answer."""
        raise NotImplementedError

    def looked_up(self, body: Message) -> Message:
        """See `Session`."""
        return self.changed(body, super().looked_up(body))


@mutant("no-url", "LOOK-10", looked_up, accept="LOOK-02")
class NoUrl(Answering):
    """Leaves the URL out."""

    def changed(self, body: Message, answer: Message) -> Message:
        """See `Answering`."""
        return {name: value for name, value in answer.items() if name != "brokerServiceUrl"}


@mutant("url-of-http", "LOOK-10", looked_up, accept="LOOK-02")
class UrlOfHttp(Answering):
    """Answers with the URL of its web service."""

    def changed(self, body: Message, answer: Message) -> Message:
        """See `Answering`."""
        return {**answer, "brokerServiceUrl": "http://127.0.0.1:8080"}


@mutant("redirects-for-ever", "LOOK-06", looked_up, accept="LOOK-02 LOOK-08", level="SHOULD")
class RedirectsForEver(Answering):
    """Redirects even who was redirected."""

    def changed(self, body: Message, answer: Message) -> Message:
        """See `Answering`."""
        return {**answer, "response": 0} if answer["response"] == 1 else answer


@mutant("lookup-unanswered", "LOOK-02", looked_up, accept="REQ-02", history=True)
class LookupUnanswered(Session):
    """Answers two lookups on each connection."""

    count = 0

    def on_lookup(self, body: Message) -> None:
        """See `Session`."""
        self.count += 1
        if self.count < 3:
            super().on_lookup(body)


def asked(w: Writer) -> None:
    for _ in range(2):
        w.partitions(w.line(), "t")


@mutant(
    "more-partitions",
    "PART-05",
    asked,
    accept="PART-01",
    history=True,
)
class MorePartitions(Session):
    """Has another partition each time it is asked."""

    count = 0

    def partitioned(self, body: Message) -> Message:
        """See `Session`."""
        self.count += 1
        answer = super().partitioned(body)
        return {**answer, "partitions": self.count - 1} if answer["response"] == 0 else answer


@mutant("partitions-without-response", "PART-01", lambda w: w.partitions(w.line(), "t"))
class PartitionsWithoutResponse(Session):
    """Does not say whether it found the partitions."""

    def partitioned(self, body: Message) -> Message:
        """See `Session`."""
        return {name: value for name, value in super().partitioned(body).items() if name != "response"}


def many(w: Writer) -> None:
    line = w.line()
    w.settle()
    for number in range(4):
        w.say(line, draft("LOOKUP", topic=Ref("topic", "t"), request_id=w.request(line)), "now" if number else "")


@mutant("one-of-many", "REQ-02", many, accept="LOOK-02", history=True, answer_delay_ms=20)
class OneOfMany(Session):
    """Forgets a request when another one comes before its answer."""

    pending = 0

    def request(self, body: Message, work: Callable[[], None], key: tuple[str, int] | None = None) -> None:
        """See `Session`."""
        self.pending += 1
        mine = self.pending
        super().request(body, lambda: work() if mine == self.pending else None, key)


# -- topics ------------------------------------------------------------------------------------------------------------


def topics(w: Writer) -> None:
    """Messages on topics with similar names."""
    line = w.line()
    for number, topic in enumerate(("t", "T", "t-1", "tt")):
        w.flow(w.ear(line, topic, "s", (EXCLUSIVE, SHARED)[number % 2], number), 10)
        w.send(w.pen(line, topic, number))


@mutant("topics-in-any-case", "E2E-04", topics, accept="SUB-11 SUB-05 E2E-02 SEND-09 SUB-01 SUB-12")
class TopicsInAnyCase(Broker):
    """Takes topics whose names differ in case for one."""

    def topic(self, name: str) -> Topic:
        """See `Broker`."""
        return super().topic(name.lower())


@mutant("topics-to-the-dash", "E2E-04", topics, accept="SUB-11 SUB-05 E2E-02 SEND-09 SUB-01 SUB-12")
class TopicsToTheDash(Broker):
    """Takes what follows the last dash of a topic for a partition of it."""

    def topic(self, name: str) -> Topic:
        """See `Broker`."""
        head, dash, tail = name.rpartition("-")
        return super().topic(head if dash and tail.isdigit() else name)
