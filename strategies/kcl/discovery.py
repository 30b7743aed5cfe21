"""What the manifest leaves open: whether the user code of a child does what records tell it, and whether the test
program of a host can be told something while a call is open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from specs.events import Fact
from specs.kcl.states import Config
from specs.plan import Plan
from strategies.kcl.hosting import Writer as Host
from strategies.kcl.writer import Writer

Play = Callable[[Plan, Any], tuple[Any, Any]]


def discover(play: Play, configure: Callable[[Mapping[str, Any]], Any]) -> Mapping[str, Any]:
    """`scripted`: user code notes down what it sees. `aside`: a request is answered before the open call is over."""
    config: Config = configure({})
    if config.asked:
        return {"aside": _aside(play, config)}
    if config.scripted:
        return {}
    w = Writer(config)
    w.initialize("ask")
    w.batch([w.record(b"{}")])
    w.answers()
    w.final("ZOMBIE")
    w.eof()
    events, _ = play(w.plan(), config)
    calls = {event.value.get("call") for event in events if isinstance(event, Fact) and _is_note(event)}
    return {"scripted": {"initialize", "processRecords"} <= calls}


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


def _is_note(event: Fact) -> bool:
    return event.name == "observed" and isinstance(event.value, Mapping)
