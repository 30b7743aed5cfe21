"""The reference client: told what to do, it sends, subscribes and acknowledges, and reports what came of it.

`Caller` is the client without a network: octets and commands in, octets and reports out. It is judged in memory (see
`client_memory`); `python -m impls.references.stomp client` is the same behind a socket and JSON lines. The commands are
those of docs/implementations.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from impls.references.stomp.client_channel import Channel, Phase
from impls.references.stomp.client_orders import Command, Failed, Waits
from impls.references.stomp.client_speaker import MESSAGE, Speaker
from impls.references.stomp.client_switches import ADVISED, CLIENT_SWITCHES, ClientSwitches, draw, from_text
from impls.references.stomp.client_wire import ClientWriter, Header, ServerReader, Unsayable
from impls.references.stomp.parser import Frame

__all__ = [
    "ADVISED",
    "CLIENT_SWITCHES",
    "Caller",
    "Channel",
    "ClientSwitches",
    "ClientWriter",
    "Delivery",
    "Failed",
    "Phase",
    "ServerReader",
    "Subscription",
    "Waits",
    "from_text",
]

RESERVED = frozenset({"destination", "transaction", "receipt", "content-length"})
"""Headers of SEND that say how it is sent: those the client sets itself, whatever the application brings."""


@dataclass(eq=False)
class Subscription:
    """One subscription. `name` is what the application calls it, `id` what the server does (None: nothing)."""

    name: str
    id: str | None
    destination: str
    mode: str
    open: list[Delivery] = field(default_factory=list)  # not settled yet, in the order of delivery
    held: Delivery | None = None  # settled, and the server is told a little later


@dataclass(eq=False)
class Delivery:
    """One message that was delivered."""

    subscription: Subscription
    frame: Frame
    number: int

    @property
    def ref(self) -> str:
        """What the application calls it."""
        return f"m{self.number}"


class Caller(Speaker):
    """Commands in by `told`, reports out by `reports`; `channels` are the connections that it opened, in order."""

    @classmethod
    def random(cls, seed: int, **fixed: Any) -> Self:
        """A client with every switch drawn by `seed`, but for those in `fixed`."""
        return cls(seed=seed, **{**draw(seed), **fixed})

    def reset(self) -> None:
        """Nothing is open."""
        super().reset()
        self.subscriptions: dict[str, Subscription] = {}  # by name
        self.removed: dict[str, Subscription] = {}  # by id
        self.transactions: dict[str, str] = {}  # the id by name
        self.unsaid: set[str] = set()  # names of transactions whose BEGIN is not sent yet
        self.settling: dict[str, list[tuple[Subscription, list[Delivery]]]] = {}  # by the name of the transaction
        self.inbox: list[Delivery] = []
        self.refs: dict[str, Delivery] = {}

    def commands(self) -> Mapping[str, Command]:
        """What the client can be told."""
        return {
            "connect": self.do_connect, "send": self.do_send, "subscribe": self.do_subscribe, "ack": self.do_ack,
            "unsubscribe": self.do_unsubscribe, "nack": self.do_nack, "begin": self.do_begin,
            "commit": self.do_commit, "abort": self.do_abort, "receive": self.do_receive,
            "disconnect": self.do_disconnect,
        }  # fmt: skip

    def do_send(self, given: Mapping[str, Any]) -> Any:
        """Send a message."""
        body = bytes.fromhex(given.get("body_hex") or "")
        headers = [("destination", given["destination"]), *self.user_headers(given.get("headers") or {}, body)]
        return self.frame("SEND", [*headers, *self.in_transaction(given)], given, body)

    def user_headers(self, given: Mapping[str, str], body: bytes) -> list[Header]:
        """What the application adds, and content-type where it says nothing of that."""
        found = [(name, value) for name, value in given.items() if name not in RESERVED]
        how = self.switches.content_type
        if body and how != "none" and "content-type" not in given:
            plain = how == "text" and self.is_text(body)
            found.append(("content-type", "text/plain" if plain else "application/octet-stream"))
        return found

    def is_text(self, body: bytes) -> bool:
        """Whether a body can be called text/plain."""
        try:
            body.decode()
        except UnicodeDecodeError:
            return False
        return True

    def in_transaction(self, given: Mapping[str, Any]) -> list[Header]:
        """The header `transaction`, if there is one. Raises Failed."""
        name = given.get("transaction")
        if name is None:
            return []
        if name not in self.transactions:
            raise Failed(f"there is no transaction {name!r}")
        self.say_begin(name)
        return [("transaction", self.transactions[name])]

    def say_begin(self, name: str) -> None:
        """Send the BEGIN that was held back."""
        if name in self.unsaid:
            self.unsaid.remove(name)
            self.frame_of_transaction("BEGIN", self.transactions[name], {})

    def do_subscribe(self, given: Mapping[str, Any]) -> Any:
        """Subscribe."""
        name, mode = given["sub"], given.get("ack") or "auto"
        if name in self.subscriptions:
            raise Failed(f"there is a subscription {name!r} already")
        channel = self.live()
        if mode not in ("auto", "client", "client-individual") or (channel.version == "1.0" and "-" in mode):
            raise Failed(f"STOMP {channel.version} has no ack mode {mode!r}")
        number = self.subscription_id(channel, name, given["destination"])
        subscription = Subscription(name, number, given["destination"], mode)
        self.subscriptions[name] = subscription
        headers = [("id", number)] if number is not None else []
        headers += [("ack", mode)] if mode != "auto" or self.switches.default_ack == "say" else []
        try:
            return self.frame("SUBSCRIBE", [("destination", given["destination"]), *headers], given)
        except Unsayable:
            del self.subscriptions[name]
            raise

    def subscription_id(self, channel: Channel, name: str, destination: str) -> str | None:
        """An id that no other subscription has. None where there need not be one."""
        alone = all(each.destination != destination for each in self.subscriptions.values())
        if channel.version == "1.0" and self.switches.anonymous_1_0 and alone:
            return None
        return self.identity("sub", name, self.switches.sub_ids)

    def do_unsubscribe(self, given: Mapping[str, Any]) -> Any:
        """End a subscription."""
        self.live()
        subscription = self.subscription(given["sub"])
        self.flush()
        del self.subscriptions[subscription.name]
        if subscription.id is not None:
            self.removed[subscription.id] = subscription
        if self.switches.unsubscribed == "drop":
            self.inbox = [each for each in self.inbox if each.subscription is not subscription]
        if subscription.id is None:
            return self.frame("UNSUBSCRIBE", [("destination", subscription.destination)], given)
        return self.frame("UNSUBSCRIBE", [("id", subscription.id)], given)

    def subscription(self, name: str) -> Subscription:
        """The subscription of this name. Raises Failed."""
        if name not in self.subscriptions:
            raise Failed(f"there is no subscription {name!r}")
        return self.subscriptions[name]

    # Acknowledgements

    def do_ack(self, given: Mapping[str, Any]) -> Any:
        """Tell the server that a message was consumed."""
        return self.answer_for("ACK", given)

    def do_nack(self, given: Mapping[str, Any]) -> Any:
        """Tell the server that a message was not consumed."""
        if self.live().version == "1.0":
            raise Failed("STOMP 1.0 has no NACK")
        return self.answer_for("NACK", given)

    def answer_for(self, command: str, given: Mapping[str, Any]) -> Any:
        """Send an ACK or a NACK. Raises Failed."""
        channel = self.live()
        if given["ref"] not in self.refs:
            raise Failed(f"there is no message {given['ref']!r}")
        delivery = self.refs[given["ref"]]
        subscription = delivery.subscription
        if subscription.mode == "auto":
            return self.unless_error(self.switches.ack_of_auto, "nobody waits for an ACK of this message")
        if delivery not in subscription.open:
            return self.unless_error(self.switches.settled_again, "this message is settled")
        headers = [*self.naming(channel, delivery), *self.in_transaction(given)]
        settled = self.settled_by(subscription, delivery)
        if given.get("transaction") is not None:
            self.settling[given["transaction"]].append((subscription, settled))
        subscription.open = [each for each in subscription.open if each not in settled]
        if command == "ACK" and self.may_hold(channel, subscription, given):
            subscription.held = delivery
            self.later(self.switches.ack_ms, self.flush)
            return True
        return self.frame(command, headers, given)

    def unless_error(self, how: str, why: str) -> bool:
        """Do nothing, and call that an error if `how` says so. Raises Failed."""
        if how == "error":
            raise Failed(why)
        return True

    def naming(self, channel: Channel, delivery: Delivery) -> list[Header]:
        """The headers by which an ACK or a NACK names a message. Raises Failed when the server gave it no name."""
        first, number = delivery.frame.first, delivery.subscription.id
        if channel.version == "1.2":
            if "ack" not in first:
                raise Failed("the message has no ack header")
            old = [("message-id", first.get("message-id", "")), ("subscription", number or "")]
            return [("id", first["ack"]), *(old if self.switches.ack_extra else [])]
        if "message-id" not in first:
            raise Failed("the message has no message-id")
        name = [("message-id", first["message-id"])]
        if number is None or (channel.version == "1.0" and not self.switches.ack_extra):
            return name
        return [*name, ("subscription", number)]

    def settled_by(self, subscription: Subscription, delivery: Delivery) -> list[Delivery]:
        """What an ACK or a NACK of this message settles. STOMP 1.0 leaves open whether that is more than one."""
        cumulative = subscription.mode == "client" and self.live().version != "1.0"
        if not cumulative:
            return [delivery]
        return subscription.open[: subscription.open.index(delivery) + 1]

    def may_hold(self, channel: Channel, subscription: Subscription, given: Mapping[str, Any]) -> bool:
        """Whether an ACK can wait for a later one that speaks for it as well."""
        plain = given.get("transaction") is None and not given.get("receipt")
        return bool(self.switches.ack_ms) and plain and subscription.mode == "client" and channel.version != "1.0"

    def flush(self) -> None:
        """Send the ACKs that were held back."""
        channel = self.channel
        if channel is None or channel.phase is not Phase.LIVE:
            return
        held = [(each, each.held) for each in self.subscriptions.values() if each.held is not None]
        for subscription, delivery in held:
            subscription.held = None
            channel.say("ACK", self.with_receipt(self.naming(channel, delivery), None))

    # Transactions

    def do_begin(self, given: Mapping[str, Any]) -> Any:
        """Begin a transaction."""
        name = given["transaction"]
        if name in self.transactions:
            raise Failed(f"there is a transaction {name!r} already")
        self.live()
        number = self.identity("tx", name, self.switches.transaction_ids)
        late = self.switches.begins == "used" and not given.get("receipt")
        done = None if late else self.frame_of_transaction("BEGIN", number, given)
        self.transactions[name] = number
        self.settling[name] = []
        if late:
            self.unsaid.add(name)
        return self.done(done)

    def do_commit(self, given: Mapping[str, Any]) -> Any:
        """Have everything in a transaction take effect."""
        return self.end_transaction("COMMIT", given)

    def do_abort(self, given: Mapping[str, Any]) -> Any:
        """Have nothing in a transaction take effect: what it settled is open again."""
        return self.end_transaction("ABORT", given)

    def end_transaction(self, command: str, given: Mapping[str, Any]) -> Any:
        """Send COMMIT or ABORT. Raises Failed."""
        self.live()
        name = given["transaction"]
        if name not in self.transactions:
            raise Failed(f"there is no transaction {name!r}")
        self.say_begin(name)
        done = self.frame_of_transaction(command, self.transactions.pop(name), given)
        settled = self.settling.pop(name)
        if command == "ABORT":
            for subscription, again in settled:
                subscription.open = sorted([*again, *subscription.open], key=lambda each: each.number)
        return self.done(done)

    def frame_of_transaction(self, command: str, number: str, given: Mapping[str, Any]) -> str | None:
        """Send BEGIN, COMMIT or ABORT; the receipt that is waited for."""
        return self.send_frame(command, [("transaction", number)], given.get("receipt"))

    # Messages

    def do_receive(self, given: Mapping[str, Any]) -> Any:
        """The next message, None when there is none in time. Raises Failed at the end of the connection."""
        if self.inbox:
            return self.shown(self.inbox.pop(0))
        self.live()
        timeout = float(given.get("timeout_ms") or 0)
        if timeout <= 0:
            return None
        raise Waits(MESSAGE, timeout)

    def shown(self, delivery: Delivery) -> dict[str, Any]:
        """A message, as it is reported."""
        self.refs[delivery.ref] = delivery
        return {
            "ref": delivery.ref,
            "headers": dict(delivery.frame.first),
            "body_hex": delivery.frame.body.hex(),
            "sub": delivery.subscription.name,
        }

    def message(self, channel: Channel, frame: Frame) -> None:
        """A message has come."""
        first = frame.first
        if not {"destination", "message-id"} <= set(first) and self.switches.lame_message == "close":
            channel.end("a message has no destination or no message-id")
            return
        subscription = self.meant(first)
        if subscription is None:
            if self.is_stray(first) and self.switches.stray_message == "close":
                channel.end("a message is of no subscription")
            return
        delivery = Delivery(subscription, frame, next(self._counts["ref"]))
        if subscription.mode != "auto":
            subscription.open.append(delivery)
        self.inbox.append(delivery)
        if self.awaited == MESSAGE:
            self.settle(MESSAGE, {"ok": self.shown(self.inbox.pop(0))})

    def meant(self, first: Mapping[str, str]) -> Subscription | None:
        """The subscription of a message; None when nobody wants it."""
        number = first.get("subscription")
        named = [each for each in self.subscriptions.values() if each.id is not None and each.id == number]
        if named:
            return named[0]
        if number is not None and number in self.removed:
            return self.removed[number] if self.switches.unsubscribed == "keep" else None
        nameless = [each for each in self.subscriptions.values() if each.id is None]
        return next((each for each in nameless if each.destination == first.get("destination")), None)

    def is_stray(self, first: Mapping[str, str]) -> bool:
        """Whether a message belongs to no subscription, not even to one that has ended."""
        return (
            self.channel is not None and self.channel.version != "1.0" and first.get("subscription") not in self.removed
        )

    def over(self, channel: Channel) -> None:
        """A connection has ended, or will."""
        if channel is self.channel and self.switches.backlog == "drop":
            self.inbox.clear()
        super().over(channel)
