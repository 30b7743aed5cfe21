"""The reference client as it is judged in memory: a conversation has the one connection that the client opens in it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Self

from impls.references.stomp.client import Caller, Channel
from impls.references.stomp.client_switches import draw


class Client:
    """The reference client in memory. Keywords are the fields of `ClientSwitches`."""

    caller_type = Caller

    def __init__(self, *, seed: int = 0, **switches: Any) -> None:
        self._made = {"seed": seed, **switches}
        self.callers: list[Caller] = []
        self.caller_type(**self._made)  # what is no switch is found here

    @classmethod
    def random(cls, seed: int, **fixed: Any) -> Self:
        """A client with every switch drawn by `seed`, but for those in `fixed`."""
        return cls(seed=seed, **{**draw(seed), **fixed})

    def open(self) -> Talk:
        """One conversation, with a client that has nothing open."""
        talk = Talk(self, self.caller_type(**self._made))
        self.callers.append(talk.caller)
        return talk

    def advance(self, ms: float) -> None:
        """Let virtual milliseconds pass."""
        for caller in self.callers:
            caller.advance(ms)


class Talk:
    """A conversation in memory. One connection is answered, and when that has ended and the client is told to connect
    once more, the next one: a client that connects by itself finds nobody."""

    def __init__(self, client: Client, caller: Caller) -> None:
        self.client = client
        self.caller = caller
        self.over = self._renewed = False
        self._nth = 0
        self._numbers = itertools.count(1)
        self._ops: dict[int, str] = {}

    @property
    def channel(self) -> Channel | None:
        """The connection, once the client has opened it."""
        return self.caller.channels[self._nth] if len(self.caller.channels) > self._nth else None

    @property
    def closed(self) -> bool:
        """True when the client has ended the connection, after what take() still gives."""
        channel = self.channel
        return self.over or (channel is not None and channel.hung_up and not channel.out)

    def send(self, data: bytes) -> None:
        """Octets of the server; b"" is none."""
        if self.channel is not None and data:
            self.channel.received(data)

    def take(self) -> bytes:
        """Octets of the client."""
        for later in self.caller.channels[self._nth + 1 :]:
            later.received(b"")
        channel = self.channel
        if channel is None:
            return b""
        size, how = len(channel.out), self.caller.switches.pieces
        if how != "whole" and size > 1:
            size = 1 + size // 4096 if how == "octets" else self.caller.chance.randint(1, size)
        data = bytes(channel.out[:size])
        del channel.out[:size]
        return data

    def do(self, name: str, value: Any) -> bool:
        """Tell the client something; `drop` ends the connection under it."""
        if name == "drop":
            return self.drop()
        if name == "connect" and self.channel is not None and self.channel.hung_up:
            self._nth, self._renewed = len(self.caller.channels), True
        given = {key: part for key, part in (value or {}).items() if not key.startswith("_")}
        number = next(self._numbers)
        self._ops[number] = name
        self.caller.told(number, name, given)
        return True

    def renewed(self) -> bool:
        """True once when a connection that was ended is followed by another."""
        found, self._renewed = self._renewed, False
        return found

    def drop(self) -> bool:
        """The server ends the connection; False when there is none."""
        channel = self.channel
        if channel is None or channel.hung_up:
            return False
        channel.out.clear()
        channel.received(b"")
        return True

    def facts(self) -> Sequence[tuple[str, Any]]:
        """What the client reports."""
        reports, self.caller.reports = self.caller.reports, []
        return [("answer", {"op": self._ops.pop(number, ""), **report}) for number, report in reports]

    def finish(self) -> bool:
        """Nothing to end."""
        return False

    def hang_up(self) -> None:
        """The conversation is over."""
        self.drop()
        self.over = True
        if self.caller in self.client.callers:
            self.client.callers.remove(self.caller)
