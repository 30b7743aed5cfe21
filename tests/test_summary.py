"""The summary: every law of the fold, and every renderer with hostile text in every field."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import threading
import tomllib
from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
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
from reports import baseline, document, junit, markdown, requirements, script, terminal, transcript
from reports.result import VERDICTS
from reports.summary import COLUMNS, Summary, fold

TODAY = date(2025, 6, 1)
IDS = ("A-01", "A-02", "B-01")
TRAPS = [
    "\x1b[2J\x1b]0;pwned\x07",
    "\u202eevil\u2066",
    "<script>alert(1)</script>",
    "]]></x>&amp;&#0;",
    '"}\n{"a":1}',
    "\ud800",
    "a|b`c`\n\n# h",
    "\x00\x9b31m\ufffe",
    "'''\"\"\"\\",
    "# coding: utf-7",
    "$(reboot)`x`",
    "--impl",
    "x" * 9000,
    "![x](http://x)<!--",
    "\u2028\u2029\x85\r",
    "e" + "\u0301" * 40,
]
hostile = st.one_of(st.sampled_from(TRAPS), st.text(st.characters(), max_size=12))


@dataclass(frozen=True)
class Known:
    """A baseline entry as a manifest holds it."""

    reason: str = "we know"
    issue: str = "https://example.org/1"
    expires: date | None = None


def told(*rows: Row, end: bool = True, ids: tuple[str, ...] = ("A-01",), **run: Any) -> list[Row]:
    """Rows of one worker, numbered, with a run row, a list of requirements, and an end unless it was killed."""
    start: list[Row] = [RunRow(impl="x", protocol="stomp", role="server", **run)]
    given_ids = {row.id for row in rows if isinstance(row, RequirementRow)}
    start += [RequirementRow(id=i, section=i[0], statement=f"must {i}") for i in ids if i not in given_ids]
    every = [*start, *rows, *([EndRow()] if end else [])]
    return [replace(row, run="r", worker="main", n=n) for n, row in enumerate(every, 1)]


def judged(requirement: str = "A-01", exercised: int = 3, judged: int = 2) -> CoverageRow:
    return CoverageRow(property="p", requirement=requirement, exercised=exercised, judged=judged)


def summed(*rows: Row, deviations: dict[str, Any] | None = None, strict: bool = False, **rest: Any) -> Summary:
    return fold(told(*rows, **rest), deviations or {}, strict, TODAY)


# --- the fold, case by case -------------------------------------------------------------------------------------------


def test_what_was_judged_and_held_passes() -> None:
    summary = summed(judged(), judged())
    (found,) = summary.results
    assert (found.verdict, found.standing, found.exercised, found.judged) == ("pass", "passed", 6, 4)
    assert (summary.verdict, summary.exit_code, summary.reasons) == ("pass", 0, ())
    assert summary.counts == {"fail": 0, "error": 0, "inconclusive": 0, "pass": 1, "unsupported": 0}


@pytest.mark.parametrize(
    ("rows", "verdict", "standing", "message"),
    [
        ([], "inconclusive", "inconclusive", "never reached"),
        ([judged(judged=0)], "inconclusive", "inconclusive", "exercised, never judged"),
        ([RequirementRow(id="A-01", applies="unsupported"), judged()], "unsupported", "unsupported", "not claimed"),
        ([RequirementRow(id="A-01", untestable="no clock")], "inconclusive", "untestable", "untestable: no clock"),
        ([RequirementRow(id="A-01", applies="unselected")], "inconclusive", "unselected", "not selected in this run"),
        ([judged(), FaultRow(requirement="A-01", why="bad")], "fail", "failed", "bad"),
        ([judged(), FaultRow(requirement="A-01")], "fail", "failed", "fails"),
        ([judged(), FaultRow(requirement="A-01", why="bad", level="SHOULD")], "fail", "warned", "bad"),
        ([judged(), FaultRow(requirement="A-01", why="bad", level="ASSUMED")], "fail", "warned", "bad"),
        ([judged(), FaultRow(requirement="A-01", why="bad", level="WHATEVER")], "fail", "failed", "bad"),
        (
            [judged(), FaultRow(requirement="A-01", why="lost", verdict="inconclusive", reproduced=1, tried=5)],
            "inconclusive",
            "inconclusive",
            "lost: seen 1 of 5 times, and the text tolerates it once in a while",
        ),
        ([judged(), TroubleRow(requirement="A-01", message="hole")], "error", "error", "hole"),
        (
            [RequirementRow(id="A-01", applies="unsupported"), FaultRow(requirement="A-01", why="bad")],
            "fail",
            "failed",
            "bad",
        ),
    ],
)
def test_the_verdict_on_a_requirement(rows: list[Row], verdict: str, standing: str, message: str) -> None:
    (found,) = summed(*rows).results
    assert (found.verdict, found.standing, found.message) == (verdict, standing, message)


def test_fail_goes_before_error_before_inconclusive() -> None:
    fault, trouble = FaultRow(requirement="A-01", why="bad"), TroubleRow(requirement="A-01", message="hole")
    unsteady = FaultRow(requirement="A-01", why="lost", verdict="inconclusive")
    assert summed(judged(), unsteady, trouble, fault).results[0].verdict == "fail"
    assert summed(judged(), unsteady, trouble).results[0].verdict == "error"
    assert summed(judged(), unsteady).results[0].verdict == "inconclusive"


def test_the_strongest_steadiest_shortest_fault_is_shown() -> None:
    rows = [
        FaultRow(requirement="A-01", why="weak", level="SHOULD", steps=1),
        FaultRow(requirement="A-01", why="rare", steps=1, reproduced=1, tried=5, steady=False),
        FaultRow(requirement="A-01", why="long", steps=9, reproduced=5, tried=5),
        FaultRow(requirement="A-01", why="short", steps=2, reproduced=5, tried=5, trace="traces/a.json"),
        FaultRow(requirement="A-01", why="once", verdict="inconclusive"),
    ]
    (found,) = summed(*rows).results
    assert [fault.why for fault in found.faults] == ["short", "long", "rare", "weak", "once"]
    assert (found.failed_as, found.witness) == ("MUST", "traces/a.json")


def test_the_same_deed_fails_the_second_requirement_but_no_harder_than_it_binds() -> None:
    rows = [RequirementRow(id="A-02", level="SHOULD"), FaultRow(requirement="A-01", why="bad", also=("A-02",))]
    first, second = summed(*rows, judged("A-02"), ids=("A-01",)).results
    assert (first.standing, second.standing, second.failed_as) == ("failed", "warned", "SHOULD")
    assert second.message == "broken by the same deed as A-01: bad"
    rows[0] = replace(rows[0], applies="unsupported")
    assert [r.verdict for r in summed(*rows).results] == ["fail", "unsupported"]


def test_a_deed_accepted_once_needs_no_second_entry() -> None:
    fault = FaultRow(requirement="A-01", also=("A-02",))
    summary = summed(fault, judged("B-01"), ids=IDS, deviations={"A-01": Known()})
    assert [found.standing for found in summary.results] == ["accepted", "accepted", "passed"]
    assert summary.exit_code == 0
    other = FaultRow(requirement="B-01", also=("A-02",))
    summary = summed(fault, other, ids=IDS, deviations={"A-01": Known()})
    assert [found.standing for found in summary.results] == ["accepted", "failed", "failed"]


def test_a_fault_of_a_requirement_nobody_listed_is_not_lost() -> None:
    summary = summed(judged(), FaultRow(requirement="Z-99", why="bad"))
    assert summary.results[-1].id == "Z-99"
    assert summary.exit_code == 1


# --- the exit status --------------------------------------------------------------------------------------------------


def test_a_recommendation_counts_only_when_strict() -> None:
    fault = FaultRow(requirement="A-01", level="SHOULD")
    assert summed(fault).exit_code == 0
    summary = summed(fault, strict=True)
    assert (summary.exit_code, summary.results[0].standing) == (1, "failed")
    assert summed(replace(fault, level="ASSUMED"), strict=True).exit_code == 0


def test_an_entry_accepts_a_failure_at_any_level_until_its_last_day() -> None:
    for level in ("MUST", "SHOULD"):
        fault = FaultRow(requirement="A-01", level=level)
        for expires in (None, TODAY, date(2030, 1, 1)):
            summary = summed(fault, strict=True, deviations={"A-01": Known(expires=expires)})
            assert (summary.exit_code, summary.results[0].standing) == (0, "accepted")
    summary = summed(FaultRow(requirement="A-01"), deviations={"A-01": Known(expires=date(2025, 5, 31))})
    assert (summary.exit_code, summary.results[0].standing, len(summary.expired)) == (1, "failed", 1)
    moment: Any = datetime(2030, 1, 1)  # noqa: DTZ001 - TOML's local times have no zone either
    assert summed(FaultRow(requirement="A-01"), deviations={"A-01": Known(expires=moment)}).exit_code == 0


def test_an_entry_that_expired_fails_the_run_even_when_it_is_elsewhere() -> None:
    summary = summed(judged(), partial=True, deviations={"B-01": Known(expires=date(2020, 1, 1))})
    assert (summary.exit_code, summary.verdict) == (1, "fail")


def test_a_stale_entry_fails_whole_runs_only() -> None:
    entry = {"A-01": Known()}
    summary = summed(judged(), deviations=entry)
    assert (summary.exit_code, [s.entry.id for s in summary.stale]) == (1, ["A-01"])
    partial = summed(judged(), deviations=entry, partial=True)
    assert (partial.exit_code, partial.stale) == (0, ())
    killed = summed(judged(), deviations=entry, end=False)
    assert (killed.exit_code, killed.verdict, killed.stale) == (1, "inconclusive", ())
    assert summed(judged(), deviations={"TYPO": Known()}).stale[0].why == "no requirement of this run has this id"


@pytest.mark.parametrize(
    "row",
    [
        judged("A-02", judged=0),
        RequirementRow(id="A-02", applies="unsupported"),
        FaultRow(requirement="A-02", verdict="inconclusive"),
    ],
)
def test_an_entry_that_could_not_be_tried_is_not_stale(row: Row) -> None:
    summary = summed(judged(), row, ids=("A-01", "A-02"), deviations={"A-02": Known()})
    assert (summary.exit_code, summary.stale) == (0, ())


def test_nothing_judged_is_no_pass() -> None:
    for rows in ([], [judged(judged=0)]):
        summary = summed(*rows)
        assert (summary.exit_code, summary.verdict) == (1, "inconclusive")
        assert "nothing was judged" in summary.sentence
    nothing = fold([], {}, False, TODAY)
    assert (nothing.exit_code, nothing.complete, nothing.results) == (1, False, ())


def test_untestable_requirements_keep_out_of_it() -> None:
    assert summed(judged(), RequirementRow(id="A-02", untestable="x")).exit_code == 0


def test_an_unfinished_run_is_no_pass() -> None:
    summary = summed(judged(), end=False)
    assert (summary.exit_code, summary.complete, summary.verdict) == (1, False, "inconclusive")
    assert "incomplete" in summary.sentence


@pytest.mark.parametrize(
    "row",
    [
        TroubleRow(where="link", message="died"),
        PropertyRow(property="p", errors=2),
        PropertyRow(property="p", ended="error"),
    ],
)
def test_trouble_of_our_own_is_an_error_unless_something_fails(row: Row) -> None:
    summary = summed(judged(), row)
    assert (summary.exit_code, summary.verdict, len(summary.troubles)) == (1, "error", 1)
    assert summed(judged(), row, FaultRow(requirement="A-01")).verdict == "fail"


def test_a_trouble_that_was_told_is_not_told_twice() -> None:
    rows = [PropertyRow(property="p", errors=2), TroubleRow(where="p", message="hole")]
    assert len(summed(judged(), *rows).troubles) == 1


def test_rows_of_two_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="2 runs"):
        fold([EndRow(run="a", worker="w"), EndRow(run="b", worker="w")], {}, False, TODAY)


# --- the fold, its laws -----------------------------------------------------------------------------------------------

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


# --- hostile text in every field, through every renderer --------------------------------------------------------------


def evil(row: Row, text: st.SearchStrategy[str], draw: st.DrawFn) -> Row:
    """`row` with every text field drawn from `text`, those that mean something left alone."""
    meaning = {"run", "worker", "verdict", "applies", "level", "status", "requirement", "id", "trace", "at"}
    changes: dict[str, Any] = {}
    for field in fields(row):
        value = getattr(row, field.name)
        if field.name in meaning and draw(st.booleans()):
            continue
        if field.name in ("run", "worker", "verdict", "applies"):
            continue
        if isinstance(value, str):
            changes[field.name] = draw(text)
        elif isinstance(value, tuple):
            changes[field.name] = tuple(draw(st.lists(text, max_size=2)))
    return replace(row, **changes)


@st.composite
def evil_summaries(draw: st.DrawFn) -> Summary:
    rows = [
        RunRow(impl="x", asked="y"),
        RequirementRow(id="A-01"),
        RequirementRow(id="A-02", level="SHOULD"),
        RequirementRow(id="B-01", basis="x"),
        RequirementRow(id="B-02"),
        RequirementRow(id="B-03", applies="unsupported"),
        RequirementRow(id="B-04"),
        FaultRow(requirement="A-01", trace="traces/x.json", also=("q",)),
        FaultRow(requirement="A-02", level="SHOULD"),
        FaultRow(requirement="B-01"),
        FaultRow(requirement="B-02", verdict="inconclusive"),
        TroubleRow(requirement="B-04", detail="a\nb"),
        PropertyRow(property="p", errors=1),
    ]
    if draw(st.booleans()):
        rows.append(EndRow())
    rows = [evil(row, hostile, draw) for row in rows]
    numbered = [
        replace(row, run="r", worker=draw(hostile.filter(bool)) if n > 9 else "m", n=n) for n, row in enumerate(rows, 1)
    ]
    known = {
        "B-01": Known(draw(hostile), draw(hostile)),
        draw(hostile): Known(draw(hostile), draw(hostile)),
        "old": Known(draw(hostile), expires=date(2020, 1, 1)),
    }
    return fold(numbered, known, draw(st.booleans()), TODAY)


@st.composite
def evil_traces(draw: st.DrawFn) -> dict[str, Any]:
    """Trace files with every part hostile, odd or missing."""
    numbers = st.integers(-5, 10**20) | st.floats() | st.none() | st.booleans() | hostile
    octets = st.binary(max_size=20).map(bytes.hex) | hostile | st.just("61" * 1000)
    event = st.fixed_dictionaries(
        {},
        optional={
            "ms": numbers,
            "conn": numbers,
            "by": hostile | st.just("server"),
            "text": hostile,
            "ms_quiet": numbers,
            "event": st.sampled_from(["said", "closed", "quiet", "fact"]) | hostile | st.none(),
        },
    )
    wired = st.fixed_dictionaries(
        {},
        optional={
            "ms": numbers,
            "conn": numbers,
            "dir": hostile | st.sampled_from(["sent", "received", "closed-by-peer"]),
            "hex": octets,
        },
    )
    part = (
        st.fixed_dictionaries({"hex": octets})
        | st.fixed_dictionaries({"match": hostile | st.just("a(b)")}, optional={"nth": numbers})
        | hostile
    )
    step = st.fixed_dictionaries(
        {"do": st.sampled_from(["send", "send", "wait", "expect-quiet", "close"]) | hostile},
        optional={
            "conn": numbers,
            "parts": st.lists(part, max_size=3) | hostile,
            "ms": numbers,
            "how": hostile,
            "cuts": st.lists(numbers, max_size=3) | hostile,
            "when": st.sampled_from(["now", "turn"]) | hostile,
        },
    )
    plan = st.lists(
        st.fixed_dictionaries({"do": st.sampled_from(["say", "wait"])}, optional={"when": hostile}), max_size=3
    )
    return draw(
        st.fixed_dictionaries(
            {},
            optional={
                "requirement": hostile,
                "level": hostile,
                "statement": hostile,
                "source": hostile,
                "expected": hostile,
                "why": hostile | numbers,
                "deciding": numbers,
                "impl": st.fixed_dictionaries({"name": hostile, "role": hostile}) | hostile,
                "conversation": st.lists(event | hostile, max_size=4) | hostile,
                "wire": st.lists(wired, max_size=3),
                "script": st.lists(step | hostile, max_size=4) | hostile,
                "plan": hostile | st.fixed_dictionaries({"steps": plan | hostile}),
            },
        )
    )


def harmless(text: str, *, lines: bool = True) -> None:
    """Printable lines and nothing else; and it can be written to a file."""
    for line in text.split("\n") if lines else [text]:
        assert line.isprintable(), repr(line)
    text.encode("utf-8")


def saved(folder: Path, trace: dict[str, Any]) -> Path:
    (folder / "traces").mkdir(exist_ok=True)
    (folder / "traces" / "x.json").write_text(json.dumps(trace))
    return folder


@settings(max_examples=60, deadline=None)
@given(summary=evil_summaries(), trace=evil_traces(), width=st.integers(0, 140))
def test_the_terminal_gets_no_escape_but_ours(
    summary: Summary, trace: dict[str, Any], width: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    results = saved(tmp_path_factory.mktemp("r"), trace)
    shown = terminal.render(summary, width, False, results)
    harmless(shown)
    coloured = terminal.render(summary, width, True, results)
    assert re.sub(r"\x1b\[(?:0|1|2|31|32|33)m", "", coloured) == shown
    harmless(terminal.render(summary))


@settings(max_examples=60, deadline=None)
@given(summary=evil_summaries(), trace=evil_traces())
def test_every_document_parses_and_harms_nobody(
    summary: Summary, trace: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    results = saved(tmp_path_factory.mktemp("r"), trace)
    text = document.to_json(summary)
    harmless(text)
    assert text.isascii()
    assert not re.search("[<>&]", text)
    assert json.loads(text)["verdict"] == summary.verdict
    xml = junit.render(summary, results)
    harmless(xml)
    assert ElementTree.fromstring(xml).tag == "testsuites"
    page = markdown.render(summary, results)
    harmless(page)
    ours = r"</?(?:details|summary|b|p|pre|code)>"
    bare = re.sub(ours, "", page)
    assert "<" not in bare
    assert ">" not in bare
    assert len(re.findall("<pre>", page)) == len(re.findall("</pre>", page))
    assert "`" not in page
    rows = {line.count("|") for line in page.split("\n") if line.startswith("| ")}
    assert rows == {len(COLUMNS) + 2}


@given(
    st.lists(
        st.builds(
            RequirementRow,
            id=hostile,
            section=hostile,
            level=hostile,
            basis=hostile,
            statement=hostile,
            applies=hostile,
            untestable=hostile,
        ),
        max_size=3,
    ),
    st.integers(0, 120),
)
def test_the_list_of_requirements_is_harmless(rows: list[RequirementRow], width: int) -> None:
    harmless(requirements.render(rows, width))


@given(evil_traces())
def test_the_script_always_compiles(trace: dict[str, Any]) -> None:
    text = script.render(trace)
    harmless(text)
    assert text.isascii()
    code = compile(text.encode(), "script.py", "exec")  # as octets: a declaration of an encoding would count
    head = {"__name__": "not main"}
    exec(code, head)
    assert isinstance(head["STEPS"], list)


@given(evil_traces(), st.integers(0, 150), st.integers(2, 60))
def test_a_transcript_is_lines(trace: dict[str, Any], width: int, limit: int) -> None:
    for line in transcript.lines(trace, width, limit):
        assert line.isprintable()
        assert len(line) <= max(width, 200)


# --- what the reports say ---------------------------------------------------------------------------------------------

TRACE: dict[str, Any] = {
    "schema": 1,
    "suite_version": "0.1.0",
    "requirement": "A-01",
    "level": "MUST",
    "why": "two RECEIPTs",
    "impl": {"name": "x", "version": "1", "protocol": "stomp", "role": "server", "profile": "1.2"},
    "deciding": 2,
    "conversation": [
        {"ms": 0.4, "conn": 0, "by": "client", "event": "said", "text": "SEND receipt:1\\n\\nhi\\0"},
        {"ms": 0.9, "conn": 0, "by": "server", "event": "said", "text": "RECEIPT receipt-id:1"},
        {"ms": 1.0, "conn": 0, "by": "server", "event": "said", "text": "RECEIPT receipt-id:1"},
        {"ms": 501, "conn": 0, "event": "quiet", "ms_quiet": 500},
        {"ms": 502, "conn": 0, "by": "server", "event": "closed", "text": "eof"},
    ],
    "wire": [{"ms": 0.4, "conn": 0, "dir": "sent", "hex": "53454e4400"}, {"ms": 0.9, "conn": 0, "dir": "closed-by-us"}],
    "script": [
        {"do": "send", "conn": 0, "parts": [{"hex": b"SUB\n".hex()}]},
        {
            "do": "send",
            "conn": 0,
            "parts": [{"hex": b"ACK ".hex()}, {"match": "id:(\\w+)", "nth": 1}, {"hex": b"\n".hex()}],
            "cuts": [2],
        },
        {"do": "wait", "ms": 20},
        {"do": "close", "conn": 0},
    ],
}


def test_a_failure_is_told_with_everything_that_is_known(tmp_path: Path) -> None:
    fault = FaultRow(
        requirement="A-01",
        why="two RECEIPTs",
        expected="one RECEIPT",
        property="test_x",
        steps=3,
        tried=3,
        reproduced=2,
        trace="traces/x.json",
        features=("cuts",),
    )
    summary = summed(judged(), fault, asked="my server")
    shown = terminal.render(summary, 100, False, saved(tmp_path, TRACE))
    for part in (
        "FAIL A-01  MUST, section A",
        "must A-01",
        "expected     one RECEIPT",
        "came         two RECEIPTs",
        "2 of 3 times, 3 steps, test_x",
        "cuts",
        "      0.4 #0 --> SEND receipt:1\\n\\nhi\\0",
        "!     1.0 #0 <-- RECEIPT receipt-id:1",
        "[nothing came for 500 ms]",
        "<-x [closed] eof",
        f"pytest --impl='my server' --replay={tmp_path}/traces/x.json",
        f"python3 {tmp_path}/traces/x.py HOST:PORT",
        "fail: 1 MUST requirement fails",
        f"results: {tmp_path}",
    ):
        assert part in shown, part
    assert "FAIL" not in terminal.render(summed(judged()))


def test_sections_stand_in_their_order_and_what_is_beyond_the_text_apart() -> None:
    rows = [
        RequirementRow(id="3", section="Zeta"),
        RequirementRow(id="1", section="Extra", basis="robustness"),
        RequirementRow(id="2", section="Alpha"),
    ]
    shown = terminal.render(summed(*rows, ids=()))
    order = [shown.index(word) for word in ("Zeta", "Alpha", "robustness", "Extra", "\nall")]
    assert order == sorted(order)


@pytest.mark.parametrize("width", [76, 80, 100, 200])
def test_the_table_keeps_to_its_width(width: int) -> None:
    rows = [RequirementRow(id="3", section="A very long title of a section, longer than all others by far")]
    error = RequirementRow(id="4"), TroubleRow(requirement="4", message="hole")
    shown = terminal.render(summed(*rows, *error, judged("3"), ids=()), width)
    assert max(len(line) for line in shown.split("\n")) <= width


def test_deviations_are_shown_apart_and_stale_ones_loudly() -> None:
    known = {"A-01": Known("slow disk"), "A-02": Known("was slow"), "B-01": Known("old", expires=date(2020, 1, 1))}
    summary = summed(
        FaultRow(requirement="A-01"), judged("A-02"), FaultRow(requirement="B-01"), ids=IDS, deviations=known
    )
    shown = terminal.render(summary)
    assert "Known deviations, accepted (1)\n  A-01: slow disk" in shown
    assert "STALE BASELINE (1)" in shown
    assert "EXPIRED BASELINE (1)" in shown
    page = markdown.render(summary)
    assert "Stale baseline entries" in page
    assert "slow disk" in page


def test_many_failures_stay_readable() -> None:
    ids = tuple(f"A-{n:03}" for n in range(200))
    summary = summed(*(FaultRow(requirement=i, why="bad" * 300) for i in ids), ids=ids)
    assert terminal.render(summary).count("\n") < 1000
    assert len(markdown.render(summary)) < markdown.MAX_PAGE + 100


def test_a_page_that_a_build_would_refuse_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown, "MAX_PAGE", 300)
    page = markdown.render(summed(judged()))
    assert page.endswith("summary.json has all of it.\n")
    assert len(page) < 400


def test_a_trace_outside_the_results_is_not_read(tmp_path: Path) -> None:
    inside = tmp_path / "results"
    inside.mkdir()
    (tmp_path / "secret.json").write_text("{}")
    saved(inside, TRACE)
    assert transcript.load(inside, "traces/x.json") == TRACE
    for name in ("../secret.json", str(tmp_path / "secret.json"), "gone.json", "traces", "a\0b"):
        assert transcript.load(inside, name) is None
    (inside / "traces" / "x.json").write_text("[" * 100_000)
    assert transcript.load(inside, "traces/x.json") is None


def test_a_long_conversation_loses_its_middle() -> None:
    event = {"ms": 1, "conn": 0, "by": "server", "event": "said", "text": "x" * 3000}
    shown = transcript.lines({"conversation": [event] * 100}, 100, 10)
    assert sum("90 events left out" in line for line in shown) == 1
    assert len(shown) == 10 * transcript.MAX_ROWS + 1


def test_the_wire_stands_in_for_a_missing_conversation() -> None:
    shown = transcript.lines({"wire": TRACE["wire"]})
    assert shown == ["      0.4 #0 --> SEND\\0", "      0.9 #0     [closed-by-us]"]


def test_summary_json_is_the_contract(tmp_path: Path) -> None:
    rows = [FaultRow(requirement="A-01", why="bad", trace="traces/x.json"), judged("A-02"), judged("A-01")]
    summary = summed(*rows, ids=("A-01", "A-02"), seed=7, suite_version="0.1.0", profile="1.2", version="9")
    path = document.write(summary, tmp_path / "new")
    assert path == tmp_path / "new" / "summary.json"
    assert [entry.name for entry in path.parent.iterdir()] == ["summary.json"]
    found = json.loads(path.read_text())
    impl = {"name": "x", "protocol": "stomp", "role": "server", "profile": "1.2", "version": "9"}
    assert (found["impl"], found["suite_version"], found["seed"]) == (impl, "0.1.0", 7)
    assert (found["verdict"], found["counts"]["fail"], found["exit_code"]) == ("fail", 1, 1)
    entry = found["requirements"]["A-01"]
    expected = {
        "level": "MUST",
        "verdict": "fail",
        "judged": 2,
        "exercised": 3,
        "message": "bad",
        "witness": "traces/x.json",
    }
    assert entry.items() >= expected.items()
    assert found["requirements"]["A-02"]["witness"] is None


def test_junit_tells_every_standing() -> None:
    rows = [
        FaultRow(requirement="A-01", why="bad"),
        FaultRow(requirement="A-02", level="SHOULD", why="odd"),
        judged("B-01"),
        RequirementRow(id="C-01", applies="unsupported"),
        FaultRow(requirement="D-01"),
    ]
    summary = summed(*rows, ids=(*IDS, "D-01"), deviations={"D-01": Known()})
    cases = {case.get("name"): case for case in ElementTree.fromstring(junit.render(summary)).iter("testcase")}
    assert {name: [child.tag for child in case] for name, case in cases.items()} == {
        "A-01": ["failure"],
        "A-02": ["system-out"],
        "B-01": ["system-out"],
        "C-01": ["skipped"],
        "D-01": ["skipped"],
    }
    assert cases["A-01"].get("classname") == "stomp.A"


# --- the script -------------------------------------------------------------------------------------------------------


def test_the_script_plays_the_conversation(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps(TRACE))
    path = script.write(tmp_path / "x.json", TRACE)
    heard = bytearray()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            conn, _ = server.accept()
            with conn:
                heard.extend(conn.recv(100))
                conn.sendall(b"id:one\x1b[31m\nid:two\n")
                while data := conn.recv(100):
                    heard.extend(data)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        address = f"127.0.0.1:{server.getsockname()[1]}"
        done = subprocess.run(
            [sys.executable, "-I", path, address], capture_output=True, text=True, timeout=30, check=False
        )
        thread.join(10)
    assert done.returncode == 0, done.stderr
    assert bytes(heard) == b"SUB\nACK two\n"
    assert "#0 <-- id:one\\x1b[31m\\nid:two" in done.stdout
    assert "#0 --> AC\n" in done.stdout
    harmless(done.stdout)


def test_the_script_says_how_it_is_used_and_when_nobody_is_there(tmp_path: Path) -> None:
    path = script.write(tmp_path / "x.json", TRACE)
    for arguments, says in (([], "usage:"), (["x"], "usage:"), (["127.0.0.1:1"], "no connection to 127.0.0.1:1")):
        done = subprocess.run(
            [sys.executable, "-I", path, *arguments], capture_output=True, text=True, timeout=30, check=False
        )
        assert done.returncode == 1
        assert says in done.stderr


@pytest.mark.parametrize(("pattern", "says"), [("(", "is no regular expression"), ("x(.)", "has no match number 0")])
def test_the_script_ends_with_a_sentence_when_a_value_never_comes(tmp_path: Path, pattern: str, says: str) -> None:
    send = {"do": "send", "conn": 0, "parts": [{"match": pattern}]}
    path = script.write(tmp_path / "x.json", {"script": [send]})
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hang_up() -> None:
            conn, _ = server.accept()
            conn.close()

        threading.Thread(target=hang_up, daemon=True).start()
        done = subprocess.run(
            [sys.executable, "-I", path, f"127.0.0.1:{server.getsockname()[1]}"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    assert done.returncode == 1
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_what_was_said_at_once_is_said_at_once() -> None:
    send = {"do": "send", "conn": 0, "parts": [{"hex": "61"}]}
    say = {"do": "say"}
    assert script.render({"script": [send, send]}).count('("turn",)') == 1
    assert script.render({"script": [send, {**send, "when": "now"}]}).count('("turn",)') == 0
    pipelined = {"script": [send, send], "plan": {"steps": [say, {"do": "wait"}, {**say, "when": "now"}]}}
    assert script.render(pipelined).count('("turn",)') == 0
    assert script.render({"script": [send, send], "plan": {"steps": [{**say, "when": "now"}]}}).count('("turn",)') == 1


def test_a_megabyte_of_one_octet_is_one_line() -> None:
    text = script.render({"script": [{"do": "send", "conn": 0, "parts": [{"hex": "61" * 10**6 + "6263"}]}]})
    assert "b'a' * 1000000" in text
    assert len(text) < 10_000


# --- the baseline -----------------------------------------------------------------------------------------------------

MANIFEST = """\
# my server
[impl]
name = "x" # [deviations]
notes = '''
[deviations]
"A-01" = 1
'''

[deviations] # what we know
# the disk
"A-01" = { reason = "slow [disk] # really", issue = "u", expires = 2027-06-01 }  # keep me

"A-02" = { reason = "gone", issue = "v" }
# the end

[stomp]
login = "guest"
"""


def test_the_table_is_rewritten_and_nothing_else() -> None:
    failing = {"A-01": ("other", ""), "B\n\"'": ("why \x1b[31m\n\"x\" \\ '''", "traces/b.json")}
    text = baseline.update(MANIFEST, failing, today=TODAY)
    assert text == MANIFEST.replace(
        '"A-02" = { reason = "gone", issue = "v" }\n',
        "",
    ).replace(
        "# keep me\n",
        '# keep me\n"B\\U0000000a\\"\'" = { reason = "why \\\\x1b[31m\\\\n\\"x\\" \\\\ \'\'\'", '
        'issue = "not reported yet", expires = 2026-06-01, trace = "traces/b.json" }\n',
    )


def test_a_run_without_news_leaves_the_file_alone() -> None:
    assert baseline.update(MANIFEST, {"A-01": ("", ""), "A-02": ("", "")}, today=TODAY) == MANIFEST
    assert baseline.update(MANIFEST, {"A-01": ("", "")}, today=TODAY, unsettled={"A-02", "C-01"}) == MANIFEST


def test_a_table_is_made_when_there_is_none() -> None:
    added = '"A-01" = { reason = "fails", issue = "not reported yet", expires = 2025-02-28 }'
    for before, gap in (("", ""), ("x = 1", "\n\n"), ("x = 1\n", "\n")):
        text = baseline.update(before, {"A-01": (" ", "")}, today=date(2024, 2, 29))
        assert text == f"{before}{gap}[deviations]\n{added}\n"
    crlf = baseline.update("x = 1\r\n[deviations]\r\n", {"A-01": ("", "")}, today=date(2024, 2, 29))
    assert crlf == f"x = 1\r\n[deviations]\r\n{added}\r\n"


@pytest.mark.parametrize(
    "text",
    [
        '[deviations."A-01"]\nreason = "r"\nissue = "i"\n# c\n[deviations."A-02"]\nreason = "s"\n[end]\n',
        'deviations = { A-01 = { reason = "r" }, A-02 = { reason = "s" } }\n[end]\nx = 1\n',
        'deviations.A-01.reason = "r"\ndeviations.A-02 = { reason = "s", expires = 2030-01-01 }\n[end]\n',
        '[deviations]\nA-01.reason = "r"\nA-02.reason = """\n[x]\n"A-01" = 1\n"""\n[end]',
        "[deviations]\nA-01 = { reason = \"\\\"]\" }\n[ \"deviations\" . \"A-02\" ]\nreason = '''a'''''\n",
    ],
)
def test_every_way_to_write_the_table_is_understood(text: str) -> None:
    before = tomllib.loads(text)
    after = tomllib.loads(baseline.update(text, {"A-01": ("x", ""), "C-01": ("new", "")}, today=TODAY))
    assert set(after["deviations"]) == {"A-01", "C-01"}
    assert after["deviations"]["A-01"] == before["deviations"]["A-01"]
    assert {**after, "deviations": 0} == {**before, "deviations": 0}


def test_a_baseline_is_refused_after_half_a_run() -> None:
    with pytest.raises(baseline.BaselineError, match="partial or incomplete"):
        baseline.update(MANIFEST, {}, today=TODAY, partial=True)
    for rest in ({"partial": True}, {"end": False}):
        with pytest.raises(baseline.BaselineError, match="partial or incomplete"):
            baseline.refreshed(MANIFEST, summed(judged(), **rest), TODAY)
    with pytest.raises(baseline.BaselineError, match="tester's own"):
        baseline.refreshed(MANIFEST, summed(judged(), TroubleRow(message="x")), TODAY)


@pytest.mark.parametrize("text", ["[deviations", "deviations = 3", "x = " + "[" * 5000, "[[deviations]]\nx = 1\n"])
def test_a_manifest_that_cannot_be_updated_is_left_alone(text: str) -> None:
    with pytest.raises(baseline.BaselineError):
        baseline.update(text, {"A-01": ("", "")}, today=TODAY)


def test_an_updated_baseline_makes_the_next_run_pass() -> None:
    rows = [FaultRow(requirement="A-01", why="bad"), judged("A-02"), judged("B-01", judged=0)]
    known = {"A-02": Known(), "B-01": Known()}
    assert summed(*rows, ids=IDS, deviations=known).exit_code == 1
    text = '[deviations]\n"A-02" = { reason = "x" }\n"B-01" = { reason = "y" }\n'
    after = tomllib.loads(baseline.refreshed(text, summed(*rows, ids=IDS, deviations=known), TODAY))["deviations"]
    assert set(after) == {"A-01", "B-01"}
    entries = {name: Known(entry["reason"], expires=entry.get("expires")) for name, entry in after.items()}
    assert summed(*rows, ids=IDS, deviations=entries).exit_code == 0


keys = st.sampled_from(["A-01", 'q"k', "a.b", "é", "x y"]) | hostile.filter(lambda t: "\ud800" not in t and t)


@given(
    st.lists(
        st.sampled_from(
            [
                "# c [deviations]\n",
                "\n",
                'a = "#"\n',
                "b = [\n 1, # ]\n 2 ]\n",
                "c = '''\n[x]\n'''\n",
                'd = """\\"""\n"[q]""""\n',
                "e = { f = '}' }\n",
            ]
        ),
        max_size=4,
        unique=True,
    ),
    st.dictionaries(keys, hostile, max_size=3),
    st.dictionaries(keys, st.tuples(hostile, hostile), max_size=3),
    st.booleans(),
)
def test_any_baseline_survives_hostile_text(lines: list[str], old: Any, failing: Any, tail: bool) -> None:
    old = {name: reason.encode("utf-8", "replace").decode() for name, reason in old.items()}
    failing = {name: seen for name, seen in failing.items() if not re.search("[\ud800-\udfff]", name)}
    entries = "".join(f"{json.dumps(n)} = {{ reason = {json.dumps(r)} }}\n" for n, r in old.items())
    table = f"[deviations]\n{entries}" if old else ""
    text = "".join(lines) + table.replace("\x7f", "\\u007f") + ("[z]\n" + "".join(lines) if tail else "")
    try:
        before = tomllib.loads(text)
    except ValueError:  # JSON writes astral characters as surrogates, which TOML refuses
        return
    after = tomllib.loads(baseline.update(text, failing, today=TODAY))
    found = after.pop("deviations", {})
    known = before.pop("deviations", {})
    assert after == before
    assert set(found) == set(failing)
    for name, entry in found.items():
        assert entry == known[name] if name in known else entry["reason"].isprintable()
