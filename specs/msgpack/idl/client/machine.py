"""The machine of a client that is made from a document: told beside the wire what to call, it calls and reports.

Source: 004_4ca5b084f7ea0751.txt, client side; docs/implementations.md.
"""

from __future__ import annotations

from typing import NamedTuple

from specs.machine import Machine, Phase, never, unreachable
from specs.msgpack.idl.client.calls import Call
from specs.msgpack.idl.service import Served
from specs.msgpack.states import Config
from specs.values import quick_replace

NAMED = "MPIDL-KLI-01"
"""What is blamed on a client that cannot be used at all, too."""


class At(Phase):
    """Of one client."""

    CALLING = "it is connected, or will be, and makes the calls that it is told to make"
    OVER = "its connection has ended, or was told to end; what was answered before is still reported"
    GONE = "what it says means nothing any more"


@quick_replace
class ClientState(NamedTuple):
    """A conversation. `app` is what the client was made of. `told` are ops that were not reported, each with the call
    that it is, if it is one. `used` are the versions of each scope that were called. `late` are names of calls that
    were reported before a request came. `questions` are ids of requests for a version, which it was not told to make,
    and which are not answered. `loose`: the document may be refused. `begun`: it was told to connect."""

    config: Config
    phase: At = At.CALLING
    app: Served | None = None
    told: tuple[tuple[str, Call | None], ...] = ()
    used: frozenset[tuple[str, int]] = frozenset()
    late: frozenset[str] = frozenset()
    questions: tuple[int, ...] = ()
    loose: bool = False
    begun: bool = False

    @property
    def call(self) -> Call | None:
        """The call that goes on: one op is carried out after the other."""
        return self.told[0][1] if self.told else None

    def changed(self, call: Call) -> ClientState:
        """With another state of the call that goes on."""
        return self._replace(told=((self.told[0][0], call), *self.told[1:]))


ACTORS = {
    "connect": "server", "call": "server", "answer": "server", "disconnect": "server", "leaves": "server",
    "request": "idl-client", "nonsense": "idl-client", "reports": "idl-client", "opens another": "idl-client",
    "closes": "idl-client", "gives up": "idl-client", "breaks down": "idl-client",
}  # fmt: skip
_down = never(NAMED, "the program ended", given=lambda case: False)
_over = unreachable("nothing is asked or judged on a connection that has ended")
_gone = unreachable("nothing is judged any more")

MACHINE = Machine(
    At,
    ACTORS,
    {
        At.CALLING: {
            "connect": (At.CALLING, At.GONE), "call": At.CALLING, "answer": At.CALLING, "disconnect": At.OVER,
            "leaves": At.GONE, "request": (At.CALLING, At.GONE), "nonsense": At.CALLING,
            "reports": (At.CALLING, At.GONE), "opens another": At.GONE, "closes": At.OVER, "gives up": At.GONE,
            "breaks down": _down,
        },
        At.OVER: {
            "connect": At.GONE, "call": At.GONE, "answer": _over, "disconnect": At.OVER, "leaves": At.GONE,
            "request": _over, "nonsense": _over, "reports": (At.OVER, At.GONE), "opens another": At.GONE,
            "closes": At.OVER, "gives up": At.GONE, "breaks down": _down,
        },
        At.GONE: {**dict.fromkeys(ACTORS, _gone), "breaks down": _down},
    },
)  # fmt: skip
"""`opens another`: a second connection, which the suite does not serve."""
