"""One connection with all that its client has open: consumers, and what is done for them.

Source: 001_c0ea8805bb7ed422.txt, "Consumer". Newer commands as Pulsar's own pages have them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from impls.references.pulsar.asked import Taken
from impls.references.pulsar.connection import Close, Refused
from impls.references.pulsar.publishing import Publishing
from impls.references.pulsar.schema import SINCE
from impls.references.pulsar.subscription import EXCLUSIVE, KEY_SHARED, SHARED, Consumer, Subscription
from impls.references.pulsar.topic import NOWHERE, Entry, Topic, namespace_of
from impls.references.pulsar.wire import Message

if TYPE_CHECKING:
    from impls.references.pulsar.reference import Broker

TYPES = ("Exclusive", "Shared", "Failover", "Key_Shared")
UNLOAD = 0.02
"""How likely the broker unloads a topic after a command, with `unloads`."""


class Session(Publishing):
    """One connection with all that its client has open."""

    def __init__(self, broker: Broker, number: int) -> None:
        super().__init__(broker, number)
        self.consumers: dict[int, Consumer] = {}
        self.early: dict[int, int] = {}  # permits for consumers that are not open yet
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
            if "request_id" in body and self.broker.version >= SINCE["ACK_RESPONSE"]:
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
        if self.switches.batch_permits == "whole":
            subscription.wake()  # a batch that waited for more permits may be out of the way
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
        if not words or self.broker.version < SINCE["ACK_RESPONSE"]:  # who does not know the field reads the rest
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
        """See `Asked`."""
        super().clean_up()
        for consumer in [*self.consumers.values()]:
            self.forget_consumer(consumer)
