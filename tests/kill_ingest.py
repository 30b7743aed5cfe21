"""`python -m tests.kill_ingest [KILLS]`: the nightly job killed at random points, and run again, until it has done its
work; the warehouse must equal one that was never disturbed.

Each warehouse gets its results in three nights, so that kills fall on first batches, on later ones and on merging. The
job and everything that it started is killed at once (SIGKILL), at a time drawn evenly over its work: from its first
line of progress to the end that the undisturbed job came to. It ends with its last write to the warehouse: what the
pages are made of is only read (`python -m tests.kill_ingest --job RESULTS WAREHOUSE` is the job).
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, Final

from pyspark.sql import SparkSession

from reports.spark.ingest import ingest
from reports.spark.rejudge import rejudge
from reports.spark.rows import FOLDED
from reports.spark.session import ROOT, start
from reports.spark.warehouse import Warehouse
from tests import runs
from tests.runs import Folder, Shape

NIGHTS: Final = 3
EACH: Final = 6
"""Runs of one night."""
LATEST_S: Final = 600.0
"""No job takes longer; one that does has hung."""


def night(folder: Path, number: int) -> None:
    """Put the runs of one night there, torn and foreign ones with them, and what last night's torn one lacks."""
    chance = random.Random(number)
    made = Folder(folder)
    for n in range(EACH):
        made.write(_shape(number, n), traces=True)
    runs.tear(made.file(_shape(number, 0)), chance)
    runs.strange(folder, number)
    if number:
        made.write(_shape(number - 1, 0), traces=True)


def _shape(number: int, n: int) -> Shape:
    return Shape(number=number * EACH + n, impl=f"broker-{n % 4}", day=number, minute=n, workers=1 + n % 2, seed=7)


def content(spark: SparkSession, root: Path) -> dict[str, Counter[Any]]:
    """What a reader of the warehouse sees, as bags of rows: what is double shows. Raw rows are sets: a file that grew
    is read again, and readers take equal rows once."""
    warehouse = Warehouse(spark, str(root))
    found: dict[str, Counter[Any]] = {}
    for table in FOLDED:
        found[table] = _bag(warehouse.newest(table).collect())
    found["versions"] = _bag(warehouse.versions().collect())
    found["rejudged"] = _bag(warehouse.rejudged().collect())
    found["quarantine"] = _bag(warehouse.quarantine().collect())
    found["ledger"] = _bag(warehouse.ledger().collect())
    for table in ("rows", "sheets", "traces"):
        found[table] = _bag(warehouse.batches(table).drop("batch", "day").distinct().collect())
    return found


def _bag(rows: list[Any]) -> Counter[Any]:
    # By the names of the columns: the same rows may come back with their columns in another order.
    return Counter(repr(sorted(row.asDict(recursive=True).items())) for row in rows)


def job(results: Path, warehouse: Path, log: Path) -> subprocess.Popen[bytes]:
    """Start the nightly job, up to its last write, in a session of its own."""
    command = [sys.executable, "-m", "tests.kill_ingest", "--job", str(results), str(warehouse)]
    with log.open("wb") as out:
        return subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=out, start_new_session=True)


def worked(results: str, root: str) -> int:
    """What the nightly job does to the warehouse, in this process."""

    def say(text: str) -> None:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    spark = start()
    warehouse = Warehouse(spark, root)
    ingest(warehouse, [results], say)
    rejudge(warehouse, say)
    spark.stop()
    return 0


def whole(results: Path, warehouse: Path, log: Path) -> float:
    """Run the job to its end; answers how long it worked, in seconds. Raises SystemExit when it fails."""
    started = job(results, warehouse, log)
    begun = _first_line(started, log)
    status = started.wait(LATEST_S)
    if status:
        raise SystemExit(f"the job ended with {status}:\n{log.read_text(errors='replace')[-4000:]}")
    return time.monotonic() - begun


def killed(results: Path, warehouse: Path, log: Path, after_s: float) -> bool:
    """Kill the job so long after its first line; False when it had ended by itself."""
    started = job(results, warehouse, log)
    begun = _first_line(started, log)
    try:
        started.wait(max(0.0, begun + after_s - time.monotonic()))
        return False
    except subprocess.TimeoutExpired:
        return True
    finally:
        _kill(started)


def _kill(started: subprocess.Popen[bytes]) -> None:
    """Everything that the job started, Spark's JVM and its Python workers too: they share its session."""
    for line in subprocess.run(
        ["ps", "-eo", "pid=,sid="], capture_output=True, text=True, check=True
    ).stdout.splitlines():
        pid, session = map(int, line.split())
        if session == started.pid:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:  # it was faster
                continue
    started.wait()


def _first_line(started: subprocess.Popen[bytes], log: Path) -> float:
    """Wait until the job says what it does; answers when."""
    until = time.monotonic() + LATEST_S
    while time.monotonic() < until and started.poll() is None:
        if b"reading" in log.read_bytes():
            break
        time.sleep(0.05)
    return time.monotonic()


def main(kills: int, seed: int = 1) -> int:
    """Kill, run again, compare; the exit status says whether all warehouses were equal."""
    chance = random.Random(seed)

    def say(text: str) -> None:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    bad = 0
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        nights = [root / f"results-{n}" for n in range(NIGHTS)]
        log = root / "log"
        for number, folder in enumerate(nights):
            if number:
                shutil.copytree(nights[number - 1], folder)
            night(folder, number)
        took = []
        for number in range(NIGHTS):
            _appear(nights[number], root / "results")
            took.append(whole(root / "results", root / "calm", log))
        say(f"undisturbed: {', '.join(f'{seconds:.0f} s' for seconds in took)}")
        spark = start()
        calm = content(spark, root / "calm")
        spark.stop()
        done = trial = 0
        disturbed = []
        while done < kills:
            trial += 1
            warehouse = root / f"disturbed-{trial}"
            disturbed.append(warehouse)
            for number in range(NIGHTS):
                _appear(nights[number], root / "results")
                hit = True
                for _ in range(min(6, kills - done)):
                    after_s = chance.uniform(0, took[number])
                    hit = killed(root / "results", warehouse, log, after_s)
                    done += hit
                    how = "killed" if hit else "had ended"
                    say(f"{done}: warehouse {trial}, night {number + 1}, {after_s:.1f} s: {how}")
                    if not hit:  # its work is done: the next night's is what can be disturbed
                        break
                if hit:
                    whole(root / "results", warehouse, log)
        spark = start()
        for warehouse in disturbed:
            found = content(spark, warehouse)
            unequal = [table for table in calm if found[table] != calm[table]]
            bad += bool(unequal)
            for table in unequal:
                say(f"{warehouse.name}: {table} has {found[table].total()} rows, not {calm[table].total()}")
                say(f"  lost {list(calm[table] - found[table])[:2]}, more {list(found[table] - calm[table])[:2]}")
        spark.stop()
    say(f"{done} kills, {len(disturbed)} warehouses: {f'{bad} differ' if bad else 'all equal to the undisturbed one'}")
    return 1 if bad else 0


def _appear(source: Path, target: Path) -> None:
    """Have `target` look like `source`, times of files too: what is read is decided by them."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--job"]:
        sys.exit(worked(*sys.argv[2:4]))
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 50))
