"""The headers that the text defines, and what is special in how those of a frame read.

Source: 003_30478fd2f19f0da0.txt L77-193 and STOMP 1.2, sections Value Encoding, Repeated Header Entries, Standard
Headers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from specs.stomp import ids
from specs.stomp.frames import Frame

TAG = "k"
"""User header that tells messages of one plan apart; a message without it is known by its body."""
SPECIAL = re.compile(r"[\\\r\n:]")
BODIES = frozenset({"SEND", "MESSAGE", "ERROR"})
RESERVED = frozenset(
    [
        "destination",
        "id",
        "ack",
        "receipt",
        "receipt-id",
        "transaction",
        "message-id",
        "subscription",
        "content-length",
        "content-type",
        "host",
        "accept-version",
        "version",
        "login",
        "passcode",
        "heart-beat",
        "session",
        "server",
        "message",
        "selector",
        "persistent",
        "priority",
        "expires",
        "timestamp",
        "reply-to",
        "redelivered",
        "type",
        "correlation-id",
    ]
)


def writable(version: str, name: str, value: str) -> bool:
    """True when a version has a way to write a header that is read as it was given: 1.1 has no escape for CR, and 1.0
    has none at all, and a reader of it may trim (E-34, E-38)."""
    text = name + value
    if version == "1.0":
        bare = bool(value) and (name, value) == (name.strip(), value.strip())
        return bare and "\r" not in text and "\n" not in text and ":" not in name
    return version == "1.2" or "\r" not in text


_DEFINED = {
    "CONNECT": {"accept-version", "host", "login", "passcode", "heart-beat"},
    "SUBSCRIBE": {"destination", "id", "ack"},
    "UNSUBSCRIBE": {"id", "destination"},
    "ACK": {"id", "transaction", "message-id", "subscription"},
    "BEGIN": {"transaction"},
    "DISCONNECT": set(),
}
_DEFINED |= {"STOMP": _DEFINED["CONNECT"], "NACK": _DEFINED["ACK"]}
_DEFINED |= {"COMMIT": _DEFINED["BEGIN"], "ABORT": _DEFINED["BEGIN"]}
SERVERS_OWN = frozenset({"message-id", "subscription", "ack"})
"""What only a server gives."""
_GENERAL = {"receipt", "content-length", "content-type"}
BEATS = re.compile(r"([0-9]{1,15}),([0-9]{1,15})\Z", re.ASCII)
WHOLE = re.compile(r"[0-9]+,[0-9]+\Z", re.ASCII)
"""A heart-beat header. Numbers of more than 15 digits are whole numbers too, and nobody has to agree on them (E-18)."""
_BLANK = frozenset(" \t")


def blank_ended(headers: Iterable[tuple[str, str]]) -> bool:
    """True when a header name or value begins or ends with a blank or a tab."""
    text = "".join(["".join(pair) for pair in headers])
    if " " not in text and "\t" not in text:
        return False
    for name, value in headers:
        if name[:1] in _BLANK or name[-1:] in _BLANK or value[:1] in _BLANK or value[-1:] in _BLANK:
            return True
    return False


def sayable_in_1_0(text: str) -> bool:
    """True for what a header of 1.0 can hold: US-ASCII that is not empty. Blanks around it may be padding there."""
    return text.isascii() and text == text.strip() and text != ""


def marks(frame: Frame, version: str) -> tuple[str, ...]:
    """What is special in how the frame's headers read, and must not matter."""
    found: list[str] = []
    if frame.command == "SEND" and frame.get("content-length") is not None:
        found += [ids.CLEN_01] if b"\0" in frame.body else []
        found += [] if frame.body.isascii() else [ids.CLEN_06]
    names = "".join([name for name, _ in frame.headers])
    given = [value for _, value in frame.headers]
    values = "".join(given)
    plain = frame.command in ("CONNECT", "STOMP")
    if not (names.isascii() and values.isascii()):
        found += [ids.ENC_13, ids.ENC_01]
    if SPECIAL.search(values) or SPECIAL.search(names):
        if plain or version != "1.0":
            found.insert(0, ids.ENC_06 if plain else ids.ENC_03)
        elif "\\" in values or "\\" in names:
            found.insert(0, ids.ENC_12)
    if not plain and blank_ended(frame.headers):
        found.append(ids.ENC_07)
    if "" in given and any(value == "" and name not in RESERVED for name, value in frame.headers) and not plain:
        found.append(ids.ENC_08)
    if frame.command not in BODIES:
        defined = _DEFINED[frame.command]
        for name, _ in frame.headers:
            if name not in defined:
                if name == "content-length":
                    found.append(ids.CLEN_07)
                elif plain:
                    found.append(ids.CONNECT_13)
                elif name not in _GENERAL:
                    found.append(ids.SUB_09 if frame.command == "SUBSCRIBE" else ids.HDR_05)
        if not frame.headers:
            found.append(ids.FRAME_04)
    return tuple(found)


def repeats(frame: Frame) -> bool:
    """True when a header of the text comes more than once."""
    names = [name for name, _ in frame.headers if name in RESERVED]
    return len(set(names)) < len(names)
