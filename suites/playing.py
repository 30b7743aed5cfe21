"""How the plans of a hunt are played: one by one, or beside each other where an implementation bears that.

What takes long is played beside the hunt: other plans are not held up by it, and it takes none of their time.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from impls.driver.drive import Recording, Setting
from impls.driver.link import MemoryTransport
from impls.driver.pipes import PipeTransport
from specs.plan import Plan
from strategies.common import Program
from suites import rests
from suites.lanes import Lanes
from suites.pursuit import Property, Pursuit

if TYPE_CHECKING:
    from suites.hunt import Hunter

BESIDE_S, RESTING = 0.3, 3
"""What rests for longer is played beside the hunt, so many plans of a property at once, and one fewer of all than there
are lanes: the others are not held up by them."""
PROGRAMS = 6
"""Programs have lanes of their own for that: one that is spoken to now and then takes nothing from the others."""
SLOW_S, PACE = 0.1, 0.2
"""When plans take longer than that, several are played at once; and how much the last one counts for in their mean."""
TURN_S = 0.01
"""What a turn counts for in which nothing could be played yet: it costs hardly anything, and is soon over."""
QUARTER: Final = 4
"""Where nothing can be played beside the hunt, a rest may take this part of what is left of it."""
MARGIN_S = 1.0
"""What a plan that rests takes besides, at most."""


class Playing:
    """That of one hunt. In `lanes` plans are played beside each other; None where they are played one by one. What
    takes long is played in `patient` ones, which may be the same.
    `stood_s`: how long the hunt has stood still until one was free; `long`: so many plans that take long are under way;
    `put_off`: the last one has to wait for its turn.
    """

    def __init__(self, hunter: Hunter, lanes: Lanes | None) -> None:
        self._hunter = hunter
        self.lanes = lanes
        several = isinstance(hunter.setting.transport, PipeTransport)
        self.patient = Lanes(PROGRAMS) if several and lanes is not None else lanes
        self.stood_s = 0.0
        self.long = 0
        self.put_off = False
        self._pace_s = 0.0

    def play(self, pursuit: Pursuit, program: Program, plan: Plan) -> float:
        """Play a plan of a property and judge it, or put its program back; what it takes beside the hunt, in seconds of
        one lane of many."""
        hunter, prop, self.put_off = self._hunter, pursuit.prop, False
        rest_s = rests.rest_s(plan, hunter.setting)
        apart = self.lanes is not None and prop.heavy  # it may take long to be believed that nothing comes of it
        if pursuit.kills and hunter.held_up():
            return self._later(pursuit, program)  # other properties go on, until it can be alone
        if rest_s < BESIDE_S and not apart and (self.lanes is None or self._pace_s < SLOW_S):
            recording = hunter.play(plan, self._lingering(), alone=pursuit.kills)
            self._keep_pace(recording.took_s)
            hunter.judge(pursuit, program, plan, recording)
            return 0.0
        if rest_s < BESIDE_S and not apart:
            return self._beside(pursuit, program, plan)
        if self.lanes is not None and pursuit.resting >= RESTING:
            return self._later(pursuit, program)
        if not apart and not self._may_rest(pursuit, rest_s):
            pursuit.needs_s = min(pursuit.needs_s or math.inf, rest_s)
            return min(rest_s, pursuit.share_s)  # no turn is worth more than its share
        if self.patient is None:
            hunter.judge(pursuit, program, plan, hunter.play(plan, self._lingering()))
            return 0.0
        shared = self.patient is self.lanes
        if self.long >= max(1, self.patient.width - shared):
            return self._later(pursuit, program)
        took_s = self._beside(pursuit, program, plan, rests=True)
        return max(rest_s / self.patient.width if shared else took_s, TURN_S)

    def takes_long(self, prop: Property, program: Program) -> bool:
        """True for a program that says nothing for long, or megabytes where that is played beside the hunt."""
        setting = self._hunter.setting
        if prop.heavy or isinstance(setting.transport, MemoryTransport):
            return prop.heavy and self._hunter.beside
        return rests.rest_s(prop.plan(program, setting.config), setting) >= BESIDE_S

    def _later(self, pursuit: Pursuit, program: Program) -> float:
        pursuit.draws.put_back(program)
        self.put_off = True
        return TURN_S

    def _lingering(self) -> Setting:
        """The setting of the hunt, in which a silence may be listened to for longer."""
        return replace(self._hunter.setting, lingers=self._hunter.vigils.wanted)

    def _beside(self, pursuit: Pursuit, program: Program, plan: Plan, *, rests: bool = False) -> float:
        """Play a plan in a lane, as soon as one is free; how many seconds of the hunt's that counts for."""
        hunter, lanes, before = self._hunter, self.patient if rests else self.lanes, time.monotonic()
        assert lanes is not None
        while not (lanes.free and (rests or self._has_room(lanes))) and not hunter.until.over():
            lanes.wait(min(0.2, hunter.until.left()))
            hunter.collect()
        self.stood_s += time.monotonic() - before
        if hunter.until.over():
            return 0.0

        def over(recording: Recording) -> None:
            pursuit.resting -= rests
            self.long -= rests
            if not rests:
                self._keep_pace(recording.took_s)
            hunter.judge(pursuit, program, plan, recording)

        pursuit.resting += rests
        self.long += rests
        setting = self._lingering()
        lanes.submit(lambda: hunter.play(plan, setting, alone=pursuit.kills and not rests), over)
        return self._pace_s / lanes.width

    def _has_room(self, plays: Lanes) -> bool:
        """True when one more conversation takes no time from those that settle a suspicion: programs that are started
        for each share the processors of this machine."""
        shared = isinstance(self._hunter.setting.transport, PipeTransport)
        return not shared or not plays.busy or plays.busy + self._hunter.looking < plays.width

    def _keep_pace(self, seconds: float) -> None:
        """Note how long a plan took, so that it is known whether waiting makes the most of it."""
        self._pace_s += PACE * (seconds - self._pace_s)

    def _may_rest(self, pursuit: Pursuit, rest_s: float) -> bool:
        """True when there is time for a plan with so many seconds of rest: in what is left of the hunt, or, where it is
        the first of its property, by the deadline."""
        hunter = self._hunter
        left, first = hunter.until.left(), pursuit.used_s == 0 and not pursuit.resting
        if self.lanes is None:
            return rest_s <= max(pursuit.share_s, left / QUARTER)
        return rest_s + MARGIN_S <= (hunter.ground.deadline.left() if first else left)
