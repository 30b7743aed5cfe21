"""A corpus against fresh draws: the plans and the time of the processor until rare faults are blamed.

    python -m tests.mutants --out score.json
    python -m bench.corpus score.json [--rarest 40] [--seeds 3] [--seconds 10] [--corpus 4000] [-j 2]

The corpus of a role is what a campaign on correct peers leaves: of each feature the shortest program that showed it.
The rarest faults are those that took the most plans in score.json, among those that were found. Each is hunted with the
properties of its role and with no stored deck: once with fresh draws only, once with half of the programs bred from the
corpus, and so with every seed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bench.measure import Figure
from campaigns.found import Known, Order, program_of
from campaigns.sources import PEERS, Played
from campaigns.work import played, work
from specs.protocol import find
from strategies.common import Program
from suites.pursuit import Property
from tests.mutants.every import ALL, key_of
from tests.mutants.hunted import hunter_for

MODULES = {"kcl": "soak_kcl", "msgpack": "soak_msgpack", "pulsar": "soak_pulsar", "storm": "soak_storm"}
"""Where the correct peers of a protocol are; those of STOMP have a module for each role."""
ARMS = {"fresh draws": 1.0, "with the corpus": 0.5}
"""The share of programs that are drawn."""


@dataclass(frozen=True, slots=True)
class Hunt:
    """How one fault fell, or did not within its time."""

    mutant: str
    arm: str
    plans: int
    cpu_s: float
    found: bool


class _Blamed(BaseException):  # no Exception: nothing between here and the bench may take it for a crash
    """The fault was blamed under its own requirement."""


class Seeded:
    """A program with one fault, as a target of a campaign (`campaigns.sources.Target`)."""

    def __init__(self, mutant: Any) -> None:
        self.protocol, self.role, self.profile = find(mutant.protocol), mutant.role, mutant.profile
        self._blames, self.plans = frozenset(mutant.blames), 0
        self._hunter = hunter_for(mutant, lambda fault: None)

    def play(self, prop: Property, plan_of: Any) -> Played:
        self.plans += 1
        judgement = self._hunter.play(plan_of(self._hunter.setting.config)).judgement
        if any(blame.breach.requirement in self._blames for blame in judgement.faults):
            raise _Blamed
        return Played(judgement)

    def weight(self, prop: Property) -> float:
        return 1.0


def source_of(protocol: str, role: str) -> str:
    """The correct peers of a role."""
    of_stomp = "soak" if role == "server" else "soak_stomp_client"
    return f"{PEERS}tests.{MODULES.get(protocol, of_stomp)}:{role}"


@cache
def corpus(protocol: str, role: str, plans: int) -> Known:
    """What that many plans with correct peers leave to begin with. The seed is no one's else."""
    programs: dict[str, dict[Program, None]] = defaultdict(dict)
    order = Order("corpus", 1, 0, source_of(protocol, role), 987_654_321, plans, 3600.0, 1.0)
    rows = [row for row in work(order, Known()) if row.kind == "feature" and row.program]
    for row in sorted(rows, key=lambda row: (row.size, row.program)):
        programs[row.key].setdefault(program_of(row.program))
    return Known(programs={key: tuple(of) for key, of in programs.items()})


def hunt(job: tuple[str, int, float, int]) -> list[Hunt]:
    """Both arms on one fault, with one seed; the arm that goes first alternates with the seed."""
    name, seed, seconds, plans = job
    mutant = next(mutant for mutant in ALL if key_of(mutant) == name)
    known = corpus(mutant.protocol, mutant.role, plans)
    found = []
    for arm in sorted(ARMS, reverse=bool(seed % 2)):
        target = Seeded(mutant)
        order = Order("bench", 1, 0, name, seed, 10**9, seconds, ARMS[arm])
        begun, right = time.process_time(), False
        try:
            list(played(order, known, target))
        except _Blamed:
            right = True
        found.append(Hunt(name, arm, target.plans, time.process_time() - begun, right))
    return found


def rarest(score: Path, number: int) -> list[str]:
    """The faults that took the most plans, of those that fell and can be named rightly."""
    rows = [row for row in json.loads(score.read_text())["rows"] if row["status"] == "killed" and not row["unseen"]]
    return [row["mutant"] for row in sorted(rows, key=lambda row: -row["plans"])[:number]]


def figures(hunts: Sequence[Hunt]) -> list[Figure]:
    """Ratios of fresh draws to the corpus: of medians and of 90th percentiles, of plans and of the processor's time. A
    fault that did not fall counts with what was spent on it."""
    of = {arm: [each for each in hunts if each.arm == arm] for arm in ARMS}
    told = [
        Figure(
            "corpus", f"fell, {arm} (of {len(found)})", (100.0 * sum(h.found for h in found) / len(found),), unit="%"
        )
        for arm, found in of.items()
    ]
    for what in ("plans", "cpu_s"):
        fresh, bred = (sorted(getattr(each, what) for each in of[arm]) for arm in ARMS)
        at = int(0.9 * (len(fresh) - 1))
        told += [
            Figure("corpus", f"{what}: median, fresh / corpus", (statistics.median(fresh) / statistics.median(bred),)),
            Figure("corpus", f"{what}: 90th percentile, fresh / corpus", (fresh[at] / bred[at],)),
        ]
    return told


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m bench.corpus", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("score", type=Path, help="what python -m tests.mutants --out wrote")
    parser.add_argument("--rarest", type=int, default=40, help="faults")
    parser.add_argument("--seeds", type=int, default=3, help="hunts of each fault in each arm")
    parser.add_argument("--seconds", type=float, default=10.0, help="the most that one hunt may take")
    parser.add_argument("--corpus", type=int, default=4000, help="plans with correct peers that the corpus comes from")
    parser.add_argument("-j", type=int, default=2, help="processes")
    chosen = parser.parse_args(arguments)
    names = rarest(chosen.score, chosen.rarest)
    jobs = [(name, 100 + seed, chosen.seconds, chosen.corpus) for name in names for seed in range(chosen.seeds)]
    with ProcessPoolExecutor(chosen.j, get_context("spawn")) as pool:
        hunts = [each for found in pool.map(hunt, jobs, chunksize=chosen.seeds) for each in found]
    for name in names:
        medians = [statistics.median(h.plans for h in hunts if (h.mutant, h.arm) == (name, arm)) for arm in ARMS]
        print(f"  {name}: {', '.join(f'{plans:.0f} plans {arm}' for plans, arm in zip(medians, ARMS, strict=True))}")
    for figure in figures(hunts):
        print(figure.what, round(figure.median, 2), figure.unit)
    return 0


if __name__ == "__main__":
    sys.exit(main())
