"""Producers, what they publish, and how it is confirmed.

Source: 001_c0ea8805bb7ed422.txt, "Producer".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from impls.references.pulsar.asked import Asked, Taken
from impls.references.pulsar.checksum import crc32c
from impls.references.pulsar.connection import Close, Refused
from impls.references.pulsar.framing import Part, open_batch, open_block, part
from impls.references.pulsar.topic import NOWHERE, Producer, Topic, local_name
from impls.references.pulsar.wire import Malformed, Message

if TYPE_CHECKING:
    from impls.references.pulsar.reference import Broker

MAX_GONE = 1000


def whole(metadata: Message, payload: bytes) -> bool:
    """False for a batch that is seen to be none."""
    if "num_messages_in_batch" not in metadata or metadata.get("compression"):
        return True
    try:
        open_batch(payload, metadata["num_messages_in_batch"])
    except Malformed:
        return False
    return True


class Publishing(Asked):
    """One connection with the producers that its client has open."""

    def __init__(self, broker: Broker, number: int) -> None:
        super().__init__(broker, number)
        self.producers: dict[int, Producer] = {}
        self.unloaded: dict[int, None] = {}  # producers that the broker closed
        self.left: dict[int, None] = {}  # producers that the client closed

    def clean_up(self) -> None:
        """See `Asked`."""
        super().clean_up()
        for producer in [*self.producers.values()]:
            self.forget_producer(producer)

    def on_producer(self, body: Message) -> None:
        """Open a producer (Producer)."""
        number = body["producer_id"]
        self.settle("producer", number)
        self.request(body, lambda: self.open_producer(body), ("producer", number))

    def open_producer(self, body: Message) -> None:
        """Answer PRODUCER_SUCCESS. Raises Refused."""
        number = body["producer_id"]
        if number in self.producers:
            if self.switches.id_in_use == "error":
                raise Refused("UnknownError", "the producer is open already")
            if self.switches.id_in_use == "close":
                raise Close
            self.tell_producer(body, self.producers[number])
            return
        name = self.topic_named(body["topic"])
        self.check_rights(name)
        if len(self.producers) >= self.switches.max_open:
            raise Refused("ServiceNotReady", "too many producers")
        topic = self.broker.topic(name)
        producer = self.new_producer(body, topic)
        self.producers[number] = topic.producers[producer.name] = producer
        self.unloaded.pop(number, None)
        self.left.pop(number, None)
        self.tell_producer(body, producer)

    def check_rights(self, name: str) -> None:
        """Raise Refused where the client may not publish."""
        if self.switches.denied and local_name(name).startswith(self.switches.denied):
            raise Refused("AuthorizationError", "this topic may not be published to")

    def new_producer(self, body: Message, topic: Topic) -> Producer:
        """A producer with the name that was asked for, or one of its own. Raises Refused."""
        name = body.get("producer_name", "")
        if name and name in topic.producers:
            raise Taken("ProducerBusy", "a producer of this name is connected", topic.producers[name].session)
        if topic.terminated:
            raise Refused("TopicTerminatedError", "the topic takes no more messages")
        mode = body.get("producer_access_mode", 0)
        if topic.producers and (mode in (1, 2) or any(other.mode for other in topic.producers.values())):
            raise Refused("ProducerBusy", "somebody publishes to this topic exclusively")
        return self.broker.producer_type(self, body["producer_id"], name or self.broker.producer_name(), topic, mode)

    def tell_producer(self, body: Message, producer: Producer) -> None:
        """Answer PRODUCER_SUCCESS."""
        found: Message = {"request_id": body["request_id"], "producer_name": producer.name}
        if self.switches.deduplication:
            found["last_sequence_id"] = producer.topic.sequences.get(producer.name, -1)
        elif self.switches.optional_fields == "all":
            found["last_sequence_id"] = -1
        if "schema" in body:
            found["schema_version"] = bytes(8)
        self.say("PRODUCER_SUCCESS", found)

    def on_send(self, body: Message, rest: bytes) -> None:
        """Publish (Send)."""
        producer = self.producers.get(body["producer_id"])
        if producer is None or producer.closing is not None:
            self.on_send_without_producer(body)
            return
        load = part(rest)
        if not self.intact(load):
            self.send_error(body, "ChecksumError", "the checksum is wrong")
            return
        try:
            metadata, payload = open_block(load.block)
        except Malformed as malformed:
            if self.switches.lying_metadata == "close":
                raise
            self.send_error(body, "PersistenceError", str(malformed))
            return
        if self.switches.lying_batch != "store" and not whole(metadata, payload):
            if self.switches.lying_batch == "close":
                raise Close
            self.send_error(body, "UnknownError", "the batch cannot be taken apart")
            return
        if len(load.block) - 4 > self.switches.max_message_size:
            self.send_error(body, "NotAllowedError", "the message is too large")
        elif producer.topic.terminated:
            self.send_error(body, "TopicTerminatedError", "the topic takes no more messages")
        elif producer.topic.size + len(load.block) > self.switches.max_topic:
            self.send_error(body, "ProducerBlockedQuotaExceededError", "the topic is full")
        elif self.seen_before(producer, body):
            self.confirm_unstored(producer, body)
        else:
            self.accept(producer, body, load, metadata)

    def intact(self, load: Part) -> bool:
        """False for a payload part whose checksum is wrong."""
        return load.intact

    def on_send_without_producer(self, body: Message) -> None:
        """SEND for a producer that is not open."""
        number = body["producer_id"]
        if number in self.unloaded:
            return  # it was on its way when the broker closed the producer
        if number in self.left or number in self.producers:
            if self.switches.send_after_close == "error":
                self.send_error(body, "PersistenceError", "the producer is closed")
            elif self.switches.send_after_close == "close":
                raise Close
        elif self.switches.unknown_producer == "close":
            raise Close

    def send_error(self, body: Message, code: str, why: str) -> None:
        """Answer SEND_ERROR."""
        ids = {"producer_id": body["producer_id"], "sequence_id": body["sequence_id"]}
        self.say("SEND_ERROR", {**ids, "error": self.code(code), "message": why})

    def seen_before(self, producer: Producer, body: Message) -> bool:
        """Detect duplicates, where that is on."""
        if not self.switches.deduplication:
            return False
        last = producer.topic.sequences.get(producer.name, -1)
        if body["sequence_id"] <= last:
            return True
        producer.topic.sequences[producer.name] = max(body["sequence_id"], body.get("highest_sequence_id", 0))
        return False

    def confirm_unstored(self, producer: Producer, body: Message) -> None:
        """A duplicate is confirmed behind what is confirmed before it, with an id that is none."""
        self.broker.persist(producer, lambda: self.receipt(producer, body, {"ledgerId": NOWHERE, "entryId": NOWHERE}))

    def accept(self, producer: Producer, body: Message, load: Part, metadata: Message) -> None:
        """Store a message, and confirm it then."""
        checksum = load.checksum
        if checksum is None and self.switches.missing_checksum == "add":
            checksum = crc32c(load.block)
        self.broker.persist(producer, lambda: self.stored(producer, body, load.block, checksum, metadata))

    def stored(self, producer: Producer, body: Message, block: bytes, checksum: int | None, metadata: Message) -> None:
        """Store a message and confirm it: the receipt says that it is persisted."""
        topic = producer.topic
        entry = topic.store(block, checksum, metadata)
        if self.switches.receipt_order == "message-first":
            topic.wake()
        self.receipt(producer, body, topic.message_id(entry.id))
        if self.switches.receipt_order == "receipt-first":
            topic.wake()

    def receipt(self, producer: Producer, body: Message, message_id: Message) -> None:
        """Send a receipt, unless the producer is gone by now."""
        if self.producers.get(producer.id) is not producer:
            return
        found: Message = {
            "producer_id": body["producer_id"],
            "sequence_id": body["sequence_id"],
            "message_id": message_id,
        }
        if "highest_sequence_id" in body:
            found["highest_sequence_id"] = body["highest_sequence_id"]
        elif self.switches.optional_fields == "all":
            found["highest_sequence_id"] = NOWHERE
        self.say("SEND_RECEIPT", found)

    def on_close_producer(self, body: Message) -> None:
        """Close a producer: what is pending is persisted first (CloseProducer)."""
        number = body["producer_id"]
        self.settle("producer", number)
        producer = self.producers.get(number)
        if producer is None:
            self.close_unknown(body, "UnknownError")
            return
        producer.closing = body["request_id"]
        self.close_when_done(producer)

    def close_when_done(self, producer: Producer) -> None:
        """Answer SUCCESS to CLOSE_PRODUCER once nothing is pending."""
        if producer.closing is not None and not producer.waiting and self.producers.get(producer.id) is producer:
            self.forget_producer(producer)
            self.left[producer.id] = None
            if len(self.left) > MAX_GONE:
                del self.left[next(iter(self.left))]
            self.success(producer.closing)

    def forget_producer(self, producer: Producer) -> None:
        """A producer's id and name are free."""
        self.producers.pop(producer.id, None)
        if producer.topic.producers.get(producer.name) is producer:
            del producer.topic.producers[producer.name]

    def close_producer(self, producer: Producer) -> None:
        """Close a producer, and the connection with it where the client is too old to be told (CloseProducer)."""
        if self.version < 5:
            self.end()
            return
        self.forget_producer(producer)
        self.unloaded[producer.id] = None
        self.say("CLOSE_PRODUCER", {"producer_id": producer.id, "request_id": NOWHERE})
        if producer.closing is not None:
            self.success(producer.closing)
