"""From the rows of a run to its verdicts: `reports.summary.fold` itself, run on the executors.

Spark adds up the coverage rows and gathers the others, a few hundred a run; what they amount to is then decided by the
same function that prints the summary of a run. No verdict is computed in two ways.
"""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, date, datetime
from functools import cache, reduce
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, DataType, StructField, StructType

from records.reader import Places
from records.rows import FaultRow, RunRow, from_json
from reports import tables
from reports.spark import schemas
from reports.spark.reading import COUNTED
from reports.spark.rows import UNKNOWN_DAY, Effort, Fault, Stale, Verdict
from reports.summary import Summary, Tally, baseline, fold
from reports.terminal import replay

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyspark.sql import DataFrame

STANDINGS: Final = (
    "passed", "failed", "warned", "accepted", "inconclusive", "error", "untestable", "unsupported", "unselected",
)  # fmt: skip
PARTS: Final[dict[str, type]] = {
    "runs": tables.Run,
    "verdicts": Verdict,
    "faults": Fault,
    "efforts": Effort,
    "stale": Stale,
}


class Folded(NamedTuple):
    """What one run amounts to, as rows of the tables in PARTS."""

    runs: list[tables.Run]
    verdicts: list[Verdict]
    faults: list[Fault]
    efforts: list[Effort]
    stale: list[Stale]


def gathered(rows: DataFrame, overturned: DataFrame) -> DataFrame:
    """One row for each run with all that `folded` needs: run, texts, counts, places, overturned.

    `rows` has run, worker, n, and either text or the columns of a coverage row; `overturned` run and trace. Rows read
    twice count once. All rows of a run are brought together at once: nothing is sent around again.
    """
    each = rows.repartition("run")
    texts = each.where(F.col("text").isNotNull()).select("run", "text").distinct()
    once = each.where(F.col("text").isNull()).select(*COUNTED.names).distinct()
    counts = once.groupBy("run", "requirement").agg(F.sum("exercised").alias("e"), F.sum("judged").alias("j"))
    places = (
        each.where("n > 0").groupBy("run", "worker").agg(F.countDistinct("n").alias("count"), F.max("n").alias("last"))
    )
    parts = [
        texts.select("run", F.col("text").alias("texts")),
        counts.select("run", F.struct("requirement", "e", "j").alias("counts")),
        places.select("run", F.struct("worker", "count", "last").alias("places")),
        overturned.select("run", F.col("trace").alias("overturned")),
    ]
    both = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), parts)
    gathered = both.groupBy("run").agg(*[F.collect_list(name).alias(name) for name in both.columns[1:]])
    return gathered.where("size(texts) + size(counts) > 0")


def folded(runs: DataFrame) -> DataFrame:
    """What `gathered` gave as one struct of the arrays in PARTS for each run."""
    made = F.udf(_fold, _struct(), useArrow=False)
    return runs.select(made("run", "texts", "counts", "places", "overturned").alias("run")).select("run.*")


def part(found: DataFrame, table: str) -> DataFrame:
    """The rows of one table out of what `folded` gave."""
    return found.select(F.explode(table).alias("row")).select("row.*")


@cache
def _struct() -> DataType:
    return StructType([StructField(name, ArrayType(schemas.of(table))) for name, table in PARTS.items()])


def _fold(run: str, texts: Any, counts: Any, places: Any, overturned: Any) -> tuple[list[tuple[Any, ...]], ...]:
    gone = set(overturned)
    rows = [from_json(text) for text in texts]
    kept = [row for row in rows if not (isinstance(row, FaultRow) and row.trace in gone)]
    tally = Tally(
        {name: exercised for name, exercised, _ in counts},
        {name: judged for name, _, judged in counts},
        {worker: Places(count, last) for worker, count, last in places},
    )
    told = [row for row in rows if isinstance(row, RunRow)]
    strict = any(row.strict for row in told)
    summary = fold(kept, baseline(rows), strict, _today(told), tally)
    return tuple([_plain(row) for row in part] for part in made(run, summary))


def _today(told: Sequence[RunRow]) -> date:
    """The day of the run: an entry that expired since was in force then."""
    days = [row.at[:10] for row in told]
    try:
        return date.fromisoformat(min(days, default=""))
    except ValueError:
        return datetime.now(UTC).date()


def _plain(row: Any) -> tuple[Any, ...]:
    table: type = type(row)
    return tuple([_clean(value) for value in _told(table)(row)])


@cache
def _told(table: type) -> attrgetter[Any]:
    return attrgetter(*[field.name for field in fields(table)])


def _clean(value: Any) -> Any:
    """Text that every encoder takes: a lone surrogate, which JSON can bring, becomes a question mark."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    return [_clean(item) for item in value] if isinstance(value, tuple) else value


def slug_of(row: RunRow) -> str:
    """What names an implementation: its name, protocol, role and profile."""
    return "/".join((row.impl, row.protocol, row.role, row.profile))


def made(run: str, summary: Summary) -> Folded:
    """The rows of the tables that a summary gives."""
    row = summary.run
    slug, day = slug_of(row), day_of(row.at)
    whole = summary.complete and not row.partial
    counts = {word: len(summary.standing(word)) for word in STANDINGS}
    about = tables.Run(
        run=run, slug=slug, impl=row.impl, protocol=row.protocol, role=row.role, profile=row.profile,
        version=row.version, at=row.at, day=day, verdict=summary.verdict, reasons=summary.reasons,
        complete=summary.complete, partial=row.partial, strict=summary.strict, seed=row.seed, budget=row.budget,
        suite_version=row.suite_version, plans=summary.plans, steps=summary.steps, seconds=summary.seconds,
        judged=sum(counts[word] for word in ("passed", "failed", "warned", "accepted")),
        troubles=tuple(f"{trouble.where}: {trouble.message}" for trouble in summary.troubles), **counts,
    )  # fmt: skip
    verdicts = [
        Verdict(
            run=run, slug=slug, version=row.version, at=row.at, whole=whole, requirement=found.id,
            verdict=found.verdict, standing=found.standing, level=found.requirement.level,
            failed_as=found.failed_as or "", exercised=found.exercised, judged=found.judged, message=found.message,
            reason=found.accepted.reason if found.accepted else "", trace=found.witness or "", day=day,
        )
        for found in summary.results
    ]  # fmt: skip
    own = [(found, fault) for found in summary.results for fault in found.faults if fault.requirement == found.id]
    faults = [
        Fault(
            run=run, slug=slug, version=row.version, requirement=found.id, level=fault.level, verdict=fault.verdict,
            also=fault.also, why=fault.why, expected=fault.expected, property=fault.property, features=fault.features,
            steps=fault.steps, reproduced=fault.reproduced, tried=fault.tried, trace=fault.trace,
            replay=replay(summary, fault.trace, None) if fault.trace else "", day=day,
        )
        for found, fault in own
    ]  # fmt: skip
    stale = [Stale(slug=slug, run=run, requirement=entry.entry.id, why=entry.why, day=day) for entry in summary.stale]
    return Folded([about], verdicts, faults, list(_efforts(run, slug, day, summary, [f for _, f in own])), stale)


def _efforts(run: str, slug: str, day: str, summary: Summary, faults: Sequence[FaultRow]) -> Iterable[Effort]:
    for name in dict.fromkeys(row.property for row in summary.properties):
        mine = [row for row in summary.properties if row.property == name]
        yield Effort(
            slug=slug, run=run, property=name, plans=sum(row.plans for row in mine),
            steps=sum(row.steps for row in mine), seconds=sum(row.seconds for row in mine),
            inconclusive=sum(row.inconclusive for row in mine), errors=sum(row.errors for row in mine),
            faults=sum(fault.property == name for fault in faults), day=day,
        )  # fmt: skip


def day_of(at: str) -> str:
    """The day of a moment in ISO form, UNKNOWN_DAY when nobody can tell."""
    try:
        return date.fromisoformat(at[:10]).isoformat()
    except ValueError:
        return UNKNOWN_DAY
