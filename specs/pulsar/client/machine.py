"""The machines that a client runs: a connection to a broker, a producer or consumer, and the client itself.

Source: 001_c0ea8805bb7ed422.txt, "Connection establishment", "Keep Alive", "CloseProducer", "CloseConsumer".
"""

from __future__ import annotations

from collections.abc import Mapping

from specs.machine import Cell, Machine, Never, never, unreachable
from specs.machine import Phase as _Phase
from specs.pulsar.client.oddities import SURVIVES, Oddity


class Phase(_Phase):
    """Where a connection of the client stands."""

    NEW = "nothing was said on it"
    UNMADE = "it was to be cut before it was there"
    ASKED = "CONNECT was said"
    LIVE = "CONNECTED was said"
    SPOILT = "the broker said what may end it"
    ABORTED = "it was over before CONNECTED was said"
    OVER = "it is over"
    WASTED = "it is over, and had been spoilt"


NEW, UNMADE, ASKED, LIVE, SPOILT, ABORTED, OVER, WASTED = Phase
TALKING = (LIVE, OVER)
"""Phases in which what the client says is judged. What it said before it saw the end of its connection may be read
behind that end."""
ENDED = (UNMADE, ABORTED, OVER, WASTED)
"""Phases behind the end of a connection."""
MISUSED = (SPOILT, WASTED)
"""Phases in which nothing is judged that comes on the connection."""

REQUESTS = ("PRODUCER", "SUBSCRIBE", "UNSUBSCRIBE", "CLOSE_PRODUCER", "CLOSE_CONSUMER", "LOOKUP",
            "PARTITIONED_METADATA", "SEEK", "GET_LAST_MESSAGE_ID", "CONSUMER_STATS")  # fmt: skip
"""Commands with a request id, which the broker answers."""
OTHERS = ("PING", "PONG", "SEND", "FLOW", "ACK", "REDELIVER_UNACKNOWLEDGED_MESSAGES", "AUTH_RESPONSE",
          "GET_TOPICS_OF_NAMESPACE", "GET_SCHEMA", "GET_OR_CREATE_SCHEMA")  # fmt: skip
"""Commands of a client that are no requests in this sense."""
COMMANDS = (*REQUESTS, *OTHERS)
"""Everything that a client may say once it is connected; "foreign" is what only a broker says."""
ACTORS: Mapping[str, str] = {
    **dict.fromkeys(("CONNECT", *COMMANDS, "foreign", "hangs up"), "client"),
    **dict.fromkeys(("reverses", "exceeds", "miscounts", "garbles"), "client"),
    **dict.fromkeys(("CONNECTED", "misuses", "cuts"), "broker"),
}
"""Every action on a connection and who does it. "misuses" is what may end the connection. The last four of the
client's are octets that are no frame: see `GARBAGE`."""

ONE_COMMAND = "PULSAR-FRM-05"
"""Only one sub-message is set, and type names it."""
FIRST = "PULSAR-CONN-01"
"""CONNECT is the first frame of a connection, and no other one is CONNECT."""
ALONE = "PULSAR-CONN-03"
"""Between CONNECT and CONNECTED a client says nothing."""


GARBAGE: Mapping[str, Cell] = {
    "reverses": never("PULSAR-FRM-01", "TOTAL_SIZE is little-endian"),
    "exceeds": never("PULSAR-FRM-09", "a frame over the maximum"),
    "miscounts": never("PULSAR-FRM-02", "CMD_SIZE is not the length of a command"),
    "garbles": never(ONE_COMMAND, "octets that are no frame"),
}
"""Every frame starts with its size, big-endian, which is not over the maximum; CMD_SIZE is the length of the
command; there is one sub-message, and type names it (seed, Framing)."""


def _says(commands: Cell, connect: Cell, foreign: Cell | None = None) -> dict[str, Cell]:
    """What becomes of the connection by a command, by CONNECT, and by what only a broker says."""
    return {**dict.fromkeys(COMMANDS, commands), "CONNECT": connect, "foreign": foreign or commands, **GARBAGE}


def _broker(connected: Cell, misuse: Cell, end: Cell) -> dict[str, Cell]:
    """What becomes of the connection by what the broker does, and by its end."""
    return {"CONNECTED": connected, "misuses": misuse, "cuts": end, "hangs up": end}


_FOREIGN = unreachable("a form blames what only a broker says")
_MISPLACED = unreachable("CONNECTED where none is due is a misuse")
CONNECTION = Machine(Phase, ACTORS, {
    NEW: {**_says(never(FIRST), (ASKED, SPOILT)), **_broker(_MISPLACED, NEW, UNMADE)},
    UNMADE: {**_says(never(FIRST), (ASKED, SPOILT)), **_broker(_MISPLACED, UNMADE, UNMADE)},
    ASKED: {**_says(never(ALONE), never(FIRST)), **_broker(LIVE, SPOILT, ABORTED)},
    LIVE: {**_says(LIVE, never(FIRST), _FOREIGN), **_broker(_MISPLACED, SPOILT, OVER)},
    SPOILT: {**_says(SPOILT, never(FIRST)), **_broker(SPOILT, SPOILT, WASTED)},
    ABORTED: {**_says(never(ALONE), never(FIRST)), **_broker(OVER, WASTED, ABORTED)},
    OVER: {**_says(OVER, never(FIRST), _FOREIGN), **_broker(_MISPLACED, WASTED, OVER)},
    WASTED: {**_says(WASTED, never(FIRST)), **_broker(WASTED, WASTED, WASTED)},
})  # fmt: skip
"""A connection. What the broker says before CONNECT leaves it where it is, and may spoil it as soon as it is there."""


class Stage(_Phase):
    """Where a producer or consumer of the client stands."""

    ASKED = "it was asked for"
    PENDING = "it is not ready yet"
    OPEN = "it is open"
    LOST = "the broker closed it, or its connection ended"
    CLOSED = "it is closed for good"


_BUSY = unreachable("an id that is in use makes no new producer or consumer: a form blames it")
_DONE = unreachable("nothing is about a producer or consumer that is closed")
_GONE = unreachable("its requests ended with it")
_EARLY = unreachable("to close what is not open is to close what is not there")
ENDPOINT = Machine(
    Stage,
    {"creates": "client", "closes": "client", "answers": "broker", "holds": "broker", "refuses": "broker",
     "takes": "broker", "cuts": "broker"},
    {
        Stage.ASKED: {"creates": _BUSY, "closes": Stage.CLOSED, "answers": Stage.OPEN, "holds": Stage.PENDING,
                      "refuses": Stage.CLOSED, "takes": _EARLY, "cuts": Stage.LOST},
        Stage.PENDING: {"creates": _BUSY, "closes": Stage.CLOSED, "answers": Stage.OPEN, "holds": Stage.PENDING,
                        "refuses": Stage.CLOSED, "takes": _EARLY, "cuts": Stage.LOST},
        Stage.OPEN: {"creates": _BUSY, "closes": Stage.CLOSED, "answers": _GONE, "holds": _GONE, "refuses": _GONE,
                     "takes": Stage.LOST, "cuts": Stage.LOST},
        Stage.LOST: {"creates": Stage.ASKED, "closes": Stage.CLOSED, "answers": _GONE, "holds": _GONE,
                     "refuses": _GONE, "takes": _EARLY, "cuts": _GONE},
        Stage.CLOSED: {"creates": _BUSY, "closes": _DONE, "answers": _DONE, "holds": _DONE, "refuses": _DONE,
                       "takes": _DONE, "cuts": _DONE},
    },
)  # fmt: skip
"""A producer or consumer. "holds": producer_ready is false; "takes": the broker closes it; "cuts": its connection
ends."""


class Life(_Phase):
    """Whether the client lives: nothing is judged behind its end."""

    RUNNING = "the client runs"


def _dies_of(oddity: Oddity) -> Never:
    """The client may not die of what it was told; the row of invalid input counts once nothing is left to do about
    it."""
    return never(" ".join(oddity.dead), "the client ended", given=lambda case: case.state.outlived(oddity))


CLIENT = Machine(
    Life,
    {"rests": "client", "ends": "client", **{oddity.death: "client" for oddity in Oddity}},
    {
        Life.RUNNING: {
            "rests": Life.RUNNING,
            "ends": never(SURVIVES, "the client ended", given=lambda case: bool(case.state.tried)),
            **{oddity.death: _dies_of(oddity) for oddity in Oddity},
        },
    },
)
"""The client as a whole. Its end has one action for each oddity behind which it may come."""
