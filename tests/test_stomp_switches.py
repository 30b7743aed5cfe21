"""The reference STOMP server: every switch, at random."""

import random

import pytest

from impls.references.stomp.reference import SWITCHES, Server, from_text
from tests.stomp_talk import CONVERSATION, ERRORS, NO_RECEIPT, S, escape, nothing_left, read, tx


def talk(server, chance):
    """A valid conversation of one client with itself, well read: messages got, in pieces as chance has it."""
    version = chance.choice(server.switches.versions.split(","))
    session, got = server.open(), b""

    def say(data):
        nonlocal got
        session.send(data)
        server.advance(50)
        got += session.take()

    say(b"CONNECT\naccept-version:" + version.encode() + b"\nhost:localhost\n\n\0")
    mode = chance.choice([b"auto", b"client"])
    say(b"SUBSCRIBE\nid:s1\ndestination:/queue/a\nreceipt:1\nack:" + mode + b"\n\n\0")
    say(b"BEGIN\ntransaction:t\nreceipt:2\n\n\0")
    for n in range(4):
        say(S + (tx(b"t") if n % 2 else b"") + b"receipt:r%d\nu:1\nu:2\n\n%d\0" % (n, n))
    say(b"COMMIT\ntransaction:t\nreceipt:3\n\n\0")
    acked = set()
    for _ in range(8):
        for frame in read(got, version):
            if frame.command == "MESSAGE" and mode == b"client" and frame.body not in acked:
                acked.add(frame.body)
                names = (
                    {"id": "ack"} if version == "1.2" else {"message-id": "message-id", "subscription": "subscription"}
                )
                if frame.body in (b"0", b"2"):
                    continue  # covered by the next one
                text = "".join(f"{name}:{escape(frame[source], version)}\n" for name, source in names.items())
                say(b"ACK\n" + text.encode() + b"\n\0")
    say(b"DISCONNECT\nreceipt:end\n\n\0")
    session.hang_up()
    server.advance(1100)
    got += session.take()
    assert session.closed
    return read(got, version)


@pytest.mark.parametrize("seed", range(150))
def test_random_switches_keep_valid_conversations_valid(seed):
    chance = random.Random(seed)
    # The reader acknowledges only now and then, and counts on client mode being cumulative.
    server = Server.random(seed, prefetch="unlimited", client_ack_1_0="cumulative")
    frames = talk(server, chance)
    assert frames[0].command == "CONNECTED"
    receipts = [frame["receipt-id"] for frame in frames if frame.command == "RECEIPT"]
    assert sorted(receipts) == sorted(["1", "2", "3", "end", "r0", "r1", "r2", "r3"])
    assert receipts[-1] == "end"
    messages = [frame for frame in frames if frame.command == "MESSAGE"]
    assert [frame.body for frame in messages] == [b"0", b"2", b"1", b"3"]
    assert all(frame["u"] == "1" for frame in messages)
    assert len({frame["message-id"] for frame in messages}) == 4
    assert not [frame for frame in frames if frame.command == "ERROR"]
    assert nothing_left(server)


@pytest.mark.parametrize("seed", range(100))
def test_random_switches_survive_random_octets(seed):
    chance = random.Random(seed)
    server = Server.random(seed)
    parts = [*ERRORS.values(), *NO_RECEIPT.values(), CONVERSATION, S + b"\nx\0", b"\n", b"\0", b"\r\n", b"\xff"]
    for _ in range(20):
        session = server.open()
        if chance.random() < 0.8:
            session.send(b"CONNECT\naccept-version:1.0,1.1,1.2\nhost:localhost\nheart-beat:50,50\n\n\0")
        for _ in range(chance.randint(1, 8)):
            part = chance.choice(parts)
            cut = chance.randint(0, len(part))
            session.send(part[:cut])
            session.send(part[cut:] if chance.random() < 0.9 else b"")
            server.advance(chance.randint(0, 40))
            session.take()
        session.hang_up()
        server.advance(5000)
        session.take()
        assert session.closed
    assert not server.sessions
    assert not server.broker.later


@pytest.mark.parametrize("name", SWITCHES)
def test_every_value_of_every_switch_can_be_given_as_text(name):
    for value in SWITCHES[name]:
        assert from_text(name, str(value)) == value
        Server(**{name: from_text(name, str(value))}).open().send(CONVERSATION)
    with pytest.raises(ValueError, match=name):
        Server(**{name: "nonsense"})
    with pytest.raises(ValueError, match=name):
        from_text(name, "nonsense")


def test_the_same_seed_gives_the_same_conversation():
    def run():
        server = Server.random(11)
        return talk(server, random.Random(1)).__repr__()

    assert run() == run()
