"""Finding out what the text leaves to the server, before anything is judged.

Each trait is claimed in the model's config and tried; it holds when no repetition of its probe ends in a silence that
the claim does not allow. A trait that does not hold is not asked for later: nothing here can make a server fail.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from specs.events import Closed, Quiet, Said, Trace
from specs.model import Judgement
from specs.plan import Plan, Ref, Say, TooLong, Wait
from specs.stomp.bundle import connect
from specs.stomp.frames import Style
from specs.stomp.server.scarce import CONNECTIONS
from specs.stomp.states import FEWEST, MODEST, Config, Sizes
from strategies.stomp.writer import PLACES, Writer

VERSIONS = ("1.0", "1.1", "1.2")
ASKED = 3
"""How often a silent server is asked whether it speaks a version: it may only have been busy."""
SESSIONS = 100
"""More connections than conversations beside each other have open at once, those that have just ended among them."""
RESTS_MS = (100, 300, 900)
"""How long a server that takes few connections rests each time before it is asked once more what it has refused: it may
still count those that have ended. Others rest for the first of these."""
FAMILIES = ("queue", "topic")
CROWD = 250
"""More messages than a plan leaves in a queue that nobody reads."""
Configure = Callable[[Mapping[str, Any]], Config]
Play = Callable[[Plan, Config], tuple[Trace, Judgement]]


def discover(play: Play, configure: Configure) -> Mapping[str, Any]:
    """What `configure` takes as `learnt`: supported versions, the sizes of frames and the number of connections that it
    takes, which names are one to it, and the traits of queue-like and topic-like names. `room`: for how many
    conversations at once it has connections, where these are few.

    `play` drives a plan with a config and answers the trace and its judgement.
    """
    if configure({}).role == "client":
        return {}  # what a client does not offer it says when it is told to
    learnt: dict[str, Any] = {"supports": (configure({}).version,)}
    learnt |= {family: {"own": False} for family in FAMILIES}
    places = _places(play, configure(learnt))
    play = _rested(play, RESTS_MS if places < SESSIONS else RESTS_MS[:1])
    supports = tuple(version for version in VERSIONS if _speaks(play, configure, version))
    learnt["supports"] = supports or learnt["supports"]
    learnt["stated"] = _stated(play, configure)
    learnt["crowded"] = places < CONNECTIONS and _crowded(play, configure(learnt))
    if places < SESSIONS:
        places = 0 if learnt["crowded"] else max(places, CONNECTIONS)
        learnt |= {"places": places, "room": places // (2 * CONNECTIONS)}
    learnt["sizes"] = tuple(_sizes(play, configure(learnt)))
    learnt |= _alike(play, configure, learnt)
    fanouts = _fan_out(play, configure(learnt))
    for place, family in enumerate(FAMILIES):
        learnt[family]["fanout"] = fanouts[place]
        learnt[family]["shared"] = shared(play, configure(learnt), place)
        for trait, probes in (_OF_TOPICS if fanouts[place] else _OF_QUEUES).items():
            config = configure({**learnt, family: {**learnt[family], trait: True}})
            learnt[family][trait] = all(_held(play, probe(config, place), config) for probe in probes)
        if fanouts[place]:
            # one that gives a single copy because a later subscription has replaced an earlier one is no case of that
            config = configure(learnt)
            learnt[family]["copies"] |= not _held(play, _outlived(config, place), config)
    return learnt


def _speaks(play: Play, configure: Configure, version: str) -> bool:
    """True unless the server refuses a client that offers nothing else; one that takes it must speak the version,
    whatever it says of itself, and one that was silent each time has refused nothing."""
    config = configure({"supports": VERSIONS})
    for _ in range(ASKED):
        trace, _ = play(Plan((Say(0, connect(config, version=version), style=Style(version)),)), config)
        said = [event.frame for event in trace if isinstance(event, Said) and event.by == "server"]
        if any(frame.command == "CONNECTED" for frame in said):
            return True
        if _refused(trace):
            return False
    return True


def _stated(play: Play, configure: Configure) -> str:
    """What the server says it is: the `server` header of CONNECTED, without its comments."""
    config = configure({"supports": VERSIONS})
    trace, _ = play(Plan((Say(0, connect(config), style=Style(config.version)),)), config)
    said = [event.frame.get("server") for event in trace if isinstance(event, Said) and event.by == "server"]
    return next((name.split(" ")[0] for name in said if name), "")


def _sizes(play: Play, config: Config) -> Sizes:
    """The sizes that the server takes: each of the usual ones unless it answers a SEND of that size with ERROR. Of the
    bodies a smaller one is tried then, and if that is refused as well, one of very few octets is taken for granted."""
    usual = config.sizes
    bodies = (size for size in (usual.body, MODEST.body) if _takes(play, config, [], b"x" * size))
    many = [(f"h{n}", "x") for n in range(usual.headers - 3)]
    long = [("long", "x" * (usual.line - 4))]
    return Sizes(
        usual.headers if _takes(play, config, many) else MODEST.headers,
        usual.line if _takes(play, config, long) else MODEST.line,
        next(bodies, FEWEST),
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


def _turned_away(trace: Trace) -> bool:
    """True when the server ended a connection on which it had not said CONNECTED."""
    greeted: set[int] = set()
    for event in trace:
        if isinstance(event, Said) and event.by == "server" and event.frame.command == "CONNECTED":
            greeted.add(event.conn)
        elif isinstance(event, Closed) and event.by == "server" and event.conn not in greeted:
            return True
    return False


def _crowded(play: Play, config: Config) -> bool:
    """True when the server refuses one of CONNECTIONS that are open at once."""
    writer = Writer(config)
    for number in range(CONNECTIONS):
        writer.line(number)
    writer.wait()
    return _refused(play(writer.plan(), config)[0])


def _places(play: Play, config: Config) -> int:
    """How many of SESSIONS that are open at once a server takes, and neither refuses nor lets wait. It may count those
    for some time that have ended."""
    writer = Writer(config, hurry=True)
    for number in range(SESSIONS):
        writer.connect(number, early=True)
    writer.wait()
    trace, _ = play(writer.plan(), config)
    return sum(isinstance(event, Said) and event.frame.command == "CONNECTED" for event in trace)


def _rested(play: Play, rests_ms: Sequence[int]) -> Play:
    """Ask again, after each of the rests and if there is time, what was refused: a server that takes few connections
    may still count some that have ended, and has then refused no version and no destination."""

    def patient(plan: Plan, config: Config) -> tuple[Trace, Judgement]:
        found = play(plan, config)
        with suppress(TooLong):
            for ms in rests_ms:
                if not _turned_away(found[0]):
                    break
                found = play(replace(plan, steps=(Wait(ms), *plan.steps)), config)
        return found

    return patient


def _alike(play: Play, configure: Configure, learnt: Mapping[str, Any]) -> dict[str, bool]:
    """Which names are one to the server: a message for the second of a pair comes to a subscriber of the first.

    Nobody owes that message. One for the first name is sent behind it: when that has come, so has the other, since
    both are for one destination if the names are one. Each pair is sent to on a connection of its own, since the server
    may refuse the second name; one that takes few connections is asked about one pair at a time.
    """
    config = configure(learnt)
    topic, queue = config.topic.template, config.queue.template
    fold, behind, before = (topic.replace("{name}", "{name}" + end) for end in ("fold", "behind", "before"))
    pairs = [
        ("folds", fold, topic.replace("{name}", "{name}Fold")),
        ("trims", behind, behind + " "),
        ("trims", before, " " + before),
        ("merges", topic, queue),
    ]
    came: set[bytes] = set()
    for some in [[pair] for pair in pairs] if learnt["crowded"] else [pairs]:
        writer = Writer(config)
        lines = [writer.line(slot) for slot in range(len(some) + 1)]
        for _, first, _ in some:
            writer.subscribe(lines[0], Ref("odd", first), receipt=writer.receipt())
        for line, (trait, first, second) in zip(lines[1:], some, strict=True):
            writer.send(line, Ref("odd", second), trait.encode(), receipt=writer.receipt())
            writer.send(line, Ref("odd", first), receipt=writer.receipt())
        writer.wait()
        came |= {body for body, _ in _messages(play(writer.plan(), config)[0])}
    return {trait: trait.encode() in came for trait, _, _ in pairs}


def _messages(trace: Trace) -> list[tuple[bytes, int]]:
    """The body and the connection of each MESSAGE."""
    said = [event for event in trace if isinstance(event, Said) and event.by == "server"]
    return [(event.frame.body, event.conn) for event in said if event.frame.command == "MESSAGE"]


def _fan_out(play: Play, config: Config) -> tuple[bool, bool]:
    """Whether each of several subscribers gets a message, for queue-like and for topic-like names.

    What is declared counts, unless the server offers one kind of destination only: one family is seen to do each time
    what the other one is declared to do, and is like it in whether a message waits for a subscriber.
    """
    every = replace(config, queue=replace(config.queue, fanout=True))
    odd = [copies(play, every, 0) == {2}, copies(play, every, 1) == {1}]
    if any(odd):
        waits = [bool(_messages(play(_kept(every, place), every)[0])) for place in (0, 1)]
        odd = [each and waits[0] == waits[1] for each in odd]
    return odd[0], not odd[1]


def copies(play: Play, config: Config, place: int) -> set[int]:
    """How many of two subscribers got a message, over two tries of three messages."""
    found: set[int] = set()
    for _ in range(2):
        writer = Writer(config)
        for number in (0, 1):
            writer.subscribe(writer.line(number), PLACES[place], receipt=writer.receipt())
        bodies = [b"first", b"second", b"third"]
        for body in bodies:
            writer.send(writer.line(2), PLACES[place], body, when="now")
        writer.wait()
        came = set(_messages(play(writer.plan(), config)[0]))
        found |= {sum(body == each for each, _ in came) for body in bodies}
        if len(found) > 1:
            break
    return found


def shared(play: Play, config: Config, place: int) -> bool:
    """True when several may subscribe to one destination at a time."""
    return not _refused(play(_together(config, place), config)[0])


def _held(play: Play, plan: Plan, config: Config) -> bool:
    trace, judgement = play(plan, config)
    return not any(isinstance(trace[blame.at], Quiet) for blame in judgement.faults)


def own(config: Config, number: int) -> Plan:
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


def _copied(config: Config, place: int) -> Plan:
    writer = Writer(config)
    for _ in range(2):
        writer.subscribe(writer.line(0), PLACES[place], receipt=writer.receipt())
    writer.send(writer.line(1), PLACES[place], receipt=writer.receipt())
    writer.wait()
    return writer.plan()


def _outlived(config: Config, place: int) -> Plan:
    """Of two subscriptions on one connection the first is left."""
    writer = Writer(config)
    line = writer.line(0)
    writer.subscribe(line, PLACES[place], receipt=writer.receipt())
    writer.unsubscribe(line, writer.subscribe(line, PLACES[place], receipt=writer.receipt()), receipt=writer.receipt())
    writer.send(writer.line(1), PLACES[place], receipt=writer.receipt())
    writer.wait()
    return writer.plan()


def _kept(config: Config, place: int, count: int = 3) -> Plan:
    writer = Writer(config)
    for number in range(count):
        writer.send(writer.line(0), PLACES[place], receipt=writer.receipt() if number in (0, 1, count - 1) else None)
    writer.subscribe(writer.line(1), PLACES[place], receipt=writer.receipt())
    writer.wait()
    return writer.plan()


def _many_kept(config: Config, place: int) -> Plan:
    return _kept(config, place, CROWD)


def _redelivered(config: Config, place: int) -> Plan:
    """Deliveries that are never acknowledged, on a connection that is cut, to two subscribers after it."""
    writer = Writer(config)
    mode = "client" if config.version == "1.0" else "client-individual"
    first = writer.line(0)
    writer.subscribe(first, PLACES[place], mode, receipt=writer.receipt())
    for _ in range(5):
        writer.send(writer.line(1), PLACES[place], receipt=writer.receipt())
    writer.wait()
    writer.hang(first)
    writer.subscribe(writer.line(2), PLACES[place], receipt=writer.receipt())
    writer.wait()
    return writer.plan()


_OF_QUEUES = {"own": (own,) * 2, "keeps": (*(_kept,) * 4, _many_kept), "redelivers": (_redelivered,) * 6}
_OF_TOPICS = {"own": (own,) * 2, "copies": (_copied,) * 2}
"""The traits of each kind of destination, and the probes in which each must show."""
