"""Short ways to say what came of an event."""

from __future__ import annotations

from typing import Any

from specs.model import Allow, Breach
from specs.storm.states import PREFIX


def breach(by: str, requirement: str, why: str, *, also: str = "", **more: Any) -> Breach:
    """A breach of a requirement given without its prefix; `also` are others, separated by blanks."""
    return Breach(by, PREFIX + requirement, why, also=tuple(PREFIX + name for name in also.split()), **more)


def allow(conv: Any, *covers: str, lapses: tuple[Breach, ...] = ()) -> Allow:
    """Allowed; the state is put in by the model."""
    return Allow(conv, tuple(PREFIX + name for name in covers), lapses)
