"""Looking for false alarms: correct Pulsar peers of every kind must never be blamed.

    python -m tests.soak_pulsar [PLANS] [--role broker] [--tcp PLANS] [--seed N]

Plays that many plans of each role in memory, half of them pipelined, against references of both profiles whose switches
are drawn anew every 20 plans, over all properties of the suites; `--tcp` as many against the broker as a process. Exit
status 1, and the conversation, if a correct peer is blamed for anything but a recommendation that its switches make it
miss.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from impls.drive import Recording, Setting, drive
from impls.link import Ground, MemoryGround, TcpGround
from impls.pulsar.client import CLIENT_SWITCHES
from impls.pulsar.client_memory import Client
from impls.pulsar.reference import SWITCHES, Broker
from specs.protocol import find
from suites.hunt import Property
from suites.trace import conversation
from tests.properties import properties

PULSAR = find("pulsar")
EACH = 20
PEERS: Mapping[str, Any] = {"broker": Broker, "client": Client}
ALL = {"broker": SWITCHES, "client": CLIENT_SWITCHES}
FACTS = tomllib.loads((Path(__file__).parent.parent / "impls/pulsar/reference-broker-seed.toml").read_text())["pulsar"]
Made = tuple[Ground, str, bool, str]
"""Where it is, its profile, whether it misses recommendations, and what it is called in a report."""


def config_for(role: str, profile: str, dedup: bool = False) -> Any:
    """What the references declare."""
    facts = {name: fact.default for name, fact in PULSAR.facts.items()} | (FACTS if role == "broker" else {})
    facts["dedup"] = dedup
    return PULSAR.configure(role, profile, facts, {})


def alarms(recording: Recording, misses: bool) -> list[str]:
    """What a correct peer must not be blamed for."""
    found = [recording.judgement.why] if recording.judgement.verdict == "error" else []
    for blame in recording.judgement.faults:
        level = blame.breach.level or PULSAR.requirements[blame.breach.requirement].level
        if blame.breach.steady:
            continue  # the text tolerates it once in a while
        if level != "SHOULD" or not misses:
            found.append(f"{blame.breach.requirement}: {blame.breach.why}")
    return found


def told(recording: Recording) -> list[str]:
    """What happened, line by line."""
    lines = []
    for event in conversation(recording, PULSAR):
        text = str(event.get("text", event["event"]))
        lines.append(f"  {event['ms']} {event.get('conn')} {event.get('by')} {text:.240}")
    return lines


def soak(role: str, plans: int, number: int, make: Callable[[int], Made], show: int = 5) -> int:
    """Play `plans` plans in `role`; the number of alarms."""
    cases: list[Property] = [prop for prop, _ in properties("pulsar", role)]
    if not cases:
        return 0
    verdicts: Counter[str] = Counter()
    whys: Counter[str] = Counter()
    found = played = 0
    begun, chance = time.process_time(), random.Random(number)
    while played < plans:
        ground, profile, misses, name = make(chance.randrange(1 << 30))
        setting = Setting(PULSAR, config_for(role, profile, "dedup" in name), role, ground)
        done: list[Recording] = []
        prop = cases[chance.randrange(len(cases))]

        @settings(
            max_examples=EACH,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @seed(chance.randrange(1 << 30))
        @given(prop.programs)
        def play(program: Any) -> None:
            serial = f"s{played + len(done)}"  # noqa: B023 - within this turn
            done.append(drive(prop.plan(program, setting.config), setting, serial))  # noqa: B023

        play()
        if getattr(ground, "crash", ""):
            print(f"{role}: the reference raised {ground.crash}")  # type: ignore[attr-defined]
            found += 1
        played += len(done)
        for recording in done:
            verdicts[recording.judgement.verdict] += 1
            for alarm in alarms(recording, misses):
                found += 1
                whys[alarm[:120]] += 1
                if whys[alarm[:120]] == 1 and len(whys) <= show:
                    print("\n".join([f"{role}: {alarm:.300}", f"  {prop.name}", f"  {name}", *told(recording)[-200:]]))
    spent = time.process_time() - begun
    print(f"{role}: {played} plans in {spent:.0f} s of processor time, {found} false alarms; {dict(verdicts)}")
    for why, count in whys.most_common(20):
        print(f"  {count:6} {why}")
    return found


def unusual(role: str, peer: Any) -> str:
    """The switches of a peer that are not at their defaults."""
    switches = peer.switches if role == "broker" else peer.caller_type(**peer._made).switches
    chosen = {name: getattr(switches, name) for name in ALL[role]}
    return ", ".join(f"{name}={value}" for name, value in chosen.items() if value != ALL[role][name][0])


def in_memory(role: str, **fixed: Any) -> Callable[[int], Made]:
    """References with their switches drawn by a number."""

    def make(number: int) -> Made:
        profile = ("seed", "modern")[number % 2]
        dedup = {"deduplication": True} if role == "broker" and number % 5 == 1 else {}
        peer = PEERS[role].random(number, profile=profile, **dedup, **fixed)
        misses = "unreadable=reconnect" in unusual(role, peer) or (role == "broker" and not peer.switches.recommended)
        name = f"{profile}: {'dedup, ' if dedup else ''}{unusual(role, peer)}"
        return MemoryGround(lambda: peer), profile, misses, name

    return make


def over_tcp(plans: int, number: int) -> int:
    """The broker as a process, with switches drawn by a number."""
    found = 0
    for part, profile in enumerate(("seed", "modern")):
        argv = [sys.executable, "-m", "impls.pulsar", "broker", "--port", "0", "--profile", profile, "--random"]
        argv += ["--seed", str(number + part), "--switch", "recommended=true"]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                port = int(process.stdout.readline().rsplit(":", 1)[1])
                ground = TcpGround(lambda port=port: ("127.0.0.1", port))
                made = (ground, profile, False, f"over TCP, {profile}, seed {number + part}")
                found += soak("broker", plans // 2, number + part, lambda _, made=made: made)
            finally:
                process.terminate()
    return found


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak_pulsar")
    parser.add_argument("plans", type=int, nargs="?", default=5000, help="plans of each role")
    parser.add_argument("--role", choices=sorted(PEERS), action="append", help="these roles only")
    parser.add_argument("--tcp", type=int, default=0, help="plans over TCP")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    found = sum(soak(role, args.plans, args.seed, in_memory(role)) for role in args.role or PEERS) if args.plans else 0
    if args.tcp:
        found += over_tcp(args.tcp, args.seed)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
