"""The files of a gate: the action for GitHub and the job for GitLab. What they run is tried in test_wheel.py."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from tests.gates import expanded
from wireproof import gate

ROOT = Path(__file__).resolve().parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())


def test_the_action_uses_what_it_declares_and_declares_what_it_uses():
    text = (ROOT / "action.yml").read_text()
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == ACTION["inputs"].keys()
    ids = {step["id"] for step in ACTION["runs"]["steps"] if "id" in step}
    assert set(re.findall(r"steps\.([\w-]+)\.outputs", text)) == ids
    for each in (*ACTION["inputs"].values(), *ACTION["outputs"].values()):
        assert each["description"]


def test_nothing_that_a_user_gives_is_put_into_a_script():
    """It goes through the environment: a shell would carry out what stands in the text of a script."""
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


def test_the_results_are_uploaded_also_when_something_fails():
    uploads = [step for step in ACTION["runs"]["steps"] if "upload" in step.get("uses", "")]
    assert len(uploads) == 2
    assert all(step["if"].startswith("always()") for step in uploads)
    job = yaml.safe_load((ROOT / "templates/wireproof.gitlab-ci.yml").read_text())[".wireproof"]
    assert job["artifacts"]["when"] == "always"


def test_an_expression_that_is_not_known_is_no_empty_text():
    assert expanded("${{ inputs.a }}/b", {"inputs.a": "x"}) == "x/b"
    with pytest.raises(KeyError):
        expanded("${{ inputs.b }}", {"inputs.a": "x"})


def save(folder: Path, **told: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "summary.json").write_text(json.dumps(told))


def test_the_verdict_of_several_results_is_the_worst_of_them(tmp_path, capsys):
    save(tmp_path / "r/a", verdict="pass", sentence="pass: a")
    save(tmp_path / "r/b", verdict="fail", sentence="fail: 1 MUST requirement fails\nin b")
    assert gate.told(tmp_path / "r") == ("fail", "pass: a; fail: 1 MUST requirement fails in b")
    save(tmp_path / "r/c", verdict="error", sentence="error")
    assert gate.main([str(tmp_path / "r")]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "verdict=error"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"verdict": "green"}'])
def test_a_summary_that_is_none_is_an_error(tmp_path, text):
    (tmp_path / "summary.json").write_text(text)
    assert gate.told(tmp_path)[0] == "error"


def test_no_summary_is_an_error(tmp_path):
    verdict, sentence = gate.told(tmp_path)
    assert verdict == "error"
    assert "nothing was judged" in sentence
