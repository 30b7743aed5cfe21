"""What is likeliest behind a message that is lost or changed, and behind a client that stands still or hangs up.

A client says nothing of why it did not take a frame. What was special about that frame is the likeliest reason; what is
left when a plan was made as short as can be is the reason (marks.py). Source: as there.
"""

from __future__ import annotations

from specs.causes import Causes, Named
from specs.stomp import ids
from specs.stomp.client.book import (
    BEHIND_EOLS,
    BINARY,
    FIRST_VALUE,
    LENGTHLESS,
    LIVES_ON,
    READS,
)
from specs.stomp.client.case import Case, Reported, waiting
from specs.stomp.client.machine import K

OPENS = "STOMP-1.2-CLI-14"
PATIENT = "STOMP-1.2-CLI-12"
_WRITTEN = (ids.FRAME_06, ids.FRAME_02, ids.FRAME_03, BEHIND_EOLS)
"""How something was written. An investigation tries first whether it matters (`specs.protocol.Feature.octets`)."""
_REPEATED = (ids.REPEAT_01, FIRST_VALUE)
"""They come first: which of repeated headers counts is a recommendation, and so is all that follows from it (E-36)."""
_RANKED = (
    *_REPEATED, *_WRITTEN, ids.CLEN_07, ids.CLEN_01, ids.CLEN_06, ids.ENC_13, ids.ENC_03, ids.ENC_06, ids.NEGO_06,
    ids.ENC_08, ids.ENC_07, ids.FRAME_05,
)  # fmt: skip
"""Marks, the most telling first."""
_SAYS = {
    ids.CLEN_01: "its body holds a NUL",
    ids.CLEN_06: "its body holds characters of several octets", ids.ENC_13: "its headers are not ASCII",
    ids.ENC_03: "its headers hold escapes", ids.ENC_06: "CONNECTED holds colons or backslashes",
    ids.NEGO_06: "its headers hold what other versions escape", ids.ENC_08: "a header is empty",
    ids.ENC_07: "a header begins or ends with a blank", ids.FRAME_05: "a header looks like one of the protocol",
    ids.REPEAT_01: "a header is repeated", FIRST_VALUE: "a user header is repeated",
    ids.CLEN_07: "a frame without a body has a content-length", BEHIND_EOLS: "line ends stood before a frame",
    ids.FRAME_06: "it was cut into segments, or joined to others", ids.FRAME_02: "its lines end with CR LF",
    ids.FRAME_03: "line ends stand around a frame",
}  # fmt: skip


def _marked(case: Case, *names: str) -> str:
    return next((name for name in names if name in case.marks), "")


_NOT_TAKEN = f"{READS} not taken"
_HUNG_UP = f"{LIVES_ON} stays_as_long_as_nothing_is_wrong"
"""What it is where repetitions do not show that it is about a mark: a client that fails of its own accord fails behind
any frame."""


def _named(case: Case, *names: str, otherwise: str) -> Named | str:
    """The first of these marks, in words. Where a frame was written in several unusual ways, each of them may be the
    reason."""
    name = _marked(case, *names)
    if not name:
        return ""
    others = (other for other in _WRITTEN if name in _WRITTEN and other != name and other in case.marks)
    same_as = tuple(f"{other} marked {other}" for other in others)
    return Named(name, f"{case.text}: {_SAYS[name]}", f"marked {name}", (READS,), otherwise=otherwise, same_as=same_as)


LOST = Causes("a message that does not reach the application", vague=True)


@LOST.cause(" ".join(_RANKED), which=lambda case: _marked(case, *_RANKED), also=READS)
def something_about_it_was_special(case: Case) -> Named | str:
    """STOMP 1.2, MESSAGE: all messages of a subscription are delivered to the client."""
    return _named(case, *_RANKED, otherwise=_NOT_TAKEN)


@LOST.cause(READS)
def it_was_not_taken(case: Case) -> Named:
    """As above."""
    return Named(READS, case.text, "not taken", (LIVES_ON,))


CHANGED_BODY = Causes("a body that is not as it was")


@CHANGED_BODY.cause(" ".join(_WRITTEN), which=lambda case: _marked(case, *_WRITTEN), also=READS)
def it_was_written_in_a_special_way(case: Reported) -> Named | str:
    """L30-40; STOMP 1.2, STOMP Frames: segments, CR LF, line ends between frames."""
    return _named(case, *_WRITTEN, otherwise=f"{READS} a_body_is_given_as_it_was_said")


@CHANGED_BODY.cause(ids.CLEN_01, could=lambda case: ids.CLEN_01 in case.marks, also=READS)
def it_was_cut_at_a_nul(case: Reported) -> str:
    """STOMP 1.2, Header content-length: as many octets as it says, whatever they are."""
    body = case.push.frame.body
    return case.text if body.partition(b"\0")[0] == case.body or b"\0" not in case.body else ""


@CHANGED_BODY.cause(ids.CLEN_06, could=lambda case: ids.CLEN_06 in case.marks, also=READS)
def characters_were_counted(case: Reported) -> str:
    """STOMP 1.2, Header content-length: an octet count."""
    return case.text if case.push.frame.body.startswith(case.body) else ""


def _no_text(case: Reported) -> bool:
    try:
        case.push.frame.body.decode()
    except UnicodeDecodeError:
        return BINARY in case.marks
    return False


@CHANGED_BODY.cause(BINARY, could=_no_text, level="SHOULD", also=READS)
def it_was_taken_for_text(case: Reported) -> str:
    """STOMP 1.2, Header content-type: without it, the body is a binary blob."""
    return case.text


@CHANGED_BODY.cause(LENGTHLESS, could=lambda case: LENGTHLESS in case.marks, also=READS)
def it_did_not_end_at_the_first_nul(case: Reported) -> str:
    """STOMP 1.2, Body: without content-length the body ends at the first NUL."""
    return case.text


UNCONNECTED = Causes("a CONNECTED that does not open the session")


_OF_CONNECTED = (ids.FRAME_06, ids.FRAME_02, ids.ENC_06, ids.CLEN_07)


@UNCONNECTED.cause(" ".join(_OF_CONNECTED), which=lambda case: _marked(case, *_OF_CONNECTED), also=OPENS)
def something_about_connected_was_special(case: Case) -> Named | str:
    """L30-40: the stream is one of octets, however it is cut, and lines end with LF or CR LF. STOMP 1.2, Value
    Encoding: CONNECTED is not escaped. Header content-length: allowed on every frame."""
    name = _marked(case, *_OF_CONNECTED)
    if not name:
        return ""
    text, in_any_case = f"{case.text}: {_SAYS[name]}", f"{OPENS} connected_opens_the_session"
    return Named(name, text, f"marked {name}", (OPENS,), otherwise=in_any_case)


STUCK = Causes("a command that does not end")


@STUCK.cause(ids.FRAME_09, could=lambda case: case.state.large, also=LIVES_ON)
def a_frame_was_too_large(case: Case) -> str:
    """STOMP 1.2, Size Limits: whoever has limits stays in service."""
    return f"{case.text}, behind a very large frame"


def _greeted(case: Case) -> bool:
    state = case.state
    there = state.phase is K.LIVE or (state.phase is K.ASKED and state.parted)
    return there and bool(state.told) and state.told[0].op == "connect"


def _reason(case: Case) -> str:
    return ids.FRAME_06 if case.state.parted else _marked(case, *_OF_CONNECTED) or OPENS


@STUCK.cause(" ".join((*_OF_CONNECTED, OPENS)), could=_greeted,
             which=_reason, also=LIVES_ON)  # fmt: skip
def connected_was_not_taken(case: Case) -> Named | str:
    """STOMP 1.2, CONNECTED Frame."""
    name = _reason(case)
    text, kind = f"{case.text} although CONNECTED came", f"greeted {name}"
    return Named(name, text, kind, (LIVES_ON,), same_as=_same(name, kind))


def _same(name: str, sort: str) -> tuple[str, ...]:
    """Whether a client waits or hangs up is one failure where the way in which CONNECTED was written is the reason."""
    return () if name == OPENS else (f"{name} {sort}",)


def _receipted(case: Case) -> bool:
    state = case.state
    return state.phase is K.LIVE and bool(state.answered)


_RECEIPT = (*_WRITTEN, ids.CLEN_07, ids.ENC_03)


@STUCK.cause(" ".join((*_RECEIPT, READS)), could=_receipted,
             which=lambda case: _marked(case, *_RECEIPT) or READS, also=LIVES_ON)  # fmt: skip
def a_receipt_was_not_taken(case: Case) -> Named | str:
    """L250-255: receipt-id is the value that was asked for."""
    name = _marked(case, *_RECEIPT) or READS
    told = case.state.told
    if not told or told[0].nth not in case.state.answered:
        return ""
    return Named(name, f"{case.text} although its RECEIPT came", f"receipt {name}", (LIVES_ON,))


UNRECEIPTED = Causes("a command that fails although its RECEIPT came")


@UNRECEIPTED.cause(" ".join(_RECEIPT), which=lambda case: _marked(case, *_RECEIPT), also=READS)
def its_receipt_was_special(case: Case) -> Named | str:
    """L250-255: receipt-id is the value that was asked for."""
    return _named(case, *_RECEIPT, otherwise=f"{READS} what_was_receipted_does_not_fail")


HUNG_UP = Causes("a connection that ends for no reason", vague=True)


@HUNG_UP.cause(" ".join((*_OF_CONNECTED, OPENS)), could=_greeted,
               which=_reason, also=LIVES_ON)  # fmt: skip
def connected_was_refused(case: Case) -> Named | str:
    """STOMP 1.2, CONNECTED Frame."""
    name = _reason(case)
    text, kind = f"{case.text} behind CONNECTED", f"greeted {name}"
    return Named(name, text, kind, (LIVES_ON,), otherwise=_HUNG_UP, same_as=_same(name, f"{kind} connect"))


_SILENCE_MS = 100
"""A silence of the tester that a client may have taken for too long a one."""
EARLY_MS = 100
"""What a silence of the tester may have been longer in truth than it is known to have been."""


def _was_silent(case: Case) -> bool:
    """True when the tester was silent for a while for certain, before or now. While it writes a frame in pieces it is
    not silent, though it hears nothing."""
    return case.state.rested_ms >= _SILENCE_MS


def _beatless(case: Case) -> bool:
    """True when it was, in a session without a server's heart-beat header."""
    state = case.state
    return _was_silent(case) and state.greeting is not None and state.greeting.get("heart-beat") is None


@HUNG_UP.cause("STOMP-1.2-HB-02", could=_beatless, also=PATIENT)
def no_heart_beats_were_agreed_on(case: Case) -> str:
    """STOMP 1.2, Heart-beating: no header is the same as 0,0."""
    mute = case.state.still_ms
    return f"{case.text} after {mute} ms in which the server was silent, as it may be" if mute >= _SILENCE_MS else ""


def _exact(case: Case) -> bool:
    state = case.state
    return state.theirs_ms > 0 and state.theirs_ms <= state.waited_ms + EARLY_MS


@HUNG_UP.cause(ids.HB_09, could=_exact, level="SHOULD")
def it_allows_no_margin(case: Case) -> str:
    """STOMP 1.2, Heart-beating: because of timing inaccuracies, the receiver should be tolerant."""
    state = case.state
    if state.mute_ms + EARLY_MS < state.theirs_ms:
        return ""
    return f"{case.text} after {state.mute_ms} ms of silence, agreed were {state.theirs_ms} ms"


@HUNG_UP.cause(PATIENT, could=lambda case: case.state.parted and case.state.theirs_ms > 0)
def octets_show_life(case: Case) -> str:
    """STOMP 1.2, Heart-beating: whatever octets come, whole frames or not."""
    state = case.state
    if not state.parted or state.whole_ms < state.theirs_ms:
        return ""
    return f"{case.text} while a frame came, octet by octet: no whole one had for {state.whole_ms} ms"


@HUNG_UP.cause(PATIENT, could=_was_silent)
def the_server_kept_its_beats(case: Case) -> str:
    """STOMP 1.2, Heart-beating: none are owed where one side said 0, and else one in n milliseconds."""
    state = case.state
    if state.still_ms < _SILENCE_MS:
        return ""
    return f"{case.text} after {state.still_ms} ms of silence, agreed were {state.theirs_ms} ms (0: no heart-beats)"


@HUNG_UP.cause(" ".join(_RANKED), which=lambda case: _marked(case, *_RANKED), also=LIVES_ON)
def something_that_was_said_was_special(case: Case) -> Named | str:
    """Whatever is right is taken. The end of the connection and the report that a message did not come are seen in any
    order, so both are laid on the same."""
    return _named(case, *_RANKED, otherwise=_HUNG_UP)


@HUNG_UP.cause(READS, could=lambda case: waiting(case.state) is not None, also=LIVES_ON)
def a_message_was_not_taken(case: Case) -> Named:
    """As above."""
    return Named(READS, case.text, "not taken", (LIVES_ON,), otherwise=_HUNG_UP)
