"""What the runs of each version of an implementation amount to, in one row: the table `versions`.

Whoever takes runs in or judges them again writes it anew for the versions that these runs are of, or were of before,
out of everything that is known of them; readers take the newest row. So it does not matter when a run arrives, how
often, or what it said before, and a row comes and goes with its batch. Building the report looks back over rows of this
table, not over all verdicts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812

from reports.spark import schemas
from reports.spark.rows import UNKNOWN_DAY, Last, Night, Past

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame

    from reports.spark.warehouse import Warehouse

VERSION: Final = ("slug", "version")
KEY: Final = (*VERSION, "requirement")
FROM: Final = ("runs", "settled", "faults")
"""The tables that it is made of."""
DAY: Final = r"^(?!0000)\d{4}-\d{2}-\d{2}$"
"""How a moment begins of which `folding.day_of` can tell the day."""


def known(warehouse: Warehouse) -> DataFrame:
    """The table `versions`, worked out here when the warehouse was last written by a release that did not keep it."""
    if warehouse.summed():
        return warehouse.versions()
    return summed(*(warehouse.newest(name) for name in FROM))


def renewed(warehouse: Warehouse, parts: Mapping[str, DataFrame], *, again: bool) -> DataFrame:
    """The rows of `versions` that belong to a batch: `parts` is what it says of its runs, table by table, and `again`
    says that one of them may be in an earlier batch."""
    told = _touching(warehouse, parts["runs"].select("run", *VERSION), again=again).collect()
    spark, touched = warehouse.spark, sorted({(row.slug, row.version) for row in told})
    asked = schemas.sent(spark, touched, schemas.text(*VERSION))
    theirs = schemas.together(VERSION, touched)
    own = F.broadcast(schemas.sent(spark, [(row.run,) for row in told if row.mine], schemas.text("run")))

    def now(table: str) -> DataFrame:
        known = warehouse.newest(table).where(theirs)
        return (known.join(own, "run", "left_anti") if again else known).unionByName(parts[table])

    runs, settled, faults = map(now, FROM)
    return summed(runs, settled, faults, asked)


def _touching(warehouse: Warehouse, mine: DataFrame, *, again: bool) -> DataFrame:
    """The runs of a batch, with their versions, and those versions of which the same runs were before."""
    told = mine.withColumn("mine", F.lit(True))
    if warehouse.summed() and not again:
        return told
    before = warehouse.newest("runs").select("run", *VERSION)
    if warehouse.summed():
        before = before.join(F.broadcast(mine.select("run")), "run", "leftsemi")
    else:  # a release without this table may have taken a version its only run
        before = before.unionByName(warehouse.versions().select(F.lit("").alias("run"), *VERSION))
    return told.unionByName(before.withColumn("mine", F.lit(False)))


def summed(runs: DataFrame, settled: DataFrame, faults: DataFrame, asked: DataFrame | None = None) -> DataFrame:
    """A row for each version that has runs, and for each that is `asked` for: a version that has lost its only run gets
    one that is empty.

    What is known of a version is put side by side and grouped, never joined: each join would wait for work of its own,
    and one night has hardly anything to join.
    """
    night, one = (F.struct(*schemas.of(table).fieldNames()) for table in (Night, Past))
    days = daily(runs).select(*VERSION, night.alias("night"))
    told = days.unionByName(history(settled, faults).select(*VERSION, one.alias("one")), allowMissingColumns=True)
    if asked is not None:
        told = told.unionByName(asked, allowMissingColumns=True)
    return told.groupBy(*VERSION).agg(
        F.sort_array(F.collect_list("night")).alias("nights"), F.sort_array(F.collect_list("one")).alias("past")
    )


def daily(runs: DataFrame) -> DataFrame:
    """Each day of each version: how many runs, how many of them incomplete, the `last` of all, and the last two that
    were `whole`, latest first."""
    whole = F.when(F.col("complete") & ~F.col("partial"), F.struct("at", "run"))
    return runs.groupBy(*VERSION, "day").agg(
        F.count("*").alias("runs"),
        F.count_if(~F.col("complete")).alias("incomplete"),
        F.max(F.struct(*schemas.of(Last).fieldNames())).alias("last"),
        F.slice(F.sort_array(F.collect_list(whole), asc=False), 1, 2).alias("whole"),
    )


def history(settled: DataFrame, faults: DataFrame) -> DataFrame:
    """Each requirement on each version: how many runs settled it, how many with a fail, how often that differed from
    the run before, the first fail whose moment is known (in microseconds) with its run and day; repetitions of its
    faults, and how many faults not all of them showed."""
    shaken = faults.where(F.col("tried") > 0).select(*KEY, "reproduced", "tried")
    both = settled.select(*KEY, "at", "run", "failed").unionByName(shaken, allowMissingColumns=True)
    moment, text = F.unix_micros(F.try_to_timestamp("at")), F.substring("at", 1, 10)
    day = F.when(text.rlike(DAY), text).otherwise(UNKNOWN_DAY)  # as folding.day_of: the moment is one that exists
    begun = F.when(F.col("failed") & moment.isNotNull(), F.struct(moment.alias("moment"), "run", day.alias("day")))
    found = both.groupBy(*KEY).agg(
        F.sort_array(F.collect_list(F.when(F.col("run").isNotNull(), F.struct("at", "run", "failed")))).alias("told"),
        F.count_if("failed").alias("failed"),
        F.min(begun).alias("first"),
        F.sum("reproduced").alias("reproduced"),
        F.sum("tried").alias("tried"),
        F.count_if(F.col("reproduced") < F.col("tried")).alias("loose"),
    )

    def turned(verdict: Column, nth: Column) -> Column:
        return verdict.failed != F.get("told", nth - 1).failed

    return found.select(
        *KEY, F.size("told").cast("long").alias("runs"), "failed",
        F.size(F.filter("told", turned)).cast("long").alias("changes"), F.col("first.moment").alias("first"),
        F.col("first.run").alias("first_run"), F.col("first.day").alias("first_day"),
        *[F.coalesce(name, F.lit(0).cast("long")).alias(name) for name in ("reproduced", "tried")], "loose",
    )  # fmt: skip


def nights(versions: DataFrame) -> DataFrame:
    """Each day of each version, as `daily` makes it."""
    return versions.select(*VERSION, F.explode("nights").alias("night")).select(*VERSION, "night.*")


def past(versions: DataFrame) -> DataFrame:
    """Each requirement on each version, as `history` and `shaken` make it."""
    return versions.select(*VERSION, F.explode("past").alias("told")).select(*VERSION, "told.*")
