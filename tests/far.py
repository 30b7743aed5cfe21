"""Clients in memory that are far away: what they are told, what is said to them and what they say takes its time."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any


class _Way:
    """One direction, in which nothing overtakes anything."""

    def __init__(self, chance: random.Random, most_ms: float) -> None:
        self._chance, self._most = chance, most_ms
        self._last = 0.0
        self.under_way: list[tuple[float, Any]] = []

    def put(self, now: float, what: Any) -> None:
        """Something leaves."""
        self._last = max(self._last, now + self._chance.uniform(0, self._most))
        self.under_way.append((self._last, what))

    def come(self, now: float) -> list[Any]:
        """What arrives by now."""
        found = [what for due, what in self.under_way if due <= now]
        self.under_way = self.under_way[len(found) :]
        return found


class Far:
    """A client, as the driver knows it in memory, behind delays of up to `most_ms` on each of its four ways."""

    def __init__(self, client: Any, seed: int, most_ms: float = 30.0) -> None:
        self.client, self.now = client, 0.0
        self._chance, self._most = random.Random(seed), most_ms
        self._talks: list[FarTalk] = []

    def open(self) -> FarTalk:
        """One conversation."""
        self._talks = [talk for talk in self._talks if not talk.over]
        self._talks.append(FarTalk(self, self.client.open(), lambda: _Way(self._chance, self._most)))
        return self._talks[-1]

    def advance(self, ms: float) -> None:
        """Time passes, a little at a time."""
        while ms > 0:
            step = min(ms, 1.0)
            self.now, ms = self.now + step, ms - step
            self.client.advance(step)
            for talk in self._talks:
                talk.move()


class FarTalk:
    """One conversation with it."""

    def __init__(self, far: Far, talk: Any, way: Callable[[], _Way]) -> None:
        self._far, self._talk = far, talk
        self._way = way
        self._in, self._told, self._out, self._said = way(), way(), way(), way()
        self._renewed = self._awaited = False
        self._octets, self._facts = bytearray(), list[Any]()
        self.over = self._ended = False

    def send(self, data: bytes) -> None:
        """Octets of the server."""
        self._in.put(self._far.now, data)

    def do(self, name: str, value: Any) -> bool:
        """What the client is told; `drop` comes behind the octets."""
        if name == "connect" and self._ended:  # nothing of the connection before is under way any more
            self._in, self._out, self._ended = self._way(), self._way(), False
            self._octets.clear()
            self._renewed = self._awaited = True
        way = self._in if name == "drop" else self._told
        way.put(self._far.now, (name, value))
        return True

    def move(self) -> None:
        """What has arrived is taken, on both sides."""
        now = self._far.now
        for name, value in self._told.come(now):
            self._talk.do(name, value)
            self._awaited = self._awaited and name != "connect"
        for what in self._in.come(now):
            if isinstance(what, bytes):
                self._talk.send(what)
            else:
                self._talk.do(*what)
        for fact in self._talk.facts():
            self._said.put(now, fact)
        while data := self._talk.take():
            self._out.put(now, data)
        if self._talk.closed and not self._ended and not self._awaited:
            self._ended = True
            self._out.put(now, b"")
        for data in self._out.come(now):
            self._octets += data
        self._facts += self._said.come(now)

    def take(self) -> bytes:
        """Octets of the client that have arrived."""
        data = bytes(self._octets)
        self._octets.clear()
        return data

    @property
    def closed(self) -> bool:
        """True when its end has arrived behind them."""
        return self._ended and not self._out.under_way and not self._octets

    def facts(self) -> list[Any]:
        """What the client reports."""
        found, self._facts = self._facts, []
        return found

    def renewed(self) -> bool:
        """True once when a connection that was ended is followed by another."""
        found, self._renewed = self._renewed, False
        return found

    def finish(self) -> bool:
        """Nothing to end."""
        return False

    def hang_up(self) -> None:
        """The conversation is over."""
        self.over = True
        self._talk.hang_up()
