"""One connection to the broker, up to the commands: frames, the handshake, versions, signs of life, the end.

Source: 001_c0ea8805bb7ed422.txt, "Framing", "Connection establishment", "Keep Alive".
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from impls.references.pulsar.framing import Frame, loaded, simple
from impls.references.pulsar.schema import ENUMS, SINCE
from impls.references.pulsar.topic import NOWHERE
from impls.references.pulsar.wire import Malformed, Message, encode_command, varint

if TYPE_CHECKING:
    from impls.references.pulsar.reference import Broker

ERRORS = ENUMS["ServerError"]
SERVER_VERSION = "wireproof-reference-1"
MAX_FIELD_FOR_OLD = 15
"""The highest error code that brokers of the seed's time know."""
TO_BROKER = frozenset(
    {"CONNECT", "SUBSCRIBE", "PRODUCER", "SEND", "ACK", "FLOW", "UNSUBSCRIBE", "CLOSE_PRODUCER", "CLOSE_CONSUMER"}
    | {"PING", "PONG", "REDELIVER_UNACKNOWLEDGED_MESSAGES", "PARTITIONED_METADATA", "LOOKUP", "CONSUMER_STATS", "SEEK"}
    | {"GET_LAST_MESSAGE_ID", "GET_TOPICS_OF_NAMESPACE", "GET_SCHEMA", "AUTH_RESPONSE", "GET_OR_CREATE_SCHEMA"}
)
"""What a client may say. Everything else is for brokers."""
UNKNOWN_FIELDS = varint(1000 << 3) + varint(7) + varint(536 << 3 | 2) + varint(3) + b"new"
"""Fields that no client has ever heard of."""


class Phase(enum.Enum):
    """How far a connection is."""

    START = "nothing was said"
    CONNECTING = "credentials are being checked"
    LIVE = "connected"
    GONE = "closed"


class Refused(Exception):
    """A request cannot be done: ERROR with this code and text."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(why)
        self.code = code


class Close(Exception):
    """The connection ends here, without a word."""


class Connection:
    """Takes octets, gives octets, knows in which phase it is and when it heard of the client last."""

    def __init__(self, broker: Broker, number: int) -> None:
        self.broker = broker
        self.number = number
        self.switches = broker.switches
        self.chance = broker.chance
        self.phase = Phase.START
        self.reader = broker.reader_type(self.switches.max_frame)
        self.version = 0
        self.steps = 0
        self.proof = False
        self.heard = broker.now
        self.probed: float | None = None  # since when a PING is not answered
        self.next_tick = broker.now + self.switches.keepalive_ms
        self.busy_until: float = 0
        self.hung = self.stalled = False
        self.asked: list[Callable[[bool], None]] = []
        self._fresh = bytearray()
        self._late: deque[tuple[float, bytes]] = deque()

    # The contract

    def send(self, data: bytes) -> None:
        """Take octets from the client, in any pieces."""
        if self.phase is not Phase.GONE and data:
            self.reader.feed(data)
            self.work()

    def take(self) -> bytes:
        """Give octets for the client: all that are due, or with `pieces` some of them."""
        now = self.broker.now
        while self._late and self._late[0][0] <= now:
            self._fresh += self._late.popleft()[1]
        size = len(self._fresh)
        if self.switches.pieces != "whole" and size > 1:
            # Pieces of a large frame are large: octet by octet, 5 MiB would take for ever.
            size = 1 + size // 4096 if self.switches.pieces == "octets" else self.chance.randint(1, size)
        data = bytes(self._fresh[:size])
        del self._fresh[:size]
        if self.stalled and self.takes_more:
            self.stalled = False
            self.broker.wake_all()
        return data

    def hang_up(self) -> None:
        """The client ended the connection. What it sent before is still processed; half a frame is not."""
        if not self.hung:
            self.hung = True
            self.busy_until = 0
            self.work()
            self.end()

    @property
    def closed(self) -> bool:
        """True when the broker has ended the connection, after what take() still gives."""
        return self.phase is Phase.GONE and not self._fresh and not self._late

    @property
    def backlogged(self) -> bool:
        """True when so much waits to be processed that the client should not be read from. Only delays bring that."""
        return self.busy and self.reader.held > self.switches.max_frame

    @property
    def waiting(self) -> int:
        """Octets that take() has not given yet."""
        return len(self._fresh) + sum(len(data) for _, data in self._late)

    @property
    def takes_more(self) -> bool:
        """False while the client leaves too much unread; then nothing is pushed until it has read."""
        if self.waiting < self.switches.max_out:
            return True
        self.stalled = True
        return False

    @property
    def busy(self) -> bool:
        """True while the last frame takes its time."""
        return self.busy_until > self.broker.now

    # Octets in

    def work(self) -> None:
        """Process the frames that are complete, as far as time allows."""
        while self.phase is not Phase.GONE and (self.hung or not self.busy):
            try:
                frame = self.reader.next()
                if frame is None:
                    return
                self.on_sign_of_life()
                self.handle(frame)
            except (Malformed, Close):
                self.end()
                return
            if self.switches.work_delay_ms:
                self.busy_until = self.broker.now + self.chance.randint(0, self.switches.work_delay_ms)

    def handle(self, frame: Frame) -> None:
        """Process one frame. Raises Malformed and Close."""
        command = frame.command
        body = command.body
        if command.name and command.name not in TO_BROKER:
            raise Close
        if command.others and self.switches.two_commands == "close":
            raise Close
        if frame.rest and command.name != "SEND" and self.switches.trailing == "close":
            raise Close
        if self.phase is not Phase.LIVE:
            if body is None:
                raise Close
            self.on_early(command.name, body)
        elif not command.name or SINCE.get(command.name, 0) > self.broker.version:
            self.on_unknown()
        elif body is None:
            raise Close
        else:
            self.serve(command.name, body, frame.rest)

    def serve(self, name: str, body: Message, rest: bytes) -> None:
        """Process one command of a live session. Raises Malformed and Close."""
        if name == "SEND":
            self.on_send(body, rest)
            return
        if name != "ACK" and not self.can_hear(f"{name}_RESPONSE"):
            self.error(body["request_id"], Refused("UnsupportedVersionError", "the answer is newer than its client"))
            return
        handler: Callable[[Message], None] = getattr(self, f"on_{name.lower()}")
        handler(body)

    def on_send(self, body: Message, rest: bytes) -> None:
        """See `Session`."""
        raise NotImplementedError

    def on_unknown(self) -> None:
        """A command that this broker does not know."""
        if self.switches.unknown_command == "close":
            raise Close

    # Connecting

    def on_early(self, name: str, body: Message) -> None:
        """CONNECT, or an answer to a challenge, and nothing else, starts a session."""
        if self.phase is Phase.START and name == "CONNECT":
            self.version = body.get("protocol_version", 0)
            self.proof = self.credentials_good(body.get("auth_method_name", ""), body.get("auth_data", b""))
            self.admit()
        elif self.phase is Phase.CONNECTING and name == "AUTH_RESPONSE":
            given = body.get("response", {})
            self.proof = self.credentials_good(given.get("auth_method_name", ""), given.get("auth_data", b""))
            self.admit()
        elif self.switches.recommended or self.phase is not Phase.START:
            raise Close

    def credentials_good(self, method: str, data: bytes) -> bool:
        """True when the client may enter."""
        known, _, good = self.switches.auth.partition(":")
        if method == known or self.switches.auth_required:
            return method == known and data == good.encode()
        return True

    def admit(self) -> None:
        """Let the client in, refuse it, or ask once more."""
        if not self.proof:
            self.refuse()
        elif self.steps < self.switches.auth_steps and self.can_challenge:
            self.challenge()
        else:
            self.connected()

    @property
    def can_challenge(self) -> bool:
        """True when both sides know how to ask and answer more than once."""
        return min(self.version, self.broker.version) >= SINCE["AUTH_CHALLENGE"]

    def challenge(self) -> None:
        """Ask for credentials once more."""
        self.steps += 1
        self.phase = Phase.CONNECTING
        method = self.switches.auth.partition(":")[0]
        body = {
            "server_version": SERVER_VERSION,
            "challenge": {"auth_method_name": method, "auth_data": b"again"},
            "protocol_version": self.broker.version,
        }
        self.say("AUTH_CHALLENGE", body)

    def refuse(self) -> None:
        """The credentials are not good: ERROR, then close."""
        code = "AuthenticationError" if self.switches.recommended else "UnknownError"
        self.error(NOWHERE if self.switches.recommended else 0, Refused(code, "the credentials are not good"))
        raise Close

    def connected(self) -> None:
        """Answer CONNECTED."""
        self.phase = Phase.LIVE
        body: Message = {"server_version": SERVER_VERSION, "protocol_version": self.answered_version()}
        if self.switches.optional_fields == "all" or self.switches.max_message_size != 5 * 1024 * 1024:
            body["max_message_size"] = self.switches.max_message_size
        if self.switches.optional_fields == "all":
            body["feature_flags"] = {"supports_auth_refresh": False}
        self.say("CONNECTED", body)

    def answered_version(self) -> int:
        """What CONNECTED says: practice is the lower one, the text says that it is the broker's."""
        own = self.broker.version
        return max(0, min(own, self.version)) if self.switches.recommended else own

    def on_connect(self, _body: Message) -> None:
        """A second CONNECT."""
        if self.switches.recommended:
            raise Close

    def on_auth_response(self, _body: Message) -> None:
        """Nobody asked."""
        raise Close

    # Signs of life

    def on_sign_of_life(self) -> None:
        """Any frame shows that the client lives."""
        self.heard = self.broker.now
        self.probed = None
        asked, self.asked = self.asked, []
        for decided in asked:
            self.broker.later(0, lambda decided=decided: decided(True))  # type: ignore[misc]

    def ask_whether_alive(self, decided: Callable[[bool], None]) -> None:
        """Send PING, and say whether anything was heard in time."""

        def late() -> None:
            if decided in self.asked:
                self.asked.remove(decided)
                decided(False)

        self.asked.append(decided)
        self.say("PING", {})
        self.broker.later(0 if self.phase is Phase.GONE else self.switches.liveness_ms, late)

    def on_ping(self, _body: Message) -> None:
        """PING is answered PONG."""
        self.say("PONG", {})

    def on_pong(self, _body: Message) -> None:
        """That the client lives was noted when its frame arrived."""

    def tick(self) -> None:
        """Called when an interval is over: ask for a sign of life, or give the client up."""
        self.next_tick = self.broker.now + self.switches.keepalive_ms
        if self.phase in (Phase.START, Phase.CONNECTING) or self.probed is not None:
            self.end()
        elif self.version >= SINCE["PING"]:
            due = self.heard + self.switches.keepalive_ms
            if self.switches.ping == "when-silent" and due > self.broker.now:
                self.next_tick = due
                return
            self.probed = self.broker.now
            self.say("PING", {})

    def due(self) -> float:
        """When something happens on this connection by itself."""
        if self.phase is Phase.GONE:
            return float("inf")
        return min(self.next_tick, self.busy_until) if self.busy else self.next_tick

    def pass_time(self) -> None:
        """Do what is due by now."""
        if self.phase is Phase.GONE:
            return
        if self.busy_until == self.broker.now:
            self.work()
        if self.next_tick <= self.broker.now and self.broker.sessions.get(self.number) is self:
            self.tick()

    def output_due(self) -> float:
        """When take() has more to give."""
        if self._fresh:
            return self.broker.now
        return self._late[0][0] if self._late else float("inf")

    # Frames out

    def can_hear(self, name: str) -> bool:
        """True when the client's version knows a command."""
        return SINCE.get(name, 0) <= self.version

    def say(self, name: str, body: Message) -> None:
        """Send a command without a payload part, unless it is newer than the client."""
        if self.can_hear(name):
            self.emit(simple(self.command(name, body)))

    def say_message(self, body: Message, block: bytes, checksum: int | None) -> None:
        """Send a MESSAGE."""
        self.emit(loaded(self.command("MESSAGE", body), block, checksum))

    def command(self, name: str, body: Message) -> bytes:
        """The octets of a command, in one of the ways that protobuf leaves open."""
        order: Callable[[list[bytes]], Any] | None = {
            "number": None,
            "reverse": list.reverse,
            "random": self.chance.shuffle,
        }[self.switches.field_order]
        data = encode_command(name, body, order)
        return data + UNKNOWN_FIELDS if self.switches.unknown_fields else data

    def error(self, request: int, refused: Refused) -> None:
        """Answer ERROR."""
        self.say("ERROR", {"request_id": request, "error": self.code(refused.code), "message": str(refused)})

    def code(self, name: str) -> int:
        """An error code that the client knows."""
        number = ERRORS[name]
        return number if self.switches.recommended and (self.version >= 12 or number <= MAX_FIELD_FOR_OLD) else 0

    def emit(self, data: bytes) -> None:
        """Send octets, now or soon."""
        delay = self.switches.output_delay_ms
        if not delay:
            self._fresh += data
            return
        earliest = self._late[-1][0] if self._late else 0.0
        self._late.append((max(earliest, self.broker.now + self.chance.randint(0, delay)), data))

    # The end

    def end(self) -> None:
        """Close the connection."""
        if self.phase is not Phase.GONE:
            self.phase = Phase.GONE
            self.reader = self.broker.reader_type(self.switches.max_frame)
            self.broker.sessions.pop(self.number, None)
            self.on_lost()

    def on_lost(self) -> None:
        """Give up all that the client had open."""
        raise NotImplementedError
