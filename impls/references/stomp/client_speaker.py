"""What the client says and waits for: its connection, its frames and their receipts."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping
from typing import Any

from impls.references.stomp.client_channel import Channel, Phase
from impls.references.stomp.client_orders import Failed, Orders, Waits
from impls.references.stomp.client_switches import ClientSwitches
from impls.references.stomp.client_wire import Header, Unsayable
from impls.references.stomp.parser import Frame

CONNECTED, MESSAGE, LEFT = "connected", "message", "left"
"""What an op can wait for, beside the receipt of a frame."""


class Speaker(Orders):
    """A client with a connection. `channels` are those that it opened, in order."""

    channel_type = Channel

    def __init__(self, *, seed: int = 0, **switches: Any) -> None:
        super().__init__()
        self.switches = ClientSwitches(**switches)
        self.chance = random.Random(seed)
        self.channels: list[Channel] = []
        self.unopened: list[tuple[Channel, str]] = []  # those that nobody has connected yet, with their addresses
        self._counts = {kind: itertools.count(1) for kind in ("sub", "tx", "receipt", "ref")}
        self.reset()

    def reset(self) -> None:
        """Nothing is open."""
        self.channel: Channel | None = None
        self.receipts: set[str] = set()
        self.leaving_with = ""  # the receipt of DISCONNECT

    def flush(self) -> None:
        """Send what was held back."""

    def message(self, channel: Channel, frame: Frame) -> None:
        """A message has come."""

    def expire(self, what: str) -> None:
        """The time of the op that waits for `what` is over."""
        if what == MESSAGE:
            self.settle(what, {"ok": None})
        elif what == LEFT and self.channel is not None:
            self.channel.end("disconnected")
        elif what == CONNECTED and self.channel is not None:
            self.channel.end("the server did not answer")
        else:
            super().expire(what)

    def live(self) -> Channel:
        """The connection. Raises Failed when there is none."""
        if self.channel is None:
            raise Failed("not connected")
        if self.channel.phase is not Phase.LIVE:
            raise Failed(self.channel.why or "not connected")
        return self.channel

    def do_connect(self, given: Mapping[str, Any]) -> Any:
        """Connect, and wait for CONNECTED."""
        self.hang_up()
        self.reset()
        versions = list(given.get("versions") or ["1.2"])
        beats = given.get("heart_beat") or (0, 0)
        channel = self.channel_type(self, versions, (int(beats[0]), int(beats[1])))
        self.channel = channel
        self.channels.append(channel)
        self.unopened.append((channel, str(given.get("address") or "")))
        try:
            channel.open_with(given.get("host") or "/", given.get("login"), given.get("passcode"))
        except Unsayable:
            channel.end("disconnected")
            raise
        raise Waits(CONNECTED, self.switches.operation_ms)

    def identity(self, kind: str, name: str, how: str) -> str:
        """An id for what the application calls `name`."""
        if how == "given":
            return name
        number = next(self._counts[kind])
        odd = self.channel is not None and self.channel.version != "1.0"
        return f"{kind}:{number}\\c\n " if how == "odd" and odd else str(number)

    # Frames and receipts

    def frame(self, command: str, headers: list[Header], given: Mapping[str, Any], body: bytes = b"") -> Any:
        """Send a frame, and wait for its receipt if there is one to wait for.

        Raises Failed, Unsayable or Waits. Receipts of what is in a transaction may not come before its end, so
        nobody waits for them.
        """
        receipt = self.send_frame(command, headers, given.get("receipt"), body)
        return self.done(None if given.get("transaction") is not None else receipt)

    def send_frame(
        self, command: str, headers: list[Header], asked: str | bool | None, body: bytes = b""
    ) -> str | None:
        """Send a frame; its receipt id, if it has one. Raises Failed or Unsayable."""
        channel = self.live()
        self.flush()
        said = self.with_receipt(headers, asked)
        try:
            channel.say(command, said, body)
        except Unsayable:
            self.receipts.discard(dict(said).get("receipt", ""))
            raise
        return dict(said).get("receipt")

    def with_receipt(self, headers: list[Header], asked: str | bool | None) -> list[Header]:
        """The headers, with one that asks for a receipt where that is wanted."""
        if not asked and self.switches.receipts != "every":
            return headers
        name = self.receipt_id(asked)
        self.receipts.add(name)
        return [*headers, ("receipt", name)]

    def receipt_id(self, asked: str | bool | None) -> str:
        """An id for a receipt."""
        if isinstance(asked, str) and self.switches.receipt_ids == "given" and asked not in self.receipts:
            return asked
        how = "odd" if self.switches.receipt_ids == "odd" else "number"
        found = self.identity("receipt", "", how)
        while found in self.receipts:
            found = self.identity("receipt", "", how)
        return found

    def done(self, receipt: str | None) -> bool:
        """An op whose frame has left. Raises Waits."""
        if receipt is not None and self.switches.waits:
            raise Waits(f"receipt {receipt}", self.switches.operation_ms)
        return True

    # Leaving

    def do_disconnect(self, given: Mapping[str, Any]) -> Any:
        """Leave; what is settled is told first."""
        channel = self.channel
        if channel is None or channel.phase in (Phase.GONE, Phase.REFUSED):
            self.hang_up()
            return True
        if channel.phase is Phase.LIVE:
            self.flush()
            self.leave(channel)
        how = self.switches.leaving
        if how != "wait" or channel.hung_up:
            channel.end("disconnected")
            return True
        raise Waits(LEFT, self.switches.operation_ms)

    def leave(self, channel: Channel) -> None:
        """Send DISCONNECT, as far as the client does."""
        how = self.switches.leaving
        if how == "plain":
            channel.say("DISCONNECT", [])
        elif how != "close":
            self.leaving_with = self.receipt_id(None)
            channel.say("DISCONNECT", [("receipt", self.leaving_with)])
        channel.phase = Phase.LEAVING

    def hang_up(self) -> None:
        """End the connection without a word."""
        if self.channel is not None:
            self.channel.end("disconnected")

    # What the connection tells

    def connected(self, channel: Channel) -> None:
        """The server has taken the client in."""
        self.settle(CONNECTED, {"ok": {"version": channel.version}})

    def receipt(self, channel: Channel, number: str) -> None:
        """A receipt has come."""
        if channel.phase is Phase.LEAVING:
            if number == self.leaving_with:
                channel.end("disconnected")
            return
        if number not in self.receipts:
            if self.switches.stray_receipt == "close":
                channel.end(f"nobody asked for the receipt {number!r}")
            return
        self.receipts.discard(number)
        self.settle(f"receipt {number}", {"ok": True})

    def over(self, channel: Channel) -> None:
        """A connection has ended, or will: whatever is waited for fails, but for that end itself."""
        if channel is not self.channel:
            return
        what = self.awaited
        self.settle(what, {"ok": True} if what == LEFT else {"error": channel.why})
