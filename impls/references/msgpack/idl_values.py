"""Values of declared types, as the reference reads and writes them. Source: 004_4ca5b084f7ea0751.txt, message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from impls.references.msgpack.idl_checker import RANGES
from impls.references.msgpack.idl_parser import Kind, Member, Part
from impls.references.msgpack.octets import Odd, Pairs, Single

ZERO: Mapping[str, Any] = {
    "float": 0.0,
    "double": 0.0,
    "bool": False,
    "string": "",
    "raw": b"",
    "list": [],
    "map": Pairs(),
}
FIRST = {"array-1": 1, "array-0": 0}
EXACT = 1 << 53
"""Below it a float that is whole is certainly an integer."""


class Misfit(Exception):
    """A value that is none of its type."""


class Shapes:
    """Reads and writes values. `real` expands aliases; `layout` is array-1 or array-0; `drop`: optional fields that
    have their default are nil, and not written at the end; `loose`: an integer may stand for a float when it is read,
    `whole`: it does when it is written."""

    def __init__(
        self, parts: Mapping[str, Part], real: Any, layout: str, *, drop: bool = False, loose: bool = True,
        whole: bool = False,
    ) -> None:  # fmt: skip
        self.parts, self.real, self.layout, self.drop, self.loose = parts, real, layout, drop, loose
        self.whole = whole

    # Reading

    def read(self, value: Any, kind: Kind) -> Any:
        """A value as user code has it: messages are dicts. Raises Misfit."""
        kind = self.real(kind)
        name = kind.name
        if value is None:
            return self.nothing(kind)
        if name in RANGES:
            return self.integer(value, name)
        if name in ("float", "double"):
            if (
                isinstance(value, bool)
                or not isinstance(value, (float, int))
                or (type(value) is int and not self.loose)
            ):
                raise Misfit(f"no {name}")
            return Single(value) if name == "float" else float(value)
        if name in ("bool", "string"):
            if type(value) is not (bool if name == "bool" else str):
                raise Misfit(f"no {name}")
            return value
        if name == "raw":
            if isinstance(value, Odd):
                return value.data
            if not isinstance(value, (bytes, str)):
                raise Misfit("no raw")
            return value.encode() if isinstance(value, str) else value
        if name == "list":
            return [self.read(part, kind.args[0]) for part in self.array(value)]
        if name == "map":
            if not isinstance(value, Pairs):
                raise Misfit("no map")
            return Pairs((self.read(key, kind.args[0]), self.read(part, kind.args[1])) for key, part in value)
        return self.members(self.array(value), self.parts[name].members)

    def nothing(self, kind: Kind) -> Any:
        """nil was read."""
        if not kind.nullable:
            raise Misfit("nil")
        return None

    def array(self, value: Any) -> list[Any]:
        if not isinstance(value, list) or isinstance(value, Pairs):
            raise Misfit("no array")
        return value

    def integer(self, value: Any, name: str) -> int:
        low, high = RANGES[name]
        if type(value) is not int or not low <= value <= high:
            raise Misfit(f"no {name}")
        return value

    def members(self, elements: Sequence[Any], members: Sequence[Member]) -> dict[str, Any]:
        """The fields of a message or the arguments of a function, by name."""
        return {member.word.text: self.member(elements, member) for member in members}

    def member(self, elements: Sequence[Any], member: Member) -> Any:
        """One field."""
        at = self.place(member)
        optional, nullable = member.mod == "optional", self.real(member.kind).nullable
        if at >= len(elements):
            if not optional:
                raise Misfit(f"{member.word.text} is missing")
            return self.default(member)
        if elements[at] is None and optional and not nullable:
            return self.default(member)
        return self.read(elements[at], member.kind)

    def place(self, member: Member) -> int:
        """Where a field stands in the array."""
        return member.number - FIRST[self.layout]

    def default(self, member: Member) -> Any:
        """What a field is that was left out."""
        if member.value is not None:
            return member.value[1]
        return self.zero(self.real(member.kind))

    def zero(self, kind: Kind) -> Any:
        """The default of a type."""
        if kind.nullable:
            return None
        if kind.name in RANGES:
            return 0
        if kind.name in ZERO:
            return ZERO[kind.name]
        return {member.word.text: self.zero(self.real(member.kind)) for member in self.parts[kind.name].members}

    # Writing

    def write(self, value: Any, kind: Kind) -> Any:
        """A value of user code as it goes over the wire."""
        kind = self.real(kind)
        if value is None or kind.name in ("void", "bool", "string", "raw") or kind.name in RANGES:
            return value
        if kind.name in ("float", "double"):
            number = Single(value) if kind.name == "float" else float(value)
            return int(number) if self.whole and abs(number) < EXACT and number.is_integer() else number
        if kind.name == "list":
            return [self.write(part, kind.args[0]) for part in value]
        if kind.name == "map":
            return Pairs((self.write(key, kind.args[0]), self.write(part, kind.args[1])) for key, part in value)
        members = self.parts[kind.name].members
        size = max((self.place(member) + 1 for member in members), default=0)
        out: list[Any] = [None] * size
        for member in members:
            if member.word.text in value and not (self.drop and self.is_default(value[member.word.text], member)):
                out[self.place(member)] = self.write(value[member.word.text], member.kind)
        last = {self.place(member) for member in members if member.mod == "optional" and not self.is_told(member)}
        while self.drop and out and out[-1] is None and len(out) - 1 in last:
            out.pop()
        return out

    def is_default(self, value: Any, member: Member) -> bool:
        """True for an optional field that says nothing."""
        known = self.real(member.kind).name not in self.parts
        dropped = member.mod == "optional" and not self.is_told(member)
        return known and dropped and bool(value == self.default(member))

    def is_told(self, member: Member) -> bool:
        """True for a field that is always written: nil in its place is null, and what it has without is another."""
        return member.value is not None and self.real(member.kind).nullable

    # Tagged values

    def untell(self, told: Any, kind: Kind) -> Any:
        """The value of user code that tagged JSON data stand for."""
        kind = self.real(kind)
        if told is None or isinstance(told, bool):
            return told
        if isinstance(told, dict) and "$raw" in told:
            return bytes.fromhex(told["$raw"])
        if kind.name in ("float", "double"):
            return float(told["$f"] if isinstance(told, dict) else told)
        if kind.name in RANGES:
            return int(told)
        if kind.name == "list":
            return [self.untell(part, kind.args[0]) for part in told]
        if kind.name == "map":
            pairs = told.get("$map", told.items()) if isinstance(told, dict) else told
            return Pairs((self.untell(key, kind.args[0]), self.untell(part, kind.args[1])) for key, part in pairs)
        if kind.name in self.parts:
            members = self.parts[kind.name].members
            return {m.word.text: self.untell(told[m.word.text], m.kind) if m.word.text in told else self.default(m)
                    for m in members}  # fmt: skip
        return told
