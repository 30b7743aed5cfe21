"""What a child may write, and how it ends. Order is precedence."""

from __future__ import annotations

import json
from typing import Any

from specs.kcl.child.book import (
    BOOK,
    EMPTY_BATCHES_TAKE_NO_TIME,
    ERRORS_REACH_USER_CODE,
    INITIALIZE_IS_ANSWERED,
    MESSAGES_ARE_LINES,
    MISUSED,
    MISUSES,
    NUMBER_WAS_DELIVERED,
    READS_ON_AFTER_BATCH,
    READS_ON_AFTER_INITIALIZE,
    SHARD_ENDED_IS_CHECKPOINTED,
    STATUS_NAMES_ITS_ACTION,
)
from specs.kcl.child.case import FAILED, Case, Kind, ended
from specs.kcl.machine import (
    ASKING,
    DEAF,
    ENDING,
    LEASE_LOST_IS_ANSWERED,
    NEW,
    NO_OTHER_TIME,
    NO_STATUS_WHEN_NONE_IS_OPEN,
    NONE_MEANS_THE_LAST,
    NOTHING_BUT_READING,
    NUMBER_IN_ITS_MEMBER,
    OVER,
    READY,
    WORKING,
    WRITTEN_AT_ONCE,
)
from specs.kcl.states import CLOSED_TO_CHECKPOINTS, Misuse
from specs.rules import Broken

form, excuse, tried = BOOK.form, BOOK.excuse, BOOK.tried

LONG_MS = 10_000
"""What a library may add to an empty batch. The text sets no limit."""


@form(MESSAGES_ARE_LINES, on="talks")
def a_line_has_an_end(m: Case) -> str:
    """Each message is on a line of its own (High Level Description; K-4)."""
    return f"a line has no end: {m.what[:80]!r}"


# -- any message -------------------------------------------------------------------------------------------------------


@form(WRITTEN_AT_ONCE, on="status, checkpoint", when=(WORKING, DEAF), if_=lambda m: m.phase is WORKING or m.conv.stuck)
def a_message_is_written_at_once(m: Case) -> str:
    """The host waits for it (High Level Description)."""
    return "it came only once STDIN had ended: it was not flushed" if m.phase is DEAF else ""


@form(MISUSES, on="status, checkpoint", when=(DEAF,), if_=lambda m: m.conv.misuse is Misuse.HALF_LINE,
      which=lambda m: MISUSED[m.conv.misuse])  # fmt: skip
def half_a_line_is_not_answered(m: Case) -> Any:
    """Half a line is no message (catalogue of invalid inputs)."""
    return Broken(f"{m.said} for half a line", grave=True)


@form(
    MISUSES,
    on="status",
    when=(NEW, READY, ASKING, WORKING),
    if_=lambda m: m.conv.misuse is not None,
    unless=lambda m: m.phase is READY and _answers_what_came_instead(m),
    which=lambda m: MISUSED[m.conv.misuse],
)
def what_was_no_action_gets_no_status(m: Case) -> Any:
    """Invalid input may be passed over or end the child; it is not done (K-22)."""
    if m.phase is ASKING:
        wrong = m.conv.misuse is Misuse.STRAY_ANSWER
        why = "an answer that nobody had asked for was taken for that of a later request"
        return Broken(why, grave=True) if wrong else ""
    return "" if m.phase is WORKING else Broken(f"{m.said}, which answers what was no action", grave=True)


def _answers_what_came_instead(m: Case) -> bool:
    return m.conv.misuse is Misuse.NO_ANSWER and bool(m.conv.instead) and m.what.get("responseFor") == m.conv.instead


@excuse(on="status", when=(READY,), freedom="K-41")
def what_came_instead_of_an_answer_may_be_done_later(m: Case) -> bool:
    """An action that came in place of an answer to a checkpoint need not be swallowed (CHECKPOINT-15)."""
    return _answers_what_came_instead(m)


@excuse(on="checkpoint", when=(READY,), freedom="K-41")
def what_came_instead_of_an_answer_may_ask_for_a_checkpoint(m: Case) -> bool:
    """It is begun behind the status of the action in which the answer was missing: it is open then (CHECKPOINT-15)."""
    return m.conv.misuse is Misuse.NO_ANSWER and m.conv.instead not in ("", *CLOSED_TO_CHECKPOINTS)


@form("KCL-STAT-02", on="status", when=(NEW, WORKING, READY, ENDING, OVER), also=NO_STATUS_WHEN_NONE_IS_OPEN)
def there_is_one_status_for_each_action(m: Case) -> str:
    """Each action is answered once (Initialize 3, ProcessRecords 3, Shutdown 3)."""
    again = m.phase is not WORKING and m.conv.action and m.what.get("responseFor") == m.conv.action
    return f"{m.conv.action} was answered by a second status" if again else ""


@form(f"{NO_STATUS_WHEN_NONE_IS_OPEN} {NO_OTHER_TIME}", on="status, checkpoint", when=(DEAF,),
      which=lambda m: NO_STATUS_WHEN_NONE_IS_OPEN if m.action == "status" else NO_OTHER_TIME,
      if_=lambda m: m.idle and not m.conv.misuse)  # fmt: skip
def nothing_comes_when_no_action_was_open(m: Case) -> str:
    """A status answers the most recent action (High Level Description); a checkpoint is asked for inside an action
    (Checkpointing Behavior)."""
    return f"{m.said} after the end of STDIN, when no action was open"


@excuse(on="status, checkpoint", when=(DEAF,))
def an_action_that_was_open_may_be_finished(m: Case) -> bool:
    """What was open when STDIN ended may still be done."""
    return True


# -- a status ----------------------------------------------------------------------------------------------------------


@form(
    "KCL-STAT-04", on="status", when=(WORKING,), if_=lambda m: m.conv.asked or m.what.get("responseFor") == "checkpoint"
)
def the_answer_to_a_checkpoint_gets_no_status(m: Case) -> str:
    """It is no request (Checkpoint 1 and 2; K-5)."""
    wrong = m.what.get("responseFor") == "checkpoint"
    return "the answer to a checkpoint was answered by a status" if wrong else ""


@form(MISUSES, on="status", when=(WORKING,), if_=lambda m: bool(m.conv.later), which=lambda m: MISUSED[m.conv.misuse])
def actions_are_done_in_order(m: Case) -> Broken | str:
    """What was sent behind an open action is done behind it (catalogue of invalid inputs). No host sends it before the
    status has come, which is about the most recent action (High Level Description): so nothing else is broken."""
    answers = m.what.get("responseFor")
    early = answers != m.conv.action and any(frame.action == answers for frame in m.conv.later)
    why = f"the status for {answers} came before that for {m.conv.action}, which was sent first"
    return Broken(why, ends=True) if early else ""


def _misnamed(m: Case) -> str:
    answers, action = m.what.get("responseFor"), m.conv.action
    return "" if answers == action else f"the status for {action} has responseFor {answers!r:.80}"


@form(INITIALIZE_IS_ANSWERED, on="status", when=(WORKING,), during="initialize")
def the_status_of_initialize_names_it(m: Case) -> str:
    """Its responseFor is initialize (Action messages; Initialize 3)."""
    return _misnamed(m)


@form(STATUS_NAMES_ITS_ACTION, on="status", when=(WORKING,))
def the_status_names_its_action(m: Case) -> Any:
    """responseFor holds the name of the action (Action messages). What came in place of an answer may be done at once,
    while the action is open, and then nobody can tell what is left to do (K-41)."""
    why = _misnamed(m)
    return Broken(why, level="") if why and _answers_what_came_instead(m) else why


def _steps_are_left(m: Case) -> bool:
    return bool(m.conv.steps) and not m.conv.loose


@form(SHARD_ENDED_IS_CHECKPOINTED, on="status", when=(WORKING,), during="shardEnded")
def the_end_of_a_shard_is_checkpointed(m: Case) -> Any:
    """A child makes a checkpoint before its status (KCL 2.1.0 and later). What user code of its own does is its own
    affair, so that the lack of it is a recommendation missed."""
    if m.config.scripted:
        return "no checkpoint in shardEnded" if _steps_are_left(m) else ""
    return "" if m.conv.asked else Broken("no checkpoint in shardEnded", level="SHOULD")


@form("KCL-SHUT-05", on="status, checkpoint", when=(WORKING,), during="shutdown", if_=lambda m: m.config.scripted)
def a_last_checkpoint_is_made_at_terminate_alone(m: Case) -> str:
    """At TERMINATE a checkpoint, at ZOMBIE none, where user code is told so (K-8)."""
    if m.action == "status":
        return "no checkpoint at the end of a shard" if _steps_are_left(m) else ""
    extra = m.request.kind is Kind.EXTRA and (m.number is not None or m.conv.last is not None)
    return "a checkpoint in shutdown that user code did not ask for" if extra else ""


@form(
    "KCL-REC-08",
    on="status",
    when=(WORKING,),
    if_=lambda m: m.config.scripted and (m.conv.asked or m.conv.steps) and m.during not in ("shutdown", "shardEnded"),
)
def the_status_comes_when_user_code_is_done(m: Case) -> str:
    """The status says that the child has finished (ProcessRecords 2 and 3)."""
    why = f"the status for {m.conv.action} came before user code was done: checkpoints are missing"
    return why if _steps_are_left(m) else ""


@form("KCL-STAT-07", on="status", when=(WORKING,))
def a_status_has_no_further_members(m: Case) -> str:
    """Strict hosts skip a line with others (hosts of the project)."""
    extra = [name for name in m.what if name not in ("action", "responseFor")]
    return f"the status has further members: {', '.join(map(repr, extra))[:80]}" if extra else ""


@form(EMPTY_BATCHES_TAKE_NO_TIME, on="status", when=(WORKING,), during="processRecords",
      if_=lambda m: m.conv.batch == 0)  # fmt: skip
def an_empty_batch_takes_no_time(m: Case) -> str:
    """What the library itself adds is bounded. The text sets no limit; ten seconds are allowed."""
    return f"an empty batch took {m.conv.waited_ms} ms" if m.conv.waited_ms > LONG_MS else ""


# -- a request for a checkpoint ----------------------------------------------------------------------------------------


@form("KCL-INIT-06", on="checkpoint, status", when=(WORKING,), during="initialize", also=NO_OTHER_TIME, goes_on=True)
def no_checkpoint_is_asked_for_inside_initialize(m: Case) -> str:
    """The window is processRecords and shutdown (Checkpointing Behavior; K-6)."""
    return "a checkpoint request came inside initialize" if m.action == "checkpoint" else ""


@form(LEASE_LOST_IS_ANSWERED, on="checkpoint", when=(WORKING,), during="leaseLost", also=NO_OTHER_TIME, goes_on=True)
def no_checkpoint_is_asked_for_inside_lease_lost(m: Case) -> str:
    """The lease is gone (KCL 2.1.0 and later)."""
    return "a checkpoint request came inside leaseLost"


@tried("KCL-CHECKPOINT-01", on="checkpoint", when=(WORKING,), during="processRecords shutdownRequested shardEnded")
def a_checkpoint_is_asked_for_inside_a_batch(m: Case) -> bool:
    """At any time before the status (Checkpointing Behavior)."""
    return True


@tried("KCL-SHUT-03", on="checkpoint", when=(WORKING,), during="shutdown")
def a_checkpoint_is_asked_for_inside_shutdown(m: Case) -> bool:
    """You may write a checkpoint message at any time (Shutdown 2)."""
    return True


def _asks_for_none(m: Case) -> bool:
    """True when the next checkpoint of user code is one without a number, and the request may be that one."""
    wanted = m.conv.steps[0] if m.config.scripted and not m.conv.loose and m.conv.steps else ""
    return wanted is None and isinstance(m.number, str | None) and m.request.kind in _FIRST_TIME


_FIRST_TIME = (Kind.WANTED, Kind.NUMBERED, Kind.OTHER)


def _names_a_number(m: Case) -> bool:
    return m.number is not None and m.request.kind in (Kind.FREE, Kind.WANTED)


@form(
    NONE_MEANS_THE_LAST,
    on="checkpoint",
    when=(WORKING,),
    if_=_asks_for_none,
    unless=lambda m: m.during in CLOSED_TO_CHECKPOINTS or m.during == "shardEnded",
)
def no_number_means_the_end_of_the_batch(m: Case) -> Any:
    """User code that names no number asks for the end of the batch (KCL, all versions). The last number in its place
    is a recommendation missed (K-32)."""
    if m.request.kind is Kind.NUMBERED:
        return Broken("user code asked for a checkpoint without a number, sent was the last one", level="SHOULD")
    if m.request.kind is not Kind.OTHER:
        return ""
    why = f"user code asked for a checkpoint without a number, sent was {m.number!r:.80}"
    return Broken(why, goes_on=True, also=_also_not_delivered(m))


@form(NUMBER_IN_ITS_MEMBER, on="checkpoint", when=(WORKING,), unless=lambda m: m.during in CLOSED_TO_CHECKPOINTS)
def the_number_travels_in_its_member(m: Case) -> Any:
    """A text, under the name of the profile, and the one that user code asked for (Action messages; K-3, K-12)."""
    own, number = m.config.wire.number, m.number
    other = "sequenceNumber" if own == "checkpoint" else "checkpoint"
    sub = m.what.get("subSequenceNumber")
    if own not in m.what and other in m.what:
        return Broken(f"a checkpoint request carries its number in {other}", goes_on=True)
    if number is not None and not isinstance(number, str):
        why = f"{own} is {json.dumps(number)[:60]}, which is no text"
        return Broken(why, goes_on=True, also=(NUMBER_WAS_DELIVERED,))
    if m.config.wire.rich and not (sub is None or isinstance(sub, int) or (isinstance(sub, str) and sub.isdecimal())):
        return Broken(f"subSequenceNumber is {json.dumps(sub)[:60]}, which is no number", goes_on=True)
    if m.request.kind is Kind.OTHER and m.during != "shardEnded":
        wanted = str(m.conv.steps[0])
        why = f"user code asked for the checkpoint {wanted!r:.80}, sent was {number!r:.80}"
        return Broken(why, goes_on=True, also=_also_not_delivered(m))
    return ""


def _also_not_delivered(m: Case) -> tuple[str, ...]:
    return () if m.conv.knows(m.number) else (NUMBER_WAS_DELIVERED,)


@form(SHARD_ENDED_IS_CHECKPOINTED, on="checkpoint", when=(WORKING,), during="shardEnded")
def the_checkpoint_at_the_end_of_a_shard_has_no_number(m: Case) -> Any:
    """It stands for the end of the shard (KCL 2.1.0 and later); the last number is a recommendation missed (K-17)."""
    kind = m.request.kind
    if kind is Kind.OTHER:
        return f"the checkpoint in shardEnded is at {m.number!r:.80}"
    numbered = kind is Kind.NUMBERED or (kind is Kind.FREE and m.number is not None)
    return Broken("the checkpoint in shardEnded has a number", level="SHOULD") if numbered else ""


def _by_itself(m: Case) -> bool:
    """User code knows the result of all that it asked for: the library asks by itself; K-50."""
    return m.config.noted and not m.conv.steps and all(seen.call != "checkpoint" for seen in m.conv.due)


@form(ERRORS_REACH_USER_CODE, on="checkpoint", when=(WORKING,), if_=lambda m: m.request.kind is Kind.AFTER_SUCCESS,
      unless=lambda m: m.during in CLOSED_TO_CHECKPOINTS or _by_itself(m))  # fmt: skip
def success_is_not_tried_again(m: Case) -> str:
    """The error decides whether to checkpoint again (Checkpoint 2; K-13)."""
    return f"the checkpoint {m.number!r:.80} was asked for again although it had succeeded"


@form(NUMBER_WAS_DELIVERED, on="checkpoint", when=(WORKING,), if_=_names_a_number,
      unless=lambda m: m.during in CLOSED_TO_CHECKPOINTS)  # fmt: skip
def the_number_was_delivered(m: Case) -> str:
    """The number is one of a record (Action messages; K-12)."""
    wrong = m.request.kind is Kind.FREE and not m.conv.knows(m.number)
    return f"{m.number!r:.80} was not delivered to this child" if wrong else ""


# -- the end -----------------------------------------------------------------------------------------------------------


def _is_misused(m: Case) -> bool:
    """True where invalid input is what the end must be judged by."""
    return m.conv.misuse is not None and not m.conv.stuck and not (m.phase is ENDING and m.what == 0)


def _shows_nothing(m: Case) -> bool:
    return m.what == 0 and not m.conv.words


def _decodes(m: Case) -> bool:
    return m.config.decodes or m.conv.misuse is not Misuse.NO_BASE64


@form("KCL-REC-13", on="exits", if_=lambda m: m.conv.raised and not m.conv.stuck)
def a_failure_of_user_code_shows(m: Case) -> str:
    """Something on STDERR at least shows it, each time (hosts of the project; K-15). What came before an action was
    sent shows nothing of it."""
    if not m.conv.words:
        return "user code raised, and nothing on STDERR shows it"
    undisturbed = not (m.conv.loose or m.conv.steps or m.conv.misuse)  # else user code may not have come so far
    return "user code raised again, and nothing more on STDERR shows it" if m.conv.unshown and undisturbed else ""


@excuse(on="exits", if_=lambda m: _is_misused(m) and _shows_nothing(m), freedom="K-40")
def user_code_may_be_what_decodes(m: Case) -> bool:
    """Some libraries hand the data of a record over as text: base64 that is none need not show (Base 64 Encoding)."""
    return not _decodes(m)


@form(MISUSES, on="exits", if_=lambda m: _is_misused(m) and _decodes(m), which=lambda m: MISUSED[m.conv.misuse])
def invalid_input_shows(m: Case) -> Any:
    """It is not passed over in silence, where something was asked for (catalogue of invalid inputs; K-22)."""
    misuse = m.conv.misuse
    if not _shows_nothing(m):
        return ""
    if m.phase is not DEAF:
        return Broken("it ended with status 0 and without a word on STDERR", grave=True)
    if misuse in (Misuse.BROKEN_ACTION, Misuse.NO_BASE64):
        return Broken("nothing shows that something was wrong, neither STDERR nor the exit status", grave=True)
    if misuse is Misuse.OTHER_PROFILE and not m.conv.served:
        return Broken("it passed over what it cannot know, without a status, a word or an exit status", grave=True)
    if (
        misuse is Misuse.NO_ANSWER
        and m.conv.instead
        and not m.conv.taken
        and any(seen[:2] == FAILED[:2] for seen in m.conv.due)
    ):
        return "it swallowed what came instead of an answer, and user code was not told that the checkpoint failed"
    if misuse is Misuse.NO_MESSAGE:
        return Broken("the line was passed over without a word", level="SHOULD")
    return ""


@excuse(on="exits")
def what_follows_invalid_input_is_free(m: Case) -> bool:
    """Nor is anything else judged of how a child ends whose user code has failed, until its status (K-15)."""
    return _is_misused(m) or (m.conv.loose and not m.conv.stuck and m.phase is not DEAF)


@form(NOTHING_BUT_READING, on="exits", when=(ASKING,))
def it_does_not_end_while_a_request_is_open(m: Case) -> str:
    """It reads its STDIN for the result (Checkpointing Behavior)."""
    return f"{ended(m.what)} while a checkpoint request was open"


@form("KCL-SHUT-12", on="exits", when=(ENDING, DEAF),
      if_=lambda m: m.phase is ENDING or (m.conv.was is ENDING and not m.conv.raised))  # fmt: skip
def a_regular_end_has_status_0(m: Case) -> str:
    """After a regular end (hosts of the project)."""
    return f"{ended(m.what)} after a regular end" if m.what != 0 else ""


@form("KCL-SHUT-04", on="exits", when=(ENDING, DEAF), if_=lambda m: m.phase is ENDING or m.conv.was is ENDING)
def it_stays_until_stdin_ends(m: Case) -> str:
    """Begin reading line from STDIN to receive next action (Shutdown 4; K-7)."""
    return "it ended by itself, before the end of STDIN" if m.phase is ENDING else ""


@form(READS_ON_AFTER_INITIALIZE, on="exits, status", when=(READY, WORKING),
      if_=lambda m: _has_read_on(m) == "initialize")  # fmt: skip
def it_reads_on_after_initialize(m: Case) -> str:
    """Begin reading line from STDIN to receive next action (Initialize 4)."""
    return _ended_early(m)


@form(READS_ON_AFTER_BATCH, on="exits, status", when=(READY, WORKING),
      if_=lambda m: _has_read_on(m) not in ("", "initialize"))  # fmt: skip
def it_reads_on_after_a_batch(m: Case) -> str:
    """Begin reading line from STDIN to receive next action (ProcessRecords 4)."""
    return _ended_early(m)


def _has_read_on(m: Case) -> str:
    """The action behind which it has to read on, or has: the status of a later one shows that."""
    if m.action == "status":
        return m.conv.before if m.phase is WORKING else ""
    return m.conv.action if m.phase is READY else ""


def _ended_early(m: Case) -> str:
    if m.action == "status":
        return ""
    return f"{ended(m.what)} after the status for {m.conv.action}, although STDIN was open"
