"""Destinations: where messages wait, who subscribed, and who gets which.

Source: STOMP 1.2, "SEND", "SUBSCRIBE", "ACK", "NACK" and "MESSAGE". The text leaves what a destination does to the
server. Here `/topic/…` gives each message to every subscriber of the moment and keeps nothing; every other name,
`/queue/…` by custom, gives each message to one subscriber and keeps it until it is consumed.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from impls.references.stomp.reference import Server
    from impls.references.stomp.session import Session

DEAD_LETTERS = "/queue/dead-letters"
MAX_DEAD_LETTERS = 1000


class Refused(Exception):
    """A frame cannot be processed: ERROR, then close. `headers` go on the ERROR."""

    def __init__(self, why: str, *headers: tuple[str, str]) -> None:
        super().__init__(why)
        self.headers = headers


class Message(NamedTuple):
    """What was sent, as it is kept. An empty `id` is filled in at delivery. `ack` is a header of the SEND, handed on
    where the MESSAGE has none of the server's."""

    id: str
    destination: str
    headers: list[tuple[str, str]]
    body: bytes
    size: int
    redelivered: bool = False
    ack: str = ""


class Delivery(NamedTuple):
    """One message on its way to one subscription, until it is settled. `key` is what ACK and NACK name it by."""

    key: str | tuple[str, str]
    number: int
    subscription: Subscription
    message: Message


class Subscription:
    """One subscription. `key` tells it from others of its connection; `id` is None for those of 1.0 that have none."""

    __slots__ = ("backlog", "delivered", "destination", "id", "key", "mode", "session", "unacked")

    def __init__(self, key: str, number: str | None, session: Session, destination: Destination, mode: str) -> None:
        self.key = key
        self.id = number
        self.session = session
        self.destination = destination
        self.mode = mode
        self.unacked: dict[str | tuple[str, str], Delivery] = {}  # in the order of delivery
        self.backlog: deque[Message] = deque()  # copies of a topic's messages that wait for their turn
        self.delivered = 0

    def has_room(self) -> bool:
        """True when it may be given a message now."""
        return self.mode == "auto" or self.session.has_room(self)

    def deliver(self, message: Message) -> None:
        """Give it a message."""
        self.delivered += 1
        self.session.deliver(self, message)


class Destination:
    """A named place that takes messages and has subscribers."""

    def __init__(self, name: str, server: Server) -> None:
        self.name = name
        self.server = server
        self.switches = server.switches
        self.subscribers: list[Subscription] = []

    def accept(self, message: Message, sender: Session) -> None:
        """Take a message that was sent."""
        raise NotImplementedError

    def take_back(self, deliveries: Iterable[Delivery], where: str) -> None:
        """Take messages that were delivered but not consumed, to the "front" or the "back"."""
        raise NotImplementedError

    def dispatch(self) -> None:
        """Deliver what can be delivered."""
        raise NotImplementedError

    def idle(self) -> bool:
        """True when nothing would be lost by forgetting it."""
        return not self.subscribers

    def full(self) -> bool:
        """True when it takes no other subscriber."""
        return False

    def check_room(self, size: int) -> None:
        """Raise Refused when a message of that size cannot be taken."""

    def again(self, message: Message) -> Message:
        """A message for its next delivery."""
        if self.switches.redelivered_id == "change":
            return message._replace(redelivered=True, id="")
        return message._replace(redelivered=True)


class Queue(Destination):
    """Gives each message to one subscriber, and keeps it until then."""

    def __init__(self, name: str, server: Server) -> None:
        super().__init__(name, server)
        self.ready: deque[Message] = deque()
        self.size = 0

    def accept(self, message: Message, sender: Session) -> None:
        self.keep(message)
        if self.subscribers:
            self.dispatch()

    def keep(self, message: Message, where: str = "back") -> None:
        """Put a message into the queue."""
        self.size += message.size
        self.server.broker.kept += message.size
        if where == "front":
            self.ready.appendleft(message)
        else:
            self.ready.append(message)

    def pop(self) -> Message:
        """Take the first message out of the queue."""
        message = self.ready.popleft()
        self.size -= message.size
        self.server.broker.kept -= message.size
        return message

    def take_back(self, deliveries: Iterable[Delivery], where: str) -> None:
        messages = [self.again(delivery.message) for delivery in deliveries]
        for message in reversed(messages) if where == "front" else messages:
            self.keep(message, where)
        self.dispatch()

    def dispatch(self) -> None:
        while self.ready:
            subscription = self.choose([each for each in self.subscribers if each.has_room()])
            if subscription is None:
                return
            subscription.deliver(self.pop())

    def choose(self, ready: list[Subscription]) -> Subscription | None:
        """Which of the subscriptions that have room gets the next message."""
        if not ready:
            return None
        order = self.switches.queue_order
        if order == "random":
            return self.server.chance.choice(ready)
        if order == "idle-first":
            return min(ready, key=lambda each: (len(each.unacked), each.delivered))
        if order == "round-robin" and len(self.subscribers) > 1:
            self.subscribers.remove(ready[0])
            self.subscribers.append(ready[0])
        return ready[0]

    def idle(self) -> bool:
        return not self.subscribers and not self.ready

    def full(self) -> bool:
        return self.switches.subscribers == "one" and bool(self.subscribers)

    def check_room(self, size: int) -> None:
        if self.size + size > self.switches.max_queue:
            raise Refused("the destination is full")


class Topic(Destination):
    """Gives each message to every subscriber, and keeps nothing."""

    def accept(self, message: Message, sender: Session) -> None:
        reached: set[Session] = set()
        for subscription in tuple(self.subscribers):
            again = self.switches.copies == "one" and subscription.session in reached
            if self.is_for(subscription, sender) and not again:
                reached.add(subscription.session)
                self.offer(subscription, message)

    def is_for(self, subscription: Subscription, sender: Session) -> bool:
        """True when the subscription gets what `sender` sent."""
        return self.switches.self_delivery or subscription.session is not sender

    def offer(self, subscription: Subscription, message: Message) -> None:
        """Give a subscription its copy, now or when it has room."""
        if not subscription.backlog and subscription.has_room():
            subscription.deliver(message)
        elif len(subscription.backlog) < self.switches.max_open:
            subscription.backlog.append(message)
        else:
            subscription.session.fail("too many messages wait for an ACK")

    def take_back(self, deliveries: Iterable[Delivery], where: str) -> None:
        for delivery in reversed(list(deliveries)) if where == "front" else deliveries:
            subscription = delivery.subscription
            if subscription not in self.subscribers:
                continue  # a topic keeps nothing for those who left
            if where == "front":
                subscription.backlog.appendleft(self.again(delivery.message))
            else:
                subscription.backlog.append(self.again(delivery.message))
        self.dispatch()

    def dispatch(self) -> None:
        for subscription in tuple(self.subscribers):
            while subscription.backlog and subscription.has_room():
                subscription.deliver(subscription.backlog.popleft())


class Broker:
    """All destinations. Those that hold nothing and have no subscribers are forgotten."""

    queue_type = Queue
    topic_type = Topic

    def __init__(self, server: Server) -> None:
        self.server = server
        self.destinations: dict[str, Destination] = {}
        self.kept = 0  # octets in all queues
        self.later: list[tuple[float, int, str, Message]] = []  # (due, order, destination, message): a heap

    def is_topic(self, name: str) -> bool:
        """Whether a name stands for a topic."""
        return name.startswith("/topic/")

    def find(self, name: str) -> Destination:
        """The destination called `name`, made if it is not there."""
        found = self.destinations.get(self.key(name))
        if found is None:
            kind = self.topic_type if self.is_topic(name) else self.queue_type
            found = self.destinations[self.key(name)] = kind(name, self.server)
        return found

    def key(self, name: str) -> str:
        """What names of one destination have in common."""
        how = self.server.switches.destinations
        if how == "trimmed":
            return name.strip()
        return name if how == "exact" else name.lower()

    def route(self, message: Message, sender: Session) -> None:
        """Give a message that was sent to its destination."""
        self.find(message.destination).accept(message, sender)
        self.forget(message.destination)

    def make_room(self, name: str, size: int) -> None:
        """See that a message can be kept. Raises Refused.

        A server that runs for long collects queues which nobody will ever read. The oldest of them go first.
        """
        if self.key(name) in self.destinations:
            self.find(name).check_room(size)
        if self.kept + size <= self.server.switches.max_kept:
            return
        for key, other in [*self.destinations.items()]:
            if isinstance(other, Queue) and not other.subscribers and key != self.key(name):
                del self.destinations[key]
                self.kept -= other.size
                if self.kept + size <= self.server.switches.max_kept:
                    return
        raise Refused("the server is full")

    def subscribe(self, subscription: Subscription) -> None:
        """Start a subscription. Raises Refused."""
        if subscription.destination.full():
            raise Refused("the queue has its subscriber")
        subscription.destination.subscribers.append(subscription)
        subscription.destination.dispatch()

    def unsubscribe(self, subscription: Subscription) -> None:
        """End a subscription."""
        destination = subscription.destination
        if subscription in destination.subscribers:
            destination.subscribers.remove(subscription)
        self.forget(destination.name)

    def forget(self, name: str) -> None:
        """Drop a destination if nothing is lost by that."""
        found = self.destinations.get(self.key(name))
        if found is not None and found.idle():
            del self.destinations[self.key(name)]

    def take_back(self, deliveries: list[Delivery], where: str) -> None:
        """Give unconsumed messages back to where they came from: "front", "back", "never", "random" or "delayed"."""
        chance = self.server.chance
        if where == "random":
            # Drawn for each message, so neighbours may part.
            for delivery in reversed(deliveries):
                self.take_back([delivery], chance.choice(("front", "back", "never")))
        elif where == "delayed":
            for delivery in deliveries:
                destination = delivery.subscription.destination
                if isinstance(destination, Queue):
                    due = self.server.now + chance.randint(1, self.server.switches.redelivery_delay_ms)
                    later = due, delivery.number, destination.name, destination.again(delivery.message)
                    heapq.heappush(self.later, later)
        elif where != "never":
            groups: dict[str, list[Delivery]] = {}
            for delivery in sorted(deliveries, key=lambda each: each.number):
                groups.setdefault(delivery.subscription.destination.name, []).append(delivery)
            for name, group in groups.items():
                self.find(name).take_back(group, where)
                self.forget(name)

    def bury(self, message: Message) -> None:
        """Put a rejected message where those are kept that nobody wants."""
        dead = self.find(DEAD_LETTERS)
        assert isinstance(dead, Queue)
        dead.keep(message._replace(redelivered=True))
        while len(dead.ready) > MAX_DEAD_LETTERS:
            dead.pop()
        dead.dispatch()
        self.forget(DEAD_LETTERS)

    def tick(self) -> None:
        """Redeliver what is due by now."""
        while self.later and self.later[0][0] <= self.server.now:
            _, _, name, message = heapq.heappop(self.later)
            destination = self.find(name)
            assert isinstance(destination, Queue)
            destination.keep(message)
            destination.dispatch()
            self.forget(name)
