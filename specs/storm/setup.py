"""What the first message of a host must be. Source: 000_a44a7e31e51ca0fa.txt, "Initial Handshake"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from specs.model import Breach
from specs.storm.said import breach
from specs.storm.values import carried, is_number, same, shown

TASKS, GROUPING, SOURCES, FIELDS = (
    "task->component",
    "stream->target->grouping",
    "source->stream->grouping",
    "source->stream->fields",
)
LATER = ("componentid", "streams", "stream->outputfields", GROUPING, SOURCES, FIELDS)
"""What the context has since Storm 0.10."""


def setup(by: str, value: Any, given: Any) -> Breach | list[str]:
    """What is wrong with it, or the requirements that it keeps. `given`: conf and context that the host was told."""
    if not isinstance(value, Mapping) or not {"conf", "pidDir", "context"} & value.keys():
        return breach(by, "HS-01", f"the first message is {shown(value)}")
    conf, folder, context = value.get("conf"), value.get("pidDir"), value.get("context")
    if not isinstance(conf, Mapping) or not isinstance(folder, str) or not isinstance(context, Mapping):
        return breach(by, "HS-02", f"the setup has {shown({k: type(v).__name__ for k, v in value.items()})}")
    told = given if isinstance(given, Mapping) else {}
    for name, item in (told.get("conf") or {}).items():
        if not carried(item, conf.get(name)):
            return breach(by, "HS-02", f"conf has {name!r:.60} as {shown(conf.get(name))}, given was {shown(item)}")
    wanted = told.get("context") or {}
    wrong = _tasks(by, context, wanted) or _later(by, context) or _lost(by, context, wanted)
    return wrong or ["HS-01", "HS-02", "HS-03", "HS-04", "HS-05", "HS-06"]


def _tasks(by: str, context: Mapping[str, Any], given: Mapping[str, Any]) -> Breach | None:
    tasks, number = context.get(TASKS), context.get("taskid")
    if TASKS not in context or "taskid" not in context:
        return breach(by, "HS-03", f"context has {', '.join(map(str, context))[:120]}")
    if not is_number(number):
        return breach(by, "HS-04", f"taskid is {shown(number)}")
    if not isinstance(tasks, Mapping) or not all(isinstance(name, str) for name in tasks.values()):
        return breach(by, "HS-04", f"{TASKS} is {shown(tasks)}")
    if str(int(number)) not in tasks:
        return breach(by, "HS-03", f"taskid is {number}, and {TASKS} has {', '.join(tasks)[:120]}")
    if "taskid" in given and not same(number, given["taskid"]):
        return breach(by, "HS-03", f"taskid is {number}, given was {given['taskid']}")
    wanted = given.get(TASKS) or {}
    lost = next((name for name in wanted if tasks.get(name) != wanted[name]), None)
    if lost is not None:
        return breach(by, "HS-03", f"{TASKS} has {lost} as {shown(tasks.get(lost))}, given was {shown(wanted[lost])}")
    return None


def _later(by: str, context: Mapping[str, Any]) -> Breach | None:
    missing = [name for name in LATER if name not in context]
    if missing:
        return breach(by, "HS-05", f"context lacks {', '.join(missing)}")
    streams, fields = context["streams"], context["stream->outputfields"]
    if not isinstance(streams, list) or not all(isinstance(name, str) for name in streams):
        return breach(by, "HS-05", f"streams is {shown(streams)}")
    if not isinstance(fields, Mapping) or set(fields) != set(streams):
        return breach(by, "HS-05", f"stream->outputfields is {shown(fields)}, streams {shown(streams)}")
    own = context[TASKS][str(int(context["taskid"]))]
    if context["componentid"] != own:
        return breach(by, "HS-05", f"componentid is {shown(context['componentid'])}, the task's is {own!r:.60}")
    if not all(isinstance(context[name], Mapping) for name in (GROUPING, SOURCES, FIELDS)):
        return breach(by, "HS-05", f"a map of streams is no object: {shown(context[GROUPING])}")
    for grouping in (*_groupings(context[GROUPING]), *_groupings(context[SOURCES])):
        if not isinstance(grouping, Mapping) or not isinstance(grouping.get("type"), str):
            return breach(by, "HS-06", f"a grouping is {shown(grouping)}")
        if grouping["type"].upper() == "FIELDS" and not isinstance(grouping.get("fields"), list):
            return breach(by, "HS-06", f"a grouping by fields has fields {shown(grouping.get('fields'))}")
    return None


def _lost(by: str, context: Mapping[str, Any], given: Mapping[str, Any]) -> Breach | None:
    """What was given of the streams and is not there. A host that makes the context anew may know of more."""
    for name in ("stream->outputfields", GROUPING, SOURCES, FIELDS):
        if not _within(given.get(name), context[name]):
            named = "HS-06" if name in (GROUPING, SOURCES) else "HS-05"
            return breach(by, named, f"{name} is {shown(context[name])}, given was {shown(given[name])}")
    return None


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
