"""What a correct STOMP server may do where several things are open side by side, each beside what is wrong there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.stomp.reference import Server
from specs.plan import Close, Say
from specs.stomp.states import Config
from strategies.common import Op, Program
from strategies.stomp import crossings
from tests.mutants.every import BY_MODULE
from tests.soak import STOMP, config_of
from tests.stomp_lines import connected, faults

ONE = connected("1.2")
TWO = connected("1.2", "1.2")
NAMES_FOLD = replace(Config(), folds=True, topic=replace(Config().topic, copies=False))

# -- letter case of destinations ---------------------------------------------------------------------------------------

TOPICS = """
0> SUBSCRIBE id:0 destination:/topic/a receipt:s
0< RECEIPT receipt-id:s
0> SUBSCRIBE id:1 destination:/topic/A receipt:t
0< RECEIPT receipt-id:t
0> SEND destination:/topic/A k:1 receipt:r | x
0< RECEIPT receipt-id:r
"""


@pytest.mark.parametrize(
    ("folds", "copies", "missing"), [(True, False, False), (True, True, True), (False, False, True)]
)
def test_a_connection_gets_one_copy_where_two_names_are_one_to_the_server(folds, copies, missing):
    """E-13 with N-11: SUB-05. Whoever gives each subscription its own copy, or tells the names apart, owes it."""
    config = replace(Config(), folds=folds, topic=replace(Config().topic, copies=copies))
    assert faults(ONE + TOPICS, config) == ({("SUB-05", "MUST")} if missing else set())


HAUNTED = """
0> SUBSCRIBE id:0 destination:/queue/{} receipt:s
0< RECEIPT receipt-id:s
0c
1> SUBSCRIBE id:0 destination:/queue/a receipt:t
1< RECEIPT receipt-id:t
1> SEND destination:/queue/a k:1 receipt:r | x
1< RECEIPT receipt-id:r
"""


@pytest.mark.parametrize(("name", "folds", "missing"), [("A", True, False), ("A", False, True), ("a", False, False)])
def test_a_subscription_of_a_lost_connection_may_swallow_what_goes_by_its_name(name, folds, missing):
    """Haunted destinations, with E-13: ACK-02, SUB-04."""
    found = faults(TWO + HAUNTED.format(name), replace(Config(), folds=folds))
    assert found == ({("SUB-04", "MUST")} if missing else set())


REFUSED = """
0> SUBSCRIBE id:0 destination:/queue/b receipt:s
0< RECEIPT receipt-id:s
0> SUBSCRIBE id:{} destination:/queue/a ack:{} receipt:t
0< ERROR message:refused receipt-id:{}
0x
1> SUBSCRIBE id:0 destination:/queue/{} receipt:t
1< RECEIPT receipt-id:t
1> SEND destination:/queue/{} k:1 receipt:r | x
1< RECEIPT receipt-id:r
"""


@pytest.mark.parametrize(
    ("name", "mode", "about", "place", "missing"),
    [
        ("0", "auto", "t", "a", True),
        ("1", "sometimes", "t", "a", True),
        ("0", "auto", "t", "b", False),
        ("1", "auto", "t", "a", False),
        ("0", "auto", "another", "a", False),
    ],
)
def test_a_subscription_that_was_refused_swallows_nothing(name, mode, about, place, missing):
    """Haunted destinations: SUB-04. Where the ERROR is about the SUBSCRIBE, and that is one to refuse."""
    found = faults(TWO + REFUSED.format(name, mode, about, place, place), Config())
    assert (("SUB-04", "MUST") in found) == missing


# -- acknowledgements --------------------------------------------------------------------------------------------------

HELD = """
0> SUBSCRIBE id:0 destination:/queue/q ack:client-individual receipt:s
0< RECEIPT receipt-id:s
0> SEND destination:/queue/q k:1 | x
0< MESSAGE destination:/queue/q subscription:0 message-id:m ack:a k:1 | x
0> BEGIN transaction:t
0> ACK id:a transaction:t
"""
LEFT = """
0> UNSUBSCRIBE id:0 receipt:u
0< RECEIPT receipt-id:u
"""
COMMITTED = """
0> COMMIT transaction:t receipt:c
0< RECEIPT receipt-id:c
"""
TAKEN_ELSEWHERE = """
0c
1> SUBSCRIBE id:0 destination:/queue/q receipt:v
1< RECEIPT receipt-id:v
1< MESSAGE destination:/queue/q subscription:0 message-id:m k:1 | x
"""


@pytest.mark.parametrize(("left", "wrong"), [(LEFT, False), ("", True)])
def test_an_ack_that_is_committed_behind_its_subscription_settles_nothing_for_sure(left, wrong):
    """E-16, E-09: ACKMODE-08. What the subscription held was free to go anywhere before the COMMIT."""
    found = faults(TWO + HELD + left + COMMITTED + TAKEN_ELSEWHERE)
    assert found == ({("ACKMODE-08", "MUST")} if wrong else set())


TWICE = """
0> SUBSCRIBE id:s destination:/queue/q ack:client-individual receipt:1
0< RECEIPT receipt-id:1
0> SEND destination:/queue/q k:1 | x
0< MESSAGE destination:/queue/q subscription:s message-id:m ack:a k:1 | x
{}
{}
"""
AGAIN = """
0> UNSUBSCRIBE id:s receipt:2
0< RECEIPT receipt-id:2
0> SUBSCRIBE id:s destination:/queue/q ack:client-individual receipt:3
0< RECEIPT receipt-id:3
0< MESSAGE destination:/queue/q subscription:s message-id:m ack:b k:1 | x
"""
ACKED = """
0> ACK id:{0} message-id:m subscription:s receipt:4
0< RECEIPT receipt-id:4
0> ACK id:{0} message-id:m subscription:s receipt:5
0< RECEIPT receipt-id:5
"""


@pytest.mark.parametrize(("version", "wrong"), [("1.1", False), ("1.2", True)])
def test_an_id_used_twice_may_name_what_its_former_bearer_held(version, wrong):
    """E-16: INV-09. Before 1.2 an ACK names a message and a subscription id, and both may have been used before."""
    text = connected(version) + TWICE.format(AGAIN, ACKED.format("b"))
    found = {name for name, _ in faults(text)}
    assert found == ({"INV-09"} if wrong else set())


@pytest.mark.parametrize("version", ["1.1", "1.2"])
def test_a_delivery_that_was_named_once_is_settled_by_its_ack(version):
    text = connected(version) + TWICE.format("", ACKED.format("a"))
    assert {name for name, _ in faults(text)} == {"INV-09"}


COPIES = """
0> SUBSCRIBE id:s destination:/topic/a ack:client receipt:1
0< RECEIPT receipt-id:1
0> SUBSCRIBE id:t destination:/topic/a ack:client receipt:2
0< RECEIPT receipt-id:2
0> SEND destination:/topic/a k:1 | x
0< MESSAGE destination:/topic/a subscription:s message-id:m k:1 | x
0< MESSAGE destination:/topic/a subscription:t message-id:m k:1 | x
0> ACK message-id:m subscription:s receipt:3
0< RECEIPT receipt-id:3
0> ACK message-id:m subscription:t receipt:4
0< ERROR message:no receipt-id:4
0x
"""


@pytest.mark.parametrize(("version", "wrong"), [("1.0", False), ("1.1", True)])
def test_an_ack_of_1_0_names_a_message_and_no_subscription(version, wrong):
    """1.0, ACK: it has one required header, message-id, which copies of one message may share."""
    assert bool(faults(connected(version) + COPIES)) == wrong


# -- order of connections ----------------------------------------------------------------------------------------------

CROSSED = """
0> SUBSCRIBE id:0 destination:/queue/q ack:client receipt:s
0< RECEIPT receipt-id:s
1> SUBSCRIBE id:0 destination:/queue/q ack:client receipt:t
1< RECEIPT receipt-id:t
1> SEND destination:/queue/q k:1 | x
{}
1< MESSAGE destination:/queue/q subscription:0 message-id:m ack:a k:1 | x
0< MESSAGE destination:/queue/q subscription:0 message-id:n ack:b k:1 | x
"""


@pytest.mark.parametrize(("refused", "wrong"), [("0> BEGIN", False), ("", True)])
def test_what_comes_on_a_connection_that_is_ending_may_have_been_written_first(refused, wrong):
    """N-08: MSG-10. Connection 0 got the message and was refused, and then connection 1 got it: seen the other way."""
    found = {name for name, _ in faults(TWO + CROSSED.format(refused))}
    assert ("MSG-10" in found) == wrong


# -- transactions ------------------------------------------------------------------------------------------------------

BETWEEN = """
0> BEGIN transaction:t
{}
0> SEND destination:/topic/a transaction:t k:1 | x
{}
0> COMMIT transaction:t receipt:c
0< RECEIPT receipt-id:c
"""
COMES = """
1> SUBSCRIBE id:0 destination:/topic/a receipt:s
1< RECEIPT receipt-id:s
"""


@pytest.mark.parametrize(("before", "behind", "wrong"), [(COMES, "", True), ("", COMES, False)])
def test_who_subscribes_between_send_and_commit_may_get_nothing_from_a_topic(before, behind, wrong):
    """N-01: TXN-03. A topic gives to those who are there; the text does not say whether at SEND or at COMMIT."""
    found = faults(TWO + BETWEEN.format(before, behind))
    assert found == ({("TXN-03", "MUST")} if wrong else set())


def test_what_is_kept_is_for_those_who_come_between_send_and_commit_as_well():
    text = BETWEEN.format("", COMES).replace("/topic/", "/queue/")
    assert faults(TWO + text) == {("TXN-03", "MUST")}


FAILED = """
1> SUBSCRIBE id:0 destination:/queue/q receipt:s
1< RECEIPT receipt-id:s
0> BEGIN transaction:t
0> SEND destination:/queue/q transaction:t k:1 | x
0> NONSENSE receipt:n
0< ERROR message:no receipt-id:n
{}
1< MESSAGE destination:/queue/q subscription:0 message-id:m k:1 | x
"""
GOES_ON = "0> COMMIT transaction:t receipt:c"


@pytest.mark.parametrize(
    ("version", "behind", "wrong"),
    [("1.1", GOES_ON, False), ("1.2", GOES_ON, True), ("1.1", "", True), ("1.1", "0c", True), ("1.1", "0x", True)],
)
def test_before_1_2_a_transaction_may_be_committed_behind_an_error(version, behind, wrong):
    """1.1, ERROR: nothing says that the connection is over. Without COMMIT the transaction is not committed."""
    found = {name for name, _ in faults(connected(version, "1.2") + FAILED.format(behind))}
    assert bool(found & {"TXN-05", "TXN-02"}) == wrong


# -- the property itself -----------------------------------------------------------------------------------------------


def test_everything_that_stands_there_from_the_beginning_is_legal_and_ends():
    config = config_of(Server())
    for stage in range(256):
        plan = crossings.interpret(Program((0, stage, stage, stage * 7 % 256), ()), config)
        assert isinstance(plan.steps[0], Say)
        assert any(isinstance(step, Close) for step in plan.steps) or stage * 7 % 256 & 48 == 48
        found = drive(plan, Setting(STOMP, config, "server", MemoryTransport(Server)), "c-").judgement
        assert (found.verdict, found.faults) == ("pass", ()), stage


@pytest.mark.parametrize("kind", crossings._OPS)
def test_each_op_says_something_where_everything_stands(kind):
    config = config_of(Server())
    bare = crossings.interpret(Program((0, 0, 63, 0), ()), config)
    plan = crossings.interpret(Program((0, 0, 63, 0), (Op(kind, (0, 1, 2, 3, 4)),)), config)
    assert plan.steps != bare.steps


def test_the_names_of_a_plan_are_given_to_things_of_every_kind():
    plan = crossings.interpret(Program((0, 0, 63, 0), (Op("visit", (0, 0, 0, 0, 64)),)), config_of(Server()))
    named = {
        name
        for step in plan.steps
        if isinstance(step, Say)
        for name, value in step.frame.headers
        if value == "a"
    }  # fmt: skip
    assert {"id", "transaction", "receipt"} <= named


def test_faults_that_a_neighbour_feels_are_of_a_family_of_their_own():
    assert len(BY_MODULE["stomp_crossings"]) >= 14


NACKED_IN_ONE = """
0> SUBSCRIBE id:0 destination:/queue/q ack:client-individual receipt:s
0< RECEIPT receipt-id:s
0> SEND destination:/queue/q k:1 receipt:p | x
0< RECEIPT receipt-id:p
0< MESSAGE destination:/queue/q subscription:0 message-id:m ack:a k:1 | x
0> BEGIN transaction:t receipt:b
0< RECEIPT receipt-id:b
1> BEGIN transaction:{0} receipt:c
1< RECEIPT receipt-id:c
0> NACK id:a message-id:m subscription:0 transaction:t receipt:n
0< RECEIPT receipt-id:n
1> COMMIT transaction:{0} receipt:d
1< RECEIPT receipt-id:d
0< MESSAGE destination:/queue/q subscription:0 message-id:m ack:b k:1 | x
"""


@pytest.mark.parametrize(
    ("version", "name", "wrong"), [("1.1", "t", False), ("1.1", "u", True), ("1.2", "t", True), ("1.2", "u", True)]
)
def test_a_nack_counts_where_its_transaction_is_committed_under_its_name(version, name, wrong):
    """NACK-04: before 1.2 transactions of one name that are open at a time may be one, and a COMMIT of it hands the
    message back. One of another name does not, nor one of 1.2."""
    found = faults(connected(version, version) + NACKED_IN_ONE.format(name))
    assert {each for each, _ in found} == ({"NACK-04"} if wrong else set())


HELD_BY_A_TRANSACTION = """
0> SUBSCRIBE id:0 destination:/queue/q ack:client-individual receipt:s
0< RECEIPT receipt-id:s
0> SEND destination:/queue/q k:1 receipt:p | x
0< RECEIPT receipt-id:p
0< MESSAGE destination:/queue/q subscription:0 message-id:m ack:a k:1 | x
0> SEND destination:/queue/q k:2 receipt:q | y
0< RECEIPT receipt-id:q
0< MESSAGE destination:/queue/q subscription:0 message-id:n ack:b k:2 | y
0> BEGIN transaction:t receipt:b
0< RECEIPT receipt-id:b
0> NACK id:a transaction:t receipt:n
0< RECEIPT receipt-id:n
{}
0< MESSAGE destination:/queue/q subscription:0 message-id:m ack:c k:1 | x
"""
ANOTHER_NACK = """
0> NACK id:b receipt:o
0< RECEIPT receipt-id:o
"""
REACHED = "STOMP-1.2-NACK-03 nack_of_another_delivery"


@pytest.mark.parametrize(("between", "left"), [(ANOTHER_NACK, set()), ("", {"NACK-04"})])
def test_a_nack_that_is_known_to_reach_too_far_is_why_a_message_came_again(between, left):
    """What comes again while a transaction holds its NACK may have been reached by the NACK of another delivery, where
    there was one: which of the two is met first does not decide what else fails."""
    lines = connected("1.2") + HELD_BY_A_TRANSACTION.format(between)
    assert {each for each, _ in faults(lines)} == {"NACK-04"}
    assert {each for each, _ in faults(lines, set_aside=[REACHED])} == left


BEHIND_ONE_THAT_FAILED = """
1> SUBSCRIBE id:0 destination:/queue/r receipt:s
1< RECEIPT receipt-id:s
0> SUBSCRIBE id:0 destination:/queue/q ack:client-individual receipt:s
0< RECEIPT receipt-id:s
0> SEND destination:/queue/q k:1 receipt:p | x
0< RECEIPT receipt-id:p
0< MESSAGE destination:/queue/q subscription:0 message-id:m ack:a k:1 | x
0> BEGIN transaction:t receipt:b
0< RECEIPT receipt-id:b
0> BEGIN transaction:u receipt:c
0< RECEIPT receipt-id:c
0> ACK id:a transaction:t receipt:d
0< RECEIPT receipt-id:d
0> SEND destination:/queue/r transaction:u k:2 receipt:e | x
0< RECEIPT receipt-id:e
0> UNSUBSCRIBE id:0 receipt:f
0< RECEIPT receipt-id:f
0> COMMIT transaction:t receipt:g
0> COMMIT transaction:u receipt:h
"""
COMMIT_REFUSED = """
0< ERROR receipt-id:g message:overtaken
0x
"""
BOTH_DONE = """
0< RECEIPT receipt-id:g
0< RECEIPT receipt-id:h
"""
COMMIT_REFUSED_AND_DONE = """
0< ERROR receipt-id:g message:overtaken
0< RECEIPT receipt-id:h
0x
"""


def test_a_commit_behind_one_that_failed_is_not_carried_out():
    """E-09, TXN-07 and TXN-10: an ERROR ends the connection, and with it the transaction whose COMMIT stands behind the
    one that was refused. Where the first one is granted, the second is carried out."""
    shown = "1< MESSAGE destination:/queue/r subscription:0 message-id:n k:2 | x\n"
    assert faults(TWO + BEHIND_ONE_THAT_FAILED + COMMIT_REFUSED) == set()
    assert faults(TWO + BEHIND_ONE_THAT_FAILED + BOTH_DONE + shown) == set()
    assert {name for name, _ in faults(TWO + BEHIND_ONE_THAT_FAILED + BOTH_DONE)} == {"TXN-10"}
    unread = BEHIND_ONE_THAT_FAILED.replace("0> COMMIT transaction:t receipt:g\n", "") + "0c"
    assert faults(TWO + unread) == set(), "a COMMIT that nobody has receipted may not have been read"
    assert {level for _, level in faults(TWO + BEHIND_ONE_THAT_FAILED + COMMIT_REFUSED_AND_DONE)} == {"MUST"}
