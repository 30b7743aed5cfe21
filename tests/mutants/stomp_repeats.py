"""Faults in repeated headers, and in what is too large."""

from __future__ import annotations

from impls.references.stomp.parser import OverLimit
from impls.references.stomp.reference import Frame, Malformed, Parser, Server, Session
from strategies.stomp import writer as plans
from tests.mutants.faults import on
from tests.mutants.kit import QUEUE, QUEUE_2, TOPIC, TOPIC_2, connecting, mutant, one, plan, raw, round_trip

# -- repeated headers --------------------------------------------------------------------------------------------------


@plan
def _repeated_destination(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, QUEUE, receipt=w.receipt())
    w.say(line, "SEND", [("destination", QUEUE), ("destination", QUEUE_2), ("k", "1")], b"x")


mutant("last-destination", "REPEAT-01", _repeated_destination, level="SHOULD")(
    "Of a repeated header the last entry counts.",
    on(Parser, "next").gives(lambda found: found and found._replace(first=dict(found.headers))),
)


@mutant("last-receipt", "REPEAT-01", one("BEGIN", ("transaction", "t"), ("receipt", "first")), level="SHOULD")
class LastReceipt(Parser):
    """Of a repeated receipt header the last one is answered."""

    def next(self) -> Frame | None:
        found = super().next()
        last = found and [value for name, value in found.headers if name == "receipt"]
        return found._replace(first={**found.first, "receipt": last[-1]}) if found and last else found


@mutant(
    "last-length", "INV-20",
    raw(b"SEND\ndestination:", TOPIC, b"\nk:1\nreceipt:r\ncontent-length:5\ncontent-length:3\n\n12345\0"),
    accept="REPEAT-01 CLEN-01", level="SHOULD",
)  # fmt: skip
class LastLength(Parser):
    """Of a repeated content-length the last one is believed."""

    def read_headers(self, command: str, lines: list[str]) -> list[tuple[str, str]]:
        headers = super().read_headers(command, lines)
        lengths = [header for header in headers if header[0] == "content-length"]
        return lengths[-1:] + [header for header in headers if header[0] != "content-length"]


mutant("last-user-header", "REPEAT-02", round_trip(("a", "1"), ("a", "2")), level="SHOULD")(
    "Of a user's repeated header the last entry is delivered as the first.",
    on(Session, "pass_through").gives(lambda found: found[::-1]),
)


@mutant("headers-joined", "SEND-04", round_trip(("a", "1"), ("a", "2")), accept="MSG-08 REPEAT-02")
class HeadersJoined(Session):
    """The values of a repeated header are joined by commas, as HTTP does."""

    def pass_through(self, frame: Frame) -> list[tuple[str, str]]:
        joined: dict[str, str] = {}
        for name, value in super().pass_through(frame):
            joined[name] = f"{joined[name]},{value}" if name in joined else value
        return [*joined.items()]


# -- sizes ------------------------------------------------------------------------------------------------------------


@plan
def _long_line(w: plans.Writer) -> None:
    w.send(w.line(), TOPIC, headers=[("long", "x" * 5000)], receipt=w.receipt())


@mutant("over-limit-in-silence", "LIMIT-02", _long_line, accept="INV-39", level="SHOULD", switches={"max_line": 4096})
class OverLimitInSilence(Session):
    """A header line that is too long ends the connection without a word."""

    def on_malformed(self, malformed: Malformed) -> None:
        if isinstance(malformed, OverLimit):
            self.on_lost_connection()
            self.end()
        else:
            super().on_malformed(malformed)


@plan
def _long_line_beside(w: plans.Writer) -> None:
    other = w.line(1)
    w.send(w.line(), TOPIC, headers=[("long", "x" * 5000)])
    w.wait()
    w.send(other, TOPIC_2, receipt=w.receipt())


@mutant(
    "over-limit-for-all",
    "LIMIT-03",
    _long_line_beside,
    accept="ROB-02 FRAME-09",
    switches={"max_line": 4096},
)
class OverLimitForAll(Session):
    """A header line that is too long on one connection ends all the others, too."""

    def on_malformed(self, malformed: Exception) -> None:
        super().on_malformed(malformed)
        for other in [*self.server.sessions.values()]:
            other.end()


@plan
def _large_body(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, QUEUE)
    w.send(line, QUEUE, b"x" * 70_000)


mutant("large-body-cut", "FRAME-09", _large_body, accept="BODY-02 LIMIT-02")(
    "A body of more than 64 KiB is cut there instead of being refused.",
    on(Parser, "next").gives(lambda found: found and found._replace(body=found.body[:65_536])),
)


@mutant(
    "silent-server",
    "CONNECT-02",
    connecting(),
    smoke=False,
)
class SilentServer(Server):
    """CONNECT is never answered."""

    def open(self) -> Session:
        session = super().open()
        session.on_connected = lambda frame: None  # type: ignore[method-assign]
        return session
