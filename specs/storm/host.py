"""What a judged host writes to its child, and what the child, who is the tester, says to it.

Source: 000_a44a7e31e51ca0fa.txt, all sections. What the child says wrongly on purpose ends in states that say what the
host may make of it: `failing`, it must give up by that requirement; `maybe`, it may.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from specs.model import Allow, Breach, Outcome
from specs.storm.frames import Message, Text, read
from specs.storm.said import allow, breach
from specs.storm.setup import setup
from specs.storm.states import Config, Expected, HostConv, Live
from specs.storm.values import is_heartbeat, is_number, same, same_tasks, shown, stream_of, wants_ids

_FRAMES = ("FRAME-01", "FRAME-02", "FRAME-03", "FRAME-04", "FRAME-05", "FRAME-09")

# -- what the host writes ----------------------------------------------------------------------------------------------


def said(config: Config, conv: HostConv, frame: Message | Text) -> Outcome:
    """A message of the host."""
    by = config.host
    conv = conv._replace(partial=False) if conv.partial else conv
    if conv.failed or conv.closing:
        return allow(conv)
    if isinstance(frame, Text) and frame.why == "twice":
        frame = Message(json.loads(frame.data))
    if isinstance(frame, Text):
        what = f"what stands before a line `end` is no JSON ({frame.why}): {shown(frame.data, 160)}"
        if frame.why == "not-utf-8":
            return breach(by, "FRAME-10" if config.has("x-utf8") else "FRAME-01", what)
        named = "FRAME-02" if frame.why in ("empty", "several") else "FRAME-01"
        named = "FRAME-03" if b'"end"' in frame.data else named
        return breach(by, named, what)
    outcome = _meant(config, conv, frame.value)
    if isinstance(outcome, Breach):
        return forgiving(config, conv, outcome.why) or outcome
    more = ("FRAME-10",) if config.has("x-utf8") else ()
    return Allow(outcome.state, outcome.covers + tuple("STORM-" + name for name in _FRAMES + more), outcome.lapses)


def _meant(config: Config, conv: HostConv, value: Any) -> Outcome:
    by = config.host
    if conv.setup is None:
        wrong = setup(by, value, conv.given)
        if isinstance(wrong, Breach):
            return wrong
        return allow(conv._replace(setup=value), *wrong)
    if not conv.pid:
        return breach(by, "HS-14", f"{shown(value)} was sent before the process id came")
    if isinstance(value, list):
        return _ids(config, conv, value)
    if not isinstance(value, Mapping):
        return breach(by, "SPOUT-01" if by == "spout-host" else "BOLT-02", f"{shown(value)} is no message of a host")
    return _tuple(conv, value) if by == "bolt-host" else _command(config, conv, value)


def _ids(config: Config, conv: HostConv, value: list[Any]) -> Outcome:
    """Task ids for the oldest emit that waits for them."""
    by, bolt = config.host, config.host == "bolt-host"
    named = "BOLT-15" if bolt else "SPOUT-07"
    if not all(is_number(item) for item in value):
        return breach(by, named, f"task ids are {shown(value)}")
    if not conv.lists:
        direct = "BOLT-16" if bolt else "SPOUT-08"
        why = f"the task ids {shown(value)} came, and no emit was left that wants them"
        return breach(by, direct, why)
    covers = [named, "BOLT-16" if bolt else "SPOUT-08"]
    after = conv._replace(lists=conv.lists[1:])
    if not conv.settings:
        return allow(after, *covers)
    lowest = max(conv.lists[0], conv.lowest)
    for at in range(lowest, len(conv.settings)):
        if same_tasks(conv.settings[at], value):
            covers += ["BOLT-17"] if bolt and len(conv.settings) > 1 else []
            return allow(after._replace(lowest=at), *covers)
    if conv.lists[0] < 0:  # the host may not have heard of any list when the emit came
        return allow(after)
    if bolt and any(same_tasks(known, value) for known in conv.settings):
        return breach(by, "BOLT-17", f"the task ids {shown(value)} came for another emit than theirs")
    return breach(by, named, f"task ids are {shown(value)}, and should be {shown(conv.settings[lowest])}")


def _tuple(conv: HostConv, value: Mapping[str, Any]) -> Outcome:
    by = "bolt-host"
    if "command" in value and "tuple" not in value:
        return breach(by, "BOLT-02", f"{shown(value)} is no tuple")
    name = value.get("id")
    if value.get("stream") == "__heartbeat" and (is_heartbeat(value) or value.get("tuple") == []):
        return _heartbeat(conv, value)
    if not isinstance(name, str):
        return breach(by, "BOLT-03", f"the id of a tuple is {shown(name)}")
    if not isinstance(value.get("tuple"), list) or not is_number(value.get("task")):
        return breach(by, "BOLT-02", f"a tuple has task {shown(value.get('task'))}, tuple {shown(value.get('tuple'))}")
    if not isinstance(value.get("stream"), str) or not isinstance(value.get("comp"), str):
        return breach(
            by, "BOLT-02", f"a tuple has comp {shown(value.get('comp'))}, stream {shown(value.get('stream'))}"
        )
    if any(live.wire == name for live in conv.live):
        return breach(by, "BOLT-04", f"the id {name!r:.60} was given to a second tuple while the first is live")
    return _placed(conv, value)


def _placed(conv: HostConv, value: Mapping[str, Any]) -> Outcome:
    """Which of the tuples that wait it is."""
    by, values = "bolt-host", value["tuple"]
    for at, live in enumerate(conv.waiting):
        as_given = value["comp"] == live.comp and value["stream"] == live.stream and same(value["task"], live.task)
        if as_given and same(values, live.values):
            left = conv.waiting[:at] + conv.waiting[at + 1 :]
            after = conv._replace(
                waiting=left, live=(*conv.live, live._replace(wire=value["id"])), ids=conv.ids | {value["id"]}
            )
            covers = ["BOLT-02", "BOLT-03", "BOLT-04", "BOLT-27"]
            covers += ["BOLT-01"] if conv.live else []
            return allow(after, *covers)
    if not conv.waiting:
        return breach(by, "BOLT-27", f"the tuple {shown(values)} was given to nobody, or once only")
    for live in conv.waiting:
        if same(values, live.values):
            why = f"comp, stream, task are {value['comp']!r:.60}, {value['stream']!r:.60}, {value['task']!r}; "
            why += f"given were {live.comp!r:.60}, {live.stream!r:.60}, {live.task!r}"
            return breach(by, "BOLT-02", why)
    return breach(by, "BOLT-27", f"a tuple is {shown(values, 160)}, given was {shown(conv.waiting[0].values, 160)}")


def _heartbeat(conv: HostConv, value: Mapping[str, Any]) -> Outcome:
    comp = value.get("comp")
    right = isinstance(value.get("id"), str) and same(value.get("task"), -1) and value.get("tuple") == []
    if not right or not (comp is None or isinstance(comp, str)):
        return breach("bolt-host", "HB-02", f"a heartbeat is {shown(dict(value), 200)}")
    after = conv._replace(beats=conv.beats + 1, seen=conv.seen + 1, idle_ms=0)
    return allow(after, "HB-02", *(["HB-01"] if conv.seen else []))


def _command(config: Config, conv: HostConv, value: Mapping[str, Any]) -> Outcome:
    by, command = "spout-host", value.get("command")
    lively = command in ("activate", "deactivate") and config.has("x-activate")
    if command not in ("next", "ack", "fail") and not lively:
        return breach(by, "SPOUT-01", f"{shown(dict(value))} is no command of a spout's host")
    if command in ("ack", "fail") and value.get("id") is None:
        return breach(by, "SPOUT-02", f"{command} has no id")
    if conv.command is not None:
        return breach(by, "SPOUT-06", f"{command} came before the sync of {conv.command}")
    if conv.lists:
        return breach(by, "SPOUT-07", f"{command} came before the task ids of an emit")
    after = conv._replace(command=command, quiet_ms=0, most_ms=0)
    for message in conv.held:
        after = _emitted(config, after, message) if message.get("command") == "emit" else _logged(after, message)
    after = after._replace(held=())
    covers = ["SPOUT-01", "SPOUT-06", *(["SPOUT-05"] if conv.held else [])]
    covers += ["HB-13"] if conv.timeout_ms and conv.most_ms >= conv.timeout_ms else []
    for at, (op, name) in enumerate(conv.waiting):
        if op == command and (command == "next" or same(name, value.get("id"))):
            covers += ["SPOUT-02", "SPOUT-12", "SPOUT-11", "SPOUT-17"] if command in ("ack", "fail") else []
            return allow(after._replace(waiting=conv.waiting[:at] + conv.waiting[at + 1 :]), *covers)
    if lively:
        return allow(after, "EXT-02")
    wanted = next((name for op, name in conv.waiting if op == command), None)
    if wanted is not None:
        return breach(by, "SPOUT-12", f"{command} has the id {shown(value.get('id'))}, asked for was {shown(wanted)}")
    if command == "next":
        return breach(by, "SPOUT-06", "a next that nobody asked for")
    return breach(by, "SPOUT-17", f"{command} for {shown(value.get('id'))} that nobody asked for")


def forgiving(config: Config, conv: HostConv, why: str) -> Breach | None:
    """What it is to make something of what means nothing, other than giving up: nothing that a right child says comes
    out wrong by that, so it is a recommendation missed. None where that does not excuse."""
    row = conv.failing or conv.maybe
    if row in ("INV-HOST-27", "INV-HOST-29") or (conv.left and row == "END-04"):
        return None
    if not row.startswith("INV-HOST") and row != "HS-18":
        return None
    return breach(config.host, row, f"{why}; it came of what means nothing", level="SHOULD")


# -- what the child says -----------------------------------------------------------------------------------------------


def heard(config: Config, conv: HostConv, frame: Message | Text) -> Iterator[Outcome]:
    """A message of the tester, in every way in which the host may take it."""
    if conv.failed or conv.left:
        yield allow(conv)
        return
    lived = bool(conv.timeout_ms) and conv.most_ms >= conv.timeout_ms / 3
    conv = conv._replace(quiet_ms=0, lived=conv.lived or lived)
    if config.has("x-hb-any-message"):
        conv = conv._replace(most_ms=0)
    if isinstance(frame, Text):
        yield from _text(config, conv, frame)
    elif not conv.pid:
        yield from _pid(config, conv, frame.value)
    elif not isinstance(frame.value, Mapping):
        yield _fails(config, conv, "INV-HOST-11", f"{shown(frame.value)} is no command")
    elif not isinstance(frame.command, str):
        named = "INV-HOST-18" if "tuple" in frame.value or "id" in frame.value else "INV-HOST-12"
        yield _fails(config, conv, named, f"{shown(dict(frame.value))} has no command")
    else:
        yield from _commanded(config, conv, frame.value)


def _fails(config: Config, conv: HostConv, row: str, why: str) -> Outcome:
    """The host must give up."""
    return breach(config.child, row, why, then=conv._replace(failing=row))


def _text(config: Config, conv: HostConv, frame: Text) -> Iterator[Outcome]:
    rows = {"not-utf-8": "INV-HOST-27", "twice": "INV-HOST-28"}
    row = frame.why if frame.why.startswith("INV-") else rows.get(frame.why, "INV-HOST-06")
    why = f"{shown(frame.data)} is no message"
    if not conv.pid:
        yield breach(config.child, "HS-10", why, then=conv._replace(failing="HS-18", skipped=("INV-HOST-01",)))
        return
    if row in ("INV-HOST-07", "INV-HOST-10", "INV-HOST-26"):
        inner = read(frame.data)
        if isinstance(inner, Message):
            marked = conv._replace(skipped=(*conv.skipped, row), maybe=conv.maybe if row == "INV-HOST-07" else row)
            yield from heard(config, marked, inner)
        return
    if row == "INV-HOST-27":
        yield breach(config.child, row, why, then=conv._replace(maybe=row, skipped=(*conv.skipped, row)))
        return
    if row == "INV-HOST-28":
        for kind in ("ack", "fail"):
            for live in conv.live:
                if f'"{live.wire}"'.encode() in frame.data:
                    yield breach(config.child, row, why, then=_done(conv, kind, live)._replace(maybe=row))
        return
    if row == "INV-HOST-29":
        after = _odd_numbers(config, conv, frame)._replace(maybe=row, skipped=(*conv.skipped, row))
        yield breach(config.child, row, why, then=after)
        return
    yield _fails(config, conv, row, why)


def _odd_numbers(config: Config, conv: HostConv, frame: Text) -> HostConv:
    serial = int(frame.data.partition(b'"tuple":[')[2].partition(b",")[0])
    lists = (*conv.lists, conv.known - 1) if config.child == "bolt" or conv.command else conv.lists
    due = Expected("emit", None, [serial, ODD])
    return conv._replace(lists=lists, effects=(*conv.effects, due))


ERROR = 4
"""The level of a log that tells of an error (x-loglevel)."""
SEEN = "\0seen"
"""A member of what was said after a sync, once its effect was seen."""
ODD = "\0odd number"
"""Stands for a number that a host may refuse, or take as it is; never as another one."""


def _pid(config: Config, conv: HostConv, value: Any) -> Iterator[Outcome]:
    run = conv._replace(pid=True, most_ms=0, idle_ms=0)
    number = value.get("pid") if isinstance(value, Mapping) else None
    if is_number(number):
        extra = isinstance(value, Mapping) and "command" in value
        covers = ["HS-14"] if conv.most_ms else []
        yield allow(run._replace(skipped=("INV-HOST-01",) if extra else ()), *covers)
    elif value == {}:
        yield breach(config.child, "HS-10", "there is no process id", then=run._replace(maybe="INV-HOST-01"))
    else:
        failing = conv._replace(failing="HS-18", skipped=("INV-HOST-01",))
        yield breach(config.child, "HS-10", f"{shown(value)} is no process id", then=failing)


def _commanded(config: Config, conv: HostConv, value: Mapping[str, Any]) -> Iterator[Outcome]:
    command, by = value["command"], config.child
    if by == "spout" and conv.command is None and command in ("emit", "log"):
        held = conv._replace(held=(*conv.held, value))
        yield breach(by, "SPOUT-04", f"{command} after the sync", then=held)
        return
    if command == "emit":
        yield _emit(config, conv, value)
    elif command in ("ack", "fail") and by == "bolt":
        live = next((live for live in conv.live if live.wire == value.get("id")), None)
        if live is None or not isinstance(value.get("id"), str):
            yield _fails(config, conv, "INV-HOST-17", f"{command} for {shown(value.get('id'))}")
        else:
            yield allow(_done(conv, command, live))
    elif command == "log":
        yield allow(_logged(conv, value))
    elif command == "sync":
        yield _sync(config, conv)
    elif command == "error" and config.has("x-error"):
        yield allow(conv._replace(errors=(*conv.errors, str(value.get("msg")))))
    elif by == "bolt":  # an unknown command may be passed over
        row = "INV-HOST-18" if command in ("next", "activate") else "INV-HOST-12"
        known = conv._replace(maybe=row, skipped=(*conv.skipped, row))
        yield breach(by, row, f"{command!r:.60} is no command", then=known)
    else:
        row = "INV-HOST-18" if command in ("ack", "fail", "next") else "INV-HOST-12"
        yield _fails(config, conv, row, f"{command!r:.60} is no command of a {by}")


def _done(conv: HostConv, kind: str, live: Live) -> HostConv:
    left = tuple(other for other in conv.live if other is not live)
    effect = Expected(kind, live)
    return conv._replace(live=left, done=(*conv.done, live), effects=(*conv.effects, effect))


def _logged(conv: HostConv, value: Mapping[str, Any]) -> HostConv:
    text, level = str(value.get("msg")).strip(), value.get("level")  # blanks at its ends are nobody's loss
    alarms = (*conv.alarms, text) if same(level, ERROR) else conv.alarms
    return conv._replace(logs=(*conv.logs, (text, level)), alarms=alarms)


def _sync(config: Config, conv: HostConv) -> Outcome:
    if config.child == "spout":
        if conv.command is None:
            return breach("spout", "SPOUT-22", "a sync when no command is open")  # what follows is the host's affair
        return allow(conv._replace(command=None, lived=False), *(["HB-11"] if conv.lived else []))
    if not conv.beats:
        return allow(conv._replace(most_ms=0, skipped=(*conv.skipped, "BOLT-24")))
    return allow(conv._replace(beats=conv.beats - 1, most_ms=0), *(["HB-11"] if conv.seen > 1 else []))


def _emit(config: Config, conv: HostConv, value: Mapping[str, Any]) -> Outcome:
    task, stream, anchors = value.get("task"), value.get("stream"), value.get("anchors")
    if not isinstance(value.get("tuple"), list):
        return _fails(config, conv, "INV-HOST-13", f"the tuple of an emit is {shown(value.get('tuple'))}")
    if task is not None and not (is_number(task) and 0 <= task < 1 << 31):
        return _fails(config, conv, "INV-HOST-14", f"the task of an emit is {shown(task)}")
    if stream is not None and not isinstance(stream, str):
        return _fails(config, conv, "INV-HOST-15", f"the stream of an emit is {shown(stream)}")
    if isinstance(anchors, str) and config.has("x-anchor-string"):
        anchors, value = [anchors], {**value, "one anchor": True}
    for anchor in anchors or ():
        if not isinstance(anchor, str) or all(live.wire != anchor for live in conv.live):
            return _fails(config, conv, "INV-HOST-16", f"an anchor is {shown(anchor)}")
    return allow(_emitted(config, conv, {**value, "anchors": anchors}))


def _emitted(config: Config, conv: HostConv, value: Mapping[str, Any]) -> HostConv:
    """What an emit calls for."""
    names = value.get("anchors") or ()
    anchors = tuple(live for name in names for live in conv.live if live.wire == name)
    task = value.get("task") or None
    more = ["EXT-03"] if config.has("x-need-task-ids") and "need_task_ids" in value else []
    more += ["EXT-08"] if config.has("x-anchor-string") and "one anchor" in value else []
    more += ["EXT-09"] if config.has("x-task0") and "task" in value and task is None else []
    effect = Expected(
        "emit", value.get("id"), value["tuple"], stream_of(value.get("stream")), task, anchors, more=tuple(more)
    )
    after = conv if SEEN in value else conv._replace(effects=(*conv.effects, effect))
    if wants_ids(config.extensions, value):
        after = after._replace(lists=(*conv.lists, conv.known - 1))
    if value.get("id") is not None:
        after = after._replace(outstanding=(*after.outstanding, value["id"]))
    return after
