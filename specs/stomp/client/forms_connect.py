"""How a client opens its session and leaves it.

Topics: "CONNECT" (the frames CONNECT and STOMP) and "DISCONNECT". Source: 003_30478fd2f19f0da0.txt L43-75, L194-212;
STOMP 1.2, CONNECT or STOMP Frame, Protocol Negotiation, Heart-beating, Value Encoding, DISCONNECT.
"""

from __future__ import annotations

import re
from itertools import pairwise

from specs.stomp import ids
from specs.stomp.client.book import BOOK, LEAVES_WELL, REQUIRED
from specs.stomp.client.case import Case
from specs.stomp.client.machine import CONNECTS, LEAVES, K
from specs.stomp.frames import ESCAPES
from specs.stomp.headers import SPECIAL, WHOLE

_LIST = re.compile(r"[0-9]+\.[0-9]+(,[0-9]+\.[0-9]+)*")
_CREDENTIALS = ("login", "passcode")


def _given(case: Case, name: str) -> str:
    """What the application gave to be stated in CONNECT."""
    return str(case.state.connect.get(name) or "")


@BOOK.form("STOMP-1.2-CONNECT-06", on=CONNECTS, when=(K.NEW,))
def opens_with_connect(case: Case) -> str:
    """L58-60: clients should go on using CONNECT, which servers of 1.0 know."""
    return "the session is opened by STOMP" if case.frame.command == "STOMP" else ""


@BOOK.form("STOMP-1.2-CONNECT-07", on=CONNECTS, when=(K.NEW,), also=REQUIRED)
def states_versions_and_host(case: Case) -> str:
    """L66-69: accept-version and host must be set."""
    missing = [name for name in ("accept-version", "host") if case.frame.get(name) is None]
    return f"{case.frame.command} without {missing[0]}" if missing else ""


@BOOK.form(ids.NEGO_04, on=CONNECTS, when=(K.NEW,), if_=lambda case: case.frame.get("accept-version") is not None)
def versions_ascend(case: Case) -> str:
    """STOMP 1.2, Protocol Negotiation: a comma separated list of incrementing version numbers."""
    text = case.frame.get("accept-version")
    numbers = [tuple(map(int, each.split("."))) for each in text.split(",")] if _LIST.fullmatch(text) else []
    rising = all(one < other for one, other in pairwise(numbers))
    return "" if numbers and rising else f"accept-version:{text}"


@BOOK.form("STOMP-1.2-HB-01", on=CONNECTS, when=(K.NEW,), if_=lambda case: case.frame.get("heart-beat") is not None)
def heart_beats_are_two_numbers(case: Case) -> str:
    """STOMP 1.2, Heart-beating: two numbers separated by a comma, of which 0 is one (E-18)."""
    text = case.frame.get("heart-beat")
    return "" if WHOLE.match(text) else f"heart-beat:{text}"


def _special(case: Case) -> bool:
    return any(SPECIAL.search(_given(case, name)) for name in (*_CREDENTIALS, "host"))


@BOOK.form(ids.ENC_06, on=CONNECTS, when=(K.NEW,), if_=_special)
def nothing_is_escaped_in_connect(case: Case) -> str:
    """STOMP 1.2, Value Encoding: CONNECT is not escaped, for the sake of 1.0."""
    for name in (*_CREDENTIALS, "host"):
        text, said = _given(case, name), case.frame.get(name)
        if SPECIAL.search(text) and said is not None and said != text and said == text.translate(ESCAPES["1.2"]):
            return f"{name} was given as {text!r} and is {said!r}"
    return ""


@BOOK.form("STOMP-1.2-CLI-01", on=CONNECTS, when=(K.NEW,), if_=lambda case: bool(_given(case, "login")))
def credentials_are_those_that_were_given(case: Case) -> str:
    """L70-73; STOMP 1.2, CONNECT or STOMP Frame: login and passcode, by which a server knows its user."""
    for name in _CREDENTIALS:
        if case.frame.get(name) != _given(case, name):
            return f"{name} was given as {_given(case, name)!r} and is {case.frame.get(name)!r}"
    return ""


@BOOK.tried("STOMP-1.2-CONNECT-10", on=CONNECTS, when=(K.NEW,))
def leaves_out_what_it_may(case: Case) -> bool:
    """L70-73: login, passcode and heart-beat may be set."""
    return any(case.frame.get(name) is None for name in (*_CREDENTIALS, "heart-beat"))


@BOOK.form(LEAVES_WELL, on=LEAVES, when=(K.LIVE,))
def asks_for_a_receipt_when_it_leaves(case: Case) -> str:
    """L196-208: DISCONNECT with a receipt header, of which the RECEIPT tells that all was received."""
    return "DISCONNECT without receipt" if case.frame.get("receipt") is None else ""
