"""Brings what is seen of a judged child to its rulebook."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from specs.events import Quiet
from specs.model import ANYTHING, Allow, Breach, Outcome
from specs.rules import Rulebook
from specs.storm import forms_octets  # noqa: F401 - it fills the books
from specs.storm.child import duties, effects, forms, forms_bolt, forms_spout  # noqa: F401 - they fill the books
from specs.storm.child.book import BOOKS
from specs.storm.child.case import Case, ended
from specs.storm.frames import Message, Text
from specs.storm.machine import DEAFS, NEW, NOTHING_BETWEEN_SYNC_AND_COMMAND, OVERS, SETUPS, SpoutPhase
from specs.storm.states import Config, Conv, Owing

NO_COMMAND = "S-23"
"""Of docs/ambiguities.md: a spout may answer what is no command by a sync."""
ACTIONS = {"emit": "emit", "log": "log", "sync": "sync", "error": "report", "metrics": "report"}


def readings(config: Config, conv: Conv, frame: Message | Text) -> Iterator[Outcome]:
    """Every reading of a message of the child: a sync that answers the open command may also be the one for what came
    before that and was no command, and an emit may be that of any callback that was told it in these words."""
    yield said(config, conv, frame)
    value = frame.value if isinstance(frame, Message) else None
    if len(conv.tasks) > 1 and _action(config, conv, value) == "emit":
        for whose in range(1, Case(config, conv, "emit", value, frame).tellers):
            yield said(config, conv, frame, whose)
    if conv.junk and conv.phase is SpoutPhase.BUSY and _action(config, conv, value) == "sync":
        yield Allow(conv._replace(junk=conv.junk - 1, waited_ms=0), leans=(NO_COMMAND,))


def said(config: Config, conv: Conv, frame: Message | Text, whose: int = 0) -> Outcome:
    """A message of the child, in the reading that it belongs to what is open; `whose` as in `Case`."""
    if conv.phase in OVERS:
        return Allow(conv)
    conv = conv._replace(partial=False) if conv.partial else conv
    if isinstance(frame, Text) and frame.why == "twice":  # allowed by JSON, if not recommended: the last one counts
        frame = Message(json.loads(frame.data))
    book, value = BOOKS[config.child], frame.value if isinstance(frame, Message) else None
    octets = _beside(book, Case(config, conv, "octets", value, frame))
    if isinstance(octets, Breach):
        return replace(octets, behind=_behind(book, Case(config, conv, _action(config, conv, value), value, frame)))
    if octets.state is ANYTHING:
        return octets
    if isinstance(frame, Text):
        return Allow(conv)  # it is free: nothing else is judged of it
    case = Case(config, conv, _action(config, conv, value), value, frame)
    case.whose = whose
    found = book.judge(case, case.action)
    if isinstance(found, Breach) and _printed(conv, found, value):
        return _beside(book, Case(config, conv, "printed", value, frame))
    if isinstance(found, Breach):
        return found
    if isinstance(found.state, Conv) and found.state.waited_ms:
        found = replace(found, state=found.state._replace(waited_ms=0))
    return found.following(octets)


def _behind(book: Rulebook, case: Case) -> Any:
    """The state behind a message whose octets were wrong: it was said all the same, if it can be read."""
    if not isinstance(case.frame, Message):
        return ANYTHING
    found = book.judge(case, case.action)
    return found.state if isinstance(found, Allow) else found.behind


def _action(config: Config, conv: Conv, value: Any) -> str:
    """What the table calls a message."""
    command = value.get("command") if isinstance(value, Mapping) else None
    waits = conv.phase in (NEW[config.child], *SETUPS) or (
        conv.phase in DEAFS and conv.was in SETUPS and conv.pid is None
    )
    if waits and not (isinstance(value, Mapping) and "command" in value and "pid" not in value):
        return "pid"
    if not isinstance(command, str):
        return "other"
    if command in ("ack", "fail") and config.child == "bolt":
        return "settle"
    return ACTIONS.get(command, "other")


def _printed(conv: Conv, found: Breach, value: Any) -> bool:
    """True where what was wrong is what user code printed, or follows from it."""
    command = value.get("command") if isinstance(value, Mapping) else None
    if command is None or not conv.talked:
        return False
    early = found.requirement == NOTHING_BETWEEN_SYNC_AND_COMMAND and '"sync"' in conv.talked
    return f'"{command}"' in conv.talked or early


def _beside(book: Rulebook, case: Case) -> Outcome:
    """What the forms of a topic say that is no action of the table."""
    after = effects.BESIDE[case.action](case) if case.action in effects.BESIDE else case.conv
    return book.beside(case, case.action, after)


def endless(config: Config, conv: Conv, data: bytes) -> Outcome:
    """Octets that no closing line follows."""
    return _beside(BOOKS[config.child], Case(config, conv, "endless", data))


# -- beside the wire ---------------------------------------------------------------------------------------------------


def fact(config: Config, conv: Conv, name: str, value: Any) -> Outcome:
    """Something was seen of the child's process."""
    if name == "folder":
        return Allow(conv._replace(folder=str(value)))
    if name == "stderr":
        return Allow(conv._replace(words=True))
    if name == "octets":
        return Allow(conv._replace(partial=True))
    if name == "exit" and conv.phase not in OVERS:
        return _exits(config, conv, value)
    if name == "file" and isinstance(value, Mapping):
        return _beside(BOOKS[config.child], Case(config, conv, "file", value))
    if name == "observed" and config.scripted and isinstance(value, Mapping):
        return _observed(config, conv, value)
    return Allow(conv)


_CALLS = {"bolt": ("process",), "spout": ("next", "ack", "fail", "activate", "deactivate")}


def _observed(config: Config, conv: Conv, value: Mapping[str, Any]) -> Outcome:
    call = value.get("call")
    if call == "initialize":
        topic = "initialized"
    elif config.noted and call == "task_ids":
        topic = "task ids"
    elif config.noted and call in _CALLS[config.child]:
        topic = "observed"
    else:
        return Allow(conv)
    return _beside(BOOKS[config.child], Case(config, conv, topic, value))


def _exits(config: Config, conv: Conv, code: Any) -> Outcome:
    book, case = BOOKS[config.child], Case(config, conv, "exits", code)
    leaves = _beside(book, Case(config, conv, "leaves", code))
    found = book.judge(case, "exits")
    if isinstance(leaves, Breach):  # it has ended all the same
        return replace(leaves, behind=found.state if isinstance(found, Allow) else found.behind)
    if isinstance(found, Allow):
        found = found.following(leaves)
    free = conv.misuse is not None or conv.excused or conv.phase in DEAFS
    if isinstance(found, Breach) or found.state is ANYTHING or free:
        return found
    missed = book.at_end(case, "exits", f"{ended(code)} although its STDIN was open")
    return found if missed is None else missed


# -- turns -------------------------------------------------------------------------------------------------------------


def owed(config: Config, conv: Conv) -> Iterator[str]:
    """What the child still has to say or do before it is the host's turn."""
    return iter(()) if conv.phase in OVERS else BOOKS[config.child].owed(Owing(config, conv))


def quiet(config: Config, conv: Conv, event: Quiet) -> Outcome | None:
    """Time has passed. None where that means nothing."""
    if not event.final:
        waits = conv.phase is SpoutPhase.BUSY and not conv.blocked
        return Allow(conv._replace(waited_ms=conv.waited_ms + event.ms)) if waits and event.ms else None
    if conv.phase in OVERS:
        return None
    book, case = BOOKS[config.child], Case(config, conv, "", None)
    found = book.at_silence(Owing(config, conv), case)
    if not isinstance(found, Breach):
        return None
    if book.level(found) == "SHOULD" and isinstance(found.behind, Owing):  # a recommendation missed: judging goes on
        return Allow(found.behind.conv, (), (found,))
    return found
