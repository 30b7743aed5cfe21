"""Faulty hosts: lines, members, records, initialize."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

from impls.references.kcl.host import Failed, Host
from specs.kcl.frames import Message, message
from strategies.kcl.hosting import Writer
from tests.mutants.kcl_host_kit import batch, junk
from tests.mutants.kcl_kit import both, host

SEQ, NEW = "kcl1-seq", "kcl3"


@host("python-messages", "FRAME-01", batch(b"x"), accept="FRAME-02 PROC-03", smoke=False)
class PythonMessages(Host):
    """Messages are written as Python writes a dict."""

    def written(self, members: dict[str, Any]) -> bytes:
        return (
            repr(members).encode() if members["action"] == "processRecords" or self.final else super().written(members)
        )


@host("pretty-messages", "FRAME-02", batch(b"x"), accept="FRAME-01")
class PrettyMessages(Host):
    """processRecords is spread over several lines."""

    def written(self, members: dict[str, Any]) -> bytes:
        return json.dumps(members, indent=1).encode() if "records" in members else super().written(members)


@host("raw-newlines", "FRAME-02", batch(b"x", key="line\nfeed"), accept="FRAME-01")
class RawNewlines(Host):
    """A line feed in a key is written as it is."""

    def written(self, members: dict[str, Any]) -> bytes:
        return super().written(members).replace(b"\\n", b"\n")


@host("no-newline", "FRAME-04", batch(b"x"))
class NoNewline(Host):
    """processRecords is not ended by a newline."""

    def send(self, members: dict[str, Any]) -> None:
        super().send(members)
        if "records" in members:
            self.out = self.out[:-1]


@host("no-action", "FRAME-06", batch(b"x"))
class NoAction(Host):
    """processRecords has no member action."""

    def written(self, members: dict[str, Any]) -> bytes:
        return super().written({k: v for k, v in members.items() if k != "action" or "records" not in members})


@host("latin-keys", "FRAME-12", batch(b"x", key="日本"), level="SHOULD")
class LatinKeys(Host):
    """Characters beyond Latin 1 become question marks."""

    def record(self, record: Mapping[str, Any]) -> dict[str, Any]:
        found = super().record(record)
        found["partitionKey"] = str(found["partitionKey"]).encode("latin-1", "replace").decode("latin-1")
        return found


@host("normal-keys", "REC-01", batch(b"x", key="e\u0301"), accept="FRAME-12")
class NormalKeys(Host):
    """Characters that are made of two become one."""

    def record(self, record: Mapping[str, Any]) -> dict[str, Any]:
        found = super().record(record)
        found["partitionKey"] = str(found["partitionKey"]).replace("e\u0301", "\u00e9")
        return found


@host("unflushed", "PROC-03", batch(b"x"), accept="FRAME-11")
class Unflushed(Host):
    """processRecords stays in a buffer."""

    def send(self, members: dict[str, Any]) -> None:
        if "records" not in members:
            super().send(members)


@host("junk-is-failure", "FRAME-08", junk(b"plain text"), accept="INV-HOST-01")
class JunkIsFailure(Host):
    """A line that is no JSON is a failure."""

    def understood(self, line: bytes) -> dict[str, Any] | None:
        if (
            line.strip()
            and not line.strip().startswith((b"{", b"\xef", b"text "))
            and line.isascii()
            and len(line) < 9999
        ):
            raise Failed("no JSON")
        return super().understood(line)


@host("blank-is-status", "PROC-06", junk(b"", why="blank"), accept="FRAME-08 INV-HOST-01 PROC-04")
class BlankIsStatus(Host):
    """An empty line is taken for a status."""

    def take(self, line: bytes) -> None:
        if line.strip():
            super().take(line)
        else:
            self.done()


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


@host("action-first", "FRAME-10", _ordered, accept="PROC-04")
class ActionFirst(Host):
    """A message whose first member is not action is skipped."""

    def understood(self, line: bytes) -> dict[str, Any] | None:
        if not line.replace(b" ", b"").startswith((b'{"action"', b'{"\\u')):
            return None
        return super().understood(line)


# -- records ----------------------------------------------------------------------------------------------------------


@host("mime-base64", "REC-03", batch(b"a" * 58), accept="FRAME-01")
class MimeBase64(Host):
    """Long base64 has line breaks."""

    def pack(self, data: bytes) -> str:
        return base64.encodebytes(data).decode().rstrip("\n")


@host("url-base64", "REC-03", batch(b"\xfb\xff\xfe"))
class UrlBase64(Host):
    """Base64 is of the alphabet for URLs."""

    def pack(self, data: bytes) -> str:
        return base64.urlsafe_b64encode(data).decode()


@host("unpadded-base64", "REC-03", batch(b"a"))
class UnpaddedBase64(Host):
    """Base64 is not padded."""

    def pack(self, data: bytes) -> str:
        return super().pack(data).rstrip("=")


@host("data-as-text", "REC-02", batch(b"\xff"))
class DataAsText(Host):
    """Data passes through UTF-8 text."""

    def pack(self, data: bytes) -> str:
        return super().pack(data.decode("utf-8", "replace").encode())


@host("number-as-number", "REC-04", batch(b"x"))
class NumberAsNumber(Host):
    """A sequence number is written as a number."""

    def record(self, record: Mapping[str, Any]) -> dict[str, Any]:
        found = super().record(record)
        return {**found, "sequenceNumber": int(str(found["sequenceNumber"]))}


@host("number-as-float", "REC-04", batch(b"x"))
class NumberAsFloat(Host):
    """A sequence number passes through a float."""

    def record(self, record: Mapping[str, Any]) -> dict[str, Any]:
        found = super().record(record)
        return {**found, "sequenceNumber": str(int(float(str(found["sequenceNumber"]))))}


@host("backwards", "REC-05", batch(b"1", b"2"))
class Backwards(Host):
    """The records of a batch are sent from the last to the first."""

    def records(self, records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return super().records(records)[::-1]


@host("fourth-lost", "PROC-03", batch(b"1", b"2", b"3", b"4"))
class FourthLost(Host):
    """The fourth record of a batch is not sent."""

    def records(self, records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        found = super().records(records)
        return found[:3] + found[4:]


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


@host("no-key", "REC-01", batch(b"x"))
class NoKey(Host):
    """Records have no partitionKey."""

    def record(self, record: Mapping[str, Any]) -> dict[str, Any]:
        found = super().record(record)
        del found["partitionKey"]
        return found


@host("no-arrival", "REC-14", batch(b"x"), profile=SEQ)
class NoArrival(Host):
    """Records have no approximateArrivalTimestamp."""

    def record(self, record: Mapping[str, Any]) -> dict[str, Any]:
        found = super().record(record)
        del found["approximateArrivalTimestamp"]
        return found


@host("bare-initialize", "INIT-08", batch(b"x"), profile=NEW, smoke=False)
class BareInitialize(Host):
    """initialize has no sequenceNumber."""

    def message(self, op: str, value: Mapping[str, Any]) -> dict[str, Any]:
        found = super().message(op, value)
        if op == "initialize":
            del found["sequenceNumber"]
        return found


@host("wrong-shard", "INIT-02", batch(b"x"), smoke=False)
class WrongShard(Host):
    """initialize has the first eight characters of the shardId."""

    def message(self, op: str, value: Mapping[str, Any]) -> dict[str, Any]:
        found = super().message(op, value)
        if op == "initialize":
            found["shardId"] = found["shardId"][:8]
        return found


@host("initialize-twice", "INIT-01", batch(b"x"), accept="PROC-06 PROC-03", smoke=False)
class InitializeTwice(Host):
    """initialize is sent twice."""

    def call(self, value: Mapping[str, Any]) -> None:
        if value["op"] == "initialize":
            self.send(self.message("initialize", value))
        super().call(value)
