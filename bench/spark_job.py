"""One process of the bench `spark`: `fill ROOT ROWS`, `build ROOT`, `duck ROOT`, `rates FOLDER RUNS`,
`nights FOLDER NIGHTS`, `tiny FOLDER`.

The last line that it prints is what it measured, as JSON.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from pyspark.sql import SparkSession

from bench import spark_duck, spark_rows
from reports.spark.ingest import ingest
from reports.spark.rejudge import again, rejudge
from reports.spark.report import build
from reports.spark.session import start
from reports.spark.warehouse import Warehouse

Measured = dict[str, Any]
TINY = {"spark.sql.shuffle.partitions": "1", "spark.sql.codegen.wholeStage": "false"}
"""What is asked of Spark where all tables have a few rows: code that is made for a query is never worth making."""


def fill(spark: SparkSession, root: str, rows: str) -> Measured:
    """Make a warehouse."""
    return {"rows": spark_rows.fill(spark, root, int(rows))}


def built(spark: SparkSession, root: str) -> Measured:
    """Build the tables once, as the nightly job does."""
    watch = _Watch()
    took = _timed(lambda: build(Warehouse(spark, root), _quiet))
    return {"build_s": took, "cpu_s": watch.stop(), "peak_mb": watch.peak_mb}


def duck(spark: None, root: str) -> Measured:
    """The same tables by DuckDB."""
    return {"tables_s": _timed(lambda: spark_duck.tables(root))}


def tiny(spark: SparkSession, folder: str) -> Measured:
    """Everything once, in one process, to see that it runs."""
    root = str(Path(folder) / "made")
    one = {**fill(spark, root, "4000"), **built(spark, root), **duck(None, root), "start_s": 0.0}
    return {"sizes": [one, one], "rates": {**rates(spark, folder, "2"), **nights(spark, folder, "2", "1", "0")}}


def rates(spark: SparkSession, folder: str, runs: str) -> Measured:
    """Rows taken in each second, after a round that does not count; a night behind many; judging again."""
    root, count = Path(folder), int(runs)
    few = max(1, count // 20)
    spark_rows.records(root / "warm", few)
    ingest(Warehouse(spark, str(root / "warm-house")), [str(root / "warm")], _quiet)
    rows = spark_rows.records(root / "many", count)
    took = _timed(lambda: ingest(Warehouse(spark, str(root / "many-house")), [str(root / "many")], _quiet))
    ratio = _rejudging(spark, root, 40 * count)
    for name in ("warm", "many"):
        shutil.rmtree(root / name)
        shutil.rmtree(root / f"{name}-house")
    for name in ("few-traces", "traces"):
        shutil.rmtree(root / name)
    return {"rows": rows, "rows_per_s": rows / took, "rejudge": ratio}


def nights(spark: SparkSession, folder: str, behind: str, rounds: str = "8", before: str = "3") -> Measured:
    """How long one more run takes behind so many nights, beside the first of all: the middle of eight in turn, after
    three rounds that do not count. Its version has been judged in the nights before."""
    root, count, first = Path(folder), int(behind), int(before)
    version = f"1.{(count - 1) // spark_rows.A_VERSION}"
    rows = count * spark_rows.IMPLEMENTATIONS * spark_rows.REQUIREMENTS
    spark_rows.fill(spark, str(root / "nights"), rows, count)
    took: dict[str, list[float]] = {"first": [], "later": []}
    for n in range(first + int(rounds)):
        results = root / f"night-{n}"
        spark_rows.records(results, 1, n, impl="broker-1", version=version)
        for name, house in (("first", f"empty-{n}"), ("later", "nights")):
            warehouse = Warehouse(spark, str(root / house))
            took[name].append(_timed(lambda: ingest(warehouse, [str(results)], _quiet)))  # noqa: B023 - at once
    return {"night": median(took["later"][first:]) / median(took["first"][first:]), **took}


def _rejudging(spark: SparkSession, root: Path, count: int) -> float:
    """How many times as fast it is as one plain process, after a round that does not count."""
    spark_rows.conversations(spark, str(root / "few-traces"), 100)
    rejudge(Warehouse(spark, str(root / "few-traces")), _quiet)
    texts = spark_rows.conversations(spark, str(root / "traces"), count)
    plain = _timed(lambda: [again(text, None) for text in texts])
    return plain / _timed(lambda: rejudge(Warehouse(spark, str(root / "traces")), _quiet))


def _timed(work: Callable[[], object]) -> float:
    begun = time.monotonic()
    work()
    return time.monotonic() - begun


def _quiet(text: str) -> None:
    pass


class _Watch:
    """What this process and all that it started took: the most memory at once in MB, and time of processors in s."""

    def __init__(self) -> None:
        self.peak_mb = 0
        self._cpu: dict[int, float] = {}
        self._over = threading.Event()
        self._asking = threading.Thread(target=self._ask, daemon=True)
        self._asking.start()

    def _ask(self) -> None:
        while not self._over.wait(0.5):
            command = ["ps", "-eo", "pid=,ppid=,rss=,cputimes="]
            listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            rows = [tuple(map(int, line.split())) for line in listed.splitlines()]
            mine = {os.getpid()}
            while more := {pid for pid, parent, _, _ in rows if parent in mine} - mine:
                mine |= more
            self.peak_mb = max(self.peak_mb, sum(rss for pid, _, rss, _ in rows if pid in mine) // 1024)
            self._cpu |= {pid: spent for pid, _, _, spent in rows if pid in mine}

    def stop(self) -> float:
        """Answers the time of processors."""
        self._over.set()
        self._asking.join()
        return sum(self._cpu.values())


JOBS: dict[str, Callable[..., Measured]] = {
    "fill": fill,
    "build": built,
    "duck": duck,
    "rates": rates,
    "nights": nights,
    "tiny": tiny,
}


def main(name: str, *arguments: str) -> int:
    """Do one job and print what it measured."""
    begun = time.monotonic()
    spark = None if name == "duck" else start(settings=TINY if name == "tiny" else None)
    started = time.monotonic()
    measured = JOBS[name](spark, *arguments)
    if spark is not None:
        spark.stop()
    sys.stdout.write(json.dumps({"start_s": started - begun, **measured}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
