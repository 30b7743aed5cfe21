"""Why a host gave up, or went no further: asked after a breach only, the likeliest first."""

from __future__ import annotations

from collections.abc import Callable

from specs.causes import Causes
from specs.kcl.host.book import LINES_END, ODDITIES, SLOW_CHILD_IS_AWAITED, STARTS_THE_CHILD
from specs.kcl.host.case import Case
from specs.kcl.machine import ASKING, SHUTDOWN_REQUESTED
from specs.kcl.states import Oddity

LONG_MS, HANGS_MS = 200, 240
"""A silence of the child that shows whether its host waits; one from which on it counts as hanging."""


def _cut(m: Case) -> str:
    """A message was begun and not ended by a newline (High Level Description)."""
    return "a message was begun and not ended by a newline" if m.conv.unended else ""


def _was_refused(m: Case) -> bool:
    return Oddity.REFUSAL in m.conv.odd or (m.phase is ASKING and m.conv.error is not None)


def _had_to_take(odd: Oddity) -> Callable[[Case], bool]:
    return lambda m: odd in m.conv.odd


def _harmed_by(odd: Oddity) -> Callable[[Case], str]:
    """The first of what it had to take since the last call was done."""

    def harmed(m: Case) -> str:
        return f"it came to harm by {odd.value}" if m.conv.odd[0] is odd else ""

    harmed.__name__ = f"harmed_by_{odd.name.lower()}"
    return harmed


UNSENT = Causes("nothing was sent")
UNSENT.cause(LINES_END, could=lambda m: m.conv.unended)(_cut)


@UNSENT.cause(STARTS_THE_CHILD, could=lambda m: not m.conv.children)
def no_child_was_started(m: Case) -> str:
    """The host starts the child itself (High Level Description)."""
    return "it started no child"


GAVE_UP = Causes("gave up")


@GAVE_UP.cause(
    SHUTDOWN_REQUESTED,
    could=lambda m: m.during == "shutdownRequested" and _was_refused(m),
    also=ODDITIES[Oddity.REFUSAL][0],
)
def harmed_by_a_refusal_when_shutdown_was_requested(m: Case) -> str:
    """The final action still comes (KCL 1.8.0 and later)."""
    return "it came to harm by a checkpoint that failed inside shutdownRequested"


@GAVE_UP.cause(ODDITIES[Oddity.REFUSAL][0], could=lambda m: m.phase is ASKING and m.conv.error is not None)
def a_checkpoint_that_failed_ended_the_action(m: Case) -> str:
    """Decide whether to checkpoint again (Checkpoint 2): the action is still open."""
    return f"it gave up at a checkpoint that failed with {m.conv.error}"


for _odd, _ids in ODDITIES.items():
    GAVE_UP.cause(_ids[0], could=_had_to_take(_odd), also=" ".join(_ids[1:]))(_harmed_by(_odd))


HANGING_CHILD_IS_AWAITED = "KCL-INV-HOST-17"


@GAVE_UP.cause(HANGING_CHILD_IS_AWAITED, could=lambda m: m.conv.waited_ms >= HANGS_MS, also=SLOW_CHILD_IS_AWAITED)
def the_child_hung(m: Case) -> str:
    """Nobody set a limit of time (catalogue of invalid inputs; K-23)."""
    return f"it gave up a child that hung for {m.conv.waited_ms} ms"


@GAVE_UP.cause(
    SLOW_CHILD_IS_AWAITED, could=lambda m: LONG_MS <= m.conv.waited_ms < HANGS_MS, also=HANGING_CHILD_IS_AWAITED
)
def the_child_was_slow(m: Case) -> str:
    """Nobody set a limit of time (K-23)."""
    return f"it gave up a child that had been silent for {m.conv.waited_ms} ms"


GOES_NO_FURTHER = Causes("goes no further")
GOES_NO_FURTHER.cause(LINES_END, could=lambda m: m.conv.unended)(_cut)
GOES_NO_FURTHER.ranked += GAVE_UP.ranked[: 2 + len(ODDITIES)]
