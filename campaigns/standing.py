"""What a campaign has come to, as the driver keeps it between the waves.

It is read from the warehouse once. After that each wave adds what it has found, so that the driver asks Spark for what
is new and for nothing else: while it thinks, executors wait.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Final, TypeVar

from pyspark.sql import functions as F  # noqa: N812

from campaigns.found import Found, Known, program_of
from campaigns.sources import Spoken, spoken
from reports.campaigns import SCORED, Campaign, Settled, Wave, waves

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from reports.spark.warehouse import Warehouse

PARENTS: Final = 200
"""Programs of one property that others are bred from, the shortest first."""
FEATURES: Final = 50_000
"""Features of one role that are known by their shortest program at most."""
COLUMNS: Final = tuple(each.name for each in fields(Found))
K = TypeVar("K")
Shortest = tuple[int, str, str]
"""Size, program and key: the smaller one is kept."""


@dataclass
class Standing:
    """Waves and tasks that are done, what was seen, and what was looked into."""

    campaign: Campaign
    wave: int = 0
    tasks: Counter[str] = field(default_factory=Counter)
    features: dict[Spoken, dict[str, Shortest]] = field(default_factory=lambda: defaultdict(dict))
    """Of each protocol and role what any campaign knows, by the name of the feature."""
    first: dict[tuple[str, str, str, str], int] = field(default_factory=dict)
    """By source, kind, name and about: the wave in which this campaign saw what is judged or new, or a fault, first."""
    played: Counter[tuple[str, int]] = field(default_factory=Counter)
    """Plans by source and wave."""
    began: dict[int, str] = field(default_factory=dict)
    """When each wave began."""
    ended: int = 0
    """The wave behind which it last came to its end."""
    faults: dict[tuple[str, str], Found] = field(default_factory=dict)
    """By source and fingerprint, the row with the shortest program."""
    scores: Counter[str] = field(default_factory=Counter)
    """What became of seeded faults: how many of each word."""
    alarms: dict[tuple[str, str, str], Found] = field(default_factory=dict)
    """By source, name and sort, the row with the shortest program."""
    proved: dict[tuple[str, str], Settled] = field(default_factory=dict)
    """By source and fingerprint, what looking into it came to."""
    fresh: set[tuple[str, str]] = field(default_factory=set)
    """Those that this job has looked into."""

    def waiting(self) -> list[Found]:
        """The faults that nobody has looked into."""
        return [row for at, row in sorted(self.faults.items()) if at not in self.proved]

    def failing(self) -> int:
        """Faults that were confirmed."""
        return sum(each.verdict == "fail" for each in self.proved.values())

    def ordered(self, source: str) -> int:
        """Plans that were ordered of a source."""
        return self.tasks[source] * self.campaign.each

    def known(self, source: str) -> Known:
        """What a task of the next wave is told."""
        of = self.features.get(spoken(source), {})
        best = sorted((shortest, name) for name, shortest in of.items())[:FEATURES]
        programs: dict[str, dict[str, None]] = {}
        for (_, program, key), _ in best:
            of_property = programs.setdefault(key, {})
            if len(of_property) < PARENTS:
                of_property.setdefault(program)
        aside = (each.fingerprint for each in self.proved.values() if each.source == source and each.verdict == "fail")
        return Known(
            {name: size for (size, _, _), name in best},
            {key: tuple(map(program_of, texts)) for key, texts in programs.items()},
            frozenset(aside),
        )

    def take(self, rows: Iterable[Found]) -> None:
        """Add what tasks of this campaign have found."""
        for row in rows:
            self.wave = max(self.wave, row.wave)
            if row.kind in ("judged", "feature", "fault"):
                at = row.source, row.kind, row.name, row.about
                self.first[at] = min(row.wave, self.first.get(at, row.wave))
            match row.kind:
                case "task":
                    self.tasks[row.source] += 1
                    self.played[row.source, row.wave] += row.times
                case "feature":
                    self._keep((row.protocol, row.role), row)
                case "fault":
                    _shortest(self.faults, (row.source, row.about), row)
                case "alarm":
                    _shortest(self.alarms, (row.source, row.name, row.about), row)
                case "wave":
                    self.began[row.wave] = row.about
                case "ended":
                    self.ended = max(self.ended, row.wave)
                case kind if kind in SCORED:
                    self.scores[kind] += 1

    def settle(self, found: Iterable[Settled]) -> None:
        """Add what looking into faults came to, just now."""
        for each in found:
            self.proved[each.source, each.fingerprint] = each
            self.fresh.add((each.source, each.fingerprint))

    def waves(self) -> tuple[Wave, ...]:
        """How far each source had come after each wave."""
        new = Counter((source, kind, wave) for (source, kind, _, _), wave in self.first.items())
        return waves(self.played, new, self.began)

    @property
    def plans(self) -> int:
        """Plans that were played in all."""
        return self.played.total()

    def _keep(self, of: Spoken, row: Found) -> None:
        known, here = self.features[of], (row.size, row.program, row.key)
        if row.program and here < known.get(row.name, (1 << 30, "", "")):
            known[row.name] = here

    def told(self) -> str:
        """A line of progress."""
        judged = {name for _, kind, name, _ in self.first if kind == "judged"}
        shown = {(spoken(source), name) for source, kind, name, _ in self.first if kind == "feature"}
        alarms = f", {len(self.alarms)} sorts of alarm" if self.alarms else ""
        return (
            f"wave {self.wave}: {self.plans} plans, {len(judged)} requirements judged, "
            f"{len(shown)} features, {len(self.faults)} sorts of fault{alarms}"
        )


def _shortest(kept: dict[K, Found], at: K, row: Found) -> None:
    before = kept.get(at)
    if before is None or (row.size, row.program) < (before.size, before.program):
        kept[at] = row


def read(warehouse: Warehouse, campaign: Campaign) -> Standing:
    """What the warehouse says of a campaign, and of the features that any campaign knows."""
    found, table = Standing(campaign), warehouse.batches("found")
    found.take(summed(table.where(F.col("campaign") == campaign.campaign)))
    proved = warehouse.batches("proved").where(F.col("campaign") == campaign.campaign).orderBy("batch").drop("batch")
    settled = (Settled(**row.asDict()) for row in proved.collect())
    found.proved.update(((each.source, each.fingerprint), each) for each in settled)
    shortest = F.min(F.struct("size", "program", "key")).alias("best")
    told = table.where("kind = 'feature' and program <> ''").groupBy("protocol", "role", "name").agg(shortest)
    for row in told.select("protocol", "role", "name", "best.*").collect():
        found.features[row.protocol, row.role][row.name] = (row.size, row.program, row.key)
    return found


def summed(table: DataFrame) -> Iterator[Found]:
    """What the driver has to know of these rows: each task, and of all else that was seen the row with the shortest
    program, in the wave that saw it first."""
    best = F.min_by(F.struct(*COLUMNS), F.struct(F.col("program") == "", "size", "program", "key")).alias("row")
    asked = table.where(F.col("kind").isin("task", "judged", "feature", "fault", "alarm", "wave", "ended", *SCORED))
    task = F.when(F.col("kind") == "task", F.struct("wave", "task"))
    keys = ("source", "kind", "name", "about", task.alias("of"))
    for row in asked.groupBy(*keys).agg(best, F.min("wave").alias("first")).collect():
        yield replace(Found(**row.row.asDict()), wave=row.first)
