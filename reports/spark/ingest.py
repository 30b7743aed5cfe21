"""Results into the warehouse: only what is new is read, and a run read twice is one run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812

from reports.spark import folding, reading, schemas
from reports.spark.rows import UNKNOWN_DAY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyspark.sql import DataFrame

    from reports.spark.warehouse import Batch, Warehouse

TRACE: Final = r"^traces/[A-Za-z0-9._-]+\.json$"
"""What a fault row may name as its trace: nothing outside the results."""
TRACE_LIMIT: Final = 8 << 20
"""Octets of a trace that is kept; a larger one is left where it is."""
DAY: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"


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
    spark = warehouse.spark
    batch = warehouse.begin()
    found = reading.listing(spark, sources).persist()
    known = warehouse.ledger()
    of_records = F.col("path").endswith(".jsonl") | F.col("path").rlike("/records/[^/]+$")
    new = found.where(of_records).join(known, ["path", "length", "modified"], "left_anti").persist()
    paths = [row.path for row in new.where(F.col("path").endswith(".jsonl")).select("path").collect()]
    if not new.head(1):
        # Spark takes two listings of one folder for the same data: a kept one would answer for every later one.
        for frame in (found, new):
            frame.unpersist()
        return Ingested()
    progress(f"reading {len(paths)} new files")
    lines = reading.lines(spark, paths) if paths else _no_lines(warehouse)
    others = reading.others(lines).persist()
    rows = others.where(F.col("reason").isNull())
    days = rows.where(F.col("kind") == "run").groupBy("run").agg(F.min("at").alias("at"))
    days = days.select("run", F.when(F.col("at").rlike(DAY), F.substring("at", 1, 10)).alias("day"))

    def dated(table: DataFrame) -> DataFrame:
        return table.join(F.broadcast(days), "run", "left").fillna(UNKNOWN_DAY, ["day"])

    warehouse.write(batch, "rows", rows.where(F.col("kind") != "coverage").drop("day").transform(dated))
    counted = reading.coverage(lines).unionByName(reading.unusual(rows))
    warehouse.write(batch, "coverage", counted.transform(dated))
    warehouse.write(batch, "quarantine", _aside(others, new))
    warehouse.write(batch, "ledger", new)
    fresh_rows, fresh_coverage = warehouse.part(batch, "rows"), warehouse.part(batch, "coverage")
    held = fresh_rows.select("run", "day").unionByName(fresh_coverage.select("run", "day")).distinct()
    warehouse.write(batch, "held", held)
    affected = warehouse.part(batch, "held").select("run").distinct().persist()
    progress(f"folding {affected.count()} runs")
    fold(warehouse, batch, affected, overturned(warehouse.rejudged()))
    traces = _traces(warehouse, batch, fresh_rows, found)
    tables = ("runs", "verdicts", "faults", "efforts", "stale", "rows", "coverage", "quarantine", "ledger", "held")
    warehouse.commit(batch, (*tables, "traces"))
    done = Ingested(
        files=new.count(),
        rows=fresh_rows.count() + fresh_coverage.count(),
        runs=affected.count(),
        aside=warehouse.batches("quarantine", [batch.name]).count(),
        traces=traces,
    )
    for frame in (found, new, others, affected):
        frame.unpersist()
    if warehouse.compact():
        progress("merged small batches")
    return done


def fold(warehouse: Warehouse, batch: Batch, affected: DataFrame, gone: DataFrame) -> None:
    """Write the verdicts of the `affected` runs into `batch`: from its own rows and those of earlier batches."""
    earlier = warehouse.holding(affected)

    def all_of(table: str) -> DataFrame:
        before = warehouse.batches(table, earlier).drop("batch").join(affected, "run", "leftsemi")
        if (batch.name, table) not in warehouse.written:  # a batch that only judges again has no rows of its own
            return before
        return before.unionByName(warehouse.part(batch, table))

    runs = folding.gathered(all_of("rows"), all_of("coverage"), gone)
    folded = folding.folded(runs).persist()
    for table in folding.PARTS:
        warehouse.write(batch, table, folding.part(folded, table))
    folded.unpersist()


def overturned(rejudged: DataFrame) -> DataFrame:
    """The stored conversations that today's specification allows."""
    return rejudged.where(F.col("changed") & (F.col("after") == "pass")).select("run", "trace")


def _no_lines(warehouse: Warehouse) -> DataFrame:
    return warehouse.spark.createDataFrame([], "source string, line long, ended boolean, day string, text string")


def _aside(others: DataFrame, new: DataFrame) -> DataFrame:
    """Lines that are no rows, files that are no files of records, and files too large to be read."""
    lines = others.where(F.col("reason").isNotNull()).select("source", "line", "reason", "text", "day")
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


def _traces(warehouse: Warehouse, batch: Batch, rows: DataFrame, found: DataFrame) -> int:
    """Write the traces that new fault rows name, as far as they are there; answers how many."""
    spark = warehouse.spark
    base = F.regexp_replace(F.regexp_replace("source", "/[^/]*$", ""), "/records$", "")
    named = rows.where(F.col("kind") == "fault").select(
        "run", "day", base.alias("base"), F.get_json_object("text", "$.trace").alias("trace")
    )
    wanted = named.where(F.col("trace").rlike(TRACE)).select(
        "run", "day", "trace", F.concat_ws("/", "base", "trace").alias("path")
    )
    files = found.where(F.col("length") <= TRACE_LIMIT).select("path")
    script = F.regexp_replace("path", r"\.json$", ".py")
    there = wanted.distinct().join(files, "path", "leftsemi").withColumn("script_path", script).persist()
    paths = [row.path for row in there.select("path").distinct().collect()]
    scripts = there.select(F.col("script_path").alias("path")).distinct().join(files, "path", "leftsemi").collect()
    if not paths:
        warehouse.write(
            batch, "traces", spark.createDataFrame([], schemas.text("run", "trace", "document", "script", "day"))
        )
        return 0
    texts = _contents(warehouse, paths).withColumnRenamed("content", "document")
    codes = _contents(warehouse, [row.path for row in scripts])
    codes = codes.select(F.col("path").alias("script_path"), F.col("content").alias("script"))
    made = there.join(texts, "path").join(codes, "script_path", "left").fillna("", ["script"])
    warehouse.write(batch, "traces", made.dropDuplicates(["run", "trace"]))
    there.unpersist()
    return len(paths)


def _contents(warehouse: Warehouse, paths: Iterable[str]) -> DataFrame:
    """The files as text; octets that are no UTF-8 become marks of replacement."""
    chosen = [reading.exact(path) for path in paths]
    if not chosen:
        return warehouse.spark.createDataFrame([], schemas.text("path", "content"))
    read = warehouse.spark.read.format("binaryFile").load(chosen)
    text = F.udf(lambda octets: bytes(octets).decode("utf-8", "replace"), useArrow=False)
    return read.select("path", text("content").alias("content"))
