"""The newest run of an implementation in the forms that other machines read: SARIF and JUnit.

Made from the tables by way of the same Summary that the run itself printed, so that both say the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from records.rows import FaultRow, PropertyRow, RequirementRow, RunRow, TroubleRow
from reports import junit, sarif
from reports.known import Stale
from reports.result import VERDICTS, Acceptance, Result
from reports.site.book import Book
from reports.summary import Summary
from reports.tables import Cell, Failure, Run


def summary(run: Run, cells: Sequence[Cell], book: Book) -> Summary:
    """The summary that the tables still hold: without sections, workers and traces."""
    results = tuple(_result(cell, book) for cell in cells)
    stale = [entry for entry in book.stale_of.get(run.slug, ()) if entry.run == run.run]
    return Summary(
        run=RunRow(
            run=run.run, at=run.at, impl=run.impl, protocol=run.protocol, role=run.role, profile=run.profile,
            version=run.version, suite_version=run.suite_version, seed=run.seed, budget=run.budget,
            partial=run.partial, strict=run.strict, asked=run.impl,
        ),
        results=results,
        verdict=run.verdict,
        exit_code=0 if run.verdict == "pass" else 1,
        reasons=run.reasons,
        strict=run.strict,
        complete=run.complete,
        unfinished={},
        troubles=tuple(TroubleRow(run=run.run, message=text) for text in run.troubles),
        stale=tuple(Stale(Acceptance(entry.requirement, "", "", None), entry.why) for entry in stale),
        properties=(PropertyRow(run=run.run, property="all", plans=run.plans, steps=run.steps, seconds=run.seconds),),
        counts=dict.fromkeys(VERDICTS, 0) | Counter(found.verdict for found in results),
    )  # fmt: skip


def _result(cell: Cell, book: Book) -> Result:
    known = book.requirements[cell.requirement]
    row = RequirementRow(
        id=known.id, section=known.section, level=cell.level or known.level, basis=known.basis,
        statement=known.statement, source=known.source, untestable=known.untestable,
        applies=cell.standing if cell.standing in ("unsupported", "unselected") else "judged",
    )  # fmt: skip
    failure = book.failures.get(cell.failure)
    accepted = Acceptance(cell.requirement, cell.reason, "", None) if cell.standing == "accepted" else None
    return Result(
        row, cell.verdict, cell.standing, cell.exercised, cell.judged, cell.message, cell.failed_as or None,
        (_fault(failure),) if failure else (), accepted,
    )  # fmt: skip


def _fault(failure: Failure) -> FaultRow:
    return FaultRow(
        run=failure.run, requirement=failure.requirement, level=failure.level, also=failure.also, why=failure.why,
        expected=failure.expected, property=failure.property, steps=failure.steps, reproduced=failure.reproduced,
        tried=failure.tried, steady=failure.reproduced == failure.tried, features=failure.features,
    )  # fmt: skip


def to_sarif(found: Summary) -> str:
    """SARIF 2.1.0."""
    return sarif.render(found)


def to_junit(found: Summary) -> str:
    """JUnit XML, as ASCII."""
    return junit.render(found).encode("ascii", "xmlcharrefreplace").decode("ascii")
