"""What the seeded faults of Storm are made with: their registration, the shortest ways to show one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from impls.references.storm.child import Bolt
from impls.references.storm.freedoms import Switches
from impls.references.storm.host import HostSwitches
from impls.references.storm.host_memory import Hosts
from impls.references.storm.hosts import BoltHost
from impls.references.storm.memory import Children
from specs.plan import Plan, Ref
from specs.storm.bundle import configure
from specs.storm.states import PREFIX, SEED, Config
from strategies.storm import host_writer
from strategies.storm.writer import Writer
from tests.mutants.record import Mutant, Witness, both, nothing, prefixed, seeding

__all__ = ["both", "nothing"]

STORM_MUTANTS: list[Mutant] = []
"""All registered faults."""


def config_of(profile: str, role: str) -> Config:
    """The config that a scripted child, or a host, of a profile is judged with."""
    return configure(role, profile, {"scripted": True}, {"serial": True, "noted": True})


STORM: Mapping[str, Any] = {"protocol": "storm", "config_of": lambda mutant: config_of(mutant.profile, mutant.role)}


def child(
    name: str,
    requirement: str,
    play: Callable[[Writer], None],
    *,
    ext: str = "",
    switches: Switches | None = None,
    conf: dict[str, Any] | None = None,
    later: bool = True,
    sessions: type = Children,
    bare: bool = False,
    **more: Any,
) -> Callable[..., type]:
    """What registers a faulty bolt or spout. `bare`: the witness does its own setup and end; `more` as `seeding`."""

    def witness(config: Config) -> Plan:
        w = Writer(config)
        if not bare:
            w.setup(conf, later=later)
        play(w)
        if not bare:
            w.wait()
            w.eof()
        return w.plan()

    return _seeding(
        lambda part: "bolt" if issubclass(part, Bolt) else "spout",
        sessions,
        ext,
        switches,
        name,
        requirement,
        witness,
        **more,
    )


def host(
    name: str,
    requirement: str,
    play: Callable[[host_writer.Writer], None],
    *,
    ext: str = "",
    switches: HostSwitches | None = None,
    conf: dict[str, Any] | None = None,
    bare: bool = False,
    **more: Any,
) -> Callable[..., type]:
    """What registers a faulty host."""

    def witness(config: Config) -> Plan:
        w = host_writer.Writer(config)
        if not bare:
            w.begin(conf)
        play(w)
        w.wait()
        return w.plan()

    def role(part: type) -> str:
        return "bolt-host" if issubclass(part, BoltHost) else "spout-host"

    return _seeding(role, Hosts, ext, switches, name, requirement, witness, **more)


def _seeding(
    role: Callable[[type], str],
    sessions: type,
    ext: str,
    switches: Any,
    name: str,
    requirement: str,
    witness: Witness,
    **more: Any,
) -> Callable[..., type]:
    def peer_of(part: type) -> Callable[[], Any]:
        return partial(sessions, part, frozenset(ext.split("+")) - {""}, switches)

    profile = f"{SEED}+{ext}" if ext else SEED
    return seeding(
        STORM_MUTANTS,
        prefixed(PREFIX),
        role,
        peer_of,
        requirement,
        name=name,
        witness=witness,
        profile=profile,
        **STORM,
        **more,
    )


# -- the shortest ways to show a fault --------------------------------------------------------------------------------


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
