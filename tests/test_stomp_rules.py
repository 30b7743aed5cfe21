"""Rules of the STOMP server on conversations made by hand: where a green has to be earned, and a red is the text's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specs.events import Closed, Noise, Quiet, Said
from specs.model import ANYTHING, Allow, judge
from specs.stomp.frames import Frame
from specs.stomp.machine import MACHINE, OTHER, Phase
from specs.stomp.model import StompModel
from specs.stomp.states import Config, Conn, State

END = Quiet(10_000, final=True)
QUEUE = ("destination", "/queue/q")


def client(command, *headers, conn=0, body=b""):
    return Said(conn, "client", Frame(command, headers, body))


def server(command, *headers, conn=0, body=b""):
    return Said(conn, "server", Frame(command, headers, body))


def session(conn=0, version="1.2"):
    answer = [("version", version)] if version != "1.0" else []
    return [
        client("CONNECT", ("accept-version", version), ("host", "/"), conn=conn),
        server("CONNECTED", *answer, conn=conn),
    ]


def asked(frame, receipt):
    """A frame with a receipt, and its RECEIPT behind it."""
    wanted = Frame(frame.frame.command, (*frame.frame.headers, ("receipt", receipt)), frame.frame.body)
    return [Said(frame.conn, "client", wanted), server("RECEIPT", ("receipt-id", receipt), conn=frame.conn)]


def judged(*events, config=None, aside=()):
    return judge(StompModel(), config or Config(), (*events, END), "server", frozenset(aside))


def names(judgement):
    return [blame.breach.requirement.removeprefix("STOMP-1.2-") for blame in judgement.faults]


def message(place, sub="0", body=b"x", key="1"):
    given = (("message-id", key), ("subscription", sub), ("ack", key), ("content-length", str(len(body))))
    return server("MESSAGE", ("destination", place), ("k", key), *given, body=body)


@pytest.mark.parametrize(
    ("sent", "subscribed", "seen", "found"),
    [
        ("/queue/a/b", "/queue/ab", "", ["SEND-02"]),
        ("/queue/a/b", "/queue/ab", "folds trims", ["SEND-02"]),
        ("/queue/a b", "/queue/ab", "folds trims", ["SEND-02"]),
        ("/queue/AB", "/queue/ab", "trims", ["SEND-02"]),
        ("/queue/AB", "/queue/ab", "folds", []),
        ("/queue/ab ", "/queue/ab", "folds", ["SEND-03"]),
        ("/queue/ab ", "/queue/ab", "trims", []),
        (" /queue/AB", "/queue/ab", "folds trims", []),
    ],
)
def test_a_message_goes_to_its_destination_but_where_discovery_saw_names_that_are_one(sent, subscribed, seen, found):
    events = [*session(), *asked(client("SUBSCRIBE", ("id", "0"), ("destination", subscribed)), "r")]
    events += [client("SEND", ("destination", sent), ("k", "1"), body=b"x"), message(sent)]
    judgement = judged(*events, config=Config(folds="folds" in seen, trims="trims" in seen))
    assert names(judgement) == found
    assert bool(judgement.leaned) is (not found)


def test_judging_goes_on_behind_a_receipt_that_never_comes():
    """The server gives no RECEIPT for SUBSCRIBE, and loses the message for a second subscription."""
    events = [*session(), client("SUBSCRIBE", ("id", "0"), QUEUE, ("receipt", "r"))]
    events += asked(client("BEGIN", ("transaction", "t")), "s")
    events += [client("ACK", ("id", "none"), ("receipt", "u")), server("RECEIPT", ("receipt-id", "u"))]
    first = judged(*events[:3])
    (blame,) = first.faults
    assert (blame.breach.requirement, blame.breach.duty) == ("STOMP-1.2-RECEIPT-01", "STOMP-1.2-RECEIPT-01 SUBSCRIBE")
    behind = judged(*events[:3], aside=[blame.breach.fingerprint, blame.breach.duty])
    assert (behind.verdict, names(behind), len(behind.known)) == ("pass", [], 1)
    assert names(judged(*events, aside=[blame.breach.fingerprint, blame.breach.duty])) == ["ACK-03"]


def test_a_close_behind_disconnect_is_about_its_receipt():
    """The SEND before it asked for nothing, so nothing says that it was not processed."""
    events = [*session(), client("SEND", QUEUE, body=b"x"), client("DISCONNECT", ("receipt", "r"))]
    assert names(judged(*events, Closed(0, "server"))) == ["DISC-03"]
    events.insert(2, client("BEGIN", ("transaction", "t"), ("receipt", "s")))
    assert names(judged(*events, Closed(0, "server"))) == ["ERROR-07"]


def test_1_0_knows_no_stomp_command():
    config = Config(version="1.0", supports=frozenset({"1.0"}))
    opening = client("STOMP", ("accept-version", "1.0"), ("host", "/"))
    for answer in (server("CONNECTED"), server("ERROR", ("message", "no"))):
        end = [Closed(0, "server")] if answer.frame.command == "ERROR" else []
        assert names(judged(opening, answer, *end, config=config)) == []


@pytest.mark.parametrize(("plain", "found"), [(True, "RECEIPT-02"), (False, "RECEIPT-01")])
def test_an_odd_receipt_is_blamed_only_where_a_plain_one_was_answered(plain, found):
    place = ("destination", "/topic/t")
    events = [*session(), *(asked(client("SUBSCRIBE", ("id", "0"), place), "r") if plain else ())]
    events.append(client("SUBSCRIBE", ("id", "1"), place, ("receipt", "r.1")))
    assert names(judged(*events)) == [found]


def test_a_transaction_is_receipted_once_as_far_as_its_commit_shows():
    events = [*session(), *asked(client("BEGIN", ("transaction", "t")), "1")]
    events += asked(client("SEND", QUEUE, ("transaction", "t"), body=b"x"), "2")
    assert "STOMP-1.2-TXN-13" not in judged(*events).covered
    events += asked(client("COMMIT", ("transaction", "t")), "3")
    assert "STOMP-1.2-TXN-13" in judged(*events).covered
    assert names(judged(*events, server("RECEIPT", ("receipt-id", "2")))) == ["TXN-13"]


def test_the_body_of_an_error_is_shown():
    error = server(
        "ERROR", ("message", "See below"), ("content-length", "3"), ("content-type", "text/plain"), body=b"why"
    )
    (blame,) = judged(*session(), error, Closed(0, "server")).faults
    assert "See below" in blame.breach.why
    assert "why" in blame.breach.why.partition("See below")[2]


def test_a_disconnect_that_asked_for_no_receipt_gets_none():
    events = [*session(), client("DISCONNECT"), server("RECEIPT", ("receipt-id", ""))]
    assert names(judged(*events)) == ["DISC-08"]


@pytest.mark.parametrize("octets", [b"\0", b" "])
def test_a_heart_beat_is_a_line_end(octets):
    opening = client("CONNECT", ("accept-version", "1.2"), ("host", "/"), ("heart-beat", "0,500"))
    answer = server("CONNECTED", ("version", "1.2"), ("heart-beat", "500,0"))
    assert names(judged(opening, answer, Noise(0, "server", octets, "nul-in-head"))) == ["HB-05"]


@pytest.mark.parametrize(
    ("octets", "found"),
    [
        (b"RECEIPT\nreceipt-id:r1\nfoo:a\0b\nbar:c\n\n\0", []),
        (b"RECEIPT\nreceipt-id:r1\nfoo:a\0b", []),
        (b"RECEIPT\nreceipt-id:r1\0\n", ["FRAME-01"]),
        (b"RECEIPT\nreceipt-id:r1\0MESSAGE\nfoo:a\n\n\0", []),
        (b"RECEIPT\nreceipt-id:r1\0\nMESSAGE\nfoo:a\n\n\0", ["FRAME-01"]),
        (b"NEWS\nfoo:a\0b\n\n\0", ["FRAME-01"]),
        (b"\nRECEIPT\nreceipt-id:r1\nfoo:a\0b\nbar:c\n\n\0", []),
        (b"\r\n\nRECEIPT\nreceipt-id:r1\nfoo\0:b\n\n\0", []),
        (b"RECEIPT\nreceipt-id:r1\n\0b:c\n\n\0", []),
        (b"RECEIPT\nreceipt-id:r1\nfoo\0\n\n\0", ["FRAME-01"]),
        (b"RECEIPT\nreceipt-id:r1\nfoo\0b\n\n\0", ["FRAME-01"]),
        (b"\nreceipt-id:r1\nfoo:a\0b\n\n\0", ["FRAME-01"]),
    ],
)
def test_a_server_may_have_a_nul_in_a_header(octets, found):
    """E-08: the grammar allows it. A frame without its blank line is another thing."""
    assert names(judged(*session(), Noise(0, "server", octets, "nul-in-head"))) == found


@pytest.mark.parametrize(("version", "found"), [("1.2", ["ERROR-02"]), ("1.1", [])])
def test_only_1_2_says_that_an_error_is_the_end(version, found):
    opening = client("CONNECT", ("accept-version", version), ("host", "/"))
    events = [
        opening,
        server("CONNECTED", ("version", version)),
        client("BEGIN", ("transaction", "")),
        client("NONSENSE"),
    ]
    events += [server("ERROR", ("message", "no")), server("RECEIPT", ("receipt-id", "r"))]
    assert names(judged(*events)) == found


def test_names_are_short_up_to_200_characters():
    for length, found in ((60, ["ERROR-07"]), (240, [])):
        frame = client("SEND", ("destination", "/queue/" + "x" * length), body=b"x")
        error = server("ERROR", ("message", "too long"))
        assert [n for n in names(judged(*session(), frame, error, Closed(0, "server"))) if n != "CLEN-05"] == found


def test_what_a_lost_connection_may_swallow_it_may_not_swallow_for_ever():
    """A queue's message that is sent long after a subscriber went without a word comes to the one that is left."""
    config = Config(queue=replace(Config().queue, own=True, keeps=True))
    events = [*session(0), *session(1)]
    events += asked(client("SUBSCRIBE", ("id", "0"), QUEUE), "r")
    events += [client("SUBSCRIBE", ("id", "1"), QUEUE, ("receipt", "r"), conn=1)]
    events += [server("RECEIPT", ("receipt-id", "r"), conn=1), Closed(0, "client"), Closed(0, "server")]
    sent = asked(client("SEND", QUEUE, ("k", "1"), body=b"x", conn=1), "s")
    assert names(judged(*events, *sent, config=config)) == []
    assert names(judged(*events, Quiet(3000, 3000), *sent, config=config)) == ["SUB-05"]


def _lived_through(phase):
    """Events that lead to a phase."""
    return {
        Phase.OPEN: [],
        Phase.WAIT: session()[:1],
        Phase.LEAVING: [session()[0], client("DISCONNECT")],
        Phase.LIVE: session(),
        Phase.CLOSING: [*session(), client("DISCONNECT", ("receipt", "r"))],
        Phase.LEFT: [*session(), *asked(client("DISCONNECT"), "r")],
        Phase.FAILED: [*session(), client("ACK", ("id", "none")), server("ERROR", ("message", "no"))],
        Phase.CLOSED: [*session(), Closed(0, "client")],
    }[phase]


ACTIONS = {
    "CONNECT": client("CONNECT", ("accept-version", "1.2"), ("host", "/")),
    "DISCONNECT": client("DISCONNECT"),
    "another frame": client("BEGIN", ("transaction", "t")),
    "client closes": Closed(0, "client"),
    "CONNECTED": server("CONNECTED", ("version", "1.2")),
    "MESSAGE": message("/queue/q"),
    "RECEIPT": server("RECEIPT", ("receipt-id", "other")),
    "ERROR": server("ERROR", ("message", "no")),
    OTHER: server("HELLO"),
    "server closes": Closed(0, "server"),
}


@pytest.mark.parametrize("phase", Phase, ids=lambda phase: phase.name)
@pytest.mark.parametrize("action", ACTIONS)
def test_every_cell_of_the_machine_can_be_asked_for(phase, action):
    """No cell is a hole, and a forbidden one blames, unless the client broke a rule itself."""
    model, state = StompModel(), StompModel().initial(Config())
    for event in _lived_through(phase):
        state = next(iter(model.step(state, event))).state
    assert isinstance(state, State)
    assert state.conns.get(0, Conn()).phase is phase
    seen = MACHINE.watch()
    try:
        outcome = next(iter(model.step(state, ACTIONS[action])))
    finally:
        MACHINE.asked = None
    assert (phase, action) in seen
    allowed = isinstance(outcome, Allow)
    assert allowed or outcome.then is ANYTHING


RECEIPT = server("RECEIPT", ("receipt-id", "r"))
ERROR = server("ERROR", ("message", "no"), ("receipt-id", "r"))
ASKS = ("receipt", "r")
WRONG = {
    "SEND without destination": (client("SEND", ASKS, body=b"x"), "SEND-01 MUST", "INV-01 MUST"),
    "SUBSCRIBE without destination": (client("SUBSCRIBE", ("id", "0"), ASKS), "SUB-01 MUST", "INV-04 MUST"),
    "SUBSCRIBE without id": (client("SUBSCRIBE", QUEUE, ASKS), "SUB-02 SHOULD", "INV-05 SHOULD"),
    "another mode": (client("SUBSCRIBE", ("id", "0"), QUEUE, ("ack", "any"), ASKS), "INV-07 SHOULD", "INV-07 SHOULD"),
    "unknown subscription": (client("UNSUBSCRIBE", ("id", "0"), ASKS), "UNSUB-01 SHOULD", "INV-08 SHOULD"),
    "unknown transaction": (client("SEND", QUEUE, ("transaction", "t"), ASKS), "TXN-12 SHOULD", "INV-13 SHOULD"),
    "enormous body": (client("SEND", QUEUE, ASKS, body=b"x" * 70_000), "", "INV-39 SHOULD"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_said_to_be_done_breaks_the_rule_and_what_is_not_answered_the_row_of_invalid_input(name):
    frame, accepted, ignored = WRONG[name]
    for answer, expected in ([RECEIPT], accepted), ([], ignored), ([ERROR, Closed(0, "server")], ""):
        found = judged(*session(), frame, *answer)
        levels = [
            f"{one} {blame.breach.level or 'MUST'}" for one, blame in zip(names(found), found.faults, strict=True)
        ]
        assert levels == ([expected] if expected else [])


def test_the_cr_escape_is_fatal_in_1_1_and_a_cr_before_the_line_feed_is_free():
    """STOMP 1.1, Value Encoding: undefined escapes, and `\\r` is the one that it names, MUST be treated as fatal."""
    for wart, text, found in (("undefined-escape", "\\r", ["fail", "ENC-11"]), ("cr-in-line-end", "x\r", ["pass"])):
        frame = Said(0, "client", Frame("SEND", (QUEUE, ("a", text), ASKS), b"x", (wart,)))
        judgement = judged(*session(version="1.1"), frame, RECEIPT)
        assert [judgement.verdict, *names(judgement)] == found
        assert judged(*session(version="1.1"), frame, ERROR, Closed(0, "server")).verdict == "pass"


@pytest.mark.parametrize("lost", [False, True])
def test_a_second_begin_is_a_fault_of_its_rule_only_where_work_is_lost(lost):
    begin = client("BEGIN", ("transaction", "t"))
    events = [*session(), *asked(client("SUBSCRIBE", ("id", "0"), QUEUE), "s"), *asked(begin, "b")]
    events += [client("SEND", QUEUE, ("k", "1"), ("transaction", "t"), body=b"x"), *asked(begin, "c")]
    events += asked(client("COMMIT", ("transaction", "t")), "d")
    found = judged(*events, *([] if lost else [message(QUEUE[1])]))
    assert found.verdict == "pass"
    assert names(found) == (["INV-11", "TXN-06"] if lost else ["INV-11"])


def test_an_error_about_what_was_receipted_contradicts_its_receipt():
    begun = [*session(), *asked(client("BEGIN", ("transaction", "t")), "r")]
    assert names(judged(*begun, ERROR, Closed(0, "server"))) == ["RECEIPT-03"]
    stranger = server("ERROR", ("message", "no"), ("receipt-id", "other"))
    wrong = client("BEGIN", ("receipt", "q"))
    assert names(judged(*begun, wrong, stranger, Closed(0, "server"))) == ["ERROR-04"]


@pytest.mark.parametrize(("later", "found"), [(True, ["RECEIPT-05"]), (False, ["SUB-05"])])
def test_a_receipt_vouches_for_the_frames_before_it(later, found):
    place = ("destination", "/topic/t")
    events = [*session(), *session(1)]
    events += [client("SUBSCRIBE", ("id", "0"), place, ("receipt", "s"), conn=1)]
    events += [server("RECEIPT", ("receipt-id", "s"), conn=1), client("SEND", place, ("k", "1"), body=b"x")]
    events += asked(client("SEND", ("destination", "/topic/u"), body=b"y"), "r") if later else []
    assert names(judged(*events)) == found


def test_an_error_should_help_to_find_its_frame():
    """STOMP 1.2, ERROR: additional headers should identify the frame; receipt-id is the one that it names."""
    for header, found in (("receipt-id", []), ("frame", ["ERROR-04"]), ("content-type", ["ERROR-05", "ERROR-04"])):
        error = server("ERROR", ("message", "no"), (header, "r"))
        missed = names(judged(*session(), client("BEGIN", ASKS), error, Closed(0, "server")))
        assert [name for name in missed if name.startswith("ERROR")] == found


@pytest.mark.parametrize(("got", "found"), [("b\\cc", ["ENC-12"]), ("bc", ["SEND-04"]), ("b", ["SEND-04"])])
def test_a_colon_that_is_escaped_in_a_1_0_session_is_named_so(got, found):
    events = [client("CONNECT", ("accept-version", "1.0"), ("host", "/")), server("CONNECTED", ("version", "1.0"))]
    events += asked(client("SUBSCRIBE", ("id", "0"), QUEUE), "r")
    sent = client("SEND", QUEUE, ("a", "b:c"), ("k", "1"), body=b"x")
    came = server("MESSAGE", ("subscription", "0"), ("message-id", "1"), QUEUE, ("a", got), ("k", "1"), body=b"x")
    blamed = [name for name in names(judged(*events, sent, came)) if name not in ("CLEN-05", "MSG-08", "MSG-07")]
    assert blamed == found
