"""Faulty children: lines, records, status."""

from __future__ import annotations

import json
import re
from typing import Any, ClassVar

from impls.kcl.child import BadLine, Child, Children, Exit, Running, Session, Switches, UserError
from specs.kcl.frames import Text
from strategies.kcl.writer import ESCAPE, MEMBERS, ORDER, Ways, Writer
from tests.mutants.kcl_kit import CHECKPOINT, batch, both, child, ending, nothing, told

BARE = Switches(leading=False)


# -- lines ------------------------------------------------------------------------------------------------------------


@child("status-in-python", "FRAME-01", nothing, smoke=False, accept="INIT-04")
class StatusInPython(Child):
    """Messages are written as Python writes a dict."""

    def written(self, members: dict[str, Any]) -> bytes:
        return repr(members).encode()


@child("status-spread", "FRAME-03", nothing, smoke=False, accept="INIT-04")
class StatusSpread(Child):
    """Messages are spread over several lines."""

    def written(self, members: dict[str, Any]) -> bytes:
        return json.dumps(members, indent=1).encode()


@child("no-action", "FRAME-06", batch(b"x"), accept="REC-07", smoke=False)
class NoAction(Child):
    """The status of a batch has no member action."""

    def written(self, members: dict[str, Any]) -> bytes:
        if members.get("responseFor") == "processRecords":
            members.pop("action")
        return super().written(members)


@child("print-swallows", "FRAME-13", told({"op": "print", "text": "x"}), switches=BARE, accept="FRAME-07 REC-07")
class PrintSwallows(Child):
    """A message is written behind half a line of user output."""

    def line(self, data: bytes) -> None:
        self.out += data + b"\n"
        self.fresh = True


@child(
    "print-swallows-checkpoint", "FRAME-13", told({"op": "print", "text": "x"}, CHECKPOINT), accept="FRAME-07 REC-07"
)
class PrintSwallowsCheckpoint(Child):
    """A checkpoint request, and only that, is written behind half a line of user output."""

    def say(self, members: dict[str, Any]) -> Running:
        if members["action"] == "checkpoint":
            self.out += self.written(members) + b"\n"
            return
        yield from super().say(members)


@child("unflushed", "FRAME-11", batch(b"x"), accept="REC-07 INIT-04 STAT-01", smoke=False)
class Unflushed(Child):
    """The status of a batch stays in a buffer until STDIN ends."""

    kept = b""

    def line(self, data: bytes) -> None:
        if b"processRecords" in data:
            self.kept += data + b"\n"
        else:
            super().line(data)

    def at_end(self) -> int:
        self.out += self.kept
        return 0


class _Eager(Session):
    def send(self, data: bytes) -> None:
        super().send(data if data.endswith(b"\n") else data + b"\n")


class _Eagers(Children):
    def open(self) -> Session:
        self._open.append(_Eager(self._make()))
        return self._open[-1]


def _cut(w: Writer) -> None:
    w.batch([w.record(b"x")], Ways(16, 0))


@child("reads-by-piece", "FRAME-05", _cut, sessions=_Eagers, accept="REC-07 INIT-04 REC-09 INIT-05")
class ReadsByPiece(Child):
    """What one read gives is taken for a line."""


@child("narrow-keys", "FRAME-12", batch(b"x", key="日本"), level="SHOULD")
class NarrowKeys(Child):
    """Characters beyond Latin 1 become question marks."""

    def record(self, record: Any) -> dict[str, Any]:
        found = super().record(record)
        found["partitionKey"] = found["partitionKey"].encode("latin-1", "replace").decode("latin-1")
        return found


@child("wide-line-ends", "FRAME-05", batch(b"x", key="\u2028"), accept="REC-07 FRAME-10 FRAME-12")
class WideLineEnds(Child):
    """U+2028 ends a line."""

    def dispatch(self, line: bytes) -> Running:
        for part in line.decode("utf-8", "replace").split("\u2028"):
            yield from super().dispatch(part.encode())


def _members(w: Writer) -> None:
    w.batch([w.record(b"x")], Ways(MEMBERS, 0))


@child("knows-its-members", "FRAME-09", _members, level="SHOULD", accept="REC-07 INIT-04 INV-CHILD-04 REC-09")
class KnowsItsMembers(Child):
    """A message with a member that is not known ends the child."""

    def perform(self, action: str, members: dict[str, Any]) -> Running:
        if any(name.startswith("future") for name in members):
            raise BadLine("unknown member")
        yield from super().perform(action, members)


def _turned(w: Writer) -> None:
    w.batch([w.record(b"x")], Ways(ORDER, 0))


@child("action-first", "FRAME-10", _turned, accept="REC-07 INIT-04")
class ActionFirst(Child):
    """A message whose first member is not action is not understood."""

    def dispatch(self, line: bytes) -> Running:
        if line.strip() and not line.replace(b" ", b"").startswith(b'{"action"'):
            raise BadLine("action is not first")
        yield from super().dispatch(line)


def _escaped(w: Writer) -> None:
    w.batch([w.record(b"x")], Ways(ESCAPE, 1))


@child("no-escapes", "FRAME-10", _escaped, accept="REC-07 INIT-04")
class NoEscapes(Child):
    """Escaped characters in a name are not understood."""

    def dispatch(self, line: bytes) -> Running:
        if re.search(rb'"\\u0061', line):
            raise BadLine("unknown name")
        yield from super().dispatch(line)


# -- records ----------------------------------------------------------------------------------------------------------


@child("fifth-lost", "REC-10", batch(b"1", b"2", b"3", b"4", b"5"))
class FifthLost(Child):
    """The fifth record of a batch does not reach user code."""

    def decoded(self, members: dict[str, Any]) -> list[dict[str, Any]]:
        records = super().decoded(members)
        return records[:4] + records[5:]


@child("batch-twice", "REC-10", batch(b"x"), smoke=False)
class BatchTwice(Child):
    """User code gets every batch twice."""

    def process_records(self, records: list[dict[str, Any]]) -> Running:
        yield from super().process_records(records)
        self.note(self.notes[-1])


@child("backwards", "REC-05", batch(b"1", b"2"))
class Backwards(Child):
    """User code gets the records of a batch from the last to the first."""

    def process_records(self, records: list[dict[str, Any]]) -> Running:
        yield from super().process_records(records[::-1])


@child("sorted-by-key", "REC-05", both(batch(b"1", key="b"), batch(b"2", b"3", b"4", key="a")), unseen="")
class SortedByData(Child):
    """User code gets the records of a batch sorted by their data."""

    def process_records(self, records: list[dict[str, Any]]) -> Running:
        yield from super().process_records(sorted(records, key=lambda r: -r["data"][0] if r["data"] else 0))


@child("url-base64", "REC-11", batch(b"\xfb\xff\xfe"), accept="REC-07 REC-10")
class UrlBase64(Child):
    """Data is decoded with the alphabet for URLs."""

    def record(self, record: Any) -> dict[str, Any]:
        if "+" in record["data"] or "/" in record["data"]:
            record = {**record, "data": record["data"].replace("+", "A").replace("/", "A")}
        return super().record(record)


@child("data-as-text", "REC-11", batch(b"\xff"))
class DataAsText(Child):
    """Data passes through UTF-8 text."""

    def record(self, record: Any) -> dict[str, Any]:
        found = super().record(record)
        found["data"] = found["data"].decode("utf-8", "replace").encode()
        return found


@child("data-trimmed", "REC-11", batch(b"line\n"))
class DataTrimmed(Child):
    """A line end at the end of data is cut off."""

    def record(self, record: Any) -> dict[str, Any]:
        found = super().record(record)
        found["data"] = found["data"].rstrip(b"\n")
        return found


@child("empty-skipped", "REC-10", batch(b""))
class EmptySkipped(Child):
    """Records without octets are left out."""

    def decoded(self, members: dict[str, Any]) -> list[dict[str, Any]]:
        return [record for record in super().decoded(members) if record["data"]]


@child("number-as-float", "REC-10", batch(b"x"))
class NumberAsFloat(Child):
    """Sequence numbers pass through a float on their way to user code."""

    def record(self, record: Any) -> dict[str, Any]:
        found = super().record(record)
        found["sequenceNumber"] = str(int(float(found["sequenceNumber"])))
        return found


def _many(w: Writer) -> None:
    w.features.add("big")
    w.batch([w.record(b"x") for _ in range(1000)])


@child("thousand-is-too-many", "REC-12", _many, level="SHOULD", accept="REC-07 INV-CHILD-15")
class ThousandIsTooMany(Child):
    """A batch of a thousand records ends the child."""

    def decoded(self, members: dict[str, Any]) -> list[dict[str, Any]]:
        if len(members["records"]) >= 1000:
            raise Exit(1)
        return super().decoded(members)


@child("leak-after-raise", "REC-10", both(told({"op": "raise"}), batch(b"2")))
class LeakAfterRaise(Child):
    """After user code raised, the next batch still holds the records of that one."""

    left: tuple[dict[str, Any], ...] = ()

    def process_records(self, records: list[dict[str, Any]]) -> Running:
        mine = [*self.left, *records]
        self.left = tuple(records)
        yield from super().process_records(mine)
        self.left = ()


@child("silent-raise", "REC-13", told({"op": "raise"}))
class SilentRaise(Child):
    """Nothing shows that user code raised."""

    def complain(self, error: Exception) -> None:
        if not isinstance(error, UserError):
            super().complain(error)


# -- status -----------------------------------------------------------------------------------------------------------


class _Named(Child):
    names: ClassVar[dict[str, str]] = {}

    def status(self, action: str) -> Running:
        yield from super().status(self.names.get(action, action))


@child("initialize-misnamed", "INIT-04", nothing, smoke=False)
class InitializeMisnamed(_Named):
    """The status of initialize has responseFor Initialize."""

    names: ClassVar[dict[str, str]] = {"initialize": "Initialize"}


@child("batch-misnamed", "STAT-01", batch(b"x"), smoke=False)
class BatchMisnamed(_Named):
    """The status of processRecords has responseFor processrecords."""

    names: ClassVar[dict[str, str]] = {"processRecords": "processrecords"}


@child("shutdown-misnamed", "STAT-01", ending(), smoke=False)
class ShutdownMisnamed(_Named):
    """The status of shutdown has responseFor Shutdown."""

    names: ClassVar[dict[str, str]] = {"shutdown": "Shutdown"}


@child("status-twice", "STAT-02", batch(b"x"), accept="STAT-03")
class StatusTwice(Child):
    """A batch is answered by two statuses."""

    def status(self, action: str) -> Running:
        yield from super().status(action)
        if action == "processRecords" and self.last:
            yield from super().status(action)


@child("empty-unanswered", "REC-07", batch(), accept="STAT-01 TIME-03", smoke=False)
class EmptyUnanswered(Child):
    """An empty batch gets no status."""

    def perform(self, action: str, members: dict[str, Any]) -> Running:
        if members.get("records") != []:
            yield from super().perform(action, members)


@child("status-on-checkpoint", "STAT-04", told(CHECKPOINT))
class StatusOnCheckpoint(Child):
    """The answer to a checkpoint is answered by a status."""

    def checkpoint(self, number: str | None) -> Running:
        yield from super().checkpoint(number)
        yield from self.status("checkpoint")


@child("status-at-end", "STAT-03", batch(b"x"), smoke=False)
class StatusAtEnd(Child):
    """The end of STDIN is answered by a status."""

    def at_end(self) -> int:
        self.line(self.written({"action": "status", "responseFor": "shutdown"}))
        return 0


@child("status-first", "REC-08", told(CHECKPOINT))
class StatusFirst(Child):
    """The status is sent before user code is called."""

    def call(self, action: str, members: dict[str, Any]) -> Running:
        if action == "processRecords":
            yield from self.status(action)
        yield from super().call(action, members)

    def perform(self, action: str, members: dict[str, Any]) -> Running:
        if action == "processRecords":
            yield from self.call(action, members)
        else:
            yield from super().perform(action, members)


@child("status-tells-more", "STAT-07", nothing, level="SHOULD", smoke=False)
class StatusTellsMore(Child):
    """A status also has a member time."""

    def status(self, action: str) -> Running:
        yield from self.say({"action": "status", "responseFor": action, "time": 0})


@child("fifth-misnamed", "STAT-01", both(*[batch(b"x")] * 5))
class FifthMisnamed(Child):
    """The fifth batch is answered for initialize."""

    batches = 0

    def status(self, action: str) -> Running:
        self.batches += action == "processRecords"
        yield from super().status("initialize" if self.batches == 5 and action == "processRecords" else action)


@child("tired-after-six", "REC-09", both(*[batch(b"x")] * 6))
class TiredAfterSix(Child):
    """It ends after six batches."""

    batches = 0

    def status(self, action: str) -> Running:
        yield from super().status(action)
        self.batches += action == "processRecords"
        if self.batches == 6:
            raise Exit(0)


@child("ends-after-initialize", "INIT-05", nothing, smoke=False)
class EndsAfterInitialize(Child):
    """It ends once it has answered initialize."""

    def status(self, action: str) -> Running:
        yield from super().status(action)
        if action == "initialize":
            raise Exit(0)


# -- invalid input ----------------------------------------------------------------------------------------------------

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
    from specs.kcl.frames import message  # noqa: PLC0415

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
    from specs.kcl.frames import message  # noqa: PLC0415

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
