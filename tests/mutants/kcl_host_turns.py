"""Faulty hosts: turns, and how they end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from impls.references.kcl.host import Failed, Host
from specs.kcl.frames import Message, message
from strategies.kcl.hosting import Writer
from tests.mutants.faults import on
from tests.mutants.kcl_host_kit import batch, ending
from tests.mutants.kcl_kit import host

SEQ, NEW = "kcl1-seq", "kcl3"


def _wrong(w: Writer) -> None:
    w.batch([(b"x", "key")])
    w.say(message("status", responseFor="initialize"))


host("any-status", "STAT-05", _wrong, accept="INV-HOST-06 STAT-06")(
    "A status is accepted whatever it is for.", on(Host, "status").instead(lambda self: self.done())
)


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


host("null-status", "STAT-05", _null, accept="INV-HOST-06")(
    "A status for null is accepted.",
    on(Host, "status").instead(lambda self: self.done(), when=lambda members: members.get("responseFor", "") is None),
)


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


host("status-unheard", "PROC-04", batch(b"x"))(
    "A batch is never over.", on(Host, "answer").skips(when=lambda self: self.action == "processRecords")
)


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


host("death-unseen", "PROC-09", _dies, accept="INV-HOST-14")(
    "Nobody is told that the child has ended.", on(Host, "left").skips(when=lambda self: not self.closed)
)


# -- endings ----------------------------------------------------------------------------------------------------------


host("wrong-reason", "SHUT-01", ending("ZOMBIE"), smoke=False)(
    "The reason is always TERMINATE.",
    on(Host, "message").gives(lambda op, found: {**found, "reason": "TERMINATE"} if op == "shutdown" else found),
)
host("old-final", "SHUT-11", ending("TERMINATE"), profile=NEW, accept="PROC-03")(
    "The end of a shard is told by shutdown.",
    on(Host, "message").instead(
        lambda: {"action": "shutdown", "reason": "TERMINATE"}, when=lambda op: op == "shardEnded"
    ),
)
host("stdin-stays-open", "SHUT-06", ending(), smoke=False)(
    "STDIN is not ended after the final action.", on(Host, "close").skips(when=lambda self: not self.failure)
)
host("one-more-word", "SHUT-06", ending(), smoke=False)(
    "shutdown is sent once more after its status.",
    on(Host, "close").before(
        lambda self: self.send({"action": "shutdown", "reason": "ZOMBIE"}), when=lambda self: not self.failure
    ),
)


def _early_request(w: Writer) -> None:
    w.call("leaseLost")
    w.checkpoint(None)
    w.wait(0)
    w.status()
    w.exit()


host("lease-checkpoint", "SHUT-09", _early_request, profile=NEW, accept="SHUT-07")(
    "A checkpoint inside leaseLost is granted.",
    on(Host, "tried").instead(lambda self, number: self.attempt(number), when=lambda self: self.action == "leaseLost"),
)


def _request(w: Writer) -> None:
    w.batch([(b"data", "key")])
    w.status()
    w.call("shutdownRequested")
    w.checkpoint(None)
    w.wait(0)
    w.status()


host("request-refused", "SHUT-08", _request, profile=SEQ, accept="CHECKPOINT-07")(
    "A checkpoint inside shutdownRequested is refused.",
    on(Host, "tried").instead(lambda: "ShutdownException", when=lambda self: self.action == "shutdownRequested"),
)
