"""What the seeded faults of KCL are made with: the record of one, its registration, the shortest ways to show one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from impls.references.kcl.child import Switches
from impls.references.kcl.host import Hosts, HostSwitches
from impls.references.kcl.memory import Children
from specs.kcl.states import PREFIX, Config
from specs.plan import Plan
from strategies.kcl import hosting
from strategies.kcl.writer import Writer
from tests.mutants.faults import named
from tests.mutants.record import Mutant, Witness, sentence

KCL_MUTANTS: list[Mutant] = []
"""All registered faults."""


def ids(text: str) -> tuple[str, ...]:
    """Full requirement ids from short ones separated by blanks."""
    return tuple(PREFIX + name for name in text.split())


def config_of(profile: str, role: str) -> Config:
    """The config that a scripted child, or a host, of a profile is judged with."""
    child = role == "child"
    return Config(profile, scripted=child, noted=child, asked=not child, decodes=child)


def child(
    name: str,
    requirement: str,
    play: Callable[[Writer], None],
    *,
    accept: str = "",
    level: str = "MUST",
    profile: str = "kcl1-seed",
    switches: Switches | None = None,
    unseen: str = "",
    smoke: bool = True,
    sessions: type | None = None,
) -> Callable[..., type]:
    """Register the decorated class as a faulty child. Its docstring explains it."""

    def witness(config: Config) -> Plan:
        w = Writer(config)
        w.initialize()
        play(w)
        w.eof()
        return w.plan()

    def register(told: Any, fault: type | None = None) -> type:
        part = named(told, fault)

        kind = sessions or Children

        def make() -> Any:
            return kind(profile, switches, part)

        _register(name, requirement, accept, make, witness, level, part, profile, "child", unseen, smoke)
        return part

    return register


def host(
    name: str,
    requirement: str,
    play: Callable[[hosting.Writer], None],
    *,
    accept: str = "",
    level: str = "MUST",
    profile: str = "kcl1-seed",
    switches: HostSwitches | None = None,
    unseen: str = "",
    smoke: bool = True,
    sessions: type | None = None,
    begun: bool = True,
) -> Callable[..., type]:
    """Register the decorated class as a faulty host. `begun`: initialize is over when the witness plays."""

    def witness(config: Config) -> Plan:
        w = hosting.Writer(config)
        if begun:
            w.begin()
            w.status()
        play(w)
        return w.plan()

    def register(told: Any, fault: type | None = None) -> type:
        part = named(told, fault)

        kind = sessions or Hosts

        def make() -> Any:
            return kind(profile, switches, part)

        _register(name, requirement, accept, make, witness, level, part, profile, "host", unseen, smoke)
        return part

    return register


def _register(
    name: str,
    requirement: str,
    accept: str,
    make: Callable[[], Any],
    witness: Witness,
    level: str,
    part: type,
    profile: str,
    role: str,
    unseen: str,
    smoke: bool,
) -> None:
    (full,) = ids(requirement)
    KCL_MUTANTS.append(
        Mutant(
            name,
            role,
            full,
            ids(accept),
            make,
            witness,
            level,
            sentence(part),
            "kcl",
            profile,
            lambda mutant: config_of(mutant.profile, mutant.role),
            unseen=unseen,
            smoke=smoke,
        )
    )


# -- the shortest ways to show a fault, to children -------------------------------------------------------------------


def nothing(w: Any) -> None:
    """initialize is enough."""


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


def both(*plays: Callable[[Any], None]) -> Callable[[Any], None]:
    """One after the other."""

    def play(w: Any) -> None:
        for one in plays:
            one(w)

    return play


CHECKPOINT = {"op": "checkpoint", "at": None}
