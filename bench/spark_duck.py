"""The tables of the nightly report by DuckDB, over the same Parquet files as Spark: what the ratios are taken to.

Each statement does with runs, verdicts and settled verdicts what the function of the same name in `reports.spark` does.
What ingest has summed up beforehand is worked out here each time. Failure pages, requirement texts and times are left
out.
"""

from __future__ import annotations

from typing import Final

TOLD: Final = """
    create view told as
    select *, "at" as moment, complete and not partial as whole from runs
"""
HEADS: Final = """
    create or replace temp table heads as
    select *, place = 1 as newest from (
        select *, row_number() over (partition by slug order by w desc, moment desc, run desc) as place from (
            select slug, version, last.w as w, last.moment as moment, last.run as run, last.day as day from (
                select slug, version, max({w: whole, moment: moment, run: run, day: day}) as last
                from told group by slug, version)))
    where place <= 8
"""
PAIRS: Final = """
    create or replace temp table pairs as
    select * from (
        select slug, run, version, day, row_number() over (partition by slug order by moment desc, run desc) as place
        from told where whole)
    where place <= 2
"""
SOME: Final = """
    create or replace temp table chosen as
    select v.* from verdicts v
    where v.day in (select day from heads union select day from pairs)
      and v.run in (select run from heads union select run from pairs)
"""
PAST: Final = """
    create or replace temp table past as
    select slug, version, requirement, count(*) as runs, count(*) filter (failed) as failed,
           min(epoch_us(try_cast("at" as timestamptz))) filter (failed) as first
    from settled group by slug, version, requirement
"""
ASKED: Final = {
    "cells": "select s.*, h.newest from chosen s join heads h using (run) order by slug, newest desc, requirement",
    "days": """
        select slug, day, last.*, many from (
            select slug, day, count(*) as many,
                   max({moment: moment, run: run, version: version, verdict: verdict, complete: complete,
                        passed: passed, failed: failed, warned: warned, accepted: accepted, open: inconclusive}) as last
            from told group by slug, day)
        order by slug, day
    """,
    "changes": """
        select b.slug, b.requirement, b.standing, a.standing, b.run, a.run, a.message
        from (select s.* from chosen s join pairs p on s.run = p.run and p.place = 2) b
        join (select s.* from chosen s join pairs p on s.run = p.run and p.place = 1) a
          on a.slug = b.slug and a.requirement = b.requirement
        where (a.verdict = 'fail') <> (b.verdict = 'fail') or (b.verdict = 'pass' and a.verdict not in ('pass', 'fail'))
        order by b.slug, b.requirement
    """,
    "flickers": """
        select slug, version, requirement, any_value(p.runs), any_value(p.failed), count(*) filter (turned) as changes
        from (
            select slug, version, requirement, v.failed <> lag(v.failed) over mine as turned
            from settled v join past p using (slug, version, requirement)
            where p.failed > 0 and p.failed < p.runs
            window mine as (partition by slug, version, requirement order by v."at", v.run))
        join past p using (slug, version, requirement)
        group by slug, version, requirement order by changes desc, slug, version, requirement limit 2000
    """,
    "strictness": """
        select s.slug, s.run, s.level, count(*) filter (standing = 'passed'), count(*) filter (standing = 'failed')
        from chosen s join heads h using (run) where h.newest group by all
    """,
    "differences": """
        select requirement, list(distinct s.slug) filter (standing = 'passed') as passing,
               list(distinct s.slug) filter (standing in ('failed', 'warned', 'accepted')) as failing
        from chosen s join heads h using (run) where h.newest group by requirement
        having len(passing) > 0 and len(failing) > 0
    """,
    "counts": "select count(*), count(*) filter (not complete) from runs",
}


def tables(root: str) -> int:
    """Work out all of them over the warehouse at `root` and bring them here; answers how many rows they have."""
    import duckdb  # type: ignore[import-not-found,unused-ignore] # noqa: PLC0415 - only this bench wants it

    duck = duckdb.connect()
    duck.execute("set timezone = 'UTC'")
    for name, days in (("runs", ""), ("verdicts", "/*"), ("settled", "")):
        files = f"{root}/{name}/*{days}/*.parquet"
        duck.execute(f"create view {name} as select * from read_parquet('{files}', hive_partitioning = true, "
                     "hive_types_autocast = false)")  # fmt: skip
    duck.execute(TOLD)
    for statement in (HEADS, PAIRS, SOME, PAST):
        duck.execute(statement)
    return sum(len(duck.execute(statement).fetchall()) for statement in ASKED.values())
