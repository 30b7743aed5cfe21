"""Single acts of a conversation with a broker: what a producer or consumer may do, whatever was done before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specs.plan import Ref
from specs.pulsar.frames import Draft, draft
from strategies.common import Op
from strategies.pulsar.writer import HEADERS, NAMES, PROPERTIES, SUBSCRIPTIONS, TOPICS, Ear, Pen, Writer

if TYPE_CHECKING:
    from strategies.pulsar.sessions import Aim

PERMITS = (1, 2, 3, 5, 10, 100, 1000, 65536, 65537)
EXTRAS = (b"\xf2\x0f\x03abc", b"\x98\x1f\x07", b"\xfa\x3f\x00", b"\x98\x1f\x01\x98\x1f\x02")
"""Fields of numbers that nobody uses: 254, 499, 1023."""
PARTITIONS = (1, 2, 3, 4, 8, 10, 16, 32)


def a_pen(w: Writer, op: Op, aim: Aim) -> Pen:
    """A producer: one that is there, or a new one."""
    pens = w.pens()
    return pens[op.args[0] % len(pens)] if pens else produce(w, op, aim)


def produce(w: Writer, op: Op, aim: Aim) -> Pen:
    a, b, c, d, _ = op.args
    line = w.line(a)
    topic = TOPICS[b % aim.topics]
    taken = {pen.name for pen in w.pens() if pen.topic == topic}
    name: str | Ref = ("", "", "p", "q", "p-1", "p ", "P")[d % 7]
    if d % 3 == 2:  # one name on two topics: what is remembered by it belongs to each of them
        name = next((pen.name for pen in w.pens() if pen.name and pen.topic != topic), name)
    return w.pen(line, topic, c, "" if name in taken else name)


def an_ear(w: Writer, op: Op, aim: Aim) -> Ear:
    """A consumer: one that is there, or a new one."""
    ears = w.ears()
    return ears[op.args[0] % len(ears)] if ears else subscribe(w, op, aim)


def subscribe(w: Writer, op: Op, aim: Aim) -> Ear:
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


def said_producer(w: Writer, op: Op, aim: Aim) -> None:
    produce(w, op, aim)


def said_subscribe(w: Writer, op: Op, aim: Aim) -> None:
    subscribe(w, op, aim)


def send(w: Writer, op: Op, aim: Aim) -> None:
    _, b, c, d, e = op.args
    pen = a_pen(w, op, aim)
    payload = (None, None, None, b"", b"\x0e\x01" * 3, bytes(range(256)), b"\x00" * 70, b"A" * 5000)[b % 8]
    meta = HEADERS[e // 2 % len(HEADERS)]
    if "ordering_key" in meta and w.config.profile == "seed":
        meta = {}
    w.send(pen, e, payload, properties=PROPERTIES[c % len(PROPERTIES)] if d % 2 else (),
           check="" if d % 7 == 3 else "good", extra=EXTRAS[c % 4] if d % 5 == 4 else b"",
           more=EXTRAS[(c // 4) % 4] if d % 8 == 7 else b"", compression=1 + c % 2 if d % 9 == 5 else 0,
           meta=meta)  # fmt: skip


def send_batch(w: Writer, op: Op, aim: Aim) -> None:
    _, b, c, d, e = op.args
    w.send(a_pen(w, op, aim), e, messages=1 + b % 5, properties=PROPERTIES[c % len(PROPERTIES)],
           compression=1 + c % 2 if d % 4 == 3 else 0)  # fmt: skip


def burst(w: Writer, op: Op, aim: Aim) -> None:
    """Several SENDs of one or of all producers, without waiting."""
    pens = w.pens() or [a_pen(w, op, aim)]
    w.settle()
    for n in range(2 + op.args[1] % 6):
        w.send(pens[(op.args[0] + n * (op.args[2] % 2)) % len(pens)], op.args[3] + n, when="" if n == 0 else "now")


def flow(w: Writer, op: Op, aim: Aim) -> None:
    ear = an_ear(w, op, aim)
    many = 1 + op.args[3] % 3 if op.args[4] % 4 == 0 else 1
    for _ in range(many):
        w.flow(ear, aim.permits[op.args[1] % len(aim.permits)], op.args[2])


def ack(w: Writer, op: Op, aim: Aim) -> None:
    _a, b, c, d, e = op.args
    ear = an_ear(w, op, aim)
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


def ack_several(w: Writer, op: Op, aim: Aim) -> None:
    """One ACK of several ids, of which some may be the same; perhaps one that is answered."""
    ear = an_ear(w, op, aim)
    line = w.of(ear.line)
    if w.config.profile != "modern":
        return w.ping(line)
    which = [Ref("pushed", (ear.line, ear.id, n)) for n in range(-1 - op.args[2] % 6, 0)]
    asked: dict[str, Any] = {"request_id": w.request(line)} if op.args[3] % 2 else {}
    return w.ack(ear, *which, **asked)


def odd_ack(w: Writer, op: Op, aim: Aim) -> None:
    """Acknowledgements that must change nothing: of what was never pushed, by whom it was not pushed to, again."""
    _a, b, c, _d, e = op.args
    ear = an_ear(w, op, aim)
    match b % 5:
        case 0:
            w.ack(ear, {"ledgerId": 987654321, "entryId": c})
        case 1:
            w.ack(ear, Ref("pushed", (ear.line, ear.id, 0)), upto=1)
            w.ack(ear, Ref("pushed", (ear.line, ear.id, 0)))
        case 2 if ear.kind == 1:
            w.ack(ear, Ref("pushed", (ear.line, ear.id, -1)), cumulative=True)
        case 3 | 4 if w.config.profile == "modern":
            ack_several(w, op, aim)
        case _:
            w.say(w.of(ear.line), _unknown_ack(ear.id + 1000))
    if e % 2:
        w.ping(w.of(ear.line))


def _unknown_ack(name: int) -> Draft:
    return draft("ACK", consumer_id=name, ack_type=0, message_id=[{"ledgerId": 1, "entryId": 0}])


def redeliver(w: Writer, op: Op, aim: Aim) -> None:
    _a, b, c, d, e = op.args
    ear = an_ear(w, op, aim)
    if d % 2:
        w.ping(w.of(ear.line))
    which = [Ref("pushed", (ear.line, ear.id, n)) for n in ((0,), (-1,), (0, -1), (1,))[c % 4]] if b % 3 == 2 else []
    w.settle()
    w.redeliver(ear, *which)
    if e % 2:
        w.flow(ear, PERMITS[e // 2 % len(PERMITS)])


def close_consumer(w: Writer, op: Op, aim: Aim) -> None:
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


def close_producer(w: Writer, op: Op, aim: Aim) -> None:
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


def unsubscribe(w: Writer, op: Op, aim: Aim) -> None:
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


def ping(w: Writer, op: Op, aim: Aim) -> None:
    for n in range(1 + op.args[1] % 3):
        w.ping(w.line(op.args[0]), "now" if n else "")


def lookup(w: Writer, op: Op, aim: Aim) -> None:
    w.lookup(w.line(op.args[0]), TOPICS[op.args[1] % aim.topics], authoritative=op.args[2] % 3 == 2)


def partitions(w: Writer, op: Op, aim: Aim) -> None:
    topic = TOPICS[op.args[1] % aim.topics]
    if w.config.partitioned and op.args[2] % 2:
        topic = f"{PARTITIONS[op.args[3] % len(PARTITIONS)]}:{topic}"
    w.partitions(w.line(op.args[0]), topic)
    if op.args[4] % 2:
        w.partitions(w.line(op.args[0] + 1), topic)


def ask(w: Writer, op: Op, aim: Aim) -> None:
    """What newer brokers tell: the last message id, the permits that are left."""
    if w.config.profile != "modern":
        return ping(w, op, aim)
    ear = an_ear(w, op, aim)
    line = w.of(ear.line)
    kind = ("GET_LAST_MESSAGE_ID", "CONSUMER_STATS")[op.args[1] % 2]
    w.settle()
    return w.say(line, draft(kind, consumer_id=ear.id, request_id=w.request(line)))


def cut(w: Writer, op: Op, aim: Aim) -> None:
    w.hang(op.args[0], "reset" if op.args[1] % 2 else "close")
