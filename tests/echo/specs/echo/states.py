"""What an ECHO conversation has come to, and the table of its phases."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple


class Phase(Enum):
    """Where one connection stands."""

    NEW = "nothing said yet"
    ASKED = "HELLO said"
    LEAVING = "HELLO and BYE said, no WELCOME yet"
    LIVE = "WELCOME said"
    ENDING = "BYE said"
    LOST = "the client said what is no line"
    WRONG = "the server said what is no line"
    OVER = "ended"


_N, _A, _B, _L, _E, _X, _W, _O = Phase
_: None = None
NEXT: Mapping[Phase, Mapping[str, Phase | None]] = MappingProxyType(
    {
        # Who may do what in each phase and where it leads; None: never. BYE and the end ask for more, see the model.
        #    client says                            ends         server says               ends
        _N: {"HELLO": _A, "PUT": _, "BYE": _, "client": _, "WELCOME": _, "DONE": _, "server": _},
        _A: {"HELLO": _, "PUT": _A, "BYE": _B, "client": _, "WELCOME": _L, "DONE": _, "server": _},
        _B: {"HELLO": _, "PUT": _, "BYE": _, "client": _, "WELCOME": _E, "DONE": _, "server": _},
        _L: {"HELLO": _, "PUT": _L, "BYE": _E, "client": _, "WELCOME": _, "DONE": _L, "server": _},
        _E: {"HELLO": _, "PUT": _, "BYE": _, "client": _, "WELCOME": _, "DONE": _E, "server": _O},
        _X: {"HELLO": _, "PUT": _, "BYE": _, "client": _, "WELCOME": _, "DONE": _, "server": _O},
        _W: {"HELLO": _, "PUT": _, "BYE": _, "client": _O, "WELCOME": _, "DONE": _, "server": _O},
        _O: {"HELLO": _, "PUT": _, "BYE": _, "client": _O, "WELCOME": _, "DONE": _, "server": _O},
    }
)
CLIENT_WORDS = frozenset({"HELLO", "PUT", "BYE"})


class Config(NamedTuple):
    """`puts`: how many PUTs the client has to make, when it is a client that is judged; else None."""

    puts: int | None = None


class Conn(NamedTuple):
    """One connection: names of PUTs that are not DONE, in order, and how many there were."""

    phase: Phase = Phase.NEW
    open: tuple[str, ...] = ()
    said: int = 0


class State(NamedTuple):
    """A whole conversation: connections by number."""

    config: Config
    conns: tuple[tuple[int, Conn], ...] = ()
