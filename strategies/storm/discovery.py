"""What the manifest leaves open: whether user code does what it is told, notes it down, and is called one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from specs.events import Fact
from specs.plan import Plan, Wait
from specs.storm.states import Config
from strategies.storm.writer import Writer

Play = Callable[[Plan, Any], tuple[Any, Any]]
WAIT_MS = 400
"""How long a bolt may take to show that it goes on while an emit waits."""


def discover(play: Play, configure: Callable[[Mapping[str, Any]], Any]) -> Mapping[str, Any]:
    """`noted`: user code notes down what it sees. `scripted`: it does what it is told, which it shows by that unless
    the manifest says so. `serial`: a bolt calls it for one tuple after the other."""
    config: Config = configure({})
    if config.hosted:
        return {}
    events, _ = play(_ask(config), config)
    calls = {event.value.get("call") for event in events if _is_note(event)}
    found: dict[str, Any] = {"noted": bool(calls)}
    if not config.scripted:
        found["scripted"] = "initialize" in calls and bool(calls & {"process", "next"})
    if config.child == "bolt" and calls and (config.scripted or found.get("scripted")):
        events, _ = play(_withheld(config), configure(found))
        found["serial"] = sum(event.value.get("call") == "process" for event in events if _is_note(event)) == 1
    return found


def _ask(config: Config) -> Plan:
    w = Writer(config)
    w.setup({"topology.name": "ask"})
    if config.child == "bolt":
        w.tuple(["ask"])
    else:
        w.command("next")
    w.lists()
    w.wait()
    return w.plan()


def _withheld(config: Config) -> Plan:
    """A tuple while the emit of another waits for task ids."""
    w = Writer(config)
    w.setup({"topology.name": "ask"})
    w.script([{"op": "emit", "tuple": ["first"]}, {"op": "ack"}])
    w.tuple(["second"])
    w.steps.append(Wait(WAIT_MS))
    return w.plan()


def _is_note(event: Any) -> bool:
    return isinstance(event, Fact) and event.name == "observed" and isinstance(event.value, Mapping)
