"""The reference codec: decodes and encodes, told line by line what.

It knows both kinds of lines: hex, answered with the hex of what was decoded and encoded again, or ERR; and JSON objects
(docs/implementations.md), with or without an interface definition.
"""

from __future__ import annotations

import json
import math
import random
import re
from dataclasses import replace
from typing import Any, Self

from impls.references.msgpack.octets import Broken, Ext, Odd, Packer, Pairs, Unpacker
from impls.references.msgpack.server import stamp, unstamp
from impls.references.msgpack.switches import Switches, draw

EXACT = 1 << 53
TIMESTAMP = -1
DEEPEST = 256
"""Containers around a value at most: each is three in its JSON, and Python's own reader and writer bear 1,000."""


class Refusal(Exception):
    """What is not decoded or encoded; the text says why."""


class Decoding(Unpacker):
    """Reads a vector as the switches say."""

    def __init__(self, codec: Any) -> None:
        super().__init__(min(codec.switches.max_depth, DEEPEST))
        self.switches = codec.switches

    def number(self, value: float) -> Any:
        whole = self.switches.one_number and isinstance(value, float) and value.is_integer()
        return int(value) if whole and abs(value) < EXACT else value

    def text(self, data: bytes) -> Any:
        text = super().text(data)
        how = self.switches.bad_text
        if not isinstance(text, Odd) or how == "pass":
            return text
        if how == "bin":
            return data
        if how == "replace":
            return data.decode("utf-8", "replace")
        raise Refusal("a str that is not UTF-8")

    def ext(self, code: int, data: bytes) -> Any:
        if code != TIMESTAMP:
            if self.switches.unknown_ext != "opaque":
                raise Refusal(f"extension {code}")
            return Ext(code, data)
        moment = stamp(data)
        if moment is None:
            if self.switches.bad_timestamps != "opaque":
                raise Refusal("a malformed timestamp")
            return Ext(code, data)
        return Ext(code, data if self.switches.timestamps == "keep" else unstamp(*moment, self.switches.timestamps))

    def pairs(self, items: list[Any]) -> Any:
        found: Pairs = super().pairs(items)
        names = [repr(key) for key, _ in found]
        if len(set(names)) < len(names) and self.switches.repeated_keys == "error":
            raise Refusal("a key that is repeated")
        if self.switches.odd_keys != "keep" and any(not isinstance(key, str) for key, _ in found):
            raise Refusal("a key that is no str")
        return found


class Codec:
    """A program that answers lines. Keywords are the fields of `Switches`."""

    decoding_type = Decoding
    packer_type = Packer
    filters = True
    speaks_json = True

    def __init__(self, *, seed: int = 0, **switches: Any) -> None:
        self.switches = Switches(**switches)
        self.chance = random.Random(seed)
        pick = (lambda heads: heads[0]) if self.switches.recommended else self.chance.choice
        self.packer = self.packer_type(pick, old=self.switches.old_raw, floats=self.switches.floats)

    @classmethod
    def random(cls, seed: int, **fixed: Any) -> Self:
        """A codec with every switch drawn by `seed`, but for those in `fixed`."""
        return cls(seed=seed, **{**draw(seed), **fixed})

    # As an implementation in memory

    def open(self) -> Talk:
        """One conversation."""
        return Talk(self)

    def advance(self, ms: float) -> None:
        """Nothing happens by itself."""

    # Lines

    def line(self, line: bytes) -> bytes:
        """The answer to one line."""
        if line.lstrip()[:1] == b"{" and self.speaks_json:
            return json.dumps(self.told(line), ensure_ascii=self.switches.order == "first").encode()
        if not self.filters:
            return b'{"error": "no JSON object"}'
        try:
            octets = bytes.fromhex(line.decode("ascii").strip())
            return self.encode(self.decode(octets)).hex().encode()
        except (ValueError, Refusal, Broken) as wrong:
            return f"ERR {wrong}".encode()

    def told(self, line: bytes) -> dict[str, Any]:
        """The answer to one JSON object."""
        said = json.loads(line)
        answer = {"id": said.get("id")}
        try:
            found = self.asked(said)
        except (ValueError, KeyError, TypeError, Refusal, Broken) as wrong:
            return answer | {"error": f"{wrong}"}
        return answer | ({"error": "unsupported"} if found is None else {"ok": found})

    def asked(self, said: dict[str, Any]) -> dict[str, Any] | None:
        """What is answered to an op, None to one that is not known. Raises Refusal and what wrong requests lead to."""
        field = self.field(said["idl"]) if said.get("idl") else ""
        if said.get("op") == "decode":
            value = self.decode(bytes.fromhex(said["hex"]))
            return {"value": {field: self.tell(*value)} if field else self.tell(value)}
        if said.get("op") == "encode":
            value = self.untell(said["value"][field] if field else said["value"])
            return {"hex": self.encode([value] if field else value).hex()}
        return None

    def field(self, idl: str) -> str:
        """The name of the one field of the one message that is declared."""
        found = re.fullmatch(r"message \w+ \{ 1: \S+ (\w+) \}", idl)
        if not found:
            raise Refusal("this codec knows messages of one field only")
        return found[1]

    def decode(self, octets: bytes, **switches: Any) -> Any:
        """The one value that the octets are, under other switches if there are any. Raises Refusal or Broken."""
        reader = self.decoding_type(self)
        reader.switches = replace(self.switches, **switches)
        reader.feed(octets)
        values = list(reader.values())
        if reader.midway or not values:
            raise Refusal("truncated")
        if len(values) > 1:
            raise Refusal("more than one value")
        return values[0]

    def encode(self, value: Any) -> bytes:
        """The octets of a value."""
        return self.packer.pack(value)

    # Tagged values

    def tell(self, value: Any) -> Any:
        """A value as tagged JSON data."""
        if isinstance(value, float):
            if math.isnan(value) or math.isinf(value) or (value == 0 and math.copysign(1, value) < 0):
                return {"$f": "nan" if math.isnan(value) else "-0" if value == 0 else "inf" if value > 0 else "-inf"}
            return float(value)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= EXACT:
            return str(value)
        if isinstance(value, bytes):
            return {"$raw": value.hex()}
        if isinstance(value, Ext):
            return {"$ext": [value.code, value.data.hex()]}
        if isinstance(value, Odd):
            return {"$str": value.data.hex()}
        if isinstance(value, Pairs):
            return {"$map": [[self.tell(key), self.tell(part)] for key, part in value]}
        return [self.tell(part) for part in value] if isinstance(value, list) else value

    def untell(self, told: Any) -> Any:
        """The value that tagged JSON data stand for. A text of digits stands for itself unless it is beyond 2^53."""
        if isinstance(told, list):
            return [self.untell(part) for part in told]
        if isinstance(told, str) and re.fullmatch(r"-?[1-9][0-9]{15,19}", told) and abs(int(told)) >= EXACT:
            return int(told)
        if not isinstance(told, dict):
            return told
        if "$raw" in told:
            return bytes.fromhex(told["$raw"])
        if "$f" in told:
            return float(told["$f"])
        if "$ext" in told:
            return Ext(told["$ext"][0], bytes.fromhex(told["$ext"][1]))
        if "$str" in told:
            return Odd(bytes.fromhex(told["$str"]))
        return Pairs((self.untell(key), self.untell(part)) for key, part in told["$map"])


class Talk:
    """A conversation in memory."""

    def __init__(self, codec: Any) -> None:
        self.codec = codec
        self.closed = False
        self._in = bytearray()
        self._out = bytearray()

    def send(self, data: bytes) -> None:
        """Take octets; whole lines are answered."""
        self._in += data
        *lines, rest = self._in.split(b"\n")
        self._in = bytearray(rest)
        for line in lines:
            self._out += self.codec.line(bytes(line)) + b"\n"

    def take(self) -> bytes:
        """What there is to say."""
        data = bytes(self._out)
        self._out.clear()
        return data

    def hang_up(self) -> None:
        """The conversation is over."""
        self.closed = True
