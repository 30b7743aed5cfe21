"""What the first message of a host must be. Order is precedence.

Source: 000_a44a7e31e51ca0fa.txt, "Initial Handshake".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from specs.storm.host.book import BOTH
from specs.storm.host.case import Case
from specs.storm.machine import NEW, SETUP_COMES_FIRST
from specs.storm.values import carried, is_number, same, shown

form = BOTH.form
TASKS, GROUPING, SOURCES, FIELDS = (
    "task->component",
    "stream->target->grouping",
    "source->stream->grouping",
    "source->stream->fields",
)
LATER = ("componentid", "streams", "stream->outputfields", GROUPING, SOURCES, FIELDS)
"""What the context has since Storm 0.10."""
SETUP_HAS_ITS_PARTS = "STORM-HS-02"
TASK_IS_IN_THE_MAP = "STORM-HS-03"
KINDS_OF_TASKS = "STORM-HS-04"
PARTS_FIT_TOGETHER = "STORM-HS-05"
GROUPINGS_HAVE_A_TYPE = "STORM-HS-06"


def _given(m: Case, name: str) -> Mapping[str, Any]:
    told = m.conv.given if isinstance(m.conv.given, Mapping) else {}
    return told.get(name) or {}


def _context(m: Case) -> Mapping[str, Any]:
    found: Mapping[str, Any] = m.what["context"]
    return found


@form(SETUP_COMES_FIRST, on="setup", when=NEW.values())
def the_first_message_is_the_setup(m: Case) -> str:
    """The setup info, in one message (Initial Handshake)."""
    right = isinstance(m.what, Mapping) and bool({"conf", "pidDir", "context"} & m.what.keys())
    return "" if right else f"the first message is {shown(m.what)}"


@form(SETUP_HAS_ITS_PARTS, on="setup", when=NEW.values())
def the_setup_has_conf_a_folder_and_context(m: Case) -> str:
    """conf, pidDir, context (Initial Handshake; S-27)."""
    conf, folder, context = (m.what.get(name) for name in ("conf", "pidDir", "context"))
    if not isinstance(conf, Mapping) or not isinstance(folder, str) or not isinstance(context, Mapping):
        return f"the setup has {shown({k: type(v).__name__ for k, v in m.what.items()})}"
    given = _given(m, "conf")
    lost = next((name for name in given if not carried(given[name], conf.get(name))), None)
    if lost is None:
        return ""
    return f"conf has {lost!r:.60} as {shown(conf.get(lost))}, given was {shown(given[lost])}"


@form(TASK_IS_IN_THE_MAP, on="setup", when=NEW.values())
def the_context_has_the_task_and_the_map(m: Case) -> str:
    """The id of the task, and the components of all tasks (Initial Handshake)."""
    lacks = TASKS not in _context(m) or "taskid" not in _context(m)
    return f"context has {', '.join(map(str, _context(m)))[:120]}" if lacks else ""


@form(KINDS_OF_TASKS, on="setup", when=NEW.values())
def the_task_is_a_number_and_components_are_names(m: Case) -> str:
    """As the sample has them (Initial Handshake)."""
    tasks, number = _context(m)[TASKS], _context(m)["taskid"]
    if not is_number(number):
        return f"taskid is {shown(number)}"
    right = isinstance(tasks, Mapping) and all(isinstance(name, str) for name in tasks.values())
    return "" if right else f"{TASKS} is {shown(tasks)}"


@form(TASK_IS_IN_THE_MAP, on="setup", when=NEW.values())
def the_task_is_the_one_that_the_host_was_told(m: Case) -> str:
    """The id of the task is one of those in the map (Initial Handshake)."""
    tasks, number, given = _context(m)[TASKS], _context(m)["taskid"], _given(m, "context")
    if str(int(number)) not in tasks:
        return f"taskid is {number}, and {TASKS} has {', '.join(tasks)[:120]}"
    if "taskid" in given and not same(number, given["taskid"]):
        return f"taskid is {number}, given was {given['taskid']}"
    wanted = given.get(TASKS) or {}
    lost = next((name for name in wanted if tasks.get(name) != wanted[name]), None)
    return "" if lost is None else f"{TASKS} has {lost} as {shown(tasks.get(lost))}, given was {shown(wanted[lost])}"


@form(PARTS_FIT_TOGETHER, on="setup", when=NEW.values())
def the_parts_of_0_10_are_there_and_fit_together(m: Case) -> str:
    """Since 0.10 there is more in the context (Initial Handshake)."""
    context = _context(m)
    missing = [name for name in LATER if name not in context]
    if missing:
        return f"context lacks {', '.join(missing)}"
    streams, fields = context["streams"], context["stream->outputfields"]
    if not isinstance(streams, list) or not all(isinstance(name, str) for name in streams):
        return f"streams is {shown(streams)}"
    if not isinstance(fields, Mapping) or set(fields) != set(streams):
        return f"stream->outputfields is {shown(fields)}, streams {shown(streams)}"
    own = context[TASKS][str(int(context["taskid"]))]
    if context["componentid"] != own:
        return f"componentid is {shown(context['componentid'])}, the task's is {own!r:.60}"
    maps = all(isinstance(context[name], Mapping) for name in (GROUPING, SOURCES, FIELDS))
    return "" if maps else f"a map of streams is no object: {shown(context[GROUPING])}"


@form(GROUPINGS_HAVE_A_TYPE, on="setup", when=NEW.values())
def each_grouping_has_a_type(m: Case) -> str:
    """And fields when it groups by fields (Initial Handshake; S-11)."""
    for grouping in (*_groupings(_context(m)[GROUPING]), *_groupings(_context(m)[SOURCES])):
        if not isinstance(grouping, Mapping) or not isinstance(grouping.get("type"), str):
            return f"a grouping is {shown(grouping)}"
        if grouping["type"].upper() == "FIELDS" and not isinstance(grouping.get("fields"), list):
            return f"a grouping by fields has fields {shown(grouping.get('fields'))}"
    return ""


def _lost(m: Case, *names: str) -> str:
    """What was given of the streams and is not there. A host that makes the context anew may know of more."""
    given, context = _given(m, "context"), _context(m)
    lost = next((name for name in names if not _within(given.get(name), context[name])), None)
    return "" if lost is None else f"{lost} is {shown(context[lost])}, given was {shown(given[lost])}"


@form(PARTS_FIT_TOGETHER, on="setup", when=NEW.values())
def the_fields_of_streams_are_those_that_were_given(m: Case) -> str:
    """What the host was told of streams is in the context (Initial Handshake; S-29)."""
    return _lost(m, "stream->outputfields", FIELDS)


@form(GROUPINGS_HAVE_A_TYPE, on="setup", when=NEW.values())
def groupings_are_those_that_were_given(m: Case) -> str:
    """What the host was told of groupings is in the context (Initial Handshake; S-29)."""
    return _lost(m, GROUPING, SOURCES)


def _within(given: Any, sent: Any) -> bool:
    """True when all that `given` says is in `sent` too. The kind of a grouping may be in any letter case."""
    if isinstance(given, Mapping):
        kept = isinstance(sent, Mapping) and all(_within(item, sent.get(name)) for name, item in given.items())
        return kept or not given
    if isinstance(given, str) and isinstance(sent, str):
        return given.upper() == sent.upper()
    return not given or same(given, sent)


def _groupings(tree: Mapping[str, Any]) -> Iterator[Any]:
    for inner in tree.values():
        if isinstance(inner, Mapping):
            yield from inner.values()
        else:
            yield inner
