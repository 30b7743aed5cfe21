"""Results into the warehouse: only what is new is read, and a run read twice is one run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812

from records.rows import CoverageRow
from reports.spark import folding, reading, schemas, versions
from reports.spark.folding import day_of
from reports.spark.rows import UNKNOWN_DAY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from reports.spark.warehouse import Warehouse

TRACE: Final = r"^traces/[A-Za-z0-9._-]+\.json$"
"""What a fault row may name as its trace: nothing outside the results."""
TRACE_LIMIT: Final = 8 << 20
"""Octets of a trace that is kept; a larger one is left where it is."""


@dataclass(frozen=True, slots=True)
class Ingested:
    """What one ingestion did."""

    files: int = 0
    rows: int = 0
    runs: int = 0
    aside: int = 0
    traces: int = 0

    def __str__(self) -> str:
        if not self.files:
            return "nothing new"
        return (
            f"{self.files} new files: {self.rows} rows of {self.runs} runs, {self.traces} traces, "
            f"{self.aside} lines or files set aside"
        )


def ingest(warehouse: Warehouse, sources: Sequence[str], progress: Callable[[str], None]) -> Ingested:
    """Take what is new under `sources`, commit it as one batch, and merge small batches when there are many.

    Raises reading.NoResults when a source does not exist.
    """
    batch = warehouse.begin()
    listed = reading.listing(warehouse.spark, sources).persist()
    of_records = F.col("path").endswith(".jsonl") | F.col("path").rlike("/records/[^/]+$")
    new = listed.where(of_records).join(warehouse.ledger(), ["path", "length", "modified"], "left_anti").persist()
    # Spark takes two listings of one folder for the same data: a kept one would answer for every later one.
    kept = [listed, new]
    try:
        files = new.collect()
        if not files:
            return Ingested()
        paths = [file.path for file in files if file.path.endswith(".jsonl") and file.length <= reading.LARGEST]
        progress(f"reading {len(paths)} new files")
        read = reading.contents(warehouse.spark, paths).transform(reading.rows).persist()
        kept.append(read)
        told = read.groupBy("run", "at").agg(F.sum("many").alias("many")).collect()
        days = {row.run: UNKNOWN_DAY for row in told if row.run is not None}
        days |= {row.run: day_of(row.at) for row in sorted((row for row in told if row.at is not None), reverse=True)}
        progress(f"folding {len(days)} runs")
        runs = schemas.sent(warehouse.spark, days.items(), schemas.text("run", "day"))
        fresh = read.drop("day").join(F.broadcast(runs), "run")
        earlier = warehouse.holding(runs)
        folded = fold(warehouse, runs, fresh, overturned(warehouse.rejudged()), earlier).persist()
        kept.append(folded)
        counted = F.col("kind") == CoverageRow.kind
        traces = _named(fresh, listed)
        parts = told_of(warehouse, folded, again=bool(earlier)) | {
            "rows": fresh.where(~counted), "sheets": fresh.where(counted), "quarantine": _aside(read, new),
            "ledger": new, "held": runs, "traces": _traces(warehouse.spark, traces),
        }  # fmt: skip
        count = sum(row.many for row in told if row.run is not None)
        warehouse.write_all(batch, parts)
        warehouse.commit(batch, parts, count, again=bool(earlier))
    finally:
        for frame in kept:
            frame.unpersist()
    if warehouse.compact():
        progress("merged small batches")
    aside = sum(row.many for row in told if row.run is None) + len(files) - len(paths)
    return Ingested(files=len(files), rows=count, runs=len(days), aside=aside, traces=len(traces))


def fold(
    warehouse: Warehouse, runs: DataFrame, fresh: DataFrame | None, gone: DataFrame, earlier: Sequence[str]
) -> DataFrame:
    """What `runs` amount to, as folding.folded: from `fresh` rows and those of the batches that hold them `earlier`,
    without the faults that are `gone`."""
    before = [
        warehouse.batches(table, earlier).join(F.broadcast(runs.select("run")), "run", "leftsemi")
        for table in ("rows", "sheets")
        if earlier or fresh is None
    ]
    rows = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), filter(None, [fresh, *before]))
    return folding.folded(rows, gone.join(F.broadcast(runs.select("run")), "run", "leftsemi"))


def told_of(warehouse: Warehouse, folded: DataFrame, *, again: bool) -> dict[str, DataFrame]:
    """What a batch says of runs that are `folded`, table by table; `again` when one of them is in an earlier batch."""
    parts = {table: folding.part(folded, table) for table in folding.PARTS}
    # What takes longest is begun first.
    return {"versions": versions.renewed(warehouse, parts, again=again), **parts}


def overturned(rejudged: DataFrame) -> DataFrame:
    """The stored conversations that today's specification allows."""
    return rejudged.where("changed").select("run", "trace")


def _aside(read: DataFrame, new: DataFrame) -> DataFrame:
    """Lines that are no rows, files that are no files of records, and files too large to be read."""
    lines = read.where(F.col("reason").isNotNull()).select("source", "line", "reason", "text", "day")
    foreign = new.where(~F.col("path").endswith(".jsonl")).withColumn("reason", F.lit("not a file of records (.jsonl)"))
    large = new.where(F.col("path").endswith(".jsonl") & (F.col("length") > reading.LARGEST)).withColumn(
        "reason", F.lit(f"larger than {reading.LARGEST} octets")
    )
    whole = foreign.unionByName(large).select(
        F.col("path").alias("source"),
        F.lit(0).cast("long").alias("line"),
        "reason",
        F.lit("").alias("text"),
        F.date_format("modified", "yyyy-MM-dd").alias("day"),
    )
    return lines.unionByName(whole)


def _named(rows: DataFrame, listed: DataFrame) -> dict[tuple[str, str], tuple[str, str, str]]:
    """The traces that fault rows name, as far as they are there: (run, trace) to day, path, and the script's path or
    ""."""
    folder = F.regexp_replace(F.regexp_replace("source", "/[^/]*$", ""), "/records$", "")
    wanted = rows.where(F.col("trace").rlike(TRACE)).select("run", "trace", "day", folder).distinct().collect()
    if not wanted:
        return {}
    small = {file.path for file in listed.where(F.col("length") <= TRACE_LIMIT).select("path").collect()}
    found = {}
    for run, trace, day, base in sorted(wanted):
        path, script = f"{base}/{trace}", f"{base}/{trace.removesuffix('.json')}.py"
        if path in small:
            found[run, trace] = day, path, script if script in small else ""
    return found


def _traces(spark: SparkSession, named: Mapping[tuple[str, str], tuple[str, str, str]]) -> DataFrame:
    """The traces that `_named` found, and their scripts."""
    rows = [(*name, *told) for name, told in named.items()]
    frame = schemas.sent(spark, rows, schemas.text("run", "trace", "day", "path", "code"))
    # Octets that are no UTF-8 become marks of replacement.
    text = F.make_valid_utf8(F.col("content").cast("string"))
    texts = reading.contents(spark, sorted({path for _, path, _ in named.values()}))
    codes = reading.contents(spark, sorted({code for _, _, code in named.values() if code}))
    both = texts.select("path", text.alias("document")).join(F.broadcast(frame), "path")
    scripts = codes.select(F.col("path").alias("code"), text.alias("script"))
    return both.join(scripts, "code", "left").fillna("", ["script"])
