"""What follows from the verdicts of the runs that stand for a version: without Spark."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("pyspark")

from reports import tables
from reports.spark import standing
from reports.spark.rows import Fault, Verdict

STANDING = {"pass": "passed", "fail": "failed"}


def latest(slug: str, version: str, day: str, last: str, *whole: str) -> SimpleNamespace:
    """What `versions.nights` tells of one day; a run's id is its moment too."""
    told = dict.fromkeys(tables.Day.__dataclass_fields__, 0)
    about = told | {"run": last, "at": last, "protocol": "stomp", "role": "server", "verdict": "", "complete": True}

    class Told(SimpleNamespace):
        def __getitem__(self, name: str):
            return getattr(self, name)

    runs = [SimpleNamespace(run=run, at=run) for run in whole]
    return SimpleNamespace(slug=slug, version=version, day=day, last=Told(**about), whole=runs, runs=2)


def head(slug: str, run: str, *, newest: bool = True, whole: bool = True) -> standing.Head:
    return standing.Head(slug=slug, protocol="stomp", role="server", version=f"v{run}", whole=whole, at=run, run=run,
                         day="2026-01-01", newest=newest)  # fmt: skip


def verdict(slug: str, run: str, requirement: str, said: str, standing: str = "", **more: str) -> Verdict:
    told = {"level": "MUST", "failed_as": "", "message": "", "reason": "", "trace": "", "day": "2026-01-01"} | more
    return Verdict(slug=slug, run=run, requirement=requirement, verdict=said, version=f"v{run}", at=run, whole=True,
                   standing=standing or STANDING.get(said, said), exercised=2, judged=1, **told)  # fmt: skip


def fault(run: str, requirement: str, trace: str, **more: object) -> Fault:
    told = {"slug": "x", "version": "v", "level": "MUST", "verdict": "fail", "also": (), "why": "", "expected": "",
            "property": "p", "features": (), "steps": 3, "reproduced": 5, "tried": 5, "replay": "",
            "day": "d"}  # fmt: skip
    return Fault(run=run, requirement=requirement, trace=trace, **told | more)


def test_a_whole_run_stands_for_a_version_before_a_later_one_that_is_not():
    days = [latest("x", "1", "d1", "r3", "r2", "r1"), latest("x", "1", "d2", "r4"), latest("x", "2", "d3", "r5")]
    found = standing.heads(days)
    assert [(one.run, one.version, one.day, one.whole, one.newest) for one in found] == [
        ("r2", "1", "d1", True, True), ("r5", "2", "d3", False, False)
    ]  # fmt: skip


def test_only_the_newest_versions_are_shown():
    found = standing.heads(latest("x", str(n), f"d{n}", f"r{n}", f"r{n}") for n in range(standing.VERSIONS + 1))
    assert [one.run for one in found] == [f"r{n}" for n in range(standing.VERSIONS, 0, -1)]
    assert [one.newest for one in found] == [True] + [False] * (standing.VERSIONS - 1)


def test_the_last_two_whole_runs_are_compared_whatever_their_day_and_version():
    days = [
        latest("x", "1", "d1", "r3", "r3", "r1"),
        latest("x", "2", "d1", "r2", "r2"),
        latest("y", "1", "d1", "r9", "r9"),
    ]
    assert [(before.run, after.run) for before, after in standing.pairs(days)] == [("r2", "r3")]


def test_a_day_shows_its_last_run_and_how_many_there_were():
    days = [latest("x", "1", "2026-01-02", "r1"), latest("x", "2", "2026-01-02", "r2"),
            latest("x", "1", "unknown", "r3"), latest("x", "1", "2025-01-01", "r0")]  # fmt: skip
    found = standing.days(days, "2026-01-01")
    assert [(one.day, one.run, one.version, one.runs) for one in found] == [("2026-01-02", "r2", "2", 4)]


def test_changes_between_the_last_two_runs():
    cases = {"A": ("pass", "fail"), "B": ("fail", "pass"), "C": ("pass", "inconclusive"), "D": ("inconclusive", "fail"),
             "E": ("pass", "pass"), "F": ("fail", "fail"), "G": ("fail", "error"), "H": ("error", "pass")}  # fmt: skip
    rows = [verdict("x", f"r{n}", name, said) for name, pair in cases.items() for n, said in enumerate(pair, 1)]
    rows += [verdict("x", "r1", "gone", "pass"), verdict("x", "r2", "new", "fail")]
    rows += [verdict("x", "r1", "accepted", "pass"), verdict("x", "r2", "accepted", "fail", "accepted")]
    grid = standing.cells([head("x", "r2")], rows, [fault("r2", "A", "t")])
    found = standing.changes([(head("x", "r1"), head("x", "r2"))], rows, grid)
    assert [(one.kind, one.requirement, one.after, bool(one.failure)) for one in found] == [
        ("regression", "A", "failed", True), ("regression", "D", "failed", False), ("lost", "C", "inconclusive", False),
        ("lost", "gone", "unlisted", False), ("repair", "B", "passed", False),
    ]  # fmt: skip


def test_a_cell_names_the_page_of_the_fault_that_its_verdict_shows():
    rows = [
        verdict("x", "r", "A", "fail", trace="t2"),
        verdict("x", "r", "B", "fail"),
        verdict("x", "r", "C", "inconclusive"),
    ]
    faults = [fault("r", "A", "t1"), fault("r", "A", "t2", also=("B", "C"))]
    found = standing.cells([head("x", "r")], rows, faults)
    assert [cell.failure for cell in found] == [standing.page(faults[1]), standing.page(faults[1]), ""]


def test_differences_name_both_sides():
    rows = [verdict("a", "1", "A", "pass"), verdict("b", "2", "A", "fail"), verdict("c", "3", "A", "fail", "warned"),
            verdict("a", "1", "B", "pass", level="SHOULD"), verdict("b", "2", "B", "fail", "accepted", level="SHOULD"),
            verdict("a", "1", "C", "pass"), verdict("b", "2", "C", "inconclusive")]  # fmt: skip
    chosen = [head("a", "1"), head("b", "2"), head("c", "3")]
    grid = standing.cells(chosen, rows, [])
    text = dict.fromkeys(("section", "level", "basis", "statement", "source", "untestable"), "")
    listed = [SimpleNamespace(protocol="stomp", id="A", place=1, r=text | {"basis": "text"})]
    required = standing.requirements(chosen, listed, grid)
    assert [(one.passed, one.failed, one.warned, one.open, one.judged) for one in required] == [(1, 1, 1, 0, 3)]
    found = standing.differences(chosen, required, grid)
    assert [(row.requirement, row.ambiguous, row.passing, row.failing) for row in found] == [
        ("A", False, ("a",), ("b", "c")), ("B", True, ("a",), ("b",))
    ]  # fmt: skip


def test_levels_are_counted_apart():
    rows = [verdict("x", "r", "A", "pass"), verdict("x", "r", "B", "fail"), verdict("x", "r", "C", "error"),
            verdict("x", "r", "D", "fail", "warned", level="SHOULD")]  # fmt: skip
    found = standing.strictness(standing.cells([head("x", "r")], rows, []))
    assert [(one.level, one.passed, one.failed, one.open) for one in found] == [("MUST", 1, 1, 1), ("SHOULD", 0, 1, 0)]


def test_of_a_fault_found_twice_the_shorter_conversation_is_shown():
    faults = [fault("r", "A", "t", steps=5), fault("r", "A", "t", steps=2), fault("r", "A", "u")]
    found = standing.failures(faults, [], {("x", "A"): ("r0", "d0")}, {("r", "t"): ("document", "script")})
    assert sorted((one.steps, one.first_run, one.document) for one in found) == [(2, "r0", "document"), (3, "r0", "")]
