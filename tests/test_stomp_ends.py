"""What an ERROR that nothing explains is laid on: a frame that was just said, and none that the server has passed."""

from __future__ import annotations

import pytest

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
