"""Faulty children: the final actions, the end of STDIN."""

from __future__ import annotations

from typing import Any

from impls.references.kcl.child import READ, Child, Exit, Running, Switches
from specs.kcl.frames import message
from strategies.kcl.writer import Writer
from tests.mutants.faults import on
from tests.mutants.kcl_kit import CHECKPOINT, batch, both, child, ending, nothing, told

SEQ, NEW = "kcl1-seq", "kcl3"
REFUSED = ("ThrottlingException",)


@child("wrong-reason", "SHUT-02", ending("ZOMBIE", after=batch(b"x")), smoke=False)
class WrongReason(Child):
    """User code is told TERMINATE whatever the reason is."""

    def shutdown(self, reason: str) -> Running:
        self.note({"call": "shutdown", "reason": "TERMINATE"})
        yield from ()


@child("no-last-checkpoint", "SHUT-05", ending("TERMINATE", after=batch(b"x")), level="SHOULD")
class NoLastCheckpoint(Child):
    """There is no checkpoint at the end of a shard."""

    def shutdown(self, reason: str) -> Running:
        self.note({"call": "shutdown", "reason": reason})
        yield from ()


@child("zombie-checkpoints", "SHUT-05", ending("ZOMBIE", after=batch(b"x")), level="SHOULD")
class ZombieCheckpoints(Child):
    """There is a checkpoint at ZOMBIE as well."""

    def shutdown(self, reason: str) -> Running:
        self.note({"call": "shutdown", "reason": reason})
        if self.last is not None:
            yield from self.try_checkpoint(None)


@child("leaves-early", "SHUT-04", ending(), level="SHOULD", smoke=False)
class LeavesEarly(Child):
    """It ends by itself after the final status."""

    def status(self, action: str) -> Running:
        yield from super().status(action)
        if self.over:
            raise Exit(0)


child("ends-with-three", "SHUT-12", ending(), smoke=False)(
    "The exit status after a regular end is 3.", on(Child, "at_end").instead(lambda self: 3 if self.over else 0)
)


@child("ends-with-refusals", "SHUT-12", ending(after=told(CHECKPOINT, errors=REFUSED)))
class EndsWithRefusals(Child):
    """The exit status counts the checkpoints that were refused."""

    refusals = 0

    def outcome(self, number: str | None) -> Running:
        error = yield from super().outcome(number)
        self.refusals += error is not None
        return error

    def at_end(self) -> int:
        return self.refusals


@child("never-ends", "PROC-08", nothing, level="SHOULD", smoke=False, accept="INV-CHILD-14")
class NeverEnds(Child):
    """It does not see the end of STDIN."""

    def next_line(self) -> Running:
        line = None
        while line is None:
            line = yield READ
        return line


@child("lives-on-after-batch", "PROC-08", batch(b"x"), level="SHOULD", accept="INV-CHILD-14")
class LivesOnAfterBatch(Child):
    """Once it has had a record it does not end with STDIN before the final action."""

    def next_line(self) -> Running:
        line = yield READ
        while line is None and self.last is not None and not self.over:
            line = yield READ
        return line


child("shard-truncated", "INIT-03", nothing, smoke=False)(
    "User code gets the first eight characters of the shard's id.",
    on(Child, "initialize").takes(shard=lambda shard: shard[:8]),
)
child("initializes-twice", "INIT-03", nothing, smoke=False)(
    "User code is initialized twice.", on(Child, "initialize").repeats()
)
child("no-shutdown", "SHUT-02", ending(), smoke=False, accept="STAT-01")(
    "shutdown gets no status.", on(Child, "status").skips(when=lambda action: action == "shutdown")
)
child("wants-later-members", "INIT-09", nothing, level="SHOULD", accept="INIT-04", smoke=False)(
    "initialize without sequenceNumber ends the child.", on(Child, "initialize").raises(lambda: Exit(1))
)


def _requested(w: Writer) -> None:
    w.requested()


child("request-unanswered", "SHUT-08", _requested, profile=SEQ)(
    "shutdownRequested gets no status.", on(Child, "status").skips(when=lambda action: action == "shutdownRequested")
)


@child("done-after-request", "REC-07", both(_requested, batch(b"x")), profile=SEQ, accept="STAT-01")
class DoneAfterRequest(Child):
    """Batches after shutdownRequested get no status."""

    requested = False

    def status(self, action: str) -> Running:
        self.requested = self.requested or action == "shutdownRequested"
        if not (self.requested and action == "processRecords"):
            yield from super().status(action)


@child(
    "lease-checkpoint", "SHUT-09", ending("ZOMBIE", after=batch(b"x")), profile=NEW, accept="CHECKPOINT-02", smoke=False
)
class LeaseCheckpoint(Child):
    """It asks for a checkpoint inside leaseLost."""

    def call(self, action: str, members: dict[str, Any]) -> Running:
        yield from super().call(action, members)
        if action == "leaseLost":
            yield from self.outcome(None)


@child("no-end-checkpoint", "SHUT-10", ending("TERMINATE"), profile=NEW)
class NoEndCheckpoint(Child):
    """There is no checkpoint inside shardEnded."""

    def shard_ended(self) -> Running:
        self.note({"call": "shardEnded"})
        yield from ()


def _other_final(w: Writer) -> None:
    w.say(message("shutdown", reason="ZOMBIE"))


child("mute-to-others", "INV-CHILD-16", _other_final, profile=NEW, level="SHOULD", switches=Switches(unknown="skip"))(
    "An action of another profile is passed over without a word.",
    on(Child, "complain").skips(when=lambda error: "unknown action" in str(error)),
)


@child("no-records-no-matter", "INV-CHILD-03", lambda w: w.say(message("processRecords")), level="SHOULD")
class NoRecordsNoMatter(Child):
    """processRecords without records passes for an empty batch."""

    def decoded(self, members: dict[str, Any]) -> list[dict[str, Any]]:
        records = members.get("records")
        return super().decoded({"records": records if isinstance(records, list) else []})
