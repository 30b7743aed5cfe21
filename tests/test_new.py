"""`wireproof new`: what it writes is valid as it stands, and what is still to be written says so."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import yaml

from impls.kits.languages import LANGUAGES
from impls.launching.manifest import load
from specs.protocol import find, names
from wireproof import new

ROOT = Path(__file__).resolve().parent.parent
ROLES = [(name, role) for name in names() for role in find(name).roles]
REACHED = {(name, role) for name, role in ROLES if find(name).wires.get(role, "tcp") == "tcp"}
CHILDREN = {(name, role) for name, role in ROLES if find(name).wires.get(role) == "stdio"}


def written(tmp_path: Path, *arguments: str) -> Path:
    assert new.main(["mine", *arguments, f"--into={tmp_path}"]) == 0
    return tmp_path / "mine.toml"


@pytest.mark.parametrize(("protocol", "role"), ROLES)
def test_every_role_gets_a_manifest_that_can_be_read_and_a_workflow_that_names_it(tmp_path, protocol, role, capsys):
    impl = load(written(tmp_path, f"--protocol={protocol}", f"--role={role}"))
    assert (impl.name, impl.protocol, impl.role) == ("mine", protocol, role)
    assert impl.facts == {
        name: True if name == "scripted" and (protocol, role) in CHILDREN else fact.default
        for name, fact in find(protocol).facts.items()
    }
    steps = yaml.safe_load((tmp_path / ".github/workflows/conformance.yml").read_text())["jobs"]["wireproof"]["steps"]
    (gate,) = [step["with"] for step in steps if "wireproof" in step.get("uses", "")]
    assert gate["impl"] == "./mine.toml"
    assert gate.keys() <= yaml.safe_load((ROOT / "action.yml").read_text())["inputs"].keys()
    assert (gate.get("extras") == "pulsar") == (protocol == "pulsar")
    assert (tmp_path / "testee").is_dir() == ((protocol, role) not in REACHED)
    told = capsys.readouterr().out
    assert "wireproof check ./mine.toml" in told
    assert ("testee/testee.py" in told) == ((protocol, role) not in REACHED)


@pytest.mark.parametrize(("ci", "where"), [("github", ".github/workflows/mine.yml"), ("gitlab", ".gitlab-ci.yml")])
def test_the_workflow_goes_to_the_root_of_the_repository_and_names_the_folder(tmp_path, ci, where):
    """A workflow is looked for in the root only, and its paths begin there."""
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "ours" / "rpc"
    written(folder, "--protocol=msgpack", "--role=client", "--language=go", f"--ci={ci}")
    text = (tmp_path / where).read_text()
    assert "./ours/rpc/mine.toml" in text
    assert "cd ours/rpc/testee && go build" in text
    assert [each.name for each in folder.iterdir() if each.name.startswith(".")] == []


def test_a_repository_with_a_pipeline_of_gitlab_gets_a_file_to_include(tmp_path, capsys):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitlab-ci.yml").write_text("build: {script: [make]}\n")
    written(tmp_path / "rpc", "--protocol=msgpack", "--ci=gitlab")
    assert (tmp_path / ".gitlab-ci.yml").read_text() == "build: {script: [make]}\n"
    job = yaml.safe_load((tmp_path / ".gitlab/mine.yml").read_text())["conformance-mine"]
    assert job["variables"]["WIREPROOF_IMPL"] == "./rpc/mine.toml"
    assert "include: [{local: .gitlab/mine.yml}]" in capsys.readouterr().out
    capsys.readouterr()
    assert new.main(["mine", "--protocol=msgpack", "--ci=gitlab", f"--into={tmp_path / 'rpc'}"]) == new.USAGE
    assert "there already: mine.toml, ../.gitlab/mine.yml" in capsys.readouterr().err


def test_a_second_implementation_of_a_repository_gets_a_workflow_of_its_own(tmp_path):
    (tmp_path / ".github/workflows").mkdir(parents=True)
    (tmp_path / ".github/workflows/conformance.yml").write_text("name: conformance\n")
    written(tmp_path, "--protocol=msgpack")
    assert "./mine.toml" in (tmp_path / ".github/workflows/mine.yml").read_text()


@pytest.mark.parametrize("commented", ["command", "address", "image"])
def test_what_is_commented_out_is_right_as_well(tmp_path, commented):
    manifest = written(tmp_path, "--protocol=stomp", "--ci=none")
    lines = manifest.read_text().splitlines()
    ways = [n for n, line in enumerate(lines) if line.removeprefix("# ").startswith(("command", "address", "image"))]
    for n in ways:
        plain = lines[n].removeprefix("# ")
        lines[n] = plain if plain.startswith(commented) else f"# {plain}"
    for n, line in enumerate(lines):
        if line.startswith(("# login", "# passcode", "# host", "# queue", "# topic", "# version", "# ready_s")) or (
            line.startswith("# port") and commented == "image"
        ):
            lines[n] = line.removeprefix("# ")
    manifest.write_text("\n".join(lines))
    assert load(manifest).start.kind == commented


def argv(folder: Path) -> list[str]:
    value = load(folder / "mine.toml").start.value
    assert isinstance(value, tuple)
    return [part.replace("{python}", sys.executable) for part in value]


@pytest.mark.parametrize(("protocol", "role"), sorted(CHILDREN))
def test_a_child_in_python_says_what_is_still_to_be_written(tmp_path, protocol, role):
    written(tmp_path, f"--protocol={protocol}", f"--role={role}")
    done = subprocess.run(argv(tmp_path), cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert "still to be written in testee.py" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(("protocol", "role"), [each for each in ROLES if each not in REACHED | CHILDREN])
def test_a_testee_in_python_answers_each_op_by_what_is_still_to_be_written(tmp_path, protocol, role):
    written(tmp_path, f"--protocol={protocol}", f"--role={role}")
    ops = re.findall(r'^    "(\w+)": \w+,$', (tmp_path / "testee/testee.py").read_text(), re.MULTILINE)
    said = [json.dumps({"id": n, "op": op}) for n, op in enumerate(ops)] if role != "codec" else ["05"]
    assert said
    with subprocess.Popen(
        argv(tmp_path), cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        watch = threading.Timer(60, process.kill)
        watch.start()
        for line in said:
            process.stdin.write(line + "\n")
            process.stdin.flush()
            assert "still to be written in testee.py" in process.stdout.readline(), line
        process.stdin.close()
        assert process.wait() == 0
        watch.cancel()


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
@pytest.mark.parametrize(("protocol", "role"), [("storm", "bolt"), ("storm", "spout"), ("kcl", "child")])
def test_the_kit_is_there_where_there_is_no_template(tmp_path, language, protocol, role, capsys):
    """What a library calls has a template in Python alone: in other languages that is an example."""
    assert (
        new.main(["x", f"--protocol={protocol}", f"--role={role}", f"--language={language.name}", f"--into={tmp_path}"])
        == 0
    )
    there = {path.name for path in (tmp_path / "testee").iterdir()}
    example = {"testee.py.example"} if language.name != "python" else {language.file}
    assert there == {language.kit, *language.others, *example}
    told = capsys.readouterr().out
    assert f"testee/{language.file}" in told
    assert ("there is no template" in told) is (language.name != "python")


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_every_kit_can_be_had(tmp_path, language):
    manifest = written(tmp_path, "--protocol=stomp", "--role=client", f"--language={language.name}", "--ci=gitlab")
    left = {path.name for path in (tmp_path / "testee").iterdir()}
    assert left == {language.kit, language.file, *language.others}
    words = [word for word in load(manifest).start.value if word != "{python}"]
    for name in (language.file, "./testee", "classes"):
        assert not (name in language.run and name in words), "it would be looked for beside the manifest"
    job = yaml.safe_load((tmp_path / ".gitlab-ci.yml").read_text())["conformance"]
    template = yaml.safe_load((ROOT / "templates/wireproof.gitlab-ci.yml").read_text())[".wireproof"]
    assert job["variables"].keys() <= template["variables"].keys()
    assert bool(language.build) == any("cd testee" in line for line in job.get("before_script", ()))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("a/b", "--protocol=stomp"), ("'a/b'", "name of a file")),
        (("x", "--protocol=stomp", "--role=broker"), ("--role broker", "server, client")),
        (("x", "--protocol=stomp", "--profile=9"), ("--profile 9", "1.2, 1.1, 1.0")),
        (("x", "--protocol=stomp", "--role=client", "--language=cobol"), ("--language cobol", "python")),
        (("x", "--protocol=stomp", "--role=client", "--address=h:1"), ("--address", "leave it out")),
    ],
)
def test_a_mistake_is_one_line_that_says_what_to_write(tmp_path, arguments, words, capsys):
    assert new.main([*arguments, f"--into={tmp_path}"]) == 4
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    for word in words:
        assert word in told
    assert list(tmp_path.iterdir()) == []


def test_nothing_that_is_there_is_written_over(tmp_path, capsys):
    (tmp_path / "mine.toml").write_text("dear to me")
    assert new.main(["mine", "--protocol=stomp", f"--into={tmp_path}"]) == 4
    assert "mine.toml" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.toml"]
    assert (tmp_path / "mine.toml").read_text() == "dear to me"
