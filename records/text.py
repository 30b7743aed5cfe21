"""Text that somebody else wrote, made harmless before a person or a terminal sees it.

Whatever an implementation says is hostile until it has gone through here: terminal escapes, line breaks that forge
lines of a report, marks that turn the writing direction round, lone surrogates that no encoder takes.
"""

from __future__ import annotations

import unicodedata
from typing import Final

TEXT_LIMIT: Final = 500
"""Characters of one piece of foreign text in a report, unless the caller knows better."""
MAX_MARKS: Final = 2
"""Combining marks kept on one character; more of them would paint over the lines above and below."""
_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}
_OCTETS: Final = tuple(
    _SHORT.get(chr(octet), "\\\\" if octet == 0x5C else chr(octet) if 0x20 <= octet < 0x7F else f"\\x{octet:02x}")
    for octet in range(256)
)


def printable(text: str, limit: int = TEXT_LIMIT) -> str:
    """`text` on one line, as printable characters only, at most `limit` of them.

    Everything else becomes a backslash escape: controls, separators of lines, marks without width or of direction,
    surrogates, characters not assigned. Says how much was cut off. Doing it twice changes nothing.
    """
    cut = text[: limit + 1]  # an escape is never shorter than what it stands for, so more can not be needed
    if cut.isascii() and cut.isprintable():
        return shortened(text, limit)
    parts: list[str] = []
    marks = size = taken = 0
    for char in cut:
        marks = marks + 1 if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me") else 0
        part = char if char.isprintable() and marks <= MAX_MARKS else _escape(char)
        parts.append(part)
        size, taken = size + len(part), taken + 1
        if size > limit:
            break
    return shortened("".join(parts) + text[taken:], limit) if size > limit else "".join(parts)


def shortened(text: str, limit: int) -> str:
    """`text`, or its beginning and how many characters are missing; never more than `limit` characters."""
    if len(text) <= limit:
        return text
    # The mark grows with the number in it; the largest number it can hold is the whole length.
    room = max(0, limit - len(f"... [+{len(text)}]"))
    return f"{text[:room]}... [+{len(text) - room}]"[:limit]


def encodable(text: str) -> str:
    """`text` with a question mark in place of each lone surrogate, which JSON can bring and no encoder takes."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def octets(data: bytes, limit: int = TEXT_LIMIT) -> str:
    """Octets as ASCII: printable ones as they are, a backslash doubled, the rest escaped; `limit` counts octets."""
    shown = "".join([_OCTETS[octet] for octet in data[:limit]])
    return shown if len(data) <= limit else f"{shown}... [+{len(data) - limit} octets]"


def ascii_only(text: str, limit: int = TEXT_LIMIT) -> str:
    """Like `printable`, and every character outside ASCII escaped too; `limit` is that of `printable`."""
    return printable(text, limit).encode("ascii", "backslashreplace").decode("ascii")


def _escape(char: str) -> str:
    if char in _SHORT:
        return _SHORT[char]
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
