"""Faults of the connection itself: what a server says is dropped, repeated, changed, late, or cut off on its way.

A `FaultyTransport` stands in front of any other ground, so these can be tried on every implementation. Frames are found
by the protocol's own decoder; their octets are passed on as they came, unless a fault changes them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from impls.driver.link import Link, Transport
from specs.codec import Decoder

Pick = Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Wire:
    """What a fault must know of the protocol: a decoder for one connection of the server, and how a frame is written
    on it. `chatter` is True for what stands between frames, such as heart-beats, which no fault is about."""

    decoder: Callable[[], Decoder]
    encode: Callable[[Any], bytes]
    chatter: Pick = lambda _: False


@dataclass(slots=True)
class Piece:
    """One frame on its way: its octets, and when it may arrive. `tail` is the chatter behind it; `last`: the connection
    ends behind it."""

    data: bytes
    frame: Any
    tail: bytes = b""
    due: float = 0.0
    last: bool = False


Change = Callable[[list[Piece], int, float], list[Piece]]
"""From the pieces that came together, which one is meant, and the time: the pieces that arrive instead."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Do something to the nth frame (from 0; None: to each) that `pick` chooses, counted over all connections."""

    change: Change
    pick: Pick = lambda _: True
    nth: int | None = 0
    endless: bool = False
    """The end of the connection is kept from the client."""


# -- what can be done to a frame ------------------------------------------------------------------------------------


def drop(pieces: list[Piece], at: int, now: float) -> list[Piece]:
    """It never arrives."""
    return pieces[:at] + pieces[at + 1 :]


def duplicate(pieces: list[Piece], at: int, now: float) -> list[Piece]:
    """It arrives twice."""
    return [*pieces[: at + 1], replace(pieces[at]), *pieces[at + 1 :]]


def swap(pieces: list[Piece], at: int, now: float) -> list[Piece]:
    """It changes places with the frame behind it, if that came together with it."""
    return pieces[:at] + pieces[at : at + 2][::-1] + pieces[at + 2 :]


def cut(pieces: list[Piece], at: int, now: float) -> list[Piece]:
    """Its last octet is lost."""
    return [*pieces[:at], replace(pieces[at], data=pieces[at].data[:-1]), *pieces[at + 1 :]]


def garble(pieces: list[Piece], at: int, now: float) -> list[Piece]:
    """Its first octet is lost."""
    return [*pieces[:at], replace(pieces[at], data=pieces[at].data[1:]), *pieces[at + 1 :]]


def close_behind(pieces: list[Piece], at: int, now: float) -> list[Piece]:
    """The connection ends behind it."""
    return [*pieces[:at], replace(pieces[at], last=True)]


def close_before(pieces: list[Piece], at: int, now: float) -> list[Piece]:
    """The connection ends in front of it."""
    return [*pieces[:at], replace(pieces[at], data=b"", last=True)]


def close_within(pieces: list[Piece], at: int, now: float) -> list[Piece]:
    """The connection ends in the middle of it."""
    return [*pieces[:at], replace(pieces[at], data=pieces[at].data[: len(pieces[at].data) // 2], last=True)]


def keep(pieces: list[Piece], at: int, now: float) -> list[Piece]:
    """Nothing happens to it."""
    return pieces


def delay(ms: float) -> Change:
    """It and all that comes behind it on its connection arrive so much later."""

    def change(pieces: list[Piece], at: int, now: float) -> list[Piece]:
        return [replace(piece, due=now + ms) if n >= at else piece for n, piece in enumerate(pieces)]

    return change


def alter(edit: Callable[[Any], Any], encode: Callable[[Any], bytes]) -> Change:
    """It arrives with something else in it."""

    def change(pieces: list[Piece], at: int, now: float) -> list[Piece]:
        return [*pieces[:at], replace(pieces[at], data=encode(edit(pieces[at].frame))), *pieces[at + 1 :]]

    return change


def rewrite(edit: Callable[[bytes], bytes]) -> Change:
    """It arrives with other octets."""

    def change(pieces: list[Piece], at: int, now: float) -> list[Piece]:
        return [*pieces[:at], replace(pieces[at], data=edit(pieces[at].data)), *pieces[at + 1 :]]

    return change


# -- the link in between ----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class FaultyLink:
    """A link on which a fault happens."""

    inner: Link
    transport: FaultyTransport
    decoder: Decoder
    held: bytearray = field(default_factory=bytearray)
    coming: list[Piece] = field(default_factory=list)
    ended: bool = False
    """The server has ended the connection."""
    over: bool = False
    """The fault has."""

    def send(self, data: bytes) -> bool:
        if self.over:
            return False
        return self.inner.send(data) or self.transport.fault.endless

    def take(self) -> bytes | None:
        if self.over:
            return None
        while not self.ended:
            data = self.inner.take()
            if data == b"":
                break
            self.ended = data is None
            if data:
                self.coming += self._changed(self._pieces(data))
        arrived = b""
        now = self.transport.now()
        while self.coming and self.coming[0].due <= now and not self.over:
            piece = self.coming.pop(0)
            arrived += piece.data + (b"" if piece.last else piece.tail)
            self.over = piece.last
        if self.over:
            self.inner.close()
        if arrived or not (self.over or (self.ended and not self.coming and not self.transport.fault.endless)):
            return arrived
        return None

    def close(self, how: str = "close") -> None:
        self.inner.close(how)

    def _pieces(self, data: bytes) -> list[Piece]:
        """Frames that are whole now, each with its octets: the decoder is fed octet by octet to find where they end."""
        pieces = []
        for octet in data:
            self.held.append(octet)
            for frame in self.decoder.feed(bytes((octet,))):
                if pieces and self.transport.wire.chatter(frame):
                    pieces[-1].tail += bytes(self.held)
                else:
                    pieces.append(Piece(bytes(self.held), frame))
                self.held.clear()
        if self.decoder.bad is not None and self.held:
            pieces.append(Piece(bytes(self.held), None))
            self.held.clear()
        return pieces

    def _changed(self, pieces: list[Piece]) -> list[Piece]:
        fault, wire, now = self.transport.fault, self.transport.wire, self.transport.now()
        if self.coming:
            for piece in pieces:
                piece.due = max(piece.due, self.coming[-1].due)
        for piece in [*pieces]:
            if piece.frame is None or wire.chatter(piece.frame) or not fault.pick(piece.frame):
                continue
            number, self.transport.seen = self.transport.seen, self.transport.seen + 1
            if fault.nth in (None, number):
                at = next((n for n, each in enumerate(pieces) if each is piece), None)
                if at is not None:
                    pieces = fault.change(pieces, at, now)
        return pieces


class FaultyTransport:
    """A ground whose links have a fault. Make a new one for each plan: it counts frames."""

    def __init__(self, transport: Transport, wire: Wire, fault: Fault) -> None:
        self.transport, self.wire, self.fault = transport, wire, fault
        self.seen = 0

    def open(self) -> Link:
        return FaultyLink(self.transport.open(), self, self.wire.decoder())

    def wait(self, links: Sequence[Link], ms: float) -> None:
        faulty = [link for link in links if isinstance(link, FaultyLink)]
        dues = [link.coming[0].due - self.now() for link in faulty if link.coming]
        self.transport.wait([link.inner for link in faulty if not link.ended], max(0.0, min([ms, *dues])) or ms)

    def now(self) -> float:
        return self.transport.now()
