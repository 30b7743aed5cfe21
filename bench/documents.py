"""Reading IDL documents: the specification's reader, and the reference's for comparison.

Small documents are what the suites draw: one to five definitions, in every layout. How reading grows with size is the
time for each octet of a document of 1 MB against that of one of 32 KB. All of it in processor time.
"""

from __future__ import annotations

import random
import time

from bench.measure import Figure, RunOptions, in_turns, say
from impls.references.msgpack.idl import Idl
from specs.msgpack.idl.semantics import read
from strategies.common import Op
from strategies.msgpack.documents import DEFINITIONS, built
from strategies.msgpack.printing import printed

EVERY = frozenset(("def", "td", "ts", "meta", "if", "nosc"))
PROFILE = "core+def+td+ts+meta+if+nosc"


def texts(count: int, seed: int, *, plain: bool = False) -> list[str]:
    """So many documents that the suites might draw."""
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        ops = [
            Op(chance.choice(list(DEFINITIONS)), tuple(chance.randrange(256) for _ in range(5)))
            for _ in range(1 + chance.randrange(3 if plain else 5))
        ]
        found.append(printed(built(ops, EVERY), 0 if plain else chance.randrange(64), chance.randrange(256), free=True))
    return found


def large(octets: int) -> str:
    """A document of about so many octets."""
    one = "message M{} {{\n  1: int x\n  2: optional list<string> y\n  3: map<string,long>? z\n}}\n"
    return "".join(one.format(n) for n in range(octets // len(one)))


def cost(text: str) -> float:
    """Processor seconds for each octet."""
    begun = time.process_time()
    assert not read(text).faults
    return (time.process_time() - begun) / len(text)


def run(options: RunOptions) -> list[Figure]:
    """Documents in each second, and how reading grows."""
    count = 20 if options.tiny else 500
    small = {n: texts(count, n, plain=True) for n in range(-1, options.repeats)}
    mixed = {n: texts(count, n) for n in range(-1, options.repeats)}
    say(f"  small documents have {sum(map(len, small[0])) // count} octets, those in every layout")
    say(f"  {sum(map(len, mixed[0])) // count}, most of them comments")
    reference = Idl()
    rates = in_turns(
        {
            "specification": lambda n: float(sum(read(text, EVERY) is not None for text in small[n])),
            "specification, every layout": lambda n: float(sum(read(text, EVERY) is not None for text in mixed[n])),
            "reference": lambda n: float(sum(bool(reference.parse(text, PROFILE)) for text in small[n])),
        },
        options.repeats,
        unit="documents",
    )
    for rate in rates.values():
        say(f"  {rate}")
    size = 1 << 15 if options.tiny else 1_000_000
    growth = tuple(cost(large(size)) / cost(large(1 << 15)) for _ in range(options.repeats))
    return [
        Figure("documents", "small documents read", rates["specification"].values, 2000, unit="/s"),
        Figure("documents", "documents in every layout read", rates["specification, every layout"].values, unit="/s"),
        Figure("documents", "an octet of 1 MB against one of 32 KB", growth, 2, at_most=True),
    ]
