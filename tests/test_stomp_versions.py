"""In a session of 1.0 or 1.1 a server is held to that text, whatever else it claims."""

from __future__ import annotations

from dataclasses import replace

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from specs.events import Said
from tests.stomp_lines import PREFIX, connected, faults
from tests.test_mutants import MUTANTS, STOMP, config_for, level_of

HOLDS = {
    "1.1": {
        "ACK-03": "1.1, ACK: message-id must match; RECEIPT: sent once a frame was successfully processed",
        "CLEN-07": "1.1, Augmented BNF: any header may stand on any frame, and no text gives a reason to refuse it",
        "ENC-08": "1.1, Augmented BNF: a header value may be empty",
    },
    "1.0": {
        "ACKMODE-01": "1.0, SUBSCRIBE: auto is the default, and messages are henceforth delivered",
        "ACKMODE-04": "1.0, ACK: what is not acknowledged yet can be acknowledged",
        "ACKMODE-08": "1.0, ACK: what was acknowledged is consumed, and the RECEIPT says that the ACK has come",
        "CLEN-04": "1.0, MESSAGE: without content-length the first NUL ends the frame",
        "CLEN-07": "1.0, Augmented BNF: any header may stand on any frame, and no text gives a reason to refuse it",
        "CLEN-08": "1.0, SEND: with content-length so many octets are read",
        "CONNECT-11": "1.0: the server acknowledges CONNECT, and at this point the client may send commands",
        "HDR-01": "1.0, RECEIPT: it includes the header receipt-id",
        "HDR-05": "1.0, Augmented BNF: any header may stand on any frame, and no text gives a reason to refuse it",
        "LINGER-01": "it is about the server, not about a session: 1.2, Connection Lingering",
        "MSG-04": "1.0, SUBSCRIBE: subscription tells which subscription the message relates to",
        "MSG-10": "1.0, MESSAGE: it conveys a message; nothing justifies a second time",
        "NEGO-01": "it is about the server, not about a session: 1.2, Protocol Negotiation",
        "NEGO-06": "1.0, ACK: it has one required header, message-id",
        "RECEIPT-08": "1.0, Receipt: any frame may have a receipt header with an arbitrary value",
        "SEND-09": "1.0, MESSAGE: message-id and subscription are the server's",
        "SUB-04": "1.0, SUBSCRIBE: messages are henceforth delivered to the client",
        "SUB-07": "1.0, SUBSCRIBE: the valid values are auto and client",
        "SUB-09": "1.0, SUBSCRIBE: brokers may support further headers, and no text gives a reason to refuse one",
        "SUB-10": "1.0, SUBSCRIBE: the MESSAGE has the id of its subscription",
        "TXN-10": "1.0, BEGIN: the identifier binds frames to the named transaction",
        "UNSUB-02": "1.0, UNSUBSCRIBE: it requires either a destination or an id",
    },
}
"""What a session of an older version is held to as MUST although its row is not listed for that version: the sentence
that says so there."""


@pytest.mark.parametrize("version", HOLDS)
def test_nothing_is_blamed_in_an_older_session_that_its_own_text_does_not_say(version):
    """Every seeded fault, shown in a session of that version."""
    config, blamed = replace(config_for(), version=version), {}
    for mutant in MUTANTS:
        recording = drive(
            mutant.witness(config), Setting(STOMP, config, "server", MemoryTransport(mutant.make)), "v-"
        )  # fmt: skip
        said = [event.frame for event in recording.events if isinstance(event, Said) and event.by == "server"]
        agreed = {frame.get("version") or "1.0" for frame in said if frame.command == "CONNECTED"}
        for fault in recording.judgement.faults if agreed == {version} else ():
            name = fault.breach.requirement
            if level_of(fault) == "MUST" and version not in STOMP.requirements[name].profiles:
                blamed.setdefault(name.removeprefix(PREFIX), (mutant.name, fault.breach.why))
    assert {name: why for name, why in blamed.items() if name not in HOLDS[version]} == {}
    assert HOLDS[version].keys() - blamed.keys() == set(), "nothing shows these any more"


QUEUE = """
0> SUBSCRIBE id:0 destination:/queue/q receipt:s
0< RECEIPT receipt-id:s
"""
SENT = QUEUE + "0> SEND destination:/queue/q {} | x\n"
BROKEN = {
    "BODY-01 on CONNECTED": ("0< CONNECTED version:{v} | x", {"1.1": "BODY-01"}),
    "CONNECTED-03": ("0< CONNECTED version:{v} server:/1", {"1.1": "CONNECTED-03"}),
    "RECEIPT-03": (
        QUEUE + "0> BEGIN receipt:b\n0< ERROR message:no receipt-id:s\n0x",
        {"1.1": "RECEIPT-03"},
    ),
    "RECEIPT-07": (
        "0> BEGIN transaction:t receipt:b\n0< RECEIPT receipt-id:b | x",
        {"1.0": "RECEIPT-07", "1.1": "RECEIPT-07"},
    ),
    "CTYPE-02": (
        SENT.format("k:1") + "0< MESSAGE destination:/queue/q subscription:0 message-id:m k:1 content-type:x | x",
        {"1.2": "CTYPE-02"},
    ),
    "DISC-04": (
        (
            QUEUE + "0> DISCONNECT receipt:d\n0< RECEIPT receipt-id:d\n"
            "0< MESSAGE destination:/queue/q subscription:0 message-id:m | x"
        ),
        {"1.1": "DISC-04"},
    ),
    "UNSUB-03": (
        (
            QUEUE + "0> SEND destination:/queue/q k:1 | x\n0> UNSUBSCRIBE id:0 receipt:u\n0< RECEIPT receipt-id:u\n"
            "0< MESSAGE destination:/queue/q subscription:0 message-id:m k:1 | x"
        ),
        {"1.1": "UNSUB-03"},
    ),
    "UNSUB-05": (
        (
            QUEUE + "0> SUBSCRIBE id:1 destination:/queue/q receipt:t\n0< RECEIPT receipt-id:t\n"
            "0> UNSUBSCRIBE id:1 receipt:u\n0< RECEIPT receipt-id:u\n0> SEND destination:/queue/q k:1 | x"
        ),
        {"1.2": "UNSUB-05"},
    ),
    "SUB-11": (
        (
            QUEUE + "0> UNSUBSCRIBE id:0 receipt:u\n0< RECEIPT receipt-id:u\n"
            "0> SUBSCRIBE id:0 destination:/queue/q receipt:t\n0< ERROR message:no receipt-id:t\n0x"
        ),
        {"1.2": "SUB-11"},
    ),
    "TXN-09": (
        (
            "0> BEGIN transaction:t\n0> COMMIT transaction:t receipt:c\n0< RECEIPT receipt-id:c\n"
            "0> BEGIN transaction:t receipt:b\n0< ERROR message:no receipt-id:b\n0x"
        ),
        {"1.2": "TXN-09"},
    ),
    "FRAME-05": (
        QUEUE
        + "0> send destination:/queue/q k:1 | x\n0< MESSAGE destination:/queue/q subscription:0 message-id:m k:1 | x",
        {"1.1": "FRAME-05"},
    ),
    "HB-03": ("+5000\n0x", {"1.1": "HB-03"}),
    "SEND-04": (
        SENT.format("k:1 a:b") + "0< MESSAGE destination:/queue/q subscription:0 message-id:m k:1 | x",
        {"1.1": "SEND-04"},
    ),
    "INV-03": ("0> SEND destination:elsewhere receipt:r | x\n0x", {"1.1": "INV-03"}),
    "ERROR-04": ("0> BEGIN receipt:b\n0< ERROR message:no receipt-id:other\n0x", {"1.1": "ERROR-04"}),
    "INV-16": ("0> SEND destination:/queue/q content-length:1 receipt:r | x", {}),
}
"""What a server does in a session, and from which version on it is blamed for that as MUST. "{v}" is the version."""


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("version", ["1.0", "1.1", "1.2"])
def test_a_rule_begins_with_the_version_that_states_it(name, version):
    text, since = BROKEN[name]
    opened = connected(version)
    if "CONNECTED" in text:
        opened, text = (
            opened.splitlines()[0] + "\n",
            text.replace(" version:{v}", "" if version == "1.0" else f" version:{version}"),
        )
    wanted = next((rule for first, rule in sorted(since.items(), reverse=True) if version >= first), None)
    found = {rule for rule, level in faults(opened + text) if level == "MUST"}
    assert found == ({wanted} if wanted else set()) or (wanted is None and name == "INV-16")


def test_a_frame_without_headers_may_be_refused_in_1_1():
    """1.1, STOMP Frames: one or more header entries follow the command."""
    refused = "0> DISCONNECT\n0< ERROR message:no\n0x"
    assert {version: bool(faults(connected(version) + refused)) for version in ("1.0", "1.1", "1.2")} == {
        "1.0": True, "1.1": False, "1.2": True,
    }  # fmt: skip


def test_an_empty_value_may_be_refused_in_1_0():
    """1.0, Augmented BNF: a header value has at least one character."""
    refused = "0> BEGIN transaction:t x: receipt:b\n0< ERROR message:no receipt-id:b\n0x"
    assert {version: bool(faults(connected(version) + refused)) for version in ("1.0", "1.1", "1.2")} == {
        "1.0": False, "1.1": True, "1.2": True,
    }  # fmt: skip


EARLY = "0> BEGIN transaction:{} receipt:b\n0< RECEIPT receipt-id:b\n0< ERROR message:no\n0x"


def test_a_receipt_of_1_0_comes_before_the_frame_is_looked_at():
    """1.0, Receipt: the server acknowledges receipt of the frame, which it may have to refuse."""
    opened = "0> BEGIN transaction:t receipt:a\n0< RECEIPT receipt-id:a\n0> COMMIT transaction:t receipt:c\n"
    opened += "0< RECEIPT receipt-id:c\n"
    assert faults(connected("1.0") + opened + EARLY.format("t")) == set()
    assert {level for _, level in faults(connected("1.0") + opened + EARLY.format("u"))} == {"MUST"}
    assert {level for _, level in faults(connected("1.2") + opened + EARLY.format("t"))} == {"MUST"}


def test_a_session_of_1_0_that_nobody_could_foresee_is_one_of_1_0():
    """Of a list that cannot be read a server may make what it likes (E-28)."""
    opening = "0> CONNECT accept-version:1.0,\t1.1 host:/\n0< CONNECTED{} server:/? session:s | hello"
    assert faults(opening.format("")) == set()
    assert {name for name, _ in faults(opening.format(" version:1.1"))} == {"BODY-01"}


ENDED_TOGETHER = """
0> SUBSCRIBE id:0 destination:/queue/q ack:client receipt:s
0< RECEIPT receipt-id:s
0> SUBSCRIBE id:1 destination:/queue/q ack:client receipt:t
0< RECEIPT receipt-id:t
0> SEND destination:/queue/q k:1 | x
0< MESSAGE destination:/queue/q subscription:0 message-id:m ack:a k:1 | x
0> UNSUBSCRIBE id:1 receipt:u
0< RECEIPT receipt-id:u
"""
GOES_ELSEWHERE = """
1> SUBSCRIBE id:0 destination:/queue/q receipt:v
1< RECEIPT receipt-id:v
1< MESSAGE destination:/queue/q subscription:0 message-id:m k:1 | x
"""
IS_GONE = """
0> UNSUBSCRIBE id:0 receipt:w
0< ERROR message:no receipt-id:w
0x
"""


@pytest.mark.parametrize("behind", [GOES_ELSEWHERE, IS_GONE])
def test_before_1_2_unsubscribe_may_end_all_subscriptions_of_a_destination(behind):
    """1.1, UNSUBSCRIBE: the connection will no longer receive messages from that destination."""
    elsewhere = ENDED_TOGETHER.replace("id:1 destination:/queue/q", "id:1 destination:/queue/z")
    assert faults(connected("1.1", "1.2") + ENDED_TOGETHER + behind) == set()
    assert faults(connected("1.1", "1.2") + elsewhere + behind) != set()
    assert faults(connected("1.2", "1.2") + ENDED_TOGETHER + behind) != set()


KEPT = """
0> SEND destination:/queue/q k:1 receipt:r | x
0< RECEIPT receipt-id:r
0c
1> SUBSCRIBE id:0 destination:/queue/q receipt:s
1< RECEIPT receipt-id:s
"""


def test_what_was_receipted_in_1_0_has_come_and_may_be_lost_with_its_connection():
    """1.0, Receipt: the server acknowledges receipt of the frame."""
    assert faults(connected("1.0", "1.2") + KEPT) == set()
    assert faults(connected("1.1", "1.2") + KEPT) == {("RECEIPT-04", "MUST")}


SHARED = """
2> SUBSCRIBE id:0 destination:/queue/q receipt:s
2< RECEIPT receipt-id:s
0> BEGIN transaction:t receipt:a
0< RECEIPT receipt-id:a
0> SEND destination:/queue/q transaction:t k:1 | x
1> BEGIN transaction:t receipt:b
1< RECEIPT receipt-id:b
1> COMMIT transaction:t receipt:c
1< RECEIPT receipt-id:c
2< MESSAGE destination:/queue/q subscription:0 message-id:m k:1 | x
"""


def test_before_1_2_the_name_of_a_transaction_may_be_one_for_all_connections():
    """1.2 is the first to say that transactions of one connection have different names, and of which connection."""
    assert faults(connected("1.1", "1.1", "1.1") + SHARED) == set()
    assert faults(connected("1.2", "1.2", "1.2") + SHARED) == {("TXN-02", "MUST")}
    undone = SHARED.replace("1> COMMIT", "0> ABORT transaction:t\n1> COMMIT")
    assert faults(connected("1.1", "1.1", "1.1") + undone) == set()
    assert faults(connected("1.2", "1.2", "1.2") + undone) == {("TXN-04", "MUST")}
    assert faults(
        connected("1.1", "1.1", "1.1")
        + undone.replace("1> BEGIN transaction:t", "1> BEGIN transaction:u").replace(
            "1> COMMIT transaction:t", "1> COMMIT transaction:u"
        )
    ) == {("TXN-04", "MUST")}


ABORTED_BEFORE = """
2> SUBSCRIBE id:0 destination:/queue/q receipt:s
2< RECEIPT receipt-id:s
0> BEGIN transaction:t receipt:a
0< RECEIPT receipt-id:a
0> SEND destination:/queue/q transaction:t k:1 | x
0> ABORT transaction:t receipt:b
0< RECEIPT receipt-id:b
1> BEGIN transaction:t receipt:c
1< RECEIPT receipt-id:c
1> COMMIT transaction:t receipt:d
1< RECEIPT receipt-id:d
2< MESSAGE destination:/queue/q subscription:0 message-id:m k:1 | x
"""


@pytest.mark.parametrize("again", ["1", "0"], ids=["elsewhere", "here"])
@pytest.mark.parametrize("version", ["1.1", "1.2"])
def test_a_transaction_that_was_aborted_is_not_one_with_the_next_of_its_name(version, again):
    """1.0 and 1.1, ABORT: it rolls the transaction back; a transaction of its name that begins later is another one."""
    talk = ABORTED_BEFORE.replace("1> ", f"{again}> ").replace("1< ", f"{again}< ")
    assert {level for _, level in faults(connected(version, version, version) + talk)} == {"MUST"}
    opened = talk.replace("0> ABORT transaction:t receipt:b\n0< RECEIPT receipt-id:b\n", "")
    shared = opened.replace(f"{again}> COMMIT", f"0> ABORT transaction:t\n{again}> COMMIT")
    if again == "1" and version == "1.1":
        assert faults(connected(version, version, version) + shared) == set()


@pytest.mark.parametrize(("sender", "reader", "value", "free"), [
    ("1.2", "1.0", "a\nb", True), ("1.2", "1.0", "a\rb", True), ("1.2", "1.1", "a\rb", True),
    ("1.2", "1.2", "a\rb", False), ("1.2", "1.1", "a\nb", False), ("1.2", "1.0", "ab", False),
    ("1.1", "1.1", "a\rb", False),
])  # fmt: skip
def test_what_the_readers_version_cannot_write_may_be_lost_on_the_way_to_it(sender, reader, value, free):
    """E-38: a header of a newer session."""
    heard = f"{connected(reader, sender)}0> SUBSCRIBE id:0 destination:/topic/a receipt:r\n0< RECEIPT receipt-id:r\n"
    sent = "1> SEND destination:/topic/a k:1 h:VALUE | x\n"
    came = "0< MESSAGE destination:/topic/a subscription:0 message-id:1 k:1 | x"
    found = faults(heard + sent + came, swap=("VALUE", value))
    assert (("SEND-04", "MUST" if reader != "1.0" else "SHOULD") in found) is not free
