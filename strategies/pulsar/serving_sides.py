"""Short scenes in which something stands beside what ends or fails, and in which a part is done and the rest is
not: what is kept in one place for two purposes, or counted where it should be known which, goes wrong there. They are
dealt with those of serving_scenes.py.

Source: 001_c0ea8805bb7ed422.txt, "Producer", "Flow control", "Batch messages", "Ack".
"""

from __future__ import annotations

from typing import Any

from specs.plan import Ref
from specs.pulsar.batches import batch
from specs.pulsar.frames import NOBODY
from strategies.pulsar.desk import Desk, Nth
from strategies.pulsar.serving_connections import Scene

REFUSED = (4, 11, 14, 1)
"""AuthorizationError, TopicNotFound, ConsumerNotFound and MetadataError: one that nobody tries again, as a rule."""
ROWS: list[Scene] = []


def scene(row: Scene) -> Scene:
    """Register a scene."""
    ROWS.append(row)
    return row


# -- side by side ------------------------------------------------------------------------------------------------------


@scene
def _a_producer_and_a_consumer_side_by_side(d: Desk, how: int) -> None:
    """The first of each has the same number, as likely as not. One is closed, by the client or the broker, and the
    other one goes on."""
    if how % 2:
        d.producer("a")
    d.consumer("b")
    if how % 2 == 0:
        d.producer("a")
    (pen, ground), (ear, topic, _) = d.pens[-1], d.ears[-1]
    for _ in range(how // 16 % 2):
        d.send(pen)
        d.receipt()
        d.push(topic)
    match how // 2 % 4:
        case 0:
            d.pens.pop()
            d.do("close", {"producer": Ref("handle", pen)})
            d.success("CLOSE_PRODUCER")
        case 1:
            d.ears.pop()
            d.do("close", {"consumer": Ref("handle", ear)})
            d.success("CLOSE_CONSUMER")
        case 2:
            d.say("CLOSE_PRODUCER", producer_id=d.pen_id(ground), request_id=NOBODY)
            d.lookup()
            d.created()
        case _:
            d.say("CLOSE_CONSUMER", consumer_id=d.ear_id(topic), request_id=NOBODY)
            d.lookup()
            d.success()
    for _ in range(2):
        if d.ears:
            d.push(topic)
            d.ack(ear, d.receive(ear))
        if d.pens:
            d.send(pen)
            d.receipt()


@scene
def _one_is_refused_and_others_go_on(d: Desk, how: int) -> None:
    """The connection stays, and so do the numbers that were used on it, whatever is asked for next: to close what was
    there before, or something new."""
    beside = d.consumer("a") if how // 2 % 4 else ""
    kind, op = (("PRODUCER", "producer"), ("SUBSCRIBE", "subscribe"))[how % 2]
    rest = {"subscription": "s", "type": "Exclusive", "name": "", "permits": 5} if how % 2 else {}
    for n in range(1 + how // 8 % 2):
        d.do(op, {"topic": Ref("topic", d.named(f"w{n}")), **rest})
        d.ways()
        d.say("ERROR", request_id=Ref("open", (d.at, kind)), error=REFUSED[how // 16 % 4], message="no")
    if beside:
        d.ears.clear()
        d.do("close", {"consumer": Ref("handle", beside)})
        d.success("CLOSE_CONSUMER")
    if how // 64 % 2:
        d.send(d.producer("c"))
        d.receipt()
    else:
        ear = d.consumer("b")
        d.push("b")
        d.ack(ear, d.receive(ear))


# -- room for messages -------------------------------------------------------------------------------------------------


@scene
def _some_were_taken_before_the_consumer_was_lost(d: Desk, how: int) -> None:
    """The permits end with it: on the next connection, or when it was made again, it has room for as many as at the
    beginning, and no more."""
    permits = (10, 8, 6)[how % 3]
    ear = d.consumer("a", permits=permits)
    _, topic, nth = d.ears[-1]
    taken = (permits // 2 - 1, 2, permits - 1)[how // 3 % 3]
    _takes(d, ear, nth, taken)
    if how // 9 % 2:
        d.say("CLOSE_CONSUMER", consumer_id=d.ear_id(topic), request_id=NOBODY)
        d.lookup()
        d.success()
    else:
        d.wait()
        d.drop()
    d.wait()
    _takes(d, ear, topic, permits)


@scene
def _wanted_again_when_there_is_room_again(d: Desk, how: int) -> None:
    """Some were taken, and permits given back for them, when the application wants all of them again: nobody has more
    room for that."""
    permits = 4 + how % 2 * 2
    ear = d.consumer("a", permits=permits, kind=("Exclusive", "Shared")[how // 2 % 2])
    _, topic, _ = d.ears[-1]
    first = d.entries
    for n in range(permits):
        d.push(topic, when="now" if n else "turn")
    for _ in range((permits // 2, permits, permits - 1)[how // 4 % 3]):
        d.receive(ear)
    d.redeliver(ear)
    d.wait()
    for n in range(permits):
        d.push_again(topic, first + 1 + n)
    for _ in range(permits):
        key = d.receive(ear)
    d.ack(ear, key)


def _takes(d: Desk, ear: str, nth: Nth, count: int) -> None:
    """So many messages reach the application, and the last one is acknowledged."""
    for _ in range(count):
        d.push(nth)
        key = d.receive(ear)
    d.ack(ear, key)


# -- parts of a batch --------------------------------------------------------------------------------------------------


@scene
def _all_of_a_batch_but_one(d: Desk, how: int) -> None:
    """Its messages are acknowledged one by one, in some order, and another message comes before the last of them is:
    the entry is acknowledged when all are."""
    many = 3 + how % 2
    ear = d.consumer("a", kind=("Exclusive", "Shared")[how // 2 % 2])
    _, topic, _ = d.ears[-1]
    d.push(topic, messages=many)
    keys = [d.receive(ear) for _ in range(many)]
    turned = how // 4 % many
    keys = keys[turned:] + keys[:turned]
    keys = keys[::-1] if how // 16 % 2 else keys
    for key in keys[:-1]:
        d.ack(ear, key)
    d.wait()
    d.push(topic)
    d.ack(ear, d.receive(ear))
    d.ack(ear, keys[-1])


@scene
def _each_of_a_batch_has_its_own(d: Desk, how: int) -> None:
    """Key, properties, both or nothing: what one message has the next one need not have."""
    ear = d.consumer("a")
    _, topic, _ = d.ears[-1]
    heads: list[dict[str, Any]] = []
    for n in range(4):
        has = ((3, 0, 1, 2), (1, 2, 0, 3), (2, 1, 3, 0), (3, 2, 0, 1))[how % 4][n]
        key = {"partition_key": f"k{n}"} if has & 1 else {}
        heads.append({**key, "properties": [{"key": "p", "value": f"v{n}"}] if has & 2 else []})
    entries = [(head, b"m%d" % n) for n, head in enumerate(heads)]
    d.push(topic, meta={"num_messages_in_batch": 4}, raw=batch(entries))
    d.ack(ear, *[d.receive(ear) for _ in range(4)])


# -- the next connection -----------------------------------------------------------------------------------------------


@scene
def _more_is_sent_while_the_rest_is_sent_again(d: Desk, how: int) -> None:
    """Receipts for none or some of it have come when the connection is lost, and none on the next one when the
    application sends more."""
    pen = d.producer("a")
    count, had = 3 + how % 2, how // 2 % 3
    for n in range(count):
        d.send(pen, op="send_async", when="now" if n else "turn")
    d.wait()
    d.receipt(had)
    d.wait()
    d.drop()
    for _ in range(2):
        d.wait()
        d.send(pen, op="send_async")
    d.awaited(count - had + 2)
    d.send(pen)
    d.receipt()
