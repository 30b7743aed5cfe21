"""The reference STOMP server: pieces, endings, heart-beats and delays."""

import random

import pytest

from impls.references.stomp.reference import Server
from tests.stomp_talk import CONVERSATION, TEMPLATE, Client, S, bodies, nothing_left, read


def test_disconnect_is_the_last_frame():
    server = Server()
    client = Client(server)
    data = S + b"\n1\0" + S + b"\n2\0DISCONNECT\nreceipt:7\n\n\0" + S + b"receipt:8\n\n3\0"
    (receipt,) = client.say(data)
    assert (receipt["receipt-id"], client.session.closed) == ("7", True)
    assert bodies(Client(server).subscribe(b"/queue/a")) == [b"1", b"2"]


def test_server_may_wait_for_the_client_to_close():
    server = Server(disconnect="client-closes")
    for end in (lambda client: client.session.hang_up(), lambda client: client.server.advance(1000)):
        client = Client(server)
        assert client.say(b"DISCONNECT\n\n\0" + S + b"\n3\0") == []
        assert not client.session.closed
        end(client)
        assert client.session.closed
    assert nothing_left(server)


def answer(pieces):
    session = Server().open()
    for piece in pieces:
        session.send(piece)
    return session.take(), session.closed


def test_pieces_and_line_ends_mean_nothing():
    whole = answer([CONVERSATION])
    assert [frame.command for frame in read(whole[0])] == [
        "CONNECTED", "RECEIPT", "MESSAGE", "RECEIPT", "MESSAGE", "RECEIPT", "RECEIPT",
    ]  # fmt: skip
    assert answer(bytes([octet]) for octet in CONVERSATION) == whole
    chance = random.Random(1)
    for _ in range(100):
        cuts = sorted(chance.choices(range(len(CONVERSATION)), k=5))
        pieces = [CONVERSATION[a:b] for a, b in zip([0, *cuts], [*cuts, None], strict=True)]
        assert answer(pieces) == whole
    assert answer([TEMPLATE.replace(b"~", b"\r\n")]) == whole
    mixed = b"".join(chance.choice([b"\n", b"\r\n"]) if octet == ord("~") else bytes([octet]) for octet in TEMPLATE)
    assert answer([mixed]) == answer(bytes([octet]) for octet in mixed) == whole


def test_a_conversation_cut_anywhere_leaves_nothing_half_done():
    for cut in range(len(CONVERSATION)):
        server = Server()
        session = server.open()
        session.send(CONVERSATION[:cut])
        session.hang_up()
        assert not server.sessions
        found = bodies(Client(server).subscribe(b"/queue/a"))
        assert found in ([], [b"\n\0\r\n\0x"], [b"\n\0\r\n\0x", b"\nhello\n"])


def test_server_beats_in_time_and_only_when_both_want_it():
    server = Server(heart_beat="500,500")
    client = Client(server, headers=b"heart-beat:0,800\n")
    assert client.connected["heart-beat"] == "500,500"
    gap = 0
    for _ in range(400):
        server.advance(20)
        gap += 20
        if data := client.session.take():
            assert data == b"\n"
            assert gap <= 800
            gap = 0
    assert gap < 800
    for headers in (b"", b"heart-beat:0,0\n", b"heart-beat:300,0\n"):
        client = Client(server, headers=headers)
        server.advance(900)
        assert client.session.take() == b""


@pytest.mark.parametrize("sign", [b"\n", b"\r\n", b"SEND\ndestination:/topic/a\n\n\0", b"SEND\ndestination:/topi"])
def test_silent_client_is_closed_late_and_any_octet_counts(sign):
    server = Server(heart_beat="0,100")
    client = Client(server, headers=b"heart-beat:200,0\n")
    client.session.send(sign[:-1])
    client.session.send(sign[-1:])
    server.advance(399)
    client.session.send(b"c")
    server.advance(400)
    assert not client.session.closed
    server.advance(1)
    assert client.session.closed
    assert client.session.take() == b""
    client = Client(server, headers=b"heart-beat:0,0\n")
    server.advance(100_000)
    assert not client.session.closed


def test_overdue_client_may_get_an_error_or_be_left_alone():
    for policy, expected in (("error", ["ERROR"]), ("ignore", [])):
        server = Server(heart_beat="0,100", overdue_client=policy)
        client = Client(server, headers=b"heart-beat:1,0\n")
        server.advance(1000)
        assert [frame.command for frame in client.frames()] == expected
        assert client.session.closed == (policy == "error")


def test_delays_keep_the_order_of_each_connection():
    server = Server(seed=3, output_delay_ms=20, work_delay_ms=20)
    writer, reader = server.open(), server.open()
    for session in (writer, reader):
        session.send(b"CONNECT\naccept-version:1.2\nhost:localhost\n\n\0")
    reader.send(b"SUBSCRIBE\nid:0\ndestination:/queue/a\n\n\0")
    for n in range(20):
        writer.send(S + b"receipt:%d\n\n%d\0" % (n, n))
    writer.send(b"DISCONNECT\nreceipt:end\n\n\0")
    writer.hang_up()
    sent, got, times = b"", b"", set()
    for now in range(1000):
        if data := reader.take():
            times.add(now)
        got += data
        sent += writer.take()
        server.advance(1)
    assert [frame.body for frame in read(got)[1:]] == [str(n).encode() for n in range(20)]
    assert [frame["receipt-id"] for frame in read(sent)[1:]] == [*map(str, range(20)), "end"]
    assert len(times) > 5
    assert writer.closed
    reader.hang_up()
    assert nothing_left(server)
