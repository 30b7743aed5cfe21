"""Servers of MessagePack-RPC that are legal though unusual, and what beside them is not: see docs/ambiguities.md."""

from __future__ import annotations

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.msgpack.reference import Server
from specs.events import Closed, Fact, Said
from specs.model import judge
from specs.msgpack.frames import Frame, notification, request, response
from specs.msgpack.values import Ext, Map, Text, double, single
from specs.plan import Plan, Say
from tests.msgpack_verdicts import END, MSGPACK, verdict


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
ONE = ("MPRPC-RESP-01 MUST",)


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


@pytest.mark.parametrize(("brief", "answered", "blamed"), [(True, True, ()), (True, False, ONE), (False, True, ONE)])
def test_a_request_may_cross_the_end_of_a_connection_that_a_server_ends_whenever_nothing_is_open(
    brief, answered, blamed
):
    first, told = Said(0, "client", request(1, "echo", 5)), Said(0, "server", response(1, None, 5))
    before = (first, told) if answered else ()
    events = (*before, Said(0, "client", request(2, "echo", 6)), SHUT, END)
    assert verdict("server", *events, brief=brief) == blamed


@pytest.mark.parametrize(("brief", "answered"), [(True, True), (True, False), (False, True)])
def test_only_who_ends_every_connection_that_was_answered_may_do_so_where_another_was_misused(brief, answered):
    asked, told = Said(1, "client", request(1, "echo", 5)), Said(1, "server", response(1, None, 5))
    misused = Said(0, "client", Frame("junk"))
    begun = (asked, told) if answered else (Said(1, "client", notification("bump")),)
    found = verdict("server", *begun, misused, SHUT, Closed(1, "server", "eof"), END, brief=brief)
    assert found == (() if brief and answered else ("MPRPC-BAD-01 MUST",))


@pytest.mark.parametrize(("brief", "answered", "blamed"), [
    (True, True, ()), (True, False, ("MPRPC-BAD-02 ASSUMED",)), (False, True, ("MPRPC-BAD-02 ASSUMED",)),
])  # fmt: skip
def test_who_ends_every_connection_that_was_answered_need_not_stay_as_declared(brief, answered, blamed):
    """MP-20. Found by a soak."""
    begun = (Said(0, "client", request(1, "echo", 5)), Said(0, "server", response(1, None, 5))) if answered else ()
    junk = Said(0, "client", Frame("junk"))
    assert verdict("server", *begun, junk, SHUT, END, brief=brief, facts={"malformed": "ignore"}) == blamed
    assert verdict("server", junk, *begun, SHUT, END, brief=brief, facts={"malformed": "ignore"}) == blamed


@pytest.mark.parametrize(("brief", "blamed"), [(True, ()), (False, ("MPRPC-NOTE-03 ASSUMED",))])
def test_notifications_that_crossed_the_end_of_such_a_connection_need_not_be_counted(brief, blamed):
    counts = [(Said(n, "client", request(1, "count")), Said(n, "server", response(1, None, 0))) for n in (0, 1)]
    note = Said(0, "client", notification("bump"))
    found = verdict("server", *counts[0], note, SHUT, *counts[1], END, brief=brief)
    assert found == blamed
