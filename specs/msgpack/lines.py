"""What is said to a codec: one line for each question, and one for each answer.

Four ways are known (docs/implementations.md): "filter" (hex in, hex of what was decoded and encoded again out, or ERR),
and three with JSON objects: "plain" (no interface definition), "builtin" (a built-in type is named) and "typed" (the
value is the one field of a message). Source of the tagged JSON values: docs/implementations.md.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from specs.codec import Reader
from specs.msgpack import values
from specs.msgpack.values import Ext, Float, Map, Text
from specs.plan import Ref

MAX_LINE = 1 << 26
UNKNOWN_OP = "wireproof-no-such-op"
WAYS = ("filter", "plain", "builtin", "typed")
MESSAGE = "Wrapped"


@dataclass(frozen=True, slots=True)
class Ask:
    """A question. `octets` is the vector that it is about; `op` decode, encode, recode (a filter does both at once), or
    what no test program knows. An encode carries the `value` that decoding gave, as JSON data or a Ref to the answer.
    `want` and `rule` say what the answer must be: see `specs.msgpack.codec`. A parse carries the text of a document in
    `octets` and the profile in `type`; its `want` is "line" for a fault whose line is to be named, "free" when any
    answer is right: see `specs.msgpack.idl.acceptor`."""

    number: int
    op: str
    octets: bytes = b""
    way: str = ""
    type: str = ""
    value: Any = None
    want: str = "value"
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """An answer, without its line end."""

    octets: bytes


class Lines:
    """A stream of lines."""

    def frame(self, reader: Reader) -> Generator[None, None, Line]:
        """One line; CR LF ends it too."""
        data = yield from reader.until(10, MAX_LINE)
        return Line(data.rstrip(b"\r"))


def encode(ask: Ask) -> bytes:
    """The octets of a question."""
    if ask.op == "recode":
        return ask.octets.hex().encode() + b"\n"
    said: dict[str, Any] = {"id": ask.number, "op": ask.op}
    if ask.op == "parse":
        said |= {"profile": ask.type, "source": ask.octets.decode("utf-8", "replace")}
    if ask.way == "idl" and ask.op != "parse":
        said |= {"idl": ask.value["idl"], "type": ask.type}
        said |= {"hex": ask.octets.hex()} if ask.op == "decode" else {"value": ask.value["value"]}
        return json.dumps(said).encode() + b"\n"
    if ask.way in ("builtin", "typed"):
        said["idl"] = f"message {MESSAGE} {{ 1: {ask.type} x }}" if ask.way == "typed" else ""
        said["type"] = MESSAGE if ask.way == "typed" else ask.type
    if ask.op == "decode":
        said["hex"] = (b"\x91" * (ask.way == "typed") + ask.octets).hex()
    elif ask.op == "encode":
        said["value"] = ask.value
    return json.dumps(said).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a line says: `error` for a refusal, else `octets` or `value`; `bad` when it says nothing of the kind."""

    error: bool = False
    octets: bytes | None = None
    value: Any = None
    bad: str = ""


def answer(ask: Ask, line: Line) -> Answer:
    """What `line` answers to `ask`. Never raises."""
    if ask.op == "recode":
        try:
            return Answer(octets=bytes.fromhex(line.octets.decode("ascii")))
        except ValueError:
            return Answer(error=True)
    try:
        said = json.loads(line.octets)
    except (ValueError, RecursionError):
        return Answer(bad="no JSON object")
    if not isinstance(said, dict):
        return Answer(bad="no JSON object")
    if said.get("id") != ask.number:
        return Answer(bad=f"the id is {said.get('id')!r:.40}, asked was {ask.number}")
    if "ok" not in said:
        return Answer(error=True) if "error" in said else Answer(bad="neither ok nor error")
    found = said["ok"] if isinstance(said["ok"], dict) else {}
    if ask.op == "parse":
        tree, errors = isinstance(found.get("ast"), dict), bool(found.get("errors"))
        if errors and not found.get("ast"):
            return Answer(value=found, error=True)
        return Answer(value=found, bad="" if tree and not errors else "neither a tree nor errors, or both")
    if ask.op == "encode":
        try:
            octets = bytes.fromhex(found["hex"])
        except (KeyError, TypeError, ValueError):
            return Answer(bad="no hex in ok")
        if ask.way != "typed":
            return Answer(octets=octets)
        return Answer(octets=octets[1:]) if octets[:1] == b"\x91" else Answer(bad="the message is no array of one")
    if ask.op == "decode":
        if "value" not in found:
            return Answer(bad="no value in ok")
        value = found["value"]
        if ask.way == "typed":
            if not isinstance(value, dict) or "x" not in value:
                return Answer(bad="the message has no field x")
            value = value["x"]
        return Answer(value=value)
    return Answer(value=found)


# -- tagged values -----------------------------------------------------------------------------------------------------

_NUMBERS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf"), "-0": -0.0}


def type_of(value: Any) -> str:
    """A type of the interface language that holds `value`, "" when there is none."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "ulong" if value >= 1 << 63 else "long"
    if isinstance(value, Float):
        return "float" if len(value.octets) == 4 else "double"
    if isinstance(value, str):
        return "string"
    if isinstance(value, bytes):
        return "raw"
    if isinstance(value, tuple):
        inner = {type_of(part) for part in value} or {"long"}
        return f"list<{inner.pop()}>" if len(inner) == 1 and "" not in inner else ""
    if isinstance(value, Map):
        keys = {type_of(key) for key, _ in value.pairs} or {"string"}
        parts = {type_of(part) for _, part in value.pairs} or {"long"}
        return f"map<{keys.pop()},{parts.pop()}>" if keys == {"string"} and len(parts) == 1 and "" not in parts else ""
    return ""


def differs(value: Any, told: Any) -> str:
    """The short id of the requirement that is broken when `value` is told as the JSON data `told`; "" when it may be.

    An extension may be told in any way, but not as null.
    """
    if value is None or isinstance(value, bool):
        return "" if told is value else "01"
    if isinstance(value, int):
        return "" if _integer(told) == value else "04"
    if isinstance(value, Float):
        return "" if _float(value, told) else "05"
    if isinstance(value, str):
        return "" if told == value else "06" if isinstance(told, dict) else "01"
    if isinstance(value, bytes):
        return _raw(value, told)
    if isinstance(value, Text):
        return "07" if told is None else ""
    if isinstance(value, Ext):
        return ("09" if value.code == values.TIMESTAMP else "08") if told is None else ""
    if isinstance(value, tuple):
        if not isinstance(told, list) or len(told) != len(value):
            return "01"
        return next((found for one, other in zip(value, told, strict=True) if (found := differs(one, other))), "")
    return _map(value, told)


def _integer(told: Any) -> int | None:
    if isinstance(told, bool):
        return None
    if isinstance(told, float):
        return int(told) if told.is_integer() else None
    try:
        return int(told) if isinstance(told, (int, str)) else None
    except ValueError:
        return None


def _float(value: Float, told: Any) -> bool:
    if isinstance(told, dict):
        told = _NUMBERS.get(str(told.get("$f")).lower(), told.get("$f"))
    if isinstance(told, bool) or not isinstance(told, (int, float)):
        return False
    try:
        number = float(told)
    except OverflowError:
        return False
    if values.alike(values.double(value.number), values.double(number)):
        return True
    if len(value.octets) != 4:
        return False
    try:
        return values.alike(value, values.single(number))
    except OverflowError:
        return False


def _raw(value: bytes, told: Any) -> str:
    if not isinstance(told, dict) or "$raw" not in told:
        return "06" if isinstance(told, str) else "01"
    return "" if str(told["$raw"]).lower() == value.hex() else "01"


def _map(value: Map, told: Any) -> str:
    if isinstance(told, dict) and "$map" not in told:
        told = {"$map": [[name, part] for name, part in told.items()]}
    pairs = told.get("$map") if isinstance(told, dict) else None
    if not isinstance(pairs, list) or len(pairs) != len(value.pairs):
        return "01"
    left = [pair for pair in pairs if isinstance(pair, list) and len(pair) == 2]
    worst = ""
    for key, part in value.pairs:
        mine = [pair for pair in left if not differs(key, pair[0])]
        if not mine:
            return "01"
        worst = worst or differs(part, mine[0][1])
        left.remove(mine[0])
    return worst


def whole_as_integer(value: Any, told: Any) -> bool:
    """True when a float in `value` was told as an integer, so that whoever tells it cannot know any more."""
    if isinstance(value, Float):
        return type(told) is int or isinstance(told, str)
    if isinstance(value, tuple) and isinstance(told, list):
        return any(whole_as_integer(one, other) for one, other in zip(value, told, strict=False))
    if isinstance(value, Map):
        return any(isinstance(part, Float) for part in values.inside(value))
    return False


def describe(frame: Ask | Line) -> str:
    """A line for people."""
    if isinstance(frame, Line):
        return frame.octets[:400].decode("utf-8", "backslashreplace")
    if frame.op == "parse":
        return f"parse as {frame.type}: {frame.octets[:300].decode('utf-8', 'replace')}"
    shown = encode(frame)[:-1] if not isinstance(frame.value, Ref) else frame.op.encode()
    return shown[:400].decode("ascii", "backslashreplace")
