"""What plans are played with, and what came of one: data that the driver and its readers share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from impls.driver.link import Transport
from impls.driver.vigil import Vigil
from specs.events import Event
from specs.model import Judgement
from specs.protocol import Protocol


@dataclass(frozen=True, slots=True)
class Setting:
    """What stays the same from plan to plan. `patience_ms`: silence after which a peer will not answer any more;
    `until`, if given, is asked after each such silence: the plan is over when it says so. `set_aside` are known faults,
    behind which judging goes on: see `specs.model.Watcher`. `ends`, if given, says before each wait whether the time of
    the run is up: then the plan is given up with what was seen. `lingers`, if given, is asked when a plan has ended
    with such a silence: its connections stay open where it says so (`Recording.vigil`). `passing`: so many silences
    come before the one that the plan is played for, and end after `passing_ms`."""

    protocol: Protocol
    config: Any
    role: str
    transport: Transport
    patience_ms: float = 1000.0
    until: Callable[[Judgement], bool] | None = None
    set_aside: frozenset[str] = frozenset()
    ends: Callable[[], bool] | None = None
    lingers: Callable[[Judgement], bool] | None = None
    passing: int = 0
    passing_ms: float = 0.0

    @property
    def played(self) -> str:
        """The role that the tester plays."""
        return self.protocol.roles[self.role]


@dataclass(slots=True)
class Recording:
    """What happened. `stamps` are milliseconds since the plan began, one for each event; `wire` holds
    (ms, conn, "sent" | "received" | "closed by us" | "closed by peer", octets), cut after KEEP_WIRE octets; and where a
    connection "reached" another address, that address.
    `skipped` counts steps that could not be done. `overflow` says why the plan was given up, if it was. `took_s`: for
    how many seconds it was played, without what it had to wait for before. `vigil`: its connections, where they were
    left open (`Setting.lingers`). `kept`: the program that held it, where that is kept (`impls.driver.harness`)."""

    events: list[Event] = field(default_factory=list)
    stamps: list[float] = field(default_factory=list)
    wire: list[tuple[float, int, str, bytes]] = field(default_factory=list)
    judgement: Judgement = field(default_factory=lambda: Judgement("pass"))
    skipped: int = 0
    overflow: str = ""
    refused: str = ""
    took_s: float = 0.0
    vigil: Vigil | None = None
    kept: object = None

    def close(self) -> None:
        """End the connections that were left open."""
        if self.vigil is not None:
            self.vigil.close()
            self.vigil = None
