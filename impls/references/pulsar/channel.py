"""One connection of the reference client: the handshake, requests and their answers, signs of life.

Source: 001_c0ea8805bb7ed422.txt, "Connection establishment", "Keep Alive", "Service discovery".
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from impls.references.pulsar.checksum import crc32c
from impls.references.pulsar.framing import Frame, Reader, loaded, simple
from impls.references.pulsar.promises import Failed, Promise
from impls.references.pulsar.schema import SINCE
from impls.references.pulsar.wire import Malformed, Message, encode_command

if TYPE_CHECKING:
    from impls.references.pulsar.client import Caller
    from impls.references.pulsar.receiving import Receiver
    from impls.references.pulsar.sending import Sender

CLIENT_VERSION = "wireproof-reference-1"
MAX_FRAME = 5 * 1024 * 1024 + 10 * 1024 - 4
NOBODY = (1 << 64) - 1
ANSWERS = {
    "SUCCESS": "rest", "ERROR": "rest", "PRODUCER_SUCCESS": "rest", "ACK_RESPONSE": "rest", "LOOKUP_RESPONSE": "lookup",
    "PARTITIONED_METADATA_RESPONSE": "partitions", "GET_LAST_MESSAGE_ID_RESPONSE": "rest",
}  # fmt: skip
"""What answers a request, and in which family of request ids."""
FAMILIES = {"LOOKUP": "lookup", "PARTITIONED_METADATA": "partitions"}


class Channel:
    """A connection to the broker. Octets in by `received`, out by `out`."""

    reader_type = Reader

    def __init__(self, caller: Caller, url: str) -> None:
        self.caller = caller
        self.switches = caller.switches
        self.url = url
        self.out = bytearray()
        self.reader = self.reader_type(MAX_FRAME)
        self.ready = Promise()
        self.live = False
        self.hung_up = False
        self.version = 0
        self.max_message_size = 5 * 1024 * 1024
        self.open: dict[tuple[str, int], Promise] = {}
        self.senders: dict[int, Sender] = {}
        self.receivers: dict[int, Receiver] = {}
        self.probed = False
        start = caller.chance.getrandbits(62) if self.switches.request_ids == "random" else 0
        self.requests = itertools.count(start)
        self.lookups = itertools.count(1) if self.switches.request_ids == "two" else self.requests
        self.say("CONNECT", self.greeting())

    def greeting(self) -> Message:
        """What the session is opened with."""
        body: Message = {"client_version": CLIENT_VERSION, "protocol_version": self.caller.version}
        if self.switches.optional_fields == "all":
            body["auth_method_name"] = "none"
            body["feature_flags"] = {"supports_auth_refresh": True, "supports_broker_entry_metadata": True}
        if self.caller.login is not None:
            method, data = self.caller.login
            body |= {"auth_method_name": method, "auth_data": data.encode()}
        return body

    # Octets

    def received(self, data: bytes) -> None:
        """Take octets of the broker, b"" at the end of them."""
        if self.hung_up:
            return
        if not data:
            self.end("the broker closed the connection")
            return
        self.reader.feed(data)
        try:
            while not self.hung_up and (frame := self.reader.next()) is not None:
                self.handle(frame)
        except Malformed as malformed:
            self.end(str(malformed))

    def say(self, name: str, body: Message) -> None:
        """Send a command without a payload part."""
        if not self.hung_up:
            self.out += simple(encode_command(name, body))

    def say_send(self, body: Message, block: bytes) -> None:
        """Send a SEND. Whoever is older than version 6 does not know the checksum."""
        self.out += loaded(encode_command("SEND", body), block, crc32c(block) if self.sums else None)

    @property
    def sums(self) -> bool:
        """True when payload parts carry a checksum."""
        return self.agreed >= 6

    @property
    def agreed(self) -> int:
        """What both sides know."""
        return min(self.version, self.caller.version)

    # Frames in

    def handle(self, frame: Frame) -> None:
        """One frame of the broker. Raises Malformed."""
        name, body = frame.command.name, frame.command.body
        if not name:
            raise Malformed("an unknown command")
        if body is None:
            raise Malformed("a command without its message")
        if name in ("PING", "PONG"):
            self.probed = False
            if name == "PING":
                self.say("PONG", {})
        elif not self.live:
            self.greeted(name, body)
        else:
            self.probed = False
            self.serve(name, body, frame.rest)

    def greeted(self, name: str, body: Message) -> None:
        """What comes before CONNECTED can only be a refusal."""
        if name == "CONNECTED":
            self.version = body.get("protocol_version", 0)
            self.max_message_size = body.get("max_message_size", self.max_message_size)
            self.live = True
            self.caller.later(self.switches.keepalive_ms, self.tick)
            self.ready.keep(self)
        elif name == "AUTH_CHALLENGE":
            self.say("AUTH_RESPONSE", {"client_version": CLIENT_VERSION, "protocol_version": self.caller.version})
        else:
            why = f"refused: {body['message']}" if name == "ERROR" else f"{name} before CONNECTED"
            self.end(why, fatal=name == "ERROR")

    def serve(self, name: str, body: Message, rest: bytes) -> None:
        """What comes after CONNECTED. Raises Malformed."""
        if name in ANSWERS:
            self.answered(name, body)
        elif name == "MESSAGE":
            receiver = self.receivers.get(body["consumer_id"])
            if receiver is not None:
                receiver.on_message(body, rest)
        elif name in ("SEND_RECEIPT", "SEND_ERROR", "CLOSE_PRODUCER"):
            sender = self.senders.get(body["producer_id"])
            if sender is not None:
                getattr(sender, f"on_{name.lower()}")(body)
        elif name in ("CLOSE_CONSUMER", "ACTIVE_CONSUMER_CHANGE", "REACHED_END_OF_TOPIC"):
            receiver = self.receivers.get(body["consumer_id"])
            if receiver is not None and name == "CLOSE_CONSUMER":
                receiver.on_closed()
        else:
            raise Malformed(f"{name} is not for a client")

    # Requests

    async def ask(self, name: str, body: Message) -> tuple[str, Message]:
        """Send a request; its answer. Raises Failed for an ERROR, the end of the connection, and after a while."""
        family = FAMILIES.get(name, "rest")
        number = next(self.requests if family == "rest" else self.lookups)
        promise = self.open[family, number] = Promise()
        if self.hung_up:
            promise.fail(Failed("the connection is closed"))
        self.say(name, {**body, "request_id": number})
        self.caller.later(self.switches.request_ms, lambda: promise.fail(Failed(f"{name} was not answered")))
        try:
            answer: tuple[str, Message] = await promise
        finally:
            self.open.pop((family, number), None)
        return answer

    def answered(self, name: str, body: Message) -> None:
        """An answer. One that nobody waits for does no harm."""
        key = (ANSWERS[name], body.get("request_id", NOBODY))
        if name == "PRODUCER_SUCCESS" and not body.get("producer_ready", True):
            return
        if name == "ERROR" and key not in self.open:
            key = next((each for each in self.open if each[1] == key[1]), key)
        promise = self.open.get(key)
        if promise is None:
            if name == "ERROR" and key[1] == NOBODY and self.switches.errors == "reconnect":
                self.end(body["message"] or "ERROR")
            return
        if name == "ERROR":
            promise.fail(Failed(body["message"] or "ERROR", body["error"]))
        else:
            promise.keep((name, body))

    # The end

    def give_up(self) -> None:
        """CONNECT had its time."""
        if not self.live:
            self.end("CONNECT was not answered")

    def tick(self) -> None:
        """Called when an interval is over."""
        if self.hung_up:
            return
        if self.probed:
            self.end("no sign of life")
            return
        if self.switches.own_ping and self.agreed >= SINCE["PING"]:
            self.probed = True
            self.say("PING", {})
        self.caller.later(self.switches.keepalive_ms, self.tick)

    def end(self, why: str, *, fatal: bool = False) -> None:
        """The connection is over: who used it comes again."""
        if self.hung_up:
            return
        self.hung_up = True
        self.live = False
        self.caller.forget(self)
        self.ready.fail(Failed(why, -1 if fatal else None))
        for promise in [*self.open.values()]:
            promise.fail(Failed(why))
        users: list[Sender | Receiver] = [*self.senders.values(), *self.receivers.values()]
        self.senders.clear()
        self.receivers.clear()
        for user in users:
            user.on_closed()
