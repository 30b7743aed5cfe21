"""Children that bear one invalid input badly."""

from __future__ import annotations

from typing import Any

from impls.kcl.child import BadLine, Child, Running, Switches
from specs.kcl.frames import Text, message
from strategies.kcl.writer import Ways, Writer
from tests.mutants.kcl_kit import child

SKIP = Switches(unknown="skip")


def _line(data: bytes, why: str = "no-json") -> Any:
    def play(w: Writer) -> None:
        w.say(Text(data, why))
        w.batch([w.record(b"behind")])

    return play


@child("status-for-junk", "INV-CHILD-01", _line(b"no json"), switches=SKIP)
class StatusForJunk(Child):
    """What is no JSON gets a status."""

    def dispatch(self, line: bytes) -> Running:
        if line.strip() and not line.strip().startswith(b"{"):
            yield from self.status("null")
            return
        yield from super().dispatch(line)


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


@child("lf-only", "INV-CHILD-05", _crlf, level="SHOULD", accept="REC-07 INIT-04 REC-09 INIT-05")
class LfOnly(Child):
    """A line that ends with CR LF is not understood."""

    def dispatch(self, line: bytes) -> Running:
        if line.endswith(b"\r"):
            raise BadLine("CR")
        yield from super().dispatch(line)


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


def _half(w: Writer) -> None:
    w.bare(Text(b'{"action":"proc', "cut"))


@child("half-a-status", "INV-CHILD-13", _half)
class HalfAStatus(Child):
    """Half a line before the end of STDIN gets a status."""

    def dispatch(self, line: bytes) -> Running:
        if line.startswith(b'{"action":"proc') and not line.endswith((b"}", b"\r")):
            yield from self.status("processRecords")
            return
        yield from super().dispatch(line)


def _answer(w: Writer) -> None:
    w.say(message("checkpoint", checkpoint="1", error=None))
    w.batch([w.record(b"x")])


@child("answers-an-answer", "INV-CHILD-09", _answer, level="SHOULD", switches=SKIP)
class AnswersAnAnswer(Child):
    """An answer that nobody asked for gets a status."""

    def dispatch(self, line: bytes) -> Running:
        if b'"checkpoint"' in line and b"processRecords" not in line and b"shutdown" not in line:
            yield from self.status("processRecords")
            return
        yield from super().dispatch(line)
