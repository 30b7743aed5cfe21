"""MessagePack-RPC messages. Source: MessagePack-RPC specification, Messages.

A message is any one MessagePack value: what shape it has is for the model to judge.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from specs.codec import Decoder, Reader
from specs.msgpack import lines, values
from specs.msgpack.format import encoded, read, styled
from specs.plan import Ref

MAX_ID = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class Frame:
    """One value on the wire; `wide` names the kinds in it that were not written in the smallest form."""

    body: Any
    wide: tuple[str, ...] = ()


def request(number: Any, method: Any, *params: Any) -> Frame:
    """`[0, id, method, params]`."""
    return Frame((0, number, method, params))


def response(number: Any, error: Any, result: Any) -> Frame:
    """`[1, id, error, result]`."""
    return Frame((1, number, error, result))


def notification(method: Any, *params: Any) -> Frame:
    """`[2, method, params]`."""
    return Frame((2, method, params))


def is_int(value: Any) -> bool:
    """True for an integer; Python counts booleans among them."""
    return type(value) is int


def is_id(value: Any) -> bool:
    """True for a legal message id."""
    return is_int(value) and 0 <= value <= MAX_ID


def shape(body: Any) -> str:
    """ "request", "response" or "notification" when `body` is well-formed as one, else "odd"."""
    if not isinstance(body, tuple) or not body or not is_int(body[0]):
        return "odd"
    if body[0] == 0 and len(body) == 4:
        return "request" if is_id(body[1]) and isinstance(body[2], str) and isinstance(body[3], tuple) else "odd"
    if body[0] == 1 and len(body) == 4:
        return "response"
    if body[0] == 2 and len(body) == 3:
        return "notification" if isinstance(body[1], str) and isinstance(body[2], tuple) else "odd"
    return "odd"


class Grammar:
    """One direction of one connection."""

    def frame(self, reader: Reader) -> Generator[None, None, Frame]:
        """One message."""
        body, wide = yield from read(reader)
        return Frame(body, wide)


def encode(frame: Any, style: int | None) -> bytes:
    """The octets of a message, `style` as in `specs.msgpack.format.styled`, or of a question to a codec."""
    if isinstance(frame, lines.Ask):
        return lines.encode(frame)
    return styled(frame.body, style) if style else encoded(frame.body)


def decoder(role: str, config: Any, session: dict[str, Any]) -> Decoder:
    """Reads what either side sends: both speak alike."""
    return Decoder(lines.Lines() if role in ("codec", "user", "idl") else Grammar())


def describe(frame: Any) -> str:
    """A message, or a line, for people."""
    if not isinstance(frame, Frame):
        return lines.describe(frame)
    body = frame.body
    wide = f"  (not in the smallest form: {', '.join(frame.wide)})" if frame.wide else ""
    match shape(body):
        case "request":
            text = f"request {body[1]} {_call(body[2], body[3])}"
        case "notification":
            text = f"notify {_call(body[1], body[2])}"
        case "response":
            error, result = values.describe(body[2]), values.describe(body[3])
            text = f"response {values.describe(body[1])} error={error} result={result}"
        case _:
            text = f"value {values.describe(body)}"
    return text + wide


def _call(method: str, params: tuple[Any, ...]) -> str:
    return f"{values.describe(method)}({', '.join(values.describe(part) for part in params)})"


def to_json(value: Any) -> Any:
    """A frame, a style or a Ref as JSON data."""
    if isinstance(value, Frame):
        return {"body": _refs(value.body), "wide": list(value.wide)}
    if isinstance(value, lines.Line):
        return {"line": value.octets.hex()}
    if isinstance(value, lines.Ask):
        told = value.value
        told = {"ref": told.name, "key": told.key} if isinstance(told, Ref) else {"json": told}
        return {"ask": value.number, "op": value.op, "octets": value.octets.hex(), "way": value.way,
                "type": value.type, "value": told, "want": value.want, "rule": value.rule}  # fmt: skip
    if isinstance(value, dict):  # what a client is told
        return {"told": {name: _refs(part) for name, part in value.items()}}
    return _refs(value)


def _refs(value: Any) -> Any:
    if isinstance(value, Ref):
        return {"ref": value.name, "key": value.key}
    if isinstance(value, tuple):
        return [_refs(part) for part in value]
    return values.to_json(value)


def from_json(data: Any) -> Any:
    """The inverse of `to_json`."""
    if isinstance(data, dict) and "ask" in data:
        told = data["value"]
        value = Ref(told["ref"], told["key"]) if "ref" in told else told["json"]
        octets = bytes.fromhex(data["octets"])
        return lines.Ask(data["ask"], data["op"], octets, data["way"], data["type"], value, data["want"], data["rule"])
    if isinstance(data, dict) and "told" in data:
        return {name: _refs_from(part) for name, part in data["told"].items()}
    if isinstance(data, dict) and "line" in data:
        return lines.Line(bytes.fromhex(data["line"]))
    if isinstance(data, dict) and "body" in data:
        return Frame(_refs_from(data["body"]), tuple(data.get("wide", ())))
    return _refs_from(data)


def _refs_from(data: Any) -> Any:
    if isinstance(data, dict) and "ref" in data:
        key = data["key"]
        return Ref(data["ref"], tuple(key) if isinstance(key, list) else key)
    if isinstance(data, list):
        return tuple(_refs_from(part) for part in data)
    return values.from_json(data)
