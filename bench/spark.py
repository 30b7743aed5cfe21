"""The nightly report: building its tables against DuckDB over the same Parquet files, taking results in, judging again.

Each size is worked on by a process of its own, so that the start of Spark is measured apart and nobody finds anything
warm. Without Java or PySpark nothing is measured, and the table says so.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.measure import Figure, RunOptions, say
from reports.spark import classes
from reports.spark.session import ROOT, missing

MILLION = 1_000_000
HUGE = "WIREPROOF_BENCH_ROWS"
"""Names the most rows that are tried, 10 million unless it says more: 100 million need a quarter of an hour."""


def run(options: RunOptions) -> list[Figure]:
    """Growth, ratio to DuckDB, rates."""
    why = missing()
    if why:
        say(f"  {why}")
        return [Figure("spark", "building, taking in, judging again", ())]
    sizes, most = [MILLION, 10 * MILLION], int(os.environ.get(HUGE, "0"))
    sizes += [most] if most > sizes[-1] else []
    with tempfile.TemporaryDirectory(prefix="wireproof-bench-") as name:
        if options.tiny:
            told = _job("tiny", name)
            return [*_built([_whole(one) for one in told["sizes"]]), *_rated(told["rates"])]
        found = [_size(Path(name) / str(size), size) for size in sizes]
        return [*_built(found), *_rated({**_job("rates", name, "100"), **_job("nights", name, "1000")})]


def _job(*arguments: str, kept: Path | None = None) -> dict[str, Any]:
    """What one process measured, with the classes of Spark in the folder `kept`. Raises CalledProcessError when it
    failed; what it said stands above."""
    command = [sys.executable, "-m", "bench.spark_job", *arguments]
    env = os.environ | ({classes.FOLDER: str(kept)} if kept else {})
    done = subprocess.run(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, check=True, text=True)
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def _size(root: Path, size: int) -> dict[str, Any]:
    made, kept = _job("fill", str(root), str(size)), root.parent / "classes"
    if not kept.exists():  # what is measured is any night but the first: that one leaves its classes
        _job("build", str(root), kept=kept)
    duck = _job("duck", str(root))
    one = _whole({**duck, **_job("build", str(root), kept=kept), "rows": made["rows"]})
    say(f"  {one['rows']:,} verdicts: build {one['build_s']:.1f} s, with the start of Spark {one['whole_s']:.1f} s, "
        f"{one['cpu_s']:.0f} s of processors, {one['peak_mb']:,} MB at most; "
        f"DuckDB {one['tables_s']:.1f} s")  # fmt: skip
    return one


def _whole(one: dict[str, Any]) -> dict[str, Any]:
    return {**one, "whole_s": one["start_s"] + one["build_s"]}


def _built(found: list[dict[str, Any]]) -> list[Figure]:
    first, second = found[0], found[1]
    growth = second["build_s"] / first["build_s"]
    figures = [
        Figure("spark", f"build of {first['rows']:,} verdicts, with the start", (first["whole_s"],), 60, True, "s"),
        Figure(
            "spark",
            f"the same for {second['rows']:,}, in terms of that",
            (second["whole_s"] / first["whole_s"],),
            5,
            True,
        ),
        Figure("spark", "build alone, the one in terms of the other", (growth,), 1.5, True),
    ]
    for one in found[1:]:
        ratio = one["build_s"] / one["tables_s"]
        figures.append(Figure("spark", f"build of {one['rows']:,} in terms of DuckDB", (ratio,), 5, True))
        figures.append(Figure("spark", f"most memory for {one['rows']:,}", (one["peak_mb"] / 1024,), 8, True, "GB"))
    return figures


def _rated(rates: dict[str, Any]) -> list[Figure]:
    return [
        Figure("spark", "rows taken in", (rates["rows_per_s"],), 100_000, unit="rows/s"),
        Figure("spark", "one more night behind a thousand, in terms of the first", (rates["night"],), 1.2, True),
        Figure("spark", "judging again, in terms of one plain process", (rates["rejudge"],), 1.6),
    ]
