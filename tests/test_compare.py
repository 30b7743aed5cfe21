"""Two results beside each other: what is told of them, and when that is a regression."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from records.rows import FaultRow, to_json
from reports import compare, document
from tests.summaries import TRAPS, Known, harmless, judged, summed, told

BAD = FaultRow(requirement="A-01", why="two RECEIPTs")
IDS = ("A-01", "A-02", "B-01")


@pytest.fixture(autouse=True)
def outside_a_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)


def results(folder: Path, *rows: Any, **rest: Any) -> str:
    document.write(summed(*rows, **{"ids": IDS, **rest}), folder)
    return str(folder)


def compared(capsys: pytest.CaptureFixture[str], old: str, new: str) -> tuple[int, str]:
    status = compare.main([old, new])
    return status, capsys.readouterr().out


def under(text: str, heading: str) -> str:
    """The lines below one heading."""
    return text.partition(f"#### {heading} (")[2].partition("####")[0]


def test_what_newly_fails_is_a_regression(tmp_path, capsys):
    old = results(tmp_path / "old", judged("A-01"), judged("A-02"))
    new = results(tmp_path / "new", BAD, judged("A-02"))
    status, text = compared(capsys, old, new)
    assert status == 1
    assert "A-01" in under(text, "Newly failing")
    assert "two RECEIPTs" in under(text, "Newly failing")
    assert "A-02" not in text
    assert "was passed" in text


def test_what_failed_before_is_none(tmp_path, capsys):
    old, new = results(tmp_path / "old", BAD), results(tmp_path / "new", BAD)
    status, text = compared(capsys, old, new)
    assert status == 0
    assert "Nothing changed" in text


def test_an_entry_that_is_gone_while_it_still_fails_is_a_regression(tmp_path, capsys):
    old = results(tmp_path / "old", BAD, deviations={"A-01": Known()})
    new = results(tmp_path / "new", BAD)
    status, text = compared(capsys, old, new)
    assert status == 1
    assert "was accepted" in under(text, "Newly failing")


def test_what_is_mended_judged_newly_or_no_longer_is_told(tmp_path, capsys):
    old = results(tmp_path / "old", BAD, judged("A-02"))
    new = results(tmp_path / "new", judged("A-01"), judged("B-01"))
    status, text = compared(capsys, old, new)
    assert status == 0
    assert "A-01" in under(text, "Mended")
    assert "two RECEIPTs" in under(text, "Mended")
    assert "B-01" in under(text, "Newly judged")
    assert "A-02" in under(text, "No longer judged")
    assert "fewer" not in text


def test_what_the_new_baseline_accepts_is_told_and_no_regression(tmp_path, capsys):
    old = results(tmp_path / "old", judged("A-01"))
    new = results(tmp_path / "new", BAD, deviations={"A-01": Known()})
    status, text = compared(capsys, old, new)
    assert status == 0
    assert "A-01" in under(text, "Newly seen to fail, and accepted by the baseline")


def test_a_recommendation_newly_missed_is_told_and_decides_when_strict(tmp_path, capsys):
    missed = FaultRow(requirement="A-01", level="SHOULD", why="late")
    old = results(tmp_path / "old", judged("A-01"))
    status, text = compared(capsys, old, results(tmp_path / "new", missed))
    assert status == 0
    assert "late" in under(text, "Recommendations newly missed")
    status, text = compared(capsys, old, results(tmp_path / "strict", missed, strict=True))
    assert status == 1
    assert "late" in under(text, "Newly failing")


def test_a_run_that_judges_fewer_says_so(tmp_path, capsys):
    old = results(tmp_path / "old", judged("A-01"), judged("A-02"))
    new = results(tmp_path / "new", judged("A-02"))
    status, text = compared(capsys, old, new)
    assert status == 0
    assert "judged 1 requirements, 1 fewer than the old" in text
    assert "A-01" in under(text, "No longer judged")


def test_a_new_run_without_a_verdict_is_no_good_news(tmp_path, capsys):
    old = results(tmp_path / "old", judged("A-01"))
    status, text = compared(capsys, old, results(tmp_path / "new", judged("A-01"), end=False))
    assert status == 1
    assert "came to no verdict" in text


def test_killed_runs_are_read_from_their_records(tmp_path, capsys):
    old = results(tmp_path / "old", judged("A-01"))
    (tmp_path / "new" / "records").mkdir(parents=True)
    lines = "".join(f"{to_json(row)}\n" for row in told(BAD, ids=IDS, end=False))
    (tmp_path / "new" / "records" / "main.jsonl").write_text(lines, encoding="ascii")
    status, text = compared(capsys, old, str(tmp_path / "new"))
    assert status == 1
    assert "A-01" in under(text, "Newly failing")


def test_folders_of_several_are_compared_one_by_one(tmp_path, capsys):
    for name in ("one", "two"):
        path = tmp_path / "old" / name
        results(path, judged("A-01"))
        said = json.loads((path / "summary.json").read_text())
        said["impl"]["name"] = name
        (path / "summary.json").write_text(json.dumps(said))
        results(tmp_path / "new" / name, BAD if name == "two" else judged("A-01"))
        said = json.loads((tmp_path / "new" / name / "summary.json").read_text())
        said["impl"]["name"] = name
        (tmp_path / "new" / name / "summary.json").write_text(json.dumps(said))
    status, text = compared(capsys, str(tmp_path / "old"), str(tmp_path / "new"))
    assert status == 1
    one, _, two = text.partition("### two stomp server")
    assert "Nothing changed" in one
    assert "A-01" in under(two, "Newly failing")
    # what is gone is no good news either, and what is new and passes is no bad news
    status, text = compared(capsys, str(tmp_path / "old"), str(tmp_path / "new" / "one"))
    assert status == 1
    assert "these results do not have it" in text
    status, text = compared(capsys, str(tmp_path / "old" / "one"), str(tmp_path / "old"))
    assert status == 0
    assert "Nothing got worse" in text


def test_another_name_of_the_only_one_is_the_same_implementation(tmp_path, capsys):
    old, new = results(tmp_path / "old", judged("A-01")), results(tmp_path / "new", BAD)
    said = json.loads((tmp_path / "new" / "summary.json").read_text())
    said["impl"]["name"] = "branch"
    (tmp_path / "new" / "summary.json").write_text(json.dumps(said))
    status, text = compared(capsys, old, new)
    assert status == 1
    assert "A-01" in under(text, "Newly failing")


def test_the_page_of_a_build_gets_it_too(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "step.md"))
    old, new = results(tmp_path / "old", judged("A-01")), results(tmp_path / "new", BAD)
    _, text = compared(capsys, old, new)
    assert (tmp_path / "step.md").read_text(encoding="utf-8").strip() == text.strip()


@pytest.mark.parametrize("trap", TRAPS)
def test_what_an_implementation_says_stays_text(trap, tmp_path, capsys):
    old = results(tmp_path / "old", judged("A-01"))
    new = results(tmp_path / "new", FaultRow(requirement="A-01", why=trap))
    _, text = compared(capsys, old, new)
    harmless(text)
    assert "<script" not in text
    assert "](http" not in text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "OLD NEW"),
        (["only"], "OLD NEW"),
        (["old", "nowhere"], "no folder"),
        (["old", "empty"], "no results"),
        (["old", "broken"], "no summary of a run"),
        (["old", "odd"], "no summary of a run"),
    ],
)
def test_wrong_arguments_end_with_4_and_one_message(arguments, says, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results(Path("old"), judged("A-01"))
    Path("empty").mkdir()
    for name, text in (("broken", "{"), ("odd", '{"verdict": "pass", "requirements": {"A": 3}, "impl": {}}')):
        Path(name).mkdir()
        Path(name, "summary.json").write_text(text)
    assert compare.main(arguments) == 4
    assert says in capsys.readouterr().err


def test_the_command_needs_no_spark(tmp_path):
    old, new = results(tmp_path / "old", judged("A-01")), results(tmp_path / "new", BAD)
    root = Path(__file__).resolve().parent.parent
    code = "import sys; sys.modules['pyspark'] = None; from reports.__main__ import main; sys.exit(main())"
    environment = {name: value for name, value in os.environ.items() if name != "GITHUB_STEP_SUMMARY"}
    found = subprocess.run(
        [sys.executable, "-c", code, "compare", old, new],
        cwd=root, env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert found.returncode == 1, found.stderr
    assert "Newly failing" in found.stdout
