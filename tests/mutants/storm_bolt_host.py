"""Faulty hosts of bolts: tuples, emits and what is settled."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from impls.references.storm.host import HostSwitches
from impls.references.storm.hosts import BoltHost
from specs.plan import Ref
from specs.storm.frames import Message
from strategies.storm.host_writer import Writer
from strategies.storm.writer import JOIN, PLAIN, Ways
from tests.mutants.faults import on, without
from tests.mutants.storm_kit import both, host
from tests.mutants.storm_plays import done, give, logged, out

host("host-number-ids", "BOLT-03", give(1), smoke=False)("Ids are numbers.", on(BoltHost, "name").gives(int))


@host("host-few-ids", "BOLT-04", both(*[give(n) for n in range(4)]))
class FewIds(BoltHost):
    """There are three ids."""

    def name(self, call: dict[str, Any]) -> str:
        self.given = (getattr(self, "given", -1) + 1) % 3
        return str(self.given)


@host("host-id-of-content", "BOLT-04", lambda w: w.twins([1]))
class IdOfContent(BoltHost):
    """The id of a tuple is made of what it holds."""

    def name(self, call: dict[str, Any]) -> str:
        return str(sum(json.dumps([call[key] for key in ("comp", "stream", "task", "tuple")]).encode()))


def _emit_and_sync(w: Writer) -> None:
    """An emit and a sync in one write."""
    w.wait()
    w.log("first")
    w.ways = Ways(JOIN, 1)
    w.emit([1])
    w.ways = PLAIN
    w.sync(now=True)


@host("host-sync-eats-list", "BOLT-24", _emit_and_sync, accept="BOLT-15 BOLT-17", level="MAY")
class SyncEatsList(BoltHost):
    """An emit that is read together with a sync gets no list."""

    together = False

    def receive(self, data: bytes) -> None:
        self.together = b'"sync"' in data and b'"emit"' in data
        super().receive(data)

    def wants_ids(self, message: Mapping[str, Any]) -> bool:
        return super().wants_ids(message) and not self.together


@host("host-one-by-one", "BOLT-01", both(give(1), give(2)))
class OneByOne(BoltHost):
    """A tuple waits for the ack of the one before."""

    def go_on(self) -> None:
        while self.ready and self.calls and not self.over and not self.live:
            self.tuple(self.calls.popleft())

    def settle(self, command: str, name: Any) -> None:
        super().settle(command, name)
        self.go_on()


def _twenty(w: Writer) -> None:
    for n in range(20):
        w.tuple([n])


@host("host-window", "BOLT-01", _twenty)
class Window(BoltHost):
    """Sixteen tuples may be live, the next one waits for an ack."""

    def go_on(self) -> None:
        while self.ready and self.calls and not self.over and len(self.live) < 16:
            self.tuple(self.calls.popleft())

    def settle(self, command: str, name: Any) -> None:
        super().settle(command, name)
        self.go_on()


host("host-no-comp", "BOLT-02", give(1), smoke=False)(
    "A tuple has no component.",
    on(BoltHost, "send").takes(
        message=lambda message: (
            {**message, "comp": None} if isinstance(message, dict) and "tuple" in message else message
        )
    ),
)
host("host-default-stream", "BOLT-02", give(1, origin=2))(
    "Every tuple is on the default stream.",
    on(BoltHost, "tuple").takes(call=lambda call: {**call, "stream": "default"}),
)
host("host-tuple-values", "BOLT-27", give(True))(
    "true becomes a text on its way to the child.",
    on(BoltHost, "tuple").takes(
        call=lambda call: {**call, "tuple": ["true" if v is True else v for v in call["tuple"]]}
    ),
)
host("host-bare-without-tuple", "BOLT-02", lambda w: w.bare())(
    "A tuple without values has no member tuple.",
    on(BoltHost, "send").takes(
        message=lambda message: (
            without(message, "tuple")
            if isinstance(message, dict) and message.get("tuple") == [] and message.get("stream") != "__heartbeat"
            else message
        )
    ),
)
host("host-swaps", "BOLT-20", both(give(1), done("fail", 0)))(
    "A fail is an ack.", on(BoltHost, "settle").takes(command=lambda: "ack")
)
host("host-fifo-acks", "BOLT-20", both(give(1), give(2), done("ack", 1)), accept="BOLT-25")(
    "An ack settles the oldest tuple.",
    on(BoltHost, "settle").takes(name=lambda self, name: next(iter(self.live)) if name in self.live else name),
)
host("host-ack-answered", "BOLT-16", both(give(1), done("ack", 0)), accept="BOLT-23", smoke=False)(
    "An ack is answered by a list.", on(BoltHost, "settle").after(lambda self: self.send([]))
)


@host("host-later-fail", "BOLT-20", both(give(1), give(2), done("ack", 0), done("fail", 1)))
class LaterFail(BoltHost):
    """A fail that follows an ack is lost."""

    acked = False

    def settle(self, command: str, name: Any) -> None:
        if command == "fail" and self.acked:
            self.live.pop(name)
            return
        self.acked |= command == "ack"
        super().settle(command, name)


host("host-no-list", "BOLT-15", out(1))("Emits are not answered.", on(BoltHost, "wants_ids").instead(lambda: False))
host("host-list-for-direct", "BOLT-16", out(1, task=4), accept="BOLT-15")(
    "A direct emit is answered.", on(BoltHost, "wants_ids").instead(lambda: True)
)
host("host-text-list", "BOLT-15", out(1))(
    "Task ids are texts.",
    on(BoltHost, "send").takes(
        message=lambda message: [str(n) for n in message] if isinstance(message, list) else message
    ),
)


@host("host-late-list", "BOLT-17", both(out(1, ids=0), out(2, ids=3)), accept="BOLT-15")
class LateList(BoltHost):
    """The second emit gets the list of the first."""

    kept: Any = None

    def send(self, message: Any, rank: int = 2) -> None:
        if isinstance(message, list):
            self.kept = self.kept or message
            message = self.kept
        super().send(message, rank)


def _unread(w: Any) -> None:
    """Two emits with task ids of their own while the child does not read."""
    w.do("deaf")
    for n in (0, 3):
        w.task_ids(n, now=True)
        w.emit([n], now=True)
    w.do("hear")


@host("host-lists-backwards", "BOLT-17", _unread)
class ListsBackwards(BoltHost):
    """Of the lists that wait to be written the last comes first."""

    def flush(self) -> None:
        if not self.blocked:
            lists = [item for item in self.queue if isinstance(item[2], list)]
            self.queue = [lists.pop() if isinstance(item[2], list) else item for item in self.queue]
        super().flush()


host("host-no-empty-list", "BOLT-15", out(1, ids=1))(
    "An empty list is not sent.", on(BoltHost, "send").skips(when=lambda message: message == [])
)


@host("host-waits-with-list", "BOLT-15", out(1))
class WaitsWithList(BoltHost):
    """A list is sent with the next tuple."""

    kept: Any = None

    def send(self, message: Any, rank: int = 2) -> None:
        if isinstance(message, list):
            self.kept = message
            return
        super().send(message, rank)


host("host-no-anchors", "BOLT-10", both(give(1), lambda w: w.emit([1], anchors=[Ref("tuple", 0)])), accept="BOLT-12")(
    "anchors are dropped.", on(BoltHost, "further").gives(lambda: {"anchors": []})
)
host(
    "host-one-anchor",
    "BOLT-10",
    both(give(1), give(2), lambda w: w.emit([1], anchors=[Ref("tuple", 0), Ref("tuple", 1)])),
)(
    "Of several anchors the first counts.",
    on(BoltHost, "further").gives(lambda found: {"anchors": found["anchors"][:1]}),
)
host("host-always-anchored", "BOLT-12", both(give(1), lambda w: w.emit([1])))(
    "An emit without anchors is anchored to what is live.",
    on(BoltHost, "further").gives(
        lambda self, found: found if found["anchors"] else {"anchors": [self.shown(name) for name in self.live]}
    ),
)
host("host-no-streams", "BOLT-13", out(1, stream="second"))(
    "Emits go to the default stream.", on(BoltHost, "collect").takes(stream=lambda: None)
)


@host("host-sticky-stream", "BOLT-13", both(out(1, stream="second"), out(2)))
class StickyStream(BoltHost):
    """An emit without a stream goes where the last one went."""

    last: Any = None

    def collect(self, message: dict[str, Any], stream: Any, task: Any, values: list[Any]) -> None:
        self.last = stream or self.last
        super().collect(message, self.last, task, values)


host("host-no-direct", "BOLT-14", out(1, task=9))(
    "A direct emit goes to all.", on(BoltHost, "collect").takes(task=lambda: None)
)
host("host-values", "BOLT-27", out(9007199254740991))(
    "Numbers become doubles, and lose digits.",
    on(BoltHost, "collect").takes(values=lambda values: [float(f"{v:.10g}") if type(v) is int else v for v in values]),
)
host("host-log-lost", "BOLT-21", both(give(1), logged("after")))(
    "Logs are lost while a tuple is live.", on(BoltHost, "log").skips(when=lambda self: self.live)
)
host("host-log-is-a-format", "BOLT-21", logged("100%s {}"))(
    "What is logged is taken for a format, in which % stands for something else.",
    on(BoltHost, "log").takes(
        message=lambda message: {**message, "msg": re.sub("%.?", "(null)", str(message.get("msg")))}
    ),
)


@host("host-anchor-text", "EXT-08", both(give(1), lambda w: w.emit([1], anchors=Ref("tuple", 0))),
      ext="x-anchor-string", accept="BOLT-10 BOLT-05 HB-11")  # fmt: skip
class AnchorText(BoltHost):
    """Anchors that are a text are a failure."""

    def further(self, message: dict[str, Any]) -> dict[str, Any]:
        if isinstance(message.get("anchors"), str):
            self.fail("no list")
            return {}
        return super().further(message)


host("host-needs-ids", "EXT-03", out(1, need_task_ids=False), ext="x-need-task-ids", accept="BOLT-16")(
    "need_task_ids means nothing to it.", on(BoltHost, "wants_ids").instead(lambda message: not message.get("task"))
)
host("host-task-zero", "EXT-09", out(1, task=0), ext="x-task0", accept="BOLT-15 BOLT-14 BOLT-13")(
    "The task 0 is a task.", on(BoltHost, "wants_ids").instead(lambda message: message.get("task") is None)
)
host("host-level", "EXT-06", logged("high", level=7), ext="x-loglevel", accept="BOLT-21")(
    "An odd level is an error.",
    on(BoltHost, "log").takes(
        message=lambda message: {**message, "level": 4 if message.get("level") == 7 else message.get("level")}
    ),
)
host("host-ends-at-level", "EXT-06", logged("high", level=7), ext="x-loglevel", level="SHOULD")(
    "A child that logs at an odd level is given up.",
    on(BoltHost, "log").before(lambda self: self.fail("no level"), when=lambda message: message.get("level") == 7),
)
host(
    "host-error-fatal",
    "EXT-05",
    lambda w: w.say(Message({"command": "error", "msg": "bad"})),
    ext="x-error",
    accept="BOLT-05 HB-11",
)(
    "An error of the child is a failure.",
    on(BoltHost, "obey").instead(lambda self: self.fail("it says error"), when=lambda command: command == "error"),
)


def _at_once(w: Writer) -> None:
    for n in range(8):
        w.tuple([n], now=n > 0)


host("host-queue-of-six", "BOLT-01", _at_once, switches=HostSwitches(lag_ms=5), accept="BOLT-27")(
    "Six tuples may wait to be written; what comes then is lost.",
    on(BoltHost, "send").skips(when=lambda self, message: len(self.queue) >= 6 and "tuple" in message),
)


@host("host-task-of-its-component", "BOLT-02", both(give(1), give(2, origin=10)), accept="BOLT-01")
class TaskOfItsComponent(BoltHost):
    """Which task a tuple comes from is remembered by its component and stream."""

    def tuple(self, call: dict[str, Any]) -> None:
        tasks = vars(self).setdefault("tasks", {})
        super().tuple({**call, "task": tasks.setdefault((call["comp"], call["stream"]), call["task"])})
