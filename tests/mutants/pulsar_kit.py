"""What the seeded faults of Pulsar are made with: their registration, and short witnesses."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from impls.references.pulsar.reference import Broker, Consumer, Reader, Session, Subscription, Topic
from specs.plan import Plan
from specs.protocol import find
from strategies.pulsar.writer import Ear, Line, Pen, Writer
from tests.mutants.record import Mutant, prefixed, seeding

ROOT = Path(__file__).resolve().parents[2]
PREFIX = "PULSAR-"
PULSAR = find("pulsar")
BROKER_FACTS: Mapping[str, Any] = tomllib.loads(
    (ROOT / "impls/references/pulsar/reference-broker-seed.toml").read_text()
)["pulsar"]
EXCLUSIVE, SHARED, FAILOVER, KEY_SHARED = range(4)

Play = Callable[[Writer], None]


def _config_of(mutant: Mutant) -> Any:
    given = {name: fact.default for name, fact in PULSAR.facts.items()}
    given |= BROKER_FACTS if mutant.role == "broker" else {}
    return PULSAR.configure(mutant.role, mutant.profile, {**given, **mutant.facts}, {})


MUTANTS: list[Mutant] = []
"""All registered faults, in the order of their modules."""
PARTS: Mapping[type, str] = {
    Session: "session_type",
    Reader: "reader_type",
    Topic: "topic_type",
    Subscription: "subscription_type",
    Consumer: "consumer_type",
}


def broker_of(part: type) -> type[Broker]:
    """A broker class made of a faulty part."""
    if issubclass(part, Broker):
        return part
    attribute = next(name for kind, name in PARTS.items() if issubclass(part, kind))
    return type("Faulty", (Broker,), {attribute: part})


def registering(
    role: str, peer_of: Callable[[type], Callable[[], Any]], requirement: str, *, history: bool = False, **more: Any
) -> Callable[..., type]:
    """What registers a faulty part. `history`: the fault shows only after something else has happened; `more` as
    `seeding` has it."""
    fixed = {"protocol": "pulsar", "config_of": _config_of, "late": history, "dies": role == "broker", "known": True}
    return seeding(MUTANTS, prefixed(PREFIX), role, peer_of, requirement, **fixed, **more)


def mutant(
    name: str,
    requirement: str,
    witness: Play,
    *,
    accept: str = "",
    level: str = "MUST",
    profile: str = "seed",
    history: bool = False,
    facts: Mapping[str, Any] | None = None,
    hurry: bool = False,
    unseen: str = "",
    **switches: Any,
) -> Callable[..., type]:
    """What registers a faulty part of a broker, which has these switches."""

    def written(config: Any) -> Plan:
        writer = Writer(config, hurry=hurry)
        witness(writer)
        return writer.plan()

    return registering(
        "broker",
        lambda part: partial(broker_of(part), profile=profile, **switches),
        requirement,
        name=name,
        witness=written,
        accept=accept,
        level=level,
        profile=profile,
        history=history,
        facts=facts or {},
        unseen=unseen,
    )


# -- the shortest ways to get somewhere --------------------------------------------------------------------------------


def ready(
    w: Writer, kind: int = EXCLUSIVE, permits: int = 100, sends: int = 0, slot: int = 0, topic: str = "t", **given: Any
) -> tuple[Line, Ear, Pen]:
    """A connection with a consumer, which has permits, and a producer, which has sent."""
    line = w.line(slot)
    ear = w.ear(line, topic, "s", kind, **given)
    if permits:
        w.flow(ear, permits)
    pen = w.pen(line, topic)
    for _ in range(sends):
        w.send(pen)
    return line, ear, pen
