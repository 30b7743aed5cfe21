"""What a spout says, and what its user code must be seen to do. Order is precedence.

Source: 000_a44a7e31e51ca0fa.txt, "Spouts", "Handling Heartbeats".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specs.rules import Broken
from specs.storm import ids
from specs.storm.child.book import MISUSED, SPOUT, SPOUT_MISUSES
from specs.storm.child.case import Case, Emits, Shows
from specs.storm.child.causes import VALUES
from specs.storm.child.forms import ids_of_one_emit_come_in_any_order
from specs.storm.machine import SpoutPhase
from specs.storm.states import Misuse
from specs.storm.values import apart, is_direct, is_number, shown

form, excuse = SPOUT.form, SPOUT.excuse
IDLE, BUSY, DEAF = SpoutPhase.IDLE, SpoutPhase.BUSY, SpoutPhase.DEAF


@excuse(on="log, report", when=(SpoutPhase.SETUP,), freedom="S-24")
def a_report_may_answer_an_unusable_setup(m: Case) -> bool:
    """The child ends with an error, and may say which (catalogue of invalid inputs)."""
    return m.conv.misuse is not None


# -- after the end of STDIN --------------------------------------------------------------------------------------------


def _over(m: Case) -> bool:
    """No command was open, and nothing has disturbed it. A sync that user code printed ended one too early (S-33)."""
    disturbed = m.conv.misuse is not None or m.conv.raising or '"sync"' in m.conv.talked
    return m.conv.was is IDLE and not disturbed and m.action not in ("log", "report")


def _after(m: Case) -> str:
    return f"{m.what.get('command')} came after the end of STDIN, when no command was open" if _speaks(m) else ""


def _speaks(m: Case) -> bool:
    return m.action != "leaves"


@form(ids.HALF_A_MESSAGE_IS_NONE, on="emit, sync, leaves", when=(DEAF,), if_=lambda m: _over(m) and m.conv.cut)
def half_a_command_is_not_answered(m: Case) -> str:
    """Half a message is none (catalogue of endings)."""
    return _after(m)


@form(ids.NOTHING_AFTER_THE_END, on="emit, sync, leaves", when=(DEAF,), if_=lambda m: _over(m) and not m.conv.cut)
def nothing_is_said_after_the_end_of_stdin(m: Case) -> Any:
    """Nothing but what answers something that came before (catalogue of endings)."""
    return Broken(_after(m), ends=True) if _speaks(m) else ""


@excuse(on="emit, sync, log, report, other", when=(DEAF,))
def what_is_said_after_the_end_of_stdin_is_not_compared(m: Case) -> bool:
    """A spout may break off (catalogue of endings)."""
    return True


# -- turns -------------------------------------------------------------------------------------------------------------

WORKER_S = 30
"""The timeout of a worker that its conf does not tell, in seconds."""
BELIEVED_S = 10
"""So long a run waits for what it believes to be missing, in seconds: a longer timeout does not pass in it."""
TIMEOUTS = ("topology.subprocess.timeout.secs", "supervisor.worker.timeout.secs")


def _timeout_s(m: Case) -> float:
    conf = m.conv.setup.get("conf") if isinstance(m.conv.setup, Mapping) else None
    told = [conf[name] for name in TIMEOUTS if isinstance(conf.get(name), (int, float))] if conf else []
    return float(told[0] if told else WORKER_S)


def _silence(m: Case) -> str:
    late = m.conv.waited_ms > 1000 * _timeout_s(m)
    return f"it was silent for {m.conv.waited_ms} ms inside {m.conv.command}" if late else ""


def _may_pass(m: Case) -> bool:
    """True where the timeout would pass while a run waits, or has passed: to keep to a longer one says nothing."""
    return _timeout_s(m) < BELIEVED_S or bool(_silence(m))


@form("STORM-HB-09", on="sync, emit, log", when=(BUSY,), during="next", if_=_may_pass)
def a_spout_does_not_sleep_inside_next_beyond_the_timeout(m: Case) -> str:
    """The heartbeat is the sync: do not sleep for longer than the timeout (Handling Heartbeats)."""
    return _silence(m)


@form("STORM-SPOUT-19", on="sync, emit, log", when=(BUSY,), if_=_may_pass)
def a_spout_is_not_silent_beyond_the_timeout(m: Case) -> str:
    """The worker ends a spout that is silent for longer (Spouts; Handling Heartbeats)."""
    return _silence(m)


@form(SPOUT_MISUSES, on="emit", when=(IDLE,), which=lambda m: MISUSED[m.conv.misuse],
      if_=lambda m: m.conv.misuse not in (None, Misuse.NO_UTF8))  # fmt: skip
def nothing_is_emitted_for_what_is_no_command(m: Case) -> str:
    """Nothing is done for it (catalogue of invalid inputs; S-23)."""
    return f"{m.get('command')} came when no command was open"


@form(ids.ANSWERS_EACH_COMMAND, on="other", when=(IDLE, BUSY))
def a_spout_says_emit_log_and_sync(m: Case) -> str:
    """These three (Spouts)."""
    if not isinstance(m.what, Mapping) or not isinstance(m.what.get("command"), str):
        return f"{shown(m.what)} has no command"
    return f"{m.what['command']!r:.60} is no command of a spout"


@form(ids.ERRORS_ARE_REPORTED, on="report", if_=lambda m: m.config.has("x-error") and m.get("command") == "error")
def an_error_has_a_text(m: Case) -> str:
    """An error is reported (Storm 0.9.5)."""
    return "" if isinstance(m.get("msg"), str) else f"an error with msg {shown(m.get('msg'))}, which is no text"


@form(ids.SPOUT_LOGS, on="log", if_=lambda m: not isinstance(m.get("msg"), str) or m.logged[0] >= 0)
def a_log_has_the_text_that_user_code_wrote(m: Case) -> str:
    """A log has a msg (Spouts; S-16)."""
    return "" if isinstance(m.get("msg"), str) else f"a log with msg {shown(m.get('msg'))}, which is no text"


# -- syncs -------------------------------------------------------------------------------------------------------------


def _left(m: Case) -> Any:
    """The callback of which something is left at a sync."""
    if m.conv.misuse is not None or m.conv.raising:
        return None
    return next((task for task in m.conv.tasks if task.due or task.logs), None)


def _before(m: Case) -> str:
    task = _left(m)
    if task is None:
        return ""
    left = f"emit {shown(task.due[0].values)}" if task.due else f"log {task.logs[0]!r:.80}"
    return f"the sync of {m.conv.command} came before: {left}"


@form(ids.ANSWERS_ACKS_TOO, on="sync", when=(BUSY,), during="ack fail")
def what_answers_an_ack_comes_before_its_sync(m: Case) -> str:
    """Emits and logs in answer to ack and fail too (Spouts)."""
    return _before(m)


@form(ids.SPOUT_LOGS, on="sync", when=(BUSY,), if_=lambda m: (task := _left(m)) is not None and not task.due)
def what_user_code_logs_comes_before_the_sync(m: Case) -> str:
    """A log (Spouts)."""
    return _before(m)


@form(ids.ANSWERS_EACH_COMMAND, on="sync", when=(BUSY,))
def what_user_code_emits_comes_before_the_sync(m: Case) -> str:
    """The sync is the last of the answer (Spouts)."""
    return _before(m)


@excuse(on="sync", when=(IDLE,), freedom="S-23")
def a_sync_may_answer_what_means_nothing(m: Case) -> bool:
    """Which of it a spout answers is free (catalogue of invalid inputs)."""
    return m.conv.misuse is not None


# -- emits -------------------------------------------------------------------------------------------------------------


@form("STORM-SPOUT-10", on="emit", when=(BUSY,))
def the_tuple_of_an_emit_is_an_array(m: Case) -> str:
    """The values of a tuple (Spouts)."""
    return "" if isinstance(m.get("tuple"), list) else f"an emit whose tuple is {shown(m.get('tuple'))}"


@form(ids.MESSAGE_IDS_COME_BACK, on="emit", when=(BUSY,), if_=lambda m: m.get("id") is not None)
def an_id_is_a_text_or_a_number(m: Case) -> str:
    """The id of an emit (Spouts)."""
    return f"the id of an emit is {shown(m.get('id'))}" if isinstance(m.get("id"), (dict, list, bool)) else ""


@form(ids.SPOUT_STREAM, on="emit", when=(BUSY,), if_=lambda m: m.get("stream") is not None)
def the_stream_of_an_emit_is_a_name(m: Case) -> str:
    """The id of a stream is a text (Spouts)."""
    stream = m.get("stream")
    return "" if isinstance(stream, str) else f"the stream of an emit is {shown(stream)}"


@form(ids.SPOUT_TASK, on="emit", when=(BUSY,), if_=lambda m: m.get("task") is not None)
def the_task_of_an_emit_is_a_number(m: Case) -> str:
    """The task of a direct emit (Spouts)."""
    return "" if is_number(m.get("task")) else f"the task of an emit is {shown(m.get('task'))}"


def _told(m: Case) -> bool:
    return m.told.kind is not Emits.FREE


def _due(m: Case) -> Any:
    return m.told.due


def _untold(m: Case) -> str:
    if m.told.kind is not Emits.UNTOLD:
        return ""
    return f"{shown(m.get('tuple'))} was emitted, which user code was not told to do, or not again"


@form(ids.ANSWERS_ACKS_TOO, on="emit", when=(BUSY,), during="ack fail", if_=_told)
def in_answer_to_an_ack_user_code_emits(m: Case) -> str:
    """Emits and logs in answer to ack and fail too (Spouts)."""
    return _untold(m)


@form(ids.ANSWERS_EACH_COMMAND, on="emit", when=(BUSY,), if_=_told)
def what_user_code_emits_is_emitted_once(m: Case) -> str:
    """The emits of its user code (Spouts)."""
    return _untold(m)


@form(ids.MESSAGE_IDS_COME_BACK, on="emit", when=(BUSY,), if_=lambda m: _told(m) and _due(m).id is not None)
def the_id_is_that_of_user_code(m: Case) -> str:
    """A text or a number (Spouts)."""
    return _other_id(m)


@form(ids.UNRELIABLE_WITHOUT_ID, on="emit", when=(BUSY,), if_=lambda m: _told(m) and _due(m).id is None)
def an_emit_without_id_stays_so(m: Case) -> str:
    """Left out for an unreliable emit (Spouts)."""
    return _other_id(m)


def _other_id(m: Case) -> str:
    if m.told.kind is not Emits.ID:
        return ""
    return f"user code emits with the id {shown(_due(m).id)}, on the wire is {shown(m.emit.id)}"


@form(ids.SPOUT_VALUES, on="emit", when=(BUSY,), if_=_told, causes=VALUES)
def the_values_are_those_of_user_code(m: Case) -> str:
    """The values of a tuple may be any JSON (Spouts; S-17)."""
    if m.told.kind is not Emits.VALUES:
        return ""
    told, got = _due(m).values, m.emit.values
    return f"user code emits {shown(told, 160)}, on the wire is {shown(got, 160)}: {apart(told, got)}"


@form(ids.SPOUT_STREAM, on="emit", when=(BUSY,), if_=_told)
def an_emit_goes_to_the_stream_that_user_code_names(m: Case) -> str:
    """The default stream where none is named (Spouts; S-5)."""
    wrong = m.told.kind is Emits.STREAM
    due, got = _due(m), m.emit
    return f"user code emits to the stream {due.stream!r:.60}, on the wire is {got.stream!r:.60}" if wrong else ""


@form(
    ids.SPOUT_TASK,
    on="emit",
    when=(BUSY,),
    if_=lambda m: _told(m) and (_due(m).task is not None or is_direct(m.what)),
)
def a_direct_emit_goes_to_the_task_that_user_code_names(m: Case) -> str:
    """Only where user code says so (Spouts)."""
    wrong = m.told.kind is Emits.TASK
    return f"user code emits to the task {_due(m).task!r}, on the wire is {shown(m.emit.task)}" if wrong else ""


@excuse(on="emit, log, report", when=(IDLE,), freedom="S-23")
def what_means_nothing_may_be_answered_out_of_turn(m: Case) -> bool:
    """An error may answer it, and who replaces octets that are no UTF-8 has a command (catalogue of invalid inputs)."""
    return m.conv.misuse is Misuse.NO_UTF8 or (m.action != "emit" and m.conv.misuse is not None)


@excuse(on="log, report", when=(IDLE,), freedom="S-10")
def a_log_may_come_before_the_first_command(m: Case) -> bool:
    """It stands after no sync (Spouts)."""
    return not m.conv.command


# -- what user code was seen to do -------------------------------------------------------------------------------------


@form(ids.MESSAGE_IDS_COME_BACK, on="observed", if_=lambda m: m.what.get("call") in ("ack", "fail"),
      unless=lambda m: m.shows[0] not in (Shows.SENT, Shows.CHANGED))  # fmt: skip
def user_code_is_shown_the_id(m: Case) -> str:
    """The id comes back as it was (Spouts)."""
    if m.shows[0] is not Shows.CHANGED:
        return ""
    sent = m.conv.tasks[m.shows[1]].seen["id"]
    return f"user code was told {m.what['call']} for {shown(m.what['id'])}, sent was {shown(sent)}"


@form(ids.HALF_A_MESSAGE_IS_NONE, on="observed", if_=lambda m: m.shows[0] is Shows.CUT)
def user_code_sees_no_half_command(m: Case) -> str:
    """Half a message is none (catalogue of endings)."""
    return f"user code was called for {m.what.get('call')}, of which half a message was sent"


def _uncalled(m: Case) -> str:
    wrong = m.shows[0] is Shows.UNSENT
    return f"user code was called for {m.what.get('call')}, which was not sent, or called again" if wrong else ""


@form(
    ids.SPOUT_LISTS_REACH_THEIR_EMIT, on="observed", if_=lambda m: bool(m.conv.lists) and m.shows[0] is not Shows.FREE
)
def a_list_is_taken_for_no_command(m: Case) -> str:
    """A list is an array (Spouts)."""
    return _uncalled(m)


@form(ids.ANSWERS_EACH_COMMAND, on="observed", if_=lambda m: m.shows[0] is not Shows.FREE)
def user_code_is_called_once_for_each_command(m: Case) -> str:
    """Once (Spouts)."""
    return _uncalled(m)


@form(SPOUT_MISUSES, on="task ids", which=lambda m: MISUSED[m.conv.misuse],
      if_=lambda m: m.conv.misuse is Misuse.SURPLUS_LIST)  # fmt: skip
def a_list_that_nothing_asked_for_is_given_to_no_emit(m: Case) -> str:
    """It is passed over, or an error (catalogue of invalid inputs)."""
    given = shown(m.what.get("ids"))
    return f"an emit was given the task ids {given}, which came before it" if m.is_misassigned else ""


@form(ids.SPOUT_LISTS_REACH_THEIR_EMIT, on="task ids", freed_by=(ids_of_one_emit_come_in_any_order,))
def each_list_goes_to_its_emit(m: Case) -> str:
    """The list of the tasks that get the tuple (Spouts; S-28)."""
    return m.wrong_list or m.other_order
