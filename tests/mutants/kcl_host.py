"""Faulty hosts."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

from impls.kcl.host import Failed, Host, HostSwitches
from specs.kcl.frames import Message, message
from strategies.kcl.hosting import Writer
from tests.mutants.kcl_kit import both, host

SEQ, NEW = "kcl1-seq", "kcl3"


def batch(*data: bytes, key: str = "key") -> Any:
    """One batch."""

    def play(w: Writer) -> None:
        w.batch([(octets, key) for octets in data])
        w.status()

    return play


def asking(*errors: str | None, number: int | None = 0, final: bool = False) -> Any:
    """A batch with a request for each of these outcomes."""

    def play(w: Writer) -> None:
        w.batch([(b"x", "key")])
        for error in errors:
            w.wait(0)
            w.checkpointer(error)
            w.checkpoint(None if number is None else w.numbers[number])
        w.wait(0)
        w.status()

    return play


def ending(reason: str = "ZOMBIE") -> Any:
    """The final call."""

    def play(w: Writer) -> None:
        w.final(reason)
        w.status()
        w.exit()

    return play


def junk(*lines: bytes, why: str = "no-json") -> Any:
    """Lines that mean nothing, in a batch."""

    def play(w: Writer) -> None:
        w.batch([(b"x", "key")])
        for line in lines:
            w.junk(line, why)
        w.status(now=True)

    return play


# -- lines and members ------------------------------------------------------------------------------------------------


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


# -- turns ------------------------------------------------------------------------------------------------------------


def _wrong(w: Writer) -> None:
    w.batch([(b"x", "key")])
    w.say(message("status", responseFor="initialize"))


@host("any-status", "STAT-05", _wrong, accept="INV-HOST-06 STAT-06")
class AnyStatus(Host):
    """A status is accepted whatever it is for."""

    def status(self, members: Mapping[str, Any]) -> None:
        self.done()


def _lower(w: Writer) -> None:
    w.batch([(b"x", "key")])
    w.say(message("status", responseFor="processrecords"))


@host("caseless-status", "STAT-05", _lower, accept="INV-HOST-06")
class CaselessStatus(Host):
    """The case of responseFor does not matter."""

    def status(self, members: Mapping[str, Any]) -> None:
        if str(members.get("responseFor")).lower() != self.action.lower():
            raise Failed("status for another action")
        self.done()


def _null(w: Writer) -> None:
    w.batch([(b"x", "key")])
    w.say(Message({"action": "status", "responseFor": None}))


@host("null-status", "STAT-05", _null, accept="INV-HOST-06")
class NullStatus(Host):
    """A status for null is accepted."""

    def status(self, members: Mapping[str, Any]) -> None:
        if members.get("responseFor", "") is not None:
            super().status(members)
        else:
            self.done()


def _stray(w: Writer) -> None:
    w.batch([(b"x", "key")])
    w.status()
    w.status(now=True)
    w.wait(0)
    w.final("ZOMBIE")
    w.wait(0)
    w.exit()


@host("stray-counts", "STAT-06", _stray, accept="INV-HOST-07")
class StrayCounts(Host):
    """A status that lies there when an action begins is taken for its own."""

    def call(self, value: Mapping[str, Any]) -> None:
        stray = bool(self.held)
        self.held.clear()
        super().call(value)
        if stray and self.action:
            self.done()


@host("done-before-status", "PROC-06", batch(b"x"), accept="PROC-04")
class DoneBeforeStatus(Host):
    """processRecords is over as soon as it is sent."""

    def call(self, value: Mapping[str, Any]) -> None:
        super().call(value)
        if value["op"] == "processRecords":
            self.events.append(("answer", {"op": "processRecords", "ok": None}))

    def answer(self) -> None:
        if self.action == "processRecords":
            self.action = ""
        else:
            super().answer()


@host("status-unheard", "PROC-04", batch(b"x"))
class StatusUnheard(Host):
    """A batch is never over."""

    def answer(self) -> None:
        if self.action != "processRecords":
            super().answer()


def _dies(w: Writer) -> None:
    w.batch([(b"x", "key")])
    w.do("exit", 0)


@host("death-is-success", "PROC-09", _dies, accept="INV-HOST-14")
class DeathIsSuccess(Host):
    """A child that ends is done."""

    def left(self) -> None:
        if self.action and not self.closed:
            self.go_on()
            if self.action:
                self.answer()
        else:
            super().left()


@host("death-unseen", "PROC-09", _dies, accept="INV-HOST-14")
class DeathUnseen(Host):
    """Nobody is told that the child has ended."""

    def left(self) -> None:
        if self.closed:
            super().left()


# -- checkpoints ------------------------------------------------------------------------------------------------------


@host("unanswered", "CHECKPOINT-05", asking(None))
class Unanswered(Host):
    """A checkpoint gets no answer."""

    def checkpoint(self, members: Mapping[str, Any]) -> None:
        self.tried(members.get(self.profile.number), members)


@host("third-unanswered", "CHECKPOINT-05", asking(None, None, None))
class ThirdUnanswered(Host):
    """The third checkpoint of an action gets no answer."""

    asked = 0

    def checkpoint(self, members: Mapping[str, Any]) -> None:
        self.asked += 1
        if self.asked % 3:
            super().checkpoint(members)

    def answer(self) -> None:
        self.asked = 0
        super().answer()


@host("answered-twice", "CHECKPOINT-05", asking(None))
class AnsweredTwice(Host):
    """A checkpoint is answered twice."""

    def checkpoint(self, members: Mapping[str, Any]) -> None:
        before = len(self.out)
        super().checkpoint(members)
        self.out += self.out[before:]


def _older(w: Writer) -> None:
    w.batch([(b"1", "key"), (b"2", "key")])
    w.checkpoint(w.numbers[0])
    w.wait(0)
    w.status()


@host("answers-for-last", "CHECKPOINT-06", _older)
class AnswersForLast(Host):
    """The answer names the last number delivered."""

    def send(self, members: dict[str, Any]) -> None:
        if members["action"] == "checkpoint":
            members[self.profile.number] = self.last
        super().send(members)


@host("errors-unnamed", "CHECKPOINT-07", asking("ThrottlingException"))
class ErrorsUnnamed(Host):
    """A checkpoint that failed is answered like one that succeeded."""

    def attempt(self, number: str | None) -> str | None:
        super().attempt(number)
        return None


@host("error-remembered", "CHECKPOINT-07", asking("ThrottlingException", None))
class ErrorRemembered(Host):
    """After a failure the next answer names the same error."""

    before: str | None = None

    def attempt(self, number: str | None) -> str | None:
        error = super().attempt(number)
        said, self.before = error or self.before, error
        return said


@host("never-tried", "CHECKPOINT-09", asking(None))
class NeverTried(Host):
    """A checkpoint is answered without being tried."""

    def attempt(self, number: str | None) -> str | None:
        return self.error


@host("tried-at-last", "CHECKPOINT-09", _older)
class TriedAtLast(Host):
    """A checkpoint is tried at the last number delivered."""

    def attempt(self, number: str | None) -> str | None:
        return super().attempt(self.last)


@host("refusal-ends", "CHECKPOINT-10", asking("ThrottlingException"), accept="PROC-04")
class RefusalEnds(Host):
    """A checkpoint that failed is a failure of the batch."""

    def checkpoint(self, members: Mapping[str, Any]) -> None:
        super().checkpoint(members)
        if self.error is not None:
            raise Failed("a checkpoint failed")


@host("old-member", "CHECKPOINT-12", asking(None), profile=NEW)
class OldMember(Host):
    """Answers carry the number in the member of the seed's wire."""

    def send(self, members: dict[str, Any]) -> None:
        if members["action"] == "checkpoint":
            members = {"action": "checkpoint", "checkpoint": members["sequenceNumber"], "error": members.get("error")}
        super().send(members)


@host("new-member", "CHECKPOINT-11", asking(None))
class NewMember(Host):
    """Answers carry the number in the member of later wires."""

    def send(self, members: dict[str, Any]) -> None:
        if members["action"] == "checkpoint":
            members = {"action": "checkpoint", "sequenceNumber": members["checkpoint"], "error": members.get("error")}
        super().send(members)


@host(
    "none-is-first", "CHECKPOINT-13", both(batch(b"1"), asking(None, number=None)), profile=SEQ, accept="CHECKPOINT-09"
)
class NoneIsFirst(Host):
    """A checkpoint without a number is tried at the first number ever delivered."""

    first: str | None = None

    def records(self, records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        found = super().records(records)
        self.first = self.first or self.last
        return found

    def attempt(self, number: str | None) -> str | None:
        return super().attempt(self.first if number is None else number)


def _other_member(w: Writer) -> None:
    w.batch([(b"x", "key")])
    w.say(Message({"action": "checkpoint", "sequenceNumber": w.numbers[0]}))
    w.status(now=True)


@host("other-member-is-latest", "INV-HOST-05", _other_member, switches=HostSwitches(strict=False))
class OtherMemberIsLatest(Host):
    """A request with the member of another profile is taken for one without a number."""

    def understood(self, line: bytes) -> dict[str, Any] | None:
        found = super().understood(line)
        if found is None and line.startswith(b'{"action":"checkpoint","sequenceNumber"'):
            return {"action": "checkpoint"}
        return found


# -- endings ----------------------------------------------------------------------------------------------------------


@host("wrong-reason", "SHUT-01", ending("ZOMBIE"), smoke=False)
class WrongReason(Host):
    """The reason is always TERMINATE."""

    def message(self, op: str, value: Mapping[str, Any]) -> dict[str, Any]:
        found = super().message(op, value)
        return {**found, "reason": "TERMINATE"} if op == "shutdown" else found


@host("old-final", "SHUT-11", ending("TERMINATE"), profile=NEW, accept="PROC-03")
class OldFinal(Host):
    """The end of a shard is told by shutdown."""

    def message(self, op: str, value: Mapping[str, Any]) -> dict[str, Any]:
        return {"action": "shutdown", "reason": "TERMINATE"} if op == "shardEnded" else super().message(op, value)


@host("stdin-stays-open", "SHUT-06", ending(), smoke=False)
class StdinStaysOpen(Host):
    """STDIN is not ended after the final action."""

    def close(self) -> None:
        if self.failure:
            super().close()


@host("one-more-word", "SHUT-06", ending(), smoke=False)
class OneMoreWord(Host):
    """shutdown is sent once more after its status."""

    def close(self) -> None:
        if not self.failure:
            self.send({"action": "shutdown", "reason": "ZOMBIE"})
        super().close()


def _early_request(w: Writer) -> None:
    w.call("leaseLost")
    w.checkpoint(None)
    w.wait(0)
    w.status()
    w.exit()


@host("lease-checkpoint", "SHUT-09", _early_request, profile=NEW, accept="SHUT-07")
class LeaseCheckpoint(Host):
    """A checkpoint inside leaseLost is granted."""

    def tried(self, number: Any, members: Mapping[str, Any]) -> str | None:
        return self.attempt(number) if self.action == "leaseLost" else super().tried(number, members)


def _request(w: Writer) -> None:
    w.batch([(b"data", "key")])
    w.status()
    w.call("shutdownRequested")
    w.checkpoint(None)
    w.wait(0)
    w.status()


@host("request-refused", "CHECKPOINT-07", _request, profile=SEQ, accept="SHUT-08")
class RequestRefused(Host):
    """A checkpoint inside shutdownRequested is refused."""

    def tried(self, number: Any, members: Mapping[str, Any]) -> str | None:
        return "ShutdownException" if self.action == "shutdownRequested" else super().tried(number, members)
