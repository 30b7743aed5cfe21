"""What a call of a client made from a document must look like on the wire, and what its answer must come to.

Source: 004_4ca5b084f7ea0751.txt, client side, exception, message, use without a scope, meta service. A call is told by
application, scope, version, function and arguments; its arguments are tagged JSON data in the order of their ids, and
those that are not told are left out. What may be reported are alternatives: ("value", type, value), ("failure", names)
with the exceptions as which it may be caught (None: as none), or ("any",).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from specs.msgpack.idl.canon import integer
from specs.msgpack.idl.promises import Promise
from specs.msgpack.idl.semantics import INTEGERS, META_SCOPE
from specs.msgpack.idl.service import Served
from specs.msgpack.idl.tree import Field, Function, Type
from specs.msgpack.idl.wire import LAYOUTS, Types, Unfit, Way, floating, omission, untold, ways
from specs.msgpack.states import Config

ANY = ("any",)
META = Function("getVersion", Type("int"), (Field(1, "scope", "", Type("string")),))
ANYTHING: Any = object()
"""Stands for arguments or parts of them of which nobody says what they are."""


class Call(NamedTuple):
    """A call that a client was told to make. `function` is None when nobody says what becomes of it. `names` are those
    that it may have on the wire, and `wrong` those that the version of an interface makes. `given` are its arguments by
    name, and `left` what sort of default those have that were left out, or fields of theirs. `older`: another version
    of its scope was called before; `inherited`: it comes from an interface; `anonymous`: there is no scope.

    Once it was sent, `id` is that of its request. Once it was answered, `wanted` is what may be reported, `rule` what
    is broken by whoever reports anything else, and `ways` how the result was written. `path` is that of the exception
    that it was answered with, "" when there was none.
    """

    function: Function | None
    scope: str = ""
    version: int = 0
    names: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    given: Any = ANYTHING
    left: frozenset[Way] = frozenset()
    older: bool = False
    anonymous: bool = False
    inherited: bool = False
    sent: bool = False
    id: int | None = None
    wanted: tuple[Any, ...] = ()
    rule: Promise | None = None
    ways: frozenset[Way] = frozenset()
    path: str = ""

    @property
    def name(self) -> str:
        """The first of its names, for people."""
        return self.names[0] if self.names else "a call"


def told(config: Config, app: Served, given: Mapping[str, Any], used: frozenset[tuple[str, int]]) -> Call:
    """The call that a client is told to make."""
    scope, version, name = given.get("scope", ""), given.get("version", 0), given.get("fn", "")
    mounted = app.mounted(scope)
    if "meta" in config.extensions and (scope, version, name) == (META_SCOPE, 0, META.name):
        function: Function | None = META
    else:
        slot = app.slot(scope, version, name)
        function = None if slot is None or slot.unsure else slot.function
    if function is None:
        return Call(None)
    older = any(other == scope and number != version for other, number in used)
    newest = mounted is not None and version == max(mounted.versions)
    parts = given.get("args", ())
    names = _names(name, scope, version, anonymous=app.anonymous, newest=newest)
    inherited = [number for number, listed in app.inherited.items() if name in listed and number != version]
    wrong = tuple(f"{name}:{scope}:{number}" for number in inherited)
    left = frozenset(_omissions(app.types, function, parts))
    arguments = _arguments(app.types, function.args, parts)
    return Call(function, scope, version, names, wrong, arguments, left, older, app.anonymous and scope == "",
                any(name in listed for listed in app.inherited.values()))  # fmt: skip


def _names(name: str, scope: str, version: int, *, anonymous: bool, newest: bool) -> tuple[str, ...]:
    """What a function may be called on the wire. Without a scope the version stands behind one colon or two, or nothing
    stands behind the name where it is the newest version."""
    if anonymous and scope == "":
        return (f"{name}:{version}", f"{name}::{version}", *([name] if newest else []))
    return (f"{name}:{scope}:{version}",)


def _arguments(types: Types, fields: Sequence[Field], parts: Sequence[Any]) -> Any:
    found = []
    for nth, field in enumerate(fields):
        try:
            value = untold(parts[nth], field.type, types) if nth < len(parts) else types.omitted(field)
        except Unfit:  # a message that was left out: nobody says what it is
            return ANYTHING
        found.append((field.name, value))
    return "", tuple(found)


def _omissions(types: Types, function: Function, parts: Sequence[Any]) -> Iterator[Way]:
    """What sort of default that has which was left out of the arguments, or of messages among them."""
    for nth, field in enumerate(function.args):
        if nth >= len(parts):
            yield omission(field)
        elif field.type.name in types.messages and isinstance(parts[nth], dict):
            yield from (omission(e) for e in types.messages[field.type.name].fields if e.name not in parts[nth])


# -- on the wire -------------------------------------------------------------------------------------------------------


def placed(types: Types, first: int, params: tuple[Any, ...]) -> tuple[Any, ...]:
    """Params that begin with the id `first` as messages are laid out, which may begin with another."""
    base = LAYOUTS[types.layout]
    if first == base:
        return params
    return (None, *params) if first > base else params[1:]


def read(types: Types, params: tuple[Any, ...], function: Function) -> Any:
    """What params mean as the arguments of a function; Unfit when they are none."""
    try:
        return types.written().message(params, function.args, "")
    except Unfit as unfit:
        return unfit


def filled(types: Types, params: tuple[Any, ...], function: Function) -> bool:
    """True when there is something in a gap, between arguments or in a message."""
    at = {field.id - LAYOUTS[types.layout]: field for field in function.args}
    last = types.size(function.args)
    return any(
        types.filled(part, at[n].type) if n in at else part is not None and n < last for n, part in enumerate(params)
    )


def gapped(types: Types, function: Function) -> bool:
    """True when arguments or messages among them have gaps."""
    return types.size(function.args) > len(function.args) or any(types.gapped(each.type) for each in function.args)


# -- answers -----------------------------------------------------------------------------------------------------------


def answered(config: Config, app: Served, call: Call, error: Any, result: Any, *, wide: bool) -> Call:
    """The call when it was answered."""
    if call.function is None:
        return call._replace(wanted=(ANY,))
    if error is not None:
        path = _path(config, error)
        return call._replace(wanted=(("failure", _caught(app, call.function, path)),), path=path)
    kind, types = call.function.ret, app.types
    if kind.name == "void":
        return call._replace(wanted=(("value", kind, None) if result is None else ANY,), rule=Promise.SAME_VALUE)
    if not config.layout and types.holds(kind, frozenset(types.messages)):
        return call._replace(wanted=(ANY,))
    try:
        value = types.decoded(result, kind)
    except Unfit as unfit:
        wanted = ("failure", None) if unfit.rule else ANY
        return call._replace(wanted=(wanted,), rule=unfit.rule)
    how = {*ways(types, result, kind), *([Way.WIDE] if wide else [])}
    return call._replace(wanted=(("value", kind, value),), rule=Promise.SAME_VALUE, ways=frozenset(how))


def _path(config: Config, error: Any) -> str:
    """The path of the exception that an error names in the form that the client reads, "" when it names none."""
    first = error[0] if config.exceptions == "list" and isinstance(error, tuple) and error else error
    return first if config.exceptions and isinstance(first, str) else ""


def _caught(app: Served, function: Function, path: str) -> frozenset[str | None] | None:
    """The exceptions as which one with this path may be caught, with None where it need not be caught as any; None
    where nobody says. A client may know the exceptions of the document, or only those that the function throws."""
    if not path:
        return None
    declared = {name: app.paths[name] for name, _ in function.throws if name in app.paths}
    ours, near = nearest(app.paths, path), nearest(declared, path)
    return frozenset((ours, near) if near is not None else (ours, None))


def nearest(paths: Mapping[str, str], path: str) -> str | None:
    """The exception with the longest path of which `path` is, or with which it begins, by whole parts."""
    parts = path.split(".")
    known = {tuple(each.split(".")): name for name, each in paths.items()}
    return next((known[key] for n in range(len(parts), 0, -1) if (key := tuple(parts[:n])) in known), None)


# -- reports -----------------------------------------------------------------------------------------------------------


def reported(part: Any, kind: Type, types: Types, *, defaults: bool) -> Any:
    """The value of a type that a client tells as tagged JSON data. Raises Unfit, and what JSON of another form leads
    to (TypeError, ValueError, KeyError, OverflowError). `defaults`: what was left out is told as what it is."""
    if part is None:
        if kind.null or kind.name == "void":
            return None
        raise Unfit(None, "null for what is not nullable")
    if kind.name in INTEGERS:
        number = integer(part)
        if number is None:
            raise Unfit(None, f"{part!r:.40} is no {kind.name}")
        return number
    if kind.name in ("bool", "string"):
        if type(part) is not (bool if kind.name == "bool" else str):
            raise Unfit(None, f"{part!r:.40} is no {kind.name}")
        return part
    if kind.name == "raw":
        return bytes.fromhex(part["$raw"])
    if kind.name in ("float", "double"):
        return floating(float(part["$f"] if isinstance(part, dict) else part), kind.name)
    if kind.name == "list":
        return tuple(reported(each, kind.of[0], types, defaults=defaults) for each in part)
    if kind.name == "map":
        pairs = part["$map"] if "$map" in part else list(part.items())
        return frozenset(
            (reported(key, kind.of[0], types, defaults=True), reported(each, kind.of[1], types, defaults=defaults))
            for key, each in pairs
        )
    found = []
    for field in types.messages[kind.name].fields:
        absent = field.name not in part or (part[field.name] is None and not field.type.null and not defaults)
        if absent and field.mod != "optional":
            raise Unfit(None, f"{field.name} is missing")
        value = None if absent else reported(part[field.name], field.type, types, defaults=defaults)
        found.append((field.name, types.omitted(field) if absent else value))
    return kind.name, tuple(found)
