"""Faulty hosts: lines, members, records, initialize."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

from impls.references.kcl.host import Failed, Host
from specs.kcl.frames import Message, message
from strategies.kcl.hosting import Writer
from tests.mutants.faults import on, without
from tests.mutants.kcl_host_kit import batch, junk
from tests.mutants.kcl_kit import both, host

SEQ, NEW = "kcl1-seq", "kcl3"


host("python-messages", "FRAME-01", batch(b"x"), accept="FRAME-02 PROC-03", smoke=False)(
    "Messages are written as Python writes a dict.",
    on(Host, "written").instead(
        lambda members: repr(members).encode(),
        when=lambda self, members: members["action"] == "processRecords" or self.final,
    ),
)
host("pretty-messages", "FRAME-02", batch(b"x"), accept="FRAME-01")(
    "processRecords is spread over several lines.",
    on(Host, "written").instead(
        lambda members: json.dumps(members, indent=1).encode(), when=lambda members: "records" in members
    ),
)
host("raw-newlines", "FRAME-02", batch(b"x", key="line\nfeed"), accept="FRAME-01")(
    "A line feed in a key is written as it is.", on(Host, "written").gives(lambda found: found.replace(b"\\n", b"\n"))
)
host("no-newline", "FRAME-04", batch(b"x"))(
    "processRecords is not ended by a newline.",
    on(Host, "send").after(lambda self: setattr(self, "out", self.out[:-1]), when=lambda members: "records" in members),
)
host("no-action", "FRAME-06", batch(b"x"))(
    "processRecords has no member action.",
    on(Host, "written").takes(
        members=lambda members: {k: v for k, v in members.items() if k != "action" or "records" not in members}
    ),
)


@host("latin-keys", "FRAME-12", batch(b"x", key="日本"), level="SHOULD")
class LatinKeys(Host):
    """Characters beyond Latin 1 become question marks."""

    def record(self, record: Mapping[str, Any]) -> dict[str, Any]:
        found = super().record(record)
        found["partitionKey"] = str(found["partitionKey"]).encode("latin-1", "replace").decode("latin-1")
        return found


host("normal-keys", "REC-01", batch(b"x", key="e\u0301"), accept="FRAME-12")(
    "Characters that are made of two become one.",
    on(Host, "record").gives(
        lambda found: {**found, "partitionKey": str(found["partitionKey"]).replace("e\u0301", "\u00e9")}
    ),
)
host("unflushed", "PROC-03", batch(b"x"), accept="FRAME-11")(
    "processRecords stays in a buffer.", on(Host, "send").skips(when=lambda members: "records" in members)
)
host("junk-is-failure", "FRAME-08", junk(b"plain text"), accept="INV-HOST-01")(
    "A line that is no JSON is a failure.",
    on(Host, "understood").raises(
        lambda: Failed("no JSON"),
        when=lambda line: (
            line.strip()
            and not line.strip().startswith((b"{", b"\xef", b"text "))
            and line.isascii()
            and len(line) < 9999
        ),
    ),
)
host("blank-is-status", "PROC-06", junk(b"", why="blank"), accept="FRAME-08 INV-HOST-01 PROC-04")(
    "An empty line is taken for a status.",
    on(Host, "take").instead(lambda self: self.done(), when=lambda line: not line.strip()),
)


def _host_words(w: Writer) -> None:
    w.batch([(b"x", "key")])
    w.say(message("shutdown", reason="ZOMBIE"))
    w.status(now=True)


@host("own-words-are-failure", "INV-HOST-13", _host_words, accept="FRAME-08")
class OwnWordsAreFailure(Host):
    """A message that only a host may send is a failure."""

    def take(self, line: bytes) -> None:
        members = self.understood(line)
        if members is not None and members["action"] not in ("status", "checkpoint", "other", "record"):
            raise Failed("not for a child to say")
        super().take(line)


def _ordered(w: Writer) -> None:
    w.batch([(b"x", "key")])
    w.features.add("order")
    w.say(Message({"responseFor": "processRecords", "action": "status"}))


host("action-first", "FRAME-10", _ordered, accept="PROC-04")(
    "A message whose first member is not action is skipped.",
    on(Host, "understood").skips(when=lambda line: not line.replace(b" ", b"").startswith((b'{"action"', b'{"\\u'))),
)


# -- records ----------------------------------------------------------------------------------------------------------


host("mime-base64", "REC-03", batch(b"a" * 58), accept="FRAME-01")(
    "Long base64 has line breaks.",
    on(Host, "pack").instead(lambda data: base64.encodebytes(data).decode().rstrip("\n")),
)
host("url-base64", "REC-03", batch(b"\xfb\xff\xfe"))(
    "Base64 is of the alphabet for URLs.",
    on(Host, "pack").instead(lambda data: base64.urlsafe_b64encode(data).decode()),
)
host("unpadded-base64", "REC-03", batch(b"a"))(
    "Base64 is not padded.", on(Host, "pack").gives(lambda found: found.rstrip("="))
)
host("data-as-text", "REC-02", batch(b"\xff"))(
    "Data passes through UTF-8 text.",
    on(Host, "pack").takes(data=lambda data: data.decode("utf-8", "replace").encode()),
)
host("number-as-number", "REC-04", batch(b"x"))(
    "A sequence number is written as a number.",
    on(Host, "record").gives(lambda found: {**found, "sequenceNumber": int(str(found["sequenceNumber"]))}),
)
host("number-as-float", "REC-04", batch(b"x"))(
    "A sequence number passes through a float.",
    on(Host, "record").gives(lambda found: {**found, "sequenceNumber": str(int(float(str(found["sequenceNumber"]))))}),
)
host("backwards", "REC-05", batch(b"1", b"2"))(
    "The records of a batch are sent from the last to the first.", on(Host, "records").gives(lambda found: found[::-1])
)
host("fourth-lost", "PROC-03", batch(b"1", b"2", b"3", b"4"))(
    "The fourth record of a batch is not sent.", on(Host, "records").gives(lambda found: found[:3] + found[4:])
)


@host("batch-carried", "PROC-03", both(batch(b"1"), batch(b"2"), batch(b"3")))
class BatchCarried(Host):
    """The third batch holds the records of the second as well."""

    before: tuple[Any, ...] = ()
    batches = 0

    def records(self, records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        found = super().records(records)
        self.batches += 1
        mine = [*self.before, *found] if self.batches == 3 else found
        self.before = tuple(found)
        return mine


host("no-key", "REC-01", batch(b"x"))(
    "Records have no partitionKey.", on(Host, "record").gives(lambda found: without(found, "partitionKey"))
)
host("no-arrival", "REC-14", batch(b"x"), profile=SEQ)(
    "Records have no approximateArrivalTimestamp.",
    on(Host, "record").gives(lambda found: without(found, "approximateArrivalTimestamp")),
)
host("bare-initialize", "INIT-08", batch(b"x"), profile=NEW, smoke=False)(
    "initialize has no sequenceNumber.",
    on(Host, "message").gives(lambda op, found: without(found, "sequenceNumber") if op == "initialize" else found),
)
host("wrong-shard", "INIT-02", batch(b"x"), smoke=False)(
    "initialize has the first eight characters of the shardId.",
    on(Host, "message").gives(
        lambda op, found: {**found, "shardId": found["shardId"][:8]} if op == "initialize" else found
    ),
)
host("initialize-twice", "INIT-01", batch(b"x"), accept="PROC-06 PROC-03", smoke=False)(
    "initialize is sent twice.",
    on(Host, "call").before(
        lambda self, value: self.send(self.message("initialize", value)), when=lambda value: value["op"] == "initialize"
    ),
)


def _prints_behind_an_answer(w: Writer) -> None:
    w.batch([(b"x", "key")])
    w.checkpoint(w.numbers[-1])
    w.wait(0)
    w.junk(b"plain text")
    w.status(now=True)


@host("junk-behind-a-checkpoint-is-failure", "FRAME-08", _prints_behind_an_answer, accept="INV-HOST-01")
class JunkBehindACheckpointIsFailure(Host):
    """Where a checkpoint has succeeded in an action, a line that is no message fails it."""

    granted_in = 0

    def attempt(self, number: str | None) -> str | None:
        error = super().attempt(number)
        self.granted_in = self.count if error is None else self.granted_in
        return error

    def send(self, members: dict[str, Any]) -> None:
        super().send(members)
        if members["action"] != "checkpoint":
            self.granted_in = 0

    def understood(self, line: bytes) -> dict[str, Any] | None:
        found = super().understood(line)
        if found is None and self.granted_in:
            raise Failed("no JSON")
        return found
