"""Sixteen conversations in flight beside one at a time: with a server that says nothing, and with one that is fast.

The same plans are driven against the same program over TCP, in turns. Both sides of a ratio wait for another process,
so this is wall-clock time. With the silent server each plan is in a lane of its own. With the fast one a hunt that may
hold sixteen at once stands beside one that may not: where answers come soon, holding more at once would gain nothing,
and the hunt does not do it (`suites.playing.SLOW_S`).
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from bench.measure import Figure, Rate, RunOptions, ratios, say
from bench.ontime import ROOT
from bench.transport import STOMP, config, drawn
from impls.driver.drive import Recording, Setting, drive
from impls.driver.link import TcpTransport
from strategies.common import Program
from strategies.stomp import sessions
from suites.hunt import Hunter, Investigated, Property
from suites.lanes import SLOW_WIDTH, WIDTH, Lanes

SERVERS = {
    "silent": (["bench.faulty", "stomp", "silent", "0"], 8.0),
    "fast": (["impls.references.stomp", "--port", "0"], 1.0),
}
"""The program, and how many times as much sixteen should come to."""
PATIENCE_MS = {"silent": 250.0, "fast": 4000.0}
PLANS = {"silent": 32, "fast": 200}


@contextmanager
def listening(arguments: Sequence[str]) -> Iterator[tuple[str, int]]:
    """The address of a program that says on its first line where it listens."""
    with subprocess.Popen([sys.executable, "-m", *arguments], stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            yield "127.0.0.1", int(process.stdout.readline().rsplit(":", 1)[1])
        finally:
            process.kill()


def hunted(programs: Sequence[Program], setting: Setting, width: int, prefix: str) -> float:
    """Plans in each second of a hunt that may hold `width` conversations at once."""
    lanes, begun = Lanes(WIDTH) if width > 1 else None, time.monotonic()
    hunter = Hunter(
        setting, {}, investigate=lambda *_: Investigated(None), prefix=prefix, lanes=lanes, at_once=width
    )  # fmt: skip
    pursuit = hunter.pursuit(Property("sessions", sessions.sessions(), sessions.interpret))
    for program in programs:
        hunter.play_one(pursuit, program)
    hunter.finish()
    return pursuit.tally.plans / (time.monotonic() - begun)


def played(programs: Sequence[Program], setting: Setting, width: int, prefix: str) -> float:
    """Plans in each second with `width` of them in flight."""
    lanes, begun = Lanes(width), time.monotonic()
    done: list[Recording] = []
    plans = [sessions.interpret(program, config(), hurry=False) for program in programs]
    for nth, plan in enumerate(plans):
        lanes.submit(partial(drive, plan, setting, f"{prefix}{nth}-"), done.append)
    while lanes.pending:
        lanes.wait(1.0)
        lanes.collect()
    return len(done) / (time.monotonic() - begun)


WAYS = {"silent": played, "fast": hunted}


def beside(name: str, options: RunOptions) -> Figure:
    """How much more of `name` is judged in the same time."""
    arguments, target = SERVERS[name]
    found: dict[int, list[float]] = {1: [], SLOW_WIDTH: []}
    programs = drawn(sessions.sessions(), 2 if options.tiny else PLANS[name], 1)
    with listening(arguments) as address:
        setting = Setting(STOMP, config(), "server", TcpTransport(lambda: address), PATIENCE_MS[name])
        for n in range(options.repeats):
            for width, rates in found.items():
                rates.append(WAYS[name](programs, setting, width, f"{name}{n}w{width}p"))
    one, many = (Rate(f"{name}, {width} in flight", "plans", tuple(rates)) for width, rates in found.items())
    say(f"  {one}\n  {many}")
    return Figure("inflight", f"{SLOW_WIDTH} in flight beside one, a {name} server", ratios(many, one), target)


def run(options: RunOptions) -> list[Figure]:
    """Both servers."""
    return [beside(name, options) for name in SERVERS]
