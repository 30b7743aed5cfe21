"""The record of a seeded fault, the same for every protocol. The kits beside it make them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from specs.plan import Control, Plan, Say, SendBytes
from tests.mutants.faults import named

Witness = Callable[[Any], Plan]


@dataclass(frozen=True, slots=True, eq=False)
class Mutant:
    """One fault seeded into a reference.

    `requirement` is the id that it breaks; `accept` are others that may rightly be blamed for the same action. `make`
    gives a fresh faulty peer, `witness` a plan, as short as possible, that proves the fault is there. `level` is the
    level at which it counts, `why` the sentence that explains it, `theme` the family it belongs to. `profile` is what
    the peer claims, `facts` what it declares beside the defaults. `late`: it shows only after something else has
    happened. `unseen` says why the fault is not judged as it should be, if it is not; `smoke` is False when even the
    simplest session shows it. `dies`: whoever raises is to be told of and started again. `config_of` makes the config
    that the witness is written for; `known`: that config holds, so that nothing has to be found out.
    """

    name: str
    role: str
    requirement: str
    accept: tuple[str, ...]
    make: Callable[[], Any]
    witness: Witness
    level: str
    why: str
    protocol: str
    profile: str
    config_of: Callable[[Mutant], Any]
    facts: Mapping[str, Any] = field(default_factory=dict)
    theme: str = ""
    unseen: str = ""
    smoke: bool = True
    late: bool = False
    dies: bool = False
    known: bool = False

    @property
    def blames(self) -> frozenset[str]:
        """Every requirement that may be blamed."""
        return frozenset((self.requirement, *self.accept))

    @property
    def config(self) -> Any:
        """What the model is told of the peer, or None when that has to be found out."""
        return self.config_of(self) if self.known else None

    @property
    def history(self) -> int:
        """How many frames, octets and requests of the tester the witness holds."""
        return sum(isinstance(step, (Say, SendBytes, Control)) for step in self.witness(self.config_of(self)).steps)

    def __str__(self) -> str:
        return self.name


def sentence(part: type) -> str:
    """The docstring of a faulty part, in one line."""
    return " ".join((part.__doc__ or "").split())


def seeding(
    into: list[Mutant],
    full: Callable[[str], tuple[str, ...]],
    role: str | Callable[[type], str],
    peer_of: Callable[[type], Callable[[], Any]],
    requirement: str,
    *,
    accept: str = "",
    level: str = "MUST",
    **fields: Any,
) -> Callable[..., type]:
    """What registers a faulty part: as a decorator of a class whose docstring is the sentence that explains it, or
    called with that sentence and a fault (see `faults`). `peer_of` gives what makes a faulty peer of the part; `full`
    makes full ids of those in `requirement` and `accept`, which are separated by blanks; `fields` are a `Mutant`'s."""

    def register(told: Any, fault: type | None = None) -> type:
        part = named(told, fault)
        into.append(
            Mutant(
                role=role if isinstance(role, str) else role(part),
                requirement="".join(full(requirement)),
                accept=full(accept),
                make=peer_of(part),
                level=level,
                why=sentence(part),
                **fields,
            )
        )
        return part

    return register


def prefixed(prefix: str) -> Callable[[str], tuple[str, ...]]:
    """What makes full requirement ids of short ones separated by blanks."""
    return lambda text: tuple(prefix + name for name in text.split())


# -- plays of any protocol: functions that write a part of a plan -----------------------------------------------------


def nothing(w: Any) -> None:
    """What comes before and behind is enough."""


def both(*plays: Callable[[Any], None]) -> Callable[[Any], None]:
    """One after the other."""

    def play(w: Any) -> None:
        for one in plays:
            one(w)

    return play
