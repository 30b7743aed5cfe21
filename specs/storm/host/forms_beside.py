"""What a host does beside the wire: what reaches its collector and its log, and when it gives its child up.

Order is precedence. What is seen beside the wire and the messages on it are two streams, so nothing here rests on which
of them was seen first.
"""

from __future__ import annotations

from typing import Any

from specs.rules import Broken
from specs.storm import ids
from specs.storm.host.book import ALL, BOLT_HOST, BOTH, ROWS, SPOUT_HOST
from specs.storm.host.case import LEVELS, Case, GivesUp, Shown, is_level
from specs.storm.host.causes import CULPRITS, VALUES
from specs.storm.host.forms import BEATS
from specs.storm.machine import SETUP_COMES_FIRST
from specs.storm.states import Row
from specs.storm.values import apart, same, shown

form = BOTH.form

# -- what is made of what means nothing --------------------------------------------------------------------------------

NEVER_LENIENT = (Row.CRLF, Row.FLOOD, Row.NO_UTF8, Row.TWICE, Row.ODD_NUMBER, Row.LEFT, Row.SILENT,
                 Row.UNREAD)  # fmt: skip
"""Rows about which the text leaves nothing open but to give up, or to take it as it is."""


@form(ALL, on="lenient", which=lambda m: ROWS[m.row])
def nothing_is_made_of_what_means_nothing(m: Case) -> Any:
    """It is a failure (catalogue of invalid inputs). To make something of it is a recommendation missed: nothing that
    a right child says comes out wrong by that (S-22)."""
    nonsense = m.row.value if m.row is not None else ""
    why = f"{m.what}; the child had said something that means nothing: {nonsense}"
    return Broken(why, level="SHOULD", ends=True)


def is_lenient(m: Case) -> bool:
    """True where to make something of what the child did is a recommendation missed."""
    return m.row is not None and m.row not in NEVER_LENIENT


def _what(m: Case) -> str:
    return f"{m.action} {shown(dict(m.what), 160)}"


@form(ALL, on="emit", which=lambda m: ROWS[Row.ODD_TASK],
      if_=lambda m: m.row is Row.ODD_TASK and m.shown[0] is Shown.NONSENSE)  # fmt: skip
def an_emit_to_what_is_no_task_goes_to_no_other_task(m: Case) -> str:
    """It goes to no other task (catalogue of invalid inputs). A text that has the number of a task is that one."""
    task, odd = m.what.get("task"), m.conv.odd
    lenient = task is None or same(task, odd) or str(task) == odd or [task] == odd
    return "" if lenient else f"an emit to the task {shown(odd)} went to {shown(task)}"


@form(ALL, on="emit, ack, fail, gives up, passes over", if_=lambda m: bool(_rows(m)), which=lambda m: ROWS[_rows(m)[0]])
def what_means_nothing_has_no_effect(m: Case) -> Any:
    """Nothing is emitted, and nothing is settled that was not named (catalogue of invalid inputs; S-22). What may be
    taken may also be passed over, or be a failure: either is right."""
    if m.action in _ENDINGS:
        return ""
    if m.shown[0] is Shown.MISTAKEN:
        return f"{_what(m)} was made of a message that is not one: {_rows(m)[0].value}"
    if m.shown[0] is not Shown.NONSENSE:
        return ""
    why = f"{_what(m)} was made of a message that means nothing: {_rows(m)[0].value}"
    return Broken(why, level="SHOULD", ends=True) if is_lenient(m) else why


_ENDINGS = ("gives up", "passes over")


def _rows(m: Case) -> list[Row]:
    """What the child did that must not have this effect."""
    maybe = m.conv.maybe
    if m.action in _ENDINGS:
        if m.action == "gives up" and m.gives_up is GivesUp.MAY:
            return [maybe or Row.FLOOD]
        return [maybe] if maybe is not None and m.action == "passes over" else []
    rows = [Row.CUT] if Row.CUT in m.conv.skipped else [m.row] if m.row is not None else []
    if rows == [Row.LEFT] and m.action == "emit" and Row.ODD_NUMBER in m.conv.skipped:
        rows = [Row.ODD_NUMBER]  # it is about what the child said before its end
    return (
        rows if m.shown[0] in (Shown.MISTAKEN, Shown.NONSENSE) or rows[:1] in ([Row.NO_UTF8], [Row.ODD_NUMBER]) else []
    )


@form(ALL, on="ack, fail", which=lambda m: ROWS[Row.NO_UTF8], if_=lambda m: m.shown[0] is Shown.REPLACED)
def no_other_id_is_made_of_what_is_no_utf_8(m: Case) -> str:
    """Never do they make another id (catalogue of invalid inputs)."""
    return f"{_what(m)} came of an id that is none"


@form(ALL, on="emit, ack, fail, logged, gives up", if_=lambda m: bool(_beside(m)), which=lambda m: ROWS[_beside(m)[-1]])
def what_stands_beside_messages_is_no_reason_to_give_up(m: Case) -> str:
    """It is taken, or passed over, and what comes behind it has its effect (catalogue of invalid inputs)."""
    wrong = m.action == "gives up"
    return f"{m.what}; what came before is no reason: {_beside(m)[-1].value}" if wrong else ""


def _beside(m: Case) -> tuple[Row, ...]:
    """What the child did beside the message that has had its effect, or before it was given up."""
    if m.action == "gives up":
        return m.conv.skipped if m.gives_up is GivesUp.NO_REASON else ()
    return m.conv.skipped if m.action == "logged" or m.shown[0] is Shown.SAID else ()


# -- emits, acks, fails ------------------------------------------------------------------------------------------------


@BOLT_HOST.form(ids.TUPLES_ARE_SETTLED, on="ack, fail")
def what_the_child_acks_is_acked(m: Case) -> str:
    """ack and fail, and nothing else (Bolts)."""
    return f"{_what(m)}, which the child did not say, or once only" if m.shown[0] is Shown.UNSAID else ""


@BOLT_HOST.form("STORM-BOLT-25", on="ack, fail", if_=lambda m: len(m.conv.done) > 1)
def acks_may_come_in_any_order(m: Case) -> str:
    """Tuples can be acked late, in any order (Bolts)."""
    return f"{_what(m)}, and another one was settled" if m.shown[0] is Shown.UNSAID else ""


@SPOUT_HOST.form(
    ids.ANSWERS_ACKS_TOO, on="ack, fail, emit", if_=lambda m: m.conv.command in ("ack", "fail") or m.action != "emit"
)
def a_spout_emits_in_answer_to_acks(m: Case) -> str:
    """Results for the previous command (Spouts); it settles nothing."""
    wrong = m.shown[0] is Shown.UNSAID and m.action != "emit"
    return f"{_what(m)}, which the child did not say, or once only" if wrong else ""


@SPOUT_HOST.form("STORM-SPOUT-05", on="emit, goes on", if_=lambda m: bool(m.conv.held))
def a_host_does_not_read_on_after_a_sync(m: Case) -> str:
    """Not before it has sent another command (Spouts)."""
    if m.action != "emit" or m.shown[0] is not Shown.READ_EARLY:
        return ""
    return f"{_what(m)}: it was read after the sync, before another command"


def _emitted(m: Case) -> bool:
    return m.shown[0] in (Shown.SAID, Shown.VALUES, Shown.STREAM, Shown.TASK, Shown.ID, Shown.ANCHORS)


@form(f"{ids.BOLT_VALUES} / {ids.SPOUT_VALUES}", on="emit", causes=VALUES,
      if_=lambda m: _emitted(m) or m.shown[0] is Shown.UNSAID)  # fmt: skip
def the_values_of_an_emit_are_those_that_the_child_said(m: Case) -> str:
    """The values of a tuple may be any JSON (Spouts, Bolts; S-17)."""
    if m.shown[0] is Shown.UNSAID:
        return f"{_what(m)}, which the child did not say, or once only"
    if m.shown[0] is not Shown.VALUES:
        return ""
    due, got = m.due.values, m.what.get("tuple")
    return f"emitted is {shown(got, 160)}, the child said {shown(due, 160)}: {apart(due, got)}"


@form(f"{ids.BOLT_STREAM} / {ids.SPOUT_STREAM}", on="emit", if_=_emitted)
def an_emit_goes_to_the_stream_that_the_child_says(m: Case) -> str:
    """The default stream where none is named (Spouts, Bolts; S-5)."""
    if m.shown[0] is not Shown.STREAM:
        return ""
    return f"emitted to {shown(m.what.get('stream'))}, the child said {m.due.stream!r:.60}"


@form(ids.TASK_0_IS_NONE, on="emit", if_=lambda m: _emitted(m) and "task 0" in m.due.more)
def task_0_is_no_task(m: Case) -> str:
    """Absent, null or 0: not direct (Storm)."""
    return f"emitted to the task {shown(m.what.get('task'))}" if m.shown[0] is Shown.TASK else ""


@form(
    f"{ids.BOLT_TASK} / {ids.SPOUT_TASK}", on="emit", if_=lambda m: _emitted(m) and (m.due.task or m.what.get("task"))
)
def an_emit_goes_to_the_task_that_the_child_says(m: Case) -> str:
    """A direct emit (Spouts, Bolts)."""
    if m.shown[0] is not Shown.TASK:
        return ""
    return f"emitted to the task {shown(m.what.get('task'))}, the child said {m.due.task!r}"


def _other_id(m: Case) -> str:
    if m.shown[0] is not Shown.ID:
        return ""
    return f"emitted with the id {shown(m.what.get('id'))}, the child said {shown(m.due.id)}"


@SPOUT_HOST.form(ids.MESSAGE_IDS_COME_BACK, on="emit", if_=lambda m: _emitted(m) and m.due.id is not None)
def an_emit_has_the_id_that_the_child_says(m: Case) -> str:
    """A text or a number (Spouts)."""
    return _other_id(m)


@SPOUT_HOST.form(ids.UNRELIABLE_WITHOUT_ID, on="emit", if_=lambda m: _emitted(m) and m.due.id is None)
def an_emit_without_id_is_unreliable(m: Case) -> str:
    """Left out for an unreliable emit (Spouts)."""
    return _other_id(m)


def _other_anchors(m: Case) -> str:
    if m.shown[0] is not Shown.ANCHORS:
        return ""
    wires = [live.wire for live in m.due.anchors]
    return f"anchors are {shown(m.what.get('anchors'))}, the child said {shown(wires)}"


@BOLT_HOST.form(ids.ONE_TEXT_IS_A_LIST, on="emit", if_=lambda m: _emitted(m) and "one anchor" in m.due.more)
def one_text_is_a_list_of_one_anchor(m: Case) -> str:
    """A single text (Storm 0.9.2)."""
    return _other_anchors(m)


@BOLT_HOST.form(ids.ANCHORS_ARE_TUPLES, on="emit", if_=lambda m: _emitted(m) and bool(m.due.anchors))
def anchors_are_those_that_the_child_says(m: Case) -> str:
    """The tuples that an emit depends on (Bolts; S-26)."""
    return _other_anchors(m)


@BOLT_HOST.form(ids.UNANCHORED, on="emit", if_=lambda m: _emitted(m) and not m.due.anchors)
def an_emit_without_anchors_is_not_anchored(m: Case) -> str:
    """An unanchored emit (Bolts)."""
    return _other_anchors(m)


# -- logs --------------------------------------------------------------------------------------------------------------


def _level(level: Any) -> str:
    return LEVELS.get(level, "info") if isinstance(level, int) else str(level).lower()


def log_at(m: Case) -> int:
    """Which of the logs that the child wrote this is, or -1."""
    text = str(m.what.get("msg"))
    return next((at for at, (told, _) in enumerate(m.conv.logs) if told in text), -1)


@form("STORM-EXT-06", on="logged",
      if_=lambda m: m.config.has("x-loglevel") and m.conv.logs[log_at(m)][1] is not None
      and m.what.get("level") is not None)  # fmt: skip
def a_log_has_the_level_that_the_child_says(m: Case) -> str:
    """0 to 4 for trace to error, any other is info (Storm 0.9.3)."""
    level, got = m.conv.logs[log_at(m)][1], m.what["level"]
    wanted = LEVELS.get(level, "info") if isinstance(level, int) else "info"
    return "" if wanted == _level(got) else f"a log of level {level!r} was noted as {got!r}, not {wanted}"


@form("STORM-EXT-06", on="gives up", if_=lambda m: m.gives_up is GivesUp.LEVEL)
def a_log_of_another_level_is_no_reason_to_give_up(m: Case) -> Any:
    """Any other is info (Storm 0.9.3; S-46)."""
    odd = next(level for _, level in m.conv.logs if not is_level(level))
    return Broken(f"{m.what}; the child had logged at the level {odd!r}", level="SHOULD", ends=True)


# -- giving up ---------------------------------------------------------------------------------------------------------


@form(SETUP_COMES_FIRST, on="gives up", if_=lambda m: m.gives_up is GivesUp.AT_ONCE)
def a_host_waits_for_its_child(m: Case) -> str:
    """The setup, and then the process id (Initial Handshake)."""
    return f"{m.what}, before the child had said anything"


@BOLT_HOST.form(BEATS, on="gives up", if_=lambda m: m.gives_up is GivesUp.UNBEATEN)
def a_child_that_is_sent_no_heartbeat_is_not_given_up(m: Case) -> str:
    """Periodically (Handling Heartbeats; S-13)."""
    return f"{m.what}, and no heartbeat was left to answer"


@SPOUT_HOST.form(
    "STORM-HB-13",
    on="gives up, goes on",
    if_=lambda m: _has_rested(m) if m.action != "gives up" else m.gives_up is GivesUp.IDLE,
)
def a_spout_is_not_given_up_while_no_command_is_open(m: Case) -> str:
    """The clock runs while a command is unanswered (Storm 1.0.2)."""
    return f"{m.what}, and no command was open" if m.action == "gives up" else ""


def _has_rested(m: Case) -> bool:
    """It was idle for longer than the timeout, and goes on."""
    timeout = m.conv.timeout_ms
    return bool(timeout) and m.conv.most_ms >= timeout and m.config.has("x-hb-timing")


def _lives(m: Case) -> bool:
    """The child took a good part of its timeout, and spoke. Where it is given up, nothing that it said may be why."""
    if m.action == "goes on":
        return bool(m.conv.lived)
    said = m.conv.effects or m.conv.logs or m.conv.errors
    return m.gives_up is GivesUp.WRONGLY and not said and bool(m.conv.seen or m.conv.most_ms)


def _given_up(m: Case) -> str:
    return str(m.what) if m.action == "gives up" else ""


@BOLT_HOST.form("STORM-HB-12", on="goes on, gives up", if_=lambda m: m.config.has("x-hb-any-message") and _lives(m))
def any_message_of_a_bolt_counts(m: Case) -> str:
    """Any message is a sign of life (Storm 0.10)."""
    return _given_up(m)


@form("STORM-HB-11", on="goes on, gives up", if_=_lives)
def a_child_that_took_its_time_is_not_given_up(m: Case) -> str:
    """To answer each heartbeat, or each command in time, is enough (Handling Heartbeats)."""
    return _given_up(m)


@BOTH.freedom("S-13")
def a_host_may_have_a_timeout_of_its_own(m: Case) -> bool:
    """Where it does not take that of conf, which is found out first (Handling Heartbeats)."""
    return m.gives_up is GivesUp.UNTIMED


def _is_taken(m: Case) -> bool:
    if m.action == "gives up":
        return m.gives_up in (GivesUp.WRONGLY, GivesUp.UNTIMED)
    return m.action == "logged" or m.shown[0] is Shown.SAID


@BOLT_HOST.form(ids.COMMANDS_OF_BOLTS, on="emit, ack, fail, logged, gives up", causes=CULPRITS, if_=_is_taken,
                freed_by=(a_host_may_have_a_timeout_of_its_own,))  # fmt: skip
@SPOUT_HOST.form(ids.ANSWERS_ACKS_TOO, on="gives up", causes=CULPRITS, if_=_is_taken,
                 freed_by=(a_host_may_have_a_timeout_of_its_own,))  # fmt: skip
def a_child_that_is_right_is_not_given_up(m: Case) -> str:
    """What a child may say at any time, in any mixture, is taken (Spouts, Bolts)."""
    return _given_up(m)
