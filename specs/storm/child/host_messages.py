"""What the tester, as host, sends to a judged child: the setup, commands or tuples, lists of task ids, heartbeats, the
end of STDIN; and what that does to the state.

Where it breaks a rule of hosts on purpose, the state behind says what the child may make of it (`Conv.misuse`): the
invalid inputs of the catalogue.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from specs.machine import Never
from specs.storm import scripts
from specs.storm.frames import Message, Text, read
from specs.storm.machine import DEAFS, MACHINES, NEW, OVERS, SpoutPhase
from specs.storm.states import Config, Conv, Misuse
from specs.storm.values import is_heartbeat, is_number, same, shown

SHAPE = ("id", "comp", "stream", "task", "tuple")


class Sent(NamedTuple):
    """The state after a message to the child. `wrong` says what rule of hosts it breaks; `known`: what follows is
    judged all the same."""

    conv: Conv
    wrong: str = ""
    known: bool = True


def sent(config: Config, conv: Conv, frame: Message | Text) -> Sent:
    """A message to the child. What a spout may answer by a sync, though it is no command, is counted."""
    found = _sent(config, conv, frame)
    if found.wrong and found.known and conv.phase is found.conv.phase is SpoutPhase.IDLE:
        return found._replace(conv=found.conv._replace(junk=conv.junk + 1))
    return found


def _sent(config: Config, conv: Conv, frame: Message | Text) -> Sent:
    conv = conv._replace(cut=False) if conv.cut else conv
    if conv.phase in (*DEAFS, *OVERS):
        return Sent(conv)
    if isinstance(frame, Text) and frame.why == "odd":
        found = _sent(config, conv, Message(read(frame.data).value))  # type: ignore[union-attr]
        return Sent(found.conv._replace(misuse=Misuse.BLANK, excused=True), "lines end oddly")
    if conv.phase is NEW[config.child]:
        return _setup(config, conv, frame)
    action = _action(config, conv, frame)
    cell = MACHINES[config.child].at(conv.phase, action)
    if isinstance(cell, Never):
        return Sent(conv, cell.why, known=False)
    if isinstance(frame, Text):
        return _text(config, conv, frame)
    if action == "list":
        return _ids(config, conv, frame.value)
    if not isinstance(frame.value, Mapping):
        return _misused(conv, Misuse.NO_MESSAGE, f"{shown(frame.value)} is nothing that a host says")
    conv = conv._replace(talked=conv.talked + scripts.prints(frame.value))
    return _tuple(config, conv, frame.value) if config.child == "bolt" else _command(config, conv, frame.value)


def _action(config: Config, conv: Conv, frame: Message | Text) -> str:
    """What the table calls it."""
    value = frame.value if isinstance(frame, Message) else None
    if isinstance(value, list):
        return "list"
    if not isinstance(value, Mapping):
        return "nonsense"
    if config.child == "spout":
        known = isinstance(value.get("command"), str) and value["command"] in _commands(config)
        return "command" if known or conv.phase is SpoutPhase.BUSY else "nonsense"
    return "heartbeat" if is_heartbeat(value) else "tuple"


def _commands(config: Config) -> frozenset[str]:
    return _ALL if config.has("x-activate") else _OLD


_OLD = frozenset({"next", "ack", "fail"})
_ALL = _OLD | {"activate", "deactivate"}


def closed(config: Config, conv: Conv) -> Conv:
    """The end of the child's STDIN."""
    if conv.phase in OVERS:
        return conv
    return conv._replace(phase=_moved(config, conv, "closes"), was=conv.phase)


def _moved(config: Config, conv: Conv, action: str, to: Any = None) -> Any:
    return MACHINES[config.child].move(conv.phase, action, to)


def _misused(conv: Conv, misuse: Misuse, why: str, **more: Any) -> Sent:
    afresh: dict[str, Any] = {"behind": (), "called": False, "goes_on": False}
    return Sent(conv._replace(misuse=misuse, excused=True, **afresh, **more), why)


def _text(config: Config, conv: Conv, frame: Text) -> Sent:
    why = f"{shown(frame.data)} is no JSON ({frame.why})"
    if frame.why == "not-utf-8":
        replaced = read(frame.data.decode("utf-8", "replace").encode())  # what a child reads that replaces octets
        return _misused(conv, Misuse.NO_UTF8, why, open=(*conv.open, *_name(replaced)))
    return _misused(conv, Misuse.BLANK if frame.why == "empty" else Misuse.NO_MESSAGE, why)


def _name(frame: Message | Text) -> tuple[str, ...]:
    """The id by which a child may settle what was no right tuple."""
    name = frame.value.get("id") if isinstance(frame, Message) and isinstance(frame.value, Mapping) else None
    return (name,) if isinstance(name, str) else ()


def _setup(config: Config, conv: Conv, frame: Message | Text) -> Sent:
    if isinstance(frame, Text):
        why = f"{shown(frame.data)} is no JSON ({frame.why})"
        return _misused(conv, Misuse.SETUP, why, phase=_moved(config, conv, "nonsense"))
    value, phase = frame.value, _moved(config, conv, "setup")
    whole = isinstance(value, Mapping) and isinstance(value.get("conf"), Mapping)
    if not whole or not isinstance(value.get("context"), Mapping) or value.get("pidDir") != conv.folder:
        return _misused(conv, Misuse.SETUP, "the setup cannot be followed", phase=phase, setup=value)
    return Sent(conv._replace(phase=phase, setup=value, talked=scripts.prints(value["conf"])))


def _ids(config: Config, conv: Conv, value: list[Any]) -> Sent:
    if not all(is_number(item) for item in value):
        return _misused(conv, Misuse.ODD_LIST, f"task ids are {shown(value)}", owing=max(0, conv.owing - 1))
    if not conv.owing:
        return _misused(conv, Misuse.SURPLUS_LIST, "task ids that no emit asked for", surplus=(*conv.surplus, value))
    known = config.scripted and config.noted and conv.misuse is None
    if conv.misuse is Misuse.ODD_LIST and not set(conv.open) <= set(conv.behind):
        conv = conv._replace(behind=())  # whoever has skipped the odd list may give this one to its emit
    return Sent(conv._replace(owing=conv.owing - 1, lists=(*conv.lists, value) if known else conv.lists, listed=True))


def _tuple(config: Config, conv: Conv, value: Mapping[str, Any]) -> Sent:
    if "command" in value:
        return _misused(conv, Misuse.NO_MESSAGE, f"{shown(value)} is no tuple")
    name = value.get("id")
    missing = [key for key in SHAPE if key not in value]
    if missing or not isinstance(value["tuple"], list):
        why = f"a tuple without {', '.join(missing) or 'values'}"
        return _misused(conv, Misuse.LACKING, why, open=(*conv.open, *_name(Message(value))))
    if is_heartbeat(value):
        called = conv.called or (conv.misuse is not None and not conv.unanswered)
        return Sent(conv._replace(unanswered=conv.unanswered + 1, beats=conv.beats | {name}, called=called))
    if not isinstance(name, str):
        return _misused(
            conv, Misuse.NUMBER_ID, f"the id of a tuple is {shown(name)}", open=(*conv.open, name, str(name))
        )
    if name in conv.open:
        return Sent(conv, f"the id {name!r:.60} is live already", known=False)
    task = scripts.of_tuple(config, value)._replace(again=name in conv.settled)
    tasks = (*conv.tasks, task) if config.scripted else conv.tasks
    return Sent(
        conv._replace(
            open=(*conv.open, name),
            settled=conv.settled - {name},
            tasks=tasks,
            behind=conv.behind if conv.misuse is None else (*conv.behind, name),
            spare=conv.spare + 1,
            raised=conv.raised + task.raising,
            excused=conv.excused or task.raising,
        )
    )


def _command(config: Config, conv: Conv, value: Mapping[str, Any]) -> Sent:
    command = value.get("command")
    if not isinstance(command, str) or command not in _commands(config):
        misuse = Misuse.UNKNOWN_COMMAND if isinstance(command, str) else Misuse.NO_COMMAND
        phase = _moved(config, conv, "nonsense", SpoutPhase.BUSY)
        return _misused(conv, misuse, f"{shown(value)} is no command", phase=phase, command=str(command))
    if conv.owing:
        return Sent(conv, f"{command} was sent before the task ids of an emit", known=False)
    if command == "next" and config.has("x-activate") and not conv.active:
        return Sent(conv, "next was sent to a spout that is not active", known=False)
    task = scripts.of_command(config, conv.setup["conf"], value, conv.nexts)
    after = conv._replace(
        phase=_moved(config, conv, "command"),
        command=command,
        nexts=conv.nexts + (command == "next"),
        active=command == "activate" or (command != "deactivate" and conv.active),
        tasks=(*conv.tasks, task) if config.scripted else conv.tasks,
        excused=conv.excused or task.raising,
        extra=len(value) > 1 + (command in ("ack", "fail")),
        waited_ms=0,
        listed=False,
        passed=len(conv.lists),
    )
    if command not in ("ack", "fail"):
        return Sent(after)
    name = value.get("id")
    at = next((n for n, emitted in enumerate(conv.emitted) if same(emitted, name)), None)
    if at is None:
        unknown = after._replace(misuse=conv.misuse or Misuse.UNKNOWN_ID)
        return Sent(unknown, f"{command} for {shown(name)}, which was not emitted")
    return Sent(after._replace(emitted=conv.emitted[:at] + conv.emitted[at + 1 :]))
