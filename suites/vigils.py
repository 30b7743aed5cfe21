"""Silences of the hunt that are listened to for longer, beside it: what was missing may only have been late.

Where conversations can be held beside each other that costs the hunt nothing but an open connection. Where they cannot,
the hunt stands still for it: for a moment when it meets a silence for the first time, and for as long as it takes once
it is known that playing the conversation again does not show it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from impls.driver.drive import Recording
from impls.driver.link import MemoryTransport
from impls.driver.vigil import Heard
from specs.events import Quiet
from specs.model import Blame, Judgement
from specs.plan import Plan
from strategies.common import Program
from suites.lanes import Lanes
from suites.pursuit import Property
from suites.sightings import VIGILS

if TYPE_CHECKING:
    from suites.hunt import Hunter

BELIEVED_MS: Final = 10_000.0
"""Silence after which even a slow implementation will not answer any more."""
MOMENT_MS: Final = 1_000.0
"""How much longer a silence is listened to, where nothing goes on beside the hunt, before it is looked into."""
MOMENTS: Final = 4
"""So many silences are given that in one hunt, until one of them shows that the implementation is slow."""
ANSWERED: Final = 10
"""So many other conversations have to pass meanwhile: where nobody is answered, all of them wait for a machine that is
busy with something else."""
OF_PROGRAMS: Final = 3
"""The same where each conversation has a program of its own: no conversation waits for what another one has done."""


class Vigils:
    """Those of one hunt. `passed` counts its conversations that showed nothing wrong."""

    def __init__(self, hunter: Hunter, believed_ms: float) -> None:
        self._hunter, self._believed_ms = hunter, believed_ms
        self._memory = isinstance(hunter.setting.transport, MemoryTransport)
        self.lanes = Lanes(VIGILS) if hunter.beside else None
        self._answered = OF_PROGRAMS if getattr(hunter.setting.transport, "own", False) else ANSWERED
        self.passed = 0
        self._moments = 0

    def wanted(self, judgement: Judgement) -> bool:
        """True when the connections of a conversation are to be kept open (`Setting.lingers`)."""
        sightings = self._hunter.sightings
        for _, _, blame in self._hunter.counted(judgement):
            if sightings.wants_to_listen(blame.breach):
                symptom = sightings.of(blame.breach)
                first = symptom.shown == 0 and self._moments < MOMENTS
                return self.lanes is not None or self._memory or symptom.rare or first
        return False

    def wait_a_moment(
        self, prop: Property, program: Program, plan: Plan, recording: Recording, blamed: list[tuple[str, str, Blame]]
    ) -> None:
        """Listen on for a moment where nothing goes on beside the hunt: to look into what was only late would take
        seconds of it."""
        seen = _at_the_end(recording, blamed)
        if self.lanes is not None or self._memory or recording.vigil is None or seen is None:
            return
        if self._hunter.sightings.of(seen[2].breach).rare:
            return
        vigil, recording.vigil = recording.vigil, None
        self._moments += 1
        before = time.monotonic()
        heard = vigil.listen(MOMENT_MS, self._hunter.ground.deadline.over)
        self._hunter.suspects.stood_still(time.monotonic() - before)
        if heard == "late":
            self._moments = 0
            self._hunter.suspects.listened(prop, program, plan, recording, seen, heard)

    def keep(
        self, prop: Property, program: Program, plan: Plan, recording: Recording, blamed: list[tuple[str, str, Blame]]
    ) -> None:
        """Listen on, where the connections of a conversation were kept open for that."""
        vigil, recording.vigil = recording.vigil, None
        if vigil is None:
            return
        seen = _at_the_end(recording, blamed)
        if seen is None or not self._hunter.sightings.wants_to_listen(seen[2].breach):
            vigil.close()
            return
        breach, passed, deadline = seen[2].breach, self.passed, self._hunter.ground.deadline
        self._hunter.sightings.begin(breach)

        def over(heard: Heard) -> None:
            alone = self._memory or self.lanes is None
            if heard == "nothing" and not alone and self.passed < passed + self._answered:
                heard = "ended"
            self._hunter.sightings.heard(breach, heard)
            self._hunter.suspects.listened(prop, program, plan, recording, seen, heard)

        if self.lanes is not None:
            self.lanes.submit(lambda: vigil.listen(self._believed_ms, deadline.over), over)
            return
        before = time.monotonic()
        over(vigil.listen(self._believed_ms, deadline.over))
        self._hunter.suspects.stood_still(time.monotonic() - before)


def _at_the_end(recording: Recording, blamed: list[tuple[str, str, Blame]]) -> tuple[str, str, Blame] | None:
    """What was blamed at the last event of a conversation."""
    last = len(recording.events) - 1
    return next((each for each in blamed if each[2].at == last), None)


def silent(recording: Recording, blame: Blame) -> bool:
    """True when all the patience had run out before something was blamed: it may only have been slow."""
    return any(isinstance(event, Quiet) and event.final and event.ms for event in recording.events[: blame.at + 1])


def late(recording: Recording, blame: Blame) -> bool:
    """True when it was blamed in a pause of ours: something did not come at the time at which it was due."""
    event = recording.events[blame.at] if blame.at < len(recording.events) else None
    return isinstance(event, Quiet) and not event.final
