"""The reference STOMP server: endless input, limits, slow readers, cost."""

import re
import time

import pytest

from impls.references.stomp.reference import Parser, Server, Switches
from tests.stomp_talk import Client, S, bodies, nothing_left, read, tx


def flood(data, times, **switches):
    """Octets held after `data` came `times` times, and what was answered."""
    session = Server(**switches).open()
    session.send(b"CONNECT\naccept-version:1.2\nhost:localhost\n\n\0")
    session.take()
    held = 0
    for _ in range(times):
        session.send(data)
        held = max(held, session.parser.held)
        if session.closed:
            break
    return held, [frame.command for frame in read(session.take())], session.closed


def test_endless_input_is_cut_off():
    for start in (b"SEND\na:", b"SEND\n"):
        for piece in (b"x" * 4096, b"a:b\n" * 500, b"xyz\n"):
            session = Server().open()
            session.send(b"CONNECT\naccept-version:1.2\nhost:localhost\n\n\0" + start)
            count = 0
            while not session.closed:
                session.send(piece)
                count += 1
                assert session.parser.held < 2_000_000
            assert count < 1200
            assert read(session.take())[-1].command == "ERROR"
    held, commands, closed = flood(b"x" * 65536, 1000)
    assert (commands, closed) == (["ERROR"], True)
    held, commands, closed = flood(b"\n" * 65536, 200)
    assert (held, commands, closed) == (0, [], False)


@pytest.mark.parametrize(
    "data",
    [
        S + b"content-length:1000001\n\n",
        S + b"\n" + b"x" * 1_000_001,
        S + b"a:" + b"x" * 65_536 + b"\n\n\0",
        S + b"a:b\n" * 1000 + b"\n\0",
        b"X" * 65_537,
    ],
)
def test_limits_hold_whole_and_in_pieces(data):
    for policy, expected in (("error", ["ERROR"]), ("close", [])):
        for size in (len(data), 1000):
            server = Server(max_body=1_000_000, over_limit=policy)
            client, other = Client(server), Client(server)
            for at in range(0, len(data), size):
                client.session.send(data[at : at + size])
            assert [frame.command for frame in client.frames()] == expected
            assert client.session.closed
            other.subscribe(b"/queue/a")
            assert bodies(other.send(b"/queue/a", b"fine")) == [b"fine"]
    client = Client(Server())
    client.say(S + b"a:" + b"x" * 65_000 + b"\n" + b"a:b\n" * 998 + b"\n" + b"x" * 2_000_000 + b"\0")
    assert not client.session.closed


def test_queues_and_transactions_are_bounded():
    client = Client(Server(max_queue=100_000))
    while not client.session.closed:
        client.session.send(S + b"\n" + b"x" * 1000 + b"\0")
    client = Client(Server(max_owed=100_000))
    client.session.send(b"BEGIN\ntransaction:t\n\n\0")
    count = 0
    while not client.session.closed:
        client.session.send(S + tx(b"t") + b"\n" + b"x" * 1000 + b"\0")
        count += 1
    assert 20 < count < 100
    server = Server(max_kept=100_000)
    client = Client(server)
    for n in range(1000):
        client.session.send(b"SEND\ndestination:/queue/%d\n\n" % n + b"x" * 1000 + b"\0")
    assert not client.session.closed
    assert server.broker.kept <= 100_000
    assert len(server.broker.destinations) < 100
    server = Server(max_open=10)
    client = Client(server)
    client.session.send(b"".join(b"SUBSCRIBE\nid:%d\ndestination:/queue/a\n\n\0" % n for n in range(12)))
    assert client.frames()[0].command == "ERROR"
    assert nothing_left(server)


def test_slow_consumer_of_a_topic_is_cut_off_without_harm_to_others():
    server = Server(max_open=10, prefetch=1)
    slow, sender = Client(server), Client(server)
    slow.subscribe(b"/topic/a", mode=b"client")
    sender.send(b"/topic/a", *[b"x"] * 30)
    assert [frame.command for frame in slow.frames()] == ["MESSAGE", "ERROR"]
    assert slow.session.closed
    assert not sender.session.closed


def test_ten_thousand_sessions_and_destinations_leave_no_state():
    for switches in ({}, {"redelivery": "never", "late_ack": "ignore", "disconnect": "client-closes"}):
        server = Server(**switches)
        for n in range(5_000):
            session = server.open()
            name = b"/queue/%d" % n if n % 2 else b"/topic/%d" % n
            session.send(
                b"CONNECT\naccept-version:1.2\nhost:x\n\n\0SUBSCRIBE\nid:0\nack:%b\ndestination:%b\n\n\0"
                b"BEGIN\ntransaction:t\n\n\0SEND\ndestination:%b\n\nx\0"
                % ((b"auto", b"client")[n % 3 == 0], name, name)
                + b"SEND\ndestination:/queue/never\ntransaction:t\n\nx\0"
            )
            ack = re.search(rb"\nack:(\d+)", session.take())
            if ack:
                session.send(b"ACK\nid:" + ack[1] + b"\n\n\0")
            session.send([b"", b"COMMIT\ntransaction:u\n\n\0", b"DISCONNECT\n\n\0", b"SEND\ndest"][n % 4])
            session.hang_up()
            assert session.closed
        assert nothing_left(server)


def test_a_thousand_pieces_cost_about_as_much_as_the_whole():
    data = S + b"content-length:4000000\n\n" + b"x" * 4_000_000 + b"\0"

    def cost(size):
        best = 9.0
        for _ in range(3):
            parser, start = Parser(Switches()), time.process_time()
            for at in range(0, len(data), size):
                parser.feed(data[at : at + size])
                frame = parser.next()
            best = min(best, time.process_time() - start)
            assert frame is not None
        return best

    assert cost(4_000) < 10 * cost(len(data)) + 0.05  # generous: the machine may be busy; quadratic would be hundreds
