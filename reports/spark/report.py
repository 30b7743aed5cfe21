"""The tables of `reports/tables.py` out of the warehouse.

Each table is a function from DataFrames to a DataFrame, chained by `transform`; `build` collects them. The table of
verdicts grows with every night: it is only ever filtered by the runs that are wanted, or added up by hash. What is
sorted or compared is one row for a run, or a small choice of verdicts.

What stands for an implementation is its *head*: of a version the latest run that was whole (complete, nothing left out
on purpose), or the latest at all when none was. So a run that was killed, or that tried one requirement, is listed
without blanking the matrix.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812

from reports import tables
from reports.spark import schemas

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, DataFrame

    from reports.spark.warehouse import Warehouse

DAYS: Final = 90
"""Days of which the runs are listed."""
HISTORY: Final = 400
"""Days of history."""
VERSIONS: Final = 8
"""Versions of one implementation that have cells and failure pages, newest first."""
LISTED: Final = 5_000
"""Runs that are listed, newest first."""
FLICKERS: Final = 2_000
REJUDGED: Final = 2_000
QUARANTINED: Final = 500
REQUIREMENT: Final = schemas.text("id", "section", "level", "basis", "statement", "source", "untestable")
FAILING: Final = ("failed", "warned", "accepted")
Table = TypeVar("Table")


def build(warehouse: Warehouse, progress: Callable[[str], None]) -> tables.Report:
    """All tables, from what is committed now."""
    runs, verdicts = warehouse.newest("runs").persist(), warehouse.newest("verdicts")
    now = datetime.now(UTC)
    (all_told,) = runs.transform(told_of_all(now.date())).collect()
    newest = date.fromisoformat(all_told.day) if all_told.day else now.date()
    progress(f"{all_told.runs} runs; choosing those that stand for a version")
    chosen = _brought(runs.transform(heads))
    last = _brought(runs.transform(pairs))
    wanted = _brought(chosen.select("run", "day").unionByName(last.select("run", "day")).distinct())
    progress("reading their verdicts")
    some = verdicts.transform(among(wanted)).persist()
    faults = warehouse.newest("faults").transform(among(chosen)).persist()
    told = runs.transform(among(wanted)).select("run", "protocol", "role")
    grid = some.transform(cells(chosen, faults)).persist()
    listed = warehouse.batches("rows").transform(among(chosen)).transform(requirements(chosen, told, grid)).persist()
    progress("adding up the history")
    past = verdicts.transform(history).persist()
    made = tables.Report(
        built=now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        suite_version=all_told.suite_version or "",
        total_runs=all_told.runs,
        incomplete_runs=all_told.incomplete,
        runs=_rows(tables.Run, runs.transform(recent(_back(newest, DAYS), wanted))),
        requirements=_rows(tables.Requirement, listed.orderBy("protocol", "place").drop("place")),
        cells=_rows(tables.Cell, grid.orderBy("slug", F.desc("newest"), "version", "requirement")),
        days=_rows(tables.Day, runs.transform(days(_back(newest, HISTORY)))),
        changes=_rows(tables.Change, some.transform(changes(last, grid))),
        flickers=_rows(tables.Flicker, verdicts.transform(flickers(past, warehouse.newest("faults")))),
        times=_rows(
            tables.SuiteTime, warehouse.newest("efforts").transform(of_newest(chosen)).orderBy("slug", "property")
        ),
        strictness=_rows(tables.Strictness, grid.transform(strictness)),
        stale=_rows(
            tables.StaleEntry, warehouse.newest("stale").transform(of_newest(chosen)).orderBy("slug", "requirement")
        ),
        differences=_rows(tables.Difference, grid.transform(differences(told, listed))),
        failures=_rows(tables.Failure, faults.transform(failures(grid, past, runs, warehouse.batches("traces")))),
        quarantined=_rows(tables.Quarantined, warehouse.quarantine().orderBy("source", "line").limit(QUARANTINED)),
        quarantined_total=warehouse.quarantine().count(),
        rejudged=_rows(tables.Rejudged, warehouse.rejudged().transform(reviewed)),
    )
    for frame in (runs, some, faults, grid, listed, past):
        frame.unpersist()
    return made


# -- which runs -------------------------------------------------------------------------------------------------------


def _whole() -> Column:
    return F.col("complete") & ~F.col("partial")


def told_of_all(today: date) -> Callable[[DataFrame], DataFrame]:
    """One row: how many runs there are, how many of them incomplete, the suite's version in the newest, and the newest
    day up to `today`, since a clock may have run ahead."""
    known = F.col("day").rlike("^[0-9]") & (F.col("day") <= today.isoformat())

    def made(runs: DataFrame) -> DataFrame:
        return runs.agg(
            F.count("*").alias("runs"),
            F.count_if(~F.col("complete")).alias("incomplete"),
            F.max_by("suite_version", F.struct("at", "run")).alias("suite_version"),
            F.max(F.when(known, F.col("day"))).alias("day"),
        )

    return made


def heads(runs: DataFrame) -> DataFrame:
    """The run that stands for each version: slug, version, whole, at, run, day, place (1 for the newest version),
    newest."""
    said = F.struct(_whole().alias("whole"), "at", "run", "day")
    latest = runs.groupBy("slug", "version").agg(F.max(said).alias("head")).select("slug", "version", "head.*")
    order = Window.partitionBy("slug").orderBy(F.desc("whole"), F.desc("at"), F.desc("run"))
    placed = latest.withColumn("place", F.row_number().over(order)).where(F.col("place") <= VERSIONS)
    return placed.withColumn("newest", F.col("place") == 1)


def pairs(runs: DataFrame) -> DataFrame:
    """The last two whole runs of each implementation: slug, run, version, at, day, place (1 for the last)."""
    order = Window.partitionBy("slug").orderBy(F.desc("at"), F.desc("run"))
    placed = (
        runs.where(_whole())
        .select("slug", "run", "version", "at", "day")
        .withColumn("place", F.row_number().over(order))
    )
    return placed.where(F.col("place") <= 2)


def among(wanted: DataFrame) -> Callable[[DataFrame], DataFrame]:
    """Keeps the rows of the wanted runs, and reads only the folders of their days."""

    def kept(table: DataFrame) -> DataFrame:
        dates = sorted(row.day for row in wanted.select("day").distinct().collect())
        return table.where(F.col("day").isin(dates)).join(
            F.broadcast(wanted.select("run").distinct()), "run", "leftsemi"
        )

    return kept


def of_newest(chosen: DataFrame) -> Callable[[DataFrame], DataFrame]:
    """Keeps the rows of the run that stands for each implementation."""
    return among(chosen.where("newest"))


def recent(since: str, wanted: DataFrame) -> Callable[[DataFrame], DataFrame]:
    """Runs from the day `since` on, newest first, and those of `wanted` whatever their day."""

    def kept(runs: DataFrame) -> DataFrame:
        late = runs.where(F.col("day") >= since).orderBy(F.desc("at"), F.desc("run")).limit(LISTED)
        asked = runs.join(F.broadcast(wanted.select("run")), "run", "leftsemi")
        both = late.unionByName(asked.select(late.columns)).dropDuplicates(["run"])
        return both.orderBy(F.desc("at"), F.desc("run"))

    return kept


# -- the matrix -------------------------------------------------------------------------------------------------------


def page() -> Column:
    """The name of a fault's page: the requirement, and a hash of what sets it apart."""
    whole = F.concat_ws("|", "slug", "version", "requirement", "trace")
    return F.concat(F.lower("requirement"), F.lit("-"), F.substring(F.sha2(whole, 256), 1, 12))


def cells(chosen: DataFrame, faults: DataFrame) -> Callable[[DataFrame], DataFrame]:
    """The verdicts of the chosen runs; `failure` names the page of the fault that each shows."""
    named = F.explode(F.array_union(F.array("requirement"), "also"))
    shown = faults.select(
        "run", "trace", page().alias("failure"), F.col("requirement").alias("own"), named.alias("requirement")
    )

    def made(verdicts: DataFrame) -> DataFrame:
        mine = verdicts.join(F.broadcast(chosen.select("run", "newest")), "run")
        bad = mine.where(F.col("verdict") == "fail").unionByName(mine.where(F.col("standing") == "inconclusive"))
        order = F.struct(
            F.col("v.trace") != F.col("f.trace"), F.col("f.own") != F.col("f.requirement"), F.col("f.failure")
        )
        pages = (
            bad.alias("v")
            .join(shown.alias("f"), ["run", "requirement"])
            .where((F.col("v.verdict") == "fail") | (F.col("f.own") == F.col("f.requirement")))
            .groupBy("run", "requirement")
            .agg(F.min_by("f.failure", order).alias("failure"))
        )
        return mine.join(pages, ["run", "requirement"], "left").fillna("", ["failure"]).select(*_names(tables.Cell))

    return made


def requirements(chosen: DataFrame, told: DataFrame, grid: DataFrame) -> Callable[[DataFrame], DataFrame]:
    """Each requirement as the newest of the chosen runs lists it, and how the implementations stand in their whole
    runs; with `place`, where it stands in the list."""
    whole = chosen.where("newest AND whole").select("run")
    words = {
        word: F.count_if(F.col("standing") == word).alias(word) for word in ("passed", "failed", "warned", "accepted")
    }
    waiting = F.count_if(F.col("standing").isin("inconclusive", "error")).alias("open")
    sums = [F.sum(name).alias(name) for name in ("exercised", "judged")]
    at = grid.join(F.broadcast(whole), "run", "leftsemi").join(F.broadcast(told), "run")
    count = at.groupBy("protocol", F.col("requirement").alias("id")).agg(*words.values(), waiting, *sums)

    def made(rows: DataFrame) -> DataFrame:
        listed = rows.where(F.col("kind") == "requirement").select(
            "run", F.col("n").alias("place"), F.from_json("text", REQUIREMENT).alias("r")
        )
        dated = listed.join(F.broadcast(chosen.select("run", "at")), "run").join(F.broadcast(told), "run")
        newest = dated.groupBy("protocol", F.col("r.id").alias("id")).agg(
            F.max_by(F.struct("r", "place"), F.struct("at", "run", "place")).alias("said")
        )
        fields = [F.col(f"said.r.{name}").alias(name) for name in REQUIREMENT.names if name != "id"]
        both = newest.select("protocol", "id", *fields, F.col("said.place").alias("place"))
        numbers = [*words, "open", "exercised", "judged"]
        texts = [name for name in REQUIREMENT.names if name != "id"]
        joined = both.join(count, ["protocol", "id"], "left").fillna(0, numbers).fillna("", texts)
        return joined.select(*_names(tables.Requirement), "place")

    return made


def strictness(grid: DataFrame) -> DataFrame:
    """How the newest cells stand, level by level."""
    standing = F.col("standing")
    return (
        grid.where("newest")
        .groupBy("slug", "run", "level")
        .agg(
            F.count_if(standing == "passed").alias("passed"),
            F.count_if(standing.isin("failed", "warned")).alias("failed"),
            F.count_if(standing == "accepted").alias("accepted"),
            F.count_if(standing.isin("inconclusive", "error")).alias("open"),
        )
        .orderBy("slug", "level")
    )


def differences(told: DataFrame, listed: DataFrame) -> Callable[[DataFrame], DataFrame]:
    """Requirements that some implementation of a protocol and role keeps and another breaks."""

    def made(grid: DataFrame) -> DataFrame:
        sided = grid.where("newest").join(F.broadcast(told), "run")
        good = F.when(F.col("standing") == "passed", F.col("slug"))
        bad = F.when(F.col("standing").isin(*FAILING), F.col("slug"))
        split = sided.groupBy("protocol", "role", "requirement").agg(
            F.max("level").alias("level"),
            F.sort_array(F.collect_set(good)).alias("passing"),
            F.sort_array(F.collect_set(bad)).alias("failing"),
        )
        both = split.where((F.size("passing") > 0) & (F.size("failing") > 0))
        known = listed.select("protocol", F.col("id").alias("requirement"), "basis")
        based = both.join(known, ["protocol", "requirement"], "left").fillna("text", ["basis"])
        left_open = (F.col("level") != "MUST") | (F.col("basis") != "text")
        return based.withColumn("ambiguous", left_open).orderBy("protocol", "role", "requirement")

    return made


# -- over time --------------------------------------------------------------------------------------------------------


def days(since: str) -> Callable[[DataFrame], DataFrame]:
    """The last run of each day of each implementation, from the day `since` on, and how many there were."""

    def made(runs: DataFrame) -> DataFrame:
        names = ("version", "verdict", "complete", "passed", "failed", "warned", "accepted", "inconclusive")
        last = F.max(F.struct("at", "run", *names)).alias("last")
        dated = runs.where((F.col("day") >= since) & F.col("day").rlike("^[0-9]"))
        each = dated.groupBy("slug", "day").agg(last, F.count("*").alias("runs"))
        return each.select("slug", "day", "last.*", "runs").orderBy("slug", "day")

    return made


def changes(last: DataFrame, grid: DataFrame) -> Callable[[DataFrame], DataFrame]:
    """What stands otherwise in the last whole run of an implementation than in the one before. A failure that the
    baseline accepts is no regression; a requirement that the run before did not know is no change."""

    def made(verdicts: DataFrame) -> DataFrame:
        placed = F.broadcast(last.select("run", "place"))
        mine = verdicts.join(placed, "run").select(
            "slug", "requirement", "level", "run", "version", "verdict", "standing", "message", "place"
        )
        before, after = mine.where("place = 2").alias("b"), mine.where("place = 1").alias("a")
        # An implementation with one run has nothing to compare.
        twice = F.broadcast(last.where("place = 2").select("slug"))
        joined = before.join(after, ["slug", "requirement"], "left").join(twice, "slug", "leftsemi")
        newer = F.broadcast(
            last.where("place = 1").select("slug", F.col("run").alias("r"), F.col("version").alias("v"))
        )
        was, now = F.col("b.verdict"), F.coalesce("a.verdict", F.lit("unlisted"))
        kind = (
            F.when((now == "fail") & (was != "fail") & (F.col("a.standing") != "accepted"), "regression")
            .when((now == "pass") & (was == "fail"), "repair")
            .when((was == "pass") & ~now.isin("pass", "fail"), "lost")
        )
        found = joined.join(newer, "slug").select(
            kind.alias("kind"), "slug", "requirement", F.coalesce("a.level", "b.level").alias("level"),
            F.col("b.standing").alias("before"), F.coalesce("a.standing", F.lit("unlisted")).alias("after"),
            F.col("b.run").alias("before_run"), F.col("r").alias("after_run"),
            F.col("b.version").alias("before_version"), F.col("v").alias("after_version"),
            F.coalesce("a.message", F.lit("")).alias("message"),
        )  # fmt: skip
        pages = grid.select(F.col("run").alias("after_run"), "requirement", "failure")
        paged = found.where(F.col("kind").isNotNull()).join(pages, ["after_run", "requirement"], "left")
        order = F.array_position(F.array(F.lit("regression"), F.lit("lost"), F.lit("repair")), F.col("kind"))
        return paged.fillna("", ["failure"]).orderBy(order, "slug", "requirement")

    return made


def history(verdicts: DataFrame) -> DataFrame:
    """For each requirement on each version: how many runs settled it, how many with a fail, and when first (in
    microseconds). Whole numbers only, so that Spark adds them up by hash."""
    failing = F.col("verdict") == "fail"
    moment = F.when(failing, F.unix_micros(F.try_to_timestamp("at")))
    return verdicts.groupBy("slug", "version", "requirement").agg(
        F.count_if(F.col("verdict").isin("pass", "fail")).alias("runs"),
        F.count_if(failing).alias("failed"),
        F.min(moment).alias("first"),
    )


def flickers(past: DataFrame, faults: DataFrame) -> Callable[[DataFrame], DataFrame]:
    """Requirements that fail in some runs of a version and pass in others, or whose faults are not steady."""
    key = ["slug", "version", "requirement"]
    tried = (
        faults.where(F.col("tried") > 0)
        .groupBy(*key)
        .agg(
            F.sum("reproduced").alias("reproduced"),
            F.sum("tried").alias("tried"),
            F.count_if(F.col("reproduced") < F.col("tried")).alias("loose"),
        )
    )
    both = (F.col("failed") > 0) & (F.col("failed") < F.col("runs"))

    def made(verdicts: DataFrame) -> DataFrame:
        settled = verdicts.where(F.col("verdict").isin("pass", "fail"))
        mixed = settled.join(past.where(both).select(*key), key, "leftsemi")
        order = Window.partitionBy(*key).orderBy("at", "run")
        turned = mixed.select(*key, (F.col("verdict") != F.lag("verdict").over(order)).alias("turned"))
        turns = turned.groupBy(*key).agg(F.count_if("turned").alias("changes"))
        counted = past.join(tried, key, "left").fillna(0, ["reproduced", "tried", "loose"])
        chosen = counted.where(both | (F.col("loose") > 0)).join(turns, key, "left").fillna(0, ["changes"])
        most = chosen.orderBy(F.desc("changes"), F.desc("failed"), *key).limit(FLICKERS)
        return most.select(*_names(tables.Flicker))

    return made


# -- failures ---------------------------------------------------------------------------------------------------------


def failures(grid: DataFrame, past: DataFrame, runs: DataFrame, traces: DataFrame) -> Callable[[DataFrame], DataFrame]:
    """A page for each fault of the chosen runs: one for each conversation of a requirement."""

    def made(faults: DataFrame) -> DataFrame:
        paged = faults.withColumn("failure", page())
        columns = [name for name in paged.columns if name != "failure"]
        order = F.struct(F.col("verdict") != "fail", -F.col("reproduced"), "steps", "property", "why")
        one = paged.groupBy("failure").agg(F.min_by(F.struct(*columns), order).alias("f")).select("failure", "f.*")
        stood = one.join(grid.select("run", "requirement", "standing"), ["run", "requirement"], "left")
        began = past.groupBy("slug", "requirement").agg(F.min("first").alias("first"))
        dated = stood.join(began, ["slug", "requirement"], "left")
        earliest = runs.select(
            "slug", F.unix_micros(F.try_to_timestamp("at")).alias("first"), F.col("run").alias("first_run"),
            F.col("day").alias("first_day"),
        )  # fmt: skip
        known = dated.select("slug", "first").distinct()
        opening = (
            earliest.join(known, ["slug", "first"], "leftsemi")
            .groupBy("slug", "first")
            .agg(F.min("first_run").alias("first_run"), F.min("first_day").alias("first_day"))
        )
        told = traces.join(one.select("run", "trace").distinct(), ["run", "trace"], "leftsemi")
        # Runs that share a folder write traces of one name: a conversation is shown with the run that held it.
        own = told.join(runs.select("run", "seed"), "run").where(
            F.coalesce(F.get_json_object("document", "$.seed").cast("long"), "seed") == F.col("seed")
        )
        texts = own.groupBy("run", "trace").agg(F.max_by(F.struct("document", "script"), "batch").alias("t"))
        joined = dated.join(opening, ["slug", "first"], "left").join(texts, ["run", "trace"], "left")
        full = joined.withColumns(
            {
                "document": F.coalesce("t.document", F.lit("")),
                "script": F.coalesce("t.script", F.lit("")),
                "standing": F.coalesce("standing", F.lit("")),
                "first_run": F.coalesce("first_run", "run"),
                "first_day": F.coalesce("first_day", "day"),
            }
        )
        return full.select(*_names(tables.Failure)).orderBy("slug", "version", "requirement", "failure")

    return made


def reviewed(rejudged: DataFrame) -> DataFrame:
    """What was judged again, the changed ones first, then what could not be judged."""
    names = [F.col(name) for name in ("slug", "requirement", "run", "trace")]
    order = [F.desc("changed"), F.desc(F.col("after") == "error"), *names]
    return rejudged.select(*_names(tables.Rejudged)).orderBy(*order).limit(REJUDGED)


# -- from Spark to Python ---------------------------------------------------------------------------------------------


def _names(table: type) -> list[str]:
    return schemas.of(table).fieldNames()


def _rows(table: type[Table], found: DataFrame) -> tuple[Table, ...]:
    """The rows of a table, in the order in which they come."""
    names = _names(table)
    return tuple(
        table(**{name: _plain(value) for name, value in zip(names, row, strict=True)})
        for row in found.select(*names).collect()
    )


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _brought(small: DataFrame) -> DataFrame:
    """A small table through this process: worked out once, and sent wherever it is needed."""
    return small.sparkSession.createDataFrame(small.collect(), small.schema)


def _back(newest: date, count: int) -> str:
    """The day that many days before the newest."""
    return (newest - timedelta(days=count)).isoformat()
