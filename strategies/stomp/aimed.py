"""Sessions aimed at one family of requirements: which ops, how many connections and destinations, which spellings.

General sessions find most faults; a family whose faults need a history finds them sooner when its ops meet often.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan
from strategies.common import Program
from strategies.stomp import misuse, sessions
from strategies.stomp.sessions import EVEN
from strategies.stomp.writer import CRLF, CUTS, EOLS, EXTRA, JOIN, ORDER, REPEAT

ANYHOW = CRLF | EOLS | CUTS | JOIN | ORDER | EXTRA


@dataclass(frozen=True)
class Aim:
    """One family: weights of ops, and the bounds of `sessions.interpret`."""

    kinds: Mapping[str, int]
    slots: int = 3
    places: int = 4
    wires: Sequence[int] = (0, 0, 0, ANYHOW)
    least: int = 1
    most: int = 20

    @property
    def programs(self) -> SearchStrategy[Program]:
        """The programs of this family."""
        return sessions.sessions(self.kinds, most=self.most, least=self.least)

    @property
    def interpret(self) -> Callable[..., Plan]:
        """Their meaning."""
        return partial(sessions.interpret, wires=self.wires, slots=self.slots, places=self.places)


_TALK = {"send": 6, "sub": 3, "connect": 1}
_WORK = {"send": 8, "begin": 4, "commit": 4, "abort": 1, "sub": 2, "unsub": 2, "ack": 3, "nack": 1}
FRAMING = Aim(
    _TALK | {"begin": 1, "commit": 1, "unsub": 1, "disconnect": 1, "burst": 1, "halved": 1},
    slots=2,
    wires=(CRLF, EOLS, CUTS, JOIN, ANYHOW),
)
TEXTS = Aim(_TALK | {"send": 9}, slots=2, places=2, wires=(0,), least=2, most=14)
REPEATS = Aim(EVEN, slots=2, wires=(REPEAT,), most=10)
SENDING = Aim(_TALK | {"alike": 1, "burst": 1}, slots=3, places=4, most=12)
SUBSCRIBING = Aim(
    {"send": 6, "sub": 6, "unsub": 4, "disconnect": 1, "hang": 1, "subs": 1}, slots=2, places=2, least=4, most=14
)
ACKING = Aim(
    {"send": 6, "sub": 2, "ack": 8, "nack": 2, "hang": 1, "unsub": 1}, slots=2, places=3, wires=(0,), least=6, most=28
)
ACKING_ALONE = Aim({"send": 6, "sub": 2, "ack": 8, "nack": 1}, slots=1, places=3, wires=(0,), least=6, most=28)
ACKING_IN_TX = Aim(
    {"send": 5, "sub": 2, "ack": 7, "nack": 1, "begin": 3, "commit": 2, "abort": 2, "hang": 1},
    slots=2,
    places=1,
    wires=(0,),
    least=6,
    most=28,
)
TRANSACTIONS = Aim(_WORK | {"disconnect": 1, "hang": 1}, slots=2, places=3, least=4, most=24)
TRANSACTIONS_AGAIN = Aim(
    {"txs": 4, "send": 3, "begin": 2, "commit": 1, "abort": 1}, slots=2, places=2, wires=(0,), least=1, most=7
)
MANY = Aim({"burst": 5, "again": 5, "send": 2, "sub": 2}, slots=2, places=3, wires=(0, JOIN, JOIN), most=4)
ENDINGS = Aim(
    {"send": 6, "sub": 3, "begin": 1, "disconnect": 3, "hang": 2, "ack": 2, "last": 3, "cut": 2},
    slots=3,
    places=2,
    wires=(0, JOIN, JOIN),
    least=3,
    most=14,
)
RECEIPTS = Aim(EVEN, slots=2, wires=(0, EOLS), most=14)

LAWS: Mapping[str, Aim] = {
    "M-1 segmentation": Aim(EVEN, slots=2, wires=(CUTS, JOIN, CUTS | JOIN), most=12),
    "M-2 CR LF": Aim(EVEN, slots=2, wires=(CRLF,), most=12),
    "M-3 EOLs between frames": Aim(EVEN, slots=2, wires=(EOLS, EOLS | CRLF), most=12),
    "M-4 STOMP": Aim({"connect": 4, "send": 2, "sub": 1, "disconnect": 2}, wires=(0,), most=8),
    "M-5 header order": Aim(EVEN, slots=2, wires=(ORDER,), most=12),
    "M-6 unknown headers": Aim(EVEN, slots=2, wires=(EXTRA,), most=12),
    "M-7 repeated headers": Aim(EVEN, slots=2, wires=(REPEAT,), most=12),
    "M-8 escapes": TEXTS,
    "M-9 content-length": Aim({"send": 5, "sub": 2}, slots=1, places=2, wires=(0, EXTRA), most=8),
    "M-10 pipelining": Aim({**EVEN, "burst": 2}, slots=2, wires=(JOIN, 0), most=24, least=6),
    "M-11 names": Aim(
        {"send": 4, "sub": 4, "unsub": 2, "begin": 4, "commit": 3, "abort": 1, "alike": 3},
        slots=2,
        wires=(0,),
        most=16,
    ),
    "M-12 another connection": Aim({**EVEN, "cut": 1, "halved": 2}, slots=3, places=4, wires=(0,), most=24, least=8),
}


def misusing(*names: str) -> Callable[..., Plan]:
    """The interpretation of misuses limited to some."""
    unknown = [name for name in names if name not in misuse.MISUSES]
    if unknown:
        raise LookupError(f"no misuse is called {unknown[0]!r}")
    return partial(misuse.interpret, names=names)
