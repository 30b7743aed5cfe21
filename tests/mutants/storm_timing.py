"""Faults of Storm's children and hosts in what comes earlier or later than most expect: tuples before the process id, a
list that takes its time, an ack in which user code emits more than once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from impls.references.storm.child import Bolt, Running, Spout
from impls.references.storm.freedoms import Switches
from impls.references.storm.hosts import BoltHost
from strategies.storm.host_writer import Writer as HostWriter
from strategies.storm.writer import Writer
from tests.mutants.storm_kit import ACK, ACKED, both, child, emit, host, script
from tests.mutants.storm_plays import out, row

A_MOMENT_MS = 100


def _early(w: HostWriter) -> None:
    w.begin(early=3)
    w.wait()


@host("host-keeps-one-early", "BOLT-01", _early, bare=True, accept="BOLT-02")
class KeepsOneEarly(BoltHost):
    """Of the tuples that it is given before the process id it keeps the last one."""

    def go_on(self) -> None:
        while not self.ready and len(self.calls) > 1:
            self.calls.popleft()
        super().go_on()


def _a_late_list(w: Writer) -> None:
    w.script([emit(), ACK])
    w.tuple([0])
    w.wait()
    w.wait(2 * A_MOMENT_MS)
    w.lists()


@child("bolt-waits-a-moment", "BOLT-18", _a_late_list, accept="BOLT-26 BOLT-09", switches=Switches(waits=True))
class WaitsAMoment(Bolt):
    """An emit that has waited a moment for its task ids goes on without them."""

    def go(self, one: Running, sent: Any) -> None:
        super().go(one, sent)
        if one in self.waiting:
            one.wake_ms = self.now_ms + A_MOMENT_MS

    def advance(self, ms: float) -> None:
        given_up = [one for one in self.waiting if one is not None and (one.wake_ms or 0) <= self.now_ms + ms]
        for one in given_up:
            self.waiting.remove(one)
        super().advance(ms)


@child("spout-emits-once-for-an-ack", "SPOUT-16", ACKED, conf=script([emit(id="a")], on_ack=[emit(7), emit(8)]),
       accept="SPOUT-09 SPOUT-03")  # fmt: skip
class EmitsOnceForAnAck(Spout):
    """Of what user code emits in an ack the first alone is written."""

    emits = 0

    def say(self, message: dict[str, Any]) -> None:
        in_ack = bool(self.running) and self.running[-1].name == "ack"
        self.emits = self.emits + (message.get("command") == "emit") if in_ack else 0
        if message.get("command") != "emit" or self.emits < 2:
            super().say(message)


@host("host-remembers-who-needs-no-list", "EXT-03", both(out(1, task=4, need_task_ids=False), out(2, ids=1)),
      ext="x-need-task-ids", accept="BOLT-15 BOLT-16 BOLT-17")  # fmt: skip
class RemembersWhoNeedsNoList(BoltHost):
    """An emit that goes to one task, and says that it needs no list, says so for the next emit as well."""

    said = False

    def wants_ids(self, message: Mapping[str, Any]) -> bool:
        direct, wants = bool(message.get("task")), super().wants_ids(message)
        said, self.said = self.said, direct and message.get("need_task_ids") is False
        return wants and not said


@host("host-hears-last-words-only", "INV-HOST-22", row("INV-HOST-22", 8), ext="x-error", accept="END-04")
class HearsLastWordsOnly(BoltHost):
    """The end of a child that has reported an error is not told: the error was."""

    told = False

    def obey(self, command: str, message: dict[str, Any]) -> None:
        self.told |= command == "error"
        super().obey(command, message)

    def gone(self) -> None:
        if not self.told:
            super().gone()
        self.over = True
