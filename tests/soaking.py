"""Looking for false alarms: correct peers of every kind must never be blamed. The same for every protocol.

    python -m tests.soak [PLANS] [--real PLANS] [--at-once N] [--role ROLE] [-j PROCESSES] [--seed N]     STOMP
    python -m tests.soak_kcl, soak_storm, soak_pulsar, soak_msgpack                         the others, likewise

Plays PLANS plans of each role in memory, over all properties of the suites, in lock-step and pipelined, against
references whose switches are drawn anew every 25 plans; `--real` as many against references as processes, over TCP or
pipes, with `--at-once` of them under way with one reference at any time. Exit status 1, and conversations, if a correct
peer is blamed, unless for what its own switches make it miss.
"""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from impls.driver.drive import Recording, Setting, drive
from impls.driver.link import MemoryTransport, TcpTransport, Transport
from impls.driver.pipes import PipeTransport, Pool, environment
from specs.model import Blame, Breach
from specs.protocol import Protocol, find
from suites.hunt import Property
from suites.lanes import Lanes
from suites.trace import conversation
from tests.drawing import drawn
from tests.properties import properties

ROOT = Path(__file__).resolve().parent.parent
EACH, MANY = 25, 4
"""Plans on one peer; and where several go on at once, at least so many times as many."""
SHOWN, EVENTS = 3, 60
"""Conversations that are shown, and how many events of each."""


@dataclass
class Peer:
    """A correct peer: where it is, what the model is told of it, and what it is called in a report.

    `misses(breach, level)` is true for what its switches make it miss; `close` ends what was started.
    """

    transport: Transport
    config: Any
    name: str
    misses: Callable[[Breach, str], bool] = lambda breach, level: False
    patience_ms: float = 1000.0
    close: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class Soak:
    """What a protocol gives: `made(role, number, real)` is a peer with switches drawn by a number, and `share(property,
    real)` says how many of its plans a property gets that is slow."""

    protocol: str
    made: Callable[[str, int, bool], Peer]
    roles: Sequence[str]
    real: Sequence[str]
    share: Callable[[str, bool], float] = lambda prop, real: 1.0


@dataclass
class Count:
    """What a soak saw; an alarm is a sentence and a conversation."""

    verdicts: Counter[str] = field(default_factory=Counter)
    whys: Counter[str] = field(default_factory=Counter)
    missed: int = 0
    alarms: list[tuple[str, str]] = field(default_factory=list)


def soak(
    part: Soak, role: str, plans: int, number: int, real: bool = False, at_once: int = 1, patience_ms: float = 0.0
) -> Count:
    """Play `plans` plans in `role`, `at_once` of them at a time, with at least so much patience; `number` makes the
    seeds of this part its own."""
    count, protocol = Count(), find(part.protocol)
    props = [prop for prop, _ in properties(part.protocol, role)]
    for nth, prop in enumerate(props):
        share = part.share(prop.name, real)
        left = max(1, int(plans / len(props) * share)) if share else 0
        each = max(EACH, MANY * at_once) if at_once > 1 else EACH
        for batch in range(0, left, each):
            place = number * 1_000_003 + nth * 10_007 + batch
            peer = part.made(role, place, real)
            peer.patience_ms = max(peer.patience_ms, patience_ms)
            try:
                play_batch(protocol, role, prop, peer, min(each, left - batch), place, count, at_once)
            finally:
                peer.close()
    return count


def play_batch(
    protocol: Protocol, role: str, prop: Property, peer: Peer, plans: int, number: int, count: Count, at_once: int = 1
) -> None:
    """Play `plans` plans of one property with a peer; `number` seeds them."""
    setting = Setting(protocol, peer.config, role, peer.transport, peer.patience_ms)
    done: list[Recording] = []
    lanes = Lanes(at_once) if at_once > 1 else None

    def play(nth: int, program: Any) -> Recording:
        return drive(prop.plan(program, peer.config), setting, f"s{number}n{nth}-")

    for nth, program in enumerate(drawn(prop.programs, plans, number)):
        if lanes is not None:
            lanes.submit(partial(play, nth, program), done.append)
            continue
        done.append(play(nth, program))
        crash = getattr(peer.transport, "crash", "")
        if crash:
            count.alarms.append((f"the reference raised {crash}", _told(done[-1], protocol, prop, peer)))
            peer.transport.restart()  # type: ignore[attr-defined]
    while lanes is not None and lanes.pending:
        lanes.wait(1.0)
        lanes.collect()
    for recording in done:
        judgement = recording.judgement
        count.verdicts[judgement.verdict] += 1
        if judgement.verdict == "inconclusive":
            count.whys[f"{prop.name}: {judgement.why[:80]}"] += 1
        found = [judgement.why] if judgement.verdict == "error" else []
        for blame in judgement.faults:
            missed = peer.misses(blame.breach, level_of(blame, protocol))
            count.missed += missed
            found += [] if missed else [f"{blame.breach.requirement}: {blame.breach.why}"]
        count.alarms += [(alarm, _told(recording, protocol, prop, peer)) for alarm in found]


def level_of(blame: Blame, protocol: Protocol) -> str:
    """How binding what was broken is."""
    return blame.breach.level or protocol.requirements[blame.breach.requirement].level


def _told(recording: Recording, protocol: Protocol, prop: Property, peer: Peer) -> str:
    lines = [
        f"  {event['ms']} {event.get('conn')} {event.get('by')} {event.get('text', event['event'])!r:.300}"
        for event in conversation(recording, protocol)
    ]
    return "\n".join([f"  {prop.name}", f"  {peer.name}", *lines[-EVENTS:]])


# -- references as processes -------------------------------------------------------------------------------------------


def over_tcp(arguments: Sequence[str]) -> tuple[TcpTransport, Callable[[], None]]:
    """A reference that listens, and how it is ended."""
    process = subprocess.Popen([sys.executable, "-m", *arguments], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    port = int(process.stdout.readline().rsplit(":", 1)[1])

    def close() -> None:
        process.terminate()
        process.wait(10)
        assert process.stdout is not None
        process.stdout.close()

    return TcpTransport(lambda: ("127.0.0.1", port)), close


def on_pipes(kind: type[PipeTransport], arguments: Sequence[str]) -> tuple[PipeTransport, Callable[[], None]]:
    """A reference that speaks on its pipes, and how it is ended."""
    argv = [sys.executable, "-m", *arguments]
    transport = kind(Pool("reference", argv, environment({"PYTHONPATH": str(ROOT)}, str), ROOT))
    return transport, transport.close


def in_memory(peer: Any) -> MemoryTransport:
    """Always the same peer."""
    return MemoryTransport(lambda: peer)


# -- the command -------------------------------------------------------------------------------------------------------


def _part(module: str, role: str, plans: int, number: int, real: bool, at_once: int, patience_ms: float) -> Count:
    return soak(importlib.import_module(module).SOAK, role, plans, number, real, at_once, patience_ms)


def main(module: str, arguments: Sequence[str] | None = None) -> int:
    """1 when somebody was blamed who is right."""
    part: Soak = importlib.import_module(module).SOAK
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("plans", type=int, nargs="?", default=5_000, help="plans of each role in memory")
    parser.add_argument("--real", "--tcp", "--pipes", type=int, default=0, help="plans of each role with processes")
    parser.add_argument("--at-once", type=int, default=1, help="plans under way at a time, with --real")
    parser.add_argument("--role", action="append", choices=part.roles, help="these roles only")
    parser.add_argument("-j", type=int, default=2, help="processes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--patience", type=float, default=0.0, help="least patience, ms: 10000 is what a run ends with")
    chosen = parser.parse_args(arguments)
    status = 0
    for real, plans in ((False, chosen.plans), (True, chosen.real)):
        for role in chosen.role or part.roles:
            if not plans or (real and role not in part.real):
                continue
            begun = time.monotonic()
            parts = max(chosen.j, plans // 5000)
            width = chosen.at_once if real else 1
            jobs = [
                (module, role, plans // parts, chosen.seed * 1000 + nth, real, width, chosen.patience)
                for nth in range(parts)
            ]
            with ProcessPoolExecutor(chosen.j, get_context("spawn")) as pool:
                counts = list(pool.map(_part, *zip(*jobs, strict=True)))
            took = f"{time.monotonic() - begun:.0f} s"
            status |= _report(f"{role} {'as processes' if real else 'in memory'}", counts, took)
    return status


def _report(name: str, counts: Sequence[Count], took: str) -> int:
    verdicts: Mapping[str, int] = sum((count.verdicts for count in counts), Counter())
    alarms = [alarm for count in counts for alarm in count.alarms]
    missed = sum(count.missed for count in counts)
    total = sum(verdicts.values())
    print(
        f"{name}: {total} plans in {took}, {len(alarms)} false alarms, {missed} missed as asked for; {dict(verdicts)}"
    )
    for why, times in sum((count.whys for count in counts), Counter()).most_common(10):
        print(f"  {times} inconclusive: {why}")
    for why, times in Counter(what[:160] for what, _ in alarms).most_common(20):
        print(f"  {times} x {why}")
    for what, told in alarms[:SHOWN]:
        print(f"{what}\n{told}\n")
    return 1 if alarms else 0
