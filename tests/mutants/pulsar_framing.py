"""Brokers that are wrong about octets: frames, sizes, what is no command, and the first one."""

from __future__ import annotations

from typing import Any

from impls.references.pulsar.connection import Close, Phase
from impls.references.pulsar.framing import Frame
from impls.references.pulsar.reference import Broker, Reader, Session
from impls.references.pulsar.wire import Malformed, Message, encode_command
from strategies.pulsar.writer import Writer
from tests.mutants.faults import has, on
from tests.mutants.pulsar_kit import mutant, ready


def pings(w: Writer) -> None:
    """Two PINGs, the second one in pieces."""
    line = w.line()
    w.ping(line)
    w.wire = 1
    w.say(line, w.hello().__class__("PING"), style=1)
    w.ping(line)


def one(w: Writer) -> None:
    """One message there and back."""
    ready(w, sends=1)


def extra(w: Writer) -> None:
    """A field that nobody knows."""
    _, _, pen = ready(w)
    w.send(pen, extra=b"\x98\x1f\x07")


# -- frames ------------------------------------------------------------------------------------------------------------


@mutant("size-in-pieces", "FRM-07", pings, accept="KA-02 FRM-13 KA-05", history=True)
class SizeInPieces(Reader):
    """Loses the octets of a size that does not come at once."""

    def next(self) -> Frame | None:
        if 0 < self.held < 4:
            self._inbox.clear()
            self._at = 0
        return super().next()


def big(w: Writer) -> None:
    _, _, pen = ready(w)
    w.send(pen, payload=b"x" * 5_200_000)


mutant("one-mebibyte", "FRM-08", big, accept="KA-05 FRM-13 SEND-04")(
    "Takes no frame over 1 MiB.", on(Reader, "__init__").takes(limit=lambda limit: min(limit, 1 << 20))
)


def huge(w: Writer) -> None:
    w.blurt(w.line(), (6_000_000).to_bytes(4, "big") + bytes(100))
    w.wait(2000)


mutant("no-limit", "FRM-10", huge, accept="INV-BROKER-05", level="SHOULD")(
    "Waits for frames of any size.", on(Reader, "__init__").takes(limit=lambda: 1 << 32)
)


@mutant("unknown-fields", "FRM-12", extra, accept="KA-05 FRM-13 SEND-04")
class UnknownFields(Reader):
    """Takes an unknown field for garbage."""

    def parse(self, data: bytes) -> Frame:
        frame = super().parse(data)
        size = int.from_bytes(data[:4], "big")
        if frame.command.body is not None and len(encode_command(frame.command.name, frame.command.body)) != size:
            raise Malformed("an unknown field")
        return frame


@mutant("unknown-fields-of-send", "FRM-12", extra, accept="SEND-04 SEND-13")
class UnknownFieldsOfSend(Reader):
    """Drops a SEND with an unknown field."""

    def parse(self, data: bytes) -> Frame:
        frame = super().parse(data)
        size = int.from_bytes(data[:4], "big")
        body = frame.command.body
        if frame.command.name == "SEND" and body is not None and len(encode_command("SEND", body)) != size:
            frame.command.name, frame.command.body = "PONG", {}
        return frame


def garbage(w: Writer) -> None:
    w.blurt(w.line(), bytes.fromhex("0000000b00000007ffffffffffffff"))
    w.ping(w.another())


@mutant("garbage-ends-all", "FRM-13", garbage, accept="CONN-02 KA-05 KA-02")
class GarbageEndsAll(Broker):
    """Answers nobody any more once it has seen garbage."""

    class session_type(Session):
        """A connection of it."""

        def work(self) -> None:
            if not getattr(self.broker, "spoilt", False):
                super().work()

        def end(self) -> None:
            if not self.hung and self.reader.held == 0 and self.phase is Phase.LIVE:
                self.broker.spoilt = True  # type: ignore[attr-defined]
            super().end()


def lying(w: Writer) -> None:
    w.blurt(w.line(), bytes.fromhex("00000009000000ff08139a0100"))
    w.ping(w.line())


mutant("command-beyond-frame", "INV-BROKER-06", lying, accept="FRM-14 FRM-13 INV-BROKER-07 KA-02 INV-BROKER-08")(
    "Takes a command that is longer than its frame for as long as the frame.",
    on(Reader, "parse").takes(
        data=lambda data: min(int.from_bytes(data[:4], "big"), len(data) - 4).to_bytes(4, "big") + data[4:]
    ),
)


# -- connecting --------------------------------------------------------------------------------------------------------


class Eager(Session):
    """Answers before CONNECT."""

    before: frozenset[str] = frozenset()

    def on_early(self, name: str, body: Message) -> None:
        if name in self.before:
            self.version = self.broker.version
            self.phase = Phase.LIVE
            self.serve(name, body, b"")
            self.phase = Phase.START
        else:
            super().on_early(name, body)


def first(kind: str) -> Any:
    """A request before CONNECT."""

    def play(w: Writer) -> None:
        from specs.plan import Ref  # noqa: PLC0415 - one place needs it
        from specs.pulsar.frames import draft  # noqa: PLC0415 - as above

        given = {"PRODUCER": {"producer_id": 1}, "SUBSCRIBE": {"subscription": "s", "subType": 0, "consumer_id": 1}}
        w.say(w.bare(), draft(kind, topic=Ref("topic", "t"), request_id=1, **given.get(kind, {})))

    return play


mutant("producer-before-connect", "CONN-06", first("PRODUCER"), accept="INV-BROKER-01")(
    "Opens producers before CONNECT.", has(Eager, before=frozenset({"PRODUCER"}))
)
mutant("lookup-before-connect", "CONN-07", first("LOOKUP"), accept="CONN-06 INV-BROKER-01")(
    "Answers lookups before CONNECT.", has(Eager, before=frozenset({"LOOKUP", "PARTITIONED_METADATA"}))
)


def again(w: Writer) -> None:
    line = w.line()
    w.settle()
    w.say(line, w.hello())


mutant("second-connect", "CONN-08", again, accept="INV-BROKER-02")(
    "Answers every CONNECT.", on(Session, "on_connect").instead(lambda self: self.connected())
)


def refused(w: Writer) -> None:
    line = w.bare()
    w.say(line, w.hello(auth_method_name="secret", auth_data=b"bad"))
    w.ping(line)


mutant("any-credentials", "CONN-04", refused, accept="INV-BROKER-03")(
    "Lets everybody in.", on(Session, "credentials_good").instead(lambda: True)
)
mutant("refused-but-open", "CONN-04", refused, accept="INV-BROKER-03 CONN-06")(
    "Says ERROR and leaves the connection open.", on(Session, "refuse").forgives(Close)
)
mutant("refused-as-any-other", "CONN-05", refused, level="SHOULD")(
    "Answers bad credentials with an error that names a request.",
    on(Session, "error").takes(request=lambda self, request: 1 if self.phase is Phase.START else request),
)


def wide(w: Writer) -> None:
    w.ids = 2
    w.lookup(w.line(), "t")


@mutant("request-ids-of-32-bits", "REQ-01", wide, accept="REQ-02 PROD-02 SUB-01 LOOK-02")
class NarrowRequests(Session):
    """Keeps 32 bits of request ids."""

    def say(self, name: str, body: Message) -> None:
        number = body.get("request_id")
        super().say(name, body if number is None else {**body, "request_id": number & 0xFFFFFFFF})
