"""Faults in heart-beats: what was agreed, beats that do not come, and clients that are given up too early."""

from __future__ import annotations

import math

from impls.references.stomp.reference import Frame, Parser, Phase, Session, Writer
from specs.plan import Say
from specs.stomp.frames import BEAT
from strategies.stomp import writer as plans
from tests.mutants.faults import on
from tests.mutants.kit import TOPIC, connect_with, connecting, mutant, plan


def _agreed(beats: str | None, *waits: int, life: str = "", ask: bool = False):
    """CONNECT with heart-beats, pauses of so many ms, a sign of life between them, perhaps a frame behind them."""

    def play(w: plans.Writer) -> None:
        line = w.bare(0)
        connect_with(w, line, heart_beat=beats)
        w.wait()
        for number, ms in enumerate(waits):
            if number and life == "eol":
                w.steps.append(Say(line.number, BEAT))
            elif number and life == "frame":
                w.send(line, TOPIC)
            elif number and life == "octets":
                w.blurt(line, b"SEND\ndestination:" if number == 1 else b"x")
            w.wait(ms)
        if ask:
            w.send(line, TOPIC, receipt=w.receipt())

    return plan(play)


mutant("one-number", "HB-01", connecting(), smoke=False)(
    "heart-beat of CONNECTED holds one number.",
    on(Session, "emit").takes(headers=lambda headers: [(n, "500" if n == "heart-beat" else v) for n, v in headers]),
)
mutant("blank-behind-comma", "HB-01", connecting(), smoke=False)(
    "heart-beat of CONNECTED has a blank behind its comma.",
    on(Session, "emit").takes(
        headers=lambda headers: [(n, "500, 500" if n == "heart-beat" else v) for n, v in headers]
    ),
)
mutant("beats-promised-only", "HB-04", _agreed("0,500", 2000))(
    "Heart-beats are agreed on and never sent.", on(Session, "beat").skips()
)


@plan
def _opened_by_stomp(w: plans.Writer) -> None:
    w.connect(0, command="STOMP", extra=[("heart-beat", "0,500")])
    w.wait(2000)


mutant("no-beats-for-stomp", "HB-04", _opened_by_stomp, accept="CONNECT-05")(
    "A session that was opened by STOMP gets no heart-beats, though CONNECTED promises them.",
    on(Session, "agree_on_beats").skips(when=lambda frame: frame.command == "STOMP"),
)


@plan
def _opened_for_1_1(w: plans.Writer) -> None:
    w.version = "1.1"
    w.connect(0, extra=[("heart-beat", "0,500")])
    w.wait(2000)


mutant("no-beats-in-1.1", "HB-04", _opened_for_1_1)(
    "A session of 1.1 gets no heart-beats, though CONNECTED promises them.",
    on(Session, "agree_on_beats").skips(when=lambda self: self.version == "1.1"),
)
mutant("beats-stop", "HB-04", _agreed("0,500", 4000))(
    "Only the first three heart-beats are sent.", on(Session, "beat").skips(when=lambda calls: calls > 3)
)
mutant("beats-too-slow", "HB-04", _agreed("0,500", 4000))(
    "Heart-beats come at the sum of both intervals, three times over.",
    on(Session, "beat_due").instead(lambda self: self.said + 3 * 2 * self.beat_out, when=lambda self: self.beat_out),
)


@mutant("beats-crossed", "HB-04", _agreed("0,500", 2000), accept="HB-02 HB-03")
class BeatsCrossed(Session):
    """The two numbers of the client are taken in the wrong order."""

    def agree_on_beats(self, frame: Frame) -> None:
        super().agree_on_beats(frame)
        self.beat_out, self.beat_in = self.beat_in, self.beat_out


mutant("beats-after-frames", "HB-04", _agreed("0,500", 350, 350, 350, 350, 350, life="frame"))(
    "What the client sends puts off the server's own heart-beat.",
    on(Session, "send").before(lambda self: setattr(self, "said", self.server.now)),
)
mutant("beats-are-nul", "HB-05", _agreed("0,500", 1000), accept="FRAME-01")(
    "A heart-beat is a NUL.", on(Writer, "eol").instead(lambda: b"\0")
)
mutant("beats-are-blank", "HB-05", _agreed("0,500", 1000, ask=True), accept="FRAME-01 FRAME-08")(
    "A heart-beat is a blank.", on(Writer, "eol").instead(lambda: b" ")
)
mutant("client-given-up", "HB-02", _agreed(None, 2000), accept="HB-03 HB-08")(
    "A silent client is given up after 1.5 s, whether heart-beats were agreed on or not.",
    on(Session, "overdue_at").instead(lambda self: self.heard + 1500),
)
mutant("zero-means-default", "HB-03", _agreed("0,500", 1200), accept="HB-02 HB-08 HB-09")(
    "A client that promises no heart-beats is still expected to send them at the server's interval.",
    on(Session, "beat_interval").instead(lambda one, other: max(one, other) if one else 0),
)
mutant("smaller-interval", "HB-08", _agreed("2000,0", 1500), accept="HB-09 HB-03")(
    "Of two intervals the smaller one is agreed on, so that a slow client is given up too early.",
    on(Session, "beat_interval").instead(lambda one, other: min(one, other) if one and other else 0),
)
mutant("given-up-early", "HB-08", _agreed("500,0", 490), accept="HB-09")(
    "A client is given up a tenth of the interval before it is over.",
    on(Session, "overdue_at").instead(lambda self: self.heard + self.beat_in * 0.9, when=lambda self: self.beat_in),
)
mutant("long-interval-wraps", "HB-08", _agreed("3600000,0", 1500), accept="HB-09")(
    "An interval of more than 35 minutes is too large for what it is kept in, and a client is given up after a second.",
    on(Session, "overdue_at").instead(lambda self: self.heard + 1000, when=lambda self: self.beat_in * 1000 >= 2**31),
)


@mutant("long-interval-wraps-and-an-error", "HB-08", _agreed("3600000,0", 1500), accept="HB-09")
class LongIntervalWrapsAndAnError(Session):
    """The same, and the client is told so by an ERROR."""

    def overdue_at(self) -> float:
        return self.heard + 1000 if self.beat_in * 1000 >= 2**31 else super().overdue_at()

    def on_overdue(self) -> None:
        self.fail("the client has been silent for too long")


mutant("no-margin", "HB-09", _agreed("500,0", 600), accept="HB-08", level="SHOULD")(
    "A client is given up the moment the interval is over.",
    on(Session, "overdue_at").instead(lambda self: self.heard + self.beat_in, when=lambda self: self.beat_in),
)


@mutant("eol-is-no-life", "HB-07", _agreed("500,0", 400, 400, 400, life="eol"), accept="HB-08 HB-09")
class EolIsNoLife(Session):
    """An EOL does not count as a sign of life."""

    def send(self, data: bytes) -> None:
        heard = self.heard
        super().send(data)
        if not data.strip(b"\r\n"):
            self.heard = heard


@mutant(
    "frame-is-no-life",
    "HB-06",
    _agreed("500,0", 400, 400, 400, life="frame"),
    accept="HB-08 HB-09",
)
class FrameIsNoLife(Session):
    """Only an EOL counts as a sign of life."""

    def send(self, data: bytes) -> None:
        heard = self.heard
        super().send(data)
        if data.strip(b"\r\n") and self.phase is Phase.LIVE and not data.startswith((b"CONNECT", b"STOMP")):
            self.heard = heard


@mutant(
    "half-frame-is-no-life",
    "HB-10",
    _agreed("500,0", 400, 400, 400, life="octets"),
    accept="HB-08 HB-09",
)
class HalfFrameIsNoLife(Session):
    """Octets of a frame that is not complete do not count as a sign of life."""

    def send(self, data: bytes) -> None:
        heard = self.heard
        super().send(data)
        if self.parser.held:
            self.heard = heard


@mutant("half-frame-gets-an-error", "HB-10", _agreed("500,0", 400, 400, 400, life="octets"), accept="HB-08 HB-09")
class HalfFrameGetsAnError(HalfFrameIsNoLife):
    """The same, and the client is told so by an ERROR."""

    def on_overdue(self) -> None:
        self.fail("the client has been silent for too long")


@mutant("no-margin-and-an-error", "HB-09", _agreed("500,0", 600), accept="HB-08", level="SHOULD")
class NoMarginAndAnError(Session):
    """A client gets an ERROR the moment the interval is over."""

    def overdue_at(self) -> float:
        return self.heard + self.beat_in if self.beat_in else math.inf

    def on_overdue(self) -> None:
        self.fail("the client has been silent for too long")


@mutant("beats-put-off-by-what-it-hears", "HB-04", _agreed("100,500", *[350] * 5, life="eol"))
class BeatsPutOffByWhatItHears(Session):
    """Whatever the client says puts the server's own heart-beat off."""

    def beat_due(self) -> float:
        return super().beat_due() + (self.heard - self.said if self.heard > self.said else 0)


@plan
def _one_behind_another(w: plans.Writer) -> None:
    connect_with(w, w.bare(0), heart_beat="200,0")
    w.wait()
    connect_with(w, w.bare(1), heart_beat=None)
    w.wait(1500)


@mutant("beats-of-the-one-before", "HB-02", _one_behind_another, accept="HB-03 HB-08 HB-09 ERROR-07 ERROR-02")
class BeatsOfTheOneBefore(Session):
    """Who says nothing of heart-beats is held to what the session before has asked for."""

    def agree_on_beats(self, frame: Frame) -> None:
        super().agree_on_beats(frame)
        if "heart-beat" in frame.first:
            vars(self.server)["kept_beat"] = self.beat_in
        else:
            self.beat_in = vars(self.server).get("kept_beat", 0)


mutant("eol-breaks-frame", "HB-07", _agreed("500,0", 300, 300, life="eol", ask=True), accept="FRAME-03")(
    "An EOL that comes alone is kept in front of the next command.", on(Parser, "_skip_eols").instead(lambda: True)
)
mutant("strange-beats-ignored", "INV-37", connecting(heart_beat="abc"), accept="HB-01", level="SHOULD")(
    "A heart-beat header that cannot be read counts as none.",
    on(Session, "agree_on_beats").skips(
        when=lambda frame: not frame.first.get("heart-beat", "0,0").replace(",", "").isdecimal()
    ),
)
