"""Frames of the binary protocol: sizes, the command, and what SEND and MESSAGE carry behind it.

Source: 001_c0ea8805bb7ed422.txt, "Framing" (simple and payload commands, with the checksum of 4 octets, not 2). A frame
keeps the parsed command and the octets of metadata and payload; what is odd in it is for the model to judge.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

import google_crc32c
from google.protobuf.internal import api_implementation
from google.protobuf.message import DecodeError, EncodeError
from google.protobuf.text_format import MessageToString

from specs.codec import Decoder, Malformed, Reader
from specs.plan import Ref
from specs.pulsar.schema import schema

MAX_TOTAL = 5 * 1024 * 1024 + 10 * 1024
"""TOTAL_SIZE over which a frame is refused: 5 MiB of message, and the room that real brokers give the rest."""
SAFE_TOTAL = 5_232_640
"""TOTAL_SIZE up to which every reading of the limit lets a frame pass."""
MAGIC, BROKER_MAGIC = b"\x0e\x01", b"\x0e\x02"
SECOND = bytes.fromhex("920100")
"""PING, as a second sub-message in a command."""
NOBODY = (1 << 64) - 1
"""The request_id of what a broker says of its own accord: -1."""

if api_implementation.Type() != "upb":
    raise ImportError(f"protobuf runs on {api_implementation.Type()!r}: the measured speed needs upb, its default")

Type = schema.BaseCommand.Type
FIELDS: Mapping[str, str] = {
    Type.Name(each.number): each.name for each in schema.BaseCommand.DESCRIPTOR.fields if each.number > 1
}
"""The field of a command by its type."""
_NAMES: Mapping[int, str] = {number: name for name, number in Type.items()}
NUMBERS: Mapping[str, int] = {name: number for number, name in _NAMES.items()}
"""The number of each command's type, which is that of its sub-message too."""
_FIELD: Mapping[int, str] = {number: FIELDS[name] for number, name in _NAMES.items()}
_CARRYING = (Type.SEND, Type.MESSAGE)
_COMMAND = schema.BaseCommand.FromString
_CHECK = google_crc32c.value


@dataclass(slots=True)
class Frame:
    """One frame. `command` is a parsed BaseCommand and is not to be changed.

    `headers` are the octets of MessageMetadata, None when there is no payload part; `check` is "good", "bad", or "" for
    none; `broker` the BrokerEntryMetadata before it. `rest`: octets behind the command that are no payload part, and
    `odd` says why not. `size` is TOTAL_SIZE, `stated` the
    checksum as it came where it is wrong.
    """

    command: Any
    headers: bytes | None = None
    payload: bytes = b""
    check: str = ""
    broker: bytes | None = None
    rest: bytes = b""
    odd: str = ""
    size: int = field(default=0, compare=False)
    stated: int = field(default=0, compare=False)

    @property
    def kind(self) -> str:
        """The name of the command's type."""
        return _NAMES[self.command.type]

    @property
    def body(self) -> Any:
        """The sub-message that the type names."""
        return getattr(self.command, FIELDS[_NAMES[self.command.type]])

    @property
    def whole(self) -> bool:
        """True when exactly the sub-message that the type names is set."""
        present = self.command.ListFields()
        return len(present) == 2 and present[1][0].number == self.command.type

    def metadata(self) -> Any:
        """The parsed MessageMetadata; None when there is none, or none that can be parsed."""
        if self.headers is None:
            return None
        try:
            found = schema.MessageMetadata.FromString(self.headers)
        except DecodeError:
            return None
        return found if found.IsInitialized() else None


@dataclass(frozen=True, slots=True)
class Draft:
    """A frame of a plan: fields as data, in which Refs may stand. `extra`: octets added to the command (unknown
    fields, a second sub-message); `broker`: the BrokerEntryMetadata. `meta` is None in a simple frame. `more`: octets
    added to the metadata."""

    kind: str
    fields: Any = field(default_factory=dict)  # a Mapping, or a Ref to one
    meta: Mapping[str, Any] | None = None
    payload: bytes = b""
    check: str = "good"
    extra: bytes = b""
    more: bytes = b""
    rest: bytes = b""
    broker: bytes | None = None


def draft(kind: str, **fields: Any) -> Draft:
    """A simple frame."""
    return Draft(kind, fields)


def filled(value: Any, memory: Any) -> Any:
    """`value` with every Ref in it resolved; raises LookupError when one is not known."""
    if isinstance(value, Ref):
        found = memory.resolve(value)
        if found is None:
            raise LookupError(value.name)
        return found
    if isinstance(value, Mapping):
        return {name: filled(part, memory) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [filled(part, memory) for part in value]
    return value


def fill(message: Any, fields: Mapping[str, Any]) -> Any:
    """Set the fields of a protobuf message, nested ones too."""
    message.SetInParent()
    for name, value in fields.items():
        if isinstance(value, Mapping):
            fill(getattr(message, name), value)
        elif isinstance(value, (list, tuple)):
            repeated = getattr(message, name)
            for part in value:
                if isinstance(part, Mapping):
                    fill(repeated.add(), part)
                else:
                    repeated.append(part)
        elif value is not None:
            setattr(message, name, value)
    return message


def resolve(frame: Any, memory: Any) -> Any:
    """The Frame that a Draft means, or what a client is told with its Refs filled in; None while one is unknown."""
    if isinstance(frame, Frame):
        return frame
    try:
        if not isinstance(frame, Draft):
            return filled(frame, memory)
        command = schema.BaseCommand(type=Type.Value(frame.kind))
        fill(getattr(command, FIELDS[frame.kind]), filled(frame.fields, memory))
        meta = None if frame.meta is None else filled(frame.meta, memory)
    except LookupError:
        return None
    if frame.extra:
        command.MergeFromString(frame.extra)
    headers = None
    if meta is not None:
        headers = fill(schema.MessageMetadata(), meta).SerializePartialToString() + frame.more
    made = Frame(command, headers, frame.payload, frame.check if headers is not None else "", rest=frame.rest)
    made.broker = frame.broker
    octets = encode(made)[4:]
    if frame.rest:
        return parse(octets)
    made.size = len(octets)
    return made


def _spoilt(right: int, length: int) -> int:
    """A wrong checksum. One in four is 0, which whoever takes a checksum for a flag as well takes for none."""
    return 0 if right % 4 == 1 else right ^ 1 << length % 32


def encode(frame: Frame, style: Any = None) -> bytes:
    """The octets of a frame. A check that is "bad" is 0, or has one bit wrong that depends on the length."""
    command = frame.command.SerializePartialToString()
    if frame.headers is None:  # a frame that is odd keeps what is behind the command as it is
        size = 4 + len(command) + len(frame.rest)
        return b"%b%b%b%b" % (size.to_bytes(4, "big"), len(command).to_bytes(4, "big"), command, frame.rest)
    content = b"%b%b%b" % (len(frame.headers).to_bytes(4, "big"), frame.headers, frame.payload)
    check = b""
    if frame.check:
        right = google_crc32c.value(content)
        check = MAGIC + (_spoilt(right, len(content)) if frame.check == "bad" else right).to_bytes(4, "big")
    if frame.broker is not None:
        check = BROKER_MAGIC + len(frame.broker).to_bytes(4, "big") + frame.broker + check
    size = 4 + len(command) + len(check) + len(content)
    return b"%b%b%b%b%b" % (size.to_bytes(4, "big"), len(command).to_bytes(4, "big"), command, check, content)


def parse(data: bytes, at: int = 0, stop: int | None = None) -> Frame:
    """The frame whose octets behind TOTAL_SIZE are `data[at:stop]`. Raises Malformed."""
    stop = len(data) if stop is None else stop
    begin = at + 4
    end = begin + int.from_bytes(data[at:begin], "big")
    if stop < begin or end > stop:
        raise Malformed("command-size")
    try:
        command = _COMMAND(data[begin:end])
    except DecodeError:
        raise Malformed("no-command") from None
    try:
        command.SerializeToString()  # parsing does not look for required fields; this does, sooner than IsInitialized
    except EncodeError:
        raise Malformed("no-command") from None
    kind = command.type
    if not command.HasField(_FIELD[kind]):
        raise Malformed("no-sub-message")
    if kind in _CARRYING:
        if data[end : end + 2] == MAGIC:  # nearly always: read without a detour
            content = data[end + 6 : stop]
            size = 4 + int.from_bytes(content[:4], "big")
            if 4 <= len(content) >= size:
                stated = int.from_bytes(data[end + 2 : end + 6], "big")
                good = _CHECK(content) == stated
                frame = Frame(command, content[4:size], content[size:], "good" if good else "bad", size=stop - at)
                if not good:
                    frame.stated = stated
                return frame
        frame = Frame(command, size=stop - at)
        _payload(frame, data[at:stop], end - at)
        return frame
    frame = Frame(command, size=stop - at)
    if end < stop:
        frame.rest, frame.odd = data[end:stop], "octets behind the command"
    return frame


def _payload(frame: Frame, data: bytes, at: int) -> None:
    """Read what is behind the command of a SEND or MESSAGE."""
    begin = at
    if data[at : at + 2] == BROKER_MAGIC:
        size = int.from_bytes(data[at + 2 : at + 6], "big")
        frame.broker = data[at + 6 : at + 6 + size]
        at += 6 + size
    stated = None
    if data[at : at + 2] == MAGIC:
        stated = int.from_bytes(data[at + 2 : at + 6], "big")
        at += 6
    start = at + 4
    end = start + int.from_bytes(data[at:start], "big")
    if start > len(data) or end > len(data):
        frame.rest, frame.odd, frame.broker = data[begin:], "metadata size", None
        return
    frame.headers, frame.payload = data[start:end], data[end:]
    if stated is not None:
        frame.check = "good" if google_crc32c.value(data[at:]) == stated else "bad"
        frame.stated = stated if frame.check == "bad" else 0


class Grammar:
    """One direction of one connection. `limit` is the largest TOTAL_SIZE."""

    def __init__(self, limit: int = MAX_TOTAL) -> None:
        self._limit = limit

    def plain(self, data: bytes, at: int, items: list[Any]) -> int:
        """Whole frames in which nothing is wrong; see `specs.codec.PlainGrammar`."""
        held = len(data)
        while held - at > 4:
            end = at + 4 + int.from_bytes(data[at : at + 4], "big")
            if end > held or end - at - 4 > self._limit:
                break
            try:
                items.append(parse(data, at + 4, end))
            except Malformed:
                break
            at = end
        return at

    def frame(self, reader: Reader) -> Generator[None, None, Frame]:
        """One frame. Raises Malformed before it waits for octets that are over the limit."""
        size = int.from_bytes((yield from reader.exactly(4)), "big")
        if size > self._limit:
            raise Malformed("over-limit")
        return parse((yield from reader.exactly(size)))


def decoder(role: str, config: Any, session: dict[str, Any]) -> Decoder:
    """Reads what either side sends: both speak alike."""
    return Decoder(Grammar())


def describe(frame: Any) -> str:
    """A frame, or what a client is told, for people."""
    if isinstance(frame, Draft):
        return f"{frame.kind} {frame.fields!r:.300}"
    if not isinstance(frame, Frame):
        return f"{frame!r:.300}"
    text = MessageToString(frame.body, as_one_line=True)
    if frame.headers is not None:
        meta = frame.metadata()
        shown = "?" if meta is None else MessageToString(meta, as_one_line=True)
        check = frame.check or "none"
        text += f" metadata({shown:.200}) payload({len(frame.payload)}) {frame.payload[:24]!r} checksum {check}"
    if frame.odd:
        text += f" ({frame.odd}: {frame.rest[:24].hex()})"
    return f"{frame.kind} {text:.600}"


def to_json(value: Any) -> Any:
    """A Frame, a Draft, or what a client is told, as JSON data."""
    if isinstance(value, Frame):
        return {"frame": encode(value)[4:].hex()}
    if isinstance(value, Draft):
        meta = None if value.meta is None else _out(value.meta)
        octets = {name: getattr(value, name).hex() for name in ("payload", "extra", "more", "rest")}
        return {
            "draft": value.kind,
            "fields": _out(value.fields),
            "meta": meta,
            "check": value.check,
            **octets,
            "broker": None if value.broker is None else value.broker.hex(),
        }
    return _out(value)


def _out(value: Any) -> Any:
    if isinstance(value, Ref):
        return {"ref": value.name, "key": _out(value.key)}
    if isinstance(value, bytes):
        return {"octets": value.hex()}
    if isinstance(value, Mapping):
        return {"fields": [[name, _out(part)] for name, part in value.items()]}
    return [_out(part) for part in value] if isinstance(value, (list, tuple)) else value


def from_json(data: Any) -> Any:
    """The inverse of `to_json`."""
    if isinstance(data, dict) and "frame" in data:
        octets = bytes.fromhex(data["frame"])
        try:
            return parse(octets)
        except Malformed:
            return None
    if isinstance(data, dict) and "draft" in data:
        octet_fields = {name: bytes.fromhex(data[name]) for name in ("payload", "extra", "more", "rest")}
        meta = None if data["meta"] is None else _in(data["meta"])
        return Draft(
            data["draft"],
            _in(data["fields"]),
            meta,
            check=data["check"],
            **octet_fields,
            broker=None if data.get("broker") is None else bytes.fromhex(data["broker"]),
        )
    return _in(data)


def _in(data: Any) -> Any:
    if isinstance(data, list):
        return tuple(_in(part) for part in data)
    if not isinstance(data, dict):
        return data
    if "ref" in data:
        return Ref(data["ref"], _in(data["key"]))
    if "octets" in data:
        return bytes.fromhex(data["octets"])
    return {name: _in(part) for name, part in data["fields"]}
