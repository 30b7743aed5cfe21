"""What a judged host is asked, and what its child does to it: the tester's own actions, in every way in which the host
may take them.

Lines are classified first, by a closed enum; what the state is behind each follows from it. Where nothing can be said
of what follows, the breach of our own side is answered as the rules of children have it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from specs.kcl.child import effects
from specs.kcl.child.book import BOOK as CHILD
from specs.kcl.child.case import Case
from specs.kcl.frames import Message, Text, read
from specs.kcl.machine import ASKING, DEAF, ENDING, MACHINE, NEW, READY, WORKING
from specs.kcl.states import ACTIONS, FINALS, Config, Conv, Failure, Oddity
from specs.model import Allow, Outcome

BIG = 1 << 20
"""Octets from which on a line counts as a flood."""


PASSED_OVER = (Failure.SECOND_STATUS, Failure.EARLY_STATUS)
"""What comes while no action is open, and may count for nothing then (K-49)."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Line(Enum):
    """What a message of the child is to a host."""

    STATUS = "the status of the open action"
    OTHER_STATUS = "a status for something else while an action is open"
    EARLY_STATUS = "a status while no action is open"
    LATE_STATUS = "a status behind the final one"
    FINISHING = "what may still come of an action that was open when STDIN ended"
    REQUEST = "a checkpoint request while an action is open"
    STRANGE_REQUEST = "one that means nothing"
    LATE_REQUEST = "one behind the final status"
    HOST_MESSAGE = "a message that is no child's"
    UNTIMELY = "a message of which nobody can tell what it is for"


def lines(config: Config, conv: Conv, frame: Message | Text, *, soon: bool = False) -> Iterator[Outcome]:
    """A line of the child, in every way in which the host may take it. `soon`: it was written behind a request that
    had no answer yet."""
    if isinstance(frame, Text):
        if frame.why == "odd":
            known = odd(conv, Oddity.TWIN_MEMBERS if frame.data.endswith(b"}") else Oddity.TEXT_BEHIND)
            yield Allow(known)
            inner = read(frame.data[: frame.data.rfind(b"}") + 1])
            if isinstance(inner, Message):
                yield from lines(config, known, inner)
            return
        yield Allow(odd(conv, _kind(frame)))
        behind = read(frame.data.removeprefix(BYTE_ORDER_MARK))
        if isinstance(behind, Message):  # RFC 8259, 8.1: who parses JSON may pass over the mark
            yield from lines(config, odd(conv, _kind(frame)), behind)
        return
    if soon:
        conv = odd(conv, Oddity.STATUS_TOO_SOON if frame.action == "status" else Oddity.REQUEST_TOO_SOON)
    strange = _strange(config, frame)
    line = _line(conv, frame, strange)
    if line is Line.HOST_MESSAGE:
        yield Allow(odd(conv, Oddity.HOST_MESSAGE))
    elif line is Line.UNTIMELY:
        yield CHILD.judge(Case(config, conv, frame.action, frame.members), frame.action)
    elif line is Line.STRANGE_REQUEST and strange is not None:
        yield from _strangely(config, conv, frame, strange)
    else:
        extra = _has_more(config, frame)
        known = odd(conv, Oddity.UNKNOWN_MEMBERS) if extra else conv
        if extra:
            yield Allow(known)  # skipped
        if line is Line.REQUEST and _is_no_number(config, frame):
            yield Allow(odd(known, Oddity.BAD_NUMBER))  # skipped
        yield Allow(_taken(config, known, frame, line))
        if line is Line.OTHER_STATUS:
            yield Allow(known, leans=("K-53",))  # passed over: the right one may come yet


def _is_no_number(config: Config, frame: Message) -> bool:
    """True for a text that is none: it may be passed on as it is, or the request be taken for one that means nothing
    (catalogue of invalid inputs, row 11)."""
    number = frame.members.get(config.wire.number)
    return isinstance(number, str) and not (number.isascii() and number.isdigit())


def _line(conv: Conv, frame: Message, strange: Oddity | None) -> Line:
    phase = conv.phase
    if frame.action not in ("status", "checkpoint"):
        return Line.HOST_MESSAGE
    if phase in (NEW, ASKING):
        return Line.UNTIMELY
    if phase is DEAF and conv.was in (WORKING, ASKING):
        return Line.FINISHING
    if frame.action == "status":
        if phase is WORKING:
            return Line.STATUS if frame.members.get("responseFor") == conv.action else Line.OTHER_STATUS
        return Line.EARLY_STATUS if phase is READY else Line.LATE_STATUS
    if phase is WORKING:
        return Line.STRANGE_REQUEST if strange else Line.REQUEST
    return Line.UNTIMELY if phase is READY else Line.LATE_REQUEST


def _taken(config: Config, conv: Conv, frame: Message, line: Line) -> Conv:
    """The state when the host has taken it as what it is."""
    if line is Line.STATUS:
        after = effects.answered(Case(config, conv, "status", frame.members))
        after = after._replace(phase=MACHINE.move(conv.phase, "status", ENDING if conv.action in FINALS else READY))
        return odd(after, Oddity.LATE_NEWLINE)._replace(partial=False) if conv.partial else after
    if line is Line.OTHER_STATUS:
        named = frame.members.get("responseFor") in ACTIONS | {"checkpoint"}
        return conv._replace(failing=Failure.OTHER_STATUS if named else Failure.NO_STATUS)
    if line is Line.EARLY_STATUS:
        answers = str(frame.members.get("responseFor"))
        again = answers == conv.action
        return conv._replace(stray=Failure.SECOND_STATUS if again else Failure.EARLY_STATUS, stray_for=answers)
    if line is Line.LATE_STATUS:
        return odd(conv, Oddity.FLOOD)
    if line is Line.LATE_REQUEST:
        return conv._replace(stray=conv.stray or Failure.REQUEST_OUTSIDE)
    return conv if line is Line.FINISHING else asking(config, conv, frame)


def asking(config: Config, conv: Conv, frame: Message, must_refuse: Oddity | None = None) -> Conv:
    """The state when a request is open."""
    number = frame.members.get(config.wire.number)
    requests = conv.requests if must_refuse else (*conv.requests, number)
    phase = MACHINE.move(conv.phase, "checkpoint")
    sub = frame.members.get("subSequenceNumber")
    after = conv._replace(phase=phase, number=number, sub=sub, asked=conv.asked + 1, requests=requests, tail=b"")
    return after._replace(must_refuse=must_refuse)


def _strangely(config: Config, conv: Conv, frame: Message, strange: Oddity) -> Iterator[Outcome]:
    """A request that means nothing is refused, or skipped."""
    yield Allow(asking(config, conv, frame, strange))
    yield Allow(odd(conv, strange))


def _strange(config: Config, frame: Message) -> Oddity | None:
    """What a request is that means nothing."""
    if frame.action != "checkpoint":
        return None
    members, own = frame.members, config.wire.number
    if own not in members and ("sequenceNumber" if own == "checkpoint" else "checkpoint") in members:
        return Oddity.OTHER_MEMBER
    sub = members.get("subSequenceNumber")
    if own == "sequenceNumber" and sub is not None and not isinstance(sub, int):
        return Oddity.BAD_SUB_NUMBER
    number = members.get(own)
    return None if number is None or (isinstance(number, str) and number) else Oddity.BAD_NUMBER


def _has_more(config: Config, frame: Message) -> bool:
    """True for members that no message of a child has; strict hosts skip its line."""
    if frame.action == "status":
        return any(name not in ("action", "responseFor") for name in frame.members)
    return len(frame.members) > 2 + (config.wire.rich and "subSequenceNumber" in frame.members)


def odd(conv: Conv, *what: Oddity) -> Conv:
    """The state when the host has something more to take without harm."""
    return conv._replace(odd=tuple(dict.fromkeys((*conv.odd, *what))))


def _kind(frame: Text) -> Oddity:
    if len(frame.data) >= BIG:
        return Oddity.FLOOD
    found = read(frame.data)
    why = found.why if isinstance(found, Text) else frame.why
    if why == "not-utf-8":
        return Oddity.NO_UTF8
    if why == "no-json":
        return Oddity.CUT_MESSAGE if b"{" in frame.data else Oddity.PLAIN_TEXT
    return Oddity.PLAIN_TEXT if why == "blank" else Oddity.NO_MESSAGE


# -- what else the tester does -----------------------------------------------------------------------------------------


def ends(conv: Conv) -> Conv:
    """The child has ended (Fact `exit` or `kill`)."""
    after = conv._replace(gone=True)
    if conv.phase in (WORKING, ASKING):
        half = conv.partial and conv.failing is None
        after = odd(after, Oddity.HALF_LINE) if conv.partial else after
        return after._replace(failing=conv.failing or (Failure.HALF_LINE if half else Failure.ENDED_INSIDE))
    if conv.phase in (NEW, READY):
        return after._replace(stray=conv.stray or Failure.ENDED_BETWEEN)
    return after


def asks(conv: Conv, name: str, value: Any) -> Conv:
    """The tester calls (Facts `call`, `start`, `checkpointer`)."""
    if name == "checkpointer":
        return conv._replace(error=value.get("error"), settings=conv.settings + 1)
    if name == "start":
        return conv._replace(call={"op": "start"}, sent=True, started=True)
    return conv._replace(call=value, sent=False, failing=conv.failing or conv.stray, stray=None)


def is_untimely(conv: Conv, value: Mapping[str, Any]) -> bool:
    """True when a host cannot be blamed for what it makes of a call (K-38)."""
    op = str(value.get("op"))
    if not conv.started:
        return True
    if conv.failed or conv.failing or conv.gone:
        return False  # it need only say that it fails
    if conv.stray in PASSED_OVER and conv.stray_for == op:
        return True  # nobody can tell that the status came too early
    return conv.phase is not (NEW if op == "initialize" else READY)
