"""What a bolt says, and what its user code must be seen to do. Order is precedence.

Source: 000_a44a7e31e51ca0fa.txt, "Bolts", "Handling Heartbeats". Nothing here rests on when the bolt says it: any
order between tuples is allowed, and inside one the order of what user code was told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specs.rules import Broken
from specs.storm import ids
from specs.storm.child.book import BOLT, BOLT_MISUSES, MISUSED
from specs.storm.child.case import Case, Emits, Names, Settles, Shows, changed
from specs.storm.child.causes import VALUES
from specs.storm.child.forms import ids_of_one_emit_come_in_any_order
from specs.storm.machine import BoltPhase
from specs.storm.states import Misuse
from specs.storm.values import apart, is_direct, is_number, same, shown

form, excuse, tried = BOLT.form, BOLT.excuse, BOLT.tried
RUNS = (BoltPhase.RUN, BoltPhase.DEAF)


@excuse(on="log, report", when=(BoltPhase.SETUP,), freedom="S-24")
def a_report_may_answer_an_unusable_setup(m: Case) -> bool:
    """The child ends with an error, and may say which (catalogue of invalid inputs)."""
    return m.conv.misuse is not None


@form(ids.COMMANDS_OF_BOLTS, on="emit, settle, log, other", when=RUNS)
def a_bolt_says_emit_ack_fail_and_log(m: Case) -> str:
    """These four, and sync for a heartbeat (Bolts)."""
    if m.action != "other":
        return ""
    if not isinstance(m.what, Mapping) or not isinstance(m.what.get("command"), str):
        return f"{shown(m.what)} has no command"
    return f"{m.what['command']!r:.60} is no command of a bolt"


@form(ids.ERRORS_ARE_REPORTED, on="report", if_=lambda m: m.config.has("x-error") and m.get("command") == "error")
def an_error_has_a_text(m: Case) -> str:
    """An error is reported (Storm 0.9)."""
    return "" if isinstance(m.get("msg"), str) else f"an error with msg {shown(m.get('msg'))}, which is no text"


@form(ids.BOLT_LOGS, on="log", if_=lambda m: not isinstance(m.get("msg"), str) or m.logged[0] >= 0)
def a_log_has_the_text_that_user_code_wrote(m: Case) -> str:
    """A log has a msg (Bolts; S-16)."""
    return "" if isinstance(m.get("msg"), str) else f"a log with msg {shown(m.get('msg'))}, which is no text"


# -- emits -------------------------------------------------------------------------------------------------------------


@form(ids.BOLT_VALUES, on="emit", when=RUNS)
def the_tuple_of_an_emit_is_an_array(m: Case) -> str:
    """The values of a tuple (Bolts)."""
    return "" if isinstance(m.get("tuple"), list) else f"an emit whose tuple is {shown(m.get('tuple'))}"


def _anchored(m: Case) -> bool:
    return bool(m.anchors)


@form(ids.ANCHORS_ARE_TUPLES, on="emit", when=RUNS, if_=_anchored)
def anchors_are_an_array(m: Case) -> str:
    """The ids of the tuples that an emit depends on (Bolts)."""
    return "" if isinstance(m.anchors, list) else f"anchors are {shown(m.anchors)}"


def _odd_anchor(m: Case, *kinds: Names) -> Any:
    return next((anchor for anchor in m.anchors if m.named(anchor) in kinds), None)


@form(ids.ONE_SYNC_FOR_EACH_HEARTBEAT, on="emit", when=RUNS, if_=lambda m: bool(m.anchors) and bool(m.conv.beats))
def nothing_is_anchored_to_a_heartbeat(m: Case) -> str:
    """A heartbeat is answered by a sync alone (Handling Heartbeats)."""
    anchor = _odd_anchor(m, Names.BEAT)
    return f"a tuple is anchored to the heartbeat {anchor!r:.60}" if anchor is not None else ""


@form(ids.NO_DEAD_ANCHORS, on="emit", when=RUNS, if_=lambda m: bool(m.anchors) and bool(m.conv.settled))
def nothing_is_anchored_to_what_was_settled(m: Case) -> str:
    """An acked tuple is done (Bolts)."""
    anchor = _odd_anchor(m, Names.SETTLED)
    return "" if anchor is None else f"a tuple is anchored to {anchor!r:.60}, which was acked or failed before"


@form(ids.HALF_A_MESSAGE_IS_NONE, on="emit", when=RUNS, if_=lambda m: bool(m.anchors) and m.conv.cut)
def nothing_is_anchored_to_half_a_message(m: Case) -> str:
    """Half a message is none (catalogue of endings)."""
    anchor = _odd_anchor(m, Names.CUT)
    return "" if anchor is None else f"a tuple is anchored to {shown(anchor)}, of which half a message was sent"


@form(ids.IDS_STAY_TEXTS, on="emit", when=RUNS, if_=_anchored)
def an_anchor_is_the_text_that_it_was(m: Case) -> str:
    """Ids of 64 bits are texts so that they come back whole (Bolts)."""
    texts = {str(known) for known in m.conv.open}
    odd = [a for a in m.anchors if not isinstance(a, str) and str(a) in texts and not _known(m, a)]
    return f"an anchor is {shown(odd[0])}, which is no text" if odd else ""


def _known(m: Case, anchor: Any) -> bool:
    return any(same(known, anchor) for known in m.conv.open)  # a number, too, where a tuple was called so


@form(ids.ANCHORS_ARE_TUPLES, on="emit", when=RUNS, if_=_anchored)
def anchors_name_tuples_that_were_sent(m: Case) -> str:
    """The ids of the tuples that an emit depends on (Bolts)."""
    odd = [anchor for anchor in m.anchors if not _known(m, anchor)]
    return f"a tuple is anchored to {shown(odd[0])}, which was not sent" if odd else ""


@form(ids.BOLT_STREAM, on="emit", when=RUNS, if_=lambda m: m.get("stream") is not None)
def the_stream_of_an_emit_is_a_name(m: Case) -> str:
    """The id of a stream is a text (Bolts)."""
    stream = m.get("stream")
    return "" if isinstance(stream, str) else f"the stream of an emit is {shown(stream)}"


@form(ids.BOLT_TASK, on="emit", when=RUNS, if_=lambda m: m.get("task") is not None)
def the_task_of_an_emit_is_a_number(m: Case) -> str:
    """The task of a direct emit (Bolts)."""
    return "" if is_number(m.get("task")) else f"the task of an emit is {shown(m.get('task'))}"


def _told(m: Case) -> bool:
    return m.told.kind is not Emits.FREE


@form(ids.TUPLES_REACH_USER_CODE_IN_ORDER, on="emit", when=RUNS, if_=_told)
def what_user_code_emits_is_emitted_once_and_in_order(m: Case) -> str:
    """Each emit of user code, once, inside what it says of its tuple in its order (Bolts)."""
    values = shown(m.get("tuple"))
    wrong = m.told.kind is Emits.UNTOLD
    return f"{values} was emitted, which user code was not told to do, or not again" if wrong else ""


@form(ids.BOLT_VALUES, on="emit", when=RUNS, if_=_told, causes=VALUES)
def the_values_are_those_of_user_code(m: Case) -> str:
    """The values of a tuple may be any JSON (Bolts; S-17)."""
    if m.told.kind is not Emits.VALUES:
        return ""
    told, got = _due(m).values, m.emit.values
    return f"user code emits {shown(told, 160)}, on the wire is {shown(got, 160)}: {apart(told, got)}"


def _due(m: Case) -> Any:
    return m.told.due


@form(ids.BOLT_STREAM, on="emit", when=RUNS, if_=lambda m: _told(m) and not is_direct(m.what))
def an_emit_goes_to_the_stream_that_user_code_names(m: Case) -> str:
    """The default stream where none is named (Bolts; S-5)."""
    return _other_stream(m) if m.told.kind is Emits.STREAM else ""


@form(ids.BOLT_STREAM, on="emit", when=RUNS, if_=lambda m: m.told.kind is Emits.STREAM and is_direct(m.what))
def a_direct_emit_goes_to_the_stream_that_user_code_names(m: Case) -> str:
    """The default stream where none is named (Bolts; S-5)."""
    return _other_stream(m)


def _other_stream(m: Case) -> str:
    return f"user code emits to the stream {_due(m).stream!r:.60}, on the wire is {m.emit.stream!r:.60}"


@form(ids.BOLT_TASK, on="emit", when=RUNS, if_=lambda m: _told(m) and (_due(m).task is not None or is_direct(m.what)))
def a_direct_emit_goes_to_the_task_that_user_code_names(m: Case) -> str:
    """Only where user code says so (Bolts)."""
    wrong = m.told.kind is Emits.TASK
    return f"user code emits to the task {_due(m).task!r}, on the wire is {shown(m.emit.task)}" if wrong else ""


@form(ids.ANCHORS_ARE_TUPLES, on="emit", when=RUNS, if_=lambda m: _told(m) and bool(_due(m).anchors))
def anchors_are_those_of_user_code(m: Case) -> str:
    """The tuples that user code anchors to (Bolts; S-26)."""
    return _other_anchors(m) if m.told.kind is Emits.ANCHORS else ""


@form(ids.UNANCHORED, on="emit", when=RUNS, if_=lambda m: _told(m) and not _due(m).anchors)
def an_emit_that_is_not_anchored_stays_so(m: Case) -> str:
    """An unanchored emit (Bolts)."""
    return _other_anchors(m) if m.told.kind is Emits.ANCHORS else ""


def _other_anchors(m: Case) -> str:
    return f"user code anchors to {shown(_due(m).anchors)}, on the wire is {shown(m.emit.anchors)}"


# -- ack and fail ------------------------------------------------------------------------------------------------------


@form(ids.ONE_SYNC_FOR_EACH_HEARTBEAT, on="settle", when=RUNS, if_=lambda m: bool(m.conv.beats))
def no_heartbeat_is_acked_or_failed(m: Case) -> str:
    """A heartbeat is answered by a sync alone (Handling Heartbeats)."""
    return f"{_settles(m)} for a heartbeat" if m.name is Names.BEAT else ""


def _settles(m: Case) -> str:
    return f"{m.get('command')} for {shown(m.get('id'))}"


@form(ids.SETTLED_ONCE, on="settle", when=RUNS)
def a_tuple_is_settled_once(m: Case) -> str:
    """A tuple is acked or failed, and then it is done (Bolts)."""
    return f"{_settles(m)}, which was acked or failed before" if m.name is Names.SETTLED else ""


@form(ids.HALF_A_MESSAGE_IS_NONE, on="settle, leaves", when=RUNS, if_=lambda m: m.conv.cut)
def half_a_message_is_not_settled(m: Case) -> str:
    """Half a message is none (catalogue of endings)."""
    wrong = m.action == "settle" and m.name is Names.CUT
    return f"{_settles(m)}, of which half a message was sent at most" if wrong else ""


@form(BOLT_MISUSES, on="settle", when=RUNS, if_=lambda m: m.conv.misuse is not None,
      which=lambda m: MISUSED[m.conv.misuse])  # fmt: skip
def no_id_is_made_of_what_means_nothing(m: Case) -> str:
    """Nothing is done for what is no tuple (catalogue of invalid inputs; S-23)."""
    return f"{_settles(m)}, which no tuple is called" if m.name is Names.MISUSED else ""


@form(ids.IDS_STAY_TEXTS, on="settle", when=RUNS)
def an_id_goes_back_as_the_text_that_it_was(m: Case) -> str:
    """Ids of 64 bits are texts so that they come back whole (Bolts)."""
    if m.name is not Names.NUMBER:
        return ""
    what = "an id that has passed through a number" if isinstance(m.get("id"), str) else "a number where ids are texts"
    return f"{_settles(m)}, {what}"


@form(ids.IDS_ARE_MEANT, on="settle", when=RUNS)
def what_is_settled_was_sent(m: Case) -> str:
    """The id of the tuple (Bolts)."""
    return f"{_settles(m)}, which was not sent" if m.name is Names.UNKNOWN else ""


def _told_settle(m: Case) -> bool:
    return m.name is Names.OPEN and m.settles[0] is not Settles.FREE


@form(ids.IDS_ARE_MEANT, on="settle", when=RUNS, if_=_told_settle)
def a_tuple_is_acked_or_failed_as_user_code_says(m: Case) -> str:
    """What user code means (Bolts)."""
    return f"{_settles(m)}, and user code said the other one" if m.settles[0] is Settles.OTHER else ""


@form(ids.TUPLES_REACH_USER_CODE_IN_ORDER, on="settle", when=RUNS, if_=_told_settle)
def an_ack_is_not_earlier_than_user_code_says_it(m: Case) -> str:
    """What user code says of a tuple in its order (Bolts; S-26)."""
    return f"{_settles(m)} came before what user code says before it" if m.settles[0] is Settles.EARLY else ""


@form(ids.RAISED_CODE_SHOWS, on="settle", when=RUNS, if_=lambda m: _told_settle(m) and _raises(m))
def a_tuple_whose_user_code_raises_is_failed(m: Case) -> str:
    """A bolt fails its tuple, or ends (catalogue of invalid inputs)."""
    wrong = m.settles[0] is Settles.UNTOLD
    return f"{_settles(m)} although user code raised, or before what it says before that" if wrong else ""


def _raises(m: Case) -> bool:
    return any(task.raising and same(task.id, m.get("id")) for task in m.conv.tasks)


@form(ids.SETTLED_ONCE, on="settle", when=RUNS, if_=_told_settle)
def a_tuple_that_user_code_keeps_is_not_settled(m: Case) -> str:
    """Acked or failed when user code says so (Bolts)."""
    return f"{_settles(m)}, which user code keeps open" if m.settles[0] is Settles.UNTOLD else ""


# -- syncs -------------------------------------------------------------------------------------------------------------


@tried(ids.SYNCS_DO_NO_HARM, on="sync", when=RUNS)
def a_sync_may_stand_alone(m: Case) -> bool:
    """Before 0.7.1 each tuple had one (Bolts; S-8)."""
    return not m.conv.unanswered and (bool(m.conv.spare) or m.conv.misuse is not None)


@BOLT.freedom("S-8")
def a_sync_may_follow_a_tuple(m: Case) -> bool:
    """Once for each, and once besides; what a bolt says to what means nothing is free (Bolts)."""
    return m.action == "sync" and a_sync_may_stand_alone(m)


def _answers_nothing(m: Case) -> bool:
    return m.action == "sync" and not m.conv.unanswered


@form(ids.NOTHING_AFTER_THE_END, on="sync, leaves", when=(BoltPhase.DEAF,), freed_by=(a_sync_may_follow_a_tuple,))
def no_sync_comes_for_nothing_after_the_end_of_stdin(m: Case) -> Any:
    """Nothing is said but what answers something that came before (catalogue of endings)."""
    why = "a sync came after the end of STDIN, when nothing was to be answered"
    return Broken(why, ends=True) if _answers_nothing(m) else ""


@form(ids.ONE_SYNC_FOR_EACH_HEARTBEAT, on="sync", when=RUNS, if_=lambda m: bool(m.conv.beats),
      freed_by=(a_sync_may_follow_a_tuple,))  # fmt: skip
def a_heartbeat_has_one_sync(m: Case) -> str:
    """A heartbeat is answered by a sync (Handling Heartbeats; S-8)."""
    return "a second sync for one heartbeat" if _answers_nothing(m) else ""


@form(ids.NO_SYNC_FOR_TUPLES, on="sync", when=RUNS, freed_by=(a_sync_may_follow_a_tuple,))
def a_sync_answers_something(m: Case) -> str:
    """A bolt needs no sync for its tuples (Bolts; S-8)."""
    return "a sync for nothing" if _answers_nothing(m) else ""


def _more_syncs(m: Case) -> int:
    """Syncs that answered no heartbeat, beside those which user code printed or raised (S-25)."""
    return m.conv.extras - m.conv.raised - m.conv.talked.count('"sync"')


@form(ids.ONE_SYNC_FOR_EACH_HEARTBEAT, on="leaves", if_=lambda m: bool(m.conv.beats) and _more_syncs(m) > 0,
      unless=lambda m: m.conv.misuse is not None)  # fmt: skip
def syncs_without_heartbeat_follow_all_tuples_or_none(m: Case) -> str:
    """A bolt of before 0.7.1 says one for each tuple. Where there are fewer than half as many, these are second answers
    to heartbeats (S-8): half, because callbacks may be under way as STDIN ends. What user code printed may never have
    come as a sync of its own: a library may redirect it."""
    few = 2 * m.conv.extras < m.conv.done - m.conv.raised
    return f"{m.conv.extras} more syncs than heartbeats came, for {m.conv.done} tuples" if few else ""


# -- what user code was seen to do -------------------------------------------------------------------------------------


def _seen(m: Case) -> Any:
    """What was to be seen, of an observation that belongs to a tuple."""
    return m.conv.tasks[m.shows[1]].seen if m.shows[1] >= 0 else None


def _sent(m: Case, *more: Shows) -> bool:
    return m.shows[0] in (Shows.SENT, Shows.CHANGED, Shows.EARLY, *more)


def _changed(m: Case, *members: str) -> str:
    key = changed(_seen(m), m.what) if m.shows[0] is Shows.CHANGED else ""
    if key not in members:
        return ""
    return f"user code got {key} {m.what[key]!r:.100}, sent was {_seen(m)[key]!r:.100}"


@form(ids.IDS_ARE_MEANT, on="observed", if_=lambda m: _sent(m, Shows.OTHER))
def user_code_is_shown_the_id(m: Case) -> str:
    """The id of a tuple (Bolts)."""
    if m.shows[0] is Shows.OTHER:
        return f"user code got a tuple with the id {shown(m.what.get('id'))}, sent was {shown(_seen(m)['id'])}"
    return _changed(m, "id")


@form(ids.BOLT_VALUES, on="observed", if_=_sent)
def user_code_is_shown_the_tuple(m: Case) -> str:
    """The stream, the task and the values of a tuple (Bolts; S-17)."""
    return _changed(m, "stream", "task", "tuple")


@form(
    ids.ODD_TUPLES_ARE_TAKEN,
    on="observed",
    if_=lambda m: _sent(m) and (_seen(m)["comp"] is None or not _seen(m)["tuple"] or m.shows[0] is Shows.CHANGED),
)
def user_code_is_shown_a_comp_that_is_null(m: Case) -> str:
    """A tuple may have no values, and a comp that is null (Bolts)."""
    return _changed(m, "comp")


@form(ids.ONE_SYNC_FOR_EACH_HEARTBEAT, on="observed", if_=lambda m: m.shows[0] is Shows.BEAT)
def user_code_sees_no_heartbeat(m: Case) -> str:
    """A heartbeat is answered by a sync alone (Handling Heartbeats)."""
    return "user code was called for a heartbeat"


@form(ids.HALF_A_MESSAGE_IS_NONE, on="observed", if_=lambda m: m.shows[0] is Shows.CUT)
def user_code_sees_no_half_message(m: Case) -> str:
    """Half a message is none (catalogue of endings)."""
    return "user code was called for half a message"


@form(ids.TUPLES_REACH_USER_CODE_IN_ORDER, on="observed", if_=lambda m: _sent(m, Shows.UNSENT))
def user_code_gets_each_tuple_once_and_in_order(m: Case) -> str:
    """Every tuple, once (Bolts; S-15)."""
    name = shown(m.what.get("id"))
    if m.shows[0] is Shows.UNSENT:
        return f"user code was called for {name}, which was not sent, or called again"
    if m.shows[0] is not Shows.EARLY:
        return ""
    first = next(other for other in m.conv.tasks if other.seen is not None)
    return f"user code got the tuple {name} before {shown(first.id)}, which was sent first"


# -- task ids ----------------------------------------------------------------------------------------------------------


@form(BOLT_MISUSES, on="task ids", which=lambda m: MISUSED[m.conv.misuse],
      if_=lambda m: m.conv.misuse is Misuse.SURPLUS_LIST)  # fmt: skip
def a_list_that_nothing_asked_for_is_given_to_no_emit(m: Case) -> str:
    """It is passed over, or an error (catalogue of invalid inputs)."""
    given = shown(m.what.get("ids"))
    return f"an emit was given the task ids {given}, which came before it" if m.is_misassigned else ""


@form(ids.BOLT_LISTS_REACH_THEIR_EMIT, on="task ids", freed_by=(ids_of_one_emit_come_in_any_order,))
def each_list_goes_to_its_emit(m: Case) -> str:
    """The lists come in the order of the emits (Bolts; S-28)."""
    return m.wrong_list or m.other_order
