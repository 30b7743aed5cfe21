"""SARIF of one run: what the standard requires of a log, and that it says what the summary says."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from records.rows import CoverageRow, EndRow, FaultRow, ReplayRow, RequirementRow, RunRow, TroubleRow
from reports import sarif
from reports.summary import Summary, fold
from tests.test_cli import run

TODAY = date(2026, 3, 1)

# From the schema of SARIF 2.1.0 (OASIS, sarif-schema-2.1.0): for each object that we write, the members that must be
# there, and for each member its type, or the words that it may have. A member that is not listed is not allowed.
TEXT, COUNT, YES, ANY = str, int, bool, object
URI = re.compile(r"[A-Za-z0-9/:._~%-]+")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
LEVEL = ("none", "note", "warning", "error")
SCHEMA: dict[str, tuple[set[str], dict[str, Any]]] = {
    "log": ({"version", "runs"}, {"$schema": URI, "version": ("2.1.0",), "runs": ["run"]}),
    "run": (
        {"tool"},
        {
            "tool": "tool", "automationDetails": "automation", "invocations": ["invocation"], "results": ["result"],
            "columnKind": ("utf16CodeUnits", "unicodeCodePoints"), "properties": ANY,
        },
    ),
    "tool": ({"driver"}, {"driver": "component"}),
    "component": ({"name"}, {"name": TEXT, "version": TEXT, "rules": ["rule"]}),
    "rule": (
        {"id"},
        {"id": TEXT, "shortDescription": "message", "help": "message", "defaultConfiguration": "configuration",
         "properties": ANY},
    ),
    "configuration": (set(), {"level": LEVEL}),
    "automation": (set(), {"id": TEXT}),
    "invocation": (
        {"executionSuccessful"},
        {"executionSuccessful": YES, "exitCode": COUNT, "startTimeUtc": MOMENT,
         "toolExecutionNotifications": ["notification"]},
    ),
    "notification": ({"message"}, {"message": "message", "level": LEVEL}),
    "message": ({"text"}, {"text": TEXT}),
    "result": (
        {"message"},
        {
            "ruleId": TEXT, "ruleIndex": COUNT, "level": LEVEL, "message": "message", "locations": ["location"],
            "kind": ("notApplicable", "pass", "fail", "review", "open", "informational"),
            "partialFingerprints": ANY, "suppressions": ["suppression"], "properties": ANY,
        },
    ),
    "location": (set(), {"logicalLocations": ["logical"], "physicalLocation": "physical"}),
    "logical": (set(), {"name": TEXT, "kind": TEXT}),
    "physical": ({"artifactLocation"}, {"artifactLocation": "artifact"}),
    "artifact": (set(), {"uri": URI, "uriBaseId": TEXT}),
    "suppression": (
        {"kind"},
        {"kind": ("inSource", "external"), "status": ("accepted", "underReview", "rejected"), "justification": TEXT},
    ),
}  # fmt: skip


def check(value: Any, kind: Any, where: str = "log") -> None:
    """Raises AssertionError unless `value` is what the schema says."""
    if isinstance(kind, list):
        assert isinstance(value, list), where
        for number, item in enumerate(value):
            check(item, kind[0], f"{where}[{number}]")
    elif isinstance(kind, str):
        required, members = SCHEMA[kind]
        assert isinstance(value, dict), where
        assert required <= set(value) <= set(members), (where, set(value) ^ set(members))
        for name, item in value.items():
            check(item, members[name], f"{where}.{name}")
    elif isinstance(kind, tuple):
        assert value in kind, (where, value)
    elif isinstance(kind, re.Pattern):
        assert kind.fullmatch(value), (where, value)
    elif kind is not ANY:
        assert type(value) is kind, (where, value)


def rows(hostile: str = "") -> list[Any]:
    at = {"run": "r", "worker": "main"}
    made: list[Any] = [
        RunRow(**at, n=1, at="2026-03-01T02:03:04+01:00", impl=f"one{hostile}", protocol="stomp", role="server",
               profile="1.2", version="3", suite_version="0.1.0", seed=7, workers=("main",)),
    ]  # fmt: skip
    levels = {"A-01": "MUST", "A-02": "SHOULD", "A-03": "MAY", "A-04": "MUST", "A-05": "MUST", "A-06": "MUST"}
    made += [
        RequirementRow(**at, n=2 + n, id=name + hostile, level=level, section="S", statement=f"Rule {name}.{hostile}",
                       source="chapter 1") for n, (name, level) in enumerate(levels.items())
    ]  # fmt: skip
    made += [
        FaultRow(**at, n=10 + n, requirement=name + hostile, level=levels[name], why=f"no {name}{hostile}",
                 expected=f"a {name}", steps=3, reproduced=4, tried=5, trace=f"traces/{name} x.json", property="p")
        for n, name in enumerate(("A-01", "A-02", "A-03", "A-04"))
    ]  # fmt: skip
    made.append(CoverageRow(**at, n=20, property="p", requirement="A-05" + hostile, exercised=3, judged=2))
    made.append(ReplayRow(**at, n=21, requirement="A-05" + hostile, tried=10))
    return made


def summary(*more: Any, strict: bool = False, end: bool = True, hostile: str = "") -> Summary:
    made = [replace(row, n=n) for n, row in enumerate((*rows(hostile), *more), 1)]
    if end:
        made.append(EndRow(run="r", worker="main", n=len(made) + 1, rows=len(made)))
    known = {"A-04" + hostile: SimpleNamespace(reason=f"slow{hostile}", issue="https://x.example/1", expires=None),
             "A-05" + hostile: SimpleNamespace(reason="old", issue="", expires=None)}  # fmt: skip
    return fold(made, known, strict, TODAY)


def log(found: Summary, results: Path | None = None) -> dict[str, Any]:
    text = sarif.render(found, results)
    assert text.isascii()
    made: dict[str, Any] = json.loads(text)
    check(made, "log")
    (one,) = made["runs"]
    return one  # type: ignore[no-any-return]


def test_failures_are_results_and_nothing_else_is():
    found = log(summary())
    shown = {result["ruleId"]: result for result in found["results"]}
    assert {name: result["level"] for name, result in shown.items()} == {
        "A-01": "error", "A-02": "warning", "A-03": "note", "A-04": "error",
    }  # fmt: skip
    assert [rule["id"] for rule in found["tool"]["driver"]["rules"]] == [f"A-0{n}" for n in range(1, 7)]
    assert all(found["tool"]["driver"]["rules"][r["ruleIndex"]]["id"] == r["ruleId"] for r in found["results"])
    assert shown["A-01"]["message"]["text"].startswith("MUST: no A-01\nExpected: a A-01\n")
    assert "4 of 5" in shown["A-01"]["message"]["text"]
    place = shown["A-01"]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "traces/A-01%20x.json", "uriBaseId": "RESULTS"}


def test_what_the_baseline_accepts_is_suppressed():
    shown = {result["ruleId"]: result for result in log(summary())["results"]}
    assert shown["A-04"]["suppressions"] == [
        {"kind": "external", "status": "accepted", "justification": "slow https://x.example/1"}
    ]
    assert not any("suppressions" in result for name, result in shown.items() if name != "A-04")


def test_a_strict_run_makes_recommendations_errors():
    levels = {result["ruleId"]: result["level"] for result in log(summary(strict=True))["results"]}
    assert levels == {"A-01": "error", "A-02": "error", "A-03": "note", "A-04": "error"}


def test_what_is_wrong_with_the_run_is_a_notification():
    clean = log(summary())["invocations"][0]
    assert clean["executionSuccessful"] is True
    assert clean["exitCode"] == 1
    assert clean["startTimeUtc"] == "2026-03-01T01:03:04.000Z"
    assert [n["message"]["text"] for n in clean["toolExecutionNotifications"]] == [
        "stale baseline entry: A-05: its own conversation passed 10 of 10 times, and it held in 2 judgements"
    ]
    trouble = TroubleRow(run="r", worker="main", n=30, where="start", message="no answer")
    told = log(summary(trouble))["invocations"][0]
    assert told["executionSuccessful"] is False
    assert "start: no answer" in [n["message"]["text"] for n in told["toolExecutionNotifications"]]
    torn = log(summary(end=False))["invocations"][0]
    assert torn["executionSuccessful"] is False
    assert {"level": "warning", "message": {"text": "run: the run is incomplete"}} in torn["toolExecutionNotifications"]


def test_the_same_failure_has_the_same_fingerprint_in_every_run():
    one, other = (log(summary(*more))["results"] for more in ((), (TroubleRow(run="r", worker="main", n=40),)))
    prints = [result["partialFingerprints"]["requirement/v1"] for result in one]
    assert prints == [result["partialFingerprints"]["requirement/v1"] for result in other]
    assert len(set(prints)) == 4


@pytest.mark.parametrize("at", ["", "yesterday", "0001-01-01T00:00:00+14:00", "2026-03-01"])
def test_a_moment_that_is_none_is_left_out(at):
    assert sarif._moment(at) in ("", "2026-03-01T00:00:00.000Z")


@pytest.mark.parametrize("text", ["<script>", "\u202e\x1b[31m\0", "\ud800", "x" * 100_000, "../\\%"])
def test_hostile_text_is_told_as_text(text):
    found = log(summary(hostile=text))
    assert len(found["results"]) == 4
    told = json.dumps(found, ensure_ascii=False)
    assert not re.search("[\0-\x08\x1b\u202e\ud800]", told)
    assert len(told) < 100_000


def test_a_run_writes_it_beside_junit(tmp_path):
    found = run(
        "suites/stomp",
        "--role=server",
        "--budget=2",
        f"--results={tmp_path}/r",
        f"--sarif={tmp_path}/new/run.sarif",
        "-q",
    )
    assert found.returncode == 0, found.stdout + found.stderr
    made = json.loads((tmp_path / "new/run.sarif").read_text())
    check(made, "log")
    told = json.loads((tmp_path / "r/summary.json").read_text())
    assert made["runs"][0]["properties"]["run"] == told["run"]
    assert {rule["id"] for rule in made["runs"][0]["tool"]["driver"]["rules"]} == set(told["requirements"])
    standings = [entry["standing"] for entry in told["requirements"].values()]
    assert len(made["runs"][0]["results"]) == sum(word in ("failed", "warned", "accepted") for word in standings)
