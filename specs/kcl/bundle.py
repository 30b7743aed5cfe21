"""What KCL MultiLang hands to the other layers. See `specs.protocol.Protocol`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from specs.events import Event, Said
from specs.jsontext import plain_from_json, plain_to_json
from specs.kcl import frames
from specs.kcl.child.book import BOOK as CHILD
from specs.kcl.features import FEATURES
from specs.kcl.frames import Message, Style, Text, message
from specs.kcl.host.book import BOOK as HOST
from specs.kcl.machine import LINES_ARE_JSON, MACHINE
from specs.kcl.model import KclModel
from specs.kcl.states import REQUIREMENTS, WIRES, Config
from specs.plan import Close, Control, Plan, Ref, Say
from specs.protocol import Fact as Key
from specs.protocol import Memory, Protocol

ANSWERS = 64
"""Checkpoint requests that are answered inside one action."""


class KclMemory:
    """The open checkpoint request of each connection. `shard`: a fresh shard id; `asked`: the number that the open
    request asks for, as JSON text, and None while none is open."""

    def __init__(self, config: Config, fresh: str) -> None:
        self._fresh = fresh
        self._own = config.wire.number
        self._open: dict[int, str | None] = {}

    def note(self, event: Event) -> None:
        """Remember requests until they are answered."""
        if not isinstance(event, Said) or not isinstance(event.frame, Message):
            return
        frame = event.frame
        if event.by == "child":
            asks = frame.action == "checkpoint"
            self._open[event.conn] = json.dumps(frame.members.get(self._own)) if asks else None
        else:
            self._open[event.conn] = None

    def resolve(self, ref: Ref) -> str | None:
        """See the class."""
        if ref.name == "shard":
            return f"shardId-{self._fresh}{ref.key}"
        return self._open.get(ref.key)


def resolve(value: Any, memory: Memory) -> Any:
    """A frame, or what a Do says, with its Refs filled in; None while one is not known."""
    if isinstance(value, Message):
        return _filled(value, memory)
    if isinstance(value, Mapping):
        filled = {name: _value(item, memory) for name, item in value.items()}
        return None if any(item is _UNKNOWN for item in filled.values()) else filled
    return value


def _filled(frame: Message, memory: Memory) -> Message | None:
    for value in frame.members.values():
        if type(value) is Ref:
            break
    else:
        return frame
    filled = {name: _value(value, memory) for name, value in frame.members.items()}
    return None if any(value is _UNKNOWN for value in filled.values()) else Message(filled, frame.escaped)


_UNKNOWN = object()


def _value(value: Any, memory: Memory) -> Any:
    if type(value) is not Ref:
        return value
    text = memory.resolve(value)
    if text is None:
        return _UNKNOWN
    return text if value.name == "shard" else json.loads(text)


def configure(role: str, profile: str, facts: Mapping[str, Any], learnt: Mapping[str, Any]) -> Config:
    """The model's config; what the manifest leaves open about the child's user code was found out before."""
    scripted = facts.get("scripted")
    scripted = bool(learnt.get("scripted")) if scripted is None else bool(scripted)
    if role == "host":
        return Config(profile, asked=True, aside=bool(learnt.get("aside", True)))
    return Config(profile, scripted, scripted and bool(learnt.get("noted")), decodes=bool(facts.get("decodes")))


def initialize(config: Config, key: Any = 0) -> Message:
    """The first message of a host."""
    extra: dict[str, Any] = {"sequenceNumber": "TRIM_HORIZON", "subSequenceNumber": 0} if config.wire.rich else {}
    return message("initialize", shardId=Ref("shard", key), **extra)


def answer(config: Config, conn: int = 0, error: str | None = None) -> Message:
    """The answer to the open request, whatever its number."""
    extra: dict[str, Any] = {"subSequenceNumber": None} if config.wire.rich else {}
    return Message({"action": "checkpoint", config.wire.number: Ref("asked", conn), **extra, "error": error})


def last(config: Config, reason: str = "ZOMBIE") -> Message:
    """A final action."""
    if "shutdown" in config.wire.finals:
        return message("shutdown", reason=reason)
    return message("leaseLost" if reason == "ZOMBIE" else "shardEnded")


def smoke(config: Config) -> Plan:
    """The least that must work before anything is judged: initialize, an empty batch, the end."""
    if config.asked:
        return _smoke_of_host(config)
    extra: dict[str, Any] = {"millisBehindLatest": 0} if config.wire.rich else {}
    return Plan(
        (
            Say(0, initialize(config, "smoke")),
            Say(0, message("processRecords", records=[], **extra)),
            Say(0, answer(config), upto=ANSWERS),
            Say(0, last(config)),
            Say(0, answer(config), upto=ANSWERS),
            Close(0, "eof"),
        )
    )


def _smoke_of_host(config: Config) -> Plan:
    shard = Ref("shard", "smoke")
    final = last(config)
    return Plan(
        (
            Control(0, "start", {"shardId": shard}),
            Control(0, "call", {"op": "initialize", "shardId": shard}),
            Say(0, message("status", responseFor="initialize")),
            Control(0, "call", {"op": final.action, **{k: v for k, v in final.members.items() if k != "action"}}),
            Say(0, message("status", responseFor=final.action)),
            Control(0, "exit", 0),
        )
    )


def to_json(value: Any) -> Any:
    """A frame, style or Ref as JSON data."""
    if isinstance(value, Message):
        members = {"message": to_json(dict(value.members))}
        return {**members, "escaped": True} if value.escaped else members
    if isinstance(value, Text):
        return {"text": value.data.hex(), "why": value.why, "holds": value.holds}
    if isinstance(value, Style):
        return {"order": value.order, "escape": value.escape, "wide": value.wide, "eol": value.eol.hex()}
    return plain_to_json(value, to_json)


def from_json(data: Any) -> Any:
    """The inverse of `to_json`."""
    keys = set(data) if isinstance(data, dict) else set()
    if keys in ({"message"}, {"message", "escaped"}):
        return Message(from_json(data["message"]), bool(data.get("escaped")))
    if keys == {"text", "why", "holds"}:
        return Text(bytes.fromhex(data["text"]), data["why"], data["holds"])
    if keys == {"order", "escape", "wide", "eol"}:
        return Style(data["order"], data["escape"], data["wide"], bytes.fromhex(data["eol"]))
    return plain_from_json(data, from_json)


protocol = Protocol(
    name="kcl",
    roles={"child": "host", "host": "child"},
    profiles=tuple(WIRES),
    facts={
        "scripted": Key(bool, None, "whether the record processor obeys the scripts of the suite"),
        "decodes": Key(bool, False, "whether it is the library that decodes base64, not the record processor"),
    },
    requirements=REQUIREMENTS,
    model=KclModel(),
    decoder=frames.decoder,
    encode=frames.encode,
    resolve=resolve,
    memory=KclMemory,
    configure=configure,
    describe=frames.describe,
    to_json=to_json,
    from_json=from_json,
    features=FEATURES,
    smoke=smoke,
    crash=LINES_ARE_JSON,
    wires={"child": "stdio", "host": "relay"},
    turns=True,
    books={"child": (CHILD,), "host": (HOST,)},
    machines={"conversation": MACHINE},
    hasty=lambda config: replace(config, scripted=False, noted=False, hasty=True),
)
