"""Clients of MessagePack-RPC that are legal though unusual, and what beside them is not: see docs/ambiguities.md."""

from __future__ import annotations

import pytest

from impls.references.msgpack.client import Caller, Client
from specs.events import Closed, Fact, Said
from specs.msgpack.frames import Frame, notification, request, response
from specs.msgpack.values import double
from tests.msgpack_verdicts import END, verdict
from tests.mutants.msgpack_client import breaks
from tests.mutants.msgpack_client_overlaps import ERROR_AND_RESULT, NO_RESULT, NOTHING_BUT_AN_ID, TOGETHER
from tests.test_msgpack_mutants import config_for, judged


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


@pytest.mark.parametrize(("number", "blamed"), [(3, ()), (9, ("MPRPC-CLI-03 SHOULD",))])
def test_a_second_response_may_meet_a_request_that_is_still_being_written(number, blamed):
    """MP-18: its call is over before we see it. An id that no call had belongs to none."""
    first = [Said(0, "server", response(3, None, "own")), answered(ok={"result_hex": b"\xa3own".hex()})]
    late, told = (
        Said(0, "server", response(number, "no", None)),
        Fact(0, "server", "call", {"method": "n", "params_hex": "90"}),
    )
    asked, own = Said(0, "client", request(3, "n")), Said(0, "server", response(3, None, "n"))
    assert calling(*first, late, told, answered(ok={"error_hex": b"\xa2no".hex()}), asked, own, END) == blamed


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


@pytest.mark.parametrize("body", [(1, 3), (1, 3, None), (1, 3, "no")])
def test_a_response_without_a_result_is_no_message(body):
    """MP-23: who ends the call with nil makes up a result."""
    short, drop = Said(0, "server", Frame(body)), Fact(0, "server", "drop", {})
    assert calling(short, answered(error="malformed"), END) == ()
    assert calling(short, drop, answered(ok={"error_hex": "a26e6f"}), END) == ()
    assert calling(short, answered(ok={"result_hex": "c0"}), END) == ("MPRPC-CLI-04 MUST",)


def test_an_error_is_one_whatever_stands_beside_it():
    """MP-02. A test program may write both members of its report, and null in one of them."""
    both = Said(0, "server", response(3, "no", "data"))
    for failed in ({"error_hex": "a26e6f"}, {"error_hex": "a26e6f", "result_hex": None}):
        assert calling(both, answered(ok=failed), END) == ()
    for taken in ({"result_hex": "a464617461"}, {"result_hex": "a464617461", "error_hex": "a26e6f"}):
        assert calling(both, answered(ok=taken), END) == ("MPRPC-CLI-02 MUST",)
    nil = Said(0, "server", response(3, None, None))
    for right in (
        {"result_hex": None},
        {"result_hex": "c0", "error_hex": None},
        {"result_hex": None, "error_hex": None},
    ):
        assert calling(nil, answered(ok=right), END) == ()


class Tolerant(Caller):
    """Passes over what stands behind the result of a response."""

    def message(self, value):
        super().message(value[:4] if isinstance(value, list) and value[:1] == [1] else value)


class Tolerants(Client):
    caller_type = Tolerant


def test_elements_behind_a_result_may_be_passed_over():
    config, plans = config_for("client"), [breaks(1, which)(config_for("client")) for which in range(26)]
    assert any(step.data.startswith(b"\x95\x01\x00") for plan in plans for step in plan.steps if hasattr(step, "data"))
    for plan in plans:
        assert judged(plan, "client", Tolerants, config)[1] == ()


@pytest.mark.parametrize("pieces", ["whole", "octets"])
@pytest.mark.parametrize("witness", [TOGETHER, ERROR_AND_RESULT, NO_RESULT, NOTHING_BUT_AN_ID])
def test_what_comes_together_is_read_by_who_reads_all_of_it(witness, pieces):
    config = config_for("client")
    for no_message in ("close", "ignore"):
        found, faults = judged(
            witness(config), "client", lambda how=no_message: Client(pieces=pieces, no_message=how), config
        )
        assert (found.verdict, faults) == ("pass", ()), no_message


def test_a_client_may_say_something_of_its_own():
    begun = (Fact(0, "server", "connect", {}), Fact(0, "client", "answer", {"op": "connect", "ok": {}}))
    hello = Said(0, "client", Frame((2, "hello", ())))
    assert verdict("client", *begun, hello, END) == ()
    asks = Said(0, "client", request(1, "hello"))
    assert verdict("client", *begun, asks, END) == ("MPRPC-REQ-01 SHOULD",)
    told = (Fact(0, "server", "call", {"method": "m", "params_hex": "90"}),)
    answered = (
        Said(0, "server", response(2, None, 5)),
        Fact(0, "client", "answer", {"op": "call", "ok": {"result_hex": "05"}}),
    )
    assert verdict("client", *begun, asks, *told, Said(0, "client", request(2, "m")), *answered, END) == (
        "MPRPC-REQ-01 SHOULD",
    )
    assert "MPRPC-REQ-01 MUST" in verdict("client", *begun, *told, Said(0, "client", request(1, "M")), END)
    # it may wait for the answer to what it has asked, which the tester does not give
    hello = Said(0, "client", request(1, "hello", "name"))
    for waits in ((begun[0], hello), (*begun, hello, *told), (*begun, *told, hello)):
        assert verdict("client", *waits, END) == ("MPRPC-REQ-01 SHOULD",)
    assert verdict("client", begun[0], END) == verdict("client", *begun, *told, END) == ("MPRPC-REQ-01 MUST",)
    broken = Said(0, "server", Frame((2, 1, None, "odd")))
    assert verdict("client", *begun, broken, Said(0, "client", request(1, "hello")), END) == ()


def test_a_client_may_send_when_it_waits_and_has_to_by_then():
    told = {"method": "m", "params_hex": "90"}
    begun = (Fact(0, "server", "call_async", told), Fact(0, "client", "answer", {"op": "call_async", "ok": 1}))
    waiting = Fact(0, "server", "await", {"handle": 1, "_method": "m"})
    assert verdict("client", *begun, END) == ()
    assert verdict("client", *begun, waiting, END) == ("MPRPC-REQ-01 MUST",)
    assert verdict("client", *begun, waiting, Said(0, "client", request(1, "m")), END) == ()


@pytest.mark.parametrize(("said", "blamed"), [
    ((1, 2, 3), ()),
    ((2, 1, 3), ()),  # what waits for nothing may overtake
    ((3, 1, 2), ()),
    ((1, 1, 3), ("MP-FMT-04 MUST",)),
    ((1, 2, 1), ("MP-FMT-04 MUST",)),
    ((1, 3), ("MPRPC-NOTE-02 MUST",)),
])  # fmt: skip
def test_one_method_again_is_known_by_its_params(said, blamed):
    """Two notifications and a call, which waits, to one method, with other params each."""
    events = []
    for number, op in ((1, "notify"), (2, "notify"), (3, "call")):
        given = {"method": "m", "params_hex": f"910{number}"} | ({"_method": f"m{number}"} if number > 1 else {})
        events.append(Fact(0, "server", op, given))
        if op == "notify":
            events.append(Fact(0, "client", "answer", {"op": op, "ok": {}}))
    for at, number in enumerate(said):
        calls = number == 3 or (at == 2 and 3 not in said)
        events.append(Said(0, "client", request(7, "m", number) if calls else notification("m", number)))
    assert verdict("client", *events, END) == blamed


def test_a_call_may_wait_while_two_are_open():
    """MP-27: how many a client has open at once is not said. While one alone is open it has to be sent."""

    def asynchronous(name, handle):
        given = {"method": name, "params_hex": "90"}
        answer = Fact(0, "client", "answer", {"op": "call_async", "ok": handle})
        return Fact(0, "server", "call_async", given), answer

    def asked(name, number):
        return Said(0, "client", request(number, name))

    def awaited(name, handle):
        return Fact(0, "server", "await", {"handle": handle, "_method": name})

    one = (*asynchronous("m", 1), asked("m", 3))
    three = (*one, *asynchronous("n", 2), asked("n", 4), *asynchronous("o", 5), awaited("o", 5))
    first = Said(0, "server", response(3, None, "m"))
    assert verdict("client", *three, END) == ()
    assert verdict("client", *three, first, END) == ("MPRPC-REQ-01 MUST",)
    assert verdict("client", *one, *asynchronous("n", 2), awaited("n", 2), END) == ("MPRPC-REQ-01 MUST",)
    then = (asked("o", 6), Said(0, "server", response(6, None, "o")))
    taken = Fact(0, "client", "answer", {"op": "await", "ok": {"result_hex": b"\xa1o".hex()}})
    assert verdict("client", *three, first, *then, taken, END) == ()


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


@pytest.mark.parametrize(("another", "end", "blamed"), [
    (True, Closed(0, "client"), ()),
    (False, Closed(0, "client"), ("MPRPC-CLI-01 MUST",)),
    (True, Fact(0, "client", "exit", 1), ("MPRPC-CLI-04 MUST",)),
])  # fmt: skip
def test_nothing_but_its_death_is_judged_of_a_client_that_opens_another_connection(another, end, blamed):
    opened = [Fact(0, "client", "accepted", 2)] if another else []
    assert calling(*opened, end, END) == blamed


def test_what_was_open_when_a_connection_ended_is_judged_though_the_client_opens_another():
    """MP-26 is about a connection beside one that is whole; CLI-04 asks what became of the calls of the first one."""
    drop, again = Fact(0, "server", "drop", {}), Fact(0, "client", "accepted", 2)
    assert calling(drop, again, END) == ("MPRPC-CLI-04 SHOULD",)
    assert calling(drop, again, answered(ok={"result_hex": "c0"}), END) == ("MPRPC-CLI-04 MUST",)
    assert calling(drop, again, answered(error="gone"), END) == ()


@pytest.mark.parametrize(("reported", "blamed"), [
    ({"result_hex": b"\xa3new".hex()}, ()), ({"error_hex": "a26e6f"}, ("MPRPC-CLI-01 MUST",)),
])  # fmt: skip
def test_another_connection_begins_from_nothing(reported, blamed):
    """Ids of the one before mean nothing on it, nor do the calls that it ended."""
    drop, gone = Fact(0, "server", "drop", {}), answered(error="gone")
    connect = [Fact(0, "server", "connect", {}), Fact(0, "client", "answer", {"op": "connect", "ok": True})]
    told = Fact(0, "server", "call", {"method": "n", "params_hex": "90"})
    again = [told, Said(0, "client", request(3, "n")), Said(0, "server", response(3, None, "new"))]
    assert calling(drop, gone, *connect, *again, answered(ok=reported), END) == blamed
    assert calling(drop, connect[0], gone, connect[1], *again, END) == (), "it still waited for the one before"
