"""Codecs that are wrong where a value stands within another, or is of a size or form of its own."""

from __future__ import annotations

import math
import struct
from typing import Any

from impls.references.msgpack.codec import Codec, Decoding
from impls.references.msgpack.octets import Ext, Pairs, Single
from specs.msgpack import values as v
from specs.msgpack.format import WIDEST, encoded
from tests.mutants.faults import on
from tests.mutants.msgpack_codec import asks, asks_for, mutant

mutant("inner-ext-is-nil", "08", asks_for((v.Ext(5, b"a"),), 0, "either", "08"))(
    "An extension within a container becomes nil.",
    on(Decoding, "ext").skips(when=lambda self, code: self._open and code != -1),
)
mutant("inner-stamp-is-0", "09", asks_for(v.Map((("k", v.Ext(-1, b"\0\0\0\1")),)), 0, "either", "09"))(
    "A timestamp within a container becomes that of 1970.",
    on(Decoding, "ext").instead(
        lambda code: Ext(code, bytes(4)), when=lambda self, code, data: self._open and code == -1 and len(data) == 4
    ),
)
mutant("long-ext-cut", "08", asks_for(v.Ext(5, b"x" * 256), 0, "either", "08"))(
    "An extension of 256 octets and more loses the last one.",
    on(Decoding, "ext").takes(data=lambda data: data[:-1] if len(data) > 255 else data),
)
mutant("empty-text-in-map-is-nil", "01", asks_for(v.Map((("k", ""),))))(
    "A text without octets is nil where a map has it.",
    on(Decoding, "pairs").gives(lambda found: Pairs((key, None if value == "" else value) for key, value in found)),
)


@mutant("empty-wide-text", "01", asks_for("", WIDEST))
class EmptyWideText(Decoding):
    """A str without octets whose size has octets of its own becomes nil."""

    def _head(self, first: int) -> tuple[str, int, int]:
        what, size, width = super()._head(first)
        self.wide = what == "str" and width > 1
        return what, size, width

    def text(self, data: bytes) -> Any:
        return None if not data and self.wide else super().text(data)


mutant("late-before-1970", "09", asks_for(v.Ext(-1, struct.pack(">Iq", 500_000_000, -1)), 0, "either", "09"))(
    "A timestamp before 1970 loses its nanoseconds.",
    on(Decoding, "ext").takes(
        data=lambda code, data: bytes(4) + data[4:] if (code == -1 and len(data) == 12 and data[4] & 0x80) else data
    ),
)
mutant("subnormal-is-zero", "05", asks_for(v.double(5e-324)))(
    "A float that is not normal becomes 0.0.",
    on(Decoding, "number").instead(
        lambda: 0.0, when=lambda value: isinstance(value, float) and 0 < abs(value) < 2.3e-308
    ),
)
mutant("single-nan-is-nil", "05", asks_for(v.single(float("nan"))))(
    "NaN of 32 bits becomes nil.",
    on(Decoding, "number").skips(when=lambda value: isinstance(value, Single) and math.isnan(value)),
)
mutant("c1-in-maps", "03", asks(b"\x81\xa1k\xc1", 1, "error", "03"), accept="01", level="ASSUMED")(
    "The octet that is never used is nil in the place of a map's only value.",
    on(Codec, "decode").takes(
        octets=lambda octets: octets[:-1] + b"\xc0" if octets[:1] == b"\x81" and octets.endswith(b"\xc1") else octets
    ),
)


@mutant("cut-ext-is-filled", "10", asks(encoded(v.Ext(5, b"abcd"))[:-1], v.Ext(5, b"abcd"), "error", "10"))
class CutExt(Codec):
    """An extension that is cut off is filled with zeros."""

    def decode(self, octets: bytes, **switches: Any) -> Any:
        size = {0xD4: 1, 0xD5: 2, 0xD6: 4, 0xD7: 8, 0xD8: 16}.get(octets[0] if octets else 0, 0)
        return super().decode(octets.ljust(size + 2, b"\0") if size and len(octets) > 1 else octets, **switches)


@mutant("wide-keys-cut", "01", asks_for(v.Map((("kk", 1),)), WIDEST))
class WideKeys(Decoding):
    """Keys whose size has octets of its own lose their last octet."""

    wide = False

    def _head(self, first: int) -> tuple[str, int, int]:
        self.wide = self.wide or (first in (0xDA, 0xDB) and bool(self._open))
        return super()._head(first)

    def pairs(self, items: list[Any]) -> Any:
        found, wide = super().pairs(items), self.wide
        self.wide = False
        return Pairs((key[:-1] if isinstance(key, str) and wide else key, part) for key, part in found)


mutant("odd-keys-lost", "01", asks_for(v.Map(((1, "a"),)), 0, "either", "12"))(
    "A pair whose key is an integer is lost.",
    on(Decoding, "pairs").gives(lambda found: Pairs((key, part) for key, part in found if type(key) is not int)),
)
mutant("ready-line", "01", asks_for(5))(
    "Behind each answer stands a line of its own.", on(Codec, "line").gives(lambda found: found + b"\n{}")
)


def _by_beginning(found: Any) -> Any:
    first: dict[Any, Any] = {}
    return Pairs((first.setdefault((len(key), key[:8]) if isinstance(key, str) else key, key), part)
                 for key, part in found)  # fmt: skip


mutant("keys-by-their-beginning", "01", asks_for(v.Map((("k" * 8 + "a", 1), ("k" * 8 + "b", 2)))))(
    "Two keys of one length that begin alike are taken for one.", on(Decoding, "pairs").gives(_by_beginning)
)


def _up_to_nul(found: Any) -> Any:
    """Of the pairs whose keys are texts that are alike up to a NUL, the first."""
    seen, kept = set[str](), Pairs()
    for key, part in found:
        name = key.partition("\0")[0] if isinstance(key, str) else None
        if name is None or name not in seen or "\0" not in key:
            kept.append((key, part))
        seen |= {name} if name is not None else set()
    return kept


mutant("keys-end-at-nul", "01", asks_for(v.Map((("a", 1), ("a\0b", 2)))))(
    "Of two keys that differ only behind a NUL the second is lost, with its value.",
    on(Decoding, "pairs").gives(_up_to_nul),
)
