"""What one hunts with, and what comes of it: properties, faults, and what was counted."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from impls.driver.drive import Recording
from specs.model import Breach
from specs.plan import Plan
from strategies.common import Program
from suites.draws import Draws

Interpret = Callable[..., Plan]
NOT_AGAIN: Final = "it was seen once, and in no repetition"
NO_TIME: Final = "there was no time to confirm it"
HEALS: Final = "it is gone when connections follow each other a second apart"
"""Why what was blamed is not settled (`Investigated`)."""
NOTHING: Final = Program((), ())
"""The program of a plan that no program says."""


@dataclass(frozen=True)
class Property:
    """What one test hunts with. `interpret(program, config, hurry=...)` may also take `avoid`, the requirements that
    are set aside, when `avoids` is true. `weight` is its share of the budget, `deals` the place of a head number that
    is dealt in turn (`suites.draws.Draws`). `key` is its name in a deck. `heavy`: its plans say megabytes."""

    name: str
    programs: SearchStrategy[Program]
    interpret: Interpret
    hurry: bool = False
    weight: float = 1.0
    avoids: bool = False
    deals: int | None = None
    key: str = ""
    heavy: bool = False

    def plan(self, program: Program, config: Any, avoid: Iterable[str] = ()) -> Plan:
        """The plan that a program means."""
        if self.avoids:
            return self.interpret(program, config, hurry=self.hurry, avoid=frozenset(avoid))
        return self.interpret(program, config, hurry=self.hurry)

    def unhurried(self) -> Property:
        """The same property in lock-step."""
        return replace(self, hurry=False)


def one_plan(name: str, plan: Plan) -> Property:
    """A property that says no other plan than this, by the program NOTHING."""

    def interpret(program: Program, config: Any, *, hurry: bool = False) -> Plan:
        return plan

    return Property(name, st.just(NOTHING), interpret)


@dataclass(frozen=True)
class Fault:
    """A fault as it will be reported. `requirement` is blamed, `level` says how grave. `reproduced` of `tried`
    repetitions of the shortest plan showed it; `verdict` is "inconclusive" when the text tolerates it once in a while
    and not every repetition showed it, and when it was blamed and could not be confirmed, or was seen only behind a
    known fault: `unsettled` says why then. `kind` is what sort of fault it is, without any value of this run. `behind`
    are the known faults of the same conversation, and `set_aside` what judging was told of them. `sort` is what the
    model itself calls it, before a cause or a way of writing gave it another name; `rivals` are the fingerprints of
    what else can be the reason (`specs.model.Breach`). `nth` counts the ways in which an
    implementation was brought down, which are faults of one requirement. Of what shows now and then the hunt has
    counted how often that was (`shown`), of how many times that it could have (`chances`)."""

    requirement: str
    level: str
    also: tuple[str, ...]
    why: str
    expected: str
    property: str
    program: Program
    plan: Plan
    recording: Recording
    deciding: int
    reproduced: int
    tried: int
    steady: bool
    features: tuple[str, ...]
    found_after_s: float
    shrink_s: float
    verdict: str = "fail"
    unsettled: str = ""
    kind: str = ""
    behind: tuple[str, ...] = ()
    set_aside: frozenset[str] = frozenset()
    nth: int = 1
    sort: str = ""
    rivals: tuple[str, ...] = ()
    shown: int = 0
    chances: int = 0

    def fingerprint(self) -> str:
        """What tells this sort of failure from another one of the same requirement, in every run; "" where nothing
        does."""
        return f"{self.requirement} {self.kind}" if self.kind else ""


def breach_of(fault: Fault) -> Breach | None:
    """What the model blamed, where a fault was found in a conversation."""
    return next((b.breach for b in fault.recording.judgement.faults if b.at == fault.deciding), None)


@dataclass(frozen=True)
class Investigated:
    """What an investigation came to. `unsettled` says why what was blamed is neither confirmed nor explained; it is ""
    for what was confirmed, and for what was nothing but slowness. `explained`: it was only another face of what is
    known, and says nothing about the requirement that was blamed."""

    fault: Fault | None
    unsettled: str = ""
    explained: bool = False


@dataclass
class Tally:
    """What one hunt did. `leaned` counts, by freedom, the conversations that only this freedom allowed; `obstacles`, by
    requirement, those that a known fault ended, so that nothing behind it was judged; `sorts`, by sort of failure,
    those that showed a MUST broken."""

    plans: int = 0
    steps: int = 0
    seconds: float = 0.0
    inconclusive: int = 0
    errors: int = 0
    exercised: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)
    leaned: Counter[str] = field(default_factory=Counter)
    obstacles: Counter[str] = field(default_factory=Counter)
    sorts: Counter[str] = field(default_factory=Counter)
    ended: str = "budget"

    def note(self, covered: Mapping[str, int]) -> None:
        """Count what a conversation judged."""
        self.judged.update(covered)
        self.exercised.update(covered.keys())


@dataclass
class Pursuit:
    """A property that is hunted with, turn by turn. `used_s` is what its turns took, `share_s` what they may expect to
    take in all. `resting` of its plans are being played beside the hunt; `needs_s` is the shortest rest for which there
    was no time, `error` one of our own that ended it. `kills`: one of its plans has brought the implementation down."""

    prop: Property
    draws: Draws
    tally: Tally = field(default_factory=Tally)
    weight: float = 1.0
    used_s: float = 0.0
    share_s: float = math.inf
    resting: int = 0
    needs_s: float = 0.0
    error: Exception | None = None
    kills: bool = False
