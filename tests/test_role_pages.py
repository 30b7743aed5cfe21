"""The pages of docs/roles: each manifest loads as it stands and judges the reference; what a page names exists."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from impls.launching import manifest
from specs import protocol as protocols
from wireproof import new

ROOT = Path(__file__).resolve().parents[1]
ROLES = ROOT / "docs" / "roles"
SHARED = {"storm-profiles"}
"""Pages that several roles share: they have no manifest."""
REFERENCES = {
    "stomp-server": ("impls.references.stomp", "--port", "{port}"),
    "stomp-client": ("impls.references.stomp", "client"),
    "pulsar-broker": ("impls.references.pulsar", "broker", "--port", "{port}", "--profile", "{profile}"),
    "pulsar-client": ("impls.references.pulsar", "client"),
    "storm-bolt": ("impls.references.storm", "bolt", "--profile", "{profile}"),
    "storm-spout": ("impls.references.storm", "spout", "--profile", "{profile}"),
    "storm-bolt-host": ("impls.references.storm", "bolt-host", "--profile", "{profile}"),
    "storm-spout-host": ("impls.references.storm", "spout-host", "--profile", "{profile}"),
    "kcl-child": ("impls.references.kcl", "child", "--profile", "{profile}"),
    "kcl-host": ("impls.references.kcl", "host", "--profile", "{profile}"),
    "msgpack-server": ("impls.references.msgpack", "server", "--port", "{port}"),
    "msgpack-client": ("impls.references.msgpack", "client"),
    "msgpack-codec": ("impls.references.msgpack", "codec"),
    "idl-processor": ("impls.references.msgpack", "idl"),
    "idl-server": ("impls.references.msgpack", "idl-server"),
    "idl-client": ("impls.references.msgpack", "idl-client"),
}
"""How the reference of each page's role is started; it takes the place of the reader's own program."""


REQUIREMENT = re.compile(r"\b(?:STOMP-1\.2|PULSAR|STORM|KCL|MPRPC|MPIDL|MP(?=-[A-Z]))-[A-Z0-9-]*[0-9][a-z]?\b")
READING = re.compile(r"(?<![\w-])(?:E|K|S|P|MP|ML)-[0-9]+\b")


BUDGETS = (2, 8, 60)
"""Seconds: a busy machine may need the larger ones, and a fault shows in each of them."""


def text(page: str) -> str:
    return (ROLES / f"{page}.md").read_text(encoding="utf-8")


def written(page: str) -> str:
    """The manifest of a page: its first block of TOML."""
    found = re.search(r"^```toml\n(.*?)^```$", text(page), re.MULTILINE | re.DOTALL)
    assert found is not None, f"docs/roles/{page}.md has no manifest"
    return found[1]


def claimed(page: str) -> dict[str, str]:
    """The table [impl] of that manifest."""
    return tomllib.loads(written(page))["impl"]


def test_every_role_has_a_page():
    assert {path.stem for path in ROLES.glob("*.md")} - SHARED == set(REFERENCES)
    told = {(claimed(page)["protocol"], claimed(page)["role"]) for page in REFERENCES}
    assert told == {(name, role) for name in protocols.names() for role in protocols.find(name).roles}


@pytest.mark.parametrize("page", REFERENCES)
def test_a_manifest_loads_as_it_stands(page, tmp_path):
    path = tmp_path / "it.toml"
    path.write_text(written(page), encoding="utf-8")
    found = manifest.load(path)
    assert (found.protocol, found.role, found.profile) == tuple(
        claimed(page)[key] for key in ("protocol", "role", "profile")
    )


@pytest.mark.parametrize("page", REFERENCES)
def test_a_manifest_judges_the_reference(page, tmp_path):
    profile = claimed(page)["profile"]
    module, *rest = (part.replace("{profile}", profile) for part in REFERENCES[page])
    start = (
        f"command = {json.dumps(['{python}', '-m', module, *rest])}\nenv = {{ PYTHONPATH = {json.dumps(str(ROOT))} }}"
    )
    told, count = re.subn(r"^command = \[.*\].*$", lambda _: start, written(page), flags=re.MULTILINE)
    assert count == 1
    (tmp_path / "it.toml").write_text(told, encoding="utf-8")
    for budget in BUDGETS:
        verdict, judged, told = judged_by(tmp_path, budget)
        assert verdict in ("pass", "inconclusive", "error"), told
        assert verdict != "error" or "took all the time" in told, told  # on a busy machine; it gets more of it
        if verdict == "pass" and judged >= 10:
            return
    pytest.fail(f"in {BUDGETS[-1]} s too little was judged: {told}")


def judged_by(folder: Path, budget: int) -> tuple[str, int, str]:
    """The verdict of a run on `it.toml` in a folder, how many requirements were judged, and what was printed."""
    results = folder / f"results-{budget}"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", f"--impl={folder / 'it.toml'}", f"--budget={budget}", "--seed=1",
         f"--results={results}"],
        cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    told = done.stdout[-4000:] + done.stderr[-2000:]
    assert (results / "summary.json").exists(), told
    summary = json.loads((results / "summary.json").read_text(encoding="utf-8"))
    return summary["verdict"], sum(found["judged"] > 0 for found in summary["requirements"].values()), told


@pytest.mark.parametrize("page", [*REFERENCES, *SHARED])
def test_a_page_names_requirements_that_bind_its_role(page):
    """Ids in full; a shown failure says statement, level and section as the requirement has them."""
    roles = {claimed(page)["role"]} if page in REFERENCES else {"bolt", "spout", "bolt-host", "spout-host"}
    known = {r.id: r for name in protocols.names() for r in protocols.find(name).requirements.values()}
    named = set(REQUIREMENT.findall(text(page)))
    assert named
    assert {one for one in named if one not in known or not roles & set(known[one].roles)} == set()
    shown = re.findall(r"^FAIL (\S+)  (\w+), section (.*)\n((?:  .*\n)*?)(?=  \S+ +|! )", text(page), re.MULTILINE)
    for one, level, section, _ in shown:
        assert (level, section) == (known[one].level, known[one].section)
        statement = text(page).partition(f"FAIL {one} ")[2].split("\n")[1].strip()
        assert statement == known[one].statement


@pytest.mark.parametrize("page", [*REFERENCES, *SHARED])
def test_a_page_names_files_that_exist(page):
    named = re.findall(r"`(impls/[\w/.-]+)`", text(page))
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", [*REFERENCES, *SHARED])
def test_a_page_names_readings_that_exist(page):
    told = (ROOT / "docs" / "ambiguities.md").read_text(encoding="utf-8")
    assert {one for one in READING.findall(text(page)) if f"- **{one}**" not in told} == set()


@pytest.mark.parametrize("page", REFERENCES)
def test_the_command_of_a_page_writes_a_manifest_for_its_role(page, tmp_path):
    told = re.search(r"^wireproof new (.+)$", text(page), re.MULTILINE)
    assert told is not None, f"docs/roles/{page}.md does not say how a manifest is written"
    assert new.main([*told[1].split(), "--into", str(tmp_path)]) == 0
    found = manifest.load(tmp_path / f"{claimed(page)['name']}.toml")
    assert (found.protocol, found.role) == (claimed(page)["protocol"], claimed(page)["role"])
    assert (tmp_path / "testee" / "testee.py").exists() == ("testee/testee.py" in written(page))
