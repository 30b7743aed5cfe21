"""What a campaign leaves in the warehouse, and what its pages show of it.

A campaign is a search that Spark spreads over many tasks, in waves: each wave begins with what the waves before have
found. `Found` is the one table that tasks write; the others are made of it (`reports/spark/campaigns.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One row of what a task found. `source` is what was judged, as the command names it. By `kind`:

    - `task`: what was played in all: `count` plans in `conversations` conversations; `why` says why it ended early.
    - `property`: `count` plans of the property `name`.
    - `verdict`: `conversations` conversations with the verdict `name`.
    - `judged`: the requirement `name` was judged `count` times, in `conversations` conversations.
    - `leaned`: so many conversations were allowed by the freedom `name` alone.
    - `feature`: so many showed the feature `name` (`campaigns/novelty.py`).
    - `fault`: so many broke the requirement `name` at `level`; `about` is the fingerprint, `why` the first sentence.
    - `killed`, `late`, `wrong`, `survived`, `broken`: what became of the seeded fault `about`, which breaks `name`,
      after `size` milliseconds.

    `key` and `program` give the shortest program that shows a feature or a fault, `size` its ops; the program is left
    out where a shorter one is known.
    """

    campaign: str
    wave: int
    task: int
    source: str
    protocol: str
    role: str
    profile: str
    kind: str
    name: str
    about: str = ""
    level: str = ""
    why: str = ""
    key: str = ""
    program: str = ""
    size: int = 0
    count: int = 0
    conversations: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """A fault of a campaign that was investigated, with its trace as `suites/trace.py` writes it."""

    campaign: str
    source: str
    requirement: str
    fingerprint: str
    level: str
    verdict: str
    why: str
    document: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """What a campaign was asked for when it began; `at` is that moment, UTC in ISO form. A campaign that is taken up
    again goes on with this. `plans` for each source, 0 where it goes by the clock; `each` in a task, `wide` tasks in a
    wave; `digest` tells states of the specifications apart."""

    campaign: str
    at: str
    sources: tuple[str, ...]
    seed: int
    plans: int
    each: int
    wide: int
    fresh: float
    suite_version: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """How much is left to find, estimated from how often each thing was seen (Good and Turing; Chao).

    `seen` different things in `looks` conversations, `once` of them in one and `twice` in two. `chance` is the
    probability that the next conversation shows something that no earlier one did, `unseen` about how many things are
    left: a lower bound.
    """

    seen: int
    looks: int
    once: int
    twice: int
    chance: float
    unseen: float


def estimate(counts: Iterable[int], looks: int) -> Estimate:
    """The estimate from how many of `looks` conversations showed each thing that was seen at all.

    The chance that the next conversation shows something new is once/looks (Good 1953). The number of things that were
    never seen is at least once² / (2 · twice), or once · (once - 1) / 2 where none was seen twice (Chao 1984).
    """
    shown = [count for count in counts if count > 0]
    once, twice = shown.count(1), shown.count(2)
    unseen = once * once / (2 * twice) if twice else once * (once - 1) / 2
    return Estimate(
        seen=len(shown), looks=looks, once=once, twice=twice, chance=once / looks if looks else 1.0, unseen=unseen
    )
