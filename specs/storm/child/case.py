"""One action of a bolt or a spout, beside what user code was told: what rules look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Any, NamedTuple

from specs.lazy import lazy
from specs.machine import Phase
from specs.storm.frames import Text
from specs.storm.machine import DEAFS, SpoutPhase
from specs.storm.states import Config, Conv, Expected, Misuse, Owing, Task
from specs.storm.values import is_number, same, same_tasks, shown, stream_of


class Emits(Enum):
    """What an emit is to what user code was told to say."""

    FREE = "nobody knows what user code was told"
    TOLD = "what user code was told to say next"
    UNTOLD = "user code was not told to say it, or not yet, or not again"
    ID = "user code was told another id"
    VALUES = "user code was told other values"
    STREAM = "user code was told another stream"
    TASK = "user code was told another task"
    ANCHORS = "user code was told other anchors"


class Names(Enum):
    """What an id that a bolt says is."""

    OPEN = "a tuple that is neither acked nor failed"
    BEAT = "a heartbeat"
    SETTLED = "a tuple that was acked or failed before"
    CUT = "half a message was sent, of which it may be"
    NOTHING = "what stands for no id, where none was sent"
    MISUSED = "made of what means nothing"
    NUMBER = "a number, and no id was one, or an id that has passed through one"
    UNKNOWN = "nothing that was sent"


class Settles(Enum):
    """What an ack or a fail is to what user code was told to say."""

    FREE = "nobody knows what user code was told"
    TOLD = "what user code said"
    RAISED = "the fail of a tuple whose user code raised"
    OTHER = "user code said the other one"
    EARLY = "user code says something else before it"
    WRONG_RAISED = "user code raised, and this is no fail, or not yet"
    UNTOLD = "user code keeps the tuple open"


class Shows(Enum):
    """What an observation of user code is to what is due."""

    SENT = "what was sent"
    CHANGED = "what was sent, with something changed"
    EARLY = "what was sent, before something that was sent first"
    BEAT = "a heartbeat"
    CUT = "half a message"
    FREE = "nothing can be said about it"
    OTHER = "a tuple is due, and this is another one"
    UNSENT = "what was not sent, or was shown before"


class Told(NamedTuple):
    """An emit beside what was told. `task`: the place of the callback, `at` the place in what it has due."""

    kind: Emits
    task: int = -1
    at: int = -1
    due: Expected | None = None


class Case:
    """`what` is a JSON value (or a Text), an observation, or an exit status. `whose`: which of the callbacks an emit
    belongs to that several of them were told in the same words."""

    profile = ""
    whose = 0

    def __init__(self, config: Config, conv: Conv, action: str, what: Any, frame: Any = None) -> None:
        self.config, self.conv, self.action, self.what, self.frame = config, conv, action, what, frame
        self.state, self.phase = Owing(config, conv), conv.phase
        self.during = conv.command

    @property
    def left(self) -> tuple[Phase, ...]:
        """Before each command a spout has been idle."""
        return (SpoutPhase.IDLE,) if self.phase is SpoutPhase.BUSY and self.action == "sync" else ()

    @property
    def about(self) -> Any:
        """Which of several duties the action meets: any."""
        return None

    @property
    def deaf(self) -> bool:
        """True once the child's STDIN has ended."""
        return self.phase in DEAFS

    @property
    def known(self) -> bool:
        """True where it is known what user code was told, and nothing has disturbed it."""
        return self.config.scripted and self.conv.misuse is None and not self.conv.raising

    @property
    def text(self) -> Text | None:
        """What was said, where it is no JSON."""
        return self.frame if isinstance(self.frame, Text) else None

    def get(self, name: str) -> Any:
        """A member of what was said."""
        return self.what.get(name)

    # -- emits ---------------------------------------------------------------------------------------------------------

    @lazy
    def anchors(self) -> Any:
        """The anchors of an emit; one text is a list of one where that is claimed."""
        found = self.get("anchors")
        return [found] if isinstance(found, str) and self.config.has("x-anchor-string") else found

    @lazy
    def emit(self) -> Expected:
        """The emit that was said; a stream that is left empty, as an empty text too, is the default one (S-5)."""
        task, stream = self.get("task") or None, stream_of(self.get("stream") or None)
        return Expected("emit", self._id, self.get("tuple"), stream, task, self._anchors)

    @property
    def _id(self) -> Any:
        return self.get("id") if self.config.child == "spout" else None

    @property
    def _anchors(self) -> tuple[Any, ...]:
        return tuple(self.anchors or ()) if self.config.child == "bolt" else ()

    @lazy
    def told(self) -> Told:
        """See `Told`."""
        free = not self.config.scripted or self.conv.misuse is not None
        if free or (self.config.child == "spout" and self.deaf):
            return Told(Emits.FREE)
        number, at, due = told_emit(self.conv, self.emit, self.whose)
        if due is None:
            return Told(Emits.FREE if self.conv.raising else Emits.UNTOLD)
        kind = _difference(due, self.emit)
        if kind is not Emits.TOLD and self.config.child == "spout" and self.conv.raising:
            return Told(Emits.FREE)
        return Told(kind, number, at, due)

    @property
    def tellers(self) -> int:
        """How many callbacks were told this emit in the same words: it may be that of any of them. None, where its
        anchors are no texts."""
        anchors = self.anchors or []
        if not isinstance(anchors, list) or not all(isinstance(each, str) for each in anchors):
            return 0
        return sum(_difference(due, self.emit) is Emits.TOLD for _, _, due in _heads(self.conv))

    # -- ack and fail --------------------------------------------------------------------------------------------------

    def named(self, name: Any) -> Names:
        """What an id is."""
        conv = self.conv
        if not isinstance(name, (dict, list)) and name in conv.open and not isinstance(name, bool):
            return Names.OPEN
        if isinstance(name, (str, int, float)) and name in conv.beats:
            return Names.BEAT
        if isinstance(name, str) and name in conv.settled:
            return Names.SETTLED
        if _through_a_number(name, conv.open):
            return Names.NUMBER
        if conv.cut:
            return Names.CUT
        if conv.misuse is Misuse.LACKING and name in (None, ""):
            return Names.NOTHING
        if conv.misuse is not None:
            return Names.MISUSED
        return Names.NUMBER if is_number(name) else Names.UNKNOWN

    @lazy
    def name(self) -> Names:
        """What the id of an ack or a fail is."""
        return self.named(self.get("id"))

    @lazy
    def settles(self) -> tuple[Settles, int, int]:
        """What an ack or a fail is; the callback that it belongs to, and the place in what that has due (or -1)."""
        command, name = self.get("command"), self.get("id")
        if not self.config.scripted:
            return Settles.FREE, -1, -1
        for number, task in enumerate(self.conv.tasks):
            at = next((at for at, due in ready(task) if due == Expected(command, name)), None)
            if at is not None:
                return Settles.TOLD, number, at
            emits = any(due.kind == "emit" for due in task.due)
            if command == "fail" and task.raising and not emits and same(task.id, name):
                return Settles.RAISED, number, -1
        if self.conv.misuse is not None or self.conv.raising:
            return Settles.FREE, -1, -1
        for number, task in enumerate(self.conv.tasks):
            for due in task.due:
                if due.kind in ("ack", "fail") and same(due.id, name):
                    return (Settles.OTHER if due.kind != command else Settles.EARLY), number, -1
        return Settles.UNTOLD, -1, -1

    # -- logs ----------------------------------------------------------------------------------------------------------

    @lazy
    def logged(self) -> tuple[int, str]:
        """The callback whose user code wrote this log, and what it wrote; -1 where it was none."""
        text = self.get("msg")
        for at, task in enumerate(self.conv.tasks):
            hit = next((told for told in task.logs if told in text), None) if isinstance(text, str) else None
            if hit is not None:
                return at, hit
        return -1, ""

    # -- observations --------------------------------------------------------------------------------------------------

    @lazy
    def shows(self) -> tuple[Shows, int]:
        """What an observation of a call is, and the callback that it belongs to."""
        return self._bolt_shows() if self.config.child == "bolt" else self._spout_shows()

    def _bolt_shows(self) -> tuple[Shows, int]:
        conv, name = self.conv, self.what.get("id")
        odd = conv.misuse is not None
        for at, task in enumerate(conv.tasks):
            if task.seen is None or not same(task.id, name):
                continue
            if changed(task.seen, self.what) and not odd:
                return Shows.CHANGED, at
            first = next(other for other in conv.tasks if other.seen is not None)
            return (Shows.EARLY if self.config.serial and first is not task and not odd else Shows.SENT), at
        if isinstance(name, str) and name in conv.beats:
            return Shows.BEAT, -1
        if conv.cut:
            return Shows.CUT, -1
        if odd or conv.raising:
            return Shows.FREE, -1
        due = next((at for at, task in enumerate(conv.tasks) if task.seen is not None), -1)
        return (Shows.OTHER if due >= 0 else Shows.UNSENT), due

    def _spout_shows(self) -> tuple[Shows, int]:
        conv, call = self.conv, self.what.get("call")
        for at, task in enumerate(conv.tasks):
            if task.seen is None or task.seen["call"] != call:
                continue
            other = call in ("ack", "fail") and "id" in self.what and not same(task.seen["id"], self.what["id"])
            return (Shows.CHANGED if other else Shows.SENT), at
        if conv.misuse is not None or conv.raising or call in ("activate", "deactivate"):
            return Shows.FREE, -1
        return (Shows.CUT if conv.cut else Shows.UNSENT), -1

    # -- task ids ------------------------------------------------------------------------------------------------------

    @lazy
    def list_at(self) -> int:
        """The place, among the lists that user code has not seen, of the one that it was given; -1 for none."""
        given = self.what.get("ids")
        return next((n for n, sent in enumerate(self.conv.lists) if same_tasks(sent, given)), -1)

    @property
    def is_misassigned(self) -> bool:
        """True for a list that no emit asked for, where an emit waits for another one. What user code sees is told
        before what it says, so that emits count that are still due of a callback that has begun."""
        given, conv = self.what.get("ids"), self.conv
        begun = [
            due for task in conv.tasks if task.seen is None for due in task.due if due.kind == "emit" and due.wants
        ]
        return bool(given and (conv.blocked or begun)) and any(same_tasks(each, given) for each in conv.surplus)

    @property
    def other_order(self) -> str:
        """That task ids of one emit were given in another order."""
        given = self.what.get("ids")
        if self.list_at < 0 or same(self.conv.lists[self.list_at], given):
            return ""
        return f"user code was given the task ids {shown(given)}; sent were {shown(self.conv.lists[self.list_at])}"

    @property
    def wrong_list(self) -> str:
        """What is wrong with the task ids that user code was given."""
        given, conv = shown(self.what.get("ids")), self.conv
        if self.list_at < 0:
            free = conv.misuse in (Misuse.SURPLUS_LIST, Misuse.ODD_LIST)
            return "" if free else f"user code was given the task ids {given}; sent were {shown(list(conv.lists))}"
        if self.list_at and self.config.serial:
            return f"user code was given the task ids {given} before {shown(conv.lists[0])}, which were sent first"
        return ""


def ready(task: Task) -> Iterator[tuple[int, Expected]]:
    """What may come next of what a task has due, and where it stands: an ack or a fail may be late, and nothing comes
    before an emit that user code says before it."""
    for at, due in enumerate(task.due):
        yield at, due
        if due.kind == "emit":
            return


def _heads(conv: Conv) -> list[tuple[int, int, Expected]]:
    """The next emit of each callback that has one due: which callback, where it stands there, and the emit."""
    return [
        (number, at, due) for number, task in enumerate(conv.tasks) for at, due in ready(task) if due.kind == "emit"
    ]


def told_emit(conv: Conv, got: Expected, whose: int = 0) -> tuple[int, int, Expected | None]:
    """The task whose next emit this is, or the most like it, and where it stands there; None when none is due. `whose`:
    that of several to which it may belong."""
    heads = _heads(conv)
    told = [head for head in heads if _difference(head[2], got) is Emits.TOLD]
    if told:
        return told[min(whose, len(told) - 1)]
    if not heads:
        return -1, -1, None
    tagged = [head for head in heads if _tag(head[2]) is not None and same(_tag(head[2]), _tag(got))]
    if tagged:
        return tagged[0]
    later = any(due.kind == "emit" and _difference(due, got) is Emits.TOLD for task in conv.tasks for due in task.due)
    return (-1, -1, None) if later and not isinstance(conv.phase, SpoutPhase) else heads[0]


def _tag(emit: Expected) -> Any:
    """The first value."""
    return emit.values[0] if isinstance(emit.values, list) and emit.values else None


def _difference(due: Expected, got: Expected) -> Emits:
    """What sets an emit apart from one that was told. An anchor that stands twice is no other one."""
    if not same(due.id, got.id):
        return Emits.ID
    if not same(due.values, got.values):
        return Emits.VALUES
    if due.stream != got.stream:
        return Emits.STREAM
    if not same(due.task, got.task):
        return Emits.TASK
    return Emits.TOLD if set(due.anchors) == set(got.anchors) else Emits.ANCHORS


def _through_a_number(name: Any, known: Iterable[Any]) -> bool:
    """True for an open id that was read as a number: as one, or as the text of what it was rounded to."""
    value = _number(name)
    return value is not None and any(isinstance(id_, str) and _number(id_) == value for id_ in known)


def _number(name: Any) -> float | None:
    try:
        return float(name) if isinstance(name, (str, int, float)) and not isinstance(name, bool) else None
    except (ValueError, OverflowError):
        return None


def changed(seen: Mapping[str, Any], value: Mapping[str, Any]) -> str:
    """The first member of an observation that is not what was sent, or ""."""
    return next(
        (key for key, sent in seen.items() if key != "call" and key in value and not same(sent, value[key])), ""
    )


def ended(code: Any) -> str:
    """How a process ended, for people."""
    signal = isinstance(code, int) and code < 0
    return f"it was ended by signal {-code}" if signal else f"it ended with status {code}"
