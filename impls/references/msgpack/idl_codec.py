"""The reference codec with documents: it reads and writes the messages that a document declares.

Source: 004_4ca5b084f7ea0751.txt, message; the form of questions is that of docs/implementations.md.
"""

from __future__ import annotations

import math
import struct
from functools import lru_cache
from typing import Any

from impls.references.msgpack.codec import Codec, Refusal
from impls.references.msgpack.idl import IdlSwitches
from impls.references.msgpack.idl_checker import Checker
from impls.references.msgpack.idl_parser import Kind, Parser
from impls.references.msgpack.idl_values import Misfit, Shapes
from impls.references.msgpack.idl_words import Word, Wrong
from impls.references.msgpack.octets import Pairs, Single


def _rounded(number: float) -> float:
    """What binary32 keeps of a number."""
    return float(struct.unpack(">f", struct.pack(">f", number))[0])


@lru_cache(maxsize=16)
def _checked(idl: str) -> Checker:
    """A document, read once for all the questions about it. Raises Wrong."""
    choices = IdlSwitches()
    checker = Checker(Parser(idl, choices).document(), choices)
    wrong = checker.run()
    if wrong:
        raise wrong[0]
    return checker


class IdlCodec(Codec):
    """A codec; questions with a document of more than one field are answered with `shapes_type`."""

    shapes_type = Shapes

    def asked(self, said: dict[str, Any]) -> dict[str, Any] | None:
        """As that of a plain codec, or with the types of a document."""
        idl = said.get("idl")
        if not idl or said.get("op") not in ("decode", "encode") or said.get("type") == "Wrapped":
            return super().asked(said)
        try:
            return self.typed(idl, said)
        except (Wrong, Misfit) as wrong:
            raise Refusal(str(wrong)) from None

    def typed(self, idl: str, said: dict[str, Any]) -> dict[str, Any]:
        """A question about a message. Raises Wrong, Misfit and Refusal."""
        checker = _checked(idl)
        kind = Kind(Word("name", str(said["type"]), 1, 1))
        shapes = self.shapes_type(checker.types, checker.real, "array-1", whole=self.switches.one_number)
        if said["op"] == "decode":
            value = self.decode(bytes.fromhex(said["hex"]), odd_keys="keep")  # the types say what a key is
            return {"value": self.shown(shapes.read(value, kind))}
        return {"hex": self.encode(shapes.write(shapes.untell(said["value"], kind), kind)).hex()}

    def shown(self, value: Any) -> Any:
        """A value as tagged JSON data; messages are objects."""
        if isinstance(value, dict):
            return {name: self.shown(part) for name, part in value.items()}
        if isinstance(value, Pairs):
            return {"$map": [[self.shown(key), self.shown(part)] for key, part in value]}
        if isinstance(value, Single) and self.switches.floats == "shortest" and math.isfinite(value):
            value = next(near for digits in range(1, 18) if _rounded(near := float(f"{value:.{digits}g}")) == value)
        return [self.shown(part) for part in value] if isinstance(value, list) else self.tell(value)
