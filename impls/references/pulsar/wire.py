"""Protocol Buffers, written and read by hand.

Source: 001_c0ea8805bb7ed422.txt, introduction: every command is a protobuf message. A message is a dict here: what is
not in it is not set, a repeated field is a list, an enum a number, a message within it a dict. As protobuf has it,
unknown fields and unknown values of enums are skipped, and of a field given twice the last counts.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any

from impls.references.pulsar.schema import COMMANDS, ENUMS, MESSAGES, NAMES, Field

MAX_DEPTH = 16
"""How deep messages may lie within each other."""

Message = dict[str, Any]


class Malformed(Exception):
    """Octets that are no frame, command or metadata."""


_SIGNED = {"int32", "int64"}
_VARINTS = {"int32", "int64", "uint32", "uint64", "bool"} | set(ENUMS)
_WIRE_TYPES = {
    field.kind: 1 if field.kind == "double" else 0 if field.kind in _VARINTS else 2
    for fields in MESSAGES.values()
    for field in fields
}
_BY_NUMBER = {name: {field.number: field for field in fields} for name, fields in MESSAGES.items()}
_REQUIRED = {name: [field.name for field in fields if field.required] for name, fields in MESSAGES.items()}
_VALUES = {name: frozenset(values.values()) for name, values in ENUMS.items()}


# Writing


def varint(value: int) -> bytes:
    """A whole number in groups of seven bits, the lowest first; negative ones as their 64-bit complement."""
    value &= (1 << 64) - 1
    if value < 0x80:
        return bytes((value,))
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def _parts(name: str, message: Message, order: Callable[[list[bytes]], None] | None) -> list[bytes]:
    parts = []
    for field in MESSAGES[name]:
        value = message.get(field.name)
        if value is None:
            continue
        one = [value] if not field.repeated else value
        wire = _WIRE_TYPES[field.kind]
        head = varint(field.number << 3 | wire)
        encoded = [head + _scalar(field.kind, wire, each, order) for each in one]
        if encoded:
            parts.append(b"".join(encoded))
    return parts


def _scalar(kind: str, wire: int, value: Any, order: Callable[[list[bytes]], None] | None) -> bytes:
    if wire == 0:
        return varint(int(value))
    if wire == 1:
        return struct.pack("<d", value)
    if kind == "string":
        data: bytes = value.encode("utf-8", "surrogateescape")
    elif kind == "bytes":
        data = value
    else:
        data = encode(kind, value, order)
    return varint(len(data)) + data


def encode(name: str, message: Message, order: Callable[[list[bytes]], None] | None = None) -> bytes:
    """The octets of a message. `order` may rearrange its fields: protobuf does not fix their order."""
    parts = _parts(name, message, order)
    if order is not None:
        order(parts)
    return b"".join(parts)


def encode_command(name: str, message: Message, order: Callable[[list[bytes]], None] | None = None) -> bytes:
    """The octets of a BaseCommand with this one command in it."""
    number, kind = COMMANDS[name]
    body = encode(kind, message, order)
    parts = [b"\x08" + varint(number), varint(number << 3 | 2) + varint(len(body)) + body]
    if order is not None:
        order(parts)
    return b"".join(parts)


# Reading


def read_varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """A whole number below 2^64 and where it ends. Raises Malformed."""
    value = shift = 0
    while at < end:
        octet = data[at]
        at += 1
        value |= (octet & 0x7F) << shift
        if octet < 0x80:
            return value & ((1 << 64) - 1), at
        shift += 7
        if shift >= 70:
            raise Malformed("a number has no end")
    raise Malformed("a number is cut short")


def _skip(data: bytes, at: int, end: int, wire: int, number: int, depth: int) -> int:
    """Where an unknown field ends."""
    if wire == 0:
        return read_varint(data, at, end)[1]
    if wire in (1, 5):
        at += 8 if wire == 1 else 4
    elif wire == 2:
        size, at = read_varint(data, at, end)
        at += size
    elif wire == 3:
        return _skip_group(data, at, end, number, depth + 1)
    else:
        raise Malformed(f"wire type {wire}")
    if at > end:
        raise Malformed("a field is longer than what holds it")
    return at


def _skip_group(data: bytes, at: int, end: int, number: int, depth: int) -> int:
    if depth > MAX_DEPTH:
        raise Malformed("messages lie too deep")
    while True:
        key, at = read_varint(data, at, end)
        if key & 7 == 4:
            if key >> 3 != number:
                raise Malformed("a group ends that did not begin")
            return at
        at = _skip(data, at, end, key & 7, key >> 3, depth)


def decode(name: str, data: bytes, at: int = 0, end: int | None = None, depth: int = 0) -> Message:
    """The message in data[at:end]. Raises Malformed, also for what lacks a required field."""
    end = len(data) if end is None else end
    if depth > MAX_DEPTH:
        raise Malformed("messages lie too deep")
    known = _BY_NUMBER[name]
    found: Message = {}
    while at < end:
        key, at = read_varint(data, at, end)
        number, wire = key >> 3, key & 7
        if not 0 < number < 1 << 29:
            raise Malformed(f"field number {number}")
        field = known.get(number)
        if field is None:
            at = _skip(data, at, end, wire, number, depth)
            continue
        expected = _WIRE_TYPES[field.kind]
        if wire == expected:
            at = _one(found, field, data, at, end, depth)
        elif wire == 2 and field.repeated and expected != 2:
            at = _packed(found, field, data, at, end)
        else:
            at = _skip(data, at, end, wire, number, depth)
    for required in _REQUIRED[name]:
        if required not in found:
            raise Malformed(f"{name} lacks {required}")
    return found


def _one(found: Message, field: Field, data: bytes, at: int, end: int, depth: int) -> int:
    """Read one value of `field` into `found`; where it ends."""
    kind = field.kind
    value: Any
    if kind in _VARINTS:
        number, at = read_varint(data, at, end)
        value = _number(kind, number)
        if value is None:
            return at
    elif kind == "double":
        if at + 8 > end:
            raise Malformed("a field is longer than what holds it")
        value, at = struct.unpack_from("<d", data, at)[0], at + 8
    else:
        size, at = read_varint(data, at, end)
        if at + size > end:
            raise Malformed("a field is longer than what holds it")
        upto = at + size
        if kind == "string":
            value = data[at:upto].decode("utf-8", "surrogateescape")
        elif kind == "bytes":
            value = data[at:upto]
        else:
            value = decode(kind, data, at, upto, depth + 1)
            if not field.repeated and field.name in found:
                value = {**found[field.name], **value}
        at = upto
    if field.repeated:
        found.setdefault(field.name, []).append(value)
    else:
        found[field.name] = value
    return at


def _packed(found: Message, field: Field, data: bytes, at: int, end: int) -> int:
    size, at = read_varint(data, at, end)
    if at + size > end:
        raise Malformed("a field is longer than what holds it")
    upto = at + size
    values = found.setdefault(field.name, [])
    while at < upto:
        number, at = read_varint(data, at, upto)
        values.append(_number(field.kind, number))
    return at


def _number(kind: str, value: int) -> int | bool | None:
    """A number as its type has it; None for a value that an enum does not have."""
    if kind == "uint64":
        return value
    if kind == "bool":
        return value != 0
    if kind == "uint32":
        return value & 0xFFFFFFFF
    if kind in _SIGNED:
        bits = 64 if kind == "int64" else 32
        value &= (1 << bits) - 1
        return value - (1 << bits) if value >> (bits - 1) else value
    return value if value in _VALUES[kind] else None


class Command:
    """A BaseCommand: its name, the message of that name, and what else was set beside it."""

    __slots__ = ("body", "name", "others")

    def __init__(self, name: str, body: Message | None, others: Iterable[str]) -> None:
        self.name = name
        self.body = body
        self.others = tuple(others)


def decode_command(data: bytes) -> Command:
    """The BaseCommand in `data`. Raises Malformed; the name is empty when the type is none that is known.

    The message is None when the one that the type names is not set.
    """
    at, end = 0, len(data)
    kind = None
    bodies: dict[str, Message] = {}
    while at < end:
        key, at = read_varint(data, at, end)
        number, wire = key >> 3, key & 7
        if not 0 < number < 1 << 29:
            raise Malformed(f"field number {number}")
        if number == 1 and wire == 0:
            kind, at = read_varint(data, at, end)
        elif number in NAMES and wire == 2:
            size, at = read_varint(data, at, end)
            if at + size > end:
                raise Malformed("a field is longer than what holds it")
            name = NAMES[number]
            bodies[name] = {**bodies.get(name, {}), **decode(COMMANDS[name][1], data, at, at + size, 1)}
            at += size
        else:
            at = _skip(data, at, end, wire, number, 0)
    if kind is None:
        raise Malformed("BaseCommand lacks type")
    chosen = NAMES.get(kind, "")
    return Command(chosen, bodies.get(chosen), (name for name in bodies if name != chosen))
