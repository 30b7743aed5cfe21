"""What a broker says to a client, step by step: the vocabulary of every plan in which the tester serves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from specs.plan import Control, Plan, Ref, Say, Step, Wait
from specs.pulsar.batches import batch, compress
from specs.pulsar.frames import Draft
from specs.pulsar.states import Config
from strategies.pulsar.writer import NOW

VERSIONS = {"seed": (6, 7, 7), "modern": (12, 17, 19, 20)}
RECEIVE_MS = 300
PARTS = 3
"""What one producer or consumer of a scene consists of at most, each of which is closed."""
CUTS = (1, 2, 3, 4, 6, 9, 14, -1)
"""Where frames are cut, if they are."""
PLACES = ((5, 0), (5, 0), (300, 127), (1 << 31, 0), ((1 << 32) + 7, 1 << 31), ((1 << 40) + 1, 1 << 32))
"""Where messages are stored: a ledger, and behind which entry of it."""


Nth = int | str
"""Which consumer of a connection: its place among those that were asked for, or its topic, where their order is not
known because a client has made them again."""


class Desk:
    """Collects the steps of a broker. `at` is the connection that is used, `home` the one to the address that the
    client was given, where it looks topics up; whatever ends or leads away leads to the next one. `scene` tells the
    topics of one scene from those of others in the same conversation."""

    def __init__(self, config: Config, head: tuple[int, ...], *, hurry: bool = False) -> None:
        self.config, self.hurry = config, hurry
        versions = VERSIONS[config.profile]
        self.version = versions[head[0] % len(versions)]
        self.steps: list[Step] = []
        self.at = self.home = self.last = 0
        self.entries = self.handles = self.sends = 0
        self.ledger, self.first = PLACES[head[1] % len(PLACES)]
        self.pens: list[tuple[str, str]] = []
        self.ears: list[tuple[str, str, Nth]] = []
        self.permits: dict[str, int] = {}
        self.shared: set[str] = set()
        self.subscribed = self.refs = 0
        self.given: dict[int, Draft] = {}
        self.fields: dict[str, Any] = {}
        self.where = "url"
        self.scene = ""
        self.over = False
        self.unknown, self.cut, self.asks = head[-1] % 4 == 2, head[-1] % 4 == 3, head[-1] // 4 % 4 == 3
        method, colon, data = config.auth.partition(":")
        self.do("connect", {"auth_method": method, "auth_data": data} if colon and head[-1] // 16 % 2 == 0 else {})

    def plan(self) -> Plan:
        """What was collected."""
        features = {name for name, used in (("unknown", self.unknown), ("cuts", self.cut)) if used}
        return Plan(tuple(_joined(self.steps) if self.cut else self.steps), frozenset(features))

    def do(self, op: str, value: Any, when: str = "turn") -> None:
        """Tell the client something."""
        self.steps.append(Control(0, op, value, when))

    def say(self, kind: str, when: str = "turn", upto: int = 1, conn: int | None = None, **fields: Any) -> None:
        """Say a simple frame, on the connection that is used if no other one is given."""
        extra = b"\xf2\x0f\x03abc" if self.unknown else b""
        cuts = CUTS if self.cut else ()
        conn = self.at if conn is None else conn
        self.steps.append(Say(conn, Draft(kind, fields, extra=extra), cuts, when, upto=upto))

    def wait(self, ms: int = 0) -> None:
        """Wait for our turn, or for so long, with what the client asks for by the way answered before."""
        self.answer("PONG", "ping")
        self.answer("ACK_RESPONSE", "acked")
        self.steps.append(Wait(ms))

    def answer(self, kind: str, asked: str) -> None:
        """What a client may ask for at any time and need not: the end of a PING or of an ACK."""
        self.steps.append(Say(self.at, Draft(kind, Ref(asked, self.at)), upto=4))

    # -- answers -------------------------------------------------------------------------------------------------------

    def welcome(self, conn: int | None = None, **fields: Any) -> None:
        """CONNECTED, once the client has said CONNECT."""
        conn = self.at if conn is None else conn
        given = {
            "server_version": Ref("after", (conn, "CONNECT")),
            "protocol_version": self.version or None,
            **self.fields,
            **fields,
        }
        self.say("CONNECTED", conn=conn, **{name: value for name, value in given.items() if value is not None})

    def metadata(self, partitions: int | Ref = 0) -> None:
        """The answer to PARTITIONED_METADATA."""
        asked = Ref("open", (self.home, "PARTITIONED_METADATA"))
        self.say("PARTITIONED_METADATA_RESPONSE", conn=self.home, request_id=asked, response=0, partitions=partitions)

    def lookup(
        self, count: int = 1, where: str = "", response: int = 1, conn: int | None = None, **fields: Any
    ) -> None:
        """The answer to as many LOOKUPs as there are, at most `count`: where topics are, or whom to ask."""
        conn = self.home if conn is None else conn
        for _ in range(count):
            self.say("LOOKUP_RESPONSE", conn=conn, request_id=Ref("open", (conn, "LOOKUP")), response=response,
                     brokerServiceUrl=Ref(where or self.where), **{"authoritative": True, **fields})  # fmt: skip

    def away(self) -> None:
        """What comes next is at the other address."""
        self.at, self.where, self.subscribed = self.next(), "elsewhere", 0
        self.welcome()

    def next(self) -> int:
        """The number of the next connection."""
        self.last += 1
        return self.last

    def created(self, count: int = 1, **fields: Any) -> None:
        """PRODUCER_SUCCESS."""
        for _ in range(count):
            if self.asks:
                self.ping()
            self.say("PRODUCER_SUCCESS", request_id=Ref("open", (self.at, "PRODUCER")),
                     producer_name=Ref("name-of", (self.at, "PRODUCER")), **fields)  # fmt: skip

    def success(self, kind: str = "SUBSCRIBE", count: int = 1) -> None:
        """SUCCESS."""
        for _ in range(count):
            if self.asks:
                self.ping()
            self.say("SUCCESS", request_id=Ref("open", (self.at, kind)))

    def ways(self, partitions: int = 0) -> None:
        """Everything that comes before PRODUCER or SUBSCRIBE, in whatever order it comes."""
        self.welcome()
        self.metadata(partitions)
        self.lookup(max(partitions, 1))
        self.metadata(partitions)
        self.lookup(1)

    # -- several scenes ------------------------------------------------------------------------------------------------

    def named(self, topic: str) -> str:
        """What a topic is called in this scene."""
        return topic + self.scene

    def apart(self, scene: int) -> None:
        """Another scene begins: what was made in the one before is closed, and its topics are others."""
        self.wait()
        for kind, there in (("producer", [key for key, _ in self.pens]), ("consumer", [ear[0] for ear in self.ears])):
            for key in there:
                self.do("close", {kind: Ref("handle", key)})
                self.success(f"CLOSE_{kind.upper()}", PARTS)
        self.pens, self.ears = [], []
        self.scene = f"-{scene}" if scene else ""

    # -- producers and consumers ---------------------------------------------------------------------------------------

    def producer(self, topic: str, name: str = "", partitions: int = 0, **fields: Any) -> str:
        """A producer; the key of its handle."""
        self.handles += 1
        key = f"p{self.handles}"
        given: dict[str, Any] = {"topic": Ref("topic", self.named(topic)), "_key": key}
        if name:
            given["name"] = Ref("name", name)
        self.do("producer", given)
        self.ways(partitions)
        for _ in range(max(partitions, 1)):
            self.created(**fields)
            self.lookup()
        self.created()
        self.pens.append((key, topic))
        return key

    def send(
        self,
        pen: str,
        payload: bytes | None = None,
        key: str | None = None,
        properties: Any = (),
        op: str = "send",
        when: str = "turn",
    ) -> None:
        """Tell the client to send."""
        self.sends += 1
        payload = f"s{self.sends}".encode() if payload is None else payload
        value: dict[str, Any] = {"producer": Ref("handle", pen), "payload_hex": payload.hex(), "key": key,
                                 "properties": dict(properties)}  # fmt: skip
        if op == "send_async":
            value["_key"] = f"s{self.sends}"
        self.do(op, value, when)

    def id(self) -> dict[str, int]:
        """Where the last entry is stored."""
        return {"ledgerId": self.ledger, "entryId": self.first + self.entries}

    def receipt(self, upto: int = 1, nth: int = 0) -> None:
        """SEND_RECEIPT for what is sent: the nth of what has none."""
        for _ in range(upto):
            self.entries += 1
            if self.asks:
                self.ping()
            self.say(
                "SEND_RECEIPT",
                producer_id=Ref("sent", (self.at, "producer_id", nth)),
                sequence_id=Ref("sent", (self.at, "sequence_id", nth)),
                message_id=self.id(),
            )

    def awaited(self, count: int) -> None:
        """The last sends have their receipts, which their application waits for."""
        self.wait()
        self.receipt(count)
        for n in range(self.sends - count, self.sends):
            self.do("await", {"handle": Ref("handle", f"s{n + 1}")})

    def consumer(
        self,
        topic: str,
        sub: str = "s",
        kind: str = "Exclusive",
        permits: int = 10,
        partitions: int = 0,
        name: str | Ref = "",
    ) -> str:
        """A consumer; the key of its handle."""
        self.handles += 1
        key = f"c{self.handles}"
        self.do(
            "subscribe",
            {
                "topic": Ref("topic", self.named(topic)),
                "subscription": sub,
                "type": kind,
                "name": name,
                "permits": permits,
                "_key": key,
            },
        )
        self.ways(partitions)
        for _ in range(max(partitions, 1)):
            self.success()
            self.lookup()
        self.success()
        self.permits[key] = permits
        if kind == "Shared":
            self.shared.add(key)
        # behind a scene in which connections were lost nobody knows how many were asked for on this one
        self.ears.append((key, topic, topic if self.scene and not partitions else self.subscribed))
        self.subscribed += max(partitions, 1)
        return key

    def ear_id(self, nth: Nth) -> Ref:
        """The id of the nth consumer of the connection, or of the last one of a topic."""
        return Ref("asked", (self.at, "SUBSCRIBE", self._which(nth), "consumer_id"))

    def pen_id(self, topic: str) -> Ref:
        """The id of the last producer of a topic."""
        return Ref("asked", (self.at, "PRODUCER", self.named(topic), "producer_id"))

    def fed(self, nth: Nth) -> Ref:
        """The id of the same consumer, while it has permits."""
        return Ref("fed", (self.at, "SUBSCRIBE", self._which(nth)))

    def _which(self, nth: Nth) -> Nth:
        return self.named(nth) if isinstance(nth, str) else nth

    def push(
        self,
        nth: Nth,
        payload: bytes | None = None,
        *,
        messages: int = 0,
        compression: int = 0,
        check: str = "good",
        key: str | None = None,
        properties: Any = (),
        meta: Mapping[str, Any] | None = None,
        raw: bytes | None = None,
        rest: bytes = b"",
        when: str = "turn",
        who: Any = None,
        more: bytes = b"",
        broker: bytes | None = None,
        outer: str = "",
        run: bytes = b"",
    ) -> None:
        """MESSAGE to a consumer of the connection; `messages`: a batch of so many, with the key `outer` beside those
        that each of them has then. The second of three and more has no payload. A payload of ours ends in `run`."""
        self.entries += 1
        payload = f"m{self.entries}".encode() + run if payload is None else payload
        pairs = [{"key": name, "value": value} for name, value in properties]
        headers: dict[str, Any] = {"producer_name": "x", "sequence_id": self.entries, "publish_time": NOW}
        if messages:
            heads: list[dict[str, Any]] = [
                {"partition_key": f"K{n}"} if n % 2 else {"properties": pairs} for n in range(messages)
            ]
            if outer:
                headers["partition_key"] = outer
                heads = [{**head, "partition_key": f"K{n}"} for n, head in enumerate(heads)]
            empty = 1 if messages > 2 else -1
            payload = batch([(head, b"" if n == empty else payload + b"/%d" % n) for n, head in enumerate(heads)])
            headers["num_messages_in_batch"] = messages
        else:
            headers |= {"properties": pairs} if pairs else {}
            headers |= {} if key is None else {"partition_key": key}
        if compression:
            headers |= {"compression": compression, "uncompressed_size": len(payload)}
            payload = compress(compression, payload)
        fields = {
            "consumer_id": self.fed(nth) if who is None else who,
            "message_id": self.id(),
        }
        content = payload if raw is None else raw
        made = Draft(
            "MESSAGE",
            fields,
            None if rest else {**headers, **(meta or {})},
            content,
            check,
            rest=rest,
            more=more,
            broker=broker,
        )
        self.given[self.entries] = made
        self.steps.append(Say(self.at, made, CUTS if self.cut else (), when))

    def push_again(self, nth: Nth, entry: int, when: str = "turn") -> None:
        """MESSAGE once more, if the nth consumer of the connection has asked for what it got as this entry."""
        made = self.given[entry]
        which = made.fields["message_id"]
        who = Ref("again", (self.at, "SUBSCRIBE", self._which(nth), which["ledgerId"], which["entryId"]))
        self.steps.append(Say(self.at, replace(made, fields={**made.fields, "consumer_id": who}), when=when))

    def push_anew(self, nth: Nth, entry: int) -> None:
        """MESSAGE once more: an entry that was not acknowledged, for a consumer that was made again."""
        made = self.given[entry]
        self.steps.append(Say(self.at, replace(made, fields={**made.fields, "consumer_id": self.fed(nth)})))

    def redeliver(self, ear: str) -> None:
        """Tell the client to ask for everything again that is not acknowledged."""
        self.do("redeliver", {"consumer": Ref("handle", ear)})

    def receive(self, ear: str, ms: int = RECEIVE_MS, when: str = "turn") -> str:
        """Tell the client to give us a message, if there may be one; the key of what it gives."""
        self.refs += 1
        key = f"r{self.refs}"
        self.do("receive", {"consumer": Ref("handle", ear), "timeout_ms": Ref("patience", ms), "_key": key}, when)
        return key

    def ack(self, ear: str, *keys: str, cumulative: bool = False) -> None:
        """Tell the client to acknowledge, several messages in one breath."""
        self.acks(ear, [(key, cumulative) for key in keys])

    def acks(self, ear: str, each: Sequence[tuple[str, bool]]) -> None:
        """The same, some with all messages before them."""
        for n, (key, cumulative) in enumerate(each):
            given = {"consumer": Ref("handle", ear), "ref": Ref("ref", key)}
            self.do("ack", {**given, "cumulative": cumulative and ear not in self.shared}, "now" if n else "turn")
        self.answer("ACK_RESPONSE", "acked")

    def again(self) -> None:
        """Answer whatever a client asks that makes its producers and consumers again, perhaps like a broker that keeps
        no sequence ids."""
        fields = {"last_sequence_id": -1} if self.sends % 2 and self.config.profile == "modern" else {}
        for _ in range(2):
            self.metadata(Ref("count", self.home))
            self.lookup(2)
            self.created(2, **fields)
            self.success(count=2)
            self.lookup(1)
        self.created(**fields)
        self.success()

    def ping(self, conn: int | None = None, when: str = "turn") -> None:
        """PING, whatever the client is waiting for, on the connection that is used if no other one is given."""
        conn = self.at if conn is None else conn
        self.steps.append(Say(conn, Draft("PING", Ref("connected", conn)), when=when))

    def leave(self) -> None:
        """The application ends its client, which may close first what is open."""
        self.wait()
        self.do("disconnect", {})
        for kind, there in (("CLOSE_PRODUCER", self.pens), ("CLOSE_CONSUMER", self.ears)):
            self.success(kind, max(2, len(there)))
        self.wait()

    def drop(self, *pens: str) -> None:
        """Cut the connection under the client and serve the next one. By `pens` the client sends before it is back."""
        self.steps.append(Control(self.at, "drop", None))
        for pen in pens:
            self.send(pen, op="send_async", when="now")
        if self.at == self.home:
            self.at = self.home = self.next()
            self.subscribed = 0
            self.welcome()
        else:
            self.away()  # it comes back before or after it has asked
            self.lookup(2)
            self.welcome()
        self.again()


def _joined(steps: Sequence[Step]) -> list[Step]:
    """The same steps, with frames that follow at once in one write with the beginning of what they follow."""
    found: list[Step] = []
    for step, after in zip_longest(steps, steps[1:]):
        follows = isinstance(step, Say) and isinstance(after, Say) and after.conn == step.conn and after.when == "now"
        if isinstance(step, Say) and follows:
            found += [Wait()] if step.when == "turn" else []
            found.append(replace(step, when="join", cuts=()))
        else:
            found.append(step)
    return found
