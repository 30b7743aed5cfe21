"""The in-process reference server for MessagePack-RPC.

Octets in, octets out: no sockets, no threads, no clock. Time moves by `Server.advance` alone and chance comes from the
seed, so a conversation can be repeated exactly. It offers the methods of docs/implementations.md.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Self

from impls.references.msgpack.octets import Ext, Packer, Pairs, Single, Unpacker
from impls.references.msgpack.server import Failure, Reading, Session
from impls.references.msgpack.switches import SWITCHES, Switches, draw, from_text

__all__ = [
    "SWITCHES",
    "Ext",
    "Failure",
    "Packer",
    "Pairs",
    "Reading",
    "Server",
    "Session",
    "Single",
    "Switches",
    "Unpacker",
    "from_text",
]


class Server:
    """A MessagePack-RPC server. Keywords are the fields of `Switches`; SWITCHES lists the legal values of each."""

    session_type = Session

    def __init__(self, *, seed: int = 0, **switches: Any) -> None:
        self.switches = Switches(**switches)
        self.chance = random.Random(seed)
        self.now: float = 0
        self.counted = 0
        self._due: list[tuple[float, Session, int, Any, Any]] = []

    @classmethod
    def random(cls, seed: int, **fixed: Any) -> Self:
        """A server with every switch drawn by `seed`, but for those in `fixed`."""
        return cls(seed=seed, **{**draw(seed), **fixed})

    # The contract

    def open(self) -> Session:
        """Accept a new client."""
        return self.session_type(self)

    def advance(self, ms: float) -> None:
        """Let virtual milliseconds pass, and do what falls due on the way."""
        until = self.now + ms
        while (due := self.next_due()) <= until:
            self.now = max(self.now, due)
            self.settle()
        self.now = until

    def next_due(self) -> float:
        """When the next answer is due. Infinity when none is."""
        return min((due for due, *_ in self._due), default=float("inf"))

    # Answers

    def later(self, session: Session, number: int, error: Any, result: Any, ms: float) -> None:
        """Have a request answered after `ms` and whatever delay the switches add."""
        if self.switches.delay_ms:
            ms += self.chance.randint(0, self.switches.delay_ms)
        self._due.append((self.now + ms, session, number, error, result))

    def settle(self) -> None:
        """Give the answers that are due, in the order that the switches say."""
        while ready := [job for job in self._due if job[0] <= self.now]:
            job = self.choose(ready)
            self._due.remove(job)
            job[1].answer(*job[2:])

    def choose(self, ready: list[Any]) -> Any:
        """Which of several answers is given first."""
        order = self.switches.order
        return ready[0] if order == "first" else ready[-1] if order == "last" else self.chance.choice(ready)

    def any_form(self, heads: list[bytes]) -> bytes:
        """Any legal head."""
        return self.chance.choice(heads)

    # Methods

    def call(self, method: str, params: list[Any]) -> tuple[Any, float]:
        """The result of a method, and how many milliseconds it takes. Raises Failure."""
        known: dict[str, tuple[Callable[..., tuple[Any, float]], int]] = {
            "echo": (self.echo, 1), "add": (self.add, 2), "fail": (self.fail, 1), "sleep": (self.sleep, 1),
            "count": (self.count, 0), "bump": (self.bump, 0),
        }  # fmt: skip
        if method not in known:
            raise Failure(f"no method {method!r}")
        function, arity = known[method]
        if len(params) > arity and self.switches.arity == "ignore":
            params = params[:arity]
        if len(params) != arity:
            raise Failure(f"{method} takes {arity} arguments, not {len(params)}")
        return function(*params)

    def echo(self, value: Any) -> tuple[Any, float]:
        return value, 0

    def add(self, one: Any, other: Any) -> tuple[Any, float]:
        if type(one) not in (int, float, Single) or type(other) not in (int, float, Single):
            raise Failure("add takes numbers")
        total = one + other
        if isinstance(total, int) and not -(1 << 63) <= total < 1 << 64:
            raise Failure("the sum is out of range")
        return total, 0

    def fail(self, text: Any) -> tuple[Any, float]:
        raise Failure(str(text)[:100])

    def sleep(self, ms: Any) -> tuple[Any, float]:
        if type(ms) is not int or not 0 <= ms <= 60_000:
            raise Failure("sleep takes milliseconds")
        return ms, ms

    def count(self) -> tuple[Any, float]:
        return self.counted, 0

    def bump(self) -> tuple[Any, float]:
        self.counted += 1
        return None, 0
