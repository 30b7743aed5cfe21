"""Short scenes in which a client has more than one connection: one after the other, because the one before was lost, or
side by side, to several brokers. They are dealt with those of serving_scenes.py.

Source: 001_c0ea8805bb7ed422.txt, "Producer", "Keep Alive", "Service discovery".
"""

from __future__ import annotations

from collections.abc import Callable

from specs.plan import Control, Ref
from strategies.common import Op
from strategies.pulsar.desk import Desk
from strategies.pulsar.serving_places import both_ask, elsewhere

READY_MS = 50
"""How long a producer is not ready."""
Scene = Callable[[Desk, int], None]
ROWS: list[Scene] = []


def scene(row: Scene) -> Scene:
    """Register a scene."""
    ROWS.append(row)
    return row


# -- the next connection -----------------------------------------------------------------------------------------------


@scene
def _lost_twice(d: Desk, how: int) -> None:
    """What was sent again is under way when the next connection is lost, too, perhaps with something new behind it,
    perhaps for a third time."""
    pen = d.producer("a")
    if how % 2:
        d.send(pen)
        d.receipt()
    count = 1 + how // 2 % 3
    for n in range(count):
        d.send(pen, op="send_async", when="now" if n else "turn")
    for n in range(2 + (how // 8 % 4 == 3)):
        if n == 1 and how // 32 % 2:
            d.send(pen, op="send_async")
            count += 1
        d.wait()
        d.drop()
    d.awaited(count)
    d.send(pen)
    d.receipt()


@scene
def _not_ready_on_the_next_connection(d: Desk, how: int) -> None:
    """What has to be sent again waits until the producer is."""
    if d.config.profile != "modern":
        _lost_twice(d, how)
        return
    pen = d.producer("a")
    count = 1 + how % 2
    for n in range(count):
        d.send(pen, op="send_async", when="now" if n else "turn")
    d.wait()
    d.steps.append(Control(d.at, "drop", None))
    d.at = d.home = d.next()
    d.welcome()
    d.metadata(Ref("count", d.home))
    d.lookup(2)
    d.metadata(Ref("count", d.home))
    d.lookup()
    d.created(producer_ready=False)
    d.wait(READY_MS)
    d.created()
    d.awaited(count)


@scene
def _two_producers_are_lost(d: Desk, how: int) -> None:
    """Each has something under way, and each goes on with its own numbers."""
    pair = [d.producer("a"), d.producer("b")]
    for pen in pair[: how % 3]:
        d.send(pen)
        d.receipt()
    for n in range(4):
        d.send(pair[n % 2], op="send_async", when="now" if n else "turn")
    d.wait()
    d.drop()
    d.awaited(4)
    for pen in pair:
        d.send(pen)
        d.receipt()


# -- two brokers -------------------------------------------------------------------------------------------------------


@scene
def _both_brokers_ask(d: Desk, how: int) -> None:
    """A client that is led elsewhere is asked by both brokers whether it is there: while something is under way, and
    once more when nothing is. What it makes later is looked up where it asked before."""
    elsewhere(d, Op("elsewhere", (how % 3, how // 3 % 2, how // 6 % 2, 0, 0)))
    if d.pens:
        pen, _ = d.pens[-1]
        d.send(pen, op="send_async")
        both_ask(d, how // 8)
        d.awaited(1)
    else:
        ear, _, nth = d.ears[-1]
        d.push(nth)
        both_ask(d, how // 8)
        d.ack(ear, d.receive(ear))
    if how // 64 % 2:
        d.send(d.producer("b"))
        d.receipt()
    both_ask(d, how // 16)
    d.wait()
