"""Looking for false alarms: correct servers of every kind must never be blamed.

`python -m tests.soak [PLANS] [--tcp PLANS] [-j PROCESSES]` plays that many plans in each discipline against the
reference with all its switches drawn anew every 25 plans, over all families of sessions and misuses, then some over
TCP. Exit status 1, and the conversation, if a correct server is blamed at all; for a recommendation it may be blamed
only where a switch asks it to miss one (a connection that is closed in silence).
"""

from __future__ import annotations

import argparse
import multiprocessing
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hypothesis import HealthCheck, Phase, given, seed, settings

from impls.drive import Recording, Setting, drive
from impls.link import Ground, MemoryGround, TcpGround
from impls.stomp.reference import Server
from specs.plan import Plan
from specs.protocol import find
from specs.stomp import frames
from specs.stomp.states import MODEST, NORMAL, Config
from strategies.common import Program
from strategies.stomp import aimed, beats, misuse, negotiation, refusals, sessions, settling
from suites.investigate import CONFIRM_MS
from suites.trace import conversation

EACH = 25
"""Plans on one server."""
FIXED = {"versions": "1.0,1.1,1.2", "odd_destination": "accept"}
SILENT = ("silent_close", "over_limit")
STOMP = find("stomp")
BEAT = STOMP.describe(frames.BEAT)
FACTS = {name: fact.default for name, fact in STOMP.facts.items()}


@dataclass
class Count:
    """What a soak saw."""

    plans: int = 0
    verdicts: Counter[str] | None = None
    alarms: tuple[str, ...] = ()
    lapses: int = 0


def config_of(server: Server, profile: str = "1.2") -> Config:
    """What discovery would learn of a reference with these switches."""
    switches = server.switches
    learnt = {
        "supports": ("1.0", "1.1", "1.2"),
        "queue": {"keeps": True, "own": True, "redelivers": switches.redelivery in ("front", "back")},
        "topic": {"own": bool(switches.self_delivery), "copies": switches.copies == "each"},
        "sizes": MODEST if switches.limits == "small" else NORMAL,
        "crowded": switches.connections == "three",
        "folds": switches.destinations == "any-case",
    }
    return STOMP.configure("server", profile, FACTS, learnt)


STRATEGIES: tuple[tuple[object, Callable[..., Plan]], ...] = (
    (sessions.sessions(sessions.EVERYTHING), sessions.interpret),
    (misuse.misuses(), misuse.interpret),
    (aimed.ACKING.programs, aimed.ACKING.interpret),
    (aimed.TRANSACTIONS.programs, aimed.TRANSACTIONS.interpret),
    (aimed.SUBSCRIBING.programs, aimed.SUBSCRIBING.interpret),
    (aimed.ACKING_IN_TX.programs, aimed.ACKING_IN_TX.interpret),
    (aimed.REPEATS.programs, aimed.REPEATS.interpret),
    (negotiation.openings(), negotiation.interpret),
    (beats.rhythms(), beats.interpret),
    (misuse.misuses(), misuse.interpret),
    (refusals.refusals(), refusals.interpret),
    (settling.settlements(), settling.interpret),
    (aimed.MANY.programs, aimed.MANY.interpret),
    (aimed.ENDINGS.programs, aimed.ENDINGS.interpret),
    (aimed.SENDING.programs, aimed.SENDING.interpret),
    (aimed.LAWS["M-11 names"].programs, aimed.LAWS["M-11 names"].interpret),
)


def soak(plans: int, hurry: bool, first: int, make: Callable[[int], tuple[Ground, Config, Server | None]]) -> Count:
    """Play `plans` plans; `first` makes the seeds of this part its own."""
    count = Count(verdicts=Counter())
    assert count.verdicts is not None
    share = max(EACH, plans // len(STRATEGIES))
    for number, (strategy, interpret) in enumerate(STRATEGIES):
        for recording, plan, server in _recordings(strategy, interpret, share, hurry, first + 1000 * number, make):
            judgement = recording.judgement
            count.plans += 1
            count.verdicts[judgement.verdict] += 1
            silent = server is not None and (server.switches.silent_close or server.switches.over_limit == "close")
            for blame in judgement.faults:
                level = blame.breach.level or STOMP.requirements[blame.breach.requirement].level
                if level != "MUST" and silent and "closed without ERROR" in blame.breach.why:
                    count.lapses += 1
                    continue
                count.alarms += (_told(recording, plan, server, f"{blame.breach.requirement}: {blame.breach.why}"),)
            if judgement.verdict == "error":
                count.alarms += (judgement.why,)
    return count


def _recordings(
    strategy: object,
    interpret: Callable[..., Plan],
    plans: int,
    hurry: bool,
    first: int,
    make: Callable[[int], tuple[Ground, Config, Server | None]],
) -> Iterator[tuple[Recording, Plan, Server | None]]:
    for batch in range(0, plans, EACH):
        ground, config, server = make(first * 7919 + batch)
        setting = Setting(STOMP, config, "server", ground, CONFIRM_MS)  # what a run believes in the end
        done: list[tuple[Recording, Plan]] = []

        @settings(
            max_examples=EACH,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @seed(first * 1_000_003 + batch)
        @given(strategy)
        def play(program: Program) -> None:
            plan = interpret(program, config, hurry=hurry)  # noqa: B023 - called within this turn of the loop
            done.append((drive(plan, setting, f"s{first}b{batch}n{len(done)}x"), plan))  # noqa: B023

        play()
        for recording, plan in done:
            yield recording, plan, server


def _told(recording: Recording, plan: Plan, server: Server | None, what: str) -> str:
    lines = [f"{event['ms']} {event.get('conn')} {event.get('by')} {event.get('text', event['event'])!r:.200}"
             for event in conversation(recording, STOMP) if event.get("text") != BEAT]  # fmt: skip
    return "\n".join([what, repr(server.switches) if server else "", repr(plan.features), *lines[-60:]])


def in_memory(number: int, profile: str = "1.2") -> tuple[Ground, Config, Server | None]:
    """A reference with switches drawn by number."""
    server = Server.random(number, **FIXED)
    return MemoryGround(lambda: server), config_of(server, profile), server


def _part(job: tuple[int, bool, int, str]) -> Count:
    plans, hurry, first, profile = job
    return soak(plans, hurry, first, lambda number: in_memory(number, profile))


def over_tcp(plans: int) -> Count:
    """Plans against the reference as a process, with random switches, in both disciplines."""
    count = Count(verdicts=Counter())
    for number in range(2):
        pinned = [f"--switch={name}={value}" for name, value in FIXED.items()]
        pinned += ["--switch=output_delay_ms=0", "--switch=work_delay_ms=0", "--switch=redelivery=front"]
        pinned += [
            "--switch=limits=large",
            "--switch=connections=any",
            "--switch=self_delivery=True",
            "--switch=silent_close=False",
            "--switch=over_limit=error",
        ]
        argv = [sys.executable, "-m", "impls.stomp", "--port", "0", "--seed", str(number), "--random", *pinned]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                port = int(process.stdout.readline().rsplit(":", 1)[1])
                config = STOMP.configure(
                    "server", "1.2", FACTS,
                    {"supports": ("1.0", "1.1", "1.2"), "queue": {"keeps": True, "own": True}, "topic": {"own": True}},
                )  # fmt: skip
                ground = TcpGround(lambda port=port: ("127.0.0.1", port))
                found = soak(plans // 2, number == 1, 77_000 + number, lambda _, g=ground, c=config: (g, c, None))
                count.plans += found.plans
                count.verdicts.update(found.verdicts or {})
                count.alarms += found.alarms
            finally:
                process.terminate()
    return count


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak")
    parser.add_argument("plans", type=int, nargs="?", default=10_000, help="plans in each discipline")
    parser.add_argument("--tcp", type=int, default=0, help="plans over TCP")
    parser.add_argument("-j", type=int, default=2, help="processes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--profile", default="1.2", help="the version that the reference is taken to claim")
    args = parser.parse_args()
    parts = max(args.j, args.plans // 5000)
    status = 0
    for hurry in (False, True):
        begun = time.monotonic()
        first = args.seed * 1_000_000
        jobs = [(args.plans // parts, hurry, first + 20_000 * part, args.profile) for part in range(parts)]
        with multiprocessing.Pool(args.j) as pool:
            counts = pool.map(_part, jobs, chunksize=1)
        name = "pipelined" if hurry else "lock-step"
        status |= _report(name, counts, time.monotonic() - begun)
    if args.tcp:
        begun = time.monotonic()
        status |= _report("over TCP", [over_tcp(args.tcp)], time.monotonic() - begun)
    return status


def _report(name: str, counts: list[Count], took_s: float) -> int:
    verdicts: Counter[str] = Counter()
    for count in counts:
        verdicts.update(count.verdicts or {})
    alarms = [alarm for count in counts for alarm in count.alarms]
    plans, lapses = sum(count.plans for count in counts), sum(count.lapses for count in counts)
    print(
        f"{name}: {plans} plans in {took_s:.0f} s, {len(alarms)} false alarms, "
        f"{lapses} silent closes asked for; {dict(verdicts)}"
    )
    for alarm in alarms[:5]:
        print(alarm)
    return 1 if alarms else 0


if __name__ == "__main__":
    sys.exit(main())
