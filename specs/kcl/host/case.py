"""One action of a host, on the wire or beside it, and what it is to what was asked of the host: what rules look at."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import lru_cache
from typing import Any

from specs.kcl.frames import Message
from specs.kcl.host.book import STRANGE
from specs.kcl.machine import ASKING, DEAF, ENDING, READY, WORKING, Phase
from specs.kcl.scripts import octets
from specs.kcl.states import CLOSED_TO_CHECKPOINTS, Config, Conv, Failure, Oddity
from specs.lazy import lazy

BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


class Attempt(Enum):
    """What a checkpoint that reached the checkpointer is to what the child asked for."""

    ASKED = "at a number that was asked for"
    LATE = "the answer to the request before may still be on its way"
    REFUSED = "what no checkpointer takes, for a request that means nothing"
    MISREAD = "at another number, for a request that means nothing"
    INSIDE_INITIALIZE = "carried out before the status of initialize"
    OUTSIDE = "for a request outside of its time"
    CLOSED = "inside an action in which none is allowed"
    OTHER = "at another number"


class Case:
    """`what` is a frame, an observation beside the wire, or octets without a line end."""

    about: Any = None
    left: tuple[Phase, ...]

    def __init__(self, config: Config, conv: Conv, action: str, what: Any) -> None:
        self.config, self.conv, self.action, self.what = config, conv, action, what
        self.state, self.profile, self.phase, self.during = conv, config.profile, conv.phase, conv.action
        self.left = conv.since if config.asked else conv.since_other

    # -- on the wire

    @property
    def members(self) -> Mapping[str, Any]:
        """The members of a message."""
        found: Mapping[str, Any] = self.what.members
        return found

    @property
    def call(self) -> Mapping[str, Any]:
        """The open call; empty when there is none, or when nobody sees what the host is asked."""
        return self.conv.call if isinstance(self.conv.call, Mapping) else {}

    @lazy
    def records(self) -> list[Mapping[str, Any]] | None:
        """The records of a batch, None for what is no array of objects."""
        found = self.members.get("records") if isinstance(self.what, Message) else None
        return found if isinstance(found, list) and all(isinstance(r, dict) for r in found) else None

    @lazy
    def pairs(self) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
        """Records as they were asked for and as they were sent; empty where that is not seen, or some lack."""
        asked, sent = self.call.get("records") or [], self.records or []
        return list(zip(asked, sent, strict=True)) if self.config.asked and len(asked) == len(sent) else []

    @property
    def number(self) -> Any:
        """The number of an answer."""
        return self.members.get(self.config.wire.number)

    @property
    def error(self) -> Any:
        """The error of an answer, on the wire or beside it."""
        return self.members.get("error") if isinstance(self.what, Message) else self.what.get("error")

    @property
    def stands_already(self) -> bool:
        """True when what the open request is for was granted before, so that it need not be tried again."""
        return place(self.conv) >= 0 and place(self.conv) in (self.conv.top, self.conv.latest)

    # -- beside it

    @property
    def op(self) -> str:
        """Which call is said to be over."""
        return str(self.what.get("op") or "") if isinstance(self.what, Mapping) else ""

    @lazy
    def strange(self) -> Oddity | None:
        """A request that means nothing and may have been skipped."""
        return next((odd for odd in self.conv.odd if odd in STRANGE), None)

    @lazy
    def attempt(self) -> Attempt:
        """See `Attempt`."""
        conv, at = self.conv, self.what.get("at")
        if conv.action == "initialize" and conv.phase is not READY and conv.error is None:
            return Attempt.INSIDE_INITIALIZE
        working = conv.phase in (WORKING, ASKING)
        if self.config.hasty and working and not (conv.must_refuse or conv.stray or self.strange):
            return Attempt.LATE
        if conv.phase is ASKING and conv.must_refuse:
            return Attempt.REFUSED if self._is_no_number(conv.must_refuse, at) else Attempt.MISREAD
        if any(fits(at, number, conv.last) for number in conv.requests):
            return Attempt.ASKED
        if self.strange:
            return Attempt.REFUSED if self._is_no_number(self.strange, at) else Attempt.MISREAD
        if conv.stray is Failure.REQUEST_OUTSIDE or conv.phase in (ENDING, DEAF):
            return Attempt.OUTSIDE
        return Attempt.CLOSED if conv.action in CLOSED_TO_CHECKPOINTS else Attempt.OTHER

    def _is_no_number(self, odd: Oddity, at: Any) -> bool:
        """True when no checkpointer takes what a host made of a number that is none: nothing comes of trying it. An
        empty text stands for no number in some languages (K-39)."""
        return odd is Oddity.BAD_NUMBER and (self.conv.number == "" or not (at is None or self.conv.knows(at)))


def asks_where_none_may(conv: Conv) -> bool:
    """True where the child has asked for a checkpoint in an action that has no window for one (K-48)."""
    return bool(conv.asked) and conv.phase in (WORKING, ASKING) and conv.action in CLOSED_TO_CHECKPOINTS


def place(conv: Conv) -> int:
    """The place of the number that the open request is for."""
    return conv.numbers.place(conv.last if conv.number is None else conv.number)


def fits(at: Any, number: Any, last: Any) -> bool:
    """True when a checkpoint that was tried is the one that was asked for."""
    if number is None:  # where nothing was delivered, a host has its own words for where it begins
        return at is None or last is None or at == last
    return bool(at == number or str(at) == str(number))


def untried(conv: Conv, attempts: Sequence[Any]) -> list[Any]:
    """The numbers that were granted in this action and for which none of the attempts stands."""
    left, missing = list(attempts), []
    for number in conv.granted:
        found = next((n for n, at in enumerate(left) if fits(at, number, conv.last)), None)
        if found is None:
            missing.append(number)
        else:
            del left[found]
    return missing


def same_number(asked: Any, given: Any) -> bool:
    """Numbers are texts; one that was asked for as a JSON number may come back as either."""
    if asked is None or given is None:
        return asked is None and given is None
    return bool(given == asked or (not isinstance(asked, str) and str(given) == str(asked)))


def is_base64(data: Any) -> bool:
    """True for padded standard base64 without line breaks."""
    return isinstance(data, str) and _is_base64(data)


@lru_cache(256)  # the same record is looked at several times in a row
def _is_base64(data: str) -> bool:
    return BASE64.fullmatch(data) is not None


def hexed(data: Any) -> str | None:
    """The octets of a record, as hexadecimal digits."""
    found = octets(data)
    return None if found is None else found.hex()
