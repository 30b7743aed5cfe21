"""Events as JSON data, both ways: what a trace file keeps, so that a conversation can be judged again later.

Everything a model may look at survives; `text` is for people and is not read back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from specs.events import Closed, Event, Fact, Noise, Quiet, Said, Trace
from specs.lag import Lagged
from specs.model import Judgement, judge
from specs.protocol import Protocol

SIGNALS: Mapping[int, str] = {1: "SIGHUP", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL",
                              11: "SIGSEGV", 13: "SIGPIPE", 15: "SIGTERM"}  # fmt: skip
"""Signals that end programs, by their numbers on Linux."""


def event_to_json(event: Event, protocol: Protocol) -> dict[str, Any]:
    """One event."""
    if isinstance(event, Quiet):
        return {"event": "quiet", "ms_quiet": event.ms, "elapsed": event.elapsed, "final": event.final}
    seen: dict[str, Any] = {"conn": event.conn, "by": event.by}
    if isinstance(event, Said):
        return seen | {"event": "said", "text": protocol.describe(event.frame), "frame": protocol.to_json(event.frame)}
    if isinstance(event, Noise):
        text = f"{event.why}: {event.data!r:.800}"
        return seen | {"event": "noise", "text": text, "why": event.why, "hex": event.data.hex()}
    if isinstance(event, Closed):
        return seen | {"event": "closed", "how": event.how}
    value = protocol.to_json(event.value)
    return seen | {"event": "fact", "name": event.name, "text": f"{event.name}: {_told(event)!s:.800}", "value": value}


def _told(fact: Fact) -> str:
    """What a fact says, for people: members that begin with "_" are handles of the plan, and an exit status below 0 is
    the number of a signal."""
    value = fact.value
    if isinstance(value, Mapping):
        value = {name: each for name, each in value.items() if not str(name).startswith("_")}
    elif fact.name == "exit" and isinstance(value, int) and value < 0:
        return f"{value} ({SIGNALS.get(-value, 'a signal')})"
    return repr(value)


def event_from_json(data: Mapping[str, Any], protocol: Protocol) -> Event:
    """The inverse. Raises KeyError, TypeError or ValueError when the data is something else."""
    kind = data["event"]
    if kind == "quiet":
        return Quiet(int(data["ms_quiet"]), int(data["elapsed"]), bool(data["final"]))
    conn, by = int(data["conn"]), str(data["by"])
    if kind == "said":
        return Said(conn, by, protocol.from_json(data["frame"]))
    if kind == "noise":
        return Noise(conn, by, bytes.fromhex(data["hex"]), str(data["why"]))
    if kind == "closed":
        return Closed(conn, by, str(data["how"]))
    if kind == "fact":
        return Fact(conn, by, str(data["name"]), protocol.from_json(data["value"]))
    raise ValueError(f"there is no event {kind!r:.60}")


def events_from_json(conversation: Iterable[Mapping[str, Any]], protocol: Protocol) -> Trace:
    """A whole conversation, as `event_from_json`."""
    return tuple(event_from_json(event, protocol) for event in conversation)


def hurried(plan: Mapping[str, Any]) -> bool:
    """True when a step of a plan in JSON does not wait for its turn."""
    return any(step.get("when", "turn") != "turn" for step in plan.get("steps", ()))


def judge_again(document: Mapping[str, Any], protocol: Protocol) -> Judgement:
    """What today's specification says of the conversation in a trace file.

    Raises KeyError, TypeError or ValueError when the file does not say enough: those written before version 2 do not
    say what had been learnt about the implementation.
    """
    if int(document.get("schema", 0)) < 2:
        raise ValueError("the trace is of version 1, which does not say what was known about the implementation")
    impl = document["impl"]
    role, profile = str(impl["role"]), str(impl["profile"])
    config = protocol.configure(role, profile, document["facts"], document["learnt"])
    model = protocol.model
    if protocol.turns and hurried(document["plan"]):
        model = Lagged(model, protocol.roles[role])
    set_aside = frozenset(map(str, document.get("set_aside", ())))
    return judge(model, config, events_from_json(document["conversation"], protocol), role, set_aside)
