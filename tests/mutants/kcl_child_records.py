"""Faulty children: records and status."""

from __future__ import annotations

from typing import Any, ClassVar

from impls.references.kcl.child import Child, Exit, Running, UserError
from strategies.kcl.writer import Writer
from tests.mutants.faults import has, on
from tests.mutants.kcl_kit import CHECKPOINT, batch, both, child, ending, nothing, told

child("fifth-lost", "REC-10", batch(b"1", b"2", b"3", b"4", b"5"))(
    "The fifth record of a batch does not reach user code.",
    on(Child, "decoded").gives(lambda found: found[:4] + found[5:]),
)


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


child("data-as-text", "REC-11", batch(b"\xff"))(
    "Data passes through UTF-8 text.",
    on(Child, "record").gives(lambda found: {**found, "data": found["data"].decode("utf-8", "replace").encode()}),
)
child("data-trimmed", "REC-11", batch(b"line\n"))(
    "A line end at the end of data is cut off.",
    on(Child, "record").gives(lambda found: {**found, "data": found["data"].rstrip(b"\n")}),
)
child("empty-skipped", "REC-10", batch(b""))(
    "Records without octets are left out.",
    on(Child, "decoded").gives(lambda found: [record for record in found if record["data"]]),
)
child("number-as-float", "REC-10", batch(b"x"))(
    "Sequence numbers pass through a float on their way to user code.",
    on(Child, "record").gives(lambda found: {**found, "sequenceNumber": str(int(float(found["sequenceNumber"])))}),
)


def _many(w: Writer) -> None:
    w.features.add("big")
    w.batch([w.record(b"x") for _ in range(1000)])


child("thousand-is-too-many", "REC-12", _many, level="SHOULD", accept="REC-07 INV-CHILD-15")(
    "A batch of a thousand records ends the child.",
    on(Child, "decoded").raises(lambda: Exit(1), when=lambda members: len(members["records"]) >= 1000),
)
child("back-half-reversed", "REC-05", _many)(
    "What comes behind the fiftieth record of a batch is handed over backwards.",
    on(Child, "decoded").gives(lambda found: [*found[:50], *found[:49:-1]]),
)


@child("parts-overlap", "REC-10", _many)
class PartsOverlap(Child):
    """A large batch is handed over in parts of a hundred; each later one begins with the last record before it."""

    def process_records(self, records: list[dict[str, Any]]) -> Running:
        for at in range(0, max(1, len(records)), 100):
            yield from super().process_records(records[max(0, at - 1) : at + 100])


@child("leak-after-raise", "REC-10", both(told({"op": "raise"}), batch(b"2")))
class LeakAfterRaise(Child):
    """After user code raised, the next batch still holds the records of that one."""

    left: tuple[dict[str, Any], ...] = ()

    def process_records(self, records: list[dict[str, Any]]) -> Running:
        mine = [*self.left, *records]
        self.left = tuple(records)
        yield from super().process_records(mine)
        self.left = ()


child("silent-raise", "REC-13", told({"op": "raise"}))(
    "Nothing shows that user code raised.", on(Child, "complain").skips(when=lambda error: isinstance(error, UserError))
)


class _RaisesInSilence(Child):
    raised = False

    def complain(self, error: Exception) -> None:
        if not (isinstance(error, UserError) and self.raised):
            super().complain(error)
        self.raised = self.raised or isinstance(error, UserError)


child("silent-raise-again", "REC-13", both(told({"op": "raise"}, times=2), batch(b"2")))(
    "What user code raises shows for the first time only.", has(_RaisesInSilence)
)


# -- status -----------------------------------------------------------------------------------------------------------


class _Named(Child):
    names: ClassVar[dict[str, str]] = {}

    def status(self, action: str) -> Running:
        yield from super().status(self.names.get(action, action))


child("initialize-misnamed", "INIT-04", nothing, smoke=False)(
    "The status of initialize has responseFor Initialize.", has(_Named, names={"initialize": "Initialize"})
)
child("batch-misnamed", "STAT-01", batch(b"x"), smoke=False)(
    "The status of processRecords has responseFor processrecords.",
    has(_Named, names={"processRecords": "processrecords"}),
)
child("shutdown-misnamed", "STAT-01", ending(), smoke=False)(
    "The status of shutdown has responseFor Shutdown.", has(_Named, names={"shutdown": "Shutdown"})
)


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
