"""Faults in the ends of connections: ERROR and DISCONNECT."""

from __future__ import annotations

from impls.references.stomp.reference import Frame, Phase, Refused, Session
from specs.plan import Ref
from strategies.stomp import writer as plans
from tests.mutants.faults import on
from tests.mutants.kit import TOPIC, mutant, next_frame, one, plan, raw

# -- ERROR -------------------------------------------------------------------------------------------------------------


def named(frame: Frame | None) -> list[tuple[str, str]]:
    """The header by which an ERROR names the frame that it is about."""
    return [("receipt-id", frame.first["receipt"])] if frame and "receipt" in frame.first else []


@mutant("error-stays-open", "ERROR-01", one("BEGIN"), accept="ERROR-02")
class ErrorStaysOpen(Session):
    """After ERROR the connection stays open."""

    def fail(self, why: str, frame: Frame | None = None, *headers: tuple[str, str]) -> None:
        self.emit("ERROR", [("message", why), *named(frame)])


mutant("malformed-stays-open", "ERROR-01", raw(b"BEGIN\na\\t:x\n\n\0"), accept="ERROR-02 ENC-04 INV-14")(
    "After ERROR about a frame that could not be read the connection stays open.",
    on(Session, "on_malformed").instead(
        lambda self, malformed: self.emit("ERROR", [("message", str(malformed)), *named(malformed.frame)])
    ),
)


@plan
def _sent_behind(w: plans.Writer) -> None:
    line, other = w.line(), w.line(1)
    w.subscribe(other, TOPIC, receipt=w.receipt())
    w.say(line, "SEND", [], b"x", when="join")
    w.send(line, TOPIC, when="now")


class _Stubborn(Session):
    """Goes on after an ERROR."""

    def fail(self, why: str, frame: Frame | None = None, *headers: tuple[str, str]) -> None:
        self.emit("ERROR", [("message", why), *named(frame)])
        while (behind := next_frame(self.parser)) is not None:
            self.go_on(behind)
        self.on_lost_connection()
        self.end()

    def go_on(self, frame: Frame) -> None:
        self.handle(frame)


mutant("executed-behind-error", "ERROR-02", _sent_behind)(
    "What stands behind a faulty frame in the same segment is carried out before the connection is closed.", _Stubborn
)


@plan
def _receipt_behind(w: plans.Writer) -> None:
    line = w.line()
    w.say(line, "BEGIN", [], when="join")
    w.say(line, "BEGIN", [("transaction", "t"), w.receipt()], when="now")


@mutant("receipt-behind-error", "ERROR-02", _receipt_behind)
class ReceiptBehindError(_Stubborn):
    """What stands behind a faulty frame is not carried out, but receipted."""

    def go_on(self, frame: Frame) -> None:
        if "receipt" in frame.first:
            self.emit("RECEIPT", [("receipt-id", frame.first["receipt"])])


@plan
def _two_faults(w: plans.Writer) -> None:
    line = w.line()
    w.say(line, "BEGIN", [], when="join")
    w.say(line, "COMMIT", [], when="now")


mutant("error-for-each", "ERROR-02", _two_faults)(
    "Two faulty frames in one segment get an ERROR each.",
    on(_Stubborn, "go_on").instead(lambda self, frame: self.emit("ERROR", [("message", "again"), *named(frame)])),
)
mutant("error-without-message", "ERROR-03", one("BEGIN"), level="SHOULD")(
    "ERROR has no message header.",
    on(Session, "emit").takes(headers=lambda headers: [h for h in headers if h[0] != "message"]),
)
mutant("error-without-receipt-id", "ERROR-05", one("BEGIN"), accept="ERROR-04", level="SHOULD")(
    "ERROR does not name the receipt of the faulty frame.",
    on(Session, "emit").takes(
        headers=lambda command, headers: [h for h in headers if h[0] != "receipt-id" or command != "ERROR"]
    ),
)


@mutant("error-names-its-frame-otherwise", "ERROR-04", one("BEGIN"), level="SHOULD")
class ErrorNamesItsFrameOtherwise(Session):
    """ERROR has the receipt of the faulty frame in a header of another name."""

    def emit(self, command: str, headers: list[tuple[str, str]], body: bytes = b"") -> None:
        kept = {"receipt-id": "x-receipt-of-the-frame"} if command == "ERROR" else {}
        super().emit(command, [(kept.get(name, name), value) for name, value in headers], body)


@plan
def _wrong_after_right(w: plans.Writer) -> None:
    line = w.line()
    w.say(line, "BEGIN", [("transaction", "t"), w.receipt()])
    w.say(line, "BEGIN", [w.receipt()])


@mutant("error-names-other", "ERROR-04", one("BEGIN"))
class ErrorNamesOther(Session):
    """ERROR has a receipt-id that nobody asked for."""

    def emit(self, command: str, headers: list[tuple[str, str]], body: bytes = b"") -> None:
        if command == "ERROR":
            headers = [(name, "error-1" if name == "receipt-id" else value) for name, value in headers]
        super().emit(command, headers, body)


@plan
def _wrong_with_colon(w: plans.Writer) -> None:
    w.say(w.line(), "BEGIN", [("receipt", "r:1")])


@mutant("error-names-it-undecoded", "ERROR-04", _wrong_with_colon, accept="ENC-02 ENC-03 ERROR-08")
class ErrorNamesItUndecoded(Session):
    """ERROR repeats the receipt of the faulty frame as it came on the wire, and escapes that again."""

    def emit(self, command: str, headers: list[tuple[str, str]], body: bytes = b"") -> None:
        if command == "ERROR":
            headers = [(name, value.replace(":", "\\c") if name == "receipt-id" else value) for name, value in headers]
        super().emit(command, headers, body)


@mutant("error-names-last", "RECEIPT-03", _wrong_after_right, accept="ERROR-04")
class ErrorNamesLast(Session):
    """ERROR names the last receipt that was given, whatever frame it is about."""

    given = ""

    def receipt(self, receipt: str) -> None:
        self.given = receipt
        super().receipt(receipt)

    def emit(self, command: str, headers: list[tuple[str, str]], body: bytes = b"") -> None:
        if command == "ERROR" and self.given:
            headers = [(name, self.given if name == "receipt-id" else value) for name, value in headers]
        super().emit(command, headers, body)


@plan
def _six_subscriptions(w: plans.Writer) -> None:
    line = w.line()
    for n in range(6):
        w.say(line, "SUBSCRIBE", [("id", f"{n}"), ("destination", TOPIC), w.receipt()])


@mutant("five-subscriptions", "ERROR-07", _six_subscriptions, accept="SUB-05 SUB-06 SUB-10", level="SHOULD")
class FiveSubscriptions(Session):
    """A sixth subscription is refused."""

    def on_SUBSCRIBE(self, frame: Frame) -> None:
        super().on_SUBSCRIBE(frame)
        if len(self.subscriptions) > 5:
            raise Refused("too many subscriptions")


@plan
def _nobody_there(w: plans.Writer) -> None:
    w.send(w.line(), Ref("topic", "nobody"), tag=False, receipt=w.receipt())


@mutant("nobody-listens", "ERROR-07", _nobody_there, accept="SEND-06 SEND-05")
class NobodyListens(Session):
    """A SEND to a topic without subscribers is refused."""

    def on_SEND(self, frame: Frame) -> None:
        name = frame.first.get("destination", "")
        if name.startswith("/topic/") and name not in self.server.broker.destinations:
            raise Refused("nobody listens")
        super().on_SEND(frame)


@plan
def _idle_then_busy(w: plans.Writer) -> None:
    line = w.line()
    w.wait(3000)
    w.send(line, TOPIC, receipt=w.receipt())


@mutant("stale-session", "ERROR-07", _idle_then_busy, accept="SEND-05 HB-07 HB-03 HB-02")
class StaleSession(Session):
    """The first frame after two seconds of silence is refused."""

    def handle(self, frame: Frame) -> None:
        before, self.last = getattr(self, "last", self.server.now), self.server.now
        if self.server.now - before > 2000:
            self.fail("the session has expired", frame)
        else:
            super().handle(frame)


# -- DISCONNECT --------------------------------------------------------------------------------------------------------


mutant("disconnect-unanswered", "DISC-03", one("DISCONNECT"), accept="RECEIPT-01 DISC-08", smoke=False)(
    "DISCONNECT closes the connection without its RECEIPT.",
    on(Session, "on_receipt").skips(when=lambda frame: frame.command == "DISCONNECT"),
)
mutant(
    "disconnect-always-answered", "DISC-08", plan(lambda w: w.disconnect(w.line(), receipt=False)), accept="RECEIPT-06"
)(
    "DISCONNECT gets a RECEIPT even if it asks for none.",
    on(Session, "on_DISCONNECT").after(
        lambda self: self.receipt(""), when=lambda _frame: "receipt" not in _frame.first
    ),
)


@plan
def _gone_but_subscribed(w: plans.Writer) -> None:
    line, other = w.line(), w.line(1)
    w.subscribe(line, TOPIC)
    w.disconnect(line)
    w.send(other, TOPIC)


mutant(
    "delivers-after-disconnect",
    "DISC-04",
    _gone_but_subscribed,
    accept="MSG-09",
    switches={"disconnect": "client-closes"},
)(
    "After the RECEIPT of DISCONNECT messages go on coming until the client closes.",
    on(Session, "on_DISCONNECT").skips(),
)
mutant("farewell", "DISC-04", one("DISCONNECT"), smoke=False)(
    "The RECEIPT of DISCONNECT is followed by an ERROR that says good-bye.",
    on(Session, "leave").before(lambda self: self.emit("ERROR", [("message", "good-bye")])),
)


@plan
def _sent_after_disconnect(w: plans.Writer) -> None:
    listener, line = w.line(1), w.line()
    w.subscribe(listener, TOPIC, receipt=w.receipt())
    w.say(line, "DISCONNECT", when="join")
    w.send(line, TOPIC, when="now")


@mutant("executed-after-disconnect", "DISC-06", _sent_after_disconnect, accept="INV-38", level="SHOULD")
class ExecutedAfterDisconnect(Session):
    """What stands behind DISCONNECT in the same segment is carried out."""

    def leave(self) -> None:
        while (behind := next_frame(self.parser)) is not None:
            self.phase = Phase.LIVE
            self.handle(behind)
        super().leave()


def _sent_before_disconnect(ask: bool):
    def play(w: plans.Writer) -> None:
        listener, line = w.line(1), w.line()
        w.subscribe(listener, TOPIC, receipt=w.receipt())
        w.send(line, TOPIC, when="join")
        w.say(line, "DISCONNECT", [w.receipt()] if ask else [], when="now")

    return plan(play)


def _overtaken_by(farewell: bytes) -> type[Session]:
    class Overtaken(Session):
        def publish(self, frame: Frame) -> None:
            if farewell not in self.parser._buffer[self.parser._at :]:
                super().publish(frame)

    return Overtaken


mutant("last-words-lost", "DISC-09", _sent_before_disconnect(True), accept="DISC-07 FRAME-06", level="SHOULD")(
    "A DISCONNECT that asks for a receipt overtakes the SENDs before it in the same segment.",
    _overtaken_by(b"DISCONNECT\nreceipt:"),
)
mutant("last-words-lost-in-a-hurry", "DISC-07", _sent_before_disconnect(False), accept="FRAME-06", level="SHOULD")(
    "A DISCONNECT that asks for nothing overtakes the SENDs before it in the same segment.",
    _overtaken_by(b"DISCONNECT\n\n"),
)


@plan
def _disconnected_and_sending(w: plans.Writer) -> None:
    line = w.line()
    w.say(line, "DISCONNECT", when="join")
    w.send(line, TOPIC, receipt=w.receipt(), when="now")


mutant("disconnect-ignored", "DISC-06", _disconnected_and_sending, accept="DISC-08 INV-38", level="SHOULD")(
    "DISCONNECT without a receipt is ignored: the session goes on.",
    on(Session, "handle").skips(when=lambda frame: frame.command == "DISCONNECT" and "receipt" not in frame.first),
)
