"""From the rows of a run to its verdicts: `reports.summary.fold` itself, run on the executors.

Spark brings the rows of a run together; what they amount to is decided by the same function that prints the summary of
a run. No verdict is computed in two ways.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import fields
from datetime import UTC, date, datetime
from functools import cache
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, DataType, StructField, StructType

from records.reader import Places
from records.rows import FaultRow, Row, RunRow, from_json
from records.text import encodable
from reports import tables
from reports.spark import schemas
from reports.spark.rows import UNKNOWN_DAY, Effort, Fault, Settled, Stale, Verdict
from reports.summary import Summary, Tally, baseline, fold
from reports.terminal import replay

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from pyspark.sql import DataFrame

STANDINGS: Final = (
    "passed", "failed", "warned", "accepted", "inconclusive", "error", "untestable", "unsupported", "unselected",
)  # fmt: skip
PARTS: Final[dict[str, type]] = {
    "runs": tables.Run,
    "verdicts": Verdict,
    "settled": Settled,
    "faults": Fault,
    "efforts": Effort,
    "stale": Stale,
}

LONGEST: Final = 2**63 - 1


class Folded(NamedTuple):
    """What one run amounts to, as rows of the tables in PARTS."""

    runs: list[tables.Run]
    verdicts: list[Verdict]
    settled: list[Settled]
    faults: list[Fault]
    efforts: list[Effort]
    stale: list[Stale]


def folded(rows: DataFrame, overturned: DataFrame) -> DataFrame:
    """What each run amounts to: the arrays in PARTS.

    `rows` are rows and sheets of any batches (run, worker, n, text; a sheet has no n); what is read twice counts once.
    `overturned` has run and trace: faults that are left out.
    """
    names = ("run", "worker", "n", "text")
    gone = overturned.select("run", F.col("trace").alias("gone"))
    both = rows.select(*names).unionByName(gone, allowMissingColumns=True)
    made = schemas.by_columns(_fold, _struct())
    return both.groupBy("run").agg(made(*names, "gone").alias("amount")).select("amount.*")


def part(found: DataFrame, table: str) -> DataFrame:
    """The rows of one table out of what `folded` gave."""
    return found.select(F.explode(table).alias("row")).select("row.*")


@cache
def _struct() -> DataType:
    return StructType([StructField(name, ArrayType(schemas.of(table))) for name, table in PARTS.items()])


def _fold(run: pa.Array, worker: pa.Array, n: pa.Array, text: pa.Array, gone: pa.Array) -> Any:
    """What all rows and sheets of one run amount to."""
    each = {*zip(*(column.to_pylist() for column in (worker, n, text)), strict=True)}
    rows = [one for one in each if one[1] is not None]
    sheets = [one for one in each if one[1] is None and one[2] is not None]
    counted = {(who, *row) for who, _, sheet in sheets for row in zip(*json.loads(sheet).values(), strict=True)}
    used: Counter[str] = Counter()
    settled: Counter[str] = Counter()
    for *_, requirement, exercised, judged in counted:
        used[requirement] += exercised
        settled[requirement] += judged
    places: dict[str, set[int]] = {}
    for who, number, *_ in chain(rows, counted):
        if number > 0:
            places.setdefault(who, set()).add(number)
    tally = Tally(used, settled, {who: Places(len(mine), max(mine)) for who, mine in places.items()})
    told = [from_json(line) for _, _, line in rows]
    found = amount(run[0].as_py(), told, tally, {*gone.to_pylist()}) if rows or counted else Folded(*[[]] * len(PARTS))
    return pa.scalar(tuple([_plain(row) for row in part] for part in found), schemas.arrow(_struct()))


def amount(run: str, rows: Sequence[Row], tally: Tally, gone: Collection[str]) -> Folded:
    """What a run amounts to: `rows` all but those of coverage, without the faults whose traces are `gone`."""
    kept = [row for row in rows if not (isinstance(row, FaultRow) and row.trace in gone)]
    told = [row for row in rows if isinstance(row, RunRow)]
    strict = any(row.strict for row in told)
    return made(run, fold(kept, baseline(rows), strict, _today(told), tally))


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
    """Text that every encoder takes, and whole numbers of 64 bits: rows that lie may add up to more."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, tuple):
        return [_clean(item) for item in value]
    return max(-LONGEST, min(value, LONGEST)) if type(value) is int else value


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
    settled = [
        Settled(run=run, slug=slug, version=row.version, at=row.at, requirement=one.requirement,
                failed=one.verdict == "fail")
        for one in verdicts
        if one.verdict in ("pass", "fail")
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
    return Folded(
        [about], verdicts, settled, faults, list(_efforts(run, slug, day, summary, [f for _, f in own])), stale
    )


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
