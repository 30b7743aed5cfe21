"""What a judged child is sent: the setup, commands or tuples, lists of task ids, heartbeats, the end of STDIN.

When it is the tester who breaks a rule of the host on purpose, the state behind the breach says what the child may make
of it (`Conv.hurt`): the invalid inputs of the catalogue, STORM-INV-CHILD-01 and following.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specs.model import Allow, Breach, Outcome
from specs.storm import scripts
from specs.storm.frames import Message, Text, read
from specs.storm.said import allow, breach
from specs.storm.states import Config, Conv, Phase
from specs.storm.values import is_heartbeat, is_number, same, shown

HOST = "host"
SHAPE = ("id", "comp", "stream", "task", "tuple")


def said(config: Config, conv: Conv, frame: Message | Text) -> Outcome:
    """A message to the child."""
    conv = conv._replace(cut=False) if conv.cut else conv
    if isinstance(frame, Text):
        return _odd(config, conv, frame) if frame.why == "odd" else _text(conv, frame)
    if conv.phase is Phase.NEW:
        return _setup(config, conv, frame.value)
    if conv.phase is Phase.SETUP:
        return breach(HOST, "HS-14", "something was sent before the process id came")
    if conv.phase in (Phase.DEAF, Phase.OVER):
        return allow(conv)
    value = frame.value
    if isinstance(value, list):
        return _ids(config, conv, value)
    if not isinstance(value, Mapping):
        return _misuse(conv, "INV-CHILD-02", f"{shown(value)} is nothing that a host says")
    conv = conv._replace(talked=conv.talked + scripts.prints(value))
    return _tuple(config, conv, value) if config.child == "bolt" else _command(config, conv, value)


def _misuse(conv: Conv, hurt: str, why: str, requirement: str = "FRAME-01", **more: Any) -> Breach:
    after = conv._replace(hurt=hurt, excused=True, **more)
    return breach(HOST, requirement, why, then=after)


def _text(conv: Conv, frame: Text) -> Outcome:
    why = f"{shown(frame.data)} is no JSON ({frame.why})"
    if conv.phase is Phase.NEW:
        return _misuse(conv, "INV-CHILD-01", why, phase=Phase.SETUP)
    if frame.why == "not-utf-8":
        return _misuse(conv, "INV-CHILD-14", why, open=(*conv.open, *_name(read(_replaced(frame.data)))))
    return _misuse(conv, "INV-CHILD-10" if frame.why == "empty" else "INV-CHILD-02", why)


def _replaced(data: bytes) -> bytes:
    """What a child reads that replaces octets which are no UTF-8."""
    return data.decode("utf-8", "replace").encode()


def _name(frame: Message | Text) -> tuple[str, ...]:
    """The id by which a child may settle what was no right tuple."""
    name = frame.value.get("id") if isinstance(frame, Message) and isinstance(frame.value, Mapping) else None
    return (name,) if isinstance(name, str) else ()


def _odd(config: Config, conv: Conv, frame: Text) -> Outcome:
    """A message with line ends or blank lines that no host writes."""
    outcome = said(config, conv, Message(read(frame.data).value))  # type: ignore[union-attr]
    after = outcome.state if isinstance(outcome, Allow) else outcome.then
    return breach(HOST, "FRAME-04", "lines end oddly", then=after._replace(hurt="INV-CHILD-10", excused=True))


def _setup(config: Config, conv: Conv, value: Any) -> Outcome:
    after = conv._replace(phase=Phase.SETUP, setup=value)
    whole = isinstance(value, Mapping) and isinstance(value.get("conf"), Mapping)
    if not whole or not isinstance(value.get("context"), Mapping) or value.get("pidDir") != conv.folder:
        return _misuse(conv, "INV-CHILD-01", "the setup cannot be followed", "HS-02", phase=Phase.SETUP, setup=value)
    return allow(after._replace(talked=scripts.prints(value["conf"])))


# -- to both -----------------------------------------------------------------------------------------------------------


def _ids(config: Config, conv: Conv, value: list[Any]) -> Outcome:
    if not all(is_number(item) for item in value):
        owing = max(0, conv.owing - 1)
        return _misuse(conv, "INV-CHILD-08", f"task ids are {shown(value)}", "SPOUT-07", owing=owing)
    if not conv.owing:
        return _misuse(conv, "INV-CHILD-07", "task ids that no emit asked for", "SPOUT-07")
    lists = (*conv.lists, value) if config.scripted and config.noted and not conv.hurt else conv.lists
    return allow(conv._replace(owing=conv.owing - 1, lists=lists))


def closes(conv: Conv, how: str) -> Outcome:
    """The end of the child's STDIN."""
    if conv.phase is Phase.OVER:
        return allow(conv)
    return allow(conv._replace(phase=Phase.DEAF, was=conv.phase))


def octets(conv: Conv) -> Outcome:
    """Part of a message was sent, and nothing behind it will be."""
    return allow(conv._replace(cut=True))


# -- to bolts ----------------------------------------------------------------------------------------------------------


def _tuple(config: Config, conv: Conv, value: Mapping[str, Any]) -> Outcome:
    if "command" in value:
        return _misuse(conv, "INV-CHILD-02", f"{shown(value)} is no tuple", "BOLT-02")
    name = value.get("id")
    missing = [key for key in SHAPE if key not in value]
    if missing or not isinstance(value["tuple"], list):
        why = f"a tuple without {', '.join(missing) or 'values'}"
        return _misuse(conv, "INV-CHILD-03", why, "BOLT-02", open=(*conv.open, *_name(Message(value))))
    if is_heartbeat(value):
        return allow(conv._replace(unanswered=conv.unanswered + 1, beats=conv.beats | {name}))
    if not isinstance(name, str):
        hurt = conv._replace(hurt="INV-CHILD-04", excused=True, open=(*conv.open, name, str(name)))
        return breach(HOST, "BOLT-03", f"the id of a tuple is {shown(name)}", then=hurt)
    if name in conv.open:
        return breach(HOST, "BOLT-04", f"the id {name!r:.60} is live already")
    settled = conv.settled - {name}
    task = scripts.of_tuple(config, value)
    tasks = (*conv.tasks, task) if config.scripted else conv.tasks
    excused = conv.excused or task.raising
    return allow(
        conv._replace(open=(*conv.open, name), settled=settled, tasks=tasks, spare=conv.spare + 1, excused=excused)
    )


# -- to spouts ---------------------------------------------------------------------------------------------------------


def _command(config: Config, conv: Conv, value: Mapping[str, Any]) -> Outcome:
    command = value.get("command")
    if conv.phase is Phase.BUSY:
        return breach(HOST, "SPOUT-06", f"{shown(command)} was sent before the sync of {conv.command}")
    known = {"next", "ack", "fail"} | ({"activate", "deactivate"} if config.has("x-activate") else set())
    if not isinstance(command, str) or command not in known:
        hurt = "INV-CHILD-05" if isinstance(command, str) else "INV-CHILD-06"
        return _misuse(conv, hurt, f"{shown(value)} is no command", "SPOUT-01", phase=Phase.BUSY, command=str(command))
    if conv.owing:
        return breach(HOST, "SPOUT-07", f"{command} was sent before the task ids of an emit")
    conf = conv.setup["conf"]
    task = scripts.of_command(config, conf, value, conv.nexts)
    nexts = conv.nexts + (command == "next")
    tasks = (*conv.tasks, task) if config.scripted else conv.tasks
    excused = conv.excused or task.raising
    after = conv._replace(phase=Phase.BUSY, command=command, nexts=nexts, tasks=tasks, excused=excused)
    after = after._replace(extra=len(value) > 1 + (command in ("ack", "fail")))
    if command not in ("ack", "fail"):
        return allow(after)
    name = value.get("id")
    at = next((n for n, emitted in enumerate(conv.emitted) if same(emitted, name)), None)
    if at is None:
        return breach(HOST, "SPOUT-11", f"{command} for {shown(name)}, which was not emitted",
                      then=after._replace(hurt=conv.hurt or "SPOUT-24"))  # fmt: skip
    return allow(after._replace(emitted=conv.emitted[:at] + conv.emitted[at + 1 :]))
