"""What bolts and spouts have in common: the handshake, what is no message, observations of it, and the end.

Requirement ids are those of requirements.toml, without their prefix.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from specs.model import Allow, Breach, Outcome
from specs.storm import bolt, spout
from specs.storm.frames import Message, Text
from specs.storm.said import allow, breach
from specs.storm.states import Config, Conv, Phase
from specs.storm.values import carried, is_number, same_tasks, shown

_FRAMES = ("FRAME-01", "FRAME-02", "FRAME-03", "FRAME-04", "FRAME-05", "FRAME-09")


def said(config: Config, conv: Conv, frame: Message | Text) -> Outcome:
    """A message of the child."""
    by = config.child
    conv = conv._replace(partial=False) if conv.partial else conv
    if isinstance(frame, Text) and frame.why == "twice":  # allowed by JSON, if not recommended: the last one counts
        frame = Message(json.loads(frame.data))
    if isinstance(frame, Text):
        return _text(config, conv, frame)
    if conv.phase is Phase.NEW:
        return breach(by, "HS-13", f"{shown(frame.value)} came before the setup was sent")
    if conv.phase is Phase.SETUP or (conv.phase is Phase.DEAF and conv.was is Phase.SETUP and conv.pid is None):
        return _pid(config, conv, frame)
    if conv.phase is Phase.OVER:
        return allow(conv)
    if not isinstance(frame.value, Mapping) or not isinstance(frame.command, str):
        named = "BOLT-05" if by == "bolt" else "SPOUT-03"
        return breach(by, named, f"{shown(frame.value)} has no command")
    outcome = bolt.said(config, conv, frame) if by == "bolt" else spout.said(config, conv, frame)
    if isinstance(outcome, Breach):
        after_sync = outcome.requirement == "STORM-SPOUT-04" and '"sync"' in conv.talked
        if f'"{frame.command}"' in conv.talked or after_sync:  # what user code printed was a message
            return breach(by, "FRAME-08", f"{outcome.why}; user code had printed one")
        return outcome
    more = ["FRAME-10"] if config.has("x-utf8") else []
    more += ["FRAME-08"] if conv.talked else []
    return Allow(outcome.state, outcome.covers + tuple("STORM-" + name for name in (*_FRAMES, *more)), outcome.lapses)


def _text(config: Config, conv: Conv, frame: Text) -> Outcome:
    by = config.child
    what = f"what stands before a line `end` is no JSON ({frame.why}): {shown(frame.data, 160)}"
    if conv.hurt and conv.hurt.startswith("INV") and conv.phase is Phase.DEAF:
        return allow(conv)
    if conv.talked:
        return breach(by, "FRAME-08", f"{what}; user code had printed")
    if frame.why == "not-utf-8":
        return breach(by, "FRAME-10" if config.has("x-utf8") else "FRAME-01", what)
    if frame.why in ("empty", "several"):
        return breach(by, "FRAME-02", what)
    if b'"end"' in frame.data and b"{" in frame.data:
        return breach(by, "FRAME-03", what)
    return breach(by, "FRAME-01", what)


def _pid(config: Config, conv: Conv, frame: Message) -> Outcome:
    by, value = config.child, frame.value
    if conv.hurt:
        return _pid_of_hurt(config, conv, value)
    if isinstance(value, Mapping) and "pid" not in value and "command" in value:
        return breach(by, "HS-13", f"{shown(value)} came before the process id")
    number = value.get("pid") if isinstance(value, Mapping) else None
    if not is_number(number) or number < 1:
        return breach(by, "HS-10", f"{shown(value)} came where the process id is due")
    covers = ["HS-10", "HS-13", "HS-15", "HS-16", *_FRAMES]
    lapses: tuple[Breach, ...] = ()
    found = dict(conv.files).get(str(int(number)))
    after = conv._replace(pid=int(number))
    if conv.phase is Phase.SETUP:
        after = after._replace(phase=Phase.RUN if by == "bolt" else Phase.IDLE)
    if found is None:
        lapses = (breach(by, "HS-12", f"the file {int(number)} was not there when its process id was said"),)
    else:
        wrong = _file(config, found, int(number))
        if wrong is not None:
            return wrong
        covers += ["HS-08", "HS-09", "HS-11", "HS-12"]
    if config.scripted and not conv.initialized:
        after = after._replace(initialized=True)  # it is noted down before the pid, or not at all
    return allow(after, *covers, lapses=lapses)


def _pid_of_hurt(config: Config, conv: Conv, value: Any) -> Outcome:
    """What a child says to a setup that it cannot follow."""
    by = config.child
    if isinstance(value, Mapping) and value.get("command") in ("log", "error"):
        return allow(conv._replace(words=True))
    if isinstance(conv.setup, Mapping) and conv.setup.get("pidDir") is None:  # it may have a place of its own
        return allow(conv._replace(phase=Phase.RUN if by == "bolt" else Phase.IDLE))
    why = f"it says {shown(value)} although it could register no process id"
    if not isinstance(conv.setup, Mapping) or not isinstance(value, Mapping) or not is_number(value.get("pid")):
        return breach(by, conv.hurt, why)
    return allow(conv._replace(pid=int(value["pid"])))


def _file(config: Config, found: Mapping[str, Any], number: int) -> Breach | None:
    by = config.child
    if found.get("size"):
        return breach(by, "HS-09", f"the file {number} holds {found['size']} octets")
    if found.get("ours") is False:
        return breach(by, "HS-11", f"{number} is no process of it")
    return None


# -- beside the wire ---------------------------------------------------------------------------------------------------


def fact(config: Config, conv: Conv, name: str, value: Any) -> Outcome:
    """Something was seen of the child's process."""
    if name == "folder":
        return allow(conv._replace(folder=str(value)))
    if name == "file" and isinstance(value, Mapping):
        return _seen_file(config, conv, value)
    if name == "stderr":
        return allow(conv._replace(words=True))
    if name == "octets":
        return allow(conv._replace(partial=True))
    if name == "observed" and config.scripted and isinstance(value, Mapping):
        return _observed(config, conv, value)
    if name == "exit":
        return _exits(config, conv, value)
    return allow(conv)


def _seen_file(config: Config, conv: Conv, value: Mapping[str, Any]) -> Outcome:
    name = str(value.get("name"))
    after = conv._replace(files=(*((n, v) for n, v in conv.files if n != name), (name, dict(value))))
    if conv.pid is not None and name == str(conv.pid):
        wrong = _file(config, value, conv.pid)
        return wrong if wrong is not None else allow(after, "HS-08", "HS-09", "HS-11")
    return allow(after)


def _observed(config: Config, conv: Conv, value: Mapping[str, Any]) -> Outcome:
    call = value.get("call")
    if call == "initialize":
        return _initialized(config, conv, value)
    if not config.noted:
        return allow(conv)
    if call == "task_ids":
        return _ids(config, conv, value.get("ids"))
    if call == "process" and config.child == "bolt":
        return bolt.observed(config, conv, value)
    if call in ("next", "ack", "fail", "activate", "deactivate") and config.child == "spout":
        return spout.observed(config, conv, value)
    return allow(conv)


def _initialized(config: Config, conv: Conv, value: Mapping[str, Any]) -> Outcome:
    if not isinstance(conv.setup, Mapping):
        return allow(conv)
    for key in ("conf", "context"):
        sent, got = conv.setup.get(key), value.get(key)
        if isinstance(sent, Mapping) and isinstance(got, Mapping):
            lost = next((name for name in sent if not carried(sent[name], got.get(name))), None)
            if lost is not None:
                why = (
                    f"user code was shown {key} with {shown(lost)} as {shown(got.get(lost))}, sent {shown(sent[lost])}"
                )
                return breach(config.child, "HS-16" if key == "conf" else "HS-15", why)
    return allow(conv._replace(initialized=True), "HS-15", "HS-16")


def _ids(config: Config, conv: Conv, ids: Any) -> Outcome:
    """User code was given task ids."""
    named = "BOLT-18" if config.child == "bolt" else "SPOUT-09"
    at = next((n for n, sent in enumerate(conv.lists) if same_tasks(sent, ids)), None)
    if at is None:
        if conv.hurt in ("INV-CHILD-07", "INV-CHILD-08"):
            return allow(conv)
        why = f"user code was given the task ids {shown(ids)}; sent were {shown(list(conv.lists))}"
        return breach(config.child, named, why)
    if at and config.serial:
        why = f"user code was given the task ids {shown(ids)} before {shown(conv.lists[0])}, which were sent first"
        return breach(config.child, named, why)
    after = conv._replace(lists=conv.lists[:at] + conv.lists[at + 1 :])
    more = ["BOLT-19"] if config.child == "bolt" and not ids else []
    return allow(after, named, *more)


# -- the end -----------------------------------------------------------------------------------------------------------


def _exits(config: Config, conv: Conv, code: Any) -> Outcome:
    by = config.child
    over = conv._replace(phase=Phase.OVER)
    how = f"it was ended by signal {-code}" if isinstance(code, int) and code < 0 else f"it ended with status {code}"
    if conv.hurt == "SPOUT-24" and conv.phase is Phase.BUSY:
        return breach(by, conv.hurt, f"{how} for an id that it does not know")
    if conv.hurt:
        if code == 0 and not conv.words and conv.hurt == "INV-CHILD-01":
            return breach(by, conv.hurt, "it ended with status 0 and without a word on STDERR", level="SHOULD")
        if conv.hurt == "INV-CHILD-01" and conv.pid is not None:  # that the file comes first is a recommendation too
            why = f"it said {conv.pid}, and then ended because it could not register it"
            return allow(over, lapses=(breach(by, conv.hurt, why, level="SHOULD"),))
        return allow(over, conv.hurt)
    if conv.excused:
        covers = ["INV-CHILD-15"] if any(task.raising for task in conv.tasks) else []
        return allow(over, *covers)
    if conv.phase is Phase.DEAF:
        return allow(over, "END-01", "END-02", *(["END-03"] if conv.cut else []))
    if conv.phase is Phase.NEW:
        return breach(by, "HS-13", f"{how} before it was sent anything")
    missing = _unmet(conv) if conv.phase is Phase.SETUP else next(_due(config, conv), None)
    if missing is None:
        missing = "BOLT-26" if by == "bolt" else "SPOUT-03"
    return breach(
        by,
        missing,
        f"{how} although its STDIN was open",
    )


def owed(config: Config, conv: Conv) -> Iterator[str]:
    """What the child still has to say or do before it is the host's turn."""
    if conv.phase is Phase.OVER:
        return
    if conv.phase is Phase.DEAF:
        yield "END-01"
        return
    if conv.hurt and conv.phase is Phase.SETUP:
        yield conv.hurt
        return
    yield from _due(config, conv)


def _due(config: Config, conv: Conv) -> Iterator[str]:
    if conv.phase is Phase.SETUP:
        yield "HS-10"
        return
    if conv.pid is not None and str(conv.pid) not in dict(conv.files) and conv.folder:
        yield "HS-08"
    if config.child == "bolt":
        yield from bolt.due(config, conv)
    else:
        yield from spout.due(config, conv)


def _unmet(conv: Conv) -> str:
    """What a child that does not come up breaks: it may be the setup that it cannot bear."""
    context, conf = conv.setup["context"], conv.setup["conf"]
    if "componentid" not in context:
        return "HS-15"
    return "HS-10" if len(conf) <= 1 else "HS-16"


def silence(config: Config, conv: Conv) -> Outcome | None:
    """Nothing more will come. None when nothing was owed."""
    due = next(owed(config, conv), None)
    if due is None:
        return None
    by = config.child
    if conv.phase is Phase.DEAF:
        level = None if conv.cut else "SHOULD"
        return breach(by, "END-03" if conv.cut else "END-01", "it did not end when its STDIN ended", level=level)
    if conv.partial:
        return breach(by, "FRAME-02", "octets came, but no line `end`")
    if due == "HS-08":
        return breach(by, due, f"there is no file {conv.pid} in the directory that it was sent")
    if due == "HS-10":
        return breach(by, _unmet(conv), "it does not say its process id")
    if conv.hurt:
        level = None if conv.pid is not None and conv.phase is Phase.SETUP else "SHOULD"
        return breach(by, conv.hurt, "it neither answers nor ends", level=level)
    return bolt.silence(config, conv, due) if by == "bolt" else spout.silence(config, conv, due)
