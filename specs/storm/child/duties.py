"""What a bolt or a spout must still say or do. Order is precedence: what is owed first is blamed first."""

from __future__ import annotations

from typing import Any

from specs.rules import Due
from specs.storm import ids
from specs.storm.child.book import BOLT, BOLT_MISUSES, BOOKS, BOTH, MISUSED, MISUSES, SPOUT
from specs.storm.child.causes import MISSING, UNANSWERED, UNCALLED, UNDONE, UNHANDED, UNSET
from specs.storm.machine import DEAFS, SETUPS, BoltPhase, SpoutPhase
from specs.storm.states import Conv, Misuse, Owing, Task
from specs.storm.values import shown


@BOTH.duty(ids.ENDS_WITH_STDIN, met_by="exits")
def the_end_of_stdin_ends_the_child(s: Owing) -> str:
    """The end of STDIN, also inside a message (catalogue of endings; S-36)."""
    return "it did not end when its STDIN ended" if s.conv.phase in DEAFS else ""


@BOTH.duty(MISUSES, met_by="exits, pid")
def an_unusable_setup_ends_the_child(s: Owing) -> Due | str:
    """It says no process id that it could not register (catalogue of invalid inputs; S-24). Silence alone is a
    recommendation missed (S-23)."""
    if s.conv.phase not in SETUPS or s.conv.misuse is None:
        return ""
    level = None if s.conv.pid is not None else "SHOULD"
    return Due(f"it neither answers nor ends: {s.conv.misuse.value}", kind=s.conv.misuse.name,
               requirement=MISUSED[s.conv.misuse], level=level)  # fmt: skip


@BOTH.duty(ids.MESSAGES_ARE_CLOSED, met_by="exits")
def a_message_that_was_begun_is_closed(s: Owing) -> Any:
    """A line that is exactly `end` behind each message (The Protocol)."""
    return Due("octets came, but no line `end`") if s.conv.partial and _owes(s) else ""


def _owes(s: Owing) -> bool:
    return any(BOOKS[s.config.child].owed(s._replace(conv=s.conv._replace(partial=False))))


@BOTH.duty(ids.PID_IS_SAID, met_by="pid", causes=UNSET)
def the_process_id_is_said(s: Owing) -> str:
    """The child says its process id (Initial Handshake)."""
    return "it does not say its process id" if s.conv.phase in SETUPS and s.conv.misuse is None else ""


@BOTH.duty(ids.FILE_IS_MADE, met_by="file")
def the_file_of_the_process_id_is_made(s: Owing) -> str:
    """A file with its process id as name (Initial Handshake)."""
    conv = s.conv
    if conv.phase in (*SETUPS, *DEAFS) or conv.pid is None or not conv.folder or str(conv.pid) in dict(conv.files):
        return ""
    return f"there is no file {conv.pid} in the directory that it was sent"


# -- bolts -------------------------------------------------------------------------------------------------------------


@BOLT.duty(ids.HEARTBEATS_MEANWHILE, met_by="sync")
def a_heartbeat_is_answered_while_a_list_is_awaited(s: Owing) -> Due | str:
    """Each heartbeat (Handling Heartbeats); a bolt that blocks there is called slow by it only in the end."""
    if s.conv.phase is not BoltPhase.RUN or not s.conv.blocked or s.conv.unanswered <= s.conv.late:
        return ""
    why = "a heartbeat is not answered while the bolt waits for task ids"
    return Due(why, forgive=lambda s: s._replace(conv=s.conv._replace(late=s.conv.unanswered)))


@BOLT.duty("STORM-HB-03", met_by="sync", causes=UNANSWERED)
def a_heartbeat_is_answered(s: Owing) -> Due | str:
    """When you receive a heartbeat, answer sync (Handling Heartbeats)."""
    if s.conv.phase is not BoltPhase.RUN or s.conv.blocked or not s.conv.unanswered:
        return ""
    why = f"{s.conv.unanswered} heartbeats are not answered by a sync"
    return Due(why, forgive=lambda s: s._replace(conv=s.conv._replace(unanswered=0)))


@BOLT.duty(BOLT_MISUSES, met_by="settle, exits")
def a_whole_message_in_odd_lines_is_taken_or_reported(s: Owing) -> Due | str:
    """The child does not wait for ever with a whole message in its hands (catalogue of invalid inputs; S-23)."""
    conv = s.conv
    held = conv.misuse is Misuse.BLANK and s.config.scripted and conv.open and not conv.words and not conv.blocked
    if not held or conv.phase is not BoltPhase.RUN:
        return ""
    return Due(f"it neither answers nor ends: {Misuse.BLANK.value}", kind=Misuse.BLANK.name,
               requirement=MISUSED[Misuse.BLANK], level="SHOULD")  # fmt: skip


def _first(s: Owing) -> Task | None:
    """The first callback of which something is due."""
    if s.conv.phase is not BoltPhase.RUN or s.conv.blocked or s.conv.misuse is not None:
        return None
    return next((task for task in s.conv.tasks if task.open), None)


def _without(s: Owing) -> Owing:
    """As if nothing more were due of the first callback."""
    return s._replace(conv=s.conv._replace(tasks=tuple(t for t in s.conv.tasks if t is not _first(s))))


PASSED_OVER = {misuse: MISUSED[misuse] for misuse in (Misuse.NO_MESSAGE, Misuse.LACKING, Misuse.BLANK, Misuse.ODD_LIST)}
"""What a bolt skips or ends at: nothing of it is left once the bolt goes on."""


@BOLT.duty(" ".join(PASSED_OVER.values()), met_by="settle, exits")
def what_comes_behind_invalid_input_is_worked_on(s: Owing) -> Due | str:
    """A bolt that answers a heartbeat behind it has skipped it, and goes on with what is sent next (S-23). What comes
    behind a list with something else than numbers must be read right, once the emit that it was for is over (S-44)."""
    conv = s.conv
    idle = conv.phase is BoltPhase.RUN and conv.goes_on and not conv.blocked and not conv.raising
    if conv.misuse not in PASSED_OVER or not idle or not s.config.scripted:
        return ""
    listed = conv.misuse is Misuse.ODD_LIST
    if listed and not set(conv.open) <= set(conv.behind):
        return ""  # the emit that it was for may wait for another list
    lost = next((task.id for task in conv.tasks if task.id in conv.behind and _wants_settling(conv, task)), None)
    if lost is None:
        return ""
    return Due(f"it goes on after {conv.misuse.value}, and does nothing for the tuple {shown(lost)} behind it",
               kind=conv.misuse.name, requirement=PASSED_OVER[conv.misuse], level=None if listed else "SHOULD",
               forgive=_without_behind)  # fmt: skip


def _wants_settling(conv: Conv, task: Task) -> bool:
    return task.id in conv.open and any(due.kind in ("ack", "fail") and due.id == task.id for due in task.due)


def _without_behind(s: Owing) -> Owing:
    return s._replace(conv=s.conv._replace(behind=()))


@BOLT.duty(ids.TUPLES_REACH_USER_CODE_IN_ORDER, met_by="observed", causes=UNCALLED)
def user_code_is_called_for_each_tuple(s: Owing) -> Due | str:
    """Every tuple reaches user code (Bolts)."""
    task = _first(s)
    if task is None or task.seen is None:
        return ""
    return Due(f"user code was not called for the tuple {shown(task.id)}", kind="uncalled", level=_level(task),
               forgive=_without)  # fmt: skip


@BOLT.duty(ids.SETTLED_IN_THE_END, met_by="settle", causes=MISSING)
def what_user_code_acks_is_acked(s: Owing) -> Due | str:
    """Every tuple is acked or failed (Bolts). Where user code says so it is a MUST: the host plays it again else."""
    task = _first(s)
    if task is None or task.seen is not None or not task.due or task.due[0].kind == "emit":
        return ""
    due = task.due[0]
    return Due(f"the {due.kind} of {shown(due.id)} did not come", kind=due.kind, level=_level(task) or "MUST",
               forgive=_without)  # fmt: skip


@BOLT.duty(ids.TUPLES_REACH_USER_CODE_IN_ORDER, met_by="emit", causes=MISSING)
def what_user_code_emits_is_emitted(s: Owing) -> Due | str:
    """What user code says of a tuple (Bolts)."""
    task = _first(s)
    if task is None or task.seen is not None or not task.due or task.due[0].kind != "emit":
        return ""
    return Due(f"the emit of {shown(task.due[0].values)} did not come", kind="emit", level=_level(task),
               forgive=_without)  # fmt: skip


def _level(task: Task) -> str | None:
    """The text does not say that the id of a settled tuple may come again (S-39)."""
    return "SHOULD" if task.again else None


@BOLT.duty(ids.RAISED_CODE_SHOWS, met_by="settle, exits")
def a_tuple_whose_user_code_raised_is_failed(s: Owing) -> Due | str:
    """A bolt fails its tuple, or ends (catalogue of invalid inputs)."""
    task = _first(s)
    if task is None or task.seen is not None or task.due or not task.raising:
        return ""
    return Due("user code raised, and the tuple was not failed, nor did the bolt end", forgive=_without)


@BOLT.duty(ids.BOLT_LOGS, met_by="log")
def what_user_code_logs_is_logged(s: Owing) -> Due | str:
    """A log (Bolts)."""
    task = _first(s)
    if task is None or task.seen is not None or task.due or task.raising or not task.logs:
        return ""
    return Due(f"the log {task.logs[0]!r:.100} did not come", forgive=_without)


@BOLT.duty(ids.BOLT_LISTS_REACH_THEIR_EMIT, met_by="task ids", causes=UNHANDED)
def task_ids_reach_user_code(s: Owing) -> Due | str:
    """A list of task ids (Bolts)."""
    conv = s.conv
    idle = conv.phase is BoltPhase.RUN and not conv.blocked and conv.misuse is None
    if not idle or not s.config.scripted or not conv.lists:
        return ""
    return Due(f"the task ids {shown(conv.lists[0])} did not reach user code",
               forgive=lambda s: s._replace(conv=s.conv._replace(lists=())))  # fmt: skip


@BOLT.duty(ids.SETTLED_IN_THE_END, met_by="settle")
def every_tuple_is_settled(s: Owing) -> Due | str:
    """Every tuple is acked or failed in the end (Bolts)."""
    conv = s.conv
    idle = conv.phase is BoltPhase.RUN and not conv.blocked and conv.misuse is None
    if not idle or s.config.scripted or not conv.open or conv.lazy:
        return ""
    return Due(f"{len(conv.open)} tuples are neither acked nor failed",
               forgive=lambda s: s._replace(conv=s.conv._replace(lazy=True)))  # fmt: skip


@BOLT.duty(ids.TUPLES_REACH_USER_CODE_IN_ORDER, met_by="")
def a_bolt_goes_on_while_its_stdin_is_open(s: Owing) -> Due | str:
    """Further tuples would be lost (Bolts)."""
    return Due("it did not go on", kind="ended", overdue=True) if s.conv.phase is BoltPhase.RUN else ""


# -- spouts ------------------------------------------------------------------------------------------------------------


@SPOUT.duty(MISUSES.partition("/")[2], met_by="sync, exits")
def what_is_no_command_is_answered_or_ends_the_spout(s: Owing) -> Due | str:
    """The host waits for a sync (catalogue of invalid inputs; S-23)."""
    conv = s.conv
    if conv.misuse is None or conv.phase is not SpoutPhase.BUSY or conv.blocked:
        return ""
    return Due(f"it neither answers nor ends: {conv.misuse.value}", kind=conv.misuse.name,
               requirement=MISUSED[conv.misuse], level="SHOULD")  # fmt: skip


@SPOUT.duty(ids.RAISED_CODE_SHOWS, met_by="sync, exits")
def a_command_whose_user_code_raised_is_answered(s: Owing) -> str:
    """A spout says sync, or ends (catalogue of invalid inputs)."""
    conv = s.conv
    if conv.phase is not SpoutPhase.BUSY or conv.blocked or not any(t.raising and not t.due for t in conv.tasks):
        return ""
    return "user code raised, and the command was not answered, nor did the spout end"


@SPOUT.duty(ids.ANSWERS_EACH_COMMAND, met_by="sync", also="STORM-HB-08", causes=UNDONE)
def each_command_is_answered_by_a_sync(s: Owing) -> str:
    """Emits and logs, and then a sync, which is the sign of life (Spouts; Handling Heartbeats)."""
    conv = s.conv
    return f"{conv.command} was not answered by a sync" if conv.phase is SpoutPhase.BUSY and not conv.blocked else ""


def _is_known(s: Owing) -> bool:
    conv = s.conv
    idle = conv.phase is SpoutPhase.IDLE and not conv.blocked
    return idle and s.config.scripted and conv.misuse is None and not conv.raising


@SPOUT.duty(ids.ANSWERS_EACH_COMMAND, met_by="observed")
def user_code_is_called_for_each_command(s: Owing) -> Due | str:
    """User code is called once (Spouts)."""
    if not _is_known(s) or all(task.seen is None for task in s.conv.tasks):
        return ""
    return Due(f"{s.conv.command} was answered, and user code was not called for it", kind="uncalled")


@SPOUT.duty(PASSED_OVER[Misuse.NO_MESSAGE], met_by="observed")
def user_code_is_called_for_a_command_behind_invalid_input(s: Owing) -> Due | str:
    """A spout that has answered both has skipped what was no message, and goes on with the command (S-23)."""
    conv = s.conv
    answered = conv.phase is SpoutPhase.IDLE and not conv.blocked and not conv.junk and not conv.raising
    if conv.misuse is not Misuse.NO_MESSAGE or not answered or not s.config.scripted:
        return ""
    if all(task.seen is None for task in conv.tasks):
        return ""
    return Due(f"{conv.command} behind {conv.misuse.value} was answered, and user code was not called for it",
               kind=conv.misuse.name, level="SHOULD",
               forgive=lambda s: s._replace(conv=s.conv._replace(tasks=())))  # fmt: skip


@SPOUT.duty(ids.SPOUT_LISTS_REACH_THEIR_EMIT, met_by="task ids")
def a_spout_hands_task_ids_to_user_code(s: Owing) -> Due | str:
    """A list of task ids (Spouts): a library that is waiting for its next command may read it then (S-42)."""
    if not _is_known(s) or not s.conv.passed:
        return ""
    return Due(f"the task ids {shown(s.conv.lists[0])} did not reach user code",
               forgive=lambda s: s._replace(conv=s.conv._replace(lists=(), passed=0)))  # fmt: skip


@SPOUT.duty(ids.ANSWERS_EACH_COMMAND, met_by="")
def a_spout_goes_on_while_its_stdin_is_open(s: Owing) -> Due | str:
    """Further commands would not be answered (Spouts)."""
    goes = s.conv.phase in (SpoutPhase.IDLE, SpoutPhase.BUSY)
    return Due("it did not go on", kind="ended", overdue=True) if goes else ""
