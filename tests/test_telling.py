"""What the reports of one run say."""

from __future__ import annotations

import html
import json
from datetime import date
from pathlib import Path
from xml.etree import ElementTree

import pytest

from records.rows import (
    FaultRow,
    MissedRow,
    ReplayRow,
    RequirementRow,
    TroubleRow,
)
from reports import document, junit, markdown, terminal, transcript
from reports.often import interval, often
from tests.summaries import IDS, TRACE, Known, judged, saved, summed


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
    results = saved(tmp_path, TRACE)
    assert "script" not in terminal.render(summary, 100, False, results)  # none was written: it reaches servers only
    (results / "traces/x.py").touch()
    shown = terminal.render(summary, 100, False, results)
    for part in (
        "FAIL A-01  MUST, section A",
        "must A-01",
        "expected     one RECEIPT",
        "came         two RECEIPTs",
        "2 of 3 times (21 to 94 %), 3 steps, test_x",
        "cuts",
        "      0.4 #0 --> SEND receipt:1\\n\\nhi\\0",
        "!     1.0 #0 <-- RECEIPT receipt-id:1",
        "          ... 1 event after that",
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
    shown = terminal.render(summed(*rows, judged("2"), ids=()))
    order = [shown.index(word) for word in ("Zeta", "Alpha", "robustness", "Extra", "\nall")]
    assert order == sorted(order)


def test_a_table_of_nothing_is_one_line() -> None:
    shown = terminal.render(summed(judged(judged=0), RequirementRow(id="A-02", section="Alpha")))
    assert "none of 2 requirements was judged" in shown
    assert "Alpha" not in shown
    assert "\nall" not in shown


@pytest.mark.parametrize("width", [76, 80, 100, 200])
def test_the_table_keeps_to_its_width(width: int) -> None:
    rows = [RequirementRow(id="3", section="A very long title of a section, longer than all others by far")]
    error = RequirementRow(id="4"), TroubleRow(requirement="4", message="hole")
    shown = terminal.render(summed(*rows, *error, judged("3"), ids=()), width)
    assert max(len(line) for line in shown.split("\n")) <= width


def test_deviations_are_shown_apart_and_stale_ones_loudly() -> None:
    known = {"A-01": Known("slow disk"), "A-02": Known("was slow"), "B-01": Known("old", expires=date(2020, 1, 1))}
    passed = ReplayRow(requirement="A-02", tried=10)
    summary = summed(
        FaultRow(requirement="A-01"), judged("A-02"), passed, FaultRow(requirement="B-01"), ids=IDS, deviations=known
    )
    shown = terminal.render(summary)
    assert "Known deviations, accepted (1)\n  A-01: slow disk" in shown
    assert "STALE BASELINE (1)" in shown
    assert "EXPIRED BASELINE (1)" in shown
    page = markdown.render(summary)
    assert "Stale baseline entries" in page
    assert "slow disk" in page


def test_what_was_not_seen_is_told_apart_from_what_passes(tmp_path: Path) -> None:
    rows = judged("A-01"), judged("A-02"), ReplayRow(requirement="A-01", tried=2)
    summary = summed(*rows, ids=IDS[:2], deviations={"A-01": Known("slow disk", fingerprints=("A-01 one",))})
    shown = terminal.render(summary)
    assert "neither passed nor mended (1)" in shown
    assert "A-01: not seen in 2 judgements, 2 of them of its own conversation; it was accepted as: slow disk" in shown
    assert "--update-baseline" not in shown
    assert "A-01: not seen in 2 judgements" in html.unescape(markdown.render(summary))
    cases = {case.get("name"): case for case in ElementTree.fromstring(junit.render(summary)).iter("testcase")}
    assert "not seen in 2 judgements" in cases["A-01"].find("skipped").get("message")
    assert cases["A-02"].find("skipped") is None
    told = json.loads(document.to_json(summary))["requirements"]
    assert told["A-01"]["unseen"] == {"judged": 2, "replayed": 2}
    assert told["A-02"]["unseen"] is None


def test_an_old_baseline_is_told_how_to_renew_itself() -> None:
    rows = FaultRow(requirement="A-01"), judged("A-02")
    old = {"A-01": Known(), "A-02": Known(fingerprints=("A-02 one",))}
    shown = " ".join(terminal.render(summed(*rows, ids=IDS[:2], deviations=old)).split())
    assert "A-01: any failure of it is accepted, a new one too; A-02: no conversation is kept that shows it" in shown


def test_what_is_not_settled_is_named() -> None:
    """A requirement that was never reached, and none that is suspected, which has a place of its own."""
    suspected = FaultRow(requirement="A-02", verdict="inconclusive", unsettled="it was seen once")
    shown = terminal.render(summed(judged("A-01"), suspected, ids=("A-01", "A-02", "A-03")))
    assert "Not settled (1): A-03" in shown
    missed = MissedRow(requirement="A-03", programs=1)
    shown = terminal.render(summed(judged("A-01"), suspected, missed, ids=("A-01", "A-02", "A-03", "A-04")))
    assert "Not settled (1): A-04" in shown
    assert "Played, and not reached by this implementation (1): A-03" in shown
    ids = tuple(f"A-{n:03}" for n in range(40))
    assert "A-012 and 27 more" in " ".join(terminal.render(summed(judged("A-000"), ids=ids)).split())


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


@pytest.mark.parametrize(
    ("reproduced", "tried", "told"),
    [
        (5, 5, "5 of 5"),
        (1, 8, "1 of 8 (2 to 47 %)"),
        (15, 195, "15 of 195 (5 to 12 %)"),
        (0, 18, "0 of 18 (0 to 18 %)"),
        (0, 0, ""),
        (7, 5, "7 of 5"),
        (-1, 5, "-1 of 5"),
    ],
)
def test_how_often_a_fault_shows(reproduced: int, tried: int, told: str) -> None:
    assert often(reproduced, tried) == told


def test_a_rate_lies_within_its_interval_and_more_repetitions_make_it_narrower() -> None:
    for tried in range(1, 60):
        for seen in range(tried):
            low, high = interval(seen, tried)
            assert 0 <= low <= seen / tried <= high <= 1
            closer = interval(4 * seen, 4 * tried)
            assert closer[1] - closer[0] < high - low


def test_a_replay_is_told_in_the_words_of_the_command_that_was_used(tmp_path: Path) -> None:
    fault = FaultRow(requirement="A-01", why="two RECEIPTs", trace="traces/x.json")
    told = [
        terminal.replay(summed(judged(), fault, asked="my server", command=command), "traces/x.json", tmp_path)
        for command in ("", "pytest", "wireproof")
    ]
    assert told[0] == told[1] == f"pytest --impl='my server' --replay={tmp_path}/traces/x.json"
    assert told[2] == f"wireproof replay {tmp_path}/traces/x.json --impl='my server'"
