"""What a call of a server made from a document must come to, worked out when it is said.

Source: 004_4ca5b084f7ea0751.txt, services, exceptions, meta service, use without a scope. What may be answered are
alternatives: ("value", type, value), ("error",), ("path", text), ("any",).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from specs.msgpack import values
from specs.msgpack.idl.promises import Promise
from specs.msgpack.idl.service import Served, Slot, target
from specs.msgpack.idl.tree import Function, Type
from specs.msgpack.idl.wire import Struct, Types, Unfit, Way, untold, ways
from specs.msgpack.states import Config

ANY = ("any",)
ERROR = ("error",)
DEFAULT = {"do": "default"}
Formers = tuple[tuple[tuple[str, Any], ...], ...]
"""What each function did, at each time before something else was assigned."""


class Call(NamedTuple):
    """A request that was said. `wanted` are the alternatives of an answer, and `rule` what is broken by whoever answers
    in none of them; None when any answer is right. `early`: what was wanted while an older version did something else,
    of whoever found out before the call what it does. `foreign`: values that another scope of the same service would
    answer with, and `newer` those that a newer version of it would.
    `ways`: how its arguments were written. `inherited`: its function comes from an interface; `short`: scope or version
    is left out of its name. `declared`: what such a name means by what the server declares, () when it declares
    nothing."""

    id: int
    method: str
    wanted: tuple[Any, ...]
    rule: Promise | None = None
    early: tuple[Any, ...] = ()
    foreign: tuple[Any, ...] = ()
    newer: tuple[Any, ...] = ()
    ways: frozenset[Way] = frozenset()
    inherited: bool = False
    short: bool = False
    declared: tuple[Any, ...] = ()

    @property
    def free(self) -> bool:
        """True when any answer is right."""
        return self.wanted == (ANY,)


def called(
    config: Config, app: Served, behaviours: Mapping[str, Any], former: Formers,
    body: tuple[Any, ...], *, wide: bool,
) -> Call:  # fmt: skip
    """What a request calls for. `behaviours` are those of now, `former` those that there were before."""
    _, number, method, params = body
    found = target(app, method, config.extensions)
    if found.meta:
        return Call(number, method, _version(app, params), found.rule)
    if not found.slots:
        return Call(number, method, (ERROR,) if found.rule else (ANY,), found.rule)
    wanted: list[Any] = []
    early: list[Any] = []
    foreign: list[Any] = []
    newer: list[Any] = []
    how: set[Way] = {Way.WIDE} if wide else set()
    rule = found.rule
    for slot in found.slots:
        early += _early(app, slot, behaviours, former, params, config.echo_form)
        alternatives, narrower = _outcome(app, slot, behaviours, params, config.echo_form)
        wanted += alternatives
        foreign += _elsewhere(app, slot, behaviours, params, config.echo_form)
        newer += _later(app, slot, behaviours, params, config.echo_form)
        how.update(_ways(app.types, slot.function, params))
        rule = narrower if narrower and found.rule != Promise.DEFAULT_SCOPE else rule
    if found.refused and ERROR not in wanted:
        wanted.append(ERROR)
    short = method.count(":") < 2 and not app.anonymous
    declared = tuple(_declared(config, app, behaviours, former, method, params)) if short else ()
    name = method.partition(":")[0]
    inherited = any(name in names for names in app.inherited.values())
    return Call(number, method, tuple(wanted), rule, tuple(early), tuple(foreign), tuple(newer), frozenset(how),
                inherited, short, declared)  # fmt: skip


def _ways(types: Types, function: Function, params: tuple[Any, ...]) -> Iterator[Way]:
    last = types.size(function.args)
    at = {argument.id - last + len(params[:last]) - 1: argument for argument in function.args}
    for n, part in enumerate(params):
        if n in at:
            yield from ways(types, part, at[n].type)


def _version(app: Served, params: tuple[Any, ...]) -> tuple[Any, ...]:
    scope = params[-1] if params else None
    mounted = app.mounted(scope) if isinstance(scope, str) else None
    if mounted is None:
        return (ANY,) if scope in ("", "_", None) or not isinstance(scope, str) else (ERROR,)
    return tuple(("value", Type("int"), n) for n in {mounted.declared, max(mounted.versions)})


def _declared(
    config: Config, app: Served, behaviours: Mapping[str, Any], former: Formers, method: str, params: tuple[Any, ...]
) -> Iterator[Any]:
    """What a name without scope or version means by what the server declares: the default scope, and the version that
    is declared or the newest, or nothing. When what an older version does is found out is another question (ML-29)."""
    choice, scope = config.declares("bare_name"), app.default
    name, colon, rest = method.partition(":")
    if not name or (colon and not rest):  # ML-17
        return
    if choice == "refuse":
        yield ERROR
    if choice not in ("declared", "newest") or (rest and not rest.isidentifier()) or not (rest or scope):
        return
    mounted = app.mounted(rest or scope or "")
    if mounted is not None:
        version = mounted.declared if choice == "declared" else max(mounted.versions)
        slot = app.slot(rest or scope or "", version, name)
        if slot is None or slot.unsure:  # ML-16
            yield ERROR
        if slot is not None:
            yield from _outcome(app, slot, behaviours, params, config.echo_form)[0]
            yield from _early(app, slot, behaviours, former, params, config.echo_form)


def _early(
    app: Served, slot: Slot, behaviours: Mapping[str, Any], former: Formers, params: tuple[Any, ...], first: int
) -> Iterator[Any]:
    """What a function that is left to an older version came to while that version did something else."""
    if behaviours.get(slot.key, DEFAULT).get("do") == "default":
        for before in former:
            yield from _outcome(app, slot, {**dict(before), slot.key: DEFAULT}, params, first)[0]


def _elsewhere(
    app: Served, slot: Slot, behaviours: Mapping[str, Any], params: tuple[Any, ...], first: int
) -> Iterator[Any]:
    """The values that other scopes of the same service would answer with."""
    service = app.scopes[slot.scope].service
    for scope, mounted in app.scopes.items():
        if scope != slot.scope and mounted.service == service:
            alternatives, _ = _outcome(app, slot._replace(scope=scope), behaviours, params, first)
            yield from (each for each in alternatives if each[0] == "value")


def _later(
    app: Served, slot: Slot, behaviours: Mapping[str, Any], params: tuple[Any, ...], first: int
) -> Iterator[Any]:
    """The values that newer versions would answer with which implement the function themselves."""
    for version, functions in app.scopes[slot.scope].versions.items():
        newer = Slot(slot.scope, version, functions[slot.function.name]) if slot.function.name in functions else slot
        if version > slot.version and behaviours.get(newer.key, DEFAULT).get("do") != "default":
            alternatives, _ = _outcome(app, newer, behaviours, params, first)
            yield from (each for each in alternatives if each[0] == "value")


def _outcome(
    app: Served, slot: Slot, behaviours: Mapping[str, Any], params: tuple[Any, ...], first: int
) -> tuple[list[Any], Promise | None]:
    """The alternatives of a call that reaches `slot`, and the promise of the way there, None for the plain one. `first`
    is the number by which a behaviour names the first argument."""
    here = app.answering(slot, behaviours)
    if here == "open":
        return [ANY], None
    if not isinstance(here, Slot):
        return [ERROR], Promise.NOT_IMPLEMENTED
    rule = Promise.FALLS_BACK if here.version < slot.version else _own(app, here, behaviours)
    try:
        given = app.types.message(params, slot.function.args, "")
    except Unfit as unfit:
        return ([ERROR], unfit.rule) if unfit.rule else ([ANY], None)
    behaviour = _awake(behaviours[here.key])
    alternatives, rule = _behaving(app, here, behaviour, params, given, rule, first)
    if alternatives[0][0] == "path" and not all(_declares(each.function, alternatives[0][1]) for each in (slot, here)):
        alternatives, rule = [ERROR], Promise.FAILED  # ML-18
    if len(params) > app.types.size(slot.function.args):  # ML-25
        alternatives.append(ERROR)
    return alternatives, rule


def _declares(function: Function, path: str) -> bool:
    """True when a function throws the exception of a path, or one of its bases."""
    return any(name in path.split(".") for name, _ in function.throws)


def _own(app: Served, here: Slot, behaviours: Mapping[str, Any]) -> Promise | None:
    """OWN_FIRST where another version has an implementation that would answer otherwise."""
    mounted = app.scopes[here.scope]
    mine = _awake(behaviours[here.key])
    others = [
        _awake(behaviours.get(f"{here.scope}/{version}/{here.function.name}", DEFAULT))
        for version in mounted.versions
        if version != here.version
    ]
    differ = any(each != DEFAULT and (each != mine or each["do"] == "tag") for each in others)
    return Promise.OWN_FIRST if differ else None


def _awake(behaviour: Mapping[str, Any]) -> Mapping[str, Any]:
    """A behaviour without what it sleeps before."""
    while behaviour.get("do") == "sleep":
        behaviour = behaviour["then"]
    return behaviour


def _behaving(
    app: Served, here: Slot, behaviour: Mapping[str, Any], params: tuple[Any, ...], given: Struct,
    rule: Promise | None, first: int,
) -> tuple[list[Any], Promise | None]:  # fmt: skip
    do, kind = behaviour.get("do"), here.function.ret
    if do == "tag":
        return [("value", Type("string"), here.key)], rule or (Promise.ARGUMENTS if here.function.args else None)
    if do == "const":
        rule = rule or (Promise.ARGUMENTS if kind.name == "void" else Promise.SAME_VALUE)
        return [("value", kind, untold(behaviour.get("value"), kind, app.types), True)], rule
    if do == "echo":
        arguments, at = given[1], behaviour["n"] - first
        if not 0 <= at < len(arguments):
            return [ANY], None
        rule = Promise.ARGUMENTS if len(arguments) > 1 else Promise.SAME_VALUE
        return [("value", kind, arguments[at][1], not app.types.filled(params[-1], kind))], rule
    if do == "throw":
        return [("path", app.paths.get(behaviour["exception"], behaviour["exception"]))], rule or Promise.THROWN
    if do == "fail":
        return [ERROR], Promise.FAILED
    return [ANY], None


# -- does an answer fit? -----------------------------------------------------------------------------------------------


def fits(want: Any, error: Any, result: Any, types: Types) -> bool:
    """True when error and result are what an alternative says."""
    if want[0] == "any":
        return True
    if want[0] == "error":
        return error is not None
    if want[0] == "path":
        return error is not None and any(says(text, want[1]) for text in texts((error, result)))
    if error is not None:
        return False
    if want[1].name == "void":
        return result is None
    if want[3:] == (True,) and types.filled(result, want[1]):
        return False  # a gap is nil, unless what was there when it was read is kept
    return bool(read_as(want, result, types) == want[2])


def read_as(want: Any, result: Any, types: Types) -> Any:
    """What a result means as a value of the type that is wanted; Unfit when it is none of it."""
    try:
        return types.written().decoded(result, want[1])
    except Unfit as unfit:
        return unfit


def texts(value: Any) -> Iterator[str]:
    """Every text in a value."""
    for part in values.inside(value):
        if isinstance(part, str):
            yield part
        elif isinstance(part, bytes):
            yield part.decode("utf-8", "replace")


def says(text: str, path: str) -> bool:
    """True when the path stands in a text, not as a part of a longer one."""
    at = text.find(path)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(path) : at + len(path) + 1]
        if not (before.isalnum() or before in ("_", ".")) and not (after.isalnum() or after == "_"):
            return True
        at = text.find(path, at + 1)
    return path == text
