"""The syntax tree of an IDL document, with offsets into its text. Source: 004_4ca5b084f7ea0751.txt."""

from __future__ import annotations

from typing import Any, NamedTuple

from specs.msgpack.idl.clauses import Clause

ABSENT: Any = "absent"


class Type(NamedTuple):
    """`name` is that of a built-in type, `list`, `map`, `void`, or of a declaration."""

    name: str
    of: tuple[Type, ...] = ()
    null: bool = False
    at: int = 0
    end: int = 0

    @property
    def plain(self) -> tuple[Any, ...]:
        """The type without its place."""
        return self.name, self.null, tuple(part.plain for part in self.of)


class Literal(NamedTuple):
    """`kind`: int, float, str, bool or null."""

    kind: str
    value: Any
    at: int = 0


class Field(NamedTuple):
    """A field of a message or an argument of a function. `mod` is "" when none was written."""

    id: int
    name: str
    mod: str
    type: Type
    default: Literal | None = None
    at: int = 0
    name_at: int = 0
    end: int = 0


class Function(NamedTuple):
    """`throws` are names with their offsets."""

    name: str
    ret: Type
    args: tuple[Field, ...]
    throws: tuple[tuple[str, int], ...] = ()
    at: int = 0
    name_at: int = 0
    end: int = 0

    @property
    def signature(self) -> tuple[Any, ...]:
        """What a call sends and gets, exceptions left out."""
        defaults = (each.default.value if each.default else ABSENT for each in self.args)
        sent = ((each.id, each.name, each.mod, each.type.plain) for each in self.args)
        return self.ret.plain, tuple(sent), tuple(defaults)


class Entry(NamedTuple):
    """`version` is None when none was written."""

    service: str
    version: int | None
    scope: str
    default: bool = False
    at: int = 0
    end: int = 0


class Message(NamedTuple):
    """A message, or an exception: then `base` may name another."""

    kind: str
    name: str
    fields: tuple[Field, ...]
    base: str = ""
    at: int = 0
    head: int = 0


class Service(NamedTuple):
    """A service or an interface. `implements` are (name, version, offset); `late`: one stands behind a function."""

    kind: str
    name: str
    version: int
    functions: tuple[Function, ...]
    implements: tuple[tuple[str, int, int], ...] = ()
    late: bool = False
    at: int = 0
    head: int = 0


class Application(NamedTuple):
    """An application."""

    name: str
    entries: tuple[Entry, ...]
    at: int = 0
    head: int = 0
    kind: str = "application"


class Typedef(NamedTuple):
    """An alias."""

    name: str
    type: Type
    at: int = 0
    head: int = 0
    kind: str = "typedef"


class Typespec(NamedTuple):
    """`field` is "" when the target is a whole type."""

    language: str
    target: str
    field: str
    foreign: str
    at: int = 0
    head: int = 0
    kind: str = "typespec"


Definition = Message | Service | Application | Typedef | Typespec


class Fault(NamedTuple):
    """What is wrong in a document. `rule` is the requirement that a processor breaks that takes it. `spans` are the
    offsets (first, last) of what may be called the place of it. `level` overrides that of the rule."""

    code: str
    rule: Clause
    spans: tuple[tuple[int, int], ...]
    why: str
    syntax: bool = False
    level: str | None = None


class Parsed(NamedTuple):
    """A document as it is written: `fault` is the first place where it does not keep to the grammar. `freedoms` are
    points of which no text says whether they are legal. `deep`: it nests deeper than this reader follows."""

    definitions: tuple[Definition, ...]
    fault: Fault | None
    freedoms: tuple[str, ...]
    extensions: frozenset[str]
    deep: bool = False
