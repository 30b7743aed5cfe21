"""What a host may do beside the wire: start its child, try checkpoints, say that a call is over, give up, end. What it
says there and the lines on the wire are two streams, so that nothing here rests on which of them was seen first. Order
is precedence."""

from __future__ import annotations

from typing import Any

from specs.kcl.host.book import (
    BOOK,
    FAILURES,
    MIRRORS_THE_CALLS,
    NONE_INSIDE_INITIALIZE,
    NONE_LEFT_BEHIND,
    NONE_WITHOUT_LEASE,
    ODDITIES,
    OUTSIDE_IS_NOT_DONE,
    REFUSED,
    STARTS_THE_CHILD,
    STATUS_ENDS_THE_CALL,
    TRIED_WHERE_ASKED,
)
from specs.kcl.host.case import Attempt, Case, asks_where_none_may, untried
from specs.kcl.host.causes import GAVE_UP
from specs.kcl.machine import ASKING, DEAF, ENDING, NEW, NONE_MEANS_THE_LAST, ONE_BY_ONE, READY, WORKING
from specs.kcl.states import Failure, Oddity
from specs.rules import Broken

form, excuse = BOOK.form, BOOK.excuse
TAKEN_FOR_A_STATUS = (
    Oddity.PLAIN_TEXT,
    Oddity.NO_MESSAGE,
    Oddity.CUT_MESSAGE,
    Oddity.TEXT_BEHIND,
    Oddity.HOST_MESSAGE,
    Oddity.NO_UTF8,
    Oddity.REFUSAL,
)
"""What may be behind a call that is said to be done too early."""


def _taken_for_a_status(m: Case) -> Any:
    return next((odd for odd in m.conv.odd if odd in TAKEN_FOR_A_STATUS), None)


IDS_OF_FAILURES = " ".join(dict.fromkeys(ids[0] for ids in FAILURES.values()))


def _may_give_up(m: Case) -> bool:
    """True where the host has a reason to give up, or has said that it did."""
    conv = m.conv
    return bool(conv.failing or conv.failed or conv.stray or conv.gone or asks_where_none_may(conv))


# -- starting, and the end of STDIN ------------------------------------------------------------------------------------


@BOOK.freedom("K-34")
def another_child_may_be_tried_once_one_has_failed(m: Case) -> bool:
    """The text does not say what becomes of a shard whose child has failed (High Level Description)."""
    return _may_give_up(m)


@form("KCL-PROC-02", on="starts", freed_by=(another_child_may_be_tried_once_one_has_failed,))
def one_child_is_started_for_a_shard(m: Case) -> str:
    """One child process for each shard (High Level Description; K-24)."""
    return "a second child was started for one shard" if m.conv.children else ""


@form(STATUS_ENDS_THE_CALL, on="closes", when=(NEW, WORKING, ASKING, READY), causes=GAVE_UP,
      if_=lambda m: m.config.asked, unless=_may_give_up)  # fmt: skip
def stdin_is_not_ended_while_the_child_does_well(m: Case) -> str:
    """The host reacts to the status (first paragraph)."""
    return f"it ended STDIN while {m.phase.value}"


# -- checkpoints that reached the checkpointer -------------------------------------------------------------------------


def _is_outside(m: Case) -> bool:
    if m.action == "done":
        return bool(m.conv.asked) and (m.during == "initialize" or m.conv.stray is Failure.REQUEST_OUTSIDE)
    return m.attempt in (Attempt.INSIDE_INITIALIZE, Attempt.OUTSIDE)


@form(OUTSIDE_IS_NOT_DONE, on="tries, done", if_=_is_outside)
def a_request_outside_of_its_time_is_not_carried_out(m: Case) -> str:
    """Before the status of initialize, or after the final status (catalogue of invalid inputs; K-37)."""
    if m.action == "done":
        return ""
    if m.attempt is Attempt.INSIDE_INITIALIZE:
        return "a checkpoint inside initialize was carried out"
    return f"a checkpoint at {m.what.get('at')!r:.80} was tried outside of its time"


@form(
    REFUSED,
    on="tries",
    if_=lambda m: m.attempt is Attempt.MISREAD,
    which=lambda m: ODDITIES[m.conv.must_refuse if m.phase is ASKING and m.conv.must_refuse else m.strange][0],
)
def a_request_that_means_nothing_is_not_tried(m: Case) -> Any:
    """As another one than it is (catalogue of invalid inputs; K-29, K-39)."""
    return f"a request that means nothing was tried at {m.what.get('at')!r:.80}"


@form(f"{NONE_INSIDE_INITIALIZE} {NONE_WITHOUT_LEASE}", on="tries", if_=lambda m: m.attempt is Attempt.CLOSED,
      which=lambda m: NONE_INSIDE_INITIALIZE if m.during == "initialize" else NONE_WITHOUT_LEASE)  # fmt: skip
def nothing_is_tried_where_no_checkpoint_is_allowed(m: Case) -> str:
    """The window is processRecords and shutdown (Checkpointing Behavior)."""
    return f"a checkpoint was tried inside {m.conv.action}"


def _tried_for(m: Case) -> str:
    """What a try at another number breaks: that of a request without one has a requirement of its own."""
    requests = m.conv.requests
    none = m.config.wire.rich and requests and requests[-1] is None and m.attempt is Attempt.OTHER
    return NONE_MEANS_THE_LAST if none else TRIED_WHERE_ASKED


@form(f"{TRIED_WHERE_ASKED} {NONE_MEANS_THE_LAST}", on="tries", which=_tried_for,
      if_=lambda m: m.attempt in (Attempt.ASKED, Attempt.OTHER))  # fmt: skip
def a_checkpoint_is_tried_at_the_number_asked_for(m: Case) -> str:
    """The number is that of the checkpoint (Action messages)."""
    if m.attempt is Attempt.ASKED:
        return ""
    asked = ", ".join(repr(number)[:60] for number in m.conv.requests) or "nothing"
    return f"a checkpoint was tried at {m.what.get('at')!r:.80}; asked for was {asked}"


# -- a call that is said to be done ------------------------------------------------------------------------------------


@form(MIRRORS_THE_CALLS, on="done, fails", if_=lambda m: bool(m.op))
def what_is_done_was_called(m: Case) -> str:
    """The test program answers each call once (docs/implementations.md)."""
    return "" if m.call.get("op") == m.op else f"{m.op} was answered, which nobody asked for"


@form(STARTS_THE_CHILD, on="done", if_=lambda m: m.op == "start")
def it_can_be_started(m: Case) -> str:
    """The child process will be started (High Level Description)."""
    return "" if m.error is None else f"start failed: {m.error!r:.200}"


@excuse(on="done", if_=lambda m: m.op == "start")
def nothing_else_is_done_by_starting(m: Case) -> bool:
    """It is no call of the record processor."""
    return True


TOLD_LATER = (
    Failure.OTHER_STATUS, Failure.NO_STATUS, Failure.ENDED_INSIDE, Failure.ENDED_BETWEEN, Failure.HALF_LINE
)  # fmt: skip
"""What can be told by the final action, where it came about in shutdownRequested."""


def _has_said_so(m: Case) -> bool:
    """What its program answers behind that it failed claims no success (K-42)."""
    return bool(m.conv.failed)


@form(IDS_OF_FAILURES, on="done", if_=lambda m: m.conv.failing is not None, unless=_has_said_so,
      which=lambda m: FAILURES[m.conv.failing][0])  # fmt: skip
def a_child_that_went_wrong_is_no_success(m: Case) -> Any:
    """The call fails (catalogue of invalid inputs; hosts of the project). What follows shutdownRequested follows in any
    case, and hosts of the project have no way to say that it failed (K-44)."""
    failing = m.conv.failing
    if not failing:
        return ""
    asked = m.op == "shutdownRequested" and failing in TOLD_LATER
    why = f"{m.op} is said to be done after {failing.value}"
    return Broken(why, level="SHOULD" if asked else None, grave=asked, also=FAILURES[failing][1:])


@form(ODDITIES[Oddity.LATE_NEWLINE][0], on="done", when=(WORKING, ASKING), also=ONE_BY_ONE,
      if_=lambda m: m.conv.sent and m.conv.partial, unless=_has_said_so)  # fmt: skip
def a_status_counts_when_its_line_has_ended(m: Case) -> str:
    """The child's messages are lines (catalogue of invalid inputs; K-4)."""
    return f"{m.op} is said to be done before the newline of its status"


@form(" ".join(ODDITIES[odd][0] for odd in TAKEN_FOR_A_STATUS), on="done", when=(WORKING, ASKING), also=ONE_BY_ONE,
      if_=lambda m: m.conv.sent and _taken_for_a_status(m) is not None, unless=_has_said_so,
      which=lambda m: ODDITIES[_taken_for_a_status(m)][0])  # fmt: skip
def what_is_no_status_ends_no_call(m: Case) -> Any:
    """Lines without meaning are skipped, and a refusal does not end the action (hosts of the project; Checkpoint 2)."""
    odd = _taken_for_a_status(m)
    return Broken(f"{m.op} is said to be done after {odd.value}", also=ODDITIES[odd][1:]) if odd else ""


@form(ONE_BY_ONE, on="done", if_=lambda m: m.conv.sent, unless=_has_said_so)
def a_call_is_not_over_before_its_status(m: Case) -> Any:
    """It has received the response for the previous message (High Level Description)."""
    if m.phase not in (WORKING, ASKING):
        return ""
    return Broken(f"{m.op} is said to be done before its status", also=(STATUS_ENDS_THE_CALL,))


def _untried(m: Case, *, named: bool) -> list[Any]:
    """What was granted and never tried: numbers that are `named`, or requests without one. The first profile knows no
    request without a number, so that it stands for the last one there."""
    named_all = not m.config.wire.rich
    return [n for n in untried(m.conv, m.conv.attempts) if (n is not None or named_all) is named]


@form(TRIED_WHERE_ASKED, on="done", if_=lambda m: bool(m.conv.granted))
def what_was_granted_was_tried(m: Case) -> str:
    """The answer says what became of it (Checkpoint 2)."""
    missing = _untried(m, named=True)
    return f"a checkpoint at {missing[0]!r:.80} was granted; tried were {m.conv.attempts!r:.160}" if missing else ""


@form(NONE_MEANS_THE_LAST, on="done", if_=lambda m: None in m.conv.granted)
def no_number_means_the_end_of_the_batch(m: Case) -> str:
    """The batch that was delivered last (KCL, all versions; K-30)."""
    wrong = _untried(m, named=False)
    return f"a checkpoint at the end was granted; tried were {m.conv.attempts!r:.160}" if wrong else ""


# -- giving up, and the end of the program -----------------------------------------------------------------------------


@form(NONE_LEFT_BEHIND, on="quits", when=(DEAF, ENDING), if_=lambda m: m.conv.children and not m.conv.gone,
      unless=_may_give_up)  # fmt: skip
def no_child_is_left_behind(m: Case) -> str:
    """After the end the host waits for the child or ends it (hosts of the project)."""
    return "it ended and left the child behind"


def _has_closed(m: Case) -> bool:
    """What led to the end of STDIN was judged when it came."""
    return m.phase is DEAF and m.conv.was is not ENDING


@form(STATUS_ENDS_THE_CALL, on="fails", causes=GAVE_UP, unless=lambda m: _may_give_up(m) or _has_closed(m))
def it_does_not_give_up_a_child_that_does_well(m: Case) -> str:
    """The host reacts to the status (first paragraph)."""
    return f"{m.op} failed: {m.error!r:.200}" if m.op else f"it gave up: {m.what!r:.200}"


@form(
    STATUS_ENDS_THE_CALL,
    on="quits",
    causes=GAVE_UP,
    unless=lambda m: m.conv.failing or m.conv.failed or m.conv.stray or (m.conv.gone and m.phase is not WORKING),
)
def its_program_does_not_end(m: Case) -> str:
    """The host reacts to the status (first paragraph)."""
    return f"its program ended ({m.what!r:.60})"
