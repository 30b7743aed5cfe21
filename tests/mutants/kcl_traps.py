"""Faults of KCL children and hosts that show only after a history, or only with numbers, keys or sizes of their own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from impls.references.kcl.child import BadLine, Child, Ended, Refused, Running
from impls.references.kcl.host import Host
from impls.references.kcl.wire import parse
from specs.kcl.frames import Text
from strategies.kcl import hosting, texts
from strategies.kcl.writer import ESCAPE, Ways, Writer
from tests.mutants.faults import on
from tests.mutants.kcl_kit import CHECKPOINT, batch, child, host, told


def counted(scheme: int, count: int, *, script: bool = False) -> Any:
    """A batch whose numbers are of a scheme; with a script at its end."""

    def play(w: Writer) -> None:
        w.scheme = scheme
        records = [w.record(b"%d" % n) for n in range(count)]
        w.batch([*records, w.script([CHECKPOINT])] if script else records)
        w.answers()

    return play


def in_a_row(count: int) -> Any:
    """So many small batches."""

    def play(w: Any) -> None:
        for n in range(count):
            if isinstance(w, Writer):
                w.batch([w.record(b"%d" % n)])
                w.answers()
            else:
                w.batch([(b"%d" % n, "key")])
                w.status()

    return play


# -- children ---------------------------------------------------------------------------------------------------------


child("numbers-sorted-as-text", "REC-05", counted(1, 4))(
    "Records are put in the order that their numbers have as texts.",
    on(Child, "decoded").gives(lambda found: sorted(found, key=lambda record: str(record["sequenceNumber"]))),
)
child("number-of-63-bits", "REC-10", counted(2, 5))(
    "Sequence numbers are held in 63 bits.",
    on(Child, "record").gives(
        lambda found: {**found, "sequenceNumber": str(min(int(found["sequenceNumber"]), 2**63 - 1))}
    ),
)
child("one-for-each-number", "REC-10", counted(texts.SHARED, 2))(
    "Of records that share a sequence number only the last is kept.",
    on(Child, "decoded").gives(lambda found: [*{record["sequenceNumber"]: record for record in found}.values()]),
)
child("zeros-lost", "REC-10", counted(4, 1))(
    "Sequence numbers pass through a number on their way to user code.",
    on(Child, "record").gives(lambda found: {**found, "sequenceNumber": str(int(found["sequenceNumber"]))}),
)


@child("first-of-the-batch", "CHECKPOINT-11", counted(0, 3, script=True), accept="CHECKPOINT-14 SHUT-05")
class FirstOfTheBatch(Child):
    """A checkpoint at the last number received is asked for at the first of its batch."""

    first: str | None = None

    def process_records(self, records: list[dict[str, Any]]) -> Running:
        self.first = records[0]["sequenceNumber"] if records else None
        yield from super().process_records(records)

    def request(self, number: str | None) -> dict[str, Any]:
        return super().request(self.first if number == self.last and not self.over else number)


child("seventeenth-lost", "REC-10", in_a_row(17))(
    "The first record of every seventeenth batch is left out.",
    on(Child, "decoded").gives(lambda found, calls: found[calls % 17 == 0 :]),
)
child("buffer-of-32k", "REC-11", batch(texts.ALL_OCTETS * 256), accept="REC-10 REC-12")(
    "Data are cut at 32 KiB.", on(Child, "record").gives(lambda found: {**found, "data": found["data"][: 1 << 15]})
)


def _escaped(w: Writer) -> None:
    w.batch([w.record(b"x", "\U0001f600")], Ways(ESCAPE, 0))
    w.answers()


@child("halves-of-a-pair", "REC-10", _escaped, accept="FRAME-10 FRAME-12")
class HalvesOfAPair(Child):
    """A character beyond 16 bits becomes two that mean nothing."""

    def record(self, record: Any) -> dict[str, Any]:
        found = super().record(record)
        key = found["partitionKey"]
        wide = isinstance(key, str) and max(key, default="") > "\uffff"
        return {**found, "partitionKey": re.sub("[\U00010000-\U0010ffff]", "\ufffd\ufffd", key) if wide else key}


@child("key-stripped", "REC-10", batch(b"x", key=" blanks "), accept="FRAME-12")
class KeyStripped(Child):
    """Blanks at both ends of a partition key are lost, whatever characters count as blanks."""

    def record(self, record: Any) -> dict[str, Any]:
        found = super().record(record)
        key = found["partitionKey"]
        return {**found, "partitionKey": key.strip() if isinstance(key, str) else key}


@child("form-feed-is-f", "REC-10", batch(b"x", key="\b\f\v"))
class FormFeedIsF(Child):
    """The escape of a form feed is read as its letter."""

    def record(self, record: Any) -> dict[str, Any]:
        found = super().record(record)
        key = found["partitionKey"]
        return {**found, "partitionKey": key.replace("\f", "f") if isinstance(key, str) else key}


def _nonsense(w: Writer) -> None:
    w.batch([w.script([CHECKPOINT])])
    w.say(Text(b"no json", "no-json"))


@child("nonsense-is-success", "CHECKPOINT-15", _nonsense)
class NonsenseIsSuccess(Child):
    """A line that is no message is taken for the answer to a checkpoint, which has succeeded then."""

    def checkpoint(self, number: str | None) -> Running:
        yield from self.say(self.request(number))
        line = yield from self.next_line()
        if line is None:
            raise Ended
        try:
            error = parse(line).get("error")
        except BadLine:
            return
        if error is not None:
            raise Refused(str(error))


@child("hasty-status", "REC-08", told({"op": "sleep", "ms": 3}, CHECKPOINT), accept="CHECKPOINT-02 STAT-02")
class HastyStatus(Child):
    """When user code takes its time the status does not wait for it."""

    def obey(self, step: Mapping[str, Any]) -> Running:
        if step.get("op") == "sleep":
            yield from self.status("processRecords")
        yield from super().obey(step)


@child("patience-of-20-ms", "REC-08", told({"op": "sleep", "ms": 60}, CHECKPOINT), accept="CHECKPOINT-02 STAT-02")
class PatienceOf20Ms(Child):
    """When user code takes more than 20 ms the status does not wait for it."""

    def obey(self, step: Mapping[str, Any]) -> Running:
        if step.get("op") == "sleep" and step["ms"] > 20:
            yield from self.status("processRecords")
        yield from super().obey(step)


# -- hosts ------------------------------------------------------------------------------------------------------------


def _batch(*records: tuple[bytes, str], scheme: int = 0) -> Any:
    def play(w: hosting.Writer) -> None:
        w.scheme = scheme
        w.batch(records)
        w.status()

    return play


host("markup", "REC-01", _batch((b"x", "<a>")))(
    "Keys are written as HTML would have them.",
    on(Host, "record").gives(lambda found: {**found, "partitionKey": found["partitionKey"].replace("<", "&lt;")}),
)


@host("sixteen-bits", "REC-01", _batch((b"x", "\U0001f600")))
class SixteenBits(Host):
    """Of a character beyond 16 bits the lower 16 are escaped."""

    def written(self, members: dict[str, Any]) -> bytes:
        data = super().written(members)
        return re.sub(r"[^\x00-\x7f]", lambda found: f"\\u{ord(found[0]) & 0xFFFF:04x}", data.decode()).encode()


@host("thirteenth-spoilt", "REC-01", in_a_row(13))
class ThirteenthSpoilt(Host):
    """The first key of every thirteenth batch has a blank too many."""

    batches = 0

    def records(self, records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        self.batches += 1
        found = super().records(records)
        if found and self.batches % 13 == 0:
            found[0]["partitionKey"] += " "
        return found


host("record-of-32k", "REC-02", _batch((texts.ALL_OCTETS * 256, "key")))(
    "Data are cut at 32 KiB.", on(Host, "pack").takes(data=lambda data: data[: 1 << 15])
)
host("thousand-at-most", "PROC-03", _batch(*[(b"x", "key")] * 1200))(
    "The records of a batch beyond a thousand are not sent.", on(Host, "records").gives(lambda found: found[:1000])
)
host("twice-the-same-number", "PROC-03", _batch((b"1", "a"), (b"2", "b"), scheme=texts.SHARED))(
    "Of records that share a sequence number only the last is sent.",
    on(Host, "records").gives(lambda found: [*{record["sequenceNumber"]: record for record in found}.values()]),
)
