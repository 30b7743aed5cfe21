"""Looking for false alarms in KCL: correct children and hosts of every kind must never be blamed.

`python -m tests.soak_kcl [PLANS] [--pipes PLANS] [-j PROCESSES]` plays that many plans in memory, over all roles,
profiles and properties of the suites, with the switches of the references drawn anew every 25 plans; then some over
pipes. Exit status 1, and the conversation, if a correct program is blamed. A recommendation may be missed only where a
switch asks for it (see `ASKED_FOR`).
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from impls.drive import Setting, drive
from impls.kcl.child import drawn
from impls.kcl.memory import Children
from impls.link import Ground, MemoryGround
from impls.pipes import PipeGround, Pool, environment
from specs.protocol import find
from strategies.common import Program
from suites.trace import conversation
from tests.properties import properties

EACH = 25
KCL = find("kcl")
ROOT = Path(__file__).resolve().parent.parent
ASKED_FOR = {"KCL-INV-CHILD-01", "KCL-SHUT-04"}
"""Recommendations that the reference misses when a switch asks it to."""
Made = tuple[Ground, str]


def in_memory(role: str, profile: str, number: int) -> Made:
    """A reference with switches drawn by number, and what they are."""
    if role == "child":
        switches = drawn(number)
        return MemoryGround(lambda: Children(profile, switches)), repr(switches)
    from impls.kcl.host import Hosts  # noqa: PLC0415
    from impls.kcl.host import drawn as drawn_host  # noqa: PLC0415

    chosen = drawn_host(number)
    return MemoryGround(lambda: Hosts(profile, chosen)), repr(chosen)


def on_pipes(role: str, profile: str, number: int) -> Made:
    """The same as a process."""
    argv = [sys.executable, "-m", "impls.kcl", role, "--profile", profile, "--seed", str(number)]
    pool = Pool("reference", argv, environment({"PYTHONPATH": str(ROOT)}, str), ROOT)
    if role == "child":
        return PipeGround(pool), repr(drawn(number))
    from impls.relay import RelayGround  # noqa: PLC0415

    return RelayGround(pool), str(number)


def soak(role: str, profile: str, plans: int, first: int, make: Callable[[str, str, int], Made]) -> Any:
    """Play `plans` plans; (verdicts, alarms)."""
    config = KCL.configure(role, profile, {"scripted": True, "decodes": True}, {"noted": True})
    verdicts: Counter[str] = Counter()
    alarms: list[str] = []
    props = properties("kcl", role)
    share = max(1, plans // len(props))
    for number, (prop, _) in enumerate(props):
        share_of_it = max(3, share // 50) if "big" in prop.name else share
        for batch in range(0, share_of_it, EACH):
            ground, what = make(role, profile, first * 7919 + number * 10_007 + batch)
            setting = Setting(KCL, config, role, ground, 1000.0 if isinstance(ground, MemoryGround) else 4000.0)
            count = min(EACH, share_of_it - batch)
            told = (verdicts, alarms)
            _batch(prop, config, setting, count, first * 1_000_003 + number * 7919 + batch, what, told)
            if isinstance(ground, PipeGround):
                ground.close()
    return verdicts, alarms


def _batch(prop: Any, config: Any, setting: Setting, count: int, number: int, what: str, told: Any) -> None:
    verdicts, alarms = told

    @settings(max_examples=count, database=None, deadline=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @seed(number)
    @given(prop.programs)
    def play(program: Program) -> None:
        plan = prop.plan(program, config)
        recording = drive(plan, setting, f"s{number}n{sum(verdicts.values())}-")
        judgement = recording.judgement
        verdicts[judgement.verdict] += 1
        for blame in judgement.faults:
            level = blame.breach.level or KCL.requirements[blame.breach.requirement].level
            if level == "SHOULD" and blame.breach.requirement in ASKED_FOR:
                continue
            alarms.append(_told(recording, f"{prop.name} {blame.breach.requirement}: {blame.breach.why}", what))
        if judgement.verdict == "error":
            alarms.append(_told(recording, judgement.why, what))
        if judgement.verdict == "inconclusive":
            verdicts[f"  {prop.name}: {judgement.why[:80]}"] += 1

    play()


def _told(recording: Any, what: str, switches: str) -> str:
    lines = [f"{event['ms']} {event.get('by')} {event.get('text', event['event'])!r:.300}"
             for event in conversation(recording, KCL)]  # fmt: skip
    return "\n".join([what, switches, *lines[-40:]])


def _part(job: tuple[str, str, int, int, bool]) -> Any:
    role, profile, plans, first, pipes = job
    return soak(role, profile, plans, first, on_pipes if pipes else in_memory)


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak_kcl")
    parser.add_argument("plans", type=int, nargs="?", default=5_000, help="plans in memory")
    parser.add_argument("--pipes", type=int, default=0, help="plans over pipes")
    parser.add_argument("--role", action="append", choices=("child", "host"))
    parser.add_argument("-j", type=int, default=2, help="processes")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    roles = args.role or ["child", "host"]
    status = 0
    for pipes, plans in ((False, args.plans), (True, args.pipes)):
        if not plans:
            continue
        begun = time.monotonic()
        each = plans // (len(roles) * len(KCL.profiles))
        jobs = [(role, profile, each, args.seed * 1000 + n, pipes)
                for n, (role, profile) in enumerate((r, p) for r in roles for p in KCL.profiles)]  # fmt: skip
        with multiprocessing.Pool(args.j) as pool:
            found = pool.map(_part, jobs, chunksize=1)
        verdicts: Counter[str] = Counter()
        for counted, _ in found:
            verdicts.update(counted)
        alarms = [alarm for _, of in found for alarm in of]
        where = "over pipes" if pipes else "in memory"
        total = sum(count for name, count in verdicts.items() if not name.startswith(" "))
        print(f"{where}: {total} plans in {time.monotonic() - begun:.0f} s, {len(alarms)} false alarms")
        for name, count in sorted(verdicts.items()):
            print(f"  {name}: {count}")
        for name, count in Counter(alarm.split("\n")[0] for alarm in alarms).most_common(20):
            print(f"  {count} x {name}")
        print("\n\n".join(alarms[:2]))
        status |= bool(alarms)
    return status


if __name__ == "__main__":
    sys.exit(main())
