"""The reference client: told what to do, it produces and consumes, and reports what came of it.

`Caller` is the client without a network: octets and commands in, octets and reports out. It is judged in memory (see
`client_memory`); `python -m impls.references.pulsar client` is the same behind sockets and JSON lines
(docs/implementations.md).
"""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

from impls.references.pulsar.channel import Channel
from impls.references.pulsar.promises import Failed, Promise, Task
from impls.references.pulsar.receiving import Incoming, PartitionedReceiver
from impls.references.pulsar.schema import ENUMS
from impls.references.pulsar.sending import PartitionedSender
from impls.references.pulsar.switches import NEWEST, OLDEST, switch

RETRIED = {ENUMS["ServerError"][name] for name in ("ServiceNotReady", "TooManyRequests", "MetadataError")}
REDIRECT, CONNECT = 0, 1
MAX_REDIRECTS = 20
TYPES = {name.lower().replace("_", ""): kind for name, kind in ENUMS["CommandSubscribe.SubType"].items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSwitches:
    """One behaviour out of all legal ones. Raises ValueError for a value that is not among the legal ones."""

    versions: str = switch("newest", "oldest", "any")
    optional_fields: str = switch("few", "all")
    connecting: str = switch("lazy", "eager")
    leaving: str = switch("close-all", "hang-up")
    own_ping: bool = switch(True, False)
    request_ids: str = switch("one", "two", "random")
    first_id: int = switch(0, 1, 2**32)  # of producers and consumers
    ids: str = switch("one-counter", "two-counters")  # producers and consumers have name spaces of their own
    batching: int = switch(0, 1, 3)  # messages in a batch at most; 0 for none
    batch_ms: int = switch(2, 0, 10)
    compression: str = switch("none", "lz4", "zlib", "zstd", "snappy")
    send_error: str = switch("fail", "reconnect")
    flow: str = switch("half", "each")
    ack_ms: int = switch(0, 3, 100)
    ack_lists: bool = switch(True, False)
    redeliver: str = switch("list", "all")
    backoff_ms: int = switch(0, 5, 50)  # before whatever was closed is opened again; doubled each time
    pieces: str = switch("whole", "octets", "some")
    ack_answers: bool = switch(False, True)  # asked for, and waited for, from brokers that know them
    unreadable: str = switch("refuse", "reconnect")  # a message that cannot be taken apart
    reopening: str = switch("at-once", "when-needed")  # of a producer whose connection ended
    errors: str = switch("ignore", "reconnect")  # those that are about no request
    acked_before: str = switch("ignore", "again", "fail")  # a message that is acknowledged a second time
    credentials: str = switch("take", "take", "take", "unsupported", "fail")
    handles: str = switch("distinct", "by-kind")  # what producers, consumers and so on are called
    receipts: str = switch("oldest", "any")  # which receipt is taken: none but that of the oldest message, or any

    # Not drawn
    profile: str = "modern"
    keepalive_ms: float = 30_000
    request_ms: float = 2_000
    operation_ms: float = 10_000
    sends_again: bool = True  # what was not confirmed when the connection ended; False: the application is told

    def __post_init__(self) -> None:
        for name, values in CLIENT_SWITCHES.items():
            if getattr(self, name) not in values:
                raise ValueError(f"{name} must be one of {values}, not {getattr(self, name)!r}")


CLIENT_SWITCHES: Mapping[str, tuple[Any, ...]] = {
    each.name: each.metadata["values"] for each in fields(ClientSwitches) if "values" in each.metadata
}


def from_text(name: str, text: str) -> Any:
    """The value of switch `name` that is written `text`. Raises ValueError, naming what is legal."""
    if name in CLIENT_SWITCHES:
        for value in CLIENT_SWITCHES[name]:
            if str(value).lower() == text.lower():
                return value
        raise ValueError(f"{name} must be one of {', '.join(map(str, CLIENT_SWITCHES[name]))}, not {text!r}")
    if name not in {each.name for each in fields(ClientSwitches)}:
        raise ValueError(f"no switch is called {name!r}; known: {', '.join(sorted(CLIENT_SWITCHES))}")
    return text if name == "profile" else float(text)


class Caller:
    """Commands in by `told`, reports out by `reports`; `channels` are the connections that it opened, in order."""

    profile = "modern"
    channel_type = Channel
    sender_type = PartitionedSender
    receiver_type = PartitionedReceiver

    def __init__(self, *, seed: int = 0, **switches: Any) -> None:
        self.switches = ClientSwitches(**{"profile": self.profile, **switches})
        self.chance = random.Random(seed)
        self.now: float = 0
        newest, oldest = NEWEST[self.switches.profile], OLDEST[self.switches.profile]
        choice = {"newest": newest, "oldest": oldest}
        self.version = choice.get(self.switches.versions) or self.chance.randint(oldest, newest)
        self.reports: list[tuple[int, dict[str, Any]]] = []
        self._jobs: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._queue: list[tuple[int, str, dict[str, Any]]] = []
        self._busy = False
        self.channels: list[Channel] = []
        self.watched = 0  # connections that somebody looks at
        self.reset("")

    @classmethod
    def random(cls, seed: int, **fixed: Any) -> Self:
        """A client with every switch drawn by `seed`, but for those in `fixed`."""
        chance = random.Random(seed)
        drawn = {name: chance.choice(values) for name, values in CLIENT_SWITCHES.items()}
        return cls(seed=seed, **{**drawn, **fixed})

    def reset(self, url: str) -> None:
        """A new client, which knows this URL."""
        self.url = url
        self.login: tuple[str, str] | None = None
        self.ids = itertools.count(self.switches.first_id)
        self.other_ids = itertools.count(self.switches.first_id) if self.switches.ids == "two-counters" else self.ids
        self.senders: dict[str, PartitionedSender] = {}
        self.receivers: dict[str, PartitionedReceiver] = {}
        self.sent: dict[str, Promise] = {}
        self.refs: dict[tuple[str, str], Incoming] = {}
        self.names = itertools.count(1)
        self.counts: Counter[tuple[str, str]] = Counter()
        self.reading: Promise | None = None

    # Time

    def later(self, ms: float, work: Callable[[], None]) -> None:
        """Do something after so many milliseconds."""
        heapq.heappush(self._jobs, (self.now + ms, next(self._numbers), work))

    def next_due(self) -> float:
        """When something happens by itself. Infinity when nothing will."""
        return self._jobs[0][0] if self._jobs else math.inf

    def advance(self, ms: float) -> None:
        """Let milliseconds pass."""
        until = self.now + ms
        while self._jobs and self._jobs[0][0] <= until:
            due, _, work = heapq.heappop(self._jobs)
            self.now = max(self.now, due)
            work()
        self.now = until

    def pause(self, ms: float) -> Promise:
        """A promise that is kept after a while."""
        promise = Promise()
        self.later(ms, promise.keep)
        return promise

    # Commands

    def told(self, number: int, op: str, given: dict[str, Any]) -> None:
        """A command; its report has the same number. They are carried out one after the other."""
        self._queue.append((number, op, given))
        self._go_on()

    def _go_on(self) -> None:
        while self._queue and not self._busy:
            self._busy = True
            Task(self._carry_out(*self._queue.pop(0)))

    async def _carry_out(self, number: int, op: str, given: dict[str, Any]) -> None:
        try:
            report = {"ok": await self.within(self.command(op, given))}
        except Failed as failed:
            report = {"error": str(failed)}
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            report = {"error": f"{op}: {type(error).__name__}: {error}"}
        self.reports.append((number, report))
        self._busy = False
        self._go_on()

    async def within(self, work: Any) -> Any:
        """What `work` comes to, if it does in time. Raises Failed."""
        task = Task(work)
        self.later(self.switches.operation_ms, lambda: task.fail(Failed("it took too long")))
        return await task

    async def command(self, op: str, given: dict[str, Any]) -> Any:
        """Carry out one command. Raises Failed."""
        known: dict[str, Callable[[dict[str, Any]], Awaitable[Any]]] = {
            "connect": self.do_connect, "producer": self.do_producer, "send": self.do_send, "await": self.do_await,
            "send_async": self.do_send_async, "subscribe": self.do_subscribe, "receive": self.do_receive,
            "ack": self.do_ack, "redeliver": self.do_redeliver, "close": self.do_close,
            "disconnect": self.do_disconnect,
        }  # fmt: skip
        if op not in known:
            raise Failed("unsupported")
        return await known[op](given)

    async def do_connect(self, given: dict[str, Any]) -> Any:
        """A new client; it need not connect before it has something to say."""
        self.hang_up()
        self.reset(given["url"])
        if "auth_method" in given:
            if self.switches.credentials != "take":
                raise Failed("unsupported" if self.switches.credentials == "unsupported" else "no such plugin")
            self.login = (given["auth_method"], given["auth_data"])
        if self.switches.connecting == "eager":
            await self.channel(self.url)
        return True

    def named(self, kind: str, of: str = "") -> str:
        """A handle for something of a kind, or a ref for a message `of` a consumer. Two of different kinds may have the
        same: an operation names each by a member of its own."""
        if self.switches.handles == "by-kind":
            self.counts[kind, of] += 1
            return str(self.counts[kind, of])
        return f"{kind}{next(self.names)}"

    async def do_producer(self, given: dict[str, Any]) -> Any:
        """Create a producer; its handle."""
        sender = self.sender_type(self, await self.partitions(given["topic"]), given.get("name") or "")
        await sender.open()
        handle = self.named("p")
        self.senders[handle] = sender
        return handle

    async def do_send(self, given: dict[str, Any]) -> Any:
        """Publish and wait for the receipt; the message id."""
        return await self.send(given)

    async def do_send_async(self, given: dict[str, Any]) -> Any:
        """Publish; a handle for `await`."""
        handle = self.named("s")
        self.sent[handle] = self.send(given)
        return handle

    def send(self, given: dict[str, Any]) -> Promise:
        """Publish; a promise of the message id."""
        listed = given.get("properties") or {}
        pairs = list(listed.items()) if isinstance(listed, dict) else [(name, value) for name, value in listed]
        return self.senders[given["producer"]].send(bytes.fromhex(given["payload_hex"]), given.get("key"), pairs)

    async def do_await(self, given: dict[str, Any]) -> Any:
        """Wait for a receipt; the message id."""
        return await self.sent.pop(given["handle"])

    async def do_subscribe(self, given: dict[str, Any]) -> Any:
        """Create a consumer; its handle."""
        kind = TYPES[str(given.get("type") or "Exclusive").lower().replace("_", "").replace("-", "")]
        permits = 1000 if given.get("permits") is None else int(given["permits"])
        topics = await self.partitions(given["topic"])
        receiver = self.receiver_type(self, topics, given["subscription"], kind, given.get("name") or "", permits)
        await receiver.open()
        handle = self.named("c")
        self.receivers[handle] = receiver
        return handle

    async def do_receive(self, given: dict[str, Any]) -> Any:
        """The next message, None when there is none in time."""
        receiver = self.receivers[given["consumer"]]
        until = self.now + float(given.get("timeout_ms", 0))
        self.later(until - self.now, self.wake_receive)
        while (message := receiver.take()) is None:
            if self.now >= until:
                return None
            self.reading = Promise()
            await self.reading
        ref = self.named("m", given["consumer"])
        self.refs[given["consumer"], ref] = message
        properties = dict(message.properties)
        return {"ref": ref, "payload_hex": message.payload.hex(), "key": message.key, "properties": properties}

    def wake_receive(self) -> None:
        """There may be a message, or no more time."""
        if self.reading is not None:
            reading, self.reading = self.reading, None
            reading.keep()

    async def do_ack(self, given: dict[str, Any]) -> Any:
        """Acknowledge a message."""
        message = self.refs[given["consumer"], given["ref"]]
        receiver = message.receiver
        receiver.ack(message, bool(given.get("cumulative")))
        if self.switches.ack_answers:
            receiver.flush()
            answers, receiver.answers = receiver.answers, []
            for answer in answers:
                await answer
        return True

    async def do_redeliver(self, given: dict[str, Any]) -> Any:
        """Have everything come again that is not acknowledged."""
        self.receivers[given["consumer"]].redeliver()
        return True

    async def do_close(self, given: dict[str, Any]) -> Any:
        """Close a producer or a consumer."""
        kind = "producer" if "producer" in given else "consumer"
        handle = str(given.get(kind))
        made: dict[str, Any] = self.senders if kind == "producer" else self.receivers
        closing = made.pop(handle, None)
        if closing is None:
            raise Failed(f"there is no {handle!r}")
        await closing.close()
        return True

    async def do_disconnect(self, given: dict[str, Any]) -> Any:
        """Close everything and hang up."""
        if self.switches.leaving == "close-all":
            for each in self.users():
                try:
                    await each.close()
                except Failed:
                    break
        self.hang_up()
        return True

    def hang_up(self) -> None:
        """End all connections."""
        for each in self.users():
            each.abandon()
        for channel in [*self.live_channels()]:
            channel.end("disconnected")

    def users(self) -> list[PartitionedSender | PartitionedReceiver]:
        """All producers and consumers."""
        return [*self.senders.values(), *self.receivers.values()]

    # Connections and lookups

    def live_channels(self) -> Sequence[Channel]:
        """The connections that are open."""
        return [channel for channel in self.channels if not channel.hung_up]

    async def channel(self, url: str) -> Channel:
        """The connection to a broker, opened if there is none. Raises Failed."""
        found = next((each for each in self.live_channels() if each.url == url), None)
        if found is None:
            found = self.channel_type(self, url)
            self.channels.append(found)
            self.later(self.switches.request_ms, found.give_up)
        await found.ready
        return found

    def forget(self, channel: Channel) -> None:
        """A connection is over."""

    async def channel_for(self, topic: str) -> Channel:
        """The connection on which a topic is served. Raises Failed."""
        url, authoritative = self.url, False
        for _ in range(MAX_REDIRECTS + 1):
            channel = await self.channel(url)
            _, answer = await channel.ask("LOOKUP", {"topic": topic, "authoritative": authoritative})
            response = answer.get("response")
            if response not in (REDIRECT, CONNECT) or not answer.get("brokerServiceUrl"):
                raise Failed(answer.get("message", "the lookup failed"), answer.get("error"))
            if response == CONNECT and answer.get("proxy_through_service_url", False):
                return channel
            url, authoritative = answer["brokerServiceUrl"], answer.get("authoritative", False)
            if response == CONNECT:
                return await self.channel(url)
        raise Failed("too many redirects", -1)

    async def partitions(self, topic: str) -> list[str]:
        """The topics that a topic is made of. Raises Failed."""

        async def ask() -> int:
            channel = await self.channel(self.url)
            _, answer = await channel.ask("PARTITIONED_METADATA", {"topic": topic})
            if answer.get("response") != 0:
                raise Failed(answer.get("message", "no metadata"), answer.get("error"))
            return int(answer.get("partitions", 0))

        count = await self.again(ask, give_up=True)
        return [f"{topic}-partition-{number}" for number in range(count)] or [topic]

    async def again(self, work: Callable[[], Awaitable[Any]], *, give_up: bool = False) -> Any:
        """Do something until it succeeds. With `give_up`, only what may pass is tried again, and not for ever."""
        began, wait = self.now, float(self.switches.backoff_ms)
        if not give_up and wait:
            await self.pause(wait)
        while True:
            try:
                return await work()
            except Failed as failed:
                passing = failed.code is None or failed.code in RETRIED
                if (give_up and not passing) or self.now - began > self.switches.operation_ms or failed.code == -1:
                    if give_up:
                        raise
                    return None
            wait = min(1000.0, max(5.0, 2 * wait))
            await self.pause(wait)

    def new_id(self, other: bool = False) -> int:
        """An id for a producer, or with `other` for a consumer."""
        return next(self.other_ids if other else self.ids)
