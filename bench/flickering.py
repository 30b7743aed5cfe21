"""STOMP servers that are wrong now and then: once in 13, or once in 100, by chance.

They are among the faulty programs of `bench.faulty`, by the names of `SESSIONS`.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from impls.references.stomp.reference import Frame, Session

OFTEN, SELDOM = 13, 100
"""One in so many, for a fault that a conversation or two show, and for one that takes some dozens."""
SEED = 7


class NowAndThen(Session):
    """Right, but for what a subclass does wrong when it is `unlucky`."""

    every = OFTEN
    chance = random.Random(SEED)

    def unlucky(self) -> bool:
        """True once in `every` times."""
        return self.chance.random() * self.every < 1


class LosesMessages(NowAndThen):
    """A SEND is receipted, and nobody gets the message."""

    def publish(self, frame: Frame) -> None:
        if not self.unlucky():
            super().publish(frame)


class LosesReceipts(NowAndThen):
    """A frame is obeyed, and its RECEIPT never comes."""

    def on_receipt(self, frame: Frame) -> None:
        if not self.unlucky():
            super().on_receipt(frame)


class WrongDestination(NowAndThen):
    """A MESSAGE names another destination than that of its SEND."""

    def message_headers(self, *given: Any) -> list[tuple[str, str]]:
        headers = super().message_headers(*given)
        if not self.unlucky():
            return headers
        return [(name, value + "x" if name == "destination" else value) for name, value in headers]


def now_and_then(kind: type[NowAndThen], every: int, seed: int = SEED) -> type[NowAndThen]:
    """Sessions of a kind that are wrong once in `every` times."""
    return type(kind.__name__, (kind,), {"every": every, "chance": random.Random(seed)})


KINDS: Mapping[str, type[NowAndThen]] = {
    "message": LosesMessages,
    "receipt": LosesReceipts,
    "header": WrongDestination,
}
SESSIONS: Mapping[str, type[NowAndThen]] = {
    f"{name}-{every}": now_and_then(kind, every) for every in (OFTEN, SELDOM) for name, kind in KINDS.items()
}
"""By name: what is wrong, and once in how many times."""
