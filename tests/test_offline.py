"""Recordings of conversations that took place elsewhere are read, judged, and answered as a run is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from suites import offline

ROOT = Path(__file__).resolve().parent.parent
TALK: tuple[tuple[str, object], ...] = (
    ("host", {"action": "initialize", "shardId": "s", "sequenceNumber": "TRIM_HORIZON", "subSequenceNumber": 0}),
    ("child", {"action": "status", "responseFor": "initialize"}),
    ("host", {"action": "processRecords", "records": [], "millisBehindLatest": 0}),
    ("child", {"action": "checkpoint", "sequenceNumber": "1", "subSequenceNumber": None}),
    ("host", {"action": "checkpoint", "sequenceNumber": "1", "subSequenceNumber": None, "error": "KinesisError"}),
    ("child", {"action": "status", "responseFor": "processRecords"}),
    ("host", {"action": "leaseLost"}),
    ("child", {"action": "status", "responseFor": "leaseLost"}),
    ("host", None),
)


def recording(folder: Path, talk=TALK, name: str = "one", tail: str = "") -> Path:
    lines = [
        json.dumps({"ms": n, "by": by, **({"hex": (json.dumps(m) + "\n").encode().hex()} if m else {"end": True})})
        for n, (by, m) in enumerate(talk)
    ]
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.jsonl"
    path.write_text("".join(line + "\n" for line in lines) + tail, "ascii")
    return path


def judged(tmp_path: Path, *options: str) -> tuple[int, dict]:
    results = tmp_path / "results"
    status = offline.main(["kcl-3-daemon", str(tmp_path / "heard"), f"--results={results}", *options])
    return status, json.loads((results / "summary.json").read_text("utf-8"))


def test_a_conversation_that_keeps_to_the_protocol(tmp_path, capsys):
    recording(tmp_path / "heard")
    status, summary = judged(tmp_path)
    assert status == 0
    kept = {name for name, entry in summary["requirements"].items() if entry["verdict"] == "pass"}
    assert {"KCL-INIT-01", "KCL-CHECKPOINT-05", "KCL-CHECKPOINT-06", "KCL-PROC-06"} <= kept
    assert "pass: kcl-3-daemon" in capsys.readouterr().out


def test_what_nobody_did_stays_open(tmp_path):
    recording(tmp_path / "heard", TALK[:2])
    _, summary = judged(tmp_path)
    assert summary["requirements"]["KCL-CHECKPOINT-05"]["verdict"] == "inconclusive"


def test_a_fault_is_reported_with_its_conversation(tmp_path, capsys):
    hasty = (*TALK[:3], TALK[6], *TALK[3:])
    recording(tmp_path / "heard", hasty)
    recording(tmp_path / "heard", name="two")
    status, summary = judged(tmp_path)
    assert status == 1
    entry = summary["requirements"]["KCL-PROC-06"]
    assert entry["verdict"] == "fail"
    trace = json.loads((tmp_path / "results" / entry["witness"]).read_text("utf-8"))
    assert trace["reproduced"] == 1
    assert trace["conversation"][trace["deciding"]]["by"] == "host"
    assert "an action was sent while one was open" in capsys.readouterr().out


def test_a_fault_of_the_other_side_judges_nobody(tmp_path):
    silly = (TALK[0], ("child", {"action": "status", "responseFor": "shutdown"}), *TALK[2:])
    recording(tmp_path / "heard", silly)
    status, summary = judged(tmp_path)
    assert not [name for name, entry in summary["requirements"].items() if entry["verdict"] == "fail"]
    assert summary["requirements"]["KCL-CHECKPOINT-05"]["verdict"] == "inconclusive"
    assert status == 0


def test_a_recorder_that_was_killed_leaves_what_is_whole(tmp_path):
    recording(tmp_path / "heard", tail='{"ms": 9, "by": "ho')
    assert judged(tmp_path)[0] == 0


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("nonsense\n", "line 10: no piece of a conversation"),
        ('{"ms": 1, "by": "host", "hex": "zz"}\n', "line 10: no piece of a conversation"),
        ('{"ms": 1, "by": "mars", "hex": ""}\n', "'mars' is no side of kcl; write host or child"),
        ("[]\n", "line 10"),
    ],
)
def test_what_is_no_recording_is_told(tmp_path, capsys, line, told):
    recording(tmp_path / "heard", tail=line)
    with pytest.raises(SystemExit) as ended:
        judged(tmp_path)
    assert ended.value.code == 2
    assert told in capsys.readouterr().err


def test_an_empty_folder_is_told(tmp_path, capsys):
    with pytest.raises(SystemExit):
        offline.main(["kcl-3-daemon", str(tmp_path)])
    assert "no *.jsonl there" in capsys.readouterr().err


def test_the_reference_child_writes_down_what_passes(tmp_path):
    said = "".join(json.dumps(m) + "\n" for by, m in TALK if by == "host" and m and m["action"] != "checkpoint")
    command = [
        sys.executable,
        "-m",
        "impls.references.kcl",
        "child",
        "--profile",
        "kcl3",
        "--record",
        str(tmp_path / "heard"),
    ]
    subprocess.run(command, cwd=ROOT, input=said.encode(), stdout=subprocess.PIPE, timeout=60, check=True)
    (path,) = (tmp_path / "heard").glob("*.jsonl")
    ways = [(by, data is None) for _, by, data in offline.pieces(path)]
    assert ways == [*(("host", False), ("child", False)) * 3, ("host", True)]
    assert judged(tmp_path)[0] == 0
