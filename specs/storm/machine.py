"""The phases of a conversation, and who may do what in each: one table for each kind of child with its host.

Source: 000_a44a7e31e51ca0fa.txt, "Initial Handshake", "Spouts", "Bolts", "Handling Heartbeats". A spout takes turns
with its host; a bolt does not, so that its table says little: what a host said is held until it is answered. What an
action carries is judged by the forms in child/ and host/.
"""

from __future__ import annotations

from specs.machine import Cell, Machine, Phase, never, unreachable


class BoltPhase(Phase):
    """Where a conversation with a bolt stands."""

    NEW = "nothing was said yet"
    SETUP = "the setup was sent"
    RUN = "tuples come and go"
    DEAF = "the child's STDIN has ended"
    OVER = "the child has ended"


class SpoutPhase(Phase):
    """Where a conversation with a spout stands."""

    NEW = "nothing was said yet"
    SETUP = "the setup was sent"
    IDLE = "no command is open"
    BUSY = "a command is open"
    DEAF = "the child's STDIN has ended"
    OVER = "the child has ended"


_BOLT_HOST = ("setup", "tuple", "heartbeat", "list", "nonsense", "closes")
_BOLT = ("pid", "emit", "settle", "log", "sync", "report", "other", "exits")
_SPOUT_HOST = ("setup", "command", "list", "nonsense", "closes")
_SPOUT = ("pid", "emit", "log", "sync", "report", "other", "exits")
BOLT_ACTORS = dict.fromkeys(_BOLT_HOST, "bolt-host") | dict.fromkeys(_BOLT, "bolt")
SPOUT_ACTORS = dict.fromkeys(_SPOUT_HOST, "spout-host") | dict.fromkeys(_SPOUT, "spout")
"""Who does what. A host sends the `setup`, a `tuple`, a `heartbeat` or a `command`, a `list` of task ids, or `nonsense`
(what no host should send), and `closes` the child's STDIN. A child says its `pid`, an `emit`, `settle`s (ack or fail),
a `log`, a `sync`, a `report` (error or metrics), or something `other`; and it `exits`."""

HOST_WAITS_FOR_THE_PID = "STORM-HS-14"
SETUP_COMES_FIRST = "STORM-HS-01"
PID_COMES_FIRST = "STORM-HS-13"
_TOO_EARLY = never(PID_COMES_FIRST, "it came before the process id")
_NOT_YET = never(HOST_WAITS_FOR_THE_PID, "it was sent before the process id came")
_UNSET = unreachable("whatever comes first is taken for the setup")
NO_COMMAND_BEFORE_THE_SYNC = "STORM-SPOUT-06"
_ONE_AT_A_TIME = never(NO_COMMAND_BEFORE_THE_SYNC, "a command came before the sync of the one before")
NOTHING_BETWEEN_SYNC_AND_COMMAND = "STORM-SPOUT-04"
_OUT_OF_TURN = never(NOTHING_BETWEEN_SYNC_AND_COMMAND, "it came when no command was open")
NO_SYNC_WITHOUT_COMMAND = "STORM-SPOUT-22"
_UNASKED = never(NO_SYNC_WITHOUT_COMMAND, "a sync came when no command was open")
_ONCE = unreachable("whatever comes behind the first message is no setup")
_AGAIN = unreachable("a process id that is said again is something other")
_CLOSED = unreachable("what is sent to a child that no longer reads is not judged")
_GONE = unreachable("what is read once a child has ended is not judged")


def _row(actions: tuple[str, ...], cell: Cell, **others: Cell) -> dict[str, Cell]:
    """The same cell for all of these actions but for the `others`."""
    return dict.fromkeys(actions, cell) | others


_B, _S = BoltPhase, SpoutPhase
BOLT_MACHINE = Machine(_B, BOLT_ACTORS, {
    _B.NEW: _row(_BOLT_HOST, _UNSET, setup=_B.SETUP, nonsense=_B.SETUP, closes=_B.DEAF) | _row(_BOLT, _TOO_EARLY),
    _B.SETUP: _row(_BOLT_HOST, _NOT_YET, setup=_ONCE, closes=_B.DEAF)
    | _row(_BOLT, _TOO_EARLY, pid=(_B.SETUP, _B.RUN), exits=_B.OVER),
    _B.RUN: _row(_BOLT_HOST, _B.RUN, setup=_ONCE, closes=_B.DEAF)
    | _row(_BOLT, _B.RUN, pid=_AGAIN, exits=_B.OVER),
    _B.DEAF: _row(_BOLT_HOST, _CLOSED, closes=_B.DEAF) | _row(_BOLT, _B.DEAF, exits=_B.OVER),
    _B.OVER: _row((*_BOLT_HOST, *_BOLT), _GONE),
})  # fmt: skip
SPOUT_MACHINE = Machine(_S, SPOUT_ACTORS, {
    _S.NEW: _row(_SPOUT_HOST, _UNSET, setup=_S.SETUP, nonsense=_S.SETUP, closes=_S.DEAF) | _row(_SPOUT, _TOO_EARLY),
    _S.SETUP: _row(_SPOUT_HOST, _NOT_YET, setup=_ONCE, closes=_S.DEAF)
    | _row(_SPOUT, _TOO_EARLY, pid=(_S.SETUP, _S.IDLE), exits=_S.OVER),
    _S.IDLE: _row(_SPOUT_HOST, _S.IDLE, setup=_ONCE, command=_S.BUSY, nonsense=(_S.IDLE, _S.BUSY), closes=_S.DEAF)
    | _row(_SPOUT, _OUT_OF_TURN, pid=_AGAIN, sync=_UNASKED, other=_S.IDLE, exits=_S.OVER),
    _S.BUSY: _row(_SPOUT_HOST, _S.BUSY, setup=_ONCE, command=_ONE_AT_A_TIME, closes=_S.DEAF)
    | _row(_SPOUT, _S.BUSY, pid=_AGAIN, sync=_S.IDLE, exits=_S.OVER),
    _S.DEAF: _row(_SPOUT_HOST, _CLOSED, closes=_S.DEAF) | _row(_SPOUT, _S.DEAF, exits=_S.OVER),
    _S.OVER: _row((*_SPOUT_HOST, *_SPOUT), _GONE),
})  # fmt: skip
MACHINES = {"bolt": BOLT_MACHINE, "spout": SPOUT_MACHINE}
"""The machine of each kind of child with its host."""
NEW = {"bolt": _B.NEW, "spout": _S.NEW}
RUNS = {"bolt": _B.RUN, "spout": _S.IDLE}
"""The phase behind the process id."""
SETUPS, DEAFS, OVERS = (_B.SETUP, _S.SETUP), (_B.DEAF, _S.DEAF), (_B.OVER, _S.OVER)
