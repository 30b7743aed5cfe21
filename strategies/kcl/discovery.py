"""What the manifest leaves open: whether the user code of a child does what records tell it, and notes down what it
sees; and whether the test program of a host can be told something while a call is open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from specs.events import Event, Fact, Said
from specs.kcl.frames import Message
from specs.kcl.states import Config
from specs.plan import Plan
from strategies.kcl.hosting import Writer as Host
from strategies.kcl.writer import Writer

Play = Callable[[Plan, Any], tuple[Any, Any]]


def discover(play: Play, configure: Callable[[Mapping[str, Any]], Any]) -> Mapping[str, Any]:
    """`scripted`: user code does what it is told, which it shows by that unless the manifest says so; `noted`: it notes
    down what it sees. `aside`: a request is answered before the open call is over."""
    config: Config = configure({})
    if config.asked:
        return {"aside": _aside(play, config)}
    w = Writer(config)
    told = _one_of(w)
    events, _ = play(w.plan(), config)
    calls = {event.value.get("call") for event in events if isinstance(event, Fact) and _is_note(event)}
    found = {"noted": {"initialize", "processRecords"} <= calls}
    if not config.scripted:
        asked = [frame.members.get(config.wire.number) for frame in map(_request, events) if frame is not None]
        found["scripted"] = found["noted"] and asked == [told]
    return found


def _one_of(w: Writer) -> str:
    """User code is told to checkpoint at the second of three records and no other, which it would not do of its own
    accord. Answers that number."""
    w.initialize("ask")
    records = [w.record(b"first"), w.record(b"second")]
    told = str(records[1]["sequenceNumber"])
    w.batch([*records, w.script([{"op": "checkpoint", "at": told}])])
    w.answers()
    w.final("ZOMBIE")
    w.eof()
    return told


def _aside(play: Play, config: Config) -> bool:
    h = Host(config)
    h.begin("ask")
    h.status()
    h.batch([(b"data", "key")])
    h.wait()
    h.checkpointer("ThrottlingException")
    h.wait()
    h.status()
    h.final("ZOMBIE")
    h.status()
    h.exit()
    events, _ = play(h.plan(), config)
    answers = (event.value for event in events if isinstance(event, Fact) and event.name == "answer")
    return any(isinstance(value, Mapping) and value.get("op") == "checkpointer" for value in answers)


def _request(event: Event) -> Message | None:
    """A request for a checkpoint."""
    frame = event.frame if isinstance(event, Said) and event.by == "child" else None
    return frame if isinstance(frame, Message) and frame.action == "checkpoint" else None


def _is_note(event: Fact) -> bool:
    return event.name == "observed" and isinstance(event.value, Mapping)
