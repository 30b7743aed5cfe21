"""Values as the format of before 2013 has them, for who declares to speak it: `raw_wire = "str"` of a manifest.

That format has one type for texts and octets, raw, which is str today, and writes it in three ways: with up to 31
octets, with 16 bits of length, and with 32. Neither bin nor str 8 nor ext is known to it (format specification,
"Upgrading MessagePack specification").
"""

from __future__ import annotations

from typing import Any

from specs.msgpack import values as v

SHORT, LONG = 31, 256
"""The most octets of what is written with its length in the first octet, and the fewest of what is written today with
16 bits of length: between them lies str 8."""


def older(value: Any) -> Any:
    """A value that is written alike in both formats, and as much like the one given as that can be."""
    if isinstance(value, bytes):
        return _text(value if _alike(value) else value[:SHORT])
    if isinstance(value, str):
        return value if _alike(value.encode()) else value.encode()[:SHORT].decode(errors="ignore")
    if isinstance(value, tuple):
        return tuple(older(part) for part in value)
    if isinstance(value, v.Map):
        kept = {repr(older(key)): (older(key), older(part)) for key, part in value.pairs}
        return v.Map(tuple(kept.values()))
    return None if isinstance(value, v.Ext) else value


def _text(octets: bytes) -> str | v.Text:
    try:
        return octets.decode()
    except UnicodeDecodeError:
        return v.Text(octets)


def _alike(octets: bytes) -> bool:
    return len(octets) <= SHORT or len(octets) >= LONG
