"""The tables of `reports/tables.py` out of the warehouse.

What grows with every night is worked on by functions from DataFrames to a DataFrame, chained by `transform`. The table
of verdicts is only ever filtered by the runs that are wanted, or added up by hash; what is sorted or compared is one
row for a run, or a small choice of verdicts. What is small is brought here once and finished by `standing`. Queries
that do not wait for each other are asked side by side: each alone would leave the machine idle half of the time.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import LongType, StructField, StructType

from reports import tables
from reports.spark import schemas, standing
from reports.spark.rows import UNKNOWN_DAY, Fault, Verdict
from reports.spark.warehouse import SIDE_BY_SIDE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from pyspark.sql import DataFrame, Row, SparkSession

    from reports.spark.standing import Head
    from reports.spark.warehouse import Warehouse

DAYS: Final = 90
"""Days of which the runs are listed."""
HISTORY: Final = 400
"""Days of history."""
LISTED: Final = 5_000
"""Runs that are listed, newest first."""
FLICKERS: Final = 2_000
REJUDGED: Final = 2_000
QUARANTINED: Final = 500
REQUIREMENT: Final = schemas.text("id", "section", "level", "basis", "statement", "source", "untestable")
NAMED: Final = StructType([*schemas.text("run", "trace").fields, StructField("seed", LongType())])
KEY: Final = ("slug", "version", "requirement")
Table = TypeVar("Table")


def build(warehouse: Warehouse, progress: Callable[[str], None]) -> tables.Report:
    """All tables, from what is committed now."""
    now, spark = datetime.now(UTC), warehouse.spark
    runs, settled, faults = (warehouse.newest(name) for name in ("runs", "settled", "faults"))
    runs.persist()
    known = runs.transform(latest).collect()
    chosen, last = standing.heads(known), standing.pairs(known)
    wanted = {head.run: head for head in [*chosen, *chain.from_iterable(last)]}.values()
    newest = [head for head in chosen if head.newest]
    day = standing.newest_day(known, now.date())
    progress(f"{sum(one.runs for one in known)} runs; adding up their verdicts")
    past, aside = settled.transform(history).persist(), warehouse.quarantine()
    found = _together(
        verdicts=warehouse.newest("verdicts").transform(among(wanted)),
        faults=faults.transform(among(chosen)),
        listed=warehouse.batches("rows").transform(among(chosen)).transform(listed(_sent(spark, chosen))),
        runs=runs.transform(recent(_back(day, DAYS), wanted)),
        flickers=settled.transform(flickers(past, faults)),
        times=warehouse.newest("efforts").transform(among(newest)).orderBy("slug", "property"),
        stale=warehouse.newest("stale").transform(among(newest)).orderBy("slug", "requirement"),
        quarantined=aside.orderBy("source", "line").limit(QUARANTINED),
        aside=aside.groupBy().count(),
        rejudged=warehouse.rejudged().transform(reviewed),
    )
    told, shown = _rows(tables.Run, found["runs"]), _rows(Fault, found["faults"])
    asked = {(one.slug, one.requirement) for one in shown}
    seeds = {run.run: run.seed for run in told}
    named = {(one.run, one.trace, seeds[one.run]) for one in shown if one.trace}
    progress("reading their conversations")
    more = _together(
        first=runs.transform(first(past, spark.createDataFrame(sorted(asked), schemas.text("slug", "requirement")))),
        texts=warehouse.batches("traces").transform(texts(chosen, spark.createDataFrame(sorted(named), NAMED))),
    )
    for frame in (runs, past):
        frame.unpersist()
    stood = _rows(Verdict, found["verdicts"])
    grid = standing.cells(chosen, stood, shown)
    required = standing.requirements(chosen, found["listed"], grid)
    return tables.Report(
        built=now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        suite_version=max(((one.last.at, one.last.run, one.last.suite_version) for one in known), default=("",))[-1],
        total_runs=sum(one.runs for one in known),
        incomplete_runs=sum(one.incomplete for one in known),
        runs=told,
        requirements=required,
        cells=grid,
        days=standing.days(known, _back(day, HISTORY)),
        changes=standing.changes(last, stood, grid),
        flickers=_rows(tables.Flicker, found["flickers"]),
        times=_rows(tables.SuiteTime, found["times"]),
        strictness=standing.strictness(grid),
        stale=_rows(tables.StaleEntry, found["stale"]),
        differences=standing.differences(chosen, required, grid),
        failures=standing.failures(
            shown,
            grid,
            {(one.slug, one.requirement): (one.run, one.day) for one in more["first"]},
            {(one.run, one.trace): (one.document, one.script) for one in more["texts"]},
        ),
        quarantined=_rows(tables.Quarantined, found["quarantined"]),
        quarantined_total=found["aside"][0]["count"],
        rejudged=_rows(tables.Rejudged, found["rejudged"]),
    )


# -- which runs -------------------------------------------------------------------------------------------------------


def latest(runs: DataFrame) -> DataFrame:
    """Each day of each version of an implementation: how many runs, how many of them incomplete, the `last` of all, and
    the last two that were `whole`, latest first."""
    said = [name for name in _names(tables.Day) if name not in ("slug", "version", "day", "run", "runs")]
    told = F.struct("at", "run", "protocol", "role", "suite_version", *said)
    whole = F.when(F.col("complete") & ~F.col("partial"), F.struct("at", "run"))
    return runs.groupBy("slug", "version", "day").agg(
        F.count("*").alias("runs"),
        F.count_if(~F.col("complete")).alias("incomplete"),
        F.max(told).alias("last"),
        F.slice(F.sort_array(F.collect_list(whole), asc=False), 1, 2).alias("whole"),
    )


def among(wanted: Collection[Head]) -> Callable[[DataFrame], DataFrame]:
    """Keeps the rows of the wanted runs, and reads only the folders of their days."""
    names, days = ([getattr(head, name) for head in wanted] for name in ("run", "day"))
    return lambda table: table.where(F.col("day").isin(sorted(set(days))) & F.col("run").isin(names))


def recent(since: str, wanted: Collection[Head]) -> Callable[[DataFrame], DataFrame]:
    """Runs from the day `since` on, newest first, and those of `wanted` whatever their day."""
    asked = F.col("run").isin([head.run for head in wanted])

    def kept(runs: DataFrame) -> DataFrame:
        late = runs.where(asked | (F.col("day") >= since)).orderBy(~asked, F.desc("at"), F.desc("run"))
        return late.limit(LISTED + len(wanted)).orderBy(F.desc("at"), F.desc("run"))

    return kept


def listed(chosen: DataFrame) -> Callable[[DataFrame], DataFrame]:
    """Each requirement as the newest of the chosen runs lists it: protocol, id, its text as `r`, and its place."""

    def made(rows: DataFrame) -> DataFrame:
        found = rows.where(F.col("kind") == "requirement").select(
            "run", F.col("n").alias("place"), F.from_json("text", REQUIREMENT).alias("r")
        )
        dated = found.join(F.broadcast(chosen), "run")
        newest = F.max_by(F.struct("r", "place"), F.struct("at", "run", "place")).alias("said")
        return dated.groupBy("protocol", F.col("r.id").alias("id")).agg(newest).select("protocol", "id", "said.*")

    return made


# -- over time --------------------------------------------------------------------------------------------------------


def history(settled: DataFrame) -> DataFrame:
    """For each requirement on each version: how many runs settled it, how many with a fail, and when first (in
    microseconds). Whole numbers only, so that Spark adds them up by hash."""
    moment = F.when(F.col("failed"), F.unix_micros(F.try_to_timestamp("at")))
    return settled.groupBy(*KEY).agg(
        F.count("*").alias("runs"), F.count_if("failed").alias("failed"), F.min(moment).alias("first")
    )


def flickers(past: DataFrame, faults: DataFrame) -> Callable[[DataFrame], DataFrame]:
    """Requirements that fail in some runs of a version and pass in others, or whose faults are not steady."""
    loose = F.col("reproduced") < F.col("tried")
    tried = faults.where(F.col("tried") > 0).groupBy(*KEY)
    shaken = tried.agg(
        F.sum("reproduced").alias("reproduced"), F.sum("tried").alias("tried"), F.count_if(loose).alias("loose")
    )
    both = (F.col("failed") > 0) & (F.col("failed") < F.col("runs"))

    def made(settled: DataFrame) -> DataFrame:
        mixed = settled.join(F.broadcast(past.where(both).select(*KEY)), [*KEY], "leftsemi")
        order = Window.partitionBy(*KEY).orderBy("at", "run")
        turned = mixed.select(*KEY, (F.col("failed") != F.lag("failed").over(order)).alias("turned"))
        turns = turned.groupBy(*KEY).agg(F.count_if("turned").alias("changes"))
        counted = past.join(shaken, [*KEY], "full").join(turns, [*KEY], "left")
        known = ["runs", "failed", "reproduced", "tried", "loose", "changes"]
        chosen = counted.fillna(0, known).where(both | (F.col("loose") > 0))
        return chosen.orderBy(F.desc("changes"), F.desc("failed"), *KEY).limit(FLICKERS)

    return made


def first(past: DataFrame, asked: DataFrame) -> Callable[[DataFrame], DataFrame]:
    """When an implementation first failed each requirement that is `asked`: slug, requirement, run, day."""
    began = past.groupBy("slug", "requirement").agg(F.min("first").alias("first"))

    def made(runs: DataFrame) -> DataFrame:
        dated = runs.select("slug", "run", "day", F.unix_micros(F.try_to_timestamp("at")).alias("first"))
        known = F.broadcast(began.join(F.broadcast(asked), ["slug", "requirement"]))
        return (
            dated.join(known, ["slug", "first"])
            .groupBy("slug", "requirement")
            .agg(F.min("run").alias("run"), F.min("day").alias("day"))
        )

    return made


# -- as they are ------------------------------------------------------------------------------------------------------


def texts(chosen: Collection[Head], named: DataFrame) -> Callable[[DataFrame], DataFrame]:
    """The conversations and scripts that are `named`, by run, trace and the seed of the run; the newest copy last."""
    days = sorted({head.day for head in chosen} | {UNKNOWN_DAY})
    # Runs that share a folder write traces of one name: a conversation is shown with the run that held it.
    seed = F.coalesce(F.get_json_object("document", "$.seed").cast("long"), "seed")

    def made(traces: DataFrame) -> DataFrame:
        told = traces.where(F.col("day").isin(days)).join(F.broadcast(named), ["run", "trace"])
        return told.where(seed == F.col("seed")).select("run", "trace", "document", "script", "batch").orderBy("batch")

    return made


def reviewed(rejudged: DataFrame) -> DataFrame:
    """What was judged again, the changed ones first, then what could not be judged."""
    names = [F.col(name) for name in ("slug", "requirement", "run", "trace")]
    return rejudged.orderBy(F.desc("changed"), F.desc(F.col("after") == "error"), *names).limit(REJUDGED)


# -- from Spark to Python ---------------------------------------------------------------------------------------------


def _together(**asked: DataFrame) -> dict[str, list[Row]]:
    """The rows of all of these, in the order in which they come."""
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        told = {name: pool.submit(frame.collect) for name, frame in asked.items()}
        return {name: rows.result() for name, rows in told.items()}


def _rows(table: type[Table], found: Iterable[Row]) -> tuple[Table, ...]:
    """Rows as those of a table; other columns are left out."""
    names = _names(table)
    return tuple(table(**{name: _plain(row[name]) for name in names}) for row in found)


def _names(table: type) -> list[str]:
    return schemas.of(table).fieldNames()


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _sent(spark: SparkSession, chosen: Iterable[Head]) -> DataFrame:
    """The chosen runs as a table: run, protocol, at."""
    return spark.createDataFrame(
        [(one.run, one.protocol, one.at) for one in chosen], schemas.text("run", "protocol", "at")
    )


def _back(newest: date, count: int) -> str:
    """The day that many days before the newest."""
    return (newest - timedelta(days=count)).isoformat()
