"""Which requirement a processor most likely misses when it refuses a legal document or reads it as another.

Nothing but the document is known then. Every requirement that it makes use of is suspect, the most particular one
first; the hunt makes the document smaller until only what is needed for the fault is left in it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from specs.msgpack.idl.semantics import Reading
from specs.msgpack.idl.tokens import MODIFIERS, RESERVED, depth_of_comments
from specs.msgpack.idl.tree import Application, Field, Message, Service, Type, Typedef, Typespec

_COMMENT = re.compile(r"(?P<line>#|//)(?P<body>[^\r\n]*)|/\*")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_STUCK = tuple(sorted(RESERVED))
DEEP = 4
"""Type arguments within type arguments that are seldom seen: with more, they are the first to be suspected."""


def lexical(source: str) -> Iterator[str]:
    """Suspects in how a document is laid out."""
    if source and source[-1] not in "\r\n" and _COMMENT.search(source.splitlines()[-1]):
        yield "LEX-06"
    if "/*" in source or "#" in source or "//" in source:
        yield from _comments(source)
    if "\r" in source or not source.strip() or (source[-1:] not in ("\n", "}") and "\n" in source):
        yield "LEX-06"


def _comments(source: str) -> Iterator[str]:
    trap = line = block = False
    at = 0
    while part := _COMMENT.search(source, at):
        if part["line"]:
            line, at = True, part.end()
            trap = trap or "/*" in part["body"] or "*/" in part["body"] or "#" in part["body"] or "//" in part["body"]
            continue
        block, depth, at = True, 1, part.end()
        begun = at
        while depth and (inner := re.compile(r"/\*|\*/").search(source, at)):
            depth, at = depth + (1 if inner.group() == "/*" else -1), inner.end()
        trap = trap or "#" in source[begun:at] or "//" in source[begun:at] or '"' in source[begun:at]
        if depth:
            return
    if depth_of_comments(source) > 1:
        yield "LEX-02"
    if trap:
        yield "LEX-03"
    if line:
        yield "LEX-01"
    if block:
        yield "LEX-05"


def structural(source: str, reading: Reading) -> Iterator[str]:
    """Suspects in what a document says."""
    if any(word not in RESERVED and word.startswith(_STUCK) for word in _WORD.findall(source)):
        yield "LEX-07"
    given = reading.definitions
    kinds = {type(each) for each in given}
    items = [item for each in given if isinstance(each, Message) for item in each.fields]
    services = [each for each in given if isinstance(each, Service)]
    functions = [function for service in services for function in service.functions]
    every = items + [arg for function in functions for arg in function.args]
    types = [item.type for item in every] + [function.ret for function in functions]
    aliases = [each.type for each in given if isinstance(each, Typedef)]
    if any(_depth(kind) > DEEP for kind in types + aliases):
        yield "TYPE-04"
    if Typespec in kinds:
        yield "TS-01"
    if any(item.default is not None for item in every):
        yield "DEF-01"
    if any(each.implements or each.kind == "interface" for each in services):
        yield "IF-02"
    if Typedef in kinds:
        yield "TD-01"
    yield from _applications([each for each in given if isinstance(each, Application)])
    yield from _services(services)
    yield from _exceptions([each for each in given if isinstance(each, Message) and each.kind == "exception"])
    yield from _types(types, reading)
    yield from _fields([each.fields for each in given if isinstance(each, Message)])
    if any(each.kind == "message" and not each.fields for each in given if isinstance(each, Message)):
        yield "FIELD-05"
    yield "TYPE-01"


def _applications(given: list[Application]) -> Iterator[str]:
    for each in given:
        if len({entry.service for entry in each.entries}) < len(each.entries):
            yield "APP-05"
    if given:
        yield "APP-01"


def _services(given: list[Service]) -> Iterator[str]:
    names = Counter((service.name, function.name) for service in given for function in service.functions)
    if any(count > 1 for count in names.values()):
        yield "SVC-08"
    if len({service.name for service in given}) < len(given):
        yield "SVC-02"
    functions = Counter(name for _, name in names)
    if any(count > 1 for count in functions.values()):
        yield "SVC-05"
    if any(service.version for service in given):
        yield "SVC-03"
    every = [function for service in given for function in service.functions]
    if any(function.throws for function in every):
        yield "SVC-09"
    if any(function.args for function in every):
        yield "SVC-07"
    if any(function.ret.name != "void" for function in every):
        yield "SVC-06"
    if given:
        yield "SVC-01"


def _exceptions(given: list[Message]) -> Iterator[str]:
    if any(each.base for each in given):
        yield "EXC-03"
        yield "EXC-07"
    if given:
        yield "EXC-01"


def _types(given: list[Type], reading: Reading) -> Iterator[str]:
    every = [part for each in given for part in _inside(each)]
    if any(part.of for part in every):
        yield "TYPE-04"
    declared = {each.name for each in reading.definitions if isinstance(each, (Message, Typedef))}
    if any(part.name in declared for part in every):
        yield "TYPE-05"
    if any(part.null for part in every):
        yield "FIELD-04"


def _depth(kind: Type) -> int:
    return 1 + max(map(_depth, kind.of)) if kind.of else 0


def _inside(kind: Type) -> Iterator[Type]:
    yield kind
    for part in kind.of:
        yield from _inside(part)


def _fields(given: list[tuple[Field, ...]]) -> Iterator[str]:
    if any(item.mod in MODIFIERS for fields in given for item in fields):
        yield "FIELD-03"
    for fields in given:
        ids = [item.id for item in sorted(fields, key=lambda item: item.at)]
        if ids != list(range(1, len(ids) + 1)):
            yield "FIELD-05"
    if any(item.type.name != "int" for fields in given for item in fields):
        yield "TYPE-01"
    if any(given):
        yield "FIELD-06"


def first(source: str, reading: Reading) -> str:
    """The likeliest of all. Whoever wants a definition refuses what has none, whatever stands there instead."""
    if not reading.definitions:
        return "LEX-06"
    found: Any = next(lexical(source), None) or next(structural(source, reading))
    return str(found)


def shown(source: str, reading: Reading) -> tuple[str, ...]:
    """Every requirement that a right answer to a legal document has shown to be kept."""
    found = [*lexical(source), *structural(source, reading), "ERR-04" if reading.definitions else "LEX-06"]
    kinds = {each.kind for each in reading.definitions}
    if "message" in kinds:
        found += ["FIELD-03", "FIELD-04"]
    if "service" in kinds:
        found += ["SVC-04", "NOSC-01"]
    if "application" in kinds:
        found += ["APP-04", "NOSC-01"]
    if any(arg.mod or arg.type.null for each in reading.definitions if isinstance(each, Service)
           for function in each.functions for arg in function.args):  # fmt: skip
        found.append("SVC-10")
    return tuple(found)
