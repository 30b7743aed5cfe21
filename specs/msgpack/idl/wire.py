"""What a value of a declared type looks like on the wire, and what its octets mean.

Source: 004_4ca5b084f7ea0751.txt, message, default values; it does not say how messages are laid out. Two layouts are
judged: an array in which the element k holds the field k + 1 (`array-1`) or k (`array-0`). docs/ambiguities.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from specs.msgpack.idl.semantics import INTEGERS, Reading
from specs.msgpack.idl.tree import Field, Literal, Message, Type
from specs.msgpack.values import Float, Map, Text, double, single

LAYOUTS = {"array-1": 1, "array-0": 0}
Struct = tuple[str, tuple[tuple[str, Any], ...]]
"""A message as a value: its name, and its fields by name."""


class Unfit(Exception):
    """A value that is none of the type. `rule` is broken by whoever takes it, "" when that is left open."""

    def __init__(self, rule: str, why: str) -> None:
        super().__init__(why)
        self.rule = rule


def floating(number: float, kind: str) -> tuple[str, bytes]:
    """A float as a value of the type `kind`: of a `float` only what binary32 keeps of it counts, since it may be told
    with no more digits than that needs."""
    try:
        return "float", (single(number) if kind == "float" else double(number)).octets
    except OverflowError:
        return "float", double(number).octets


class Types(NamedTuple):
    """The messages of a document, and how they are laid out. `raw` says whether a raw is certainly written as bin;
    `loose`: they are read as an implementation may write them."""

    messages: Mapping[str, Message]
    layout: str = "array-1"
    raw: bool = True
    loose: bool = False

    def written(self) -> Types:
        """What an implementation may write: in some languages a float that is whole is an integer (ML-26), and nil may
        stand for an optional field that has its default (ML-28)."""
        return self._replace(loose=True)

    def decoded(self, value: Any, kind: Type) -> Any:
        """The value of a type that a MessagePack value stands for. Raises Unfit."""
        if value is None:
            if kind.null:
                return None
            raise Unfit("ENC-04", "nil for what is not nullable")
        if kind.name in INTEGERS:
            return _integer(value, kind.name)
        if kind.name in ("float", "double"):
            if self.loose and type(value) is int:
                value = double(float(value))
            if not isinstance(value, Float):
                raise Unfit("", f"no {kind.name}")
            return floating(value.number, kind.name)
        if kind.name == "bool":
            return _of(value, bool, "bool")
        if kind.name == "string":
            return _of(value, str, "string")
        if kind.name == "raw":
            if isinstance(value, (str, Text)):  # before 2013 a raw was what is a str now, and it may be any octets
                value = value.octets if isinstance(value, Text) else value.encode()
            return _of(value, bytes, "raw")
        if kind.name == "list":
            return tuple(self.decoded(part, kind.of[0]) for part in _of(value, tuple, "list"))
        if kind.name == "map":
            pairs = _of(value, Map, "map").pairs
            return frozenset((self.decoded(key, kind.of[0]), self.decoded(part, kind.of[1])) for key, part in pairs)
        return self.message(_of(value, tuple, "message"), self.messages[kind.name].fields, kind.name)

    def message(self, elements: tuple[Any, ...], fields: tuple[Field, ...], name: str) -> Struct:
        """The fields of a message, or the arguments of a function. Raises Unfit."""
        found = []
        base = LAYOUTS[self.layout]
        for field in fields:
            at = field.id - base
            if at >= len(elements):
                if field.mod != "optional":
                    raise Unfit("ENC-03", f"{field.name} is required, and not there")
                found.append((field.name, self.omitted(field)))
            elif elements[at] is None and not field.type.null and field.mod == "optional":
                if not self.loose:
                    raise Unfit("", "nil for what may be left out")
                found.append((field.name, self.omitted(field)))
            else:
                found.append((field.name, self.decoded(elements[at], field.type)))
        return name, tuple(found)

    def filled(self, value: Any, kind: Type) -> bool:
        """True when some message in a value has something in a gap: where an element belongs to no field."""
        if kind.name == "list" and isinstance(value, tuple):
            return any(self.filled(part, kind.of[0]) for part in value)
        if kind.name == "map" and isinstance(value, Map):
            return any(self.filled(part, kind.of[1]) for _, part in value.pairs)
        if kind.name not in self.messages or not isinstance(value, tuple):
            return False
        fields = self.messages[kind.name].fields
        here = {field.id - LAYOUTS[self.layout]: field.type for field in fields}
        last = self.size(fields)
        return any(
            self.filled(part, here[at]) if at in here else part is not None and at < last
            for at, part in enumerate(value)
        )

    def size(self, fields: tuple[Field, ...]) -> int:
        """Elements of a message with all its fields."""
        return max((field.id for field in fields), default=LAYOUTS[self.layout] - 1) - LAYOUTS[self.layout] + 1

    def omitted(self, field: Field) -> Any:
        """What an optional field is that was left out."""
        if field.default is not None:
            return _literal(field.default, field.type)
        return self.zero(field.type)

    def zero(self, kind: Type) -> Any:
        """The default of a type."""
        if kind.null:
            return None
        if kind.name in INTEGERS:
            return 0
        simple: dict[str, Any] = {
            "float": floating(0.0, "float"), "double": floating(0.0, "double"), "bool": False,
            "string": "", "raw": b"", "list": (), "map": frozenset(),
        }  # fmt: skip
        if kind.name in simple:
            return simple[kind.name]
        raise Unfit("", "nobody says what a message is that was left out")


def _literal(literal: Literal, kind: Type) -> Any:
    if kind.name in ("float", "double") and literal.value is not None:
        return floating(float(literal.value), kind.name)
    return literal.value


def _of(value: Any, wanted: type, name: str) -> Any:
    if isinstance(value, wanted):
        return value
    raise Unfit("", f"no {name}")


def _integer(value: Any, name: str) -> int:
    if type(value) is not int:
        raise Unfit("", f"no {name}")
    low, high = INTEGERS[name]
    if not low <= value <= high:
        raise Unfit("ENC-07", f"{value} is no {name}")
    return value


def types_of(reading: Reading, layout: str = "array-1", *, raw: bool = True) -> Types:
    """The messages and exceptions of a document."""
    return Types({each.name: each for each in reading.definitions if isinstance(each, Message)}, layout, raw)
