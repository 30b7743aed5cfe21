"""What the seeded faults of STOMP clients are made with: their registration, and short witnesses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from impls.references.stomp.client import Caller, Channel, ClientWriter, ServerReader
from impls.references.stomp.client_memory import Client
from specs.plan import Plan
from specs.protocol import find
from specs.stomp.states import PREFIX
from strategies.common import Op, Program
from strategies.stomp import serving, serving_badly, serving_rhythms
from strategies.stomp.desk import HEAD, Serving
from tests.mutants.record import Mutant, Witness, prefixed, seeding

STOMP = find("stomp")
CLIENT_MUTANTS: list[Mutant] = []
"""All registered faults, in the order of their modules."""
ids = prefixed(PREFIX)
_PARTS: Mapping[type, str] = {ClientWriter: "writer_type", ServerReader: "reader_type"}


def client_of(part: type) -> type[Client]:
    """A client made of a faulty part."""
    for kind, name in _PARTS.items():
        if issubclass(part, kind):
            part = type("FaultyChannel", (Channel,), {name: part})
    if issubclass(part, Channel):
        part = type("FaultyCaller", (Caller,), {"channel_type": part})
    return type("Faulty", (Client,), {"caller_type": part})


def _config_of(mutant: Mutant) -> Any:
    return config_for(mutant.profile)


def config_for(profile: str) -> Any:
    """What the model is told of a client."""
    facts = {name: fact.default for name, fact in STOMP.facts.items()}
    return STOMP.configure("client", profile, facts, {})


def mutant(
    name: str, requirement: str, witness: Witness, accept: str = "", level: str = "MUST", *, profile: str = "1.2",
    switches: Mapping[str, Any] | None = None,
) -> Callable[..., type]:  # fmt: skip
    """Register a faulty part of a client."""
    return seeding(
        CLIENT_MUTANTS, ids, "client", lambda part: partial(client_of(part), **(switches or {})), requirement,
        accept=accept, level=level, name=name, witness=witness, protocol="stomp", profile=profile,
        config_of=_config_of, known=True,
    )  # fmt: skip


Play = Callable[[Serving], Any]


def plan(
    *plays: Play, wire: int = 0, opening: int = 0, style: int = 0, connect: Mapping[str, Any] | None = None
) -> Witness:
    """A witness from functions that write it, in a session that is opened and left."""

    def witness(config: Any) -> Plan:
        s = Serving(config, (wire, 0, opening, style))
        s.connect(**(connect or {}))
        for play in plays:
            play(s)
        s.end()
        return s.plan()

    return witness


def send(body: bytes = b"x", headers: Mapping[str, str] | None = None, **options: Any) -> Play:
    """The client sends."""
    return lambda s: s.send(body, headers, **options)


def subscribe(mode: str = "auto", place: int = 0) -> Play:
    """The client subscribes."""
    return lambda s: s.subscribe(place, mode)


def get(body: bytes = b"x", headers: Mapping[str, str] | None = None, *, mode: str = "auto", **options: Any) -> Play:
    """The client gets a message of a subscription."""
    return lambda s: s.given(s.ear(0, mode), body, list((headers or {}).items()), **options)


def settle(verb: str = "ack", mode: str = "client-individual", tx: str = "") -> Play:
    """The client gets a message and acknowledges it."""
    return lambda s: s.settle(s.ear(0, mode), verb, 0, tx)


def tell(op: str, **given: Any) -> Play:
    """The client is told something."""

    def play(s: Serving) -> None:
        s.do(op, **given)
        s.serve()

    return play


def drawn(kind: str, *args: int, wire: int = 0, opening: int = 0, style: int = 0) -> Witness:
    """One op of `strategies.stomp.serving`."""
    op = Op(kind, (*args, *(0,) * (5 - len(args))))
    return lambda config: serving.interpret(Program((wire, 0, opening, style), (op,)), config)


def chosen(which: int, style: int, *ops: Op, opening: int = 0) -> Witness:
    """A negotiation: which versions are offered, and what is chosen."""
    return lambda config: serving.negotiating(Program((0, which, opening, style), ops), config)


def beating(which: int, ours: int, how: int = 0) -> Witness:
    """A session in which time passes, with the places of what each side can do and wants."""
    return lambda config: serving_rhythms.beating(Program((which, ours, how, 8), (Op("send"),)), config)


def misuse(name: str, a: int = 0, b: int = 0, *, asks: int = 0) -> Witness:
    """One misuse by the server; `asks`: 1, the client waits for a message meanwhile; 2, it is told to send behind."""
    head = (0,) * (HEAD - 1) + (asks, 0, a, b)
    return lambda config: serving_badly.misusing(Program(head, (Op("message"),)), config, only=name)


def giant(which: int = 0) -> Witness:
    """A frame that is very large."""
    return lambda config: serving_badly.growing(Program((0,) * HEAD + (which, 0), ()), config)
