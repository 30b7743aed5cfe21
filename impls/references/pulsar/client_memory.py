"""The reference client as it is judged in memory: conversations that the tester opens, each with its connections."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import Any, Self

from impls.references.pulsar.channel import Channel
from impls.references.pulsar.client import CLIENT_SWITCHES, Caller


class Client:
    """The reference client in memory. Keywords are the fields of `ClientSwitches`.

    The first connection that is opened begins a conversation; more of them are its further connections, in the order
    in which the client wants them, until the first one is hung up.
    """

    caller_type = Caller
    profile = "modern"
    ADDRESS, ELSEWHERE = "127.0.0.1:6650", "127.0.0.1:6651"

    def __init__(self, *, seed: int = 0, **switches: Any) -> None:
        self._made = {"seed": seed, "profile": self.profile, **switches}
        self.talks: list[Talk] = []

    @classmethod
    def random(cls, seed: int, **fixed: Any) -> Self:
        """A client with every switch drawn by `seed`, but for those in `fixed`."""
        chance = random.Random(seed)
        drawn = {name: chance.choice(values) for name, values in CLIENT_SWITCHES.items()}
        return cls(seed=seed, **{**drawn, **fixed})

    def open(self) -> Talk:
        """A conversation, or the next connection of the one that goes on."""
        if not self.talks or self.talks[0].over:
            self.talks = []
        caller = self.talks[0].caller if self.talks else self.caller_type(**self._made)
        talk = self.talk(caller, len(self.talks))
        self.talks.append(talk)
        caller.watched = len(self.talks)
        return talk

    def talk(self, caller: Caller, place: int) -> Talk:
        """The connection at this place of a conversation."""
        return Talk(caller, place)

    def advance(self, ms: float) -> None:
        """Let virtual milliseconds pass."""
        if self.talks and not self.talks[0].over:
            self.talks[0].caller.advance(ms)


class Talk:
    """One connection of a conversation in memory; the first one also tells the client what to do."""

    def __init__(self, caller: Caller, place: int) -> None:
        self.caller = caller
        self.place = place
        self.over = False
        self._numbers = itertools.count()
        self._ops: dict[int, str] = {}
        self._named = False
        self._shown = 0

    @property
    def channel(self) -> Channel | None:
        """The connection, once the client has opened it."""
        channels = self.caller.channels
        return channels[self.place] if self.place < len(channels) else None

    @property
    def closed(self) -> bool:
        """True when the client has ended the connection, after what take() still gives."""
        channel = self.channel
        return self.over or (channel is not None and channel.hung_up and not channel.out)

    def send(self, data: bytes) -> None:
        """Octets of the broker."""
        if self.channel is not None:
            self.channel.received(data)

    def take(self) -> bytes:
        """Octets of the client."""
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
        """Tell the client something; `drop` ends this connection under it."""
        if name == "drop":
            if self.channel is None or self.channel.hung_up:
                return False
            self.channel.out.clear()
            self.channel.received(b"")
            return True
        given = {key: part for key, part in (value or {}).items() if not key.startswith("_")}
        number = next(self._numbers)
        self._ops[number] = name
        if name == "connect":
            given.setdefault("url", f"pulsar://{Client.ADDRESS}")
        self.caller.told(number, name, given)
        return True

    def facts(self) -> Sequence[tuple[str, Any]]:
        """What the client reports: on the first connection, where it was told."""
        channel = self.channel
        if self.place:
            if self._named or channel is None:
                return []
            self._named = True
            return [("through", Client.ELSEWHERE)] if channel.url.endswith(Client.ELSEWHERE) else []
        found: list[tuple[str, Any]] = (
            [] if self._named else [("address", Client.ADDRESS), ("elsewhere", Client.ELSEWHERE)]
        )
        self._named = True
        if len(self.caller.channels) > max(self.caller.watched, self._shown):
            self._shown = len(self.caller.channels)
            found.append(("accepted", self._shown))
        found += [("answer", {"op": self._ops.pop(number, ""), **report}) for number, report in self.caller.reports]
        self.caller.reports.clear()
        return found

    def finish(self) -> bool:
        """Nothing to end."""
        return False

    def hang_up(self) -> None:
        """The broker ends this connection; with the first one the conversation is over."""
        if self.channel is not None:
            self.channel.received(b"")
        if not self.place:
            self.over = True
            self.caller.hang_up()


class SeedClient(Client):
    """A client of the seed's time: protocol version 6 or 7."""

    profile = "seed"
