"""A gate with a baseline, as its users run it: made once, then green, and red for what is new and what is mended."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from tests.test_cli import MANIFEST, run

SERVER = """
from impls.references.stomp.reference import Server, Session

class Faulty(Session):
    def on_ABORT(self, frame):
        self.fail("ABORT is not served", frame)

class Two(Faulty):
    def on_NACK(self, frame):
        self.fail("NACK is not served", frame)

class {name}Server(Server):
    session_type = {name}
"""
QUICK = ("suites/stomp", "--role=server", "-q", "-p", "no:cacheprovider")


@pytest.fixture
def gate(tmp_path: Path):
    """Judges a server in memory with the manifest of this test; answers exit status and summary."""

    def served(name: str) -> None:
        (tmp_path / "served_here.py").write_text(SERVER.format(name=name), encoding="utf-8")
        path = tmp_path / "served.toml"
        text = path.read_text(encoding="utf-8").partition("[deviations]") if path.exists() else ("", "", "")
        made = MANIFEST.format(name="served", python=f"served_here:{name}Server")
        path.write_text(f"{made}\n{text[1]}{text[2]}", encoding="utf-8")

    def judge(name: str, *arguments: str) -> tuple[int, dict, str]:
        served(name)
        results = tmp_path / "results"
        found = run(*QUICK, f"--impl={tmp_path}/served.toml", f"--results={results}", *arguments, cwd=tmp_path)
        assert found.returncode in (0, 1), found.stdout + found.stderr
        return found.returncode, json.loads((results / "summary.json").read_text("utf-8")), found.stdout

    return judge


def failing(summary: dict) -> set[str]:
    return {
        name for name, found in summary["requirements"].items()
        if found["verdict"] == "fail" and found["failed_as"] == "MUST"
    }  # fmt: skip


def test_a_baseline_makes_a_gate_that_does_not_flicker(gate, tmp_path):
    status, first, shown = gate("Faulty", "--budget=2", "--update-baseline", "--seed=1")
    assert status == 1
    assert failing(first)
    assert first["left"]["rounds"] >= 3
    assert "Looked on for a baseline in" in shown
    entries = tomllib.loads((tmp_path / "served.toml").read_text("utf-8"))["deviations"]
    stored = json.loads((tmp_path / "served.baseline.json").read_text("ascii"))["programs"]
    assert all(entry["fingerprints"] for entry in entries.values())
    assert entries.keys() <= {each["requirement"] for each in stored}

    for seed in (2, 3):
        status, again, shown = gate("Faulty", "--budget=2", f"--seed={seed}")
        assert status == 0, shown[-2000:]
        assert failing(again) == failing(first)

    status, worse, shown = gate("Two", "--budget=4", "--seed=4")
    assert status == 1
    assert failing(worse) - failing(first), shown[-2000:]

    status, mended, shown = gate("Session", "--budget=4", "--seed=5")
    assert status == 1
    # what is only suspected of being the same failure under another name has an entry as well, which is never stale
    lasting = {name for name, entry in entries.items() if not entry.get("sometimes")}
    assert set(mended["stale"]) == lasting, shown[-2000:]
    assert "STOMP-1.2-TXN-04" in lasting
    assert "its own conversation passed" in next(iter(mended["stale"].values()))


def test_an_old_baseline_goes_on_working_and_is_told_how_to_renew_itself(gate, tmp_path):
    old = '[deviations]\n"STOMP-1.2-TXN-04" = { reason = "no ABORT", issue = "none" }\n'
    old += '"STOMP-1.2-RECEIPT-01" = { reason = "never true", issue = "none" }\n'
    (tmp_path / "served.toml").write_text(old, encoding="utf-8")
    _, summary, shown = gate("Faulty", "--budget=2", "--seed=1")
    assert summary["stale"] == {}
    unseen = {name for name, found in summary["requirements"].items() if found["unseen"]}
    assert "STOMP-1.2-RECEIPT-01" in unseen
    assert summary["requirements"]["STOMP-1.2-RECEIPT-01"]["verdict"] == "inconclusive"
    assert "--update-baseline writes what a run can tell" in shown


def test_what_is_no_file_of_conversations_is_one_message(gate, tmp_path):
    (tmp_path / "served.baseline.json").write_text("{", encoding="utf-8")
    (tmp_path / "served.toml").write_text(MANIFEST.format(name="x", python="served_here:Server"), encoding="utf-8")
    found = run(*QUICK, f"--impl={tmp_path}/served.toml", f"--results={tmp_path}/r", cwd=tmp_path)
    assert found.returncode == 4
    assert "served.baseline.json" in found.stderr
    assert "--update-baseline" in found.stderr


def test_with_several_workers_each_conversation_is_played_once_and_nobody_looks_on(gate, tmp_path):
    pytest.importorskip("xdist")
    _, made, _ = gate("Faulty", "--budget=4", "--update-baseline", "--seed=1", "-n", "2")
    assert made["left"] is None
    kept = json.loads((tmp_path / "served.baseline.json").read_text("ascii"))["programs"]
    assert kept
    gate("Faulty", "--budget=2", "--seed=2", "-n", "2")
    run_id = json.loads((tmp_path / "results" / "summary.json").read_text("utf-8"))["run"]
    lines = [line for path in (tmp_path / "results" / "records").glob("*.jsonl") for line in path.open()]
    replays = [row for row in map(json.loads, lines) if row["kind"] == "replay" and row["run"] == run_id]
    played = [(row["requirement"], row["fingerprint"]) for row in replays]
    assert sorted(played) == sorted((each["requirement"], each["fingerprint"]) for each in kept)
