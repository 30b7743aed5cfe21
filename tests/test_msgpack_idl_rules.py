"""Conversations with processors and servers of the interface language, one for each thing that may go wrong beside an
answer, and for names that were once wrong."""

from __future__ import annotations

import json

import pytest

from specs.events import Closed, Fact, Noise, Quiet, Said
from specs.model import judge
from specs.msgpack.frames import Frame, request, response
from specs.msgpack.lines import Ask, Line
from specs.protocol import find
from tests.mutants.msgpack_kit import PROFILES

MSGPACK = find("msgpack")
END = Quiet(1000, final=True)
FACTS = {name: fact.default for name, fact in MSGPACK.facts.items()}


def judged(role, *events, **learnt):
    found = judge(MSGPACK.model, MSGPACK.configure(role, PROFILES[role], FACTS, learnt), events, role)
    assert found.verdict in ("pass", "fail"), found
    return found


def blamed(role, *events, **learnt):
    return tuple(blame.breach.requirement for blame in judged(role, *events, **learnt).faults)


# -- processors --------------------------------------------------------------------------------------------------------


def asked(text, number=1, want=""):
    return Said(0, "user", Ask(number, "parse", text.encode(), "idl", PROFILES["idl"], None, want))


def said(text, number=1):
    return Said(0, "idl", Line(json.dumps({"id": number, "ok": text}).encode()))


EMPTY, TREE = "# nothing\n", {"ast": {"definitions": []}}
REFUSED = {"errors": [{"kind": "semantic", "line": 1}]}
UNREAD = {"errors": [{"kind": "syntax", "line": 1}]}
RIGHT = (asked(EMPTY), said(TREE))


@pytest.mark.parametrize(
    ("events", "names"),
    [
        ((*RIGHT, Said(0, "idl", Line(b"  ")), END), ()),
        ((asked(EMPTY), Said(0, "idl", Line(b"")), said(TREE), END), ()),
        ((asked(EMPTY), Said(0, "idl", Line(b" ")), END), ("MPIDL-ERR-03",)),
        ((*RIGHT, Said(0, "idl", Line(b"done")), END), ("MPIDL-ERR-02",)),
        ((*RIGHT, Closed(0, "idl"), END), ()),
        ((asked(EMPTY), Closed(0, "idl"), END), ("MPIDL-ERR-03",)),
        ((asked(EMPTY), Closed(0, "user"), said(TREE), END), ()),
        ((*RIGHT, Closed(0, "user"), Said(0, "idl", Line(b"bye")), END), ()),
        ((asked(EMPTY), END), ("MPIDL-ERR-03",)),
        ((asked(EMPTY), asked(EMPTY, 2), said(TREE), END), ("MPIDL-ERR-03",)),
        ((asked(EMPTY), asked(EMPTY, 2), said(TREE), said(TREE, 2), END), ()),
        ((asked(EMPTY), asked(EMPTY, 2), said(TREE), said(REFUSED, 2), END), ("MPIDL-ERR-02",)),
        ((asked(EMPTY), Noise(0, "idl", b"x", "long"), END), ("MPIDL-ERR-03",)),
        ((*RIGHT, Fact(0, "idl", "refused", "gone"), END), ("MPIDL-ERR-03",)),
        ((asked(EMPTY), said(REFUSED), END), ("MPIDL-LEX-06",)),
        ((asked("/* /* */ */ message M { 1: int x }\n"), said(UNREAD), END), ("MPIDL-LEX-02",)),
    ],
)
def test_a_processor_answers_each_question_once(events, names):
    assert blamed("idl", *events) == names


TWO = """/* /* */ */ service S:0 { int f(1: list<int> x) }
message optional_ { 1: int x }
application A {
  S:0 s default
}
application B { S:0 t default }
"""


@pytest.mark.parametrize(
    ("errors", "name"),
    [
        ([{"kind": "semantic", "line": 6}], "MPIDL-APP-01"),
        ([{"kind": "semantic", "line": 4}], "MPIDL-APP-01"),
        ([{"kind": "semantic", "line": 2}], "MPIDL-FIELD-06"),
        ([{"kind": "semantic", "line": 1}], "MPIDL-SVC-07"),
        ([{"kind": "semantic", "line": 1}, {"kind": "syntax", "line": 6}], "MPIDL-LEX-02"),
        ([{"kind": "semantic", "line": 7}], "MPIDL-APP-01"),
    ],
)
def test_an_error_of_meaning_says_which_definition_is_refused(errors, name):
    assert name in blamed("idl", asked(TWO), said({"errors": errors}), END)


SERVED = "service S: 0 {\n}\n"
APPLIED = "application A {\n  S: 0 s default\n}\n"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("message M {\n  1: int a\n}\ntypespec cpp M .a x::y\n", ()),
        ("message M {\n  1: int a\n}\ntypespec cpp M. a x::y\n", ()),
        ("message M {\n  1: int a\n}\ntypespec cpp M.a x::y\n", ("MPIDL-TS-01",)),
        (APPLIED + SERVED, ()),
        (SERVED + APPLIED, ("MPIDL-APP-01",)),
    ],
)
def test_a_promise_about_types_is_none_about_services_and_a_dot_stands_without_blanks(text, names):
    """ML-12, and the manifest's `forward_refs`: "types may be used before they are declared"."""
    config = MSGPACK.configure("idl", PROFILES["idl"], {**FACTS, "forward_refs": True}, {})
    line = text.count("\n", 0, text.find("S: 0 s" if "S: 0 s" in text else "typespec")) + 1
    refused = {"errors": [{"kind": "semantic", "line": line}]}
    found = judge(MSGPACK.model, config, [asked(text), said(refused), END], "idl")
    assert tuple(blame.breach.requirement for blame in found.faults) == names


def test_several_exceptions_behind_throws_may_be_refused_and_are_not_lost():
    """ML-02: the text throws one."""
    text = "exception A {\n}\nexception B {\n}\nservice S: 0 {\n  void f() throws A, B\n}\n"
    names = [{"k": "exception", "name": name, "path": name} for name in "AB"]

    def tree(*thrown):
        function = {"name": "f", "ret": {"t": "void"}, "args": [], "throws": [*thrown]}
        return {"ast": {"definitions": [*names, {"k": "service", "name": "S", "version": 0, "functions": [function]}]}}

    refused = {"errors": [{"kind": "syntax", "line": 6}]}
    assert blamed("idl", asked(text), said(refused), END) == ()
    assert blamed("idl", asked(text), said(tree("A", "B")), END) == ()
    assert blamed("idl", asked(text), said(tree("A")), END) == ("MPIDL-SVC-09",)
    one = text.replace(", B", "")
    assert blamed("idl", asked(one), said({"errors": [{"kind": "semantic", "line": 6}]}), END) != ()


FIELD, ALIAS = "message M {{\n  1: optional {} x = null\n}}\n", "typedef {} T\n"
FUNCTION = "service S: 0 {{\n  void f({})\n}}\n"


@pytest.mark.parametrize(
    ("text", "line", "name"),
    [
        (FIELD.format("raw?"), 2, ""),
        (FIELD.format("string?"), 2, "MPIDL-DEF-01"),
        (ALIAS.format("int?"), 1, ""),
        (ALIAS.format("int"), 1, "MPIDL-TD-01"),
        (FUNCTION.format("2: int a, 1: raw b"), 2, ""),
        (FUNCTION.format("1: int a, 2: raw b"), 2, "MPIDL-SVC-07"),
    ],
)
def test_what_no_text_shows_may_be_refused_and_what_one_shows_may_not(text, line, name):
    """ML-08."""
    refused = {"errors": [{"kind": "semantic", "line": line}]}
    assert blamed("idl", asked(text), said(refused), END) == ((name,) if name else ())


def test_the_arguments_of_a_function_keep_their_order_where_they_are_taken():
    def tree(*ids):
        args = [{"id": n, "name": "ba"[n - 1], "type": {"t": "int"}} for n in ids]
        function = {"name": "f", "ret": {"t": "void"}, "args": args, "throws": []}
        return {"ast": {"definitions": [{"k": "service", "name": "S", "version": 0, "functions": [function]}]}}

    text = FUNCTION.format("2: int a, 1: int b")
    assert blamed("idl", asked(text), said(tree(1, 2)), END) == ()
    assert blamed("idl", asked(text), said(tree(2)), END) != ()


def test_judging_a_processor_goes_on_behind_a_fault():
    unknown = "message M { 1: nothing x }"
    events = (asked(unknown), said(TREE), asked(EMPTY, 2), Said(0, "idl", Line(b'{"id": 2, "ok": {"ast": 5}}')), END)
    found = judged("idl", *events)
    assert [blame.breach.requirement for blame in found.blamed] == ["MPIDL-TYPE-02"]
    assert found.excused_from is None


def test_what_is_only_permitted_is_tried_where_it_is_taken_and_read_rightly():
    text = "message M { 1: N x } message N { }"
    field = {"id": 1, "name": "x", "mod": "required", "type": {"t": "ref", "name": "N"}}
    tree = {"ast": {"definitions": [{"k": "message", "name": "M", "fields": [field]}, {"k": "message", "name": "N"}]}}
    assert "MPIDL-TYPE-06" in judged("idl", asked(text), said(tree), END).covered
    assert "MPIDL-TYPE-06" not in judged("idl", asked(text), said(REFUSED), END).covered
    assert "MPIDL-TYPE-06" not in judged("idl", *RIGHT, END).covered


# -- servers -----------------------------------------------------------------------------------------------------------

DOCUMENT = """message N {
  1: int a
  3: optional int b = 5
}
message M {
  1: list<N> l
}
service S: 0 {
  M echo(1: M m)
  string get()
}
application A {
  S: 0 s default
}
"""
SERVE = {
    "idl": DOCUMENT,
    "application": "A",
    "behaviour": {"s/0/echo": {"do": "echo", "n": 0}, "s/0/get": {"do": "tag"}},
}
BEGUN = (Fact(0, "client", "serve", SERVE), Fact(0, "idl-server", "answer", {"op": "serve", "ok": {"port": 1}}))


def serving(*events):
    return judged("idl-server", *BEGUN, *events, END, layout="array-1", echo_form=0)


def names(found):
    return tuple(blame.breach.requirement for blame in found.faults)


def call(message, wide=False):
    frame = request(1, "echo:s:0", message)
    return Said(0, "client", Frame(frame.body, ("int",)) if wide else frame)


def back(result=None, error=None):
    return Said(0, "idl-server", response(1, error, result))


@pytest.mark.parametrize(
    ("sent", "answer", "names_"),
    [
        ((((1, None, 2),),), back((((1, None, 2),),)), ()),
        ((((1,),),), back((((1, None, 5),),)), ()),
        ((((1,),),), back((((1, None, 0),),)), ("MPIDL-DEF-04",)),
        ((((1,),),), back(error="short"), ("MPIDL-ENC-05",)),
        ((((1, None, 2, 7),),), back(error="long"), ("MPIDL-ENC-06",)),
        ((((1, "junk", 2),),), back(error="junk"), ("MPIDL-ENC-10",)),
        ((((1, None, 2),),), back((((1, None, 3),),)), ("MPIDL-ENC-01",)),
        ((((1, None, 2),),), back((5,)), ("MPIDL-ENC-11",)),
        ((((1, None, 2),),), back((None, ((None, 1, None, 2),))), ("MPIDL-ENC-02",)),
        ((((1, None, 2),),), back(error="no such function"), ("MPIDL-ENC-01",)),
    ],
)
def test_a_fault_of_a_value_is_laid_on_what_was_special_in_it(sent, answer, names_):
    assert names(serving(call(sent), answer)) == names_


def test_integers_in_another_form_are_the_likeliest_reason_where_there_are_some():
    whole = (((1, None, 2),),)
    assert names(serving(call(whole, wide=True), back(error="no"))) == ("MPIDL-ENC-08",)
    assert "MPIDL-ENC-08" in serving(call(whole, wide=True), back(whole)).covered
    assert "MPIDL-ENC-08" not in serving(call(whole), back(whole)).covered


def test_what_a_value_does_not_hold_is_not_credited():
    found = serving(call((((1, None, 2),),)), back((((1, None, 2),),))).covered
    for name in ("MPIDL-DEF-04", "MPIDL-DEF-06", "MPIDL-DEF-07", "MPIDL-ENC-05", "MPIDL-ENC-06", "MPIDL-ENC-08"):
        assert name not in found
    assert "MPIDL-ENC-01" in found


@pytest.mark.parametrize(
    ("events", "names_"),
    [
        ((Said(0, "client", request(1, "get:s:0")), Fact(0, "idl-server", "exit", 1)), ("MPIDL-DISP-01",)),
        ((Noise(0, "idl-server", b"\xc1", "never-used"),), ("MPIDL-DISP-01",)),
        ((Said(0, "client", request(1, "get:s:0")),), ("MPIDL-DISP-01",)),
        ((Closed(0, "idl-server"), Fact(0, "idl-server", "exit", 1)), ("MPIDL-DISP-01",)),
        ((Said(0, "client", request(1, "get:s:0")), Closed(0, "client"), back("s/0/get")), ()),
        ((Fact(0, "client", "stop", {}), Closed(0, "idl-server")), ()),
        ((Fact(0, "client", "stop", {}),), ("MPIDL-DISP-01",)),
        ((back("s/0/get"),), ("MPIDL-EXW-03",)),
        ((Said(0, "idl-server", request(1, "hello")),), ()),
    ],
)
def test_a_server_answers_each_call_once_and_stays(events, names_):
    assert names(serving(*events)) == names_


TWO_VERSIONS = "service S: 0 {\n  string get()\n}\nservice S: 1 {\n  string get()\n}\n"
SERVED = Fact(0, "client", "serve", {"idl": TWO_VERSIONS, "application": "S", "behaviour": {}})
READY = Fact(0, "idl-server", "answer", {"op": "serve", "ok": {"port": 1}})
ASSIGN = Fact(0, "client", "assign", {"slot": "/0/get", "behaviour": {"do": "tag"}})
ASSIGNED = Fact(0, "idl-server", "answer", {"op": "assign", "ok": {}})


def refused(number, name):
    return (
        Said(0, "client", request(number, name)),
        Said(0, "idl-server", response(number, "NotImplemented", None)),
    )


@pytest.mark.parametrize(
    ("version", "names_"),
    [
        # bound before the assignment: no function below this version had done anything then (ML-29)
        (1, ()),
        # the function that was assigned itself: early or late makes no difference to it
        (0, ("MPIDL-NOSC-01",)),
    ],
)
def test_what_was_bound_early_refuses_no_form_of_a_name_without_scope(version, names_):
    config = MSGPACK.configure("idl-server", PROFILES["idl-server"], FACTS, {"layout": "array-1", "echo_form": 0})
    events = (SERVED, READY, ASSIGN, ASSIGNED, *refused(1, f"get:{version}"), *refused(2, f"get::{version}"), END)
    found = judge(MSGPACK.model, config, events, "idl-server")
    assert names(found) == names_


VERSIONS = "".join(f"service S: {version} {{\n  string get()\n}}\n" for version in range(4))
BARE = {
    "idl": VERSIONS + "application A {\n  S: 2 s default\n}\n",
    "application": "A",
    "behaviour": {"s/0/get": {"do": "tag"}, "s/3/get": {"do": "tag"}},
}


@pytest.mark.parametrize(("answer", "wrong"), [("s/0/get", False), ("s/1/get", False), ("s/3/get", True)])
def test_a_declared_name_may_mean_what_its_function_was_bound_to_early(answer, wrong):
    """Which version a bare name means is declared; when it is found out what an older version does is not (ML-29)."""
    config = MSGPACK.configure(
        "idl-server", PROFILES["idl-server"], {**FACTS, "bare_name": "declared"}, {"layout": "array-1", "echo_form": 0}
    )
    assigned = Fact(0, "client", "assign", {"slot": "s/1/get", "behaviour": {"do": "tag"}})
    events = (Fact(0, "client", "serve", BARE), READY, assigned, ASSIGNED, Said(0, "client", request(1, "get")))
    found = judge(MSGPACK.model, config, (*events, back(answer), END), "idl-server")
    assert ("MPIDL-DISP-07" in names(found)) is wrong
