"""What a Storm multilang conversation has come to, as values; its phases are in machine.py.

Source: 000_a44a7e31e51ca0fa.txt, "Initial Handshake", "Spouts", "Bolts", "Handling Heartbeats". A spout takes turns
with its host; a bolt does not, so its part of the model is an envelope: what the host said is held against it until it
is answered, and what the bolt says is judged by all that was said before it arrived.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from specs.machine import Phase
from specs.requirement import load
from specs.storm.machine import NEW
from specs.values import quick_replace

REQUIREMENTS = load(Path(__file__).with_name("requirements.toml"))
PREFIX = "STORM-"
SEED = "seed"
EXTENSIONS = (
    "x-error",
    "x-need-task-ids",
    "x-anchor-string",
    "x-loglevel",
    "x-metrics",
    "x-activate",
    "x-spout-empty-id",
    "x-hb-null-comp",
    "x-hb-any-message",
    "x-hb-timing",
    "x-priority",
    "x-task0",
    "x-utf8",
    "x-max-pending",
    "x-serializer",
    "x-reset-cwd",
    "x-tick",
)
"""What the text does not have: newer, or undocumented. A profile is `seed` and any of these, joined by `+`."""
HOSTS = MappingProxyType({"bolt-host": "bolt", "spout-host": "spout"})
"""Which child each host has."""
GRACE_MS = 100
"""Beyond the timeout, before a heartbeat is late."""
NOTICE_MS = 1400
"""Beyond the timeout, before a host that has not noticed is late: hosts look at the clock once in a second or so."""


def valid_profile(profile: str) -> bool:
    """True for `seed`, alone or with extensions, each once."""
    first, *more = profile.split("+")
    return first == SEED and len(set(more)) == len(more) and set(more) <= set(EXTENSIONS)


@dataclass(frozen=True, slots=True)
class Config:
    """`role` is judged. `extensions` are claimed. `scripted`: user code does what tuples and conf tell it;
    `noted`: and notes down what it sees; `serial`: it is called for one tuple after the other, and waits for the task
    ids of an emit; None while that is not known. `timed`: a host takes the timeout of its child from conf."""

    role: str = "bolt"
    extensions: frozenset[str] = frozenset()
    scripted: bool = False
    serial: bool | None = None
    noted: bool = False
    timed: bool = True

    @property
    def hosted(self) -> bool:
        """True when a host is judged."""
        return self.role in HOSTS

    @property
    def child(self) -> str:
        """The name of the party that is the child: bolt or spout."""
        return HOSTS.get(self.role, self.role)

    @property
    def host(self) -> str:
        """The name of the party that is the host."""
        return self.role if self.hosted else "host"

    def has(self, extension: str) -> bool:
        """True when it is claimed."""
        return extension in self.extensions


class Misuse(Enum):
    """What a child was sent that no host should send, or (the last) what no spout knows."""

    SETUP = "a setup that cannot be followed"
    NO_MESSAGE = "what is no JSON, or no message"
    LACKING = "a tuple that lacks a member"
    NUMBER_ID = "a tuple whose id is a number"
    UNKNOWN_COMMAND = "a command that is not known"
    NO_COMMAND = "an object without a command"
    SURPLUS_LIST = "task ids that no emit asked for"
    ODD_LIST = "task ids that are no numbers"
    BLANK = "blank lines, or lines that end with CR LF"
    NO_UTF8 = "octets that are no UTF-8"
    UNKNOWN_ID = "ack or fail for an id that was not emitted"


class Row(Enum):
    """What a child does to a host beside, or in place of, its messages: the rows of the catalogue."""

    PID = "something odd in place of the process id"
    NO_PID = "no process id"
    STRAY_LINE = "a stray line before a message"
    STRAY_MESSAGE = "a stray message that is no JSON"
    TWO = "two JSON texts before one `end`"
    TRAILING = "text behind the JSON"
    BLANK = "blank lines before the JSON"
    EMPTY = "an `end` without a message"
    NO_END = "something like `end`"
    CRLF = "lines that end with CR LF"
    NO_OBJECT = "an array, a text, a number or null"
    NO_COMMAND = "an object without a command that is known"
    NO_TUPLE = "an emit without a tuple"
    ODD_TASK = "an emit to what is no task"
    ODD_STREAM = "an emit to what is no stream"
    ODD_ANCHOR = "an anchor that is no open tuple"
    ODD_ACK = "ack or fail for what is no open tuple"
    OTHERS = "what the other kind of child, or a host, says"
    CUT = "a message that is cut by the end of the child"
    ENDED = "the end of the child with some status"
    FLOOD = "a message of many MiB"
    NO_UTF8 = "octets that are no UTF-8"
    TWICE = "a member that stands twice"
    ODD_NUMBER = "a number that few can carry"
    NO_CHILD = "no child that says its process id"
    LEFT = "the end of the child"
    SILENT = "a child that is silent for longer than the timeout"
    UNREAD = "a child that stands still and reads nothing of what is sent"
    STDERR = "a child that fills its STDERR"
    SYNC = "a sync that answers no heartbeat"


class Expected(NamedTuple):
    """A message that is due. `kind`: emit, ack or fail. `id`: of an emit by a spout, or of the tuple to settle.
    `wants`: task ids are sent for it. Of a host it is the effect that is due, and `more` are the extensions that it
    leans on.
    """

    kind: str
    id: Any = None
    values: Any = None
    stream: Any = "default"
    task: Any = None
    anchors: tuple[Any, ...] = ()
    wants: bool = True
    more: tuple[str, ...] = ()


@quick_replace
class Task(NamedTuple):
    """A callback: a tuple or a command, and what its user code was told. `due` comes in this order, `logs` in any;
    `raising`: user code raises after it; `seen`: the observation that is due, None once it was made; `begun`: something
    was seen of it; `again`: a tuple before it had its id, so that it is a recommendation to work on it (S-39)."""

    id: Any
    due: tuple[Expected, ...] = ()
    logs: tuple[str, ...] = ()
    raising: bool = False
    seen: Any = None
    begun: bool = False
    again: bool = False

    @property
    def open(self) -> bool:
        """True while anything is due."""
        return bool(self.due or self.logs or self.raising or self.seen is not None)


@quick_replace
class Conv(NamedTuple):
    """One conversation with a judged child.

    `setup` is what it was sent, `folder` the directory that there is, `files` what was seen in it by name, `pid` what
    it said, `initialized` that the observation of it was made, or need not be.

    `open` are ids of tuples that are neither acked nor failed, `settled` those that are, `beats` those of heartbeats,
    and `tasks` what user code still has to do for tuples or for the command, of which `command` is the name; `nexts` of
    them were next; `active`: a spout was activated, and not deactivated since. `unanswered`: heartbeats without a sync;
    `late`: of these, so many were missed while the child waited for task ids; `spare`: syncs that need no heartbeat;
    `extras`: syncs that answered none, `done` tuples that were worked on, `raised` of which user code raised. `owing`:
    emits whose task ids were not sent; `lists`: sent, and not seen by user code, `passed` of them before the
    command; `emitted`: ids of a spout's emits; `waived`: it said of an emit that it needs none.
    `lazy`: it need not ack; `extra`: the open command has further members; `waited_ms`: how long it was silent inside
    the command; `listed`: task ids were sent in it; `surplus`: lists that no emit asked for.

    `misuse`: what it was sent that no host should send; `behind`: ids of tuples that a bolt was sent after it,
    `called`: a heartbeat was, `goes_on`: it answered one; `excused`: user code raised or there was a misuse, so that it
    may end; `junk`: what a spout was sent that opened no command, and has not answered; `talked`: what user code
    printed; `words`: it wrote to STDERR; `partial`: octets of a message that is not whole came; `was`: the phase in
    which its STDIN ended; `cut`: in the middle of a message.
    """

    phase: Phase = NEW["bolt"]
    setup: Any = None
    folder: str = ""
    files: tuple[tuple[str, Any], ...] = ()
    pid: Any = None
    initialized: bool = False
    open: tuple[Any, ...] = ()
    settled: frozenset[Any] = frozenset()
    beats: frozenset[Any] = frozenset()
    tasks: tuple[Task, ...] = ()
    command: str = ""
    nexts: int = 0
    active: bool = False
    unanswered: int = 0
    late: int = 0
    spare: int = 1
    extras: int = 0
    done: int = 0
    raised: int = 0
    owing: int = 0
    lists: tuple[Any, ...] = ()
    passed: int = 0
    emitted: tuple[Any, ...] = ()
    waived: bool = False
    lazy: bool = False
    extra: bool = False
    waited_ms: int = 0
    listed: bool = False
    surplus: tuple[Any, ...] = ()
    misuse: Misuse | None = None
    behind: tuple[str, ...] = ()
    called: bool = False
    goes_on: bool = False
    excused: bool = False
    junk: int = 0
    talked: str = ""
    words: bool = False
    partial: bool = False
    was: Phase = NEW["bolt"]
    cut: bool = False
    muted: bool = False

    @property
    def blocked(self) -> bool:
        """True while the child may wait for task ids."""
        return self.owing > 0

    @property
    def raising(self) -> bool:
        """True while user code raises, and what comes of that has not come."""
        return any(task.raising for task in self.tasks)


@quick_replace
class Owing(NamedTuple):
    """What duties look at."""

    config: Config
    conv: Any


@quick_replace
class Live(NamedTuple):
    """A tuple that a judged host was given: what its caller calls it, how it stands on the wire once it was seen there,
    and what it must show."""

    name: Any
    wire: Any
    comp: Any
    stream: Any
    task: Any
    values: Any


@quick_replace
class HostConv(NamedTuple):
    """One conversation with a judged host.

    `given`: what it was started with; `setup` that it was seen; `pid` that the child has said its own; `children`: how
    many it started. `calls` are ops without an answer, `settings` every list of task ids that it was given and `known`
    how many of them it has confirmed, `lowest` the setting of the last list.

    `waiting` are tuples that were not seen on the wire, or commands of a spout; `live` those that were, `ids` every id
    that was used on the wire; `command` is the open command of a spout and `held` what the child said after its sync.
    `lists`: for each emit that waits for task ids the setting that held; `effects` what must show beside the wire,
    `logs` the same of logs, and `alarms` those that may be reported as errors too. `outstanding`: message ids of
    a spout's emits that were neither acked nor failed.

    `beats`: heartbeats without an answer, `seen` how many there were. `quiet_ms`, `most_ms`: how long the child has not
    given a sign of life, at least and at most; `idle_ms`: how long no heartbeat came. `timeout_ms`: what it was told;
    `lived`: the child took a good part of it and spoke; `late`: so much that it may not have been heard in time.

    `failing`: it must give up, because of this; `maybe`: it may; `big`: it may, since a message was long; `failed`: it
    has. `odd`: the task of an emit that is none. `skipped`: what else was done beside the messages, or in their place.
    `stopped`: the child stands still, and what is sent to it is not seen, of which `unread` octets were asked for
    since; `deaf`: it does not read, and what is sent to it comes later; `left`: it has ended, `parting`: with words
    that must still be carried out; `closing`: its caller is done with it, `gone`: the child's process is seen to have
    ended. `waited`: the process id has come, and nothing was sent since; `answered`: a sync has, likewise. `active`: a
    spout was activated. `unneeded`: an emit said that it needs no task ids; `last`: the last command of the child.
    `muted`: its STDIN was ended; `partial`: octets came that are no whole message.
    """

    phase: Phase = NEW["bolt"]
    given: Any = None
    setup: Any = None
    pid: bool = False
    children: int = 0
    calls: tuple[str, ...] = ()
    settings: tuple[Any, ...] = ()
    known: int = 0
    lowest: int = 0
    waiting: tuple[Any, ...] = ()
    live: tuple[Live, ...] = ()
    done: tuple[Live, ...] = ()
    ids: frozenset[Any] = frozenset()
    command: Any = None
    held: tuple[Any, ...] = ()
    lists: tuple[int, ...] = ()
    effects: tuple[Expected, ...] = ()
    logs: tuple[Any, ...] = ()
    alarms: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    outstanding: tuple[Any, ...] = ()
    beats: int = 0
    seen: int = 0
    quiet_ms: int = 0
    most_ms: int = 0
    idle_ms: int = 0
    timeout_ms: int = 0
    lived: bool = False
    late: bool = False
    failing: Row | None = None
    maybe: Row | None = None
    big: bool = False
    failed: bool = False
    odd: Any = None
    skipped: tuple[Row, ...] = ()
    stopped: bool = False
    unread: int = 0
    deaf: bool = False
    left: bool = False
    parting: bool = False
    closing: bool = False
    gone: bool = False
    muted: bool = False
    partial: bool = False
    waited: bool = False
    answered: bool = False
    active: bool = False
    unneeded: bool = False
    last: str = ""

    @property
    def commanded(self) -> bool:
        """True while a spout owes an answer, also to what it cannot be seen to be sent."""
        return self.command is not None or (self.stopped and self.unread > 0)


@quick_replace
class State(NamedTuple):
    """All conversations, by the number of their connection."""

    config: Config
    convs: tuple[tuple[int, Any], ...] = ()

    def conv(self, number: int) -> Any:
        """The conversation on a connection."""
        for known, conv in self.convs:
            if known == number:
                return conv
        phase = NEW[self.config.child]
        return HostConv(phase=phase) if self.config.hosted else Conv(phase=phase)

    def put(self, number: int, conv: Any) -> State:
        """The state with one conversation changed."""
        if len(self.convs) <= 1 and (not self.convs or self.convs[0][0] == number):
            return State(self.config, ((number, conv),))
        return State(self.config, tuple(sorted({**dict(self.convs), number: conv}.items(), key=lambda pair: pair[0])))
