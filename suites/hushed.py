"""An implementation that answers nothing any more: a verdict by itself, since no single conversation is why.

Where a silence is suspected, the simplest session is asked for once more, which passed before the hunt. A server that
leaves that unanswered as well, for as long as a silence takes to be believed, hangs; whatever else it does not answer
comes of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from impls.driver.drive import Recording
from impls.driver.link import TcpTransport
from specs.events import Said
from specs.plan import Plan
from suites.lanes import Lanes
from suites.pursuit import NOTHING, one_plan
from suites.vigils import silent

if TYPE_CHECKING:
    from suites.hunt import Hunter

SIMPLEST: Final = "the simplest session"
"""The property whose only plan that is."""
ASKED: Final = 4
"""How often that is asked in one hunt at most: a slow server is suspected again and again."""
HANGS: Final = "hangs"
"""The kind of fault that it is."""


class Hushed:
    """That of one hunt. Programs that are started for each conversation, or by a test program of ours, are not asked:
    those are started anew. Where nothing can be held beside the hunt it is asked when that is over."""

    def __init__(self, hunter: Hunter, believed_ms: float) -> None:
        self._hunter, self._believed_ms = hunter, believed_ms
        self.lanes = Lanes(1) if hunter.beside else None
        self._asked, self._waits, self._known = 0, False, False

    def ask(self) -> None:
        """A silence is suspected."""
        if self._known or self._asked >= ASKED or not isinstance(self._hunter.setting.transport, TcpTransport):
            return
        plan = self._hunter.smoke()
        if plan is None or not self._hunter.sound:
            return
        if self.lanes is None:
            self._waits = True
        elif not self.lanes.pending:
            self._asked += 1
            self.lanes.submit(lambda: self._silence(plan), lambda found: self._found(plan, found))

    def finish(self) -> None:
        """Ask now where there was no lane for it."""
        plan = self._hunter.smoke()
        if self._waits and plan is not None:
            self._waits = False
            self._found(plan, self._silence(plan))

    def _silence(self, plan: Plan) -> Recording | None:
        """The simplest session when nothing came in it, and nothing passed meanwhile; None when it is answered, or when
        there is no time to know that."""
        hunter = self._hunter
        until, passed, recording = hunter.ground.deadline, hunter.vigils.passed, None
        for patience_ms in (hunter.setting.patience_ms, self._believed_ms):
            setting = replace(hunter.suspects.certain, patience_ms=max(patience_ms, hunter.setting.patience_ms))
            recording = hunter.play(plan, setting, until)
            spoke = any(isinstance(event, Said) and event.by == setting.role for event in recording.events)
            if spoke or recording.refused or until.over() or hunter.vigils.passed > passed:
                return None
        return recording

    def _found(self, plan: Plan, recording: Recording | None) -> None:
        hunter = self._hunter
        if recording is None:
            return
        seen = next((each for each in hunter.blamed(recording) if silent(recording, each[2])), None)
        if seen is None:
            return
        requirement = hunter.binding.get(hunter.setting.protocol.hang) or hunter.binding[seen[0]]
        self._known = True
        suspicion = hunter.suspects.suspicion(one_plan(SIMPLEST, plan), NOTHING, plan, recording, seen)
        hunter.suspects.know(
            replace(
                suspicion,
                requirement=requirement.id,
                level=requirement.level,
                expected=requirement.statement,
                why=f"it answers nothing any more, {SIMPLEST} included, which passed before: {suspicion.why}",
                reproduced=2,
                tried=2,
                verdict="fail",
                kind=HANGS,
                sort="",
            )
        )
