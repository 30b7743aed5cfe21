"""Finding out what the text leaves to the server, before anything is judged.

Each trait is claimed in the model's config and tried; it holds when no repetition of its probe ends in a silence that
the claim does not allow. A trait that does not hold is not asked for later: nothing here can make a server fail.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from specs.events import Closed, Quiet, Said, Trace
from specs.model import Judgement
from specs.plan import Plan, Ref, Say
from specs.stomp.bundle import connect
from specs.stomp.frames import Style
from specs.stomp.states import MODEST, Config, Sizes
from strategies.stomp.writer import PLACES, Writer

VERSIONS = ("1.0", "1.1", "1.2")
MANY = 10
"""More connections than a plan has open at once."""
CROWD = 250
"""More messages than a plan leaves in a queue that nobody reads."""
Configure = Callable[[Mapping[str, Any]], Config]
Play = Callable[[Plan, Config], tuple[Trace, Judgement]]


def discover(play: Play, configure: Configure) -> Mapping[str, Any]:
    """What `configure` takes as `learnt`: supported versions, the sizes of frames and the number of connections that
    it takes, whether it folds names, and the traits of queue-like and topic-like names.

    `play` drives a plan with a config and answers the trace and its judgement.
    """
    supports = tuple(version for version in VERSIONS if _speaks(play, configure, version))
    learnt: dict[str, Any] = {"supports": supports or (configure({}).version,), "queue": {"own": False}, "topic": {}}
    learnt["stated"] = _stated(play, configure)
    learnt["sizes"] = tuple(_sizes(play, configure(learnt)))
    learnt["crowded"] = _crowded(play, configure(learnt))
    learnt["folds"] = _folds(play, configure(learnt))
    for place, family in enumerate(("queue", "topic")):
        learnt[family]["shared"] = not _refused(play(_together(configure(learnt), place), configure(learnt))[0])
    for family, trait, probes in (
        ("queue", "own", (_own_queue,) * 2),
        ("topic", "own", (_own_topic,) * 2),
        ("topic", "copies", (_copied,) * 2),
        ("queue", "keeps", (*(_kept,) * 4, _many_kept)),
        ("queue", "redelivers", (_redelivered,) * 6),
    ):
        claimed = {**learnt, family: {**learnt[family], trait: True}}
        config = configure(claimed)
        learnt[family][trait] = all(_held(play, probe(config), config) for probe in probes)
    # one that gives a single copy because a later subscription has replaced an earlier one is no case of that freedom
    learnt["topic"]["copies"] |= not _held(play, _outlived(configure(learnt)), configure(learnt))
    return learnt


def _speaks(play: Play, configure: Configure, version: str) -> bool:
    config = configure({"supports": VERSIONS})
    trace, _ = play(Plan((Say(0, connect(config, version=version), style=Style(version)),)), config)
    said = [event.frame for event in trace if isinstance(event, Said) and event.by == "server"]
    # one who takes a client that offers nothing else must speak it, whatever it says of itself
    return any(frame.command == "CONNECTED" for frame in said)


def _stated(play: Play, configure: Configure) -> str:
    """What the server says it is: the `server` header of CONNECTED, without its comments."""
    config = configure({"supports": VERSIONS})
    trace, _ = play(Plan((Say(0, connect(config), style=Style(config.version)),)), config)
    said = [event.frame.get("server") for event in trace if isinstance(event, Said) and event.by == "server"]
    return next((name.split(" ")[0] for name in said if name), "")


def _sizes(play: Play, config: Config) -> Sizes:
    """The sizes that the server takes: each of the usual ones unless it answers a SEND of that size with ERROR."""
    usual = config.sizes
    many = [(f"h{n}", "x") for n in range(usual.headers - 3)]
    long = [("long", "x" * (usual.line - 4))]
    return Sizes(
        usual.headers if _takes(play, config, many) else MODEST.headers,
        usual.line if _takes(play, config, long) else MODEST.line,
        usual.body if _takes(play, config, [], b"x" * usual.body) else MODEST.body,
    )


def _takes(play: Play, config: Config, headers: list[tuple[str, str]], body: bytes = b"x") -> bool:
    writer = Writer(config)
    line = writer.line(0)
    place = config.topic.template.replace("{name}", "sizes")
    writer.say(line, "SEND", [("destination", place), *headers, ("receipt", "size")], body)
    writer.wait()
    return not _refused(play(writer.plan(), config)[0])


def _refused(trace: Trace) -> bool:
    """True when the server ended a connection, with ERROR or without."""
    said = [event for event in trace if isinstance(event, (Closed, Said)) and event.by == "server"]
    return any(isinstance(event, Closed) or event.frame.command == "ERROR" for event in said)


def _crowded(play: Play, config: Config) -> bool:
    """True when the server refuses one of MANY connections that are open at once."""
    writer = Writer(config)
    for number in range(MANY):
        writer.line(number)
    writer.wait()
    return _refused(play(writer.plan(), config)[0])


def _folds(play: Play, config: Config) -> bool:
    """True when a message for one name comes to a subscriber of a name that differs in the case of a letter alone."""
    writer = Writer(config)
    line = writer.line(0)
    places = [Ref("odd", config.topic.template.replace("{name}", "{name}" + end)) for end in ("fold", "Fold")]
    writer.subscribe(line, places[0], receipt=writer.receipt())
    writer.send(writer.line(1), places[1], receipt=writer.receipt())
    writer.wait()
    trace, _ = play(writer.plan(), config)
    return any(event.by == "server" and event.frame.command == "MESSAGE" for event in trace if isinstance(event, Said))


def _held(play: Play, plan: Plan, config: Config) -> bool:
    trace, judgement = play(plan, config)
    return not any(isinstance(trace[blame.at], Quiet) for blame in judgement.faults)


def _own(config: Config, number: int) -> Plan:
    writer = Writer(config)
    line = writer.line(0)
    writer.subscribe(line, PLACES[number], receipt=writer.receipt())
    writer.send(line, PLACES[number], receipt=writer.receipt())
    writer.wait()
    return writer.plan()


def _together(config: Config, number: int) -> Plan:
    """Two subscriptions on one connection and one on another, all to the same destination. No id is used twice: that
    must not matter, and is judged."""
    writer = Writer(config)
    for identity, line in zip("xyz", (writer.line(0), writer.line(0), writer.line(1)), strict=True):
        writer.subscribe(line, PLACES[number], identity=identity, receipt=writer.receipt())
    writer.wait()
    return writer.plan()


def _copied(config: Config) -> Plan:
    writer = Writer(config)
    for _ in range(2):
        writer.subscribe(writer.line(0), PLACES[1], receipt=writer.receipt())
    writer.send(writer.line(1), PLACES[1], receipt=writer.receipt())
    writer.wait()
    return writer.plan()


def _outlived(config: Config) -> Plan:
    """Of two subscriptions on one connection the first is left."""
    writer = Writer(config)
    line = writer.line(0)
    writer.subscribe(line, PLACES[1], receipt=writer.receipt())
    writer.unsubscribe(line, writer.subscribe(line, PLACES[1], receipt=writer.receipt()), receipt=writer.receipt())
    writer.send(writer.line(1), PLACES[1], receipt=writer.receipt())
    writer.wait()
    return writer.plan()


def _own_queue(config: Config) -> Plan:
    return _own(config, 0)


def _own_topic(config: Config) -> Plan:
    return _own(config, 1)


def _kept(config: Config, count: int = 3) -> Plan:
    writer = Writer(config)
    for number in range(count):
        writer.send(writer.line(0), PLACES[0], receipt=writer.receipt() if number in (0, 1, count - 1) else None)
    writer.subscribe(writer.line(1), PLACES[0], receipt=writer.receipt())
    writer.wait()
    return writer.plan()


def _many_kept(config: Config) -> Plan:
    return _kept(config, CROWD)


def _redelivered(config: Config) -> Plan:
    """Deliveries that are never acknowledged, on a connection that is cut, to two subscribers after it."""
    writer = Writer(config)
    mode = "client" if config.version == "1.0" else "client-individual"
    first = writer.line(0)
    writer.subscribe(first, PLACES[0], mode, receipt=writer.receipt())
    for _ in range(5):
        writer.send(writer.line(1), PLACES[0], receipt=writer.receipt())
    writer.wait()
    writer.hang(first)
    writer.subscribe(writer.line(2), PLACES[0], receipt=writer.receipt())
    writer.wait()
    return writer.plan()
