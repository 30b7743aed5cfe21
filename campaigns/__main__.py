"""`python -m campaigns SOURCE... --plans N --warehouse DIR`: see docs/campaigns.md.

Exit status: 0 done and nothing was found; 1 faults were found; 2 the command is wrong; 3 Spark cannot run here.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Final

from campaigns import sources
from campaigns.scoring import FAULTS
from reports.spark import session

USAGE: Final = 2
NO_SPARK: Final = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run or go on with one campaign."""
    chosen = _parser().parse_args(arguments)
    wrong = next(filter(None, map(sources.check, chosen.sources)), "")
    played = [source for source in chosen.sources if not source.startswith(FAULTS)]
    if not wrong and played and not (chosen.plans or chosen.hours):
        wrong = "say how long to go on, by --plans or --hours"
    if wrong:
        return _complain(wrong, USAGE)
    why = "" if chosen.remote else session.missing()
    if why:
        return _complain(f"Spark cannot run here: {why}", NO_SPARK)
    from campaigns import job  # noqa: PLC0415 - needs pyspark, and what Spark lacks has to be told first

    try:
        spark = session.start(
            master=chosen.master, remote=chosen.remote, settings=job.SETTINGS | _there(chosen.master), ships=False
        )
    except session.NoSpark as error:
        return _complain(f"Spark cannot run here: {error}", NO_SPARK)
    from reports.spark.warehouse import Warehouse  # noqa: PLC0415

    campaign = job.new(
        chosen.name, chosen.sources, seed=chosen.seed, plans=chosen.plans, each=chosen.each, wide=chosen.wide,
        fresh=chosen.fresh,
    )  # fmt: skip
    wanted = job.Wanted(campaign, chosen.hours, chosen.connections, chosen.seconds)
    try:
        done = job.run(Warehouse(spark, chosen.warehouse), wanted, _progress)
    except job.Differs as error:
        return _complain(str(error), USAGE)
    finally:
        spark.stop()
    sys.stdout.write(f"campaign {chosen.name}: {done.waves} waves, {done.plans} plans, {done.faults} faults\n")
    return 1 if done.faults else 0


def _there(master: str) -> dict[str, str]:
    """What executors of a cluster need to find our modules: they have them at the same place, or installed."""
    return {"spark.executorEnv.PYTHONPATH": str(session.ROOT)} if master else {}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m campaigns", description="Hunt on a Spark cluster.")
    add = parser.add_argument
    add("sources", nargs="+", metavar="IMPL", help="what --impl takes, or peers:MODULE:ROLE for correct peers")
    add("--warehouse", required=True, metavar="DIR", help="a folder, or any URL that Spark writes to")
    add("--plans", type=int, default=0, metavar="N", help="plans to play with each IMPL")
    add("--hours", type=float, default=0.0, metavar="H", help="go on for so long instead")
    add("--name", default="campaign", help="what it is called: the same name goes on where it stopped")
    add("--seed", type=int, default=1, help="makes what is drawn its own")
    add("--each", type=int, default=500, metavar="N", help="plans of one task")
    add("--wide", type=int, default=16, metavar="N", help="tasks of one wave; the next one knows what this one found")
    add("--fresh", type=float, default=0.5, metavar="SHARE", help="share of plans that are not bred from known ones")
    add("--seconds", type=float, default=600.0, help="the most that a task may take")
    add("--connections", type=int, default=0, metavar="N", help="tasks at once at most, for a server that all share")
    engine = parser.add_mutually_exclusive_group()
    engine.add_argument("--master", default="", metavar="URL", help="a cluster; without it, this machine")
    engine.add_argument("--remote", default="", metavar="URL", help="a Spark Connect server, as sc://host:port")
    return parser


def _progress(line: str) -> None:
    sys.stderr.write(f"campaign: {line}\n")
    sys.stderr.flush()


def _complain(line: str, status: int) -> int:
    sys.stderr.write(f"campaign: {line}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
