"""What is known of an implementation, and what is remembered of a conversation, as values.

Source: MessagePack-RPC specification, Messages. Where a conversation stands is in specs/msgpack/machine.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from specs.msgpack.lines import Ask
from specs.msgpack.machine import CONNECTION, C, P, Q
from specs.values import quick_replace

NULLABLE, ARGUMENTS, ORDER, VERSIONS, LITERALS = (
    "nullable type arguments",
    "modifiers and gaps of arguments",
    "arguments in another order than that of their ids",
    "two versions as two scopes",
    "a literal for what is nullable",
)
OPEN_POINTS = frozenset((NULLABLE, ARGUMENTS, ORDER, VERSIONS, LITERALS))
"""What a document may hold for a codec or a server, unless discovery finds that it is refused; ML-08."""


@dataclass(frozen=True, slots=True)
class Config:
    """What the model knows of the implementation before anything is said.

    `methods` maps what this suite calls a method (echo, add, fail, sleep, count, bump) to its name, for those that
    are there. `malformed` is the declared reaction to what is no message, "" when nothing was declared. `old_raw`:
    it speaks the format of before 2013, without bin and str 8. `serial`: it serves one connection after the other,
    or makes one call after the other. `brief`: it ends a connection as soon as nothing is open on it. `curious`: a
    client that asks for versions by itself. `way`: how a codec is spoken to. `one_number`: its language does not tell
    1.0 from 1. Of a processor of the interface language: the `profile` that it claims, whether it takes `forward_refs`
    and `id_zero`, and whether all of a document may stand in `one_line`. Of a server that is made from a document:
    the `layout` of messages, "" when it is none that is known, whether a `raw` is written as bin, and how the first
    argument is named to a behaviour `echo` (-1: not). Of a client that is made from one: the id of the `first` of the
    params, and in which form it knows `exceptions`: "list" (the path first), "code" (the path), or "" for none.
    `taken`: the open points of documents that are taken. `depth` and `size`: the most containers around a value, and
    octets of a message, that it declares to take, 0 when it declares nothing. `declared` are choices that it declares
    where the text leaves one, by their key in its manifest.
    """

    role: str
    methods: tuple[tuple[str, str], ...] = ()
    malformed: str = ""
    old_raw: bool = False
    one_number: bool = False
    way: str = ""
    serial: bool = False
    brief: bool = False
    curious: bool = False
    profile: str = "core"
    forward_refs: bool = False
    id_zero: bool = False
    one_line: bool = False
    layout: str = ""
    raw: bool = True
    echo_form: int = -1
    first: int = 1
    exceptions: str = ""
    taken: frozenset[str] = OPEN_POINTS
    depth: int = 0
    size: int = 0
    declared: tuple[tuple[str, str], ...] = ()

    def declares(self, key: str) -> str:
        """What its manifest says for a key, "" when it says nothing."""
        return next((value for name, value in self.declared if name == key), "")

    @property
    def extensions(self) -> frozenset[str]:
        """What stands behind `core` in the profile."""
        return frozenset(self.profile.split("+")[1:])

    def name(self, method: str) -> str:
        """The name of a method, "" when it is not there."""
        return dict(self.methods).get(method, "")


class Want(NamedTuple):
    """What a request calls for.

    `kind`: "value" (a result that is `value`), "error", "either" (that value or an error), "count" (an integer), or
    "free" (any one answer). `rule` is what a server breaks that never answers. `closes`: ending the connection is an
    answer as well, and `odd` is the requirement of the format by which. `level` overrides that of a call that must
    fail.
    """

    kind: str
    value: Any = None
    rule: str = ""
    closes: bool = False
    odd: str = ""
    level: str | None = None


@quick_replace
class Asked(NamedTuple):
    """A request that was said. `behind`: others were still open on the connection. `after_bad`: something that is no
    message had been said before, on any connection. `least`: a count that must have been reached. `parted`: it came in
    parts."""

    id: int
    want: Want
    behind: bool = False
    after_bad: bool = False
    least: int | None = None
    parted: bool = False


@quick_replace
class Conn(NamedTuple):
    """One connection. `done` are ids that were answered, `given` the last few requests that were. `noted`: a
    notification was said; `fresh` are ids that were answered since the last one. `midway`: a message was begun and not
    finished. `bad` describes what spoilt it."""

    phase: P = P.LIVE
    asked: tuple[Asked, ...] = ()
    done: frozenset[int] = frozenset()
    fresh: frozenset[int] = frozenset()
    given: tuple[Asked, ...] = ()
    noted: bool = False
    midway: bool = False
    bad: str = ""


@quick_replace
class State(NamedTuple):
    """A conversation with a server. `counted` is the last count that was answered, `bumped` the notifications that must
    have been counted since. `bad`: something that is no message was said on some connection."""

    config: Config
    conns: Mapping[int, Conn]
    counted: int | None = None
    bumped: int = 0
    bad: bool = False


class Call(NamedTuple):
    """A call or notification that a client was told to make; no other of the plan has its `name`. `number` is the id
    that it chose, once it is known. `outcome`: "" while it is open, "result", "error", or "lost" when the connection
    was spoilt or closed. `again`: the results of further responses with its id. `crossed`: a stray response had its id
    before it was seen to be sent."""

    op: str
    method: str
    params: Any
    name: str
    number: int | None = None
    sent: bool = False
    outcome: str = ""
    value: Any = None
    again: tuple[Any, ...] = ()
    crossed: bool = False


@quick_replace
class ClientState(NamedTuple):
    """A conversation with a client. `told` are commands that were not answered, oldest first, as (op, name).
    `strays`: responses that belong to no open call, as (id, result). `left`: it was told to end its connection. `asks`:
    it has asked for something of its own accord, which the tester does not answer."""

    config: Config
    phase: C = C.READY
    calls: tuple[Call, ...] = ()
    told: tuple[tuple[str, str], ...] = ()
    strays: tuple[tuple[Any, Any], ...] = ()
    left: bool = False
    asks: bool = False

    @property
    def stray(self) -> bool:
        """True once a response was said that belongs to no open call."""
        return bool(self.strays)

    @property
    def lost(self) -> bool:
        """True when what was said or done may end the connection, or has ended it."""
        return self.phase in (C.LOST, C.OVER)


@quick_replace
class CodecState(NamedTuple):
    """Questions that a codec has not answered, oldest first."""

    config: Config
    phase: Q = Q.IDLE
    asked: tuple[Ask, ...] = ()


def diagram() -> str:
    """The phases of one connection to a server as a Mermaid diagram, drawn from the table that runs."""
    return CONNECTION.diagram()
