"""The reference STOMP server: what it refuses, and what that does."""

import pytest

from impls.references.stomp.reference import Server
from tests.stomp_talk import ERRORS, NO_RECEIPT, Client, S, is_refused, nothing_left, read, tx


@pytest.mark.parametrize("pieces", [0, 1])
@pytest.mark.parametrize("name", [*ERRORS, *NO_RECEIPT])
def test_invalid_input_is_an_error_and_has_no_effect(name, pieces):
    server = Server()
    client, reader = Client(server), Client(server)
    client.subscribe(b"/queue/w", b"0")
    client.ok(b"BEGIN\ntransaction:open\n%R\n\n\0")
    client.send(b"/queue/a", b"in tx", extra=tx(b"open"))
    data = ERRORS.get(name) or NO_RECEIPT[name]
    if pieces:
        for n in range(len(data)):
            client.session.send(data[n : n + 1])
        (error,) = client.frames()
        assert (error.command, client.session.closed) == ("ERROR", True)
    else:
        is_refused(client, data, "bad" if name in ERRORS else None)
    assert reader.subscribe(b"/queue/a") == reader.subscribe(b"/queue/z", b"1") == []
    reader.session.hang_up()
    assert nothing_left(server)


@pytest.mark.parametrize(
    "value",
    [b"abc", b"5", b"1,2,3", b"-1,0", b"1.5,2", b"", b" 1,2", b"1, 2", b"1,2 ", b"9" * 20 + b",1", "٥,1".encode()],
)
def test_bad_heart_beat_is_an_error(value):
    session = Server().open()
    session.send(b"CONNECT\naccept-version:1.2\nhost:x\nheart-beat:" + value + b"\n\n\0")
    (error,) = read(session.take())
    assert (error.command, session.closed) == ("ERROR", True)


@pytest.mark.parametrize(
    "data",
    [
        b"SEND\ndestination:/queue/a\nreceipt:bad\n\nx\0",
        b"SUBSCRIBE\nid:1\ndestination:/queue/a\nreceipt:bad\n\n\0",
        b"DISCONNECT\nreceipt:bad\n\n\0",
        b"CONNECTED\nversion:1.2\nreceipt:bad\n\n\0",
        b"SEND\ndestination:/queue/a\nreceipt:bad\n\nno end yet",
    ],
)
def test_frames_before_connect_are_refused(data):
    server = Server()
    session = server.open()
    session.send(data)
    session.send(b"CONNECT\naccept-version:1.2\nhost:x\n\n\0")
    (error,) = read(session.take())
    assert (error.command, session.closed) == ("ERROR", True)
    assert nothing_left(server)


@pytest.mark.parametrize(
    "data",
    [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"\xff\xfe" * 50_000],
)
def test_other_protocols_are_sent_away(data):
    session = Server().open()
    session.send(data)
    assert [frame.command for frame in read(session.take())] == ["ERROR"]
    assert session.closed


def test_ids_of_others_and_settled_ones_are_refused():
    server = Server()
    for case in range(3):
        client, other = Client(server), Client(server)
        client.subscribe(b"/queue/a", mode=b"client-individual")
        other.subscribe(b"/queue/b", mode=b"client-individual")
        (mine,), (theirs,) = client.send(b"/queue/a", b"1"), other.send(b"/queue/b", b"2")
        client.settle(mine)
        wrong = (mine["ack"], theirs["ack"], mine["message-id"])[case]
        is_refused(client, b"ACK\nid:" + wrong.encode() + b"\nreceipt:bad\n\n\0")
        other.settle(theirs)
        other.session.hang_up()
    assert nothing_left(server)


@pytest.mark.parametrize(
    "data",
    [b"SEND\ndestination:/queue/a\nx:\\r\nreceipt:bad\n\n\0", b"SEND\r\ndestination:/queue/a\r\nreceipt:bad\r\n\r\n\0"],
)
def test_1_1_knows_neither_the_cr_escape_nor_cr_lf(data):
    client = Client(Server(), "1.1")
    (error,) = client.say(data)
    assert (error.command, client.session.closed) == ("ERROR", True)


@pytest.mark.parametrize(
    ("switch", "line", "expected"),
    [
        ({"raw_colon": "keep"}, b"a:b:c", ("a", "b:c")),
        ({"bare_cr": "keep"}, b"a:b\rc", ("a", "b\rc")),
        ({"nul_in_header": "drop"}, b"a:b\0c", ("a", "bc")),
        ({"invalid_utf8": "replace"}, b"a:\xff", ("a", "\ufffd")),
        ({"odd_content_length": "accept"}, b"content-length:005", ("content-length", "5")),
        ({"odd_content_length": "accept"}, b"content-length:+5", ("content-length", "5")),
        ({"odd_content_length": "accept"}, b"content-length: 5", ("content-length", "5")),
    ],
)
def test_lenient_input_leads_to_well_formed_output(switch, line, expected):
    client = Client(Server(**switch))
    client.subscribe(b"/queue/a")
    (message,) = client.send(b"/queue/a", b"12345", extra=line + b"\n")
    assert expected in message.headers
    # Leniency has its bounds: a head without its blank line is no frame.
    assert client.say(S + b"\0SEND\ndestination:/queue/a\n\n\0")[0].command == "ERROR"


def test_unknown_commands_may_be_ignored_and_framing_errors_close_silently():
    client = Client(Server(unknown_command="ignore", nul_in_header="drop"))
    assert client.say(b"FOO\nreceipt:1\n\nbody\0\0\0\n\0") == []
    client.subscribe(b"/queue/a")
    client = Client(Server(silent_close=True))
    assert client.say(b"SEND\nx\n\n\0") == []
    assert client.session.closed
