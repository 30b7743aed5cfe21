"""Clients of MessagePack-RPC that are legal though unusual, and what beside them is not: see docs/ambiguities.md."""

from __future__ import annotations

import pytest

from specs.events import Fact, Said
from specs.msgpack.frames import Frame, request, response
from specs.msgpack.values import double
from tests.msgpack_verdicts import END, verdict


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
