"""Conversations in which an application wants messages again that it has not acknowledged."""

from __future__ import annotations

from strategies.common import Op
from strategies.pulsar.desk import Desk

KINDS = ("Exclusive", "Shared", "Failover")
PERMITS = (10, 10, 100, 4)
FULL = 4


def again(d: Desk, op: Op) -> None:
    """Messages come. Some, or none, are given to the application, and some of those acknowledged; it wants the
    others again, and is given them, perhaps twice. What it was given last it acknowledges, each or all at once, and
    a new one comes."""
    a, b, c, e, f = op.args
    full = e % 5 == 4  # as many wait as it permits
    if not d.ears and f % 3:
        d.consumer(f"z{d.handles}")
    if not d.ears or full or f % 3:  # one that is not the first of its connection
        d.consumer(f"z{d.handles}", kind=KINDS[a % 3], permits=FULL if full else PERMITS[f % len(PERMITS)])
        ear, _, nth = d.ears[-1]
    else:
        ear, _, nth = d.ears[a % len(d.ears)]
    batch = 2 if c % 3 == 2 and not full else 0
    entries = []
    for n in range(FULL if full else (2, 3, 1, 4)[b % 4]):
        d.push(nth, messages=batch, when="turn" if n == 0 else "now")
        entries.append(d.entries)
    given = 1 if full else len(entries) if e % 3 else (1 + e // 3) % (1 + len(entries))
    left = list(entries)
    for n, entry in enumerate(entries[:given]):
        keys = [d.receive(ear) for _ in range(max(batch, 1))]
        if c >> n & 1 and given > 1:  # of a batch perhaps the first message only
            part = keys[: 1 if f & 4 else batch] if batch else keys
            d.ack(ear, *part)
            left = [each for each in left if each != entry or len(part) < batch]
    for _ in range(1 + (b // 4 % 4 == 3)):
        d.redeliver(ear)
        for n, entry in enumerate(left):
            d.push_again(nth, entry, when="turn" if n == 0 else "now")
        keys = [d.receive(ear) for _ in range(len(left) * max(batch, 1))]
    if f % 5 == 4:  # the last one, with all before it
        for key in keys[-1:]:
            d.ack(ear, key, cumulative=True)
    elif e % 4 != 3:
        for key in keys:
            d.ack(ear, key)
    d.push(nth)
    d.ack(ear, d.receive(ear))
