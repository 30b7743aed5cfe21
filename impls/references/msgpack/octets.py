"""MessagePack as the references read and write it: by code of their own, which shares nothing with the specification's.

Source: MessagePack specification, Formats.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple


class Broken(Exception):
    """What was read is no MessagePack, or more than this reader takes. Where the next value begins is not known."""


class Refused(Exception):
    """A value that this reader does not take, although its end is known."""


class Ext(NamedTuple):
    """An extension."""

    code: int
    data: bytes


class Single(float):
    """A float that came with 32 bits."""


class Odd(NamedTuple):
    """A str that is not UTF-8."""

    data: bytes


class Pairs(list[tuple[Any, Any]]):
    """A map, as it came."""


_TAKES: dict[int, tuple[str, str]] = {
    0xC4: ("bin", ">B"), 0xC5: ("bin", ">H"), 0xC6: ("bin", ">I"),
    0xC7: ("ext", ">B"), 0xC8: ("ext", ">H"), 0xC9: ("ext", ">I"),
    0xCA: ("f32", ">f"), 0xCB: ("number", ">d"),
    0xCC: ("number", ">B"), 0xCD: ("number", ">H"), 0xCE: ("number", ">I"), 0xCF: ("number", ">Q"),
    0xD0: ("number", ">b"), 0xD1: ("number", ">h"), 0xD2: ("number", ">i"), 0xD3: ("number", ">q"),
    0xD9: ("str", ">B"), 0xDA: ("str", ">H"), 0xDB: ("str", ">I"),
    0xDC: ("array", ">H"), 0xDD: ("array", ">I"), 0xDE: ("map", ">H"), 0xDF: ("map", ">I"),
}  # fmt: skip


class Unpacker:
    """Takes octets in any pieces and gives whole values."""

    def __init__(self, max_depth: int = 256, max_octets: int = 1 << 24) -> None:
        self.max_depth, self.max_octets = max_depth, max_octets
        self._data = bytearray()
        self._at = 0
        self._open: list[tuple[bool, int, list[Any]]] = []  # is it a map, elements still missing, those that came

    @property
    def midway(self) -> bool:
        """True when a value has begun and not ended."""
        return bool(self._open) or self._at < len(self._data)

    def feed(self, data: bytes) -> None:
        """Take more octets."""
        if self._at:
            del self._data[: self._at]
            self._at = 0
        self._data += data

    def values(self) -> Iterator[Any]:
        """Every value that is whole now. Raises Broken."""
        while (part := self._part()) is not None:
            (value,) = part
            while True:
                if not self._open:
                    yield value
                    break
                is_map, missing, items = self._open.pop()
                items.append(value)
                if missing > 1:
                    self._open.append((is_map, missing - 1, items))
                    break
                value = self.pairs(items) if is_map else items

    def _part(self) -> tuple[Any] | None:
        """The next scalar or empty container, None while octets are missing; containers are opened on the way."""
        while True:
            if self._at >= len(self._data):
                return None
            first = self._data[self._at]
            what, size, width = self._head(first)
            if width < 0:
                return None
            if what in ("array", "map"):
                self._at += width
                if not size:
                    return (self.pairs([]) if what == "map" else [],)
                if len(self._open) >= self.max_depth:
                    raise Broken("too deep")
                self._open.append((what == "map", size * (2 if what == "map" else 1), []))
                continue
            if what in ("number", "f32"):
                return self._number(first, width)
            if what == "simple":
                self._at += 1
                return (self.simple(first),)
            if size > self.max_octets:
                raise Broken("too long")
            extra = 1 if what == "ext" else 0
            if len(self._data) - self._at < width + extra + size:
                return None
            start = self._at + width + extra
            data = bytes(self._data[start : start + size])
            code = struct.unpack_from(">b", self._data, self._at + width)[0] if extra else 0
            self._at = start + size
            return (self.ext(code, data) if extra else self.text(data) if what == "str" else self.binary(data),)

    def _head(self, first: int) -> tuple[str, int, int]:
        """Kind, size, and octets of the head; -1 for these while some are missing."""
        if first <= 0x7F or first >= 0xE0 or first in (0xC0, 0xC2, 0xC3):
            return "simple", 0, 1
        if first <= 0x8F:
            return "map", first - 0x80, 1
        if first <= 0x9F:
            return "array", first - 0x90, 1
        if first <= 0xBF:
            return "str", first - 0xA0, 1
        if 0xD4 <= first <= 0xD8:
            return "ext", 2 ** (first - 0xD4), 1
        if first not in _TAKES:
            raise Broken(f"octet {first:#x}")
        what, layout = _TAKES[first]
        width = 1 + struct.calcsize(layout)
        if len(self._data) - self._at < width:
            return what, 0, -1
        size = 0 if what in ("number", "f32") else struct.unpack_from(layout, self._data, self._at + 1)[0]
        return what, size, width

    def _number(self, first: int, width: int) -> tuple[Any]:
        what, layout = _TAKES[first]
        (number,) = struct.unpack_from(layout, self._data, self._at + 1)
        self._at += width
        return (self.number(Single(number) if what == "f32" else number),)

    # What is made of values: for readers that make something else of them

    def simple(self, first: int) -> Any:
        """nil, a boolean or a small integer."""
        if first in (0xC0, 0xC2, 0xC3):
            return {0xC0: None, 0xC2: False, 0xC3: True}[first]
        return first if first < 0x80 else first - 0x100

    def number(self, value: float) -> Any:
        """A float, or an integer that has octets of its own."""
        return value

    def text(self, data: bytes) -> Any:
        """A str."""
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return Odd(data)

    def binary(self, data: bytes) -> Any:
        """A bin."""
        return data

    def ext(self, code: int, data: bytes) -> Any:
        """An extension."""
        return Ext(code, data)

    def pairs(self, items: list[Any]) -> Any:
        """A map, of keys and values in turn."""
        return Pairs(zip(items[::2], items[1::2], strict=True))


Pick = Callable[[list[bytes]], bytes]


class Packer:
    """Writes values. `pick` chooses among the legal heads of a value, the shortest of which stands first.

    `old`: as before 2013, without str 8 and bin. `floats`: keep (in the width in which it came), double, or shortest.
    """

    def __init__(self, pick: Pick = lambda heads: heads[0], *, old: bool = False, floats: str = "keep") -> None:
        self.pick, self.old, self.floats = pick, old, floats

    def pack(self, value: Any) -> bytes:
        """The octets of `value`."""
        out = bytearray()
        waiting = [value]
        while waiting:
            here = waiting.pop()
            self.one(here, out)
            if isinstance(here, Pairs):
                waiting += [part for pair in reversed(here) for part in reversed(pair)]
            elif isinstance(here, list):
                waiting += reversed(here)
        return bytes(out)

    def one(self, value: Any, out: bytearray) -> None:
        """Append a value without what is inside of it."""
        if value is None or value is True or value is False:
            out.append(0xC0 if value is None else 0xC3 if value else 0xC2)
        elif isinstance(value, float):
            out += self.float(value)
        elif isinstance(value, int):
            out += self.pick(self.integers(value))
        elif isinstance(value, Ext):
            out += self.extension(value)
        elif isinstance(value, (str, Odd)):
            data = value.data if isinstance(value, Odd) else value.encode("utf-8")
            out += self.pick(self.strings(len(data))) + data
        elif isinstance(value, bytes):
            out += self.pick(self.strings(len(value)) if self.old else self.binaries(len(value))) + value
        elif isinstance(value, Pairs):
            out += self.pick(self.sized(len(value), 0x80, 0xDE))
        else:
            out += self.pick(self.sized(len(value), 0x90, 0xDC))

    def float(self, value: float) -> bytes:
        """A float in one of its two widths."""
        wide = b"\xcb" + struct.pack(">d", value)
        if self.floats == "double" or (self.floats == "keep" and not isinstance(value, Single)):
            return wide
        try:
            narrow = struct.pack(">f", value)
        except OverflowError:
            return wide
        (again,) = struct.unpack(">f", narrow)
        return b"\xca" + narrow if again == value or math.isnan(value) else wide

    def integers(self, value: int) -> list[bytes]:
        """Every form of an integer."""
        found = [struct.pack(">b" if value < 0 else ">B", value)] if -32 <= value <= 127 else []
        for code in (0xCC, 0xD0, 0xCD, 0xD1, 0xCE, 0xD2, 0xCF, 0xD3):
            try:
                found.append(bytes([code]) + struct.pack(_TAKES[code][1], value))
            except struct.error:
                continue
        return found

    def strings(self, size: int) -> list[bytes]:
        """Every head of a str of so many octets."""
        found = [bytes([0xA0 + size])] if size <= 31 else []
        return found + self.counted(size, (0xDA, 0xDB) if self.old else (0xD9, 0xDA, 0xDB))

    def binaries(self, size: int) -> list[bytes]:
        """Every head of a bin of so many octets."""
        return self.counted(size, (0xC4, 0xC5, 0xC6))

    def sized(self, size: int, fixed: int, code: int) -> list[bytes]:
        """Every head of an array or a map of so many elements."""
        return ([bytes([fixed + size])] if size <= 15 else []) + self.counted(size, (code, code + 1))

    def counted(self, size: int, codes: tuple[int, ...]) -> list[bytes]:
        """Heads that state a size."""
        found = []
        for code in codes:
            layout = _TAKES[code][1]
            if size < 1 << 8 * struct.calcsize(layout):
                found.append(bytes([code]) + struct.pack(layout, size))
        return found

    def extension(self, value: Ext) -> bytes:
        """An extension, whole."""
        size = len(value.data)
        fixed = [bytes([0xD4 + size.bit_length() - 1])] if size in (1, 2, 4, 8, 16) else []
        head = self.pick(fixed + self.counted(size, (0xC7, 0xC8, 0xC9)))
        return head + struct.pack(">b", value.code) + value.data
