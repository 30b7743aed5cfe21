"""What a value of a declared type looks like on the wire, and what its octets mean.

Source: 004_4ca5b084f7ea0751.txt, message, default values; it does not say how messages are laid out. Two layouts are
judged: an array in which the element k holds the field k + 1 (`array-1`) or k (`array-0`). docs/ambiguities.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Any, NamedTuple

from specs.msgpack.idl.canon import integer
from specs.msgpack.idl.promises import Promise
from specs.msgpack.idl.semantics import INTEGERS, Reading
from specs.msgpack.idl.tree import Field, Literal, Message, Type
from specs.msgpack.values import Float, Map, Text, double, single

LAYOUTS = {"array-1": 1, "array-0": 0}
Struct = tuple[str, tuple[tuple[str, Any], ...]]
"""A message as a value: its name, and its fields by name."""


class Unfit(Exception):
    """A value that is none of the type. `rule` is broken by whoever takes it, None when that is left open.
    `form`: it is of another form than values of the type are, such as a text where a list is declared. `keyed`: it is a
    message that is written as a map, which is a layout of its own."""

    def __init__(self, rule: Promise | None, why: str, *, form: bool = False, keyed: bool = False) -> None:
        super().__init__(why)
        self.rule, self.form, self.keyed = rule, form, keyed


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
        """What an implementation may write: in some languages a float that is whole is an integer (ML-26), nil may
        stand for an optional field that has its default (ML-28), and a message of defaults alone may be left out
        (ML-11)."""
        return self._replace(loose=True)

    def decoded(self, value: Any, kind: Type) -> Any:
        """The value of a type that a MessagePack value stands for. Raises Unfit."""
        if value is None:
            if kind.null:
                return None
            raise Unfit(Promise.NIL, "nil for what is not nullable")
        if kind.name in INTEGERS:
            return _integer(value, kind.name)
        if kind.name in ("float", "double"):
            if self.loose and type(value) is int:
                value = double(float(value))
            if not isinstance(value, Float):
                raise Unfit(None, f"no {kind.name}")
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
        if isinstance(value, Map):
            raise Unfit(None, f"{kind.name} is a map, and messages are read as arrays", keyed=True)
        return self.message(_of(value, tuple, "message"), self.messages[kind.name].fields, kind.name)

    def message(self, elements: tuple[Any, ...], fields: tuple[Field, ...], name: str) -> Struct:
        """The fields of a message, or the arguments of a function. Raises Unfit."""
        found = []
        base = LAYOUTS[self.layout]
        for field in fields:
            at = field.id - base
            if at >= len(elements):
                if field.mod != "optional":
                    raise Unfit(Promise.MISSING, f"{field.name} is required, and not there")
                found.append((field.name, self.omitted(field)))
            elif elements[at] is None and not field.type.null and field.mod == "optional":
                if not self.loose:
                    raise Unfit(None, "nil for what may be left out")
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

    def differing(self, one: Any, other: Any, kind: Type) -> Field | None:
        """The first field of a message, however deep, in which two values of a type differ; None when there is none."""
        parts: Iterable[tuple[Any, Any, Type, Field | None]]
        if kind.name == "list" and len(one) == len(other):
            parts = ((mine, theirs, kind.of[0], None) for mine, theirs in zip(one, other, strict=True))
        elif kind.name in self.messages:
            fields = {field.name: field for field in self.messages[kind.name].fields}
            pairs = zip(one[1], other[1], strict=True)
            parts = ((mine[1], theirs[1], fields[mine[0]].type, fields[mine[0]]) for mine, theirs in pairs)
        elif kind.name == "map" and dict(one).keys() == dict(other).keys():
            parts = ((part, dict(other)[key], kind.of[1], None) for key, part in sorted(one, key=repr))
        else:
            return None
        for mine, theirs, inner, field in parts:
            if mine != theirs:
                deeper = self.differing(mine, theirs, inner) if mine is not None and theirs is not None else None
                return deeper or field
        return None

    def holds(self, kind: Type, names: frozenset[str], known: frozenset[str] = frozenset()) -> bool:
        """True when a type is one of `names`, or values of it may hold one."""
        if kind.name in names or any(self.holds(part, names, known) for part in kind.of):
            return True
        if kind.name not in self.messages or kind.name in known:
            return False
        known |= {kind.name}
        return any(self.holds(field.type, names, known) for field in self.messages[kind.name].fields)

    def gapped(self, kind: Type) -> bool:
        """True for a message some of whose elements belong to no field."""
        return kind.name in self.messages and self.size(fields := self.messages[kind.name].fields) > len(fields)

    def size(self, fields: tuple[Field, ...]) -> int:
        """Elements of a message with all its fields."""
        return max((field.id for field in fields), default=LAYOUTS[self.layout] - 1) - LAYOUTS[self.layout] + 1

    def omitted(self, field: Field) -> Any:
        """What an optional field is that was left out."""
        if field.default is not None:
            return _literal(field.default, field.type)
        return self.zero(field.type)

    def zero(self, kind: Type, around: frozenset[str] = frozenset()) -> Any:
        """The default of a type; `around` are the messages that it is a part of. Raises Unfit."""
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
        if not self.loose or kind.name in around:
            raise Unfit(None, "nobody says what a message is that was left out")
        around |= {kind.name}  # ML-11: whoever leaves one out that has nothing but defaults reads it so
        fields = self.messages[kind.name].fields
        return kind.name, tuple(
            (field.name, self.zero(field.type, around) if field.default is None else self.omitted(field))
            for field in fields
        )


def _literal(literal: Literal, kind: Type) -> Any:
    if kind.name in ("float", "double") and literal.value is not None:
        return floating(float(literal.value), kind.name)
    return literal.value


def _of(value: Any, wanted: type, name: str) -> Any:
    if isinstance(value, wanted):
        return value
    raise Unfit(None, f"no {name}", form=True)


def _integer(value: Any, name: str) -> int:
    if type(value) is not int:
        raise Unfit(None, f"no {name}", form=True)
    low, high = INTEGERS[name]
    if not low <= value <= high:
        raise Unfit(Promise.WIDTH, f"{value} is no {name}")
    return value


def types_of(reading: Reading, layout: str = "array-1", *, raw: bool = True) -> Types:
    """The messages and exceptions of a document."""
    return Types({each.name: each for each in reading.definitions if isinstance(each, Message)}, layout, raw)


def untold(told: Any, kind: Type, types: Types) -> Any:
    """The value of a type that tagged JSON data stand for."""
    if told is None:
        return None
    if isinstance(told, dict) and "$raw" in told:
        return bytes.fromhex(told["$raw"])
    if kind.name in ("float", "double"):
        number = float(told["$f"]) if isinstance(told, dict) else float(told)
        return floating(number, kind.name)
    if kind.name == "list":
        return tuple(untold(part, kind.of[0], types) for part in told)
    if kind.name == "map":
        pairs = told["$map"] if isinstance(told, dict) and "$map" in told else list(told.items())
        return frozenset((untold(key, kind.of[0], types), untold(part, kind.of[1], types)) for key, part in pairs)
    if kind.name in types.messages:
        fields = types.messages[kind.name].fields
        found = [(f.name, untold(told[f.name], f.type, types) if f.name in told else types.omitted(f)) for f in fields]
        return kind.name, tuple(found)
    return told if isinstance(told, (bool, bytes)) or kind.name in ("string", "raw") else integer(told)


class Way(Enum):
    """How something in a value was written, or what it leaves out."""

    __hash__ = object.__hash__

    LONGER = "elements stand behind the known ones"
    JUNK = "something stands in the place of no field"
    SHORT = "an optional field is left out"
    LITERAL = "an optional field with a literal is left out"
    NULLABLE = "an optional nullable field is left out"
    ZERO = "an optional field without a literal is left out that is not nullable"
    NULL = "null stands for what is nullable"
    MESSAGE = "a message is part of it"
    GAP = "a message with a gap between its fields is part of it"
    WIDE = "an integer is not in its smallest form"


def ways(types: Types, value: Any, kind: Type) -> Iterator[Way]:
    """How a value of a type was written; a value that is none of the type may answer with anything."""
    if value is None:
        if kind.null:
            yield Way.NULL
    elif kind.of:
        parts = (
            value if isinstance(value, tuple) else [part for _, part in value.pairs] if isinstance(value, Map) else ()
        )
        for part in parts:
            yield from ways(types, part, kind.of[-1])
    elif kind.name in types.messages and isinstance(value, tuple):
        yield Way.MESSAGE
        yield from _ways_of_a_message(types, value, types.messages[kind.name].fields)


def omission(field: Field) -> Way:
    """What sort of default a field has that is left out."""
    if field.default is not None:
        return Way.LITERAL
    return Way.NULLABLE if field.type.null else Way.ZERO


def _ways_of_a_message(types: Types, elements: tuple[Any, ...], fields: tuple[Field, ...]) -> Iterator[Way]:
    here = {field.id - LAYOUTS[types.layout]: field for field in fields}
    size = types.size(fields)
    if len(elements) > size:
        yield Way.LONGER
    if len(here) < size:
        yield Way.GAP
    for at, field in here.items():
        if at >= len(elements):
            yield Way.SHORT
            yield omission(field)
    for at, element in enumerate(elements[:size]):
        if at in here:
            yield from ways(types, element, here[at].type)
        elif element is not None:
            yield Way.JUNK
