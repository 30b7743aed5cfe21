"""What a client reports of what it was told, and what the end of its connection shows.

Topics: "reports", "client ends", and "ends" (the program has ended). Source: STOMP 1.2, MESSAGE, RECEIPT, Value
Encoding, Header content-length, Repeated Header Entries, Protocol Negotiation, Heart-beating; our own minimum.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specs.stomp import ids
from specs.stomp.client.book import (
    BEHIND_ESCAPE,
    BEHIND_LENGTH,
    BOOK,
    FIRST_VALUE,
    LEAVES_WELL,
    LIVES_ON,
    READS,
    TRAILING,
    UNDEFINED,
)
from specs.stomp.client.case import Case, Outcome, Reported, awaits
from specs.stomp.client.causes import CHANGED_BODY, EARLY_MS, HUNG_UP, LOST, OPENS, UNCONNECTED, UNRECEIPTED
from specs.stomp.client.machine import ENDS, REPORTS, K
from specs.stomp.damage import damage
from specs.stomp.frames import Frame
from specs.stomp.headers import RESERVED, SPECIAL, blank_ended
from specs.stomp.states import MODEST

GENTLE = 1.3
"""Up to so many times the interval a silence of the tester is within the margin that the text recommends."""


# -- connecting --------------------------------------------------------------------------------------------------------


def _unoffered(case: Reported) -> bool:
    state = case.state
    return case.op == "connect" and state.greeting is not None and state.version not in state.offered


@BOOK.form("STOMP-1.2-NEGO-07", on=REPORTS, when=(K.REFUSED, K.OVER), if_=_unoffered)
def a_version_that_was_not_offered_is_refused(case: Reported) -> str:
    """STOMP 1.2, Protocol Negotiation: the version is one that both sides support."""
    if case.outcome is Outcome.FAILED:
        return ""
    return f"the client is connected by {case.state.version}, and offered {','.join(case.state.offered)}"


@BOOK.form(OPENS, on=REPORTS, when=(K.LIVE,), if_=lambda case: case.op == "connect", causes=UNCONNECTED)
def connected_opens_the_session(case: Reported) -> str:
    """STOMP 1.2, CONNECTED Frame: version must be there, heart-beat, session and server may."""
    case.text = (
        f"connect failed ({case.error}) behind CONNECTED {case.state.greeting.headers!r:.200}"
        if case.outcome is Outcome.FAILED and case.state.greeting is not None
        else ""
    )
    return case.text


# -- messages that must not be given -----------------------------------------------------------------------------------


def _bad(case: Reported) -> str:
    """The requirement by which the message must not have been given, or could have been if it had."""
    if case.outcome is Outcome.MESSAGE and case.push.bad:
        return case.push.bad
    if case.op == "receive":
        return next((push.bad for push in case.state.pushes if push.bad and not push.given), "")
    return ""


def _cut_out(case: Reported) -> bool:
    """True for a message that was made of the octets of a frame whose length does not fit."""
    torn = [push.frame.body for push in case.state.pushes if push.bad == ids.CLEN_02]
    return case.outcome is Outcome.STRANGE and any(case.body in octets for octets in torn)


@BOOK.form(f"{UNDEFINED} {TRAILING} {ids.CLEN_02}", on=REPORTS, when=(K.LOST, K.OVER), which=_bad)
def what_cannot_be_read_is_not_given(case: Reported) -> str:
    """STOMP 1.2, Value Encoding: an undefined escape is a fatal error. Header content-length: NUL follows the body."""
    if (case.outcome is Outcome.MESSAGE and case.push.bad) or _cut_out(case):
        return f"a message that cannot be read was given: {case.body[:60]!r}"
    return ""


def _fatal(case: Reported) -> str:
    return case.state.fatal if case.op == "receive" else ""


@BOOK.form(f"{BEHIND_ESCAPE} {BEHIND_LENGTH}", on=REPORTS, when=(K.LOST, K.OVER), which=_fatal)
def nothing_is_given_behind_what_cannot_be_read(case: Reported) -> str:
    """STOMP 1.2, Value Encoding: a fatal protocol error."""
    if case.outcome is Outcome.STRANGE or (case.outcome is Outcome.MESSAGE and case.push.behind):
        return f"the session goes on behind {case.state.spoilt}: {case.body[:60]!r} was given"
    return ""


# -- messages ----------------------------------------------------------------------------------------------------------


@BOOK.form(READS, on=REPORTS, when=(K.LIVE,), if_=lambda case: case.op == "receive" and case.waiting is not None,
           causes=LOST)  # fmt: skip
def what_was_said_reaches_the_application(case: Reported) -> str:
    """STOMP 1.2, SUBSCRIBE, MESSAGE: messages of a subscription are given to the client."""
    if case.outcome is Outcome.MESSAGE or case.waiting is None:
        return ""
    how = {Outcome.FAILED: f"receive failed ({case.error})", Outcome.NONE: "there was no message"}.get(
        case.outcome, f"the message {case.body[:40]!r} was given"
    )
    case.text = f"the message {case.waiting.frame.body[:40]!r} was said, and {how}"
    return case.text


@BOOK.form(READS, on=REPORTS, when=(K.LIVE,), if_=lambda case: case.op == "receive")
def nothing_else_reaches_the_application(case: Reported) -> str:
    """As above."""
    return f"a message that was not said: {case.body[:60]!r}" if case.outcome is Outcome.STRANGE else ""


def _message(case: Reported) -> bool:
    return case.outcome is Outcome.MESSAGE and not case.push.bad


def _headers(case: Reported) -> Mapping[str, Any]:
    found = case.got.get("headers")
    return found if isinstance(found, Mapping) else {}


def _first(case: Reported) -> list[tuple[str, str]]:
    """The headers that were said, each with its first value. What the protocol defines a library need not hand on."""
    found: dict[str, str] = {}
    for name, value in case.push.frame.headers:
        found.setdefault(name, value)
    given = _headers(case)
    return [pair for pair in found.items() if pair[0] in given or (pair[0] not in RESERVED and given)]


def _later(case: Reported, name: str, value: object) -> bool:
    """True for a value of a header that is not its first."""
    values = [text for other, text in case.push.frame.headers if other == name]
    return value in values[1:] and value != values[0]


def _repeated(case: Reported) -> bool:
    return _message(case) and ids.REPEAT_01 in case.marks


@BOOK.form(ids.REPEAT_01, on=REPORTS, if_=_repeated)
def a_repeated_header_counts_once(case: Reported) -> str:
    """STOMP 1.2, Repeated Header Entries: only the first header entry should be used."""
    given = _headers(case)
    found = [name for name in given if name in RESERVED and _later(case, name, given[name])]
    if found:
        return f"of {found[0]!r} a later value counts: {given[found[0]]!r}"
    other = any(sub.wire is not None and _later(case, "subscription", sub.wire) and sub.name == case.got.get("sub")
                for sub in case.state.subs)  # fmt: skip
    return f"it counts for {case.got.get('sub')!r}, by a later value of subscription" if other else ""


@BOOK.form(
    FIRST_VALUE, on=REPORTS, if_=lambda case: _message(case) and FIRST_VALUE in case.marks and bool(_headers(case))
)
def a_repeated_user_header_has_its_first_value(case: Reported) -> str:
    """STOMP 1.2, Repeated Header Entries: only the first header entry should be used."""
    given = _headers(case)
    found = [name for name in given if name not in RESERVED and _later(case, name, given[name])]
    return f"{found[0]!r} has a later value: {given[found[0]]!r}" if found else ""


def _change(case: Reported) -> tuple[str, str]:
    """The first header that is not given as it was said: the requirement (see `damage`), and why."""
    given = _headers(case)
    for name, value in _first(case):
        got = given.get(name)
        if got == value or _later(case, name, got):
            continue
        if isinstance(got, str):
            folded = any(
                other != name and other.lower() == name.lower() and text == got
                for other, text in case.push.frame.headers
            )
            kind = ids.FRAME_05 if folded else damage(value, got, case.version)
            return kind or "other", f"the header {name!r} was said as {value!r} and given as {got!r}"
        alike = next((o for o in given if o not in dict(_first(case)) and damage(name, o, case.version)), None)
        kind = damage(name, alike, case.version) if alike is not None else ""
        cased = any(other.lower() == name.lower() for other in given)
        return kind or (
            ids.FRAME_05 if cased else "empty" if value == "" else "other"
        ), f"the header {name!r} is not given"
    return "", ""


def _changed(case: Reported, kind: str) -> str:
    found, why = _change(case)
    return f"{case.named}: {why}" if found == kind else ""


@BOOK.form(ids.FRAME_02, on=REPORTS, if_=lambda case: _message(case) and ids.FRAME_02 in case.marks)
def no_cr_slips_into_a_header(case: Reported) -> str:
    """L35; STOMP 1.2, STOMP Frames: the CR before the LF of a line end is part of the line end."""
    said = {text for pair in case.push.frame.headers for text in pair}
    kept = [text for pair in _headers(case).items() for text in pair if isinstance(text, str) and text.endswith("\r")]
    found = next((text for text in kept if text not in said and text.removesuffix("\r") in said), "")
    return f"{case.named}: the CR of a line end is part of {found!r}" if found else ""


def _texts(case: Reported) -> list[str]:
    return [text for pair in _first(case) for text in pair]


@BOOK.form(ids.ENC_01, on=REPORTS, if_=lambda case: _message(case) and not all(t.isascii() for t in _texts(case)))
def letters_are_those_that_were_said(case: Reported) -> str:
    """STOMP 1.2, Value Encoding: headers are UTF-8."""
    return _changed(case, ids.ENC_01)


@BOOK.form(ids.ENC_07, on=REPORTS,
           if_=lambda case: _message(case) and case.version != "1.0" and blank_ended(_first(case)))  # fmt: skip
def blanks_are_those_that_were_said(case: Reported) -> str:
    """STOMP 1.2, Value Encoding: nothing is trimmed or padded."""
    return _changed(case, ids.ENC_07)


@BOOK.form(ids.ENC_08, on=REPORTS, if_=lambda case: _message(case) and any(value == "" for _, value in _first(case)))
def an_empty_header_is_given(case: Reported) -> str:
    """STOMP 1.2, Augmented BNF: a header-value may be empty."""
    return _changed(case, "empty")


def _escaped(case: Reported) -> bool:
    return _message(case) and any(SPECIAL.search(text) for text in _texts(case))


@BOOK.form(ids.ENC_03, on=REPORTS, if_=lambda case: _escaped(case) and case.version != "1.0")
def escapes_are_decoded_once(case: Reported) -> str:
    """STOMP 1.2, Value Encoding: each escape stands for one character, from left to right."""
    return _changed(case, ids.ENC_03)


@BOOK.form(ids.NEGO_06, on=REPORTS, if_=lambda case: _escaped(case) and case.version == "1.0")
def nothing_is_decoded_in_a_session_of_1_0(case: Reported) -> str:
    """STOMP 1.2, Protocol Negotiation; STOMP 1.0, which has no escapes."""
    return _changed(case, ids.ENC_12) or _changed(case, "other")


def _cased(case: Reported) -> bool:
    """True where the letter case of a name can be lost."""
    return any(name != name.lower() for name, _ in _first(case))


@BOOK.form(ids.FRAME_05, on=REPORTS, if_=lambda case: _message(case) and _cased(case))
def names_in_other_letter_case_are_other_headers(case: Reported) -> str:
    """L42: commands and header names are case-sensitive."""
    return _changed(case, ids.FRAME_05)


@BOOK.form(READS, on=REPORTS, if_=lambda case: _message(case) and bool(_headers(case)))
def headers_are_given_as_they_were_said(case: Reported) -> str:
    """STOMP 1.2, Value Encoding, MESSAGE: user headers are passed on."""
    _, why = _change(case)
    return f"{case.named}: {why}" if why else ""


def _ended(case: Reported, frame: Frame) -> set[str]:
    """The names of those subscriptions that have ended and are named by a MESSAGE of none that is open (E-39)."""
    number, place = frame.get("subscription"), frame.get("destination")
    ended = [sub for sub in case.state.subs if sub.ended]
    return {sub.name for sub in ended if (sub.destination == place if number is None else sub.wire == number)}


@BOOK.form(READS, on=REPORTS, if_=_message, unless=_repeated)
def a_message_is_that_of_its_subscription(case: Reported) -> str:
    """L225-227: subscription is the id of the one that receives the message."""
    sub, push = case.got.get("sub"), case.push
    if sub is None or sub == push.sub or (not push.sub and sub in _ended(case, push.frame)):
        return ""
    return f"{case.named} is one of {case.push.sub!r} and given as one of {sub!r}"


@BOOK.form(READS, on=REPORTS, if_=_message, causes=CHANGED_BODY)
def a_body_is_given_as_it_was_said(case: Reported) -> str:
    """STOMP 1.2, Body: octets."""
    said, got = case.push.frame.body, case.body
    case.text = f"the body {said[:60]!r} ({len(said)} octets) is given as {got[:60]!r} ({len(got)} octets)"
    return "" if said == got else case.text


# -- other commands ----------------------------------------------------------------------------------------------------


@BOOK.form(
    READS,
    on=REPORTS,
    when=(K.LIVE,),
    if_=lambda case: case.told.nth in case.state.answered and case.op != "connect",
    causes=UNRECEIPTED,
)
def what_was_receipted_does_not_fail(case: Reported) -> str:
    """L250-255: RECEIPT tells that the frame was processed, and its receipt-id which."""
    case.text = f"{case.op} failed ({case.error}) although its RECEIPT came" if case.outcome is Outcome.FAILED else ""
    return case.text


def _refused(case: Reported) -> bool:
    return case.op != "disconnect" and case.told.nth in case.state.refused


@BOOK.form(READS, on=REPORTS, when=(K.LOST, K.OVER), if_=_refused)
def an_error_is_no_receipt(case: Reported) -> str:
    """L250-255: RECEIPT tells that the frame was processed. STOMP 1.2, ERROR: with the receipt-id of a frame it tells
    that this one was not."""
    return f"{case.op} was done although an ERROR came in place of its RECEIPT" if case.outcome is Outcome.DONE else ""


HELD_MS = 800
"""Who was seen to wait for a RECEIPT for so long waits for RECEIPTs."""


def _waits(case: Reported) -> bool:
    """True where a message is reported as sent, or not, sooner than the client was seen to wait for a RECEIPT, and
    nothing but the end of the connection has come in place of that."""
    state = case.state
    plain = state.phase is K.LIVE or (state.dropped and not state.spoilt)
    return plain and HELD_MS <= state.held_ms > state.mute_ms and awaits(state)


@BOOK.form(READS, on=REPORTS, when=(K.LIVE, K.OVER), if_=_waits)
def who_waits_for_receipts_waits_for_each(case: Reported) -> str:
    """L250-255: RECEIPT tells that the frame was processed, and its receipt-id which (E-41)."""
    early = case.outcome is Outcome.DONE and case.told.nth not in case.state.answered
    end = "the connection has ended" if case.phase is K.OVER else "another one was waited for before"
    return f"{case.op} was done and its RECEIPT had not come: {end}" if early else ""


# -- ends --------------------------------------------------------------------------------------------------------------


@BOOK.form(LEAVES_WELL, on=ENDS, when=(K.LEAVING,), if_=lambda case: case.state.bye is not None)
def waits_for_the_receipt_of_disconnect(case: Case) -> str:
    """L196-208: the client waits for the RECEIPT, then closes."""
    return "" if case.state.bye_said else "the client closed the connection before the RECEIPT of its DISCONNECT"


@BOOK.form(LEAVES_WELL, on=ENDS, when=(K.LIVE,), if_=lambda case: case.state.left)
def leaves_by_disconnect(case: Case) -> str:
    """L196-208: DISCONNECT, its RECEIPT, and then the end."""
    return "the client left without DISCONNECT" if case.state.left else ""


@BOOK.tried("STOMP-1.2-DISC-01", on=ENDS, when=(K.LIVE, K.LEAVING), if_=lambda case: case.state.left)
def closes_when_it_likes(case: Case) -> bool:
    """L195: a client may close its socket at any time."""
    return not case.state.bye_said


@BOOK.freedom("E-29")
def the_server_was_silent_for_too_long(case: Case) -> bool:
    """STOMP 1.2, Heart-beating: who hears nothing for longer than was agreed may take the other side for dead."""
    state = case.state
    return state.theirs_ms > 0 and state.mute_ms + EARLY_MS >= GENTLE * state.theirs_ms


def _greeting(case: Case) -> bool:
    """False for a client that gives up a server which has not begun to answer."""
    return case.phase is not K.ASKED or case.state.parted


def _has_long_ones(case: Case) -> bool:
    """A message that its application did not get yet may be longer than it takes."""
    held = (push for push in case.state.pushes if not (push.given or push.bad or push.old))
    return any(MODEST.exceeded(push.frame) for push in held)


@BOOK.form(LIVES_ON, on=ENDS, when=(K.LIVE, K.LEAVING), level="SHOULD", if_=_has_long_ones,
           freed_by=(the_server_was_silent_for_too_long,))  # fmt: skip
def takes_messages_of_some_length(case: Case) -> str:
    """STOMP 1.2, Size Limits, is about servers; the text names no least size that a client takes."""
    ends = not case.state.left and not case.state.unconnected
    return "the client closed the connection behind a message that may be too long for it" if ends else ""


@BOOK.form(LIVES_ON, on=ENDS, when=(K.ASKED, K.LIVE, K.LEAVING), if_=_greeting, unless=_has_long_ones, causes=HUNG_UP,
           freed_by=(the_server_was_silent_for_too_long,))  # fmt: skip
def stays_as_long_as_nothing_is_wrong(case: Case) -> str:
    """Our own minimum: only the application, or something wrong, ends a session (E-30)."""
    ends = not case.state.left and not case.state.unconnected
    case.text = "the client closed the connection" if ends else ""
    return case.text


@BOOK.form(LIVES_ON, on="ends", if_=lambda case: case.action == "exit")
def does_not_exit(case: Case) -> str:
    """Our own minimum: the program lives on, whatever comes."""
    return f"the client has ended: {case.text}"


@BOOK.form(LIVES_ON, on="ends", if_=lambda case: case.action == "refused")
def can_be_started_again(case: Case) -> str:
    """Our own minimum: what came before does not keep a client from being started."""
    return f"the client cannot be started: {case.text}"
