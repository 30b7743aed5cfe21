"""What a campaign leaves in the warehouse, and what its pages show of it.

A campaign is a search that Spark spreads over many tasks, in waves: each wave begins with what the waves before have
found. `Found` is the one table that tasks write; the others are made of it (`reports/spark/campaigns.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

SCORED: Final = ("killed", "late", "wrong", "survived", "broken")
"""The kinds of row that tell what became of a seeded fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One row of what a task found. `source` is what was judged, as the command names it. By `kind`:

    - `task`: what was played in all: `times` plans in `conversations` conversations; `why` says why it ended early.
    - `property`: `times` plans of the property `name`.
    - `verdict`: `conversations` conversations with the verdict `name`.
    - `judged`: the requirement `name` was judged so many `times`, in `conversations` conversations.
    - `leaned`: so many conversations were allowed by the freedom `name` alone.
    - `feature`: so many showed the feature `name` (`campaigns/novelty.py`).
    - `fault`: so many broke the requirement `name` at `level`; `about` is the fingerprint, `why` the first sentence.
    - `alarm`: so many showed what should never happen and is no verdict: `name` is `crash` (a correct peer raised),
      `hole` (the specification had no answer) or `raised` (our own side raised); `about` tells sorts apart.
    - `wave`: the wave began at `about`, UTC in ISO form. `ended`: the campaign came to its end at `about`, because of
      `why`; a later wave takes that back. Rows of the driver, of all sources.
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
    times: int = 0
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Wave:
    """How far one source had come after a wave: plans, and different requirements judged, features and sorts of fault,
    all from the beginning. `at`: when the wave began, where that is known."""

    source: str
    wave: int
    plans: int
    judged: int
    features: int
    faults: int
    at: str = ""


def waves(
    played: Mapping[tuple[str, int], int], new: Mapping[tuple[str, str, int], int], began: Mapping[int, str]
) -> tuple[Wave, ...]:
    """The waves of each source: from the plans that were `played` by (source, wave), and how many things were `new` in
    (source, kind, wave), where a kind is `judged`, `feature` or `fault`."""
    found: list[Wave] = []
    for source in sorted({source for source, _ in played}):
        plans, totals = 0, Counter[str]()
        for wave in sorted(wave for of, wave in played if of == source):
            plans += played[source, wave]
            totals.update({kind: new.get((source, kind, wave), 0) for kind in ("judged", "feature", "fault")})
            found.append(
                Wave(
                    source=source, wave=wave, plans=plans, judged=totals["judged"], features=totals["feature"],
                    faults=totals["fault"], at=began.get(wave, ""),
                )
            )  # fmt: skip
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One requirement in one campaign: how often it was judged, in how many conversations, and in how many of those it
    was broken. `source` is what was judged."""

    source: str
    protocol: str
    role: str
    requirement: str
    judged: int
    conversations: int
    broken: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lean:
    """Conversations that only this freedom of the text allowed."""

    source: str
    freedom: str
    conversations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """A sort of fault: how many conversations showed it, and what looking into it came to (`verdict` is "" before).
    `slug` is the implementation that showed it, as its runs name it, where the trace tells."""

    source: str
    requirement: str
    level: str
    fingerprint: str
    why: str
    conversations: int
    verdict: str
    document: str
    slug: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """What should never happen, however often it did: see the kind `alarm` of `Found`. `key` and `program` show it."""

    source: str
    name: str
    about: str
    why: str
    conversations: int
    key: str
    program: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What our green is worth on one requirement: of `seeded` faults that break it, so many were `killed` (named by it
    first), found `late` or under a `wrong` name, or `survived`; `median_ms` until the right one was reported."""

    protocol: str
    requirement: str
    seeded: int
    killed: int
    late: int
    wrong: int
    survived: int
    median_ms: float
    survivors: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One campaign as its page tells it; of each source, the estimates of features and of sorts of fault unseen.
    `ended`: when it came to its end, and `why`; "" while it goes on, and where it was stopped."""

    campaign: Campaign
    plans: int
    conversations: int
    inconclusive: int
    ended: str = ""
    why: str = ""
    waves: tuple[Wave, ...] = ()
    rows: tuple[Row, ...] = ()
    leans: tuple[Lean, ...] = ()
    sights: tuple[Sight, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    scores: tuple[Score, ...] = ()
    features: tuple[tuple[str, Estimate], ...] = ()
    faults: tuple[tuple[str, Estimate], ...] = ()
