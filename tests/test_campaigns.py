"""Campaigns: what is new, how programs are bred, what a task answers, and what a job on Spark leaves behind."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from random import Random

import pytest

from campaigns.__main__ import main
from campaigns.breeding import MOST, bred
from campaigns.found import Known, Order, program_of, written
from campaigns.novelty import features, watching
from campaigns.sources import check
from campaigns.work import work
from reports.campaigns import Campaign, Estimate, Sight, Told, Wave, estimate
from reports.site import write
from reports.site.campaigns import curve, left
from reports.spark.session import ROOT, missing
from reports.tables import Report
from specs.model import Judgement
from specs.protocol import find
from strategies.common import Op, Program

PEERS = "peers:tests.faulty_peers:server"
ORDER = Order("nightly", 1, 8, PEERS, 7, 75, 600.0)
LONG = Program((1, 2), tuple(Op("send", (n, 0, 0, 0, 0)) for n in range(40)))
SHORT = Program((0, 0), (Op("ack"),))


# -- programs ---------------------------------------------------------------------------------------------------------


def test_a_program_comes_back_from_its_text():
    assert program_of(written(LONG)) == LONG
    with pytest.raises(ValueError, match="not enough"):
        program_of("[[]]")


def test_bred_programs_are_made_of_their_parents_and_not_endless():
    kinds = {op.kind for parent in (LONG, SHORT) for op in parent.ops}
    made = [bred((LONG, SHORT), Random(n)) for n in range(300)]
    assert all(0 < len(program.ops) <= MOST for program in made)
    assert {op.kind for program in made for op in program.ops} == kinds
    assert len({written(program) for program in made}) > 200
    assert made == [bred((LONG, SHORT), Random(n)) for n in range(300)]


def test_one_op_that_cannot_be_left_out_is_kept():
    assert all(bred((SHORT,), Random(n)).ops for n in range(200))


# -- what is new ------------------------------------------------------------------------------------------------------


def test_features_tell_the_order_of_cells_and_machines_are_let_go():
    machines = find("msgpack").machines
    name, machine = next(iter(machines.items()))
    (first, one, _), (second, two, _) = list(machine.cells())[:2]
    with watching(machines) as trails:
        machine.asked.add((first, one))
        machine.asked.add((first, one))
        machine.asked.add((second, two))
        shown = features(Judgement("pass"), trails)
    assert f"then {name} {first.name} {one} > {second.name} {two}" in shown
    assert f"cell {name} {first.name} {one}" in shown
    assert not any(f"{one} > {first.name} {one}" in each for each in shown)
    assert all(machine.asked is None for machine in machines.values())


# -- a task -----------------------------------------------------------------------------------------------------------


def test_a_task_answers_the_same_when_it_is_done_again():
    once = list(work(ORDER, Known()))
    assert once == list(work(ORDER, Known()))
    assert once != list(work(replace(ORDER, seed=8), Known()))


def test_a_task_tells_what_it_played_and_finds_the_fault_of_its_faulty_peers():
    rows = list(work(replace(ORDER, seed=4), Known()))
    (task,) = [row for row in rows if row.kind == "task"]
    assert task.times == 75
    assert sum(row.times for row in rows if row.kind == "property") == 75
    assert sum(row.conversations for row in rows if row.kind == "verdict") == 75
    faults = {row.name for row in rows if row.kind == "fault"}
    assert "MPRPC-RESP-03a" in faults
    shown = next(row for row in rows if row.kind == "fault" and row.name == "MPRPC-RESP-03a")
    assert program_of(shown.program).ops
    assert shown.key
    assert shown.level == "MUST"
    assert "MPRPC-RESP-03a" in {row.name for row in rows if row.kind == "judged"}


def test_correct_peers_show_no_fault():
    rows = list(work(replace(ORDER, source="peers:tests.soak_msgpack:server"), Known()))
    assert not [row for row in rows if row.kind == "fault"]
    assert [row.name for row in rows if row.kind == "verdict"] == ["pass"]


def test_only_shorter_programs_are_told_of_what_is_known():
    rows = list(work(ORDER, Known()))
    sizes = {row.name: row.size for row in rows if row.kind == "feature"}
    again = list(work(ORDER, Known(sizes=sizes)))
    assert all(row.program for row in rows if row.kind == "feature")
    assert not any(row.program for row in again if row.kind == "feature")


def test_programs_are_bred_where_some_are_known():
    once = list(work(ORDER, Known()))
    parents = {row.key: (program_of(row.program),) for row in once if row.kind == "feature"}
    known = Known(programs=parents)
    assert list(work(replace(ORDER, fresh=1.0), known)) == list(work(replace(ORDER, fresh=1.0), Known()))
    assert list(work(replace(ORDER, fresh=0.0), known)) != list(work(replace(ORDER, fresh=0.0), Known()))


def test_a_task_that_takes_too_long_is_given_up_and_says_so():
    (task,) = [row for row in work(replace(ORDER, plans=10**9, seconds=0.3), Known()) if row.kind == "task"]
    assert 0 < task.times < 10**9
    assert "were over" in task.why


# -- how much is left -------------------------------------------------------------------------------------------------


def test_the_estimate_is_that_of_good_turing_and_chao():
    assert estimate([1, 1, 1, 1, 2, 2, 9, 0], 100) == Estimate(
        seen=7, looks=100, once=4, twice=2, chance=0.04, unseen=4.0
    )
    assert estimate([1, 1, 1], 10).unseen == 3.0
    assert estimate([5, 7], 1000).chance == 0.0
    assert estimate([], 0).chance == 1.0


def test_the_estimate_comes_near_the_truth():
    """Of 400 things with unequal chances to be seen, it is closer to the number than what was seen."""
    chance = Random(3)
    weights = [1 / (n + 1) for n in range(400)]
    seen = chance.choices(range(400), weights, k=1500)
    found = estimate([seen.count(n) for n in set(seen)], len(seen))
    assert found.seen < found.seen + found.unseen < 440
    assert abs(400 - found.seen - found.unseen) < abs(400 - found.seen)


# -- the command ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["nosuch", "--plans", "3"], "nosuch"),
        (["peers:tests.soak:nobody", "--plans", "3"], "server"),
        (["peers:tests.nothing:server", "--plans", "3"], "peers:MODULE:ROLE"),
        (["faults:tests.mutants.hunted:nothing-is-called-so"], "no seeded fault"),
        (["coilmq"], "--plans"),
        (["reference", "--plans", "3"], "name one"),
    ],
)
def test_what_cannot_be_judged_is_said_in_one_line(arguments, word, capsys, tmp_path):
    assert main([*arguments, "--warehouse", str(tmp_path / "w")]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert word in told
    assert not (tmp_path / "w").exists()


def test_sources_that_are_there_are_taken():
    assert check(PEERS) == ""
    assert check("coilmq") == ""
    assert check("faults:tests.mutants.hunted:MPRPC-RESP-03a") == ""


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    """What one campaign, and one over seeded faults, have left."""
    why = missing()
    if why and os.environ.get("REQUIRE_JAVA") != "1":
        pytest.skip(why)
    root = tmp_path_factory.mktemp("campaign") / "warehouse"
    command = [sys.executable, "-m", "reports", "campaign"]
    played = [PEERS, "--plans", "160", "--each", "20", "--wide", "4", "--name", "peers", "--warehouse", str(root)]
    first = subprocess.run([*command, *played], cwd=ROOT, capture_output=True, text=True, check=False)
    longer = [*played[:2], "240", *played[3:]]
    second = subprocess.run([*command, *longer], cwd=ROOT, capture_output=True, text=True, check=False)
    faults = ["faults:tests.mutants.hunted:MPRPC-RESP-03a", "--each", "2", "--wide", "2", "--seconds", "10"]
    third = subprocess.run(
        [*command, *faults, "--name", "mutation", "--warehouse", str(root)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return root, first, second, third


def test_a_campaign_goes_on_where_it_stopped(warehouse):
    _, first, second, _ = warehouse
    assert first.returncode == 1, first.stderr
    assert "2 waves, 160 plans" in first.stdout
    assert "3 waves, 240 plans" in second.stdout
    assert "wave 3" in second.stderr
    assert "wave 2:" not in second.stderr


def test_another_seed_under_the_same_name_is_refused(warehouse, capsys):
    root, *_ = warehouse
    again = [PEERS, "--plans", "160", "--each", "20", "--wide", "4", "--name", "peers", "--seed", "9"]
    done = subprocess.run(
        [sys.executable, "-m", "campaigns", *again, "--warehouse", str(root)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "another --name" in done.stderr


def test_the_site_tells_campaigns(warehouse, tmp_path):
    root, _, _, third = warehouse
    assert third.returncode == 0, third.stderr
    done = subprocess.run(
        [sys.executable, "-m", "reports", "build", "--warehouse", str(root), "--out", str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "campaigns" / "peers.html").read_text("utf-8")
    assert "MPRPC-RESP-03a" in page
    assert "240 conversations" in page
    assert "peers" in (tmp_path / "campaigns.html").read_text("utf-8")
    assert "seeded faults were named" in (tmp_path / "campaigns" / "mutation.html").read_text("utf-8")


# -- pages ------------------------------------------------------------------------------------------------------------


def told(**more):
    campaign = Campaign(
        campaign="<b>week", at="2026-11-24T09:00:00+00:00", sources=("x",), seed=1, plans=10, each=5, wide=1, fresh=0.5,
        suite_version="0.1.0", digest="",
    )  # fmt: skip
    return Told(campaign=campaign, plans=10, conversations=10, inconclusive=0, **more)


def test_what_an_implementation_says_is_escaped(tmp_path):
    sight = Sight(
        source="x", requirement="STOMP-1.2-ACK-01", level="MUST", fingerprint="f", why="<script>alert(1)</script>",
        conversations=3, verdict="fail", document="",
    )  # fmt: skip
    write(
        Report(built="", suite_version="", total_runs=0, incomplete_runs=0, campaigns=(told(sights=(sight,)),)),
        tmp_path,
    )
    pages = list((tmp_path / "campaigns").glob("*.html"))
    assert len(pages) == 1
    text = pages[0].read_text("utf-8")
    assert "<script>alert" not in text
    assert "<b>week" not in text
    assert "&lt;script&gt;" in text


def test_a_report_without_campaigns_has_no_page_of_them(tmp_path):
    write(Report(built="", suite_version="", total_runs=0, incomplete_runs=0), tmp_path)
    assert not (tmp_path / "campaigns.html").exists()


def test_a_curve_rises_from_nothing_to_the_most_that_was_seen():
    waves = [Wave(source="x", wave=n, plans=100 * n, judged=4, features=50 * n, faults=0) for n in (1, 2)]
    drawn = {name: (points, most) for name, points, most in curve("x", waves).lines}
    assert drawn["features"] == ("52.0,150.0 400.0,81.0 748.0,12.0", 100)
    assert drawn["faults"][1] == 0


def test_an_estimate_is_told_with_its_chance():
    assert "less than 1 in a million" in left(estimate([4, 5], 10_000_000))
    assert "about 0.5" in left(estimate([1], 2))
