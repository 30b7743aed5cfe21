"""What the seeded faults are made with: the record of one, its registration, and the shortest ways to show one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from impls.references.stomp.reference import Broker, Frame, Malformed, Parser, Queue, Server, Session, Topic, Writer
from specs.plan import Plan, Ref, Say, SendBytes
from specs.stomp.states import PREFIX, Config
from strategies.stomp import writer as plans
from strategies.stomp.writer import PLACES, Line, Sub
from tests.mutants.record import Mutant, Witness, prefixed, seeding

QUEUE, TOPIC, QUEUE_2, TOPIC_2 = PLACES
Play = Callable[[plans.Writer], None]


MUTANTS: list[Mutant] = []
"""All registered faults, in the order of their modules."""

_PARTS: Mapping[type, str] = {
    Parser: "parser_type",
    Writer: "writer_type",
    Session: "session_type",
    Broker: "broker_type",
    Queue: "queue_type",
    Topic: "topic_type",
}
CONNECTS = ("CONNECT", "STOMP")
BROKEN_BEGIN = b"BEGIN\ntransaction:t\nreceipt:r\n"
"""What stands before a header line that is wrong."""


def frames(plan: Plan, *, connects: bool = True) -> int:
    """How many client frames a plan holds."""
    said = [step for step in plan.steps if isinstance(step, (Say, SendBytes))]
    return sum(connects or not (isinstance(step, Say) and step.frame.command in CONNECTS) for step in said)


def server_of(*parts: type) -> type[Server]:
    """A server class made of faulty parts."""
    base = next((part for part in parts if issubclass(part, Server)), Server)
    named: dict[str, Any] = {}
    for part in parts:
        for kind, attribute in _PARTS.items():
            if issubclass(part, kind):
                named[attribute] = part
    places = {name: named.pop(name) for name in ("queue_type", "topic_type") if name in named}
    if places:
        named["broker_type"] = type("FaultyBroker", (named.get("broker_type", Broker),), places)
    return type("Faulty", (base,), named)


ids = prefixed(PREFIX)


def mutant(
    name: str,
    requirement: str,
    witness: Witness,
    *,
    also: Sequence[type] = (),
    switches: Mapping[str, Any] | None = None,
    profile: str = "1.2",
    **more: Any,
) -> Callable[..., type]:
    """What registers a faulty part of a server (or a faulty server). `also` are further faulty parts, `switches` legal
    behaviour that the fault needs, `more` as `seeding` has it. Its theme is the name of the module that calls this."""

    def peer_of(part: type) -> Callable[[], Any]:
        return partial(server_of(part, *also), **(switches or {}))

    return seeding(
        MUTANTS,
        ids,
        "server",
        peer_of,
        requirement,
        name=name,
        witness=witness,
        protocol="stomp",
        profile=profile,
        config_of=lambda mutant: Config(version=mutant.profile),
        theme=sys._getframe(1).f_globals["__name__"].rpartition(".stomp_")[2],
        **more,
    )


# -- the shortest ways to show a fault ------------------------------------------------------------------------------


def plan(play: Play | None = None, *, version: str | None = None, wire: int = 0, hurry: bool = False) -> Any:
    """Turn a function that writes a plan into a witness."""

    def witness_of(play: Play) -> Witness:
        def witness(config: Config) -> Plan:
            writer = plans.Writer(config, version=version, wire=wire, hurry=hurry)
            play(writer)
            return writer.plan()

        return witness

    return witness_of if play is None else witness_of(play)


def round_trip(
    *headers: tuple[str, str],
    body: bytes = b"x",
    version: str | None = None,
    style: int = 0,
    tag: bool = True,
    mode: str = "auto",
    identity: str | None = None,
    place: Ref = QUEUE,
    ask: bool = False,
) -> Witness:
    """A message to oneself."""

    def play(w: plans.Writer) -> None:
        line = w.line()
        w.subscribe(line, place, mode, identity, receipt=w.receipt())
        w.send(line, place, body, headers, tag=tag, style=style, receipt=w.receipt() if ask else None)

    return plan(play, version=version, wire=style)


def one(
    command: str, *headers: tuple[str, Any], body: bytes = b"", version: str | None = None, style: int = 0
) -> Witness:
    """A session, and one frame that asks for a receipt."""

    def play(w: plans.Writer) -> None:
        w.say(w.line(), command, [*headers, w.receipt()], body, style=style)

    return plan(play, version=version, wire=style)


def raw(*parts: bytes | Ref, version: str | None = None) -> Witness:
    """A session, and octets."""

    def play(w: plans.Writer) -> None:
        w.blurt(w.line(), *parts)

    return plan(play, version=version)


def connecting(command: str = "CONNECT", **headers: str | None) -> Witness:
    """One CONNECT with headers changed or, for None, left out. Names are written with an underscore."""

    def play(w: plans.Writer) -> None:
        connect_with(w, w.bare(0), command, **headers)

    return plan(play)


def connect_with(w: plans.Writer, line: Line, command: str = "CONNECT", **headers: str | None) -> None:
    """Say CONNECT with headers changed or left out."""
    known: dict[str, str | None] = {"accept-version": w.version, "host": w.config.host}
    known |= {name.replace("_", "-"): value for name, value in headers.items()}
    if command == "STOMP":
        w.features.add("stomp")
    w.say(line, command, [(name, value) for name, value in known.items() if value is not None])


# -- pieces of faults --------------------------------------------------------------------------------------------------


def next_frame(parser: Parser) -> Frame | None:
    """The next complete frame, None as well when what follows is none."""
    try:
        return parser.next()
    except Malformed:
        return None


# -- pieces of plans -------------------------------------------------------------------------------------------------


def held(w: plans.Writer, mode: str = "client-individual") -> tuple[Line, Sub]:
    """A delivery that is not acknowledged, and behind it the beginning of a transaction."""
    line = w.line()
    sub = w.subscribe(line, QUEUE, mode)
    w.send(line, QUEUE)
    w.wait()
    begin(w, line)
    return line, sub


def begin(w: plans.Writer, line: Line, tx: str = "t", **options: object) -> None:
    w.say(line, "BEGIN", [("transaction", tx)], **options)  # type: ignore[arg-type]


def end(w: plans.Writer, line: Line, tx: str = "t", verb: str = "COMMIT") -> None:
    w.say(line, verb, [("transaction", tx), w.receipt()])


def within(w: plans.Writer, line: Line, tx: str = "t", place=QUEUE, **options: object) -> None:
    w.send(line, place, headers=[("transaction", tx)], **options)  # type: ignore[arg-type]


def listening(w: plans.Writer, *places: object) -> Line:
    line = w.line()
    for place in places or (QUEUE,):
        w.subscribe(line, place, receipt=w.receipt())  # type: ignore[arg-type]
    return line


def taken(w: plans.Writer, mode: str, count: int = 1, place=QUEUE, slot: int = 0) -> tuple[Line, plans.Sub]:
    """A subscription in a mode, and so many messages delivered to it."""
    line = w.line(slot)
    sub = w.subscribe(line, place, mode)
    for _ in range(count):
        w.send(line, place)
    w.wait()
    return line, sub


def collected(w: plans.Writer, line: Line, place=QUEUE) -> None:
    """The connection ends without a word, and another one takes what is left."""
    w.hang(line)
    w.subscribe(w.line(9), place, receipt=w.receipt())


def acked(mode: str, count: int, *acks: int, verb: str = "ACK", ends: bool = True):
    """Messages, acknowledgements of some of them, and perhaps a second connection that takes the rest."""

    def play(w: plans.Writer) -> None:
        line, sub = taken(w, mode, count)
        for nth in acks:
            w.acknowledge(line, sub, nth, verb=verb, receipt=w.receipt())
        if ends:
            w.wait()
            collected(w, line)

    return plan(play)
