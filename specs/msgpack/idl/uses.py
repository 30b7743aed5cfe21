"""What a document makes use of: what may be the reason when a processor refuses it, or reads it as another.

Source: 004_4ca5b084f7ea0751.txt. A closed set of circumstances; which requirement each of them brings under suspicion
is said in `compiler.causes`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from enum import Enum
from itertools import pairwise

from specs.msgpack.idl.semantics import Reading
from specs.msgpack.idl.tokens import MODIFIERS, RESERVED, Lines, depth_of_comments
from specs.msgpack.idl.tree import Application, Definition, Field, Function, Message, Service, Type, Typedef, Typespec

_COMMENT = re.compile(r"(?P<line>#|//)(?P<body>[^\r\n]*)|/\*")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_STUCK = tuple(sorted(RESERVED))
DEEP = 4
"""Type arguments within type arguments that are seldom seen: with more, they are the first to be suspected."""


class Use(Enum):
    """Something that a document makes use of."""

    __hash__ = object.__hash__

    NO_DEFINITIONS = "there is no definition"
    LAST_COMMENT = "the last line is a comment without an end"
    NESTED_COMMENTS = "comments nest"
    MARKS_IN_COMMENTS = "comments hold what opens others"
    LINE_COMMENTS = "line comments"
    BLOCK_COMMENTS = "block comments"
    LINE_ENDS = "line ends of another form, or none at the end"
    STUCK_WORDS = "names that begin with a word of the language"
    DEEP_TYPES = "type arguments at great depth"
    DEFINITIONS = "definitions"
    TYPESPEC = "foreign types"
    DEFAULTS = "default values"
    INTERFACES = "interfaces"
    TYPEDEF = "aliases"
    APPLICATION = "applications"
    SHARED_SERVICE = "a service under several scopes"
    SERVICE = "services"
    LISTED_AGAIN = "a function that several versions list"
    VERSIONS = "several versions of a service"
    FUNCTION_IN_TWO_SERVICES = "a function name in several services"
    VERSION_ABOVE_ZERO = "a version that is not 0"
    THROWS = "functions that throw"
    ARGUMENTS = "arguments"
    RESULT = "functions with a result"
    FUNCTIONS = "functions"
    BASES = "exceptions with a base"
    EXCEPTION = "exceptions"
    MESSAGE = "messages"
    TYPE_ARGUMENTS = "type arguments"
    DECLARED_TYPES = "declared types as types"
    NULLABLE = "nullable types"
    MODIFIERS = "modifiers"
    IDS_OUT_OF_ORDER = "ids that are not 1, 2, 3 in this order"
    BUILT_IN_TYPES = "built-in types other than int"
    FIELDS = "fields"
    EMPTY_MESSAGE = "a message without fields"


def uses_of(source: str, reading: Reading) -> frozenset[Use]:
    """Everything that a document makes use of."""
    found = {*_layout(source), Use.DEFINITIONS if reading.definitions else Use.NO_DEFINITIONS}
    if any(word not in RESERVED and word.startswith(_STUCK) for word in _WORD.findall(source)):
        found.add(Use.STUCK_WORDS)
    return frozenset(found | _meant(reading.definitions, reading))


def uses_at(source: str, reading: Reading, named: Collection[int]) -> frozenset[Use]:
    """What those definitions make use of in which one of the lines `named` stands, however they are written."""
    lines = Lines(source)
    given = sorted(reading.definitions, key=lambda each: each.at)
    begins = [lines.line(each.at) for each in given]
    ends = [max(begin, end - 1) for begin, end in pairwise((*begins, lines.length + 1))]  # two may share a line
    places = list(zip(given, begins, ends, strict=True))
    chosen = [each for each, begin, end in places if any(begin <= line <= end for line in named)]
    return frozenset(_meant(chosen, reading))


def _meant(given: Collection[Definition], reading: Reading) -> set[Use]:
    """What some definitions of a document make use of."""
    found: set[Use] = set()
    messages = [each for each in given if isinstance(each, Message)]
    services = [each for each in given if isinstance(each, Service)]
    functions = [function for service in services for function in service.functions]
    arguments = [arg for function in functions for arg in function.args]
    items = [item for each in messages for item in each.fields]
    types = [item.type for item in (*items, *arguments)] + [function.ret for function in functions]
    found |= {_KINDS[type(each)] for each in given if type(each) in _KINDS}
    found.update(_applications([each for each in given if isinstance(each, Application)]))
    if services:  # a version is compared with all others
        found.update(_services([each for each in reading.definitions if isinstance(each, Service)]))
    found.update(_functions(functions))
    found.update(_messages(messages))
    found.update(_types(types, reading))
    if any(_depth(kind) > DEEP for kind in [*types, *(each.type for each in given if isinstance(each, Typedef))]):
        found.add(Use.DEEP_TYPES)
    if any(item.default is not None for item in (*items, *arguments)):
        found.add(Use.DEFAULTS)
    return found


_KINDS: dict[type, Use] = {Typespec: Use.TYPESPEC, Typedef: Use.TYPEDEF, Application: Use.APPLICATION}


def _layout(source: str) -> Iterator[Use]:
    if source and source[-1] not in "\r\n" and _COMMENT.search(source.splitlines()[-1]):
        yield Use.LAST_COMMENT
    if "/*" in source or "#" in source or "//" in source:
        yield from _comments(source)
    if "\r" in source or not source.strip() or (source[-1:] not in ("\n", "}") and "\n" in source):
        yield Use.LINE_ENDS


def _comments(source: str) -> Iterator[Use]:
    at = 0
    inner = re.compile(r"/\*|\*/")
    while part := _COMMENT.search(source, at):
        if part["line"]:
            at = part.end()
            body = part["body"].replace('"', "")
            yield Use.LINE_COMMENTS
        else:
            depth, begun = 1, part.end()
            at = begun
            while depth and (edge := inner.search(source, at)):
                depth, at = depth + (1 if edge.group() == "/*" else -1), edge.end()
            body = source[begun:at].replace("/*", "").replace("*/", "")
            yield Use.BLOCK_COMMENTS
            if depth:
                return
        if any(mark in body for mark in ("/*", "*/", "#", "//", '"')):
            yield Use.MARKS_IN_COMMENTS
    if depth_of_comments(source) > 1:
        yield Use.NESTED_COMMENTS


def _applications(given: list[Application]) -> Iterator[Use]:
    for each in given:
        if len({entry.service for entry in each.entries}) < len(each.entries):
            yield Use.SHARED_SERVICE


def _services(given: list[Service]) -> Iterator[Use]:
    names = Counter((service.name, function.name) for service in given for function in service.functions)
    if any(count > 1 for count in names.values()):
        yield Use.LISTED_AGAIN
    if len({service.name for service in given}) < len(given):
        yield Use.VERSIONS
    if any(count > 1 for count in Counter(name for _, name in names).values()):
        yield Use.FUNCTION_IN_TWO_SERVICES
    if any(service.version for service in given):
        yield Use.VERSION_ABOVE_ZERO
    if any(each.implements or each.kind == "interface" for each in given):
        yield Use.INTERFACES
    if given:
        yield Use.SERVICE


def _functions(given: list[Function]) -> Iterator[Use]:
    if any(function.throws for function in given):
        yield Use.THROWS
    if any(function.args for function in given):
        yield Use.ARGUMENTS
    if any(function.ret.name != "void" for function in given):
        yield Use.RESULT
    if given:
        yield Use.FUNCTIONS


def _messages(given: list[Message]) -> Iterator[Use]:
    for each in given:
        yield Use.EXCEPTION if each.kind == "exception" else Use.MESSAGE
        if each.base:
            yield Use.BASES
        if each.fields:
            yield from _fields(each.fields)
        elif each.kind == "message":
            yield Use.EMPTY_MESSAGE


def _fields(given: tuple[Field, ...]) -> Iterator[Use]:
    yield Use.FIELDS
    if any(item.mod in MODIFIERS for item in given):
        yield Use.MODIFIERS
    ids = [item.id for item in sorted(given, key=lambda item: item.at)]
    if ids != list(range(1, len(ids) + 1)):
        yield Use.IDS_OUT_OF_ORDER
    if any(item.type.name != "int" for item in given):
        yield Use.BUILT_IN_TYPES


def _types(given: list[Type], reading: Reading) -> Iterator[Use]:
    every = [part for each in given for part in _inside(each)]
    if any(part.of for part in every):
        yield Use.TYPE_ARGUMENTS
    declared = {each.name for each in reading.definitions if isinstance(each, (Message, Typedef))}
    if any(part.name in declared for part in every):
        yield Use.DECLARED_TYPES
    if any(part.null for part in every):
        yield Use.NULLABLE


def _depth(kind: Type) -> int:
    return 1 + max(map(_depth, kind.of)) if kind.of else 0


def _inside(kind: Type) -> Iterator[Type]:
    yield kind
    for part in kind.of:
        yield from _inside(part)
