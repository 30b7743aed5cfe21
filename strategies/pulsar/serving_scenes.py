"""Short scenes for clients, dealt in turn: what a cache, a shared buffer, a count or a list of free ids gets wrong only
in a certain order of steps. What serving.py draws meets each of them too seldom.

Source: 001_c0ea8805bb7ed422.txt, "Producer", "Consumer", "Batch messages", "Ack", "RedeliverUnacknowledgedMessages".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan, Ref
from specs.pulsar.frames import NOBODY
from specs.pulsar.states import Config
from strategies.common import Program, programs
from strategies.pulsar.desk import Desk
from strategies.pulsar.serving_connections import READY_MS, ROWS, Scene
from strategies.pulsar.serving_sides import ROWS as SIDES

HEAD = 5
LEAST, MOST = 3, 6
"""Scenes of a parade."""
ROW, HOW = 2, 3
"""The head numbers that say which scene it is, and in which of its ways it is played."""
_ROWS: list[Scene] = []


def scenes() -> SearchStrategy[Program]:
    """A program is its head: nothing else is drawn."""
    return programs({"none": 1}, head=HEAD, most=0, least=0)


def interpret(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """One scene, and the end of its client."""
    d = Desk(config, program.head, hurry=hurry)
    _ROWS[program.head[ROW] % len(_ROWS)](d, program.head[HOW])
    d.leave()
    return d.plan()


def parades() -> SearchStrategy[Program]:
    """Some scenes, one after the other, for one client."""
    return programs(dict.fromkeys(ROW_OF, 1), head=HEAD, most=MOST, least=LEAST)


def parade(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """Scenes in which a client that has been through the others goes on: it takes longer to start one than to play a
    scene, and what is left of one scene may show in the next. Behind one that leads elsewhere none follows."""
    d = Desk(config, program.head, hurry=hurry)
    for number, op in enumerate(program.ops):
        if d.at == d.home:
            d.apart(number)
            _ROWS[ROW_OF[op.kind]](d, op.args[0])
    d.leave()
    return d.plan()


def _scene(row: Scene) -> Scene:
    _ROWS.append(row)
    return row


def _close(d: Desk, what: str, key: str) -> None:
    d.do("close", {what: Ref("handle", key)})
    d.success(f"CLOSE_{what.upper()}")


def _close_producer(d: Desk, which: Ref) -> None:
    """The broker closes a producer."""
    d.say("CLOSE_PRODUCER", producer_id=which, request_id=NOBODY)


# -- messages that wait ------------------------------------------------------------------------------------------------


@_scene
def _compressed_batches_wait_together(d: Desk, how: int) -> None:
    """The application takes the first one when all have come."""
    ear = d.consumer("a")
    _, _, nth = d.ears[-1]
    kind = 1 + how % 2
    for n, messages in enumerate((3, 2, 0)):
        d.push(nth, messages=messages, compression=kind, when="now" if n else "turn")
    d.ack(ear, *[d.receive(ear) for _ in range(6)], cumulative=how % 4 > 1)


@_scene
def _part_of_a_batch_comes_again(d: Desk, how: int) -> None:
    """What was acknowledged of it is acknowledged again, the rest only behind that."""
    many = 2 + how % 3
    ear = d.consumer("a", kind=("Exclusive", "Shared")[how // 4 % 2])
    _, _, nth = d.ears[-1]
    d.push(nth, messages=many)
    entry = d.entries
    keys = [d.receive(ear) for _ in range(many)]
    d.ack(ear, keys[how // 8 % many])
    d.redeliver(ear)
    d.push_again(nth, entry)
    keys = [d.receive(ear) for _ in range(many)]
    d.ack(ear, keys[how // 8 % many])
    d.wait()
    d.push(nth)
    d.ack(ear, d.receive(ear))
    d.ack(ear, *(key for n, key in enumerate(keys) if n != how // 8 % many))


@_scene
def _what_was_not_acknowledged_comes_on_the_next_connection(d: Desk, how: int) -> None:
    """It was given to the application, or waits for it."""
    ear = d.consumer("a")
    _, topic, nth = d.ears[-1]
    d.push(nth, messages=(0, 2)[how // 2 % 2])
    entry = d.entries
    if how % 2:
        d.receive(ear)
    d.wait()
    d.drop()
    d.wait()
    d.push_anew(topic, entry)
    d.ack(ear, *[d.receive(ear) for _ in range((1, 2)[how // 2 % 2])])
    d.push(topic)
    d.ack(ear, d.receive(ear))


@_scene
def _wanted_again_twice(d: Desk, how: int) -> None:
    """What came again is wanted once more."""
    ear = d.consumer("a", kind=("Shared", "Exclusive")[how % 2])
    _, _, nth = d.ears[-1]
    d.push(nth)
    entry = d.entries
    if how // 2 % 2:
        d.push(nth)
        d.ack(ear, [d.receive(ear), d.receive(ear)][1])
    else:
        d.receive(ear)
    for _ in range(2):
        d.redeliver(ear)
        d.push_again(nth, entry)
        key = d.receive(ear)
    d.ack(ear, key)


@_scene
def _spoilt_behind_metadata_of_the_broker(d: Desk, how: int) -> None:
    """Whoever reads past the one block looks at the checksum all the same."""
    ear = d.consumer("a")
    _, _, nth = d.ears[-1]
    if d.config.profile == "modern":
        young = Ref("asked-18", (d.at, "SUBSCRIBE", d.named(nth) if isinstance(nth, str) else nth))
        for check in ("good", "bad")[how % 2 :]:
            d.push(nth, who=young, broker=b"\x08\x01\x10\x05", check=check, messages=how // 2 % 2 * 2)
        if how % 2 == 0:
            for _ in range(1 + how // 2 % 2):
                d.receive(ear)
    d.wait()
    d.push(nth)
    d.ack(ear, d.receive(ear))


@_scene
def _what_comes_for_one_that_was_closed(d: Desk, how: int) -> None:
    """It is for nobody, whether it comes before the answer to CLOSE_CONSUMER or behind that."""
    stays, goes = d.consumer("a"), d.consumer("b")
    (_, _, first), (_, _, second) = d.ears
    if how // 2 % 2:
        d.push(second)
        d.receive(goes)
    d.ears.pop()
    d.do("close", {"consumer": Ref("handle", goes)})
    late = d.ear_id(second)
    if how % 2:
        d.push(second, who=late)
    d.success("CLOSE_CONSUMER")
    if how % 2 == 0:
        d.push(second, who=late)
    d.push(first)
    d.ack(stays, d.receive(stays))


@_scene
def _garbage_behind_a_good_one(d: Desk, how: int) -> None:
    """What could be decompressed before is not given for what cannot be."""
    ear = d.consumer("a")
    _, _, nth = d.ears[-1]
    kind = 1 + how % 2
    d.push(nth, compression=kind, payload=b"good " * 20)
    d.receive(ear)
    d.push(nth, meta={"compression": kind, "uncompressed_size": 100}, raw=b"\xf0garbage\xff\xff")
    d.wait()
    d.push(nth, messages=how // 2 % 2 * 2)
    d.ack(ear, d.receive(ear))


@_scene
def _one_of_two_twice(d: Desk, how: int) -> None:
    """A message of a batch is acknowledged twice: the other one still is not."""
    ear = d.consumer("a", kind=("Exclusive", "Shared")[how % 2])
    _, _, nth = d.ears[-1]
    d.push(nth, messages=2)
    keys = [d.receive(ear), d.receive(ear)]
    for _ in range(2):
        d.ack(ear, keys[how // 2 % 2])
    d.wait()
    d.push(nth)
    d.ack(ear, d.receive(ear))
    d.ack(ear, keys[1 - how // 2 % 2])


@_scene
def _nothing_in_some_of_them(d: Desk, how: int) -> None:
    """Messages without a payload, compressed or not, before, between and behind others; they have keys all the same."""
    ear = d.consumer("a", kind=("Exclusive", "Shared")[how % 2])
    _, _, nth = d.ears[-1]
    kinds = (0, 1 + how // 2 % 2, 2 - how // 2 % 2)
    for n in range(5):
        empty = b"" if (n + how // 4) % 2 else None
        key = ("k", None)[(n + how // 8) % 2]
        d.push(nth, empty, compression=kinds[(n + how // 16) % 3], key=key, when="now" if n else "turn")
    keys = [d.receive(ear) for _ in range(5)]
    d.ack(ear, *(keys if how // 64 % 2 else keys[::-1]))


# -- ids that are free again -------------------------------------------------------------------------------------------


@_scene
def _two_producers_behind_one_that_was_closed(d: Desk, how: int) -> None:
    first = d.producer("a")
    if how % 2:
        d.send(first)
        d.receipt()
    if how % 4 > 1:
        d.producer("b")
    d.pens.remove((first, "a"))
    _close(d, "producer", first)
    pair = [d.producer("c"), d.producer("d")]
    for pen in pair if how // 4 % 2 else pair[::-1]:
        d.send(pen)
        d.receipt()


@_scene
def _two_consumers_behind_one_that_was_closed(d: Desk, how: int) -> None:
    first = d.consumer("a")
    if how % 4 > 1:
        d.consumer("b")
    d.ears = [each for each in d.ears if each[0] != first]
    _close(d, "consumer", first)
    d.consumer("c")
    d.consumer("d")
    ears = d.ears[-2:] if how % 2 else d.ears[-2:][::-1]
    for ear, _, nth in ears:
        d.push(nth)
        d.ack(ear, d.receive(ear))


@_scene
def _the_second_of_three_is_closed(d: Desk, how: int) -> None:
    for name in "abc":
        d.consumer(name)
    second = d.ears.pop(1)
    d.push(d.ears[how % 2][2])
    _close(d, "consumer", second[0])
    for n, (ear, _, nth) in enumerate(d.ears):
        if n != how % 2:
            d.push(nth)
        d.ack(ear, d.receive(ear))


@_scene
def _another_behind_one_that_the_broker_closed(d: Desk, how: int) -> None:
    """What comes back goes on with its id, and the next one has another."""
    made = d.producer if how % 2 else d.consumer
    first = made("a")
    if how // 2 % 2:
        made("b")
    if how % 2:
        _close_producer(d, d.pen_id("a"))
        d.lookup()
        d.created()
        for pen in (d.producer("c"), first):
            d.send(pen)
            d.receipt()
        return
    d.say("CLOSE_CONSUMER", consumer_id=d.ear_id("a"), request_id=NOBODY)
    d.lookup()
    d.success()
    for ear, topic in ((d.consumer("c"), "c"), (first, "a")):
        d.push(topic)
        d.ack(ear, d.receive(ear))


@_scene
def _not_ready_when_it_comes_back(d: Desk, how: int) -> None:
    """A producer that the broker has closed: what is sent waits until it is ready."""
    if d.config.profile != "modern":
        _another_behind_one_that_the_broker_closed(d, how)
        return
    pen = d.producer("a")
    if how % 2:
        d.send(pen)
        d.receipt()
    _close_producer(d, d.pen_id("a"))
    d.lookup()
    d.created(producer_ready=False)
    d.send(pen, op="send_async", when="now")
    d.wait(READY_MS)
    d.created()
    d.awaited(1)


@_scene
def _asked_with_authority_once(d: Desk, how: int) -> None:
    """A redirect says whether to ask with authority: the next lookup of all begins without."""
    d.handles += 1
    pen = f"p{d.handles}"
    d.do("producer", {"topic": Ref("topic", d.named("a")), "_key": pen})
    d.welcome()
    d.metadata()
    for n in range(1 + how // 2 % 2):
        d.lookup(1, response=0, authoritative=n == 0)
    d.lookup()
    d.created()
    d.pens.append((pen, "a"))
    d.send(pen)
    d.receipt()
    if how % 2:
        _close_producer(d, d.pen_id("a"))
        d.lookup()
        d.created()
    else:
        pen = d.producer("b")
    d.send(pen)
    d.receipt()


@_scene
def _numbers_that_begin_behind_zero(d: Desk, how: int) -> None:
    """The last sequence id is 0, which is one: the next is 1."""
    last: dict[str, Any] = {"last_sequence_id": (0, 1, 0, 4)[how % 4]} if d.config.profile == "modern" else {}
    pen = d.producer("a", **last)
    for _ in range(2):
        d.send(pen)
        d.receipt()


@_scene
def _a_key_while_its_producer_is_made_again(d: Desk, how: int) -> None:
    """A message with a key waits for the partition that the key has."""
    pen = d.producer(f"part{how % 4}", partitions=2 + how % 2)
    key = ("k", "", "ключ", "a b")[how // 4 % 4]
    d.send(pen, key=key)
    d.receipt()
    _close_producer(d, Ref("asked", (d.at, "SEND", -1, "producer_id")))
    d.send(pen, key=key, op="send_async", when="now")
    d.lookup()
    d.created()
    d.awaited(1)


_ROWS.extend([*ROWS, *SIDES])
ROW_OF: Mapping[str, int] = {row.__name__.strip("_"): number for number, row in enumerate(_ROWS)}
"""The scenes by their names, and the number that chooses each."""
