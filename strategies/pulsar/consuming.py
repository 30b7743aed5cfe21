"""What the consumers of a client are told and sent: alone, side by side on one connection, and until nothing more is
permitted."""

from __future__ import annotations

from collections.abc import Sequence

from specs.plan import Ref
from strategies.common import Op
from strategies.pulsar.desk import Desk, Nth
from strategies.pulsar.writer import PROPERTIES

KINDS = ("Exclusive", "Shared", "Failover")
PERMITS = (10, 1, 2, 4, 3)
FEW = (3, 10, 3, 1, 2)
"""Permits of consumers that get three messages each: as a rule they are used up then."""
MANY = (1, 2, 3, 4, 2, 3, 4, 12)
TWICE = 5
"""Of fourteen ways to receive, the one in which the first message of a batch is acknowledged as often as it has
messages, and no other."""
KEYS: tuple[str | None, ...] = (None, "k", "K1", "é", "")
RUNS = (b"=" * 300, b"ab." * 60)
"""What repeats itself: compressed, it is said in terms of what it makes."""
IDLE_MS = 30
"""How long an application waits for a message that does not come."""
SPENT = 4
"""Permits that are used up, at most, to see whether there are more then."""


def ear_of(d: Desk, op: Op) -> tuple[str, Nth]:
    """A consumer, which is made if there is none."""
    if not d.ears:
        d.consumer("t", permits=PERMITS[op.args[4] % len(PERMITS)], kind=KINDS[op.args[4] % 3])
    key, _, nth = d.ears[op.args[0] % len(d.ears)]
    return key, nth


def consumer(d: Desk, op: Op) -> None:
    """One more consumer."""
    a, b, c, e, _ = op.args
    d.consumer(
        f"y{d.handles}",
        ("s", "s-1")[e % 2],
        KINDS[a % 3],
        PERMITS[b % len(PERMITS)],
        name=Ref("name", "reader") if c % 3 == 1 else "",
    )


def receive(d: Desk, op: Op) -> None:
    """A message pushed, received and perhaps acknowledged."""
    _, b, c, e, f = op.args
    ear, nth = ear_of(d, op)
    messages = 0 if f % 4 == 3 else (0, 0, 1, 3)[b % 4]
    unseen = b"" if e % 3 else b"\xf2\x0f\x03abc"
    empty = b"" if b % 4 == 1 and (c % 4 < 2 or f // 4 % 2 == 0) else None
    run = RUNS[f // 8 % 2] if c % 4 > 1 and f // 4 % 2 else b""
    d.push(nth, empty, messages=messages, compression=(0, 0, 1, 2)[c % 4], check="" if e % 5 == 4 else "good",
           key=KEYS[c % len(KEYS)], properties=PROPERTIES[(0, 1, 5, 6)[f % 4]], more=unseen,
           outer="outer" if messages and b % 8 > 3 else "", run=run)  # fmt: skip
    for n in range(max(messages, 1)):
        key = d.receive(ear)
        if e % 14 == TWICE:
            for _ in range(0 if n else max(messages, 2)):
                d.ack(ear, key)
        elif e % 2:
            d.ack(ear, key, cumulative=e % 7 == 3 or (messages > 1 and e % 4 == 1))


def many(d: Desk, op: Op) -> None:
    """As many messages as permitted, at once, and perhaps a PING while they wait for the application. Some are
    acknowledged, perhaps the first of those with all before it, perhaps all of them in one breath."""
    ear, nth = ear_of(d, op)
    count = MANY[op.args[1] % len(MANY)]
    for n in range(count):
        d.push(nth, when="turn" if n == 0 else "now")
    if op.args[4] % 2:
        d.ping()
    cumulative, chosen = op.args[3] % 3 == 2, []
    for n in range(count):
        key = d.receive(ear)
        if op.args[2] >> n & 1 and op.args[3] % 3:
            d.ack(ear, key, cumulative=cumulative)
            cumulative = False
        elif op.args[2] >> n & 1:
            chosen.append(key)
    d.ack(ear, *chosen)


def beside(d: Desk, op: Op) -> None:
    """Two consumers side by side on a connection: three messages for each, in turns, one of them without a payload.
    Each acknowledges in a way of its own, before and after one more, if that is permitted."""
    a, b, c, e, f = op.args
    while len(d.ears) < 2:
        kind = KINDS[a % 2 * 2 if d.ears else a % 3]  # what is shared is acknowledged one by one
        d.consumer(f"b{d.handles}", kind=kind, permits=FEW[b % len(FEW)])
    pair = [d.ears[-2], d.ears[-1]]
    for n in range(3):
        for which, (_, _, nth) in enumerate(pair):
            empty = n == (which + f) % 3 and f % 4 < 2
            key = KEYS[(c + n + which) % len(KEYS)]
            d.push(nth, b"" if empty else None, key=key, when="now" if n or which else "turn")
    if c % 2:
        d.ping()
    keys: list[list[str]] = [[], []]
    for n in range(6):
        which = n % 2 if e % 2 else n // 3
        keys[which].append(d.receive(pair[which][0]))
    late = []
    for which, (ear, _, _) in enumerate(pair):
        way = _WAYS[(e // 2 + which * (1 + f // 4 % 2)) % len(_WAYS)]
        way = _late_and_early if e // 8 % 4 == 3 and which == f % 2 else way
        late.append(way(d, ear, keys[which]))
    for (ear, _, nth), left in zip(pair, late, strict=True):
        d.push(nth)
        d.ack(ear, d.receive(ear))
        d.ack(ear, *left)
    if c // 2 % 2:
        _ping_while_it_waits(d, pair[a % 2][0])


def _ping_while_it_waits(d: Desk, ear: str) -> None:
    """The application waits for a message that does not come."""
    d.do("receive", {"consumer": Ref("handle", ear), "timeout_ms": Ref("idle", IDLE_MS)})
    d.say("PING", "now")


def _up_to_the_second(d: Desk, ear: str, keys: Sequence[str]) -> Sequence[str]:
    """What is not acknowledged is left until another one is: so it is seen whether all before that is meant."""
    d.ack(ear, keys[1], cumulative=True)
    return keys[2:]


def _backwards(d: Desk, ear: str, keys: Sequence[str]) -> Sequence[str]:
    d.ack(ear, keys[2])
    d.ack(ear, *keys[:2])
    return ()


def _in_one_breath(d: Desk, ear: str, keys: Sequence[str]) -> Sequence[str]:
    d.ack(ear, *keys)
    return ()


def _late_and_early(d: Desk, ear: str, keys: Sequence[str]) -> Sequence[str]:
    """The last one by itself and, in the same breath, the first with all before it."""
    d.acks(ear, [(keys[2], False), (keys[0], True)])
    return keys[1:2]


_WAYS = (_up_to_the_second, _backwards, _in_one_breath)
"""How a consumer acknowledges three messages. Each answers those that it leaves for later."""


def spend(d: Desk, op: Op) -> None:
    """One of the consumers takes as many messages as it has permits, if these are few, and acknowledges the last."""
    key, _, nth = d.ears[op.args[0] % len(d.ears)]
    count = d.permits.get(key, 0)
    count = count if count <= SPENT else 1
    for n in range(count):
        d.push(nth, when="now" if n else "turn")
    got = [d.receive(key) for _ in range(count)]
    d.ack(key, *got[-1:])


def ping(d: Desk, op: Op) -> None:
    """PING, once or in a row: while nothing goes on, perhaps where topics are looked up as well, while an application
    waits for a message that does not come, or while messages wait for it, perhaps a batch that brings more of them than
    are permitted."""
    a, b, c, _, _ = op.args
    if b % 3:
        ear, nth = ear_of(d, op)
        if b % 3 == 1:
            _ping_while_it_waits(d, ear)
            return
        many = 4 if c % 4 == 3 else 0
        d.push(nth, messages=many)
        d.say("PING", "now")
        for _ in range(max(many, 1)):
            d.receive(ear)
    elif d.pens or d.ears:
        for n in range(1 + a % 3):
            d.ping((d.at, d.home)[(a // 3 + n) % 2], "turn" if n == 0 else "now")


def leave(d: Desk, op: Op) -> None:
    """The client closes the first of its consumers, perhaps while a message is on its way to that, and makes another
    beside those that are left."""
    while len(d.ears) < 2:
        consumer(d, op)
    key, _, gone = d.ears.pop(0)
    crosses = op.args[1] % 2
    d.do("close", {"consumer": Ref("handle", key)})
    if crosses:
        d.wait()
        d.push(gone, when="now")
    d.success("CLOSE_CONSUMER")
    consumer(d, op)
    for ear, _, nth in d.ears if crosses else d.ears[-1:]:  # what crossed belongs to none of them
        d.push(nth)
        d.ack(ear, d.receive(ear))
