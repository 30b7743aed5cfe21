"""What scripts of the suite tell user code to do, and what must be seen of it.

A tuple `["wireproof", [step, …]]` carries the steps of a bolt; `wireproof.script`, `wireproof.on_ack` and
`wireproof.on_fail` in conf carry those of a spout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from specs.storm.states import Config, Expected, Task
from specs.storm.values import is_direct, stream_of, wants_ids

WORD = "wireproof"


def of_tuple(config: Config, message: Mapping[str, Any]) -> Task:
    """What must come of a tuple."""
    values = message.get("tuple")
    name = message.get("id")
    seen = {key: message.get(key) for key in ("id", "comp", "stream", "task", "tuple")}
    seen["call"] = "process"
    if isinstance(values, list) and len(values) == 2 and values[0] == WORD and isinstance(values[1], list):
        return _task(config, name, values[1], seen)
    return _task(config, name, ({"op": "ack"},), seen)


def of_command(config: Config, conf: Mapping[str, Any], message: Mapping[str, Any], nexts: int) -> Task:
    """What must come of a spout's command; `nexts` of them were next before it."""
    command = message.get("command")
    steps: Any = ()
    if command == "next":
        script = conf.get(f"{WORD}.script") or []
        steps = script[nexts] if nexts < len(script) else ()
    elif command in ("ack", "fail"):
        steps = conf.get(f"{WORD}.on_{command}") or ()
    seen: dict[str, Any] | None = {"call": command}
    if command in ("ack", "fail"):
        seen = {"call": command, "id": message.get("id")}
    elif command != "next":
        seen = None
    return _task(config, message.get("id"), steps, seen)


def _task(config: Config, name: Any, steps: Sequence[Any], seen: Any) -> Task:
    seen = seen if config.noted else None
    due: list[Expected] = []
    logs: list[str] = []
    for step in steps:
        op = step.get("op")
        if op == "emit":
            anchors = (name,) if step.get("anchor") is True else ()
            stream, values = stream_of(step.get("stream")), step.get("tuple")
            wants = wants_ids(config.extensions, step)
            task = step.get("task") if is_direct(step) else None
            due.append(Expected("emit", step.get("id"), values, stream, task, anchors, wants))
        elif op in ("ack", "fail"):
            due.append(Expected(op, step.get("id", name)))
        elif op == "log":
            logs.append(str(step.get("msg")).strip())  # blanks at its ends are nobody's loss
        elif op == "raise":
            return Task(name, tuple(due), tuple(logs), raising=True, seen=seen)
    return Task(name, tuple(due), tuple(logs), seen=seen)


def prints(message: Any) -> str:
    """What it tells user code to print, a line feed before each."""
    if isinstance(message, Mapping):
        told = f"\n{message.get('text')}" if message.get("op") == "print" else ""
        return told + "".join(prints(item) for item in message.values())
    return "".join(prints(item) for item in message) if isinstance(message, list) else ""
