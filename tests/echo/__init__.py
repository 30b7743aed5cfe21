"""ECHO, a miniature protocol that is added to the house for the length of a test, as docs/add-a-protocol.md tells."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import impls.references
import specs
import strategies
from impls.driver.drive import Recording, Setting, drive
from impls.driver.link import MemoryTransport
from specs.events import Said
from specs.lag import Lagged
from specs.plan import Plan

HERE = Path(__file__).resolve().parent


@contextlib.contextmanager
def joined() -> Iterator[SimpleNamespace]:
    """The miniature's folders stand beside those of the house; afterwards no trace of them is left."""
    layers = (specs, strategies, impls.references)
    for layer in layers:
        layer.__path__.append(str(HERE / layer.__name__.replace(".", "/")))
    try:
        yield SimpleNamespace(
            protocol=importlib.import_module("specs.protocol").find("echo"),
            frames=importlib.import_module("specs.echo.frames"),
            machine=importlib.import_module("specs.echo.machine"),
            states=importlib.import_module("specs.echo.states"),
            plans=importlib.import_module("strategies.echo"),
            reference=importlib.import_module("impls.references.echo.reference"),
            mutants=importlib.import_module("impls.references.echo.mutants"),
        )
    finally:
        for layer in layers:
            layer.__path__.remove(str(HERE / layer.__name__.replace(".", "/")))
            vars(layer).pop("echo", None)
        for name in [
            name for name in sys.modules if name.startswith(tuple(f"{layer.__name__}.echo" for layer in layers))
        ]:
            del sys.modules[name]


def setting(house: SimpleNamespace, role: str, make: Callable[[], Any], *, lagged: bool = False) -> Setting:
    """`make()` is judged in `role`, by the plain model or by the one for pipelined plans."""
    protocol = house.protocol
    config = protocol.configure(role, "1", {"puts": 3}, {})
    if lagged:
        protocol = replace(protocol, model=Lagged(protocol.model, protocol.roles[role]))
    return Setting(protocol, config, role, MemoryTransport(make), patience_ms=200.0)


def play(house: SimpleNamespace, role: str, make: Callable[[], Any], program: Any, *, hurry: bool = False) -> Recording:
    """Lock-step is judged by the plain model, pipelined by `Lagged`."""
    where = setting(house, role, make, lagged=hurry)
    plan: Plan = house.plans.interpret(program, where.config, hurry=hurry)
    return drive(plan, where, "q")


def play_in_memory(house: SimpleNamespace, make: Callable[[], Any], *steps: Any, **more: Any) -> Recording:
    """These steps against the server that `make()` makes; `more` are other fields of the setting."""
    return drive(Plan(steps), replace(setting(house, "server", make), **more), "q")


def requirements(played: Recording) -> list[str]:
    """What is blamed."""
    return [blame.breach.requirement for blame in played.judgement.blamed]


def shape(played: Recording) -> list[str]:
    """Events in short."""
    return [
        f"{event.by} {event.frame.word} {event.frame.name}".strip() if isinstance(event, Said) else type(event).__name__
        for event in played.events
    ]
