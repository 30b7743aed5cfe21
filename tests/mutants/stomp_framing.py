"""Faults in finding frames: lines, ends of frames, segments, commands, and what the server writes."""

from __future__ import annotations

import re

from impls.references.stomp.reference import Frame, Malformed, Parser, Session, Writer
from strategies.stomp import writer as plans
from strategies.stomp.writer import CRLF, CUTS, EOLS, JOIN, ORDER
from tests.mutants.faults import on
from tests.mutants.kit import QUEUE, TOPIC, mutant, next_frame, one, plan, round_trip

# -- lines ------------------------------------------------------------------------------------------------------------


mutant("cr-kept", "FRAME-02", one("BEGIN", ("transaction", "t"), style=CRLF), switches={"bare_cr": "keep"})(
    "The CR of a CR LF becomes the last octet of a header value.",
    on(Parser, "end_line").instead(lambda line: line if ":" in line else line.removesuffix("\r")),
)


@mutant("crlf-blank-line-missed", "FRAME-02", one("BEGIN", ("transaction", "t"), style=CRLF))
class CrlfBlankLineMissed(Parser):
    """Only two LFs in a row end the headers, so that a frame in CR LF has none of its body."""

    @Parser.version.setter
    def version(self, version: str) -> None:
        Parser.version.fset(self, version)
        self._blank_line = re.compile(rb"\n\n")


@plan(wire=EOLS)
def _eols(w: plans.Writer) -> None:
    line = w.line()
    w.say(line, "BEGIN", [("transaction", "t")], style=EOLS)
    w.fresh()
    w.say(line, "COMMIT", [("transaction", "t"), w.receipt()])


@plan(wire=EOLS)
def _many_eols(w: plans.Writer) -> None:
    line = w.line()
    w.fresh()
    w.fresh()
    w.say(line, "BEGIN", [("transaction", "t")], style=EOLS)
    w.say(line, "COMMIT", [("transaction", "t"), w.receipt()])


@plan(wire=EOLS)
def _crlf_behind(w: plans.Writer) -> None:
    line = w.line()
    w.fresh()
    w.say(line, "BEGIN", [("transaction", "t")], style=EOLS)
    w.say(line, "COMMIT", [("transaction", "t"), w.receipt()])


mutant("eol-begins-command", "FRAME-03", _eols, accept="HB-07")(
    "An EOL behind the NUL is taken for the beginning of the next frame's command line.",
    on(Parser, "_skip_eols").instead(lambda: True),
)


@mutant("one-eol-skipped", "FRAME-03", _many_eols, accept="HB-07")
class OneEolSkipped(Parser):
    """Only one EOL is skipped behind a frame."""

    def _skip_eols(self) -> bool:
        before = self._at
        held = super()._skip_eols()
        if self._at > before + 1:
            self._at = self._seen = self._line = before + 1
            return True
        return held


mutant("crlf-between-frames-kept", "FRAME-03", _crlf_behind, accept="HB-07")(
    "Between frames LF is skipped, but CR LF is not.",
    on(Parser, "__init__").after(lambda self: setattr(self, "_eols", re.compile(rb"\n*+"))),
)
mutant("headers-required", "FRAME-04", plan(lambda w: w.disconnect(w.line(), receipt=False)))(
    "A frame without a single header line is taken for a broken one.",
    on(Parser, "read_headers").takes(lines=lambda lines: lines or [""]),
)


# -- commands and names ------------------------------------------------------------------------------------------------


@plan
def _small_send(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, TOPIC)
    w.say(line, "send", [("destination", TOPIC), ("k", "1")], b"x")


mutant("commands-any-case", "FRAME-05", _small_send, accept="INV-27")(
    "Commands are understood in any case.",
    on(Session, "handle").takes(frame=lambda frame: frame._replace(command=frame.command.upper())),
)
mutant(
    "header-names-any-case", "FRAME-05", one("SEND", ("Destination", TOPIC)), accept="SEND-01 SEND-06 INV-01 SUB-01"
)(
    "A header is found under its name in any case.",
    on(Parser, "read_headers").gives(lambda found: [(name.lower(), value) for name, value in found]),
)


@plan
def _padded_send(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, TOPIC)
    w.say(line, "SEND ", [("destination", TOPIC), ("k", "1")], b"x")


mutant("commands-stripped", "FRAME-05", _padded_send, accept="INV-27 FRAME-07", level="SHOULD")(
    "Blanks around a command are ignored and the frame is carried out.",
    on(Session, "handle").takes(frame=lambda frame: frame._replace(command=frame.command.strip())),
)


@plan
def _long_command(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, TOPIC)
    w.say(line, "SENDER", [("destination", TOPIC), ("k", "1")], b"x")


mutant("commands-by-prefix", "INV-27", _long_command, accept="FRAME-05 FRAME-07 MSG-09", level="SHOULD")(
    "A command is recognised by how it begins.",
    on(Session, "handle").takes(
        frame=lambda self, frame: frame._replace(
            command=next(
                ((name for name in sorted(self.commands, key=len, reverse=True) if frame.command.startswith(name))),
                frame.command,
            )
        )
    ),
)


@mutant("order-of-headers", "HDR-04", round_trip(style=ORDER), accept="REPEAT-01")
class OrderOfHeaders(Session):
    """The destination of a SEND is only found when it stands before the sender's own headers."""

    def on_SEND(self, frame: Frame) -> None:
        names = [name for name, _ in frame.headers]
        if names[-1] == "destination" and len(names) > 1:
            frame = frame._replace(first={name: value for name, value in frame.first.items() if name != "destination"})
        super().on_SEND(frame)


# -- segments ---------------------------------------------------------------------------------------------------------


@mutant("one-segment-a-frame", "FRAME-06", one("BEGIN", ("transaction", "t"), style=CUTS), accept="CLEN-08 ERROR-07")
class OneSegmentAFrame(Parser):
    """What is left of a segment when no whole frame is in it is thrown away."""

    def next(self) -> Frame | None:
        found = super().next()
        if found is None:
            self._buffer.clear()
            self._head, self._length = None, None
            self._at = self._seen = self._line = 0
        return found


@plan(wire=JOIN)
def _two_at_once(w: plans.Writer) -> None:
    line = w.line()
    w.say(line, "BEGIN", [("transaction", "t")], style=JOIN)
    w.say(line, "COMMIT", [("transaction", "t"), w.receipt()], style=JOIN)


mutant("second-in-segment-lost", "FRAME-06", _two_at_once, accept="CONNECT-14")(
    "Of two frames in one segment only the first is read.",
    on(Session, "handle").before(lambda self: next_frame(self.parser)),
)


@plan(wire=JOIN)
def _three_at_once(w: plans.Writer) -> None:
    line = w.line()
    w.say(line, "BEGIN", [("transaction", "t")], style=JOIN)
    w.send(line, QUEUE, b"x", [("transaction", "t")], style=JOIN)
    w.say(line, "COMMIT", [("transaction", "t"), w.receipt()], style=JOIN)


@mutant("third-in-segment-waits", "FRAME-06", _three_at_once)
class ThirdInSegmentWaits(Session):
    """At most two frames are taken out of a segment; further ones wait for more octets to come."""

    taken = 0

    def send(self, data: bytes) -> None:
        self.taken = 0
        super().send(data)

    def work(self) -> None:
        frame = True
        while self.listening and frame and self.taken < 2:
            try:
                frame = self.parser.next()
            except Malformed as malformed:
                self.on_malformed(malformed)
                return
            if frame:
                self.taken += 1
                self.handle(frame)


@plan(wire=CUTS)
def _characters_in_pieces(w: plans.Writer) -> None:
    line = w.line()
    for _ in range(3):
        w.fresh()
    w.say(line, "BEGIN", [("transaction", "t"), ("receipt", "é漢😀")], style=CUTS)


_GONE_ON = re.compile(rb"\A[\x80-\xbf]+")
_BEGUN = re.compile(rb"([\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})\Z")
_LOST = "\ufffd".encode()


mutant("characters-cut", "FRAME-06", _characters_in_pieces, accept="ENC-01 ENC-13 RECEIPT-02")(
    "Each segment is decoded by itself, so that a character that is cut in two is lost.",
    on(Parser, "feed").takes(data=lambda data: _BEGUN.sub(_LOST, _GONE_ON.sub(_LOST, data))),
)


@plan
def _cr_lf_apart(w: plans.Writer) -> None:
    line = w.line()
    w.blurt(line, b"BEGIN\r\ntransaction:t\r\nreceipt:r\r")
    w.blurt(line, b"\n\r\n\0")


@mutant("cr-at-segment-end", "FRAME-06", _cr_lf_apart, accept="FRAME-02 RECEIPT-02", switches={"bare_cr": "keep"})
class CrAtSegmentEnd(Parser):
    """A CR is only dropped when its LF came in the same segment."""

    def feed(self, data: bytes) -> None:
        self.odd = bool(self._buffer) and self._buffer.endswith(b"\r") and data.startswith(b"\n")
        super().feed(data)

    def end_line(self, line: str) -> str:
        return line if self.odd and line.startswith("receipt") else super().end_line(line)


@plan(wire=CUTS)
def _body_in_pieces(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, QUEUE)
    w.fresh()
    w.fresh()
    w.send(line, QUEUE, b"0123456789" * 30, style=CUTS)


@mutant("body-of-first-segment", "FRAME-06", _body_in_pieces, accept="BODY-02")
class BodyOfFirstSegment(Parser):
    """A long body that comes in many pieces loses what came in the last of them."""

    pieces = 0

    def feed(self, data: bytes) -> None:
        self.pieces = self.pieces + 1 if self._head else 0
        super().feed(data)

    def next(self) -> Frame | None:
        found = super().next()
        return found._replace(body=found.body[:200]) if found and self.pieces > 10 else found


# -- what the server writes --------------------------------------------------------------------------------------------


mutant("no-blank-line", "FRAME-01", one("BEGIN", ("transaction", "t")), smoke=False)(
    "RECEIPT ends behind its last header: the blank line is left out, as in some printed examples.",
    on(Writer, "encode").gives(
        lambda command, found: found.replace(b"\n\n\0", b"\n\0") if command == "RECEIPT" else found
    ),
)
mutant("flag-without-colon", "ENC-09", one("BEGIN", ("transaction", "t")), accept="FRAME-01", smoke=False)(
    "RECEIPT has a header line that is a name alone.",
    on(Writer, "encode").gives(
        lambda command, found: found.replace(b"\n\n\0", b"\nprocessed\n\n\0") if command == "RECEIPT" else found
    ),
)


@mutant("no-nul", "FRAME-01", one("DISCONNECT"), accept="DISC-03 RECEIPT-01", smoke=False)
class NoNul(Writer):
    """The last RECEIPT has no NUL behind it, because the connection ends there anyway."""

    def encode(self, command: str, headers: list[tuple[str, str]], body: bytes = b"") -> bytes:
        data = super().encode(command, headers, body)
        return data.removesuffix(b"\0") if command == "RECEIPT" and headers[0][1].startswith(("d", "r1")) else data


mutant("crlf-in-1.1", "FRAME-01", one("BEGIN", ("transaction", "t"), version="1.1"), switches={"line_end": "crlf"})(
    "Frames are written with CR LF in sessions of 1.1 as well, where only LF is a line end.",
    on(Writer, "agree").after(lambda self, version: setattr(self, "crlf", version != "1.0")),
)


@mutant("crlf-behind-frames-in-1.1", "FRAME-01", plan(lambda w: w.line(), version="1.1"))
class CrLfBehindFrames(Writer):
    """In sessions of 1.1 a CR LF stands behind each frame, where an end of line is LF."""

    def encode(self, command: str, headers: list[tuple[str, str]], body: bytes = b"") -> bytes:
        return super().encode(command, headers, body) + b"\r\n" * (self.version == "1.1")


mutant("foreign-frame", "FRAME-08", one("BEGIN", ("transaction", "t")))(
    "A frame of the server's own, which no version knows, goes with every BEGIN.",
    on(Session, "on_BEGIN").after(
        lambda self, frame: self.emit("BEGUN", [("transaction", frame.first["transaction"])])
    ),
)
