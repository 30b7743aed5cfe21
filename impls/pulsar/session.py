"""What each command of a client does.

Source: 001_c0ea8805bb7ed422.txt, "Interactions" and "Service discovery". Newer commands as Pulsar's own
pages have them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from impls.pulsar.checksum import crc32c
from impls.pulsar.connection import Close, Connection, Phase, Refused
from impls.pulsar.framing import Part, open_batch, open_block, part
from impls.pulsar.schema import SINCE
from impls.pulsar.subscription import EXCLUSIVE, KEY_SHARED, SHARED, Consumer, Subscription
from impls.pulsar.topic import NOWHERE, Entry, Producer, Topic, full_name, local_name, namespace_of, partitions_of
from impls.pulsar.wire import Malformed, Message

if TYPE_CHECKING:
    from impls.pulsar.reference import Broker

TYPES = ("Exclusive", "Shared", "Failover", "Key_Shared")
CONNECT, REDIRECT_TO, FAILED = 1, 0, 2
"""Answers to a lookup."""
UNLOAD = 0.02
"""How likely the broker unloads a topic after a command, with `unloads`."""
MAX_GONE = 1000


class Taken(Refused):
    """As `Refused`, because of what another connection holds."""

    def __init__(self, code: str, why: str, holder: Session) -> None:
        super().__init__(code, why)
        self.holder = holder


def whole(metadata: Message, payload: bytes) -> bool:
    """False for a batch that is seen to be none."""
    if "num_messages_in_batch" not in metadata or metadata.get("compression"):
        return True
    try:
        open_batch(payload, metadata["num_messages_in_batch"])
    except Malformed:
        return False
    return True


class Session(Connection):
    """One connection with all that its client has open."""

    def __init__(self, broker: Broker, number: int) -> None:
        super().__init__(broker, number)
        self.producers: dict[int, Producer] = {}
        self.consumers: dict[int, Consumer] = {}
        self.opening: dict[tuple[str, int], Callable[[], None]] = {}  # what a delayed request will do
        self.early: dict[int, int] = {}  # permits for consumers that are not open yet
        self.unloaded: dict[int, None] = {}  # producers that the broker closed
        self.left: dict[int, None] = {}  # producers that the client closed
        self.late: list[Callable[[], None]] = []  # acknowledgements that did not take effect yet

    def serve(self, name: str, body: Message, rest: bytes) -> None:
        """See `Connection`."""
        if name not in ("ACK", "REDELIVER_UNACKNOWLEDGED_MESSAGES", "CLOSE_CONSUMER", "FLOW"):
            self.catch_up()
        super().serve(name, body, rest)
        if self.switches.unloads == "sometimes" and self.chance.random() < UNLOAD:
            self.broker.unload_one()

    def catch_up(self) -> None:
        """Let late acknowledgements take effect."""
        late, self.late = self.late, []
        for each in late:
            each()

    # Requests and their answers

    def request(self, body: Message, work: Callable[[], None], key: tuple[str, int] | None = None) -> None:
        """Do a request, now or soon; what cannot be done is answered ERROR. Only a delay changes their order."""

        def do() -> None:
            if key is not None:
                if self.opening.get(key) is not do:
                    return  # it was done before its time
                del self.opening[key]
            if self.phase is not Phase.LIVE:
                return
            try:
                work()
            except Taken as taken:
                self.on_taken(body, taken, work)
            except Refused as refused:
                self.on_refused(body["request_id"], refused)

        delay = self.switches.answer_delay_ms
        if key is not None:
            self.opening[key] = do
        if delay:
            self.broker.later(self.chance.randint(0, delay), do)
        else:
            do()

    def on_taken(self, body: Message, taken: Taken, work: Callable[[], None]) -> None:
        """Somebody holds what is asked for: refuse, after a look at whether that connection lives."""
        holder = taken.holder
        if self.switches.liveness == "trust" or holder.version < SINCE["PING"]:
            self.on_refused(body["request_id"], taken)
            return

        def decided(alive: bool) -> None:
            if self.phase is not Phase.LIVE:
                return
            if not alive:
                holder.end()
                holder.clean_up()
            try:
                work()
            except Refused as refused:
                self.on_refused(body["request_id"], refused)

        holder.ask_whether_alive(decided)

    def on_refused(self, request: int, refused: Refused) -> None:
        """A request could not be done."""
        self.error(request, refused)

    def success(self, request: int) -> None:
        """Answer SUCCESS."""
        self.say("SUCCESS", {"request_id": request})

    def settle(self, kind: str, number: int) -> None:
        """Have a delayed request for this id done before anything else is done with it."""
        if (kind, number) in self.opening:
            self.opening[kind, number]()

    def topic_named(self, name: str) -> str:
        """The whole name of a topic. Raises Refused."""
        found = full_name(name, self.switches.short_names == "accept")
        if not found:
            raise Refused("InvalidTopicName", "this cannot be the name of a topic")
        return found

    # Lookup

    def on_lookup(self, body: Message) -> None:
        """Which broker has this topic (Lookup)."""
        self.request(body, lambda: self.say("LOOKUP_RESPONSE", self.looked_up(body)))

    def looked_up(self, body: Message) -> Message:
        """The answer to a lookup."""
        request = {"request_id": body["request_id"]}
        try:
            self.topic_named(body["topic"])
        except Refused as refused:
            return {**request, "response": FAILED, "error": self.code(refused.code), "message": str(refused)}
        if self.switches.lookup == "redirect" and not body.get("authoritative", False):
            return {**request, "response": REDIRECT_TO, **self.place(self.switches.url, authoritative=True)}
        url = self.switches.other_url or self.switches.url
        return {**request, "response": CONNECT, **self.place(url, authoritative=True)}

    def place(self, url: str, *, authoritative: bool) -> Message:
        """Where a lookup sends a client."""
        found: Message = {"brokerServiceUrl": url, "authoritative": authoritative}
        if self.switches.proxied and self.version >= 10:
            found["proxy_through_service_url"] = True
        return found

    def on_partitioned_metadata(self, body: Message) -> None:
        """How many partitions a topic has (Partitioned topics discovery)."""
        self.request(body, lambda: self.say("PARTITIONED_METADATA_RESPONSE", self.partitioned(body)))

    def partitioned(self, body: Message) -> Message:
        """The answer to that."""
        request = {"request_id": body["request_id"]}
        try:
            name = self.topic_named(body["topic"])
        except Refused as refused:
            return {**request, "response": 1, "error": self.code(refused.code), "message": str(refused)}
        return {**request, "response": 0, "partitions": partitions_of(name)}

    # Producers

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

    def close_unknown(self, body: Message, code: str) -> None:
        """CLOSE_PRODUCER or CLOSE_CONSUMER for an id that is not open."""
        if self.switches.close_unknown == "success":
            self.success(body["request_id"])
        else:
            self.on_refused(body["request_id"], Refused(code, "there is nothing to close"))

    def forget_producer(self, producer: Producer) -> None:
        """A producer's id and name are free."""
        self.producers.pop(producer.id, None)
        if producer.topic.producers.get(producer.name) is producer:
            del producer.topic.producers[producer.name]

    # Consumers

    def on_subscribe(self, body: Message) -> None:
        """Open a consumer (Subscribe)."""
        number = body["consumer_id"]
        self.settle("consumer", number)
        self.request(body, lambda: self.open_consumer(body), ("consumer", number))

    def open_consumer(self, body: Message) -> None:
        """Answer SUCCESS. Raises Refused."""
        number = body["consumer_id"]
        if number in self.consumers:
            if self.switches.id_in_use == "error":
                raise Refused("UnknownError", "the consumer is open already")
            if self.switches.id_in_use == "close":
                raise Close
            self.success(body["request_id"])
            return
        name = self.topic_named(body["topic"])
        if not body["subscription"]:
            raise Refused("UnknownError", "the subscription has no name")
        if len(self.consumers) >= self.switches.max_open:
            raise Refused("ServiceNotReady", "too many consumers")
        subscription = self.subscription_for(body, self.broker.topic(name))
        consumer = self.broker.consumer_type(
            self, number, body.get("consumer_name", ""), body.get("priority_level", 0), subscription
        )
        consumer.epoch = body.get("consumer_epoch")
        self.consumers[number] = consumer
        consumer.permits += self.early.pop(number, 0)
        before = self.switches.active_change == "before"
        if not before:
            self.success(body["request_id"])
        subscription.join(consumer)
        if before:
            self.success(body["request_id"])
        self.check_end(consumer)

    def subscription_for(self, body: Message, topic: Topic) -> Subscription:
        """The subscription, made if there is none. Raises Refused."""
        name, kind = body["subscription"], body["subType"]
        subscription = topic.subscriptions.get(name)
        if subscription is None:
            start = self.start_of(body, topic)
            subscription = self.broker.subscription_type(topic, name, kind, start, body.get("durable", True))
            topic.subscriptions[name] = subscription
        elif not subscription.consumers:
            subscription.kind = kind
        else:
            self.check_room(subscription, kind)
        return subscription

    def check_room(self, subscription: Subscription, kind: int) -> None:
        """Raise Refused where another consumer stands in the way."""
        if subscription.kind != kind:
            raise Refused("ConsumerBusy", f"the subscription is of type {TYPES[subscription.kind]}")
        if kind == EXCLUSIVE:
            raise Taken("ConsumerBusy", "the subscription has its consumer", subscription.consumers[0].session)

    def start_of(self, body: Message, topic: Topic) -> int:
        """Where a new subscription begins: at the end, unless it says otherwise."""
        if not body.get("durable", True) and "start_message_id" in body:
            start = body["start_message_id"]
            at = topic.position(start)
            # A batch is delivered again whole: which of its messages were read is for the client to know.
            inside = topic.find(start) == at and start.get("batch_index", -1) < 0
            return at + 1 if inside else at
        return 0 if body.get("initialPosition", 0) == 1 else len(topic.entries)

    def on_flow(self, body: Message) -> None:
        """Permit messages (Flow)."""
        number, permits = body["consumer_id"], body["messagePermits"]
        if permits == 0:
            if self.switches.zero_flow == "close":
                raise Close
            return
        if permits >= 1 << 31 and self.switches.huge_flow == "close":
            raise Close
        if ("consumer", number) in self.opening:
            if self.switches.early_flow == "honour":
                self.early[number] = self.early.get(number, 0) + permits
            return
        consumer = self.consumers.get(number)
        if consumer is not None:
            consumer.grant(permits)
            consumer.subscription.wake()

    def deliver(self, consumer: Consumer, entry: Entry, again: int, ack_set: list[int]) -> None:
        """Send a MESSAGE (Message)."""
        body: Message = {
            "consumer_id": consumer.id,
            "message_id": consumer.subscription.topic.message_id(entry.id),
        }
        counted = consumer.subscription.kind in (SHARED, KEY_SHARED) or self.switches.exclusive_count
        if again and counted and self.switches.recommended:
            body["redelivery_count"] = again
        if ack_set:
            body["ack_set"] = ack_set
        if consumer.epoch is not None:
            body["consumer_epoch"] = consumer.epoch
        self.say_message(body, entry.block, self.checksum_for(entry))

    def checksum_for(self, entry: Entry) -> int | None:
        """The checksum of a MESSAGE, None to a client that is too old for it."""
        strips = self.switches.profile == "modern" and self.switches.recommended
        return entry.checksum if self.version >= (11 if strips else 6) else None

    def understands(self, entry: Entry) -> bool:
        """False for what the client is too old for: batches below version 4, compression below version 3."""
        return not (entry.batched and self.version < 4) and not (entry.compressed and self.version < 3)

    def give_up_on(self, _consumer: Consumer) -> None:
        """There is a message that this client cannot read. It is too old to have only its consumer closed."""
        self.end()

    def tell_active(self, consumer: Consumer, active: bool) -> None:
        """Say whether a consumer is the one that receives (ActiveConsumerChange)."""
        if self.broker.version >= SINCE["ACTIVE_CONSUMER_CHANGE"]:
            self.say("ACTIVE_CONSUMER_CHANGE", {"consumer_id": consumer.id, "is_active": active})

    def check_end(self, consumer: Consumer) -> None:
        """Say that nothing will come any more, where that is so (ReachedEndOfTopic)."""
        subscription = consumer.subscription
        if subscription.topic.terminated and subscription.mark == len(subscription.topic.entries):
            self.say("REACHED_END_OF_TOPIC", {"consumer_id": consumer.id})

    # Acknowledging

    def on_ack(self, body: Message) -> None:
        """Acknowledge (Ack). There is no answer unless it is asked for."""
        consumer = self.consumers.get(body["consumer_id"])
        if consumer is None:
            return
        if not body.get("message_id") and self.switches.empty_ack == "close" and self.switches.profile == "seed":
            raise Close
        if self.switches.acks == "late" and "request_id" not in body:
            self.late.append(lambda: self.acknowledge(consumer, body))
            if len(self.late) == 1:
                self.broker.later(self.switches.linger_ms, self.catch_up)
        else:
            self.catch_up()
            self.acknowledge(consumer, body)
            if "request_id" in body:
                self.say("ACK_RESPONSE", {"consumer_id": consumer.id, "request_id": body["request_id"]})

    def acknowledge(self, consumer: Consumer, body: Message) -> None:
        """Let an acknowledgement take effect."""
        subscription, ids = consumer.subscription, body.get("message_id", [])
        if body["ack_type"] == 1:
            if len(ids) == 1 and self.may_ack_upto(subscription):
                self.ack_upto(subscription, ids[0])
        else:
            for each in ids:
                self.ack_one(subscription, each)
        for each in [*subscription.consumers]:
            each.session.check_end(each)

    def may_ack_upto(self, subscription: Subscription) -> bool:
        """Cumulative acknowledgement is for subscriptions with one consumer that receives."""
        return subscription.single

    def ack_one(self, subscription: Subscription, message_id: Message) -> None:
        """Acknowledge what an id names: an entry, or some indexes of its batch."""
        at = self.named(subscription, message_id)
        if at is None:
            return
        words = message_id.get("ack_set")
        if not words:
            subscription.ack(at)
        elif self.switches.batch_index_acks:
            subscription.ack_some(at, words)

    def ack_upto(self, subscription: Subscription, message_id: Message) -> None:
        """Acknowledge what an id names and everything before it."""
        at = self.named(subscription, message_id)
        if at is None:
            return
        subscription.ack_upto(at - 1)
        self.ack_one(subscription, message_id)

    def named(self, subscription: Subscription, message_id: Message) -> int | None:
        """Where the entry is that is acknowledged; None for what need not be."""
        at = subscription.topic.find(message_id)
        if at is None or at < subscription.mark:
            return None
        pushed = subscription.again.get(at, 0) > 0
        return at if pushed or self.switches.ack_unpushed == "ack" else None

    def on_redeliver_unacknowledged_messages(self, body: Message) -> None:
        """Push again (RedeliverUnacknowledgedMessages)."""
        consumer = self.consumers.get(body["consumer_id"])
        if consumer is None:
            return
        subscription = consumer.subscription
        standby = subscription.single and subscription.active is not consumer
        if standby and self.switches.standby_redelivery == "ignore":
            return
        if "consumer_epoch" in body:
            consumer.epoch = body["consumer_epoch"]
        ids = body.get("message_ids", [])
        found = [subscription.topic.find(each) for each in ids]
        subscription.redeliver(consumer, [at for at in found if at is not None] if ids else None)

    # The end of a consumer

    def on_close_consumer(self, body: Message) -> None:
        """Close a consumer (CloseConsumer)."""
        consumer = self.consumer_of(body["consumer_id"])
        if consumer is None:
            self.close_unknown(body, "MetadataError")
            return
        self.late.clear()
        self.forget_consumer(consumer)
        self.success(body["request_id"])

    def consumer_of(self, number: int) -> Consumer | None:
        """The consumer with this id, once a delayed request for it is done."""
        self.settle("consumer", number)
        return self.consumers.get(number)

    def forget_consumer(self, consumer: Consumer) -> None:
        """A consumer is gone; what it did not acknowledge goes to others."""
        self.consumers.pop(consumer.id, None)
        subscription = consumer.subscription
        if consumer in subscription.consumers:
            subscription.leave(consumer)
        if not subscription.durable and not subscription.consumers:
            subscription.topic.subscriptions.pop(subscription.name, None)

    def on_unsubscribe(self, body: Message) -> None:
        """Delete a subscription with its only consumer (Unsubscribe)."""
        consumer = self.consumer_of(body["consumer_id"])
        if consumer is None:
            self.on_refused(body["request_id"], Refused("MetadataError", "there is no such consumer"))
            return
        subscription = consumer.subscription
        if len(subscription.consumers) > 1 and not body.get("force", False):
            self.on_refused(body["request_id"], Refused("MetadataError", "others are connected"))
            return
        for other in [*subscription.consumers]:
            if other is not consumer:
                other.session.close_consumer(other)
        self.forget_consumer(consumer)
        subscription.topic.subscriptions.pop(subscription.name, None)
        self.success(body["request_id"])

    # Newer requests

    def on_seek(self, body: Message) -> None:
        """Move a subscription; its consumers are closed and come again (Seek)."""
        consumer = self.consumer_of(body["consumer_id"])
        request = body["request_id"]
        if consumer is None or ("message_id" not in body and "message_publish_time" not in body):
            self.on_refused(request, Refused("MetadataError", "no such consumer" if consumer is None else "where to?"))
            return
        subscription = consumer.subscription
        if self.switches.seek_order == "success-first":
            self.success(request)
        for each in [*subscription.consumers]:
            each.session.close_consumer(each)
        subscription.topic.subscriptions[subscription.name] = subscription
        subscription.rewind_to(self.sought(subscription, body))
        if self.switches.seek_order == "close-first":
            self.success(request)

    def sought(self, subscription: Subscription, body: Message) -> int:
        """Where a SEEK goes: the named message is the next one."""
        if "message_id" in body:
            return subscription.topic.position(body["message_id"])
        return subscription.topic.at_time(body["message_publish_time"])

    def on_get_last_message_id(self, body: Message) -> None:
        """The last message of a consumer's topic (GetLastMessageId)."""
        consumer = self.consumer_of(body["consumer_id"])
        if consumer is None:
            self.on_refused(body["request_id"], Refused("MetadataError", "there is no such consumer"))
            return
        topic = consumer.subscription.topic
        last: Message = {"ledgerId": NOWHERE, "entryId": NOWHERE}
        if topic.entries:
            entry = topic.entries[-1]
            last = topic.message_id(entry.id)
            if entry.batched:
                last["batch_index"] = entry.messages - 1
        found: Message = {"last_message_id": last, "request_id": body["request_id"]}
        if self.switches.optional_fields == "all" and consumer.subscription.mark:
            marked = topic.entries[consumer.subscription.mark - 1]
            found["consumer_mark_delete_position"] = topic.message_id(marked.id)
        self.say("GET_LAST_MESSAGE_ID_RESPONSE", found)

    def on_consumer_stats(self, body: Message) -> None:
        """How a consumer fares (ConsumerStats)."""
        consumer = self.consumer_of(body["consumer_id"])
        found: Message = {"request_id": body["request_id"]}
        if consumer is None:
            found |= {"error_code": self.code("ConsumerNotFound"), "error_message": "there is no such consumer"}
        else:
            subscription = consumer.subscription
            found |= {
                "consumerName": consumer.name,
                "availablePermits": max(0, consumer.permits),
                "unackedMessages": len(consumer.pending),
                "type": TYPES[subscription.kind],
                "msgBacklog": len(subscription.topic.entries) - subscription.mark - len(subscription.acked),
            }
        self.say("CONSUMER_STATS_RESPONSE", found)

    def on_get_topics_of_namespace(self, body: Message) -> None:
        """Which topics there are (GetTopicsOfNamespace)."""
        topics = [name for name in self.broker.topics if namespace_of(name) == body["namespace"]]
        self.say("GET_TOPICS_OF_NAMESPACE_RESPONSE", {"request_id": body["request_id"], "topics": topics})

    def on_get_schema(self, body: Message) -> None:
        """No schemas are kept (GetSchema)."""
        found = {"error_code": self.code("TopicNotFound"), "error_message": "there is no schema"}
        self.say("GET_SCHEMA_RESPONSE", {"request_id": body["request_id"], **found})

    def on_get_or_create_schema(self, body: Message) -> None:
        """Any schema is taken (GetOrCreateSchema)."""
        self.say("GET_OR_CREATE_SCHEMA_RESPONSE", {"request_id": body["request_id"], "schema_version": bytes(8)})

    # Of the broker's own accord

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

    def close_consumer(self, consumer: Consumer) -> None:
        """Close a consumer likewise (CloseConsumer)."""
        if self.version < 5:
            self.end()
            return
        self.forget_consumer(consumer)
        self.say("CLOSE_CONSUMER", {"consumer_id": consumer.id, "request_id": NOWHERE})

    def on_lost(self) -> None:
        """Free what the client had open, now or soon."""
        self.late.clear()
        self.opening.clear()
        delay = self.switches.cleanup_delay_ms
        if delay and (self.producers or self.consumers):
            self.broker.later(self.chance.randint(0, delay), self.clean_up)
        else:
            self.clean_up()

    def clean_up(self) -> None:
        """Free what the client had open."""
        for producer in [*self.producers.values()]:
            self.forget_producer(producer)
        for consumer in [*self.consumers.values()]:
            self.forget_consumer(consumer)
