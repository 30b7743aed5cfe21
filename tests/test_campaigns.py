"""Campaigns: what is new, how programs are bred, what a task answers, and what a job on Spark leaves behind."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from datetime import date
from io import StringIO
from random import Random
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from campaigns.__main__ import main
from campaigns.breeding import MOST, bred
from campaigns.found import Known, Order, program_of, written
from campaigns.novelty import features, watching
from campaigns.scoring import names
from campaigns.sources import check
from campaigns.work import work
from records import reader
from reports.__main__ import main as reports
from reports.campaigns import Campaign, Estimate, Sight, Told, Wave, estimate
from reports.site import write
from reports.site.campaigns import curve, left, unfinished
from reports.spark.campaigns import campaigns
from reports.spark.warehouse import Warehouse
from reports.summary import fold
from reports.tables import Report
from specs.model import Judgement
from specs.protocol import find
from strategies.common import Op, Program
from tests.sparking import commands_use

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


def test_an_exception_of_a_peer_or_of_our_own_side_is_an_alarm_and_the_task_goes_on():
    rows = list(work(replace(ORDER, source="peers:tests.crashing_peers:server", plans=150), Known()))
    alarms = {(row.name, row.about): row for row in rows if row.kind == "alarm"}
    crash = alarms["crash", "RecursionError"]
    assert "deep" in crash.why
    assert program_of(crash.program)
    raised = next(row for (name, _), row in alarms.items() if name == "raised")
    assert "AttributeError" in raised.about
    assert "unspeakable" in raised.why
    assert not [row for row in rows if row.kind == "fault"]
    verdicts = {row.name: row.conversations for row in rows if row.kind == "verdict"}
    assert verdicts["error"] == sum(row.conversations for row in alarms.values())
    assert verdicts["pass"] >= 50
    assert sum(verdicts.values()) == 150


def test_what_the_specification_has_no_answer_to_is_an_alarm(monkeypatch):
    hole = Judgement("error", why="no rule for Said(at=17, by='server')")
    monkeypatch.setattr("campaigns.sources.drive", lambda *_: SimpleNamespace(judgement=hole))
    rows = list(work(replace(ORDER, plans=3), Known()))
    (alarm,) = [row for row in rows if row.kind == "alarm"]
    assert (alarm.name, alarm.about) == ("hole", "no rule for Said(at=n, by='server')")
    assert alarm.conversations == 3


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


# -- the job, on Spark ------------------------------------------------------------------------------------------------


def test_every_seeded_fault_is_hunted_once():
    pytest.importorskip("pyspark")
    from campaigns import job  # noqa: PLC0415
    from campaigns.standing import Standing  # noqa: PLC0415

    source = "faults:tests.mutants.hunted:MPRPC-RESP-*"
    campaign = job.new("m", (source,), seed=1, plans=0, each=2, wide=3, fresh=0.5)
    standing, hunted = Standing(campaign), []
    while orders := job._orders(standing, job.Wanted(campaign)):
        hunted += [name for order in orders for name in names(source)[order.first : order.first + order.plans]]
        standing.tasks[source] += len(orders)
        standing.wave += 1
    assert hunted == names(source)
    assert len(hunted) > 6


class Said(NamedTuple):
    """What a command answered."""

    status: int
    out: str
    err: str


def commanded(spark, *arguments: object) -> Said:
    """`python -m reports` with these arguments, in this process."""
    out, err = StringIO(), StringIO()
    with commands_use(spark), redirect_stdout(out), redirect_stderr(err), pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "argv", ["reports", *map(str, arguments)])
        try:
            status = reports()
        except SystemExit as error:
            status = int(error.code or 0)
    return Said(status, out.getvalue(), err.getvalue())


PLAYED = ["campaign", PEERS, "--seed", 2, "--each", 15, "--wide", 2, "--name", "peers"]


@pytest.fixture(scope="module")
def house(spark, tmp_path_factory):
    """What one campaign, and one over seeded faults, have left."""
    root = tmp_path_factory.mktemp("campaign") / "warehouse"
    first = commanded(spark, *PLAYED, "--plans", 30, "--warehouse", root)
    half = (root / "progress-peers.html").read_text("utf-8")
    longer = commanded(spark, *PLAYED, "--plans", 60, "--warehouse", root)
    faults = ["faults:tests.mutants.hunted:error-false", "--each", 1, "--wide", 1, "--seconds", 10]
    scored = commanded(spark, "campaign", *faults, "--name", "mutation", "--warehouse", root)
    manifest = root.parent / "deaf.toml"
    manifest.write_text(MANIFEST, encoding="utf-8")
    deaf = commanded(
        spark, "campaign", manifest, "--seed", 3, "--plans", 120, "--each", 120, "--wide", 1, "--name", "deaf",
        "--warehouse", root,
    )  # fmt: skip
    return SimpleNamespace(root=root, deaf=deaf, half=half, first=first, longer=longer, scored=scored)


MANIFEST = """
[impl]
name = "deaf"
protocol = "stomp"
role = "server"
[start]
python = "tests.faulty_peers:Faulty"
"""


def test_a_campaign_goes_on_where_it_stopped(house):
    assert house.first.status == 1, house.first.err
    assert "1 waves, 30 plans" in house.first.out
    assert "2 waves, 60 plans" in house.longer.out
    assert "wave 2" in house.longer.err
    assert "wave 1:" not in house.longer.err


def test_a_page_in_the_warehouse_tells_how_far_it_has_come(house):
    page = (house.root / "progress-peers.html").read_text("utf-8")
    assert "all was played that was asked for" in house.half
    assert "of 30 plans" in house.half
    assert "of 60 plans" in page
    assert "MPRPC-RESP-03a" in page
    assert 'http-equiv="refresh"' not in page
    assert " killed" in (house.root / "progress-mutation.html").read_text("utf-8")


def test_the_driver_knows_the_same_from_the_warehouse_as_wave_by_wave(spark, house):
    from campaigns.standing import read  # noqa: PLC0415

    warehouse = Warehouse(spark, str(house.root))
    (row,) = warehouse.batches("campaigns").where("campaign = 'peers'").drop("batch").collect()
    standing = read(warehouse, Campaign(**{**row.asDict(), "sources": tuple(row.sources)}))
    assert (standing.wave, standing.ended, standing.plans, standing.failing()) == (2, 2, 60, 1)
    assert standing.told() in house.longer.err
    first, second = standing.waves()
    assert (first.plans, second.plans) == (30, 60)
    assert 0 < first.features < second.features
    assert first.at <= second.at
    assert not standing.waiting()
    assert standing.known(PEERS).aside == {about for _, about in standing.faults}
    told = next(one for one in campaigns(warehouse) if one.campaign.campaign == "peers")
    assert told.waves == standing.waves()
    assert told.ended >= second.at
    assert told.why == "all was played that was asked for"


def test_while_it_goes_on_the_page_says_so_and_is_loaded_again(tmp_path):
    from campaigns import job, progress  # noqa: PLC0415
    from campaigns.standing import Standing  # noqa: PLC0415

    standing = Standing(job.new("<i>x", (PEERS,), seed=1, plans=100, each=75, wide=1, fresh=0.5))
    standing.take(work(replace(ORDER, seed=4), Known()))
    standing.take(work(replace(ORDER, source="peers:tests.crashing_peers:server", plans=60), Known()))
    path = progress.write(tmp_path, standing, wanted=200, seconds=90.0)
    page = path.read_text("utf-8")
    assert "is running" in page
    assert 'http-equiv="refresh"' in page
    assert "not yet" in page
    assert "RecursionError" in page
    assert "<i>x" not in page
    assert list(tmp_path.iterdir()) == [path]


def test_what_was_confirmed_is_a_partial_run_of_the_report(spark, house, tmp_path):
    from campaigns import runs  # noqa: PLC0415
    from campaigns.sources import implementations  # noqa: PLC0415
    from campaigns.standing import read  # noqa: PLC0415

    (results,) = (house.root / "results").iterdir()
    found = reader.read(results)
    assert not found.aside
    summary = fold(found.rows, {}, False, date(2026, 1, 1))
    assert summary.complete
    assert summary.run.partial
    assert summary.plans == 120
    assert "STOMP-1.2-NACK-01" in {one.id for one in summary.standing("failed")}
    assert len(summary.standing("passed")) > 50
    faults = [row for row in found.rows if row.kind == "fault"]
    assert len({row.fingerprint for row in faults}) == len(faults)
    assert all((results / row.trace).is_file() for row in faults)
    warehouse = Warehouse(spark, str(house.root))
    (told,) = warehouse.newest("runs").collect()
    assert told.run == results.name
    # A campaign that went on tells a run of what it has played since, and that alone.
    campaign = next(one.campaign for one in campaigns(warehouse) if one.campaign.campaign == "deaf")
    standing = read(warehouse, campaign)
    assert standing.ended == standing.wave == 1
    source, later = campaign.sources[0], f"{results.name[:-8]}"
    sums = runs.Sums({"p": 9}, {"STOMP-1.2-ACK-01": (3, 4)}, {}, {"inconclusive": 2})
    standing.wave = 2
    assert runs.run_of(standing, source) != results.name
    assert runs.run_of(standing, source).startswith(later)
    runs.write(tmp_path, standing, source, implementations(source)[0], sums)
    summary = fold(reader.read(tmp_path).rows, {}, False, date(2026, 1, 1))
    assert summary.plans == 9
    assert [one.id for one in summary.standing("passed")] == ["STOMP-1.2-ACK-01"]
    assert not summary.standing("failed")


def test_another_seed_under_the_same_name_is_refused(spark, house):
    done = commanded(spark, *PLAYED, "--plans", 30, "--seed", 9, "--warehouse", house.root)
    assert done.status == 2
    assert "another --name" in done.err


def test_the_site_tells_campaigns(spark, house, tmp_path):
    assert house.scored.status == 0, house.scored.err
    done = commanded(spark, "build", "--warehouse", house.root, "--out", tmp_path)
    assert done.status == 0, done.err
    page = (tmp_path / "campaigns" / "peers.html").read_text("utf-8")
    assert "MPRPC-RESP-03a" in page
    assert "60 conversations" in page
    assert "It ended at " in page
    assert "Incomplete" not in page
    assert "peers" in (tmp_path / "campaigns.html").read_text("utf-8")
    assert house.deaf.status == 1, house.deaf.err
    assert "1 runs" in house.deaf.err
    (mine,) = (tmp_path / "implementations").glob("*.html")
    told = mine.read_text("utf-8")
    assert "Found by campaigns" in told
    assert "../campaigns/deaf.html" in told
    assert "partial" in told
    assert "STOMP-1.2-NACK-01" in told.partition("Found by campaigns")[2].partition("</table>")[0]
    failures = [path.read_text("utf-8") for path in (tmp_path / "failures").glob("*.html")]
    assert any("STOMP-1.2-NACK-01" in text and "NACK is not here" in text for text in failures)
    page = (tmp_path / "campaigns" / "deaf.html").read_text("utf-8")
    assert f"../implementations/{mine.name}" in page
    assert "--&gt; NACK" in page
    assert "seeded faults were named" in (tmp_path / "campaigns" / "mutation.html").read_text("utf-8")


# -- the corpus -------------------------------------------------------------------------------------------------------


def test_the_corpus_holds_of_each_feature_the_shortest_program(spark, house, tmp_path):
    path = tmp_path / "corpus.json"
    done = commanded(spark, "campaign", "corpus", "--warehouse", house.root, "--out", path, "--protocol", "msgpack")
    assert done.status == 0, done.err
    told = json.loads(path.read_text("utf-8"))
    (role,) = told["roles"]
    assert (role["protocol"], role["role"]) == ("msgpack", "server")
    shown = [name for one in role["programs"] for name in one["shows"]]
    assert len(shown) == len(set(shown)) > 20
    assert f"{len(role['programs'])} programs, the shortest for {len(shown)} features" in done.out
    counts = [len(one["shows"]) for one in role["programs"]]
    assert counts == sorted(counts, reverse=True)
    warehouse = Warehouse(spark, str(house.root))
    found = warehouse.batches("found").where("kind = 'feature' and program <> '' and protocol = 'msgpack'")
    found = found.collect()
    least = {row.name: min(other.size for other in found if other.name == row.name) for row in found}
    assert {name: len(one["program"][1]) for one in role["programs"] for name in one["shows"]} == least


def test_a_corpus_of_what_no_campaign_has_kept_is_not_written(spark, house, tmp_path):
    path = tmp_path / "corpus.json"
    asked = ["campaign", "corpus", "--warehouse", house.root, "--out", path]
    assert commanded(spark, *asked, "--role", "client").status == 2
    assert commanded(spark, *asked[:3], tmp_path / "nothing", *asked[4:]).status == 2
    assert not path.exists()


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


def test_a_campaign_that_has_not_ended_is_called_incomplete(tmp_path):
    wave = Wave(source="x", wave=1, plans=10, judged=1, features=1, faults=0, at="2026-11-24T09:00:00+00:00")
    some = Wave(source="x", wave=1, plans=9, judged=1, features=1, faults=0)
    assert "began at 2026-11-24 09:00" in unfinished(told(waves=(wave,)))
    assert "it runs" in unfinished(told(waves=(some,))).lower()
    assert not unfinished(told(waves=(wave,), ended="2026-11-24T10:00:00+00:00", why="its time was up"))
    assert not unfinished(told(waves=(replace(wave, at=""),)))
    report = Report(built="", suite_version="", total_runs=0, incomplete_runs=0, campaigns=(told(waves=(wave,)),))
    write(report, tmp_path)
    assert "Incomplete." in next((tmp_path / "campaigns").glob("*.html")).read_text("utf-8")
    assert "incomplete</span>" in (tmp_path / "campaigns.html").read_text("utf-8")


def test_a_curve_rises_from_nothing_to_the_most_that_was_seen():
    waves = [Wave(source="x", wave=n, plans=100 * n, judged=4, features=50 * n, faults=0) for n in (1, 2)]
    drawn = {name: (points, most) for name, points, most in curve("x", waves).lines}
    assert drawn["features"] == ("52.0,150.0 400.0,81.0 748.0,12.0", 100)
    assert drawn["faults"][1] == 0


def test_an_estimate_is_told_with_its_chance():
    assert "less than 1 in a million" in left(estimate([4, 5], 10_000_000))
    assert "about 0.5" in left(estimate([1], 2))
