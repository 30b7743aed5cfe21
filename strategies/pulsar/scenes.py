"""Small scenes of a conversation with a broker: some acts that belong together, and a look at what came of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specs.plan import Ref
from specs.pulsar.frames import draft
from specs.pulsar.states import SHARED
from strategies.common import Op
from strategies.pulsar.acts import an_ear
from strategies.pulsar.writer import TOPICS, Ear, Line, Writer

if TYPE_CHECKING:
    from strategies.pulsar.sessions import Aim

HOPS = 3
"""Redirects that are followed."""
AWAY = 1000
"""Slots of connections to where lookups lead: no other act uses them."""
EARLIEST = {"ledgerId": (1 << 64) - 1, "entryId": (1 << 64) - 1}
MANY = (2, 3, 65, 5, 2, 64, 70, 130)
"""Batches of which some messages are acknowledged: their bits take one word, or several."""


def _several(w: Writer, op: Op, ear: Ear) -> int:
    """Some messages for a consumer and those beside it, perhaps a batch among the last ones. Answers how many."""
    pens = [pen for pen in w.pens() if pen.topic == ear.topic]
    pen = pens[0] if pens else w.pen(w.line(op.args[1]), ear.topic)
    for each in w.ears():
        if (each.topic, each.sub) == (ear.topic, ear.sub):
            w.flow(each, 100)
    many, behind = 2 + op.args[2] % 6, op.args[2] // 8 % 4
    for n in range(many):
        w.send(pen, messages=2 if behind and n == many - behind else 0)
    w.settle()
    return many


def _chosen(ear: Ear, many: int, bits: int) -> list[Ref]:
    """Some of the last messages that a consumer got: those whose bit is set, the oldest first, or the newest."""
    which = [Ref("pushed", (ear.line, ear.id, n - many)) for n in range(many) if bits >> n & 1]
    return which[::-1] if bits & 128 else which


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


def some_again(w: Writer, op: Op, aim: Aim) -> None:
    """Some messages, of which some are asked for again, or all that one consumer holds; nothing else may come. The
    first of those may be acknowledged: then it is passed over."""
    ear = an_ear(w, op, aim)
    line = w.of(ear.line)
    _several(w, op, ear)
    which = ((), (0,), (-1,), (-1, -2))[op.args[3] % 4]
    if which and op.args[4] // 2 % 2:
        w.ack(ear, Ref("pushed", (ear.line, ear.id, which[0])))
    w.ping(line)
    w.settle()
    for _ in range(1 + op.args[4] % 2):
        w.redeliver(ear, *(Ref("pushed", (ear.line, ear.id, n)) for n in which))
        w.ping(line)
        w.settle()


def cumulative(w: Writer, op: Op, aim: Aim) -> None:
    """Some messages, of which a later one is acknowledged with all before it; then everything that is left. What lies
    before it, or behind it, may be acknowledged already, in part."""
    ear = an_ear(w, op, aim)
    if ear.kind == 1:
        return
    _several(w, op, ear)
    behind = op.args[3] % 4 == 2
    if op.args[3] % 4 == 3:
        w.ack(ear, Ref("pushed", (ear.line, ear.id, -3)))
    elif behind:
        w.ack(ear, Ref("pushed", (ear.line, ear.id, -1)))
    w.ack(ear, Ref("pushed", (ear.line, ear.id, -1 - behind - op.args[3] // 4 % 3)), cumulative=True)
    _what_is_left(w, op, ear)


def gap(w: Writer, op: Op, aim: Aim) -> None:
    """Some messages, of which any are acknowledged one by one; then everything that is left."""
    ear = an_ear(w, op, aim)
    many = _several(w, op, ear)
    for each in _chosen(ear, many, op.args[3]):
        w.ack(ear, each)
    _what_is_left(w, op, ear)


def listed(w: Writer, op: Op, aim: Aim) -> None:
    """Some messages, of which any are acknowledged in one go; then everything that is left."""
    if w.config.profile != "modern":
        return gap(w, op, aim)
    ear = an_ear(w, op, aim)
    many = _several(w, op, ear)
    asked: dict[str, Any] = {"request_id": w.request(w.of(ear.line))} if op.args[1] % 2 else {}
    d = op.args[3]  # any of them, or all but one
    w.ack(ear, *_chosen(ear, many, (d or 255) if d % 4 == 0 else 255 ^ 1 << d // 4 % 8), **asked)
    return _what_is_left(w, op, ear)


def seek(w: Writer, op: Op, aim: Aim) -> None:
    """Back to a message, or to the beginning, mostly with some messages behind it; the broker closes the consumer,
    which comes again."""
    if w.config.profile != "modern":
        return
    _, b, c, d, e = op.args
    ear = an_ear(w, op, aim)
    line = w.of(ear.line)
    many = _several(w, op, ear) if b & 8 or d & 1 else 0
    for each in _chosen(ear, many if b & 8 else 0, e):
        w.ack(ear, each)
    w.settle()
    at = (0, 1, 2, 3, -1, -2, -3, 4)[b % 8]
    given: dict[str, Any] = {"message_id": Ref("pushed", (ear.line, ear.id, at)) if c % 2 else EARLIEST}
    if d % 5 == 4:
        given = {}
    w.say(line, draft("SEEK", consumer_id=ear.id, request_id=w.request(line), **given))
    if given:
        _back(w, line, ear, e)


def _back(w: Writer, line: Line, ear: Ear, choice: int = 0) -> None:
    """A consumer that the broker has closed comes again."""
    w.settle()
    w.say(line, draft("CLOSE_CONSUMER", consumer_id=ear.id, request_id=w.request(line)))
    line.ears.remove(ear)
    w.settle()
    w.flow(w.ear(line, ear.topic, ear.sub, ear.kind, choice, ear.name), 1000)


def spent(w: Writer, op: Op, aim: Aim) -> None:
    """What a consumer wants again has to wait for permits, and is acknowledged meanwhile, all of it or some."""
    a, b, c, d, _ = op.args
    line, topic, kind = w.line(a), f"spent{w.serial()}", d % 3
    ear, pen = w.ear(line, topic, "s", kind, 0, "b"), w.pen(w.line(a + 1), topic)
    many = 1 + b % 3
    w.flow(ear, many)
    for _ in range(many):
        w.send(pen)
    w.settle()
    w.ping(line)
    w.settle()
    w.redeliver(ear)
    w.ping(line)
    w.settle()
    upto = 1 + c % many
    if kind != SHARED and c // 4 % 2 == 0:
        w.ack(ear, Ref("pushed", (ear.line, ear.id, upto - 1)), cumulative=True)
    else:
        for n in range(upto):
            w.ack(ear, Ref("pushed", (ear.line, ear.id, n)))
    w.ping(line)
    w.settle()
    w.flow(ear, 20)
    w.settle()
    w.send(pen)
    w.ping(line)
    w.settle()


def part(w: Writer, op: Op, aim: Aim) -> None:
    """Some messages of a batch are acknowledged, perhaps some more, then it comes again: what is left of it, or all of
    it where the subscription begins anew."""
    if w.config.profile != "modern":
        return
    a, b, c, d, _ = op.args
    line = w.line()
    topic = f"part{w.serial()}"
    ear, pen = w.ear(line, topic, "s", 1), w.pen(line, topic)
    w.flow(ear, 1000)
    many = MANY[a % len(MANY)]
    w.send(pen, messages=many)
    whole = (1 << many) - 1
    left = 1 + (b * 0x9E3779B97F4A7C15F39CC0605CEDC835 >> c % 64) % (whole - 1)
    fewer = left & (d * 0x9E3779B97F4A7C15F39CC0605CEDC835 >> c % 32)
    if d // 4 % 2:  # what the second one names is not what the first one has left; something is left by both
        fewer = left & -left | whole & (d * 0x9E3779B97F4A7C15F39CC0605CEDC835 >> b % 32)
    w.settle()
    for each in (left, fewer) if d % 2 and fewer else (left,):
        which = Ref("partly", (ear.line, ear.id, 0, each, many))
        w.say(line, draft("ACK", consumer_id=ear.id, ack_type=0, message_id=[which]))
    w.ping(line)
    w.settle()
    if d % 4 == 2:
        w.say(line, draft("SEEK", consumer_id=ear.id, request_id=w.request(line), message_id=EARLIEST))
        _back(w, line, ear)
    else:
        w.redeliver(ear)
    w.ping(line)
    w.settle()


def waiting(w: Writer, op: Op, aim: Aim) -> None:
    """Messages that wait for permits, and what the broker tells of them."""
    if w.config.profile != "modern":
        return
    line = w.line(op.args[0])
    topic = f"waiting{w.serial()}"
    ear, pen = w.ear(line, topic, "s", op.args[1] % 2), w.pen(line, topic)
    if op.args[1] // 2 % 4:
        w.flow(ear, op.args[1] // 2 % 4)
    for n in range(1 + op.args[2] % 4):
        w.send(pen, messages=op.args[3] >> n & 1 and 2)
    w.settle()
    for kind in ("GET_LAST_MESSAGE_ID", "CONSUMER_STATS"):
        w.say(line, draft(kind, consumer_id=ear.id, request_id=w.request(line)))


def follow(w: Writer, op: Op, aim: Aim) -> None:
    """A topic that is looked up, wherever that leads, and used where it is."""
    number = w.serial()
    topic, slot = f"away{number}", AWAY + HOPS * number
    w.lookup(w.line(op.args[0]), topic, authoritative=op.args[2] % 4 == 3)
    for n in range(HOPS):
        line = w.reach(slot + n, Ref("redirect", topic))
        w.lookup(line, topic, authoritative=Ref("redirected", topic))
        w.settle()
    line = w.reach(slot, Ref("connect", topic))
    pen = w.pen(line, topic)
    w.flow(w.ear(line, topic, "s", op.args[3] % 3), 10)
    for _ in range(1 + op.args[4] % 3):
        w.send(pen)
    w.ping(line)
    w.kinds.pop((topic, "s"))
    for n in range(HOPS):
        w.lines.pop(slot + n)


def crowd(w: Writer, op: Op, aim: Aim) -> None:
    """Many producers that leave it to the broker to name them."""
    for n in range(12 + op.args[1] % 8):
        w.pen(w.line(op.args[0] + n * (op.args[2] % 2)), TOPICS[n % aim.topics], n)
