"""An ECHO server and an ECHO client without a network: own octets, own parser, nothing from the specification.

Both offer what `impls.driver.link.MemoryTransport` asks for: `open()` and `advance(ms)`; what they open has `send`,
`take`, `hang_up` and `closed`. The order and the moments of answers, which the text leaves open, come from a seed.
"""

from __future__ import annotations

import random
import string
from typing import Any

_NAME = set(string.ascii_lowercase + string.digits)


class Peer:
    """One end of a connection: octets to lines, and a list of things to do later."""

    words: tuple[str, ...] = ()

    def __init__(self, chance: random.Random) -> None:
        self.closed = False
        self.chance = chance
        self.later: list[tuple[float, str]] = []
        self._in = self._out = b""

    def send(self, data: bytes) -> None:
        self._in += data
        while not self.closed and (b"\n" in self._in or len(self._in) > 64):
            line, _, self._in = self._in.partition(b"\n")
            self.line(line)

    def take(self) -> bytes:
        data, self._out = self._out, b""
        return data

    def hang_up(self) -> None:
        self.closed = True

    def say(self, text: str) -> None:
        self._out += text.encode() + b"\n"

    def line(self, line: bytes) -> None:
        try:
            word, space, name = line.decode("ascii").partition(" ")
        except UnicodeDecodeError:
            return self.garbage()
        named = word in ("PUT", "DONE")
        good = named == bool(space) and (not named or (0 < len(name) <= 32 and _NAME.issuperset(name)))
        if word not in self.words or not good:
            return self.garbage()
        getattr(self, word.lower())(*([name] if named else []))
        return None

    def garbage(self) -> None:
        self.later = []
        self.closed = True

    def soon(self, name: str) -> None:
        self.later.append((self.chance.choice((0, 0, 1, 3, 9)), name))
        self.advance(0)

    def advance(self, ms: float) -> None:
        self.later = [(wait - ms, name) for wait, name in self.later]
        while not self.closed and (due := [item for item in self.later if item[0] <= 0]):
            item = self.chance.choice(due)
            self.later.remove(item)
            self.act(item[1])

    def act(self, name: str) -> None:
        """What was put off is due."""


class ServerEnd(Peer):
    """The server's end of one connection."""

    words = ("HELLO", "PUT", "BYE")

    def __init__(self, chance: random.Random) -> None:
        super().__init__(chance)
        self.leaving = False

    def hello(self) -> None:
        self.say("WELCOME")

    def put(self, name: str) -> None:
        self.soon(name)

    def act(self, name: str) -> None:
        self.say(f"DONE {name}")
        self.end()

    def bye(self) -> None:
        self.leaving = True
        self.end()

    def end(self) -> None:
        self.closed = self.closed or (self.leaving and not self.later)


class ClientEnd(Peer):
    """The client's end: its work is to PUT `names`."""

    words = ("WELCOME", "DONE")

    def __init__(self, chance: random.Random, puts: int) -> None:
        super().__init__(chance)
        self.names = [f"job{i}" for i in range(puts)]
        self.open: list[str] = []
        self.begin()

    def begin(self) -> None:
        self.say("HELLO")

    def welcome(self) -> None:
        for name in self.names:
            self.soon(name)
        self.end()

    def act(self, name: str) -> None:
        self.open.append(name)
        self.say(f"PUT {name}")

    def done(self, name: str) -> None:
        if name not in self.open:
            self.garbage()
            return
        self.open.remove(name)
        self.end()

    def end(self) -> None:
        if not self.open and not self.later:
            self.say("BYE")


class Host:
    """Makes ends of the given class, and hands time on to them."""

    def __init__(self, make: Any, seed: int = 0, *args: Any) -> None:
        self._make, self._args = make, args
        self._chance = random.Random(seed)
        self._ends: list[Any] = []

    def open(self) -> Any:
        self._ends.append(self._make(self._chance, *self._args))
        return self._ends[-1]

    def advance(self, ms: float) -> None:
        for end in self._ends:
            end.advance(ms)


def server(seed: int = 0) -> Host:
    """A correct server."""
    return Host(ServerEnd, seed)


def client(seed: int = 0, puts: int = 3) -> Host:
    """A correct client with work to do."""
    return Host(ClientEnd, seed, puts)
