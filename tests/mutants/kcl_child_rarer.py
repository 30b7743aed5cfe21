"""Faulty children: what the others leave out of the table of phases, and of what is said but once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from impls.references.kcl.child import Child, Ended, Exit, Need, Running
from impls.references.kcl.wire import parse
from strategies.kcl.writer import Writer
from tests.mutants.kcl_kit import CHECKPOINT, batch, child, ending, nothing, told


@child("leaves-while-asking", "CHECKPOINT-03", told(CHECKPOINT))
class LeavesWhileAsking(Child):
    """It ends instead of reading the answer to a checkpoint."""

    def checkpoint(self, number: str | None) -> Running:
        yield from self.say(self.request(number))
        raise Exit(0)


@child("asks-for-number-one", "CHECKPOINT-14", told({"op": "raise"}), level="SHOULD")
class AsksForNumberOne(Child):
    """When user code fails, it asks for a checkpoint at a number of its own."""

    def obey(self, step: Mapping[str, Any]) -> Running:
        if step.get("op") == "raise":
            yield from self.checkpoint("1")
        yield from super().obey(step)


@child("gone-at-once", "PROC-05", nothing, accept="INIT-04", smoke=False)
class GoneAtOnce(Child):
    """It ends before it has read anything."""

    def run(self) -> Running:
        yield from ()
        return 0


def _empty(w: Writer) -> None:
    w.batch([])
    w.wait(11_000)
    w.answers()


@child("ponders-emptiness", "TIME-03", _empty, level="SHOULD", smoke=False,
       unseen="no plan waits for eleven seconds")  # fmt: skip
class PondersEmptiness(Child):
    """An empty batch takes more than ten seconds."""

    def process_records(self, records: list[dict[str, Any]]) -> Running:
        if not records:
            yield Need(10_500)
        yield from super().process_records(records)


@child("asks-after-the-end", "CHECKPOINT-02", ending(), smoke=False)
class AsksAfterTheEnd(Child):
    """It asks for a checkpoint behind its last status."""

    def status(self, action: str) -> Running:
        yield from super().status(action)
        if self.over:
            yield from self.say(self.request(None))


@child("asks-when-stdin-ends", "CHECKPOINT-02", batch(b"x"))
class AsksWhenStdinEnds(Child):
    """It asks for a checkpoint when STDIN ends before the final action."""

    def run(self) -> Running:
        code = yield from super().run()
        if not self.over and self.last is not None:
            yield from self.say(self.request(None))
        return code


@child("asks-before-the-first", "CHECKPOINT-02", nothing, smoke=False, accept="INIT-06")
class AsksBeforeTheFirst(Child):
    """It asks for a checkpoint before it has read anything."""

    def run(self) -> Running:
        yield from self.say(self.request(None))
        return (yield from super().run())


@child("last-status-twice", "STAT-02", ending(), smoke=False, accept="STAT-03")
class LastStatusTwice(Child):
    """The final action gets two statuses."""

    def status(self, action: str) -> Running:
        yield from super().status(action)
        if self.over:
            yield from super().status(action)


def _instead(w: Writer) -> None:
    w.batch([w.script([CHECKPOINT])])
    w.batch([w.record(b"instead")])


@child("swallows-what-came", "CHECKPOINT-15", _instead)
class SwallowsWhatCame(Child):
    """What comes instead of an answer is lost, and user code never hears of its checkpoint."""

    def try_checkpoint(self, at: str | None) -> Running:
        number = at if at is not None or self.profile.later else self.last
        yield from self.say(self.request(number))
        line = yield from self.next_line()
        if line is None:
            raise Ended
        answer = parse(line)
        if answer["action"] == "checkpoint":
            self.note({"call": "checkpoint", "at": number, "error": answer.get("error")})
