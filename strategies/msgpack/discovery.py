"""What the texts leave open and only the implementation can tell: asked once, before anything is judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from specs.codec import Malformed
from specs.events import Closed, Fact, Said
from specs.msgpack.calls import METHODS
from specs.msgpack.format import decoded, encoded
from specs.msgpack.frames import request, response, shape
from specs.msgpack.lines import Answer, Ask, answer, type_of
from specs.msgpack.states import ARGUMENTS, LITERALS, NULLABLE, ORDER, VERSIONS, Config
from specs.msgpack.values import double
from specs.plan import Close, Control, Plan, Ref, Say, Step, Wait
from strategies.msgpack.discovering import discover_caller, within
from strategies.msgpack.vectors import Questions

Play = Callable[[Plan, Any], tuple[Any, Any]]
_PLAIN: Mapping[str, tuple[Any, ...]] = {
    "echo": (7,), "add": (1, 2), "fail": ("no",), "sleep": (1,), "count": (), "bump": (),
}  # fmt: skip


KEPT_MS = 200
"""For so long a call that somebody waits for may be on its way."""


def discover(play: Play, configure: Callable[[Mapping[str, Any]], Config]) -> Mapping[str, Any]:
    """`size`: how many octets a message may have, where one of more was refused. `offered`: the methods that are there.
    `old_raw`: the format of before 2013 is spoken. `one_number`: floats that
    are whole come back as integers, without exception. `one_line`: line ends mean nothing to a processor of the
    interface language."""
    config = configure({})
    if config.role == "codec":
        return _codec(play, configure)
    if config.role == "client":
        return _client(play, config)
    if config.role == "idl-server":
        return _served(play, config)
    if config.role == "idl-client":
        return discover_caller(play, config)
    if config.role == "idl":
        texts = _ONE_LINE + (_ALIASES,) * ("td" in config.extensions)
        return {"one_line": config.one_line or all(_parses(play, config, text) for text in texts)}
    offered = tuple(name for name in METHODS if _offers(play, config, name))
    whole = [_asked(play, config, "echo", double(number)) for number in (1.0, -3.0, 7.0)]
    one_number = all(found is not None and type(found[1]) is int for found in whole)
    serial = _serial(play, config)
    ask = request(5, config.name("echo"), 7)
    return {
        "offered": offered, "old_raw": _old(play, config), "one_number": one_number, "serial": serial,
        "brief": _brief(play, config, (Say(0, ask),)),
        "size": within(config, lambda value: _gives_back(play, config, value)),
    }  # fmt: skip


def _gives_back(play: Play, config: Config, value: Any) -> bool:
    """False when a server answers with an error, or ends the connection."""
    events, _ = play(Plan((Say(0, request(5, config.name("echo"), value)),)), config)
    said = [event for event in events if isinstance(event, (Said, Closed)) and event.by == "server"]
    failed = (
        isinstance(event, Said) and shape(event.frame.body) == "response" and event.frame.body[2] for event in said
    )
    return not any(failed) and not any(isinstance(event, Closed) for event in said)


def _brief(play: Play, config: Config, ask: Sequence[Step]) -> bool:
    """True when a connection is ended by the server once it has answered, and nothing else was said; seen twice."""
    for _ in range(2):
        events, _ = play(Plan((*ask, Wait(0), Wait(KEPT_MS))), config)
        answered = any(isinstance(event, Said) and event.by == config.role for event in events)
        if not answered or not any(isinstance(event, Closed) and event.by == config.role for event in events):
            return False
    return True


_ONE_LINE = (
    "message AZZ9Z { 1: int x 2: int y }",
    "message AZZ9Z {\n1\n:\nint\nx }",
    "service SZZ9Z:0 { int f() void g() } application AppZZ9Z { SZZ9Z:0 one SZZ9Z:0 two default }",
)
_ALIASES = "typedef int AZZ9Z typedef string BZZ9Z message CZZ9Z { 1: AZZ9Z x 2: BZZ9Z y }"
"""What is taken only where a line end has no meaning."""


def _parses(play: Play, config: Config, text: str) -> bool:
    """True when a document is taken."""
    ask = Ask(1, "parse", text.encode(), "idl", config.profile, None, "free")
    events, _ = play(Plan((Say(0, ask),)), config)
    said = [answer(ask, event.frame) for event in events if isinstance(event, Said) and event.by == "idl"]
    return bool(said) and not said[0].error and not said[0].bad


_OPEN: Mapping[str, str] = {
    NULLABLE: "message M {\n  1: list<int?> x\n}\n{}application A {\n  S: 0 s default\n}\n",
    ARGUMENTS: "{}service T: 0 {\n  int f(1: int a, 3: optional int b)\n}\napplication A {\n  S: 0 s default\n}\n",
    ORDER: "{}service T: 0 {\n  int f(2: int a, 1: int b)\n}\napplication A {\n  S: 0 s default\n}\n",
    VERSIONS: "{}service S: 1 {\n}\napplication A {\n  S: 0 s default\n  S: 1 t\n}\n",
    LITERALS: "message M {\n  1: optional int? x = 7\n}\n{}application A {\n  S: 0 s default\n}\n",
}
"""Documents with one point each that may be refused."""
_SERVICE = "service S: 0 {\n  string f()\n}\n"


def _refused(play: Play, config: Config) -> list[str]:
    """The open points that make a server refuse a document."""
    found = []
    for point, text in _OPEN.items():
        given = {"idl": text.replace("{}", _SERVICE), "application": "A", "behaviour": {"s/0/f": {"do": "tag"}}}
        events, _ = play(Plan((Control(0, "serve", given), Control(0, "stop", {}))), config)
        told = [event.value for event in events if isinstance(event, Fact) and event.name == "answer"]
        if told and isinstance(told[0], dict) and "ok" not in told[0]:
            found.append(point)
    return found


_PROBE = (
    "message M {\n  2: int x\n}\n"
    "service S: 0 {\n  int e(1: int a)\n  M m()\n  M r(1: M a)\n  list<string> l(1: list<string> a)\n}\n"
    "application A {\n  S: 0 s default\n}\n"
)
_READ: Mapping[int, tuple[str, tuple[Any, ...]]] = {
    4: ("array-1", ((None, 5),)), 5: ("array-0", (None, (None, None, 5))),
}  # fmt: skip
"""Requests with a message in each layout, by their ids."""


def _served(play: Play, config: Config) -> Mapping[str, Any]:
    """`layout`: of messages, as they are read, or as they are written where that does not tell it. `echo_form`: how a
    behaviour is told which argument to give back."""
    found: dict[str, Any] = {}
    read: set[str] = set()
    for form in (0, 1):
        echo = {"do": "echo", "n": form, "arg": form}
        behaviour = {"s/0/e": echo, "s/0/m": {"do": "const", "value": {"x": 5}}, "s/0/r": echo}
        serve = Control(0, "serve", {"idl": _PROBE, "application": "A", "behaviour": behaviour})
        asked = [request(1, "m:s:0"), request(2, "e:s:0", 9), request(3, "e:s:0", None, 9)]
        asked += [request(number, "r:s:0", *params) for number, (_, params) in _READ.items()]
        steps: list[Step] = [serve, *(Say(0, each) for each in asked), Control(0, "stop", {})]
        events, _ = play(Plan(tuple(steps)), config)
        said = [event.frame.body for event in events if isinstance(event, Said) and event.by == "idl-server"]
        for body in said:
            if shape(body) == "response" and body[2] is None:
                if body[1] == 1:
                    found["layout"] = _laid_out(body[3])
                elif body[1] in _READ and _laid_out(body[3]):
                    read.add(_READ[body[1]][0])
                elif body[3] == 9:
                    found.setdefault("echo_form", form)
    if len(read) == 1 and found.get("layout"):
        found["layout"] = read.pop()
    form = found.get("echo_form", 0)
    found["size"] = within(config, lambda value: _serves(play, config, form, value))
    given = {"idl": _PROBE, "application": "A", "behaviour": {"s/0/m": {"do": "const", "value": {"x": 5}}}}
    ask = (Control(0, "serve", given), Say(0, request(1, "m:s:0")))
    return found | {"refused": _refused(play, config), "brief": _brief(play, config, ask)}


def _serves(play: Play, config: Config, form: int, value: Any) -> bool:
    """False when a function that gives its argument back answers with an error, or the connection is ended."""
    given = {"idl": _PROBE, "application": "A", "behaviour": {"s/0/l": {"do": "echo", "n": form, "arg": form}}}
    asked = (Say(0, request(number, "l:s:0", *params)) for number, params in enumerate(((value,), (None, value))))
    events, _ = play(Plan((Control(0, "serve", given), *asked, Control(0, "stop", {}))), config)
    return any(
        isinstance(event, Said) and event.by == "idl-server" and event.frame.body[2:] == (None, value)
        for event in events
    )  # fmt: skip


def _laid_out(message: Any) -> str:
    """The layout of a message whose one field has the id 2 and the value 5. That what is empty stands for it in front
    is not asked for here: gaps are judged."""
    if not isinstance(message, tuple) or message[-1:] != (5,) or any(message[:-1]):
        return ""
    return {2: "array-1", 3: "array-0"}.get(len(message), "")


def _client(play: Play, config: Config) -> Mapping[str, Any]:
    """What a client makes of values, shown by its params and by the results that it reports."""
    results: list[Any] = []
    old = True
    for value in (1, double(1.0), double(-3.0), double(7.0)):
        told = {"method": "ask", "params_hex": encoded(("x" * 40, b"bin")).hex()}
        steps = (
            Control(0, "connect", {}),
            Control(0, "call", told),
            Say(0, response(Ref("id", "ask"), None, value)),
            Wait(0),
        )
        events, _ = play(Plan((*steps, Control(0, "disconnect", {}), Wait(0))), config)
        for event in events:
            if isinstance(event, Said) and event.by == "client" and shape(event.frame.body) == "request":
                new = any(isinstance(part, bytes) for part in event.frame.body[3])
                old = old and "str" in event.frame.wide and not new
        results.append(_result(_answers(events)))
    told = {"method": "ask", "params_hex": "90"}
    events, _ = play(
        Plan((Control(0, "connect", {}), Control(0, "call_async", told), Control(0, "disconnect", {}), Wait(0))), config
    )
    serial = any(isinstance(found, dict) and found.get("error") == "unsupported" for found in _answers(events))
    serial = serial or _one_after_the_other(play, config)
    return {
        "old_raw": old, "one_number": all(type(found) is int for found in results), "serial": serial,
        "size": within(config, lambda value: _hands_over(play, config, value)),
    }  # fmt: skip


def _hands_over(play: Play, config: Config, value: Any) -> bool:
    """False when a client reports that a call failed which was answered with a result."""
    told = {"method": "ask", "params_hex": "90"}
    steps = (Control(0, "connect", {}), Control(0, "call", told), Say(0, response(Ref("id", "ask"), None, value)))
    events, _ = play(Plan((*steps, Wait(0), Control(0, "disconnect", {}), Wait(0))), config)
    return not any(isinstance(told, dict) and "ok" not in told for told in _answers(events)[1:2])


def _one_after_the_other(play: Play, config: Config) -> bool:
    """True when a call is kept back until the one before it is answered, though somebody waits for it, or leaves by
    another connection (MP-26), which is not served."""
    calls: list[Step] = [Control(0, "call_async", {"method": method, "params_hex": "90"}) for method in ("a", "b")]
    waits = Control(0, "await", {"handle": Ref("handle", "b"), "_method": "b"})
    answer = Say(0, response(Ref("id", "a"), None, 1), when="now")
    steps: list[Step] = [Control(0, "connect", {}), *calls, waits, Wait(KEPT_MS), answer, Wait(KEPT_MS)]
    events, _ = play(Plan((*steps, Control(0, "disconnect", {}), Wait(0))), config)
    if any(isinstance(event, Fact) and event.name == "accepted" for event in events):
        return True
    said = [event for event in events if isinstance(event, Said)]
    asked = [at for at, event in enumerate(said) if event.by == "client" and event.frame.body[2:3] == ("b",)]
    answered = [at for at, event in enumerate(said) if event.by == "server"]
    return bool(asked and answered) and asked[0] > answered[0]


def _answers(events: Any) -> list[Any]:
    """What a client answered to what it was told, one after the other."""
    return [event.value for event in events if isinstance(event, Fact) and event.name == "answer"]


def _result(answers: list[Any]) -> Any:
    """The result that one of several reports holds, None when none does."""
    for told in answers:
        found = told.get("ok") if isinstance(told, dict) else None
        if isinstance(found, dict) and isinstance(found.get("result_hex"), str):
            try:
                return decoded(bytes.fromhex(found["result_hex"]))[0]
            except (Malformed, ValueError):
                return None
    return None


def _codec(play: Play, configure: Callable[[Mapping[str, Any]], Config]) -> Mapping[str, Any]:
    """`way`: how the codec is spoken to, the first that it answers rightly; and what it makes of values."""
    for way in ("plain", "builtin", "typed", "filter"):
        config = configure({"way": way})
        if any(
            type(found := _recoded(play, config, plain)) is type(plain) and found == plain for plain in (5, True, "a")
        ):
            break
    else:
        return {"way": "none"}
    layout = _layout(play, config)
    octets = (b"\x91" if layout == "array-1" else b"\x92\xc0") + b"\x91\x05"
    refused = [NULLABLE] if _decoded(play, config, "message M {\n  1: list<int?> x\n}\n", octets) is None else []
    if _decoded(play, config, "message M {\n  1: list<int> y\n  2: optional int? x = 7\n}\n", octets) is None:
        refused.append(LITERALS)
    whole = [_recoded(play, config, double(number)) for number in (1.0, -3.0, 7.0)]
    old = not isinstance(_recoded(play, config, b"\xffbin"), bytes)
    if way in ("plain", "filter"):  # with a type the field's own `raw` may be either: see docs/ambiguities.md
        old = old and _recoded(play, config, "x" * 40, plain=True) is None
    return {
        "way": way, "old_raw": old, "one_number": all(type(found) is int for found in whole), "layout": layout,
        "refused": refused,
    }  # fmt: skip


def _layout(play: Play, config: Config) -> str:
    """How a codec lays out the messages of documents, "" when it knows none, or in no way that is judged."""
    document = "message M {\n  2: int x\n}\n"
    for layout, octets in (("array-1", b"\x92\xc0\x05"), ("array-0", b"\x93\xc0\xc0\x05")):
        found = _decoded(play, config, document, octets)
        if isinstance(found, dict) and found.get("x"):  # what it makes of the number is judged, not found out
            return layout
    return ""


def _decoded(play: Play, config: Config, document: str, octets: bytes) -> Any:
    """What a codec makes of some octets, None when it refuses them."""
    ask = Ask(1, "decode", octets, "idl", "M", {"idl": document}, "free")
    events, _ = play(Plan((Say(0, ask),)), config)
    said = [answer(ask, event.frame) for event in events if isinstance(event, Said) and event.by == "codec"]
    return said[0].value if said and not said[0].error else None


def _recoded(play: Play, config: Config, value: Any, *, plain: bool = False) -> Any:
    """`value` as the codec gives it back, None when it does not; `plain`: only if it is in the smallest form."""
    questions = Questions(config, hurry=False)
    questions.vector(encoded(value), value, "free")
    if config.way != "filter":
        number = questions.steps[0].frame.number  # type: ignore[union-attr]
        ask = Ask(number + 1, "encode", encoded(value), config.way, type_of(value), Ref("value", number), "free")
        questions.steps.append(Say(0, ask))
    events, _ = play(Plan(tuple(questions.steps)), config)
    said = [event.frame for event in events if isinstance(event, Said) and event.by == "codec"]
    asked = [event.frame for event in events if isinstance(event, Said) and event.by == "user"]
    answers = (answer(asked[-1], frame) for frame in said[len(asked) - 1 :]) if asked else ()
    found = next((each for each in answers if not each.bad), Answer())  # whoever says more than is asked is judged
    try:
        got, wide = decoded(found.octets or b"")
    except Malformed:
        return None
    return None if plain and wide else got


def _asked(play: Play, config: Config, method: str, *params: Any) -> tuple[Any, Any] | None:
    """Error and result of one call on a connection of its own; None when there is no answer."""
    events, _ = play(Plan((Say(0, request(5, config.name(method), *params)),)), config)
    for event in events:
        if isinstance(event, Said) and event.by == "server" and shape(event.frame.body) == "response":
            _, _, error, result = event.frame.body
            return error, result
    return None


def _offers(play: Play, config: Config, name: str) -> bool:
    """False only for a method that is said to fail each time it is called rightly."""
    if not config.name(name):
        return False
    if name in ("fail", "bump"):
        return True  # an unknown method fails as well; what a request to bump means is free
    answers = [_asked(play, config, name, *_PLAIN[name]) for _ in range(2)]
    return not all(found is not None and found[0] not in (None, False, 0, "") for found in answers)


def _serial(play: Play, config: Config) -> bool:
    """True when a second connection is answered, but not before the first one is closed."""
    first, second = (Say(n, request(5, config.name("echo"), (n,)), when="now") for n in (0, 1))
    together = _answered(play(Plan((first, Wait(0), second, Wait(0))), config))
    after = _answered(play(Plan((first, Wait(0), second, Wait(50), Close(0), Wait(0))), config))
    return together == {0} and after == {0, 1}


def _answered(played: tuple[Any, Any]) -> set[int]:
    return {event.conn for event in played[0] if isinstance(event, Said) and event.by == "server"}


def _old(play: Play, config: Config) -> bool:
    """True when neither str 8 nor bin is known: both are refused, or a text and a bin come back as before 2013."""
    echo = config.name("echo")
    events, _ = play(Plan((Say(0, request(5, echo, "x" * 40)),)), config)
    long = [event.frame for event in events if isinstance(event, Said) and event.by == "server"]
    new_text = any(shape(f.body) == "response" and f.body[3] == "x" * 40 and "str" not in f.wide for f in long)
    found = _asked(play, config, "echo", b"\xffbin")
    new_bin = found is not None and isinstance(found[1], bytes)
    return not new_text and not new_bin
