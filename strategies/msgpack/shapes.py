"""Messages as a document declares them, and values of their types: complete, and wrong in one place.

Source: 004_4ca5b084f7ea0751.txt, message, default values. Zero is always the simplest choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from specs.msgpack import values as v
from specs.msgpack.format import encoded
from specs.msgpack.idl.semantics import INTEGERS
from strategies.msgpack.documents import Dice


class Kind(NamedTuple):
    """A type: a built-in one, a container of others, or a message; `alias` is what a document calls it by."""

    name: str
    of: tuple[Kind, ...] = ()
    null: bool = False
    alias: str = ""

    def __str__(self) -> str:
        inside = f"<{', '.join(map(str, self.of))}>" if self.of else ""
        return f"{self.alias or self.name + inside}{'?' * self.null}"


class Member(NamedTuple):
    """A field. `mod` is "" when none is written, `default` a literal."""

    number: int
    mod: str
    kind: Kind
    default: str = ""

    @property
    def name(self) -> str:
        """What it is called."""
        return f"f{self.number}"

    def __str__(self) -> str:
        return f"{self.number}: {self.mod} {self.kind} {self.name}{' = ' * bool(self.default)}{self.default}"


def _list(kind: Kind) -> Kind:
    return Kind("list", (kind,))


def _map(key: str, kind: Kind) -> Kind:
    return Kind("map", (Kind(key), kind))


INT, STRING, INNER = Kind("int"), Kind("string"), Kind("N")
WIDE, WIDE_UNSIGNED = Kind("long"), Kind("ulong")
PLAIN: Sequence[Kind] = (
    *(Kind(name) for name in ("int", "string", "int", "bool", *INTEGERS, "double", "float", "raw")),
    _list(INT), _map("string", INT), _map("int", STRING), _list(STRING), _list(_list(INT)), _map("ulong", _list(INT)),
    _map("short", INT), _map("raw", INT), _list(WIDE), _list(WIDE_UNSIGNED), _map("string", WIDE),
)  # fmt: skip
NUMBERS: Sequence[Kind] = tuple(Kind(name) for name in INTEGERS)
NULLABLE: Sequence[Kind] = (_list(Kind("string", null=True)), _map("string", Kind("int", null=True)))
"""Nullable type arguments: a processor may refuse them."""
NESTED: Sequence[Kind] = (INNER, _list(INNER), INNER, _list(INNER), _map("string", INNER)) * 2
MANY = 17
SIZES = (0, 1, 2, 3, 1, 2, MANY)
"""How much a container holds. Where it is MANY, it is one of the next."""
NEAR_MANY = (MANY, 16, 15, 31, 32)
LONG = 300
MOST = 40_000
"""Octets of a value, where a message may not have many more."""
LENGTHS = (LONG, 256, 255, 65_536, 65_535, 32, 31, 257)
"""How long a text or a raw is where another format begins; more than one octet for a character is in others."""
SIMPLE: Mapping[str, Sequence[Any]] = {
    "bool": (True, False), "raw": (b"r", b"", b"\xff\0", b"\xfe" * LONG),
    "string": ("s", "", "é", "日本" * 12, "x" * 9000, "é" * 16, "x" * LONG),
}  # fmt: skip
EDGES: Sequence[int] = tuple(
    sign * (1 << bits) + step for bits in (5, 7, 8, 15, 16, 31, 32, 53, 63) for sign in (1, -1) for step in (-1, 0, 1)
)
"""Integers at which another format begins, or a number of another language ends."""
Change = Callable[[Kind], Any]
"""What is put in the place of a value of some type."""


def _size(dice: Dice) -> int:
    """How much a container holds."""
    size: int = dice.pick(SIZES)
    return int(dice.pick(NEAR_MANY)) if size == MANY else size


class Shapes:
    """Two messages, M and N, of which M may hold N. `base`: the id of the first element of the array that a message is.
    `defaults`: fields may have one; `nullable`: type arguments may be nullable; `aliases`: types may go by one;
    `literals`: what is nullable may have a default other than null; `small`: no text is so long that a message grows
    beyond what every peer takes."""

    def __init__(
        self, dice: Dice, *, base: int, defaults: bool, nullable: bool, aliases: bool, small: bool = False,
        literals: bool = False,
    ) -> None:  # fmt: skip
        self.base, self.defaults, self.aliases, self.small = base, defaults, aliases, small
        self.literals = literals
        self._tiny = False
        self.typedefs: list[str] = []
        kinds = NUMBERS if dice.roll(6) == 5 else (*PLAIN, *(NULLABLE if nullable else ()))
        self.messages: dict[str, list[Member]] = {"N": self._members(dice, kinds, 1 + dice.roll(3))}
        self.messages["M"] = self._members(dice, (*kinds, *NESTED), dice.pick((0, 1, 2, 3, 4, 6, 8)))
        self.orders = {name: dice.shuffled(members) for name, members in self.messages.items()}

    def _members(self, dice: Dice, kinds: Sequence[Kind], count: int) -> list[Member]:
        found: list[Member] = []
        mods = ("optional",) if dice.roll(3) == 2 else ("", "optional", "required", "optional")
        for _ in range(count):
            number = (found[-1].number if found else 0) + dice.pick((1, 1, 1, 2, 4))
            mod = dice.pick(mods)
            kind = self._called(dice.pick(kinds)._replace(null=dice.roll(3) == 2), dice)
            default = ""
            fits = not kind.null or (self.literals and dice.roll(2))
            if self.defaults and mod == "optional" and fits and dice.roll(4):
                named = {"string": '"d"', "bool": "true", "double": "1.5", "float": "0.5"}
                low, high = INTEGERS.get(kind.name, (0, 0))
                default = named.get(kind.name, str(dice.pick((7, high, 1, low or 100))) if high else "")
            found.append(Member(number, mod, kind, default))
        return found

    def _called(self, kind: Kind, dice: Dice) -> Kind:
        """A type with aliases for some of its parts, but for keys; messages are declared behind all aliases."""
        if kind.of:
            kind = kind._replace(of=(*kind.of[:-1], self._called(kind.of[-1], dice)))
        if not self.aliases or dice.roll(5) != 4 or "N" in (kind.name, *(part.name for part in kind.of)):
            return kind
        alias = f"T{len(self.typedefs)}"
        self.typedefs.append(f"typedef {kind._replace(null=False)} {alias}\n")
        return kind._replace(alias=alias)

    @property
    def fields(self) -> list[Member]:
        """Those of M, by id."""
        return self.messages["M"]

    def idl(self) -> str:
        """Both declarations, their fields in any order."""
        return "".join(self.typedefs) + "".join(
            f"message {name} {{\n" + "".join(f"  {member}\n" for member in self.orders[name]) + "}\n"
            for name in ("N", "M")
        )

    # -- values --------------------------------------------------------------------------------------------------------

    def value(self, kind: Kind, dice: Dice, *, inside: bool = False) -> Any:
        """A value of a type. `inside` another one, of which there may be many, LENGTHS make none longer than LONG."""
        found = self._value(kind, dice, inside=inside)
        if inside or not self._is_large(found):
            return found
        self._tiny = True
        found = self._value(kind, dice)
        self._tiny = False
        return found

    def _is_large(self, value: Any) -> bool:
        return self.small and not self._tiny and len(encoded(value)) > MOST

    def _value(self, kind: Kind, dice: Dice, *, inside: bool = False) -> Any:
        if kind.null and dice.roll(3) == 2:
            return None
        if kind.name in INTEGERS:
            low, high = INTEGERS[kind.name]
            found = dice.pick((1, low, high, 0, 5, high // 2, -1 if low else 128, 100, high - 1, None, None))
            return dice.pick([edge for edge in EDGES if low <= edge <= high]) if found is None else found
        if kind.name in ("float", "double"):
            number = dice.pick((1.5, -0.25, 0.0, 0.1, 1e300 if kind.name == "double" else 2.0, float("inf"), 1e10))
            return v.double(number) if kind.name == "double" else v.single(number)
        if kind.name == "list":
            return tuple(self.value(kind.of[0], dice, inside=True) for _ in range(1 if self._tiny else _size(dice)))
        if kind.name == "map":
            size = 1 if self._tiny else _size(dice)
            keys = dice.shuffled(_keys(kind.of[0].name))
            keys += [str(n).encode() if kind.of[0].name == "raw" else type(keys[0])(n) for n in range(100, 100 + size)]
            return v.Map(tuple((key, self.value(kind.of[1], dice, inside=True)) for key in keys[:size]))
        if kind.name in self.messages:
            return tuple(self.message(dice, kind.name, inside=True))
        found = SIMPLE[kind.name][0] if self._tiny else dice.pick(SIMPLE[kind.name])
        if kind.name == "bool" or len(found) != LONG:
            return found
        length = dice.pick(LENGTHS)
        return found[:1] * (min(length, LONG) if inside or self.small else length)

    def message(self, dice: Dice, name: str = "M", *, inside: bool = False) -> list[Any]:
        """A message as it is laid out, complete; `inside` is as for its values."""
        out = self._message(dice, name, inside=inside)
        if inside or not self._is_large(tuple(out)):
            return out
        self._tiny = True
        out = self._message(dice, name, inside=True)
        self._tiny = False
        return out

    def _message(self, dice: Dice, name: str, *, inside: bool) -> list[Any]:
        members = self.messages[name]
        out: list[Any] = [None] * max((each.number - self.base + 1 for each in members), default=0)
        for each in members:
            out[each.number - self.base] = self.value(each.kind, dice, inside=inside)
        return out

    def cut(self, out: list[Any], dice: Dice, name: str = "M") -> list[Any]:
        """A message without some of the elements at its end that may be missing, at times in what it holds as well."""
        members = self.messages[name]
        must = max((each.number - self.base + 1 for each in members if each.mod != "optional"), default=0)
        return self._within(out, name, dice, self.cut)[: must + dice.roll(len(out) - must + 1)]

    def shortened(self, out: list[Any], dice: Dice, name: str = "M") -> list[Any]:
        """A message in which something required is missing at its end, or at the end of one that it holds."""
        found = self._within(out, name, dice, self.shortened)
        if found != list(out):
            return found
        must = max((each.number - self.base + 1 for each in self.messages[name] if each.mod != "optional"), default=0)
        return out[: max(must - 1, 0)]

    def filled(self, out: list[Any], dice: Dice, name: str = "M") -> list[Any]:
        """A message with something in its gaps, at times in those of what it holds as well."""
        known = {each.number - self.base for each in self.messages[name]}
        found = self._within(out, name, dice, self.filled)
        return [each if at in known else dice.pick((5, "junk", (1,))) for at, each in enumerate(found)]

    def longer(self, out: list[Any], dice: Dice, name: str = "M") -> list[Any]:
        """A message with elements that nobody knows behind it, at times in what it holds as well."""
        more = [dice.pick((1, "more", (1, (2,)), v.Map((("k", 1),)), None)) for _ in range(1 + dice.roll(3))]
        return self._within(out, name, dice, self.longer) + more

    def _within(self, out: list[Any], name: str, dice: Dice, change: Callable[..., list[Any]]) -> list[Any]:
        """A message in which those that it holds themselves may be changed, also in lists and maps."""
        found = list(out)
        for each in self.messages[name]:
            at = each.number - self.base
            if at < len(found):
                found[at] = self._changed_within(found[at], each.kind, dice, change)
        return found

    def _changed_within(self, value: Any, kind: Kind, dice: Dice, change: Callable[..., list[Any]]) -> Any:
        if kind.name in self.messages and isinstance(value, tuple):
            return tuple(change(list(value), dice, kind.name)) if dice.roll(2) else value
        if kind.name == "list" and kind.of[0].name in self.messages and isinstance(value, tuple):
            return tuple(self._changed_within(part, kind.of[0], dice, change) for part in value)
        if kind.name == "map" and kind.of[1].name in self.messages and isinstance(value, v.Map):
            return v.Map(
                tuple((key, self._changed_within(part, kind.of[1], dice, change)) for key, part in value.pairs)
            )
        return value

    def changed(self, value: Any, kind: Kind, dice: Dice, change: Change) -> Any:
        """`value` with something else in one place, at times in what it holds."""
        if isinstance(value, tuple) and value and kind.name in ("list", *self.messages) and dice.roll(3):
            at = dice.roll(len(value))
            inner = kind.of[0] if kind.name == "list" else self._at(kind.name, at)
            if inner is not None:
                return (*value[:at], self.changed(value[at], inner, dice, change), *value[at + 1 :])
        if isinstance(value, v.Map) and value.pairs and dice.roll(3):
            at = dice.roll(len(value.pairs))
            key, part = value.pairs[at]
            pair = (
                (change(kind.of[0]), part) if dice.roll(3) == 2 else (key, self.changed(part, kind.of[1], dice, change))
            )
            return v.Map((*value.pairs[:at], pair, *value.pairs[at + 1 :]))
        return change(kind)

    def beyond(self, kind: Kind, dice: Dice) -> Iterator[Any]:
        """Values of a type that hold one integer beside the ends of its own, also where that is a key."""
        if kind.name in INTEGERS:
            low, high = INTEGERS[kind.name]
            yield from sorted({bound(low - 1), bound(high + 1)} - {low, high})
        elif kind.name == "list":
            yield from ((part,) for part in self.beyond(kind.of[0], dice))
        elif kind.name == "map":
            key, part = kind.of
            yield from (v.Map(((wrong, self.value(part, dice, inside=True)),)) for wrong in self.beyond(key, dice))
            yield from (v.Map(((self.value(key, dice), wrong),)) for wrong in self.beyond(part, dice))

    def _at(self, name: str, at: int) -> Kind | None:
        return next((each.kind for each in self.messages[name] if each.number - self.base == at), None)

    def told(self, value: Any, kind: Kind) -> Any:
        """A value as tagged JSON data."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            return value if abs(value) < 1 << 53 else str(value)
        if isinstance(value, v.Float):
            number = value.number
            special: Mapping[str, str] = {"inf": "inf", "-inf": "-inf", "nan": "nan", "-0.0": "-0"}
            return {"$f": special[str(number)]} if str(number) in special else number
        if isinstance(value, bytes):
            return {"$raw": value.hex()}
        if isinstance(value, v.Map):
            return {"$map": [[self.told(key, kind.of[0]), self.told(part, kind.of[1])] for key, part in value.pairs]}
        if kind.name in self.messages:
            members = self.messages[kind.name]
            return {each.name: self.told(value[each.number - self.base], each.kind) for each in members}
        return [self.told(part, kind.of[0]) for part in value] if isinstance(value, tuple) else value


def _keys(name: str) -> Sequence[Any]:
    """Keys of a map, by the type that they have."""
    if name in INTEGERS:
        return [number for number in (10, 9, 2, 1 << 30, 0) if number <= INTEGERS[name][1]]
    return ("k", "", "é", "K") if name == "string" else (b"\xff", b"\xfe", b"", b"k")


def too_large(dice: Dice) -> Change:
    """An integer outside of a type, or at its end; a small one for what is none."""

    def change(kind: Kind) -> Any:
        low, high = INTEGERS.get(kind.name, (0, 0))
        return bound(dice.pick((high + 1, low - 1, high, low)))

    return change


def bound(number: int) -> int:
    """The nearest integer that there is in MessagePack."""
    return min(max(number, -(1 << 63)), (1 << 64) - 1)
