"""Conversations of MessagePack that are legal though unusual, and what beside them is not: see docs/ambiguities.md."""

from __future__ import annotations

from dataclasses import replace

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.msgpack.reference import Server
from specs.events import Closed, Fact, Quiet, Said
from specs.model import judge
from specs.msgpack.frames import Frame, request, response
from specs.msgpack.idl.semantics import read
from specs.msgpack.lines import Ask, Line
from specs.msgpack.values import Ext, Map, Text, double, single
from specs.plan import Plan, Say
from specs.protocol import find
from tests.mutants.msgpack_kit import FACTS, PROFILES

MSGPACK = find("msgpack")
END = Quiet(1000, final=True)
EVERY = frozenset(("def", "td", "ts", "meta", "if", "nosc"))


def verdict(role, *events, **learnt):
    """The requirements that a conversation is blamed for, each with the level at which it counts; () for none."""
    facts = {name: fact.default for name, fact in MSGPACK.facts.items()} | dict(FACTS.get(role, {}))
    facts |= {"bare_name": "", "exception_wire": ""}  # nothing is declared of what is read here
    config = MSGPACK.configure(role, PROFILES.get(role, "core"), facts, learnt)
    found = judge(MSGPACK.model, config, events, role)
    assert found.verdict in ("pass", "fail"), found
    breaches = [blame.breach for blame in found.faults]
    levels = {each.requirement: each.level or MSGPACK.requirements[each.requirement].level for each in breaches}
    return tuple(f"{name} {level}" for name, level in levels.items())


# -- servers that are made from a document -----------------------------------------------------------------------------

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


# -- codecs ------------------------------------------------------------------------------------------------------------


def test_a_codec_that_says_nothing_to_a_message_is_blamed_for_messages():
    ask = Ask(1, "decode", b"\x91\x05", "idl", "M", {"idl": "message M { 1: int x }"}, "value", "ENC-08")
    asked = Said(0, "user", ask)
    assert verdict("codec", asked, END, way="plain", layout="array-1") == ("MPIDL-ENC-08 MUST",)
    zero = Said(0, "codec", Line(b'{"id":1,"ok":{"value":{"x":null}}}'))
    omitted = Said(0, "user", replace(ask, octets=b"\x90", value={"idl": "message M { 1: optional double x }"}))
    assert verdict("codec", omitted, zero, END, way="plain", layout="array-1") == ()


def recoded(sent, got, want, rule=""):
    """What a filter is blamed for that makes `got` of the octets `sent`, both as hex; "ERR" for a refusal."""
    ask = Ask(1, "recode", bytes.fromhex(sent), "filter", "", None, want, rule)
    return verdict("codec", Said(0, "user", ask), Said(0, "codec", Line(got.encode())), END, way="filter")


@pytest.mark.parametrize(
    ("sent", "got", "blamed"),
    [
        ("8101a161", "80", ("MP-FMT-01 MUST",)),  # the pair is lost
        ("8101a161", "8101a162", ("MP-FMT-01 MUST",)),  # the value is another
        ("8101a161", "81a131a161", ()),  # a map whose keys are texts
        ("8101a161", "8101a161", ()),
        ("8101a161", "ERR", ()),
        ("820105c30a", "81c30a", ()),  # there are languages in which 1 equals true
        ("8101058101", "ERR", ()),
        ("82a16b01a16b02", "81a16b02", ()),  # what repeats is free
    ],
)
def test_only_keys_that_repeat_free_a_map(sent, got, blamed):
    assert recoded(sent, got, "either", "12") == blamed


def test_the_octet_that_is_never_used_is_an_error_by_our_reading():
    assert recoded("c1", "c0", "error", "03") == ("MP-FMT-03 ASSUMED",)
    assert recoded("c1", "ERR", "error", "03") == ()


@pytest.mark.parametrize(
    ("got", "blamed"),
    [
        ("d7ffee6b280000000000", ()),  # 10^9 nanoseconds, carried as they came
        ("ERR", ()),
        ("d6ff00000001", ("MP-FMT-09 SHOULD",)),  # they became a second
        ("c0", ("MP-FMT-09 MUST",)),
    ],
)
def test_a_timestamp_that_names_no_moment_is_carried_or_refused(got, blamed):
    assert recoded("d7ffee6b280000000000", got, "either", "09") == blamed


def test_a_codec_does_not_end_while_nobody_talks():
    ask = Ask(1, "recode", b"\x05", "filter")
    asked, told = Said(0, "user", ask), Said(0, "codec", Line(b"05"))
    assert verdict("codec", asked, told, Closed(0, "codec", "eof"), way="filter") == ("MP-FMT-11 MUST",)
    assert verdict("codec", asked, Closed(0, "codec", "eof"), way="filter") == ("MP-FMT-01 MUST",)
    assert verdict("codec", asked, told, Said(0, "codec", Line(b"more")), way="filter") == ("MP-FMT-01 MUST",)


# -- clients -----------------------------------------------------------------------------------------------------------


def calling(*events):
    given = {"method": "m", "params_hex": "90"}
    return verdict(
        "client",
        Fact(0, "server", "connect", {}), Fact(0, "client", "answer", {"op": "connect", "ok": True}),
        Fact(0, "server", "call", given), Said(0, "client", request(3, "m")), *events,
    )  # fmt: skip


def answered(**what):
    return Fact(0, "client", "answer", {"op": "call", **what})


def test_a_client_may_pass_over_what_is_no_message_until_the_connection_ends():
    nothing, drop = Said(0, "server", Frame(None)), Fact(0, "server", "drop", {})
    assert calling(nothing, END) == ()
    assert calling(nothing, answered(error="no message"), END) == ()
    assert calling(nothing, drop, answered(error="gone"), END) == ()
    assert calling(nothing, drop, END) == ("MPRPC-CLI-04 SHOULD",), "it may have a time limit of its own"
    assert calling(nothing, answered(ok={"result_hex": "c0"}), END) == ("MPRPC-CLI-04 MUST",)
    assert calling(drop, END) == ("MPRPC-CLI-04 SHOULD",)


@pytest.mark.parametrize(("number", "blamed"), [(3, ()), (4, ("MPRPC-CLI-01 MUST",))])
def test_a_second_response_may_meet_the_next_request_with_its_id(number, blamed):
    """MP-18: an id that was answered is free again, and neither side sees what is on its way."""
    first = [Said(0, "server", response(3, None, "own")), answered(ok={"result_hex": b"\xa3own".hex()})]
    late = Said(0, "server", response(3, None, "again"))
    told = Fact(0, "server", "call", {"method": "n", "params_hex": "90"})
    asked = Said(0, "client", request(number, "n"))
    taken = answered(ok={"result_hex": b"\xa5again".hex()})
    assert calling(*first, late, told, asked, taken, Said(0, "server", response(number, None, "n")), END) == blamed


def test_a_result_belongs_to_the_id_of_its_response():
    foreign, own = Said(0, "server", response(9, None, "foreign")), Said(0, "server", response(3, None, "own"))
    again = Said(0, "server", response(3, None, "again"))
    for value, first, second, blamed in (
        (b"own", foreign, own, ()),
        (b"foreign", foreign, own, ("MPRPC-CLI-01 MUST",)),
        (b"again", own, again, ("MPRPC-CLI-03 SHOULD",)),
    ):
        told = {"result_hex": (bytes([0xA0 | len(value)]) + value).hex()}
        assert calling(first, second, answered(ok=told), END) == blamed, value
    assert calling(foreign, answered(ok={"result_hex": "c0"}), END) == ("MPRPC-CLI-01 MUST",)
    assert calling(foreign, own, answered(ok={"result_hex": "a3777780"[:8]}), END) == ("MP-FMT-01 MUST",)
    assert calling(foreign, answered(error="confused"), END) == ("MPRPC-CLI-03 SHOULD",)


# -- servers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "level"), [("ECHO", "SHOULD"), ("Echo", "SHOULD"), ("echo ", "MUST")])
def test_a_known_name_in_other_letters_is_the_servers_own_affair(method, level):
    asked, told = Said(0, "client", request(1, method, 5)), Said(0, "server", response(1, None, 5))
    assert verdict("server", asked, told, END) == (f"MPRPC-RESP-05a {level}",)


def test_declared_limits_are_taken_at_their_word():
    facts = {name: fact.default for name, fact in MSGPACK.facts.items()}
    closed = Closed(0, "server", "eof")
    for body, limit in (("x" * 5000, {"max_message": 4096}), ((((5,),),), {"max_depth": 2})):
        asked = Said(0, "client", request(1, "echo", body))
        for given, verdict_ in ((limit, "pass"), ({}, "fail")):
            config = MSGPACK.configure("server", "core", facts | given, {})
            assert judge(MSGPACK.model, config, (asked, closed, END), "server").verdict == verdict_, limit


def spoiling(malformed, *events):
    """The requirements that are blamed when `malformed` is declared."""
    facts = {name: fact.default for name, fact in MSGPACK.facts.items()} | {"malformed": malformed}
    found = judge(MSGPACK.model, MSGPACK.configure("server", "core", facts, {}), events, "server")
    return tuple(blame.breach.requirement for blame in found.faults)


SHUT = Closed(0, "server", "eof")


@pytest.mark.parametrize(
    "body",
    [
        (double(0.0), 1, "echo", (1,)),
        (single(2.0), "echo", (1,)),
        (0, double(1.0), "echo", (1,)),
        (double(0.5), 1, "echo", (1,)),
        (False, 1, "echo", (1,)),
        ("0", 1, "echo", (1,)),
        (None, 1, "echo", (1,)),
    ],
)
def test_a_type_that_some_language_takes_for_an_integer_is_free(body):
    said, told = Said(0, "client", Frame(body)), Said(0, "server", response(1, None, 1))
    for malformed in ("close", "error-then-close", "error-and-continue", "ignore"):
        for events in ((told, END), (END,), (SHUT, END), (Said(0, "server", response(None, "no", None)), END)):
            assert spoiling(malformed, said, *events) == ()


@pytest.mark.parametrize(
    "body",
    [
        Map(((0, 0), (1, 1), (2, "echo"), (3, (1,)))),
        Ext(1, b"a"),
        Ext(-1, b"\0"),
        (None, Text(b"\xff")),
        Map(((0, 0),)),
    ],
)
def test_a_value_that_may_not_be_read_is_no_value_that_every_reader_knows_for_none(body):
    said = Said(0, "client", Frame(body))
    for malformed in ("close", "error-then-close", "error-and-continue", "ignore"):
        for events in ((END,), (SHUT, END)):
            assert spoiling(malformed, said, *events) == ()


@pytest.mark.parametrize(
    "body", [None, 0, (), "x", Map((("a", 1),)), (3, 1, "echo", (1,)), (-1, 1), (1 << 32, 1, "echo", (1,))]
)
def test_what_no_reader_takes_for_a_message_is_treated_as_declared(body):
    said = Said(0, "client", Frame(body))
    for malformed, events in (("close", (END,)), ("error-and-continue", (SHUT, END)), ("ignore", (SHUT, END))):
        assert spoiling(malformed, said, *events) == ("MPRPC-BAD-02",)
    for malformed, events in (("close", (SHUT, END)), ("error-and-continue", (END,)), ("ignore", (END,))):
        assert spoiling(malformed, said, *events) == ()


def test_whoever_may_refuse_a_request_need_not_come_to_what_lies_behind_it():
    nothing = Said(0, "client", Frame(None))
    for body, blamed in ((Ext(1, b"a"), ()), (1, ("MPRPC-BAD-02",))):
        asked = Said(0, "client", request(1, "echo", body))
        assert spoiling("ignore", asked, nothing, SHUT, END) == blamed
        assert spoiling("close", asked, nothing, END) == blamed


def test_our_own_servers_are_right_in_what_they_make_of_numbers_and_of_keys():
    """Found by soaking: a language with one number type, and one whose maps have texts for keys only."""
    for body, switches in (
        ((single(0.0), 1, "echo", (1,)), {"malformed": "close", "one_number": True}),
        (Map(((0, 0), (1, 1), (2, "echo"), (3, (1,)))), {"malformed": "error-and-continue", "odd_keys": "close"}),
        (Ext(1, b"a"), {"malformed": "ignore", "unknown_ext": "close"}),
    ):
        facts = {name: fact.default for name, fact in MSGPACK.facts.items()} | {"malformed": switches["malformed"]}
        config = MSGPACK.configure("server", "core", facts, {})
        transport = MemoryTransport(lambda switches=switches: Server(**switches))
        plan = Plan((Say(0, Frame(body)),))
        assert drive(plan, Setting(MSGPACK, config, "server", transport), "r-").judgement.verdict == "pass", body


def test_an_id_that_was_answered_can_be_used_again():
    first, second = Said(0, "client", request(7, "echo", "one")), Said(0, "client", request(7, "echo", "two"))
    one, two = Said(0, "server", response(7, None, "one")), Said(0, "server", response(7, None, "two"))
    assert verdict("server", first, one, second, two, END) == ()
    assert verdict("server", first, one, second, one, END) == ("MPRPC-RESP-01 MUST",)
    assert verdict("server", first, one, second, END) == ("MPRPC-RESP-01 MUST",)
    assert verdict("server", first, one, one, second, two, END) == ("MPRPC-RESP-01 MUST",)


def test_a_request_that_is_not_whole_is_not_answered():
    part, told = Fact(0, "client", "octets", 3), Said(0, "server", response(7, None, "one"))
    assert verdict("server", part, told, END) == ("MP-FMT-10 MUST",)
    assert verdict("server", part, Said(0, "client", request(7, "echo", "one")), told, END) == ()


def test_unsuitable_arguments_get_one_response_whatever_it_says():
    asked = Said(0, "client", request(1, "add", 1, 2, 3))
    for told in (response(1, None, 3), response(1, "three?", None)):
        assert verdict("server", asked, Said(0, "server", told), END) == ()
    assert verdict("server", asked, END) == ("MPRPC-RESP-05b MUST",)


# -- the interface language --------------------------------------------------------------------------------------------


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
    assert parsed("service S:0 { int f() throws S }", anything) == ("MPIDL-SVC-09 SHOULD",)  # S is no name of a type
    assert parsed("service S:0 { int f() throws int }", anything) == ("MPIDL-SVC-09 MUST",)
    assert not read("exception DiskFullError { }\nservice S:0 { int f() throws DiskFullError }", EVERY).faults


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


@pytest.mark.parametrize(
    "text",
    [
        "message M {\n  32768: int x\n}\n",
        "message M {\n  1: optional int x = - 5\n}\n",
        "service S: 0 {\n  int f()\n}\nservice S: 1 {\n  int f(1: int a)\n}\n",
        "typedef int? T\nservice S: 0 {\n  int f(1: T a)\n}\n",
    ],
)
def test_what_is_said_nowhere_may_be_refused(text):
    reading = read(text, EVERY)
    assert reading.freedoms
    assert not reading.faults


def test_a_minus_in_front_of_its_digits_and_a_function_that_throws_something_else_are_no_open_points():
    assert not read("message M {\n  1: optional int x = -5\n}\n", EVERY).freedoms
    versions = "exception E {\n}\nservice S: 0 {\n  int f()\n}\nservice S: 1 {\n  int f() throws E\n}\n"
    assert not read("typedef int? T\nservice S: 0 {\n  T f()\n}\n", EVERY).freedoms
    assert not read("typedef int T\nservice S: 0 {\n  int f(1: T a)\n}\n", EVERY).freedoms
    assert not read(versions, EVERY).freedoms


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


def test_a_client_may_say_something_of_its_own():
    begun = (Fact(0, "server", "connect", {}), Fact(0, "client", "answer", {"op": "connect", "ok": {}}))
    hello = Said(0, "client", Frame((2, "hello", ())))
    assert verdict("client", *begun, hello, END) == ()
    assert verdict("client", *begun, Said(0, "client", request(1, "hello")), END) == ("MPRPC-REQ-01 MUST",)
    broken = Said(0, "server", Frame((2, 1, None, "odd")))
    assert verdict("client", *begun, broken, Said(0, "client", request(1, "hello")), END) == ()


def test_a_client_may_send_when_it_waits_and_has_to_by_then():
    told = {"method": "m", "params_hex": "90"}
    begun = (Fact(0, "server", "call_async", told), Fact(0, "client", "answer", {"op": "call_async", "ok": 1}))
    waiting = Fact(0, "server", "await", {"handle": 1, "_method": "m"})
    assert verdict("client", *begun, END) == ()
    assert verdict("client", *begun, waiting, END) == ("MPRPC-REQ-01 MUST",)
    assert verdict("client", *begun, waiting, Said(0, "client", request(1, "m")), END) == ()


def test_a_number_without_its_type_is_not_the_result_of_another_call():
    events = []
    for number, value in ((1, 0), (2, double(0.0))):
        told = {"method": f"m{number}", "params_hex": "90"}
        answer = {"op": "call", "ok": {"result_hex": "00"}}
        events += [
            Fact(0, "server", "call", told), Said(0, "client", request(number, f"m{number}")),
            Said(0, "server", response(number, None, value)), Fact(0, "client", "answer", answer),
        ]  # fmt: skip
    assert verdict("client", *events, END, one_number=True) == ("MP-FMT-05 SHOULD",)
    assert verdict("client", *events, END) == ("MP-FMT-05 MUST",)


@pytest.mark.parametrize(
    ("result", "learnt", "blamed"),
    [
        ((0, 1), {"one_number": True}, ("MP-FMT-05 SHOULD",)),
        ((0, 1), {}, ("MPRPC-RESP-01 MUST",)),
        ((0, 2), {"one_number": True}, ("MPRPC-RESP-01 MUST",)),
    ],
    ids=["its own value", "a language that has floats", "that of another"],
)
def test_a_list_without_the_types_of_its_numbers_is_not_the_result_of_another_request(result, learnt, blamed):
    """Found by soaking: a server in a language with one number type gives [0.0, 1] back as [0, 1]."""
    asked = [
        Said(0, "client", request(number, "echo", value))
        for number, value in ((1, (double(0.0), 1)), (2, (0, 1)), (3, (0, 2)))
    ]
    rest = [Said(0, "server", response(number, None, value)) for number, value in ((2, (0, 1)), (3, (0, 2)))]
    assert verdict("server", *asked, Said(0, "server", response(1, None, result)), *rest, END, **learnt) == blamed
