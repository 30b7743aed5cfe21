"""What answers CONNECT and what acknowledges a frame: the rules on CONNECTED and RECEIPT, and what may come when.

Source: 003_30478fd2f19f0da0.txt L43-56 (CONNECTED), L250-263 (RECEIPT); STOMP 1.2, CONNECTED Frame, Protocol
Negotiation, Header receipt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from specs.machine import Never
from specs.model import ANYTHING, Allow, Breach, Outcome
from specs.rules import Broken
from specs.stomp import ids
from specs.stomp.headers import WHOLE, sayable_in_1_0
from specs.stomp.machine import MACHINE, Phase
from specs.stomp.server.book import BOOK, outcome
from specs.stomp.server.case import Case
from specs.stomp.server.causes import GIVEN_UP, UNASKED, cut_short, is_no_stomp
from specs.stomp.server.causes_missing import received_before
from specs.stomp.server.duties import answer_to_connect, receipt
from specs.stomp.server.effects_heard import entered, processed
from specs.stomp.server.refusals import REFUSALS, named
from specs.stomp.states import Free, Pending, Refusal, State

_SERVER = re.compile(r"[^\s/]+(/[^\s]+)?( .*)?\Z", re.DOTALL)
ANSWERED = "RECEIPT of a frame"
_OUT = "out of phase"
FAREWELL = "the end of a session that asked for no RECEIPT"
_REQUIREMENTS = " ".join(dict.fromkeys(name for call in REFUSALS for name in (call.requirement, *call.also)))
"""What can be broken by agreeing to a frame: refusals.py says how grave that is."""
MANY = 50
"""Frames in flight on one connection that make a client a slow reader."""

# -- CONNECTED ---------------------------------------------------------------------------------------------------------


def _since_1_1(case: Case) -> bool:
    """What 1.0 does not speak of."""
    return case.conn.version != "1.0"


def _opens_1_1(case: Case) -> bool:
    """The session is of a later version than 1.0, which has no such header."""
    return case.frame.get("version") not in (None, "1.0")


@BOOK.form(ids.BODY_01, on="CONNECTED", if_=_opens_1_1)
def connected_has_no_body(case: Case) -> str:
    """STOMP 1.2, Body: only SEND, MESSAGE and ERROR may have a body; 1.0 denies it to no frame."""
    return "CONNECTED with a body" if case.frame.body else ""


def _refused(case: Case) -> str:
    call = case.subject.call
    return call.requirement if isinstance(call, Refusal) else ""


@BOOK.form(_REQUIREMENTS, on="CONNECTED", which=_refused)
def connect_that_must_be_refused(case: Case) -> Broken:
    """STOMP 1.2, Protocol Negotiation: without a version in common there is no session."""
    return _agreed(case, "CONNECTED although the CONNECT had to be refused")


def _agreed(case: Case, what: str) -> Broken:
    """The server agreed to a frame that it should have refused: as grave as the refusal says."""
    call = case.subject.call
    assert isinstance(call, Refusal)
    why = f"{what} ({call.why or case.subject.frame.command})"
    name, *also = named(call, call.accepted)
    also += [ids.RECEIPT_03] if call.accepted == "MUST" else []
    return Broken(why, call.accepted, requirement=name, also=tuple(also), ends=not call.forgives)


def _offers_none(case: Case) -> bool:
    return case.subject.frame.get("accept-version") is None


@BOOK.form(ids.NEGO_02, on="CONNECTED", if_=_offers_none)
def without_offer_the_session_is_1_0(case: Case) -> str:
    """STOMP 1.2, Protocol Negotiation: a client without accept-version speaks 1.0."""
    version = case.frame.get("version")
    if version in (None, "1.0"):
        return ""
    return f"a client that offers nothing speaks 1.0, CONNECTED says {version!r:.40}"


def _readable(case: Case) -> bool:
    """The client offered versions in a canonical list."""
    return case.subject.frame.get("accept-version") is not None and bool(case.offer)


@BOOK.form(
    "STOMP-1.2-CONNECTED-01",
    on="CONNECTED",
    also=ids.HDR_01,
    if_=_readable,
    unless=lambda case: case.conn.version == "1.0",
)
def names_the_version(case: Case) -> str:
    """L49-51: CONNECTED has the version of the session; that of 1.0 has no such header."""
    return "CONNECTED without version" if case.frame.get("version") is None else ""


@BOOK.form(
    "STOMP-1.2-NEGO-01", on="CONNECTED", if_=lambda case: _readable(case) and case.frame.get("version") is not None
)
def highest_common_version(case: Case) -> str:
    """STOMP 1.2, Protocol Negotiation: the server answers with the highest version that both speak."""
    version, best = case.frame.get("version"), case.conn.version
    if version not in case.offer:
        return f"CONNECTED says version {version!r:.40}, which was not offered"
    if version != best and not isinstance(case.subject.call, Free):
        return f"CONNECTED says version {version!r:.40}, the highest version in common is {best}"
    return ""


@BOOK.form(
    "STOMP-1.2-CONNECTED-03", on="CONNECTED",
    if_=lambda case: case.frame.get("server") is not None and _opens_1_1(case),
)  # fmt: skip
def server_begins_with_a_name(case: Case) -> str:
    """STOMP 1.2, CONNECTED Frame: server is a name, a slash and a version, and comments behind blanks. 1.0 has no such
    header."""
    server = case.frame.get("server")
    return "" if _SERVER.match(server) else f"server {server!r:.80} does not begin with a name"


@BOOK.form(
    "STOMP-1.2-CONNECTED-04",
    on="CONNECTED",
    if_=lambda case: bool(case.state.sessions) and case.frame.get("session") is not None,
)
def session_is_its_own(case: Case) -> str:
    """L52-53: session identifies the session."""
    session = case.frame.get("session")
    return f"session {session!r:.60} was given to two connections" if session in case.state.sessions else ""


@BOOK.form(ids.HB_01, on="CONNECTED", if_=lambda case: case.frame.get("heart-beat") is not None)
def heart_beat_is_two_numbers(case: Case) -> str:
    """STOMP 1.2, Heart-beating: two whole numbers with a comma between them."""
    beats = case.frame.get("heart-beat")
    return "" if WHOLE.match(beats) else f"heart-beat {beats!r:.60} is not two non-negative integers"


@BOOK.form(ids.INV_32, on="CONNECTED", if_=lambda case: bool(case.conn.pending))
def frames_before_connect_are_refused(case: Case) -> str:
    """Invalid input: a frame before CONNECT should end the connection."""
    before = any(p.call is not None and not p.early and not p.late for p in case.conn.pending)
    return "a frame before CONNECT was ignored" if before else ""


@BOOK.tried("STOMP-1.2-CONNECTED-02", on="CONNECTED")
def leaves_headers_out(case: Case) -> bool:
    """L49-53: heart-beat, session and server may be there or not."""
    return True


@BOOK.tried("STOMP-1.2-VER-01", on="CONNECTED", if_=lambda case: case.frame.get("version") != "1.2")
def speaks_an_older_version(case: Case) -> bool:
    """STOMP 1.2, Protocol Negotiation: a server may support several versions."""
    return True


@BOOK.tried("STOMP-1.2-CONNECT-10", on="CONNECTED", if_=lambda case: case.state.config.login == "")
def takes_whoever_gives_no_name(case: Case) -> bool:
    """L70-74: login, passcode and heart-beat may be left out."""
    return True


@BOOK.tried("STOMP-1.2-DISC-01", on="CONNECTED", if_=lambda case: any(map(cut_short, case.others)))
def clients_may_go_at_any_moment(case: Case) -> bool:
    """L195: a client may close its socket whenever it likes. Who takes harm by that refuses the next one: ROB-01."""
    return True


@BOOK.tried("STOMP-1.2-INV-41", on="CONNECTED", if_=lambda case: any(map(cut_short, case.others)))
def sessions_may_break_off_inside_a_frame(case: Case) -> bool:
    """Robustness: the same, of invalid input. What comes of the unfinished frame is ROB-03."""
    return True


@BOOK.tried("STOMP-1.2-INV-40", on="CONNECTED", if_=lambda case: any(map(is_no_stomp, case.others)))
def treats_other_protocols_as_it_likes(case: Case) -> bool:
    """Robustness: what it answers to octets that are no STOMP is free. Who takes harm by that breaks ROB-04."""
    return True


def connected(case: Case, shown: tuple[str, ...]) -> Outcome:
    """Judge a CONNECTED, and enter the session."""
    case = Case(case.state, case.number, case.conn, case.frame, case.conn.connect)
    found = BOOK.ask("CONNECTED", case)
    agreed = BOOK.met_one(answer_to_connect, case) if case.subject.call is None else ()
    kept = MACHINE.kept("server", case.phase, case)
    after = entered(case.state, case.number, case.conn, case.frame)
    return outcome(found, after, shown + kept + of_a_freedom(case) + agreed)


# -- RECEIPT -----------------------------------------------------------------------------------------------------------


@BOOK.form("STOMP-1.2-RECEIPT-07", on="RECEIPT")
def receipt_has_no_body(case: Case) -> Broken | str:
    """STOMP 1.2, Body: only SEND, MESSAGE and ERROR may have a body. 1.0, RECEIPT: its body is empty."""
    if not case.frame.body:
        return ""
    return Broken("RECEIPT with a body", also=(ids.BODY_01,) if _since_1_1(case) else ())


@BOOK.form(ids.HDR_01, on="RECEIPT", also=ids.RECEIPT_02)
def receipt_names_its_frame(case: Case) -> str:
    """L250-254: receipt-id has the value of the receipt header."""
    return "RECEIPT without receipt-id" if case.wanted is None else ""


def _asked(case: Case) -> bool:
    return bool(case.asked)


@BOOK.form(
    "STOMP-1.2-TXN-13", on="RECEIPT, silence", also=ids.RECEIPT_06,
    if_=lambda case: (case.wanted in case.conn.within and not _asked(case)) or not case.frame.command,
)  # fmt: skip
def no_second_receipt_at_commit(case: Case) -> str:
    """STOMP 1.2, BEGIN; docs/ambiguities.md, E-09: what was receipted in a transaction is not again at its end."""
    return f"RECEIPT for {case.wanted!r:.60} came twice" if case.frame.command else ""


def _left_without_asking(case: Case) -> bool:
    """All that is open is a DISCONNECT, or several, without receipt header."""
    if case.phase is not Phase.CLOSING or case.wanted in case.conn.answered:
        return False
    return not any(p.receipt is not None for p in case.conn.pending) and any(
        p.frame.command == "DISCONNECT" for p in case.conn.pending
    )


@BOOK.form("STOMP-1.2-DISC-08", on=f"RECEIPT, {FAREWELL}", also=ids.RECEIPT_06, if_=_left_without_asking)
def session_ends_without_a_receipt(case: Case) -> str:
    """L194-212: a DISCONNECT without receipt header gets no RECEIPT."""
    got = f"RECEIPT for {case.wanted!r:.60} behind a DISCONNECT without receipt header"
    return got if case.frame.command else ""


@BOOK.form(ids.RECEIPT_06, on="RECEIPT", if_=_asked)
def receipt_was_asked_for(case: Case) -> str:
    """L250-254: a RECEIPT answers a frame with a receipt header."""
    return ""


@BOOK.form(
    ids.RECEIPT_06,
    on="RECEIPT",
    causes=UNASKED,
    unless=lambda case: _asked(case) or case.conn.lost not in ("", ids.CLEN_02),
)
def nobody_asked_for_it(case: Case) -> Broken | str:
    """L250-254: a RECEIPT answers a frame with a receipt header. What octets that are no frame ask for is open, and so
    is what a server makes of a value that 1.0 has no way to write: its headers are US-ASCII, and blanks around them
    padding."""
    if not _since_1_1(case) and any(not sayable_in_1_0(p.receipt or "") for p in case.conn.pending):
        return Broken("", level="")
    return f"RECEIPT for {case.wanted!r:.60}, which was never asked for"


@BOOK.form(_REQUIREMENTS, on=ANSWERED, which=_refused)
def frame_that_must_be_refused(case: Case) -> Broken:
    """What a client frame calls for is declared in refusals.py, and calls.py says when."""
    return _agreed(case, "RECEIPT for a frame that had to be refused")


@BOOK.form(ids.DISC_06, on=ANSWERED, if_=lambda case: case.subject.late)
def nothing_is_processed_after_disconnect(case: Case) -> str:
    """STOMP 1.2, DISCONNECT: the client sends nothing more, so nothing more is processed."""
    return f"a {case.subject.frame.command} after DISCONNECT was processed"


@BOOK.tried("STOMP-1.2-INV-42", on=ANSWERED, if_=lambda case: len(case.conn.pending) > MANY)
def slows_down_or_cuts_off_who_reads_nothing(case: Case) -> bool:
    """Robustness: a client that sends without reading may be slowed down or cut off."""
    return True


def _agreed_receipt(case: Case) -> tuple[str, ...]:
    """What a RECEIPT shows of the frame that it is about."""
    if case.subject.call is not None:
        return case.subject.claims
    beating = case.conn.mine_ms and case.conn.lives
    return BOOK.met_one(receipt, case) + received_before(case) + (tuple(GIVEN_UP.credits(case)) if beating else ())


def _is_plain(case: Case) -> bool:
    """No form on what is receipted applies: most RECEIPTs are so."""
    return case.subject.call is None and not case.subject.late and len(case.conn.pending) <= MANY


def received(case: Case, shown: tuple[str, ...]) -> Iterable[Outcome]:
    """Judge a RECEIPT: one reading for each frame that it may be about, since they may come in any order."""
    found = BOOK.ask("RECEIPT", case)
    asked = case.asked
    if found.breach is not None:
        return (outcome(found, _taken_for_one(case, asked)),)
    if not asked:
        after = ANYTHING if found.lapses else case.state
        return (outcome(found, after, shown),)
    readings = [Case(case.state, case.number, case.conn, case.frame, p) for p in asked]
    return [_beside(_received(reading, shown + found.covers), found.lapses) for reading in readings]


def _taken_for_one(case: Case, asked: Sequence[Pending]) -> Any:
    """The state behind a RECEIPT that is broken: the frame that it names has its own; which other it was meant for,
    nobody knows."""
    if asked:
        return processed(case.state, case.number, case.conn, asked[0])
    return ANYTHING if any(p.receipt is not None for p in case.conn.pending) else case.state


def _beside(found: Outcome, lapses: tuple[Breach, ...]) -> Outcome:
    if not lapses or not isinstance(found, Allow):
        return found
    return Allow(found.state, found.covers, lapses + found.lapses, found.leans)


def _received(case: Case, shown: tuple[str, ...]) -> Outcome:
    agreed, after = shown + _agreed_receipt(case), processed(case.state, case.number, case.conn, case.subject)
    if _is_plain(case):
        return Allow(after, agreed)
    return outcome(BOOK.ask(ANSWERED, case), after, agreed + of_a_freedom(case))


# -- what is only permitted --------------------------------------------------------------------------------------------

_FREEDOM = "a frame that may be refused"


def _permitted(name: str, sentence: str) -> None:
    def uses(case: Case) -> bool:
        call = case.subject.call
        return isinstance(call, Free) and name in call.covers

    uses.__name__, uses.__doc__ = sentence.replace(" ", "_"), f"calls.py: {sentence}."
    BOOK.tried(name, on=_FREEDOM)(uses)


for _name, _sentence in {
    ids.FRAME_07: "passes over or refuses an unknown command",
    ids.LIMIT_01: "limits the size of frames",
    ids.CONNECT_03: "takes or turns down a client",
    ids.CONNECT_08: "takes or turns down a client that names no host",
    ids.CONNECT_09: "takes or turns down a client of another host",
    ids.INV_35: "takes or turns down a CONNECT without host",
    ids.INV_36: "takes or turns down a CONNECT that asks for a receipt",
    ids.ACK_05: "takes or refuses an ACK in auto mode",
    ids.INV_18: "takes or refuses an odd way to write a number",
    ids.INV_23: "takes or refuses a colon in a value",
    ids.INV_24: "takes or refuses a CR in a line",
    ids.INV_26: "takes or refuses octets that are no UTF-8",
}.items():
    _permitted(_name, _sentence)


def of_a_freedom(case: Case) -> tuple[str, ...]:
    """Permissions of which use was made, where the client frame was one that the server may accept or refuse."""
    if case.about is None or not isinstance(case.about.call, Free):
        return ()
    return BOOK.ask(_FREEDOM, case).covers


# -- what the phase forbids --------------------------------------------------------------------------------------------


@BOOK.form(
    "STOMP-1.2-CONNECT-12",
    on=f"{_OUT}, CONNECTED",
    when=(Phase.WAIT, Phase.LEAVING),
    if_=lambda case: case.conn.connect is not None and case.conn.connect.receipt is not None,
)
def no_receipt_for_connect(case: Case) -> str:
    """STOMP 1.2, Header receipt: any client frame other than CONNECT may ask for a receipt."""
    connect = case.conn.connect
    asked = connect is not None and case.wanted == connect.receipt
    return "RECEIPT for a CONNECT frame" if asked and case.frame.command == "RECEIPT" else ""


@BOOK.form(ids.ERROR_02, on=_OUT, when=(Phase.FAILED,), if_=lambda case: case.conn.version != "1.2")
def before_1_2_an_error_need_not_be_the_end(case: Case) -> Broken:
    """STOMP 1.2, ERROR, is the first to say that the connection is closed behind it."""
    return Broken("", level="")


@BOOK.form(ids.DISC_04, on=_OUT, when=(Phase.LEFT,), level="SHOULD")
def what_may_have_crossed(case: Case) -> Broken | str:
    """L194-212: the RECEIPT of DISCONNECT is the last frame; what the client itself sent behind it may be answered.
    That of 1.0 says only that the DISCONNECT has come: what was under way follows."""
    if not _since_1_1(case):
        return Broken("", level="")
    late = case.frame.command == "RECEIPT" and any(p.receipt == case.wanted for p in case.conn.pending)
    if not late and not case.conn.said_after_end:
        return ""
    return Broken(f"{case.frame.command} after the RECEIPT of DISCONNECT", ends=True)


@BOOK.form(ids.INV_33, on=_OUT, when=(Phase.LIVE, Phase.CLOSING), level="SHOULD")
def second_connect_is_not_accepted(case: Case) -> Broken | str:
    """STOMP 1.2, Connecting: a session is opened once. The client broke that itself, so it is a recommendation."""
    asked = any(p.frame.command in ("CONNECT", "STOMP") for p in case.conn.pending)
    if case.frame.command != "CONNECTED" or not asked:
        return ""
    return Broken("a second CONNECTED for a second CONNECT", ends=True)


def out_of_phase(case: Case, cell: Never) -> Outcome:
    """A frame that the machine forbids here."""
    found = BOOK.ask(_OUT, case)
    if found.breach is not None or found.unjudged:
        return outcome(found, case.state)
    breach = BOOK.forbidden(case, case.frame.command, cell)
    behind = (
        ANYTHING if case.frame.command == "MESSAGE" else case.state
    )  # to whom a message was still owed is open then
    why = f"{case.frame.command!r:.60}: {breach.why}"
    return BOOK.broken(replace(breach, why=why, level=BOOK.level(breach)), ANYTHING, behind)


def never_again(state: State) -> Iterator[str]:
    """What a silence shows of frames that were receipted in a transaction which was committed since."""
    for number, conn in state.conns.items():
        if conn.within and any(tx not in conn.txs for tx in conn.old_txs):
            yield from BOOK.ask("silence", Case(state, number, conn)).covers
