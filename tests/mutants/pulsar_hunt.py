"""Are the seeded faults of Pulsar found by the suites that users run, and on what are they blamed?

python -m tests.mutants.pulsar_hunt [--budget SECONDS] [--only PATTERN]
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from pkgutil import iter_modules

from impls.drive import Recording, Setting
from impls.link import MemoryGround
from suites.hunt import Fault, Hunter
from suites.investigate import Investigator
from tests.mutants.pulsar_kit import MUTANTS, PULSAR, Mutant
from tests.properties import properties

THEMES = tuple(
    each.name for each in iter_modules([str(Path(__file__).parent)]) if re.match(r"pulsar_(?!kit|hunt)", each.name)
)
for _theme in THEMES:
    importlib.import_module(f"tests.mutants.{_theme}")
BUDGET_S = 30.0
SLICE_S, GROWTH = 0.05, 1.6
"""What each property of weight 1 gets in the first turn, and how much more in each that follows."""


class _Found(BaseException):  # not an Exception: Hypothesis would take it for a failing example
    """The right fault was reported."""


def hunter_for(mutant: Mutant, report: Callable[[Fault], None]) -> Hunter:
    """A hunter on a fresh peer of the mutant."""
    ground, role, config = MemoryGround(mutant.make), mutant.role, mutant.config

    def settle(recording: Recording) -> str:
        died, ground.crash = ground.crash, ""
        if died:
            ground.restart()
        return f"it raised {died} in this conversation" if died and role == "broker" else ""

    return Hunter(
        Setting(PULSAR, config, role, ground),
        {r.id: r for r in PULSAR.requirements.binding(role, mutant.profile) if not r.untestable},
        investigate=Investigator(shrink_s=1.0),
        report=report,
        settle=settle,
        prefix="m",
    )


def score(mutant: Mutant, budget_s: float = BUDGET_S) -> tuple[str, float, list[str]]:
    """ "killed", "late" (others were blamed first), "wrong" or "survived"; seconds; what else was blamed."""
    seen: list[Fault] = []
    right: list[Fault] = []

    def report(fault: Fault) -> None:
        if fault.requirement in mutant.blames:
            right.append(fault)
            raise _Found
        seen.append(fault)

    begun, turn = time.monotonic(), 0
    try:
        hunter = hunter_for(mutant, report)
        cases = properties("pulsar", mutant.role)
        while (left := budget_s - (time.monotonic() - begun)) > 0:
            for prop, weight in cases:
                again = replace(prop, name=f"{prop.name} {turn}")  # a name of its own: other programs in each turn
                hunter.hunt(again, min(left, SLICE_S * GROWTH**turn * weight))
            turn += 1
    except _Found:
        pass
    others = [f"{fault.requirement}: {fault.why}" for fault in seen if fault.verdict == "fail"]
    status = ("late" if others else "killed") if right else "wrong" if others else "survived"
    return status, time.monotonic() - begun, others


def main(arguments: Sequence[str] | None = None) -> int:
    """Score the mutants; the exit status is 1 when one is not killed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.pulsar_hunt")
    parser.add_argument("--budget", type=float, default=BUDGET_S, metavar="SECONDS")
    parser.add_argument("--only", default="*", metavar="PATTERN")
    wishes = parser.parse_args(arguments)
    chosen = [
        m for m in MUTANTS if not m.unseen and (fnmatchcase(m.name, wishes.only) or fnmatchcase(m.role, wishes.only))
    ]
    killed, times = 0, []
    for mutant in chosen:
        status, seconds, others = score(mutant, wishes.budget)
        killed += status == "killed"
        times.append(seconds)
        if status != "killed":
            print(
                f"{status:<9}{mutant.role} {mutant.name:<24}{mutant.requirement:<16}{seconds:6.1f} s  {others[:2]}",
                flush=True,
            )
    times.sort()
    print(f"{killed} of {len(chosen)} killed; median {times[len(times) // 2]:.2f} s, worst {times[-1]:.2f} s")
    return 0 if killed == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
