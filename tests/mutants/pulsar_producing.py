"""Faults of a broker: producers, sends and receipts."""

from __future__ import annotations

from impls.references.pulsar.asked import Taken
from impls.references.pulsar.framing import Part
from impls.references.pulsar.reference import Broker, Producer, Session, Topic
from impls.references.pulsar.wire import Message
from specs.plan import Ref
from specs.pulsar.frames import draft
from strategies.common import Op
from strategies.pulsar.aimed import THREES
from strategies.pulsar.several import HEIRS, three
from strategies.pulsar.writer import Writer
from tests.mutants.faults import on
from tests.mutants.pulsar_kit import mutant, ready
from tests.mutants.pulsar_living import burst, producers, sends

# -- producers ---------------------------------------------------------------------------------------------------------


@mutant("names-for-each-topic", "PROD-05", producers("", "", topics=2), history=True)
class NamesForEachTopic(Session):
    """Counts generated names on each topic."""

    def new_producer(self, body: Message, topic: Topic) -> Producer:
        named = body if body.get("producer_name") else {**body, "producer_name": f"made-{len(topic.producers)}"}
        return super().new_producer(named, topic)


mutant("name-of-its-own", "PROD-06", producers("p"))(
    "Gives every producer a name of its own.",
    on(Session, "new_producer").takes(body=lambda body: {**body, "producer_name": ""}),
)
mutant("name-taken-twice", "PROD-09", producers("p", "p", slots=2), accept="INV-BROKER-25")(
    "Takes a producer whose name is connected.",
    on(Session, "new_producer").before(lambda body, topic: topic.producers.pop(body.get("producer_name", ""), None)),
)


@mutant("name-free-elsewhere", "PROD-09", producers("p", "p", slots=2), accept="INV-BROKER-25")
class NameFreeElsewhere(Session):
    """Knows the names of producers on the same connection only."""

    def new_producer(self, body: Message, topic: Topic) -> Producer:
        name = body.get("producer_name", "")
        if name in topic.producers and topic.producers[name].session is not self:
            del topic.producers[name]
        return super().new_producer(body, topic)


def inherited(w: Writer) -> None:
    """A name goes from one connection to another; the first one ends."""
    three(w, Op("three", (HEIRS, 0, 0, 0, 0)), THREES)


@mutant("names-go-with-who-had-them", "PROD-09", inherited, accept="INV-BROKER-25", history=True)
class NamesGoWithWhoHadThem(Session):
    """When a connection ends, all names are free that its producers have ever had."""

    def on_lost(self) -> None:
        for topic, name in vars(self).get("had", ()):
            topic.producers.pop(name, None)
        super().on_lost()

    def new_producer(self, body: Message, topic: Topic) -> Producer:
        made = super().new_producer(body, topic)
        vars(self).setdefault("had", []).append((topic, made.name))
        return made


@mutant("refusal-frees-the-name", "PROD-09", producers("p", "p", "p", slots=2), accept="INV-BROKER-25", history=True)
class RefusalFreesTheName(Session):
    """Once it has refused a producer because of its name, it takes the next one of that name."""

    def new_producer(self, body: Message, topic: Topic) -> Producer:
        try:
            return super().new_producer(body, topic)
        except Taken:
            del topic.producers[body["producer_name"]]
            raise


def misnamed(w: Writer) -> None:
    line = w.line()
    w.say(line, draft("PRODUCER", topic="", producer_id=1, request_id=w.request(line)))


mutant("any-topic", "PROD-10", misnamed, accept="INV-BROKER-28 INV-BROKER-29 LOOK-09")(
    "Takes any text for a topic.", on(Session, "topic_named").instead(lambda name: name)
)
mutant("two-producer-successes", "PROD-02", producers("p"), accept="REQ-02 PROD-06")(
    "Answers PRODUCER twice.", on(Session, "tell_producer").repeats()
)


def denied(w: Writer) -> None:
    line = w.line()
    topic = Ref("topic", "denied:t")
    w.say(line, draft("PRODUCER", topic=topic, producer_id=1, request_id=w.request(line)))


mutant("no-rights", "PROD-08", denied)("Lets everybody publish everywhere.", on(Session, "check_rights").skips())


# -- sending -----------------------------------------------------------------------------------------------------------


mutant("receipt-of-the-last", "SEND-04", sends(3), accept="SEND-10 SEND-06", history=True)(
    "From the third message on repeats the sequence id before.",
    on(Session, "receipt").takes(body=lambda body, calls: {**body, "sequence_id": body["sequence_id"] - (calls > 2)}),
)
mutant("no-receipt", "SEND-04", sends(4), accept="SEND-10 SEND-13", history=True)(
    "Confirms all but every fourth message.", on(Session, "receipt").skips(when=lambda calls: calls % 4 == 0)
)
mutant("receipt-twice", "SEND-10", sends(1), accept="SEND-04 REQ-02 SEND-07")(
    "Confirms twice.", on(Session, "receipt").repeats()
)


@mutant("receipts-backwards", "SEND-06", burst(3), accept="SEND-12 FRM-15 SEND-04", history=True, hurry=True)
class ReceiptsBackwards(Broker):
    """Stores what waits in the order in which it likes."""

    class session_type(Session):
        """A connection of it."""

        def accept(self, producer: Producer, body: Message, load: Part, metadata: Message) -> None:
            ms = 10 - min(9, body["sequence_id"])
            self.broker.later(ms, lambda: Session.accept(self, producer, body, load, metadata))


mutant("ids-for-each-topic", "SEND-07", sends(2, topics=2), history=True)(
    "Counts message ids on each topic from the same start.", on(Broker, "new_ledger").instead(lambda: 1)
)


@mutant("ids-fall", "SEND-08", sends(5), accept="SEND-07 SEND-09 MSG-02", history=True)
class IdsFall(Topic):
    """Every fourth id is lower than the one before."""

    def new_id(self) -> tuple[int, int]:
        ledger, entry = super().new_id()
        return (ledger, 1000 - entry) if entry % 4 == 3 else (ledger, entry + 2000)


mutant("other-id-to-consumers", "SEND-09", sends(1), accept="MSG-02 E2E-02")(
    "Pushes messages under another id than it confirmed.",
    on(Session, "receipt").takes(
        message_id=lambda message_id: {**message_id, "ledgerId": message_id["ledgerId"] + 1_000_000}
    ),
)


def stray(w: Writer) -> None:
    """A SEND of a producer that was never created."""
    line, _, pen = ready(w)
    pen.id = 77
    w.send(pen)
    w.ping(line)


mutant(
    "anybodys-send",
    "SEND-11",
    stray,
    accept="INV-BROKER-15 INV-BROKER-16 INV-BROKER-17 INV-BROKER-18 CLP-01",
    level="MUST",
)(
    "Stores what a producer sends that was never created.",
    on(Session, "on_send_without_producer").instead(
        lambda self, body: self.say(
            "SEND_RECEIPT",
            {
                "producer_id": body["producer_id"],
                "sequence_id": body["sequence_id"],
                "message_id": {"ledgerId": 999_999, "entryId": 1},
            },
        )
    ),
)


@mutant(
    "newest-first", "SEND-12", burst(3), accept="MSG-03 FRM-15 SEND-08", history=True, hurry=True, dispatch_delay_ms=20
)
class NewestFirst(Topic):
    """Pushes the last of several messages first."""

    def wake(self) -> None:
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


@mutant("one-fails-all-fail", "SEND-13", failing, accept="SEND-04 SEND-10 CHK-04 CHK-08", history=True)
class OneFailsAllFail(Session):
    """Refuses all producers of a connection once one was refused."""

    failed = False

    def intact(self, load: Part) -> bool:
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
        waiting, producer.waiting = producer.waiting, 0
        super().close_when_done(producer)
        producer.waiting = waiting


def closed(w: Writer) -> None:
    """A producer closed, and made again with its id and its name."""
    line = w.line()
    w.close_pen(w.pen(line, "t", name="p"))
    w.pen(line, "t", name="p")


mutant("close-of-request-0", "CLP-03", lambda w: (setattr(w, "ids", 2), closed(w))[1], accept="REQ-01 REQ-02")(
    "Answers CLOSE_PRODUCER with SUCCESS for request 0.",
    on(Session, "close_when_done").before(
        lambda producer: setattr(producer, "closing", 0),
        when=lambda producer: producer.closing is not None and not producer.waiting,
    ),
)


@mutant("name-kept", "CLP-04", closed, accept="PROD-02 PROD-09", history=True)
class NameKept(Session):
    """Keeps the name of a closed producer."""

    def close_when_done(self, producer: Producer) -> None:
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
        number = producer.id
        super().close_when_done(producer)
        self.producers[number] = producer
        producer.closing = None
