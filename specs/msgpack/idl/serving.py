"""The acceptor of a server that is made from an IDL document: which answers a call may get.

Source: 004_4ca5b084f7ea0751.txt, services, exceptions, meta service, use without a scope. The server is told beside the
wire what to serve and how its functions behave (docs/implementations.md); what it is told stands in the trace as a Fact
of the client.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.model import Allow, Breach, Outcome
from specs.msgpack import values
from specs.msgpack.idl.canon import integer
from specs.msgpack.idl.grammar import IDL
from specs.msgpack.idl.service import Served, Slot, served, target
from specs.msgpack.idl.tree import Function, Type
from specs.msgpack.idl.wire import Struct, Types, Unfit, floating
from specs.msgpack.states import Config

ANY = ("any",)
ERROR = ("error",)
DEFAULT = {"do": "default"}


class Call(NamedTuple):
    """A request that was said. `wanted` are alternatives: ("value", type, value), ("error",), ("path", text), ("any",).
    `rule` is broken by whoever answers in no such way. `early`: what was wanted while an older version did something
    else, of whoever found out before the call what it does; FALL-04."""

    id: int
    method: str
    wanted: tuple[Any, ...]
    rule: str
    early: tuple[Any, ...] = ()


class ServingState(NamedTuple):
    """`told` are ops that were not answered, with the behaviours as they were before. `former` are behaviours that
    there were since it was served. `refused` are names of functions
    without a scope that were refused, with their forms. `loose`: the document may be refused. `failed`: the last answer
    was an error; `over`: the server was told to stop, or to serve something else."""

    config: Config
    app: Served | None = None
    behaviours: tuple[tuple[str, Any], ...] = ()
    told: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...] = ()
    former: tuple[tuple[tuple[str, Any], ...], ...] = ()
    calls: tuple[Call, ...] = ()
    refused: frozenset[tuple[str, str]] = frozenset()
    loose: bool = False
    failed: bool = False
    over: bool = False
    gone: bool = False


def blame(rule: str, why: str, then: ServingState | None = None, level: str | None = None) -> Breach:
    """A breach of the server."""
    if then is None:
        return Breach("idl-server", IDL + rule, why, level=level)
    return Breach("idl-server", IDL + rule, why, then=then, level=level)


class ServingModel:
    """See the module."""

    drifts = False

    def initial(self, config: Config) -> ServingState:
        """Nothing served."""
        return ServingState(config)

    def drift(self, state: ServingState) -> Iterable[ServingState]:
        """None."""
        return ()

    def owed(self, state: ServingState, role: str) -> Iterator[str]:
        """What it was told and asked, and has not answered."""
        if role == "idl-server" and not state.gone:
            yield from (IDL + "DISP-01" for _ in state.told)
            yield from (IDL + (call.rule or "DISP-02") for call in state.calls)

    def step(self, state: ServingState, event: Event) -> Iterable[Outcome]:
        """One reading always."""
        if isinstance(event, Fact):
            return (_fact(state, event),)
        if isinstance(event, Said):
            if event.by == "idl-server":
                return (_heard(state, event.frame.body),)
            return (Allow(_asked(state, event.frame.body)),)
        if isinstance(event, Quiet):
            if event.final and not state.gone and (state.told or state.calls):
                what, rule = (state.told[0][0], "DISP-01") if state.told else (state.calls[0][1], state.calls[0].rule)
                return (blame(rule or "DISP-02", f"no answer came: {what!s:.80}"),)
            return (Allow(state),)
        if isinstance(event, Closed):
            return (_closed(state, event),)
        assert isinstance(event, Noise)
        if event.by == "idl-server":
            return (blame("DISP-01", f"octets that are no MessagePack: {event.why}"),)
        return (Allow(state._replace(gone=True, calls=())),)


def _closed(state: ServingState, event: Closed) -> Outcome:
    """A connection on which something is open, or was just refused, must stay; MP-20 and ML-21."""
    after = state._replace(gone=True, calls=(), told=())
    if event.by != "idl-server" or state.app is None or state.over:
        return Allow(after)
    call = state.calls[0] if state.calls else None
    if (call is not None and call.wanted == (ANY,)) or (call is None and not state.failed):
        return Allow(after)
    rule = call.rule if call is not None and call.rule != "DISP-05" else ""  # closing is no choice of a scope
    return blame(rule or "EXW-03", f"the connection ended: {call and call.method!r}")


# -- what the server is told -------------------------------------------------------------------------------------------


def _fact(state: ServingState, event: Fact) -> Outcome:
    if event.by != "idl-server":
        return Allow(_told(state, event.name, event.value or {}))
    if event.name == "exit":
        return blame("DISP-01", f"the program ended: {event.value!r:.80}")
    if event.name != "answer" or not state.told:
        return Allow(state)
    (op, before), *rest = state.told
    after = state._replace(told=tuple(rest))
    if "ok" in event.value:
        return Allow(after)
    if op == "serve" and state.loose:
        return Allow(after._replace(gone=True, calls=()))
    if op == "serve":
        return blame("DISP-01", f"a legal document is not served: {event.value.get('error')!r:.200}")
    return Allow(after._replace(behaviours=before))  # that behaviours can be changed later is an offer


def _told(state: ServingState, op: str, value: Mapping[str, Any]) -> ServingState:
    told = (*state.told, (op, state.behaviours))
    if op == "stop":
        return state._replace(told=told, over=True)
    if op == "serve":
        config = state.config
        app = served(value["idl"], value["application"], config.extensions, config.layout or "array-1", config.raw)
        return state._replace(app=app, behaviours=tuple(value["behaviour"].items()), told=told, former=(),
                              loose=app is None or app.loose,
                              over=state.app is not None)  # fmt: skip
    if op == "assign":
        behaviours = dict(state.behaviours) | {value["slot"]: value["behaviour"]}
        former = (*state.former, state.behaviours)
        return state._replace(behaviours=tuple(behaviours.items()), told=told, former=former)
    return state._replace(told=told)


# -- calls -------------------------------------------------------------------------------------------------------------


def _asked(state: ServingState, body: Any) -> ServingState:
    if not isinstance(body, tuple) or len(body) != 4 or body[0] != 0:
        return state
    _, number, method, params = body
    call = Call(number, method, (ANY,), "")
    if state.app is not None and isinstance(method, str):
        call = _call(state, state.app, number, method, params)
    return state._replace(calls=(*state.calls, call))


def _call(state: ServingState, app: Served, number: int, method: str, params: tuple[Any, ...]) -> Call:
    found = target(app, method, state.config.extensions)
    if found.meta:
        return Call(number, method, _version(app, params), found.rule)
    if not found.slots:
        return Call(number, method, (ERROR,) if found.rule else (ANY,), found.rule)
    behaviours = dict(state.behaviours)
    wanted: list[Any] = []
    early: list[Any] = []
    rule = found.rule
    for slot in found.slots:
        if behaviours.get(slot.key, DEFAULT).get("do") == "default":
            for former in state.former:
                before = dict(former) | {slot.key: DEFAULT}
                early += _outcome(app, slot, before, params, state.config.echo_form)[0]
        alternatives, narrower = _outcome(app, slot, behaviours, params, state.config.echo_form)
        wanted += alternatives
        rule = narrower if narrower and found.rule != "DISP-05" else rule
    if found.refused and ERROR not in wanted:
        wanted.append(ERROR)
    return Call(number, method, tuple(wanted), rule, tuple(early))


def _version(app: Served, params: tuple[Any, ...]) -> tuple[Any, ...]:
    scope = params[-1] if params else None
    mounted = app.mounted(scope) if isinstance(scope, str) else None
    if mounted is None:
        return (ANY,) if scope in ("", "_", None) or not isinstance(scope, str) else (ERROR,)
    return tuple(("value", Type("int"), n) for n in {mounted.declared, max(mounted.versions)})


def _outcome(
    app: Served, slot: Slot, behaviours: Mapping[str, Any], params: tuple[Any, ...], first: int
) -> tuple[list[Any], str]:
    """The alternatives of a call that reaches `slot`, and the rule of the way there, "" for the plain one. `first` is
    the number by which a behaviour names the first argument."""
    here = app.answering(slot, behaviours)
    if here == "open":
        return [ANY], ""
    if not isinstance(here, Slot):
        return [ERROR], "FALL-02"
    rule = "FALL-01" if here.version < slot.version else _own(app, here, behaviours)
    try:
        given = app.types.message(params, slot.function.args, "")
    except Unfit as unfit:
        return ([ERROR], unfit.rule) if unfit.rule else ([ANY], "")
    behaviour = _awake(behaviours[here.key])
    alternatives, rule = _behaving(app, here, behaviour, params, given, rule, first)
    if alternatives[0][0] == "path" and not all(_declares(each.function, alternatives[0][1]) for each in (slot, here)):
        alternatives, rule = [ERROR], "EXW-03"  # ML-18
    if len(params) > app.types.size(slot.function.args):  # ML-25
        alternatives.append(ERROR)
    return alternatives, rule


def _declares(function: Function, path: str) -> bool:
    """True when a function throws the exception of a path, or one of its bases."""
    return any(name in path.split(".") for name, _ in function.throws)


def _own(app: Served, here: Slot, behaviours: Mapping[str, Any]) -> str:
    """FALL-03 where another version has an implementation that would answer otherwise."""
    mounted = app.scopes[here.scope]
    older = [f"{here.scope}/{v}/{here.function.name}" for v in mounted.versions if v < here.version]
    newer = [f"{here.scope}/{v}/{here.function.name}" for v in mounted.versions if v > here.version]
    mine = _awake(behaviours[here.key])
    others = [_awake(behaviours.get(key, DEFAULT)) for key in older + newer]
    return "FALL-03" if any(each != DEFAULT and (each != mine or each["do"] == "tag") for each in others) else ""


def _awake(behaviour: Mapping[str, Any]) -> Mapping[str, Any]:
    """A behaviour without what it sleeps before."""
    while behaviour.get("do") == "sleep":
        behaviour = behaviour["then"]
    return behaviour


def _behaving(
    app: Served, here: Slot, behaviour: Mapping[str, Any], params: tuple[Any, ...], given: Struct, rule: str, first: int
) -> tuple[list[Any], str]:
    do, kind = behaviour.get("do"), here.function.ret
    if do == "tag":
        return [("value", Type("string"), here.key)], rule or ("ENC-12" if here.function.args else "")
    if do == "const":
        rule = rule or ("ENC-12" if kind.name == "void" else "ENC-01")
        return [("value", kind, untold(behaviour.get("value"), kind, app.types), True)], rule
    if do == "echo":
        arguments, at = given[1], behaviour["n"] - first
        if not 0 <= at < len(arguments):
            return [ANY], ""
        rule = "ENC-12" if len(arguments) > 1 else "ENC-01"
        return [("value", kind, arguments[at][1], not app.types.filled(params[-1], kind))], rule
    if do == "throw":
        return [("path", app.paths.get(behaviour["exception"], behaviour["exception"]))], rule or "EXW-01"
    if do == "fail":
        return [ERROR], "EXW-03"
    return [ANY], ""


def untold(told: Any, kind: Type, types: Types) -> Any:
    """The value of a type that tagged JSON data stand for."""
    if told is None:
        return None
    if isinstance(told, dict) and "$raw" in told:
        return bytes.fromhex(told["$raw"])
    if kind.name in ("float", "double"):
        number = float(told["$f"]) if isinstance(told, dict) else float(told)
        return floating(number, kind.name)
    if kind.name == "list":
        return tuple(untold(part, kind.of[0], types) for part in told)
    if kind.name == "map":
        pairs = told["$map"] if isinstance(told, dict) and "$map" in told else list(told.items())
        return frozenset((untold(key, kind.of[0], types), untold(part, kind.of[1], types)) for key, part in pairs)
    if kind.name in types.messages:
        fields = types.messages[kind.name].fields
        found = [(f.name, untold(told[f.name], f.type, types) if f.name in told else types.omitted(f)) for f in fields]
        return kind.name, tuple(found)
    return told if isinstance(told, (bool, bytes)) or kind.name in ("string", "raw") else integer(told)


# -- answers -----------------------------------------------------------------------------------------------------------


def _heard(state: ServingState, body: Any) -> Outcome:
    if not isinstance(body, tuple) or len(body) != 4 or body[0] != 1 or isinstance(body[0], bool):
        return Allow(state)  # a peer may call its client
    _, number, error, result = body
    at = next((n for n, call in enumerate(state.calls) if call.id == number and type(number) is int), None)
    if at is None:
        return blame("EXW-03", f"an answer to no call: {values.describe(number)}", state)
    call = state.calls[at]
    after = state._replace(calls=state.calls[:at] + state.calls[at + 1 :], failed=error is not None)
    if state.app is not None and state.app.anonymous and error is not None:
        broken, after = _unscoped(call, after)
        if broken is not None:
            return broken
    said = f"{call.method} was answered by error={values.describe(error)!s:.80} result={values.describe(result)!s:.80}"
    assert state.app is not None
    if not any(_fits(want, error, result, state.app.types) for want in call.wanted):
        if any(_fits(want, error, result, state.app.types) for want in call.early):
            return Allow(after, (), (blame("FALL-04", f"an older version does something else by now: {said}"),))
        rule = "META-01" if call.rule == "META-02" and error is not None else call.rule
        return blame(rule or "DISP-02", f"{_wish(call)}: {said}", after)
    lapses: tuple[Breach, ...] = ()
    covers = [call.rule] if call.rule else []
    if call.wanted != (ANY,):
        covers += ["META-01"] if call.rule == "META-02" else []
        covers += _shown(call, state)
    if error is not None:
        covers.append("EXW-02")
        if result is not None:
            lapses = (blame("EXW-02", f"a result beside an error: {said}", level="SHOULD"),)
    return Allow(after, tuple(IDL + name for name in dict.fromkeys(covers)), lapses)


def _shown(call: Call, state: ServingState) -> Iterator[str]:
    assert state.app is not None
    parts = call.method.split(":")
    if len({each.service for each in state.app.scopes.values()}) < len(state.app.scopes) and len(parts) == 3:
        yield "FALL-05"
    if any(op for op, _ in state.told) or call.rule in ("FALL-01", "FALL-03"):
        yield "FALL-04"
    if call.rule == "ENC-12":
        yield "ENC-12"
    if any(parts[0] in names for names in state.app.inherited.values()) and call.wanted[0][0] == "value":
        yield "IF-02"
    for want in call.wanted:
        if want[0] == "value" and isinstance(want[2], tuple):
            yield from ("ENC-05", "ENC-06", "ENC-08", "ENC-10", "ENC-11", "DEF-04")
        elif want[0] == "path":
            yield "EXC-07"


def _wish(call: Call) -> str:
    kinds = {want[0] for want in call.wanted}
    return f"{' or '.join(sorted(kinds))} was wanted"


def _fits(want: Any, error: Any, result: Any, types: Types) -> bool:
    if want[0] == "any":
        return True
    if want[0] == "error":
        return error is not None
    if want[0] == "path":
        return error is not None and any(_says(text, want[1]) for text in _texts((error, result)))
    if error is not None:
        return False
    if want[1].name == "void":
        return result is None
    if want[3:] == (True,) and types.filled(result, want[1]):
        return False  # a gap is nil, unless what was there when it was read is kept
    try:
        return bool(types.written().decoded(result, want[1]) == want[2])
    except Unfit:
        return False


def _texts(value: Any) -> Iterator[str]:
    for part in values.inside(value):
        if isinstance(part, str):
            yield part
        elif isinstance(part, bytes):
            yield part.decode("utf-8", "replace")


def _says(text: str, path: str) -> bool:
    """True when the path stands in a text, not as a part of a longer one."""
    at = text.find(path)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(path) : at + len(path) + 1]
        if not (before.isalnum() or before in ("_", ".")) and not (after.isalnum() or after == "_"):
            return True
        at = text.find(path, at + 1)
    return path == text


def _unscoped(call: Call, after: ServingState) -> tuple[Breach | None, ServingState]:
    """Some form of the name of a function without a scope must be known."""
    name, *rest = call.method.split(":")
    if not rest or not rest[-1] or not any(want[0] == "value" for want in call.wanted):
        return None, after  # an error may have been what the function came to
    refused = after.refused | {(f"{name}:{rest[-1]}", "::" if len(rest) == 2 else ":")}
    after = after._replace(refused=refused)
    if all((f"{name}:{rest[-1]}", form) in refused for form in ("::", ":")):
        return blame("NOSC-01", f"{name} can be called in no form: error={call.method!r}", after), after
    return None, after
