"""How a connection ends: the rules on ERROR and on a close by the server.

Source: 003_30478fd2f19f0da0.txt L107-127, L194-212; STOMP 1.2, ERROR, DISCONNECT, Heart-beating, Connection Lingering.
"""

from __future__ import annotations

from collections.abc import Iterator

from specs.events import Closed
from specs.model import Allow, Outcome
from specs.rules import Broken
from specs.stomp import ids
from specs.stomp.headers import SPECIAL
from specs.stomp.machine import CLOSES, HANGS_UP, MACHINE, Phase
from specs.stomp.server.book import BOOK, outcome
from specs.stomp.server.case import Case, gravest, may_be_refused
from specs.stomp.server.causes import GIVEN_UP, IDLE_MS, UNPROVOKED, alone_kept_alive, unanswered
from specs.stomp.server.changes import put
from specs.stomp.server.duties import close_after_error, refusal_of_octets, refused
from specs.stomp.server.effects_heard import failed
from specs.stomp.server.effects_said import left
from specs.stomp.server.forms_answers import FAREWELL, of_a_freedom
from specs.stomp.server.forms_messages import MIME, UNREAD
from specs.stomp.server.refusals import FREEDOMS, REFUSALS, SEND_ANYWHERE, UNREADABLE
from specs.stomp.server.scarce import is_crowded
from specs.stomp.server.transactions import undone
from specs.stomp.states import Conn, Free, Pending, Refusal, State

MARGIN = 0.05
"""A client given up within this part of its interval after the end of it was given no margin."""
_ENDS = "ERROR, close"
_ANSWERED_BY = {ids.SEND_01: ids.SEND_06, ids.SUB_01: ids.SUB_06, ids.NEGO_03: ids.NEGO_03}
"""Rules that a client broke for which the text itself asks for an ERROR, and the rule about that ERROR."""

# -- why it may end ----------------------------------------------------------------------------------------------------


def _broken_off(case: Case) -> bool:
    """The client broke the framing, or spoke after the end: an end needs no further reason."""
    return bool(case.conn.lost or case.conn.midway) or case.conn.said_after_end


def _silent(case: Case) -> bool:
    return bool(case.conn.mine_ms) and case.conn.mute_ms >= case.conn.mine_ms


def _excused(case: Case) -> bool:
    """Nothing that the client said explains the end, and nothing has to."""
    return _broken_off(case) or _silent(case) or case.conn.overdue or _turned_away(case) or case.conn.dubious


def _turned_away(case: Case) -> bool:
    """One connection too many may be refused before anything is said on it (docs/ambiguities.md, N-18a)."""
    return case.phase is Phase.OPEN and is_crowded(case.state, case.number)


def _blamed(case: Case) -> bool:
    """What the client said must explain the end."""
    return not _excused(case) and bool(case.suspects)


def _has_body(case: Case) -> bool:
    return bool(case.frame.body)


# -- ERROR -------------------------------------------------------------------------------------------------------------


def _names(case: Case) -> bool:
    """It has a receipt-id, which means something from 1.1 on."""
    return case.wanted is not None and case.conn.version != "1.0"


@BOOK.form(ids.ROB_02, on="ERROR", also=ids.ERROR_04, if_=lambda case: _names(case) and len(case.state.conns) > 1)
def error_is_about_this_connection(case: Case) -> str:
    """Robustness: what goes wrong on one connection is not felt on another."""
    if case.about is not None or case.wanted in case.conn.answered:
        return ""
    if any(p.receipt == case.wanted for conn in case.others for p in conn.pending):
        return f"ERROR with receipt-id {case.wanted!r:.60}, which a frame of another connection asked for"
    return ""


@BOOK.form("STOMP-1.2-ERROR-03", on="ERROR")
def error_has_a_message(case: Case) -> str:
    """L233-234: message says in brief what went wrong."""
    return "ERROR without a message header" if case.frame.get("message") is None else ""


def _one_to_name(case: Case) -> bool:
    """One frame alone can be meant, which can be read, and it asked for a receipt. 1.0 has no header to say which, and
    before CONNECT no version was agreed on (docs/ambiguities.md, N-16)."""
    if len(case.suspects) != 1 or case.phase is Phase.OPEN or case.conn.version == "1.0":
        return False
    refused = case.suspects[0].call
    readable = isinstance(refused, Refusal) and refused.requirement not in UNREADABLE
    return readable and case.suspects[0].receipt is not None


_SAYS_NOTHING = frozenset({"message", "content-length", "content-type", "version", "server", "session"})
"""Headers of an ERROR by which no frame is told from others."""


@BOOK.form("STOMP-1.2-ERROR-05", on="ERROR", if_=_one_to_name)
def error_helps_to_find_the_frame(case: Case) -> str:
    """STOMP 1.2, ERROR: an ERROR about a frame should have headers that help to identify it, such as receipt-id."""
    helps = any(name not in _SAYS_NOTHING for name, _ in case.frame.headers)
    return "" if helps else "ERROR without any header that tells which frame it is about"


@BOOK.form(ids.ERROR_04, on="ERROR", if_=_one_to_name)
def error_names_the_frame(case: Case) -> str:
    """STOMP 1.2, ERROR: an ERROR about a frame that asked for a receipt should have its value as receipt-id."""
    return "ERROR without the receipt-id of the frame that it is about" if case.wanted is None else ""


@BOOK.form(ids.CLEN_05, on="ERROR", also=ids.ERROR_06, if_=_has_body)
def error_states_its_length(case: Case) -> str:
    """L243-246: a frame with a body should state content-length."""
    return "ERROR with a body but without content-length" if case.frame.get("content-length") is None else ""


@BOOK.form(ids.ERROR_06, on="ERROR", also=ids.CTYPE_01, if_=lambda case: _has_body(case) and case.conn.version != "1.0")
def error_states_its_type(case: Case) -> str:
    """L243-246: a frame with a body should state content-type."""
    return "ERROR with a body but without content-type" if case.frame.get("content-type") is None else ""


@BOOK.form(
    ids.CTYPE_02, on="ERROR", level="SHOULD",
    if_=lambda case: case.frame.get("content-type") is not None and case.conn.version != "1.0",
)  # fmt: skip
def error_has_a_mime_type(case: Case) -> str:
    """STOMP 1.2, Header content-type: the value is a MIME type. On an ERROR it helps nobody but people."""
    kind = case.frame.get("content-type")
    return "" if MIME.match(kind) else f"content-type {kind!r:.60} is no MIME type"


def _what(case: Case) -> str:
    """The end in words; the body of an ERROR often says more than its message."""
    if not case.frame.command:
        return "closed the connection"
    more = f": {case.frame.body[:120]!r}" if case.frame.body else ""
    return f"ERROR ({case.frame.get('message')!r:.120}{more})"


@BOOK.form(
    ids.RECEIPT_03, on="ERROR", also=ids.ERROR_04, if_=lambda case: _names(case) and case.conn.answered,
    unless=_excused,
)  # fmt: skip
def what_was_receipted_has_not_failed(case: Case) -> str:
    """L250-251; docs/ambiguities.md, N-16: a RECEIPT says that its frame was processed, an ERROR that not. That of 1.0
    says only that it has come."""
    failed_later = case.about is None and case.wanted in case.conn.answered
    return f"ERROR with receipt-id {case.wanted!r:.60}, whose RECEIPT has come already" if failed_later else ""


@BOOK.form(
    ids.ERROR_07, on="ERROR", unless=lambda case: _excused(case) or _given_up(case), causes=UNPROVOKED
)  # fmt: skip
def error_has_a_reason(case: Case) -> Broken | str:
    """STOMP 1.2, ERROR: it says that something went wrong."""
    named = case.about
    if not case.suspects:
        return Broken(case.text, ends=True)
    if named is not None and named not in case.suspects and not any(p.serial < named.serial for p in case.suspects):
        return Broken(case.text, ends=True)
    return ""


@BOOK.freedom("N-16")
def its_receipt_may_be_read_otherwise(case: Case) -> bool:
    """1.2, Value Encoding: CONNECT and CONNECTED are not escaped, and nothing says how a server reads one in a session,
    where no client may say it."""
    unescaped = (p.receipt for p in case.suspects if p.frame.command in ("CONNECT", "CONNECTED", "STOMP"))
    return any(SPECIAL.search(receipt) for receipt in unescaped if receipt is not None)


@BOOK.form(ids.ERROR_04, on="ERROR", level="MUST", if_=_names, unless=_excused,
           freed_by=(its_receipt_may_be_read_otherwise,))  # fmt: skip
def error_names_no_other_frame(case: Case) -> str:
    """docs/ambiguities.md, N-16: a receipt-id that nobody asked for misleads."""
    return "" if case.about is not None else f"ERROR with receipt-id {case.wanted!r:.60}, which no frame asked for"


def _behind(case: Case) -> bool:
    behind = any(m.conn == case.number and m.behind for m in case.state.messages.values())
    return behind and _blamed(case) and case.conn.version == "1.2"


@BOOK.form(
    ids.ERROR_02, on="ERROR", level="SHOULD", if_=_behind,
    same_as="nothing_behind_a_refused_frame_is_done what_has_no_effect_is_not_seen",
)  # fmt: skip
def nothing_behind_it_was_done(case: Case) -> str:
    """STOMP 1.2, ERROR: the connection is over with the frame that was refused. A server may come to see what is wrong
    with a frame when it is at later ones already (STOMP 1.2, RECEIPT)."""
    behind = [m for m in case.state.messages.values() if m.conn == case.number and m.behind and m.deliveries]
    done = any(m.behind and m.behind.accepted == "MUST" for m in behind)
    return "a SEND behind a refused frame was delivered" if done else ""


# -- either ------------------------------------------------------------------------------------------------------------


def _early(case: Case) -> bool:
    return _blamed(case) and any(p.early for p in case.suspects) and gravest(case).call is None


@BOOK.form(ids.CONNECT_14, on=_ENDS, if_=_early)
def early_frames_are_taken(case: Case) -> str:
    """docs/ambiguities.md, E-12: nothing forbids a client to speak before CONNECTED has come."""
    return f"{_what(case)} in a legal session: a frame before CONNECTED was refused"


def _lost(name: str, sentence: str) -> None:
    def uses(case: Case) -> bool:
        return case.conn.lost == name

    uses.__name__, uses.__doc__ = sentence.replace(" ", "_"), f"Invalid input: {sentence}."
    BOOK.tried(name, on=f"{_ENDS}, {UNREAD}", if_=lambda case: bool(case.conn.lost))(uses)


_lost(ids.INV_19, "a frame that is longer than could ever be sent may be refused or waited for")
_lost(ids.INV_25, "a NUL inside a header line may end the connection")
_lost(ids.INV_30, "a NUL in place of a frame may end the connection")


# -- close -------------------------------------------------------------------------------------------------------------


_PARTED = "close after DISCONNECT"


def _owing(case: Case) -> Pending | None:
    """The DISCONNECT whose RECEIPT is due."""
    return next((p for p in case.conn.pending if p.frame.command == "DISCONNECT" and p.receipt and p.due), None)


def _kept_from_it(case: Case) -> bool:
    """Something before the DISCONNECT, or behind it, may have ended the connection, or the DISCONNECT itself, which has
    a body, say."""
    owing = _owing(case)
    return case.conn.said_after_end or any(
        p.call is not None or (p.early and p is not owing) for p in case.conn.pending
    )


def _earlier(case: Case) -> bool:
    """A frame before the DISCONNECT asked for a receipt that did not come either."""
    owing = _owing(case)
    return any(p is not owing and p.receipt is not None and p.due for p in case.conn.pending)


@BOOK.form(
    ids.ERROR_07, on=_PARTED, steady=True, causes=UNPROVOKED,
    if_=lambda case: _owing(case) is not None and _earlier(case), unless=_kept_from_it,
)  # fmt: skip
def frames_before_it_are_not_refused(case: Case) -> Broken:
    """STOMP 1.2, ERROR: a close needs a reason, and so does each RECEIPT that is missing at the end."""
    return Broken(case.text, ends=True)


@BOOK.form(
    ids.DISC_03,
    on=_PARTED,
    also=ids.RECEIPT_01,
    steady=True,
    if_=lambda case: _owing(case) is not None,
    unless=_kept_from_it,
)
def receipt_comes_before_the_close(case: Case) -> str:
    """L194-212: the server answers DISCONNECT with its RECEIPT before it closes."""
    return "closed without the RECEIPT of DISCONNECT"


@BOOK.tried("STOMP-1.2-LINGER-02", on=f"{_PARTED}, close")
def last_frame_may_get_lost(case: Case) -> bool:
    """L210-211: the last frame may not arrive when the server resets the connection."""
    return case.phase in (Phase.CLOSING, Phase.LEFT)


@BOOK.form(ids.HB_09, on=_ENDS, if_=lambda case: _silent(case) and not case.suspects and not _broken_off(case))
def silence_has_a_margin(case: Case) -> str:
    """STOMP 1.2, Heart-beating: because of timing inaccuracies the receiver should be tolerant."""
    if case.conn.mute_ms > case.conn.mine_ms * (1 + MARGIN):
        return ""
    return f"closed after {case.conn.mute_ms} ms of silence, agreed were {case.conn.mine_ms} ms: no margin"


def _needs_a_reason(case: Case) -> bool:
    if case.conn.version == "1.0" and _was_idle(case):
        return False  # 1.0 has no heart-beats, and no word on how long a client may say nothing
    if case.suspects or _silent(case) or case.conn.overdue or case.phase is Phase.OPEN or case.conn.lost:
        return False
    if case.conn.dubious:
        return False
    if case.conn.midway > case.state.config.sizes.line:  # it may be one line of a header, which may be too long
        return False
    return not case.conn.midway or alone_kept_alive(case.state, case.conn, "octets")


def _given_up(case: Case) -> bool:
    """A client that showed life was given up, as far as can be told."""
    asked = any(p.receipt is not None for p in case.conn.pending)
    return case.conn.mine_ms > 0 and not asked and _needs_a_reason(case) and GIVEN_UP.likeliest(case) is not None


@BOOK.form(ids.HB_08, on=_ENDS, level="MUST", if_=_given_up, causes=GIVEN_UP)
def signs_of_life_are_heard(case: Case) -> str:
    """STOMP 1.2, Heart-beating: any octet that comes is a sign of life."""
    return case.text


def _was_idle(case: Case) -> bool:
    return case.phase is Phase.LIVE and not case.conn.pending and case.conn.mute_ms > IDLE_MS


@BOOK.form(
    "STOMP-1.2-HB-03", on="close, idle", also="STOMP-1.2-HB-02", steady=True,
    if_=lambda case: _was_idle(case) and _needs_a_reason(case) and not case.conn.mine_ms,
)  # fmt: skip
def idle_connection_stays_open(case: Case) -> str:
    """STOMP 1.2, Heart-beating: where none were agreed, silence means nothing."""
    if case.during == "idle":
        return ""
    return f"closed an idle connection after {case.conn.mute_ms} ms although no heart-beats were agreed"


@BOOK.form(ids.ERROR_07, on="close", steady=True, if_=_needs_a_reason, causes=UNPROVOKED)
def close_has_a_reason(case: Case) -> Broken:
    """STOMP 1.2, ERROR: a client that keeps to the protocol is not cut off."""
    return Broken(case.text, ends=True)


def _anywhere(case: Case) -> bool:
    """It was a SEND to a destination of which nothing is known."""
    return _blamed(case) and gravest(case).call is SEND_ANYWHERE


@BOOK.form(ids.INV_03, on=_ENDS, also=f"{ids.SEND_06} {ids.SEND_03}", steady=True, goes_on=True, if_=_anywhere)
def odd_destination_gets_an_error(case: Case) -> str:
    """L107-110: a SEND that the server cannot process gets an ERROR."""
    return "" if case.frame.command else "closed without ERROR"


def _without_error(case: Case) -> str:
    """The requirement that a close without ERROR misses: the rule about ERROR rather than what the client broke."""
    if not _blamed(case):
        return ""
    call = gravest(case).call
    if isinstance(call, Free):
        return call.requirement if call.silent else ""
    if call is None or not call.silent:
        return ""
    asks = (name for name in (call.requirement, *call.also) if name in _ANSWERED_BY or "-INV-" in name)
    return next((_ANSWERED_BY.get(name, name) for name in asks), call.requirement)


_ASK_FOR_ERRORS = [
    *(name for call in REFUSALS for name in (call.requirement, *call.also)),
    *(call.requirement for call in FREEDOMS if call.silent),
    *_ANSWERED_BY.values(),
]


@BOOK.form(
    " ".join(dict.fromkeys(_ASK_FOR_ERRORS)),
    on=_ENDS,
    which=_without_error,
    unless=_anywhere,
    steady=True,
    goes_on=True,
)
def what_is_refused_gets_an_error(case: Case) -> Broken | str:
    """STOMP 1.2, ERROR: the server may say with an ERROR what went wrong; some frames call for one."""
    call = gravest(case).call
    assert call is not None
    if case.frame.command:
        return ""
    return Broken(
        f"closed without ERROR ({call.why})" if isinstance(call, Refusal) else "closed without ERROR", call.silent
    )


# -- together ----------------------------------------------------------------------------------------------------------


def error(case: Case, shown: tuple[str, ...]) -> Outcome:
    """Judge an ERROR, after which the connection is over."""
    conn, wanted = case.conn, case.wanted
    case.suspects = may_be_refused(conn)
    if wanted is not None and conn.version != "1.0":
        asked = [p for p in (*conn.pending, *([conn.connect] if conn.connect else [])) if p.receipt == wanted]
        refusable = (p for p in asked if p in case.suspects)  # N-16: several frames may ask for one receipt
        case = case.but(about=next(refusable, asked[0] if asked else None))
    legal = "for a legal frame" if case.suspects else "in a legal session"
    case.text = f"{_what(case)} {legal}"
    unanswered(case)
    found = BOOK.ask("ERROR", case)
    refused = case.about if wanted is not None else conn.pending[0] if len(conn.pending) == 1 else None
    return outcome(found, failed(case.state, case.number, refused), shown + _shown_by_the_end(case))


def _shown_by_the_end(case: Case) -> tuple[str, ...]:
    """What the end shows of octets that were no frame, or of the gravest of several frames: that it was refused as it
    had to be, or a permission that was used."""
    if case.conn.lost == ids.CLEN_02:
        return BOOK.met_one(refusal_of_octets, case)
    if _excused(case) or not case.suspects:
        return ()
    return refused(case) + of_a_freedom(case.but(about=gravest(case)))


def closed(state: State, event: Closed) -> Outcome:
    """Judge a close, by whom it may be."""
    number = event.conn
    conn = state.conns.get(number) or Conn()
    phase = MACHINE.move(conn.phase, CLOSES if event.by == "server" else HANGS_UP)
    if conn.phase is Phase.CLOSED:
        return Allow(state)
    after = put(state, number, conn._replace(phase=phase, silent_ms=0))
    if conn.phase not in (Phase.CLOSING, Phase.LEFT, Phase.FAILED):
        after = left(after, number)
    elif conn.txs:
        after = undone(after, number, list(conn.txs), ids.TXN_05)
    if event.by == "client":
        return Allow(after)
    case = Case(state, number, conn, suspects=may_be_refused(conn))
    kept = MACHINE.kept("server", conn.phase, case)
    topic = _TOPICS.get(conn.phase, "close")
    if topic == _PARTED:
        owing = _owing(case)
        earlier = tuple(p for p in conn.pending if p is not owing)
        text = "closed the connection"
        found = BOOK.ask(topic, _unexplained(case, conn._replace(pending=earlier), text))
        kept += BOOK.ask(FAREWELL, case).covers
    else:
        text = f"closed after {conn.mute_ms} ms of silence, agreed were {conn.mine_ms} ms"
        case.text = text if _given_up(case) else "closed the connection in a legal session"
        unanswered(case)
        found = BOOK.ask(topic, case)
    if topic == _PARTED and owing is None:
        kept += tuple(name for p in conn.pending if p.frame.command == "DISCONNECT" for name in p.claims)
    if conn.phase is Phase.FAILED and conn.version == "1.2":
        kept += BOOK.met_one(close_after_error, case)
    return outcome(found, after, kept + _shown_by_the_end(case))


def _unexplained(case: Case, earlier: Conn, text: str) -> Case:
    """The case of a close behind a DISCONNECT: what may explain it stands before that."""
    before = Case(case.state, case.number, earlier)
    unanswered(before)
    found = Case(case.state, case.number, case.conn)
    found.suspects, found.unanswered, found.text = case.suspects, before.unanswered, text
    return found


def idle(state: State) -> Iterator[str]:
    """What a pause shows of connections that are idle and stay open."""
    for number, conn in state.conns.items():
        if conn.mute_ms > IDLE_MS and conn.phase is Phase.LIVE and not conn.mine_ms:
            yield from BOOK.ask("idle", Case(state, number, conn, during="idle")).covers


_TOPICS = {Phase.CLOSING: _PARTED, Phase.LEFT: _PARTED, Phase.FAILED: "close after ERROR"}
