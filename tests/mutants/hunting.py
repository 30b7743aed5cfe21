"""Hunting seeded faults one after the other, for protocols whose mutants are not (yet) in `tests.mutants.hunted`."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from impls.drive import Recording
from impls.link import MemoryGround
from suites.hunt import Fault, Hunter
from tests.properties import properties

BUDGET_S = 30.0
SLICE_S, GROWTH = 0.05, 1.6
"""What each property of weight 1 gets in the first turn, and how much more in each that follows."""
HunterFor = Callable[[Any, Callable[[Fault], None]], Hunter]
"""A hunter on a fresh peer of the mutant, which reports to the function."""


class _Found(BaseException):  # not an Exception: Hypothesis would take it for a failing example
    """The right fault was reported."""


def settling(ground: MemoryGround, *, tell: bool) -> Callable[[Recording], str]:
    """What a hunter does after each plan: a peer that raised is made anew, and its death reported if `tell`."""

    def settle(recording: Recording) -> str:
        died, ground.crash = ground.crash, ""
        if died:
            ground.restart()
        return f"it raised {died} in this conversation" if died and tell else ""

    return settle


def score(
    protocol: str, mutant: Any, hunter_for: HunterFor, budget_s: float = BUDGET_S
) -> tuple[str, float, list[str]]:
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
        cases = properties(protocol, mutant.role)
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


def main(protocol: str, mutants: Sequence[Any], hunter_for: HunterFor, arguments: Sequence[str] | None = None) -> int:
    """Score the mutants; the exit status is 1 when one is not killed."""
    parser = argparse.ArgumentParser(prog=f"python -m tests.mutants.{protocol}_hunt")
    parser.add_argument("--budget", type=float, default=BUDGET_S, metavar="SECONDS")
    parser.add_argument("--only", default="*", metavar="PATTERN")
    wishes = parser.parse_args(arguments)
    chosen = [m for m in mutants if fnmatchcase(m.name, wishes.only) or fnmatchcase(m.role, wishes.only)]
    killed, times = 0, []
    for mutant in chosen:
        status, seconds, others = score(protocol, mutant, hunter_for, wishes.budget)
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
