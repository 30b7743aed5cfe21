"""What is said to a codec: one line for each question, and one for each answer.

Four ways are known (docs/implementations.md): "filter" (hex in, hex of what was decoded and encoded again out, or ERR),
and three with JSON objects: "plain" (no interface definition), "builtin" (a built-in type is named) and "typed" (the
value is the one field of a message). Source of the tagged JSON values: docs/implementations.md.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

from specs.codec import Reader
from specs.msgpack.values import Float, Map
from specs.plan import Ref

MAX_LINE = 1 << 26
UNKNOWN_OP = "wireproof-no-such-op"
MESSAGE = "Wrapped"
DEPTH = "11"
"""The rule of what is deep, or lies about its size (FMT-11)."""


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
    except ValueError:
        return Answer(bad="no JSON object")
    except RecursionError:  # our own reader does not follow so deep; a question that is deep itself may have it
        deep = ask.want == "free" and (ask.op == "parse" or ask.rule == DEPTH)
        return Answer() if deep else Answer(bad="JSON of great depth")
    if not isinstance(said, dict):
        return Answer(bad="no JSON object")
    if said.get("id") != ask.number:
        return Answer(bad=f"the id is {said.get('id')!r:.40}, asked was {ask.number}")
    if "ok" not in said:
        return Answer(error=True) if "error" in said else Answer(bad="neither ok nor error")
    found = said["ok"] if isinstance(said["ok"], dict) else {}
    reads = {"parse": _parsed, "encode": _encoded, "decode": _decoded}.get(ask.op)
    return Answer(value=found) if reads is None else reads(found, ask.way == "typed")


def _parsed(found: Mapping[str, Any], typed: bool) -> Answer:
    tree, errors = isinstance(found.get("ast"), dict), bool(found.get("errors"))
    if errors and not found.get("ast"):
        return Answer(value=found, error=True)
    return Answer(value=found, bad="" if tree and not errors else "neither a tree nor errors, or both")


def _encoded(found: Mapping[str, Any], typed: bool) -> Answer:
    try:
        octets = bytes.fromhex(found["hex"])
    except (KeyError, TypeError, ValueError):
        return Answer(bad="no hex in ok")
    if not typed:
        return Answer(octets=octets)
    return Answer(octets=octets[1:]) if octets[:1] == b"\x91" else Answer(bad="the message is no array of one")


def _decoded(found: Mapping[str, Any], typed: bool) -> Answer:
    if "value" not in found:
        return Answer(bad="no value in ok")
    value = found["value"]
    if not typed:
        return Answer(value=value)
    whole = isinstance(value, dict) and "x" in value
    return Answer(value=value["x"]) if whole else Answer(bad="the message has no field x")


# -- tagged values -----------------------------------------------------------------------------------------------------


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


def describe(frame: Ask | Line) -> str:
    """A line for people."""
    if isinstance(frame, Line):
        return frame.octets[:400].decode("utf-8", "backslashreplace")
    if frame.op == "parse":
        return f"parse as {frame.type}: {frame.octets[:300].decode('utf-8', 'replace')}"
    shown = encode(frame)[:-1] if not isinstance(frame.value, Ref) else frame.op.encode()
    return shown[:400].decode("ascii", "backslashreplace")
