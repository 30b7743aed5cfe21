"""A program that ends in the first session: a verdict when it lives until it is spoken to, else trouble."""

import sys

import pytest

from impls.launching.manifest import Implementation, Start
from records.reader import read
from records.rows import TroubleRow
from suites.session import RunOptions, Session

READS = "import sys; sys.stdin.readline(); sys.exit(3)"
SETUPS = {"storm": ("bolt", "seed"), "kcl": ("child", "kcl1-seed")}


def session(protocol, code, tmp_path, *, hunts=False):
    role, profile = SETUPS[protocol]
    start = Start("command", (sys.executable, "-I", "-S", "-c", code))
    impl = Implementation("it", protocol, role, "1", profile, start, {"scripted": True}, {}, None, tmp_path)
    opened = Session(impl, RunOptions(budget_s=1.0), tmp_path, "run")
    opened.open()
    if hunts:
        opened.hunt([], 0.0, lambda hunter: None)
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


READS_ON = "import sys, os\nfor line in sys.stdin: "
DUMB = {
    "everything stays in a buffer": READS_ON + 'sys.stdout.write(\'\\n{"action":"status","responseFor":"x"}\\n\')',
    "lines are not ended": READS_ON + "sys.stdout.write('{}'); sys.stdout.flush()",
}


@pytest.mark.parametrize("code", DUMB.values(), ids=DUMB)
def test_one_that_says_nothing_that_can_be_read_is_judged_and_no_pass_if_nothing_comes_of_it(code, tmp_path):
    opened = session("kcl", code, tmp_path, hunts=True)
    assert (opened.trouble, opened.dumb) == ("", True)
    assert [row for row in read(tmp_path).rows if isinstance(row, TroubleRow)]


@pytest.mark.parametrize("code", [READS_ON + "pass", "import time; time.sleep(60)"])
def test_one_that_shows_nothing_at_all_is_trouble(code, tmp_path):
    opened = session("kcl", code, tmp_path)
    assert opened.trouble
    assert not opened.dumb


def test_one_that_starts_slowly_is_not_taken_for_dumb(tmp_path):
    answer = 'print(\'\\n{"action":"status","responseFor":"initialize"}\', flush=True)'
    opened = session("kcl", f"import sys, time; time.sleep(1.2)\nfor line in sys.stdin: {answer}", tmp_path)
    assert not opened.dumb


OPENS = (
    'import sys\nsys.stdin.readline()\nprint(\'{"action":"status","responseFor":"initialize"}\', flush=True)\n'
    "sys.stdin.readline()\n"
)


@pytest.mark.parametrize("then", ["sys.exit(1)", "sys.stdin.read()"], ids=["it ends", "it says nothing more"])
def test_one_that_fails_behind_a_right_answer_is_judged_and_not_told_to_be_of_another_profile(then, tmp_path):
    assert session("kcl", OPENS + then, tmp_path).trouble == ""
