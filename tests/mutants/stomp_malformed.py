"""Faults in what becomes of frames that are broken, or odd."""

from __future__ import annotations

from impls.references.stomp.reference import Broker, Frame, Malformed, Parser, Refused, Session
from specs.plan import Ref
from strategies.stomp import writer as plans
from tests.mutants.faults import has, on
from tests.mutants.kit import BROKEN_BEGIN, QUEUE, TOPIC, TOPIC_2, mutant, one, plan, raw

# -- broken frames -----------------------------------------------------------------------------------------------------


class _Deaf(Session):
    """Says nothing about frames that cannot be read for some reason, and goes on."""

    reason = ""

    def on_malformed(self, malformed: Malformed) -> None:
        if self.reason in str(malformed):
            self.parser.skip()
            self.work()
        else:
            super().on_malformed(malformed)


class _Skips(Parser):
    """Can step over a frame whose body has no NUL, and tells a backslash that stands last from other escapes."""

    def skip(self) -> None:
        end = self._buffer.find(0, self._at)
        self._at = self._seen = len(self._buffer) if end < 0 else end + 1

    def unescape(self, text: str) -> str:
        try:
            return super().unescape(text)
        except Malformed:
            if (len(text) - len(text.rstrip("\\"))) % 2:
                raise Malformed("a backslash stands alone") from None
            raise


mutant("undefined-escape-unheard", "INV-14", raw(b"BEGIN\ntransaction:t\na:\\t\n\n\0"), accept="ENC-04", also=[_Skips])(
    "A frame with an undefined escape is dropped in silence and the connection goes on.", has(_Deaf, reason="escape")
)
mutant(
    "trailing-backslash-unheard", "INV-15", raw(b"BEGIN\ntransaction:t\na:\\\n\n\0"), accept="ENC-05", also=[_Skips]
)(
    "A frame with a single backslash at the end of a value is dropped in silence and the connection goes on.",
    has(_Deaf, reason="alone"),
)


@mutant("bad-length-unheard", "INV-17", raw(BROKEN_BEGIN + b"content-length:x\n\n\0"), accept="CLEN-09", level="SHOULD",
        also=[_Skips])  # fmt: skip
class BadLengthUnheard(_Deaf):
    """A frame whose content-length is no number is dropped in silence and the connection goes on."""

    reason = "not a number"


@mutant("cr-escape-in-1.1-unheard", "INV-43", raw(BROKEN_BEGIN + b"a:\\r\n\n\0", version="1.1"), accept="ENC-11 INV-14",
        also=[_Skips])  # fmt: skip
class CrEscapeInOldSessionsUnheard(_Deaf):
    r"""A frame of a session of 1.1 with the escape \r is dropped in silence and the connection goes on."""

    reason = "escape"


@plan
def _no_blank_line(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, TOPIC)
    w.blurt(line, b"SEND\nk:1\ndestination:", TOPIC, b"\n\0")


@mutant("blank-line-not-wanted", "INV-29", _no_blank_line, accept="MSG-09", level="SHOULD")
class BlankLineNotWanted(Parser):
    """A frame without the blank line behind its headers is carried out."""

    def feed(self, data: bytes) -> None:
        whole = data.startswith(b"SEND\n") and data.endswith(b"\n\0") and b"\n\n" not in data
        super().feed(data.replace(b"\n\0", b"\n\n\0") if whole else data)


@plan
def _wrapping_length(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, TOPIC)
    w.blurt(line, b"SEND\nk:1\ncontent-length:%d\ndestination:" % (2**64 + 5), TOPIC, b"\n\nhello\0")


mutant("length-wraps", "CLEN-01", _wrapping_length, accept="CLEN-09")(
    "A content-length is kept in 64 bits: one that is much too large becomes a small one.",
    on(Parser, "content_length").takes(value=lambda value: str(int(value) % 2**64) if value.isdecimal() else value),
)


@plan
def _from_a_client(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, TOPIC)
    w.say(line, "MESSAGE", [("destination", TOPIC), ("message-id", "1"), ("subscription", "0"), ("k", "1")], b"x")


mutant("message-from-client", "INV-28", _from_a_client, accept="MSG-09 FRAME-07", level="SHOULD")(
    "A MESSAGE from a client is passed on like a SEND.",
    on(Session, "handle").takes(
        frame=lambda frame: frame._replace(command="SEND") if frame.command == "MESSAGE" else frame
    ),
)


# -- odd, but legal ----------------------------------------------------------------------------------------------------


mutant("extra-header-refused-on-begin", "HDR-05", one("BEGIN", ("transaction", "t"), ("x", "1")))(
    "A header of BEGIN that the server does not know is refused.",
    on(Session, "on_BEGIN").raises(
        lambda: Refused("what is that?"),
        when=lambda frame: not frame.first.keys() <= {"transaction", "receipt", "content-length"},
    ),
)


@plan
def _blank_in_name(w: plans.Writer) -> None:
    line = w.line()
    w.say(line, "SUBSCRIBE", [("id", "0"), ("destination", Ref("odd", "{name} a")), w.receipt()])
    w.send(line, Ref("odd", "{name} b"))


mutant("names-cut-at-blank", "SEND-03", _blank_in_name, accept="SEND-02 MSG-02")(
    "The name of a destination ends at its first blank.",
    on(Broker, "find").takes(name=lambda name: name.partition(" ")[0]),
)


@plan
def _undefined_in_transaction(w: plans.Writer) -> None:
    listener, line = w.line(1), w.line()
    w.subscribe(listener, TOPIC_2, receipt=w.receipt())
    w.say(line, "BEGIN", [("transaction", "t")])
    w.send(line, TOPIC_2, headers=[("transaction", "t")])
    w.wait()
    w.blurt(line, b"COMMIT\ntransaction:t\na:\\t\n\n\0")


@mutant(
    "broken-commit-commits",
    "ENC-04",
    _undefined_in_transaction,
    accept="TXN-05 INV-14 TXN-02",
)
class BrokenCommitCommits(Session):
    """A COMMIT with an undefined escape is carried out before the ERROR about it."""

    def on_malformed(self, malformed: Malformed) -> None:
        if malformed.frame is not None and malformed.frame.command == "COMMIT":
            for transaction in self.transactions.values():
                self.commit(transaction)
        super().on_malformed(malformed)


@plan
def _broken_subscribe(w: plans.Writer) -> None:
    line = w.line()
    w.send(line, QUEUE)
    w.blurt(line, b"SUBSCRIBE\nid:0\na:\\t\ndestination:", QUEUE, b"\n\n\0")


@mutant(
    "broken-subscribe-subscribes",
    "ENC-04",
    _broken_subscribe,
    accept="MSG-09 MSG-04 INV-14",
)
class BrokenSubscribeSubscribes(Session):
    """A SUBSCRIBE with an undefined escape gets what waits for it before the ERROR."""

    def on_malformed(self, malformed: Malformed) -> None:
        destinations = self.server.broker.destinations
        if malformed.frame is not None and malformed.frame.command == "SUBSCRIBE" and destinations:
            name = next(reversed(destinations))
            self.on_SUBSCRIBE(Frame("SUBSCRIBE", [], {"id": "0", "destination": name}, b"", 0))
        super().on_malformed(malformed)


def _ack_then_lost(how: bytes):
    def play(w: plans.Writer) -> None:
        line = w.line()
        w.subscribe(line, QUEUE, "client")
        w.send(line, QUEUE)
        w.wait()
        w.blurt(line, b"ACK\nid:" + how + b"\n\n\0")
        w.wait()
        w.subscribe(w.line(9), QUEUE, receipt=w.receipt())

    return plan(play)


@mutant("unknown-ack-settles", "ACK-02", _ack_then_lost(b"unknown"), accept="ACK-03 INV-09 ACKMODE-03")
class UnknownAckSettles(Session):
    """An ACK of something unknown gets its ERROR, and settles everything on the way."""

    def on_ACK(self, frame: Frame) -> None:
        try:
            super().on_ACK(frame)
        except Refused:
            for delivery in [*self.unacked.values()]:
                self.release(delivery)
            raise


mutant("broken-ack-settles", "ACK-02", _ack_then_lost(b"2\na:\\t"), accept="ENC-04 INV-14 ACKMODE-03")(
    "An ACK with an undefined escape settles the oldest message before the ERROR.",
    on(Session, "on_malformed").before(
        lambda self: self.release(next(iter(self.unacked.values()))),
        when=lambda self, malformed: malformed.frame is not None and malformed.frame.command == "ACK" and self.unacked,
    ),
)


@mutant(
    "strange-name-in-silence",
    "INV-03",
    one("SEND", ("destination", Ref("odd", "{name} a"))),
    accept="SEND-03 SEND-06",
)
class StrangeNameInSilence(Session):
    """A SEND to a name that the server refuses closes the connection without an ERROR."""

    def on_SEND(self, frame: Frame) -> None:
        if " " in frame.first.get("destination", ""):
            self.on_lost_connection()
            self.end()
        else:
            super().on_SEND(frame)
