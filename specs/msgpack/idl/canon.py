"""The canonical syntax tree as JSON data, and in which part one differs from another.

Source: docs/implementations.md, of processors of the interface language. A base that is absent or null, `null` and
`default` that are absent or false, any list that is absent, null or empty are equal; fields and arguments are sorted by
id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, NamedTuple

from specs.msgpack.idl.semantics import META_SCOPE, META_SERVICE, Reading
from specs.msgpack.idl.tokens import BUILTINS, GENERICS, RESERVED
from specs.msgpack.idl.tree import Application, Definition, Field, Function, Literal, Message, Service, Type, Typedef

EXACT = 1 << 53


def to_json(reading: Reading) -> dict[str, Any]:
    """The tree of a document that has no fault."""
    return {"definitions": [_definition(each, reading.paths) for each in reading.definitions]}


def _definition(each: Definition, paths: Mapping[str, str]) -> dict[str, Any]:
    if isinstance(each, Message):
        made: dict[str, Any] = {"k": each.kind, "name": each.name}
        if each.kind == "exception":
            made |= {"base": each.base or None, "path": paths[each.name]}
        return made | {"fields": [_field(item) for item in each.fields]}
    if isinstance(each, Service):
        functions = [_function(item) for item in each.functions]
        made = {"k": each.kind, "name": each.name, "version": each.version, "functions": functions}
        return made | ({"inlined": True} if each.implements else {})
    if isinstance(each, Application):
        entries = [
            {"service": e.service, "version": e.version, "scope": e.scope, "default": e.default} for e in each.entries
        ]
        return {"k": "application", "name": each.name, "entries": entries}
    if isinstance(each, Typedef):
        return {"k": "typedef", "name": each.name, "type": type_to_json(each.type)}
    made = {"k": "typespec", "for": each.language, "target": each.target, "foreign": each.foreign}
    return made | ({"field": each.field} if each.field else {})


def _field(item: Field) -> dict[str, Any]:
    made: dict[str, Any] = {
        "id": item.id, "name": item.name, "mod": item.mod or "required", "type": type_to_json(item.type)
    }  # fmt: skip
    if item.default is not None:
        made["default"] = _literal(item.default)
    return made


def _literal(literal: Literal) -> Any:
    if literal.kind == "int" and abs(literal.value) >= EXACT:
        return str(literal.value)
    return literal.value


def _function(item: Function) -> dict[str, Any]:
    args = [_field(each) for each in item.args]
    return {
        "name": item.name, "ret": type_to_json(item.ret), "args": args, "throws": [name for name, _ in item.throws]
    }  # fmt: skip


def type_to_json(kind: Type) -> dict[str, Any]:
    """A type; what declares no built-in type is a `ref`."""
    made: dict[str, Any]
    if kind.name in GENERICS:
        made = {"t": kind.name, "of": [type_to_json(part) for part in kind.of]}
    elif kind.name in BUILTINS or kind.name == "void":
        made = {"t": kind.name}
    else:
        made = {"t": "ref", "name": kind.name}
    return made | ({"null": True} if kind.null else {})


# -- differences -------------------------------------------------------------------------------------------------------


class Part(Enum):
    """In what a tree may differ from the one that the text says. Which requirement each shows to be broken is said in
    `compiler.causes`."""

    __hash__ = object.__hash__

    NO_DEFINITIONS = "there is no list of definitions"
    ORDER = "definitions are in another order"
    INVENTED = "there is a definition that nobody wrote"
    INVENTED_META = "the meta service stands in the tree"
    MESSAGE = "a message, its fields or their ids"
    EXCEPTION = "an exception, its base, its fields or their ids"
    SERVICE = "a service, its version or its functions"
    APPLICATION = "an application or its entries"
    TYPEDEF = "an alias"
    TYPESPEC = "a foreign type"
    INTERFACE = "an interface, or the functions that come from one"
    PATH = "the string form of an exception"
    WORD = "a name that begins with a word of the language"
    MODIFIER = "the modifier of a field"
    ARGUMENT_MARK = "the modifier of an argument, or whether its type is nullable"
    NULL = "whether a type is nullable"
    DEFAULT = "a default value"
    BUILT_IN = "a built-in type"
    ALIASED = "a type that is shown by another name"
    DECLARED = "a declared type"
    GENERIC = "a type with arguments"
    FUNCTIONS = "which functions a version has"
    RESULT = "the result of a function"
    ARGUMENTS = "the arguments of a function"
    THROWS = "what a function throws"
    SHARED_SERVICE = "the scopes of a service that has several"
    DEFAULT_SCOPE = "which scope is the default"


class Difference(NamedTuple):
    """The first part in which two trees differ, and how."""

    part: Part
    why: str


def difference(mine: Mapping[str, Any], theirs: Any) -> Difference | None:
    """Where the tree `theirs`, which came from outside, is not `mine`; None when it is."""
    wanted, got = mine["definitions"], _list(theirs, "definitions")
    if got is None:
        return Difference(Part.NO_DEFINITIONS, "there is no list of definitions")
    heads = [(each["k"], each["name"] if "name" in each else each["target"]) for each in wanted]
    found = [(each.get("k"), each.get("name", each.get("target"))) if isinstance(each, dict) else None for each in got]
    if heads != found:
        return _heads(heads, found)
    for one, other in zip(wanted, got, strict=True):
        if (differs := _KINDS[one["k"]](one, other)) is not None:
            return Difference(differs.part, f"{one['k']} {one.get('name', '')!s:.40}: {differs.why}")
    return None


_LOST = {
    "message": Part.MESSAGE, "exception": Part.EXCEPTION, "service": Part.SERVICE, "application": Part.APPLICATION,
    "typedef": Part.TYPEDEF, "typespec": Part.TYPESPEC, "interface": Part.INTERFACE,
}  # fmt: skip


def _heads(wanted: list[Any], found: list[Any]) -> Difference:
    """What is wrong with the kinds and names of the definitions."""
    if sorted(map(repr, wanted)) == sorted(map(repr, found)):
        return Difference(Part.ORDER, f"the definitions are not in their order: {found!r:.200}")
    why = f"the definitions are others: {found!r:.200}"
    missing = [head for head in wanted if head not in found]
    if missing:
        return Difference(_LOST[missing[0][0]], why)
    extra = [head for head in found if head not in wanted]
    implicit = any(head is not None and head[1] == META_SERVICE for head in extra)
    return Difference(Part.INVENTED_META if implicit else Part.INVENTED, why)


def _list(holder: Any, name: str) -> list[Any] | None:
    """A list in an object, empty where it is absent or null; None for anything else."""
    if not isinstance(holder, dict):
        return None
    found = holder.get(name) or []
    return found if isinstance(found, list) else None


def _message(one: Any, other: Any) -> Difference | None:
    if one["k"] == "exception":
        if (other.get("base") or None) != one["base"]:
            return Difference(Part.EXCEPTION, f"the base is {other.get('base')!r:.60}")
        if other.get("path") != one["path"]:
            return Difference(Part.PATH, f"the path is {other.get('path')!r:.80}, not {one['path']}")
    return _fields(one["fields"], _list(other, "fields"), _LOST[one["k"]])


def _fields(mine: list[Any], theirs: list[Any] | None, whole: Part) -> Difference | None:
    if theirs is None or any(not isinstance(each, dict) for each in theirs):
        return Difference(whole, "there is no list of fields")
    got = {integer(each.get("id")): each for each in theirs}
    if len(got) != len(theirs) or got.keys() != {each["id"] for each in mine}:
        return Difference(whole, f"the ids are {[each.get('id') for each in theirs]!r:.120}")
    known = {each["name"] for each in mine}
    for one in mine:
        if (differs := _field_differs(one, got[one["id"]], whole, known)) is not None:
            return differs
    return None


def _field_differs(one: Any, other: Any, whole: Part, known: set[str]) -> Difference | None:
    name, argument = one["name"], whole is Part.ARGUMENTS
    if other.get("name") != name:
        stuck = name.startswith(_WORDS) and other.get("name") not in known
        return Difference(Part.WORD if stuck else whole, f"the name of {one['id']} is {other.get('name')!r:.40}")
    if (other.get("mod") or ("required" if argument else None)) != one["mod"]:
        part = Part.ARGUMENT_MARK if argument else Part.MODIFIER
        return Difference(part, f"the modifier of {name} is {other.get('mod')!r:.20}")
    if (differs := _type(one["type"], other.get("type"))) is not None:
        part = Part.ARGUMENT_MARK if argument and differs.part is Part.NULL else differs.part
        return Difference(part, f"{name}: {differs.why}")
    why = _default(one, other)
    return Difference(Part.DEFAULT, why) if why else None


def _default(one: Any, other: Any) -> str:
    """What is wrong with the default of a field, "" when nothing is."""
    mine, theirs = one.get("default"), other.get("default")
    if theirs is None:
        left_out = mine is None or mine is False or mine == ""  # these need not be shown
        return "" if left_out else f"the default of {one['name']} is missing"
    if "default" not in one:
        return f"{one['name']} has a default that nobody wrote"
    return "" if _same(mine, theirs, one["type"]) else f"the default of {one['name']} is {theirs!r:.40}"


def _same(mine: Any, theirs: Any, kind: Any) -> bool:
    if isinstance(theirs, dict):
        if "$raw" in theirs and kind.get("t") == "raw" and isinstance(mine, str):
            return bool(str(theirs["$raw"]).lower() == mine.encode().hex())
        theirs = {"-0": -0.0}.get(str(theirs.get("$f")), theirs)
    if isinstance(mine, (bool, type(None))) or isinstance(theirs, (bool, type(None))):
        return mine is theirs
    if kind.get("t") == "string" or isinstance(theirs, (list, dict)):
        return bool(mine == theirs)
    try:
        exact = integer(mine) is not None and integer(theirs) is not None
        return integer(mine) == integer(theirs) if exact else float(mine) == float(theirs)
    except (ValueError, OverflowError):
        return bool(mine == theirs)


def integer(told: Any) -> int | None:
    """An integer as JSON has it: a number, or decimal digits when it is large."""
    if isinstance(told, bool):
        return None
    if isinstance(told, float):
        return int(told) if told.is_integer() else None
    if isinstance(told, str) and not (len(told) < 40 and told.lstrip("-").isdecimal() and told.isascii()):
        return None
    return int(told) if isinstance(told, (int, str)) else None


def _type(one: Any, other: Any) -> Difference | None:
    if not isinstance(other, dict):
        return Difference(Part.BUILT_IN, "there is no type")
    if bool(other.get("null")) != bool(one.get("null")):
        return Difference(Part.NULL, f"it is {'' if other.get('null') else 'not '}nullable")
    if other.get("t") != one["t"]:
        return Difference(_kind(one, other), f"the type is {other.get('t')!r:.40}, not {one['t']}")
    if one["t"] == "ref" and other.get("name") != one["name"]:
        return Difference(Part.DECLARED, f"the type is {other.get('name')!r:.40}, not {one['name']}")
    return _arguments(one, other) if "of" in one else None


def _kind(one: Any, other: Any) -> Part:
    if one["t"] == "ref":
        return Part.DECLARED
    if other.get("t") == "ref":
        return Part.ALIASED
    return Part.GENERIC if "of" in one else Part.BUILT_IN


def _arguments(one: Any, other: Any) -> Difference | None:
    of = other.get("of")
    if not isinstance(of, list) or len(of) != len(one["of"]):
        return Difference(Part.GENERIC, f"the type arguments of {one['t']} are {of!r:.80}")
    for mine, theirs in zip(one["of"], of, strict=True):
        if (differs := _type(mine, theirs)) is not None:
            inner = differs.part in (Part.BUILT_IN, Part.NULL)
            return Difference(Part.GENERIC, differs.why) if inner else differs
    return None


def _service(one: Any, other: Any) -> Difference | None:
    if integer(other.get("version")) != one["version"]:
        return Difference(Part.SERVICE, f"the version is {other.get('version')!r:.40}, not {one['version']}")
    functions = _list(other, "functions")
    if functions is None or any(not isinstance(each, dict) for each in functions):
        return Difference(Part.SERVICE, "there is no list of functions")
    names = [each["name"] for each in one["functions"]]
    found = [each.get("name") for each in functions]
    if sorted(map(repr, names)) != sorted(map(repr, found)):
        part = Part.INTERFACE if one.get("inlined") else Part.FUNCTIONS
        return Difference(part, f"the functions are {found!r:.150}")
    if names != found and one.get("inlined"):
        return Difference(Part.INTERFACE, f"the functions are not in their order: {found!r:.150}")
    mine = {each["name"]: each for each in one["functions"]}
    for theirs in functions:
        if (differs := _function_differs(mine[theirs["name"]], theirs)) is not None:
            return Difference(differs.part, f"{theirs['name']}{differs.why}")
    return None


def _function_differs(one: Any, other: Any) -> Difference | None:
    if (differs := _type(one["ret"], other.get("ret"))) is not None:
        plain = differs.part in (Part.NULL, Part.BUILT_IN)
        return Difference(Part.RESULT if plain else differs.part, f": {differs.why}")
    if (differs := _fields(one["args"], _list(other, "args"), Part.ARGUMENTS)) is not None:
        return Difference(differs.part, f": {differs.why}")
    throws = other.get("throws") or []
    if not isinstance(throws, list) or set(map(str, throws)) != set(one["throws"]):
        return Difference(Part.THROWS, f" throws {throws!r:.80}")
    return None


def _application(one: Any, other: Any) -> Difference | None:
    entries = _list(other, "entries")
    if entries is None or any(not isinstance(each, dict) for each in entries):
        return Difference(Part.APPLICATION, "there is no list of entries")
    mine = [(e["service"], e["version"], e["scope"]) for e in one["entries"]]
    theirs = [(e.get("service"), integer(e.get("version")), e.get("scope")) for e in entries]
    if sorted(map(repr, mine)) != sorted(map(repr, theirs)):
        shared = Part.SHARED_SERVICE if len({entry[0] for entry in mine}) < len(mine) else Part.APPLICATION
        implicit = any(entry[2] == META_SCOPE for entry in theirs)
        return Difference(Part.INVENTED_META if implicit else shared, f"the entries are {theirs!r:.200}")
    wanted = {e["scope"]: bool(e["default"]) for e in one["entries"]}
    for entry in entries:
        if bool(entry.get("default")) != wanted[entry["scope"]]:
            why = f"{entry['scope']} is {'' if entry.get('default') else 'not '}the default"
            return Difference(Part.DEFAULT_SCOPE, why)
    return None


def _typedef(one: Any, other: Any) -> Difference | None:
    differs = _type(one["type"], other.get("type"))
    return None if differs is None else Difference(Part.TYPEDEF, differs.why)


def _typespec(one: Any, other: Any) -> Difference | None:
    for name in ("for", "target", "field", "foreign"):
        got = other.get(name) or None
        if name == "foreign" and isinstance(got, str):
            got = "".join(got.split())
        if got != one.get(name):
            return Difference(Part.TYPESPEC, f"{name} is {got!r:.60}, not {one.get(name)!r:.60}")
    return None


_WORDS = tuple(sorted(RESERVED))
_KINDS: Mapping[str, Callable[[Any, Any], Difference | None]] = {
    "message": _message, "exception": _message, "service": _service, "interface": _service,
    "application": _application, "typedef": _typedef, "typespec": _typespec,
}  # fmt: skip
