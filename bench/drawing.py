"""Drawing and shrinking: why programs are one byte string, and why they are shrunk by ourselves.

Drawing: plans of the same length, of the same ops, interpreted by the same function, drawn in three ways; and the
state machine of `bench.machine`, drawing only. Shrinking: a few seeded faults, each found by drawing and then made as
short as each way can: `strategies.common.simpler` under `suites.investigate`, Hypothesis' own shrinker on a list of
ops, and the same on the byte string. Seconds are of the processor, from the first failure to the last attempt.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from bench.lockstep import machined
from bench.machine import Drawing
from bench.measure import Figure, Rate, RunOptions, in_turns, number, ratios, say
from bench.transport import STOMP, drawn, setting
from impls.driver.drive import Recording, Setting, drive
from specs.plan import Plan, Say
from strategies.common import ARGS, Op, Program, programs
from strategies.stomp import sessions
from suites.hunt import Hunter, Investigated, Property
from suites.investigate import Investigator

MOST = 20
WHEEL = [kind for kind, weight in sessions.EVEN.items() for _ in range(weight)]
BYTE = st.integers(0, 255)
ENOUGH = 400
"""Examples after which a way has not found a fault."""


@st.composite
def an_op(draw: DrawFn) -> Op:
    """One op, number by number."""
    return Op(draw(st.sampled_from(WHEEL)), tuple([draw(BYTE) for _ in range(ARGS)]))


@st.composite
def a_code(draw: DrawFn) -> Op:
    """One op, as one integer."""
    code = draw(st.integers(0, 256 ** (ARGS + 1) - 1))
    kind, *args = code.to_bytes(ARGS + 1)
    return Op(WHEEL[kind % len(WHEEL)], tuple(args))


def listed(op: SearchStrategy[Op]) -> SearchStrategy[Program]:
    """A program as a list of ops."""
    head = st.tuples(*[BYTE] * sessions.HEAD)
    return st.builds(Program, head, st.lists(op, min_size=1, max_size=MOST).map(tuple))


WAYS = {
    "one byte string": programs(sessions.EVEN, head=sessions.HEAD, most=MOST),
    "list of integer codes": listed(a_code()),
    "list of composite ops": listed(an_op()),
}


def said(plan: Plan) -> int:
    """Frames in a plan."""
    return sum(isinstance(step, Say) for step in plan.steps)


def interpreted(way: SearchStrategy[Program], examples: int, number_: int) -> int:
    """Frames in so many plans."""
    config = setting().config
    return sum(said(sessions.interpret(program, config)) for program in drawn(way, examples, number_))


def drawing(options: RunOptions) -> list[Figure]:
    """Frames/s without anybody to say them to."""
    examples = 3 if options.tiny else 100
    works = {name: lambda n, way=way: interpreted(way, examples, n) for name, way in WAYS.items()}
    plans = {name: lambda n, way=way: len(drawn(way, examples, n)) for name, way in WAYS.items()}
    rates = in_turns({**works, "state machine": lambda _: machined(Drawing, examples)}, options.repeats, unit="frames")
    for rate in (*rates.values(), *in_turns(plans, options.repeats, unit="plans").values()):
        say(f"  drawing, {rate}")
    ours = rates["one byte string"]
    return [
        Figure(
            "drawing", f"one byte string, against {name}", ratios(ours, rate), 3 if name == "state machine" else None
        )
        for name, rate in rates.items()
        if rate is not ours
    ]


@dataclass(frozen=True)
class Shrunk:
    """What became of one fault: seconds of shrinking, steps of the first and the last failing plan, attempts."""

    seconds: float
    before: int
    after: int
    attempts: int


class _Case:
    """Does a program show the fault?"""

    def __init__(self, mutant: Any) -> None:
        self.setting: Setting = setting(mutant.make)
        self.blames = mutant.blames
        self.plays = 0

    def plan(self, program: Program) -> Plan:
        return sessions.interpret(program, self.setting.config, wires=(0,))

    def fails(self, program: Program) -> bool:
        self.plays += 1
        judgement = drive(self.plan(program), self.setting, f"d{self.plays}-").judgement
        return any({blame.breach.requirement, *blame.breach.also} & self.blames for blame in judgement.faults)


def by_hypothesis(mutant: Any, way: SearchStrategy[Program], number_: int, limit: int = ENOUGH) -> Shrunk | None:
    """Found and shrunk by Hypothesis."""
    case, failing, begun = _Case(mutant), [], [0.0, 0.0]

    @settings(
        max_examples=limit,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    @seed(number_)
    @given(way)
    def example(program: Program) -> None:
        if case.fails(program):
            if not failing:
                begun[:] = [time.process_time(), case.plays]
            failing.append(len(case.plan(program).steps))
            raise AssertionError("failing")

    try:
        example()
    except AssertionError:
        return Shrunk(time.process_time() - begun[0], failing[0], failing[-1], case.plays - int(begun[1]))
    return None


def by_ourselves(mutant: Any, number_: int, limit: int = ENOUGH) -> Shrunk | None:
    """Found among drawn programs, and shrunk by suites.investigate."""
    case = _Case(mutant)
    for batch in range(-(-limit // 100)):
        for program in drawn(WAYS["one byte string"], min(limit, 100), 1000 * number_ + batch):
            if case.fails(program):
                return _investigated(case, program)
    return None


def _investigated(case: _Case, program: Program) -> Shrunk | None:
    binding = {r.id: r for r in STOMP.requirements.binding("server", "1.2")}
    plays: list[Recording] = []

    def settle(recording: Recording) -> str:
        plays.append(recording)
        return ""

    def interpret(program: Program, config: Any, hurry: bool) -> Plan:
        return case.plan(program)

    hunter = Hunter(case.setting, binding, investigate=lambda *_: Investigated(None), settle=settle)
    prop = Property("drawing", WAYS["one byte string"], interpret)
    names = [name for name, _, _ in hunter.blamed(hunter.play(case.plan(program))) if name in case.blames]
    begun = time.process_time()
    fault = Investigator(shrink_s=60)(hunter, prop, program, names[0], 0.0).fault if names else None
    if fault is None:
        return None
    return Shrunk(time.process_time() - begun, len(case.plan(program).steps), len(fault.plan.steps), len(plays))


SHRINKERS: dict[str, Callable[[Any, int, int], Shrunk | None]] = {
    "ours": by_ourselves,
    "Hypothesis, list of composite ops": lambda m, n, limit: by_hypothesis(m, WAYS["list of composite ops"], n, limit),
    "Hypothesis, byte string": lambda m, n, limit: by_hypothesis(m, WAYS["one byte string"], n, limit),
}
PLANTED = 5
"""Faults that are shrunk: the first of different themes that drawing finds soon."""


def planted() -> list[Any]:
    """Seeded faults that need several frames, one of each theme."""
    try:
        from tests.mutants.every import of_protocol  # noqa: PLC0415 - our own tests may be left out
    except ImportError:
        return []
    usable = [m for m in of_protocol("stomp") if m.history >= 5 and m.profile == "1.2" and m.smoke and not m.unseen]
    themes: dict[str, Any] = {}
    for mutant in sorted(usable, key=lambda m: (m.history, m.name)):
        if mutant.level == "MUST" and mutant.theme not in ("heartbeats", "invalid", "malformed", "robustness"):
            themes.setdefault(mutant.theme, mutant)
    return list(themes.values())


def shrinking(options: RunOptions) -> list[Figure]:
    """Seconds, steps and attempts of each way, over the planted faults."""
    times = 1 if options.tiny else 3
    limit = 20 if options.tiny else ENOUGH
    figures: list[Figure] = []
    medians: dict[str, list[float]] = {}
    shrunk = 0
    for mutant in planted()[: 1 if options.tiny else None]:
        if shrunk == PLANTED or (not options.tiny and by_ourselves(mutant, 0, limit) is None):
            continue
        shrunk += 1
        for name, shrinker in SHRINKERS.items():
            runs = [found for n in range(times) if (found := shrinker(mutant, n, limit)) is not None]
            if not runs:
                say(f"  shrinking, {mutant.name}: {name}: not found in {limit} plans")
                continue
            seconds = statistics.median(run.seconds for run in runs)
            medians.setdefault(name, []).append(seconds)
            say(
                f"  shrinking, {mutant.name}: {name}: {number(seconds)} s, "
                f"{statistics.median(run.before for run in runs):g} -> "
                f"{statistics.median(run.after for run in runs):g} "
                f"steps, {statistics.median(run.attempts for run in runs):g} plans ({len(runs)} of {times} found)"
            )
            steps = tuple(float(run.after) for run in runs)
            figures.append(Figure("shrinking", f"steps left, {mutant.name}, {name}", steps, unit="steps"))
    for name, values in medians.items():
        figures.append(Figure("shrinking", f"time, {name}", Rate(name, "s", tuple(values)).values, unit="s"))
    return figures


def run(options: RunOptions) -> list[Figure]:
    """Both."""
    return [*drawing(options), *shrinking(options)]
