"""What a child may make of what no host should send it (`Conv.hurt`), and how a host is blamed."""

from __future__ import annotations

from specs.kcl.child import breach
from specs.kcl.scripts import ANY
from specs.kcl.states import Config, Conv, Phase, Seen
from specs.model import Breach

EVERY_MESSAGE = ("FRAME-01", "FRAME-02", "FRAME-04", "FRAME-06", "FRAME-11")
"""Requirements that any message of a host could break."""


def by_host(requirement: str, why: str) -> Breach:
    """A breach after which nothing is judged."""
    return breach(requirement, why, by="host")


def skipping(conv: Conv, hurt: str) -> Conv:
    """Nothing was asked: no status may come for it."""
    return conv._replace(hurt=hurt, due=free(conv.due), served=False)


def perhaps(conv: Conv, hurt: str) -> Conv:
    """Something was asked that need not be done: a status may come for it."""
    return conv._replace(phase=Phase.WORKING, hurt=hurt, loose=True, steps=(), due=free(conv.due), served=False)


def unanswered(config: Config, conv: Conv) -> Conv:
    """Something else came instead of the answer to a checkpoint: it has failed, or is still waited for."""
    failed = (*free(conv.due), Seen("checkpoint", ANY)) if config.noted else ()
    return conv._replace(phase=Phase.WORKING, hurt="CHECKPOINT-15", loose=True, steps=(), due=failed)


def free(due: tuple[Seen, ...]) -> tuple[Seen, ...]:
    """Observations that may be missing from now on."""
    return tuple(seen._replace(free=True) for seen in due)
