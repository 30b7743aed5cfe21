"""What is special about a frame that the tester says, and must not matter; and what is wrong with one.

A mark is the requirement that a client breaks which takes the frame for something else because of it. Source: STOMP
1.2, Value Encoding, Body, Header content-length, Header content-type, Repeated Header Entries, Size Limits.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from specs.stomp import ids
from specs.stomp.client.book import BEHIND_ESCAPE, BINARY, FIRST_VALUE, LENGTHLESS, TRAILING, UNDEFINED
from specs.stomp.client.state import ClientState
from specs.stomp.frames import Frame
from specs.stomp.headers import BEATS, RESERVED, SPECIAL, blank_ended
from specs.stomp.states import NORMAL

_DEFINED = re.compile(r"\\[rnc\\]")
_NAMES = frozenset(name.lower() for name in RESERVED)


def marks(frame: Frame, version: str) -> frozenset[str]:
    """The requirements that could be the reason if the frame is not taken as it was said in a session of `version`."""
    found = set[str]()
    if NORMAL.exceeded(frame):
        found.add(ids.FRAME_09)
    texts = [text for pair in frame.headers for text in pair]
    plain = frame.command == "CONNECTED" or version == "1.0"
    if any(SPECIAL.search(text) for text in texts):
        found.add(ids.ENC_06 if frame.command == "CONNECTED" else ids.NEGO_06 if plain else ids.ENC_03)
    if not all(text.isascii() for text in texts):
        found.update((ids.ENC_13, ids.ENC_01))
    if blank_ended(frame.headers) and not plain:
        found.add(ids.ENC_07)
    if any(value == "" and name not in RESERVED for name, value in frame.headers):
        found.add(ids.ENC_08)
    names = [name for name, _ in frame.headers]
    alike = len({name.lower() for name in names}) < len(set(names))
    if alike or any(name not in RESERVED and name.lower() in _NAMES for name in names):
        found.add(ids.FRAME_05)
    if len(set(names)) < len(names):
        twice = {name for at, name in enumerate(names) if name in names[:at]}
        found.update({ids.REPEAT_01} if twice & RESERVED else set(), {FIRST_VALUE} if twice - RESERVED else set())
    return frozenset(found | _of_body(frame))


def _of_body(frame: Frame) -> set[str]:
    length = frame.get("content-length")
    if frame.command not in ("MESSAGE", "ERROR"):
        return set() if length is None else {ids.CLEN_07}
    found = set[str]()
    if b"\0" in frame.body:
        found.add(ids.CLEN_01)
    if frame.body and length is None:
        found.add(LENGTHLESS)
    if not frame.body.isascii():
        found |= {ids.CLEN_06} if length is not None else set()
        found |= {BINARY} if frame.get("content-type") is None else set()
    return found


class Wrong(NamedTuple):
    """What is wrong with a frame of the tester: `why`, for people. `bad` is the requirement by which it must not reach
    the application, `fatal` the one by which nothing behind it may; "" where the text leaves it to the client."""

    why: str
    bad: str = ""
    fatal: str = ""


def wrong(state: ClientState, frame: Frame) -> Wrong | None:
    """What is wrong with a frame that the tester says in a session, None when nothing is."""
    if "undefined-escape" in frame.warts:
        return Wrong("an undefined escape", TRAILING if _trailing(frame) else UNDEFINED, BEHIND_ESCAPE)
    if frame.warts:
        return Wrong(", ".join(frame.warts))
    if frame.command not in ("MESSAGE", "RECEIPT", "ERROR"):
        return Wrong(f"{frame.command!r:.60} in a session")
    if frame.command == "RECEIPT":
        if frame.body or frame.get("receipt-id") not in [name for name, _ in state.receipts]:
            return Wrong("a RECEIPT with a body, or one that nobody asked for")
        return None
    if frame.command == "MESSAGE" and (frame.get("destination") is None or frame.get("message-id") is None):
        return Wrong("a MESSAGE without destination or message-id")
    return None


def _trailing(frame: Frame) -> bool:
    """True when every escape that is not defined is a backslash at the end of a name or value."""
    rests = [_DEFINED.sub("", text) for pair in frame.headers for text in pair]
    return all("\\" not in rest.removesuffix("\\") for rest in rests)


def beats(frame: Frame) -> tuple[int, int] | None:
    """The two numbers of a heart-beat header, (0, 0) without one, None when it is something else."""
    text = frame.get("heart-beat")
    if text is None:
        return 0, 0
    form = BEATS.match(text)
    return None if form is None else (int(form[1]), int(form[2]))
