"""The client's end of one connection: octets, phases, frames and heart-beats. What they are for is in `client`.

Source: STOMP 1.2, "Connecting", "Protocol Negotiation", "Heart-beating", "Server Frames" and "DISCONNECT".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING

from impls.references.stomp.client_wire import ClientWriter, Header, ServerReader
from impls.references.stomp.parser import Frame, Malformed

if TYPE_CHECKING:
    from impls.references.stomp.client_speaker import Speaker

Phase = Enum("Phase", ["WAITING", "LIVE", "LEAVING", "REFUSED", "GONE"])
"""WAITING: until CONNECTED. LIVE: after it. LEAVING: after DISCONNECT. REFUSED: after an ERROR, until the server has
hung up. GONE: the connection is over."""

SHARES = {"half": 0.5, "most": 0.8, "whole": 1.0}
GRAIN_MS = 0.001
"""Times that differ by less are the same."""
_HEART_BEAT = re.compile(r"([0-9]{1,19}),([0-9]{1,19})")

EXTRA_OF: Mapping[str, Sequence[Header]] = {
    "CONNECT": (("x-client", "a:1"), ("x-path", "c:\\new")),
    "STOMP": (("x-client", "a1"),),  # the text leaves open whether this one is escaped
}
EXTRA: Sequence[Header] = (("x-client", "a:1"), ("x-path", "c:\\new "), ("x-empty", ""))
"""Headers that a server has never heard of, some with what needs escaping."""


class Channel:
    """Octets in by `received`, out by `out`. `why` tells why the connection is over."""

    reader_type = ServerReader
    writer_type = ClientWriter

    def __init__(self, caller: Speaker, versions: Sequence[str], beats: tuple[int, int]) -> None:
        self.caller = caller
        self.switches = caller.switches
        self.offered = list(versions)
        self.wanted = beats
        self.phase = Phase.WAITING
        self.version = ""
        self.out = bytearray()
        self.why = ""
        self.reader = self.reader_type(caller.switches)
        self.writer = self.writer_type(caller.switches, caller.chance)
        self.writer.offer(self.offered)
        self.beat_out = self.beat_in = 0  # ms; 0 for none
        self.heard = self.said = caller.now

    @property
    def hung_up(self) -> bool:
        """True when the client has ended the connection, or has seen its end."""
        return self.phase is Phase.GONE

    # What the client says

    def say(self, command: str, headers: Sequence[Header], body: bytes = b"") -> None:
        """Send a frame. Raises Unsayable."""
        extra: Sequence[Header] = ()
        if self.switches.extra_headers:
            extra = EXTRA_OF.get(command, EXTRA)
        names = {name for name, _ in headers}
        more = [(name, value) for name, value in extra if name not in names]
        self.write(self.writer.encode(command, [*headers, *more], body))

    def write(self, data: bytes) -> None:
        """Send octets."""
        self.out += data
        self.said = self.caller.now

    def open_with(self, host: str, login: str | None, passcode: str | None) -> None:
        """Send CONNECT, or STOMP. Raises Unsayable."""
        headers: list[Header] = []
        old = self.offered == ["1.0"]
        if not (old and self.switches.plain_1_0):
            headers += [("accept-version", self.accept_version()), ("host", host)]
        headers += [("login", login)] if login is not None else []
        headers += [("passcode", passcode)] if passcode is not None else []
        if self.wanted != (0, 0) or self.switches.no_beats == "say":
            headers.append(("heart-beat", f"{self.wanted[0]},{self.wanted[1]}"))
        self.say("CONNECT" if old else self.switches.command, headers)

    def accept_version(self) -> str:
        """The versions on offer, as they are written."""
        return ",".join(self.offered)

    # What the server says

    def received(self, data: bytes) -> None:
        """Take octets of the server; b"" for the end of them."""
        if self.phase is Phase.GONE:
            return
        if not data:
            self.end(self.why or "the server closed the connection")
            return
        self.heard = self.caller.now
        if self.phase is Phase.REFUSED:
            return
        self.reader.feed(data)
        try:
            while self.phase not in (Phase.GONE, Phase.REFUSED) and (frame := self.reader.next()) is not None:
                self.on_frame(frame)
        except Malformed as malformed:
            self.on_malformed(malformed)

    def on_malformed(self, malformed: Malformed) -> None:
        """What the server says is not STOMP: nobody knows where the next frame begins."""
        self.end(str(malformed))

    def on_frame(self, frame: Frame) -> None:
        """One frame of the server."""
        if frame.command == "ERROR":
            self.on_error(frame)
        elif self.phase is Phase.WAITING:
            if frame.command == "CONNECTED":
                self.on_connected(frame)
            else:
                self.end(f"{frame.command} came before CONNECTED")
        elif frame.command == "MESSAGE":
            self.on_message(frame)
        elif frame.command == "RECEIPT":
            self.on_receipt(frame)
        else:
            self.on_unknown(frame)

    def on_connected(self, frame: Frame) -> None:
        """The server takes the client in."""
        version = frame.first.get("version", "1.0")
        if not self.takes(version):
            self.end(f"the server chose STOMP {version}, which was not on offer")
            return
        self.version = version
        self.reader.agree(version)
        self.writer.agree(version)
        if not self.agree_beats(frame.first.get("heart-beat", "0,0")):
            self.end("the server's heart-beat header cannot be read")
            return
        self.phase = Phase.LIVE
        self.start_beats()
        self.caller.connected(self)

    def takes(self, version: str) -> bool:
        """Whether the client goes on in this version."""
        return version in self.offered

    def on_message(self, frame: Frame) -> None:
        """A message."""
        if self.phase is Phase.LIVE:
            self.caller.message(self, frame)

    def on_receipt(self, frame: Frame) -> None:
        """Something was processed."""
        self.caller.receipt(self, frame.first.get("receipt-id", ""))

    def on_error(self, frame: Frame) -> None:
        """The server gives up on this connection."""
        text = frame.first.get("message") or frame.body[:200].decode(errors="replace")
        why = f"ERROR: {text}" if text else "ERROR"
        if self.switches.on_error == "close":
            self.end(why)
            return
        self.phase = Phase.REFUSED
        self.why = why
        self.caller.over(self)
        self.caller.later(self.switches.linger_ms, lambda: self.end(why))

    def on_unknown(self, frame: Frame) -> None:
        """A frame that a server does not send, or not now."""
        if self.switches.unknown_frame == "close":
            self.end(f"a server does not send {frame.command!r}")

    def end(self, why: str) -> None:
        """The connection is over."""
        if self.phase is not Phase.GONE:
            told = self.phase is Phase.REFUSED
            self.phase = Phase.GONE
            self.why = why
            if not told:
                self.caller.over(self)

    # Heart-beats

    def agree_beats(self, text: str) -> bool:
        """Take what the server offers; False when the connection cannot go on with it."""
        found = _HEART_BEAT.fullmatch(text)
        if found is None:
            return self.switches.odd_beats == "none"
        theirs, ours = int(found[1]), int(found[2])
        can, wants = self.wanted
        self.beat_out = max(can, ours) if can and ours else 0
        self.beat_in = max(wants, theirs) if wants and theirs else 0
        return True

    def start_beats(self) -> None:
        """Beat from now on, and listen for the server's beats."""
        if self.beat_out:
            self.caller.later(self.beat_after(), self.beat)
        if self.beat_in and self.switches.silent_server == "close":
            self.caller.later(2 * self.beat_in, self.listen)

    def beat_after(self) -> float:
        """After how many milliseconds of silence a heart-beat is sent."""
        return self.beat_out * SHARES[self.switches.beat]

    def beat(self) -> None:
        """Send a heart-beat if it is time for one."""
        if self.phase not in (Phase.LIVE, Phase.LEAVING):
            return
        if self.switches.beats == "always" or self.caller.now - self.said >= self.beat_after() - GRAIN_MS:
            self.write(self.writer.beat())
        self.caller.later(max(GRAIN_MS, self.said + self.beat_after() - self.caller.now), self.beat)

    def listen(self) -> None:
        """Give up on a server that has been silent for twice as long as it may be."""
        left = self.heard + 2 * self.beat_in - self.caller.now
        if left > 0:
            self.caller.later(left, self.listen)
        elif self.phase in (Phase.LIVE, Phase.LEAVING):
            self.end("the server is silent")
