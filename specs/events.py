"""Everything that can be observed in a conversation, as data.

A trace is a tuple of these, in the order in which the tester saw or did them. `conn` is a small integer that names a
connection within one plan; `by` is the role name of the party that spoke ("client", "server", ...). Times are kept
beside the trace, never in it, except as the length of a silence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final


@dataclass(slots=True, unsafe_hash=True)
class Said:
    """One whole frame went over the wire.

    Final rather than frozen: the type checker sees to it, and what is made for every event costs a third.
    """

    conn: Final[int]
    by: Final[str]
    frame: Final[Any]


@dataclass(frozen=True, slots=True)
class Noise:
    """Bytes (`data`) that are no frame; `why` is the slug of the grammar rule they break (see the protocol's frames
    module)."""

    conn: int
    by: str
    data: bytes
    why: str


@dataclass(frozen=True, slots=True)
class Closed:
    """`by` ended the connection. A reset and an end of file are one event; `how` is for people only."""

    conn: int
    by: str
    how: str = "eof"


@dataclass(frozen=True, slots=True)
class Quiet:
    """Nothing was received on any connection.

    `ms` is the silence that is certain (a lower bound: time in which the tester itself did not run is left out);
    `elapsed` is the time that passed at most. `final` says that the peer was given all the patience of the run: what
    it has not said by now it will not say.
    """

    ms: int
    elapsed: int = 0
    final: bool = False


@dataclass(slots=True, unsafe_hash=True)
class Fact:
    """Something seen beside the wire: octets of an unfinished frame, an exit status, a file, a refused connection.

    `value` is JSON data, of the shape that the protocol gives to facts of this name. (Final, not frozen: see `Said`.)
    """

    conn: Final[int]
    by: Final[str]
    name: Final[str]
    value: Final[Any]


Event = Said | Noise | Closed | Quiet | Fact
Trace = tuple[Event, ...]
