"""Faulty children: checkpoints, and what they make of the answers."""

from __future__ import annotations

from typing import Any

from impls.references.kcl.child import BadLine, Child, Ended, Refused, Running
from impls.references.kcl.wire import parse
from strategies.kcl import texts
from strategies.kcl.writer import Writer
from tests.mutants.faults import on
from tests.mutants.kcl_kit import CHECKPOINT, batch, both, child, nothing, told

SEQ, NEW = "kcl1-seq", "kcl3"
FIRST = texts.number(0)
REFUSED = ("ThrottlingException",)


# -- requests ---------------------------------------------------------------------------------------------------------


@child("asks-in-initialize", "INIT-06", nothing, smoke=False, accept="CHECKPOINT-02", profile=SEQ)
class AsksInInitialize(Child):
    """It asks for a checkpoint inside initialize."""

    def status(self, action: str) -> Running:
        if action == "initialize":
            yield from self.outcome(None)
        yield from super().status(action)


@child("begins-anew-when-empty", "CHECKPOINT-11", both(batch(b"x", b"y"), batch(), lambda w: w.final("TERMINATE")))
class BeginsAnewWhenEmpty(Child):
    """After an empty batch the last number is the first one."""

    first: str | None = None

    def perform(self, action: str, members: dict[str, Any]) -> Running:
        yield from super().perform(action, members)
        if action == "processRecords":
            records = members["records"]
            self.first = self.first or (records[0]["sequenceNumber"] if records else None)
            self.last = self.last if records else self.first


@child("asks-late", "CHECKPOINT-02", told(CHECKPOINT), accept="REC-08")
class AsksLate(Child):
    """It asks for the checkpoints of a batch after its status."""

    wanted = False

    def try_checkpoint(self, at: str | None) -> Running:
        self.wanted = True
        yield from ()

    def status(self, action: str) -> Running:
        yield from super().status(action)
        if self.wanted:
            yield from super().try_checkpoint(None)


@child("asks-late-after-empty", "CHECKPOINT-02", both(batch(b"x"), batch()), accept="CHECKPOINT-04")
class AsksLateAfterEmpty(Child):
    """After an empty batch that follows a full one it asks for a checkpoint of its own."""

    empty = False

    def decoded(self, members: dict[str, Any]) -> list[dict[str, Any]]:
        self.empty = not members["records"]
        return super().decoded(members)

    def status(self, action: str) -> Running:
        yield from super().status(action)
        if action == "processRecords" and self.empty and self.last:
            yield from self.outcome(self.last)


child("does-not-wait", "CHECKPOINT-04", told(CHECKPOINT), accept="CHECKPOINT-03")(
    "It goes on without reading the answer to a checkpoint.",
    on(Child, "checkpoint").instead(lambda self, number: self.say(self.request(number))),
)


@child("asks-twice-at-once", "CHECKPOINT-04", told(CHECKPOINT, CHECKPOINT), accept="CHECKPOINT-03")
class AsksTwiceAtOnce(Child):
    """Every second request of an action is sent together with the one before it."""

    asked = 0

    def checkpoint(self, number: str | None) -> Running:
        self.asked += 1
        if self.asked % 2:
            yield from self.say(self.request(number))
            yield from self.say(self.request(number))
            yield from self.next_line()
            yield from self.next_line()


@child("gives-up-waiting", "CHECKPOINT-04", told(CHECKPOINT), accept="CHECKPOINT-03 REC-08", unseen="")
class GivesUpWaiting(Child):
    """It sends its status a while after the request, answered or not."""

    def checkpoint(self, number: str | None) -> Running:
        yield from self.say(self.request(number))
        yield from self.status("processRecords")
        yield from self.next_line()


child("number-as-number", "CHECKPOINT-11", told(CHECKPOINT), accept="CHECKPOINT-14")(
    "The number of a request is a JSON number.",
    on(Child, "request").gives(lambda number, found: {**found, "checkpoint": None if number is None else int(number)}),
)
child(
    "float-number",
    "CHECKPOINT-12",
    both(batch(b"x"), told({"op": "checkpoint", "at": FIRST})),
    accept="CHECKPOINT-14",
    profile=SEQ,
)(
    "The number of a request has passed through a float.",
    on(Child, "request").takes(number=lambda number: None if number is None else str(int(float(number)))),
)
child("old-member", "CHECKPOINT-12", both(batch(b"x"), told({"op": "checkpoint", "at": FIRST})), profile=NEW)(
    "The number of a request stands in the member of the seed's wire.",
    on(Child, "request").instead(lambda number: {"action": "checkpoint", "checkpoint": number}),
)
child("new-member", "CHECKPOINT-11", told(CHECKPOINT))(
    "The number of a request stands in the member of later wires.",
    on(Child, "request").instead(lambda number: {"action": "checkpoint", "sequenceNumber": number}),
)
child("none-is-last", "CHECKPOINT-13", told(CHECKPOINT), profile=SEQ, accept="CHECKPOINT-12 CHECKPOINT-14")(
    "A checkpoint without a number is asked for at the text null.",
    on(Child, "request").takes(number=lambda number: "null" if number is None else number),
)


@child(
    "third-at-second",
    "CHECKPOINT-11",
    both(batch(b"1", b"2", b"3"), told(*[{"op": "checkpoint", "at": texts.number(n)} for n in range(3)])),
    accept="CHECKPOINT-14 CHECKPOINT-08",
)
class ThirdAtSecond(Child):
    """The third checkpoint of a conversation is asked for at the number of the second."""

    def request(self, number: str | None) -> dict[str, Any]:
        self.asked = [*getattr(self, "asked", []), number]
        return super().request(self.asked[1] if len(self.asked) == 3 else number)


# -- answers ----------------------------------------------------------------------------------------------------------


class _Answers(Child):
    def read_answer(self, answer: dict[str, Any]) -> str | None:
        return answer.get("error")

    def checkpoint(self, number: str | None) -> Running:
        yield from self.say(self.request(number))
        line = yield from self.next_line()
        if line is None:
            raise Ended
        answer = parse(line)
        if answer["action"] != "checkpoint":
            self.complain(BadLine("no answer"))
            raise Refused("InvalidStateException")
        error = self.read_answer(answer)
        if error is not None:
            raise Refused(error)


child("errors-unseen", "CHECKPOINT-08", told(CHECKPOINT, errors=REFUSED))(
    "User code is told that every checkpoint succeeded.", on(_Answers, "read_answer").skips()
)
child("null-is-error", "CHECKPOINT-08", told(CHECKPOINT))(
    "An error that is null counts as one.",
    on(_Answers, "read_answer").instead(lambda answer: str(answer["error"]) if "error" in answer else None),
)


def _absent(w: Writer) -> None:
    w.batch([w.script([CHECKPOINT])])
    w.say(w.answered(None, absent=True))


child("absent-is-error", "CHECKPOINT-08", _absent, accept="STAT-01")(
    "An answer without the member error counts as failed.",
    on(_Answers, "read_answer").instead(lambda answer: answer.get("error", "no answer")),
)
child("one-name-for-all", "CHECKPOINT-08", told(CHECKPOINT, errors=("ShutdownException",)))(
    "User code is told ThrottlingException whatever the error was.",
    on(_Answers, "read_answer").instead(lambda answer: None if answer.get("error") is None else "ThrottlingException"),
)


@child("third-error-unseen", "CHECKPOINT-08", told(CHECKPOINT, errors=REFUSED, times=3))
class ThirdErrorUnseen(_Answers):
    """The third refusal of a conversation is taken for a success."""

    refusals = 0

    def read_answer(self, answer: dict[str, Any]) -> str | None:
        self.refusals += answer.get("error") is not None
        return None if self.refusals == 3 else answer.get("error")


@child("again-after-success", "CHECKPOINT-08", told(CHECKPOINT), accept="CHECKPOINT-11")
class AgainAfterSuccess(Child):
    """A checkpoint that succeeded is asked for once more."""

    def outcome(self, number: str | None) -> Running:
        error = yield from super().outcome(number)
        if error is None:
            yield from super().outcome(number)
        return error


@child("stuck-after-refusal", "STAT-01", told(CHECKPOINT, errors=REFUSED), accept="CHECKPOINT-08 REC-07")
class StuckAfterRefusal(Child):
    """There is no status for a batch in which a checkpoint was refused."""

    refused = False

    def outcome(self, number: str | None) -> Running:
        error = yield from super().outcome(number)
        self.refused = error is not None
        return error

    def status(self, action: str) -> Running:
        if not self.refused:
            yield from super().status(action)


def _instead(w: Writer) -> None:
    w.batch([w.script([CHECKPOINT])])
    w.batch([w.record(b"instead")])


@child("anything-is-an-answer", "CHECKPOINT-15", _instead, accept="INV-CHILD-11")
class AnythingIsAnAnswer(Child):
    """Another action is taken for the answer to a checkpoint."""

    def checkpoint(self, number: str | None) -> Running:
        yield from self.say(self.request(number))
        line = yield from self.next_line()
        if line is None:
            raise Ended
        error = parse(line).get("error")
        if error is not None:
            raise Refused(str(error))


def _unanswered(w: Writer) -> None:
    w.batch([w.script([CHECKPOINT])])


@child("end-is-success", "CHECKPOINT-16", _unanswered)
class EndIsSuccess(Child):
    """The end of STDIN instead of an answer is told to user code as success."""

    def checkpoint(self, number: str | None) -> Running:
        yield from self.say(self.request(number))
        line = yield from self.next_line()
        if line is not None and (parse(line)["action"] != "checkpoint" or parse(line).get("error") is not None):
            self.complain(BadLine("refused"))
            raise Refused(str(parse(line).get("error")))


@child("waits-past-the-end", "CHECKPOINT-16", _unanswered, accept="PROC-08")
class WaitsPastTheEnd(Child):
    """Whoever waits for an answer does not see the end of STDIN."""

    def checkpoint(self, number: str | None) -> Running:
        yield from self.say(self.request(number))
        line = None
        while line is None:
            line = yield from self.next_line()
        if parse(line)["action"] != "checkpoint" or parse(line).get("error") is not None:
            self.complain(BadLine("refused"))
            raise Refused(str(parse(line).get("error")))


child("sub-number-of-letters", "CHECKPOINT-12", told(CHECKPOINT), profile="kcl1-seq")(
    "The subSequenceNumber of a request is a text without digits.",
    on(Child, "request").gives(lambda found: {**found, "subSequenceNumber": "none"}),
)
