"""Steps in memory, lock-step: a hunt beside a rule-based state machine that says and judges the same kind of frames.

Ours: `suites.hunt.Hunter.hunt` as the suites run it: Hypothesis draws programs, they are interpreted, driven against
the reference server in memory, and judged event by event. Theirs: `bench.machine.Sessions`, one rule for one frame,
through the same codec to the same server and the same model, generation only. A step is one frame that the client
said; what costs no frame (waiting for turns, closing) is left out on both sides. The machine's own driver does less
than ours: it keeps no recording, no wire log and no times, and it writes each frame in one way, so ours is kept to
that too.
"""

from __future__ import annotations

from functools import partial

from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from bench.machine import Drawing, Sessions, Talk
from bench.measure import Figure, RunOptions, in_turns, ratios, say
from bench.transport import STOMP, quick, setting
from impls.driver.drive import Recording
from specs.events import Said
from strategies.stomp import sessions
from suites.hunt import Hunter, Investigated, Property

STEPS = 20
"""Rules in one run of the machine; sessions have up to as many ops."""


def hunted(number: int, budget_s: float) -> int:
    """Frames said in a hunt of `budget_s` seconds."""
    said = 0

    def count(recording: Recording) -> str:
        nonlocal said
        said += sum(type(event) is Said and event.by == "client" for event in recording.events)
        return ""

    binding = {r.id: r for r in STOMP.requirements.binding("server", "1.2")}
    hunter = Hunter(setting(), binding, investigate=lambda *_: Investigated(None), run_seed=number, settle=count)
    hunter.hunt(Property("sessions", sessions.sessions(), partial(sessions.interpret, wires=(0,))), budget_s)
    return said


def machined(kind: type[RuleBasedStateMachine], examples: int) -> int:
    """Frames that a state machine said."""
    before = Talk.frames
    run_state_machine_as_test(kind, settings=settings(quick(examples), stateful_step_count=STEPS))
    return Talk.frames - before


def run(options: RunOptions) -> list[Figure]:
    """The ratio of both, and what of the machine's time is drawing."""
    budget_s, examples = (0.05, 2) if options.tiny else (1.5, 60)
    rates = in_turns(
        {
            "hunt": lambda n: hunted(n, budget_s),
            "state machine": lambda _: machined(Sessions, examples),
            "state machine, drawing only": lambda _: machined(Drawing, examples),
        },
        options.repeats,
        unit="frames",
    )
    for rate in rates.values():
        say(f"  {rate}")
    ratio = ratios(rates["hunt"], rates["state machine"])
    return [Figure("lockstep", "draw, drive and judge, against a state machine", ratio, 5)]
