"""Playing the conversations of a baseline before anything is drawn.

Each is played until it has shown the failure that it is kept for. Then that failure is known, as if it had been found
and investigated in this run: it is reported and set aside, and the hunt looks for others. What has not shown it is
played again, several times, so that the run can say whether it is mended. What else is blamed meanwhile, and what was
only suspected when it was kept, is looked into as after any plan.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from impls.driver.drive import Recording
from reports.result import ENOUGH_PASSES
from specs.model import Blame, Breach
from suites.case import SEVERAL
from suites.hunt import Fault, Hunter, Pursuit, Tally
from suites.lanes import Lanes
from suites.programs import Stored
from suites.pursuit import NOTHING, one_plan
from suites.sightings import home_of

NAME: Final = "the conversations of the baseline"
SETTLING: Final = 3
"""How often each is played in a round of a run that makes a baseline, to find out what does not show each time."""


@dataclass(slots=True)
class Replay:
    """How one conversation went: `shown` in `tried` plays; `last` is the recording that showed it, and its blame.
    `strayed` are plays besides that something else ended before it came to the failure, so that they tell nothing."""

    stored: Stored
    tried: int = 0
    shown: int = 0
    strayed: int = 0
    last: tuple[Recording, Blame] | None = None

    @property
    def plays(self) -> int:
        """How often it was played."""
        return self.tried + self.strayed

    @property
    def least(self) -> int:
        """Plays that tell what it shows, where all show it."""
        return SEVERAL if self.stored.always else 1


class Replays:
    """Plays what is kept. `settling`: each is played several times, whatever it shows."""

    def __init__(self, hunter: Hunter, programs: Sequence[Stored], *, settling: bool = False) -> None:
        self._hunter = hunter
        self._settling = settling
        # what decides comes first, and of that what needs not be waited for
        order = sorted(programs, key=lambda each: (each.level != "MUST", each.took_ms))
        self.replays = [Replay(each) for each in order]
        self.tally = Tally()
        """What these plans showed."""

    def play(self, seconds: float) -> None:
        """Play all of them once, and those again of which it is not known, for `seconds` at most."""
        until = self._hunter.ground.deadline.within(seconds)
        while not until.over() and (turns := self._turns()):
            self._round(turns, until.over)
        for each in self.replays:
            if each.last is not None and not each.stored.suspected:
                self._hunter.suspects.know(self._fault(each))

    def _turns(self) -> list[Replay]:
        """What is played next: where a few more plays decide that a failure counts, these, before all that look for one
        that is gone. Several plays of one are asked for at once: beside each other they do not wait until another one
        has waited out a silence."""
        deciding = [each for each in self.replays if each.shown and self._wanted(each) and not self._settling]
        return [each for nth in range(SEVERAL) for each in deciding or self.replays if nth < self._wanted(each)]

    def _wanted(self, replay: Replay) -> int:
        """How many more plays are wanted at once."""
        if self._settling:
            return int(replay.plays < SETTLING)
        if replay.shown:
            return replay.least - replay.shown if replay.shown == replay.tried and replay.plays < ENOUGH_PASSES else 0
        return int(replay.plays < ENOUGH_PASSES) if replay.plays else replay.least

    def _round(self, replays: Sequence[Replay], over: Callable[[], bool]) -> None:
        """Play each once, beside each other where the implementation bears that."""
        lanes = self._hunter.playing.lanes
        for replay in replays:
            if over():
                return
            if lanes is None:
                self._take(replay, self._play(replay))
                continue
            while not lanes.free and not over():
                self._wait(lanes)
            lanes.submit(partial(self._play, replay), partial(self._take, replay))
        while lanes is not None and lanes.pending and not self._hunter.ground.deadline.over():
            self._wait(lanes)

    @staticmethod
    def _wait(lanes: Lanes) -> None:
        lanes.wait(0.1)
        lanes.collect()

    def _play(self, replay: Replay) -> Recording:
        kills = replay.stored.requirement == self._hunter.setting.protocol.crash
        return self._hunter.play(replay.stored.plan, self._hunter.aside(replay.stored.set_aside), alone=kills)

    def _take(self, replay: Replay, recording: Recording) -> None:
        """Count what a play showed."""
        if self._hunter.ground.deadline.over():
            return  # it may have been cut short
        judgement = recording.judgement
        shown = next((blame for blame in judgement.faults if self._is_it(replay.stored, blame)), None)
        if shown is not None:
            replay.tried, replay.shown = replay.tried + 1, replay.shown + 1
            replay.last = recording, shown
        elif replay.stored.requirement in judgement.covered:
            replay.tried += 1
        elif judgement.verdict == "pass":
            replay.tried += 1
            self.tally.note({replay.stored.requirement: 1})
        else:
            replay.strayed += 1
        known = None if replay.stored.suspected else shown
        self._hunter.judge(self._pursuit(replay.stored), NOTHING, replay.stored.plan, recording, known)

    def _is_it(self, stored: Stored, blame: Blame) -> bool:
        breach = blame.breach
        if " " in stored.sort:
            same = (each for each in breach.rivals if each.partition(" ")[0] == breach.requirement)
            return stored.sort in (breach.fingerprint, *same)
        return stored.requirement in (breach.requirement, *breach.also)

    def _pursuit(self, stored: Stored) -> Pursuit:
        return replace(self._hunter.pursuit(one_plan(NAME, stored.plan)), tally=self.tally)

    def _fault(self, replay: Replay) -> Fault:
        """The known failure, as this run saw it again."""
        assert replay.last is not None
        recording, blame = replay.last
        stored, binding = replay.stored, self._hunter.binding
        # the plays in which it was confirmed count as well: the conversation is the same one
        shown, tried = stored.shown + replay.shown, stored.tried + replay.tried
        tolerated = stored.always and (shown < tried or tried < SEVERAL)
        return Fault(
            requirement=stored.requirement,
            level=stored.level,
            also=tuple(name for name in stored.also if name in binding),
            why=stored.why or blame.breach.why,
            expected=binding[stored.requirement].statement,
            property=stored.found_by or NAME,
            program=NOTHING,
            plan=stored.plan,
            recording=recording,
            deciding=blame.at,
            reproduced=replay.shown,
            tried=replay.tried,
            steady=stored.always,
            features=(),
            found_after_s=time.monotonic() - self._hunter.suspects.started,
            shrink_s=0.0,
            verdict="inconclusive" if tolerated else "fail",
            kind=stored.fingerprint.partition(" ")[2],
            set_aside=stored.set_aside,
            sort=stored.sort,
            rivals=_rivals(stored, blame.breach),
        )


def _rivals(stored: Stored, breach: Breach) -> tuple[str, ...]:
    """What else may be the reason, as it is told of the same failure when it is found (`suites.case`): a failure that
    is accepted under one name must not fail under another one as well."""
    if stored.requirement == breach.requirement:
        return breach.rivals
    return (breach.fingerprint,) if stored.requirement in (home_of(breach), breach.otherwise.partition(" ")[0]) else ()
