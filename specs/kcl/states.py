"""What a KCL MultiLang conversation has come to: profiles, and what is kept of what was said and seen.

Source: 002_696459db5d1db11c.txt; what newer versions changed on the wire is in `WIRES`. The phases, and who may say
what in each, are in machine.py; what each role is held to is in child/ and host/.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from specs.events import Fact, Said
from specs.kcl.machine import Phase
from specs.requirement import load
from specs.values import quick_replace

PREFIX = "KCL-"
REQUIREMENTS = load(Path(__file__).with_name("requirements.toml"))


@dataclass(frozen=True, slots=True)
class Wire:
    """One profile. `number`: the member that carries a checkpoint's number; `finals`: actions that end a conversation;
    `rich`: initialize, records and processRecords have the members of KCL 1.7.2 and later."""

    number: str
    finals: tuple[str, ...]
    requested: bool
    rich: bool


_LATER = Wire("sequenceNumber", ("leaseLost", "shardEnded"), requested=True, rich=True)
WIRES: Mapping[str, Wire] = MappingProxyType(
    {
        "kcl1-seed": Wire("checkpoint", ("shutdown",), requested=False, rich=False),
        "kcl1-seq": Wire("sequenceNumber", ("shutdown",), requested=True, rich=True),
        "kcl2": _LATER,
        "kcl3": _LATER,
    }
)
FINALS = frozenset({"shutdown", "leaseLost", "shardEnded"})
KNOWN = frozenset(
    {"action", "shardId", "records", "reason", "checkpoint", "error", "sequenceNumber", "subSequenceNumber"}
    | {"millisBehindLatest", "data", "partitionKey", "approximateArrivalTimestamp"}
)
"""Members of a host's messages and records, in any profile."""
ACTIONS = frozenset({"initialize", "processRecords", "shutdownRequested"}) | FINALS
"""Everything that a host asks for, in any profile."""
CLOSED_TO_CHECKPOINTS = frozenset({"initialize", "leaseLost"})
"""Actions in which a child must not checkpoint."""


@dataclass(frozen=True, slots=True)
class Config:
    """`scripted`: the child's user code does what records tell it; `noted`: and notes down what it sees. `decodes`: it
    is the library that decodes base64, and not what the suite or its user puts around it. `asked`: what the host is
    asked to do is seen, and what it answers. `hasty`: the tester does not wait for its turns, so that what
    is seen beside the wire may overtake what is on it. `aside`: a host is told what checkpoints meet while a call is
    open; its test program may as well do one thing after the other."""

    profile: str = "kcl1-seed"
    scripted: bool = False
    noted: bool = False
    asked: bool = False
    hasty: bool = False
    aside: bool = True
    decodes: bool = False

    @property
    def wire(self) -> Wire:
        """The table of the profile."""
        return WIRES[self.profile]


class Misuse(Enum):
    """What a child was sent that no host should send. What it may make of that is in child/misuse.py."""

    NO_MESSAGE = "a line that is no message"
    BLANK_LINE = "a blank line"
    BROKEN_ACTION = "an action that lacks a member, or has one of the wrong type"
    NO_BASE64 = "data that is no base64"
    OUT_OF_ORDER = "an action out of order"
    TOO_SOON = "an action while one was open"
    STRAY_ANSWER = "an answer that nobody had asked for"
    OTHER_ANSWER = "an answer for another number, or in another member"
    NO_NEWLINE = "a message without its newline"
    HALF_LINE = "half a line"
    OTHER_PROFILE = "an action of another profile"
    NO_ANSWER = "something else instead of the answer to a checkpoint"

    __hash__ = object.__hash__


class Failure(Enum):
    """What a child did that its host must not pass over: the open call fails, or the next one."""

    OTHER_STATUS = "a status for another action"
    NO_STATUS = "a status for what is no action"
    SECOND_STATUS = "a second status"
    EARLY_STATUS = "a status from before"
    REQUEST_OUTSIDE = "a checkpoint request outside of its time"
    ENDED_INSIDE = "the end of the child"
    ENDED_BETWEEN = "the end of the child before the action"
    HALF_LINE = "half a line and the end of the child"

    __hash__ = object.__hash__


class Oddity(Enum):
    """What a child did that its host must take without harm."""

    PLAIN_TEXT = "a line of plain text, or a blank one"
    NO_MESSAGE = "a line of JSON that is no message"
    CUT_MESSAGE = "a cut message, or one behind other text"
    TEXT_BEHIND = "a message with text behind it"
    UNKNOWN_MEMBERS = "a message with unknown members"
    OTHER_MEMBER = "a request with the member of another profile"
    STATUS_TOO_SOON = "a status behind a request that was not answered"
    REQUEST_TOO_SOON = "a request behind one that was not answered"
    BAD_NUMBER = "a request for what is no number"
    BAD_SUB_NUMBER = "a request whose subSequenceNumber is no number"
    HOST_MESSAGE = "a message that only a host may send"
    HALF_LINE = "half a line and the end of the child"
    LATE_NEWLINE = "a line that was not ended at once"
    FLOOD = "a line of megabytes, or a status after the final one"
    NO_UTF8 = "octets that are no UTF-8"
    TWIN_MEMBERS = "a message with a member twice"
    STDERR = "octets on STDERR"
    REFUSAL = "a checkpoint that failed"

    __hash__ = object.__hash__


class Numbers:
    """A set that only grows, as a value: adding to it costs what is added, not what is there.

    Values that come from one another share one dict; each sees of it what was there when it was made.
    """

    __slots__ = ("_count", "_places")

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._count = 0

    def union(self, numbers: Iterable[str]) -> Numbers:
        """These and `numbers`."""
        found = Numbers()
        shared = self._count == len(self._places)  # else another value has grown out of this one already
        places = self._places if shared else dict(itertools.islice(self._places.items(), self._count))
        for number in numbers:
            places.setdefault(number, len(places))
        found._places, found._count = places, len(places)
        return found

    def __contains__(self, number: str) -> bool:
        return self._places.get(number, self._count) < self._count

    def place(self, number: object) -> int:
        """How many were there before it; -1 when it is not there."""
        at = self._places.get(number, -1) if isinstance(number, str) else -1
        return at if at < self._count else -1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        return itertools.islice(self._places, self._count)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Numbers) or self._count != other._count:
            return False
        return self._places is other._places or list(self) == list(other)

    def __hash__(self) -> int:
        return hash(self._count)


class Seen(NamedTuple):
    """An observation of user code that is due. `value` is what it must show; `free`: it may be left out, since a
    library need not trouble user code with it; `escaped`: its message was written in ASCII; `begun`: the first records
    of the batch were seen already, and `value` is the rest."""

    call: str
    value: Any = None
    free: bool = False
    escaped: bool = False
    begun: bool = False


@quick_replace
class Conv(NamedTuple):
    """One conversation.

    `action`: the open action, or the last one, and `before` the one before it, where it matters that the child read
    on; `extra`: the open action has members that no profile knows; `was`: the phase in which the host ended the
    child's STDIN; `batch`: how many records, or KiB, the open action has. `numbers`, `last`: sequence numbers
    delivered, all and the last. `since`: the phases that were left since the judged role acted last, and
    `since_other` since the other one did: a recording is judged by the same model, whoever is judged. `waited_ms`: how
    long it was silent while an action was open.

    What user code does: `steps` are the checkpoints that it still has to ask for in this action; `raising`: it raises
    after them, `raised`: it was told to, ever; `prints`: it prints in this action; `loose`: it raised, so the library
    may do what it likes until the status. `number` is what the open request asks for, `sub` the number beside it,
    `tried` what the last one did, `asked` how many there were in this action; `own`: user code did not ask for it.
    `refused`: the last answer named an error; `made`: the numbers granted, ever. `due` are observations that
    have to come.

    How the child fares: `later` are actions that were sent while one was open, which it comes to when that is done;
    `misuse` is the invalid input that it was sent, `instead` the action that came in place of an answer, `taken` that
    user code saw it, `served` that the child answered it; `stuck`: why it is believed to have stopped; `tail`: the end
    of what it printed since the last message; `words`: it wrote to STDERR, `unshown`:
    but not since user code was told to raise again; `muted`: its STDOUT has ended; `partial`: octets of an unfinished
    line came.

    What the host is asked: `started` that it was told to start; `call` is the open call and `sent` that its message was
    sent; `error` is what its checkpoints meet, `must_refuse` why the open request must be refused whatever they meet.
    `requests` and `granted` are the numbers asked for and granted in this action, `attempts` those that reached the
    checkpointer; `top` and `latest`: the highest place of a number granted in any, and that of the one granted last.
    `failing`: what the child did so that the host must say that it failed; `failed`: it did; `over`: its program has
    ended. `stray`: what lies unread that must make the next action fail; a status among it is `stray_for` an action.
    `odd`: what the host had to take without harm since the last action was done. `gone`: the child has ended.
    `children`: how many were started; `settings`: requests to set the checkpointer that were not answered. `early`: a
    call that is said to be done, and its message has not come. `unended`: octets of a line of the host came, without
    its end. `unread`: what the child wrote behind the open request, which the host reads once that is answered, and
    what the host said beside the wire of what it read there.
    """

    phase: Phase = Phase.NEW
    action: str = ""
    before: str = ""
    extra: bool = False
    was: Phase = Phase.NEW
    batch: int = 0
    numbers: Numbers = Numbers()
    last: str | None = None
    since: tuple[Phase, ...] = ()
    since_other: tuple[Phase, ...] = ()
    waited_ms: int = 0
    steps: tuple[Any, ...] = ()
    loose: bool = False
    number: Any = None
    sub: Any = None
    own: bool = False
    asked: int = 0
    tried: Any = None
    refused: bool | None = None
    made: Numbers = Numbers()
    due: tuple[Seen, ...] = ()
    misuse: Misuse | None = None
    later: tuple[Any, ...] = ()
    instead: str = ""
    taken: bool = False
    served: bool = False
    stuck: str = ""
    tail: bytes = b""
    words: bool = False
    unshown: bool = False
    muted: bool = False
    partial: bool = False
    raised: bool = False
    raising: bool = False
    prints: bool = False
    call: Any = None
    sent: bool = False
    error: Any = None
    must_refuse: Oddity | None = None
    requests: tuple[Any, ...] = ()
    granted: tuple[Any, ...] = ()
    top: int = -1
    attempts: tuple[Any, ...] = ()
    failing: Failure | None = None
    failed: bool = False
    stray: Failure | None = None
    odd: tuple[Oddity, ...] = ()
    gone: bool = False
    children: int = 0
    settings: int = 0
    early: str = ""
    unended: bool = False
    over: bool = False
    unread: tuple[Said | Fact, ...] = ()
    stray_for: str = ""
    latest: int = -1
    started: bool = False

    def knows(self, number: Any) -> bool:
        """True for a sequence number that was delivered."""
        return isinstance(number, str) and number in self.numbers


@quick_replace
class State(NamedTuple):
    """All conversations, by the number of their connection."""

    config: Config
    convs: tuple[tuple[int, Conv], ...] = ()

    def conv(self, number: int) -> Conv:
        """The conversation on a connection."""
        for known, conv in self.convs:
            if known == number:
                return conv
        return _FRESH

    def put(self, number: int, conv: Conv) -> State:
        """The state with one conversation changed."""
        if len(self.convs) <= 1 and (not self.convs or self.convs[0][0] == number):
            return State(self.config, ((number, conv),))
        return State(self.config, tuple(sorted({**dict(self.convs), number: conv}.items(), key=lambda pair: pair[0])))


_FRESH = Conv()
