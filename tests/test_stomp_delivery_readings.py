"""Readings of STOMP that no mutant shows, of subscriptions, deliveries, acknowledgements and transactions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specs.events import Closed, Noise, Quiet
from specs.model import judge
from specs.stomp.model import StompModel
from specs.stomp.states import Config
from tests.stomp_events import QUEUE, STOMP_LEVELS, TOPIC, client, delivery, receipted, server, session, verdict


def test_a_subscription_whose_end_may_be_refused_is_open_and_closed_at_once():
    place, name = ("destination", "/queue/q"), ("id", "é")
    said = (("SUBSCRIBE", "1"), ("UNSUBSCRIBE", "2"), ("SUBSCRIBE", "3"))
    asked = [client(command, name, place, ("receipt", receipt)) for command, receipt in said]
    answers = [server("RECEIPT", ("receipt-id", receipt)) for receipt in "123"]
    events = [event for pair in zip(asked, answers, strict=True) for event in pair]
    assert verdict(*session("1.0"), *events) == ("pass", [])
    assert verdict(*session("1.0"), *events[:4], client("SEND", place, body=b"x")) == ("pass", [])


@pytest.mark.parametrize(("waited", "found"), [(10, ["MSG-10"]), (30, ["MSG-10"]), (10_500, [])])
def test_a_message_may_be_taken_back_that_is_not_acknowledged_in_time(waited, found):
    place = ("destination", "/queue/q")
    copy = server("MESSAGE", place, ("k", "1"), ("message-id", "m"), ("subscription", "0"), ("ack", "a"), body=b"x")
    again = server("MESSAGE", place, ("k", "1"), ("message-id", "m"), ("subscription", "0"), ("ack", "b"), body=b"x")
    shown = verdict(
        *session("1.2"),
        client("SUBSCRIBE", ("id", "0"), place, ("ack", "client-individual")),
        client("SEND", place, ("k", "1"), body=b"x"),
        copy,
        Quiet(waited, waited),
        again,
        client("ACK", ("id", "a"), ("receipt", "r")),
        server("RECEIPT", ("receipt-id", "r")),
    )
    assert [name for name, _ in shown[1] if name.startswith(("ACK", "MSG-1"))] == found


@pytest.mark.parametrize(
    ("version", "before", "mode", "forged", "found"),
    [
        ("1.2", "client", "auto", "ack", []),  # the id is used again, in another mode
        ("1.2", "client", "auto", "message-id", ["SEND-09"]),
        ("1.2", "", "auto", "ack", []),
        ("1.2", "", "auto", "message-id", ["SEND-09"]),
        ("1.2", "", "client", "ack", ["SEND-09"]),
        ("1.2", "", "client", "message-id", ["SEND-09"]),
        ("1.1", "", "client", "ack", []),  # 1.1 has no ack header on MESSAGE
        ("1.1", "", "client", "message-id", ["SEND-09"]),
    ],
)
def test_ack_is_a_user_header_where_a_message_has_none_of_the_servers(version, before, mode, forged, found):
    """STOMP 1.2, MESSAGE: there is an ack header where the subscription asks for explicit acknowledgement."""
    name, place, own = (
        ("id", "0"),
        ("destination", TOPIC),
        {"message-id": "m", "subscription": "0", "content-length": "1"},
    )
    if mode != "auto" and version == "1.2":
        own["ack"] = "a"
    used = [client("SUBSCRIBE", name, QUEUE, ("ack", before)), client("UNSUBSCRIBE", name, ("receipt", "u"))]
    shown = verdict(
        *session(version),
        *(used if before else []),
        client("SUBSCRIBE", name, place, ("ack", mode)),
        client("SEND", place, ("k", "1"), (forged, "forged"), body=b"x"),
        *([server("RECEIPT", ("receipt-id", "u"))] if before else []),
        server("MESSAGE", place, ("k", "1"), *(own | {forged: "forged"}).items(), body=b"x"),
    )
    assert [rule for rule, _ in shown[1]] == found


OVERTAKEN = {
    "by a cumulative ACK": client("ACK", ("id", "a2")),
    "by the end of its subscription": client("UNSUBSCRIBE", ("id", "0")),
    "by a SEND that may be refused": client("SEND", ("destination", "elsewhere"), ("transaction", "t"), ("k", "3")),
}


@pytest.mark.parametrize("name", [*OVERTAKEN, ""])
def test_a_commit_may_fail_when_something_in_it_may_be_refused_by_now(name):
    between = receipted(OVERTAKEN[name]) if name else []
    found = verdict(
        *session("1.2"),
        client("SUBSCRIBE", ("id", "0"), QUEUE, ("ack", "client")),
        *(client("SEND", QUEUE, ("k", f"{number}"), body=b"x") for number in (1, 2)),
        delivery(1),
        delivery(2),
        *receipted(client("BEGIN", ("transaction", "t"))),
        client("ACK", ("id", "a1"), ("transaction", "t")),
        *between,
        client("COMMIT", ("transaction", "t"), ("receipt", "r")),
        server("ERROR", ("message", "no such delivery"), ("receipt-id", "r")),
        Closed(0, "server"),
    )
    assert found == (("pass", []) if name else ("fail", [("TXN-03", "MUST")]))


def test_an_error_behind_an_ack_that_asked_for_nothing_may_be_about_it():
    odd = client("SUBSCRIBE", ("id", "\\:"), ("destination", TOPIC))
    begun = (*session("1.2"), *receipted(client("SUBSCRIBE", ("id", "0"), QUEUE, ("ack", "client"))))
    begun += (client("SEND", QUEUE, ("k", "1"), body=b"x"), delivery(1))
    error = server("ERROR", ("message", "no such delivery"))
    for acks, found in (([client("ACK", ("id", "a1"))], "ERROR-07"), ([], "ENC-03")):
        faults = verdict(*begun, *acks, *receipted(client("BEGIN", ("transaction", "t"))), odd, error)[1]
        assert faults[0][0] == found


def test_an_ack_in_a_transaction_may_be_looked_at_as_late_as_at_commit():
    begun = (*session("1.2"), *receipted(client("BEGIN", ("transaction", "t"))))
    for headers, levels in (((("transaction", "t"),), ["SHOULD"]), ((), [None])):
        for wrong, requirement in ((("id", "unknown"), "ACK-03"), (("destination", None), "SEND-01")):
            command = "ACK" if requirement == "ACK-03" else "SEND"
            given = [wrong] if command == "ACK" else []
            faults = verdict(*begun, *receipted(client(command, *given, *headers)))[1]
            expected = "INV-09" if command == "ACK" and headers else requirement
            found = [(name, level if headers else None) for name, level in faults if name == expected]
            assert found == [(expected, level) for level in levels]


def topic(copies, *subs):
    kind = replace(Config().topic, copies=copies)
    events = [*session("1.2")]
    for sub in subs:
        events += receipted(client("SUBSCRIBE", ("id", sub), ("destination", TOPIC)))
    events += receipted(client("SEND", ("destination", TOPIC), ("k", "1"), body=b"x"))
    copy = [("destination", TOPIC), ("k", "1"), ("message-id", "m"), ("content-length", "1")]
    events.append(server("MESSAGE", *copy, ("subscription", subs[0]), body=b"x"))
    events.append(Quiet(10_000, final=True))
    return judge(StompModel(), replace(Config(), topic=kind), tuple(events), "server").verdict


def test_a_topic_may_give_one_copy_to_a_connection_if_it_always_does():
    assert topic(True, "0") == topic(False, "0") == topic(False, "0", "1") == "pass"
    assert topic(True, "0", "1") == "fail"


@pytest.mark.parametrize(("shared", "found"), [(True, "fail"), (False, "pass")])
def test_a_destination_may_take_one_subscriber_only_if_it_always_does(shared, found):
    queue = replace(Config().queue, shared=shared)
    events = [*session("1.2"), *receipted(client("SUBSCRIBE", ("id", "0"), QUEUE))]
    events += [client("SUBSCRIBE", ("id", "1"), QUEUE), server("ERROR", ("message", "taken")), Closed(0, "server")]
    assert judge(StompModel(), replace(Config(), queue=queue), tuple(events), "server").verdict == found


@pytest.mark.parametrize(("other", "found"), [(QUEUE[1], "pass"), (f"{QUEUE[1]}2", "fail")])
def test_of_two_who_subscribe_at_a_time_either_may_be_the_second(other, found):
    """The SUBSCRIBE that is said later may come to the server first."""
    queue = replace(Config().queue, shared=False)
    events = [*session("1.2"), *(replace(event, conn=1) for event in session("1.2"))]
    events += [client("SUBSCRIBE", ("id", "0"), QUEUE, ("receipt", "r"))]
    events += [client("SUBSCRIBE", ("id", "1"), ("destination", other), conn=1)]
    events += [server("ERROR", ("message", "taken"), ("receipt-id", "r")), Closed(0, "server")]
    assert judge(StompModel(), replace(Config(), queue=queue), tuple(events), "server").verdict == found


@pytest.mark.parametrize("held", [True, False])
def test_what_came_again_on_a_connection_that_ends_may_have_been_there_before(held):
    """A subscription that was given a message, and has not acknowledged it, may be left alone with the next one."""
    events = [*session("1.2")]
    events += [replace(event, conn=1) for event in session("1.2")]
    for conn in (0, 1):
        subscribe = client(
            "SUBSCRIBE", ("id", str(conn)), QUEUE, ("ack", "client-individual"), ("receipt", "r"), conn=conn
        )
        events += [subscribe, server("RECEIPT", ("receipt-id", "r"), conn=conn)]
    events += receipted(client("SEND", QUEUE, ("k", "1"), body=b"x"))
    events.append(client("DISCONNECT"))
    copies = [(1, "1")] if held else []
    for conn, sub in (*copies, (0, "0")):
        names = (QUEUE, ("k", "1"), ("message-id", f"m{conn}"), ("ack", f"a{conn}"), ("content-length", "1"))
        events.append(server("MESSAGE", *names, ("subscription", sub), conn=conn, body=b"x"))
    events.append(Closed(0, "server"))
    sent = client("SEND", QUEUE, ("k", "2"), ("receipt", "s"), conn=1, body=b"marker")
    events += [sent, server("RECEIPT", ("receipt-id", "s"), conn=1)]
    assert verdict(*events)[0] == ("pass" if held else "fail")


@pytest.mark.parametrize("settled", ["", "ACK", "UNSUBSCRIBE"])
def test_subscriptions_of_one_connection_may_share_one_window(settled):
    """Nothing is owed to the second while the first one lasts and its delivery is not acknowledged."""
    first, second = ("destination", "/queue/one"), ("destination", "/queue/two")
    given = (("message-id", "1"), ("subscription", "0"), ("ack", "1"))
    trace = [
        *session("1.2"),
        client("SUBSCRIBE", ("id", "0"), first, ("ack", "client"), ("receipt", "a")),
        server("RECEIPT", ("receipt-id", "a")),
        client("SUBSCRIBE", ("id", "1"), second, ("ack", "client"), ("receipt", "b")),
        server("RECEIPT", ("receipt-id", "b")),
        client("SEND", first, ("k", "1"), ("receipt", "c")),
        server("RECEIPT", ("receipt-id", "c")),
        server("MESSAGE", first, ("k", "1"), *given),
        client("SEND", second, ("k", "2"), ("receipt", "d"), body=b"y"),
        server("RECEIPT", ("receipt-id", "d")),
    ]
    if settled:
        name = "1" if settled == "ACK" else "0"
        trace += [client(settled, ("id", name), ("receipt", "e")), server("RECEIPT", ("receipt-id", "e"))]
    config = Config(queue=replace(Config().queue, own=True, keeps=True))
    found = judge(StompModel(), config, (*trace, Quiet(10_000, final=True)), "server")
    assert found.verdict == ("fail" if settled else "pass")
    expected = {"": [], "ACK": ["STOMP-1.2-SUB-05"], "UNSUBSCRIBE": ["STOMP-1.2-UNSUB-05"]}[settled]
    assert [blame.breach.requirement for blame in found.blamed] == expected


@pytest.mark.parametrize(("across", "requirement"), [(True, "ACKMODE-07"), (False, "NACK-03")])
def test_what_a_cumulative_ack_may_have_taken_is_laid_on_it_before_a_nack(across, requirement):
    """Two deliveries, one refused; the other one never comes again. Beside them, perhaps, a cumulative ACK."""
    place, other = ("destination", "/queue/one"), ("destination", "/queue/two")
    trace = [*session("1.2")]
    trace += receipted(client("SUBSCRIBE", ("id", "0"), place, ("ack", "client-individual")))
    for number in ("1", "2"):
        trace += receipted(client("SEND", place, ("k", number), body=b"x"))
        given = (("message-id", number), ("subscription", "0"), ("ack", number), ("content-length", "1"))
        trace.append(server("MESSAGE", place, ("k", number), *given, body=b"x"))
    if across:
        trace += receipted(client("SUBSCRIBE", ("id", "1"), other, ("ack", "client")))
        trace += receipted(client("SEND", other, ("k", "3"), body=b"x"))
        given = (("message-id", "3"), ("subscription", "1"), ("ack", "3"), ("content-length", "1"))
        trace += [server("MESSAGE", other, ("k", "3"), *given, body=b"x")]
        trace += receipted(client("ACK", ("id", "3")))
    trace += [*receipted(client("NACK", ("id", "1"))), Closed(0, "client"), Closed(0, "server")]
    trace += [replace(event, conn=1) for event in session("1.2")]
    trace += [replace(event, conn=1) for event in receipted(client("SUBSCRIBE", ("id", "0"), place))]
    config = Config(queue=replace(Config().queue, own=True, keeps=True, redelivers=True))
    found = judge(StompModel(), config, (*trace, Quiet(10_000, final=True)), "server")
    assert [blame.breach.requirement.removeprefix("STOMP-1.2-") for blame in found.faults] == [requirement]


@pytest.mark.parametrize(("acked", "requirement"), [("32", "ACKMODE-05"), ("3", "ACKMODE-07")])
def test_a_later_delivery_of_the_same_subscription_is_why_one_never_comes_again(acked, requirement):
    """Two deliveries of one subscription and one of another, in mode client-individual; the first never comes again."""
    trace = [*session("1.2")]
    for sub, numbers in (("0", "12"), ("1", "3")):
        place = ("destination", f"/queue/{sub}")
        trace += receipted(client("SUBSCRIBE", ("id", sub), place, ("ack", "client-individual")))
        for number in numbers:
            trace += receipted(client("SEND", place, ("k", number), body=b"x"))
            given = (("message-id", number), ("subscription", sub), ("ack", number), ("content-length", "1"))
            trace.append(server("MESSAGE", place, ("k", number), *given, body=b"x"))
    trace += [event for number in acked for event in receipted(client("ACK", ("id", number)))]
    trace += [Closed(0, "client"), Closed(0, "server")]
    trace += [replace(event, conn=1) for event in session("1.2")]
    trace += [
        replace(event, conn=1) for event in receipted(client("SUBSCRIBE", ("id", "0"), ("destination", "/queue/0")))
    ]
    config = Config(queue=replace(Config().queue, own=True, keeps=True, redelivers=True))
    found = judge(StompModel(), config, (*trace, Quiet(10_000, final=True)), "server")
    assert [blame.breach.requirement.removeprefix("STOMP-1.2-") for blame in found.blamed] == [requirement]


@pytest.mark.parametrize(("acked", "requirement"), [(True, "ACKMODE-05"), (False, "ACK-02")])
def test_an_ack_whose_connection_ends_before_its_answer_may_have_reached_too_far(acked, requirement):
    """Two deliveries, one acknowledged without asking for a receipt; the other one never comes again."""
    place = ("destination", "/queue/one")
    trace = [*session("1.2")]
    trace += receipted(client("SUBSCRIBE", ("id", "0"), place, ("ack", "client-individual")))
    for number in ("1", "2"):
        trace += receipted(client("SEND", place, ("k", number), body=b"x"))
        given = (("message-id", number), ("subscription", "0"), ("ack", number), ("content-length", "1"))
        trace.append(server("MESSAGE", place, ("k", number), *given, body=b"x"))
    trace += [*[client("ACK", ("id", "2"))] * acked, Closed(0, "client"), Closed(0, "server")]
    trace += [replace(event, conn=1) for event in session("1.2")]
    trace += [replace(event, conn=1) for event in receipted(client("SUBSCRIBE", ("id", "0"), place))]
    config = Config(queue=replace(Config().queue, own=True, keeps=True, redelivers=True))
    found = judge(StompModel(), config, (*trace, Quiet(10_000, final=True)), "server")
    assert {blame.breach.requirement.removeprefix("STOMP-1.2-") for blame in found.faults} == {requirement}


@pytest.mark.parametrize(("acked", "found"), [("b1 a2", "ACKMODE-05"), ("a2 b1", "ACKMODE-05"), ("b1", "ACKMODE-07")])
def test_a_later_delivery_of_the_same_subscription_is_the_likelier_reason(acked, found):
    def acked_by(name):
        return client("ACK", ("id", name), ("receipt", name))

    subscribed, delivered = [], []
    for sub in "ab":
        place = ("destination", f"/queue/{sub}")
        asked = client("SUBSCRIBE", ("id", sub), place, ("ack", "client-individual"), ("receipt", f"r{sub}"))
        subscribed += [asked, server("RECEIPT", ("receipt-id", f"r{sub}"))]
        for name in (f"{sub}1", f"{sub}2"):
            told = (("k", name), ("message-id", name), ("subscription", sub), ("ack", name))
            delivered += [client("SEND", place, ("k", name)), server("MESSAGE", place, *told)]
    settled = [event for name in acked.split() for event in (acked_by(name), server("RECEIPT", ("receipt-id", name)))]
    error = server("ERROR", ("message", "nothing to settle"), ("receipt-id", "a1"))
    shown = verdict(*session("1.2"), *subscribed, *delivered, *settled, acked_by("a1"), error)
    assert [name for name, _ in shown[1]] == [found]


@pytest.mark.parametrize(("aborted", "found"), [(True, ("ACK-06", "SHOULD")), (False, ("ACKMODE-07", "MUST"))])
def test_that_an_ack_is_part_of_its_transaction_is_a_recommendation(aborted, found):
    """Also where another delivery was settled before, and its ACK could have been the reason."""

    def receipted(command, *headers):
        receipt = f"{command}{len(headers)}{headers[0][1]}"
        return client(command, *headers, ("receipt", receipt)), server("RECEIPT", ("receipt-id", receipt))

    events = []
    for sub in "ab":
        place = ("destination", f"/queue/{sub}")
        events += receipted("SUBSCRIBE", ("id", sub), place, ("ack", "client"))
        told = (("k", sub), ("message-id", sub), ("subscription", sub), ("ack", sub))
        events += [client("SEND", place, ("k", sub)), server("MESSAGE", place, *told)]
    events += receipted("ACK", ("id", "b"))
    tx = ("transaction", "t")
    if aborted:
        events += [*receipted("BEGIN", tx), *receipted("ACK", ("id", "a"), tx), *receipted("ABORT", tx)]
    error = server("ERROR", ("message", "nothing to settle"), ("receipt-id", "last"))
    shown = verdict(*session("1.2"), *events, client("ACK", ("id", "a"), ("receipt", "last")), error)
    assert [(name, level or STOMP_LEVELS[name]) for name, level in shown[1]] == [found]


@pytest.mark.parametrize(("aborted", "found"), [(True, ("ACK-06", "SHOULD")), (False, ("ERROR-07", "MUST"))])
def test_an_error_that_names_no_frame_may_be_about_an_ack_that_an_abort_has_given_back(aborted, found):
    """None of the acknowledgements asks for a receipt, and a SEND stands beside the last one."""
    place, tx, ack = ("destination", "/queue/a"), ("transaction", "t"), ("id", "m")
    events = receipted(client("SUBSCRIBE", ("id", "0"), place, ("ack", "client-individual")))
    told = (("k", "1"), ("message-id", "m"), ("subscription", "0"), ("ack", "m"))
    events += [client("SEND", place, ("k", "1")), server("MESSAGE", place, *told)]
    if aborted:
        events += [client("BEGIN", tx), client("ACK", ack, tx)]
        events += [client("ABORT", tx, ("receipt", "end")), server("RECEIPT", ("receipt-id", "end"))]
    events += [
        client("ACK", ack),
        client("SEND", ("destination", TOPIC)),
        server("ERROR", ("message", "what was that")),
    ]
    shown = verdict(*session("1.2"), *events)
    assert [(name, level or STOMP_LEVELS[name]) for name, level in shown[1]] == [found]


@pytest.mark.parametrize(("spoilt", "found"), [(True, []), (False, ["TXN-02"])])
def test_octets_that_a_server_may_take_for_a_frame_are_no_message_of_a_transaction(spoilt, found):
    """Also where the body is that of a SEND: the tag is another one."""
    topic = ("destination", TOPIC)
    octets = Noise(0, "client", b"SEND\ndestination:/topic/t\nk:2\na\0:x\n\nx\0", "nul-in-head")
    shown = verdict(
        *session("1.2"),
        client("SUBSCRIBE", ("id", "0"), topic, ("receipt", "r")),
        server("RECEIPT", ("receipt-id", "r")),
        client("BEGIN", ("transaction", "t")),
        client("SEND", topic, ("k", "1"), ("transaction", "t"), body=b"x"),
        *([octets] if spoilt else []),
        server("MESSAGE", topic, ("k", "2"), ("message-id", "m"), ("subscription", "0"), body=b"x"),
    )
    assert [name for name, _ in shown[1]] == found


@pytest.mark.parametrize("second", ["client-individual", "auto"])
def test_a_subscription_id_used_again_too_early_may_hold_back_in_either_mode(second):
    """Found by soaking: the second SUBSCRIBE may be in force before its RECEIPT, and nothing was acknowledged to it."""
    place, about = ("destination", TOPIC), (("k", "1"), ("content-length", "1"))
    other = client("CONNECT", ("accept-version", "1.1"), ("host", "/"), conn=1)
    told = verdict(
        *session("1.1"), other, server("CONNECTED", ("version", "1.1"), conn=1),
        client("SUBSCRIBE", ("id", "0"), place), client("UNSUBSCRIBE", ("id", "0")),
        client("SUBSCRIBE", ("id", "0"), place, ("ack", second)),
        client("SUBSCRIBE", ("id", "b"), place, ("ack", "client"), ("receipt", "r")),
        server("RECEIPT", ("receipt-id", "r")),
        client("SEND", place, ("k", "1"), conn=1, body=b"x"),
        server("MESSAGE", place, *about, ("message-id", "m"), ("subscription", "0"), body=b"x"),
    )  # fmt: skip
    assert told == (("pass", []) if second != "auto" else ("fail", [("SUB-05", None)]))
