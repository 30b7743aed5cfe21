"""Codecs that are wrong where a value stands within another, or is of a size or form of its own."""

from __future__ import annotations

import math
import struct
from typing import Any

from impls.references.msgpack.codec import Codec, Decoding
from impls.references.msgpack.octets import Ext, Pairs, Single
from specs.msgpack import values as v
from specs.msgpack.format import WIDEST, encoded
from tests.mutants.msgpack_codec import asks, gives, mutant


@mutant("inner-ext-is-nil", "08", gives((v.Ext(5, b"a"),), 0, "either", "08"))
class InnerExtIsNil(Decoding):
    """An extension within a container becomes nil."""

    def ext(self, code: int, data: bytes) -> Any:
        return None if self._open and code != -1 else super().ext(code, data)


@mutant("inner-stamp-is-0", "09", gives(v.Map((("k", v.Ext(-1, b"\0\0\0\1")),)), 0, "either", "09"))
class InnerStamp(Decoding):
    """A timestamp within a container becomes that of 1970."""

    def ext(self, code: int, data: bytes) -> Any:
        return Ext(code, bytes(4)) if self._open and code == -1 and len(data) == 4 else super().ext(code, data)


@mutant("long-ext-cut", "08", gives(v.Ext(5, b"x" * 256), 0, "either", "08"))
class LongExtCut(Decoding):
    """An extension of 256 octets and more loses the last one."""

    def ext(self, code: int, data: bytes) -> Any:
        return super().ext(code, data[:-1] if len(data) > 255 else data)


@mutant("empty-wide-text", "01", gives("", WIDEST))
class EmptyWideText(Decoding):
    """A str without octets whose size has octets of its own becomes nil."""

    def _head(self, first: int) -> tuple[str, int, int]:
        what, size, width = super()._head(first)
        self.wide = what == "str" and width > 1
        return what, size, width

    def text(self, data: bytes) -> Any:
        return None if not data and self.wide else super().text(data)


@mutant("late-before-1970", "09", gives(v.Ext(-1, struct.pack(">Iq", 500_000_000, -1)), 0, "either", "09"))
class LateBefore1970(Decoding):
    """A timestamp before 1970 loses its nanoseconds."""

    def ext(self, code: int, data: bytes) -> Any:
        early = code == -1 and len(data) == 12 and data[4] & 0x80
        return super().ext(code, bytes(4) + data[4:] if early else data)


@mutant("subnormal-is-zero", "05", gives(v.double(5e-324)))
class Subnormal(Decoding):
    """A float that is not normal becomes 0.0."""

    def number(self, value: float) -> Any:
        return 0.0 if isinstance(value, float) and 0 < abs(value) < 2.3e-308 else super().number(value)


@mutant("single-nan-is-nil", "05", gives(v.single(float("nan"))))
class SingleNan(Decoding):
    """NaN of 32 bits becomes nil."""

    def number(self, value: float) -> Any:
        return None if isinstance(value, Single) and math.isnan(value) else super().number(value)


@mutant("c1-in-maps", "03", asks(b"\x81\xa1k\xc1", 1, "error", "03"), accept="01", level="ASSUMED")
class NeverUsedInMaps(Codec):
    """The octet that is never used is nil in the place of a map's only value."""

    def decode(self, octets: bytes, **switches: Any) -> Any:
        if octets[:1] == b"\x81" and octets.endswith(b"\xc1"):
            octets = octets[:-1] + b"\xc0"
        return super().decode(octets, **switches)


@mutant("cut-ext-is-filled", "10", asks(encoded(v.Ext(5, b"abcd"))[:-1], v.Ext(5, b"abcd"), "error", "10"))
class CutExt(Codec):
    """An extension that is cut off is filled with zeros."""

    def decode(self, octets: bytes, **switches: Any) -> Any:
        size = {0xD4: 1, 0xD5: 2, 0xD6: 4, 0xD7: 8, 0xD8: 16}.get(octets[0] if octets else 0, 0)
        return super().decode(octets.ljust(size + 2, b"\0") if size and len(octets) > 1 else octets, **switches)


@mutant("wide-keys-cut", "01", gives(v.Map((("kk", 1),)), WIDEST))
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


@mutant("odd-keys-lost", "01", gives(v.Map(((1, "a"),)), 0, "either", "12"))
class OddKeysLost(Decoding):
    """A pair whose key is an integer is lost."""

    def pairs(self, items: list[Any]) -> Any:
        return Pairs((key, part) for key, part in super().pairs(items) if type(key) is not int)


@mutant("ready-line", "01", gives(5))
class ReadyLine(Codec):
    """Behind each answer stands a line of its own."""

    def line(self, line: bytes) -> bytes:
        return super().line(line) + b"\n{}"
