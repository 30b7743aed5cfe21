"""Children that bear one invalid input badly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from impls.references.kcl.child import BadLine, Child, Exit, Need, Running, Switches
from impls.references.kcl.memory import Children, Session
from impls.references.kcl.wire import parse
from specs.kcl.frames import Text, message
from strategies.kcl import misuse, texts
from strategies.kcl.writer import Ways, Writer
from tests.mutants.faults import on
from tests.mutants.kcl_kit import child

SKIP = Switches(unknown="skip")


def _line(data: bytes, why: str = "no-json") -> Any:
    def play(w: Writer) -> None:
        w.say(Text(data, why))
        w.batch([w.record(b"behind")])

    return play


child("status-for-junk", "INV-CHILD-01", _line(b"no json"), switches=SKIP)(
    "What is no JSON gets a status.",
    on(Child, "dispatch").instead(
        lambda self: self.status("null"), when=lambda line: line.strip() and not line.strip().startswith(b"{")
    ),
)


@child("status-for-blank", "INV-CHILD-02", _line(b"", "blank"), switches=SKIP)
class StatusForBlank(Child):
    """An empty line gets the status of the last action once more."""

    action = ""

    def dispatch(self, line: bytes) -> Running:
        if not line.strip() and self.action:
            yield from self.status(self.action)
        yield from super().dispatch(line)

    def perform(self, action: str, members: dict[str, Any]) -> Running:
        self.action = action
        yield from super().perform(action, members)


@child("junk-hangs", "INV-CHILD-01", _line(b"no json"), switches=SKIP)
class JunkHangs(Child):
    """Nothing is answered after a line that is no JSON."""

    lost = False

    def dispatch(self, line: bytes) -> Running:
        self.lost = self.lost or (bool(line.strip()) and not line.strip().startswith(b"{"))
        if not self.lost:
            yield from super().dispatch(line)


def _crlf(w: Writer) -> None:
    w.batch([w.record(b"x")], Ways(32, 0))


child("lf-only", "INV-CHILD-05", _crlf, level="SHOULD", accept="REC-07 INIT-04 REC-09 INIT-05")(
    "A line that ends with CR LF is not understood.",
    on(Child, "dispatch").raises(lambda: BadLine("CR"), when=lambda line: line.endswith(b"\r")),
)


def _no_base64(w: Writer) -> None:
    extra = {"millisBehindLatest": 0} if w.config.wire.rich else {}
    w.say(message("processRecords", records=[{**w.record(b"x"), "data": "####"}], **extra))


@child("garbage-in", "INV-CHILD-06", _no_base64, accept="INV-CHILD-03", level="SHOULD")
class GarbageIn(Child):
    """What is no base64 is decoded all the same."""

    def record(self, record: Any) -> dict[str, Any]:
        try:
            return super().record(record)
        except BadLine:
            return super().record({**record, "data": ""})


child("half-a-status", "INV-CHILD-13", lambda w: w.bare(Text(b'{"action":"proc', "cut")))(
    "Half a line before the end of STDIN gets a status.",
    on(Child, "dispatch").instead(
        lambda self: self.status("processRecords"),
        when=lambda line: line.startswith(b'{"action":"proc') and not line.endswith((b"}", b"\r")),
    ),
)


def _answer(w: Writer) -> None:
    w.say(message("checkpoint", checkpoint="1", error=None))
    w.batch([w.record(b"x")])


child("answers-an-answer", "INV-CHILD-09", _answer, level="SHOULD", switches=SKIP)(
    "An answer that nobody asked for gets a status.",
    on(Child, "dispatch").instead(
        lambda self: self.status("processRecords"),
        when=lambda line: b'"checkpoint"' in line and b"processRecords" not in line and b"shutdown" not in line,
    ),
)


def bad_host(row: str, how: int = 0) -> Callable[[Writer], None]:
    """What a bad host does in a row of the invalid inputs."""
    return lambda w: misuse.ROWS[row](w, how)


FOREVER = Need(1 << 40)

OBJECT = next(n for n, (_, value) in enumerate(texts.MEMBERS) if isinstance(value, dict))


child("flattens", "INV-CHILD-04", bad_host("INV-CHILD-04", OBJECT), level="SHOULD", accept="FRAME-09 REC-07")(
    "A member of a record that is an object ends the child.",
    on(Child, "record").raises(
        lambda: BadLine("a record within a record"),
        when=lambda record: any(isinstance(value, dict) for value in record.values()),
    ),
)
child("quiet-second-beginning", "INV-CHILD-07", bad_host("INV-CHILD-07", 1), level="SHOULD")(
    "A second initialize ends it without a word.",
    on(Child, "dispatch").raises(
        lambda: Exit(0),
        when=lambda self, line: self.begun and line.strip().startswith(b"{") and parse(line)["action"] == "initialize",
    ),
)


class _Deaf(Session):
    """Hears nothing while it is at work."""

    def send(self, data: bytes) -> None:
        if not self._busy():
            super().send(data)

    def finish(self) -> bool:
        return self._busy() or super().finish()

    def _busy(self) -> bool:
        return self._need is not None and self._need.ms >= 0


class _Deafs(Children):
    session = _Deaf


def _at_once(w: Writer) -> None:
    w.batch([w.record(b"1")])
    w.features.add("together")
    w.when = "now"
    w.batch([w.record(b"2")])


DELAY = Switches(delay_ms=1)


child(
    "deaf-at-work",
    "INV-CHILD-08",
    _at_once,
    level="SHOULD",
    switches=DELAY,
    sessions=_Deafs,
    accept="PROC-08 INV-CHILD-14",
)("What comes while it works is lost.", Child)


@child("other-number-is-the-end", "INV-CHILD-10", bad_host("INV-CHILD-10"), level="SHOULD")
class OtherNumberIsTheEnd(Child):
    """An answer for another number ends it without a word."""

    def checkpoint(self, number: str | None) -> Running:
        yield from self.say(self.request(number))
        line = yield from self.next_line()
        if line is not None and parse(line).get(self.profile.number, number) != number:
            raise Exit(0)
        self.result(line)


@child("keeps-answers", "INV-CHILD-09", bad_host("INV-CHILD-09", 2), level="SHOULD", switches=SKIP)
class KeepsAnswers(Child):
    """An answer that nobody asked for is kept for the next request."""

    kept: bytes | None = None

    def dispatch(self, line: bytes) -> Running:
        if line.startswith(b'{"action":"checkpoint"'):
            self.kept = line
        else:
            yield from super().dispatch(line)

    def checkpoint(self, number: str | None) -> Running:
        line, self.kept = self.kept, None
        if line is None:
            yield from super().checkpoint(number)
        else:
            yield from self.say(self.request(number))
            self.result(line)


child("request-is-an-answer", "INV-CHILD-11", bad_host("CHECKPOINT-15", 1), accept="CHECKPOINT-15")(
    "A batch in place of the answer to a checkpoint is a success.",
    on(Child, "result").skips(
        when=lambda line: line is not None and line.startswith(b"{") and parse(line)["action"] == "processRecords"
    ),
)


@child("waits-for-the-newline", "INV-CHILD-12", bad_host("INV-CHILD-12"), level="SHOULD", accept="PROC-08")
class WaitsForTheNewline(Child):
    """A line without a newline at the end of STDIN is waited for."""

    def dispatch(self, line: bytes) -> Running:
        if line.endswith(b'"records": []}'):
            yield FOREVER
        yield from super().dispatch(line)


class _DeafToTheEnd(_Deaf):
    def send(self, data: bytes) -> None:
        Session.send(self, data)


class _DeafToEnds(Children):
    session = _DeafToTheEnd


@child(
    "deaf-to-the-end", "INV-CHILD-14", bad_host("INV-CHILD-14", 1), level="SHOULD", switches=DELAY,
    sessions=_DeafToEnds, accept="PROC-08",
)  # fmt: skip
class DeafToTheEnd(Child):
    """The end of STDIN that comes while it works is lost."""


def _megabytes(w: Writer) -> None:
    w.features.add("big")
    w.batch([w.record(bytes(1 << 20))])


child("lines-of-a-megabyte", "INV-CHILD-15", _megabytes, level="SHOULD", accept="REC-12 REC-07 FRAME-10")(
    "A line of more than a mebibyte ends it.",
    on(Child, "dispatch").raises(lambda: Exit(1), when=lambda line: len(line) > 1 << 20),
)
