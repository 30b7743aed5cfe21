"""The reference STOMP server: transactions and receipts."""

import pytest

from impls.references.stomp.reference import SWITCHES, Server
from tests.stomp_talk import Client, bodies, nothing_left, tx


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
