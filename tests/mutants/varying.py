"""Does a faulty implementation fail the same requirements whatever the seed?

Each mutant is hunted several times, with another seed each time and for its whole budget, as a run would hunt it. The
requirements that fail as a MUST are compared, those that the same action breaks among them:

    python -m tests.mutants.varying --protocol stomp --seeds 5 --budget 2 -j 1 --out varying.json

A seed that found nothing at all is counted apart: that is a matter of the budget. Time is that of the processor: what
else the machine does changes nothing.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from reports.result import weaker
from suites import schedule
from suites.deadline import Deadline
from suites.hunt import Fault
from suites.schedule import Share
from tests.mutants.every import ALL, key_of
from tests.mutants.hunted import hunter_for
from tests.properties import properties

LONGER = 1.5
"""So many times its budget a hunt may take with what it investigates."""


@dataclass(frozen=True, slots=True)
class Row:
    """What the runs of one mutant say: by seed, the requirements that fail as a MUST, and the sorts of failure."""

    mutant: str
    blames: tuple[str, ...]
    failing: tuple[tuple[str, ...], ...]
    sorts: tuple[tuple[str, ...], ...]

    @property
    def found(self) -> list[frozenset[str]]:
        """What the runs say that found anything."""
        return [frozenset(each) for each in self.failing if each]

    @property
    def always(self) -> frozenset[str]:
        """What each of these says."""
        return frozenset.intersection(*self.found) if self.found else frozenset()

    @property
    def varying(self) -> frozenset[str]:
        """What only some of them say."""
        return frozenset().union(*self.found) - self.always


def failing(faults: Iterable[Fault], level: dict[str, str]) -> frozenset[str]:
    """The requirements that fail as a MUST by these faults; see `reports.result`."""
    found = {fault.requirement for fault in faults if fault.verdict == "fail" and fault.level == "MUST"}
    beside = {
        name
        for fault in faults if fault.verdict == "fail"
        for name in fault.also if name in level and weaker(fault.level, level[name]) == "MUST"
    }  # fmt: skip
    return frozenset(found | beside)


def hunted(key: str, budget_s: float, seeds: int) -> Row:
    """Hunt one mutant with each seed. For a process of its own, whose clock it changes."""
    time.monotonic = time.process_time
    mutant = next(mutant for mutant in ALL if key_of(mutant) == key)
    shares = [Share(prop, weight) for prop, weight in properties(mutant.protocol, mutant.role)]
    sets, sorts = [], []
    for seed in range(seeds):
        told: list[Fault] = []
        hunter = hunter_for(mutant, told.append, seed, Deadline(LONGER * budget_s, time.process_time))
        schedule.hunt(hunter, schedule.pursuits(hunter, shares, budget_s), budget_s, lambda: None)
        level = {name: each.level for name, each in hunter.binding.items()}
        sets.append(tuple(sorted(failing(told, level))))
        grave = (f"{'' if f.verdict == 'fail' else '? '}{f.fingerprint()}" for f in told if f.level == "MUST")
        sorts.append(tuple(sorted(set(grave))))
    return Row(key, tuple(sorted(mutant.blames)), tuple(sets), tuple(sorts))


def told(row: Row) -> str:
    """A mutant whose runs differ, for people."""
    lines = [f"{row.mutant}: always {', '.join(sorted(row.always)) or 'nothing'}"]
    lines += [f"    {count} of {len(row.failing)}: {', '.join(sorted(names)) or 'nothing'}"
              for names, count in Counter(map(frozenset, row.failing)).most_common()]  # fmt: skip
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Hunt the mutants; the exit status is 1 where the runs of one differ."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.varying", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--budget", type=float, default=2.0, metavar="SECONDS", help="for each seed of each mutant")
    parser.add_argument("--seeds", type=int, default=5, help="runs of each mutant")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="processes")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="names of mutants, or ids of requirements")
    parser.add_argument("--protocol", default="stomp", metavar="NAMES", help="only mutants of these, joined by commas")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every N-th of them")
    parser.add_argument("--role", default="*", metavar="ROLE", help="only mutants of this role")
    parser.add_argument("--out", type=Path, default=Path("results/varying.json"), help="where all of it is stored")
    wishes = parser.parse_args(arguments)
    chosen = [
        key_of(m) for m in ALL
        if any(fnmatchcase(name, wishes.only) for name in (m.name, key_of(m), m.requirement))
        and fnmatchcase(m.role, wishes.role) and m.protocol in wishes.protocol.split(",") and not m.unseen
    ][:: wishes.every]  # fmt: skip
    rows = []
    with ProcessPoolExecutor(wishes.jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        for row in pool.map(partial(hunted, budget_s=wishes.budget, seeds=wishes.seeds), chosen):
            rows.append(row)
            if row.varying:
                sys.stdout.write(told(row) + "\n")
                sys.stdout.flush()
            wishes.out.parent.mkdir(parents=True, exist_ok=True)
            wishes.out.write_text(json.dumps([asdict(each) for each in rows], indent=1) + "\n", encoding="utf-8")
    varying = [row for row in rows if row.varying]
    silent = sum(not all(row.failing) and bool(row.found) for row in rows)
    common = Counter(name for row in varying for name in row.varying)
    sys.stdout.write(
        f"\n{len(varying)} of {len(rows)} mutants fail other requirements with another seed; {silent} were not found by"
        f" each seed, {sum(not row.found for row in rows)} by none as a MUST\n"
    )
    sys.stdout.writelines(f"  {count:>4}  {name}\n" for name, count in common.most_common(40))
    return 1 if varying else 0


if __name__ == "__main__":
    sys.exit(main())
