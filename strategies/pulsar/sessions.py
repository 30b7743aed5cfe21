"""Valid conversations with a broker: producers, consumers, permits, acknowledgements, on one to three connections."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan
from specs.pulsar.states import Config
from strategies.common import Op, Program, programs
from strategies.pulsar import acts, scenes
from strategies.pulsar.remembering import remembers
from strategies.pulsar.several import ORDERED, three
from strategies.pulsar.writer import NAMES, SUBSCRIPTIONS, TOPICS, Writer

ENDS = ("", "redeliver", "close")
"""How conversations end. Losing connections takes more than a second, so that those which do are a property of their
own, with much to be lost in each."""


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
    permits: tuple[int, ...] = acts.PERMITS

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
                kind, name = (
                    self.kinds[head[3] % len(self.kinds)],
                    (NAMES if head[3] & 128 else ORDERED)[(head[3] + at) % 4],
                )
                ear = w.ear(w.line(at), TOPICS[0], SUBSCRIPTIONS[0], kind, 0, name)
                if "permits" in self.start:
                    w.flow(ear, self.permits[(head[3] + at) % len(self.permits)])
        for op in program.ops:
            OPS[op.kind](w, op, self)
        end(w, self.ends[head[2] % len(self.ends)], head[2] // len(self.ends))
        return w.plan()


def end(w: Writer, how: str, choice: int = 0) -> None:
    """Make the broker show what it holds: everything that was not acknowledged comes again, nothing else, wherever a
    consumer would begin if its subscription were new. Names of producers are free again."""
    ears, named = w.ears(), {(pen.topic, pen.name) for pen in w.pens() if isinstance(pen.name, str) and pen.name}
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
    elif how == "close":
        for ear in ears:
            w.settle()
            w.close_ear(ear)
    elif how in ("cut", "lose"):
        for slot in list(w.lines)[:: 2 if how == "lose" else 1]:
            w.hang(slot)
        w.wait(1500)
        for topic, name in sorted(named - {(pen.topic, pen.name) for pen in w.pens()}):
            w.pen(w.line(), topic, name=name)
    if how in ("close", "cut", "lose"):
        fields: dict[str, Any] = {"initialPosition": 1} if choice % 2 and w.config.profile == "modern" else {}
        there = {(ear.topic, ear.sub) for ear in w.ears()}
        for ear in w.ears():
            w.flow(ear, 1000)
        for (topic, sub), kind in sorted(w.kinds.items()):
            if (topic, sub) not in there:
                w.settle()
                w.flow(w.ear(w.line(), topic, sub, kind, 1, **fields), 1000)
    w.wait()


Doing = Callable[[Writer, Op, Aim], None]
OPS: Mapping[str, Doing] = {
    "several": acts.ack_several,
    "three": three,
    "remembers": remembers,
    "some_again": scenes.some_again,
    "cumulative": scenes.cumulative,
    "gap": scenes.gap,
    "listed": scenes.listed,
    "seek": scenes.seek,
    "part": scenes.part,
    "spent": scenes.spent,
    "crowd": scenes.crowd,
    "follow": scenes.follow,
    "waiting": scenes.waiting,
    "ask": acts.ask,
    "producer": acts.said_producer,
    "send": acts.send,
    "batch": acts.send_batch,
    "burst": acts.burst,
    "subscribe": acts.said_subscribe,
    "flow": acts.flow,
    "ack": acts.ack,
    "odd_ack": acts.odd_ack,
    "redeliver": acts.redeliver,
    "close_consumer": acts.close_consumer,
    "close_producer": acts.close_producer,
    "unsubscribe": acts.unsubscribe,
    "ping": acts.ping,
    "lookup": acts.lookup,
    "partitions": acts.partitions,
    "cut": acts.cut,
}
