"""What a host still has to say or do, on the wire or beside it."""

from __future__ import annotations

from functools import cache

from specs.kcl.host.book import (
    BOOK,
    FAILURES,
    MIRRORS_THE_CALLS,
    NONE_INSIDE_INITIALIZE,
    NONE_LEFT_BEHIND,
    NONE_WITHOUT_LEASE,
    ODDITIES,
    REFUSED,
    STARTS_THE_CHILD,
    STATUS_ENDS_THE_CALL,
)
from specs.kcl.host.causes import GAVE_UP, GOES_NO_FURTHER, UNSENT
from specs.kcl.host.forms_calls import IDS_OF_FAILURES
from specs.kcl.machine import (
    ASKING,
    DEAF,
    ENDING,
    MACHINE,
    NEW,
    ONE_ANSWER,
    READY,
    STDIN_IS_ENDED,
    WRITTEN_AT_ONCE,
)
from specs.kcl.states import FINALS, Conv, Failure, Oddity
from specs.rules import Due

OVERSLEPT, OVERSLEPT_MS = "KCL-INV-HOST-18", 50
"""A child that ignores the end of STDIN, and for how long it must to count as one."""


def _is_called(conv: Conv) -> str:
    """The call that is open, "" for none."""
    return "" if conv.call is None or conv.over else str(conv.call["op"])


@BOOK.duty(IDS_OF_FAILURES, met_by="fails, quits", shows=GAVE_UP)
def a_failure_is_said(conv: Conv) -> Due | None:
    """A child that went wrong makes the open call fail, and the host reports it (hosts of the project; K-38). That it
    ends the child's STDIN says nothing to who called it, but it may wait for the end of the child first."""
    if conv.failing is None or conv.failed or conv.over:
        return None
    return _failure(conv.failing, conv.phase is DEAF and not conv.gone)


@cache
def _failure(failing: Failure, free: bool) -> Due:
    ids = FAILURES[failing]
    why = f"it does not say that it failed, after {failing.value}"
    return Due(why, None, failing.name, free, ids[0], also=ids[1:], forgive=_as_if_failed)


def _as_if_failed(conv: Conv) -> Conv:
    return conv._replace(failed=True)


def _does_well(conv: Conv) -> bool:
    return conv.failing is None and not conv.over


@BOOK.duty(MIRRORS_THE_CALLS, met_by="initialize, action", also=WRITTEN_AT_ONCE, causes=UNSENT)
def a_call_is_sent(conv: Conv) -> str:
    """A message upon invocation of its method (High Level Description), written out at once."""
    if not _does_well(conv):
        return ""
    if conv.early:
        return f"{conv.early} is said to be done although its message was never sent"
    called = _is_called(conv)
    return f"{called} was asked for, and no message was sent" if called and not conv.sent else ""


@BOOK.duty(STARTS_THE_CHILD, met_by="done")
def a_start_is_answered(conv: Conv) -> str:
    """Nor does it go on before the request to set its checkpointer was answered (docs/implementations.md)."""
    if not _does_well(conv):
        return ""
    if conv.settings:
        return "the request to set the checkpointer was not answered"
    return "start was not answered" if _is_called(conv) == "start" else ""


@BOOK.duty(f"{ONE_ANSWER} {NONE_INSIDE_INITIALIZE} {NONE_WITHOUT_LEASE} {REFUSED}", met_by="answer", causes=UNSENT)
def a_request_is_answered(conv: Conv) -> Due | None:
    """The child waits for the result (Checkpointing Behavior), whatever it asked for and when."""
    if conv.phase is not ASKING or not _does_well(conv):
        return None
    return _answer(conv.action, conv.must_refuse)


@cache
def _answer(action: str, odd: Oddity | None) -> Due:
    closed = {"initialize": NONE_INSIDE_INITIALIZE, "leaseLost": NONE_WITHOUT_LEASE}
    named = ODDITIES[odd][0] if odd is not None else closed.get(action, ONE_ANSWER)
    why = f"a checkpoint request inside {action} was not answered"
    return Due(why, None, action, requirement=named, forgive=_as_if_answered)


def _as_if_answered(conv: Conv) -> Conv:
    return conv._replace(phase=MACHINE.move(ASKING, "answer"), number=None, must_refuse=None)


@BOOK.duty(STATUS_ENDS_THE_CALL, met_by="done", causes=GOES_NO_FURTHER, shows=GAVE_UP)
def a_status_ends_the_call(conv: Conv) -> str:
    """The host reacts to the status (first paragraph)."""
    called = _is_called(conv)
    if called and conv.sent and conv.phase is READY and called != "start" and _does_well(conv):
        return f"{called} was not over, though its status came"
    return ""


@BOOK.duty(STDIN_IS_ENDED, met_by="closes")
def stdin_is_ended_after_the_final_action(conv: Conv) -> str:
    """It is what tells the child that nothing more comes (hosts of the project)."""
    owed = conv.phase is ENDING and not conv.gone and _does_well(conv)
    return f"STDIN was not ended after the status for {conv.action}" if owed else ""


@BOOK.duty(
    f"{STATUS_ENDS_THE_CALL} {NONE_LEFT_BEHIND} {OVERSLEPT}", met_by="done", causes=GOES_NO_FURTHER, shows=GAVE_UP
)
def the_end_of_the_child_ends_the_final_call(conv: Conv) -> Due | None:
    """The host waits for the child or ends it (hosts of the project); then the call is over."""
    called = _is_called(conv)
    if not called or not conv.gone or not _does_well(conv) or conv.phase not in (DEAF, ENDING):
        return None
    if conv.phase is DEAF and conv.was not in (ENDING, NEW):
        return None
    return _over(called, conv.waited_ms >= OVERSLEPT_MS)


@cache
def _over(called: str, overslept: bool) -> Due:
    ids: tuple[str, ...] = (NONE_LEFT_BEHIND,) if called in FINALS else (STATUS_ENDS_THE_CALL,)
    if overslept:
        ids = (OVERSLEPT, *ids)
    why = f"{called} was not over, though the child had ended"
    return Due(why, None, called, requirement=ids[0], also=ids[1:], forgive=_as_if_done)


def _as_if_done(conv: Conv) -> Conv:
    return conv._replace(call=None, sent=False)
