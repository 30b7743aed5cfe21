"""What a host writes to its child. Order is precedence.

Source: 000_a44a7e31e51ca0fa.txt, "The Protocol", "Spouts", "Bolts", "Handling Heartbeats".
"""

from __future__ import annotations

from specs.storm import ids
from specs.storm.host.book import BOLT_HOST, BOTH, SPOUT_HOST
from specs.storm.host.case import Case, Commands, Lists, Tuples
from specs.storm.machine import NO_COMMAND_BEFORE_THE_SYNC, BoltPhase, SpoutPhase
from specs.storm.values import apart, is_number, same, shown

form = BOTH.form
RUN, IDLE = BoltPhase.RUN, SpoutPhase.IDLE
RUNS = (BoltPhase.RUN, SpoutPhase.IDLE, SpoutPhase.BUSY)


@form("STORM-HS-07", on="touched")
def the_directory_is_there(m: Case) -> str:
    """A file can be made in pidDir (Initial Handshake)."""
    return f"no file can be made in its pidDir: {m.what!r:.200}" if m.what else ""


# -- task ids ----------------------------------------------------------------------------------------------------------

BOLT_LISTS = "STORM-BOLT-15"
SPOUT_LISTS = "STORM-SPOUT-07"
NO_LIST_WHEN_DIRECT = "STORM-BOLT-16 / STORM-SPOUT-08"
SAYS_WHICH_EMITS_WANT_IDS = "STORM-EXT-03"


@form(f"{BOLT_LISTS} / {SPOUT_LISTS}", on="list", when=RUNS)
def task_ids_are_numbers(m: Case) -> str:
    """The numbers of the tasks (Spouts, Bolts)."""
    return "" if all(is_number(item) for item in m.what) else f"task ids are {shown(m.what)}"


@form(SAYS_WHICH_EMITS_WANT_IDS, on="list", when=RUNS, if_=lambda m: m.conv.unneeded)
def an_emit_that_needs_no_ids_gets_none(m: Case) -> str:
    """need_task_ids false (Storm 0.9.2)."""
    return _unasked(m)


@BOLT_HOST.form("STORM-BOLT-23", on="list", when=RUNS, if_=lambda m: m.conv.last in ("ack", "fail", "log", "sync"))
def acks_logs_and_syncs_are_not_answered(m: Case) -> str:
    """Only an emit is (Bolts)."""
    return _unasked(m)


@form(NO_LIST_WHEN_DIRECT, on="list", when=RUNS)
def a_direct_emit_is_not_answered(m: Case) -> str:
    """Only an emit without a task is (Spouts, Bolts)."""
    return _unasked(m)


def _unasked(m: Case) -> str:
    wrong = m.listed[0] is Lists.UNASKED
    return f"the task ids {shown(m.what)} came, and no emit was left that wants them" if wrong else ""


@BOLT_HOST.form("STORM-BOLT-17", on="list", when=RUNS, if_=lambda m: len(m.conv.settings) > 1)
def lists_come_in_the_order_of_their_emits(m: Case) -> str:
    """You will receive them in order (Bolts; S-4, S-31)."""
    wrong = m.listed[0] is Lists.OTHER
    return f"the task ids {shown(m.what)} came for another emit than theirs" if wrong else ""


@BOTH.freedom("S-28")
def ids_of_one_emit_come_in_any_order(m: Case) -> bool:
    """The text does not say in which order a list has them (Spouts, Bolts)."""
    return m.listed[0] is Lists.RIGHT


@form(f"{BOLT_LISTS} / {SPOUT_LISTS}", on="list", when=RUNS, freed_by=(ids_of_one_emit_come_in_any_order,))
def task_ids_are_those_of_the_tasks_that_get_the_tuple(m: Case) -> str:
    """The tasks to which the tuple was sent (Spouts, Bolts)."""
    as_given = m.listed[0] is Lists.RIGHT and same(m.conv.settings[m.listed[1]], m.what)
    if as_given or m.listed[0] not in (Lists.RIGHT, Lists.OTHER, Lists.WRONG):
        return ""
    return f"task ids are {shown(m.what)}, and should be {shown(m.conv.settings[m.listed[1]])}"


# -- tuples ------------------------------------------------------------------------------------------------------------

TUPLES_HAVE_THEIR_PARTS = "STORM-BOLT-02"


@BOLT_HOST.form(TUPLES_HAVE_THEIR_PARTS, on="nonsense, tuple", when=(RUN,))
def a_bolt_is_sent_tuples_and_lists(m: Case) -> str:
    """Tuples, and the task ids of emits (Bolts)."""
    if m.action == "nonsense":
        return f"{shown(m.what)} is no message of a host"
    return f"{shown(m.what)} is no tuple" if "command" in m.what and "tuple" not in m.what else ""


@BOLT_HOST.form("STORM-BOLT-03", on="tuple", when=(RUN,))
def the_id_of_a_tuple_is_a_text(m: Case) -> str:
    """A text, for languages without 64 bits (Bolts)."""
    return "" if isinstance(m.get("id"), str) else f"the id of a tuple is {shown(m.get('id'))}"


@BOLT_HOST.form(TUPLES_HAVE_THEIR_PARTS, on="tuple", when=(RUN,))
def a_tuple_has_its_parts(m: Case) -> str:
    """id, comp, stream, task, tuple (Bolts)."""
    if not isinstance(m.get("tuple"), list) or not is_number(m.get("task")):
        return f"a tuple has task {shown(m.get('task'))}, tuple {shown(m.get('tuple'))}"
    texts = isinstance(m.get("stream"), str) and isinstance(m.get("comp"), str)
    return "" if texts else f"a tuple has comp {shown(m.get('comp'))}, stream {shown(m.get('stream'))}"


@BOLT_HOST.form("STORM-BOLT-04", on="tuple", when=(RUN,), if_=lambda m: bool(m.conv.live))
def no_id_is_used_twice_at_once(m: Case) -> str:
    """The id of the tuple (Bolts)."""
    twice = any(live.wire == m.get("id") for live in m.conv.live)
    return f"the id {m.get('id')!r:.60} was given to a second tuple while the first is live" if twice else ""


@BOLT_HOST.form(TUPLES_HAVE_THEIR_PARTS, on="tuple", when=(RUN,))
def a_tuple_comes_from_where_it_was_given(m: Case) -> str:
    """The component, the stream and the task that created it (Bolts)."""
    if m.given[0] is not Tuples.CHANGED:
        return ""
    live = m.conv.waiting[m.given[1]]
    why = f"comp, stream, task are {m.get('comp')!r:.60}, {m.get('stream')!r:.60}, {m.get('task')!r}; "
    return f"{why}given were {live.comp!r:.60}, {live.stream!r:.60}, {live.task!r}"


@BOLT_HOST.form(ids.BOLT_VALUES, on="tuple", when=(RUN,))
def a_tuple_has_the_values_that_were_given(m: Case) -> str:
    """All values of the tuple, once (Bolts; S-17)."""
    if m.given[0] is Tuples.UNASKED:
        return f"the tuple {shown(m.get('tuple'))} was given to nobody, or once only"
    if m.given[0] is not Tuples.OTHER:
        return ""
    due, got = m.conv.waiting[0].values, m.get("tuple")
    return f"a tuple is {shown(got, 160)}, given was {shown(due, 160)}: {apart(due, got)}"


# -- heartbeats --------------------------------------------------------------------------------------------------------

BEATS = "STORM-HB-01"


@BOLT_HOST.form("STORM-HB-02", on="heartbeat", when=(RUN,))
def a_heartbeat_is_a_tuple_without_values(m: Case) -> str:
    """Stream __heartbeat, task -1, a text as id (Handling Heartbeats; S-14)."""
    comp = m.get("comp")
    right = isinstance(m.get("id"), str) and same(m.get("task"), -1) and m.get("tuple") == []
    return "" if right and (comp is None or isinstance(comp, str)) else f"a heartbeat is {shown(dict(m.what), 200)}"


@BOLT_HOST.form(BEATS, on="heartbeat, time", if_=lambda m: m.action == "time" or bool(m.conv.seen))
def heartbeats_come_within_the_timeout(m: Case) -> str:
    """Periodically (Handling Heartbeats; S-13)."""
    if m.action != "time":
        return ""
    return f"no heartbeat came for {m.conv.idle_ms} ms; the timeout is {m.conv.timeout_ms} ms"


# -- commands ----------------------------------------------------------------------------------------------------------

LIVELY = "STORM-EXT-02"
SETTLED_WHEN_ASKED = "STORM-SPOUT-17"


@SPOUT_HOST.form("STORM-SPOUT-01", on="command, nonsense", when=RUNS)
def a_spout_is_sent_next_ack_and_fail(m: Case) -> str:
    """These three, and task ids (Spouts)."""
    return f"{shown(m.what)} is no command of a spout's host" if m.action == "nonsense" else ""


def _settles(m: Case) -> bool:
    return m.get("command") in ("ack", "fail")


@SPOUT_HOST.form("STORM-SPOUT-02", on="command", when=RUNS, if_=_settles)
def ack_and_fail_carry_an_id(m: Case) -> str:
    """The id of the emit (Spouts)."""
    return f"{m.get('command')} has no id" if m.get("id") is None else ""


@SPOUT_HOST.form(SPOUT_LISTS, on="command", when=(IDLE,))
def task_ids_come_before_the_next_command(m: Case) -> str:
    """At once (Spouts)."""
    return f"{m.get('command')} came before the task ids of an emit" if m.conv.lists else ""


@SPOUT_HOST.form(LIVELY, on="command", when=(IDLE,),
                 if_=lambda m: m.config.has("x-activate") and m.get("command") == "next")  # fmt: skip
def a_spout_is_activated_before_its_first_next_and_not_asked_while_deactivated(m: Case) -> str:
    """activate comes before the first next, and after deactivate none comes (Storm 1.1)."""
    return "" if m.conv.active else "a next came, and the spout was not activated"


@SPOUT_HOST.form(ids.MESSAGE_IDS_COME_BACK, on="command", when=(IDLE,), if_=_settles)
def ack_and_fail_carry_the_id_that_was_asked_for(m: Case) -> str:
    """The id of the emit, as it was (Spouts)."""
    if m.asked[0] is not Commands.OTHER_ID:
        return ""
    wanted = m.conv.waiting[m.asked[1]][1]
    return f"{m.get('command')} has the id {shown(m.get('id'))}, asked for was {shown(wanted)}"


@SPOUT_HOST.form(SETTLED_WHEN_ASKED, on="command", when=(IDLE,), if_=_settles)
def ack_and_fail_come_once_when_asked_for(m: Case) -> str:
    """At most once, after the emit (Spouts)."""
    wrong = m.asked[0] is Commands.UNASKED
    return f"{m.get('command')} for {shown(m.get('id'))} that nobody asked for" if wrong else ""


@SPOUT_HOST.form(NO_COMMAND_BEFORE_THE_SYNC, on="command", when=(IDLE,), if_=lambda m: m.get("command") == "next")
def a_next_comes_when_asked_for(m: Case) -> str:
    """Each is asked for (Spouts)."""
    return "a next that nobody asked for" if m.asked[0] is Commands.UNASKED else ""
