"""What a client that is made from a document is asked before it is judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from specs.events import Fact, Said
from specs.msgpack.bundle import META, versions_told
from specs.msgpack.frames import response, shape
from specs.msgpack.idl.wire import LAYOUTS
from specs.msgpack.states import ARGUMENTS, LITERALS, NULLABLE, ORDER, VERSIONS, Config
from specs.msgpack.values import Text
from specs.plan import Control, Plan, Ref, Say, Step, Wait

Play = Callable[[Plan, Any], tuple[Any, Any]]
_DOCUMENT = (
    "exception E {\n}\nmessage M {\n  2: int x\n}\n"
    "service S: 0 {\n  int e(1: int a)\n  string r(1: raw a)\n  M m()\n  string t() throws E\n  list<string> l()\n}\n"
    "application A {\n  S: 0 s default\n}\n"
)
_OPEN: Mapping[str, str] = {
    NULLABLE: "message N {\n  1: list<int?> x\n}\n" + _DOCUMENT,
    ARGUMENTS: "service T: 0 {\n  int f(1: int a, 3: optional int b)\n}\n" + _DOCUMENT,
    ORDER: "service T: 0 {\n  int f(2: int a, 1: int b)\n}\n" + _DOCUMENT,
    VERSIONS: "service S: 1 {\n}\n" + _DOCUMENT.replace("default", "default\n  S: 1 t"),
    LITERALS: "message N {\n  1: optional int? x = 7\n}\n" + _DOCUMENT,
}
"""Documents with one point each that may be refused."""
VERSIONS_TOLD = versions_told({"s": 0, "t": 1})


LARGE = ("x" * 800,) * 400
"""A message of so many octets is refused for its size, since nothing in it is large; see MP-17."""
SMALL = 48_000
"""Octets of a message that are asked for where that one was refused."""


def within(config: Config, takes: Callable[[Any], bool]) -> int:
    """How many octets a message may have: as is declared, or SMALL for who refuses LARGE twice and takes less of it. 0:
    nothing is known to be too much."""
    if config.size or takes(LARGE) or not takes(LARGE[:2]) or takes(LARGE):
        return config.size
    return SMALL


def discover_caller(play: Play, config: Config) -> Mapping[str, Any]:
    """`curious`: it asks for versions by itself, and is answered. `first`: the id of the first of the params. `layout`:
    of the messages that are read. `old_raw`: a raw is written as a str. `exceptions`: how they must travel to be known.
    `refused`: open points that make it refuse a document. `size`: as `within` says it."""
    found: dict[str, Any] = {"refused": [point for point, text in _OPEN.items() if _refuses(play, config, text)]}
    found["curious"] = _is_curious(play, config)
    sent, _ = _called(play, config, "e", 9, args=[9])
    found["first"] = 0 if sent is not None and sent[:1] == (None,) and sent[-1:] == (9,) else 1
    sent, _ = _called(play, config, "r", "done", args=[{"$raw": "ff" * 3}])
    found["old_raw"] = sent is not None and any(isinstance(part, Text) for part in sent)
    for layout, base in LAYOUTS.items():
        _, told = _called(play, config, "m", (*[None] * (2 - base), 5))
        if _ok(told).get("result") == {"x": 5}:
            found.setdefault("layout", layout)
    for form, error in (("list", ("E",)), ("code", "E")):
        _, told = _called(play, config, "t", None, error)
        if _ok(told).get("caught_as") == "E":
            found.setdefault("exceptions", form)

    def takes(value: Any) -> bool:
        _, told = _called(play, config, "l", value)
        return not isinstance(told, dict) or "ok" in told

    found["size"] = within(config, takes)
    return found


def _asks_for_version(body: tuple[Any, ...]) -> bool:
    return isinstance(body[2], str) and body[2].startswith(f"{META}:")


def _is_curious(play: Play, config: Config) -> bool:
    """True for a client that asks for versions by itself."""
    call = {"app": "A", "scope": "s", "version": 0, "fn": "t", "args": []}
    steps = (
        Control(0, "connect", {"idl": _DOCUMENT, "app": "A"}),
        VERSIONS_TOLD,
        Control(0, "call", call),
        VERSIONS_TOLD,
    )
    answered = Say(0, response(Ref("call", 0), None, "x")), Wait(0), Control(0, "disconnect", {}), Wait(0)
    events, _ = play(Plan((*steps, *answered)), config)
    bodies = [event.frame.body for event in events if isinstance(event, Said) and event.by == "idl-client"]
    return any(_asks_for_version(body) for body in bodies if shape(body) == "request")


def _ok(told: Any) -> Mapping[str, Any]:
    found = told.get("ok") if isinstance(told, dict) else None
    return found if isinstance(found, dict) else {}


def _answers(events: Sequence[Any]) -> list[Any]:
    return [event.value for event in events if isinstance(event, Fact) and event.name == "answer"]


def _refuses(play: Play, config: Config, document: str) -> bool:
    """True when no client is made of a document."""
    steps = (Control(0, "connect", {"idl": document, "app": "A"}), VERSIONS_TOLD, Wait(0))
    events, _ = play(Plan((*steps, Control(0, "disconnect", {}), Wait(0))), config)
    return any(isinstance(told, dict) and "ok" not in told for told in _answers(events)[:1])


def _called(
    play: Play, config: Config, function: str, result: Any, error: Any = None, args: Sequence[Any] = ()
) -> tuple[tuple[Any, ...] | None, Any]:
    """The params of one call, None when none was made, and what was reported of it."""
    call = {"app": "A", "scope": "s", "version": 0, "fn": function, "args": list(args)}
    steps: tuple[Step, ...] = (
        Control(0, "connect", {"idl": _DOCUMENT, "app": "A"}),
        VERSIONS_TOLD,
        Control(0, "call", call),
        VERSIONS_TOLD,
        Say(0, response(Ref("call", 0), error, result)),
        Wait(0),
    )
    events, _ = play(Plan((*steps, Control(0, "disconnect", {}), Wait(0))), config)
    bodies = [event.frame.body for event in events if isinstance(event, Said) and event.by == "idl-client"]
    requests = [body for body in bodies if shape(body) == "request"]
    params = next((body[3] for body in requests if not _asks_for_version(body)), None)
    answers = _answers(events)
    return params, answers[1] if len(answers) > 1 else None
