"""What a spout may say: emits and logs inside a command, and one sync at its end.

Source: 000_a44a7e31e51ca0fa.txt, "Spouts", "Handling Heartbeats".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from specs.model import Outcome
from specs.storm.bolt import error, form, log, put, same_emit, wide
from specs.storm.frames import Message
from specs.storm.said import allow, breach
from specs.storm.states import Config, Conv, Due, Phase
from specs.storm.values import is_direct, same, shown, stream_of, wants_ids

SPOUT = "spout"


def said(config: Config, conv: Conv, frame: Message) -> Outcome:
    """A message of a spout that has said its process id."""
    command = frame.command
    if conv.phase is Phase.DEAF:
        if conv.was is Phase.IDLE and not conv.hurt and not conv.raising and command not in ("log", "error"):
            named = "END-03" if conv.cut else "END-02"
            level = None if conv.cut else "SHOULD"
            return breach(SPOUT, named, f"{command} came after the end of STDIN, when no command was open", level=level)
        return allow(conv)
    if command == "sync":
        return _sync(config, conv)
    if command not in ("emit", "log", "error", "metrics"):
        return breach(SPOUT, "SPOUT-03", f"{command!r:.60} is no command of a spout")
    if conv.phase is Phase.IDLE and not conv.command and command != "emit":
        return allow(conv)  # a log before the first command: the text forbids what stands between a sync and the next
    mended = conv.hurt == "INV-CHILD-14"  # it was a command once what is no UTF-8 was replaced
    if conv.phase is Phase.IDLE and not mended and not (conv.hurt and command in ("log", "error")):
        named = "SPOUT-04" if conv.settled or not conv.hurt else conv.hurt
        return breach(SPOUT, named, f"{command} came when no command was open")
    if command == "emit":
        return _emit(config, conv, frame.value)
    if command == "log":
        return log(config, conv, frame.value, "SPOUT-15")
    return error(config, conv, frame.value)


def _sync(config: Config, conv: Conv) -> Outcome:
    if conv.phase is not Phase.BUSY:
        if conv.hurt:
            return allow(conv)
        return breach(SPOUT, "SPOUT-22", "a sync came when no command was open")
    task = next((task for task in conv.tasks if task.due or task.logs), None)
    if task is not None and not conv.hurt and not conv.raising:
        left = f"emit {shown(task.due[0].values)}" if task.due else f"log {task.logs[0]!r:.80}"
        named = "SPOUT-03" if task.due else "SPOUT-15"
        if conv.command in ("ack", "fail"):
            named = "SPOUT-16"
        return breach(SPOUT, named, f"the sync of {conv.command} came before: {left}")
    raised = any(task.raising for task in conv.tasks)
    tasks = tuple(task._replace(raising=False, due=(), logs=()) for task in conv.tasks if task.seen is not None)
    covers = ["SPOUT-03", "SPOUT-04", "SPOUT-22", "HB-08", "HB-09", "SPOUT-19"]
    covers += ["SPOUT-09"] if conv.lists or conv.emitted or conv.owing else []
    covers += ["INV-CHILD-15"] if raised else []
    covers += ["EXT-04"] if conv.waived else []
    covers += ["SPOUT-23"] if conv.extra else []
    covers += ["EXT-01"] if conv.command in ("activate", "deactivate") else []
    covers += ["SPOUT-24"] if conv.hurt == "SPOUT-24" else []
    covers += [conv.hurt] if conv.hurt else []
    hurt = "" if conv.hurt == "SPOUT-24" else conv.hurt
    return allow(
        conv._replace(phase=Phase.IDLE, tasks=tasks, hurt=hurt, waived=False, excused=raised or conv.excused), *covers
    )


def _emit(config: Config, conv: Conv, value: Mapping[str, Any]) -> Outcome:
    values, name = value.get("tuple"), value.get("id")
    if not isinstance(values, list):
        return breach(SPOUT, "SPOUT-10", f"an emit whose tuple is {shown(values)}")
    if isinstance(name, (dict, list, bool)):
        return breach(SPOUT, "SPOUT-12", f"the id of an emit is {shown(name)}")
    odd = form(config, value, "SPOUT-13", "SPOUT-14")
    if odd is not None:
        return odd
    after = conv._replace(owing=conv.owing + 1) if wants_ids(config.extensions, value) else conv
    if after is conv and not is_direct(value):
        after = conv._replace(waived=True)
    after = after._replace(emitted=(*conv.emitted, name)) if name is not None else after
    covers = ["SPOUT-10", "SPOUT-03", "SPOUT-14" if is_direct(value) else "SPOUT-13"]
    covers += ["SPOUT-12" if name is not None else "SPOUT-11"]
    covers += ["SPOUT-16"] if conv.command in ("ack", "fail") else []
    if not config.scripted or conv.hurt or conv.raising:
        return allow(after, *covers)
    got = Due("emit", name, values, stream_of(value.get("stream")), value.get("task") or None)
    for at, task in enumerate(conv.tasks):
        if not task.due:
            continue
        told = task.due[0]
        if not same_emit(told, got):
            return breach(SPOUT, *_difference(conv, told, got))
        changed = put(conv.tasks, at, task._replace(due=task.due[1:], begun=True))
        return allow(after._replace(tasks=changed), *covers, "SPOUT-21", *(["FRAME-13"] if wide(values) else []))
    why = f"{shown(values)} was emitted, which user code was not told to do, or not again"
    return breach(SPOUT, "SPOUT-16" if conv.command in ("ack", "fail") else "SPOUT-03", why)


def _difference(conv: Conv, due: Due, got: Due) -> tuple[str, str]:
    if not same(due.id, got.id):
        named = "SPOUT-12" if due.id is not None else "SPOUT-11"
        return named, f"user code emits with the id {shown(due.id)}, on the wire is {shown(got.id)}"
    if not same(due.values, got.values):
        return "SPOUT-21", f"user code emits {shown(due.values, 160)}, on the wire is {shown(got.values, 160)}"
    if due.stream != got.stream:
        return "SPOUT-13", f"user code emits to the stream {due.stream!r:.60}, on the wire is {got.stream!r:.60}"
    return "SPOUT-14", f"user code emits to the task {due.task!r}, on the wire is {shown(got.task)}"


def observed(config: Config, conv: Conv, value: Mapping[str, Any]) -> Outcome:
    """User code was called."""
    call = value.get("call")
    for at, task in enumerate(conv.tasks):
        if task.seen is None or task.seen["call"] != call:
            continue
        if call in ("ack", "fail") and "id" in value and not same(task.seen["id"], value["id"]):
            why = f"user code was told {call} for {shown(value['id'])}, sent was {shown(task.seen['id'])}"
            return breach(SPOUT, "SPOUT-12", why)
        covers = ["SPOUT-03"] if call == "next" else ["SPOUT-12", "SPOUT-03"]
        return allow(conv._replace(tasks=put(conv.tasks, at, task._replace(seen=None, begun=True))), *covers)
    if conv.hurt or conv.raising or call in ("activate", "deactivate"):
        return allow(conv)
    if conv.cut:
        return breach(SPOUT, "END-03", f"user code was called for {call}, of which half a message was sent")
    why = f"user code was called for {call}, which was not sent, or called again"
    return breach(SPOUT, "SPOUT-09" if conv.lists else "SPOUT-03", why)


def due(config: Config, conv: Conv) -> Iterator[str]:
    """Requirements by which something has to come."""
    if conv.blocked:
        return
    if conv.phase is Phase.BUSY:
        yield "SPOUT-03"
    elif conv.phase is Phase.IDLE and config.scripted and not conv.hurt and not conv.raising:
        if any(task.seen is not None for task in conv.tasks):
            yield "SPOUT-03"
        elif conv.lists:
            yield "SPOUT-09"


def silence(config: Config, conv: Conv, due: str) -> Outcome | None:
    """What is due will not come."""
    if conv.phase is Phase.IDLE:
        if due == "SPOUT-03":
            return breach(SPOUT, "SPOUT-03", f"{conv.command} was answered, and user code was not called for it")
        return breach(SPOUT, "SPOUT-09", f"the task ids {shown(conv.lists[0])} did not reach user code")
    task = next((task for task in conv.tasks if task.due), None)
    if conv.waived:
        return breach(SPOUT, "EXT-04", "nothing more comes after an emit that needs no task ids")
    if task is not None and task.begun:
        return breach(SPOUT, "SPOUT-09", f"the emit of {shown(task.due[0].values)} did not come")
    if conv.command in ("activate", "deactivate"):
        return breach(SPOUT, "EXT-01", f"{conv.command} was not answered by a sync")
    return breach(SPOUT, "SPOUT-03", f"{conv.command} was not answered by a sync")
