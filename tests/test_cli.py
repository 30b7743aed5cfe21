"""The command line as a user meets it: what it prints, what it writes, what it answers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from records import reader

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = """
[impl]
name = "{name}"
protocol = "stomp"
role = "server"
[start]
python = "{python}"
"""
FAULTY = """
from impls.references.stomp.reference import Server, Session

class Deaf(Session):
    def on_NACK(self, frame):
        self.fail("NACK is \\x1b[31m not <script>here</script>", frame)

class Raising(Session):
    def on_NACK(self, frame):
        raise RuntimeError("boom \\x1b[31m")

class Faulty(Server):
    session_type = Deaf

class Crashing(Server):
    session_type = Raising
"""


def run(*arguments: str, cwd: Path = ROOT, timeout_s: float = 120) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{cwd}"}
    environment.pop("GITHUB_STEP_SUMMARY", None)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT), *arguments],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=timeout_s, check=False,
    )  # fmt: skip


@pytest.fixture
def faulty(tmp_path: Path):
    (tmp_path / "faulty_server.py").write_text(FAULTY, encoding="utf-8")

    def make(name: str, extra: str = "") -> Path:
        path = tmp_path / f"{name}.toml"
        path.write_text(MANIFEST.format(name=name, python=f"faulty_server:{name}") + extra, encoding="utf-8")
        return path

    return make


def test_the_reference_passes_and_leaves_results(tmp_path):
    found = run(
        "suites/stomp", "--role=server", "--budget=3", f"--results={tmp_path}", f"--junitxml={tmp_path}/j.xml", "-q"
    )
    assert found.returncode == 0, found.stdout[-2000:]
    summary = json.loads((tmp_path / "summary.json").read_text("utf-8"))
    assert summary["verdict"] == "pass"
    assert summary["complete"]
    assert summary["requirements"]["STOMP-1.2-RECEIPT-01"]["judged"] > 0
    cases = {case.get("name") for case in ElementTree.parse(tmp_path / "j.xml").iter("testcase")}
    assert "STOMP-1.2-RECEIPT-01" in {name.split(" ")[0] for name in cases if name}


def test_a_fault_is_blamed_shrunk_replayed_and_accepted(tmp_path, faulty):
    manifest = faulty("Faulty")
    found = run(
        "suites/stomp/test_acknowledging.py",
        f"--impl={manifest}",
        "--budget=6",
        f"--results={tmp_path}/r",
        cwd=tmp_path,
    )
    assert found.returncode == 1, found.stdout[-3000:]
    assert "\x1b" not in found.stdout
    summary = json.loads((tmp_path / "r" / "summary.json").read_text("utf-8"))
    failing = {name for name, row in summary["requirements"].items() if row["verdict"] == "fail"}
    assert "STOMP-1.2-NACK-01" in failing or "STOMP-1.2-NACK-03" in failing, failing
    name = "STOMP-1.2-NACK-01" if "STOMP-1.2-NACK-01" in failing else "STOMP-1.2-NACK-03"
    witness = tmp_path / "r" / summary["requirements"][name]["witness"]
    assert len(json.loads(witness.read_text("utf-8"))["plan"]["steps"]) <= 14
    compile(witness.with_suffix(".py").read_text("ascii"), str(witness), "exec")
    again = run("suites/stomp", f"--impl={manifest}", f"--replay={witness}", cwd=tmp_path)
    assert again.returncode == 1, again.stdout
    assert name in again.stdout


def test_a_server_that_raises_is_a_finding_and_no_traceback(tmp_path, faulty):
    manifest = faulty("Crashing")
    found = run(
        "suites/stomp/test_acknowledging.py",
        f"--impl={manifest}",
        "--budget=4",
        f"--results={tmp_path}/r",
        cwd=tmp_path,
    )
    assert found.returncode == 1
    summary = json.loads((tmp_path / "r" / "summary.json").read_text("utf-8"))
    assert summary["requirements"]["STOMP-1.2-ROB-01"]["verdict"] == "fail"
    assert summary["troubles"] == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--impl=nosuch",), ("nosuch",)),
        (("--budget=soon",), ("--budget soon", "quick, ci, nightly")),
        (("--level=HARD",), ("--level HARD", "MUST, SHOULD")),
        (("--profile=7",), ("--profile 7", "1.2, 1.1, 1.0")),
        (("--baseline=/no/such/file",), ("--baseline",)),
        (("--role=broker",), ("--role broker", "a server of stomp")),
        (("--requirement=STOMP-1.2-ACK-3",), ("--requirement STOMP-1.2-ACK-3", "did you mean STOMP-1.2-ACK-03?")),
        (("--impl=stomp://localhost:1", "--update-baseline"), ("stomp://localhost:1", "no manifest")),
    ],
)
def test_a_mistake_of_the_user_is_one_message_and_status_4(tmp_path, arguments, words):
    found = run("suites/stomp", *arguments, f"--results={tmp_path}")
    assert found.returncode == 4, found.stdout + found.stderr
    for word in words:
        assert word in found.stderr
    assert "Traceback" not in found.stderr


def test_nobody_listens_is_trouble_and_no_verdict(tmp_path):
    manifest = tmp_path / "m.toml"
    manifest.write_text(
        textwrap.dedent(
            """
            [impl]
            name = "nobody"
            protocol = "stomp"
            role = "server"
            [start]
            address = "127.0.0.1:1"
            ready_s = 1
            """
        ),
        encoding="utf-8",
    )
    found = run("suites/stomp", f"--impl={manifest}", "--budget=2", f"--results={tmp_path}/r")
    assert found.returncode == 1
    summary = json.loads((tmp_path / "r" / "summary.json").read_text("utf-8"))
    assert summary["verdict"] == "error"
    assert not any(row["verdict"] == "fail" for row in summary["requirements"].values())
    assert "127.0.0.1:1" in found.stdout


def test_a_killed_run_keeps_its_records_and_is_incomplete(tmp_path):
    argv = [
        sys.executable,
        "-m",
        "pytest",
        "suites/stomp",
        "--role=server",
        "--budget=60",
        f"--results={tmp_path}",
        "-q",
    ]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            files = list((tmp_path / "records").glob("*.jsonl")) if (tmp_path / "records").exists() else []
            if files and b'"kind": "coverage"' in files[0].read_bytes().replace(b'":"', b'": "'):
                break
            time.sleep(0.05)  # the file is the observation
        process.send_signal(signal.SIGKILL)
    found = reader.read(tmp_path)
    rows = found.latest()
    assert any(row.kind == "coverage" for row in rows)
    assert not found.complete(rows[0].run)


def test_records_that_something_removes_are_told_in_one_message(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (tmp_path / "gone.py").write_text(
        "import shutil\nfrom impls.references.stomp.reference import Server\n"
        f"def make():\n    shutil.rmtree({str(out)!r}, ignore_errors=True)\n    return Server()\n",
        encoding="utf-8",
    )
    manifest = tmp_path / "gone.toml"
    manifest.write_text(MANIFEST.format(name="gone", python="gone:make"), encoding="utf-8")
    done = run("suites/stomp", "--impl", str(manifest), "--budget", "2", "--results", str(out), cwd=tmp_path)
    assert done.returncode == 4
    assert "ERROR: --results: the records of this run are gone" in done.stderr + done.stdout
    assert "Traceback" not in done.stderr + done.stdout


def test_a_server_of_another_version_is_told_which_profile_to_claim(tmp_path: Path) -> None:
    (tmp_path / "old_server.py").write_text(
        "from impls.references.stomp.reference import Server\ndef make():\n    return Server(versions='1.1')\n",
        encoding="utf-8",
    )
    manifest = tmp_path / "old.toml"
    manifest.write_text(MANIFEST.format(name="old", python="old_server:make"), encoding="utf-8")
    out = str(tmp_path / "out")
    done = run("suites/stomp", "--impl", str(manifest), "--budget", "2", "--results", out, cwd=tmp_path)
    assert done.returncode == 1
    assert "does not speak 1.2, but 1.1: judge it with --profile=1.1" in " ".join(done.stdout.split())
    told = ("--profile", "1.1", "--requirement", "STOMP-1.2-RECEIPT*")
    done = run("suites/stomp", "--impl", str(manifest), "--budget", "2", *told, "--results", out, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-2000:]


def test_a_program_whose_first_words_are_wrong_is_judged(tmp_path: Path) -> None:
    (tmp_path / "texts.py").write_text(
        textwrap.dedent("""
            from impls.references.storm.child import Bolt
            from impls.references.storm.memory import Children

            class PidText(Bolt):
                def tell_pid(self):
                    self.say({"pid": str(self.pid)})

            def make():
                return Children(PidText)
        """),
        encoding="utf-8",
    )
    manifest = tmp_path / "texts.toml"
    manifest.write_text(
        '[impl]\nname = "texts"\nprotocol = "storm"\nrole = "bolt"\n[start]\npython = "texts:make"\n', encoding="utf-8"
    )
    out = tmp_path / "out"
    done = run("suites/storm", "--impl", str(manifest), "--budget", "2", "--results", str(out), cwd=tmp_path)
    assert done.returncode == 1
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert summary["verdict"] == "fail"
    assert summary["requirements"]["STORM-HS-10"]["verdict"] == "fail"


def test_a_path_of_one_role_judges_no_reference_of_another(tmp_path: Path) -> None:
    """Nobody asked for the client: that nothing of it was judged is no failure."""
    done = run("suites/stomp/test_receipts.py", "--budget=2", f"--results={tmp_path}", "-q")
    assert done.returncode == 0, done.stdout
    assert "reference-client" not in done.stdout
