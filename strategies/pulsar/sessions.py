"""Valid conversations with a broker: producers, consumers, permits, acknowledgements, on one to three connections."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan, Ref
from specs.pulsar.frames import Draft, draft
from specs.pulsar.states import Config
from strategies.common import Op, Program, programs
from strategies.pulsar.writer import HEADERS, NAMES, PROPERTIES, SUBSCRIPTIONS, TOPICS, Ear, Pen, Writer

PERMITS = (1, 2, 3, 5, 10, 100, 1000, 65536, 65537)
EXTRAS = (b"\xf2\x0f\x03abc", b"\x98\x1f\x07", b"\xfa\x3f\x00", b"\x98\x1f\x01\x98\x1f\x02")
"""Fields of numbers that nobody uses: 254, 499, 1023."""
ENDS = ("", "redeliver", "close", "cut", "cut")
PARTITIONS = (1, 2, 3, 4, 8, 10, 16, 32)
MANY = (2, 3, 4, 5, 2, 64, 65, 130)
"""Batches of which some messages are acknowledged: their bits take one word, or several."""


def general() -> dict[str, int]:
    """How often each op comes in a conversation of no special aim."""
    return {
        "producer": 3,
        "send": 12,
        "batch": 3,
        "subscribe": 6,
        "flow": 6,
        "ack": 8,
        "redeliver": 3,
        "close_consumer": 2,
        "close_producer": 2,
        "unsubscribe": 1,
        "ping": 3,
        "lookup": 1,
        "partitions": 1,
        "cut": 1,
        "odd_ack": 1,
        "burst": 1,
    }


@dataclass(frozen=True)
class Aim:
    """What conversations are about. `kinds`: subscription types to choose from; `topics`, `subs`: how many names;
    `start`: "sub" or "permits" for a subscription that is there before the first op, with up to `crowd` consumers."""

    ops: Mapping[str, int] = field(default_factory=general)
    kinds: tuple[int, ...] = (0, 0, 1, 1, 2)
    slots: int = 2
    topics: int = 2
    subs: int = 2
    least: int = 3
    most: int = 18
    wires: tuple[int, ...] = (0,)
    ends: tuple[str, ...] = ENDS
    start: str = ""
    crowd: int = 1
    permits: tuple[int, ...] = PERMITS

    @property
    def programs(self) -> SearchStrategy[Program]:
        """Their programs."""
        return programs(self.ops, head=4, least=self.least, most=self.most)

    def interpret(self, program: Program, config: Config, *, hurry: bool = False) -> Plan:
        """The plan that a program means."""
        head = program.head
        wire = self.wires[head[0] % len(self.wires)]
        w = Writer(config, hurry=hurry, slots=self.slots, wire=wire, ids=head[1])
        if self.start:
            for at in range(1 + head[3] // 8 % self.crowd):
                kind, name = self.kinds[head[3] % len(self.kinds)], NAMES[(head[3] + at) % 4]
                ear = w.ear(w.line(at), TOPICS[0], SUBSCRIPTIONS[0], kind, 0, name)
                if "permits" in self.start:
                    w.flow(ear, self.permits[(head[3] + at) % len(self.permits)])
        for op in program.ops:
            OPS[op.kind](w, op, self)
        end(w, self.ends[head[2] % len(self.ends)], head[2] // len(self.ends))
        return w.plan()


def _pen(w: Writer, op: Op, aim: Aim) -> Pen:
    """A producer: one that is there, or a new one."""
    pens = w.pens()
    return pens[op.args[0] % len(pens)] if pens else _produce(w, op, aim)


def _produce(w: Writer, op: Op, aim: Aim) -> Pen:
    a, b, c, d, _ = op.args
    line = w.line(a)
    topic = TOPICS[b % aim.topics]
    taken = {pen.name for pen in w.pens() if pen.topic == topic}
    name = ("", "", "p", "q", "p-1", "p ", "P")[d % 7]
    return w.pen(line, topic, c, "" if name in taken else name)


def _ear(w: Writer, op: Op, aim: Aim) -> Ear:
    """A consumer: one that is there, or a new one."""
    ears = w.ears()
    return ears[op.args[0] % len(ears)] if ears else _subscribe(w, op, aim)


def _subscribe(w: Writer, op: Op, aim: Aim) -> Ear:
    a, b, c, d, e = op.args
    line = w.line(a)
    topic, sub = TOPICS[b % aim.topics], SUBSCRIPTIONS[(b // 16) % aim.subs]
    kind = aim.kinds[e % len(aim.kinds)]
    attached = [ear for ear in w.ears() if (ear.topic, ear.sub) == (topic, sub)]
    keep = True
    if attached:
        kind = attached[0].kind if e % 5 or e == 0 else aim.kinds[e // 5 % len(aim.kinds)]
        keep = kind == attached[0].kind and kind != 0
    fields: dict[str, Any] = {"initialPosition": 1} if d % 4 == 3 and w.config.profile == "modern" else {}
    ear = w.ear(line, topic, sub, kind, c, NAMES[d % len(NAMES)], keep=keep, **fields)
    if not keep:
        w.pongs()
    return ear


def _said_producer(w: Writer, op: Op, aim: Aim) -> None:
    _produce(w, op, aim)


def _said_subscribe(w: Writer, op: Op, aim: Aim) -> None:
    _subscribe(w, op, aim)


def _send(w: Writer, op: Op, aim: Aim) -> None:
    _, b, c, d, e = op.args
    pen = _pen(w, op, aim)
    payload = (None, None, None, b"", b"\x0e\x01" * 3, bytes(range(256)), b"\x00" * 70, b"A" * 5000)[b % 8]
    w.send(pen, e, payload, properties=PROPERTIES[c % len(PROPERTIES)] if d % 2 else (),
           check="" if d % 7 == 3 else "good", extra=EXTRAS[c % 4] if d % 5 == 4 else b"",
           more=EXTRAS[(c // 4) % 4] if d % 8 == 7 else b"", compression=1 + c % 2 if d % 9 == 5 else 0,
           meta=HEADERS[e // 2 % len(HEADERS)])  # fmt: skip


def _batch(w: Writer, op: Op, aim: Aim) -> None:
    _, b, c, d, e = op.args
    w.send(_pen(w, op, aim), e, messages=1 + b % 5, properties=PROPERTIES[c % len(PROPERTIES)],
           compression=1 + c % 2 if d % 4 == 3 else 0)  # fmt: skip


def _burst(w: Writer, op: Op, aim: Aim) -> None:
    """Several SENDs of one or of all producers, without waiting."""
    pens = w.pens() or [_pen(w, op, aim)]
    w.settle()
    for n in range(2 + op.args[1] % 6):
        w.send(pens[(op.args[0] + n * (op.args[2] % 2)) % len(pens)], op.args[3] + n, when="" if n == 0 else "now")


def _flow(w: Writer, op: Op, aim: Aim) -> None:
    ear = _ear(w, op, aim)
    many = 1 + op.args[3] % 3 if op.args[4] % 4 == 0 else 1
    for _ in range(many):
        w.flow(ear, aim.permits[op.args[1] % len(aim.permits)], op.args[2])


def _ack(w: Writer, op: Op, aim: Aim) -> None:
    _a, b, c, d, e = op.args
    ear = _ear(w, op, aim)
    which = (
        Ref("unacked", (ear.line, ear.id))
        if b % 2 == 0
        else Ref("pushed", (ear.line, ear.id, (0, 1, -1, 2, -2)[c % 5]))
    )
    cumulative = d % 3 == 1 and ear.kind != 1
    fields = {"validation_error": e % 4} if e % 6 == 5 else {}
    w.ack(ear, which, cumulative=cumulative, upto=1 if d % 4 else 1 + c % 4, **fields)
    if e % 2:
        w.ping(w.of(ear.line))


def _several(w: Writer, op: Op, ear: Ear) -> None:
    """Some messages for a consumer and those beside it, perhaps a batch among the last ones."""
    pens = [pen for pen in w.pens() if pen.topic == ear.topic]
    pen = pens[0] if pens else w.pen(w.line(op.args[1]), ear.topic)
    for each in w.ears():
        if (each.topic, each.sub) == (ear.topic, ear.sub):
            w.flow(each, 100)
    many, behind = 2 + op.args[2] % 4, op.args[2] // 4 % 4
    for n in range(many):
        w.send(pen, messages=2 if behind and n == many - behind else 0)
    w.settle()


def _some_again(w: Writer, op: Op, aim: Aim) -> None:
    """Some messages, of which some are asked for again, or all that one consumer holds; nothing else may come."""
    ear = _ear(w, op, aim)
    line = w.of(ear.line)
    _several(w, op, ear)
    w.ping(line)
    w.settle()
    which = ((), (0,), (-1,), (-1, -2))[op.args[3] % 4]
    w.redeliver(ear, *(Ref("pushed", (ear.line, ear.id, n)) for n in which))
    w.ping(line)
    w.settle()


def _what_is_left(w: Writer, op: Op, ear: Ear) -> None:
    """Everything that is not acknowledged comes again."""
    w.ping(w.of(ear.line))
    w.settle()
    if op.args[4] % 2:
        w.redeliver(ear)
    else:
        w.close_ear(ear)
        w.flow(w.ear(w.line(), ear.topic, ear.sub, ear.kind, 1, ear.name), 100)
    w.settle()


def _cumulative(w: Writer, op: Op, aim: Aim) -> None:
    """Some messages, of which a later one is acknowledged with all before it; then everything that is left. What lies
    before it may be acknowledged already, in part."""
    ear = _ear(w, op, aim)
    if ear.kind == 1:
        return
    _several(w, op, ear)
    if op.args[3] % 4 == 3:
        w.ack(ear, Ref("pushed", (ear.line, ear.id, -3)))
    w.ack(ear, Ref("pushed", (ear.line, ear.id, -1 - op.args[3] % 2)), cumulative=True)
    _what_is_left(w, op, ear)


def _gap(w: Writer, op: Op, aim: Aim) -> None:
    """Some messages, of which a later one is acknowledged, alone; then everything that is left."""
    ear = _ear(w, op, aim)
    _several(w, op, ear)
    w.ack(ear, Ref("pushed", (ear.line, ear.id, -1 - op.args[3] % 2)))
    _what_is_left(w, op, ear)


def _odd_ack(w: Writer, op: Op, aim: Aim) -> None:
    """Acknowledgements that must change nothing: of what was never pushed, by whom it was not pushed to, again."""
    _a, b, c, _d, e = op.args
    ear = _ear(w, op, aim)
    match b % 5:
        case 0:
            w.ack(ear, {"ledgerId": 987654321, "entryId": c})
        case 1:
            w.ack(ear, Ref("pushed", (ear.line, ear.id, 0)), upto=1)
            w.ack(ear, Ref("pushed", (ear.line, ear.id, 0)))
        case 2 if ear.kind == 1:
            w.ack(ear, Ref("pushed", (ear.line, ear.id, -1)), cumulative=True)
        case 3 | 4 if w.config.profile == "modern":
            _ack_several(w, op, aim)
        case _:
            w.say(w.of(ear.line), _unknown_ack(ear.id + 1000))
    if e % 2:
        w.ping(w.of(ear.line))


def _ack_several(w: Writer, op: Op, aim: Aim) -> None:
    """One ACK of several ids, of which some may be the same; perhaps one that is answered."""
    ear = _ear(w, op, aim)
    line = w.of(ear.line)
    if w.config.profile != "modern":
        return w.ping(line)
    which = [Ref("pushed", (ear.line, ear.id, n)) for n in range(-1 - op.args[2] % 6, 0)]
    asked: dict[str, Any] = {"request_id": w.request(line)} if op.args[3] % 2 else {}
    return w.ack(ear, *which, **asked)


def _unknown_ack(name: int) -> Draft:
    return draft("ACK", consumer_id=name, ack_type=0, message_id=[{"ledgerId": 1, "entryId": 0}])


def _redeliver(w: Writer, op: Op, aim: Aim) -> None:
    _a, b, c, d, e = op.args
    ear = _ear(w, op, aim)
    if d % 2:
        w.ping(w.of(ear.line))
    which = [Ref("pushed", (ear.line, ear.id, n)) for n in ((0,), (-1,), (0, -1), (1,))[c % 4]] if b % 3 == 2 else []
    w.settle()
    w.redeliver(ear, *which)
    if e % 2:
        w.flow(ear, PERMITS[e // 2 % len(PERMITS)])


def _close_consumer(w: Writer, op: Op, aim: Aim) -> None:
    ears = w.ears()
    if ears:
        ear = ears[op.args[0] % len(ears)]
        w.close_ear(ear)
        if op.args[1] % 2:
            line, like = (w.of(ear.line), ear) if op.args[3] % 2 else (w.line(op.args[2]), None)
            again = w.ear(line, ear.topic, ear.sub, ear.kind, op.args[3], ear.name, like=like)
            if op.args[4] % 2:
                w.flow(again, 100)
            else:  # nothing may come yet, what is new neither
                for pen in [pen for pen in w.pens() if pen.topic == ear.topic][: op.args[4] // 2 % 2]:
                    w.send(pen)
                w.settle()
                w.ping(line)
                w.settle()


def _close_producer(w: Writer, op: Op, aim: Aim) -> None:
    pens = w.pens()
    if pens:
        pen = pens[op.args[0] % len(pens)]
        if op.args[1] % 3 == 2:  # what is pending must be answered first
            for _ in range(1 + op.args[2] % 3):
                w.send(pen, when="now")
            line = w.of(pen.line)
            w.say(line, draft("CLOSE_PRODUCER", producer_id=pen.id, request_id=w.request(line)), "now")
            line.pens.remove(pen)
            w.settle()
        else:
            w.close_pen(pen)
            w.settle()
        if op.args[3] % 2:
            w.pen(w.line(op.args[4]), pen.topic, op.args[3], pen.name)


def _unsubscribe(w: Writer, op: Op, aim: Aim) -> None:
    ears = w.ears()
    if ears:
        ear = ears[op.args[0] % len(ears)]
        others = [other for other in ears if other is not ear and (other.topic, other.sub) == (ear.topic, ear.sub)]
        w.settle()
        w.close_ear(ear, "UNSUBSCRIBE")
        if others:
            w.of(ear.line).ears.append(ear)
        elif op.args[1] % 2:
            again = w.ear(w.line(op.args[2]), ear.topic, ear.sub, aim.kinds[op.args[3] % len(aim.kinds)], op.args[3])
            w.flow(again, 100)


def _ping(w: Writer, op: Op, aim: Aim) -> None:
    for n in range(1 + op.args[1] % 3):
        w.ping(w.line(op.args[0]), "now" if n else "")


def _lookup(w: Writer, op: Op, aim: Aim) -> None:
    w.lookup(w.line(op.args[0]), TOPICS[op.args[1] % aim.topics], authoritative=op.args[2] % 3 == 2)


def _partitions(w: Writer, op: Op, aim: Aim) -> None:
    topic = TOPICS[op.args[1] % aim.topics]
    if w.config.partitioned and op.args[2] % 2:
        topic = f"{PARTITIONS[op.args[3] % len(PARTITIONS)]}:{topic}"
    w.partitions(w.line(op.args[0]), topic)
    if op.args[4] % 2:
        w.partitions(w.line(op.args[0] + 1), topic)


def _cut(w: Writer, op: Op, aim: Aim) -> None:
    w.hang(op.args[0], "reset" if op.args[1] % 2 else "close")


def end(w: Writer, how: str, choice: int = 0) -> None:
    """Make the broker show what it holds: everything that was not acknowledged comes again, nothing else, wherever a
    consumer would begin if its subscription were new. Names of producers are free again."""
    ears, named = w.ears(), {(pen.topic, pen.name) for pen in w.pens() if pen.name}
    for line in list(w.lines.values()):
        if how:
            w.settle()
            w.ping(line)
    w.settle()
    if how == "redeliver":
        for ear in ears:
            w.settle()
            w.redeliver(ear)
            w.flow(ear, 1000)
    elif how in ("close", "cut"):
        if how == "close":
            for ear in ears:
                w.settle()
                w.close_ear(ear)
        else:
            for slot in list(w.lines):
                w.hang(slot)
            w.wait(1500)
            for topic, name in sorted(named):
                w.pen(w.line(), topic, name=name)
        fields: dict[str, Any] = {"initialPosition": 1} if choice % 2 and w.config.profile == "modern" else {}
        for (topic, sub), kind in sorted(w.kinds.items()):
            w.settle()
            ear = w.ear(w.line(), topic, sub, kind, 1, **fields)
            w.flow(ear, 1000)
    w.wait()


Doing = Callable[[Writer, Op, Aim], None]


def _ask(w: Writer, op: Op, aim: Aim) -> None:
    """What newer brokers tell: the last message id, the permits that are left."""
    if w.config.profile != "modern":
        return _ping(w, op, aim)
    ear = _ear(w, op, aim)
    line = w.of(ear.line)
    kind = ("GET_LAST_MESSAGE_ID", "CONSUMER_STATS")[op.args[1] % 2]
    w.settle()
    return w.say(line, draft(kind, consumer_id=ear.id, request_id=w.request(line)))


def _seek(w: Writer, op: Op, aim: Aim) -> None:
    """Back to a message, or to the beginning; the broker closes the consumer, which comes again."""
    if w.config.profile != "modern":
        return
    ear = _ear(w, op, aim)
    line = w.of(ear.line)
    w.settle()
    earliest = {"ledgerId": (1 << 64) - 1, "entryId": (1 << 64) - 1}
    given: dict[str, Any] = {
        "message_id": Ref("pushed", (ear.line, ear.id, op.args[1] % 3)) if op.args[2] % 2 else earliest
    }
    if op.args[3] % 5 == 4:
        given = {}
    w.say(line, draft("SEEK", consumer_id=ear.id, request_id=w.request(line), **given))
    if given:
        w.settle()
        w.say(line, draft("CLOSE_CONSUMER", consumer_id=ear.id, request_id=w.request(line)))
        line.ears.remove(ear)
        w.settle()
        again = w.ear(line, ear.topic, ear.sub, ear.kind, op.args[4], ear.name)
        w.flow(again, 1000)


def _part(w: Writer, op: Op, aim: Aim) -> None:
    """Some messages of a batch are acknowledged, then it comes again."""
    if w.config.profile != "modern":
        return
    line = w.line()
    number = w.serial()
    topic = f"part{number}"
    ear, pen = w.ear(line, topic, "s", 1), w.pen(line, topic)
    w.flow(ear, 1000)
    many = MANY[op.args[0] % len(MANY)]
    w.send(pen, messages=many)
    whole = (1 << many) - 1
    left = 1 + (op.args[1] * 0x9E3779B97F4A7C15F39CC0605CEDC835 >> op.args[2] % 64) % (whole - 1)
    which = Ref("partly", (ear.line, ear.id, 0, left, many))
    w.settle()
    w.say(line, draft("ACK", consumer_id=ear.id, ack_type=0, message_id=[which]))
    w.ping(line)
    w.settle()
    w.redeliver(ear)
    w.ping(line)
    w.settle()


OPS: Mapping[str, Doing] = {
    "several": _ack_several,
    "some_again": _some_again,
    "cumulative": _cumulative,
    "gap": _gap,
    "ask": _ask,
    "seek": _seek,
    "part": _part,
    "producer": _said_producer,
    "send": _send,
    "batch": _batch,
    "burst": _burst,
    "subscribe": _said_subscribe,
    "flow": _flow,
    "ack": _ack,
    "odd_ack": _odd_ack,
    "redeliver": _redeliver,
    "close_consumer": _close_consumer,
    "close_producer": _close_producer,
    "unsubscribe": _unsubscribe,
    "ping": _ping,
    "lookup": _lookup,
    "partitions": _partitions,
    "cut": _cut,
}
