"""Why something of a child is missing or wrong: asked after a breach only, the likeliest first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specs.causes import Causes
from specs.storm import ids
from specs.storm.child.book import MISUSED
from specs.storm.child.case import Case, Emits
from specs.storm.states import Misuse
from specs.storm.values import same

BIG = 1 << 22
"""Characters from which on a tuple is a big one."""

# -- why the values of an emit are others ------------------------------------------------------------------------------

VALUES = Causes("other values")


def _wide(m: Case) -> bool:
    """Texts that can be escaped in several ways."""
    told = m.told.due
    return told is not None and wide(told.values)


def wide(values: Any) -> bool:
    """True for values that can be escaped in several ways."""
    return "\\" in repr(values) or not repr(values).isascii()


@VALUES.cause(ids.ESCAPES_ARE_RESOLVED, could=_wide)
def an_escape_was_not_resolved(m: Case) -> str:
    """A text holds the escape and not what that stands for (JSON)."""
    told = m.told.due
    if m.told.kind is not Emits.VALUES or told is None or _slashes(m.what.get("tuple")) <= _slashes(told.values):
        return ""
    return f"a text was escaped: {str(m.what.get('tuple'))[:160]!r}"


def _slashes(value: Any) -> int:
    """How many backslashes the texts in a value have."""
    if isinstance(value, str):
        return value.count("\\")
    if isinstance(value, Mapping):
        return sum(_slashes(item) for item in value.values()) + sum(map(_slashes, value))
    return sum(map(_slashes, value)) if isinstance(value, list) else 0


# -- why nothing more comes of a tuple or a command --------------------------------------------------------------------

MISSING = Causes("missing")


@MISSING.cause(ids.WAITS_FOR_NO_LIST, could=lambda m: m.conv.waived)
def it_waits_for_a_list_that_it_does_not_want(m: Case) -> str:
    """An emit with need_task_ids false is not answered (Storm 0.9.2)."""
    return "nothing more comes after an emit that needs no task ids" if m.conv.waived else ""


# -- why user code was not called for a tuple --------------------------------------------------------------------------

UNCALLED = Causes("user code not called")


def _seen(m: Case) -> Any:
    task = next((task for task in m.conv.tasks if task.open), None)
    if m.action == "observed":
        at = m.shows[1]
        task = m.conv.tasks[at] if at >= 0 else None
    return task.seen if task is not None else None


def _is_tick(m: Case) -> bool:
    seen = _seen(m)
    return seen is not None and m.config.has("x-tick") and seen["stream"] == "__tick" and same(seen["task"], -1)


def _is_near(m: Case) -> bool:
    seen = _seen(m)
    return seen is not None and (seen["stream"] == "__heartbeat" or same(seen["task"], -1))


def _is_odd(m: Case) -> bool:
    seen = _seen(m)
    return seen is not None and (seen["comp"] is None or not seen["tuple"])


def _is_big(m: Case) -> bool:
    seen = _seen(m)
    return seen is not None and bool(seen["tuple"]) and sum(map(size, seen["tuple"])) >= BIG


def size(value: Any) -> int:
    """About how many characters a value has."""
    if isinstance(value, str):
        return len(value)
    return 8 * len(value) if isinstance(value, list) else 1


def _uncalled(m: Case) -> str:
    seen = _seen(m)
    return f"user code was not called for the tuple {seen['id']!r:.60}" if m.action != "observed" else ""


UNCALLED.cause(ids.WAITS_FOR_NO_LIST, could=lambda m: m.conv.waived and m.action != "observed")(
    it_waits_for_a_list_that_it_does_not_want
)


@UNCALLED.cause(ids.TICKS_ARE_TUPLES, could=_is_tick)
def a_tick_was_taken_for_a_heartbeat(m: Case) -> str:
    """A tick is an ordinary tuple (Storm)."""
    return _uncalled(m)


@UNCALLED.cause(ids.KNOWN_BY_STREAM_AND_TASK, could=_is_near)
def a_tuple_was_taken_for_a_heartbeat(m: Case) -> str:
    """A heartbeat is known by stream and task together (Handling Heartbeats)."""
    return _uncalled(m)


@UNCALLED.cause(ids.ODD_TUPLES_ARE_TAKEN, could=_is_odd)
def a_tuple_without_values_or_comp_was_not_taken(m: Case) -> str:
    """A tuple may have no values, and a comp that is null (Bolts)."""
    return _uncalled(m)


@UNCALLED.cause(ids.BIG_TUPLES_ARE_TAKEN, could=_is_big)
def a_big_tuple_was_not_taken(m: Case) -> str:
    """16 MiB (catalogue of invalid inputs)."""
    return _uncalled(m)


# -- why task ids do not reach user code -------------------------------------------------------------------------------

UNHANDED = Causes("task ids not handed over")


@UNHANDED.cause(ids.EMPTY_LISTS_ARE_LISTS, could=lambda m: [] in m.conv.lists)
def an_empty_list_was_not_taken_for_one(m: Case) -> str:
    """A list is an array, also where no task gets the tuple (Bolts)."""
    return "an empty list of task ids did not reach user code" if m.action != "task ids" else ""


# -- why the process id is missing -------------------------------------------------------------------------------------

UNSET = Causes("no process id")


def _is_early(m: Case) -> bool:
    return isinstance(m.conv.setup, Mapping) and "componentid" not in (m.conv.setup.get("context") or {})


def _has_conf(m: Case) -> bool:
    return isinstance(m.conv.setup, Mapping) and len(m.conv.setup.get("conf") or {}) > 1


@UNSET.cause(ids.CONTEXT_REACHES_USER_CODE, could=_is_early)
def the_context_is_from_before_0_10(m: Case) -> str:
    """The context has grown in 0.10 (Initial Handshake)."""
    return "it does not come up with a context from before 0.10" if m.action != "pid" else ""


@UNSET.cause(ids.CONF_REACHES_USER_CODE, could=_has_conf)
def the_conf_has_odd_members(m: Case) -> str:
    """Any JSON may stand in conf (Initial Handshake)."""
    return "it does not come up with this conf" if m.action != "pid" else ""


# -- why heartbeats are not answered -----------------------------------------------------------------------------------

UNANSWERED = Causes("heartbeats not answered")


@UNANSWERED.cause(MISUSED[Misuse.ODD_LIST], could=lambda m: m.conv.misuse is Misuse.ODD_LIST)
def what_comes_behind_an_odd_list_is_not_read(m: Case) -> str:
    """What comes behind it is read right (catalogue of invalid inputs)."""
    return "nothing is answered behind task ids that are no numbers" if m.action != "sync" else ""


@UNANSWERED.cause(ids.HEARTBEATS_COME_ANYWHERE,
                  could=lambda m: len(m.conv.beats) > 1 or bool(m.conv.settled or m.conv.open))  # fmt: skip
def a_heartbeat_came_beside_other_things(m: Case) -> str:
    """Between tuples, several at once (Handling Heartbeats)."""
    return f"{m.conv.unanswered} heartbeats are not answered by a sync" if m.action != "sync" else ""


# -- why a command is not answered -------------------------------------------------------------------------------------

UNDONE = Causes("command not answered")
UNDONE.cause(ids.WAITS_FOR_NO_LIST, could=lambda m: m.conv.waived)(it_waits_for_a_list_that_it_does_not_want)


@UNDONE.cause(ids.SPOUT_LISTS_REACH_THEIR_EMIT, could=lambda m: m.conv.listed)
def the_list_of_an_emit_was_not_taken(m: Case) -> str:
    """What follows an emit waits for its list of task ids (Spouts)."""
    task = next((task for task in m.conv.tasks if task.due), None)
    if m.action == "sync" or task is None or not task.begun:
        return ""
    return f"the emit of {str(task.due[0].values)[:100]} did not come"


@UNDONE.cause(ids.LIVELY_COMMANDS_ARE_ANSWERED, could=lambda m: m.conv.command in ("activate", "deactivate"))
def it_does_not_know_the_command(m: Case) -> str:
    """activate and deactivate are answered by a sync (Storm 1.1)."""
    return f"{m.conv.command} was not answered by a sync" if m.action != "sync" else ""


@UNDONE.cause("STORM-SPOUT-23", could=lambda m: m.conv.extra)
def it_does_not_take_further_members(m: Case) -> str:
    """Hosts add an empty id to next (Storm)."""
    return ""
