"""Servers made from a document that are legal though unusual, and what beside them is not: see docs/ambiguities.md."""

from __future__ import annotations

import pytest

from impls.references.msgpack.idl_server import IdlServer
from specs.events import Closed, Fact, Said
from specs.msgpack.format import decoded
from specs.msgpack.frames import encode, request, response
from specs.msgpack.values import Text, double, single
from tests.msgpack_verdicts import END, verdict

IDL = "message M {{\n  1: raw x\n}}\nservice S: 0 {{\n  {0}\n}}\napplication A {{\n  S: 0 s default\n}}\n"


def serving(function, behaviour, *events):
    told = {"idl": IDL.format(function), "application": "A", "behaviour": {"s/0/f": behaviour}}
    begun = (Fact(0, "client", "serve", told), Fact(0, "idl-server", "answer", {"op": "serve", "ok": {"port": 1}}))
    return verdict("idl-server", *begun, *events, layout="array-1", echo_form=0)


ASKED, TOLD = Said(0, "client", request(1, "f:s:0")), Said(0, "idl-server", response(1, None, "s/0/f"))
FAILED = Said(0, "idl-server", response(1, "failed", None))
GONE = Closed(0, "idl-server", "eof")
STOP = Fact(0, "client", "stop", {})
STOPPED = Fact(0, "idl-server", "answer", {"op": "stop", "ok": {}})
TAG, FAIL = {"do": "tag"}, {"do": "fail"}


def test_a_server_may_end_its_connections_when_it_is_told_to_stop():
    assert serving("string f()", TAG, ASKED, TOLD, STOP, GONE, STOPPED, END) == ()
    assert serving("string f()", FAIL, ASKED, FAILED, STOP, GONE, STOPPED, END) == ()


def test_a_served_connection_on_which_nothing_is_open_may_end_but_not_behind_a_failure():
    assert serving("string f()", TAG, ASKED, TOLD, GONE, END) == ()
    assert serving("string f()", TAG, ASKED, GONE, END) == ("MPIDL-DISP-01 MUST",)
    assert serving("string f()", FAIL, ASKED, FAILED, GONE, END) == ("MPIDL-EXW-03 MUST",)


@pytest.mark.parametrize(("brief", "answered"), [(True, True), (True, False), (False, True)])
def test_a_call_may_cross_the_end_of_a_connection_that_a_server_ends_once_it_has_answered(brief, answered):
    given = {"idl": IDL.format("string f()"), "application": "A", "behaviour": {"s/0/f": TAG}}
    begun = (Fact(0, "client", "serve", given), Fact(0, "idl-server", "answer", {"op": "serve", "ok": {"port": 1}}))
    before = (ASKED, TOLD) if answered else ()
    events = (*begun, *before, Said(0, "client", request(2, "f:s:0")), GONE, END)
    found = verdict("idl-server", *events, layout="array-1", echo_form=0, brief=brief)
    assert found == (() if brief and answered else ("MPIDL-DISP-01 MUST",))


def test_a_raw_may_be_a_str_of_any_octets():
    asked = Said(0, "client", request(1, "f:s:0", (b"\xff\0",)))
    for back, blamed in (((Text(b"\xff\0"),), ()), ((b"\xff\0",), ()), ((b"\xff",), ("MPIDL-ENC-01 MUST",))):
        told = Said(0, "idl-server", response(1, None, back))
        assert serving("M f(1: M m)", {"do": "echo", "n": 0, "arg": 0}, asked, told, END) == blamed


def test_the_version_of_an_interface_names_nothing():
    service = "interface I: 4 {\n  string f()\n}\nservice S: 0 {\n  implements I: 4\n}\n"
    document = service + "application A {\n  S: 0 s default\n}\n"
    told = {"idl": document, "application": "A", "behaviour": {"s/0/f": TAG}}
    begun = (Fact(0, "client", "serve", told), Fact(0, "idl-server", "answer", {"op": "serve", "ok": {"port": 1}}))
    asked = Said(0, "client", request(1, "f:s:4"))
    assert verdict("idl-server", *begun, asked, FAILED, END) == ()
    assert verdict("idl-server", *begun, asked, TOLD, END) == ("MPIDL-IF-03 MUST",)


def test_a_form_that_ended_in_an_error_by_right_is_not_refused():
    document = "service S: 0 {\n  string f()\n}\n"
    told = {"idl": document, "application": "S", "behaviour": {"/0/f": {"do": "default"}}}
    served = (Fact(0, "client", "serve", told), Fact(0, "idl-server", "answer", {"op": "serve", "ok": {"port": 1}}))
    assign = Fact(0, "client", "assign", {"slot": "/0/f", "behaviour": TAG})
    assigned = Fact(0, "idl-server", "answer", {"op": "assign", "ok": {}})
    calls = [Said(0, "client", request(n, form)) for n, form in enumerate(("f::0", "f:0", "f::0"))]
    refused = [Said(0, "idl-server", response(n, "no", None)) for n in range(3)]
    answered = Said(0, "idl-server", response(2, None, "/0/f"))
    begun = (*served, calls[0], refused[0], assign, assigned, calls[1], refused[1], calls[2])
    assert verdict("idl-server", *begun, answered, END) == ()
    assert verdict("idl-server", *begun, refused[2], END) == ("MPIDL-NOSC-01 MUST",)


def test_a_document_with_an_open_point_may_be_refused():
    refused = Fact(0, "idl-server", "answer", {"op": "serve", "error": "no"})
    for function, blamed in (("int f(1: int a)", ("MPIDL-DISP-01 MUST",)), ("int f(2: int a)", ())):
        told = {"idl": IDL.format(function), "application": "A", "behaviour": {}}
        assert verdict("idl-server", Fact(0, "client", "serve", told), refused, END) == blamed


@pytest.mark.parametrize(
    ("method", "blamed"),
    [
        ("f:s:0:", ()),
        ("f:s:0x", ()),
        ("f:", ()),
        ("f:s:0:0", ("MPIDL-DISP-06 MUST",)),
        (":f:s:0", ("MPIDL-DISP-06 MUST",)),
    ],
)
def test_how_strictly_a_selector_is_read_is_the_servers_own_affair_up_to_a_piece_too_many(method, blamed):
    asked = Said(0, "client", request(1, method))
    assert serving("string f()", TAG, asked, TOLD, END) == blamed
    assert serving("string f()", TAG, asked, FAILED, END) == ()


def test_more_arguments_than_there_are_may_be_refused():
    asked = Said(0, "client", request(1, "f:s:0", 5, 6))
    for said in (TOLD, FAILED):
        assert serving("string f(1: int a)", TAG, asked, said, END) == ()
    asked = Said(0, "client", request(1, "f:s:0", 5))
    assert serving("string f(1: int a)", TAG, asked, FAILED, END) == ("MPIDL-ENC-12 MUST",)


def test_a_dropped_function_is_reached_by_no_name_that_has_its_version():
    idl = "service S: 0 {\n  string f()\n}\nservice S: 1 {\n}\napplication A {\n  S: 1 s default\n}\n"
    told = {"idl": idl, "application": "A", "behaviour": {"s/0/f": TAG}}
    begun = (Fact(0, "client", "serve", told), Fact(0, "idl-server", "answer", {"op": "serve", "ok": {"port": 1}}))
    for method, blamed in (("f:1", ("MPIDL-FALL-06 MUST",)), ("f", ()), ("f:s", ())):
        asked = Said(0, "client", request(1, method))
        assert verdict("idl-server", *begun, asked, TOLD, END, layout="array-1", echo_form=0) == blamed
        assert verdict("idl-server", *begun, asked, FAILED, END, layout="array-1", echo_form=0) == ()


FLOATS = "message M {\n  1: double x\n}\nservice S: 0 {\n  M f()\n}\napplication A {\n  S: 0 s default\n}\n"


@pytest.mark.parametrize(("number", "right"), [(2, True), (double(2.0), True), (3, False), ("2", False)])
def test_a_float_that_is_whole_may_be_written_as_an_integer(number, right):
    told = {"idl": FLOATS, "application": "A", "behaviour": {"s/0/f": {"do": "const", "value": {"x": 2.0}}}}
    begun = (Fact(0, "client", "serve", told), Fact(0, "idl-server", "answer", {"op": "serve", "ok": {"port": 1}}))
    made = Said(0, "idl-server", response(1, None, (number,)))
    found = verdict("idl-server", *begun, ASKED, made, END, layout="array-1", echo_form=0)
    assert (found == ()) is right


def test_an_exception_that_a_function_does_not_declare_is_any_failure():
    document = "exception E {{\n}}\nexception F < E {{\n}}\nservice S: 0 {{\n  int f(){0}\n}}\n"
    document += "application A {{\n  S: 0 s default\n}}\n"
    behaviour = {"s/0/f": {"do": "throw", "exception": "F", "fields": {}}}
    for throws, right in (("", True), (" throws E", False), (" throws F", False)):
        told = {"idl": document.format(throws), "application": "A", "behaviour": behaviour}
        begun = (Fact(0, "client", "serve", told), Fact(0, "idl-server", "answer", {"op": "serve", "ok": {"port": 1}}))
        assert (verdict("idl-server", *begun, ASKED, FAILED, END, layout="array-1") == ()) is right
        named = Said(0, "idl-server", response(1, "E.F", None))
        assert verdict("idl-server", *begun, ASKED, named, END, layout="array-1") == ()


@pytest.mark.parametrize(
    ("inner", "back", "right"),
    [
        ({}, (), True),  # it has nothing but defaults
        ({"y": 0}, (), True),
        ({}, ((),), True),
        ({"y": 1}, (), False),
        ({"y": 1}, ((),), False),
    ],
)
def test_a_message_that_has_nothing_but_defaults_may_be_left_out(inner, back, right):
    document = "message N {\n  1: optional int y\n}\nmessage M {\n  1: optional N x\n}\nservice S: 0 {\n  M f()\n}\n"
    document += "application A {\n  S: 0 s default\n}\n"
    told = {"idl": document, "application": "A", "behaviour": {"s/0/f": {"do": "const", "value": {"x": inner}}}}
    begun = (Fact(0, "client", "serve", told), Fact(0, "idl-server", "answer", {"op": "serve", "ok": {"port": 1}}))
    made = Said(0, "idl-server", response(1, None, back))
    assert (verdict("idl-server", *begun, ASKED, made, END, layout="array-1", echo_form=0) == ()) is right


def test_the_reference_tells_the_fields_of_an_exception_by_their_ids_and_in_their_types():
    document = "exception E {\n  2: raw a\n}\nexception F < E {\n  5: string b\n  7: float a2\n}\n"
    document += "service S: 0 {\n  void f() throws F\n}\napplication A {\n  S: 0 s default\n}\n"
    fields = {"b": "x", "a2": 1.5, "a": {"$raw": "ff00"}}
    behaviour = {"s/0/f": {"do": "throw", "exception": "F", "fields": fields}}
    session = IdlServer().open()
    assert session.obey("serve", {"idl": document, "application": "A", "behaviour": behaviour}) == {"ok": {}}
    session.send(encode(request(1, "f:s:0"), None))
    body, _ = decoded(session.take())
    assert body == (1, 1, ("E.F", b"\xff\0", "x", single(1.5)), None)
