"""Documents of the IDL as trees of tokens, drawn from small numbers; `printing` makes text of them.

Source: 004_4ca5b084f7ea0751.txt. A document is a list of definitions, a definition its head, its items and its end, and
each of these a list of tokens: so that a mutation can be applied to it, and nothing but blanks and comments be chosen
when it is printed. Zero is always the simplest choice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from specs.msgpack.idl.semantics import INTEGERS
from specs.msgpack.idl.tokens import BUILTINS
from strategies.common import Op

TAG = "ZZ9Z"
MANY = (9, 17, 33, 65, 129, 257)
SCALARS = (
    "int", "string", "raw", "bool", "byte", "short", "long", "ubyte", "ushort", "uint", "ulong", "float", "double",
)  # fmt: skip
KEYS = ("string", "int", "raw", "ubyte", "long", "byte", "short", "ushort", "uint", "ulong")
STEMS = (
    "a", "b", "name", "messageX", "optionalfoo", "intx", "listing", "mapper", "stringy", "f_1", "requiredness",
    "voided", "Upper", "throwsIt", "defaults", "applicationx", "serviceable", "exceptional", "uint8", "x_y_z", "A1_",
    "boolish", "longer", "null_", "implementsX", "truest", "typedefs", "rawer", "doubles", "floaty", "shorter", "bytes",
    "a_name_of_more_than_sixty_four_characters_as_some_programmers_like_them",
)  # fmt: skip
MESSAGES = (
    "M", "messages", "Row", "optional_", "m", "throwsM", "voider", "listing", "implementsM", "mapped", "intx",
    "defaultM",
)  # fmt: skip
STRINGS = (
    '"a"', '""', '" x  y "', '"/* no comment"', '"# none"', '"// none"', '"1"', '"true"', '"null"', '"é日本"', '"}"',
)  # fmt: skip
SERVICES = ("S", "StorageService", "service_", "defaultS", "throwsS", "applicationS")


class Dice:
    """Choices from one number; 0 always chooses the first."""

    def __init__(self, *numbers: int) -> None:
        self._state = 0
        for number in numbers:
            self._state = self._state * 256 + number

    def roll(self, sides: int) -> int:
        """0 to sides - 1."""
        if not self._state:
            return 0
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (self._state >> 33) % sides

    def pick(self, items: Sequence[Any]) -> Any:
        """One of several."""
        return items[self.roll(len(items))]

    def shuffled(self, items: Sequence[Any]) -> list[Any]:
        """All of them in some order."""
        left, found = list(items), []
        while left:
            found.append(left.pop(self.roll(len(left))))
        return found


@dataclass
class Block:
    """A definition. `items` are fields, functions or entries; `facts` is what the builder knows of it."""

    kind: str
    name: str
    head: list[str]
    items: list[list[str]] = field(default_factory=list)
    tail: list[str] = field(default_factory=lambda: ["}"])
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass
class Document:
    """Definitions in their order."""

    blocks: list[Block] = field(default_factory=list)
    extensions: frozenset[str] = frozenset()
    serial: int = 0

    def fresh(self, stem: str) -> str:
        """A name that nothing else has."""
        self.serial += 1
        return f"{stem}{TAG}{self.serial}"

    def of(self, *kinds: str) -> list[Block]:
        """Definitions of some kinds."""
        return [block for block in self.blocks if block.kind in kinds]


def _type(document: Document, dice: Dice, depth: int = 2, *, aliases: bool = True) -> list[str]:
    """A type without its question mark."""
    named = document.of("message", "typedef") if aliases else document.of("message")
    choice = dice.roll(9)
    if choice in (5, 8) and named:
        return [dice.pick((document.of("typedef") if choice == 8 else ()) or named).name]
    if choice == 6 and depth:
        return ["list", "<", *_type(document, dice, depth - 1), ">"]
    if choice == 7 and depth:
        return ["map", "<", _key(document, dice), ",", *_type(document, dice, depth - 1), ">"]
    return [dice.pick(SCALARS)]


def _key(document: Document, dice: Dice) -> str:
    """The type of a map's keys, at times by an alias."""
    aliases = [b.name for b in document.of("typedef") if b.facts["type"][-1] in KEYS]
    return str(dice.pick(aliases if aliases and dice.roll(3) == 2 else KEYS))


def _deep(document: Document, dice: Dice, depth: int) -> list[str]:
    """Type arguments within type arguments."""
    before: list[str] = []
    after: list[str] = []
    for _ in range(depth):
        if dice.roll(2):
            before += ["map", "<", dice.pick(KEYS), ","]
        else:
            before += ["list", "<"]
        after.append(">")
    return [*before, dice.pick(SCALARS), *after]


def _is_nullable(document: Document, tokens: Sequence[str]) -> bool:
    """True when a type is nullable as it stands, be it by its alias."""
    if tokens[-1] == "?":
        return True
    return any(b.name == tokens[0] and _is_nullable(document, b.facts["type"]) for b in document.of("typedef"))


def _real(document: Document, tokens: Sequence[str]) -> str:
    """What a type begins with when its aliases are expanded."""
    for block in document.of("typedef"):
        if block.name == tokens[0]:
            return _real(document, block.facts["type"])
    return tokens[0]


def _ids(dice: Dice, count: int, least: int) -> list[int]:
    """Ids of fields, in some order, with gaps or without."""
    how = dice.roll(6)
    step = 1 if how in (0, 1) else 1 + dice.roll(4)
    first = least + (dice.roll(5) if how == 5 else 0)
    found = [first + n * step for n in range(count)]
    if how == 4 and found:
        found[-1] = dice.pick((127, 128, 255, 256, 32767, 65535, 65536, 1 << 20, (1 << 31) - 1 - first)) + first
    return dice.shuffled(found) if how in (1, 3, 4) else found


def _literal(document: Document, dice: Dice, kind: str, *, null: bool) -> list[str]:
    """A literal for a type."""
    if null:
        return ["null"]
    if kind in INTEGERS:
        low, high = INTEGERS[kind]
        number = dice.pick((1, 0, high, low, 7))
        return [str(number)]
    if kind in ("float", "double"):
        return [dice.pick(("1.5", "-0.25", "1.0", "0.0", "100.125"))]
    if kind == "bool":
        return [dice.pick(("true", "false"))]
    return [dice.pick(STRINGS)]


def _fields(
    document: Document, dice: Dice, ids: Sequence[int], names: set[str], *, plain: bool = False
) -> list[list[str]]:
    found: list[list[str]] = []
    kind: list[str] = []
    for number in ids:
        mod = dice.pick(("", "", "required", "optional", "optional"))
        if not found or dice.roll(4) != 3:  # else it is the type of the field before
            kind = _type(document, dice) if dice.roll(12) != 11 else _deep(document, dice, 1 + dice.roll(15))
        null = bool(dice.roll(3) == 2) and not _is_nullable(document, kind) and not plain
        if plain:
            mod = ""
        item = [str(number), ":", *([mod] if mod else []), *kind, *(["?"] if null else [])]
        item.append(_unused(dice, names))
        real = _real(document, kind)
        wanted = dice.roll(2) if mod == "optional" else plain and dice.roll(6) == 5  # free, where nothing is optional
        if "def" in document.extensions and wanted and real in BUILTINS:
            nullable = null or _is_nullable(document, kind)
            if real != "raw" or nullable:
                item += ["=", *_literal(document, dice, real, null=nullable)]
        found.append(item)
    return found


def _unused(dice: Dice, names: set[str]) -> str:
    stem = str(dice.pick(STEMS if dice.roll(2) else STEMS[:4]))  # what is alike elsewhere is easily confused
    name, n = stem, 1
    while name.lower() in names:
        n += 1
        name = f"{stem}{n}"
    names.add(name.lower())
    return name


def _count(number: int, usual: int) -> int:
    """How many of something: seldom as many as no fixed table holds."""
    return number % usual if number < 256 - len(MANY) else MANY[number - 256 + len(MANY)]


# -- definitions -------------------------------------------------------------------------------------------------------


def message(document: Document, op: Op) -> None:
    """A message of none to five fields, seldom of many."""
    a, *rest = op.args
    dice = Dice(*rest)
    block = Block("message", document.fresh(dice.pick(MESSAGES)), [])
    block.head = ["message", block.name, "{"]
    block.items = _fields(document, dice, _ids(dice, _count(a, 6), 1), set())
    document.blocks.append(block)


def exception(document: Document, op: Op) -> None:
    """An exception, with a base or without; at times some more, each the base of the next."""
    a, b, *rest = op.args
    dice = Dice(*rest)
    bases = document.of("exception")
    _exception(document, dice, a % 4, bases[(b // 2) % len(bases)] if bases and b % 2 else None)
    for _ in range(1 + dice.roll(4) if a >= 128 else 0):
        _exception(document, dice, dice.roll(3), document.blocks[-1])


def _exception(document: Document, dice: Dice, count: int, base: Block | None) -> None:
    """One with so many fields."""
    name = document.fresh(dice.pick(("E", "NotFound", "Error_", "exceptionX", "defaultE", "voidE")))
    block = Block("exception", name, ["exception", name, *(["<", base.name] if base else []), "{"])
    most, names = (base.facts["most"], set(base.facts["names"])) if base else (0, set())
    ids = _ids(dice, count, most + 1)
    block.items = _fields(document, dice, ids, names)
    block.facts = {"most": max(ids, default=most), "names": names, "base": base.name if base else ""}
    document.blocks.append(block)


def _functions(document: Document, dice: Dice, count: int, names: set[str]) -> list[list[str]]:
    found = []
    throwable = document.of("exception")
    for _ in range(count):
        ret = ["void"] if dice.roll(4) == 3 else _type(document, dice)
        null = dice.roll(3) == 2 and ret != ["void"] and not _is_nullable(document, ret)
        args = _fields(document, dice, range(1, 1 + (dice.roll(4) if dice.roll(24) < 23 else 12)), set(), plain=True)
        tokens = [*ret, *(["?"] if null else []), _unused(dice, names), "("]
        for n, arg in enumerate(args):
            tokens += ([","] if n else []) + arg
        tokens.append(")")
        if throwable and dice.roll(3) == 2:
            some = dice.shuffled(throwable)[: 1 + dice.roll(3)]
            tokens.append("throws")
            for n, each in enumerate(some):
                tokens += ([","] if n else []) + [each.name]
        found.append(tokens)
    return found


def _called(function: Sequence[str]) -> str:
    return function[function.index("(") - 1]


def service(document: Document, op: Op) -> None:
    """A service, or another version of one that is there."""
    a, b, *rest = op.args
    dice = Dice(*rest)
    known = document.of("service")
    again = known[(b // 4) % len(known)] if known and b % 4 in (1, 3) else None
    name = str(again.facts["service"]) if again else document.fresh(dice.pick(SERVICES))
    taken = {block.facts["version"] for block in known if block.facts["service"] == name}
    version = int(dice.pick((0, 0, 1, 2, 7, 100, 65536)))
    while version in taken:
        version += 1
    kept = [list(item) for item in again.items if item[0] != "implements"] if again else []
    kept = kept[: dice.roll(len(kept) + 1)] if b % 4 == 3 else kept
    names = {_called(item).lower() for item in kept}
    block = Block("service", name, ["service", name, ":", str(version), "{"])
    if "if" in document.extensions and a % 8 == 7 and not kept:  # two interfaces that share nothing
        for n in range(2):
            interface(document, Op("interface", (0, 1 + n, 0, 0, 0)))
            made = document.blocks[-1]
            made.items = [["int", f"of{n}", "(", ")"]]
            names.add(f"of{n}")
            block.items.append(["implements", made.name, ":", str(made.facts["version"])])
    elif "if" in document.extensions and dice.roll(2) and not kept:
        for other in dice.shuffled(document.of("interface"))[: 1 + dice.roll(2)]:
            twice = any(item[1] == other.name for item in block.items)  # nobody says what two versions of one mean
            if not twice and not names & {_called(item).lower() for item in other.items}:
                names |= {_called(item).lower() for item in other.items}
                block.items.append(["implements", other.facts["service"], ":", str(other.facts["version"])])
    block.items += kept + _functions(document, dice, _count(a, 4), names)
    block.facts = {"service": name, "version": version}
    document.blocks.append(block)


def interface(document: Document, op: Op) -> None:
    """An interface, at times in two versions that have no function in common, with a service of the older one, at times
    with several services that implement it, each of which has functions of its own."""
    if "if" not in document.extensions:
        message(document, op)
        return
    a, b, *rest = op.args
    dice = Dice(*rest)
    name = document.fresh(dice.pick(("I", "interfaceI", "Table")))
    block = Block("interface", name, ["interface", name, ":", str(b % 4), "{"])
    names = set(STEMS[: b % 3])
    block.items = _functions(document, dice, a % 3, names)
    block.facts = {"service": name, "version": b % 4}
    document.blocks.append(block)
    if a >= 192:
        _newer_interface(document, dice, block, 1 + a % 3, names)
    elif a >= 128:
        for _ in range(2 + b // 4 % 2):
            own = _functions(document, dice, 1 + dice.roll(2), set(names))
            document.blocks.append(_user_of(document, block, own))


def _user_of(document: Document, made: Block, own: Sequence[list[str]] = ()) -> Block:
    """A service that implements an interface."""
    name, version = str(made.facts["service"]), str(made.facts["version"])
    user = document.fresh("S")
    using = Block("service", user, ["service", user, ":", "0", "{"], facts={"service": user, "version": 0})
    using.items += [["implements", name, ":", version], *own]
    return using


def _newer_interface(document: Document, dice: Dice, older: Block, count: int, names: set[str]) -> None:
    """Another version of an interface, and a service that implements the older one."""
    version = older.facts["version"] + 1
    block = Block("interface", older.name, ["interface", older.name, ":", str(version), "{"])
    block.items = _functions(document, dice, count, names)
    block.facts = {"service": older.name, "version": version}
    document.blocks += [block, _user_of(document, older)]


def application(document: Document, op: Op) -> None:
    """An application of some services, one scope the default."""
    a, b, *rest = op.args
    dice = Dice(*rest)
    known = {block.name: block for block in dice.shuffled(document.of("service"))}
    name = document.fresh(dice.pick(("App", "applicationX", "defaultApp")))
    block = Block("application", name, ["application", name, "{"])
    scopes: set[str] = set()
    for each in list(known.values())[: 1 + a % 3]:
        for _ in range(2 if b % 4 == 3 else 1):
            version = str(each.facts["version"])
            block.items.append([each.facts["service"], ":", version, _unused(dice, scopes)])
    if not block.items:
        service(document, Op("service", (1, 0, 0, 0, 0)))
        made = document.blocks[-1]
        block.items.append([made.name, ":", str(made.facts["version"]), _unused(dice, scopes)])
    block.items[dice.roll(len(block.items))].append("default")
    document.blocks.append(block)


def typedef(document: Document, op: Op) -> None:
    """An alias, at times of an alias."""
    if "td" not in document.extensions:
        message(document, op)
        return
    a, *rest = op.args
    dice = Dice(*rest)
    kind = _type(document, dice)
    if a % 4 == 3 and not _is_nullable(document, kind):
        kind = [*kind, "?"]
    name = document.fresh(dice.pick(("T", "typedefX", "Alias")))
    document.blocks.append(Block("typedef", name, ["typedef", *kind, name], [], [], {"type": kind}))


def typespec(document: Document, op: Op) -> None:
    """A foreign type for an alias, a message or a field of one."""
    if "ts" not in document.extensions:
        message(document, op)
        return
    a, b, *rest = op.args
    dice = Dice(*rest)
    targets = document.of("message", "typedef")
    if not targets:
        message(document, Op("message", (2, 0, 0, 0, 0)))
        targets = document.of("message")
    target = targets[a % len(targets)]
    tokens = ["typespec", dice.pick(("cpp", "MyApp1", "java", "typespecs")), target.name]
    if target.kind != "typedef" and target.items and b % 2:
        tokens += [".", _named(dice.pick(target.items))]
    foreign = dice.pick(("myapp::Value", "Value", "std::tr1::unordered_map<std::string,std::string>", "a::b<c<d>,e>"))
    document.blocks.append(Block("typespec", "", [*tokens, foreign], [], [], {"line": True}))


def _named(item: Sequence[str]) -> str:
    """The name of a field."""
    return item[item.index("=") - 1] if "=" in item else item[-1]


DEFINITIONS: Mapping[str, Callable[[Document, Op], None]] = {
    "message": message, "exception": exception, "service": service, "application": application, "typedef": typedef,
    "typespec": typespec, "interface": interface,
}  # fmt: skip


def built(ops: Sequence[Op], extensions: frozenset[str]) -> Document:
    """The document that some ops mean."""
    document = Document(extensions=extensions)
    for op in ops:
        if op.kind in DEFINITIONS:
            DEFINITIONS[op.kind](document, op)
    return document
