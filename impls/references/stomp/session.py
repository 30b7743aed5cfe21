"""What each frame of a client does.

Source: STOMP 1.2, "Client Frames" and "Server Frames"; STOMP 1.1 and 1.0 where a session agreed on those.
"""

# ruff: noqa: N802  The handlers bear the names of the commands that they handle.

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from impls.references.stomp.broker import Delivery, Destination, Message, Refused, Subscription
from impls.references.stomp.connection import Connection
from impls.references.stomp.parser import Frame

if TYPE_CHECKING:
    from impls.references.stomp.reference import Server

IN_TRANSACTIONS = frozenset({"SEND", "ACK", "NACK"})

OURS = frozenset(
    {"destination", "receipt", "transaction", "content-length", "message-id", "subscription", "ack", "redelivered"}
)
"""Headers of SEND that do not go into the MESSAGE: they speak to the server, or they are the server's to write."""

MODES = {
    "1.0": ("auto", "client"),
    "1.1": ("auto", "client", "client-individual"),
    "1.2": ("auto", "client", "client-individual"),
}

MAX_TOLERATED = 1000

_PLAIN_DESTINATION = re.compile(r"[!-9;-\[\]-~]+")  # visible ASCII but for what needs escaping


class Settle(NamedTuple):
    """An ACK or a NACK, understood."""

    delivery: Delivery
    accepted: bool


class Transaction:
    """What an open transaction has collected, in order. Nothing of it has happened yet."""

    __slots__ = ("name", "receipts", "size", "work")

    def __init__(self, name: str) -> None:
        self.name = name
        self.work: list[Frame | Settle] = []
        self.receipts: list[str] = []
        self.size = 0


class Session(Connection):
    """One connection with all that its client has open. Each handler raises Refused for what cannot be processed."""

    def __init__(self, server: Server, number: int) -> None:
        super().__init__(server, number)
        self.subscriptions: dict[object, Subscription] = {}
        self.transactions: dict[str, Transaction] = {}
        self.unacked: dict[object, Delivery] = {}
        self.tolerated: dict[object, None] = {}  # ids whose ACK is ignored rather than refused
        self.owed = 0  # what unacknowledged messages and transactions take

    def on_CONNECT(self, _frame: Frame) -> None:
        """A second CONNECT. The text does not provide for it."""
        raise Refused("the session has begun already")

    def on_STOMP(self, frame: Frame) -> None:
        """As CONNECT (STOMP 1.2, CONNECT or STOMP Frame)."""
        self.on_CONNECT(frame)

    # SEND

    def on_SEND(self, frame: Frame) -> None:
        """Pass a message to its destination, or to its transaction (STOMP 1.2, SEND)."""
        name = self.destination_of(frame)
        self.server.broker.make_room(name, frame.size)
        if "transaction" in frame.first:
            self.collect(frame, frame, frame.size)
        else:
            self.publish(frame)

    def destination_of(self, frame: Frame) -> str:
        """The destination header. Raises Refused."""
        name = self.required(frame, "destination")
        if self.switches.odd_destination == "refuse" and not _PLAIN_DESTINATION.fullmatch(name):
            raise Refused("no such destination")
        if self.switches.long_destination == "refuse" and len(name) > 200:
            raise Refused("no such destination")
        return name

    def publish(self, frame: Frame) -> None:
        """Let a SEND take effect."""
        number = "" if self.server.id_for_each_copy else self.server.message_id()
        headers = self.pass_through(frame)
        message = Message(number, frame.first["destination"], headers, frame.body, frame.size)
        if self.switches.senders_ack:
            message = message._replace(ack=frame.first.get("ack", ""))
        self.server.broker.route(message, self)

    def pass_through(self, frame: Frame) -> list[tuple[str, str]]:
        """The headers of a SEND that its MESSAGE has too (STOMP 1.2, SEND, Repeated Header Entries)."""
        if self.switches.repeated_headers == "drop" and len(frame.first) < len(frame.headers):
            names = dict.fromkeys(name for name, _ in frame.headers)
            return [(name, frame.first[name]) for name in names if name not in OURS]
        return [header for header in frame.headers if header[0] not in OURS]

    # SUBSCRIBE and UNSUBSCRIBE

    def on_SUBSCRIBE(self, frame: Frame) -> None:
        """Start a subscription (STOMP 1.2, SUBSCRIBE)."""
        name = self.destination_of(frame)
        mode = frame.first.get("ack", "auto")
        if mode not in MODES[self.version]:
            raise Refused("no such ack mode")
        if self.version == "1.0" and "id" not in frame.first:
            # No id of 1.0 has an LF, so this key is free.
            number, key = None, f"\n{self.server.count()}"
        else:
            number = key = self.required(frame, "id")
        if key in self.subscriptions:
            raise Refused("the subscription id is in use")
        if len(self.subscriptions) >= self.switches.max_open:
            raise Refused("too many subscriptions")
        destination = self.server.broker.find(name)
        self.subscriptions[key] = Subscription(key, number, self, destination, mode)
        self.server.broker.subscribe(self.subscriptions[key])

    def on_UNSUBSCRIBE(self, frame: Frame) -> None:
        """End a subscription (STOMP 1.2, UNSUBSCRIBE)."""
        if self.version == "1.0" and "id" not in frame.first:
            name = self.required(frame, "destination")
            ended = [each for each in self.subscriptions.values() if each.destination.name == name]
            # Those without an id are the ones that can be meant; clients that mix both forms get what they hoped for.
            ended = [each for each in ended if each.id is None] or ended[:1]
        else:
            number = self.required(frame, "id")
            ended = [self.subscriptions[number]] if number in self.subscriptions else []
        if not ended:
            raise Refused("no such subscription")
        for subscription in ended:
            self.unsubscribe(subscription)

    def unsubscribe(self, subscription: Subscription) -> None:
        """Remove a subscription, and see to what it did not acknowledge. The text is silent on that."""
        del self.subscriptions[subscription.key]
        self.server.broker.unsubscribe(subscription)
        pending = list(subscription.unacked.values())
        for delivery in pending:
            self.release(delivery)
            if self.switches.late_ack == "ignore":
                self.tolerate(delivery.key)
        if self.switches.unsubscribed == "requeue":
            self.server.broker.take_back(pending, "front")
        if self.switches.prefetch_scope != "subscription":
            self.refill(subscription.destination)

    # ACK and NACK

    def on_ACK(self, frame: Frame) -> None:
        """Consume (STOMP 1.2, ACK)."""
        self.on_settle(frame, accepted=True)

    def on_NACK(self, frame: Frame) -> None:
        """Reject (STOMP 1.2, NACK)."""
        self.on_settle(frame, accepted=False)

    def on_settle(self, frame: Frame, accepted: bool) -> None:
        """Settle what an ACK or NACK names, now or with its transaction."""
        delivery = self.named_by(frame)
        if "transaction" in frame.first:
            # Even if there is nothing to settle, the transaction must exist.
            self.collect(frame, Settle(delivery, accepted) if delivery else None, 100)
        elif delivery:
            self.settle(delivery, accepted)

    def named_by(self, frame: Frame) -> Delivery | None:
        """The delivery that an ACK or NACK names; None when it is one that is ignored. Raises Refused."""
        key = self.key_of(frame)
        delivery = self.unacked.get(key)
        if delivery is None and key not in self.tolerated:
            raise Refused("no message waits for this acknowledgement")
        return delivery

    def key_of(self, frame: Frame) -> object:
        """What names a delivery: id in 1.2, message-id and subscription in 1.1, in 1.0 also without the latter."""
        if self.version == "1.2":
            return self.required(frame, "id")
        number = self.required(frame, "message-id")
        if self.version == "1.1":
            return self.required(frame, "subscription"), number
        wanted = frame.first.get("subscription")
        for delivery in self.unacked.values():
            if delivery.message.id == number and wanted in (None, self.subscription_header(delivery.subscription)):
                return delivery.key
        return next((key for key in self.tolerated if isinstance(key, tuple) and key[1] == number), number)

    def settle(self, delivery: Delivery, accepted: bool) -> None:
        """Let an ACK or NACK take effect. Does nothing for what has been settled since it was named."""
        if self.unacked.get(delivery.key) is not delivery:
            return
        settled = self.covered_by(delivery)
        for each in settled:
            self.release(each)
        if not accepted:
            self.reject(settled)
        self.refill(delivery.subscription.destination)

    def refill(self, destination: Destination) -> None:
        """Deliver what there is room for now: from `destination`, or to all that share the connection's window."""
        shared = self.switches.prefetch_scope != "subscription"
        places = dict.fromkeys(each.destination for each in self.subscriptions.values()) if shared else (destination,)
        for place in places:
            place.dispatch()

    def covered_by(self, delivery: Delivery) -> list[Delivery]:
        """What an acknowledgement settles, in the order of delivery."""
        mode = delivery.subscription.mode
        if mode == "client-individual" or (self.version == "1.0" and self.switches.client_ack_1_0 == "single"):
            return [delivery]
        return self.settle_upto(delivery)

    def settle_upto(self, delivery: Delivery) -> list[Delivery]:
        """A delivery and all unsettled ones before it on its subscription: client mode is cumulative."""
        covered = []
        for each in delivery.subscription.unacked.values():
            covered.append(each)
            if each is delivery:
                break
        return covered

    def reject(self, deliveries: list[Delivery]) -> None:
        """Do with rejected messages what this server does with them."""
        how = self.switches.nack
        if how == "dead-letter":
            for delivery in deliveries:
                self.server.broker.bury(delivery.message)
        elif how != "discard":
            self.server.broker.take_back(deliveries, how.removeprefix("requeue-"))

    def release(self, delivery: Delivery) -> None:
        """A delivery is no longer outstanding."""
        del self.unacked[delivery.key]
        del delivery.subscription.unacked[delivery.key]
        self.owed -= delivery.message.size

    def tolerate(self, key: object) -> None:
        """Ignore an ACK for this from now on. Old ones are forgotten."""
        self.tolerated[key] = None
        if len(self.tolerated) > MAX_TOLERATED:
            del self.tolerated[next(iter(self.tolerated))]

    # Transactions

    def on_BEGIN(self, frame: Frame) -> None:
        """Open a transaction (STOMP 1.2, BEGIN)."""
        name = self.required(frame, "transaction")
        if name in self.transactions:
            raise Refused("the transaction is open already")
        if len(self.transactions) >= self.switches.max_open:
            raise Refused("too many transactions")
        self.transactions[name] = Transaction(name)

    def on_COMMIT(self, frame: Frame) -> None:
        """Let all of a transaction take effect (STOMP 1.2, COMMIT)."""
        transaction = self.close_transaction(frame)
        self.commit(transaction)
        for receipt in transaction.receipts:
            self.receipt(receipt)

    def on_ABORT(self, frame: Frame) -> None:
        """Let nothing of a transaction take effect (STOMP 1.2, ABORT)."""
        transaction = self.close_transaction(frame)
        self.abort(transaction)
        if self.switches.abort_receipts == "given":
            for receipt in transaction.receipts:
                self.receipt(receipt)

    def open_transaction(self, frame: Frame) -> Transaction:
        """The transaction that a frame names. Raises Refused."""
        found = self.transactions.get(self.required(frame, "transaction"))
        if found is None:
            raise Refused("no such transaction")
        return found

    def close_transaction(self, frame: Frame) -> Transaction:
        """The transaction that a frame ends, which is then no longer open. Raises Refused."""
        transaction = self.open_transaction(frame)
        del self.transactions[transaction.name]
        self.owed -= transaction.size
        return transaction

    def collect(self, frame: Frame, work: Frame | Settle | None, size: int) -> None:
        """Keep work for the end of its transaction. Raises Refused."""
        transaction = self.open_transaction(frame)
        if self.owed + size > self.switches.max_owed:
            raise Refused("the transaction is too large")
        if work is not None:
            transaction.work.append(work)
        transaction.size += size
        self.owed += size

    def on_receipt(self, frame: Frame) -> None:
        """The text does not say when a frame in a transaction has been processed: on arrival, or at COMMIT."""
        late = self.switches.transaction_receipts == "at-commit" and frame.command in IN_TRANSACTIONS
        if late and "transaction" in frame.first:
            self.open_transaction(frame).receipts.append(frame.first["receipt"])
        else:
            super().on_receipt(frame)

    def commit(self, transaction: Transaction) -> None:
        """Do the work of a transaction, in order. Raises Refused before it does any."""
        if self.switches.settled_meanwhile == "error":
            named = (work.delivery for work in transaction.work if isinstance(work, Settle))
            if any(self.unacked.get(delivery.key) is not delivery for delivery in named):
                raise Refused("an acknowledgement of the transaction has nothing to settle any more")
        for work in transaction.work:
            if isinstance(work, Settle):
                self.settle(work.delivery, work.accepted)
            else:
                self.publish(work)

    def abort(self, transaction: Transaction) -> None:
        """Forget the work of a transaction. What its ACKs named was never settled, so nothing is to be undone."""
        transaction.work.clear()

    # MESSAGE

    def has_room(self, subscription: Subscription) -> bool:
        """True when a subscription in a client mode may get another message before it acknowledges one."""
        switches = self.switches
        waiting = subscription.unacked if switches.prefetch_scope == "subscription" else self.unacked
        return (
            len(waiting) < switches.window and len(self.unacked) < switches.max_open and self.owed < switches.max_owed
        )

    def deliver(self, subscription: Subscription, message: Message) -> None:
        """Send a MESSAGE (STOMP 1.2, MESSAGE), and note that it is outstanding if it needs an acknowledgement."""
        if not message.id:
            message = message._replace(id=self.server.message_id())
        ack = None
        if subscription.mode != "auto":
            key = self.ack_key(subscription, message)
            delivery = Delivery(key, self.server.count(), subscription, message)
            self.unacked[key] = subscription.unacked[key] = delivery
            self.owed += message.size
            ack = key
        elif self.switches.ack_on_auto or self.switches.ack_of_auto == "ignore":
            ack = self.ack_key(subscription, message)
            if self.switches.ack_of_auto == "ignore":
                self.tolerate(ack)
                self.tolerate(message.id)
            ack = ack if self.switches.ack_on_auto else None
        self.emit("MESSAGE", self.message_headers(subscription, message, ack), message.body)

    def ack_key(self, subscription: Subscription, message: Message) -> str | tuple[str, str]:
        """What the client will name a delivery by."""
        return self.server.ack_id(message) if self.version == "1.2" else (subscription.key, message.id)

    def subscription_header(self, subscription: Subscription) -> str | None:
        """What MESSAGE calls a subscription. In 1.0 one without an id need not have a name."""
        if subscription.id is None and self.switches.anonymous_subscription == "destination":
            return subscription.destination.name
        return subscription.id

    def message_headers(
        self, subscription: Subscription, message: Message, ack: str | tuple[str, str] | None
    ) -> list[tuple[str, str]]:
        """The headers of a MESSAGE: the server's, then those of the SEND."""
        headers = [("destination", message.destination), ("message-id", message.id)]
        if (number := self.subscription_header(subscription)) is not None:
            headers.append(("subscription", number))
        if own := ack if isinstance(ack, str) else message.ack:
            headers.append(("ack", own))
        if message.redelivered and self.switches.redelivered_header:
            headers.append(("redelivered", "true"))
        headers += message.headers
        if message.body and not any(name == "content-type" for name, _ in message.headers):
            headers.append(("content-type", "application/octet-stream"))
        return headers

    # The end

    def on_DISCONNECT(self, _frame: Frame) -> None:
        """Give up all that the client had open; the receipt and the close follow (STOMP 1.2, DISCONNECT)."""
        self.on_lost_connection()

    def on_lost_connection(self) -> None:
        """Abort transactions, end subscriptions, redeliver what was not acknowledged."""
        for transaction in self.transactions.values():
            self.abort(transaction)
        self.transactions.clear()
        for subscription in self.subscriptions.values():
            self.server.broker.unsubscribe(subscription)
        pending = list(self.unacked.values())
        self.subscriptions.clear()
        self.unacked.clear()
        self.tolerated.clear()
        self.owed = 0
        self.server.broker.take_back(pending, self.switches.redelivery)
