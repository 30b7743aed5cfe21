"""Faulty hosts: what the others leave out of the table of phases, and of what happens beside the wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from impls.references.kcl.host import Failed, Host, Hosts, Session
from strategies.kcl.hosting import Writer
from tests.mutants.faults import on, without
from tests.mutants.kcl_host_invalid import _Clocked, _Timed, bad_child
from tests.mutants.kcl_host_kit import asking, batch, ending
from tests.mutants.kcl_kit import host

SEQ, NEW = "kcl1-seq", "kcl3"


host("granted-in-initialize", "INIT-07", bad_child("INV-HOST-10", 1), begun=False, accept="INV-HOST-10")(
    "A checkpoint inside initialize is answered as a success, and not tried.",
    on(Host, "tried").skips(when=lambda self: self.action == "initialize"),
)


class _Childless(Session):
    def do(self, name: str, value: Any) -> bool:
        if name == "start":
            self.host.events.append(("answer", {"op": "start", "ok": None}))
            return True
        return super().do(name, value)


class _Childlessly(Hosts):
    session = _Childless


@host("no-child", "PROC-01", batch(b"x"), sessions=_Childlessly, smoke=False)
class NoChild(Host):
    """It says that it has started, and starts no child."""

    def send(self, members: dict[str, Any]) -> None:
        self.count += 1


host("two-children", "PROC-02", batch(b"x"))(
    "Another child is started for each batch.",
    on(Host, "done").before(
        lambda self: self.events.append(("connected", None)), when=lambda self: self.action == "processRecords"
    ),
)
host("batch-in-place-of-an-answer", "PROC-07", asking(None), accept="CHECKPOINT-05")(
    "An empty batch is sent when a checkpoint is asked for.",
    on(Host, "checkpoint").instead(lambda self: self.send({"action": "processRecords", "records": []})),
)
host("begins-when-asked", "PROC-07", asking(None), accept="CHECKPOINT-05")(
    "initialize is sent when a checkpoint is asked for.",
    on(Host, "checkpoint").instead(lambda self: self.send({"action": "initialize", "shardId": self.shard})),
)


class _Choking(Session):
    def do(self, name: str, value: Any) -> bool:
        if name == "stderr" and value > 1 << 16:
            self.host.switches = None  # type: ignore[assignment]
        return super().do(name, value)


class _Chokers(Hosts):
    session = _Choking


def _words(w: Writer) -> None:
    w.batch([(b"x", "key")])
    w.wait(0)
    w.do("stderr", 70_000)
    w.status()


host("chokes-on-stderr", "PROC-10", _words, sessions=_Chokers)(
    "A child that fills its STDERR is not heard any more.",
    on(Host, "hear").skips(when=lambda self: self.switches is None),
)


def _late_request(w: Writer) -> None:
    w.call("leaseLost")
    w.checkpoint(None)
    w.wait(0)
    w.status()
    w.exit()


host("lease-request-unanswered", "SHUT-07", _late_request, profile=NEW)(
    "A checkpoint inside leaseLost gets no answer.",
    on(Host, "checkpoint").skips(when=lambda self: self.action == "leaseLost"),
)
host("never-over", "SHUT-13", ending(), smoke=False)(
    "The final call is not over when the child has ended.",
    on(Host, "left").skips(when=lambda self: not (not self.closed or self.failure)),
)


def _gone(w: Writer) -> None:
    w.final("ZOMBIE")
    w.status()


host("leaves-its-child", "SHUT-13", _gone, smoke=False, accept="PROC-04")(
    "Its program ends behind the final status, and the child lives on.",
    on(Host, "close").after(lambda self: self.events.append(("exit", 0))),
)


def _slow(w: Writer) -> None:
    w.batch([(b"x", "key")])
    w.wait(0)
    w.wait(220)
    w.status()


host("a-fifth-of-a-second-is-enough", "TIME-02", _slow, sessions=_Timed, accept="INV-HOST-17")(
    "A child that is silent for 200 ms has failed.",
    on(_Clocked, "pass_time").after(
        lambda self: self.fail("the child hangs"),
        when=lambda self: self.action and not self.closed and self.silent_ms > 200,
    ),
)


def _between(w: Writer) -> None:
    w.exit(1)
    w.batch([(b"x", "key")])


@host("end-between-unseen", "INV-HOST-14", _between, accept="PROC-09")
class EndBetweenUnseen(Host):
    """A child that ends between two calls does no harm to the second."""

    def left(self) -> None:
        if self.action or self.closed:
            super().left()
        else:
            self.closed = True

    def call(self, value: Mapping[str, Any]) -> None:
        super().call(value)
        if self.closed and self.action and not self.failure:
            self.answer()


def _between_and_over(w: Writer) -> None:
    w.exit(0)
    w.wait(0)
    w.final("ZOMBIE")


@host("end-between-is-the-end", "INV-HOST-14", _between_and_over, accept="PROC-09")
class EndBetweenIsTheEnd(Host):
    """A child that ends between two calls has only ended early: the final call succeeds."""

    def call(self, value: Mapping[str, Any]) -> None:
        early, self.gone = self.gone, False
        super().call(value)
        self.gone = early
        if early and self.final and self.action and not self.failure:
            self.answer()
        else:
            self.go_on()


host("begins-again-at-the-end", "SHUT-06", ending(), smoke=False)(
    "initialize is sent behind the final status.",
    on(Host, "close").before(
        lambda self: self.send({"action": "initialize", "shardId": self.shard}), when=lambda self: not self.failure
    ),
)
host("answers-at-the-end", "CHECKPOINT-05", ending(), smoke=False)(
    "The answer to a checkpoint is sent behind the final status, though none was asked for.",
    on(Host, "close").before(
        lambda self: self.send({"action": "checkpoint", self.profile.number: self.last, "error": None}),
        when=lambda self: not self.failure,
    ),
)
host("answers-first", "CHECKPOINT-05", batch(b"x"), smoke=False)(
    "The answer to a checkpoint is the first that it sends.",
    on(Host, "call").before(
        lambda self: self.send({"action": "checkpoint", self.profile.number: None, "error": None}),
        when=lambda value: value["op"] == "initialize",
    ),
)
host("batch-first", "INIT-01", batch(b"x"), smoke=False)(
    "An empty batch is sent before initialize.",
    on(Host, "call").before(
        lambda self: self.send({"action": "processRecords", "records": []}),
        when=lambda value: value["op"] == "initialize",
    ),
)


@host("waits-for-the-dead", "PROC-09", bad_child("INV-HOST-14", 1), accept="INV-HOST-14")
class WaitsForTheDead(Host):
    """It ends the STDIN of a child that ended inside an action, and never says so."""

    def fail(self, why: str) -> None:
        self.failure = why
        self.close()


@host("deaf-to-the-dead", "INV-HOST-14", _between, accept="PROC-09")
class DeafToTheDead(Host):
    """It waits for ever for a child that has ended between two calls."""

    def left(self) -> None:
        if self.action or self.closed:
            super().left()

    def send(self, members: dict[str, Any]) -> None:
        if self.gone:
            raise Failed("the child has ended")
        super().send(members)


host("closes-at-once", "PROC-04", batch(b"x"), smoke=False, accept="PROC-03")(
    "The child's STDIN is ended before anything was sent.", on(Host, "call").before(lambda self: self.close())
)
host("arrival-as-text", "REC-14", batch(b"x"), profile=SEQ)(
    "approximateArrivalTimestamp is a text.",
    on(Host, "record").gives(lambda found: {**found, "approximateArrivalTimestamp": "2023-11-14T22:13:20Z"}),
)
host("refusal-without-sub-number", "CHECKPOINT-12", asking("ThrottlingException", sub=0), profile=SEQ)(
    "The answer to a checkpoint that failed has no subSequenceNumber.",
    on(Host, "send").takes(
        members=lambda members: without(members, "subSequenceNumber") if members.get("error") is not None else members
    ),
)


def _requested(w: Writer) -> None:
    w.batch([(b"x", "key")])
    w.status()
    w.wait(0)
    w.checkpointer("ThrottlingException")
    w.call("shutdownRequested")
    w.checkpoint(None)
    w.wait(0)
    w.status()


host("refusal-ends-the-request", "SHUT-08", _requested, profile=SEQ, accept="CHECKPOINT-10 PROC-04")(
    "shutdownRequested fails when a checkpoint inside it is refused.",
    on(Host, "checkpoint").raises(
        lambda: Failed("a checkpoint failed"),
        when=lambda self: self.action == "shutdownRequested" and self.error is not None,
    ),
)


def _a_zombies_request(w: Writer) -> None:
    w.batch([(b"x", "key")])
    w.status()
    w.wait(0)
    w.checkpointer("ShutdownException")
    w.final("ZOMBIE")
    w.checkpoint(None)
    w.status()
    w.exit()


host("zombie-with-a-lease", "SHUT-07", _a_zombies_request, accept="CHECKPOINT-07")(
    "At ZOMBIE a request without a number is answered without an error.",
    on(Host, "tried").gives(lambda self, number, found: None if self.lost and number is None else found),
)


def _slow_behind_a_checkpoint(w: Writer) -> None:
    w.batch([(b"x", "key")])
    w.checkpoint(None)
    w.wait(0)
    w.wait(600)
    w.status()


@host("armed-by-a-checkpoint", "TIME-02", _slow_behind_a_checkpoint, sessions=_Timed, accept="INV-HOST-17")
class ArmedByACheckpoint(_Clocked):
    """What a child does behind the answer to a checkpoint must not take longer than 400 ms."""

    armed = False

    def checkpoint(self, members: Mapping[str, Any]) -> None:
        super().checkpoint(members)
        self.armed = True

    def status(self, members: Mapping[str, Any]) -> None:
        self.armed = False
        super().status(members)

    def pass_time(self, ms: float) -> None:
        super().pass_time(ms)
        if self.armed and self.silent_ms > 400 and not self.closed:
            self.fail("the child hangs")


def _slow_end(w: Writer) -> None:
    w.final("ZOMBIE")
    w.wait(0)
    w.wait(1500)
    w.status()
    w.exit()


host("a-second-for-the-end", "TIME-02", _slow_end, sessions=_Timed, accept="INV-HOST-17")(
    "A child that works for longer than 1.2 s in the final action has failed.",
    on(_Clocked, "pass_time").after(
        lambda self: self.fail("the child hangs"),
        when=lambda self: (
            self.action not in (None, "", "initialize", "processRecords", "shutdownRequested")
            and not self.closed
            and self.silent_ms > 1200
        ),
    ),
)
