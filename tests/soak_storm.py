"""Looking for false alarms in Storm: correct children and hosts of every kind must never be blamed.

`python -m tests.soak_storm [PLANS] [--pipes PLANS] [--role ROLE]` plays that many plans in memory, over all roles,
with and without extensions, over all properties of the suites, in lock-step and pipelined, with the switches of the
references drawn anew every 25 plans; then some over pipes. Exit status 1, and the conversation, if a correct program is
blamed. A recommendation may be missed only where a switch asks for it (see `ASKED_FOR`).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from impls.drive import Setting, drive
from impls.link import Ground, MemoryGround
from impls.pipes import PipeGround, Pool, environment
from impls.relay import RelayGround
from impls.storm import child, freedoms, host, hosts
from impls.storm.host_memory import Hosts
from impls.storm.memory import Children
from impls.storm.reference import ALL
from specs.protocol import find
from strategies.common import Program
from strategies.storm import discover
from suites.trace import conversation
from tests.properties import properties

EACH = 25
STORM = find("storm")
ROOT = Path(__file__).resolve().parent.parent
ROLES = ("bolt", "spout", "bolt-host", "spout-host")
CHILDREN = {"bolt": child.Bolt, "spout": child.Spout}
HOSTS = {"bolt-host": hosts.BoltHost, "spout-host": hosts.SpoutHost}
ASKED_FOR = ("STORM-HB-07", "STORM-HS-12", "STORM-INV-CHILD-01")
"""Recommendations that a reference misses when a switch asks it to."""
LAX = ("STORM-INV-HOST", "STORM-HS-18")
"""What a lax host misses besides."""


def made(role: str, extensions: frozenset[str], number: int, pipes: bool) -> tuple[Ground, str]:
    """A reference with switches drawn by number, and what they are."""
    switches: Any = freedoms.drawn(number) if role in CHILDREN else host.drawn(number)
    if not pipes:
        if role in CHILDREN:
            return MemoryGround(lambda: Children(CHILDREN[role], extensions, switches)), repr(switches)
        return MemoryGround(lambda: Hosts(HOSTS[role], extensions, switches)), repr(switches)
    profile = "+".join(["seed", *sorted(extensions)])
    argv = [sys.executable, "-m", "impls.storm", role, "--profile", profile, "--seed", str(number)]
    pool = Pool("reference", argv, environment({"PYTHONPATH": str(ROOT)}, str), ROOT)
    return (PipeGround if role in CHILDREN else RelayGround)(pool), repr(switches)


def soak(role: str, extensions: frozenset[str], plans: int, first: int, pipes: bool, told: Any) -> None:
    """Play `plans` plans, half of the batches with all of `extensions` and half with some of them."""
    props = properties("storm", role)
    if pipes:
        props = [(prop, weight) for prop, weight in props if "timing" not in prop.name and "big" not in prop.name]
    share = max(1, plans // len(props))
    for number, (prop, _) in enumerate(props):
        slow = "big" in prop.name or ("invalid_input" in prop.name and "host" in prop.name)
        count = max(3, share // 10) if slow else share
        for batch in range(0, count, EACH):
            place = first * 7919 + number * 10_007 + batch
            chance = Random(place)
            some = extensions if place % 2 else frozenset(each for each in extensions if chance.random() < 0.5)
            ground, what = made(role, some, place, pipes)
            profile = "+".join(["seed", *sorted(some)])
            _batch(prop, role, profile, ground, min(EACH, count - batch), first + number * 7919 + batch, what, told)
            if isinstance(ground, PipeGround):
                ground.close()


def _batch(prop: Any, role: str, profile: str, ground: Any, count: int, number: int, what: str, told: Any) -> None:
    verdicts, alarms = told
    patience = 1000.0 if isinstance(ground, MemoryGround) else 5000.0

    def configure(learnt: Any) -> Any:
        return STORM.configure(role, profile, {"scripted": True}, learnt)

    def ask(plan: Any, config: Any) -> Any:
        recording = drive(plan, Setting(STORM, config, role, ground, patience), "ask-")
        return tuple(recording.events), recording.judgement

    config = configure(discover(ask, configure))
    setting = Setting(STORM, config, role, ground, patience)

    @settings(max_examples=count, database=None, deadline=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @seed(number)
    @given(prop.programs)
    def play(program: Program) -> None:
        recording = drive(prop.plan(program, config), setting, f"s{number}-")
        judgement = recording.judgement
        verdicts[judgement.verdict] += 1
        if isinstance(ground, MemoryGround) and ground.crash:
            alarms.append(_told(recording, f"the reference raised {ground.crash}", what))
            ground.restart()
        for blame in judgement.faults:
            level = blame.breach.level or STORM.requirements[blame.breach.requirement].level
            asked_for = ASKED_FOR + LAX if "lax=True" in what else ASKED_FOR
            if level != "SHOULD" or not blame.breach.requirement.startswith(asked_for):
                alarms.append(_told(recording, f"{prop.name} {blame.breach.requirement}: {blame.breach.why}",
                                    f"{profile} {what}"))  # fmt: skip
        if judgement.verdict == "error":
            alarms.append(_told(recording, judgement.why, what))
        if judgement.verdict == "inconclusive":
            verdicts[f"  {prop.name}: {judgement.why[:80]}"] += 1

    play()


def _told(recording: Any, what: str, switches: str) -> str:
    lines = [f"{event['ms']} {event.get('by')} {event.get('text', event['event'])!r:.300}"
             for event in conversation(recording, STORM)]  # fmt: skip
    return "\n".join([what, switches, *lines[-40:]])


def _apart(job: tuple[str, frozenset[str], int, int, bool]) -> tuple[Counter[str], list[str]]:
    """What `soak` tells, from a process of its own."""
    told: tuple[Counter[str], list[str]] = (Counter(), [])
    soak(*job, told)
    return told


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak_storm")
    parser.add_argument("plans", type=int, nargs="?", default=5_000, help="plans in memory")
    parser.add_argument("--pipes", type=int, default=0, help="plans over pipes")
    parser.add_argument("--role", action="append", choices=ROLES)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    roles = args.role or list(ROLES)
    status = 0
    for pipes, plans in ((False, args.plans), (True, args.pipes)):
        if not plans:
            continue
        begun = time.monotonic()
        verdicts: Counter[str] = Counter()
        alarms: list[str] = []
        share = plans // (2 * len(roles))
        jobs = [(role, extensions, share, args.seed * 1000 + number, pipes)
                for role in roles for number, extensions in enumerate((frozenset(), ALL))]  # fmt: skip
        # over pipes nearly all of the time is waiting
        with ProcessPoolExecutor(len(jobs) if pipes else 1, get_context("spawn")) as pool:
            for found, blamed in pool.map(_apart, jobs):
                verdicts.update(found)
                alarms += blamed
        total = sum(count for name, count in verdicts.items() if not name.startswith(" "))
        where = "over pipes" if pipes else "in memory"
        print(f"{where}: {total} plans in {time.monotonic() - begun:.0f} s, {len(alarms)} false alarms")
        for name, count in sorted(verdicts.items()):
            print(f"  {name}: {count}")
        for name, count in Counter(alarm.split("\n")[0][:160] for alarm in alarms).most_common(20):
            print(f"  {count} x {name}")
        print("\n\n".join(alarms[:2]))
        status |= bool(alarms)
    return status


if __name__ == "__main__":
    sys.exit(main())
