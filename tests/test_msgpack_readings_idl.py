"""Processors that are legal though unusual, and what beside them is not: see docs/ambiguities.md."""

from __future__ import annotations

import pytest

from specs.events import Said
from specs.msgpack.idl.semantics import read
from specs.msgpack.lines import Ask, Line
from tests.msgpack_verdicts import END, EVERY, verdict
from tests.mutants.msgpack_kit import PROFILES


def parsed(text, tree=None):
    """What is blamed for taking a document, with a tree, or for refusing it."""
    told = (
        '{"id":1,"ok":{"errors":[{"kind":"semantic","line":1}]}}'
        if tree is None
        else f'{{"id":1,"ok":{{"ast":{tree}}}}}'
    )
    ask = Ask(1, "parse", text.encode(), "idl", PROFILES["idl"])
    return verdict("idl", Said(0, "user", ask), Said(0, "idl", Line(told.encode())), END)


def test_a_default_of_an_argument_may_ask_for_optional():
    text = "service S: 0 { int f(1: int a = 5) }"
    assert parsed(text) == ()
    argument = '{"id":1,"name":"a","mod":"required","type":{"t":"int"},"default":%d}'
    function = '{"name":"f","ret":{"t":"int"},"args":[%s]}'
    service = '{"definitions":[{"k":"service","name":"S","version":0,"functions":[' + function + "]}]}"
    assert parsed(text, service % (argument % 5)) == ()
    assert parsed(text, service % (argument % 6)) == ("MPIDL-DEF-01 MUST",)


def test_what_the_examples_do_is_a_recommendation_missed():
    anything = '{"definitions":[]}'
    assert parsed("message M { 1: list<string,string> x }", anything) == ("MPIDL-TYPE-03 SHOULD",)
    assert parsed("message M { 1: map<string> x }", anything) == ("MPIDL-TYPE-03 MUST",)
    assert parsed("service S:0 { int f() throws DiskFullError }", anything) == ("MPIDL-SVC-09 SHOULD",)
    assert parsed("message M { }\nservice S:0 { int f() throws M }", anything) == ("MPIDL-SVC-09 MUST",)
    assert parsed("service S:0 { }\napplication A { S:0 default }", anything) == ("MPIDL-APP-01 SHOULD",)
    assert parsed("service S:0 { }\napplication A { S:0 }", anything) == ("MPIDL-APP-01 MUST",)
    assert parsed("service S:0 { int f() throws S }", anything) == ("MPIDL-SVC-09 SHOULD",)  # S is no name of a type
    assert parsed("service S:0 { int f() throws int }", anything) == ("MPIDL-SVC-09 MUST",)
    assert not read("exception DiskFullError { }\nservice S:0 { int f() throws DiskFullError }", EVERY).faults


@pytest.mark.parametrize(
    "text",
    [
        "message M {\n  32768: int x\n}\n",
        "message M {\n  1: optional int x = - 5\n}\n",
        "service S: 0 {\n  int f()\n}\nservice S: 1 {\n  int f(1: int a)\n}\n",
        "typedef int T\nservice S: 0 {\n  int f(1: T? a)\n}\n",
        "typedef int? T\n",
        "interface I: 0 {\n}\ninterface I: 1 {\n}\n",
    ],
)
def test_what_is_said_nowhere_may_be_refused(text):
    reading = read(text, EVERY)
    assert reading.freedoms
    assert not reading.faults


def test_a_minus_in_front_of_its_digits_and_a_function_that_throws_something_else_are_no_open_points():
    assert not read("message M {\n  1: optional int x = -5\n}\n", EVERY).freedoms
    versions = "exception E {\n}\nservice S: 0 {\n  int f()\n}\nservice S: 1 {\n  int f() throws E\n}\n"
    assert not read("service S: 0 {\n  int? f()\n}\n", EVERY).freedoms
    assert not read("typedef int T\nservice S: 0 {\n  int f(1: T a)\n}\n", EVERY).freedoms
    assert not read(versions, EVERY).freedoms
