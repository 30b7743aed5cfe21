"""Header texts and bodies with traps, as tables that a drawn number points into.

Entry 0 is always the plainest. Source of the traps: STOMP 1.2, Value Encoding, Body, Header content-length.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

_ALPHABET = ["\\", "r", "n", "c", ":", "\r", "\n", "é", "漢", "😀", "{", " ", "\t", "a"]
_FORMED = [
    "a",
    "\\n",
    "\\\\n",
    "\\\\\\n",
    "\\c",
    "\\r",
    "a:b",
    "a:b:c",
    ":",
    "::",
    "\\",
    "\\\\",
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    "a\nb:c",
    " x ",
    "  x  ",
    "x\t",
    "\tx",
    "é漢😀",
    "e\u0301",
    "\ufeffx",
    "שלום",
    "http://h:1/?a=b&c=\\d",
    '{"a": [1, "b\\n"]}',
    "\\u0041",
    "%0A",
    "content-length:3",
    "\n\nSEND\ndestination:x",
]
_PAIRS = ["".join(pair) for pair in product(_ALPHABET, repeat=2)]
_TRIPLES = ["".join(three) for three in product("\\rnc:\r\n é", repeat=3)][::3]


def _speakable(text: str, version: str) -> bool:
    """True when `version` has a way to write `text` in a header value; 1.0 servers may also trim."""
    if version == "1.2":
        return True
    if version == "1.1":
        return "\r" not in text
    return "\r" not in text and "\n" not in text and text == text.strip()


def _table(version: str) -> tuple[str, ...]:
    return tuple(text for text in [*_FORMED, *_PAIRS, *_TRIPLES] if text and _speakable(text, version))


VALUES = {version: _table(version) for version in ("1.2", "1.1", "1.0")}
NAMES = {
    version: tuple(
        name
        for name in (
            "foo",
            "bar",
            "Foo",
            "a-b",
            "é",
            "x y",
            " lead",
            "tail ",
            "a:b",
            "\\n",
            "a\\",
            "a\nb",
            "漢:字",
            "c",
        )
        if _speakable(name, version) and (version != "1.0" or name.isalnum())
    )
    for version in ("1.2", "1.1", "1.0")
}
BODIES: Sequence[bytes] = (
    b"x",
    b"",
    b"\0",
    b"a\0b",
    b"\0\0\0",
    b"\n",
    b"\n\n",
    b"\r\n",
    b"\0\n",
    b"a\n\0\nb",
    b" x ",
    "é漢😀".encode(),
    b"\xff\xfe\x00\x80",
    bytes(range(256)),
    b"\0SEND\ndestination:/queue/x\n\nforged\0",
    b"x" * 1000,
    b"0123456789" * 820,
    b"\\n\\c\\r",
    b":",
    b"\0" * 64,
)
MIME_TYPES = (
    "text/plain",
    "text/plain;charset=utf-8",
    "application/octet-stream",
    "application/json",
    'text/plain; charset="utf-8"',
    "application/vnd.x+json;a=b;c=d",
)
DESTINATION_TAILS = ("", "a b", "é漢", "a:b", "a\\c", "a.b.c", "a/b/c", "%41", "+", "a,b")
RECEIPTS = ("", " ", "-é", ":", "\\n", "\n", " x ", "\\", "漢字", "::c")


def pick(table: Sequence[str], number: int, more: int = 0) -> str:
    """An entry of `table`: 0 gives the plainest, two numbers reach all of it."""
    return table[(number + 256 * more) % len(table)]
