"""One action of a judged host, beside what it was asked for and what its child said: what rules look at."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any

from specs.lazy import lazy
from specs.machine import Phase
from specs.storm.frames import Text
from specs.storm.machine import SETUPS, SpoutPhase
from specs.storm.states import Config, Expected, HostConv, Live, Owing, Row
from specs.storm.values import same, same_tasks, stream_of

ODD = "\0odd number"
"""Stands for a number that a host may refuse, or take as it is; never as another one."""
SEEN = "\0seen"
"""A member of what was said after a sync, once its effect was seen."""
PIPE = 1 << 16
"""Octets that a pipe holds, so that whoever writes more waits for its reader."""
LEVELS = MappingProxyType({0: "trace", 1: "debug", 2: "info", 3: "warn", 4: "error"})
"""Levels of a log (x-loglevel); any other number is info."""
OWN_MS = 500
"""A child that is silent for this long may be given up by a host whose timeout we do not know."""


class Lists(Enum):
    """What a list of task ids is to those that the host was given."""

    UNASKED = "no emit is left that wants task ids"
    RIGHT = "what the oldest emit gets"
    FREE = "nobody knows what the oldest emit gets"
    OTHER = "what another emit gets"
    WRONG = "what no emit gets"


class Tuples(Enum):
    """What a tuple is to those that the host was given and that were not seen."""

    GIVEN = "one of them"
    UNASKED = "none is left"
    CHANGED = "one of them, from elsewhere"
    OTHER = "none of them"


class Commands(Enum):
    """What a command to a spout is to what was asked for."""

    ASKED = "what was asked for"
    LIVELY = "activate or deactivate, which a host says of its own"
    OTHER_ID = "what was asked for, with another id"
    UNASKED = "what nobody asked for"


class Shown(Enum):
    """What reached the collector, beside what the child said."""

    SAID = "what the child said"
    MISTAKEN = "another tuple is settled than the one that was named wrongly"
    NONSENSE = "something was made of what means nothing"
    REPLACED = "an id was made of octets that are no UTF-8"
    UNSAID = "an ack, a fail or an emit that the child did not say, or once only"
    READ_ON = "what the child said after its sync, once the next command is under way"
    READ_EARLY = "what the child said after its sync, before another command"
    VALUES = "what the child said, with other values"
    STREAM = "what the child said, to another stream"
    TASK = "what the child said, to another task"
    ID = "what the child said, with another id"
    ANCHORS = "what the child said, with other anchors"


class GivesUp(Enum):
    """Why a host may have given up its child."""

    OVER = "it was over already"
    MUST = "it has to"
    LEFT = "the child has ended"
    MAY = "it may, after what means nothing"
    LEVEL = "after a log whose level is none of those known"
    NO_REASON = "after something that is no reason"
    UNSAID_PID = "the child took long to say its process id"
    AT_ONCE = "the child had said nothing, and it did not wait"
    UNBEATEN = "no heartbeat was left to answer"
    TIMED_OUT = "the child was silent for long"
    IDLE = "no command was open"
    UNTIMED = "its timeout is its own"
    WRONGLY = "there is no reason"


class Case:
    """`what` is a JSON value (or a Text), or what its program says beside the wire."""

    profile = ""

    def __init__(self, config: Config, conv: HostConv, action: str, what: Any, frame: Any = None) -> None:
        self.config, self.conv, self.action, self.what, self.frame = config, conv, action, what, frame
        self.state, self.phase = Owing(config, conv), conv.phase
        self.during, self.bolt = "", config.child == "bolt"

    @property
    def left(self) -> tuple[Phase, ...]:
        """Before its first message to a child that runs, a host has waited for the process id; a host of a spout has
        waited for a sync."""
        waited: tuple[Phase, ...] = (SETUPS[not self.bolt],) if self.conv.waited else ()
        return (*waited, SpoutPhase.BUSY) if self.phase is SpoutPhase.IDLE and self.conv.answered else waited

    @property
    def about(self) -> Any:
        """Which of several duties the action meets: any."""
        return None

    @property
    def text(self) -> Text | None:
        """What was said, where it is no JSON."""
        return self.frame if isinstance(self.frame, Text) else None

    @property
    def row(self) -> Row | None:
        """What the child did that a host need not make sense of."""
        found: Row | None = self.conv.failing or self.conv.maybe
        return found

    def get(self, name: str) -> Any:
        """A member of what was said."""
        return self.what.get(name)

    # -- lists, tuples, commands ---------------------------------------------------------------------------------------

    @lazy
    def listed(self) -> tuple[Lists, int]:
        """What a list of task ids is, and the setting that it was."""
        conv = self.conv
        if not conv.lists:
            return Lists.UNASKED, -1
        if not conv.settings:
            return Lists.FREE, -1
        lowest = max(conv.lists[0], conv.lowest)
        for at in range(lowest, len(conv.settings)):
            if same_tasks(conv.settings[at], self.what):
                return Lists.RIGHT, at
        if conv.lists[0] < 0:  # the host may not have heard of any list when the emit came
            return Lists.FREE, -1
        other = any(same_tasks(known, self.what) for known in conv.settings)
        return (Lists.OTHER if other else Lists.WRONG), lowest

    @lazy
    def given(self) -> tuple[Tuples, int]:
        """What a tuple is, and which of those that wait it is or is like."""
        waiting, values = self.conv.waiting, self.get("tuple")  # a host may leave out any of its parts
        comp, stream, task = (self.get(name) for name in ("comp", "stream", "task"))
        for at, live in enumerate(waiting):
            as_given = comp == live.comp and stream == live.stream and same(task, live.task)
            if as_given and same(values, live.values):
                return Tuples.GIVEN, at
        if not waiting:
            return Tuples.UNASKED, -1
        like = next((at for at, live in enumerate(waiting) if same(values, live.values)), -1)
        return (Tuples.CHANGED, like) if like >= 0 else (Tuples.OTHER, 0)

    @lazy
    def asked(self) -> tuple[Commands, int]:
        """What a command is, and which of those that wait it is or is like."""
        command, name = self.get("command"), self.get("id")
        for at, (op, wanted) in enumerate(self.conv.waiting):
            if op == command and (command == "next" or same(wanted, name)):
                return Commands.ASKED, at
        if command in ("activate", "deactivate"):
            return Commands.LIVELY, -1
        like = next((at for at, (op, _) in enumerate(self.conv.waiting) if op == command), -1)
        return (Commands.OTHER_ID if like >= 0 else Commands.UNASKED), like

    # -- effects -------------------------------------------------------------------------------------------------------

    @lazy
    def shown(self) -> tuple[Shown, int]:
        """What reached the collector, and which of what is due it is or is like."""
        conv, kind = self.conv, self.action
        for at, due in enumerate(conv.effects):
            if due.kind == kind and fits(due, self.what):
                return Shown.SAID, at
        row = Row.CUT if Row.CUT in conv.skipped else self.row
        if row is not None:
            settles = kind in ("ack", "fail") and row is not Row.NO_UTF8
            open_ = settles and any(names(live, self.what.get("id")) for live in conv.live)  # and it was not named
            return (Shown.MISTAKEN if open_ else Shown.NONSENSE), -1
        if kind in ("ack", "fail"):
            return (Shown.REPLACED if Row.NO_UTF8 in conv.skipped else Shown.UNSAID), -1
        held = next((n for n, held in enumerate(conv.held) if same(held.get("tuple"), self.what.get("tuple"))), -1)
        if held >= 0:
            return (Shown.READ_ON if conv.waiting else Shown.READ_EARLY), held
        return self._emitted()

    def _emitted(self) -> tuple[Shown, int]:
        values = self.what.get("tuple")
        emits = [at for at, due in enumerate(self.conv.effects) if due.kind == "emit"]
        at = next((at for at in emits if _tagged(self.conv.effects[at].values, values)), emits[0] if emits else -1)
        if at < 0:
            return Shown.UNSAID, -1
        due = self.conv.effects[at]
        if not same(due.values, values):
            return Shown.VALUES, at
        if due.stream != stream_of(self.what.get("stream")):
            return Shown.STREAM, at
        if not same(due.task, self.what.get("task") or None):
            return Shown.TASK, at
        return (Shown.ANCHORS if self.bolt else Shown.ID), at

    @property
    def due(self) -> Expected:
        """The effect that was due, which this one is or is like."""
        return self.conv.effects[self.shown[1]]

    # -- giving up -----------------------------------------------------------------------------------------------------

    @lazy
    def gives_up(self) -> GivesUp:
        """Why the host may have given up."""
        conv = self.conv
        if conv.failed or conv.closing:
            return GivesUp.OVER
        if conv.failing is not None:
            return GivesUp.MUST
        if conv.left:
            return GivesUp.LEFT
        if conv.maybe is not None or conv.big:
            return GivesUp.MAY
        if conv.pid and self._timed_out() is GivesUp.TIMED_OUT:
            return GivesUp.TIMED_OUT
        if self.config.has("x-loglevel") and any(not is_level(level) for _, level in conv.logs):
            return GivesUp.LEVEL
        if conv.skipped and not (conv.effects and conv.skipped[-1] in (Row.STDERR, Row.SYNC, Row.PID)):
            return GivesUp.NO_REASON  # where an effect is missing, that is the likelier cause
        if not conv.pid:
            return GivesUp.UNSAID_PID if conv.most_ms >= OWN_MS else GivesUp.AT_ONCE
        return self._timed_out()

    def _timed_out(self) -> GivesUp:
        conv, timeout = self.conv, self.conv.timeout_ms
        if self.bolt and timeout and not conv.beats and not conv.stopped and conv.idle_ms >= timeout * 0.8:
            return GivesUp.UNBEATEN
        if timeout and (conv.late or conv.most_ms >= timeout / 2):
            waits = self.bolt or conv.commanded or not self.config.has("x-hb-timing")
            return GivesUp.TIMED_OUT if waits else GivesUp.IDLE
        return GivesUp.UNTIMED if not self.config.timed and conv.most_ms >= OWN_MS else GivesUp.WRONGLY

    @property
    def silence(self) -> Row | None:
        """The silence of the child for which it is given up."""
        if self.gives_up is GivesUp.UNSAID_PID:
            return Row.NO_PID
        late = self.gives_up is GivesUp.TIMED_OUT and self.conv.quiet_ms >= self.conv.timeout_ms
        return still(self.conv) if late else None


def is_level(level: Any) -> bool:
    """True for a level of logs that has a name, and where none is told."""
    return level is None or (isinstance(level, int) and level in LEVELS)


def still(conv: HostConv) -> Row:
    """What a child is that is silent for long."""
    return Row.UNREAD if conv.stopped and conv.unread > PIPE else Row.SILENT


def fits(due: Expected, value: Mapping[str, Any]) -> bool:
    """True for the effect that is due."""
    if due.kind in ("ack", "fail"):
        return names(due.id, value.get("id"))
    return (
        _values(due.values, value.get("tuple"))
        and due.stream == stream_of(value.get("stream"))
        and same(due.task, value.get("task") or None)
        and same(due.id, value.get("id"))
        and _anchored(due.anchors, value.get("anchors"))
    )


def names(live: Live, name: Any) -> bool:
    """True for a name of this tuple: on the wire, or its caller's."""
    return same(live.wire, name) or same(live.name, name)


def _values(due: Any, got: Any) -> bool:
    if isinstance(due, list) and len(due) == 2 and due[1] == ODD:
        if not isinstance(got, list) or len(got) != 2 or not same(due[0], got[0]):
            return False
        number = got[1]
        odd = isinstance(number, float) and (not math.isfinite(number) or abs(number) > 1e15)
        return odd or number in (12345678901234567890, -12345678901234567890) or not isinstance(number, (int, float))
    return same(due, got)


def _anchored(due: tuple[Any, ...], got: Any) -> bool:
    given = [got] if isinstance(got, str) else [] if got is None else got
    if not isinstance(given, list):
        return False
    named = all(any(names(live, name) for live in due) for name in given)
    return named and all(any(names(live, name) for name in given) for live in due)


def _tagged(due: Any, got: Any) -> bool:
    return bool(due and got and isinstance(got, list) and same(due[0], got[0]))
