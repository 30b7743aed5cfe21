"""Deliveries settled one by one, then what is left made visible.

One connection, one to three subscriptions in one mode, some messages each; acknowledgements in a drawn order; then the
connection ends and a collector takes what comes again. General sessions reach this seldom; every fault in what an ACK
settles shows here. Source: 003_30478fd2f19f0da0.txt L148-181; STOMP 1.2, ACK, NACK.
"""

from __future__ import annotations

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan
from specs.stomp.states import Config
from strategies.common import Program, programs
from strategies.stomp.writer import PLACES, Writer

HEAD = 4
_QUEUES = (PLACES[0], PLACES[2])


def settlements() -> SearchStrategy[Program]:
    """Up to eight acknowledgements."""
    return programs({"ack": 5, "nack": 1}, head=HEAD, most=8)


def interpret(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """Head: mode, messages, subscriptions, ending. Ops: which subscription, which delivery, in which transaction."""
    mode, messages, subscriptions, ending = program.head
    writer = Writer(config, hurry=hurry)
    line = writer.line(0)
    name = "client" if mode & 1 or config.version == "1.0" else "client-individual"
    subs = [
        writer.subscribe(line, _QUEUES[n % 2], name, receipt=writer.receipt()) for n in range(1 + subscriptions % 2)
    ]
    for _ in range(1 + messages % 6):
        for sub in subs:
            writer.send(line, sub.place, receipt=writer.receipt())
    writer.wait()
    tx = "t" if mode & 6 == 6 else None
    if tx is not None:
        writer.say(line, "BEGIN", [("transaction", tx), writer.receipt()])
    for op in program.ops:
        sub = subs[op.args[0] % len(subs)]
        free = [n for n in range(1 + messages % 6) if n not in sub.taken]
        if not free:
            continue
        verb = "NACK" if op.kind == "nack" and config.version != "1.0" else "ACK"
        inside = tx if op.args[2] & 1 else None
        writer.acknowledge(line, sub, free[op.args[1] % len(free)], verb=verb, tx=inside, receipt=writer.receipt())
    if tx is not None and ending & 4:
        writer.say(line, ("COMMIT", "ABORT")[ending >> 3 & 1], [("transaction", tx), writer.receipt()])
    writer.wait()
    if ending & 1:
        writer.disconnect(line)
    else:
        writer.hang(line)
    collector = writer.connect(1)
    for sub in subs:
        writer.subscribe(collector, sub.place, receipt=writer.receipt())
    writer.wait()
    for sub in subs:
        writer.send(collector, sub.place, b"marker", receipt=writer.receipt())
    return writer.plan()
