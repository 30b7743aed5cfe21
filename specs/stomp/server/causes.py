"""Which requirement a server most likely broke: the ranked causes of each symptom around answers and endings.

Source: as in forms_answers.py, forms_endings.py and duties.py, which find the symptoms. Only the order of what follows
decides who is named. `could` is the circumstance in which a cause could be blamed; where the symptom does not show,
it is what credits its requirement. Causes of what is wrong with a MESSAGE are in causes_messages.py.
"""

from __future__ import annotations

from specs.causes import Causes, Named
from specs.stomp import ids
from specs.stomp.damage import damage
from specs.stomp.machine import Phase
from specs.stomp.server.case import Case, beyond_limits, other_at_fault, too_much_elsewhere
from specs.stomp.states import Conn, Pending, State

CLAIMS = (
    ids.ACKMODE_04, ids.ACKMODE_05, ids.ACKMODE_07, ids.ACK_01, ids.ACK_06, ids.ACK_07, ids.CLEN_01, ids.CLEN_06,
    ids.CLEN_07, ids.CONNECT_05, ids.CONNECT_13, ids.DISC_03, ids.ENC_01, ids.ENC_03, ids.ENC_06, ids.ENC_07,
    ids.ENC_08, ids.ENC_12, ids.ENC_13, ids.FRAME_03, ids.FRAME_04, ids.HB_07, ids.HDR_05, ids.INV_20, ids.NACK_01,
    ids.NACK_03, ids.NACK_04, ids.NEGO_04, ids.NEGO_05, ids.NEGO_06, ids.REPEAT_01, ids.SUB_04, ids.SUB_07, ids.SUB_09,
    ids.SUB_10, ids.SUB_11, ids.TXN_03, ids.TXN_04, ids.TXN_07, ids.TXN_09, ids.TXN_10, ids.TXN_11, ids.UNSUB_02,
    ids.UNSUB_04,
)  # fmt: skip
"""What may be special about a frame that must be accepted: see calls.py, headers.py."""
_CLAIMS = " ".join(CLAIMS)
_SOFT = frozenset({ids.REPEAT_01, ids.ACK_06, ids.NACK_04, ids.NEGO_04})
"""Claims on which an end of the connection is not laid more gravely than the text has them."""


class Claimed(Causes):
    """Causes of which one is that a frame is special: all that it claims is credited when nothing goes wrong."""

    def credits(self, case: Case) -> tuple[str, ...]:
        """See `Causes.credits`."""
        found = super().credits(case)
        if case.about is not None and case.about.claims:
            return found + case.about.claims
        return found

    def rivals(self, case: Case) -> tuple[str, ...]:
        """See `Causes.rivals`: where a claim is blamed, the others of the same frame may be the reason as well; where
        no frame is, since several may be meant, what each of them claims."""
        named = self.likeliest(case)
        if named is None:
            return ()
        if named.kind == whatever.__name__:
            kind, frames = claimed_by_a_frame.__name__, [p for p in case.unanswered if p.serial >= case.conn.vouched]
        else:
            kind, frame = named.kind, _claimant(case)
            frames = [frame] if frame is not None and named.requirement in frame.claims else []
        claims = dict.fromkeys(name for frame in frames for name in frame.claims)
        return tuple(f"{name} {kind}" for name in claims if name != named.requirement)


def _claimant(case: Case) -> Pending | None:
    """The frame that an end which nothing explains is about, where it is one frame."""
    if case.about is not None:
        return case.about
    return case.unanswered[0] if len(case.unanswered) == 1 else case.conn.connect


def _first_claim(pending: Pending) -> str:
    return next(iter(pending.claims), "")


# -- RECEIPT that no frame asked for -----------------------------------------------------------------------------------

UNASKED = Causes("RECEIPT that no frame asked for")


def _asked(case: Case) -> list[Pending]:
    return [p for p in case.conn.pending if p.receipt is not None]


@UNASKED.cause(ids.CLEN_02, also=f"{ids.INV_16} {ids.RECEIPT_03}", could=lambda case: case.conn.lost == ids.CLEN_02)
def ill_framed(case: Case) -> Named:
    """1.0 says that so many octets should be read."""
    text, also = "RECEIPT for a frame whose content-length does not fit", (ids.INV_16, ids.RECEIPT_03)
    if case.conn.version == "1.0":
        return Named(ids.CLEN_02, text, "", also[:1], level="SHOULD")
    return Named(ids.CLEN_02, text, "", also)


@UNASKED.cause(ids.REPEAT_01, could=lambda case: any(_later_receipts(p) for p in _asked(case)))
def another_receipt_header(case: Case) -> str:
    if any(case.wanted in _later_receipts(p) for p in _asked(case)):
        return f"RECEIPT for {case.wanted!r:.60}, which is not the first of repeated receipt headers"
    return ""


def _later_receipts(pending: Pending) -> list[str]:
    return [value for name, value in pending.frame.headers if name == "receipt"][1:]


def _spoilt(case: Case) -> str:
    found = (damage(p.receipt or "", case.wanted or "", case.conn.version) for p in _asked(case))
    return next(filter(None, found), "")


@UNASKED.cause(
    f"{ids.ENC_01} {ids.ENC_03} {ids.ENC_07} {ids.ENC_12}", which=_spoilt, also=f"{ids.RECEIPT_02} {ids.RECEIPT_06}"
)
def altered_as_text_is(case: Case) -> str:
    if not _spoilt(case):
        return ""
    return f"RECEIPT for {case.wanted!r:.60}, asked for was {[p.receipt for p in _asked(case)]!r:.120}"


@UNASKED.cause(ids.RECEIPT_02, also=ids.RECEIPT_06, could=lambda case: any(_odd(p.receipt) for p in _asked(case)))
def another_text(case: Case) -> str:
    """An odd value that came as something like it, or the same one without its blanks."""
    wanted = case.wanted or ""
    for p in _asked(case):
        receipt = p.receipt or ""
        if receipt.strip() == wanted.strip() or (_odd(receipt) and wanted not in case.conn.answered):
            return f"RECEIPT for {wanted!r:.60}, asked for was {receipt!r:.60}"
    return ""


def _odd(receipt: str | None) -> bool:
    return receipt is not None and not receipt.isalnum()


@UNASKED.cause(ids.CLEN_08, could=lambda case: case.conn.midway)
def too_soon(case: Case) -> str:
    return f"RECEIPT for {case.wanted!r:.60} before the frame was complete"


@UNASKED.cause(ids.RECEIPT_06, could=lambda case: case.wanted in case.conn.answered)
def twice(case: Case) -> str:
    return f"RECEIPT for {case.wanted!r:.60} came twice"


@UNASKED.cause(ids.RECEIPT_02, also=ids.RECEIPT_06, could=lambda case: bool(_asked(case)))
def instead_of_another(case: Case) -> str:
    return f"RECEIPT for {case.wanted!r:.60}, which was never asked for"


# -- no RECEIPT --------------------------------------------------------------------------------------------------------

NO_RECEIPT = Causes("no RECEIPT")


@NO_RECEIPT.circumstance(ids.CONNECT_14)
def before_connected(case: Case) -> bool:
    return case.subject.early


@NO_RECEIPT.circumstance(ids.REPEAT_01)
def repeated_headers(case: Case) -> bool:
    return ids.REPEAT_01 in case.subject.claims


@NO_RECEIPT.circumstance(ids.DISC_03, also=ids.RECEIPT_01)
def goodbye(case: Case) -> bool:
    return case.subject.frame.command == "DISCONNECT"


@NO_RECEIPT.circumstance("STOMP-1.2-RECEIPT-08", also=ids.RECEIPT_01)
def used_again(case: Case) -> bool:
    receipt = case.subject.receipt
    return receipt in case.conn.answered or sum(p.receipt == receipt for p in case.conn.pending) > 1


@NO_RECEIPT.cause(ids.RECEIPT_02, also=ids.RECEIPT_01, could=lambda case: _unusual(case.subject.receipt or ""))
def odd_value(case: Case) -> str:
    """Only where a frame of the same command with a plain value was answered: else the value is not the reason."""
    return case.text if case.subject.frame.command in case.state.receipted else ""


def _unusual(receipt: str) -> bool:
    return not (receipt.isascii() and receipt.replace("-", "").isalnum())


# -- CONNECT refused or not answered, for no reason --------------------------------------------------------------------

NOT_CONNECTED = Claimed("CONNECT refused or not answered")


@NOT_CONNECTED.cause(_CLAIMS, which=lambda case: _first_claim(case.subject), also=ids.CONNECT_02, level="MUST")
def claimed_by_connect(case: Case) -> str | Named:
    name = _first_claim(case.subject)
    if not name:
        return ""
    return Named(name, case.text, "", (ids.CONNECT_02,), level=None if name in _SOFT else "MUST")


def is_no_stomp(conn: Conn) -> bool:
    """Something else than CONNECT was said on it."""
    return conn.lost == ids.ROB_04 or (conn.midway > 0 and conn.connect is None)


def cut_short(conn: Conn) -> bool:
    """It was ended by the client inside a frame."""
    return conn.midway > 0 and conn.phase is Phase.CLOSED


@NOT_CONNECTED.circumstance(ids.ROB_04, also=ids.CONNECT_02)
def after_octets_that_are_no_frame(case: Case) -> bool:
    return any(map(is_no_stomp, case.others))


@NOT_CONNECTED.circumstance(ids.LINGER_01, also=ids.CONNECT_02)
def after_many(case: Case) -> bool:
    return sum(conn.phase is Phase.CLOSED for conn in case.others) > 4


@NOT_CONNECTED.circumstance(ids.FRAME_09, also=f"{ids.INV_39} {ids.CONNECT_02}")
def after_too_much(case: Case) -> bool:
    return any(map(beyond_limits, case.others))


@NOT_CONNECTED.circumstance(ids.ROB_01, also=f"{ids.ROB_02} {ids.CONNECT_02}", level="MUST")
def after_a_fault(case: Case) -> bool:
    return any(c.lost or c.phase is Phase.FAILED or cut_short(c) for c in case.others)


# -- ERROR or a close that nothing explains ----------------------------------------------------------------------------

UNPROVOKED = Claimed("an end for no reason")


def shown(state: State, pending: Pending) -> bool:
    """True when a MESSAGE has shown that a frame which was not receipted was carried out."""
    if pending.frame.command == "SEND":
        sent = state.messages.get(pending.serial)
        return sent is not None and bool(sent.deliveries)
    return pending.frame.command == "SUBSCRIBE" and any(d.sub == pending.serial for d in state.deliveries.values())


_IN_ANY_CASE = f"{ids.ERROR_07} whatever"
"""What an end for no reason is where repetitions do not show that it is about what stands beside it: a server that says
ERROR of its own accord says it behind any frame."""


def unanswered(case: Case) -> None:
    """Put into the case of an end that nothing explains what may explain it: the frame that it names, or else what it
    did not answer, the latest first."""
    conn, named = case.conn, case.about
    found = [named] if named is not None else [p for p in reversed(conn.pending) if not shown(case.state, p)]
    if not found and conn.connect is not None and conn.connect.due:
        found = [conn.connect]
    case.unanswered = tuple(found)


def _before_an_answer(case: Case) -> bool:
    return case.phase in (Phase.WAIT, Phase.LEAVING) and case.conn.connect is not None and case.about is None


@UNPROVOKED.cause(
    f"{_CLAIMS} {ids.CONNECT_02} {ids.ROB_04} {ids.LINGER_01} {ids.ROB_01}",
    which=lambda case: "",
    could=_before_an_answer,
)
def connect_was_refused(case: Case) -> str | Named:
    """Before CONNECTED it is CONNECT that was refused."""
    named = NOT_CONNECTED.likeliest(case.but(about=case.conn.connect))
    return named or Named(ids.CONNECT_02, case.text, "plainly", (), level="MUST")


@UNPROVOKED.cause(
    "STOMP-1.2-LIMIT-03", also=f"{ids.ROB_02} {ids.ERROR_07}", could=too_much_elsewhere, otherwise=_IN_ANY_CASE
)
def too_much_on_another_connection(case: Case) -> str:
    return "" if case.unanswered else f"{case.text}, though only another connection sent too much"


@UNPROVOKED.cause(ids.ROB_02, also=ids.ERROR_07, could=other_at_fault, otherwise=_IN_ANY_CASE)
def another_connection(case: Case) -> str:
    if case.unanswered:
        return ""
    return f"{case.text}, though only another connection was at fault"


@UNPROVOKED.circumstance(
    ids.CLEN_01, also=ids.ERROR_07, otherwise=_IN_ANY_CASE, says="octets of a body with a NUL were read as a frame"
)
def body_read_as_frame(case: Case) -> bool:
    if case.unanswered or case.about is not None:
        return False
    # the frame that is read there comes next: a server that has answered a later one has passed it
    said = (m for m in case.state.messages.values() if m.conn == case.number and m.serial >= case.conn.vouched)
    return any(b"\0" in m.frame.body for m in said)


@UNPROVOKED.cause(_CLAIMS, which=lambda case: "", could=lambda case: len(case.unanswered) == 1)
def claimed_by_a_frame(case: Case) -> str | Named:
    if case.about is None and case.conn.hushed:
        return ""
    (frame,) = case.unanswered
    name = _first_claim(frame) if not frame.much else ids.TXN_10 if ids.TXN_10 in frame.claims else ""
    # behind the RECEIPT of a later frame the server may end the connection for what came of that one
    if not name or frame.serial < case.conn.vouched:
        return ""
    text = f"{case.text}: {frame.frame.command}"
    level = "SHOULD" if frame.much else None if name in _SOFT else "MUST"
    return Named(name, text, "", (ids.ERROR_07,), level=level, otherwise=_IN_ANY_CASE)


@UNPROVOKED.cause(ids.ERROR_07)
def whatever(case: Case) -> str | Named:
    """Which of several frames it is about, nobody says. Where it may be about one that need not be taken, by a
    recommendation alone, no more than that is missed."""
    last = case.unanswered[0].frame.command if case.unanswered else "nothing"
    text = f"{case.text}: {last}"
    frames = [p for p in case.unanswered if p.serial >= case.conn.vouched]
    soft = next((name for name in map(_first_claim, frames) if name in _SOFT), "")
    if soft:
        return Named(soft, text, "", (ids.ERROR_07,), otherwise=_IN_ANY_CASE)
    return Named(ids.ERROR_07, text, level="SHOULD") if any(p.much for p in frames) else text


# -- a client that showed life and was given up ------------------------------------------------------------------------

GIVEN_UP = Causes("a client given up although it showed life")
HASTY = 0.25
"""A client given up before this part of its interval was over was not given up for its silence, unless it was idle."""
IDLE_MS = 400
"""A silence after which a connection counts as idle: shorter ones say nothing about heart-beats."""


def alone_kept_alive(state: State, conn: Conn, kind: str) -> bool:
    """Heart-beats were agreed, and without this sign of life the agreed time would have passed."""
    if not conn.mine_ms:
        return False
    last = max((at for other, at in conn.heard.items() if other != kind), default=0)
    return kind in conn.lives and state.elapsed_ms - last >= conn.mine_ms


def _sign_of_life(requirement: str, kind: str, name: str) -> None:
    def could(case: Case) -> bool:
        return case.conn.mine_ms > 0 and kind in case.conn.lives

    def evidence(case: Case) -> str:
        return case.text if alone_kept_alive(case.state, case.conn, kind) else ""

    evidence.__name__ = name
    GIVEN_UP.cause(requirement, also=f"{ids.HB_08} {ids.HB_09}", could=could)(evidence)


_sign_of_life("STOMP-1.2-HB-10", "octets", "octets_keep_alive")
_sign_of_life(ids.HB_07, "eol", "line_ends_keep_alive")
_sign_of_life("STOMP-1.2-HB-06", "frame", "frames_keep_alive")


@GIVEN_UP.circumstance(ids.HB_08, also=ids.HB_09)
def in_time(case: Case) -> bool:
    return case.conn.mine_ms > 0 and case.conn.mute_ms >= case.conn.mine_ms * HASTY


@GIVEN_UP.circumstance(ids.HB_08, also=ids.HB_09, steady=True)
def long_before_its_time(case: Case) -> bool:
    """It had been silent for some time, and there was nothing else to give it up for."""
    idle = case.phase is Phase.LIVE and not case.conn.pending
    return idle and case.conn.mine_ms > 0 and case.conn.mute_ms > IDLE_MS
