"""What an ERROR that nothing explains is laid on: a frame that was just said, and none that the server has passed."""

from __future__ import annotations

import pytest

from specs.events import Closed, Said
from specs.stomp.frames import decoder
from specs.stomp.states import Config
from tests.stomp_events import TOPIC, client, server, session, verdict


@pytest.mark.parametrize(("receipted", "found"), [(False, "ENC-08"), (True, "ERROR-07")])
def test_an_error_behind_the_receipt_of_a_later_frame_is_not_laid_on_the_one_before(receipted, found):
    """The server has gone on: what ends the connection may have come of either frame."""
    asked = [
        client("SUBSCRIBE", ("id", "0"), ("destination", TOPIC), ("receipt", "s")),
        server("RECEIPT", ("receipt-id", "s")),
        client("SEND", ("destination", "/topic/u"), ("k", "1"), ("empty", ""), ("receipt", "r"), body=b"x"),
        client("UNSUBSCRIBE", ("id", "0"), ("receipt", "u")),
    ]
    answers = [server("RECEIPT", ("receipt-id", "u"))] if receipted else []
    if not receipted:
        asked.pop()
    blamed = verdict(*session("1.2"), *asked, *answers, server("ERROR", ("message", "no")))[1]
    assert blamed[0][0] == found, blamed


@pytest.mark.parametrize(("later", "found"), [(False, "CLEN-01"), (True, "ERROR-07")])
def test_octets_behind_a_nul_are_read_as_a_frame_before_the_next_frame_is(later, found):
    body = ("content-length", "3"), ("receipt", "r")
    events = [
        client("SEND", ("destination", TOPIC), ("k", "1"), *body, body=b"a\0b"),
        server("RECEIPT", ("receipt-id", "r")),
    ]
    if later:
        events += [client("BEGIN", ("transaction", "t"), ("receipt", "b")), server("RECEIPT", ("receipt-id", "b"))]
    blamed = verdict(*session("1.2"), *events, server("ERROR", ("message", "no")))[1]
    assert blamed[0][0] == found, blamed


def opened(command, count):
    """So many transactions or subscriptions, all receipted, and one more."""
    events = []
    for n in range(count + 1):
        about = ("transaction", f"t{n}") if command == "BEGIN" else ("id", str(n))
        place = () if command == "BEGIN" else (("destination", TOPIC),)
        events += [client(command, about, *place, ("receipt", f"r{n}")), server("RECEIPT", ("receipt-id", f"r{n}"))]
    return events[:-1]


@pytest.mark.parametrize(
    ("command", "count", "answer", "found"),
    [
        ("BEGIN", 9, "ERROR", ["TXN-10"]),
        ("BEGIN", 10, "ERROR", []),
        ("BEGIN", 10, "RECEIPT", []),
        ("BEGIN", 10, "", ["RECEIPT-01"]),
        ("SUBSCRIBE", 23, "ERROR", ["ERROR-07"]),
        ("SUBSCRIBE", 24, "ERROR", []),
        ("SUBSCRIBE", 24, "", ["RECEIPT-01"]),
    ],
)
def test_a_server_may_bound_what_is_open_at_once(command, count, answer, found):
    """N-20a: it refuses one more, and says so."""
    answers = {
        "ERROR": [server("ERROR", ("message", "too many"), ("receipt-id", f"r{count}")), Closed(0, "server")],
        "RECEIPT": [server("RECEIPT", ("receipt-id", f"r{count}"))],
        "": [],
    }[answer]
    blamed = verdict(*session("1.2"), *opened(command, count), *answers)[1]
    assert [name for name, *_ in blamed] == found, blamed


@pytest.mark.parametrize(("line", "found"), [(b"a:\\t", False), (b"no colon", False), (b"transaction:none", True)])
def test_an_error_need_not_name_a_frame_that_cannot_be_read(line, found):
    """N-16: its receipt stands behind what cannot be read."""
    (frame,) = decoder("client", Config("1.2"), {}).feed(
        b"SEND\ndestination:" + TOPIC.encode() + b"\n" + line + b"\nreceipt:r\n\nx\0"
    )
    events = Said(0, "client", frame), server("ERROR", ("message", "malformed")), Closed(0, "server")
    blamed = verdict(*session("1.2"), *events)[1]
    assert ("ERROR-04" in dict(blamed)) is found, blamed


@pytest.mark.parametrize(
    ("command", "asked", "named", "found"),
    [
        ("CONNECTED", "r4::c", "r4c", False),
        ("CONNECTED", "r4", "r5", True),
        ("CONNECTED", "r4::c", "r4::c", False),
        ("NONE", "r4::c", "r4c", True),
    ],
)
def test_how_an_unescaped_frame_is_read_in_a_session_is_open(command, asked, named, found):
    """N-16: what stands raw in it need not come back as it is."""
    events = client(command, ("receipt", asked)), server("ERROR", ("message", "unknown"), ("receipt-id", named))
    blamed = verdict(*session("1.2"), *events, Closed(0, "server"))[1]
    assert (("ERROR-04", "MUST") in blamed) is found, blamed


@pytest.mark.parametrize(
    ("header", "found"),
    [(("a", "x\\t"), "ENC-04"), (("a", "x"), None), (None, "TXN-02")],
    ids=["broken", "right", "none"],
)
def test_a_message_delivered_by_a_commit_that_had_to_be_refused_is_named_by_what_is_wrong_with_that(header, found):
    octets = b"COMMIT\ntransaction:t\n" + (f"{header[0]}:{header[1]}".encode() if header else b"") + b"\n\n\0"
    commit = [Said(0, "client", frame) for frame in decoder("client", Config("1.2"), {}).feed(octets) if header]
    events = [
        client("SUBSCRIBE", ("id", "0"), ("destination", TOPIC), ("receipt", "s")),
        server("RECEIPT", ("receipt-id", "s")),
        client("BEGIN", ("transaction", "t")),
        client("SEND", ("destination", TOPIC), ("k", "1"), ("transaction", "t"), body=b"x"),
        *commit,
        server("MESSAGE", ("destination", TOPIC), ("k", "1"), ("subscription", "0"), ("message-id", "m"), body=b"x"),
    ]
    blamed = [name for name, _ in verdict(*session("1.2"), *events)[1]]
    assert [name for name in blamed if name in ("ENC-04", "TXN-02")] == ([found] if found else []), blamed
