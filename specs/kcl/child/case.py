"""One action of a child, beside what was asked of it: what rules look at."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from specs.kcl.machine import ENDING, NEW, READY, Phase
from specs.kcl.scripts import ANY, Latest, rest, same
from specs.kcl.states import Config, Conv, Misuse, Seen
from specs.lazy import lazy


class Kind(Enum):
    """What a checkpoint request is to what user code was told to ask for."""

    FREE = "nobody knows what user code wanted"
    RETRY = "the library tries a refused one once more while user code waits"
    WANTED = "what user code asked for"
    AFTER_ERROR = "the number that was refused, again"
    AFTER_SUCCESS = "the number that was granted, again"
    EXTRA = "user code had nothing more to ask for"
    NUMBERED = "the last number, where user code asked for none"
    UNSURE = "another number, where it is not certain what user code has received"
    OTHER = "another number"


class Request(NamedTuple):
    """A checkpoint request. `steps` and `due` are what is left of each behind it."""

    kind: Kind
    steps: tuple[Any, ...]
    due: tuple[Seen, ...]


class Shows(Enum):
    """What an observation is to what is due."""

    AT_END = "the result of a checkpoint after the end of STDIN"
    MISLED = "a checkpoint that was not answered is said to have succeeded"
    UNJUDGED = "nothing can be said, because of what the child was sent or what user code did"
    UNASKED = "nothing of that kind is due"
    PASSED_OVER = "a result that nobody waits for"
    TOO_EARLY = "something else has to come first"
    SAME = "what is due"
    PART = "the first part of the batch that is due"
    DIFFERENT = "what is due, with other content"


class Match(NamedTuple):
    """An observation. `wanted` is what it was compared with, `due` what is left behind it."""

    kind: Shows
    wanted: Any
    due: tuple[Seen, ...]


NOTHING: Any = object()
"""An `about` that no duty has."""


class Case:
    """`what` is the frame's members, an observation, an exit status, or octets without a line end."""

    left: tuple[Phase, ...]

    def __init__(self, config: Config, conv: Conv, action: str, what: Any) -> None:
        self.config, self.conv, self.action, self.what = config, conv, action, what
        self.state, self.profile, self.phase, self.during = conv, config.profile, conv.phase, conv.action
        self.left = conv.since

    @lazy
    def about(self) -> Any:
        """Which of several duties the action meets: of observations the one that was due."""
        if self.action != "observed":
            return None
        return self.match.wanted if self.match.kind is Shows.SAME else NOTHING

    @property
    def said(self) -> str:
        """The action, for people."""
        if self.action == "status":
            return f"a status for {self.what.get('responseFor')!r:.60} came"
        return "a checkpoint request came" if self.action == "checkpoint" else ended(self.what)

    @property
    def idle(self) -> bool:
        """True when no action was open as STDIN ended."""
        return self.conv.was in (READY, ENDING, NEW)

    @property
    def number(self) -> Any:
        """The number that a request is for."""
        return self.what.get(self.config.wire.number)

    @lazy
    def request(self) -> Request:
        """See `Request`."""
        conv, number = self.conv, self.number
        steps, due = conv.steps, conv.due
        if not self.config.scripted or conv.loose:
            return Request(Kind.FREE, steps, due)
        again = conv.refused is not None and number == conv.tried and (number is None or conv.knows(number))
        if conv.refused and again and due and due[-1].call == "checkpoint":
            return Request(Kind.RETRY, steps, due[:-1])
        wanted = steps[0] if steps else None
        if isinstance(wanted, Latest):
            matches = number is None or number in wanted.numbers
        else:
            matches = bool(steps) and number == wanted
        if matches:
            return Request(Kind.WANTED, steps[1:], due)
        if again:
            return Request(Kind.AFTER_ERROR if conv.refused else Kind.AFTER_SUCCESS, steps, due)
        if not steps:
            return Request(Kind.EXTRA, steps, due)
        if wanted is None and number is not None and number == conv.last:
            return Request(Kind.NUMBERED, steps[1:], due)
        unsure = conv.action == "shutdown" and (conv.raised or conv.misuse)
        return Request(Kind.UNSURE if unsure else Kind.OTHER, steps[1:], due)

    @lazy
    def match(self) -> Match:
        """See `Match`."""
        conv, seen = self.conv, self.what
        if seen.call == "checkpoint" and conv.phase is Phase.DEAF and not conv.due:
            return Match(Shows.AT_END, None, ())
        if conv.misuse is Misuse.NO_ANSWER and seen == Seen("checkpoint", None) and FAILED in conv.due:
            return Match(Shows.MISLED, FAILED, conv.due)
        if conv.loose or conv.misuse:
            at = next((n for n, due in enumerate(conv.due) if due.call == seen.call), len(conv.due))
            return Match(Shows.UNJUDGED, None, (*conv.due[:at], *conv.due[at + 1 :]))
        return self._compared()

    def _compared(self) -> Match:
        due, seen = list(self.conv.due), self.what
        while due and due[0].call != seen.call and due[0].free:
            due.pop(0)
        if not due:
            return Match(Shows.UNASKED, None, self.conv.due)
        at = int(due[0].begun and seen.call == "checkpoint" and len(due) > 1)  # the rest of the batch comes behind it
        wanted = due.pop(at)
        if wanted.call != seen.call:
            passed = seen.call == "checkpoint"
            return Match(Shows.PASSED_OVER if passed else Shows.TOO_EARLY, wanted, self.conv.due)
        if same(wanted, seen):
            return Match(Shows.SAME, wanted, tuple(due))
        left = rest(wanted, seen)
        if left is None:
            return Match(Shows.DIFFERENT, wanted, tuple(due))
        return Match(Shows.PART, wanted, (*due[:at], left, *due[at:]))


FAILED = Seen("checkpoint", ANY)
"""User code is told that a checkpoint failed, by any name."""


def ended(code: Any) -> str:
    """How a process ended, for people."""
    signal = isinstance(code, int) and code < 0
    return f"it was ended by signal {-code}" if signal else f"it ended with status {code}"
