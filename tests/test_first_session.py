"""A program that ends in the first session: a verdict when it lives until it is spoken to, else trouble."""

import sys

import pytest

from impls.launching.manifest import Implementation, Start
from suites.session import RunOptions, Session

READS = "import sys; sys.stdin.readline(); sys.exit(3)"
SETUPS = {"storm": ("bolt", "seed"), "kcl": ("child", "kcl1-seed")}


def session(protocol, code, tmp_path):
    role, profile = SETUPS[protocol]
    start = Start("command", (sys.executable, "-I", "-S", "-c", code))
    impl = Implementation("it", protocol, role, "1", profile, start, {"scripted": True}, {}, None, tmp_path)
    opened = Session(impl, RunOptions(budget_s=1.0), tmp_path, "run")
    opened.open()
    opened.close()
    return opened


@pytest.mark.parametrize("protocol", SETUPS)
def test_one_that_ends_when_it_is_spoken_to_is_judged(protocol, tmp_path):
    assert session(protocol, READS, tmp_path).trouble == ""


@pytest.mark.parametrize("protocol", SETUPS)
@pytest.mark.parametrize("code", ["import sys; sys.exit(3)", "import time; time.sleep(0.2)", "import no_such_module"])
def test_one_that_ends_by_itself_is_trouble(protocol, code, tmp_path):
    assert "closed the connection" in session(protocol, code, tmp_path).trouble


def test_it_is_told_how_the_program_ended_and_what_it_said_last(tmp_path):
    trouble = session(
        "storm", "import sys; sys.stderr.write('first\\nno such\\x1b[2Jmodule\\n'); sys.exit(4)", tmp_path
    ).trouble
    assert trouble.endswith("Its exit status was 4. Its last words: no such\\x1b[2Jmodule")
    assert "first\\n" not in trouble
