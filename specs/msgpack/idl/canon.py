"""The canonical syntax tree as JSON data, and in which requirement one differs from another.

Source: docs/implementations.md, of processors of the interface language. A base that is absent or null, `null` and
`default` that are absent or false, any list that is absent, null or empty are equal; fields and arguments are sorted by
id.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specs.msgpack.idl.semantics import Reading
from specs.msgpack.idl.tokens import BUILTINS, GENERICS
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

Difference = tuple[str, str]
"""The short id of the requirement, and what differs."""


def difference(mine: Mapping[str, Any], theirs: Any) -> Difference | None:
    """Where the tree `theirs`, which came from outside, is not `mine`; None when it is."""
    wanted, got = mine["definitions"], _list(theirs, "definitions")
    if got is None:
        return "ERR-04", "there is no list of definitions"
    heads = [(each["k"], each["name"] if "name" in each else each["target"]) for each in wanted]
    found = [(each.get("k"), each.get("name", each.get("target"))) if isinstance(each, dict) else None for each in got]
    if heads != found:
        if sorted(map(repr, heads)) == sorted(map(repr, found)):
            return "ERR-04", f"the definitions are not in their order: {found!r:.200}"
        missing = [head for head in heads if head not in found]
        extra = [head for head in found if head not in heads]
        return _headless(missing, extra), f"the definitions are others: {found!r:.200}"
    for one, other in zip(wanted, got, strict=True):
        if (differs := _KINDS[one["k"]](one, other)) is not None:
            return differs[0], f"{one['k']} {one.get('name', '')!s:.40}: {differs[1]}"
    return None


_RULES = {
    "message": "FIELD-05", "exception": "EXC-01", "service": "SVC-01", "application": "APP-01", "typedef": "TD-01",
    "typespec": "TS-01", "interface": "IF-02",
}  # fmt: skip


def _list(holder: Any, name: str) -> list[Any] | None:
    """A list in an object, empty where it is absent or null; None for anything else."""
    if not isinstance(holder, dict):
        return None
    found = holder.get(name) or []
    return found if isinstance(found, list) else None


def _headless(missing: list[Any], extra: list[Any]) -> str:
    for kind, _ in missing:
        return _RULES[kind]
    implicit = any(head is not None and head[1] == "BuiltInService" for head in extra)
    return "NOSC-01" if implicit else "ERR-04"


def _message(one: Any, other: Any) -> Difference | None:
    if one["k"] == "exception":
        if (other.get("base") or None) != one["base"]:
            return "EXC-01", f"the base is {other.get('base')!r:.60}"
        if other.get("path") != one["path"]:
            return "EXC-07", f"the path is {other.get('path')!r:.80}, not {one['path']}"
    rule = "FIELD-05" if one["k"] == "message" else "EXC-01"
    return _fields(one["fields"], _list(other, "fields"), rule, argument=False)


def _fields(mine: list[Any], theirs: list[Any] | None, rule: str, *, argument: bool) -> Difference | None:
    if theirs is None or any(not isinstance(each, dict) for each in theirs):
        return rule, "there is no list of fields"
    got = {integer(each.get("id")): each for each in theirs}
    if len(got) != len(theirs) or got.keys() != {each["id"] for each in mine}:
        return rule, f"the ids are {[each.get('id') for each in theirs]!r:.120}"
    for one in mine:
        other = got[one["id"]]
        if other.get("name") != one["name"]:
            known = {each["name"] for each in mine}
            return (
                rule if other.get("name") in known else "LEX-07"
            ), f"the name of {one['id']} is {other.get('name')!r:.40}"
        if (other.get("mod") or ("required" if argument else None)) != one["mod"]:
            return ("SVC-10" if argument else "FIELD-03"), f"the modifier of {one['name']} is {other.get('mod')!r:.20}"
        if (differs := _type(one["type"], other.get("type"))) is not None:
            return differs[0], f"{one['name']}: {differs[1]}"
        mine_is, theirs_is = one.get("default"), other.get("default")
        if theirs_is is None:
            if mine_is is not None and mine_is is not False and mine_is != "":  # these may be left out
                return "DEF-01", f"the default of {one['name']} is missing"
        elif "default" not in one:
            return "DEF-01", f"{one['name']} has a default that nobody wrote"
        elif not _same(mine_is, theirs_is, one["type"]):
            return "DEF-01", f"the default of {one['name']} is {theirs_is!r:.40}"
    return None


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
        return "TYPE-01", "there is no type"
    if bool(other.get("null")) != bool(one.get("null")):
        return "FIELD-04", f"it is {'' if other.get('null') else 'not '}nullable"
    if other.get("t") != one["t"]:
        alias = one["t"] != "ref" and other.get("t") == "ref"
        rule = "TD-01" if alias else "TYPE-05" if one["t"] == "ref" else "TYPE-04" if "of" in one else "TYPE-01"
        return rule, f"the type is {other.get('t')!r:.40}, not {one['t']}"
    if one["t"] == "ref" and other.get("name") != one["name"]:
        return "TYPE-05", f"the type is {other.get('name')!r:.40}, not {one['name']}"
    if "of" in one:
        of = other.get("of")
        if not isinstance(of, list) or len(of) != len(one["of"]):
            return "TYPE-04", f"the type arguments of {one['t']} are {of!r:.80}"
        for mine, theirs in zip(one["of"], of, strict=True):
            if (differs := _type(mine, theirs)) is not None:
                return ("TYPE-04" if differs[0] in ("TYPE-01", "FIELD-04") else differs[0]), differs[1]
    return None


def _service(one: Any, other: Any) -> Difference | None:
    if integer(other.get("version")) != one["version"]:
        return "SVC-01", f"the version is {other.get('version')!r:.40}, not {one['version']}"
    functions = _list(other, "functions")
    if functions is None or any(not isinstance(each, dict) for each in functions):
        return "SVC-01", "there is no list of functions"
    names = [each["name"] for each in one["functions"]]
    found = [each.get("name") for each in functions]
    if sorted(map(repr, names)) != sorted(map(repr, found)):
        return ("IF-02" if one.get("inlined") else "SVC-04"), f"the functions are {found!r:.150}"
    if names != found and one.get("inlined"):
        return "IF-02", f"the functions are not in their order: {found!r:.150}"
    mine = {each["name"]: each for each in one["functions"]}
    for theirs in functions:
        function = mine[theirs["name"]]
        if (differs := _type(function["ret"], theirs.get("ret"))) is not None:
            return (
                "SVC-06" if differs[0] in ("FIELD-04", "TYPE-01") else differs[0]
            ), f"{theirs['name']}: {differs[1]}"
        if (differs := _fields(function["args"], _list(theirs, "args"), "SVC-07", argument=True)) is not None:
            rule = "SVC-10" if differs[0] == "FIELD-04" else differs[0]
            return rule, f"{theirs['name']}: {differs[1]}"
        throws = theirs.get("throws") or []
        if not isinstance(throws, list) or sorted(map(repr, set(map(str, throws)))) != sorted(
            map(repr, set(function["throws"]))
        ):
            return "SVC-09", f"{theirs['name']} throws {throws!r:.80}"
    return None


def _application(one: Any, other: Any) -> Difference | None:
    entries = _list(other, "entries")
    if entries is None or any(not isinstance(each, dict) for each in entries):
        return "APP-01", "there is no list of entries"
    mine = [(e["service"], e["version"], e["scope"]) for e in one["entries"]]
    theirs = [(e.get("service"), integer(e.get("version")), e.get("scope")) for e in entries]
    if sorted(map(repr, mine)) != sorted(map(repr, theirs)):
        implicit = [entry for entry in theirs if entry[2] == "_"]
        rule = "NOSC-01" if implicit else "APP-05" if len({e[0] for e in mine}) < len(mine) else "APP-01"
        return rule, f"the entries are {theirs!r:.200}"
    wanted = {e["scope"]: bool(e["default"]) for e in one["entries"]}
    for entry in entries:
        if bool(entry.get("default")) != wanted[entry["scope"]]:
            return "APP-04", f"{entry['scope']} is {'' if entry.get('default') else 'not '}the default"
    return None


def _typedef(one: Any, other: Any) -> Difference | None:
    differs = _type(one["type"], other.get("type"))
    return None if differs is None else ("TD-01", differs[1])


def _typespec(one: Any, other: Any) -> Difference | None:
    for name in ("for", "target", "field", "foreign"):
        got = other.get(name) or None
        if name == "foreign" and isinstance(got, str):
            got = "".join(got.split())
        if got != one.get(name):
            return "TS-01", f"{name} is {got!r:.60}, not {one.get(name)!r:.60}"
    return None


_KINDS = {
    "message": _message, "exception": _message, "service": _service, "interface": _service,
    "application": _application, "typedef": _typedef, "typespec": _typespec,
}  # fmt: skip
