"""What a conversation is after an action of a child, whether or not something was broken."""

from __future__ import annotations

from specs.kcl.child.book import BOOK
from specs.kcl.child.case import Case, Kind
from specs.kcl.machine import DEAF, ENDING, MACHINE, NEW, READY, WORKING
from specs.kcl.states import CLOSED_TO_CHECKPOINTS, FINALS, Conv, Misuse

TAIL = 4096
"""Octets of a child's output, beside messages, that are kept to tell why a message is missing."""


_OF_ITSELF = (Kind.EXTRA, Kind.AFTER_ERROR, Kind.AFTER_SUCCESS)


@BOOK.effect("status")
def answered(m: Case) -> Conv:
    """The action is done; what came in place of an answer may be done once. User code that raised may not have noted
    down what it would have."""
    conv = m.conv
    if conv.phase is not WORKING:
        return conv._replace(served=conv.misuse is not None, instead="")
    due = tuple(seen._replace(free=True) for seen in conv.due) if conv.loose else conv.due
    phase = ENDING if conv.action in FINALS else READY
    served = conv.misuse is not None
    return conv._replace(phase=phase, steps=(), loose=False, refused=None, tail=b"", served=served, due=due)


@BOOK.effect("checkpoint")
def requested(m: Case) -> Conv:
    """A request is open."""
    if m.conv.phase is DEAF:
        return m.conv._replace(served=m.conv.misuse is not None)
    if m.conv.phase is READY:  # inside what came instead of an answer, and is done later
        begun = MACHINE.move(READY, "action")
        later = m.conv._replace(action=m.conv.instead, instead="", loose=True, number=m.number, own=True, served=True)
        return later._replace(phase=MACHINE.move(begun, "checkpoint"))
    steps, due = m.conv.steps, m.conv.due
    if m.conv.action not in CLOSED_TO_CHECKPOINTS and isinstance(m.number, str | None):
        _, steps, due = m.request
    asked, served = m.conv.asked + 1, m.conv.misuse is not None
    own = m.request.kind in _OF_ITSELF and not m.conv.steps  # K-50: user code that knows all it asked for waits no more
    return m.conv._replace(number=m.number, own=own, asked=asked, tail=b"", steps=steps, due=due, served=served)


@BOOK.effect("observed")
def noted(m: Case) -> Conv:
    """An observation that was due has come; or what came in place of an answer was seen by user code."""
    taken = m.conv.taken or (m.conv.misuse is Misuse.NO_ANSWER and m.what.call == m.conv.instead)
    return m.conv._replace(due=m.match.due, taken=taken)


@BOOK.effect("exits")
def over(m: Case) -> Conv:
    """The process has ended; behind invalid input it may, before anything was asked, where the table forbids it."""
    return m.conv._replace(phase=MACHINE.move(READY if m.phase is NEW else m.phase, "exits"))


@BOOK.effect("talks")
def talked(m: Case) -> Conv:
    """Other output; the end of it is kept."""
    return m.conv._replace(tail=(m.conv.tail + m.what + b"\n")[-TAIL:])
