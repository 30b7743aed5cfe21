"""What the manifest leaves open: whether user code does what it is told, notes it down, and is called one by one; and
whether a host takes its timeout from conf."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from specs.events import Event, Fact, Quiet, Said
from specs.plan import Plan, TooLong, Wait
from specs.storm.frames import Message
from specs.storm.states import Config
from strategies.storm import host_writer, timing
from strategies.storm.writer import Writer

Play = Callable[[Plan, Any], tuple[Any, Any]]
WAIT_MS, LONGEST_MS = 1_500, 12_000
"""How long a bolt may take to show that it goes on while an emit waits, at least and at most."""
TIMES = 5
"""That many times what its user code took to be called at all: a bolt that is slow shows it late."""
ASKED = "wireproof asks"
OWN_MS = 40_000
"""Within this time a host gives up a silent child whose timeout is its own affair: in Storm it is 30 s."""


def discover(play: Play, configure: Callable[[Mapping[str, Any]], Any]) -> Mapping[str, Any]:
    """`noted`: user code notes down what it sees. `scripted`: it does what it is told, which it shows by that unless
    the manifest says so. `serial`: a bolt calls it for one tuple after the other."""
    config: Config = configure({})
    if config.hosted:
        return {} if config.has("x-hb-timing") else {"timed": _timed(play, config)}
    events, _ = play(_ask(config), config)
    calls = {event.value.get("call") for event in events if _is_note(event)}
    found: dict[str, Any] = {"noted": bool(calls)}
    if not config.scripted:
        obeys = any(_is_told(event) for event in events)
        found["scripted"] = obeys and "initialize" in calls and bool(calls & {"process", "next"})
    if config.child == "bolt" and calls and (config.scripted or found.get("scripted")):
        with suppress(TooLong):  # what there is no time to find out is left open
            found["serial"] = _serial(play, configure(found))
    return found


def _timed(play: Play, config: Config) -> bool:
    """False when a host gives up a silent child, but later than conf says: its timeout is none that we know. Nor is it
    where there was no time to find out."""

    def gives_up(ms: int) -> bool:
        return any(_is_end(event) for event in play(_silent(config, ms), config)[0])

    try:
        return gives_up(timing.TIMEOUT_S * 1000 + timing.NOTICE_MS) or not gives_up(OWN_MS)
    except TooLong:
        return False


def _serial(play: Play, config: Config) -> bool:
    """True when user code gets no second tuple while the emit of the first waits."""
    ms = WAIT_MS
    while True:
        events, _ = play(_withheld(config, ms), config)
        calls = [at for at, event in enumerate(events) if _is_note(event) and event.value.get("call") == "process"]
        if len(calls) > 1 or ms >= LONGEST_MS:
            return len(calls) == 1
        took = sum(event.elapsed for event in events[: calls[0]] if isinstance(event, Quiet)) if calls else ms
        if ms >= TIMES * took:
            return True
        ms = min(LONGEST_MS, TIMES * took)


def _ask(config: Config) -> Plan:
    """User code is told to emit something that nobody else would."""
    told = {"op": "emit", "tuple": [ASKED, 1]}
    w = Writer(config)
    w.setup({"topology.name": "ask", "wireproof.script": [[told]]})
    if config.child == "bolt":
        w.script([told, {"op": "ack"}])
    else:
        w.command("next")
    w.lists()
    w.wait()
    return w.plan()


def _silent(config: Config, ms: int) -> Plan:
    """A child that says nothing more after its process id, or after the command."""
    w = host_writer.Writer(config)
    w.begin(timing.conf())
    if not w.bolt:
        w.call("next")
    w.wait()
    w.wait(ms)
    return w.plan()


def _withheld(config: Config, ms: int) -> Plan:
    """A tuple while the emit of another waits for task ids."""
    w = Writer(config)
    w.setup({"topology.name": "ask"})
    w.script([{"op": "emit", "tuple": ["first"]}, {"op": "ack"}])
    w.tuple(["second"])
    w.steps.append(Wait(ms))
    return w.plan()


def _is_note(event: Event) -> bool:
    return isinstance(event, Fact) and event.name == "observed" and isinstance(event.value, Mapping)


def _is_told(event: Event) -> bool:
    """What user code was told to emit."""
    frame = event.frame if isinstance(event, Said) else None
    value = frame.value if isinstance(frame, Message) else None
    return isinstance(value, Mapping) and value.get("command") == "emit" and value.get("tuple") == [ASKED, 1]


def _is_end(event: Event) -> bool:
    """A host has given up its child."""
    return isinstance(event, Fact) and event.name in ("failed", "exited", "error", "exit", "ended")
