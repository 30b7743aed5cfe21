"""The nightly report: `python -m reports nightly RESULTS... --warehouse DIR --out SITE`, and its three steps; and
`python -m reports compare OLD NEW`, which needs no Spark (reports/compare.py).

`python -m reports campaign` is `python -m campaigns`: what drives a search is another layer, which this one hands over
to and does not import.

Exit status: 0 done; 1 there are regressions and --fail-on asks for it; 2 the command is wrong, or names what is not
there; 3 Spark cannot run here. Progress goes to stderr, one line of result for each step to stdout.
"""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reports import compare
from reports.spark import session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reports.spark.warehouse import Warehouse
    from reports.tables import Report

USAGE: Final = 2
NO_SPARK: Final = 3


def main(arguments: Sequence[str] | None = None, prog: str = "python -m reports") -> int:
    """Run one command; answers the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["compare"]:
        return compare.main(given[1:])
    if given[:1] == ["campaign"]:
        sys.argv[1:] = given[1:]
        runpy.run_module("campaigns", run_name="__main__", alter_sys=True)  # exits with a status of its own
    chosen = _parser(prog).parse_args(given)
    wrong = _absent(chosen)
    if wrong:
        return _complain(wrong, USAGE)
    try:
        spark = session.start(master=chosen.master, remote=chosen.remote)
    except session.NoSpark as error:
        return _complain(f"Spark cannot run here: {error}", NO_SPARK)
    # Imported here, as below: these modules need pyspark, and what Spark lacks has to be told first.
    from reports.spark.warehouse import Warehouse  # noqa: PLC0415

    try:
        return _run(Warehouse(spark, chosen.warehouse), chosen)
    finally:
        spark.stop()


def _parser(prog: str) -> argparse.ArgumentParser:
    where = argparse.ArgumentParser(add_help=False)
    where.add_argument("--warehouse", required=True, metavar="DIR", help="a folder, or any URL that Spark writes to")
    engine = where.add_mutually_exclusive_group()
    engine.add_argument("--master", default="", metavar="URL", help="a cluster; without it, this machine")
    engine.add_argument("--remote", default="", metavar="URL", help="a Spark Connect server, as sc://host:port")
    results = argparse.ArgumentParser(add_help=False)
    results.add_argument("results", nargs="+", metavar="RESULTS", help="folders of results, or URLs that Spark reads")
    site = argparse.ArgumentParser(add_help=False)
    site.add_argument("--out", required=True, type=Path, metavar="SITE", help="the folder that gets the pages")
    parser = argparse.ArgumentParser(prog=prog, description="The nightly report over many runs.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("ingest", parents=[results, where], help="take new results into the warehouse")
    commands.add_parser("rejudge", parents=[where], help="judge stored conversations with today's specifications")
    commands.add_parser("build", parents=[where, site], help="make the pages")
    nightly = commands.add_parser("nightly", parents=[results, where, site], help="all three, for cron")
    commands.add_parser("campaign", add_help=False, help="hunt on a cluster: python -m campaigns --help")
    commands.add_parser("compare", help="what changed between two results; needs no Spark")
    nightly.add_argument("--fail-on", choices=["regression"], help="exit with 1 when there are any")
    return parser


def _absent(chosen: argparse.Namespace) -> str:
    """What the command names and this machine does not have, or ""."""
    for source in getattr(chosen, "results", ()):
        if "://" not in source and not Path(source).exists():
            return f"there is no folder {source!r}; name one that --results named"
    warehouse = chosen.warehouse
    if "://" not in warehouse and chosen.command in ("build", "rejudge") and not Path(warehouse).is_dir():
        return f"there is no warehouse {warehouse!r}; `python -m reports ingest` makes one"
    return ""


def _run(warehouse: Warehouse, chosen: argparse.Namespace) -> int:
    from reports.spark.ingest import ingest  # noqa: PLC0415
    from reports.spark.reading import NoResults  # noqa: PLC0415
    from reports.spark.rejudge import rejudge  # noqa: PLC0415

    if chosen.command in ("ingest", "nightly"):
        try:
            _tell(f"ingest: {ingest(warehouse, chosen.results, _progress)}")
        except NoResults as error:
            return _complain(str(error), USAGE)
    if chosen.command in ("rejudge", "nightly"):
        _tell(f"rejudge: {rejudge(warehouse, _progress)}")
    if chosen.command not in ("build", "nightly"):
        return 0
    report = _pages(warehouse, chosen.out)
    count = sum(change.kind == "regression" for change in report.changes)
    _tell(f"build: {chosen.out / 'index.html'}: {report.total_runs} runs, {count} regressions")
    return 1 if count and getattr(chosen, "fail_on", None) else 0


def _pages(warehouse: Warehouse, out: Path) -> Report:
    from reports.site import write  # noqa: PLC0415
    from reports.spark.report import build  # noqa: PLC0415

    report = build(warehouse, _progress)
    _progress("writing the pages")
    write(report, out)
    return report


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _progress(line: str) -> None:
    sys.stderr.write(f"reports: {line}\n")
    sys.stderr.flush()


def _complain(line: str, status: int) -> int:
    sys.stderr.write(f"reports: {line}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
