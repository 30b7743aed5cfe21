"""The tables of `reports/tables.py` out of the warehouse.

What grows with every night is worked on by functions from DataFrames to a DataFrame, chained by `transform`. The table
of verdicts is only ever filtered by the runs that are wanted; what looks back over all of them is in `versions`, which
is kept as runs are taken in. What is small is brought here once and finished by `standing`. Queries
that do not wait for each other are asked side by side: each alone would leave the machine idle half of the time.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pyspark.sql import functions as F  # noqa: N812

from reports import tables
from reports.spark import schemas, standing, versions
from reports.spark.campaigns import campaigns
from reports.spark.rows import UNKNOWN_DAY, Fault, Verdict
from reports.spark.warehouse import SIDE_BY_SIDE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from concurrent.futures import Future

    from pyspark.sql import DataFrame, Row, SparkSession

    from reports.spark.standing import Head
    from reports.spark.warehouse import Warehouse

    Ask = Callable[[DataFrame], Future[list[Row]]]

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
Table = TypeVar("Table")


def build(warehouse: Warehouse, progress: Callable[[str], None]) -> tables.Report:
    """All tables, from what is committed now."""
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        return _built(warehouse, progress, lambda frame: pool.submit(frame.collect))


def _built(warehouse: Warehouse, progress: Callable[[str], None], ask: Ask) -> tables.Report:
    """The same; `ask` begins a query, and others begin before its rows are wanted."""
    now = datetime.now(UTC)
    summed, aside = versions.known(warehouse), warehouse.quarantine()
    nights, past = summed.transform(versions.nights), summed.transform(versions.past)
    dated = ask(nights)
    found = {
        "flickers": ask(past.transform(flickers)),
        "first": ask(past.transform(first)),
        "quarantined": ask(aside.orderBy("source", "line").limit(QUARANTINED)),
        "rejudged": ask(warehouse.rejudged().transform(reviewed)),
    }
    known = standing.dated(dated.result())
    chosen, last = standing.heads(known), standing.pairs(known)
    wanted = {head.run: head for head in [*chosen, *chain.from_iterable(last)]}.values()
    newest = [head for head in chosen if head.newest]
    day = standing.newest_day(known, now.date())
    progress(f"{sum(one.runs for one in known)} runs; reading those that stand for a version")
    found |= {
        "verdicts": ask(warehouse.newest("verdicts").transform(among(wanted))),
        "listed": ask(warehouse.batches("rows").transform(among(chosen)).transform(listed(warehouse.spark, chosen))),
        "faults": ask(warehouse.newest("faults").transform(among(chosen))),
        "runs": ask(warehouse.newest("runs").transform(recent(_back(day, DAYS), wanted))),
        "times": ask(warehouse.newest("efforts").transform(among(newest)).orderBy("slug", "property")),
        "stale": ask(warehouse.newest("stale").transform(among(newest)).orderBy("slug", "requirement")),
        "texts": ask(warehouse.batches("traces").transform(texts(chosen))),
    }
    rows = {name: asked.result() for name, asked in found.items()}
    told, shown = _rows(tables.Run, rows["runs"]), _rows(Fault, rows["faults"])
    stood = _rows(Verdict, rows["verdicts"])
    grid = standing.cells(chosen, stood, shown)
    required = standing.requirements(chosen, rows["listed"], grid)
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
        flickers=_rows(tables.Flicker, rows["flickers"]),
        times=_rows(tables.SuiteTime, rows["times"]),
        strictness=standing.strictness(grid),
        stale=_rows(tables.StaleEntry, rows["stale"]),
        differences=standing.differences(chosen, required, grid),
        failures=standing.failures(
            shown,
            grid,
            {(one.slug, one.requirement): (one.first.first_run, one.first.first_day) for one in rows["first"]},
            standing.conversations(told, rows["texts"]),
        ),
        quarantined=_rows(tables.Quarantined, rows["quarantined"]),
        quarantined_total=len(rows["quarantined"]) if len(rows["quarantined"]) < QUARANTINED else aside.count(),
        rejudged=_rows(tables.Rejudged, rows["rejudged"]),
        campaigns=campaigns(warehouse),
    )


# -- which runs -------------------------------------------------------------------------------------------------------


def among(wanted: Collection[Head]) -> Callable[[DataFrame], DataFrame]:
    """Keeps the rows of the wanted runs, and reads only the folders of their days."""
    names, days = ([getattr(head, name) for head in wanted] for name in ("run", "day"))
    mine = schemas.among("day", sorted(set(days))) & schemas.among("run", names)
    return lambda table: table.where(mine)


def recent(since: str, wanted: Collection[Head]) -> Callable[[DataFrame], DataFrame]:
    """Runs from the day `since` on, newest first, and those of `wanted` whatever their day."""
    asked = schemas.among("run", [head.run for head in wanted])

    def kept(runs: DataFrame) -> DataFrame:
        late = runs.where(asked | (F.col("day") >= since)).orderBy(~asked, F.desc("at"), F.desc("run"))
        return late.limit(LISTED + len(wanted)).orderBy(F.desc("at"), F.desc("run"))

    return kept


def listed(spark: SparkSession, chosen: Iterable[Head]) -> Callable[[DataFrame], DataFrame]:
    """Each requirement as the newest of the chosen runs lists it: protocol, id, its text as `r`, and its place."""

    told = [(one.run, one.protocol, one.at) for one in chosen]
    heads = F.broadcast(schemas.sent(spark, told, schemas.text("run", "protocol", "at")))

    def made(rows: DataFrame) -> DataFrame:
        found = rows.where(F.col("kind") == "requirement").select(
            "run", F.col("n").alias("place"), F.from_json("text", REQUIREMENT).alias("r")
        )
        dated = found.join(heads, "run")
        newest = F.max_by(F.struct("r", "place"), F.struct("at", "run", "place")).alias("said")
        return dated.groupBy("protocol", F.col("r.id").alias("id")).agg(newest).select("protocol", "id", "said.*")

    return made


# -- over time --------------------------------------------------------------------------------------------------------


def flickers(past: DataFrame) -> DataFrame:
    """Requirements that fail in some runs of a version and pass in others, or whose faults are not steady."""
    both = (F.col("failed") > 0) & (F.col("failed") < F.col("runs"))
    chosen = past.where(both | (F.col("loose") > 0))
    return chosen.orderBy(F.desc("changes"), F.desc("failed"), *versions.KEY).limit(FLICKERS)


def first(past: DataFrame) -> DataFrame:
    """When an implementation first failed each requirement that it ever failed."""
    began = F.min(F.struct("first", "first_run", "first_day")).alias("first")
    return past.where(F.col("first").isNotNull()).groupBy("slug", "requirement").agg(began)


# -- as they are ------------------------------------------------------------------------------------------------------


def texts(chosen: Collection[Head]) -> Callable[[DataFrame], DataFrame]:
    """The conversations and scripts of the chosen runs, with the seed that each says; the newest copy last."""
    names, days = [head.run for head in chosen], {head.day for head in chosen} | {UNKNOWN_DAY}
    seed = F.get_json_object("document", "$.seed").alias("seed")

    def made(traces: DataFrame) -> DataFrame:
        told = traces.where(schemas.among("day", sorted(days)) & schemas.among("run", names))
        return told.select("run", "trace", "document", "script", "batch", seed).orderBy("batch")

    return made


def reviewed(rejudged: DataFrame) -> DataFrame:
    """What was judged again, the changed ones first, then what could not be judged."""
    names = [F.col(name) for name in ("slug", "requirement", "run", "trace")]
    return rejudged.orderBy(F.desc("changed"), F.desc(F.col("after") == "error"), *names).limit(REJUDGED)


# -- from Spark to Python ---------------------------------------------------------------------------------------------


def _rows(table: type[Table], found: Iterable[Row]) -> tuple[Table, ...]:
    """Rows as those of a table; other columns are left out. Where each column stands is found out once: to ask a row
    for it takes a search."""
    names, rows = _names(table), [*found]
    if not rows:
        return ()
    told = {name: place for place, name in enumerate(rows[0].__fields__)}
    chosen = itemgetter(*[told[name] for name in names])
    return tuple(table(**dict(zip(names, map(_plain, chosen(tuple(row))), strict=True))) for row in rows)


def _names(table: type) -> list[str]:
    return schemas.of(table).fieldNames()


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _back(newest: date, count: int) -> str:
    """The day that many days before the newest."""
    return (newest - timedelta(days=count)).isoformat()
