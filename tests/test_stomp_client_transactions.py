"""Readings of the text about transactions of STOMP clients: what is allowed, and beside it what is not."""

from __future__ import annotations

import pytest

from specs.events import Said
from specs.stomp.frames import Frame
from tests.test_stomp_client_machine import client, told
from tests.test_stomp_client_readings import END, LIVE, NO, OK, SUBSCRIBED, blamed, got, message

TWO = (*LIVE, told("begin", transaction="t"), OK, told("begin", transaction="u"), OK)


@pytest.mark.parametrize("name", ["u", "x7"])
def test_transactions_may_begin_in_another_order_than_they_were_told(name):
    """Whoever begins one with what is first done in it begins the second first, by its name or by an id of its own."""
    frames = client("BEGIN", transaction=name), client("COMMIT", transaction=name)
    lazy = (*TWO, told("commit", transaction="u"), *frames, OK)
    assert blamed(*lazy, END) == []
    assert blamed(*lazy, told("abort", transaction="t"), client("ABORT", transaction=name), OK, END) == [
        ("CLI-13", None)
    ]


@pytest.mark.parametrize(("first", "second"), [("t", "u"), ("1", "2")])
def test_a_transaction_that_was_begun_is_the_one_that_ends(first, second):
    """What ends is known by the name that was told, or by the order where nothing else tells it."""
    both = (
        *LIVE, told("begin", transaction="t"), client("BEGIN", transaction=first), OK,
        told("begin", transaction="u"), client("BEGIN", transaction=second), OK, told("commit", transaction="u"),
    )  # fmt: skip
    assert blamed(*both, client("COMMIT", transaction=second), OK, END) == []
    assert blamed(*both, client("COMMIT", transaction=first), OK, END) == [("CLI-13", None)]


@pytest.mark.parametrize("verb", ["COMMIT", "ABORT"])
def test_the_end_of_a_transaction_that_was_never_to_begin_is_nobodys_fault(verb):
    """Shrinking may leave out what began it: what is left must not be blamed on the client."""
    assert blamed(*LIVE, told(verb.lower(), transaction="t"), client(verb, transaction="t"), OK, END) == []
    assert blamed(*LIVE, client(verb, transaction="t"), END) == [("CLI-13", None)]


@pytest.mark.parametrize(("verb", "found"), [("ABORT", []), ("COMMIT", [("CLI-13", None)])])
def test_a_transaction_that_was_to_be_aborted_is_not_committed(verb, found):
    one = (*LIVE, told("begin", transaction="t"), client("BEGIN", transaction="t"), OK, told("abort", transaction="t"))
    assert blamed(*one, client(verb, transaction="t"), OK, END) == found
    assert blamed(*one, NO, client(verb, transaction="t"), END) == []


def test_what_is_done_in_a_transaction_may_be_kept_until_it_is_committed():
    """A library may say all of a transaction at its COMMIT, and nothing of one that is aborted; but then it says it."""
    kept = (
        *LIVE, told("begin", transaction="t"), OK,
        told("send", destination="/x", body_hex=b"1".hex(), headers={}, transaction="t"), OK,
    )  # fmt: skip
    said = Said(
        0, "client", Frame("SEND", (("destination", "/x"), ("transaction", "t"), ("content-length", "1")), b"1")
    )
    frames = client("BEGIN", transaction="t"), said, client("COMMIT", transaction="t")
    assert blamed(*kept, END) == []
    assert blamed(*kept, told("abort", transaction="t"), OK, END) == []
    assert blamed(*kept, told("commit", transaction="t"), OK, *frames, END) == []
    assert blamed(*kept, told("commit", transaction="t"), OK, frames[0], frames[2], END) == [("CLI-15", None)]


def sent(body, name):
    """A SEND of a transaction."""
    return Said(
        0, "client", Frame("SEND", (("destination", "/x"), ("transaction", name), ("content-length", "1")), body)
    )


def sends_within(body):
    """The application sends in the transaction that it calls t."""
    return told("send", destination="/x", body_hex=body.hex(), headers={}, transaction="t")


@pytest.mark.parametrize("end", ["commit", "abort"])
@pytest.mark.parametrize("name", ["t", "7"])
def test_a_name_is_used_again_where_the_first_transaction_was_never_begun(end, name):
    """An empty one need not be begun, nor one that is aborted where all is kept until COMMIT."""
    first = (*LIVE, told("begin", transaction="t"), OK, told(end, transaction="t"), OK)
    second = (told("begin", transaction="t"), client("BEGIN", transaction=name), OK, sends_within(b"1"))
    assert blamed(*first, *second, sent(b"1", name), OK, END) == []
    assert blamed(*first, *second, sent(b"1", "other"), OK, END) == [("CLI-13", None)]


def test_a_name_that_is_used_again_before_the_first_transaction_is_seen_means_each_in_its_time():
    again = told("begin", transaction="t"), sends_within(b"1"), told("commit", transaction="t")
    hurried = (*LIVE, *again, told("begin", transaction="t"), sends_within(b"2"), told("commit", transaction="t"))
    one, two = (
        (client("BEGIN", transaction=name), sent(body, name), client("COMMIT", transaction=name), OK, OK, OK)
        for name, body in (("1", b"1"), ("2", b"2"))
    )
    assert blamed(*hurried, *one, *two, END) == []
    mixed = (*two[:1], sent(b"2", "1"), *two[2:])
    assert blamed(*hurried, *one, *mixed, END) == [("CLI-13", None)]


def test_an_abort_undoes_nothing_of_an_earlier_transaction_of_the_same_name():
    heard = (
        *SUBSCRIBED,
        message(1),
        told("receive", timeout_ms=9),
        got(1),
        told("begin", transaction="t"),
        client("BEGIN", transaction="t"),
        OK,
    )
    acked = told("ack", ref="r1", transaction="t"), client("ACK", id="a1", transaction="t"), OK
    committed = told("commit", transaction="t"), client("COMMIT", transaction="t"), OK
    aborted = (
        told("begin", transaction="t"), client("BEGIN", transaction="t"), OK,
        told("abort", transaction="t"), client("ABORT", transaction="t"), OK,
    )  # fmt: skip
    again = told("ack", ref="r1"), client("ACK", id="a1"), OK
    assert blamed(*heard, *acked, *committed, *again, END) == blamed(*heard, *acked, *committed, *aborted, *again, END)
    assert [name for name, _ in blamed(*heard, *acked, *committed, *aborted, *again, END)] == ["ACK-03"]


@pytest.mark.parametrize(("verb", "again", "rules"), [
    ("ABORT", 1, []), ("ABORT", 3, []), ("COMMIT", 1, ["ACK-03"]), ("COMMIT", 3, ["ACK-03"]),
])  # fmt: skip
def test_an_abort_gives_back_all_that_an_ack_has_covered(verb, again, rules):
    """In the mode client an ACK is of all messages before it; aborted, it is of none."""
    three = [event for n in (1, 2, 3) for event in (message(n), told("receive", timeout_ms=1000), got(n))]
    within = (
        told("begin", transaction="t"), client("BEGIN", transaction="t"), OK,
        told("ack", ref="r3", transaction="t"), client("ACK", id="a3", transaction="t"), OK,
        told(verb.lower(), transaction="t"), client(verb, transaction="t"), OK,
    )  # fmt: skip
    told_again = (told("ack", ref=f"r{again}"), client("ACK", id=f"a{again}"), OK)
    assert [name for name, _ in blamed(*SUBSCRIBED, *three, *within, *told_again, END)] == rules


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("verb", ["ACK", "NACK"])
def test_what_is_settled_behind_an_abort_is_part_of_no_transaction(verb, kept):
    """Also where nothing was said of the one that was aborted, since all of it was kept until COMMIT."""
    op, frames = verb.lower(), (client("BEGIN", transaction="t"), client(verb, id="a1", transaction="t"))
    begun, settled = (() if kept else (frame,) for frame in frames)
    ended = () if kept else (client("ABORT", transaction="t"),)
    heard = (*SUBSCRIBED, message(1), told("receive", timeout_ms=9), got(1))
    within = (
        told("begin", transaction="t"), *begun, OK, told(op, ref="r1", transaction="t"), *settled, OK,
        told("abort", transaction="t"), *ended, OK,
    )  # fmt: skip
    assert blamed(*heard, *within, told(op, ref="r1"), client(verb, id="a1"), OK, END) == []
    inside = client(verb, id="a1", transaction="t")
    assert blamed(*heard, *within, told(op, ref="r1"), inside, OK, END) == [("CLI-13", None)]
