"""What the tester is going to do, as data that is complete before anything runs.

Nothing that the implementation says influences a plan. Where a frame must carry something that only the
implementation can know (an acknowledgement id) or that must be fresh in each run (the name of a queue), the plan holds
a `Ref`, and the driver fills it in from the protocol's `Memory`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Ref:
    """A value that is known only while the plan runs: `name` says which kind, `key` which one."""

    name: str
    key: Any = 0


@dataclass(frozen=True, slots=True)
class Say:
    """Send one frame.

    `cuts` are offsets in octets at which the encoded frame is split into separate writes; negative ones count from its
    end. `when` is "turn" (wait until the model says that the implementation owes nothing), "now", or "join" (now, in
    one write with what the same connection says next; where it is cut, its last piece is in one write with the first of
    that). `style` is handed to the protocol's encoder. A frame with a Ref
    is said up to `upto` times, as often as the Ref can be resolved anew.
    """

    conn: int
    frame: Any
    cuts: tuple[int, ...] = ()
    when: str = "turn"
    style: Any = None
    upto: int = 1


@dataclass(frozen=True, slots=True)
class SendBytes:
    """Send raw octets, well-formed or not. `data` may be given as a tuple of bytes and Refs. `when`: see `Say`."""

    conn: int
    data: bytes | tuple[bytes | Ref, ...]
    when: str = "turn"


@dataclass(frozen=True, slots=True)
class Wait:
    """Let `ms` pass, noting every silence; `Wait(0)` waits until it is the tester's turn."""

    ms: int = 0


class TooLong(Exception):
    """A plan rests for longer than there is time: it was not played."""


@dataclass(frozen=True, slots=True)
class Close:
    """Close the connection, without a word. `how` is "close" or "reset"; "eof" ends only what we say on it, once it is
    our turn, and listens on, where the link can do that (see `impls.driver.link.Side`); "eof-now" does not wait."""

    conn: int
    how: str = "close"


@dataclass(frozen=True, slots=True)
class Control:
    """Do something beside the wire of a connection, where the link can: tell a host what to ask for, end a child.

    It stands in the trace as a Fact of the role that the tester plays. `value` is JSON data and may hold Refs. `when`:
    see `Say`.
    """

    conn: int
    name: str
    value: Any = None
    when: str = "turn"


@dataclass(frozen=True, slots=True)
class Reach:
    """Open the connection at another address, which the implementation itself has named: `where` is HOST:PORT, as a
    rule in a Ref. Only its own machine is followed to; where that is not possible, what the plan says there is left
    out."""

    conn: int
    where: str | Ref


Step = Say | SendBytes | Wait | Close | Control | Reach


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps, and the names of wire features that they use on purpose (see `Protocol.features`)."""

    steps: tuple[Step, ...]
    features: frozenset[str] = frozenset()

    def pipelined(self) -> Plan:
        """The same plan, said without waiting for turns; explicit waits stay."""
        return self.each(_hurried)

    def each(self, change: Callable[[Step], Step]) -> Plan:
        """The same plan with every step changed."""
        return replace(self, steps=tuple(change(step) for step in self.steps))


def _hurried(step: Step) -> Step:
    return replace(step, when="now") if isinstance(step, (Say, SendBytes, Control)) and step.when == "turn" else step
