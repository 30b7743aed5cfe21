"""What the seeded faults of Storm are made with: the record of one, its registration, the shortest ways to show one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from impls.references.storm.child import Bolt, Spout
from impls.references.storm.freedoms import Switches
from impls.references.storm.host import HostSwitches
from impls.references.storm.host_memory import Hosts
from impls.references.storm.hosts import BoltHost
from impls.references.storm.memory import Children
from specs.plan import Plan, Ref
from specs.storm.bundle import configure
from specs.storm.states import PREFIX, SEED, Config
from strategies.storm import hosting
from strategies.storm.writer import Writer
from tests.mutants.faults import named
from tests.mutants.record import Mutant, Witness, sentence

STORM_MUTANTS: list[Mutant] = []
"""All registered faults."""


def ids(text: str) -> tuple[str, ...]:
    """Full requirement ids from short ones separated by blanks."""
    return tuple(PREFIX + name for name in text.split())


def config_of(profile: str, role: str) -> Config:
    """The config that a scripted child, or a host, of a profile is judged with."""
    return configure(role, profile, {"scripted": True}, {"serial": True, "noted": True})


def child(
    name: str,
    requirement: str,
    play: Callable[[Writer], None],
    *,
    accept: str = "",
    level: str = "MUST",
    ext: str = "",
    switches: Switches | None = None,
    smoke: bool = True,
    conf: dict[str, Any] | None = None,
    later: bool = True,
    sessions: type | None = None,
    unseen: str = "",
    bare: bool = False,
) -> Callable[..., type]:
    """Register the decorated class as a faulty bolt or spout. Its docstring explains it. `bare`: the witness does its
    own setup and end."""
    profile = f"{SEED}+{ext}" if ext else SEED

    def witness(config: Config) -> Plan:
        w = Writer(config)
        if not bare:
            w.setup(conf, later=later)
        play(w)
        if not bare:
            w.wait()
            w.eof()
        return w.plan()

    def register(told: Any, fault: type | None = None) -> type:
        part = named(told, fault)

        def make() -> Any:
            return (sessions or Children)(part, frozenset(ext.split("+")) - {""}, switches)

        role = "bolt" if issubclass(part, Bolt) else "spout"
        assert issubclass(part, (Bolt, Spout))
        _register(name, requirement, accept, make, witness, level, part, profile, role, smoke, unseen)
        return part

    return register


def host(
    name: str,
    requirement: str,
    play: Callable[[hosting.Writer], None],
    *,
    accept: str = "",
    level: str = "MUST",
    ext: str = "",
    switches: HostSwitches | None = None,
    smoke: bool = True,
    conf: dict[str, Any] | None = None,
    bare: bool = False,
    unseen: str = "",
) -> Callable[..., type]:
    """Register the decorated class as a faulty host."""
    profile = f"{SEED}+{ext}" if ext else SEED

    def witness(config: Config) -> Plan:
        w = hosting.Writer(config)
        if not bare:
            w.begin(conf)
        play(w)
        w.wait()
        return w.plan()

    def register(told: Any, fault: type | None = None) -> type:
        part = named(told, fault)

        def make() -> Any:
            return Hosts(part, frozenset(ext.split("+")) - {""}, switches)

        role = "bolt-host" if issubclass(part, BoltHost) else "spout-host"
        _register(name, requirement, accept, make, witness, level, part, profile, role, smoke, unseen)
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
    smoke: bool,
    unseen: str,
) -> None:
    (full,) = ids(requirement)
    STORM_MUTANTS.append(
        Mutant(
            name,
            role,
            full,
            ids(accept),
            make,
            witness,
            level,
            sentence(part),
            "storm",
            profile,
            lambda mutant: config_of(mutant.profile, mutant.role),
            unseen=unseen,
            smoke=smoke,
        )
    )


# -- the shortest ways to show a fault --------------------------------------------------------------------------------


def nothing(w: Any) -> None:
    """The handshake is enough."""


def both(*plays: Callable[[Any], None]) -> Callable[[Any], None]:
    """One after the other."""

    def play(w: Any) -> None:
        for one in plays:
            one(w)

    return play


def plain(*values: Any, **more: Any) -> Callable[[Writer], None]:
    """An ordinary tuple."""

    def play(w: Writer) -> None:
        w.tuple(list(values), **more)
        w.lists()

    return play


def told(*steps: dict[str, Any]) -> Callable[[Writer], None]:
    """A tuple that tells user code what to do."""

    def play(w: Writer) -> None:
        w.script(list(steps))
        w.lists()

    return play


def beat(w: Writer) -> None:
    """A heartbeat."""
    w.heartbeat()


def emit(*values: Any, **more: Any) -> dict[str, Any]:
    """The step of an emit."""
    return {"op": "emit", "tuple": ["tag", *values], **more}


ACK = {"op": "ack"}
FAIL = {"op": "fail"}
RAISE = {"op": "raise"}


def settle(op: str, nth: int) -> dict[str, Any]:
    """The step that settles the tuple with the nth id."""
    from strategies.storm import texts  # noqa: PLC0415

    return {"op": op, "id": texts.tuple_id(nth)}


def following(*steps: str, **ids_of: Any) -> Callable[[Writer], None]:
    """Commands to a spout, each answered."""

    def play(w: Writer) -> None:
        for step in steps:
            w.command(step, **({"id": ids_of[step]} if step in ids_of else {}))
            w.lists()
            w.wait()

    return play


def script(*nexts: Any, **more: Any) -> dict[str, Any]:
    """conf with the steps of one next after the other."""
    return {"wireproof.script": [list(steps) for steps in nexts], **{f"wireproof.{k}": v for k, v in more.items()}}


NEXT = following("next")
TWICE = following("next", "next")
ACKED = following("next", "ack", ack=Ref("emitted", 0))
FAILED = following("next", "fail", fail=Ref("emitted", 0))
