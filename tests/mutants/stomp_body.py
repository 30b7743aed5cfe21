"""Faults in bodies: where they end, what is in them, and what is said about them."""

from __future__ import annotations

from impls.references.stomp.reference import Frame, Malformed, Parser, Session, Writer
from strategies.stomp import writer as plans
from tests.mutants.kit import QUEUE, TOPIC, connecting, mutant, one, plan, raw, round_trip

SEND = b"SEND\nk:1\nreceipt:r\ndestination:"


def _changed(change) -> type[Session]:
    """A session that changes the bodies of what is sent."""

    class Changing(Session):
        def publish(self, frame: Frame) -> None:
            super().publish(frame._replace(body=change(frame.body)))

    return Changing


# -- content-length ----------------------------------------------------------------------------------------------------


@mutant("body-ends-at-nul", "CLEN-01", round_trip(body=b"ab\0cd"), accept="BODY-02")
class BodyEndsAtNul(_changed(lambda body: body.partition(b"\0")[0])):
    """A body is stored as a C string and ends at its first NUL, whatever content-length says."""


@mutant("length-not-read", "CLEN-01", round_trip(body=b"ab\0cd"), accept="BODY-02 CLEN-02 INV-16")
class LengthNotRead(Parser):
    """content-length is ignored when a frame is read."""

    def body_length(self, first: dict[str, str]) -> int | None:
        super().body_length(first)
        return None


@mutant("short-length-believed", "CLEN-02", raw(SEND, TOPIC, b"\ncontent-length:3\n\nhello\0"), accept="INV-16")
class ShortLengthBelieved(Parser):
    """When no NUL stands behind the counted octets, the rest up to the next NUL is skipped."""

    def _body_end(self) -> int | None:
        if self._length is not None and self._at + self._length < len(self._buffer):
            end = self._buffer.find(0, self._at + self._length)
            if end < 0:
                return None
            del self._buffer[self._at + self._length : end]
        return super()._body_end()


@mutant("short-length-corrected", "CLEN-02", raw(SEND, TOPIC, b"\ncontent-length:3\n\nhello\0"), accept="INV-16")
class ShortLengthCorrected(Parser):
    """When no NUL stands behind the counted octets, the body is taken to go on up to the next NUL."""

    def _body_end(self) -> int | None:
        end = self._at + (self._length or 0)
        if self._length is not None and end < len(self._buffer) and self._buffer[end]:
            self._length = None
        return super()._body_end()


@mutant("short-length-waits", "INV-16", raw(SEND, TOPIC, b"\ncontent-length:3\n\nhello\0"), accept="CLEN-02")
class ShortLengthWaits(Session):
    """When no NUL stands behind the counted octets, everything that follows is swallowed in silence."""

    def on_malformed(self, malformed: Malformed) -> None:
        if "content-length says" not in str(malformed):
            super().on_malformed(malformed)


@plan
def _slow_body(w: plans.Writer) -> None:
    line = w.line()
    w.blurt(line, SEND, TOPIC, b"\ncontent-length:5\n\nab")
    w.wait(30)


@mutant("long-length-given-up", "CLEN-08", _slow_body, accept="FRAME-06")
class LongLengthGivenUp(Parser):
    """A body that is shorter than announced is taken as it is when no more octets are there."""

    def _body_end(self) -> int | None:
        if self._length is not None and self._at + self._length >= len(self._buffer) > self._at:
            self._length = len(self._buffer) - self._at
            self._buffer += b"\0"
        return super()._body_end()


@mutant("length-required", "CLEN-03", one("SEND", ("destination", TOPIC), body=b"x"), accept="ERROR-07", smoke=False)
class LengthRequired(Session):
    """A SEND with a body must say how long it is."""

    def on_SEND(self, frame: Frame) -> None:
        if frame.body:
            self.required(frame, "content-length")
        super().on_SEND(frame)


@mutant(
    "bad-length-ignored", "CLEN-09", raw(SEND, TOPIC, b"\ncontent-length:abc\n\nx\0"), accept="INV-17", level="SHOULD"
)
class BadLengthIgnored(Parser):
    """A content-length that is no number is ignored."""

    def content_length(self, value: str) -> int | None:
        return super().content_length(value) if value.isdecimal() else None


@mutant(
    "negative-length-is-none",
    "CLEN-09",
    raw(SEND, TOPIC, b"\ncontent-length:-1\n\nx\0"),
    accept="INV-17",
    level="SHOULD",
)
class NegativeLengthIsNone(Parser):
    """A content-length of -1 means that there is none."""

    def content_length(self, value: str) -> int | None:
        return None if value == "-1" else super().content_length(value)


@mutant(
    "hexadecimal-length", "CLEN-09", raw(SEND, TOPIC, b"\ncontent-length:0x1\n\nx\0"), accept="INV-17", level="SHOULD"
)
class HexadecimalLength(Parser):
    """A content-length may be written in any base."""

    def content_length(self, value: str) -> int:
        return int(value, 0) if value.startswith("0x") else super().content_length(value)


@mutant("length-on-bodyless-refused", "CLEN-07", one("BEGIN", ("transaction", "t"), ("content-length", "0")))
class LengthOnBodylessRefused(Session):
    """content-length:0 on a frame that cannot have a body is refused."""

    def check_body(self, frame: Frame) -> None:
        super().check_body(frame if "content-length" not in frame.first else frame._replace(body=b"x"))


@mutant("characters-counted", "CLEN-06", round_trip(body="é漢".encode()))
class CharactersCounted(Writer):
    """content-length of a MESSAGE counts characters."""

    def content_length(self, body: bytes) -> str:
        return str(len(body.decode(errors="replace")))


@plan
def _counted_characters(w: plans.Writer) -> None:
    line = w.line()
    body = "é漢".encode()
    w.send(line, TOPIC, body, [("content-length", f"{len(body)}")], receipt=w.receipt())


@mutant("characters-expected", "CLEN-06", _counted_characters, accept="CLEN-01 RECEIPT-01")
class CharactersExpected(Parser):
    """content-length of a SEND is taken to count characters, so that the server waits for octets that never come."""

    def _body_end(self) -> int | None:
        if self._length is not None and self._at + self._length < len(self._buffer):
            body = self._buffer[self._at : self._at + self._length]
            self._length += len(body) - len(body.decode(errors="replace"))
        return super()._body_end()


@mutant("no-length-with-nul", "CLEN-04", round_trip(body=b"ab\0cd"), accept="BODY-02 CLEN-01")
class NoLengthWithNul(Writer):
    """MESSAGE never has content-length, even if there is a NUL in its body."""

    def encode(self, command: str, headers: list[tuple[str, str]], body: bytes = b"") -> bytes:
        data = super().encode(command, headers, body)
        return data.replace(b"\ncontent-length:%d" % len(body), b"", 1) if command == "MESSAGE" and 0 in body else data


@mutant("no-length", "MSG-07", round_trip(), accept="CLEN-05 ERROR-06", level="SHOULD", smoke=False)
class NoLength(Writer):
    """A frame has content-length only if there is a NUL in its body."""

    def encode(self, command: str, headers: list[tuple[str, str]], body: bytes = b"") -> bytes:
        data = super().encode(command, headers, body)
        return data if 0 in body else data.replace(b"\ncontent-length:%d" % len(body), b"", 1)


@mutant("length-in-one-octet", "CLEN-06", round_trip(body=b"x" * 300, ask=True), accept="CLEN-02 FRAME-01")
class LengthInOneOctet(Writer):
    """content-length is kept in one octet."""

    def content_length(self, body: bytes) -> str:
        return str(len(body) % 256)


# -- what is in them ---------------------------------------------------------------------------------------------------


@mutant("body-stripped", "BODY-02", round_trip(body=b"x\n"))
class BodyStripped(_changed(lambda body: body.rstrip(b"\r\n"))):
    """Line ends at the end of a body are removed."""


@mutant("body-line-ends", "BODY-02", round_trip(body=b"a\r\nb"))
class BodyLineEnds(_changed(lambda body: body.replace(b"\r\n", b"\n"))):
    """CR LF in a body becomes LF."""


@mutant("body-leading-eol", "BODY-02", round_trip(body=b"\n\nx"))
class BodyLeadingEol(_changed(lambda body: body.lstrip(b"\n"))):
    """Empty lines at the beginning of a body are taken for the end of the headers."""


@mutant("body-decoded", "BODY-02", round_trip(body=b"\xff\xfe"))
class BodyDecoded(_changed(lambda body: body.decode(errors="replace").encode())):
    """Bodies are decoded as UTF-8 and encoded again."""


@mutant("body-cut-at-1000", "BODY-02", round_trip(body=b"x" * 1001))
class BodyCutAt1000(_changed(lambda body: body[:1000])):
    """Bodies are cut after 1000 octets."""


@mutant("body-last-octet", "BODY-02", round_trip(body=b"x" * 4096))
class BodyLastOctet(_changed(lambda body: body[:-1] if len(body) % 4096 == 0 else body)):
    """A body that fills a buffer exactly loses its last octet."""


@mutant("body-unescaped", "BODY-02", round_trip(body=b"a\\nb"))
class BodyUnescaped(_changed(lambda body: body.replace(b"\\n", b"\n"))):
    """Escapes are undone in bodies, too."""


@mutant("empty-body-lost", "BODY-03", round_trip(body=b""), accept="SUB-05 SEND-02 RECEIPT-04")
class EmptyBodyLost(Session):
    """A SEND without a body is accepted and goes nowhere."""

    def publish(self, frame: Frame) -> None:
        if frame.body:
            super().publish(frame)


@mutant("empty-body-filled", "BODY-03", round_trip(body=b""), accept="BODY-02")
class EmptyBodyFilled(_changed(lambda body: body or b"null")):
    """A SEND without a body is delivered with one."""


@mutant("empty-body-refused", "BODY-03", one("SEND", ("destination", TOPIC)), accept="ERROR-07")
class EmptyBodyRefused(Session):
    """A SEND without a body is refused."""

    def on_SEND(self, frame: Frame) -> None:
        super().on_SEND(frame if frame.body else frame._replace(first={}))


# -- bodies where none may be ------------------------------------------------------------------------------------------


@mutant("connected-body", "BODY-01", connecting(), smoke=False)
class ConnectedBody(Session):
    """CONNECTED has a body that greets the client."""

    def emit(self, command: str, headers: list[tuple[str, str]], body: bytes = b"") -> None:
        super().emit(command, headers, b"hello" if command == "CONNECTED" else body)


@mutant("receipt-body", "RECEIPT-07", one("SEND", ("destination", TOPIC), body=b"x"), accept="BODY-01", smoke=False)
class ReceiptBody(Session):
    """The RECEIPT of a SEND quotes its body."""

    quoted = b""

    def handle(self, frame: Frame) -> None:
        self.quoted = frame.body
        super().handle(frame)

    def emit(self, command: str, headers: list[tuple[str, str]], body: bytes = b"") -> None:
        super().emit(command, headers, self.quoted if command == "RECEIPT" else body)


@mutant("body-ignored", "INV-31", one("BEGIN", ("transaction", "t"), body=b"x"), accept="BODY-01", level="SHOULD")
class BodyIgnored(Session):
    """A body where none may be is ignored."""

    def check_body(self, frame: Frame) -> None:
        pass


# -- content-type ------------------------------------------------------------------------------------------------------


@mutant(
    "type-dropped", "CTYPE-04", round_trip(("content-type", "text/plain")), accept="MSG-07 CTYPE-01", level="SHOULD"
)
class TypeDropped(Session):
    """The sender's content-type is replaced by the server's own."""

    def pass_through(self, frame: Frame) -> list[tuple[str, str]]:
        return [header for header in super().pass_through(frame) if header[0] != "content-type"]


@mutant("type-lost", "CTYPE-01", round_trip(("content-type", "text/plain")), accept="MSG-07", level="SHOULD")
class TypeLost(Session):
    """A MESSAGE never has a content-type."""

    def message_headers(self, subscription, message, ack) -> list[tuple[str, str]]:
        return [pair for pair in super().message_headers(subscription, message, ack) if pair[0] != "content-type"]


@mutant(
    "type-without-parameters", "CTYPE-04", round_trip(("content-type", "text/plain;charset=utf-16")), level="SHOULD"
)
class TypeWithoutParameters(Session):
    """content-type loses its parameters."""

    def pass_through(self, frame: Frame) -> list[tuple[str, str]]:
        headers = super().pass_through(frame)
        return [(n, v.partition(";")[0] if n == "content-type" else v) for n, v in headers]


@mutant("type-is-no-type", "CTYPE-02", round_trip(), smoke=False)
class TypeIsNoType(Session):
    """The content-type that the server adds is no MIME type."""

    def emit(self, command: str, headers: list[tuple[str, str]], body: bytes = b"") -> None:
        super().emit(command, [(n, "binary" if n == "content-type" else v) for n, v in headers], body)


@mutant("error-without-type", "ERROR-06", one("BEGIN"), accept="CTYPE-01", level="SHOULD")
class ErrorWithoutType(Session):
    """ERROR has a body and does not say of what type it is."""

    def emit(self, command: str, headers: list[tuple[str, str]], body: bytes = b"") -> None:
        super().emit(command, [h for h in headers if command != "ERROR" or h[0] != "content-type"], body)


@mutant("error-without-length", "CLEN-05", one("BEGIN"), accept="ERROR-06", level="SHOULD")
class ErrorWithoutLength(Writer):
    """ERROR has a body and does not say how long it is."""

    def encode(self, command: str, headers: list[tuple[str, str]], body: bytes = b"") -> bytes:
        data = super().encode(command, headers, body)
        return data.replace(b"\ncontent-length:%d" % len(body), b"", 1) if command == "ERROR" else data


@plan
def _typed_in_transaction(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, QUEUE)
    w.say(line, "BEGIN", [("transaction", "t")])
    w.send(line, QUEUE, headers=[("transaction", "t"), ("content-type", "text/plain")])
    w.say(line, "COMMIT", [("transaction", "t")])


@mutant("type-lost-in-transaction", "CTYPE-04", _typed_in_transaction, accept="MSG-07 CTYPE-01", level="SHOULD")
class TypeLostInTransaction(Session):
    """Only body and user headers are kept for COMMIT: content-type is lost in a transaction."""

    def pass_through(self, frame: Frame) -> list[tuple[str, str]]:
        lost = "content-type" if "transaction" in frame.first else ""
        return [header for header in super().pass_through(frame) if header[0] != lost]
