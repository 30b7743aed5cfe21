"""The reference STOMP server, conversation by conversation: messages, subscriptions, acknowledgement."""

import pytest

from impls.references.stomp.reference import SWITCHES, Server
from tests.stomp_talk import VERSIONS, Client, bodies, is_refused


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


@pytest.mark.parametrize(("mode", "expected"), [(b"auto", "x"), (b"client", "ack")])
def test_the_ack_of_a_sender_may_be_handed_on_where_there_is_none_of_the_servers(mode, expected):
    client = Client(Server(senders_ack=True, ack_id="same"))
    client.subscribe(b"/queue/a", mode=mode)
    (message,) = client.send(b"/queue/a", b"", extra=b"ack:x\n")
    assert message["ack"] == (message["message-id"] if expected == "ack" else expected)


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
