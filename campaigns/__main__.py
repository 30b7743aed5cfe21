"""`python -m campaigns SOURCE... --plans N --warehouse DIR`: see docs/campaigns.md. `python -m campaigns corpus` writes
a file of what was kept (campaigns/corpus.py).

Exit status: 0 done and nothing was found; 1 faults or alarms were found; 2 the command is wrong; 3 Spark cannot run
here.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Final

from campaigns import corpus, sources
from campaigns.scoring import FAULTS
from reports.spark import session

USAGE: Final = 2
NO_SPARK: Final = 3


def main(arguments: Sequence[str] | None = None, prog: str = "python -m campaigns") -> int:
    """Run or go on with one campaign, or export what campaigns have kept."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["corpus"]:
        return corpus.main(given[1:], f"{prog} corpus")
    chosen = _parser(prog).parse_args(given)
    wrong = next(filter(None, map(sources.check, chosen.sources)), "")
    played = [source for source in chosen.sources if not source.startswith(FAULTS)]
    if not wrong and played and not (chosen.plans or chosen.hours):
        wrong = "say how long to go on, by --plans or --hours"
    if wrong:
        return _complain(wrong, USAGE)
    why = "" if chosen.remote else session.missing()
    if not why and find_spec("jinja2") is None:
        why = "the Python package jinja2 is not installed, which makes pages; pip install 'jinja2>=3.1.6,<4'"
    if why:
        return _complain(f"Spark cannot run here: {why}", NO_SPARK)
    from campaigns import job  # noqa: PLC0415 - needs pyspark, and what Spark lacks has to be told first

    try:
        spark = session.start(
            master=chosen.master, remote=chosen.remote, ships=False,
            settings={} if chosen.remote else job.settings(chosen.master),
        )  # fmt: skip
    except session.NoSpark as error:
        return _complain(f"Spark cannot run here: {error}", NO_SPARK)
    from reports.spark.warehouse import Warehouse  # noqa: PLC0415

    if chosen.remote and spark.conf.get("spark.speculation", "false") == "true":
        spark.stop()
        wrong = f"{chosen.remote} runs with spark.speculation=true, which does tasks twice at once; start it without"
        return _complain(wrong, USAGE)
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
    alarms = f", {done.alarms} sorts of alarm" if done.alarms else ""
    took = f"; {done.seconds:.0f} s, {done.share:.0%} of it this process' own" if done.seconds else ""
    sys.stdout.write(
        f"campaign {chosen.name}: {done.waves} waves, {done.plans} plans, {done.faults} faults{alarms}{took}\n"
    )
    return 1 if done.faults or done.alarms else 0


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=prog, description="Hunt on a Spark cluster.",
        epilog=f"{prog} corpus --warehouse DIR --out FILE writes what was kept, for --corpus of a run.",
    )  # fmt: skip
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
