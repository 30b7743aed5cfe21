"""What a host must still say or do, on the wire and beside it. Order is precedence."""

from __future__ import annotations

from collections.abc import Iterator

from specs.rules import Due
from specs.storm import ids
from specs.storm.host.book import ALL, BOLT_HOST, BOOKS, BOTH, ROWS, SPOUT_HOST
from specs.storm.host.causes import EFFECTS, named
from specs.storm.host.forms import BOLT_LISTS, SPOUT_LISTS
from specs.storm.machine import NO_COMMAND_BEFORE_THE_SYNC, SETUP_COMES_FIRST
from specs.storm.states import HostConv, Owing, Row
from specs.storm.values import shown

PASSED_OVER = (Row.LEFT, Row.SILENT, Row.UNREAD, Row.CUT, Row.ENDED)
"""What no host may pass over, if something is to come of its child. Of other rows that is a recommendation (S-22)."""
COMMANDS = frozenset(("next", "ack", "fail"))
"""Calls that a host may answer when the sync has come."""
UNNOTICED = {
    Row.SILENT: "the child is silent for longer than the timeout",
    Row.UNREAD: "the child stands still, and does not read what is sent to it",
    Row.LEFT: "the child has ended",
    Row.NO_PID: "the child does not say its process id",
}


def _is_up(conv: HostConv) -> bool:
    """True while the host has something to do with its child."""
    return not conv.closing and not conv.failed and conv.given is not None and not conv.deaf


@BOTH.duty(ids.CHILDREN_ARE_ENDED, met_by="ended, closes")
def a_child_is_ended_when_its_component_is_closed(s: Owing) -> str:
    """No process is left behind (catalogue of endings)."""
    left = s.conv.closing and not s.conv.gone and not s.conv.muted
    return "its caller is done with it, and the child was left running" if left else ""


@BOTH.duty(ALL, met_by="gives up")
def a_child_that_is_of_no_use_is_given_up(s: Owing) -> Due | str:
    """Its end, its silence and what means nothing are failures, and reported (catalogue of invalid inputs; S-22)."""
    conv, row = s.conv, s.conv.failing
    if row is None or not _is_up(conv):
        return ""
    noticed = UNNOTICED.get(row, f"the child said something that means nothing ({row.value})")
    why = f"{noticed}, and the host does not say so"
    must = row in PASSED_OVER or (row is Row.NO_CHILD and conv.left)
    also = tuple(ROWS[skipped] for skipped in conv.skipped if skipped is not row)
    return Due(why, kind=row.name, requirement=ROWS[row], level=None if must else "SHOULD", also=also)


def _rows(s: Owing) -> bool:
    """True where nothing is owed but to give up."""
    return not _is_up(s.conv) or s.conv.failing is not None


@BOTH.duty(ids.MESSAGES_ARE_CLOSED, met_by="message")
def a_message_that_was_begun_is_closed(s: Owing) -> str:
    """A line that is exactly `end` behind each message (The Protocol)."""
    if not s.conv.partial or _rows(s) or s.conv.left:
        return ""
    whole = any(BOOKS[s.config.host].owed(s._replace(conv=s.conv._replace(partial=False))))
    return "octets came, but no line `end`" if whole else ""


@BOTH.duty(ALL, met_by="")
def what_stands_beside_messages_holds_up_nothing(s: Owing) -> Due | str:
    """It is taken, or passed over (catalogue of invalid inputs)."""
    conv = s.conv
    rows = [row for row in conv.skipped if row is not Row.STDERR]  # that may matter as well: specs/storm/features.py
    if not rows or _rows(s) or conv.setup is None or not conv.pid:
        return ""
    row = rows[-1]
    below = next(_owed(s._replace(conv=conv._replace(skipped=()))), None)
    if below is None:
        return ""
    level = "SHOULD" if row is conv.maybe is Row.PID else None  # it may be refused: that it is not is S-22's
    return Due(f"{below}; {row.value} came before", kind=row.name, requirement=ROWS[row], level=level)


def _owed(s: Owing) -> Iterator[str]:
    return (d.due.why for d in BOOKS[s.config.host].open(s) if not d.due.overdue and d.due.kind != "start")


@BOTH.duty(SETUP_COMES_FIRST, met_by="setup")
def the_setup_is_sent(s: Owing) -> str:
    """The setup info (Initial Handshake)."""
    return "" if _rows(s) or s.conv.setup is not None else "there is no child, or it was sent nothing"


def _runs(s: Owing) -> bool:
    """True where the host may be waited for: its child runs, and has said nothing odd."""
    return not _rows(s) and s.conv.setup is not None and s.conv.pid


@BOTH.duty(ROWS[Row.NO_CHILD], met_by="answer")
def the_start_is_answered(s: Owing) -> Due | str:
    """The program says that its child is there; when it does is its own affair (S-19)."""
    waits = _runs(s) and "start" in s.conv.calls and s.conv.command is None
    return Due("a request was not answered", kind="start") if waits else ""


@BOTH.duty(f"{BOLT_LISTS} / {SPOUT_LISTS}", met_by="answer")
def new_task_ids_are_confirmed(s: Owing) -> str:
    """They are, before what follows them (S-19)."""
    return "a request was not answered" if _runs(s) and "task_ids" in s.conv.calls else ""


def _works(s: Owing) -> bool:
    """The same, and no child that may be given up, or that cannot show what it was sent."""
    return _runs(s) and not s.conv.stopped and s.conv.maybe in (None, Row.PID, Row.FLOOD)


def _tells(s: Owing) -> bool:
    """The same, and no call of a spout's host that goes on: what comes of a command may be told when that is over
    (S-41)."""
    goes_on = s.config.child == "spout" and s.conv.command is not None
    return _works(s) and not (goes_on and not COMMANDS.isdisjoint(s.conv.calls))


@BOTH.duty(f"{BOLT_LISTS} / {SPOUT_LISTS}", met_by="list")
def an_emit_is_answered_by_task_ids(s: Owing) -> str:
    """The tasks to which the tuple was sent (Spouts, Bolts)."""
    return "the task ids of an emit did not come" if _works(s) and s.conv.lists else ""


def _effect(s: Owing) -> Due | str:
    if not _tells(s) or not s.conv.effects:
        return ""
    due, bolt = s.conv.effects[0], s.config.child == "bolt"
    what = due.id.name if due.kind in ("ack", "fail") else due.values
    return Due(f"{due.kind} {shown(what)} had no effect", kind=due.kind, requirement=named(due, bolt))


@BOLT_HOST.duty(EFFECTS[0], met_by="")
def what_a_bolt_says_has_its_effect(s: Owing) -> Due | str:
    """Emits, acks and fails (Bolts)."""
    return _effect(s)


@SPOUT_HOST.duty(EFFECTS[1], met_by="")
def what_a_spout_says_has_its_effect(s: Owing) -> Due | str:
    """Emits (Spouts)."""
    return _effect(s)


@BOTH.duty(f"{ids.BOLT_LOGS} / {ids.SPOUT_LOGS}", met_by="logged")
def what_a_child_logs_reaches_the_log(s: Owing) -> str:
    """The log of the worker (Spouts, Bolts)."""
    if not _tells(s) or not s.conv.logs:
        return ""
    return f"the log {shown(s.conv.logs[0][0])} did not reach the host's log"


@BOTH.duty(ids.ERRORS_ARE_REPORTED, met_by="error")
def an_error_of_a_child_is_reported(s: Owing) -> str:
    """It is reported (Storm 0.9)."""
    return f"the error {s.conv.errors[0]!r:.80} was not reported" if _tells(s) and s.conv.errors else ""


@BOLT_HOST.duty(f"{EFFECTS[0]} {ids.BOLT_LOGS}", met_by="")
def what_a_bolt_says_right_before_its_end_has_its_effect(s: Owing) -> Due | str:
    """Acks, fails, emits and logs (Bolts; S-45). The end may overtake them once in a while."""
    conv = s.conv
    if not conv.parting or conv.closing or not (conv.effects or conv.logs):
        return ""
    if conv.effects:
        due = conv.effects[0]
        what = f"{due.kind} {shown(due.id.name if due.kind in ('ack', 'fail') else due.values)} had no effect"
        requirement = named(due, bolt=True)
    else:
        what, requirement = f"the log {shown(conv.logs[0][0])} did not reach the host's log", ids.BOLT_LOGS
    return Due(
        f"{what}: the bolt ended right behind it", kind="parting", requirement=requirement, level="SHOULD", steady=True
    )


@BOLT_HOST.duty("STORM-BOLT-01", met_by="tuple")
def tuples_are_sent_as_soon_as_there_are_any(s: Owing) -> str:
    """Without waiting for acks (Bolts)."""
    if not _works(s) or not s.conv.waiting:
        return ""
    return f"the tuple {shown(s.conv.waiting[0].values)} was not sent"


@SPOUT_HOST.duty(NO_COMMAND_BEFORE_THE_SYNC, met_by="command")
def a_command_is_sent_once_the_one_before_is_answered(s: Owing) -> str:
    """Each command that is asked for (Spouts)."""
    waits = _works(s) and s.conv.waiting and s.conv.command is None
    return f"{s.conv.waiting[0][0]} was not sent" if waits else ""
