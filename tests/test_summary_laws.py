"""The fold of rows into verdicts: what holds for every run."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any
from xml.etree import ElementTree

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from records.rows import (
    CoverageRow,
    EndRow,
    FaultRow,
    PropertyRow,
    RequirementRow,
    Row,
    RunRow,
    TroubleRow,
)
from reports import document, junit
from reports.result import VERDICTS
from reports.summary import COLUMNS, fold
from tests.summaries import IDS, TODAY, Known

texts = st.sampled_from(["", "x", "why"])


some_rows = st.one_of(
    st.builds(
        CoverageRow,
        property=texts.filter(bool),
        requirement=st.sampled_from(IDS),
        exercised=st.integers(0, 3),
        judged=st.integers(0, 2),
    ),
    st.builds(
        FaultRow,
        requirement=st.sampled_from((*IDS, "Z-01")),
        why=texts,
        property=texts,
        trace=texts,
        level=st.sampled_from(["MUST", "SHOULD", "MAY", "ASSUMED"]),
        steps=st.integers(0, 3),
        tried=st.just(3),
        reproduced=st.integers(0, 3),
        steady=st.booleans(),
        verdict=st.sampled_from(["fail", "inconclusive"]),
        also=st.lists(st.sampled_from(IDS), max_size=2).map(tuple),
    ),
    st.builds(TroubleRow, where=texts, message=texts, requirement=st.sampled_from(("", *IDS))),
    st.builds(
        PropertyRow,
        property=texts.filter(bool),
        plans=st.integers(0, 9),
        seconds=st.floats(0, 1e6),
        errors=st.integers(0, 1),
    ),
)


listed = st.builds(
    RequirementRow,
    id=st.sampled_from(IDS),
    section=texts,
    level=st.sampled_from(["MUST", "SHOULD"]),
    basis=st.sampled_from(["text", "derived"]),
    applies=st.sampled_from(["judged", "judged", "unsupported", "unselected"]),
    untestable=st.sampled_from(["", "", "no clock"]),
)


baselines = st.dictionaries(
    st.sampled_from((*IDS, "gone")),
    st.builds(Known, expires=st.sampled_from([None, date(2020, 1, 1), date(2030, 1, 1)])),
)


@st.composite
def runs(draw: st.DrawFn) -> list[Row]:
    """The rows of one run with up to three workers, some of them killed."""
    found: list[Row] = []
    for worker in draw(st.sampled_from([["main"], ["gw0", "gw1"], ["gw0", "gw1", "gw2"]])):
        rows: list[Row] = [RunRow(partial=draw(st.booleans())) if draw(st.integers(0, 3)) == 0 else RunRow()]
        rows += draw(st.lists(listed, max_size=4, unique_by=lambda row: row.id))
        rows += draw(st.lists(some_rows, max_size=5))
        if draw(st.integers(0, 4)):
            rows.append(EndRow())
        found += [replace(row, run="r", worker=worker, n=n) for n, row in enumerate(rows, 1)]
    return found


@given(runs(), baselines, st.booleans(), st.data())
def test_order_and_repetition_change_nothing(rows: list[Row], known: Any, strict: bool, data: st.DataObject) -> None:
    once = fold(rows, known, strict, TODAY)
    again = data.draw(st.permutations(rows + data.draw(st.lists(st.sampled_from(rows), max_size=5))))
    assert fold(again, known, strict, TODAY) == once
    assert document.to_json(fold(again, known, strict, TODAY)) == document.to_json(once)


@given(runs(), baselines, st.booleans())
def test_the_numbers_add_up(rows: list[Row], known: Any, strict: bool) -> None:
    summary = fold(rows, known, strict, TODAY)
    assert sum(summary.counts.values()) == len(summary.results)
    assert set(summary.counts) == set(VERDICTS)
    total = dict.fromkeys((*COLUMNS, "error", "unselected"), 0)
    for section in summary.sections:
        counts = section.counts
        assert counts["judged"] == sum(counts[c] for c in ("passed", "failed", "warned", "accepted"))
        for name, count in counts.items():
            total[name] += count
    assert sum(total.values()) - total["judged"] == len(summary.results)
    assert total["passed"] == summary.counts["pass"]
    assert total["failed"] + total["warned"] + total["accepted"] == summary.counts["fail"]


@given(runs(), baselines, st.booleans())
def test_a_pass_is_earned(rows: list[Row], known: Any, strict: bool) -> None:
    summary = fold(rows, known, strict, TODAY)
    assert (summary.exit_code == 0) == (summary.verdict == "pass") == (not summary.reasons)
    for found in summary.results:
        if found.verdict == "pass":
            assert found.judged > 0
            assert not found.faults
        assert (found.failed_as is None) == (found.verdict != "fail")
        assert (found.verdict == "fail") == (found.standing in ("failed", "warned", "accepted"))
        if found.standing == "accepted":
            assert found.accepted
    if summary.exit_code == 0:
        assert summary.complete
        for against in (summary.standing("failed"), summary.stale, summary.expired, summary.troubles):
            assert not against
        assert any(found.judged or found.faults for found in summary.results)


@settings(suppress_health_check=[HealthCheck.filter_too_much])  # one row in five is a fault
@given(runs(), baselines, some_rows.filter(lambda row: isinstance(row, FaultRow)))
def test_one_more_fault_never_helps(rows: list[Row], known: Any, fault: FaultRow) -> None:
    order = {verdict: place for place, verdict in enumerate(VERDICTS)}
    before = {found.id: found.verdict for found in fold(rows, known, False, TODAY).results}
    more = [*rows, replace(fault, run="r", worker="late", n=1), EndRow(run="r", worker="late", n=2)]
    for found in fold(more, known, False, TODAY).results:
        assert order[found.verdict] <= order[before.get(found.id, "unsupported")]


@given(runs(), baselines)
def test_strict_never_helps(rows: list[Row], known: Any) -> None:
    assert fold(rows, known, True, TODAY).exit_code >= fold(rows, known, False, TODAY).exit_code


@given(runs(), baselines, st.booleans())
def test_junit_fails_exactly_when_the_run_does(rows: list[Row], known: Any, strict: bool) -> None:
    summary = fold(rows, known, strict, TODAY)
    root = ElementTree.fromstring(junit.render(summary))
    suite = root.find("testsuite")
    assert suite is not None
    bad = int(suite.get("failures", "")) + int(suite.get("errors", ""))
    assert (bad > 0) == (summary.exit_code == 1)
    assert int(suite.get("tests", "")) == len(root.findall("*/testcase")) >= len(summary.results)
