"""Result folders as runs leave them, and as killed runs, full disks, copies and strangers leave them.

`run` makes the rows of one run from a few numbers, so that Hypothesis can draw them and a bulk generator can count them
up. `Folder` writes them and does to them what happens to files. Nothing here knows of Spark.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from bench.transport import LEARNT, STOMP, setting
from impls.driver.drive import drive
from records.rows import (
    AcceptanceRow,
    CoverageRow,
    EndRow,
    FaultRow,
    PropertyRow,
    RequirementRow,
    Row,
    RunRow,
    TroubleRow,
    to_json,
)
from suites import trace

FOREIGN = (
    ("records/notes.jsonl", b"this is a text that somebody put there\n"),
    ("records/other.jsonl", b'{"kind":"invoice","total":12}\n{"kind":"run"}\n'),
    ("records/image.jsonl", b"\x89PNG\r\n\x1a\n\x00\x00\xff\xfe"),
    ("records/list.jsonl", b"[1,2,3]\n"),
    ("records/empty.jsonl", b""),
    ("records/readme.txt", b"not a file of records\n"),
)
"""Files that are no records, by what they may hold: (path in the results, octets)."""


@dataclass(frozen=True)
class Shape:
    """What one run is like. Everything in it follows from these numbers."""

    number: int = 0
    impl: str = "broker"
    version: str = "1.0"
    role: str = "server"
    day: int = 0
    minute: int = 0
    schema: int = 2
    workers: int = 1
    requirements: int = 8
    properties: int = 4
    seed: int = 0
    partial: bool = False
    strict: bool = False
    status: str = "complete"
    end: bool = True
    spoken: bool = True
    """The row that says what the run is has been written."""

    @property
    def run(self) -> str:
        """The id of the run."""
        return f"{_moment(self):%Y%m%dT%H%M%SZ}-{self.number:08x}"


LEVELS = ("MUST", "MUST", "MUST", "SHOULD", "MAY", "ASSUMED")


def run(shape: Shape) -> dict[str, list[str]]:
    """The lines of a run, by worker."""
    chance = random.Random(shape.seed * 1_000_003 + shape.number)
    names = ("main", *[f"gw{n}" for n in range(shape.workers - 1)])
    return {name: _lines(shape, name, names, chance) for name in names}


def _moment(shape: Shape) -> datetime:
    return datetime(2026, 10, 1, tzinfo=UTC) + timedelta(days=shape.day, minutes=shape.minute)


def requirement(n: int) -> str:
    """The id of the nth requirement."""
    return f"STOMP-1.2-MADE-{n:02d}"


def _lines(shape: Shape, worker: str, workers: Sequence[str], chance: random.Random) -> list[str]:
    rows: list[Row] = []
    if shape.spoken:
        rows.append(_about(shape, workers))
    if worker == "main":
        rows += [_requirement(n, chance) for n in range(shape.requirements)]
        if shape.schema > 1:
            rows += _accepted(shape, chance)
    for p in range(shape.properties):
        rows += _hunted(shape, f"stomp/test_made.py::test_{p}", chance)
    if shape.end:
        at = (_moment(shape) + timedelta(minutes=1)).isoformat()
        rows.append(EndRow(at=at, status=shape.status, rows=len(rows), seconds=60.0))
    placed = (replace(row, run=shape.run, worker=worker, n=n, schema=shape.schema) for n, row in enumerate(rows, 1))
    return [to_json(row) for row in placed]


def _about(shape: Shape, workers: Sequence[str]) -> RunRow:
    return RunRow(
        at=_moment(shape).isoformat(), impl=shape.impl, protocol="stomp", role=shape.role, profile="1.2",
        version=shape.version, suite_version="0.1.0", seed=shape.number, budget="ci", budget_s=60.0,
        disciplines=("lock-step",), partial=shape.partial, strict=shape.strict, asked=shape.impl,
        workers=tuple(workers),
    )  # fmt: skip


def _requirement(n: int, chance: random.Random) -> RequirementRow:
    return RequirementRow(
        id=requirement(n), section=f"Section {n // 4}", level=LEVELS[n % len(LEVELS)],
        basis="text" if n % 5 else "assumed", statement=f"What is said in sentence {n}.", source=f"L{n}",
        applies=chance.choice(("judged",) * 8 + ("unsupported", "unselected")),
        untestable="nobody can see it" if n % 11 == 10 else "",
    )  # fmt: skip


def _accepted(shape: Shape, chance: random.Random) -> list[Row]:
    ids = chance.sample(range(shape.requirements + 1), k=min(2, shape.requirements))
    ends = ("", "2026-09-30", "2027-09-30", "some day")
    return [
        AcceptanceRow(id=requirement(n), reason=f"known since long ({n})", issue="made up", expires=chance.choice(ends),
                      sometimes=chance.random() < 0.3)
        for n in sorted(ids)
    ]  # fmt: skip


def _hunted(shape: Shape, name: str, chance: random.Random) -> list[Row]:
    rows: list[Row] = [
        CoverageRow(
            property=name, requirement=requirement(n), exercised=chance.randrange(50), judged=chance.randrange(90)
        )
        for n in range(shape.requirements)
        if chance.random() < 0.8
    ]
    if chance.random() < 0.3:
        rows.append(_fault(shape, name, chance))
    if chance.random() < 0.03:
        about = chance.choice(("", requirement(chance.randrange(shape.requirements))))
        rows.append(TroubleRow(where=name, message="the disk was full", requirement=about, property=name))
    rows.append(PropertyRow(property=name, plans=chance.randrange(900), steps=chance.randrange(9000),
                            seconds=chance.randrange(20_000) / 1000, errors=int(chance.random() < 0.02),
                            ended="budget"))  # fmt: skip
    return rows


def _fault(shape: Shape, name: str, chance: random.Random) -> FaultRow:
    n, tried = chance.randrange(shape.requirements + 1), 5
    seen = chance.randrange(1, tried + 1)
    return FaultRow(
        requirement=requirement(n), level=LEVELS[n % len(LEVELS)],
        also=(requirement(chance.randrange(shape.requirements)),) if chance.random() < 0.2 else (),
        why="it says <b>no</b> \x1b[31m", expected="it says yes", property=name, steps=chance.randrange(1, 9),
        reproduced=seen, tried=tried, steady=seen == tried, trace=f"traces/{requirement(n)}.json",
        features=("together",) if chance.random() < 0.2 else (),
        verdict="inconclusive" if chance.random() < 0.1 else "fail",
    )  # fmt: skip


@cache
def document() -> dict[str, object]:
    """A trace that can be judged again, of a conversation in which nothing is wrong."""
    made = setting()
    plan = STOMP.smoke(made.config)
    recording = drive(plan, made, "made-")
    return {
        "schema": trace.SCHEMA, "suite_version": "0.1.0",
        "impl": {"name": "broker", "version": "1", "protocol": "stomp", "role": "server", "profile": "1.2"},
        "property": "stomp/test_made.py::test_0", "seed": 0, "level": "MUST", "also": [], "statement": "", "source": "",
        "expected": "it says yes", "why": "it says no", "reproduced": 5, "tried": 5, "features": [], "deciding": 0,
        "plan": trace.plan_to_json(plan, STOMP), "facts": {n: fact.default for n, fact in STOMP.facts.items()},
        "learnt": json.loads(json.dumps(LEARNT)), "blamed": [], "wire": [], "script": [],
        "conversation": trace.conversation(recording, STOMP),
    }  # fmt: skip


class Folder:
    """A folder that --results named."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "records").mkdir(parents=True, exist_ok=True)

    def file(self, shape: Shape, worker: str = "main") -> Path:
        """Where the rows of a worker are."""
        return self.path / "records" / f"{shape.run}-{worker}.jsonl"

    def write(self, shape: Shape, *, traces: bool = False) -> list[Path]:
        """Write a run; with `traces`, the conversations that its faults name too."""
        written = []
        for worker, lines in run(shape).items():
            path = self.file(shape, worker)
            path.write_bytes("".join(f"{line}\n" for line in lines).encode("ascii"))
            written.append(path)
            if traces:
                self._traces(lines, shape.number)
        return written

    def _traces(self, lines: Iterable[str], number: int) -> None:
        for line in lines:
            row = json.loads(line)
            if row["kind"] == "fault":
                path = self.path / row["trace"]
                path.parent.mkdir(exist_ok=True)
                own = {"requirement": row["requirement"], "seed": number, "blamed": [row["requirement"]]}
                path.write_text(json.dumps({**document(), **own}), encoding="ascii")


def tear(path: Path, chance: random.Random) -> None:
    """Cut the file where a kill may have cut it: anywhere behind its first row."""
    data = path.read_bytes()
    first = data.index(b"\n") + 1
    path.write_bytes(data[: chance.randrange(first, max(first + 1, len(data) - 1))])


def double(path: Path, chance: random.Random, elsewhere: Path) -> None:
    """Have rows twice: the whole file again in another folder, or some of its lines again behind its end."""
    data = path.read_bytes()
    if chance.random() < 0.5:
        (elsewhere / "records").mkdir(parents=True, exist_ok=True)
        (elsewhere / "records" / path.name).write_bytes(data)
    else:
        lines = data.splitlines(keepends=True)
        again = [line for line in chance.choices(lines, k=3) if line.endswith(b"\n")]
        path.write_bytes(data + (b"" if data.endswith(b"\n") else b"\n") + b"".join(again))


def strange(folder: Path, number: int) -> tuple[Path, int]:
    """Put a foreign file there; answers it, and how many lines (or whole files) of it are to be set aside."""
    name, data = FOREIGN[number % len(FOREIGN)]
    path = folder / Path(name).with_stem(f"{Path(name).stem}{number}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    if path.suffix != ".jsonl":
        return path, 1
    return path, sum(bool(line.strip(b"\r")) for line in data.split(b"\n"))
