"""Programs of a property, drawn ahead of being played.

A run of Hypothesis cannot be stopped in between, so nothing is played inside of one: a chunk of programs is drawn, and
they are handed out one by one. What is drawn follows from the seed, the property's name and how many were drawn before.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from zlib import crc32

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from strategies.common import Program

FIRST_CHUNK, LARGEST_CHUNK, GROWTH = 3, 100, 4
"""Programs drawn by one Hypothesis run: few at first, since most hunts of a slow implementation end soon."""
PROGRAMS = 8
"""Programs in one example of Hypothesis at most: some 1,000 of the 8,192 octets that one may have."""
NUMBERS = 256
"""Values of a head number."""


class Draws(Iterator[Program]):
    """Programs of one property without end.

    `deals` is the place of a head number that chooses a row of a catalogue: it is dealt in turn, from one that follows
    from the seed, so that a slow implementation, which is asked only some dozens of times, is not asked for some rows
    twice and for others never.
    """

    def __init__(
        self, programs: SearchStrategy[Program], name: str, *, run_seed: int = 0, deals: int | None = None
    ) -> None:
        self._programs, self._name, self._seed = programs, name, run_seed
        self._deals, self._next = deals, crc32(f"{run_seed} {name}".encode()) % NUMBERS
        self._ready: deque[Program] = deque()
        self._chunk, self._batch = FIRST_CHUNK, 0

    def __next__(self) -> Program:
        while not self._ready:
            drawn = chunk(self._programs, f"{self._seed} {self._name} {self._batch}", self._chunk)
            self._ready.extend(map(self._dealt, drawn))
            self._batch += 1
            self._chunk = min(LARGEST_CHUNK, self._chunk * GROWTH)
        return self._ready.popleft()

    def _dealt(self, program: Program) -> Program:
        if self._deals is None:
            return program
        head, at = program.head, self._deals
        self._next = (self._next + 1) % NUMBERS
        return program._replace(head=(*head[:at], self._next, *head[at + 1 :]))

    def peek(self) -> Program:
        """The next one, which stays."""
        program = next(self)
        self.put_back(program)
        return program

    @property
    def at_hand(self) -> Sequence[Program]:
        """What has been drawn or put back, and is not handed out yet."""
        return tuple(self._ready)

    def put_back(self, program: Program) -> None:
        """Hand it out once more, next time."""
        self._ready.appendleft(program)


def chunk(programs: SearchStrategy[Program], name: str, count: int) -> list[Program]:
    """About `count` programs, the same for the same name. An example of Hypothesis has overhead of its own, so one is
    several programs. The first example of every run is the simplest there is, the same each time: it is left out, since
    a session as simple has been held before."""
    each = min(PROGRAMS, count)
    examples: list[tuple[Program, ...]] = []

    @settings(
        max_examples=1 + math.ceil(count / each),
        database=None,
        deadline=None,
        phases=[Phase.generate],  # shrinking has a budget of its own: see suites.investigate
        suppress_health_check=list(HealthCheck),
    )
    @seed(crc32(name.encode()))
    @given(st.tuples(*[programs] * each))
    def example(found: tuple[Program, ...]) -> None:
        examples.append(found)

    example()
    return [program for found in examples[1:] for program in dict.fromkeys(found)]
