"""STOMP servers whose process ends by a count: with every so many connections, or every so many frames.

They are among the faulty programs of `bench.faulty`, by the names of `DYING`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from impls.references.stomp.reference import Frame, Server, Session

STATUS = 3


class Connections(Server):
    """Its process ends with one connection in `every`."""

    every = 5
    opened = 0

    def open(self) -> Session:
        self.opened += 1
        if self.opened >= self.every:
            sys.exit(STATUS)
        return super().open()


class Counts(Session):
    """Sessions that count the frames of their server, and end it."""

    every = 60

    def handle(self, frame: Frame) -> None:
        known = self.server.__dict__
        known["handled"] = known.get("handled", 0) + 1
        if known["handled"] >= self.every:
            sys.exit(STATUS)
        super().handle(frame)


def by_connections(every: int) -> type[Server]:
    """A server that ends with so many connections."""
    return type("Faulty", (Connections,), {"every": every})


def by_frames(every: int) -> type[Server]:
    """A server that ends with so many frames."""
    return type("Faulty", (Server,), {"session_type": type("Faulty", (Counts,), {"every": every})})


DYING: Mapping[str, type[Server]] = {
    **{f"connections-{every}": by_connections(every) for every in (20, 40, 150)},
    **{f"frames-{every}": by_frames(every) for every in (60, 300)},
}
"""By name: what is counted, and up to which number."""
