"""Short witnesses about consumers: what was pushed, acknowledged, and comes back."""

from __future__ import annotations

from typing import Any

from specs.plan import Ref
from strategies.pulsar.writer import Ear, Writer
from tests.mutants.pulsar_kit import EXCLUSIVE, ready

GONE = "ACK-01 ACK-04 ACK-02 ACK-05 ACK-06 RED-03"


def pushed(ear: Ear, which: int) -> Ref:
    """The id of the nth message that was pushed to a consumer."""
    return Ref("pushed", (ear.line, ear.id, which))


def back(w: Writer, ear: Ear, kind: int = EXCLUSIVE, permits: int = 100, **given: Any) -> Ear:
    """Close a consumer and subscribe again."""
    line = w.of(ear.line)
    w.ping(line)
    w.close_ear(ear)
    new = w.ear(line, ear.topic, ear.sub, kind, **given)
    w.flow(new, permits)
    return new


def acked(*which: int, cumulative: bool = False, sends: int = 4, kind: int = EXCLUSIVE, **fields: Any) -> Any:
    """Messages, an ACK for some of them, and the subscription again."""

    def play(w: Writer) -> None:
        _, ear, _ = ready(w, kind, sends=sends)
        w.ping(w.of(ear.line))
        for each in which:
            w.ack(ear, pushed(ear, each), cumulative=cumulative, **fields)
        back(w, ear, kind)

    return play
