"""MessagePack values as data: what Python has of its own stands for itself, the rest has types here.

nil, booleans and integers are None, bool and int; a str is `str`, a bin `bytes`, an array a tuple. Two values are only
alike if `alike` says so: Python takes True for 1. Source: MessagePack specification, Type system.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

TIMESTAMP = -1
"""The extension type of a timestamp."""


@dataclass(frozen=True, slots=True)
class Float:
    """A float by its octets, 4 or 8 of them, so that every NaN and both zeros are kept apart."""

    octets: bytes

    @property
    def number(self) -> float:
        """Its value as a Python float."""
        found: float = struct.unpack(">f" if len(self.octets) == 4 else ">d", self.octets)[0]
        return found


@dataclass(frozen=True, slots=True)
class Text:
    """A str whose octets are not UTF-8."""

    octets: bytes


@dataclass(frozen=True, slots=True)
class Map:
    """Pairs in the order of the wire; keys may be of any type and may repeat."""

    pairs: tuple[tuple[Any, Any], ...]


@dataclass(frozen=True, slots=True)
class Ext:
    """An extension: a type from -128 to 127 and its octets."""

    code: int
    data: bytes


def double(number: float) -> Float:
    """A float of 64 bits."""
    return Float(struct.pack(">d", number))


def single(number: float) -> Float:
    """A float of 32 bits."""
    return Float(struct.pack(">f", number))


def moment(value: Ext) -> tuple[int, int] | None:
    """Seconds and nanoseconds of a timestamp; None when it is none, or one that is malformed.

    Source: MessagePack specification, Timestamp extension type; tried by tables, not by its pseudo code.
    """
    if value.code != TIMESTAMP:
        return None
    size = len(value.data)
    if size == 4:
        return int.from_bytes(value.data, "big"), 0
    if size == 8:
        both = int.from_bytes(value.data, "big")
        seconds, nanos = both & 0x3_FFFF_FFFF, both >> 34
    elif size == 12:
        nanos = int.from_bytes(value.data[:4], "big")
        seconds = int.from_bytes(value.data[4:], "big", signed=True)
    else:
        return None
    return (seconds, nanos) if nanos <= 999_999_999 else None


def alike(one: Any, other: Any) -> bool:
    """True when both are the same value: same type, and equal in the sense of that type.

    A float is equal in either width, every NaN is equal to every other, maps are equal in any order of their pairs,
    and timestamps by the moment that they name.
    """
    if isinstance(one, tuple):
        return isinstance(other, tuple) and len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, Map):
        return isinstance(other, Map) and _paired(one, other)
    if isinstance(one, Float):
        return isinstance(other, Float) and _equal(one.number, other.number)
    if isinstance(one, Ext):
        return isinstance(other, Ext) and (one == other or (moment(one) is not None and moment(one) == moment(other)))
    return type(one) is type(other) and bool(one == other)


def _equal(one: float, other: float) -> bool:
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return one == other and math.copysign(1, one) == math.copysign(1, other)


def _paired(one: Map, other: Map) -> bool:
    if len(one.pairs) != len(other.pairs):
        return False
    texts = {key: value for key, value in other.pairs if isinstance(key, str)}
    if len(texts) == len(one.pairs) and all(isinstance(key, str) and key in texts for key, _ in one.pairs):
        return len({key for key, _ in one.pairs}) == len(texts) and all(alike(v, texts[key]) for key, v in one.pairs)
    left = list(other.pairs)
    for key, value in one.pairs:
        for i, (name, found) in enumerate(left):
            if alike(key, name) and alike(value, found):
                del left[i]
                break
        else:
            return False
    return True


def inside(value: Any) -> Iterator[Any]:
    """`value` and everything in it."""
    todo = [value]
    while todo:
        here = todo.pop()
        yield here
        if isinstance(here, tuple):
            todo += here
        elif isinstance(here, Map):
            todo += [part for pair in here.pairs for part in pair]


def depth(value: Any) -> int:
    """How many containers lie around the innermost value."""
    deepest, todo = 0, [(value, 0)]
    while todo:
        here, level = todo.pop()
        deepest = max(deepest, level)
        if isinstance(here, tuple):
            todo += [(part, level + 1) for part in here]
        elif isinstance(here, Map):
            todo += [(part, level + 1) for pair in here.pairs for part in pair]
    return deepest


def describe(value: Any, limit: int = 400) -> str:
    """A value for people, at most about `limit` characters long."""
    if isinstance(value, Float):
        shown = f"{value.number!r}f" if len(value.octets) == 4 else repr(value.number)
    elif isinstance(value, Text):
        shown = f"str({value.octets.hex()})"
    elif isinstance(value, bytes):
        shown = f"bin({value[:limit].hex()})"
    elif isinstance(value, Ext):
        shown = f"ext({value.code}, {value.data[:limit].hex()})"
    elif isinstance(value, tuple):
        shown = "[" + _list((describe(part, limit) for part in value), limit) + "]"
    elif isinstance(value, Map):
        pairs = (f"{describe(key, limit)}: {describe(part, limit)}" for key, part in value.pairs)
        shown = "{" + _list(pairs, limit) + "}"
    elif value is None or isinstance(value, bool):
        shown = {None: "nil", True: "true", False: "false"}[value]
    else:
        shown = repr(value[: limit + 1] if isinstance(value, str) else value)
    return shown if len(shown) <= limit else shown[:limit] + "…"


def _list(parts: Iterator[str], limit: int) -> str:
    shown, size = [], 0
    for part in parts:
        if size > limit:
            shown.append("…")
            break
        shown.append(part)
        size += len(part) + 2
    return ", ".join(shown)


_TAGGED = ({"float"}, {"text"}, {"bin"}, {"ext", "data"}, {"map"})
"""Members of an object that stands for a value."""


def to_json(value: Any) -> Any:
    """A value as JSON data from which `from_json` makes it again."""
    if isinstance(value, Float):
        return {"float": value.octets.hex()}
    if isinstance(value, Text):
        return {"text": value.octets.hex()}
    if isinstance(value, bytes):
        return {"bin": value.hex()}
    if isinstance(value, Ext):
        return {"ext": value.code, "data": value.data.hex()}
    if isinstance(value, tuple):
        return [to_json(part) for part in value]
    if isinstance(value, Map):
        return {"map": [[to_json(key), to_json(part)] for key, part in value.pairs]}
    return value


def from_json(data: Any) -> Any:
    """The inverse of `to_json`. Raises KeyError or ValueError when the data is something else. What a program was told
    in JSON was written as it is."""
    if isinstance(data, list):
        return tuple(from_json(part) for part in data)
    if not isinstance(data, dict) or set(data) not in _TAGGED:
        return data
    if "float" in data:
        return Float(bytes.fromhex(data["float"]))
    if "text" in data:
        return Text(bytes.fromhex(data["text"]))
    if "bin" in data:
        return bytes.fromhex(data["bin"])
    if "ext" in data:
        return Ext(data["ext"], bytes.fromhex(data["data"]))
    return Map(tuple((from_json(key), from_json(part)) for key, part in data["map"]))
