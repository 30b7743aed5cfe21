"""What the tester, as child and as caller, says to a judged host, and what that does to the state.

What the child says wrongly on purpose ends in states that say what the host may make of it: `failing`, it must give up
because of that; `maybe`, it may. Each function answers with every way in which the host may take it; with `wrong`, the
text that says which rule of children is broken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from specs.storm.frames import Message, Text, read
from specs.storm.host.book import TAGS
from specs.storm.host.case import ODD, SEEN
from specs.storm.machine import MACHINES, RUNS, SETUPS, SpoutPhase
from specs.storm.states import Config, Expected, HostConv, Live, Row
from specs.storm.values import is_direct, is_number, same, shown, stream_of, wants_ids

TIMEOUT = "topology.subprocess.timeout.secs"
BIG = 1 << 16
"""A message with a text of more octets than this may be too much for a host (S-43)."""
ERROR = 4
"""The level of a log that tells of an error (x-loglevel)."""


class Heard(NamedTuple):
    """The state after what the tester did. `wrong`: which rule of children that breaks; `known`: what follows is judged
    all the same."""

    conv: HostConv
    wrong: str = ""
    known: bool = True


def _is_late(config: Config, conv: HostConv) -> bool:
    """True where the host may have given the child up before this reaches it: the tester itself was held up (S-13)."""
    counts = conv.pid and (config.child == "bolt" or conv.commanded)
    return bool(counts and conv.timeout_ms) and conv.most_ms >= conv.timeout_ms * 0.8


def heard(config: Config, conv: HostConv, frame: Message | Text) -> Iterator[Heard]:
    """A message of the tester, in every way in which the host may take it."""
    if conv.failed or conv.left:
        yield Heard(conv)
        return
    lived = bool(conv.timeout_ms) and conv.most_ms >= conv.timeout_ms / 3
    conv = conv._replace(quiet_ms=0, lived=conv.lived or lived, late=conv.late or _is_late(config, conv))
    if config.has("x-hb-any-message"):
        conv = conv._replace(most_ms=0)
    if isinstance(frame, Text):
        yield from _text(config, conv, frame)
    elif not conv.pid:
        yield _pid(config, conv, frame.value)
    elif not isinstance(frame.value, Mapping):
        yield _fails(conv, Row.NO_OBJECT, f"{shown(frame.value)} is no command")
    elif not isinstance(frame.command, str):
        row = Row.OTHERS if "tuple" in frame.value or "id" in frame.value else Row.NO_COMMAND
        yield _fails(conv, row, f"{shown(dict(frame.value))} has no command")
    else:
        held_up = conv.big and bool(conv.effects or conv.lists or conv.logs)  # nothing shows yet that it was taken
        big = held_up or _is_big(frame.value)
        yield _commanded(config, conv._replace(last=frame.command, big=big), frame.value)


def _is_big(value: Mapping[str, Any]) -> bool:
    values = value.get("tuple")
    texts = (*value.values(), *(values if isinstance(values, list) else ()))
    return any(isinstance(text, str) and 4 * len(text) > BIG and _octets(text) > BIG for text in texts)


def _octets(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _fails(conv: HostConv, row: Row, why: str, **more: Any) -> Heard:
    """The host must give up."""
    return Heard(conv._replace(failing=row, **more), why)


_WHYS = {"not-utf-8": Row.NO_UTF8, "twice": Row.TWICE}


def _text(config: Config, conv: HostConv, frame: Text) -> Iterator[Heard]:
    row = TAGS.get(frame.why) or _WHYS.get(frame.why, Row.TRAILING)
    why = f"{shown(frame.data)} is no message"
    if not conv.pid:
        yield _fails(conv, Row.NO_CHILD, why, skipped=(Row.PID,))
    elif row in (Row.BLANK, Row.CRLF, Row.FLOOD):
        inner = read(frame.data)
        if isinstance(inner, Message):
            maybe = conv.maybe if row is Row.BLANK else row
            yield from heard(config, conv._replace(skipped=(*conv.skipped, row), maybe=maybe), inner)
    elif row is Row.NO_UTF8:
        yield Heard(conv._replace(maybe=row, skipped=(*conv.skipped, row)), why)
    elif row is Row.TWICE:
        for kind in ("ack", "fail"):
            for live in conv.live:
                if f'"{live.wire}"'.encode() in frame.data:
                    yield Heard(_done(conv, kind, live)._replace(maybe=row), why)
    elif row is Row.ODD_NUMBER:
        yield Heard(_odd_numbers(config, conv, frame)._replace(maybe=row, skipped=(*conv.skipped, row)), why)
    else:
        yield _fails(conv, row, why)


def _odd_numbers(config: Config, conv: HostConv, frame: Text) -> HostConv:
    serial = int(frame.data.partition(b'"tuple":[')[2].partition(b",")[0])
    lists = (*conv.lists, conv.known - 1) if config.child == "bolt" or conv.command else conv.lists
    return conv._replace(lists=lists, effects=(*conv.effects, Expected("emit", None, [serial, ODD])))


def _pid(config: Config, conv: HostConv, value: Any) -> Heard:
    phase = conv.phase
    if phase in SETUPS:
        phase = MACHINES[config.child].move(phase, "pid", RUNS[config.child])
    run = conv._replace(pid=True, phase=phase, most_ms=0, idle_ms=0, waited=True)
    number = value.get("pid") if isinstance(value, Mapping) else None
    if is_number(number):
        more = isinstance(value, Mapping) and len(value) > 1  # it is taken, whatever else stands beside it
        return Heard(run._replace(skipped=(Row.PID,) if more else ()))
    if value == {}:
        return Heard(run._replace(maybe=Row.PID, skipped=(Row.PID,)), "there is no process id")
    return _fails(conv, Row.NO_CHILD, f"{shown(value)} is no process id", skipped=(Row.PID,))


def _commanded(config: Config, conv: HostConv, value: Mapping[str, Any]) -> Heard:
    command, by = value["command"], config.child
    if by == "spout" and conv.command is None and command in ("emit", "log"):
        return Heard(conv._replace(held=(*conv.held, value)), f"{command} after the sync")
    if command == "emit":
        return _emit(config, conv, value)
    if command in ("ack", "fail") and by == "bolt":
        live = next((live for live in conv.live if live.wire == value.get("id")), None)
        if live is None or not isinstance(value.get("id"), str):
            return _fails(conv, Row.ODD_ACK, f"{command} for {shown(value.get('id'))}")
        return Heard(_done(conv, command, live))
    if command == "log":
        return Heard(logged(conv, value))
    if command == "sync":
        return _sync(config, conv)
    if command == "error" and config.has("x-error"):
        return Heard(conv._replace(errors=(*conv.errors, str(value.get("msg")))))
    if by == "bolt":  # an unknown command may be passed over
        row = Row.OTHERS if command in ("next", "activate") else Row.NO_COMMAND
        return Heard(conv._replace(maybe=row, skipped=(*conv.skipped, row)), f"{command!r:.60} is no command")
    row = Row.OTHERS if command in ("ack", "fail", "next") else Row.NO_COMMAND
    return _fails(conv, row, f"{command!r:.60} is no command of a {by}")


def _done(conv: HostConv, kind: str, live: Live) -> HostConv:
    left = tuple(other for other in conv.live if other is not live)
    return conv._replace(live=left, done=(*conv.done, live), effects=(*conv.effects, Expected(kind, live)))


def logged(conv: HostConv, value: Mapping[str, Any]) -> HostConv:
    """What a log calls for. Blanks at its ends are nobody's loss."""
    text, level = str(value.get("msg")).strip(), value.get("level")
    alarms = (*conv.alarms, text) if same(level, ERROR) else conv.alarms
    return conv._replace(logs=(*conv.logs, (text, level)), alarms=alarms)


def _sync(config: Config, conv: HostConv) -> Heard:
    if config.child == "bolt":
        if conv.beats:
            return Heard(conv._replace(beats=conv.beats - 1, most_ms=0))
        return Heard(conv._replace(most_ms=0, skipped=(*conv.skipped, Row.SYNC)))
    if conv.command is None:
        return Heard(conv, "a sync when no command is open", known=False)  # what follows is the host's affair
    phase = conv.phase
    if phase is SpoutPhase.BUSY:
        phase = MACHINES["spout"].move(phase, "sync")
    return Heard(conv._replace(command=None, phase=phase, answered=True))


def _emit(config: Config, conv: HostConv, value: Mapping[str, Any]) -> Heard:
    task, stream, anchors = value.get("task"), value.get("stream"), value.get("anchors")
    if not isinstance(value.get("tuple"), list):
        return _fails(conv, Row.NO_TUPLE, f"the tuple of an emit is {shown(value.get('tuple'))}")
    if task is not None and not (is_number(task) and 0 <= task < 1 << 31):
        return _fails(conv, Row.ODD_TASK, f"the task of an emit is {shown(task)}", odd=task)
    if stream is not None and not isinstance(stream, str):
        return _fails(conv, Row.ODD_STREAM, f"the stream of an emit is {shown(stream)}")
    if isinstance(anchors, str) and config.has("x-anchor-string"):
        anchors, value = [anchors], {**value, "one anchor": True}
    for anchor in anchors or ():
        if not isinstance(anchor, str) or all(live.wire != anchor for live in conv.live):
            return _fails(conv, Row.ODD_ANCHOR, f"an anchor is {shown(anchor)}")
    return Heard(emitted(config, conv, {**value, "anchors": anchors}))


def emitted(config: Config, conv: HostConv, value: Mapping[str, Any]) -> HostConv:
    """What an emit calls for."""
    names = value.get("anchors") or ()
    anchors = tuple(live for name in names for live in conv.live if live.wire == name)
    task = value.get("task") or None
    more: tuple[str, ...] = ("one anchor",) if "one anchor" in value else ()
    more += ("task 0",) if config.has("x-task0") and "task" in value and task is None else ()
    effect = Expected("emit", value.get("id"), value["tuple"], stream_of(value.get("stream")), task, anchors, more=more)
    after = conv if SEEN in value else conv._replace(effects=(*conv.effects, effect))
    if wants_ids(config.extensions, value):
        after = after._replace(lists=(*conv.lists, conv.known - 1))
    elif not is_direct(value):
        after = after._replace(unneeded=True)
    if value.get("id") is not None:
        after = after._replace(outstanding=(*after.outstanding, value["id"]))
    return after


# -- what the tester does beside its messages --------------------------------------------------------------------------


def does(config: Config, conv: HostConv, name: str, value: Any) -> Heard:
    """A Do of the plan."""
    if name == "start":
        seconds = (value.get("conf") or {}).get(TIMEOUT)
        timeout = int(seconds * 1000) if config.timed and isinstance(seconds, (int, float)) else 0
        return Heard(conv._replace(given=value, timeout_ms=timeout, calls=(*conv.calls, "start")))
    if name == "call":
        return _calls(conv, value)
    if name == "task_ids":
        return Heard(conv._replace(settings=(*conv.settings, value["ids"]), calls=(*conv.calls, name)))
    if name == "kill" and value == 19:
        return Heard(conv._replace(stopped=True))
    if name in ("exit", "kill"):
        return Heard(_ends(config, conv))
    if name == "stderr":
        return Heard(conv._replace(skipped=(*conv.skipped, Row.STDERR)))
    if name in ("deaf", "hear"):
        return Heard(conv._replace(deaf=name == "deaf"))
    if name == "close":
        return Heard(conv._replace(closing=True))
    return Heard(conv._replace(partial=True) if name == "octets" else conv)


def _ends(config: Config, conv: HostConv) -> HostConv:
    """The child ends. It need be noticed where something is to come from it."""
    after = conv._replace(left=True, skipped=(*conv.skipped, Row.CUT if conv.partial else Row.ENDED))
    if config.child == "bolt" and _is_heard_out(conv):
        after = after._replace(parting=True)
    noticed = config.child == "bolt" or conv.command is not None or bool(conv.waiting) or not conv.pid
    return after._replace(failing=conv.failing or (Row.LEFT if noticed else None))


def _is_heard_out(conv: HostConv) -> bool:
    """True where a child has said all that it wanted to say: a host that reads to the end of it has it all. Not where
    something is on its way to the child, since a host may learn of the end while it writes."""
    odd = conv.failing or conv.maybe or conv.big or conv.partial or conv.stopped or conv.deaf
    return conv.pid and not (odd or conv.lists or conv.waiting or conv.closing)


def _calls(conv: HostConv, value: Mapping[str, Any]) -> Heard:
    op = value["op"]
    asked = len(str(value.get("tuple", ""))) + len(str(value.get("id", "")))
    after = conv._replace(calls=(*conv.calls, op), unread=conv.unread + asked if conv.stopped else 0)
    if conv.left:
        after = after._replace(failing=conv.failing or Row.LEFT)
    if op == "tuple":
        live = Live(value["id"], None, value["comp"], value["stream"], value["task"], value["tuple"])
        return Heard(after._replace(waiting=(*conv.waiting, live)))
    name = value.get("id")
    if op in ("ack", "fail"):
        at = next((n for n, known in enumerate(conv.outstanding) if same(known, name)), None)
        if at is None:
            return Heard(conv, f"{op} was asked for {shown(name)}, which was not emitted", known=False)
        after = after._replace(outstanding=conv.outstanding[:at] + conv.outstanding[at + 1 :])
    return Heard(after._replace(waiting=(*conv.waiting, (op, name))))
