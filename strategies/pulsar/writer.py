"""Builds a plan for a broker step by step, remembering what is open, so that it stays legal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from specs.plan import Close, Plan, Reach, Ref, Say, SendBytes, Step, Wait
from specs.pulsar.batches import batch, compress
from specs.pulsar.frames import NUMBERS, Draft, draft
from specs.pulsar.states import Config

IDS = (0, 1, 2, 3, 127, 128, 255, 256, 65536, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 63) - 1)
REQUESTS = (*IDS, 1 << 63, (1 << 64) - 2, 300, 16384)
LONG = "long-" * 30
TOPICS = ("t", "t-1", "tt", "T", LONG + "a", LONG + "b")
SUBSCRIPTIONS = ("s", "s-1", "ss", "S", LONG + "a", LONG + "b", "s ", "S ")
SEQUENCES = (0, (1 << 31) - 2, (1 << 32) - 2, 1 << 32, (1 << 53) - 1, 300)
"""Where a producer begins to count."""
UNKNOWN = b"\xf2\x0f\x03abc"
"""A field of the number 254, which nobody uses."""
NAMES = ("", "b", "a", "B", "aa", "c", "é", "a-1")
"""Consumer names: nobody says whether they are compared by octets or by characters, but these sort alike."""
NOW = 1_700_000_000_000
PROPERTIES: tuple[tuple[tuple[str, str], ...], ...] = (
    (), (("a", "1"),), (("a", "1"), ("a", "2")), (("", ""), ("b", "")),
    (("z", "1"), ("a", "2"), ("z", "3"), ("b", ""), ("a", "2")),
    (("schlüssel", "wert 🙂"),), (("k" * 300, "v" * 300),), (("a", "\x00\n"), ("num_messages_in_batch", "7")),
    tuple((f"n{n}", str(n)) for n in range(40)),
)  # fmt: skip
HEADERS: tuple[Mapping[str, Any], ...] = (
    {}, {}, {"ordering_key": b"o\0"}, {"event_time": NOW, "partition_key": "k k"}, {"partition_key": ""},
    {"partition_key": "k"}, {"event_time": 0}, {"partition_key": "ключ " * 60},
)  # fmt: skip
"""Metadata that a broker has to hand on as they are: keys that are empty and long, times. The source text knows no
`ordering_key`."""
CUTS, JOIN = 1, 2
"""Ways of sending that must not matter."""


def within(kind: str) -> bytes:
    """An unknown field inside the sub-message of a command."""
    number = NUMBERS[kind]
    tag = number << 3 | 2
    return (bytes((tag,)) if tag < 128 else bytes((tag & 127 | 128, tag >> 7))) + bytes((len(UNKNOWN),)) + UNKNOWN


@dataclass(slots=True)
class Pen:
    """A producer of the plan."""

    line: int
    id: int
    topic: str
    name: str | Ref = ""
    seq: int = 0
    request: int = 0


@dataclass(slots=True)
class Ear:
    """A consumer of the plan."""

    line: int
    id: int
    topic: str
    sub: str
    kind: int
    name: str = ""
    granted: int = 0


@dataclass(slots=True)
class Line:
    """A connection of the plan. `doubtful`: ids of consumers that were expected to be refused; they may be there."""

    number: int
    requests: int = 0
    pens: list[Pen] = field(default_factory=list)
    ears: list[Ear] = field(default_factory=list)
    doubtful: list[int] = field(default_factory=list)


class Writer:
    """Collects steps. `hurry`: say everything without waiting for turns, but for what the client has to wait for."""

    def __init__(self, config: Config, *, hurry: bool = False, slots: int = 2, wire: int = 0, ids: int = 0) -> None:
        self.config, self.hurry, self.slots, self.wire, self.ids = config, hurry, slots, wire, ids
        self.strange = ids % 8 == 7
        self.steps: list[Step] = []
        self.features: set[str] = set()
        self.lines: dict[int, Line] = {}
        self.kinds: dict[tuple[str, str], int] = {}
        self._next = self._serial = 0
        self._settle = False

    def plan(self) -> Plan:
        """What was collected."""
        return Plan(tuple(self.steps), frozenset(self.features))

    # -- steps ---------------------------------------------------------------------------------------------------------

    def say(self, line: Line, frame: Draft, when: str = "", style: int = 0, upto: int = 1) -> None:
        """One frame."""
        cuts: tuple[int, ...] = ()
        if self.wire & CUTS and style % 3:
            size = 12 + style % 40
            cuts = (1, 2, 3, 4, 5, 7, size, -1) if style % 3 == 1 else tuple(range(1, 64))
            self.features.add("cuts")
        when = "turn" if self._settle else when or ("now" if self.hurry else "turn")
        if self.wire & JOIN and style % 2 and when == "now":
            when = "join"
        if self.strange and not frame.extra and self.steps:
            frame = replace(frame, extra=within(frame.kind) if len(self.steps) % 2 else UNKNOWN)
            self.features.add("unknown")
        self._settle = False
        self.steps.append(Say(line.number, frame, cuts, when, upto=upto))

    def blurt(self, line: Line, data: bytes, when: str = "") -> None:
        """Octets as they are."""
        when = "turn" if self._settle else when or ("now" if self.hurry else "turn")
        self._settle = False
        self.steps.append(SendBytes(line.number, data, when))

    def settle(self) -> None:
        """What comes next waits for its turn, even in a hurry."""
        self._settle = True

    def wait(self, ms: int = 0) -> None:
        """Wait for our turn, or for so long."""
        self.steps.append(Wait(ms))

    def request(self, line: Line) -> int:
        """A request id that is not used on this connection."""
        at = line.requests
        line.requests += 1
        if self.ids % 3 == 1:
            return REQUESTS[(self.ids // 3 + at) % len(REQUESTS)] if at < len(REQUESTS) else 1000 + at
        return at + (self.ids % 3 == 2) * ((1 << 40) + 7)

    def serial(self) -> int:
        """A number that this plan has not used."""
        self._serial += 1
        return self._serial

    # -- connections ---------------------------------------------------------------------------------------------------

    def bare(self, slot: int | None = None) -> Line:
        """A connection on which nothing was said."""
        line = Line(self._next)
        self._next += 1
        if slot is not None:
            self.lines[slot] = line
        return line

    def hello(self, version: int | None = None, **fields: Any) -> Draft:
        """CONNECT."""
        login: dict[str, Any] = {}
        if self.config.auth:
            method, _, data = self.config.auth.partition(":")
            login = {"auth_method_name": method, "auth_data": data.encode()}
        given = {"client_version": "wireproof", **login, **fields}
        version = self.config.version if version is None else version
        if version >= 0:
            given["protocol_version"] = version
        return draft("CONNECT", **given)

    def line(self, slot: int = 0, version: int | None = None) -> Line:
        """The connection in a slot, a new one if there is none."""
        slot %= self.slots
        if slot not in self.lines:
            line = self.bare(slot)
            self.say(line, self.hello(version))
            self.settle()
        return self.lines[slot]

    def reach(self, slot: int, where: Ref) -> Line:
        """A connection to where a lookup leads, in a slot that has none."""
        line = self.bare(slot)
        self.steps.append(Reach(line.number, where))
        self.say(line, self.hello(), "turn")
        self.settle()
        return line

    def another(self, version: int | None = None, **fields: Any) -> Line:
        """A connection of its own."""
        line = self.bare()
        self.say(line, self.hello(version, **fields))
        self.settle()
        return line

    def hang(self, slot: int, how: str = "close") -> None:
        """Cut the connection in a slot."""
        line = self.lines.pop(slot % self.slots, None)
        if line is not None:
            self.steps.append(Close(line.number, how))

    # -- producers -----------------------------------------------------------------------------------------------------

    def pens(self) -> list[Pen]:
        """All producers."""
        return [pen for line in self.lines.values() for pen in line.pens]

    def ears(self) -> list[Ear]:
        """All consumers."""
        return [ear for line in self.lines.values() for ear in line.ears]

    def of(self, number: int) -> Line:
        """The connection with a number."""
        return next(line for line in self.lines.values() if line.number == number)

    def free(self, taken: list[int], choice: int) -> int:
        """An id that is not taken."""
        at = choice % len(IDS) if self.ids else choice % 3
        turn: tuple[int, ...] = (*IDS[at:], *IDS[:at], *range(1000, 1001 + len(taken)))
        return next(number for number in turn if number not in taken)

    def pen(self, line: Line, topic: str, choice: int = 0, name: str | Ref = "", **fields: Any) -> Pen:
        """PRODUCER. `name`: one that is fresh, or a Ref to one that is known."""
        seq = SEQUENCES[choice % len(SEQUENCES)] if self.ids % 3 == 1 else 0
        number = self.free([pen.id for pen in line.pens], choice)
        pen = Pen(line.number, number, topic, name, seq, self.request(line))
        given: dict[str, Any] = {"topic": Ref("topic", topic), "producer_id": pen.id, "request_id": pen.request}
        if name:
            given["producer_name"] = name if isinstance(name, Ref) else Ref("name", name)
        line.pens.append(pen)
        self.say(line, draft("PRODUCER", **given, **fields), style=choice)
        self.settle()
        return pen

    def send(self, pen: Pen, style: int = 0, payload: bytes | None = None, *, when: str = "", messages: int = 0,
             check: str = "good", compression: int = 0, extra: bytes = b"", more: bytes = b"",
             properties: tuple[tuple[str, str], ...] = (), fields: Mapping[str, Any] | None = None,
             meta: Mapping[str, Any] | None = None, rest: bytes = b"") -> None:  # fmt: skip
        """SEND. `messages`: a batch of so many, 0 for none."""
        serial = self.serial()
        if payload is None:
            payload = f"m{serial}".encode()
        pairs = [{"key": key, "value": value} for key, value in properties]
        headers: dict[str, Any] = {
            "producer_name": pen.name if isinstance(pen.name, str) and pen.name else "p",
            "sequence_id": pen.seq,
            "publish_time": NOW + serial,
        }
        command: dict[str, Any] = {"producer_id": pen.id, "sequence_id": pen.seq}
        if messages:
            payload = batch(
                [
                    ({"properties": pairs[:2], "partition_key": f"k{n}"} if n % 2 else {}, payload + b"/%d" % n)
                    for n in range(messages)
                ]
            )
            headers["num_messages_in_batch"] = command["num_messages"] = messages
        elif pairs:
            headers["properties"] = pairs
        if compression:
            headers |= {"compression": compression, "uncompressed_size": len(payload)}
            payload = compress(compression, payload)
        pen.seq += max(messages, 1)
        if extra:
            self.features.add("unknown")
        made = Draft(
            "SEND", {**command, **(fields or {})}, {**headers, **(meta or {})}, payload, check, extra, more, rest
        )
        self.say(self.of(pen.line), made, when, style)

    def close_pen(self, pen: Pen) -> None:
        """CLOSE_PRODUCER."""
        line = self.of(pen.line)
        self.say(line, draft("CLOSE_PRODUCER", producer_id=pen.id, request_id=self.request(line)))
        line.pens.remove(pen)

    # -- consumers -----------------------------------------------------------------------------------------------------

    def ear(self, line: Line, topic: str, sub: str, kind: int = 0, choice: int = 0, name: str = "", *,
            keep: bool = True, like: Ear | None = None, **fields: Any) -> Ear:  # fmt: skip
        """SUBSCRIBE. `keep`: it is expected to succeed. `like`: with the id of this one, if it is free."""
        taken = [*(ear.id for ear in line.ears), *line.doubtful]
        number = self.free(taken, choice) if like is None or like.id in taken else like.id
        ear = Ear(line.number, number, topic, sub, kind, name)
        given: dict[str, Any] = {
            "topic": Ref("topic", topic), "subscription": sub, "subType": kind, "consumer_id": ear.id,
            "request_id": self.request(line),
        }  # fmt: skip
        if name:
            given["consumer_name"] = name
        elif choice % 2:
            given["consumer_name"] = ""
        if keep:
            line.ears.append(ear)
            self.kinds[topic, sub] = kind
        else:
            line.doubtful.append(ear.id)
        self.say(line, draft("SUBSCRIBE", **{**given, **fields}), style=choice)
        self.settle()
        return ear

    def flow(self, ear: Ear, permits: int, style: int = 0, when: str = "") -> None:
        """FLOW."""
        ear.granted += permits
        self.say(self.of(ear.line), draft("FLOW", consumer_id=ear.id, messagePermits=permits), when, style)

    def ack(self, ear: Ear, *which: Any, cumulative: bool = False, upto: int = 1, **fields: Any) -> None:
        """ACK of message ids, or Refs to them."""
        made = draft("ACK", consumer_id=ear.id, ack_type=int(cumulative), message_id=list(which), **fields)
        self.say(self.of(ear.line), made, upto=upto)

    def redeliver(self, ear: Ear, *which: Any) -> None:
        """REDELIVER_UNACKNOWLEDGED_MESSAGES."""
        given = {"message_ids": list(which)} if which else {}
        self.say(self.of(ear.line), draft("REDELIVER_UNACKNOWLEDGED_MESSAGES", consumer_id=ear.id, **given))

    def close_ear(self, ear: Ear, kind: str = "CLOSE_CONSUMER") -> None:
        """CLOSE_CONSUMER or UNSUBSCRIBE."""
        line = self.of(ear.line)
        self.say(line, draft(kind, consumer_id=ear.id, request_id=self.request(line)))
        line.ears.remove(ear)
        self.settle()

    def ping(self, line: Line, when: str = "") -> None:
        """PING, which also shows that what was said before has been read."""
        self.say(line, draft("PING"), when)

    def pongs(self) -> None:
        """Answer the PINGs that came: before it refuses somebody, a broker may ask whether the other one is there."""
        for line in list(self.lines.values()):
            self.steps.append(Say(line.number, Draft("PONG", Ref("ping", line.number))))

    def lookup(self, line: Line, topic: str, *, authoritative: bool | Ref = False, **fields: Any) -> None:
        """LOOKUP."""
        given = {"topic": Ref("topic", topic), "request_id": self.request(line), **fields}
        self.say(line, draft("LOOKUP", **given, **({"authoritative": authoritative} if authoritative else {})))

    def partitions(self, line: Line, topic: str, **fields: Any) -> None:
        """PARTITIONED_METADATA."""
        given = {"topic": Ref("topic", topic), "request_id": self.request(line), **fields}
        self.say(line, draft("PARTITIONED_METADATA", **given))
