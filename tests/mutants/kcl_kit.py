"""What the seeded faults of KCL are made with: their registration, the shortest ways to show one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from impls.references.kcl.child import Switches
from impls.references.kcl.host import Hosts, HostSwitches
from impls.references.kcl.memory import Children
from specs.kcl.states import PREFIX, Config
from specs.plan import Plan
from strategies.kcl import hosting
from strategies.kcl.writer import Writer
from tests.mutants.record import Mutant, both, nothing, prefixed, seeding

__all__ = ["both", "nothing"]

KCL_MUTANTS: list[Mutant] = []
"""All registered faults."""


def config_of(profile: str, role: str) -> Config:
    """The config that a scripted child, or a host, of a profile is judged with."""
    child = role == "child"
    return Config(profile, scripted=child, noted=child, asked=not child, decodes=child)


def child(
    name: str,
    requirement: str,
    play: Callable[[Writer], None],
    *,
    profile: str = "kcl1-seed",
    switches: Switches | None = None,
    sessions: type = Children,
    **more: Any,
) -> Callable[..., type]:
    """What registers a faulty child; `more` as `seeding` has it."""

    def witness(config: Config) -> Plan:
        w = Writer(config)
        w.initialize()
        play(w)
        w.eof()
        return w.plan()

    def peer_of(part: type) -> Callable[[], Any]:
        return partial(sessions, profile, switches, part)

    return seeding(
        KCL_MUTANTS,
        prefixed(PREFIX),
        "child",
        peer_of,
        requirement,
        name=name,
        witness=witness,
        profile=profile,
        **KCL,
        **more,
    )


def host(
    name: str,
    requirement: str,
    play: Callable[[hosting.Writer], None],
    *,
    profile: str = "kcl1-seed",
    switches: HostSwitches | None = None,
    sessions: type = Hosts,
    begun: bool = True,
    **more: Any,
) -> Callable[..., type]:
    """What registers a faulty host. `begun`: initialize is over when the witness plays; `more` as `seeding` has it."""

    def witness(config: Config) -> Plan:
        w = hosting.Writer(config)
        if begun:
            w.begin()
            w.status()
        play(w)
        return w.plan()

    def peer_of(part: type) -> Callable[[], Any]:
        return partial(sessions, profile, switches, part)

    return seeding(
        KCL_MUTANTS,
        prefixed(PREFIX),
        "host",
        peer_of,
        requirement,
        name=name,
        witness=witness,
        profile=profile,
        **KCL,
        **more,
    )


KCL: Mapping[str, Any] = {"protocol": "kcl", "config_of": lambda mutant: config_of(mutant.profile, mutant.role)}


# -- the shortest ways to show a fault, to children -------------------------------------------------------------------


def batch(*data: bytes, key: str = "key") -> Callable[[Writer], None]:
    """One batch with records of these octets."""

    def play(w: Writer) -> None:
        w.batch([w.record(octets, key) for octets in data])
        w.answers()

    return play


def told(*steps: dict[str, Any], errors: tuple[str | None, ...] = (), times: int = 1) -> Callable[[Writer], None]:
    """One batch that tells user code what to do, so many times."""

    def play(w: Writer) -> None:
        for _ in range(times):
            w.batch([w.script(steps)])
            w.answers(errors)

    return play


def ending(reason: str = "ZOMBIE", *, after: Callable[[Writer], None] = nothing) -> Callable[[Writer], None]:
    """The final action."""

    def play(w: Writer) -> None:
        after(w)
        w.final(reason)

    return play


CHECKPOINT = {"op": "checkpoint", "at": None}
