"""One connection to the server: what each frame of the client does.

Source: STOMP 1.2, "Connecting", "Client Frames", "Server Frames", "Heart-beating" and "Connection Lingering"; STOMP 1.1
and 1.0 where a session agreed on those.
"""

from __future__ import annotations

import math
import re
from collections import deque
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from impls.stomp.broker import Delivery, Message, Refused, Subscription
from impls.stomp.parser import Frame, Malformed, OverLimit

if TYPE_CHECKING:
    from impls.stomp.reference import Server

Phase = Enum("Phase", ["OPEN", "LIVE", "LEAVING", "GONE"])
"""OPEN: before CONNECTED. LIVE: after it. LEAVING: after DISCONNECT. GONE: the server has closed."""

COMMANDS = {
    "1.0": frozenset("CONNECT STOMP SEND SUBSCRIBE UNSUBSCRIBE ACK BEGIN COMMIT ABORT DISCONNECT".split()),
    "1.1": frozenset("CONNECT STOMP SEND SUBSCRIBE UNSUBSCRIBE ACK NACK BEGIN COMMIT ABORT DISCONNECT".split()),
    "1.2": frozenset("CONNECT STOMP SEND SUBSCRIBE UNSUBSCRIBE ACK NACK BEGIN COMMIT ABORT DISCONNECT".split()),
}

IN_TRANSACTIONS = frozenset({"SEND", "ACK", "NACK"})

OURS = frozenset(
    "destination receipt transaction content-length message-id subscription ack redelivered".split()
)
"""Headers of SEND that do not go into the MESSAGE: they speak to the server, or they are the server's to write."""

MODES = {
    "1.0": ("auto", "client"),
    "1.1": ("auto", "client", "client-individual"),
    "1.2": ("auto", "client", "client-individual"),
}

_HEART_BEAT = re.compile(r"([0-9]{1,19}),([0-9]{1,19})")
_PLAIN_DESTINATION = re.compile(r"[!-9;-\[\]-~]+")  # visible ASCII but for what needs escaping

SERVER_NAME = "wireproof-reference/1 (in-process)"


class Settle(NamedTuple):
    """An ACK or a NACK, understood."""

    delivery: Delivery
    accepted: bool


class Transaction:
    """What an open transaction has collected, in order. Nothing of it has happened yet."""

    __slots__ = ("name", "work", "receipts", "size")

    def __init__(self, name: str) -> None:
        self.name = name
        self.work: list[Frame | Settle] = []
        self.receipts: list[str] = []
        self.size = 0


class Session:
    """One connection. Octets go in by `send` and come out by `take`; time passes with the server's `advance`."""

    def __init__(self, server: Server, number: int) -> None:
        self.server = server
        self.number = number
        self.switches = server.switches
        self.chance = server.chance
        self.phase = Phase.OPEN
        self.version = "1.2"
        self.commands: frozenset[str] = frozenset()
        self.parser = server.parser_type(server.switches)
        self.writer = server.writer_type(server.switches, server.chance)
        self.subscriptions: dict[object, Subscription] = {}
        self.transactions: dict[str, Transaction] = {}
        self.unacked: dict[object, Delivery] = {}
        self.tolerated: dict[object, None] = {}  # ids whose ACK is ignored rather than refused
        self.owed = 0  # what unacknowledged messages and transactions take
        self.beat_out = self.beat_in = 0  # ms, 0 for none
        self.heard = self.said = server.now
        self.hung = False
        self.busy_until = 0
        self.leaves_at: float = math.inf
        self._fresh: list[bytes] = []
        self._late: deque[tuple[int, bytes]] = deque()
        self._mark = 0

    # The contract

    def send(self, data: bytes) -> None:
        """Take octets from the client, in any pieces."""
        if self.listening and not self.hung and data:
            self.heard = self.server.now
            self.parser.feed(data)
            self.work()

    def take(self) -> bytes:
        """Give all octets for the client since the last call."""
        if self.switches.output_delay_ms:
            self._stamp()
            due = []
            while self._late and self._late[0][0] <= self.server.now:
                due.append(self._late.popleft()[1])
            return b"".join(due)
        if not self._fresh:
            return b""
        data = b"".join(self._fresh)
        self._fresh.clear()
        return data

    def hang_up(self) -> None:
        """The client ended the connection. What it sent before is still processed; half a frame is not."""
        self.hung = True
        if self.listening:
            self.work()
        else:
            self.end()

    @property
    def closed(self) -> bool:
        """True when the server has ended the connection, after what take() still gives."""
        return self.phase is Phase.GONE and (not self._late or self._late[-1][0] <= self.server.now)

    @property
    def listening(self) -> bool:
        """True while frames of the client have an effect."""
        return self.phase is Phase.LIVE or self.phase is Phase.OPEN

    # Octets in

    def work(self) -> None:
        """Process the frames that are complete, as far as time allows."""
        delay = self.switches.work_delay_ms
        while self.listening:
            if self.busy:
                return
            try:
                frame = self.parser.next()
            except Malformed as malformed:
                self.on_malformed(malformed)
                return
            if frame is None:
                self.on_drained()
                return
            self.handle(frame)
            if delay:
                self.busy_until = self.server.now + self.chance.randint(0, delay)

    @property
    def busy(self) -> bool:
        """True while the last frame takes its time."""
        return self.busy_until > self.server.now

    def on_drained(self) -> None:
        """All complete frames are processed."""
        if self.phase is Phase.OPEN and self.parser.command not in (None, "CONNECT", "STOMP"):
            # No need to wait for the end of whatever this is: an HTTP request, for one, has none that we would see.
            self.fail("the first frame must be CONNECT")
        elif self.hung:
            self.on_lost_connection()
            self.end()

    def handle(self, frame: Frame) -> None:
        """Process one frame: its effect, then its receipt."""
        self._mark = len(self._fresh)
        try:
            if self.phase is Phase.OPEN:
                self.on_first(frame)
                return
            command = frame.command
            if command not in self.commands:
                self.on_unknown(frame)
                return
            if frame.body and command != "SEND":
                raise Refused("only SEND may have a body")
            getattr(self, "on_" + command)(frame)
        except Refused as refused:
            self.fail(str(refused), frame, *refused.headers)
            return
        if "receipt" in frame.first and self.listening:
            self.on_receipt(frame)
        if command == "DISCONNECT":
            self.leave()

    def required(self, frame: Frame, name: str) -> str:
        """The value of a header that must be there and not be empty. Raises Refused."""
        value = frame.first.get(name)
        if not value:
            raise Refused(f"{name} is missing" if value is None else f"{name} is empty")
        return value

    def on_unknown(self, frame: Frame) -> None:
        """A command that clients do not have (STOMP 1.2, Client Frames). Ignored, it gets no receipt either."""
        if self.switches.unknown_command == "error":
            raise Refused("no such command")

    def on_CONNECT(self, frame: Frame) -> None:
        """A second CONNECT. The text does not provide for it."""
        raise Refused("the session has begun already")

    on_STOMP = on_CONNECT

    def on_malformed(self, malformed: Malformed) -> None:
        """The stream is broken or too large."""
        if self.switches.silent_close or (isinstance(malformed, OverLimit) and self.switches.over_limit == "close"):
            self.on_lost_connection()
            self.end()
        else:
            self.fail(str(malformed), malformed.frame)

    # Connecting

    def on_first(self, frame: Frame) -> None:
        """CONNECT or STOMP, and nothing else, starts a session (STOMP 1.2, Connecting)."""
        if frame.command not in ("CONNECT", "STOMP"):
            raise Refused("the first frame must be CONNECT")
        if frame.body:
            raise Refused("only SEND may have a body")
        version = self.negotiate(frame)
        self.admit(frame, version)
        self.version = self.parser.version = version
        self.commands = COMMANDS[version]
        self.on_connected(frame)

    def negotiate(self, frame: Frame) -> str:
        """The highest version that both sides know (STOMP 1.2, Protocol Negotiation). Raises Refused."""
        ours = self.switches.versions.split(",")
        common = [version for version in self.offered(frame) if version in ours]
        if not common:
            raise Refused("no version in common", ("version", self.switches.versions))
        return max(common)  # the three that exist are in the order of their texts

    def offered(self, frame: Frame) -> list[str]:
        """The versions a client speaks. One that does not say speaks 1.0."""
        return frame.first.get("accept-version", "1.0").split(",")

    def admit(self, frame: Frame, version: str) -> None:
        """Raise Refused when the client may not enter."""
        switches = self.switches
        host = frame.first.get("host")
        if host is None:
            if version != "1.0" and switches.missing_host == "refuse":
                raise Refused("a host header is required")
        elif switches.unknown_host == "refuse" and host not in switches.hosts.split(","):
            raise Refused("no such host")
        if switches.login:
            given = frame.first.get("login"), frame.first.get("passcode", "")
            if given != (switches.login, switches.passcode):
                raise Refused("login and passcode do not fit")

    def on_connected(self, frame: Frame) -> None:
        """Answer CONNECTED."""
        minimal = self.switches.connected_headers == "minimal"
        headers = []
        if self.version != "1.0" or "accept-version" in frame.first or self.switches.version_in_1_0:
            headers.append(("version", self.version))
        if self.version == "1.0" or not minimal:
            headers.append(("session", self.server.session_id(self)))
        if not minimal:
            headers.append(("server", SERVER_NAME))
        if self.version != "1.0":
            self.agree_on_beats(frame)
            if not minimal or self.switches.heart_beat != "0,0":
                headers.append(("heart-beat", self.switches.heart_beat))
        self.writer.agree(self.version)
        self.emit("CONNECTED", headers)
        self.phase = Phase.LIVE

    # Heart-beats

    def agree_on_beats(self, frame: Frame) -> None:
        """Settle both intervals (STOMP 1.2, Heart-beating). Raises Refused."""
        found = _HEART_BEAT.fullmatch(frame.first.get("heart-beat", "0,0"))
        if found is None:
            raise Refused("heart-beat is not two numbers")
        can, wants = map(int, self.switches.heart_beat.split(","))
        self.beat_out = self.beat_interval(can, int(found[2]))
        self.beat_in = self.beat_interval(wants, int(found[1]))

    def beat_interval(self, one: int, other: int) -> int:
        """The interval of one direction, from what its two sides said."""
        return max(one, other) if one and other else 0

    def beat_due(self) -> float:
        """When the next heart-beat is sent: a quarter of the interval early, so that it is never late."""
        return self.said + max(1, self.beat_out * 3 // 4) if self.beat_out else math.inf

    def overdue_at(self) -> float:
        """When a silent client is given up. The text asks for a margin; this one is a whole interval."""
        if not self.beat_in or self.switches.overdue_client == "ignore":
            return math.inf
        return self.heard + 2 * self.beat_in + 1

    def beat(self) -> None:
        """Send a heart-beat."""
        self._fresh.append(self.writer.eol())
        self.said = self.server.now

    def on_overdue(self) -> None:
        """The client has been silent for too long."""
        if self.switches.overdue_client == "error":
            self.fail("no heart-beat came")
        else:
            self.on_lost_connection()
            self.end()

    # Time

    def due(self) -> float:
        """When `tick` has something to do."""
        if self.phase is Phase.LEAVING:
            return self.leaves_at
        work = self.busy_until if self.listening and self.busy else math.inf
        if self.phase is Phase.LIVE:
            return min(work, self.beat_due(), self.overdue_at())
        return work

    def tick(self) -> None:
        """Do what is due by now."""
        now = self.server.now
        if self.phase is Phase.LEAVING:
            if self.leaves_at <= now:
                self.end()
            return
        if self.busy_until == now:
            self.work()
        if self.phase is Phase.LIVE and self.overdue_at() <= now:
            self.on_overdue()
        if self.phase is Phase.LIVE and self.beat_due() <= now:
            self.beat()

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
        return name

    def publish(self, frame: Frame) -> None:
        """Let a SEND take effect."""
        number = "" if self.server.id_for_each_copy else self.server.message_id()
        headers = self.pass_through(frame)
        self.server.broker.route(Message(number, frame.first["destination"], headers, frame.body, frame.size), self)

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
            number, key = None, (name, self.server.count())
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
            if delivery.message.id == number and wanted in (None, delivery.subscription.id):
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
        delivery.subscription.destination.dispatch()

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
        if len(self.tolerated) > 1000:
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

    def commit(self, transaction: Transaction) -> None:
        """Do the work of a transaction, in order."""
        for work in transaction.work:
            if isinstance(work, Settle):
                self.settle(work.delivery, work.accepted)
            else:
                self.publish(work)

    def abort(self, transaction: Transaction) -> None:
        """Forget the work of a transaction. What its ACKs named was never settled, so nothing is to be undone."""
        transaction.work.clear()

    # The end

    def on_DISCONNECT(self, frame: Frame) -> None:
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

    def leave(self) -> None:
        """DISCONNECT is done with: close, or let the client do it."""
        if self.switches.disconnect == "server-closes" or self.hung:
            self.end()
        else:
            self.phase = Phase.LEAVING
            self.leaves_at = self.server.now + self.switches.linger_ms

    def end(self) -> None:
        """Close the connection."""
        self.phase = Phase.GONE
        self.server.sessions.pop(self.number, None)
        self.parser = self.server.parser_type(self.switches)
        if self.switches.output_delay_ms:
            self._stamp()

    # Frames out

    def on_receipt(self, frame: Frame) -> None:
        """A frame that asked for a receipt was processed (STOMP 1.2, RECEIPT)."""
        if (
            self.switches.transaction_receipts == "at-commit"
            and frame.command in IN_TRANSACTIONS
            and "transaction" in frame.first
        ):
            self.transactions[frame.first["transaction"]].receipts.append(frame.first["receipt"])
        else:
            self.receipt(frame.first["receipt"])

    def receipt(self, receipt: str) -> None:
        """Send a RECEIPT, before or behind what the frame has caused on this connection."""
        headers = [("receipt-id", receipt)]
        order = self.switches.receipt_order
        self.emit("RECEIPT", headers)
        if order != "after" and self._mark < len(self._fresh) - 1:
            place = self._mark if order == "before" else self.chance.randint(self._mark, len(self._fresh) - 1)
            self._fresh.insert(place, self._fresh.pop())

    def has_room(self, subscription: Subscription) -> bool:
        """True when a subscription in a client mode may get another message before it acknowledges one."""
        switches = self.switches
        return (
            len(subscription.unacked) < switches.window
            and len(self.unacked) < switches.max_open
            and self.owed < switches.max_owed
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

    def ack_key(self, subscription: Subscription, message: Message) -> str | tuple[object, str]:
        """What the client will name a delivery by."""
        return self.server.ack_id(message) if self.version == "1.2" else (subscription.key, message.id)

    def message_headers(
        self, subscription: Subscription, message: Message, ack: str | tuple[object, str] | None
    ) -> list[tuple[str, str]]:
        """The headers of a MESSAGE: the server's, then those of the SEND."""
        headers = [("destination", message.destination), ("message-id", message.id)]
        if subscription.id is not None:
            headers.append(("subscription", subscription.id))
        elif self.switches.anonymous_subscription == "destination":
            headers.append(("subscription", subscription.destination.name))
        if isinstance(ack, str):
            headers.append(("ack", ack))
        if message.redelivered and self.switches.redelivered_header:
            headers.append(("redelivered", "true"))
        headers += message.headers
        if message.body and not any(name == "content-type" for name, _ in message.headers):
            headers.append(("content-type", "application/octet-stream"))
        return headers

    def fail(self, why: str, frame: Frame | None = None, *headers: tuple[str, str]) -> None:
        """Send an ERROR about a frame, and close (STOMP 1.2, ERROR). Nothing follows."""
        self.on_lost_connection()
        known = frame is not None and frame.command in self.commands
        told = [("message", f"{frame.command}: {why}" if frame and known else why), *headers]
        if frame and "receipt" in frame.first and frame.command not in ("CONNECT", "STOMP"):
            told.append(("receipt-id", frame.first["receipt"]))
        body = b""
        if self.switches.error_body:
            told.append(("content-type", "text/plain"))
            body = f"The connection is closed, because {why}.\n".encode()
        self.emit("ERROR", told, body)
        self.end()

    def emit(self, command: str, headers: list[tuple[str, str]], body: bytes = b"") -> None:
        """Send a frame."""
        switches = self.switches
        if switches.extra_headers:
            headers = [*headers, *self.server.extra_headers(command)]
        if switches.extra_beats and self.phase is Phase.LIVE and self.chance.random() < 0.2:
            self._fresh.append(self.writer.eol())
        self._fresh.append(self.writer.encode(command, headers, body))
        self.said = self.server.now

    def _stamp(self) -> None:
        """Say when each frame that was sent becomes due: soon, but not before the one ahead of it."""
        last = self._late[-1][0] if self._late else 0
        for data in self._fresh:
            last = max(last, self.server.now + self.chance.randint(0, self.switches.output_delay_ms))
            self._late.append((last, data))
        self._fresh.clear()

    def stamp(self) -> None:
        """Called before time passes."""
        if self.switches.output_delay_ms and self._fresh:
            self._stamp()

    def output_due(self) -> float:
        """When take() has more to give."""
        return self._late[0][0] if self._late else math.inf
