"""What the runs of each version of an implementation amount to, in one row: the table `versions`.

Whoever takes runs in or judges them again writes it anew for the versions that these runs are of, or were of before,
out of everything that is known of them; readers take the newest row. So it does not matter when a run arrives, how
often, or what it said before, and a row comes and goes with its batch. Building the report looks back over rows of this
table, not over all verdicts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812

from reports.spark import schemas
from reports.spark.rows import Last, Night, Past

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import DataFrame

    from reports.spark.warehouse import Warehouse

VERSION: Final = ("slug", "version")
KEY: Final = (*VERSION, "requirement")
FROM: Final = ("runs", "settled", "faults")
"""The tables that it is made of."""
COUNTS: Final = ("runs", "failed", "changes", "reproduced", "tried", "loose")


def known(warehouse: Warehouse) -> DataFrame:
    """The table `versions`, worked out here when the warehouse was last written by a release that did not keep it."""
    if warehouse.summed():
        return warehouse.versions()
    return summed(*(warehouse.newest(name) for name in FROM))


def renewed(warehouse: Warehouse, parts: Mapping[str, DataFrame], *, again: bool) -> DataFrame:
    """The rows of `versions` that belong to a batch: `parts` is what it says of its runs, table by table, and `again`
    says that one of them may be in an earlier batch."""
    told = _touching(warehouse, parts["runs"].select("run", *VERSION), again=again).collect()
    of, spark = schemas.text(*VERSION), warehouse.spark
    touched = sorted({(row.slug, row.version) for row in told})
    asked = schemas.sent(spark, touched, of)
    # Said of each column, so that what is read from Parquet is what may be meant.
    near = schemas.among("slug", [slug for slug, _ in touched]) & schemas.among(
        "version", [name for _, name in touched]
    )
    own = F.broadcast(schemas.sent(spark, [(row.run,) for row in told if row.mine], schemas.text("run")))

    def now(table: str) -> DataFrame:
        known = warehouse.newest(table).where(near)
        others = known.join(own, "run", "left_anti") if again else known
        return others.unionByName(parts[table]).join(F.broadcast(asked), [*VERSION], "leftsemi")

    # A version that has lost its only run gets a row too: one that is empty.
    return asked.join(summed(*(now(name) for name in FROM)), [*VERSION], "left")


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


def summed(runs: DataFrame, settled: DataFrame, faults: DataFrame) -> DataFrame:
    """A row for each version that has runs."""
    past = settled.transform(history(runs)).join(faults.transform(shaken), [*KEY], "full").fillna(0, [*COUNTS])
    nights, requirements = (F.struct(*schemas.of(table).fieldNames()) for table in (Night, Past))
    return (
        runs.transform(daily)
        .groupBy(*VERSION)
        .agg(F.sort_array(F.collect_list(nights)).alias("nights"))
        .join(past.groupBy(*VERSION).agg(F.sort_array(F.collect_list(requirements)).alias("past")), [*VERSION], "left")
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


def history(runs: DataFrame) -> Callable[[DataFrame], DataFrame]:
    """For each requirement on each version: how many runs settled it, how many with a fail, how often that differed
    from the run before, and the first fail whose moment is known (in microseconds), with its run and day."""
    days = runs.select("run", "day")

    def made(settled: DataFrame) -> DataFrame:
        order = Window.partitionBy(*KEY).orderBy("at", "run")
        dated = settled.join(days, "run").withColumns({
            "turned": F.col("failed") != F.lag("failed").over(order),
            "moment": F.unix_micros(F.try_to_timestamp("at")),
        })  # fmt: skip
        begun = F.when(F.col("failed") & F.col("moment").isNotNull(), F.struct("moment", "run", "day"))
        found = dated.groupBy(*KEY).agg(
            F.count("*").alias("runs"), F.count_if("failed").alias("failed"), F.count_if("turned").alias("changes"),
            F.min(begun).alias("first"),
        )  # fmt: skip
        told = {"first": "first.moment", "first_run": "first.run", "first_day": "first.day"}
        return found.select(
            *KEY, "runs", "failed", "changes", *[F.col(column).alias(name) for name, column in told.items()]
        )

    return made


def shaken(faults: DataFrame) -> DataFrame:
    """For each requirement on each version: repetitions of its faults, and how many faults not all of them showed."""
    loose = F.col("reproduced") < F.col("tried")
    return (
        faults.where(F.col("tried") > 0)
        .groupBy(*KEY)
        .agg(F.sum("reproduced").alias("reproduced"), F.sum("tried").alias("tried"), F.count_if(loose).alias("loose"))
    )


def nights(versions: DataFrame) -> DataFrame:
    """Each day of each version, as `daily` makes it."""
    return versions.select(*VERSION, F.explode("nights").alias("night")).select(*VERSION, "night.*")


def past(versions: DataFrame) -> DataFrame:
    """Each requirement on each version, as `history` and `shaken` make it."""
    return versions.select(*VERSION, F.explode("past").alias("told")).select(*VERSION, "told.*")
