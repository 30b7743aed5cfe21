"""The nightly report's pipeline on Spark, against the plain reader and the plain summary over the same files."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from types import SimpleNamespace

import pytest

from reports import __main__ as command
from reports.spark.session import ROOT
from tests import crooked, runs
from tests.runs import Folder, Shape
from tests.test_recorded import faulty


def quiet(line: str) -> None:
    pass


# -- the command line, without Spark ----------------------------------------------------------------------------------


def test_without_java_it_says_what_is_missing_and_does_not_begin(tmp_path):
    pytest.importorskip("pyspark")
    (tmp_path / "results").mkdir()
    # pyspark must not be imported before Java is known to be there: it would only say so much later.
    code = "import sys; from reports.__main__ import main; s = main(); sys.exit(99 if 'pyspark' in sys.modules else s)"
    done = subprocess.run(
        [sys.executable, "-c", code, "nightly", "results", "--warehouse", "w", "--out", "site"],
        cwd=tmp_path, capture_output=True, text=True, env={"PATH": "", "PYTHONPATH": str(ROOT)}, check=False,
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert done.stderr.count("\n") == 1
    assert "Java" in done.stderr
    assert not (tmp_path / "w").exists()


@pytest.mark.parametrize("arguments", [["ingest", "nowhere"], ["build", "--out", "site"], ["rejudge"]])
def test_what_does_not_exist_is_named(arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert command.main([*arguments, "--warehouse", "none"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "nowhere" in told or "none" in told


def test_a_wrong_command_is_a_usage_error(capsys):
    with pytest.raises(SystemExit) as error:
        command.main(["nightly"])
    assert error.value.code == 2


@pytest.mark.parametrize(
    ("changes", "asked", "status"),
    [
        (["regression"], ["--fail-on", "regression"], 1),
        (["repair"], ["--fail-on", "regression"], 0),
        (["regression"], [], 0),
    ],
)
def test_regressions_fail_the_job_of_whoever_asks_for_that(changes, asked, status, tmp_path, monkeypatch, capsys):
    ingest, rejudge = pytest.importorskip("reports.spark.ingest"), pytest.importorskip("reports.spark.rejudge")
    monkeypatch.setattr(ingest, "ingest", lambda *_: ingest.Ingested())
    monkeypatch.setattr(rejudge, "rejudge", lambda *_: rejudge.Rejudgement())
    report = SimpleNamespace(total_runs=2, changes=[SimpleNamespace(kind=kind) for kind in changes])
    monkeypatch.setattr(command, "_pages", lambda *_: report)
    folders = ["--warehouse", str(tmp_path / "w"), "--out", str(tmp_path / "site")]
    assert (
        command._run(None, command._parser("reports").parse_args(["nightly", str(tmp_path), *folders, *asked]))
        == status
    )
    assert f"{changes.count('regression')} regressions" in capsys.readouterr().out


# -- into the warehouse -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def house(spark, tmp_path_factory):
    """A warehouse of two nights, and the results that it was made from: torn, doubled and foreign files among them.

    In the second night a torn file has grown to its end, and the batches are merged.
    """
    from reports.spark import warehouse as module  # noqa: PLC0415
    from reports.spark.ingest import ingest  # noqa: PLC0415

    root = tmp_path_factory.mktemp("house")
    folder = Folder(root / "results" / "night-000")
    spoilt = crooked.made(root / "results", 12, share=0.1)
    grown = Shape(number=90, impl="broker-0", version="1.0", day=3)
    folder.write(grown)
    runs.tear(folder.file(grown), random.Random(1))
    warehouse = module.Warehouse(spark, str(root / "warehouse"))
    first = ingest(warehouse, [str(root / "results")], quiet)
    before = crooked.differences(warehouse, crooked.truth(root / "results"))
    known = [commit.again for commit in warehouse.live()]
    again = ingest(warehouse, [str(root / "results")], quiet)
    folder.write(grown)
    many, module.MANY = module.MANY, 1
    try:
        second = ingest(warehouse, [str(root / "results")], quiet)
    finally:
        module.MANY = many
    return {"root": root, "warehouse": warehouse, "spoilt": spoilt, "first": first, "before": before, "again": again,
            "second": second, "known": known}  # fmt: skip


def test_spark_and_the_plain_summary_agree_on_every_verdict(house):
    assert house["spoilt"]["torn"]
    assert house["spoilt"]["doubled"]
    assert house["spoilt"]["foreign"]
    assert house["first"].runs == 13
    assert house["before"] == []


def test_the_same_results_twice_are_nothing_new(house):
    assert house["again"].files == 0


def test_a_file_that_has_grown_is_read_again_and_merging_keeps_everything(house):
    assert house["second"].files == 1
    assert house["second"].runs == 1
    assert house["known"] == [False]
    assert [commit.again for commit in house["warehouse"].live()] == [True]
    assert crooked.differences(house["warehouse"], crooked.truth(house["root"] / "results")) == []


@pytest.fixture(scope="session")
def report(house):
    from reports.spark.report import build  # noqa: PLC0415

    return build(house["warehouse"], quiet)


def test_the_numbers_of_the_report_add_up_to_the_summaries(house, report):
    expected = crooked.truth(house["root"] / "results")
    assert report.total_runs == len(expected.runs)
    assert report.incomplete_runs == sum(not complete for _, complete, _ in expected.runs.values())
    assert report.quarantined_total == expected.aside
    assert {(run.run, run.verdict, run.complete, run.plans) for run in report.runs} == {
        (run, *told) for run, told in expected.runs.items()
    }
    assert report.cells
    for cell in report.cells:
        told = (cell.verdict, cell.standing, cell.exercised, cell.judged, cell.failed_as)
        assert told == expected.verdicts[cell.run, cell.requirement]
    for run in report.runs:
        mine = [standing for (name, _), (_, standing, *_) in expected.verdicts.items() if name == run.run]
        assert (run.passed, run.failed) == (mine.count("passed"), mine.count("failed"))
    for known in report.requirements:
        newest = {cell.run for cell in report.cells if cell.newest}
        whole = {run.run for run in report.runs if run.complete and not run.partial} & newest
        mine = [c.standing for c in report.cells if c.run in whole and c.requirement == known.id]
        assert (known.passed, known.failed) == (mine.count("passed"), mine.count("failed")), known.id


def test_every_failure_that_a_cell_names_has_a_page(report):
    pages = {failure.failure: failure for failure in report.failures}
    named = [cell for cell in report.cells if cell.failure]
    assert named
    for cell in named:
        assert cell.run == pages[cell.failure].run
        assert cell.requirement in (pages[cell.failure].requirement, *pages[cell.failure].also)
    assert all(cell.failure for cell in report.cells if cell.verdict == "fail")


@pytest.mark.parametrize("point", [7, "commit"])
def test_what_dies_on_the_way_leaves_nothing_behind(spark, tmp_path, monkeypatch, point):
    from reports.spark.ingest import ingest  # noqa: PLC0415
    from reports.spark.warehouse import Warehouse  # noqa: PLC0415

    Folder(tmp_path / "results").write(Shape(number=1))
    warehouse = Warehouse(spark, str(tmp_path / "warehouse"))

    class Killed(BaseException):
        pass

    calls = []
    write = Warehouse.write

    def dying(*arguments):
        write(*arguments)
        calls.append(arguments)
        if len(calls) == point:
            raise Killed

    def uncommitted(*arguments, **named):
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(Warehouse, *(("commit", uncommitted) if point == "commit" else ("write", dying)))
        with pytest.raises(Killed):
            ingest(warehouse, [str(tmp_path / "results")], quiet)
    assert warehouse.newest("runs").count() == 0
    other = Warehouse(spark, str(tmp_path / "warehouse"))
    ingest(other, [str(tmp_path / "results")], quiet)
    assert crooked.differences(other, crooked.truth(tmp_path / "results")) == []
    parts = {path.name for path in (tmp_path / "warehouse").glob("*/batch=*")}
    assert parts == {f"batch={commit.batch}" for commit in other.live()}


# -- judging again ----------------------------------------------------------------------------------------------------


def test_a_corrected_specification_corrects_history(spark, tmp_path, monkeypatch):
    from reports.spark import rejudge as module  # noqa: PLC0415
    from reports.spark.ingest import ingest  # noqa: PLC0415
    from reports.spark.warehouse import Warehouse  # noqa: PLC0415

    shape = next(s for s in (Shape(number=n) for n in range(50)) if '"kind":"fault"' in "".join(runs.run(s)["main"]))
    folder = Folder(tmp_path / "results")
    folder.write(shape, traces=True)
    for path in (tmp_path / "results" / "traces").iterdir():
        path.write_text(json.dumps({**faulty(), "seed": shape.number, "requirement": path.stem}), encoding="ascii")
    warehouse = Warehouse(spark, str(tmp_path / "warehouse"))
    ingest(warehouse, [str(tmp_path / "results")], quiet)

    def failing() -> int:
        return warehouse.newest("verdicts").where("verdict = 'fail'").count()

    def today(name: str, judge=module.again) -> module.Rejudgement:
        monkeypatch.setattr(module, "digest", lambda: name)
        return module.rejudge(warehouse, quiet, judge)

    found, stored = failing(), len(list((tmp_path / "results" / "traces").iterdir()))
    assert found
    stays = today("as it was")
    assert (stays.judged, stays.changed, stays.errors, stays.runs) == (stored, 0, 0, 0)
    assert failing() == found
    assert today("as it was").judged == 0
    allowed = today("corrected", lambda document, seed: ("pass", "the text allows it"))
    assert (allowed.changed, allowed.runs) == (stored, 1)
    assert failing() == 0
    assert warehouse.newest("faults").count() == 0
    assert today("corrected back").runs == 1
    assert failing() == found


def test_conversations_are_read_a_few_at_a_time(spark, tmp_path):
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415

    from reports.spark.rows import SCHEMAS  # noqa: PLC0415
    from reports.spark.warehouse import TOGETHER, Warehouse  # noqa: PLC0415

    rows = [("r", f"traces/{n}.json", "a conversation", "", "2026-01-01") for n in range(3 * TOGETHER)]
    warehouse = Warehouse(spark, str(tmp_path))
    warehouse.write(warehouse.begin(), "traces", spark.createDataFrame(rows, SCHEMAS["traces"]).coalesce(1))
    (path,) = tmp_path.glob("traces/*/*/*.parquet")
    told = ParquetFile(path).metadata
    assert [told.row_group(n).num_rows for n in range(told.num_row_groups)] == [TOGETHER] * 3


# -- one table after the other ----------------------------------------------------------------------------------------


def settled(spark, *rows: tuple[str, str, str, str, str]):
    """(slug, run, version, requirement, verdict) as rows of the table; a run's id is its moment too."""
    from reports.spark.rows import SCHEMAS  # noqa: PLC0415

    full = [
        {"slug": slug, "run": run, "version": version, "requirement": name, "failed": verdict == "fail",
         "at": f"2026-01-0{run[-1]}T00:00:00+00:00"}
        for slug, run, version, name, verdict in rows
        if verdict in ("pass", "fail")
    ]  # fmt: skip
    return spark.createDataFrame(full, SCHEMAS["settled"])


def listed(spark, rows: list[dict]):
    """Rows of the table of runs; columns that are not given are empty."""
    from reports.spark.rows import SCHEMAS  # noqa: PLC0415

    blank = {"string": "", "bigint": 0, "double": 0.0, "boolean": False, "array<string>": []}
    empty = {field.name: blank[field.dataType.simpleString()] for field in SCHEMAS["runs"].fields}
    return spark.createDataFrame([{**empty, **row} for row in rows], SCHEMAS["runs"])


def test_a_list_of_names_is_asked_for_whatever_they_hold(spark):
    from reports.spark import schemas  # noqa: PLC0415

    names = ["it's", "a\\", "a\\'b", "${x}", "é", "\U0001f600", "\0n", "%_", "--", "x\n", "plain-1.2", "a_b", ""]
    rows = schemas.sent(spark, [(name,) for name in [*names, "other"]], schemas.text("run"))
    assert [[row.run for row in rows.where(schemas.among("run", [name])).collect()] for name in names[:5]] == [
        [name] for name in names[:5]
    ]
    assert sorted(row.run for row in rows.where(schemas.among("run", names)).collect()) == sorted(names)
    assert rows.where(schemas.among("run", [])).collect() == []
    assert [row.run for row in rows.where(~schemas.among("run", names)).collect()] == ["other"]


def test_two_columns_are_asked_for_together(spark):
    from reports.spark import schemas  # noqa: PLC0415

    told = [("a'", "1"), ("a'", "2"), ("b", "1"), ("b", "2"), ("(b, 2)", "")]
    rows = schemas.sent(spark, told, schemas.text("slug", "version"))
    for wanted in ([("a'", "1"), ("b", "2")], [("b", "1")], told, []):
        found = rows.where(schemas.together(("slug", "version"), wanted)).collect()
        assert sorted((row.slug, row.version) for row in found) == sorted(wanted)


def test_the_latest_runs_are_those_of_each_day(spark):
    from pyspark.testing import assertDataFrameEqual  # noqa: PLC0415

    from reports.spark import versions  # noqa: PLC0415

    told = [("a", "1", True), ("b", "2", True), ("c", "3", True), ("d", "4", False)]
    rows = [{"slug": "x", "run": run, "at": at, "day": "2026-01-01", "complete": whole} for run, at, whole in told]
    found = listed(spark, rows).transform(versions.daily)
    asked = found.selectExpr("slug", "runs", "incomplete", "last.run AS last", "transform(whole, w -> w.run) AS whole")
    schema = "slug string, runs long, incomplete long, last string, whole array<string>"
    assertDataFrameEqual(asked, spark.createDataFrame([("x", 4, 1, "d", ["c", "b"])], schema))


def test_flickers_are_changes_on_one_version(spark):
    from reports.spark import report, versions  # noqa: PLC0415
    from reports.spark.rows import SCHEMAS  # noqa: PLC0415

    flips = ("pass", "fail", "inconclusive", "fail", "pass", "fail")
    rows = [("x", f"r{n}", "v1", "A", verdict) for n, verdict in enumerate(flips, 1)]
    rows += [("x", "r1", "v1", "B", "fail"), ("x", "s2", "v2", "B", "pass"), ("x", "r1", "v1", "C", "fail")]
    table = settled(spark, *rows)
    fault = dict.fromkeys(SCHEMAS["faults"].names, "") | {
        "slug": "x", "version": "v1", "requirement": "C", "also": [], "features": [], "steps": 1, "reproduced": 2,
        "tried": 5,
    }  # fmt: skip
    faults = spark.createDataFrame([fault], SCHEMAS["faults"])
    ids = {(run, version) for _, run, version, *_ in rows}
    runs_ = listed(spark, [{"slug": "x", "run": run, "version": version, "day": "d"} for run, version in sorted(ids)])
    found = versions.summed(runs_, table, faults).transform(versions.past).transform(report.flickers).collect()
    names = ("slug", "version", "requirement", "runs", "failed", "changes", "reproduced", "tried")
    assert [tuple(row[name] for name in names) for row in found] == [
        ("x", "v1", "A", 5, 3, 3, 0, 0), ("x", "v1", "C", 1, 1, 0, 2, 5)
    ]  # fmt: skip
