"""A heartbeat is no answer, in whatever pieces it comes, and half an answer is no heartbeat."""

from __future__ import annotations

from itertools import cycle

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.driver.vigil import Vigil
from impls.references.stomp.reference import Server, Session
from strategies.stomp.writer import Writer
from tests.investigating import QUEUE, STOMP, blamed_on, config_for
from tests.mutants.kit import server_of

PATIENCE_MS, EVERY_MS = 200.0, 30.0


class Unreceipted(Session):
    """It answers no receipt."""

    def receipt(self, receipt: str) -> None:
        pass


def beating(pieces):
    """A server that says one of `pieces` after the other on each connection."""

    class Beating(Server):
        def open(self):
            session = super().open()
            take, next_piece, due = session.take, cycle(pieces), self.now + EVERY_MS

            def beats():
                nonlocal due
                said = take()
                while self.now >= due:
                    said += next(next_piece)
                    due += EVERY_MS
                return said

            session.take = beats
            return session

    return Beating


@pytest.mark.parametrize("pieces", [[b"\n"], [b"\r\n"], [b"\r", b"\n"], [b"\r\n\r", b"\n"]])
def test_the_silence_behind_a_heartbeat_goes_on(pieces):
    writer = Writer(config_for(), wire=0)
    writer.send(writer.connect(0), QUEUE, b"x", receipt=writer.receipt())
    make = server_of(Unreceipted, beating(pieces))
    played = drive(writer.plan(), Setting(STOMP, config_for(), "server", MemoryTransport(make), PATIENCE_MS), "b-")
    (blame,) = played.judgement.blamed
    assert blamed_on(blame.breach) == "RECEIPT-01"
    assert PATIENCE_MS <= played.stamps[-1] < 2 * PATIENCE_MS


class Link:
    """It hands out pieces."""

    def __init__(self, pieces):
        self.pieces = list(pieces)

    def take(self):
        return self.pieces.pop(0) if self.pieces else b""

    def close(self):
        pass


@pytest.mark.parametrize(
    ("pieces", "heard"),
    [
        ([], "nothing"),
        ([b"\r", b"\n"], "nothing"),
        ([b"\r", b"\nRECEIPT\nreceipt-id:r1\n\n\0"], "late"),
        ([b"RECEIPT\nrece"], "ended"),
        ([b"RECEIPT\nrece", b"ipt-id:r1\n\n\0"], "late"),
        ([None], "ended"),
    ],
)
def test_what_is_listened_to_for_longer(pieces, heard):
    """Of half a frame nobody knows what it becomes."""
    link, now = Link(pieces), iter(range(0, 10_000, 10))
    decoder = STOMP.decoder("server", config_for(), {"version": "1.2"})
    transport = type("Clock", (), {"now": lambda self: next(now), "wait": lambda self, links, ms: None})()
    assert Vigil(transport, [(link, decoder)], STOMP.beat).listen(100.0) == heard
