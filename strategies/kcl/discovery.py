"""What the manifest leaves open: whether the user code of a child does what records tell it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from specs.events import Fact
from specs.kcl.states import Config
from specs.plan import Plan
from strategies.kcl.writer import Writer

Play = Callable[[Plan, Any], tuple[Any, Any]]


def discover(play: Play, configure: Callable[[Mapping[str, Any]], Any]) -> Mapping[str, Any]:
    """`scripted`: user code notes down what it sees."""
    config: Config = configure({})
    if config.asked or config.scripted:
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


def _is_note(event: Fact) -> bool:
    return event.name == "observed" and isinstance(event.value, Mapping)
