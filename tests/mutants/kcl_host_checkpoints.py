"""Faulty hosts: checkpoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from impls.references.kcl.host import Failed, Host, HostSwitches
from specs.kcl.frames import Message
from strategies.kcl.hosting import Writer
from tests.mutants.faults import on
from tests.mutants.kcl_host_kit import asking, batch
from tests.mutants.kcl_kit import both, host

SEQ, NEW = "kcl1-seq", "kcl3"


host("unanswered", "CHECKPOINT-05", asking(None))(
    "A checkpoint gets no answer.",
    on(Host, "checkpoint").instead(lambda self, members: self.tried(members.get(self.profile.number), members)),
)


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


@host("sixth-unanswered", "CHECKPOINT-05", asking(*[None] * 6))
class SixthUnanswered(Host):
    """An action has room for five checkpoints."""

    asked = 0

    def checkpoint(self, members: Mapping[str, Any]) -> None:
        self.asked += 1
        if self.asked <= 5:
            super().checkpoint(members)

    def answer(self) -> None:
        self.asked = 0
        super().answer()


def _at_the_end(w: Writer) -> None:
    w.batch([(b"x", "key")])
    w.status()
    w.final("TERMINATE")
    for _ in range(2):
        w.checkpoint(w.numbers[-1])
        w.wait(0)
    w.status()
    w.exit()


@host("second-in-shutdown-unanswered", "CHECKPOINT-05", _at_the_end)
class SecondInShutdownUnanswered(Host):
    """Inside shutdown the first checkpoint is answered, and no other."""

    asked = 0

    def checkpoint(self, members: Mapping[str, Any]) -> None:
        self.asked += self.action == "shutdown"
        if self.asked <= 1:
            super().checkpoint(members)


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


host("errors-unnamed", "CHECKPOINT-07", asking("ThrottlingException"))(
    "A checkpoint that failed is answered like one that succeeded.", on(Host, "attempt").gives(lambda: None)
)


@host("error-remembered", "CHECKPOINT-07", asking("ThrottlingException", None))
class ErrorRemembered(Host):
    """After a failure the next answer names the same error."""

    before: str | None = None

    def attempt(self, number: str | None) -> str | None:
        error = super().attempt(number)
        said, self.before = error or self.before, error
        return said


host("never-tried", "CHECKPOINT-09", asking(None))(
    "A checkpoint is answered without being tried.", on(Host, "attempt").instead(lambda self: self.error)
)
host("tried-at-last", "CHECKPOINT-09", _older)(
    "A checkpoint is tried at the last number delivered.", on(Host, "attempt").takes(number=lambda self: self.last)
)


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


@host("other-member-is-latest", "INV-HOST-05", _other_member, level="SHOULD", switches=HostSwitches(strict=False))
class OtherMemberIsLatest(Host):
    """A request with the member of another profile is taken for one without a number."""

    def understood(self, line: bytes) -> dict[str, Any] | None:
        found = super().understood(line)
        if found is None and line.startswith(b'{"action":"checkpoint","sequenceNumber"'):
            return {"action": "checkpoint"}
        return found


@host("refused-for-ever", "CHECKPOINT-09", asking("ThrottlingException", None))
class RefusedForEver(Host):
    """A number that was refused is granted without being tried when it is asked for again."""

    before: str | None = None

    def attempt(self, number: str | None) -> str | None:
        if number is not None and number == self.before:
            return None
        error = super().attempt(number)
        self.before = number if error is not None else None
        return error


def _in_empty(w: Writer) -> None:
    w.batch([(b"x", "key")])
    w.status()
    w.batch([])
    w.checkpoint(None)
    w.wait(0)
    w.status()


@host("none-in-empty-batch", "CHECKPOINT-13", _in_empty, profile=SEQ, accept="CHECKPOINT-07 CHECKPOINT-05 PROC-04")
class NoneInEmptyBatch(Host):
    """A checkpoint without a number in an empty batch is refused."""

    def tried(self, number: Any, members: Mapping[str, Any]) -> str | None:
        empty = self.action == "processRecords" and not self.sent
        return "IllegalArgumentException" if number is None and empty else super().tried(number, members)

    sent = 0

    def records(self, records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        self.sent = len(records)
        return super().records(records)


@host("refused-once-granted-next", "CHECKPOINT-09", asking("ThrottlingException", None), accept="CHECKPOINT-07")
class RefusedOnceGrantedNext(Host):
    """A number that was refused counts as done: when it is asked for again that is a success, and not tried."""

    def attempt(self, number: str | None) -> str | None:
        refused: set[str | None] = self.__dict__.setdefault("refused", set())
        if number is not None and number in refused:
            return None
        error = super().attempt(number)
        if error is not None:
            refused.add(number)
        return error
