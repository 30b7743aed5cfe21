"""The table of versions, whatever comes in whichever order: late runs, runs told anew, killed jobs, merged batches.

What it has to say is worked out by plain Python from the runs, their settled verdicts and their faults.
"""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import fields, replace
from datetime import datetime
from itertools import pairwise

import pytest

pytest.importorskip("pyspark")

from reports import tables
from reports.site import write
from reports.spark import report, schemas, versions
from reports.spark import warehouse as module
from reports.spark.folding import day_of
from reports.spark.ingest import ingest
from reports.spark.rejudge import rejudge
from reports.spark.rows import SCHEMAS, Fault, Last, Settled
from reports.spark.warehouse import Warehouse
from tests import runs as made
from tests.runs import Folder, Shape
from tests.test_spark import quiet

MOMENTS = ("2026-01-01T00:00:00+00:00", "2026-01-01T23:00:00+00:00", "2026-01-02T01:00:00+02:00", "2026-1-3 5:00", "",
           "2026-01-04T00:00:00+00:00")  # fmt: skip
BLANK = {"str": "", "int": 0, "float": 0.0, "bool": False, "tuple[str, ...]": ()}


def blank(table: type, **told: object):
    return table(**{f.name: BLANK[str(f.type)] for f in fields(table)} | told)


def drawn(chance: random.Random) -> tuple[tables.Run, list[Settled], list[Fault]]:
    """What some run amounts to: one of a dozen, that may have been told before, and otherwise."""
    at, complete, partial = chance.choice(MOMENTS), chance.random() < 0.8, chance.random() < 0.2
    about = {"run": f"r{chance.randrange(12)}", "slug": chance.choice("xy"), "version": chance.choice(("1", "2", ""))}
    run = blank(tables.Run, **about, at=at, day=day_of(at), complete=complete, partial=partial,
                passed=chance.randrange(9), verdict=chance.choice(("pass", "fail")))  # fmt: skip
    tried = [name for name in "ABC" if chance.random() < 0.8]
    settled = [Settled(**about, at=at, requirement=name, failed=chance.random() < 0.5) for name in tried]
    faults = [blank(Fault, **about, requirement=chance.choice("ABCD"), reproduced=chance.randrange(6), tried=5 * n)
              for n in range(chance.randrange(3))]  # fmt: skip
    return run, settled, faults


def frames(spark, told):
    """The tables of these runs."""
    parts = {
        "runs": [run for run, _, _ in told],
        "settled": [one for _, settled, _ in told for one in settled],
        "faults": [one for _, _, faults in told for one in faults],
    }
    return {
        table: schemas.sent(
            spark, [tuple(getattr(one, n) for n in SCHEMAS[table].names) for one in rows], SCHEMAS[table]
        )
        for table, rows in parts.items()
    }


def expected(told) -> dict:
    """By version: its nights, and what there is to say of each requirement."""
    found: dict = {}
    for version in {(run.slug, run.version) for run, _, _ in told}:
        mine = [one for one in told if (one[0].slug, one[0].version) == version]
        nights = {}
        for day in {run.day for run, _, _ in mine}:
            all_ = sorted((run for run, _, _ in mine if run.day == day), key=lambda run: (run.at, run.run))
            whole = [(run.at, run.run) for run in all_ if run.complete and not run.partial]
            last = tuple(getattr(all_[-1], field.name) for field in fields(Last))
            nights[day] = len(all_), sum(not run.complete for run in all_), last, whole[:-3:-1]
        found[version] = nights, {
            name: one
            for name in "ABCD"
            if (one := _past([s for _, settled, _ in mine for s in settled if s.requirement == name],
                             [f for _, _, faults in mine for f in faults if f.requirement == name and f.tried],
                             {run.run: run.day for run, _, _ in mine}))
        }  # fmt: skip
    return found


def _past(settled: list[Settled], faults: list[Fault], days: dict[str, str]):
    if not settled and not faults:
        return None
    words = [one.failed for one in sorted(settled, key=lambda one: (one.at, one.run))]
    turns = sum(one != other for one, other in pairwise(words))
    first = min((_first(one, days) for one in settled if one.failed and one.at), default=(None, None, None))
    shown, tried = [f.reproduced for f in faults], [f.tried for f in faults]
    loose = sum(f.reproduced < f.tried for f in faults)
    return (len(words), sum(words), turns, *first, sum(shown), sum(tried), loose)


def _first(one: Settled, days: dict[str, str]) -> tuple[int, str, str]:
    at = "2026-01-03T05:00:00+00:00" if one.at == "2026-1-3 5:00" else one.at  # which Spark can read
    return round(datetime.fromisoformat(at).timestamp() * 1_000_000), one.run, days[one.run]


def said(table) -> dict:
    """The same out of the table."""
    rows = [row.asDict(recursive=True) for row in table.collect()]
    assert len(rows) == len({(row["slug"], row["version"]) for row in rows})
    return {
        (row["slug"], row["version"]): (
            {one["day"]: (one["runs"], one["incomplete"], tuple(one["last"].values()),
                          [tuple(whole.values()) for whole in one["whole"]]) for one in row["nights"]},
            {one["requirement"]: tuple(one.values())[1:] for one in row["past"] or ()},
        )
        for row in rows
        if row["nights"]
    }  # fmt: skip


def written(warehouse: Warehouse, told, *, old: bool = False, killed: bool = False) -> None:
    """A batch of these runs, as ingesting and judging again write it: by a release that kept no versions, or killed."""
    batch, parts = warehouse.begin(), frames(warehouse.spark, told)
    before = {row.run for row in warehouse.batches("runs").select("run").collect()}
    again = old or any(one[0].run in before for one in told)
    if not old:
        parts = {**parts, "versions": versions.renewed(warehouse, parts, again=again)}
    warehouse.write_all(batch, parts)
    if not killed:
        warehouse.commit(batch, parts, 100 if len(told) > 3 else 1, again=again)


@pytest.mark.parametrize("seed", range(1))
def test_the_table_says_what_all_runs_amount_to(spark, tmp_path, monkeypatch, seed):
    chance = random.Random(seed)
    monkeypatch.setattr(module, "SMALL", 50)  # a batch of more than three runs is not merged
    warehouse, known = Warehouse(spark, str(tmp_path)), {}
    for _ in range(8):
        told = {one[0].run: one for one in [drawn(chance) for _ in range(chance.randint(1, 6))]}
        old, killed = chance.random() < 0.2, chance.random() < 0.2
        written(warehouse, told.values(), old=old, killed=killed)
        if chance.random() < 0.3:
            with monkeypatch.context() as patched:
                patched.setattr(module, "MANY", 1)
                Warehouse(spark, str(tmp_path)).compact()
        if not killed:
            known |= told
        warehouse = Warehouse(spark, str(tmp_path))  # as the next job finds it
        assert said(versions.known(warehouse)) == expected(known.values())
    written(warehouse, [])
    assert warehouse.summed()
    assert said(warehouse.versions()) == expected(known.values())


def test_a_version_that_has_lost_its_only_run_is_gone(spark, tmp_path):
    warehouse = Warehouse(spark, str(tmp_path))
    run = blank(tables.Run, run="r", slug="///", day="unknown")
    written(warehouse, [(run, [], [])])
    assert said(versions.known(warehouse)).keys() == {("///", "")}
    written(warehouse, [(replace(run, slug="x/stomp/server/1.2", version="1"), [], [])])
    assert said(versions.known(warehouse)).keys() == {("x/stomp/server/1.2", "1")}


def test_a_version_whose_only_run_an_older_release_has_moved_is_gone(spark, tmp_path):
    """A release that keeps no table of versions has told the run anew; the next batch of one that does says so."""
    warehouse = Warehouse(spark, str(tmp_path))
    run = blank(tables.Run, run="r", slug="x/stomp/server/1.2", version="1", day="unknown")
    written(warehouse, [(run, [], [])])
    written(warehouse, [(replace(run, version="2"), [], [])], old=True)
    written(warehouse, [])
    assert said(warehouse.versions()).keys() == {("x/stomp/server/1.2", "2")}


def test_merging_beside_a_large_batch_brings_back_nothing_older(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SMALL", 50)
    monkeypatch.setattr(module, "MANY", 1)
    warehouse = Warehouse(spark, str(tmp_path))
    for length, rows in ((1, 1), (2, 100), (3, 1)):
        batch = warehouse.begin()
        path = "first" if length < 3 else "other"
        moment = datetime.fromisoformat("2026-01-01T00:00:00+00:00")
        warehouse.write(batch, "ledger", schemas.sent(spark, [(path, length, moment)], SCHEMAS["ledger"]))
        warehouse.commit(batch, ("ledger",), rows)
    assert warehouse.compact()
    assert {row.path: row.length for row in warehouse.ledger().collect()} == {"first": 2, "other": 3}


# -- the pages --------------------------------------------------------------------------------------------------------


class Killed(BaseException):
    pass


def pages(warehouse: Warehouse, out) -> dict[str, bytes]:
    """Every page, built at one moment."""
    write(replace(report.build(warehouse, quiet), built="2026-10-10T00:00:00Z"), out)
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def test_the_pages_are_those_of_a_report_that_looks_at_everything(spark, tmp_path, monkeypatch):
    chance = random.Random(5)
    shapes = [Shape(number=n, impl=f"broker-{n % 2}", version=f"1.{n // 4}", day=n // 3, minute=n % 3,
                    requirements=8, properties=3) for n in range(9)]  # fmt: skip
    chance.shuffle(shapes)  # nights arrive in any order
    results, root = tmp_path / "results", str(tmp_path / "warehouse")
    folder = Folder(results)
    write_ = Warehouse.write
    for step in range(3):
        for shape in shapes[3 * step : 3 * step + 3]:
            folder.write(shape, traces=True)
        made.tear(folder.file(shapes[3 * step]), chance)
        if step:
            folder.write(shapes[3 * step - 3], traces=True)
        made.double(folder.file(shapes[3 * step + 1]), chance, results / "copies")
        left = chance.randrange(20)

        def dying(*arguments, left=[left]):  # noqa: B006 - one count for each step
            write_(*arguments)
            left[0] -= 1
            if left[0] == 0:
                raise Killed

        with monkeypatch.context() as patched:
            patched.setattr(Warehouse, "write", dying)
            with suppress(Killed):
                ingest(Warehouse(spark, root), [str(results)], quiet)
        if step == 1:
            monkeypatch.setattr(module, "MANY", 1)
        ingest(Warehouse(spark, root), [str(results)], quiet)
    rejudge(Warehouse(spark, root), quiet, lambda document, seed: (chance.choice(("pass", "fail")), "so it is"))
    warehouse = Warehouse(spark, root)
    assert warehouse.summed()
    kept = pages(warehouse, tmp_path / "kept")
    monkeypatch.setattr(Warehouse, "summed", lambda _: False)
    assert pages(warehouse, tmp_path / "whole") == kept
    assert b'"changes"' in kept["flakiness.json"]
