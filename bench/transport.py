"""What the benches play with: the reference server in memory, as the suites see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from impls.driver.drive import Setting
from impls.driver.link import MemoryTransport
from impls.references.stomp.reference import Server
from specs.protocol import find
from specs.stomp.states import Config
from strategies.common import Program

STOMP = find("stomp")
LEARNT = {
    "supports": ("1.0", "1.1", "1.2"),
    "queue": {"keeps": True, "redelivers": True},
    "topic": {"own": True},
}
"""What discovery finds out about the reference."""


def config() -> Config:
    """The model's config for the reference."""
    facts = {name: fact.default for name, fact in STOMP.facts.items()}
    made: Config = STOMP.configure("server", "1.2", facts, LEARNT)
    return made


def setting(make: Callable[[], Any] = Server) -> Setting:
    """A fresh server in memory, and how plans are driven against it."""
    return Setting(STOMP, config(), "server", MemoryTransport(make))


def quick(examples: int) -> settings:
    """Generation only: no database, no deadline, no shrinking."""
    return settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def drawn(programs: SearchStrategy[Program], examples: int, number: int) -> list[Program]:
    """Programs as a hunt draws them."""
    found: list[Program] = []

    @quick(examples)
    @seed(number)
    @given(programs)
    def draw(program: Program) -> None:
        found.append(program)

    draw()
    return found
