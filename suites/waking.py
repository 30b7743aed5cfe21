"""What has just been started may answer its protocol before all of it is there, and refuse until then what it takes for
ever after. It is waited for; whoever goes on refusing is judged."""

from __future__ import annotations

import time

from impls.driver.drive import Setting, drive
from suites.deadline import Deadline

WAKING_S, WAKING = 5.0, 0.25
"""Seconds, and part of the time that is left, for which what answers already is waited for."""


class Waking:
    """Asks what answers already whether it is all there."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self._ends = 0.0

    def over(self, setting: Setting) -> bool:
        """True when it takes what a protocol tells to ask then, or has had its time."""
        waking = setting.protocol.waking
        plan = None if waking is None else waking(setting.config)
        if plan is None or drive(plan, setting, "waking-").judgement.verdict != "fail":
            return True
        now = time.monotonic()
        self._ends = self._ends or now + min(WAKING_S, self._deadline.left() * WAKING)
        return now >= self._ends
