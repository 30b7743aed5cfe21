"""Conversations in which a client finds out where its topics are: through redirects, at another address, in
partitions."""

from __future__ import annotations

from specs.plan import Ref
from strategies.common import Op
from strategies.pulsar.desk import Desk, Nth

ENDLESS = 27
"""Redirects in a row that nobody follows to their end."""
KEYED = ("aa", "a a", "aba", "a b a", "aab", " aa", "abcab", "ab ba")
"""Keys of messages that are sent one after the other, a letter each; a blank is none. Each pattern has one again."""
SPELT = ("{}", "{}-of-some-length", "key-of-some-length-{}", "日本{}語😀", "{}" + "x" * 70)
"""How the key of a letter is spelt: what is made of it, be it a sum or a hash, has either sign, and any size."""


def redirect(d: Desk, op: Op) -> None:
    """A producer whose topic is looked up through redirects."""
    d.handles += 1
    key, topic = f"p{d.handles}", f"r{d.handles}"
    d.do("producer", {"topic": Ref("topic", topic), "_key": key})
    d.welcome()
    d.metadata()
    endless = op.args[2] % 12 == 11
    for n in range(ENDLESS if endless else 1 + op.args[0] % 4):
        d.lookup(1, response=0, authoritative=bool(op.args[1] >> n & 1))
    if endless:
        d.over = True
        return
    d.lookup()
    d.created()
    d.pens.append((key, topic))
    d.send(key)
    d.receipt()


def elsewhere(d: Desk, op: Op) -> None:
    """A producer or consumer whose topic is at the other address, or known there; what is made later is there, too."""
    if d.pens or d.ears:
        return
    a, b, c, e, f = op.args
    d.handles += 1
    key, topic = f"e{d.handles}", Ref("topic", d.named("e"))
    if b % 2:
        given = {"topic": topic, "subscription": "s", "type": "Shared", "name": "", "permits": 5, "_key": key}
        d.do("subscribe", given)
    else:
        d.do("producer", {"topic": topic, "_key": key})
    d.welcome()
    d.metadata()
    if a % 3:  # not there, but whom to ask
        d.lookup(1, "elsewhere", response=0, authoritative=bool(c % 2))
        there = d.next()
        d.welcome(conn=there)
        d.lookup(c // 2 % 3, "elsewhere", response=0, conn=there, authoritative=bool(c % 2))  # to ask once more
        d.lookup(1, "url" if a % 3 == 2 else "elsewhere", conn=there)
        d.at = d.at if a % 3 == 2 else there
        d.where = "url" if a % 3 == 2 else "elsewhere"
    else:
        d.lookup(1, "elsewhere")
        d.away()
    if b % 2:
        d.success()
        d.shared.add(key)
        nth: Nth = "e" if d.scene else 0  # behind other scenes it is not the first of its connection
        d.ears.append((key, "e", nth))
        d.subscribed = 1
        d.push(nth)
        d.receive(key)
    else:
        d.created()
        d.pens.append((key, "e"))
        d.send(key)
        d.receipt()
    if f % 2:
        both_ask(d, e)


def both_ask(d: Desk, how: int) -> None:
    """PING at both addresses, at once or one after the other, the older connection first or last, perhaps twice."""
    for n in range(2 + how // 4 % 2):
        d.ping((d.home, d.last)[(how + n) % 2], "turn" if n == 0 or how // 2 % 2 else "now")


def partitioned(d: Desk, op: Op) -> None:
    """A topic of several partitions."""
    count = (1, 2, 3, 4, 2, 3, 5, 11)[op.args[0] % 8]
    if op.args[4] % 3 == 2:  # a message on each, perhaps from the last one on
        nth = d.subscribed
        key = d.consumer(f"q{d.handles}", kind=("Shared", "Exclusive")[op.args[1] % 2], partitions=count)
        for n in range(count):
            d.push(nth + (n if op.args[2] % 2 else count - 1 - n), when="turn" if n == 0 else "now")
        for n in range(count):
            got = d.receive(key)
            if op.args[3] >> n & 1:
                d.ack(key, got)
        return
    key = d.producer(f"q{d.handles}", partitions=count)
    order = KEYED[(op.args[2] + op.args[3]) % len(KEYED)]
    spelt = SPELT[op.args[3] // 8 % len(SPELT)]

    def keyed(n: int) -> str | None:
        letter = order[n % len(order)].strip()
        return spelt.format(letter) if letter else None

    for n in range(2 + op.args[1] % 7):
        d.send(key, f"q{n}".encode() + b"." * n, key=keyed(n), op="send")
        d.receipt()
    if op.args[4] % 3 == 1 and count > 1:
        d.send(d.producer(f"q{d.handles}", partitions=1))
        d.receipt()
    if op.args[4] % 2:  # a key goes where it went before
        d.drop()
        for n in range(1 + op.args[1] % 7):
            d.send(key, f"r{n}".encode(), key=keyed(n))
            d.again()
            d.receipt()
