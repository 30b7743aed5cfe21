"""Names of files, made from names that implementations chose.

A name is kept when it is harmless in every file system and in every address; any other gets a readable beginning and a
hash of the whole, so that two names never share a file, not even where `A` and `a` are one letter.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

MAX_NAME: Final = 80
"""Characters of a file name without its ending."""
_PLAIN: Final = re.compile(r"[a-z0-9]+(?:[.-][a-z0-9]+)*", re.ASCII)
_HASHED: Final = re.compile(r".*-[0-9a-f]{12}", re.ASCII)
_DEVICES: Final = frozenset(("con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))))
"""Names that are devices under Windows, whatever ending they carry."""


def file_name(text: str) -> str:
    """The name for `text`, at most MAX_NAME characters of `a-z0-9.-`; different texts have different names.

    Parts between slashes are joined by two hyphens, which no part has. Requirement ids are written in capitals and are
    kept in small letters; a part that mixes the two is hashed.
    """
    name = text.lower().replace("/", "--")
    # What looks like one of our hashes is hashed itself: nobody can choose the name of somebody else's file.
    plain = len(name) <= MAX_NAME and not _HASHED.fullmatch(name) and name.partition(".")[0] not in _DEVICES
    if plain and all(_PLAIN.fullmatch(part.lower()) and _canonical(part) for part in text.split("/")):
        return name
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    lead = re.sub(r"[^a-z0-9]+", "-", text[: MAX_NAME * 2].lower())[: MAX_NAME - 14].strip("-")
    return f"{lead or 'x'}-{digest}"


def _canonical(text: str) -> bool:
    """Of the texts that are one in small letters, exactly one keeps the name: capitals when it looks like an id."""
    low = text.lower()
    return text == (text.upper() if _ID.fullmatch(low) else low)


_ID: Final = re.compile(r"[a-z0-9.]+(?:-[a-z0-9.]+)*-[0-9]{2,}", re.ASCII)
"""What a requirement id looks like; for these the capitals are the plain form."""
