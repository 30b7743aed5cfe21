"""What is remembered of a conversation with a client, as values.

What the client was told is known by what the application calls it: subscriptions and transactions by a name, messages
by what `receive` gave. How the client calls it on the wire is learnt from its frames.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from specs.stomp.client.machine import K
from specs.stomp.frames import Frame, Headers
from specs.stomp.states import Config
from specs.values import quick_replace

UNBEGUN = -1
"""The place of a transaction that the client was never told to begin."""


class Told(NamedTuple):
    """A command that was not answered: the `nth` that was given."""

    nth: int
    op: str
    given: Mapping[str, Any]


@quick_replace
class Send(NamedTuple):
    """A message that the application sends: `nth` is its command. `tx`: the place of the transaction that it is part of
    among those of the state, UNBEGUN where there is none of that name, None where it is part of none. `seen`: its SEND
    has come."""

    nth: int
    destination: str
    body: bytes
    headers: Headers
    tx: int | None
    seen: bool = False


@quick_replace
class Sub(NamedTuple):
    """A subscription: `nth` is the command that makes it, `wire` its id once SUBSCRIBE was seen (None: without one).

    `seen`: its SUBSCRIBE has come; `leaves`: the command that ends it was given; `ended`: its UNSUBSCRIBE has come.
    """

    nth: int
    name: str
    destination: str
    mode: str
    wire: str | None = None
    seen: bool = False
    leaves: int = -1
    ended: bool = False

    @property
    def open(self) -> bool:
        """True between SUBSCRIBE and UNSUBSCRIBE."""
        return self.seen and not self.ended


@quick_replace
class Tx(NamedTuple):
    """A transaction: `nth` is the command that begins it. `verb`: how the application ends it, by the command `ends`.
    `ended`: that frame has come."""

    nth: int
    name: str
    wire: str | None = None
    seen: bool = False
    verb: str = ""
    ends: int = -1
    ended: bool = False


@quick_replace
class Push(NamedTuple):
    """A MESSAGE that was said. `sub` is the name of its subscription. `sure`: it has to reach the application; `bad`:
    the requirement by which it must not. `ref` is what the application calls it. `settled`: ACK or NACK has come for
    it, `by` of which of the messages. `behind`: the requirement by which nothing of its kind is given any more, because
    of what was said before. `old`: it was said on a connection that has ended since. `before` is what was special about
    what was said just before it, and about how it was written."""

    frame: Frame
    sub: str
    sure: bool = True
    bad: str = ""
    ref: Any = None
    given: bool = False
    settled: str = ""
    by: int = -1
    behind: str = ""
    old: bool = False
    before: frozenset[str] = frozenset()


@quick_replace
class Want(NamedTuple):
    """An acknowledgement that the application asked for: `nth` is the command, `at` the place of the message. `tx`: see
    `Send`."""

    nth: int
    verb: str
    at: int
    tx: int | None
    met: bool = False


@quick_replace
class ClientState(NamedTuple):
    """A conversation with a client.

    `told` are open commands, oldest first, of `commands` in all; `failed` are those that were answered by an error.
    `connect` is what the last connect was given, and `offered` the versions in CONNECT (1.0 where it has none);
    `version` is that of the session. `early`: connect was answered before CONNECTED was said, and `unconnected`: by an
    error. `asked_beats` is the heart-beat header of CONNECT, `greeting` is CONNECTED. `bye` is the receipt of
    DISCONNECT, and `bye_said`: it was said. `receipts` are those that were asked for and not said, each with the
    command whose frame asked for it; `answered` are the commands of those that were said, and `refused` those about
    whose frames an ERROR was said instead.

    `mine_ms` is how often the client has to beat, `theirs_ms` how often the tester has; `silent_ms` is for how long the
    client has been silent for certain, `mute_ms` for how long the tester has at most, and `waited_ms` is the longest of
    its silences; `still_ms` and `rested_ms` are the same of what is certain. `whole_ms`: for how long for certain no
    whole frame or line end was said. `held_ms`: how long it has waited for certain for a RECEIPT that a message
    asked for. `marks` are requirements that could be the reason if what was said last had gone
    wrong; `large`: something was beyond what a client has to take. `parted`: a frame was said in pieces. `written` are
    the marks of how what is said next is put into octets (written.py). `left`: it was told to leave, or leaves by
    itself. `former` are the destinations of subscriptions on connections that have ended: a client may subscribe to
    them again by itself. `spoilt` describes what may have ended the connection, and `dropped`: the tester has ended it.
    `fatal` is the requirement by which nothing behind it may be given."""

    config: Config
    phase: K = K.NEW
    told: tuple[Told, ...] = ()
    commands: int = 0
    failed: frozenset[int] = frozenset()
    connect: Mapping[str, Any] = {}
    offered: tuple[str, ...] = ()
    version: str = ""
    early: bool = False
    unconnected: bool = False
    asked_beats: str = ""
    greeting: Frame | None = None
    sends: tuple[Send, ...] = ()
    subs: tuple[Sub, ...] = ()
    txs: tuple[Tx, ...] = ()
    pushes: tuple[Push, ...] = ()
    wants: tuple[Want, ...] = ()
    receipts: tuple[tuple[str, int], ...] = ()
    answered: frozenset[int] = frozenset()
    refused: frozenset[int] = frozenset()
    bye: str | None = None
    bye_said: bool = False
    mine_ms: int = 0
    theirs_ms: int = 0
    silent_ms: int = 0
    mute_ms: int = 0
    waited_ms: int = 0
    still_ms: int = 0
    whole_ms: int = 0
    rested_ms: int = 0
    held_ms: int = 0
    marks: frozenset[str] = frozenset()
    parted: bool = False
    written: frozenset[str] = frozenset()
    large: bool = False
    dropped: bool = False
    left: bool = False
    former: frozenset[str] = frozenset()
    spoilt: str = ""
    fatal: str = ""

    @property
    def lost(self) -> bool:
        """True when what was said or done may end the connection, or has ended it."""
        return self.phase in (K.LOST, K.OVER)
