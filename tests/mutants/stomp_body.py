"""Faults in bodies: where they end, what is in them, and what is said about them."""

from __future__ import annotations

from impls.references.stomp.reference import Frame, Parser, Refused, Session, Writer
from strategies.stomp import writer as plans
from tests.mutants.faults import on
from tests.mutants.kit import QUEUE, TOPIC, connecting, mutant, one, plan, raw, round_trip

SEND = b"SEND\nk:1\nreceipt:r\ndestination:"


def _changed(change) -> type[Session]:
    """A session that changes the bodies of what is sent."""

    class Changing(Session):
        def publish(self, frame: Frame) -> None:
            super().publish(frame._replace(body=change(frame.body)))

    return Changing


# -- content-length ----------------------------------------------------------------------------------------------------


mutant("body-ends-at-nul", "CLEN-01", round_trip(body=b"ab\0cd"), accept="BODY-02")(
    "A body is stored as a C string and ends at its first NUL, whatever content-length says.",
    _changed(lambda body: body.partition(b"\0")[0]),
)
mutant(
    "length-not-read",
    "CLEN-01",
    plan(lambda w: w.send(w.line(), QUEUE, b"ab\0cd", receipt=w.receipt())),
    accept="BODY-02 CLEN-02 INV-16",
)("content-length is ignored when a frame is read.", on(Parser, "body_length").gives(lambda: None))


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


mutant("short-length-waits", "INV-16", raw(SEND, TOPIC, b"\ncontent-length:3\n\nhello\0"), accept="CLEN-02")(
    "When no NUL stands behind the counted octets, everything that follows is swallowed in silence.",
    on(Session, "on_malformed").skips(when=lambda malformed: "content-length says" in str(malformed)),
)


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


mutant("length-required", "CLEN-03", one("SEND", ("destination", TOPIC), body=b"x"), accept="ERROR-07", smoke=False)(
    "A SEND with a body must say how long it is.",
    on(Session, "on_SEND").before(
        lambda self, frame: self.required(frame, "content-length"), when=lambda frame: frame.body
    ),
)
mutant(
    "bad-length-ignored", "CLEN-09", raw(SEND, TOPIC, b"\ncontent-length:abc\n\nx\0"), accept="INV-17", level="SHOULD"
)(
    "A content-length that is no number is ignored.",
    on(Parser, "content_length").skips(when=lambda value: not value.isdecimal()),
)
mutant(
    "negative-length-is-none",
    "CLEN-09",
    raw(SEND, TOPIC, b"\ncontent-length:-1\n\nx\0"),
    accept="INV-17",
    level="SHOULD",
)(
    "A content-length of -1 means that there is none.",
    on(Parser, "content_length").skips(when=lambda value: value == "-1"),
)
mutant(
    "hexadecimal-length", "CLEN-09", raw(SEND, TOPIC, b"\ncontent-length:0x1\n\nx\0"), accept="INV-17", level="SHOULD"
)(
    "A content-length may be written in any base.",
    on(Parser, "content_length").instead(lambda value: int(value, 0), when=lambda value: value.startswith("0x")),
)
mutant(
    "length-on-subscribe-refused",
    "CLEN-07",
    one("SUBSCRIBE", ("id", "0"), ("destination", QUEUE), ("content-length", "0")),
)(
    "SUBSCRIBE with a content-length is refused, though it has no body.",
    on(Session, "on_SUBSCRIBE").raises(
        lambda: Refused("content-length is not for this frame"), when=lambda frame: "content-length" in frame.first
    ),
)
mutant("line-ends-in-long-bodies", "BODY-02", round_trip(body=b"a\r\n" * 1400))(
    "CR LF in a body of more than 4 KiB becomes LF, as in a buffer of text.",
    _changed(lambda body: body.replace(b"\r\n", b"\n") if len(body) > 4096 else body),
)
mutant("length-on-bodyless-refused", "CLEN-07", one("BEGIN", ("transaction", "t"), ("content-length", "0")))(
    "content-length:0 on a frame that cannot have a body is refused.",
    on(Session, "check_body").takes(
        frame=lambda frame: frame if "content-length" not in frame.first else frame._replace(body=b"x")
    ),
)
mutant("characters-counted", "CLEN-06", round_trip(body="é漢".encode()))(
    "content-length of a MESSAGE counts characters.",
    on(Writer, "content_length").instead(lambda body: str(len(body.decode(errors="replace")))),
)


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


mutant("no-length", "MSG-07", round_trip(), accept="CLEN-05 ERROR-06", level="SHOULD", smoke=False)(
    "A frame has content-length only if there is a NUL in its body.",
    on(Writer, "encode").gives(
        lambda body, found: found if 0 in body else found.replace(b"\ncontent-length:%d" % len(body), b"", 1)
    ),
)
mutant("length-in-one-octet", "CLEN-06", round_trip(body=b"x" * 300, ask=True), accept="CLEN-02 FRAME-01")(
    "content-length is kept in one octet.", on(Writer, "content_length").instead(lambda body: str(len(body) % 256))
)


# -- what is in them ---------------------------------------------------------------------------------------------------


mutant("body-stripped", "BODY-02", round_trip(body=b"x\n"))(
    "Line ends at the end of a body are removed.", _changed(lambda body: body.rstrip(b"\r\n"))
)
mutant("body-line-ends", "BODY-02", round_trip(body=b"a\r\nb"))(
    "CR LF in a body becomes LF.", _changed(lambda body: body.replace(b"\r\n", b"\n"))
)
mutant("body-leading-eol", "BODY-02", round_trip(body=b"\n\nx"))(
    "Empty lines at the beginning of a body are taken for the end of the headers.",
    _changed(lambda body: body.lstrip(b"\n")),
)
mutant("body-decoded", "BODY-02", round_trip(body=b"\xff\xfe"))(
    "Bodies are decoded as UTF-8 and encoded again.", _changed(lambda body: body.decode(errors="replace").encode())
)
mutant("body-cut-at-1000", "BODY-02", round_trip(body=b"x" * 1001))(
    "Bodies are cut after 1000 octets.", _changed(lambda body: body[:1000])
)
mutant("body-last-octet", "BODY-02", round_trip(body=b"x" * 4096))(
    "A body that fills a buffer exactly loses its last octet.",
    _changed(lambda body: body[:-1] if len(body) % 4096 == 0 else body),
)
mutant("body-unescaped", "BODY-02", round_trip(body=b"a\\nb"))(
    "Escapes are undone in bodies, too.", _changed(lambda body: body.replace(b"\\n", b"\n"))
)
mutant("empty-body-lost", "BODY-03", round_trip(body=b""), accept="SUB-05 SEND-02 RECEIPT-04")(
    "A SEND without a body is accepted and goes nowhere.",
    on(Session, "publish").skips(when=lambda frame: not frame.body),
)
mutant("empty-body-filled", "BODY-03", round_trip(body=b""), accept="BODY-02")(
    "A SEND without a body is delivered with one.", _changed(lambda body: body or b"null")
)
mutant("empty-body-refused", "BODY-03", one("SEND", ("destination", TOPIC)), accept="ERROR-07")(
    "A SEND without a body is refused.",
    on(Session, "on_SEND").takes(frame=lambda frame: frame if frame.body else frame._replace(first={})),
)


# -- bodies where none may be ------------------------------------------------------------------------------------------


mutant("connected-body", "BODY-01", connecting(), smoke=False)(
    "CONNECTED has a body that greets the client.",
    on(Session, "emit").takes(body=lambda command, body: b"hello" if command == "CONNECTED" else body),
)


@mutant("receipt-body", "RECEIPT-07", one("SEND", ("destination", TOPIC), body=b"x"), accept="BODY-01", smoke=False)
class ReceiptBody(Session):
    """The RECEIPT of a SEND quotes its body."""

    quoted = b""

    def handle(self, frame: Frame) -> None:
        self.quoted = frame.body
        super().handle(frame)

    def emit(self, command: str, headers: list[tuple[str, str]], body: bytes = b"") -> None:
        super().emit(command, headers, self.quoted if command == "RECEIPT" else body)


mutant("body-ignored", "INV-31", one("BEGIN", ("transaction", "t"), body=b"x"), accept="BODY-01", level="SHOULD")(
    "A body where none may be is ignored.", on(Session, "check_body").skips()
)


# -- content-type ------------------------------------------------------------------------------------------------------


mutant(
    "type-dropped", "CTYPE-04", round_trip(("content-type", "text/plain")), accept="MSG-07 CTYPE-01", level="SHOULD"
)(
    "The sender's content-type is replaced by the server's own.",
    on(Session, "pass_through").gives(lambda found: [header for header in found if header[0] != "content-type"]),
)
mutant("type-lost", "CTYPE-01", round_trip(("content-type", "text/plain")), accept="MSG-07", level="SHOULD")(
    "A MESSAGE never has a content-type.",
    on(Session, "message_headers").gives(lambda found: [pair for pair in found if pair[0] != "content-type"]),
)
mutant(
    "type-without-parameters", "CTYPE-04", round_trip(("content-type", "text/plain;charset=utf-16")), level="SHOULD"
)(
    "content-type loses its parameters.",
    on(Session, "pass_through").gives(
        lambda found: [(n, v.partition(";")[0] if n == "content-type" else v) for n, v in found]
    ),
)
mutant("type-is-no-type", "CTYPE-02", round_trip(), smoke=False)(
    "The content-type that the server adds is no MIME type.",
    on(Session, "emit").takes(
        headers=lambda headers: [(n, "binary" if n == "content-type" else v) for n, v in headers]
    ),
)
mutant("error-without-type", "ERROR-06", one("BEGIN"), accept="CTYPE-01", level="SHOULD")(
    "ERROR has a body and does not say of what type it is.",
    on(Session, "emit").takes(
        headers=lambda command, headers: [h for h in headers if command != "ERROR" or h[0] != "content-type"]
    ),
)


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
