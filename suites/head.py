"""What is asked of a run, and what stands at the head of its records: what it is, owes and accepts."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from impls.launching.manifest import Deviation, Implementation
from records.rows import AcceptanceRow, RequirementRow, RunRow
from specs.protocol import Protocol
from specs.requirement import Requirement
from suites.rounds import MOST_S
from wireproof import __version__

SUITE_VERSION = __version__


@dataclass(frozen=True)
class RunOptions:
    """What the user asked for, and the `command` by which. `levels` and `pattern` choose requirements; `partial`:
    something was left out. `looks_on`: it is to make a baseline, and hunts in rounds until little is left to find, for
    `look_on_s` at most."""

    asked: str = "reference"
    command: str = "pytest"
    pattern: str = "*"
    levels: tuple[str, ...] = ()
    strict: bool = False
    budget: str = "ci"
    budget_s: float = 60.0
    seed: int = 0
    partial: bool = False
    looks_on: bool = False
    look_on_s: float = MOST_S
    workers: tuple[str, ...] = ("main",)


def run_row(options: RunOptions, impl: Implementation, stated: str, begun: datetime) -> RunRow:
    """What the run is; `stated` is the version that the implementation itself names, if it does."""
    return RunRow(
        at=begun.isoformat(timespec="seconds"),
        impl=impl.name,
        protocol=impl.protocol,
        role=impl.role,
        profile=impl.profile,
        version=stated or impl.version,
        suite_version=SUITE_VERSION,
        seed=options.seed,
        budget=options.budget,
        budget_s=options.budget_s,
        disciplines=("lock-step", "pipelined"),
        requirements=options.pattern,
        levels=options.levels,
        partial=options.partial,
        strict=options.strict,
        asked=options.asked,
        command=options.command,
        workers=options.workers,
    )


def owed(protocol: Protocol, impl: Implementation, chosen: Container[str]) -> Iterator[RequirementRow]:
    """Every requirement of the protocol, and whether it is to be judged."""
    binding = {r.id for r in protocol.requirements.binding(impl.role, impl.profile)}
    for r in protocol.requirements.values():
        applies = "judged" if r.id in chosen else "unselected" if r.id in binding else "unsupported"
        yield requirement_row(r, applies)


def accepted(entries: Mapping[str, Deviation]) -> Iterator[AcceptanceRow]:
    """The entries of the baseline."""
    for name, entry in sorted(entries.items()):
        yield AcceptanceRow(
            id=name,
            reason=entry.reason,
            issue=entry.issue,
            expires=entry.expires.isoformat() if entry.expires else "",
            sometimes=entry.sometimes,
            fingerprints=entry.fingerprints,
        )


def requirement_row(r: Requirement, applies: str = "judged") -> RequirementRow:
    """A requirement as a row of the records."""
    return RequirementRow(
        id=r.id,
        section=r.section,
        level=r.level,
        basis=r.basis,
        statement=r.statement,
        source=r.source,
        applies=applies,
        untestable=r.untestable,
    )
