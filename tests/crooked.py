"""`python -m tests.crooked [RUNS]`: many runs, of which some are torn, doubled or beside foreign files, and a warehouse
in which nothing is lost, nothing is double and everything is counted.

What is to be expected is worked out by plain Python from the same files: `records.reader` and `reports.summary`.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from records import reader
from records.rows import CoverageRow, RunRow
from reports.spark.session import start
from reports.spark.warehouse import Warehouse
from reports.summary import baseline, fold
from tests import runs
from tests.runs import Folder, Shape

SHARE = 0.01
"""Of the runs, this share is torn, as much is doubled, and as many foreign files are put beside them."""


@dataclass(frozen=True)
class Truth:
    """What plain Python finds in result folders: verdicts by run and requirement, runs, and what is set aside."""

    verdicts: dict[tuple[str, str], tuple[Any, ...]]
    runs: dict[str, tuple[Any, ...]]
    aside: int
    judged: int


def made(
    root: Path, count: int, *, share: float = SHARE, seed: int = 1, size: tuple[int, int] = (40, 6)
) -> Counter[str]:
    """Write `count` runs under `root`, a hundred to a folder, and spoil some; answers how many of each kind."""
    chance = random.Random(seed)
    spoilt: Counter[str] = Counter()
    each = max(1, round(count * share))
    torn, doubled = set(chance.sample(range(count), each)), set(chance.sample(range(count), each))
    for n in range(count):
        folder = Folder(root / f"night-{n // 100:03d}")
        shape = Shape(
            number=n, impl=f"broker-{n % 7}", version=f"1.{n % 3}", day=n // 40, minute=n % 40, schema=1 + n % 2,
            workers=1 + (n % 5 == 0), requirements=size[0], properties=size[1], seed=seed,
        )  # fmt: skip
        for path in folder.write(shape)[-1:]:
            if n in torn:
                runs.tear(path, chance)
                spoilt["torn"] += 1
            if n in doubled:
                runs.double(path, chance, root / "copies")
                spoilt["doubled"] += 1
    for n in range(each):
        runs.strange(root / f"night-{n % max(1, count // 100):03d}", n)
        spoilt["foreign"] += 1
    return spoilt


def truth(root: Path) -> Truth:
    """What the files under `root` say, by the plain reader and the plain fold."""
    paths = sorted(root.rglob("*.jsonl"))
    found = reader.gather(paths)
    by_run: dict[str, list[Any]] = {}
    for row in found.rows:
        by_run.setdefault(row.run, []).append(row)
    verdicts, about = {}, {}
    for run, rows in by_run.items():
        told = [row for row in rows if isinstance(row, RunRow)]
        day = date.fromisoformat(min(row.at for row in told)[:10]) if told else date.today()  # noqa: DTZ011
        summary = fold(rows, baseline(rows), any(row.strict for row in told), day)
        about[run] = (summary.verdict, summary.complete, summary.plans)
        for one in summary.results:
            verdicts[run, one.id] = (one.verdict, one.standing, one.exercised, one.judged, one.failed_as or "")
    whole = sum(path.is_file() and path.suffix != ".jsonl" for path in root.rglob("records/*"))
    judged = sum(row.judged for row in found.rows if isinstance(row, CoverageRow))
    return Truth(verdicts, about, len(found.aside) + len(found.torn) + whole, judged)


def differences(warehouse: Warehouse, expected: Truth) -> list[str]:
    """How the warehouse differs from what is expected; nothing when it does not."""
    wrong: list[str] = []
    verdicts = warehouse.newest("verdicts").collect()
    runs_ = warehouse.newest("runs").collect()
    told = {
        (row.run, row.requirement): (row.verdict, row.standing, row.exercised, row.judged, row.failed_as)
        for row in verdicts
    }
    about = {row.run: (row.verdict, row.complete, row.plans) for row in runs_}
    if len(told) != len(verdicts):
        wrong.append(f"{len(verdicts) - len(told)} verdicts are double")
    if len(about) != len(runs_):
        wrong.append(f"{len(runs_) - len(about)} runs are double")
    wrong += _unlike("run", about, expected.runs)
    wrong += _unlike("verdict", told, expected.verdicts)
    aside = warehouse.quarantine().count()
    if aside != expected.aside:
        wrong.append(f"{aside} lines or files set aside, not {expected.aside}")
    judged = sum(row.judged for row in verdicts)
    listed = sum(values[3] for values in expected.verdicts.values())
    if judged != listed:
        wrong.append(f"{judged} judgements, not {listed}")
    return wrong


def _unlike(what: str, found: dict[Any, Any], expected: dict[Any, Any]) -> list[str]:
    lost, more = expected.keys() - found.keys(), found.keys() - expected.keys()
    other = [key for key in expected.keys() & found.keys() if expected[key] != found[key]]
    lines = [f"{what} {key}: {found[key]}, not {expected[key]}" for key in sorted(other)[:5]]
    if lost:
        lines.append(f"{len(lost)} {what}s lost, such as {min(lost)}")
    if more:
        lines.append(f"{len(more)} {what}s nobody wrote, such as {min(more)}")
    if other:
        lines.append(f"{len(other)} {what}s differ")
    return lines


def main(count: int) -> int:
    """Make them, take them in, compare; the exit status says whether all was well."""
    from reports.spark.ingest import ingest  # noqa: PLC0415 - tests use the rest of this module without it

    def say(text: str) -> None:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        spoilt = made(root / "results", count)
        expected = truth(root / "results")
        say(f"{count} runs, of them {dict(spoilt)}: {len(expected.verdicts)} verdicts, {expected.aside} set aside")
        spark = start()
        warehouse = Warehouse(spark, str(root / "warehouse"))
        begun = time.monotonic()
        say(str(ingest(warehouse, [str(root / "results")], say)))
        say(f"took {time.monotonic() - begun:.1f} s after the start of Spark")
        wrong = differences(warehouse, expected)
        again = ingest(warehouse, [str(root / "results")], say)
        wrong += differences(warehouse, expected)
        if again.files:
            wrong.append(f"read again: {again}")
        spark.stop()
    say("\n".join(wrong) if wrong else "nothing lost, nothing double, everything counted")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
