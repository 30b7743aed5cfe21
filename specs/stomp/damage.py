"""What happened to a text on its way through the server: which rule explains how it differs from what was sent.

Source: STOMP 1.2, Value Encoding; STOMP 1.0, Augmented BNF; 003_30478fd2f19f0da0.txt L42 (letter case).
"""

from __future__ import annotations

import re
from unicodedata import normalize

from specs.stomp import ids
from specs.stomp.headers import SPECIAL

_ESCAPES = SPECIAL, re.compile(r"\\.?|[\r\n:]", re.DOTALL), re.compile(r"\\+[cnr]?|[\r\n:]")
"""Characters that are escaped, without and with what an escape consists of besides, and what becomes of escapes that
are decoded in another order, or more than once."""


def damage(sent: str, got: str, version: str) -> str:
    """The requirement whose breach makes `got` of `sent`; "" when none does, or nothing differs."""
    if got == sent:
        return ""
    if got.strip(" \t") == sent.strip(" \t") != "":
        return ids.ENC_07
    if SPECIAL.search(sent) and (_cut(sent, got) or any(each.sub("", got) == each.sub("", sent) for each in _ESCAPES)):
        return (ids.ENC_12 if "\\" in sent + got else "") if version == "1.0" else ids.ENC_03
    if not sent.isascii() and any(_letters(made(got)) == _letters(made(sent)) for made in (str, _apart)):
        return ids.ENC_01
    return ""


def renamed(name: str, value: str, other: str, text: str, version: str) -> str:
    """The same for a header that was sent as `name`:`value` and perhaps came as `other`:`text`."""
    if text == value:
        return damage(name, other, version)
    whole, came = f"{name}:{value}", f"{other}:{text}"
    return ids.ENC_03 if whole == came else damage(whole, came, version)


def _cut(sent: str, got: str) -> bool:
    """True when `got` ends where an escaped character stood."""
    return sent.startswith(got) and SPECIAL.match(sent[len(got)]) is not None


def _apart(text: str) -> str:
    """A text with accents parted from their letters."""
    return normalize("NFKD", text)


def _letters(text: str) -> str:
    """A text without its characters beyond ASCII and what is commonly put in their place."""
    return "".join(c for c in text if c < "\x80" and c != "?")
