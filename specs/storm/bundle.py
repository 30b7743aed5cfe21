"""What Storm multilang hands to the other layers. See `specs.protocol.Protocol`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from specs.events import Event, Fact, Said
from specs.jsontext import plain_from_json, plain_to_json
from specs.plan import Close, Control, Plan, Ref, Say
from specs.protocol import Fact as Key
from specs.protocol import Memory, Protocol
from specs.storm import frames
from specs.storm.child.book import BOOKS as CHILDREN
from specs.storm.features import FEATURES
from specs.storm.frames import Message, Style, Text
from specs.storm.host.book import BOOKS as HOSTS
from specs.storm.machine import BOLT_MACHINE, SPOUT_MACHINE
from specs.storm.model import StormModel
from specs.storm.states import PREFIX, REQUIREMENTS, SEED, Config, valid_profile
from specs.storm.values import is_heartbeat, same, wants_ids

ANSWERS = 64
"""Lists of task ids that are sent at one point of a plan, and other answers of which only the child knows how many."""
WIDE = 40
"""Task ids in the longest list."""


class StormMemory:
    """What a plan cannot know beforehand: see `Known`. `name@2` is what `name` is on the connection 2."""

    def __init__(self, config: Config, fresh: str) -> None:
        self._config, self._fresh = config, fresh
        self._known: dict[int, Known] = {}

    def _of(self, number: int) -> Known:
        return self._known.setdefault(number, Known(self._config, self._fresh))

    def note(self, event: Event) -> None:
        """See the class."""
        if isinstance(event, (Fact, Said)):
            self._of(event.conn).note(event)

    def resolve(self, ref: Ref) -> str | None:
        """See the class. What is no text is JSON."""
        name, _, number = ref.name.partition("@")
        return self._of(int(number or 0)).resolve(name, ref.key)


class Known:
    """What is known of one connection.

    For children: `folder`, the directory for process ids, with the key behind it; `ids`, task ids for the oldest emit
    that waits for them, new ones each time; `emitted`, the message id of the nth emit that had one. For hosts: `tuple`,
    the id of the nth tuple as it stands on the wire; `heartbeat`, known while one is unanswered; `command`, known while
    one of that name is open; `pid`, of the child; `pidDir`. `name`: a fresh text.
    """

    def __init__(self, config: Config, fresh: str) -> None:
        self._config, self._fresh = config, fresh
        self._folder: str | None = None
        self._owing = self._lists = 0
        self._emitted: list[Any] = []
        self._tuples: list[Mapping[str, Any]] = []
        self._wire: dict[int, str] = {}
        self._beats = 0
        self._command: str | None = None
        self._pid: str | None = None
        self._pid_dir: str | None = None

    def note(self, event: Fact | Said) -> None:
        """Something happened on it."""
        if isinstance(event, Fact):
            self._noted(event)
        elif isinstance(event.frame, Message):
            by_child = event.by == self._config.child
            value = event.frame.value
            if by_child:
                self._child_said(value)
            elif isinstance(value, list):
                self._owing = max(0, self._owing - 1)
            elif isinstance(value, Mapping):
                self._host_said(value)

    def _noted(self, event: Fact) -> None:
        if event.name == "folder" and isinstance(event.value, str) and event.by == self._config.role:
            self._folder = event.value
        elif event.name == "connected" and isinstance(event.value, Mapping):
            self._pid = json.dumps(event.value.get("pid"))
        elif event.name == "call" and event.by == self._config.child and event.value.get("op") == "tuple":
            self._tuples.append(event.value)

    def _child_said(self, value: Any) -> None:
        if not isinstance(value, Mapping):
            return
        command = value.get("command")
        if command == "emit":
            if wants_ids(self._config.extensions, value):
                self._owing += 1
            if value.get("id") is not None:
                self._emitted.append(value["id"])
        elif command == "sync":
            self._beats = max(0, self._beats - 1)
            self._command = None

    def _host_said(self, value: Mapping[str, Any]) -> None:
        if "pidDir" in value and isinstance(value["pidDir"], str):
            self._pid_dir = value["pidDir"]
        elif isinstance(value.get("command"), str):
            self._command = value["command"]
        elif is_heartbeat(value):
            self._beats += 1
        elif "tuple" in value and isinstance(value.get("id"), str):
            free = [n for n in range(len(self._tuples)) if n not in self._wire]
            like = [n for n in free if same(self._tuples[n].get("tuple"), value["tuple"])]
            for number in (*like, *free)[:1]:
                self._wire[number] = value["id"]

    def resolve(self, name: str, key: Any) -> str | None:
        """What is known by that name, or None."""
        if name == "name":
            return f"{self._fresh}{key}"
        if name == "folder":
            return None if self._folder is None else self._folder + (key or "")
        if name == "ids":
            return self._ids(key) if self._owing else None
        if name == "emitted":
            return json.dumps(self._emitted[key]) if key < len(self._emitted) else None
        if name == "tuple":
            return self._wire.get(key)
        if name == "heartbeat":
            return "" if self._beats else None
        if name == "command":
            return "" if self._command is not None and key in ("", 0, self._command) else None
        return self._pid if name == "pid" else self._pid_dir

    def _ids(self, key: Any) -> str:
        """A list that no other in the plan equals, apart from empty ones."""
        self._lists += 1
        first = 10 * self._lists
        kind = (key + self._lists) % 5
        count = 0 if kind == 4 else WIDE if kind == 3 and key % 7 == 6 else kind + 1
        return json.dumps(list(range(first, first + count)))


_JSON = frozenset({"ids", "emitted", "pid"})
_UNKNOWN = object()


def resolve(value: Any, memory: Memory) -> Any:
    """A frame, or what a Do says, with its Refs filled in; None while one is not known."""
    if isinstance(value, Message):
        if value.needs is not None and memory.resolve(value.needs) is None:
            return None
        filled = _value(value.value, memory)
        return None if filled is _UNKNOWN else Message(filled)
    filled = _value(value, memory)
    return None if filled is _UNKNOWN else filled


def _value(value: Any, memory: Memory) -> Any:
    kind = type(value)
    if kind is Ref:
        text = memory.resolve(value)
        if text is None:
            return _UNKNOWN
        return json.loads(text) if value.name.partition("@")[0] in _JSON else text
    if kind is dict:
        filled = {name: _value(item, memory) for name, item in value.items()}
        return _UNKNOWN if any(item is _UNKNOWN for item in filled.values()) else filled
    if kind is list:
        items = [_value(item, memory) for item in value]
        return _UNKNOWN if any(item is _UNKNOWN for item in items) else items
    return value


def configure(role: str, profile: str, facts: Mapping[str, Any], learnt: Mapping[str, Any]) -> Config:
    """The model's config; what the manifest leaves open about the child's user code was found out before."""
    scripted = facts.get("scripted")
    scripted = bool(learnt.get("scripted")) if scripted is None else bool(scripted)
    config = Config(role, frozenset(profile.split("+")) - {SEED})
    if config.hosted:
        return replace(config, timed=bool(learnt.get("timed", True)))
    return Config(role, config.extensions, scripted, learnt.get("serial"), bool(learnt.get("noted")))


def context(later: bool = True) -> dict[str, Any]:
    """A topology: task 3 is the child's, four tasks of two components are before it, the others behind it. Not `later`:
    as before 0.10."""
    tasks = {"1": "words", "2": "numbers", "3": "child", "4": "counter", "5": "__acker"}
    tasks |= {"6": "numbers", "7": "words", "9": "counter", "2147483647": "counter"}
    found: dict[str, Any] = {"task->component": tasks, "taskid": 3}
    if later:
        fields = {"default": ["tag", "value"], "second": ["tag", "value"], "third": ["tag", "value"]}
        found |= {
            "componentid": "child",
            "streams": list(fields),
            "stream->outputfields": fields,
            "stream->target->grouping": {
                "default": {"counter": {"type": "SHUFFLE"}},
                "second": {"counter": {"type": "FIELDS", "fields": ["tag"]}},
                "third": {},
            },
            "source->stream->grouping": {name: _groupings() for name in ("words", "numbers")},
            "source->stream->fields": {name: dict(SOURCES) for name in ("words", "numbers")},
        }
    return found


SOURCES: Mapping[str, list[str]] = {
    **{name: ["tag", "value"] for name in ("default", "second", "third")},
    **{f"n{count}": [f"f{n}" for n in range(count)] for count in (0, 1, 3, 4)},
}
"""Streams that the child gets tuples from, and their fields: a tuple has as many values as its stream has fields."""


def _groupings() -> dict[str, dict[str, Any]]:
    fields = {"type": "FIELDS", "fields": ["tag"]}
    return {stream: fields if stream == "default" else {"type": "SHUFFLE"} for stream in SOURCES}


def smoke(config: Config) -> Plan:
    """The least that must work before anything is judged: the handshake, and a tuple or a command."""
    if config.hosted:
        return _smoke_of_host(config)
    setup = {"conf": {"topology.name": "smoke"}, "pidDir": Ref("folder", ""), "context": context()}
    steps: list[Any] = [Control(0, "folder", "pids"), Say(0, Message(setup))]
    if config.child == "bolt":
        shape = {"id": "-6955786537413359385", "comp": "words", "stream": "default", "task": 1, "tuple": ["smoke", 1]}
        steps += [Say(0, Message(shape)), Say(0, Message(Ref("ids", 0)), upto=ANSWERS)]
    else:
        commands = ("activate", "next") if config.has("x-activate") else ("next",)
        steps += [*(Say(0, Message({"command": name})) for name in commands)]
        steps.append(Say(0, Message(Ref("ids", 0)), upto=ANSWERS))
    return Plan((*steps, Close(0, "eof")))


def _smoke_of_host(config: Config) -> Plan:
    sync = {"command": "sync"}
    steps: list[Any] = [
        Control(0, "start", {"conf": {"topology.name": "smoke"}, "context": context()}),
        Say(0, Message({"pid": Ref("pid")})),
        Say(0, Message(sync, Ref("command", "activate"))),
    ]
    if config.child == "bolt":
        call = {"op": "tuple", "id": "1", "comp": "words", "stream": "default", "task": 1, "tuple": ["smoke", 1]}
        ack = {"command": "ack", "id": Ref("tuple", 0)}
        steps += [Control(0, "call", call), Say(0, Message(ack))]
    else:
        steps += [Control(0, "call", {"op": "next"}), Say(0, Message(sync, Ref("command", "next")))]
    return Plan((*steps, Control(0, "close"), Control(0, "exit", 0)))


def beat(frame: Any) -> bool:
    """True for a heartbeat."""
    return isinstance(frame, Message) and is_heartbeat(frame.value)


def to_json(value: Any) -> Any:
    """A frame, style or Ref as JSON data."""
    if isinstance(value, Message):
        return {"message": to_json(value.value), "needs": to_json(value.needs)}
    if isinstance(value, Text):
        return {"text": value.data.hex(), "why": value.why}
    if isinstance(value, Style):
        return {"order": value.order, "escape": value.escape, "lines": value.lines, "eol": value.eol.hex()}
    return plain_to_json(value, to_json)


def from_json(data: Any) -> Any:
    """The inverse of `to_json`."""
    keys = set(data) if isinstance(data, dict) else set()
    if keys == {"message", "needs"}:
        return Message(from_json(data["message"]), from_json(data["needs"]))
    if keys == {"text", "why"}:
        return Text(bytes.fromhex(data["text"]), data["why"])
    if keys == {"order", "escape", "lines", "eol"}:
        return Style(data["order"], data["escape"], data["lines"], bytes.fromhex(data["eol"]))
    return plain_from_json(data, from_json)


protocol = Protocol(
    name="storm",
    roles={"bolt": "host", "spout": "host", "bolt-host": "bolt", "spout-host": "spout"},
    profiles=(SEED,),
    facts={"scripted": Key(bool, None, "whether the component obeys the scripts of the suite")},
    requirements=REQUIREMENTS,
    model=StormModel(),
    decoder=frames.decoder,
    encode=frames.encode,
    resolve=resolve,
    memory=StormMemory,
    configure=configure,
    describe=frames.describe,
    to_json=to_json,
    from_json=from_json,
    features=FEATURES,
    valid_profile=valid_profile,
    smoke=smoke,
    crash=PREFIX + "FRAME-01",
    wires={"bolt": "stdio", "spout": "stdio", "bolt-host": "relay", "spout-host": "relay"},
    beat=beat,
    books={role: (book,) for role, book in (CHILDREN | HOSTS).items()},
    machines={"bolt and host": BOLT_MACHINE, "spout and host": SPOUT_MACHINE},
)
