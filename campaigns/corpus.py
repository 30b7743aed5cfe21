"""`python -m campaigns corpus --warehouse DIR --out FILE`: what campaigns have kept, as a file that a run plays.

Of every feature the shortest program that any campaign knows, each program once; those that are the shortest for most
features come first, so that a run that has time for some of them plays those that tell most.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from campaigns.found import program_of
from reports.spark import session
from suites.corpus import MAX_PROGRAMS, Shown, Spoken, written

if TYPE_CHECKING:
    from reports.spark.warehouse import Warehouse

USAGE: Final = 2
NO_SPARK: Final = 3
MOST: Final = 2_000
"""Programs of one role, where nothing else is said: ten seconds in memory, a minute or two over TCP."""


def main(arguments: Sequence[str], prog: str) -> int:
    """Write the file; answers the exit status."""
    parser = argparse.ArgumentParser(prog=prog, description="Export what campaigns have kept for --corpus of a run.")
    add = parser.add_argument
    add("--warehouse", required=True, metavar="DIR", help="where the campaigns were kept")
    add("--out", required=True, type=Path, metavar="FILE", help="the file that is written")
    add("--protocol", default="", help="of this protocol only")
    add("--role", default="", help="of this role only")
    add("--most", type=int, default=MOST, metavar="N", help=f"programs of each role at most; {MOST} unless told")
    engine = parser.add_mutually_exclusive_group()
    engine.add_argument("--master", default="", metavar="URL", help="a cluster; without it, this machine")
    engine.add_argument("--remote", default="", metavar="URL", help="a Spark Connect server, as sc://host:port")
    chosen = parser.parse_args(arguments)
    if "://" not in chosen.warehouse and not Path(chosen.warehouse).is_dir():
        return _complain(f"there is no warehouse {chosen.warehouse!r}; a campaign makes one", USAGE)
    try:
        spark = session.start(master=chosen.master, remote=chosen.remote, ships=False)
    except session.NoSpark as error:
        return _complain(f"Spark cannot run here: {error}", NO_SPARK)
    from reports.spark.warehouse import Warehouse  # noqa: PLC0415 - what Spark lacks has to be told first

    try:
        found = kept(Warehouse(spark, chosen.warehouse), chosen.protocol, chosen.role, min(chosen.most, MAX_PROGRAMS))
    finally:
        spark.stop()
    if not found:
        return _complain(f"no campaign in {chosen.warehouse} has kept a program of that protocol and role", USAGE)
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    chosen.out.write_text(written(found), encoding="ascii")
    for (protocol, role), programs in sorted(found.items()):
        features = sum(len(one.features) for one in programs)
        sys.stdout.write(f"{protocol} {role}: {len(programs)} programs, the shortest for {features} features\n")
    return 0


def kept(warehouse: Warehouse, protocol: str = "", role: str = "", most: int = MOST) -> dict[Spoken, list[Shown]]:
    """The programs of each protocol and role, those of most features first."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    rows = warehouse.batches("found").where("kind = 'feature' and program <> ''")
    for column, value in (("protocol", protocol), ("role", role)):
        if value:
            rows = rows.where(F.col(column) == value)
    best = rows.groupBy("protocol", "role", "name").agg(F.min(F.struct("size", "program", "key")).alias("best"))
    found: dict[Spoken, dict[tuple[int, str, str], list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in best.select("protocol", "role", "name", "best.*").orderBy("name").collect():
        found[row.protocol, row.role][row.size, row.program, row.key].append(row.name)
    return {spoken: _first(programs, most) for spoken, programs in found.items()}


def _first(programs: dict[tuple[int, str, str], list[str]], most: int) -> list[Shown]:
    order = sorted(programs.items(), key=lambda item: (-len(item[1]), item[0]))
    return [Shown(key, program_of(program), tuple(names)) for (_, program, key), names in order[:most]]


def _complain(line: str, status: int) -> int:
    sys.stderr.write(f"campaign: {line}\n")
    return status
