"""One connection to the server: octets, phases, heart-beats and time. What the frames do is in `session`.

Source: STOMP 1.2, "Connecting", "Protocol Negotiation", "Heart-beating", "Connection Lingering", "RECEIPT" and "ERROR".
"""

from __future__ import annotations

import math
import re
from collections import deque
from enum import Enum
from typing import TYPE_CHECKING

from impls.references.stomp.broker import Refused
from impls.references.stomp.parser import Frame, Malformed, OverLimit

if TYPE_CHECKING:
    from impls.references.stomp.reference import Server

Phase = Enum("Phase", ["OPEN", "LIVE", "LEAVING", "GONE"])
"""OPEN: before CONNECTED. LIVE: after it. LEAVING: after DISCONNECT. GONE: the server has closed."""

_CLIENT = frozenset(
    {"CONNECT", "STOMP", "SEND", "SUBSCRIBE", "UNSUBSCRIBE", "ACK", "NACK", "BEGIN", "COMMIT", "ABORT", "DISCONNECT"}
)
COMMANDS = {"1.0": _CLIENT - {"NACK"}, "1.1": _CLIENT, "1.2": _CLIENT}

EXTRA_BEAT = 0.2
"""How likely a heart-beat that nobody waits for is, with `extra_beats`."""

SERVER_NAME = "wireproof-reference/1 (in-process)"

_HEART_BEAT = re.compile(r"([0-9]{1,19}),([0-9]{1,19})")


class Connection:
    """The outside of a session: takes octets, gives octets, knows in which phase it is and what time it is."""

    def __init__(self, server: Server, number: int) -> None:
        self.server = server
        self.number = number
        self.switches = server.switches
        self.chance = server.chance
        self.phase = Phase.OPEN
        self.version = "1.2"
        self.commands: frozenset[str] = frozenset()
        self.parser = server.parser_type(server.switches)
        self.writer = server.writer_type(server.switches, server.chance)
        self.beat_out = self.beat_in = 0  # ms, 0 for none
        self.heard = self.said = server.now
        self.hung = False
        self.busy_until: float = 0
        self.leaves_at: float = math.inf
        self._fresh: list[bytes] = []  # frames that were sent just now
        self._late: deque[tuple[float, bytes]] = deque()  # frames that were sent and are due later
        self._mark = 0  # how many of the fresh ones were there before the frame at hand

    # The contract

    def send(self, data: bytes) -> None:
        """Take octets from the client, in any pieces."""
        if self.listening and not self.hung and data:
            self.heard = self.server.now
            self.parser.feed(data)
            self.work()

    def take(self) -> bytes:
        """Give all octets for the client since the last call."""
        if self.switches.output_delay_ms:
            self._stamp()
            due = []
            while self._late and self._late[0][0] <= self.server.now:
                due.append(self._late.popleft()[1])
            return b"".join(due)
        if not self._fresh:
            return b""
        data = b"".join(self._fresh)
        self._fresh.clear()
        return data

    def hang_up(self) -> None:
        """The client ended the connection. What it sent before is still processed; half a frame is not."""
        self.hung = True
        if self.listening:
            self.work()
        else:
            self.end()

    @property
    def closed(self) -> bool:
        """True when the server has ended the connection, after what take() still gives."""
        return self.phase is Phase.GONE and (not self._late or self._late[-1][0] <= self.server.now)

    @property
    def backlogged(self) -> bool:
        """True when so much waits to be processed that the client should not be read from. Only delays bring that."""
        return self.busy and self.parser.held > self.switches.max_body

    @property
    def listening(self) -> bool:
        """True while frames of the client have an effect."""
        return self.phase is Phase.LIVE or self.phase is Phase.OPEN

    # Octets in

    def work(self) -> None:
        """Process the frames that are complete, as far as time allows."""
        delay = self.switches.work_delay_ms
        while self.listening:
            if self.busy:
                return
            try:
                frame = self.parser.next()
            except Malformed as malformed:
                self.on_malformed(malformed)
                return
            if frame is None:
                self.on_drained()
                return
            self.handle(frame)
            if delay:
                self.busy_until = self.server.now + self.chance.randint(0, delay)

    @property
    def busy(self) -> bool:
        """True while the last frame takes its time."""
        return self.busy_until > self.server.now

    def on_drained(self) -> None:
        """All complete frames are processed."""
        if self.phase is Phase.OPEN and self.parser.command not in (None, "CONNECT", "STOMP"):
            # No need to wait for the end of whatever this is: an HTTP request, for one, has none that we would see.
            self.fail("the first frame must be CONNECT")
        elif self.hung:
            self.on_lost_connection()
            self.end()

    def handle(self, frame: Frame) -> None:
        """Process one frame: its effect, then its receipt."""
        self._mark = len(self._fresh)
        try:
            if self.phase is Phase.OPEN:
                self.on_first(frame)
                return
            if frame.command not in self.commands:
                self.on_unknown(frame)
                return
            self.check_body(frame)
            getattr(self, "on_" + frame.command)(frame)
        except Refused as refused:
            self.fail(str(refused), frame, *refused.headers)
            return
        if "receipt" in frame.first and self.listening:
            self.on_receipt(frame)
        if frame.command == "DISCONNECT":
            self.leave()

    def check_body(self, frame: Frame) -> None:
        """Raise Refused for a body where none may be (STOMP 1.2, Body)."""
        if frame.body and frame.command != "SEND":
            raise Refused("only SEND may have a body")

    def required(self, frame: Frame, name: str) -> str:
        """The value of a header that must be there and not be empty. Raises Refused."""
        value = frame.first.get(name)
        if value == "" and name in ("id", "transaction") and self.switches.empty_names == "accept":
            return value
        if not value:
            raise Refused(f"{name} is missing" if value is None else f"{name} is empty")
        return value

    def on_unknown(self, _frame: Frame) -> None:
        """A command that clients do not have (STOMP 1.2, Client Frames). Ignored, it gets no receipt either."""
        if self.switches.unknown_command == "error":
            raise Refused("no such command")

    def on_malformed(self, malformed: Malformed) -> None:
        """The stream is broken or too large."""
        if self.switches.silent_close or (isinstance(malformed, OverLimit) and self.switches.over_limit == "close"):
            self.on_lost_connection()
            self.end()
        else:
            self.fail(str(malformed), malformed.frame)

    # Connecting

    def on_first(self, frame: Frame) -> None:
        """CONNECT or STOMP, and nothing else, starts a session (STOMP 1.2, Connecting)."""
        if frame.command not in ("CONNECT", "STOMP"):
            raise Refused("the first frame must be CONNECT")
        self.check_body(frame)
        version = self.negotiate(frame)
        self.admit(frame, version)
        self.version = self.parser.version = version
        self.commands = COMMANDS[version]
        self.on_connected(frame)

    def negotiate(self, frame: Frame) -> str:
        """The highest version that both sides know (STOMP 1.2, Protocol Negotiation). Raises Refused."""
        ours = self.switches.versions.split(",")
        common = [version for version in self.offered(frame) if version in ours]
        if not common:
            raise Refused("no version in common", ("version", self.switches.versions))
        return max(common)  # the three that exist are in the order of their texts

    def offered(self, frame: Frame) -> list[str]:
        """The versions a client speaks. One that does not say speaks 1.0."""
        return frame.first.get("accept-version", "1.0").split(",")

    def admit(self, frame: Frame, version: str) -> None:
        """Raise Refused when the client may not enter."""
        switches = self.switches
        if self.server.full:
            raise Refused("too many connections")
        host = frame.first.get("host")
        if host is None:
            if version != "1.0" and switches.missing_host == "refuse":
                raise Refused("a host header is required")
        elif switches.unknown_host == "refuse" and host not in switches.hosts.split(","):
            raise Refused("no such host")
        if switches.login:
            given = frame.first.get("login"), frame.first.get("passcode", "")
            if given != (switches.login, switches.passcode):
                raise Refused("login and passcode do not fit")

    def on_connected(self, frame: Frame) -> None:
        """Answer CONNECTED."""
        minimal = self.switches.connected_headers == "minimal"
        headers = []
        if self.version != "1.0" or "accept-version" in frame.first or self.switches.version_in_1_0:
            headers.append(("version", self.version))
        if self.version == "1.0" or not minimal:
            headers.append(("session", self.server.session_id(self)))
        if not minimal:
            headers.append(("server", SERVER_NAME))
        if self.version != "1.0":
            self.agree_on_beats(frame)
            if not minimal or self.switches.heart_beat != "0,0":
                headers.append(("heart-beat", self.switches.heart_beat))
        self.writer.agree(self.version)
        self.emit("CONNECTED", headers)
        self.phase = Phase.LIVE

    # Heart-beats

    def agree_on_beats(self, frame: Frame) -> None:
        """Settle both intervals (STOMP 1.2, Heart-beating). Raises Refused."""
        found = _HEART_BEAT.fullmatch(frame.first.get("heart-beat", "0,0"))
        if found is None:
            raise Refused("heart-beat is not two numbers")
        can, wants = map(int, self.switches.heart_beat.split(","))
        self.beat_out = self.beat_interval(can, int(found[2]))
        self.beat_in = self.beat_interval(wants, int(found[1]))

    def beat_interval(self, one: int, other: int) -> int:
        """The interval of one direction, from what its two sides said."""
        return max(one, other) if one and other else 0

    def beat_due(self) -> float:
        """When the next heart-beat is sent: a quarter of the interval early, so that it is never late."""
        return self.said + max(1, self.beat_out * 3 // 4) if self.beat_out else math.inf

    def overdue_at(self) -> float:
        """When a silent client is given up. The text asks for a margin; this one is a whole interval."""
        if not self.beat_in or self.switches.overdue_client == "ignore":
            return math.inf
        return self.heard + 2 * self.beat_in + 1

    def beat(self) -> None:
        """Send a heart-beat."""
        self._fresh.append(self.writer.eol())

    def on_overdue(self) -> None:
        """The client has been silent for too long."""
        if self.switches.overdue_client == "error":
            self.fail("no heart-beat came")
        else:
            self.on_lost_connection()
            self.end()

    # Time

    def due(self) -> float:
        """When `tick` has something to do."""
        if self.phase is Phase.LEAVING:
            return self.leaves_at
        work = self.busy_until if self.listening and self.busy else math.inf
        if self.phase is Phase.LIVE:
            return min(work, self.beat_due(), self.overdue_at())
        return work

    def tick(self) -> None:
        """Do what is due by now."""
        now = self.server.now
        if self.phase is Phase.LEAVING:
            if self.leaves_at <= now:
                self.end()
            return
        if self.busy_until == now:
            self.work()
        if self.phase is Phase.LIVE and self.overdue_at() <= now:
            self.heard = now
            self.on_overdue()
        if self.phase is Phase.LIVE and self.beat_due() <= now:
            self.said = now
            self.beat()

    # The end

    def on_lost_connection(self) -> None:
        """Give up all that the client had open."""
        raise NotImplementedError

    def leave(self) -> None:
        """DISCONNECT is done with: close, or let the client do it."""
        if self.switches.disconnect == "server-closes" or self.hung:
            self.end()
        else:
            self.phase = Phase.LEAVING
            self.leaves_at = self.server.now + self.switches.linger_ms

    def end(self) -> None:
        """Close the connection."""
        self.phase = Phase.GONE
        self.server.sessions.pop(self.number, None)
        self.parser = self.server.parser_type(self.switches)
        if self.switches.output_delay_ms:
            self._stamp()

    # Frames out

    def on_receipt(self, frame: Frame) -> None:
        """A frame that asked for a receipt was processed (STOMP 1.2, RECEIPT)."""
        self.receipt(frame.first["receipt"])

    def receipt(self, receipt: str) -> None:
        """Send a RECEIPT, before or behind what the frame has caused on this connection."""
        if not self.listening:
            return
        order = self.switches.receipt_order
        self.emit("RECEIPT", [("receipt-id", receipt)])
        if order != "after" and self._mark < len(self._fresh) - 1:
            place = self._mark if order == "before" else self.chance.randint(self._mark, len(self._fresh) - 1)
            self._fresh.insert(place, self._fresh.pop())

    def fail(self, why: str, frame: Frame | None = None, *headers: tuple[str, str]) -> None:
        """Send an ERROR about a frame, and close (STOMP 1.2, ERROR). Nothing follows."""
        self.on_lost_connection()
        known = frame is not None and frame.command in self.commands
        told = [("message", f"{frame.command}: {why}" if frame and known else why), *headers]
        if frame and "receipt" in frame.first and frame.command not in ("CONNECT", "STOMP"):
            told.append(("receipt-id", frame.first["receipt"]))
        body = b""
        if self.switches.error_body:
            told.append(("content-type", "text/plain"))
            body = f"The connection is closed, because {why}.\n".encode()
        self.emit("ERROR", told, body)
        self.end()

    def emit(self, command: str, headers: list[tuple[str, str]], body: bytes = b"") -> None:
        """Send a frame."""
        switches = self.switches
        if switches.extra_headers:
            headers = [*headers, *self.server.extra_headers(command)]
        if switches.extra_beats and self.phase is Phase.LIVE and self.chance.random() < EXTRA_BEAT:
            self._fresh.append(self.writer.eol())
        self._fresh.append(self.writer.encode(command, headers, body))
        self.said = self.server.now

    def _stamp(self) -> None:
        """Say when each frame that was sent becomes due: soon, but not before the one ahead of it."""
        last: float = self._late[-1][0] if self._late else 0
        for data in self._fresh:
            last = max(last, self.server.now + self.chance.randint(0, self.switches.output_delay_ms))
            self._late.append((last, data))
        self._fresh.clear()

    def stamp(self) -> None:
        """Called before time passes."""
        if self.switches.output_delay_ms and self._fresh:
            self._stamp()

    def output_due(self) -> float:
        """When take() has more to give."""
        return self._late[0][0] if self._late else math.inf
