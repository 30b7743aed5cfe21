"""The fold of rows into verdicts and the exit status, case by case."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime
from typing import Any

import pytest

from records.rows import (
    EndRow,
    FaultRow,
    FreedomRow,
    MissedRow,
    PropertyRow,
    ReplayRow,
    RequirementRow,
    RestRow,
    Row,
    TroubleRow,
)
from reports import terminal
from reports.result import Unseen
from reports.summary import fold
from tests.summaries import IDS, TODAY, Known, judged, summed, told


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
    assert second.message == "broken by the same action as A-01: bad"
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


def test_a_deed_accepted_elsewhere_makes_nothing_worse() -> None:
    known = FaultRow(requirement="A-01", why="known", also=("A-02",))
    weak = FaultRow(requirement="A-02", why="weak", level="SHOULD")
    _, second, _ = summed(known, weak, ids=IDS, deviations={"A-01": Known()}).results
    assert (second.standing, second.failed_as, second.message) == ("warned", "SHOULD", "weak")
    assert [fault.why for fault in second.faults] == ["weak"]
    _, second, _ = summed(known, weak, ids=IDS).results
    assert (second.standing, second.failed_as) == ("failed", "MUST")
    assert second.message == "broken by the same action as A-01: known"


def test_a_fault_of_a_requirement_nobody_listed_is_not_lost() -> None:
    summary = summed(judged(), FaultRow(requirement="Z-99", why="bad"))
    assert summary.results[-1].id == "Z-99"
    assert summary.exit_code == 1


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


PASSED = ReplayRow(requirement="A-01", fingerprint="A-01 one", tried=10)


def test_a_stale_entry_fails_whole_runs_only() -> None:
    entry = {"A-01": Known()}
    summary = summed(judged(), PASSED, deviations=entry)
    assert (summary.exit_code, [s.entry.id for s in summary.stale]) == (1, ["A-01"])
    assert summary.stale[0].why == "its own conversation passed 10 of 10 times, and it held in 2 judgements"
    partial = summed(judged(), PASSED, deviations=entry, partial=True)
    assert (partial.exit_code, partial.stale) == (0, ())
    killed = summed(judged(), PASSED, deviations=entry, end=False)
    assert (killed.exit_code, killed.verdict, killed.stale) == (1, "inconclusive", ())
    assert summed(judged(), deviations={"TYPO": Known()}).stale[0].why == "no requirement of this run has this id"


@pytest.mark.parametrize(
    ("rows", "entry", "replayed"),
    [
        ((), Known(), 0),
        ((replace(PASSED, tried=9),), Known(), 9),
        ((PASSED,), Known(sometimes=True), 10),
        ((replace(PASSED, shown=1),), Known(), 0),
        ((PASSED, ReplayRow(requirement="A-01", fingerprint="A-01 two", tried=1, shown=1)), Known(), 0),
    ],
)
def test_what_was_not_seen_is_neither_a_pass_nor_stale(rows: Any, entry: Known, replayed: int) -> None:
    summary = summed(judged(), *rows, judged("A-02"), ids=("A-01", "A-02"), deviations={"A-01": entry})
    assert (summary.exit_code, summary.stale) == (0, ())
    (found,) = summary.unseen
    assert (found.id, found.verdict, found.standing) == ("A-01", "inconclusive", "inconclusive")
    assert found.unseen == Unseen(2, replayed)
    assert "not seen in 2 judgements" in found.message
    assert "1 known deviation not seen this time" in summary.sentence
    assert "not settled" not in summary.sentence
    assert summary.standing("passed")[0].id == "A-02"


def test_records_from_before_keep_what_they_meant() -> None:
    rows = [replace(row, schema=3) for row in told(judged())]
    summary = fold(rows, {"A-01": Known()}, False, TODAY)
    assert (summary.exit_code, [s.why for s in summary.stale]) == (1, ["it passes now"])
    often = fold(rows, {"A-01": Known(sometimes=True)}, False, TODAY)
    assert (often.exit_code, often.unseen, often.standing("passed")[0].id) == (0, (), "A-01")


def test_what_needs_a_longer_silence_than_the_run_says_so_and_never_passes() -> None:
    rests = RestRow(requirement="A-01", needs_s=90.0), RestRow(requirement="A-01", needs_s=61.6)
    (found,) = summed(*rests).results
    assert (found.verdict, found.standing) == ("inconclusive", "inconclusive")
    assert found.message == "not judged: needs 62 s of silence"
    (judged_elsewhere,) = summed(judged(), *rests).results
    assert (judged_elsewhere.verdict, judged_elsewhere.message) == ("pass", "")


def test_what_every_stored_program_missed_says_so_and_never_passes() -> None:
    missed = MissedRow(requirement="A-01", programs=2)
    (found,) = summed(missed).results
    assert (found.verdict, found.standing, found.missed) == ("inconclusive", "inconclusive", True)
    assert found.message == "never reached in 2 conversations that come to it on the reference"
    (judged_elsewhere,) = summed(judged(), missed).results
    assert (judged_elsewhere.verdict, judged_elsewhere.message, judged_elsewhere.missed) == ("pass", "", False)
    (exercised,) = summed(judged(judged=0), missed).results
    assert (exercised.verdict, exercised.missed) == ("inconclusive", False)


def test_a_recommendation_that_comes_and_goes_is_marked_as_such() -> None:
    summary = summed(judged(), ReplayRow(requirement="A-01", tried=3))
    (found,) = summary.unseen
    assert (found.verdict, found.accepted) == ("inconclusive", None)
    assert found.message.startswith("a recommendation that was missed before, not seen in 2 judgements")
    assert "a recommendation, missed before" in terminal.render(summary)
    assert summed(judged(), PASSED).unseen == (), "mended"


def test_an_entry_that_expired_is_no_excuse_for_not_seeing_it() -> None:
    summary = summed(judged(), deviations={"A-01": Known(expires=date(2020, 1, 1))})
    assert summary.unseen == ()


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


def test_what_was_judged_and_is_only_suspected_is_no_pass() -> None:
    summary = summed(judged(), FaultRow(requirement="A-01", verdict="inconclusive", unsettled="there was no time"))
    assert (summary.exit_code, summary.verdict) == (1, "inconclusive")
    assert "nothing was judged" in summary.sentence


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


def test_what_was_blamed_and_not_confirmed_is_no_pass():
    why, unsettled = "no RECEIPT for SEND", "it was seen once, and in no repetition"
    suspicion = FaultRow(requirement="A-01", why=why, verdict="inconclusive", unsettled=unsettled)
    summary = summed(judged("A-01", judged=500), suspicion)
    (found,) = summary.results
    assert (found.verdict, found.message) == ("inconclusive", f"suspected, not settled: {why}; {unsettled}")
    assert "suspected, not settled" in terminal.render(summary)


def test_freedoms_that_were_leaned_on_are_counted_and_told():
    rows = [FreedomRow(property=name, freedom=f"X {n}", leaned=n) for name in ("p", "q") for n in (1, 2)]
    summary = summed(judged("A-01"), *rows)
    assert summary.freedoms == {"X 2": 4, "X 1": 2}
    assert "leaned on a reading of docs/ambiguities.md: X 2 (4), X 1 (2)" in terminal.render(summary)


def test_a_fault_that_ends_most_conversations_is_told_as_an_obstacle():
    rows = [PropertyRow(property=name, plans=50, obstacles=("A-01 40", "A-02 1", "x y z")) for name in ("p", "q")]
    summary = summed(judged("A-01"), *rows)
    assert summary.obstacles == {"A-01": 80, "A-02": 2}
    text = terminal.render(summary)
    assert "A-01 ended 80 of 100 conversations" in text
    assert "A-02 ended" not in text


def test_what_is_only_suspected_is_told_at_the_level_of_the_suspicion() -> None:
    suspicion = FaultRow(requirement="A-01", why="weak", level="SHOULD", verdict="inconclusive", unsettled="no time")
    summary = summed(judged(), suspicion)
    (found,) = summary.results
    assert (found.requirement.level, found.failed_as, found.told_as) == ("MUST", None, "SHOULD")
    assert "A-01  SHOULD: suspected, not settled: weak" in terminal.render(summary)
