"""What the rules of a STOMP server look at.

A MESSAGE is classified before a rule is asked: which SEND it delivers (`Match`), and whether that may go to its
subscription (`Copy`). All that the envelope leaves open about deliveries is decided here and in effects_said.py; the
rules read the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from specs.lazy import lazy
from specs.stomp import ids
from specs.stomp.frames import Frame
from specs.stomp.headers import RESERVED, SPECIAL, TAG, blank_ended
from specs.stomp.machine import Phase
from specs.stomp.server.calls import offered
from specs.stomp.server.transactions import shared
from specs.stomp.states import Conn, Delivery, Free, Message, Pending, Refusal, State, Sub

LEASE_MS = 10_000
"""How long a delivery is the client's for sure while its connection lives: nothing forbids a server to take back what
is not acknowledged in time, but the text speaks of redelivery only when a connection fails."""
NOTHING = Frame("")


class Match(Enum):
    """Which SEND a MESSAGE delivers."""

    FOUND = "known by its tag or its body"
    NOBODYS = "none that was sent"
    UNKNOWN = "octets were sent of which the server was free to make what it could"


class Copy(Enum):
    """What one message may be to one subscription."""

    MAY = "it may come, or must"
    NEVER = "its SEND must have no effect"
    UNCOMMITTED = "its transaction is not committed"
    ELSEWHERE = "its destination is another one"
    BEHIND = "it was sent behind a frame that had to be refused, and the connection has ended"
    AGAIN = "it came before, and nothing justifies that it comes again"


class Case:
    """A server's frame or an end on connection `number`, or the silence after it.

    `about`: the client frame that it is about, in this reading. `suspects`: frames for which the server may end the
    connection; `unanswered`: those that may explain an end which nothing explains. `text`: the symptom in words. Of a
    MESSAGE, `sub` is its subscription, `sent` what it delivers, `match` and `copy` how that was found, and `last` the
    delivery of the same message before it; `header` is a user header that differs, `special` what is about its
    user headers (see `special`). It is made for one event and judged at once.
    """

    suspects: tuple[Pending, ...] = ()
    unanswered: tuple[Pending, ...] = ()
    text: str = ""
    sub: Sub | None = None
    sent: Message | None = None
    match: Match = Match.FOUND
    copy: Copy = Copy.MAY
    last: Delivery | None = None
    header: tuple[str, str] = ("", "")
    special: frozenset[str] = frozenset()
    profile: str = ""
    during: str = ""

    def __init__(
        self, state: State, number: int, conn: Conn, frame: Frame = NOTHING, about: Pending | None = None, **more: Any
    ) -> None:
        self.state, self.number, self.conn, self.frame, self.about = state, number, conn, frame, about
        self.phase = conn.phase
        if about is not None:
            self.subject = about
        for name, value in more.items():
            setattr(self, name, value)

    def but(self, **changes: Any) -> Case:
        """A case that is the same but for these fields."""
        known = {name: value for name, value in vars(self).items() if name in Case.__annotations__}
        mine = {name: getattr(self, name) for name in ("state", "number", "conn", "frame", "about")}
        return Case(**(mine | known | changes))

    @lazy
    def wanted(self) -> str | None:
        """The receipt that the server's frame names."""
        found: str | None = self.frame.get("receipt-id")
        return found

    @lazy
    def subject(self) -> Pending:
        """The client frame that it is about, where there must be one."""
        assert self.about is not None
        return self.about

    @lazy
    def message(self) -> Message:
        """The message that it is about, where there must be one."""
        assert self.sent is not None
        return self.sent

    @lazy
    def subscription(self) -> Sub:
        """The subscription that it is about, where there must be one."""
        assert self.sub is not None
        return self.sub

    @lazy
    def asked(self) -> list[Pending]:
        """The client frames that ask for the receipt which the server's frame names."""
        wanted = self.wanted
        return [p for p in self.conn.pending if p.receipt == wanted]

    @lazy
    def offer(self) -> Sequence[str]:
        """The versions that a CONNECT offers, if that can be read."""
        return offered(self.subject.frame) or ()

    @lazy
    def sender(self) -> Conn:
        """The connection that sent the message."""
        return self.state.conns[self.message.conn]

    @lazy
    def user(self) -> list[tuple[str, str]]:
        """The headers of a SEND that are the application's."""
        return [pair for pair in self.message.frame.headers if pair[0] not in RESERVED]

    @lazy
    def others(self) -> list[Conn]:
        """Every other connection."""
        return [conn for number, conn in self.state.conns.items() if number != self.number]


def may_be_refused(conn: Conn) -> tuple[Pending, ...]:
    """Frames for which the server may end a connection."""
    found = tuple(p for p in conn.pending if p.call is not None or p.early)
    if conn.phase in (Phase.WAIT, Phase.LEAVING) and conn.connect is not None and conn.connect.call is not None:
        return (conn.connect, *found)
    return found


def gravest(case: Case) -> Pending:
    """Of several frames for which a server may end the connection, one that it should, or else a CONNECT that is not
    answered, without which the others mean nothing, or else the last."""
    connect = case.conn.connect if case.phase in (Phase.WAIT, Phase.LEAVING) else None
    should = next((p for p in case.suspects if isinstance(p.call, Refusal)), None)
    return should or next((p for p in case.suspects if p is connect), case.suspects[-1])


def other_at_fault(case: Case) -> bool:
    """Another connection broke a rule."""
    return any(c.phase is Phase.FAILED or c.lost or c.doom is not None for c in case.others)


def too_much_elsewhere(case: Case) -> bool:
    """Another connection did nothing worse than to send what may be too much for the server."""
    return any(map(beyond_limits, case.others)) and not other_at_fault(case)


def beyond_limits(conn: Conn) -> bool:
    """True when what was sent on it may be too much for the server."""
    pending = conn.pending
    return bool(pending) and any(isinstance(p.call, Free) and p.call.requirement == ids.LIMIT_02 for p in pending)


# -- MESSAGE -----------------------------------------------------------------------------------------------------------


def of_message(state: State, number: int, conn: Conn, frame: Frame) -> Case:
    """A MESSAGE, classified."""
    sub = _subscription(conn, frame)
    if sub is None:
        return Case(state, number, conn, frame)
    match, sent = _match(state, sub, frame)
    if sent is None:
        return Case(state, number, conn, frame, sub=sub, match=match)
    case = Case(state, number, conn, frame)
    case.sub = case.subscription = sub
    case.sent = case.message = sent
    case.match, case.last = match, _before(sub, state, sent)
    case.copy = _copy(case)
    return case


def _subscription(conn: Conn, frame: Frame) -> Sub | None:
    """The subscription that a MESSAGE names; 1.0 allows its destination instead, and says nothing of what a MESSAGE
    calls a subscription that was given no id."""
    key, place = frame.get("subscription"), frame.get("destination")
    found = conn.subs.get(key) if key is not None else None
    if found is not None or conn.version != "1.0":
        return found
    at_place = (sub for sub in conn.subs.values() if place in sub.destinations)
    return next((sub for sub in at_place if key is None or sub.id.startswith("\0")), None)


_TOLD = ("", ids.CLEN_02, ids.INV_29, ids.INV_19)
"""Octets that are no frame, of which it is known what must not come of them."""


def _match(state: State, sub: Sub, frame: Frame) -> tuple[Match, Message | None]:
    tag = frame.get(TAG)
    serial = state.by_tag.get(tag) if tag is not None else None
    if serial is None:
        serial = state.by_tag.get(f"\0{frame.body!r}")
    if serial is not None:
        return Match.FOUND, state.messages[serial]
    spoilt = [conn.lost for conn in state.conns.values() if conn.lost or conn.midway]
    if tag is not None and any(lost not in _TOLD for lost in spoilt):
        return Match.UNKNOWN, None  # no SEND has its tag: it may stand in those octets, and the body proves nothing
    unseen = [m for m in state.messages.values() if not m.deliveries and m.destination in sub.destinations]
    for candidate in unseen:
        if candidate.frame.body == frame.body:
            return Match.FOUND, candidate
    if spoilt:
        return (Match.NOBODYS if spoilt[0] in _TOLD else Match.UNKNOWN), None
    return (Match.FOUND, unseen[0]) if len(unseen) == 1 else (Match.NOBODYS, None)


def _before(sub: Sub, state: State, sent: Message) -> Delivery | None:
    """The delivery of the same message before it: with fan-out, to the same subscription."""
    if sent.kind is None or not sent.deliveries:
        return None
    before = [state.deliveries[serial] for serial in sent.deliveries]
    if sent.kind.fanout:
        before = [delivery for delivery in before if delivery.sub == sub.serial]
    return before[-1] if before else None


def _copy(case: Case) -> Copy:
    sent, sub = case.message, case.subscription
    if sent.never:
        return Copy.NEVER
    if not sent.may:
        return Copy.UNCOMMITTED
    if sent.destination not in sub.destinations:
        return Copy.ELSEWHERE
    if sent.behind is not None and case.state.conns[sent.conn].phase in (Phase.FAILED, Phase.CLOSED):
        return Copy.BEHIND
    return Copy.AGAIN if _again(case) else Copy.MAY


def _again(case: Case) -> bool:
    """True if this message was delivered before and nothing justifies a second time.

    Nothing is known of the order in which two connections were written to. What arrives on a subscription that is being
    closed, or on a connection that the server may be ending, may have been sent before a delivery that was seen earlier
    on another connection, so it justifies itself; so does an end of the earlier connection that is not seen yet.
    """
    sent, sub, last = case.message, case.subscription, case.last
    if last is None or sent.wild or sub.vague or sub.closing or case.phase is not Phase.LIVE:
        return False
    if any(conn.shaky or conn.overdue for conn in (case.conn, case.state.conns[last.conn])):
        return False
    if last.fate == "settled":
        return True
    if last.fate not in ("out", "acked") or shared(case.state, last.conn, last.tx):
        return False
    return last.mode == "auto" or last.tx is not None or not _leased_out(case.state, last)


def _leased_out(state: State, last: Delivery) -> bool:
    """True when a server may have taken back what was not acknowledged in time. A NACK may have reached it, which is
    not for long either."""
    nacked = any(d.conn == last.conn and d.fate == "nacked" for d in state.deliveries.values())
    return not nacked and state.elapsed_ms - last.at_ms >= LEASE_MS


_PLAIN: frozenset[str] = frozenset()
_USUAL = frozenset({"user"})


def special(user: Sequence[tuple[str, str]]) -> frozenset[str]:
    """What is special about the user headers of a SEND: that it has some ("user"), and what might be done to them."""
    if not user:
        return _PLAIN
    text = "".join([name + value for name, value in user])
    if text.isalnum() and text.isascii() and text == text.lower() and len(user) == 1:
        return _USUAL
    found = {"user"}
    if not text.isascii():
        found.add("letters")
    if SPECIAL.search(text):
        found.add("escaped")
    if "\\" in text:
        found.add("backslash")
    if blank_ended(user):
        found.add("blanks")
    if any(not value for _, value in user):
        found.add("empty")
    if len({name for name, _ in user}) < len(user):
        found.add("repeated")
    if text.lower() != text:
        found.add("case")
    return frozenset(found)
