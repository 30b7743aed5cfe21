"""The warehouse: Parquet tables in batches, of which readers see only those that were committed.

A batch writes its part of every table under a name of its own, and then one file that names it: that file is the
commit, and it appears whole or not at all. Whatever kills a job before leaves folders that nobody reads; the next job
on the same machine removes them. Many small batches are merged into one that stands in their place. One job writes at
a time; any number may read.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F  # noqa: N812 - the name that everyone gives it
from pyspark.sql.types import StructType

from reports.spark import schemas
from reports.spark.rows import DAILY, FOLDED, KEYED, SCHEMAS, SORTED, Commit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MANY: Final = 12
"""Small batches that may stand side by side before they are merged."""
SMALL: Final = 5_000_000
"""Rows of a batch that is not merged any more."""
TOGETHER: Final = 32
"""Conversations in one row group of Parquet: readers take it into memory at once, and each may have some megabytes."""
SIDE_BY_SIDE: Final = 4
"""Queries or tables that are worked on at the same time."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch that is being written."""

    name: str
    number: int


class Warehouse:
    """The tables under `root`, a folder or any URL that Spark reads and writes."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        self.spark = spark
        self.root = root.rstrip("/") or "/"
        self._live: tuple[Commit, ...] | None = None
        self._older: tuple[tuple[str, ...], DataFrame | None] = ((), None)

    # -- reading --------------------------------------------------------------------------------------------------

    def live(self) -> tuple[Commit, ...]:
        """The committed batches that no other stands in place of, oldest first."""
        if self._live is None:
            try:
                rows = self.spark.read.schema(schemas.of(Commit)).parquet(f"{self.root}/commits").collect()
            except AnalysisException as error:
                if "PATH_NOT_FOUND" not in str(error.getCondition()):
                    raise
                rows = []
            commits = [
                Commit(
                    batch=row.batch, tables=tuple(row.tables), replaces=tuple(row.replaces), rows=row.rows,
                    again=row.again is not False,  # an older release did not say it
                )
                for row in rows
            ]  # fmt: skip
            gone = {name for commit in commits for name in commit.replaces}
            self._live = tuple(sorted((c for c in commits if c.batch not in gone), key=lambda c: c.batch))
        return self._live

    def batches(self, table: str, names: Iterable[str] | None = None) -> DataFrame:
        """Table `table` as the named batches hold it (all live ones unless said), with a column `batch`."""
        schema, wanted = SCHEMAS[table], None if names is None else set(names)
        chosen = [c.batch for c in self.live() if table in c.tables and (wanted is None or c.batch in wanted)]
        if not chosen:
            return schemas.sent(self.spark, [], schema).withColumn("batch", F.lit("").cast("string"))
        paths = [f"{self.root}/{table}/batch={name}" for name in chosen]
        known = schemas.text("batch")  # a part without a single row has no folder from which it could be told
        read = self.spark.read.schema(StructType([*schema.fields, *known.fields])).option(
            "basePath", f"{self.root}/{table}"
        )
        return read.parquet(*paths)

    def newest(self, table: str) -> DataFrame:
        """Table `table` with one say for each run: of the newest batch that has it."""
        found, older = self.batches(table), self._superseded()
        kept = found if older is None else found.join(F.broadcast(older), ["run", "batch"], "left_anti")
        return kept.drop("batch")

    def _superseded(self) -> DataFrame | None:
        """The runs of which a later batch tells anew, with the batch; None, mostly, when there are none."""
        commits = [commit for commit in self.live() if "runs" in commit.tables]
        names = tuple(commit.batch for commit in commits)
        if self._older[0] != names:
            older = self._told_again(commits) if any(commit.again for commit in commits[1:]) else []
            frame = schemas.sent(self.spark, older, schemas.text("run", "batch")) if older else None
            self._older = names, frame
        return self._older[1]

    def _told_again(self, commits: Sequence[Commit]) -> list[tuple[str, str]]:
        """Each run and batch of which a later one tells anew. Behind one large batch the runs of the small ones are
        brought here and looked up in it: to group all runs takes longer than all else that a night asks of them."""
        largest = max(commits, key=lambda commit: commit.rows)
        small = [commit.batch for commit in commits if commit != largest]
        if sum(commit.rows for commit in commits if commit != largest) < SMALL:
            told = self.batches("runs", small).select("run", "batch").collect()
            runs = schemas.sent(self.spark, sorted({(row.run,) for row in told}), schemas.text("run"))
            before = self.batches("runs", [largest.batch]).join(F.broadcast(runs), "run", "leftsemi")
            told += before.select("run", "batch").collect()
        else:
            found = self.batches("runs").groupBy("run").agg(F.collect_list("batch").alias("told"))
            told = found.where("size(told) > 1").select("run", F.explode("told").alias("batch")).collect()
        newest = {row.run: row.batch for row in sorted(told, key=lambda row: row.batch)}
        return [(row.run, row.batch) for row in told if row.batch != newest[row.run]]

    def rejudged(self) -> DataFrame:
        """What was last found out about each stored conversation."""
        return self._last("rejudged")

    def ledger(self) -> DataFrame:
        """The files that were read, each as it was when it was last read."""
        return self._last("ledger")

    def versions(self) -> DataFrame:
        """What the runs of each version amount to, when the warehouse is `summed`."""
        return self._last("versions")

    def summed(self) -> bool:
        """Whether the table of versions speaks for all runs. A release that does not keep it leaves a newest batch of
        runs without it; the next batch then has all versions."""
        return "versions" in next((c.tables for c in reversed(self.live()) if "runs" in c.tables), ("versions",))

    def _last(self, table: str) -> DataFrame:
        """For each key of `table` the row of the newest batch."""
        key = KEYED[table]
        columns = [name for name in SCHEMAS[table].fieldNames() if name not in key]
        said = F.max_by(F.struct(*columns), "batch").alias("said")
        return self.batches(table).groupBy(*key).agg(said).select(*key, "said.*")

    def quarantine(self) -> DataFrame:
        """What was set aside when each file was last read."""
        files = self.batches("ledger").groupBy("path").agg(F.max("batch").alias("batch"))
        found = self.batches("quarantine")
        return found.join(files, [found["source"] == files["path"], found["batch"] == files["batch"]], "leftsemi").drop(
            "batch"
        )

    def holding(self, runs: DataFrame) -> list[str]:
        """The live batches in which these runs have rows."""
        if not self.live():
            return []
        found = self.batches("held").join(F.broadcast(runs), "run", "leftsemi").select("batch")
        return sorted({row.batch for row in found.collect()})

    # -- writing --------------------------------------------------------------------------------------------------

    def begin(self) -> Batch:
        """A name for a new batch, later than all others. What killed jobs left is removed, on a local disk."""
        self._live = None
        known = {commit.batch for commit in self.live()}
        last = max((int(name[:8]) for name in known), default=0)
        folder = self.folder()
        if folder is not None:
            last = max([last, *(self._sweep(folder, known))])
        return Batch(f"{last + 1:08d}-{secrets.token_hex(4)}", last + 1)

    def folder(self) -> Path | None:
        """Where the warehouse is on this machine; None where it is elsewhere."""
        parts = urlsplit(self.root)
        return Path(parts.path if parts.scheme else self.root) if parts.scheme in ("", "file") else None

    def _sweep(self, folder: Path, known: set[str]) -> list[int]:
        for leftover in folder.glob("*/batch=*"):
            if leftover.name.removeprefix("batch=") not in known:
                shutil.rmtree(leftover)
        return [int(name[:8]) for name in known]

    def write(self, batch: Batch, table: str, rows: DataFrame) -> None:
        """Write a batch's part of `table`, with the columns that the schema names."""
        chosen = rows.select(*[F.col(f.name).cast(f.dataType) for f in SCHEMAS[table].fields])
        if table in SORTED:
            chosen = chosen.sortWithinPartitions("slug", "version")
        writer = chosen.write.mode("overwrite")
        if table == "traces":
            writer = writer.option("parquet.block.row.count.limit", TOGETHER)
        if table in DAILY:
            writer = writer.partitionBy("day")
        writer.parquet(f"{self.root}/{table}/batch={batch.name}")

    def write_all(self, batch: Batch, parts: Mapping[str, DataFrame]) -> None:
        """Write a batch's part of several tables, side by side: one alone leaves the machine idle half of the time."""
        with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
            for written in [pool.submit(self.write, batch, table, rows) for table, rows in parts.items()]:
                written.result()

    def commit(
        self, batch: Batch, tables: Iterable[str], rows: int, replaces: Sequence[str] = (), *, again: bool = True
    ) -> None:
        """Let readers see a batch that has written its part of `tables`; `rows` says how large it is, and `again`
        whether one of its runs may be in an earlier batch too."""
        told = [(batch.name, list(tables), list(replaces), rows, again)]
        one = schemas.sent(self.spark, told, schemas.of(Commit)).coalesce(1)
        one.write.mode("append").parquet(f"{self.root}/commits")
        self._live = None

    def part(self, batch: Batch, table: str) -> DataFrame:
        """What an uncommitted batch has written of `table`."""
        path = f"{self.root}/{table}/batch={batch.name}"
        return self.spark.read.schema(SCHEMAS[table]).parquet(path).select(*SCHEMAS[table].fieldNames())

    def compact(self) -> bool:
        """Merge the small batches when there are too many; True when it was done."""
        small = [commit.batch for commit in self.live() if commit.rows < SMALL]
        if len(small) <= MANY:
            return False
        batch = self.begin()
        merged = {}
        for table in sorted({table for commit in self.live() if commit.batch in small for table in commit.tables}):
            part = self.batches(table, small)
            if table in FOLDED:
                part = part.join(self._newest("runs", ("run",)), ["run", "batch"], "leftsemi")
            elif table in KEYED:
                part = part.join(self._newest(table, KEYED[table]), [*KEYED[table], "batch"], "leftsemi")
            elif table == "quarantine":
                part = self.quarantine()
            once = part.drop("batch").distinct()
            # What a file costs to open is the same however little is in it: each day gets one.
            merged[table] = once.repartition("day") if table in DAILY else once.coalesce(1)
        self.write_all(batch, merged)
        parts = [commit for commit in self.live() if commit.batch in small]
        again = any(commit.again for commit in parts)
        self.commit(batch, merged, sum(commit.rows for commit in parts), small, again=again)
        folder = self.folder()
        if folder is not None:
            self._sweep(folder, {commit.batch for commit in self.live()})
        return True

    def _newest(self, table: str, key: Sequence[str]) -> DataFrame:
        """Each key of `table`, with the newest batch that has it."""
        return self.batches(table).groupBy(*key).agg(F.max("batch").alias("batch"))
