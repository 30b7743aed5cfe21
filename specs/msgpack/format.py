"""MessagePack octets: every legal encoding is read, and any of them can be written.

Source: MessagePack specification, Formats, and Serialization: type to format conversion. Reading is a loop with a stack
of its own, so that depth costs no recursion, and remembers what was not written in the smallest form.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator, Iterator
from typing import Any

from specs.codec import Malformed, Reader
from specs.msgpack.values import Ext, Float, Map, Text

MAX_DEPTH = 128
"""Containers around a value that are read; one more is Malformed("too-deep")."""
MAX_OCTETS = 1 << 25
"""Octets of one str, bin or ext, or elements of one array or map, that are waited for; more is Malformed("over-limit"):
whoever announces more may be refused before it comes."""
NEVER_USED = 0xC1

_INTS = {
    0xCC: (1, False), 0xCD: (2, False), 0xCE: (4, False), 0xCF: (8, False),
    0xD0: (1, True), 0xD1: (2, True), 0xD2: (4, True), 0xD3: (8, True),
}  # fmt: skip
_SIZED = {
    0xC4: ("bin", 1), 0xC5: ("bin", 2), 0xC6: ("bin", 4),
    0xC7: ("ext", 1), 0xC8: ("ext", 2), 0xC9: ("ext", 4),
    0xD9: ("str", 1), 0xDA: ("str", 2), 0xDB: ("str", 4),
    0xDC: ("array", 2), 0xDD: ("array", 4), 0xDE: ("map", 2), 0xDF: ("map", 4),
}  # fmt: skip
_FIXEXT = {0xD4: 1, 0xD5: 2, 0xD6: 4, 0xD7: 8, 0xD8: 16}


def _heads_of() -> Iterator[tuple[str, int, Any]]:
    """For each first octet what it begins, how many octets of number or size follow, and what it says by itself."""
    for head in range(256):
        if head < 0x80 or head >= 0xE0:
            yield "value", 0, head if head < 0x80 else head - 256
        elif head < 0xC0:
            yield (
                ("map", 0, head & 15)
                if head < 0x90
                else ("array", 0, head & 15)
                if head < 0xA0
                else ("str", 0, head & 31)
            )
        elif head in _INTS:
            yield "int", *_INTS[head]
        elif head in _SIZED:
            yield *_SIZED[head], None
        elif head in _FIXEXT:
            yield "ext", 0, _FIXEXT[head]
        elif head in (0xCA, 0xCB):
            yield "float", 4 if head == 0xCA else 8, None
        else:
            yield (
                ("never", 0, None) if head == NEVER_USED else ("value", 0, {0xC0: None, 0xC2: False, 0xC3: True}[head])
            )


_HEADS = tuple(_heads_of())

Form = tuple[bytes, bytes]
"""What stands before the contents of a value, and the contents; those of containers are written behind."""


# -- reading -----------------------------------------------------------------------------------------------------------


def read(reader: Reader) -> Generator[None, None, tuple[Any, tuple[str, ...]]]:
    """One value, and the kinds of those in it that were not written in the smallest form.

    Yields while octets are missing. Raises Malformed: "never-used" for the octet C1, "too-deep", "over-limit".
    """
    stack: list[tuple[str, int, list[Any]]] = []  # kind, elements it will have, elements so far
    wide: list[str] = []
    value: Any
    while True:
        while len(reader) < 1:
            yield
        kind, width, small = _HEADS[reader.buffer[reader.pos]]
        while len(reader) <= width:
            yield
        octets = reader.buffer[reader.pos + 1 : reader.pos + 1 + width] if width else b""
        reader.pos += 1 + width
        if kind == "value":
            value = small
        elif kind == "int":
            value = int.from_bytes(octets, "big", signed=small)
            if 1 + width > smallest(value):
                wide.append("integer")
        elif kind == "float":
            value = Float(bytes(octets))
        elif kind == "never":
            raise Malformed("never-used")
        else:
            count = int.from_bytes(octets, "big") if width else small
            if width and 1 + width > _smallest_head(kind, count):
                wide.append(kind)
            if count > MAX_OCTETS:
                raise Malformed("over-limit")
            if kind not in ("array", "map"):
                data = yield from reader.exactly(count + (kind == "ext"))
                value = _contents(kind, data)
            elif count:
                if len(stack) >= MAX_DEPTH:
                    raise Malformed("too-deep")
                stack.append((kind, count if kind == "array" else 2 * count, []))
                continue
            else:
                value = () if kind == "array" else Map(())
        while stack:
            kind, count, items = stack[-1]
            items.append(value)
            if len(items) < count:
                break
            stack.pop()
            value = tuple(items) if kind == "array" else Map(tuple(zip(items[::2], items[1::2], strict=True)))
        else:
            return value, tuple(dict.fromkeys(wide)) if wide else ()


def _contents(kind: str, data: bytes) -> Any:
    """What the octets behind a size are."""
    if kind == "bin":
        return data
    if kind == "ext":
        return Ext(data[0] - 256 if data[0] > 127 else data[0], data[1:])
    try:
        return data.decode()
    except UnicodeDecodeError:
        return Text(data)


def decoded(data: bytes) -> tuple[Any, tuple[str, ...]]:
    """The one value that `data` is. Raises Malformed, also "truncated", and "trailing" when octets are left."""
    reader = Reader()
    reader.buffer += data
    try:
        next(read(reader))
    except StopIteration as done:
        if len(reader):
            raise Malformed("trailing") from None
        found: tuple[Any, tuple[str, ...]] = done.value
        return found
    raise Malformed("truncated")


# -- writing -----------------------------------------------------------------------------------------------------------


def smallest(number: int) -> int:
    """Octets of an integer in its smallest form."""
    if -32 <= number < 128:
        return 1
    for width, low, high in ((1, -(1 << 7), 1 << 8), (2, -(1 << 15), 1 << 16), (4, -(1 << 31), 1 << 32)):
        if low <= number < high:
            return 1 + width
    return 9


def _smallest_head(kind: str, count: int) -> int:
    if kind == "ext":
        return 1 if count in _FIXEXT.values() else 2 if count < 256 else 3 if count < 65536 else 5
    if kind in ("array", "map"):
        return 1 if count < 16 else 3 if count < 65536 else 5
    if kind == "str" and count < 32:
        return 1
    return 2 if count < 256 else 3 if count < 65536 else 5


def forms(value: Any) -> list[Form]:
    """Every legal encoding of what stands before a value's contents, the smallest first. Raises ValueError for an
    integer that MessagePack cannot hold."""
    if value is None or isinstance(value, bool):
        return [(b"\xc0" if value is None else b"\xc3" if value else b"\xc2", b"")]
    if isinstance(value, int):
        return list(_int_forms(value))
    if isinstance(value, Float):
        return [(b"\xca" if len(value.octets) == 4 else b"\xcb", value.octets)]
    if isinstance(value, (str, Text)):
        data = value.octets if isinstance(value, Text) else value.encode()
        return [(head, data) for head in _heads(len(data), (0xA0, 32), (0xD9, 0xDA, 0xDB))]
    if isinstance(value, bytes):
        return [(head, value) for head in _heads(len(value), None, (0xC4, 0xC5, 0xC6))]
    if isinstance(value, Ext):
        heads = _heads(len(value.data), None, (0xC7, 0xC8, 0xC9))
        fixed = [bytes([code]) for code, size in _FIXEXT.items() if size == len(value.data)]
        return [(head + struct.pack("b", value.code), value.data) for head in fixed + heads]
    if isinstance(value, tuple):
        return [(head, b"") for head in _heads(len(value), (0x90, 16), (None, 0xDC, 0xDD))]
    if isinstance(value, Map):
        return [(head, b"") for head in _heads(len(value.pairs), (0x80, 16), (None, 0xDE, 0xDF))]
    raise TypeError(f"{type(value).__name__} is no MessagePack value")


_BOUNDS = tuple(
    (bytes([head]), width, signed, -(1 << 8 * width - 1) if signed else 0, 1 << 8 * width - signed)
    for head, (width, signed) in sorted(_INTS.items(), key=lambda item: item[1])
)
"""Of each form of an integer: its first octet, how many follow, whether they are signed, and what it holds."""


def _int_forms(number: int) -> Iterator[Form]:
    if 0 <= number < 128:
        yield bytes([number]), b""
    elif -32 <= number < 0:
        yield bytes([number + 256]), b""
    some = False
    for head, width, signed, low, high in _BOUNDS:
        if low <= number < high:
            some = True
            yield head, number.to_bytes(width, "big", signed=signed)
    if not some:
        raise ValueError(f"{number} is outside of what MessagePack can hold")


def _heads(size: int, fix: tuple[int, int] | None, sized: tuple[int | None, int, int]) -> list[bytes]:
    found = [bytes([fix[0] | size])] if fix is not None and size < fix[1] else []
    for code, width in zip(sized, (1, 2, 4), strict=True):
        if code is not None and size < 1 << 8 * width:
            found.append(bytes([code]) + size.to_bytes(width, "big"))
    return found


Choose = Callable[[Any, list[Form]], Form]


def encoded(value: Any, choose: Choose | None = None) -> bytes:
    """The octets of `value`; `choose` picks a form for it and for each value in it, the smallest if it is None."""
    out = bytearray()
    if choose is None:
        _plain(value, out)
        return bytes(out)
    todo = [value]
    while todo:
        here = todo.pop()
        head, data = choose(here, forms(here))
        out += head + data
        if isinstance(here, tuple):
            todo += reversed(here)
        elif isinstance(here, Map):
            todo += reversed([part for pair in here.pairs for part in pair])
    return bytes(out)


def _plain(value: Any, out: bytearray) -> None:
    """Append `value` in its smallest forms."""
    todo = [value]
    while todo:
        here = todo.pop()
        kind = type(here)
        if kind is int and 0 <= here < 128:
            out.append(here)
        elif kind is tuple and len(here) < 16:
            out.append(0x90 | len(here))
            todo += here[::-1]
        elif kind is str and len(data := here.encode()) < 32:
            out.append(0xA0 | len(data))
            out += data
        elif here is None:
            out.append(0xC0)
        elif kind is int:
            head, data = next(_int_forms(here))
            out += head + data
        else:
            head, data = forms(here)[0]
            out += head + data
            if kind is tuple:
                todo += here[::-1]
            elif kind is Map:
                todo += reversed([part for pair in here.pairs for part in pair])


WIDEST = 1
"""The style in which everything is written in its longest form."""


def styled(value: Any, style: int | None) -> bytes:
    """`value` in the smallest forms (style 0 or None), the longest (WIDEST), or any that the number leads to."""
    if not style:
        return encoded(value)
    if style == WIDEST:
        return encoded(value, lambda value, forms: forms[-1])
    state = style

    def choose(value: Any, forms: list[Form]) -> Form:
        nonlocal state
        state = (state * 1_103_515_245 + 12_345) & 0x7FFF_FFFF  # any mixing will do: the same number, the same octets
        return forms[(state >> 16) % len(forms)]

    return encoded(value, choose)
