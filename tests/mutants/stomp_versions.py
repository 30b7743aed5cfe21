"""Faults in what each version makes of header texts."""

from __future__ import annotations

from impls.references.stomp.broker import Message, Subscription
from impls.references.stomp.reference import Frame, Parser, Session, Writer
from strategies.stomp import writer as plans
from tests.mutants.faults import on
from tests.mutants.kit import BROKEN_BEGIN, QUEUE, TOPIC, mutant, plan, raw, round_trip

# -- versions ----------------------------------------------------------------------------------------------------------


@mutant(
    "cr-escape-in-1.1", "ENC-11", raw(BROKEN_BEGIN + b"a:x\\ry\n\n\0", version="1.1"), accept="INV-43",
)  # fmt: skip
class CrEscapeInOldSessions(Parser):
    r"""A session of 1.1 knows the escape \r of 1.2."""

    def unescape(self, text: str) -> str:
        version, self._version = self._version, "1.2"
        try:
            return super().unescape(text)
        finally:
            self._version = version


@mutant("unescaped-in-1.0", "ENC-12", round_trip(("a", "x\\ny"), version="1.0"))
class UnescapedInOldestSessions(Parser):
    """Escapes are undone in sessions of 1.0, which has none."""

    def read_headers(self, command: str, lines: list[str]) -> list[tuple[str, str]]:
        headers = super().read_headers(command, lines)
        if self.version != "1.0" or command in ("CONNECT", "STOMP"):
            return headers
        return [(name, value.replace(r"\n", "n")) for name, value in headers]


@mutant("escaped-in-1.0", "ENC-12", round_trip(("a", "x\\y"), version="1.0"))
class EscapedInOldestSessions(Writer):
    """Backslashes are escaped in sessions of 1.0, which has no escapes."""

    def escape(self, headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
        escaped = super().escape(headers)
        return escaped if self.version != "1.0" else [(name, value.replace("\\", "\\\\")) for name, value in escaped]


@mutant(
    "last-colon-splits",
    "ENC-12",
    round_trip(("a", "x:y"), version="1.0"),
    profile="1.0",
    accept="SEND-04 ENC-09 RECEIPT-02",
)
class LastColonSplits(Parser):
    """A header line of 1.0 is split at its last colon."""

    def split_header(self, line: str) -> tuple[str, str]:
        if self.version != "1.0" or line.count(":") == 1:
            return super().split_header(line)
        name, _, value = line.rpartition(":")
        return name, value


@plan
def _across_versions(w: plans.Writer) -> None:
    new = w.line()
    w.version = "1.1"
    old = w.line(1)
    w.subscribe(old, QUEUE, receipt=w.receipt())
    w.send(new, QUEUE, headers=[("a", "x\ry")])


@mutant("cr-escape-written-in-1.1", "ENC-02", _across_versions, accept="NEGO-06 ENC-11")
class CrEscapeWrittenInOldSessions(Writer):
    r"""What came in by 1.2 goes out to a session of 1.1 with the escape \r."""

    def escape_header(self, text: str) -> str:
        return super().escape_header(text).replace("\r", r"\r")


mutant("old-escapes-in-1.2", "NEGO-06", round_trip(("a", "x\ry")), accept="ENC-02 ENC-03 ENC-12")(
    "The writer never hears which version was agreed on and escapes as 1.1 does.",
    on(Writer, "agree").takes(version=lambda: "1.1"),
)


class _Raw(str):
    """A text of a session of 1.0."""


@plan
def _from_the_oldest(w: plans.Writer) -> None:
    new = w.line()
    w.subscribe(new, TOPIC, receipt=w.receipt())
    w.version = "1.0"
    w.send(w.line(1), TOPIC, headers=[("a", "x\\ty:z")])


@mutant("unescaped-from-1.0", "ENC-02", _from_the_oldest, accept="ENC-10 FRAME-01 ENC-04")
class UnescapedFromOldestSessions(Session):
    """What came in by 1.0, which has no escapes, goes out to sessions of 1.2 without them."""

    def pass_through(self, frame: Frame) -> list[tuple[str, str]]:
        headers = super().pass_through(frame)
        return [(name, _Raw(value)) for name, value in headers] if self.version == "1.0" else headers

    def deliver(self, subscription: Subscription, message: Message) -> None:
        escape = self.writer.escape_header
        self.writer.escape_header = lambda text: text if isinstance(text, _Raw) else escape(text)
        try:
            super().deliver(subscription, message)
        finally:
            del self.writer.escape_header
