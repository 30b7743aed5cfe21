"""What a bolt may say, and what must come of the tuples, lists and heartbeats that it was sent.

Source: 000_a44a7e31e51ca0fa.txt, "Bolts", "Handling Heartbeats". Nothing here rests on when the bolt says it: any
order between tuples is allowed, and inside one the order of its script.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from specs.model import Outcome
from specs.storm.frames import Message
from specs.storm.said import allow, breach
from specs.storm.scripts import observed_as_sent
from specs.storm.states import Config, Conv, Due, Phase, Task
from specs.storm.values import is_direct, is_number, same, shown, stream_of, wants_ids

BOLT = "bolt"


def said(config: Config, conv: Conv, frame: Message) -> Outcome:
    """A message of a bolt that has said its process id."""
    command, value = frame.command, frame.value
    if command == "emit":
        return _emit(config, conv, value)
    if command in ("ack", "fail"):
        return _settle(config, conv, command, value)
    if command == "sync":
        return _sync(conv)
    if command == "log":
        return log(config, conv, value, "BOLT-21")
    if command in ("error", "metrics"):
        return error(config, conv, value)
    return breach(BOLT, "BOLT-05", f"{command!r:.60} is no command of a bolt")


def error(config: Config, conv: Conv, value: Mapping[str, Any]) -> Outcome:
    """An error or metrics: newer than the text, so only their form is judged, and only where they are claimed."""
    if value.get("command") != "error" or not config.has("x-error"):
        return allow(conv)
    if not isinstance(value.get("msg"), str):
        return breach(config.child, "EXT-05", f"an error with msg {shown(value.get('msg'))}, which is no text")
    return allow(conv, "EXT-05")


def log(config: Config, conv: Conv, value: Mapping[str, Any], named: str) -> Outcome:
    """A log, which user code may have been told to write."""
    text = value.get("msg")
    if not isinstance(text, str):
        return breach(config.child, named, f"a log with msg {shown(text)}, which is no text")
    for at, task in enumerate(conv.tasks):
        hit = next((told for told in task.logs if told in text), None)
        if hit is not None:
            logs = list(task.logs)
            logs.remove(hit)
            changed = task._replace(logs=tuple(logs), begun=True)
            return allow(conv._replace(tasks=put(conv.tasks, at, changed)), named)
    return allow(conv)


def put(tasks: tuple[Task, ...], at: int, task: Task) -> tuple[Task, ...]:
    """The tasks with one changed; what has nothing due any more is left out."""
    return tasks[:at] + ((task,) if task.open else ()) + tasks[at + 1 :]


def ready(task: Task) -> Iterator[tuple[int, Due]]:
    """What may come next of what a task has due, and where it stands: an ack or a fail may be late, and nothing comes
    before an emit that user code says before it."""
    for at, due in enumerate(task.due):
        yield at, due
        if due.kind == "emit":
            return


def come(task: Task, at: int) -> Task:
    """The task once what is due there has come."""
    return task._replace(due=task.due[:at] + task.due[at + 1 :], begun=True)


# -- emits -------------------------------------------------------------------------------------------------------------


def _emit(config: Config, conv: Conv, value: Mapping[str, Any]) -> Outcome:
    values, anchors = value.get("tuple"), value.get("anchors")
    if not isinstance(values, list):
        return breach(BOLT, "BOLT-27", f"an emit whose tuple is {shown(values)}")
    if isinstance(anchors, str) and config.has("x-anchor-string"):
        anchors = [anchors]
    if anchors is not None and not isinstance(anchors, list):
        return breach(BOLT, "BOLT-10", f"anchors are {shown(anchors)}")
    for anchor in anchors or ():
        if not any(same(known, anchor) for known in conv.open):  # a number, too, where a tuple was called so
            return _no_anchor(conv, anchor)
    odd = form(config, value, "BOLT-13", "BOLT-14")
    if odd is not None:
        return odd
    after = conv._replace(owing=conv.owing + 1) if wants_ids(config.extensions, value) else conv
    if after is conv and not is_direct(value):
        after = conv._replace(waived=True)
    covers = ["BOLT-10", "BOLT-11", "BOLT-05"] if anchors else ["BOLT-12", "BOLT-05"]
    if not config.scripted or conv.hurt:
        return allow(after, *covers)
    got = Due("emit", None, values, stream_of(value.get("stream")), value.get("task") or None, tuple(anchors or ()))
    number, at, told = told_emit(conv, got)
    if told is None:
        if conv.hurt or conv.raising:
            return allow(after, *covers)
        return breach(BOLT, "BOLT-26", f"{shown(values)} was emitted, which user code was not told to do, or not again")
    wrong = _difference(told, got)
    if wrong is not None:
        return breach(BOLT, *wrong)
    after = after._replace(tasks=put(conv.tasks, number, come(conv.tasks[number], at)))
    covers += ["BOLT-27", "BOLT-14" if told.task is not None else "BOLT-13"]
    covers += ["FRAME-13"] if wide(values) else []
    return allow(after, *covers)


def wide(values: Any) -> bool:
    """True for values that can be escaped in several ways."""
    return "\\" in repr(values) or not repr(values).isascii()


def form(config: Config, value: Mapping[str, Any], stream: str, task: str) -> Outcome | None:
    """What is wrong with the stream or the task of an emit."""
    named, number = value.get("stream"), value.get("task")
    if named is not None and not isinstance(named, str):
        return breach(config.child, stream, f"the stream of an emit is {shown(named)}")
    if number is not None and not is_number(number):
        return breach(config.child, task, f"the task of an emit is {shown(number)}")
    return None


def _no_anchor(conv: Conv, anchor: Any) -> Outcome:
    if isinstance(anchor, str) and anchor in conv.beats:
        return breach(BOLT, "HB-04", f"a tuple is anchored to the heartbeat {anchor!r:.60}")
    if isinstance(anchor, str) and anchor in conv.settled:
        return breach(BOLT, "BOLT-11", f"a tuple is anchored to {anchor!r:.60}, which was acked or failed before")
    if conv.cut:
        return breach(BOLT, "END-03", f"a tuple is anchored to {anchor!r:.60}, of which half a message was sent")
    if not isinstance(anchor, str) and str(anchor) in conv.open:
        return breach(BOLT, "BOLT-07", f"an anchor is {shown(anchor)}, which is no text")
    return breach(BOLT, "BOLT-10", f"a tuple is anchored to {shown(anchor)}, which was not sent")


def told_emit(conv: Conv, got: Due) -> tuple[int, int, Due | None]:
    """The task whose next emit this is, or the most like it, and where it stands there; None when none is due."""
    heads = [
        (number, at, due) for number, task in enumerate(conv.tasks) for at, due in ready(task) if due.kind == "emit"
    ]
    for head in heads:
        if same_emit(head[2], got):
            return head
    if not heads:
        return -1, -1, None
    tagged = [head for head in heads if head[2].values and got.values and same(head[2].values[0], got.values[0])]
    if tagged:
        return tagged[0]
    later = any(due.kind == "emit" and same_emit(due, got) for task in conv.tasks for due in task.due)
    return (-1, -1, None) if later else heads[0]


def same_emit(due: Due, got: Due) -> bool:
    """True when an emit is what was told."""
    return (
        same(due.values, got.values)
        and due.stream == got.stream
        and same(due.task, got.task)
        and same(due.id, got.id)
        and set(due.anchors) == set(got.anchors)  # one that stands twice is no other one
    )


def _difference(due: Due, got: Due) -> tuple[str, str] | None:
    if not same(due.values, got.values):
        return "BOLT-27", f"user code emits {shown(due.values, 160)}, on the wire is {shown(got.values, 160)}"
    if due.stream != got.stream:
        return "BOLT-13", f"user code emits to the stream {due.stream!r:.60}, on the wire is {got.stream!r:.60}"
    if not same(due.task, got.task):
        return "BOLT-14", f"user code emits to the task {due.task!r}, on the wire is {shown(got.task)}"
    if set(due.anchors) != set(got.anchors):
        named = "BOLT-10" if due.anchors else "BOLT-12"
        return named, f"user code anchors to {shown(due.anchors)}, on the wire is {shown(got.anchors)}"
    return None


# -- ack and fail ------------------------------------------------------------------------------------------------------


def _settle(config: Config, conv: Conv, command: str, value: Mapping[str, Any]) -> Outcome:
    name = value.get("id")
    if isinstance(name, (dict, list)) or name not in conv.open:
        return _no_tuple(conv, command, name)
    sent = next(known for known in conv.open if known == name)
    if not isinstance(name, str) and isinstance(sent, str):
        return breach(BOLT, "BOLT-07", f"{command} for {shown(name)}, which is no text")
    after = conv._replace(open=tuple(known for known in conv.open if known != name), settled=conv.settled | {name})
    covers = ["BOLT-06", "BOLT-07", "BOLT-08", "BOLT-05", *(["EXT-04"] if conv.waived else [])]
    after = after._replace(waived=False)
    if not config.scripted:
        return allow(after, *covers, "BOLT-09")
    for number, task in enumerate(conv.tasks):
        at = next((at for at, due in ready(task) if due == Due(command, name)), None)
        if at is not None:
            after = after._replace(tasks=put(conv.tasks, number, come(task, at)))
            return allow(after, *covers, "BOLT-09", "BOLT-22")
        emits = any(due.kind == "emit" for due in task.due)
        if command == "fail" and task.raising and not emits and same(task.id, name):
            after = after._replace(tasks=put(conv.tasks, number, task._replace(raising=False, begun=True)))
            return allow(after, *covers, "INV-CHILD-15")
    if conv.hurt or conv.raising:
        return allow(after)
    return _not_told(conv, command, name)


def _not_told(conv: Conv, command: str, name: Any) -> Outcome:
    for task in conv.tasks:
        for due in task.due:
            if due.kind in ("ack", "fail") and same(due.id, name):
                if due.kind != command:
                    return breach(
                        BOLT, "BOLT-06", f"user code said {due.kind} for {name!r:.60}, on the wire is {command}"
                    )
                why = f"{command} for {name!r:.60} came before what user code says before it"
                return breach(BOLT, "BOLT-26", why)
    if any(task.raising and same(task.id, name) for task in conv.tasks):
        why = f"{command} for {name!r:.60} although user code raised, or before what it says before that"
        return breach(BOLT, "INV-CHILD-15", why)
    return breach(BOLT, "BOLT-08", f"{command} for {name!r:.60}, which user code keeps open")


def _no_tuple(conv: Conv, command: str, name: Any) -> Outcome:
    if isinstance(name, (str, int, float)) and name in conv.beats:
        return breach(BOLT, "HB-04", f"{command} for the heartbeat {name!r:.60}")
    if isinstance(name, str) and name in conv.settled:
        return breach(BOLT, "BOLT-08", f"{command} for {name!r:.60}, which was acked or failed before")
    if conv.cut:
        return breach(BOLT, "END-03", f"{command} for {shown(name)}, of which half a message was sent at most")
    if conv.hurt == "INV-CHILD-03" and name in (None, ""):
        return allow(conv)  # what stands for no id in many languages: none was made up
    if conv.hurt:
        return breach(BOLT, conv.hurt, f"{command} for {shown(name)}, which no tuple is called")
    if is_number(name) and any(str(known) == str(int(name)) for known in (*conv.open, *conv.settled)):
        return breach(BOLT, "BOLT-07", f"{command} for {shown(name)}, a number where the id was a text")
    if is_number(name):
        return breach(BOLT, "BOLT-07", f"{command} for {shown(name)}, a number that no id was")
    return breach(BOLT, "BOLT-06", f"{command} for {shown(name)}, which was not sent")


def _sync(conv: Conv) -> Outcome:
    if conv.unanswered:
        late = min(conv.late, conv.unanswered - 1)
        covers = ["HB-03", "HB-04", "HB-06"]
        covers += ["HB-07"] if conv.blocked and not conv.late else []
        return allow(conv._replace(unanswered=conv.unanswered - 1, late=late), *covers)
    if conv.spare or conv.hurt:  # the text had them until 0.7.1: one after each tuple does no harm
        return allow(conv._replace(spare=max(0, conv.spare - 1)), "BOLT-24")
    if conv.beats:
        return breach(BOLT, "HB-04", "a second sync for one heartbeat")
    return breach(BOLT, "BOLT-22", "a sync for nothing")


# -- what user code was seen to do -------------------------------------------------------------------------------------


def observed(config: Config, conv: Conv, value: Mapping[str, Any]) -> Outcome:
    """User code was called for a tuple."""
    name = value.get("id")
    for at, task in enumerate(conv.tasks):
        if task.seen is None or not same(task.id, name):
            continue
        wrong = observed_as_sent(task.seen, value)
        if wrong is not None and not conv.hurt:
            return breach(BOLT, *wrong)
        first = next(other for other in conv.tasks if other.seen is not None)
        if config.serial and first is not task and not conv.hurt:
            why = f"user code got the tuple {shown(name)} before {shown(first.id)}, which was sent first"
            return breach(BOLT, "BOLT-26", why)
        changed = task._replace(seen=None, begun=True)
        return allow(conv._replace(tasks=put(conv.tasks, at, changed)), *_observed_covers(conv, task))
    if isinstance(name, str) and name in conv.beats:
        return breach(BOLT, "HB-04", "user code was called for a heartbeat")
    if conv.cut:
        return breach(BOLT, "END-03", "user code was called for half a message")
    if conv.hurt or conv.raising:
        return allow(conv)
    due = next((task for task in conv.tasks if task.seen is not None), None)
    if due is not None:
        return breach(BOLT, "BOLT-06", f"user code got a tuple with the id {shown(name)}, sent was {shown(due.id)}")
    return breach(BOLT, "BOLT-26", f"user code was called for {shown(name)}, which was not sent, or called again")


def _observed_covers(conv: Conv, task: Task) -> list[str]:
    seen = task.seen
    covers = ["BOLT-26", "BOLT-27", "BOLT-06"]
    covers += ["BOLT-18"] if conv.blocked or conv.lists else []
    covers += ["BOLT-28"] if seen["comp"] is None or not seen["tuple"] else []
    near = seen["stream"] == "__heartbeat" or (same(seen["task"], -1) and str(seen["stream"]).startswith("__"))
    covers += ["EXT-10"] if seen["stream"] == "__tick" and same(seen["task"], -1) else []
    covers += ["INV-CHILD-13"] if seen["tuple"] and sum(map(size, seen["tuple"])) >= 1 << 22 else []
    return covers + (["HB-05"] if near else [])


def size(value: Any) -> int:
    """About how many characters a value has."""
    if isinstance(value, str):
        return len(value)
    return 8 * len(value) if isinstance(value, list) else 1


# -- what is due -------------------------------------------------------------------------------------------------------


def due(config: Config, conv: Conv) -> Iterator[str]:
    """Requirements by which something has to come."""
    if conv.phase is not Phase.RUN:
        return
    if conv.unanswered > (conv.late if conv.blocked else 0):
        yield "HB-07" if conv.blocked else "HB-03"
    if conv.blocked:
        return
    if conv.hurt:
        if conv.hurt == "INV-CHILD-10" and config.scripted and conv.open and not conv.words:
            yield conv.hurt
        return
    for task in conv.tasks:
        if task.raising:
            yield "INV-CHILD-15"
        elif task.seen is not None:
            yield "BOLT-26"
        elif task.due:
            yield "BOLT-09" if task.due[0].kind in ("ack", "fail") else "BOLT-26"
        elif task.logs:
            yield "BOLT-21"
    if config.scripted and conv.lists:
        yield "BOLT-18"
    if not config.scripted and conv.open and not conv.lazy:
        yield "BOLT-09"


def silence(config: Config, conv: Conv, due: str) -> Outcome | None:
    """What is due will not come."""
    if due == "HB-07":
        lapse = breach(BOLT, due, "a heartbeat is not answered while the bolt waits for task ids", level="SHOULD")
        return allow(conv._replace(late=conv.unanswered), lapses=(lapse,))
    if due == "HB-03":
        named = "HB-06" if len(conv.beats) > 1 or conv.settled or conv.open else "HB-03"
        return breach(BOLT, named, f"{conv.unanswered} heartbeats are not answered by a sync")
    if not config.scripted:
        lapse = breach(BOLT, "BOLT-09", f"{len(conv.open)} tuples are neither acked nor failed", level="SHOULD")
        return allow(conv._replace(lazy=True), lapses=(lapse,))
    task = next((task for task in conv.tasks if task.open), None)
    if conv.waived:
        return breach(BOLT, "EXT-04", "nothing more comes after an emit that needs no task ids")
    if task is None:
        return breach(BOLT, "BOLT-18", f"the task ids {shown(conv.lists[0])} did not reach user code")
    if task.seen is not None:
        why = f"user code was not called for the tuple {shown(task.id)}"
        if task.seen["stream"] == "__tick" and config.has("x-tick"):
            return breach(BOLT, "EXT-10", why)
        if task.seen["stream"] == "__heartbeat" or same(task.seen["task"], -1):
            return breach(BOLT, "HB-05", why)
        if task.seen["comp"] is None or not task.seen["tuple"]:
            return breach(BOLT, "BOLT-28", why)
        return breach(BOLT, "BOLT-26", why)
    if task.due and task.due[0].kind in ("ack", "fail"):
        level = "MUST"  # user code said so: a library that keeps it to itself lets the host replay
        return breach(BOLT, "BOLT-09", f"the {task.due[0].kind} of {shown(task.due[0].id)} did not come", level=level)
    if task.due:
        why = f"the emit of {shown(task.due[0].values)} did not come"
        return breach(BOLT, "BOLT-26", why)
    if task.raising:
        return breach(BOLT, "INV-CHILD-15", "user code raised, and the tuple was not failed, nor did the bolt end")
    return breach(BOLT, "BOLT-21", f"the log {task.logs[0]!r:.100} did not come")
