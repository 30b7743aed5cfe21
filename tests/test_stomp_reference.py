"""The reference STOMP server, conversation by conversation, in plain octets.

Nothing here uses the specification: frames are written out, and the little reader below is this module's own.
"""

import random
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from impls.stomp.reference import SWITCHES, Parser, Server, Switches, from_text

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("1.0", "1.1", "1.2")


class Got:
    """A frame that the server sent."""

    def __init__(self, command, headers, body):
        self.command, self.headers, self.body = command, headers, body

    def __getitem__(self, name):
        return next(value for key, value in self.headers if key == name)

    def get(self, name):
        return next((value for key, value in self.headers if key == name), None)

    def __repr__(self):
        return f"{self.command} {self.headers} {self.body!r}"


def unescape(text, version):
    known = {"n": "\n", "c": ":", "\\": "\\"} | ({"r": "\r"} if version == "1.2" else {})
    if version == "1.0":
        return text
    assert ":" not in text
    return re.sub(r"\\(.?)", lambda found: known[found[1]], text, flags=re.DOTALL)


def escape(text, version):
    if version == "1.0":
        return text
    text = text.replace("\\", r"\\").replace(":", r"\c").replace("\n", r"\n")
    return text.replace("\r", r"\r") if version == "1.2" else text


def read(data, version="1.2"):
    """All frames in `data`, which must be nothing but whole and well-formed frames."""
    frames, eol = [], rb"\r?\n" if version == "1.2" else rb"\n"
    while data := re.sub(rb"\A(?:%b)+" % eol, b"", data):
        head = re.split(rb"(%b%b)" % (eol, eol), data, maxsplit=1)
        assert len(head) == 3, data
        lines = re.split(eol, head[0])
        command, data = lines[0].decode(), head[2]
        headers = []
        for line in lines[1:]:
            name, colon, value = line.decode().partition(":")
            assert name
            assert colon
            assert version != "1.2" or "\r" not in line.decode()
            plain = command == "CONNECTED"
            headers.append((name, value) if plain else (unescape(name, version), unescape(value, version)))
        length = next((value for name, value in headers if name == "content-length"), None)
        end = data.index(0) if length is None else int(length)
        assert data[end] == 0
        frames.append(Got(command, headers, data[:end]))
        data = data[end + 1 :]
        assert command in ("CONNECTED", "MESSAGE", "RECEIPT", "ERROR")
        assert frames[-1].body == b"" or (command in ("MESSAGE", "ERROR") and length and frames[-1].get("content-type"))
    return frames


class Client:
    """One connection, spoken to in octets."""

    def __init__(self, server, version="1.2", headers=b"", command=b"CONNECT"):
        self.server, self.version, self.session = server, version, server.open()
        if version:
            self.session.send(b"%b\naccept-version:%b\nhost:localhost\n%b\n\0" % (command, version.encode(), headers))
            (self.connected,) = self.frames()
            assert self.connected.command == "CONNECTED"

    def frames(self):
        return read(self.session.take(), self.version or "1.2")

    def say(self, data):
        self.session.send(data)
        return self.frames()

    def ok(self, data):
        """Say a frame, written with %R where its receipt goes; everything but the receipt that came back."""
        frames = self.say(data.replace(b"%R", b"receipt:ok"))
        assert [frame["receipt-id"] for frame in frames if frame.command == "RECEIPT"] == ["ok"], frames
        return [frame for frame in frames if frame.command != "RECEIPT"]

    def send(self, destination, *bodies, extra=b""):
        got = []
        for body in bodies:
            got += self.ok(b"SEND\ndestination:" + destination + b"\n%R\n" + extra + b"\n" + body + b"\0")
        return got

    def subscribe(self, destination, number=b"0", mode=b"auto"):
        return self.ok(b"SUBSCRIBE\nid:" + number + b"\ndestination:" + destination + b"\nack:" + mode + b"\n%R\n\n\0")

    def settle(self, message, verb=b"ACK", extra=b""):
        if self.version == "1.2":
            return self.ok(verb + b"\nid:" + escape(message["ack"], "1.2").encode() + b"\n%R\n" + extra + b"\n\0")
        number = escape(message["message-id"], self.version).encode()
        return self.ok(
            verb
            + b"\nmessage-id:"
            + number
            + b"\nsubscription:"
            + message["subscription"].encode()
            + b"\n%R\n"
            + extra
            + b"\n\0"
        )


def bodies(frames):
    assert all(frame.command == "MESSAGE" for frame in frames), frames
    return [frame.body for frame in frames]


def is_refused(client, data, receipt="bad"):
    """The server answers with one ERROR and closes; what stands behind in the same piece has no effect."""
    witness = Client(client.server)
    witness.subscribe(b"/queue/witness")
    frames = client.say(data + b"SEND\ndestination:/queue/witness\nreceipt:late\n\nlate\0")
    assert [frame.command for frame in frames] == ["ERROR"], frames
    assert frames[0]["message"]
    assert frames[0].get("receipt-id") == receipt, frames
    assert client.session.closed
    assert witness.frames() == []
    witness.session.hang_up()
    return frames[0]


def nothing_left(server):
    return not server.sessions and not server.broker.destinations and not server.broker.kept and not server.broker.later


# Connecting


@pytest.mark.parametrize("command", [b"CONNECT", b"STOMP"])
@pytest.mark.parametrize("version", VERSIONS)
def test_connect_is_answered_by_connected(command, version):
    client = Client(Server(), version, command=command)
    assert client.connected["version"] == version
    assert re.fullmatch(r"\S+/\S+( .*)?", client.connected["server"])
    assert (client.connected.get("heart-beat") is None) == (version == "1.0")


@pytest.mark.parametrize(
    ("offered", "supported", "chosen"),
    [
        ("1.0,1.1,1.2", "1.0,1.1,1.2", "1.2"),
        ("1.2,1.0,9.9", "1.0,1.1,1.2", "1.2"),
        ("1.0,1.1,2.0", "1.0,1.1,1.2", "1.1"),
        ("1.0,1.2", "1.0,1.1", "1.0"),
        ("foo,1.1,10.0,,1.20", "1.0,1.1,1.2", "1.1"),
    ],
)
def test_highest_common_version_is_chosen(offered, supported, chosen):
    session = Server(versions=supported).open()
    session.send(f"CONNECT\naccept-version:{offered}\nhost:x\n\n\0".encode())
    assert read(session.take())[0]["version"] == chosen


@pytest.mark.parametrize("offered", ["2.0", "", "1.20,1", "one"])
def test_no_common_version_is_an_error(offered):
    session = Server().open()
    session.send(f"CONNECT\naccept-version:{offered}\nhost:x\n\n\0".encode())
    (error,) = read(session.take())
    assert (error.command, error["version"], session.closed) == ("ERROR", "1.0,1.1,1.2", True)


def test_client_without_accept_version_speaks_1_0():
    session = Server().open()
    session.send(b"CONNECT\nlogin:a\n\n\0")
    (connected,) = read(session.take(), "1.0")
    assert connected["version"] == "1.0"
    assert connected["session"]
    session = Server(versions="1.1,1.2").open()
    session.send(b"CONNECT\n\n\0")
    assert read(session.take())[0].command == "ERROR"


def test_connect_is_not_unescaped_and_its_receipt_is_ignored():
    client = Client(
        Server(login="a:b", passcode=r"p:q\c\t"), headers=b"login:a:b\npasscode:p:q\\c\\t\nreceipt:1\nx:\\\n"
    )
    assert client.connected["version"] == "1.2"
    session = Server(login="a", passcode="b:").open()
    session.send(b"CONNECT\naccept-version:1.2\nhost:x\nlogin:a\npasscode:b\\c\n\n\0")
    assert read(session.take())[0].command == "ERROR"


def test_sessions_are_unique_and_frames_may_follow_connect_at_once():
    server = Server()
    assert len({Client(server).connected["session"] for _ in range(50)}) == 50
    session = server.open()
    session.send(
        b"CONNECT\r\naccept-version:1.2\r\nhost:x\r\n\r\n\0\r\n\nSUBSCRIBE\nid:1\ndestination:/queue/a\n\n\0"
        b"SEND\r\ndestination:/queue/a\r\nreceipt:r\r\n\nx\0"
    )
    assert [frame.command for frame in read(session.take())] == ["CONNECTED", "MESSAGE", "RECEIPT"]


@pytest.mark.parametrize("switch", ["unknown_host", "missing_host"])
def test_host_policy(switch):
    lines = {"unknown_host": b"host:nowhere\n", "missing_host": b""}[switch]
    for policy, command in (("accept", "CONNECTED"), ("refuse", "ERROR")):
        session = Server(**{switch: policy}).open()
        session.send(b"CONNECT\naccept-version:1.2\n" + lines + b"\n\0")
        assert read(session.take())[0].command == command


# SEND and MESSAGE


@pytest.mark.parametrize("version", VERSIONS)
def test_message_carries_what_was_sent(version):
    client = Client(Server(), version)
    client.subscribe(b"/queue/a")
    (message,) = client.send(
        b"/queue/a", b"hello", extra="content-type:text/plain;charset=utf-8\n sp : x \nempty:\nü:漢😀\n".encode()
    )
    assert message.body == b"hello"
    assert message.headers == [
        ("destination", "/queue/a"),
        ("message-id", message["message-id"]),
        ("subscription", "0"),
        ("content-type", "text/plain;charset=utf-8"),
        (" sp ", " x "),
        ("empty", ""),
        ("ü", "漢😀"),
        ("content-length", "5"),
    ]


def test_body_may_hold_anything():
    client = Client(Server())
    client.subscribe(b"/queue/a")
    for body in (b"\0", b"\r\n\0\n", bytes(range(256)), b"", b"\n\n"):
        (message,) = client.ok(
            b"SEND\ndestination:/queue/a\n%R\ncontent-length:" + str(len(body)).encode() + b"\n\n" + body + b"\0"
        )
        assert message.body == body


@pytest.mark.parametrize(
    ("wire", "text"),
    [
        (rb"\\n", "\\n"),
        (rb"\\c", "\\c"),
        (rb"\\r", "\\r"),
        (rb"\\\\", "\\\\"),
        (rb"\\\n", "\\\n"),
        (rb"\n\c\\", "\n:\\"),
        (rb"a\cb\c", "a:b:"),
    ],
)
@pytest.mark.parametrize("version", ["1.1", "1.2"])
def test_escapes_are_read_in_one_scan(wire, text, version):
    client = Client(Server(), version)
    client.subscribe(b"/queue/a")
    (message,) = client.send(b"/queue/a", b"", extra=b"k" + wire + b":v" + wire + b"\n")
    assert message["k" + text] == "v" + text
    (receipt,) = client.say(b"BEGIN\ntransaction:" + wire + b"\nreceipt: " + wire + b" \n\n\0")
    assert receipt["receipt-id"] == f" {text} "


def test_cr_is_escaped_in_1_2_and_raw_in_1_1_and_1_0_has_no_escapes():
    server = Server()
    new, old, oldest = (Client(server, version) for version in ("1.2", "1.1", "1.0"))
    for client in (new, old, oldest):
        client.subscribe(b"/topic/a")
    new.send(b"/topic/a", b"", extra=rb"cr:a\rb" + b"\n" + rb"lf:a\nb" + b"\n" + rb"c:a\cb" + b"\n" + rb"n\c:1" + b"\n")
    assert b"cr:a\rb\nlf:a\\nb\nc:a\\cb\nn\\c:1\n" in old.session.take()
    # What 1.0 cannot say is left out there.
    assert (data := oldest.session.take()).count(b"\n") == 7
    assert b"cr:a\rb\nc:a:b\n" in data
    oldest.session.send(b"SEND\ndestination:/topic/a\nx:a\\tb\\\n\n\0")
    assert b"x:a\\tb\\\n" in oldest.session.take()
    assert b"x:a\\\\tb\\\\\n" in new.session.take().split(b"MESSAGE")[-1]


def test_forged_and_private_headers_do_not_reach_the_message():
    client = Client(Server(redelivered_header=True))
    client.subscribe(b"/queue/a", mode=b"client")
    forged = b"subscription:x\nmessage-id:x\nack:x\nredelivered:true\n"
    (message,) = client.send(b"/queue/a", b"", extra=forged)
    assert [name for name, _ in message.headers] == ["destination", "message-id", "subscription", "ack"]
    assert (message["subscription"], message.get("redelivered")) == ("0", None)


@pytest.mark.parametrize(("policy", "expected"), [("keep", ["World", "Hello"]), ("drop", ["World"])])
def test_first_of_repeated_headers_counts(policy, expected):
    client = Client(Server(repeated_headers=policy))
    client.subscribe(b"/queue/a")
    (message,) = client.say(
        b"SEND\ndestination:/queue/a\ndestination:/queue/b\nfoo:World\nfoo:Hello\ncontent-length:3\n"
        b"content-length:5\n\na\0b\0"
    )
    assert [value for name, value in message.headers if name == "foo"] == expected
    assert message.body == b"a\0b"


def test_queue_gives_to_one_and_keeps_topic_gives_to_all_and_forgets():
    server = Server()
    one, two = Client(server), Client(server)
    one.send(b"/queue/a", b"1")
    one.send(b"/topic/a", b"1")
    assert bodies(one.subscribe(b"/queue/a", b"q")) == [b"1"]
    for client in (one, two):
        assert client.subscribe(b"/topic/a", b"t") == []
    two.subscribe(b"/queue/a", b"q")
    assert bodies(one.send(b"/queue/a", b"2", b"3", b"4", b"5")) == [b"2", b"4"]
    assert bodies(two.frames()) == [b"3", b"5"]
    assert bodies(one.send(b"/topic/a", b"6")) == bodies(two.frames()) == [b"6"]


def test_any_destination_is_an_opaque_string_unless_refused():
    name = rb"a b\c\\" + "é".encode()
    client = Client(Server())
    client.subscribe(name)
    assert client.send(name, b"")[0]["destination"] == "a b:\\é"
    is_refused(Client(Server(odd_destination="refuse")), b"SEND\ndestination:" + name + b"\nreceipt:bad\n\n\0")


# Subscriptions and acknowledgements


@pytest.mark.parametrize("version", ["1.1", "1.2"])
def test_client_mode_is_cumulative_for_its_subscription_only(version):
    server = Server()
    client = Client(server, version)
    client.subscribe(b"/queue/a", b"0", b"client")
    client.subscribe(b"/queue/b", b"1", b"client")
    of_a = client.send(b"/queue/a", b"a1", b"a2", b"a3", b"a4")
    client.send(b"/queue/b", b"b1", b"b2")
    client.settle(of_a[2])
    client.session.hang_up()
    reader = Client(server)
    assert bodies(reader.subscribe(b"/queue/a", b"0")) == [b"a4"]
    assert bodies(reader.subscribe(b"/queue/b", b"1")) == [b"b1", b"b2"]


def test_client_individual_settles_exactly_one():
    server = Server()
    client = Client(server)
    client.subscribe(b"/queue/a", mode=b"client-individual")
    messages = client.send(b"/queue/a", b"1", b"2", b"3", b"4")
    assert len({message["ack"] for message in messages}) == 4
    client.settle(messages[3])
    client.settle(messages[1])
    client.session.hang_up()
    assert bodies(Client(server).subscribe(b"/queue/a")) == [b"1", b"3"]


@pytest.mark.parametrize(
    ("policy", "after"),
    [("requeue-front", [b"1", b"2", b"3"]), ("requeue-back", [b"3", b"1", b"2"]), ("discard", [b"3"])],
)
def test_nack_in_client_mode_covers_the_earlier_ones(policy, after):
    server = Server(nack=policy, prefetch=2)
    client = Client(server)
    client.subscribe(b"/queue/a", mode=b"client")
    first, second = client.send(b"/queue/a", b"1", b"2", b"3")
    again = client.settle(second, b"NACK")
    assert bodies(again) == after[:2]
    is_refused(client, b"ACK\nid:" + first["ack"].encode() + b"\nreceipt:bad\n\n\0")
    assert bodies(Client(server).subscribe(b"/queue/a")) == after


def test_nack_to_dead_letters():
    server = Server(nack="dead-letter")
    client = Client(server)
    client.subscribe(b"/queue/a", mode=b"client-individual")
    assert client.settle(client.send(b"/queue/a", b"1")[0], b"NACK") == []
    assert bodies(client.subscribe(b"/queue/dead-letters", b"9")) == [b"1"]


def test_1_0_subscribes_without_id_and_acknowledges_by_message_id():
    client = Client(Server(), "1.0")
    client.ok(b"SUBSCRIBE\ndestination:/queue/a\nack:client\n%R\n\n\0")
    one, two, three = client.send(b"/queue/a", b"1", b"2", b"3")
    assert one.get("subscription") is None
    client.ok(b"ACK\nmessage-id:" + two["message-id"].encode() + b"\n%R\n\n\0")
    client.ok(b"UNSUBSCRIBE\ndestination:/queue/a\n%R\n\n\0")
    assert bodies(client.ok(b"SUBSCRIBE\ndestination:/queue/a\n%R\n\n\0")) == [b"3"]
    is_refused(client, b"NACK\nmessage-id:" + three["message-id"].encode() + b"\nreceipt:bad\n\n\0")
    client = Client(Server(anonymous_subscription="destination"), "1.0")
    client.ok(b"SUBSCRIBE\ndestination:/queue/a\nack:client\n%R\n\n\0")
    (message,) = client.send(b"/queue/a", b"1")
    assert message["subscription"] == "/queue/a"
    client.settle(message)


def test_unsubscribe_ends_one_subscription_and_its_id_is_free_again():
    client = Client(Server())
    client.subscribe(b"/topic/a", b"0")
    client.subscribe(b"/topic/a", b"1")
    assert len(client.send(b"/topic/a", b"x")) == 2
    client.ok(b"UNSUBSCRIBE\nid:0\n%R\n\n\0")
    assert [message["subscription"] for message in client.send(b"/topic/a", b"x")] == ["1"]
    client.subscribe(b"/topic/b", b"0")
    is_refused(client, b"UNSUBSCRIBE\nid:2\nreceipt:bad\n\n\0")


@pytest.mark.parametrize(("policy", "after"), [("requeue", [b"1"]), ("drop", [])])
def test_unacked_messages_of_a_removed_subscription(policy, after):
    client = Client(Server(unsubscribed=policy, late_ack="ignore"))
    client.subscribe(b"/queue/a", mode=b"client")
    (message,) = client.send(b"/queue/a", b"1")
    client.ok(b"UNSUBSCRIBE\nid:0\n%R\n\n\0")
    client.settle(message)
    assert bodies(client.subscribe(b"/queue/a")) == after


def test_ack_of_auto_is_ignored_or_refused():
    for switches in ({"ack_on_auto": True}, {"ack_on_auto": False}):
        client = Client(Server(ack_of_auto="ignore", **switches))
        client.subscribe(b"/queue/a")
        (message,) = client.send(b"/queue/a", b"1")
        name = message.get("ack") or message["message-id"]
        assert client.ok(b"ACK\nid:" + name.encode() + b"\n%R\n\n\0") == []
    client = Client(Server(ack_on_auto=True))
    client.subscribe(b"/queue/a")
    (message,) = client.send(b"/queue/a", b"1")
    is_refused(client, b"ACK\nid:" + message["ack"].encode() + b"\nreceipt:bad\n\n\0")


@pytest.mark.parametrize("version", ["1.1", "1.2"])
@pytest.mark.parametrize("style", ["number", "random", "colon", "odd"])
@pytest.mark.parametrize("ack", [{"ack_id": "same"}, {"ack_style": "odd"}, {"message_id_scope": "copy"}])
def test_identifiers_of_every_style_come_back(version, style, ack):
    client = Client(Server(message_id=style, **ack), version)
    client.subscribe(b"/topic/a", b"0", b"client")
    client.subscribe(b"/topic/a", b"1", b"client-individual")
    messages = client.send(b"/topic/a", b"1", b"2")
    for message in messages[2:]:
        client.settle(message, b"ACK" if message["subscription"] == "1" else b"NACK")


@pytest.mark.parametrize(
    ("policy", "after"), [("front", [b"1", b"2", b"3"]), ("back", [b"3", b"1", b"2"]), ("never", [b"3"])]
)
def test_redelivery_after_a_lost_connection(policy, after):
    server = Server(redelivery=policy, prefetch=2, redelivered_header=True, redelivered_id="change")
    client = Client(server)
    client.subscribe(b"/queue/a", mode=b"client")
    sent = client.send(b"/queue/a", b"1", b"2", b"3")
    client.session.hang_up()
    got = Client(server).subscribe(b"/queue/a")
    assert bodies(got) == after
    assert all((message.get("redelivered") == "true") == (message.body != b"3") for message in got)
    assert not {message["message-id"] for message in sent} & {message["message-id"] for message in got}


def test_delayed_redelivery_takes_time_and_keeps_the_message_id():
    server = Server(redelivery="delayed")
    client = Client(server)
    client.subscribe(b"/queue/a", mode=b"client")
    (sent,) = client.send(b"/queue/a", b"1")
    client.session.hang_up()
    client = Client(server)
    assert client.subscribe(b"/queue/a") == []
    server.advance(50)
    (again,) = client.frames()
    assert (again.body, again["message-id"]) == (b"1", sent["message-id"])


def test_prefetch_holds_messages_back_on_topics_too():
    for name in (b"/queue/a", b"/topic/a"):
        client = Client(Server(prefetch=1))
        client.subscribe(name, mode=b"client")
        (one,) = client.send(name, b"1", b"2", b"3")
        (two,) = client.settle(one)
        assert bodies([two, *client.settle(two)]) == [b"2", b"3"]


def test_topic_may_spare_the_sender():
    server = Server(self_delivery=False)
    one, two = Client(server), Client(server)
    one.subscribe(b"/topic/a")
    two.subscribe(b"/topic/a")
    assert one.send(b"/topic/a", b"1") == []
    assert bodies(two.frames()) == [b"1"]


@pytest.mark.parametrize("order", SWITCHES["queue_order"])
def test_every_queue_order_gives_each_message_once(order):
    server = Server(queue_order=order)
    clients = [Client(server) for _ in range(3)]
    for client in clients:
        client.subscribe(b"/queue/a")
    sender = Client(server)
    sender.send(b"/queue/a", *(str(n).encode() for n in range(30)))
    shares = [bodies(client.frames()) for client in clients]
    assert sorted(body for share in shares for body in share) == sorted(str(n).encode() for n in range(30))
    assert {"first": [30, 0, 0], "round-robin": [10, 10, 10], "idle-first": [10, 10, 10]}.get(order) in (
        None,
        [len(share) for share in shares],
    )


# Transactions


def tx(name):
    return b"transaction:" + name + b"\n"


def test_commit_makes_all_visible_and_abort_nothing():
    server = Server()
    client, reader = Client(server), Client(server)
    reader.subscribe(b"/queue/a")
    for name in (b"t", b"u"):
        client.ok(b"BEGIN\n" + tx(name) + b"%R\n\n\0")
    client.send(b"/queue/a", b"t1", extra=tx(b"t"))
    client.send(b"/queue/a", b"u1", extra=tx(b"u"))
    client.send(b"/queue/a", b"now")
    client.send(b"/queue/a", b"t2", extra=tx(b"t"))
    assert bodies(reader.frames()) == [b"now"]
    client.ok(b"COMMIT\n" + tx(b"t") + b"%R\n\n\0")
    assert bodies(reader.frames()) == [b"t1", b"t2"]
    client.ok(b"ABORT\n" + tx(b"u") + b"%R\n\n\0")
    client.ok(b"BEGIN\n" + tx(b"t") + b"%R\n\n\0")
    client.ok(b"COMMIT\n" + tx(b"t") + b"%R\n\n\0")
    assert reader.frames() == []


@pytest.mark.parametrize(
    "end", ["hang up", b"DISCONNECT\n\n\0", b"NONSENSE\n\n\0", b"no colon\n\n\0", b"ABORT\ntransaction:t\n\n\0"]
)
def test_every_end_but_commit_undoes_sends_and_acks(end):
    server = Server()
    client = Client(server)
    client.subscribe(b"/queue/a", mode=b"client-individual")
    one, two = client.send(b"/queue/a", b"1", b"2")
    client.ok(b"BEGIN\n" + tx(b"t") + b"%R\n\n\0")
    client.settle(one, extra=tx(b"t"))
    client.settle(two, b"NACK", extra=tx(b"t"))
    client.send(b"/queue/b", b"3", extra=tx(b"t"))
    if end == "hang up":
        client.session.hang_up()
    else:
        client.say(end)
    if end[:1] == b"A":
        client.settle(one)
        client.settle(one := two)
        client.session.hang_up()
        assert nothing_left(server)
    else:
        assert bodies(Client(server).subscribe(b"/queue/a")) == [b"1", b"2"]
    assert Client(server).subscribe(b"/queue/b") == []


def test_ack_in_a_transaction_counts_at_commit():
    server = Server()
    client = Client(server)
    client.subscribe(b"/queue/a", mode=b"client")
    one, two, _ = client.send(b"/queue/a", b"1", b"2", b"3")
    client.ok(b"BEGIN\n" + tx(b"t") + b"%R\n\n\0")
    client.settle(two, extra=tx(b"t"))
    client.settle(one)  # still outstanding, so it may be acknowledged
    client.ok(b"COMMIT\n" + tx(b"t") + b"%R\n\n\0")
    client.session.hang_up()
    assert bodies(Client(server).subscribe(b"/queue/a")) == [b"3"]


@pytest.mark.parametrize("at_abort", ["never", "given"])
def test_receipts_in_transactions_may_wait_for_the_end(at_abort):
    client = Client(Server(transaction_receipts="at-commit", abort_receipts=at_abort))
    for end, given in ((b"COMMIT", True), (b"ABORT", at_abort == "given")):
        client.say(b"BEGIN\n" + tx(b"t") + b"\n\0")
        assert client.say(b"SEND\ndestination:/topic/a\nreceipt:1\n" + tx(b"t") + b"\n\0") == []
        receipts = [frame["receipt-id"] for frame in client.say(end + b"\n" + tx(b"t") + b"receipt:2\n\n\0")]
        assert sorted(receipts) == (["1", "2"] if given else ["2"])


@pytest.mark.parametrize("order", SWITCHES["receipt_order"])
def test_receipt_stands_before_or_behind_what_the_frame_caused(order):
    client = Client(Server(receipt_order=order))
    client.subscribe(b"/topic/a", b"0")
    client.subscribe(b"/topic/a", b"1")
    places = set()
    for _ in range(40):
        frames = client.say(b"SEND\ndestination:/topic/a\nreceipt:1\n\n\0")
        places.add([frame.command for frame in frames].index("RECEIPT"))
        assert len(frames) == 3
    assert places == {"after": {2}, "before": {0}, "random": {0, 1, 2}}[order]


# Invalid input. The bytes stand behind a valid CONNECT of 1.2 and, where a number is given, answer the table of inputs.

S, R = b"SEND\ndestination:/queue/a\n", b"receipt:bad\n"
ERRORS = {
    "send without destination": b"SEND\n" + R + b"\nx\0",
    "send with empty destination": b"SEND\ndestination:\n" + R + b"\nx\0",
    "subscribe without destination": b"SUBSCRIBE\nid:5\n" + R + b"\n\0",
    "subscribe without id": b"SUBSCRIBE\ndestination:/queue/a\n" + R + b"\n\0",
    "subscribe with empty id": b"SUBSCRIBE\nid:\ndestination:/queue/a\n" + R + b"\n\0",
    "duplicate id": b"SUBSCRIBE\nid:0\ndestination:/queue/z\n" + R + b"\n\0",
    "ack mode": b"SUBSCRIBE\nid:5\nack:AUTO\ndestination:/queue/a\n" + R + b"\n\0",
    "empty ack mode": b"SUBSCRIBE\nid:5\nack:\ndestination:/queue/a\n" + R + b"\n\0",
    "unsubscribe without id": b"UNSUBSCRIBE\ndestination:/queue/w\n" + R + b"\n\0",
    "unsubscribe unknown id": b"UNSUBSCRIBE\nid:7\n" + R + b"\n\0",
    "ack without id": b"ACK\n" + R + b"\n\0",
    "ack unknown id": b"ACK\nid:nope\n" + R + b"\n\0",
    "ack as in 1.1": b"ACK\nmessage-id:1\nsubscription:0\n" + R + b"\n\0",
    "nack without id": b"NACK\n" + R + b"\n\0",
    "nack unknown id": b"NACK\nid:nope\n" + R + b"\n\0",
    "begin without id": b"BEGIN\n" + R + b"\n\0",
    "begin with empty id": b"BEGIN\ntransaction:\n" + R + b"\n\0",
    "begin of an open id": b"BEGIN\ntransaction:open\n" + R + b"\n\0",
    "commit without id": b"COMMIT\n" + R + b"\n\0",
    "commit unknown id": b"COMMIT\ntransaction:x\n" + R + b"\n\0",
    "abort without id": b"ABORT\n" + R + b"\n\0",
    "abort unknown id": b"ABORT\ntransaction:x\n" + R + b"\n\0",
    "send in unknown transaction": S + tx(b"x") + R + b"\nx\0",
    "send in transaction without name": S + tx(b"") + R + b"\nx\0",
    "ack in unknown transaction": b"ACK\nid:1\n" + tx(b"x") + R + b"\n\0",
    "undefined escape": S + R + b"a:\\t\n\nx\0",
    "undefined escape in a name": S + b"\\C:1\n" + R + b"\nx\0",
    "undefined escape before": b"SEND\na:\\:\ndestination:/queue/a\n" + R + b"\nx\0",
    "undefined escape in begin": b"BEGIN\ntransaction:\\0\n" + R + b"\n\0",
    "trailing backslash": S + R + b"a:\\\n\nx\0",
    "backslash at the end of a name": S + R + b"a\\:x\n\nx\0",
    "content-length too small": S + R + b"content-length:2\n\nxyz\0",
    "content-length zero": S + R + b"content-length:0\n\nxyz\0",
    **{
        f"content-length {value!r}": S + R + b"content-length:" + value + b"\n\nabcde\0"
        for value in (b"abc", b"", b"-1", b"1e1", b"0x5", b"5.0", b"+5", b" 5", b"005", "٥".encode(), b"5 ")
    },
    **{
        f"content-length {name}": S + R + b"content-length:" + value + b"\n\nabcde\0"
        for name, value in {
            "2^31": b"2147483648",
            "2^63": b"9223372036854775808",
            "2^64 + 5": b"18446744073709551621",
            "10^30": b"1" + b"0" * 30,
            "10^5000": b"1" + b"0" * 5000,
            "zeros": b"0" * 5000 + b"5",
        }.items()
    },
    "no colon": S + R + b"nocolon\n\nx\0",
    "no name": S + R + b":x\n\nx\0",
    "raw colon": S + R + b"a:b:c\n\nx\0",
    "bare cr": S + R + b"a:b\rc\n\nx\0",
    "two crs": S + R + b"a:b\r\r\n\nx\0",
    "nul in a header": S + R + b"a:b\0c\n\nx\0",
    "not utf-8": S + R + b"a:\xff\n\nx\0",
    "not utf-8 in a name": S + R + b"\xc0\xaf:1\n\nx\0",
    "unknown command": b"FOO\n" + R + b"\n\0",
    "lower case": b"send\ndestination:/queue/a\n" + R + b"\n\0",
    "blank behind the command": b"SEND \ndestination:/queue/a\n" + R + b"\n\0",
    "server command": b"RECEIPT\nreceipt-id:1\n" + R + b"\n\0",
    "no blank line": S + R + b"\0",
    "body on subscribe": b"SUBSCRIBE\nid:5\ndestination:/queue/a\n" + R + b"\nx\0",
    "body with length on begin": b"BEGIN\ntransaction:t\ncontent-length:1\n" + R + b"\nx\0",
    "body on disconnect": b"DISCONNECT\n" + R + b"\nx\0",
}
NO_RECEIPT = {
    "lone nul": b"\0",
    "three nuls": b"\0\0\0",
    "second connect": b"CONNECT\naccept-version:1.2\nhost:x\n" + R + b"\n\0",
    "second stomp": b"STOMP\naccept-version:1.2\nhost:x\n" + R + b"\n\0",
    "receipt is what is wrong": S + b"receipt:a\\t\n\nx\0",
    "cr before a command": b"\rSEND\ndestination:/queue/a\n\n\0",
}


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


# DISCONNECT, pieces, line ends


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


TEMPLATE = (
    b"CONNECT~accept-version:1.2~host:localhost~~\0~~SUBSCRIBE~id:a\\cb~destination:/queue/a~ack:client~"
    b"receipt:1~~\0~SEND~destination:/queue/a~x:\\\\n\\n\\c~content-length:6~receipt:2~~\n\0\r\n\0x\0~"
    b"BEGIN~transaction:t~~\0SEND~destination:/queue/a~transaction:t~~\nhello\n\0~~~~"
    b"COMMIT~transaction:t~receipt:3~~\0DISCONNECT~receipt:4~~\0"
)
CONVERSATION = TEMPLATE.replace(b"~", b"\n")


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


# Heart-beats


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


# Time


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


# Limits and hostile peers


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


# Switches


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


# TCP


@pytest.fixture
def port():
    process = subprocess.Popen(
        [sys.executable, "-m", "impls.stomp", "--port", "0", "--switch", "heart_beat=100,0"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    found = re.fullmatch(r"listening on 127\.0\.0\.1:(\d+)\n", process.stdout.readline())
    yield int(found[1])
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0


def until_end(sock):
    data = b""
    while piece := sock.recv(65536):
        data += piece
    return data


def test_tcp_conversation_ends_with_end_of_file(port):
    for cut in (len(CONVERSATION), 7):
        with socket.create_connection(("127.0.0.1", port), 5) as sock:
            for at in range(0, len(CONVERSATION), cut):
                sock.sendall(CONVERSATION[at : at + cut])
            frames = read(until_end(sock))
            assert frames[-1]["receipt-id"] == "4"


def test_tcp_error_is_read_before_the_end_and_others_go_on(port):
    with socket.create_connection(("127.0.0.1", port), 5) as other:
        for junk in (b"x" * 3_000_000, b"GET / HTTP/1.1\r\n\r\n", b"\0" * 1000, CONVERSATION[:40]):
            with socket.create_connection(("127.0.0.1", port), 5) as sock:
                sock.sendall(junk)
                sock.shutdown(socket.SHUT_WR)
                commands = [frame.command for frame in read(until_end(sock))]
                assert commands == ([] if junk in CONVERSATION else ["ERROR"])
        other.sendall(b"CONNECT\naccept-version:1.2\nhost:x\nheart-beat:0,100\n\n\0")
        start, data = time.monotonic(), b""
        while not data.endswith(b"\0\n\n\n"):
            data += other.recv(1000)
        assert 0.15 < time.monotonic() - start < 3


def test_tcp_reader_that_never_reads_is_not_read_either(port):
    with (
        socket.create_connection(("127.0.0.1", port), 5) as sock,
        socket.create_connection(("127.0.0.1", port), 5) as other,
    ):
        sock.sendall(b"CONNECT\naccept-version:1.2\nhost:x\n\n\0SUBSCRIBE\nid:0\ndestination:/queue/slow\n\n\0")
        sock.settimeout(0.5)
        endless = (b"SEND\ndestination:/queue/slow\n\n" + b"x" * 100_000 + b"\0") * 2000
        with pytest.raises(TimeoutError):
            sock.sendall(endless)
        other.sendall(CONVERSATION)
        assert read(until_end(other))[-1].command == "RECEIPT"
