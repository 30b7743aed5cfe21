"""What the seeded faults of a client are made with: registration, and short witnesses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from impls.references.pulsar.channel import Channel
from impls.references.pulsar.client import Caller
from impls.references.pulsar.client_memory import Client
from impls.references.pulsar.receiving import PartitionedReceiver, Receiver
from impls.references.pulsar.sending import PartitionedSender, Sender
from specs.plan import Plan
from strategies.common import Op, Program
from strategies.pulsar import oddities, serving, serving_scenes
from tests.mutants.pulsar_client_programs import PROGRAMS
from tests.mutants.pulsar_kit import registering


def client_of(part: type) -> type[Client]:
    """A client class made of a faulty part."""
    named: dict[str, Any] = {}
    if issubclass(part, Client):
        return part
    if issubclass(part, Caller):
        caller = part
    else:
        if issubclass(part, Channel):
            named = {"channel_type": part}
        elif issubclass(part, Sender):
            named = {"sender_type": type("FaultySender", (PartitionedSender,), {"sender_type": part})}
        elif issubclass(part, Receiver):
            named = {"receiver_type": type("FaultyReceiver", (PartitionedReceiver,), {"receiver_type": part})}
        elif issubclass(part, PartitionedSender):
            named = {"sender_type": part}
        elif issubclass(part, PartitionedReceiver):
            named = {"receiver_type": part}
        caller = type("FaultyCaller", (Caller,), named)
    return type("Faulty", (Client,), {"caller_type": caller})


def written(kind: str, head: tuple[int, ...], *ops: tuple[Any, ...]) -> Callable[[Any], Plan]:
    """A witness: one of the suites' interpreters, and the program that it is given."""
    program = Program(head, tuple(Op(name, tuple(args)) for name, *args in ops))
    scenes = {"scene": serving_scenes.interpret}
    interpret = scenes.get(kind) or getattr(serving, kind, None) or getattr(oddities, kind)
    return lambda config: interpret(program, config)


def client(
    name: str,
    requirement: str,
    *,
    accept: str = "",
    level: str = "MUST",
    profile: str = "modern",
    history: bool = False,
    unseen: str = "",
    facts: Mapping[str, Any] | None = None,
    program: tuple[Any, ...] = (),
    **switches: Any,
) -> Callable[..., type]:
    """What registers a faulty part of a client, which has these switches. `program` shows the fault, where it does not
    stand in `PROGRAMS`."""
    return registering(
        "client",
        lambda part: partial(client_of(part), profile=profile, **switches),
        requirement,
        name=name,
        witness=written(*(program or PROGRAMS.get(name, ("interpret", (0, 0, 0))))),
        accept=accept,
        level=level,
        profile=profile,
        history=history,
        facts=facts or {},
        unseen=unseen,
    )
