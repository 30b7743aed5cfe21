"""The wheel: built from a clean folder, installed into an environment of its own, and used from an empty folder."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

import wireproof
from tests.gates import carried_out, expanded

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("specs", "strategies", "suites", "impls", "records", "reports", "campaigns")
BUDGET_S = 5
FIRST_VERDICT_S = 30 + 30
"""Seconds from the command to its verdict: 30 on a machine of one's own, and as much for what else the machine does."""


def copy_of_the_checkout(folder: Path) -> Path:
    """What would be committed, and nothing that was fetched or made beside it."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True,
        check=False,
    )  # fmt: skip
    if listing.returncode:
        pytest.skip("this checkout is no git repository: what belongs to it is not known")
    for name in listing.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    clean = copy_of_the_checkout(folder / "clean")
    told = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], cwd=clean, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands of an environment that holds the wheel, with all protocols, and nothing else."""
    venv = tmp_path_factory.mktemp("installed") / "venv"
    for argv in ([sys.executable, "-m", "venv", venv], [venv / "bin/pip", "install", "-q", f"{wheel}[pulsar]"]):
        subprocess.run(argv, env=clean_environment(), check=True, timeout=600)
    return venv / "bin"


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    folder = tmp_path / "empty"
    folder.mkdir()
    return folder


def clean_environment(**more: str) -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "GITHUB_STEP_SUMMARY")}
    return {**env, **more}


def command(
    installed: Path, folder: Path, *arguments: str, timeout_s: float = 300, **more: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(installed / "wireproof"), *arguments], cwd=folder, env=clean_environment(**more), capture_output=True,
        text=True, timeout=timeout_s, check=False,
    )  # fmt: skip


@contextmanager
def listening(installed: Path, *arguments: str) -> Iterator[str]:
    """A reference as a server; its address."""
    argv = [str(installed / "wireproof"), "reference", *arguments, "--port", "0"]
    with subprocess.Popen(argv, env=clean_environment(), cwd=installed, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().removeprefix("listening on ").strip()
        finally:
            process.terminate()


def judged(folder: Path) -> int:
    summary = json.loads((folder / "results/summary.json").read_text("utf-8"))
    assert summary["verdict"] == "pass", summary["troubles"]
    return sum(row["judged"] > 0 for row in summary["requirements"].values())


def test_everything_has_the_name_of_the_project(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names}
    assert tops == {"wireproof", f"wireproof-{wireproof.__version__}.dist-info"}
    for part in (*PARTS, "conftest.py", "docs/findings.md"):
        assert any(name.startswith(f"wireproof/tree/{part}") for name in names), part
    assert "wireproof/tree/specs/stomp/requirements.toml" in names
    assert "wireproof/tree/suites/stomp/deck-server.json" in names
    assert "wireproof/tree/reports/site/templates/base.html" in names
    assert not [
        name for name in names if name.endswith((".pyc", ".class", ".jar")) or "/." in name or "/tests/" in name
    ]


def test_what_the_wheel_needs_is_what_tox_installs() -> None:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    groups, extras = table["dependency-groups"], table["project"]["optional-dependencies"]
    assert set(groups["judge"]) == {*table["project"]["dependencies"], *extras["pulsar"]}
    assert set(groups["containers"]) == set(extras["containers"])
    assert {*groups["site"], *groups["spark"]} == set(extras["report"])
    assert groups["wheel"] == table["build-system"]["requires"]


def test_the_version_is_that_of_the_wheel_and_of_the_results(wheel: Path, installed: Path, empty: Path) -> None:
    assert wheel.name.startswith(f"wireproof-{wireproof.__version__}-")
    assert command(installed, empty, "--version").stdout.split() == ["wireproof", wireproof.__version__]
    assert '"0.' not in (ROOT / "suites/head.py").read_text("utf-8")


@pytest.mark.parametrize(
    ("scheme", "reference", "floor"),
    [
        ("stomp", ("stomp",), 150),
        ("msgpack-rpc", ("msgpack", "server"), 15),
        ("pulsar", ("pulsar", "broker", "--profile", "seed"), 60),
    ],
)
def test_a_server_gets_its_first_verdict_with_one_command(
    installed: Path, empty: Path, scheme: str, reference: tuple[str, ...], floor: int
) -> None:
    with listening(installed, *reference) as address:
        begun = time.monotonic()
        done = command(installed, empty, f"{scheme}://{address}", f"--budget={BUDGET_S}")
        took = time.monotonic() - begun
    assert done.returncode == 0, done.stdout + done.stderr
    assert judged(empty) >= floor
    assert took < FIRST_VERDICT_S
    assert [path.name for path in empty.iterdir()] == ["results"]


@pytest.mark.parametrize(
    ("role", "reference", "floor"),
    [
        ("kcl-child", "kcl child", 40),
        ("kcl-host", "kcl host", 25),
        ("storm-bolt", "storm bolt", 30),
        ("storm-spout-host", "storm spout-host", 25),
        ("msgpack-codec", "msgpack codec", 8),
        ("stomp-client", "stomp client", 30),
    ],
)
def test_a_program_gets_its_first_verdict_with_one_command(
    installed: Path, empty: Path, role: str, reference: str, floor: int
) -> None:
    begun = time.monotonic()
    done = command(installed, empty, f"{role}:wireproof reference {reference}", f"--budget={BUDGET_S}")
    took = time.monotonic() - begun
    assert done.returncode == 0, done.stdout + done.stderr
    assert judged(empty) >= floor
    assert took < FIRST_VERDICT_S
    assert [path.name for path in empty.iterdir()] == ["results"]


WORKERS = ("stomp", "--role=server", "--profile=1.2", "--budget=2", "-n", "2")


def test_several_workers_find_the_suite_too(installed: Path, empty: Path) -> None:
    done = command(installed, empty, *WORKERS, "--junitxml=out/junit.xml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert judged(empty) > 100
    assert (empty / "out/junit.xml").is_file()
    assert sorted(path.name for path in empty.iterdir()) == ["out", "results"]


def test_a_class_in_the_users_folder_is_judged_in_memory(installed: Path, empty: Path) -> None:
    """Names of ours that stand beside it are the user's own business, and nothing is left there."""
    (empty / "mine.py").write_text(
        "from impls.references.stomp.reference import Server\ndef make():\n    return Server(versions='1.2')\n"
    )
    (empty / "records.py").write_text("raise RuntimeError('this is not the module that is meant')\n")
    (empty / "mine.toml").write_text(
        '[impl]\nname = "mine"\nprotocol = "stomp"\nrole = "server"\n[start]\npython = "mine:make"\n'
    )
    (empty / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    done = command(installed, empty, "mine", "--budget=2", PYTEST_ADDOPTS="--no-such-option")
    assert done.returncode == 0, done.stdout + done.stderr
    assert judged(empty) > 100
    left = {path.name for path in empty.iterdir()}
    assert left == {"mine.py", "records.py", "mine.toml", "pytest.ini", "results"}


def test_what_is_started_does_not_find_our_modules(installed: Path, empty: Path) -> None:
    (empty / "own.py").write_text(
        "import os, sys\nopen('seen', 'w').write(os.environ.get('PYTHONPATH', '') + ' '.join(sys.path))\n"
    )
    (empty / "own.toml").write_text(
        '[impl]\nname = "own"\nprotocol = "kcl"\nrole = "child"\n[start]\ncommand = ["{python}", "own.py"]\n'
    )
    command(installed, empty, "own", "--budget=1")
    assert "wireproof/tree" not in (empty / "seen").read_text()


def test_questions_about_requirements_need_no_implementation(installed: Path, empty: Path) -> None:
    listed = command(installed, empty, "--list-requirements", "stomp")
    assert listed.returncode == 0
    assert "STOMP-1.2-ACK-03" in listed.stdout
    assert "KCL-" not in listed.stdout
    told = command(installed, empty, "--explain", "STOMP-1.2-ACK-03")
    assert told.returncode == 0
    assert re.search(r"^ +specs/stomp/\S+\.py:\d+$", told.stdout, re.MULTILINE)
    assert list(empty.iterdir()) == []


def test_the_reports_find_their_modules_in_the_wheel(installed: Path, empty: Path) -> None:
    if subprocess.run(["java", "-version"], capture_output=True, check=False).returncode:
        pytest.skip("there is no Java")
    pyspark = pytest.importorskip("pyspark")
    libraries = Path(pyspark.__file__).parents[1]
    assert command(installed, empty, "stomp", "--role=server", "--profile=1.2", "--budget=2").returncode == 0
    borrowed = empty / "borrowed"
    borrowed.mkdir()
    for name in ("pyspark", "py4j", "pyarrow", "pyarrow.libs", "jinja2", "markupsafe", "numpy", "numpy.libs", "pandas"):
        if (libraries / name).exists():
            (borrowed / name).symlink_to(libraries / name)
    done = command(
        installed, empty, "report", "ingest", "results", "--warehouse", "warehouse", PYTHONPATH=str(borrowed)
    )  # its work is done by Python processes that Spark starts
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("ingest: ")
    assert (empty / "warehouse").is_dir()
    (empty / "deaf.py").write_text(DEAF, "utf-8")
    (empty / "deaf.toml").write_text(
        '[impl]\nname = "deaf"\nprotocol = "stomp"\nrole = "server"\n[start]\npython = "deaf:Faulty"\n', "utf-8"
    )
    asked = ["campaign", "deaf.toml", "--plans", "120", "--each", "120", "--wide", "1", "--seed", "3"]
    path = os.pathsep.join(map(str, (borrowed, empty)))
    # A Python that another project has set for Spark does not have our modules.
    elsewhere = {"PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable}
    done = command(installed, empty, *asked, "--warehouse", "warehouse", timeout_s=900, **elsewhere)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 waves, 120 plans" in done.stdout
    assert "1 new files" in done.stderr
    assert "NACK" in (empty / "warehouse/progress-campaign.html").read_text("utf-8")
    kept = command(
        installed, empty, "campaign", "corpus", "--warehouse", "warehouse", "--out", "corpus.json", PYTHONPATH=path
    )
    assert kept.returncode == 0, kept.stdout + kept.stderr
    again = command(installed, empty, "deaf.toml", "--corpus=corpus.json", "--budget=5", PYTHONPATH=str(empty))
    assert again.returncode == 1, again.stdout + again.stderr
    assert "programs of the corpus were played" in again.stdout
    assert "STOMP-1.2-NACK-01" in again.stdout


def test_peers_that_the_wheel_does_not_bring_are_told_so(installed: Path, empty: Path) -> None:
    for source in ("peers:tests.soak:server", "faults:tests.mutants.hunted:stomp"):
        done = command(installed, empty, "campaign", source, "--plans", "10", "--warehouse", "w")
        assert done.returncode == 2, done.stdout + done.stderr
        assert "come with a checkout" in done.stderr
        assert "Traceback" not in done.stderr
    assert list(empty.iterdir()) == []


DEAF = """
from impls.references.stomp.reference import Server, Session

class Deaf(Session):
    def on_NACK(self, frame):
        self.fail("NACK is not here", frame)

class Faulty(Server):
    session_type = Deaf
"""


# -- the gates, with the wheel -----------------------------------------------------------------------------------------

MINE = """
from impls.references.stomp.reference import Server, Session

class Forgetful(Session):
    def emit(self, command, headers=(), *more, **named):
        kept = [header for header in headers if (command, header[0]) != ("CONNECTED", "version")]
        return super().emit(command, kept, *more, **named)

class Faulty(Server):
    session_type = Forgetful
"""


@pytest.fixture
def project(empty: Path) -> Path:
    """The folder of somebody's project, with a server that conforms and one that does not."""
    (empty / "mine.py").write_text(MINE)
    for name, made in (("good", "impls.references.stomp.reference:Server"), ("bad", "mine:Faulty")):
        (empty / f"{name}.toml").write_text(
            f'[impl]\nname = "{name}"\nprotocol = "stomp"\nrole = "server"\n[start]\npython = "{made}"\n'
            '[stomp]\nhost = "localhost"\n'
        )
    return empty


def action_step(name: str, values: dict[str, str], **more: str) -> tuple[str, dict[str, str]]:
    """The script of a step of the action, and its environment."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    given = {f"inputs.{key}": str(each.get("default", "")) for key, each in action["inputs"].items()} | values
    (step,) = [step for step in action["runs"]["steps"] if step.get("name") == name]
    return step["run"], clean_environment(**{key: expanded(text, given) for key, text in step["env"].items()}, **more)


@pytest.mark.parametrize(("name", "verdict", "status"), [("good", "pass", 0), ("bad", "fail", 1), ("gone", "error", 4)])
def test_the_action_judges_and_tells_the_verdict(
    installed: Path, project: Path, name: str, verdict: str, status: int
) -> None:
    (project / "temp").mkdir()
    (project / "temp/wireproof").symlink_to(installed.parent)
    output, page = project / "output", project / "page.md"
    script, env = action_step(
        "Judge",
        {"inputs.impl": f"./{name}.toml", "inputs.budget": "2", "inputs.options": "--role=server\n\n--profile=1.2\n",
         "runner.temp": str(project / "temp")},
        GITHUB_OUTPUT=str(output), GITHUB_STEP_SUMMARY=str(page),
    )  # fmt: skip
    done = carried_out(script, project, env)
    assert done.returncode == status, done.stdout + done.stderr
    told = dict(line.split("=", 1) for line in output.read_text().splitlines())
    assert told["verdict"] == verdict
    assert told["summary"]
    if name != "gone":
        assert (project / "results/junit.xml").is_file()
        assert json.loads((project / "results/wireproof.sarif").read_text())["version"] == "2.1.0"
        assert page.read_text()


def test_the_action_takes_another_baseline(installed: Path, project: Path) -> None:
    (project / "temp").mkdir()
    (project / "temp/wireproof").symlink_to(installed.parent)
    known = 'reason = "it says none", issue = "https://tracker.example/1"'
    (project / "known.toml").write_text(
        f'"STOMP-1.2-CONNECTED-01" = {{ {known} }}\n"STOMP-1.2-HDR-01" = {{ {known} }}\n'
    )
    values = {"inputs.impl": "./bad.toml", "inputs.budget": "2", "runner.temp": str(project / "temp")}
    script, env = action_step(
        "Judge", values | {"inputs.baseline": "known.toml"}, GITHUB_OUTPUT=str(project / "output")
    )
    done = carried_out(script, project, env)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_action_and_the_job_install_the_package(wheel: Path, project: Path) -> None:
    """What it needs is left out here: the environment of the other tests has it from an index."""
    python = {"steps.python.outputs.python-path": sys.executable, "github.action_path": str(wheel)}
    script, env = action_step("Install Wireproof", python | {"runner.temp": str(project)}, PIP_NO_DEPS="1")
    done = carried_out(script, project, env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (project / "wireproof/bin/wireproof").is_file()
    job = yaml.safe_load((ROOT / "templates/wireproof.gitlab-ci.yml").read_text("utf-8"))[".wireproof"]
    variables = job["variables"] | {"WIREPROOF_SOURCE": wheel.as_uri(), "WIREPROOF_VENV": str(project / "venv")}
    done = carried_out("\n".join(job["script"][:2]), project, clean_environment(**variables, PIP_NO_DEPS="1"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert (project / "venv/bin/wireproof").is_file()


def test_the_job_of_gitlab_judges(installed: Path, project: Path) -> None:
    job = yaml.safe_load((ROOT / "templates/wireproof.gitlab-ci.yml").read_text("utf-8"))[".wireproof"]
    mine = {"WIREPROOF_IMPL": "./good.toml", "WIREPROOF_BUDGET": "2", "WIREPROOF_VENV": str(installed.parent),
            "WIREPROOF_OPTIONS": "--role=server --profile=1.2"}  # fmt: skip
    done = carried_out(job["script"][2], project, clean_environment(**(job["variables"] | mine)))
    assert done.returncode == 0, done.stdout + done.stderr
    assert judged(project) > 100
    assert (project / "results/junit.xml").is_file()


def test_a_new_manifest_and_its_testee_come_with_the_wheel(installed: Path, empty: Path) -> None:
    done = command(installed, empty, "new", "mine", "--protocol=stomp", "--role=client")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path.name for path in (empty / "testee").iterdir()} == {"kit.py", "testee.py"}
    checked = command(installed, empty, "check", "./mine.toml")
    assert checked.returncode == 1, checked.stdout + checked.stderr
    assert "still to be written in testee.py" in checked.stdout + checked.stderr
    assert "Traceback" not in checked.stdout + checked.stderr
