"""Conversations in which the tester is the broker: what a client is told, and how it is answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan, Ref, Say
from specs.pulsar.batches import batch, compress
from specs.pulsar.frames import NOBODY, SECOND, Draft, draft
from specs.pulsar.states import Config
from strategies.common import Op, Program, programs
from strategies.pulsar.consuming import KEYS, beside, consumer, ear_of, leave, many, ping, receive, spend
from strategies.pulsar.desk import Desk, Nth
from strategies.pulsar.serving_places import elsewhere, partitioned, redirect
from strategies.pulsar.wanting import again
from strategies.pulsar.writer import PROPERTIES

LAST = (0, 1, 7, 255, (1 << 31) - 1, (1 << 32) - 1, (1 << 32) + 5, 1 << 40, 0)


def conversations(*kinds: str, most: int = 6, evenly: bool = False) -> SearchStrategy[Program]:
    """Programs of some kinds of ops, `evenly` or as often as each has a weight."""
    return programs({kind: 1 if evenly else OPS[kind][0] for kind in kinds or OPS}, head=3, most=most)


def interpret(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """The plan that a program means."""
    d = Desk(config, program.head, hurry=hurry)
    for op in program.ops:
        if not d.over:
            OPS[op.kind][1](d, op)
    d.leave()
    return d.plan()


def _pen(d: Desk, op: Op) -> str:
    return d.pens[op.args[0] % len(d.pens)][0] if d.pens else d.producer(("t", "t-1")[op.args[0] % 2])


def _producer(d: Desk, op: Op) -> None:
    a, b, c, _, _ = op.args
    fields = {"last_sequence_id": LAST[c % len(LAST)]} if b % 3 == 2 and d.config.profile == "modern" else {}
    pen = d.producer(f"x{d.handles}", ("", "named")[a % 2], **fields)
    if fields:  # where it goes on shows in what it sends
        d.send(pen)
        d.receipt()


def _send(d: Desk, op: Op) -> None:
    _, b, c, e, f = op.args
    pen = _pen(d, op)
    payload = (None, None, None, b"\x0e\x01\x00\x00", bytes(range(256)), b"A" * 3000)[b % 6] if b % 4 != 1 else b""
    if payload:
        d.sends += 1
        payload += str(d.sends).encode()
    d.send(pen, payload, KEYS[c % len(KEYS)], dict(PROPERTIES[e % len(PROPERTIES)]) if f % 2 else {})
    if f % 8 > 5:
        d.ping()
    d.receipt()


def _async(d: Desk, op: Op) -> None:
    """Several sends that are open together, perhaps the second one without a payload; receipts in order."""
    pen = _pen(d, op)
    first = d.sends
    count = 2 + op.args[1] % 4
    for n in range(count):
        d.send(
            pen,
            None if n != 1 or op.args[3] // 2 % 2 else b"",
            KEYS[(op.args[2] + 1) % len(KEYS)] if n % 2 else None,
            op="send_async",
            when="turn" if n == 0 else "now",
        )
    d.wait()
    if op.args[3] % 2:
        d.ping()
    d.receipt(count)
    for n in range(first, d.sends):
        d.do("await", {"handle": Ref("handle", f"s{n + 1}")})


CROSSED_MS = 20
"""How long a send waits whose receipt has not come, while that of another producer has."""


def _crossed(d: Desk, op: Op) -> None:
    """Two new producers, each with one message under way, of the same number: the receipt of the second comes first."""
    pair = [d.producer(f"x{d.handles}"), d.producer(f"x{d.handles}")]
    first = d.sends
    for n, pen in enumerate(pair if op.args[0] % 2 else pair[::-1]):
        d.send(pen, op="send_async", when="now" if n else "turn")
    d.wait()
    d.receipt(nth=-1)
    d.do("await", {"handle": Ref("handle", f"s{first + 1}")})
    d.wait(CROSSED_MS)
    d.receipt()
    d.do("await", {"handle": Ref("handle", f"s{first + 2}")})


def _spoiled(d: Desk, op: Op) -> None:
    """A message that cannot be read, perhaps twice, and a good one behind it."""
    ear, nth = ear_of(d, op)
    for _ in range(op.args[3] % 3 if op.args[4] % 2 else 0):
        d.push(nth)
        d.receive(ear)
    for _ in range(1 + (op.args[2] % 5 == 3)):
        _unreadable(d, op, nth)
        d.wait()
        d.push(nth)
        d.receive(ear)


def _unreadable(d: Desk, op: Op, nth: Nth) -> None:
    match op.args[1] % 11:
        case 10:
            lies = ({"payload_size": 1000}, {"payload_size": -5})[op.args[2] % 2]
            d.push(nth, meta={"num_messages_in_batch": 2}, raw=batch([({}, b"first"), (lies, b"x")]))
        case 8:
            d.push(nth, meta={"compression": 1, "uncompressed_size": 100}, raw=b"\xf0garbage\xff\xff")
        case 9:
            d.push(nth, meta={"num_messages_in_batch": 1}, raw=batch([({"payload_size": -5}, b"x")]))
        case 0 | 1:
            d.push(nth, check="bad", messages=op.args[2] % 2 * 2)
        case 2:
            d.push(nth, meta={"compression": 2, "uncompressed_size": 10}, raw=b"no zlib here")
        case 3:
            # over the limit, and yet a client that believes it can still report the message on one line
            d.push(nth, meta={"compression": 2, "uncompressed_size": 8 * 1024 * 1024}, raw=compress(2, b"tiny"))
        case 4:
            d.push(nth, meta={"num_messages_in_batch": 3}, raw=batch([({}, b"only one")]))
        case 5:
            d.push(nth, meta={"num_messages_in_batch": 1}, raw=b"\x7f\xff\xff\xff" + b"x" * 8)
        case 6:
            d.push(nth, meta={"num_messages_in_batch": 1}, raw=batch([({"payload_size": 1000}, b"x")]))
        case _:
            d.push(nth, meta={"compression": 2, "uncompressed_size": 3}, raw=compress(2, b"four"))


def _strays(d: Desk, op: Op) -> None:
    """What a client must ignore."""
    if not d.ears and not d.pens:
        ear_of(d, op)
    match op.args[1] % 6:
        case 0:
            d.push(0, who=4242)
        case 1:
            d.say("SUCCESS", request_id=987654)
        case 2:
            d.say("ERROR", request_id=987654, error=0, message="nothing")
        case 3:
            d.say("ERROR", request_id=NOBODY, error=0, message="nothing")
        case 4:
            d.say("SEND_RECEIPT", producer_id=4242, sequence_id=0, message_id={"ledgerId": 1, "entryId": 1})
        case _:
            d.say("CLOSE_CONSUMER", consumer_id=4242, request_id=NOBODY)
    if d.ears:
        ear, nth = ear_of(d, op)
        d.push(nth)
        d.receive(ear)
    else:
        d.send(d.pens[0][0])
        d.receipt()


def _drop(d: Desk, op: Op) -> None:
    """The connection is cut, perhaps with messages under way."""
    if not d.pens and not d.ears:
        made = ear_of if op.args[0] % 4 > 1 else _pen
        made(d, op)
    if op.args[4] % 3 == 2:  # what was made later comes back, too
        more = consumer if d.ears else _producer
        more(d, op)
    both = d.pens and op.args[4] % 3 == 1  # one before and one behind: numbers must go on
    if both:
        d.send(d.pens[-1][0])
        d.receipt()
    open_sends, blocked = 0, False
    if d.pens and op.args[1] % 2:
        open_sends = 12 if op.args[3] // 16 % 4 == 3 else (1, 3, 4, 5)[op.args[2] % 4]
        pen = d.pens[op.args[0] % len(d.pens)][0]
        blocked = op.args[3] % 3 == 2  # a program that knows nothing but `send` can have one open, too
        open_sends = 1 if blocked else open_sends
        key, properties = KEYS[op.args[2] // 4 % len(KEYS)], dict(PROPERTIES[op.args[1] // 2 % 3])
        for n in range(open_sends):
            d.send(pen, None, key, properties, "send" if blocked else "send_async", "turn" if n == 0 else "now")
        d.wait()
    first = d.sends - open_sends
    down = 0 if blocked or not d.pens or op.args[4] % 4 else 1 + op.args[2] % 2
    d.drop(*(d.pens[op.args[0] % len(d.pens)][0] for _ in range(down)))
    open_sends += down
    if op.args[1] % 8 == 7:  # what has been sent again gets lost as well
        d.wait()
        d.drop()
    if open_sends:
        d.wait()
        d.receipt(open_sends)
        for n in range(first, d.sends if not blocked else first):
            d.do("await", {"handle": Ref("handle", f"s{n + 1}")})
    if both:
        d.wait()
        d.send(d.pens[-1][0])
        d.receipt()
    d.ears = [(key, topic, topic) for key, topic, _ in d.ears]  # in which order they come back nobody knows
    d.wait()
    if d.ears:
        spend(d, op)
    if op.args[3] % 4 == 1:
        d.ping()
        d.wait()


def _closed(d: Desk, op: Op) -> None:
    """The broker closes a producer or consumer, and goes on."""
    if op.args[1] % 2:
        if not d.pens:
            _pen(d, op)
        if op.args[2] % 4:  # its numbers must go on
            d.send(d.pens[-1][0])
            d.receipt()
        if op.args[3] % 3 and not d.ears:  # with something else on it, the connection has every reason to stay
            ear_of(d, op)
        d.say("CLOSE_PRODUCER", producer_id=Ref("asked", (d.at, "PRODUCER", -1, "producer_id")), request_id=NOBODY)
        if op.args[4] % 4 == 3 and len(d.pens) == 1 and not d.ears and d.where == "url":
            d.lookup(1, "elsewhere")  # where it was is not where it is
            d.away()
        else:
            d.lookup()
        d.created()
        d.send(d.pens[-1][0])
        d.receipt()
    else:
        ear, nth = ear_of(d, op)
        d.say("CLOSE_CONSUMER", consumer_id=d.ear_id(nth), request_id=NOBODY)
        d.lookup()
        d.success()
        d.ears = [(key, topic, topic if key == ear else place) for key, topic, place in d.ears]
        spend(d, op)
    d.wait()


def _broken(d: Desk, op: Op) -> None:
    """What may end the connection: whatever the client does, it stays alive. Nothing is asked of it then."""
    ear, nth = ear_of(d, op)
    if d.over:
        return
    d.over = True
    match op.args[1] % 13:
        case 0:
            d.push(nth, rest=b"\x0e\x09abcdefghijkl")
            d.receive(ear, when="now")  # it must not be given, and the connection must end
        case 1:
            d.push(nth, rest=b"\x7f\xff\xff\xffabc")
        case 2:
            d.steps.append(
                Say(d.at, draft("MESSAGE", consumer_id=d.ear_id(nth), message_id={"ledgerId": 5, "entryId": 99}))
            )
        case 3:
            d.steps.append(Say(d.at, Draft("PONG", rest=b"\x00\x00\x00\x01")))
        case 4:
            d.steps.append(Say(d.at, Draft("SUCCESS", {"request_id": 5}, extra=SECOND)))
        case 5 if op.args[2] % 2 and d.config.profile == "modern":
            young = Ref("asked-18", (d.at, "SUBSCRIBE", nth))
            d.over = False
            d.push(nth, who=young, broker=b"\x08\x01\x10\x05")
            d.receive(ear)
        case 5:
            d.say("CONNECTED", server_version="again", protocol_version=d.version)
        case 6 if d.config.profile == "modern":
            d.say("REACHED_END_OF_TOPIC", consumer_id=d.ear_id(nth))
        case 7 | 8 | 9:
            pen = d.pens[0][0] if d.pens else d.producer("z")
            d.send(pen, op="send_async")
            d.send(pen, op="send_async", when="now")
            d.wait()
            error = (9, 2, 15)[op.args[2] % 3]
            if op.args[1] % 13 == 7:
                d.say(
                    "SEND_RECEIPT",
                    producer_id=Ref("sent", (d.at, "producer_id", 1)),
                    sequence_id=Ref("sent", (d.at, "sequence_id", 1)),
                    message_id={"ledgerId": 9, "entryId": 1},
                )
            else:
                d.say("SEND_ERROR", producer_id=Ref("sent", (d.at, "producer_id")),
                      sequence_id=Ref("sent", (d.at, "sequence_id")), error=error, message="no")  # fmt: skip
                if error == 9:  # nothing but that send fails
                    d.do("await", {"handle": Ref("handle", f"s{d.sends - 1}")})
        case 11:
            d.do("producer", {"topic": Ref("topic", "w")})
            d.ways()
            d.say("ERROR", request_id=Ref("open", (d.at, "PRODUCER")), error=(16, 4)[op.args[3] % 2], message="no")
        case 10:
            for n in range(12):
                d.push(nth, when="turn" if n == 0 else "now", who=d.ear_id(nth))
        case _:
            d.do(
                "subscribe",
                {"topic": Ref("topic", "w"), "subscription": "s", "type": "Exclusive", "name": "", "permits": 1},
            )
            d.ways()
            d.say("ERROR", request_id=Ref("open", (d.at, "SUBSCRIBE")), error=(5, 0)[op.args[2] % 2], message="no")
    d.wait(50)


def _close(d: Desk, op: Op) -> None:
    """The client closes a producer, the last one or the first; perhaps another is made beside those that are left."""
    if d.pens:
        key, _ = d.pens.pop(0 if op.args[1] % 2 else -1)
        d.do("close", {"producer": Ref("handle", key)})
        d.success("CLOSE_PRODUCER")
        if d.pens and op.args[1] % 2:
            _producer(d, op)


Doing = Callable[[Desk, Op], None]
OPS: Mapping[str, tuple[int, Doing]] = {
    "producer": (3, _producer),
    "send": (8, _send),
    "async": (4, _async),
    "crossed": (2, _crossed),
    "consumer": (3, consumer),
    "receive": (8, receive),
    "many": (3, many),
    "beside": (3, beside),
    "again": (3, again),
    "ping": (2, ping),
    "spoiled": (4, _spoiled),
    "strays": (3, _strays),
    "drop": (3, _drop),
    "closed": (2, _closed),
    "redirect": (2, redirect),
    "elsewhere": (2, elsewhere),
    "partitioned": (2, partitioned),
    "close": (1, _close),
    "leave": (2, leave),
    "broken": (4, _broken),
}
