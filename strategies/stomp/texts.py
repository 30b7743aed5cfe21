"""Header texts and bodies with traps, as tables that a drawn number points into.

Entry 0 is always the plainest. Source of the traps: STOMP 1.2, Value Encoding, Body, Header content-length.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from functools import partial
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
    "",
    "1.50",
    "007",
    "+1",
    "-0",
    "1e3",
    "0x1F",
    "1_000",
    "12345678901234567890",
    "true",
    "False",
    "null",
    "None",
    "NaN",
    "Ab",
    "aB",
    "STRASSE",
    "straße",
    "İı",
    "\u212a",
    "ﬁ",
    "a\u200bb",
    "a\u00a0b",
    "\u0661",
    "'a'",
    '"a"',
    "a,b",
    "a;b=c",
    "a=b",
    "&amp;",
    "${a}",
    "%s",
    "a/",
    "/a",
    "a..b",
    "#",
    "*",
    "2020-01-01",
    "a  b",
    "a\n b",
    "a:b:c:d:e:f:g",
    "\\n\\c" * 5,
    # what some libraries take for the end of a line, or for a blank
    "a\x0bb",
    "a\x0cb",
    "a\x1cb\x1dc\x1ed",
    "a\x85b",
    "a\u2028b",
    "a\u2029b",
    "\x0ba\x0c",
    "\u2028a\x85",
    "\x01a\x1f",
    "\ufeffa",
    "\u3000a\u2003",
    "a\x7fb",
    *("w" * size for size in (17, 33, 65, 101, 129, 256, 300)),
]
_PAIRS = ["".join(pair) for pair in product(_ALPHABET, repeat=2)]
_TRIPLES = ["".join(three) for three in product("\\rnc:\r\n é", repeat=3)][::7]


def _speakable(text: str, version: str) -> bool:
    """True when `version` has a way to write `text` in a header value; 1.0 servers may also trim."""
    if version == "1.2":
        return True
    if version == "1.1":
        return "\r" not in text
    return "\r" not in text and "\n" not in text and text == text.strip()


def _table(version: str) -> tuple[str, ...]:
    table = [text for text in [*_FORMED, *_PAIRS, *_FORMED, *_TRIPLES, *_FORMED] if _speakable(text, version)]
    return tuple(text for text in table if text or version != "1.0")


VALUES = {version: _table(version) for version in ("1.2", "1.1", "1.0")}
"""Values of user headers, the empty one among them."""
_RESERVED = ("destination", "receipt", "transaction", "message-id", "subscription", "ack", "id", "content-type", "host")
_NEAR = (
    *("Ack", "Destination", "DESTINATION", "Message-Id", "message-ID", "Subscription", "Id", "Receipt-Id", "Version"),
    *(form.format(name) for name in _RESERVED for form in ("{}s", "x-{}", "{}-2", "{}_", "my{}")),
    *("Content-Length", "CONTENT-LENGTH", "Receipt", "Transaction", "Content-Type"),
    *("receipt-id-x", "content", "content-len", "content-lengths", "messageid", "message_id", "content_type", "dest"),
)
_COMMON = 4
NAMES = {
    version: tuple(
        name
        for name in (
            "a",
            "foo",
            "Foo",
            "foo-b",
            "fo",
            "A",
            "bar",
            "é",
            "e\u0301",
            "x y",
            " lead",
            "tail ",
            "a:b",
            "\\n",
            "a\\",
            "a\nb",
            "漢:字",
            "c",
            "foo.b",
            "foo_b",
            "1",
            "n" * 33,
            "n" * 65,
            *_NEAR,
        )
        if _speakable(name, version) and (version != "1.0" or (name.isalnum() and name not in _NEAR))
    )
    for version in ("1.2", "1.1", "1.0")
}
"""Names of user headers. No reserved one is among them, but many that a careless server takes for one."""
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
LONG_BODIES: Sequence[bytes] = (
    *(
        bytes(33 + n % 94 for n in range(size))
        for size in (255, 256, 1023, 1024, 1025, 2048, 4095, 4096, 4097, 8191, 8193, 16_384, 32_768, 65_535)
    ),
    bytes(n % 251 for n in range(40_000)),
)
"""Bodies around the sizes of buffers, up to the largest for which no server may plead its limits; one holds NULs."""
MIME_TYPES = (
    "text/plain",
    "text/plain;charset=utf-8",
    "application/octet-stream",
    "application/json",
    'text/plain; charset="utf-8"',
    "application/vnd.x+json;a=b;c=d",
)
RECEIPTS = ("", " ", "-é", ":", "\\n", "\n", " x ", "\\", "漢字", "::c")
ROOTS = ("Ab", "7", "é", "x y", "a:b", "a/b", "a\\b", "%41", *("p" * size for size in (7, 8, 15, 16, 31, 32, 63, 64)),
         *("p" * size for size in (100, 127, 128, 200, 255)))  # fmt: skip
"""Ids with which others are easily confused once they are twisted."""
_TWISTS: Sequence[Callable[[str], str]] = (
    "{}x".format,
    str.swapcase,
    "{} ".format,
    "0{}".format,
    "{}.0".format,
    " {}".format,
    "{}/".format,
    "{}:".format,
    "{}\\".format,
    "{}\n".format,
    "+{}".format,
    "{}é".format,
    "{}\u200b".format,
    partial(unicodedata.normalize, "NFD"),
    "{},0".format,
    "{} 0".format,
    "-{}".format,
    "{0}{0}".format,
    "{}\r".format,
    lambda text: f"%{ord(text[0]):02X}{text[1:]}",
    lambda text: text[: (len(text) + 1) // 2],
    lambda text: text[:-1],
)
_LENGTHENING = len(_TWISTS) - 2
_LONGEST = 300


def pick(table: Sequence[str], number: int, more: int = 0) -> str:
    """An entry of `table`: 0 gives the plainest, two numbers reach all of it."""
    return table[(number + 256 * more) % len(table)]


def twisted(text: str, number: int, version: str, *, shorter: bool = True) -> str:
    """Another text that a server may take for `text`: other case, padded, as a number, cut, normalised and the like.

    Never `text` itself nor empty, and `version` can write it. Not `shorter`: nothing is cut off.
    """
    other = _TWISTS[number % (len(_TWISTS) if shorter else _LENGTHENING)](text)
    return other if other not in ("", text) and len(other) <= _LONGEST and _speakable(other, version) else f"{text}x"


def name_of(number: int, version: str) -> str:
    """The name of a user header: one of few for even numbers, so that messages share names, else any."""
    names = NAMES[version]
    return names[number // 2 % _COMMON] if number % 2 == 0 else names[number // 2 % len(names)]


def root(number: int, version: str) -> str:
    """The text from which others are twisted."""
    found = ROOTS[number % len(ROOTS)]
    return found if _speakable(found, version) else ROOTS[0]
