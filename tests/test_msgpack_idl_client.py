"""Clients made from a document: conversations that are legal though unusual, and what beside them is not."""

from __future__ import annotations

import pytest

from specs.events import Closed, Fact, Noise, Quiet, Said
from specs.msgpack.frames import Frame, notification, request, response
from specs.msgpack.idl.client.machine import MACHINE
from specs.msgpack.values import Map, double, single
from specs.protocol import find
from tests.msgpack_verdicts import verdict

MSGPACK, ROLE = find("msgpack"), "idl-client"
END = Quiet(1000, final=True)
DOCUMENT = """exception A {{
}}
exception B < A {{
}}
message M {{
  1: int x
  3: optional float y
}}
interface I: 9 {{
  void both()
}}
service S: 0 {{
  {0}
}}
service S: 1 {{
  implements I: 9
  {0}
}}
application App {{
  S: 1 s default
}}
"""


def told(op, **given):
    return Fact(0, "server", op, given)


def says(**given):
    return Fact(0, ROLE, "answer", given)


def connected(function="string f()", app="App"):
    return told("connect", idl=DOCUMENT.format(function), app=app), says(op="connect", ok=True)


def call(fn="f", *args, version=0, scope="s", app="App"):
    return told("call", app=app, scope=scope, version=version, fn=fn, args=list(args))


def asks(name="f:s:0", *params, number=1):
    return Said(0, ROLE, request(number, name, *params))


def answers(result=None, error=None, number=1, **more):
    return Said(0, "server", Frame(response(number, error, result).body, **more))


def reports(result):
    return says(op="call", ok={"result": result})


FAILED = says(op="call", error="no")
DONE = (told("disconnect"), says(op="disconnect", ok=True), END)


def blamed(*events, function="string f()", app="App", layout="array-1", exceptions="list", **learnt):
    learnt = {"layout": layout, "exceptions": exceptions, **learnt}
    return verdict(ROLE, *connected(function, app), *events, **learnt)


def one(function, result, report, **learnt):
    """What is blamed on a client that reports a result so."""
    return blamed(call(), asks(), answers(result), report, *DONE, function=function, **learnt)


def failing(error, report, throws="A", **learnt):
    """What is blamed on a client that reports an error so."""
    function = f"string f() throws {throws}"
    return blamed(call(), asks(), answers(None, error), report, *DONE, function=function, **learnt)


def caught(path, name):
    return says(op="call", ok={"exception": path, "caught_as": name, "fields": {}})


# -- names -------------------------------------------------------------------------------------------------------------


def test_a_function_is_called_by_its_scope_and_version():
    for name in ("f:s", "f", "f:s:1", "f:0:s", "f:S:0", "f::0", "F:s:0", "f:s:00"):
        assert blamed(call(), asks(name), answers("x"), reports("x"), *DONE) == ("MPIDL-KLI-01 MUST",), name
    assert blamed(call(), asks(), answers("x"), reports("x"), *DONE) == ()


def test_the_version_of_an_interface_does_not_travel():
    asked = (answers(), says(op="call", ok={}), *DONE)
    assert blamed(call("both", version=1), asks("both:s:9"), *asked) == ("MPIDL-IF-03 MUST",)
    assert blamed(call("both", version=1), asks("both:s:1"), *asked) == ()


@pytest.mark.parametrize(
    ("version", "name", "right"),
    [(1, "f", True), (0, "f", False), (0, "f:0", True), (0, "f::0", True), (1, "f:1", True), (0, "f:S:0", False)],
)
def test_without_a_scope_there_are_two_forms_and_for_the_newest_version_three(version, name, right):
    asked = (call(version=version, scope="", app="S"), asks(name), answers("x"), reports("x"), *DONE)
    assert blamed(*asked, app="S") == (() if right else ("MPIDL-NOSC-01 MUST",))


def test_a_call_that_is_not_made_is_blamed_by_what_is_special_about_it():
    assert blamed(call(), FAILED, *DONE) == ("MPIDL-KLI-01 MUST",)
    assert blamed(call(), END) == ("MPIDL-KLI-01 MUST",)
    first = (call(), asks(), answers("x"), reports("x"))
    assert blamed(*first, call(version=1), FAILED, *DONE) == ("MPIDL-KLI-03 SHOULD",)
    assert blamed(*first, call(), FAILED, *DONE) == ("MPIDL-KLI-01 MUST",)
    assert blamed(call("both", version=1), FAILED, *DONE) == ("MPIDL-IF-02 MUST",)
    function = "string f(1: int a, 2: optional int b)"
    assert blamed(call("f", 1), FAILED, *DONE, function=function) == ("MPIDL-ENC-05 MUST",)


def test_a_document_with_an_open_point_may_be_refused():
    refused = says(op="connect", error="no")
    for function, expected in (("string f()", ("MPIDL-KLI-01 MUST",)), ("string f(1: optional int a)", ())):
        begun = told("connect", idl=DOCUMENT.format(function), app="App")
        assert verdict(ROLE, begun, refused, call(), FAILED, *DONE) == expected


def test_a_client_may_ask_which_versions_there_are():
    asked = asks("getVersion:_:0", "s")
    assert blamed(asked, call(), END) == ()
    assert blamed(call(), asked, END) == ()
    assert blamed(call(), asks("getVersions:_:0", "s"), END) == ("MPIDL-KLI-01 MUST",)
    assert blamed(asks("other:s:0"), END) == ("MPRPC-REQ-01 MUST",)


def test_a_client_that_was_told_the_version_is_judged_as_any_other():
    """ML-32: it owes nothing while it waits, and goes on behind the answer."""
    version = asks("getVersion:_:0", "s", number=7), answers(0, number=7)
    whole = call(), *version, asks(), answers("x"), reports("x"), *DONE
    assert blamed(*whole) == ()
    assert blamed(*version, *whole) == ()
    assert blamed(call(), *version, END) == ("MPIDL-KLI-01 MUST",)
    assert blamed(call(), *version, asks("f:s:1")) == ("MPIDL-KLI-01 MUST",)
    assert blamed(call(), *version, asks(), answers("x"), reports("y"), END) == ("MPIDL-ENC-01 MUST",)
    assert blamed(call(), version[0], says(op="call", error="no answer"), call(), FAILED, *DONE) == ()


# -- requests ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body", [(0, 1, "f:s:0", None), (0, 1, "f:s:0"), (0, -1, "f:s:0", ()), (0, 1, b"f:s:0", ()), (2, "f:s:0", ())]
)
def test_a_request_is_an_array_of_four(body):
    assert blamed(call(), Said(0, ROLE, Frame(body)), END)[:1] == ("MPRPC-REQ-01 MUST",)


def test_a_client_may_notify_of_its_own_accord():
    assert blamed(Said(0, ROLE, notification("hello")), *DONE) == ()
    rest = (asks(), answers("x"), reports("x"), *DONE)
    assert blamed(call(), Said(0, ROLE, notification("hello")), *rest) == ()
    assert blamed(call(), Said(0, ROLE, response(1, None, None)), *rest) == ()
    assert blamed(Noise(0, ROLE, b"\xc1", "never-used"), *DONE) == ("MPRPC-REQ-01 MUST",)


def sent(function, args, *params, first=1, **learnt):
    asked = asks("f:s:0", *params)
    return blamed(call("f", *args), asked, answers("x"), reports("x"), *DONE, function=function, first=first, **learnt)


def test_arguments_stand_in_the_places_of_their_ids():
    function = "string f(1: int a, 2: string b)"
    assert sent(function, (1, "b"), 1, "b") == ()
    assert sent(function, (1, "b"), None, 1, "b", first=0) == ()
    assert sent(function, (1, "b"), None, 1, "b", first=0, layout="array-0") == ()
    assert sent(function, (1, "b"), 1, "b", layout="array-0") == ()
    for params in (("b", 1), (1,), (1, "c"), ((1, "b"),)):
        assert sent(function, (1, "b"), *params), params
    assert sent("string f(2: int a, 1: int b)", (1, 2), 1, 2) == ()
    assert sent("string f(2: int a, 1: int b)", (1, 2), 2, 1) == ("MPIDL-ENC-12 MUST",)


def test_what_is_left_out_may_be_short_nil_or_its_default():
    function = "string f(1: int a, 2: optional int b = 7)"
    for params in ((1,), (1, None), (1, 7)):
        assert sent(function, (1,), *params) == ()
    assert sent(function, (1,), 1, 0) == ("MPIDL-DEF-04 MUST",)


def test_a_float_that_is_whole_may_be_written_as_an_integer():
    assert sent("string f(1: double a)", (2.0,), 2) == ()
    assert sent("string f(1: double a)", (1.5,), double(1.5)) == ()
    assert sent("string f(1: float a)", (0.1,), single(0.1)) == ()
    assert sent("string f(1: float a)", (0.1,), double(0.1)) == ()
    assert sent("string f(1: double a)", (1.5,), double(1.25)) == ("MPIDL-ENC-01 MUST",)


def test_messages_are_written_as_they_are_read():
    told_ = {"x": 1, "y": 0.5}
    assert sent("string f(1: M a)", (told_,), (1, None, single(0.5))) == ()
    assert sent("string f(1: M a)", (told_,), (None, 1, None, single(0.5))) == ("MPIDL-ENC-02 ASSUMED",)
    by_id = Map(((1, 1), (3, single(0.5))))  # so is a map a layout
    assert sent("string f(1: M a)", (told_,), by_id) == ("MPIDL-ENC-02 ASSUMED",)
    assert sent("string f(1: M a)", ({"x": 1},), Map(((1, 1),))) == ("MPIDL-ENC-02 ASSUMED",)
    assert sent("string f(1: list<int> a)", ([1],), Map(((1, 1),))) == ("MPIDL-ENC-11 MUST",)
    assert sent("string f(1: M a)", (told_,), (1, 0, single(0.5))) == ("MPIDL-ENC-10 MUST",)
    assert sent("string f(1: M a)", (told_,), 5, layout="") == ()


# -- results -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "result", "report"),
    [
        ("void f()", None, {}),
        ("void f()", None, {"result": None}),
        ("long f()", 1 << 60, {"result": str(1 << 60)}),
        ("int f()", 5, {"result": 5.0}),
        ("raw f()", b"\xff", {"result": {"$raw": "FF"}}),
        ("raw f()", "r", {"result": {"$raw": "72"}}),
        ("double f()", double(float("inf")), {"result": {"$f": "inf"}}),
        ("float f()", single(0.1), {"result": 0.1}),
        ("float f()", single(0.1), {"result": 0.10000000149011612}),
        ("M f()", (1,), {"result": {"x": 1, "y": 0}}),
        ("M f()", (1,), {"result": {"x": 1}}),
        ("list<string>? f()", None, {"result": None}),
    ],
)
def test_a_result_may_be_told_in_more_than_one_way(function, result, report):
    assert one(function, result, says(op="call", ok=report)) == ()


@pytest.mark.parametrize(
    ("function", "result", "report", "expected"),
    [
        ("int f()", 1, {"result": True}, "MPIDL-ENC-01"),
        ("int f()", 1, {"result": 2}, "MPIDL-ENC-01"),
        ("int f()", 1, {}, "MPIDL-ENC-01"),
        ("string f()", "1", {"result": 1}, "MPIDL-ENC-01"),
        ("raw f()", b"r", {"result": "r"}, "MPIDL-ENC-01"),
        ("string? f()", None, {"error": "no"}, "MPIDL-ENC-04"),
        ("string f()", None, {"result": ""}, "MPIDL-ENC-04"),
        ("int f()", 1 << 31, {"result": 1 << 31}, "MPIDL-ENC-07"),
        ("M f()", (), {"result": {"x": 0}}, "MPIDL-ENC-03"),
        ("M f()", (1,), {"result": {"x": 1, "y": 1}}, "MPIDL-DEF-07"),
        ("M f()", (1,), {"result": {"x": 1, "y": None}}, "MPIDL-ENC-05"),
        ("M f()", (1, None, double(0.5), 9), {"error": "long"}, "MPIDL-ENC-06"),
        ("M f()", (1, 7, double(0.5)), {"error": "gap"}, "MPIDL-ENC-10"),
        ("M f()", (1, 7, double(0.5), 9), {"result": {"x": 2, "y": 0.5}}, "MPIDL-ENC-01"),
    ],
)
def test_a_result_is_reported_as_it_was_answered(function, result, report, expected):
    assert one(function, result, says(op="call", ok=report)) == (f"{expected} MUST",)


def test_without_default_values_what_was_left_out_may_be_told_as_null():
    config = MSGPACK.configure(ROLE, "core", {name: fact.default for name, fact in MSGPACK.facts.items()}, {})
    assert not config.extensions
    plain = (*connected("M f()"), call(), asks(), answers((1,)))
    report = says(op="call", ok={"result": {"x": 1, "y": None}})
    assert _core(*plain, report, *DONE) == ()


def _core(*events):
    from specs.model import judge  # noqa: PLC0415

    facts = {name: fact.default for name, fact in MSGPACK.facts.items()}
    config = MSGPACK.configure(ROLE, "core", facts, {"layout": "array-1"})
    return tuple(blame.breach.requirement for blame in judge(MSGPACK.model, config, events, ROLE).faults)


def test_what_no_text_says_of_a_result_is_free():
    assert one("void f()", 5, reports(5)) == ()
    assert one("int f()", "text", reports(5)) == ()
    assert one("M f()", (1,), FAILED, layout="") == ()
    assert one("M f()", (1, None, None), FAILED) == ()  # nil for an optional field that is not nullable


# -- failures ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [False, 0, "", (), "no", ("A",)])
def test_an_error_is_a_failure_whatever_it_is(error):
    ways = ({"ok": {"error": "no"}}, {"ok": None, "error": "no"}, {"ok": {"result": None, "exception": "A"}})
    for report in (FAILED, *(says(op="call", **way) for way in ways)):
        assert failing(error, report, exceptions="") == ()
    assert failing(error, reports(None), exceptions="") == ("MPIDL-KLI-02 MUST",)
    assert failing(error, says(op="call", ok={}), exceptions="") == ("MPIDL-KLI-02 MUST",)


@pytest.mark.parametrize(
    ("throws", "path", "report", "expected"),
    [
        ("A", "A", caught("A", "A"), ()),
        ("A", "A", FAILED, ("MPIDL-EXC-07 MUST",)),
        ("A", "A.B", caught("A.B", "B"), ()),
        ("A", "A.B", caught("A.B", "A.B"), ()),
        ("A", "A.B", caught("A", "A"), ()),  # it may know no other exceptions than the function throws
        ("A", "A.B", FAILED, ("MPIDL-EXW-04 SHOULD",)),  # it throws a base only
        ("B", "A.B", FAILED, ("MPIDL-EXC-07 MUST",)),
        ("A, B", "A.B", FAILED, ("MPIDL-EXC-07 MUST",)),
        ("A, B", "A.B", caught("A.B", "A"), ("MPIDL-EXW-04 SHOULD",)),
        ("A, B", "A.B.C", caught("A.B.C", "B"), ()),
        ("A, B", "A.B.C", caught("A.B.C", "A"), ("MPIDL-EXW-04 SHOULD",)),
        ("A", "A.C", FAILED, ("MPIDL-EXW-04 SHOULD",)),
        ("A", "AX", FAILED, ()),
        ("A", "AX", caught("AX", None), ()),
        ("A", "AX", caught("AX", "A"), ("MPIDL-EXW-04 SHOULD",)),
        ("A", "B", caught("B", "B"), ("MPIDL-EXW-04 SHOULD",)),
        ("B", "A", FAILED, ()),  # the function does not throw it
        ("B", "A", caught("A", "A"), ()),
        ("B", "A", caught("A", "B"), ("MPIDL-EXW-04 SHOULD",)),
    ],
)
def test_an_exception_is_caught_as_its_nearest_known_base(throws, path, report, expected):
    assert failing((path,), report, throws) == expected
    assert failing(path, report, throws, exceptions="code") == expected
    assert failing((path,), FAILED, throws, exceptions="") == ()


# -- ends --------------------------------------------------------------------------------------------------------------


def test_a_connection_may_end_when_nothing_is_open():
    gone = Closed(0, ROLE)
    first = (call(), asks(), answers("x"))
    assert blamed(*first, reports("x"), gone, call(), FAILED, *DONE) == ()
    assert blamed(*first, gone, reports("x"), *DONE) == ()
    assert blamed(*first, gone, FAILED, *DONE) == ("MPIDL-ENC-01 MUST",)
    assert blamed(*first, gone, END) == ("MPIDL-ENC-01 MUST",)
    assert blamed(*first[:2], gone, FAILED, *DONE) == ("MPIDL-KLI-01 MUST",)


def test_another_connection_is_not_judged():
    another = Fact(0, ROLE, "accepted", 2)
    assert blamed(call(), another, FAILED, call(), END) == ()


def test_a_call_that_was_answered_is_reported():
    assert blamed(call(), asks(), answers("x"), END) == ("MPIDL-ENC-01 MUST",)
    assert blamed(call(), asks(), answers(error="no"), END) == ("MPIDL-KLI-02 MUST",)
    assert blamed(call(), asks(), reports("x"), *DONE) == ("MPIDL-KLI-01 MUST",)


EXIT = Fact(0, ROLE, "exit", 1)
OVER = (*connected(), *DONE[:2])
LEFT, GONE = Closed(0, "server"), Closed(0, ROLE)
SCENES = {
    "a program that ends": (*connected(), EXIT),
    "a program that ends later": (*OVER, EXIT),
    "a program that ends at last": (*connected(), LEFT, EXIT),
    "we leave": (*connected(), call(), LEFT, FAILED, END),
    "we leave later": (*OVER, LEFT, END),
    "the connection under it is dropped": (*connected(), told("drop"), END),
    "another connection later": (*OVER, Fact(0, ROLE, "accepted", 2), END),
    "another connection": (*connected(), Fact(0, ROLE, "accepted", 2), END),
    "connected again": (*connected(), *connected(), call(), END),
    "connected again later": (*OVER, *connected(), END),
    "called when it is over": (*OVER, call(), END),
    "told to end twice": (*OVER, *DONE),
    "closes": (*connected(), GONE, END),
    "closes when it is over": (*OVER, GONE, END),
    "talks when it is over": (*OVER, asks(), Said(0, "server", response(1, None, 1)), END),
    "one call": (*connected(), call(), asks(), answers("x"), reports("x"), *DONE),
    "no message": (*connected(), call(), Noise(0, ROLE, b"\xc1", "never-used"), END),
    "something that nobody knows": (*connected(), told("dance"), says(op="dance", error="unsupported"), END),
    "asked for a version and gave up": (*connected(), call(), asks("getVersion:_:0", "s"), FAILED, END),
    "asked for a version and gave up later": (*connected(), asks("getVersion:_:0", "s"), told("disconnect"), GONE, END),
    "octets": (*connected(), Fact(0, "server", "octets", 3), Fact(0, ROLE, "octets", 3), *DONE),
    "a call of nothing": (*connected(), call("nothing"), asks("nothing:s:0"), FAILED, END),
}
DIES = ("MPIDL-KLI-01 MUST",)


@pytest.mark.parametrize("name", SCENES)
def test_scenes(name):
    dies = name.startswith("a program that ends")
    expected = DIES if dies else ("MPRPC-REQ-01 MUST",) if name == "no message" else ()
    assert verdict(ROLE, *SCENES[name], layout="array-1") == expected


def test_every_cell_of_the_machine_is_asked_for():
    asked = MACHINE.watch()
    try:
        for events in SCENES.values():
            verdict(ROLE, *events, layout="array-1")
    finally:
        MACHINE.asked = None
    closed = {(phase, action) for phase, action, _ in MACHINE.unreachable_cells()}
    assert {(phase, action) for phase, action, _ in MACHINE.cells()} - closed - asked == set()


@pytest.mark.parametrize(("more", "rules"), [((), ()), ((None,), ()), ((7,), ("MPIDL-ENC-12 MUST",))])
def test_nothing_stands_behind_the_last_argument(more, rules):
    for function, args in (("string f()", ()), ("string f(1: int a, 2: int b)", (5, 6))):
        talk = (call("f", *args), asks("f:s:0", *args, *more), answers("x"), reports("x"), *DONE)
        assert blamed(*talk, function=function) == rules


def test_a_call_that_was_not_sent_may_go_on_another_connection():
    """MP-26: not by a client that has sent it, and one that makes no call at all is as wrong as before."""
    ends, another = (*connected(), call(), GONE), Fact(0, ROLE, "accepted", 2)
    assert verdict(ROLE, *ends, another, END, layout="array-1") == ()
    assert verdict(ROLE, *ends, END, layout="array-1") == ("MPIDL-KLI-01 MUST",)
    assert verdict(ROLE, *ends, FAILED, END, layout="array-1") == ("MPIDL-KLI-01 MUST",)
    sent = (*connected(), call(), asks(), GONE)
    assert verdict(ROLE, *sent, another, END, layout="array-1") == ("MPIDL-KLI-01 MUST",)
